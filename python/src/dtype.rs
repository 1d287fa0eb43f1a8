//! The class `dtype`, and the names other libraries have for element types.

use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use stridewise::DType;

use crate::errors::OrRaise;

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
    if class.ends_with("DType") || class == "dtype" || class == "DataType" {
        let name = object.str()?.to_string();
        let name = name.rsplit('.').next().unwrap_or_default();
        return Ok(name.parse().ok());
    }
    Ok(None)
}

/// An element type: prints as NumPy's name and compares equal to it.
#[pyclass(name = "dtype", module = "stridewise", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PyDType(pub(crate) DType);

#[pymethods]
impl PyDType {
    /// NumPy's name of it.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.width()
    }

    fn __str__(&self) -> &'static str {
        self.0.name()
    }

    fn __repr__(&self) -> String {
        format!("stridewise.{}", self.0.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let getattr = py.import("builtins")?.getattr("getattr")?;
        let arguments = (py.import("stridewise._stridewise")?, self.0.name());
        (getattr, arguments).into_pyobject(py)
    }
}

/// A dtype given in any way, strings included.
pub(crate) fn named_dtype(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    if let Some(dtype) = dtype(object)? {
        return Ok(dtype);
    }
    let name = object.str()?.to_string();
    name.parse().or_raise(object.py())
}
