//! Calling an operator by name with arguments that are only known at run time: how the command line and
//! Python reach the operators. Arguments are matched to parameters once, here, by Python's rules.

mod bind;
mod literal;

use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::operators::TABLE;
use crate::params::{Extent, Symbol};
use crate::size::counted;
use crate::table::{Arity, Entry, Param, ParamKind};

pub use bind::Bind;
pub use literal::literal;

/// One argument as given.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg<V, S> {
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
    List(Vec<Arg<V, S>>),
    /// A size, known or symbolic.
    Extent(Extent<S>),
    /// A symbol.
    Symbol(Symbol),
    /// An element type.
    DType(DType),
    /// A tensor.
    Tensor(V),
}

impl<V, S> Arg<V, S> {
    /// What the argument is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Arg::None => "None",
            Arg::Bool(_) => "a bool",
            Arg::Int(_) => "an int",
            Arg::Float(_) => "a float",
            Arg::Complex(..) => "a complex number",
            Arg::Text(_) => "a string",
            Arg::Rest => "an ellipsis",
            Arg::Range(..) => "a slice",
            Arg::List(_) => "a list",
            Arg::Extent(_) => "a size",
            Arg::Symbol(_) => "a symbol",
            Arg::DType(_) => "a dtype",
            Arg::Tensor(_) => "a tensor",
        }
    }

    /// What the argument is, with its value where that is short.
    pub fn describe(&self) -> String {
        match self {
            Arg::Bool(true) => "the bool True".to_string(),
            Arg::Bool(false) => "the bool False".to_string(),
            Arg::Int(n) => format!("the int {n}"),
            Arg::Float(x) => format!("the float {x:?}"),
            Arg::Complex(re, im) => format!("the complex number ({re:?}{im:+?}j)"),
            Arg::Text(text) if text.len() <= 40 => format!("the string \"{text}\""),
            other => other.kind().to_string(),
        }
    }

    /// A default of the operator table.
    fn from_default(text: &str) -> Arg<V, S> {
        match text {
            "None" => Arg::None,
            "True" => Arg::Bool(true),
            "False" => Arg::Bool(false),
            _ => text
                .parse()
                .map_or_else(|_| Arg::Text(text.to_string()), Arg::Int),
        }
    }
}

/// An argument of an engine.
pub type ArgOf<E> = Arg<<E as Engine>::Value, <E as Engine>::Size>;

/// The arguments of a call: by position (the tensor first), then by name.
pub struct Args<E: Engine> {
    /// Those given by position.
    pub positional: Vec<ArgOf<E>>,
    /// Those given by name.
    pub named: Vec<(String, ArgOf<E>)>,
}

/// The parameter that the `at`-th argument by position stands for, the tensors left out.
pub fn parameter_at(entry: &Entry, at: usize) -> Option<Param> {
    match entry.is_variadic() {
        true => entry.parameters().next(),
        false => entry.parameters().nth(at),
    }
}

/// An operator that is not there.
pub fn unknown(name: &str) -> Error {
    let error = Error::argument(format!("there is no operator `{name}`"));
    let nearest = TABLE
        .iter()
        .map(|entry| (distance(name, entry.name), entry.name))
        .min();
    match nearest {
        Some((d, near)) if d <= near.len() / 2 => error.help(format!("did you mean `{near}`?")),
        _ => error,
    }
}

/// Levenshtein's distance between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The arguments of a call, matched to the parameters of its operator.
pub struct Bound<'a, E: Engine> {
    engine: &'a E,
    entry: &'static Entry,
    tensors: Vec<ArgOf<E>>,
    slots: Vec<(Param, Option<ArgOf<E>>)>,
}

impl<'a, E: Engine> Bound<'a, E> {
    /// Matches arguments to parameters; one too many, one missing or an unknown name is an error.
    pub fn new(engine: &'a E, entry: &'static Entry, args: Args<E>) -> Result<Bound<'a, E>> {
        let mut positional = args.positional.into_iter();
        let tensors: Vec<ArgOf<E>> = match entry.arity {
            Arity::One => positional.by_ref().take(1).collect(),
            Arity::Many => {
                let mut tensors = Vec::new();
                let rest: Vec<_> = positional.by_ref().collect();
                let mut rest = rest.into_iter().peekable();
                match rest.next_if(|arg| matches!(arg, Arg::List(_))) {
                    Some(Arg::List(items)) => tensors = items,
                    _ => {
                        while let Some(tensor) = rest.next_if(|arg| matches!(arg, Arg::Tensor(_))) {
                            tensors.push(tensor);
                        }
                    }
                }
                positional = rest.collect::<Vec<_>>().into_iter();
                tensors
            }
            Arity::Each => positional.by_ref().collect(),
            Arity::None => Vec::new(),
        };
        let mut slots: Vec<(Param, Option<ArgOf<E>>)> =
            entry.parameters().map(|p| (p, None)).collect();
        let given: Vec<ArgOf<E>> = positional.collect();
        let named = args
            .named
            .iter()
            .any(|(name, _)| name == slots.first().map_or("", |slot| slot.0.name));
        if entry.is_variadic() {
            if !(given.is_empty() && named) {
                slots[0].1 = gather_varargs(given, slots[0].0.kind);
            }
        } else {
            let count = given.len();
            if count > slots.len() {
                let given = counted(count, "argument");
                let message = format!(
                    "{given} beside the tensor, but the operator takes {}",
                    slots.len()
                );
                return Err(signature(Error::type_(message), entry));
            }
            for (slot, arg) in slots.iter_mut().zip(given) {
                slot.1 = Some(arg);
            }
        }
        let mut bound = Bound {
            engine,
            entry,
            tensors,
            slots,
        };
        for (name, arg) in args.named {
            bound.name(&name, arg)?;
        }
        Ok(bound)
    }

    fn name(&mut self, name: &str, arg: ArgOf<E>) -> Result<()> {
        if name == self.entry.receiver && self.tensors.is_empty() {
            self.tensors = match (self.entry.arity, arg) {
                (Arity::Many, Arg::List(items)) => items,
                (_, arg) => vec![arg],
            };
            return Ok(());
        }
        let Some((param, slot)) = self.slots.iter_mut().find(|(param, _)| param.name == name)
        else {
            return Err(signature(
                Error::type_(format!("there is no argument `{name}`")),
                self.entry,
            ));
        };
        if slot.is_some() {
            let message = format!("{name} is given twice");
            return Err(signature(
                Error::type_(message).at_argument(param.name),
                self.entry,
            ));
        }
        *slot = Some(arg);
        Ok(())
    }

    /// The tensor the operator is called on.
    pub fn receiver(&mut self) -> Result<E::Value> {
        match self.tensors.pop() {
            Some(arg) => literal(self.engine, arg, self.entry.receiver),
            None => Err(self.missing(self.entry.receiver)),
        }
    }

    /// The tensors the operator is called on.
    pub fn receivers(&mut self) -> Result<Vec<E::Value>> {
        let tensors = std::mem::take(&mut self.tensors);
        tensors
            .into_iter()
            .map(|arg| literal(self.engine, arg, self.entry.receiver))
            .collect()
    }

    /// A tensor among the parameters.
    pub fn tensor(&mut self, name: &'static str) -> Result<E::Value> {
        let arg = self.argument(name)?;
        literal(self.engine, arg, name)
    }

    /// A parameter that is not a tensor.
    pub fn take<T: Bind<E::Size>>(&mut self, name: &'static str) -> Result<T> {
        let arg = self.argument(name)?;
        let arg = match T::KIND {
            ParamKind::Sizes => sizes(self.engine, arg, name)?,
            ParamKind::Mode => Arg::List(vec![arg, self.argument("fill_value")?]),
            _ => arg,
        };
        T::bind(arg, name).map_err(|error| match error {
            Error::Type(_) if error.report().fix().is_none() => signature(error, self.entry),
            error => error,
        })
    }

    fn argument(&mut self, name: &'static str) -> Result<ArgOf<E>> {
        let slot = self.slots.iter_mut().find(|(param, _)| param.name == name);
        match slot.map(|(param, slot)| (param.default, slot.take())) {
            Some((_, Some(arg))) => Ok(arg),
            Some((Some(default), None)) => Ok(Arg::from_default(default)),
            _ => Err(self.missing(name)),
        }
    }

    fn missing(&self, name: &'static str) -> Error {
        signature(
            Error::type_(format!("{name} is missing")).at_argument(name),
            self.entry,
        )
    }
}

fn signature(error: Error, entry: &Entry) -> Error {
    error.help(format!("the call is {}", entry.signature()))
}

/// Sizes, axes or items given one by one, or as the one list that stands for them.
fn gather_varargs<V, S>(mut given: Vec<Arg<V, S>>, kind: ParamKind) -> Option<Arg<V, S>> {
    let whole = |arg: &Arg<V, S>| match kind {
        ParamKind::Items => matches!(arg, Arg::List(_)),
        _ => matches!(arg, Arg::List(_) | Arg::Tensor(_) | Arg::None) || kind == ParamKind::Axes,
    };
    match given.as_slice() {
        [] if kind == ParamKind::Axes => None,
        [] if kind == ParamKind::Sizes => Some(Arg::List(Vec::new())),
        [one] if whole(one) => given.pop(),
        _ => Some(Arg::List(given)),
    }
}

/// Reads integer tensors among sizes: one 1-D tensor for all, or 0-d ones in a list.
fn sizes<E: Engine>(engine: &E, arg: ArgOf<E>, name: &'static str) -> Result<ArgOf<E>> {
    let read = |x: &E::Value, rank: usize| -> Result<Vec<ArgOf<E>>> {
        let (dtype, actual) = (engine.dtype(x), engine.rank(x)?);
        let right = match rank {
            0 => dtype.is_integer(),
            _ => matches!(dtype, DType::I32 | DType::I64),
        };
        if !right {
            return Err(Error::type_(format!(
                "{name} holds a {dtype} tensor, but sizes must be int32 or int64"
            ))
            .at_argument(name)
            .help("use `cast` to int64"));
        }
        if actual > rank {
            let message = format!("{name} holds a tensor of rank {actual}");
            return Err(Error::shape(message)
                .at_argument(name)
                .sizes(rank, actual)
                .help("sizes are numbers, 0-d tensors among numbers, or one 1-D tensor"));
        }
        Ok(engine.read_sizes(x)?.into_iter().map(Arg::Extent).collect())
    };
    match arg {
        Arg::Tensor(x) => Ok(Arg::List(read(&x, 1)?)),
        Arg::List(items) => {
            let mut sizes = Vec::with_capacity(items.len());
            for (at, item) in items.into_iter().enumerate() {
                match item {
                    Arg::Tensor(x) => sizes.extend(read(&x, 0).map_err(|error| error.at_item(at))?),
                    other => sizes.push(other),
                }
            }
            Ok(Arg::List(sizes))
        }
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_operator_is_answered_with_the_nearest() {
        let text = unknown("unflaten").to_string();
        assert!(text.ends_with("help: did you mean `unflatten`?"), "{text}");
        assert!(!unknown("qqqqqqqqqqqq").to_string().contains("did you mean"));
    }
}
