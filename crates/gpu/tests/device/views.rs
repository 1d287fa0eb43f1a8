//! Views: layouts, on a device too.

use stridewise_core::Layout;
use stridewise_core::call::Args;
use stridewise_core::operators::{self, TABLE};
use stridewise_core::table::Kind;
use stridewise_suite::contract;

use crate::alone;

#[test]
fn no_view_launches_a_kernel_or_moves_a_byte() {
    let gpu = alone();
    let kind = |name: &str| TABLE.iter().find(|entry| entry.name == name).unwrap().kind;
    let mut seen = Vec::new();
    for call in contract::calls() {
        if kind(call.operator) != Kind::View {
            continue;
        }
        let mut upload = |input: &stridewise_suite::Input| {
            let (dtype, cells) = (input.dtype, input.storage.len() / input.dtype.width());
            let layout = Layout::new(
                dtype.width(),
                input.shape.as_slice(),
                input.strides.as_slice(),
                input.offset,
            );
            let row = stridewise_cpu::Tensor::from_bytes(dtype, &[cells], &input.storage).unwrap();
            gpu.upload(&row)
                .unwrap()
                .with_layout(layout.unwrap())
                .unwrap()
        };
        let positional = call
            .positional
            .iter()
            .map(|arg| arg.with_tensors(&mut upload))
            .collect();
        let named = call
            .named
            .iter()
            .map(|(name, arg)| (name.to_string(), arg.with_tensors(&mut upload)))
            .collect();
        let before = gpu.counts();
        let made = operators::call(&gpu, call.operator, Args { positional, named });
        let did = gpu.counts().since(before);
        assert_eq!(did, Default::default(), "{call}: {did}");
        if made.is_ok() && !seen.contains(&call.operator) {
            seen.push(call.operator);
        }
    }
    let views = TABLE.iter().filter(|entry| entry.kind == Kind::View);
    for view in views {
        assert!(seen.contains(&view.name), "{} was not called", view.name);
    }
}
