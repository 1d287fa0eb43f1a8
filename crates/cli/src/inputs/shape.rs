//! One shape as `--shape` has it: sizes that are numbers, symbols or unknown, and an ellipsis for any number of
//! axes.

use std::fmt;

use stridewise::Graph;
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::params::Symbol;
use stridewise_core::size::Size;

/// One shape, and how it was written.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    text: String,
    parts: Vec<Part>,
}

/// What stands between two commas.
#[derive(Clone, Debug)]
enum Part {
    /// A number, or an expression with symbols.
    Size(Dim),
    /// `?`.
    Any,
    /// `...`, or `*name`.
    Rest(Option<Symbol>),
}

impl Shape {
    /// Reads a shape.
    pub(crate) fn read(text: &str) -> Result<Shape, String> {
        let parts = match numbers(text) {
            Some(sizes) => sizes.into_iter().map(|n| Part::Size(n.into())).collect(),
            None => parts(text)?,
        };
        let rests = parts.iter().filter(|p| matches!(p, Part::Rest(_))).count();
        if rests > 1 {
            return Err("only one `...` can stand in a shape".to_string());
        }
        let text = text.trim().to_string();
        Ok(Shape { text, parts })
    }

    /// The sizes, where all are numbers.
    pub(crate) fn numbers(&self) -> Option<Vec<usize>> {
        let number = |part: &Part| match part {
            Part::Size(size) => size.known(),
            Part::Any | Part::Rest(_) => None,
        };
        self.parts.iter().map(number).collect()
    }

    /// What a graph knows of such a shape: what is unknown gets symbols of its own.
    pub(crate) fn outline(&self, graph: &Graph) -> Outline {
        let (mut front, mut rest, mut back) = (Vec::new(), None, Vec::new());
        for part in &self.parts {
            let size = match part {
                Part::Size(size) => size.clone(),
                Part::Any => graph.unknown(),
                Part::Rest(name) => {
                    let fresh = || graph.unknown_shape().rest().cloned();
                    rest = name.clone().or_else(fresh);
                    continue;
                }
            };
            match rest {
                None => front.push(size),
                Some(_) => back.push(size),
            }
        }
        Outline::new(front.as_slice().into(), rest, back.as_slice().into())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Sizes that are numbers all, with commas or crosses between them.
fn numbers(text: &str) -> Option<Vec<usize>> {
    let inner = text
        .trim()
        .trim_start_matches(['(', '['])
        .trim_end_matches([')', ']']);
    let parts: Vec<&str> = inner.split([',', 'x', '×']).map(str::trim).collect();
    let parts = without_last(&parts);
    parts.iter().map(|part| part.parse().ok()).collect()
}

/// Sizes of which some are no numbers, with commas between them, and perhaps brackets around them.
fn parts(text: &str) -> Result<Vec<Part>, String> {
    let whole = text.trim();
    let inner = whole
        .strip_prefix(['(', '['])
        .and_then(|text| text.strip_suffix([')', ']']));
    // What look like brackets around everything may be those of two sizes: (B+1)*2,(C+1).
    let parts = inner.and_then(split).or_else(|| split(whole));
    let parts = parts.ok_or_else(|| format!("a bracket of `{whole}` is not opened"))?;
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).collect();
    without_last(&parts).iter().map(|p| part(p)).collect()
}

/// The parts between commas that are in no bracket; none where a bracket is closed that was not opened.
fn split(text: &str) -> Option<Vec<String>> {
    let (mut depth, mut parts) = (0usize, vec![String::new()]);
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        match parts.last_mut() {
            Some(last) if c != ',' || depth > 0 => last.push(c),
            _ => parts.push(String::new()),
        }
    }
    Some(parts)
}

/// Python writes a comma behind a single size.
fn without_last<'a>(parts: &'a [&'a str]) -> &'a [&'a str] {
    match parts {
        [sizes @ .., ""] => sizes,
        sizes => sizes,
    }
}

fn part(text: &str) -> Result<Part, String> {
    let wrong = |why: &str| format!("`{text}` is not a size: {why}");
    let part = match text {
        "?" | "None" => return Ok(Part::Any),
        "..." => return Ok(Part::Rest(None)),
        "" => return Err("a size is missing; write sizes as in 4,6,16 or B,?,4".to_string()),
        _ if text.starts_with('-') => {
            return Err(wrong("none is negative; write ? for one that is not known"));
        }
        _ => match text.strip_prefix('*') {
            Some(name) => match name.parse::<Dim>().ok().as_ref().and_then(Dim::as_symbol) {
                Some(symbol) => Part::Rest(Some(symbol.clone())),
                None => return Err(wrong("`*` stands before the name of any number of axes")),
            },
            None => Part::Size(
                text.parse()
                    .map_err(|error: stridewise::Error| wrong(error.report().message()))?,
            ),
        },
    };
    let symbols = match &part {
        Part::Size(size) => size.symbols().iter().map(|s| s.symbol().clone()).collect(),
        Part::Rest(name) => name.iter().cloned().collect(),
        Part::Any => Vec::new(),
    };
    // A graph tells what symbols are by how their names begin.
    let plain = |symbol: &Symbol| symbol.name().starts_with(char::is_alphabetic);
    match symbols.iter().all(plain) {
        true => Ok(part),
        false => Err(wrong("the name of a size begins with a letter")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> String {
        let shape = Shape::read(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        shape.outline(&Graph::new()).to_string()
    }

    #[test]
    fn numbers_are_read_as_ever() {
        for text in ["4,6,16", "(4, 6, 16)", "[4,6,16,]", "4x6x16", "4×6×16"] {
            let shape = Shape::read(text).unwrap();
            assert_eq!(shape.numbers(), Some(vec![4, 6, 16]), "{text}");
        }
        assert_eq!(Shape::read("()").unwrap().numbers(), Some(Vec::new()));
        assert_eq!(Shape::read("2*3").unwrap().numbers(), Some(vec![6]));
    }

    #[test]
    fn sizes_may_be_symbols_expressions_and_unknown() {
        for (text, wanted) in [
            ("B,?,4", "[B, _0, 4]"),
            ("[B, None]", "[B, _0]"),
            ("?,?", "[_0, _1]"),
            ("...", "[*_0]"),
            ("B,...,?", "[B, *_0, _1]"),
            ("*batch,3", "[*batch, 3]"),
            ("B*2,(B+1)*C", "[B*2, B*C + C]"),
            ("(B+1)*(C+1)", "[B*C + B + C + 1]"),
            ("(B+1)*2,(C+1)", "[B*2 + 2, C + 1]"),
            ("len(B[1:]),x", "[len(B[1:]), x]"),
            ("(B,)", "[B]"),
        ] {
            assert_eq!(outline(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_shape_is_refused() {
        for text in [
            "4,-1",
            "4,,6",
            "B,...,...",
            "4 6",
            "_0,?",
            "'*a'",
            "'%1'",
            "B-",
            "*4",
            "4B",
            "1.5",
            "99999999999999999999999",
        ] {
            assert!(Shape::read(text).is_err(), "{text}");
        }
    }
}
