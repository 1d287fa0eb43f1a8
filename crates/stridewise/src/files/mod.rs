//! Tensors in files: `.npy` (one tensor) and `.safetensors` (several, by name). Files are mapped, not read:
//! a tensor from a file costs memory only for the pages that are looked at. A malformed or truncated file is
//! an error that says where.

mod npy;
mod safetensors;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use stridewise_core::{DType, Error, Layout, Result};
use stridewise_cpu::Tensor;
use stridewise_cpu::storage::Storage;

/// The formats there are, by the ending of a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Npy,
    Safetensors,
}

impl Format {
    fn of(path: &Path) -> Result<Format> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("npy") => Ok(Format::Npy),
            Some("safetensors") => Ok(Format::Safetensors),
            _ => Err(failure(
                path,
                "the ending is not one of .npy and .safetensors",
            )),
        }
    }
}

/// Maps the one tensor of a file.
pub fn load(path: impl AsRef<Path>) -> Result<Tensor> {
    let path = path.as_ref();
    let mut tensors = load_all(path)?;
    match (tensors.pop(), tensors.len()) {
        (Some((_, only)), 0) => Ok(only),
        (None, _) => Err(failure(path, "the file holds no tensor")),
        (Some(_), others) => Err(
            failure(path, &format!("the file holds {} tensors", others + 1))
                .help("load them all, by name"),
        ),
    }
}

/// Maps every tensor of a file, with its name; the one of an `.npy` has an empty name.
pub fn load_all(path: impl AsRef<Path>) -> Result<Vec<(String, Tensor)>> {
    let path = path.as_ref();
    let format = Format::of(path)?;
    let file = Mapped::open(path)?;
    match format {
        Format::Npy => npy::read(&file).map(|x| vec![(String::new(), x)]),
        Format::Safetensors => safetensors::read(&file),
    }
    .map_err(|error| error.note("file", path.display()))
}

/// Writes a tensor to a file; in a `.safetensors` it is called `tensor`.
pub fn save(path: impl AsRef<Path>, x: &Tensor) -> Result<()> {
    save_all(path, &[("tensor".to_string(), x.clone())])
}

/// Writes tensors to a file; an `.npy` holds just one.
///
/// The file is written beside the old one and then renamed, so tensors mapped from the old one stay as they are.
pub fn save_all(path: impl AsRef<Path>, tensors: &[(String, Tensor)]) -> Result<()> {
    let path = path.as_ref();
    let bytes = match (Format::of(path)?, tensors) {
        (Format::Npy, [(_, only)]) => npy::write(only),
        (Format::Npy, _) => Err(
            failure(path, &format!("{} tensors were given", tensors.len()))
                .help("an .npy file holds one tensor; use .safetensors"),
        ),
        (Format::Safetensors, _) => safetensors::write(tensors),
    }?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|error| {
        // What is left half-written is of no use; the first error is the one to report.
        let _ = std::fs::remove_file(&beside);
        failure(path, &format!("the file cannot be written: {error}"))
    })
}

#[cold]
fn failure(path: &Path, what: &str) -> Error {
    Error::file(what).note("file", path.display())
}

/// A file in memory.
struct Mapped(Arc<Mmap>);

impl Mapped {
    fn open(path: &Path) -> Result<Mapped> {
        let cannot =
            |error: std::io::Error| failure(path, &format!("the file cannot be read: {error}"));
        let file = File::open(path).map_err(cannot)?;
        // SAFETY: the map is read-only. A file that another process changes or cuts short while it is mapped
        // can change a tensor or stop the program, as with any mapped file; `save` never does that to one.
        let map = unsafe { Mmap::map(&file) }.map_err(cannot)?;
        Ok(Mapped(Arc::new(map)))
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The tensor in the file's bytes from `start` on: mapped where they are aligned for the dtype, otherwise
    /// copied. The caller has checked that there are enough of them.
    fn tensor(&self, dtype: DType, layout: Layout, start: usize) -> Result<Tensor> {
        let len = layout.count() * dtype.width();
        let Some(bytes) = start
            .checked_add(len)
            .and_then(|end| self.bytes().get(start..end))
        else {
            return Err(
                Error::file("the file ends before the data does").sizes(len, self.bytes().len())
            );
        };
        if bytes.as_ptr().align_offset(dtype.width().min(8)) != 0 {
            let packed = Layout::packed(dtype.width(), &[layout.count()])?;
            return Tensor::from_bytes(dtype, packed.dims(), bytes)?.with_layout(layout);
        }
        // SAFETY: the map lives in the storage as the owner of the bytes, which do not move.
        let storage =
            unsafe { Storage::foreign(bytes.as_ptr(), len, false, Box::new(self.0.clone())) };
        Tensor::new(Arc::new(storage), dtype, layout)
    }
}
