//! Moving elements, or rows of them, from resolved byte offsets to packed memory. Only widths matter here.
//!
//! Rows of a source that is not near enough in the caches are asked for a strip ahead of the one that is moved, into the
//! second cache: it has far more requests on their way at once than the first, which would hold everything up.

use std::ops::Range;

use super::direct::Place;

use super::strip::Offsets;
use super::words::{Words, words_of};
use crate::kernels::copy::stream;
use crate::kernels::index::{Bounds, OUTSIDE, STRIP};
use crate::kernels::loops::{CACHED, Loops};
use crate::kernels::{caches, lines, prefetch};

/// How many lines of the source are on their way while others are moved.
const AHEAD: usize = 128;
/// No more lines of a row than this are asked for; the processor sees by itself that a longer row goes on.
const MOST: usize = 64;
/// Bytes of a row of several lines.
const SEVERAL: usize = 512;
/// Two stretches of this many bytes stay in the caches while others pass through.
const STRETCH: usize = 128 << 10;
/// Bytes in a cache line.
pub(super) const LINE: usize = 64;

/// Sources `pitch` bytes apart, each read at the same offsets; and what is read after them.
#[derive(Clone, Copy)]
pub(super) struct Task<'s> {
    pub(super) source: *const u8,
    pub(super) pitch: isize,
    pub(super) repeat: usize,
    pub(super) offsets: Offsets<'s>,
    pub(super) dst: *mut u8,
    pub(super) next: (*const u8, Offsets<'s>),
}

impl Task<'_> {
    /// Visits each row: where it is read, if it is inside, and where it goes. Asks for later ones meanwhile, unless
    /// nothing is far.
    #[inline(always)]
    pub(super) fn rows<const FAR: bool>(
        self,
        bytes: usize,
        reach: Reach,
        mut visit: impl FnMut(Option<*const u8>, *mut u8),
    ) {
        let offsets = self.offsets;
        let early = match FAR && self.repeat > 1 {
            true => AHEAD.div_ceil(offsets.cells.len() * reach.lines),
            false => 1,
        };
        let mut to = self.dst;
        for r in 0..self.repeat {
            let source = |r: usize| self.source.wrapping_offset(r as isize * self.pitch);
            let (later, ahead) = if r + early < self.repeat {
                (source(r + early), offsets)
            } else if r + 1 == self.repeat {
                self.next
            } else {
                (source(r), Offsets::NONE)
            };
            let from = source(r);
            let mut row = |cell: usize| {
                visit((cell != OUTSIDE).then(|| offsets.from(from, cell)), to);
                to = to.wrapping_add(bytes);
            };
            let both = match FAR {
                true => ahead.cells.len().min(offsets.cells.len()),
                false => 0,
            };
            let (with, without) = offsets.cells.split_at(both);
            for (&cell, &soon) in with.iter().zip(ahead.cells) {
                reach.ask(ahead.from(later, soon));
                row(cell);
            }
            without.iter().for_each(|&cell| row(cell));
        }
    }
}

/// The lines that a row lies on, from where it starts.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    start: isize,
    lines: usize,
    /// The last byte, counted from the start: it may be on a line of its own.
    last: usize,
}

impl Reach {
    /// One element or word.
    pub(super) const ONE: Reach = Reach {
        start: 0,
        lines: 1,
        last: 0,
    };

    fn of(row: &Loops<1>, width: usize) -> Reach {
        if !row.is_one_row() {
            return Reach::ONE;
        }
        let span = (row.len() as isize - 1) * row.steps()[0] * width as isize;
        let bytes = span.unsigned_abs() + width;
        // Packed rows start anywhere in a line, unless a few of them fill it or each fills a few.
        let even = bytes.is_multiple_of(LINE) || bytes < LINE && bytes.is_power_of_two();
        Reach {
            start: span.min(0),
            lines: (bytes.div_ceil(LINE) + usize::from(!even)).min(MOST),
            last: bytes - 1,
        }
    }

    /// Asks for the row at an address, which need not be valid.
    #[inline(always)]
    fn ask(self, row: *const u8) {
        for line in 0..self.lines {
            let byte = (line * LINE).min(self.last);
            prefetch::second(row.wrapping_offset(self.start + byte as isize));
        }
    }
}

/// Moves rows of one shape.
pub(super) struct Mover {
    row: Loops<1>,
    width: usize,
    /// The fill element, over and over.
    fill: [u8; 16],
    filled: bool,
    far: bool,
    reach: Reach,
    kind: Kind,
}

enum Kind {
    /// A row is as wide as a machine word. Moves rows that are all inside, and any rows.
    Word(Words, Words),
    /// A row is packed.
    Packed(Copy),
    /// A row has strides of its own; a span of it is moved by this.
    Strided(unsafe fn(*const u8, isize, *mut u8, usize)),
}

/// How a packed row is copied.
enum Copy {
    /// Its head and its tail, of so many bytes each, which may overlap.
    Ends(usize),
    /// By lines, in wide registers.
    Lines,
    /// By the machine's own copy.
    Whole,
    /// By lines, as what is too large for the caches.
    Streamed,
}

impl Mover {
    /// For rows of `row`, of elements of `width` bytes, in a source of `rows` rows; `moves` of them go to `dst`.
    pub(super) fn new(
        width: usize,
        row: Loops<1>,
        rows: usize,
        bounds: Bounds,
        moves: usize,
        dst: *const u8,
    ) -> Mover {
        let [step] = row.steps();
        let bytes = row.len() * width;
        let packed = row.len() == 1 || row.is_one_row() && step == 1;
        let (fill, filled) = match bounds {
            Bounds::Fill(element) => (std::array::from_fn(|i| element[i & (width - 1)]), true),
            _ => ([0; 16], false),
        };
        let source = rows.saturating_mul(bytes);
        // Of packed rows of several lines the processor asks for enough by itself while they are in the last cache.
        let by_itself = packed && bytes >= SEVERAL && source <= caches::last() / 4;
        let far = source > CACHED && !by_itself;
        let word = |word: fn(bool, bool) -> Words| Kind::Word(word(false, far), word(filled, far));
        let kind = match (packed, bytes) {
            (true, 1) => word(words_of::<u8>),
            (true, 2) => word(words_of::<u16>),
            (true, 4) => word(words_of::<u32>),
            (true, 8) => word(words_of::<u64>),
            (true, 16) => word(words_of::<[u64; 2]>),
            (true, 3) => Kind::Packed(Copy::Ends(2)),
            (true, ..8) => Kind::Packed(Copy::Ends(4)),
            (true, ..16) => Kind::Packed(Copy::Ends(8)),
            (true, ..=32) => Kind::Packed(Copy::Ends(16)),
            (true, ..LINE) => Kind::Packed(Copy::Ends(32)),
            (true, _) => {
                let whole_lines = bytes.is_multiple_of(LINE) && dst.addr().is_multiple_of(LINE);
                // Ordinary stores serve an output better that mostly stays in the last cache.
                let large = !stream::stays_in_cache(moves.saturating_mul(bytes));
                Kind::Packed(match whole_lines && large {
                    true => Copy::Streamed,
                    false if source > CACHED && lines::are_worth_it(bytes) => Copy::Lines,
                    false => Copy::Whole,
                })
            }
            (false, _) => Kind::Strided(match width {
                1 => span::<u8>,
                2 => span::<u16>,
                4 => span::<u32>,
                8 => span::<u64>,
                _ => span::<[u64; 2]>,
            }),
        };
        Mover {
            reach: Reach::of(&row, width),
            row,
            width,
            fill,
            filled,
            far,
            kind,
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn row_bytes(&self) -> usize {
        self.row.len() * self.width
    }

    /// Where short rows are: in the caches, also if they will be when a stretch of `cells` of them is read at
    /// `indices` places, most of its lines more than once. `None` if rows are not packed.
    pub(super) fn place(&self, cells: usize, indices: usize) -> Option<Place> {
        let dense = cells.saturating_mul(self.row_bytes()) <= STRETCH && indices >= cells / 4;
        match self.kind {
            Kind::Strided(_) => None,
            _ if self.far && !dense => Some(Place::Far),
            _ => Some(Place::Near),
        }
    }

    /// Whether rows are asked for: the source is not in the caches, or not near enough.
    pub(super) fn is_far(&self) -> bool {
        self.far
    }

    /// How many rows to resolve at a time, so that as many lines are on their way as should be.
    pub(super) fn strip(&self) -> usize {
        const { assert!(AHEAD <= STRIP) };
        match self.far {
            true => AHEAD / self.reach.lines,
            false => AHEAD,
        }
    }

    /// Asks for the rows of the first strip, which no strip before has asked for.
    pub(super) fn ask(&self, source: *const u8, offsets: Offsets) {
        if self.far {
            for &cell in offsets.cells {
                self.reach.ask(offsets.from(source, cell));
            }
        }
    }

    /// Moves the part `inners` of each row.
    ///
    /// # Safety
    /// K1, K2, K4 for each row, unless it is outside; the destination has room for the whole rows, under K3.
    /// Call [`Mover::finish`] after the last.
    pub(super) unsafe fn rows(&self, task: Task, inners: Range<usize>) {
        // SAFETY: the caller's.
        unsafe {
            match &self.kind {
                Kind::Word(inside, any) => {
                    let words = match self.filled && !task.offsets.all_inside() {
                        true => any,
                        false => inside,
                    };
                    words(task, &self.fill);
                }
                Kind::Packed(Copy::Ends(2)) => self.packed(task, inners, ends::<u16>),
                Kind::Packed(Copy::Ends(4)) => self.packed(task, inners, ends::<u32>),
                Kind::Packed(Copy::Ends(8)) => self.packed(task, inners, ends::<u64>),
                Kind::Packed(Copy::Ends(16)) => self.packed(task, inners, ends::<[u64; 2]>),
                Kind::Packed(Copy::Ends(32)) => self.packed(task, inners, ends::<[u64; 4]>),
                Kind::Packed(Copy::Streamed) => self.packed(task, inners, |from, to, bytes| {
                    stream::in_order(from, to, bytes / LINE);
                }),
                Kind::Packed(Copy::Lines) => self.packed(task, inners, |from, to, bytes| {
                    lines::copy(from, to, bytes / LINE);
                }),
                Kind::Packed(_) => self.packed(task, inners, |from, to, bytes| {
                    from.copy_to_nonoverlapping(to, bytes);
                }),
                Kind::Strided(span) => {
                    let ([step], width) = (self.row.steps(), self.width as isize);
                    self.each_row(task, |from, to| match from {
                        Some(from) => self.row.spans(inners.clone(), |at, len, [offset]| {
                            span(
                                from.offset(offset * width),
                                step,
                                to.add(at * self.width),
                                len,
                            );
                        }),
                        None => self.pattern(to.add(inners.start * self.width), inners.len()),
                    });
                }
            }
        }
    }

    /// Makes what this thread has moved visible to others.
    pub(super) fn finish(&self) {
        if matches!(self.kind, Kind::Packed(Copy::Streamed)) {
            stream::fence();
        }
    }

    /// # Safety
    /// As [`Mover::rows`], with packed rows; `copy` may be called for the part of a row.
    #[inline(always)]
    unsafe fn packed(
        &self,
        task: Task,
        inners: Range<usize>,
        copy: impl Fn(*const u8, *mut u8, usize),
    ) {
        let (skip, bytes) = (inners.start * self.width, inners.len() * self.width);
        // SAFETY: the caller's.
        self.each_row(task, |from, to| unsafe {
            match from {
                Some(from) => copy(from.add(skip), to.add(skip), bytes),
                None => self.pattern(to.add(skip), inners.len()),
            }
        });
    }

    #[inline(always)]
    fn each_row(&self, task: Task, visit: impl FnMut(Option<*const u8>, *mut u8)) {
        if self.far {
            task.rows::<true>(self.row_bytes(), self.reach, visit);
        } else {
            task.rows::<false>(self.row_bytes(), self.reach, visit);
        }
    }

    /// # Safety
    /// K3 for `len` elements.
    unsafe fn pattern(&self, to: *mut u8, len: usize) {
        for i in 0..len {
            // SAFETY: the caller's; an element is at most 16 bytes.
            unsafe {
                to.add(i * self.width)
                    .copy_from_nonoverlapping(self.fill.as_ptr(), self.width)
            };
        }
    }
}

/// Copies a row of one to two words.
#[inline(always)]
fn ends<W: std::marker::Copy>(from: *const u8, to: *mut u8, bytes: usize) {
    let tail = bytes - size_of::<W>();
    // SAFETY: K1 and K3, which whoever chose this has for the row: both words lie inside it.
    unsafe {
        let (head, last) = (
            from.cast::<W>().read_unaligned(),
            from.add(tail).cast::<W>().read_unaligned(),
        );
        to.cast::<W>().write_unaligned(head);
        to.add(tail).cast::<W>().write_unaligned(last);
    }
}

/// # Safety
/// K1 to K4 for `len` elements, `step` apart in the source and packed in the destination.
unsafe fn span<W: std::marker::Copy>(from: *const u8, step: isize, to: *mut u8, len: usize) {
    let (from, to) = (from.cast::<W>(), to.cast::<W>());
    // SAFETY: the caller's. A step of two is spelled out so that it vectorises.
    unsafe {
        if step == 2 {
            for i in 0..len as isize {
                to.offset(i).write(*from.offset(i * 2));
            }
        } else {
            for i in 0..len as isize {
                to.offset(i).write(*from.offset(i * step));
            }
        }
    }
}
