//! What a terminal shows and a pipe does not: colour, and lines as wide as it is. And how text is broken to
//! fit one.

use std::io::{IsTerminal, stderr, stdout};

use terminal_size::{Width, terminal_size_of};

/// Columns that output must fit where there is no terminal to ask.
const PIPE: usize = 80;
/// The fewest and the most columns that output is laid out for.
const NARROW: usize = 60;
const WIDE: usize = 100;

/// Colours, or none, and the columns there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
    /// Whether any colour can be shown, not only one of 256.
    any: bool,
    width: usize,
}

impl Paint {
    /// Colours where standard output is a terminal and `NO_COLOR` is not set.
    pub(crate) fn stdout() -> Paint {
        Paint::where_(stdout().is_terminal(), terminal_size_of(stdout()))
    }

    /// The same for standard error.
    pub(crate) fn stderr() -> Paint {
        Paint::where_(stderr().is_terminal(), terminal_size_of(stderr()))
    }

    /// No colours.
    #[cfg(test)]
    pub(crate) fn plain() -> Paint {
        Paint {
            on: false,
            any: false,
            width: PIPE,
        }
    }

    /// Colours, terminal or not.
    #[cfg(test)]
    pub(crate) fn coloured() -> Paint {
        Paint {
            on: true,
            ..Paint::plain()
        }
    }

    fn where_<H>(terminal: bool, size: Option<(Width, H)>) -> Paint {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let dumb = set("TERM").is_some_and(|term| term == "dumb");
        Paint {
            on: terminal && set("NO_COLOR").is_none() && !dumb,
            any: set("COLORTERM").is_some_and(|c| c == "truecolor" || c == "24bit"),
            // A terminal that does not know its width says 0.
            width: match size {
                Some((Width(columns @ 1..), _)) if terminal => {
                    usize::from(columns).clamp(NARROW, WIDE)
                }
                _ => PIPE,
            },
        }
    }

    /// Columns that output must fit.
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// Whether there are colours.
    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    fn wrap(self, code: &str, text: &str) -> String {
        match self.on {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }

    /// Headings.
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// What matters less.
    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Errors.
    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    /// Views.
    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Copies.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// Calls.
    pub(crate) fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }

    /// Dark text on a colour.
    pub(crate) fn on_colour(self, (r, g, b): (u8, u8, u8), text: &str) -> String {
        if !self.on {
            return text.to_string();
        }
        let sixth = |c: u8| (u16::from(c) * 5 + 127) / 255;
        let back = match self.any {
            true => format!("48;2;{r};{g};{b}"),
            false => format!("48;5;{}", 16 + 36 * sixth(r) + 6 * sixth(g) + sixth(b)),
        };
        self.wrap(&format!("38;5;16;{back}"), text)
    }
}

/// Breaks a text into lines of at most `width` columns.
pub(crate) fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().filter(|line| {
            line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width
        });
        match last {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_string()),
        }
    }
    lines
}

/// A text cut to at most `width` columns.
pub(crate) fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text
            .chars()
            .take(width.saturating_sub(1))
            .chain(['…'])
            .collect(),
        false => text.to_string(),
    }
}

/// A number of bytes in the unit that suits it.
pub(crate) fn bytes(n: usize) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let number = format!("{value:.1}");
    format!("{} {}", number.trim_end_matches(".0"), UNITS[unit])
}

/// A word in the singular or plural.
pub(crate) fn count(n: usize, word: &str) -> String {
    match n {
        1 => format!("1 {word}"),
        _ if word.ends_with('y') => format!("{n} {}ies", &word[..word.len() - 1]),
        _ => format!("{n} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_given_in_the_unit_that_suits_them() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(usize::MAX), "16 EiB");
    }

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(lines("one two three", 7), ["one two", "three"]);
        assert_eq!(lines("", 7), [""]);
        assert_eq!(lines("extraordinary", 4), ["extraordinary"]);
    }
}
