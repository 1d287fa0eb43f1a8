//! The class `GpuTensor`: a tensor whose elements are on a GPU.

use std::collections::BTreeMap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stridewise::gpu::Tensor as OnGpu;
use stridewise::prelude::*;
use stridewise::size::tuple;
use stridewise::{Error, Gpu, Var};

use super::{Place, place};
use crate::arguments::Raised;
use crate::dtype::PyDType;
use crate::elsewhere::{Away, begin, methods};
use crate::errors::{OrRaise, exception};
use crate::gradients::{self, Class, Kept, Leaves};
use crate::tensor::{PyTensor, object};
use crate::unlocked::unlocked;

/// A tensor on a GPU; every operator works on it there, and gives what the CPU gives, bit for bit.
///
/// Made by ``Tensor.to("gpu")``. Calls return before the GPU has run them; a result is waited for where it is read, by
/// ``to("cpu")``, ``numpy``, ``tolist``, ``item`` or by being printed, and an index that is out of range is raised there.
#[pyclass(name = "GpuTensor", module = "stridewise", frozen, weakref)]
pub(crate) struct PyGpu {
    value: OnGpu,
    kept: Option<Box<Kept<PyGpu>>>,
}

impl PyGpu {
    /// The tensor in main memory.
    fn here<'py>(&self, py: Python<'py>, method: &'static str) -> PyResult<Bound<'py, PyTensor>> {
        let read = unlocked(py, || self.value.download());
        object(py, read.map_err(|error| error.within(method)).or_raise(py)?)
    }

    /// Refuses to hand out the elements of a tensor with a history: what is made of them would silently have none.
    fn require_none(&self, method: &'static str) -> Result<(), Error> {
        match self.kept {
            None => Ok(()),
            Some(_) => Err(Error::gradient(
                "the tensor requires a gradient, but no gradient comes back to the GPU from elsewhere",
            )
            .help("call `detach()` first")
            .within(method)),
        }
    }

    /// A call of what the same tensor in main memory has.
    fn read<'py>(
        &self,
        py: Python<'py>,
        method: &'static str,
        arguments: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.here(py, method)?.call_method1(method, arguments)
    }

    fn refused<T>(&self, what: &str) -> PyResult<T> {
        Err(PyTypeError::new_err(format!(
            "{what}: the tensor, {} of shape {}, is on the GPU; `to(\"cpu\")` brings it to main memory",
            self.value.dtype(),
            tuple(self.value.shape())
        )))
    }
}

#[pymethods]
impl PyGpu {
    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        methods::shape::<Gpu>(py, &self.value)
    }

    /// The stride of each axis, in elements.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.value.strides())
    }

    /// The element type.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyDType>> {
        PyDType::object(py, self.value.dtype())
    }

    /// How many axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.value.rank()
    }

    /// How many elements.
    #[getter]
    fn size(&self) -> usize {
        self.value.count()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.value.nbytes()
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.value.dtype().width()
    }

    /// Where the elements are: ``"gpu"``.
    #[getter]
    fn device(&self) -> &'static str {
        "gpu"
    }

    /// The axes reversed.
    #[getter(T)]
    fn reversed_axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyGpu>> {
        methods::made::<Gpu>(py, "T", || self.noted().transpose(..))
    }

    /// The last two axes swapped.
    #[getter(mT)]
    fn matrix_transpose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyGpu>> {
        methods::made::<Gpu>(py, "mT", || self.noted().swapaxes(-2, -1))
    }

    /// The tensor on a device, ``"cpu"`` or ``"gpu"``; itself where it is there already.
    ///
    /// Parameters
    /// ----------
    /// device : str
    ///     ``"cpu"`` waits for the GPU and reads the elements.
    /// requires_grad : bool, default False
    ///     Whether what arrives in main memory is a tensor to differentiate by.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     The GPU was lost.
    /// IndexOutOfRange
    ///     An index that the tensor was made with points outside.
    /// GradientError
    ///     The tensor requires a gradient, and none comes back from elsewhere.
    #[pyo3(signature = (device, *, requires_grad=false))]
    fn to<'py>(
        slf: &Bound<'py, Self>,
        device: &Bound<'py, PyAny>,
        requires_grad: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, x) = (slf.py(), slf.get());
        let raised = |raised: Raised| raised.exception(py, "to", None);
        if place(device).map_err(raised)? == Place::Gpu {
            return match requires_grad && x.kept.is_none() {
                true => {
                    let leaf = methods::object::<Gpu>(py, x.value.clone(), true);
                    Ok(leaf.map_err(raised)?.into_any())
                }
                false => Ok(slf.clone().into_any()),
            };
        }
        x.require_none("to").or_raise(py)?;
        let here = x.here(py, "to")?;
        match requires_grad {
            true => {
                let leaf = gradients::leaf(py, Tensor::clone(&here.get().inner));
                Ok(leaf
                    .map_err(|error| error.within("to"))
                    .or_raise(py)??
                    .into_any())
            }
            false => Ok(here.into_any()),
        }
    }

    /// The elements as a NumPy array in main memory, read-only. bfloat16 needs the package ml_dtypes.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.require_none("numpy").or_raise(py)?;
        self.read(py, "numpy", &PyTuple::empty(py))
    }

    /// The elements as nested lists of Python numbers.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, "tolist", &PyTuple::empty(py))
    }

    /// One element as a Python number: the only one, or the one at an index.
    #[pyo3(signature = (*index))]
    fn item<'py>(&self, index: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        self.read(index.py(), "item", index)
    }

    /// Whether both look at the same memory on the GPU.
    fn shares_memory(&self, other: &PyGpu) -> bool {
        self.value.shares_storage_with(&other.value)
    }

    /// Whether gradients come back to it or through it: it was made with ``requires_grad=True``, or from a tensor
    /// that was.
    #[getter]
    fn requires_grad(&self) -> bool {
        self.kept.is_some()
    }

    /// The gradient that ``backward`` has brought so far, added up, on the GPU; None before, and for a tensor that was
    /// not made with ``requires_grad=True``.
    #[getter]
    fn grad(&self, py: Python<'_>) -> Option<Py<PyGpu>> {
        self.kept.as_ref()?.leaf.as_ref()?.grad(py)
    }

    #[setter]
    fn set_grad(slf: &Bound<'_, Self>, grad: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        gradients::assign(slf, grad)
    }

    /// Adds the gradient of this tensor to the ``grad`` of every tensor with ``requires_grad=True`` it was made from;
    /// as ``Tensor.backward``. The seed is a tensor on the GPU, or numbers.
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
    fn detach<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyGpu>> {
        PyGpu::detached(slf)
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyGpu>> {
        methods::part::<Gpu>(self, index)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        methods::slices::<Gpu>(py, self)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        methods::len::<Gpu>(py, &self.value)
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        self.here(py, "bool")?.is_truthy()
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, "__int__", &PyTuple::empty(py))
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, "__float__", &PyTuple::empty(py))
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, "__complex__", &PyTuple::empty(py))
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, "__index__", &PyTuple::empty(py))
    }

    fn __eq__(&self, _other: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.refused("==")
    }

    fn __ne__(&self, _other: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.refused("!=")
    }

    fn __hash__(slf: &Bound<'_, PyGpu>) -> usize {
        slf.as_ptr().addr()
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(
        slf: &Bound<'py, Self>,
        _memo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyGpu>> {
        methods::deepcopy::<Gpu>(slf)
    }

    fn __reduce_ex__(&self, _protocol: usize) -> PyResult<Py<PyAny>> {
        self.refused("pickle")
    }

    /// NumPy's functions are not for tensors on the GPU.
    #[classattr]
    fn __array_ufunc__() -> Option<bool> {
        None
    }

    /// Refuses: nothing leaves the GPU unasked.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__(
        &self,
        py: Python<'_>,
        dtype: Option<&Bound<'_, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let _ = (dtype, copy);
        let error = Error::device(format!(
            "a tensor on the GPU, {} of shape {}, is used as one on the CPU",
            self.value.dtype(),
            tuple(self.value.shape())
        ))
        .sizes("cpu", "gpu")
        .help("`x.to(\"cpu\")` or `x.numpy()` brings it there");
        Err(exception(py, &error))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let tracked = match self.kept {
            Some(_) => ", requires_grad=True",
            None => "",
        };
        let text = match unlocked(py, || self.value.download()) {
            Ok(x) => format!("{x:?}"),
            Err(error) => {
                let (dtype, shape) = (self.value.dtype(), tuple(self.value.shape()));
                return format!("<GpuTensor {dtype}{shape}, which cannot be read: {error}>");
            }
        };
        let open = text.strip_suffix(')').unwrap_or(&text);
        format!("{open}, device='gpu'{tracked})")
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.here(py, "str")?.str()?.into_any())
    }

    /// One number by Python's rules for it; several only without a specification.
    fn __format__<'py>(&self, py: Python<'py>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        self.here(py, "format")?.call_method1("__format__", (spec,))
    }
}

impl Class for PyGpu {
    type Engine = Gpu;

    fn value(&self) -> &OnGpu {
        &self.value
    }

    fn kept(&self) -> Option<&Kept<PyGpu>> {
        self.kept.as_deref()
    }

    fn object(
        py: Python<'_>,
        value: OnGpu,
        kept: Option<Box<Kept<PyGpu>>>,
    ) -> PyResult<Bound<'_, PyGpu>> {
        begin::<Gpu>();
        Bound::new(py, PyGpu { value, kept })
    }

    fn leaves() -> &'static Leaves<PyGpu> {
        static LEAVES: Leaves<PyGpu> = Leaves::new(BTreeMap::new());
        &LEAVES
    }

    fn convert<'py>(
        object: &Bound<'py, PyAny>,
        name: &'static str,
    ) -> Result<Bound<'py, PyGpu>, Raised> {
        methods::convert::<Gpu>(object, name)
    }

    fn require_beside(x: &OnGpu, grad: &OnGpu) -> stridewise::Result<()> {
        Gpu::require_together(x, grad)
    }

    fn gradient(
        object: &Bound<'_, PyAny>,
        name: &'static str,
        of: &OnGpu,
        tracked: bool,
    ) -> Result<Var<Gpu>, Raised> {
        methods::gradient::<Gpu>(object, name, of, tracked)
    }
}

/// A tensor of main memory, on the GPU.
pub(crate) fn moved<'py>(
    x: &Bound<'py, PyTensor>,
    requires_grad: bool,
) -> Result<Bound<'py, PyAny>, Raised> {
    if gradients::tracked(x.get()).is_some() {
        return Err(Error::gradient(
            "the tensor requires a gradient, but no gradient comes back from the GPU to it",
        )
        .help("call `detach()` first, and say `requires_grad=True` of the tensor on the GPU")
        .into());
    }
    let py = x.py();
    let inner: &Tensor = &x.get().inner;
    let value = unlocked(py, || Gpu::open()?.upload(inner))?;
    Ok(methods::object::<Gpu>(py, value, requires_grad)?.into_any())
}
