//! Elements as bytes in row-major order wherever they lie, for whoever carries them elsewhere a run at a time: what is
//! not in one run need not be packed first.

use std::marker::PhantomData;
use std::ops::Range;

use stridewise_core::smallvec::SmallVec;
use stridewise_core::{DType, Layout, Result};

use crate::bytes::made;
use crate::kernels::loops::Loops;
use crate::kernels::{self, Block, BlockMut};
use crate::tensor::Tensor;

/// Elements that are read.
///
/// - **R1**: K1, K2 and K4 hold for the block, and nobody writes it, for the life of the borrow.
pub struct Rows<'a> {
    start: *const u8,
    lie: Lie,
    memory: PhantomData<&'a [u8]>,
}

/// Elements that are written.
///
/// - **W1**: K1, K2 and K3 hold for the block for the life of the borrow, and all of it is initialised.
pub struct RowsMut<'a> {
    start: *mut u8,
    lie: Lie,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: R1: it is as good as a borrow of bytes that nobody writes.
unsafe impl Send for Rows<'_> {}
// SAFETY: as above.
unsafe impl Sync for Rows<'_> {}
// SAFETY: W1: it is as good as a mutable borrow of bytes.
unsafe impl Send for RowsMut<'_> {}

/// How elements lie.
struct Lie {
    width: usize,
    sizes: SmallVec<[usize; 8]>,
    strides: SmallVec<[isize; 8]>,
    loops: Loops<1>,
}

impl Lie {
    fn new(width: usize, sizes: &[usize], strides: &[isize]) -> Lie {
        Lie {
            width,
            sizes: sizes.into(),
            strides: strides.into(),
            loops: Loops::over(sizes, [strides]),
        }
    }

    fn bytes(&self) -> usize {
        self.loops.len() * self.width
    }

    fn is_one_run(&self) -> bool {
        self.loops.len() <= 1 || (self.loops.is_one_row() && self.loops.steps() == [1])
    }

    /// Visits a run of bytes, whole elements, as blocks of even rows: where a block lies from the start on, in bytes; its
    /// place in the run, in bytes; how many rows of how many elements; and the strides of both.
    fn blocks(
        &self,
        run: Range<usize>,
        mut visit: impl FnMut(isize, usize, [usize; 2], [isize; 2]),
    ) {
        let width = self.width;
        assert!(run.start.is_multiple_of(width) && run.end.is_multiple_of(width));
        assert!(run.end <= self.bytes(), "the run ends behind the elements");
        let elements = run.start / width..run.end / width;
        let first = elements.start;
        let ([row], [step]) = (self.loops.row_steps(), self.loops.steps());
        self.loops.blocks(elements, |at, sizes, [offset]| {
            visit(
                offset * width as isize,
                (at - first) * width,
                sizes,
                [row, step],
            );
        });
    }
}

impl<'a> From<&'a [u8]> for Rows<'a> {
    fn from(bytes: &'a [u8]) -> Rows<'a> {
        Rows {
            start: bytes.as_ptr(),
            lie: Lie::new(1, &[bytes.len()], &[1]),
            memory: PhantomData,
        }
    }
}

impl<'a> From<&'a Tensor> for Rows<'a> {
    fn from(x: &'a Tensor) -> Rows<'a> {
        Rows {
            start: x.as_ptr(),
            lie: Lie::new(x.dtype().width(), x.shape(), x.strides()),
            memory: PhantomData,
        }
    }
}

impl<'a> Rows<'a> {
    /// How many bytes.
    pub fn bytes(&self) -> usize {
        self.lie.bytes()
    }

    /// The bytes, where they lie in one run.
    pub fn as_slice(&self) -> Option<&'a [u8]> {
        match (self.bytes(), self.lie.is_one_run()) {
            (0, _) => Some(&[]),
            // SAFETY: R1, and the elements are one run.
            (bytes, true) => Some(unsafe { std::slice::from_raw_parts(self.start, bytes) }),
            _ => None,
        }
    }

    /// Copies the bytes from `from` on, whole elements.
    pub fn read(&self, from: usize, into: &mut [u8]) {
        let (run, width) = (from..from + into.len(), self.lie.width);
        self.lie.blocks(run, |offset, at, sizes, strides| {
            let block = &mut into[at..at + sizes[0] * sizes[1] * width];
            let from = self.start.wrapping_offset(offset);
            let packed = [sizes[1] as isize, 1];
            // SAFETY: R1: these elements are of the block; the target is borrowed mutably and has room for them.
            unsafe { copy(from, strides, block.as_mut_ptr(), packed, sizes, width) };
        });
    }
}

impl<'a> From<&'a mut [u8]> for RowsMut<'a> {
    fn from(bytes: &'a mut [u8]) -> RowsMut<'a> {
        RowsMut {
            start: bytes.as_mut_ptr(),
            lie: Lie::new(1, &[bytes.len()], &[1]),
            memory: PhantomData,
        }
    }
}

impl RowsMut<'_> {
    /// How many bytes.
    pub fn bytes(&self) -> usize {
        self.lie.bytes()
    }

    /// The bytes, where they lie in one run.
    pub fn as_mut_slice(&mut self) -> Option<&mut [u8]> {
        match (self.bytes(), self.lie.is_one_run()) {
            (0, _) => Some(&mut []),
            // SAFETY: W1, and the elements are one run.
            (bytes, true) => Some(unsafe { std::slice::from_raw_parts_mut(self.start, bytes) }),
            _ => None,
        }
    }

    /// Whether they lie in one run.
    pub fn is_one_run(&self) -> bool {
        self.bytes() == 0 || self.lie.is_one_run()
    }

    /// Writes bytes from `from` on, whole elements.
    pub fn write(&mut self, from: usize, bytes: &[u8]) {
        let (run, width) = (from..from + bytes.len(), self.lie.width);
        self.lie.blocks(run, |offset, at, sizes, strides| {
            let block = &bytes[at..at + sizes[0] * sizes[1] * width];
            let to = self.start.wrapping_offset(offset);
            let packed = [sizes[1] as isize, 1];
            // SAFETY: W1: these elements are of the block; as many bytes are borrowed.
            unsafe { copy(block.as_ptr(), packed, to, strides, sizes, width) };
        });
    }

    /// Writes all, from as many bytes.
    pub fn copy_from(&mut self, rows: &Rows<'_>) {
        assert_eq!(self.bytes(), rows.bytes(), "pieces of one size");
        if self.lie.width == rows.lie.width && self.lie.sizes == rows.lie.sizes {
            let from = Block {
                start: rows.start,
                sizes: &rows.lie.sizes,
                strides: &rows.lie.strides,
            };
            let to = BlockMut {
                start: self.start,
                sizes: &self.lie.sizes,
                strides: &self.lie.strides,
            };
            // SAFETY: R1 and W1; both have the same sizes and elements.
            return unsafe { kernels::copy::copy(from, to, rows.lie.width) };
        }
        if let Some(bytes) = rows.as_slice() {
            return self.write(0, bytes);
        }
        match self.as_mut_slice() {
            Some(into) => rows.read(0, into),
            None => {
                let mut packed = vec![0; rows.bytes()];
                rows.read(0, &mut packed);
                self.write(0, &packed);
            }
        }
    }
}

/// Rows of elements from one place to another, of which bytes need not be aligned for them.
///
/// # Safety
/// K1 and K4 for the source; K1 and K3 for the target.
unsafe fn copy(
    from: *const u8,
    from_strides: [isize; 2],
    to: *mut u8,
    to_strides: [isize; 2],
    sizes: [usize; 2],
    width: usize,
) {
    let bytes = |strides: [isize; 2]| strides.map(|stride| stride * width as isize);
    let (from_bytes, to_bytes) = (bytes(from_strides), bytes(to_strides));
    if from_strides[1] == 1 && to_strides[1] == 1 {
        let sizes = &[sizes[0], sizes[1] * width];
        let from = Block {
            start: from,
            sizes,
            strides: &[from_bytes[0], 1],
        };
        let to = BlockMut {
            start: to,
            sizes,
            strides: &[to_bytes[0], 1],
        };
        // SAFETY: the caller's; bytes are always aligned.
        return unsafe { kernels::copy::copy_past_cache(from, to, 1) };
    }
    for row in 0..sizes[0] as isize {
        for i in 0..sizes[1] as isize {
            // SAFETY: the caller's.
            unsafe {
                let from = from.offset(row * from_bytes[0] + i * from_bytes[1]);
                let to = to.offset(row * to_bytes[0] + i * to_bytes[1]);
                std::ptr::copy_nonoverlapping(from, to, width);
            }
        }
    }
}

impl Tensor {
    /// A packed tensor that is cut along an axis into pieces of these sizes, which `write` fills. It must write all of
    /// them: what it leaves is whatever it was.
    pub fn from_pieces(
        dtype: DType,
        shape: &[usize],
        (axis, sizes): (usize, &[usize]),
        write: impl FnOnce(&mut [RowsMut<'_>]) -> Result<()>,
    ) -> Result<Tensor> {
        let layout = Layout::packed(dtype.width(), shape)?;
        assert_eq!(
            sizes.iter().sum::<usize>(),
            shape[axis],
            "pieces of the axis"
        );
        made(dtype, layout, |start, layout| {
            let mut before = 0;
            let pieces = sizes.iter().map(|&size| {
                let mut dims: SmallVec<[usize; 8]> = shape.into();
                dims[axis] = size;
                let offset = before * layout.strides()[axis].unsigned_abs() * dtype.width();
                before += size;
                // W1: the room is new and initialised, and the pieces do not overlap.
                RowsMut {
                    start: start.wrapping_add(offset),
                    lie: Lie::new(dtype.width(), &dims, layout.strides()),
                    memory: PhantomData,
                }
            });
            write(&mut pieces.collect::<Vec<_>>())
        })
    }
}

#[cfg(test)]
mod tests {
    use stridewise_core::operators::Methods;
    use stridewise_core::params::Item;

    use super::*;

    /// Views of one tensor that lie in every way, with what they hold.
    fn views() -> Vec<(Tensor, Vec<u8>)> {
        let x = Tensor::from_vec((0..120u16).collect(), &[4, 5, 6]).expect("fits");
        let cut = [Item::Rest, Item::from(1..4)];
        let views = [
            x.clone(),
            x.slice(cut).expect("a view"),
            x.slice([Item::from(1..3)]).expect("a view"),
            x.permute([2, 0, 1]).expect("a view"),
            x.flip([1, 2]).expect("a view"),
            x.reshape([4, 5, 1, 6])
                .expect("a view")
                .expand([4, 5, 2, 6])
                .expect("a view"),
            x.slice([Item::from(2..2)]).expect("a view"),
        ];
        let bytes = |x: &Tensor| {
            x.to_vec::<u16>()
                .expect("u16")
                .iter()
                .flat_map(|n| n.to_ne_bytes())
                .collect()
        };
        views
            .into_iter()
            .map(|x| (bytes(&x), x))
            .map(|(bytes, x)| (x, bytes))
            .collect()
    }

    #[test]
    fn any_run_is_read_as_if_packed() {
        for (x, wanted) in views() {
            let rows = Rows::from(&x);
            assert_eq!(rows.bytes(), wanted.len());
            assert_eq!(
                rows.as_slice(),
                x.is_contiguous().then_some(&wanted[..]),
                "{:?}",
                x.shape()
            );
            for from in (0..=wanted.len()).step_by(2) {
                for to in (from..=wanted.len()).step_by(14) {
                    let mut into = vec![0; to - from];
                    rows.read(from, &mut into);
                    assert_eq!(into, wanted[from..to], "{from}..{to} of {:?}", x.shape());
                }
            }
        }
    }

    #[test]
    fn pieces_are_written_in_runs_and_from_anything() {
        for axis in 0..3 {
            for way in 0..3 {
                let shape = [4, 5, 6];
                let sizes = match axis {
                    0 => [1, 0, 3],
                    1 => [2, 2, 1],
                    _ => [0, 5, 1],
                };
                let whole = Tensor::from_vec((0..120u16).collect(), &shape).expect("fits");
                let made = Tensor::from_pieces(DType::U16, &shape, (axis, &sizes), |pieces| {
                    let mut start = 0;
                    for (piece, size) in pieces.iter_mut().zip(sizes) {
                        let mut item = vec![Item::from(..); 3];
                        item[axis] = Item::from(start..start + size as isize);
                        start += size as isize;
                        let part = whole.slice(item)?;
                        let rows = Rows::from(&part);
                        let mut packed = vec![0; rows.bytes()];
                        rows.read(0, &mut packed);
                        match way {
                            0 => piece.copy_from(&rows),
                            1 => piece.copy_from(&Rows::from(&packed[..])),
                            _ => {
                                for (at, run) in packed.chunks(6).enumerate() {
                                    piece.write(at * 6, run);
                                }
                            }
                        }
                    }
                    Ok(())
                });
                let made = made.expect("made").to_vec::<u16>().expect("u16");
                assert_eq!(
                    made,
                    (0..120).collect::<Vec<u16>>(),
                    "axis {axis}, way {way}"
                );
            }
        }
    }
}
