//! Running a model: its constants are placed on an engine once, then each run walks over the steps, all at once or
//! one by one.

use stridewise_core::engine::Engine;
use stridewise_core::{DType, Error, Result};

use crate::import::declared::Named;
use crate::import::given::{Given, Held};
use crate::import::{Model, Step, describe};

/// A model whose constants are tensors of an engine.
#[derive(Clone, Debug)]
pub struct Placed<'m, E: Engine> {
    model: &'m Model,
    engine: &'m E,
    /// Those of the model's constants that are needed as tensors.
    constants: Vec<Option<E::Value>>,
}

/// A run of a model that is under way.
#[derive(Debug)]
pub struct Running<'p, 'm, E: Engine> {
    placed: &'p Placed<'m, E>,
    slots: Vec<Option<Held<'m, E::Value>>>,
    /// The node that is next.
    at: usize,
}

impl<E: Engine> Running<'_, '_, E> {
    /// Runs the next of the model's [`nodes`](Model::nodes), and gives what it made; none where all have run.
    pub fn step(&mut self) -> Result<Option<E::Value>> {
        let model = self.placed.model;
        let Some(step) = model.steps.get(self.at) else {
            return Ok(None);
        };
        let value = self.placed.step(step, &self.slots)?;
        self.at += 1;
        self.slots[step.output] = Some(Held {
            value: Some(value.clone()),
            numbers: None,
            name: &model.slots[step.output],
        });
        for &slot in &step.done_with {
            self.slots[slot] = None;
        }
        Ok(Some(value))
    }

    /// The outputs, once all nodes have run, in the order of the file.
    pub fn outputs(&self) -> Result<Vec<(String, E::Value)>> {
        let output = |(name, slot): &(String, usize)| {
            let held = self.slots[*slot].as_ref();
            let value = held.and_then(|held| held.value.clone());
            value
                .map(|value| (name.clone(), value))
                .ok_or_else(|| Error::argument(format!("output `{name}` was not made")))
        };
        self.placed.model.outputs.iter().map(output).collect()
    }
}

impl Model {
    /// Makes the model's constants on an engine, for many runs. `constant` makes a tensor from its dtype, its
    /// shape, and its elements in row-major order, low bytes first.
    pub fn place<'m, E: Engine>(
        &'m self,
        engine: &'m E,
        constant: impl Fn(DType, &[usize], &[u8]) -> Result<E::Value>,
    ) -> Result<Placed<'m, E>> {
        let made = self.constants.iter().map(|of| {
            let data = &of.data;
            let value = of
                .needed
                .then(|| constant(data.dtype, &data.shape, &data.bytes));
            value.transpose().map_err(|error| {
                error
                    .note("constant", format!("`{}`", self.slots[of.slot]))
                    .note("of", describe(data.dtype, &data.shape))
            })
        });
        Ok(Placed {
            model: self,
            engine,
            constants: made.collect::<Result<_>>()?,
        })
    }

    /// Runs the model once: [`place`](Self::place), and [`Placed::run`].
    pub fn run<'m, E: Engine, N: AsRef<str>>(
        &'m self,
        engine: &'m E,
        constant: impl Fn(DType, &[usize], &[u8]) -> Result<E::Value>,
        inputs: impl IntoIterator<Item = (N, E::Value)>,
    ) -> Result<Vec<(String, E::Value)>> {
        self.place(engine, constant)?.run(inputs)
    }
}

impl<'m, E: Engine> Placed<'m, E> {
    /// Runs the model on inputs, given by name in any order. The outputs come in the order of the file.
    pub fn run<N: AsRef<str>>(
        &self,
        inputs: impl IntoIterator<Item = (N, E::Value)>,
    ) -> Result<Vec<(String, E::Value)>> {
        let mut running = self.start(inputs)?;
        while running.step()?.is_some() {}
        running.outputs()
    }

    /// Begins a run that is then done node by node, for whoever wants to see what each gives.
    pub fn start<N: AsRef<str>>(
        &self,
        inputs: impl IntoIterator<Item = (N, E::Value)>,
    ) -> Result<Running<'_, 'm, E>> {
        Ok(Running {
            placed: self,
            slots: self.filled(inputs)?,
            at: 0,
        })
    }

    /// The slots with everything that is there before the first step.
    fn filled<N: AsRef<str>>(
        &self,
        inputs: impl IntoIterator<Item = (N, E::Value)>,
    ) -> Result<Vec<Option<Held<'m, E::Value>>>> {
        let model = self.model;
        let mut slots: Vec<Option<Held<'m, E::Value>>> = vec![None; model.slots.len()];
        let names = || {
            let names: Vec<&str> = model.inputs.iter().map(|i| i.name.as_str()).collect();
            names.join(", ")
        };
        for (name, value) in inputs {
            let name = name.as_ref();
            let Some(input) = model.inputs.iter().find(|input| input.name == name) else {
                return Err(Error::argument(format!("the model has no input `{name}`"))
                    .note("its inputs", names()));
            };
            let held = Held {
                value: Some(value),
                numbers: None,
                name: input.name.as_str(),
            };
            if slots[input.slot].replace(held).is_some() {
                return Err(Error::argument(format!("input `{name}` is given twice")));
            }
        }
        let mut named = Named::new();
        for input in &model.inputs {
            let held = slots[input.slot].as_mut();
            match held.and_then(|held| held.value.as_mut()) {
                Some(value) => *value = named.require(self.engine, input, value)?,
                None if input.has_default => {}
                None => {
                    return Err(
                        Error::argument(format!("input `{}` is not given", input.name))
                            .note("the inputs", names()),
                    );
                }
            }
        }
        for (constant, value) in model.constants.iter().zip(&self.constants) {
            slots[constant.slot].get_or_insert(Held {
                value: value.clone(),
                numbers: constant.numbers.as_deref(),
                name: &model.slots[constant.slot],
            });
        }
        Ok(slots)
    }

    fn step(&self, step: &Step, slots: &[Option<Held<'m, E::Value>>]) -> Result<E::Value> {
        let held = |slot: &Option<usize>| slot.and_then(|slot| slots[slot].as_ref());
        let given = Given {
            engine: self.engine,
            inputs: step.call.inputs(),
            held: step.inputs.iter().map(held).collect(),
        };
        step.call
            .run(&given)
            .map_err(|error| step.label.blame(error).note("inputs", given.text()))
    }
}
