//! What a global tensor adds to a call whose parts need nothing from each other: the same operator on the part alone,
//! and on the global tensor. No other rank is needed, so there is none.

use std::sync::Arc;

use divan::{Bencher, black_box};
use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_core::operators::Methods;
use stridewise_core::params::Mode;
use stridewise_cpu::{Cpu, Rows, RowsMut, Tensor};
use stridewise_spread::{Call, Global, Line, Mesh, Sbp, Spread, Wire, World};

fn main() {
    divan::main();
}

/// Rank 0 of four, with nobody to talk to.
struct Nobody;

impl Wire for Nobody {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        4
    }

    fn name(&self) -> &'static str {
        "nobody"
    }

    fn collective(&self, _: Line, call: &Call<'_>, _: &[u8], _: &mut [u8]) -> Result<()> {
        Err(Error::world(format!("{} is not free", call.operator)))
    }

    fn exchange(
        &self,
        line: Line,
        call: &Call<'_>,
        _: &[Rows<'_>],
        _: &mut [RowsMut<'_>],
    ) -> Result<()> {
        self.collective(line, call, &[], &mut [])
    }

    fn tell(&self, _: Line, _: &str, _: &[u8]) -> Result<Vec<Vec<u8>>> {
        Err(Error::world("nobody listens"))
    }

    fn received(&self) -> u64 {
        0
    }

    fn fail(&self, _: &Error) {}
}

fn local() -> Tensor {
    Tensor::from_vec(vec![1.0f32; 32], &[2, 4, 1, 4]).expect("a tensor")
}

fn global(mesh: &[usize], sbp: &[Sbp]) -> Global<Cpu> {
    let mesh = Mesh::new(mesh).expect("a mesh");
    let spread = Spread::new(Cpu, World::new(Arc::new(Nobody)), mesh).expect("an engine");
    let mut shape = [2, 4, 1, 4];
    for (held, count) in sbp.iter().zip(spread.mesh().sizes()) {
        if let Sbp::Split(axis) = held {
            shape[*axis] *= count;
        }
    }
    spread
        .assemble(local(), &shape, sbp)
        .expect("a global tensor")
}

const MESHES: [(&[usize], &[Sbp]); 2] = [
    (&[4], &[Sbp::Split(0)]),
    (&[2, 2], &[Sbp::Split(0), Sbp::Split(1)]),
];

macro_rules! pairs {
    ($($name:ident: |$x:ident| $call:expr;)*) => {$(
        mod $name {
            use super::*;

            #[divan::bench]
            fn local_part(bencher: Bencher) {
                let $x = local();
                bencher.bench_local(|| { let $x = black_box(&$x); $call.expect("a call") });
            }

            #[divan::bench(args = [0, 1])]
            fn global(bencher: Bencher, mesh: usize) {
                let $x = super::global(MESHES[mesh].0, MESHES[mesh].1);
                bencher.bench_local(|| { let $x = black_box(&$x); $call.expect("a call") });
            }
        }
    )*};
}

pairs! {
    expand: |x| x.expand([-1, -1, 8, -1]);
    permute: |x| x.permute([3, 1, 2, 0]);
    unflatten: |x| x.unflatten(3, [2, 2]);
    unsqueeze: |x| x.unsqueeze([0]);
    slice_of_another_axis: |x| x.slice(stridewise_core::index![.., .., .., 1..3]);
    sum: |x| x.sum([0], false, None);
    cast: |x| x.cast(DType::F64);
    repeat: |x| x.repeat([1, 1, 2, 1]);
}

/// An index that is split reads a source that everybody has.
#[divan::bench(args = [false, true])]
fn take(bencher: Bencher, spread: bool) {
    let index = Tensor::from_vec(vec![0i64, 1, 0, 1], &[4]).expect("an index");
    if !spread {
        let source = local();
        bencher.bench_local(|| {
            black_box(&source)
                .take(&index, 0, Mode::Raise)
                .expect("a call")
        });
        return;
    }
    let source = global(&[4], &[Sbp::Broadcast]);
    let index = source
        .spread()
        .assemble(index, &[16], &[Sbp::Split(0)])
        .expect("an index");
    bencher.bench_local(|| {
        black_box(&source)
            .take(&index, 0, Mode::Raise)
            .expect("a call")
    });
}
