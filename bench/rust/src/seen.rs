//! What a peer made, as a tensor of ours, so that it can be compared before it is timed.

use std::error::Error;

use candle_core as candle;
use ndarray::{ArrayBase, Data, Dimension};
use stridewise::half::{bf16, f16};
use stridewise::{Element, Tensor, stack};

/// Any failure, which ends the run.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Something that can be read as a tensor of ours.
pub(crate) trait Seen {
    fn seen(&self) -> Outcome<Tensor>;
}

impl Seen for Tensor {
    fn seen(&self) -> Outcome<Tensor> {
        Ok(self.clone())
    }
}

impl<T: Element, S: Data<Elem = T>, D: Dimension> Seen for ArrayBase<S, D> {
    fn seen(&self) -> Outcome<Tensor> {
        let values = self.iter().copied().collect();
        Ok(Tensor::from_vec(values, self.shape())?)
    }
}

impl Seen for candle::Tensor {
    fn seen(&self) -> Outcome<Tensor> {
        fn read<T: Element + candle::WithDType>(x: &candle::Tensor) -> Outcome<Tensor> {
            let values = x.flatten_all()?.to_vec1::<T>()?;
            Ok(Tensor::from_vec(values, x.dims())?)
        }
        match self.dtype() {
            candle::DType::U8 => read::<u8>(self),
            candle::DType::U32 => read::<u32>(self),
            candle::DType::I64 => read::<i64>(self),
            candle::DType::F16 => read::<f16>(self),
            candle::DType::BF16 => read::<bf16>(self),
            candle::DType::F32 => read::<f32>(self),
            candle::DType::F64 => read::<f64>(self),
            other => Err(format!("candle's {other:?} is not compared here").into()),
        }
    }
}

impl<T: Seen, E: Error> Seen for Result<T, E> {
    fn seen(&self) -> Outcome<Tensor> {
        match self {
            Ok(value) => value.seen(),
            Err(error) => Err(error.to_string().into()),
        }
    }
}

impl<T: Seen> Seen for Option<T> {
    fn seen(&self) -> Outcome<Tensor> {
        match self {
            Some(value) => value.seen(),
            None => Err("the shapes do not fit".into()),
        }
    }
}

/// Several of one shape, as one with an axis in front.
impl<T: Seen> Seen for Vec<T> {
    fn seen(&self) -> Outcome<Tensor> {
        let parts = self.iter().map(Seen::seen).collect::<Outcome<Vec<_>>>()?;
        Ok(stack(&parts.iter().collect::<Vec<_>>(), 0)?)
    }
}
