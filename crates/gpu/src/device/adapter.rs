//! Finding a device: which adapter is taken, what is known of it, and why there is none.

use std::fmt;

use stridewise_core::{Error, Result};

use super::now;

/// What is known of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Which of the devices that this process opened: 0 for the first.
    pub number: usize,
    /// The adapter's name, such as `NVIDIA GeForce RTX 4090`.
    pub name: String,
    /// What it is driven through: `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// The driver and its version, where it tells.
    pub driver: String,
    /// The most bytes that one tensor can have: what a kernel can bind.
    pub max_tensor_bytes: usize,
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}", self.name, self.kind, self.backend)?;
        if !self.driver.is_empty() {
            write!(f, ", {}", self.driver)?;
        }
        write!(f, "), tensors up to {} MiB", self.max_tensor_bytes >> 20)
    }
}

impl Info {
    pub(super) fn of(adapter: &wgpu::Adapter, number: usize, limits: &wgpu::Limits) -> Info {
        let info = adapter.get_info();
        let max = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
            // Kernels count places with 32 bits, and keep the last for what is nowhere.
            .min(u64::from(u32::MAX));
        Info {
            number,
            backend: info.backend.to_str().to_string(),
            kind: match info.device_type {
                wgpu::DeviceType::DiscreteGpu => "discrete",
                wgpu::DeviceType::IntegratedGpu => "integrated",
                wgpu::DeviceType::VirtualGpu => "virtual",
                wgpu::DeviceType::Cpu => "software",
                wgpu::DeviceType::Other => "other",
            },
            driver: [info.driver.as_str(), info.driver_info.as_str()]
                .join(" ")
                .trim()
                .to_string(),
            name: info.name,
            max_tensor_bytes: usize::try_from(max).unwrap_or(usize::MAX) / 16 * 16,
        }
    }

    /// The device in a message about several.
    pub(crate) fn title(&self) -> String {
        format!("GPU {} ({})", self.number, self.name)
    }
}

/// The adapters that can compute, the fastest kind first.
pub(super) fn adapters() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        // Neither validation layers nor debug labels, which cost time.
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let backends = wgpu::Instance::enabled_backend_features();
    let mut all = now(instance.enumerate_adapters(backends)).unwrap_or_default();
    all.retain(|adapter| {
        let flags = adapter.get_downlevel_capabilities().flags;
        flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
    });
    all.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    all
}

/// There is nothing to open.
#[cold]
pub(super) fn none() -> Error {
    let driver = if cfg!(target_os = "linux") {
        "install the Vulkan driver of your GPU, or a software one (Debian: mesa-vulkan-drivers and libvulkan1)"
    } else if cfg!(target_os = "macos") {
        "a Mac needs Metal, which every Mac with macOS 10.13 or later has"
    } else {
        "install the driver of your GPU"
    };
    let backends: Vec<String> = wgpu::Instance::enabled_backend_features()
        .iter_names()
        .map(|(name, _)| name.to_lowercase())
        .collect();
    Error::device("no GPU was found: no driver answers for one")
        .note("looked through", backends.join(", "))
        .help(driver)
}

/// Opens an adapter. Of WebGPU's features none is asked for, of its limits only larger tensors where there is room.
pub(super) fn open(adapter: &wgpu::Adapter) -> Result<(wgpu::Device, wgpu::Queue, wgpu::Limits)> {
    let (offered, name) = (adapter.limits(), adapter.get_info().name);
    let limits = wgpu::Limits {
        max_buffer_size: offered.max_buffer_size,
        max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
        ..wgpu::Limits::default()
    };
    // Whatever is left out of the defaults is of no use to kernels, so a device may lack it.
    let limits = limits.or_worse_values_from(&offered);
    let wanted = wgpu::DeviceDescriptor {
        label: Some("stridewise"),
        required_limits: limits.clone(),
        ..wgpu::DeviceDescriptor::default()
    };
    let opened = now(adapter.request_device(&wanted));
    match opened {
        Some(Ok((device, queue))) => Ok((device, queue, limits)),
        Some(Err(error)) => Err(refused(&name, &error.to_string())),
        None => Err(refused(&name, "it gave no answer")),
    }
}

#[cold]
fn refused(name: &str, why: &str) -> Error {
    Error::device(format!("the GPU {name} cannot be opened: {why}"))
}
