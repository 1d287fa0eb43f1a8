//! The library itself: starting it, a communicator of our own, and ending the job.
//!
//! L1: MPI is running: it was started before a [`Link`] was made and is stopped only after the world was closed.
//! L2: one thread at a time is inside MPI: a link is used under the lock of the world's state.

use std::ffi::{c_int, c_void};
use std::io::Write;
use std::time::{Duration, Instant};

use mpi::ffi;
use stridewise_core::error::{Error, Result};

/// A communicator that nobody else uses, so that no message of other libraries is taken for one of ours.
pub(super) struct Link {
    pub(super) comm: ffi::MPI_Comm,
    pub(super) rank: usize,
    pub(super) size: usize,
    /// Whether MPI was started here, and so is to be stopped here.
    started: bool,
}

// SAFETY: a handle is a name, which any thread may use; L2 keeps them apart.
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}

impl Link {
    /// Starts MPI unless another library of this process has, and opens a communicator with all ranks.
    pub(super) fn open(timeout: Duration) -> Result<Link> {
        let started = start()?;
        let mut link = Link {
            // SAFETY: L1: `start` has seen that MPI runs.
            comm: unsafe { ffi::RSMPI_COMM_WORLD },
            rank: 0,
            size: 0,
            started,
        };
        let (mut rank, mut size) = (0, 0);
        // SAFETY: L1; both numbers are written before the calls return.
        unsafe {
            check(ffi::MPI_Comm_rank(link.comm, &mut rank), "MPI_Comm_rank")?;
            check(ffi::MPI_Comm_size(link.comm, &mut size), "MPI_Comm_size")?;
        }
        (link.rank, link.size) = (rank as usize, size as usize);
        link.comm = duplicate(&link, timeout)?;
        // SAFETY: L1; the communicator is ours. Errors come back to us instead of ending the job without a word.
        let handler = unsafe { ffi::MPI_Comm_set_errhandler(link.comm, ffi::RSMPI_ERRORS_RETURN) };
        check(handler, "MPI_Comm_set_errhandler")?;
        Ok(link)
    }

    /// Stops MPI if it was started here and has not been stopped.
    pub(super) fn stop(&self) {
        if self.started && running() {
            // SAFETY: L1, and the ranks have agreed to close, so nothing is under way.
            unsafe { ffi::MPI_Finalize() };
        }
    }
}

/// Leaves each rank of this machine its share of the cores, where the launcher says how many there are and has not given
/// each cores of its own: while one waits for another it does not sleep, and helping threads would wait for it.
pub(super) fn share_cores() {
    const RANKS: [&str; 3] = [
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "MPI_LOCALNRANKS",
        "MV2_COMM_WORLD_LOCAL_SIZE",
    ];
    let said = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
    let ranks = RANKS.into_iter().find_map(said).filter(|ranks| *ranks > 1);
    if let (Some(ranks), Err(_)) = (ranks, std::env::var("RAYON_NUM_THREADS")) {
        // SAFETY: it only reads a number.
        let cores = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
        stridewise_cpu::limit_threads(cores.max(1) as usize / ranks);
    }
}

/// A copy of the communicator of all ranks. It is made by all of them together, so this waits for them.
fn duplicate(link: &Link, timeout: Duration) -> Result<ffi::MPI_Comm> {
    let begun = Instant::now();
    // MPI writes the handle when the others have come, which may be after we have given up.
    let copy: &'static mut ffi::MPI_Comm = Box::leak(Box::new(link.comm));
    let mut done = 0;
    // SAFETY: L1; the handle is never freed.
    unsafe {
        let mut request = ffi::RSMPI_REQUEST_NULL;
        check(
            ffi::MPI_Comm_idup(link.comm, copy, &mut request),
            "MPI_Comm_idup",
        )?;
        while done == 0 {
            check(
                ffi::MPI_Test(&mut request, &mut done, ffi::RSMPI_STATUS_IGNORE),
                "MPI_Test",
            )?;
            if done == 0 && begun.elapsed() > timeout {
                return Err(Error::world(format!(
                    "rank {} of {} opened the world, but not all others did within {} s",
                    link.rank,
                    link.size,
                    timeout.as_secs_f64()
                ))
                .help("open the world on every rank, and at about the same time"));
            }
            std::thread::yield_now();
        }
    }
    Ok(*copy)
}

/// Sees to it that MPI runs, and says whether it was started here.
fn start() -> Result<bool> {
    if flag(ffi::MPI_Finalized) {
        return Err(Error::world(
            "MPI has been stopped in this process, and cannot be started twice",
        )
        .help("keep what stops it, such as mpi4py's MPI or rsmpi's Universe, until the end"));
    }
    let started = !flag(ffi::MPI_Initialized);
    let mut provided = 0;
    // SAFETY: MPI is started once, or has been; no arguments are passed; the number is written before they return.
    let code = unsafe {
        match started {
            true => ffi::MPI_Init_thread(
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                ffi::RSMPI_THREAD_SERIALIZED,
                &mut provided,
            ),
            false => ffi::MPI_Query_thread(&mut provided),
        }
    };
    check(code, "MPI_Init_thread")?;
    // SAFETY: a constant of the library.
    if provided < unsafe { ffi::RSMPI_THREAD_SERIALIZED } {
        return Err(Error::world(
            "MPI was started for one thread only, but tensors may be used from any",
        )
        .help("start it with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE"));
    }
    Ok(started)
}

/// Whether MPI has been started and not stopped.
pub(super) fn running() -> bool {
    flag(ffi::MPI_Initialized) && !flag(ffi::MPI_Finalized)
}

fn flag(ask: unsafe extern "C" fn(*mut c_int) -> c_int) -> bool {
    let mut answer = 0;
    // SAFETY: both questions may be asked at any time, by any thread.
    unsafe { ask(&mut answer) };
    answer != 0
}

/// Calls `ask` when MPI is about to be stopped, by whomever: MPI lets go of what is tied to the communicator of this
/// process alone before anything else.
pub(super) fn before_stop(ask: extern "C" fn()) -> Result<()> {
    unsafe extern "C" fn gone(
        _: ffi::MPI_Comm,
        _: c_int,
        _: *mut c_void,
        ask: *mut c_void,
    ) -> c_int {
        // SAFETY: `ask` is the function that was tied below.
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn()>(ask)() };
        ffi::MPI_SUCCESS as c_int
    }
    unsafe extern "C" fn not_copied(
        _: ffi::MPI_Comm,
        _: c_int,
        _: *mut c_void,
        _: *mut c_void,
        _: *mut c_void,
        copied: *mut c_int,
    ) -> c_int {
        // SAFETY: MPI asks for an answer here.
        unsafe { *copied = 0 };
        ffi::MPI_SUCCESS as c_int
    }
    let mut key = 0;
    // SAFETY: L1; the functions live as long as the program, and the value tied to the key is not used.
    unsafe {
        let code =
            ffi::MPI_Comm_create_keyval(Some(not_copied), Some(gone), &mut key, ask as *mut c_void);
        check(code, "MPI_Comm_create_keyval")?;
        let code = ffi::MPI_Comm_set_attr(ffi::RSMPI_COMM_SELF, key, std::ptr::null_mut());
        check(code, "MPI_Comm_set_attr")
    }
}

/// Ends the job on all ranks, with status 1. What went wrong is told first.
pub(super) fn abort(message: &str) -> ! {
    say(message);
    // SAFETY: MPI runs, or this is not called. It may be inside MPI on another thread, but nobody comes back from here.
    unsafe {
        if running() {
            ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1);
        }
        libc::_exit(1)
    }
}

/// Writes one message to standard error, whole.
pub(super) fn say(message: &str) {
    let line = format!("stridewise: {message}\n");
    // There is nobody to tell that nothing can be told.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// What a call of MPI says.
pub(super) fn check(code: c_int, call: &str) -> Result<()> {
    match code == ffi::MPI_SUCCESS as c_int {
        true => Ok(()),
        false => Err(Error::world(format!("{call} failed: {}", text(code)))),
    }
}

fn text(code: c_int) -> String {
    let mut text = [0; ffi::MPI_MAX_ERROR_STRING as usize];
    let mut len = 0;
    // SAFETY: the text has as much room as MPI may need.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut len) };
    let len = usize::try_from(len).unwrap_or(0).min(text.len());
    String::from_utf8_lossy(&text[..len]).into_owned()
}
