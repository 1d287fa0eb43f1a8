//! Memory for what is under way and lies nowhere else, kept from one collective to the next.

use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};

use stridewise_cpu::pool::Buffer;

/// Rooms that wait for the next collective.
#[derive(Default)]
pub(super) struct Rooms(Vec<Room>);

/// Bytes from the pool: where they are many they lie on huge pages, which one process reads of another several times as
/// fast.
pub(super) struct Room(Buffer);

impl Rooms {
    /// Room for at least so many bytes.
    pub(super) fn take(&mut self, len: usize) -> Room {
        match self.0.pop() {
            Some(room) if room.len() >= len => room,
            _ => Room::new(len),
        }
    }

    pub(super) fn give(&mut self, rooms: impl IntoIterator<Item = Room>) {
        self.0.extend(rooms);
    }
}

impl Room {
    fn new(len: usize) -> Room {
        let none = |_| handle_alloc_error(Layout::array::<u8>(len).unwrap_or(Layout::new::<u8>()));
        let buffer = Buffer::new(len).unwrap_or_else(none);
        // SAFETY: the buffer is new and has that many bytes.
        unsafe { buffer.as_ptr().write_bytes(0, buffer.capacity()) };
        Room(buffer)
    }
}

impl Deref for Room {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: all of it was written when it was made, and nobody else has it.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.0.capacity()) }
    }
}

impl DerefMut for Room {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_ptr(), self.0.capacity()) }
    }
}
