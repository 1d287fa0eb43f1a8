//! Symbols and sizes of a text, as those of the graph that is read from it.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use stridewise_core::dim::{Dim, Leaf, Outline};
use stridewise_core::engine::Engine;
use stridewise_core::error::{Error, Result};
use stridewise_core::params::{Extent, Symbol};
use stridewise_core::size::{Shape, Size, Truth};

use super::names::nameless;
use super::parse::{Parser, Written};
use crate::graph::Symbolic;
use crate::symbols::{anonymous, spread};

/// What names that say what is read from a tensor stand for.
pub(super) type Reads = HashMap<Symbol, Dim>;

impl<'t> Parser<'t> {
    /// The size that a symbol of the text stands for.
    fn sized(&self, symbol: &Symbol) -> Option<Dim> {
        let meant = match anonymous(symbol) {
            Some(_) => self.symbols.get(symbol)?,
            None => symbol,
        };
        match self.bounds.get(symbol) {
            Some((min, max)) => Dim::bounded(meant, *min, *max),
            None => Some(Dim::symbol(meant)),
        }
    }

    /// Lets a nameless symbol of the text stand for one of the graph.
    pub(super) fn bind(&mut self, text: &Symbol, meant: &Symbol) {
        self.symbols.insert(text.clone(), meant.clone());
        self.names.set_symbol(meant, text.name());
    }

    /// Gives symbols of the graph to those of the text that stand for none yet.
    pub(super) fn declare(&mut self, outline: &Outline) {
        let front = outline.front().iter().flat_map(nameless);
        let rest = outline.rest().filter(|rest| anonymous(rest).is_some());
        let back = outline.back().iter().flat_map(nameless);
        let all: Vec<Symbol> = front.chain(rest.cloned()).chain(back).collect();
        for symbol in all {
            if !self.symbols.contains_key(&symbol)
                && let Some(fresh) = self.graph.unknown().as_symbol()
            {
                self.bind(&symbol, fresh);
            }
        }
    }

    /// The size of the graph that one of the text is, where some names say what is read from a tensor.
    fn meant_with(&self, place: usize, dim: &Dim, reads: &Reads) -> Result<Dim> {
        let mut found = HashMap::new();
        for leaf in dim.symbols() {
            let symbol = leaf.symbol();
            let meant = match (reads.get(symbol), symbol.name().strip_prefix('*'), &leaf) {
                (Some(read), ..) => Some(read.clone()),
                (_, Some(tuple), _) => self.tuple(&Symbol::new(tuple)).map(|tuple| spread(&tuple)),
                (_, _, Leaf::Size(symbol)) => self.sized(symbol),
                (_, _, Leaf::Product(symbol)) => {
                    self.tuple(symbol).map(|tuple| Dim::product_of(&tuple))
                }
            };
            let Some(meant) = meant else {
                return Err(self
                    .cursor
                    .error(place, format!("`{leaf}` stands for no size here")));
            };
            found.insert(leaf, meant);
        }
        let meant = dim.substitute(|leaf| found.get(leaf).cloned());
        meant.ok_or_else(|| self.cursor.error(place, format!("`{dim}` is no size here")))
    }

    /// The tuple symbol of the graph that one of the text is.
    pub(super) fn tuple(&self, symbol: &Symbol) -> Option<Symbol> {
        match anonymous(symbol) {
            Some(_) => self.symbols.get(symbol).cloned(),
            None => Some(symbol.clone()),
        }
    }

    /// The shape of the graph that one of the text is.
    pub(super) fn meant(
        &self,
        Written {
            place,
            outline,
            reads,
            ..
        }: &Written,
    ) -> Result<Outline> {
        let place = *place;
        let dims = |dims: &[Dim]| -> Result<Shape<Dim>> {
            dims.iter()
                .map(|dim| self.meant_with(place, dim, reads))
                .collect()
        };
        let rest = match outline.rest() {
            None => None,
            Some(rest) => Some(self.tuple(rest).ok_or_else(|| {
                let message = format!("`*{rest}` stands for no sizes here");
                self.cursor.error(place, message)
            })?),
        };
        Ok(Outline::new(
            dims(outline.front())?,
            rest,
            dims(outline.back())?,
        ))
    }

    /// Lets the symbols that a shape of the text is the first to hold stand for those of the graph's shape.
    pub(super) fn learn(&mut self, text: &Outline, meant: &Outline) {
        let pairs = text.front().iter().zip(meant.front());
        let pairs: Vec<(&Dim, &Dim)> = pairs.chain(text.back().iter().zip(meant.back())).collect();
        for (text, meant) in pairs {
            let new = nameless(text).into_iter();
            let new: Vec<Symbol> = new.filter(|s| !self.symbols.contains_key(s)).collect();
            let old = nameless(meant).into_iter();
            let old: Vec<Symbol> = old.filter(|s| !self.names.has_met(s)).collect();
            for (text, meant) in new.iter().zip(&old) {
                self.bind(text, meant);
            }
        }
        if let (Some(text), Some(meant)) = (text.rest(), meant.rest())
            && anonymous(text).is_some()
            && anonymous(meant).is_some()
            && !self.symbols.contains_key(text)
            && !self.names.has_met(meant)
        {
            self.bind(text, meant);
        }
    }

    /// A size as it is written.
    pub(super) fn written(&mut self) -> Result<(usize, &'t str)> {
        let place = self.cursor.place();
        match self.cursor.size_text() {
            "" => Err(self.cursor.expected("a size")),
            text => Ok((place, text)),
        }
    }

    /// A size. Words that say what is read from a tensor are read from it.
    pub(super) fn dim(&mut self) -> Result<Dim> {
        let (place, text) = self.written()?;
        self.dim_of(place, text)
    }

    /// The size of that text.
    pub(super) fn dim_of(&mut self, place: usize, text: &'t str) -> Result<Dim> {
        let mut reads = HashMap::new();
        let dim = self.text_dim(place, text, &mut reads)?;
        self.meant_with(place, &dim, &reads)
    }

    /// The size of that text, in the symbols of the text.
    pub(super) fn text_dim(
        &mut self,
        place: usize,
        text: &'t str,
        reads: &mut Reads,
    ) -> Result<Dim> {
        let quoted = self.reads(place, text, reads)?;
        quoted.parse().map_err(|error: Error| {
            let message = format!("`{text}` is no size: {}", error.report().message());
            self.cursor.error(place, message)
        })
    }

    /// Puts what says `%3[0]` or `s[]` in quotes, so that it reads as a symbol, and says what it stands for.
    fn reads(&mut self, place: usize, text: &'t str, reads: &mut Reads) -> Result<String> {
        let begins = |c: char| c == '%' || c == '_' || c.is_alphabetic();
        let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let mut out = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let body = &rest[first.len_utf8()..];
            let length = match first {
                '\'' => quoted_end(body),
                first if begins(first) => body.find(|c| !goes_on(c)).unwrap_or(body.len()),
                _ => 0,
            };
            let (word, after) = rest.split_at(first.len_utf8() + length);
            let inside = after
                .strip_prefix('[')
                .and_then(|after| after.split_once(']'));
            let inside = inside.map(|(inside, _)| inside);
            match inside.filter(|inside| inside.chars().all(|c| c.is_ascii_digit())) {
                Some(inside) if begins(first) => {
                    let token = &rest[..word.len() + inside.len() + 2];
                    let read = self.read_one(place, word, inside)?;
                    reads.insert(Symbol::new(token), read);
                    out.push_str(&format!("'{token}'"));
                    rest = &rest[token.len()..];
                }
                _ if first == '%' => {
                    let message = format!("`{word}` is a tensor, but a size is needed");
                    let error = self.cursor.error(place, message);
                    return Err(error.help(format!("its only element is `{word}[]`")));
                }
                _ => {
                    out.push_str(word);
                    rest = after;
                }
            }
        }
        Ok(out)
    }

    /// The size that is read from an element of a tensor.
    fn read_one(&mut self, place: usize, name: &str, at: &str) -> Result<Dim> {
        let rank = usize::from(!at.is_empty());
        let x = self.integers(place, name, rank..=rank)?;
        let extent = match at {
            "" => Some(self.graph.read_size(&x)?),
            _ => match self.length(&x) {
                Some(_) => {
                    let all = self.graph.read_sizes(&x)?;
                    at.parse::<usize>().ok().and_then(|at| all.get(at).cloned())
                }
                None => None,
            },
        };
        match extent {
            Some(Extent::Is(size)) => Ok(size),
            Some(_) => Err(self
                .cursor
                .error(place, format!("`{name}[{at}]` is negative"))),
            None => {
                let shape = self.names.outline(&x.shape);
                let message = format!("`{name}` has shape {shape}, so there is no `{name}[{at}]`");
                Err(self.cursor.error(place, message))
            }
        }
    }

    /// How many elements a list is known to have.
    fn length(&self, x: &Symbolic) -> Option<usize> {
        match x.shape.shape() {
            Some([len]) => len.known().filter(|len| *len <= MOST_READ),
            _ => None,
        }
    }

    /// All that is read from a tensor, among other sizes.
    pub(super) fn read_all(&mut self, place: usize, name: &str) -> Result<Vec<Extent<Dim>>> {
        let x = self.integers(place, name, 0..=1)?;
        match x.shape.shape() {
            Some([len]) if len.at_least(MOST_READ + 1) == Truth::Yes => {
                let message = format!("`{name}` has {len} elements, which are no sizes");
                Err(self.cursor.error(place, message))
            }
            _ => self.graph.read_sizes(&x),
        }
    }

    /// A tensor of integers that has so many axes, as far as is known.
    fn integers(
        &mut self,
        place: usize,
        name: &str,
        ranks: RangeInclusive<usize>,
    ) -> Result<Symbolic> {
        let x = self.value(place, name)?;
        let fits = x.shape.rank().is_none_or(|rank| ranks.contains(&rank));
        match x.dtype.is_integer() && fits {
            true => Ok(x),
            false => {
                let shape = self.names.outline(&x.shape);
                let message = format!(
                    "expected integers of rank {} to read sizes from, but `{name}` is {}{shape}",
                    ranks.end(),
                    x.dtype
                );
                Err(self.cursor.error(place, message))
            }
        }
    }
}

/// Where the quoted name ends that has begun before this.
pub(super) fn quoted_end(body: &str) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            '\'' if !escaped => return at + 1,
            '\\' if !escaped => escaped = true,
            _ => escaped = false,
        }
    }
    body.len()
}

/// Longer lists are no sizes.
const MOST_READ: usize = 1 << 16;
