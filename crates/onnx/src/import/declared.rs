//! What a model says about its inputs, and whether that is so.

use std::collections::HashMap;

use stridewise_core::engine::{Engine, describe};
use stridewise_core::size::{Size, Truth, tuple};
use stridewise_core::{DType, Error, Result};

use crate::import::enforced::enforced;
use crate::proto::ValueInfoProto;
use crate::size::DeclaredSize;

/// An input as the model declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredInput {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub dtype: DType,
    /// The size of each axis; none where not even the rank is said.
    pub shape: Option<Vec<DeclaredSize>>,
    /// Whether the model has a tensor to use where none is given.
    pub has_default: bool,
    pub(super) slot: usize,
}

impl DeclaredInput {
    pub(super) fn read(info: &ValueInfoProto, slot: usize) -> Result<DeclaredInput> {
        let blame = |error: Error| error.note("input", format!("`{}`", info.name));
        let (dtype, shape) = info.declared().map_err(blame)?;
        Ok(DeclaredInput {
            name: info.name.clone(),
            dtype,
            shape,
            has_default: false,
            slot,
        })
    }

    fn text(&self) -> String {
        let shape = self
            .shape
            .as_ref()
            .map_or("any shape".to_string(), |sizes| {
                format!("shape {}", tuple(sizes))
            });
        format!("{} of {shape}", self.dtype)
    }
}

/// Sizes that have a name, with the input and axis that each was first seen at.
pub(super) struct Named<'m, S>(HashMap<&'m str, (S, &'m str, usize)>);

impl<'m, S: Size> Named<'m, S> {
    pub(super) fn new() -> Named<'m, S> {
        Named(HashMap::new())
    }

    /// Requires that an input is what the model says, and agrees with those before about sizes that have a name. What
    /// cannot be decided yet is required of what it gives back.
    pub(super) fn require<E: Engine<Size = S>>(
        &mut self,
        engine: &E,
        declared: &'m DeclaredInput,
        x: &E::Value,
    ) -> Result<E::Value> {
        let name = declared.name.as_str();
        let blame = |error: Error| {
            error
                .note("declared", declared.text())
                .note("given", describe(engine, x))
        };
        if engine.dtype(x) != declared.dtype {
            let message = format!(
                "input `{name}` is {}, but the model declares {}",
                engine.dtype(x),
                declared.dtype
            );
            let error = Error::dtype(message).sizes(declared.dtype, engine.dtype(x));
            return Err(blame(error).help("nothing is cast silently: cast it first"));
        }
        let Some(sizes) = &declared.shape else {
            return Ok(x.clone());
        };
        let x = &match engine.rank(x) {
            Err(Error::TooEarly(_)) => enforced(engine, x, vec![None; sizes.len()])?,
            _ => x.clone(),
        };
        let rank = engine.rank(x)?;
        if rank != sizes.len() {
            let message = format!(
                "input `{name}` has rank {rank}, but the model declares rank {}",
                sizes.len()
            );
            return Err(blame(Error::shape(message).sizes(sizes.len(), rank)));
        }
        let mut open = vec![None; rank];
        for (axis, wanted) in sizes.iter().enumerate() {
            let size = engine.size(x, axis);
            let (wanted, why) = match wanted {
                DeclaredSize::Any => continue,
                DeclaredSize::Is(n) => (S::from(*n), format!("the model declares {n}")),
                DeclaredSize::Named(symbol) => {
                    let first = || (size.clone(), name, axis);
                    let (known, at, of) = self.0.entry(symbol).or_insert_with(first);
                    let why = format!("`{symbol}` is {known}, from axis {of} of input `{at}`");
                    (known.clone(), why)
                }
            };
            match size.same(&wanted) {
                Truth::Yes => {}
                Truth::Unknown => open[axis] = Some(wanted),
                Truth::No => {
                    let message =
                        format!("axis {axis} of input `{name}` has size {size}, but {why}");
                    return Err(blame(
                        Error::shape(message).at_axis(axis).sizes(&wanted, &size),
                    ));
                }
            }
        }
        match open.iter().any(Option::is_some) {
            true => enforced(engine, x, open),
            false => Ok(x.clone()),
        }
    }
}
