//! Python objects as arguments of operators on tensors that lie elsewhere: read as ever, but numbers and lists of
//! numbers become tensors there.

use std::borrow::Borrow;

use pyo3::prelude::*;
use smallvec::SmallVec;
use stridewise::call::{Argument, Look};
use stridewise::operators::Dims;
use stridewise::table::{Kind, ParamKind};
use stridewise::{Cpu, Error, Tape, Tensor, Value, Var};

use super::{Away, first, operator, taken_along};
use crate::arguments::{Crossing, Held, Object, Raised, list_of, sizes_found};
use crate::gradients::{Class, is_on};
use crate::unlocked::surely_unlocked;

/// A tensor among arguments.
pub(crate) struct Lying<'py, E: Away> {
    pub(super) given: Option<Bound<'py, E::Class>>,
    pub(super) var: Box<Var<E>>,
}

impl<E: Away> Borrow<Var<E>> for Lying<'_, E> {
    fn borrow(&self) -> &Var<E> {
        &self.var
    }
}

impl<E: Away> From<Var<E>> for Lying<'_, E> {
    fn from(var: Var<E>) -> Self {
        Lying {
            given: None,
            var: Box::new(var),
        }
    }
}

/// A tensor without a history.
fn bare<'py, E: Away>(x: E::Value) -> Lying<'py, E> {
    Tape::over(x.engine()).constant(x).into()
}

impl<'py, E: Away> Argument<Tape<E>> for Object<'py> {
    type Error = Raised;
    type Tensor = Lying<'py, E>;
    type Output = Py<PyAny>;

    fn look(&self, wanted: ParamKind) -> Result<Look<'_, usize>, Raised> {
        match self.get().is_instance_of::<E::Class>() {
            true => Ok(Look::Tensor),
            false => Argument::<Cpu>::look(self, wanted),
        }
    }

    fn tensor(&self) -> Result<Lying<'py, E>, Raised> {
        if let Ok(x) = self.get().cast::<E::Class>() {
            return Ok(Lying {
                var: Box::new(x.get().noted()),
                given: Some(x.clone()),
            });
        }
        let local = tensor(&Argument::<Cpu>::tensor(self)?);
        Ok(bare(taken_along::<E>(local)?))
    }

    fn items(&self) -> impl ExactSizeIterator<Item: Borrow<Self>> {
        Argument::<Cpu>::items(self)
    }

    fn whole_list(&self) -> Result<Option<Lying<'py, E>>, Raised> {
        let Some(held) = Argument::<Cpu>::whole_list(self)? else {
            return Ok(None);
        };
        Ok(Some(bare(E::beside(&first::<E>()?, tensor(&held))?)))
    }

    fn plain_number(&self) -> Option<isize> {
        Argument::<Cpu>::plain_number(self)
    }

    fn plain_numbers(&self, into: &mut SmallVec<[isize; 8]>) -> bool {
        Argument::<Cpu>::plain_numbers(self, into)
    }

    fn run<T>(kind: Kind, _inputs: &[&Var<E>], work: impl Fn() -> T) -> T {
        // A view that has to wait for others lets go of the interpreter by itself.
        match kind {
            Kind::View => work(),
            _ => {
                let work = Crossing(work);
                surely_unlocked(move || Crossing(work.call())).0
            }
        }
    }

    fn one(
        kind: Kind,
        inputs: &[&Var<E>],
        work: impl Fn() -> Result<Var<E>, Error>,
        origin: Option<&Lying<'py, E>>,
    ) -> Result<Py<PyAny>, Raised> {
        let result = <Object<'py> as Argument<Tape<E>>>::run(kind, inputs, work)?;
        Ok(handed_out(result, origin)?.into_any().unbind())
    }

    fn many(values: Vec<Var<E>>, origins: &[Lying<'py, E>]) -> Result<Py<PyAny>, Raised> {
        list_of(values, origins, handed_out)
    }

    fn checked(
        (value, dims): (Var<E>, Dims<usize>),
        origin: Option<&Lying<'py, E>>,
    ) -> Result<Py<PyAny>, Raised> {
        // SAFETY: results are handed out within the call from the interpreter.
        let py = unsafe { Python::assume_attached() };
        // Nothing is made here, so the object is handed back with all it has.
        let x = match origin.and_then(|origin| origin.given.as_ref()) {
            Some(given) => given.clone(),
            None => handed_out(value, origin)?,
        };
        let pair = (x, sizes_found(py, &dims)?);
        Ok(pair.into_pyobject(py)?.into_any().unbind())
    }
}

fn tensor(held: &Held<'_>) -> Tensor {
    Borrow::<Tensor>::borrow(held).clone()
}

/// The object of a tensor: the one it came from, where it is the very same.
fn handed_out<'py, E: Away>(
    x: Var<E>,
    origin: Option<&Lying<'py, E>>,
) -> PyResult<Bound<'py, E::Class>> {
    // SAFETY: as above.
    let py = unsafe { Python::assume_attached() };
    match origin.and_then(|origin| origin.given.as_ref()) {
        Some(given)
            if E::is_same(operator::<E>(), given.get().value(), x.value())
                && (is_on() || given.get().kept().is_none()) =>
        {
            Ok(given.clone())
        }
        _ => E::Class::var_object(py, x),
    }
}
