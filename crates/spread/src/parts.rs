//! Global tensors from parts that the ranks bring along.

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_core::size::{Shape, tuple};

use crate::engine::{Spread, require_countable};
use crate::global::{Global, check_sbp};
use crate::local::Local;
use crate::mesh::{Line, Mesh};
use crate::path::local_shape;
use crate::sbp::{NdSbp, Reduction, Sbp, text};
use crate::world::World;

impl<E: Local<World = World>> Spread<E> {
    /// A global tensor from the parts of all ranks, which tell each other their shapes. The parts of a split are
    /// balanced: their sizes differ by at most one, the longer ones first.
    pub fn from_parts(&self, local: E::Value, sbp: &[Sbp]) -> Result<Global<E>> {
        self.together(local, sbp)
            .map_err(|error| error.within("to_global"))
    }

    fn together(&self, local: E::Value, sbp: &[Sbp]) -> Result<Global<E>> {
        let (shape, dtype) = (self.inner().shape(&local)?, self.inner().dtype(&local));
        check_sbp(self, &shape, dtype, sbp)?;
        let line = Line::all(self.mesh().ranks());
        let mine = Told {
            dtype,
            mesh: self.mesh().sizes().into(),
            sbp: sbp.into(),
            shape,
        };
        let told = self
            .world()
            .wire()
            .tell(line, "to_global", &mine.encode())?;
        let told = told
            .iter()
            .map(|message| Told::decode(message))
            .collect::<Option<Vec<_>>>();
        let told = told.ok_or_else(|| Error::world("a rank told no shape"))?;
        // What all must say alike, or each would go on with another tensor.
        for (rank, other) in told.iter().enumerate() {
            if other.mesh != told[0].mesh || other.sbp != told[0].sbp {
                let says =
                    |told: &Told| format!("{} on a mesh of {}", text(&told.sbp), tuple(&told.mesh));
                let message = format!(
                    "rank {rank} says {}, but rank 0 {}",
                    says(other),
                    says(&told[0])
                );
                return Err(Error::world(message).help("all ranks give the same mesh and sbp"));
            }
        }
        let parts: Vec<(DType, Shape)> = told
            .into_iter()
            .map(|told| (told.dtype, told.shape))
            .collect();
        let blame = |rank: usize, message: String| {
            let given: Vec<String> = parts.iter().map(|(_, shape)| tuple(shape)).collect();
            Error::world(format!("rank {rank} {message}"))
                .note("parts", given.join(", "))
                .note("sbp", text(sbp))
                .note("mesh", self.mesh())
        };
        for (rank, (other, part)) in parts.iter().enumerate() {
            if *other != parts[0].0 {
                let message = format!("has a part of {other}, but rank 0 one of {}", parts[0].0);
                return Err(blame(rank, message).sizes(parts[0].0, other));
            }
            if part.len() != parts[0].1.len() {
                let (given, first) = (part.len(), parts[0].1.len());
                let message = format!("has a part of rank {given}, but rank 0 one of rank {first}");
                return Err(blame(rank, message).sizes(first, given));
            }
        }
        let whole = whole_shape(self.mesh(), sbp, &parts);
        require_countable(dtype, &whole)?;
        for (rank, (_, part)) in parts.iter().enumerate() {
            let wanted = local_shape(&whole, self.mesh(), sbp, &self.mesh().coordinate(rank));
            if *part != wanted {
                let (part, wanted) = (tuple(part), tuple(&wanted));
                let message = format!(
                    "has a part of shape {part}, but its part of {} is {wanted}",
                    tuple(&whole)
                );
                return Err(blame(rank, message)
                    .sizes(wanted, part)
                    .help("parts are balanced: their sizes differ by at most one, the longer ones first; off a split all are equal"));
            }
        }
        self.assemble(local, &whole, sbp)
    }
}

/// The logical shape: along a split, the sizes of the first line of ranks add up.
fn whole_shape(mesh: &Mesh, sbp: &[Sbp], parts: &[(DType, Shape)]) -> Shape {
    let mut whole = parts[0].1.clone();
    for axis in 0..whole.len() {
        let splitting: Vec<usize> = (0..sbp.len())
            .filter(|at| sbp[*at] == Sbp::Split(axis))
            .collect();
        // The ranks that differ along these mesh axes only.
        let ranks = (0..mesh.ranks()).filter(|rank| {
            let at = mesh.coordinate(*rank);
            (0..at.len()).all(|along| at[along] == 0 || splitting.contains(&along))
        });
        whole[axis] = ranks
            .map(|rank| parts[rank].1[axis])
            .fold(0, usize::saturating_add);
    }
    whole
}

/// What a rank tells the others of its part.
struct Told {
    dtype: DType,
    mesh: Shape,
    sbp: NdSbp,
    shape: Shape,
}

/// How a mesh axis that does not split may hold a tensor. As a number, a split comes after these.
const WHOLE: [Sbp; 4] = [
    Sbp::Broadcast,
    Sbp::Partial(Reduction::Sum),
    Sbp::Partial(Reduction::Max),
    Sbp::Partial(Reduction::Min),
];

impl Told {
    fn encode(&self) -> Vec<u8> {
        let dtypes = &mut DType::ALL.iter();
        let dtype = dtypes.position(|other| *other == self.dtype);
        let held = self.sbp.iter().map(|held| match held {
            Sbp::Split(axis) => WHOLE.len() + axis,
            whole => WHOLE.iter().position(|other| other == whole).unwrap_or(0),
        });
        let mut numbers = vec![dtype.unwrap_or_default(), self.mesh.len()];
        numbers.extend_from_slice(&self.mesh);
        numbers.extend(held);
        numbers.extend_from_slice(&self.shape);
        let bytes = |number: usize| (number as u64).to_le_bytes();
        numbers.into_iter().flat_map(bytes).collect()
    }

    fn decode(message: &[u8]) -> Option<Told> {
        let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?) as usize);
        let numbers: Vec<usize> = message.chunks(8).map(number).collect::<Option<_>>()?;
        let (&[dtype, axes], rest) = numbers.split_first_chunk()?;
        let (mesh, rest) = rest.split_at_checked(axes)?;
        let (held, shape) = rest.split_at_checked(axes)?;
        let held = held.iter().map(|held| match WHOLE.get(*held) {
            Some(whole) => *whole,
            None => Sbp::Split(held - WHOLE.len()),
        });
        Some(Told {
            dtype: *DType::ALL.get(dtype)?,
            mesh: mesh.into(),
            sbp: held.collect(),
            shape: shape.into(),
        })
    }
}
