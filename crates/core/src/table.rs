//! The operator table: what a line of it says, and the macro that turns the lines into data, methods,
//! functions and the call by name.

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

impl Entry {
    /// Whether the sizes, axes or items may be given one by one: they are the only parameter.
    pub fn is_variadic(&self) -> bool {
        match self.params {
            [only] => matches!(
                only.kind,
                ParamKind::Sizes | ParamKind::Axes | ParamKind::Items
            ),
            _ => false,
        }
    }

    /// The parameters a call can name, in order: a mode brings its `fill_value` along.
    pub fn parameters(&self) -> impl Iterator<Item = Param> {
        self.params.iter().flat_map(|param| {
            let fill = Param {
                name: "fill_value",
                kind: ParamKind::OptionalScalar,
                default: Some("None"),
            };
            [
                Some(*param),
                (param.kind == ParamKind::Mode).then_some(fill),
            ]
            .into_iter()
            .flatten()
        })
    }

    /// The call as Python writes it: `take(input, index, axis=None, mode="raise", fill_value=None)`.
    pub fn signature(&self) -> String {
        let mut parts = Vec::new();
        match self.arity {
            Arity::None => {}
            Arity::Each => parts.push(format!("*{}", self.receiver)),
            Arity::One | Arity::Many => parts.push(self.receiver.to_string()),
        }
        for param in self.parameters() {
            parts.push(match param.default {
                _ if self.is_variadic() => format!("*{}", param.name),
                None => param.name.to_string(),
                Some(word) => {
                    let quoted = matches!(
                        param.kind,
                        ParamKind::Mode | ParamKind::Place | ParamKind::DType
                    );
                    let quote = if quoted { "\"" } else { "" };
                    format!("{}={quote}{word}{quote}", param.name)
                }
            });
        }
        format!("{}({})", self.name, parts.join(", "))
    }
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

        /// Runs the operator of that name. Arguments are matched to parameters as Python does it.
        pub fn call<S: crate::size::Size, E: crate::engine::Engine<Size = S>>(
            engine: &E,
            name: &str,
            args: crate::call::Args<E>,
        ) -> crate::error::Result<crate::table::Outcome<E::Value, S>> {
            #[allow(unused_imports)]
            use crate::{dtype::*, params::*};
            let Some(entry) = TABLE.iter().find(|entry| entry.name == name) else {
                return Err(crate::call::unknown(name));
            };
            let named = |error: crate::error::Error| error.within(entry.name);
            let mut bound = crate::call::Bound::new(engine, entry, args).map_err(named)?;
            match name {
                $(stringify!($ename) => {
                    let tensors = bound.receivers().map_err(named)?;
                    let each = tensors.iter().map(|x| engine.apply(&$efile::$eop {}, &[x]));
                    let mut each = each.collect::<crate::error::Result<Vec<_>>>()?;
                    Ok(match (each.pop(), each.is_empty()) {
                        (Some(only), true) => crate::table::Outcome::One(only),
                        (last, _) => {
                            each.extend(last);
                            crate::table::Outcome::Many(each)
                        }
                    })
                })*
                $(stringify!($name) => {
                    let $x = &bound.receiver().map_err(named)?;
                    $(crate::table::bind!(bound named $p $t $($g)?);)*
                    let output = engine.apply(&$file::$op { $($field),* }, &[$($input),*])?;
                    Ok(crate::table::outcome!(output $($out)?))
                })*
                $(stringify!($mname) => {
                    let tensors = bound.receivers().map_err(named)?;
                    let inputs: Vec<&E::Value> = tensors.iter().collect();
                    $(crate::table::bind!(bound named $mp $mt $($mg)?);)*
                    engine.apply(&$mfile::$mop { $($mfield),* }, &inputs).map(crate::table::Outcome::One)
                })*
                $(stringify!($nname) => {
                    $(crate::table::bind!(bound named $np $nt $($ng)?);)*
                    engine.apply(&$nfile::$nop { $($nfield),* }, &[]).map(crate::table::Outcome::One)
                })*
                _ => Err(crate::call::unknown(name)),
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

/// Binds a variable to the argument of a call by name.
macro_rules! bind {
    ($bound:ident $named:ident $p:ident Tensor) => {
        let $p = &$bound.tensor(stringify!($p)).map_err($named)?;
    };
    ($bound:ident $named:ident $p:ident $t:ident $($g:ident)?) => {
        let $p: $t $(<$g>)? = $bound.take(stringify!($p)).map_err($named)?;
    };
}

/// What a method returns.
macro_rules! output {
    ($file:ident $op:ident $($s:ident)?) => { Self };
    ($file:ident $op:ident $($s:ident)? -> $out:ident) => {
        <$file::$op $(<$s>)? as Operator<Self::Engine>>::Output
    };
}

/// Wraps an output.
macro_rules! outcome {
    ($output:ident) => {
        crate::table::Outcome::One($output)
    };
    ($output:ident $out:ident) => {
        crate::table::Outcome::$out($output)
    };
}

pub(crate) use {argument, bind, operator_table, outcome, output, param};
