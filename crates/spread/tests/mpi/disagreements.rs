//! Ranks that are all there, but do not call the same. Nothing moves, and both calls are told.

use std::process::exit;

use stridewise_core::DType;
use stridewise_core::error::Result;
use stridewise_spread::{Call, Collective, Line, Mesh, Reduction};

use crate::Case;
use crate::faults::{BOTH, ODD, barrier, ends, gather, gather_counts, open, sleep, with_fault};

pub(crate) const CASES: [Case; 9] = [
    ends(
        "calls_something_else",
        BOTH,
        calls_another,
        &["rank 1", "barrier", "all_gather", "`take`"],
    ),
    ends(
        "calls_for_another_operator",
        &[4],
        another_operator,
        &["rank 1", "`repeat`", "`take`"],
    ),
    ends(
        "has_other_sizes",
        BOTH,
        other_sizes,
        &["rank 1", "12, 4", "all_gather", "8 bytes each"],
    ),
    ends(
        "expects_other_pieces",
        &[4],
        other_pieces,
        &["rank 2 sends 8 bytes to rank 1", "expects 16"],
    ),
    ends(
        "has_another_type",
        &[4],
        another_type,
        &["rank 1", "int32", "float32", "all_reduce"],
    ),
    ends(
        "turns_to_other_ranks",
        &[4],
        other_line,
        &["rank 1", "ranks 0, 1", "ranks 0, 1, 2, 3", "barrier"],
    ),
    ends(
        "swallows_the_error",
        &[4],
        swallows,
        &["rank 1", "barrier", "all_gather"],
    ),
    ends(
        "disagrees_in_long_records",
        &[2],
        other_long,
        &["rank 1", "long", "longer"],
    ),
    ends(
        "has_buffers_that_do_not_fit",
        BOTH,
        own_mistake,
        &["rank 1", "all_gather", "does not fit its buffers"],
    ),
];

fn calls_another() -> Result<()> {
    with_fault(|world| barrier(world, Line::all(world.size())))
}

fn another_operator() -> Result<()> {
    with_fault(|world| gather(world, "repeat", 8))
}

fn other_sizes() -> Result<()> {
    with_fault(|world| {
        let mut counts = vec![8; world.size()];
        counts[0] = 12;
        counts[1] = 4;
        gather_counts(world, "take", &counts)
    })
}

fn other_pieces() -> Result<()> {
    let world = open()?;
    let send = [8; 4];
    let mut recv = [8; 4];
    if world.rank() == ODD {
        recv[2] = 16;
    }
    let call = Call {
        operator: "take",
        what: Collective::AllToAll {
            send: &send,
            recv: &recv,
        },
        dtype: DType::U8,
    };
    let mut room = vec![0; recv.iter().sum()];
    world.collective(Line::all(4), &call, &[0; 32], &mut room)
}

fn another_type() -> Result<()> {
    let world = open()?;
    let call = Call {
        operator: "sum",
        what: Collective::AllReduce { by: Reduction::Sum },
        dtype: if world.rank() == ODD {
            DType::I32
        } else {
            DType::F32
        },
    };
    world.collective(Line::all(world.size()), &call, &[0; 8], &mut [0; 8])
}

fn other_line() -> Result<()> {
    let world = open()?;
    let row = Mesh::new(&[2, 2])?.line(1, world.rank());
    if world.rank() == ODD {
        return barrier(&world, row);
    }
    barrier(&world, Line::all(4))
}

fn swallows() -> Result<()> {
    let world = open()?;
    if world.rank() == ODD {
        let _ = barrier(&world, Line::all(4));
    }
    let first = gather(&world, "take", 8);
    let again = gather(&world, "take", 8);
    assert_eq!(first.unwrap_err(), again.unwrap_err());
    // Everything is as if it had gone well, but for the world.
    exit(0)
}

fn other_long() -> Result<()> {
    let world = open()?;
    let same = "long ".repeat(1000);
    let end = if world.rank() == ODD {
        "longer"
    } else {
        "long"
    };
    gather(&world, &format!("{same}{end}"), 8)
}

fn own_mistake() -> Result<()> {
    with_fault(|world| {
        let counts = vec![8; world.size()];
        let call = Call {
            operator: "take",
            what: Collective::AllGather { counts: &counts },
            dtype: DType::U8,
        };
        let wrong = world.collective(Line::all(world.size()), &call, &[1; 7], &mut [0; 8]);
        assert!(wrong.is_err());
        sleep();
        wrong
    })
}
