//! A finished graph: what it needs, what it gives, and running it.

use std::sync::{Arc, Mutex, PoisonError};

use stridewise_core::dim::Outline;
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Engine, Value};
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Symbol;
use stridewise_core::size::{Shape, counted};
use stridewise_core::table::Kind;
use stridewise_cpu::{Cpu, Tensor};

use crate::bindings::Bindings;
use crate::gradient::Gradient;
use crate::graph::Builder;
use crate::node::{Guard, Id, Info, Input, Node, Read};
use crate::plan::{Key, Plan};
use crate::replay::{Host, Replay};

/// A graph that can be run, as often as wanted and from any thread.
#[derive(Debug)]
pub struct Program {
    pub(crate) values: Vec<Info>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) outputs: Vec<Id>,
    pub(crate) guards: Vec<Guard>,
    pub(crate) reads: Vec<Read>,
    pub(crate) symbols: Vec<Symbol>,
    /// What it gives are gradients of the outputs, not the outputs.
    pub(crate) gradient: Option<Gradient>,
    /// Plans for the layouts that came last, the latest in front.
    plans: Mutex<Vec<(Key, Arc<Plan>)>>,
}

/// How many plans are kept.
const PLANS: usize = 16;

impl Clone for Program {
    fn clone(&self) -> Program {
        Program {
            values: self.values.clone(),
            inputs: self.inputs.clone(),
            nodes: self.nodes.clone(),
            outputs: self.outputs.clone(),
            guards: self.guards.clone(),
            reads: self.reads.clone(),
            symbols: self.symbols.clone(),
            gradient: self.gradient.clone(),
            plans: Mutex::default(),
        }
    }
}

impl Program {
    pub(crate) fn new(builder: &Builder, outputs: Vec<Id>) -> Program {
        Program {
            values: builder.values.clone(),
            inputs: builder.inputs.clone(),
            nodes: builder.nodes.clone(),
            outputs,
            guards: builder.guards.clone(),
            reads: builder.reads.clone(),
            symbols: builder.symbols().to_vec(),
            gradient: None,
            plans: Mutex::default(),
        }
    }

    /// The names, element types and shapes of what a run is given.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = (&str, DType, &Outline)> {
        self.inputs.iter().map(|input| {
            let info = &self.values[input.id];
            (input.name.as_str(), info.dtype, &info.shape)
        })
    }

    /// The element types and shapes of what a run gives.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = (DType, &Outline)> {
        let ids = match &self.gradient {
            None => self.outputs.iter(),
            Some(gradient) => gradient.by.iter(),
        };
        ids.map(|id| (self.values[*id].dtype, &self.values[*id].shape))
    }

    /// What every run checks because it could not be proved before, in the order it was met.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// What was recorded, in order: what each operator does to data, and which call of the user's program it came
    /// from, as [`Graph::at`](crate::Graph::at) was told.
    ///
    /// ```
    /// use stridewise_core::{dtype::DType, operators::Methods, table::Kind};
    /// use stridewise_graph::Graph;
    ///
    /// let graph = Graph::new();
    /// let x = graph.input("x", DType::F64, "[B, 6]".parse()?)?;
    /// graph.at(Some("line 1".into()), None);
    /// let y = x.flip(0)?.repeat([2, 1])?;
    /// let program = graph.finish(&[&y])?;
    /// let recorded: Vec<_> = program.recorded().collect();
    /// assert_eq!(recorded, [(Kind::View, Some("line 1")), (Kind::Copy, Some("line 1"))]);
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn recorded(&self) -> impl ExactSizeIterator<Item = (Kind, Option<&str>)> {
        let nodes = self.nodes.iter();
        nodes.map(|node| (node.kind(), node.source.as_deref()))
    }

    /// Runs the graph. A tensor of the inputs may be a view of anything; results may be views of inputs.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        self.plan(inputs)?.run(self, inputs)
    }

    /// Runs every operator at once, one after another, as if there were no graph: what a run is held to.
    pub fn run_at_once(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        self.run_on(&Cpu, |tensor| Ok(tensor.clone()), inputs)
    }

    /// The same on another engine that knows all sizes, such as a tape or a GPU. `constant` brings a tensor of the graph
    /// to the engine; for many runs, [`place`](Self::place) does so once.
    pub fn run_on<E>(
        &self,
        engine: &E,
        constant: impl Fn(&Tensor) -> Result<E::Value>,
        inputs: &[E::Value],
    ) -> Result<Vec<E::Value>>
    where
        E: Engine<Size = usize> + Clone,
        E::Value: Value<Engine = E>,
    {
        self.run_with(engine, &|_, tensor| constant(tensor), inputs)
    }

    pub(crate) fn run_with<E>(
        &self,
        engine: &E,
        constant: &dyn Fn(usize, &Tensor) -> Result<E::Value>,
        inputs: &[E::Value],
    ) -> Result<Vec<E::Value>>
    where
        E: Engine<Size = usize> + Clone,
        E::Value: Value<Engine = E>,
    {
        self.require(inputs.len(), |at| engine.dtype(&inputs[at]))?;
        let host = Host {
            constant,
            begin: &|_| (),
        };
        self.results(engine, host, inputs)
    }

    /// What a run on an engine gives: the outputs, or the gradients where it is a graph of those.
    pub(crate) fn results<E>(
        &self,
        engine: &E,
        host: Host<'_, E>,
        inputs: &[E::Value],
    ) -> Result<Vec<E::Value>>
    where
        E: Engine<Size = usize> + Clone,
        E::Value: Value<Engine = E>,
    {
        match &self.gradient {
            None => Replay::run(self, engine, host, inputs)?.outputs(),
            Some(gradient) => gradient.run(self, engine, host, inputs),
        }
    }

    /// A shape of the graph, with the numbers that its symbols stand for in a run with such inputs.
    pub fn foreseen(&self, inputs: &[Tensor], shape: &Outline) -> Result<Shape> {
        self.require_inputs(inputs)?;
        let host = Host {
            constant: &|_, tensor| Ok(tensor.clone()),
            begin: &|_| (),
        };
        let replay = Replay::run(self, &Cpu, host, inputs)?;
        replay.numbers(shape)
    }

    /// What a run with such inputs does: its steps, for people.
    pub fn steps(&self, inputs: &[Tensor]) -> Result<Vec<String>> {
        Ok(self.plan(inputs)?.describe())
    }

    pub(crate) fn declares(&self, symbol: &Symbol) -> bool {
        self.symbols.contains(symbol)
    }

    /// The inputs, by their places, whose elements say sizes: a plan depends on what is in them.
    pub(crate) fn read_inputs(&self) -> Vec<usize> {
        let mut needed: Vec<bool> = vec![false; self.values.len()];
        for read in &self.reads {
            needed[read.from] = true;
        }
        for node in self.nodes.iter().rev() {
            if node.outputs.iter().any(|id| needed[*id]) {
                node.inputs(&mut |id| needed[id] = true);
            }
        }
        let inputs = self.inputs.iter().enumerate();
        inputs
            .filter(|(_, input)| needed[input.id])
            .map(|(at, _)| at)
            .collect()
    }

    /// The plan for such inputs: one that was made before, or a new one.
    pub(crate) fn plan(&self, inputs: &[Tensor]) -> Result<Arc<Plan>> {
        let lock = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut plans = lock();
            if let Some(at) = plans.iter().position(|(key, _)| key.fits(inputs)) {
                plans[..=at].rotate_right(1);
                return Ok(Arc::clone(&plans[0].1));
            }
        }
        self.require_inputs(inputs)?;
        let Some(key) = Key::new(self, inputs)? else {
            return Ok(Arc::new(Plan::new(self, inputs)?));
        };
        let plan = Arc::new(Plan::new(self, &key.settled(inputs))?);
        let mut plans = lock();
        plans.truncate(PLANS - 1);
        plans.insert(0, (key, Arc::clone(&plan)));
        Ok(plan)
    }

    /// Sees to it that there are as many inputs as were declared, with their dtypes.
    fn require_inputs(&self, inputs: &[Tensor]) -> Result<()> {
        self.require(inputs.len(), |at| inputs[at].dtype())
    }

    fn require(&self, given: usize, given_dtype: impl Fn(usize) -> DType) -> Result<()> {
        if given != self.inputs.len() {
            let wanted = counted(self.inputs.len(), "input");
            let names: Vec<&str> = self.inputs.iter().map(|i| i.name.as_str()).collect();
            return Err(
                Error::type_(format!("the graph has {wanted}, but {given} were given"))
                    .sizes(self.inputs.len(), given)
                    .note("inputs", names.join(", ")),
            );
        }
        for (at, (name, dtype, _)) in self.inputs().enumerate() {
            let found = given_dtype(at);
            if found != dtype {
                let message = format!("input `{name}` is {found}, but {dtype} was declared");
                return Err(Error::dtype(message)
                    .sizes(dtype, found)
                    .help("nothing is cast silently: use `cast` before the graph"));
            }
        }
        Ok(())
    }

    /// What the symbols of the inputs stand for.
    pub(crate) fn bind(&self, shape: impl Fn(usize) -> Result<Shape>) -> Result<Bindings> {
        let mut bindings = Bindings::default();
        // Again, since a size may be declared by a symbol that a later input tells, and once more to see that all fit.
        for solve in [false, true, true] {
            for (at, (name, _, outline)) in self.inputs().enumerate() {
                bindings.input(name, outline, &shape(at)?, solve)?;
            }
        }
        Ok(bindings)
    }
}
