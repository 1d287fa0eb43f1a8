//! The class `Mesh`: the ranks of the current world as a grid, on which global tensors lie.

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyTuple};
use stridewise::internals::smallvec::SmallVec;
use stridewise::size::tuple;
use stridewise::spread::{Moved, What};
use stridewise::{Cpu, Error, Mesh, Sbp, Spread};

use super::moved::PyMoved;
use super::tensor::{PyGlobal, from_whole};
use super::{sbp, world};
use crate::errors::OrRaise;

/// The ranks of a world as a grid. Made by ``stridewise.mesh``.
#[pyclass(name = "Mesh", module = "stridewise", frozen)]
pub(crate) struct PyMesh(pub(super) Spread<Cpu>);

impl PyMesh {
    pub(crate) fn spread(&self) -> &Spread<Cpu> {
        &self.0
    }
}

#[pymethods]
impl PyMesh {
    /// How many ranks there are along each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.mesh().sizes())
    }

    /// How many axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.mesh().rank()
    }

    /// How many ranks.
    #[getter]
    fn size(&self) -> usize {
        self.0.mesh().ranks()
    }

    /// Which of them this is.
    #[getter]
    fn rank(&self) -> usize {
        self.0.rank()
    }

    /// Where this rank stands, an index for each mesh axis.
    #[getter]
    fn coordinate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.coordinate())
    }

    /// A global tensor from the whole of it, which every rank has: nothing is sent, each keeps its part.
    ///
    /// Parameters
    /// ----------
    /// x : array_like
    ///     The tensor, the same on every rank; that it is the same is not looked at.
    /// sbp : Sbp, str, or sequence of them
    ///     How each mesh axis holds it.
    /// requires_grad : bool, default False
    ///     Whether it is a tensor to differentiate by, whose gradient ``GlobalTensor.backward`` puts into ``grad``.
    ///
    /// Examples
    /// --------
    /// >>> import stridewise as sw
    /// >>> sw.spawn(lambda: sw.mesh(2).shard([1, 2, 3], "S(0)").to_local().tolist(), ranks=2)
    /// [[1, 2], [3]]
    #[pyo3(signature = (x, sbp, *, requires_grad=false))]
    fn shard<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        sbp: &Bound<'py, PyAny>,
        requires_grad: bool,
    ) -> PyResult<Bound<'py, PyGlobal>> {
        let work = from_whole(&self.0, x, sbp, requires_grad);
        work.map_err(|raised| raised.exception(x.py(), "shard", None))
    }

    /// The changes of layout that were made for tensors of this mesh since the last time this was asked, the oldest
    /// first: what operators needed that could not work on the parts as they lay, and what ``to_sbp`` and ``gather``
    /// did, with the bytes that this rank received. What a rank takes from what it has already is not listed.
    ///
    /// Examples
    /// --------
    /// >>> import stridewise as sw
    /// >>> def f():
    /// ...     mesh = sw.mesh(2)
    /// ...     mesh.shard([[1, 2], [3, 4]], "S(0)").gather()
    /// ...     return [str(moved) for moved in mesh.moved()]
    /// >>> sw.spawn(f, ranks=2)[0]
    /// ['gather: (2, 2) int64, mesh axis 0, S(0) -> B, all_gather, 16 bytes']
    fn moved(&self) -> Vec<PyMoved> {
        // What every rank takes from what it has already is of no interest here.
        let sent = |moved: &Moved| !matches!(moved.what, What::Change(Sbp::Broadcast, _));
        let moved = self.0.take_moved().into_iter().filter(sent);
        moved.map(PyMoved).collect()
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<PyMesh>() else {
            return Ok(py.NotImplemented());
        };
        let other = other.get().spread();
        let wires = (self.0.world().wire(), other.world().wire());
        let same = self.0.mesh() == other.mesh() && std::ptr::addr_eq(wires.0, wires.1);
        let answer = match op {
            CompareOp::Eq => same,
            CompareOp::Ne => !same,
            _ => return Ok(py.NotImplemented()),
        };
        Ok(PyBool::new(py, answer).to_owned().into_any().unbind())
    }

    fn __hash__(&self) -> usize {
        self.0
            .mesh()
            .sizes()
            .iter()
            .fold(self.0.rank(), |hash, size| {
                hash.wrapping_mul(31).wrapping_add(*size)
            })
    }

    // There is one of it on a rank, however often it is copied.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let (mesh, rank) = (self.0.mesh(), self.0.rank());
        let (shape, ranks) = (tuple(mesh.sizes()), mesh.ranks());
        format!("<Mesh {shape}, rank {rank} of {ranks}>")
    }
}

/// A mesh of all ranks of the current world.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     How many ranks there are along each mesh axis; their product is the number of ranks. The last axis runs
///     fastest.
///
/// Raises
/// ------
/// WorldError
///     The world has another number of ranks.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> sw.mesh(1)
/// <Mesh (1,), rank 0 of 1>
/// >>> sw.spawn(lambda: sw.mesh((2, 2)).coordinate, ranks=4)
/// [(0, 0), (0, 1), (1, 0), (1, 1)]
#[pyfunction]
fn mesh(shape: &Bound<'_, PyAny>) -> PyResult<PyMesh> {
    let py = shape.py();
    let sizes = sizes_of(shape)?;
    let made = || -> stridewise::Result<Spread<Cpu>> {
        let world = world::current()?;
        let counts = sizes.iter().map(|size| usize::try_from(*size));
        let counts: Vec<usize> = counts.collect::<Result<_, _>>().map_err(|_| {
            let error = Error::argument(match sizes.iter().any(|size| *size < 0) {
                true => "a mesh has no negative number of ranks",
                false => "no machine has so many ranks",
            });
            error.at_argument("shape").note("shape", tuple(&sizes))
        })?;
        Spread::new(Cpu, world, Mesh::new(&counts)?)
    };
    let spread = made().map_err(|error| error.at_argument("shape").within("mesh"));
    Ok(PyMesh(spread.or_raise(py)?))
}

/// One number, or those of a sequence.
fn sizes_of(shape: &Bound<'_, PyAny>) -> PyResult<SmallVec<[i128; 4]>> {
    if let Some(size) = world::count_of(shape)? {
        return Ok(SmallVec::from_elem(size, 1));
    }
    let odd = |item: &Bound<'_, PyAny>| -> PyResult<Error> {
        let class = item.get_type().name()?;
        let message = format!("shape has an object of type `{class}`, but ints are needed");
        let error = Error::type_(message).at_argument("shape").within("mesh");
        Ok(error.help("give how many ranks there are along each mesh axis, such as 4 or (2, 2)"))
    };
    let is_text = shape.is_instance_of::<PyString>();
    let Some(items) = shape.try_iter().ok().filter(|_| !is_text) else {
        return Err(odd(shape)?).or_raise(shape.py());
    };
    let mut sizes = SmallVec::new();
    for item in items {
        let item = item?;
        match world::count_of(&item)? {
            Some(size) => sizes.push(size),
            None => return Err(odd(&item)?).or_raise(shape.py()),
        }
    }
    Ok(sizes)
}

/// Adds the function to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    sbp::register(module)?;
    module.add_function(wrap_pyfunction!(mesh, module)?)
}
