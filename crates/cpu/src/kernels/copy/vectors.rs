//! Vectors in which a processor puts bytes anywhere: what narrow rows are put together and taken apart with.

/// Bytes in a lane.
pub(super) const LANE: usize = Vectors::Lanes.bytes();
/// The place of no byte: a lane gets a zero for it, and a line nothing that stays.
pub(super) const NONE: u8 = 0x80;

/// How many bytes a processor puts anywhere at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vectors {
    /// A line (AVX-512 VBMI).
    Lines,
    /// A quarter of one (AVX2, of which each lane is on its own).
    Lanes,
}

impl Vectors {
    /// Those that this processor has, the widest first.
    pub(crate) fn all() -> impl Iterator<Item = Vectors> {
        #[cfg(target_arch = "x86_64")]
        let (lines, lanes) = (
            std::arch::is_x86_feature_detected!("avx512vbmi")
                && std::arch::is_x86_feature_detected!("avx512bw")
                && std::arch::is_x86_feature_detected!("avx512vl"),
            std::arch::is_x86_feature_detected!("avx2"),
        );
        #[cfg(not(target_arch = "x86_64"))]
        let (lines, lanes) = (false, false);
        let lines = lines.then_some(Vectors::Lines);
        lines.into_iter().chain(lanes.then_some(Vectors::Lanes))
    }

    /// The widest that this processor has.
    pub(crate) fn widest() -> Option<Vectors> {
        Vectors::all().next()
    }

    /// Bytes that are put anywhere at once.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Vectors::Lines => 64,
            Vectors::Lanes => 16,
        }
    }
}
