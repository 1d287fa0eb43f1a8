//! The world that a rank is in: one of threads inside of `spawn`, that of MPI's processes where `mpirun` has started
//! this one, and otherwise one of a single rank.

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyBool;
use stridewise::call::Look;
use stridewise::spread::world::agree::timeout_of;
use stridewise::spread::{Call, Collective, Line, Rows, RowsMut, Wire, World};
use stridewise::table::ParamKind;
use stridewise::{DType, Error, Result};

use crate::errors::OrRaise;
use crate::look::number;
use crate::unlocked::{surely_unlocked, unlocked};

thread_local! {
    /// The world of this thread, where it is a rank of one.
    static OWN: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// The world of the process.
static PROCESS: OnceLock<Result<World>> = OnceLock::new();

/// A way to reach the others that lets them have the interpreter meanwhile: they may need it to come.
struct Unlocked(World);

impl Wire for Unlocked {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn name(&self) -> &'static str {
        self.0.wire().name()
    }

    fn collective(&self, line: Line, call: &Call<'_>, send: &[u8], recv: &mut [u8]) -> Result<()> {
        surely_unlocked(|| self.0.wire().collective(line, call, send, recv))
    }

    fn exchange(
        &self,
        line: Line,
        call: &Call<'_>,
        send: &[Rows<'_>],
        recv: &mut [RowsMut<'_>],
    ) -> Result<()> {
        surely_unlocked(|| self.0.wire().exchange(line, call, send, recv))
    }

    fn tell(&self, line: Line, operator: &str, message: &[u8]) -> Result<Vec<Vec<u8>>> {
        surely_unlocked(|| self.0.wire().tell(line, operator, message))
    }

    fn received(&self) -> u64 {
        self.0.wire().received()
    }

    fn fail(&self, why: &Error) {
        surely_unlocked(|| self.0.wire().fail(why));
    }

    fn leave(&self) {
        surely_unlocked(|| self.0.wire().leave());
    }
}

fn behind(world: World) -> World {
    World::new(Arc::new(Unlocked(world)))
}

/// The world that this thread is a rank of.
pub(super) fn current() -> Result<World> {
    if let Some(own) = OWN.with_borrow(Clone::clone) {
        return Ok(own);
    }
    // Opening MPI takes a while, and another thread may be at it.
    surely_unlocked(|| PROCESS.get_or_init(open).clone())
}

/// How many processes were started together with this one, as far as whoever started them says.
fn started() -> usize {
    let names = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE"];
    let told = names.iter().find_map(|name| std::env::var(name).ok());
    told.and_then(|told| told.trim().parse().ok()).unwrap_or(1)
}

fn open() -> Result<World> {
    match started() {
        0 | 1 => Ok(behind(World::alone())),
        many => processes(many).map(behind),
    }
}

#[cfg(feature = "mpi")]
fn processes(_many: usize) -> Result<World> {
    World::mpi()
}

#[cfg(not(feature = "mpi"))]
fn processes(many: usize) -> Result<World> {
    Err(Error::world(format!(
        "{many} processes were started together by MPI, but this build of stridewise has no MPI"
    ))
    .help(
        "build it with `maturin develop --features mpi`, or run ranks as threads with `sw.spawn`",
    ))
}

/// Which rank this is, from 0 on.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> sw.rank()
/// 0
/// >>> sw.spawn(sw.rank, ranks=3)
/// [0, 1, 2]
#[pyfunction]
fn rank(py: Python<'_>) -> PyResult<usize> {
    Ok(named(py, "rank")?.rank())
}

/// How many ranks there are.
///
/// Examples
/// --------
/// >>> import stridewise as sw
/// >>> sw.world_size()
/// 1
/// >>> sw.spawn(sw.world_size, ranks=2)
/// [2, 2]
#[pyfunction]
fn world_size(py: Python<'_>) -> PyResult<usize> {
    Ok(named(py, "world_size")?.size())
}

/// Waits until all ranks are here.
///
/// Raises
/// ------
/// WorldError
///     A rank is gone, late or calls something else.
#[pyfunction]
fn barrier(py: Python<'_>) -> PyResult<()> {
    let world = named(py, "barrier")?;
    let call = Call {
        operator: "barrier",
        what: Collective::Barrier,
        dtype: DType::U8,
    };
    let line = Line::all(world.size());
    unlocked(py, || world.wire().collective(line, &call, &[], &mut []))
        .map_err(|error| error.within("barrier"))
        .or_raise(py)
}

fn named(py: Python<'_>, operator: &'static str) -> PyResult<World> {
    current()
        .map_err(|error| error.within(operator))
        .or_raise(py)
}

/// Whether the world of this process is one of MPI, which learns of failures by `_fail`.
#[pyfunction]
fn _under_mpi() -> bool {
    started() > 1
}

/// Tells the other ranks that this one has failed; nothing where no world was ever asked for.
#[pyfunction]
fn _fail(text: &str) {
    if let Some(Ok(world)) = PROCESS.get() {
        world.wire().fail(&Error::world(text));
    }
}

/// A number of ranks, where an object is an int of whatever library.
pub(super) fn count_of(object: &Bound<'_, PyAny>) -> PyResult<Option<i128>> {
    if object.is_instance_of::<PyBool>() {
        return Ok(None);
    }
    Ok(match number(object, ParamKind::Int)? {
        Some(Look::Int(count)) => Some(count),
        _ => None,
    })
}

/// One rank of a world of threads, for the thread that is to be it.
#[pyclass(name = "_Rank", module = "stridewise", frozen)]
pub(crate) struct PyRank(World);

#[pymethods]
impl PyRank {
    /// From here on this thread is that rank.
    fn enter(&self) {
        OWN.set(Some(self.0.clone()));
    }

    /// The thread is it no longer, and calls nothing any more.
    fn leave(&self) {
        OWN.set(None);
        self.0.wire().leave();
    }

    /// Tells the others that this rank has failed.
    fn fail(&self, text: &str) {
        self.0.wire().fail(&Error::world(text));
    }
}

/// The ranks of a world of threads that wait for each other no longer than some seconds.
#[pyfunction]
#[pyo3(signature = (ranks, timeout=None))]
fn _threads(ranks: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<Vec<PyRank>> {
    let py = ranks.py();
    let Some(many) = count_of(ranks)? else {
        let class = ranks.get_type().name()?;
        let message = format!("ranks is an object of type `{class}`, but an int is needed");
        return Err(Error::type_(message).at_argument("ranks").within("spawn")).or_raise(py);
    };
    let made = || -> Result<Vec<World>> {
        let named = |error: Error| error.at_argument("ranks");
        // No world has so many that the nearest end says something else; below 0 there are none.
        let many = usize::try_from(many).unwrap_or(if many < 0 { 0 } else { usize::MAX });
        let mut threads = World::threads(many);
        if let Some(seconds) = timeout {
            let timeout = timeout_of(seconds).ok_or_else(|| {
                let message =
                    format!("timeout is {seconds:?}, which is no number of seconds above 0");
                Error::argument(message).at_argument("timeout")
            })?;
            threads = threads.timeout(timeout);
        }
        threads.ends().map_err(named)
    };
    let ends = made().map_err(|error| error.within("spawn")).or_raise(py)?;
    Ok(ends.into_iter().map(|end| PyRank(behind(end))).collect())
}

/// Adds the functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyRank>()?;
    module.add_function(wrap_pyfunction!(rank, module)?)?;
    module.add_function(wrap_pyfunction!(world_size, module)?)?;
    module.add_function(wrap_pyfunction!(barrier, module)?)?;
    module.add_function(wrap_pyfunction!(_under_mpi, module)?)?;
    module.add_function(wrap_pyfunction!(_fail, module)?)?;
    module.add_function(wrap_pyfunction!(_threads, module)?)
}
