//! Operators that move 64 MiB, as a ratio of the speed at which the same threads fill a warm 64 MiB buffer.
//!
//! Everything is measured in one run, interleaved, and the best of several rounds counts, since the machine
//! may be shared. The pool's hits show that a second call reuses the first one's buffer.

use std::time::{Duration, Instant};

use stridewise::prelude::*;
use stridewise::{Result, pool};

const BYTES: usize = 64 << 20;
const ROUNDS: usize = 25;

struct Case {
    name: &'static str,
    run: Box<dyn Fn() -> Result<Tensor>>,
}

fn case(name: &'static str, run: impl Fn() -> Result<Tensor> + 'static) -> Case {
    Case {
        name,
        run: Box::new(run),
    }
}

fn cases() -> Result<Vec<Case>> {
    let floats = |shape: &[usize]| {
        let count = shape.iter().product::<usize>() as i64;
        arange(0, count, 1, DType::F32)?.reshape(shape)
    };
    let (row, short, flat) = (
        floats(&[1024, 1, 256])?,
        floats(&[4096, 3])?,
        floats(&[256])?,
    );
    let (square, cube) = (floats(&[4096, 4096])?, floats(&[64, 256, 1024])?);
    let expanded = row.expand([-1, 64, -1])?;
    let transposed = square.transpose(..)?;
    let permuted = cube.permute([2, 0, 1])?;
    let inner = cube.permute([0, 2, 1])?;
    let reversed = cube.flip(..)?;
    let stepped = floats(&[4096, 8192])?.slice(index![.., Item::from(..).step(2)])?;
    let bytes = arange(0, 4096, 1, DType::I64)?
        .cast(DType::U8)?
        .reshape([4096, 1])?;
    Ok(vec![
        case("repeat (1024,1,256) x (1,64,1)", move || {
            row.repeat([1, 64, 1])
        }),
        case("repeat (4096,3) x (37,37)", move || short.repeat([37, 37])),
        case("repeat (256) x (65536,1)", move || flat.repeat([65536, 1])),
        case("repeat u8 (4096,1) x (1,16384)", move || {
            bytes.repeat([1, 16384])
        }),
        case("contiguous of expand", move || expanded.contiguous()),
        case("contiguous of (4096,4096).T", move || {
            transposed.contiguous()
        }),
        case("contiguous of permute (2,0,1)", move || {
            permuted.contiguous()
        }),
        case("contiguous of permute (0,2,1)", move || inner.contiguous()),
        case("contiguous of flip", move || reversed.contiguous()),
        case("contiguous of every second column", move || {
            stepped.contiguous()
        }),
    ])
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

/// Fills a buffer with as many threads as the kernels use.
fn fill(buffer: &mut [u64], value: u64) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = buffer.len().div_ceil(threads);
    rayon::scope(|scope| {
        for chunk in buffer.chunks_mut(part) {
            scope.spawn(move |_| chunk.fill(value));
        }
    });
}

fn main() -> Result<()> {
    let cases = cases()?;
    let mut buffer = vec![0u64; BYTES / 8];
    let mut filled = Duration::MAX;
    let mut copied = Duration::MAX;
    let mut best = vec![(Duration::MAX, 0usize); cases.len()];
    let source = vec![1u64; BYTES / 8];
    let before = pool::stats();
    for round in 0..ROUNDS {
        filled = filled.min(timed(|| fill(&mut buffer, round as u64)).0);
        copied = copied.min(timed(|| copy(&source, &mut buffer)).0);
        for (case, best) in cases.iter().zip(&mut best) {
            let (took, result) = timed(|| (case.run)());
            let bytes = result?.nbytes();
            if took < best.0 {
                *best = (took, bytes);
            }
        }
    }
    let after = pool::stats();
    let speed = |bytes: usize, took: Duration| bytes as f64 / took.as_secs_f64() / 1e9;
    let fill_speed = speed(BYTES, filled);
    println!("{:<36} {:>8} {:>8} {:>8}", "", "ms", "GB/s", "of fill");
    let row = |name: &str, took: Duration, bytes: usize| {
        let rate = speed(bytes, took);
        println!(
            "{name:<36} {:>8.2} {rate:>8.1} {:>8.2}",
            took.as_secs_f64() * 1e3,
            rate / fill_speed
        );
    };
    row("fill 64 MiB, warm", filled, BYTES);
    row("copy 64 MiB, warm", copied, BYTES);
    for (case, (took, bytes)) in cases.iter().zip(best) {
        row(case.name, took, bytes);
    }
    println!(
        "pool: {} of {} buffers were reused",
        after.hits - before.hits,
        after.hits + after.misses - before.hits - before.misses
    );
    Ok(())
}

fn copy(from: &[u64], to: &mut [u64]) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = to.len().div_ceil(threads);
    rayon::scope(|scope| {
        for (from, to) in from.chunks(part).zip(to.chunks_mut(part)) {
            scope.spawn(move |_| to.copy_from_slice(from));
        }
    });
}
