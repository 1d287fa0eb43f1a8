//! Decides how a copy is cut into blocks and how each block is moved. A block takes some indices of every
//! axis; what is left over becomes steps from block to block. Blocks are sized for the caches: small enough
//! that what they read and stage stays near, large enough that writes come in long stretches.

use super::backwards;
use super::collapse::{Axes, Axis, Simplest};
use super::steps::Steps;
use super::stream;
use super::tile::SLACK;
use super::turned::{self, PIECE};
use crate::kernels::{caches, lines};
use smallvec::SmallVec;

/// Bytes in a cache line.
const LINE: usize = 64;
/// Bytes of a block that is built or read once and written many times: most of the nearest cache.
pub(super) const NEAR: usize = 16 << 10;
/// Bytes of a block that turns axes: well inside the second cache.
const TURN: usize = 64 << 10;
/// Outputs this many bytes and larger whose rows collide are turned past the caches, also where they would stay in the last
/// one: lines that are pushed out before they are used again are asked for twice.
const TURNED: usize = 1 << 20;
/// Lines that are a multiple of so many bytes apart fall into one set of the nearest cache.
const COLLIDING: isize = 4 << 10;
/// Runs this many bytes and longer are copied whole.
const FAR: usize = 64 << 10;
/// Blocks that are turned while others leave are no smaller than this many bytes, if there is a choice.
const SMALL_TURN: usize = 8 << 10;
/// Bytes along the source's run in a block that turns axes: whole lines, and enough that fetching them one
/// stride apart is worth opening a page of memory.
const RUN_IN_TURN: usize = 8 * LINE;
/// Rows in a block that turns axes, at most: narrow cells would have too many short ones.
const ROWS: usize = 256;
/// A run this long is written straight from the source.
const LONG_RUN: usize = 2 << 10;
/// Bytes of a block of whole lines, which are asked for at once and written at once: memory that has to turn between
/// reading and writing does less of both.
const BURST: usize = 32 << 10;
/// A block of shorter runs reads memory at so many places in turn: each is foreseen by the processor on its own, which
/// asks for more at once.
const PLACES: usize = 8;
/// Bytes that it reads at each place.
const SPAN: usize = 64 << 10;
/// Bytes that it reads at each place of runs that are shorter than a piece.
const SHORT_SPAN: usize = 2 << 10;
/// How many bytes further on it asks for longer ones.
const FURTHER: isize = 2 << 10;
/// Rows of this many bytes and more are put one after another without much ado.
const ROW: usize = 256;
/// Cells of a block whose destination has holes.
const HOLED: usize = 2 << 10;
/// From this many bytes on, the source will hardly be in the nearer caches.
const AHEAD: usize = 1 << 20;
/// Below this many packed bytes a destination counts as having holes.
const PACKED: usize = 256;

/// Bytes of the staging area: the largest block, a line of padding for each of its rows, and slack.
pub(super) const STAGE: usize = TURN + LINE * ROWS + SLACK;
/// Bytes of the staging area for blocks that turn nothing.
pub(super) const SMALL_STAGE: usize = NEAR + SLACK;

/// How a block reaches the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Its cells or runs are copied one by one to where they belong.
    InPlace,
    /// It is one run in the source too.
    Run,
    /// It is runs of whole lines, forwards or backwards, which go straight to where they belong.
    Lines,
    /// As `Lines`, forwards from a few places in turn, while what is so many bytes further on at each is asked for, or what
    /// the next block has, place by place.
    Places(Option<isize>),
    /// It is built in a staging area, then written out in one stretch.
    Staged,
    /// It is turned tile by tile: past the caches while the block before is written, and otherwise straight to where it
    /// belongs.
    Turned,
    /// As `Staged`, but the first axis of the block steps from stretch to stretch, this many bytes apart.
    Rows(isize),
}

/// A copy cut into blocks.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) steps: Steps,
    /// The axes of one whole block, destination strides as `how` wants them.
    pub(super) block: Axes,
    pub(super) how: Move,
    /// Whether the output is too large for the caches, and written as `stream` does.
    pub(super) stream: bool,
    /// Whether the next block's source is asked for ahead of time, where `how` does not see to it.
    pub(super) ahead: bool,
}

impl Plan {
    /// Cuts a copy into blocks: `bytes` of an output of `total`, with a last cache of `cache` bytes.
    pub(super) fn new(simple: &Simplest, bytes: usize, total: usize, cache: usize) -> Plan {
        let past = !stays(&simple.axes, total, cache);
        let mut plan = Plan::choose(simple, past);
        let cells = cells_repeat(&simple.axes, simple.cell);
        if past && (partly_stays(total, cache) || cells && stream::asks()) {
            // What is written over and over goes through the caches. What is built anew for each stretch has no time to
            // wait for memory.
            let through = Plan::choose(simple, false);
            let repeated = through.steps.repeat();
            if repeated && matches!(through.how, Move::Staged | Move::Run)
                || cells
                || row_repeats(&simple.axes) && through.how == Move::InPlace
            {
                plan = through;
            }
        }
        if plan.how == Move::Turned
            && total >= TURNED
            && rows_collide(&plan.block, simple.cell)
            && turned::are_lines(&simple.axes, simple.dst, simple.cell)
        {
            plan.stream = true;
        }
        plan.ahead &= bytes >= AHEAD;
        plan
    }

    fn choose(simple: &Simplest, stream: bool) -> Plan {
        let axes = &simple.axes[..];
        let cell = simple.cell;
        let packed = packed_from(axes, cell);
        let packed_bytes = axes[packed..]
            .iter()
            .fold(cell, |bytes, axis| bytes * axis.size);
        let mut take: SmallVec<[usize; 8]> = SmallVec::from_elem(1, axes.len());
        if packed == axes.len() || packed_bytes < PACKED {
            greedy(&mut take, axes, 0, 1, HOLED);
            return Plan::cut(axes, &take, Move::InPlace, false);
        }
        let last = axes.len() - 1;
        let run = axes[last].src == cell as isize;
        let bytes = axes[last].size * cell;
        let back = axes[last].src == -(cell as isize) && backwards::can();
        if stream && (run && bytes < FAR || back) && whole_lines(axes, simple.dst, cell) {
            let how = bursts(&mut take, axes, cell);
            return Plan::cut(axes, &take, how, stream);
        }
        if run && !stream && row_repeats(axes) && lines::are_worth_it(bytes) {
            greedy(&mut take, axes, packed.max(last - 1), cell, TURN);
            return Plan::cut(axes, &take, Move::InPlace, false);
        }
        if run && bytes >= LONG_RUN {
            let repeated = axes.iter().any(|axis| axis.src == 0);
            let limit = if repeated { NEAR } else { TURN };
            greedy(&mut take, axes, last, cell, limit);
            return Plan::cut(axes, &take, Move::Run, stream);
        }
        let spread = !stream && cells_repeat(axes, cell);
        let turn = turned(axes, cell).filter(|_| !spread);
        if let Some(turn) = turn
            && turned::fits(axes, turn, cell)
            && (!stream || turned::are_lines(axes, simple.dst, cell))
        {
            planes(&mut take, axes, turn, cell, stream);
            return Plan::cut(axes, &take, Move::Turned, stream);
        }
        if let Some(turn) = turn
            && !is_near(axes, turn, packed)
        {
            let reach = axes[turn].src.unsigned_abs();
            // Rows that do not start on a line are written in parts at both ends: fewer and longer ones.
            let aligned = axes[turn].dst % LINE as isize == 0;
            let run = if aligned {
                RUN_IN_TURN
            } else {
                RUN_IN_TURN / 4
            };
            take[turn] = axes[turn].size.min(run.div_ceil(reach)).min(ROWS);
            let row = TURN / take[turn] / LINE * LINE;
            greedy(&mut take, axes, packed.max(turn + 1), cell, row);
            let how = Move::Rows(axes[turn].dst);
            return Plan::cut(axes, &take, how, stream);
        }
        let repeated = axes.iter().any(|axis| axis.src == 0);
        // Rows are quickly put one after another; what is made of narrow cells is worth keeping.
        let rows = repeated && !stream && run && bytes >= ROW;
        let near = if rows { NEAR / 4 } else { NEAR };
        greedy(&mut take, axes, packed, cell, near);
        let how = if !spread && (repeated || stream) {
            Move::Staged
        } else {
            Move::InPlace
        };
        Plan::cut(axes, &take, how, stream)
    }

    /// The plan whose blocks take `take[i]` indices of axis `i`.
    fn cut(axes: &[Axis], take: &[usize], how: Move, stream: bool) -> Plan {
        let (mut steps, mut block) = Steps::of(axes, take);
        match how {
            Move::Rows(_) => steps.along_the_source(),
            Move::Turned | Move::Places(None) => steps.page_by_page(),
            _ => {}
        }
        if let Move::Rows(_) = how {
            // Rows a little more than whole lines apart, lest they all fall into the same few cache sets.
            let row = block
                .get(1)
                .map_or(LINE, |first| first.size * first.dst as usize);
            block[0].dst = (row.next_multiple_of(LINE) + LINE) as isize;
        }
        Plan {
            steps,
            block,
            how,
            stream,
            ahead: true,
        }
    }
}

/// Whether an output of `total` bytes stays in a cache of `cache` bytes with what is still to be read. A source that is
/// read in order, or over and over, has little; one that is read here and there has lines that are wanted again. The
/// bounds are where writing past the caches was measured to overtake.
pub(super) fn stays(axes: &[Axis], total: usize, cache: usize) -> bool {
    let in_order = axes.len() == 1 || axes.iter().any(|axis| axis.src == 0);
    let most = if in_order {
        stays_in_order(cache)
    } else {
        cache / 8 * 3
    };
    total < most
}

/// Whether part of an output of `total` bytes is still in a cache of `cache` bytes when its memory is used again, and it is
/// therefore better written there; where lines are asked for before, they are anyway.
pub(super) fn partly_stays(total: usize, cache: usize) -> bool {
    total < cache.saturating_mul(4) && !stream::asks()
}

/// Whether the rows that a tile is turned to push each other out of the nearest cache; of 16-byte cells there are too few.
/// More rows than a set has room for, in two or four sets, were measured to do no harm.
fn rows_collide(block: &[Axis], cell: usize) -> bool {
    let turned = |axis: &&Axis| axis.src == cell as isize;
    let collides = |axis: &Axis| axis.dst % COLLIDING == 0;
    cell <= 8 && block.iter().find(turned).is_some_and(collides)
}

/// Whether each cell is repeated for a line of the output and longer.
fn cells_repeat(axes: &[Axis], cell: usize) -> bool {
    let last = axes.last();
    last.is_some_and(|axis| axis.src == 0 && axis.size * cell >= LINE)
}

/// Whether what the last axis has is repeated before anything else comes.
fn row_repeats(axes: &[Axis]) -> bool {
    matches!(axes, [.., repeated, _] if repeated.src == 0)
}

/// How large an output may be to stay, of a source that is read in order.
pub(super) fn stays_in_order(cache: usize) -> usize {
    cache / 4 * 3
}

/// Whether runs are whole lines, and lines of the output, none of them read twice.
fn whole_lines(axes: &[Axis], dst: *const u8, cell: usize) -> bool {
    let Some((last, outer)) = axes.split_last() else {
        return false;
    };
    (last.size * cell).is_multiple_of(LINE)
        && (dst as usize).is_multiple_of(LINE)
        && outer.iter().all(|axis| axis.dst % LINE as isize == 0)
        && outer.iter().all(|axis| axis.src != 0)
}

/// Takes runs of whole lines: a few that follow each other in the output, of each of many that follow each other in the
/// source, so that memory is read at a few places for long; where all follow each other in both, a burst of them.
fn bursts(take: &mut [usize], axes: &[Axis], cell: usize) -> Move {
    let last = axes.len() - 1;
    take[last] = axes[last].size.min(BURST / cell);
    let mut order: SmallVec<[usize; 8]> = (0..last).collect();
    order.sort_by_key(|&axis| axes[axis].src.unsigned_abs());
    let Some(&near) = order.first() else {
        return Move::Lines;
    };
    let run = take[last] * cell;
    if near == last - 1 || axes[last].src < 0 {
        take[near] = axes[near].size.min((BURST / run).max(1));
        return Move::Lines;
    }
    let short = run < PIECE;
    // Of short runs no more than is asked for at once.
    let span = if short { SHORT_SPAN } else { SPAN };
    take[last - 1] = axes[last - 1].size.min(PLACES);
    let mut used = run;
    for axis in order.into_iter().filter(|&axis| axis != last - 1) {
        take[axis] = axes[axis].size.min((span / used).max(1));
        used *= take[axis];
    }
    // Runs that follow each other are one.
    let next = axes[near].src;
    let further = match next.unsigned_abs() == run {
        true => next.signum() * FURTHER,
        false => next,
    };
    Move::Places((!short).then_some(further))
}

/// Takes planes that are turned: a piece of the source's run and of the output's rows, continued by other axes where one
/// of both is shorter; and where that makes a small block, what follows on.
fn planes(take: &mut [usize], axes: &[Axis], turn: usize, cell: usize, stream: bool) {
    let (last, line) = (axes.len() - 1, LINE / cell);
    let far = axes[last].src.unsigned_abs() >= turned::FAR_ROWS;
    let (run, row) = match stream {
        true => turned::pieces(cell, far, caches::nearest_is_small()),
        // Where the source is in a cache, it does not mind in what pieces it is read.
        false => (PIECE, turned::row(cell, far)),
    };
    take[turn] = piece(axes[turn].size, run, cell);
    let (row, room) = (
        row.max(SMALL_TURN / take[turn]),
        turned::BLOCK / cell / take[turn] / line * line,
    );
    take[last] = piece(axes[last].size, row, cell).min(room);
    let strides: [Stride; 2] = [|axis| axis.src, |axis| axis.dst];
    for stride in strides {
        let run = run_of(take, axes, stride, cell);
        go_on(take, axes, stride, run, PIECE / run, cell);
    }
    for stride in strides {
        let bytes = take.iter().product::<usize>() * cell;
        let run = run_of(take, axes, stride, cell);
        go_on(take, axes, stride, run, NEAR / bytes, cell);
    }
}

/// A stride of an axis.
type Stride = fn(&Axis) -> isize;

/// How many cells of an axis make a piece of so many bytes that is turned: all of a few, and otherwise that or as little
/// more as leaves a whole tile for the last block.
fn piece(size: usize, bytes: usize, cell: usize) -> usize {
    let (line, whole) = (LINE / cell, (bytes / LINE * LINE / cell));
    if size < 2 * whole {
        return size;
    }
    let rest_fits = |take: &usize| size.is_multiple_of(*take) || size % take >= line;
    let more = (0..4).map(|lines| whole + lines * line);
    more.into_iter().find(rest_fits).unwrap_or(whole)
}

/// Bytes that follow each other in what is taken.
fn run_of(take: &[usize], axes: &[Axis], stride: Stride, cell: usize) -> usize {
    let mut run = cell;
    while let Some(at) = axes.iter().position(|axis| stride(axis) == run as isize) {
        run *= take[at];
        if take[at] < axes[at].size {
            break;
        }
    }
    run
}

/// Takes up to `most` of the axis that continues a run, if it is not taken yet and the block has room.
fn go_on(take: &mut [usize], axes: &[Axis], stride: Stride, run: usize, most: usize, cell: usize) {
    let most = most.min(turned::BLOCK / (take.iter().product::<usize>() * cell));
    let next = axes.iter().position(|axis| stride(axis) == run as isize);
    if let Some(next) = next.filter(|&next| take[next] == 1) {
        take[next] = axes[next].size.min(most.max(1));
    }
}

/// The first axis from which on the destination is packed.
pub(super) fn packed_from(axes: &[Axis], cell: usize) -> usize {
    let mut expected = cell as isize;
    let mut from = axes.len();
    for (i, axis) in axes.iter().enumerate().rev() {
        if axis.dst != expected {
            break;
        }
        from = i;
        expected *= axis.size as isize;
    }
    from
}

/// Takes whole axes from the last up to `first` while `limit` allows, and of the next one what still fits.
fn greedy(take: &mut [usize], axes: &[Axis], first: usize, unit: usize, limit: usize) {
    let mut used = unit;
    for i in (first..axes.len()).rev() {
        take[i] = axes[i].size.min((limit / used).max(1));
        if take[i] < axes[i].size {
            // Whole lines, so that no line is written in parts.
            let lines = LINE >> used.trailing_zeros().min(LINE.ilog2());
            take[i] = (take[i] / lines * lines).max(take[i].min(lines));
            break;
        }
        used *= take[i];
    }
}

/// The axis along which the source shares cache lines, if it is another one than the output's last.
fn turned(axes: &[Axis], cell: usize) -> Option<usize> {
    let last = axes.len() - 1;
    let run = axes[last].src == cell as isize;
    let candidates = if run { &axes[..last] } else { axes };
    let (turn, _) = candidates
        .iter()
        .enumerate()
        .filter(|(_, axis)| axis.src != 0 && axis.src.unsigned_abs() < LINE)
        .min_by_key(|(_, axis)| axis.src.unsigned_abs())?;
    let other = turn != last && !(run && axes[last].size * cell >= LINE);
    other.then_some(turn)
}

/// Whether a block that is packed in the output reaches far enough along the axis `turn` to use lines of the source up.
fn is_near(axes: &[Axis], turn: usize, packed: usize) -> bool {
    let axis = axes[turn];
    let enough = axis.size.min((2 * LINE).div_ceil(axis.src.unsigned_abs()));
    turn >= packed && axis.dst as usize * enough <= NEAR
}
