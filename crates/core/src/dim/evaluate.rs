//! Numbers, or other sizes, in place of symbols.

use std::collections::BTreeSet;
use std::fmt;

use super::atom::{Atom, Kind, Leaf};
use super::poly::Poly;
use super::ratio::Ratio;
use super::{Dim, Form};

/// Why a size has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoValue {
    /// Nothing was said about this symbol.
    Unbound(Leaf),
    /// A symbol lies outside the bounds it was declared with.
    OutOfBounds {
        /// The symbol.
        leaf: Leaf,
        /// What it was said to be.
        value: usize,
        /// Its least value.
        min: usize,
        /// Its greatest value, where it has one.
        max: Option<usize>,
    },
    /// A quotient that does not come out even. A divisor of 0 is one such.
    Inexact {
        /// What is divided.
        whole: i128,
        /// By what.
        divisor: i128,
    },
    /// A difference below 0.
    Negative(i128),
    /// A number past any machine's reach.
    Overflow,
}

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoValue::Unbound(leaf) => write!(f, "{leaf} is not known"),
            NoValue::OutOfBounds {
                leaf,
                value,
                min,
                max: Some(max),
            } => {
                write!(f, "{leaf} is {value}, but lies between {min} and {max}")
            }
            NoValue::OutOfBounds {
                leaf,
                value,
                min,
                max: None,
            } => {
                write!(f, "{leaf} is {value}, but is at least {min}")
            }
            NoValue::Inexact { whole, divisor: 0 } => write!(f, "{whole} is divided by 0"),
            NoValue::Inexact { whole, divisor } => write!(f, "{divisor} does not divide {whole}"),
            NoValue::Negative(n) => write!(f, "the size comes out as {n}"),
            NoValue::Overflow => f.write_str("the size is past any machine's reach"),
        }
    }
}

impl std::error::Error for NoValue {}

impl Dim {
    /// The number this is when every symbol is the number that `size` says: for a [`Leaf::Product`] the
    /// product of the tuple.
    ///
    /// ```
    /// use stridewise_core::dim::{Dim, NoValue};
    ///
    /// let d: Dim = "(B + 1)*C/2".parse()?;
    /// let at = |b: usize| d.evaluate(|leaf| Some(if leaf.symbol().name() == "B" { b } else { 3 }));
    /// assert_eq!(at(1), Ok(3));
    /// assert_eq!(at(2), Err(NoValue::Inexact { whole: 9, divisor: 2 }));
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn evaluate(&self, size: impl Fn(&Leaf) -> Option<usize>) -> Result<usize, NoValue> {
        self.value(&size)
    }

    fn value(&self, size: &dyn Fn(&Leaf) -> Option<usize>) -> Result<usize, NoValue> {
        let node = match &self.0 {
            Form::Known(n) => return Ok(*n),
            Form::Symbolic(node) => node,
        };
        let whole = node.ratio.above.value(size)?;
        let divisor = node.ratio.below.value(size)?;
        if whole.checked_rem(divisor) != Some(0) {
            return Err(NoValue::Inexact { whole, divisor });
        }
        match whole / divisor {
            n @ ..0 => Err(NoValue::Negative(n)),
            n => isize::try_from(n)
                .map(isize::unsigned_abs)
                .map_err(|_| NoValue::Overflow),
        }
    }

    /// The size with others in place of some of its symbols; where `size` answers `None` the symbol stays.
    ///
    /// `None` where no size comes out: past reach, a divisor of 0, a number that is negative or not whole.
    ///
    /// ```
    /// use stridewise_core::dim::Dim;
    ///
    /// let d: Dim = "B*C/4".parse()?;
    /// let at_8 = d.substitute(|leaf| (leaf.symbol().name() == "B").then(|| 8.into()));
    /// assert_eq!(at_8.unwrap().to_string(), "C*2");
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn substitute(&self, size: impl Fn(&Leaf) -> Option<Dim>) -> Option<Dim> {
        self.replaced(&size)
    }

    fn replaced(&self, size: &dyn Fn(&Leaf) -> Option<Dim>) -> Option<Dim> {
        let Form::Symbolic(node) = &self.0 else {
            return Some(self.clone());
        };
        let above = node.ratio.above.replaced(size)?;
        above.over(&node.ratio.below.replaced(size)?)?.settle().ok()
    }

    /// All symbols inside, once each: sizes by name, then tuple symbols by name.
    pub fn symbols(&self) -> Vec<Leaf> {
        let mut seen = BTreeSet::new();
        self.collect_symbols(&mut seen);
        seen.into_iter().cloned().collect()
    }

    fn collect_symbols<'a>(&'a self, seen: &mut BTreeSet<&'a Leaf>) {
        let Form::Symbolic(node) = &self.0 else {
            return;
        };
        for atom in node.ratio.above.atoms().chain(node.ratio.below.atoms()) {
            match atom.kind() {
                Kind::Leaf { leaf, .. } => {
                    seen.insert(leaf);
                }
                Kind::Length { of, .. } => of.collect_symbols(seen),
            }
        }
    }
}

impl Atom {
    fn value(&self, size: &dyn Fn(&Leaf) -> Option<usize>) -> Result<usize, NoValue> {
        match self.kind() {
            Kind::Leaf { leaf, min, max } => {
                let value = size(leaf).ok_or_else(|| NoValue::Unbound(leaf.clone()))?;
                if isize::try_from(value).is_err() {
                    return Err(NoValue::Overflow);
                }
                if value < *min || max.is_some_and(|max| value > max) {
                    let (leaf, min, max) = (leaf.clone(), *min, *max);
                    return Err(NoValue::OutOfBounds {
                        leaf,
                        value,
                        min,
                        max,
                    });
                }
                Ok(value)
            }
            Kind::Length { of, cut } => Ok(cut.count(of.value(size)?)),
        }
    }
}

impl Poly {
    fn value(&self, size: &dyn Fn(&Leaf) -> Option<usize>) -> Result<i128, NoValue> {
        let mut sum = 0i128;
        for (factors, by) in self.terms() {
            let mut product = Some(*by);
            let mut zero = false;
            for (atom, power) in factors.iter() {
                let value = atom.value(size)?;
                zero |= value == 0;
                let raised = (value as i128).checked_pow(*power);
                product = product.zip(raised).and_then(|(a, b)| a.checked_mul(b));
            }
            let term = if zero { Some(0) } else { product };
            sum = term
                .and_then(|term| sum.checked_add(term))
                .ok_or(NoValue::Overflow)?;
        }
        Ok(sum)
    }

    fn replaced(&self, size: &dyn Fn(&Leaf) -> Option<Dim>) -> Option<Ratio> {
        let mut sum = Ratio::from(0);
        for (factors, by) in self.terms() {
            let mut product = Ratio::from(*by);
            for (atom, power) in factors.iter() {
                let other = match atom.kind() {
                    Kind::Leaf { leaf, .. } => size(leaf),
                    Kind::Length { of, cut } => Some(of.replaced(size)?.cut(*cut)?),
                };
                let factor = match other {
                    Some(other) => Ratio::from(&other),
                    None => Poly::from(atom.clone()).into(),
                };
                product = product.times(&factor.power(*power)?)?;
            }
            sum = sum.plus(&product)?;
        }
        Some(sum)
    }
}
