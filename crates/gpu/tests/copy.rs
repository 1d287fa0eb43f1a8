//! Up, along and down again.
#![allow(clippy::unwrap_used, missing_docs)]

use stridewise_core::operators::Methods;
use stridewise_cpu::Tensor;
use stridewise_gpu::Gpu;

#[test]
fn what_goes_up_comes_down() {
    let gpu = Gpu::open().unwrap();
    println!("{}", gpu.info());
    let x = Tensor::from_vec((0u8..60).collect(), &[3, 4, 5]).unwrap();
    let y = gpu.upload(&x).unwrap();
    assert_eq!(
        y.download().unwrap().to_bytes().unwrap(),
        x.to_bytes().unwrap()
    );
    let z = y.permute([2, 0, 1]).unwrap();
    let z = z.repeat([2, 1, 3, 1]).unwrap();
    let w = x.permute([2, 0, 1]).unwrap().repeat([2, 1, 3, 1]).unwrap();
    assert_eq!(
        z.download().unwrap().to_bytes().unwrap(),
        w.to_bytes().unwrap()
    );
    println!("{}", gpu.counts());
}
