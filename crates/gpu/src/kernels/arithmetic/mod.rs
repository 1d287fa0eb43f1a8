//! Arithmetic: casts, sums of two operands, sums over axes, and updates added at an index. Everything is computed with
//! 32-bit integers, bit for bit as on the CPU; floats only where a trial on the device has shown its own addition to
//! be the same.

mod add;
mod cast;
mod convert;
mod job;
mod library;
mod number;
mod scatter_add;
mod sort;
mod sum;
mod trial;

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use stridewise_core::{Error, Result};

use self::job::Job;
use super::Kernel;

pub(crate) use add::add;
pub(crate) use cast::cast;
pub(crate) use scatter_add::scatter_add;
pub(crate) use sum::sum;
pub(crate) use trial::adds_as_we_do;

/// Every kernel.
pub fn all() -> Vec<Kernel> {
    Job::all().into_iter().map(Job::made).collect()
}

/// Kernels by what they do; the text of each is made when it is first launched.
static KERNELS: LazyLock<HashMap<Job, OnceLock<Kernel>>> = LazyLock::new(|| {
    let jobs = Job::all().into_iter();
    jobs.map(|job| (job, OnceLock::new())).collect()
});

impl Job {
    /// The kernel, which must be one of [`Job::all`].
    fn kernel(self) -> &'static Kernel {
        KERNELS[&self].get_or_init(|| self.made())
    }

    fn made(self) -> Kernel {
        Kernel::new(self.name(), self.inputs(), self.source())
    }
}

/// A number of elements as kernels count them.
fn counted(number: usize) -> Result<u32> {
    u32::try_from(number).map_err(|_| {
        Error::overflow(format!(
            "{number} elements or steps are more than a kernel can count"
        ))
        .sizes(format!("at most {}", u32::MAX), number)
        .help("cut the tensor into smaller ones, or keep it on the CPU")
    })
}

/// Parameters: a head of numbers, some of which say where the blocks that follow begin.
struct Params {
    words: Vec<u32>,
}

impl Params {
    /// A head of so many numbers.
    fn new<const N: usize>(head: [u32; N]) -> Params {
        Params {
            words: head.to_vec(),
        }
    }

    /// Adds a block and writes where it begins to a place of the head.
    fn block(mut self, place: usize, block: &[u32]) -> Params {
        self.words[place] = self.words.len() as u32;
        self.words.extend_from_slice(block);
        self
    }
}
