//! Every way in which a rank can go or be late. The job must end soon, with a status that is not 0, and somebody must say
//! which rank it was and what the others wanted of it.

use std::process::exit;
use std::time::Duration;

use stridewise_core::DType;
use stridewise_core::error::{Error, Result};
use stridewise_spread::{Call, Collective, Line, World};

use crate::launch::TIMEOUT;
use crate::{Case, Outcome};

pub(crate) const BOTH: &[usize] = &[2, 4];

/// The rank at fault.
pub(crate) const ODD: usize = 1;

pub(crate) const CASES: [Case; 18] = [
    ends(
        "panics",
        BOTH,
        panics,
        &["rank 1", "all_gather", "`take`", "no such luck"],
    ),
    ends(
        "returns_early",
        BOTH,
        returns_early,
        &["rank 1", "all_gather", "`take`"],
    ),
    ends(
        "returns_an_error",
        BOTH,
        returns_an_error,
        &["rank 1", "all_gather", "`take`"],
    ),
    ends(
        "exits_with_status_0",
        BOTH,
        exits,
        &["rank 1", "all_gather", "`take`"],
    ),
    ends("leaves_without_a_word", &[4], leaves, &["rank 1"]),
    ends(
        "is_killed",
        BOTH,
        killed,
        &["rank 1", "all_gather", "`take`"],
    ),
    ends(
        "is_killed_while_bytes_move",
        &[4],
        killed_in_transfer,
        &["rank 1"],
    ),
    ends(
        "is_stopped_while_bytes_move",
        &[4],
        stopped_in_transfer,
        &["rank", "all_to_all", "`swap`"],
    ),
    ends(
        "sleeps",
        BOTH,
        sleeps,
        &["rank 1", "all_gather", "`take`", "2 seconds"],
    ),
    ends(
        "sleeps_at_the_end",
        &[4],
        sleeps_at_the_end,
        &["[1]", "to its end"],
    ),
    ends(
        "sleeps_before_the_world_opens",
        &[2],
        sleeps_first,
        &["rank 0 of 2 opened the world"],
    ),
    ends(
        "fails_by_itself",
        BOTH,
        fails,
        &["rank 1", "index 9 is out of range", "all_gather", "`take`"],
    ),
    ends(
        "panics_on_all_ranks",
        &[4],
        panics_everywhere,
        &["on purpose"],
    ),
    ends(
        "panics_where_another_library_stops_mpi",
        &[2],
        panics_within,
        &["rank 1", "all_gather", "`take`"],
    ),
    ends(
        "leaves_the_world",
        BOTH,
        leaves_the_world,
        &["rank 1", "left", "all_gather", "`take`"],
    ),
    Case {
        name: "all_leave_the_world",
        ranks: &[4],
        run: all_leave,
        outcome: Outcome::Fine,
    },
    Case {
        name: "another_library_starts_and_stops_mpi",
        ranks: &[2],
        run: shared,
        outcome: Outcome::Fine,
    },
    Case {
        name: "a_panic_that_is_caught_is_no_fault",
        ranks: &[2],
        run: caught,
        outcome: Outcome::Fine,
    },
];

pub(crate) const fn ends(
    name: &'static str,
    ranks: &'static [usize],
    run: fn() -> Result<()>,
    said: &'static [&'static str],
) -> Case {
    Case {
        name,
        ranks,
        run,
        outcome: Outcome::Ends(said),
    }
}

/// The world, after one call that goes well.
pub(crate) fn open() -> Result<World> {
    let world = World::mpi()?;
    gather(&world, "warm_up", 8)?;
    Ok(world)
}

/// All-gathers `bytes` of each rank.
pub(crate) fn gather(world: &World, operator: &str, bytes: usize) -> Result<()> {
    gather_counts(world, operator, &vec![bytes; world.size()])
}

pub(crate) fn gather_counts(world: &World, operator: &str, counts: &[usize]) -> Result<()> {
    let call = Call {
        operator,
        what: Collective::AllGather { counts },
        dtype: DType::U8,
    };
    let mut recv = vec![0; counts.iter().sum()];
    let send = vec![1; counts[world.rank()]];
    world.collective(Line::all(world.size()), &call, &send, &mut recv)
}

pub(crate) fn barrier(world: &World, line: Line) -> Result<()> {
    let call = Call {
        operator: "barrier",
        what: Collective::Barrier,
        dtype: DType::U8,
    };
    world.collective(line, &call, &[], &mut [])
}

/// Runs `fault` on the rank at fault and goes on with what the others do, which is to gather.
pub(crate) fn with_fault(fault: impl FnOnce(&World) -> Result<()>) -> Result<()> {
    let world = open()?;
    if world.rank() == ODD {
        fault(&world)?;
    }
    gather(&world, "take", 8)?;
    gather(&world, "take", 8)
}

fn panics() -> Result<()> {
    with_fault(|_| panic!("no such luck"))
}

fn panics_everywhere() -> Result<()> {
    open()?;
    panic!("on purpose");
}

fn returns_early() -> Result<()> {
    let world = open()?;
    if world.rank() == ODD {
        return Ok(());
    }
    gather(&world, "take", 8)
}

fn returns_an_error() -> Result<()> {
    with_fault(|_| Err(Error::index("index 9 is out of range")))
}

fn exits() -> Result<()> {
    with_fault(|_| exit(0))
}

fn leaves() -> Result<()> {
    // SAFETY: the process ends here, and nothing is cleaned up, which is the point.
    with_fault(|_| unsafe { libc::_exit(0) })
}

fn signal(signal: i32) {
    // SAFETY: a signal to this process.
    unsafe { libc::kill(libc::getpid(), signal) };
}

fn killed() -> Result<()> {
    with_fault(|_| {
        // `mpirun` ends the others within milliseconds. They are to be waiting by then, so that there is something to say.
        std::thread::sleep(Duration::from_millis(200));
        signal(libc::SIGKILL);
        Ok(())
    })
}

/// All-to-alls until something happens to the odd one, which it does after a number of them.
fn transfers(what_happens: i32) -> Result<()> {
    let world = open()?;
    let counts = vec![1 << 20; world.size()];
    let send = vec![1; counts.iter().sum()];
    let mut recv = vec![0; send.len()];
    let call = Call {
        operator: "swap",
        what: Collective::AllToAll {
            send: &counts,
            recv: &counts,
        },
        dtype: DType::U8,
    };
    if world.rank() == ODD {
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            signal(what_happens);
        });
    }
    loop {
        world.collective(Line::all(world.size()), &call, &send, &mut recv)?;
    }
}

fn killed_in_transfer() -> Result<()> {
    transfers(libc::SIGKILL)
}

fn stopped_in_transfer() -> Result<()> {
    transfers(libc::SIGSTOP)
}

/// Longer than any watchdog: whoever sleeps must be woken by the end of the job.
pub(crate) fn sleep() {
    std::thread::sleep(100 * TIMEOUT);
}

fn sleeps() -> Result<()> {
    with_fault(|_| {
        sleep();
        Ok(())
    })
}

fn sleeps_at_the_end() -> Result<()> {
    let world = open()?;
    if world.rank() == ODD {
        sleep();
    }
    Ok(())
}

fn sleeps_first() -> Result<()> {
    // The launcher's rank number, since there is no world to ask.
    if std::env::var("OMPI_COMM_WORLD_RANK").as_deref() == Ok("1") {
        // MPI itself waits for all to start it, and is no part of this.
        let _universe = mpi::initialize();
        sleep();
    }
    open().map(|_| ())
}

fn fails() -> Result<()> {
    with_fault(|world| {
        let error = Error::index("index 9 is out of range");
        world.fail(&error);
        // It goes on, as one that handles its errors might: the others learn of it all the same.
        sleep();
        Err(error)
    })
}

fn caught() -> Result<()> {
    let world = open()?;
    if world.rank() == ODD {
        assert!(std::panic::catch_unwind(|| panic!("no harm done")).is_err());
    }
    gather(&world, "take", 8)
}

/// MPI as another library of the same process would start it; it is stopped when this is dropped.
fn universe() -> mpi::environment::Universe {
    let started = mpi::initialize_with_threading(mpi::Threading::Multiple);
    started.expect("nobody has started it").0
}

fn shared() -> Result<()> {
    let universe = universe();
    let world = open()?;
    drop(universe);
    let after = gather(&world, "take", 8).expect_err("there is no MPI any more");
    assert!(after.to_string().contains("closed"), "{after}");
    World::mpi().map(|_| ())
}

fn panics_within() -> Result<()> {
    let _universe = universe();
    panics()
}

fn leaves_the_world() -> Result<()> {
    with_fault(|world| {
        world.leave();
        sleep();
        Ok(())
    })
}

fn all_leave() -> Result<()> {
    let world = open()?;
    gather(&world, "take", 8)?;
    // Some say so, some only end.
    if world.rank() >= 2 {
        world.leave();
        let after = gather(&world, "take", 8).expect_err("it has left");
        assert!(after.to_string().contains("left"), "{after}");
    }
    Ok(())
}
