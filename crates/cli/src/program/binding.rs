//! What can be said about a call before there is a tensor: whether its arguments have parameters to go to.

use stridewise_core::call::parameter_at;
use stridewise_core::table::Arity;

use crate::program::{Argument, Kind, Literal, Mistake, Span, Step, hints};

/// Refuses arguments that no parameter takes.
pub(crate) fn check(step: &Step) -> Result<(), Mistake> {
    let entry = step.entry;
    let positional: Vec<&Argument> = by_position(step).collect();
    let known = entry.parameters().count();
    if let (Some(help), [first, .., last]) = (
        hints::shape_in_one(entry, &step.args),
        positional.as_slice(),
    ) {
        let span = first.value.span.start..last.value.span.end;
        let message = format!("`{}` takes the sizes as one argument", entry.name);
        return Err(Mistake::new(span, message)
            .label("several arguments")
            .help(help)
            .signature(entry));
    }
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
            let mistake = match hints::keyword(entry, name) {
                _ if name == entry.receiver => {
                    mistake.help("the tensor itself is what stands before the dot")
                }
                Some(hint) => mistake.help(hint),
                None => mistake,
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

/// Whether a first step names all of its tensors, by one list of them or by naming `$1`.
pub(crate) fn names_all(step: &Step) -> bool {
    let many = matches!(step.entry.arity, Arity::Many | Arity::Each);
    many && (list(step).is_some() || tensors(step).any(holds_first))
}

/// Refuses a list of tensors where the chain's own tensor goes in front of them: whoever writes a list
/// means all of them.
pub(crate) fn refuse_list(step: &Step, source: &str) -> Result<(), Mistake> {
    let (false, Some((whole, items))) = (step.names_all, list(step)) else {
        return Ok(());
    };
    let text = |span: &Span| source.get(span.clone()).unwrap_or_default().to_string();
    let mut parts: Vec<String> = items.iter().map(|item| text(&item.span)).collect();
    for argument in &step.args[1..] {
        let value = text(&argument.value.span);
        parts.push(match &argument.name {
            Some((name, _)) => format!("{name}={value}"),
            None => value,
        });
    }
    let message = "the chain's own tensor is already the first input";
    Err(Mistake::new(whole.span.clone(), message)
        .label("a list is all of the inputs")
        .help(format!("write `{}({})`", step.entry.name, parts.join(", ")))
        .signature(step.entry))
}

/// The list of tensors that comes first among the arguments of an operator on many or on each.
fn list(step: &Step) -> Option<(&Literal, &[Literal])> {
    let first = step.args.first().filter(|arg| arg.name.is_none())?;
    match (&first.value.kind, step.entry.arity) {
        (Kind::List(items), Arity::Many) if items.iter().all(is_input) => {
            Some((&first.value, items))
        }
        // Numbers may stand for a tensor there, so a list with none in it is one of numbers.
        (Kind::List(items), Arity::Each)
            if step.args.len() == 1 && !items.is_empty() && items.iter().all(is_input) =>
        {
            Some((&first.value, items))
        }
        _ => None,
    }
}

fn holds_first(x: &Literal) -> bool {
    match &x.kind {
        Kind::Input(n) => *n == 1,
        Kind::List(items) => items.iter().any(holds_first),
        _ => false,
    }
}

fn is_input(item: &Literal) -> bool {
    matches!(item.kind, Kind::Input(_))
}

/// The arguments by position that are not among the tensors an operator is called on.
pub(crate) fn by_position(step: &Step) -> impl Iterator<Item = &Argument> {
    let skip = match (step.entry.arity, list(step)) {
        (Arity::Many, Some(_)) => 1,
        _ => tensors(step).count(),
    };
    step.args.iter().skip(skip).filter(|arg| arg.name.is_none())
}

/// The tensors among the arguments of an operator on many or on each: `$2, $3` or `[$1, $2]` for an
/// operator on many; anything at all for one on each, where a list is one tensor.
pub(crate) fn tensors(step: &Step) -> impl Iterator<Item = &Literal> {
    let arity = step.entry.arity;
    let listed = match list(step) {
        Some((_, items)) if arity == Arity::Many => items,
        _ => &[],
    };
    let bare = step
        .args
        .iter()
        .take_while(move |arg| {
            let tensor = match arity {
                Arity::One | Arity::None => false,
                Arity::Each => true,
                Arity::Many => is_input(&arg.value),
            };
            tensor && arg.name.is_none()
        })
        .map(|arg| &arg.value);
    listed.iter().chain(bare)
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
