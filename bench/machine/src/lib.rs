//! What a machine's memory can do at most: fills, copies and reads of warm memory on huge pages, by plain loops and by
//! stores that pass the cache, whichever is faster; and lines that are read at random.

use std::hint::black_box;
use std::time::{Duration, Instant};

use stridewise_cpu::pool::Buffer;

/// The line of a cache.
const LINE: usize = 64;
/// Work below this is not worth another thread.
const SMALL: usize = 64 << 10;
/// How long runs go on, of which the best counts; the same as for a library.
const BURST: Duration = Duration::from_millis(40);

/// One line of the cache as words.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// Memory from the pool, as lines.
struct Room {
    buffer: Buffer,
    lines: usize,
}

impl Room {
    fn new(bytes: usize) -> Option<Room> {
        let lines = bytes.div_ceil(LINE).max(1);
        let buffer = Buffer::new(lines * LINE).ok()?;
        // SAFETY: the buffer is new and has room for that many bytes.
        unsafe { buffer.as_ptr().write_bytes(1, lines * LINE) };
        Some(Room { buffer, lines })
    }

    fn lines(&mut self) -> &mut [Line] {
        // SAFETY: the buffer is aligned to 64, was written when it was made, and is borrowed for as long as the lines are.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.as_ptr().cast(), self.lines) }
    }
}

/// Stores that pass the cache, where there are such; plain ones elsewhere.
fn stream(to: &mut [Line], from: impl Fn(usize) -> Line) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_sfence, _mm_stream_si128};
        for (at, line) in to.iter_mut().enumerate() {
            let value = from(at);
            let (target, source) = (
                std::ptr::from_mut(line).cast::<__m128i>(),
                std::ptr::from_ref(&value).cast::<__m128i>(),
            );
            for part in 0..4 {
                // SAFETY: a line is four times 16 bytes, aligned to 64, and SSE2 is part of x86-64.
                unsafe { _mm_stream_si128(target.add(part), source.add(part).read()) };
            }
        }
        // SAFETY: SSE2 is part of x86-64. The fence makes the stores seen by whoever reads next.
        unsafe { _mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    for (at, line) in to.iter_mut().enumerate() {
        *line = from(at);
    }
}

fn read(lines: &[Line]) -> [u64; 8] {
    let mut sum = [0u64; 8];
    for line in lines {
        for (sum, word) in sum.iter_mut().zip(line.0) {
            *sum = sum.wrapping_add(word);
        }
    }
    sum
}

/// Reads so many lines at random, each of them asked for long before; `first` makes them others than another thread's.
fn look(lines: &[Line], first: usize, looks: usize) -> u64 {
    /// How many are on their way.
    const AHEAD: usize = 256;
    let mut coming = [0; AHEAD];
    let mut sum = 0u64;
    for i in 0..looks + AHEAD {
        if i >= AHEAD {
            sum = sum.wrapping_add(lines[coming[i % AHEAD]].0[0]);
        }
        // A number as good as any by its digits (splitmix64).
        let mut at = ((first + i) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        at = (at ^ at >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let line = ((at >> 32) as usize * lines.len()) >> 32;
        coming[i % AHEAD] = line;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint, and of a line that is there; every x86-64 has it.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(&lines[line]).cast());
        }
    }
    sum
}

/// Runs `work` on equal parts of both, each on a thread.
fn shared(
    to: &mut [Line],
    from: &[Line],
    threads: usize,
    work: impl Fn(&mut [Line], &[Line]) + Sync,
) {
    let part = to.len().div_ceil(threads);
    if part == to.len() {
        return work(to, from);
    }
    rayon::scope(|scope| {
        for (to, from) in to.chunks_mut(part).zip(from.chunks(part)) {
            let work = &work;
            scope.spawn(move |_| work(to, from));
        }
    });
}

/// A way to work on a target and a source.
type Way = fn(&mut [Line], &[Line]);

/// The ways to do what is asked for; none if it is not known.
fn ways(name: &str) -> Vec<Way> {
    match name {
        "fill" => vec![|to, _| to.fill(black_box(Line([7; 8]))), |to, _| {
            let value = black_box(Line([7; 8]));
            stream(to, |_| value);
        }],
        "copy" => vec![|to, from| to.copy_from_slice(from), |to, from| {
            stream(to, |at| from[at])
        }],
        "read" => vec![|_, from| {
            black_box(read(from));
        }],
        _ => Vec::new(),
    }
}

/// Two rooms of memory, and what is done with them.
pub struct Machine {
    to: Room,
    from: Room,
    bytes: usize,
}

impl Machine {
    /// Rooms for so many bytes each; none where there is no such memory.
    pub fn new(bytes: usize) -> Option<Machine> {
        let (to, from) = (Room::new(bytes)?, Room::new(bytes)?);
        Some(Machine { to, from, bytes })
    }

    /// How many bytes a room has.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How long `fill`, `copy` or `read` of the first `bytes` takes on so many threads, the best of runs for a moment; none
    /// for another word, or more bytes than there are.
    pub fn fastest(&mut self, work: &str, bytes: usize, threads: usize) -> Option<Duration> {
        let lines = bytes.div_ceil(LINE).max(1);
        let threads = if bytes < SMALL {
            1
        } else {
            threads.clamp(1, cores())
        };
        let to = self.to.lines().get_mut(..lines)?;
        let from = self.from.lines().get(..lines)?;
        // What is over sooner than a clock can tell is done many times.
        let times = (SMALL / bytes.max(1)).clamp(1, 1000) as u32;
        let ways = ways(work).into_iter();
        ways.map(|way| best_of(times, || shared(black_box(to), from, threads, way)))
            .min()
    }

    /// How long it takes to read so many lines, at random among the first `bytes`, on so many threads.
    pub fn at_random(&mut self, looks: usize, bytes: usize, threads: usize) -> Option<Duration> {
        let from = self.from.lines().get(..(bytes / LINE).max(1))?;
        let threads = threads.clamp(1, cores());
        let each = looks.div_ceil(threads);
        let work = |thread: usize| {
            black_box(look(from, thread * each, each));
        };
        Some(best_of(1, || {
            rayon::scope(|scope| {
                (1..threads).for_each(|at| scope.spawn(move |_| work(at)));
                work(0);
            });
        }))
    }
}

/// How many threads there may be.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The best of runs for a moment, each so many times over.
fn best_of(times: u32, mut work: impl FnMut()) -> Duration {
    work();
    let mut best = Duration::MAX;
    let begun = Instant::now();
    while begun.elapsed() < BURST {
        let start = Instant::now();
        (0..times).for_each(|_| work());
        best = best.min(start.elapsed() / times);
    }
    best
}
