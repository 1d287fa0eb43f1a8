//! Operators that move tens of MiB, by what they do.

use ndarray::{ArrayD, ArrayViewD, Zip};

use crate::bench::Bench;
use crate::seen::Outcome;
use crate::three::Number;

mod join;
mod pack;
mod pick;
mod repeat;
mod sum;

pub(crate) fn rows(bench: &mut Bench) -> Outcome {
    repeat::rows(bench)?;
    pack::rows(bench)?;
    join::rows(bench)?;
    pick::rows(bench)?;
    sum::rows(bench)
}

/// ndarray's own packed copy, which one thread makes.
fn packed<T: Number>(view: &ArrayViewD<T>) -> ArrayD<T> {
    view.as_standard_layout().into_owned()
}

/// ndarray's packed copy with all threads, written once.
fn packed_by_all<T: Number>(view: &ArrayViewD<T>) -> ArrayD<T> {
    let mut packed = ArrayD::<T>::uninit(view.raw_dim());
    Zip::from(&mut packed).and(view).par_for_each(|to, &from| {
        to.write(from);
    });
    // SAFETY: the loop has written every element.
    unsafe { packed.assume_init() }
}

/// ndarray's copy with all threads to an array that is there.
fn pack_into<T: Number>(view: &ArrayViewD<T>, packed: &mut ArrayD<T>) {
    Zip::from(packed)
        .and(view)
        .par_for_each(|to, &from| *to = from);
}
