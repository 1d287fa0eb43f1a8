//! `stridewise tour`: a walk through every operator, chapter by chapter, with examples that are run as they
//! are shown.

#[cfg(feature = "gpu")]
mod gpu;
mod ranks;
mod scenes;
mod script;

use std::io::Write;

use clap::Args;
use stridewise::{Cpu, Tensor};
use stridewise_core::error::Error;
use stridewise_core::operators::TABLE;
use stridewise_core::size::tuple;

use crate::failure::Failure;
use crate::how::How;
use crate::program::{Flow, Mistake, Program, start, step};
use crate::terminal::{Paint, lines};
use script::{CHAPTERS, Chapter, Source, Stop};

/// Walk through every operator with small examples.
///
/// Each example is run and shows the shapes, the strides, whether the result is a view, a copy or new (found
/// by comparing storage), and small results.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  stridewise tour
  stridewise tour take       only the chapter where take is")]
pub(crate) struct Options {
    /// Only the chapter with this operator, or with this word in its title.
    name: Option<String>,
}

/// Results of at most so many elements, and axes, are printed; inputs of half as many.
const SMALL: usize = 24;
const FLAT: usize = 3;

/// Walks through the chapters.
pub(crate) fn tour(options: &Options, out: &mut dyn Write) -> Result<(), Failure> {
    walk(options, Paint::stdout(), out)
}

fn walk(options: &Options, paint: Paint, out: &mut dyn Write) -> Result<(), Failure> {
    let chosen: Vec<(usize, &Chapter)> = CHAPTERS
        .iter()
        .enumerate()
        .filter(|(_, chapter)| options.name.as_ref().is_none_or(|name| has(chapter, name)))
        .collect();
    if chosen.is_empty() {
        let titles: Vec<&str> = CHAPTERS.iter().map(|chapter| chapter.title).collect();
        return Err(Failure::Usage(format!(
            "no chapter has that operator or title\n  chapters: {}",
            titles.join(", ")
        )));
    }
    let mut walk = Walk {
        paint,
        inputs: Vec::new(),
        told: false,
        out,
    };
    for (at, (number, chapter)) in chosen.into_iter().enumerate() {
        if at > 0 {
            walk.line("")?;
        }
        walk.chapter(number + 1, chapter)?;
    }
    Ok(())
}

fn has(chapter: &Chapter, name: &str) -> bool {
    let meets = |stop: &Stop| matches!(stop, Stop::Meet(operator) if *operator == name);
    let title = chapter.title.to_lowercase();
    title
        .split_whitespace()
        .any(|word| word == name.to_lowercase())
        || chapter.stops.iter().any(meets)
}

/// A walk under way.
pub(crate) struct Walk<'a> {
    /// Colours.
    pub(crate) paint: Paint,
    /// What `x`, `$2`, … are at the moment.
    inputs: Vec<Tensor>,
    /// Whether a paragraph has just ended.
    told: bool,
    out: &'a mut dyn Write,
}

impl Walk<'_> {
    /// A line as it is.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        Ok(writeln!(self.out, "{}", text.trim_end())?)
    }

    /// A paragraph.
    pub(crate) fn say(&mut self, text: &str) -> Result<(), Failure> {
        for line in lines(text, self.paint.width() - 4) {
            self.line(&format!("  {line}"))?;
        }
        self.told = true;
        Ok(())
    }

    fn chapter(&mut self, number: usize, chapter: &Chapter) -> Result<(), Failure> {
        let title = format!("{number}. {}", chapter.title);
        let rule = "━".repeat(self.paint.width() - title.chars().count() - 1);
        self.line(&format!(
            "{} {}",
            self.paint.bold(&title),
            self.paint.dim(&rule)
        ))?;
        self.line("")?;
        self.say(chapter.opening)?;
        for stop in chapter.stops {
            match stop {
                Stop::Meet(name) => self.meet(name)?,
                Stop::Say(text) => {
                    self.line("")?;
                    self.say(text)?;
                }
                Stop::Given(sources) => self.given(sources)?,
                Stop::Call(program) => self.call(program)?,
                Stop::Wrong(program) => self.wrong(program)?,
                Stop::Scene(scene) => {
                    self.line("")?;
                    scene(self)?;
                }
            }
        }
        Ok(())
    }

    fn meet(&mut self, name: &str) -> Result<(), Failure> {
        self.inputs.clear();
        let Some(entry) = TABLE.iter().find(|entry| entry.name == name) else {
            return Err(Failure::Other(format!("there is no operator `{name}`")));
        };
        self.line("")?;
        let signature = entry.signature();
        let arguments = signature.strip_prefix(name).unwrap_or_default();
        self.line(&format!(
            "{}{}",
            self.paint.bold(name),
            self.paint.dim(arguments)
        ))?;
        self.say(entry.summary)
    }

    /// Prints the tensors that the next calls are on.
    fn given(&mut self, sources: &[Source]) -> Result<(), Failure> {
        self.inputs = sources.iter().map(tensor).collect::<Result<_, _>>()?;
        self.line("")?;
        self.told = false;
        for (at, x) in self.inputs.clone().iter().enumerate() {
            let name = match at {
                0 => "x".to_string(),
                n => format!("${}", n + 1),
            };
            let head = format!("    {name} is {} {}", x.dtype(), tuple(x.shape()));
            self.line(&format!("{head}, strides {}", tuple(x.strides())))?;
            self.values(x, SMALL / 2)?;
        }
        Ok(())
    }

    /// Prints a tensor if it is small.
    fn values(&mut self, x: &Tensor, most: usize) -> Result<(), Failure> {
        if x.count() == 0 || x.count() > most || x.rank() > FLAT {
            return Ok(());
        }
        for line in x.to_string().lines() {
            self.line(&format!("        {}", self.paint.dim(line)))?;
        }
        Ok(())
    }

    /// The call as Python would have it.
    fn written(program: &str, from_nothing: bool) -> String {
        match (from_nothing, program.starts_with('[')) {
            (true, _) => program.to_string(),
            (false, true) => format!("x{program}"),
            (false, false) => format!("x.{program}"),
        }
    }

    fn call(&mut self, source: &str) -> Result<(), Failure> {
        let wrong = Failure::within(source);
        let program = Program::parse(source).map_err(&wrong)?;
        if std::mem::take(&mut self.told) {
            self.line("")?;
        }
        let text = Walk::written(source, program.begins_from_nothing());
        self.line(&format!("    {}", self.paint.cyan(&text)))?;
        let (flow, dims) = evaluate(&program, &self.inputs).map_err(&wrong)?;
        if let Some(dims) = dims {
            self.line(&format!("      dims {dims}"))?;
        }
        let tensors = flow.as_ref().map_or(&[][..], Flow::tensors);
        for x in tensors {
            let inputs: Vec<&Tensor> = self.inputs.iter().collect();
            let one = std::slice::from_ref(x);
            let how = How::of(one, &inputs, program.begins_from_nothing());
            self.line(&format!(
                "      {} strides {}  {}",
                tuple(x.shape()),
                tuple(x.strides()),
                how.shown(self.paint, 0)
            ))?;
            self.values(x, SMALL)?;
        }
        Ok(())
    }

    /// A call that fails on purpose.
    fn wrong(&mut self, source: &str) -> Result<(), Failure> {
        let mistake = Program::parse(source).and_then(|program| evaluate(&program, &self.inputs));
        let shown = match mistake {
            Err(mistake) => mistake.show(source, self.paint),
            Ok(_) => return Err(Failure::Other(format!("`{source}` did not fail"))),
        };
        self.told = false;
        self.line("")?;
        for line in shown.lines() {
            self.line(&format!("  {line}"))?;
        }
        Ok(())
    }
}

type Evaluated = (Option<Flow<Tensor>>, Option<String>);

fn evaluate(program: &Program, inputs: &[Tensor]) -> Result<Evaluated, Mistake> {
    let mut flow = start(program, inputs)?;
    let mut dims = None;
    for one in &program.steps {
        let done = step(&Cpu, one, flow.as_ref(), inputs)?;
        dims = done.dims.map(|dims| dims.to_string()).or(dims);
        flow = Some(done.flow);
    }
    Ok((flow, dims))
}

/// The tensor an example is given.
fn tensor(source: &Source) -> Result<Tensor, Failure> {
    let made = |result: Result<Tensor, Error>| result.map_err(Failure::from);
    match source {
        Source::Number(x) => made(Tensor::scalar(*x)),
        Source::Ints(values, shape) => made(Tensor::from_vec(values.to_vec(), shape)),
        Source::Made(text) => {
            let wrong = Failure::within(text);
            let program = Program::parse(text).map_err(&wrong)?;
            let (flow, _) = evaluate(&program, &[]).map_err(&wrong)?;
            match flow {
                Some(Flow::One(x)) => Ok(x),
                _ => Err(Failure::Other(format!("`{text}` makes no tensor"))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_is_met_and_called() {
        for entry in TABLE {
            let called = CHAPTERS.iter().any(|chapter| {
                let met = |stop: &Stop| matches!(stop, Stop::Meet(name) if *name == entry.name);
                let Some(at) = chapter.stops.iter().position(met) else {
                    return false;
                };
                let until_next = chapter.stops[at + 1..]
                    .iter()
                    .take_while(|stop| !matches!(stop, Stop::Meet(_)));
                until_next.clone().any(|stop| match stop {
                    Stop::Call(source) => Program::parse(source)
                        .unwrap()
                        .steps
                        .iter()
                        .any(|step| step.entry.name == entry.name),
                    _ => false,
                })
            });
            assert!(called, "the tour does not visit {}", entry.name);
        }
    }

    #[test]
    fn the_tour_fits_eighty_columns() {
        let mut out = Vec::new();
        walk(&Options { name: None }, Paint::plain(), &mut out).unwrap();
        for line in String::from_utf8(out).unwrap().lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
