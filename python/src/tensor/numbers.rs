//! Elements as Python numbers.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyList};
use stridewise::Error;
use stridewise::dtype::Family;
use stridewise::internals::element::Element;
use stridewise::num_complex::Complex;
use stridewise::prelude::*;

use crate::errors::OrRaise;

/// The elements as Python numbers, row-major, for `operator`.
pub(crate) fn numbers<'py>(
    py: Python<'py>,
    x: &Tensor,
    operator: &'static str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let named = |error: Error| error.within(operator);
    let wide = match x.dtype().family() {
        Family::Bool => return each(py, x, operator, |flag: bool| flag.into_bound_py_any(py)),
        Family::Unsigned => DType::U64,
        Family::Signed => DType::I64,
        Family::Float => DType::F64,
        Family::Complex => DType::C128,
    };
    let x = x.cast(wide).map_err(named).or_raise(py)?;
    match wide {
        DType::U64 => each(py, &x, operator, |n: u64| n.into_bound_py_any(py)),
        DType::I64 => each(py, &x, operator, |n: i64| n.into_bound_py_any(py)),
        DType::F64 => each(py, &x, operator, |n: f64| n.into_bound_py_any(py)),
        _ => each(py, &x, operator, |z: Complex<f64>| {
            Ok(PyComplex::from_doubles(py, z.re, z.im).into_any())
        }),
    }
}

fn each<'py, T: Element>(
    py: Python<'py>,
    x: &Tensor,
    operator: &'static str,
    object: impl Fn(T) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let values = x
        .to_vec::<T>()
        .map_err(|error| error.within(operator))
        .or_raise(py)?;
    let mut objects = Vec::new();
    if objects.try_reserve_exact(values.len()).is_err() {
        let message = format!("memory has no room for {} objects", values.len());
        return Err(Error::memory(message).within(operator)).or_raise(py);
    }
    for value in values {
        objects.push(object(value)?);
    }
    Ok(objects)
}

/// The most lists that are made for a tensor without elements; more would only fill the machine. A tensor with
/// elements needs no more lists on a level than it has elements.
const MOST_LISTS: usize = 1 << 24;

/// The elements in lists within lists, one level for each axis, from the innermost out: there may be more axes
/// than the stack has room for calls.
pub(crate) fn nest<'py>(
    py: Python<'py>,
    shape: &[usize],
    mut parts: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let most = MOST_LISTS.max(parts.len());
    for (axis, &size) in shape.iter().enumerate().rev() {
        let lists = shape[..axis]
            .iter()
            .try_fold(1usize, |n, &size| n.checked_mul(size));
        let Some(lists) = lists.filter(|n| *n <= most) else {
            let message =
                format!("more than {most} lists are needed, none of which holds a number");
            return Err(Error::memory(message).within("tolist").at_axis(axis)).or_raise(py);
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
