//! A device that is lost: errors, and a new one.

use stridewise_core::DType;
use stridewise_core::Error;
use stridewise_core::operators::{Methods, make};

use crate::{alone, row, same};

#[track_caller]
fn require_lost(error: &Error) {
    assert!(matches!(error, Error::Device(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains("was lost"), "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("open the GPU again"), "{text}");
}

#[test]
fn whoever_reads_while_a_device_is_lost_hears_of_that_and_no_more() {
    for _ in 0..8 {
        let gpu = alone();
        let near = row(0..1000i32);
        let wanted = near.flip([0]).unwrap().repeat([2]).unwrap();
        let wanted = wanted.to_bytes().unwrap();
        let (reads, read) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                let (gpu, near, wanted, reads) = (gpu.clone(), &near, &wanted, reads.clone());
                scope.spawn(move || {
                    let error = loop {
                        let once = || gpu.upload(near)?.flip([0])?.repeat([2])?.download();
                        match once() {
                            Ok(made) => assert_eq!(&made.to_bytes().unwrap(), wanted),
                            Err(error) => break error,
                        }
                        // Nobody waits for more than the first reads.
                        let _ = reads.send(());
                    };
                    require_lost(&error);
                });
            }
            for _ in 0..10 {
                read.recv().unwrap();
            }
            gpu.device().lose();
        });
    }
}

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
        require_lost(&error);
        assert!(error.to_string().contains(&gpu.info().name), "{error}");
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
