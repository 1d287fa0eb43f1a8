//! Programs: chains of operators as text, such as `unflatten(1, [2, -1]).expand(-1, -1, 5)`.
//!
//! A program is read once into steps whose every part knows its place in the text, and is then run on any
//! engine: on [`Dry`](stridewise_dry::Dry) or, where sizes are symbols, on a [`Graph`](stridewise::Graph) to plan it, on
//! the CPU to run it. Whatever goes wrong is a [`Mistake`] that points at the place.

mod binding;
mod blame;
mod evaluate;
mod hints;
mod index;
mod lexer;
mod mistake;
mod number;
mod parser;
#[cfg(test)]
mod tests;

use std::ops::Range;

use stridewise_core::table::{Arity, Entry};

pub(crate) use evaluate::{Done, Flow, start, step, step_with};
pub(crate) use mistake::Mistake;

/// A place in the text, in bytes.
pub(crate) type Span = Range<usize>;

/// A program, read and checked as far as is possible without tensors.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The text.
    pub(crate) source: String,
    /// Which input the chain starts from, counted from 1, and where that is said.
    pub(crate) from: Option<(usize, Span)>,
    /// The steps, in order.
    pub(crate) steps: Vec<Step>,
}

/// One call of the chain.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The operator's line in the table.
    pub(crate) entry: &'static Entry,
    /// The call, from the first letter of its name to the closing bracket.
    pub(crate) span: Span,
    /// The arguments as written.
    pub(crate) args: Vec<Argument>,
    /// Whether the arguments name every tensor, so that the chain's own is not put in front.
    pub(crate) names_all: bool,
}

/// One argument of a call.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    /// The keyword, if there is one, and where it stands.
    pub(crate) name: Option<(String, Span)>,
    /// What was written.
    pub(crate) value: Literal,
}

/// A value as written, and where.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    /// What it is.
    pub(crate) kind: Kind,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The kinds of values a program can hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// A string or a bare word.
    Text(String),
    /// `...`.
    Rest,
    /// `start:stop:step`.
    Range(Option<isize>, Option<isize>, Option<isize>),
    /// A list or tuple.
    List(Vec<Literal>),
    /// `$n`, counted from 1.
    Input(usize),
}

impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        self.kind == other.kind
    }
}

impl Step {
    /// The mistake of this step that an error tells of, after the step has run.
    #[cfg(feature = "gpu")]
    pub(crate) fn blamed(&self, error: &stridewise_core::error::Error) -> Mistake {
        blame::mistake(self, usize::from(!self.names_all), error)
    }

    /// Whether it reads by an index that is written out and could point outside: without data nobody looks.
    pub(crate) fn has_unchecked_index(&self) -> bool {
        let given = |name: &str| {
            let mut args = self.args.iter();
            args.find(|arg| binding::parameter(self, arg) == Some(name))
        };
        let refuses =
            given("mode").is_none_or(|mode| mode.value.kind == Kind::Text("raise".into()));
        let literal = |index: &Argument| !matches!(index.value.kind, Kind::Input(_));
        refuses && given("index").is_some_and(literal)
    }
}

impl Program {
    /// Reads a program.
    pub(crate) fn parse(source: &str) -> Result<Program, Mistake> {
        let tokens = lexer::tokens(source)?;
        let mut program = parser::parse(source, &tokens)?;
        if let (None, Some(first)) = (&program.from, program.steps.first_mut()) {
            first.names_all = binding::names_all(first);
        }
        for (at, step) in program.steps.iter().enumerate() {
            binding::check(step)?;
            binding::refuse_list(step, source)?;
            if step.entry.arity == Arity::None && (at > 0 || program.from.is_some()) {
                return Err(Mistake::new(
                    step.span.clone(),
                    format!(
                        "`{}` makes a tensor from nothing, so it can only begin a program",
                        step.entry.name
                    ),
                )
                .signature(step.entry));
            }
        }
        Ok(program)
    }

    /// Whether the first step makes its tensor from nothing, so that no input is needed.
    pub(crate) fn begins_from_nothing(&self) -> bool {
        self.steps
            .first()
            .is_some_and(|step| step.entry.arity == Arity::None)
    }

    /// The text of a step on one line.
    pub(crate) fn text(&self, step: &Step) -> String {
        let text = self.source.get(step.span.clone()).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
