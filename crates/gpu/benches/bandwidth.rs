//! Bandwidth of the kernels that move or add data, beside the device's own copy from buffer to buffer, on whatever
//! adapter is found. Bytes read and written are counted, so that a kernel as fast as the copy has its bandwidth.
//!
//! `cargo bench -p stridewise-gpu --bench bandwidth -- [MiB]`
#![allow(missing_docs)]

use std::time::{Duration, Instant};

use stridewise_core::operators::{Methods, make};
use stridewise_core::params::{Axes, Mode};
use stridewise_core::{DType, Engine, Result};
use stridewise_gpu::{Gpu, Tensor};

/// Each is run for about this long.
const LONG: Duration = Duration::from_millis(500);

fn main() -> Result<()> {
    let gpu = Gpu::open()?;
    println!("{}", gpu.info());
    let asked = std::env::args().find_map(|arg| arg.parse::<usize>().ok());
    let most = gpu.info().max_tensor_bytes >> 20;
    let bytes = asked.unwrap_or(32).clamp(1, most) << 20;
    println!("{} MiB tensors, the median run\n", bytes >> 20);

    let count = bytes / 4;
    let side = 1 << (count.ilog2() / 2);
    let x = make::arange(&gpu, 0, Some((count as i64).into()), 1, Some(DType::I32))?;
    let square = x.reshape([side as isize, -1])?;
    let (rows, row) = (square.shape()[0], square.shape()[1]);
    let floats = make::ones(&gpu, [count], DType::F32)?;
    let quarter = make::ones(&gpu, [count / 4], DType::F32)?;
    let bytes_of = make::ones(&gpu, [side, bytes / side], DType::U8)?;
    // Places that jump about: an odd factor visits all of a power of two.
    let far: Vec<i32> = (0..count).map(|n| (n * 40_503 % count) as i32).collect();
    let far = gpu.upload(&stridewise_cpu::Tensor::from_vec(far, &[count])?)?;
    let some: Vec<i32> = (0..rows).map(|n| (n * 40_503 % rows) as i32).collect();
    let some = gpu.upload(&stridewise_cpu::Tensor::from_vec(some, &[rows])?)?;

    let mut best = 0.0;
    let mut line = |name: &str, bytes: usize, run: &dyn Fn() -> Result<Tensor>| -> Result<()> {
        let seconds = median(&gpu, run)?.as_secs_f64();
        let speed = bytes as f64 / seconds / 1e9;
        if best == 0.0 {
            best = speed;
        }
        println!(
            "{name:<34}{speed:>8.2} GB/s{:>8.0} % of a copy",
            speed / best * 100.0
        );
        Ok(())
    };
    line("copy, buffer to buffer", 2 * bytes, &|| gpu.copy(&floats))?;
    line("full", bytes, &|| make::ones(&gpu, [count], DType::F32))?;
    line("repeat (4)", bytes / 4 * 5, &|| quarter.repeat([4]))?;
    line("contiguous (flip)", 2 * bytes, &|| {
        floats.flip([0])?.contiguous()
    })?;
    line("contiguous (transpose)", 2 * bytes, &|| {
        square.transpose(Axes::All)?.contiguous()
    })?;
    line("contiguous (transpose of bytes)", 2 * bytes, &|| {
        bytes_of.transpose(Axes::All)?.contiguous()
    })?;
    line("take of rows", 2 * bytes, &|| {
        square.take(&some, 0, Mode::Raise)
    })?;
    line("take of columns", 2 * bytes, &|| {
        square.take(
            &some.slice(stridewise_core::index![..row.min(rows) as isize])?,
            1,
            Mode::Clip,
        )
    })?;
    line("take of elements", 3 * bytes, &|| {
        x.take(&far, 0, Mode::Raise)
    })?;
    line("sum of everything", bytes, &|| {
        floats.sum(Axes::All, false, None)
    })?;
    line("sum of rows", bytes, &|| {
        floats
            .reshape([rows as isize, row as isize])?
            .sum([1], false, None)
    })?;
    line("sum of columns", bytes, &|| {
        floats
            .reshape([rows as isize, row as isize])?
            .sum([0], false, None)
    })?;
    Ok(())
}

/// The median time of a run, without what the first one costs.
fn median(gpu: &Gpu, run: &dyn Fn() -> Result<Tensor>) -> Result<Duration> {
    drop(run()?);
    gpu.device().finish()?;
    let (mut times, start) = (Vec::new(), Instant::now());
    while times.len() < 3 || start.elapsed() < LONG {
        let begun = Instant::now();
        drop(run()?);
        gpu.device().finish()?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}
