//! How a result comes about: whether it is a view, a copy or new. The commands decide it here and nowhere
//! else, by comparing storage.

use stridewise::Tensor;
use stridewise_dry::Sketch;

use crate::terminal::Paint;

/// How a result comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It is given.
    Input,
    /// It shares its storage with a tensor that was there before.
    View,
    /// It has storage of its own.
    Copy,
    /// It is made from nothing.
    New,
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

    /// One word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            How::Input => "input",
            How::View => "view",
            How::Copy => "copy",
            How::New => "new",
        }
    }

    /// The word in its colour, in at least `width` columns.
    pub(crate) fn shown(self, paint: Paint, width: usize) -> String {
        let word = format!("{:<width$}", self.word());
        match self {
            How::Input => paint.dim(&word),
            How::View => paint.green(&word),
            How::Copy | How::New => paint.yellow(&word),
        }
    }
}
