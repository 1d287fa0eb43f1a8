//! The arguments of a statement. What an argument may be is told by the kind of its parameter, so that a bracket
//! is a list in one place and part of a size in another.

use std::ops::Range;

use stridewise_core::axis::Axis;
use stridewise_core::call::Arg;
use stridewise_core::dim::Dim;
use stridewise_core::dtype::DType;
use stridewise_core::error::Result;
use stridewise_core::params::{Extent, Symbol};
use stridewise_core::size::Size;
use stridewise_core::table::ParamKind;

use super::numbers;
use super::parse::Parser;
use crate::graph::Symbolic;
use crate::symbols::{anonymous, is_name, spread};

/// What a parameter is.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// What a parameter of an operator can be.
    Of(ParamKind),
    /// One size.
    Size,
    /// Where the axes of a view come from.
    Map,
    /// A run of axes, `0:2`.
    Run,
}

/// What was given for a parameter.
#[derive(Clone)]
pub(super) enum Given {
    Arg(Arg<Symbolic, Dim>),
    Axes(Vec<Axis<Dim>>),
    Run(Range<usize>),
}

/// The arguments of a statement.
#[derive(Default)]
pub(super) struct Arguments {
    /// Those by position.
    pub(super) tensors: Vec<Symbolic>,
    /// Whether they stand in a list.
    pub(super) listed: bool,
    pub(super) named: Vec<(&'static str, Given)>,
    /// The name of the call.
    pub(super) name: Option<String>,
}

/// The largest number a parameter that counts axes may be.
const MOST_AXES: i128 = 1 << 16;

impl<'t> Parser<'t> {
    /// Everything between the brackets of a call, the brackets included.
    pub(super) fn arguments(
        &mut self,
        signature: &str,
        kind: &dyn Fn(&str) -> Option<(&'static str, Kind)>,
    ) -> Result<Arguments> {
        let mut all = Arguments::default();
        self.cursor.open("(")?;
        while !self.cursor.take_close(")") {
            let place = self.cursor.place();
            match self.cursor.key() {
                Some(key) => self.named(place, key, signature, kind, &mut all)?,
                None if !all.named.is_empty() || all.listed => {
                    return Err(self.cursor.expected("an argument by name"));
                }
                None if all.tensors.is_empty() && self.cursor.take_open("[") => {
                    all.listed = true;
                    while !self.cursor.take_close("]") {
                        all.tensors.push(self.tensor()?);
                        if !self.cursor.another("]")? {
                            self.cursor.close("]")?;
                            break;
                        }
                    }
                }
                None => all.tensors.push(self.tensor()?),
            }
            if !self.cursor.another(")")? {
                self.cursor.close(")")?;
                break;
            }
        }
        Ok(all)
    }

    fn named(
        &mut self,
        place: usize,
        key: &str,
        signature: &str,
        kind: &dyn Fn(&str) -> Option<(&'static str, Kind)>,
        all: &mut Arguments,
    ) -> Result<()> {
        let twice = || format!("{key} is given twice");
        if key == "name" {
            if all.name.is_some() {
                return Err(self.cursor.error(place, twice()));
            }
            all.name = Some(self.cursor.string()?);
            return Ok(());
        }
        let Some((key, kind)) = kind(key) else {
            let error = self
                .cursor
                .error(place, format!("there is no argument `{key}`"));
            return Err(error.help(format!("the call is {signature}")));
        };
        if all.named.iter().any(|(other, _)| *other == key) {
            return Err(self.cursor.error(place, twice()));
        }
        let given = self.given(kind)?;
        all.named.push((key, given));
        Ok(())
    }

    pub(super) fn tensor(&mut self) -> Result<Symbolic> {
        let place = self.cursor.place();
        match self.cursor.value_name() {
            Some(name) => self.value(place, name),
            None => Err(self.cursor.expected("a value")),
        }
    }

    fn given(&mut self, kind: Kind) -> Result<Given> {
        Ok(match kind {
            Kind::Of(kind) => Given::Arg(self.argument(kind)?),
            Kind::Size => Given::Arg(Arg::Extent(Extent::Is(self.dim()?))),
            Kind::Map => Given::Axes(self.items("[", |parser, axes| {
                axes.push(parser.axis()?);
                Ok(())
            })?),
            Kind::Run => Given::Run(self.run()?),
        })
    }

    fn argument(&mut self, kind: ParamKind) -> Result<Arg<Symbolic, Dim>> {
        use ParamKind::{OptionalDType, OptionalInt, OptionalScalar};
        let optional = matches!(kind, OptionalInt | OptionalScalar | OptionalDType);
        if (optional || kind == ParamKind::Axes) && self.cursor.take_word("None") {
            return Ok(Arg::None);
        }
        Ok(match kind {
            ParamKind::Tensor => Arg::Tensor(self.tensor()?),
            ParamKind::Sizes => Arg::List(self.items("(", Parser::size)?),
            ParamKind::Axes if self.cursor.is_next("(") => {
                Arg::List(self.items("(", |parser, axes| {
                    axes.push(Arg::Int(parser.cursor.whole("an axis")?));
                    Ok(())
                })?)
            }
            ParamKind::Axes | ParamKind::Int | OptionalInt => {
                Arg::Int(self.cursor.whole("a whole number")?)
            }
            ParamKind::Count => {
                let place = self.cursor.place();
                let n = self.cursor.whole("a whole number")?;
                if n > MOST_AXES {
                    let message = format!("expected at most {MOST_AXES}, found {n}");
                    return Err(self.cursor.error(place, message));
                }
                Arg::Int(n)
            }
            ParamKind::Bool => {
                if self.cursor.take_word("True") {
                    Arg::Bool(true)
                } else if self.cursor.take_word("False") {
                    Arg::Bool(false)
                } else {
                    return Err(self.cursor.expected("True or False"));
                }
            }
            ParamKind::Scalar | OptionalScalar => self.scalar()?,
            ParamKind::DType | OptionalDType => Arg::DType(self.cursor.dtype()?),
            ParamKind::Mode | ParamKind::Place => Arg::Text(self.cursor.string()?),
            ParamKind::Items => Arg::List(self.items("[", Parser::item)?),
            ParamKind::Pattern => Arg::List(self.items("[", Parser::piece)?),
        })
    }

    /// A list between brackets.
    fn items<T>(
        &mut self,
        bracket: &str,
        mut item: impl FnMut(&mut Self, &mut Vec<T>) -> Result<()>,
    ) -> Result<Vec<T>> {
        let close = if bracket == "(" { ")" } else { "]" };
        let mut all = Vec::new();
        self.cursor.open(bracket)?;
        while !self.cursor.take_close(close) {
            item(self, &mut all)?;
            if !self.cursor.another(close)? {
                self.cursor.close(close)?;
                break;
            }
        }
        Ok(all)
    }

    /// A size of a list, or several that one stands for.
    fn size(&mut self, all: &mut Vec<Arg<Symbolic, Dim>>) -> Result<()> {
        if self.cursor.is_next("-") {
            all.push(Arg::Int(self.cursor.whole("a size")?));
            return Ok(());
        }
        if self.cursor.take("*") {
            let (place, text) = self.written()?;
            if let Some(name) = text.strip_suffix("[:]") {
                let read = self.read_all(place, name)?;
                all.extend(read.into_iter().map(Arg::Extent));
                return Ok(());
            }
            let symbol = text
                .parse()
                .ok()
                .and_then(|dim: Dim| dim.as_symbol().cloned());
            let tuple = symbol.and_then(|symbol| self.tuple(&symbol));
            let Some(tuple) = tuple else {
                let message = format!("`*{text}` stands for no sizes here");
                return Err(self.cursor.error(place, message));
            };
            all.push(Arg::Extent(Extent::Is(spread(&tuple))));
            return Ok(());
        }
        let dim = self.dim()?;
        all.push(size(dim));
        Ok(())
    }

    /// An item of an index.
    fn item(&mut self, all: &mut Vec<Arg<Symbolic, Dim>>) -> Result<()> {
        if self.cursor.take("...") {
            all.push(Arg::Rest);
            return Ok(());
        }
        if self.cursor.take_word("None") {
            all.push(Arg::None);
            return Ok(());
        }
        let start = self.end_of_range("an index, a slice, `None` or `...`")?;
        match start {
            Some(index) if !self.cursor.is_next(":") => all.push(Arg::Int(index as i128)),
            start => {
                let (stop, step) = self.range()?;
                all.push(Arg::Range(start, stop, step));
            }
        }
        Ok(())
    }

    /// A number in front of a `:`, if there is one.
    fn end_of_range(&mut self, what: &str) -> Result<Option<isize>> {
        match self.cursor.is_next(":") {
            true => Ok(None),
            false => self.cursor.whole(what).map(Some),
        }
    }

    /// What stands behind the start of `start:stop:step`.
    fn range(&mut self) -> Result<(Option<isize>, Option<isize>)> {
        self.cursor.expect(":")?;
        let number = |c: char| c == '-' || c.is_ascii_digit();
        let mut end = || -> Result<Option<isize>> {
            self.cursor.place();
            match self.cursor.rest().starts_with(number) {
                true => self.cursor.whole("a whole number").map(Some),
                false => Ok(None),
            }
        };
        let stop = end()?;
        let step = match self.cursor.take(":") {
            true => Some(self.cursor.whole("a step")?),
            false => None,
        };
        Ok((stop, step))
    }

    /// A piece of a pattern.
    fn piece(&mut self, all: &mut Vec<Arg<Symbolic, Dim>>) -> Result<()> {
        if self.cursor.take("...") {
            all.push(Arg::Rest);
            return Ok(());
        }
        if self.cursor.is_next("\"") {
            all.push(Arg::Symbol(Symbol::new(&self.cursor.string()?)));
            return Ok(());
        }
        if self.cursor.is_next("-") {
            all.push(Arg::Int(self.cursor.whole("a size")?));
            return Ok(());
        }
        let (place, text) = self.written()?;
        let symbol = Symbol::new(text);
        all.push(match text {
            "None" => Arg::None,
            _ if is_name(text) && anonymous(&symbol).is_none() => Arg::Symbol(symbol),
            _ => size(self.dim_of(place, text)?),
        });
        Ok(())
    }

    /// A number of any kind.
    fn scalar(&mut self) -> Result<Arg<Symbolic, Dim>> {
        let place = self.cursor.place();
        if self.cursor.take_word("complex") {
            self.cursor.open("(")?;
            let re = self.float(DType::F64)?;
            self.cursor.expect(",")?;
            let im = self.float(DType::F64)?;
            self.cursor.close(")")?;
            return Ok(Arg::Complex(f64::from_bits(re), f64::from_bits(im)));
        }
        let Some(word) = self.cursor.number_word() else {
            return Err(self.cursor.expected("a number"));
        };
        let number = match word {
            "True" => Some(Arg::Bool(true)),
            "False" => Some(Arg::Bool(false)),
            _ if word.starts_with('+') => None,
            _ => match word.parse() {
                Ok(n) => Some(Arg::Int(n)),
                Err(_) => {
                    numbers::bits(DType::F64, word).map(|bits| Arg::Float(f64::from_bits(bits)))
                }
            },
        };
        number.ok_or_else(|| {
            let message = format!("expected a number, found `{word}`");
            self.cursor.error(place, message)
        })
    }

    /// A floating-point number, as its bits.
    fn float(&mut self, dtype: DType) -> Result<u64> {
        let place = self.cursor.place();
        let word = self.cursor.number_word();
        let bits = word.and_then(|word| numbers::bits(dtype, word));
        bits.ok_or_else(|| match word {
            Some(word) => self
                .cursor
                .error(place, format!("expected a number, found `{word}`")),
            None => self.cursor.expected("a number"),
        })
    }

    /// `0:2`.
    fn run(&mut self) -> Result<Range<usize>> {
        let start = self.cursor.whole("an axis")?;
        self.cursor.expect(":")?;
        Ok(start..self.cursor.whole("an axis")?)
    }

    /// Where an axis of a view comes from.
    fn axis(&mut self) -> Result<Axis<Dim>> {
        let what = "an axis, or one of `new`, `slice`, `split`, `stretch`, `range`, `merge`";
        let place = self.cursor.place();
        let Some(word) = self.cursor.word() else {
            return Ok(Axis::Of(self.cursor.whole(what)?));
        };
        self.cursor.open("(")?;
        let axis = match word {
            "new" => Axis::Fresh(self.dim()?),
            "merge" => Axis::Merge(self.run()?),
            "slice" | "split" | "stretch" | "range" => {
                let of = self.cursor.whole("an axis")?;
                match word {
                    "slice" => Axis::Slice {
                        of,
                        start: self.keyed("start")?,
                        len: self.keyed("len")?,
                        step: {
                            self.key("step")?;
                            self.cursor.whole("a step")?
                        },
                    },
                    "split" => Axis::Split {
                        of,
                        len: self.keyed("len")?,
                        inner: self.keyed("inner")?,
                    },
                    "stretch" => Axis::Stretch {
                        of,
                        len: self.keyed("len")?,
                    },
                    _ => {
                        self.cursor.expect(",")?;
                        let start = self.end_of_range("a slice")?;
                        let (stop, step) = self.range()?;
                        Axis::Range {
                            of,
                            start,
                            stop,
                            step: step.unwrap_or(1),
                        }
                    }
                }
            }
            _ => {
                let message = format!("expected {what}, found `{word}`");
                return Err(self.cursor.error(place, message));
            }
        };
        self.cursor.close(")")?;
        Ok(axis)
    }

    fn key(&mut self, key: &str) -> Result<()> {
        self.cursor.expect(",")?;
        match self.cursor.take_word(key) && self.cursor.take("=") {
            true => Ok(()),
            false => Err(self.cursor.expected(&format!("`{key}=`"))),
        }
    }

    /// A size behind its name.
    fn keyed(&mut self, key: &str) -> Result<Dim> {
        self.key(key)?;
        self.dim()
    }

    /// The elements of a constant as words, and its brackets with `x` for each element.
    pub(super) fn constant(&mut self) -> Result<(Vec<String>, String, Arguments)> {
        let (mut words, mut skeleton) = (Vec::new(), String::new());
        let mut nested = 0usize;
        let place = self.cursor.place();
        // Further in, this would be a comment.
        if self.cursor.is_next("(#") {
            let message = "a large constant is written as its hash, which cannot be read back";
            let error = self.cursor.error(place, message);
            return Err(error.help("give it to the program as an input"));
        }
        self.cursor.open("(")?;
        loop {
            if self.cursor.take_open("[") {
                nested += 1;
                skeleton.push('[');
                continue;
            }
            if nested > 0 && self.cursor.take_close("]") {
                nested -= 1;
                skeleton.push(']');
            } else {
                words.push(self.element()?);
                skeleton.push('x');
            }
            while nested > 0 && self.cursor.take_close("]") {
                nested -= 1;
                skeleton.push(']');
            }
            if nested == 0 {
                break;
            }
            self.cursor.expect(",")?;
            skeleton.push(',');
        }
        let mut all = Arguments::default();
        if self.cursor.take(",") {
            match self.cursor.key() {
                Some("name") => all.name = Some(self.cursor.string()?),
                _ => return Err(self.cursor.expected("`name=`")),
            }
        }
        self.cursor.close(")")?;
        Ok((words, skeleton, all))
    }

    /// An element of a constant as it is written; a complex one with a space between its parts.
    fn element(&mut self) -> Result<String> {
        let complex = self.cursor.take_word("complex");
        if complex {
            self.cursor.open("(")?;
        }
        let Some(first) = self.cursor.number_word() else {
            return Err(self.cursor.expected("an element"));
        };
        if !complex {
            return Ok(first.to_string());
        }
        self.cursor.expect(",")?;
        let Some(second) = self.cursor.number_word() else {
            return Err(self.cursor.expected("an imaginary part"));
        };
        self.cursor.close(")")?;
        Ok(format!("{first} {second}"))
    }
}

/// A size as the argument it came from.
fn size(dim: Dim) -> Arg<Symbolic, Dim> {
    match dim.known() {
        Some(size) => Arg::Int(size as i128),
        None => Arg::Extent(Extent::Is(dim)),
    }
}
