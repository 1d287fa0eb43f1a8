//! How a result comes about: whether it is a view, a copy or new. The commands decide it here and nowhere
//! else, by comparing storage, or, where there is none, by the operator table.

use stridewise::Tensor;
use stridewise_core::table::Kind;
use stridewise_dry::Sketch;

use crate::terminal::{Paint, count};

/// How a result comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It is given.
    Input,
    /// It shares its storage with a tensor that was there before.
    View,
    /// It may have storage of its own: that depends on strides.
    ViewOrCopy,
    /// It has storage of its own.
    Copy,
    /// It is made from nothing.
    New,
    /// It was made before, and is handed out.
    Output,
}

/// A tensor whose storage can be compared with another's.
pub(crate) trait Stored {
    /// Whether both are views of one storage.
    fn shares(&self, other: &Self) -> bool;
}

impl Stored for Tensor {
    fn shares(&self, other: &Tensor) -> bool {
        self.shares_storage_with(other)
    }
}

impl Stored for Sketch {
    fn shares(&self, other: &Sketch) -> bool {
        self.shares_storage_with(other)
    }
}

impl From<Kind> for How {
    fn from(kind: Kind) -> How {
        match kind {
            Kind::View => How::View,
            Kind::ViewOrCopy => How::ViewOrCopy,
            Kind::Copy => How::Copy,
            Kind::Make => How::New,
        }
    }
}

impl How {
    /// How results come about from the tensors that were there before.
    pub(crate) fn of<V: Stored>(results: &[V], before: &[&V], from_nothing: bool) -> How {
        let seen = |x: &V| before.iter().any(|y| x.shares(y));
        match results.iter().all(seen) {
            _ if from_nothing => How::New,
            true => How::View,
            false => How::Copy,
        }
    }

    /// How the results of several operators come about together: by a copy if any of them copies.
    pub(crate) fn together(kinds: impl Iterator<Item = Kind>) -> How {
        let all: Vec<How> = kinds.map(How::from).collect();
        let found = [How::Copy, How::ViewOrCopy, How::View, How::New]
            .into_iter()
            .find(|how| all.contains(how));
        // What nothing was done to is what it was.
        found.unwrap_or(How::View)
    }

    /// How many there are of each, in words.
    pub(crate) fn counted(all: impl Iterator<Item = How>) -> String {
        let all: Vec<How> = all.collect();
        let of = |how: How| all.iter().filter(|one| **one == how).count();
        let parts: Vec<String> = [
            (How::New, "new tensor"),
            (How::View, "view"),
            (How::ViewOrCopy, "view or copy"),
            (How::Copy, "copy"),
        ]
        .into_iter()
        .filter(|(how, _)| of(*how) > 0)
        .map(|(how, words)| match (of(how), how) {
            (n @ 2.., How::ViewOrCopy) => format!("{n} views or copies"),
            (n, _) => count(n, words),
        })
        .collect();
        match parts.is_empty() {
            true => "no steps".to_string(),
            false => parts.join(", "),
        }
    }

    /// One word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            How::Input => "input",
            How::View => "view",
            How::ViewOrCopy => "view or copy",
            How::Copy => "copy",
            How::New => "new",
            How::Output => "output",
        }
    }

    /// The word in its colour, in at least `width` columns.
    pub(crate) fn shown(self, paint: Paint, width: usize) -> String {
        let word = format!("{:<width$}", self.word());
        match self {
            How::Input | How::Output => paint.dim(&word),
            How::View => paint.green(&word),
            How::ViewOrCopy | How::Copy | How::New => paint.yellow(&word),
        }
    }
}
