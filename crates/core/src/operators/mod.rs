//! Every operator, one file for each family, and the table that registers them.
//!
//! A line of the table is all it takes for an operator to become a method of every engine's tensors, a
//! function by name for the command line and Python, a row of the documentation and an entry of the suite:
//!
//! ```text
//! /// One sentence on what it does.
//! KIND name(first tensor, parameter: Type = "default as Python writes it", …)
//!     = file::Struct { the parameters that are its fields } (the tensors, in order);
//! ```

mod atleast;
mod cast;
mod concat;
mod contiguous;
mod enforce_shape;
mod expand;
mod full;
mod index;
mod permute;
mod repeat;
mod reshape;
mod shape_of;
mod slice;
mod squeeze;
mod sum;
mod take;
mod unflatten;

pub use atleast::{Atleast1d, Atleast2d, Atleast3d, AtleastNd};
pub use cast::Cast;
pub use concat::{Concat, Stack, Unstack};
pub use contiguous::Contiguous;
pub use enforce_shape::{Dim, Dims, EnforceShape, Shapes};
pub use expand::{BroadcastTo, Expand, ExpandAs};
pub use full::{Arange, Full, Ones, Zeros};
pub use index::{GetItem, Pick};
pub use permute::{Moveaxis, Permute, Swapaxes, Transpose};
pub use repeat::{Repeat, RepeatInterleave, RepeatPlan, Tile, repeat_plan};
pub use reshape::{Flatten, Reshape, View};
pub use shape_of::ShapeOf;
pub use slice::{Flip, Slice};
pub use squeeze::{Squeeze, Unsqueeze};
pub use sum::Sum;
pub use take::{IndexAdd, IndexSelect, Take, TakeAlongAxis};
pub use unflatten::Unflatten;

crate::table::operator_table! {
    // Operators on each of several tensors: methods, and functions by name that take any number of them.
    on each {
        /// Adds axes of size 1 until there is at least one axis.
        View atleast_1d(inputs) = atleast::Atleast1d {} (inputs);
        /// Adds axes of size 1 in front until there are at least two.
        View atleast_2d(inputs) = atleast::Atleast2d {} (inputs);
        /// Adds axes of size 1 until there are at least three: (N) becomes (1, N, 1), (M, N) becomes (M, N, 1).
        View atleast_3d(inputs) = atleast::Atleast3d {} (inputs);
    }

    // Operators on a tensor: methods.
    on one {
        /// Adds axes of size 1 on the side `place` names until there are at least `n`.
        View atleast_nd(x, n: usize, place: Place = "numpy") = atleast::AtleastNd { n, place } (x);

        /// Repeats axes of size 1 without moving data; `-1` keeps an axis, sizes in front add axes.
        View expand(input, sizes: Sizes<S>) = expand::Expand<S> { sizes } (input);
        /// Expands to the shape of another tensor.
        View expand_as(input, other: Tensor) = expand::ExpandAs {} (input, other);
        /// Expands by NumPy's rules: every size is given.
        View broadcast_to(input, shape: Sizes<S>) = expand::BroadcastTo<S> { shape } (input);

        /// Tiles the whole tensor, a number of times along each axis; sizes in front add axes.
        Copy repeat(input, sizes: Sizes<S>) = repeat::Repeat<S> { sizes } (input);
        /// Tiles by NumPy's rules: missing counts in front are 1.
        Copy tile(input, reps: Sizes<S>) = repeat::Tile<S> { reps } (input);
        /// Repeats each slice along an axis, next to itself.
        Copy repeat_interleave(x, repeats: Sizes<S>, axis: Option<isize> = "None")
            = repeat::RepeatInterleave<S> { repeats, axis } (x);

        /// Splits an axis into several; one size may be `-1`.
        View unflatten(x, axis: isize, shape: Sizes<S>) = unflatten::Unflatten<S> { axis, shape } (x);
        /// Merges the axes from `start` to `stop`, both included.
        ViewOrCopy flatten(x, start: isize = "0", stop: isize = "-1") = reshape::Flatten { start, stop } (x);
        /// The same elements under another shape; one size may be `-1`.
        ViewOrCopy reshape(x, shape: Sizes<S>) = reshape::Reshape<S> { shape } (x);
        /// Reshapes without a copy, or fails.
        View view(x, shape: Sizes<S>) = reshape::View<S> { shape } (x);

        /// Drops axes of size 1: those named, or all.
        View squeeze(x, axis: Axes = "None") = squeeze::Squeeze { axis } (x);
        /// Adds axes of size 1 at the places named in the result.
        View unsqueeze(x, axis: Axes) = squeeze::Unsqueeze { axis } (x);
        /// Puts the axes in another order.
        View permute(x, axes: Axes) = permute::Permute { axes } (x);
        /// Puts the axes in another order, or reverses it.
        View transpose(x, axes: Axes = "None") = permute::Transpose { axes } (x);
        /// Swaps two axes.
        View swapaxes(x, a: isize, b: isize) = permute::Swapaxes { a, b } (x);
        /// Moves axes to new places; the others keep their order.
        View moveaxis(x, source: Axes, destination: Axes) = permute::Moveaxis { source, destination } (x);
        /// Reverses the order along axes.
        View flip(x, axis: Axes = "None") = slice::Flip { axis } (x);
        /// Reads part of a tensor, by Python's rules of indexing.
        View slice(x, items: Items) = slice::Slice { items } (x);

        /// Reads the input at an index of any shape, along an axis or as if it were flat.
        Copy take(input, index: Tensor, axis: Option<isize> = "None", mode: Mode = "raise")
            = take::Take { axis, mode } (input, index);
        /// Picks slices along an axis by a 1-D index.
        Copy index_select(x, axis: isize, index: Tensor) = take::IndexSelect { axis } (x, index);
        /// Reads along an axis by an index that has an axis for every axis of the input.
        Copy take_along_axis(x, index: Tensor, axis: Option<isize> = "-1")
            = take::TakeAlongAxis { axis } (x, index);
        /// Adds the slices of `source` at a 1-D index; duplicates add up.
        Copy index_add(x, axis: isize, index: Tensor, source: Tensor)
            = take::IndexAdd { axis } (x, index, source);

        /// Checks the shape against a pattern and names its sizes.
        View enforce_shape(x, pattern: Pattern<S>) -> Checked = enforce_shape::EnforceShape<S> { pattern } (x);
        /// The slices along an axis, each without it.
        View unstack(x, axis: isize = "0") -> Many = concat::Unstack { axis } (x);

        /// The tensor itself where it is packed, otherwise a packed copy.
        ViewOrCopy contiguous(x) = contiguous::Contiguous {} (x);
        /// The elements as another type.
        ViewOrCopy cast(x, dtype: DType) = cast::Cast { dtype } (x);
        /// The sum over axes; bool and integers grow to 64 bits unless `dtype` says otherwise.
        Copy sum(x, axis: Axes = "None", keepdims: bool = "False", dtype: Option<DType> = "None")
            = sum::Sum { axis, keepdims, dtype } (x);
        /// The shape as a 1-D `int64` tensor.
        Copy shape_of(x) = shape_of::ShapeOf {} (x);
    }

    // Operators on a list of tensors: functions.
    on many {
        /// Tensors one after another along an axis.
        Copy concat(inputs, axis: isize = "0") = concat::Concat { axis };
        /// Tensors of one shape side by side along a new axis.
        Copy stack(inputs, axis: isize = "0") = concat::Stack { axis };
    }

    // Tensors made from nothing: functions that are given an engine.
    on none {
        /// Zeros.
        Make zeros(shape: Sizes<S>, dtype: DType = "float64") = full::Zeros<S> { shape, dtype };
        /// Ones.
        Make ones(shape: Sizes<S>, dtype: DType = "float64") = full::Ones<S> { shape, dtype };
        /// One value everywhere.
        Make full(shape: Sizes<S>, value: Scalar, dtype: Option<DType> = "None")
            = full::Full<S> { shape, value, dtype };
        /// Evenly spaced values from `start` up to, not including, `stop`.
        Make arange(start: Scalar, stop: Option<Scalar> = "None", step: Scalar = "1", dtype: Option<DType> = "None")
            = full::Arange { start, stop, step, dtype };
    }
}
