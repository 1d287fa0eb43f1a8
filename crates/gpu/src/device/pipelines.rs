//! Kernels made ready to run, once each: a driver takes milliseconds to compile one.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use stridewise_core::{Error, Result};

use super::{Device, lock};
use crate::kernels::{Kernel, MOST_INPUTS};

/// A kernel that is ready to run.
pub(super) struct Pipeline {
    pub(super) raw: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
}

/// All kernels that have run on a device, by name, and how their bindings lie, by the number of inputs.
pub(super) struct Pipelines {
    ready: Mutex<HashMap<Cow<'static, str>, Arc<Pipeline>>>,
    layouts: Vec<wgpu::BindGroupLayout>,
}

impl Pipelines {
    pub(super) fn new(raw: &wgpu::Device) -> Pipelines {
        let layout = |inputs: usize| {
            let entries: Vec<_> = (0..inputs + 2)
                .map(|binding| wgpu::BindGroupLayoutEntry {
                    binding: binding as u32,
                    visibility: wgpu::ShaderStages::COMPUTE,
                    ty: wgpu::BindingType::Buffer {
                        ty: wgpu::BufferBindingType::Storage {
                            read_only: binding != 1,
                        },
                        has_dynamic_offset: false,
                        min_binding_size: None,
                    },
                    count: None,
                })
                .collect();
            raw.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: None,
                entries: &entries,
            })
        };
        Pipelines {
            ready: Mutex::new(HashMap::new()),
            layouts: (0..=MOST_INPUTS).map(layout).collect(),
        }
    }

    pub(super) fn get(&self, device: &Device, kernel: &Kernel) -> Result<Arc<Pipeline>> {
        // Held while compiling: others would most likely want the same.
        let mut ready = lock(&self.ready);
        if let Some(pipeline) = ready.get(&kernel.name) {
            return Ok(pipeline.clone());
        }
        let layout = self
            .layouts
            .get(kernel.inputs)
            .ok_or_else(|| Error::device(format!("kernel {} has too many inputs", kernel.name)))?;
        let raw = device.guarded(|| compile(&device.0.raw, kernel, layout))?;
        let pipeline = Arc::new(Pipeline {
            raw,
            layout: layout.clone(),
        });
        ready.insert(kernel.name.clone(), pipeline.clone());
        Ok(pipeline)
    }
}

fn compile(
    raw: &wgpu::Device,
    kernel: &Kernel,
    layout: &wgpu::BindGroupLayout,
) -> wgpu::ComputePipeline {
    let module = raw.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(&kernel.name),
        source: wgpu::ShaderSource::Wgsl(kernel.text().into()),
    });
    let layout = raw.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    raw.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&kernel.name),
        layout: Some(&layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            // Kernels have no memory that a workgroup shares and reads before it writes.
            zero_initialize_workgroup_memory: false,
            ..wgpu::PipelineCompilationOptions::default()
        },
        cache: None,
    })
}
