//! Every collective of the world of threads against what one machine that holds all buffers would compute.

use std::ops::Range;

use proptest::prelude::*;
use stridewise_core::dtype::{DType, Family};
use stridewise_core::error::Result;
use stridewise_cpu::reduce_all;
use stridewise_spread::world::agree::Kind;
use stridewise_spread::{Call, Collective, Line, Mesh, Reduction, World};

/// Numbers that depend on all of `from` and nothing else.
fn hash(from: &[u64]) -> u64 {
    from.iter().fold(0x9e37_79b9_7f4a_7c15, |state, &next| {
        let x = (state ^ next).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (x ^ (x >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) ^ (x >> 32)
    })
}

/// One collective that all ranks make, each on its own line.
#[derive(Clone, Debug)]
struct Step {
    /// The mesh axis of the lines; none for all ranks at once.
    axis: Option<usize>,
    kind: Kind,
    dtype: DType,
    by: Reduction,
    /// Elements per count, at most.
    most: u64,
    seed: u64,
}

impl Step {
    fn line(&self, mesh: &Mesh, rank: usize) -> Line {
        match self.axis {
            Some(axis) => mesh.line(axis % mesh.rank(), rank),
            None => Line::all(mesh.ranks()),
        }
    }

    /// Bytes that go from one place to another; some are none.
    fn count(&self, line: Line, from: usize, to: usize) -> usize {
        let drawn = hash(&[self.seed, line.first as u64, from as u64, to as u64]);
        let elements = if drawn.is_multiple_of(4) {
            0
        } else {
            (drawn >> 8) % (self.most + 1)
        };
        elements as usize * self.dtype.width()
    }

    fn counts(&self, line: Line) -> Vec<usize> {
        (0..line.len).map(|at| self.count(line, at, 0)).collect()
    }

    /// What a rank sends.
    fn send(&self, line: Line, rank: usize) -> Vec<u8> {
        let at = line.place(rank);
        let len = match self.kind {
            Kind::AllGather | Kind::Tell => self.count(line, at, 0),
            Kind::AllToAll => (0..line.len).map(|to| self.count(line, at, to)).sum(),
            Kind::ReduceScatter => self.counts(line).iter().sum(),
            Kind::AllReduce => self.count(line, 0, 0),
            Kind::Barrier => 0,
        };
        let byte = |i: usize| hash(&[self.seed, rank as u64, i as u64]) as u8;
        let mut bytes: Vec<u8> = (0..len).map(byte).collect();
        let part = match self.dtype.family() {
            Family::Float => self.dtype.width(),
            Family::Complex => self.dtype.width() / 2,
            _ => return bytes,
        };
        // The bits of a NaN that an addition makes are the machine's own affair: sums are of numbers below 2.
        if self.by == Reduction::Sum {
            for number in bytes.chunks_exact_mut(part) {
                number[part - 1] &= 0xbf;
            }
        }
        bytes
    }

    /// What a rank receives, by the definition. A message ends with its length.
    fn wanted(&self, line: Line, rank: usize) -> Vec<u8> {
        let at = line.place(rank);
        let sent: Vec<Vec<u8>> = line.ranks().map(|rank| self.send(line, rank)).collect();
        let reduced = |bytes: Range<usize>| -> Vec<u8> {
            let width = self.dtype.width();
            let element = |start: usize| {
                let terms: Vec<&[u8]> = sent.iter().map(|all| &all[start..start + width]).collect();
                let mut one = vec![0; width];
                reduce_all(self.dtype, self.by, &mut one, &terms).expect("a reduction");
                one
            };
            bytes.step_by(width).flat_map(element).collect()
        };
        match self.kind {
            Kind::AllGather => sent.concat(),
            Kind::Tell => told(sent),
            Kind::AllToAll => {
                let piece = |from: usize| {
                    let start: usize = (0..at).map(|to| self.count(line, from, to)).sum();
                    &sent[from][start..start + self.count(line, from, at)]
                };
                (0..line.len).map(piece).collect::<Vec<_>>().concat()
            }
            Kind::ReduceScatter => {
                let counts = self.counts(line);
                let start: usize = counts[..at].iter().sum();
                reduced(start..start + counts[at])
            }
            Kind::AllReduce => reduced(0..sent[0].len()),
            Kind::Barrier => Vec::new(),
        }
    }

    fn run(&self, world: &World, mesh: &Mesh) -> Result<(Vec<u8>, u64)> {
        let line = self.line(mesh, world.rank());
        let (at, by) = (line.place(world.rank()), self.by);
        let send = self.send(line, world.rank());
        let counts = self.counts(line);
        let to: Vec<usize> = (0..line.len).map(|to| self.count(line, at, to)).collect();
        let from: Vec<usize> = (0..line.len)
            .map(|from| self.count(line, from, at))
            .collect();
        let (what, room) = match self.kind {
            Kind::AllGather => {
                let room = counts.iter().sum();
                (Collective::AllGather { counts: &counts }, room)
            }
            Kind::AllToAll => {
                let what = Collective::AllToAll {
                    send: &to,
                    recv: &from,
                };
                (what, from.iter().sum())
            }
            Kind::ReduceScatter => {
                let counts = &counts[..];
                (Collective::ReduceScatter { counts, by }, counts[at])
            }
            Kind::AllReduce => (Collective::AllReduce { by }, send.len()),
            Kind::Barrier => (Collective::Barrier, 0),
            Kind::Tell => {
                let before = world.received();
                let all = told(world.tell(line, "step", &send)?);
                return Ok((all, world.received() - before));
            }
        };
        let call = Call {
            operator: "step",
            what,
            dtype: self.dtype,
        };
        let mut recv = vec![0xa5; room];
        let before = world.received();
        world.collective(line, &call, &send, &mut recv)?;
        let received = world.received() - before;
        let wanted = what.received(at, line.len, send.len(), self.dtype.width());
        assert_eq!(received, wanted as u64, "{self:?} on {line:?}");
        Ok((recv, received))
    }
}

fn told(messages: Vec<Vec<u8>>) -> Vec<u8> {
    let each = messages.into_iter().map(|mut message| {
        message.extend((message.len() as u32).to_le_bytes());
        message
    });
    each.flatten().collect()
}

fn any_step() -> impl Strategy<Value = Step> {
    (
        prop::option::weighted(0.7, 0usize..2),
        prop::sample::select(Kind::ALL.to_vec()),
        prop::sample::select(DType::ALL.to_vec()),
        prop::sample::select(Reduction::ALL.to_vec()),
        prop::sample::select(vec![0, 1, 5, 5, 40, 3000]),
        any::<u64>(),
    )
        .prop_map(|(axis, kind, dtype, by, most, seed)| Step {
            axis,
            kind,
            dtype,
            by: match dtype.family() {
                Family::Complex => Reduction::Sum,
                _ => by,
            },
            most,
            seed,
        })
}

fn any_mesh() -> impl Strategy<Value = Mesh> {
    let meshes: [&[usize]; 8] = [&[1], &[2], &[3], &[4], &[5], &[2, 3], &[3, 2], &[1, 4]];
    prop::sample::select(meshes.to_vec()).prop_map(|sizes| Mesh::new(sizes).expect("a mesh"))
}

fn agrees(mesh: &Mesh, steps: &[Step]) {
    let all = World::threads(mesh.ranks())
        .run(|world| {
            let each = steps.iter().map(|step| step.run(&world, mesh));
            each.collect::<Result<Vec<_>>>()
        })
        .expect("ranks that go together");
    for (rank, got) in all.iter().enumerate() {
        for (step, (got, received)) in steps.iter().zip(got) {
            let line = step.line(mesh, rank);
            assert!(
                *got == step.wanted(line, rank),
                "rank {rank} of {mesh}: {step:?}"
            );
            if matches!(step.kind, Kind::AllGather | Kind::AllToAll) {
                let own = match step.kind {
                    Kind::AllGather => step.count(line, line.place(rank), 0),
                    _ => step.count(line, line.place(rank), line.place(rank)),
                };
                assert_eq!(*received as usize, got.len() - own);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn collectives_give_what_one_machine_would(
        mesh in any_mesh(), steps in prop::collection::vec(any_step(), 1..8),
    ) {
        agrees(&mesh, &steps);
    }
}

#[test]
fn every_collective_takes_every_dtype() {
    for sizes in [&[4][..], &[2, 3]] {
        let mesh = Mesh::new(sizes).expect("a mesh");
        for dtype in DType::ALL {
            let complex = dtype.family() == Family::Complex;
            let mut steps = Vec::new();
            for kind in Kind::ALL {
                for by in Reduction::ALL {
                    if complex && by != Reduction::Sum {
                        continue;
                    }
                    for (axis, most) in [(None, 7), (Some(0), 700), (Some(1), 3)] {
                        let seed = steps.len() as u64;
                        steps.push(Step {
                            axis,
                            kind,
                            dtype,
                            by,
                            most,
                            seed,
                        });
                    }
                }
            }
            agrees(&mesh, &steps);
        }
    }
}

/// Floating-point sums depend on the order; all ranks have the one by rank.
#[test]
fn sums_are_in_the_order_of_ranks_on_every_rank() {
    for elements in [3, 5000] {
        let terms = |rank: usize, i: usize| -> f32 {
            let sign = if hash(&[rank as u64, i as u64]).is_multiple_of(2) {
                1.0
            } else {
                -1.0
            };
            sign * f32::powi(7.3, (hash(&[i as u64, rank as u64]) % 12) as i32)
        };
        let bytes = |rank: usize| -> Vec<u8> {
            (0..elements)
                .flat_map(|i| terms(rank, i).to_ne_bytes())
                .collect()
        };
        let wanted: Vec<u8> = (0..elements)
            .flat_map(|i| {
                let sum = (1..5).fold(terms(0, i), |sum, rank| sum + terms(rank, i));
                sum.to_ne_bytes()
            })
            .collect();
        let sums = World::threads(5).run(|world| {
            let call = Call {
                operator: "sum",
                what: Collective::AllReduce { by: Reduction::Sum },
                dtype: DType::F32,
            };
            let send = bytes(world.rank());
            let mut recv = vec![0; send.len()];
            world.collective(Line::all(5), &call, &send, &mut recv)?;
            Ok(recv)
        });
        for sum in sums.expect("sums") {
            assert!(sum == wanted, "{elements} elements");
        }
    }
}

/// A rank may have threads of its own; calls on one line then come one after another.
#[test]
fn threads_that_share_an_end_take_turns() {
    let all = World::threads(2).run(|world| {
        let gather = || {
            let call = Call {
                operator: "turns",
                what: Collective::AllGather { counts: &[1, 1] },
                dtype: DType::U8,
            };
            let mut recv = [0; 2];
            for _ in 0..200 {
                let send = [world.rank() as u8 + 5];
                world.collective(Line::all(2), &call, &send, &mut recv)?;
                assert_eq!(recv, [5, 6]);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(gather);
            let own = gather();
            own.and(other.join().expect("no panic"))
        })
    });
    all.expect("ranks that go together");
}

#[test]
fn a_world_of_one_has_nobody_to_wait_for() {
    let world = World::alone();
    assert_eq!(format!("{world:?}"), "rank 0 of 1 (threads)");
    let mesh = Mesh::new(&[1, 1]).expect("a mesh");
    for (seed, kind) in Kind::ALL.into_iter().enumerate() {
        let step = Step {
            axis: Some(1),
            kind,
            dtype: DType::I16,
            by: Reduction::Sum,
            most: 9,
            seed: seed as u64,
        };
        let (got, received) = step.run(&world, &mesh).expect("nothing to go wrong");
        assert_eq!((got, received), (step.wanted(Line::all(1), 0), 0));
    }
}
