//! What ranks do together is what one machine does, and what a plan says they will.

use proptest::prelude::*;
use stridewise::spread::{Moved, NdSbp, What};
use stridewise::{Cpu, Mesh, Sbp, Tensor, array_equal};
use stridewise_core::dtype::DType;
use stridewise_core::error::Error;
use stridewise_dry::Dry;

use super::{Given, plan, received, run, together};
use crate::failure::Failure;
use crate::program::{Flow, Program, start, step};
use crate::progress::Progress;

#[test]
fn changes_of_ranks_are_put_together_though_one_skips_some() {
    let moved = |mesh_axis: usize, bytes: u64| Moved {
        operator: "reshape",
        what: What::Change(Sbp::Split(0), Sbp::Broadcast),
        shape: vec![2, 3].into(),
        dtype: DType::F32,
        mesh_axis,
        bytes,
    };
    let all = together(Vec::new(), &[moved(1, 4)]);
    let all = together(all, &[moved(0, 1), moved(1, 3), moved(0, 7)]);
    assert_eq!(all, [moved(0, 1), moved(1, 4), moved(0, 7)]);
    assert_eq!(together(all.clone(), &[]), all);
    assert_eq!(received(&all), 12);
}

/// `$1` has three axes, `$2` is an index of one or two; `N` stands for the elements of `$1`.
const PROGRAMS: &[&str] = &[
    "",
    "flip(0)",
    "flip().contiguous()",
    "[1:, ::2, -1]",
    "permute(2, 0, 1).flatten(0, 1)",
    "flatten().flip()",
    "reshape(-1)[3:].unflatten(0, [-1, 1]).expand(-1, 3)",
    "repeat(2, 1, 3).sum(0)",
    "repeat_interleave(2, axis=1)",
    "sum()",
    "sum(1, keepdims=True).cast(f64)",
    "take($2, axis=0, mode=wrap)",
    "take($2, axis=1, mode=clip).sum(0)",
    "take($2, mode=fill, fill_value=7)",
    "take([0, -1, 1], axis=2)",
    "index_select(1, [1, 0]).concat($1, axis=1)",
    "stack($1, axis=1).unstack(0)",
    "unstack(2)",
    "unsqueeze(0).expand(2, -1, -1, -1).reshape(-1, 2)",
    "take_along_axis([[[0]]], axis=1)",
    "enforce_shape([\"a\", ..., \"b\"]).sum(0)",
    "arange(10).flip()",
    "atleast_3d($2)",
];

fn alone(program: &Program, inputs: &[Tensor]) -> Option<Flow<Tensor>> {
    let mut flow = start(program, inputs).ok()?;
    for one in &program.steps {
        flow = Some(step(&Cpu, one, flow.as_ref(), inputs).ok()?.flow);
    }
    flow
}

/// The layouts of a tensor on a mesh, by numbers that proptest picks.
fn layout(rank: usize, picked: &[usize]) -> NdSbp {
    let one = |n: &usize| match n % (rank + 2) {
        0 => Sbp::Broadcast,
        1 => Sbp::Partial(stridewise::spread::Reduction::Sum),
        n => Sbp::Split(n - 2),
    };
    picked.iter().map(one).collect()
}

fn ints(shape: &[usize], from: i64) -> Tensor {
    let count = shape.iter().product::<usize>() as i64;
    Tensor::from_vec((from..from + count).collect::<Vec<_>>(), shape).expect("a tensor")
}

const MESHES: &[&[usize]] = &[&[1], &[2], &[3], &[4], &[2, 2], &[3, 2], &[2, 1, 2]];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn ranks_do_what_one_machine_does_and_receive_what_the_plan_says(
        program in proptest::sample::select(PROGRAMS),
        shape in prop::collection::vec(0usize..6, 3),
        index in prop::collection::vec(0usize..4, 1..3),
        mesh in proptest::sample::select(MESHES),
        held in prop::collection::vec(0usize..60, 6),
    ) {
        let inputs = [ints(&shape, 1), ints(&index, -2)];
        let given = Given {
            mesh: Mesh::new(mesh).expect("a mesh"),
            sbp: vec![layout(3, &held[..mesh.len()]), layout(index.len(), &held[3..][..mesh.len()])],
        };
        let program = Program::parse(program).expect("a program");
        let wanted = alone(&program, &inputs);
        let ran = run::run(&program, &given, &inputs, &Progress::new(0));
        let (Some(wanted), Ok(ran)) = (&wanted, &ran) else {
            // What fails here fails there, and says so in the words of the program.
            let told = matches!(ran, Err(Failure::Program(..)));
            prop_assert!(wanted.is_none() && told, "{:?}", ran.err());
            return Ok(());
        };
        let found = ran.flow.as_ref().map_or(&[][..], Flow::tensors);
        prop_assert_eq!(found.len(), wanted.tensors().len());
        for (a, b) in found.iter().zip(wanted.tensors()) {
            prop_assert_eq!((a.dtype(), a.shape()), (b.dtype(), b.shape()));
            prop_assert!(array_equal(a, b, true), "{} is not {}", a, b);
        }
        let dry = Dry::new();
        let sketches = inputs.iter().map(|x| dry.tensor(x.dtype(), x.shape()));
        let sketches = sketches.collect::<Result<Vec<_>, Error>>().expect("sketches");
        let mut most = 0;
        for (rank, moved) in ran.moved.iter().enumerate() {
            let rows = plan::on_rank(&program, &given, &sketches, rank).expect("a plan");
            let planned: Vec<&Moved> = rows.iter().flat_map(|row| &row.changes).collect();
            prop_assert_eq!(&planned, &moved.iter().collect::<Vec<_>>(), "rank {}", rank);
            most = most.max(received(moved));
        }
        let plan = plan::plan(&program, &given, &sketches, false, None).expect("a plan");
        prop_assert_eq!(plan.received, most);
    }
}
