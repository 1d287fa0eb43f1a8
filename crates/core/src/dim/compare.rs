//! What can be said of two sizes without knowing them. An answer holds for every run in which all quotients
//! come out even and all symbols keep their bounds; what may go either way is `Unknown`.

use super::poly::{Poly, gcd};
use super::ratio::Ratio;
use super::{Dim, Form};
use crate::size::Truth;

impl Dim {
    /// Whether this divides `other` without remainder. 0 divides 0 and nothing else.
    ///
    /// ```
    /// use stridewise_core::dim::Dim;
    /// use stridewise_core::size::Truth;
    ///
    /// let dim = |text: &str| text.parse::<Dim>();
    /// assert_eq!(dim("C")?.divides(&dim("B*C")?), Truth::Yes);
    /// assert_eq!(dim("2")?.divides(&dim("B*4 + 1")?), Truth::No);
    /// assert_eq!(dim("4")?.divides(&dim("B")?), Truth::Unknown);
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn divides(&self, other: &Dim) -> Truth {
        if let (Form::Known(a), Form::Known(b)) = (&self.0, &other.0) {
            return match a {
                0 => (*b == 0).into(),
                _ => b.is_multiple_of(*a).into(),
            };
        }
        if let Form::Known(0) = self.0 {
            return self.compare(other);
        }
        let ((least, _), (some, most)) = (self.bounds(), other.bounds());
        // More than all of something does not divide it.
        if some >= 1 && most.is_some_and(|most| most < least) {
            return Truth::No;
        }
        let Some(times) = Ratio::from(other).over(&Ratio::from(self)) else {
            return Truth::Unknown;
        };
        // Where this is 0 and the quotient whole, the other is 0 as well.
        if times.below.is_one() {
            return Truth::Yes;
        }
        // Unless both are 0, it takes a whole quotient.
        match times.below.constant() {
            Some(by) if (least >= 1 || some >= 1) && never_a_multiple(&times.above, by) => {
                Truth::No
            }
            _ => Truth::Unknown,
        }
    }

    pub(super) fn compare(&self, other: &Dim) -> Truth {
        if let (Form::Known(a), Form::Known(b)) = (&self.0, &other.0) {
            return (a == b).into();
        }
        if self == other {
            return Truth::Yes;
        }
        let ((low, high), (least, most)) = (self.bounds(), other.bounds());
        if high.is_some_and(|high| high < least) || most.is_some_and(|most| most < low) {
            return Truth::No;
        }
        if high == Some(low) && most == Some(least) && low == least {
            return Truth::Yes;
        }
        let difference = || {
            let (a, b) = (Ratio::from(self), Ratio::from(other));
            a.above.times(&b.below)?.minus(&b.above.times(&a.below)?)
        };
        match difference() {
            Some(difference) => is_zero(&difference),
            None => Truth::Unknown,
        }
    }
}

/// Whether a polynomial is 0.
fn is_zero(p: &Poly) -> Truth {
    if p.is_zero() {
        return Truth::Yes;
    }
    let range = p.range();
    if range.min > Some(0) || range.max.is_some_and(|max| max < 0) {
        return Truth::No;
    }
    // A factor that is never 0 makes no difference.
    let (mut never_zero, _) = p.content();
    never_zero.retain(|atom| atom.bounds().0 >= 1);
    let Some(p) = p.exactly(&Poly::term(never_zero, 1)) else {
        return Truth::Unknown;
    };
    match never_a_multiple(&p, 0) {
        true => Truth::No,
        false => Truth::Unknown,
    }
}

/// Whether no value of `p` is a multiple of `of`: what divides `of` and all of `p` but its constant would
/// have to divide the constant too.
fn never_a_multiple(p: &Poly, of: i128) -> bool {
    let (terms, constant) = p.apart_from_constant();
    match gcd(of, terms.content().1) {
        0 => constant != 0,
        common => constant % common != 0,
    }
}
