//! A program from its text: every statement is called again on a new graph, so that all of it is checked, and
//! what the text says of shapes and guards is held to what comes out.

use std::collections::HashMap;

use stridewise_core::call::{Arg, unknown};
use stridewise_core::dim::Outline;
use stridewise_core::dtype::DType;
use stridewise_core::error::Result;
use stridewise_core::operators::{TABLE, call_at};
use stridewise_core::params::{Symbol, resolve_axis};
use stridewise_core::size::{Shape, Size, counted};
use stridewise_core::table::Outcome;

use super::arguments::{Arguments, Given, Kind};
use super::cursor::Cursor;
use super::guards::condition;
use super::names::Names;
use super::primitives;
use super::symbols::Reads;
use crate::graph::{Graph, Symbolic};
use crate::program::Program;

/// What is known so far.
pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) graph: Graph,
    values: HashMap<&'t str, Symbolic>,
    /// What nameless symbols of the text stand for.
    pub(super) symbols: HashMap<Symbol, Symbol>,
    pub(super) bounds: HashMap<Symbol, (usize, Option<usize>)>,
    pub(super) names: Names,
}

/// A dtype and a shape, in the symbols of the text.
pub(super) struct Written {
    pub(super) place: usize,
    pub(super) dtype: DType,
    pub(super) outline: Outline,
    pub(super) reads: Reads,
}

/// What a statement calls.
enum Callee {
    /// A line of the table.
    Operator(usize),
    /// A primitive by its name.
    Primitive(&'static str),
    /// A constant with these elements.
    Constant(Vec<String>, String),
}

/// Words that begin other lines.
const KEYWORDS: [&str; 5] = ["graph", "guard", "return", "gradient", "require"];

/// The program of that text.
pub(super) fn parse(text: &str) -> Result<Program> {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        graph: Graph::new(),
        values: HashMap::new(),
        symbols: HashMap::new(),
        bounds: HashMap::new(),
        names: Names::default(),
    };
    parser.header()?;
    loop {
        parser.cursor.skip_lines();
        if parser.cursor.take_word("return") {
            let outputs = parser.value_list()?;
            parser.end()?;
            return parser.graph.finish(&outputs.iter().collect::<Vec<_>>());
        }
        let place = parser.cursor.place();
        if parser.cursor.take_word("gradient") && parser.cursor.take_open("(") {
            return parser.gradient(place);
        }
        if parser.cursor.is_next("}") || parser.cursor.rest().is_empty() {
            return Err(parser.cursor.expected("`return` or `gradient`"));
        }
        parser.statement()?;
    }
}

impl<'t> Parser<'t> {
    fn header(&mut self) -> Result<()> {
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
        let quoted = rest.strip_prefix('\'').map(super::symbols::quoted_end);
        let Some(length) = quoted else {
            return Err(self.cursor.expected("a symbol"));
        };
        self.cursor.advance(1 + length);
        let dim = rest[..1 + length].parse::<stridewise_core::dim::Dim>().ok();
        let symbol = dim.as_ref().and_then(|dim| dim.as_symbol()).cloned();
        symbol.ok_or_else(|| self.cursor.error(place, "expected a symbol"))
    }

    /// `float32[B, *rest, 4]`.
    fn written_type(&mut self) -> Result<Written> {
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

    /// The value of that name.
    pub(super) fn value(&self, place: usize, name: &str) -> Result<Symbolic> {
        let found = self.values.get(name).cloned();
        found.ok_or_else(|| {
            let message = format!("`{name}` is used, but nothing before it has that name");
            self.cursor.error(place, message)
        })
    }

    fn define(&mut self, place: usize, name: &'t str, x: Symbolic) -> Result<()> {
        self.names.set_value(x.id, name);
        match self.values.insert(name, x) {
            None => Ok(()),
            Some(_) => Err(self
                .cursor
                .error(place, format!("there are two values `{name}`"))),
        }
    }

    /// Values by name, none included.
    fn value_list(&mut self) -> Result<Vec<Symbolic>> {
        let mut values = Vec::new();
        loop {
            let place = self.cursor.place();
            match self.cursor.value_name() {
                Some(name) => values.push(self.value(place, name)?),
                None if values.is_empty() => return Ok(values),
                None => return Err(self.cursor.expected("a value")),
            }
            if !self.cursor.take(",") {
                return Ok(values);
            }
        }
    }

    /// What stands behind the last line.
    fn end(&mut self) -> Result<()> {
        self.cursor.end_of_line()?;
        self.cursor.skip_lines();
        self.cursor.expect("}")?;
        self.cursor.skip_lines();
        match self.cursor.rest().is_empty() {
            true => Ok(()),
            false => Err(self.cursor.expected("the end of the text")),
        }
    }

    /// `gradient(y by x, w)`, its first bracket read.
    fn gradient(&mut self, place: usize) -> Result<Program> {
        let mut outputs = Vec::new();
        loop {
            let place = self.cursor.place();
            let Some(name) = self.cursor.value_name() else {
                return Err(self.cursor.expected("a value or `by`"));
            };
            // There may be no outputs, and a value may be called `by`.
            let another = self.cursor.take(",");
            let last = !another && self.cursor.take_word("by");
            if name == "by" && outputs.is_empty() && !another && !last {
                break;
            }
            outputs.push(self.value(place, name)?);
            if last {
                break;
            }
            if !another {
                return Err(self.cursor.expected("`,` or `by`"));
            }
        }
        let mut by = Vec::new();
        while let Some(name) = self.cursor.word() {
            by.push(name);
            if !self.cursor.take(",") {
                break;
            }
        }
        self.cursor.close(")")?;
        self.end()?;
        let program = self.graph.finish(&outputs.iter().collect::<Vec<_>>())?;
        let gradient = program.gradient(Some(&by));
        gradient.map_err(|error| self.cursor.blame(place, error))
    }

    fn statement(&mut self) -> Result<()> {
        let place = self.cursor.place();
        let mut names = Vec::new();
        let mut callee = None;
        loop {
            let place = self.cursor.place();
            let Some(name) = self.cursor.value_name() else {
                return Err(self.cursor.expected("a statement"));
            };
            if names.is_empty() && (self.cursor.is_next("(") || self.cursor.is_next(".")) {
                callee = Some((place, name));
                break;
            }
            if KEYWORDS.contains(&name) {
                let message = match name {
                    "guard" => "the statement above asks for no further guard".to_string(),
                    "require" => "a check that stands by itself cannot be read back".to_string(),
                    _ => format!("`{name}` is no name for a value"),
                };
                return Err(self.cursor.error(place, message));
            }
            names.push((place, name));
            if self.cursor.take(",") {
                continue;
            }
            self.cursor.expect("=")?;
            break;
        }
        let (called_at, word) = match callee {
            Some(callee) => callee,
            None => {
                let place = self.cursor.place();
                match self.cursor.word() {
                    Some(word) => (place, word),
                    None => return Err(self.cursor.expected("an operator")),
                }
            }
        };
        let (callee, arguments) = self.called(called_at, word)?;
        let mut types = Vec::new();
        let typed = self.cursor.take(":");
        while typed {
            types.push(self.written_type()?);
            if !self.cursor.take(",") {
                break;
            }
        }
        let source = self.cursor.end_of_line()?.filter(|text| !text.is_empty());
        self.graph
            .at(source.map(str::to_string), arguments.name.clone());
        let guards = self.graph.lock().guards.len();
        let results = self.traced(called_at, callee, arguments, names.len(), &types)?;
        self.require_names(place, results.len(), names.len())?;
        if typed && types.len() != results.len() {
            let message = format!(
                "expected {}, found {}",
                counted(results.len(), "shape"),
                types.len()
            );
            return Err(self.cursor.error(place, message));
        }
        for ((place, name), x) in names.into_iter().zip(&results) {
            self.define(place, name, x.clone())?;
        }
        for (written, x) in types.iter().zip(&results) {
            self.compare(written, x)?;
        }
        self.guards(place, guards)
    }

    /// What is called, and with what.
    fn called(&mut self, place: usize, word: &'t str) -> Result<(Callee, Arguments)> {
        if word == "primitive" && self.cursor.take(".") {
            let place = self.cursor.place();
            let word = self.cursor.word().unwrap_or_default();
            let Some(name) = primitives::named(word) else {
                let message = format!("expected a primitive, found `{word}`");
                return Err(self.cursor.error(place, message).help(primitives::help()));
            };
            let kind = |key: &str| primitives::kind(name, key);
            let arguments = self.arguments(primitives::signature(name), &kind)?;
            return Ok((Callee::Primitive(name), arguments));
        }
        if word == "constant" {
            let (words, skeleton, arguments) = self.constant()?;
            return Ok((Callee::Constant(words, skeleton), arguments));
        }
        let Some(at) = TABLE.iter().position(|entry| entry.name == word) else {
            return Err(self.cursor.blame(place, unknown(word)));
        };
        let entry = &TABLE[at];
        let kind = |key: &str| {
            let param = entry.parameters().find(|param| param.name == key)?;
            Some((param.name, Kind::Of(param.kind)))
        };
        let arguments = self.arguments(&entry.signature(), &kind)?;
        Ok((Callee::Operator(at), arguments))
    }

    fn traced(
        &mut self,
        place: usize,
        callee: Callee,
        arguments: Arguments,
        wanted: usize,
        types: &[Written],
    ) -> Result<Vec<Symbolic>> {
        let result = match callee {
            Callee::Operator(at) => match Parser::apart(at, &arguments) {
                Some(count) if count != wanted => self
                    .require_names(place, count, wanted)
                    .map(|()| Vec::new()),
                _ => self.operator(at, arguments),
            },
            Callee::Primitive(name) => self
                .primitive(place, name, arguments, types)
                .map(|x| vec![x]),
            Callee::Constant(words, skeleton) => {
                self.made(place, &words, &skeleton, types).map(|x| vec![x])
            }
        };
        result.map_err(
            |error| match error.report().message().starts_with("line ") {
                true => error,
                false => self.cursor.blame(place, error),
            },
        )
    }

    fn operator(&mut self, at: usize, arguments: Arguments) -> Result<Vec<Symbolic>> {
        let tensors = arguments.tensors.into_iter().map(Arg::Tensor);
        let positional: Vec<Arg<Symbolic, _>> = match arguments.listed {
            true => vec![Arg::List(tensors.collect())],
            false => tensors.collect(),
        };
        let named = arguments.named.into_iter();
        let named: Vec<(&str, Arg<Symbolic, _>)> = named
            .filter_map(|(key, given)| match given {
                Given::Arg(arg) => Some((key, arg)),
                Given::Axes(_) | Given::Run(_) => None,
            })
            .collect();
        Ok(match call_at(&self.graph, at, &positional, &named)? {
            Outcome::One(x) | Outcome::Checked((x, _)) => vec![x],
            Outcome::Many(xs) => xs,
        })
    }

    fn require_names(&self, place: usize, given: usize, found: usize) -> Result<()> {
        if given == found {
            return Ok(());
        }
        let names = counted(given, "name");
        let message =
            format!("expected {names} on the left, as the call gives as many, found {found}");
        Err(self.cursor.error(place, message).sizes(given, found))
    }

    /// Into how many a call takes its tensor apart, where that is known before: it might be far more than anybody
    /// has names for.
    fn apart(at: usize, arguments: &Arguments) -> Option<usize> {
        if TABLE[at].name != "unstack" {
            return None;
        }
        let dims = arguments.tensors.first()?.shape.shape()?;
        let axis = arguments.named.iter().find(|(key, _)| *key == "axis");
        let axis = match axis {
            Some((_, Given::Arg(Arg::Int(n)))) => isize::try_from(*n).ok()?,
            _ => 0,
        };
        let axis = resolve_axis(axis, dims.len(), "axis", String::new).ok()?;
        dims[axis].known()
    }

    /// Holds what the text says of a result to what it is.
    fn compare(&mut self, written: &Written, x: &Symbolic) -> Result<()> {
        self.learn(&written.outline, &x.shape);
        let meant = self.meant(written);
        if written.dtype == x.dtype && meant.is_ok_and(|meant| meant == *x.shape) {
            return Ok(());
        }
        let expected = format!("{}{}", x.dtype, self.names.outline(&x.shape));
        let found = format!("{}{}", written.dtype, written.outline);
        let message = format!("expected {expected}, found {found}");
        let error = self.cursor.error(written.place, message);
        Err(error.sizes(expected, found))
    }

    /// Holds the guards behind a statement to those it asks for.
    fn guards(&mut self, place: usize, before: usize) -> Result<()> {
        let checks: Vec<_> = self.graph.lock().guards[before..]
            .iter()
            .map(|guard| guard.check.clone())
            .collect();
        for check in checks {
            let wanted = condition(&check, &mut self.names);
            self.cursor.skip_lines();
            let line = self.cursor.place();
            if !self.cursor.take_word("guard") {
                let message =
                    format!("expected `guard {wanted}` behind this statement, found none");
                return Err(self.cursor.error(place, message).sizes(wanted, "no guard"));
            }
            let found = self.cursor.line_text();
            if !found.split_whitespace().eq(wanted.split_whitespace()) {
                let message = format!("expected `guard {wanted}`, found `guard {found}`");
                return Err(self.cursor.error(line, message).sizes(wanted, found));
            }
            self.cursor.end_of_line()?;
        }
        Ok(())
    }
}
