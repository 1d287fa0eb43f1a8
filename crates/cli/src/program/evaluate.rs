//! Running a program's steps on an engine.

use stridewise_core::call::{Arg, ArgOf, Args};
use stridewise_core::engine::Engine;
use stridewise_core::operators::{Dims, call};
use stridewise_core::params::{Extent, resolve_axis};
use stridewise_core::size::Size;
use stridewise_core::table::{Arity, Outcome, ParamKind};

use crate::program::binding::{by_position, parameter, tensors};
use crate::program::{Argument, Kind, Literal, Mistake, Program, Span, Step, blame};

/// As many tensors as one step may give.
const MOST: usize = 1 << 16;

/// What goes from one step to the next.
#[derive(Clone, Debug)]
pub(crate) enum Flow<V> {
    /// A tensor.
    One(V),
    /// Several, as `unstack` makes them.
    Many(Vec<V>),
}

impl<V> Flow<V> {
    /// The tensors.
    pub(crate) fn tensors(&self) -> &[V] {
        match self {
            Flow::One(x) => std::slice::from_ref(x),
            Flow::Many(xs) => xs,
        }
    }

    /// The same with other tensors.
    #[cfg(feature = "gpu")]
    pub(crate) fn try_map<W, F>(self, each: impl Fn(V) -> Result<W, F>) -> Result<Flow<W>, F> {
        Ok(match self {
            Flow::One(x) => Flow::One(each(x)?),
            Flow::Many(xs) => Flow::Many(xs.into_iter().map(each).collect::<Result<_, F>>()?),
        })
    }
}

/// What a step has done.
pub(crate) struct Done<E: Engine> {
    /// The result.
    pub(crate) flow: Flow<E::Value>,
    /// The sizes that `enforce_shape` found.
    pub(crate) dims: Option<Dims<E::Size>>,
}

/// Reads a word among sizes, which is a size only where sizes may be symbols; none for a word that is not.
pub(crate) type Words<'a, S> = &'a dyn Fn(&str, &Span) -> Result<Option<S>, Mistake>;

/// The tensor a program starts from: none where its first step makes one from nothing.
pub(crate) fn start<V: Clone>(program: &Program, inputs: &[V]) -> Result<Option<Flow<V>>, Mistake> {
    if program.begins_from_nothing() {
        return Ok(None);
    }
    match (&program.from, inputs.first()) {
        (Some((n, span)), _) => match inputs.get(n - 1) {
            Some(x) => Ok(Some(Flow::One(x.clone()))),
            None => Err(no_input(*n, inputs.len(), span)),
        },
        (None, Some(first)) => Ok(Some(Flow::One(first.clone()))),
        (None, None) => {
            let first = program.steps.first().map_or(0..0, |step| step.span.clone());
            Err(Mistake::new(first, "there is no input to start from")
                .label("this works on a tensor")
                .help("give a file or a shape, or begin with arange, full, zeros or ones"))
        }
    }
}

/// Runs one step where sizes are numbers.
pub(crate) fn step<E: Engine<Size = usize>>(
    engine: &E,
    step: &Step,
    before: Option<&Flow<E::Value>>,
    inputs: &[E::Value],
) -> Result<Done<E>, Mistake> {
    step_with(engine, step, before, inputs, &|_, _| Ok(None))
}

/// Runs one step where words may be sizes.
pub(crate) fn step_with<E: Engine>(
    engine: &E,
    step: &Step,
    before: Option<&Flow<E::Value>>,
    inputs: &[E::Value],
    words: Words<'_, E::Size>,
) -> Result<Done<E>, Mistake> {
    let entry = step.entry;
    let ahead = match before {
        Some(flow) if !step.names_all => flow.tensors(),
        _ => &[],
    };
    let mut positional: Vec<ArgOf<E>> = Vec::new();
    match (entry.arity, before) {
        (Arity::None, _) | (_, None) => {}
        (Arity::One, Some(Flow::Many(xs))) => {
            let message = format!(
                "`{}` works on one tensor, but the step before gives {}",
                entry.name,
                xs.len()
            );
            return Err(Mistake::new(step.span.clone(), message)
                .label("on which of them?")
                .help("concat and stack take several, and atleast_1d to atleast_3d each of them")
                .signature(entry));
        }
        (Arity::One, Some(Flow::One(x))) => positional.push(Arg::Tensor(x.clone())),
        (Arity::Each | Arity::Many, Some(_)) => {
            let mut xs: Vec<ArgOf<E>> = ahead.iter().cloned().map(Arg::Tensor).collect();
            for literal in tensors(step) {
                xs.push(argument::<E>(literal, inputs, None)?);
            }
            match entry.arity {
                Arity::Each => positional = xs,
                _ => positional.push(Arg::List(xs)),
            }
        }
    }
    let of = |given: &Argument| {
        let words = takes_sizes(step, given).then_some(words);
        argument::<E>(&given.value, inputs, words)
    };
    for given in by_position(step) {
        positional.push(of(given)?);
    }
    let mut named = Vec::new();
    for given in &step.args {
        if let Some((name, _)) = &given.name {
            named.push((name.clone(), of(given)?));
        }
    }
    let rank = match before {
        Some(Flow::One(x)) => engine.rank(x).ok(),
        _ => None,
    };
    if let ("unstack", Some(Flow::One(x)), Some(rank)) = (entry.name, before, rank) {
        few_enough(step, rank, |axis| engine.size(x, axis).known())?;
    }
    match call(engine, entry.name, Args { positional, named }) {
        Ok(Outcome::One(x)) => Ok(Done {
            flow: Flow::One(x),
            dims: None,
        }),
        Ok(Outcome::Many(xs)) => Ok(Done {
            flow: Flow::Many(xs),
            dims: None,
        }),
        Ok(Outcome::Checked((x, dims))) => Ok(Done {
            flow: Flow::One(x),
            dims: Some(dims),
        }),
        Err(error) => Err(blame::mistake(step, ahead.len(), &error)),
    }
}

/// Refuses to take a tensor apart into more tensors than could be of use.
fn few_enough(
    step: &Step,
    rank: usize,
    size: impl Fn(usize) -> Option<usize>,
) -> Result<(), Mistake> {
    let axis = match step.args.first().map(|arg| &arg.value.kind) {
        Some(Kind::Int(axis)) => isize::try_from(*axis).ok(),
        _ => Some(0),
    };
    // An axis that is out of range is the operator's to refuse.
    let Some(Ok(axis)) = axis.map(|axis| resolve_axis(axis, rank, "axis", String::new)) else {
        return Ok(());
    };
    match size(axis) {
        Some(n) if n > MOST => Err(Mistake::new(
            step.span.clone(),
            format!("this would give {n} tensors"),
        )
        .label("too many")
        .help(format!("a program holds at most {MOST} tensors at a time"))
        .signature(step.entry)),
        _ => Ok(()),
    }
}

/// Whether an argument is a size, or a list of them.
fn takes_sizes(step: &Step, given: &Argument) -> bool {
    let name = parameter(step, given);
    let mut params = step.entry.parameters();
    params.any(|param| Some(param.name) == name && param.kind == ParamKind::Sizes)
}

/// A literal as an argument of an engine; with `words` if it is among sizes.
fn argument<E: Engine>(
    literal: &Literal,
    inputs: &[E::Value],
    words: Option<Words<'_, E::Size>>,
) -> Result<ArgOf<E>, Mistake> {
    Ok(match &literal.kind {
        Kind::None => Arg::None,
        Kind::Bool(b) => Arg::Bool(*b),
        Kind::Int(n) => Arg::Int(*n),
        Kind::Float(x) => Arg::Float(*x),
        Kind::Complex(re, im) => Arg::Complex(*re, *im),
        Kind::Text(text) => match words.map(|words| words(text, &literal.span)).transpose()? {
            Some(Some(size)) => Arg::Extent(Extent::Is(size)),
            _ => Arg::Text(text.clone()),
        },
        Kind::Rest => Arg::Rest,
        Kind::Range(start, stop, step) => Arg::Range(*start, *stop, *step),
        Kind::List(items) => Arg::List(
            items
                .iter()
                .map(|item| argument::<E>(item, inputs, words))
                .collect::<Result<_, _>>()?,
        ),
        Kind::Input(n) => match inputs.get(n - 1) {
            Some(x) => Arg::Tensor(x.clone()),
            None => return Err(no_input(*n, inputs.len(), &literal.span)),
        },
    })
}

/// An input that was not given.
fn no_input(n: usize, given: usize, span: &Span) -> Mistake {
    let message = match given {
        0 => format!("there is no input ${n}: none was given"),
        1 => format!("there is no input ${n}: only one was given"),
        _ => format!("there is no input ${n}: only {given} were given"),
    };
    Mistake::new(span.clone(), message)
        .label("not given")
        .help("inputs are counted from $1, in the order they are given")
}
