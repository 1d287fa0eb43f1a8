//! Memory straight from the system: small buffers from its allocator, large ones mapped on huge-page
//! boundaries, where one page fault stands for five hundred.

use super::{ALIGN, Held};
use core::ptr::NonNull;
use std::alloc::Layout;

/// From this many bytes on, buffers are mapped rather than allocated.
#[cfg(target_os = "linux")]
const MAPPED: usize = 2 << 20;
#[cfg(not(target_os = "linux"))]
const MAPPED: usize = usize::MAX;

/// Up to this many bytes a buffer is aligned for every element and no more: the system allocator is several
/// times as quick when nothing else is asked for.
const SMALL: usize = 512;

fn layout(capacity: usize) -> Option<Layout> {
    let align = if capacity <= SMALL { 16 } else { ALIGN };
    Layout::from_size_align(capacity, align).ok()
}

/// `capacity` bytes, or `None` when the system has no more. `capacity` is not 0.
pub(super) fn obtain(capacity: usize) -> Option<Held> {
    let start = if capacity < MAPPED {
        // SAFETY: the layout is not empty.
        NonNull::new(unsafe { std::alloc::alloc(layout(capacity)?) })?
    } else {
        map(capacity)?
    };
    Some(Held { start, capacity })
}

/// Gives memory back to where [`obtain`] had it from.
///
/// # Safety
/// `start` and `capacity` are those of one result of `obtain`, not used or released since.
pub(super) unsafe fn release(start: NonNull<u8>, capacity: usize) {
    if capacity >= MAPPED {
        // SAFETY: mapped with this capacity, and not used any more.
        unsafe { unmap(start.as_ptr(), capacity) }
    } else if let Some(layout) = layout(capacity) {
        // SAFETY: obtained with this capacity, hence this layout, and not used any more.
        unsafe { std::alloc::dealloc(start.as_ptr(), layout) }
    }
}

#[cfg(target_os = "linux")]
fn map(capacity: usize) -> Option<NonNull<u8>> {
    let reserved = capacity.checked_add(MAPPED)?;
    // SAFETY: a fresh private mapping at an address of the system's choice touches nothing that exists; the
    // parts cut off and the hint stay inside it.
    unsafe {
        let start = libc::mmap(
            core::ptr::null_mut(),
            reserved,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if start == libc::MAP_FAILED {
            return None;
        }
        let start = start.cast::<u8>();
        let before = start.align_offset(MAPPED);
        let aligned = start.add(before);
        unmap(start, before);
        unmap(aligned.add(capacity), reserved - before - capacity);
        // A hint: without huge pages the memory is as good, only slower.
        libc::madvise(aligned.cast(), capacity, libc::MADV_HUGEPAGE);
        NonNull::new(aligned)
    }
}

/// Unmaps `bytes` from `start` on, if any.
///
/// # Safety
/// They are part of a mapping made by [`map`] and not used any more.
#[cfg(target_os = "linux")]
unsafe fn unmap(start: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: the caller's word. A failure would leave the range mapped, which is a leak and no harm.
        unsafe { libc::munmap(start.cast(), bytes) };
    }
}

#[cfg(not(target_os = "linux"))]
fn map(_: usize) -> Option<NonNull<u8>> {
    None
}

#[cfg(not(target_os = "linux"))]
unsafe fn unmap(_: *mut u8, _: usize) {}
