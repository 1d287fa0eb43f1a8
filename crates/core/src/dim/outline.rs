//! Shapes whose rank may be unknown.

use std::fmt;

use super::Dim;
use crate::params::Symbol;
use crate::size::{Shape, Size};

/// A shape that may hold a tuple symbol: the sizes in front, any number of axes, the sizes behind.
///
/// ```
/// use stridewise_core::dim::Outline;
///
/// let image: Outline = "[B, *rest, 3]".parse()?;
/// assert_eq!(image.to_string(), "[B, *rest, 3]");
/// assert_eq!((image.rank(), image.least_rank()), (None, 2));
/// assert_eq!(image.count().unwrap().to_string(), "B*prod(rest)*3");
///
/// let matrix: Outline = "[B, 4]".parse()?;
/// assert_eq!(matrix.rank(), Some(2));
/// # Ok::<(), stridewise_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outline {
    front: Shape<Dim>,
    rest: Option<Symbol>,
    /// Empty without a tuple symbol: all sizes are then in front.
    back: Shape<Dim>,
}

impl Outline {
    /// The sizes in front, a tuple symbol, and the sizes behind.
    pub fn new(mut front: Shape<Dim>, rest: Option<Symbol>, mut back: Shape<Dim>) -> Outline {
        if rest.is_none() {
            front.append(&mut back);
        }
        Outline { front, rest, back }
    }

    /// A shape of which nothing is known but the name of the tuple.
    pub fn unknown(rest: Symbol) -> Outline {
        Outline::new(Shape::new(), Some(rest), Shape::new())
    }

    /// The sizes in front of the tuple symbol; all of them where there is none.
    pub fn front(&self) -> &[Dim] {
        &self.front
    }

    /// The tuple symbol.
    pub fn rest(&self) -> Option<&Symbol> {
        self.rest.as_ref()
    }

    /// The sizes behind the tuple symbol.
    pub fn back(&self) -> &[Dim] {
        &self.back
    }

    /// All sizes, where the rank is known.
    pub fn shape(&self) -> Option<&[Dim]> {
        self.rest.is_none().then_some(&*self.front)
    }

    /// The rank, where it is known.
    pub fn rank(&self) -> Option<usize> {
        self.shape().map(<[Dim]>::len)
    }

    /// The rank it has at least.
    pub fn least_rank(&self) -> usize {
        self.front.len() + self.back.len()
    }

    /// The number of elements; `None` past reach.
    pub fn count(&self) -> Option<Dim> {
        let rest = self.rest.as_ref().map(Dim::product_of);
        Dim::product(self.front.iter().chain(&rest).chain(&self.back))
    }
}

impl From<Shape<Dim>> for Outline {
    fn from(shape: Shape<Dim>) -> Outline {
        Outline::new(shape, None, Shape::new())
    }
}

impl From<&[Dim]> for Outline {
    fn from(shape: &[Dim]) -> Outline {
        Outline::from(Shape::from(shape))
    }
}

impl From<&[usize]> for Outline {
    fn from(shape: &[usize]) -> Outline {
        Outline::from(shape.iter().copied().map(Dim::from).collect::<Shape<Dim>>())
    }
}

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        f.write_str("[")?;
        let mut item =
            |f: &mut fmt::Formatter<'_>| f.write_str(std::mem::replace(&mut between, ", "));
        for dim in &self.front {
            item(f)?;
            write!(f, "{dim}")?;
        }
        if let Some(rest) = &self.rest {
            item(f)?;
            f.write_str("*")?;
            super::print::name(f, rest)?;
        }
        for dim in &self.back {
            item(f)?;
            write!(f, "{dim}")?;
        }
        f.write_str("]")
    }
}
