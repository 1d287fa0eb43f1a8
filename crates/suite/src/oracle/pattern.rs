//! The oracle's rule for shape patterns.

use std::collections::HashMap;

use stridewise_core::call::Arg;

use super::{Answer, Faults, Judgement, Question};
use crate::runner::{Entry, Family};

pub(super) fn enforce_shape(q: Question) -> Judgement {
    let x = q.receiver().reference();
    let Some(Arg::List(pieces)) = q.call.get("pattern") else {
        return Err(vec![Family::Type]);
    };
    let mut faults = Faults::default();
    for piece in pieces {
        match piece {
            Arg::None | Arg::Rest | Arg::Text(_) | Arg::Symbol(_) => {}
            Arg::Int(n) if isize::try_from(*n).is_err() => faults.unless(false, Family::Overflow),
            Arg::Int(n) => faults.unless(*n >= 0, Family::Shape),
            _ => faults.unless(false, Family::Type),
        }
    }
    let rests = pieces
        .iter()
        .filter(|piece| matches!(piece, Arg::Rest))
        .count();
    faults.unless(rests <= 1, Family::Argument);
    let fixed = pieces.len() - rests;
    let rank = x.shape.len();
    faults.unless(rank == fixed || (rests > 0 && rank > fixed), Family::Shape);
    faults.end()?;

    let mut bound: HashMap<String, usize> = HashMap::new();
    let mut entries = Vec::new();
    let mut sizes = x.shape.iter().copied();
    for piece in pieces {
        if matches!(piece, Arg::Rest) {
            let axes: Vec<usize> = sizes.by_ref().take(rank - fixed).collect();
            let count = axes.iter().product();
            entries.push(Entry::Rest(axes, count));
            continue;
        }
        let Some(size) = sizes.next() else {
            return Err(vec![Family::Shape]);
        };
        let fine = match piece {
            Arg::Int(n) => *n == size as i128,
            Arg::Text(name) => *bound.entry(name.clone()).or_insert(size) == size,
            Arg::Symbol(s) => *bound.entry(s.name().to_string()).or_insert(size) == size,
            _ => true,
        };
        if !fine {
            return Err(vec![Family::Shape]);
        }
        entries.push(Entry::Size(size));
    }
    Ok(Answer::Checked(x, entries))
}
