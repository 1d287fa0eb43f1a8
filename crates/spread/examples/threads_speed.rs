//! How fast the world of threads is: small calls in microseconds, large ones against this machine's own copy.
//!
//! `cargo run --release -p stridewise-spread --example threads_speed`

use std::hint::black_box;
use std::time::{Duration, Instant};

use stridewise_core::dtype::DType;
use stridewise_core::error::Result;
use stridewise_spread::{Call, Collective, Line, Reduction, World};

/// The best of a few trials: noise only ever adds.
fn best(trials: usize, mut trial: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..trials {
        best = best.min(trial()?);
    }
    Ok(best)
}

/// The time of one call, where each rank sends `send` bytes and receives `recv`.
fn timed(
    ranks: usize,
    rounds: u32,
    what: Collective<'_>,
    send: usize,
    recv: usize,
) -> Result<Duration> {
    let call = Call {
        operator: "speed",
        what,
        dtype: DType::F32,
    };
    let times = World::threads(ranks).run(|world| {
        let line = Line::all(ranks);
        let (send, mut recv) = (vec![0; send], vec![1; recv]);
        // The first call finds the memory untouched.
        world.collective(line, &call, &send, &mut recv)?;
        best(3, || {
            let start = Instant::now();
            for _ in 0..rounds {
                world.collective(line, &call, &send, &mut recv)?;
            }
            Ok(start.elapsed() / rounds)
        })
    })?;
    Ok(times.into_iter().max().unwrap_or_default())
}

fn main() -> Result<()> {
    const LARGE: usize = 64 << 20;
    let (from, mut to) = (vec![1u8; LARGE], vec![0u8; LARGE]);
    let copy = best(5, || {
        let start = Instant::now();
        black_box(&mut to).copy_from_slice(black_box(&from));
        Ok(start.elapsed())
    })?;
    drop((from, to));
    let speed = |bytes: usize, time: Duration| bytes as f64 / time.as_secs_f64() / 1e9;
    println!(
        "copy of 64 MiB by one thread   {:5.1} GB/s",
        speed(LARGE, copy)
    );
    for ranks in [2, 4] {
        println!("{ranks} ranks");
        let time = timed(ranks, 20_000, Collective::Barrier, 0, 0)?;
        println!("  barrier                      {time:9.2?}");
        let counts = vec![8; ranks];
        let what = Collective::AllGather { counts: &counts };
        let time = timed(ranks, 20_000, what, 8, 8 * ranks)?;
        println!("  all_gather of 8 bytes each   {time:9.2?}");
        let by = Reduction::Sum;
        let time = timed(ranks, 20_000, Collective::AllReduce { by }, 8, 8)?;
        println!("  all_reduce of 8 bytes        {time:9.2?}");
        let counts = vec![LARGE / ranks; ranks];
        let what = Collective::AllGather { counts: &counts };
        let time = timed(ranks, 3, what, LARGE / ranks, LARGE)?;
        let moved = speed(LARGE * ranks, time);
        println!("  all_gather into 64 MiB each  {time:9.2?}, {moved:5.1} GB/s written by all");
        let time = timed(ranks, 3, Collective::AllReduce { by }, LARGE, LARGE)?;
        let moved = speed(LARGE * ranks, time);
        println!("  all_reduce of 64 MiB         {time:9.2?}, {moved:5.1} GB/s written by all");
    }
    Ok(())
}
