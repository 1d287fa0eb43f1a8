//! Between which numbers a size lies, by interval arithmetic.

use super::atom::{Atom, Kind};
use super::poly::{Factors, Poly};
use super::{Dim, Form};

/// From `min` to `max`; `None` where there is no bound, or none within reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: Option<i128>,
    pub(super) max: Option<i128>,
}

impl Atom {
    /// The least and the greatest number it can be.
    pub(super) fn bounds(&self) -> (usize, Option<usize>) {
        match self.kind() {
            Kind::Leaf { min, max, .. } => (*min, *max),
            Kind::Length { of, cut } => {
                let (min, max) = of.bounds();
                cut.bounds(min, max)
            }
        }
    }
}

impl Factors {
    fn range(&self) -> Range {
        let (mut min, mut max) = (Some(1i128), Some(1i128));
        let mut zero = false;
        for (atom, power) in self.iter() {
            let (least, most) = atom.bounds();
            zero |= most == Some(0);
            let raise = |n: usize| (n as i128).checked_pow(*power);
            min = min.zip(raise(least)).and_then(|(a, b)| a.checked_mul(b));
            let most = most.and_then(raise);
            max = max.zip(most).and_then(|(a, b)| a.checked_mul(b));
        }
        match zero {
            true => Range {
                min: Some(0),
                max: Some(0),
            },
            // A least number past reach is still not below 0.
            false => Range {
                min: min.or(Some(0)),
                max,
            },
        }
    }
}

impl Poly {
    /// Between which numbers its value lies, whatever its atoms are.
    pub(super) fn range(&self) -> Range {
        let (mut min, mut max) = (Some(0i128), Some(0i128));
        for (factors, by) in self.terms() {
            let range = factors.range();
            let (low, high) = match by {
                ..0 => (range.max, range.min),
                _ => (range.min, range.max),
            };
            let add =
                |sum: Option<i128>, end: Option<i128>| sum?.checked_add(end?.checked_mul(*by)?);
            min = add(min, low);
            max = add(max, high);
        }
        Range { min, max }
    }
}

impl Dim {
    /// The least number it can be, and the greatest where there is one.
    ///
    /// ```
    /// use stridewise_core::dim::Dim;
    ///
    /// assert_eq!(Dim::from(3).bounds(), (3, Some(3)));
    /// assert_eq!("B*2 + 1".parse::<Dim>()?.bounds(), (1, None));
    /// assert_eq!("len(B[2:10:3])".parse::<Dim>()?.bounds(), (0, Some(3)));
    /// assert_eq!(Dim::bounded("B", 1, Some(8)).unwrap().bounds(), (1, Some(8)));
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn bounds(&self) -> (usize, Option<usize>) {
        let node = match &self.0 {
            Form::Known(n) => return (*n, Some(*n)),
            Form::Symbolic(node) => node,
        };
        // A size is never negative, and a divisor never 0.
        let above = node.ratio.above.range();
        let (min, max) = if node.ratio.below.is_one() {
            (above.min.unwrap_or(0), above.max)
        } else {
            let below = node.ratio.below.range();
            let least = match (above.min, below.min) {
                (Some(above @ 1..), Some(0..)) => match below.max {
                    Some(below @ 1..) => above.div_euclid(below).max(1),
                    _ => 1,
                },
                _ => 0,
            };
            let most = match below.min {
                Some(0..) => above.max,
                // The divisor may have either sign, and so may what is above it.
                _ => above
                    .max
                    .zip(above.min)
                    .map(|(a, b)| a.max(b.saturating_neg())),
            };
            let by = below.min.unwrap_or(1).max(1);
            (least, most.map(|most| most.div_euclid(by)))
        };
        let min = usize::try_from(min.max(0)).unwrap_or(usize::MAX);
        // Bounds that exclude each other say that there is no such size; one number is as good as none.
        let max = max.map(|max| usize::try_from(max.max(0)).map(|max| max.max(min)));
        (min, max.and_then(Result::ok))
    }
}
