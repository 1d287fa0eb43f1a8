//! What a view costs: nanoseconds a call, the reference count included.

use divan::{Bencher, black_box};
use stridewise::params::Pattern;
use stridewise::prelude::*;

fn main() {
    divan::main();
}

fn input() -> Tensor {
    zeros([4, 1, 3, 5], DType::F32).expect("a small tensor")
}

#[divan::bench(sample_size = 1000)]
fn expand(bencher: Bencher) {
    let x = input();
    bencher.bench_local(|| {
        drop(black_box(
            black_box(&x).expand(black_box([2, 1, 4, 4, 3, 5])),
        ))
    });
}

#[divan::bench(sample_size = 1000)]
fn unflatten(bencher: Bencher) {
    let x = zeros([4, 6, 16], DType::F32).expect("a small tensor");
    bencher.bench_local(|| {
        drop(black_box(
            black_box(&x).unflatten(black_box(1), black_box([2, -1])),
        ))
    });
}

#[divan::bench(sample_size = 1000)]
fn unsqueeze(bencher: Bencher) {
    let x = input();
    bencher.bench_local(|| drop(black_box(black_box(&x).unsqueeze(black_box(1)))));
}

#[divan::bench(sample_size = 1000)]
fn atleast_3d(bencher: Bencher) {
    let x = zeros([5], DType::F32).expect("a small tensor");
    bencher.bench_local(|| drop(black_box(black_box(&x).atleast_3d())));
}

#[divan::bench(sample_size = 1000)]
fn enforce_shape(bencher: Bencher) {
    let x = input();
    let pattern: Pattern<usize> = pattern!["B", 1, .., 5];
    bencher.bench_local(|| drop(black_box(black_box(&x).enforce_shape(black_box(&pattern)))));
}

#[divan::bench(sample_size = 1000)]
fn permute(bencher: Bencher) {
    let x = input();
    bencher.bench_local(|| drop(black_box(black_box(&x).permute(black_box([3, 1, 0, 2])))));
}

#[divan::bench(sample_size = 1000)]
fn slice(bencher: Bencher) {
    let x = input();
    bencher.bench_local(|| {
        drop(black_box(black_box(&x).slice(black_box(index![
            1..,
            ..,
            0
        ]))))
    });
}

#[divan::bench(sample_size = 1000)]
fn reshape(bencher: Bencher) {
    let x = input();
    bencher.bench_local(|| drop(black_box(black_box(&x).reshape(black_box([12, -1])))));
}

#[divan::bench(sample_size = 1000)]
fn clone(bencher: Bencher) {
    let x = input();
    bencher.bench_local(|| drop(black_box(black_box(&x).clone())));
}
