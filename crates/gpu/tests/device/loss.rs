//! A device that is lost: errors, and a new one.

use stridewise_core::DType;
use stridewise_core::Error;
use stridewise_core::operators::{Methods, make};

use crate::{alone, row, same};

#[test]
fn a_lost_device_is_an_error_wherever_it_is_used() {
    let gpu = alone();
    let x = gpu.upload(&row(0..100i32)).unwrap();
    let y = x.repeat([2]).unwrap();
    same(&y, &row(0..100i32).repeat([2]).unwrap());
    let waiting = x.repeat([3]).unwrap();
    assert!(!gpu.device().is_lost());
    gpu.device().lose();
    assert!(gpu.device().is_lost());
    let lost = |error: Error| {
        assert!(matches!(error, Error::Device(_)), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("was lost") && text.contains(&gpu.info().name),
            "{text}"
        );
        assert!(text.contains("open the GPU again"), "{text}");
    };
    for _ in 0..2 {
        lost(y.download().unwrap_err());
        lost(waiting.download().unwrap_err());
        lost(gpu.upload(&row(0..100_000i32)).unwrap_err());
        lost(make::zeros(&gpu, [1 << 20], DType::F32).unwrap_err());
    }
    // Views are still only layouts, and letting go is no trouble.
    assert_eq!(y.flip([0]).unwrap().shape(), [200]);
    drop((x, y, waiting));

    let fresh = alone();
    let x = fresh.upload(&row(0..100i32)).unwrap();
    same(
        &x.repeat([3]).unwrap(),
        &row(0..100i32).repeat([3]).unwrap(),
    );
}
