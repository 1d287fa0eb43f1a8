//! The arguments of a call, matched to the parameters of its operator by Python's rules.

use std::borrow::Borrow;

use smallvec::SmallVec;

use crate::call::argument::{Argument, Failure, Look};
use crate::call::{Bind, literal};
use crate::engine::Engine;
use crate::error::Error;
use crate::operators::TABLE;
use crate::size::counted;
use crate::table::{Arity, Entry, ParamKind};

/// What stands for a parameter in a call.
#[derive(Debug)]
pub(crate) enum What<'g, A> {
    /// One argument.
    One(&'g A),
    /// Sizes, axes or items given one by one.
    Rest(&'g [A]),
    /// Nothing: the table's default.
    Default(&'static str),
}

impl<A> Clone for What<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for What<'_, A> {}

/// What stands for a parameter, with all that is needed to read it.
pub struct Given<'g, E, A> {
    pub(crate) engine: &'g E,
    pub(crate) name: &'static str,
    pub(crate) what: What<'g, A>,
    /// The `fill_value` that goes with a mode.
    pub(crate) fill: What<'g, A>,
}

impl<'g, E: Engine, A: Argument<E>> Given<'g, E, A> {
    /// One argument for the parameter of that name.
    pub fn one(engine: &'g E, name: &'static str, arg: &'g A) -> Given<'g, E, A> {
        Given {
            engine,
            name,
            what: What::One(arg),
            fill: What::Default("None"),
        }
    }

    /// What it is.
    #[inline]
    pub(crate) fn look(&self, wanted: ParamKind) -> Result<Look<'g, E::Size>, A::Error> {
        match self.what {
            What::One(arg) => arg.look(wanted),
            What::Rest(_) => Ok(Look::List),
            What::Default(text) => Ok(Look::at_default(text)),
        }
    }

    /// The short way to one whole number.
    #[inline(always)]
    pub(crate) fn plain_number(&self) -> Option<isize> {
        match self.what {
            What::One(arg) => arg.plain_number(),
            _ => None,
        }
    }

    /// The short way to a list of whole numbers, which are added; otherwise says so.
    #[inline(always)]
    pub(crate) fn plain_numbers(&self, into: &mut SmallVec<[isize; 8]>) -> bool {
        match self.what {
            What::One(list) => list.plain_numbers(into),
            What::Rest(args) => {
                for arg in args {
                    match arg.plain_number() {
                        Some(number) => into.push(number),
                        None => return false,
                    }
                }
                true
            }
            What::Default(_) => false,
        }
    }

    /// Its items in order: those of a list, or arguments given one by one.
    #[inline]
    pub(crate) fn each(
        &self,
        mut one: impl FnMut(usize, &A) -> Result<(), A::Error>,
    ) -> Result<(), A::Error> {
        match self.what {
            What::One(list) => {
                let mut items = list.items().enumerate();
                items.try_for_each(|(at, item)| one(at, item.borrow()))
            }
            What::Rest(args) => {
                let mut items = args.iter().enumerate();
                items.try_for_each(|(at, item)| one(at, item))
            }
            What::Default(_) => Ok(()),
        }
    }
}

/// No operator has more parameters, not counting the `fill_value` that goes with a mode.
const MOST: usize = 5;

const _: () = {
    let mut line = 0;
    while line < TABLE.len() {
        assert!(TABLE[line].params.len() <= MOST);
        line += 1;
    }
};

/// The arguments of a call. Parameters are read in the table's order.
pub struct Bound<'g, E, A> {
    engine: &'g E,
    entry: &'static Entry,
    tensors: Option<What<'g, A>>,
    /// Those given by position, one for each parameter from the first on, where they are not all one list.
    placed: &'g [A],
    /// Those given otherwise: one for each parameter, and the last for a `fill_value`.
    slots: [Option<What<'g, A>>; MOST + 1],
    next: usize,
}

impl<'g, E: Engine, A: Argument<E>> Bound<'g, E, A> {
    /// No arguments yet.
    #[inline(always)]
    pub fn new(engine: &'g E, entry: &'static Entry) -> Bound<'g, E, A> {
        Bound {
            engine,
            entry,
            tensors: None,
            placed: &[],
            slots: [None; MOST + 1],
            next: 0,
        }
    }

    /// Matches arguments to parameters; one too many, one missing or an unknown name is an error.
    #[inline(always)]
    pub fn fill<N: AsRef<str>>(
        &mut self,
        positional: &'g [A],
        named: &'g [(N, A)],
    ) -> Result<(), A::Error> {
        let entry = self.entry;
        let (tensors, given) = tensors(entry.arity, positional)?;
        self.tensors = tensors;
        match entry.params {
            [only] if entry.is_variadic() => {
                let named = || named.iter().any(|(name, _)| name.as_ref() == only.name);
                self.slots[0] = match given {
                    [] if only.kind == ParamKind::Axes || named() => None,
                    [one] if is_whole::<E, A>(one, only.kind)? => Some(What::One(one)),
                    several => Some(What::Rest(several)),
                };
            }
            _ if given.len() > self.most() => {
                let message = format!(
                    "{} beside the tensor, but the operator takes {}",
                    counted(given.len(), "argument"),
                    self.most()
                );
                return Err(signature(Error::type_(message), entry).into());
            }
            _ => self.placed = given,
        }
        for (name, arg) in named {
            self.name(name.as_ref(), arg)?;
        }
        Ok(())
    }

    /// How many arguments there can be by position.
    fn most(&self) -> usize {
        self.entry.params.len() + usize::from(self.entry.has_fill_value())
    }

    fn name(&mut self, name: &str, arg: &'g A) -> Result<(), Error> {
        let entry = self.entry;
        let twice = |place: &'static str| {
            let error = Error::type_(format!("{name} is given twice")).at_argument(place);
            Err(signature(error, entry))
        };
        if name == entry.receiver && entry.arity != Arity::None {
            if self.tensors.is_some() {
                return twice(entry.receiver);
            }
            self.tensors = Some(What::One(arg));
            return Ok(());
        }
        let at = match entry.params.iter().position(|p| p.name == name) {
            Some(at) => at,
            None if name == "fill_value" && entry.has_fill_value() => entry.params.len(),
            None => {
                let message = format!("there is no argument `{name}`");
                return Err(signature(Error::type_(message), entry));
            }
        };
        if self.slots[at].is_some() || at < self.placed.len() {
            return twice(entry.params.get(at).map_or("fill_value", |p| p.name));
        }
        self.slots[at] = Some(What::One(arg));
        Ok(())
    }

    /// The line of the table.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The tensor the operator is called on.
    #[inline(always)]
    pub fn receiver(&mut self) -> Result<A::Tensor, A::Error> {
        match self.tensors {
            Some(What::One(arg)) => literal(self.engine, arg, self.entry.receiver),
            Some(What::Rest([arg, ..])) => literal(self.engine, arg, self.entry.receiver),
            _ => Err(self.missing(self.entry.receiver).into()),
        }
    }

    /// The tensors the operator is called on.
    #[inline]
    pub fn receivers(&mut self) -> Result<SmallVec<[A::Tensor; 1]>, A::Error> {
        let mut tensors = SmallVec::new();
        let mut add = |arg: &A| -> Result<(), A::Error> {
            tensors.push(literal(self.engine, arg, self.entry.receiver)?);
            Ok(())
        };
        match (self.tensors, self.entry.arity) {
            (Some(What::One(list)), Arity::Many)
                if matches!(list.look(ParamKind::Tensor)?, Look::List) =>
            {
                for item in list.items() {
                    add(item.borrow())?;
                }
            }
            (Some(What::One(arg)), _) => add(arg)?,
            (Some(What::Rest(args)), _) => args.iter().try_for_each(add)?,
            (None | Some(What::Default(_)), _) => {}
        }
        Ok(tensors)
    }

    /// The next parameter, which is a tensor.
    #[inline(always)]
    pub fn tensor(&mut self) -> Result<A::Tensor, A::Error> {
        let given = self.given()?;
        match given.what {
            What::One(arg) => literal(self.engine, arg, given.name),
            _ => Err(self.missing(given.name).into()),
        }
    }

    /// The next parameter, which is not a tensor.
    #[inline(always)]
    pub fn take<T: Bind<E::Size>>(&mut self) -> Result<T, A::Error> {
        let given = self.given()?;
        let entry = self.entry;
        T::bind(given).map_err(|failure| {
            failure.edit(|error| match error {
                Error::Type(_) if error.report().fix().is_none() => signature(error, entry),
                error => error,
            })
        })
    }

    /// What was given for a parameter.
    #[inline(always)]
    fn slot(&self, at: usize) -> Option<What<'g, A>> {
        match self.placed.get(at) {
            Some(arg) => Some(What::One(arg)),
            None => self.slots[at],
        }
    }

    #[inline(always)]
    fn given(&mut self) -> Result<Given<'g, E, A>, Error> {
        let at = self.next;
        self.next += 1;
        let Some(param) = self.entry.params.get(at) else {
            return Err(Error::argument("the operator reads more than it takes"));
        };
        let fill = self.slot(self.entry.params.len());
        match (self.slot(at), param.default) {
            (Some(what), _) => Ok(what),
            (None, Some(default)) => Ok(What::Default(default)),
            (None, None) => Err(self.missing(param.name)),
        }
        .map(|what| Given {
            engine: self.engine,
            name: param.name,
            what,
            fill: fill.unwrap_or(What::Default("None")),
        })
    }

    #[cold]
    fn missing(&self, name: &'static str) -> Error {
        let error = Error::type_(format!("{name} is missing")).at_argument(name);
        signature(error, self.entry)
    }
}

/// The tensors at the front of the arguments, and what is left.
#[inline(always)]
#[allow(clippy::type_complexity)]
fn tensors<'g, E: Engine, A: Argument<E>>(
    arity: Arity,
    args: &'g [A],
) -> Result<(Option<What<'g, A>>, &'g [A]), A::Error> {
    Ok(match (arity, args) {
        (Arity::None, _) => (None, args),
        (Arity::Each, _) => ((!args.is_empty()).then_some(What::Rest(args)), &[]),
        (_, []) => (None, args),
        (Arity::One, [first, rest @ ..]) => (Some(What::One(first)), rest),
        (Arity::Many, [first, rest @ ..]) => {
            if matches!(first.look(ParamKind::Tensor)?, Look::List) {
                return Ok((Some(What::One(first)), rest));
            }
            let mut count = 0;
            for arg in args {
                match arg.look(ParamKind::Tensor)? {
                    Look::Tensor => count += 1,
                    _ => break,
                }
            }
            // Whatever else stands first was meant as the tensors, and is refused as such.
            let (tensors, rest) = args.split_at(count.max(1));
            (Some(What::Rest(tensors)), rest)
        }
    })
}

/// Whether one argument stands for all sizes, axes or items.
#[inline]
fn is_whole<E: Engine, A: Argument<E>>(arg: &A, kind: ParamKind) -> Result<bool, A::Error> {
    if kind == ParamKind::Axes {
        return Ok(true);
    }
    if arg.plain_number().is_some() {
        return Ok(false);
    }
    Ok(match arg.look(kind)? {
        Look::List => true,
        Look::Tensor | Look::None => kind == ParamKind::Sizes,
        _ => false,
    })
}

#[cold]
fn signature(error: Error, entry: &Entry) -> Error {
    error.help(format!("the call is {}", entry.signature()))
}
