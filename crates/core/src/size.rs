//! What a size is: a number while running, a symbol while tracing. Operators are written against [`Size`],
//! so that one rule serves both and the two cannot drift apart.

use std::fmt::{Debug, Display};

use smallvec::SmallVec;

/// As many sizes as a tensor has axes; on the heap only past rank 8.
pub type Shape<S = usize> = SmallVec<[S; 8]>;

/// An answer about sizes that may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// Provably so.
    Yes,
    /// Provably not so.
    No,
    /// It depends on the run.
    Unknown,
}

impl From<bool> for Truth {
    fn from(yes: bool) -> Truth {
        if yes { Truth::Yes } else { Truth::No }
    }
}

/// The size of an axis, or a product of sizes.
///
/// Arithmetic answers `None` where the result would pass any machine's reach; it never wraps.
pub trait Size: Clone + Debug + Display + From<usize> + 'static {
    /// The number, where it is known.
    fn known(&self) -> Option<usize>;

    /// Whether two sizes are equal.
    fn same(&self, other: &Self) -> Truth;

    /// The product of two sizes.
    fn times(&self, other: &Self) -> Option<Self>;

    /// The sum of two sizes.
    fn plus(&self, other: &Self) -> Option<Self>;

    /// The quotient; only meaningful where `divisor` divides `self`. `None` for a divisor of 0.
    fn over(&self, divisor: &Self) -> Option<Self>;

    /// Whether this divides another; 0 divides only 0.
    fn divides(&self, other: &Self) -> Truth;

    /// How many indices Python's `[start:stop:step]` takes of an axis of this size. The step is not 0.
    fn sliced(&self, start: Option<isize>, stop: Option<isize>, step: isize) -> Option<Self>;

    /// Whether this is `n` or more.
    fn at_least(&self, n: usize) -> Truth;

    /// Whether this is the number `n`.
    fn is(&self, n: usize) -> Truth {
        self.same(&Self::from(n))
    }

    /// The product of all, 1 for none. A product past reach is `None` even when another factor is 0:
    /// such a shape could not be laid out.
    fn product<'a>(sizes: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut product = Self::from(1);
        let mut zero = false;
        for size in sizes {
            if size.is(0) == Truth::Yes {
                zero = true;
            } else {
                product = product.times(size)?;
            }
        }
        Some(if zero { Self::from(0) } else { product })
    }
}

impl Size for usize {
    fn known(&self) -> Option<usize> {
        Some(*self)
    }

    fn same(&self, other: &usize) -> Truth {
        (self == other).into()
    }

    fn times(&self, other: &usize) -> Option<usize> {
        self.checked_mul(*other)
            .filter(|n| *n <= isize::MAX as usize)
    }

    fn plus(&self, other: &usize) -> Option<usize> {
        self.checked_add(*other)
            .filter(|n| *n <= isize::MAX as usize)
    }

    fn over(&self, divisor: &usize) -> Option<usize> {
        self.checked_div(*divisor)
    }

    fn divides(&self, other: &usize) -> Truth {
        other.checked_rem(*self).unwrap_or(*other).is(0)
    }

    #[inline]
    fn at_least(&self, n: usize) -> Truth {
        (*self >= n).into()
    }

    fn sliced(&self, start: Option<isize>, stop: Option<isize>, step: isize) -> Option<usize> {
        Some(clip(*self, start, stop, step).1)
    }
}

/// Python's rule for `start:stop:step` on an axis: ends outside are clipped, absent ones mean the whole way.
/// Gives the first index (0 where there is none) and how many there are. The step is not 0.
pub fn clip(size: usize, start: Option<isize>, stop: Option<isize>, step: isize) -> (usize, usize) {
    let size = isize::try_from(size).unwrap_or(isize::MAX);
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let clip = |end: isize| {
        let from_front = if end < 0 {
            end.saturating_add(size)
        } else {
            end
        };
        from_front.clamp(low, high)
    };
    let (near, far) = if step > 0 { (low, high) } else { (high, low) };
    let start = start.map_or(near, clip);
    let stop = stop.map_or(far, clip);
    let distance = if step > 0 { stop - start } else { start - stop };
    let len = match usize::try_from(distance) {
        // A division takes its time.
        Ok(distance) if step.unsigned_abs() == 1 => distance,
        Ok(distance) => distance.div_ceil(step.unsigned_abs().max(1)),
        Err(_) => 0,
    };
    (if len == 0 { 0 } else { start as usize }, len)
}

/// Writes a list the way Python writes a tuple: `()`, `(3,)`, `(2, 3)`.
pub fn tuple<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|i| i.to_string()).collect();
    match items.as_slice() {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}

/// `1 size`, `3 sizes`.
pub fn counted(n: impl Display, noun: &str) -> String {
    let n = n.to_string();
    let s = if n == "1" { "" } else { "s" };
    format!("{n} {noun}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_past_reach_is_none_even_beside_a_zero() {
        assert_eq!(usize::product(&[0, isize::MAX as usize, 3]), None);
        assert_eq!(usize::product(&[3, 7, 29, 36_760_123, 823_996_703]), None);
        assert_eq!(usize::product(&[0, 5]), Some(0));
        assert_eq!(usize::product(&[]), Some(1));
    }

    #[test]
    fn tuples_read_like_python() {
        assert_eq!(tuple::<usize>([]), "()");
        assert_eq!(tuple([3]), "(3,)");
        assert_eq!(tuple([2, 3]), "(2, 3)");
    }
}
