//! How an argument becomes each kind of parameter. Nothing is converted silently: a bool is not a size and a
//! float is not an axis.

use std::borrow::Borrow;

use smallvec::SmallVec;

use crate::call::argument::{Argument, Look};
use crate::call::bound::{Given, What};
use crate::dtype::DType;
use crate::engine::Engine;
use crate::error::Error;
use crate::params::{
    Axes, Extent, Item, Items, Mode, Pattern, Piece, Place, Scalar, Sizes, Symbol,
};
use crate::size::Size;
use crate::table::ParamKind;

/// A kind of parameter.
pub trait Bind<S: Size>: Sized {
    /// Which kind.
    const KIND: ParamKind;

    /// The parameter from what was given.
    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error>;
}

#[cold]
fn wrong<S>(look: &Look<'_, S>, name: &'static str, wanted: &str) -> Error {
    let message = format!("{name} is {}, but {wanted} is needed", look.describe());
    Error::type_(message)
        .at_argument(name)
        .sizes(wanted, look.kind())
}

#[cold]
fn wrong_item<S>(look: &Look<'_, S>, name: &'static str, at: usize, wanted: &str) -> Error {
    let place = format!("{name}[{at}]");
    let error = match look {
        Look::Int(n) => too_far(&place, *n),
        _ => Error::type_(format!(
            "{place} is {}, but {wanted} is needed",
            look.describe()
        ))
        .sizes(wanted, look.kind()),
    };
    error.at_argument(name).at_item(at)
}

#[cold]
fn too_far(name: &str, n: i128) -> Error {
    Error::overflow(format!("{name} is {n}, which no machine can count to"))
}

/// A whole number that fits: an int, or a 0-d integer tensor whose value is known. `None` for anything else.
#[inline]
fn whole<E: Engine, A: Argument<E>>(
    engine: &E,
    look: &Look<'_, E::Size>,
    arg: &A,
) -> Result<Option<isize>, A::Error> {
    match look {
        Look::Int(n) => Ok(isize::try_from(*n).ok()),
        Look::Tensor => match only::<E, A>(engine, arg)? {
            Some(extent) => Ok(Some(number(&extent)?)),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

/// What stands in a 0-d integer tensor; `None` for any other.
fn only<E: Engine, A: Argument<E>>(
    engine: &E,
    arg: &A,
) -> Result<Option<Extent<E::Size>>, A::Error> {
    let x = arg.tensor()?;
    let x = x.borrow();
    match engine.rank(x)? == 0 && engine.dtype(x).is_integer() {
        true => Ok(Some(engine.read_size(x)?)),
        false => Ok(None),
    }
}

/// The number that was read from a tensor, if it is known.
fn number<S: Size>(extent: &Extent<S>) -> Result<isize, Error> {
    let known = match extent {
        Extent::Is(size) => size.known().and_then(|size| isize::try_from(size).ok()),
        Extent::Infer => Some(-1),
        Extent::Negative(n) => Some(*n),
    };
    known.ok_or_else(|| {
        Error::too_early(format!(
            "a number is read from a tensor that holds {extent}, which is only known when the graph runs"
        ))
    })
}

/// The numbers in a 1-D integer tensor; `None` for any other.
fn numbers<E: Engine, A: Argument<E>>(
    engine: &E,
    arg: &A,
) -> Result<Option<SmallVec<[isize; 8]>>, A::Error> {
    let x = arg.tensor()?;
    let x = x.borrow();
    match engine.rank(x)? == 1 && engine.dtype(x).is_integer() {
        true => {
            let numbers = engine
                .read_sizes(x)?
                .iter()
                .map(number)
                .collect::<Result<_, _>>();
            Ok(Some(numbers?))
        }
        false => Ok(None),
    }
}

/// One whole number.
#[inline(always)]
fn int<E: Engine, A: Argument<E>>(
    given: &Given<'_, E, A>,
    kind: ParamKind,
    wanted: &str,
) -> Result<isize, A::Error> {
    match given.what {
        What::Default("0") => return Ok(0),
        What::Default("-1") => return Ok(-1),
        _ => {}
    }
    match given.plain_number() {
        Some(n) => Ok(n),
        None => other_int(given, kind, wanted),
    }
}

/// One whole number that is no plain one.
#[inline(never)]
fn other_int<E: Engine, A: Argument<E>>(
    given: &Given<'_, E, A>,
    kind: ParamKind,
    wanted: &str,
) -> Result<isize, A::Error> {
    let look = given.look(kind)?;
    let n = match (given.what, &look) {
        (What::One(arg), look) => whole(given.engine, look, arg)?,
        (_, Look::Int(n)) => isize::try_from(*n).ok(),
        _ => None,
    };
    match (n, look) {
        (Some(n), _) => Ok(n),
        (None, Look::Int(n)) => Err(too_far(given.name, n).at_argument(given.name).into()),
        (None, look) => Err(wrong(&look, given.name, wanted).into()),
    }
}

impl<S: Size> Bind<S> for isize {
    const KIND: ParamKind = ParamKind::Int;

    #[inline(always)]
    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        int(&given, ParamKind::Int, "an int")
    }
}

impl<S: Size> Bind<S> for usize {
    const KIND: ParamKind = ParamKind::Count;

    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        let (n, name) = (int(&given, ParamKind::Count, "an int")?, given.name);
        usize::try_from(n).map_err(|_| {
            let message = format!("{name} is {n}, but a number of at least 0 is needed");
            let error = Error::argument(message).at_argument(name);
            error.sizes("at least 0", n).into()
        })
    }
}

impl<S: Size> Bind<S> for bool {
    const KIND: ParamKind = ParamKind::Bool;

    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        match given.look(ParamKind::Bool)? {
            Look::Bool(b) => Ok(b),
            other => Err(wrong(&other, given.name, "True or False").into()),
        }
    }
}

fn scalar<S>(look: Look<'_, S>, name: &'static str) -> Result<Scalar, Error> {
    match look {
        Look::Bool(b) => Ok(Scalar::Bool(b)),
        Look::Int(n) => Ok(Scalar::Int(n)),
        Look::Float(x) => Ok(Scalar::Float(x)),
        Look::Complex(re, im) => Ok(Scalar::Complex(re, im)),
        other => Err(wrong(&other, name, "a number")),
    }
}

impl<S: Size> Bind<S> for Scalar {
    const KIND: ParamKind = ParamKind::Scalar;

    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        Ok(scalar(given.look(ParamKind::Scalar)?, given.name)?)
    }
}

impl<S: Size> Bind<S> for DType {
    const KIND: ParamKind = ParamKind::DType;

    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        let name = given.name;
        match given.look(ParamKind::DType)? {
            Look::DType(dtype) => Ok(dtype),
            Look::Text(word) => Ok(word
                .parse()
                .map_err(|error: Error| error.at_argument(name))?),
            other => Err(wrong(&other, name, "a dtype").into()),
        }
    }
}

macro_rules! optional {
    ($($t:ty => $kind:ident)*) => {$(
        impl<S: Size> Bind<S> for Option<$t> {
            const KIND: ParamKind = ParamKind::$kind;

            #[inline(always)]
            fn bind<E: Engine<Size = S>, A: Argument<E>>(
                given: Given<'_, E, A>,
            ) -> Result<Self, A::Error> {
                match given.what {
                    What::Default("None") => Ok(None),
                    _ => unless_none(given, ParamKind::$kind),
                }
            }
        }
    )*};
}

/// What was given, unless that is `None`.
#[inline(never)]
fn unless_none<T: Bind<S>, S: Size, E: Engine<Size = S>, A: Argument<E>>(
    given: Given<'_, E, A>,
    kind: ParamKind,
) -> Result<Option<T>, A::Error> {
    match given.look(kind)? {
        Look::None => Ok(None),
        _ => T::bind(given).map(Some),
    }
}

optional! {
    isize => OptionalInt
    Scalar => OptionalScalar
    DType => OptionalDType
}

/// The usual mode, as a whole: a mode is large, and one of which only the tag was written has to be waited for when all
/// of it is moved.
static RAISE: Mode = Mode::Raise;

impl<S: Size> Bind<S> for Mode {
    const KIND: ParamKind = ParamKind::Mode;

    #[inline(always)]
    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        // Neither was given.
        if let (What::Default("raise"), What::Default(_)) = (given.what, given.fill) {
            return Ok(*std::hint::black_box(&RAISE));
        }
        other_mode(given)
    }
}

#[inline(never)]
fn other_mode<S: Size, E: Engine<Size = S>, A: Argument<E>>(
    given: Given<'_, E, A>,
) -> Result<Mode, A::Error> {
    let fill = Bind::<S>::bind(Given {
        name: "fill_value",
        what: given.fill,
        ..given
    })?;
    if let What::Default(word) = given.what {
        return Ok(Mode::named(word, fill)?);
    }
    match given.look(ParamKind::Mode)? {
        Look::Text(word) => Ok(Mode::named(word, fill)?),
        other => Err(wrong(&other, given.name, "a string").into()),
    }
}

impl<S: Size> Bind<S> for Place {
    const KIND: ParamKind = ParamKind::Place;

    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        match given.look(ParamKind::Place)? {
            Look::Text(word) => Ok(word.parse()?),
            other => Err(wrong(&other, given.name, "a string").into()),
        }
    }
}

impl<S: Size> Bind<S> for Axes {
    const KIND: ParamKind = ParamKind::Axes;

    #[inline(always)]
    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        if let What::Default("None") = given.what {
            return Ok(Axes::All);
        }
        if let Some(axis) = given.plain_number() {
            return Ok(Axes::One(axis));
        }
        let mut axes = SmallVec::new();
        match given.plain_numbers(&mut axes) {
            true => Ok(Axes::These(axes)),
            false => other_axes(given),
        }
    }
}

/// Axes that are not all plain numbers.
#[inline(never)]
fn other_axes<E: Engine, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Axes, A::Error> {
    let look = given.look(ParamKind::Axes)?;
    if let (Look::Tensor, What::One(arg)) = (&look, given.what)
        && let Some(axes) = numbers(given.engine, arg)?
    {
        return Ok(Axes::These(axes));
    }
    match look {
        Look::None => Ok(Axes::All),
        Look::List => {
            let mut axes = SmallVec::new();
            given.each(|at, arg| {
                let look = arg.look(ParamKind::Axes)?;
                match whole(given.engine, &look, arg)? {
                    Some(axis) => axes.push(axis),
                    None => return Err(wrong_item(&look, given.name, at, "an int").into()),
                }
                Ok(())
            })?;
            Ok(Axes::These(axes))
        }
        _ => int(&given, ParamKind::Axes, "an axis or a list of axes").map(Axes::One),
    }
}

impl<S: Size> Bind<S> for Sizes<S> {
    const KIND: ParamKind = ParamKind::Sizes;

    #[inline(always)]
    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        let mut numbers = SmallVec::new();
        match given.plain_numbers(&mut numbers) {
            true => Ok(Sizes::of_numbers(&numbers)),
            false => other_sizes(given),
        }
    }
}

/// Sizes that are not all plain numbers.
#[inline(never)]
fn other_sizes<S: Size, E: Engine<Size = S>, A: Argument<E>>(
    given: Given<'_, E, A>,
) -> Result<Sizes<S>, A::Error> {
    let (engine, name) = (given.engine, given.name);
    match (given.look(ParamKind::Sizes)?, given.what) {
        (Look::List, _) => {
            let mut numbers: SmallVec<[isize; 8]> = SmallVec::new();
            let mut others: Vec<Extent<S>> = Vec::new();
            given.each(|at, arg| {
                let extent = match arg.look(ParamKind::Sizes)? {
                    Look::Int(n) if others.is_empty() && isize::try_from(n).is_ok() => {
                        numbers.push(n as isize);
                        return Ok(());
                    }
                    look => one_size(engine, look, arg, name, at)?,
                };
                // What is no plain number takes the numbers before it along.
                others.extend(numbers.drain(..).map(Extent::from));
                others.push(extent);
                Ok(())
            })?;
            Ok(match others.is_empty() {
                true => Sizes::from(numbers.as_slice()),
                false => others.into_iter().collect(),
            })
        }
        (Look::Int(n), _) => match isize::try_from(n) {
            Ok(n) => Ok(n.into()),
            Err(_) => Err(wrong_item(&Look::<S>::Int(n), name, 0, "an int").into()),
        },
        (Look::Extent(extent), _) => Ok([extent.clone()].into_iter().collect()),
        (Look::Symbol(symbol), _) => match engine.meaning(symbol) {
            Some(size) => Ok([Extent::Is(size)].into_iter().collect()),
            None => Err(undeclared(symbol, name).into()),
        },
        (Look::Tensor, What::One(arg)) => {
            let extents = read_sizes(engine, arg.tensor()?.borrow(), 1, name)?;
            Ok(extents.into_iter().collect())
        }
        (other, _) => Err(wrong(&other, name, "a list of ints").into()),
    }
}

/// A symbol among sizes that stands for none.
#[cold]
fn undeclared(symbol: &Symbol, name: &'static str) -> Error {
    Error::type_(format!(
        "{name} holds the symbol {symbol}, which stands for no size here"
    ))
    .at_argument(name)
    .help("symbols are sizes in a graph with an input whose shape has them")
}

fn one_size<E: Engine, A: Argument<E>>(
    engine: &E,
    look: Look<'_, E::Size>,
    arg: &A,
    name: &'static str,
    at: usize,
) -> Result<Extent<E::Size>, A::Error> {
    match look {
        Look::Extent(extent) => Ok(extent.clone()),
        Look::Symbol(symbol) => match engine.meaning(symbol) {
            Some(size) => Ok(Extent::Is(size)),
            None => Err(undeclared(symbol, name).at_item(at).into()),
        },
        Look::Int(n) if isize::try_from(n).is_ok() => Ok(Extent::from(n as isize)),
        Look::Tensor => {
            let read = read_sizes(engine, arg.tensor()?.borrow(), 0, name);
            let mut read = read.map_err(|error| A::Error::from(error.at_item(at)))?;
            match read.pop() {
                Some(size) => Ok(size),
                None => Err(wrong_item(&look, name, at, "an int").into()),
            }
        }
        other => Err(wrong_item(&other, name, at, "an int").into()),
    }
}

/// Reads an integer tensor among sizes: a 1-D one for all, or a 0-d one in a list.
fn read_sizes<E: Engine>(
    engine: &E,
    x: &E::Value,
    rank: usize,
    name: &'static str,
) -> Result<Vec<Extent<E::Size>>, Error> {
    let dtype = engine.dtype(x);
    let actual = match engine.rank(x) {
        // A whole list may be read as it turns out to be, and is then looked at again.
        Err(Error::TooEarly(_)) => rank,
        known => known?,
    };
    let right = match rank {
        0 => dtype.is_integer(),
        _ => matches!(dtype, DType::I32 | DType::I64),
    };
    if !right {
        let message = format!("{name} holds a {dtype} tensor, but sizes must be int32 or int64");
        return Err(Error::type_(message)
            .at_argument(name)
            .help("use `cast` to int64"));
    }
    if actual > rank {
        return Err(
            Error::shape(format!("{name} holds a tensor of rank {actual}"))
                .at_argument(name)
                .sizes(rank, actual)
                .help("sizes are numbers, 0-d tensors among numbers, or one 1-D tensor"),
        );
    }
    match rank {
        0 => Ok(vec![engine.read_size(x)?]),
        _ => engine.read_sizes(x),
    }
}

impl<S: Size> Bind<S> for Items {
    const KIND: ParamKind = ParamKind::Items;

    #[inline]
    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        let (engine, name) = (given.engine, given.name);
        let mut items = SmallVec::new();
        let one = |at: usize, arg: &A| -> Result<(), A::Error> {
            if let Some(n) = arg.plain_number() {
                items.push(Item::At(n));
                return Ok(());
            }
            let look = arg.look(ParamKind::Items)?;
            items.push(match look {
                Look::None => Item::NewAxis,
                Look::Rest => Item::Rest,
                Look::Range(start, stop, step) => Item::Range {
                    start,
                    stop,
                    step: step.unwrap_or(1),
                },
                _ => match whole(engine, &look, arg)? {
                    Some(n) => Item::At(n),
                    None => {
                        let error = wrong_item(&look, name, at, "an int, a slice, None or `...`");
                        return Err(match look {
                            Look::List | Look::Tensor => {
                                error.help("a list picks slices: use `take` with an axis")
                            }
                            _ => error,
                        }
                        .into());
                    }
                },
            });
            Ok(())
        };
        match (given.look(ParamKind::Items)?, given.what) {
            (Look::List, _) => given.each(one)?,
            (_, What::One(arg)) => {
                let mut one = one;
                one(0, arg)?;
            }
            _ => {}
        }
        Ok(Items(items))
    }
}

impl<S: Size> Bind<S> for Pattern<S> {
    const KIND: ParamKind = ParamKind::Pattern;

    #[inline]
    fn bind<E: Engine<Size = S>, A: Argument<E>>(given: Given<'_, E, A>) -> Result<Self, A::Error> {
        let (engine, name) = (given.engine, given.name);
        let look = given.look(ParamKind::Pattern)?;
        if !matches!(look, Look::List) {
            return Err(wrong(&look, name, "a list").into());
        }
        let mut pieces = SmallVec::new();
        let wanted = "an int, None, a symbol or `...`";
        given.each(|at, arg| {
            let look = arg.look(ParamKind::Pattern)?;
            pieces.push(match look {
                Look::None => Piece::Any,
                Look::Rest => Piece::Rest,
                Look::Text(word) => Piece::Symbol(Symbol::new(word)),
                Look::Symbol(symbol) => Piece::Symbol(symbol.clone()),
                Look::Extent(Extent::Is(size)) => Piece::Is(size.clone()),
                Look::Tensor => match only::<E, A>(engine, arg)? {
                    Some(Extent::Is(size)) => Piece::Is(size),
                    Some(Extent::Infer) => Piece::Negative(-1),
                    Some(Extent::Negative(n)) => Piece::Negative(n),
                    None => return Err(wrong_item(&look, name, at, wanted).into()),
                },
                _ => match whole(engine, &look, arg)? {
                    Some(n) => Piece::from(n),
                    None => return Err(wrong_item(&look, name, at, wanted).into()),
                },
            });
            Ok(())
        })?;
        Ok(Pattern(pieces))
    }
}
