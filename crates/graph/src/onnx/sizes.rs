//! Sizes in a model: each is a 1-D tensor of one number, so that shapes are put together by joining them.

use stridewise_core::dim::{Arithmetic, Dim, Leaf};
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Symbol;
use stridewise_core::size::Size;
use stridewise_onnx::Var;

use super::Export;
use crate::node::{At, Id};
use crate::symbols::{as_spread, multiple_of};

impl Export<'_> {
    /// A size, or as many as one that stands for many.
    pub(super) fn size(&mut self, dim: &Dim) -> Result<Var> {
        match as_spread(dim) {
            Some(tuple) => self.tuple(&tuple),
            None => dim.work_out(self),
        }
    }

    /// A shape as a 1-D tensor.
    pub(super) fn shape(&mut self, dims: &[Dim]) -> Result<Var> {
        if let Some(known) = dims.iter().map(Size::known).collect::<Option<Vec<_>>>() {
            let known: Vec<i64> = known.into_iter().map(|n| n as i64).collect();
            return Ok(self.writer.integers(&known));
        }
        let parts = dims
            .iter()
            .map(|dim| self.size(dim))
            .collect::<Result<Vec<_>>>()?;
        Ok(self.joined(&parts))
    }

    /// Lists one after another.
    pub(super) fn joined(&mut self, parts: &[Var]) -> Var {
        match parts {
            [] => self.writer.integers(&[]),
            [one] => one.clone(),
            _ => self.writer.concat(&parts.iter().collect::<Vec<_>>(), 0),
        }
    }

    /// A size as a tensor of rank 0.
    pub(super) fn scalar(&mut self, dim: &Dim) -> Result<Var> {
        let size = self.size(dim)?;
        let axes = self.writer.integers(&[0]);
        Ok(self.writer.squeeze(&size, Some(&axes)))
    }

    /// The sizes a tuple symbol stands for: part of the shape of a tensor that has it, or all that a tensor holds.
    fn tuple(&mut self, symbol: &Symbol) -> Result<Var> {
        if let Some(read) = self.read(symbol) {
            return self.var(read.0);
        }
        let (front, back, id) = self
            .written(|id| {
                let shape = &self.program.values[id].shape;
                let found = shape.rest() == Some(symbol);
                found.then(|| (shape.front().len() as i64, shape.back().len() as i64, id))
            })
            .ok_or_else(|| unknown(symbol))?;
        let x = self.var(id)?;
        Ok(match (front, back) {
            (0, 0) => self.writer.shape(&x),
            (_, 0) => self.writer.shape_between(&x, front, i64::MAX),
            _ => self.writer.shape_between(&x, front, -back),
        })
    }

    /// The size of an axis of a tensor, which may count from the back.
    fn size_of(&mut self, id: Id, axis: i64) -> Result<Var> {
        let x = self.var(id)?;
        let end = if axis == -1 { i64::MAX } else { axis + 1 };
        Ok(self.writer.shape_between(&x, axis, end))
    }

    fn read(&self, symbol: &Symbol) -> Option<(Id, At)> {
        let reads = &self.program.reads;
        let read = reads.iter().find(|read| read.symbol == *symbol)?;
        Some((read.from, read.at))
    }

    /// The first tensor in the model of which something is so.
    fn written<T>(&self, such: impl Fn(Id) -> Option<T>) -> Option<T> {
        (0..self.program.values.len())
            .filter(|id| self.vars.contains_key(id))
            .find_map(such)
    }
}

fn unknown(symbol: &Symbol) -> Error {
    Error::too_early(format!("no tensor of the model says what {symbol} is"))
}

impl Arithmetic for Export<'_> {
    type Value = Var;
    type Error = Error;

    fn number(&mut self, n: i128) -> Result<Var> {
        let n = i64::try_from(n).map_err(|_| Error::overflow(format!("{n} is no int64")))?;
        Ok(self.writer.integers(&[n]))
    }

    fn symbol(&mut self, leaf: &Leaf) -> Result<Var> {
        let symbol = match leaf {
            Leaf::Product(tuple) => {
                let sizes = self.tuple(tuple)?;
                let product = self.writer.reduce_prod_all(&sizes);
                let axes = self.writer.integers(&[0]);
                return Ok(self.writer.unsqueeze(&product, &axes));
            }
            Leaf::Size(symbol) => symbol,
        };
        if let Some((from, at)) = self.read(symbol) {
            let x = self.var(from)?;
            let one = self.writer.integers(&[-1]);
            let list = self.writer.reshape(&x, &one);
            let place = match at {
                At::Item(at) => at as i64,
                _ => 0,
            };
            let place = self.writer.integers(&[place]);
            let number = self.writer.gather(&list, &place, 0);
            return Ok(self.writer.cast(&number, stridewise_core::DType::I64));
        }
        let found = self.written(|id| {
            let shape = &self.program.values[id].shape;
            let is = |dim: &Dim| dim.as_symbol() == Some(symbol);
            let front = shape.front().iter().position(is).map(|at| at as i64);
            let back = shape
                .back()
                .iter()
                .rev()
                .position(is)
                .map(|at| -1 - at as i64);
            front.or(back).map(|axis| (axis, id))
        });
        if let Some((axis, id)) = found {
            return self.size_of(id, axis);
        }
        // No tensor has it alone, but one may have a multiple of it.
        let found = self.written(|id| {
            let dims = self.program.values[id].shape.shape()?;
            dims.iter().enumerate().find_map(|(axis, dim)| {
                let (times, rest) = multiple_of(dim, symbol, |_| None)?;
                Some((axis as i64, id, times, rest))
            })
        });
        let (axis, id, times, rest) = found.ok_or_else(|| unknown(symbol))?;
        let size = self.size_of(id, axis)?;
        let times = self.writer.integers(&[times as i64]);
        let over = match rest {
            0 => size,
            _ => {
                let rest = self.writer.integers(&[rest as i64]);
                self.writer.sub(&size, &rest)
            }
        };
        Ok(self.writer.div(&over, &times))
    }

    fn sliced(&mut self, of: Var, start: isize, stop: Option<isize>, step: isize) -> Result<Var> {
        let axes = self.writer.integers(&[0]);
        let of = self.writer.squeeze(&of, Some(&axes));
        let (zero, one) = (self.writer.integer(0), self.writer.integer(1));
        let all = self.writer.range(&zero, &of, &one);
        let starts = self.writer.integers(&[start as i64]);
        let stops = self
            .writer
            .integers(&[stop.map_or(i64::MAX, |stop| stop as i64)]);
        let steps = self.writer.integers(&[step as i64]);
        let cut = self
            .writer
            .slice(&all, &starts, &stops, Some(&axes), Some(&steps));
        Ok(self.writer.shape(&cut))
    }

    fn plus(&mut self, a: Var, b: Var) -> Result<Var> {
        Ok(self.writer.add(&a, &b))
    }

    fn times(&mut self, a: Var, b: Var) -> Result<Var> {
        Ok(self.writer.mul(&a, &b))
    }

    fn over(&mut self, a: Var, b: Var) -> Result<Var> {
        Ok(self.writer.div(&a, &b))
    }
}
