//! Gradients of functions: `vjp`, and the work of `grad`. A function is called with tensors of its own to differentiate
//! by; where what was given has a history, theirs goes on there, so that these calls can stand within each other.

use std::collections::HashSet;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use stridewise::size::counted;
use stridewise::spread::on_behalf_of;
use stridewise::{Error, Var};

use crate::arguments::{Object, Raised};
use crate::elsewhere::{self, OfClass};
use crate::errors::{OrRaise, exception};
use crate::gradients::class::{Class, tape_of};
use crate::gradients::is_on;
use crate::gradients::mode::On;
use crate::unlocked::unlocked;

/// Inputs to differentiate by.
struct Inputs<C: Class> {
    vars: Vec<Var<C::Engine>>,
    /// The numbers of those whose history begins here.
    fresh: HashSet<u64>,
}

impl<C: Class> Inputs<C> {
    fn new() -> Inputs<C> {
        Inputs {
            vars: Vec::new(),
            fresh: HashSet::new(),
        }
    }

    /// One more, from whatever stands for a tensor, as the object a function is called with.
    fn add<'py>(&mut self, given: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Raised> {
        let made = C::convert(given, "inputs")?;
        let mut outer = made.get().var();
        if !is_on() {
            outer = outer.detach();
        }
        let begins = !outer.is_tracked();
        let blame = |error: Error| error.at_argument("inputs").at_item(self.vars.len());
        let inner = tape_of::<C>(&outer).branch(&outer).map_err(blame)?;
        if let Some(history) = inner.history().filter(|_| begins) {
            self.fresh.insert(history.number());
        }
        self.vars.push(inner.clone());
        Ok(C::var_object(given.py(), inner)?.into_any())
    }

    /// A result as it is seen outside: with a history where it depends on more than the inputs.
    fn seen_outside<'py>(&self, y: &Bound<'py, C>) -> PyResult<Bound<'py, C>> {
        let Some(kept) = y.get().kept() else {
            return Ok(y.clone());
        };
        // Whoever holds the interpreter waits for no lock of a history: who has that may need the interpreter.
        let beyond = || {
            let roots = kept.history.roots();
            roots
                .iter()
                .any(|root| !self.fresh.contains(&root.number()))
        };
        match is_on() && y.py().detach(beyond) {
            true => Ok(y.clone()),
            false => C::detached(y),
        }
    }
}

/// How the results of a function stood together.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    One,
    List,
    Tuple,
}

/// The way back through a call of a function, as `vjp` gives it.
#[pyclass(name = "Pullback", module = "stridewise", frozen)]
pub(crate) struct PyPullback(Box<dyn Back>);

/// A way back, whatever the class of tensors that a function was differentiated by.
trait Back: Send + Sync {
    /// The gradients of the inputs.
    fn back<'py>(&self, seed: &Bound<'py, PyAny>) -> Result<Bound<'py, PyTuple>, Raised>;

    /// How many results there are, and how many inputs.
    fn counts(&self) -> (usize, usize);
}

/// The way back from results to inputs.
struct Way<C: Class> {
    inputs: Vec<Var<C::Engine>>,
    outputs: Vec<Var<C::Engine>>,
    form: Form,
}

#[pymethods]
impl PyPullback {
    /// The gradients of the inputs, one for each, from a gradient of the result: a tensor of its shape and dtype, or a
    /// list or tuple of them where the function gave one.
    fn __call__<'py>(&self, seed: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let gradients = self.0.back(seed);
        gradients.map_err(|raised| raised.exception(seed.py(), "vjp", None))
    }

    fn __repr__(&self) -> String {
        let (from, to) = self.0.counts();
        format!(
            "<pullback of {} to {}>",
            counted(from, "result"),
            counted(to, "input")
        )
    }
}

impl<C: Class> Back for Way<C> {
    fn counts(&self) -> (usize, usize) {
        (self.outputs.len(), self.inputs.len())
    }

    fn back<'py>(&self, seed: &Bound<'py, PyAny>) -> Result<Bound<'py, PyTuple>, Raised> {
        let py = seed.py();
        let seeds = self.seeds(seed)?;
        let inputs: Vec<&Var<C::Engine>> = self.inputs.iter().collect();
        let outputs = self.outputs.iter().zip(&seeds);
        let outputs: Vec<_> = outputs.map(|(y, seed)| (y, Some(seed))).collect();
        let tape = tape_of::<C>(inputs[0]);
        let work = || tape.tracked_gradients(&outputs, &inputs);
        let gradients = unlocked(py, || on_behalf_of("vjp", work))?;
        let gradients = gradients.into_iter().map(|g| C::var_object(py, g));
        Ok(PyTuple::new(py, gradients.collect::<PyResult<Vec<_>>>()?)?)
    }
}

impl<C: Class> Way<C> {
    /// One seed for each result.
    fn seeds(&self, seed: &Bound<'_, PyAny>) -> Result<Vec<Var<C::Engine>>, Raised> {
        let tracked = is_on();
        let one = |y: &Var<C::Engine>, seed: &Bound<'_, PyAny>| {
            C::gradient(seed, "seed", y.value(), tracked)
        };
        if self.form == Form::One {
            return self.outputs.iter().map(|y| one(y, seed)).collect();
        }
        let count = self.outputs.len();
        let blame = |message: String| Error::type_(message).at_argument("seed");
        if !seed.is_instance_of::<PyList>() && !seed.is_instance_of::<PyTuple>() {
            let class = seed.get_type().name()?;
            let message = format!(
                "the seed is an object of type `{class}`, but the function gave {}, so that a list or tuple of as many \
                 is needed",
                counted(count, "result")
            );
            return Err(blame(message).into());
        }
        let items = seed.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        if items.len() != count {
            let message = format!(
                "the seed has {}, but the function gave {}",
                counted(items.len(), "item"),
                counted(count, "result")
            );
            return Err(blame(message).sizes(count, items.len()).into());
        }
        let seeds = self.outputs.iter().zip(&items);
        seeds.map(|(y, item)| one(y, item)).collect()
    }
}

/// The value of a function, and the way back from a gradient of it to gradients of its inputs.
///
/// Parameters
/// ----------
/// f : callable
///     A function of as many tensors as there are inputs, which returns a tensor, or a list or tuple of tensors.
/// *inputs : array_like
///     Tensors, arrays of other libraries, numbers or nested lists, of floating-point or complex numbers.
///
/// Returns
/// -------
/// tuple of (value, pullback)
///     What the function returned, and a function from a seed, which is shaped as the value is, to a tuple of
///     gradients, one for each input. It can be called as often as wanted.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> y, pullback = sw.vjp(lambda x: sw.repeat(x, 3), [1.0, 2.0])
/// >>> y.shape
/// (6,)
/// >>> pullback([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
/// (tensor([ 9., 12.]),)
#[pyfunction]
#[pyo3(signature = (f, *inputs))]
fn vjp<'py>(
    f: &Bound<'py, PyAny>,
    inputs: &Bound<'py, PyTuple>,
) -> PyResult<(Bound<'py, PyAny>, PyPullback)> {
    let py = f.py();
    require_callable(f, "vjp")?;
    if inputs.is_empty() {
        let error = Error::argument("no tensors were given").at_argument("inputs");
        return Err(error.within("vjp")).or_raise(py);
    }
    let objects: Vec<Object<'py>> = inputs.iter().map(Object::from).collect();
    let done = elsewhere::of_class(&objects, "vjp", Forth { f, inputs });
    let (value, way) = done.map_err(|raised| raised.exception(py, "vjp", None))??;
    Ok((value, PyPullback(way)))
}

/// A call of a function whose way back is wanted.
struct Forth<'a, 'py> {
    f: &'a Bound<'py, PyAny>,
    inputs: &'a Bound<'py, PyTuple>,
}

impl<'py> OfClass for Forth<'_, 'py> {
    type Done = PyResult<(Bound<'py, PyAny>, Box<dyn Back>)>;

    fn done<C: Class>(self) -> Self::Done {
        let (value, way) = forth::<C>(self.f, self.inputs)?;
        Ok((value, Box::new(way)))
    }
}

/// Calls the function, and notes the way back.
fn forth<'py, C: Class>(
    f: &Bound<'py, PyAny>,
    inputs: &Bound<'py, PyTuple>,
) -> PyResult<(Bound<'py, PyAny>, Way<C>)> {
    let py = f.py();
    let mut by = Inputs::<C>::new();
    let arguments = inputs.iter().map(|input| by.add(&input));
    let arguments = arguments
        .collect::<Result<Vec<_>, _>>()
        .map_err(|raised| raised.exception(py, "vjp", None))?;
    let given = {
        let _on = On::new();
        f.call1(PyTuple::new(py, arguments)?)?
    };
    let (outputs, form) = results::<C>(&given)?;
    let values = outputs.iter().map(|y| by.seen_outside(y));
    let mut values = values.collect::<PyResult<Vec<_>>>()?;
    let value = match (form, values.pop()) {
        (Form::One, Some(only)) => only.into_any(),
        (form, last) => {
            values.extend(last);
            match form {
                Form::List => PyList::new(py, values)?.into_any(),
                _ => PyTuple::new(py, values)?.into_any(),
            }
        }
    };
    let way = Way {
        inputs: by.vars,
        outputs: outputs.iter().map(|y| y.get().var()).collect(),
        form,
    };
    Ok((value, way))
}

/// The tensors that a function gave.
fn results<'py, C: Class>(given: &Bound<'py, PyAny>) -> PyResult<(Vec<Bound<'py, C>>, Form)> {
    if let Ok(one) = given.cast::<C>() {
        return Ok((vec![one.clone()], Form::One));
    }
    let form = match (
        given.is_instance_of::<PyList>(),
        given.is_instance_of::<PyTuple>(),
    ) {
        (true, _) => Form::List,
        (_, true) => Form::Tuple,
        _ => {
            return Err(no_tensor(
                given,
                "vjp",
                "a tensor, or a list or tuple of tensors,",
            ));
        }
    };
    let tensor = |item: PyResult<Bound<'py, PyAny>>| {
        let item = item?;
        match item.cast::<C>() {
            Ok(tensor) => Ok(tensor.clone()),
            Err(_) => Err(no_tensor(&item, "vjp", "in a list or tuple a tensor")),
        }
    };
    let tensors = given.try_iter()?.map(tensor);
    Ok((tensors.collect::<PyResult<_>>()?, form))
}

/// The gradients of one call, for `grad`: by the argument at `argnums`, or a tuple of them for several.
#[pyfunction]
pub(crate) fn _gradient<'py>(
    f: &Bound<'py, PyAny>,
    argnums: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
    named: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = f.py();
    require_callable(f, "grad")?;
    let raised = |raised: Raised| raised.exception(py, "grad", None);
    let (places, one) = places(argnums, arguments.len()).map_err(raised)?;
    let objects = places.iter().map(|place| arguments.get_item(*place));
    let objects = objects.map(|object| Ok(Object::from(object?)));
    let objects = objects.collect::<PyResult<Vec<_>>>()?;
    let call = Differentiated {
        f,
        places: &places,
        arguments,
        named,
    };
    let gradients = elsewhere::of_class(&objects, "grad", call).map_err(raised)??;
    match (gradients.len(), one) {
        (1, true) => gradients.get_item(0),
        _ => gradients.into_bound_py_any(py),
    }
}

/// A call of a function whose gradients are wanted.
struct Differentiated<'a, 'py> {
    f: &'a Bound<'py, PyAny>,
    places: &'a [usize],
    arguments: &'a Bound<'py, PyTuple>,
    named: &'a Bound<'py, PyDict>,
}

impl<'py> OfClass for Differentiated<'_, 'py> {
    type Done = PyResult<Bound<'py, PyTuple>>;

    fn done<C: Class>(self) -> Self::Done {
        gradients::<C>(self.f, self.places, self.arguments, self.named)
    }
}

/// The gradients of one call by the arguments at some places.
fn gradients<'py, C: Class>(
    f: &Bound<'py, PyAny>,
    places: &[usize],
    arguments: &Bound<'py, PyTuple>,
    named: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = f.py();
    let mut by = Inputs::<C>::new();
    let mut given: Vec<Bound<'py, PyAny>> = arguments.iter().collect();
    for &place in places {
        given[place] = by.add(&given[place]).map_err(|failure| {
            let failure = match failure {
                Raised::Ours(error) => error.at_argument("argnums").at_item(place).into(),
                python => python,
            };
            failure.exception(py, "grad", None)
        })?;
    }
    let y = {
        let _on = On::new();
        f.call(PyTuple::new(py, given)?, Some(named))?
    };
    let Ok(y) = y.cast::<C>() else {
        return Err(no_tensor(&y, "grad", "a tensor"));
    };
    let y = y.get().var();
    let xs: Vec<&Var<C::Engine>> = by.vars.iter().collect();
    let tape = tape_of::<C>(&y);
    let work = || tape.tracked_gradient(&y, &xs, None);
    let gradients = unlocked(py, || on_behalf_of("grad", work))
        .map_err(|error| error.within("grad"))
        .or_raise(py)?;
    let gradients = gradients.into_iter().map(|g| C::var_object(py, g));
    PyTuple::new(py, gradients.collect::<PyResult<Vec<_>>>()?)
}

/// The places of the arguments to differentiate by, and whether only one was named.
fn places(argnums: &Bound<'_, PyAny>, count: usize) -> Result<(Vec<usize>, bool), Raised> {
    let place = |number: &Bound<'_, PyAny>| -> Result<usize, Raised> {
        let Ok(number) = number.extract::<isize>() else {
            return Err(not_argnums(number)?.into());
        };
        let from_front = match number < 0 {
            true => count.checked_add_signed(number),
            false => usize::try_from(number).ok(),
        };
        from_front.filter(|at| *at < count).ok_or_else(|| {
            let message = format!(
                "argnums names the argument at {number}, but the call has {} by position",
                counted(count, "argument")
            );
            let error = Error::argument(message).sizes(format!("below {count}"), number);
            error.at_argument("argnums").into()
        })
    };
    if !argnums.is_instance_of::<PyList>() && !argnums.is_instance_of::<PyTuple>() {
        return Ok((vec![place(argnums)?], true));
    }
    let numbers = argnums.try_iter()?.map(|number| place(&number?));
    let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
    let mut seen = HashSet::new();
    match numbers.iter().all(|number| seen.insert(*number)) {
        true => Ok((numbers, false)),
        false => {
            let error = Error::argument("argnums names an argument twice");
            Err(error.at_argument("argnums").into())
        }
    }
}

fn not_argnums(number: &Bound<'_, PyAny>) -> PyResult<Error> {
    let class = number.get_type().name()?;
    let message =
        format!("argnums is an object of type `{class}`, but an int or a tuple of ints is needed");
    Ok(Error::type_(message).at_argument("argnums"))
}

fn require_callable(f: &Bound<'_, PyAny>, operator: &'static str) -> PyResult<()> {
    if f.is_callable() {
        return Ok(());
    }
    let class = f.get_type().name()?;
    let error = Error::type_(format!(
        "f is an object of type `{class}`, which cannot be called"
    ));
    Err(error.at_argument("f").within(operator)).or_raise(f.py())
}

/// What a function must not give.
fn no_tensor(given: &Bound<'_, PyAny>, operator: &'static str, wanted: &str) -> PyErr {
    let class = match given.get_type().name() {
        Ok(class) => class,
        Err(error) => return error,
    };
    let message = format!("the function gave an object of type `{class}`, but {wanted} is needed");
    let error = Error::type_(message).at_argument("f").within(operator);
    exception(given.py(), &error)
}

/// Adds the functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(vjp, module)?)?;
    module.add_function(wrap_pyfunction!(_gradient, module)?)
}
