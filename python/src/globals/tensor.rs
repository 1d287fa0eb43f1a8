//! The class `GlobalTensor`: one logical tensor over the ranks of a mesh, of which this rank has its part.

use std::collections::BTreeMap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use stridewise::call::literal;
use stridewise::prelude::*;
use stridewise::size::tuple;
use stridewise::spread::on_behalf_of;
use stridewise::spread::sbp::text;
use stridewise::{Error, Global, Spread, Tape, Value, Var};

use super::argument::Lying;
use super::{Call, PyMesh, begin, held_as, mixed, sbp, shared};
use crate::arguments::{Object, Raised};
use crate::dtype::PyDType;
use crate::errors::OrRaise;
use crate::foreign;
use crate::foreign::asarray::convert;
use crate::gradients::class::is_weak;
use crate::gradients::{self, Class, Kept, Leaves};
use crate::tensor::{PyTensor, index, object};
use crate::unlocked::unlocked;

/// One logical tensor over the ranks of a mesh; every operator works on it and gives what one machine would give.
///
/// Made by ``Tensor.to_global`` from the part that each rank has, or by ``Mesh.shard`` from the whole. All ranks call
/// the same things in the same order.
#[pyclass(name = "GlobalTensor", module = "stridewise", frozen, weakref)]
pub(crate) struct PyGlobal {
    value: Global<Cpu>,
    kept: Option<Box<Kept<PyGlobal>>>,
}

/// The engine of a global tensor.
pub(super) fn spread(x: &Global<Cpu>) -> Spread<Cpu> {
    x.engine()
}

impl PyGlobal {
    pub(crate) fn global(&self) -> &Global<Cpu> {
        &self.value
    }

    /// The tensor with its history, where it has one and that is to be carried on.
    pub(super) fn noted(&self) -> Var<Spread<Cpu>> {
        match gradients::is_on() {
            true => self.var(),
            false => self.tape().constant(self.value.clone()),
        }
    }

    fn tape(&self) -> Tape<Spread<Cpu>> {
        Tape::over(self.value.engine())
    }

    /// Refuses to hand out parts of a tensor with a history: what is made of them would silently have none.
    fn require_none(&self, operator: &'static str) -> Result<(), Error> {
        match self.kept {
            None => Ok(()),
            Some(_) => Err(Error::gradient(
                "the tensor requires a gradient, but no gradient comes back through a tensor of one rank",
            )
            .help("call `detach()` first")
            .within(operator)),
        }
    }

    fn no_elements<T>(&self, what: &str) -> PyResult<T> {
        Err(PyTypeError::new_err(format!(
            "{what}: a global tensor, {:?}, has its elements on many ranks; `gather()` gives all of them to each, and \
             `to_local()` this rank's part",
            self.value
        )))
    }
}

#[pymethods]
impl PyGlobal {
    /// The size of each axis of the whole.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.value.shape())
    }

    /// The element type.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyDType>> {
        PyDType::object(py, self.value.dtype())
    }

    /// How many axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.value.shape().len()
    }

    /// How many elements the whole has.
    #[getter]
    fn size(&self) -> usize {
        self.value.shape().iter().product()
    }

    /// How each mesh axis holds it.
    #[getter]
    fn sbp<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        sbp::objects(py, self.value.sbp())
    }

    /// The mesh it lies on.
    #[getter]
    fn mesh(&self) -> PyMesh {
        PyMesh(self.value.engine())
    }

    /// The axes reversed.
    #[getter(T)]
    fn reversed_axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyGlobal>> {
        let turned = on_behalf_of("T", || self.noted().transpose(..));
        PyGlobal::var_object(py, turned.or_raise(py)?)
    }

    /// The last two axes swapped.
    #[getter(mT)]
    fn matrix_transpose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyGlobal>> {
        let turned = on_behalf_of("mT", || self.noted().swapaxes(-2, -1));
        PyGlobal::var_object(py, turned.or_raise(py)?)
    }

    /// The same tensor, held otherwise; the cheapest way there is taken.
    ///
    /// Parameters
    /// ----------
    /// sbp : Sbp, str, or sequence of them
    ///     How each mesh axis is to hold it.
    ///
    /// Raises
    /// ------
    /// WorldError
    ///     A rank is gone, late or calls something else; or nothing becomes so held, as a partial maximum.
    fn to_sbp<'py>(
        slf: &Bound<'py, Self>,
        sbp: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyGlobal>> {
        let (py, x) = (slf.py(), slf.get());
        let wanted = held_as(sbp).map_err(|raised| raised.exception(py, "to_sbp", None))?;
        if x.value.sbp() == &wanted[..] && (gradients::is_on() || x.kept.is_none()) {
            return Ok(slf.clone());
        }
        let value = unlocked(py, || x.value.to_sbp(&wanted)).or_raise(py)?;
        // It is the same tensor, so its history is the same one.
        let kept = x.kept.as_ref().filter(|_| gradients::is_on());
        PyGlobal::object(py, value, kept.map(|kept| Kept::of(kept.history.clone())))
    }

    /// This rank's part, as it lies here: nothing is sent.
    fn to_local<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTensor>> {
        self.require_none("to_local").or_raise(py)?;
        object(py, self.value.to_local())
    }

    /// All of it, on every rank.
    fn gather<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTensor>> {
        self.require_none("gather").or_raise(py)?;
        let whole = unlocked(py, || self.value.gather()).or_raise(py)?;
        object(py, whole)
    }

    /// Whether gradients come back to it or through it: it was made with ``requires_grad=True``, or from a tensor
    /// that was.
    #[getter]
    fn requires_grad(&self) -> bool {
        self.kept.is_some()
    }

    /// The gradient that ``backward`` has brought so far, added up; None before, and for a tensor that was not made
    /// with ``requires_grad=True``. It is held as it came out, often as a partial sum: ``to_sbp`` brings it where it is
    /// wanted.
    #[getter]
    fn grad(&self, py: Python<'_>) -> Option<Py<PyGlobal>> {
        self.kept.as_ref()?.leaf.as_ref()?.grad(py)
    }

    #[setter]
    fn set_grad(slf: &Bound<'_, Self>, grad: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        gradients::assign(slf, grad)
    }

    /// Adds the gradient of this tensor to the ``grad`` of every tensor with ``requires_grad=True`` it was made from;
    /// as ``Tensor.backward``, on all ranks together. The seed is a global tensor, or numbers that all ranks give
    /// alike.
    #[pyo3(signature = (grad=None, *, retain_graph=false, create_graph=false))]
    fn backward(
        slf: &Bound<'_, Self>,
        grad: Option<&Bound<'_, PyAny>>,
        retain_graph: bool,
        create_graph: bool,
    ) -> PyResult<()> {
        gradients::backward(slf, grad, retain_graph, create_graph)
    }

    /// The same tensor without a history: no gradient comes back through it.
    fn detach<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyGlobal>> {
        PyGlobal::detached(slf)
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyGlobal>> {
        let lift = |item: &Bound<'py, PyAny>, array: Tensor| {
            // A list of numbers is every rank's; an array is one rank's own.
            match foreign::is_array(item)? {
                true => Err(mixed(&self.value, &array).into()),
                false => Ok(self.tape().constant(shared(&self.value, array)?)),
            }
        };
        let given = |item: &Bound<'py, PyAny>| {
            let x = item.cast::<PyGlobal>().ok()?;
            Some(x.get().noted())
        };
        let work = || index::of_many(&self.tape(), &self.noted(), index, given, lift);
        let part = on_behalf_of("index", work);
        let part = part.map_err(|raised: Raised| raised.exception(py, "index", None))?;
        PyGlobal::var_object(py, part)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.value.shape().is_empty() {
            return Err(PyTypeError::new_err(
                "a tensor of rank 0 has no axis to iterate over",
            ));
        }
        let slices = on_behalf_of("unstack", || self.noted().unstack(0)).or_raise(py)?;
        let slices = slices.into_iter().map(|x| PyGlobal::var_object(py, x));
        let list = PyList::new(py, slices.collect::<PyResult<Vec<_>>>()?)?;
        Ok(list.try_iter()?.into_any())
    }

    fn __len__(&self) -> PyResult<usize> {
        let first = self.value.shape().first().copied();
        first.ok_or_else(|| PyTypeError::new_err("a tensor of rank 0 has no length"))
    }

    fn __bool__(&self) -> PyResult<bool> {
        self.no_elements("bool")
    }

    fn __int__(&self) -> PyResult<Py<PyAny>> {
        self.no_elements("int")
    }

    fn __float__(&self) -> PyResult<f64> {
        self.no_elements("float")
    }

    fn __eq__(&self, _other: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.no_elements("==")
    }

    fn __ne__(&self, _other: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.no_elements("!=")
    }

    fn __hash__(slf: &Bound<'_, PyGlobal>) -> usize {
        slf.as_ptr().addr()
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(
        slf: &Bound<'py, Self>,
        _memo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyGlobal>> {
        deepcopy(slf)
    }

    fn __reduce_ex__(&self, _protocol: usize) -> PyResult<Py<PyAny>> {
        self.no_elements("pickle")
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__(
        &self,
        dtype: Option<&Bound<'_, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let _ = (dtype, copy);
        self.no_elements("an array")
    }

    fn __repr__(&self) -> String {
        let (x, spread) = (&self.value, self.value.engine());
        let tracked = match self.kept {
            Some(_) => ", requires_grad=True",
            None => "",
        };
        format!(
            "GlobalTensor({}{}, sbp={}, mesh={}, rank={}{tracked})",
            x.dtype(),
            tuple(x.shape()),
            text(x.sbp()),
            tuple(spread.mesh().sizes()),
            spread.rank()
        )
    }
}

impl Class for PyGlobal {
    type Engine = Spread<Cpu>;

    fn value(&self) -> &Global<Cpu> {
        &self.value
    }

    fn kept(&self) -> Option<&Kept<PyGlobal>> {
        self.kept.as_deref()
    }

    fn object(
        py: Python<'_>,
        value: Global<Cpu>,
        kept: Option<Box<Kept<PyGlobal>>>,
    ) -> PyResult<Bound<'_, PyGlobal>> {
        begin();
        Bound::new(py, PyGlobal { value, kept })
    }

    fn leaves() -> &'static Leaves<PyGlobal> {
        static LEAVES: Leaves<PyGlobal> = Leaves::new(BTreeMap::new());
        &LEAVES
    }

    fn convert<'py>(
        object: &Bound<'py, PyAny>,
        name: &'static str,
    ) -> Result<Bound<'py, PyGlobal>, Raised> {
        if let Ok(x) = object.cast::<PyGlobal>() {
            return Ok(x.clone());
        }
        let first = super::first()?;
        let lying: Lying<'py> = literal(
            &Tape::over(first.engine()),
            &Object::from(object.clone()),
            name,
        )?;
        match lying.given {
            Some(given) => Ok(given),
            None => Ok(PyGlobal::var_object(object.py(), *lying.var)?),
        }
    }

    fn require_beside(x: &Global<Cpu>, grad: &Global<Cpu>) -> stridewise::Result<()> {
        spread(x).require_mine(&[grad])
    }

    fn gradient(
        object: &Bound<'_, PyAny>,
        name: &'static str,
        of: &Global<Cpu>,
        tracked: bool,
    ) -> Result<Var<Spread<Cpu>>, Raised> {
        let made = Call(of.clone()).during(name, || PyGlobal::convert(object, name))?;
        let seed = made.get().var();
        PyGlobal::require_beside(of, seed.value())?;
        if object.is(&made) {
            return Ok(if tracked { seed } else { seed.detach() });
        }
        match is_weak(object, seed.value().dtype(), of.dtype())? {
            true => Ok(seed.cast(of.dtype())?),
            false => Ok(seed),
        }
    }
}

/// A copy with memory of its own, and with a copy of its gradient.
fn deepcopy<'py>(slf: &Bound<'py, PyGlobal>) -> PyResult<Bound<'py, PyGlobal>> {
    let (py, x) = (slf.py(), slf.get());
    let named = |error: Error| error.within("deepcopy");
    let is_leaf = x.kept.as_ref().map(|kept| kept.leaf.is_some());
    if is_leaf == Some(false) {
        let message =
            "the tensor has a history, which cannot be copied: it leads to tensors that stay";
        let error = Error::gradient(message).help("call `detach()` first");
        return Err(named(error)).or_raise(py);
    }
    let value = unlocked(py, || x.value.engine().copy(&x.value))
        .map_err(named)
        .or_raise(py)?;
    let copy = made(py, value, is_leaf.is_some());
    let copy = copy.map_err(|raised| raised.exception(py, "deepcopy", None))?;
    if let Some(grad) = x.grad(py) {
        copy.setattr("grad", deepcopy(grad.bind(py))?)?;
    }
    Ok(copy)
}

/// A global tensor from this rank's part of it.
pub(crate) fn from_parts<'py>(
    x: &Bound<'py, PyTensor>,
    mesh: &PyMesh,
    held: &Bound<'py, PyAny>,
    requires_grad: bool,
) -> Result<Bound<'py, PyGlobal>, Raised> {
    let py = x.py();
    let wanted = held_as(held)?;
    let part = local(x)?;
    let value = unlocked(py, || mesh.spread().from_parts(part, &wanted))?;
    made(py, value, requires_grad)
}

/// A global tensor from the whole of it.
pub(super) fn from_whole<'py>(
    spread: &Spread<Cpu>,
    x: &Bound<'py, PyAny>,
    held: &Bound<'py, PyAny>,
    requires_grad: bool,
) -> Result<Bound<'py, PyGlobal>, Raised> {
    let py = x.py();
    let wanted = held_as(held)?;
    if let Ok(x) = x.cast::<PyGlobal>() {
        let message = format!("x is a global tensor already, {:?}", x.get().value);
        let error = Error::type_(message).at_argument("x");
        return Err(error.help("`x.to_sbp(sbp)` holds it otherwise").into());
    }
    let whole = local(&convert(x, None, None, "x")?)?;
    let value = unlocked(py, || spread.from_whole(whole, &wanted))?;
    made(py, value, requires_grad)
}

/// The tensor of one rank, which must not have a history: no gradient would come back to it.
fn local(x: &Bound<'_, PyTensor>) -> Result<Tensor, Error> {
    match gradients::tracked(x.get()) {
        None => Ok(Tensor::clone(&x.get().inner)),
        Some(_) => Err(Error::gradient(
            "the tensor requires a gradient, but no gradient comes back to a tensor of one rank",
        )
        .at_argument("x")
        .help("call `detach()` first, and say `requires_grad=True` of the global tensor")),
    }
}

fn made(
    py: Python<'_>,
    value: Global<Cpu>,
    requires_grad: bool,
) -> Result<Bound<'_, PyGlobal>, Raised> {
    let kept = match requires_grad {
        true => Kept::leaf(&value)?,
        false => None,
    };
    Ok(PyGlobal::object(py, value, kept)?)
}
