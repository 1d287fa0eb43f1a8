//! A plan for machines.

use std::fmt::Display;
use std::io::Write;

use stridewise_dry::Sketch;

use crate::failure::Failure;
use crate::how::How;
use crate::plan::Row;
use crate::program::Program;

/// Writes the plan as one JSON object.
pub(crate) fn write(
    program: &Program,
    rows: &[Row],
    note: Option<&str>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let part = |inputs: bool| {
        let rows = rows.iter().filter(|row| (row.how == How::Input) == inputs);
        rows.map(object).collect::<Vec<_>>()
    };
    let sum = |bytes: fn(&Row) -> usize| {
        rows.iter()
            .fold(0, |s: usize, row| s.saturating_add(bytes(row)))
    };
    writeln!(out, "{{")?;
    writeln!(out, "  \"program\": {},", quoted(&program.source))?;
    writeln!(out, "  \"inputs\": {},", block(part(true)))?;
    writeln!(out, "  \"steps\": {},", block(part(false)))?;
    writeln!(out, "  \"bytes_read\": {},", sum(Row::read))?;
    writeln!(out, "  \"bytes_written\": {},", sum(Row::written))?;
    let note = note.map_or("null".to_string(), quoted);
    writeln!(out, "  \"note\": {note}")?;
    writeln!(out, "}}")?;
    Ok(())
}

/// A list with a line for each item.
pub(crate) fn block(items: Vec<String>) -> String {
    match items.is_empty() {
        true => "[]".to_string(),
        false => format!("[\n    {}\n  ]", items.join(",\n    ")),
    }
}

fn object(row: &Row) -> String {
    let tensors: Vec<String> = row.tensors.iter().map(tensor).collect();
    let by: Vec<String> = row.moves.iter().map(|m| quoted(m.primitive)).collect();
    let dims = row
        .dims
        .as_ref()
        .map(|dims| format!(", \"dims\": {}", quoted(dims)));
    format!(
        "{{\"text\": {}, \"how\": {}, \"tensors\": [{}], \"bytes_read\": {}, \"bytes_written\": {}, \"by\": [{}]{}}}",
        quoted(&row.text),
        quoted(row.how.word()),
        tensors.join(", "),
        row.read(),
        row.written(),
        by.join(", "),
        dims.unwrap_or_default()
    )
}

fn tensor(x: &Sketch) -> String {
    format!(
        "{{\"dtype\": {}, \"shape\": {}, \"strides\": {}, \"offset\": {}}}",
        quoted(x.dtype().name()),
        numbers(x.shape()),
        numbers(x.strides()),
        x.layout().offset()
    )
}

pub(crate) fn numbers<T: Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    format!("[{}]", items.join(", "))
}

pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if c < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_for_json() {
        assert_eq!(
            quoted("a\"b\\c\n\t\u{1}é"),
            "\"a\\\"b\\\\c\\n\\u0009\\u0001é\""
        );
    }
}
