//! A mistake in a program, and how it is shown: the text with a mark under the very place, and the
//! operator's signature below.

use ariadne::{CharSet, Config, IndexType, Label, Report, ReportKind, Source};
use stridewise_core::error::Error;
use stridewise_core::table::Entry;

use crate::program::Span;
use crate::terminal::{Paint, lines};

/// A mistake at a place of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mistake {
    /// What is wrong, in one sentence.
    pub(crate) message: String,
    /// Everything else.
    pub(crate) details: Box<Details>,
}

/// What is known about a mistake.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Details {
    /// The place to blame first, then others that matter, each with a few words.
    pub(crate) labels: Vec<(Span, String)>,
    /// Lines of context: shapes and the like.
    pub(crate) notes: Vec<String>,
    /// How to mend it.
    pub(crate) help: Option<String>,
    /// The operator's call, as its documentation has it.
    pub(crate) signature: Option<String>,
    /// The operator's error that it tells of.
    pub(crate) error: Option<Error>,
    /// Whether the machine and not the program is to blame, as when memory runs out.
    pub(crate) machine: bool,
}

impl Mistake {
    /// A mistake at a place.
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Mistake {
        Mistake {
            message: message.into(),
            details: Box::new(Details {
                labels: vec![(span, "here".to_string())],
                ..Details::default()
            }),
        }
    }

    /// The few words beside the mark.
    pub(crate) fn label(mut self, text: impl Into<String>) -> Mistake {
        if let Some(first) = self.details.labels.first_mut() {
            first.1 = text.into();
        }
        self
    }

    /// Another place that matters.
    pub(crate) fn beside(mut self, span: Span, text: impl Into<String>) -> Mistake {
        self.details.labels.push((span, text.into()));
        self
    }

    /// How to mend it.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Mistake {
        self.details.help = Some(text.into());
        self
    }

    /// The call as it should be.
    pub(crate) fn signature(mut self, entry: &Entry) -> Mistake {
        self.details.signature = Some(entry.signature());
        self
    }

    /// The mistake under the text of its program.
    pub(crate) fn show(&self, source: &str, paint: Paint) -> String {
        let config = Config::new()
            .with_color(paint.is_on())
            .with_char_set(CharSet::Unicode)
            .with_index_type(IndexType::Byte);
        let place = |span: &Span| ("program", within(source, span));
        let first = self
            .details
            .labels
            .first()
            .map_or(0..0, |(span, _)| span.clone());
        let mut report = Report::build(ReportKind::Error, place(&first))
            .with_config(config)
            .with_message(lines(&self.message, paint.width() - 9).join("\n       "));
        for (order, (span, text)) in self.details.labels.iter().enumerate() {
            let tone = match order {
                0 => ariadne::Color::Red,
                _ => ariadne::Color::Yellow,
            };
            report.add_label(
                Label::new(place(span))
                    .with_message(text)
                    .with_color(tone)
                    .with_order(order as i32),
            );
        }
        if let Some(help) = &self.details.help {
            report.add_help(lines(help, paint.width() - 13).join("\n"));
        }
        let call = self
            .details
            .signature
            .as_ref()
            .map(|call| format!("call: {call}"));
        let notes: Vec<String> = self.details.notes.iter().cloned().chain(call).collect();
        if !notes.is_empty() {
            report.add_note(notes.join("\n"));
        }
        let mut shown = Vec::new();
        let cache = ("program", Source::from(source));
        if report.finish().write(cache, &mut shown).is_err() {
            return self.message.clone();
        }
        let shown = String::from_utf8_lossy(&shown);
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        lines.join("\n")
    }
}

/// A place that lies in the text, on the borders of its characters, and is not empty where that is possible.
fn within(source: &str, span: &Span) -> Span {
    let mut start = span.start.min(source.len());
    while !source.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = span.end.clamp(start, source.len());
    while !source.is_char_boundary(end) {
        end += 1;
    }
    start..end
}
