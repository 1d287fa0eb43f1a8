//! Random expressions, and what they are worth: as numbers, and in a finite field, where every quotient is
//! exact and two different quotients of polynomials hardly ever meet.

use proptest::prelude::*;

use crate::dim::{Dim, Leaf};
use crate::params::Symbol;
use crate::size::Size;

#[derive(Clone, Debug)]
pub(super) enum Expression {
    Number(usize),
    Symbol(usize),
    Product(usize),
    Plus(Box<[Expression; 2]>),
    Times(Box<[Expression; 2]>),
    Over(Box<[Expression; 2]>),
    Slice(Box<Expression>, Option<isize>, Option<isize>, isize),
}

use Expression::{Number, Over, Plus, Product, Slice, Symbol as Named, Times};

/// The least and greatest number of each symbol, the last being a tuple symbol's product.
pub(super) type Bounds = [(usize, Option<usize>); 4];

pub(super) const FREE: Bounds = [(0, None); 4];

const NAMES: [&str; 4] = ["B", "C", "D", "rest"];

const PRIME: u128 = (1 << 61) - 1;

pub(super) fn expression(slices: bool) -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        2 => (0usize..7).prop_map(Number),
        5 => (0usize..3).prop_map(Named),
        1 => Just(Product(3)),
    ];
    leaf.prop_recursive(4, 12, 2, move |inner| {
        let two = (inner.clone(), inner.clone()).prop_map(|(a, b)| Box::new([a, b]));
        let end = || proptest::option::of(-4isize..5);
        let step = prop_oneof![-3isize..0, 1isize..4];
        let slice =
            (inner, end(), end(), step).prop_map(|(e, a, b, s)| Slice(Box::new(e), a, b, s));
        prop_oneof![
            3 => two.clone().prop_map(Plus),
            3 => two.clone().prop_map(Times),
            2 => two.prop_map(Over),
            if slices { 2 } else { 0 } => slice,
        ]
    })
}

pub(super) fn bounds() -> impl Strategy<Value = Bounds> {
    let one = (0usize..4, proptest::option::of(0usize..5))
        .prop_map(|(min, more)| (min, more.map(|more| min + more)));
    let some = (one.clone(), one.clone(), one).prop_map(|(b, c, d)| [b, c, d, (0, None)]);
    prop_oneof![Just(FREE), some]
}

/// Numbers for the symbols, within their bounds, small ones most of all.
pub(super) fn numbers(bounds: Bounds) -> impl Strategy<Value = [usize; 4]> {
    bounds.map(|(min, max)| match max {
        Some(max) => (min..=max).boxed(),
        None => prop_oneof![3 => min..min + 3, 1 => min..min + 30].boxed(),
    })
}

/// Numbers among which every symbol is a multiple of 12, so that more quotients come out even.
pub(super) fn round_numbers() -> impl Strategy<Value = [usize; 4]> {
    let one = prop_oneof![2 => (0usize..4).prop_map(|n| n * 12), 1 => 0usize..3];
    [one.clone(), one.clone(), one.clone(), one]
}

pub(super) fn value_of(leaf: &Leaf, numbers: &[usize; 4]) -> Option<usize> {
    let at = NAMES.iter().position(|name| *name == leaf.symbol().name());
    at.map(|at| numbers[at])
}

/// A quotient of numbers that does not come out even is no size to go on with.
pub(super) fn exact_over(a: &Dim, b: &Dim) -> Option<Dim> {
    let quotient = a.over(b)?;
    match quotient.known() {
        Some(_) if quotient.times(b)? != *a => None,
        _ => Some(quotient),
    }
}

impl Expression {
    pub(super) fn dim(&self, bounds: &Bounds) -> Option<Dim> {
        match self {
            Number(n) => Some(Dim::from(*n)),
            Named(at) => Dim::bounded(NAMES[*at], bounds[*at].0, bounds[*at].1),
            Product(at) => Some(Dim::product_of(&Symbol::new(NAMES[*at]))),
            Plus(two) => two[0].dim(bounds)?.plus(&two[1].dim(bounds)?),
            Times(two) => two[0].dim(bounds)?.times(&two[1].dim(bounds)?),
            Over(two) => exact_over(&two[0].dim(bounds)?, &two[1].dim(bounds)?),
            Slice(of, start, stop, step) => of.dim(bounds)?.sliced(*start, *stop, *step),
        }
    }

    /// Its value, where every quotient in it comes out even.
    pub(super) fn value(&self, numbers: &[usize; 4]) -> Option<usize> {
        match self {
            Number(n) => Some(*n),
            Named(at) | Product(at) => Some(numbers[*at]),
            Plus(two) => two[0].value(numbers)?.plus(&two[1].value(numbers)?),
            Times(two) => two[0].value(numbers)?.times(&two[1].value(numbers)?),
            Over(two) => {
                let (a, b) = (two[0].value(numbers)?, two[1].value(numbers)?);
                (b != 0 && a % b == 0).then(|| a / b)
            }
            Slice(of, start, stop, step) => Some(python(of.value(numbers)?, *start, *stop, *step)),
        }
    }

    /// Its value in the field; `None` for a divisor of 0. Slices have none.
    pub(super) fn in_field(&self, numbers: &[u64; 4]) -> Option<u128> {
        Some(match self {
            Number(n) => *n as u128,
            Named(at) | Product(at) => u128::from(numbers[*at]) % PRIME,
            Plus(two) => (two[0].in_field(numbers)? + two[1].in_field(numbers)?) % PRIME,
            Times(two) => two[0].in_field(numbers)? * two[1].in_field(numbers)? % PRIME,
            Over(two) => {
                let divisor = two[1].in_field(numbers).filter(|divisor| *divisor != 0)?;
                let (mut inverse, mut square, mut power) = (1, divisor, PRIME - 2);
                while power > 0 {
                    if power % 2 == 1 {
                        inverse = inverse * square % PRIME;
                    }
                    square = square * square % PRIME;
                    power /= 2;
                }
                two[0].in_field(numbers)? * inverse % PRIME
            }
            Slice(..) => return None,
        })
    }
}

/// The length of a slice as CPython counts it.
pub(in crate::dim) fn python(
    n: usize,
    start: Option<isize>,
    stop: Option<isize>,
    step: isize,
) -> usize {
    let n = n as isize;
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let place = |end: isize| (if end < 0 { end + n } else { end }).clamp(low, high);
    let mut at = start.map_or(if step > 0 { low } else { high }, place);
    let stop = stop.map_or(if step > 0 { high } else { low }, place);
    let mut count = 0;
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        count += 1;
        at += step;
    }
    count
}
