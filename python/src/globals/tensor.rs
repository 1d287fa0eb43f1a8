//! The class `GlobalTensor`: one logical tensor over the ranks of a mesh, of which this rank has its part.

use std::collections::BTreeMap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stridewise::prelude::*;
use stridewise::size::tuple;
use stridewise::spread::sbp::text;
use stridewise::{Error, Global, Spread, Value, Var};

use super::{PyMesh, held_as, sbp};
use crate::arguments::Raised;
use crate::dtype::PyDType;
use crate::elsewhere::{Away, begin, methods};
use crate::errors::OrRaise;
use crate::foreign::asarray::convert;
use crate::gradients::{self, Class, Kept, Leaves};
use crate::tensor::{PyTensor, object};
use crate::unlocked::unlocked;

/// The engine of global tensors.
type Engine = Spread<Cpu>;

/// One logical tensor over the ranks of a mesh; every operator works on it and gives what one machine would give.
///
/// Made by ``Tensor.to_global`` from the part that each rank has, or by ``Mesh.shard`` from the whole. All ranks call
/// the same things in the same order.
#[pyclass(name = "GlobalTensor", module = "stridewise", frozen, weakref)]
pub(crate) struct PyGlobal {
    value: Global<Cpu>,
    kept: Option<Box<Kept<PyGlobal>>>,
}

impl PyGlobal {
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
        methods::shape::<Engine>(py, &self.value)
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
        methods::made::<Engine>(py, "T", || self.noted().transpose(..))
    }

    /// The last two axes swapped.
    #[getter(mT)]
    fn matrix_transpose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyGlobal>> {
        methods::made::<Engine>(py, "mT", || self.noted().swapaxes(-2, -1))
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

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyGlobal>> {
        methods::part::<Engine>(self, index)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        methods::slices::<Engine>(py, self)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        methods::len::<Engine>(py, &self.value)
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
        methods::deepcopy::<Engine>(slf)
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
    type Engine = Engine;

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
        begin::<Engine>();
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
        methods::convert::<Engine>(object, name)
    }

    fn require_beside(x: &Global<Cpu>, grad: &Global<Cpu>) -> stridewise::Result<()> {
        Engine::require_together(x, grad)
    }

    fn gradient(
        object: &Bound<'_, PyAny>,
        name: &'static str,
        of: &Global<Cpu>,
        tracked: bool,
    ) -> Result<Var<Engine>, Raised> {
        methods::gradient::<Engine>(object, name, of, tracked)
    }
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
    methods::object::<Engine>(py, value, requires_grad)
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
    methods::object::<Engine>(py, value, requires_grad)
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
