//! A device: what is behind every tensor on a GPU. Its parts are the pool of buffers, the pipelines, the batch of
//! commands that have not been sent, and the ways up and down.

mod adapter;
mod batch;
mod counts;
mod pipelines;
mod pool;
mod transfer;
mod trouble;

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use stridewise_core::{Error, Result};

use crate::faults::SLOTS;
use crate::kernels::{Kernel, arithmetic};
use crate::storage::Storage;

pub use adapter::Info;
pub use counts::Counts;

use batch::{Batch, Launch};
use counts::Counters;
use pipelines::Pipelines;
use pool::Pool;
use trouble::Trouble;

/// Threads in one dimension of a launch; the prelude's `thread` counts on it.
const ROW: u64 = 65535 * 64;

/// A kernel with more threads would count past 32 bits in its last row.
const MOST_THREADS: u64 = (1 << 32) - ROW;

/// An open device. A clone is the same device.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

pub(crate) struct Inner {
    info: Info,
    raw: wgpu::Device,
    queue: wgpu::Queue,
    trouble: Arc<Trouble>,
    counters: Counters,
    pipelines: Pipelines,
    pool: Mutex<Pool>,
    batch: Mutex<Batch>,
    /// Whether kernels use its own addition of `f32`.
    adds_itself: AtomicBool,
}

static OPENED: AtomicUsize = AtomicUsize::new(0);

impl Device {
    /// Opens the best adapter, in a device of its own.
    pub(crate) fn open() -> Result<Device> {
        let adapters = adapter::adapters();
        let mut refusal = None;
        for adapter in &adapters {
            match Device::of(adapter) {
                Ok(device) => return Ok(device),
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        Err(refusal.unwrap_or_else(adapter::none))
    }

    fn of(adapter: &wgpu::Adapter) -> Result<Device> {
        let (raw, queue, limits) = adapter::open(adapter)?;
        let number = OPENED.fetch_add(1, Ordering::Relaxed);
        let info = Info::of(adapter, number, &limits);
        let trouble = Trouble::watch(&raw, info.title());
        let fresh = |adds_itself| {
            let slots = raw.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: SLOTS as u64 * 4,
                usage: pool::USAGE,
                mapped_at_creation: false,
            });
            Device(Arc::new(Inner {
                pipelines: Pipelines::new(&raw),
                pool: Mutex::new(Pool::default()),
                batch: Mutex::new(Batch::new(&limits, slots)),
                adds_itself: AtomicBool::new(adds_itself),
                counters: Counters::default(),
                info: info.clone(),
                raw: raw.clone(),
                queue: queue.clone(),
                trouble: trouble.clone(),
            }))
        };
        // The trial leaves no buffers and no counts behind.
        Ok(fresh(arithmetic::adds_as_we_do(&fresh(false))))
    }

    /// Whether kernels may use its own addition of `f32`.
    pub(crate) fn adds_itself(&self) -> bool {
        self.0.adds_itself.load(Ordering::Relaxed)
    }

    /// Lets kernels use its own addition of `f32`, or not: results are the same.
    #[doc(hidden)]
    pub fn let_add(&self, trusted: bool) {
        self.0.adds_itself.store(trusted, Ordering::Relaxed);
    }

    /// What is known of it.
    pub fn info(&self) -> &Info {
        &self.0.info
    }

    /// What it has done so far.
    pub fn counts(&self) -> Counts {
        self.0.counters.get()
    }

    /// Whether it is lost: every call then fails, and a device that is opened anew takes its place.
    pub fn is_lost(&self) -> bool {
        self.0.trouble.lost().is_some()
    }

    /// Loses the device, as a driver that is reset would.
    #[doc(hidden)]
    pub fn lose(&self) {
        self.0.raw.destroy();
        // The callback comes with the next poll at the latest.
        let _ = self.0.raw.poll(wgpu::PollType::Poll);
    }

    /// Refuses to hold more than so many bytes, as a device with less memory would; `None` for no limit but its own.
    pub fn limit_memory(&self, bytes: Option<usize>) {
        lock(&self.0.pool).limit(bytes.map(|bytes| bytes as u64));
    }

    /// Storage of so many bytes, which hold anything until they are written.
    pub fn storage(&self, bytes: usize) -> Result<Storage> {
        Ok(Storage::new(self.clone(), self.buffer(bytes)?, bytes))
    }

    /// Adds a launch of a kernel to the batch: `params`, `out` and `inputs` are its bindings in that order, and `threads`
    /// is how many of them it needs; there may be up to 63 more in the last workgroup, or a row of them in a large launch, so a kernel compares its
    /// number with one of its parameters. The output inherits the inputs' faults. The inputs are not the output.
    pub fn launch(
        &self,
        kernel: &Kernel,
        params: &[u32],
        out: &Storage,
        inputs: &[&Storage],
        threads: usize,
    ) -> Result<()> {
        for input in inputs {
            out.inherit(input);
        }
        if threads == 0 {
            return Ok(());
        }
        let inputs = inputs.iter().map(|input| input.buffer());
        let launch = self.prepare(kernel, out.buffer(), inputs, threads)?;
        let mut batch = lock(&self.0.batch);
        self.add(&mut batch, launch, params)
    }

    /// A launch without its parameters.
    fn prepare<'a>(
        &self,
        kernel: &Kernel,
        out: &'a wgpu::Buffer,
        inputs: impl Iterator<Item = &'a wgpu::Buffer>,
        threads: usize,
    ) -> Result<Launch> {
        self.require_countable(threads)?;
        let groups = (threads as u64).div_ceil(64);
        let rows = groups.div_ceil(ROW / 64);
        let row = if rows == 1 { groups } else { ROW / 64 };
        Ok(Launch {
            pipeline: self.0.pipelines.get(self, kernel)?,
            buffers: std::iter::once(out).chain(inputs).cloned().collect(),
            groups: [row as u32, rows as u32],
        })
    }

    fn add(&self, batch: &mut Batch, launch: Launch, params: &[u32]) -> Result<()> {
        self.0.counters.launches.add(1);
        batch.launch(launch, params);
        self.submit_if_long(batch)
    }

    /// Requires that a kernel can count so many steps.
    pub(crate) fn require_countable(&self, steps: usize) -> Result<()> {
        match steps as u64 > MOST_THREADS {
            true => Err(self.too_many(steps)),
            false => Ok(()),
        }
    }

    /// Whether two are the same device.
    pub fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    #[cold]
    fn too_many(&self, threads: usize) -> Error {
        Error::overflow(format!(
            "{threads} steps are more than one kernel on {} can take",
            self.0.info.title()
        ))
        .sizes(format!("at most {MOST_THREADS}"), threads)
        .help("cut the tensor into smaller ones, or keep it on the CPU")
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.info.title())
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.info.title())
    }
}

/// A lock that outlives a panic elsewhere: what it guards is whole between any two steps.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a future gives at once: off the web, wgpu's never wait.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
