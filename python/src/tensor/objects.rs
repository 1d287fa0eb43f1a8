//! The engine of main memory over Python objects: a view is written straight into the object that is handed out, and
//! what passes through operators is a pointer. A tensor is large, and each move of it costs a good part of a view.

use std::ops::Range;

use pyo3::prelude::*;
use smallvec::SmallVec;
use stridewise::call::{Argument, Look};
use stridewise::engine::Along;
use stridewise::internals::axis::Axis;
use stridewise::internals::primitives::Primitives;
use stridewise::operators::Dims;
use stridewise::params::{Extent, Mode, Scalar};
use stridewise::size::Truth;
use stridewise::table::{Kind, ParamKind};
use stridewise::{Cpu, DType, Engine, Error, Result, Tensor};

use crate::arguments::{
    Given, Held, Object, Raised, at_once_if_small, is_same, list_of, sizes_found,
};
use crate::tensor::shelf::Spares;
use crate::tensor::slot::object_with;
use crate::tensor::{PyTensor, object};

/// The engine, for as long as the interpreter's lock is held. For tensors without a history.
#[derive(Clone, Copy)]
pub(crate) struct Objects<'py>(pub(crate) Python<'py>);

/// A tensor object.
type Made<'py> = Bound<'py, PyTensor>;

#[inline]
fn tensor<'a>(x: &'a Made<'_>) -> &'a Tensor {
    &x.get().inner
}

impl<'py> Objects<'py> {
    fn object(self, made: Result<Tensor>) -> Result<Made<'py>> {
        object(self.0, made?).map_err(no_object)
    }

    /// The object of a result, written there at once.
    #[inline(always)]
    fn made(self, write: impl FnOnce() -> Tensor) -> Result<Made<'py>> {
        object_with(self.0, |place| {
            place.write(write());
        })
        .map_err(no_object)
    }

    /// Work that moves data, during which others may have the interpreter.
    fn moved(
        self,
        inputs: &[&Made<'py>],
        work: impl Fn(&[&Tensor]) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let inputs: SmallVec<[&Tensor; 4]> = inputs.iter().map(|x| tensor(x)).collect();
        <Object<'py> as Argument<Cpu>>::run(Kind::Copy, &inputs, || work(&inputs))
    }

    /// A packed copy. Apart, so that views that need none have nothing of it in their way.
    #[cold]
    #[inline(never)]
    fn packed(self, x: &Made<'py>) -> Result<Tensor> {
        self.moved(&[x], |inputs| Cpu.copy(inputs[0]))
    }

    #[inline]
    fn seen(
        self,
        x: &Made<'py>,
        at: &[(usize, usize)],
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Made<'py>> {
        let copy = |_: &Tensor| self.packed(x);
        tensor(x).view_as(at, rank, axes, copy, |view| self.made(|| view.tensor()))
    }
}

/// The interpreter has no memory left for an object.
#[cold]
fn no_object(error: PyErr) -> Error {
    Error::memory(error.to_string())
}

impl<'py> Engine for Objects<'py> {
    type Size = usize;
    type Value = Made<'py>;

    #[inline]
    fn rank(&self, x: &Made<'py>) -> Result<usize> {
        Ok(tensor(x).rank())
    }

    #[inline]
    fn size(&self, x: &Made<'py>, axis: usize) -> usize {
        Cpu.size(tensor(x), axis)
    }

    #[inline]
    fn dtype(&self, x: &Made<'py>) -> DType {
        tensor(x).dtype()
    }

    #[inline]
    fn count(&self, x: &Made<'py>) -> Result<usize> {
        Cpu.count(tensor(x))
    }

    #[inline]
    fn try_view(
        &self,
        x: &Made<'py>,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<usize>>,
    ) -> Result<Made<'py>> {
        self.seen(x, &[], rank, axes)
    }

    #[inline]
    fn view_at(
        &self,
        x: &Made<'py>,
        at: &[(usize, usize)],
        rank: usize,
        axes: impl Fn(usize) -> Axis<usize>,
    ) -> Result<Made<'py>> {
        self.seen(x, at, rank, |out| Ok(axes(out)))
    }

    #[inline]
    fn is_one_run(&self, x: &Made<'py>) -> bool {
        Cpu.is_one_run(tensor(x))
    }

    #[inline]
    fn view_of_run(
        &self,
        x: &Made<'py>,
        rank: usize,
        sizes: impl Fn(usize) -> usize,
    ) -> Result<Option<Made<'py>>> {
        tensor(x).view_of_run_as(rank, sizes, |view| self.made(|| view.tensor()))
    }

    #[inline]
    fn merges(&self, x: &Made<'py>, run: Range<usize>) -> Truth {
        Cpu.merges(tensor(x), run)
    }

    #[inline]
    fn is_packed(&self, x: &Made<'py>) -> Truth {
        Cpu.is_packed(tensor(x))
    }

    fn copy(&self, x: &Made<'py>) -> Result<Made<'py>> {
        self.object(self.packed(x))
    }

    fn copy_merged(
        &self,
        x: &Made<'py>,
        rank: usize,
        axes: impl Fn(usize) -> Axis<usize>,
        (count, runs): (usize, impl Fn(usize) -> Range<usize>),
        blame: impl Fn(Error) -> Error,
    ) -> Result<Made<'py>> {
        let at_once = || {
            let merged = (count, &runs);
            Primitives(&Spares(self.0)).copy_merged_as(
                tensor(x),
                rank,
                &axes,
                merged,
                &blame,
                |made| self.made(|| made.done()),
            )
        };
        if let Some(made) = at_once_if_small(&[tensor(x)], at_once)
            && let Some(made) = made?
        {
            return Ok(made);
        }
        self.object(self.moved(&[x], |inputs| {
            Cpu.copy_merged(inputs[0], rank, &axes, (count, &runs), &blame)
        }))
    }

    fn as_it_is(&self, x: &Made<'py>) -> Result<Made<'py>> {
        self.object(self.moved(&[x], |inputs| Cpu.as_it_is(inputs[0])))
    }

    fn full(&self, dtype: DType, value: Scalar, sizes: &[usize]) -> Result<Made<'py>> {
        self.object(self.moved(&[], |_| Cpu.full(dtype, value, sizes)))
    }

    fn range(&self, dtype: DType, start: Scalar, step: Scalar, len: usize) -> Result<Made<'py>> {
        self.object(self.moved(&[], |_| Cpu.range(dtype, start, step, len)))
    }

    fn integers(&self, numbers: &[isize]) -> Result<Made<'py>> {
        self.object(Cpu.integers(numbers))
    }

    fn literal(&self, dtype: DType, sizes: &[usize], values: &[Scalar]) -> Result<Made<'py>> {
        self.object(Cpu.literal(dtype, sizes, values))
    }

    fn sizes(&self, sizes: &[usize]) -> Result<Made<'py>> {
        self.object(Cpu.sizes(sizes))
    }

    fn runs(&self, counts: &[usize]) -> Result<Made<'py>> {
        self.object(self.moved(&[], |_| Cpu.runs(counts)))
    }

    fn read_sizes(&self, x: &Made<'py>) -> Result<Vec<Extent<usize>>> {
        Cpu.read_sizes(tensor(x))
    }

    #[inline]
    fn gather(
        &self,
        source: &Made<'py>,
        index: &Made<'py>,
        along: &Along,
        mode: Mode,
    ) -> Result<Made<'py>> {
        let (from, at) = (tensor(source), tensor(index));
        let at_once = || {
            Primitives(&Spares(self.0))
                .gather_as(from, at, along, mode, |made| self.made(|| made.done()))
        };
        // However large the source is, no more of it is read than is made.
        if let Some(made) = at_once_if_small(&[at], at_once) {
            return made;
        }
        self.object(self.moved(&[source, index], |inputs| {
            Cpu.gather(inputs[0], inputs[1], along, mode)
        }))
    }

    fn scatter_add(
        &self,
        base: &Made<'py>,
        index: &Made<'py>,
        updates: &Made<'py>,
        along: &Along,
        mode: Mode,
    ) -> Result<Made<'py>> {
        self.object(self.moved(&[base, index, updates], |inputs| {
            Cpu.scatter_add(inputs[0], inputs[1], inputs[2], along, mode)
        }))
    }

    fn sum(&self, x: &Made<'py>, axes: &[usize], dtype: DType) -> Result<Made<'py>> {
        self.object(self.moved(&[x], |inputs| Cpu.sum(inputs[0], axes, dtype)))
    }

    fn concat(&self, xs: &[&Made<'py>], axis: usize) -> Result<Made<'py>> {
        self.object(self.moved(xs, |inputs| Cpu.concat(inputs, axis)))
    }

    fn cast(&self, x: &Made<'py>, dtype: DType) -> Result<Made<'py>> {
        self.object(self.moved(&[x], |inputs| Cpu.cast(inputs[0], dtype)))
    }

    fn add(&self, a: &Made<'py>, b: &Made<'py>) -> Result<Made<'py>> {
        self.object(self.moved(&[a, b], |inputs| Cpu.add(inputs[0], inputs[1])))
    }
}

// An argument is read as for the tensors themselves; only tensors are objects.
impl<'py> Argument<Objects<'py>> for Object<'py> {
    type Error = Raised;
    type Tensor = Given<'py>;
    type Output = Py<PyAny>;

    #[inline]
    fn look(&self, wanted: ParamKind) -> Result<Look<'_, usize>, Raised> {
        Argument::<Cpu>::look(self, wanted)
    }

    #[inline]
    fn tensor(&self) -> Result<Given<'py>, Raised> {
        match Given::of(self) {
            Some(given) => Ok(given),
            None => of_held(Argument::<Cpu>::tensor(self)?),
        }
    }

    #[inline]
    fn items(&self) -> impl ExactSizeIterator<Item: std::borrow::Borrow<Self>> {
        Argument::<Cpu>::items(self)
    }

    fn whole_list(&self) -> Result<Option<Given<'py>>, Raised> {
        Argument::<Cpu>::whole_list(self)?.map(of_held).transpose()
    }

    #[inline(always)]
    fn plain_tensor(&self) -> Option<Given<'py>> {
        Given::of(self)
    }

    #[inline]
    fn plain_number(&self) -> Option<isize> {
        Argument::<Cpu>::plain_number(self)
    }

    #[inline]
    fn plain_numbers(&self, into: &mut SmallVec<[isize; 8]>) -> bool {
        Argument::<Cpu>::plain_numbers(self, into)
    }

    #[inline]
    fn one(
        _kind: Kind,
        _inputs: &[&Made<'py>],
        work: impl Fn() -> Result<Made<'py>>,
        origin: Option<&Given<'py>>,
    ) -> Result<Py<PyAny>, Raised> {
        let made = work()?;
        Ok(handed_out(made, origin)?.into_any().unbind())
    }

    fn many(values: Vec<Made<'py>>, origins: &[Given<'py>]) -> Result<Py<PyAny>, Raised> {
        list_of(values, origins, handed_out)
    }

    fn checked(
        (made, dims): (Made<'py>, Dims<usize>),
        origin: Option<&Given<'py>>,
    ) -> Result<Py<PyAny>, Raised> {
        let py = made.py();
        // Nothing is made here, so the object is handed back with all it has.
        let x = origin.map_or(made, |given| Bound::clone(given));
        let pair = (x, sizes_found(py, &dims)?);
        Ok(pair.into_pyobject(py)?.into_any().unbind())
    }
}

/// The object of a tensor: the one it came from, where it is the very same.
#[inline]
fn handed_out<'py>(made: Made<'py>, origin: Option<&Given<'py>>) -> Result<Made<'py>, Raised> {
    match origin {
        Some(given) if !made.is(&***given) && is_same(tensor(given), tensor(&made)) => {
            Ok(Bound::clone(given))
        }
        _ => Ok(made),
    }
}

#[cold]
fn of_held<'py>(held: Held<'py>) -> Result<Given<'py>, Raised> {
    match held {
        Held::Given(given) => Ok(given),
        Held::Made(tensor) => {
            // SAFETY: arguments are read within the call from the interpreter.
            let py = unsafe { Python::assume_attached() };
            Ok(object(py, *tensor)?.into())
        }
    }
}
