//! From an operator's error to the place in the program: the argument the error names, and within a list
//! the very element, where the error tells enough to find it.

use stridewise_core::error::{Error, Report};

use crate::program::binding::{by_position, parameter, tensors};
use crate::program::{Argument, Kind, Literal, Mistake, Span, Step, hints};

/// The error as a mistake of this step, which has `ahead` tensors from the step before.
pub(crate) fn mistake(step: &Step, ahead: usize, error: &Error) -> Mistake {
    let report = error.report();
    let place = place(step, ahead, error);
    let label = match &place {
        Some(_) => label(error),
        None => "in this call".to_string(),
    };
    let span = place.unwrap_or_else(|| step.span.clone());
    let mut mistake = Mistake::new(span, format!("{}: {}", step.entry.name, report.message()))
        .label(label)
        .signature(step.entry);
    // Texts that run over lines are indented as the error prints itself, by two.
    mistake.details.notes = report
        .notes()
        .map(|(label, text)| format!("{label}: {}", text.replace("\n  ", "\n")))
        .collect();
    // The signature stands among the notes already.
    let signature = step.entry.signature();
    mistake.details.help = word(step, report)
        .filter(|_| matches!(error, Error::DType(_)))
        .and_then(hints::dtype)
        .or_else(|| {
            let fix = report.fix().filter(|fix| !fix.ends_with(&signature));
            fix.map(str::to_string)
        });
    mistake.details.error = Some(error.clone());
    mistake.details.machine = matches!(error, Error::Memory(_) | Error::File(_));
    mistake
}

fn label(error: &Error) -> String {
    let report = error.report();
    match (error, report.actual()) {
        (Error::Type(_), Some(actual)) => format!("this is {actual}"),
        (Error::Index(_), Some(_)) => "out of range".to_string(),
        // An axis can also be named twice, or there can be too few of them.
        (Error::Axis(_), Some(_)) if report.message().contains("out of range") => {
            "out of range".to_string()
        }
        _ => match report.argument() {
            Some(argument) => match report.item() {
                Some(at) => format!("{argument}[{at}]"),
                None => argument.to_string(),
            },
            None => "here".to_string(),
        },
    }
}

/// The word that was given for the argument to blame.
fn word<'a>(step: &'a Step, report: &Report) -> Option<&'a str> {
    let name = report.argument()?;
    step.args.iter().find_map(|arg| match &arg.value.kind {
        Kind::Text(word) if parameter(step, arg) == Some(name) => Some(word.as_str()),
        _ => None,
    })
}

fn place(step: &Step, ahead: usize, error: &Error) -> Option<Span> {
    let report = error.report();
    let name = report.argument()?;
    if name == step.entry.receiver {
        let at = report.item()?.checked_sub(ahead)?;
        return tensors(step).nth(at).map(|x| x.span.clone());
    }
    let given: Vec<&Argument> = step
        .args
        .iter()
        .filter(|arg| parameter(step, arg) == Some(name))
        .collect();
    // The last one is to blame where a parameter is given twice.
    let whole = given.last()?.value.span.clone();
    let elements: Vec<&Literal> = match given.as_slice() {
        [one] => match &one.value.kind {
            Kind::List(items) => items.iter().collect(),
            _ => return Some(whole),
        },
        many => many.iter().map(|arg| &arg.value).collect(),
    };
    let varargs = step.entry.is_variadic() && by_position(step).count() > 1;
    let all = match varargs {
        true => given.first()?.value.span.start..whole.end,
        false => whole,
    };
    let found = report
        .item()
        .and_then(|at| elements.get(at).copied())
        .or_else(|| match error {
            Error::Axis(_) | Error::Index(_) => element_of_value(&elements, report),
            _ => None,
        });
    Some(found.map_or(all, |element| element.span.clone()))
}

/// The one element, at any depth, whose number the error quotes as what was there.
fn element_of_value<'a>(elements: &[&'a Literal], report: &Report) -> Option<&'a Literal> {
    let actual: i128 = report.actual()?.parse().ok()?;
    let mut leaves: Vec<&Literal> = elements.to_vec();
    let mut same = None;
    while let Some(element) = leaves.pop() {
        match &element.kind {
            Kind::List(items) => leaves.extend(items),
            Kind::Int(n) if *n == actual && same.is_some() => return None,
            Kind::Int(n) if *n == actual => same = Some(element),
            _ => {}
        }
    }
    same
}
