//! The engine called directly, with arguments no operator would give it: every one is an error, none reaches
//! memory that is not the tensor's.

use std::sync::Arc;

use stridewise::engine::Along;
use stridewise::params::Scalar;
use stridewise::prelude::*;
use stridewise::{Axis, Cpu, Engine, Error, Layout, Result};

fn refused<T>(result: Result<T>) {
    assert!(result.is_err());
}

#[test]
fn primitives_refuse_shapes_and_dtypes_that_do_not_fit() -> Result<()> {
    let small = zeros([2, 2], DType::U8)?;
    refused(Cpu.concat(&[&small, &zeros([1, 10_000_000], DType::U8)?], 0));
    refused(Cpu.concat(&[&small, &zeros([2, 2], DType::F64)?], 0));
    refused(Cpu.concat(&[&small], 2));
    refused(Cpu.concat(&[], 0));

    let source = zeros([2, 2], DType::F64)?;
    let long = zeros([100_000_000, 1], DType::I64)?;
    refused(Cpu.gather(&source, &long, &Along::Aligned(1), Mode::Raise));
    let one = zeros([1], DType::I64)?;
    for along in [
        Along::Aligned(2),
        Along::Aligned(0),
        Along::Run(1..3),
        Along::Run(3..3),
    ] {
        refused(Cpu.gather(&source, &one, &along, Mode::Raise));
    }
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = Along::Run(1..0);
    refused(Cpu.gather(&source, &one, &backwards, Mode::Raise));
    refused(Cpu.gather(
        &source,
        &zeros([1], DType::F32)?,
        &Along::Run(0..1),
        Mode::Raise,
    ));

    let empty = zeros([0], DType::F64)?;
    let far = tensor([1u64 << 40])?;
    for mode in [Mode::Raise, Mode::Wrap, Mode::Clip] {
        refused(Cpu.gather(&empty, &far, &Along::Run(0..1), mode));
    }
    assert_eq!(
        Cpu.gather(&empty, &far, &Along::Run(0..1), Mode::Fill(Scalar::Int(7)))?
            .to_vec::<f64>()?,
        [7.0]
    );

    let (base, index) = (zeros([4], DType::F64)?, zeros([4], DType::I64)?);
    let run = Along::Run(0..1);
    refused(Cpu.scatter_add(&base, &index, &zeros([1], DType::U8)?, &run, Mode::Raise));
    refused(Cpu.scatter_add(&base, &index, &zeros([4], DType::U8)?, &run, Mode::Raise));
    refused(Cpu.scatter_add(&base, &index, &zeros([1], DType::F64)?, &run, Mode::Raise));
    refused(Cpu.add(&base, &zeros([3], DType::F64)?));
    refused(Cpu.add(&base, &zeros([4], DType::F32)?));

    let mut out = zeros([1], DType::F64)?;
    refused(Cpu.gather_into(&empty, &far, &run, Mode::Clip, &mut out));
    Ok(())
}

#[test]
fn a_view_that_reaches_outside_is_no_layout() -> Result<()> {
    let x = tensor([1u8, 2, 3, 4])?;
    let far = |_| {
        Ok(Axis::Slice {
            of: 0,
            start: 0,
            len: 4,
            step: isize::MAX / 2,
        })
    };
    refused(x.layout().view(1, 1, far));
    refused(Cpu.try_view(&x, 1, far));
    let behind = |_| {
        Ok(Axis::Slice {
            of: 0,
            start: 1,
            len: 4,
            step: 1,
        })
    };
    refused(Cpu.try_view(&x, 1, behind));
    Ok(())
}

#[test]
fn layouts_made_for_another_width_are_refused_or_harmless() -> Result<()> {
    let empty = zeros([0], DType::F64)?;
    let far = empty.with_layout(Layout::new(1, [0], [1], usize::MAX)?)?;
    assert!(far.to_vec::<f64>()?.is_empty());
    let strided = empty.with_layout(Layout::new(8, [2, 0], [isize::MAX, 1], 0)?)?;
    assert_eq!(Cpu.copy(&strided)?.shape(), [2, 0]);
    let one = zeros([1], DType::C128)?;
    refused(one.with_layout(Layout::new(1, [isize::MAX as usize], [0], 0)?));
    refused(Layout::new(0, [usize::MAX], [1], 0));
    Ok(())
}

#[test]
fn an_empty_vector_of_any_type_makes_a_tensor() -> Result<()> {
    use num_complex::Complex;
    assert_eq!(
        Tensor::from_vec(Vec::<Complex<f32>>::new(), &[0])?.dtype(),
        DType::C64
    );
    assert_eq!(
        Tensor::from_vec(Vec::<Complex<f64>>::new(), &[0, 3])?.shape(),
        [0, 3]
    );
    assert_eq!(Tensor::from_vec(Vec::<u8>::new(), &[2, 0])?.count(), 0);
    Ok(())
}

#[test]
fn ranges_of_whole_numbers_past_64_bits_are_exact_as_floats() -> Result<()> {
    let wide = 1i128 << 63;
    let x = stridewise::arange(Scalar::Int(wide - 2), Scalar::Int(wide + 3), 1, DType::F64)?;
    assert!(x.to_vec::<f64>()?.iter().all(|v| *v == wide as f64));
    let x = stridewise::arange(
        Scalar::Int(1 << 100),
        Scalar::Int((1 << 100) + 3),
        1,
        DType::F64,
    )?;
    assert_eq!(x.to_vec::<f64>()?, [(1u128 << 100) as f64; 3]);
    let down = stridewise::arange(u64::MAX, Scalar::Int(-wide), Scalar::Int(-wide), DType::F64)?;
    assert_eq!(
        down.to_vec::<f64>()?,
        [u64::MAX as f64, (u64::MAX as i128 - wide) as f64, -1.0]
    );
    Ok(())
}

#[test]
fn saving_from_several_threads_leaves_a_whole_file() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = Arc::new(folder.path().join("x.npy"));
    let work = |count: i64| {
        let path = path.clone();
        move || -> Result<()> {
            for _ in 0..40 {
                stridewise::files::save(&*path, &stridewise::arange(0, count, 1, None)?)?;
                let there = stridewise::files::load(&*path)?.count();
                assert!(there == 30_000 || there == 60_000, "{there}");
            }
            Ok(())
        }
    };
    std::thread::scope(|scope| {
        let both = [scope.spawn(work(30_000)), scope.spawn(work(60_000))];
        both.into_iter()
            .try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .expect("the folder")
        .collect();
    assert_eq!(names.len(), 1, "nothing half-written is left");
    Ok(())
}

#[test]
fn an_error_is_readable_where_main_returns_it() -> Result<()> {
    let error: Error = tensor([1, 2])?.expand([3]).expect_err("a mistake");
    assert_eq!(format!("{error:?}"), error.to_string());
    Ok(())
}
