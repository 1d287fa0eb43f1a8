//! The inputs of a program: tensors from files, and, for the commands that need no data, shapes alone, as
//! files have them or as `--shape` and `--dtype` say.

mod shape;

use std::path::{Path, PathBuf};

use clap::Args;
use stridewise::{Graph, Symbolic, Tensor, files};
use stridewise_core::dim::Outline;
use stridewise_core::dtype::DType;
use stridewise_dry::{Dry, Sketch};

use crate::failure::Failure;
pub(crate) use crate::inputs::shape::Shape;
use crate::terminal::{count, cut};

/// The shapes and dtypes of `$1`, `$2`, ….
#[derive(Args, Debug)]
pub(crate) struct Shapes {
    /// Files whose tensors are $1, $2, …: their dtype, shape and strides are taken, not their values.
    #[arg(value_name = "FILE", conflicts_with_all = ["shapes", "dtypes"])]
    files: Vec<PathBuf>,

    /// The shape of an input in place of a file, such as 4,6,16; () for rank 0. Again for $2, $3, … To plan, a
    /// size may be a symbol, as in B,B*2,4, or ? for any, and ... stands for any number of axes.
    #[arg(long = "shape", short, value_name = "SIZES", value_parser = Shape::read, allow_hyphen_values = true)]
    shapes: Vec<Shape>,

    /// The element type of an input, such as f32 or int64; float32 if not given. Again for $2, $3, …
    #[arg(long = "dtype", short, value_name = "DTYPE", value_parser = dtype)]
    dtypes: Vec<DType>,
}

fn dtype(text: &str) -> Result<DType, String> {
    text.parse().map_err(|error| format!("{error}"))
}

impl Shapes {
    /// Whether a size of any input is not a number.
    pub(crate) fn are_open(&self) -> bool {
        self.shapes.iter().any(|shape| shape.numbers().is_none())
    }

    /// The inputs as tensors without data.
    pub(crate) fn sketches(&self, dry: &Dry) -> Result<Vec<Sketch>, Failure> {
        if !self.files.is_empty() {
            let inputs = load(&self.files)?;
            let sketch = |x: &Tensor| dry.with_layout(x.dtype(), x.layout().clone());
            return Ok(inputs.iter().map(sketch).collect());
        }
        let inputs = self.typed()?.into_iter().map(|(at, shape, dtype)| {
            let Some(sizes) = shape.numbers() else {
                return Err(Failure::Usage(format!(
                    "input ${at} has the shape {shape}, but cells can only be drawn where every size is a number"
                )));
            };
            dry.tensor(dtype, &sizes)
                .map_err(|error| Failure::Usage(format!("input ${at}: {error}")))
        });
        inputs.collect()
    }

    /// The inputs as tensors of a graph.
    pub(crate) fn symbolic(&self, graph: &Graph) -> Result<Vec<Symbolic>, Failure> {
        let inputs = self.typed()?.into_iter().map(|(at, shape, dtype)| {
            graph
                .input(&format!("input{at}"), dtype, shape.outline(graph))
                .map_err(|error| Failure::Usage(format!("input ${at}: {error}")))
        });
        inputs.collect()
    }

    /// The shapes alone, of whatever dtype, as a graph knows them.
    pub(crate) fn outlines(&self, graph: &Graph) -> Result<Vec<Outline>, Failure> {
        if !self.dtypes.is_empty() {
            return Err(Failure::Usage(
                "a model says the dtypes of its inputs itself".to_string(),
            ));
        }
        if !self.files.is_empty() {
            let inputs = load(&self.files)?;
            return Ok(inputs.iter().map(|x| x.shape().into()).collect());
        }
        Ok(self.shapes.iter().map(|s| s.outline(graph)).collect())
    }

    /// The shapes with their numbers, counted from 1, and dtypes.
    fn typed(&self) -> Result<Vec<(usize, &Shape, DType)>, Failure> {
        if self.dtypes.len() > self.shapes.len() {
            return Err(Failure::Usage(format!(
                "{} dtypes were given for {} shapes",
                self.dtypes.len(),
                self.shapes.len()
            )));
        }
        let dtype = |at: usize| self.dtypes.get(at).copied().unwrap_or(DType::F32);
        let shapes = self.shapes.iter().enumerate();
        Ok(shapes
            .map(|(at, shape)| (at + 1, shape, dtype(at)))
            .collect())
    }
}

/// The tensors of files.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Vec<Tensor>, Failure> {
    paths.iter().map(|path| load_one(path)).collect()
}

/// The tensor of a file, or the one named behind a colon: `weights.safetensors:bias`.
pub(crate) fn load_one(path: &Path) -> Result<Tensor, Failure> {
    let text = path.to_string_lossy();
    let named = named(&text).filter(|_| !path.exists());
    let mut tensors = match named {
        Some((file, _)) => files::load_all(file)?,
        None => files::load_all(path)?,
    };
    let names: Vec<String> = tensors.iter().map(|(name, _)| name.clone()).collect();
    let found = match named {
        Some((_, name)) => tensors.iter().position(|(one, _)| one == name),
        None => (tensors.len() == 1).then_some(0),
    };
    if let Some(at) = found {
        return Ok(tensors.swap_remove(at).1);
    }
    let what = match named {
        Some((_, name)) => format!("the file has no tensor `{name}`"),
        None => format!("the file holds {}", count(names.len(), "tensor")),
    };
    let file = named.map_or(path, |(file, _)| Path::new(file));
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    let names = cut(&names.join(", "), 200);
    Err(Failure::Other(format!(
        "{file}: {what}\n  its tensors: {names}\n  help: name one behind a colon, as in weights.safetensors:NAME"
    )))
}

/// A file and the name behind its colon. Both can have colons of their own: the first part that is a file
/// is meant, or else the first that has an ending.
fn named(text: &str) -> Option<(&str, &str)> {
    let parts = || {
        text.match_indices(':')
            .map(|(at, _)| (&text[..at], &text[at + 1..]))
    };
    parts()
        .find(|(file, _)| Path::new(file).is_file())
        .or_else(|| parts().find(|(file, _)| Path::new(file).extension().is_some()))
}
