//! A place in the text: words and signs, and errors that say where they were found.

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};

/// A place in the text.
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// How many brackets are open: between them a line may end anywhere.
    open: usize,
}

/// How much of a line an error shows.
const SHOWN: usize = 120;

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Cursor<'t> {
        Cursor {
            text,
            at: 0,
            open: 0,
        }
    }

    /// Where the next word begins.
    pub(super) fn place(&mut self) -> usize {
        self.skip();
        self.at
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Line and column of a place, both counted from 1.
    fn position(&self, place: usize) -> (usize, usize) {
        let before = &self.text[..place];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        (line, before[start..].chars().count() + 1)
    }

    /// An error about what stands at a place.
    #[cold]
    pub(super) fn error(&self, place: usize, message: impl AsRef<str>) -> Error {
        let (line, column) = self.position(place);
        let message = message.as_ref();
        let error = Error::argument(format!("line {line}, column {column}: {message}"));
        error.note("line", self.line(place))
    }

    /// An error of what was called, with the place that calls it.
    #[cold]
    pub(super) fn blame(&self, place: usize, error: Error) -> Error {
        let (line, column) = self.position(place);
        error.note(
            "read at",
            format!("line {line}, column {column}: {}", self.line(place)),
        )
    }

    /// The line of that place, cut where it is long.
    fn line(&self, place: usize) -> String {
        let start = self.text[..place].rfind('\n').map_or(0, |end| end + 1);
        let line = self.text[start..].lines().next().unwrap_or_default().trim();
        match line.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_string(),
        }
    }

    /// What stands here, for messages.
    fn found(&self) -> String {
        let rest = self.rest();
        let word: String = rest.chars().take_while(|c| is_part(*c)).take(40).collect();
        match rest.chars().next() {
            None => "the end of the text".to_string(),
            Some('\n' | '\r') => "the end of the line".to_string(),
            Some(_) if !word.is_empty() => format!("`{word}`"),
            Some(sign) => format!("`{sign}`"),
        }
    }

    #[cold]
    pub(super) fn expected(&mut self, what: &str) -> Error {
        self.skip();
        self.error(self.at, format!("expected {what}, found {}", self.found()))
    }

    /// Passes blanks, and between brackets the ends of lines with their comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let blank = |c: char| match c {
                '\n' | '\r' => self.open > 0,
                c => c.is_whitespace(),
            };
            let next = rest.trim_start_matches(blank);
            self.at += rest.len() - next.len();
            match next.starts_with('#') && self.open > 0 {
                true => self.at += next.find('\n').unwrap_or(next.len()),
                false => return,
            }
        }
    }

    /// Passes empty lines and lines that are comments.
    pub(super) fn skip_lines(&mut self) {
        self.open += 1;
        self.skip();
        self.open -= 1;
    }

    pub(super) fn is_next(&mut self, token: &str) -> bool {
        self.skip();
        self.rest().starts_with(token)
    }

    pub(super) fn take(&mut self, token: &str) -> bool {
        let found = self.is_next(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<()> {
        match self.take(token) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{token}`"))),
        }
    }

    /// A bracket, if it stands here: what follows may go over several lines.
    pub(super) fn take_open(&mut self, bracket: &str) -> bool {
        let found = self.take(bracket);
        self.open += usize::from(found);
        found
    }

    pub(super) fn open(&mut self, bracket: &str) -> Result<()> {
        match self.take_open(bracket) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{bracket}`"))),
        }
    }

    pub(super) fn take_close(&mut self, bracket: &str) -> bool {
        let found = self.take(bracket);
        self.open -= usize::from(found && self.open > 0);
        found
    }

    pub(super) fn close(&mut self, bracket: &str) -> Result<()> {
        match self.take_close(bracket) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{bracket}`"))),
        }
    }

    /// Between two items of a list: whether there is another one.
    pub(super) fn another(&mut self, bracket: &str) -> Result<bool> {
        if self.take(",") {
            return Ok(!self.is_next(bracket));
        }
        match self.is_next(bracket) {
            true => Ok(false),
            false => Err(self.expected(&format!("`,` or `{bracket}`"))),
        }
    }

    /// A word of letters, digits and underscores that begins with no digit.
    pub(super) fn word(&mut self) -> Option<&'t str> {
        self.skip();
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        let begins = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        begins.then(|| {
            self.at += end;
            word
        })
    }

    /// The word, if it stands here.
    pub(super) fn take_word(&mut self, wanted: &str) -> bool {
        let place = self.place();
        let found = self.word() == Some(wanted);
        if !found {
            self.at = place;
        }
        found
    }

    /// The name of a value: a word, or a number behind `%`.
    pub(super) fn value_name(&mut self) -> Option<&'t str> {
        let place = self.place();
        if !self.take("%") {
            return self.word();
        }
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        if end == 0 {
            self.at = place;
            return None;
        }
        self.at += end;
        Some(&self.text[place..self.at])
    }

    /// The name before a `=`, if there is one here.
    pub(super) fn key(&mut self) -> Option<&'t str> {
        let place = self.place();
        let word = self.word();
        if word.is_some() && self.take("=") {
            return word;
        }
        self.at = place;
        None
    }

    pub(super) fn dtype(&mut self) -> Result<DType> {
        let place = self.place();
        let Some(word) = self.word() else {
            return Err(self.expected("a dtype"));
        };
        word.parse().map_err(|_| {
            let names: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            let error = self.error(place, format!("expected a dtype, found `{word}`"));
            error.help(format!("use one of {}", names.join(", ")))
        })
    }

    /// A whole number.
    pub(super) fn whole<N: std::str::FromStr>(&mut self, what: &str) -> Result<N> {
        let place = self.place();
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let digits = digits.len()
            - digits
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let end = digits + usize::from(digits > 0 && rest.starts_with('-'));
        let word = &rest[..end];
        if digits == 0 || rest[end..].starts_with(|c| is_part(c) || c == '.') {
            return Err(self.expected(what));
        }
        let number = word.parse();
        match number {
            Ok(number) => {
                self.at += end;
                Ok(number)
            }
            Err(_) => Err(self.error(place, format!("expected {what}, found {word}"))),
        }
    }

    /// A number of any kind, as it is written.
    pub(super) fn number_word(&mut self) -> Option<&'t str> {
        self.skip();
        let rest = self.rest();
        if let Some(hex) = rest.strip_prefix("nan(") {
            let end = hex.find(')')?;
            self.at += "nan(".len() + end + 1;
            return Some(&rest[.."nan(".len() + end + 1]);
        }
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
        let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then_some(&rest[..end])
    }

    /// A string in double quotes.
    pub(super) fn string(&mut self) -> Result<String> {
        let place = self.place();
        if !self.take("\"") {
            return Err(self.expected("a string in double quotes"));
        }
        let mut out = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(out);
                }
                '\n' => break,
                '\\' => {
                    let escaped = match chars.next().map(|(_, c)| c) {
                        Some('n') => Some('\n'),
                        Some('r') => Some('\r'),
                        Some('t') => Some('\t'),
                        Some('0') => Some('\0'),
                        Some(c @ ('\\' | '"' | '\'')) => Some(c),
                        Some('u') => {
                            let code = chars.as_str().strip_prefix('{');
                            let code = code.and_then(|code| code.split_once('}'));
                            code.and_then(|(hex, _)| {
                                chars.nth(hex.chars().count() + 1);
                                char::from_u32(u32::from_str_radix(hex, 16).ok()?)
                            })
                        }
                        _ => None,
                    };
                    match escaped {
                        Some(c) => out.push(c),
                        None => {
                            let message = "expected an escape such as `\\n` behind `\\`";
                            return Err(self.error(self.at + at, message));
                        }
                    }
                }
                c => out.push(c),
            }
        }
        Err(self.error(
            place,
            "expected `\"` at the end of the string, found the end of the line",
        ))
    }

    /// A size as it is written, up to what ends it: a comma, or a bracket that was not opened in it.
    pub(super) fn size_text(&mut self) -> &'t str {
        self.skip();
        let rest = self.rest();
        let (mut nested, mut quoted, mut escaped) = (0usize, false, false);
        let end = rest.find(|c: char| {
            if quoted {
                quoted = c != '\'' || escaped;
                escaped = c == '\\' && !escaped;
                return false;
            }
            match c {
                '\'' => quoted = true,
                '(' | '[' => nested += 1,
                ')' | ']' if nested > 0 => nested -= 1,
                ')' | ']' | '#' => return true,
                ',' | '=' if nested == 0 => return true,
                _ => {}
            }
            false
        });
        let text = &rest[..end.unwrap_or(rest.len())];
        self.at += text.len();
        text.trim_end()
    }

    /// What is left of the line, its comment set apart.
    pub(super) fn line_text(&mut self) -> &'t str {
        self.skip();
        let rest = self.rest();
        let end = rest.find(['\n', '#']).unwrap_or(rest.len());
        self.at += end;
        rest[..end].trim_end()
    }

    /// The end of a line, and the comment in front of it. A closing brace may stand in its place.
    pub(super) fn end_of_line(&mut self) -> Result<Option<&'t str>> {
        self.skip();
        let rest = self.rest();
        if let Some(comment) = rest.strip_prefix('#') {
            let end = comment.find('\n').unwrap_or(comment.len());
            self.at += 1 + end;
            return Ok(Some(comment[..end].trim()));
        }
        match rest.chars().next() {
            None | Some('\n' | '\r' | '}') => Ok(None),
            Some(_) => Err(self.expected("the end of the line")),
        }
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
