//! Sums of an element that is repeated, as in the gradient of a sum: a few additions, however many terms there are.
//! Equal lanes and equal blocks double when they are added, so the tree is built from one lane and one block.

use super::tree::combine;
use super::{BLOCK, LANES};
use crate::element::Number;
use crate::kernels::loops::{Loops, Shared, in_pieces};

/// Outputs below which a call stays on its own thread.
const WORTH_THREADS: usize = 16 * 1024;

/// Stores `terms` times the element of each output, at least once.
///
/// # Safety
/// K1, K2, K4 for the elements of all outputs.
pub(super) unsafe fn sum<T: Number>(
    src: Shared<*const T>,
    kept: &Loops<1>,
    terms: usize,
    store: &(impl Fn(usize, T::Accumulator) + Sync),
) {
    let [step] = kept.steps();
    in_pieces(kept.len(), WORTH_THREADS, 64, |piece| {
        kept.spans(piece, |at, len, [offset]| {
            // SAFETY: the caller's.
            let element = |i: usize| unsafe { *src.get().offset(offset + i as isize * step) };
            if step == 0 {
                let sum = times(element(0), terms);
                (0..len).for_each(|i| store(at + i, sum));
            } else if terms == 1 {
                (0..len).for_each(|i| store(at + i, element(i).widen()));
            } else {
                (0..len).for_each(|i| store(at + i, times(element(i), terms)));
            }
        });
    });
}

/// The sum of `terms` equal terms, at least one.
#[inline(always)]
fn times<T: Number>(x: T, terms: usize) -> T::Accumulator {
    let x = x.widen();
    let (mut blocks, rest) = (terms / BLOCK, terms % BLOCK);
    let mut sum = (rest > 0).then(|| few::<T>(x, rest));
    let mut whole = few::<T>(x, if blocks > 0 { BLOCK } else { 1 });
    // The right edge of the tree first, then subtrees of ever more blocks to its left.
    while blocks > 0 {
        if blocks & 1 == 1 {
            sum = Some(sum.map_or(whole, |sum| T::add(whole, sum)));
        }
        whole = T::add(whole, whole);
        blocks >>= 1;
    }
    sum.unwrap_or(whole)
}

/// The sum of a block of 1 to 128 equal terms.
#[inline(always)]
fn few<T: Number>(x: T::Accumulator, terms: usize) -> T::Accumulator {
    if terms < LANES {
        return combine::<T>([x; LANES], terms);
    }
    let short = (1..terms / LANES).fold(x, |sum, _| T::add(sum, x));
    let long = T::add(short, x);
    let lanes = std::array::from_fn(|j| if j < terms % LANES { long } else { short });
    combine::<T>(lanes, LANES)
}
