//! Ranks of the world of threads that panic, leave, are late or disagree. Each test runs under a watchdog, and except
//! where it is about being late with a timeout that the watchdog would not wait for: whoever waits for a rank that is
//! gone must learn it at once.

use std::sync::mpsc;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_spread::{Call, Collective, Line, Mesh, Reduction, World};

const NEVER: Duration = Duration::from_secs(3600);

/// Fails a test that hangs.
fn watched(test: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let watched = thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match wait.recv_timeout(Duration::from_secs(120)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("ranks hang"),
        _ => watched.join().expect("the test"),
    }
}

fn gather(world: &World, line: Line, operator: &str) -> Result<()> {
    let counts = vec![4; line.len];
    let what = Collective::AllGather { counts: &counts };
    let dtype = DType::F32;
    let call = Call {
        operator,
        what,
        dtype,
    };
    let send = (world.rank() as u32).to_le_bytes();
    let mut recv = vec![0; 4 * line.len];
    world.collective(line, &call, &send, &mut recv)?;
    let wanted: Vec<u8> = line
        .ranks()
        .flat_map(|rank| (rank as u32).to_le_bytes())
        .collect();
    assert_eq!(recv, wanted);
    Ok(())
}

fn all_reduce(
    world: &World,
    operator: &str,
    by: Reduction,
    dtype: DType,
    len: usize,
) -> Result<()> {
    let what = Collective::AllReduce { by };
    let call = Call {
        operator,
        what,
        dtype,
    };
    let (send, mut recv) = (vec![1; len], vec![0; len]);
    world.collective(Line::all(world.size()), &call, &send, &mut recv)
}

/// What the ranks did and what whoever started them is told.
struct Outcome {
    ranks: Vec<Result<()>>,
    run: Error,
}

impl Outcome {
    fn of(size: usize, timeout: Duration, rank: impl Fn(&World) -> Result<()> + Sync) -> Outcome {
        let ranks: Mutex<Vec<_>> = Mutex::new((0..size).map(|_| Ok(())).collect());
        let run = World::threads(size).timeout(timeout).run(|world| {
            let result = rank(&world);
            ranks.lock().expect("no panic")[world.rank()] = result.clone();
            result
        });
        Outcome {
            ranks: ranks.into_inner().expect("no panic"),
            run: run.expect_err("a fault"),
        }
    }

    /// What a rank was told, as the first line.
    fn told(&self, rank: usize) -> String {
        let error = self.ranks[rank].as_ref().expect_err("a rank that fails");
        assert!(matches!(error, Error::World(_)), "{error}");
        first_line(error)
    }
}

fn first_line(error: &Error) -> String {
    error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_string()
}

#[test]
fn a_rank_that_panics_is_told_to_all_with_its_message() {
    watched(|| {
        let outcome = Outcome::of(4, NEVER, |world| {
            assert!(world.rank() != 2, "boom {}", 7);
            gather(world, Line::all(4), "take")
        });
        for rank in [0, 1, 3] {
            assert_eq!(
                outcome.told(rank),
                "rank 2 ended before `take` could all_gather: it panicked: boom 7"
            );
        }
        assert_eq!(outcome.run.to_string(), "rank 2 panicked: boom 7");
        assert!(matches!(outcome.run, Error::World(_)));
    });
}

#[test]
fn a_rank_that_panics_in_the_middle_is_told_too() {
    watched(|| {
        let outcome = Outcome::of(3, NEVER, |world| {
            for round in 0..10 {
                assert!(round < 5 || world.rank() > 0, "halfway");
                all_reduce(world, "sum", Reduction::Sum, DType::F64, 80_000)?;
            }
            Ok(())
        });
        for rank in [1, 2] {
            assert_eq!(
                outcome.told(rank),
                "rank 0 ended before `sum` could all_reduce: it panicked: halfway"
            );
        }
    });
}

#[test]
fn a_rank_that_returns_while_others_wait_is_told() {
    watched(|| {
        let outcome = Outcome::of(3, NEVER, |world| {
            gather(world, Line::all(3), "take")?;
            if world.rank() == 1 {
                return Ok(());
            }
            all_reduce(world, "sum", Reduction::Max, DType::U8, 10)
        });
        let wanted =
            "rank 1 ended before `sum` could all_reduce: it has left, and calls nothing any more";
        assert_eq!(outcome.told(0), wanted);
        assert_eq!(outcome.told(2), wanted);
        assert!(outcome.ranks[1].is_ok());
        assert_eq!(outcome.run.to_string(), wanted);
    });
}

#[test]
fn a_rank_that_fails_is_told_with_its_own_error() {
    watched(|| {
        let wrong = || {
            Error::shape("sizes do not fit")
                .help("give other sizes")
                .within("expand")
        };
        let outcome = Outcome::of(3, NEVER, |world| match world.rank() {
            1 => Err(wrong()),
            _ => gather(world, Line::all(3), "take"),
        });
        for rank in [0, 2] {
            let error = outcome.ranks[rank].as_ref().expect_err("an error");
            assert_eq!(
                error.to_string(),
                "rank 1 ended before `take` could all_gather: expand: sizes do not fit\n  help: give other sizes"
            );
        }
        assert_eq!(outcome.run, wrong().note("on rank", 1));
    });
}

#[test]
fn ranks_that_fail_alike_are_told_as_one() {
    watched(|| {
        let wrong = Error::shape("sizes do not fit");
        let outcome = Outcome::of(3, NEVER, |world| {
            gather(world, Line::all(3), "take")?;
            Err(wrong.clone())
        });
        assert_eq!(outcome.run, Error::shape("sizes do not fit"));
    });
}

#[test]
fn a_rank_that_is_done_harms_nobody_who_does_not_need_it() {
    watched(|| {
        let done = World::threads(3).timeout(NEVER).run(|world| {
            let two = Line {
                first: 0,
                step: 1,
                len: 2,
            };
            if world.rank() < 2 {
                for _ in 0..100 {
                    gather(&world, two, "take")?;
                }
            }
            Ok(world.rank())
        });
        assert_eq!(done.expect("nothing wrong"), [0, 1, 2]);
    });
}

/// All ranks of a disagreement get the same error, and so does whoever started them.
fn disagree(
    size: usize,
    wanted: &'static str,
    rank: impl Fn(&World) -> Result<()> + Sync + Send + 'static,
) {
    watched(move || {
        let outcome = Outcome::of(size, NEVER, &rank);
        for rank in 0..size {
            assert_eq!(outcome.told(rank), wanted);
        }
        assert_eq!(first_line(&outcome.run), wanted);
    });
}

#[test]
fn another_collective_is_a_disagreement() {
    disagree(
        3,
        "rank 2 called all_reduce by sum of float32 (64 bytes) for `sum`, but rank 0 called all_gather of float32 \
         (4 bytes each) for `take`",
        |world| match world.rank() {
            2 => all_reduce(world, "sum", Reduction::Sum, DType::F32, 64),
            _ => gather(world, Line::all(3), "take"),
        },
    );
}

#[test]
fn another_reduction_dtype_length_or_operator_is_a_disagreement() {
    disagree(
        2,
        "rank 1 called all_reduce by max of float32 (8000 bytes) for `sum`, but rank 0 called all_reduce by sum of \
         float32 (8000 bytes) for `sum`",
        |world| {
            let by = [Reduction::Sum, Reduction::Max][world.rank()];
            all_reduce(world, "sum", by, DType::F32, 8000)
        },
    );
    disagree(
        2,
        "rank 1 called all_reduce by sum of int32 (8000 bytes) for `sum`, but rank 0 called all_reduce by sum of \
         float32 (8000 bytes) for `sum`",
        |world| {
            let dtype = [DType::F32, DType::I32][world.rank()];
            all_reduce(world, "sum", Reduction::Sum, dtype, 8000)
        },
    );
    disagree(
        2,
        "rank 1 called all_reduce by sum of float32 (8 bytes) for `sum`, but rank 0 called all_reduce by sum of \
         float32 (8000 bytes) for `sum`",
        |world| {
            let len = [8000, 8][world.rank()];
            all_reduce(world, "sum", Reduction::Sum, DType::F32, len)
        },
    );
    disagree(
        2,
        "rank 1 called all_gather of float32 (4 bytes each) for `expand`, but rank 0 called all_gather of float32 (4 \
         bytes each) for `take`",
        |world| gather(world, Line::all(2), ["take", "expand"][world.rank()]),
    );
    disagree(
        2,
        "rank 1 called all_gather of float32 (4 bytes each) for `take`, but rank 0 called tell for `take`",
        |world| match world.rank() {
            0 => world.tell(Line::all(2), "take", &[1, 2]).map(|_| ()),
            _ => gather(world, Line::all(2), "take"),
        },
    );
}

#[test]
fn counts_that_do_not_match_move_nothing() {
    disagree(
        3,
        "rank 1 sends 2 bytes to rank 2 in all_to_all of uint8 for `reshape`, but rank 2 expects 9",
        |world| {
            let send = [2; 3];
            let recv = match world.rank() {
                2 => [2, 9, 2],
                _ => [2; 3],
            };
            let call = Call {
                operator: "reshape",
                what: Collective::AllToAll {
                    send: &send,
                    recv: &recv,
                },
                dtype: DType::U8,
            };
            let mut room = vec![7; recv.iter().sum()];
            let result = world.collective(Line::all(3), &call, &[1; 6], &mut room);
            assert!(room.iter().all(|&byte| byte == 7));
            result
        },
    );
}

#[test]
fn a_call_that_does_not_fit_its_own_buffers_fails_everybody() {
    watched(|| {
        let outcome = Outcome::of(2, NEVER, |world| {
            let what = Collective::AllGather { counts: &[4, 4] };
            let dtype = DType::F32;
            let call = Call {
                operator: "take",
                what,
                dtype,
            };
            let mut recv = vec![0; 8 - world.rank()];
            world.collective(Line::all(2), &call, &[0; 4], &mut recv)
        });
        let wrong = "all_gather of float32 (4 bytes each) for `take` does not fit its buffers: `recv` has 7 bytes, not 8";
        assert_eq!(outcome.told(1), wrong);
        assert_eq!(
            outcome.told(0),
            format!("rank 1 ended before `take` could all_gather: {wrong}")
        );
        let outcome = Outcome::of(2, NEVER, |world| {
            all_reduce(world, "max", Reduction::Max, DType::C64, 16)
        });
        assert!(matches!(outcome.run, Error::DType(_)));
    });
}

#[test]
fn a_line_without_the_rank_or_beyond_the_world_is_an_error() {
    watched(|| {
        for (first, len) in [(1, 1), (0, 3), (2, 2)] {
            let outcome = Outcome::of(2, NEVER, |world| match world.rank() {
                0 => gather(
                    world,
                    Line {
                        first,
                        step: 1,
                        len,
                    },
                    "take",
                ),
                _ => Ok(()),
            });
            assert!(outcome.ranks[0].is_err());
        }
        let error = World::threads(0).run(|_| Ok(())).expect_err("no rank");
        assert!(matches!(error, Error::Argument(_)));
    });
}

#[test]
fn a_rank_that_is_late_is_named_and_later_learns_of_it() {
    watched(|| {
        let (told, tell) = mpsc::channel();
        let (told, tell) = (Mutex::new(told), Mutex::new(tell));
        let outcome = Outcome::of(2, Duration::from_millis(20), |world| {
            if world.rank() == 1 {
                // Only comes when the other has given up.
                tell.lock().expect("no panic").recv().expect("rank 0");
                return gather(world, Line::all(2), "take");
            }
            let result = gather(world, Line::all(2), "take");
            told.lock().expect("no panic").send(()).expect("rank 1");
            result
        });
        let wanted = "rank 1 did not come to all_gather of float32 (4 bytes each) for `take` within 0.02 seconds";
        for rank in 0..2 {
            assert_eq!(outcome.told(rank), wanted);
        }
        assert_eq!(first_line(&outcome.run), wanted);
    });
}

#[test]
fn ranks_that_wait_for_each_other_in_a_circle_are_told_where() {
    watched(|| {
        let together = Barrier::new(3);
        let outcome = Outcome::of(3, Duration::from_millis(300), |world| {
            let (first, step) = [(0, 1), (1, 1), (0, 2)][world.rank()];
            together.wait();
            gather(
                world,
                Line {
                    first,
                    step,
                    len: 2,
                },
                "take",
            )
        });
        let text = outcome.run.to_string();
        let told = [
            "rank 1 waits in a call of ranks 1, 2",
            "rank 2 waits in a call of ranks 0, 2",
            "rank 0 waits in a call of ranks 0, 1",
        ];
        assert!(told.iter().any(|told| text.contains(told)), "{text}");
    });
}

#[test]
fn after_a_failure_every_call_on_every_line_fails_with_the_first_cause() {
    watched(|| {
        let mesh = Mesh::new(&[2, 2]).expect("a mesh");
        let outcome = Outcome::of(4, NEVER, |world| {
            let first = match world.rank() {
                3 => Err(Error::index("first cause")),
                _ => gather(world, Line::all(4), "take"),
            };
            if let Err(error) = &first {
                world.fail(error);
            }
            world.fail(&Error::index("second cause"));
            for axis in [0, 1] {
                let line = mesh.line(axis, world.rank());
                let error = gather(world, line, "later").expect_err("a failed world");
                let wanted = "rank 3 ended before `later` could all_gather: first cause";
                assert_eq!(error.to_string(), wanted);
            }
            first
        });
        assert_eq!(outcome.run, Error::index("first cause").note("on rank", 3));
    });
}

#[test]
fn ranks_on_other_lines_are_woken_too() {
    watched(|| {
        let (told, tell) = mpsc::channel();
        let (told, tell) = (Mutex::new(told), Mutex::new(tell));
        let two = Line {
            first: 0,
            step: 1,
            len: 2,
        };
        let outcome = Outcome::of(3, NEVER, |world| match world.rank() {
            0 => {
                let result = gather(world, two, "take");
                told.lock().expect("no panic").send(()).expect("rank 1");
                result
            }
            // Rank 0 waits for this one, which waits for rank 0 in a way that the world knows nothing of.
            1 => {
                tell.lock().expect("no panic").recv().expect("rank 0");
                Ok(())
            }
            _ => Err(Error::world("elsewhere")),
        });
        assert_eq!(
            outcome.told(0),
            "rank 2 ended before `take` could all_gather: elsewhere"
        );
    });
}

#[test]
fn an_end_that_is_dropped_failed_or_unwound_is_told() {
    let run = |last: fn(World)| {
        let mut ends = World::threads(3).timeout(NEVER).ends().expect("ends");
        let last_end = ends.pop().expect("an end");
        let threads: Vec<_> = ends
            .into_iter()
            .map(|world| thread::spawn(move || gather(&world, Line::all(3), "take")))
            .collect();
        let _ = thread::spawn(move || last(last_end)).join();
        let told = |thread: thread::JoinHandle<Result<()>>| {
            let result = thread.join().expect("no panic");
            first_line(&result.expect_err("a fault"))
        };
        threads.into_iter().map(told).collect::<Vec<_>>()
    };
    watched(move || {
        type End = fn(World);
        let cases: [(End, &str); 4] = [
            (drop, "it has left, and calls nothing any more"),
            (
                |world| world.leave(),
                "it has left, and calls nothing any more",
            ),
            (
                |world| world.fail(&Error::file("no such file")),
                "no such file",
            ),
            (
                |world| panic!("with {world:?}"),
                "it panicked: see what its thread has printed",
            ),
        ];
        for (last, why) in cases {
            let wanted = format!("rank 2 ended before `take` could all_gather: {why}");
            assert_eq!(run(last), [wanted.clone(), wanted]);
        }
    });
}

/// With a timeout about as long as a call takes, giving up races with coming. Either all ranks get through a call or
/// none does; and whoever has left, for whatever reason, uses its buffers for something else at once.
#[test]
fn giving_up_is_all_or_nothing_and_buffers_are_free_afterwards() {
    watched(|| {
        let mut ended = [0; 2];
        for trial in 0..100u64 {
            let timeout = Duration::from_micros(1 + trial * 7 % 120);
            let done = Mutex::new([0; 4]);
            let run = World::threads(4).timeout(timeout).run(|world| {
                let rank = world.rank();
                let counts = [6000; 4];
                let what = Collective::AllGather { counts: &counts };
                let call = Call {
                    operator: "race",
                    what,
                    dtype: DType::U8,
                };
                let (mut send, mut recv) = (vec![0; 6000], vec![0; 24_000]);
                for round in 0..12u8 {
                    send.fill(round * 4 + rank as u8);
                    let result = world.collective(Line::all(4), &call, &send, &mut recv);
                    // Nobody may see this.
                    send.fill(0xff);
                    let mut pieces = recv.chunks_exact(6000).enumerate();
                    result?;
                    assert!(pieces.all(|(from, piece)| {
                        piece.iter().all(|&byte| byte == round * 4 + from as u8)
                    }));
                    done.lock().expect("no panic")[rank] += 1;
                }
                Ok(())
            });
            let done = done.into_inner().expect("no panic");
            assert_eq!(done, [done[0]; 4], "{timeout:?}");
            if let Err(error) = &run {
                let text = first_line(error);
                assert!(text.contains("did not come to all_gather"), "{text}");
            }
            ended[usize::from(run.is_err())] += 1;
        }
        println!("{} worlds went through, {} gave up", ended[0], ended[1]);
        assert!(ended[1] > 0, "the race was never run");
    });
}
