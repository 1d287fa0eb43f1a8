//! Moving elements, or rows of them, from resolved byte offsets to packed memory. Only widths matter here.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::kernels::index::{Bounds, OUTSIDE, STRIP};
use crate::kernels::loops::{AHEAD, CACHED, Loops, prefetch};

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

    /// The first `count` cells, to be read at a fixed stride in bytes.
    ///
    /// # Safety
    /// They were written.
    pub(super) unsafe fn at_stride(&self, count: usize, stride: isize) -> Offsets<'_> {
        let cells = &self.0[..count];
        // SAFETY: the caller's.
        let cells = unsafe { &*(&raw const *cells as *const [usize]) };
        Offsets { cells, stride }
    }

    /// The first `count` cells, replaced by byte offsets, given their number.
    ///
    /// # Safety
    /// They were written.
    pub(super) unsafe fn at_offsets(
        &mut self,
        count: usize,
        offset: impl Fn(usize, usize) -> isize,
    ) -> Offsets<'_> {
        for (i, slot) in self.0[..count].iter_mut().enumerate() {
            // SAFETY: the caller's.
            let cell = unsafe { slot.assume_init() };
            slot.write(if cell == OUTSIDE {
                OUTSIDE
            } else {
                offset(i, cell) as usize
            });
        }
        // SAFETY: all were written.
        unsafe { self.at_stride(count, 1) }
    }
}

/// Where rows start, in bytes from the source: each cell times the stride, unless it is outside.
#[derive(Clone, Copy)]
pub(super) struct Offsets<'s> {
    cells: &'s [usize],
    stride: isize,
}

/// Sources `pitch` bytes apart, each read at the same offsets.
#[derive(Clone, Copy)]
struct Task<'s> {
    source: *const u8,
    pitch: isize,
    repeat: usize,
    offsets: Offsets<'s>,
    dst: *mut u8,
}

impl Task<'_> {
    /// Visits each row: where it is read, if it is inside, and where it goes.
    #[inline(always)]
    fn rows<const FAR: bool>(
        self,
        bytes: usize,
        mut visit: impl FnMut(Option<*const u8>, *mut u8),
    ) {
        let Offsets { cells, stride } = self.offsets;
        let at = |r: usize, i: usize| {
            let offset = (cells[i] as isize).wrapping_mul(stride);
            self.source
                .wrapping_offset(r as isize * self.pitch)
                .wrapping_offset(offset)
        };
        let mut to = self.dst;
        for r in 0..self.repeat {
            for i in 0..cells.len() {
                if FAR {
                    let later = i + AHEAD;
                    let (r, later) = if later < cells.len() {
                        (r, later)
                    } else {
                        (r + 1, later - cells.len())
                    };
                    if later < cells.len() {
                        prefetch(at(r, later));
                    }
                }
                visit((cells[i] != OUTSIDE).then(|| at(r, i)), to);
                to = to.wrapping_add(bytes);
            }
        }
    }
}

/// Moves rows of one shape.
pub(super) struct Mover {
    row: Loops<1>,
    width: usize,
    /// The fill element, over and over.
    fill: [u8; 16],
    far: bool,
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
    /// For rows of `row`, of elements of `width` bytes, in a source of `rows` rows.
    pub(super) fn new(width: usize, row: Loops<1>, rows: usize, bounds: Bounds) -> Mover {
        let [step] = row.steps();
        let bytes = row.len() * width;
        let packed = row.len() == 1 || row.is_one_row() && step == 1;
        let (fill, filled) = match bounds {
            Bounds::Fill(element) => (std::array::from_fn(|i| element[i & (width - 1)]), true),
            _ => ([0; 16], false),
        };
        let far = rows.saturating_mul(bytes) > CACHED;
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
        Mover {
            row,
            width,
            fill,
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

    /// One element from each offset.
    ///
    /// # Safety
    /// As [`Mover::rows`], for rows of one element.
    #[inline]
    pub(super) unsafe fn row(&self, source: *const u8, offsets: Offsets, dst: *mut u8) {
        // SAFETY: the caller's.
        unsafe { self.rows(source, 0, 1, offsets, dst, 0..1) }
    }

    /// From each of `repeat` sources, `pitch` bytes apart, the part `inners` of the row at each offset.
    ///
    /// # Safety
    /// K1, K2, K4 for each row, unless it is outside; `dst` has room for the whole rows, under K3.
    pub(super) unsafe fn rows(
        &self,
        source: *const u8,
        pitch: isize,
        repeat: usize,
        offsets: Offsets,
        dst: *mut u8,
        inners: Range<usize>,
    ) {
        let task = Task {
            source,
            pitch,
            repeat,
            offsets,
            dst,
        };
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

    fn each_row(&self, task: Task, visit: impl FnMut(Option<*const u8>, *mut u8)) {
        if self.far {
            task.rows::<true>(self.row_bytes(), visit);
        } else {
            task.rows::<false>(self.row_bytes(), visit);
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
    task.rows::<FAR>(size_of::<W>(), |from, to| {
        // SAFETY: the caller's. Nothing is outside unless there is a fill.
        unsafe {
            let word = match from {
                None if FILLED => fill,
                None => std::hint::unreachable_unchecked(),
                Some(from) => from.cast::<W>().read_unaligned(),
            };
            to.cast::<W>().write_unaligned(word);
        }
    });
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
