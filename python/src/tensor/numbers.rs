//! Elements as Python numbers.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use stridewise::internals::element::Element;
use stridewise::num_complex::Complex;
use stridewise::prelude::*;

use crate::errors::OrRaise;

/// The elements as Python numbers, row-major.
pub(crate) fn numbers<'py>(py: Python<'py>, x: &Tensor) -> PyResult<Vec<Bound<'py, PyAny>>> {
    use stridewise::dtype::Family;
    fn list<'py, T: Element + IntoPyObject<'py>>(
        py: Python<'py>,
        x: &Tensor,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let values = x.to_vec::<T>().or_raise(py)?.into_iter();
        values.map(|v| v.into_bound_py_any(py)).collect()
    }
    let wide = match x.dtype().family() {
        Family::Bool => return list::<bool>(py, x),
        Family::Unsigned => DType::U64,
        Family::Signed => DType::I64,
        Family::Float => DType::F64,
        Family::Complex => DType::C128,
    };
    let x = x.cast(wide).or_raise(py)?;
    match wide {
        DType::U64 => list::<u64>(py, &x),
        DType::I64 => list::<i64>(py, &x),
        DType::F64 => list::<f64>(py, &x),
        _ => {
            let values = x.to_vec::<Complex<f64>>().or_raise(py)?.into_iter();
            values
                .map(|z| Ok(pyo3::types::PyComplex::from_doubles(py, z.re, z.im).into_any()))
                .collect()
        }
    }
}

pub(crate) fn nest<'py>(
    py: Python<'py>,
    shape: &[usize],
    flat: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let Some((&size, inner)) = shape.split_first() else {
        return Ok(flat[0].clone());
    };
    let part = flat.len().checked_div(size).unwrap_or(0);
    let parts = (0..size).map(|at| nest(py, inner, &flat[at * part..(at + 1) * part]));
    Ok(PyList::new(py, parts.collect::<PyResult<Vec<_>>>()?)?.into_any())
}
