//! `Add`, `Mul` and `Div`, for sizes: lists of whole numbers that shapes are made from. Models compute with them where
//! an axis is a multiple of another; there is no arithmetic on elements.

use stridewise_core::engine::{Condition, Engine};
use stridewise_core::params::Extent;
use stridewise_core::size::Size;
use stridewise_core::{Error, Result};

use super::Node;
use crate::import::attributes::Attributes;
use crate::import::given::{Given, Input, Takes};

const INPUTS: &[Input] = &[("A", Takes::Numbers), ("B", Takes::Numbers)];

macro_rules! on_sizes {
    ($($Name:ident $name:literal $work:expr;)*) => {$(
        #[derive(Clone, Debug)]
        pub(in crate::import) struct $Name;

        impl Node for $Name {
            const NAME: &'static str = $name;
            const INPUTS: &'static [Input] = INPUTS;

            fn read(_: &mut Attributes<'_>) -> Result<$Name> {
                Ok($Name)
            }

            fn run<E: Engine>(&self, given: &Given<'_, '_, E>) -> Result<E::Value> {
                on_sizes(given, $work)
            }
        }
    )*};
}

on_sizes! {
    Add "Add" |_, a, b| Ok(a.plus(b));
    Mul "Mul" |_, a, b| Ok(a.times(b));
    Div "Div" |engine, a, b| {
        // ONNX rounds; what does not come out even is no size that a graph could know.
        let even = Condition::Divides(b.clone(), a.clone());
        engine.require(even, || {
            Error::shape(format!("{a} is not a multiple of {b}"))
                .help("sizes are divided only where nothing is left over")
        })?;
        Ok(a.over(b))
    };
}

type Work<E> =
    fn(&E, &<E as Engine>::Size, &<E as Engine>::Size) -> Result<Option<<E as Engine>::Size>>;

/// Works on two lists of sizes, item by item; a list of one goes with every item of the other.
fn on_sizes<E: Engine>(given: &Given<'_, '_, E>, work: Work<E>) -> Result<E::Value> {
    let (a, b) = (sizes(given, 0)?, sizes(given, 1)?);
    let count = if a.len() == 1 { b.len() } else { a.len() };
    if a.len() != count && a.len() != 1 || b.len() != count && b.len() != 1 {
        let message = format!("{} and {} sizes do not go together", a.len(), b.len());
        return Err(Error::shape(message).sizes(a.len(), b.len()));
    }
    let item = |list: &[E::Size], at: usize| list[if list.len() == 1 { 0 } else { at }].clone();
    let one = |at: usize| {
        let (a, b) = (item(&a, at), item(&b, at));
        work(given.engine, &a, &b)?
            .ok_or_else(|| Error::overflow(format!("{a} and {b} give no size")))
    };
    given
        .engine
        .sizes(&(0..count).map(one).collect::<Result<Vec<_>>>()?)
}

/// The sizes at a place; a negative number is none.
fn sizes<E: Engine>(given: &Given<'_, '_, E>, at: usize) -> Result<Vec<E::Size>> {
    let size = |extent: Extent<E::Size>| match extent {
        Extent::Is(size) => Ok(size),
        negative => Err(Error::argument(format!("{negative} is no size"))
            .help("arithmetic is supported on sizes only")),
    };
    given.needed_sizes(at)?.into_iter().map(size).collect()
}
