//! What the world costs beside MPI's own calls: the same bytes through both, one after the other in one run, the best
//! of several. Called by itself, this program starts itself under `mpirun` with 2 and with 4 ranks.
#![allow(unsafe_code, reason = "MPI's own calls are in C")]
#![allow(missing_docs)]

use std::ffi::c_int;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use mpi::ffi;
use stridewise_core::DType;
use stridewise_core::engine::Engine;
use stridewise_core::error::Result;
use stridewise_core::params::Scalar;
use stridewise_cpu::Cpu;
use stridewise_spread::{Call, Collective, Global, Line, Mesh, Reduction, Sbp, Spread, World};

/// What each rank ends up with, or begins with.
const BYTES: usize = 64 << 20;
const ROUNDS: usize = 12;

fn main() -> ExitCode {
    if std::env::args().any(|arg| arg == "--rank") {
        return match ranks() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    for ranks in ["2", "4"] {
        let this = std::env::current_exe().expect("this program");
        let status = Command::new("mpirun")
            .args(["-n", ranks])
            .arg(this)
            .arg("--rank")
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .status();
        if !status.is_ok_and(|status| status.success()) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn ranks() -> Result<()> {
    let world = World::mpi()?;
    let (rank, size) = (world.rank(), world.size());
    let line = Line::all(size);
    let counts = vec![BYTES / size; size];
    // Not zeros, which the system would not give memory to.
    let send = vec![1; BYTES];
    let mut recv = vec![0; BYTES];
    let bare = Bare::new(&counts);
    let gather = Collective::AllGather { counts: &counts };
    let swap = Collective::AllToAll {
        send: &counts,
        recv: &counts,
    };
    let scatter = Collective::ReduceScatter {
        counts: &counts,
        by: Reduction::Sum,
    };
    let reduce = Collective::AllReduce { by: Reduction::Sum };
    for what in [gather, swap, scatter, reduce] {
        let (sent, received) = match what {
            Collective::AllGather { .. } => (counts[rank], BYTES),
            Collective::ReduceScatter { .. } => (BYTES, counts[rank]),
            _ => (BYTES, BYTES),
        };
        let call = Call {
            operator: "bench",
            what,
            dtype: DType::F32,
        };
        let (x, to) = global(&world, what)?;
        let mut best = [Duration::MAX; 3];
        for _ in 0..ROUNDS {
            for (way, best) in best.iter_mut().enumerate() {
                bare.barrier();
                let begun = Instant::now();
                match way {
                    0 => world.collective(line, &call, &send[..sent], &mut recv[..received])?,
                    1 => bare.call(what, &send, &mut recv),
                    _ => drop(x.to_sbp(&[to])?),
                }
                *best = bare.slowest(begun.elapsed()).min(*best);
            }
        }
        if rank == 0 {
            let [ours, bare, tensor] = best.map(|time| time.as_secs_f64() * 1e3);
            let name = what.name();
            println!(
                "{size} ranks, {name:<14} of 64 MiB: {ours:6.1} ms, MPI's own {bare:6.1} ms: {:.2}; \
                 of a tensor, {} to {to}: {tensor:6.1} ms: {:.2}",
                ours / bare,
                x.sbp()[0],
                tensor / bare
            );
        }
    }
    small(&world, &bare)
}

/// A global tensor whose change of layout is that collective on as many bytes, and the layout.
fn global(world: &World, what: Collective<'_>) -> Result<(Global<Cpu>, Sbp)> {
    let (size, partial) = (world.size(), Sbp::Partial(Reduction::Sum));
    let (rows, columns) = (BYTES / 4 / 4096, 4096);
    let spread = Spread::new(Cpu, world.clone(), Mesh::new(&[size])?)?;
    let (local, shape, from, to) = match what {
        Collective::AllGather { .. } => (rows / size, rows, Sbp::Split(0), Sbp::Broadcast),
        Collective::AllToAll { .. } => (rows, rows * size, Sbp::Split(0), Sbp::Split(1)),
        Collective::ReduceScatter { .. } => (rows, rows, partial, Sbp::Split(0)),
        _ => (rows, rows, partial, Sbp::Broadcast),
    };
    let local = Cpu.full(DType::F32, Scalar::Float(1.0), &[local, columns])?;
    Ok((spread.assemble(local, &[shape, columns], &[from])?, to))
}

/// What a call costs that moves little: an agreement alone, and one with eight bytes.
fn small(world: &World, bare: &Bare) -> Result<()> {
    const CALLS: u32 = 2000;
    let line = Line::all(world.size());
    for what in [
        Collective::Barrier,
        Collective::AllReduce { by: Reduction::Sum },
    ] {
        let call = Call {
            operator: "bench",
            what,
            dtype: DType::F64,
        };
        let bytes: &mut [u8] = match what {
            Collective::Barrier => &mut [],
            _ => &mut [0; 8],
        };
        let mut best = [Duration::MAX; 2];
        for _ in 0..5 {
            for (way, best) in best.iter_mut().enumerate() {
                bare.barrier();
                let begun = Instant::now();
                for _ in 0..CALLS {
                    match (way, what) {
                        (0, _) => {
                            let send = bytes.to_vec();
                            world.collective(line, &call, &send, bytes)?;
                        }
                        (_, Collective::Barrier) => bare.barrier(),
                        _ => drop(bare.slowest(Duration::ZERO)),
                    }
                }
                *best = bare.slowest(begun.elapsed() / CALLS).min(*best);
            }
        }
        if world.rank() == 0 {
            let [ours, bare] = best.map(|time| time.as_secs_f64() * 1e6);
            println!(
                "{} ranks, {:<14} of {} bytes: {ours:6.1} µs, MPI's own {bare:6.1} µs",
                world.size(),
                what.name(),
                bytes.len(),
            );
        }
    }
    Ok(())
}

/// MPI's own calls, in which each rank has an equal part.
struct Bare {
    counts: Vec<c_int>,
    starts: Vec<c_int>,
    elements: Vec<c_int>,
}

impl Bare {
    fn new(counts: &[usize]) -> Bare {
        let part = counts[0] as c_int;
        let ranks = counts.len();
        Bare {
            counts: vec![part; ranks],
            starts: (0..ranks as c_int).map(|at| at * part).collect(),
            elements: vec![part / 4; ranks],
        }
    }

    fn barrier(&self) {
        // SAFETY: the world is open.
        unsafe { ffi::MPI_Barrier(ffi::RSMPI_COMM_WORLD) };
    }

    /// The longest time of all ranks.
    fn slowest(&self, time: Duration) -> Duration {
        let mine = time.as_secs_f64();
        let mut most = mine;
        let (from, to) = ((&raw const mine).cast(), (&raw mut most).cast());
        // SAFETY: one double on each side.
        unsafe {
            ffi::MPI_Allreduce(
                from,
                to,
                1,
                ffi::RSMPI_DOUBLE,
                ffi::RSMPI_MAX,
                ffi::RSMPI_COMM_WORLD,
            );
        }
        Duration::from_secs_f64(most)
    }

    fn call(&self, what: Collective<'_>, send: &[u8], recv: &mut [u8]) {
        let (from, to) = (send.as_ptr().cast(), recv.as_mut_ptr().cast());
        let (counts, starts) = (self.counts.as_ptr(), self.starts.as_ptr());
        // SAFETY: both have `BYTES` bytes, which is at least what the counts come to, and all ranks call the same.
        unsafe {
            let (byte, float) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_FLOAT);
            let (sum, all) = (ffi::RSMPI_SUM, ffi::RSMPI_COMM_WORLD);
            match what {
                Collective::AllGather { .. } => {
                    ffi::MPI_Allgatherv(from, self.counts[0], byte, to, counts, starts, byte, all)
                }
                Collective::AllToAll { .. } => {
                    ffi::MPI_Alltoallv(from, counts, starts, byte, to, counts, starts, byte, all)
                }
                Collective::ReduceScatter { .. } => {
                    ffi::MPI_Reduce_scatter(from, to, self.elements.as_ptr(), float, sum, all)
                }
                Collective::AllReduce { .. } => {
                    ffi::MPI_Allreduce(from, to, (BYTES / 4) as c_int, float, sum, all)
                }
                Collective::Barrier => ffi::MPI_Barrier(all),
            };
        }
    }
}
