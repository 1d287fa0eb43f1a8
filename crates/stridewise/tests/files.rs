//! Files: written by NumPy and read here, written here and read back, mapped without a copy, and broken in
//! every way without a panic.

use std::fs;
use std::path::{Path, PathBuf};

use num_complex::Complex;
use proptest::prelude::*;
use stridewise::files::{load, load_all, save, save_all};
use stridewise::prelude::*;
use stridewise::{Error, Result};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

fn in_folder(work: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    work(folder.path())
}

/// A tensor of any dtype whose bytes are all different, seen through a layout that is not packed.
fn sample(dtype: DType) -> Result<Tensor> {
    let count = 24;
    let bytes: Vec<u8> = (0..count * dtype.width()).map(|b| b as u8).collect();
    let bytes = if dtype == DType::Bool {
        bytes.iter().map(|b| b % 2).collect()
    } else {
        bytes
    };
    Tensor::from_bytes(dtype, &[2, 3, 4], &bytes)?
        .permute([2, 0, 1])?
        .flip(1)
}

#[test]
fn what_numpy_wrote_is_read_with_its_dtype_shape_and_order() -> Result<()> {
    let x = load(fixture("c_order.npy"))?;
    assert_eq!((x.shape(), x.dtype()), (&[2, 3][..], DType::F32));
    assert_eq!(x.to_vec::<f32>()?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);

    let x = load(fixture("fortran_order.npy"))?;
    assert_eq!((x.shape(), x.strides()), (&[2, 3][..], &[1, 2][..]));
    assert_eq!(x.to_vec::<i16>()?, [0, 1, 2, 3, 4, 5]);

    assert_eq!(
        load(fixture("big_endian.npy"))?.to_vec::<f64>()?,
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    );
    let z = load(fixture("big_endian_complex.npy"))?.to_vec::<Complex<f32>>()?;
    assert_eq!(z[5], Complex::new(5.0, -5.0));

    let x = load(fixture("scalar.npy"))?;
    assert_eq!(x.shape(), [0; 0]);
    assert_eq!(x.item::<Complex<f64>>()?, Complex::new(1.5, -2.0));

    let x = load(fixture("empty.npy"))?;
    assert_eq!((x.shape(), x.dtype()), (&[0, 3][..], DType::Bool));
    assert_eq!(load(fixture("half.npy"))?.dtype(), DType::F16);
    assert_eq!(
        load(fixture("version_2.npy"))?.to_vec::<u64>()?,
        [0, 1, 2, 3, 4, 5]
    );
    Ok(())
}

#[test]
fn arrays_that_are_not_numbers_are_refused_with_a_reason() {
    let text = load(fixture("strings.npy")).unwrap_err().to_string();
    assert!(text.contains("there is no dtype for '<U2'"), "{text}");
    let text = load(fixture("record.npy")).unwrap_err().to_string();
    assert!(
        text.contains("structured arrays are not supported"),
        "{text}"
    );
}

#[test]
fn every_dtype_survives_the_formats_that_have_it() -> Result<()> {
    in_folder(|folder| {
        for dtype in DType::ALL {
            for (ending, missing) in [("npy", DType::BF16), ("safetensors", DType::C128)] {
                let path = folder.join(format!("{dtype}.{ending}"));
                let x = sample(dtype)?;
                if dtype == missing {
                    let error = save(&path, &x).unwrap_err();
                    assert!(matches!(error, Error::File(_)), "{error}");
                    assert!(!path.exists());
                    continue;
                }
                save(&path, &x)?;
                let back = load(&path)?;
                assert_eq!((back.shape(), back.dtype()), (x.shape(), dtype));
                assert_eq!(back.to_bytes()?, x.to_bytes()?);
            }
        }
        Ok(())
    })
}

#[test]
fn a_file_is_mapped_not_copied() -> Result<()> {
    in_folder(|folder| {
        for ending in ["npy", "safetensors"] {
            let path = folder.join(format!("x.{ending}"));
            save(&path, &sample(DType::F32)?)?;
            let x = load(&path)?;
            assert!(x.storage().is_foreign(), "{ending}");
            assert!(
                x.storage().as_mut_ptr().is_none(),
                "a mapped file is read-only"
            );
            // The map outlives the file's name.
            fs::remove_file(&path).expect("the file is there");
            assert_eq!(x.to_bytes()?, sample(DType::F32)?.to_bytes()?);
        }
        Ok(())
    })
}

#[test]
fn a_file_can_be_written_over_while_it_is_mapped() -> Result<()> {
    in_folder(|folder| {
        let path = folder.join("x.npy");
        save(&path, &tensor([1, 2, 3])?)?;
        let old = load(&path)?;
        save(&path, &old.flip(..)?)?;
        assert_eq!(old.to_vec::<i32>()?, [1, 2, 3]);
        assert_eq!(load(&path)?.to_vec::<i32>()?, [3, 2, 1]);
        Ok(())
    })
}

#[test]
fn several_tensors_go_into_one_safetensors() -> Result<()> {
    in_folder(|folder| {
        let path = folder.join("all.safetensors");
        let all = vec![
            ("b".to_string(), tensor([1, 2])?),
            ("a".to_string(), tensor([[true]])?),
        ];
        save_all(&path, &all)?;
        let back = load_all(&path)?;
        let names: Vec<&str> = back.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(back[1].1.to_vec::<i32>()?, [1, 2]);
        assert!(
            load(&path)
                .unwrap_err()
                .to_string()
                .starts_with("the file holds 2 tensors")
        );
        assert!(save_all(folder.join("all.npy"), &all).is_err());
        let twice = [("a".to_string(), tensor(1)?), ("a".to_string(), tensor(2)?)];
        assert!(save_all(&path, &twice).is_err());
        Ok(())
    })
}

#[test]
fn a_missing_file_or_unknown_ending_is_an_error() {
    assert!(matches!(load("nowhere.npy"), Err(Error::File(_))));
    assert!(matches!(load("picture.png"), Err(Error::File(_))));
    assert!(matches!(load("."), Err(Error::File(_))));
}

#[test]
fn headers_that_lie_are_errors() -> Result<()> {
    in_folder(|folder| {
        let path = folder.join("bad.npy");
        let headers = [
            "",
            "{",
            "{'descr': '<f4'",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 7, 29, 36760123, 823996703)}",
            "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 9223372036854775807)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1000,)}",
            "{'descr': '<q4', 'fortran_order': False, 'shape': ()}",
            "{'descr': '', 'fortran_order': False, 'shape': ()}",
            "{'descr': 'é', 'fortran_order': False, 'shape': ()}",
            "{'fortran_order': False, 'shape': ()}",
            "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
            &"(".repeat(9_000),
        ];
        for header in headers {
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((header.len() as u16).to_le_bytes());
            bytes.extend(header.as_bytes());
            bytes.extend([0; 64]);
            fs::write(&path, bytes).expect("a file");
            let error = load(&path).expect_err(header);
            assert!(
                matches!(error, Error::File(_) | Error::Overflow(_)),
                "{header}: {error}"
            );
        }
        fs::write(&path, b"\x93NUMPY\x02\x00\xff\xff\xff\xff").expect("a file");
        assert!(load(&path).is_err());
        Ok(())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_file_cut_short_or_with_a_byte_changed_never_panics(
        safetensors in any::<bool>(),
        cut in 0usize..400,
        at in 0usize..400,
        byte in any::<u8>(),
    ) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let ending = if safetensors { "safetensors" } else { "npy" };
        let path = folder.path().join(format!("x.{ending}"));
        save(&path, &sample(DType::I16).expect("a tensor")).expect("a file");
        let whole = fs::read(&path).expect("a file");
        let part = &whole[..cut.min(whole.len())];
        fs::write(&path, part).expect("a file");
        prop_assert!(load(&path).is_err() == (part.len() < whole.len()));
        let mut changed = whole.clone();
        let at = at.min(changed.len() - 1);
        changed[at] = byte;
        fs::write(&path, &changed).expect("a file");
        if let Ok(x) = load(&path) {
            prop_assert_eq!(x.to_bytes().expect("its bytes").len(), x.nbytes());
        }
    }
}
