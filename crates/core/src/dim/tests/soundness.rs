//! Answers hold at every number: nothing is said of a size that a run could belie.

use proptest::prelude::*;

use super::expression::*;
use crate::dim::{Dim, NoValue};
use crate::size::{Size, Truth};

/// An answer and what turned out.
fn holds(answer: Truth, so: bool) -> bool {
    match answer {
        Truth::Yes => so,
        Truth::No => !so,
        Truth::Unknown => true,
    }
}

/// Expressions with bounds for their symbols, and numbers within those.
fn cases() -> impl Strategy<Value = (Expression, Expression, Bounds, Vec<[usize; 4]>)> {
    (expression(true), expression(true), bounds()).prop_flat_map(|(a, b, limits)| {
        let numbers = match limits == FREE {
            true => prop_oneof![numbers(limits), round_numbers()].boxed(),
            false => numbers(limits).boxed(),
        };
        (
            Just(a),
            Just(b),
            Just(limits),
            proptest::collection::vec(numbers, 24),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn the_normal_form_keeps_the_value((a, b, limits, points) in cases()) {
        let (x, y) = (a.dim(&limits), b.dim(&limits));
        for at in &points {
            let Some(value) = a.value(at) else { continue };
            let Some(x) = &x else {
                return Err(TestCaseError::fail(format!("{value} at {at:?}, but no size")));
            };
            prop_assert_eq!(x.evaluate(|leaf| value_of(leaf, at)), Ok(value), "{} at {:?}", x, at);

            let number = x.substitute(|leaf| value_of(leaf, at).map(Dim::from));
            prop_assert_eq!(number, Some(Dim::from(value)), "{} at {:?}", x, at);

            // The other expression in place of B, where it has a value that B may have.
            let Some((y, b)) = y.as_ref().zip(b.value(at)) else { continue };
            let mut there = *at;
            there[0] = b;
            let inside = b >= limits[0].0 && limits[0].1.is_none_or(|max| b <= max);
            let Some(value) = a.value(&there).filter(|_| inside) else { continue };
            let put = x.substitute(|leaf| (leaf.symbol().name() == "B").then(|| y.clone()));
            if let Some(put) = put {
                prop_assert_eq!(put.evaluate(|leaf| value_of(leaf, at)), Ok(value), "{} at {:?}", put, at);
            }
        }
    }

    #[test]
    fn every_answer_and_bound_holds((a, b, limits, points) in cases()) {
        let (Some(x), Some(y)) = (a.dim(&limits), b.dim(&limits)) else {
            return Ok(());
        };
        let (same, divides, (min, max)) = (x.same(&y), x.divides(&y), x.bounds());
        for at in &points {
            let Some(p) = a.value(at) else { continue };
            prop_assert!(min <= p && max.is_none_or(|max| p <= max), "{} is {} at {:?}", x, p, at);
            let Some(q) = b.value(at) else { continue };
            prop_assert!(holds(same, p == q), "{} and {} at {:?}: {:?}", x, y, at, same);
            let so = if p == 0 { q == 0 } else { q % p == 0 };
            prop_assert!(holds(divides, so), "{} divides {} at {:?}: {:?}", x, y, at, divides);
        }
    }

    #[test]
    fn a_value_is_found_only_where_the_size_has_one((a, _, limits, points) in cases()) {
        let Some(x) = a.dim(&limits) else { return Ok(()) };
        for at in &points {
            match x.evaluate(|leaf| value_of(leaf, at)) {
                Ok(value) => {
                    let (min, max) = x.bounds();
                    prop_assert!(min <= value && max.is_none_or(|max| value <= max));
                }
                Err(NoValue::Inexact { .. } | NoValue::Negative(_)) => {
                    prop_assert_eq!(a.value(at), None);
                }
                Err(other) => return Err(TestCaseError::fail(other.to_string())),
            }
        }
    }
}
