//! Data on its way: up, down and along, in sizes and places that do not divide evenly.

use stridewise_core::operators::{self, Methods};
use stridewise_core::params::Mode;
use stridewise_core::{DType, index};

use crate::{counted, gpu, same};

/// One type of each width.
const WIDTHS: [DType; 5] = [DType::U8, DType::I16, DType::F32, DType::F64, DType::C128];

#[test]
fn what_goes_up_comes_down_in_every_layout() {
    let gpu = gpu();
    for dtype in DType::ALL {
        let x = counted(dtype, &[3, 4, 5]);
        let views = [
            x.clone(),
            x.permute([2, 0, 1]).unwrap(),
            x.flip([0, 2]).unwrap(),
            x.slice(index![1.., 1..3, 2]).unwrap(),
            x.expand([2, 3, 4, 5]).unwrap(),
            x.slice(index![.., 0..0]).unwrap(),
        ];
        for x in views {
            let far = gpu.upload(&x).unwrap();
            same(&far, &x);
            let lying = far.download_as_it_lies().unwrap();
            assert_eq!(lying.strides(), far.strides());
            assert_eq!(lying.to_bytes().unwrap(), x.to_bytes().unwrap());
        }
    }
}

#[test]
fn transfers_larger_than_a_chunk_arrive_whole() {
    let gpu = gpu();
    let x = counted(DType::U8, &[(33 << 20) + 3]);
    let far = gpu.upload(&x).unwrap();
    same(&far, &x);
    same(
        &far.slice(index![5..]).unwrap(),
        &x.slice(index![5..]).unwrap(),
    );
}

#[test]
fn narrow_elements_move_from_and_to_any_byte() {
    let gpu = gpu();
    for dtype in [DType::U8, DType::I16] {
        let x = counted(dtype, &[41]);
        let far = gpu.upload(&x).unwrap();
        for start in 0..6isize {
            for stop in start..start + 9 {
                let (near, cut) = (
                    x.slice(index![start..stop]).unwrap(),
                    far.slice(index![start..stop]).unwrap(),
                );
                same(&cut, &near);
                same(&cut.repeat([3]).unwrap(), &near.repeat([3]).unwrap());
            }
        }
    }
}

#[test]
fn joins_of_every_width_along_every_axis() {
    let gpu = gpu();
    for dtype in WIDTHS {
        for axis in 0..3 {
            let near: Vec<_> = [3, 0, 1, 5, 2, 4]
                .map(|size| {
                    let mut shape = [3, 2, 7];
                    shape[axis] = size;
                    counted(dtype, &shape)
                })
                .to_vec();
            let far: Vec<_> = near.iter().map(|x| gpu.upload(x).unwrap()).collect();
            let (near, far): (Vec<_>, Vec<_>) = (near.iter().collect(), far.iter().collect());
            let axis = axis as isize;
            same(
                &operators::concat(&far, axis).unwrap(),
                &operators::concat(&near, axis).unwrap(),
            );
        }
    }
}

#[test]
fn long_rows_move_as_larger_elements_and_odd_ones_do_not() {
    let gpu = gpu();
    for dtype in WIDTHS {
        for inner in [1, 2, 3, 4, 6, 8, 12, 16, 24] {
            let x = counted(dtype, &[5, 4, inner]);
            let index = crate::row([3i32, -4, 1, 0, 2]);
            let (far, far_index) = (gpu.upload(&x).unwrap(), gpu.upload(&index).unwrap());
            for axis in [Some(0), Some(1), None] {
                same(
                    &far.take(&far_index, axis, Mode::Raise).unwrap(),
                    &x.take(&index, axis, Mode::Raise).unwrap(),
                );
            }
            let turned = |x: &stridewise_cpu::Tensor| x.permute([1, 0, 2]).unwrap();
            same(
                &far.permute([1, 0, 2]).unwrap().contiguous().unwrap(),
                &turned(&x).contiguous().unwrap(),
            );
            same(
                &far.repeat([2, 3, 2]).unwrap(),
                &x.repeat([2, 3, 2]).unwrap(),
            );
            same(
                &far.slice(index![.., 1.., 1..])
                    .unwrap()
                    .contiguous()
                    .unwrap(),
                &x.slice(index![.., 1.., 1..]).unwrap(),
            );
        }
    }
}
