//! A program whose constants lie on an engine, for many runs there.

use stridewise_core::engine::{Engine, Value};
use stridewise_core::error::Result;
use stridewise_cpu::Tensor;

use crate::node::{Body, Primitive};
use crate::program::Program;

/// A program on an engine: its constants were brought there once.
#[derive(Clone, Debug)]
pub struct Placed<E: Engine> {
    program: Program,
    engine: E,
    /// The constants, by the places of their nodes.
    constants: Vec<Option<E::Value>>,
}

impl Program {
    /// Brings the constants of the graph to an engine that knows all sizes, for many runs there.
    ///
    /// ```
    /// use stridewise_core::{dtype::DType, operators::Methods};
    /// use stridewise_cpu::{Cpu, Tensor};
    /// use stridewise_graph::Graph;
    /// use stridewise_tape::Tape;
    ///
    /// let graph = Graph::new();
    /// let x = graph.input("x", DType::F64, "[B]".parse()?)?;
    /// let program = graph.finish(&[&x.repeat([2])?])?;
    ///
    /// let tape = Tape::over(Cpu);
    /// let placed = program.place(&tape, |constant| Ok(tape.constant(constant.clone())))?;
    /// let x = tape.watch(&Tensor::from_vec(vec![1.0, 2.0], &[2])?)?;
    /// let y = placed.run(&[x.clone()])?.remove(0);
    /// let dx = tape.gradient(&y, &[&x], Some(&Tensor::from_vec(vec![1.0; 4], &[4])?))?;
    /// assert_eq!(dx[0].to_vec::<f64>()?, [2.0, 2.0]);
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn place<E>(
        &self,
        engine: &E,
        constant: impl Fn(&Tensor) -> Result<E::Value>,
    ) -> Result<Placed<E>>
    where
        E: Engine<Size = usize> + Clone,
        E::Value: Value<Engine = E>,
    {
        let placed = self.nodes.iter().map(|node| match &node.body {
            Body::Primitive(Primitive::Constant(tensor)) => constant(tensor).map(Some),
            _ => Ok(None),
        });
        Ok(Placed {
            constants: placed.collect::<Result<_>>()?,
            program: self.clone(),
            engine: engine.clone(),
        })
    }
}

impl<E> Placed<E>
where
    E: Engine<Size = usize> + Clone,
    E::Value: Value<Engine = E>,
{
    /// Runs the graph on tensors of the engine, and leaves the results there.
    pub fn run(&self, inputs: &[E::Value]) -> Result<Vec<E::Value>> {
        let constant = |at: usize, _: &Tensor| match self.constants.get(at) {
            Some(Some(constant)) => Ok(constant.clone()),
            _ => Err(stridewise_core::Error::argument(
                "a constant of the graph was not placed",
            )),
        };
        self.program.run_with(&self.engine, &constant, inputs)
    }

    /// The engine.
    pub fn engine(&self) -> &E {
        &self.engine
    }
}
