use stridewise_core::engine::Along;
use stridewise_core::params::{Mode, Scalar};
use stridewise_core::{DType, Engine};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_gpu::Gpu;

use crate::numbers::{Rng, both, gpu, require_same, spread, terms, turned};

fn agrees(gpu: &Gpu, [base, index, updates]: [&Tensor; 3], along: &Along, mode: Mode) {
    let what = || {
        let shapes = (base.shape(), index.shape(), updates.shape());
        let dtypes = (base.dtype(), index.dtype());
        format!("{dtypes:?} {shapes:?} {along:?} {mode:?}")
    };
    let wanted = Cpu.scatter_add(base, index, updates, along, mode);
    let [b, i, u] = [base, index, updates].map(|x| gpu.upload(x).unwrap());
    let got = gpu.scatter_add(&b, &i, &u, along, mode);
    match (wanted, got) {
        (Ok(wanted), Ok(got)) => {
            require_same(&got, &wanted, |at| format!("{} at {at}", what()));
        }
        // Indices outside are found when the result is read.
        (Err(wanted), got) => {
            let error = got.and_then(|got| got.download()).unwrap_err();
            assert_eq!(error.to_string(), wanted.to_string(), "{}", what());
        }
        (Ok(_), Err(error)) => panic!("{}: {error}", what()),
    }
}

const INDICES: [DType; 8] = [
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
];

/// Indices in `-n..n`, or in `0..n` where there is no sign; `stray` more where the mode allows any.
fn index(dtype: DType, shape: &[usize], n: usize, stray: bool, rng: &mut Rng) -> Tensor {
    let signed = dtype.family() == stridewise_core::dtype::Family::Signed;
    let count: usize = shape.iter().product();
    let values = (0..count)
        .map(|_| match stray && rng.below(3) == 0 {
            true => rng.next() as i64 >> rng.below(64),
            false if signed => rng.below(2 * n) as i64 - n as i64,
            false => rng.below(n) as i64,
        })
        .collect();
    let values = Tensor::from_vec::<i64>(values, shape).unwrap();
    Cpu.cast(&values, dtype).unwrap()
}

const MODES: [Mode; 4] = [
    Mode::Raise,
    Mode::Wrap,
    Mode::Clip,
    Mode::Fill(Scalar::Int(3)),
];

#[test]
fn updates_meet_their_cells_along_a_run_of_axes() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    for (round, dtype) in DType::ALL.into_iter().cycle().take(60).enumerate() {
        let mode = MODES[round / 15];
        let base = terms(dtype, &[3, 4, 2, 3], &mut rng);
        let base = turned(&base, &[0, 3, 1, 2], &[false, true, false, false]);
        let run = [0..1, 1..2, 1..3, 2..4, 0..4][round % 5].clone();
        let along = Along::Run(run.clone());
        let (n, stray) = (along.cells(base.shape()), mode != Mode::Raise);
        let at = [vec![], vec![7], vec![3, 5], vec![40], vec![0]][rng.below(5)].clone();
        let at = index(INDICES[rng.below(8)], &at, n, stray, &mut rng);
        let mut shape = base.shape()[..run.start].to_vec();
        shape.extend(at.shape());
        shape.extend(&base.shape()[run.end..]);
        let updates = terms(dtype, &shape, &mut rng);
        agrees(&gpu, [&base, &at, &updates], &along, mode);
    }
}

#[test]
fn updates_meet_their_cells_where_the_index_is_aligned() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    for (round, dtype) in DType::ALL.into_iter().cycle().take(60).enumerate() {
        let mode = MODES[round / 15];
        let dims = [3, 4, 5];
        let base = terms(dtype, &dims, &mut rng);
        let axis = round % 3;
        let mut shape = dims;
        shape[axis] = [0, 1, 9, 30][rng.below(4)];
        let stray = mode != Mode::Raise;
        let at = index(INDICES[rng.below(8)], &shape, dims[axis], stray, &mut rng);
        let updates = terms(dtype, &[shape[2], shape[0], shape[1]], &mut rng);
        let updates = turned(&updates, &[1, 2, 0], &[true, false, false]);
        agrees(&gpu, [&base, &at, &updates], &Along::Aligned(axis), mode);
    }
}

#[test]
fn a_million_updates_of_seven_cells_keep_their_order() {
    let (gpus, mut rng) = (both(), Rng::new());
    let count = 1_000_000;
    let at = index(DType::I32, &[count], 7, false, &mut rng);
    for (gpu, dtype) in gpus.iter().zip([DType::F32, DType::F16]) {
        let base = terms(dtype, &[7], &mut rng);
        let updates = terms(dtype, &[count], &mut rng);
        agrees(gpu, [&base, &at, &updates], &Along::Run(0..1), Mode::Raise);
    }
}

#[test]
fn a_hundred_thousand_updates_of_as_many_cells_keep_their_order() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    let count = 100_000;
    let at = index(DType::I64, &[count], count, false, &mut rng);
    for dtype in [DType::U8, DType::F32, DType::F64] {
        let base = terms(dtype, &[count], &mut rng);
        let updates = terms(dtype, &[count], &mut rng);
        agrees(&gpu, [&base, &at, &updates], &Along::Run(0..1), Mode::Raise);
        agrees(&gpu, [&base, &at, &updates], &Along::Aligned(0), Mode::Wrap);
    }
    let base = terms(DType::BF16, &[50, 33], &mut rng);
    let at = index(DType::U16, &[5_000], 50, false, &mut rng);
    let updates = terms(DType::BF16, &[5_000, 33], &mut rng);
    agrees(&gpu, [&base, &at, &updates], &Along::Run(0..1), Mode::Raise);
}

#[test]
fn a_bad_index_is_told_as_on_the_cpu() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    let base = terms(DType::F32, &[4, 5], &mut rng);
    for (dtype, along) in [
        (DType::I64, Along::Run(0..1)),
        (DType::I8, Along::Run(1..2)),
    ] {
        let mut values: Vec<i64> = (0..50).map(|_| rng.below(4) as i64).collect();
        values[31] = -77;
        values[40] = 77;
        let at = Tensor::from_vec::<i64>(values, &[50]).unwrap();
        let at = Cpu.cast(&at, dtype).unwrap();
        let shape = match &along {
            Along::Run(run) if run.start == 0 => [50, 5],
            _ => [4, 50],
        };
        let updates = terms(DType::F32, &shape, &mut rng);
        agrees(&gpu, [&base, &at, &updates], &along, Mode::Raise);
    }
    let none = terms(DType::F32, &[0, 5], &mut rng);
    let at = Tensor::from_vec(vec![0i32], &[1]).unwrap();
    let updates = terms(DType::F32, &[1, 5], &mut rng);
    for mode in MODES {
        agrees(&gpu, [&none, &at, &updates], &Along::Run(0..1), mode);
    }
    let wrong = terms(DType::F64, &[1, 5], &mut rng);
    agrees(&gpu, [&base, &at, &wrong], &Along::Run(0..1), Mode::Raise);
}

#[test]
fn more_indices_than_can_be_sorted_at_once_keep_their_order() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    // As pairs of words, which is how they are sorted, they are larger than a tensor may be.
    let rows = gpu.info().max_tensor_bytes.min(1 << 27) / 8 / 1000 + 1;
    let at = spread(&index(DType::U8, &[1000], 5, false, &mut rng), rows);
    let updates = spread(&terms(DType::F32, &[1000], &mut rng), rows);
    let base = terms(DType::F32, &[5], &mut rng);
    agrees(&gpu, [&base, &at, &updates], &Along::Run(0..1), Mode::Wrap);
}

#[test]
fn a_base_without_elements_may_have_more_cells_than_kernels_count() {
    let gpu = gpu();
    let none = |shape: &[usize]| Tensor::from_bytes(DType::F32, shape, &[]).unwrap();
    let base = none(&[(1 << 32) + 3, 0]);
    for (value, mode) in [
        (5, Mode::Raise),
        (-1, Mode::Raise),
        (1 << 33, Mode::Raise),
        (9, Mode::Clip),
    ] {
        let at = Tensor::from_vec(vec![0i64, value], &[2]).unwrap();
        agrees(&gpu, [&base, &at, &none(&[2, 0])], &Along::Run(0..1), mode);
    }
}
