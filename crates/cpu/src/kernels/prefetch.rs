//! Asks for a line some time before it is read. A hint: the address need not be valid, and elsewhere than on x86-64 nothing
//! is asked.

macro_rules! hints {
    ($($(#[doc = $doc:literal])+ $name:ident $hint:ident;)*) => {$(
        $(#[doc = $doc])+
        #[inline(always)]
        pub(crate) fn $name(address: *const u8) {
            #[cfg(target_arch = "x86_64")]
            {
                use core::arch::x86_64::{$hint, _mm_prefetch};
                // SAFETY: a hint: any address will do, and every x86-64 has it.
                unsafe { _mm_prefetch::<$hint>(address.cast()) };
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = address;
        }
    )*};
}

hints! {
    /// Into the nearest cache.
    nearest _MM_HINT_T0;
    /// As near as the second cache.
    second _MM_HINT_T1;
    /// To be read once: into the nearest cache, and it pushes nothing else out of the farther ones.
    once _MM_HINT_NTA;
}

/// What is read once and in order, such as an index: it pushes nothing else out, unless the nearest cache is small and would
/// not hold it until then.
#[inline(always)]
pub(crate) fn in_passing(address: *const u8, small: bool) {
    match small {
        true => nearest(address),
        false => once(address),
    }
}
