//! Numbers with their signs, real and complex.

use crate::program::lexer::Word;
use crate::program::parser::Parser;
use crate::program::{Kind, Literal, Mistake};

impl Parser<'_> {
    /// A number with its signs: `-3`, `1e-3`, `-inf`, `1+2j`.
    pub(crate) fn number(&mut self) -> Result<Literal, Mistake> {
        let start = self.peek().map_or(self.end, |t| t.span.start);
        let (mut kind, mut end) = self.signed()?;
        let more = self.tokens.get(self.at..).and_then(|rest| match rest {
            [sign, part, ..] => Some((&sign.word, &part.word)),
            _ => None,
        });
        if let Some((Word::Sign('+' | '-'), Word::Imaginary(_))) = more {
            let real = match kind {
                Kind::Int(n) => n as f64,
                Kind::Float(x) => x,
                _ => {
                    return Err(Mistake::new(start..end, "a real part is missing")
                        .label("this is imaginary already"));
                }
            };
            let (imaginary, last) = self.signed()?;
            if let Kind::Complex(_, im) = imaginary {
                kind = Kind::Complex(real, im);
            }
            end = last;
        }
        Ok(Literal {
            kind,
            span: start..end,
        })
    }

    fn signed(&mut self) -> Result<(Kind, usize), Mistake> {
        let mut negative = false;
        let mut last = self.behind();
        while let Some(token) = self.peek() {
            match token.word {
                Word::Sign('-') => negative = !negative,
                Word::Sign('+') => {}
                _ => break,
            }
            last = token.span.clone();
            self.at += 1;
        }
        let Some(token) = self.peek() else {
            return Err(Mistake::new(last, "a number is missing").label("after this sign"));
        };
        let turn = |x: f64| if negative { -x } else { x };
        let kind = match &token.word {
            Word::Int(n) => Kind::Int(if negative { -n } else { *n }),
            Word::Float(x) => Kind::Float(turn(*x)),
            Word::Imaginary(x) => Kind::Complex(0.0, turn(*x)),
            Word::Name(name) if name == "inf" => Kind::Float(turn(f64::INFINITY)),
            Word::Name(name) if name == "nan" => Kind::Float(f64::NAN),
            word => {
                let message = format!("{} stands where a number should be", word.describe());
                return Err(Mistake::new(token.span.clone(), message).label("not a number"));
            }
        };
        self.at += 1;
        Ok((kind, token.span.end))
    }
}
