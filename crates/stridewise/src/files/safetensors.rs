//! The `.safetensors` format, through the crate of its authors.

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use stridewise_core::{DType, Error, Layout, Result};
use stridewise_cpu::Tensor;

use super::Mapped;

/// Which dtype is which. There is no complex128 in the format.
const DTYPES: [(DType, Dtype); 14] = [
    (DType::Bool, Dtype::BOOL),
    (DType::U8, Dtype::U8),
    (DType::U16, Dtype::U16),
    (DType::U32, Dtype::U32),
    (DType::U64, Dtype::U64),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::C64, Dtype::C64),
];

pub(super) fn read(file: &Mapped) -> Result<Vec<(String, Tensor)>> {
    let malformed = |error| Error::file(format!("this is not a .safetensors file: {error}"));
    let all = SafeTensors::deserialize(file.bytes()).map_err(malformed)?;
    let mut tensors = Vec::new();
    for (name, view) in all.iter() {
        let Some((dtype, _)) = DTYPES.iter().find(|(_, theirs)| *theirs == view.dtype()) else {
            let message = format!(
                "the tensor '{name}' is {:?}, which has no dtype here",
                view.dtype()
            );
            return Err(Error::file(message));
        };
        let layout = Layout::packed(dtype.width(), view.shape())?;
        let start = view.data().as_ptr().addr() - file.bytes().as_ptr().addr();
        tensors.push((name.to_string(), file.tensor(*dtype, layout, start)?));
    }
    tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(tensors)
}

pub(super) fn write(tensors: &[(String, Tensor)]) -> Result<Vec<u8>> {
    let mut packed = Vec::with_capacity(tensors.len());
    for (at, (name, x)) in tensors.iter().enumerate() {
        if tensors[..at].iter().any(|(other, _)| other == name) {
            return Err(Error::file(format!("two tensors are called '{name}'")));
        }
        let Some((_, theirs)) = DTYPES.iter().find(|(ours, _)| *ours == x.dtype()) else {
            return Err(
                Error::file(format!("a .safetensors file has no {}", x.dtype())).help("use .npy"),
            );
        };
        packed.push((name, *theirs, x.shape().to_vec(), x.to_bytes()?));
    }
    let failed = |error| Error::file(format!("the tensors cannot be written: {error}"));
    let mut views = Vec::with_capacity(packed.len());
    for (name, dtype, shape, bytes) in &packed {
        views.push((
            name.as_str(),
            TensorView::new(*dtype, shape.clone(), bytes).map_err(failed)?,
        ));
    }
    serialize(views, None).map_err(failed)
}
