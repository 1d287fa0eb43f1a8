//! How sizes read: `B*C*4 + 2`, `(B + 1)/2`, `len(B[1:])`. All of it is Python, and all of it can be parsed.

use std::fmt::{self, Debug, Display, Formatter, Write};

use super::atom::{Atom, Kind};
use super::poly::Poly;
use super::ratio::Ratio;
use super::{Dim, Form};
use crate::params::Symbol;

/// Whether a name begins, or goes on, with this character.
pub(super) fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a name goes on with this character.
pub(super) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// Writes a name, in quotes where it would not read as one otherwise.
pub(super) fn name(f: &mut Formatter<'_>, symbol: &Symbol) -> fmt::Result {
    let name = symbol.name();
    if name.starts_with(begins_name) && name.chars().all(continues_name) {
        return f.write_str(name);
    }
    f.write_char('\'')?;
    for c in name.chars() {
        if matches!(c, '\'' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('\'')
}

impl Display for Atom {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::Leaf { leaf, .. } => Display::fmt(leaf, f),
            Kind::Length { of, cut } => {
                let alone = match &of.0 {
                    Form::Known(_) => true,
                    Form::Symbolic(node) => node.ratio.atom().is_some(),
                };
                match alone {
                    true => write!(f, "len({of}{cut})"),
                    false => write!(f, "len(({of}){cut})"),
                }
            }
        }
    }
}

impl Display for Poly {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        for (at, (factors, by)) in self.terms().iter().enumerate() {
            f.write_str(match (at, *by) {
                (0, ..0) => "-",
                (0, _) => "",
                (_, ..0) => " - ",
                _ => " + ",
            })?;
            let by = by.unsigned_abs();
            let mut between = "";
            for (atom, power) in factors.iter() {
                write!(f, "{between}{atom}")?;
                if *power > 1 {
                    write!(f, "**{power}")?;
                }
                between = "*";
            }
            if by != 1 || factors.is_one() {
                write!(f, "{between}{by}")?;
            }
        }
        Ok(())
    }
}

impl Display for Ratio {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (above, below) = (&self.above, &self.below);
        if below.is_one() {
            return write!(f, "{above}");
        }
        match above.terms() {
            [_] => write!(f, "{above}/")?,
            _ => write!(f, "({above})/")?,
        }
        // A divisor that is one factor needs no brackets.
        let one = match below.terms() {
            [(factors, 1)] => factors.iter().count() == 1,
            [(factors, _)] => factors.is_one(),
            _ => false,
        };
        match one {
            true => write!(f, "{below}"),
            false => write!(f, "({below})"),
        }
    }
}

impl Display for Dim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Known(n) => Display::fmt(n, f),
            // A width asked for is that of the whole.
            Form::Symbolic(node) if f.width().is_some() => f.pad(&node.ratio.to_string()),
            Form::Symbolic(node) => write!(f, "{}", node.ratio),
        }
    }
}

/// The same text: it is short, and says all.
impl Debug for Dim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}
