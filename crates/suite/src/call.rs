//! A call of an operator by name, as data: the same [`Arg`]s that the command line and Python give, with
//! [`Input`]s where the tensors will be.

use std::fmt;

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;
use stridewise_core::operators::TABLE;

use crate::input::Input;

/// An argument, with tensors still to be made.
pub type Argument = Arg<Input, usize>;

/// A call.
#[derive(Clone, PartialEq)]
pub struct Call {
    /// The operator.
    pub operator: &'static str,
    /// Arguments by position, tensors first.
    pub positional: Vec<Argument>,
    /// Arguments by name.
    pub named: Vec<(&'static str, Argument)>,
}

impl Call {
    /// A call without arguments yet.
    pub fn of(operator: &'static str) -> Call {
        Call {
            operator,
            positional: Vec::new(),
            named: Vec::new(),
        }
    }

    /// One more argument by position.
    pub fn arg(mut self, arg: impl Into<Value>) -> Call {
        self.positional.push(arg.into().0);
        self
    }

    /// Several whole numbers by position, one by one.
    pub fn ints(mut self, numbers: &[i128]) -> Call {
        self.positional.extend(numbers.iter().map(|&n| Arg::Int(n)));
        self
    }

    /// One more argument by name.
    pub fn with(mut self, name: &'static str, arg: impl Into<Value>) -> Call {
        self.named.push((name, arg.into().0));
        self
    }

    /// The same call, with sizes, axes or items that could stand one by one as one list by position.
    pub fn listed(mut self) -> Call {
        if let ([_], [(name, _)]) = (self.positional.as_slice(), self.named.as_slice())
            && variadic(self.operator) == Some(*name)
        {
            self.positional.extend(self.named.pop().map(|(_, arg)| arg));
        }
        self
    }

    /// The argument of that name, or the list that stands for it.
    pub fn get(&self, name: &str) -> Option<&Argument> {
        let named = self.named.iter().find(|(n, _)| *n == name);
        match (named, self.positional.as_slice()) {
            (Some((_, arg)), _) => Some(arg),
            (None, [_, arg]) if variadic(self.operator) == Some(name) => Some(arg),
            _ => None,
        }
    }

    /// All tensors of the call, in order.
    pub fn inputs(&self) -> Vec<&Input> {
        let named = self.named.iter().map(|(_, arg)| arg);
        let mut inputs = Vec::new();
        for arg in self.positional.iter().chain(named) {
            collect(arg, &mut inputs);
        }
        inputs
    }
}

/// The parameter of an operator that may be given one by one.
fn variadic(operator: &str) -> Option<&'static str> {
    let entry = TABLE.iter().find(|entry| entry.name == operator)?;
    entry.is_variadic().then(|| entry.params[0].name)
}

fn collect<'a>(arg: &'a Argument, into: &mut Vec<&'a Input>) {
    match arg {
        Arg::Tensor(input) => into.push(input),
        Arg::List(items) => items.iter().for_each(|item| collect(item, into)),
        _ => {}
    }
}

/// Anything that can stand as an argument.
pub struct Value(pub Argument);

impl From<Argument> for Value {
    fn from(arg: Argument) -> Value {
        Value(arg)
    }
}

impl From<Input> for Value {
    fn from(input: Input) -> Value {
        Value(Arg::Tensor(input))
    }
}

impl From<i128> for Value {
    fn from(n: i128) -> Value {
        Value(Arg::Int(n))
    }
}

impl From<i32> for Value {
    fn from(n: i32) -> Value {
        Value(Arg::Int(n.into()))
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value(Arg::Float(x))
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value(Arg::Bool(b))
    }
}

impl From<&str> for Value {
    fn from(word: &str) -> Value {
        Value(Arg::Text(word.to_string()))
    }
}

impl From<DType> for Value {
    fn from(dtype: DType) -> Value {
        Value(Arg::DType(dtype))
    }
}

/// `None` of Python.
impl From<()> for Value {
    fn from(_: ()) -> Value {
        Value(Arg::None)
    }
}

/// A list of whole numbers.
impl<const N: usize> From<[i128; N]> for Value {
    fn from(numbers: [i128; N]) -> Value {
        Value(Arg::List(numbers.into_iter().map(Arg::Int).collect()))
    }
}

impl From<Vec<i128>> for Value {
    fn from(numbers: Vec<i128>) -> Value {
        Value(Arg::List(numbers.into_iter().map(Arg::Int).collect()))
    }
}

/// A list of anything.
impl From<Vec<Argument>> for Value {
    fn from(items: Vec<Argument>) -> Value {
        Value(Arg::List(items))
    }
}

/// A list of tensors.
impl From<Vec<Input>> for Value {
    fn from(inputs: Vec<Input>) -> Value {
        Value(Arg::List(inputs.into_iter().map(Arg::Tensor).collect()))
    }
}

/// `start:stop:step`.
pub fn range(start: Option<isize>, stop: Option<isize>, step: Option<isize>) -> Argument {
    Arg::Range(start, stop, step)
}

fn write(f: &mut fmt::Formatter<'_>, arg: &Argument) -> fmt::Result {
    let part = |p: &Option<isize>| p.map_or(String::new(), |n| n.to_string());
    match arg {
        Arg::None => f.write_str("None"),
        Arg::Bool(b) => f.write_str(if *b { "True" } else { "False" }),
        Arg::Int(n) => write!(f, "{n}"),
        Arg::Float(x) => write!(f, "{x:?}"),
        Arg::Complex(re, im) => write!(f, "({re:?}{im:+?}j)"),
        Arg::Text(word) => write!(f, "{word:?}"),
        Arg::Rest => f.write_str("..."),
        Arg::Range(start, stop, step) => {
            write!(f, "{}:{}:{}", part(start), part(stop), part(step))
        }
        Arg::List(items) => {
            f.write_str("[")?;
            for (at, item) in items.iter().enumerate() {
                f.write_str(if at > 0 { ", " } else { "" })?;
                write(f, item)?;
            }
            f.write_str("]")
        }
        Arg::Extent(extent) => write!(f, "{extent}"),
        Arg::Symbol(symbol) => write!(f, "{symbol}"),
        Arg::DType(dtype) => write!(f, "{dtype}"),
        Arg::Tensor(input) => write!(f, "<{input:?}>"),
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.operator)?;
        let mut between = "";
        for arg in &self.positional {
            f.write_str(between)?;
            write(f, arg)?;
            between = ", ";
        }
        for (name, arg) in &self.named {
            write!(f, "{between}{name}=")?;
            write(f, arg)?;
            between = ", ";
        }
        f.write_str(")")
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
