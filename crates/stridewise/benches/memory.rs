//! Operators that move 64 MiB, as a ratio of the speed at which the same threads fill a warm 64 MiB buffer: an
//! ordinary vector, and a pooled buffer with huge pages. What must read as much as it writes is better held to
//! the copy.
//!
//! Everything is measured in one run, interleaved, and the best of several rounds counts, since the machine
//! may be shared. The pool's hits show that a second call reuses the first one's buffer.

use std::time::Duration;

use limits::{BYTES, Limits, timed};
use stridewise::prelude::*;
use stridewise::{Result, pool};

mod limits;

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

fn main() -> Result<()> {
    let cases = cases()?;
    let mut limits = Limits::new();
    let mut best = vec![(Duration::MAX, 0usize); cases.len()];
    let before = pool::stats();
    for round in 0..ROUNDS {
        limits.round(round as u64);
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
    let took = [limits.fill_vector, limits.fill, limits.copy];
    let limits = took.map(|took| speed(BYTES, took));
    println!(
        "{:<36} {:>7} {:>7}   {:>8} {:>9} {:>7}",
        "", "", "", "of fill", "of fill", "of copy"
    );
    println!(
        "{:<36} {:>7} {:>7}   {:>8} {:>9} {:>7}",
        "64 MiB, warm", "ms", "GB/s", "(vector)", "(pooled)", ""
    );
    let row = |name: &str, took: Duration, bytes: usize| {
        let rate = speed(bytes, took);
        let [vector, pooled, copy] = limits.map(|limit| rate / limit);
        let ms = took.as_secs_f64() * 1e3;
        println!("{name:<36} {ms:>7.2} {rate:>7.1}   {vector:>8.2} {pooled:>9.2} {copy:>7.2}");
    };
    row("fill of a vector", took[0], BYTES);
    row("fill of a pooled buffer, huge pages", took[1], BYTES);
    row("copy between pooled buffers", took[2], BYTES);
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
