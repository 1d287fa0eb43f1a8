//! Holding a graph to the same calls made at once: equal results, equal shapes, and errors where there are errors.

use stridewise_core::call::Arg;
use stridewise_core::dim::Outline;
use stridewise_core::error::{Error, Result};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_graph::{Graph, Symbolic};
use stridewise_suite::oracle;
use stridewise_suite::runner::family;
use stridewise_suite::{Call, Choices, Family};

use crate::draw::too_much;
use crate::inputs::{Given, Other, declared, described, tensors};
use crate::program::{Item, Program, Run, Step};

/// How each call of a program went at once.
pub(crate) struct AtOnce {
    pub(crate) run: Run<Cpu>,
    /// `None` where a call needs what a call before it did not make.
    pub(crate) outcomes: Vec<Option<Result<()>>>,
}

impl AtOnce {
    pub(crate) fn good(&self) -> bool {
        let fine = |outcome: &Option<Result<()>>| matches!(outcome, Some(Ok(())));
        self.outcomes.iter().all(fine)
    }
}

/// Makes every call at once that can be made; `None` where that comes to too much.
pub(crate) fn at_once(program: &Program, inputs: &[Tensor]) -> Option<AtOnce> {
    let mut run = Run::with(program, inputs.iter().cloned());
    let mut outcomes = Vec::new();
    for step in &program.steps {
        if too_much(&run, step) {
            return None;
        }
        outcomes.push(run.step(&Cpu, step));
        let made = run.values[step.makes.clone()].iter().flatten();
        if made.map(Tensor::count).any(|count| count > 1 << 14) {
            return None;
        }
    }
    Some(AtOnce { run, outcomes })
}

/// A program recorded by a graph.
pub(crate) struct Traced {
    pub(crate) graph: Graph,
    pub(crate) outlines: Vec<Outline>,
    pub(crate) run: Run<Graph>,
    /// The call that the graph refused.
    pub(crate) refused: Option<(usize, Error)>,
}

/// The inputs of a program.
pub(crate) fn givens(program: &Program) -> Vec<&Given> {
    program.inputs.iter().map(|(_, given)| given).collect()
}

/// Records a program, as far as that goes.
pub(crate) fn traced(program: &Program, declared_by: &[u32]) -> Result<Traced> {
    let graph = Graph::new();
    let givens = givens(program);
    let outlines = declared(&graph, &givens, &mut Choices::new(declared_by));
    let mut inputs = Vec::new();
    for (at, (given, outline)) in givens.iter().zip(&outlines).enumerate() {
        inputs.push(graph.input(&format!("x{at}"), given.dtype, outline.clone())?);
    }
    let mut run = Run::with(program, inputs);
    let mut refused = None;
    for (at, step) in program.steps.iter().enumerate() {
        graph.at(Some(format!("step {at}")), None);
        if let Some(Err(error)) = run.step(&graph, step) {
            refused = Some((at, error));
            break;
        }
    }
    graph.at(None, None);
    Ok(Traced {
        graph,
        outlines,
        run,
        refused,
    })
}

/// What became of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    /// It gave what it gives at once.
    Good,
    /// It failed as it fails at once.
    Bad,
    /// It needs the number of tensors that a call gives before that is known.
    TooEarly,
    /// It comes to too much with these sizes.
    Skipped,
}

/// Runs a program in a graph with inputs of several sizes, and holds each run to the calls made at once.
pub(crate) fn agree(
    program: &Program,
    declared_by: &[u32],
    contents: &[u32],
    others: &[Vec<usize>],
) -> Result<Vec<Fate>, String> {
    let traced = traced(program, declared_by).map_err(|error| format!("no inputs: {error}"))?;
    let declaration = |at: usize| format!("x{at} declared {}", traced.outlines[at]);
    let declarations: Vec<String> = (0..traced.outlines.len()).map(declaration).collect();
    let finished = match &traced.refused {
        Some(_) => None,
        None => {
            let outputs: Vec<Symbolic> = (program.outputs.iter())
                .map(|id| traced.run.values[*id].clone())
                .collect::<Option<_>>()
                .ok_or("an output was never recorded")?;
            let outputs: Vec<&Symbolic> = outputs.iter().collect();
            Some((traced.graph.finish(&outputs)).map_err(|error| error.to_string())?)
        }
    };
    let mut fates = Vec::new();
    let maps = std::iter::once(None).chain(others.iter().map(|map| Some(map.as_slice())));
    for (round, map) in maps.enumerate() {
        let from = round * 17 % contents.len().max(1);
        let mut c = Choices::new(contents.get(from..).unwrap_or_default());
        let inputs = tensors(&givens(program), &traced.outlines, &Other(map), &mut c);
        let Some(once) = at_once(program, &inputs) else {
            fates.push(Fate::Skipped);
            continue;
        };
        let fate = match (&traced.refused, &finished) {
            (Some((at, error)), _) => refused(program, &once, *at, error),
            (None, Some(finished)) => ran(program, finished, &inputs, &once),
            (None, None) => Err("neither recorded nor refused".to_string()),
        };
        fates.push(fate.map_err(|difference| {
            let shapes: Vec<String> = (inputs.iter())
                .map(|x| format!("{}{:?} strides {:?}", x.dtype(), x.shape(), x.strides()))
                .collect();
            let (declared, shapes) = (declarations.join("; "), shapes.join("; "));
            format!("{declared}\nround {round}, given {shapes}\n{difference}")
        })?);
    }
    Ok(fates)
}

/// Whether a refusal to record a call is right: it fails at once as well, in the same way.
fn refused(program: &Program, once: &AtOnce, at: usize, error: &Error) -> Result<Fate, String> {
    let step = &program.steps[at];
    if let Error::TooEarly(_) = error {
        return match step.operator {
            "unstack" => Ok(Fate::TooEarly),
            // What a check finds is known when it is made, so it takes no numbers that only a run reads.
            "enforce_shape" if step.reads_sizes() => Ok(Fate::TooEarly),
            _ => Err(format!("step {at} is refused too early: {error}")),
        };
    }
    match &once.outcomes[at] {
        // It was never reached at once, because a call before it failed: nothing to compare with.
        None => Ok(Fate::Bad),
        Some(Ok(())) => Err(format!("step {at} is refused but fine at once: {error}")),
        Some(Err(wanted)) => same_fault(once, step, wanted, error)
            .map(|()| Fate::Bad)
            .map_err(|difference| format!("step {at} is refused: {difference}")),
    }
}

/// Whether two errors of one call are of one family, or of two that the call deserves.
fn same_fault(once: &AtOnce, step: &Step, wanted: &Error, got: &Error) -> Result<(), String> {
    let named = got.report().operator();
    if named != step.operator {
        return Err(format!("the error blames {named}: {got}"));
    }
    if family(wanted) == family(got) || deserved(once, step).contains(&family(got)) {
        return Ok(());
    }
    let families = (family(wanted), family(got));
    Err(format!("families {families:?}\nwanted {wanted}\ngot {got}"))
}

/// All families of error that a call deserves.
fn deserved(once: &AtOnce, step: &Step) -> Vec<Family> {
    let one = |item: &Item| -> Option<Arg<stridewise_suite::Input, usize>> {
        let mut all = Vec::new();
        once.run.add(item, &mut all)?;
        let arg: Arg<Tensor, usize> = all.pop()?;
        Some(with_numbers(&arg))
    };
    let call = Call {
        operator: step.operator,
        positional: step.positional.iter().filter_map(one).collect(),
        named: (step.named.iter())
            .filter_map(|(name, item)| Some((*name, one(item)?)))
            .collect(),
    };
    oracle::judge(&call, true).err().unwrap_or_default()
}

/// An argument for the oracle, which knows sizes as numbers only.
fn with_numbers(arg: &Arg<Tensor, usize>) -> Arg<stridewise_suite::Input, usize> {
    use stridewise_core::params::Extent;
    match arg {
        Arg::List(items) => Arg::List(items.iter().map(with_numbers).collect()),
        Arg::Extent(Extent::Is(size)) => Arg::Int(*size as i128),
        Arg::Tensor(x) => described(x),
        other => match other.try_map(&mut |_| Err(()), &mut |extent| Ok(extent.clone())) {
            Ok(same) => same,
            Err(()) => panic!("{arg:?} is no plain argument"),
        },
    }
}

fn ran(
    program: &Program,
    finished: &stridewise_graph::Program,
    inputs: &[Tensor],
    once: &AtOnce,
) -> Result<Fate, String> {
    let got = match finished.run(inputs) {
        Ok(got) => got,
        Err(error) => return failed(program, once, &error),
    };
    if !once.good() {
        let at = once
            .outcomes
            .iter()
            .position(|o| !matches!(o, Some(Ok(()))));
        return Err(format!(
            "fails at once at step {at:?}, but not in the graph"
        ));
    }
    let again = finished
        .run(inputs)
        .map_err(|error| format!("again: {error}"))?;
    let walked = (finished.run_at_once(inputs)).map_err(|error| format!("at once: {error}"))?;
    let shapes: Vec<Outline> = finished.outputs().map(|(_, shape)| shape.clone()).collect();
    for (at, id) in program.outputs.iter().enumerate() {
        let want = once.run.values[*id].as_ref().ok_or("nothing to compare")?;
        for (how, got) in [("run", &got), ("again", &again), ("at once", &walked)] {
            same(want, &got[at]).map_err(|difference| format!("%{id}, {how}: {difference}"))?;
        }
        let foreseen = (finished.foreseen(inputs, &shapes[at]))
            .map_err(|error| format!("%{id}: {} has no numbers: {error}", shapes[at]))?;
        if foreseen.as_slice() != want.shape() {
            let (outline, shape) = (&shapes[at], want.shape());
            return Err(format!(
                "%{id}: foreseen {outline}, that is {foreseen:?}, found {shape:?}"
            ));
        }
    }
    Ok(Fate::Good)
}

/// Whether two tensors are equal to the last bit.
pub(crate) fn same(want: &Tensor, got: &Tensor) -> Result<(), String> {
    if (want.dtype(), want.shape()) != (got.dtype(), got.shape()) {
        return Err(format!("wanted {want:?}, got {got:?}"));
    }
    match want.to_bytes() == got.to_bytes() {
        true => Ok(()),
        false => Err(format!("wanted {want:?}, got other elements: {got:?}")),
    }
}

/// Whether a run fails as the calls do at once. Sizes are checked before any element is read, so an index outside
/// may be told after a mistake in a later call, or one in a call that would never be reached; otherwise the first mistake is the one.
fn failed(program: &Program, once: &AtOnce, error: &Error) -> Result<Fate, String> {
    let blamed = (error.report().notes())
        .find(|(label, _)| *label == "called at")
        .and_then(|(_, text)| text.strip_prefix("step ")?.parse::<usize>().ok())
        .ok_or_else(|| format!("the run does not say where it fails: {error}"))?;
    let outside =
        |at: usize| matches!(&once.outcomes[at], Some(Err(e)) if family(e) == Family::Index);
    let unreached = once.outcomes[blamed].is_none();
    if unreached && program.comes_from(blamed, &outside) {
        return Ok(Fate::Bad);
    }
    let Some(Err(wanted)) = &once.outcomes[blamed] else {
        let found: Vec<String> = (once.outcomes.iter())
            .map(|outcome| match outcome {
                None => "-".to_string(),
                Some(Ok(())) => "fine".to_string(),
                Some(Err(error)) => error.report().message().to_string(),
            })
            .collect();
        return Err(format!(
            "step {blamed} fails only in the run: {error}\nat once: {found:?}"
        ));
    };
    let by_size = |outcome: &Option<Result<()>>| matches!(outcome, Some(Err(e)) if family(e) != Family::Index);
    let first = once.outcomes.iter().position(by_size);
    if family(error) != Family::Index && first != Some(blamed) {
        return Err(format!(
            "step {first:?} should fail before step {blamed}: {error}"
        ));
    }
    same_fault(once, &program.steps[blamed], wanted, error)
        .map(|()| Fate::Bad)
        .map_err(|difference| format!("step {blamed} fails: {difference}"))
}
