//! The operators that nodes may be, a file for each. Each says which inputs and attributes it has, and how it is
//! done with Stridewise's own.

mod cast;
mod concat;
mod expand;
mod flatten;
mod gather;
mod reduce_sum;
mod reshape;
mod shape;
mod sizes;
mod slice;
mod squeeze;
mod tile;
mod transpose;

use std::fmt::Debug;

use stridewise_core::engine::Engine;
use stridewise_core::{Error, Result};

use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input};

/// An operator of ONNX with its attributes.
trait Node: Clone + Debug + Sized {
    /// ONNX's name.
    const NAME: &'static str;

    /// What it takes, in order.
    const INPUTS: &'static [Input];

    /// Its attributes, from a file.
    fn read(attributes: &mut Attributes<'_>) -> Result<Self>;

    /// What it gives.
    fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value>;
}

macro_rules! calls {
    ($($module:ident::$Name:ident)*) => {
        /// A call of one of them.
        #[derive(Clone, Debug)]
        pub(super) enum Call {
            $($Name($module::$Name),)*
        }

        impl Call {
            /// The names of all.
            pub(super) const NAMES: [&'static str; [$($module::$Name::NAME),*].len()] =
                [$($module::$Name::NAME),*];

            /// The call of that name with its attributes.
            pub(super) fn read(name: &str, attributes: &mut Attributes<'_>) -> Result<Call> {
                $(if name == $module::$Name::NAME {
                    return $module::$Name::read(attributes).map(Call::$Name);
                })*
                Err(Error::file(format!("operator {name} is not supported")))
            }

            /// What it takes, in order.
            pub(super) fn inputs(&self) -> &'static [Input] {
                match self { $(Call::$Name(_) => $module::$Name::INPUTS,)* }
            }

            /// What it gives.
            pub(super) fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
                match self { $(Call::$Name(node) => node.run(given),)* }
            }
        }
    };
}

calls! {
    cast::Cast
    concat::Concat
    expand::Expand
    flatten::Flatten
    gather::Gather
    gather::GatherElements
    reduce_sum::ReduceSum
    reshape::Reshape
    shape::Shape
    sizes::Add
    sizes::Div
    sizes::Mul
    slice::Slice
    squeeze::Squeeze
    squeeze::Unsqueeze
    tile::Tile
    transpose::Transpose
}
