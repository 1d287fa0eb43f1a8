//! What the symbols of a graph stand for in one run: learnt from the shapes of the inputs, and then from the
//! result of every operator whose sizes were not known before.

use std::collections::HashMap;

use stridewise_core::dim::{Dim, Leaf, NoValue, Outline};
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Symbol;
use stridewise_core::size::{Shape, tuple};

use crate::symbols::multiple_of;

/// The numbers that symbols stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    sizes: HashMap<Symbol, usize>,
    tuples: HashMap<Symbol, Shape>,
}

impl Bindings {
    /// Binds the symbols of an input's shape, each by its first match.
    /// Once those of all inputs are bound that stand alone, `solve` binds those that stand in an expression.
    pub(crate) fn input(
        &mut self,
        name: &str,
        outline: &Outline,
        dims: &[usize],
        solve: bool,
    ) -> Result<()> {
        let blame = |error: Error| {
            error
                .note("input", format!("{name}: {}", tuple(dims)))
                .note("declared", outline)
        };
        let (least, exact) = (outline.least_rank(), outline.rest().is_none());
        if dims.len() < least || (exact && dims.len() > least) {
            let more = if exact { "" } else { "at least " };
            return Err(blame(
                Error::shape(format!(
                    "input `{name}` has rank {}, but {more}{least} was declared",
                    dims.len()
                ))
                .sizes(format!("{more}{least}"), dims.len()),
            ));
        }
        self.learn(outline, dims);
        for (dim, axis) in placed(outline, dims.len()) {
            let wanted = match self.size(dim) {
                Ok(wanted) => wanted,
                Err(NoValue::Unbound(Leaf::Size(symbol))) if solve => {
                    match self.solve(dim, &symbol, dims[axis]) {
                        Some(true) => dims[axis],
                        None => continue,
                        Some(false) => {
                            let size = dims[axis];
                            let message = format!(
                                "axis {axis} of input `{name}` has size {size}, which is not {dim} for any {symbol}"
                            );
                            let error = Error::shape(message).at_axis(axis);
                            return Err(blame(error.sizes(dim, size)));
                        }
                    }
                }
                // A symbol that another input will tell.
                Err(NoValue::Unbound(_)) => continue,
                Err(no) => {
                    let message = format!("axis {axis} of input `{name}` is declared {dim}: {no}");
                    return Err(blame(Error::shape(message).at_axis(axis)));
                }
            };
            if wanted != dims[axis] {
                let stands = match dim.symbols().is_empty() {
                    true => format!("{dim} was declared"),
                    false => format!("{dim} stands for {wanted}"),
                };
                let message = format!(
                    "axis {axis} of input `{name}` has size {}, but {stands}",
                    dims[axis]
                );
                let error = Error::shape(message).at_axis(axis);
                return Err(blame(error.sizes(wanted, dims[axis])));
            }
        }
        if let Some(rest) = outline.rest() {
            let meant = &self.tuples[rest];
            let found = &dims[outline.front().len()..dims.len() - outline.back().len()];
            if meant.as_slice() != found {
                let message = format!(
                    "input `{name}` has {} where *{rest} stands for {}",
                    tuple(found),
                    tuple(meant)
                );
                return Err(blame(
                    Error::shape(message).sizes(tuple(meant), tuple(found)),
                ));
            }
        }
        Ok(())
    }

    /// Binds a symbol so that a size is that number; `None` where more than this symbol is missing.
    fn solve(&mut self, dim: &Dim, symbol: &Symbol, size: usize) -> Option<bool> {
        let (times, rest) = multiple_of(dim, symbol, |leaf| self.leaf(leaf))?;
        let over = size.checked_sub(rest).filter(|over| over % times == 0);
        if let Some(over) = over {
            self.sizes.insert(symbol.clone(), over / times);
        }
        Some(over.is_some())
    }

    /// Binds whatever symbols stand alone in a shape and mean nothing yet.
    pub(crate) fn learn(&mut self, outline: &Outline, dims: &[usize]) {
        for (dim, axis) in placed(outline, dims.len()) {
            if let Some(symbol) = dim.as_symbol()
                && let Some(size) = dims.get(axis)
            {
                self.sizes.entry(symbol.clone()).or_insert(*size);
            }
        }
        let ends = (
            outline.front().len(),
            dims.len().checked_sub(outline.back().len()),
        );
        if let (Some(rest), (start, Some(stop))) = (outline.rest(), ends)
            && start <= stop
        {
            let found = || dims[start..stop].into();
            self.tuples.entry(rest.clone()).or_insert_with(found);
        }
    }

    /// The number a size is.
    pub(crate) fn size(&self, dim: &Dim) -> Result<usize, NoValue> {
        dim.evaluate(|leaf| self.leaf(leaf))
    }

    fn leaf(&self, leaf: &Leaf) -> Option<usize> {
        match leaf {
            Leaf::Size(symbol) => self.sizes.get(symbol).copied(),
            Leaf::Product(tuple) => {
                let sizes = self.tuples.get(tuple)?.iter();
                sizes.copied().try_fold(1usize, usize::checked_mul)
            }
        }
    }

    /// The sizes a tuple symbol stands for.
    pub(crate) fn tuple(&self, symbol: &Symbol) -> Option<&[usize]> {
        self.tuples.get(symbol).map(|sizes| sizes.as_slice())
    }
}

/// The sizes of an outline, each with the axis it has in a shape of that rank.
fn placed(outline: &Outline, rank: usize) -> impl Iterator<Item = (&Dim, usize)> {
    let behind = rank.saturating_sub(outline.back().len());
    let back = outline.back().iter().enumerate();
    (outline.front().iter().enumerate())
        .chain(back.map(move |(at, dim)| (behind + at, dim)))
        .map(|(axis, dim)| (dim, axis))
}
