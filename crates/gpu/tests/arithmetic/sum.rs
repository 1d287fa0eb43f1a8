use stridewise_core::operators::Methods;
use stridewise_core::{DType, Engine};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_gpu::Gpu;

use crate::numbers::{Rng, both, gpu, require_same, row, spread, terms, turned};

fn agrees(gpu: &Gpu, x: &Tensor, axes: &[usize], dtype: DType) {
    let sum = gpu.sum(&gpu.upload(x).unwrap(), axes, dtype).unwrap();
    require_same(&sum, &Cpu.sum(x, axes, dtype).unwrap(), |at| {
        let (from, shape, strides) = (x.dtype(), x.shape(), x.strides());
        format!("{from} as {dtype} of {shape:?} with strides {strides:?} over {axes:?}, at {at}")
    });
}

/// One of each arithmetic.
const KINDS: [DType; 11] = [
    DType::Bool,
    DType::U8,
    DType::I16,
    DType::U32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

#[test]
fn sums_of_every_length_have_the_tree_of_the_cpu() {
    let (gpus, mut rng) = (both(), Rng::new());
    for (gpu, dtype) in gpus.iter().flat_map(|gpu| KINDS.map(|dtype| (gpu, dtype))) {
        for len in [
            0, 1, 2, 7, 8, 9, 15, 31, 33, 127, 128, 129, 255, 257, 1000, 2049,
        ] {
            let rows = terms(dtype, &[3, len], &mut rng);
            agrees(gpu, &rows, &[1], dtype);
            let columns = terms(dtype, &[len, 5], &mut rng);
            agrees(gpu, &columns, &[0], dtype);
            agrees(gpu, &columns, &[0, 1], dtype);
        }
    }
}

#[test]
fn long_sums_have_the_tree_of_the_cpu() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    for dtype in KINDS {
        agrees(&gpu, &terms(dtype, &[100_000], &mut rng), &[0], dtype);
        agrees(&gpu, &terms(dtype, &[33_000, 3], &mut rng), &[0], dtype);
    }
    agrees(
        &gpu,
        &terms(DType::F32, &[700_001], &mut rng),
        &[0],
        DType::F32,
    );
}

#[test]
fn any_axes_with_any_strides_are_summed() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    for dtype in KINDS {
        for round in 0..24 {
            let shape: Vec<usize> = (0..4).map(|_| [1, 2, 3, 6, 17][rng.below(5)]).collect();
            let x = terms(dtype, &shape, &mut rng);
            let mut order = vec![0, 1, 2, 3];
            (1..4).for_each(|i| order.swap(i, rng.below(i + 1)));
            let flags: Vec<bool> = (0..4).map(|_| rng.below(3) == 0).collect();
            let x = turned(&x, &order, &flags);
            let x = if round % 3 == 0 { spread(&x, 5) } else { x };
            let axes: Vec<usize> = (0..x.rank()).filter(|_| rng.below(2) == 0).collect();
            agrees(&gpu, &x, &axes, dtype);
        }
    }
}

#[test]
fn hard_numbers_are_summed() {
    let (gpus, mut rng) = (both(), Rng::new());
    for (gpu, dtype) in gpus.iter().flat_map(|gpu| KINDS.map(|dtype| (gpu, dtype))) {
        // Few terms each, or nearly all would be NaN.
        let x = row(dtype, 9 * 400, &mut rng);
        let x = x.reshape([400, 9]).unwrap();
        agrees(gpu, &x, &[1], dtype);
        agrees(gpu, &turned(&x, &[1, 0], &[true, false]), &[0], dtype);
    }
}

#[test]
fn terms_are_cast_first() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    for from in DType::ALL {
        for to in KINDS {
            let x = row(from, 3 * 41, &mut rng);
            let x = x.reshape([3, 41]).unwrap();
            agrees(&gpu, &x, &[0], to);
            if rng.below(3) == 0 {
                agrees(&gpu, &terms(from, &[2, 300], &mut rng), &[1], to);
            }
        }
    }
}
