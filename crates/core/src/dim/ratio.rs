//! The normal form: one polynomial over another, reduced.

use std::sync::Arc;

use super::atom::{Atom, Kind};
use super::gcd::common_divisor;
use super::poly::Poly;
use super::{Dim, Form, Node};

/// The most that one size may be made of, counting every factor of every term; slices count what they hold.
const MOST_PARTS: u32 = 1 << 12;

/// How deep slices of slices may go.
const DEEPEST: u32 = 32;

/// A quotient without common divisors; the first coefficient below is positive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ratio {
    pub(super) above: Poly,
    pub(super) below: Poly,
}

/// Both without their common divisor, and that.
fn reduced(a: &Poly, b: &Poly) -> (Poly, Poly, Poly) {
    let common = if a.is_one() || b.is_one() {
        Poly::from(1)
    } else if a == b {
        a.clone()
    } else {
        common_divisor(a, b)
    };
    match a.exactly(&common).zip(b.exactly(&common)) {
        Some((a, b)) => (a, b, common),
        None => (a.clone(), b.clone(), Poly::from(1)),
    }
}

/// Why an expression is no size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoSize {
    Large,
    Negative,
    /// A number that is not whole, and the whole number below it.
    Broken(usize),
}

impl From<Poly> for Ratio {
    fn from(above: Poly) -> Ratio {
        let below = Poly::from(1);
        Ratio { above, below }
    }
}

impl From<i128> for Ratio {
    fn from(n: i128) -> Ratio {
        Poly::from(n).into()
    }
}

impl From<&Dim> for Ratio {
    fn from(dim: &Dim) -> Ratio {
        match &dim.0 {
            Form::Known(n) => Ratio::from(*n as i128),
            Form::Symbolic(node) => node.ratio.clone(),
        }
    }
}

impl Ratio {
    /// The polynomial it is, where nothing is left below.
    pub(super) fn whole(&self) -> Option<&Poly> {
        self.below.is_one().then_some(&self.above)
    }

    /// The atom it is, where it is nothing else.
    pub(super) fn atom(&self) -> Option<&Atom> {
        match self.whole()?.terms() {
            [(factors, 1)] => {
                let mut factors = factors.iter();
                let (atom, power) = factors.next()?;
                (*power == 1 && factors.next().is_none()).then_some(atom)
            }
            _ => None,
        }
    }

    pub(super) fn plus(&self, other: &Ratio) -> Option<Ratio> {
        self.merge(other, Poly::plus)
    }

    pub(super) fn minus(&self, other: &Ratio) -> Option<Ratio> {
        self.merge(other, Poly::minus)
    }

    /// Both over what they need in common. As both are reduced, only a divisor that they share can divide
    /// the result: taking it out first keeps polynomials short.
    fn merge(&self, other: &Ratio, merge: fn(&Poly, &Poly) -> Option<Poly>) -> Option<Ratio> {
        if self.below.is_one() && other.below.is_one() {
            return Some(merge(&self.above, &other.above)?.into());
        }
        let (a, b, shared) = reduced(&self.below, &other.below);
        let above = merge(&self.above.times(&b)?, &other.above.times(&a)?)?;
        if above.is_zero() {
            return Some(Ratio::from(0));
        }
        let (above, shared, _) = reduced(&above, &shared);
        let below = a.times(&b)?.times(&shared)?;
        Some(Ratio { above, below })
    }

    pub(super) fn times(&self, other: &Ratio) -> Option<Ratio> {
        if self.above.is_zero() || other.above.is_zero() {
            return Some(Ratio::from(0));
        }
        let (a, d, _) = reduced(&self.above, &other.below);
        let (c, b, _) = reduced(&other.above, &self.below);
        let (above, below) = (a.times(&c)?, b.times(&d)?);
        Some(Ratio { above, below })
    }

    /// The quotient; `None` for a divisor of 0.
    pub(super) fn over(&self, other: &Ratio) -> Option<Ratio> {
        let minus = match other.above.terms().first()? {
            (_, ..0) => -1,
            _ => 1,
        };
        let sign = Poly::from(minus);
        self.times(&Ratio {
            above: other.below.times(&sign)?,
            below: other.above.times(&sign)?,
        })
    }

    pub(super) fn power(&self, mut power: u32) -> Option<Ratio> {
        if let Some(atom) = self.atom() {
            return Some(Poly::power(atom.clone(), power).into());
        }
        let (mut result, mut square) = (Ratio::from(1), self.clone());
        while power > 0 {
            if power % 2 == 1 {
                result = result.times(&square)?;
            }
            power /= 2;
            if power > 0 {
                square = square.times(&square)?;
            }
        }
        Some(result)
    }

    /// The size it is.
    pub(super) fn settle(self) -> Result<Dim, NoSize> {
        if let (Some(above), Some(below)) = (self.above.constant(), self.below.constant()) {
            if above < 0 {
                return Err(NoSize::Negative);
            }
            let n = isize::try_from(above / below)
                .map_err(|_| NoSize::Large)?
                .unsigned_abs();
            return if below == 1 {
                Ok(Dim::from(n))
            } else {
                Err(NoSize::Broken(n))
            };
        }
        let minus = self.above.terms().iter().any(|(_, n)| *n < 0);
        if minus
            && self.below.constant().is_some()
            && self.above.range().max.is_some_and(|max| max < 0)
        {
            return Err(NoSize::Negative);
        }
        let node = Node::from(self);
        if node.parts > MOST_PARTS || node.depth > DEEPEST {
            return Err(NoSize::Large);
        }
        Ok(Dim(Form::Symbolic(Arc::new(node))))
    }

    /// How much it is made of, and how deep.
    pub(super) fn measure(&self) -> (u32, u32) {
        let (mut parts, mut deepest) = (0u32, 0);
        for (factors, _) in self.above.terms().iter().chain(self.below.terms()) {
            parts = parts.saturating_add(1);
            for (atom, _) in factors.iter() {
                let (more, depth) = match atom.kind() {
                    Kind::Leaf { .. } => (1, 0),
                    Kind::Length { of, .. } => match &of.0 {
                        Form::Known(_) => (1, 1),
                        Form::Symbolic(node) => (node.parts.saturating_add(1), node.depth + 1),
                    },
                };
                parts = parts.saturating_add(more);
                deepest = deepest.max(depth);
            }
        }
        (parts, deepest)
    }
}
