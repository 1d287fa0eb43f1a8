//! Small calls to be counted, not timed: `cargo xtask bench --check` runs this under Valgrind and compares the
//! instructions of each call with `bench/instructions.toml`.
//!
//! Each case is called N times and then 2N times, and what the second part has more is the price of N calls: neither
//! what comes before nor the loop's own beginning counts. The parts are told apart by a call of the system's `getppid`,
//! at which Valgrind is told to write down its count; nothing else here calls it. The names go to the standard output,
//! in order; N is the argument.

use std::hint::black_box;

use stridewise::Result;
use stridewise::params::Pattern;
use stridewise::prelude::*;

/// Enough for the loop and the allocator to settle.
const WARM: usize = 100;

fn main() -> Result<()> {
    // `cargo bench` says `--bench` too, so what is no number is passed over.
    let told = std::env::args().find_map(|word| word.parse().ok());
    let calls: usize = told.unwrap_or(200);
    let count = Count { calls };
    let float = DType::F32;
    let x = zeros([4, 1, 3, 5], float)?;
    let row = zeros([5], float)?;
    // Results stay within 512 bytes: larger ones are aligned, and what that costs depends on what else is on the heap.
    let flat = zeros([8, 6], float)?;
    let cube = zeros([2, 3, 4], float)?;
    let long = zeros([4, 6, 16], float)?;
    let index = arange(0, 3, 1, DType::I64)?;
    let pattern: Pattern<usize> = pattern!["B", 1, .., 5];
    let pair = [&flat, &flat];

    count.of("clone", || Ok(black_box(&x).clone()))?;
    count.of("expand", || {
        black_box(&x).expand(black_box([2, 1, 4, 4, 3, 5]))
    })?;
    count.of("unflatten", || {
        black_box(&long).unflatten(black_box(1), black_box([2, -1]))
    })?;
    count.of("unsqueeze", || black_box(&x).unsqueeze(black_box(1)))?;
    count.of("squeeze", || black_box(&x).squeeze(black_box(1)))?;
    count.of("atleast_3d", || black_box(&row).atleast_3d())?;
    count.of("enforce_shape", || {
        black_box(&x).enforce_shape(black_box(&pattern))
    })?;
    count.of("permute", || black_box(&x).permute(black_box([3, 1, 0, 2])))?;
    count.of("slice", || {
        black_box(&x).slice(black_box(index![1.., .., 0]))
    })?;
    count.of("reshape", || black_box(&x).reshape(black_box([12, -1])))?;
    count.of("take of 3", || {
        black_box(&row).take(black_box(&index), None, Mode::Raise)
    })?;
    count.of("take of 3 rows", || {
        black_box(&flat).take(black_box(&index), black_box(0), Mode::Raise)
    })?;
    count.of("repeat", || black_box(&cube).repeat(black_box([2, 1, 2])))?;
    count.of("concat of two", || concat(black_box(&pair), black_box(0)))?;
    count.of("sum", || black_box(&flat).sum(.., false, None))?;
    count.of("sum over an axis", || {
        black_box(&flat).sum(black_box(0), false, None)
    })
}

/// How often the first part calls.
struct Count {
    calls: usize,
}

impl Count {
    /// Calls in parts that Valgrind tells apart; fails if the call does.
    fn of<T>(&self, name: &str, call: impl Fn() -> Result<T>) -> Result<()> {
        println!("{name}");
        call()?;
        many(&call, WARM);
        mark();
        many(&call, self.calls);
        mark();
        many(&call, 2 * self.calls);
        mark();
        Ok(())
    }
}

/// Not inlined, so that both parts run the same code.
#[inline(never)]
fn many<T>(call: &impl Fn() -> Result<T>, times: usize) {
    for _ in 0..times {
        drop(black_box(call()));
    }
}

#[cfg(unix)]
fn mark() {
    black_box(std::os::unix::process::parent_id());
}

/// Elsewhere there is no Valgrind to be told.
#[cfg(not(unix))]
fn mark() {}
