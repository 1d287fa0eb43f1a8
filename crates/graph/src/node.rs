//! What a graph is made of: values, and the nodes that make them. A node is an operator kept whole, as the call
//! that makes it, or a primitive that somebody called by itself, as gradients do.

use stridewise_core::axis::Axis;
use stridewise_core::call::Parameters;
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Condition};
use stridewise_core::error::Error;
use stridewise_core::operators::TABLE;
use stridewise_core::params::{Mode, Scalar, Symbol};
use stridewise_core::table::Kind;
use stridewise_cpu::Tensor;

use crate::elements::Elements;

/// The number of a value in its graph.
pub(crate) type Id = usize;

/// What is known of a value before any run.
#[derive(Clone, Debug)]
pub(crate) struct Info {
    pub(crate) dtype: DType,
    pub(crate) shape: Outline,
    /// Its elements, where it is a small tensor of sizes.
    pub(crate) elements: Option<Elements>,
}

/// A value that is given to every run.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) id: Id,
}

/// What makes values.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) body: Body,
    pub(crate) outputs: Vec<Id>,
    /// The name its caller gave it.
    pub(crate) name: Option<String>,
    /// The line of the program that called it.
    pub(crate) source: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    Call(Call),
    Primitive(Primitive),
    /// A check that somebody asked for by itself, and the error where it fails. It makes nothing.
    Require {
        condition: Condition<Dim>,
        error: Box<Error>,
    },
}

/// An operator of the table, whole.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its line of the table.
    pub(crate) place: usize,
    pub(crate) tensors: Vec<Id>,
    pub(crate) parameters: Parameters<Dim>,
    /// What it comes down to with symbolic sizes; `None` where too little is known.
    pub(crate) lowered: Option<Lowered>,
}

/// An operator as primitives.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub(crate) steps: Vec<(Primitive, Id)>,
    /// The values of the steps, or of the graph, that are the node's outputs.
    pub(crate) results: Vec<Id>,
}

#[derive(Clone, Debug)]
pub(crate) enum Primitive {
    Constant(Tensor),
    Full {
        dtype: DType,
        value: Scalar,
        sizes: Vec<Dim>,
    },
    Range {
        dtype: DType,
        start: Scalar,
        step: Scalar,
        len: Dim,
    },
    Sizes(Vec<Dim>),
    SizesOf(Id),
    Runs(Vec<Dim>),
    /// The same tensor, of which more is known.
    Same(Id),
    View {
        x: Id,
        axes: Vec<Axis<Dim>>,
    },
    Copy(Id),
    Gather {
        source: Id,
        index: Id,
        along: Along,
        mode: Mode,
    },
    ScatterAdd {
        base: Id,
        index: Id,
        updates: Id,
        along: Along,
        mode: Mode,
    },
    Sum {
        x: Id,
        axes: Vec<usize>,
        dtype: DType,
    },
    Concat {
        xs: Vec<Id>,
        axis: usize,
    },
    Cast {
        x: Id,
        dtype: DType,
    },
    Add(Id, Id),
}

/// What must hold in a run, and where that was asked.
#[derive(Clone, Debug)]
pub struct Guard {
    pub(crate) check: Check,
    /// The place of the node that asks.
    pub(crate) node: usize,
    /// The operator that asks.
    pub operator: &'static str,
    /// The name its caller gave it.
    pub name: Option<String>,
    /// The line of the program that called it.
    pub source: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Check {
    /// Something about sizes.
    Sizes(Condition<Dim>),
    /// The number of axes of a value.
    Rank {
        of: Box<Outline>,
        at_least: usize,
        open: bool,
    },
    /// Whatever the operator asks, once enough is known to ask it.
    Later(String),
}

/// A size that is read from a tensor when the graph runs.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) symbol: Symbol,
    pub(crate) from: Id,
    pub(crate) at: At,
}

/// What is read of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum At {
    /// One number of a list.
    Item(usize),
    /// The only number.
    Single,
    /// A list of unknown length.
    Whole,
}

impl Node {
    /// What it does to data, as the operator table says it.
    pub(crate) fn kind(&self) -> Kind {
        match &self.body {
            Body::Call(call) => TABLE[call.place].kind,
            Body::Primitive(primitive) => primitive.kind(),
            Body::Require { .. } => Kind::View,
        }
    }

    /// Shows every value it is made from.
    pub(crate) fn inputs(&self, show: &mut dyn FnMut(Id)) {
        match &self.body {
            Body::Call(call) => call.tensors.iter().for_each(|id| show(*id)),
            Body::Primitive(primitive) => primitive.inputs(show),
            Body::Require { .. } => {}
        }
    }
}

impl Primitive {
    fn kind(&self) -> Kind {
        match self {
            Primitive::Constant(_)
            | Primitive::Full { .. }
            | Primitive::Range { .. }
            | Primitive::Sizes(_)
            | Primitive::SizesOf(_)
            | Primitive::Runs(_) => Kind::Make,
            Primitive::Same(_) | Primitive::View { .. } => Kind::View,
            Primitive::Copy(_)
            | Primitive::Gather { .. }
            | Primitive::ScatterAdd { .. }
            | Primitive::Sum { .. }
            | Primitive::Concat { .. }
            | Primitive::Cast { .. }
            | Primitive::Add(..) => Kind::Copy,
        }
    }

    /// Shows every value it is made from.
    pub(crate) fn inputs(&self, show: &mut dyn FnMut(Id)) {
        match self {
            Primitive::Constant(_)
            | Primitive::Full { .. }
            | Primitive::Range { .. }
            | Primitive::Sizes(_)
            | Primitive::Runs(_) => {}
            Primitive::SizesOf(x)
            | Primitive::Same(x)
            | Primitive::View { x, .. }
            | Primitive::Copy(x)
            | Primitive::Sum { x, .. }
            | Primitive::Cast { x, .. } => show(*x),
            Primitive::Gather { source, index, .. } => {
                show(*source);
                show(*index);
            }
            Primitive::ScatterAdd {
                base,
                index,
                updates,
                ..
            } => {
                for id in [base, index, updates] {
                    show(*id);
                }
            }
            Primitive::Concat { xs, .. } => xs.iter().for_each(|id| show(*id)),
            Primitive::Add(a, b) => {
                show(*a);
                show(*b);
            }
        }
    }
}
