//! `enforce_shape`: a check of a shape against a pattern that stays in the graph, and [`Shapes`], the scope
//! in which several checks share their symbols.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use smallvec::SmallVec;

use crate::engine::{Condition, Engine, SizeOf, Value};
use crate::error::{Error, Result};
use crate::operator::{Named, Operator};
use crate::params::{Pattern, Piece, Symbol};
use crate::size::{Shape, Size, tuple};

/// Checks a tensor's shape against a pattern and names its sizes.
#[derive(Clone, Debug)]
pub struct EnforceShape<S> {
    /// What the shape must be.
    pub pattern: Pattern<S>,
}

impl<E: Engine> Operator<E> for EnforceShape<E::Size> {
    type Output = (E::Value, Dims<E::Size>);

    #[inline]
    fn lower(&self, engine: &E, inputs: &[&E::Value]) -> Result<Self::Output> {
        let dims = check(engine, inputs[0], &self.pattern, &[])?;
        Ok((engine.learned(inputs[0], &dims.sizes), dims))
    }
}

/// The sizes a pattern matched: one entry for each of its pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Dims<S> {
    sizes: Shape<S>,
    /// Where the ellipsis stands, how many axes it took, and the product of their sizes.
    rest: Option<(usize, usize, S)>,
}

/// One entry of [`Dims`].
#[derive(Clone, Debug, PartialEq)]
pub enum Dim<'a, S> {
    /// The size of the axis.
    Size(&'a S),
    /// The axes an ellipsis took, and the product of their sizes, 1 for none.
    Rest(&'a [S], &'a S),
}

impl<S> Dims<S> {
    /// How many pieces the pattern has.
    pub fn len(&self) -> usize {
        self.sizes.len() - self.rest.as_ref().map_or(0, |rest| rest.1)
            + usize::from(self.rest.is_some())
    }

    /// Whether the pattern has no pieces.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the piece at `at` matched.
    pub fn get(&self, at: usize) -> Option<Dim<'_, S>> {
        match &self.rest {
            Some((start, taken, count)) if at == *start => {
                Some(Dim::Rest(&self.sizes[at..at + taken], count))
            }
            _ => self.sizes.get(self.axis(at)).map(Dim::Size),
        }
    }

    /// The axis a piece stands for; for an ellipsis the first, if it took any.
    fn axis(&self, at: usize) -> usize {
        match self.rest {
            Some((start, taken, _)) if at > start => at + taken - 1,
            _ => at,
        }
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = Dim<'_, S>> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// The axes an ellipsis took, none if there was no ellipsis.
    pub fn axes(&self) -> &[S] {
        match &self.rest {
            Some((start, taken, _)) => &self.sizes[*start..start + taken],
            None => &[],
        }
    }
}

impl<S: Size> Dims<S> {
    /// The size a piece matched; for an ellipsis, the product of its sizes.
    pub fn size(&self, at: usize) -> Option<S> {
        match self.get(at)? {
            Dim::Size(size) | Dim::Rest(_, size) => Some(size.clone()),
        }
    }
}

impl<S: fmt::Display> fmt::Display for Dims<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = self
            .iter()
            .map(|dim| match dim {
                Dim::Size(size) => size.to_string(),
                Dim::Rest(axes, count) => format!("({}, {count})", tuple(axes)),
            })
            .collect();
        write!(f, "[{}]", entries.join(", "))
    }
}

/// A symbol's size, and where it was learnt.
#[derive(Clone, Debug)]
struct Binding<S> {
    symbol: Symbol,
    size: S,
    axis: usize,
    shape: Shape<S>,
}

/// A scope: symbols bound by one check hold in the next.
///
/// A check that fails binds nothing.
#[derive(Debug)]
pub struct Shapes<S = usize>(Mutex<SmallVec<[Binding<S>; 8]>>);

impl<S> Default for Shapes<S> {
    fn default() -> Shapes<S> {
        Shapes(Mutex::default())
    }
}

impl<S: Size> Shapes<S> {
    /// A scope in which nothing is bound.
    pub fn new() -> Shapes<S> {
        Shapes::default()
    }

    /// `enforce_shape` with the symbols of this scope.
    pub fn enforce<V: Value>(&self, x: &V, pattern: impl Into<Pattern<S>>) -> Result<(V, Dims<S>)>
    where
        V::Engine: Engine<Size = S>,
    {
        let pattern = pattern.into();
        let mut bindings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let engine = x.engine();
        let (x, dims) = match engine.keeps_operators() {
            false => check(&engine, x, &pattern, &bindings)
                .map(|dims| (engine.learned(x, &dims.sizes), dims)),
            // Kept by itself, the check knows nothing of this scope but the sizes.
            true => engine.run(
                &EnforceShape {
                    pattern: meant(&pattern, &bindings),
                },
                &[x],
            ),
        }
        .map_err(|error| error.within(EnforceShape::<SizeOf<V>>::NAME))?;
        for (at, piece) in pattern.0.iter().enumerate() {
            if let Piece::Symbol(symbol) = piece
                && bindings.iter().all(|b| b.symbol != *symbol)
            {
                let axis = dims.axis(at);
                let (size, shape) = (dims.sizes[axis].clone(), dims.sizes.clone());
                bindings.push(Binding {
                    symbol: symbol.clone(),
                    size,
                    axis,
                    shape,
                });
            }
        }
        Ok((x, dims))
    }

    /// Every symbol bound so far with its size, in the order they were bound.
    pub fn sizes(&self) -> Vec<(Symbol, S)> {
        let bindings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bindings
            .iter()
            .map(|b| (b.symbol.clone(), b.size.clone()))
            .collect()
    }

    /// What a symbol stands for in this scope.
    pub fn get(&self, symbol: impl AsRef<str>) -> Option<S> {
        let bindings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bindings
            .iter()
            .find(|b| b.symbol.name() == symbol.as_ref())
            .map(|b| b.size.clone())
    }
}

/// A pattern with sizes in place of the symbols that are bound.
fn meant<S: Size>(pattern: &Pattern<S>, scope: &[Binding<S>]) -> Pattern<S> {
    let piece = |piece: &Piece<S>| {
        let bound = match piece {
            Piece::Symbol(symbol) => scope.iter().find(|b| b.symbol == *symbol),
            _ => None,
        };
        bound.map_or_else(|| piece.clone(), |b| Piece::Is(b.size.clone()))
    };
    Pattern(pattern.0.iter().map(piece).collect())
}

/// Checks a shape against a pattern. A symbol stands for its size in `scope`, or else for the first size it
/// meets.
#[inline]
fn check<E: Engine>(
    engine: &E,
    x: &E::Value,
    pattern: &Pattern<E::Size>,
    scope: &[Binding<E::Size>],
) -> Result<Dims<E::Size>> {
    let pieces = pattern.0.as_slice();
    let mut rest = None;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Rest if rest.is_some() => {
                let error = Error::argument("the pattern has more than one `...`")
                    .at_item(at)
                    .help("leave one; it stands for any number of axes");
                return Err(side_by_side(engine, x, pattern, error, None));
            }
            Piece::Rest => rest = Some(at),
            Piece::Negative(n) => {
                let message = format!("the pattern holds {n}, but a size cannot be negative");
                let error = Error::shape(message)
                    .at_item(at)
                    .sizes("a size of at least 0", n);
                return Err(
                    side_by_side(engine, x, pattern, error, None).help("use None for any size")
                );
            }
            _ => {}
        }
    }
    let fixed = pieces.len() - usize::from(rest.is_some());
    let (sizes, between) = match engine.rank(x) {
        Ok(rank) => ((0..rank).map(|axis| engine.size(x, axis)).collect(), None),
        Err(Error::TooEarly(_)) => {
            let front = rest.unwrap_or(fixed);
            let (sizes, between) = engine.outlined(x, front, fixed - front, rest.is_some())?;
            (sizes, Some(between))
        }
        Err(error) => return Err(error),
    };
    let rank = sizes.len();
    if between.is_none() && (rank < fixed || (rank > fixed && rest.is_none())) {
        let more = if rest.is_some() { "at least " } else { "" };
        let message = format!("the tensor has rank {rank}, but the pattern wants {more}{fixed}");
        let error = Error::shape(message).sizes(format!("{more}{fixed}"), rank);
        return Err(side_by_side(engine, x, pattern, error, None));
    }
    let mut dims = Dims {
        sizes,
        rest: rest.map(|start| (start, rank - fixed, 1.into())),
    };
    for (at, piece) in pieces.iter().enumerate() {
        let axis = dims.axis(at);
        match piece {
            Piece::Any | Piece::Rest | Piece::Negative(_) => {}
            Piece::Is(wanted) => {
                let size = &dims.sizes[axis];
                engine.require(Condition::Same(size.clone(), wanted.clone()), || {
                    let message =
                        format!("axis {axis} has size {size}, but the pattern wants {wanted}");
                    let error = Error::shape(message).at_axis(axis).sizes(wanted, size);
                    side_by_side(engine, x, pattern, error, Some((at, axis)))
                })?;
                dims.sizes[axis] = wanted.clone();
            }
            Piece::Symbol(symbol) => {
                let size = &dims.sizes[axis];
                let earlier = || {
                    let found = pieces[..at]
                        .iter()
                        .position(|p| matches!(p, Piece::Symbol(s) if s == symbol));
                    found.map(|at| (&dims.sizes[dims.axis(at)], dims.axis(at), &dims.sizes))
                };
                let bound = scope.iter().find(|b| b.symbol == *symbol);
                let bound = bound.map(|b| (&b.size, b.axis, &b.shape)).or_else(earlier);
                let Some((meant, from, shape)) = bound else {
                    if let Some(meant) = engine.meaning(symbol) {
                        let same = Condition::Same(size.clone(), meant.clone());
                        engine.require(same, || {
                            let message = format!(
                                "axis {axis} has size {size}, but {symbol} stands for {meant}"
                            );
                            let error = Error::shape(message).at_axis(axis).sizes(&meant, size);
                            side_by_side(engine, x, pattern, error, Some((at, axis)))
                        })?;
                        dims.sizes[axis] = meant;
                    }
                    continue;
                };
                engine.require(Condition::Same(size.clone(), meant.clone()), || {
                    let message =
                        format!("axis {axis} has size {size}, but {symbol} stands for {meant}");
                    let source = format!(
                        "{symbol} = {meant} at axis {from} of shape {}",
                        tuple(shape)
                    );
                    let error = Error::shape(message).at_axis(axis).sizes(meant, size);
                    side_by_side(engine, x, pattern, error, Some((at, axis))).note("bound", source)
                })?;
            }
        }
    }
    if let Some((start, taken, count)) = &mut dims.rest {
        *count = match between {
            Some(between) => between,
            None => E::Size::product(&dims.sizes[*start..*start + *taken]).ok_or_else(|| {
                Error::overflow("the product of the sizes under `...` is too large")
            })?,
        };
    }
    Ok(dims)
}

/// Prints pattern and shape in columns, with a mark under the axis.
#[cold]
fn side_by_side<E: Engine>(
    engine: &E,
    x: &E::Value,
    pattern: &Pattern<E::Size>,
    error: Error,
    mark: Option<(usize, usize)>,
) -> Error {
    let error = error.at_argument("pattern");
    let error = match mark {
        Some((piece, _)) => error.at_item(piece),
        None => error,
    };
    // There are no columns under sizes of unknown number.
    let (Some((piece, axis)), Ok(shape)) = (mark, engine.shape(x)) else {
        return error
            .note("pattern", pattern)
            .note("  shape", bracketed(engine, x));
    };
    let pieces: Vec<String> = pattern.0.iter().map(Piece::to_string).collect();
    let sizes: Vec<String> = shape.iter().map(E::Size::to_string).collect();
    let rest = pattern.0.iter().position(|p| matches!(p, Piece::Rest));
    // Each piece gets a column as wide as itself or the sizes it stands over.
    let taken = sizes.len() + 1 - pieces.len().min(sizes.len() + 1);
    let under = |at: usize| match rest {
        Some(start) if at == start => sizes[start..start + taken].join(", "),
        Some(start) if at > start => sizes[at + taken - 1].clone(),
        _ => sizes[at].clone(),
    };
    let (mut top, mut bottom, mut mark) = (String::from("["), String::from("["), String::from(" "));
    for (at, name) in pieces.iter().enumerate() {
        let size = under(at);
        let width = name.len().max(size.len());
        let gap = if at + 1 < pieces.len() { ", " } else { "" };
        top += &format!("{name:>width$}{gap}");
        let gap = if size.is_empty() { "  " } else { gap };
        bottom += &format!("{size:>width$}{gap}");
        let sign = if at == piece {
            "^".repeat(width)
        } else {
            " ".repeat(width)
        };
        mark += &format!("{sign}  ");
    }
    let bottom = bottom.trim_end_matches([' ', ',']);
    let indent = " ".repeat("  pattern: ".len());
    error.note("pattern", format!("{top}]")).note(
        "  shape",
        format!("{bottom}]\n{indent}{} axis {axis}", mark.trim_end()),
    )
}

fn bracketed<E: Engine>(engine: &E, x: &E::Value) -> String {
    match engine.shape(x) {
        Ok(shape) => {
            let sizes: Vec<String> = shape.iter().map(E::Size::to_string).collect();
            format!("[{}]", sizes.join(", "))
        }
        Err(_) => engine.shape_text(x),
    }
}
