//! Gradients of a graph: a graph of its own, which is given what the other is given and a gradient for each of
//! its results. The tape runs over the planner, so that it goes back through what is known of the sizes then.

use stridewise_core::dim::Outline;
use stridewise_core::dtype::Family;
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Symbol;

use crate::node::{Id, Info, Input};
use crate::program::Program;

/// What gradients are by.
#[derive(Clone, Debug)]
pub(crate) struct Gradient {
    /// The inputs, as values of the graph.
    pub(crate) by: Vec<Id>,
    /// The outputs that have a gradient, by their places; an input for each comes last.
    pub(crate) seeded: Vec<usize>,
}

impl Program {
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
            program.inputs.push(Input {
                name: match seeded.len() {
                    1 => "grad".to_string(),
                    _ => format!("grad{at}"),
                },
                id: program.values.len() - 1,
            });
        }
        program.gradient = Some(Gradient {
            by: chosen.iter().map(|input| input.id).collect(),
            seeded,
        });
        Ok(program)
    }
}
