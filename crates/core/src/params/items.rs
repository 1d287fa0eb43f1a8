//! What stands between the brackets of `x[...]`.

use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

use smallvec::SmallVec;

/// One item of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// One index of an axis, which is dropped.
    At(isize),
    /// `start:stop:step`, with Python's meaning of absent and negative parts.
    Range {
        /// The first index; absent: the near end.
        start: Option<isize>,
        /// The first index left out; absent: the far end.
        stop: Option<isize>,
        /// The distance; never 0 in a legal call.
        step: isize,
    },
    /// `None`: a new axis of size 1.
    NewAxis,
    /// `...`: as many whole axes as are left.
    Rest,
}

/// `None` of Python's index: a new axis of size 1.
#[derive(Clone, Copy, Debug)]
pub struct NewAxis;

/// The items of an index, in order; axes not mentioned are kept whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Items(pub SmallVec<[Item; 8]>);

/// Writes an index the way Python does: `index![0, 1.., .., NewAxis]`. A bare `..` is a whole axis; for the
/// ellipsis write `Item::Rest`, for a step [`Item::step`].
#[macro_export]
macro_rules! index {
    ($($item:expr),* $(,)?) => {
        $crate::params::Items($crate::smallvec::smallvec![$($crate::params::Item::from($item)),*])
    };
}

impl Item {
    /// The same range with another step: `Item::from(..).step(-1)` reverses an axis.
    pub fn step(self, by: isize) -> Item {
        match self {
            Item::Range { start, stop, .. } => Item::Range {
                start,
                stop,
                step: by,
            },
            other => other,
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::At(i) => i.fmt(f),
            Item::Range { start, stop, step } => {
                let part = |p: &Option<isize>| p.map_or(String::new(), |n| n.to_string());
                write!(f, "{}:{}", part(start), part(stop))?;
                if *step == 1 {
                    Ok(())
                } else {
                    write!(f, ":{step}")
                }
            }
            Item::NewAxis => f.write_str("None"),
            Item::Rest => f.write_str("..."),
        }
    }
}

impl fmt::Display for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<String> = self.0.iter().map(Item::to_string).collect();
        write!(f, "[{}]", items.join(", "))
    }
}

impl From<NewAxis> for Item {
    fn from(_: NewAxis) -> Item {
        Item::NewAxis
    }
}

impl From<RangeFull> for Item {
    fn from(_: RangeFull) -> Item {
        Item::Range {
            start: None,
            stop: None,
            step: 1,
        }
    }
}

macro_rules! from_integers {
    ($($int:ty)*) => {$(
        impl From<$int> for Item {
            fn from(i: $int) -> Item {
                Item::At(end(i))
            }
        }

        impl From<Range<$int>> for Item {
            fn from(r: Range<$int>) -> Item {
                Item::Range { start: Some(end(r.start)), stop: Some(end(r.end)), step: 1 }
            }
        }

        impl From<RangeFrom<$int>> for Item {
            fn from(r: RangeFrom<$int>) -> Item {
                Item::Range { start: Some(end(r.start)), stop: None, step: 1 }
            }
        }

        impl From<RangeTo<$int>> for Item {
            fn from(r: RangeTo<$int>) -> Item {
                Item::Range { start: None, stop: Some(end(r.end)), step: 1 }
            }
        }
    )*};
}

from_integers! { isize usize i32 i64 }

/// An end of a range; past isize there is only more of the same.
fn end(n: impl TryInto<isize>) -> isize {
    n.try_into().unwrap_or(isize::MAX)
}

impl<const N: usize> From<[Item; N]> for Items {
    fn from(items: [Item; N]) -> Items {
        Items(items.into_iter().collect())
    }
}

impl From<Vec<Item>> for Items {
    fn from(items: Vec<Item>) -> Items {
        Items(items.into())
    }
}
