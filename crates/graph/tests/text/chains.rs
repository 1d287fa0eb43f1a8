//! Programs of several calls, each on what those before it have made, with shapes read from tensors and sizes that
//! patterns have found.

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::TestCaseError;
use stridewise_core::call::{Arg, Args};
use stridewise_core::dim::Dim;
use stridewise_core::dtype::DType;
use stridewise_core::error::Result;
use stridewise_core::operators::call;
use stridewise_core::params::{Extent, Symbol};
use stridewise_core::table::Outcome;
use stridewise_cpu::Tensor;
use stridewise_graph::{Graph, Program, Symbolic};
use stridewise_suite::Choices;

use crate::common::{ALL, outline};
use crate::random::{reason, runner, same};

type Argument = Arg<Symbolic, Dim>;

/// A graph, and what there is to call operators with.
struct Chain {
    graph: Graph,
    tensors: Vec<Symbolic>,
    /// Integers to read sizes and indices from.
    integers: Vec<Symbolic>,
    sizes: Vec<Dim>,
}

impl Chain {
    fn size(&self, choices: &mut Choices) -> Argument {
        match choices.below(5) {
            0 => Arg::Int(choices.between(-1, 4)),
            1 => Arg::Tensor(choices.pick(&self.integers)),
            _ => Arg::Extent(Extent::Is(choices.pick(&self.sizes))),
        }
    }

    fn shape(&self, choices: &mut Choices) -> Argument {
        match choices.below(4) {
            0 => Arg::Tensor(choices.pick(&self.integers)),
            _ => Arg::List((0..choices.below(4)).map(|_| self.size(choices)).collect()),
        }
    }

    fn axis(choices: &mut Choices) -> Argument {
        Arg::Int(choices.between(-2, 2))
    }

    fn pattern(&self, choices: &mut Choices) -> Argument {
        let piece = |choices: &mut Choices| match choices.below(5) {
            0 => Arg::None,
            1 => Arg::Rest,
            2 => Arg::Symbol(Symbol::new(
                choices.pick(&["B", "N2", "fresh", "_1", "None"]),
            )),
            3 => Arg::Int(choices.between(0, 3)),
            _ => Arg::Extent(Extent::Is(choices.pick(&self.sizes))),
        };
        Arg::List((0..choices.below(4)).map(|_| piece(choices)).collect())
    }

    /// Calls something, if it can be called; what cannot be called leaves nothing behind.
    fn step(&mut self, choices: &mut Choices) {
        let x = choices.pick(&self.tensors);
        let mut named: Vec<(&str, Argument)> = Vec::new();
        let mut positional = vec![Arg::Tensor(x.clone())];
        let operator = choices.pick(&[
            "reshape",
            "reshape",
            "expand",
            "unflatten",
            "flatten",
            "concat",
            "take",
            "enforce_shape",
            "enforce_shape",
            "unsqueeze",
            "squeeze",
            "shape_of",
            "slice",
            "zeros",
            "unstack",
            "sum",
            "tile",
            "transpose",
        ]);
        match operator {
            "reshape" => named.push(("shape", self.shape(choices))),
            "expand" => named.push(("sizes", self.shape(choices))),
            "tile" => named.push(("reps", self.shape(choices))),
            "unflatten" => {
                named.push(("axis", Chain::axis(choices)));
                named.push(("shape", self.shape(choices)));
            }
            "flatten" => named.push(("start", Chain::axis(choices))),
            "concat" => {
                positional = vec![Arg::List(vec![
                    Arg::Tensor(x.clone()),
                    positional.remove(0),
                ])]
            }
            "take" => {
                named.push(("index", Arg::Tensor(choices.pick(&self.integers))));
                named.push(("axis", Chain::axis(choices)));
            }
            "enforce_shape" => named.push(("pattern", self.pattern(choices))),
            "unsqueeze" | "squeeze" | "unstack" | "sum" => {
                named.push(("axis", Chain::axis(choices)));
            }
            "slice" => {
                let range = Arg::Range(Some(choices.between(-3, 3) as isize), None, None);
                named.push(("items", Arg::List(vec![range, Arg::Rest, Arg::None])));
            }
            "zeros" => {
                positional = Vec::new();
                named.push(("shape", self.shape(choices)));
            }
            _ => {}
        }
        if choices.once_in(4) {
            let name = choices.once_in(2).then(|| "a \"name\"".to_string());
            self.graph.at(Some("model.py:3".to_string()), name);
        } else {
            self.graph.at(None, None);
        }
        let named = named.into_iter().map(|(key, arg)| (key.to_string(), arg));
        let args = Args {
            positional,
            named: named.collect(),
        };
        let made = match call(&self.graph, operator, args) {
            Ok(Outcome::One(x)) => vec![x],
            Ok(Outcome::Many(xs)) => xs,
            Ok(Outcome::Checked((x, dims))) => {
                self.sizes
                    .extend((0..dims.len()).filter_map(|at| dims.size(at)));
                self.sizes.extend(dims.axes().iter().cloned());
                vec![x]
            }
            Err(_) => Vec::new(),
        };
        for x in made {
            self.sizes.extend(x.shape().front().iter().cloned());
            match x.dtype() {
                DType::I64 => self.integers.push(x),
                _ => self.tensors.push(x),
            }
        }
    }
}

fn drawn(choices: &mut Choices) -> Result<(Program, Vec<Tensor>)> {
    let graph = Graph::new();
    let (mut given, mut tensors, mut integers) = (Vec::new(), Vec::new(), Vec::new());
    let mut sizes = vec![Dim::from(2)];
    for at in 0..2 {
        let dims: Vec<usize> = (0..choices.below(4)).map(|_| choices.below(4)).collect();
        let declared = choices.pick(&ALL);
        let shape = outline(&graph, &dims, declared, choices);
        sizes.extend(shape.front().iter().cloned());
        let count = dims.iter().product::<usize>();
        given.push(Tensor::from_vec(
            (0..count).map(|n| n as f32).collect(),
            &dims,
        )?);
        tensors.push(graph.input(&format!("x{at}"), DType::F32, shape)?);
    }
    for (name, values) in [("i", vec![1i64, 2]), ("j", vec![0])] {
        let declared = choices.pick(&ALL);
        let shape = outline(&graph, &[values.len()], declared, choices);
        given.push(Tensor::from_vec(values.clone(), &[values.len()])?);
        integers.push(graph.input(name, DType::I64, shape)?);
    }
    given.push(Tensor::scalar(2i64)?);
    integers.push(graph.input(
        "n",
        DType::I64,
        outline(&graph, &[], choices.pick(&ALL), choices),
    )?);
    let mut chain = Chain {
        graph,
        tensors,
        integers,
        sizes,
    };
    for _ in 0..choices.below(10) {
        chain.step(choices);
    }
    let all = chain.tensors.iter().chain(&chain.integers);
    let program = chain.graph.finish(&all.collect::<Vec<_>>())?;
    match choices.once_in(4) {
        true => program.gradient(None).map(|program| (program, given)),
        false => Ok((program, given)),
    }
}

/// A text of a random program.
pub(crate) fn text(choices: &mut Choices) -> Result<String> {
    drawn(choices).map(|(program, _)| program.to_string())
}

#[test]
fn programs_of_several_calls_read_back_as_they_were_recorded() {
    let (seed, mut runner) = runner("chains", 1500);
    let outcome = runner.run(&vec(any::<u32>(), 0..300), |choices| {
        let drawn = drawn(&mut Choices::new(&choices));
        let (program, given) = drawn.map_err(|error| TestCaseError::fail(error.to_string()))?;
        same(&program, &given).map_err(TestCaseError::fail)
    });
    if let Err(error) = outcome {
        panic!("PROPTEST_RNG_SEED={seed}: {}", reason(error));
    }
}
