//! Tensors in files: `.npy` (one tensor) and `.safetensors` (several, by name). Files are mapped, not read:
//! a tensor from a file costs memory only for the pages that are looked at. A malformed or truncated file is
//! an error that says where.

mod npy;
mod safetensors;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memmap2::Mmap;
use stridewise_core::{DType, Error, Layout, Result};
use stridewise_cpu::Tensor;
use stridewise_cpu::storage::{self, Storage};

/// The formats there are, by the ending of a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Npy,
    Safetensors,
}

impl Format {
    fn of(path: &Path) -> Result<Format> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_deref().and_then(|ending| ending.to_str()) {
            Some("npy") => Ok(Format::Npy),
            Some("safetensors") => Ok(Format::Safetensors),
            _ => Err(failure(
                path,
                "the ending is not one of .npy and .safetensors",
            )),
        }
    }
}

/// Maps the one tensor of a file. As with any mapped file, another process that cuts it short meanwhile can
/// stop the program.
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

/// Whether a file of that name can be written: an error for an ending that is not known.
pub fn require_ending(path: impl AsRef<Path>) -> Result<()> {
    Format::of(path.as_ref()).map(|_| ())
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
        (Format::Npy, _) => Err(Error::file(format!("{} tensors were given", tensors.len()))
            .help("an .npy file holds one tensor; use .safetensors")),
        (Format::Safetensors, _) => safetensors::write(tensors),
    }
    .map_err(|error| error.note("file", path.display()))?;
    // A name of its own for every call: two threads may save to one path.
    static SAVES: AtomicUsize = AtomicUsize::new(0);
    let number = SAVES.fetch_add(1, Ordering::Relaxed);
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}-{number}.part", std::process::id()));
    let written = File::create_new(&beside)
        .and_then(|mut file| file.write_all(&bytes))
        .and_then(|()| std::fs::rename(&beside, path));
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
        Tensor::new(storage::Arc::new(storage), dtype, layout)
    }
}
