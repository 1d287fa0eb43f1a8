//! `take` with an `out`: the one place where a tensor is written after it was made.

use stridewise_core::operator::Named;
use stridewise_core::operators::Take;
use stridewise_core::params::Mode;
use stridewise_core::{Error, Result};
use stridewise_cpu::{Cpu, Tensor};

/// `take` into `out`, which must have the result's shape and dtype, share its storage with no other tensor,
/// be writable and not overlap itself, the input or the index. It is untouched when the call fails.
///
/// ```
/// use stridewise::prelude::*;
///
/// let x = tensor([4, 3, 5, 7, 6, 8])?;
/// let mut out = zeros([3], DType::I32)?;
/// stridewise::take_into(&x, &tensor([0, 1, 4])?, None, Mode::Raise, &mut out)?;
/// assert_eq!(out.to_vec::<i32>()?, [4, 3, 6]);
/// # Ok::<(), stridewise::Error>(())
/// ```
pub fn take_into(
    input: &Tensor,
    index: &Tensor,
    axis: impl Into<Option<isize>>,
    mode: Mode,
    out: &mut Tensor,
) -> Result<()> {
    let take = Take {
        axis: axis.into(),
        mode,
    };
    take.along(&Cpu, input, index)
        .and_then(|along| Cpu.gather_into(input, index, &along, mode, out))
        .map_err(|error: Error| error.within(Take::NAME))
}
