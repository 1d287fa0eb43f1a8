//! A tape as an engine: each primitive is run below, and noted where a tensor it was given has a history.

use std::ops::Range;

use stridewise_core::axis::Axis;
use stridewise_core::call::Parameters;
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Condition, Engine};
use stridewise_core::error::{Error, Result};
use stridewise_core::operator::{Operator, on_behalf_of, running};
use stridewise_core::params::{Extent, Mode, Scalar, Symbol};
use stridewise_core::size::{Shape, Truth};

use crate::node::{Node, Step, has_gradient};
use crate::{Tape, Var};

impl<E: Engine + Clone> Tape<E> {
    /// A result, with its history where one of `given` has one and its elements have gradients.
    fn noted<'v>(
        &self,
        value: E::Value,
        given: impl IntoIterator<Item = &'v Var<E>>,
        step: impl FnOnce() -> Step<E>,
    ) -> Result<Var<E>>
    where
        E: 'v,
    {
        let tracked = given.into_iter().any(Var::is_tracked);
        let node = match tracked && has_gradient(self.inner.dtype(&value)) {
            true => Some(Node::new(&self.inner, &value, step())?),
            false => None,
        };
        Ok(Var { value, node })
    }

    /// An index as a history keeps it: the way back is where the elements came from, whatever becomes of the index.
    fn kept_index(&self, tracked: bool, index: &Var<E>) -> Result<E::Value> {
        match tracked {
            true => self.inner.as_it_is(&index.value),
            false => Ok(index.value.clone()),
        }
    }
}

impl<E: Engine + Clone> Engine for Tape<E> {
    type Size = E::Size;
    type Value = Var<E>;

    fn rank(&self, x: &Var<E>) -> Result<usize> {
        self.inner.rank(&x.value)
    }

    fn size(&self, x: &Var<E>, axis: usize) -> E::Size {
        self.inner.size(&x.value, axis)
    }

    fn dtype(&self, x: &Var<E>) -> DType {
        self.inner.dtype(&x.value)
    }

    fn full(&self, dtype: DType, value: Scalar, sizes: &[E::Size]) -> Result<Var<E>> {
        Ok(self.constant(self.inner.full(dtype, value, sizes)?))
    }

    fn range(&self, dtype: DType, start: Scalar, step: Scalar, len: E::Size) -> Result<Var<E>> {
        Ok(self.constant(self.inner.range(dtype, start, step, len)?))
    }

    fn literal(&self, dtype: DType, sizes: &[usize], values: &[Scalar]) -> Result<Var<E>> {
        Ok(self.constant(self.inner.literal(dtype, sizes, values)?))
    }

    fn sizes(&self, sizes: &[E::Size]) -> Result<Var<E>> {
        Ok(self.constant(self.inner.sizes(sizes)?))
    }

    fn runs(&self, counts: &[E::Size]) -> Result<Var<E>> {
        Ok(self.constant(self.inner.runs(counts)?))
    }

    fn read_sizes(&self, x: &Var<E>) -> Result<Vec<Extent<E::Size>>> {
        self.inner.read_sizes(&x.value)
    }

    fn read_size(&self, x: &Var<E>) -> Result<Extent<E::Size>> {
        self.inner.read_size(&x.value)
    }

    fn try_view(
        &self,
        x: &Var<E>,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<E::Size>>,
    ) -> Result<Var<E>> {
        let value = self.inner.try_view(&x.value, rank, &axes)?;
        if !x.is_tracked() {
            return Ok(self.constant(value));
        }
        // Asked again only now: a map that the engine has refused may have no end.
        let settled = |out| Ok(axes(out)?.settled(|axis| self.size(x, axis)));
        let axes = (0..rank).map(settled).collect::<Result<Vec<_>>>()?;
        let x = x.node.clone();
        let node = Node::new(&self.inner, &value, Step::View { x, axes })?;
        Ok(Var {
            value,
            node: Some(node),
        })
    }

    fn merges(&self, x: &Var<E>, run: Range<usize>) -> Truth {
        self.inner.merges(&x.value, run)
    }

    fn is_packed(&self, x: &Var<E>) -> Truth {
        self.inner.is_packed(&x.value)
    }

    fn copy(&self, x: &Var<E>) -> Result<Var<E>> {
        let value = self.inner.copy(&x.value)?;
        self.noted(value, [x], || Step::Copy { x: x.node.clone() })
    }

    fn gather(&self, source: &Var<E>, index: &Var<E>, along: &Along, mode: Mode) -> Result<Var<E>> {
        let value = self
            .inner
            .gather(&source.value, &index.value, along, mode)?;
        let index = self.kept_index(source.is_tracked(), index)?;
        self.noted(value, [source], || Step::Gather {
            source: source.node.clone(),
            index,
            along: along.clone(),
            mode,
        })
    }

    fn scatter_add(
        &self,
        base: &Var<E>,
        index: &Var<E>,
        updates: &Var<E>,
        along: &Along,
        mode: Mode,
    ) -> Result<Var<E>> {
        let (to, at, from) = (&base.value, &index.value, &updates.value);
        let value = self.inner.scatter_add(to, at, from, along, mode)?;
        let index = self.kept_index(updates.is_tracked(), index)?;
        self.noted(value, [base, updates], || Step::ScatterAdd {
            base: base.node.clone(),
            updates: updates.node.clone(),
            index,
            along: along.clone(),
            mode,
        })
    }

    fn sum(&self, x: &Var<E>, axes: &[usize], dtype: DType) -> Result<Var<E>> {
        let value = self.inner.sum(&x.value, axes, dtype)?;
        self.noted(value, [x], || Step::Sum {
            x: x.node.clone(),
            axes: axes.to_vec(),
        })
    }

    fn concat(&self, xs: &[&Var<E>], axis: usize) -> Result<Var<E>> {
        let values: Vec<&E::Value> = xs.iter().map(|x| &x.value).collect();
        let value = self.inner.concat(&values, axis)?;
        self.noted(value, xs.iter().copied(), || Step::Concat {
            xs: xs.iter().map(|x| x.node.clone()).collect(),
            sizes: xs.iter().map(|x| self.size(x, axis)).collect(),
            axis,
        })
    }

    fn cast(&self, x: &Var<E>, dtype: DType) -> Result<Var<E>> {
        let value = self.inner.cast(&x.value, dtype)?;
        self.noted(value, [x], || Step::Cast { x: x.node.clone() })
    }

    fn add(&self, a: &Var<E>, b: &Var<E>) -> Result<Var<E>> {
        let value = self.inner.add(&a.value, &b.value)?;
        self.noted(value, [a, b], || Step::Add {
            a: a.node.clone(),
            b: b.node.clone(),
        })
    }

    fn require(&self, condition: Condition<E::Size>, error: impl FnOnce() -> Error) -> Result<()> {
        self.inner.require(condition, error)
    }

    fn sizes_of(&self, x: &Var<E>) -> Result<Var<E>> {
        Ok(self.constant(self.inner.sizes_of(&x.value)?))
    }

    fn settled(&self, parameters: impl FnOnce() -> Parameters<E::Size>) -> Result<()> {
        self.inner.settled(parameters)
    }

    fn run<O: Operator<Tape<E>>>(&self, operator: &O, inputs: &[&Var<E>]) -> Result<O::Output> {
        self.inner.settled(|| operator.parameters())?;
        // The engine below may tell of it when the call is over; a front door may have another name for it.
        match running() {
            "" => on_behalf_of(O::NAME, || operator.lower(self, inputs)),
            _ => operator.lower(self, inputs),
        }
    }

    fn outlined(
        &self,
        x: &Var<E>,
        front: usize,
        back: usize,
        open: bool,
    ) -> Result<(Shape<E::Size>, E::Size)> {
        self.inner.outlined(&x.value, front, back, open)
    }

    fn learned(&self, x: &Var<E>, sizes: &[E::Size]) -> Var<E> {
        Var {
            value: self.inner.learned(&x.value, sizes),
            node: x.node.clone(),
        }
    }

    fn meaning(&self, symbol: &Symbol) -> Option<E::Size> {
        self.inner.meaning(symbol)
    }

    fn count(&self, x: &Var<E>) -> Result<E::Size> {
        self.inner.count(&x.value)
    }
}
