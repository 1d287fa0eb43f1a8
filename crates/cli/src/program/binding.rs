//! What can be said about a call before there is a tensor: whether its arguments have parameters to go to.

use stridewise_core::call::parameter_at;
use stridewise_core::table::{Arity, Entry};

use crate::program::{Argument, Kind, Literal, Mistake, Step};

/// Refuses arguments that no parameter takes.
pub(crate) fn check(step: &Step) -> Result<(), Mistake> {
    let entry = step.entry;
    let positional: Vec<&Argument> = by_position(step).collect();
    let known = entry.parameters().count();
    if !entry.is_variadic() && positional.len() > known {
        let message = format!(
            "{} arguments were given, but `{}` takes {}",
            positional.len(),
            entry.name,
            match known {
                0 => "none".to_string(),
                n => format!("at most {n}"),
            }
        );
        return Err(Mistake::new(positional[known].value.span.clone(), message)
            .label("one too many")
            .signature(entry));
    }
    for (at, argument) in step.args.iter().enumerate() {
        let Some((name, span)) = &argument.name else {
            continue;
        };
        if !entry.parameters().any(|param| param.name == name) {
            let message = format!("`{}` has no argument `{name}`", entry.name);
            let mistake = Mistake::new(span.clone(), message).label("unknown name");
            let mistake = match name == entry.receiver {
                true => mistake.help("the tensor itself is what stands before the dot"),
                false => mistake,
            };
            return Err(mistake.signature(entry));
        }
        let earlier = step.args[..at]
            .iter()
            .find(|other| parameter(step, other) == Some(name.as_str()));
        if let Some(earlier) = earlier {
            return Err(
                Mistake::new(span.clone(), format!("`{name}` is given twice"))
                    .label("again")
                    .beside(earlier.value.span.clone(), "already given here")
                    .signature(entry),
            );
        }
    }
    Ok(())
}

/// The arguments by position that are not among the tensors an operator is called on.
pub(crate) fn by_position(step: &Step) -> impl Iterator<Item = &Argument> {
    let skip = match step.args.first() {
        Some(first) if is_tensors(step.entry, &first.value) => 1,
        _ => tensors(step).count(),
    };
    step.args.iter().skip(skip).filter(|arg| arg.name.is_none())
}

/// The tensors that an operator is called on beside the one before the dot: `$2, $3` or `[$2, $3]` for an
/// operator on many, anything at all for one on each.
pub(crate) fn tensors(step: &Step) -> impl Iterator<Item = &Literal> {
    let arity = step.entry.arity;
    let listed = match step.args.first().map(|arg| &arg.value) {
        Some(value) if is_tensors(step.entry, value) => match &value.kind {
            Kind::List(items) => Some(items),
            _ => None,
        },
        _ => None,
    };
    let bare = step
        .args
        .iter()
        .take_while(move |arg| {
            let tensor = match arity {
                Arity::One | Arity::None => false,
                Arity::Each => true,
                Arity::Many => matches!(arg.value.kind, Kind::Input(_)),
            };
            tensor && arg.name.is_none()
        })
        .map(|arg| &arg.value);
    listed.into_iter().flatten().chain(bare)
}

fn is_tensors(entry: &Entry, value: &Literal) -> bool {
    entry.arity == Arity::Many
        && matches!(&value.kind, Kind::List(items)
            if items.iter().all(|item| matches!(item.kind, Kind::Input(_))))
}

/// The parameter an argument goes to.
pub(crate) fn parameter<'a>(step: &'a Step, argument: &'a Argument) -> Option<&'a str> {
    match &argument.name {
        Some((name, _)) => Some(name),
        None => by_position(step)
            .position(|other| std::ptr::eq(other, argument))
            .and_then(|at| parameter_at(step.entry, at))
            .map(|param| param.name),
    }
}
