//! Which signature a primitive runs by: the one whose inputs cost the fewest bytes to bring about.

use stridewise_core::error::{Error, Result};
use stridewise_core::size::Shape;
use stridewise_core::smallvec::SmallVec;

use crate::mesh::Mesh;
use crate::path::{Change, Price, Ways};
use crate::remember::{self, Choice};
use crate::sbp::{NdSbp, Sbp, text};
use crate::signature::{Problem, Shift, Signature};

/// What each input goes through.
pub(crate) type Changes = SmallVec<[SmallVec<[Change; 4]>; 3]>;

/// How a primitive runs on one rank.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What each input must go through first.
    pub(crate) changes: Changes,
    /// Rows of inputs that are exchanged along a mesh axis: `(mesh axis, input, rows)`.
    pub(crate) before: Vec<(usize, usize, Shift)>,
    /// The primitive on this rank's parts.
    pub(crate) local: Problem,
    /// Rows of the result that are exchanged along a mesh axis.
    pub(crate) after: Vec<(usize, Shift)>,
    /// How the result is held.
    pub(crate) output: NdSbp,
}

/// An input as far as it matters here.
pub(crate) struct Given<'a> {
    pub(crate) shape: &'a [usize],
    pub(crate) width: usize,
    pub(crate) sbp: &'a [Sbp],
    /// Whether all its elements are one value, so that it lies however one likes.
    pub(crate) uniform: bool,
}

/// What following the rule through all mesh axes gave.
struct Followed {
    plan: Plan,
    exchanged: u128,
}

pub(crate) fn choose(
    mesh: &Mesh,
    coordinate: &[usize],
    problem: Problem,
    given: &[Given<'_>],
) -> Result<Plan> {
    // As it lies is the best there is, if nothing moves.
    let uniform = given.iter().any(|x| x.uniform) && given.len() > 1;
    if !uniform {
        let now: SmallVec<[&[Sbp]; 3]> = given.iter().map(|x| x.sbp).collect();
        if let Some(followed) = follow(mesh, coordinate, &problem, &now, given[0].width)
            && followed.exchanged == 0
        {
            return Ok(followed.plan);
        }
    }
    if let Some(known) = remember::recall(mesh, &problem, given) {
        let wanted: SmallVec<[&[Sbp]; 3]> = known.wanted.iter().map(|sbp| &sbp[..]).collect();
        if let Some(followed) = follow(mesh, coordinate, &problem, &wanted, given[0].width) {
            return Ok(Plan {
                changes: known.changes,
                ..followed.plan
            });
        }
    }
    let (wanted, plan) = search(mesh, coordinate, &problem, given)?;
    let changes = plan.changes.clone();
    remember::keep(mesh, problem, given, Choice { wanted, changes });
    Ok(plan)
}

/// How each input is to be held.
pub(crate) type Wanted = SmallVec<[NdSbp; 3]>;

/// A choice, as it is compared: bytes received, steps, bytes of the result.
type Worth = (u128, usize, u128);

fn search(
    mesh: &Mesh,
    coordinate: &[usize],
    problem: &Problem,
    given: &[Given<'_>],
) -> Result<(Wanted, Plan)> {
    let ways = given
        .iter()
        .map(|x| Ways::new(mesh, x.shape, x.width, x.sbp));
    let ways: SmallVec<[Ways<'_>; 3]> = ways.collect();
    // One choice for each mesh axis; all their combinations are tried.
    let tried: Vec<Vec<SmallVec<[Sbp; 3]>>> = (0..mesh.rank())
        .map(|level| {
            let now: SmallVec<[Sbp; 3]> = given.iter().map(|x| x.sbp[level]).collect();
            problem.candidates(&now)
        })
        .collect();
    let mut best: Option<(Worth, Wanted, Plan)> = None;
    let mut at = vec![0; mesh.rank()];
    loop {
        let wanted: Wanted = (0..given.len())
            .map(|input| {
                (0..mesh.rank())
                    .map(|level| tried[level][at[level]][input])
                    .collect()
            })
            .collect();
        let prices: Option<SmallVec<[Price; 3]>> = (0..given.len())
            .map(|input| {
                let price = ways[input].price(&wanted[input])?;
                Some(match given[input].uniform && price.0 == 0 {
                    true => (0, 0),
                    false => price,
                })
            })
            .collect();
        if let Some(prices) = prices {
            let moved = prices
                .iter()
                .fold(0u128, |sum, price| sum.saturating_add(price.0));
            let steps = prices.iter().map(|price| price.1).sum();
            if best
                .as_ref()
                .is_none_or(|(worth, ..)| (moved, steps) <= (worth.0, worth.1))
            {
                let views: SmallVec<[&[Sbp]; 3]> = wanted.iter().map(|sbp| &sbp[..]).collect();
                if let Some(followed) = follow(mesh, coordinate, problem, &views, given[0].width) {
                    let worth = (
                        moved.saturating_add(followed.exchanged),
                        steps,
                        size_of_first(problem, mesh, &followed.plan.output),
                    );
                    if best.as_ref().is_none_or(|(known, ..)| worth < *known) {
                        let changes =
                            (0..given.len()).map(|input| ways[input].changes(&wanted[input]));
                        if let Some(changes) = changes.collect() {
                            let plan = Plan {
                                changes,
                                ..followed.plan
                            };
                            best = Some((worth, wanted.clone(), plan));
                        }
                    }
                }
            }
        }
        // The next combination.
        let mut level = 0;
        while level < at.len() {
            at[level] += 1;
            if at[level] < tried[level].len() {
                break;
            }
            at[level] = 0;
            level += 1;
        }
        if level == at.len() {
            break;
        }
    }
    best.map(|(_, wanted, plan)| (wanted, plan)).ok_or_else(|| {
        let held: Vec<String> = given.iter().map(|x| text(x.sbp)).collect();
        Error::world("no layout of the inputs lets the ranks work on their parts")
            .note("inputs", held.join("; "))
    })
}

/// Elements of the result on the first rank: every rank must choose alike, so none goes by its own part.
fn size_of_first(problem: &Problem, mesh: &Mesh, output: &[Sbp]) -> u128 {
    let first: Shape = mesh.sizes().iter().map(|_| 0).collect();
    let local = crate::path::local_shape(&problem.output, mesh, output, &first);
    local.iter().fold(1, |size, n| size * *n as u128)
}

/// Goes through the mesh axes: each cuts what the ones before it have left. The rule must hold, with one result, for
/// the parts of every rank; their sizes are those of the first and the last along each mesh axis.
fn follow(
    mesh: &Mesh,
    coordinate: &[usize],
    problem: &Problem,
    given: &[&[Sbp]],
    width: usize,
) -> Option<Followed> {
    let mut plan = Plan {
        changes: given.iter().map(|_| SmallVec::new()).collect(),
        before: Vec::new(),
        local: problem.clone(),
        after: Vec::new(),
        output: NdSbp::new(),
    };
    let mut exchanged = 0u128;
    let mut extremes: SmallVec<[Problem; 4]> = SmallVec::new();
    for (level, &count) in mesh.sizes().iter().enumerate() {
        let held: SmallVec<[Sbp; 3]> = given.iter().map(|sbp| sbp[level]).collect();
        let at = coordinate[level];
        let signature = plan.local.forward(count, &held)?;
        let mut most = 0;
        for other in &extremes {
            let theirs = other.forward(count, &held)?;
            if theirs.output != signature.output {
                return None;
            }
            most = most.max(moved(other, &theirs, mesh, count, width));
        }
        if extremes.is_empty() {
            most = moved(&plan.local, &signature, mesh, count, width);
        }
        exchanged = exchanged.saturating_add(most);
        // Where all parts are alike, this rank's stand for those of all.
        let alike = extremes.is_empty() && plan.local.is_even(&held, &signature, count);
        if level + 1 < mesh.rank() && !alike {
            let ends: &[usize] = if count == 1 { &[0] } else { &[0, count - 1] };
            let before = match extremes.is_empty() {
                true => std::slice::from_ref(&plan.local),
                false => &extremes[..],
            };
            let mut next = SmallVec::new();
            for other in before {
                let theirs = other.forward(count, &held)?;
                let parts = ends
                    .iter()
                    .map(|end| other.local(&held, &theirs, count, *end));
                next.extend(parts);
            }
            extremes = next;
        }
        plan.local = plan.local.local(&held, &signature, count, at);
        plan.output.push(signature.output);
        let before = signature.before.into_iter();
        plan.before
            .extend(before.map(|(input, shift)| (level, input, shift)));
        plan.after
            .extend(signature.after.map(|shift| (level, shift)));
    }
    Some(Followed { plan, exchanged })
}

/// Bytes that exchanges move, over all ranks, where parts are as large as they get.
fn moved(
    problem: &Problem,
    signature: &Signature,
    mesh: &Mesh,
    count: usize,
    width: usize,
) -> u128 {
    let lines = (mesh.ranks() / count) as u128;
    let row = |shape: &Shape, axis: usize| -> u128 {
        let others = (0..shape.len()).filter(|at| *at != axis);
        others.fold(width as u128, |size, at| {
            size.saturating_mul(shape[at] as u128)
        })
    };
    let before = signature.before.iter();
    let before = before.map(|(input, shift)| (shift, &problem.inputs[*input]));
    let after = signature.after.iter().map(|shift| (shift, &problem.output));
    before.chain(after).fold(0, |sum, (shift, shape)| {
        let bytes = row(shape, shift.axis).saturating_mul(shift.moved() as u128);
        sum.saturating_add(bytes.saturating_mul(lines))
    })
}
