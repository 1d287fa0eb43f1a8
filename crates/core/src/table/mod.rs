//! The operator table: what a line of it says, and the macro that turns the lines into data, methods,
//! functions and the call by name.

mod signature;

pub use signature::{How, PythonParam, Role, python_parts};

/// What happens to the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Never moves data: the result shares the input's storage.
    View,
    /// A view where strides allow, otherwise a copy.
    ViewOrCopy,
    /// The result has storage of its own.
    Copy,
    /// There is no input.
    Make,
}

/// How many tensors come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// One: the operator is a method.
    One,
    /// Any number, each for itself: the operator is a method.
    Each,
    /// A list of them, together.
    Many,
    /// None: the tensor is made from nothing.
    None,
}

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A tensor.
    Tensor,
    /// A list of sizes.
    Sizes,
    /// A list of axes, one axis, or all.
    Axes,
    /// A whole number, such as an axis.
    Int,
    /// A whole number of at least 0.
    Count,
    /// A whole number or `None`.
    OptionalInt,
    /// True or false.
    Bool,
    /// One number.
    Scalar,
    /// One number or `None`.
    OptionalScalar,
    /// An element type.
    DType,
    /// An element type or `None`.
    OptionalDType,
    /// The treatment of indices outside; brings `fill_value` along.
    Mode,
    /// A side for new axes.
    Place,
    /// What stands between the brackets of an index.
    Items,
    /// A shape pattern.
    Pattern,
}

/// One parameter of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ParamKind,
    /// The default, as Python writes it; none for a required one.
    pub default: Option<&'static str>,
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The operator's name, everywhere.
    pub name: &'static str,
    /// What happens to the data.
    pub kind: Kind,
    /// How many tensors come first.
    pub arity: Arity,
    /// One sentence on what it does.
    pub summary: &'static str,
    /// The name of the first tensor or list of tensors; empty for none.
    pub receiver: &'static str,
    /// The other parameters, in order.
    pub params: &'static [Param],
}

/// What an operator called by name returns.
#[derive(Clone, Debug)]
pub enum Outcome<V, S> {
    /// A tensor.
    One(V),
    /// Several tensors.
    Many(Vec<V>),
    /// A tensor, and the sizes its shape was found to have.
    Checked((V, crate::operators::Dims<S>)),
}

/// What runs a line of the table on an engine.
pub(crate) type Call<E, A> =
    fn(
        &E,
        &mut crate::call::Bound<'_, E, A>,
    )
        -> Result<<A as crate::call::Argument<E>>::Output, <A as crate::call::Argument<E>>::Error>;

macro_rules! operator_table {
    (
        on each {$(
            #[doc = $edoc:literal]
            $ekind:ident $ename:ident($ex:ident) = $efile:ident::$eop:ident {} ($einput:ident);
        )*}
        on one {$(
            #[doc = $doc:literal]
            $kind:ident $name:ident($x:ident $(, $p:ident: $t:ident $(<$g:ident>)? $(= $default:literal)?)*)
                $(-> $out:ident)? = $file:ident::$op:ident $(<$s:ident>)? { $($field:ident),* } ($($input:ident),*);
        )*}
        on many {$(
            #[doc = $mdoc:literal]
            $mkind:ident $mname:ident($mx:ident $(, $mp:ident: $mt:ident $(<$mg:ident>)? $(= $mdefault:literal)?)*)
                = $mfile:ident::$mop:ident { $($mfield:ident),* };
        )*}
        on none {$(
            #[doc = $ndoc:literal]
            $nkind:ident $nname:ident($($np:ident: $nt:ident $(<$ng:ident>)? $(= $ndefault:literal)?),*)
                = $nfile:ident::$nop:ident $(<$ns:ident>)? { $($nfield:ident),* };
        )*}
    ) => {
        $(impl crate::operator::Named for $efile::$eop {
            const NAME: &'static str = stringify!($ename);
        })*
        $(impl $(<$s: crate::size::Size>)? crate::operator::Named for $file::$op $(<$s>)? {
            const NAME: &'static str = stringify!($name);
        })*
        $(impl crate::operator::Named for $mfile::$mop {
            const NAME: &'static str = stringify!($mname);
        })*
        $(impl $(<$ns: crate::size::Size>)? crate::operator::Named for $nfile::$nop $(<$ns>)? {
            const NAME: &'static str = stringify!($nname);
        })*

        $(crate::table::written! { $efile::$eop {} })*
        $(crate::table::written! { $file::$op $(<$s>)? { $($field)* } })*
        $(crate::table::written! { $mfile::$mop { $($mfield)* } })*
        $(crate::table::written! { $nfile::$nop $(<$ns>)? { $($nfield)* } })*

        /// The table: every operator there is.
        pub static TABLE: &[crate::table::Entry] = {
            #[allow(unused_imports)]
            use crate::{dtype::*, params::*, table::*};
            type S = usize;
            &[
                $(Entry {
                    name: stringify!($ename),
                    kind: Kind::$ekind,
                    arity: Arity::Each,
                    summary: $edoc.trim_ascii(),
                    receiver: stringify!($ex),
                    params: &[],
                },)*
                $(Entry {
                    name: stringify!($name),
                    kind: Kind::$kind,
                    arity: Arity::One,
                    summary: $doc.trim_ascii(),
                    receiver: stringify!($x),
                    params: &[$(crate::table::param!($p $t $($g)? $(= $default)?)),*],
                },)*
                $(Entry {
                    name: stringify!($mname),
                    kind: Kind::$mkind,
                    arity: Arity::Many,
                    summary: $mdoc.trim_ascii(),
                    receiver: stringify!($mx),
                    params: &[$(crate::table::param!($mp $mt $($mg)? $(= $mdefault)?)),*],
                },)*
                $(Entry {
                    name: stringify!($nname),
                    kind: Kind::$nkind,
                    arity: Arity::None,
                    summary: $ndoc.trim_ascii(),
                    receiver: "",
                    params: &[$(crate::table::param!($np $nt $($ng)? $(= $ndefault)?)),*],
                },)*
            ]
        };

        mod methods {
            use crate::engine::{Engine, SizeOf, Value};
            use crate::error::Result;
            use crate::operator::Operator;
            use crate::params::*;
            use crate::{dtype::DType, size::Size};
            use super::*;

            /// Every operator as a method, on the tensors of every engine.
            pub trait Methods<S: Size>: Value<Engine: Engine<Size = S>> {
                $(
                    #[doc = $edoc]
                    #[inline]
                    fn $ename(&self) -> Result<Self> {
                        self.engine().apply(&$efile::$eop {}, &[self])
                    }
                )*
                $(
                    #[doc = $doc]
                    #[inline]
                    fn $name(&self $(, $p: crate::table::argument!($t $($g)?))*)
                        -> Result<crate::table::output!($file $op $($s)? $(-> $out)?)>
                    {
                        let $x = self;
                        self.engine().apply(&$file::$op { $($field: $field.into()),* }, &[$($input),*])
                    }
                )*
            }

            impl<V: Value> Methods<SizeOf<V>> for V {}

            $(
                #[doc = $mdoc]
                pub fn $mname<V: Value>($mx: &[&V] $(, $mp: crate::table::argument!($mt $($mg)?))*) -> Result<V> {
                    let operator = $mfile::$mop { $($mfield: $mfield.into()),* };
                    match $mx.first() {
                        Some(first) => first.engine().apply(&operator, $mx),
                        None => Err(crate::error::Error::argument("no tensors were given")
                            .at_argument(stringify!($mx))
                            .help("give at least one")
                            .within(stringify!($mname))),
                    }
                }
            )*
        }
        pub use methods::Methods;
        $(pub use methods::$mname;)*

        /// Operators that make a tensor from nothing, on a given engine.
        pub mod make {
            use crate::engine::Engine;
            use crate::error::Result;
            use crate::params::*;
            use crate::dtype::DType;
            use super::*;

            $(
                #[doc = $ndoc]
                pub fn $nname<S: crate::size::Size, E: Engine<Size = S>>(
                    engine: &E $(, $np: crate::table::argument!($nt $($ng)?))*
                ) -> Result<E::Value> {
                    engine.apply(&$nfile::$nop { $($nfield: $nfield.into()),* }, &[])
                }
            )*
        }

        /// What runs each line of the table, in order, once its arguments are matched.
        struct Calls<E, A>(std::marker::PhantomData<(E, A)>);

        impl<S: crate::size::Size, E: crate::engine::Engine<Size = S>, A: crate::call::Argument<E>> Calls<E, A> {
            const TABLE: [crate::table::Call<E, A>; TABLE.len()] = [
                $(calls::$ename,)*
                $(calls::$name,)*
                $(calls::$mname,)*
                $(calls::$nname,)*
            ];
        }

        // Errors get their operator's name in `call_at`: whoever looks at a result here moves it, and it is large.
        mod calls {
            use std::borrow::Borrow;

            use crate::call::{Argument, Bound};
            use crate::dtype::DType;
            use crate::engine::Engine;
            use crate::params::*;
            use crate::size::Size;
            use crate::table::{Kind, bind, outcome};
            use super::*;

            $(#[inline(always)]
            pub(super) fn $ename<S: Size, E: Engine<Size = S>, A: Argument<E>>(
                engine: &E,
                bound: &mut Bound<'_, E, A>,
            ) -> Result<A::Output, A::Error> {
                let tensors = bound.receivers()?;
                if let [only] = tensors.as_slice() {
                    let inputs = [only.borrow()];
                    let work = || engine.run(&$efile::$eop {}, &inputs);
                    return A::one(Kind::$ekind, &inputs, work, Some(only));
                }
                let one = |x: &A::Tensor| {
                    let inputs = [x.borrow()];
                    A::run(Kind::$ekind, &inputs, || engine.run(&$efile::$eop {}, &inputs))
                };
                let each = tensors.iter().map(one).collect::<crate::error::Result<_>>()?;
                A::many(each, &tensors)
            })*
            $(#[inline(always)]
            pub(super) fn $name<S: Size, E: Engine<Size = S>, A: Argument<E>>(
                engine: &E,
                bound: &mut Bound<'_, E, A>,
            ) -> Result<A::Output, A::Error> {
                let origin = bound.receiver()?;
                let $x: &E::Value = origin.borrow();
                $(bind!(bound $p $t $($g)?);)*
                let inputs = [$($input),*];
                let operator = $file::$op { $($field),* };
                let work = || engine.run(&operator, &inputs);
                outcome!(A, Kind::$kind, &inputs, work, &origin $(, $out)?)
            })*
            $(pub(super) fn $mname<S: Size, E: Engine<Size = S>, A: Argument<E>>(
                engine: &E,
                bound: &mut Bound<'_, E, A>,
            ) -> Result<A::Output, A::Error> {
                let tensors = bound.receivers()?;
                let inputs: Vec<&E::Value> = tensors.iter().map(Borrow::borrow).collect();
                $(bind!(bound $mp $mt $($mg)?);)*
                let operator = $mfile::$mop { $($mfield),* };
                A::one(Kind::$mkind, &inputs, || engine.run(&operator, &inputs), None)
            })*
            $(pub(super) fn $nname<S: Size, E: Engine<Size = S>, A: Argument<E>>(
                engine: &E,
                bound: &mut Bound<'_, E, A>,
            ) -> Result<A::Output, A::Error> {
                $(bind!(bound $np $nt $($ng)?);)*
                let operator = $nfile::$nop { $($nfield),* };
                A::one(Kind::$nkind, &[], || engine.run(&operator, &[]), None)
            })*
        }

        /// Runs a line of the table, given by its place. Arguments are matched to parameters as Python does it.
        #[inline]
        pub fn call_at<S: crate::size::Size, E: crate::engine::Engine<Size = S>, A: crate::call::Argument<E>>(
            engine: &E,
            place: usize,
            positional: &[A],
            named: &[(impl AsRef<str>, A)],
        ) -> Result<A::Output, A::Error> {
            let (Some(entry), Some(run)) = (TABLE.get(place), Calls::<E, A>::TABLE.get(place)) else {
                return Err(crate::call::unknown("").into());
            };
            let mut bound = crate::call::Bound::new(engine, entry);
            match bound.fill(positional, named) {
                Ok(()) => run(engine, &mut bound),
                Err(failure) => Err(failure),
            }
            .map_err(|failure| crate::call::Failure::within(failure, entry.name))
        }

        /// Runs a line of the table, given by its place and compiled for it, with arguments by position; the first
        /// line stands for one that is not there.
        #[inline(always)]
        pub fn call_line<
            const LINE: usize,
            S: crate::size::Size,
            E: crate::engine::Engine<Size = S>,
            A: crate::call::Argument<E>,
        >(
            engine: &E,
            positional: &[A],
        ) -> Result<A::Output, A::Error> {
            let entry = const { &TABLE[if LINE < TABLE.len() { LINE } else { 0 }] };
            let run = const { Calls::<E, A>::TABLE[if LINE < TABLE.len() { LINE } else { 0 }] };
            let mut bound = crate::call::Bound::new(engine, entry);
            let named: &[(&str, A)] = &[];
            match bound.fill(positional, named) {
                Ok(()) => run(engine, &mut bound),
                Err(failure) => Err(failure),
            }
            .map_err(|failure| crate::call::Failure::within(failure, entry.name))
        }

        /// Runs the operator of that name.
        pub fn call<S: crate::size::Size, E: crate::engine::Engine<Size = S>>(
            engine: &E,
            name: &str,
            args: crate::call::Args<E>,
        ) -> crate::error::Result<crate::table::Outcome<E::Value, S>> {
            match TABLE.iter().position(|entry| entry.name == name) {
                Some(place) => call_at(engine, place, &args.positional, &args.named),
                None => Err(crate::call::unknown(name)),
            }
        }
    };
}

/// The data of one parameter.
macro_rules! param {
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
    ($p:ident Tensor $(= $default:literal)?) => {
        Param { name: stringify!($p), kind: ParamKind::Tensor, default: crate::table::param!(@default $($default)?) }
    };
    ($p:ident $t:ident $($g:ident)? $(= $default:literal)?) => {
        Param {
            name: stringify!($p),
            kind: <$t $(<$g>)? as crate::call::Bind<S>>::KIND,
            default: crate::table::param!(@default $($default)?),
        }
    };
}

/// The type of a method's argument.
macro_rules! argument {
    (Tensor) => { &Self };
    (isize) => { isize };
    (usize) => { usize };
    (bool) => { bool };
    ($t:ident $($g:ident)?) => { impl Into<$t $(<$g>)?> };
}

/// Binds a variable to the next argument of a call.
macro_rules! bind {
    ($bound:ident $p:ident Tensor) => {
        let $p = $bound.tensor()?;
        let $p: &E::Value = $p.borrow();
    };
    ($bound:ident $p:ident $t:ident $($g:ident)?) => {
        let $p: $t $(<$g>)? = $bound.take()?;
    };
}

/// The call that makes an operator.
macro_rules! written {
    ($file:ident::$op:ident $(<$s:ident>)? { $($field:ident)* }) => {
        impl<S: crate::size::Size> crate::operator::Written<S> for $file::$op $(<$s>)? {
            fn parameters(&self) -> crate::call::Parameters<S> {
                #[allow(unused_mut)]
                let mut into = Vec::new();
                $(crate::call::Write::<S>::write_as(&self.$field, stringify!($field), &mut into);)*
                into
            }
        }
    };
}

/// What a method returns.
macro_rules! output {
    ($file:ident $op:ident $($s:ident)?) => { Self };
    ($file:ident $op:ident $($s:ident)? -> $out:ident) => {
        <$file::$op $(<$s>)? as Operator<Self::Engine>>::Output
    };
}

/// Hands out an output.
macro_rules! outcome {
    ($a:ident, $kind:expr, $inputs:expr, $work:ident, $origin:expr) => {
        $a::one($kind, $inputs, $work, Some($origin))
    };
    ($a:ident, $kind:expr, $inputs:expr, $work:ident, $origin:expr, Many) => {
        $a::many($a::run($kind, $inputs, $work)?, &[])
    };
    ($a:ident, $kind:expr, $inputs:expr, $work:ident, $origin:expr, Checked) => {
        $a::checked($a::run($kind, $inputs, $work)?, Some($origin))
    };
}

pub(crate) use {argument, bind, operator_table, outcome, output, param, written};
