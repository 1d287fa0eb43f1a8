//! Every kernel in the languages of the drivers we cannot run here: none may need more of a device than WebGPU promises.
#![allow(missing_docs)]

use std::collections::HashSet;

use naga::back::{hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module};
use stridewise_gpu::kernels::{self, Kernel};

/// Parses and validates a kernel with nothing optional.
fn checked(kernel: &Kernel) -> (Module, ModuleInfo) {
    let text = kernel.text();
    let module = naga::front::wgsl::parse_str(&text)
        .unwrap_or_else(|error| panic!("{}: {}", kernel.name, error.emit_to_string(&text)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{}: {}", kernel.name, error.emit_to_string(&text)));
    (module, info)
}

#[test]
fn every_kernel_is_accepted_without_optional_capabilities_and_translates_to_msl_hlsl_and_spirv() {
    let kernels = kernels::all();
    println!("{} kernels", kernels.len());
    for kernel in &kernels {
        let (module, info) = checked(kernel);
        let fail = |language: &str, error: &dyn std::fmt::Display| -> ! {
            panic!("{} in {language}: {error}", kernel.name)
        };
        let (text, _) = msl::write_string(
            &module,
            &info,
            &msl::Options::default(),
            &msl::PipelineOptions::default(),
        )
        .unwrap_or_else(|error| fail("MSL", &error));
        assert!(text.contains("kernel void"), "{}", kernel.name);
        let (options, pipeline) = (hlsl::Options::default(), hlsl::PipelineOptions::default());
        let mut text = String::new();
        hlsl::Writer::new(&mut text, &options, &pipeline)
            .write(&module, &info, None)
            .unwrap_or_else(|error| fail("HLSL", &error));
        assert!(text.contains("numthreads(64, 1, 1)"), "{}", kernel.name);
        let words = spv::write_vec(&module, &info, &spv::Options::default(), None)
            .unwrap_or_else(|error| fail("SPIR-V", &error));
        assert!(words.len() > 5, "{}", kernel.name);
    }
}

#[test]
fn every_kernel_has_a_name_of_its_own_and_the_bindings_it_says() {
    let mut names = HashSet::new();
    for kernel in kernels::all() {
        assert!(names.insert(kernel.name.clone()), "{} twice", kernel.name);
        let (module, _) = checked(&kernel);
        let [entry] = module.entry_points.as_slice() else {
            panic!("{} has not one entry point", kernel.name);
        };
        assert_eq!(
            (entry.name.as_str(), entry.workgroup_size),
            ("main", [64, 1, 1])
        );
        let mut bindings = module
            .global_variables
            .iter()
            .filter(|(_, variable)| matches!(variable.space, AddressSpace::Storage { .. }))
            .filter_map(|(_, variable)| variable.binding.as_ref())
            .map(|binding| (binding.group, binding.binding))
            .collect::<Vec<_>>();
        bindings.sort_unstable();
        let wanted: Vec<_> = (0..kernel.inputs as u32 + 2).map(|at| (0, at)).collect();
        assert_eq!(bindings, wanted, "{}", kernel.name);
        assert!(bindings.len() <= 8, "{}", kernel.name);
    }
}
