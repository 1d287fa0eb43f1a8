//! Commands gather until a result is read.

use stridewise_core::operators::{self, Methods};
use stridewise_core::params::Mode;
use stridewise_core::{DType, Result, Value};

use crate::{alone, gpu, row, same};

/// Twenty operators, on any engine.
fn twenty<V: Value + Methods<usize>>(x: &V, index: &V) -> Result<V> {
    let mut x = x.clone();
    for turn in 0..5 {
        x = x.repeat([2])?;
        x = x.take(
            index,
            0,
            if turn % 2 == 0 {
                Mode::Wrap
            } else {
                Mode::Raise
            },
        )?;
        x = operators::concat(&[&x, &x.flip([0])?], 0)?;
        x = match turn {
            0 => x.cast(DType::F32)?,
            1 => x.unsqueeze([0])?.expand([3, -1])?.sum([0], false, None)?,
            2 => x.index_add(0, index, &index.cast(DType::F32)?)?,
            _ => x.take(index, None, Mode::Clip)?,
        };
    }
    Ok(x)
}

#[test]
fn twenty_operators_and_a_read_are_one_submission() {
    let gpu = alone();
    let (x, index) = (row(0..12i32), row([3i64, -1, 0, 7, 11, 2, -5]));
    let (far_x, far_index) = (gpu.upload(&x).unwrap(), gpu.upload(&index).unwrap());
    let before = gpu.counts();
    let y = twenty(&far_x, &far_index).unwrap();
    assert_eq!(gpu.counts().since(before).submissions, 0);
    assert!(gpu.counts().since(before).launches >= 20);
    same(&y, &twenty(&x, &index).unwrap());
    let did = gpu.counts().since(before);
    assert_eq!(
        (did.submissions, did.bytes_up, did.bytes_down),
        (1, 0, 28),
        "{did}"
    );
}

#[test]
fn a_long_chain_is_sent_before_anybody_reads() {
    let gpu = alone();
    let (before, made) = (gpu.counts(), gpu.device().memory());
    let x = gpu.upload(&row(0..8u8)).unwrap();
    let mut y = x.clone();
    for _ in 0..2000 {
        y = y.flip([0]).unwrap().contiguous().unwrap();
    }
    let did = gpu.counts().since(before);
    assert!(did.submissions >= 3, "{did}");
    same(&y, &row(0..8u8));
    let (used, free) = gpu.device().memory();
    let more = used + free - made.0 - made.1;
    assert!(more < 1 << 16, "{more} bytes for a few numbers");
}

#[test]
fn threads_share_a_device() {
    let gpu = gpu();
    std::thread::scope(|scope| {
        for thread in 0..8i64 {
            let gpu = &gpu;
            scope.spawn(move || {
                let x = row((0..500).map(|n| n * thread));
                let index = row((0..700).map(|n| (n * 7 + thread) % 500));
                let far = (gpu.upload(&x).unwrap(), gpu.upload(&index).unwrap());
                for _ in 0..10 {
                    let bad = row([3, 500 + thread]);
                    let bad = far
                        .0
                        .take(&gpu.upload(&bad).unwrap(), 0, Mode::Raise)
                        .unwrap();
                    let good = far.0.take(&far.1, 0, Mode::Raise).unwrap();
                    let text = bad.download().unwrap_err().to_string();
                    assert!(
                        text.contains(&format!("index {} at", 500 + thread)),
                        "{text}"
                    );
                    same(&good, &x.take(&index, 0, Mode::Raise).unwrap());
                }
            });
        }
    });
}
