//! What an engine brings to the suite: a way to make tensors, and a way to look at them.

use stridewise_core::call::{ArgOf, Args};
use stridewise_core::dtype::DType;
use stridewise_core::engine::Engine;
use stridewise_core::error::{Error, Result};
use stridewise_core::operators::{self, Dim, Dims};
use stridewise_core::table::Outcome;

use crate::call::{Argument, Call};
use crate::input::Input;

/// The tensors of a runner's engine.
pub type ValueOf<R> = <<R as Runner>::Engine as Engine>::Value;

/// An engine under test.
pub trait Runner {
    /// The engine.
    type Engine: Engine<Size = usize, Value: stridewise_core::engine::Value<Engine = Self::Engine>>;

    /// Whether its tensors have elements. Where they have none, only shapes, dtypes and storage are compared,
    /// and what depends on the elements cannot fail.
    const HOLDS_DATA: bool;

    /// The engine that calls are made on.
    fn engine(&self) -> Self::Engine;

    /// A tensor in storage of its own.
    fn input(&self, spec: &Input) -> ValueOf<Self>;

    /// What can be seen of a tensor; an error where the engine only finds out now that it could not be made.
    fn observe(&self, x: &ValueOf<Self>) -> Result<Observed>;

    /// What can be seen of a tensor that is known to be good.
    fn see(&self, x: &ValueOf<Self>) -> Observed {
        let seen = self.observe(x);
        seen.unwrap_or_else(|error| panic!("a tensor cannot be read: {error}"))
    }

    /// Is shown every call that was made and what came of it, for an engine that is held to more than the suite asks.
    fn witness(&self, _call: &Call, _ran: &Ran) {}
}

/// What can be seen of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The element type.
    pub dtype: DType,
    /// The size of each axis.
    pub shape: Vec<usize>,
    /// The strides in elements, where the engine has strides.
    pub strides: Option<Vec<isize>>,
    /// Something that is equal for views of one storage and different for storages that are alive at the
    /// same time, where the engine has storages.
    pub storage: Option<usize>,
    /// The elements as row-major bytes, where the engine holds data.
    pub elements: Option<Vec<u8>>,
}

/// One entry of the dims that `enforce_shape` returns.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// The size of an axis.
    Size(usize),
    /// The axes under an ellipsis, and the product of their sizes.
    Rest(Vec<usize>, usize),
}

/// What an operator returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// A tensor.
    One(Observed),
    /// Several.
    Many(Vec<Observed>),
    /// A tensor and the sizes found.
    Checked(Observed, Vec<Entry>),
}

impl Observation {
    /// The tensors in it.
    pub fn tensors(&self) -> &[Observed] {
        match self {
            Observation::One(x) | Observation::Checked(x, _) => std::slice::from_ref(x),
            Observation::Many(xs) => xs,
        }
    }
}

/// The variant of an [`Error`], which is what callers match on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Family {
    Shape,
    Axis,
    Index,
    DType,
    Type,
    Argument,
    Overflow,
    Memory,
    File,
    TooEarly,
    World,
    Device,
}

/// The family of an error.
pub fn family(error: &Error) -> Family {
    match error {
        Error::Shape(_) => Family::Shape,
        Error::Axis(_) => Family::Axis,
        Error::Index(_) => Family::Index,
        Error::DType(_) => Family::DType,
        Error::Type(_) => Family::Type,
        Error::Argument(_) => Family::Argument,
        Error::Overflow(_) => Family::Overflow,
        Error::Memory(_) => Family::Memory,
        Error::File(_) => Family::File,
        Error::TooEarly(_) => Family::TooEarly,
        Error::World(_) => Family::World,
        Error::Device(_) => Family::Device,
        other => panic!("the suite does not know the family of {other:?}"),
    }
}

/// A call that was made.
#[derive(Debug)]
pub struct Ran {
    /// The tensors that went in.
    pub inputs: Vec<Observed>,
    /// What came out.
    pub outcome: Result<Observation>,
}

/// Makes the tensors, the call, and a look at everything. Whether the call fails or not, its inputs must be
/// what they were.
pub fn run<R: Runner>(runner: &R, call: &Call) -> Ran {
    let mut made = Vec::new();
    let positional = call
        .positional
        .iter()
        .map(|arg| convert(runner, arg, &mut made))
        .collect();
    let named = call
        .named
        .iter()
        .map(|(name, arg)| (name.to_string(), convert(runner, arg, &mut made)))
        .collect();
    let look = || made.iter().map(|x| runner.see(x)).collect::<Vec<_>>();
    let inputs = look();
    for seen in &inputs {
        assert_eq!(seen.elements.is_some(), R::HOLDS_DATA, "{call}");
    }
    let outcome = operators::call(&runner.engine(), call.operator, Args { positional, named });
    let outcome = outcome.and_then(|outcome| {
        Ok(match outcome {
            Outcome::One(x) => Observation::One(runner.observe(&x)?),
            Outcome::Many(xs) => {
                let seen = xs.iter().map(|x| runner.observe(x));
                Observation::Many(seen.collect::<Result<_>>()?)
            }
            Outcome::Checked((x, dims)) => {
                Observation::Checked(runner.observe(&x)?, entries(&dims))
            }
        })
    });
    assert_eq!(look(), inputs, "{call} changed its inputs");
    let ran = Ran { inputs, outcome };
    runner.witness(call, &ran);
    ran
}

/// Like [`run`], but looks at nothing: for shapes whose elements no memory holds.
pub fn run_shapes<R: Runner>(runner: &R, call: &Call) -> Result<Vec<Vec<usize>>> {
    let engine = runner.engine();
    let mut made = Vec::new();
    let mut all = |arg: &Argument| convert(runner, arg, &mut made);
    let positional = call.positional.iter().map(&mut all).collect();
    let named = call
        .named
        .iter()
        .map(|(name, arg)| (name.to_string(), all(arg)))
        .collect();
    let shape = |x: &ValueOf<R>| engine.shape(x).map(|shape| shape.to_vec());
    match operators::call(&engine, call.operator, Args { positional, named })? {
        Outcome::One(x) | Outcome::Checked((x, _)) => Ok(vec![shape(&x)?]),
        Outcome::Many(xs) => xs.iter().map(shape).collect(),
    }
}

fn convert<R: Runner>(runner: &R, arg: &Argument, made: &mut Vec<ValueOf<R>>) -> ArgOf<R::Engine> {
    arg.with_tensors(&mut |input| {
        let x = runner.input(input);
        made.push(x.clone());
        x
    })
}

/// The dims of `enforce_shape` as plain data.
pub fn entries(dims: &Dims<usize>) -> Vec<Entry> {
    dims.iter()
        .map(|dim| match dim {
            Dim::Size(size) => Entry::Size(*size),
            Dim::Rest(axes, count) => Entry::Rest(axes.to_vec(), *count),
        })
        .collect()
}
