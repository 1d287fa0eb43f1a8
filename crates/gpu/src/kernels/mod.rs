//! Kernels as WGSL text. They ask for no feature that WebGPU does not always have, and know nothing of shapes that is
//! not in their parameters, so that there are few of them.
//!
//! Bindings of group 0: 0 the parameters (`array<u32>`, declared by the prelude), 1 the output (read and write), 2 and
//! on the inputs (read). The entry point is `main`, in workgroups of 64; `thread(id)` of the prelude numbers the
//! threads from `@builtin(global_invocation_id)`, and a kernel does nothing for numbers past the last it needs. How an
//! operand lies is a [block of words](places::Places), which the prelude's `locate` reads.

use std::borrow::Cow;

pub mod arithmetic;
pub mod movement;
pub mod places;

/// What every kernel begins with: the parameters, `thread` and `locate`.
pub const PRELUDE: &str = include_str!("prelude.wgsl");

/// The most inputs of a kernel: with parameters and output they make the 8 storage buffers that every device has.
pub const MOST_INPUTS: usize = 6;

/// A kernel: its text is compiled once a device, when it is first launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What it is cached by: no two kernels share a name.
    pub name: Cow<'static, str>,
    /// Its WGSL, which follows the prelude.
    pub source: Cow<'static, str>,
    /// How many inputs it binds.
    pub inputs: usize,
}

impl Kernel {
    /// A kernel of that name and text.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        inputs: usize,
        source: impl Into<Cow<'static, str>>,
    ) -> Kernel {
        Kernel {
            name: name.into(),
            source: source.into(),
            inputs,
        }
    }

    /// The whole text, prelude included.
    pub fn text(&self) -> String {
        format!("{PRELUDE}\n{}", self.source)
    }
}

/// Every kernel there is, for whoever wants to look at their texts.
pub fn all() -> Vec<Kernel> {
    [movement::all(), arithmetic::all()].concat()
}
