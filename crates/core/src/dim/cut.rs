//! Lengths of slices by Python's rule, and the few forms all slices come down to.
//!
//! Counted backwards, `[s:e:-t]` meets as many elements as `[!s:!e:t]` does forwards (`!` flips all bits:
//! position `s` from the front becomes position `s` from the back). What remains counts forwards, and since
//! only the length matters, most ends that count from the back can be told from the front as well:
//! `[1:-2]` is as long as `[3:]`, and `[-5:]` as `[:5]`.

use std::fmt;

use super::atom::{Atom, Kind};
use super::poly::Poly;
use super::ratio::Ratio;
use super::{Dim, Form};

/// A slice, in the one spelling of all that are as long: the step counts forwards, and the start is from the
/// front unless the end is too, as in `[-3:5]`, which no other spelling covers. It meets at least one element
/// of some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Cut {
    start: isize,
    stop: Option<isize>,
    step: isize,
}

/// The largest size there is.
const LARGEST: i128 = isize::MAX as i128;

/// `a / b` rounded up, for a positive `b`.
fn ceil(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

impl Cut {
    /// The cut of a Python slice; `None` for one that is always empty. The step must not be 0.
    fn python(start: Option<isize>, stop: Option<isize>, step: isize) -> Option<Cut> {
        let flip = |end: isize| if step < 0 { !end } else { end } as i128;
        // No size is larger than the largest, so ends that far out are no ends.
        let start = start.map(flip).filter(|start| *start > -LARGEST);
        let stop = stop.map(flip).filter(|stop| *stop < LARGEST);
        let start = start.unwrap_or(0);
        let step = i128::from(step.unsigned_abs() as u64);
        match stop {
            None if start < 0 => Cut::new(0, Some(-start), step),
            Some(stop) if start >= 0 && stop < 0 => Cut::new(start - stop, None, step),
            Some(stop) if start < 0 && stop < 0 => Cut::new(-stop, Some(-start), step),
            _ => Cut::new(start, stop, step),
        }
    }

    /// A cut whose start or stop is from the front.
    fn new(start: i128, stop: Option<i128>, step: i128) -> Option<Cut> {
        let mut stop = stop.filter(|stop| *stop < LARGEST);
        let mut step = step.min(LARGEST);
        if start >= LARGEST || stop.is_some_and(|stop| stop <= start.max(0)) {
            return None;
        }
        if let Some(end) = stop.filter(|_| start >= 0) {
            // The end moves to just behind the last element met.
            let count = ceil(end - start, step);
            stop = Some(start + (count - 1) * step + 1);
            if count == 1 {
                step = 1;
            }
        }
        Some(Cut {
            start: isize::try_from(start).unwrap_or(isize::MIN),
            stop: stop.and_then(|stop| isize::try_from(stop).ok()),
            step: isize::try_from(step).unwrap_or(isize::MAX),
        })
    }

    /// Start, stop and step, as Python writes them.
    pub(super) fn parts(&self) -> (isize, Option<isize>, isize) {
        (self.start, self.stop, self.step)
    }

    /// How many elements it meets among `n`.
    pub(super) fn count(&self, n: usize) -> usize {
        let n = n as i128;
        let start = match self.start as i128 {
            from_back @ ..0 => (n + from_back).max(0),
            start => start.min(n),
        };
        let stop = self.stop.map_or(n, |stop| (stop as i128).min(n));
        usize::try_from(ceil((stop - start).max(0), self.step as i128)).unwrap_or(usize::MAX)
    }

    /// The fewest and the most elements it meets among `min` to `max`.
    pub(super) fn bounds(&self, min: usize, max: Option<usize>) -> (usize, Option<usize>) {
        let stop = self.stop.map(isize::unsigned_abs);
        if self.start < 0 {
            // Full for middling sizes, less to both sides.
            let most = [max, stop, Some(self.start.unsigned_abs())];
            let most = most.into_iter().flatten().min().unwrap_or(0);
            return (0, Some(most.div_ceil(self.step.unsigned_abs())));
        }
        (self.count(min), max.or(stop).map(|max| self.count(max)))
    }

    /// The cut of what `inner` has cut already, where one cut can say it.
    fn after(&self, inner: &Cut) -> Result<Option<Cut>, Separate> {
        if self.start < 0 || inner.start < 0 {
            return Err(Separate);
        }
        let place = |at: isize| inner.start as i128 + at as i128 * inner.step as i128;
        let ends = [
            self.stop.map(|stop| place(stop - 1) + 1),
            inner.stop.map(|e| e as i128),
        ];
        let step = self.step as i128 * inner.step as i128;
        Ok(Cut::new(
            place(self.start),
            ends.into_iter().flatten().min(),
            step,
        ))
    }
}

/// Two cuts that stay two.
struct Separate;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        if self.start != 0 {
            write!(f, "{}", self.start)?;
        }
        f.write_str(":")?;
        if let Some(stop) = self.stop {
            write!(f, "{stop}")?;
        }
        if self.step != 1 {
            write!(f, ":{}", self.step)?;
        }
        f.write_str("]")
    }
}

impl Dim {
    /// The length of a slice of an axis of this size, by Python's rule: `len(range(n)[start:stop:step])`.
    ///
    /// Where it can be said more simply, it is; slices of the same length are written the same way, counted
    /// from the front with a positive step where there is such a spelling. `None` for a step of 0 and for
    /// slices nested past reach.
    ///
    /// ```
    /// use stridewise_core::dim::Dim;
    ///
    /// let b = Dim::symbol("B");
    /// assert_eq!(b.sliced(Some(1), None, 1).unwrap().to_string(), "len(B[1:])");
    /// assert_eq!(b.sliced(None, Some(-1), 1).unwrap().to_string(), "len(B[1:])");
    /// assert_eq!(b.sliced(None, None, -1).unwrap(), b);
    /// assert_eq!(Dim::from(10).sliced(Some(1), None, 2).unwrap(), Dim::from(5));
    ///
    /// let even: Dim = "B*2".parse()?;
    /// assert_eq!(even.sliced(None, None, 2).unwrap(), b);
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn sliced(&self, start: Option<isize>, stop: Option<isize>, step: isize) -> Option<Dim> {
        if step == 0 {
            return None;
        }
        match Cut::python(start, stop, step) {
            Some(cut) => self.cut(cut),
            None => Some(Dim::from(0)),
        }
    }

    /// The length of `self` cut, in the simplest form.
    pub(super) fn cut(&self, mut cut: Cut) -> Option<Dim> {
        let Form::Symbolic(node) = &self.0 else {
            return Some(Dim::from(cut.count(self.number()?)));
        };
        let (min, max) = self.bounds();
        let within = |end: isize| max.is_some_and(|max| max <= end.unsigned_abs());
        if cut.start < 0 {
            if within(cut.start) {
                return match Cut::new(0, cut.stop.map(|stop| stop as i128), cut.step as i128) {
                    Some(cut) => self.cut(cut),
                    None => Some(Dim::from(0)),
                };
            }
            return self.length(cut);
        }
        if cut.stop.is_some_and(within) {
            cut.stop = None;
        }
        let (least, most) = cut.bounds(min, max);
        if most == Some(least) {
            return Some(Dim::from(least));
        }
        if (cut.start, cut.stop, cut.step) == (0, None, 1) {
            return Some(self.clone());
        }
        if let Some(Kind::Length { of, cut: inner }) = node.ratio.atom().map(Atom::kind)
            && let Ok(both) = cut.after(inner)
        {
            return both.map_or(Some(Dim::from(0)), |both| of.cut(both));
        }
        if cut.stop.is_none() {
            let less = cut.start.unsigned_abs();
            if cut.step == 1 && less <= min {
                return self.minus(&Dim::from(less));
            }
            if let Some((of, less)) = as_difference(&node.ratio, &cut) {
                return match Cut::new(less, None, 1) {
                    _ if less <= 0 => of.plus(&Ratio::from(-less))?.settle().ok(),
                    None => Some(Dim::from(0)),
                    Some(shorter) if shorter == cut && of == node.ratio => self.length(cut),
                    Some(shorter) => of.settle().ok()?.cut(shorter),
                };
            }
        }
        self.length(cut)
    }

    fn length(&self, cut: Cut) -> Option<Dim> {
        let atom = Atom::length(self.clone(), cut);
        Ratio::from(Poly::from(atom)).settle().ok()
    }
}

/// Where the size is `step*of + c` with an `of` that is never negative, the cut from `start` to the end is as
/// long as `of` less a number, but not less than 0.
fn as_difference(size: &Ratio, cut: &Cut) -> Option<(Ratio, i128)> {
    let whole = size.whole()?;
    let (of, c) = whole.apart_from_constant();
    let of = of.exactly_by(cut.step as i128)?;
    if of.range().min.is_none_or(|min| min < 0) {
        return None;
    }
    let less = -ceil(c.checked_sub(cut.start as i128)?, cut.step as i128);
    Some((Ratio::from(of), less))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::tests::expression::python;

    fn ends() -> impl Iterator<Item = Option<isize>> + Clone {
        (-6..=6).map(Some).chain([None])
    }

    #[test]
    fn every_small_slice_is_as_long_as_pythons() {
        for start in ends() {
            for stop in ends() {
                for step in (-4..=4).filter(|step| *step != 0) {
                    let cut = Cut::python(start, stop, step);
                    for n in 0..14 {
                        let count = cut.map_or(0, |cut| cut.count(n));
                        let expected = python(n, start, stop, step);
                        assert_eq!(count, expected, "{n} {start:?} {stop:?} {step} {cut:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn slices_of_one_length_have_one_spelling() {
        let mut seen: Vec<(Vec<usize>, Option<Cut>)> = Vec::new();
        for start in ends() {
            for stop in ends() {
                for step in (-4..=4).filter(|step| *step != 0) {
                    let cut = Cut::python(start, stop, step);
                    // Humps keep an end that may lie past the last element they ever meet.
                    if cut.is_some_and(|cut| cut.start < 0) {
                        continue;
                    }
                    let counts = (0..40).map(|n| cut.map_or(0, |cut| cut.count(n))).collect();
                    match seen.iter().find(|(other, _)| *other == counts) {
                        Some((_, other)) => assert_eq!(cut, *other),
                        None => seen.push((counts, cut)),
                    }
                }
            }
        }
    }

    #[test]
    fn two_cuts_in_a_row_are_one() {
        let cuts: Vec<Cut> = (0..4)
            .flat_map(|start| (1..4).map(move |step| (start, step)))
            .flat_map(|(start, step)| {
                (0..7)
                    .map(Some)
                    .chain([None])
                    .filter_map(move |stop| Cut::python(Some(start), stop, step))
            })
            .collect();
        for inner in &cuts {
            for outer in &cuts {
                let Ok(both) = outer.after(inner) else {
                    panic!("{inner} then {outer} should be one cut")
                };
                for n in 0..20 {
                    let expected = outer.count(inner.count(n));
                    assert_eq!(
                        both.map_or(0, |cut| cut.count(n)),
                        expected,
                        "{inner} {outer} {n}"
                    );
                }
            }
        }
    }

    #[test]
    fn ends_past_any_size_are_no_ends() {
        let b = Dim::symbol("B");
        let far = isize::MAX;
        assert_eq!(b.sliced(Some(isize::MIN), Some(far), 1), Some(b.clone()));
        assert_eq!(b.sliced(Some(far), Some(-far), 1), Some(Dim::from(0)));
        assert_eq!(
            b.sliced(None, None, isize::MIN).unwrap().to_string(),
            format!("len(B[::{far}])")
        );
        assert_eq!(b.sliced(None, None, 0), None);
    }
}
