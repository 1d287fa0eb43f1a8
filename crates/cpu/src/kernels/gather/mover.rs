//! Moving elements, or rows of them, from resolved byte offsets to packed memory. Only widths matter here.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::kernels::index::{Bounds, OUTSIDE, STRIP};
use crate::kernels::loops::Loops;

/// The offset of a row outside, under [`Bounds::Fill`].
const NOWHERE: isize = isize::MIN;

/// A source of up to this many bytes stays in the caches, and prefetching it costs more than it gives.
const CACHED: usize = 4 << 20;

/// How many elements ahead to prefetch: about what a core can have under way.
const AHEAD: usize = 24;

/// Cells of a strip of indices, then the byte offsets they stand for.
pub(super) struct Strip([MaybeUninit<usize>; STRIP]);

impl Strip {
    pub(super) fn new() -> Strip {
        Strip([MaybeUninit::uninit(); STRIP])
    }

    /// Room for cells `first` and on.
    pub(super) fn cells(&mut self, first: usize, count: usize) -> &mut [MaybeUninit<usize>] {
        &mut self.0[first..first + count]
    }

    /// Turns the first `count` cells, given their number, into byte offsets.
    ///
    /// # Safety
    /// They were written.
    pub(super) unsafe fn resolve(
        &mut self,
        count: usize,
        offset: impl Fn(usize, usize) -> isize,
    ) -> &[isize] {
        let strip = &mut self.0[..count];
        for (i, slot) in strip.iter_mut().enumerate() {
            // SAFETY: the caller's.
            let cell = unsafe { slot.assume_init() };
            let at = if cell == OUTSIDE { NOWHERE } else { offset(i, cell) };
            slot.write(at as usize);
        }
        // SAFETY: all were written, and any usize is an isize.
        unsafe { std::slice::from_raw_parts(strip.as_ptr().cast(), count) }
    }
}

/// Sources `pitch` bytes apart, each read at the same offsets.
#[derive(Clone, Copy)]
struct Task<'a> {
    source: *const u8,
    pitch: isize,
    repeat: usize,
    offsets: &'a [isize],
    dst: *mut u8,
}

/// Moves rows of one shape.
pub(super) struct Mover {
    row: Loops<1>,
    width: usize,
    /// The fill element, over and over.
    fill: [u8; 16],
    kind: Kind,
}

enum Kind {
    /// A row is as wide as a machine word.
    Word(unsafe fn(Task, &[u8; 16])),
    /// A row is packed.
    Packed,
    /// A row has strides of its own; a span of it is moved by this.
    Strided(unsafe fn(*const u8, isize, *mut u8, usize)),
}

impl Mover {
    /// For rows of `row`, of elements of `width` bytes, in a source of `cells` rows.
    pub(super) fn new(width: usize, row: Loops<1>, cells: usize, bounds: Bounds) -> Mover {
        let [step] = row.steps();
        let bytes = row.len() * width;
        let packed = row.len() == 1 || row.is_one_row() && step == 1;
        let (element, filled) = match bounds {
            Bounds::Fill(element) => (element, true),
            _ => ([0; 16], false),
        };
        let fill = std::array::from_fn(|i| element[i % width]);
        let far = cells.saturating_mul(bytes) > CACHED;
        let kind = match (packed, bytes) {
            (true, 1) => Kind::Word(words_of::<u8>(filled, far)),
            (true, 2) => Kind::Word(words_of::<u16>(filled, far)),
            (true, 4) => Kind::Word(words_of::<u32>(filled, far)),
            (true, 8) => Kind::Word(words_of::<u64>(filled, far)),
            (true, 16) => Kind::Word(words_of::<[u64; 2]>(filled, far)),
            (true, _) => Kind::Packed,
            (false, _) => Kind::Strided(match width {
                1 => span::<u8>,
                2 => span::<u16>,
                4 => span::<u32>,
                8 => span::<u64>,
                _ => span::<[u64; 2]>,
            }),
        };
        Mover { row, width, fill, kind }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn row_bytes(&self) -> usize {
        self.row.len() * self.width
    }

    /// One element from each offset.
    ///
    /// # Safety
    /// As [`Mover::rows`], for rows of one element.
    #[inline]
    pub(super) unsafe fn row(&self, source: *const u8, offsets: &[isize], dst: *mut u8) {
        // SAFETY: the caller's.
        unsafe { self.rows(source, 0, 1, offsets, dst, 0..1) }
    }

    /// From each of `repeat` sources, `pitch` bytes apart, the part `inners` of the row at each offset.
    ///
    /// # Safety
    /// K1, K2, K4 for each row, unless it is nowhere; `dst` has room for the whole rows, under K3.
    pub(super) unsafe fn rows(
        &self,
        source: *const u8,
        pitch: isize,
        repeat: usize,
        offsets: &[isize],
        dst: *mut u8,
        inners: Range<usize>,
    ) {
        let task = Task { source, pitch, repeat, offsets, dst };
        // SAFETY: the caller's.
        unsafe {
            match self.kind {
                Kind::Word(words) => words(task, &self.fill),
                Kind::Packed => {
                    let (skip, bytes) = (inners.start * self.width, inners.len() * self.width);
                    self.each_row(task, |from, to| match from {
                        Some(from) => from.add(skip).copy_to_nonoverlapping(to.add(skip), bytes),
                        None => self.pattern(to.add(skip), inners.len()),
                    });
                }
                Kind::Strided(span) => {
                    let ([step], width) = (self.row.steps(), self.width as isize);
                    self.each_row(task, |from, to| match from {
                        Some(from) => self.row.spans(inners.clone(), |at, len, [offset]| {
                            span(from.offset(offset * width), step, to.add(at * self.width), len);
                        }),
                        None => self.pattern(to.add(inners.start * self.width), inners.len()),
                    });
                }
            }
        }
    }

    /// # Safety
    /// As [`Mover::rows`].
    #[inline]
    unsafe fn each_row(&self, task: Task, visit: impl Fn(Option<*const u8>, *mut u8)) {
        let bytes = self.row_bytes();
        let mut to = task.dst;
        for r in 0..task.repeat as isize {
            for &offset in task.offsets {
                // SAFETY: the caller's.
                unsafe {
                    let from = (offset != NOWHERE).then(|| task.source.offset(r * task.pitch + offset));
                    visit(from, to);
                    to = to.add(bytes);
                }
            }
        }
    }

    /// # Safety
    /// K3 for `len` elements.
    unsafe fn pattern(&self, to: *mut u8, len: usize) {
        for i in 0..len {
            // SAFETY: the caller's; an element is at most 16 bytes.
            unsafe { to.add(i * self.width).copy_from_nonoverlapping(self.fill.as_ptr(), self.width) };
        }
    }
}

fn words_of<W: Copy>(filled: bool, far: bool) -> unsafe fn(Task, &[u8; 16]) {
    match (filled, far) {
        (false, false) => words::<W, false, false>,
        (false, true) => words::<W, false, true>,
        (true, false) => words::<W, true, false>,
        (true, true) => words::<W, true, true>,
    }
}

/// A word may be a row of narrower elements, and so less aligned than its type.
///
/// # Safety
/// As [`Mover::rows`], for rows of one word.
unsafe fn words<W: Copy, const FILLED: bool, const FAR: bool>(task: Task, fill: &[u8; 16]) {
    // SAFETY: a word is at most 16 bytes and any bytes make one.
    let fill = unsafe { fill.as_ptr().cast::<W>().read_unaligned() };
    let mut to = task.dst.cast::<W>();
    for r in 0..task.repeat as isize {
        let source = task.source.wrapping_offset(r * task.pitch);
        for (i, &offset) in task.offsets.iter().enumerate() {
            if FAR && let Some(&later) = task.offsets.get(i + AHEAD) {
                prefetch(source.wrapping_offset(later));
            }
            // SAFETY: the caller's.
            unsafe {
                let word = if FILLED && offset == NOWHERE {
                    fill
                } else {
                    source.offset(offset).cast::<W>().read_unaligned()
                };
                to.write_unaligned(word);
                to = to.add(1);
            }
        }
    }
}

/// # Safety
/// K1 to K4 for `len` elements, `step` apart in the source and packed in the destination.
unsafe fn span<W: Copy>(from: *const u8, step: isize, to: *mut u8, len: usize) {
    let (from, to) = (from.cast::<W>(), to.cast::<W>());
    for i in 0..len as isize {
        // SAFETY: the caller's.
        unsafe { to.offset(i).write(*from.offset(i * step)) };
    }
}

#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint: any address will do, and every x86-64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
