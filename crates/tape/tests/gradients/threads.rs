//! Gradients of large tensors are equal to the last bit on any number of threads: elements that meet are added in the
//! order in which they were read, whoever adds them.

use rayon::ThreadPoolBuilder;
use stridewise_core::Result;
use stridewise_core::operators::Methods;
use stridewise_core::params::Mode;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_tape::{Tape, Var, vjp};

/// Enough for threads to share the work.
const READ: usize = 100_000;

/// As many random numbers below 2²⁴.
fn random(count: usize) -> impl Iterator<Item = u32> {
    let mut state = 1u32;
    (0..count).map(move |_| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        state >> 8
    })
}

/// Numbers that do not add up exactly, so that another order gives other bits.
fn uneven(shape: &[usize]) -> Tensor {
    let numbers = random(shape.iter().product()).map(|n| n as f32 / 3e5 - 17.0);
    Tensor::from_vec(numbers.collect::<Vec<f32>>(), shape).unwrap()
}

/// Indices among `n`, each many times, from both ends.
fn index(n: usize, shape: &[usize]) -> Tensor {
    let n = n as i64;
    let places = random(shape.iter().product()).map(|i| i64::from(i) % (2 * n) - n);
    Tensor::from_vec(places.collect::<Vec<i64>>(), shape).unwrap()
}

/// The bits of a gradient, which must be the same on one, two, three and more threads.
fn pulled(f: impl Fn(&Var<Cpu>) -> Result<Var<Cpu>> + Sync, shape: &[usize]) -> Vec<u32> {
    let x = uneven(shape);
    let bits = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let (y, back) = vjp(|xs| f(&xs[0]), &[&x]).unwrap();
            let dx = back.pull(&uneven(y.shape())).unwrap().remove(0);
            let dx = dx.to_vec::<f32>().unwrap();
            dx.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
        })
    };
    let alone = bits(1);
    for threads in [2, 3, 4, 7] {
        assert!(bits(threads) == alone, "{threads} threads, {shape:?}");
    }
    alone
}

fn constant(x: Tensor) -> Var<Cpu> {
    Tape::over(Cpu).constant(x)
}

#[test]
fn the_gradient_of_take_has_the_bits_of_the_plain_loop_on_any_number_of_threads() {
    let n = 1000;
    let at = constant(index(n, &[READ]));
    let got = pulled(|x| x.take(&at, None, Mode::Raise), &[n]);
    let mut wanted = vec![0f32; n];
    let places = at.value().to_vec::<i64>().unwrap();
    for (place, g) in places
        .into_iter()
        .zip(uneven(&[READ]).to_vec::<f32>().unwrap())
    {
        wanted[place.rem_euclid(n as i64) as usize] += g;
    }
    let wanted: Vec<u32> = wanted.into_iter().map(f32::to_bits).collect();
    assert!(got == wanted);
}

#[test]
fn gradients_along_an_axis_have_the_same_bits_on_any_number_of_threads() {
    // Threads share the axes before, the cells of the axis, or the axes behind.
    for shape in [[100, 7, 3], [1, 9, 50], [1, 5, 9000]] {
        let behind: usize = shape[2];
        let at = constant(index(shape[1], &[(READ / behind / shape[0]).max(30)]));
        pulled(|x| x.take(&at, Some(1), Mode::Wrap), &shape);
        pulled(|x| x.index_select(1, &at), &shape);
    }
    for shape in [[400, 5], [1, 11]] {
        let at = constant(index(shape[1], &[shape[0], READ / shape[0]]));
        pulled(|x| x.take_along_axis(&at, Some(1)), &shape);
    }
}

#[test]
fn gradients_of_expanded_and_repeated_tensors_have_the_same_bits_on_any_number_of_threads() {
    pulled(|x| x.expand([40, 300, 10]), &[40, 1, 10]);
    pulled(|x| x.expand([-1, 50_000]), &[2, 1]);
    pulled(|x| x.expand([READ as isize, 3]), &[3]);
    pulled(|x| x.repeat([300, 10, 1]), &[5, 10]);
    pulled(|x| x.repeat_interleave(1000, Some(0)), &[100]);
}
