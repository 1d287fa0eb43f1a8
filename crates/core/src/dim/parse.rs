//! Reading sizes and shapes from text, as they are printed and as people write them.

use std::str::FromStr;

use super::print::{begins_name, continues_name};
use super::ratio::{NoSize, Ratio};
use super::{Dim, Outline};
use crate::error::{Error, Result};
use crate::params::Symbol;
use crate::size::Shape;

/// Longer texts are refused: no size is written like that by hand, and none is printed.
const LONGEST: usize = 1 << 16;

/// How deep brackets may go.
const DEEPEST: u32 = 128;

impl FromStr for Dim {
    type Err = Error;

    /// ```
    /// use stridewise_core::dim::Dim;
    ///
    /// for (text, normal) in [("B*4+2", "B*4 + 2"), ("(B+1)*C/2", "(B*C + C)/2"), ("len(B[1:])", "len(B[1:])")] {
    ///     assert_eq!(text.parse::<Dim>()?.to_string(), normal);
    /// }
    /// assert!("B +".parse::<Dim>().is_err());
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Dim> {
        let mut reader = Reader::new(text)?;
        let dim = reader.dim()?;
        reader.end()?;
        Ok(dim)
    }
}

impl FromStr for Outline {
    type Err = Error;

    fn from_str(text: &str) -> Result<Outline> {
        let mut reader = Reader::new(text)?;
        reader.expect("[")?;
        let (mut front, mut rest, mut back) = (Shape::new(), None, Shape::new());
        while !reader.take("]") {
            if reader.take("*") {
                if rest.is_some() {
                    return Err(reader
                        .blame("a second tuple symbol")
                        .help("leave one `*name`"));
                }
                rest = Some(reader.name()?);
            } else if rest.is_some() {
                back.push(reader.dim()?);
            } else {
                front.push(reader.dim()?);
            }
            if !reader.take(",") && !reader.rest.starts_with(']') {
                return Err(reader.expected("`,` or `]`"));
            }
        }
        reader.end()?;
        Ok(Outline::new(front, rest, back))
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Result<Reader<'a>> {
        if text.len() > LONGEST {
            let message = format!(
                "a size is written in at most {LONGEST} bytes, not {}",
                text.len()
            );
            return Err(Error::argument(message));
        }
        Ok(Reader {
            text,
            rest: text.trim_start(),
            depth: 0,
        })
    }

    /// An error about what stands here.
    #[cold]
    fn blame(&self, what: &str) -> Error {
        let at = self.text[..self.text.len() - self.rest.len()]
            .chars()
            .count();
        Error::argument(format!("{what} at character {at}")).note("text", self.text)
    }

    #[cold]
    fn expected(&self, what: &str) -> Error {
        match self.rest.chars().next() {
            Some(c) => self.blame(&format!("expected {what}, found `{c}`")),
            None => self.blame(&format!("expected {what}, found the end")),
        }
    }

    #[cold]
    fn too_large(&self) -> Error {
        Error::overflow("the size is past reach").note("text", self.text)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest.starts_with(token);
        if found {
            self.skip(token.len());
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        match self.take(token) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{token}`"))),
        }
    }

    fn end(&self) -> Result<()> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(self.expected("`+`, `-`, `*`, `/` or the end")),
        }
    }

    fn dim(&mut self) -> Result<Dim> {
        let start = self.rest;
        let ratio = self.sum()?;
        ratio.settle().map_err(|why| {
            let text = start[..start.len() - self.rest.len()].trim_end();
            match why {
                NoSize::Large => self.too_large(),
                NoSize::Negative => {
                    Error::argument(format!("`{text}` is negative, so it is no size"))
                }
                NoSize::Broken(_) => Error::argument(format!("`{text}` is not a whole number")),
            }
        })
    }

    fn sum(&mut self) -> Result<Ratio> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.blame(&format!("more than {DEEPEST} brackets in each other")));
        }
        let mut sum = match self.take("-") {
            true => Ratio::from(0).minus(&self.product()?),
            false => Some(self.product()?),
        };
        loop {
            let so_far = sum.ok_or_else(|| self.too_large())?;
            sum = if self.take("+") {
                so_far.plus(&self.product()?)
            } else if self.take("-") {
                so_far.minus(&self.product()?)
            } else {
                self.depth -= 1;
                return Ok(so_far);
            };
        }
    }

    fn product(&mut self) -> Result<Ratio> {
        let mut product = self.power()?;
        loop {
            let next = if self.take("*") {
                product.times(&self.power()?)
            } else if self.take("//") || self.take("/") {
                let at = self.blame("a division by 0");
                let divisor = self.power()?;
                if divisor.above.is_zero() {
                    return Err(at);
                }
                product.over(&divisor)
            } else {
                return Ok(product);
            };
            product = next.ok_or_else(|| self.too_large())?;
        }
    }

    fn power(&mut self) -> Result<Ratio> {
        let base = self.operand()?;
        if !self.take("**") {
            return Ok(base);
        }
        let power = u32::try_from(self.digits()?).ok();
        power
            .and_then(|power| base.power(power))
            .ok_or_else(|| self.too_large())
    }

    fn operand(&mut self) -> Result<Ratio> {
        match self.rest.chars().next() {
            Some('0'..='9') => Ok(Ratio::from(self.digits()?)),
            Some('(') => {
                self.skip(1);
                let sum = self.sum()?;
                self.expect(")")?;
                Ok(sum)
            }
            Some(c) if begins_name(c) || c == '\'' => {
                let quoted = c == '\'';
                let name = self.name()?;
                match name.name() {
                    "prod" if !quoted && self.take("(") => {
                        let tuple = self.name()?;
                        self.expect(")")?;
                        Ok((&Dim::product_of(&tuple)).into())
                    }
                    "len" if !quoted && self.take("(") => {
                        let length = self.length()?;
                        self.expect(")")?;
                        Ok((&length).into())
                    }
                    _ => Ok((&Dim::from(name)).into()),
                }
            }
            _ => Err(self.expected("a number, a name or `(`")),
        }
    }

    /// `B[1::2]`, between the brackets of `len`.
    fn length(&mut self) -> Result<Dim> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.blame(&format!("more than {DEEPEST} brackets in each other")));
        }
        let start = self.rest;
        let whole = self.operand()?.settle().map_err(|_| {
            let text = &start[..start.len() - self.rest.len()];
            Error::argument(format!("`{}` is no size", text.trim_end())).note("text", self.text)
        })?;
        self.expect("[")?;
        let start = self.bound()?;
        self.expect(":")?;
        let stop = self.bound()?;
        let step = match self.take(":") {
            true => self.bound()?.unwrap_or(1),
            false => 1,
        };
        if step == 0 {
            return Err(self.blame("a step of 0"));
        }
        self.expect("]")?;
        self.depth -= 1;
        whole
            .sliced(start, stop, step)
            .ok_or_else(|| self.too_large())
    }

    /// A number, or none, in a slice.
    fn bound(&mut self) -> Result<Option<isize>> {
        let sign = if self.take("-") { -1 } else { 1 };
        if sign > 0 && !self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let n = sign * self.digits()?;
        isize::try_from(n).map(Some).map_err(|_| self.too_large())
    }

    /// A whole number, at most one that a coefficient can be.
    fn digits(&mut self) -> Result<i128> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.expected("a number"));
        }
        let n = self.rest[..end].parse().map_err(|_| self.too_large())?;
        if self.rest[end..].starts_with(|c| begins_name(c) || c == '.') {
            self.skip(end);
            return Err(self
                .expected("an operator")
                .help("a product is written `4*B`"));
        }
        self.skip(end);
        Ok(n)
    }

    fn name(&mut self) -> Result<Symbol> {
        if let Some(quoted) = self.rest.strip_prefix('\'') {
            let mut name = String::new();
            let mut escaped = false;
            for (at, c) in quoted.char_indices() {
                match c {
                    '\\' if !escaped => escaped = true,
                    '\'' if !escaped => {
                        self.skip(at + 2);
                        return Ok(Symbol::new(&name));
                    }
                    _ => {
                        name.push(c);
                        escaped = false;
                    }
                }
            }
            return Err(self.blame("a name without a closing quote"));
        }
        if !self.rest.starts_with(begins_name) {
            return Err(self.expected("a name"));
        }
        let end = self
            .rest
            .find(|c| !continues_name(c))
            .unwrap_or(self.rest.len());
        let name = Symbol::new(&self.rest[..end]);
        self.skip(end);
        Ok(name)
    }
}
