//! How a primitive can work on parts. There is no table of operators: an operator is its primitives, and a primitive's
//! sizes and axis maps say which splits survive it.
//!
//! One rule for all: where the part of each rank becomes, in order, a part of the result, a split survives. If the
//! cut points coincide on every rank nothing moves; where they do not, neighbours exchange the rows between them
//! ([`Shift`]).

mod gather;
mod shift;
mod view;

use stridewise_core::axis::Axis;
use stridewise_core::engine::Along;
use stridewise_core::size::Shape;
use stridewise_core::smallvec::{SmallVec, smallvec};

use crate::mesh::part;
use crate::sbp::{Reduction, Sbp};
pub(crate) use gather::Window;
pub(crate) use shift::Shift;

/// A primitive as its sizes show it: the logical ones, or those of one rank's parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) kind: Kind,
    /// The shapes of the inputs.
    pub(crate) inputs: SmallVec<[Shape; 3]>,
    /// The shape of the result.
    pub(crate) output: Shape,
    /// Axes of the first input that an earlier mesh axis has split.
    touched: SmallVec<[usize; 4]>,
    /// Axes of the first input whose rows an earlier mesh axis exchanges: nothing else may split them.
    frozen: SmallVec<[usize; 4]>,
}

/// Which primitive. A map is kept in place, since views are what must be quick.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)]
pub(crate) enum Kind {
    View(SmallVec<[Axis<usize>; 8]>),
    Cast,
    Add,
    Sum {
        axes: SmallVec<[usize; 8]>,
        /// Whether partial sums of the input are partial sums of the result.
        linear: bool,
    },
    Concat {
        axis: usize,
    },
    Gather {
        along: Along,
        fill: bool,
        window: Option<Window>,
    },
    ScatterAdd {
        along: Along,
        window: Option<Window>,
    },
}

/// How one mesh axis may hold the inputs of a primitive, and how it then holds the result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Signature {
    pub(crate) output: Sbp,
    /// Rows to exchange before it, each with the input they are of.
    pub(crate) before: SmallVec<[(usize, Shift); 1]>,
    /// Rows of the result to exchange after it.
    pub(crate) after: Option<Shift>,
    /// Whether indices are looked up in a part of the cells only.
    pub(crate) masked: bool,
}

impl Signature {
    fn free(output: Sbp) -> Signature {
        Signature {
            output,
            before: SmallVec::new(),
            after: None,
            masked: false,
        }
    }
}

const PARTIAL_SUM: Sbp = Sbp::Partial(Reduction::Sum);

impl Problem {
    pub(crate) fn new(kind: Kind, inputs: SmallVec<[Shape; 3]>, output: Shape) -> Problem {
        Problem {
            kind,
            inputs,
            output,
            touched: SmallVec::new(),
            frozen: SmallVec::new(),
        }
    }

    /// The rule: what inputs held like this along a mesh axis of `parts` ranks give; `None` where their parts cannot be
    /// worked on one by one.
    pub(crate) fn forward(&self, parts: usize, given: &[Sbp]) -> Option<Signature> {
        if given.iter().all(|sbp| *sbp == Sbp::Broadcast) {
            return Some(Signature::free(Sbp::Broadcast));
        }
        let first = given[0];
        let alike = given.iter().all(|sbp| *sbp == first);
        match &self.kind {
            Kind::View(axes) => match first {
                Sbp::Split(axis) => self.view(axes, axis, parts),
                other => Some(Signature::free(other)),
            },
            Kind::Cast => first.axis().map(|_| Signature::free(first)),
            Kind::Add => {
                let fine = alike && matches!(first, Sbp::Split(_) | PARTIAL_SUM);
                fine.then(|| Signature::free(first))
            }
            Kind::Sum { axes, linear } => match first {
                Sbp::Split(axis) if axes.contains(&axis) => Some(Signature::free(PARTIAL_SUM)),
                Sbp::Split(axis) => {
                    let before = axes.iter().filter(|a| **a < axis).count();
                    Some(Signature::free(Sbp::Split(axis - before)))
                }
                PARTIAL_SUM if *linear => Some(Signature::free(first)),
                _ => None,
            },
            Kind::Concat { axis } => match first {
                _ if !alike => None,
                Sbp::Split(at) if at == *axis => self.concat(at, parts),
                other => Some(Signature::free(other)),
            },
            Kind::Gather { along, fill, .. } => self.gather(along, *fill, (first, given[1]), parts),
            Kind::ScatterAdd { along, .. } => {
                self.scatter_add(along, (first, given[1], given[2]), parts)
            }
        }
    }

    /// Inputs worth trying, however they are held now; those of [`forward`](Self::forward) that give nothing may be
    /// among them.
    pub(crate) fn candidates(&self, now: &[Sbp]) -> Vec<SmallVec<[Sbp; 3]>> {
        let splits = |shape: &Shape| (0..shape.len()).map(Sbp::Split);
        let same = |sbp: Sbp| SmallVec::from_elem(sbp, now.len());
        let mut found: Vec<SmallVec<[Sbp; 3]>> = vec![same(Sbp::Broadcast)];
        match &self.kind {
            Kind::View(_) | Kind::Cast | Kind::Sum { .. } | Kind::Concat { .. } => {
                found.extend(splits(&self.inputs[0]).map(same));
                // Nothing becomes partial but what is.
                let partial = now.iter().find(|held| matches!(held, Sbp::Partial(_)));
                found.extend(partial.map(|held| same(*held)));
            }
            Kind::Add => {
                found.extend(splits(&self.inputs[0]).map(same));
                found.push(same(PARTIAL_SUM));
            }
            Kind::Gather { along, .. } => {
                found.extend(gather::read_from(along, &self.inputs, now[0]));
            }
            Kind::ScatterAdd { along, .. } => {
                found.extend(gather::added_to(along, &self.inputs));
            }
        }
        found
    }

    /// Whether the parts of all ranks have the same sizes, and nothing is exchanged between them.
    pub(crate) fn is_even(&self, given: &[Sbp], signature: &Signature, parts: usize) -> bool {
        let even = |shape: &Shape, sbp: Sbp| match sbp {
            Sbp::Split(axis) => shape[axis].is_multiple_of(parts),
            _ => true,
        };
        let mut inputs = self.inputs.iter().zip(given);
        signature.before.is_empty()
            && signature.after.is_none()
            && inputs.all(|(shape, sbp)| even(shape, *sbp))
            && even(&self.output, signature.output)
    }

    /// The problem of rank `at` among `parts`, of inputs held like this.
    pub(crate) fn local(
        &self,
        given: &[Sbp],
        signature: &Signature,
        parts: usize,
        at: usize,
    ) -> Problem {
        let mut local = self.clone();
        for (shape, sbp) in local.inputs.iter_mut().zip(given) {
            if let Sbp::Split(axis) = sbp {
                shape[*axis] = part(shape[*axis], parts, at).len();
            }
        }
        if let Sbp::Split(axis) = signature.output {
            local.output[axis] = part(self.output[axis], parts, at).len();
        }
        for (input, shift) in &signature.before {
            local.inputs[*input][shift.axis] = shift.to[at].len();
        }
        if signature.masked {
            local.look_at(self, given[0], parts, at);
        }
        if let (Kind::View(axes), Sbp::Split(from), Sbp::Split(to)) =
            (&mut local.kind, given[0], signature.output)
        {
            view::narrow(&mut axes[to], &self.inputs[0], from, signature, parts, at);
            if let Axis::Split { len, .. } = &mut axes[to] {
                *len = local.output[to];
            }
        }
        if let Sbp::Split(axis) = given[0] {
            local.note(
                axis,
                !signature.before.is_empty() || signature.after.is_some(),
            );
        }
        local
    }

    /// Notes that an axis of the first input is split, or that its rows are exchanged as well.
    fn note(&mut self, axis: usize, exchanged: bool) {
        self.touched.push(axis);
        if exchanged {
            let run = match &self.kind {
                Kind::View(axes) => view::run_of(axes, axis),
                _ => axis..axis + 1,
            };
            self.frozen.extend(run);
        }
    }

    /// Tensors one after another, each split along that axis: each rank gets its rows of the result from wherever they
    /// are.
    fn concat(&self, axis: usize, parts: usize) -> Option<Signature> {
        if self.touched.contains(&axis) {
            return None;
        }
        let mut signature = Signature::free(Sbp::Split(axis));
        let mut start = 0;
        for (input, shape) in self.inputs.iter().enumerate() {
            let size = shape[axis];
            let wanted = |at| {
                let rows = part(self.output[axis], parts, at);
                let inside = |row: usize| row.clamp(start, start + size) - start;
                inside(rows.start)..inside(rows.end)
            };
            let to = (0..parts).map(wanted).collect();
            let shift = Shift::new(
                axis,
                (0..parts).map(|at| part(size, parts, at)).collect(),
                to,
            );
            signature.before.extend(shift.map(|shift| (input, shift)));
            start += size;
        }
        Some(signature)
    }
}

/// The shapes of inputs, one each.
pub(crate) fn shapes<'a>(all: impl IntoIterator<Item = &'a [usize]>) -> SmallVec<[Shape; 3]> {
    let mut shapes = smallvec![];
    shapes.extend(all.into_iter().map(Shape::from));
    shapes
}
