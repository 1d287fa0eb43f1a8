//! Errors as a part of the product: each names the operator and the argument, the axis, both sizes and the
//! whole shape, and says how to mend the call where there is a way.

use std::fmt;

/// The result of everything that can go wrong.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! families {
    ($($(#[doc = $doc:literal])+ $make:ident $Variant:ident)*) => {
        /// What went wrong. The variant is the family (Python raises one exception class for each); the
        /// [`Report`] inside has the details.
        #[derive(Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Error {
            $($(#[doc = $doc])+ $Variant(Report),)*
        }

        impl Error {
            $(
                #[doc = concat!("An [`Error::", stringify!($Variant), "`]; whoever runs the operator adds its name.")]
                #[cold]
                pub fn $make(message: impl Into<String>) -> Error {
                    Error::$Variant(Report::new(message.into()))
                }
            )*

            /// The details, whatever the family.
            pub fn report(&self) -> &Report {
                match self {
                    $(Error::$Variant(report) => report,)*
                }
            }

            fn fields(&mut self) -> &mut Fields {
                match self {
                    $(Error::$Variant(report) => &mut report.0,)*
                }
            }
        }
    };
}

families! {
    /// Sizes do not fit: a wrong size, count of sizes, or pattern.
    shape Shape
    /// An axis is outside `-rank ..= rank-1`, or named twice.
    axis Axis
    /// An index points outside the tensor.
    index Index
    /// An element type that the operator does not take.
    dtype DType
    /// An argument of the wrong type, one too many or one missing.
    type_ Type
    /// An argument of the right type with a value that has no meaning, such as an unknown word.
    argument Argument
    /// The shape is too large for any machine: a product or offset overflows.
    overflow Overflow
    /// The machine has not that much memory.
    memory Memory
    /// A file is malformed, truncated or cannot be read or written.
    file File
    /// The answer depends on something that is only known when a graph runs.
    too_early TooEarly
    /// There is no history to differentiate by, or it has been let go.
    gradient Gradient
    /// Ranks do not go together: one is lost, calls something else, or has other sizes.
    world World
    /// A device such as a GPU is not there, was lost, or is not the one that holds the tensor.
    device Device
}

/// The details of an [`Error`]. Fields that do not apply are `None`.
#[derive(Clone, Debug, PartialEq)]
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

impl Error {
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
    fn new(message: String) -> Report {
        Report(Box::new(Fields {
            message,
            ..Fields::default()
        }))
    }

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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report().fmt(f)
    }
}

/// The same text: it is what `main` and `unwrap` print.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
