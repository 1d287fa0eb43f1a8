//! What is left out of a picture that would not fit.

/// The indices of an axis that are shown, at most `most` of them and never the last left out; `None` is a gap.
pub(crate) fn shown(size: usize, most: usize) -> Vec<Option<usize>> {
    if size <= most {
        return (0..size).map(Some).collect();
    }
    let front = most.saturating_sub(2).max(1);
    let mut shown: Vec<Option<usize>> = (0..front).map(Some).collect();
    shown.extend([None, Some(size - 1)]);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_axis_keeps_its_ends() {
        assert_eq!(shown(3, 4), [Some(0), Some(1), Some(2)]);
        assert_eq!(shown(9, 4), [Some(0), Some(1), None, Some(8)]);
        assert_eq!(shown(0, 4), []);
    }
}
