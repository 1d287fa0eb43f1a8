//! The engine of tensors on a GPU, as one whose tensors lie elsewhere.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use stridewise::gpu::Tensor as OnGpu;
use stridewise::size::tuple;
use stridewise::{Error, Gpu, Result, Tensor, Value};

use super::{Known, PyGpu};
use crate::elsewhere::{Away, Calls, Notes};

thread_local! {
    static CALLS: RefCell<Calls<Gpu>> = const { RefCell::new(Vec::new()) };
}

impl Away for Gpu {
    type Class = PyGpu;

    fn notes() -> &'static Notes<Self> {
        static NOTES: Notes<Gpu> = Notes {
            ever: AtomicBool::new(false),
            calls: &CALLS,
        };
        &NOTES
    }

    fn require_together(first: &OnGpu, other: &OnGpu) -> Result<()> {
        let (a, b) = (first.device(), other.device());
        match a.is(b) {
            true => Ok(()),
            false => Err(
                Error::device(format!("tensors of {a} and of {b} are in one call"))
                    .sizes(a, b)
                    .help("bring both to one device: `x.to(\"cpu\").to(\"gpu\")`"),
            ),
        }
    }

    fn beside(first: &OnGpu, x: Tensor) -> Result<OnGpu> {
        first.engine().upload(&x)
    }

    fn mixed(gpu: &OnGpu, local: &Tensor) -> Error {
        let of = |dtype, shape: &[usize]| format!("{dtype} of shape {}", tuple(shape));
        Error::device(format!(
            "a tensor on {}, {}, and one on the CPU, {}, are in one call",
            gpu.device(),
            of(gpu.dtype(), gpu.shape()),
            of(local.dtype(), local.shape())
        ))
        .sizes("gpu", "cpu")
        .help("bring both to one device: `x.to(\"gpu\")` or `x.to(\"cpu\")`")
    }

    fn no_out() -> Error {
        Error::device("a tensor on the GPU is not written into memory of the CPU")
            .help("leave out away; `numpy()` of the result brings it there")
    }

    fn is_same(_operator: &'static str, given: &OnGpu, result: &OnGpu) -> bool {
        given.dtype() == result.dtype()
            && given.layout() == result.layout()
            && given.shares_storage_with(result)
    }
}

/// What is known of the GPU.
pub(crate) fn info() -> Result<Known> {
    let gpu = Gpu::open()?;
    let info = gpu.info();
    Ok((
        info.number,
        info.name.clone(),
        info.backend.to_string(),
        info.kind.to_string(),
        info.driver.clone(),
        info.max_tensor_bytes,
        info.to_string(),
    ))
}

/// What the GPU has done so far.
pub(crate) fn counts() -> Result<[u64; 5]> {
    let counts = Gpu::open()?.counts();
    Ok([
        counts.launches,
        counts.copies,
        counts.submissions,
        counts.bytes_up,
        counts.bytes_down,
    ])
}

/// The GPU holds at most so many bytes from now on.
pub(crate) fn limit_memory(bytes: Option<usize>) -> Result<()> {
    Gpu::open()?.device().limit_memory(bytes);
    Ok(())
}

/// Loses the GPU, as a driver that is reset would.
pub(crate) fn lose() -> Result<()> {
    Gpu::open()?.device().lose();
    Ok(())
}
