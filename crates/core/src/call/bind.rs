//! How a run-time argument becomes each kind of parameter. Nothing is converted silently: a bool is not a
//! size and a float is not an axis.

use crate::call::Arg;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::params::{
    Axes, Extent, Item, Items, Mode, Pattern, Piece, Place, Scalar, Sizes, Symbol,
};
use crate::size::Size;
use crate::table::ParamKind;

/// A kind of parameter.
pub trait Bind<S>: Sized {
    /// Which kind.
    const KIND: ParamKind;

    /// The parameter from an argument.
    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<Self>;
}

#[cold]
fn wrong<V, S>(arg: &Arg<V, S>, name: &'static str, wanted: &str) -> Error {
    Error::type_(format!(
        "{name} is {}, but {wanted} is needed",
        arg.describe()
    ))
    .at_argument(name)
    .sizes(wanted, arg.kind())
}

fn int<V, S>(arg: &Arg<V, S>, name: &'static str, wanted: &str) -> Result<isize> {
    match arg {
        Arg::Int(n) => isize::try_from(*n).map_err(|_| too_far(name, *n).at_argument(name)),
        other => Err(wrong(other, name, wanted)),
    }
}

#[cold]
fn too_far(name: &str, n: i128) -> Error {
    Error::overflow(format!("{name} is {n}, which no machine can count to"))
}

/// Every item of a list; an error names the place.
fn each<V, S, T, C: FromIterator<T>>(
    items: Vec<Arg<V, S>>,
    name: &'static str,
    wanted: &str,
    one: impl Fn(Arg<V, S>) -> std::result::Result<T, Arg<V, S>>,
) -> Result<C> {
    let item = |(at, item): (usize, Arg<V, S>)| {
        one(item).map_err(|item| {
            let place = format!("{name}[{at}]");
            let error = match item {
                Arg::Int(n) => too_far(&place, n),
                other => Error::type_(format!(
                    "{place} is {}, but {wanted} is needed",
                    other.describe()
                ))
                .sizes(wanted, other.kind()),
            };
            error.at_argument(name).at_item(at)
        })
    };
    items.into_iter().enumerate().map(item).collect()
}

/// A whole number that fits, or the argument back.
fn whole<V, S>(arg: Arg<V, S>) -> std::result::Result<isize, Arg<V, S>> {
    match arg {
        Arg::Int(n) => isize::try_from(n).map_err(|_| arg),
        other => Err(other),
    }
}

impl<S: Size> Bind<S> for isize {
    const KIND: ParamKind = ParamKind::Int;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<isize> {
        int(&arg, name, "an int")
    }
}

impl<S: Size> Bind<S> for usize {
    const KIND: ParamKind = ParamKind::Count;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<usize> {
        let n = int(&arg, name, "an int")?;
        usize::try_from(n).map_err(|_| {
            Error::argument(format!(
                "{name} is {n}, but a number of at least 0 is needed"
            ))
            .at_argument(name)
            .sizes("at least 0", n)
        })
    }
}

impl<S: Size> Bind<S> for bool {
    const KIND: ParamKind = ParamKind::Bool;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<bool> {
        match arg {
            Arg::Bool(b) => Ok(b),
            other => Err(wrong(&other, name, "True or False")),
        }
    }
}

impl<S: Size> Bind<S> for Scalar {
    const KIND: ParamKind = ParamKind::Scalar;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<Scalar> {
        match arg {
            Arg::Bool(b) => Ok(Scalar::Bool(b)),
            Arg::Int(n) => Ok(Scalar::Int(n)),
            Arg::Float(x) => Ok(Scalar::Float(x)),
            Arg::Complex(re, im) => Ok(Scalar::Complex(re, im)),
            other => Err(wrong(&other, name, "a number")),
        }
    }
}

impl<S: Size> Bind<S> for DType {
    const KIND: ParamKind = ParamKind::DType;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<DType> {
        match arg {
            Arg::DType(dtype) => Ok(dtype),
            Arg::Text(word) => word.parse().map_err(|error: Error| error.at_argument(name)),
            other => Err(wrong(&other, name, "a dtype")),
        }
    }
}

macro_rules! optional {
    ($($t:ty => $kind:ident)*) => {$(
        impl<S: Size> Bind<S> for Option<$t> {
            const KIND: ParamKind = ParamKind::$kind;

            fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<Option<$t>> {
                match arg {
                    Arg::None => Ok(None),
                    some => Bind::<S>::bind(some, name).map(Some),
                }
            }
        }
    )*};
}

optional! {
    isize => OptionalInt
    Scalar => OptionalScalar
    DType => OptionalDType
}

impl<S: Size> Bind<S> for Mode {
    const KIND: ParamKind = ParamKind::Mode;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<Mode> {
        let (mode, fill) = match arg {
            Arg::List(pair) => {
                let mut pair = pair.into_iter();
                (
                    pair.next().unwrap_or(Arg::None),
                    pair.next().unwrap_or(Arg::None),
                )
            }
            mode => (mode, Arg::None),
        };
        let fill = Bind::<S>::bind(fill, "fill_value")?;
        match mode {
            Arg::Text(word) => Mode::named(&word, fill),
            other => Err(wrong(&other, name, "a string")),
        }
    }
}

impl<S: Size> Bind<S> for Place {
    const KIND: ParamKind = ParamKind::Place;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<Place> {
        match arg {
            Arg::Text(word) => word.parse(),
            other => Err(wrong(&other, name, "a string")),
        }
    }
}

impl<S: Size> Bind<S> for Axes {
    const KIND: ParamKind = ParamKind::Axes;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<Axes> {
        match arg {
            Arg::None => Ok(Axes::All),
            Arg::List(items) => each(items, name, "an int", whole).map(Axes::These),
            one => int(&one, name, "an axis or a list of axes").map(Axes::One),
        }
    }
}

impl<S: Size> Bind<S> for Sizes<S> {
    const KIND: ParamKind = ParamKind::Sizes;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<Sizes<S>> {
        let items = match arg {
            Arg::List(items) => items,
            Arg::Int(_) | Arg::Extent(_) => vec![arg],
            other => return Err(wrong(&other, name, "a list of ints")),
        };
        each(items, name, "an int", |arg| match arg {
            Arg::Extent(extent) => Ok(extent),
            arg => whole(arg).map(Extent::from),
        })
    }
}

impl<S: Size> Bind<S> for Items {
    const KIND: ParamKind = ParamKind::Items;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<Items> {
        let items = match arg {
            Arg::List(items) => items,
            one => vec![one],
        };
        each(
            items,
            name,
            "an int, a slice, None or `...`",
            |arg| match arg {
                Arg::None => Ok(Item::NewAxis),
                Arg::Rest => Ok(Item::Rest),
                Arg::Range(start, stop, step) => Ok(Item::Range {
                    start,
                    stop,
                    step: step.unwrap_or(1),
                }),
                arg => whole(arg).map(Item::At),
            },
        )
        .map(Items)
        .map_err(|error| match error.report().actual() {
            Some("a list" | "a tensor") => {
                error.help("a list picks slices: use `take` with an axis")
            }
            _ => error,
        })
    }
}

impl<S: Size> Bind<S> for Pattern<S> {
    const KIND: ParamKind = ParamKind::Pattern;

    fn bind<V>(arg: Arg<V, S>, name: &'static str) -> Result<Pattern<S>> {
        let Arg::List(items) = arg else {
            return Err(wrong(&arg, name, "a list"));
        };
        each(
            items,
            name,
            "an int, None, a symbol or `...`",
            |arg| match arg {
                Arg::None => Ok(Piece::Any),
                Arg::Rest => Ok(Piece::Rest),
                Arg::Text(word) => Ok(Piece::Symbol(Symbol::new(&word))),
                Arg::Symbol(symbol) => Ok(Piece::Symbol(symbol)),
                Arg::Extent(Extent::Is(size)) => Ok(Piece::Is(size)),
                arg => whole(arg).map(Piece::from),
            },
        )
        .map(Pattern)
    }
}
