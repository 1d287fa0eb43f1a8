//! A graph as an engine: operators are kept whole, and lowered with symbolic sizes only to learn what can be
//! known of their results and what is left to check.

use std::ops::Range;

use stridewise_core::axis::Axis;
use stridewise_core::call::{Arg, Parameters, Plain};
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Condition, Engine};
use stridewise_core::error::{Error, Result};
use stridewise_core::operator::{Operator, Outputs};
use stridewise_core::params::{Extent, Mode, Scalar, Sizes, Symbol};
use stridewise_core::rules::{concat_shape, gather_shape, runs_len, sum_shape};
use stridewise_core::size::{Shape, Size, Truth};
use stridewise_cpu::Cpu;

use crate::elements::{Elements, sizes};
use crate::graph::{Graph, Inside, Symbolic};
use crate::node::{At, Call, Check, Id, Lowered, Primitive, Read};
use crate::symbols::{as_spread, is_read, read_from, spread};

fn too_large() -> Error {
    Error::overflow("the product of the sizes is more than any machine can address")
}

fn no_rank(x: &Symbolic) -> Error {
    Error::too_early(format!(
        "the tensor has shape {}, whose rank is not known yet",
        x.shape
    ))
    .help("`enforce_shape` can say how many axes there are")
}

impl Graph {
    /// Sees to it that all tensors are of this graph.
    fn own(&self, xs: &[&Symbolic]) -> Result<()> {
        match xs.iter().all(|x| x.graph().is(self)) {
            true => Ok(()),
            false => Err(Error::argument("the tensors belong to different graphs")
                .help("trace all of them in one function")),
        }
    }

    fn elements(&self, x: &Symbolic) -> Option<Elements> {
        self.lock().values.get(x.id)?.elements.clone()
    }

    /// Keeps a check for the run, which makes it by calling the operator again. Whoever lowers operators by itself,
    /// as a tape does, leaves nothing to call again: the check would be lost, so there must be none.
    fn keep(&self, check: Check) -> Result<()> {
        match &mut self.lock().inside {
            Some(inside) => inside.checks.push(check),
            None => {
                return Err(Error::too_early(
                    "whether the sizes fit is only known when the graph runs, and only a whole operator can ask then",
                )
                .help("take the gradient of the finished graph, `Program::gradient`, in place of a tape over it"));
            }
        }
        Ok(())
    }

    /// A symbol for what a run reads from a tensor.
    fn read(&self, x: &Symbolic, at: At) -> Symbol {
        let symbol = read_from(x.id, at);
        let mut builder = self.lock();
        if builder.reads.iter().all(|read| read.symbol != symbol) {
            builder.reads.push(Read {
                symbol: symbol.clone(),
                from: x.id,
                at,
            });
        }
        symbol
    }

    /// The size of an axis of a view.
    fn seen(&self, x: &Symbolic, axis: &Axis<Dim>) -> Result<Dim> {
        let of = |axis: usize| self.size(x, axis);
        match axis {
            Axis::Of(axis) => Ok(of(*axis)),
            Axis::Fresh(len) => Ok(len.clone()),
            Axis::Slice { len, .. } | Axis::Split { len, .. } | Axis::Stretch { len, .. } => {
                Ok(len.clone())
            }
            Axis::Range {
                of: axis,
                start,
                stop,
                step,
            } => of(*axis).sliced(*start, *stop, *step).ok_or_else(too_large),
            Axis::Merge(run) => {
                let dims: Shape<Dim> = run.clone().map(of).collect();
                Dim::product(&dims).ok_or_else(too_large)
            }
        }
    }

    /// What is known of the result of an operator that cannot be lowered yet.
    fn outline_of(&self, sizes: Option<&Sizes<Dim>>) -> Outline {
        let mut builder = self.lock();
        let Some(sizes) = sizes else {
            return Outline::unknown(builder.fresh());
        };
        let (mut front, mut rest, mut back) = (Shape::new(), None, Shape::new());
        for extent in sizes.iter() {
            let size = match extent {
                Extent::Is(size) if !is_read(&size) => size,
                Extent::Is(size) if as_spread(&size).is_some() => spread(&builder.fresh()),
                _ => Dim::symbol(builder.fresh()),
            };
            match as_spread(&size) {
                Some(tuple) if rest.is_none() => rest = Some(tuple),
                // More than one tuple of unknown length: nothing is known of where axes are.
                Some(_) => return Outline::unknown(builder.fresh()),
                None if rest.is_none() => front.push(size),
                None => back.push(size),
            }
        }
        Outline::new(front, rest, back)
    }

    /// Gives every tensor of an output a number of its own: an operator may return what it was given.
    fn renumbered<O: Outputs<Symbolic, Dim>>(&self, output: &mut O) -> (Vec<Id>, Vec<Id>) {
        let (mut results, mut outputs) = (Vec::new(), Vec::new());
        output.each(&mut |x: &mut Symbolic| {
            let mut builder = self.lock();
            let info = builder.values[x.id].clone();
            let id = builder.push(info.dtype, info.shape, info.elements);
            results.push(x.id);
            outputs.push(id);
            x.id = id;
        });
        (results, outputs)
    }
}

/// Refuses to read sizes from a tensor that has too many axes, however many they are.
fn readable(x: &Symbolic, most: usize) -> Result<()> {
    let least = x.shape.least_rank();
    match least > most {
        true => Err(Error::shape(format!(
            "sizes are read from a tensor of rank {least} or more"
        ))
        .sizes(most, format!("at least {least}"))
        .note("shape", &x.shape)
        .help("sizes are numbers, 0-d tensors among numbers, or one 1-D tensor")),
        false => Ok(()),
    }
}

/// Whether an argument holds something that only a run can tell: a number read from a tensor, or sizes of
/// unknown number.
fn is_open(argument: &Plain<Dim>) -> bool {
    match argument {
        Arg::Extent(Extent::Is(size)) => is_read(size) || as_spread(size).is_some(),
        Arg::List(items) => items.iter().any(is_open),
        _ => false,
    }
}

impl Engine for Graph {
    type Size = Dim;
    type Value = Symbolic;

    fn rank(&self, x: &Symbolic) -> Result<usize> {
        x.shape.rank().ok_or_else(|| no_rank(x))
    }

    fn size(&self, x: &Symbolic, axis: usize) -> Dim {
        x.shape.front()[axis].clone()
    }

    fn dtype(&self, x: &Symbolic) -> DType {
        x.dtype
    }

    fn shape_text(&self, x: &Symbolic) -> String {
        x.shape.to_string()
    }

    fn run<O: Operator<Graph>>(&self, operator: &O, inputs: &[&Symbolic]) -> Result<O::Output> {
        self.own(inputs)?;
        let (Some(place), false) = (O::place(), self.lock().inside.is_some()) else {
            return operator.lower(self, inputs);
        };
        let parameters = operator.parameters();
        self.lock().inside = Some(Inside::default());
        let lowered = self
            .settled(|| parameters.clone())
            .and_then(|()| operator.lower(self, inputs));
        let inside = self.lock().inside.take().unwrap_or_default();
        let (output, lowered, outputs, checks) = match lowered {
            Ok(mut output) => {
                let (results, outputs) = self.renumbered(&mut output);
                let (lowered, checks) = Lowered::new(inside, results);
                (output, Some(lowered), outputs, checks)
            }
            Err(Error::TooEarly(reason)) => {
                let dtypes: Vec<DType> = inputs.iter().map(|x| x.dtype).collect();
                let dtype = operator.dtype(&dtypes);
                let mut outputs = Vec::new();
                let made = O::Output::open(&mut || {
                    let shape = self.outline_of(operator.sizes());
                    let id = self.lock().push(dtype, shape.clone(), None);
                    outputs.push(id);
                    self.symbolic(id, dtype, shape)
                });
                let output = made.ok_or(Error::TooEarly(reason.clone()))?;
                let later = vec![Check::Later(reason.message().to_string())];
                (output, None, outputs, later)
            }
            Err(error) => return Err(error),
        };
        let call = Call {
            place,
            tensors: inputs.iter().map(|x| x.id).collect(),
            parameters,
            lowered,
        };
        self.lock().call(O::NAME, call, outputs, checks);
        Ok(output)
    }

    fn keeps_operators(&self) -> bool {
        true
    }

    fn settled(&self, parameters: impl FnOnce() -> Parameters<Dim>) -> Result<()> {
        match parameters().iter().any(|(_, argument)| is_open(argument)) {
            true => Err(Error::too_early("a size is only known when the graph runs")),
            false => Ok(()),
        }
    }

    fn require(&self, condition: Condition<Dim>, error: impl FnOnce() -> Error) -> Result<()> {
        match condition.holds() {
            Truth::Yes => Ok(()),
            Truth::No => Err(error()),
            Truth::Unknown => {
                let mut builder = self.lock();
                match &mut builder.inside {
                    Some(inside) => inside.checks.push(Check::Sizes(condition)),
                    None => builder.require(condition, error()),
                }
                Ok(())
            }
        }
    }

    fn full(&self, dtype: DType, value: Scalar, sizes: &[Dim]) -> Result<Symbolic> {
        let primitive = Primitive::Full {
            dtype,
            value,
            sizes: sizes.to_vec(),
        };
        Ok(self.emit(primitive, dtype, sizes.into(), None))
    }

    fn range(&self, dtype: DType, start: Scalar, step: Scalar, len: Dim) -> Result<Symbolic> {
        let shape = Outline::from([len.clone()].as_slice());
        let primitive = Primitive::Range {
            dtype,
            start,
            step,
            len,
        };
        Ok(self.emit(primitive, dtype, shape, None))
    }

    fn literal(&self, dtype: DType, sizes: &[usize], values: &[Scalar]) -> Result<Symbolic> {
        Ok(self.constant(&Cpu.literal(dtype, sizes, values)?))
    }

    fn sizes(&self, sizes: &[Dim]) -> Result<Symbolic> {
        let listed = sizes.iter().cloned().map(Extent::Is).collect();
        let elements = Elements::listed(listed, &[sizes.len()]);
        let shape = [sizes.len()].as_slice().into();
        Ok(self.emit(
            Primitive::Sizes(sizes.to_vec()),
            DType::I64,
            shape,
            elements,
        ))
    }

    fn sizes_of(&self, x: &Symbolic) -> Result<Symbolic> {
        if let Some(dims) = x.shape.shape() {
            return self.sizes(dims);
        }
        let len = Dim::symbol(self.lock().fresh());
        let elements = Elements::Shape((*x.shape).clone());
        let shape = Outline::from([len].as_slice());
        Ok(self.emit(Primitive::SizesOf(x.id), DType::I64, shape, Some(elements)))
    }

    fn runs(&self, counts: &[Dim]) -> Result<Symbolic> {
        let shape = Outline::from([runs_len(counts)?].as_slice());
        Ok(self.emit(Primitive::Runs(counts.to_vec()), DType::I64, shape, None))
    }

    fn read_sizes(&self, x: &Symbolic) -> Result<Vec<Extent<Dim>>> {
        readable(x, 1)?;
        if let Some(elements) = self.elements(x) {
            return Ok(elements.read());
        }
        let count = match x.shape.shape() {
            Some([len]) => len.known(),
            _ => None,
        };
        Ok(match count {
            Some(count) => (0..count)
                .map(|at| Extent::Is(Dim::symbol(self.read(x, At::Item(at)))))
                .collect(),
            None => vec![Extent::Is(spread(&self.read(x, At::Whole)))],
        })
    }

    fn read_size(&self, x: &Symbolic) -> Result<Extent<Dim>> {
        readable(x, 0)?;
        let mut known = self.elements(x).map(|elements| elements.read());
        Ok(match known.as_mut().and_then(Vec::pop) {
            Some(extent) => extent,
            None => Extent::Is(Dim::symbol(self.read(x, At::Single))),
        })
    }

    fn outlined(
        &self,
        x: &Symbolic,
        front: usize,
        back: usize,
        open: bool,
    ) -> Result<(Shape<Dim>, Dim)> {
        let known = &x.shape;
        let least = front + back;
        if !open && least < known.least_rank() {
            return Err(Error::shape(format!(
                "the tensor has rank {} or more, but {least} is needed",
                known.least_rank()
            ))
            .sizes(least, format!("at least {}", known.least_rank()))
            .note("shape", known));
        }
        if !(open && least <= known.least_rank()) {
            self.keep(Check::Rank {
                of: Box::new((**known).clone()),
                at_least: least,
                open,
            })?;
        }
        let mut builder = self.lock();
        let (f, b) = (known.front(), known.back());
        if open && front <= f.len() && back <= b.len() {
            let all: Shape<Dim> = sizes(known).into();
            let rest = known.rest().map(Dim::product_of);
            let between = f[front..].iter().chain(&rest).chain(&b[..b.len() - back]);
            let count = Dim::product(between).ok_or_else(too_large)?;
            return Ok((all, count));
        }
        // Axes of which nothing was known get symbols of their own.
        let mut fresh = || Dim::symbol(builder.fresh());
        let mut all: Shape<Dim> = (0..front)
            .map(|at| match f.get(at) {
                Some(size) => size.clone(),
                // Counted from the other end, where the rank is now known.
                None if !open && least - at <= b.len() => b[b.len() - (least - at)].clone(),
                None => fresh(),
            })
            .collect();
        let behind: Shape<Dim> = (0..back)
            .map(|at| match (at + b.len()).checked_sub(back) {
                Some(place) => b[place].clone(),
                None => fresh(),
            })
            .collect();
        let mut count = Dim::from(1);
        if open {
            let tuple = builder.fresh();
            all.push(spread(&tuple));
            count = Dim::product_of(&tuple);
        }
        all.extend(behind);
        Ok((all, count))
    }

    fn learned(&self, x: &Symbolic, sizes: &[Dim]) -> Symbolic {
        let shape = self.outline_of(Some(&Shape::from(sizes).into()));
        self.emit(Primitive::Same(x.id), x.dtype, shape, self.elements(x))
    }

    fn meaning(&self, symbol: &Symbol) -> Option<Dim> {
        let declared = self.lock().declares(symbol);
        declared.then(|| Dim::symbol(symbol))
    }

    fn try_view(
        &self,
        x: &Symbolic,
        rank: usize,
        axes: impl Fn(usize) -> Result<Axis<Dim>>,
    ) -> Result<Symbolic> {
        let axes = (0..rank).map(axes).collect::<Result<Vec<_>>>()?;
        let seen = axes.iter().map(|axis| self.seen(x, axis));
        let dims: Shape<Dim> = seen.collect::<Result<_>>()?;
        let elements = self.elements(x).and_then(|elements| elements.view(&axes));
        let view = Primitive::View { x: x.id, axes };
        Ok(self.emit(view, x.dtype, dims.into(), elements))
    }

    fn merges(&self, _: &Symbolic, run: Range<usize>) -> Truth {
        match run.len() {
            0 | 1 => Truth::Yes,
            _ => Truth::Unknown,
        }
    }

    fn is_packed(&self, _: &Symbolic) -> Truth {
        Truth::Unknown
    }

    fn copy(&self, x: &Symbolic) -> Result<Symbolic> {
        let elements = self.elements(x);
        Ok(self.emit(Primitive::Copy(x.id), x.dtype, (*x.shape).clone(), elements))
    }

    fn gather(
        &self,
        source: &Symbolic,
        index: &Symbolic,
        along: &Along,
        mode: Mode,
    ) -> Result<Symbolic> {
        let shape = gather_shape(&self.shape(source)?, &self.shape(index)?, along)?;
        let elements = match (self.elements(source), self.elements(index)) {
            (Some(source), Some(index)) => source.gather(&index, along),
            _ => None,
        };
        let gather = Primitive::Gather {
            source: source.id,
            index: index.id,
            along: along.clone(),
            mode,
        };
        Ok(self.emit(gather, source.dtype, shape.into(), elements))
    }

    fn scatter_add(
        &self,
        base: &Symbolic,
        index: &Symbolic,
        updates: &Symbolic,
        along: &Along,
        mode: Mode,
    ) -> Result<Symbolic> {
        let scatter = Primitive::ScatterAdd {
            base: base.id,
            index: index.id,
            updates: updates.id,
            along: along.clone(),
            mode,
        };
        Ok(self.emit(scatter, base.dtype, (*base.shape).clone(), None))
    }

    fn sum(&self, x: &Symbolic, axes: &[usize], dtype: DType) -> Result<Symbolic> {
        let dims = self.shape(x)?;
        let elements = match axes.len() == dims.len() && dtype.is_integer() {
            true => self.elements(x).and_then(|elements| elements.sum()),
            false => None,
        };
        let sum = Primitive::Sum {
            x: x.id,
            axes: axes.to_vec(),
            dtype,
        };
        Ok(self.emit(sum, dtype, sum_shape(&dims, axes).into(), elements))
    }

    fn concat(&self, xs: &[&Symbolic], axis: usize) -> Result<Symbolic> {
        let shapes = xs
            .iter()
            .map(|x| self.shape(x))
            .collect::<Result<Vec<_>>>()?;
        let shape = concat_shape(shapes.iter().map(|shape| shape.as_slice()), axis)?;
        let parts: Vec<Option<Elements>> = xs.iter().map(|x| self.elements(x)).collect();
        let concat = Primitive::Concat {
            xs: xs.iter().map(|x| x.id).collect(),
            axis,
        };
        let dtype = xs[0].dtype;
        Ok(self.emit(concat, dtype, shape.into(), Elements::concat(&parts)))
    }

    fn cast(&self, x: &Symbolic, dtype: DType) -> Result<Symbolic> {
        // A size fits int64 for certain, and int32 as good as always; nothing else is promised.
        let elements = match dtype {
            DType::I64 => self.elements(x),
            _ => None,
        };
        let cast = Primitive::Cast { x: x.id, dtype };
        Ok(self.emit(cast, dtype, (*x.shape).clone(), elements))
    }

    fn add(&self, a: &Symbolic, b: &Symbolic) -> Result<Symbolic> {
        let elements = match (self.elements(a), self.elements(b)) {
            (Some(a), Some(b)) => a.add(&b),
            _ => None,
        };
        Ok(self.emit(
            Primitive::Add(a.id, b.id),
            a.dtype,
            (*a.shape).clone(),
            elements,
        ))
    }
}
