//! The memory behind tensors: a buffer of our own, a few bytes in place, or bytes that somebody else owns and lends (an array of
//! another library, a mapped file). Views share one storage through an `Arc`; when the last of them goes,
//! the buffer returns to the pool or the owner is dropped, which gives the bytes back.

use crate::pool::{AllocError, Buffer};
use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use std::any::Any;
use triomphe::UniqueArc;

/// A count of owners without weak ones, so that a plain read tells the only owner that it is alone.
pub use triomphe::Arc;

/// A stretch of bytes that stays put for as long as the storage lives.
pub struct Storage {
    memory: Memory,
    len: usize,
}

/// Up to this many bytes lie in the storage itself: a small result is then one allocation, not two.
pub const SMALL: usize = 64;

/// Bytes within a storage, aligned for every element.
#[repr(align(16))]
struct Cells {
    _bytes: MaybeUninit<[u8; SMALL]>,
}

enum Memory {
    Here(UnsafeCell<Cells>),
    Owned(Buffer),
    Foreign {
        start: *const u8,
        writable: bool,
        /// Held for its drop alone.
        _owner: Box<dyn Any + Send + Sync>,
    },
}

// SAFETY: the bytes belong to a buffer, which may move between threads, or to an owner that may (it is
// `Send`), and `foreign`'s caller vouches that they are not tied to a thread.
unsafe impl Send for Storage {}
// SAFETY: sharing hands out raw pointers only; whoever reads or writes through them answers for K3 and K4.
unsafe impl Sync for Storage {}

impl Storage {
    /// `len` bytes that nobody has written yet, to be filled through [`as_mut_ptr`](Self::as_mut_ptr) before
    /// anyone reads them. In an `Arc` from the start, since they may lie within the storage.
    #[inline]
    pub(crate) fn fresh(len: usize) -> Result<Arc<Storage>, AllocError> {
        if len > SMALL {
            let memory = Memory::Owned(Buffer::new(len)?);
            return Ok(Arc::new(Storage { memory, len }));
        }
        // Written where it stays: a move would carry the empty bytes along.
        let mut storage = UniqueArc::<Storage>::new_uninit();
        let bytes = Cells {
            _bytes: MaybeUninit::uninit(),
        };
        storage.write(Storage {
            memory: Memory::Here(UnsafeCell::new(bytes)),
            len,
        });
        // SAFETY: it was written just now.
        Ok(unsafe { UniqueArc::assume_init(storage) }.shareable())
    }

    /// The `len` bytes at `ptr`, lent by `owner` until it is dropped.
    ///
    /// # Safety
    /// The bytes are live, initialised and do not move until `owner` is dropped, and may be used from any
    /// thread. If `writable`, they may be written through `ptr`; otherwise nobody writes them meanwhile.
    pub unsafe fn foreign(
        ptr: *const u8,
        len: usize,
        writable: bool,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Storage {
        let memory = Memory::Foreign {
            start: ptr,
            writable,
            _owner: owner,
        };
        Storage { memory, len }
    }

    /// The first byte.
    #[inline]
    pub fn start(&self) -> *const u8 {
        match &self.memory {
            Memory::Here(cells) => cells.get().cast_const().cast(),
            Memory::Owned(buffer) => buffer.as_ptr().cast_const(),
            Memory::Foreign { start, .. } => *start,
        }
    }

    /// The first byte, to write through, or `None` for bytes that were lent to be read only.
    #[inline]
    pub fn as_mut_ptr(&self) -> Option<*mut u8> {
        match &self.memory {
            Memory::Here(cells) => Some(cells.get().cast()),
            Memory::Owned(buffer) => Some(buffer.as_ptr()),
            Memory::Foreign {
                start, writable, ..
            } => writable.then_some(start.cast_mut()),
        }
    }

    /// How many bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the bytes lie within the storage, as a few of our own do.
    #[inline]
    pub fn is_small(&self) -> bool {
        matches!(self.memory, Memory::Here(_))
    }

    /// Makes it storage of so many bytes that nobody has written yet, if it is our own and has room for them.
    #[inline]
    pub(crate) fn renew(&mut self, len: usize) -> bool {
        match &self.memory {
            Memory::Here(_) if len <= SMALL => {
                self.len = len;
                true
            }
            Memory::Owned(_) => len <= self.len,
            _ => false,
        }
    }

    /// Whether somebody else owns the bytes.
    #[inline]
    pub fn is_foreign(&self) -> bool {
        matches!(self.memory, Memory::Foreign { .. })
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("start", &self.start())
            .field("len", &self.len)
            .field("foreign", &self.is_foreign())
            .finish()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn small_storage_lies_in_one_piece_and_is_aligned() {
        for len in [0, 1, SMALL, SMALL + 1, 1000] {
            let storage = Storage::fresh(len).unwrap();
            let start = storage.as_mut_ptr().unwrap();
            assert_eq!((storage.len(), start.addr() % 16), (len, 0));
            assert!(!storage.is_foreign());
            // SAFETY: the storage has so many bytes, and nobody else has it.
            unsafe { start.write_bytes(7, len) };
            assert_eq!(start.cast_const(), Arc::clone(&storage).start());
        }
    }

    #[test]
    fn storage_of_our_own_is_renewed_where_there_is_room() {
        let mut small = Storage::fresh(8).unwrap();
        let small = Arc::get_mut(&mut small).unwrap();
        assert!(small.is_small() && small.renew(SMALL) && small.len() == SMALL);
        assert!(!small.renew(SMALL + 1) && small.len() == SMALL);
        assert!(small.renew(0) && small.is_empty());
        let mut large = Storage::fresh(1000).unwrap();
        let large = Arc::get_mut(&mut large).unwrap();
        assert!(!large.is_small() && large.renew(999) && !large.renew(1001));
        let bytes = [7u8; 4];
        // SAFETY: the bytes outlive the storage, and nobody writes them.
        let mut lent = unsafe { Storage::foreign(bytes.as_ptr(), 4, true, Box::new(())) };
        assert!(!lent.is_small() && !lent.renew(0));
    }

    #[test]
    fn foreign_storage_is_given_back_when_the_last_user_goes() {
        let bytes = Arc::new(vec![7u8; 9]);
        let owner = Box::new(Arc::clone(&bytes));
        let ptr = bytes.as_slice().as_ptr();
        // SAFETY: the vector outlives the owner, which keeps a count of it, and nobody writes it.
        let storage = Arc::new(unsafe { Storage::foreign(ptr, 9, false, owner) });
        let other = Arc::clone(&storage);
        assert!(storage.is_foreign());
        assert_eq!(storage.start(), ptr);
        assert_eq!(storage.as_mut_ptr(), None);
        drop(storage);
        assert_eq!(Arc::strong_count(&bytes), 2);
        drop(other);
        assert_eq!(Arc::strong_count(&bytes), 1);
    }

    #[test]
    fn writable_foreign_storage_says_so() {
        let mut bytes = vec![0u8; 4];
        let ptr = bytes.as_mut_ptr();
        // SAFETY: the vector moves into the box; its heap memory stays where it is until the box is dropped.
        let storage = unsafe { Storage::foreign(ptr, 4, true, Box::new(bytes)) };
        assert_eq!(storage.as_mut_ptr(), Some(ptr));
    }
}
