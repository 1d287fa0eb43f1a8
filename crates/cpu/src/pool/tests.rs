use super::*;

const MIB: usize = 1 << 20;

fn held(capacity: usize) -> Held {
    system::obtain(capacity).unwrap()
}

#[test]
fn the_buffer_freed_last_is_reused_first() {
    let mut pool = Pool::new();
    let (a, b, c) = (held(MIB), held(MIB), held(3 * MIB));
    let (first, second, third) = (a.start, b.start, c.start);
    for held in [a, b, c] {
        assert!(pool.keep(held, 64 * MIB).is_empty());
    }
    assert_eq!(pool.bytes, 5 * MIB);
    let again: Vec<_> = [MIB, MIB, 3 * MIB].map(|n| pool.take(n).unwrap()).into();
    let starts: Vec<_> = again.iter().map(|held| held.start).collect();
    assert_eq!(starts, [second, first, third]);
    assert!(pool.take(MIB).is_none());
    assert_eq!((pool.hits, pool.misses, pool.bytes), (3, 1, 0));
}

#[test]
fn the_oldest_go_when_the_limit_is_passed() {
    let mut pool = Pool::new();
    let mut oldest = Vec::new();
    for size in [MIB, 2 * MIB, MIB, 4 * MIB] {
        let held = held(size);
        oldest.push(held.start);
        let surplus = pool.keep(held, 6 * MIB);
        assert!(pool.bytes <= 6 * MIB);
        if size == 4 * MIB {
            let gone: Vec<_> = surplus.iter().map(|held| held.start).collect();
            assert_eq!(gone, oldest[..2]);
        }
    }
    assert_eq!(pool.ages.len(), 2);
    assert_eq!(pool.keep(held(7 * MIB), 6 * MIB).len(), 1);
    assert_eq!(pool.bytes, 5 * MIB);
}

#[test]
fn shrinking_to_nothing_empties_the_pool() {
    let mut pool = Pool::new();
    for _ in 0..5 {
        pool.keep(held(MIB), 64 * MIB);
    }
    assert_eq!(pool.shrink(0).len(), 5);
    assert_eq!((pool.bytes, pool.ages.len()), (0, 0));
    assert!(pool.take(MIB).is_none());
}

#[test]
fn buffers_are_aligned_and_hold_what_was_asked_for() {
    for bytes in [
        0,
        1,
        63,
        65,
        4000,
        POOLED - 1,
        POOLED,
        70_001,
        2 * MIB - 1,
        2 * MIB,
        5 * MIB + 3,
    ] {
        let buffer = Buffer::new(bytes).unwrap();
        let align = if bytes <= 512 { 16 } else { ALIGN };
        assert_eq!(buffer.as_ptr() as usize % align, 0);
        assert!(buffer.capacity() >= bytes);
        assert!(buffer.capacity() <= bytes + bytes / 8 + ALIGN);
        // SAFETY: the buffer holds that many bytes and is ours.
        unsafe { buffer.as_ptr().write_bytes(1, bytes) };
    }
}

#[test]
fn large_buffers_start_on_a_huge_page() {
    if cfg!(target_os = "linux") {
        assert_eq!(
            Buffer::new(9 * MIB).unwrap().as_ptr() as usize % (2 * MIB),
            0
        );
    }
}

#[test]
fn absurd_requests_are_errors() {
    for bytes in [usize::MAX, usize::MAX / 2, usize::MAX / 4, 1 << 50] {
        let error = Buffer::new(bytes).unwrap_err();
        assert_eq!(error.bytes, bytes);
        assert!(error.to_string().contains(&bytes.to_string()));
    }
}

#[test]
fn more_than_there_is_available_is_an_error() {
    if let Some(available) = available::available() {
        // Room for what other tests give back meanwhile.
        assert!(Buffer::new(available + (4 << 30)).is_err());
    }
}

#[test]
fn many_threads_share_the_pool() {
    std::thread::scope(|scope| {
        for seed in 0..8u8 {
            scope.spawn(move || {
                for i in 0..200usize {
                    let bytes = POOLED + (i * 7919 + seed as usize * 104_729) % (3 * MIB);
                    let buffer = Buffer::new(bytes).unwrap();
                    // SAFETY: the first and the last byte of our own buffer.
                    unsafe {
                        buffer.as_ptr().write(seed);
                        buffer.as_ptr().add(bytes - 1).write(seed);
                        std::thread::yield_now();
                        assert_eq!(buffer.as_ptr().read(), seed);
                        assert_eq!(buffer.as_ptr().add(bytes - 1).read(), seed);
                    }
                }
            });
        }
    });
    let stats = stats();
    assert!(stats.held_bytes <= stats.limit);
    assert!(stats.hits + stats.misses >= 1600);
}

#[test]
fn a_buffer_may_be_dropped_while_its_thread_ends() {
    thread_local! {
        static LAST: std::cell::RefCell<Option<Buffer>> = const { std::cell::RefCell::new(None) };
    }
    let thread = std::thread::spawn(|| {
        let buffer = Buffer::new(3 * MIB).unwrap();
        LAST.with_borrow_mut(|last| *last = Some(buffer));
    });
    assert!(thread.join().is_ok());
}
