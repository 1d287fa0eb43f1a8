//! Errors as a part of the product: each names the operator and the argument, the axis, both sizes and the
//! whole shape, and says how to mend the call where there is a way.

use std::fmt;

/// The result of everything that can go wrong.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. The variant is the family (Python raises one exception class for each); the [`Report`]
/// inside has the details.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// Sizes do not fit: a wrong size, count of sizes, or pattern.
    Shape(Report),
    /// An axis is outside `-rank ..= rank-1`, or named twice.
    Axis(Report),
    /// An index points outside the tensor.
    Index(Report),
    /// An element type that the operator does not take.
    DType(Report),
    /// An argument of the wrong type, one too many or one missing.
    Type(Report),
    /// An argument of the right type with a value that has no meaning, such as an unknown word.
    Argument(Report),
    /// The shape is too large for any machine: a product or offset overflows.
    Overflow(Report),
    /// The machine has not that much memory.
    Memory(Report),
    /// A file is malformed, truncated or cannot be read or written.
    File(Report),
    /// The answer depends on something that is only known when a graph runs.
    TooEarly(Report),
}

/// The details of an [`Error`]. Fields that do not apply are `None`.
#[derive(Clone, PartialEq)]
pub struct Report(Box<Fields>);

#[derive(Clone, Debug, Default, PartialEq)]
struct Fields {
    operator: &'static str,
    node: Option<String>,
    message: String,
    argument: Option<&'static str>,
    item: Option<usize>,
    axis: Option<usize>,
    expected: Option<String>,
    actual: Option<String>,
    notes: Vec<(&'static str, String)>,
    help: Option<String>,
}

macro_rules! constructors {
    ($($name:ident $variant:ident)*) => {$(
        #[doc = concat!("An [`Error::", stringify!($variant), "`]; whoever runs the operator adds its name.")]
        #[cold]
        pub fn $name(message: impl Into<String>) -> Error {
            Error::$variant(Report(Box::new(Fields {
                message: message.into(),
                ..Fields::default()
            })))
        }
    )*};
}

impl Error {
    constructors! {
        shape Shape
        axis Axis
        index Index
        dtype DType
        type_ Type
        argument Argument
        overflow Overflow
        memory Memory
        file File
        too_early TooEarly
    }

    /// The details, whatever the family.
    pub fn report(&self) -> &Report {
        match self {
            Error::Shape(r)
            | Error::Axis(r)
            | Error::Index(r)
            | Error::DType(r)
            | Error::Type(r)
            | Error::Argument(r)
            | Error::Overflow(r)
            | Error::Memory(r)
            | Error::File(r)
            | Error::TooEarly(r) => r,
        }
    }

    fn fields(&mut self) -> &mut Fields {
        match self {
            Error::Shape(r)
            | Error::Axis(r)
            | Error::Index(r)
            | Error::DType(r)
            | Error::Type(r)
            | Error::Argument(r)
            | Error::Overflow(r)
            | Error::Memory(r)
            | Error::File(r)
            | Error::TooEarly(r) => &mut r.0,
        }
    }

    /// Says which argument is to blame.
    pub fn at_argument(mut self, argument: &'static str) -> Error {
        self.fields().argument = Some(argument);
        self
    }

    /// Says which item of a list argument.
    pub fn at_item(mut self, item: usize) -> Error {
        self.fields().item = Some(item);
        self
    }

    /// Says at which axis of the input.
    pub fn at_axis(mut self, axis: usize) -> Error {
        self.fields().axis = Some(axis);
        self
    }

    /// Keeps what was wanted and what was there, for programs that read errors.
    pub fn sizes(mut self, expected: impl ToString, actual: impl ToString) -> Error {
        self.fields().expected = Some(expected.to_string());
        self.fields().actual = Some(actual.to_string());
        self
    }

    /// Adds a line such as `input shape: (4, 3)`.
    pub fn note(mut self, label: &'static str, text: impl ToString) -> Error {
        self.fields().notes.push((label, text.to_string()));
        self
    }

    /// Adds the way to mend the call.
    pub fn help(mut self, text: impl Into<String>) -> Error {
        self.fields().help = Some(text.into());
        self
    }

    /// Adds the name a user gave this call.
    pub fn named(mut self, node: impl Into<String>) -> Error {
        self.fields().node = Some(node.into());
        self
    }

    /// Adds the operator, unless one further in has done so.
    pub fn within(mut self, operator: &'static str) -> Error {
        self.set_operator(operator);
        self
    }

    /// Adds the operator in place, unless one further in has done so.
    #[cold]
    pub fn set_operator(&mut self, operator: &'static str) {
        let fields = self.fields();
        if fields.operator.is_empty() {
            fields.operator = operator;
        }
    }
}

impl Report {
    /// The operator that failed; empty where none was involved.
    pub fn operator(&self) -> &'static str {
        self.0.operator
    }

    /// The name the user gave the call, if any.
    pub fn node(&self) -> Option<&str> {
        self.0.node.as_deref()
    }

    /// The first line of the text, without the operator.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The argument to blame.
    pub fn argument(&self) -> Option<&'static str> {
        self.0.argument
    }

    /// Which item of that argument, where it is a list.
    pub fn item(&self) -> Option<usize> {
        self.0.item
    }

    /// The axis at which it failed.
    pub fn axis(&self) -> Option<usize> {
        self.0.axis
    }

    /// What was wanted.
    pub fn expected(&self) -> Option<&str> {
        self.0.expected.as_deref()
    }

    /// What was there.
    pub fn actual(&self) -> Option<&str> {
        self.0.actual.as_deref()
    }

    /// The lines of context, as label and text.
    pub fn notes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.notes.iter().map(|(l, t)| (*l, t.as_str()))
    }

    /// How to mend the call.
    pub fn fix(&self) -> Option<&str> {
        self.0.help.as_deref()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.operator.is_empty() {
            write!(f, "{}", self.0.operator)?;
            if let Some(node) = &self.0.node {
                write!(f, " `{node}`")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.0.message)?;
        for (label, text) in &self.0.notes {
            write!(f, "\n  {label}: {text}")?;
        }
        match &self.0.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report().fmt(f)
    }
}

impl std::error::Error for Error {}
