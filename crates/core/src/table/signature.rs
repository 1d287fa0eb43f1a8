//! What a call of an operator looks like: the signature on the command line, and the one in Python, where a
//! call can also be named. Everything that shows or reads a call takes its parameters from here.

use crate::table::{Arity, Entry, Param, ParamKind};

/// Operators that can write their result into a tensor the caller has.
const WITH_OUT: &[&str] = &["take"];

/// One parameter of an operator in Python.
#[derive(Clone, Copy, Debug)]
pub struct PythonParam {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub role: Role,
    /// How it is given.
    pub how: How,
    /// The default, as Python writes it but for quotes; none for a required one.
    pub default: Option<&'static str>,
}

/// What a parameter of Python's call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The first tensor, or all the tensors.
    Receiver,
    /// A parameter of the table.
    Param(ParamKind),
    /// The tensor to write into.
    Out,
    /// The name of the call.
    Name,
}

/// How an argument reaches its parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By position or by name.
    Either,
    /// Any number of them by position, such as `*sizes`.
    OneByOne,
    /// By name only.
    Keyword,
}

impl Entry {
    /// Whether the sizes, axes or items may be given one by one: they are the only parameter.
    pub const fn is_variadic(&self) -> bool {
        match self.params {
            [only] => only.kind.is_a_list(),
            _ => false,
        }
    }

    /// Whether the operator is a method of a tensor.
    pub fn is_method(&self) -> bool {
        matches!(self.arity, Arity::One | Arity::Each)
    }

    /// Whether the result can be written into a tensor the caller has.
    pub fn has_out(&self) -> bool {
        WITH_OUT.contains(&self.name)
    }

    /// Whether there is a mode, which brings a `fill_value` along.
    pub fn has_fill_value(&self) -> bool {
        self.params
            .iter()
            .any(|param| param.kind == ParamKind::Mode)
    }

    /// The parameters a call can name, in order: a mode brings its `fill_value` along.
    pub fn parameters(&self) -> impl Iterator<Item = Param> {
        self.params.iter().flat_map(|param| {
            let fill = Param {
                name: "fill_value",
                kind: ParamKind::OptionalScalar,
                default: Some("None"),
            };
            [
                Some(*param),
                (param.kind == ParamKind::Mode).then_some(fill),
            ]
            .into_iter()
            .flatten()
        })
    }

    /// The call on the command line: `take(input, index, axis=None, mode="raise", fill_value=None)`.
    pub fn signature(&self) -> String {
        let receiver = self.python_receiver();
        let rest = self.parameters().map(|param| self.python_param(param));
        let parts: Vec<String> = receiver.into_iter().chain(rest).map(|p| p.text()).collect();
        format!("{}({})", self.name, parts.join(", "))
    }

    /// The parameters of the function in Python, or of the method, which has its first tensor already.
    ///
    /// They are the table's, then `out` where there is one, then `name`; `fill_value` is last and by name only,
    /// so that all others stand where the users of other libraries expect them.
    pub fn python_parameters(&self, method: bool) -> Vec<PythonParam> {
        let in_python = |name, role, how| PythonParam {
            name,
            role,
            how,
            default: Some("None"),
        };
        let mut list = Vec::new();
        if !method || self.arity == Arity::Each {
            list.extend(self.python_receiver());
        }
        list.extend(self.params.iter().map(|param| self.python_param(*param)));
        if self.has_out() {
            list.push(in_python("out", Role::Out, How::Either));
        }
        let one_by_one = list.iter().any(|param| param.how == How::OneByOne);
        let how = if one_by_one {
            How::Keyword
        } else {
            How::Either
        };
        list.push(in_python("name", Role::Name, how));
        if self.has_fill_value() {
            let role = Role::Param(ParamKind::OptionalScalar);
            list.push(in_python("fill_value", role, How::Keyword));
        }
        list
    }

    /// The call in Python: `expand(input, *sizes, name=None)`, or as a method `expand(*sizes, name=None)`.
    pub fn python_signature(&self, method: bool) -> String {
        let parts = python_parts(&self.python_parameters(method), PythonParam::text);
        format!("{}({})", self.name, parts.join(", "))
    }

    fn python_receiver(&self) -> Option<PythonParam> {
        let how = match self.arity {
            Arity::None => return None,
            Arity::Each => How::OneByOne,
            Arity::One | Arity::Many => How::Either,
        };
        Some(PythonParam {
            name: self.receiver,
            role: Role::Receiver,
            how,
            default: None,
        })
    }

    fn python_param(&self, param: Param) -> PythonParam {
        let (how, default) = match self.is_variadic() {
            true => (How::OneByOne, None),
            false => (How::Either, param.default),
        };
        PythonParam {
            name: param.name,
            role: Role::Param(param.kind),
            how,
            default,
        }
    }
}

impl ParamKind {
    const fn is_a_list(self) -> bool {
        matches!(self, ParamKind::Sizes | ParamKind::Axes | ParamKind::Items)
    }
}

impl PythonParam {
    /// The default as Python writes it, words in quotes.
    pub fn default_text(&self) -> Option<String> {
        use ParamKind::{DType, Mode, Place};
        let word = matches!(self.role, Role::Param(Mode | Place | DType));
        self.default.map(|text| match word {
            true => format!("\"{text}\""),
            false => text.to_string(),
        })
    }

    /// The parameter in a signature: `axis=None`, `*sizes`.
    pub fn text(&self) -> String {
        let star = if self.how == How::OneByOne { "*" } else { "" };
        match self.default_text() {
            Some(default) => format!("{star}{}={default}", self.name),
            None => format!("{star}{}", self.name),
        }
    }
}

/// Parameters as the parts of a Python signature, each written by `text`, with a `*` where those by name begin.
pub fn python_parts(params: &[PythonParam], text: impl Fn(&PythonParam) -> String) -> Vec<String> {
    let mut parts = Vec::new();
    let mut open = true;
    for param in params {
        if open && param.how == How::Keyword {
            parts.push("*".to_string());
        }
        open &= param.how == How::Either;
        parts.push(text(param));
    }
    parts
}

#[cfg(test)]
mod tests {
    use crate::operators::TABLE;

    #[test]
    fn calls_in_python_are_spelt_as_their_users_know_them() {
        let spelt = |name: &str, method| {
            let entry = TABLE.iter().find(|entry| entry.name == name);
            entry.map(|entry| entry.python_signature(method))
        };
        for (name, function, method) in [
            (
                "expand",
                "(input, *sizes, name=None)",
                "(*sizes, name=None)",
            ),
            (
                "unflatten",
                "(x, axis, shape, name=None)",
                "(axis, shape, name=None)",
            ),
            (
                "take",
                "(input, index, axis=None, mode=\"raise\", out=None, name=None, *, fill_value=None)",
                "(index, axis=None, mode=\"raise\", out=None, name=None, *, fill_value=None)",
            ),
            ("atleast_1d", "(*inputs, name=None)", "(*inputs, name=None)"),
            ("squeeze", "(x, *axis, name=None)", "(*axis, name=None)"),
        ] {
            assert_eq!(spelt(name, false), Some(format!("{name}{function}")));
            assert_eq!(spelt(name, true), Some(format!("{name}{method}")));
        }
        for (name, function) in [
            ("zeros", "(shape, dtype=\"float64\", name=None)"),
            ("concat", "(inputs, axis=0, name=None)"),
        ] {
            assert_eq!(spelt(name, false), Some(format!("{name}{function}")));
        }
    }
}
