//! The class `dtype`, and the names other libraries have for element types.

use pyo3::IntoPyObjectExt;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple, PyType};
use stridewise::dtype::Family;
use stridewise::{DType, Error};

use crate::errors::OrRaise;
use crate::foreign::numpy;

/// A dtype given as a type or another library's dtype; strings are read by the operator.
pub(crate) fn dtype(object: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    if let Ok(ours) = object.cast::<PyDType>() {
        return Ok(Some(ours.get().0));
    }
    if let Ok(class) = object.cast::<PyType>() {
        let name = class.name()?.to_string();
        return Ok(match name.as_str() {
            "bool" => Some(DType::Bool),
            "int" => Some(DType::I64),
            "float" => Some(DType::F64),
            "complex" => Some(DType::C128),
            // NumPy's scalar types, such as `np.float32`; a few have names of their own, such as `np.longlong`.
            other => match other.parse() {
                Ok(dtype) => Some(dtype),
                Err(_) if class.module()? == "numpy" => {
                    let numpy = object.py().import("numpy")?;
                    let dtype = numpy.call_method1("dtype", (class,));
                    let name = dtype.and_then(|dtype| dtype.getattr("name"));
                    name.ok().and_then(|name| name.to_string().parse().ok())
                }
                Err(_) => None,
            },
        });
    }
    let class = object.get_type().name()?.to_string();
    // `DataType` is Paddle's.
    if class.ends_with("DType") || class.starts_with("dtype") || class == "DataType" {
        let name = object.str()?.to_string();
        let name = name.rsplit('.').next().unwrap_or_default();
        return Ok(name.parse().ok());
    }
    Ok(None)
}

/// An element type: prints as NumPy's name, and is equal to that name and to other libraries' dtypes of it.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> sw.dtype("float32") is sw.float32, sw.float32 == "float32", sw.dtype(float)
/// (True, True, stridewise.float64)
#[pyclass(name = "dtype", module = "stridewise", frozen)]
#[derive(Clone, Copy)]
pub(crate) struct PyDType(pub(crate) DType);

/// One object for each dtype, so that `is` compares them too.
static OBJECTS: PyOnceLock<Vec<Py<PyDType>>> = PyOnceLock::new();

impl PyDType {
    /// The object for a dtype.
    pub(crate) fn object(py: Python<'_>, dtype: DType) -> PyResult<Py<PyDType>> {
        let objects = OBJECTS.get_or_try_init(py, || {
            DType::ALL
                .into_iter()
                .map(|dtype| Py::new(py, PyDType(dtype)))
                .collect::<PyResult<Vec<_>>>()
        })?;
        let found = objects.iter().find(|object| object.get().0 == dtype);
        match found {
            Some(object) => Ok(object.clone_ref(py)),
            None => Py::new(py, PyDType(dtype)),
        }
    }
}

#[pymethods]
impl PyDType {
    #[new]
    fn new(dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyDType>> {
        PyDType::object(dtype.py(), read(dtype, "dtype")?)
    }

    /// NumPy's dtype of the same elements, which makes `numpy.dtype(...)` take this one. bfloat16 needs the
    /// package ml_dtypes.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy_dtype(py, self.0)
    }

    /// The same, under the name that NumPy looks for first from version 2.4 on.
    #[getter]
    fn __numpy_dtype__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy_dtype(py, self.0)
    }

    /// NumPy's name.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.width()
    }

    /// NumPy's letter for what the elements are: b, u, i, f or c.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.family() {
            Family::Bool => "b",
            Family::Unsigned => "u",
            Family::Signed => "i",
            Family::Float => "f",
            Family::Complex => "c",
        }
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let same = match other.cast::<PyString>() {
            Ok(name) => Some(name.to_cow()? == self.0.name()),
            Err(_) => dtype(other)?.map(|dtype| dtype == self.0),
        };
        match (op, same) {
            (CompareOp::Eq, Some(same)) => same.into_py_any(py),
            (CompareOp::Ne, Some(same)) => (!same).into_py_any(py),
            _ => Ok(py.NotImplemented()),
        }
    }

    /// The hash of the name, which is equal.
    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, self.0.name()).hash()
    }

    fn __str__(&self) -> &'static str {
        self.0.name()
    }

    fn __repr__(&self) -> String {
        format!("stridewise.{}", self.0.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let class = py.get_type::<PyDType>();
        (class, (self.0.name(),)).into_pyobject(py)
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}

/// The dtype that `asarray` is asked for: given in any way, strings included.
pub(crate) fn named_dtype(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    read(object, "asarray")
}

/// A dtype given in any way, for `operator`.
fn read(object: &Bound<'_, PyAny>, operator: &'static str) -> PyResult<DType> {
    if let Some(dtype) = dtype(object)? {
        return Ok(dtype);
    }
    let found: stridewise::Result<DType> = match object.cast::<PyString>() {
        Ok(name) => name.to_cow()?.parse(),
        Err(_) => {
            let class = object.get_type().name()?;
            let message = format!("dtype is an object of type `{class}`, but a dtype is needed");
            Err(Error::type_(message).help("give a name such as \"float32\""))
        }
    };
    found
        .map_err(|error| error.at_argument("dtype").within(operator))
        .or_raise(object.py())
}

/// NumPy's dtype of the same elements.
pub(crate) fn numpy_dtype(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    let numpy = numpy::module(py, "a NumPy dtype")?;
    if dtype != DType::BF16 {
        return numpy.call_method1("dtype", (dtype.name(),));
    }
    let extra = py.import("ml_dtypes").map_err(|_| {
        PyImportError::new_err("NumPy has bfloat16 only with the package ml_dtypes: install it")
    })?;
    numpy.call_method1("dtype", (extra.getattr("bfloat16")?,))
}
