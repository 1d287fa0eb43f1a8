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

/// A size as a multiple of one of its symbols, and what is left over, where it is that: `B*4 + 2` is 4 and 2. Other
/// symbols are what `known` says.
pub(crate) fn multiple_of(
    dim: &Dim,
    symbol: &Symbol,
    known: impl Fn(&Leaf) -> Option<usize>,
) -> Option<(usize, usize)> {
    let at = |n: usize| {
        let value = |leaf: &Leaf| match leaf {
            Leaf::Size(one) if one == symbol => Some(n),
            other => known(other),
        };
        dim.evaluate(value).ok()
    };
    let (rest, once, twice) = (at(0)?, at(1)?, at(2)?);
    let times = once.checked_sub(rest).filter(|times| *times > 0)?;
    (twice.checked_sub(once) == Some(times)).then_some((times, rest))
}

/// The number of a symbol that stands for a size or a tuple without a name.
pub(crate) fn anonymous(symbol: &Symbol) -> Option<usize> {
    symbol.name().strip_prefix('_')?.parse().ok()
}

/// Whether a user may declare inputs with that symbol: it has a name, and not one that a graph gives.
pub fn may_declare(symbol: &Symbol) -> bool {
    is_name(symbol.name()) && anonymous(symbol).is_none()
}

/// Whether a user may have a symbol of that name.
pub(crate) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}
