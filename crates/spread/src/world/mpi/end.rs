//! How a rank comes to its end. A rank that is gone while others still work would leave them waiting, so every way out
//! leads through here: all ranks say farewell to each other, and where one has failed, or does not come in time, the
//! job ends with status 1 and a reason.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use stridewise_core::error::{Error, Result};

use super::control::{About, Letter, exchange};
use super::link::{self, abort, running};
use super::{Mpi, OPENED};
use crate::world::agree::{Record, TIMEOUT, seconds};

/// The last panic, in case it is what ends the program.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Sees to it that no way out of the program passes by [`at_exit`]. Called once, before MPI runs.
pub(super) fn guard() -> Result<()> {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(info.to_string());
        before(info);
    }));
    told_to_end();
    // SAFETY: the function lives as long as the program.
    match unsafe { libc::atexit(at_exit) } {
        0 => Ok(()),
        _ => Err(Error::world(
            "the system has no room for another exit handler",
        )),
    }
}

/// When the program ends: by returning from `main`, by `exit`, or after a panic.
extern "C" fn at_exit() {
    match OPENED.get() {
        Some(Ok(world)) => {
            close(world);
            world.link.stop();
        }
        // The others may have opened it, and wait for this rank.
        Some(Err(error)) if running() => abort(&error.to_string()),
        _ => {}
    }
}

/// When MPI is about to be stopped, here or by another library.
pub(super) extern "C" fn before_stop() {
    if let Some(Ok(world)) = OPENED.get() {
        close(world);
    }
}

/// Says farewell, and waits for that of all others. Comes back only if all is well.
fn close(world: &'static Mpi) {
    static CLOSED: AtomicBool = AtomicBool::new(false);
    if CLOSED.swap(true, Ordering::SeqCst) || !running() {
        return;
    }
    let (rank, size) = (world.link.rank, world.link.size);
    let ends = |why: &str| abort(&format!("rank {rank} of {size} ends the job: {why}"));
    let begun = Instant::now();
    let mut state = loop {
        match world.state.try_lock() {
            Ok(state) => break state,
            Err(TryLockError::Poisoned(state)) => break state.into_inner(),
            Err(TryLockError::WouldBlock) if begun.elapsed() < world.timeout => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(TryLockError::WouldBlock) => {
                ends("it exits while one of its threads still uses the world")
            }
        }
    };
    if let Some(error) = &state.broken {
        ends(&error.to_string());
    }
    let panic = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    let why = match &panic {
        Some(text) => format!("it {text}"),
        None => "its program came to its end".to_string(),
    };
    let letter = Letter::farewell(About::End, size, &why);
    // One that has left the world before has said so.
    let letter = (!std::mem::replace(&mut state.left, true)).then_some(letter);
    let farewell = exchange(
        &world.link,
        world.others().map(|other| (other, letter)),
        world.timeout,
        |other, heard| match heard.about {
            About::End => Ok(()),
            About::Failure => Err(Error::world(format!(
                "rank {rank} ended ({why}), and so must rank {other}: {}",
                String::from_utf8_lossy(heard.text)
            ))),
            About::Call | About::LongCall => Err(Error::world(match Record::decode(heard.text) {
                Ok(record) => {
                    format!("rank {rank} ended ({why}), but rank {other} called {record}")
                }
                Err(_) => format!("rank {rank} ended ({why}), but rank {other} goes on"),
            })),
        },
        |ranks| waiting(&format!("rank {rank} waited for ranks {ranks:?} to end")),
        |ranks| {
            Error::world(format!(
                "it came to its end, but ranks {ranks:?} did not within {}",
                seconds(world.timeout)
            ))
            .help(format!(
                "if they are only slow, allow more seconds with {TIMEOUT}"
            ))
        },
    );
    idle();
    if let Err(error) = farewell {
        ends(&error.to_string());
    }
}

/// What this rank waits for, for [`terminated`], which may read nothing that takes a lock.
static WAITING: [AtomicU8; 512] = [const { AtomicU8::new(0) }; 512];
static WAITING_LEN: AtomicUsize = AtomicUsize::new(0);

/// Notes what this rank waits for, in case it is told to end meanwhile.
pub(super) fn waiting(what: &str) {
    let line = format!("stridewise: {what} when the job was ended\n");
    let line = line.as_bytes();
    let len = line.len().min(WAITING.len());
    for (to, from) in WAITING.iter().zip(&line[..len]) {
        to.store(*from, Ordering::Relaxed);
    }
    WAITING_LEN.store(len, Ordering::Release);
}

/// Nothing is waited for any more.
pub(super) fn idle() {
    WAITING_LEN.store(0, Ordering::Release);
}

/// `mpirun` ends all ranks when one of them is killed, and says which. What the others wanted of it they say here.
fn told_to_end() {
    extern "C" fn terminated(signal: libc::c_int) {
        let mut line = [0; WAITING.len()];
        let len = WAITING_LEN.load(Ordering::Acquire);
        for (to, from) in line.iter_mut().zip(&WAITING) {
            *to = from.load(Ordering::Relaxed);
        }
        // SAFETY: all of these may be called in a handler; the line has at least `len` bytes.
        unsafe {
            libc::write(2, line.as_ptr().cast(), len.min(line.len()));
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
    // SAFETY: the handler lives as long as the program. A program that has its own keeps it.
    unsafe {
        let mut before = std::mem::zeroed::<libc::sigaction>();
        let known = libc::sigaction(libc::SIGTERM, std::ptr::null(), &mut before) == 0;
        if known && before.sa_sigaction == libc::SIG_DFL {
            libc::signal(libc::SIGTERM, terminated as *const () as libc::sighandler_t);
        }
    }
}

/// Ties [`before_stop`] to MPI.
pub(super) fn guard_stop() -> Result<()> {
    link::before_stop(before_stop)
}
