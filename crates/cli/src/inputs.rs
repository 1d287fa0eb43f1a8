//! Inputs that are only shapes: the options `--shape` and `--dtype` of the commands that need no data.

use clap::Args;
use stridewise_core::dtype::DType;
use stridewise_dry::{Dry, Sketch};

use crate::failure::Failure;

/// The shapes and dtypes of `$1`, `$2`, ….
#[derive(Args, Debug)]
pub(crate) struct Shapes {
    /// The shape of an input, such as 4,6,16; () for rank 0. Again for $2, $3, …
    #[arg(long = "shape", short, value_name = "SIZES", value_parser = shape, allow_hyphen_values = true)]
    shapes: Vec<Shape>,

    /// The element type of an input, such as f32 or int64; float32 if not given. Again for $2, $3, …
    #[arg(long = "dtype", short, value_name = "DTYPE", value_parser = dtype)]
    dtypes: Vec<DType>,
}

/// One shape.
#[derive(Clone, Debug)]
struct Shape(Vec<usize>);

fn shape(text: &str) -> Result<Shape, String> {
    let inner = text
        .trim()
        .trim_start_matches(['(', '['])
        .trim_end_matches([')', ']']);
    let parts: Vec<&str> = inner.split([',', 'x', '×']).map(str::trim).collect();
    let parts = match parts.as_slice() {
        [] | [""] => &[],
        // Python writes a comma behind a single size.
        [sizes @ .., ""] => sizes,
        sizes => sizes,
    };
    let size = |part: &&str| {
        part.parse()
            .map_err(|_| format!("`{part}` is not a size; write sizes as in 4,6,16"))
    };
    parts.iter().map(size).collect::<Result<_, _>>().map(Shape)
}

fn dtype(text: &str) -> Result<DType, String> {
    text.parse().map_err(|error| format!("{error}"))
}

impl Shapes {
    /// The inputs as tensors without data.
    pub(crate) fn sketches(&self, dry: &Dry) -> Result<Vec<Sketch>, Failure> {
        if self.dtypes.len() > self.shapes.len() {
            return Err(Failure::Usage(format!(
                "{} dtypes were given for {} shapes",
                self.dtypes.len(),
                self.shapes.len()
            )));
        }
        let inputs = self.shapes.iter().enumerate().map(|(at, shape)| {
            let dtype = self.dtypes.get(at).copied().unwrap_or(DType::F32);
            dry.tensor(dtype, &shape.0)
                .map_err(|error| Failure::Usage(format!("input ${}: {error}", at + 1)))
        });
        inputs.collect()
    }
}
