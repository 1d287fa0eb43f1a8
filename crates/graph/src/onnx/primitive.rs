//! Each primitive as nodes of a model.

use stridewise_core::dim::Dim;
use stridewise_core::dtype::{DType, Family};
use stridewise_core::engine::Engine;
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Scalar;
use stridewise_core::size::Size;
use stridewise_cpu::Cpu;
use stridewise_onnx::Var;

use super::{Export, data, one};
use crate::node::{Id, Primitive};

/// Ranges longer than this are worked out in the model.
const LONGEST: usize = 1 << 12;

impl Export<'_> {
    /// A primitive that makes the value `out`.
    pub(super) fn primitive(&mut self, primitive: &Primitive, out: Id) -> Result<Var> {
        match primitive {
            Primitive::Constant(tensor) => self.constant(tensor),
            Primitive::Full {
                dtype,
                value,
                sizes,
            } => {
                let shape = self.shape(sizes)?;
                self.full(*dtype, *value, &shape)
            }
            Primitive::Range {
                dtype,
                start,
                step,
                len,
            } => self.range(*dtype, *start, *step, len),
            Primitive::Sizes(sizes) => self.shape(sizes),
            Primitive::SizesOf(x) => {
                let x = self.var(*x)?;
                Ok(self.writer.shape(&x))
            }
            Primitive::Runs(counts) => {
                let known: Option<Vec<usize>> = counts.iter().map(Size::known).collect();
                match known {
                    Some(counts) => self.constant(&Cpu.runs(&counts)?),
                    None => Err(Error::too_early(
                        "how often slices are repeated is not known",
                    )),
                }
            }
            Primitive::Same(x) => self.var(*x),
            Primitive::View { x, axes } => {
                let seen = self.dims(out)?;
                self.view(*x, axes, &seen)
            }
            Primitive::Copy(x) => self.var(*x),
            Primitive::Gather {
                source,
                index,
                along,
                mode,
            } => self.gather(*source, *index, along, *mode),
            Primitive::ScatterAdd {
                base,
                index,
                updates,
                along,
                mode,
            } => self.scatter_add((*base, *index, *updates), along, *mode),
            Primitive::Sum { x, axes, dtype } => {
                no_complex("sum", &[*dtype])?;
                let var = self.var(*x)?;
                let var = self.cast(var, self.program.values[*x].dtype, wide(*dtype));
                let axes: Vec<i64> = axes.iter().map(|axis| *axis as i64).collect();
                let axes = self.writer.integers(&axes);
                let sum = self.writer.reduce_sum(&var, &axes, false);
                Ok(self.cast(sum, wide(*dtype), *dtype))
            }
            Primitive::Concat { xs, axis } => {
                let xs = xs
                    .iter()
                    .map(|x| self.var(*x))
                    .collect::<Result<Vec<_>>>()?;
                Ok(self
                    .writer
                    .concat(&xs.iter().collect::<Vec<_>>(), *axis as i64))
            }
            Primitive::Cast { x, dtype } => {
                no_complex("cast", &[self.program.values[*x].dtype, *dtype])?;
                let var = self.var(*x)?;
                Ok(self.writer.cast(&var, *dtype))
            }
            Primitive::Add(a, b) => {
                let dtype = self.program.values[*a].dtype;
                no_complex("sum", &[dtype])?;
                let (a, b) = (self.var(*a)?, self.var(*b)?);
                let (a, b) = (
                    self.cast(a, dtype, wide(dtype)),
                    self.cast(b, dtype, wide(dtype)),
                );
                let sum = self.writer.add(&a, &b);
                Ok(self.cast(sum, wide(dtype), dtype))
            }
        }
    }

    fn cast(&mut self, x: Var, from: DType, to: DType) -> Var {
        match from == to {
            true => x,
            false => self.writer.cast(&x, to),
        }
    }

    /// A tensor of that shape with one value everywhere.
    pub(super) fn full(&mut self, dtype: DType, value: Scalar, shape: &Var) -> Result<Var> {
        let value = data(&one(dtype, value)?)?;
        Ok(match dtype {
            // `ConstantOfShape` came to know these later, or never.
            DType::BF16 | DType::C64 | DType::C128 => {
                let value = self.writer.constant(value);
                self.writer.expand(&value, shape)
            }
            _ => self.writer.constant_of_shape(shape, &value),
        })
    }

    fn range(&mut self, dtype: DType, start: Scalar, step: Scalar, len: &Dim) -> Result<Var> {
        if let Some(len) = len.known().filter(|len| *len <= LONGEST) {
            return self.constant(&Cpu.range(dtype, start, step, len)?);
        }
        let (zero, one_more, len) = (
            self.writer.integer(0),
            self.writer.integer(1),
            self.scalar(len)?,
        );
        let places = self.writer.range(&zero, &len, &one_more);
        let wide = match (start, step) {
            (Scalar::Int(_), Scalar::Int(_)) => DType::I64,
            _ => DType::F64,
        };
        let places = self.cast(places, DType::I64, wide);
        let (start, step) = (data(&one(wide, start)?)?, data(&one(wide, step)?)?);
        let (start, step) = (self.writer.constant(start), self.writer.constant(step));
        let far = self.writer.mul(&places, &step);
        let values = self.writer.add(&far, &start);
        Ok(self.cast(values, wide, dtype))
    }
}

/// Refuses what ONNX has for no complex numbers.
fn no_complex(what: &str, dtypes: &[DType]) -> Result<()> {
    match dtypes
        .iter()
        .find(|dtype| dtype.family() == Family::Complex)
    {
        None => Ok(()),
        Some(dtype) => Err(Error::dtype(format!("ONNX has no {what} of {dtype}"))
            .sizes("a real dtype", dtype)
            .help("complex numbers can be moved there, but not counted with")),
    }
}

/// The type that runtimes add in: they have no sums of small integers.
fn wide(dtype: DType) -> DType {
    match dtype.family() {
        Family::Float | Family::Complex => dtype,
        _ if matches!(dtype, DType::I32 | DType::I64) => dtype,
        _ => DType::I64,
    }
}
