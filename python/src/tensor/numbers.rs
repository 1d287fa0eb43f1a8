//! Elements as Python numbers.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use stridewise::Error;
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

/// The most lists that one call makes; more would fill any machine before they are all there.
const MOST_LISTS: usize = 1 << 31;

/// The elements in lists within lists, one level for each axis, from the innermost out: there may be more axes
/// than the stack has room for calls.
pub(crate) fn nest<'py>(
    py: Python<'py>,
    shape: &[usize],
    mut parts: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    for (axis, &size) in shape.iter().enumerate().rev() {
        let lists = shape[..axis]
            .iter()
            .try_fold(1usize, |n, &size| n.checked_mul(size));
        let Some(lists) = lists.filter(|n| *n <= MOST_LISTS) else {
            let message = "so many lists no machine can hold";
            return Err(Error::memory(message).within("tolist")).or_raise(py);
        };
        let mut items = parts.into_iter();
        let list =
            |_| Ok(PyList::new(py, items.by_ref().take(size).collect::<Vec<_>>())?.into_any());
        parts = (0..lists).map(list).collect::<PyResult<_>>()?;
    }
    match parts.pop() {
        Some(whole) => Ok(whole),
        None => Ok(PyList::empty(py).into_any()),
    }
}
