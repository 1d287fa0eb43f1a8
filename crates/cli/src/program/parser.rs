//! From words to steps: a small recursive descent. Brackets nest to a limit, so no text can exhaust the
//! stack.

use stridewise_core::call::unknown;
use stridewise_core::operators::TABLE;
use stridewise_core::table::Entry;

use crate::program::lexer::{Token, Word};
use crate::program::{Argument, Kind, Literal, Mistake, Program, Span, Step, hints};

/// How deep brackets may nest.
const DEPTH: usize = 64;

/// Reads all words as a chain of steps.
pub(crate) fn parse(source: &str, tokens: &[Token]) -> Result<Program, Mistake> {
    let mut parser = Parser {
        source,
        tokens,
        at: 0,
        end: source.trim_end().len(),
    };
    let from = parser.beginning();
    let mut steps = Vec::new();
    while let Some(token) = parser.peek() {
        match &token.word {
            Word::Sign('[') => steps.push(parser.index()?),
            Word::Sign('.') => {
                parser.at += 1;
                steps.push(parser.call()?);
            }
            Word::Name(_) if steps.is_empty() && from.is_none() => steps.push(parser.call()?),
            word => {
                let message = format!("{} stands where a step should begin", word.describe());
                return Err(Mistake::new(token.span.clone(), message)
                    .label("not a step")
                    .help("steps are joined by dots: `flip(0).expand(2, -1)`, or are an index: `[1:3]`"));
            }
        }
    }
    Ok(Program {
        source: source.to_string(),
        from,
        steps,
    })
}

/// A place among the words.
pub(crate) struct Parser<'a> {
    /// The text.
    pub(crate) source: &'a str,
    pub(crate) tokens: &'a [Token],
    /// The word that is next.
    pub(crate) at: usize,
    /// One past the last character that is not blank.
    pub(crate) end: usize,
}

impl<'a> Parser<'a> {
    /// The next word.
    pub(crate) fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn sign(&self, sign: char) -> bool {
        self.peek().is_some_and(|t| t.word == Word::Sign(sign))
    }

    /// Reads a sign if it is next.
    pub(crate) fn eat(&mut self, sign: char) -> Option<Span> {
        let token = self.peek().filter(|t| t.word == Word::Sign(sign))?;
        self.at += 1;
        Some(token.span.clone())
    }

    /// The place just behind the text.
    pub(crate) fn behind(&self) -> Span {
        self.end.saturating_sub(1)..self.end
    }

    /// `$2` or `x` in front of the first step.
    fn beginning(&mut self) -> Option<(usize, Span)> {
        let first = self.peek()?;
        let follows = self.tokens.get(self.at + 1).map(|t| &t.word);
        let n = match &first.word {
            Word::Input(n) => *n,
            Word::Name(name)
                if name == "x"
                    && matches!(follows, None | Some(Word::Sign('.') | Word::Sign('['))) =>
            {
                1
            }
            _ => return None,
        };
        self.at += 1;
        Some((n, first.span.clone()))
    }

    /// `name(arguments)`.
    fn call(&mut self) -> Result<Step, Mistake> {
        let Some(token) = self.peek() else {
            return Err(Mistake::new(self.behind(), "an operator is missing")
                .label("nothing follows this dot"));
        };
        let Word::Name(name) = &token.word else {
            let message = format!(
                "{} stands where an operator's name should be",
                token.word.describe()
            );
            return Err(Mistake::new(token.span.clone(), message).label("not a name"));
        };
        self.at += 1;
        let entry = operator(name, &token.span)?;
        let Some(open) = self.eat('(') else {
            return Err(
                Mistake::new(token.span.clone(), format!("`{name}` is not called"))
                    .label("a bracket with its arguments must follow")
                    .help(format!("write `{name}(…)`"))
                    .signature(entry),
            );
        };
        let (args, close) = self.arguments(&open, ')')?;
        Ok(Step {
            entry,
            span: token.span.start..close.end,
            args,
            names_all: false,
        })
    }

    /// What stands in a bracket, up to its end.
    pub(crate) fn arguments(
        &mut self,
        open: &Span,
        close: char,
    ) -> Result<(Vec<Argument>, Span), Mistake> {
        let mut args: Vec<Argument> = Vec::new();
        loop {
            if let Some(end) = self.eat(close) {
                return Ok((args, end));
            }
            let name = self.keyword();
            let value = self.value(1)?;
            if let (None, Some(named)) = (&name, args.iter().find_map(|arg| arg.name.as_ref())) {
                return Err(Mistake::new(
                    value.span,
                    "an argument by position follows one by name",
                )
                .label("this has no name")
                .beside(named.1.clone(), "this has one"));
            }
            args.push(Argument { name, value });
            self.separator(open, close)?;
        }
    }

    /// `word =`.
    fn keyword(&mut self) -> Option<(String, Span)> {
        let [first, second, ..] = self.tokens.get(self.at..)? else {
            return None;
        };
        match (&first.word, &second.word) {
            (Word::Name(name), Word::Sign('=')) => {
                self.at += 2;
                Some((name.clone(), first.span.clone()))
            }
            _ => None,
        }
    }

    /// A comma, or the closing bracket, which is left to be read.
    fn separator(&mut self, open: &Span, close: char) -> Result<(), Mistake> {
        if self.eat(',').is_some() || self.sign(close) {
            return Ok(());
        }
        let opening = match close {
            ')' => '(',
            _ => '[',
        };
        match self.peek() {
            None => Err(unclosed(open, opening, close)),
            Some(token) => {
                let message = format!("expected `,` or `{close}`, found {}", token.word.describe());
                let mistake = Mistake::new(token.span.clone(), message).label("unexpected");
                let mistake = match &token.word {
                    Word::Sign('(') => {
                        mistake.help("a call cannot stand inside an argument; use $2 for a tensor")
                    }
                    _ => mistake,
                };
                Err(mistake.beside(open.clone(), format!("inside this `{opening}`")))
            }
        }
    }

    /// A value or a slice.
    fn value(&mut self, depth: usize) -> Result<Literal, Mistake> {
        let first = match self.sign(':') {
            true => None,
            false => Some(self.atom(depth)?),
        };
        if !self.sign(':') {
            // Only a colon can stand where no value does.
            return Ok(first.unwrap_or(Literal {
                kind: Kind::None,
                span: self.behind(),
            }));
        }
        let start = first.as_ref().map_or_else(
            || self.peek().map_or(0, |t| t.span.start),
            |value| value.span.start,
        );
        let mut parts = [None; 3];
        if let Some(value) = &first {
            parts[0] = bound(value)?;
        }
        let mut end = start;
        for part in &mut parts[1..] {
            let Some(colon) = self.eat(':') else {
                break;
            };
            end = colon.end;
            let absent = matches!(
                self.peek().map(|t| &t.word),
                None | Some(Word::Sign(':' | ',' | ')' | ']'))
            );
            if !absent {
                let value = self.atom(depth)?;
                end = value.span.end;
                *part = bound(&value)?;
            }
        }
        if let Some(colon) = self.eat(':') {
            return Err(Mistake::new(colon, "a slice has at most three parts")
                .label("one colon too many")
                .help("write start:stop:step"));
        }
        let [from, to, by] = parts;
        Ok(Literal {
            kind: Kind::Range(from, to, by),
            span: start..end,
        })
    }

    fn atom(&mut self, depth: usize) -> Result<Literal, Mistake> {
        let Some(token) = self.peek() else {
            return Err(match self.innermost() {
                Some((open, opening, close)) => unclosed(&open, opening, close),
                None => Mistake::new(self.behind(), "a value is missing").label("after this"),
            });
        };
        let span = token.span.clone();
        let kind = match &token.word {
            Word::Int(_) | Word::Float(_) | Word::Imaginary(_) | Word::Sign('-' | '+') => {
                return self.number();
            }
            Word::Sign(open @ ('[' | '(')) => {
                if depth >= DEPTH {
                    return Err(Mistake::new(
                        span,
                        format!("brackets nest more than {DEPTH} deep"),
                    )
                    .label("one too many"));
                }
                self.at += 1;
                return self.list(&span, if *open == '[' { ']' } else { ')' }, depth + 1);
            }
            Word::Name(name) => match name.as_str() {
                "None" => Kind::None,
                "True" | "true" => Kind::Bool(true),
                "False" | "false" => Kind::Bool(false),
                "inf" | "nan" => return self.number(),
                _ => Kind::Text(name.clone()),
            },
            Word::Text(text) => Kind::Text(text.clone()),
            Word::Input(n) => Kind::Input(*n),
            Word::Rest => Kind::Rest,
            word => {
                let message = format!("{} stands where a value should be", word.describe());
                return Err(Mistake::new(span, message).label("not a value"));
            }
        };
        self.at += 1;
        Ok(Literal { kind, span })
    }

    /// The innermost bracket that is open at the end of the text.
    fn innermost(&self) -> Option<(Span, char, char)> {
        let mut open = Vec::new();
        for token in self.tokens {
            match token.word {
                Word::Sign('(') => open.push((token.span.clone(), '(', ')')),
                Word::Sign('[') => open.push((token.span.clone(), '[', ']')),
                Word::Sign(')' | ']') => drop(open.pop()),
                _ => {}
            }
        }
        open.pop()
    }

    fn list(&mut self, open: &Span, close: char, depth: usize) -> Result<Literal, Mistake> {
        let mut items = Vec::new();
        loop {
            if let Some(end) = self.eat(close) {
                return Ok(Literal {
                    kind: Kind::List(items),
                    span: open.start..end.end,
                });
            }
            items.push(self.value(depth)?);
            self.separator(open, close)?;
        }
    }
}

fn unclosed(open: &Span, opening: char, close: char) -> Mistake {
    Mistake::new(open.clone(), format!("`{opening}` is never closed"))
        .label("opened here")
        .help(format!("add `{close}`"))
}

/// A part of a slice. Ends far outside any axis are cut to what a machine can count.
fn bound(value: &Literal) -> Result<Option<isize>, Mistake> {
    match value.kind {
        Kind::None => Ok(None),
        Kind::Int(n) => Ok(Some(
            n.clamp(isize::MIN as i128, isize::MAX as i128) as isize
        )),
        _ => Err(
            Mistake::new(value.span.clone(), "the parts of a slice are whole numbers")
                .label("not a whole number"),
        ),
    }
}

/// The operator of that name.
pub(crate) fn operator(name: &str, span: &Span) -> Result<&'static Entry, Mistake> {
    TABLE
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| {
            let error = unknown(name);
            let report = error.report();
            let fix = hints::operator(name).or_else(|| report.fix().map(str::to_string));
            let tour = || "`stridewise tour` walks through all of them".to_string();
            Mistake::new(span.clone(), report.message())
                .label("no such operator")
                .help(fix.unwrap_or_else(tour))
        })
}
