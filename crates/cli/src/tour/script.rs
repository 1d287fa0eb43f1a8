//! What the tour shows, in order: chapters of stops.

use crate::failure::Failure;
#[cfg(feature = "gpu")]
use crate::tour::gpu;
use crate::tour::{Walk, ranks, scenes};

/// A part of the tour.
pub(crate) struct Chapter {
    /// What it is about.
    pub(crate) title: &'static str,
    /// A few sentences to begin with.
    pub(crate) opening: &'static str,
    /// What is shown.
    pub(crate) stops: &'static [Stop],
}

/// One thing that is shown.
pub(crate) enum Stop {
    /// An operator's signature and summary.
    Meet(&'static str),
    /// A remark.
    Say(&'static str),
    /// The tensors of the next calls: `x`, `$2`, ….
    Given(&'static [Source]),
    /// A program on them.
    Call(&'static str),
    /// A program that fails, and its error.
    Wrong(&'static str),
    /// What no program can say.
    Scene(fn(&mut Walk) -> Result<(), Failure>),
}

/// Where a tensor comes from.
pub(crate) enum Source {
    /// A number.
    Number(f64),
    /// Values and their shape.
    Ints(&'static [i64], &'static [usize]),
    /// A program that begins from nothing.
    Made(&'static str),
}

use Source::{Ints, Made, Number};
use Stop::{Call, Given, Meet, Say, Scene, Wrong};

const TILE: Stop = Given(&[Made("arange(6).reshape(2, 3)")]);
const TABLE: Stop = Given(&[Made("arange(12).reshape(3, 4)")]);

/// The chapters.
pub(crate) static CHAPTERS: &[Chapter] = &[
    Chapter {
        title: "Growing axes",
        opening: "Operators that line tensors up want them to have enough axes. These add axes of \
                  size 1 and touch nothing else: always a view.",
        stops: &[
            Meet("atleast_1d"),
            Given(&[Number(0.3), Number(1.0)]),
            Call("atleast_1d()"),
            Say(
                "Several inputs give several tensors, each for itself. A tuple of tensors counts \
                 as one input, as in NumPy: its parts are stacked first.",
            ),
            Call("atleast_1d($2)"),
            Call("stack($2).atleast_1d()"),
            Meet("atleast_2d"),
            Given(&[Made("arange(3)")]),
            Call("atleast_2d()"),
            Meet("atleast_3d"),
            Given(&[Made("arange(3)")]),
            Call("atleast_3d()"),
            Given(&[Made("arange(6).reshape(2, 3)")]),
            Call("atleast_3d()"),
            Meet("atleast_nd"),
            Given(&[Made("arange(6).reshape(2, 3)")]),
            Call("atleast_nd(4, place=\"front\")"),
            Call("atleast_nd(4, place=\"back\")"),
        ],
    },
    Chapter {
        title: "expand",
        opening: "An axis of size 1 can be read as if it were longer: its stride becomes 0, so \
                  every index lands on the same cells. Nothing is copied.",
        stops: &[
            Meet("expand"),
            Given(&[Ints(&[10, 20, 30], &[3, 1])]),
            Call("expand(-1, 4)"),
            Say(
                "New axes go in front. The strides tell the whole story: 0 wherever the same \
                 cells are read again.",
            ),
            Given(&[Made("arange(60).reshape(4, 1, 3, 5)")]),
            Call("expand(2, 1, 4, 4, 3, 5)"),
            Scene(scenes::legal_sizes),
            Say(
                "An axis that is longer than 1 cannot be expanded. Errors point at the place, \
                 show the shapes and say how to mend the call:",
            ),
            Given(&[Made("zeros([4, 3, 1, 2])")]),
            Wrong("expand(4, 6, 5, 2)"),
            Meet("expand_as"),
            Given(&[Made("arange(3).reshape(3, 1)"), Made("zeros([2, 3, 4])")]),
            Call("expand_as($2)"),
            Meet("broadcast_to"),
            Given(&[Made("arange(3)")]),
            Call("broadcast_to(2, 3)"),
        ],
    },
    Chapter {
        title: "repeat",
        opening: "Where expand looks at the same cells again, repeat writes them again: the \
                  result is a tensor of its own, filled in one pass.",
        stops: &[
            Meet("repeat"),
            TILE,
            Call("repeat(2, 2)"),
            Say("New axes go in front here too."),
            Given(&[Made("arange(60).reshape(4, 1, 3, 5)")]),
            Call("repeat(2, 1, 2, 4, 1, 1)"),
            Scene(scenes::repeat_plans),
            Meet("tile"),
            TILE,
            Call("tile(2)"),
            Meet("repeat_interleave"),
            TILE,
            Call("repeat_interleave(2, axis=1)"),
            Call("repeat_interleave([1, 3], axis=0)"),
        ],
    },
    Chapter {
        title: "unflatten and reshape",
        opening: "Splitting an axis never needs a copy. Merging axes needs one only where memory \
                  does not lie right.",
        stops: &[
            Meet("unflatten"),
            Given(&[Made("arange(24).reshape(2, 12)")]),
            Call("unflatten(1, [3, -1])"),
            Say("Sizes of 0 are ordinary sizes."),
            Given(&[Made("zeros([4, 0, 16])")]),
            Call("unflatten(0, (-1,))"),
            Call("unflatten(1, [2, -1])"),
            Say("At most one size may be left open:"),
            Given(&[Made("zeros([2, 4, 5])")]),
            Wrong("unflatten(1, [-1, -1, 2])"),
            Scene(scenes::unflatten_layer),
            Meet("flatten"),
            Given(&[Made("arange(24).reshape(2, 3, 4)")]),
            Call("flatten(1)"),
            Say(
                "After a permute the axes lie the wrong way round in memory, and merging them \
                 takes a copy:",
            ),
            Call("permute(1, 0, 2).flatten(0, 1)"),
            Meet("reshape"),
            TILE,
            Call("reshape(3, -1)"),
            Call("transpose().reshape(6)"),
            Meet("view"),
            TILE,
            Call("view(3, 2)"),
            Wrong("transpose().view(6)"),
        ],
    },
    Chapter {
        title: "take",
        opening: "Reading by index. The result has the index's shape; nothing is flattened on the \
                  way.",
        stops: &[
            Meet("take"),
            Given(&[Ints(&[4, 3, 5, 7, 6, 8], &[6])]),
            Call("take([0, 1, 4])"),
            Call("take([[0, 1], [2, 3]])"),
            Say("An axis keeps the others whole, and `mode` says what an index outside means."),
            TABLE,
            Call("take([2, 0], axis=1)"),
            Call("take([-1, 7], axis=1, mode=\"wrap\")"),
            Call("take([-1, 7], axis=1, mode=\"clip\")"),
            Call("take([-1, 7], axis=1, mode=\"fill\", fill_value=99)"),
            Say("The default is to refuse, before anything is written:"),
            Wrong("take([2, 7], axis=1)"),
            Meet("index_select"),
            TABLE,
            Call("index_select(0, [2, 2])"),
            Meet("take_along_axis"),
            TABLE,
            Call("take_along_axis([[3], [0], [1]], axis=1)"),
            Meet("index_add"),
            Given(&[Made("zeros([4, 2], i64)"), Made("arange(6).reshape(3, 2)")]),
            Call("index_add(0, [1, 3, 1], $2)"),
        ],
    },
    Chapter {
        title: "enforce_shape",
        opening: "A check that names what it finds. A pattern holds sizes, None for any size, \
                  symbols that must agree wherever they stand, and one ... for any number of axes.",
        stops: &[
            Meet("enforce_shape"),
            Given(&[Made("zeros([1, 5, 2, 7, 3])")]),
            Call("enforce_shape([None, None, None, None, None])"),
            Call("enforce_shape([1, None, ..., 3])"),
            Say(
                "For ... there is a pair: the axes it took, and how many elements they span. A \
                 shape that does not fit is shown beside its pattern:",
            ),
            Given(&[Made("zeros([8, 3, 8, 4])")]),
            Call("enforce_shape([\"n\", None, \"n\", 4])"),
            Wrong("enforce_shape([\"n\", \"n\", ..., 4])"),
            Scene(scenes::shared_symbols),
            Scene(scenes::reduce_and_restore),
        ],
    },
    Chapter {
        title: "The ones they stand on",
        opening: "The rest of shape work: making tensors, moving axes, reading parts, putting \
                  together and taking apart.",
        stops: &[
            Meet("zeros"),
            Call("zeros([2, 3], f32)"),
            Meet("ones"),
            Call("ones(3, bool)"),
            Meet("full"),
            Call("full([2, 2], 1+2j)"),
            Meet("arange"),
            Call("arange(0, 1, 0.25)"),
            Meet("squeeze"),
            Given(&[Made("arange(3).reshape(1, 3, 1)")]),
            Call("squeeze()"),
            Call("squeeze(0)"),
            Meet("unsqueeze"),
            TILE,
            Call("unsqueeze([0, -1])"),
            Meet("permute"),
            Given(&[Made("arange(24).reshape(2, 3, 4)")]),
            Call("permute(2, 0, 1)"),
            Meet("transpose"),
            TILE,
            Call("transpose()"),
            Meet("swapaxes"),
            TILE,
            Call("swapaxes(0, 1)"),
            Meet("moveaxis"),
            Given(&[Made("zeros([2, 3, 5])")]),
            Call("moveaxis(0, -1)"),
            Meet("flip"),
            TILE,
            Call("flip(1)"),
            Meet("slice"),
            TABLE,
            Call("slice(1:, ::-2)"),
            Call("[0, None, ..., 1:3]"),
            Meet("concat"),
            Given(&[Made("arange(4).reshape(2, 2)"), Made("full([2, 1], 9)")]),
            Call("concat($2, axis=1)"),
            Meet("stack"),
            Given(&[Made("arange(3)"), Made("arange(3, 6)")]),
            Call("stack($2, axis=1)"),
            Meet("unstack"),
            TILE,
            Call("unstack(0)"),
            Meet("contiguous"),
            TILE,
            Call("contiguous()"),
            Call("transpose().contiguous()"),
            Meet("cast"),
            Given(&[Ints(&[0, 1, 2], &[3])]),
            Call("cast(f16)"),
            Call("cast(bool)"),
            Meet("sum"),
            TILE,
            Call("sum(1)"),
            Call("sum(1, keepdims=True)"),
            Meet("shape_of"),
            TILE,
            Call("shape_of()"),
        ],
    },
    Chapter {
        title: "Gradients",
        opening: "Every operator has a gradient, from the adjoints of the few primitives it comes down to.",
        stops: &[Scene(scenes::gradients)],
    },
    Chapter {
        title: "Graphs",
        opening: "The same operators on tensors whose sizes, and even ranks, are not known yet. What cannot be \
                  proved is kept as a guard and checked in every run; views cost a run nothing.",
        stops: &[Scene(scenes::graph), Scene(scenes::graph_of_any_rank)],
    },
    Chapter {
        title: "Many ranks",
        opening: "One tensor can lie on a mesh of ranks: along each mesh axis it is split, S(axis), broadcast, B, or \
                  partial, P, a sum that nobody has added up yet. Every operator gives what one machine would give; \
                  where parts cannot be worked on as they lie, the cheapest change of layout comes first.",
        stops: &[Scene(ranks::parts), Scene(ranks::table), Scene(ranks::mesh)],
    },
    #[cfg(feature = "gpu")]
    Chapter {
        title: "A GPU",
        opening: "A tensor can lie on a GPU, and every operator runs there, with the bits of the CPU. Views launch \
                  nothing; what is launched is waited for where a result is read.",
        stops: &[Scene(gpu::calls)],
    },
];
