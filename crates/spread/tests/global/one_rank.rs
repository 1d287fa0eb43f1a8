//! One rank's share of the cases: what it has of each result, and of all ranks together, against one machine.

use stridewise_core::error::{Error, Result};
use stridewise_cpu::Cpu;
use stridewise_spread::sbp::text;
use stridewise_spread::{Global, Mesh, Sbp, Spread, Wire, World};
use stridewise_suite::reference::Reference;
use stridewise_suite::runner::{Family, family};

use crate::counting::Counting;
use crate::held::{only_moves, part, part_of_shape, tensor_lying};
use crate::jobs::{Job, everything};
use crate::perform::{difference, perform, read};

/// Operators whose elements are computed: they are equal, but a zero may have another sign.
const COMPUTED: [&str; 2] = ["sum", "index_add"];

/// Whether a call may fail on some ranks only, by an index that only they have: the world then ends.
pub(crate) fn fails_alone(job: &Job) -> bool {
    let error = job.expected.as_ref().err();
    error.is_some_and(|error| family(error) == Family::Index)
}

pub(crate) fn engine(world: &World, mesh: &[usize]) -> Result<Spread<Cpu>> {
    Spread::new(Cpu, world.clone(), Mesh::new(mesh)?)
}

pub(crate) fn inputs(
    spread: &Spread<Cpu>,
    job: &Job,
    held: &[Vec<Sbp>],
) -> Result<Vec<Global<Cpu>>> {
    let (mesh, rank) = (spread.mesh().sizes(), spread.rank());
    let one = |(at, (whole, sbp)): (usize, (_, &Vec<Sbp>))| {
        // On one rank strides are those of the tensor, and `view` asks for them.
        let lying = if mesh == [1] {
            0
        } else {
            at + rank + sbp.len()
        };
        let local = tensor_lying(&part(whole, mesh, sbp, rank), lying);
        spread.assemble(local, &whole.shape, sbp)
    };
    job.wholes.iter().zip(held).enumerate().map(one).collect()
}

pub(crate) fn blame(job: &Job, held: &[Vec<Sbp>], mesh: &[usize], why: &str) -> String {
    let held: Vec<String> = held.iter().map(|sbp| format!("({})", text(sbp))).collect();
    format!("{} of {} on {mesh:?}\n{why}", job.call, held.join(" "))
}

/// What goes wrong on one rank. A rank that fails where it should not leaves, and the others with it.
pub(crate) fn check_rank(world: &World, mesh: &[usize], jobs: &[&Job]) -> Vec<String> {
    let mut wrong = Vec::new();
    let counting = Counting::over(world.clone());
    let spread = engine(&counting.world(), mesh).expect("an engine");
    for job in jobs {
        for (turn, held) in job.held.iter().enumerate() {
            // Of all cases, some are gathered.
            let gather = !everything() || turn % 16 == 0;
            match case(&spread, &counting, job, held, gather) {
                Ok(None) => {}
                Ok(Some(why)) => {
                    let why = format!("rank {}: {why}", world.rank());
                    wrong.push(blame(job, held, mesh, &why));
                }
                Err(error) => {
                    let why = format!("rank {} fails: {error}", world.rank());
                    wrong.push(blame(job, held, mesh, &why));
                    return wrong;
                }
            }
        }
    }
    wrong
}

/// How a case differs from one machine; an error where one machine has none.
fn case(
    spread: &Spread<Cpu>,
    counting: &Counting,
    job: &Job,
    held: &[Vec<Sbp>],
    gather: bool,
) -> Result<Option<String>, Error> {
    let inputs = inputs(spread, job, held)?;
    spread.take_moved();
    let seen = || (counting.received(), counting.collectives());
    let before = seen();
    let made = perform(spread, &job.call, &inputs);
    let (bytes, collectives) = (seen().0 - before.0, seen().1 - before.1);
    let moved = spread.take_moved();
    let noted: u64 = moved.iter().map(|moved| moved.bytes).sum();
    // What is not noted has not happened, and what is free has asked nobody.
    if bytes != noted || moved.is_empty() && collectives > 0 {
        let noted: Vec<String> = moved.iter().map(ToString::to_string).collect();
        return Ok(Some(format!(
            "{bytes} bytes in {collectives} collectives, noted as {noted:?}"
        )));
    }
    let (tensors, dims) = match (&job.expected, &made) {
        (Ok(wanted), _) => wanted,
        (Err(wanted), Err(error)) => {
            let same = wanted.to_string() == error.to_string() && family(wanted) == family(error);
            return Ok((!same).then(|| format!("wanted {wanted}\n   got {error}")));
        }
        (Err(wanted), Ok(_)) => return Ok(Some(format!("wanted {wanted}\n   got tensors"))),
    };
    let made = made?;
    if made.dims != *dims || made.tensors.len() != tensors.len() {
        return Ok(Some(format!(
            "wanted {} tensors, dims {dims:?}",
            tensors.len()
        )));
    }
    let bits = held.iter().all(|sbp| only_moves(sbp)) && !COMPUTED.contains(&job.call.operator);
    let mut wrong = None;
    for (seen, wanted) in made.tensors.iter().zip(tensors) {
        let mesh = spread.mesh().sizes();
        let local = part_of_shape(seen.shape(), mesh, seen.sbp(), spread.rank());
        if seen.to_local().shape() != local {
            let shape = seen.to_local().shape().to_vec();
            wrong = Some(format!(
                "{seen:?}: the part has shape {shape:?}, not {local:?}"
            ));
        }
        let mut compare = |seen: &Reference, wanted: &Reference| {
            let differs = difference(seen, wanted, bits);
            let why = differs.map(|why| format!("{made:?}\n{why}", made = made.tensors));
            wrong = wrong.take().or(why);
        };
        // Gathered by all ranks, whatever they have found. A part can be held to its part of the answer besides.
        if gather || !only_moves(seen.sbp()) {
            compare(&read(&seen.gather()?), wanted);
        }
        if only_moves(seen.sbp()) {
            compare(
                &read(&seen.to_local()),
                &part(wanted, mesh, seen.sbp(), spread.rank()),
            );
        }
    }
    Ok(wrong)
}
