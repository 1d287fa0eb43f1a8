//! What a plan does not do: views cost nothing, one copy is one step however it is written, and what nobody wants
//! is not made.

use stridewise_core::dim::Dim;
use stridewise_core::dtype::DType;
use stridewise_core::error::Result;
use stridewise_core::operators::{Methods, concat, make};
use stridewise_core::params::{Axes, Mode};
use stridewise_core::size::Shape;
use stridewise_cpu::Tensor;
use stridewise_graph::{Graph, Program, Symbolic};

fn counting(shape: &[usize]) -> Result<Tensor> {
    let count: usize = shape.iter().product();
    Tensor::from_vec((0..count).map(|n| n as f64).collect(), shape)
}

/// A graph of one input of unknown sizes.
fn traced(rank: usize, f: impl FnOnce(&Symbolic) -> Result<Symbolic>) -> Result<Program> {
    let graph = Graph::new();
    let sizes: Shape<Dim> = (0..rank).map(|_| graph.unknown()).collect();
    let x = graph.input("x", DType::F64, sizes.into())?;
    graph.finish(&[&f(&x)?])
}

/// The steps for a packed input of that shape, and whether the result is a view of it.
fn planned(
    shape: &[usize],
    f: impl FnOnce(&Symbolic) -> Result<Symbolic>,
) -> Result<(Vec<String>, bool)> {
    let program = traced(shape.len(), f)?;
    let x = [counting(shape)?];
    let y = program.run(&x)?;
    Ok((program.steps(&x)?, y[0].shares_storage_with(&x[0])))
}

#[test]
fn chains_of_views_are_no_steps() -> Result<()> {
    let (steps, view) = planned(&[2, 6, 4], |x| {
        x.permute([2, 0, 1])?
            .unflatten(2, [3, 2])?
            .flip([0])?
            .unsqueeze([0])?
            .expand([5, -1, -1, -1, -1])?
            .swapaxes(1, 2)?
            .atleast_nd(7, stridewise_core::params::Place::Front)?
            .squeeze(Axes::All)?
            .moveaxis([0], [2])
    })?;
    assert_eq!(steps, [] as [String; 0]);
    assert!(view);
    Ok(())
}

#[test]
fn nothing_is_copied_where_a_view_will_do() -> Result<()> {
    type Way = fn(&Symbolic) -> Result<Symbolic>;
    let ways: [(Way, usize); 9] = [
        (|x| x.reshape([-1]), 0),
        (|x| x.reshape([4, 3, 2]), 0),
        (|x| x.flatten(0, 1), 0),
        (|x| x.contiguous(), 0),
        (|x| x.cast(DType::F64), 0),
        (
            |x| x.permute([1, 0, 2])?.permute([1, 0, 2])?.contiguous(),
            0,
        ),
        (
            |x| {
                x.permute([1, 0, 2])?
                    .unflatten(0, [3, 1])?
                    .reshape([3, 2, 4])
            },
            0,
        ),
        (|x| x.permute([1, 0, 2])?.reshape([-1]), 1),
        (
            |x| {
                x.permute([2, 1, 0])?
                    .contiguous()?
                    .contiguous()?
                    .reshape([-1])
            },
            1,
        ),
    ];
    for (at, (way, wanted)) in ways.into_iter().enumerate() {
        let (steps, view) = planned(&[2, 3, 4], way)?;
        assert_eq!(steps.len(), wanted, "way {at}: {steps:?}");
        assert_eq!(view, wanted == 0, "way {at}");
    }
    Ok(())
}

#[test]
fn a_repeat_written_out_is_one_and_the_same_copy() -> Result<()> {
    let (whole, _) = planned(&[2, 3], |x| x.repeat([4, 2, 5]))?;
    let (parts, _) = planned(&[2, 3], |x| {
        x.reshape([1, 1, 2, 1, 3])?
            .expand([4, 2, 2, 5, 3])?
            .reshape([4, 4, 15])
    })?;
    assert_eq!(whole.len(), 1, "{whole:?}");
    assert_eq!(whole, parts);
    Ok(())
}

#[test]
fn dead_values_are_not_made() -> Result<()> {
    let (steps, _) = planned(&[2, 3], |x| {
        let dead = x.repeat([100, 100])?;
        let dead = concat(&[&dead, &dead], 0)?.sum([0], false, None)?;
        dead.cast(DType::F32)?;
        make::zeros(x.graph(), [1000, 1000], DType::F64)?;
        x.repeat([1, 2])
    })?;
    assert_eq!(steps.len(), 1, "{steps:?}");
    Ok(())
}

#[test]
fn a_dead_gather_is_checked_and_not_made() -> Result<()> {
    let graph = Graph::new();
    let x = graph.input("x", DType::F64, graph.unknown_shape())?;
    let index = graph.input("i", DType::I64, graph.unknown_shape())?;
    for mode in [Mode::Raise, Mode::Wrap, Mode::Clip] {
        x.take(&index, 0, mode)?;
    }
    let program = graph.finish(&[&x])?;
    let steps = program.steps(&[counting(&[3, 2])?, Tensor::from_vec(vec![0i64], &[1])?])?;
    assert_eq!(steps.len(), 1, "{steps:?}");
    assert!(steps[0].starts_with("check"), "{steps:?}");
    Ok(())
}

#[test]
fn what_depends_on_sizes_alone_is_no_step() -> Result<()> {
    let (steps, _) = planned(&[2, 3], |x| {
        let sizes = x.shape_of()?;
        let sizes = concat(&[&sizes, &sizes.flip([0])?], 0)?;
        sizes.sum([0], false, None)
    })?;
    assert_eq!(steps, [] as [String; 0]);
    Ok(())
}
