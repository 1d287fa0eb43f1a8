//! Sizes that are not numbers yet: what a graph knows of an axis before it runs.
//!
//! A [`Dim`] is a number, a symbol, or what arithmetic made of them. It is kept in a normal form, so that
//! sizes that are equal by the rules of arithmetic are equal, hash equal and print the same: a polynomial
//! over a polynomial, reduced. A symbol stands for any whole number from 0; that it might be 0 or 1 is never
//! assumed away. A quotient is exact by definition: `B/4` promises that 4 divides `B`, and the operator that
//! made it has required that.
//!
//! ```
//! use stridewise_core::dim::Dim;
//! use stridewise_core::size::{Size, Truth};
//!
//! let (b, c) = (Dim::symbol("B"), Dim::symbol("C"));
//! let count = b.times(&c).unwrap().times(&4.into()).unwrap();
//! assert_eq!(count.to_string(), "B*C*4");
//! assert_eq!(count.over(&c).unwrap(), "4*B".parse()?);
//!
//! assert_eq!(b.same(&c), Truth::Unknown);
//! assert_eq!(b.plus(&1.into()).unwrap().same(&b), Truth::No);
//! assert_eq!(b.is(1), Truth::Unknown);
//! # Ok::<(), stridewise_core::Error>(())
//! ```

mod atom;
mod bounds;
mod compare;
mod cut;
mod evaluate;
mod gcd;
mod outline;
mod parse;
mod poly;
mod print;
mod ratio;
#[cfg(test)]
mod tests;
mod work;

use std::cmp::Ordering;
use std::sync::Arc;

use crate::params::Symbol;
use crate::size::{Size, Truth};
use atom::Atom;
use poly::Poly;
use ratio::{NoSize, Ratio};

pub use atom::Leaf;
pub use evaluate::NoValue;
pub use outline::Outline;
pub use work::Arithmetic;

/// A size that may be symbolic. A known one is a plain number; a clone of a symbolic one shares it.
///
/// `==` compares normal forms: symbols are equal by name. Whether two sizes are equal when a graph runs is
/// what [`Size::same`] answers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Dim(Form);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Form {
    Known(usize),
    Symbolic(Arc<Node>),
}

/// A size that holds at least one symbol.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Node {
    ratio: Ratio,
    /// How much it is made of, and how deep: functions of the ratio.
    parts: u32,
    depth: u32,
}

impl From<Ratio> for Node {
    fn from(ratio: Ratio) -> Node {
        let (parts, depth) = ratio.measure();
        Node {
            ratio,
            parts,
            depth,
        }
    }
}

impl Dim {
    /// The size of that name: any whole number from 0.
    pub fn symbol(name: impl AsRef<str>) -> Dim {
        Dim::from(Symbol::new(name.as_ref()))
    }

    /// The size of that name, which is known to lie between two numbers, both included. It is equal to the
    /// symbol of that name without bounds; only the answers are sharper. `None` where there is no such number.
    ///
    /// ```
    /// use stridewise_core::dim::Dim;
    /// use stridewise_core::size::{Size, Truth};
    ///
    /// let b = Dim::bounded("B", 1, None).unwrap();
    /// assert_eq!(b, Dim::symbol("B"));
    /// assert_eq!(b.is(0), Truth::No);
    /// assert_eq!(b.sliced(Some(1), None, 1).unwrap().to_string(), "B - 1");
    /// ```
    pub fn bounded(name: impl AsRef<str>, min: usize, max: Option<usize>) -> Option<Dim> {
        if max.is_some_and(|max| max < min) {
            return None;
        }
        let leaf = Leaf::Size(Symbol::new(name.as_ref()));
        Some(Dim::of_atom(Atom::leaf(leaf, min, max)))
    }

    /// The product of the sizes that a tuple symbol stands for: 1 where it stands for no axes.
    pub fn product_of(tuple: &Symbol) -> Dim {
        Dim::of_atom(Atom::leaf(Leaf::Product(tuple.clone()), 0, None))
    }

    /// The difference; `None` where it is known to be negative, or past reach. Only meaningful where it is
    /// not negative.
    ///
    /// ```
    /// use stridewise_core::dim::Dim;
    ///
    /// let (whole, part): (Dim, Dim) = ("B*2 + 1".parse()?, "B".parse()?);
    /// assert_eq!(whole.minus(&part).unwrap().to_string(), "B + 1");
    /// assert_eq!(part.minus(&"B + 1".parse()?), None);
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn minus(&self, other: &Dim) -> Option<Dim> {
        if let (Form::Known(a), Form::Known(b)) = (&self.0, &other.0) {
            return a.checked_sub(*b).map(Dim::from);
        }
        Ratio::from(self).minus(&Ratio::from(other))?.settle().ok()
    }

    /// The symbol this is, where it is nothing but one size's symbol.
    pub fn as_symbol(&self) -> Option<&Symbol> {
        let Form::Symbolic(node) = &self.0 else {
            return None;
        };
        match node.ratio.atom()?.kind() {
            atom::Kind::Leaf {
                leaf: Leaf::Size(symbol),
                ..
            } => Some(symbol),
            _ => None,
        }
    }

    fn of_atom(atom: Atom) -> Dim {
        Dim(Form::Symbolic(Arc::new(
            Ratio::from(Poly::from(atom)).into(),
        )))
    }

    fn number(&self) -> Option<usize> {
        match self.0 {
            Form::Known(n) => Some(n),
            Form::Symbolic(_) => None,
        }
    }

    /// An order to keep them in, which says nothing about which is larger.
    fn order(&self, other: &Dim) -> Ordering {
        match (&self.0, &other.0) {
            (Form::Known(a), Form::Known(b)) => a.cmp(b),
            (Form::Known(_), Form::Symbolic(_)) => Ordering::Less,
            (Form::Symbolic(_), Form::Known(_)) => Ordering::Greater,
            (Form::Symbolic(a), Form::Symbolic(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
            (Form::Symbolic(a), Form::Symbolic(b)) => a.ratio.cmp(&b.ratio),
        }
    }
}

impl From<usize> for Dim {
    fn from(n: usize) -> Dim {
        Dim(Form::Known(n))
    }
}

impl From<Symbol> for Dim {
    fn from(symbol: Symbol) -> Dim {
        Dim::of_atom(Atom::leaf(Leaf::Size(symbol), 0, None))
    }
}

impl From<&Symbol> for Dim {
    fn from(symbol: &Symbol) -> Dim {
        symbol.clone().into()
    }
}

impl Size for Dim {
    fn known(&self) -> Option<usize> {
        self.number()
    }

    fn divides(&self, other: &Dim) -> Truth {
        Dim::divides(self, other)
    }

    fn at_least(&self, n: usize) -> Truth {
        match self.bounds() {
            (min, _) if min >= n => Truth::Yes,
            (_, Some(max)) if max < n => Truth::No,
            _ => Truth::Unknown,
        }
    }

    fn sliced(&self, start: Option<isize>, stop: Option<isize>, step: isize) -> Option<Dim> {
        Dim::sliced(self, start, stop, step)
    }

    fn same(&self, other: &Dim) -> Truth {
        self.compare(other)
    }

    fn times(&self, other: &Dim) -> Option<Dim> {
        match (&self.0, &other.0) {
            (Form::Known(a), Form::Known(b)) => a.times(b).map(Dim::from),
            (Form::Known(0), _) | (_, Form::Known(0)) => Some(Dim::from(0)),
            (Form::Known(1), _) => Some(other.clone()),
            (_, Form::Known(1)) => Some(self.clone()),
            _ => Ratio::from(self).times(&Ratio::from(other))?.settle().ok(),
        }
    }

    fn plus(&self, other: &Dim) -> Option<Dim> {
        match (&self.0, &other.0) {
            (Form::Known(a), Form::Known(b)) => a.plus(b).map(Dim::from),
            (Form::Known(0), _) => Some(other.clone()),
            (_, Form::Known(0)) => Some(self.clone()),
            _ => Ratio::from(self).plus(&Ratio::from(other))?.settle().ok(),
        }
    }

    /// Exact by definition. Of two numbers, or two multiples of one expression, it is rounded down as that of
    /// two `usize`; whoever divides requires that [`Dim::divides`].
    fn over(&self, divisor: &Dim) -> Option<Dim> {
        match (&self.0, &divisor.0) {
            (Form::Known(a), Form::Known(b)) => a.over(b).map(Dim::from),
            (_, Form::Known(1)) => Some(self.clone()),
            _ => match Ratio::from(self).over(&Ratio::from(divisor))?.settle() {
                Ok(quotient) => Some(quotient),
                Err(NoSize::Broken(n)) => Some(Dim::from(n)),
                Err(_) => None,
            },
        }
    }
}
