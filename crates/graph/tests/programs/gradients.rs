//! Gradients of random programs, three ways: a tape over the CPU, the gradient of a graph, and a tape over a graph.
//! The numbers are small and whole, so all three are equal to the last bit.

use stridewise_core::dtype::{DType, Family};
use stridewise_core::engine::{Engine, Value};
use stridewise_core::error::{Error, Result};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_graph::{Graph, Symbolic};
use stridewise_suite::{Choices, Input, Number};
use stridewise_tape::{Tape, Var};

use crate::check::{Fate, at_once, givens, same, traced};
use crate::inputs::{Other, declared, tensors};
use crate::program::{Program, Run};

fn has_gradient(dtype: DType) -> bool {
    matches!(dtype.family(), Family::Float | Family::Complex)
}

/// What comes back to an output: small whole numbers.
fn seed(like: &Tensor) -> Tensor {
    let numbers = (0..like.count()).map(|at| Number::Int((at * 5 % 7) as i128 - 3));
    crate::common::tensor(&Input::of(like.dtype(), like.shape(), numbers))
}

/// The gradients by all inputs that have one, of all outputs that have one, each with its seed.
fn gradients<E>(
    engine: &E,
    program: &Program,
    inputs: &[E::Value],
    mut seed: impl FnMut(usize, &E::Value) -> Result<E::Value>,
) -> Result<Vec<E::Value>>
where
    E: Engine<Value: Value<Engine = E>> + Clone,
{
    let tape = Tape::over(engine.clone());
    let mut watched: Vec<Var<E>> = Vec::new();
    for x in inputs {
        watched.push(match has_gradient(engine.dtype(x)) {
            true => tape.watch(x)?,
            false => tape.constant(x.clone()),
        });
    }
    let mut run: Run<Tape<E>> = Run::with(program, watched.iter().cloned());
    for step in &program.steps {
        run.step(&tape, step)
            .unwrap_or_else(|| Err(Error::argument("something was never made")))?;
    }
    let by: Vec<&Var<E>> = (watched.iter())
        .filter(|x| has_gradient(engine.dtype(x.value())))
        .collect();
    let mut total: Option<Vec<E::Value>> = None;
    for (at, id) in program.outputs.iter().enumerate() {
        let missing = || Error::argument("an output was never made");
        let y = run.values[*id].as_ref().ok_or_else(missing)?;
        if !has_gradient(engine.dtype(y.value())) {
            continue;
        }
        let part = tape.gradient(y, &by, Some(&seed(at, y.value())?))?;
        total = Some(match total {
            None => part,
            Some(total) => (total.iter().zip(&part))
                .map(|(a, b)| engine.add(a, b))
                .collect::<Result<_>>()?,
        });
    }
    Ok(total.unwrap_or_default())
}

/// A tape over a graph: the program that gives the gradients, given the inputs and then the seeds.
fn taped(program: &Program, declared_by: &[u32]) -> Result<stridewise_graph::Program> {
    let graph = Graph::new();
    let givens = givens(program);
    let outlines = declared(&graph, &givens, &mut Choices::new(declared_by));
    let inputs: Vec<Symbolic> = (givens.iter().zip(outlines).enumerate())
        .map(|(at, (given, outline))| graph.input(&format!("x{at}"), given.dtype, outline))
        .collect::<Result<_>>()?;
    let found = gradients(&graph, program, &inputs, |at, y| {
        graph.input(&format!("seed{at}"), y.dtype(), y.shape().clone())
    })?;
    graph.finish(&found.iter().collect::<Vec<_>>())
}

/// The program itself, recorded by a tape over a graph.
fn forward(program: &Program, declared_by: &[u32]) -> Result<stridewise_graph::Program> {
    let graph = Graph::new();
    let tape = Tape::over(graph.clone());
    let givens = givens(program);
    let outlines = declared(&graph, &givens, &mut Choices::new(declared_by));
    let inputs: Vec<Var<Graph>> = (givens.iter().zip(outlines).enumerate())
        .map(|(at, (given, outline))| {
            Ok(tape.constant(graph.input(&format!("x{at}"), given.dtype, outline)?))
        })
        .collect::<Result<_>>()?;
    let mut run: Run<Tape<Graph>> = Run::with(program, inputs);
    for step in &program.steps {
        run.step(&tape, step)
            .unwrap_or_else(|| Err(Error::argument("something was never made")))?;
    }
    let missing = || Error::argument("an output was never made");
    let outputs: Vec<&Symbolic> = (program.outputs.iter())
        .map(|id| run.values[*id].as_ref().map(Var::value).ok_or_else(missing))
        .collect::<Result<_>>()?;
    graph.finish(&outputs)
}

/// Holds the gradients of a graph, and those of a tape over a graph, to those of a tape over the CPU.
pub(crate) fn agree(
    program: &Program,
    declared_by: &[u32],
    contents: &[u32],
    others: &[Vec<usize>],
) -> Result<Vec<(Fate, Fate)>, String> {
    let traced = traced(program, declared_by).map_err(|error| error.to_string())?;
    if traced.refused.is_some() {
        return Ok(Vec::new());
    }
    let outputs: Vec<&Symbolic> = (program.outputs.iter())
        .filter_map(|id| traced.run.values[*id].as_ref())
        .collect();
    let graph = (traced.graph.finish(&outputs))
        .and_then(|finished| finished.gradient(None))
        .map_err(|error| format!("no gradient: {error}"))?;
    let taped = taped(program, declared_by);
    let forward = forward(program, declared_by);
    let mut fates = Vec::new();
    let maps = std::iter::once(None).chain(others.iter().map(|map| Some(map.as_slice())));
    for (round, map) in maps.enumerate() {
        let from = round * 17 % contents.len().max(1);
        let mut c = Choices::new(contents.get(from..).unwrap_or_default());
        let inputs = tensors(&givens(program), &traced.outlines, &Other(map), &mut c);
        let Some(once) = at_once(program, &inputs) else {
            continue;
        };
        let mut given = inputs.clone();
        if !once.good() {
            // Where the program fails its gradient has no meaning, and says so. Seeds come last, and no
            // seed fits what was never made.
            for id in &program.outputs {
                let y = outputs_like(&traced.run, *id);
                given.extend(y);
            }
            if graph.run(&given).is_ok() {
                return Err(format!("round {round}: the gradient of a bad program"));
            }
            // Whether memory allows a view is asked by the whole operator only: a tape over a graph copies.
            let views = program.steps.iter().any(|step| step.operator == "view");
            if let (Ok(forward), false) = (&forward, views)
                && forward.run(&inputs).is_ok()
            {
                return Err(format!(
                    "round {round}: a tape over a graph runs a bad program"
                ));
            }
            fates.push((Fate::Bad, Fate::Skipped));
            continue;
        }
        let wanted = gradients(&Cpu, program, &inputs, |_, y| Ok(seed(y)))
            .map_err(|error| format!("round {round}, at once: {error}"))?;
        for id in &program.outputs {
            let y = once.run.values[*id].as_ref().ok_or("nothing to seed")?;
            if has_gradient(y.dtype()) {
                given.push(seed(y));
            }
        }
        let mut fate = (Fate::Good, Fate::TooEarly);
        // Without an output that has a gradient, a graph gives zeros, and a tape nothing.
        if given.len() == inputs.len() {
            continue;
        }
        hold(&graph, &given, &wanted).map_err(|why| format!("round {round}, graph: {why}"))?;
        match &taped {
            Ok(taped) => {
                hold(taped, &given, &wanted)
                    .map_err(|why| format!("round {round}, tape over a graph: {why}"))?;
                fate.1 = Fate::Good;
            }
            Err(Error::TooEarly(_)) => {}
            Err(error) => return Err(format!("a tape over the graph refuses: {error}")),
        }
        fates.push(fate);
    }
    Ok(fates)
}

/// A seed for a value that was recorded, of whatever shape.
fn outputs_like(run: &Run<Graph>, id: usize) -> Option<Tensor> {
    let y = run.values[id].as_ref()?;
    let one = crate::common::tensor(&Input::of(y.dtype(), &[], [Number::Int(1)]));
    has_gradient(y.dtype()).then_some(one)
}

/// Runs a program of gradients twice and compares.
fn hold(
    program: &stridewise_graph::Program,
    given: &[Tensor],
    wanted: &[Tensor],
) -> Result<(), String> {
    for _ in 0..2 {
        let got = program.run(given).map_err(|error| error.to_string())?;
        if got.len() != wanted.len() {
            return Err(format!("{} gradients, wanted {}", got.len(), wanted.len()));
        }
        for (at, (want, got)) in wanted.iter().zip(&got).enumerate() {
            same(want, got).map_err(|why| format!("by input {at}: {why}"))?;
        }
    }
    Ok(())
}
