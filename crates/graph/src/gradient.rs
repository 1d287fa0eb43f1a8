//! Gradients of a graph: a graph of its own, which is given what the other is given and a gradient for each of
//! its results. The tape runs over the engine of the run, so that it goes back through what is known of the sizes then.

use stridewise_core::dim::Outline;
use stridewise_core::dtype::Family;
use stridewise_core::engine::{Engine, Value};
use stridewise_core::error::{Error, Result};
use stridewise_core::params::{Scalar, Symbol};
use stridewise_tape::{Tape, Var};

use crate::node::{Id, Info, Input};
use crate::program::Program;
use crate::replay::{Host, Replay};

/// What gradients are by.
#[derive(Clone, Debug)]
pub(crate) struct Gradient {
    /// The inputs, as values of the graph.
    pub(crate) by: Vec<Id>,
    /// The outputs that have a gradient, by their places; an input for each comes last.
    pub(crate) seeded: Vec<usize>,
}

impl Program {
    /// Whether this is a graph of gradients, as [`gradient`](Self::gradient) makes it.
    pub fn gives_gradients(&self) -> bool {
        self.gradient.is_some()
    }

    /// The graph that gives the gradients by the inputs of these names, given the inputs and then, for each
    /// output, a gradient of whatever it goes into. Without names, by every input whose elements have gradients.
    pub fn gradient(&self, by: Option<&[&str]>) -> Result<Program> {
        if self.gradient.is_some() {
            return Err(Error::argument("this graph gives gradients already")
                .help("trace a function that calls for gradients of gradients"));
        }
        let differentiable = |id: Id| {
            let family = self.values[id].dtype.family();
            matches!(family, Family::Float | Family::Complex)
        };
        let chosen: Vec<&Input> = match by {
            None => (self.inputs.iter().filter(|input| differentiable(input.id))).collect(),
            Some(names) => names
                .iter()
                .map(|name| {
                    let found = self.inputs.iter().find(|input| input.name == *name);
                    found.ok_or_else(|| {
                        Error::argument(format!("the graph has no input `{name}`"))
                            .at_argument("by")
                    })
                })
                .collect::<Result<_>>()?,
        };
        for input in &chosen {
            if !differentiable(input.id) {
                let dtype = self.values[input.id].dtype;
                return Err(Error::dtype(format!(
                    "a gradient by input `{}`, which is {dtype}, has no meaning",
                    input.name
                ))
                .sizes("a floating-point or complex dtype", dtype));
            }
        }
        let mut program = self.clone();
        let seeded: Vec<usize> = (0..self.outputs.len())
            .filter(|at| differentiable(self.outputs[*at]))
            .collect();
        for at in &seeded {
            // Whether it fits is told by the output, once that is made.
            program.values.push(Info {
                dtype: self.values[self.outputs[*at]].dtype,
                shape: Outline::unknown(Symbol::new(&format!("_grad{at}"))),
                elements: None,
            });
            let mut name = match seeded.len() {
                1 => "grad".to_string(),
                _ => format!("grad{at}"),
            };
            while program.inputs.iter().any(|input| input.name == name) {
                name.push('_');
            }
            let id = program.values.len() - 1;
            program.inputs.push(Input { name, id });
        }
        program.gradient = Some(Gradient {
            by: chosen.iter().map(|input| input.id).collect(),
            seeded,
        });
        Ok(program)
    }
}

impl Gradient {
    /// The gradients of a program's outputs: a tape over the engine.
    pub(crate) fn run<E>(
        &self,
        program: &Program,
        engine: &E,
        host: Host<'_, E>,
        inputs: &[E::Value],
    ) -> Result<Vec<E::Value>>
    where
        E: Engine<Size = usize> + Clone,
        E::Value: Value<Engine = E>,
    {
        let tape = Tape::over(engine.clone());
        let watched: Vec<Var<E>> = (program.inputs.iter().zip(inputs))
            .map(|(input, x)| match self.by.contains(&input.id) {
                true => tape.watch(x),
                false => Ok(tape.constant(x.clone())),
            })
            .collect::<Result<_>>()?;
        let above = Host {
            constant: &|at, tensor| Ok(tape.constant((host.constant)(at, tensor)?)),
            begin: host.begin,
        };
        let outputs = Replay::run(program, &tape, above, &watched)?.outputs()?;
        (host.begin)(usize::MAX);
        let by: Vec<&Var<E>> = (self.by.iter())
            .filter_map(|id| program.inputs.iter().position(|input| input.id == *id))
            .map(|at| &watched[at])
            .collect();
        let seeds = &inputs[inputs.len() - self.seeded.len()..];
        let mut total: Option<Vec<E::Value>> = None;
        for (at, seed) in self.seeded.iter().zip(seeds) {
            let part = tape.gradient(&outputs[*at], &by, Some(seed))?;
            total = Some(match total {
                None => part,
                Some(total) => (total.iter().zip(&part))
                    .map(|(a, b)| engine.add(a, b))
                    .collect::<Result<_>>()?,
            });
        }
        match total {
            Some(total) => Ok(total),
            None => {
                let zeros = |x: &&Var<E>| {
                    let (dtype, shape) = (tape.dtype(x), tape.shape(x)?);
                    engine.full(dtype, Scalar::Int(0), &shape)
                };
                by.iter().map(zeros).collect()
            }
        }
    }
}
