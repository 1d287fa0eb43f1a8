//! A program as data: inputs, calls that use them and each other's results, and what is given back. It runs on any
//! engine, so that every engine can be held to every other.

use std::convert::Infallible;
use std::fmt;

use stridewise_core::call::{Arg, ArgOf, Args};
use stridewise_core::engine::Engine;
use stridewise_core::error::Result;
use stridewise_core::operators::{Dims, call};
use stridewise_core::params::Extent;
use stridewise_core::table::Outcome;

use crate::inputs::Given;

/// An argument of a call.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// What stands there as it is.
    Plain(Arg<Infallible, usize>),
    /// An earlier value.
    Value(usize),
    /// The size that a piece of the pattern of an earlier `enforce_shape` has found.
    Size {
        step: usize,
        piece: usize,
    },
    /// The sizes that its ellipsis has found, one after another.
    Axes {
        step: usize,
    },
    List(Vec<Item>),
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) operator: &'static str,
    pub(crate) positional: Vec<Item>,
    pub(crate) named: Vec<(&'static str, Item)>,
    /// The values it makes.
    pub(crate) makes: std::ops::Range<usize>,
}

/// A program. Inputs and results of calls are numbered together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) inputs: Vec<(usize, Given)>,
    pub(crate) steps: Vec<Step>,
    pub(crate) outputs: Vec<usize>,
    /// How many values there are.
    pub(crate) values: usize,
}

/// What a program has come to on an engine.
pub(crate) struct Run<E: Engine> {
    pub(crate) values: Vec<Option<E::Value>>,
    pub(crate) dims: Vec<Option<Dims<E::Size>>>,
}

impl Item {
    /// Shows every step that this comes from, by its number.
    fn sources(&self, steps: &[Step], show: &mut dyn FnMut(usize)) {
        match self {
            Item::Plain(_) => {}
            Item::Value(id) => {
                let made = steps.iter().position(|step| step.makes.contains(id));
                made.into_iter().for_each(show);
            }
            Item::Size { step, .. } | Item::Axes { step } => show(*step),
            Item::List(items) => items.iter().for_each(|item| item.sources(steps, show)),
        }
    }
}

impl Step {
    /// Whether some sizes in a list are tensors.
    pub(crate) fn reads_sizes(&self) -> bool {
        let tensor = |item: &Item| matches!(item, Item::Value(_));
        (self.named.iter())
            .any(|(_, item)| matches!(item, Item::List(items) if items.iter().any(tensor)))
    }
}

impl Program {
    /// Whether a step comes, near or far, from one that is such.
    pub(crate) fn comes_from(&self, at: usize, is: &dyn Fn(usize) -> bool) -> bool {
        let step = &self.steps[at];
        let named = step.named.iter().map(|(_, item)| item);
        let mut found = false;
        for item in step.positional.iter().chain(named) {
            item.sources(&self.steps[..at], &mut |from| {
                found = found || is(from) || self.comes_from(from, is);
            });
        }
        found
    }
}

impl<E: Engine> Run<E> {
    pub(crate) fn new() -> Run<E> {
        Run {
            values: Vec::new(),
            dims: Vec::new(),
        }
    }

    /// A run that has its inputs.
    pub(crate) fn with(program: &Program, inputs: impl IntoIterator<Item = E::Value>) -> Run<E> {
        let mut run = Run::new();
        run.values.resize_with(program.values, || None);
        for ((id, _), input) in program.inputs.iter().zip(inputs) {
            run.values[*id] = Some(input);
        }
        run
    }

    /// Makes the next call; `None` where something it needs was never made.
    pub(crate) fn step(&mut self, engine: &E, step: &Step) -> Option<Result<()>> {
        let Some(args) = self.args(step) else {
            self.dims.push(None);
            return None;
        };
        let (made, dims) = match call(engine, step.operator, args) {
            Ok(Outcome::One(x)) => (vec![x], None),
            Ok(Outcome::Many(xs)) => (xs, None),
            Ok(Outcome::Checked((x, dims))) => (vec![x], Some(dims)),
            Err(error) => {
                self.dims.push(None);
                return Some(Err(error));
            }
        };
        self.dims.push(dims);
        if self.values.len() < step.makes.end {
            self.values.resize_with(step.makes.end, || None);
        }
        for (id, value) in step.makes.clone().zip(made) {
            self.values[id] = Some(value);
        }
        Some(Ok(()))
    }

    /// The arguments of a call.
    fn args(&self, step: &Step) -> Option<Args<E>> {
        let one = |item: &Item| {
            let mut all = Vec::new();
            self.add(item, &mut all)?;
            all.pop()
        };
        Some(Args {
            positional: step.positional.iter().map(one).collect::<Option<_>>()?,
            named: (step.named.iter())
                .map(|(name, item)| Some((name.to_string(), one(item)?)))
                .collect::<Option<_>>()?,
        })
    }

    /// Adds an argument, or those that it stands for.
    pub(crate) fn add(&self, item: &Item, all: &mut Vec<ArgOf<E>>) -> Option<()> {
        let dims = |step: usize| self.dims.get(step)?.as_ref();
        let size = |size: &E::Size| Arg::Extent(Extent::Is(size.clone()));
        match item {
            Item::Plain(arg) => all.push(plain(arg)),
            Item::Value(id) => all.push(Arg::Tensor(self.values.get(*id)?.clone()?)),
            Item::Size { step, piece } => all.push(size(&dims(*step)?.size(*piece)?)),
            Item::Axes { step } => all.extend(dims(*step)?.axes().iter().map(size)),
            Item::List(items) => {
                let mut list = Vec::new();
                for item in items {
                    self.add(item, &mut list)?;
                }
                all.push(Arg::List(list));
            }
        }
        Some(())
    }
}

fn plain<V, S>(arg: &Arg<Infallible, usize>) -> Arg<V, S> {
    let mapped: Result<_, ()> = arg.try_map(&mut |never| match *never {}, &mut |_| Err(()));
    mapped.unwrap_or_else(|()| panic!("a plain argument holds no sizes but numbers: {arg:?}"))
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Plain(Arg::Range(start, stop, step)) => {
                let part = |n: &Option<isize>| n.map_or(String::new(), |n| n.to_string());
                write!(f, "{}:{}:{}", part(start), part(stop), part(step))
            }
            Item::Plain(Arg::Int(n)) => write!(f, "{n}"),
            Item::Plain(Arg::Text(word)) => write!(f, "{word:?}"),
            Item::Plain(Arg::Rest) => f.write_str("..."),
            Item::Plain(Arg::DType(dtype)) => write!(f, "{dtype}"),
            Item::Plain(other) => write!(f, "{other:?}"),
            Item::Value(id) => write!(f, "%{id}"),
            Item::Size { step, piece } => write!(f, "dims{step}[{piece}]"),
            Item::Axes { step } => write!(f, "*axes{step}"),
            Item::List(items) => {
                let items: Vec<String> = items.iter().map(Item::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let makes: Vec<String> = self.makes.clone().map(|id| format!("%{id}")).collect();
        let positional = self.positional.iter().map(Item::to_string);
        let named = (self.named.iter()).map(|(name, item)| format!("{name}={item}"));
        let args: Vec<String> = positional.chain(named).collect();
        let (makes, args) = (makes.join(", "), args.join(", "));
        write!(f, "{makes} = {}({args})", self.operator)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, given) in &self.inputs {
            writeln!(f, "%{id} = {given}")?;
        }
        for (at, step) in self.steps.iter().enumerate() {
            writeln!(f, "step {at}: {step}")?;
        }
        let outputs: Vec<String> = self.outputs.iter().map(|id| format!("%{id}")).collect();
        writeln!(f, "gives {}", outputs.join(", "))
    }
}
