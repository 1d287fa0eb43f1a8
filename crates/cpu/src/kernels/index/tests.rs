//! Indices at the edges of every rule and dtype.

use super::*;

fn cells<I: Copy>(
    dtype: DType,
    n: usize,
    bounds: Bounds,
    raw: &[I],
) -> Result<Vec<usize>, BadIndex> {
    let mut cells = vec![MaybeUninit::uninit(); raw.len()];
    let reader = Reader::new(dtype, n, bounds);
    // SAFETY: K1: the whole slice, packed.
    unsafe {
        reader
            .read(raw.as_ptr().cast(), 1, 10, &mut cells)
            .map(<[usize]>::to_vec)
    }
}

#[test]
fn extremes_are_resolved_under_every_rule() {
    let signed = [i64::MIN, -6, -5, -1, 0, 4, 5, i64::MAX];
    let unsigned = [0, 4, 5, u64::MAX];
    let fill = Bounds::Fill([0; 16]);
    let wrapped = signed.map(|i| i128::from(i).rem_euclid(5) as usize);
    assert_eq!(
        cells(DType::I64, 5, Bounds::Wrap, &signed),
        Ok(wrapped.to_vec())
    );
    let wrapped = unsigned.map(|i| (i % 5) as usize);
    assert_eq!(
        cells(DType::U64, 5, Bounds::Wrap, &unsigned),
        Ok(wrapped.to_vec())
    );
    assert_eq!(
        cells(DType::I64, 5, Bounds::Clip, &signed),
        Ok(vec![0, 0, 0, 0, 0, 4, 4, 4])
    );
    assert_eq!(
        cells(DType::U64, 5, Bounds::Clip, &unsigned),
        Ok(vec![0, 4, 4, 4])
    );
    let out = OUTSIDE;
    assert_eq!(
        cells(DType::I64, 5, fill, &signed),
        Ok(vec![out, out, 0, 4, 0, 4, out, out])
    );
    assert_eq!(
        cells(DType::U64, 5, fill, &unsigned),
        Ok(vec![0, 4, out, out])
    );
    assert_eq!(cells(DType::I8, 0, fill, &[0i8, -1, 1]), Ok(vec![out; 3]));
    assert_eq!(
        cells(DType::I64, 5, Bounds::Raise, &signed[2..6]),
        Ok(vec![0, 4, 0, 4])
    );
    for (at, value) in [(0, i64::MIN), (1, -6), (6, 5), (7, i64::MAX)] {
        let bad = BadIndex {
            position: 10,
            value: value.into(),
        };
        assert_eq!(cells(DType::I64, 5, Bounds::Raise, &signed[at..]), Err(bad));
    }
    let bad = BadIndex {
        position: 12,
        value: 5,
    };
    assert_eq!(cells(DType::U64, 5, Bounds::Raise, &unsigned), Err(bad));
    let bad = BadIndex {
        position: 10,
        value: u64::MAX.into(),
    };
    assert_eq!(
        cells(DType::U64, 5, Bounds::Raise, &unsigned[3..]),
        Err(bad)
    );
    assert_eq!(
        cells(DType::I8, 200, Bounds::Wrap, &[-128i8, 127]),
        Ok(vec![72, 127])
    );
    assert_eq!(
        cells(DType::U8, 1000, Bounds::Raise, &[255u8]),
        Ok(vec![255])
    );
}

#[test]
fn the_first_bad_index_is_named_also_by_many_threads() {
    let mut index = vec![3i32; 300_000];
    index[299_999] = 9;
    index[170_001] = -5;
    index[170_002] = 7;
    let check = |sizes: &[usize], strides: &[isize], from: usize| {
        let block = Block {
            start: index[from..].as_ptr().cast(),
            sizes,
            strides,
        };
        // SAFETY: K1: the sizes and strides below stay within the vector.
        unsafe { check(block, DType::I32, 4) }
    };
    assert_eq!(
        check(&[300_000], &[1], 0),
        Err(BadIndex {
            position: 170_001,
            value: -5
        })
    );
    assert_eq!(
        check(&[300_000], &[-1], 299_999),
        Err(BadIndex {
            position: 0,
            value: 9
        })
    );
    let bad = BadIndex {
        position: 100_000 - 2,
        value: -5,
    };
    assert_eq!(check(&[2, 100_000], &[100_000, 1], 70_003), Err(bad));
    assert_eq!(check(&[170_001], &[1], 0), Ok(()));
    assert_eq!(check(&[0, 5], &[5, 1], 0), Ok(()));
    assert_eq!(check(&[], &[], 0), Ok(()));
}
