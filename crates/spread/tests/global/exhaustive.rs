//! Every operator × shape × mesh × layout of the inputs: what the ranks have together is what one machine gives.
//!
//! The whole product takes a while: `SPREAD_EXHAUSTIVE=1` runs it, but for calls of several tensors that can lie in more
//! than 64 ways, of which so many are drawn. Without it, a sample. Both are the same in every run. `SPREAD_OPERATOR=take`
//! runs those of one operator.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use stridewise_spread::World;
use stridewise_suite::runner::{Family, family};

use crate::jobs::{Job, MESHES, everything, jobs, operators};
use crate::one_rank::{blame, check_rank, engine, fails_alone, inputs};
use crate::perform::perform;

/// Cases of an operator on a mesh of one, two or three axes, without `SPREAD_EXHAUSTIVE`.
const SAMPLE: [usize; 3] = [200, 150, 60];

/// Meshes of which there is only a sample: more layouts than there is time for.
const EXTRA: [&[usize]; 2] = [&[3, 2], &[2, 2, 2]];

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
    let only = std::env::var("SPREAD_OPERATOR").ok();
    let meant = |name: &&str| only.as_ref().is_none_or(|only| only == name);
    for operator in operators().filter(meant) {
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
    let alone = |job: &&Job| fails_alone(job);
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
