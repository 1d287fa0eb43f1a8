//! Tensors that do not fit, and tensors that do not go together.

use stridewise_core::operators::{self, Methods, make};
use stridewise_core::params::Mode;
use stridewise_core::{DType, Error};

use crate::{alone, gpu, row, same};

#[test]
fn a_tensor_larger_than_a_binding_is_refused() {
    let gpu = gpu();
    let most = gpu.info().max_tensor_bytes;
    let error = make::zeros(&gpu, [most + 1], DType::U8).unwrap_err();
    assert!(matches!(error, Error::Memory(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.contains(&format!("at most {most}")) && text.contains(&gpu.info().name),
        "{text}"
    );
    let x = gpu.upload(&row(0..100u8)).unwrap();
    for error in [
        x.repeat([most / 99]).unwrap_err(),
        x.expand([most, 100]).unwrap().contiguous().unwrap_err(),
        x.expand([most, 100]).unwrap().download().unwrap_err(),
    ] {
        assert!(matches!(error, Error::Memory(_)), "{error}");
    }
    // A view of any size is none of that.
    let wide = x.expand([1i64 << 40, 100]).unwrap();
    same(
        &wide.slice(stridewise_core::index![7]).unwrap(),
        &row(0..100u8),
    );
    let index = gpu.upload(&row([-1i64])).unwrap();
    let last = wide.take(&index, None, Mode::Raise).unwrap();
    same(&last, &row([99u8]));
    // Nor is it first made in main memory.
    let often = index.expand([1i64 << 50]).unwrap();
    let error = wide.take(&often, None, Mode::Raise).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("take: ") && text.contains("one tensor on GPU"),
        "{text}"
    );
}

#[test]
fn more_steps_than_kernels_count_are_refused() {
    let gpu = gpu();
    let one = gpu.upload(&row([1u8])).unwrap();
    let many = one.expand([1i64 << 33]).unwrap();
    let none = gpu.upload(&row::<u8>([]).reshape([1, 0]).unwrap()).unwrap();
    let error = none.take(&many, 0, Mode::Raise).unwrap_err();
    assert!(matches!(error, Error::Overflow(_)), "{error}");
    assert!(
        error.to_string().contains("8589934592 steps are more than"),
        "{error}"
    );
    assert!(
        error.to_string().contains("help: cut the tensor"),
        "{error}"
    );
}

#[test]
fn memory_that_is_not_there_fails_one_call_only() {
    let gpu = alone();
    let x = gpu.upload(&row(0..1000i32)).unwrap();
    gpu.device().limit_memory(Some(1 << 20));
    let mut held = Vec::new();
    let error = loop {
        match x.repeat([25]) {
            Ok(y) => held.push(y),
            Err(error) => break error,
        }
        assert!(held.len() < 11);
    };
    assert!(matches!(error, Error::Memory(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("repeat: 100000 bytes are needed, but GPU"),
        "{text}"
    );
    assert!(text.contains("help: let go of tensors"), "{text}");
    // What there is stays good, and what is let go can be used again.
    let near = row(0..1000i32).repeat([25]).unwrap();
    held.iter().for_each(|y| same(y, &near));
    held.pop();
    same(&x.repeat([25]).unwrap(), &near);
    gpu.device().limit_memory(None);
    same(&x.repeat([25]).unwrap(), &near);
}

#[test]
fn buffers_are_used_again_and_given_back() {
    let gpu = alone();
    let (used, free) = gpu.device().memory();
    let x = gpu.upload(&row(0..1000i32)).unwrap();
    for _ in 0..100 {
        x.repeat([3]).unwrap();
    }
    let (now_used, now_free) = gpu.device().memory();
    assert!(now_used - used < 8192, "{now_used} and {used}");
    assert!(now_free < free + 40_000, "{now_free} and {free}");
}

#[test]
fn tensors_of_two_devices_are_refused_by_name() {
    let (here, there) = (gpu(), alone());
    let (x, y) = (row(0..3i64), row([1i64, 2]));
    let (x, y) = (here.upload(&x).unwrap(), there.upload(&y).unwrap());
    let names = [here.device().to_string(), there.device().to_string()];
    assert_ne!(names[0], names[1]);
    for (operator, error) in [
        ("take", x.take(&y, 0, Mode::Wrap).unwrap_err()),
        ("concat", operators::concat(&[&x, &y], 0).unwrap_err()),
        ("index_add", x.index_add(0, &x, &y).unwrap_err()),
        ("expand_as", x.expand_as(&y).unwrap_err()),
    ] {
        assert!(matches!(error, Error::Device(_)), "{error}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("{operator}: ")), "{text}");
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
    }
}
