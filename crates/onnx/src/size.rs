//! What a model says of the sizes of its inputs and outputs.

use std::fmt;

use crate::proto::tensor_shape_proto::{Dimension, dimension};
use crate::proto::{TensorShapeProto, TypeProto, ValueInfoProto, type_proto};
use crate::tensor::{dtype_of, number_of};
use stridewise_core::{DType, Error, Result};

/// What a model says of a size.
///
/// ```
/// use stridewise_onnx::DeclaredSize;
/// let shape = [DeclaredSize::from("batch"), 3.into(), DeclaredSize::Any];
/// assert_eq!(shape.map(|size| size.to_string()), ["batch", "3", "?"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum DeclaredSize {
    /// This size.
    Is(usize),
    /// Any size, the same wherever this name stands.
    Named(String),
    /// Any size.
    Any,
}

impl DeclaredSize {
    pub(crate) fn read(dim: &Dimension) -> DeclaredSize {
        match &dim.value {
            // A negative size is how old exporters say that any will do.
            Some(dimension::Value::DimValue(n)) => {
                usize::try_from(*n).map_or(DeclaredSize::Any, DeclaredSize::Is)
            }
            Some(dimension::Value::DimParam(name)) if !name.is_empty() => {
                DeclaredSize::Named(name.clone())
            }
            _ => DeclaredSize::Any,
        }
    }

    fn write(&self) -> Dimension {
        let value = match self {
            // No size is past isize.
            DeclaredSize::Is(n) => Some(dimension::Value::DimValue(*n as i64)),
            DeclaredSize::Named(name) => Some(dimension::Value::DimParam(name.clone())),
            DeclaredSize::Any => None,
        };
        Dimension {
            value,
            ..Dimension::default()
        }
    }
}

impl ValueInfoProto {
    /// The element type and the sizes of the tensor it describes; no sizes where not even the rank is said.
    pub fn declared(&self) -> Result<(DType, Option<Vec<DeclaredSize>>)> {
        let value = self.r#type.as_ref().and_then(|t| t.value.as_ref());
        let tensor = match value {
            Some(type_proto::Value::Tensor(tensor)) => tensor,
            Some(_) => {
                return Err(Error::file(
                    "what is declared is not a tensor, which is not supported",
                ));
            }
            None => return Err(Error::file("a tensor is declared without a type")),
        };
        let shape = tensor.shape.as_ref();
        let sizes = shape.map(|shape| shape.dim.iter().map(DeclaredSize::read).collect());
        Ok((dtype_of(tensor.elem_type)?, sizes))
    }
}

/// The type of a tensor; without sizes, not even its rank is said.
pub(crate) fn tensor_type(dtype: DType, sizes: Option<&[DeclaredSize]>) -> TypeProto {
    let shape = sizes.map(|sizes| TensorShapeProto {
        dim: sizes.iter().map(DeclaredSize::write).collect(),
    });
    let tensor = type_proto::Tensor {
        elem_type: number_of(dtype),
        shape,
    };
    TypeProto {
        value: Some(type_proto::Value::Tensor(tensor)),
        ..TypeProto::default()
    }
}

impl fmt::Display for DeclaredSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeclaredSize::Is(size) => size.fmt(f),
            DeclaredSize::Named(name) => name.fmt(f),
            DeclaredSize::Any => f.write_str("?"),
        }
    }
}

impl From<usize> for DeclaredSize {
    fn from(size: usize) -> DeclaredSize {
        DeclaredSize::Is(size)
    }
}

impl From<&str> for DeclaredSize {
    fn from(name: &str) -> DeclaredSize {
        DeclaredSize::Named(name.to_string())
    }
}
