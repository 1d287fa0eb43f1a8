//! What a history is good for beside one gradient: long ones, gradients of gradients, and seeds that do not fit.

use stridewise_core::Engine;
use stridewise_core::operators::Methods;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_tape::Tape;

#[test]
fn a_long_history_is_walked_and_let_go_without_deep_calls() {
    let tape = Tape::over(Cpu);
    let x = tape
        .watch(&Tensor::from_vec(vec![1.0f32, 2.0], &[2, 1]).unwrap())
        .unwrap();
    let mut y = x.clone();
    for _ in 0..50_000 {
        y = y.swapaxes(0, 1).unwrap();
        y = tape.add(&y, &tape.constant(y.value().clone())).unwrap();
    }
    let seed = Tensor::from_vec(vec![3.0f32, 5.0], &[2, 1]).unwrap();
    let dx = tape.gradient(&y, &[&x], Some(&seed)).unwrap();
    assert_eq!(dx[0].to_vec::<f32>().unwrap(), [3.0, 5.0]);
}

#[test]
fn a_gradient_can_be_differentiated_by_its_seed() {
    // y = A x, so dx = Aᵀ g, and the gradient of h·dx by g is A h: the operator itself.
    let tape = Tape::over(Cpu);
    let x = tape
        .watch(&Tensor::from_vec(vec![1.0, 2.0, 3.0], &[3]).unwrap())
        .unwrap();
    let y = x.repeat([2]).unwrap();
    let g = tape
        .watch(&Tensor::from_vec(vec![1.0; 6], &[6]).unwrap())
        .unwrap();
    let dx = tape
        .tracked_gradient(&y, &[&x], Some(&g))
        .unwrap()
        .remove(0);
    assert_eq!(dx.value().to_vec::<f64>().unwrap(), [2.0, 2.0, 2.0]);
    let h = Tensor::from_vec(vec![5.0, 7.0, 11.0], &[3]).unwrap();
    let dg = tape.gradient(&dx, &[&g], Some(&h)).unwrap();
    assert_eq!(
        dg[0].to_vec::<f64>().unwrap(),
        [5.0, 7.0, 11.0, 5.0, 7.0, 11.0]
    );
    // The same by a tape over a tape.
    let outer = Tape::over(tape.clone());
    let x = outer
        .watch(&tape.constant(Tensor::from_vec(vec![1.0, 2.0, 3.0], &[3]).unwrap()))
        .unwrap();
    let y = x.repeat([2]).unwrap();
    let dx = outer.gradient(&y, &[&x], Some(&g)).unwrap().remove(0);
    let dg = tape.gradient(&dx, &[&g], Some(&h)).unwrap();
    assert_eq!(
        dg[0].to_vec::<f64>().unwrap(),
        [5.0, 7.0, 11.0, 5.0, 7.0, 11.0]
    );
}

#[test]
fn whole_numbers_have_no_gradient_and_a_seed_must_fit() {
    let tape = Tape::over(Cpu);
    assert!(
        tape.watch(&Tensor::from_vec(vec![1, 2], &[2]).unwrap())
            .is_err()
    );
    let x = tape
        .watch(&Tensor::from_vec(vec![1.0, 2.0], &[2]).unwrap())
        .unwrap();
    let error = tape.gradient(&x, &[&x], None).unwrap_err().to_string();
    assert!(error.contains("single number"), "{error}");
    let wrong = Tensor::from_vec(vec![1.0; 3], &[3]).unwrap();
    assert!(tape.gradient(&x, &[&x], Some(&wrong)).is_err());
    let single = Tensor::from_vec(vec![1.0f32; 2], &[2]).unwrap();
    assert!(tape.gradient(&x, &[&x], Some(&single)).is_err());
    let y = x.sum(.., false, None).unwrap();
    let dx = tape.gradient(&y, &[&x], None).unwrap();
    assert_eq!(dx[0].to_vec::<f64>().unwrap(), [1.0, 1.0]);
    let z = tape
        .watch(&Tensor::from_vec(vec![1.0; 3], &[3]).unwrap())
        .unwrap();
    assert_eq!(
        tape.gradient(&y, &[&z], None).unwrap()[0]
            .to_vec::<f64>()
            .unwrap(),
        [0.0; 3]
    );
}
