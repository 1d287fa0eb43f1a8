//! Every operator × shape × mesh × layout of the inputs: what the ranks have together is what one machine gives.
//!
//! The whole product takes a while: `SPREAD_EXHAUSTIVE=1` runs it, but for calls of several tensors that can lie in more
//! than 64 ways, of which so many are drawn. Without it, a sample. Both are the same in every run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use stridewise_core::error::{Error, Result};
use stridewise_cpu::Cpu;
use stridewise_spread::sbp::text;
use stridewise_spread::{Global, Mesh, Sbp, Spread, Wire, World};
use stridewise_suite::reference::Reference;
use stridewise_suite::runner::{Family, family};

use crate::counting::Counting;
use crate::held::{only_moves, part, part_of_shape, tensor_lying};
use crate::jobs::{Job, MESHES, everything, jobs, operators};
use crate::perform::{difference, perform, read};

/// Cases of an operator on a mesh of one, two or three axes, without `SPREAD_EXHAUSTIVE`.
const SAMPLE: [usize; 3] = [200, 150, 60];

/// Meshes of which there is only a sample: more layouts than there is time for.
const EXTRA: [&[usize]; 2] = [&[3, 2], &[2, 2, 2]];

/// Operators whose elements are computed: they are equal, but a zero may have another sign.
const COMPUTED: [&str; 2] = ["sum", "index_add"];

#[test]
fn one_rank_gives_what_one_machine_gives() {
    check(MESHES[0]);
}

#[test]
fn two_ranks_give_what_one_machine_gives() {
    check(MESHES[1]);
}

#[test]
fn three_ranks_give_what_one_machine_gives() {
    check(MESHES[2]);
}

#[test]
fn four_ranks_give_what_one_machine_gives() {
    check(MESHES[3]);
}

#[test]
fn two_by_two_ranks_give_what_one_machine_gives() {
    check(MESHES[4]);
}

#[test]
fn two_by_three_ranks_give_what_one_machine_gives() {
    check(MESHES[5]);
}

#[test]
fn three_by_two_ranks_give_what_one_machine_gives() {
    check(MESHES[6]);
}

#[test]
fn two_by_two_by_two_ranks_give_what_one_machine_gives() {
    check(MESHES[7]);
}

fn check(mesh: &[usize]) {
    let begin = Instant::now();
    let (mut count, mut wrong) = (0, Vec::new());
    for operator in operators() {
        let start = Instant::now();
        let all = everything() && !EXTRA.contains(&mesh);
        let sample = (!all).then_some(SAMPLE[mesh.len() - 1]);
        let jobs = jobs(operator, mesh.len(), sample);
        let cases: usize = jobs.iter().map(|job| job.held.len()).sum();
        require_every_layout(operator, &jobs, mesh);
        let found = check_operator(&jobs, mesh);
        println!(
            "{mesh:?} {operator}: {cases} cases, {} wrong, {:.1?}",
            found.len(),
            start.elapsed()
        );
        wrong.extend(found.into_iter().take(5));
        count += cases;
    }
    println!("{mesh:?}: {count} cases, {:.1?}", begin.elapsed());
    assert!(
        wrong.is_empty(),
        "{} wrong\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

/// Each way to hold a mesh axis is tried on each mesh axis, on tensors of few axes at least.
fn require_every_layout(operator: &str, jobs: &[Job], mesh: &[usize]) {
    let three = |job: &Job| job.wholes.iter().any(|x| x.shape.len() == 3);
    if jobs.iter().filter(|job| three(job)).count() < 40 {
        return;
    }
    let held = jobs.iter().flat_map(|job| job.held.iter().flatten());
    for level in 0..mesh.len() {
        let seen: BTreeSet<String> = held.clone().map(|sbp| sbp[level].to_string()).collect();
        for sbp in ["S(0)", "S(1)", "S(2)", "B", "P", "P(max)", "P(min)"] {
            assert!(
                seen.contains(sbp),
                "{operator} is not tried as {sbp} on {mesh:?}"
            );
        }
    }
}

/// A world that fails is no world any more: calls that may fail on one rank alone get one of their own.
fn check_operator(jobs: &[Job], mesh: &[usize]) -> Vec<String> {
    let alone = |job: &&Job| {
        let error = job.expected.as_ref().err();
        error.is_some_and(|error| family(error) == Family::Index)
    };
    let ranks = mesh.iter().product();
    let together: Vec<&Job> = jobs.iter().filter(|job| !alone(job)).collect();
    let told = World::threads(ranks).run(|world| Ok(check_rank(&world, mesh, &together)));
    let mut wrong: Vec<String> = match told {
        Ok(told) => told.into_iter().flatten().collect(),
        Err(error) => vec![format!("{mesh:?}: {error}")],
    };
    for job in jobs.iter().filter(alone) {
        for held in &job.held {
            let fails = |world: World| {
                let spread = engine(&world, mesh)?;
                let made = perform(&spread, &job.call, &inputs(&spread, job, held)?)?;
                made.tensors.iter().try_for_each(|x| x.gather().map(drop))
            };
            let told = World::threads(ranks)
                .timeout(Duration::from_secs(20))
                .run(fails);
            let wanted = job.expected.as_ref().expect_err("an error");
            match told {
                Err(error) if family(&error) == Family::Index => {}
                Err(error) => wrong.push(blame(
                    job,
                    held,
                    mesh,
                    &format!("wanted {wanted}\n   got {error}"),
                )),
                Ok(_) => wrong.push(blame(
                    job,
                    held,
                    mesh,
                    &format!("wanted {wanted}\n   got a tensor"),
                )),
            }
        }
    }
    wrong
}

fn engine(world: &World, mesh: &[usize]) -> Result<Spread<Cpu>> {
    Spread::new(Cpu, world.clone(), Mesh::new(mesh)?)
}

fn inputs(spread: &Spread<Cpu>, job: &Job, held: &[Vec<Sbp>]) -> Result<Vec<Global<Cpu>>> {
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

fn blame(job: &Job, held: &[Vec<Sbp>], mesh: &[usize], why: &str) -> String {
    let held: Vec<String> = held.iter().map(|sbp| format!("({})", text(sbp))).collect();
    format!("{} of {} on {mesh:?}\n{why}", job.call, held.join(" "))
}

/// What goes wrong on one rank. A rank that fails where it should not leaves, and the others with it.
fn check_rank(world: &World, mesh: &[usize], jobs: &[&Job]) -> Vec<String> {
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
