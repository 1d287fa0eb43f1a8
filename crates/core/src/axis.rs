//! Where an axis of a view's result comes from. An axis map is a value: it can be printed, composed,
//! differentiated and sharded, and every view operator is nothing but such a map.

use std::ops::Range;

use crate::size::{Size, Truth, clip};

/// The origin of one output axis. An input axis that no output axis mentions must have size 1; it is dropped.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis<S> {
    /// The input's axis, whole.
    Of(usize),
    /// A new axis: every index reads the same cells (stride 0).
    Fresh(S),
    /// Every `step`-th index of an input axis, `len` of them, from `start` on.
    Slice {
        /// The input axis.
        of: usize,
        /// The first index read.
        start: S,
        /// How many are read.
        len: S,
        /// The distance between two of them; negative to walk backwards.
        step: isize,
    },
    /// One factor of an input axis: index `i` stands for `i · inner` of it.
    Split {
        /// The input axis.
        of: usize,
        /// The size of this factor.
        len: S,
        /// The product of the factors behind it.
        inner: S,
    },
    /// The input's axis where it has this size, a repeated one where it has size 1: which of the two is not
    /// known yet.
    Stretch {
        /// The input axis.
        of: usize,
        /// The size it is read as.
        len: S,
    },
    /// Python's `[start:stop:step]` of an input axis whose size is not known yet.
    Range {
        /// The input axis.
        of: usize,
        /// The first index; absent: the near end.
        start: Option<isize>,
        /// The first index left out; absent: the far end.
        stop: Option<isize>,
        /// The distance; not 0.
        step: isize,
    },
    /// A run of input axes read as one, the last one fastest. An engine whose memory does not allow it
    /// makes one packed copy first.
    Merge(Range<usize>),
}

impl<S> Axis<S> {
    /// The same with other sizes.
    pub fn try_map<T, F>(&self, size: impl Fn(&S) -> Result<T, F>) -> Result<Axis<T>, F> {
        Ok(match self {
            Axis::Of(of) => Axis::Of(*of),
            Axis::Fresh(len) => Axis::Fresh(size(len)?),
            Axis::Slice {
                of,
                start,
                len,
                step,
            } => Axis::Slice {
                of: *of,
                start: size(start)?,
                len: size(len)?,
                step: *step,
            },
            Axis::Split { of, len, inner } => Axis::Split {
                of: *of,
                len: size(len)?,
                inner: size(inner)?,
            },
            Axis::Stretch { of, len } => Axis::Stretch {
                of: *of,
                len: size(len)?,
            },
            &Axis::Range {
                of,
                start,
                stop,
                step,
            } => Axis::Range {
                of,
                start,
                stop,
                step,
            },
            Axis::Merge(run) => Axis::Merge(run.clone()),
        })
    }
}

impl<S: Size> Axis<S> {
    /// The same where all is known now: a stretch is one thing or the other, and a range has its ends.
    pub fn settled(self, size: impl Fn(usize) -> S) -> Axis<S> {
        match self {
            Axis::Stretch { of, len } if size(of).same(&len) == Truth::Yes => Axis::Of(of),
            Axis::Stretch { of, len } if size(of).is(1) == Truth::Yes => Axis::Fresh(len),
            Axis::Range {
                of,
                start,
                stop,
                step,
            } => match size(of).known() {
                Some(size) => {
                    let (start, len) = clip(size, start, stop, step);
                    Axis::Slice {
                        of,
                        start: start.into(),
                        len: len.into(),
                        step,
                    }
                }
                None => self,
            },
            other => other,
        }
    }
}
