//! Constant tensors from their text: elements in as many brackets as there are axes, and behind them the dtype and
//! shape that say what to make of them.

use stridewise_core::error::Result;
use stridewise_core::size::Size;
use stridewise_cpu::Tensor;

use super::arguments::Arguments;
use super::header::Written;
use super::numbers;
use super::parse::Parser;
use crate::graph::Symbolic;

impl Parser<'_> {
    /// The elements of a constant as words, and its brackets with `x` for each element.
    pub(super) fn constant(&mut self) -> Result<(Vec<String>, String, Arguments)> {
        let (mut words, mut skeleton) = (Vec::new(), String::new());
        let mut nested = 0usize;
        let place = self.cursor.place();
        // Further in, this would be a comment.
        if self.cursor.is_next("(#") {
            let message = "a large constant is written as its hash, which cannot be read back";
            let error = self.cursor.error(place, message);
            return Err(error.help("give it to the program as an input"));
        }
        self.cursor.open("(")?;
        loop {
            if self.cursor.take_open("[") {
                nested += 1;
                skeleton.push('[');
                continue;
            }
            if nested > 0 && self.cursor.take_close("]") {
                nested -= 1;
                skeleton.push(']');
            } else {
                words.push(self.element()?);
                skeleton.push('x');
            }
            while nested > 0 && self.cursor.take_close("]") {
                nested -= 1;
                skeleton.push(']');
            }
            if nested == 0 {
                break;
            }
            self.cursor.expect(",")?;
            skeleton.push(',');
        }
        let mut all = Arguments::default();
        if self.cursor.take(",") {
            match self.cursor.key() {
                Some("name") => all.name = Some(self.cursor.string()?),
                _ => return Err(self.cursor.expected("`name=`")),
            }
        }
        self.cursor.close(")")?;
        Ok((words, skeleton, all))
    }

    /// An element of a constant as it is written; a complex one with a space between its parts.
    fn element(&mut self) -> Result<String> {
        let complex = self.cursor.take_word("complex");
        if complex {
            self.cursor.open("(")?;
        }
        let Some(first) = self.cursor.number_word() else {
            return Err(self.cursor.expected("an element"));
        };
        if !complex {
            return Ok(first.to_string());
        }
        self.cursor.expect(",")?;
        let Some(second) = self.cursor.number_word() else {
            return Err(self.cursor.expected("an imaginary part"));
        };
        self.cursor.close(")")?;
        Ok(format!("{first} {second}"))
    }

    /// The constant with these elements, which must fill the brackets of its shape.
    pub(super) fn made(
        &mut self,
        place: usize,
        words: &[String],
        skeleton: &str,
        types: &[Written],
    ) -> Result<Symbolic> {
        let [written] = types else {
            let message = "expected the dtype and shape of the constant, as in `: int64[2]`";
            return Err(self.cursor.error(place, message));
        };
        let dtype = written.dtype;
        let shape = written.outline.shape().and_then(|dims| {
            let dims = dims.iter().map(|dim| dim.known());
            dims.collect::<Option<Vec<usize>>>()
        });
        let Some(shape) = shape else {
            let message = format!("a constant has no sizes such as {}", written.outline);
            return Err(self.cursor.error(written.place, message));
        };
        let count = usize::product(&shape);
        let brackets = count.filter(|count| *count == words.len()).map(|count| {
            let each = std::iter::repeat_n("x".to_string(), count);
            numbers::nested(&shape, each).replace(", ", ",")
        });
        if brackets.as_deref() != Some(skeleton) {
            let message = format!("expected the elements of {dtype}{}", written.outline);
            let message = format!("{message}, found {} in other brackets", words.len());
            return Err(self.cursor.error(place, message));
        }
        let part = numbers::part_of(dtype);
        let mut bytes = Vec::with_capacity(words.len() * dtype.width());
        for word in words {
            let parts: Vec<&str> = word.split(' ').collect();
            let wanted = dtype.width() / part.width();
            let read = parts.iter().map(|word| numbers::element(part, word));
            match read.collect::<Option<Vec<_>>>() {
                Some(read) if read.len() == wanted => bytes.extend(read.concat()),
                _ => {
                    let message = format!("expected elements of {dtype}, found `{word}`");
                    return Err(self.cursor.error(place, message));
                }
            }
        }
        let tensor = Tensor::from_bytes(dtype, &shape, &bytes)?;
        Ok(self.graph.constant(&tensor))
    }
}
