//! Where an axis of a view's result comes from. An axis map is a value: it can be printed, composed,
//! differentiated and sharded, and every view operator is nothing but such a map.

use std::ops::Range;

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
    /// A run of input axes read as one, the last one fastest. An engine whose memory does not allow it
    /// makes one packed copy first.
    Merge(Range<usize>),
}
