//! The nodes that exporters write, one method each: ONNX's operator, its inputs in order, and its attributes. What
//! each means is ONNX's to say; nothing is checked or improved here.

use stridewise_core::DType;

use crate::export::attributes::{int, ints, tensor, text};
use crate::export::{Var, Writer};
use crate::tensor::{Data, number_of};

impl Writer {
    /// `Reshape`, in which 0 is a size like any other.
    pub fn reshape(&mut self, x: &Var, shape: &Var) -> Var {
        self.node("Reshape", &[Some(x), Some(shape)], [int("allowzero", 1)])
    }

    /// `Reshape`, in which 0 copies the size of the input.
    pub fn reshape_copying(&mut self, x: &Var, shape: &Var) -> Var {
        self.node("Reshape", &[Some(x), Some(shape)], [])
    }

    /// `Expand`.
    pub fn expand(&mut self, x: &Var, shape: &Var) -> Var {
        self.node("Expand", &[Some(x), Some(shape)], [])
    }

    /// `Tile`.
    pub fn tile(&mut self, x: &Var, repeats: &Var) -> Var {
        self.node("Tile", &[Some(x), Some(repeats)], [])
    }

    /// `Gather`.
    pub fn gather(&mut self, x: &Var, indices: &Var, axis: i64) -> Var {
        self.node("Gather", &[Some(x), Some(indices)], [int("axis", axis)])
    }

    /// `GatherElements`.
    pub fn gather_elements(&mut self, x: &Var, indices: &Var, axis: i64) -> Var {
        let inputs = [Some(x), Some(indices)];
        self.node("GatherElements", &inputs, [int("axis", axis)])
    }

    /// `ScatterElements` that adds up.
    pub fn scatter_elements_add(
        &mut self,
        x: &Var,
        indices: &Var,
        updates: &Var,
        axis: i64,
    ) -> Var {
        let inputs = [Some(x), Some(indices), Some(updates)];
        let attributes = [int("axis", axis), text("reduction", "add")];
        self.node("ScatterElements", &inputs, attributes)
    }

    /// `ScatterND` that adds up.
    pub fn scatter_nd_add(&mut self, x: &Var, indices: &Var, updates: &Var) -> Var {
        let inputs = [Some(x), Some(indices), Some(updates)];
        self.node("ScatterND", &inputs, [text("reduction", "add")])
    }

    /// `Squeeze` of the named axes, or of all of size 1.
    pub fn squeeze(&mut self, x: &Var, axes: Option<&Var>) -> Var {
        self.node("Squeeze", &[Some(x), axes], [])
    }

    /// `Unsqueeze`.
    pub fn unsqueeze(&mut self, x: &Var, axes: &Var) -> Var {
        self.node("Unsqueeze", &[Some(x), Some(axes)], [])
    }

    /// `Transpose`.
    pub fn transpose(&mut self, x: &Var, perm: &[i64]) -> Var {
        // Of no axes there is but one order, and an empty list is read as none given.
        match perm {
            [] => self.node("Transpose", &[Some(x)], []),
            _ => self.node("Transpose", &[Some(x)], [ints("perm", perm)]),
        }
    }

    /// `Concat`.
    pub fn concat(&mut self, xs: &[&Var], axis: i64) -> Var {
        let inputs: Vec<Option<&Var>> = xs.iter().map(|x| Some(*x)).collect();
        self.node("Concat", &inputs, [int("axis", axis)])
    }

    /// `Slice`.
    pub fn slice(
        &mut self,
        x: &Var,
        starts: &Var,
        ends: &Var,
        axes: Option<&Var>,
        steps: Option<&Var>,
    ) -> Var {
        self.node(
            "Slice",
            &[Some(x), Some(starts), Some(ends), axes, steps],
            [],
        )
    }

    /// `Shape`: all sizes, as `int64`.
    pub fn shape(&mut self, x: &Var) -> Var {
        self.node("Shape", &[Some(x)], [])
    }

    /// `Shape`: the sizes from an axis up to, not including, another, as `int64`.
    pub fn shape_between(&mut self, x: &Var, start: i64, end: i64) -> Var {
        let attributes = [int("start", start), int("end", end)];
        self.node("Shape", &[Some(x)], attributes)
    }

    /// `Size`: how many elements, as `int64` of rank 0.
    pub fn size(&mut self, x: &Var) -> Var {
        self.node("Size", &[Some(x)], [])
    }

    /// `Cast`.
    pub fn cast(&mut self, x: &Var, dtype: DType) -> Var {
        let to = i64::from(number_of(dtype));
        self.node("Cast", &[Some(x)], [int("to", to)])
    }

    /// `ReduceSum` over the named axes; over none where the list is empty. ONNX has it for floats and for integers
    /// of 32 and 64 bits.
    pub fn reduce_sum(&mut self, x: &Var, axes: &Var, keep_dims: bool) -> Var {
        let attributes = [
            int("keepdims", keep_dims.into()),
            int("noop_with_empty_axes", 1),
        ];
        self.node("ReduceSum", &[Some(x), Some(axes)], attributes)
    }

    /// `ReduceProd` over all axes: the product of sizes, say.
    pub fn reduce_prod_all(&mut self, x: &Var) -> Var {
        self.node("ReduceProd", &[Some(x)], [int("keepdims", 0)])
    }

    /// `CumSum`.
    pub fn cum_sum(&mut self, x: &Var, axis: &Var) -> Var {
        self.node("CumSum", &[Some(x), Some(axis)], [])
    }

    /// `ConstantOfShape`; the value is a tensor of one element.
    pub fn constant_of_shape(&mut self, shape: &Var, value: &Data) -> Var {
        let one = Data {
            shape: vec![1],
            ..value.clone()
        };
        self.node("ConstantOfShape", &[Some(shape)], [tensor("value", &one)])
    }

    /// `Range`, of tensors of rank 0.
    pub fn range(&mut self, start: &Var, limit: &Var, delta: &Var) -> Var {
        self.node("Range", &[Some(start), Some(limit), Some(delta)], [])
    }

    /// `Where`.
    pub fn where_(&mut self, condition: &Var, yes: &Var, no: &Var) -> Var {
        self.node("Where", &[Some(condition), Some(yes), Some(no)], [])
    }

    /// `Clip`, between tensors of rank 0.
    pub fn clip(&mut self, x: &Var, min: Option<&Var>, max: Option<&Var>) -> Var {
        self.node("Clip", &[Some(x), min, max], [])
    }
}

macro_rules! plain {
    ($($(#[doc = $doc:literal])+ $method:ident($($x:ident),+) $operator:literal;)*) => {
        impl Writer {
            $(
                $(#[doc = $doc])+
                pub fn $method(&mut self, $($x: &Var),+) -> Var {
                    self.node($operator, &[$(Some($x)),+], [])
                }
            )*
        }
    };
}

plain! {
    /// `Identity`.
    identity(x) "Identity";
    /// `Add`.
    add(a, b) "Add";
    /// `Sub`.
    sub(a, b) "Sub";
    /// `Mul`.
    mul(a, b) "Mul";
    /// `Div`; of integers, towards 0.
    div(a, b) "Div";
    /// `Mod`; of integers, with the sign of the divisor.
    modulo(a, b) "Mod";
    /// `Min`.
    min(a, b) "Min";
    /// `Max`.
    max(a, b) "Max";
    /// `Less`.
    less(a, b) "Less";
    /// `GreaterOrEqual`.
    greater_or_equal(a, b) "GreaterOrEqual";
    /// `Equal`.
    equal(a, b) "Equal";
    /// `And`.
    and(a, b) "And";
    /// `Or`.
    or(a, b) "Or";
    /// `Not`.
    not(x) "Not";
}
