//! Symbols beyond sizes: one that stands for the sizes of an unknown number of axes, and one for a number that is
//! read from a tensor when the graph runs. Both are told by their names, which no user's symbol can have.

use stridewise_core::dim::{Dim, Leaf};
use stridewise_core::params::Symbol;

use crate::node::{At, Id};

/// A tuple symbol among sizes: as many sizes as it turns out to stand for.
pub fn spread(tuple: &Symbol) -> Dim {
    Dim::symbol(format!("*{tuple}"))
}

/// The tuple symbol that this stands for among sizes.
pub fn as_spread(dim: &Dim) -> Option<Symbol> {
    Some(Symbol::new(dim.as_symbol()?.name().strip_prefix('*')?))
}

/// The number at a place of a tensor, or a tuple symbol for all that it holds.
pub(crate) fn read_from(id: Id, at: At) -> Symbol {
    Symbol::new(&match at {
        At::Item(at) => format!("%{id}[{at}]"),
        At::Single => format!("%{id}[]"),
        At::Whole => format!("%{id}"),
    })
}

/// Whether the size contains a number that is read from a tensor.
pub(crate) fn is_read(dim: &Dim) -> bool {
    let read = |leaf: &Leaf| {
        leaf.symbol()
            .name()
            .trim_start_matches('*')
            .starts_with('%')
    };
    dim.symbols().iter().any(read)
}

/// The number of a symbol that stands for a size or a tuple without a name.
pub(crate) fn anonymous(symbol: &Symbol) -> Option<usize> {
    symbol.name().strip_prefix('_')?.parse().ok()
}

/// Whether a user may have a symbol of that name.
pub(crate) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}
