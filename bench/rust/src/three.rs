//! The same numbers for all three.

use candle::Device;
use candle_core as candle;
use ndarray::{ArcArray, ArrayD, IxDyn};
use stridewise::{Element, Tensor};

use crate::seen::Outcome;

/// An element that all three know.
pub(crate) trait Number: Element + candle::WithDType + Default {}
impl<T: Element + candle::WithDType + Default> Number for T {}

/// The dtype and a shape, as the names of rows have them.
pub(crate) fn described<T: Number>(shape: &[usize]) -> String {
    format!("{} {}", <T as Element>::DTYPE, tuple(shape))
}

/// Sizes in parentheses, short.
pub(crate) fn tuple(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    format!("({})", sizes.join(","))
}

/// One tensor, three times.
pub(crate) struct Three<T> {
    pub(crate) ours: Tensor,
    pub(crate) array: ArrayD<T>,
    pub(crate) candle: candle::Tensor,
}

impl<T: Number> Three<T> {
    /// Whole numbers below 251, which every dtype holds.
    pub(crate) fn new(shape: &[usize]) -> Outcome<Three<T>> {
        let count = shape.iter().product();
        let some: Vec<T> = (0..251).map(|n| T::from_f64(f64::from(n))).collect();
        Three::of(some.into_iter().cycle().take(count).collect(), shape)
    }

    pub(crate) fn of(values: Vec<T>, shape: &[usize]) -> Outcome<Three<T>> {
        let ours = Tensor::from_vec(values.clone(), shape)?;
        let candle = candle::Tensor::from_vec(values.clone(), shape, &Device::Cpu)?;
        let array = ArrayD::from_shape_vec(shape, values)?;
        Ok(Three {
            ours,
            array,
            candle,
        })
    }

    /// The array with a reference count, as our tensors have one.
    pub(crate) fn shared(&self) -> ArcArray<T, IxDyn> {
        self.array.to_shared()
    }
}
