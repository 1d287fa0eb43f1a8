//! Python objects as arguments of operators on global tensors: read as ever, but tensors are those of all ranks, and
//! numbers and lists of numbers are tensors that every rank has.

use std::borrow::Borrow;

use pyo3::prelude::*;
use smallvec::SmallVec;
use stridewise::call::{Argument, Look};
use stridewise::operators::Dims;
use stridewise::table::{Kind, ParamKind};
use stridewise::{Cpu, Error, Global, Spread, Tape, Tensor, Value, Var};

use super::tensor::PyGlobal;
use super::{everywhere, first, operator, shared};
use crate::arguments::{Held, Object, Raised, list_of, sizes_found};
use crate::gradients::{Class, is_on};
use crate::unlocked::surely_unlocked;

/// The engine of global tensors, which notes what it does where one has a history.
type Engine = Tape<Spread<Cpu>>;

/// A tensor among arguments.
pub(crate) struct Lying<'py> {
    pub(super) given: Option<Bound<'py, PyGlobal>>,
    pub(super) var: Box<Var<Spread<Cpu>>>,
}

impl Borrow<Var<Spread<Cpu>>> for Lying<'_> {
    fn borrow(&self) -> &Var<Spread<Cpu>> {
        &self.var
    }
}

impl From<Var<Spread<Cpu>>> for Lying<'_> {
    fn from(var: Var<Spread<Cpu>>) -> Self {
        Lying {
            given: None,
            var: Box::new(var),
        }
    }
}

impl From<Global<Cpu>> for Lying<'_> {
    fn from(x: Global<Cpu>) -> Self {
        Tape::over(x.engine()).constant(x).into()
    }
}

impl<'py> Argument<Engine> for Object<'py> {
    type Error = Raised;
    type Tensor = Lying<'py>;
    type Output = Py<PyAny>;

    fn look(&self, wanted: ParamKind) -> Result<Look<'_, usize>, Raised> {
        match self.get().is_instance_of::<PyGlobal>() {
            true => Ok(Look::Tensor),
            false => Argument::<Cpu>::look(self, wanted),
        }
    }

    fn tensor(&self) -> Result<Lying<'py>, Raised> {
        if let Ok(x) = self.get().cast::<PyGlobal>() {
            return Ok(Lying {
                var: Box::new(x.get().noted()),
                given: Some(x.clone()),
            });
        }
        Ok(everywhere(tensor(&Argument::<Cpu>::tensor(self)?))?.into())
    }

    fn items(&self) -> impl ExactSizeIterator<Item: Borrow<Self>> {
        Argument::<Cpu>::items(self)
    }

    fn whole_list(&self) -> Result<Option<Lying<'py>>, Raised> {
        let Some(held) = Argument::<Cpu>::whole_list(self)? else {
            return Ok(None);
        };
        Ok(Some(shared(&first()?, tensor(&held))?.into()))
    }

    fn plain_number(&self) -> Option<isize> {
        Argument::<Cpu>::plain_number(self)
    }

    fn plain_numbers(&self, into: &mut SmallVec<[isize; 8]>) -> bool {
        Argument::<Cpu>::plain_numbers(self, into)
    }

    fn run<T>(kind: Kind, _inputs: &[&Var<Spread<Cpu>>], work: impl Fn() -> T) -> T {
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
        inputs: &[&Var<Spread<Cpu>>],
        work: impl Fn() -> Result<Var<Spread<Cpu>>, Error>,
        origin: Option<&Lying<'py>>,
    ) -> Result<Py<PyAny>, Raised> {
        let result = <Object<'py> as Argument<Engine>>::run(kind, inputs, work)?;
        Ok(handed_out(result, origin)?.into_any().unbind())
    }

    fn many(values: Vec<Var<Spread<Cpu>>>, origins: &[Lying<'py>]) -> Result<Py<PyAny>, Raised> {
        list_of(values, origins, handed_out)
    }

    fn checked(
        (value, dims): (Var<Spread<Cpu>>, Dims<usize>),
        origin: Option<&Lying<'py>>,
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

/// The object of a tensor. It is the one it came from where an operator only adds axes and there was none to add; by
/// the part alone nobody can tell, since a part can be the same where the whole is another.
fn handed_out<'py>(
    x: Var<Spread<Cpu>>,
    origin: Option<&Lying<'py>>,
) -> PyResult<Bound<'py, PyGlobal>> {
    // SAFETY: as above.
    let py = unsafe { Python::assume_attached() };
    match origin.and_then(|origin| origin.given.as_ref()) {
        Some(given)
            if operator().starts_with("atleast_")
                && given.get().global().shape().len() == x.value().shape().len()
                && (is_on() || given.get().kept().is_none()) =>
        {
            Ok(given.clone())
        }
        _ => PyGlobal::var_object(py, x),
    }
}

/// What is taken out of the interpreter's lock and back into it.
struct Crossing<T>(T);

// SAFETY: the work is done on the same thread, and touches no Python objects: it is an operator over tensors whose
// memory is kept by what the caller holds.
unsafe impl<T> Send for Crossing<T> {}

impl<T, F: Fn() -> T> Crossing<F> {
    fn call(self) -> T {
        (self.0)()
    }
}
