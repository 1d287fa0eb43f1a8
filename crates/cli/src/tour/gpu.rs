//! The tour's chapter on the GPU, in a build that has one.

use stridewise::{Device, To};
use stridewise_core::operators::{Methods, make};
use stridewise_core::size::tuple;

use crate::failure::Failure;
use crate::tour::Walk;

/// A few calls there, with what the GPU had to do for each.
pub(crate) fn calls(walk: &mut Walk) -> Result<(), Failure> {
    let gpu = match Device::gpu() {
        Ok(gpu) => gpu,
        Err(error) => return walk.say(&error.to_string()),
    };
    walk.say(&format!("This one is {gpu}."))?;
    walk.line("")?;
    let x = make::arange(&*gpu, 0, Some(12.into()), 1, None)?.reshape([3, 4])?;
    let mut before = gpu.counts();
    let mut told = |walk: &mut Walk, call: &str, shape: &[usize]| {
        let done = gpu.counts().since(before);
        before = gpu.counts();
        let call = walk.paint.cyan(&format!("{call:<32}"));
        walk.line(&format!(
            "    {call} {:<12} {} launched, {} B read",
            tuple(shape),
            done.launches,
            done.bytes_down
        ))
    };
    let wide = x.unflatten(1, [2, 2])?.expand([5, -1, -1, -1])?;
    told(walk, "x.unflatten(1, [2, 2]).expand(…)", wide.shape())?;
    let tiled = x.repeat([2, 1])?;
    told(walk, "y = x.repeat(2, 1)", tiled.shape())?;
    let read = tiled.to(&Device::cpu())?;
    told(walk, "y.to(\"cpu\")", read.shape())
}
