//! A list of sizes as a user gives it: numbers, symbols, and `-1`, whose meaning is the operator's.

use std::fmt;

use crate::error::{Error, Result};
use crate::inline::Inline;
use crate::size::{Shape, Size, Truth, tuple};

/// One size as given.
#[derive(Clone, Debug, PartialEq)]
pub enum Extent<S> {
    /// This size.
    Is(S),
    /// `-1`: whatever fits.
    Infer,
    /// Any other negative number: no operator takes it, and the error quotes it.
    Negative(isize),
}

/// The sizes a call was given.
///
/// ```
/// use stridewise_core::params::Sizes;
/// let sizes: Sizes<usize> = [2, -1, 3].into();
/// assert_eq!(sizes.to_string(), "(2, -1, 3)");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes<S>(Given<S>);

/// Plain numbers, as nearly all calls have them, are kept as they came.
#[derive(Clone, Debug, PartialEq)]
enum Given<S> {
    Numbers(Inline<isize>),
    Extents(Vec<Extent<S>>),
}

impl<S: Size> Sizes<S> {
    /// Numbers as they came. Read one by one, as they have just been written: wider reads would wait for that.
    #[inline]
    pub(crate) fn of_numbers(numbers: &[isize]) -> Sizes<S> {
        let at = |place: usize| numbers.get(place).copied().unwrap_or(0);
        let near = [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
        Sizes(Given::Numbers(Inline::of_parts(
            numbers.len(),
            near,
            || numbers.into(),
        )))
    }

    /// The sizes in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Extent<S>> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The size at a place below [`len`](Self::len).
    #[inline]
    pub fn get(&self, at: usize) -> Extent<S> {
        match &self.0 {
            Given::Numbers(numbers) => numbers[at].into(),
            Given::Extents(extents) => extents[at].clone(),
        }
    }

    /// How many.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Given::Numbers(numbers) => numbers.len(),
            Given::Extents(extents) => extents.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<S: Size> Sizes<S> {
    /// The sizes of an operator for which `-1` has no meaning. `noun` is what one of them is: a size, a count.
    #[inline]
    pub fn all_given(&self, argument: &'static str, noun: &str) -> Result<Shape<S>> {
        let mut given = Shape::new();
        for (at, extent) in self.iter().enumerate() {
            match extent {
                Extent::Is(size) => given.push(size),
                negative => return Err(self.negative(at, &negative, argument, noun)),
            }
        }
        Ok(given)
    }

    /// The product of all sizes but `-1`, and where that stands. Two of them, any other negative number, and
    /// a product that passes reach (even beside a 0) are errors.
    #[inline]
    pub fn product_beside_hole(&self, argument: &'static str) -> Result<(S, Option<usize>)> {
        let (mut product, mut zero, mut hole) = (S::from(1), false, None);
        for at in 0..self.len() {
            match self.get(at) {
                Extent::Is(size) if size.is(0) == Truth::Yes => zero = true,
                Extent::Is(size) => match product.times(&size) {
                    Some(larger) => product = larger,
                    None => return Err(self.too_large(argument)),
                },
                Extent::Infer if hole.is_none() => hole = Some(at),
                Extent::Infer => return Err(self.two_holes(argument)),
                negative => return Err(self.negative(at, &negative, argument, "size")),
            }
        }
        Ok((if zero { S::from(0) } else { product }, hole))
    }

    #[cold]
    fn too_large(&self, argument: &'static str) -> Error {
        Error::overflow(format!(
            "the product of {argument} is more than any machine can address"
        ))
        .at_argument(argument)
        .note(argument, self)
    }

    #[cold]
    fn two_holes(&self, argument: &'static str) -> Error {
        Error::shape(format!(
            "{argument} has more than one -1, so no size can be worked out"
        ))
        .at_argument(argument)
        .note(argument, self)
        .help("leave at most one -1")
    }

    #[cold]
    pub(crate) fn negative(
        &self,
        at: usize,
        extent: &Extent<S>,
        argument: &'static str,
        noun: &str,
    ) -> Error {
        Error::shape(format!(
            "{argument}[{at}] is {extent}, but a {noun} cannot be negative"
        ))
        .at_argument(argument)
        .at_item(at)
        .sizes(format!("a {noun} of at least 0"), extent)
        .note(argument, self)
    }
}

impl<S: fmt::Display> fmt::Display for Extent<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Is(size) => size.fmt(f),
            Extent::Infer => f.write_str("-1"),
            Extent::Negative(n) => n.fmt(f),
        }
    }
}

impl<S: Size> fmt::Display for Sizes<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&tuple(self.iter()))
    }
}

impl<S: Size> From<isize> for Extent<S> {
    #[inline]
    fn from(n: isize) -> Extent<S> {
        match usize::try_from(n) {
            Ok(size) => Extent::Is(S::from(size)),
            Err(_) if n == -1 => Extent::Infer,
            Err(_) => Extent::Negative(n),
        }
    }
}

impl<S> FromIterator<Extent<S>> for Sizes<S> {
    fn from_iter<I: IntoIterator<Item = Extent<S>>>(extents: I) -> Sizes<S> {
        Sizes(Given::Extents(extents.into_iter().collect()))
    }
}

/// Any of the usual integers, alone or in a list: shapes are `usize`, `-1` is not, and a literal without a
/// suffix is `i32`.
macro_rules! from_integers {
    ($($int:ty)*) => {$(
        impl<S: Size> From<&[$int]> for Sizes<S> {
            #[inline]
            fn from(sizes: &[$int]) -> Sizes<S> {
                let mut numbers = Inline::zeros(sizes.len());
                for (number, &size) in numbers.iter_mut().zip(sizes) {
                    // No size is past isize; the furthest one fails wherever it is used.
                    *number = isize::try_from(size).unwrap_or(isize::MAX);
                }
                Sizes(Given::Numbers(numbers))
            }
        }

        impl<S: Size> From<$int> for Sizes<S> {
            fn from(one: $int) -> Sizes<S> {
                [one].as_slice().into()
            }
        }

        impl<S: Size, const N: usize> From<[$int; N]> for Sizes<S> {
            #[inline]
            fn from(sizes: [$int; N]) -> Sizes<S> {
                sizes.as_slice().into()
            }
        }

        impl<S: Size, const N: usize> From<&[$int; N]> for Sizes<S> {
            fn from(sizes: &[$int; N]) -> Sizes<S> {
                sizes.as_slice().into()
            }
        }

        impl<S: Size> From<Vec<$int>> for Sizes<S> {
            fn from(sizes: Vec<$int>) -> Sizes<S> {
                sizes.as_slice().into()
            }
        }

        impl<S: Size> From<&Vec<$int>> for Sizes<S> {
            fn from(sizes: &Vec<$int>) -> Sizes<S> {
                sizes.as_slice().into()
            }
        }
    )*};
}

from_integers! { isize usize i32 i64 }

/// No sizes: the shape of rank 0.
impl<S: Size> From<()> for Sizes<S> {
    fn from((): ()) -> Sizes<S> {
        Sizes(Given::Numbers(Inline::zeros(0)))
    }
}

impl<S: Size> From<Shape<S>> for Sizes<S> {
    fn from(sizes: Shape<S>) -> Sizes<S> {
        match sizes.iter().map(Size::known).collect::<Option<Shape>>() {
            Some(known) => known.as_slice().into(),
            None => sizes.into_iter().map(Extent::Is).collect(),
        }
    }
}
