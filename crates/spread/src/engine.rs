//! Global tensors as an engine: each primitive asks how its parts can be worked on, brings its inputs there, and runs
//! on the parts. No operator knows of it.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use stridewise_core::axis::Axis;
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Engine};
use stridewise_core::error::{Error, Result};
use stridewise_core::layout::Layout;
use stridewise_core::operator::{Operator, on_behalf_of, running};
use stridewise_core::params::{Extent, Mode, Scalar};
use stridewise_core::rules::{concat_shape, gather_shape, sum_shape};
use stridewise_core::size::{Shape, Truth, tuple};
use stridewise_core::smallvec::SmallVec;

use crate::change::{Moved, nothing, uniform};
use crate::choose::{Given, Plan, choose};
use crate::global::Global;
use crate::local::{Local, Lookup, Ranks};
use crate::mesh::Mesh;
use crate::sbp::{NdSbp, Sbp};
use crate::signature::{Kind, Problem, Window, shapes};

/// The engine of global tensors over the parts of another engine. Clones are the same.
pub struct Spread<E: Local>(Arc<Shared<E>>);

struct Shared<E: Local> {
    inner: E,
    world: E::World,
    mesh: Mesh,
    coordinate: Shape,
    moved: Mutex<Vec<Moved>>,
}

/// So many changes are remembered; older ones are forgotten.
const REMEMBERED: usize = 1 << 14;

impl<E: Local> Clone for Spread<E> {
    fn clone(&self) -> Spread<E> {
        Spread(self.0.clone())
    }
}

impl<E: Local> fmt::Debug for Spread<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of a mesh of {} ranks", self.rank(), self.mesh())
    }
}

impl<E: Local> Spread<E> {
    /// Global tensors over a mesh of all ranks of a world.
    pub fn new(inner: E, world: E::World, mesh: Mesh) -> Result<Spread<E>> {
        if mesh.ranks() != world.size() {
            let message = format!(
                "a mesh of {mesh} has {} ranks, but the world has {}",
                mesh.ranks(),
                world.size()
            );
            return Err(Error::world(message)
                .at_argument("mesh")
                .sizes(world.size(), mesh.ranks())
                .help("a mesh holds every rank of the world, each once"));
        }
        Ok(Spread(Arc::new(Shared {
            coordinate: mesh.coordinate(world.rank()),
            inner,
            world,
            mesh,
            moved: Mutex::default(),
        })))
    }

    /// The mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.0.mesh
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.0.world.rank()
    }

    /// Where this rank stands on the mesh.
    pub fn coordinate(&self) -> &[usize] {
        &self.0.coordinate
    }

    /// How this rank reaches the others.
    pub fn world(&self) -> &E::World {
        &self.0.world
    }

    /// The engine of the parts.
    pub fn inner(&self) -> &E {
        &self.0.inner
    }

    /// The changes of layout that were made since the last time this was asked, the oldest first.
    pub fn take_moved(&self) -> Vec<Moved> {
        std::mem::take(&mut self.0.moved.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn log(&self, moved: Moved) {
        let mut log = self.0.moved.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() == REMEMBERED {
            log.drain(..REMEMBERED / 2);
        }
        log.push(moved);
    }

    /// A tensor that every rank has made for itself.
    fn everywhere(&self, local: E::Value) -> Result<Global<E>> {
        let shape = self.inner().shape(&local)?;
        Ok(self.global(local, shape, self.broadcast()))
    }

    fn broadcast(&self) -> NdSbp {
        SmallVec::from_elem(Sbp::Broadcast, self.mesh().rank())
    }

    /// Refuses tensors of another mesh, and of another world: there this rank has other parts, or is another rank.
    pub fn require_mine(&self, xs: &[&Global<E>]) -> Result<()> {
        for x in xs.iter().filter(|x| !Arc::ptr_eq(&x.spread.0, &self.0)) {
            let (mine, theirs) = (self, &x.spread);
            if mine.mesh() != theirs.mesh() {
                let (mine, theirs) = (mine.mesh(), theirs.mesh());
                return Err(Error::world(format!(
                    "one tensor lies on a mesh of {mine} ranks, another on one of {theirs}"
                ))
                .help("bring both to one mesh: `gather` gives all of a tensor to every rank"));
            }
            if !mine.world().is(theirs.world()) {
                let part = |of: &Self| format!("rank {} of {}", of.rank(), of.mesh().ranks());
                return Err(Error::world(format!(
                    "one tensor is the part of {}, another that of {} of another world or thread",
                    part(mine),
                    part(theirs)
                ))
                .help(
                    "a rank works on its own parts; what others have comes by `to_sbp` or `gather`",
                ));
            }
        }
        Ok(())
    }

    /// Runs a primitive on parts: `run` is given those of the inputs and the problem of this rank. The result is of this
    /// type.
    fn run_on_parts(
        &self,
        problem: Problem,
        xs: &[&Global<E>],
        dtype: DType,
        run: impl FnOnce(&Problem, &[E::Value]) -> Result<E::Value>,
    ) -> Result<Global<E>> {
        self.require_mine(xs)?;
        require_countable(dtype, &problem.output)?;
        let operator = running();
        let width = |x: &Global<E>| x.dtype().width();
        let given: SmallVec<[Given<'_>; 3]> = xs
            .iter()
            .map(|x| Given {
                shape: &x.shape,
                width: width(x),
                sbp: &x.sbp,
                uniform: x.uniform,
            })
            .collect();
        let shape = problem.output.clone();
        let plan = choose(self.mesh(), self.coordinate(), problem, &given)?;
        let Plan {
            changes,
            before,
            local,
            after,
            output,
        } = plan;
        let mut parts: SmallVec<[E::Value; 3]> = SmallVec::new();
        let mut alike = true;
        for (at, (x, changes)) in xs.iter().zip(&changes).enumerate() {
            let mut shifts = before
                .iter()
                .filter(|(_, input, _)| *input == at)
                .peekable();
            if changes.is_empty() && shifts.peek().is_none() {
                alike &= at != 1 || x.is_everywhere();
                parts.push(x.local.clone());
                continue;
            }
            let mut x = x.changed(changes, operator)?;
            alike &= at != 1 || x.is_everywhere();
            for (mesh_axis, _, shift) in shifts {
                x = x.shifted(*mesh_axis, shift, operator)?;
            }
            parts.push(x.local);
        }
        let made = run(&local, &parts).map_err(|error| {
            if self.mesh().ranks() == 1 {
                return error;
            }
            // The others do not see this: memory of this rank, or an index that only it has.
            let error = match error {
                Error::Memory(_) => error,
                Error::Index(_) if !alike => {
                    let whose = format!("the part of it that rank {} has", self.rank());
                    error.note("index", whose)
                }
                other => return other,
            };
            self.0.world.fail(&error);
            error
        })?;
        let mut made = self.global(made, shape, output);
        for (mesh_axis, shift) in &after {
            made = made.shifted(*mesh_axis, shift, operator)?;
        }
        Ok(made)
    }

    /// All of a tensor, on every rank.
    fn whole(&self, x: &Global<E>) -> Result<E::Value> {
        match x.is_everywhere() {
            true => Ok(x.local.clone()),
            false => x.gather(),
        }
    }

    /// A look-up in the cells of a window.
    fn lookup<'a>(
        window: &Window,
        along: &'a Along,
        mode: Mode,
        source: &'a [usize],
    ) -> Lookup<'a> {
        Lookup {
            cells: window.cells.clone(),
            mode,
            source,
            along,
        }
    }

    /// Reads the cells of a window; those of other ranks read as nothing, so that all ranks together add up.
    fn masked(
        &self,
        window: &Window,
        (source, index): (&E::Value, &E::Value),
        (along, mode): (&Along, Mode),
        shape: &[usize],
    ) -> Result<E::Value> {
        let inner = self.inner();
        let found = inner.relocate(index, &Self::lookup(window, along, mode, shape))?;
        let dtype = inner.dtype(source);
        let read = inner.gather(source, &found.index, along, Mode::Fill(nothing(dtype)))?;
        let (Mode::Fill(value), true) = (mode, window.keeper) else {
            return Ok(read);
        };
        // The one that answers for indices that nobody has adds the fill value there.
        let table = inner.literal(dtype, &[2], &[nothing(dtype), value])?;
        let fill = inner.gather(&table, &found.outside, &Along::Run(0..1), Mode::Raise)?;
        let (rank, inside) = (inner.rank(&read)?, inner.rank(index)?);
        let start = match along {
            Along::Run(run) => run.start,
            Along::Aligned(_) => 0,
        };
        let fill = inner.view(&fill, rank, |out| match out.checked_sub(start) {
            Some(at) if at < inside => Axis::Of(at),
            _ => Axis::Fresh(inner.size(&read, out)),
        })?;
        inner.add(&read, &fill)
    }
}

/// More axes than this are refused below; asking a map about all of them would take all memory.
const MANY_AXES: usize = 1 << 16;

impl<E: Local> Engine for Spread<E> {
    type Size = usize;
    type Value = Global<E>;

    fn rank(&self, x: &Global<E>) -> Result<usize> {
        Ok(x.shape.len())
    }

    fn size(&self, x: &Global<E>, axis: usize) -> usize {
        x.shape[axis]
    }

    fn dtype(&self, x: &Global<E>) -> DType {
        x.dtype()
    }

    fn full(&self, dtype: DType, value: Scalar, sizes: &[usize]) -> Result<Global<E>> {
        let mut x = self.everywhere(uniform(self.inner(), dtype, value, sizes)?)?;
        x.uniform = true;
        Ok(x)
    }

    fn range(&self, dtype: DType, start: Scalar, step: Scalar, len: usize) -> Result<Global<E>> {
        self.everywhere(self.inner().range(dtype, start, step, len)?)
    }

    fn literal(&self, dtype: DType, sizes: &[usize], values: &[Scalar]) -> Result<Global<E>> {
        self.everywhere(self.inner().literal(dtype, sizes, values)?)
    }

    fn sizes(&self, sizes: &[usize]) -> Result<Global<E>> {
        self.everywhere(self.inner().sizes(sizes)?)
    }

    fn runs(&self, counts: &[usize]) -> Result<Global<E>> {
        self.everywhere(self.inner().runs(counts)?)
    }

    fn read_sizes(&self, x: &Global<E>) -> Result<Vec<Extent<usize>>> {
        self.inner().read_sizes(&self.whole(x)?)
    }

    fn try_view(
        &self,
        x: &Global<E>,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Global<E>> {
        if rank > MANY_AXES {
            let local = self.inner().try_view(&x.local, rank, axes)?;
            return self.everywhere(local);
        }
        let mut map: SmallVec<[Axis<usize>; 8]> = SmallVec::new();
        let mut output = Shape::new();
        for out in 0..rank {
            let axis = match axes(out)?.settled(|axis| x.shape[axis]) {
                // Written as a slice, but whole.
                Axis::Slice {
                    of,
                    start: 0,
                    len,
                    step: 1,
                } if len == x.shape[of] => Axis::Of(of),
                axis => axis,
            };
            output.push(size_of(&axis, x)?);
            map.push(axis);
        }
        let problem = Problem::new(Kind::View(map), shapes([x.shape()]), output);
        let mut seen =
            self.run_on_parts(problem, &[x], x.dtype(), |local, parts| match &local.kind {
                Kind::View(map) => self
                    .inner()
                    .view(&parts[0], map.len(), |out| map[out].clone()),
                _ => Err(mixed_up()),
            })?;
        seen.uniform = x.uniform;
        Ok(seen)
    }

    fn merges(&self, x: &Global<E>, run: Range<usize>) -> Truth {
        match self.mesh().ranks() {
            1 => self.inner().merges(&x.local, run),
            // Parts have strides, each its own; a global tensor has none.
            _ => Truth::Yes,
        }
    }

    fn is_packed(&self, x: &Global<E>) -> Truth {
        self.inner().is_packed(&x.local)
    }

    fn copy(&self, x: &Global<E>) -> Result<Global<E>> {
        Ok(Global {
            local: self.inner().copy(&x.local)?,
            ..x.clone()
        })
    }

    fn as_it_is(&self, x: &Global<E>) -> Result<Global<E>> {
        Ok(Global {
            local: self.inner().as_it_is(&x.local)?,
            ..x.clone()
        })
    }

    fn gather(
        &self,
        source: &Global<E>,
        index: &Global<E>,
        along: &Along,
        mode: Mode,
    ) -> Result<Global<E>> {
        let output = gather_shape(source.shape(), index.shape(), along)?;
        let fill = matches!(mode, Mode::Fill(_));
        let kind = Kind::Gather {
            along: along.clone(),
            fill,
            window: None,
        };
        let problem = Problem::new(kind, shapes([source.shape(), index.shape()]), output);
        self.run_on_parts(
            problem,
            &[source, index],
            source.dtype(),
            |local, parts| match &local.kind {
                Kind::Gather {
                    window: Some(window),
                    ..
                } => self.masked(
                    window,
                    (&parts[0], &parts[1]),
                    (along, mode),
                    source.shape(),
                ),
                _ => self.inner().gather(&parts[0], &parts[1], along, mode),
            },
        )
    }

    fn scatter_add(
        &self,
        base: &Global<E>,
        index: &Global<E>,
        updates: &Global<E>,
        along: &Along,
        mode: Mode,
    ) -> Result<Global<E>> {
        let kind = Kind::ScatterAdd {
            along: along.clone(),
            window: None,
        };
        let given = shapes([base.shape(), index.shape(), updates.shape()]);
        let problem = Problem::new(kind, given, base.shape.clone());
        self.run_on_parts(
            problem,
            &[base, index, updates],
            base.dtype(),
            |local, parts| {
                let (inner, base_shape) = (self.inner(), base.shape());
                match &local.kind {
                    Kind::ScatterAdd {
                        window: Some(window),
                        ..
                    } => {
                        let seen = Self::lookup(window, along, mode, base_shape);
                        let found = inner.relocate(&parts[1], &seen)?;
                        let none = Mode::Fill(Scalar::Int(0));
                        inner.scatter_add(&parts[0], &found.index, &parts[2], along, none)
                    }
                    _ => inner.scatter_add(&parts[0], &parts[1], &parts[2], along, mode),
                }
            },
        )
    }

    fn sum(&self, x: &Global<E>, axes: &[usize], dtype: DType) -> Result<Global<E>> {
        let linear = x.dtype() == dtype;
        let kind = Kind::Sum {
            axes: axes.into(),
            linear,
        };
        let problem = Problem::new(kind, shapes([x.shape()]), sum_shape(x.shape(), axes));
        self.run_on_parts(problem, &[x], dtype, |_, parts| {
            self.inner().sum(&parts[0], axes, dtype)
        })
    }

    fn concat(&self, xs: &[&Global<E>], axis: usize) -> Result<Global<E>> {
        let output = concat_shape(xs.iter().map(|x| x.shape()), axis)?;
        let given = shapes(xs.iter().map(|x| x.shape()));
        let problem = Problem::new(Kind::Concat { axis }, given, output);
        self.run_on_parts(problem, xs, xs[0].dtype(), |_, parts| {
            self.inner().concat(&parts.iter().collect::<Vec<_>>(), axis)
        })
    }

    fn cast(&self, x: &Global<E>, dtype: DType) -> Result<Global<E>> {
        let problem = Problem::new(Kind::Cast, shapes([x.shape()]), x.shape.clone());
        self.run_on_parts(problem, &[x], dtype, |_, parts| {
            self.inner().cast(&parts[0], dtype)
        })
    }

    fn add(&self, a: &Global<E>, b: &Global<E>) -> Result<Global<E>> {
        if a.shape != b.shape {
            let shapes = format!("{} and {}", tuple(&a.shape), tuple(&b.shape));
            return Err(Error::shape("tensors of two shapes are added").note("shapes", shapes));
        }
        let problem = Problem::new(Kind::Add, shapes([a.shape(), b.shape()]), a.shape.clone());
        self.run_on_parts(problem, &[a, b], a.dtype(), |_, parts| {
            self.inner().add(&parts[0], &parts[1])
        })
    }

    fn run<O: Operator<Self>>(&self, operator: &O, inputs: &[&Global<E>]) -> Result<O::Output> {
        on_behalf_of(O::NAME, || operator.lower(self, inputs))
    }
}

/// However many ranks share it, a whole must be a tensor that one machine could count: prices and messages count in
/// bytes of it.
#[inline]
pub(crate) fn require_countable(dtype: DType, shape: &[usize]) -> Result<()> {
    Layout::packed(dtype.width(), shape).map(drop)
}

/// The size of an output axis of a view.
fn size_of<E: Local>(axis: &Axis<usize>, x: &Global<E>) -> Result<usize> {
    match axis {
        Axis::Of(of) => Ok(x.shape[*of]),
        Axis::Fresh(len) | Axis::Slice { len, .. } | Axis::Split { len, .. } => Ok(*len),
        Axis::Merge(run) => {
            let mut sizes = x.shape[run.clone()].iter();
            let product = sizes.try_fold(1usize, |all, size| all.checked_mul(*size));
            product.ok_or_else(|| Error::overflow("the product of the sizes is too large"))
        }
        Axis::Stretch { of, len } => Err(Error::shape(format!(
            "axis {of} of size {} cannot be read as one of size {len}",
            x.shape[*of]
        ))),
        Axis::Range { .. } => Err(mixed_up()),
    }
}

#[cold]
fn mixed_up() -> Error {
    Error::world("a primitive was planned as another one")
}
