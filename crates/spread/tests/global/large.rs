//! Tensors and meshes as large as they get: what is too large to be counted is an error, and nothing overflows on the
//! way there.

use std::panic::{AssertUnwindSafe, catch_unwind};

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_core::layout::Layout;
use stridewise_core::operators::{Methods, concat};
use stridewise_core::params::{Item, Mode};
use stridewise_core::size::tuple;
use stridewise_dry::Dry;
use stridewise_spread::sbp::parse;
use stridewise_spread::{Global, Imagined, Mesh, Sbp, Spread, local_shape};

fn rank_of(mesh: &[usize], rank: usize) -> Spread<Dry> {
    let mesh = Mesh::new(mesh).expect("a mesh");
    let world = Imagined::new(rank, mesh.ranks());
    Spread::new(Dry::new(), world, mesh).expect("an engine")
}

fn held(spread: &Spread<Dry>, dtype: DType, shape: &[usize], sbp: &[Sbp]) -> Result<Global<Dry>> {
    let part = local_shape(shape, spread.mesh(), sbp, spread.coordinate());
    spread.assemble(spread.inner().tensor(dtype, &part)?, shape, sbp)
}

#[test]
fn a_whole_that_cannot_be_counted_is_refused_though_its_parts_can() {
    let spread = rank_of(&[4096, 64], 77);
    for (shape, sbp) in [
        ([1 << 40, 1 << 30], "S(0),S(0)"),
        ([1 << 40, 1 << 30], "S(0),S(1)"),
        ([1 << 61, 4], "S(0),B"),
    ] {
        let made = held(&spread, DType::F32, &shape, &parse(sbp).expect("a layout"));
        let error = made.expect_err("a tensor of more bytes than can be counted");
        assert!(matches!(error, Error::Overflow(_)), "{error}");
        assert!(error.to_string().contains(&tuple(shape)), "{error}");
    }
}

const SHAPES: &[&[usize]] = &[
    &[1 << 40],
    &[1 << 60],
    &[1 << 40, 1 << 20],
    &[1 << 20, 0, 1 << 40],
    &[3, 1 << 30, 7, 1 << 20],
    &[(1 << 31) - 1, 1 << 28],
    &[1, 1 << 59, 1],
    &[5, 4097, 63, 1 << 20, 17],
];

type Work = (&'static str, fn(&Global<Dry>) -> Result<Global<Dry>>);

const WORK: &[Work] = &[
    ("flatten", |x| x.flatten(0, -1)),
    ("reshape", |x| x.reshape([-1, 2])),
    ("flip", |x| x.flip(..)),
    ("slice", |x| {
        x.slice([Item::Range {
            start: Some(1),
            stop: None,
            step: 3,
        }])
    }),
    ("sum", |x| x.sum(.., false, None)),
    ("sum of the first", |x| x.sum(0, false, None)),
    ("cast", |x| x.cast(DType::U8)),
    ("copy", |x| x.flip(0)?.contiguous()),
    ("concat", |x| concat(&[x, x], 0)),
    ("concat at the end", |x| concat(&[x, x], -1)),
    ("take", |x| {
        let index = x.spread().inner().tensor(DType::I64, &[1 << 10])?;
        let index = x
            .spread()
            .assemble(index, &[1 << 10], &vec![Sbp::Broadcast; x.sbp().len()])?;
        x.take(&index, 0, Mode::Wrap)
    }),
    ("take of all", |x| {
        let index = x.spread().inner().tensor(DType::I64, &[1 << 10])?;
        let index = x
            .spread()
            .assemble(index, &[1 << 10], &vec![Sbp::Broadcast; x.sbp().len()])?;
        x.take(&index, None, Mode::Wrap)
    }),
    ("repeat", |x| x.repeat(&vec![2usize; x.shape().len()][..])),
    ("broadcast", |x| {
        x.to_sbp(&vec![Sbp::Broadcast; x.sbp().len()])
    }),
    ("split", |x| {
        x.to_sbp(&vec![Sbp::Split(x.shape().len() - 1); x.sbp().len()])
    }),
];

#[test]
fn nothing_overflows_on_the_way_to_a_result_or_an_error() {
    let meshes: [&[usize]; 4] = [&[4096, 64], &[3, 5, 7], &[1 << 12], &[2]];
    for mesh in meshes {
        let ranks: usize = mesh.iter().product();
        for shape in SHAPES {
            for first in crate::held::layouts(shape.len(), DType::U8, 1) {
                let sbp: Vec<Sbp> = (0..mesh.len())
                    .map(|at| match (at, first[0]) {
                        (0, held) => held,
                        (_, Sbp::Split(axis)) => Sbp::Split((axis + at) % shape.len()),
                        (_, held) => held,
                    })
                    .collect();
                for rank in [0, ranks - 1] {
                    for (name, work) in WORK {
                        let spread = rank_of(mesh, rank);
                        let x = held(&spread, DType::U8, shape, &sbp);
                        let told = format!("{name} of {x:?}, rank {rank}");
                        let made = catch_unwind(AssertUnwindSafe(|| x.and_then(|x| work(&x))));
                        let made = made.unwrap_or_else(|_| panic!("{told} panics"));
                        // What is too large is said to be; the sizes of all else are right.
                        match made {
                            Ok(y) => assert!(Layout::packed(1, y.shape()).is_ok(), "{told}"),
                            Err(
                                Error::Overflow(_)
                                | Error::Shape(_)
                                | Error::Index(_)
                                | Error::World(_),
                            ) => {}
                            Err(error) => panic!("{told}: {error}"),
                        }
                    }
                }
            }
        }
    }
}
