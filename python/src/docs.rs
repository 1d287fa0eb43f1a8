//! Docstrings in NumPy's style, made from the operator table: the signature that `inspect` reads, what happens to
//! the data, parameters, results, exceptions and examples. The examples stand in `examples.txt` and run as tests.

use std::fmt::Write;

use stridewise::table::{
    Arity, Entry, How, Kind, ParamKind, PythonParam, Role, python_parts as parts,
};

const EXAMPLES: &str = include_str!("examples.txt");

/// The docstring of an operator as a function or as a method, with the signature in front as the interpreter
/// wants it: `$self` marks the tensor that a method has already.
pub(crate) fn docstring(entry: &Entry, method: bool) -> String {
    let params = entry.python_parameters(method);
    let mut shown = parts(&params, PythonParam::text);
    if method {
        shown.insert(0, "$self".to_string());
    }
    let mut doc = format!("{}({})\n--\n\n", entry.name, shown.join(", "));
    doc += &format!("{}\n\n{}\n", entry.summary, data(entry));
    let described = params.iter().map(|param| describe(entry, param));
    section(&mut doc, "Parameters", described);
    section(&mut doc, "Returns", [returns(entry)]);
    section(&mut doc, "Raises", raises(entry));
    doc += "\nExamples\n--------\n>>> import stridewise as sw\n";
    doc += example(entry.name).unwrap_or_default();
    doc
}

/// The example of an operator, from the line `# name` to the next.
fn example(name: &str) -> Option<&'static str> {
    EXAMPLES.split("\n# ").find_map(|part| {
        let (title, lines) = part.split_once('\n')?;
        (title.trim_start_matches("# ") == name).then_some(lines)
    })
}

fn section(
    doc: &mut String,
    title: &str,
    items: impl IntoIterator<Item = (String, impl AsRef<str>)>,
) {
    let rule = "-".repeat(title.len());
    let _ = write!(doc, "\n{title}\n{rule}\n");
    for (head, text) in items {
        let _ = write!(doc, "{head}\n    {}\n", text.as_ref());
    }
}

fn data(entry: &Entry) -> &'static str {
    match (entry.name, entry.kind) {
        ("enforce_shape", _) => "Nothing moves: what was given is given back, the very object.",
        (_, Kind::View) => "A view: no data moves, and the result shares the memory of the input.",
        (_, Kind::ViewOrCopy) => {
            "A view of the input's memory where its strides and dtype allow, otherwise one copy."
        }
        (_, Kind::Copy) => "A copy: the result has memory of its own.",
        (_, Kind::Make) => "The tensor is new.",
    }
}

/// Type and meaning of a parameter.
fn describe(entry: &Entry, param: &PythonParam) -> (String, &'static str) {
    let (class, text) = match param.role {
        Role::Receiver => receiver(entry),
        Role::Out => (
            "writable array",
            "Where to write the result, such as a NumPy array: of its very shape and dtype, and sharing no memory \
             with the inputs.",
        ),
        Role::Name => (
            "str",
            "A name for this call, which error messages show beside the operator.",
        ),
        Role::Param(kind) => (class(kind), meaning(entry, param.name, kind)),
    };
    let star = if param.how == How::OneByOne { "*" } else { "" };
    let default = match param.default_text() {
        Some(default) if default == "None" => ", optional".to_string(),
        Some(default) => format!(", default {default}"),
        None => String::new(),
    };
    (format!("{star}{} : {class}{default}", param.name), text)
}

fn receiver(entry: &Entry) -> (&'static str, &'static str) {
    match entry.arity {
        Arity::Each => (
            "array_like",
            "Any number of tensors, arrays, numbers or nested lists, each for itself.",
        ),
        Arity::Many => (
            "sequence of array_like",
            "The tensors or arrays, all of one dtype.",
        ),
        _ if entry.name == "enforce_shape" => (
            "array_like",
            "A tensor, or any object with a shape, such as a NumPy or PyTorch array.",
        ),
        _ => (
            "array_like",
            "A tensor, an array of another library, a number or nested lists.",
        ),
    }
}

fn class(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::Tensor => "array_like",
        ParamKind::Sizes => "int, sequence of int, or 1-D integer Tensor",
        ParamKind::Axes => "int or sequence of int",
        ParamKind::Int | ParamKind::Count | ParamKind::OptionalInt => "int",
        ParamKind::Bool => "bool",
        ParamKind::Scalar | ParamKind::OptionalScalar => "number",
        ParamKind::DType | ParamKind::OptionalDType => "dtype",
        ParamKind::Mode => "{\"raise\", \"wrap\", \"clip\", \"fill\"}",
        ParamKind::Place => "{\"front\", \"back\", \"numpy\"}",
        ParamKind::Items => "int, slice, None or Ellipsis",
        ParamKind::Pattern => "sequence of int, None, str, Symbol or Ellipsis",
    }
}

/// What a parameter means: by its operator where that says more, else by its name, else by its kind.
fn meaning(entry: &Entry, name: &str, kind: ParamKind) -> &'static str {
    match (entry.name, name) {
        ("expand", _) => "The sizes of the result; -1 keeps the size of an axis.",
        ("repeat" | "tile", _) => "How many times along each axis.",
        ("repeat_interleave", "repeats") => "How many times: once for all, or for each slice.",
        ("unflatten", "shape") => "The sizes the axis is split into; one may be -1.",
        ("reshape" | "view", _) => "The sizes of the result; one may be -1.",
        ("squeeze", _) => "The axes to drop; all of size 1 if none is given.",
        ("unsqueeze", _) => "Where the new axes stand in the result.",
        ("permute", _) => "Every axis once, in the new order.",
        ("transpose", _) => "Every axis once, in the new order; reversed if none is given.",
        ("flip", _) => "The axes to reverse; all if none is given.",
        ("sum", "axis") => "The axes to sum over; all by default.",
        ("sum", "dtype") => "The element type to add in and to return.",
        ("take", "axis") => "The axis to read along; by default the input is read as if flat.",
        ("repeat_interleave", "axis") => "The axis; by default the input is read as if flat.",
        ("stack", "axis") => "Where the new axis stands in the result.",
        ("arange", "start") => "The first value; the end, from 0, if it is the only one.",
        ("arange", "stop") => "The end, which is not included.",
        ("arange", "step") => "The distance between values; not 0.",
        ("arange" | "full", "dtype") => "The element type; by default that of the numbers.",
        ("flatten", "start") => "The first axis to merge.",
        ("flatten", "stop") => "The last axis to merge.",
        (_, "source") if kind == ParamKind::Axes => "The axes to move.",
        (_, "destination") => "Where they stand in the result.",
        (_, "index") => "Integers of any dtype; negative ones count from the end.",
        (_, "other") => "The tensor whose shape to take.",
        (_, "source") => "What to add: one slice for each index, of the input's dtype.",
        (_, "fill_value") => "What an index outside reads in mode \"fill\"; 0 by default.",
        (_, "keepdims") => "Whether the axes stay, with size 1.",
        (_, "value") => "The value.",
        (_, "n") => "The least number of axes.",
        _ => by_kind(kind),
    }
}

fn by_kind(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::Tensor => "Another tensor.",
        ParamKind::Sizes => "The sizes, one by one or as a sequence.",
        ParamKind::Axes => "The axes; negative ones count from the end.",
        ParamKind::Int | ParamKind::OptionalInt => "The axis; negative ones count from the end.",
        ParamKind::Count => "A number of at least 0.",
        ParamKind::Bool => "Yes or no.",
        ParamKind::Scalar | ParamKind::OptionalScalar => "A number.",
        ParamKind::DType | ParamKind::OptionalDType => {
            "The element type: a name, a type, or the dtype of any library."
        }
        ParamKind::Mode => {
            "An index outside is an error, wraps around, stops at the nearest end, or reads `fill_value`."
        }
        ParamKind::Place => "On which side new axes go; \"numpy\" is where `atleast_3d` puts them.",
        ParamKind::Items => "What stands between the brackets of `x[...]`.",
        ParamKind::Pattern => {
            "For each axis a size, None for any, or a name that stands for one size; `...` for any number of axes."
        }
    }
}

fn returns(entry: &Entry) -> (String, &'static str) {
    let (class, text) = match (entry.name, entry.arity) {
        (_, Arity::Each) => (
            "Tensor or list of Tensor",
            "One tensor for one input, otherwise a list; the very object where it has enough axes.",
        ),
        ("unstack", _) => ("list of Tensor", "One tensor for each index of the axis."),
        ("enforce_shape", _) => (
            "tuple of (the same object, list)",
            "The sizes as the pattern has them: an int for each item, for `...` a tuple of sizes and their product.",
        ),
        ("take", _) => ("Tensor", "The result, or `out` if that was given."),
        _ => ("Tensor", "The result."),
    };
    (class.to_string(), text)
}

/// The exceptions a call can raise; a test holds this to what bad calls do raise.
fn raises(entry: &Entry) -> Vec<(String, &'static str)> {
    let has = |kinds: &[ParamKind]| entry.params.iter().any(|p| kinds.contains(&p.kind));
    let index = entry.params.iter().any(|param| param.name == "index");
    let together = entry.arity == Arity::Many;
    let one_by_one = entry.params.iter().any(|p| p.default.is_none()) && entry.is_variadic();
    let sized = [
        ParamKind::Sizes,
        ParamKind::Pattern,
        ParamKind::Items,
        ParamKind::Tensor,
    ];
    let axes = [ParamKind::Axes, ParamKind::Int, ParamKind::OptionalInt];
    let worded = [
        ParamKind::Mode,
        ParamKind::Place,
        ParamKind::Count,
        ParamKind::Items,
        ParamKind::Pattern,
    ];
    let all = [
        (
            has(&sized) || together || entry.arity == Arity::Each || entry.name == "squeeze",
            "ShapeError",
            "The sizes do not fit.",
        ),
        (
            has(&axes),
            "AxisError",
            "An axis is out of range, named twice or missing.",
        ),
        (
            index || has(&[ParamKind::Items]),
            "IndexOutOfRange",
            "An index points outside.",
        ),
        (
            index || together || has(&[ParamKind::DType, ParamKind::OptionalDType]),
            "DTypeError",
            "An element type does not serve here.",
        ),
        (
            has(&worded)
                || together
                || entry.name == "arange"
                || one_by_one && has(&[ParamKind::Axes]),
            "ArgumentError",
            "A value has no meaning here.",
        ),
        (
            true,
            "ArgumentTypeError",
            "An argument has another type, is missing or is one too many.",
        ),
        (
            entry.arity == Arity::Each || entry.params.iter().any(|p| p.kind != ParamKind::DType),
            "TooLarge",
            "A number or the result is larger than any machine.",
        ),
        (
            entry.has_out(),
            "GradientError",
            "`out` is given, but a tensor requires a gradient.",
        ),
        (
            entry.kind != Kind::View,
            "OutOfMemory",
            "The result does not fit into memory.",
        ),
    ];
    let raised = all.into_iter().filter(|(raised, ..)| *raised);
    raised
        .map(|(_, class, why)| (class.to_string(), why))
        .collect()
}
