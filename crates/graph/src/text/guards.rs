//! Guards as text: what must hold, and who asks for it.

use std::fmt;

use stridewise_core::dim::Dim;
use stridewise_core::engine::Condition;

use super::names::Names;
use crate::node::{Check, Guard};

/// What must hold.
pub(super) fn condition(check: &Check, names: &mut Names) -> String {
    match check {
        Check::Sizes(condition) => {
            let mut dim = |dim: &Dim| names.dim(dim);
            match condition {
                Condition::Same(a, b) => format!("{} == {}", dim(a), dim(b)),
                Condition::Divides(a, b) => format!("{} divides {}", dim(a), dim(b)),
                Condition::Stretches { from, to } => format!("{} in (1, {})", dim(from), dim(to)),
                Condition::Inside { size, index } => match index {
                    0.. => format!("{} > {index}", dim(size)),
                    _ => format!("{} >= {}", dim(size), index.unsigned_abs()),
                },
                Condition::Readable { reads, from } => {
                    format!("{} == 0 or {} > 0", dim(reads), dim(from))
                }
            }
        }
        Check::Rank { of, at_least, open } => {
            let sign = if *open { ">=" } else { "==" };
            format!("rank({}) {sign} {at_least}", names.outline(of))
        }
        // Why so is told by the shapes, in the names of the graph.
        Check::Later(_) => "later".to_string(),
    }
}

impl Guard {
    /// Who asks: the operator, its name, the line of the program.
    pub(super) fn origin(&self) -> String {
        let mut text = self.operator.to_string();
        if let Some(name) = &self.name {
            text.push_str(&format!(" {name:?}"));
        }
        if let Some(source) = self.source.as_deref().and_then(one_line) {
            text.push_str(&format!(" at {source}"));
        }
        text
    }
}

/// One line: what must hold, then who asks for it.
///
/// ```
/// # use stridewise_core::{dtype::DType, operators::Methods};
/// # use stridewise_graph::Graph;
/// let graph = Graph::new();
/// let x = graph.input("x", DType::F64, "[B, N]".parse()?)?;
/// graph.at(Some("model.py:12".into()), Some("heads".into()));
/// let y = x.unflatten(1, [-1, 4])?;
/// let guards = graph.finish(&[&y])?.guards().iter().map(|guard| guard.to_string()).collect::<Vec<_>>();
/// assert_eq!(guards, ["4 divides N  # unflatten \"heads\" at model.py:12"]);
/// # Ok::<(), stridewise_core::Error>(())
/// ```
impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let condition = match &self.check {
            Check::Later(reason) => format!("later: {reason}"),
            check => condition(check, &mut Names::as_they_are()),
        };
        write!(f, "{condition}  # {}", self.origin())
    }
}

/// A line of the user's program as a comment can hold it; `None` where nothing is left.
pub(super) fn one_line(source: &str) -> Option<String> {
    let words = source.split(|c: char| c.is_control() || c.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
