//! Global tensors whose parts are on a GPU: a sample of the calls, layouts and meshes that those in main memory are held
//! to. Without a GPU this fails.
#![allow(clippy::unwrap_used)]

#[path = "../global/calls/mod.rs"]
#[allow(dead_code)]
mod calls;
#[path = "../global/held.rs"]
#[allow(dead_code)]
mod held;
#[path = "../global/jobs.rs"]
#[allow(dead_code)]
mod jobs;
#[path = "../global/perform.rs"]
#[allow(dead_code)]
mod perform;

use stridewise_core::error::{Error, Result};
use stridewise_core::operators::Methods;
use stridewise_core::params::Mode;
use stridewise_cpu::Tensor;
use stridewise_gpu::Gpu;
use stridewise_spread::sbp::parse;
use stridewise_spread::{Global, Mesh, Sbp, Spread, World};

use held::{only_moves, part, tensor_lying};
use jobs::{Job, jobs, operators};
use perform::{difference, perform, read};

/// Cases of each operator.
const SAMPLE: usize = 12;

/// Operators whose elements are computed: they are equal, but a zero may have another sign.
const COMPUTED: [&str; 2] = ["sum", "index_add"];

#[test]
fn two_ranks_give_what_one_machine_gives() {
    check(2);
}

#[test]
fn four_ranks_give_what_one_machine_gives() {
    check(4);
}

fn check(ranks: usize) {
    let gpu = Gpu::open().unwrap_or_else(|error| panic!("{error}"));
    let (mut cases, mut wrong) = (0, Vec::new());
    for operator in operators() {
        // Where one machine fails, which ranks fail is told by the tests in main memory.
        let good = |job: &Job| job.expected.is_ok();
        let jobs: Vec<Job> = jobs(operator, 1, Some(SAMPLE))
            .into_iter()
            .filter(good)
            .collect();
        cases += jobs.iter().map(|job| job.held.len()).sum::<usize>();
        let told = World::threads(ranks).run(|world| {
            let spread = Spread::new(gpu.clone(), world, Mesh::new(&[ranks])?)?;
            let mut wrong = Vec::new();
            for job in &jobs {
                for held in &job.held {
                    if let Some(why) = case(&spread, job, held)? {
                        wrong.push(format!("{} of {held:?} on {ranks}: {why}", job.call));
                    }
                }
            }
            Ok(wrong)
        });
        match told {
            Ok(told) => wrong.extend(told.into_iter().flatten()),
            Err(error) => wrong.push(format!("{operator} on {ranks}: {error}")),
        }
    }
    assert!(cases > 300, "only {cases} cases");
    assert!(
        wrong.is_empty(),
        "{} wrong\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

/// How a case differs from one machine.
fn case(spread: &Spread<Gpu>, job: &Job, held: &[Vec<Sbp>]) -> Result<Option<String>> {
    let (mesh, rank) = (spread.mesh().sizes(), spread.rank());
    let input = |(at, (whole, sbp)): (usize, (_, &Vec<Sbp>))| -> Result<Global<Gpu>> {
        let local = tensor_lying(&part(whole, mesh, sbp, rank), at + rank + sbp.len());
        spread.assemble(spread.inner().upload(&local)?, &whole.shape, sbp)
    };
    let inputs = job.wholes.iter().zip(held).enumerate().map(input);
    let made = perform(spread, &job.call, &inputs.collect::<Result<Vec<_>>>()?)?;
    let (tensors, dims) = job.expected.as_ref().map_err(Error::clone)?;
    if made.dims != *dims || made.tensors.len() != tensors.len() {
        return Ok(Some(format!(
            "wanted {} tensors, dims {dims:?}",
            tensors.len()
        )));
    }
    let bits = held.iter().all(|sbp| only_moves(sbp)) && !COMPUTED.contains(&job.call.operator);
    let mut wrong = None;
    for (seen, wanted) in made.tensors.iter().zip(tensors) {
        let whole = read(&seen.gather()?.download()?);
        wrong = wrong.or(difference(&whole, wanted, bits));
    }
    Ok(wrong)
}

#[test]
fn a_bad_index_ends_the_job_with_the_error_of_one_machine() {
    let gpu = Gpu::open().unwrap();
    let told = World::threads(2).run(|world| {
        let spread = Spread::new(gpu.clone(), world, Mesh::new(&[2])?)?;
        let on = |x: Tensor, sbp: &str| spread.from_whole(gpu.upload(&x)?, &parse(sbp)?);
        let table = on(Tensor::from_vec(vec![1.0f32; 12], &[6, 2])?, "S(0)")?;
        let index = on(Tensor::from_vec(vec![0i64, 6], &[2])?, "B")?;
        table.take(&index, 0, Mode::Raise)?.gather()?.download()
    });
    let error = told.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("index 6 at position (1,) is out of range"),
        "{error}"
    );
}
