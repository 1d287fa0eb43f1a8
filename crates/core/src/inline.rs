//! The list that sizes and strides are kept in: plain numbers in place, on the heap only past eight, so that
//! a view of ordinary rank is arithmetic and a memory copy.

use std::fmt;
use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

/// How many are kept in place.
pub(crate) const NEAR: usize = 8;

/// A list of numbers whose length does not change.
pub struct Inline<T> {
    len: usize,
    near: [T; NEAR],
    far: Option<Box<[T]>>,
}

impl<T: Copy> Clone for Inline<T> {
    #[inline]
    fn clone(&self) -> Inline<T> {
        Inline {
            len: self.len,
            near: self.near,
            far: self.far.clone(),
        }
    }
}

impl<T: Copy + Default> Inline<T> {
    /// Zeros.
    #[inline]
    pub fn zeros(len: usize) -> Inline<T> {
        let far = (len > NEAR).then(|| vec![T::default(); len].into_boxed_slice());
        Inline {
            len,
            near: [T::default(); NEAR],
            far,
        }
    }
}

impl<T: Copy + Default> Inline<T> {
    /// A list from its parts: all in place, or what `far` makes.
    #[inline(always)]
    pub(crate) fn of_parts(
        len: usize,
        near: [T; NEAR],
        far: impl FnOnce() -> Box<[T]>,
    ) -> Inline<T> {
        Inline {
            len,
            near,
            far: (len > NEAR).then(far),
        }
    }
}

impl<T> Deref for Inline<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.far {
            None => &self.near[..self.len],
            Some(far) => far,
        }
    }
}

impl<T> DerefMut for Inline<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.far {
            None => &mut self.near[..self.len],
            Some(far) => far,
        }
    }
}

impl<T: PartialEq> PartialEq for Inline<T> {
    fn eq(&self, other: &Inline<T>) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Inline<T> {}

impl<T: fmt::Debug> fmt::Debug for Inline<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Copy + Default> From<&[T]> for Inline<T> {
    #[inline]
    fn from(items: &[T]) -> Inline<T> {
        let mut list = Inline::zeros(items.len());
        list.copy_from_slice(items);
        list
    }
}

impl<T: Copy + Default, const N: usize> From<[T; N]> for Inline<T> {
    fn from(items: [T; N]) -> Inline<T> {
        items.as_slice().into()
    }
}

impl<T: Copy + Default> From<SmallVec<[T; 8]>> for Inline<T> {
    fn from(items: SmallVec<[T; 8]>) -> Inline<T> {
        items.as_slice().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_equal_by_what_they_hold_near_or_far() {
        for len in 0..12 {
            let items: Vec<usize> = (0..len).collect();
            let list = Inline::from(items.as_slice());
            assert_eq!(*list, *items);
            assert_eq!(list, list.clone());
            assert_ne!(list, Inline::zeros(len + 1));
        }
    }
}
