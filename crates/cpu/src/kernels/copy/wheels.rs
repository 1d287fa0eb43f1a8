//! Short runs, each many times in a row: a line is made of as many as it holds, and written over and over.

use super::collapse::Axis;
use super::strided::each;
use super::tile::SLACK;
use super::vectors::Vectors;

/// Bytes in a cache line: no more than may be scribbled over behind a block.
const LINE: usize = SLACK;

/// Runs that fit a vector, and how often each is written.
pub(super) struct Wheels {
    vectors: Vectors,
    /// Bytes in a run.
    group: usize,
    copies: usize,
    /// Which byte of the run is where in a line of them.
    turns: [u8; LINE],
}

impl Wheels {
    /// Runs of `group` bytes, each `copies` times; none where they fit no vector.
    pub(super) fn of(group: usize, copies: usize) -> Option<Wheels> {
        let vectors = Vectors::widest().filter(|vectors| group <= vectors.bytes())?;
        Some(Wheels::by(vectors, group, copies))
    }

    /// As [`Wheels::of`], by vectors that there are and that the runs fit.
    fn by(vectors: Vectors, group: usize, copies: usize) -> Wheels {
        Wheels {
            vectors,
            group,
            copies,
            turns: core::array::from_fn(|i| (i % group) as u8),
        }
    }

    /// Writes the copies of the run at every index of `outer`.
    ///
    /// # Safety
    /// K1 and K4 for the runs, K3 for their copies and [`SLACK`] more bytes; what is written at an index follows what was
    /// written at the one before.
    pub(super) unsafe fn write(&self, outer: &[Axis], src: *const u8, stage: *mut u8) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller's; there are such vectors.
        unsafe {
            match self.vectors {
                Vectors::Lines => self.lines(outer, src, stage),
                Vectors::Lanes => self.lanes(outer, src, stage),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (outer, src, stage);
    }

    /// Where in the copies of a run lines are written: each as many whole runs on as a line holds.
    #[cfg(target_arch = "x86_64")]
    fn starts(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.group * self.copies).step_by(LINE / self.group * self.group)
    }

    /// [`Wheels::write`] by vectors of a line.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn lines(&self, outer: &[Axis], src: *const u8, stage: *mut u8) {
        use core::arch::x86_64::*;
        let read = u64::MAX >> (LINE - self.group);
        // SAFETY: no more than the run is read (K1, K4). Every write starts below the end of its copies, and what it
        // carries beyond is overwritten by the next run's, or is slack (K3).
        unsafe {
            let turns = _mm512_loadu_si512(self.turns.as_ptr().cast());
            each(outer, src, stage, &mut |src, stage| {
                let run = _mm512_maskz_loadu_epi8(read, src.cast());
                let wheel = _mm512_permutexvar_epi8(turns, run);
                for at in self.starts() {
                    _mm512_storeu_si512(stage.add(at).cast(), wheel);
                }
            });
        }
    }

    /// [`Wheels::write`] by lanes, four of which make a line.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn lanes(&self, outer: &[Axis], src: *const u8, stage: *mut u8) {
        use core::arch::x86_64::*;
        let turns = self.turns.as_ptr().cast::<__m256i>();
        // SAFETY: as in `lines`.
        unsafe {
            let turns = [0, 1].map(|half| _mm256_loadu_si256(turns.add(half)));
            each(outer, src, stage, &mut |src, stage| {
                let run = read(src, self.group);
                let run = _mm_set_epi64x((run >> 64) as i64, run as i64);
                let run = _mm256_broadcastsi128_si256(run);
                let wheel = turns.map(|turns| _mm256_shuffle_epi8(run, turns));
                for at in self.starts() {
                    let to = stage.add(at).cast::<__m256i>();
                    _mm256_storeu_si256(to, wheel[0]);
                    _mm256_storeu_si256(to.add(1), wheel[1]);
                }
            });
        }
    }
}

/// The 1 to 16 bytes at `src`, by numbers that may overlap.
///
/// # Safety
/// K1 and K4 for them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn read(src: *const u8, bytes: usize) -> u128 {
    /// Both ends, as far as a number each.
    ///
    /// # Safety
    /// As for [`read`]; there are at least as many bytes as a number has.
    #[inline(always)]
    unsafe fn ends<T: Into<u128>>(src: *const u8, bytes: usize) -> u128 {
        let last = bytes - size_of::<T>();
        // SAFETY: the caller's.
        unsafe {
            let first = src.cast::<T>().read_unaligned();
            let second = src.add(last).cast::<T>().read_unaligned();
            first.into() | second.into() << (8 * last)
        }
    }
    // SAFETY: the caller's.
    unsafe {
        match bytes {
            8.. => ends::<u64>(src, bytes),
            4..8 => ends::<u32>(src, bytes),
            2..4 => ends::<u16>(src, bytes),
            _ => src.read().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_repeated_by_all_vectors() {
        for vectors in Vectors::all() {
            for (group, copies) in (1..=vectors.bytes()).flat_map(|group| [(group, 2), (group, 37)])
            {
                let runs: Vec<u8> = (0..5 * group).map(|i| (i * 31 + 7) as u8).collect();
                let expected: Vec<u8> = runs
                    .chunks_exact(group)
                    .flat_map(|run| run.repeat(copies))
                    .collect();
                let outer = Axis {
                    size: 5,
                    src: group as isize,
                    dst: (group * copies) as isize,
                };
                let mut found = vec![0xa5; expected.len() + SLACK];
                // SAFETY: five runs, and room for their copies and the slack (K1, K3, K4).
                unsafe {
                    let wheels = Wheels::by(vectors, group, copies);
                    wheels.write(&[outer], runs.as_ptr(), found.as_mut_ptr());
                }
                assert!(
                    found[..expected.len()] == expected,
                    "runs of {group} bytes, {copies} times, {vectors:?}"
                );
            }
        }
    }
}
