//! From every layout to every other: the tensor stays the same, for no more bytes than any detour costs.

use std::collections::HashMap;

use stridewise_core::dtype::DType;
use stridewise_core::error::Result;
use stridewise_cpu::Cpu;
use stridewise_dry::Dry;
use stridewise_spread::sbp::text;
use stridewise_spread::{Imagined, Mesh, Ranks, Reduction, Sbp, Spread, World};
use stridewise_suite::Input;
use stridewise_suite::reference::Reference;
use stridewise_suite::runner::{Family, family};

use crate::calls::numbers;
use crate::held::{layouts, only_moves, part, part_of_shape, tensor, tensor_lying};
use crate::perform::{difference, read};

/// Whether one layout can become another: nothing becomes a partial maximum or minimum but what is one; and what is reduced
/// on a mesh axis must have been reduced before on those after it that do it otherwise.
fn can_become(from: &[Sbp], to: &[Sbp]) -> bool {
    let partial = |sbp: &Sbp| matches!(sbp, Sbp::Partial(_));
    let mut changes: Vec<bool> = from.iter().zip(to).map(|(from, to)| from != to).collect();
    for at in 0..from.len() {
        let otherwise = |later: usize| partial(&from[later]) && from[later] != from[at];
        if changes[at] && partial(&from[at]) {
            let later = changes.iter_mut().enumerate().skip(at + 1);
            later.for_each(|(later, changes)| *changes |= otherwise(later));
        }
    }
    let ordered = |sbp: &Sbp| matches!(sbp, Sbp::Partial(Reduction::Max | Reduction::Min));
    (0..to.len()).all(|at| !changes[at] || !ordered(&to[at]))
}

fn all_changes(mesh: &[usize], whole: &Reference) {
    let every = layouts(whole.shape.len(), whole.dtype, mesh.len());
    let told = World::threads(mesh.iter().product()).run(|world| {
        let rank = world.rank();
        let spread = Spread::new(Cpu, world, Mesh::new(mesh)?)?;
        let mut wrong = Vec::new();
        for from in &every {
            let local = tensor_lying(&part(whole, mesh, from, rank), rank);
            let x = spread.assemble(local, &whole.shape, from)?;
            for to in &every {
                let mut blame = |why: String| {
                    let (from, to) = (text(from), text(to));
                    wrong.push(format!(
                        "{:?} on {mesh:?}, rank {rank}, {from} to {to}: {why}",
                        whole.shape
                    ));
                };
                if !can_become(from, to) {
                    match x.to_sbp(to) {
                        Err(error) if family(&error) == Family::World => {}
                        other => blame(format!("{other:?}")),
                    }
                    continue;
                }
                let y = x.to_sbp(to)?;
                let here = y.to_local();
                if y.sbp() != &to[..] || y.shape() != whole.shape {
                    blame(format!("got {y:?}"));
                }
                if here.shape() != part_of_shape(&whole.shape, mesh, to, rank) {
                    blame(format!("a part has shape {:?}", here.shape()));
                }
                let bits = only_moves(from);
                let differs = match only_moves(to) {
                    true => difference(&read(&here), &part(whole, mesh, to, rank), bits),
                    // A summand is one of many; only all of them tell.
                    false => difference(&read(&y.gather()?), whole, false),
                };
                differs.into_iter().for_each(blame);
            }
        }
        Ok(wrong)
    });
    let told = told.unwrap_or_else(|error| panic!("{:?} on {mesh:?}: {error}", whole.shape));
    let wrong: Vec<String> = told.into_iter().flatten().take(10).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_tensor_stays_the_same_from_every_layout_to_every_other() {
    let shapes: [&[usize]; 9] = [
        &[],
        &[0],
        &[1],
        &[5],
        &[6],
        &[3, 5],
        &[2, 0],
        &[6, 2],
        &[1, 3],
    ];
    let meshes: [&[usize]; 6] = [&[1], &[2], &[3], &[4], &[2, 2], &[2, 3]];
    for (salt, shape) in shapes.into_iter().enumerate() {
        for mesh in meshes {
            let dtypes = [DType::F32, DType::U8, DType::Bool, DType::I64, DType::F16];
            let dtype = dtypes[(salt + mesh.len()) % dtypes.len()];
            all_changes(mesh, &numbers(dtype, shape, salt).reference());
        }
    }
}

#[test]
fn a_tensor_stays_the_same_where_mesh_axes_cut_the_parts_of_others() {
    // Every layout of three mesh axes, of a tensor of one axis: splits of splits of splits.
    all_changes(&[2, 2, 2], &numbers(DType::F32, &[11], 1).reference());
    all_changes(&[3, 2], &numbers(DType::I32, &[5, 2, 3], 2).reference());
}

#[test]
fn bits_survive_every_change_that_only_moves_them() {
    let odd = [
        f64::NAN,
        -0.0,
        f64::INFINITY,
        1.5,
        f64::NEG_INFINITY,
        0.0,
        1e-310,
        -f64::NAN,
    ];
    let values = (0..30).map(|at| odd[at * 5 % 8]);
    let mut whole = Input::of(DType::F64, &[5, 6], values).reference();
    // A NaN with something to say.
    whole.elements[7][..8].copy_from_slice(&0x7ff8_dead_beef_0001u64.to_ne_bytes());
    for mesh in [&[3][..], &[2, 2], &[2, 3]] {
        let every = layouts(2, DType::F64, mesh.len());
        let moving: Vec<&Vec<Sbp>> = every.iter().filter(|sbp| only_moves(sbp)).collect();
        let told = World::threads(mesh.iter().product()).run(|world| {
            let rank = world.rank();
            let spread = Spread::new(Cpu, world, Mesh::new(mesh)?)?;
            for from in &moving {
                let x = spread.assemble(tensor(&part(&whole, mesh, from, rank)), &[5, 6], from)?;
                for to in &moving {
                    let seen = read(&x.to_sbp(to)?.to_local());
                    let wanted = part(&whole, mesh, to, rank);
                    if let Some(why) = difference(&seen, &wanted, true) {
                        panic!("{} to {}: {why}", text(from), text(to));
                    }
                }
                // One part of a broadcast, and nothing on the others: together they are the tensor again.
                let all_partial = vec![Sbp::Partial(Reduction::Sum); mesh.len()];
                let back = x.to_sbp(&all_partial)?.gather()?;
                if let Some(why) = difference(&read(&back), &whole, true) {
                    panic!("{} to {} and back: {why}", text(from), text(&all_partial));
                }
            }
            Ok(())
        });
        told.unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Bytes that all ranks receive for a change, counted by a dry run of each.
fn bytes(mesh: &[usize], shape: &[usize], from: &[Sbp], to: &[Sbp]) -> Option<u64> {
    let ranks = mesh.iter().product();
    (0..ranks)
        .map(|rank| {
            let mesh_of = Mesh::new(mesh).expect("a mesh");
            let spread = Spread::new(Dry::new(), Imagined::new(rank, ranks), mesh_of).ok()?;
            let local = part_of_shape(shape, mesh, from, rank);
            let local = spread.inner().tensor(DType::F32, &local).ok()?;
            spread.assemble(local, shape, from).ok()?.to_sbp(to).ok()?;
            Some(spread.world().received())
        })
        .sum()
}

/// The way there is one of all, so none that is written down as two can be shorter. Sizes that all meshes divide: where
/// parts are uneven, the bytes of a way are only estimated.
#[test]
fn no_detour_costs_less_than_the_way_that_is_taken() {
    let cases: [(&[usize], &[usize]); 6] = [
        (&[2], &[4, 4]),
        (&[3], &[6, 3, 3]),
        (&[2, 2], &[4, 8]),
        (&[2, 3], &[6, 12]),
        (&[2, 2], &[8, 4, 4]),
        (&[2, 2, 2], &[8]),
    ];
    for (mesh, shape) in cases {
        let every = layouts(shape.len(), DType::F32, mesh.len());
        let mut prices = HashMap::new();
        for from in &every {
            for to in &every {
                prices.insert((from, to), bytes(mesh, shape, from, to));
            }
        }
        for from in &every {
            for to in &every {
                let price = prices[&(from, to)];
                assert_eq!(
                    price.is_some(),
                    can_become(from, to),
                    "{} to {}",
                    text(from),
                    text(to)
                );
                let Some(price) = price else { continue };
                if from == to {
                    assert_eq!(price, 0);
                }
                for over in &every {
                    if let (Some(there), Some(on)) = (prices[&(from, over)], prices[&(over, to)]) {
                        assert!(
                            price <= there + on,
                            "{shape:?} on {mesh:?}: {} to {} costs {price}, over {} {there} + {on}",
                            text(from),
                            text(to),
                            text(over)
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn parts_become_a_tensor_and_the_tensor_its_parts_again() {
    for mesh in [&[1][..], &[2], &[4], &[2, 2], &[2, 3], &[2, 2, 2]] {
        for (salt, shape) in [&[][..], &[5], &[0], &[3, 6], &[7, 2]]
            .into_iter()
            .enumerate()
        {
            let whole = numbers(DType::F32, shape, salt).reference();
            let every = layouts(shape.len(), DType::F32, mesh.len());
            let told = World::threads(mesh.iter().product()).run(|world| {
                let rank = world.rank();
                let spread = Spread::new(Cpu, world, Mesh::new(mesh)?)?;
                for sbp in &every {
                    let here = part(&whole, mesh, sbp, rank);
                    let x = spread.from_parts(tensor(&here), sbp)?;
                    assert_eq!((x.shape(), x.sbp()), (shape, &sbp[..]), "{mesh:?}");
                    assert_eq!(read(&x.to_local()), here);
                    assert_eq!(difference(&read(&x.gather()?), &whole, false), None);
                    let spread = spread.from_whole(tensor(&whole), sbp);
                    match (spread, only_moves(sbp)) {
                        (Ok(x), true) => assert_eq!(read(&x.to_local()), here),
                        (Ok(x), false) => {
                            assert_eq!(difference(&read(&x.gather()?), &whole, false), None);
                        }
                        (Err(error), _) => {
                            assert!(
                                !can_become(&vec![Sbp::Broadcast; mesh.len()], sbp),
                                "{error}"
                            );
                        }
                    }
                }
                Ok(())
            });
            told.unwrap_or_else(|error| panic!("{shape:?} on {mesh:?}: {error}"));
        }
    }
}

/// What every rank is told when the parts do not go together.
fn refusal(
    mesh: &[usize],
    sbp: &[Sbp],
    part: impl Fn(usize) -> Input + Sync,
) -> std::result::Result<(), String> {
    let told = World::threads(mesh.iter().product()).run(|world| {
        let rank = world.rank();
        let spread = Spread::new(Cpu, world, Mesh::new(mesh)?)?;
        let made = spread.from_parts(tensor(&part(rank).reference()), sbp);
        Ok(made.map(drop).map_err(|error| error.to_string()))
    });
    let told = told.map_err(|error| error.to_string())?;
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
    told[0].clone()
}

#[test]
fn parts_that_do_not_go_together_are_refused_by_the_name_of_the_rank() {
    let f32 = |shape: &[usize]| Input::f32(shape);
    let split = [Sbp::Split(0)];
    let cases: [(&str, std::result::Result<(), String>); 7] = [
        (
            "rank 1 has a part of shape (2, 2), but its part of (8, 2) is (3, 2)",
            refusal(&[3], &split, |rank| f32(&[[3, 2, 3][rank], 2])).map_err(first_line),
        ),
        (
            "rank 2 has a part of shape (2, 3), but its part of (6, 2) is (2, 2)",
            refusal(&[3], &split, |rank| f32(&[2, [2, 2, 3][rank]])).map_err(first_line),
        ),
        (
            "rank 1 has a part of float64, but rank 0 one of float32",
            refusal(&[2], &split, |rank| {
                Input::counting([DType::F32, DType::F64][rank], &[2])
            })
            .map_err(first_line),
        ),
        (
            "rank 3 has a part of rank 2, but rank 0 one of rank 1",
            refusal(
                &[2, 2],
                &[Sbp::Split(0), Sbp::Broadcast],
                |rank| match rank {
                    3 => f32(&[2, 1]),
                    _ => f32(&[2]),
                },
            )
            .map_err(first_line),
        ),
        (
            "rank 1 has a part of shape (3,), but its part of (2,) is (2,)",
            refusal(&[2], &[Sbp::Broadcast], |rank| f32(&[2 + rank])).map_err(first_line),
        ),
        (
            "",
            refusal(&[2], &split, |rank| f32(&[3 - rank])).map_err(first_line),
        ),
        (
            "S(0) splits an axis that a tensor of rank 0 does not have",
            refusal(&[2], &split, |_| f32(&[])).map_err(first_line),
        ),
    ];
    for (wanted, got) in cases {
        let got = got.err().unwrap_or_default();
        assert!(
            got.contains(wanted) && wanted.is_empty() == got.is_empty(),
            "wanted {wanted}\ngot {got}"
        );
    }
}

fn first_line(text: String) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

#[test]
fn a_wrong_part_is_refused_by_the_rank_that_has_it() {
    let told: Vec<Result<String, _>> = (0..3)
        .map(|rank| {
            let mesh = Mesh::new(&[3]).expect("a mesh");
            let spread = Spread::new(Dry::new(), Imagined::new(rank, 3), mesh).expect("an engine");
            let local = spread.inner().tensor(DType::F32, &[2]).expect("a part");
            let made = spread.assemble(local, &[5], &[Sbp::Split(0)]);
            made.map(|x| format!("{x:?}"))
                .map_err(|error| first_line(error.to_string()))
        })
        .collect();
    assert!(told[0].is_ok() && told[1].is_ok(), "{told:?}");
    let error = told[2].as_ref().expect_err("an error");
    assert!(
        error.contains("rank 2 has a part of shape (2,), but (1,) is its part of (5,)"),
        "{error}"
    );
}
