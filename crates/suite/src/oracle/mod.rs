//! What every operator must answer, worked out element by element from its definition (NumPy's where it has
//! the operator, PyTorch's otherwise), with none of the code that engines run. The oracle also says which
//! calls are errors, and of which families: a call with several faults may be answered with any of them.

mod arguments;
mod axes;
mod copies;
mod elements;
mod gather;
mod pattern;
mod sizes;

use stridewise_core::call::Arg;

use crate::call::{Argument, Call};
use crate::input::Input;
use crate::reference::Reference;
use crate::runner::{Entry, Family};

/// The right answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A tensor.
    One(Reference),
    /// Several.
    Many(Vec<Reference>),
    /// A tensor, and the sizes found.
    Checked(Reference, Vec<Entry>),
}

impl Answer {
    /// The tensors in it.
    pub fn tensors(&self) -> &[Reference] {
        match self {
            Answer::One(x) | Answer::Checked(x, _) => std::slice::from_ref(x),
            Answer::Many(xs) => xs,
        }
    }
}

/// The right answer, or the families of error that may be given instead.
pub type Judgement = Result<Answer, Vec<Family>>;

/// A call to be judged. Tensors that operators work on stand first and by position, all else has its name.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The call.
    pub call: &'a Call,
    /// Whether the engine knows the elements of tensors; if not, no index is out of range, and sizes cannot
    /// be read from tensors.
    pub data: bool,
}

/// The oracle's rule for an operator.
pub type Rule = fn(Question) -> Judgement;

/// The rule for the operator of that name, if the oracle has one.
pub fn rule(operator: &str) -> Option<Rule> {
    Some(match operator {
        "atleast_1d" => |q| axes::atleast(q, 1),
        "atleast_2d" => |q| axes::atleast(q, 2),
        "atleast_3d" => |q| axes::atleast(q, 3),
        "atleast_nd" => axes::atleast_nd,
        "squeeze" => axes::squeeze,
        "unsqueeze" => axes::unsqueeze,
        "permute" => axes::permute,
        "transpose" => axes::transpose,
        "swapaxes" => axes::swapaxes,
        "moveaxis" => axes::moveaxis,
        "flip" => axes::flip,
        "slice" => axes::slice,
        "unstack" => axes::unstack,
        "expand" => sizes::expand,
        "expand_as" => sizes::expand_as,
        "broadcast_to" => sizes::broadcast_to,
        "unflatten" => sizes::unflatten,
        "flatten" => sizes::flatten,
        "reshape" => sizes::reshape,
        "view" => sizes::view,
        "repeat" => copies::repeat,
        "tile" => copies::tile,
        "repeat_interleave" => copies::repeat_interleave,
        "concat" => copies::concat,
        "stack" => copies::stack,
        "take" => gather::take,
        "index_select" => gather::index_select,
        "take_along_axis" => gather::take_along_axis,
        "index_add" => gather::index_add,
        "enforce_shape" => pattern::enforce_shape,
        "contiguous" => elements::contiguous,
        "cast" => elements::cast,
        "sum" => elements::sum,
        "shape_of" => elements::shape_of,
        "zeros" => |q| elements::constant(q, 0),
        "ones" => |q| elements::constant(q, 1),
        "full" => elements::full,
        "arange" => elements::arange,
        _ => return None,
    })
}

/// Judges a call.
pub fn judge(call: &Call, data: bool) -> Judgement {
    let rule = rule(call.operator)
        .unwrap_or_else(|| panic!("the oracle has no rule for `{}`", call.operator));
    rule(Question { call, data })
}

pub use sizes::is_affine;

impl<'a> Question<'a> {
    /// The tensor the operator is called on.
    fn receiver(self) -> &'a Input {
        match self.call.positional.first() {
            Some(Arg::Tensor(input)) => input,
            other => panic!("a tensor comes first, not {other:?}"),
        }
    }

    /// The tensors the operator is called on.
    fn receivers(self) -> Vec<&'a Input> {
        let tensor = |arg: &'a Argument| match arg {
            Arg::Tensor(input) => input,
            other => panic!("tensors come first, not {other:?}"),
        };
        match self.call.positional.first() {
            Some(Arg::List(items)) => items.iter().map(tensor).collect(),
            other => panic!("a list of tensors comes first, not {other:?}"),
        }
    }
}

/// The faults of a call, all of them.
#[derive(Debug, Default)]
struct Faults(Vec<Family>);

impl Faults {
    /// Keeps what was found, or notes what was wrong.
    fn keep<T>(&mut self, found: Result<T, Family>) -> Option<T> {
        found.map_err(|family| self.0.push(family)).ok()
    }

    /// Notes a fault unless `fine`.
    fn unless(&mut self, fine: bool, family: Family) {
        if !fine {
            self.0.push(family);
        }
    }

    /// Goes on only without faults.
    fn end(self) -> Result<(), Vec<Family>> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.0)
        }
    }
}

/// Whether a machine can address all bytes of a shape; sizes of 0 do not make a shape any smaller.
fn addressable(shape: &[usize], width: usize) -> bool {
    let mut bytes = width as u128;
    for &size in shape.iter().filter(|&&size| size > 0) {
        bytes = bytes.saturating_mul(size as u128);
    }
    bytes <= isize::MAX as u128
}
