//! Which file is which input of a model: in order, or by name as in `x=images.npy`.

use std::path::{Path, PathBuf};

use stridewise_onnx::{DeclaredInput, Model};

use crate::failure::Failure;
use crate::terminal::count;

/// The files by the names of the inputs they are for. Those without a name are, in order, for the inputs that have
/// none yet and need one.
pub(super) fn by_name<'m>(
    model: &'m Model,
    files: &[PathBuf],
) -> Result<Vec<(&'m str, PathBuf)>, Failure> {
    let mut given: Vec<(&str, PathBuf)> = Vec::new();
    let mut unnamed: Vec<&PathBuf> = Vec::new();
    for file in files {
        let text = file.to_string_lossy();
        let Some((input, path)) = named(model, &text) else {
            if let (false, Some((name, _))) = (file.exists(), text.split_once('=')) {
                return Err(wrong(model, format!("the model has no input `{name}`")));
            }
            unnamed.push(file);
            continue;
        };
        if given.iter().any(|(name, _)| *name == input) {
            return Err(wrong(model, format!("input `{input}` is given twice")));
        }
        given.push((input, path.to_path_buf()));
    }
    let open: Vec<&DeclaredInput> = model
        .inputs()
        .iter()
        .filter(|input| !input.has_default && given.iter().all(|(name, _)| *name != input.name))
        .collect();
    if unnamed.len() > open.len() {
        let message = format!(
            "{} without a name cannot be given to {}",
            count(unnamed.len(), "file"),
            count(open.len(), "input")
        );
        return Err(wrong(model, message));
    }
    if let Some(missing) = open.get(unnamed.len()) {
        return Err(wrong(
            model,
            format!("input `{}` is not given", missing.name),
        ));
    }
    let in_order = open.iter().zip(unnamed);
    given.extend(in_order.map(|(input, file)| (input.name.as_str(), file.clone())));
    Ok(given)
}

/// An input of the model and the file behind its `=`. Names and files can have such signs of their own.
fn named<'m, 'a>(model: &'m Model, text: &'a str) -> Option<(&'m str, &'a Path)> {
    text.match_indices('=').find_map(|(at, _)| {
        let input = model.inputs().iter().find(|i| i.name == text[..at])?;
        Some((input.name.as_str(), Path::new(&text[at + 1..])))
    })
}

/// A mistake in what is given, with what there is to give.
pub(super) fn wrong(model: &Model, message: String) -> Failure {
    let all = model.inputs().iter();
    let all: Vec<String> = all
        .map(|input| match input.has_default {
            true => format!("{} (has a default)", input.name),
            false => input.name.clone(),
        })
        .collect();
    let all = match all.is_empty() {
        true => "none".to_string(),
        false => all.join(", "),
    };
    Failure::Usage(format!(
        "{message}\n  the model's inputs: {all}\n  help: give them in this order, or by name as in NAME=x.npy"
    ))
}
