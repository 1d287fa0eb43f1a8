//! Programs as text, for people to read and for tests to hold on to, and back.
//!
//! ```text
//! graph(x: float32[B, _0, 4], i: int64[N]) {
//!   %0 = flatten(x, start=1): float32[B, _0*4]                      # model.py:3
//!   %1 = unflatten(%0, axis=1, shape=(-1, 8), name="heads"): float32[B, _0/2, 8]
//!   guard 8 divides _0*4  # unflatten "heads"
//!   %2 = take(%1, index=i, axis=0): float32[N, _0/2, 8]
//!   guard N == 0 or B > 0  # take
//!   return %2
//! }
//! ```
//!
//! - The first line declares the inputs. Symbols stand for sizes, `*rest` for the sizes of any number of axes, `_0`
//!   for a symbol without a name. Bounds follow as `where 1 <= B, 2 <= N <= 8`.
//! - A statement calls an operator: tensors by position, everything else by name, defaults left out. Values are
//!   numbered in the order of the text; by hand they may be called anything. Behind the colon stands what is known
//!   of the result, which may be left out by hand, and behind `#` the line of the program that it came from.
//! - Sizes that are read from a tensor are written `%3[0]` (an item of a list), `%3[]` (its only element) and
//!   `*%3[:]` (all of them).
//! - A symbol of a pattern is a bare word, `[B, None, ..., 3]`, and in quotes where that would be something else; a
//!   size that is nothing but a symbol stands in brackets there, `[(B), 3]`.
//! - `guard` says what a run has to check for the statement above. It is no order but a promise: the reader derives
//!   the guards again and refuses a text that has others. `guard later` is for an operator of whose arguments too
//!   little is known: a run asks all of its questions.
//! - `primitive.…` is a primitive that was recorded by itself, as gradients do. The axes of a view come from those of
//!   its input: `2` an axis as it is, `new(B)`, `slice(0, start=1, len=B, step=2)`, `split(0, len=B, inner=4)`,
//!   `stretch(0, len=B)`, `range(0, 1:-1:2)`, `merge(0:2)`.
//! - `constant([1, 2]): int64[2]` is a tensor that is the same in every run, exactly, whatever its strides were. One
//!   of more than 256 elements is written as a hash, `constant(#93c4…): float32[1000, 1000]`, by which it can be told
//!   from others but not read back: such a text is refused.
//! - `gradient(%2 by x)` in place of `return` is the graph that [`Program::gradient`] makes.
//!
//! Reading calls every statement again on a new graph, so that a program from a text is as good as one that was
//! traced. A program that is printed, read and printed again gives the same text.

mod arguments;
mod constant;
mod cursor;
mod guards;
mod header;
mod names;
mod numbers;
mod parse;
mod primitives;
mod print;
mod symbols;

use std::fmt;
use std::str::FromStr;

use stridewise_core::error::{Error, Result};

use crate::program::Program;

impl Program {
    /// The guards as they stand in the text of the program, with its names.
    pub fn guard_texts(&self) -> Vec<String> {
        print::printed(self).1
    }
}

/// The text of a program: its inputs, every call with what is known of its result, and what a run checks.
///
/// ```
/// # use stridewise_core::{dtype::DType, operators::Methods};
/// # use stridewise_graph::{Graph, Program};
/// let graph = Graph::new();
/// let x = graph.input("x", DType::F32, "[B, N]".parse()?)?;
/// let y = x.unflatten(1, [-1, 4])?;
/// let text = graph.finish(&[&y])?.to_string();
/// assert_eq!(text, "\
/// graph(x: float32[B, N]) {
///   %0 = unflatten(x, axis=1, shape=(-1, 4)): float32[B, N/4, 4]
///   guard 4 divides N  # unflatten
///   return %0
/// }
/// ");
/// assert_eq!(text.parse::<Program>()?.to_string(), text);
/// # Ok::<(), stridewise_core::Error>(())
/// ```
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print::printed(self).0)
    }
}

impl FromStr for Program {
    type Err = Error;

    /// Reads what is printed, and what people write like it. Errors say the line and column, what was expected and
    /// what was there.
    fn from_str(text: &str) -> Result<Program> {
        parse::parse(text)
    }
}
