//! What goes wrong on a device, as errors: nothing of it may end the process.
//!
//! A lost device, and a batch that could not be sent, cost what tensors hold; from then on every call fails, since
//! a wrong result is worse than none. Memory that is not there fails one call only.

use std::sync::{Arc, OnceLock};

use stridewise_core::{Error, Result};

use super::{Device, now};

/// Whether the device is still good, and why not.
pub(super) struct Trouble {
    device: String,
    lost: OnceLock<String>,
}

impl Trouble {
    /// Listens to what the device says of itself.
    pub(super) fn watch(raw: &wgpu::Device, device: String) -> Arc<Trouble> {
        let trouble = Arc::new(Trouble {
            device,
            lost: OnceLock::new(),
        });
        let listener = trouble.clone();
        raw.set_device_lost_callback(move |_, message| {
            listener.lose(&message);
        });
        let listener = trouble.clone();
        raw.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            listener.lose(&error.to_string());
        }));
        trouble
    }

    /// Notes that the device cannot be trusted any more.
    fn lose(&self, why: &str) -> Error {
        // The first reason is the cause, later ones follow from it. Drivers tell it in several lines.
        let one_line = || why.split_whitespace().collect::<Vec<_>>().join(" ");
        self.error(self.lost.get_or_init(one_line))
    }

    pub(super) fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    #[cold]
    fn error(&self, why: &str) -> Error {
        let why = match why.trim_end_matches('.') {
            "" => String::new(),
            why => format!(": {why}"),
        };
        Error::device(format!("{} was lost{why}", self.device))
            .help("what its tensors held is gone; open the GPU again and make them anew")
    }
}

impl Device {
    /// An error if the device is lost.
    pub(crate) fn require_alive(&self) -> Result<()> {
        let trouble = &self.0.trouble;
        trouble.lost().map_or(Ok(()), |why| Err(trouble.error(why)))
    }

    /// Notes that the device cannot be trusted any more. If it says itself that it was lost, this only follows.
    pub(super) fn lose_for(&self, why: &str) -> Error {
        let _ = self.0.raw.poll(wgpu::PollType::Poll);
        self.0.trouble.lose(why)
    }

    /// Calls the driver and turns what it complains of into an error. A complaint is of the call alone if it is memory;
    /// anything else is a loss.
    pub(super) fn guarded<T>(&self, call: impl FnOnce() -> T) -> Result<T> {
        self.require_alive()?;
        let raw = &self.0.raw;
        let scopes = [
            raw.push_error_scope(wgpu::ErrorFilter::Validation),
            raw.push_error_scope(wgpu::ErrorFilter::Internal),
            raw.push_error_scope(wgpu::ErrorFilter::OutOfMemory),
        ];
        let made = call();
        let mut memory = false;
        for scope in scopes.into_iter().rev() {
            match now(scope.pop()).flatten() {
                Some(wgpu::Error::OutOfMemory { .. }) => memory = true,
                Some(error) => drop(self.lose_for(&error.to_string())),
                None => {}
            }
        }
        self.require_alive()?;
        match memory {
            true => Err(Error::memory(format!(
                "{} has no memory left",
                self.0.info.title()
            ))),
            false => Ok(made),
        }
    }
}
