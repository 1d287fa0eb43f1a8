//! A list of sizes as a user gives it: numbers, symbols, and `-1`, whose meaning is the operator's.

use std::fmt;
use std::ops::Index;

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::size::{Shape, Size, tuple};

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
pub struct Sizes<S>(SmallVec<[Extent<S>; 8]>);

impl<S> Sizes<S> {
    /// The sizes in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Extent<S>> {
        self.0.iter()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<S: Size> Sizes<S> {
    /// The sizes of an operator for which `-1` has no meaning.
    pub fn all_given(&self, argument: &'static str) -> Result<Shape<S>> {
        let mut given = Shape::new();
        for (at, extent) in self.0.iter().enumerate() {
            match extent {
                Extent::Is(size) => given.push(size.clone()),
                negative => return Err(self.negative(at, negative, argument)),
            }
        }
        Ok(given)
    }

    /// The sizes with `-1` replaced by 1, and where it stands. Two of them, or any other negative number,
    /// are errors.
    pub fn with_hole(&self, argument: &'static str) -> Result<(Shape<S>, Option<usize>)> {
        let mut sizes = Shape::new();
        let mut hole = None;
        for (at, extent) in self.0.iter().enumerate() {
            match extent {
                Extent::Is(size) => sizes.push(size.clone()),
                Extent::Infer if hole.is_some() => {
                    let message =
                        format!("{argument} has more than one -1, so no size can be worked out");
                    return Err(Error::shape(message)
                        .at_argument(argument)
                        .note(argument, self)
                        .help("leave at most one -1"));
                }
                Extent::Infer => {
                    hole = Some(at);
                    sizes.push(S::from(1));
                }
                negative => return Err(self.negative(at, negative, argument)),
            }
        }
        Ok((sizes, hole))
    }

    #[cold]
    fn negative(&self, at: usize, extent: &Extent<S>, argument: &'static str) -> Error {
        Error::shape(format!(
            "{argument}[{at}] is {extent}, but a size cannot be negative"
        ))
        .at_argument(argument)
        .sizes("a size of at least 0", extent)
        .note(argument, self)
    }
}

/// The product of sizes, or an error that quotes the argument they came from.
pub(crate) fn product<'a, S: Size>(
    sizes: impl IntoIterator<Item = &'a S>,
    argument: &'static str,
    given: &impl fmt::Display,
) -> Result<S> {
    S::product(sizes).ok_or_else(|| {
        Error::overflow(format!(
            "the product of {argument} is more than any machine can address"
        ))
        .at_argument(argument)
        .note(argument, given)
    })
}

impl<S> Index<usize> for Sizes<S> {
    type Output = Extent<S>;

    fn index(&self, at: usize) -> &Extent<S> {
        &self.0[at]
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

impl<S: fmt::Display> fmt::Display for Sizes<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&tuple(&self.0))
    }
}

impl<S: Size> From<isize> for Extent<S> {
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
        Sizes(extents.into_iter().collect())
    }
}

impl<S: Size> From<isize> for Sizes<S> {
    fn from(one: isize) -> Sizes<S> {
        [one].into()
    }
}

impl<S: Size> From<&[isize]> for Sizes<S> {
    fn from(sizes: &[isize]) -> Sizes<S> {
        sizes.iter().map(|&n| Extent::from(n)).collect()
    }
}

impl<S: Size, const N: usize> From<[isize; N]> for Sizes<S> {
    fn from(sizes: [isize; N]) -> Sizes<S> {
        sizes.as_slice().into()
    }
}

impl<S: Size, const N: usize> From<&[isize; N]> for Sizes<S> {
    fn from(sizes: &[isize; N]) -> Sizes<S> {
        sizes.as_slice().into()
    }
}

impl<S: Size> From<Vec<isize>> for Sizes<S> {
    fn from(sizes: Vec<isize>) -> Sizes<S> {
        sizes.as_slice().into()
    }
}

impl<S: Size> From<&[usize]> for Sizes<S> {
    fn from(sizes: &[usize]) -> Sizes<S> {
        sizes.iter().map(|&n| Extent::Is(S::from(n))).collect()
    }
}

impl<S: Size> From<Shape<S>> for Sizes<S> {
    fn from(sizes: Shape<S>) -> Sizes<S> {
        sizes.into_iter().map(Extent::Is).collect()
    }
}
