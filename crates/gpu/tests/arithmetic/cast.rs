use stridewise_core::{Axis, DType, Engine};
use stridewise_cpu::{Cpu, Tensor};

use crate::numbers::{Rng, gpu, require_same, row, turned};

#[test]
fn every_dtype_becomes_every_other_as_on_the_cpu() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    for from in DType::ALL {
        let x = row(from, 9_999, &mut rng);
        let there = gpu.upload(&x).unwrap();
        for to in DType::ALL {
            let wanted = Cpu.cast(&x, to).unwrap();
            require_same(&gpu.cast(&there, to).unwrap(), &wanted, |at| {
                let one = Cpu.view_at(&x, &[(0, at)], 0, |_| Axis::Of(0)).unwrap();
                format!("{from} to {to} of {:02x?}", one.to_bytes().unwrap())
            });
        }
    }
}

#[test]
fn what_is_cast_may_lie_in_any_way_and_be_empty() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    for (from, to) in DType::ALL.into_iter().zip(DType::ALL.into_iter().rev()) {
        for shape in [vec![], vec![0, 4], vec![3, 5, 7], vec![1, 6]] {
            let bytes = row(from, shape.iter().product(), &mut rng).to_bytes();
            let x = Tensor::from_bytes(from, &shape, &bytes.unwrap()).unwrap();
            let backwards: Vec<usize> = (0..shape.len()).rev().collect();
            let flags: Vec<bool> = shape.iter().map(|_| rng.below(2) == 0).collect();
            let x = turned(&x, &backwards, &flags);
            let got = gpu.cast(&gpu.upload(&x).unwrap(), to).unwrap();
            require_same(&got, &Cpu.cast(&x, to).unwrap(), |at| {
                format!("{from} to {to}, {shape:?} {flags:?}, at {at}")
            });
        }
    }
}
