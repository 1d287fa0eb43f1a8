//! Running a graph's nodes, one after another, on an engine that knows all sizes: the same operators that run at
//! once, called again with numbers in place of symbols.

use stridewise_core::call::{Arg, Plain};
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::engine::Engine;
use stridewise_core::error::{Error, Result};
use stridewise_core::operators::{TABLE, call_at};
use stridewise_core::params::{Extent, Symbol};
use stridewise_core::size::{Shape, Truth};
use stridewise_core::table::{Arity, Outcome, ParamKind};
use stridewise_cpu::Tensor;

use crate::bindings::Bindings;
use crate::node::{At, Body, Call, Id, Node, Primitive, Read};
use crate::program::Program;
use crate::symbols::{as_spread, spread};

/// What a run needs of its engine beside the primitives.
pub(crate) struct Host<'p, E: Engine> {
    /// How the engine holds a tensor that is the same in every run, by the place of its node.
    pub(crate) constant: &'p dyn Fn(usize, &Tensor) -> Result<E::Value>,
    /// Called before each node.
    pub(crate) begin: &'p dyn Fn(usize),
}

/// A run of a program on an engine.
pub(crate) struct Replay<'p, E: Engine> {
    program: &'p Program,
    engine: &'p E,
    host: Host<'p, E>,
    /// The place of the node that is being run.
    at: usize,
    values: Vec<Option<E::Value>>,
    pub(crate) bindings: Bindings,
}

impl<'p, E: Engine<Size = usize>> Replay<'p, E> {
    /// Runs all nodes, whether their results are used or not.
    pub(crate) fn run(
        program: &'p Program,
        engine: &'p E,
        host: Host<'p, E>,
        inputs: &[E::Value],
    ) -> Result<Replay<'p, E>> {
        let mut replay = Replay {
            program,
            engine,
            host,
            at: 0,
            values: (0..program.values.len()).map(|_| None).collect(),
            bindings: program.bind(|at| engine.shape(&inputs[at]))?,
        };
        for (input, value) in program.inputs.iter().zip(inputs) {
            replay.values[input.id] = Some(value.clone());
        }
        for (at, node) in program.nodes.iter().enumerate() {
            (replay.host.begin)(at);
            replay.at = at;
            replay.node(node).map_err(|error| blame(error, node))?;
        }
        Ok(replay)
    }

    /// The value of that number.
    pub(crate) fn value(&self, id: Id) -> Result<&E::Value> {
        let value = self.values.get(id).and_then(Option::as_ref);
        value.ok_or_else(|| Error::argument("a value of the graph is used before it is made"))
    }

    /// The values the program gives.
    pub(crate) fn outputs(&self) -> Result<Vec<E::Value>> {
        let ids = self.program.outputs.iter();
        ids.map(|id| self.value(*id).cloned()).collect()
    }

    fn node(&mut self, node: &Node) -> Result<()> {
        let made = match &node.body {
            Body::Call(call) => self.call(call)?,
            Body::Primitive(primitive) => vec![self.primitive(primitive)?],
            Body::Require { condition, error } => {
                return match condition.try_map(|dim| self.size(dim))?.holds() {
                    Truth::No => Err((**error).clone()),
                    _ => Ok(()),
                };
            }
        };
        for (id, value) in node.outputs.iter().zip(made) {
            let shape = self.engine.shape(&value)?;
            self.bindings.learn(&self.program.values[*id].shape, &shape);
            self.values[*id] = Some(value);
        }
        Ok(())
    }

    fn call(&self, call: &Call) -> Result<Vec<E::Value>> {
        let entry = &TABLE[call.place];
        let tensors: Vec<Arg<E::Value, usize>> = (call.tensors.iter())
            .map(|id| self.value(*id).map(|x| Arg::Tensor(x.clone())))
            .collect::<Result<_>>()?;
        let mut tensors = tensors.into_iter();
        let positional: Vec<_> = match entry.arity {
            Arity::Many => vec![Arg::List(tensors.by_ref().collect())],
            Arity::Each | Arity::One => tensors.by_ref().take(1).collect(),
            Arity::None => Vec::new(),
        };
        let others = entry.params.iter().filter(|p| p.kind == ParamKind::Tensor);
        let mut named: Vec<(&str, Arg<E::Value, usize>)> =
            others.map(|param| param.name).zip(tensors).collect();
        for (name, argument) in &call.parameters {
            named.push((name, self.argument(argument)?));
        }
        match call_at(self.engine, call.place, &positional, &named)? {
            Outcome::One(x) | Outcome::Checked((x, _)) => Ok(vec![x]),
            Outcome::Many(xs) => Ok(xs),
        }
    }

    /// An argument with numbers for symbols.
    fn argument(&self, argument: &Plain<Dim>) -> Result<Arg<E::Value, usize>> {
        match argument {
            Arg::List(items) => match items.as_slice() {
                // Read by the operator itself, which looks at its rank and dtype again.
                [Arg::Extent(Extent::Is(dim))] if self.whole(dim).is_some() => {
                    let from = self.whole(dim).ok_or_else(|| unbound(dim))?;
                    Ok(Arg::Tensor(self.value(from)?.clone()))
                }
                items => {
                    let mut all = Vec::with_capacity(items.len());
                    for item in items {
                        self.add_item(item, &mut all)?;
                    }
                    Ok(Arg::List(all))
                }
            },
            Arg::Symbol(symbol) if self.program.declares(symbol) => {
                Ok(Arg::Int(self.size(&Dim::symbol(symbol))? as i128))
            }
            Arg::Extent(Extent::Is(dim)) => self.number(dim),
            other => other.try_map(&mut |none| match *none {}, &mut |_| {
                Err(unbound(&Dim::from(0)))
            }),
        }
    }

    /// Adds an item of a list, or those that it stands for.
    fn add_item(&self, item: &Plain<Dim>, all: &mut Vec<Arg<E::Value, usize>>) -> Result<()> {
        if let Arg::Extent(Extent::Is(dim)) = item
            && let Some(tuple) = as_spread(dim)
        {
            match self.bindings.tuple(&tuple) {
                Some(sizes) => all.extend(sizes.iter().map(|size| Arg::Int(*size as i128))),
                None => {
                    let from = self.whole(dim).ok_or_else(|| unbound(dim))?;
                    let extents = self.engine.read_sizes(self.value(from)?)?;
                    all.extend(extents.into_iter().map(Arg::Extent));
                }
            }
            return Ok(());
        }
        all.push(self.argument(item)?);
        Ok(())
    }

    /// A size as a number, or as what it is read from.
    fn number(&self, dim: &Dim) -> Result<Arg<E::Value, usize>> {
        match self.read(dim.as_symbol()) {
            Some(&Read { from, at, .. }) => match at {
                At::Item(at) => {
                    let sizes = self.engine.read_sizes(self.value(from)?)?;
                    let size = sizes.get(at).cloned().ok_or_else(|| unbound(dim))?;
                    Ok(Arg::Extent(size))
                }
                _ => Ok(Arg::Tensor(self.value(from)?.clone())),
            },
            None => Ok(Arg::Int(self.size(dim)? as i128)),
        }
    }

    /// The tensor whose elements stand where this does.
    fn whole(&self, dim: &Dim) -> Option<Id> {
        Some(self.read(as_spread(dim).as_ref())?.from)
    }

    /// What is read from a tensor where this symbol stands.
    fn read(&self, symbol: Option<&Symbol>) -> Option<&Read> {
        let symbol = symbol?;
        self.program
            .reads
            .iter()
            .find(|read| read.symbol == *symbol)
    }

    fn size(&self, dim: &Dim) -> Result<usize> {
        self.bindings
            .size(dim)
            .map_err(|no| Error::shape(format!("{dim} is no size in this run: {no}")))
    }

    fn sizes(&self, dims: &[Dim]) -> Result<Shape> {
        dims.iter().map(|dim| self.size(dim)).collect()
    }

    /// A shape with numbers for symbols.
    pub(crate) fn numbers(&self, outline: &Outline) -> Result<Shape> {
        let mut all = self.sizes(outline.front())?;
        if let Some(rest) = outline.rest() {
            let sizes = self.bindings.tuple(rest);
            all.extend_from_slice(sizes.ok_or_else(|| unbound(&spread(rest)))?);
        }
        all.extend(self.sizes(outline.back())?);
        Ok(all)
    }

    fn primitive(&self, primitive: &Primitive) -> Result<E::Value> {
        let engine = self.engine;
        let value = |id: &Id| self.value(*id);
        match primitive {
            Primitive::Constant(tensor) => (self.host.constant)(self.at, tensor),
            Primitive::Full {
                dtype,
                value,
                sizes,
            } => engine.full(*dtype, *value, &self.sizes(sizes)?),
            Primitive::Range {
                dtype,
                start,
                step,
                len,
            } => engine.range(*dtype, *start, *step, self.size(len)?),
            Primitive::Sizes(sizes) => engine.sizes(&self.sizes(sizes)?),
            Primitive::SizesOf(x) => engine.sizes_of(value(x)?),
            Primitive::Runs(counts) => engine.runs(&self.sizes(counts)?),
            Primitive::Same(x) => value(x).cloned(),
            Primitive::View { x, axes } => {
                let axes = axes.iter().map(|axis| axis.try_map(|dim| self.size(dim)));
                let axes = axes.collect::<Result<Vec<_>>>()?;
                engine.try_view(value(x)?, axes.len(), |out| Ok(axes[out].clone()))
            }
            Primitive::Copy(x) => engine.copy(value(x)?),
            Primitive::Gather {
                source,
                index,
                along,
                mode,
            } => engine.gather(value(source)?, value(index)?, along, *mode),
            Primitive::ScatterAdd {
                base,
                index,
                updates,
                along,
                mode,
            } => engine.scatter_add(value(base)?, value(index)?, value(updates)?, along, *mode),
            Primitive::Sum { x, axes, dtype } => engine.sum(value(x)?, axes, *dtype),
            Primitive::Concat { xs, axis } => {
                let xs = xs.iter().map(value).collect::<Result<Vec<_>>>()?;
                engine.concat(&xs, *axis)
            }
            Primitive::Cast { x, dtype } => engine.cast(value(x)?, *dtype),
            Primitive::Add(a, b) => engine.add(value(a)?, value(b)?),
        }
    }
}

fn unbound(dim: &Dim) -> Error {
    Error::shape(format!("nothing says what {dim} is in this run"))
}

/// An error with the place in the user's program that it comes from.
pub(crate) fn blame(error: Error, node: &Node) -> Error {
    let error = match &node.body {
        Body::Call(call) => error.within(TABLE[call.place].name),
        Body::Primitive(_) | Body::Require { .. } => error,
    };
    let error = match &node.source {
        Some(source) => error.note("called at", source),
        None => error,
    };
    match &node.name {
        Some(name) => error.named(name),
        None => error,
    }
}
