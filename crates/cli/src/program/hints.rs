//! What things are called here, for people who know them from NumPy, PyTorch and others by another name.

use stridewise_core::operators::TABLE;
use stridewise_core::table::{Arity, Entry};

use crate::program::{Argument, Kind};

/// Operators of others, and how to write them here.
const OPERATORS: &[(&str, &str)] = &[
    ("T", "transpose()"),
    ("mT", "swapaxes(-2, -1)"),
    ("t", "transpose()"),
    ("shape", "shape_of()"),
    ("size", "shape_of()"),
    ("gather", "take_along_axis(index, axis)"),
    ("cat", "concat($2, axis=0)"),
    ("concatenate", "concat($2, axis=0)"),
    ("expand_dims", "unsqueeze(axis)"),
    ("broadcast", "broadcast_to(2, 3)"),
    ("view_as", "view(2, 3), with the sizes of the other tensor"),
    (
        "reshape_as",
        "reshape(2, 3), with the sizes of the other tensor",
    ),
    ("astype", "cast(float32)"),
    ("to", "cast(float32)"),
    ("type", "cast(float32)"),
    ("half", "cast(float16)"),
    ("float", "cast(float32)"),
    ("double", "cast(float64)"),
    ("int", "cast(int32)"),
    ("long", "cast(int64)"),
    ("bool", "cast(bool)"),
    ("ravel", "flatten()"),
    ("unbind", "unstack(axis)"),
    ("movedim", "moveaxis(source, destination)"),
    ("swapdims", "swapaxes(0, 1)"),
    ("empty", "zeros([2, 3])"),
];

/// Element types of others.
const DTYPES: &[(&str, &str)] = &[
    ("float", "float64"),
    ("double", "float64"),
    ("single", "float32"),
    ("half", "float16"),
    ("int", "int64"),
    ("long", "int64"),
    ("short", "int16"),
    ("byte", "uint8"),
    ("uint", "uint64"),
    ("complex", "complex128"),
    ("cfloat", "complex64"),
    ("cdouble", "complex128"),
];

/// Keywords of others, and those that may be meant.
const KEYWORDS: &[(&str, &[&str])] = &[
    ("dim", &["axis", "axes"]),
    ("dims", &["axes", "axis", "sizes"]),
    ("axis", &["axes"]),
    ("axes", &["axis"]),
    ("keepdim", &["keepdims"]),
    ("keep_dims", &["keepdims"]),
    ("indices", &["index"]),
    ("size", &["sizes", "shape"]),
    ("sizes", &["shape"]),
    ("shape", &["sizes"]),
    ("unflattened_size", &["shape"]),
    ("start_dim", &["start"]),
    ("end_dim", &["stop"]),
    ("end", &["stop"]),
    ("fill", &["fill_value"]),
];

fn find<T: Copy>(list: &[(&str, T)], name: &str) -> Option<T> {
    list.iter().find(|(known, _)| *known == name).map(|x| x.1)
}

/// What to write for an operator that is not there.
pub(crate) fn operator(name: &str) -> Option<String> {
    if let Some(here) = find(OPERATORS, name) {
        return Some(match here.split_once(", with ") {
            Some((call, how)) => format!("write `{call}`, with {how}"),
            None => format!("write `{here}`"),
        });
    }
    let plain = name.strip_suffix('_')?;
    let known = TABLE.iter().any(|entry| entry.name == plain);
    known.then(|| format!("no tensor is changed in place: write `{plain}(…)`"))
}

/// What to write for a keyword that the operator does not have.
pub(crate) fn keyword(entry: &Entry, name: &str) -> Option<String> {
    let has = |word: &&&str| entry.parameters().any(|param| param.name == **word);
    let here = find(KEYWORDS, name)?.iter().find(has)?;
    // Several arguments can have no name in front.
    Some(match entry.is_variadic() {
        true => format!(
            "it is `{here}`, given by position or as a list: `{}({here}=[…])`",
            entry.name
        ),
        false => format!("it is called `{here}` here"),
    })
}

/// What to write for an element type that is not there.
pub(crate) fn dtype(name: &str) -> Option<String> {
    find(DTYPES, name).map(|here| format!("write `{here}`"))
}

/// What to write where the sizes of a new tensor are given one by one.
pub(crate) fn shape_in_one(entry: &Entry, args: &[Argument]) -> Option<String> {
    let takes_shape = entry.parameters().next().is_some_and(|p| p.name == "shape");
    if entry.arity != Arity::None || !takes_shape {
        return None;
    }
    let ints: Vec<String> = args
        .iter()
        .map_while(|arg| match (&arg.name, &arg.value.kind) {
            (None, Kind::Int(n)) => Some(n.to_string()),
            _ => None,
        })
        .collect();
    // A value may follow the shape as one more number; a dtype is none.
    let value = entry.parameters().nth(1).is_some_and(|p| p.name == "value");
    let named = args
        .iter()
        .any(|arg| arg.name.as_ref().is_some_and(|(name, _)| name == "value"));
    let (sizes, rest) = match (value && !named, ints.split_last()) {
        (true, Some((last, sizes))) => (sizes, format!(", {last}")),
        (_, _) => (&ints[..], String::new()),
    };
    let call = format!("{}([{}]{rest})", entry.name, sizes.join(", "));
    (sizes.len() > 1).then(|| format!("the sizes are one list: write `{call}`"))
}
