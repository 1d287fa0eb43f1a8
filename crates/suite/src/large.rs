//! Tensors large enough for the paths that small ones never take: threads, tiles, streaming stores. Few calls,
//! every element width, and the same oracle.

use stridewise_core::dtype::DType;
use stridewise_core::operators::TABLE;

use crate::call::Call;
use crate::input::Input;
use crate::number::Number;
use crate::random::agree;
use crate::runner::Runner;

const ROWS: usize = 413;
const COLUMNS: usize = 331;

/// A matrix, packed or lying otherwise, of values that no two neighbours share.
fn matrices(dtype: DType) -> Vec<Input> {
    let (rows, columns) = (ROWS as isize, COLUMNS as isize);
    let cells = (0..(ROWS * COLUMNS) as i64).map(|n| Number::from(n % 251));
    let packed = Input::of(dtype, &[ROWS, COLUMNS], cells);
    let shape = [ROWS, COLUMNS];
    let last = ROWS * COLUMNS - 1;
    vec![
        packed.clone().lying(&shape, &[1, rows], 0),
        packed.clone().lying(&shape, &[-columns, -1], last),
        packed.clone().lying(&shape, &[0, 1], 7),
        packed.clone().lying(&shape, &[1, 0], 0),
        packed,
    ]
}

fn calls(x: &Input) -> Vec<Call> {
    let on = |operator| Call::of(operator).arg(x.clone());
    let every = |n: usize, step: usize, below: usize| -> Vec<i64> {
        (0..n)
            .map(|i| (i * step % below) as i64 - (i % 2 * below) as i64)
            .collect()
    };
    let rows = || Input::i64(&[ROWS], &every(ROWS, 7, ROWS));
    let columns = Input::i64(&[50], &every(50, 3, COLUMNS));
    let flat = Input::i64(&[90, 1000], &every(90_000, 101, ROWS * COLUMNS));
    let mut source = x.clone();
    source.shape = vec![50, COLUMNS];
    vec![
        on("contiguous"),
        on("repeat").with("sizes", [1, 2]),
        on("tile").with("reps", [2, 1, 1]),
        on("repeat_interleave").with("repeats", [2]).with("axis", 1),
        on("reshape").with("shape", [-1]),
        on("take").with("index", rows()).with("axis", 0),
        on("take").with("index", columns.clone()).with("axis", 1),
        on("take").with("index", flat),
        Call::of("concat")
            .arg(vec![x.clone(), x.clone()])
            .with("axis", 1),
        on("index_add")
            .with("axis", 0)
            .with("index", columns)
            .with("source", source),
    ]
}

/// Runs them: movement in every width, arithmetic in some dtypes.
pub fn check<R: Runner>(runner: &R) {
    let mut calls_made = Vec::new();
    for dtype in [DType::U8, DType::F16, DType::I32, DType::F64, DType::C128] {
        // Each dtype takes its turn on a layout of its own, and one layout is everyone's.
        let matrices = matrices(dtype);
        let turn = dtype.width().trailing_zeros() as usize;
        calls_made.extend(calls(&matrices[turn]));
        calls_made.extend(calls(&matrices[0]).into_iter().take(1));
    }
    for dtype in [DType::U8, DType::I64, DType::F32] {
        for x in matrices(dtype) {
            for axes in [[0].as_slice(), &[1], &[0, 1]] {
                calls_made.push(Call::of("sum").arg(x.clone()).with("axis", axes.to_vec()));
            }
        }
        let x = matrices(dtype).swap_remove(0);
        calls_made.push(Call::of("cast").arg(x.clone()).with("dtype", DType::BF16));
        calls_made.push(Call::of("cast").arg(x).with("dtype", DType::C64));
    }
    for call in calls_made.into_iter().map(Call::listed) {
        let entry = TABLE.iter().find(|entry| entry.name == call.operator);
        let kind = entry.map_or_else(|| panic!("{call} is not in the table"), |e| e.kind);
        let good = agree(runner, &call, kind).unwrap_or_else(|difference| {
            let short: String = difference.chars().take(2000).collect();
            panic!("{call}\n{short}")
        });
        assert!(good, "{call} is an error");
    }
}
