//! A dry run, which has neither data nor other ranks, tells for each rank what a real run does: how results lie, the
//! shapes of parts, and the bytes received.

use stridewise_core::dtype::DType;
use stridewise_cpu::Cpu;
use stridewise_dry::Dry;
use stridewise_spread::sbp::text;
use stridewise_spread::{Imagined, Local, Mesh, Moved, Ranks, Sbp, Spread, World};
use stridewise_suite::call::range;
use stridewise_suite::runner::{Family, family};
use stridewise_suite::{Call, Input};

use crate::held::{layouts, part, part_of_shape, tensor};
use crate::jobs::{Job, MESHES, jobs, operators};
use crate::perform::perform;

/// Cases of an operator on a mesh.
const SAMPLE: usize = 40;

/// What a rank sees of a case: results with the shapes of their parts, and the bytes received; nothing where that cannot
/// be known without data.
type Seen = Option<(Vec<(String, Vec<usize>)>, u64)>;

fn observed<E: Local>(
    spread: &Spread<E>,
    job: &Job,
    held: &[Vec<Sbp>],
    local: impl Fn(usize) -> E::Value,
) -> Seen {
    let inputs = job.wholes.iter().zip(held).enumerate();
    let inputs = inputs.map(|(at, (whole, sbp))| {
        let made = spread.assemble(local(at), &whole.shape, sbp);
        made.unwrap_or_else(|error| panic!("{}: {error}", job.call))
    });
    let inputs: Vec<_> = inputs.collect();
    let before = spread.world().received();
    let made = match perform(spread, &job.call, &inputs) {
        Ok(made) => made,
        Err(error) if family(&error) == Family::TooEarly => return None,
        Err(error) => panic!("{}: {error}", job.call),
    };
    let results = made.tensors.iter().map(|x| {
        let shape = spread.inner().shape(&x.to_local()).expect("a shape");
        (text(x.sbp()), shape.to_vec())
    });
    Some((results.collect(), spread.world().received() - before))
}

#[test]
fn a_dry_run_tells_what_every_rank_does() {
    let (mut compared, mut unknown, mut wrong) = (0, 0, Vec::new());
    for mesh in MESHES {
        let ranks: usize = mesh.iter().product();
        for operator in operators() {
            let mut jobs = jobs(operator, mesh.len(), Some(SAMPLE));
            jobs.retain(|job| job.expected.is_ok());
            let cases = || {
                jobs.iter()
                    .flat_map(|job| job.held.iter().map(move |held| (job, held)))
            };
            let real = World::threads(ranks).run(|world| {
                let rank = world.rank();
                let spread = Spread::new(Cpu, world, Mesh::new(mesh)?)?;
                let seen = cases().map(|(job, held)| {
                    let local = |at: usize| tensor(&part(&job.wholes[at], mesh, &held[at], rank));
                    observed(&spread, job, held, local)
                });
                Ok(seen.collect::<Vec<Seen>>())
            });
            let real = real.unwrap_or_else(|error| panic!("{operator} on {mesh:?}: {error}"));
            for (rank, real) in real.iter().enumerate() {
                let mesh_of = Mesh::new(mesh).expect("a mesh");
                let world = Imagined::new(rank, ranks);
                let spread = Spread::new(Dry::new(), world, mesh_of).expect("an engine");
                for ((job, held), real) in cases().zip(real) {
                    let local = |at: usize| {
                        let whole = &job.wholes[at];
                        let shape = part_of_shape(&whole.shape, mesh, &held[at], rank);
                        spread.inner().tensor(whole.dtype, &shape).expect("a part")
                    };
                    let dry = observed(&spread, job, held, local);
                    match &dry {
                        None => unknown += 1,
                        _ if dry == *real => compared += 1,
                        _ => {
                            let held: Vec<String> = held.iter().map(|sbp| text(sbp)).collect();
                            wrong.push(format!(
                                "{} of {} on {mesh:?}, rank {rank}\n  dry {dry:?}\n real {real:?}",
                                job.call,
                                held.join("; ")
                            ));
                        }
                    }
                }
            }
        }
    }
    println!("{compared} runs of ranks compared, {unknown} need data");
    assert!(unknown * 10 < compared, "{unknown} of {compared} need data");
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What a rank takes part in: how the result lies, and the changes along each mesh axis.
type Part = (Vec<String>, Vec<Vec<String>>);

fn taken_part(mesh: &[usize], rank: usize, call: &Call, held: &[Vec<Sbp>]) -> Option<Part> {
    let ranks = mesh.iter().product();
    let mesh_of = Mesh::new(mesh).expect("a mesh");
    let spread = Spread::new(Dry::new(), Imagined::new(rank, ranks), mesh_of).expect("an engine");
    let inputs = call.inputs().into_iter().zip(held).map(|(input, sbp)| {
        let shape = part_of_shape(&input.shape, mesh, sbp, rank);
        let local = spread.inner().tensor(input.dtype, &shape).expect("a part");
        let made = spread.assemble(local, &input.shape, sbp);
        made.unwrap_or_else(|error| panic!("{call}: {error}"))
    });
    let inputs: Vec<_> = inputs.collect();
    spread.take_moved();
    let made = perform(&spread, call, &inputs).ok()?;
    let moved = spread.take_moved();
    let along = |level: usize| {
        let ours = moved.iter().filter(|moved| moved.mesh_axis == level);
        ours.map(|moved: &Moved| format!("{:?}", moved.what))
            .collect()
    };
    let results = made.tensors.iter().map(|x| text(x.sbp())).collect();
    Some((results, (0..mesh.len()).map(along).collect()))
}

fn require_alike(mesh: &[usize], call: &Call, held: &[Vec<Sbp>]) {
    let ranks: usize = mesh.iter().product();
    let parts: Vec<Option<Part>> = (0..ranks)
        .map(|rank| taken_part(mesh, rank, call, held))
        .collect();
    let lines = Mesh::new(mesh).expect("a mesh");
    for rank in 0..ranks {
        let told = || {
            let held: Vec<String> = held.iter().map(|sbp| text(sbp)).collect();
            format!("{call} of {} on {mesh:?}, rank {rank}", held.join("; "))
        };
        let results = |part: &Option<Part>| part.as_ref().map(|part| part.0.clone());
        assert_eq!(results(&parts[rank]), results(&parts[0]), "{}", told());
        let Some((_, moved)) = &parts[rank] else {
            continue;
        };
        for (level, moved) in moved.iter().enumerate() {
            let first = lines.line(level, rank).first;
            let theirs = parts[first].as_ref().map(|part| &part.1[level]);
            assert_eq!(Some(moved), theirs, "{}, mesh axis {level}", told());
        }
    }
}

/// A rank sees only its own part: all must come to the same choice, or they would wait for each other.
#[test]
fn every_rank_of_a_larger_mesh_takes_part_in_the_same() {
    let meshes: [&[usize]; 4] = [&[5, 2], &[7, 2], &[4, 3], &[3, 2, 2]];
    for mesh in meshes {
        for operator in operators() {
            for job in jobs(operator, mesh.len(), Some(24)) {
                for held in &job.held {
                    require_alike(mesh, &job.call, held);
                }
            }
        }
    }
}

#[test]
fn every_rank_takes_part_in_the_same_slices() {
    let meshes: [&[usize]; 3] = [&[5, 2], &[6, 3], &[4, 2]];
    for mesh in meshes {
        for size in [2, 5, 7, 9, 11, 14, 17] {
            for step in [1isize, 2, 3, 5, -1, -2, -3] {
                for start in 0..size.min(5) as isize {
                    for stop in [None, Some(size as isize - 1), Some(size as isize / 2)] {
                        let (start, stop) = match step > 0 {
                            true => (Some(start), stop),
                            false => (Some(size as isize - 1 - start), None),
                        };
                        let items = vec![range(start, stop, Some(step))];
                        let x = Input::counting(DType::F32, &[size]);
                        let call = Call::of("slice").arg(x).with("items", items);
                        for sbp in layouts(1, DType::F32, mesh.len()) {
                            require_alike(mesh, &call, &[sbp]);
                        }
                    }
                }
            }
        }
    }
}
