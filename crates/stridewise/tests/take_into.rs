//! `take` with an `out`: what is written, and what is refused with `out` untouched.

use stridewise::prelude::*;
use stridewise::{Error, Result, take_into};

#[test]
fn the_result_is_written_into_out_packed_or_not() -> Result<()> {
    let x = arange(0, 12, 1, None)?.reshape([3, 4])?;
    let index = tensor([2, 0])?;
    let mut packed = zeros([3, 2], DType::I64)?;
    take_into(&x, &index, 1, Mode::Raise, &mut packed)?;
    assert_eq!(packed.to_vec::<i64>()?, [2, 0, 6, 4, 10, 8]);

    let mut strided = zeros([2, 3], DType::I64)?.transpose(..)?;
    take_into(&x, &index, 1, Mode::Raise, &mut strided)?;
    assert_eq!(strided.to_vec::<i64>()?, [2, 0, 6, 4, 10, 8]);
    assert_eq!(strided.strides(), [1, 3]);
    Ok(())
}

#[test]
fn a_bad_index_leaves_out_as_it_was() -> Result<()> {
    let x = tensor([4, 3, 5, 7, 6, 8])?;
    let packed = full([3], 9i64, DType::I32)?;
    let grid = full([3, 2], 9i64, DType::I32)?;
    let column = grid.slice(index![.., 0])?;
    drop(grid);
    for mut out in [packed, column] {
        let error = take_into(&x, &tensor([0, 1, 6])?, None, Mode::Raise, &mut out).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("take: index 6 at position (2,)"),
            "{error}"
        );
        assert_eq!(out.to_vec::<i32>()?, [9, 9, 9]);
    }
    Ok(())
}

#[test]
fn an_out_that_does_not_fit_is_refused() -> Result<()> {
    let x = tensor([4, 3, 5])?;
    let index = tensor([0, 1])?;
    let refused = |out: &mut Tensor| take_into(&x, &index, None, Mode::Raise, out).unwrap_err();

    assert!(matches!(
        refused(&mut zeros([3], DType::I32)?),
        Error::Shape(_)
    ));
    assert!(matches!(
        refused(&mut zeros([2], DType::F32)?),
        Error::DType(_)
    ));
    let text = refused(&mut zeros([1], DType::I32)?.expand([2])?).to_string();
    assert!(text.contains("overlaps itself"), "{text}");
    Ok(())
}

#[test]
fn an_out_that_others_can_see_is_refused() -> Result<()> {
    let x = tensor([4, 3, 5])?;
    let index = tensor([0, 1])?;

    let mut view = x.slice(index![..2])?;
    let text = take_into(&x, &index, None, Mode::Raise, &mut view)
        .unwrap_err()
        .to_string();
    assert!(text.contains("out overlaps the input"), "{text}");

    let mut view = index.reshape([2])?;
    let text = take_into(&x, &index, None, Mode::Raise, &mut view)
        .unwrap_err()
        .to_string();
    assert!(text.contains("out overlaps the index"), "{text}");

    let mut out = zeros([2], DType::I32)?;
    let other = out.clone();
    let text = take_into(&x, &index, None, Mode::Raise, &mut out)
        .unwrap_err()
        .to_string();
    assert!(text.contains("shares its storage"), "{text}");
    assert_eq!(other.to_vec::<i32>()?, [0, 0]);
    Ok(())
}

#[test]
fn a_mapped_file_cannot_be_an_out() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.npy");
    stridewise::files::save(&path, &tensor([0, 0])?)?;
    let mut out = stridewise::files::load(&path)?;
    let text = take_into(
        &tensor([1, 2])?,
        &tensor([0, 1])?,
        None,
        Mode::Raise,
        &mut out,
    )
    .unwrap_err()
    .to_string();
    assert!(text.contains("read-only"), "{text}");
    Ok(())
}

#[test]
fn the_other_modes_write_too() -> Result<()> {
    let x = tensor([4, 3, 5])?;
    let index = tensor([-4, 7])?;
    let mut out = zeros([2], DType::I32)?;
    for (mode, expected) in [
        (Mode::Wrap, [5, 3]),
        (Mode::Clip, [4, 5]),
        (Mode::Fill((-1i64).into()), [-1, -1]),
    ] {
        take_into(&x, &index, None, mode, &mut out)?;
        assert_eq!(out.to_vec::<i32>()?, expected);
    }
    Ok(())
}
