//! Gathers and scatters in a model, with every treatment of indices outside.

use stridewise_core::dim::Dim;
use stridewise_core::dtype::DType;
use stridewise_core::engine::Along;
use stridewise_core::error::{Error, Result};
use stridewise_core::params::{Mode, Scalar};
use stridewise_core::size::{Shape, Size};
use stridewise_onnx::Var;

use super::{Export, data, one};
use crate::node::Id;

/// Indices that are inside, and which of them were.
struct Inside {
    index: Var,
    /// Where the mode lets indices be outside: whether each was inside.
    was: Option<Var>,
}

impl Export<'_> {
    pub(super) fn dims(&self, id: Id) -> Result<Shape<Dim>> {
        match self.program.values[id].shape.shape() {
            Some(shape) => Ok(shape.into()),
            None => Err(Error::too_early("the rank is not known")),
        }
    }

    pub(super) fn gather(
        &mut self,
        source: Id,
        index: Id,
        along: &Along,
        mode: Mode,
    ) -> Result<Var> {
        let (dims, index_dims) = (self.dims(source)?, self.dims(index)?);
        let x = self.var(source)?;
        let run = match along {
            Along::Aligned(axis) => {
                let inside = self.inside(index, &dims[*axis], mode)?;
                let read = self.writer.gather_elements(&x, &inside.index, *axis as i64);
                return self.filled(read, inside.was, 0, self.program.values[source].dtype, mode);
            }
            Along::Run(run) => run.clone(),
        };
        let cells = product(&dims[run.clone()])?;
        let inside = self.inside(index, &cells, mode)?;
        let x = match run.len() {
            1 => x,
            _ => {
                let mut merged: Vec<Dim> = dims[..run.start].to_vec();
                merged.push(cells);
                merged.extend_from_slice(&dims[run.end..]);
                let merged = self.shape(&merged)?;
                self.writer.reshape(&x, &merged)
            }
        };
        let read = self.writer.gather(&x, &inside.index, run.start as i64);
        let _ = index_dims;
        let behind = dims.len() - run.end;
        self.filled(
            read,
            inside.was,
            behind,
            self.program.values[source].dtype,
            mode,
        )
    }

    pub(super) fn scatter_add(
        &mut self,
        (base, index, updates): (Id, Id, Id),
        along: &Along,
        mode: Mode,
    ) -> Result<Var> {
        let (dims, index_dims) = (self.dims(base)?, self.dims(index)?);
        let dtype = self.program.values[base].dtype;
        let (x, mut added) = (self.var(base)?, self.var(updates)?);
        let run = match along {
            Along::Aligned(axis) => {
                let inside = self.inside(index, &dims[*axis], mode)?;
                added = self.zeroed(added, inside.was, 0, dtype)?;
                let axis = *axis as i64;
                return Ok(self
                    .writer
                    .scatter_elements_add(&x, &inside.index, &added, axis));
            }
            Along::Run(run) => run.clone(),
        };
        // As three axes: before the run, the run, behind it.
        let (before, behind) = (product(&dims[..run.start])?, product(&dims[run.end..])?);
        let cells = product(&dims[run.clone()])?;
        let reads = product(&index_dims)?;
        let inside = self.inside(index, &cells, mode)?;
        added = self.zeroed(added, inside.was, dims.len() - run.end, dtype)?;
        let flat = self.shape(&[before.clone(), cells, behind.clone()])?;
        let x = self.writer.reshape(&x, &flat);
        let three = self.shape(&[before, reads.clone(), behind])?;
        let added = self.writer.reshape(&added, &three);
        let list = self.shape(&[Dim::from(1), reads, Dim::from(1)])?;
        let index = self.writer.reshape(&inside.index, &list);
        let index = self.writer.expand(&index, &three);
        let sum = self.writer.scatter_elements_add(&x, &index, &added, 1);
        let whole = self.shape(&dims)?;
        Ok(self.writer.reshape(&sum, &whole))
    }

    /// The indices as `int64`, brought inside as the mode says.
    fn inside(&mut self, index: Id, cells: &Dim, mode: Mode) -> Result<Inside> {
        let mut var = self.var(index)?;
        if self.program.values[index].dtype != DType::I64 {
            var = self.writer.cast(&var, DType::I64);
        }
        let plain = |index| Inside { index, was: None };
        Ok(match mode {
            Mode::Raise => plain(var),
            Mode::Wrap => {
                let cells = self.scalar(cells)?;
                plain(self.writer.modulo(&var, &cells))
            }
            Mode::Clip => {
                let (cells, zero, less) = (
                    self.scalar(cells)?,
                    self.writer.integer(0),
                    self.writer.integer(-1),
                );
                let last = self.writer.add(&cells, &less);
                let low = self.writer.max(&var, &zero);
                plain(self.writer.min(&low, &last))
            }
            Mode::Fill(_) => {
                let cells = self.scalar(cells)?;
                let (zero, less) = (self.writer.integer(0), self.writer.integer(-1));
                let lowest = self.writer.mul(&cells, &less);
                let (above, below) = (
                    self.writer.greater_or_equal(&var, &lowest),
                    self.writer.less(&var, &cells),
                );
                let was = self.writer.and(&above, &below);
                Inside {
                    index: self.writer.where_(&was, &var, &zero),
                    was: Some(was),
                }
            }
        })
    }

    /// What was read, or the mode's value where the index was outside; `behind` axes stand behind the index's.
    fn filled(
        &mut self,
        read: Var,
        was: Option<Var>,
        behind: usize,
        dtype: DType,
        mode: Mode,
    ) -> Result<Var> {
        let (Some(was), Mode::Fill(value)) = (was, mode) else {
            return Ok(read);
        };
        let was = self.widened(was, behind);
        let value = self.writer.constant(data(&one(dtype, value)?)?);
        Ok(self.writer.where_(&was, &read, &value))
    }

    /// What is added, or 0 where the index was outside.
    fn zeroed(&mut self, added: Var, was: Option<Var>, behind: usize, dtype: DType) -> Result<Var> {
        let Some(was) = was else {
            return Ok(added);
        };
        let was = self.widened(was, behind);
        let zero = self.writer.constant(data(&one(dtype, Scalar::Int(0))?)?);
        Ok(self.writer.where_(&was, &added, &zero))
    }

    /// With axes of size 1 behind, so that it stands against what was read.
    fn widened(&mut self, x: Var, behind: usize) -> Var {
        if behind == 0 {
            return x;
        }
        let axes: Vec<i64> = (1..=behind as i64).map(|at| -at).collect();
        let axes = self.writer.integers(&axes);
        self.writer.unsqueeze(&x, &axes)
    }
}

pub(super) fn product(dims: &[Dim]) -> Result<Dim> {
    Dim::product(dims).ok_or_else(|| Error::overflow("the product of the sizes is too large"))
}
