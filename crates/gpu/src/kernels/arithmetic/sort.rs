//! A stable sort on the device: entries, which are pairs of words, by the first of them. Four bits at a time from the
//! lowest, each time by counting; nothing depends on the order in which threads run.

use stridewise_core::Result;

use super::counted;
use super::job::Job;
use crate::device::Device;
use crate::storage::Storage;

const BITS: u32 = 4;
const DIGITS: usize = 1 << BITS;
/// A thread takes at least so many entries.
const PIECE: usize = 64;
/// There are at most so many threads.
const PIECES: usize = 1 << 16;
/// How many counts a thread adds up.
const RUN: usize = 64;

/// Bytes of an entry.
pub(super) const ENTRY: usize = 8;

/// Sorts entries whose keys are at most `largest`.
pub(super) fn sort(
    device: &Device,
    mut entries: Storage,
    count: usize,
    largest: u32,
) -> Result<Storage> {
    let piece = count.div_ceil(PIECES).max(PIECE);
    let pieces = count.div_ceil(piece);
    let bits = u32::BITS - largest.leading_zeros();
    for shift in (0..bits).step_by(BITS as usize) {
        let params = [pieces as u32, counted(count)?, piece as u32, shift];
        let counts = device.storage(DIGITS * pieces * 4)?;
        device.launch(Job::Count.kernel(), &params, &counts, &[&entries], pieces)?;
        let places = before(device, &counts, DIGITS * pieces)?;
        let sorted = device.storage(count * ENTRY)?;
        let inputs = [&entries, &places];
        device.launch(Job::Place.kernel(), &params, &sorted, &inputs, pieces)?;
        entries = sorted;
    }
    Ok(entries)
}

/// The sum of all numbers before each: totals of runs, what stands before each of those, and then within the runs.
fn before(device: &Device, counts: &Storage, len: usize) -> Result<Storage> {
    let runs = len.div_ceil(RUN);
    let params = [runs as u32, len as u32];
    let out = device.storage(len * 4)?;
    if runs == 1 {
        // Nothing stands before the one run, and the second input is not read.
        device.launch(
            Job::ScanDown.kernel(),
            &params,
            &out,
            &[counts, counts],
            runs,
        )?;
        return Ok(out);
    }
    let totals = device.storage(runs * 4)?;
    device.launch(Job::ScanUp.kernel(), &params, &totals, &[counts], runs)?;
    let starts = before(device, &totals, runs)?;
    let inputs = [counts, &starts];
    device.launch(Job::ScanDown.kernel(), &params, &out, &inputs, runs)?;
    Ok(out)
}
