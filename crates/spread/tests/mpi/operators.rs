//! Every operator on global tensors over MPI: a sample of the cases that are tried on threads.

use stridewise_core::error::{Error, Result};
use stridewise_spread::World;

use crate::jobs::{Job, jobs, operators};
use crate::one_rank::{check_rank, fails_alone};
use crate::{Case, Outcome};

/// Cases of an operator on a mesh.
const SAMPLE: usize = 150;

pub(crate) const CASES: [Case; 1] = [Case {
    name: "every_operator_gives_what_one_machine_gives",
    ranks: &[2, 4],
    run: everything,
    outcome: Outcome::Fine,
}];

fn everything() -> Result<()> {
    let world = World::mpi()?;
    let meshes: &[&[usize]] = match world.size() {
        4 => &[&[4], &[2, 2]],
        _ => &[&[2]],
    };
    let mut count = 0;
    for mesh in meshes {
        for operator in operators() {
            let jobs = jobs(operator, mesh.len(), Some(SAMPLE));
            let jobs: Vec<&Job> = jobs.iter().filter(|job| !fails_alone(job)).collect();
            count += jobs.iter().map(|job| job.held.len()).sum::<usize>();
            let wrong = check_rank(&world, mesh, &jobs);
            if !wrong.is_empty() {
                return Err(Error::world(wrong.join("\n\n")));
            }
        }
    }
    if world.rank() == 0 {
        println!("{count} cases on {} ranks", world.size());
    }
    Ok(())
}
