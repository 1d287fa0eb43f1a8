//! How far a run has come.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar with a tick for each step. It shows itself only on a terminal, and only once the work has taken
/// long enough for someone to wonder.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Dropped to tell the thread that waits that nothing is left to show.
    done: Option<Sender<()>>,
    waiting: Option<thread::JoinHandle<()>>,
}

/// How long work may take before there is a bar.
const PATIENCE: Duration = Duration::from_millis(300);

impl Progress {
    /// A bar for so many steps.
    pub(crate) fn new(steps: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{spinner} [{bar:24}] {pos}/{len} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let (done, stop) = channel::<()>();
        let late = bar.clone();
        let waiting = thread::spawn(move || {
            if stop.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                // On a pipe this target draws nothing.
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Progress {
            bar,
            done: Some(done),
            waiting: Some(waiting),
        }
    }

    /// Says what is being done.
    pub(crate) fn begin(&self, what: &str) {
        self.bar.set_message(what.to_string());
    }

    /// One step is done.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
    }

    /// Takes the bar away while something is written.
    pub(crate) fn pause<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(waiting) = self.waiting.take() {
            // The thread only draws; if it panicked there is nothing to mend.
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}
