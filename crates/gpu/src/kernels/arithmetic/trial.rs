//! Whether a device's own addition of `f32` is the one every engine has. Drivers may flush subnormals, round otherwise,
//! or take additions apart and put them together again, so it is tried on hard numbers before it is used.

use stridewise_core::Result;

use super::job::Job;
use crate::device::Device;

/// Numbers in a chain of additions.
const CHAIN: usize = 4;
const CHAINS: usize = 1 << 14;

/// Tries the device's addition; a device that cannot be asked is not trusted.
pub(crate) fn adds_as_we_do(device: &Device) -> bool {
    differences(device).is_ok_and(|count| count == 0)
}

fn differences(device: &Device) -> Result<u32> {
    let bytes: Vec<u8> = numbers().flat_map(u32::to_le_bytes).collect();
    let tried = device.storage(bytes.len())?;
    device.write(&tried, &bytes)?;
    let count = device.storage(4)?;
    device.write(&count, &[0; 4])?;
    let params = [CHAINS as u32, CHAIN as u32];
    device.launch(Job::Trial.kernel(), &params, &count, &[&tried], CHAINS)?;
    let mut word = [0; 4];
    device.read(&count, 0, &mut word)?;
    Ok(u32::from_le_bytes(word))
}

/// Chains of hard numbers: all pairs of a table first, then numbers of like size, which cancel and tie, then any bits.
fn numbers() -> impl Iterator<Item = u32> {
    const HARD: [u32; 24] = [
        0,
        1,
        2,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0xff_ffff,
        0x100_0000,
        0x3380_0000,
        0x3380_0001,
        0x3400_0000,
        0x3f7f_ffff,
        0x3f80_0000,
        0x3f80_0001,
        0x4b7f_ffff,
        0x4b80_0000,
        0x4b80_0001,
        0x7e80_0000,
        0x7f00_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7f80_0001,
        0x7fc0_0000,
        0x7fff_ffff,
    ];
    let hard = |n: usize| HARD[n / 2 % HARD.len()] | (n as u32 & 1) << 31;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    let pairs = 4 * HARD.len() * HARD.len();
    (0..CHAINS * CHAIN).map(move |at| {
        let (chain, place) = (at / CHAIN, at % CHAIN);
        let bits = random();
        match (chain, place) {
            (_, 0) if chain < pairs => hard(chain / (2 * HARD.len())),
            (_, 1) if chain < pairs => hard(chain),
            (_, _) if chain < pairs => hard(bits as usize),
            // Exponents within 32 of each other, or among the smallest.
            (_, _) if chain % 4 == 0 => bits & 0x81ff_ffff | 0x3e80_0000,
            (_, _) if chain % 4 == 1 => bits & 0x8fff_ffff | 0x3000_0000,
            (_, _) if chain % 4 == 2 => bits & 0x83ff_ffff,
            _ => bits,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_meet_every_kind_of_number() {
        let all: Vec<u32> = numbers().collect();
        assert_eq!(all.len(), CHAINS * CHAIN);
        for kind in [0, 1, 0x7f_ffff, 0x7f80_0000, 0x7f80_0001] {
            for sign in [0, 1 << 31] {
                assert!(all.contains(&(kind | sign)), "{kind:x}");
            }
        }
    }
}
