//! The operators in the type stubs, `python/stridewise/_stridewise.pyi`, written from the operator table. Where a
//! call has several forms, each is an overload; the text is laid out as the formatter would.

use stridewise_core::operators::TABLE;
use stridewise_core::table::{Arity, Entry, How, ParamKind, PythonParam, Role, python_parts};

/// The formatter's width, as in pyproject.toml.
const WIDTH: usize = 120;

/// Operators that `import *` leaves out, since it would hide Python's own; a test of the package finds others.
const HIDING: &[&str] = &["slice", "sum"];

/// The classes of tensors that lie elsewhere, which operators take beside each other and numbers only; and what stands
/// for one of them beside another.
const AWAY: &[(&str, &str)] = &[("GlobalTensor", "_GlobalLike"), ("GpuTensor", "_GpuLike")];

/// Every operator as a function.
pub(crate) fn functions() -> String {
    let functions = TABLE.iter().map(|entry| stub(entry, None));
    functions.chain(["\n".to_string()]).collect()
}

/// Every operator that has a first tensor as a method of a class of tensors.
pub(crate) fn methods(class: &str) -> String {
    let methods = TABLE.iter().filter(|entry| entry.is_method());
    methods.map(|entry| stub(entry, Some(class))).collect()
}

/// Every name the functions define, for `__all__`; of the package, without those that hide a built-in.
pub(crate) fn names(package: bool) -> String {
    let names = TABLE.iter().map(|entry| entry.name);
    let names = names.filter(|name| !package || !HIDING.contains(name));
    names.map(|name| format!("    \"{name}\",\n")).collect()
}

/// One form of a call: its parameters and what it returns.
#[derive(Clone)]
struct Form {
    parts: Vec<String>,
    result: &'static str,
    /// The class, where it is one of tensors that lie elsewhere.
    away: Option<&'static str>,
}

impl Form {
    fn new(parts: Vec<String>, result: &'static str) -> Form {
        Form {
            parts,
            result,
            away: None,
        }
    }

    /// The same of tensors that lie elsewhere; none for one that writes into memory of this process.
    fn away(&self, (class, like): (&'static str, &str), method: bool) -> Option<Form> {
        if self.result == "_T" {
            return None;
        }
        let first = self.parts.first().map(String::as_str);
        // The tensor that a function is called on says that it is one of them.
        let tensors = |part: &str| part.ends_with("ArrayLike") || part.ends_with("[ArrayLike]");
        let receives = !method && first.is_some_and(tensors);
        let parts = self.parts.iter().enumerate().map(|(at, part)| match at {
            0 if receives => part.replace("ArrayLike", class),
            _ => part
                .replace("ArrayLike", like)
                .replace("SizesLike", &format!("SizesLike | {class}")),
        });
        Some(Form {
            parts: parts.collect(),
            result: self.result,
            away: Some(class),
        })
    }

    /// Whether its first parameter is of that class.
    fn is_of(&self, class: &str) -> bool {
        self.parts.first().is_some_and(|part| part.contains(class))
    }

    fn result_of(&self, class: Option<&str>) -> String {
        let class = self.away.or(class).unwrap_or("Tensor");
        self.result.replace("Tensor", class)
    }
}

/// An operator as a function, or as a method of that class.
fn stub(entry: &Entry, class: Option<&str>) -> String {
    let method = class.is_some();
    let mut forms = forms(entry, method);
    let of = |forms: &[Form], away| -> Vec<Form> {
        let there = forms.iter().filter_map(|form| form.away(away, method));
        there.collect()
    };
    match class {
        Some(class) => {
            if let Some(away) = AWAY.iter().find(|(name, _)| *name == class) {
                forms = of(&forms, *away);
            }
        }
        // A function of such tensors gives one; `enforce_shape` gives back whatever it is given.
        None if entry.arity == Arity::None || entry.name == "enforce_shape" => {}
        None => {
            let here = forms.clone();
            for away in AWAY {
                let there = of(&here, *away).into_iter();
                forms.extend(there.filter(|form| form.is_of(away.0)));
            }
        }
    }
    let indent = if method { "    " } else { "" };
    let overload = match forms.len() {
        1 => String::new(),
        _ => format!("{indent}@overload\n"),
    };
    let define = |mut form: Form| {
        if method {
            form.parts.insert(0, "self".to_string());
        }
        let result = form.result_of(class);
        format!(
            "{overload}{}",
            laid_out(entry.name, &form.parts, &result, indent)
        )
    };
    forms.into_iter().map(define).collect()
}

fn forms(entry: &Entry, method: bool) -> Vec<Form> {
    let params = entry.python_parameters(method);
    if entry.arity == Arity::Each {
        return each(method);
    }
    let usual = Form::new(python_parts(&params, typed), result(entry));
    if entry.name == "enforce_shape" && !method {
        // An array of any library comes back as it is; numbers and lists become a tensor first.
        let whole = |class: &str| {
            python_parts(&params, |param| match param.role {
                Role::Receiver => format!("{}: {class}", param.name),
                _ => typed(param),
            })
        };
        return vec![
            Form::new(whole("complex | list[Any] | tuple[Any, ...]"), usual.result),
            Form::new(whole("_T"), "tuple[_T, list[Any]]"),
        ];
    }
    if entry.is_variadic() {
        // The whole list can be given by its name instead.
        let by_name: Vec<PythonParam> = params
            .iter()
            .map(|param| match param.how {
                How::OneByOne => PythonParam {
                    how: How::Keyword,
                    ..*param
                },
                _ => *param,
            })
            .collect();
        let optional = entry.params.iter().any(|param| param.default.is_some());
        let parts = python_parts(&by_name, |param| match param.role {
            Role::Param(ParamKind::Items) => format!("{}: _Item | Sequence[_Item]", param.name),
            Role::Param(_) if optional => format!("{} | None", typed(param)),
            _ => typed(param),
        });
        let result = usual.result;
        return vec![usual, Form::new(parts, result)];
    }
    match params.iter().position(|param| param.role == Role::Out) {
        Some(at) => vec![
            usual,
            into_given(&params, at, true),
            into_given(&params, at, false),
        ],
        None => vec![usual],
    }
}

/// The call that writes into `out` and returns it: given by name, or in its place after all before it.
fn into_given(params: &[PythonParam], out: usize, by_name: bool) -> Form {
    let mut params = params.to_vec();
    for (at, param) in params.iter_mut().enumerate() {
        match by_name {
            true if at >= out => param.how = How::Keyword,
            false if at < out => param.default = None,
            _ => {}
        }
    }
    let given = |param: &PythonParam| match param.role {
        Role::Out => "out: _T".to_string(),
        _ => typed(param),
    };
    Form::new(python_parts(&params, given), "_T")
}

/// One tensor gives one, none or several give a list.
fn each(method: bool) -> Vec<Form> {
    let form = |parts: &[&str], result| {
        Form::new(parts.iter().map(|part| part.to_string()).collect(), result)
    };
    let name = "name: str | None = None";
    let several = "*inputs: ArrayLike";
    match method {
        true => vec![
            form(&["*", name], "Tensor"),
            form(&["second: ArrayLike", "/", several, name], "list[Tensor]"),
        ],
        false => vec![
            form(&["*", name], "list[Tensor]"),
            form(&["first: ArrayLike", "/", "*", name], "Tensor"),
            form(
                &["first: ArrayLike", "second: ArrayLike", "/", several, name],
                "list[Tensor]",
            ),
        ],
    }
}

fn result(entry: &Entry) -> &'static str {
    match entry.name {
        "unstack" => "list[Tensor]",
        "enforce_shape" => "tuple[Tensor, list[Any]]",
        _ => "Tensor",
    }
}

/// A parameter with its type: `axis: SupportsIndex | None = None`.
fn typed(param: &PythonParam) -> String {
    let class = match param.role {
        Role::Receiver if param.name == "inputs" => "Sequence[ArrayLike]",
        Role::Receiver => "ArrayLike",
        Role::Out => "None",
        Role::Name => "str | None",
        Role::Param(kind) => class(kind),
    };
    let star = if param.how == How::OneByOne { "*" } else { "" };
    match param.default_text() {
        Some(default) if default == "None" && !class.ends_with("None") => {
            format!("{}: {class} | None = None", param.name)
        }
        Some(default) => format!("{}: {class} = {default}", param.name),
        None => format!("{star}{}: {class}", param.name),
    }
}

fn class(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::Tensor => "ArrayLike",
        ParamKind::Sizes => "SizesLike",
        ParamKind::Axes => "AxesLike",
        ParamKind::Int | ParamKind::Count => "SupportsIndex",
        ParamKind::OptionalInt => "SupportsIndex | None",
        ParamKind::Bool => "_bool",
        ParamKind::Scalar => "complex",
        ParamKind::OptionalScalar => "complex | None",
        ParamKind::DType => "DTypeLike",
        ParamKind::OptionalDType => "DTypeLike | None",
        ParamKind::Mode => "Literal[\"raise\", \"wrap\", \"clip\", \"fill\"]",
        ParamKind::Place => "Literal[\"front\", \"back\", \"numpy\"]",
        ParamKind::Items => "_Item",
        ParamKind::Pattern => "Pattern",
    }
}

/// The definition on one line if it fits, else the parameters on one line, else one line for each.
fn laid_out(name: &str, listed: &[String], result: &str, indent: &str) -> String {
    let parts = listed.join(", ");
    let line = format!("{indent}def {name}({parts}) -> {result}: ...\n");
    if line.len() <= WIDTH + 1 {
        return line;
    }
    let inner = format!("{indent}    {parts}\n");
    let inner = match inner.len() <= WIDTH + 1 {
        true => inner,
        false => {
            let each = listed.iter().map(|part| format!("{indent}    {part},\n"));
            each.collect()
        }
    };
    format!("{indent}def {name}(\n{inner}{indent}) -> {result}: ...\n")
}
