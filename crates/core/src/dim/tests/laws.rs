//! The normal form: what is equal by the rules of arithmetic is equal, and is written and read the same.

use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;

use super::expression::*;
use crate::dim::Dim;
use crate::size::Size;

fn hash(dim: &Dim) -> u64 {
    let mut hasher = DefaultHasher::new();
    dim.hash(&mut hasher);
    hasher.finish()
}

/// Equal in every way, where both are within reach.
#[track_caller]
fn alike(a: Option<Dim>, b: Option<Dim>) {
    if let (Some(a), Some(b)) = (a, b) {
        assert_eq!(a, b);
        assert_eq!(a.to_string(), b.to_string());
        assert_eq!(hash(&a), hash(&b));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn the_laws_of_arithmetic_give_one_normal_form(
        a in expression(true), b in expression(true), c in expression(true), limits in bounds(),
    ) {
        let (Some(a), Some(b), Some(c)) = (a.dim(&limits), b.dim(&limits), c.dim(&limits)) else {
            return Ok(());
        };
        alike(a.plus(&b), b.plus(&a));
        alike(a.times(&b), b.times(&a));
        alike(
            a.plus(&b).and_then(|ab| ab.plus(&c)),
            b.plus(&c).and_then(|bc| a.plus(&bc)),
        );
        alike(
            a.times(&b).and_then(|ab| ab.times(&c)),
            b.times(&c).and_then(|bc| a.times(&bc)),
        );
        alike(
            b.plus(&c).and_then(|bc| a.times(&bc)),
            a.times(&b).zip(a.times(&c)).and_then(|(ab, ac)| ab.plus(&ac)),
        );
        if b != Dim::from(0) {
            alike(exact_over(&a, &b).and_then(|q| q.times(&b)), Some(a.clone()));
            alike(a.times(&b).and_then(|ab| ab.over(&b)), Some(a.clone()));
            alike(
                exact_over(&a, &b).zip(exact_over(&c, &b)).and_then(|(p, q)| p.plus(&q)),
                a.plus(&c).and_then(|ac| exact_over(&ac, &b)),
            );
        }
        alike(a.plus(&b).and_then(|ab| ab.minus(&b)), Some(a.clone()));
    }

    #[test]
    fn two_sizes_are_equal_just_where_they_are_as_quotients_of_polynomials(
        a in expression(false), b in expression(false), points in any::<[[u64; 4]; 4]>(),
    ) {
        let (Some(x), Some(y)) = (a.dim(&FREE), b.dim(&FREE)) else {
            return Ok(());
        };
        let mut equal = true;
        for point in &points {
            let (Some(p), Some(q)) = (a.in_field(point), b.in_field(point)) else {
                return Ok(());
            };
            equal &= p == q;
        }
        prop_assert_eq!(x == y, equal, "{} and {}", x, y);
    }

    #[test]
    fn what_is_printed_reads_back(a in expression(true), limits in bounds()) {
        if let Some(dim) = a.dim(&limits) {
            let text = dim.to_string();
            let back: Dim = text.parse().unwrap();
            prop_assert_eq!(&back, &dim);
            prop_assert_eq!(back.to_string(), text);
        }
    }
}
