//! NumPy's `.npy`: a short Python dictionary and the elements.
//!
//! The header is read by a strict reader of our own: the crates for it bring a whole Python parser along,
//! which recurses on nested brackets and multiplies shapes unchecked.

use stridewise_core::size::tuple;
use stridewise_core::smallvec::SmallVec;
use stridewise_core::{DType, Error, Layout, Result};
use stridewise_cpu::Tensor;

use super::Mapped;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The elements start at a multiple of this, as NumPy writes it.
const ALIGN: usize = 64;
/// NumPy's own bound on headers it trusts.
const LONGEST_HEADER: usize = 10_000;

struct Header {
    dtype: DType,
    swapped: bool,
    fortran: bool,
    shape: Vec<usize>,
}

pub(super) fn read(file: &Mapped) -> Result<Tensor> {
    let bytes = file.bytes();
    let (text, start) = header_text(bytes)?;
    let header = Reader { text, at: 0 }.header()?;
    let width = header.dtype.width();
    let layout = if header.fortran {
        let reversed: Vec<usize> = header.shape.iter().rev().copied().collect();
        let mut strides = Layout::packed(width, &reversed)?.strides().to_vec();
        strides.reverse();
        Layout::new(width, header.shape.as_slice(), strides.as_slice(), 0)?
    } else {
        Layout::packed(width, &header.shape)?
    };
    let len = layout.count() * width;
    let there = bytes.len() - start;
    if there < len {
        let message =
            format!("the file ends before the data does: {there} bytes of {len} are there");
        return Err(Error::file(message)
            .sizes(len, there)
            .note("shape", tuple(&header.shape)));
    }
    if header.swapped {
        let mut swapped = bytes[start..start + len].to_vec();
        let part = if width > 1 && header.dtype.family() == stridewise_core::dtype::Family::Complex
        {
            width / 2
        } else {
            width
        };
        swapped.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        return Tensor::from_bytes(header.dtype, &[layout.count()], &swapped)?.with_layout(layout);
    }
    file.tensor(header.dtype, layout, start)
}

pub(super) fn write(x: &Tensor) -> Result<Vec<u8>> {
    let descr = match x.dtype() {
        DType::BF16 => {
            return Err(Error::file("an .npy file has no bfloat16")
                .help("use .safetensors, or cast to float32 first"));
        }
        DType::Bool => "|b1".to_string(),
        dtype => {
            let letter = dtype.short_name().chars().next().unwrap_or('f');
            let order = match (dtype.width(), cfg!(target_endian = "big")) {
                (1, _) => '|',
                (_, true) => '>',
                (_, false) => '<',
            };
            format!("{order}{letter}{}", dtype.width())
        }
    };
    let shape = tuple(x.shape());
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    if header.len() + ALIGN > LONGEST_HEADER {
        return Err(Error::file(format!(
            "rank {} does not fit the header of an .npy file",
            x.rank()
        )));
    }
    let before = MAGIC.len() + 4;
    let padding = (before + header.len() + 1).next_multiple_of(ALIGN) - before - header.len() - 1;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(x.to_bytes()?);
    Ok(bytes)
}

/// The dictionary, and where the elements start.
fn header_text(bytes: &[u8]) -> Result<(&[u8], usize)> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(Error::file(
            "this is not an .npy file: it does not start as one",
        ));
    };
    let short = || Error::file("the file ends within its header");
    let (len, before) = match rest {
        [1, _, a, b, ..] => (u16::from_le_bytes([*a, *b]) as usize, 4),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 6),
        [1..=3, ..] | [] => return Err(short()),
        [version, ..] => {
            return Err(Error::file(format!(
                "version {version} of .npy is not known"
            )));
        }
    };
    if len > LONGEST_HEADER {
        return Err(Error::file(format!(
            "the header is {len} bytes long, which no plain array needs"
        )));
    }
    let start = MAGIC.len() + before;
    bytes
        .get(start..start + len)
        .map(|text| (text, start + len))
        .ok_or_else(short)
}

/// Reads the dictionary: three keys, in any order.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn header(mut self) -> Result<Header> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while self.peek() != Some(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            match key.as_str() {
                "descr" => descr = Some(self.descr()?),
                "fortran_order" => fortran = Some(self.boolean()?),
                "shape" => shape = Some(self.shape()?),
                _ => return Err(self.wrong(&format!("the key '{key}' is not known"))),
            }
            if self.peek() == Some(b',') {
                self.at += 1;
            } else if self.peek() != Some(b'}') {
                return Err(self.wrong("a comma or a closing brace is missing"));
            }
        }
        self.at += 1;
        if self.peek().is_some() {
            return Err(self.wrong("there is text behind the dictionary"));
        }
        let missing = |key: &str| Error::file(format!("the header lacks '{key}'"));
        let (dtype, swapped) = descr.ok_or_else(|| missing("descr"))?;
        Ok(Header {
            dtype,
            swapped,
            fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }

    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        match self.peek() == Some(byte) {
            true => {
                self.at += 1;
                Ok(())
            }
            false => Err(self.wrong(&format!("`{}` is missing", byte as char))),
        }
    }

    fn wrong(&self, what: &str) -> Error {
        Error::file(format!(
            "the header is malformed at byte {}: {what}",
            self.at
        ))
        .note("header", String::from_utf8_lossy(self.text).trim_end())
    }

    fn string(&mut self) -> Result<String> {
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.wrong("a string is missing")),
        };
        let rest = &self.text[self.at + 1..];
        match rest.iter().position(|b| *b == quote) {
            Some(end) => {
                self.at += end + 2;
                Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
            }
            None => Err(self.wrong("a string does not end")),
        }
    }

    fn boolean(&mut self) -> Result<bool> {
        self.peek();
        let rest = &self.text[self.at..];
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("True or False is missing"))
    }

    fn shape(&mut self) -> Result<Vec<usize>> {
        let close = match self.peek() {
            Some(b'(') => b')',
            Some(b'[') => b']',
            _ => return Err(self.wrong("the shape is not a tuple")),
        };
        self.at += 1;
        let mut shape = Vec::new();
        while self.peek() != Some(close) {
            let digits = self.text[self.at..]
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count();
            let word = String::from_utf8_lossy(&self.text[self.at..self.at + digits]).into_owned();
            let size = word
                .parse()
                .map_err(|_| self.wrong("a size is not a number that fits"))?;
            self.at += digits;
            // Python 2 wrote long integers with an L.
            if self.peek() == Some(b'L') {
                self.at += 1;
            }
            shape.push(size);
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == close => {}
                _ => return Err(self.wrong("a comma or a closing bracket is missing")),
            }
        }
        self.at += 1;
        Ok(shape)
    }

    /// A dtype such as `<f4`, and whether its bytes are in the other order than this machine's.
    fn descr(&mut self) -> Result<(DType, bool)> {
        if self.peek() == Some(b'[') {
            return Err(self.wrong("structured arrays are not supported"));
        }
        let word = self.string()?;
        let (order, name) = word.split_at_checked(1).unwrap_or(("", ""));
        let found = DType::ALL.into_iter().find(|dtype| {
            let letter = match dtype {
                DType::Bool => "b",
                DType::BF16 => return false,
                other => &other.short_name()[..1],
            };
            name == format!("{letter}{}", dtype.width())
        });
        let Some(dtype) = found.filter(|_| matches!(order, "<" | ">" | "|" | "=")) else {
            let names: SmallVec<[&str; 16]> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            return Err(self
                .wrong(&format!("there is no dtype for '{word}'"))
                .help(format!("supported are {}", names.join(", "))));
        };
        let other = if cfg!(target_endian = "big") {
            "<"
        } else {
            ">"
        };
        Ok((dtype, order == other && dtype.width() > 1))
    }
}
