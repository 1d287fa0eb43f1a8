//! Polynomials over atoms with whole coefficients. Every operation is checked and answers `None` past reach:
//! a coefficient or power that overflows, or more terms than any shape has use for.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::atom::Atom;

/// The most atoms in a term, and terms in a sum.
const LONGEST: usize = 1 << 11;

/// The most terms that a product may go through before they are added up.
const MOST_TERMS: usize = 1 << 14;

/// Atoms and their powers (never 0), in the order of the atoms. Empty for 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Factors(SmallVec<[(Atom, u32); 3]>);

/// Terms with coefficients that are not 0, the greatest first, the constant last. Empty for 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Poly(Vec<(Factors, i128)>);

/// The greatest number that divides both; 0 only for two zeros.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    // Only the most negative number of all has a size that does not fit.
    i128::try_from(a).unwrap_or(1)
}

impl Factors {
    pub(super) fn iter(&self) -> impl Iterator<Item = &(Atom, u32)> {
        self.0.iter()
    }

    pub(super) fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn power(&self, atom: &Atom) -> u32 {
        self.0
            .iter()
            .find(|(a, _)| a == atom)
            .map_or(0, |(_, p)| *p)
    }

    fn degree(&self) -> u64 {
        self.0.iter().map(|(_, power)| u64::from(*power)).sum()
    }

    /// Both lists in one, with the power `combine` gives to each atom; 0 leaves it out.
    fn merge(
        &self,
        other: &Factors,
        mut combine: impl FnMut(u32, u32) -> Option<u32>,
    ) -> Option<Factors> {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut merged = SmallVec::new();
        loop {
            let order = match (a.peek(), b.peek()) {
                (None, None) => return (merged.len() <= LONGEST).then_some(Factors(merged)),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let left = if order.is_le() { a.next() } else { None };
            let right = if order.is_ge() { b.next() } else { None };
            let power = combine(left.map_or(0, |l| l.1), right.map_or(0, |r| r.1))?;
            if let Some((atom, _)) = left.or(right).filter(|_| power > 0) {
                merged.push((atom.clone(), power));
            }
        }
    }

    pub(super) fn times(&self, other: &Factors) -> Option<Factors> {
        self.merge(other, u32::checked_add)
    }

    /// The quotient; `None` where it does not come out even.
    pub(super) fn over(&self, other: &Factors) -> Option<Factors> {
        self.merge(other, u32::checked_sub)
    }

    /// What divides both.
    pub(super) fn common(&self, other: &Factors) -> Factors {
        self.merge(other, |a, b| Some(a.min(b))).unwrap_or_default()
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Atom) -> bool) {
        self.0.retain(|(atom, _)| keep(atom));
    }
}

impl Ord for Factors {
    /// By degree, then by the powers of the first atoms: an order that multiplication respects.
    fn cmp(&self, other: &Factors) -> Ordering {
        self.degree().cmp(&other.degree()).then_with(|| {
            for ((a, p), (b, q)) in self.0.iter().zip(&other.0) {
                let order = b.cmp(a).then(p.cmp(q));
                if order.is_ne() {
                    return order;
                }
            }
            self.0.len().cmp(&other.0.len())
        })
    }
}

impl PartialOrd for Factors {
    fn partial_cmp(&self, other: &Factors) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i128> for Poly {
    fn from(n: i128) -> Poly {
        Poly::term(Factors::default(), n)
    }
}

impl From<Atom> for Poly {
    fn from(atom: Atom) -> Poly {
        Poly::power(atom, 1)
    }
}

impl Poly {
    pub(super) fn power(atom: Atom, power: u32) -> Poly {
        let mut factors = Factors::default();
        if power > 0 {
            factors.0.push((atom, power));
        }
        Poly::term(factors, 1)
    }

    pub(super) fn term(factors: Factors, by: i128) -> Poly {
        match by {
            0 => Poly::default(),
            _ => Poly(vec![(factors, by)]),
        }
    }

    pub(super) fn terms(&self) -> &[(Factors, i128)] {
        &self.0
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_one(&self) -> bool {
        self.constant() == Some(1)
    }

    /// The number it is, if it is one.
    pub(super) fn constant(&self) -> Option<i128> {
        match self.0.as_slice() {
            [] => Some(0),
            [(factors, n)] if factors.is_one() => Some(*n),
            _ => None,
        }
    }

    /// All without the constant, and the constant.
    pub(super) fn apart_from_constant(&self) -> (Poly, i128) {
        match self.0.split_last() {
            Some(((factors, n), rest)) if factors.is_one() => (Poly(rest.to_vec()), *n),
            _ => (self.clone(), 0),
        }
    }

    pub(super) fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.0
            .iter()
            .flat_map(|(factors, _)| factors.iter().map(|(atom, _)| atom))
    }

    pub(super) fn plus(&self, other: &Poly) -> Option<Poly> {
        self.merge(other, 1)
    }

    pub(super) fn minus(&self, other: &Poly) -> Option<Poly> {
        self.merge(other, -1)
    }

    /// `self + other*sign`.
    fn merge(&self, other: &Poly, sign: i128) -> Option<Poly> {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        loop {
            let order = match (a.peek(), b.peek()) {
                (None, None) => return (sum.len() <= LONGEST).then_some(Poly(sum)),
                (Some(_), None) => Ordering::Greater,
                (None, Some(_)) => Ordering::Less,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let left = if order.is_ge() { a.next() } else { None };
            let right = if order.is_le() { b.next() } else { None };
            let by = right.map_or(Some(0), |r| r.1.checked_mul(sign))?;
            let by = left.map_or(0, |l| l.1).checked_add(by)?;
            if let Some((factors, _)) = left.or(right).filter(|_| by != 0) {
                sum.push((factors.clone(), by));
            }
        }
    }

    pub(super) fn times(&self, other: &Poly) -> Option<Poly> {
        if self.0.len().saturating_mul(other.0.len()) > MOST_TERMS {
            return None;
        }
        let mut terms = Vec::with_capacity(self.0.len() * other.0.len());
        for (a, n) in &self.0 {
            for (b, m) in &other.0 {
                terms.push((a.times(b)?, n.checked_mul(*m)?));
            }
        }
        // The product by one term is in order already.
        if self.0.len() > 1 && other.0.len() > 1 {
            terms.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
            let mut fits = true;
            terms.dedup_by(|(b, m), (a, n)| {
                a == b && {
                    let sum = n.checked_add(*m);
                    fits &= sum.is_some();
                    *n = sum.unwrap_or(0);
                    true
                }
            });
            if !fits {
                return None;
            }
            terms.retain(|(_, n)| *n != 0);
        }
        Some(Poly(terms))
    }

    /// The quotient; `None` where it does not come out even, or past reach.
    pub(super) fn exactly(&self, by: &Poly) -> Option<Poly> {
        if by.is_one() {
            return Some(self.clone());
        }
        let (leading, n) = by.0.first()?;
        let mut rest = self.clone();
        let mut quotient = Vec::new();
        while let Some((factors, m)) = rest.0.first() {
            if m.checked_rem(*n)? != 0 || quotient.len() * by.0.len() > MOST_TERMS {
                return None;
            }
            let (factors, m) = (factors.over(leading)?, m.checked_div(*n)?);
            quotient.push((factors.clone(), m));
            rest = rest.minus(&by.times(&Poly::term(factors, m))?)?;
        }
        Some(Poly(quotient))
    }

    /// The quotient by a number; `None` where it does not come out even.
    pub(super) fn exactly_by(&self, n: i128) -> Option<Poly> {
        self.exactly(&Poly::from(n))
    }

    /// With the sign that makes the first coefficient positive.
    pub(super) fn positive(self) -> Option<Poly> {
        match self.0.first() {
            Some((_, ..0)) => Poly::default().minus(&self),
            _ => Some(self),
        }
    }

    /// The greatest number that divides all coefficients, and the greatest factors that all terms share.
    pub(super) fn content(&self) -> (Factors, i128) {
        let Some((first, rest)) = self.0.split_first() else {
            return (Factors::default(), 0);
        };
        rest.iter().fold(
            (first.0.clone(), gcd(first.1, 0)),
            |(common, n), (factors, m)| (common.common(factors), gcd(n, *m)),
        )
    }

    /// The highest power of `atom`.
    pub(super) fn degree(&self, atom: &Atom) -> u32 {
        self.0
            .iter()
            .map(|(factors, _)| factors.power(atom))
            .max()
            .unwrap_or(0)
    }

    /// What stands before `atom` to that power, seen as a polynomial in `atom` alone.
    pub(super) fn coefficient(&self, atom: &Atom, power: u32) -> Poly {
        let at_power = self
            .0
            .iter()
            .filter(|(factors, _)| factors.power(atom) == power);
        let mut terms: Vec<_> = at_power.cloned().collect();
        for (factors, _) in &mut terms {
            factors.retain(|a| a != atom);
        }
        // Taking one atom to one power away keeps the order.
        Poly(terms)
    }

    /// The powers in which `atom` occurs, the highest first.
    pub(super) fn powers(&self, atom: &Atom) -> Vec<u32> {
        let mut powers: Vec<u32> = self
            .0
            .iter()
            .map(|(factors, _)| factors.power(atom))
            .collect();
        powers.sort_unstable_by(|a, b| b.cmp(a));
        powers.dedup();
        powers
    }
}
