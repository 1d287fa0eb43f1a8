//! Python objects as arguments of operators that are noted: read as ever, but tensors come with their history.

use std::borrow::Borrow;

use pyo3::prelude::*;
use smallvec::SmallVec;
use stridewise::call::{Argument, Look, literal};
use stridewise::operators::Dims;
use stridewise::table::{Kind, ParamKind};
use stridewise::{Cpu, Error, Tape, Tensor, Var};

use crate::arguments::{Held, Object, Raised, is_same, list_of, sizes_found};
use crate::gradients::{tape, var, var_object};
use crate::tensor::PyTensor;

/// A tensor among arguments, with its history: the object that was given, or one made from an array or from numbers.
pub(crate) struct Traced<'py> {
    given: Option<Bound<'py, PyTensor>>,
    /// In a box, since a tensor is large and an argument is moved several times.
    var: Box<Var<Cpu>>,
}

impl Borrow<Var<Cpu>> for Traced<'_> {
    fn borrow(&self) -> &Var<Cpu> {
        &self.var
    }
}

impl From<Var<Cpu>> for Traced<'_> {
    fn from(var: Var<Cpu>) -> Self {
        Traced {
            given: None,
            var: Box::new(var),
        }
    }
}

impl<'py> From<Held<'py>> for Traced<'py> {
    fn from(held: Held<'py>) -> Traced<'py> {
        match held {
            Held::Given(object) => Traced {
                var: Box::new(var(object.get())),
                given: Some(Bound::clone(&object)),
            },
            Held::Made(tensor) => tape().constant(*tensor).into(),
        }
    }
}

/// An object as the other kind of argument, which knows how to read it.
type Plain<'py> = <Object<'py> as Argument<Cpu>>::Tensor;

impl<'py> Argument<Tape<Cpu>> for Object<'py> {
    type Error = Raised;
    type Tensor = Traced<'py>;
    type Output = Py<PyAny>;

    fn look(&self, wanted: ParamKind) -> Result<Look<'_, usize>, Raised> {
        Argument::<Cpu>::look(self, wanted)
    }

    fn tensor(&self) -> Result<Traced<'py>, Raised> {
        Argument::<Cpu>::tensor(self).map(Traced::from)
    }

    fn items(&self) -> impl ExactSizeIterator<Item: Borrow<Self>> {
        Argument::<Cpu>::items(self)
    }

    fn whole_list(&self) -> Result<Option<Traced<'py>>, Raised> {
        let whole: Option<Plain<'py>> = Argument::<Cpu>::whole_list(self)?;
        Ok(whole.map(Traced::from))
    }

    fn plain_tensor(&self) -> Option<Traced<'py>> {
        Argument::<Cpu>::plain_tensor(self).map(Traced::from)
    }

    fn plain_number(&self) -> Option<isize> {
        Argument::<Cpu>::plain_number(self)
    }

    fn plain_numbers(&self, into: &mut SmallVec<[isize; 8]>) -> bool {
        Argument::<Cpu>::plain_numbers(self, into)
    }

    fn run<T>(kind: Kind, inputs: &[&Var<Cpu>], work: impl Fn() -> T) -> T {
        let inputs: SmallVec<[&Tensor; 2]> = inputs.iter().map(|x| x.value()).collect();
        <Object<'py> as Argument<Cpu>>::run(kind, &inputs, work)
    }

    fn one(
        kind: Kind,
        inputs: &[&Var<Cpu>],
        work: impl Fn() -> Result<Var<Cpu>, Error>,
        origin: Option<&Traced<'py>>,
    ) -> Result<Py<PyAny>, Raised> {
        let result = <Object<'py> as Argument<Tape<Cpu>>>::run(kind, inputs, work)?;
        Ok(handed_out(result, origin)?.into_any().unbind())
    }

    fn many(values: Vec<Var<Cpu>>, origins: &[Traced<'py>]) -> Result<Py<PyAny>, Raised> {
        list_of(values, origins, handed_out)
    }

    fn checked(
        (value, dims): (Var<Cpu>, Dims<usize>),
        origin: Option<&Traced<'py>>,
    ) -> Result<Py<PyAny>, Raised> {
        // SAFETY: results are handed out within the call from the interpreter.
        let py = unsafe { Python::assume_attached() };
        let pair = (handed_out(value, origin)?, sizes_found(py, &dims)?);
        Ok(pair.into_pyobject(py)?.into_any().unbind())
    }
}

/// The object of a tensor: the one it came from, where it is the very same. Its gradient is then the very same too.
fn handed_out<'py>(x: Var<Cpu>, origin: Option<&Traced<'py>>) -> PyResult<Bound<'py, PyTensor>> {
    // SAFETY: as above.
    let py = unsafe { Python::assume_attached() };
    match origin.and_then(|origin| origin.given.as_ref()) {
        Some(given) if is_same(&given.get().inner, x.value()) => Ok(given.clone()),
        _ => var_object(py, x),
    }
}

/// The tensor that an object stands for, as an object with the history of all tensors in it.
pub(crate) fn literal_object<'py>(
    object: &Bound<'py, PyAny>,
    name: &'static str,
) -> Result<Bound<'py, PyTensor>, Raised> {
    let traced = literal(&tape(), &Object::from(object.clone()), name)?;
    match traced.given {
        Some(given) => Ok(given),
        None => Ok(var_object(object.py(), *traced.var)?),
    }
}
