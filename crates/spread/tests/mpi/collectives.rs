//! Every collective against what it means, written down naively: each rank can tell what all others send, since it is
//! computed from their ranks.

use half::{bf16, f16};
use stridewise_core::DType;
use stridewise_core::error::Result;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_spread::mesh::part;
use stridewise_spread::{Call, Collective, Line, Mesh, Reduction, Sbp, Spread, World};

use crate::{Case, Outcome};

pub(crate) const CASES: [Case; 9] = [
    fine("collectives_of_all_types_and_sizes", &[2, 4], everything),
    fine("lines_of_a_mesh", &[4], lines),
    fine(
        "sums_of_floats_have_the_same_bits_on_all_ranks",
        &[2, 4],
        bits,
    ),
    fine("max_and_min_keep_nan_wherever_it_is", &[4], nan),
    fine("messages_of_any_length", &[2, 4], messages),
    fine("records_that_fit_no_letter", &[4], long_records),
    fine(
        "more_bytes_than_go_into_one_message",
        &[2],
        several_messages,
    ),
    fine(
        "pieces_that_lie_in_rows_and_take_several_steps",
        &[2, 3],
        rows_in_steps,
    ),
    fine("one_rank_alone", &[1], everything),
];

const fn fine(name: &'static str, ranks: &'static [usize], run: fn() -> Result<()>) -> Case {
    Case {
        name,
        ranks,
        run,
        outcome: Outcome::Fine,
    }
}

/// Numbers that look random and are the same on all ranks.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

/// The small number that a rank has at an index.
fn number(rank: usize, index: usize) -> u64 {
    (((rank * 31 + index) * 2_654_435_761) >> 7) as u64 % 5
}

/// Small numbers as elements.
fn elements(dtype: DType, values: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        let float = value as f32;
        match dtype {
            DType::Bool => bytes.push(u8::from(value != 0)),
            DType::F16 => bytes.extend(f16::from_f32(float).to_ne_bytes()),
            DType::BF16 => bytes.extend(bf16::from_f32(float).to_ne_bytes()),
            DType::F32 => bytes.extend(float.to_ne_bytes()),
            DType::F64 => bytes.extend(f64::from(float).to_ne_bytes()),
            DType::C64 => {
                bytes.extend(float.to_ne_bytes());
                bytes.extend((float * 2.0).to_ne_bytes());
            }
            DType::C128 => {
                bytes.extend(f64::from(float).to_ne_bytes());
                bytes.extend(f64::from(float * 2.0).to_ne_bytes());
            }
            _ => bytes.extend(&value.to_le_bytes()[..dtype.width()]),
        }
    }
    bytes
}

fn reduced(dtype: DType, by: Reduction, line: Line, index: usize) -> u64 {
    let flag = |value: u64| {
        if dtype == DType::Bool {
            value.min(1)
        } else {
            value
        }
    };
    let all = line.ranks().map(|rank| flag(number(rank, index)));
    match by {
        Reduction::Sum => flag(all.sum()),
        Reduction::Max => all.max().unwrap_or(0),
        Reduction::Min => all.min().unwrap_or(0),
    }
}

/// One call of each collective on a line, with these numbers of elements for each.
fn each(world: &World, line: Line, dtype: DType, sizes: &[usize]) -> Result<()> {
    let width = dtype.width();
    let at = line.place(world.rank());
    let bytes = |sizes: &[usize]| sizes.iter().map(|size| size * width).collect::<Vec<_>>();
    let total: usize = sizes.iter().sum();
    let mine = |len: usize| elements(dtype, (0..len).map(|i| number(world.rank(), i)));
    let check = |what: Collective<'_>, send: &[u8], wanted: &[u8]| -> Result<()> {
        let before = world.received();
        let mut recv = vec![0xee; wanted.len()];
        let call = Call {
            operator: "test",
            what,
            dtype,
        };
        world.collective(line, &call, send, &mut recv)?;
        assert!(recv == wanted, "{what:?} of {dtype}, {sizes:?}, {line:?}");
        let moved = what.received(at, line.len, send.len(), width);
        assert_eq!(world.received() - before, moved as u64, "{what:?}");
        Ok(())
    };

    let counts = bytes(sizes);
    let gathered = line
        .ranks()
        .zip(sizes)
        .flat_map(|(rank, &size)| (0..size).map(move |i| number(rank, i)));
    let wanted = elements(dtype, gathered);
    let what = Collective::AllGather { counts: &counts };
    check(what, &mine(sizes[at]), &wanted)?;

    // The rank at `p` sends `sizes[(p + q) % len]` elements to the one at `q`, so it receives as many.
    let turned = |p: usize| (0..line.len).map(move |q| sizes[(p + q) % line.len]);
    let send: Vec<usize> = turned(at).map(|size| size * width).collect();
    let from = line.ranks().enumerate().flat_map(|(p, rank)| {
        let start: usize = turned(p).take(at).sum();
        (start..start + sizes[(p + at) % line.len]).map(move |i| number(rank, i))
    });
    let wanted = elements(dtype, from);
    let what = Collective::AllToAll {
        send: &send,
        recv: &send,
    };
    check(what, &mine(total), &wanted)?;

    for by in Reduction::ALL {
        if by.check(dtype).is_err() {
            continue;
        }
        let start: usize = sizes[..at].iter().sum();
        let part = (start..start + sizes[at]).map(|i| reduced(dtype, by, line, i));
        let wanted = elements(dtype, part);
        let counts = &counts;
        check(
            Collective::ReduceScatter { counts, by },
            &mine(total),
            &wanted,
        )?;
        let whole = (0..total).map(|i| reduced(dtype, by, line, i));
        check(
            Collective::AllReduce { by },
            &mine(total),
            &elements(dtype, whole),
        )?;
    }
    check(Collective::Barrier, &[], &[])
}

/// Sizes on both sides of every limit within, and none at all.
fn sizes(random: &mut Random, ranks: usize) -> Vec<usize> {
    let most = [1, 4, 200, 3000, 40_000][random.below(5)];
    (0..ranks)
        .map(|_| match random.below(4) {
            0 => 0,
            _ => random.below(most + 1),
        })
        .collect()
}

fn everything() -> Result<()> {
    let world = World::mpi()?;
    let line = Line::all(world.size());
    let mut random = Random(7);
    for round in 0..6 {
        for dtype in DType::ALL {
            let sizes = match round {
                0 => vec![0; line.len],
                _ => sizes(&mut random, line.len),
            };
            each(&world, line, dtype, &sizes)?;
        }
    }
    // More than one chunk of what is reduced, parts that are no multiple of it, and one rank that has everything.
    for (dtype, many) in [(DType::I32, 300_001), (DType::C128, 150_000)] {
        let large: Vec<usize> = (0..line.len).map(|at| many + at).collect();
        each(&world, line, dtype, &large)?;
        let one = |at: usize| many * usize::from(at == 0);
        each(
            &world,
            line,
            dtype,
            &(0..line.len).map(one).collect::<Vec<_>>(),
        )?;
    }
    Ok(())
}

/// MPI has a limit for one message, which is far below what a tensor may have.
fn several_messages() -> Result<()> {
    let world = World::mpi()?;
    let line = Line::all(world.size());
    let counts = [70 << 20, 5];
    let mine = vec![world.rank() as u8 + 1; counts[world.rank()]];
    let mut recv = vec![0; counts.iter().sum()];
    let call = Call {
        operator: "test",
        what: Collective::AllGather { counts: &counts },
        dtype: DType::U8,
    };
    world.collective(line, &call, &mine, &mut recv)?;
    let (first, second) = recv.split_at(counts[0]);
    assert!(first.iter().all(|&byte| byte == 1) && second == [2; 5]);
    Ok(())
}

/// Every change from one split to another and to the whole, of a tensor whose pieces are longer than a step.
fn rows_in_steps() -> Result<()> {
    let world = World::mpi()?;
    let spread = Spread::new(Cpu, world.clone(), Mesh::new(&[world.size()])?)?;
    let shape = [601, 2, 4001];
    let count = shape.iter().product::<usize>();
    let whole = Tensor::from_vec((0..count as u32).collect(), &shape)?;
    let ways = [0, 1, 2].map(Sbp::Split);
    for from in ways {
        let x = spread.from_whole(whole.clone(), &[from])?;
        for to in ways.into_iter().chain([Sbp::Broadcast]) {
            let moved = x.to_sbp(&[to])?;
            let wanted = spread.from_whole(whole.clone(), &[to])?;
            let same = moved.to_local().to_vec::<u32>()? == wanted.to_local().to_vec::<u32>()?;
            assert!(same, "{from} to {to}");
        }
    }
    Ok(())
}

fn lines() -> Result<()> {
    let world = World::mpi()?;
    let mesh = Mesh::new(&[2, 2])?;
    for round in 0..20 {
        for axis in [0, 1] {
            // Lines beside each other are busy with different things.
            let line = mesh.line(axis, world.rank());
            let mut random = Random((round * 2 + axis + line.first * 100) as u64);
            let dtype = DType::ALL[random.below(15)];
            each(&world, line, dtype, &sizes(&mut random, 2))?;
        }
        each(&world, Line::all(4), DType::I32, &[1, 0, 3, 1000])?;
    }
    Ok(())
}

fn bits() -> Result<()> {
    let world = World::mpi()?;
    let line = Line::all(world.size());
    let value = |rank: usize, i: usize| {
        let mut random = Random((rank * 1_000_003 + i) as u64);
        (random.below(1 << 24) as f32 - (1 << 23) as f32) * [1e-6, 1.0, 1e4][random.below(3)]
    };
    for len in [10, 5000, 1_000_003] {
        let row = |rank: usize| (0..len).flat_map(move |i| value(rank, i).to_ne_bytes());
        let send: Vec<u8> = row(world.rank()).collect();
        let mut recv = vec![0; send.len()];
        let call = Call {
            operator: "test",
            what: Collective::AllReduce { by: Reduction::Sum },
            dtype: DType::F32,
        };
        world.collective(line, &call, &send, &mut recv)?;
        for (i, got) in recv.chunks(4).enumerate() {
            let sum = line.ranks().map(|rank| value(rank, i)).reduce(|a, b| a + b);
            assert_eq!(
                got,
                sum.unwrap_or(0.0).to_ne_bytes(),
                "element {i} of {len}"
            );
        }
    }
    Ok(())
}

fn nan() -> Result<()> {
    let world = World::mpi()?;
    let line = Line::all(world.size());
    // Element `i` is NaN on rank `i`, and on no rank after the last.
    for len in [line.len + 1, 10_000] {
        let value = |i: usize| {
            if i == world.rank() {
                f64::NAN
            } else {
                i as f64
            }
        };
        let send: Vec<u8> = (0..len).flat_map(|i| value(i).to_ne_bytes()).collect();
        for by in [Reduction::Max, Reduction::Min] {
            let mut recv = vec![0; send.len()];
            let call = Call {
                operator: "test",
                what: Collective::AllReduce { by },
                dtype: DType::F64,
            };
            world.collective(line, &call, &send, &mut recv)?;
            for (i, got) in recv.chunks(8).enumerate() {
                let got = f64::from_ne_bytes(got.try_into().unwrap());
                assert!(if i < line.len {
                    got.is_nan()
                } else {
                    got == i as f64
                });
            }
        }
    }
    Ok(())
}

fn messages() -> Result<()> {
    let world = World::mpi()?;
    let line = Line::all(world.size());
    for most in [0, 5, 1024, 1025, 100_000] {
        let message = |rank: usize| (0..most * rank / line.len).map(move |i| number(rank, i) as u8);
        let mine: Vec<u8> = message(world.rank()).collect();
        let all = world.tell(line, "test", &mine)?;
        let wanted: Vec<Vec<u8>> = line.ranks().map(|rank| message(rank).collect()).collect();
        assert_eq!(all, wanted);
    }
    Ok(())
}

fn long_records() -> Result<()> {
    let world = World::mpi()?;
    let line = Line::all(world.size());
    let operator = "long ".repeat(1000);
    for size in [3, 3000] {
        let send = vec![world.rank() as u8; part(size, line.len, world.rank()).len()];
        let counts: Vec<usize> = (0..line.len)
            .map(|at| part(size, line.len, at).len())
            .collect();
        let call = Call {
            operator: &operator,
            what: Collective::AllGather { counts: &counts },
            dtype: DType::U8,
        };
        let mut recv = vec![9; size];
        world.collective(line, &call, &send, &mut recv)?;
        for (at, &count) in counts.iter().enumerate() {
            assert_eq!(recv.iter().filter(|&&byte| byte == at as u8).count(), count);
        }
    }
    Ok(())
}
