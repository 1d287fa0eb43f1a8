//! The class `Tensor`: what Python people expect of an array, around a tensor in main memory.

mod compare;
mod export;
mod html;
pub(crate) mod index;
mod iterate;
mod numbers;
mod numpy;
mod objects;
mod pickle;
mod shelf;
mod slot;
mod slots;
mod transposed;
mod ufunc;

use std::ffi::c_int;

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use stridewise::Error;
use stridewise::prelude::*;
use stridewise::size::tuple;

use crate::dtype::{PyDType, numpy_dtype};
use crate::errors::{OrRaise, exception};
use crate::foreign::asarray::asarray;
use crate::foreign::dlpack;
use crate::globals;
use crate::gpu;
use crate::gradients::{self, Kept, var};
use numbers::{nest, numbers};
pub(crate) use objects::Objects;
pub(crate) use shelf::is_plain_tensor;
pub(crate) use slot::{Slot, object, object_from};

/// A tensor in main memory: an immutable value. Views share memory and cost nothing.
#[pyclass(name = "Tensor", module = "stridewise", frozen, weakref, subclass, extends = shelf::Base)]
pub(crate) struct PyTensor {
    pub(crate) inner: Slot,
}

#[pymethods]
impl PyTensor {
    /// A tensor, as `asarray` makes it; here so that there can be subclasses.
    #[new]
    #[pyo3(signature = (obj, dtype=None, *, requires_grad=None))]
    fn new(
        obj: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        requires_grad: Option<bool>,
    ) -> PyResult<PyTensor> {
        let py = obj.py();
        let made = asarray(obj, dtype, None, requires_grad.filter(|wanted| !wanted))?;
        let made = var(made.get());
        // An object of its own needs a gradient of its own, or a history that leads to the one it was made from.
        let kept = match (made.history(), requires_grad) {
            (Some(history), _) => Some(Kept::of(history)),
            (None, Some(true)) => Kept::leaf(made.value())
                .map_err(|error| error.within("asarray"))
                .or_raise(py)?,
            (None, _) => None,
        };
        Ok(PyTensor {
            inner: Slot::new(made.into_value(), kept),
        })
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.shape())
    }

    /// The stride of each axis, in elements.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.strides())
    }

    /// The element type.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyDType>> {
        PyDType::object(py, self.inner.dtype())
    }

    /// NumPy's dtype of the elements. From version 2.4 on NumPy asks for it where an object that may stand for a
    /// dtype has an attribute `dtype` that is none of NumPy's own, as JAX makes it do for every array.
    #[getter]
    fn __numpy_dtype__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy_dtype(py, self.inner.dtype())
    }

    /// How many axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.inner.rank()
    }

    /// How many elements.
    #[getter]
    fn size(&self) -> usize {
        self.inner.count()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.inner.nbytes()
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.inner.dtype().width()
    }

    /// Where the elements are: ``"cpu"``.
    #[getter]
    fn device(&self) -> &'static str {
        "cpu"
    }

    /// Whether gradients come back to it or through it: it was made with ``requires_grad=True``, or from a tensor
    /// that was.
    #[getter]
    fn requires_grad(&self) -> bool {
        self.inner.kept().is_some()
    }

    /// The gradient that ``backward`` has brought so far, added up; None before, and for a tensor that was not made
    /// with ``requires_grad=True``. Set it to None to begin anew, or to a tensor of this one's shape and dtype.
    #[getter]
    fn grad(&self, py: Python<'_>) -> Option<Py<PyTensor>> {
        self.inner.kept()?.leaf.as_ref()?.grad(py)
    }

    #[setter]
    fn set_grad(slf: &Bound<'_, Self>, grad: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        gradients::assign(slf, grad)
    }

    /// Adds the gradient of this tensor to the ``grad`` of every tensor with ``requires_grad=True`` it was made from.
    ///
    /// Parameters
    /// ----------
    /// grad : array_like, optional
    ///     The seed: the gradient of whatever this tensor goes into, with its shape and dtype. A tensor of one element
    ///     needs none.
    /// retain_graph : bool, default False
    ///     Whether to keep the history, so that there can be another ``backward``; otherwise it is let go.
    /// create_graph : bool, default False
    ///     Whether the gradients have a history of their own, which leads to ``grad``. Keeps this history too.
    ///
    /// Raises
    /// ------
    /// GradientError
    ///     The tensor has no history, or it has been let go.
    /// ShapeError, DTypeError
    ///     The seed is not of the tensor's shape and dtype.
    /// ArgumentError
    ///     There is no seed, but more than one element.
    ///
    /// Examples
    /// --------
    /// >>> import stridewise as sw
    /// >>> x = sw.to_tensor([[1.0], [2.0]], requires_grad=True)
    /// >>> x.expand(-1, 3).backward([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    /// >>> x.grad
    /// tensor([[ 6.],
    ///         [15.]])
    #[pyo3(signature = (grad=None, *, retain_graph=false, create_graph=false))]
    fn backward(
        slf: &Bound<'_, Self>,
        grad: Option<&Bound<'_, PyAny>>,
        retain_graph: bool,
        create_graph: bool,
    ) -> PyResult<()> {
        gradients::backward(slf, grad, retain_graph, create_graph)
    }

    /// The same elements, in the same memory, without a history: no gradient comes back through it.
    fn detach<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTensor>> {
        gradients::detached(slf)
    }

    /// A global tensor from the parts that the ranks of a mesh have, this one being this rank's. All ranks call it
    /// together, and tell each other the shapes of their parts.
    ///
    /// Parameters
    /// ----------
    /// mesh : Mesh
    ///     The ranks.
    /// sbp : Sbp, str, or sequence of them
    ///     How each mesh axis holds it. The parts of a split are balanced: their sizes differ by at most one, the longer
    ///     ones first. For a broadcast each rank gives all of it.
    /// requires_grad : bool, default False
    ///     Whether it is a tensor to differentiate by.
    ///
    /// Raises
    /// ------
    /// WorldError
    ///     The parts do not fit together, or a rank is gone, late or calls something else.
    ///
    /// Examples
    /// --------
    /// >>> import stridewise as sw
    /// >>> sw.spawn(lambda: sw.full([2], sw.rank()).to_global(sw.mesh(3), "S(0)").gather().tolist(), ranks=3)[0]
    /// [0, 0, 1, 1, 2, 2]
    #[pyo3(signature = (mesh, sbp, *, requires_grad=false))]
    fn to_global<'py>(
        slf: &Bound<'py, Self>,
        mesh: &globals::PyMesh,
        sbp: &Bound<'py, PyAny>,
        requires_grad: bool,
    ) -> PyResult<Bound<'py, globals::PyGlobal>> {
        let made = globals::from_parts(slf, mesh, sbp, requires_grad);
        made.map_err(|raised| raised.exception(slf.py(), "to_global", None))
    }

    /// The tensor on a device; itself where it is there already.
    ///
    /// Parameters
    /// ----------
    /// device : str
    ///     ``"cpu"``, where it is, or ``"gpu"``, which gives a ``GpuTensor``.
    /// requires_grad : bool, default False
    ///     Whether it is a tensor to differentiate by.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     There is no GPU, or the package was built without.
    /// OutOfMemory
    ///     It does not fit there.
    /// GradientError
    ///     The tensor requires a gradient, and none comes back from elsewhere.
    ///
    /// Examples
    /// --------
    /// >>> import stridewise as sw
    /// >>> x = sw.arange(3)
    /// >>> x.device, x.to("cpu") is x
    /// ('cpu', True)
    #[pyo3(signature = (device, *, requires_grad=false))]
    fn to<'py>(
        slf: &Bound<'py, Self>,
        device: &Bound<'py, PyAny>,
        requires_grad: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let there = gpu::to(slf, device, requires_grad);
        there.map_err(|raised| raised.exception(slf.py(), "to", None))
    }

    /// The address of the element at index zero.
    fn data_ptr(&self) -> usize {
        self.inner.as_ptr().addr()
    }

    /// Whether the memory of both overlaps; see ``stridewise.shares_memory``.
    fn shares_memory(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        compare::shares_memory(slf, other)
    }

    /// Whether this tensor looks at memory that ``other`` has: for a tensor, the same storage, whichever of
    /// the two was made first; for an array of another library, the bytes it reaches.
    fn is_view_of(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        compare::is_view_of(slf, other)
    }

    /// The elements as nested lists of Python numbers.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let flat = numbers(py, &self.inner, "tolist")?;
        nest(py, self.inner.shape(), flat)
    }

    /// One element as a Python number: the only one, or the one at an index. A single int counts the
    /// elements row by row.
    #[pyo3(signature = (*index))]
    fn item<'py>(&self, index: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        match index.is_empty() {
            true => only(py, &self.inner),
            false => only(py, &index::element(py, &self.inner, index)?),
        }
    }

    /// A NumPy array over the same memory, read-only. bfloat16 needs the package ml_dtypes.
    fn numpy(slf: Bound<'_, PyTensor>) -> PyResult<Bound<'_, PyAny>> {
        gradients::require_none(slf.get(), "numpy").or_raise(slf.py())?;
        numpy::shared(&slf)
    }

    /// A NumPy array, as `numpy.asarray` asks for it.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: Bound<'py, PyTensor>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        gradients::require_none(slf.get(), "__array__").or_raise(slf.py())?;
        numpy::array(&slf, dtype, copy)
    }

    /// A DLPack capsule over the same memory, marked read-only; a copy for libraries that cannot be told so, and
    /// of negative strides, which most misread, unless `copy` is False.
    /// PyTorch and Paddle take the mark but do not heed it: what is written there changes the tensor.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<Bound<'py, PyAny>>,
        dl_device: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = dlpack::Request {
            stream: stream.as_ref(),
            max_version: max_version.as_ref(),
            device: dl_device.as_ref(),
            copy,
        };
        gradients::require_none(self, "__dlpack__").or_raise(py)?;
        dlpack::export(py, &self.inner, request)
    }

    /// Where the memory is, in DLPack's numbers: the CPU.
    fn __dlpack_device__(&self) -> (i64, i64) {
        dlpack::device()
    }

    /// The bytes of the elements, row-major.
    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        pickle::bytes(py, &self.inner, "bytes")
    }

    fn __len__(&self) -> PyResult<usize> {
        let first = self.inner.shape().first().copied();
        first.ok_or_else(|| PyTypeError::new_err("a tensor of rank 0 has no length"))
    }

    fn __iter__(&self) -> PyResult<iterate::PyTensorIterator> {
        match self.inner.rank() {
            0 => Err(PyTypeError::new_err(
                "a tensor of rank 0 has no axis to iterate over",
            )),
            _ => Ok(iterate::PyTensorIterator::new(var(self))),
        }
    }

    fn __reversed__(&self, py: Python<'_>) -> PyResult<iterate::PyTensorIterator> {
        match self.inner.rank() {
            0 => self.__iter__(),
            _ => {
                let reversed = match gradients::tracked(self) {
                    Some(x) => x.flip(0).or_raise(py)?,
                    None => gradients::tape().constant(self.inner.flip(0).or_raise(py)?),
                };
                Ok(iterate::PyTensorIterator::new(reversed))
            }
        }
    }

    fn __contains__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        compare::contains(&self.inner, other)
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let answer = match op {
            CompareOp::Eq => compare::compare(&self.inner, other, false)?,
            CompareOp::Ne => compare::compare(&self.inner, other, true)?,
            _ => None,
        };
        match answer {
            Some(answer) => Ok(object(py, answer)?.into_any().unbind()),
            None => Ok(py.NotImplemented()),
        }
    }

    /// NumPy's functions see a tensor as the array over its memory; `==` and `!=` stay ours.
    #[pyo3(signature = (ufunc, method, *inputs, **options))]
    fn __array_ufunc__<'py>(
        &self,
        ufunc: &Bound<'py, PyAny>,
        method: &str,
        inputs: &Bound<'py, PyTuple>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        ufunc::call(ufunc, method, inputs, options)
    }

    /// The picture notebooks show.
    fn _repr_html_(&self) -> String {
        html::page(&self.inner)
    }

    fn __repr__(&self) -> String {
        let text = format!("{:?}", *self.inner);
        match (self.inner.kept(), text.strip_suffix(')')) {
            (Some(_), Some(open)) => format!("{open}, requires_grad=True)"),
            _ => text,
        }
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }

    /// One number by Python's rules for it; several only without a specification.
    fn __format__<'py>(slf: &Bound<'py, Self>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        let (py, x) = (slf.py(), &slf.get().inner);
        if spec.is_empty() {
            return Ok(slf.str()?.into_any());
        }
        if x.rank() > 0 {
            let message = format!("`{spec}` is for one number, but the tensor has an axis");
            let error = Error::type_(message)
                .within("format")
                .at_argument("spec")
                .note("shape", tuple(x.shape()))
                .help("format its elements, for example those of `tolist`");
            return Err(error).or_raise(py);
        }
        only(py, x)?.call_method1("__format__", (spec,))
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_number(py, &self.inner, "int")
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_number(py, &self.inner, "float")
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_number(py, &self.inner, "complex")
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.inner.dtype().is_integer() && self.inner.rank() == 0 {
            true => only(py, &self.inner),
            false => Err(PyTypeError::new_err(
                "only an integer tensor of rank 0 is an index",
            )),
        }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        match self.inner.count() {
            1 => only(py, &self.inner)?.is_truthy(),
            count => Err(PyValueError::new_err(format!(
                "the truth of a tensor of {count} elements is ambiguous"
            ))),
        }
    }

    fn __copy__(slf: Bound<'_, PyTensor>) -> Bound<'_, PyTensor> {
        slf
    }

    fn __deepcopy__<'py>(
        slf: Bound<'py, PyTensor>,
        memo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        pickle::deepcopy(&slf, memo)
    }

    fn __reduce_ex__<'py>(
        slf: &Bound<'py, Self>,
        protocol: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce(slf, protocol)
    }

    /// # Safety
    /// Called by the interpreter, with a structure to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        gradients::require_none(slf.get(), "memoryview").or_raise(slf.py())?;
        // SAFETY: the interpreter gives a structure to fill.
        unsafe { export::lend(slf, view, flags) }
    }

    /// # Safety
    /// Called by the interpreter, with a structure that `__getbuffer__` has filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: the structure is one that `__getbuffer__` has filled, and this is the only release.
        unsafe { export::release(view) }
    }
}

/// The one element as a Python number.
fn only<'py>(py: Python<'py>, x: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let number = match x.count() {
        1 => numbers(py, x, "item")?.pop(),
        _ => None,
    };
    number.ok_or_else(|| {
        let message = format!("the tensor has {} elements, not one", x.count());
        let error = Error::shape(message).within("item").at_argument("x");
        let error = error.sizes(1, x.count()).note("shape", tuple(x.shape()));
        exception(py, &error.help("give the index of the one that is meant"))
    })
}

/// The one element, through a class of Python's numbers; several are a `TypeError`, as in NumPy.
fn as_number<'py>(py: Python<'py>, x: &Tensor, class: &str) -> PyResult<Bound<'py, PyAny>> {
    if x.count() != 1 {
        let message = format!("{class}: the tensor has {} elements, not one", x.count());
        return Err(PyTypeError::new_err(message));
    }
    py.import("builtins")?
        .getattr(class)?
        .call1((only(py, x)?,))
}

/// Adds what belongs to tensors to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    shelf::open(module.py())?;
    transposed::register(module.py())?;
    module.add_function(wrap_pyfunction!(pickle::_rebuild, module)?)?;
    module.add_function(wrap_pyfunction!(compare::array_equal, module)?)?;
    module.add_function(wrap_pyfunction!(compare::allclose, module)?)?;
    module.add_function(wrap_pyfunction!(compare::shares_memory, module)?)
}

impl From<Tensor> for PyTensor {
    fn from(tensor: Tensor) -> PyTensor {
        PyTensor {
            inner: tensor.into(),
        }
    }
}
