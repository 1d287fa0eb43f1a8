//! The words of a program: numbers, names, strings and signs, each with its place.

use crate::program::{Mistake, Span};

/// One word and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) word: Word,
    /// Where it stands.
    pub(crate) span: Span,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    /// A whole number.
    Int(i128),
    /// A number with a point or an exponent.
    Float(f64),
    /// An imaginary number, such as `2j`.
    Imaginary(f64),
    /// A name.
    Name(String),
    /// A string without its quotes.
    Text(String),
    /// `$n`.
    Input(usize),
    /// `...`.
    Rest,
    /// One of `( ) [ ] , : = . + -`.
    Sign(char),
}

impl Word {
    /// The word as a message quotes it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Word::Int(_) | Word::Float(_) | Word::Imaginary(_) => "a number".to_string(),
            Word::Name(name) => format!("`{name}`"),
            Word::Text(_) => "a string".to_string(),
            Word::Input(n) => format!("`${n}`"),
            Word::Rest => "`...`".to_string(),
            Word::Sign(sign) => format!("`{sign}`"),
        }
    }
}

/// Splits a program into words.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token>, Mistake> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(next) = source[at..].chars().next() {
        let rest = &source[at..];
        let (word, len) = match next {
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '.' if rest.starts_with("...") => (Word::Rest, 3),
            '0'..='9' => number(rest, at)?,
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(rest, at)?,
            '(' | ')' | '[' | ']' | ',' | ':' | '=' | '.' | '+' | '-' => (Word::Sign(next), 1),
            '"' | '\'' => text(rest, next, at)?,
            '$' => input(rest, at)?,
            c if c.is_alphabetic() || c == '_' => {
                let len = length_while(rest, |c| c.is_alphanumeric() || c == '_');
                (Word::Name(rest[..len].to_string()), len)
            }
            c => {
                let mistake =
                    Mistake::new(at..at + c.len_utf8(), format!("unexpected character {c:?}"))
                        .label("a program cannot hold this");
                return Err(match c {
                    '{' | '}' => mistake.help("lists are written with [ ] or ( )"),
                    '*' | '/' => mistake.help(
                        "numbers are written out; a size of symbols stands in quotes: \"B*2\"",
                    ),
                    '%' => mistake.help("numbers are written out; nothing is computed"),
                    _ => mistake,
                });
            }
        };
        tokens.push(Token {
            word,
            span: at..at + len,
        });
        at += len;
    }
    Ok(tokens)
}

fn length_while(text: &str, holds: impl Fn(char) -> bool) -> usize {
    text.find(|c| !holds(c)).unwrap_or(text.len())
}

/// A number at the start of `rest`, which begins at `at`.
fn number(rest: &str, at: usize) -> Result<(Word, usize), Mistake> {
    let digits = |text: &str| length_while(text, |c| c.is_ascii_digit() || c == '_');
    let mut len = digits(rest);
    let mut whole = true;
    if rest[len..].starts_with('.') && !rest[len..].starts_with("...") {
        whole = false;
        len += 1;
        len += digits(&rest[len..]);
    }
    if rest[len..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[len + 1..].starts_with(['+', '-']));
        let exponent = digits(&rest[len + 1 + sign..]);
        if exponent > 0 {
            whole = false;
            len += 1 + sign + exponent;
        }
    }
    let plain = rest[..len].replace('_', "");
    let imaginary = rest[len..].starts_with(['j', 'J']);
    let end = len + usize::from(imaginary);
    let tail = length_while(&rest[end..], |c| c.is_alphanumeric() || c == '_');
    let wrong = |message: &str| Mistake::new(at..at + end + tail, message);
    if tail > 0 {
        return Err(
            wrong("this is neither a number nor a name").label("a number ends before a letter")
        );
    }
    let float = || {
        plain
            .parse::<f64>()
            .map_err(|_| wrong("this is not a number"))
    };
    let word = match (imaginary, whole) {
        (true, _) => Word::Imaginary(float()?),
        (false, false) => Word::Float(float()?),
        (false, true) => Word::Int(
            plain
                .parse()
                .map_err(|_| wrong("this number is too large").label("more than 127 bits"))?,
        ),
    };
    Ok((word, end))
}

/// A string at the start of `rest`.
fn text(rest: &str, quote: char, at: usize) -> Result<(Word, usize), Mistake> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((offset, c)) = chars.next() {
        match c {
            c if c == quote => return Ok((Word::Text(text), offset + 1)),
            '\\' => text.extend(chars.next().map(|(_, c)| c)),
            c => text.push(c),
        }
    }
    Err(
        Mistake::new(at..at + 1, "a string is opened and never closed")
            .label("opened here")
            .help(format!("close it with {quote}")),
    )
}

/// `$n` at the start of `rest`.
fn input(rest: &str, at: usize) -> Result<(Word, usize), Mistake> {
    let len = 1 + length_while(&rest[1..], |c| c.is_alphanumeric());
    match rest[1..len].parse() {
        Ok(n) if n > 0 => Ok((Word::Input(n), len)),
        _ => Err(
            Mistake::new(at..at + len, "an input is written as `$` and its number")
                .label("not an input")
                .help("$1 is the first input, $2 the second"),
        ),
    }
}
