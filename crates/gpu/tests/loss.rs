//! The device that the process shares is lost: in a process of its own, since other tests would lose it too.
#![allow(clippy::unwrap_used)]

use stridewise_core::Error;
use stridewise_core::operators::Methods;
use stridewise_cpu::Tensor;
use stridewise_gpu::Gpu;

#[test]
fn opening_again_after_a_loss_gives_a_new_device() {
    let x = Tensor::from_vec(vec![1u16, 2, 3], &[3]).unwrap();
    let first = Gpu::open().unwrap();
    assert!(first.device().is(Gpu::open().unwrap().device()));
    let far = first.upload(&x).unwrap();
    first.device().lose();
    assert!(matches!(far.download(), Err(Error::Device(_))));

    let second = Gpu::open().unwrap();
    assert!(!second.device().is(first.device()));
    let y = second.upload(&x).unwrap().repeat([2]).unwrap();
    assert_eq!(
        y.download().unwrap().to_vec::<u16>().unwrap(),
        [1, 2, 3, 1, 2, 3]
    );
    assert!(matches!(far.download(), Err(Error::Device(_))));
}
