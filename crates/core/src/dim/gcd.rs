//! The greatest common divisor of polynomials, by which quotients are reduced: Euclid's method on one atom
//! at a time, the others being part of the coefficients.

use super::atom::Atom;
use super::poly::{Factors, Poly, gcd};

/// How many products of terms a search may cost before it is given up. Real shapes need a few dozen.
const PATIENCE: usize = 1 << 16;

/// The most atoms a search starts with: each may add a level of recursion.
const MOST_ATOMS: usize = 24;

/// What divides both polynomials: the greatest there is, unless finding it would take past reach; then what
/// is plain to see.
pub(super) fn common_divisor(a: &Poly, b: &Poly) -> Poly {
    let (plain, a, b) = match split(a, b) {
        Some(parts) => parts,
        None => return Poly::from(1),
    };
    if a.terms().len() < 2 || b.terms().len() < 2 {
        return plain;
    }
    let mut atoms: Vec<&Atom> = a.atoms().chain(b.atoms()).collect();
    atoms.sort_unstable();
    atoms.dedup();
    if atoms.len() > MOST_ATOMS {
        return plain;
    }
    let found = Search(PATIENCE)
        .greatest(&a, &b)
        .and_then(|g| plain.times(&g));
    found.unwrap_or(plain)
}

/// The numbers and atoms that both share, and both without any such content of their own.
fn split(a: &Poly, b: &Poly) -> Option<(Poly, Poly, Poly)> {
    let ((f, n), (g, m)) = (a.content(), b.content());
    let common = Poly::term(f.common(&g), gcd(n, m));
    let bare = |p: &Poly, f: Factors, n: i128| p.exactly(&Poly::term(f, n));
    Some((common, bare(a, f, n)?, bare(b, g, m)?))
}

struct Search(usize);

impl Search {
    fn spend(&mut self, terms: usize) -> Option<()> {
        self.0 = self.0.checked_sub(terms)?;
        Some(())
    }

    fn times(&mut self, a: &Poly, b: &Poly) -> Option<Poly> {
        self.spend(a.terms().len() * b.terms().len() + 1)?;
        a.times(b)
    }

    fn exactly(&mut self, a: &Poly, by: &Poly) -> Option<Poly> {
        self.spend(a.terms().len() * by.terms().len() + 1)?;
        a.exactly(by)
    }

    fn greatest(&mut self, a: &Poly, b: &Poly) -> Option<Poly> {
        if a.is_zero() || b.is_zero() {
            return a.plus(b)?.positive();
        }
        self.spend(a.terms().len() + b.terms().len())?;
        let (common, a, b) = split(a, b)?;
        if a.terms().len() < 2 || b.terms().len() < 2 {
            return Some(common);
        }
        let lone = |a: &Poly, b: &Poly| a.atoms().find(|atom| b.degree(atom) == 0).cloned();
        let found = if let Some(atom) = lone(&a, &b) {
            self.content(&a, &atom, b)?
        } else if let Some(atom) = lone(&b, &a) {
            self.content(&b, &atom, a)?
        } else {
            let atom = a
                .atoms()
                .min_by_key(|atom| a.degree(atom).max(b.degree(atom)))?
                .clone();
            self.euclid(&a, &b, &atom)?
        };
        self.times(&common, &found)?.positive()
    }

    /// What `with` has in common with all coefficients of `a`, seen as a polynomial in `atom`.
    fn content(&mut self, a: &Poly, atom: &Atom, with: Poly) -> Option<Poly> {
        let mut common = with;
        for power in a.powers(atom) {
            if common.is_one() {
                break;
            }
            common = self.greatest(&common, &a.coefficient(atom, power))?;
        }
        Some(common)
    }

    /// `a` apart from what all its coefficients have in common, and that.
    fn primitive(&mut self, a: &Poly, atom: &Atom) -> Option<(Poly, Poly)> {
        let content = self.content(a, atom, Poly::default())?;
        Some((self.exactly(a, &content)?, content))
    }

    fn euclid(&mut self, a: &Poly, b: &Poly, atom: &Atom) -> Option<Poly> {
        let (mut a, in_a) = self.primitive(a, atom)?;
        let (mut b, in_b) = self.primitive(b, atom)?;
        let content = self.greatest(&in_a, &in_b)?;
        if a.degree(atom) < b.degree(atom) {
            std::mem::swap(&mut a, &mut b);
        }
        while b.degree(atom) > 0 {
            let rest = self.remainder(&a, &b, atom)?;
            if rest.is_zero() {
                return self.times(&content, &b);
            }
            a = b;
            b = self.primitive(&rest, atom)?.0;
        }
        Some(content)
    }

    /// The remainder of some multiple of `a`, which keeps coefficients whole.
    fn remainder(&mut self, a: &Poly, b: &Poly, atom: &Atom) -> Option<Poly> {
        let degree = b.degree(atom);
        let leading = b.coefficient(atom, degree);
        let mut rest = a.clone();
        while !rest.is_zero() && rest.degree(atom) >= degree {
            let power = rest.degree(atom);
            let shift = Poly::power(atom.clone(), power - degree);
            let shift = self.times(&rest.coefficient(atom, power), &shift)?;
            rest = self
                .times(&leading, &rest)?
                .minus(&self.times(&shift, b)?)?;
        }
        Some(rest)
    }
}
