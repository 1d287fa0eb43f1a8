//! A tape over the GPU: every operator's results and gradients are those of a tape over the CPU, bit for bit.

use stridewise::{Device, Engine, Tensor, To};
use stridewise_suite::{Call, Input};

use crate::drawn::{Numbers, Verdict, elements, every_operator, recorded, recorded_on, tensor};

/// As many calls of each operator.
const CASES: u32 = 100;

/// The same dtype, shape and bits; a NaN is as good as another.
fn same(found: &Tensor, wanted: &Tensor) -> bool {
    let bits = |x: f64| {
        if x.is_nan() {
            f64::NAN.to_bits()
        } else {
            x.to_bits()
        }
    };
    (found.dtype(), found.shape()) == (wanted.dtype(), wanted.shape())
        && (found.to_bytes().ok() == wanted.to_bytes().ok()
            || elements(found)
                .iter()
                .zip(elements(wanted))
                .all(|(a, b)| (bits(a.0), bits(a.1)) == (bits(b.0), bits(b.1))))
}

fn check(c: &Call, random: u64) -> Verdict {
    let (gpu, cpu) = (Device::gpu().unwrap(), Device::cpu());
    let mut numbers = Numbers(random);
    let Ok(wanted) = recorded(c, tensor) else {
        // Which errors there are is the suite's to tell.
        return Ok(false);
    };
    let there = |input: &Input| tensor(input).to(&gpu).unwrap();
    let found = recorded_on(gpu.engine().clone(), c, there).map_err(|error| error.to_string())?;
    let read = |x: &stridewise::gpu::Tensor| x.to(&cpu).map_err(|error| error.to_string());
    let mut any = false;
    for (at, (found_y, wanted_y)) in found.outputs.iter().zip(&wanted.outputs).enumerate() {
        let y = read(found_y.value())?;
        if !same(&y, wanted_y.value()) {
            return Err(format!(
                "output {at} is {y:?}\nand not {:?}",
                wanted_y.value()
            ));
        }
        if found_y.is_tracked() != wanted_y.is_tracked() {
            return Err(format!("output {at} is tracked on one of them only"));
        }
        if !wanted_y.is_tracked() {
            continue;
        }
        any = true;
        let seed = tensor(&numbers.seed(y.dtype(), y.shape()));
        let wanted = wanted.pull(wanted_y, &seed)?;
        let found = found.pull(found_y, &seed.to(&gpu).unwrap())?;
        for (input, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            let found = read(found)?;
            if !same(&found, wanted) {
                return Err(format!(
                    "the gradient by input {input} is {found:?}\nand not {wanted:?}"
                ));
            }
        }
    }
    Ok(any)
}

#[test]
fn every_operator_and_its_gradient_have_the_bits_of_the_cpu() {
    every_operator(CASES, |c, random| check(&c.listed(), random));
}

#[test]
fn many_that_meet_are_added_in_order() {
    let (gpu, cpu) = (Device::gpu().unwrap(), Device::cpu());
    use stridewise::operators::Methods;
    use stridewise::params::Mode;
    let numbers = (0..20_000).map(|i| ((i * 7919 % 1013) as f32 - 500.0) / 3.0e3);
    let seed = Tensor::from_vec(numbers.collect::<Vec<f32>>(), &[20_000]).unwrap();
    let places = (0..20_000i64).map(|i| i * 31 % 97 % 13 - 6);
    let index = Tensor::from_vec(places.collect::<Vec<i64>>(), &[20_000]).unwrap();
    let x = Tensor::from_vec(vec![0.0f32; 13], &[13]).unwrap();
    let pulled = |dx: Tensor| dx.to_bytes().unwrap();
    let (_, back) = stridewise::vjp(
        |xs| xs[0].take(&tape_of(&xs[0]).constant(index.clone()), None, Mode::Raise),
        &[&x],
    )
    .unwrap();
    let wanted = pulled(back.pull(&seed).unwrap().remove(0));
    let there = index.to(&gpu).unwrap();
    let (_, back) = stridewise::vjp(
        |xs| xs[0].take(&tape_of(&xs[0]).constant(there.clone()), None, Mode::Raise),
        &[&x.to(&gpu).unwrap()],
    )
    .unwrap();
    let found = back.pull(&seed.to(&gpu).unwrap()).unwrap().remove(0);
    assert_eq!(pulled(found.to(&cpu).unwrap()), wanted);
}

fn tape_of<E>(x: &stridewise::Var<E>) -> stridewise::Tape<E>
where
    E: Engine<Size = usize, Value: stridewise::Value<Engine = E>> + Clone,
{
    use stridewise::Value;
    stridewise::Tape::over(x.value().engine())
}
