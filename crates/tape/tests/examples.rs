//! Gradients worked out by hand, at the edges: nothing repeated, an index read twice or outside, axes that were
//! spread before or after they were cut.

use stridewise_core::operators::{Methods, concat};
use stridewise_core::params::{Item, Mode, Scalar};
use stridewise_core::{Engine, Result};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_tape::{Tape, Var, vjp};

fn tensor(values: &[f64], shape: &[usize]) -> Result<Tensor> {
    Tensor::from_vec(values.to_vec(), shape)
}

/// The gradient of one input, with a seed of 1, 2, 3, ….
fn pulled(f: impl FnOnce(&Var<Cpu>) -> Result<Var<Cpu>>, x: &Tensor) -> Result<Vec<f64>> {
    let (y, back) = vjp(|xs| f(&xs[0]), &[x])?;
    let counting = (1..=y.count()).map(|n| n as f64).collect();
    let seed = Tensor::from_vec(counting, y.shape())?;
    back.pull(&seed)?[0].to_vec()
}

#[test]
fn repeating_no_times_gives_zeros() -> Result<()> {
    let x = tensor(&[1.0, 2.0, 3.0], &[3])?;
    assert_eq!(pulled(|x| x.repeat([0]), &x)?, [0.0; 3]);
    assert_eq!(pulled(|x| x.repeat([0, 2]), &x)?, [0.0; 3]);
    assert_eq!(pulled(|x| x.repeat([2, 1]), &x)?, [5.0, 7.0, 9.0]);
    Ok(())
}

#[test]
fn an_index_that_is_read_twice_adds_up() -> Result<()> {
    let x = tensor(&[4.0, 3.0, 5.0, 7.0], &[4])?;
    let index = Tensor::from_vec(vec![1i64, 1, -1, 1], &[4])?;
    let take = |mode| {
        let index = index.clone();
        move |x: &Var<Cpu>| {
            let index = Tape::over(Cpu).constant(index);
            x.take(&index, None, mode)
        }
    };
    assert_eq!(pulled(take(Mode::Raise), &x)?, [0.0, 7.0, 0.0, 3.0]);
    assert_eq!(pulled(take(Mode::Wrap), &x)?, [0.0, 7.0, 0.0, 3.0]);
    assert_eq!(pulled(take(Mode::Clip), &x)?, [3.0, 7.0, 0.0, 0.0]);
    Ok(())
}

#[test]
fn what_is_read_outside_has_no_gradient() -> Result<()> {
    let x = tensor(&[4.0, 3.0], &[2])?;
    let index = Tensor::from_vec(vec![9i64, 1, -9, 0], &[4])?;
    let fill = Mode::Fill(Scalar::Float(0.5));
    let f = |x: &Var<Cpu>| x.take(&Tape::over(Cpu).constant(index), None, fill);
    assert_eq!(pulled(f, &x)?, [4.0, 2.0]);
    Ok(())
}

#[test]
fn axes_that_are_spread_and_cut_in_any_order_come_back() -> Result<()> {
    let x = tensor(&[1.0, 2.0, 3.0], &[3, 1])?;
    let last_two = || [Item::from(..), Item::from(2..)];
    // Spread to four columns, then the last two of them: each row gets the two seeds that reached it.
    assert_eq!(
        pulled(|x| x.expand([-1, 4])?.slice(last_two()), &x)?,
        [3.0, 7.0, 11.0]
    );
    // The last row, then spread.
    let last = [Item::from(-1), Item::from(..)];
    assert_eq!(
        pulled(|x| x.slice(last)?.expand([4, 1]), &x)?,
        [0.0, 0.0, 10.0]
    );
    // Every second row backwards, then spread.
    let back = [Item::from(..).step(-2)];
    assert_eq!(
        pulled(|x| x.slice(back)?.expand([-1, 2]), &x)?,
        [7.0, 0.0, 3.0]
    );
    // A tensor that was spread before it was watched.
    let spread = tensor(&[5.0], &[1, 1])?.expand([2, 3])?;
    assert_eq!(
        pulled(|x| x.expand([2, 2, 3]), &spread)?,
        [8.0, 10.0, 12.0, 14.0, 16.0, 18.0]
    );
    Ok(())
}

#[test]
fn what_a_slice_passed_over_gets_zeros() -> Result<()> {
    let x = tensor(&[1.0; 5], &[5])?;
    let cut = |start, stop, step| {
        let (start, stop) = (Some(start), Some(stop));
        pulled(|x| x.slice([Item::Range { start, stop, step }]), &x)
    };
    assert_eq!(cut(1, 3, 1)?, [0.0, 1.0, 2.0, 0.0, 0.0]);
    assert_eq!(cut(3, 1, -1)?, [0.0, 0.0, 2.0, 1.0, 0.0]);
    assert_eq!(cut(1, 5, 2)?, [0.0, 1.0, 0.0, 2.0, 0.0]);
    assert_eq!(cut(3, 0, -2)?, [0.0, 2.0, 0.0, 1.0, 0.0]);
    assert_eq!(cut(2, 2, 1)?, [0.0; 5]);
    Ok(())
}

#[test]
fn nothing_read_gives_zeros_and_everything_read_the_sum() -> Result<()> {
    let x = tensor(&[1.0, 2.0], &[2, 1])?;
    assert_eq!(pulled(|x| x.expand([2, 0]), &x)?, [0.0; 2]);
    assert_eq!(pulled(|x| x.expand([0, 2, 1]), &x)?, [0.0; 2]);
    let nothing = Tensor::from_vec(Vec::<i64>::new(), &[0])?;
    let take = |x: &Var<Cpu>| x.take(&Tape::over(Cpu).constant(nothing), None, Mode::Raise);
    assert_eq!(pulled(take, &x)?, [0.0; 2]);
    // One number for the whole gradient, with stride 0 along every axis.
    let (y, back) = vjp(|xs| xs[0].expand([3, 2, 4]), &[&x])?;
    let seed = tensor(&[0.5], &[1, 1, 1])?.expand([3, 2, 4])?;
    assert_eq!(
        (y.shape(), seed.strides()),
        ([3, 2, 4].as_slice(), [0; 3].as_slice())
    );
    assert_eq!(back.pull(&seed)?[0].to_vec::<f64>()?, [6.0, 6.0]);
    Ok(())
}

#[test]
fn a_tensor_that_is_used_more_than_once_gets_the_sum() -> Result<()> {
    let x = tensor(&[1.0, 2.0], &[2])?;
    let twice = |x: &Var<Cpu>| concat(&[x, &x.flip(..)?, x], 0);
    assert_eq!(pulled(twice, &x)?, [10.0, 11.0]);
    Ok(())
}

#[test]
fn gradients_of_complex_numbers_are_conjugate_as_in_pytorch() -> Result<()> {
    use stridewise_core::dtype::DType;
    let tape = Tape::over(Cpu);
    let x = tape.watch(&tensor(&[1.0, 2.0], &[2])?)?;
    let z = x.cast(DType::C128)?;
    let seed = Cpu.full(DType::C128, Scalar::Complex(3.0, 4.0), &[2])?;
    // Only the real part reaches a real number.
    assert_eq!(
        tape.gradient(&z, &[&x], Some(&seed))?[0].to_vec::<f64>()?,
        [3.0, 3.0]
    );
    Ok(())
}
