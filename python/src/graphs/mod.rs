//! Graphs from Python: functions traced with symbolic sizes, and run with arrays.

pub(crate) mod argument;
pub(crate) mod dim;
pub(crate) mod symbolic;
pub(crate) mod trace;

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyEllipsis, PyList, PyString, PyTuple};
use stridewise::call::Look;
use stridewise::dim::{Dim, Outline};
use stridewise::graph::may_declare;
use stridewise::size::{Shape, Size};
use stridewise::table::ParamKind;
use stridewise::{Error, Graph, Program, Symbolic, Tensor};

use crate::arguments::{Object, Raised, tensor_of};
use crate::dtype::{PyDType, named_dtype};
use crate::errors::OrRaise;
use crate::gpu;
use crate::gradients;
use crate::look;
use crate::tensor::{PyTensor, object};
use dim::{PyDim, dim_of};
use symbolic::{PySymbolic, shape_object, symbolic_object};
use trace::Tracing;

/// What an input of a graph is: a dtype, and as much of a shape as is known.
#[pyclass(name = "Spec", module = "stridewise", frozen)]
pub(crate) struct PySpec {
    dtype: stridewise::DType,
    /// The sizes in front, whether any number of axes follows, and the sizes behind.
    front: Vec<Option<Dim>>,
    open: bool,
    back: Vec<Option<Dim>>,
}

#[pymethods]
impl PySpec {
    /// A spec from a dtype and a shape: ints, symbols, sizes, ``None`` for a size that is not known, ``...`` for any
    /// number of axes; no shape at all where not even the rank is known.
    #[new]
    #[pyo3(signature = (dtype, shape=None))]
    fn new(dtype: &Bound<'_, PyAny>, shape: Option<&Bound<'_, PyAny>>) -> PyResult<PySpec> {
        let dtype = named_dtype(dtype)?;
        let mut spec = PySpec {
            dtype,
            front: Vec::new(),
            open: shape.is_none(),
            back: Vec::new(),
        };
        for item in shape
            .map(|shape| shape.try_iter())
            .transpose()?
            .into_iter()
            .flatten()
        {
            let item = item?;
            if item.is_instance_of::<PyEllipsis>() {
                if spec.open {
                    return Err(PyValueError::new_err(
                        "spec: the shape has more than one `...`",
                    ));
                }
                spec.open = true;
                continue;
            }
            let size = size_of(&item)?;
            match spec.open {
                true => spec.back.push(size),
                false => spec.front.push(size),
            }
        }
        Ok(spec)
    }

    /// The element type.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyDType>> {
        PyDType::object(py, self.dtype)
    }

    fn __repr__(&self) -> String {
        let text = |size: &Option<Dim>| size.as_ref().map_or("None".to_string(), Dim::to_string);
        let rest = self.open.then(|| "...".to_string());
        let front = self.front.iter().map(text);
        let all: Vec<String> = front
            .chain(rest)
            .chain(self.back.iter().map(text))
            .collect();
        format!("spec('{}', [{}])", self.dtype, all.join(", "))
    }
}

/// A size of a spec; `None` for any.
fn size_of(item: &Bound<'_, PyAny>) -> PyResult<Option<Dim>> {
    if item.is_none() {
        return Ok(None);
    }
    if let Some(dim) = dim_of(item) {
        return declared(dim).map(Some).or_raise(item.py());
    }
    if let Ok(text) = item.cast::<PyString>() {
        let dim: stridewise::Result<Dim> = text.to_str()?.parse();
        return dim.and_then(declared).map(Some).or_raise(item.py());
    }
    if !item.is_instance_of::<PyBool>()
        && let Some(Look::Int(size)) = look::number(item, ParamKind::Int)?
    {
        let dim = usize::try_from(size).map(Dim::from);
        let dim = dim.map_err(|_| no_size(size));
        return dim.and_then(declared).map(Some).or_raise(item.py());
    }
    let class = item.get_type().name()?;
    let message = "spec: a size is an int, a symbol, a string, None or `...`, but one is of type";
    Err(PyTypeError::new_err(format!("{message} `{class}`")))
}

/// A size as an input may have it: one that a machine can address, of symbols whose names are the user's.
fn declared(dim: Dim) -> stridewise::Result<Dim> {
    if let Some(size) = dim.known().filter(|size| isize::try_from(*size).is_err()) {
        return Err(no_size(size as i128));
    }
    match dim
        .symbols()
        .iter()
        .find(|leaf| !may_declare(leaf.symbol()))
    {
        None => Ok(dim),
        Some(leaf) => {
            let name = leaf.symbol().name().escape_debug();
            let error = Error::argument(format!("spec: `{name}` is no name for a size"));
            Err(error.help("use letters, digits and underscores; `_0` and the like are for sizes without a name"))
        }
    }
}

fn no_size(size: i128) -> Error {
    match size < 0 {
        true => Error::argument(format!(
            "spec: {size} is no size; use None for one that is not known"
        )),
        false => Error::overflow(format!(
            "spec: {size} is larger than any machine can address"
        )),
    }
}

impl PySpec {
    /// The shape, with sizes of the graph's own where none is known.
    fn outline(&self, graph: &Graph) -> Outline {
        let size = |size: &Option<Dim>| size.clone().unwrap_or_else(|| graph.unknown());
        let front: Shape<Dim> = self.front.iter().map(size).collect();
        let back: Shape<Dim> = self.back.iter().map(size).collect();
        let rest = match self.open {
            true => graph.unknown_shape().rest().cloned(),
            false => None,
        };
        Outline::new(front, rest, back)
    }
}

/// How the results of a function stood together.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    One,
    List,
    Tuple,
}

/// A graph: a function that was traced, to be called with arrays.
#[pyclass(name = "Graph", module = "stridewise", frozen, weakref)]
pub(crate) struct PyGraph {
    program: Program,
    form: Form,
    on_gpu: gpu::OnGpu,
}

#[pymethods]
impl PyGraph {
    /// Runs the graph on tensors, arrays of other libraries, numbers or lists, by position or by name.
    #[pyo3(signature = (*inputs, **named))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = self.matched(inputs, named)?;
        if given.iter().any(|x| x.is_instance_of::<PySymbolic>()) {
            let message = "a graph cannot be called with tensors of another that is being traced";
            let error = Error::too_early(message).help("call the function it was traced from");
            return Err(error.within("graph")).or_raise(py);
        }
        if let Some(results) = gpu::results(py, &self.program, &self.on_gpu, &given)? {
            return self.formed(py, results);
        }
        let objects: Vec<Object> = given.iter().cloned().map(Object::from).collect();
        if gradients::wanted(&objects)? {
            return self.noted(py, &given);
        }
        let tensors = self.tensors(&given)?;
        let results = py.detach(|| self.program.run(&tensors)).or_raise(py)?;
        let results = results.into_iter().map(|x| Ok(object(py, x)?.into_any()));
        self.formed(py, results.collect::<PyResult<_>>()?)
    }

    /// What every run checks because it could not be proved when the function was traced.
    #[getter]
    fn guards(&self) -> Vec<String> {
        self.program
            .guards()
            .iter()
            .map(|guard| guard.to_string())
            .collect()
    }

    /// The names of what it is called with.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.program.inputs().map(|(name, _, _)| name))
    }

    /// The shapes of what it gives.
    #[getter]
    fn output_shapes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shapes = self
            .program
            .outputs()
            .map(|(_, shape)| shape_object(py, shape));
        PyTuple::new(py, shapes.collect::<PyResult<Vec<_>>>()?)
    }

    /// What a run with such inputs does, one line for each step that moves data.
    #[pyo3(signature = (*inputs, **named))]
    fn steps(
        &self,
        py: Python<'_>,
        inputs: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<String>> {
        let tensors = self.tensors(&self.matched(inputs, named)?)?;
        py.detach(|| self.program.steps(&tensors)).or_raise(py)
    }

    /// The graph of the gradients by its inputs, or those named. It is called with the inputs, and then with a
    /// gradient for each result, and gives a tuple.
    #[pyo3(signature = (by=None))]
    fn grad(&self, py: Python<'_>, by: Option<&Bound<'_, PyAny>>) -> PyResult<PyGraph> {
        let names: Option<Vec<String>> = match by {
            None => None,
            Some(one) if one.is_instance_of::<PyString>() => Some(vec![one.extract()?]),
            Some(several) => Some(several.extract()?),
        };
        let names = names
            .as_ref()
            .map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
        let program = self.program.gradient(names.as_deref()).or_raise(py)?;
        Ok(PyGraph::new(program, Form::Tuple))
    }

    /// Writes an ONNX model of opset 18, whose dynamic axes have the names of the symbols. What the graph checks in
    /// every run is checked there only where an operator of ONNX's does.
    fn to_onnx(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let named = |error: Error| error.within("to_onnx");
        let bytes = py
            .detach(|| self.program.to_onnx())
            .map_err(named)
            .or_raise(py)?;
        Ok(std::fs::write(path, bytes)?)
    }

    /// The graph of an ONNX model made of supported operators, from a path or the bytes of a file.
    #[staticmethod]
    fn from_onnx(model: &Bound<'_, PyAny>) -> PyResult<PyGraph> {
        let py = model.py();
        let bytes = match model.cast::<PyBytes>() {
            Ok(bytes) => bytes.as_bytes().to_vec(),
            Err(_) => std::fs::read(model.extract::<PathBuf>()?)?,
        };
        let named = |error: Error| error.within("from_onnx");
        let program = py
            .detach(|| Program::from_onnx(&bytes))
            .map_err(named)
            .or_raise(py)?;
        Ok(PyGraph::of(program))
    }

    /// The graph that such a text describes, as `str` gives it.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<PyGraph> {
        let program: stridewise::Result<Program> = text.parse();
        Ok(PyGraph::of(program.or_raise(py)?))
    }

    fn __str__(&self) -> String {
        self.program.to_string()
    }

    fn __repr__(&self) -> String {
        self.program.to_string()
    }
}

impl PyGraph {
    /// A graph that no function of Python's was traced for: one result comes alone, several in a tuple, as gradients do.
    fn of(program: Program) -> PyGraph {
        let form = match program.outputs().len() {
            1 if !program.gives_gradients() => Form::One,
            _ => Form::Tuple,
        };
        PyGraph::new(program, form)
    }

    fn new(program: Program, form: Form) -> PyGraph {
        PyGraph {
            program,
            form,
            on_gpu: Default::default(),
        }
    }

    /// The inputs in order, from those given by position and by name.
    fn matched<'py>(
        &self,
        inputs: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let names: Vec<&str> = self.program.inputs().map(|(name, _, _)| name).collect();
        let mut given: Vec<Bound<'py, PyAny>> = inputs.iter().collect();
        let Some(named) = named else {
            return Ok(given);
        };
        for name in names.iter().skip(given.len()) {
            match named.get_item(name)? {
                Some(value) => given.push(value),
                None => break,
            }
        }
        if given.len() != inputs.len() + named.len() {
            let text = format!("graph: it is called with {}", names.join(", "));
            return Err(PyTypeError::new_err(text));
        }
        Ok(given)
    }

    fn tensors(&self, given: &[Bound<'_, PyAny>]) -> PyResult<Vec<Tensor>> {
        given
            .iter()
            .map(|x| tensor_of(x, "graph", "inputs"))
            .collect()
    }

    /// A run whose inputs have a history, so that its results have one.
    fn noted<'py>(
        &self,
        py: Python<'py>,
        given: &[Bound<'py, PyAny>],
    ) -> PyResult<Bound<'py, PyAny>> {
        let tape = gradients::tape();
        let mut vars = Vec::with_capacity(given.len());
        for x in given {
            let x = gradients::literal_object(x, "inputs")
                .map_err(|raised| raised.exception(py, "graph", None))?;
            vars.push(gradients::var(x.get()));
        }
        let constant = |tensor: &Tensor| Ok(tape.constant(tensor.clone()));
        let results = self.program.run_on(&tape, constant, &vars).or_raise(py)?;
        let results = results
            .into_iter()
            .map(|x| Ok(gradients::var_object(py, x)?.into_any()));
        self.formed(py, results.collect::<PyResult<_>>()?)
    }

    fn formed<'py>(
        &self,
        py: Python<'py>,
        mut results: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self.form {
            Form::One => match results.pop() {
                Some(one) => one,
                None => py.None().into_bound(py),
            },
            Form::List => PyList::new(py, results)?.into_any(),
            Form::Tuple => PyTuple::new(py, results)?.into_any(),
        })
    }
}

/// Traces a function: calls it with a tensor of a new graph for each spec.
#[pyfunction]
fn _trace<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    names: Vec<String>,
    specs: Vec<Bound<'py, PySpec>>,
) -> PyResult<PyGraph> {
    let graph = Graph::new();
    let given = PyDict::new(py);
    for (name, spec) in names.iter().zip(&specs) {
        let spec = spec.get();
        let x = graph.input(name, spec.dtype, spec.outline(&graph));
        let x = x.map_err(|error| error.within("trace")).or_raise(py)?;
        given.set_item(name, symbolic_object(py, x)?)?;
    }
    let result = {
        let _tracing = Tracing::begin(&graph);
        f.call((), Some(&given))?
    };
    let (items, form) = match result.cast::<PyList>() {
        Ok(list) => (list.iter().collect(), Form::List),
        Err(_) => match result.cast::<PyTuple>() {
            Ok(tuple) => (tuple.iter().collect(), Form::Tuple),
            Err(_) => (vec![result], Form::One),
        },
    };
    let outputs = items
        .iter()
        .map(|item| output(&graph, item))
        .collect::<Result<Vec<Symbolic>, Raised>>()
        .map_err(|raised| raised.exception(py, "trace", None))?;
    let outputs: Vec<&Symbolic> = outputs.iter().collect();
    let program = graph
        .finish(&outputs)
        .map_err(|error| error.within("trace"));
    Ok(PyGraph::new(program.or_raise(py)?, form))
}

/// What a function returned, as a tensor of its graph.
fn output(graph: &Graph, item: &Bound<'_, PyAny>) -> Result<Symbolic, Raised> {
    if let Ok(x) = item.cast::<PySymbolic>() {
        return Ok(x.get().0.clone());
    }
    if let Ok(x) = item.cast::<PyTensor>() {
        return Ok(argument::constant_of(graph, x.get())?);
    }
    let class = item.get_type().name()?;
    Err(Error::type_(format!(
        "the function returned an object of type `{class}`, but a tensor, or a list or tuple of tensors, is needed"
    ))
    .into())
}

/// Adds the classes and functions of graphs to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDim>()?;
    module.add_class::<PySpec>()?;
    module.add_class::<PySymbolic>()?;
    module.add_class::<PyGraph>()?;
    module.add_function(wrap_pyfunction!(_trace, module)?)
}
