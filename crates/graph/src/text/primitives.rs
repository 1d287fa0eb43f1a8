//! Primitives that stand by themselves, as gradients leave them. An engine relies on operators to have checked
//! what they ask of it; in a text anything can stand, so it is checked here.

use stridewise_core::axis::Axis;
use stridewise_core::call::Arg;
use stridewise_core::dim::Dim;
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Engine, describe};
use stridewise_core::error::{Error, Result};
use stridewise_core::params::{Extent, Mode, Scalar};
use stridewise_core::rules::gather_shape;
use stridewise_core::size::{Size, Truth};
use stridewise_core::table::ParamKind;

use super::arguments::{Arguments, Given, Kind};
use super::header::Written;
use super::parse::Parser;
use crate::graph::Symbolic;
use crate::node::Primitive;

/// A primitive: its name, how it is written, how many tensors it takes, and its other parameters.
struct Signature {
    name: &'static str,
    text: &'static str,
    tensors: Option<usize>,
    params: &'static [(&'static str, Kind)],
}

const SIZES: Kind = Kind::Of(ParamKind::Sizes);
const DTYPE: (&str, Kind) = ("dtype", Kind::Of(ParamKind::DType));
const ADDRESSED: &[(&str, Kind)] = &[
    ("run", Kind::Run),
    ("aligned", Kind::Of(ParamKind::Count)),
    ("mode", Kind::Of(ParamKind::Mode)),
    ("fill_value", Kind::Of(ParamKind::Scalar)),
];

macro_rules! signature {
    ($name:literal $text:literal $tensors:expr, $params:expr) => {
        Signature {
            name: $name,
            text: concat!("primitive.", $name, "(", $text, ")"),
            tensors: $tensors,
            params: $params,
        }
    };
}

const ALL: &[Signature] = &[
    signature!("full" "sizes, value, dtype" Some(0),
        &[("sizes", SIZES), ("value", Kind::Of(ParamKind::Scalar)), DTYPE]),
    signature!("range" "start, step, len, dtype" Some(0), &[
        ("start", Kind::Of(ParamKind::Scalar)),
        ("step", Kind::Of(ParamKind::Scalar)),
        ("len", Kind::Size),
        DTYPE,
    ]),
    signature!("sizes" "sizes" Some(0), &[("sizes", SIZES)]),
    signature!("sizes_of" "x" Some(1), &[]),
    signature!("runs" "counts" Some(0), &[("counts", SIZES)]),
    signature!("same" "x" Some(1), &[]),
    signature!("view" "x, axes" Some(1), &[("axes", Kind::Map)]),
    signature!("copy" "x" Some(1), &[]),
    signature!("gather" "source, index, run or aligned, mode=\"raise\"" Some(2), ADDRESSED),
    signature!("scatter_add" "base, index, updates, run or aligned, mode=\"raise\"" Some(3), ADDRESSED),
    signature!("sum" "x, axes, dtype" Some(1), &[("axes", Kind::Of(ParamKind::Axes)), DTYPE]),
    signature!("concat" "[tensors], axis" None, &[("axis", Kind::Of(ParamKind::Count))]),
    signature!("cast" "x, dtype" Some(1), &[DTYPE]),
    signature!("add" "a, b" Some(2), &[]),
];

fn found(name: &str) -> Option<&'static Signature> {
    ALL.iter().find(|signature| signature.name == name)
}

/// The primitive of that name.
pub(super) fn named(name: &str) -> Option<&'static str> {
    found(name).map(|signature| signature.name)
}

/// How a primitive is written.
pub(super) fn signature(name: &str) -> &'static str {
    found(name).map_or("", |signature| signature.text)
}

/// What a parameter of a primitive is.
pub(super) fn kind(name: &str, key: &str) -> Option<(&'static str, Kind)> {
    let params = found(name)?.params.iter();
    params.copied().find(|(param, _)| *param == key)
}

/// Which primitives there are.
pub(super) fn help() -> String {
    let names: Vec<&str> = ALL.iter().map(|signature| signature.name).collect();
    format!("use one of {}", names.join(", "))
}

/// The arguments of a primitive by name.
struct Values(Vec<(&'static str, Given)>);

impl Values {
    fn get(&self, key: &str) -> Option<Given> {
        let given = self.0.iter().find(|(name, _)| *name == key);
        given.map(|(_, given)| given.clone())
    }

    fn needed(&self, key: &'static str) -> Result<Given> {
        let missing = || Error::type_(format!("{key} is missing")).at_argument(key);
        self.get(key).ok_or_else(missing)
    }

    fn sizes(&self, key: &'static str) -> Result<Vec<Dim>> {
        let Given::Arg(Arg::List(items)) = self.needed(key)? else {
            return Err(wrong(key));
        };
        let size = |item: Arg<Symbolic, Dim>| match item {
            Arg::Extent(Extent::Is(size)) => Ok(size),
            Arg::Int(n) => usize::try_from(n).map(Dim::from).map_err(|_| wrong(key)),
            _ => Err(wrong(key)),
        };
        items.into_iter().map(size).collect()
    }

    fn size(&self, key: &'static str) -> Result<Dim> {
        match self.needed(key)? {
            Given::Arg(Arg::Extent(Extent::Is(size))) => Ok(size),
            _ => Err(wrong(key)),
        }
    }

    fn scalar(&self, key: &'static str) -> Result<Scalar> {
        match self.needed(key)? {
            Given::Arg(Arg::Bool(b)) => Ok(Scalar::Bool(b)),
            Given::Arg(Arg::Int(n)) => Ok(Scalar::Int(n)),
            Given::Arg(Arg::Float(x)) => Ok(Scalar::Float(x)),
            Given::Arg(Arg::Complex(re, im)) => Ok(Scalar::Complex(re, im)),
            _ => Err(wrong(key)),
        }
    }

    fn dtype(&self) -> Result<DType> {
        match self.needed("dtype")? {
            Given::Arg(Arg::DType(dtype)) => Ok(dtype),
            _ => Err(wrong("dtype")),
        }
    }

    fn axis(&self, key: &'static str) -> Result<usize> {
        match self.needed(key)? {
            Given::Arg(Arg::Int(n)) => usize::try_from(n).map_err(|_| wrong(key)),
            _ => Err(wrong(key)),
        }
    }

    fn mode(&self, dtype: DType) -> Result<Mode> {
        let fill = match self.get("fill_value") {
            Some(_) => Some(self.scalar("fill_value")?),
            None => None,
        };
        if let Some(value) = fill {
            value.require_fit(dtype, "fill_value")?;
        }
        match self.get("mode") {
            Some(Given::Arg(Arg::Text(word))) => Mode::named(&word, fill),
            _ => Mode::named("raise", fill),
        }
    }

    fn along(&self) -> Result<Along> {
        match (self.get("run"), self.get("aligned")) {
            (Some(Given::Run(run)), None) => Ok(Along::Run(run)),
            (None, Some(_)) => Ok(Along::Aligned(self.axis("aligned")?)),
            _ => Err(Error::type_("one of run and aligned is needed")),
        }
    }
}

#[cold]
fn wrong(key: &'static str) -> Error {
    Error::type_(format!("{key} is not what the primitive takes")).at_argument(key)
}

impl Parser<'_> {
    /// Records a primitive.
    pub(super) fn primitive(
        &mut self,
        place: usize,
        name: &'static str,
        arguments: Arguments,
        types: &[Written],
    ) -> Result<Symbolic> {
        let xs = arguments.tensors;
        let fits = match found(name).and_then(|signature| signature.tensors) {
            Some(count) => xs.len() == count && !arguments.listed,
            None => arguments.listed && !xs.is_empty(),
        };
        if !fits {
            let error = self
                .cursor
                .error(place, format!("{name} takes other tensors"));
            return Err(error.help(format!("the call is {}", signature(name))));
        }
        let values = Values(arguments.named);
        let graph = self.graph.clone();
        match name {
            "full" => {
                let (value, dtype) = (values.scalar("value")?, values.dtype()?);
                value.require_fit(dtype, "value")?;
                graph.full(dtype, value, &values.sizes("sizes")?)
            }
            "range" => {
                let (start, step) = (values.scalar("start")?, values.scalar("step")?);
                let dtype = values.dtype()?;
                start.require_fit(dtype, "start")?;
                graph.range(dtype, start, step, values.size("len")?)
            }
            "sizes" => graph.sizes(&values.sizes("sizes")?),
            "sizes_of" => {
                match xs[0].shape.rank() {
                    None => graph.sizes_of(&xs[0]),
                    Some(_) => Err(Error::shape("the rank is known, so the sizes are")
                        .help("use primitive.sizes")),
                }
            }
            "runs" => graph.runs(&values.sizes("counts")?),
            "same" => self.same(place, &xs[0], types),
            "view" => {
                let Given::Axes(axes) = values.needed("axes")? else {
                    return Err(wrong("axes"));
                };
                let rank = graph.rank(&xs[0])?;
                axes.iter().try_for_each(|axis| require_axis(axis, rank))?;
                graph.try_view(&xs[0], axes.len(), |out| Ok(axes[out].clone()))
            }
            "copy" => graph.copy(&xs[0]),
            "gather" => {
                require_index(&xs[1])?;
                let mode = values.mode(xs[0].dtype)?;
                graph.gather(&xs[0], &xs[1], &values.along()?, mode)
            }
            "scatter_add" => {
                require_index(&xs[1])?;
                let (along, mode) = (values.along()?, values.mode(xs[0].dtype)?);
                let shape = gather_shape(&graph.shape(&xs[0])?, &graph.shape(&xs[1])?, &along)?;
                require_alike(&shape, &graph.shape(&xs[2])?)?;
                require_dtype(&xs[0], &xs[2])?;
                graph.scatter_add(&xs[0], &xs[1], &xs[2], &along, mode)
            }
            "sum" => {
                let axes = self.axes(&values, graph.rank(&xs[0])?)?;
                let dtype = values.dtype()?;
                if dtype == DType::Bool {
                    return Err(Error::dtype("a sum has no meaning in bool"));
                }
                graph.sum(&xs[0], &axes, dtype)
            }
            "concat" => {
                xs.iter().try_for_each(|x| require_dtype(&xs[0], x))?;
                graph.concat(&xs.iter().collect::<Vec<_>>(), values.axis("axis")?)
            }
            "cast" => graph.cast(&xs[0], values.dtype()?),
            _ => {
                let [a, b] = [&xs[0], &xs[1]];
                require_dtype(a, b)?;
                if let (Some(a), Some(b)) = (a.shape.shape(), b.shape.shape()) {
                    require_alike(a, b)?;
                }
                graph.add(a, b)
            }
        }
    }

    /// Axes in ascending order, each once.
    fn axes(&self, values: &Values, rank: usize) -> Result<Vec<usize>> {
        let Given::Arg(Arg::List(items)) = values.needed("axes")? else {
            return Err(wrong("axes"));
        };
        let axis = |item: Arg<Symbolic, Dim>| match item {
            Arg::Int(n) => usize::try_from(n).ok().filter(|axis| *axis < rank),
            _ => None,
        };
        let axes: Option<Vec<usize>> = items.into_iter().map(axis).collect();
        let axes = axes.filter(|axes| axes.is_sorted_by(|a, b| a < b));
        axes.ok_or_else(|| {
            let message = format!("axes are not ascending numbers below {rank}");
            Error::axis(message).at_argument("axes")
        })
    }

    /// The same tensor, of which the text says more than was known.
    fn same(&mut self, place: usize, x: &Symbolic, types: &[Written]) -> Result<Symbolic> {
        let [written] = types else {
            let message = "expected the shape that is now known, as in `: float32[B, 3]`";
            return Err(self.cursor.error(place, message));
        };
        self.declare(&written.outline);
        let shape = self.meant(written)?;
        if let Some(dims) = x.shape.shape() {
            match shape.shape() {
                Some(learned) => require_alike(dims, learned)?,
                None => return Err(Error::shape("the rank was known before")),
            }
        }
        let elements = self.graph.lock().values[x.id].elements.clone();
        Ok(self
            .graph
            .emit(Primitive::Same(x.id), x.dtype, shape, elements))
    }
}

/// Sees to it that an axis of a view comes from axes that are there.
fn require_axis(axis: &Axis<Dim>, rank: usize) -> Result<()> {
    let there = match axis {
        Axis::Of(of)
        | Axis::Slice { of, .. }
        | Axis::Split { of, .. }
        | Axis::Stretch { of, .. }
        | Axis::Range { of, .. } => *of < rank,
        Axis::Fresh(_) => true,
        Axis::Merge(run) => run.start <= run.end && run.end <= rank,
    };
    if !there {
        return Err(
            Error::axis(format!("{axis:?} is out of range for rank {rank}")).at_argument("axes"),
        );
    }
    match axis {
        Axis::Range { step: 0, .. } | Axis::Slice { step: 0, .. } => {
            Err(Error::argument("a step of 0 leads nowhere").at_argument("axes"))
        }
        _ => Ok(()),
    }
}

fn require_index(index: &Symbolic) -> Result<()> {
    match index.dtype.is_integer() {
        true => Ok(()),
        false => Err(Error::dtype(format!("an index cannot be {}", index.dtype))),
    }
}

fn require_dtype(a: &Symbolic, b: &Symbolic) -> Result<()> {
    if a.dtype == b.dtype {
        return Ok(());
    }
    let (a, b) = (describe(a.graph(), a), describe(b.graph(), b));
    Err(Error::dtype(format!(
        "the tensors are {a} and {b}, but one dtype is needed"
    )))
}

fn require_alike(a: &[Dim], b: &[Dim]) -> Result<()> {
    let differ = |(a, b): (&Dim, &Dim)| a.same(b) == Truth::No;
    match a.len() != b.len() || a.iter().zip(b).any(differ) {
        true => Err(Error::shape(format!("the shapes {a:?} and {b:?} differ"))),
        false => Ok(()),
    }
}
