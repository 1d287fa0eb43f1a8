//! A program as text.

use std::fmt::Write;

use stridewise_core::axis::Axis;
use stridewise_core::call::{Arg, Plain};
use stridewise_core::dim::Dim;
use stridewise_core::dtype::DType;
use stridewise_core::engine::Along;
use stridewise_core::operators::TABLE;
use stridewise_core::params::{Extent, Mode, Scalar, Symbol};
use stridewise_core::size::tuple;
use stridewise_core::table::{Arity, ParamKind};

use super::guards::{condition, one_line};
use super::names::Names;
use super::numbers;
use crate::node::{Body, Call, Id, Input, Node, Primitive};
use crate::program::Program;
use crate::symbols::{anonymous, is_name};

/// The text, and the conditions of the guards in it.
pub(super) fn printed(program: &Program) -> (String, Vec<String>) {
    let mut printer = Printer {
        program,
        names: Names::default(),
        out: String::new(),
        guards: Vec::new(),
    };
    printer.program();
    (printer.out, printer.guards)
}

struct Printer<'p> {
    program: &'p Program,
    names: Names,
    out: String,
    guards: Vec<String>,
}

impl Printer<'_> {
    fn program(&mut self) {
        let program = self.program;
        let seeds = program.gradient.as_ref().map_or(0, |g| g.seeded.len());
        let inputs = program.inputs.len().saturating_sub(seeds);
        let (inputs, seeds) = program.inputs.split_at(inputs);
        for input in &program.inputs {
            self.names.set_value(input.id, &input.name);
        }
        let declared: Vec<String> = inputs.iter().map(|input| self.input(input)).collect();
        self.out = format!("graph({})", declared.join(", "));
        self.bounds(inputs);
        self.out.push_str(" {\n");
        let (mut count, mut guard) = (0, 0);
        for (at, node) in program.nodes.iter().enumerate() {
            for id in &node.outputs {
                self.names.set_value(*id, &format!("%{count}"));
                count += 1;
            }
            self.node(node);
            while let Some(next) = program.guards.get(guard)
                && next.node <= at
            {
                let holds = condition(&next.check, &mut self.names);
                let line = format!("{holds}  # {}", next.origin());
                // Writing to a string cannot fail.
                let _ = writeln!(self.out, "  guard {line}");
                self.guards.push(line);
                guard += 1;
            }
        }
        let outputs = self.values(&program.outputs);
        let last = match &program.gradient {
            None => format!("return {outputs}"),
            Some(gradient) => {
                let by = self.values(&gradient.by);
                let by = format!("gradient({}", format!("{outputs} by {by}").trim_start());
                let names: Vec<&str> = seeds.iter().map(|seed| seed.name.as_str()).collect();
                match names.is_empty() {
                    true => format!("{})", by.trim_end()),
                    false => format!("{})  # given {}", by.trim_end(), names.join(", ")),
                }
            }
        };
        let _ = writeln!(self.out, "  {}\n}}", last.trim_end());
    }

    fn input(&mut self, input: &Input) -> String {
        format!("{}: {}", input.name, self.type_of(input.id))
    }

    /// The bounds that symbols were declared with.
    fn bounds(&mut self, inputs: &[Input]) {
        let mut all: Vec<(Symbol, usize, Option<usize>)> = Vec::new();
        for input in inputs {
            let shape = &self.program.values[input.id].shape;
            for dim in shape.front().iter().chain(shape.back()) {
                let (min, max) = dim.bounds();
                let Some(symbol) = dim.as_symbol().filter(|_| (min, max) != (0, None)) else {
                    continue;
                };
                match all.iter_mut().find(|(other, ..)| other == symbol) {
                    Some((_, least, most)) => {
                        *least = min.max(*least);
                        *most = max.into_iter().chain(*most).min();
                    }
                    None => all.push((symbol.clone(), min, max)),
                }
            }
        }
        let mut texts = Vec::new();
        for (symbol, min, max) in all {
            let name = self.names.dim(&Dim::symbol(&symbol));
            texts.push(match (min, max) {
                (0, Some(max)) => format!("{name} <= {max}"),
                (min, Some(max)) => format!("{min} <= {name} <= {max}"),
                (min, None) => format!("{min} <= {name}"),
            });
        }
        if !texts.is_empty() {
            let _ = write!(self.out, " where {}", texts.join(", "));
        }
    }

    fn type_of(&mut self, id: Id) -> String {
        let info = &self.program.values[id];
        format!("{}{}", info.dtype, self.names.outline(&info.shape))
    }

    fn values(&self, ids: &[Id]) -> String {
        let names: Vec<String> = ids.iter().map(|id| self.names.value(*id)).collect();
        names.join(", ")
    }

    fn node(&mut self, node: &Node) {
        let mut arguments = match &node.body {
            Body::Call(call) => self.call(call),
            Body::Primitive(primitive) => self.primitive(primitive),
            // The guard behind it says it all.
            Body::Require { .. } => {
                let _ = writeln!(self.out, "  require");
                return;
            }
        };
        if let Some(name) = &node.name {
            arguments.push(format!("name={name:?}"));
        }
        let operator = match &node.body {
            Body::Call(call) => TABLE[call.place].name.to_string(),
            Body::Primitive(Primitive::Constant(_)) => "constant".to_string(),
            Body::Primitive(primitive) => format!("primitive.{}", name_of(primitive)),
            Body::Require { .. } => "require".to_string(),
        };
        let mut line = format!("{operator}({})", arguments.join(", "));
        if !node.outputs.is_empty() {
            let types: Vec<String> = node.outputs.iter().map(|id| self.type_of(*id)).collect();
            line = format!(
                "{} = {line}: {}",
                self.values(&node.outputs),
                types.join(", ")
            );
        }
        if let Some(source) = node.source.as_deref().and_then(one_line) {
            let _ = write!(line, "  # {source}");
        }
        let _ = writeln!(self.out, "  {line}");
    }

    fn call(&mut self, call: &Call) -> Vec<String> {
        let entry = &TABLE[call.place];
        let mut arguments = Vec::new();
        let first = match entry.arity {
            Arity::None => 0,
            Arity::One | Arity::Each => 1,
            Arity::Many => {
                arguments.push(format!("[{}]", self.values(&call.tensors)));
                call.tensors.len()
            }
        };
        if matches!(entry.arity, Arity::One | Arity::Each) {
            arguments.extend(call.tensors.iter().take(1).map(|id| self.names.value(*id)));
        }
        let mut tensors = call.tensors.iter().skip(first);
        for param in entry.parameters() {
            if param.kind == ParamKind::Tensor {
                let value = tensors.next().map(|id| self.names.value(*id));
                arguments.extend(value.map(|value| format!("{}={value}", param.name)));
                continue;
            }
            let given = call.parameters.iter().find(|(name, _)| *name == param.name);
            if let Some((name, argument)) = given
                && param.default != Some(bare(argument).as_str())
            {
                arguments.push(format!("{name}={}", self.argument(param.kind, argument)));
            }
        }
        arguments
    }

    fn argument(&mut self, kind: ParamKind, argument: &Plain<Dim>) -> String {
        match (kind, argument) {
            (ParamKind::Sizes | ParamKind::Axes, Arg::List(items)) => {
                tuple(items.iter().map(|item| self.argument(kind, item)))
            }
            (_, Arg::List(items)) => {
                let items: Vec<String> =
                    items.iter().map(|item| self.argument(kind, item)).collect();
                format!("[{}]", items.join(", "))
            }
            // A pattern's symbol and a size that is one are not the same.
            (ParamKind::Pattern, Arg::Symbol(symbol)) => piece(symbol),
            (ParamKind::Pattern, Arg::Extent(Extent::Is(dim)))
                if dim.as_symbol().is_some_and(|symbol| {
                    is_name(symbol.name()) && anonymous(symbol).is_none()
                }) =>
            {
                format!("({})", self.names.dim(dim))
            }
            (_, Arg::Extent(Extent::Is(dim))) => self.names.dim(dim),
            (_, Arg::Text(word)) => format!("{word:?}"),
            (_, other) => bare(other),
        }
    }

    fn sizes(&mut self, dims: &[Dim]) -> String {
        tuple(dims.iter().map(|dim| self.names.dim(dim)))
    }

    fn primitive(&mut self, primitive: &Primitive) -> Vec<String> {
        let value = |names: &Names, id: &Id| names.value(*id);
        match primitive {
            Primitive::Constant(tensor) => vec![numbers::constant(tensor)],
            Primitive::Full {
                dtype,
                value,
                sizes,
            } => vec![
                format!("sizes={}", self.sizes(sizes)),
                format!("value={}", number(*value)),
                format!("dtype={dtype}"),
            ],
            Primitive::Range {
                dtype,
                start,
                step,
                len,
            } => vec![
                format!("start={}", number(*start)),
                format!("step={}", number(*step)),
                format!("len={}", self.names.dim(len)),
                format!("dtype={dtype}"),
            ],
            Primitive::Sizes(sizes) => vec![format!("sizes={}", self.sizes(sizes))],
            Primitive::Runs(counts) => vec![format!("counts={}", self.sizes(counts))],
            Primitive::SizesOf(x) | Primitive::Same(x) | Primitive::Copy(x) => {
                vec![value(&self.names, x)]
            }
            Primitive::View { x, axes } => {
                let axes: Vec<String> = axes.iter().map(|axis| self.axis(axis)).collect();
                vec![value(&self.names, x), format!("axes=[{}]", axes.join(", "))]
            }
            Primitive::Gather {
                source,
                index,
                along: axes,
                mode,
            } => {
                let mut all = vec![self.values(&[*source, *index]), along(axes)];
                all.extend(mode_text(*mode));
                all
            }
            Primitive::ScatterAdd {
                base,
                index,
                updates,
                along: axes,
                mode,
            } => {
                let mut all = vec![self.values(&[*base, *index, *updates]), along(axes)];
                all.extend(mode_text(*mode));
                all
            }
            Primitive::Sum { x, axes, dtype } => vec![
                value(&self.names, x),
                format!("axes={}", tuple(axes)),
                format!("dtype={dtype}"),
            ],
            Primitive::Concat { xs, axis } => {
                vec![format!("[{}]", self.values(xs)), format!("axis={axis}")]
            }
            Primitive::Cast { x, dtype } => {
                vec![value(&self.names, x), format!("dtype={dtype}")]
            }
            Primitive::Add(a, b) => vec![self.values(&[*a, *b])],
        }
    }

    /// Where an axis of a view comes from.
    fn axis(&mut self, axis: &Axis<Dim>) -> String {
        match axis {
            Axis::Of(of) => of.to_string(),
            Axis::Fresh(len) => format!("new({})", self.names.dim(len)),
            Axis::Slice {
                of,
                start,
                len,
                step,
            } => {
                let (start, len) = (self.names.dim(start), self.names.dim(len));
                format!("slice({of}, start={start}, len={len}, step={step})")
            }
            Axis::Split { of, len, inner } => {
                let (len, inner) = (self.names.dim(len), self.names.dim(inner));
                format!("split({of}, len={len}, inner={inner})")
            }
            Axis::Stretch { of, len } => format!("stretch({of}, len={})", self.names.dim(len)),
            Axis::Range {
                of,
                start,
                stop,
                step,
            } => format!("range({of}, {})", range(*start, *stop, Some(*step))),
            Axis::Merge(run) => format!("merge({}:{})", run.start, run.end),
        }
    }
}

/// The primitive's name.
fn name_of(primitive: &Primitive) -> &'static str {
    match primitive {
        Primitive::Constant(_) => "constant",
        Primitive::Full { .. } => "full",
        Primitive::Range { .. } => "range",
        Primitive::Sizes(_) => "sizes",
        Primitive::SizesOf(_) => "sizes_of",
        Primitive::Runs(_) => "runs",
        Primitive::Same(_) => "same",
        Primitive::View { .. } => "view",
        Primitive::Copy(_) => "copy",
        Primitive::Gather { .. } => "gather",
        Primitive::ScatterAdd { .. } => "scatter_add",
        Primitive::Sum { .. } => "sum",
        Primitive::Concat { .. } => "concat",
        Primitive::Cast { .. } => "cast",
        Primitive::Add(..) => "add",
    }
}

/// A symbol of a pattern: a bare word, or a string where that would be something else.
fn piece(symbol: &Symbol) -> String {
    let name = symbol.name();
    match is_name(name) && anonymous(symbol).is_none() && name != "None" {
        true => name.to_string(),
        false => format!("{name:?}"),
    }
}

fn along(along: &Along) -> String {
    match along {
        Along::Run(run) => format!("run={}:{}", run.start, run.end),
        Along::Aligned(axis) => format!("aligned={axis}"),
    }
}

fn mode_text(mode: Mode) -> Vec<String> {
    match mode {
        Mode::Raise => Vec::new(),
        Mode::Fill(value) => vec![
            format!("mode=\"{mode}\""),
            format!("fill_value={}", number(value)),
        ],
        Mode::Wrap | Mode::Clip => vec![format!("mode=\"{mode}\"")],
    }
}

fn number(value: Scalar) -> String {
    match value {
        Scalar::Float(x) => numbers::float(x),
        Scalar::Complex(re, im) => numbers::complex(re, im),
        other => other.to_string(),
    }
}

/// `start:stop:step`.
fn range(start: Option<isize>, stop: Option<isize>, step: Option<isize>) -> String {
    let end = |end: Option<isize>| end.map_or(String::new(), |end| end.to_string());
    match step {
        None | Some(1) => format!("{}:{}", end(start), end(stop)),
        Some(step) => format!("{}:{}:{step}", end(start), end(stop)),
    }
}

/// An argument without names in it, as the table writes defaults.
fn bare(argument: &Plain<Dim>) -> String {
    match argument {
        Arg::None => "None".to_string(),
        Arg::Bool(b) => Scalar::Bool(*b).to_string(),
        Arg::Int(n) => n.to_string(),
        Arg::Float(x) => numbers::float(*x),
        Arg::Complex(re, im) => numbers::complex(*re, *im),
        Arg::Text(word) => word.clone(),
        Arg::Rest => "...".to_string(),
        Arg::Range(start, stop, step) => range(*start, *stop, *step),
        Arg::DType(dtype) => DType::to_string(dtype),
        Arg::Symbol(symbol) => piece(symbol),
        Arg::Extent(extent) => extent.to_string(),
        Arg::List(items) => tuple(items.iter().map(bare)),
        Arg::Tensor(none) => match *none {},
    }
}
