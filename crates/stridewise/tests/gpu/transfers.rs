//! Tensors on their way to the GPU and back.

use stridewise::prelude::*;
use stridewise::{Device, Error, Gpu, To};

fn all(dtype: DType) -> Tensor {
    let bytes: Vec<u8> = (0..24 * dtype.width())
        .map(|i| match dtype {
            DType::Bool => (i % 3 == 0).into(),
            _ => (i * 37 % 251) as u8,
        })
        .collect();
    Tensor::from_bytes(dtype, &[2, 3, 4], &bytes).unwrap()
}

#[test]
fn there_is_a_gpu_and_it_says_which() {
    let gpu = Device::gpu().unwrap_or_else(|error| panic!("{error}"));
    assert!(gpu.to_string().contains(&gpu.info().name), "{gpu}");
    assert_eq!(Device::cpu().to_string(), "cpu");
}

#[test]
fn every_dtype_and_layout_survives_the_way_there_and_back() {
    let (gpu, cpu) = (Device::gpu().unwrap(), Device::cpu());
    for dtype in DType::ALL {
        let x = all(dtype);
        let views = [
            x.clone(),
            x.transpose(..).unwrap(),
            x.flip(1).unwrap(),
            x.slice(index![.., 1.., 2]).unwrap(),
            x.slice(index![0..0]).unwrap(),
            x.unsqueeze(0).unwrap().expand([3, -1, -1, -1]).unwrap(),
        ];
        for view in views {
            let there = view.to(&gpu).unwrap();
            assert_eq!((there.dtype(), there.shape()), (dtype, view.shape()));
            let back = there.to(&cpu).unwrap();
            assert_eq!(
                back.to_bytes().unwrap(),
                view.to_bytes().unwrap(),
                "{view:?}"
            );
            assert!(there.to(&gpu).unwrap().shares_storage_with(&there));
            assert!(back.to(&cpu).unwrap().shares_storage_with(&back));
        }
    }
}

#[test]
fn two_gpus_in_one_call_are_an_error_that_names_both() {
    let (a, b) = (Gpu::another().unwrap(), Gpu::another().unwrap());
    let x = a.upload(&arange(0, 4, 1, None).unwrap()).unwrap();
    let y = b.upload(&tensor([0i64]).unwrap()).unwrap();
    let error = x.take(&y, 0, Mode::Raise).unwrap_err();
    assert!(matches!(error, Error::Device(_)), "{error}");
    for gpu in [&a, &b] {
        let number = format!("GPU {}", gpu.info().number);
        assert!(error.to_string().contains(&number), "{error}");
    }
    assert!(error.to_string().starts_with("take: "), "{error}");
}
