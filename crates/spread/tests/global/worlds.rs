//! Tensors and ranks that do not belong together, and what is told of it.

use std::time::Duration;

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_core::operators::{Methods, concat, make};
use stridewise_core::params::Item;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_spread::sbp::{parse, text};
use stridewise_spread::{Call, Collective, Global, Line, Mesh, Spread, World};

fn on(world: World, mesh: &[usize]) -> Result<Spread<Cpu>> {
    Spread::new(Cpu, world, Mesh::new(mesh)?)
}

fn ints(count: i64) -> Tensor {
    Tensor::from_vec((0..count).collect::<Vec<_>>(), &[count as usize]).expect("a tensor")
}

fn split(spread: &Spread<Cpu>, count: i64) -> Result<Global<Cpu>> {
    spread.from_whole(ints(count), &parse("S(0)")?)
}

/// What all ranks of a world are told when they fail alike.
fn told<T: Send>(ranks: usize, work: impl Fn(World) -> Result<T> + Sync) -> Error {
    let ran = World::threads(ranks)
        .timeout(Duration::from_secs(60))
        .run(work);
    match ran {
        Ok(_) => panic!("the ranks went on"),
        Err(error) => error,
    }
}

#[test]
fn ranks_that_say_another_layout_of_their_parts_are_named() {
    let error = told(2, |world| {
        let sbp = if world.rank() == 1 { "S(0)" } else { "B" };
        on(world, &[2])?.from_parts(ints(2), &parse(sbp)?)
    });
    let wanted = "to_global: rank 1 says S(0) on a mesh of (2,), but rank 0 B on a mesh of (2,)";
    assert!(error.to_string().starts_with(wanted), "{error}");
    let error = told(4, |world| {
        let mesh: &[usize] = if world.rank() == 3 { &[4, 1] } else { &[2, 2] };
        on(world, mesh)?.from_parts(ints(2), &parse("S(0), B")?)
    });
    assert!(matches!(error, Error::World(_)), "{error}");
    assert!(error.to_string().contains("rank 3 says"), "{error}");
}

#[test]
fn parts_that_are_too_large_together_are_told_as_that() {
    let error = told(4, |world| {
        let part = make::zeros(&Cpu, [1], DType::U8)?.expand([1usize << 62])?;
        on(world, &[4])?.from_parts(part, &parse("S(0)")?)
    });
    assert!(matches!(error, Error::Overflow(_)), "{error}");
}

#[test]
fn tensors_of_two_worlds_are_not_mixed_though_their_meshes_are_alike() {
    World::threads(2)
        .run(|outer| {
            let x = split(&on(outer, &[2])?, 4)?;
            let error = told(2, |inner| {
                let index = split(&on(inner, &[2])?, 4)?;
                x.take(&index, 0, stridewise_core::params::Mode::Raise)
            });
            assert!(error.to_string().contains("another world"), "{error}");
            Ok(())
        })
        .expect("ranks");
}

#[test]
fn ranks_without_memory_are_named_to_those_who_have_enough() {
    let told = World::threads(3)
        .timeout(Duration::from_secs(3600))
        .run(|world| {
            let spread = on(world, &[3])?;
            let rows = usize::from(spread.rank() < 2);
            let row = make::zeros(&Cpu, [1, 1], DType::U8)?.expand([rows.min(1), 1 << 46]);
            let part = if rows == 0 {
                make::zeros(&Cpu, [0usize, 1 << 46], DType::U8)
            } else {
                row
            };
            let x = spread.from_parts(part?, &parse("S(0)")?)?;
            // The first rank is to have the row of the second; the third has nothing to do with it.
            let error = x.slice([Item::from(1..)]).err();
            Ok(error.map(|error| error.to_string()).unwrap_or_default())
        });
    let told = told.expect("ranks that go on");
    assert!(told[0].contains("bytes are needed"), "{}", told[0]);
    assert!(
        told[1].contains("bytes are needed") || told[1].contains("rank 0 ended"),
        "{}",
        told[1]
    );
    assert!(told[2].contains("ended before `slice`"), "{}", told[2]);
}

#[test]
fn two_meshes_that_are_alike_in_one_world_are_one() {
    let all = World::threads(2).run(|world| {
        let (a, b) = (on(world.clone(), &[2])?, on(world, &[2])?);
        concat(&[&split(&a, 3)?, &split(&b, 2)?], 0)?.gather()
    });
    for whole in all.expect("ranks") {
        assert_eq!(whole.to_vec::<i64>().expect("ints"), [0, 1, 2, 0, 1]);
    }
}

#[test]
fn zeros_before_a_partial_tensor_leave_it_partial() {
    let held = World::threads(2).run(|world| {
        let spread = on(world, &[2])?;
        let x = spread.from_whole(ints(4), &parse("P")?)?;
        let zeros = make::zeros(&spread, [3], DType::I64)?;
        let joined = concat(&[&zeros, &x], 0)?;
        Ok((text(joined.sbp()), joined.gather()?.to_vec::<i64>()))
    });
    for (held, whole) in held.expect("ranks") {
        assert_eq!(held, "P");
        assert_eq!(whole.expect("ints"), [0, 0, 0, 0, 1, 2, 3]);
    }
}

#[test]
fn a_failure_names_the_method_and_says_each_thing_once() {
    let error = told(2, |world| {
        split(&on(world, &[2])?, 4)?.to_sbp(&parse("S(2)")?)
    });
    let text = error.to_string();
    assert!(text.starts_with("to_sbp: S(2) splits"), "{text}");
    assert_eq!(text.matches("shape:").count(), 1, "{text}");
    let error = told(2, |world| {
        let spread = on(world, &[2])?;
        let size = 4 + spread.rank() as i64;
        split(&spread, size)?.gather()
    });
    assert!(
        error.to_string().starts_with("gather: rank 1 called"),
        "{error}"
    );
    let error = told(2, |world| {
        if world.rank() == 1 {
            return Ok(());
        }
        let call = Call {
            operator: "barrier",
            what: Collective::Barrier,
            dtype: DType::U8,
        };
        world.collective(Line::all(2), &call, &[], &mut [])
    });
    let wanted = "rank 1 ended before `barrier`: it has left";
    assert!(error.to_string().contains(wanted), "{error}");
}
