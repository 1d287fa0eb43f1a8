use stridewise_core::{Axis, DType, Engine};
use stridewise_cpu::{Cpu, Tensor};

use crate::numbers::{Rng, both, gpu, require_same, row, spread, terms, turned};

#[test]
fn all_pairs_of_hard_numbers_add_as_on_the_cpu() {
    let (gpus, mut rng) = (both(), Rng::new());
    for (gpu, dtype) in gpus
        .iter()
        .flat_map(|gpu| DType::ALL.map(|dtype| (gpu, dtype)))
    {
        let table = row(dtype, 211, &mut rng);
        let down = spread(&table, 211);
        let across = turned(&down, &[1, 0], &[false, false]);
        let sum = gpu.add(&gpu.upload(&down).unwrap(), &gpu.upload(&across).unwrap());
        let wanted = Cpu.add(&down, &across).unwrap();
        require_same(&sum.unwrap(), &wanted, |at| {
            let pair = [&down, &across].map(|x| shown(x, at));
            format!("{dtype} {} + {}", pair[0], pair[1])
        });
    }
}

#[test]
fn numbers_that_nearly_cancel_add_as_on_the_cpu() {
    let (gpus, mut rng) = (both(), Rng::new());
    for (gpu, dtype) in gpus
        .iter()
        .flat_map(|gpu| DType::ALL.map(|dtype| (gpu, dtype)))
    {
        let width = dtype.width();
        let a = row(dtype, 20_001, &mut rng);
        let mut bytes = a.to_bytes().unwrap();
        for x in bytes.chunks_mut(width) {
            // The other sign, and another last or middle byte in some.
            x[width - 1] ^= 0x80;
            if rng.below(2) == 0 {
                x[rng.below(width)] ^= 1 << rng.below(8);
            }
        }
        let b = Tensor::from_bytes(dtype, &[20_001], &bytes).unwrap();
        let sum = gpu.add(&gpu.upload(&a).unwrap(), &gpu.upload(&b).unwrap());
        require_same(&sum.unwrap(), &Cpu.add(&a, &b).unwrap(), |at| {
            format!("{dtype} {} + {}", shown(&a, at), shown(&b, at))
        });
    }
}

#[test]
fn operands_may_lie_in_any_way() {
    let (gpu, mut rng) = (gpu(), Rng::new());
    for dtype in DType::ALL {
        for shape in [vec![], vec![0], vec![1], vec![3, 5, 7], vec![2, 1, 9]] {
            let rank = shape.len();
            let a = terms(dtype, &shape, &mut rng);
            let backwards: Vec<usize> = (0..rank).rev().collect();
            let turned_shape: Vec<usize> = backwards.iter().map(|&i| shape[i]).collect();
            let b = terms(dtype, &turned_shape, &mut rng);
            let flags: Vec<bool> = (0..rank).map(|_| rng.below(2) == 0).collect();
            let b = turned(&b, &backwards, &flags);
            let sum = gpu.add(&gpu.upload(&a).unwrap(), &gpu.upload(&b).unwrap());
            require_same(&sum.unwrap(), &Cpu.add(&a, &b).unwrap(), |at| {
                format!("{dtype} {shape:?} {flags:?} at {at}")
            });
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused_as_on_the_cpu() {
    let gpu = gpu();
    let a = Tensor::from_vec(vec![1i32, 2], &[2]).unwrap();
    let b = Tensor::from_vec(vec![1i32, 2, 3], &[3]).unwrap();
    let error = gpu.add(&gpu.upload(&a).unwrap(), &gpu.upload(&b).unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        Cpu.add(&a, &b).unwrap_err().to_string()
    );
}

/// An element as bytes.
fn shown(x: &Tensor, at: usize) -> String {
    let at = (at / x.shape()[x.rank() - 1], at % x.shape()[x.rank() - 1]);
    let one = match x.rank() {
        1 => Cpu.view_at(x, &[(0, at.1)], 0, |_| Axis::Of(0)),
        _ => Cpu.view_at(x, &[(0, at.0), (1, at.1)], 0, |_| Axis::Of(0)),
    };
    format!("{:02x?}", one.unwrap().to_bytes().unwrap())
}
