//! A dry run, which has neither data nor other ranks, tells for each rank what a real run does: how results lie, the
//! shapes of parts, and the bytes received.

use stridewise_cpu::Cpu;
use stridewise_dry::Dry;
use stridewise_spread::sbp::text;
use stridewise_spread::{Imagined, Local, Mesh, Ranks, Sbp, Spread, World};
use stridewise_suite::runner::{Family, family};

use crate::held::{part, part_of_shape, tensor};
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
