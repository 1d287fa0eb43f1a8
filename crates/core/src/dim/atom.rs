//! What a symbolic size is made of at the bottom: symbols, products of tuple symbols, lengths of slices.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::cut::Cut;
use super::{Dim, print};
use crate::params::Symbol;

/// A symbol inside a [`Dim`], and what it stands for.
///
/// ```
/// use stridewise_core::dim::{Dim, Leaf};
/// use stridewise_core::params::Symbol;
///
/// let d: Dim = "B*prod(rest)".parse()?;
/// assert_eq!(d.symbols(), [Leaf::Size(Symbol::new("B")), Leaf::Product(Symbol::new("rest"))]);
/// # Ok::<(), stridewise_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leaf {
    /// One size.
    Size(Symbol),
    /// The product of the sizes of an unknown number of axes, which a tuple symbol stands for.
    Product(Symbol),
}

impl Leaf {
    /// The symbol, of a size or of a tuple.
    pub fn symbol(&self) -> &Symbol {
        match self {
            Leaf::Size(symbol) | Leaf::Product(symbol) => symbol,
        }
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leaf::Size(symbol) => print::name(f, symbol),
            Leaf::Product(symbol) => {
                f.write_str("prod(")?;
                print::name(f, symbol)?;
                f.write_str(")")
            }
        }
    }
}

/// A factor that is not taken apart further. A reference to what it is, so that copies are cheap.
#[derive(Clone, Debug)]
pub(super) struct Atom(Arc<Kind>);

#[derive(Debug)]
pub(super) enum Kind {
    /// A symbol with the bounds it was declared with, which are no part of its identity.
    Leaf {
        leaf: Leaf,
        min: usize,
        max: Option<usize>,
    },
    /// The length of a slice of a size; never one that a simpler expression could say.
    Length { of: Dim, cut: Cut },
}

impl Atom {
    pub(super) fn leaf(leaf: Leaf, min: usize, max: Option<usize>) -> Atom {
        Atom(Arc::new(Kind::Leaf { leaf, min, max }))
    }

    pub(super) fn length(of: Dim, cut: Cut) -> Atom {
        Atom(Arc::new(Kind::Length { of, cut }))
    }

    pub(super) fn kind(&self) -> &Kind {
        &self.0
    }
}

impl Ord for Atom {
    /// Sizes by name, then products by name, then lengths.
    fn cmp(&self, other: &Atom) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        match (self.kind(), other.kind()) {
            (Kind::Leaf { leaf: a, .. }, Kind::Leaf { leaf: b, .. }) => a.cmp(b),
            (Kind::Leaf { .. }, Kind::Length { .. }) => Ordering::Less,
            (Kind::Length { .. }, Kind::Leaf { .. }) => Ordering::Greater,
            (Kind::Length { of: a, cut: c }, Kind::Length { of: b, cut: d }) => {
                a.order(b).then_with(|| c.cmp(d))
            }
        }
    }
}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Atom) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Atom {
    fn eq(&self, other: &Atom) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Atom {}

impl Hash for Atom {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.kind() {
            Kind::Leaf { leaf, .. } => leaf.hash(state),
            Kind::Length { of, cut } => (of, cut).hash(state),
        }
    }
}
