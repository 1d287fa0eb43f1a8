//! Records as bytes, for wires that carry nothing else.

use std::borrow::Cow;

use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};

use super::{Kind, Record};
use crate::sbp::Reduction;

impl Record<'_> {
    /// As bytes, little end first, whatever the machine.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let place = |at: Option<usize>| at.map_or(u8::MAX, |at| at as u8);
        let by = Reduction::ALL.iter().position(|&by| Some(by) == self.by);
        out.extend([
            place(Kind::ALL.iter().position(|&kind| kind == self.kind)),
            place(DType::ALL.iter().position(|&dtype| dtype == self.dtype)),
            place(by),
        ]);
        out.extend(self.sequence.to_le_bytes());
        let mut number = |number: usize| out.extend((number as u64).to_le_bytes());
        number(self.bytes);
        for counts in [&self.counts, &self.recv] {
            number(counts.len());
            counts.iter().for_each(|&count| number(count));
        }
        out.extend(self.operator.as_bytes());
        out
    }

    /// Reads what [`Record::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<Record<'static>> {
        read(bytes).ok_or_else(|| {
            Error::world(format!(
                "a rank sent {} bytes that are no record of a call",
                bytes.len()
            ))
            .help("all ranks must run the same version of Stridewise")
        })
    }
}

fn read(mut bytes: &[u8]) -> Option<Record<'static>> {
    let ([kind, dtype, by], rest) = bytes.split_first_chunk()?;
    bytes = rest;
    let mut number = || {
        let (number, rest) = bytes.split_first_chunk()?;
        bytes = rest;
        Some(u64::from_le_bytes(*number))
    };
    let sequence = number()?;
    let sent = usize::try_from(number()?).ok()?;
    let mut counts = || {
        // No room is made for a count that has not been seen: the length may be nonsense.
        let mut counts = Vec::new();
        for _ in 0..number()? {
            counts.push(usize::try_from(number()?).ok()?);
        }
        Some(Cow::Owned(counts))
    };
    let (counts, recv) = (counts()?, counts()?);
    let by = match *by {
        u8::MAX => None,
        by => Some(*Reduction::ALL.get(usize::from(by))?),
    };
    Some(Record {
        sequence,
        operator: Cow::Owned(String::from_utf8(bytes.to_vec()).ok()?),
        kind: *Kind::ALL.get(usize::from(*kind))?,
        dtype: *DType::ALL.get(usize::from(*dtype))?,
        by,
        bytes: sent,
        counts,
        recv,
    })
}
