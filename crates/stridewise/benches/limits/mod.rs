//! What the machine can do by itself: filling and copying warm buffers with as many threads as the kernels use.

use std::time::{Duration, Instant};

use stridewise::pool;

/// The bytes of each buffer.
pub(crate) const BYTES: usize = 64 << 20;

/// A buffer from the pool, so that filling and copying have the same kind of pages as the operators.
struct Pooled(pool::Buffer);

impl Pooled {
    fn new() -> Pooled {
        let buffer = pool::Buffer::new(BYTES).expect("64 MiB");
        // SAFETY: the buffer is new and has room for BYTES.
        unsafe { buffer.as_ptr().write_bytes(0, BYTES) };
        Pooled(buffer)
    }

    fn cells(&mut self) -> &mut [u64] {
        // SAFETY: the buffer is aligned to 64, has been written, and is borrowed as long as the cells are.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_ptr().cast(), BYTES / 8) }
    }
}

/// The buffers, and the best times so far.
pub(crate) struct Limits {
    vector: Vec<u64>,
    from: Pooled,
    to: Pooled,
    /// Filling a vector: ordinary pages.
    pub(crate) fill_vector: Duration,
    /// Filling a pooled buffer: huge pages, where the system gives them.
    pub(crate) fill: Duration,
    /// Copying one pooled buffer to another.
    pub(crate) copy: Duration,
}

impl Limits {
    /// Buffers that have been written once.
    pub(crate) fn new() -> Limits {
        let (vector, from, to) = (vec![1; BYTES / 8], Pooled::new(), Pooled::new());
        let [fill_vector, fill, copy] = [Duration::MAX; 3];
        Limits {
            vector,
            from,
            to,
            fill_vector,
            fill,
            copy,
        }
    }

    /// Measures each once more.
    pub(crate) fn round(&mut self, value: u64) {
        let (from, to) = (self.from.cells(), self.to.cells());
        let took = timed(|| fill(&mut self.vector, value)).0;
        self.fill_vector = self.fill_vector.min(took);
        self.fill = self.fill.min(timed(|| fill(to, value)).0);
        self.copy = self.copy.min(timed(|| copy(from, to)).0);
    }
}

/// How long the work takes, and what it makes, which is dropped later.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn part(cells: &[u64]) -> usize {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    cells.len().div_ceil(threads)
}

fn fill(cells: &mut [u64], value: u64) {
    let part = part(cells);
    rayon::scope(|scope| {
        for chunk in cells.chunks_mut(part) {
            scope.spawn(move |_| chunk.fill(value));
        }
    });
}

fn copy(from: &[u64], to: &mut [u64]) {
    let part = part(to);
    rayon::scope(|scope| {
        for (from, to) in from.chunks(part).zip(to.chunks_mut(part)) {
            scope.spawn(move |_| to.copy_from_slice(from));
        }
    });
}
