//! The inputs of a program as a text declares them, and what it says of any value: a dtype and a shape.

use stridewise_core::dim::{Dim, Outline};
use stridewise_core::dtype::DType;
use stridewise_core::error::Result;
use stridewise_core::params::Symbol;
use stridewise_core::size::Shape;

use super::parse::Parser;
use super::symbols::{Reads, quoted_end};

/// A dtype and a shape, in the symbols of the text.
pub(super) struct Written {
    pub(super) place: usize,
    pub(super) dtype: DType,
    pub(super) outline: Outline,
    pub(super) reads: Reads,
}

impl Parser<'_> {
    /// The inputs, and all up to the first brace.
    pub(super) fn header(&mut self) -> Result<()> {
        self.cursor.skip_lines();
        if !self.cursor.take_word("graph") {
            return Err(self.cursor.expected("`graph`"));
        }
        self.cursor.open("(")?;
        let mut inputs = Vec::new();
        while !self.cursor.take_close(")") {
            let place = self.cursor.place();
            let Some(name) = self.cursor.word() else {
                return Err(self.cursor.expected("the name of an input"));
            };
            self.cursor.expect(":")?;
            inputs.push((place, name, self.written_type()?));
            if !self.cursor.another(")")? {
                self.cursor.close(")")?;
                break;
            }
        }
        self.cursor.skip_lines();
        if self.cursor.take_word("where") {
            self.read_bounds()?;
        }
        self.cursor.skip_lines();
        self.cursor.expect("{")?;
        for (place, name, written) in inputs {
            self.declare(&written.outline);
            let shape = self.meant(&written)?;
            let input = self.graph.input(name, written.dtype, shape);
            let x = input.map_err(|error| self.cursor.blame(place, error))?;
            self.define(place, name, x)?;
        }
        Ok(())
    }

    /// `1 <= B, 2 <= N <= 8`.
    fn read_bounds(&mut self) -> Result<()> {
        loop {
            let place = self.cursor.place();
            let mut bounds = (0, None);
            if self.cursor.rest().starts_with(|c: char| c.is_ascii_digit()) {
                bounds.0 = self.cursor.whole("a number")?;
                self.cursor.expect("<=")?;
            }
            let symbol = self.symbol()?;
            if self.cursor.take("<=") {
                bounds.1 = Some(self.cursor.whole("a number")?);
            }
            if bounds.1.is_some_and(|max| max < bounds.0) {
                let message = format!("there is no number between the bounds of {symbol}");
                return Err(self.cursor.error(place, message));
            }
            if self.bounds.insert(symbol.clone(), bounds).is_some() {
                let message = format!("the bounds of {symbol} are given twice");
                return Err(self.cursor.error(place, message));
            }
            if !self.cursor.take(",") {
                return Ok(());
            }
        }
    }

    /// The name of a symbol, in quotes where it is no word.
    fn symbol(&mut self) -> Result<Symbol> {
        let place = self.cursor.place();
        if let Some(word) = self.cursor.word() {
            return Ok(Symbol::new(word));
        }
        let rest = self.cursor.rest();
        let quoted = rest.strip_prefix('\'').map(quoted_end);
        let Some(length) = quoted else {
            return Err(self.cursor.expected("a symbol"));
        };
        self.cursor.advance(1 + length);
        let dim = rest[..1 + length].parse::<Dim>().ok();
        let symbol = dim.as_ref().and_then(|dim| dim.as_symbol()).cloned();
        symbol.ok_or_else(|| self.cursor.error(place, "expected a symbol"))
    }

    /// `float32[B, *rest, 4]`.
    pub(super) fn written_type(&mut self) -> Result<Written> {
        let place = self.cursor.place();
        let dtype = self.cursor.dtype()?;
        let mut reads = Reads::new();
        let (mut front, mut rest, mut back) = (Shape::new(), None, Shape::new());
        self.cursor.open("[")?;
        while !self.cursor.take_close("]") {
            let at = self.cursor.place();
            if self.cursor.take("*") {
                if rest.is_some() {
                    return Err(self
                        .cursor
                        .error(at, "a shape has one tuple symbol at most"));
                }
                rest = Some(self.symbol()?);
            } else {
                let (place, text) = self.written()?;
                let dim = self.text_dim(place, text, &mut reads)?;
                match rest.is_none() {
                    true => front.push(dim),
                    false => back.push(dim),
                }
            }
            if !self.cursor.another("]")? {
                self.cursor.close("]")?;
                break;
            }
        }
        Ok(Written {
            place,
            dtype,
            outline: Outline::new(front, rest, back),
            reads,
        })
    }
}
