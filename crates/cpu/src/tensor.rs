//! The tensor: a layout over shared storage. Whatever makes one checks what kernels rely on, through [`Tensor::fits`].

use std::alloc;
use std::cell::OnceCell;
use std::mem::ManuallyDrop;
use std::ops::Range;

use stridewise_core::layout::Seen;
use stridewise_core::size::tuple;
use stridewise_core::{Axis, DType, Error, Layout, Result, Value};

use crate::element::Element;
use crate::engine::Cpu;
use crate::kernels::Block;
use crate::storage::{Arc, Storage};

/// A tensor in main memory: an immutable value. Clones and views share storage and cost a reference count.
///
/// - **T1**: every index the layout reaches lies inside the storage (K1).
/// - **T2**: the storage is aligned for the dtype (K2).
/// - **T3**: what the layout reaches has been written (K4).
///
/// ```
/// use stridewise_core::operators::Methods;
/// use stridewise_cpu::Tensor;
///
/// let x = Tensor::from_vec(vec![1, 2, 3], &[3, 1])?;
/// let y = x.expand([-1, 4])?;
/// assert_eq!((y.shape(), y.strides()), (&[3, 4][..], &[1, 0][..]));
/// assert!(y.shares_storage_with(&x));
/// # Ok::<(), stridewise_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor {
    layout: Layout,
    dtype: DType,
    storage: Arc<Storage>,
}

/// A view that has been checked but not been written yet.
#[doc(hidden)]
pub struct Viewed<'a> {
    seen: &'a Seen,
    dtype: DType,
    storage: &'a Arc<Storage>,
}

impl Viewed<'_> {
    /// The view, written where it is returned.
    #[inline(always)]
    pub fn tensor(self) -> Tensor {
        // Before the layout is read, lest that is kept meanwhile.
        let storage = self.storage.clone();
        Tensor {
            layout: Layout::of(self.seen),
            dtype: self.dtype,
            storage,
        }
    }

    #[cold]
    fn misfit(self) -> Error {
        misfit(&self.tensor())
    }
}

impl Tensor {
    /// A tensor from its parts: checks T1 and T2. T3 is the storage's: all of it has been written.
    #[inline]
    pub fn new(storage: Arc<Storage>, dtype: DType, layout: Layout) -> Result<Tensor> {
        let tensor = Tensor {
            layout,
            dtype,
            storage,
        };
        let bytes = tensor.count().checked_mul(dtype.width());
        match tensor.fits() && bytes.is_some_and(|bytes| bytes <= isize::MAX as usize) {
            true => Ok(tensor),
            false => Err(misfit(&tensor)),
        }
    }

    /// Whether T1 and T2 hold.
    #[inline]
    fn fits(&self) -> bool {
        fits(&self.storage, self.dtype, self.layout.end())
    }

    /// A view at single indices of some axes through a map of the others, written where it is returned: a layout is large, and every move of it
    /// costs. Where strides do not allow a merge, it is a view of a packed copy.
    #[inline]
    pub(crate) fn view(
        &self,
        at: &[(usize, usize)],
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Tensor> {
        let copy = |x: &Tensor| Cpu.packed_copy(x);
        self.view_as(at, rank, axes, copy, |view| Ok(view.tensor()))
    }

    /// What `made` makes of such a view, for front doors that keep tensors in places of their own; `copy` makes the
    /// packed copy where one is needed.
    #[doc(hidden)]
    #[inline]
    pub fn view_as<R>(
        &self,
        at: &[(usize, usize)],
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
        copy: impl Fn(&Tensor) -> Result<Tensor>,
        made: impl FnOnce(Viewed<'_>) -> Result<R>,
    ) -> Result<R> {
        // In a cell, so that the view is written where it is returned: of an `Option` the compiler makes a pointer to
        // one of two tensors at every use, and keeps the whole view in registers until it knows which of them to drop.
        let (mut seen, packed) = (Seen::new(), OnceCell::new());
        let mut x = self;
        // One call for both turns of the loop, so that the map is compiled into it.
        while !x
            .layout
            .see(&mut seen, self.dtype.width(), at, rank, &axes)?
        {
            let copied = copy(self)?;
            x = packed.get_or_init(|| copied);
        }
        let Tensor {
            layout, storage, ..
        } = x;
        let view = Viewed {
            seen: &seen,
            dtype: self.dtype,
            storage,
        };
        match seen.end() <= layout.end() || fits(storage, self.dtype, seen.end()) {
            true => made(view),
            false => Err(view.misfit()),
        }
    }

    /// One run of memory under other sizes; `None` where it is no run, or has another number of elements.
    #[inline]
    pub(crate) fn view_of_run(
        &self,
        rank: usize,
        sizes: impl Fn(usize) -> usize,
    ) -> Result<Option<Tensor>> {
        self.view_of_run_as(rank, sizes, |view| Ok(view.tensor()))
    }

    /// What `made` makes of such a view.
    #[doc(hidden)]
    #[inline]
    pub fn view_of_run_as<R>(
        &self,
        rank: usize,
        sizes: impl Fn(usize) -> usize,
        made: impl FnOnce(Viewed<'_>) -> Result<R>,
    ) -> Result<Option<R>> {
        let mut seen = Seen::new();
        if !self.layout.see_run(&mut seen, rank, sizes) {
            return Ok(None);
        }
        let view = Viewed {
            seen: &seen,
            dtype: self.dtype,
            storage: &self.storage,
        };
        made(view).map(Some)
    }

    /// A packed tensor of the given values, row-major.
    pub fn from_vec<T: Element>(values: Vec<T>, shape: &[usize]) -> Result<Tensor> {
        let layout = Layout::packed(size_of::<T>(), shape)?;
        require_count(values.len(), &layout)?;
        if !values.as_ptr().addr().is_multiple_of(alignment(T::DTYPE)) {
            let (start, len) = (values.as_ptr().cast(), values.len() * size_of::<T>());
            // SAFETY: an Element has no padding, so the values are `len` initialised bytes.
            let bytes = unsafe { std::slice::from_raw_parts(start, len) };
            return Tensor::from_bytes(T::DTYPE, shape, bytes);
        }
        let mut values = ManuallyDrop::new(values);
        let (start, len, capacity) = (values.as_mut_ptr(), values.len(), values.capacity());
        let owner = Box::new(VecParts {
            start,
            len,
            capacity,
        });
        // SAFETY: the vector's elements have no padding (they are Elements), stay where they are, and are
        // reached through nothing but the storage until `owner` is dropped.
        let storage = unsafe { Storage::foreign(start.cast(), len * size_of::<T>(), true, owner) };
        Tensor::new(Arc::new(storage), T::DTYPE, layout)
    }

    /// A packed tensor from the bytes of its elements, in the machine's byte order.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Tensor> {
        let layout = Layout::packed(dtype.width(), shape)?;
        if bytes.len() != layout.count() * dtype.width() {
            let message = format!(
                "{} bytes were given for {dtype} of shape {}",
                bytes.len(),
                tuple(shape)
            );
            return Err(Error::shape(message).sizes(layout.count() * dtype.width(), bytes.len()));
        }
        let buffer = allocate(bytes.len())?;
        // SAFETY: the buffer holds at least as many bytes and is new, so nothing overlaps.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.as_ptr(), bytes.len()) };
        Tensor::filled(buffer, dtype, layout)
    }

    /// A tensor of rank 0.
    pub fn scalar<T: Element>(value: T) -> Result<Tensor> {
        Tensor::from_vec(vec![value], &[])
    }

    /// A tensor over a buffer whose every element has been written.
    pub(crate) fn filled(room: Room, dtype: DType, layout: Layout) -> Result<Tensor> {
        Tensor::new(room.0, dtype, layout)
    }

    /// A packed tensor over a room that it fits, and whose every element has been written.
    #[inline(always)]
    pub(crate) fn packed_in(room: Room, dtype: DType, seen: &Seen) -> Tensor {
        debug_assert!(room.fits(dtype, seen.end()));
        Tensor {
            layout: Layout::of(seen),
            dtype,
            storage: room.0,
        }
    }

    /// Where index zero of a view lies that was seen of this tensor; an error where the view would reach outside.
    #[inline]
    pub(crate) fn start_of(&self, seen: &Seen) -> Result<*const u8> {
        if !fits(&self.storage, self.dtype, seen.end()) {
            return Ok(self.with_layout(Layout::of(seen))?.as_ptr());
        }
        let offset = seen.offset() * self.dtype.width();
        Ok(self.storage_ptr().wrapping_add(offset))
    }

    /// Another layout over the same storage; an error where it would reach outside.
    #[inline]
    pub fn with_layout(&self, layout: Layout) -> Result<Tensor> {
        Tensor::new(self.storage.clone(), self.dtype, layout)
    }

    /// The size of each axis.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        self.layout.dims()
    }

    /// The stride of each axis, in elements.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        self.layout.strides()
    }

    /// How many axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// The element type.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How the axes lie in memory.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many elements.
    pub fn count(&self) -> usize {
        self.layout.count()
    }

    /// Bytes of all elements, each counted as often as it is seen.
    pub fn nbytes(&self) -> usize {
        self.count() * self.dtype.width()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// Whether the elements lie row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_packed()
    }

    /// The elements as they lie in memory, where they are packed and of that type; `contiguous` packs them.
    /// Not for `bool`, whose memory may hold other bytes than 0 and 1.
    pub fn as_slice<T: Element<Cell = T>>(&self) -> Option<&[T]> {
        if T::DTYPE != self.dtype || !self.is_contiguous() {
            return None;
        }
        if self.is_empty() {
            return Some(&[]);
        }
        // SAFETY: a packed tensor has `count` elements from index zero on (T1, T2), written before (T3); its
        // memory is not written while it is borrowed, since writing needs the storage alone. An element that
        // is its own cell takes any bit pattern.
        Some(unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.count()) })
    }

    /// Where the element at index zero lies; not to be read where the tensor is empty.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.storage_ptr()
            .wrapping_add(self.layout.offset() * self.dtype.width())
    }

    /// Where the storage begins.
    #[inline]
    pub fn storage_ptr(&self) -> *const u8 {
        self.storage.start()
    }

    /// The storage.
    pub fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Whether two tensors are views of one storage.
    pub fn shares_storage_with(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// The addresses from the lowest to past the highest cell that is reached.
    pub fn addresses(&self) -> Range<usize> {
        let (start, width) = (self.storage_ptr().addr(), self.dtype.width());
        let reach = self.layout.reach();
        start + reach.start * width..start + reach.end * width
    }

    /// Whether a cell of one may be a cell of the other: not so where their addresses are apart, or where one
    /// lies in the gaps of the other at every step.
    pub(crate) fn overlaps(&self, other: &Tensor) -> bool {
        let (a, b) = (self.addresses(), other.addresses());
        if a.start >= b.end || b.start >= a.end {
            return false;
        }
        let steps = |x: &Tensor| {
            let width = x.dtype.width();
            let long = |(&size, &stride): (&usize, &isize)| {
                (size > 1).then_some(stride.unsigned_abs() * width)
            };
            let steps = x.shape().iter().zip(x.strides()).filter_map(long);
            steps.fold(0, gcd)
        };
        let step = gcd(steps(self), steps(other));
        if step == 0 {
            return true;
        }
        // Both repeat every `step` bytes: where in that does the other begin, seen from this one?
        let place = (b.start % step + step - a.start % step) % step;
        place < self.dtype.width() || step - place < other.dtype.width()
    }

    /// The elements, row-major.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if T::DTYPE != self.dtype {
            return Err(
                Error::dtype(format!("the tensor is {}, not {}", self.dtype, T::DTYPE))
                    .sizes(T::DTYPE, self.dtype)
                    .help("use `cast` first"),
            );
        }
        let packed = self.packed()?;
        let mut values = Vec::new();
        reserve(&mut values, packed.count())?;
        let start = packed.as_ptr().cast::<T::Cell>();
        // SAFETY: a packed tensor has `count` cells from index zero on (T1, T2), written before (T3); a
        // cell takes any bit pattern.
        values.extend((0..packed.count()).map(|at| T::from_cell(unsafe { start.add(at).read() })));
        Ok(values)
    }

    /// The bytes of the elements, row-major.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let packed = self.packed()?;
        let mut bytes = Vec::new();
        reserve(&mut bytes, packed.nbytes())?;
        if packed.nbytes() > 0 {
            // SAFETY: a packed tensor has `nbytes` bytes from index zero on (T1), written before (T3).
            bytes.extend_from_slice(unsafe {
                std::slice::from_raw_parts(packed.as_ptr(), packed.nbytes())
            });
        }
        Ok(bytes)
    }

    /// The one element of a tensor that has just one.
    pub fn item<T: Element>(&self) -> Result<T> {
        match self.to_vec()?.as_slice() {
            [one] => Ok(*one),
            many => Err(
                Error::shape(format!("the tensor has {} elements, not one", many.len()))
                    .sizes(1, many.len())
                    .note("shape", tuple(self.shape())),
            ),
        }
    }

    /// The tensor itself where it is packed, otherwise a packed copy.
    pub(crate) fn packed(&self) -> Result<Tensor> {
        match self.layout.is_packed() {
            true => Ok(self.clone()),
            false => Cpu.packed_copy(self),
        }
    }

    /// The memory as kernels see it; K1, K2 and K4 are T1, T2 and T3.
    #[inline]
    pub(crate) fn block(&self) -> Block<'_> {
        Block {
            start: self.as_ptr(),
            sizes: self.shape(),
            strides: self.strides(),
        }
    }

    /// The storage of a tensor that goes, if it is small and nobody else has it.
    #[doc(hidden)]
    #[inline]
    pub fn into_spare(self) -> Option<Arc<Storage>> {
        (self.storage.is_small() && Arc::is_unique(&self.storage)).then_some(self.storage)
    }

    /// The storage, if nobody else holds it.
    pub(crate) fn storage_mut(&mut self) -> Option<&mut Storage> {
        Arc::get_mut(&mut self.storage)
    }
}

/// A vector taken apart, so that its memory can be written without going through it.
struct VecParts<T> {
    start: *mut T,
    len: usize,
    capacity: usize,
}

// SAFETY: it owns its elements as a vector does, and they are Send.
unsafe impl<T: Element> Send for VecParts<T> {}
// SAFETY: nothing can be done with a shared one.
unsafe impl<T: Element> Sync for VecParts<T> {}

impl<T> Drop for VecParts<T> {
    fn drop(&mut self) {
        // SAFETY: the three parts came from one vector, and this is the only time they are put together.
        drop(unsafe { Vec::from_raw_parts(self.start, self.len, self.capacity) });
    }
}

impl Value for Tensor {
    type Engine = Cpu;

    #[inline]
    fn engine(&self) -> Cpu {
        Cpu
    }
}

/// What an element must be aligned to: 16-byte elements are pairs of 8.
const fn alignment(dtype: DType) -> usize {
    if dtype.width() > 8 { 8 } else { dtype.width() }
}

fn gcd(a: usize, b: usize) -> usize {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

/// Whether a layout that ends there lies inside the storage (T1), and the storage is aligned (T2).
#[inline]
fn fits(storage: &Storage, dtype: DType, end: usize) -> bool {
    let end = end.checked_mul(dtype.width());
    let aligned = || storage.start().addr().is_multiple_of(alignment(dtype));
    end.is_some_and(|end| end <= storage.len() && (end == 0 || aligned()))
}

/// Storage that is still being written, by the one who has it.
pub struct Room(Arc<Storage>);

impl Room {
    /// Memory that was a result's, if nobody else has it, it is ours, and there is enough of it.
    #[inline]
    pub(crate) fn again(mut storage: Arc<Storage>, bytes: usize) -> Option<Room> {
        let alone = Arc::get_mut(&mut storage);
        let enough = alone.is_some_and(|storage| storage.renew(bytes));
        enough.then_some(Room(storage))
    }

    /// Whether so many elements have room.
    #[inline]
    pub(crate) fn fits(&self, dtype: DType, count: usize) -> bool {
        fits(&self.0, dtype, count)
    }

    /// The first byte.
    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        // Memory of our own can be written.
        self.0.as_mut_ptr().unwrap_or(std::ptr::null_mut())
    }
}

/// Room for so many bytes.
#[inline]
pub(crate) fn allocate(bytes: usize) -> Result<Room> {
    match Storage::fresh(bytes) {
        Ok(storage) => Ok(Room(storage)),
        Err(failure) => Err(Error::memory(format!(
            "{bytes} bytes are needed, but {}",
            failure.why
        ))
        .sizes(bytes, "less")),
    }
}

fn reserve<T>(values: &mut Vec<T>, count: usize) -> Result<()> {
    values.try_reserve_exact(count).map_err(|_| {
        let bytes = alloc::Layout::array::<T>(count).map_or(usize::MAX, |layout| layout.size());
        Error::memory(format!(
            "{bytes} bytes are needed, but memory has not that much"
        ))
    })
}

fn require_count(given: usize, layout: &Layout) -> Result<()> {
    if given == layout.count() {
        return Ok(());
    }
    let shape = tuple(layout.dims());
    Err(Error::shape(format!(
        "{given} values were given, but shape {shape} holds {}",
        layout.count()
    ))
    .sizes(layout.count(), given)
    .note("shape", shape))
}

#[cold]
fn misfit(x: &Tensor) -> Error {
    Error::shape(format!(
        "the layout does not fit the storage of {} bytes",
        x.storage.len()
    ))
    .note("shape", tuple(x.shape()))
    .note("strides", tuple(x.strides()))
    .note("offset", x.layout.offset())
    .note("dtype", x.dtype)
}
