//! The way from block to block: loops, nested in an order in which what has been read and written is used up while the
//! processor still knows where it is.

use super::collapse::{Axes, Axis};
use smallvec::SmallVec;

/// Bytes of a page of memory. Where a processor's memory is lent by another system, large pages are often made of these.
const PAGE: usize = 4 << 10;

/// A loop from block to block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) count: usize,
    pub(super) src: isize,
    pub(super) dst: isize,
    /// The axis of the block this step continues, and how much of it the last step takes.
    pub(super) cut: Option<(usize, usize)>,
}

/// The loops over all blocks, from slow to fast.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// Those that repeat the same source are the fastest.
    steps: SmallVec<[Step; 8]>,
    /// How many of the steps change the source.
    walks: usize,
    /// Where the first step goes from strip to strip: the one that goes on within a strip, and how often in the last.
    strip: Option<(usize, usize)>,
}

impl Steps {
    /// The steps from block to block of `take[i]` indices of axis `i`, as the axes come, and the axes of a whole block.
    pub(super) fn of(axes: &[Axis], take: &[usize]) -> (Steps, Axes) {
        let mut block = Axes::new();
        let mut found = Steps {
            steps: SmallVec::new(),
            walks: 0,
            strip: None,
        };
        for (axis, &take) in axes.iter().zip(take) {
            if take < axis.size {
                let count = axis.size.div_ceil(take);
                let step = Step {
                    count,
                    src: axis.src * take as isize,
                    dst: axis.dst * take as isize,
                    cut: (take > 1).then(|| (block.len(), axis.size - (count - 1) * take)),
                };
                if axis.src == 0 {
                    found.steps.push(step);
                } else {
                    found.steps.insert(found.walks, step);
                    found.walks += 1;
                }
            }
            if take > 1 {
                block.push(Axis {
                    size: take,
                    ..*axis
                });
            }
        }
        (found, block)
    }

    /// On along the source: its pages are looked up anew where it jumps, and reads wait for that.
    pub(super) fn along_the_source(&mut self) {
        self.steps[..self.walks].sort_by_key(|step| core::cmp::Reverse(step.src.unsigned_abs()));
    }

    /// On along the source, of every row of a block to the end of a page; then on along the rows of the output, whose pages
    /// are the same for all the way along a page of the source, and are still known when they are written again. With all
    /// of a long row of the source first, there would be too many.
    pub(super) fn page_by_page(&mut self) {
        self.along_the_source();
        let along = (0..self.walks).min_by_key(|&at| self.steps[at].dst);
        let Some(mut along) = along.filter(|&along| along + 1 < self.walks) else {
            return;
        };
        let mut within = self.walks;
        while within > along + 1 {
            let step = self.steps[within - 1];
            let most = PAGE / step.src.unsigned_abs();
            if step.count > most {
                if most > 1 {
                    self.cut(within - 1, most);
                    along += 1;
                } else if within == self.walks {
                    return;
                }
                break;
            }
            within -= 1;
        }
        self.steps[along..within].rotate_left(1);
    }

    /// Has a step go on `count` times only, and then from strip to strip in a step before all others.
    fn cut(&mut self, at: usize, count: usize) {
        let step = &mut self.steps[at];
        let strips = step.count.div_ceil(count);
        let last = step.count - (strips - 1) * count;
        step.count = count;
        let across = Step {
            count: strips,
            src: step.src * count as isize,
            dst: step.dst * count as isize,
            cut: None,
        };
        self.steps.insert(0, across);
        self.walks += 1;
        self.strip = Some((at + 1, last));
    }

    /// Whether a source is used for more than one block.
    pub(super) fn repeat(&self) -> bool {
        self.walks < self.steps.len()
    }

    /// How many blocks there are.
    pub(super) fn blocks(&self) -> usize {
        let Some((first, rest)) = self.steps.split_first() else {
            return 1;
        };
        let last = first.count - 1;
        let counts = |strip| (1..=rest.len()).map(move |at| self.count(at, strip));
        last * counts(0).product::<usize>() + counts(last).product::<usize>()
    }

    /// How often a step goes on, if the first one has gone on so often.
    fn count(&self, at: usize, first: usize) -> usize {
        match self.strip {
            Some((within, last)) if within == at && first + 1 == self.steps[0].count => last,
            _ => self.steps[at].count,
        }
    }
}

/// Where one block starts, and the axes it has there.
pub(super) struct Cursor<'a> {
    steps: &'a Steps,
    whole: &'a Axes,
    index: SmallVec<[usize; 8]>,
    /// Bytes from the start of the copy.
    pub(super) src: isize,
    pub(super) dst: isize,
    pub(super) block: Axes,
}

impl<'a> Cursor<'a> {
    /// The block with the given number; `whole` are the axes of a whole one.
    pub(super) fn new(steps: &'a Steps, whole: &'a Axes, number: usize) -> Cursor<'a> {
        let mut index: SmallVec<[usize; 8]> = SmallVec::from_elem(0, steps.steps.len());
        let mut left = number;
        if let Some((first, rest)) = index.split_first_mut() {
            // The last strip may have fewer.
            let each = steps.steps[1..].iter().map(|step| step.count);
            let each: usize = each.product();
            *first = (left / each).min(steps.steps[0].count - 1);
            left -= *first * each;
            for (at, index) in rest.iter_mut().enumerate().rev() {
                let count = steps.count(at + 1, *first);
                *index = left % count;
                left /= count;
            }
        }
        let mut cursor = Cursor {
            steps,
            whole,
            index,
            src: 0,
            dst: 0,
            block: whole.clone(),
        };
        cursor.locate();
        cursor
    }

    /// Goes on to the next block, and says whether it reads another part of the source.
    pub(super) fn advance(&mut self) -> bool {
        let mut new_source = false;
        for at in (0..self.index.len()).rev() {
            new_source |= at < self.steps.walks;
            self.index[at] += 1;
            if self.index[at] < self.steps.count(at, self.index[0]) {
                break;
            }
            self.index[at] = 0;
        }
        self.locate();
        new_source
    }

    fn locate(&mut self) {
        (self.src, self.dst) = (0, 0);
        for (at, (step, &index)) in self.steps.steps.iter().zip(&self.index).enumerate() {
            self.src += index as isize * step.src;
            self.dst += index as isize * step.dst;
            if let Some((axis, rest)) = step.cut {
                let last = index + 1 == self.steps.count(at, self.index[0]) && self.is_over(at);
                self.block[axis].size = if last { rest } else { self.whole[axis].size };
            }
        }
    }

    /// Whether a step ends for good where it ends now, and does not go on in the next strip.
    fn is_over(&self, at: usize) -> bool {
        let Steps { steps, strip, .. } = self.steps;
        strip.is_none_or(|(within, _)| within != at || self.index[0] + 1 == steps[0].count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::sample::Rng;
    use std::collections::{HashSet, VecDeque};

    fn axis(size: usize, src: isize, dst: isize) -> Axis {
        Axis { size, src, dst }
    }

    /// Sizes of axes whose order is turned round in the output, and the axes, of four-byte cells.
    fn reversed(sizes: &[usize]) -> Vec<Axis> {
        let (mut src, mut dst) = (4, 4 * sizes.iter().product::<usize>() as isize);
        let each = sizes.iter().map(|&size| {
            dst /= size as isize;
            let axis = axis(size, src, dst);
            src *= size as isize;
            axis
        });
        each.collect()
    }

    /// Every cell of a block: where it is in the source and in the output.
    fn cells(cursor: &Cursor<'_>) -> Vec<(isize, isize)> {
        let mut found = vec![(cursor.src, cursor.dst)];
        for axis in &cursor.block {
            found = (0..axis.size as isize)
                .flat_map(|i| {
                    let on = move |&(src, dst)| (src + i * axis.src, dst + i * axis.dst);
                    found.iter().map(on).collect::<Vec<_>>()
                })
                .collect();
        }
        found
    }

    #[test]
    fn every_cell_is_in_one_block_and_a_cursor_starts_anywhere() {
        let mut numbers = Rng(24);
        let mut stripped = 0;
        for _ in 0..600 {
            let rank = 1 + numbers.below(4);
            let sizes: Vec<usize> = (0..rank).map(|_| 2 + numbers.below(9)).collect();
            let mut axes = reversed(&sizes);
            // Some repeat, and some rows are far longer than a page.
            let wide = 1 << numbers.below(9);
            for axis in &mut axes {
                let keeps = numbers.below(6) > 0;
                axis.src = if keeps { axis.src * wide } else { 0 };
            }
            let take: Vec<usize> = sizes.iter().map(|&n| 1 + numbers.below(n)).collect();
            let (mut steps, whole) = Steps::of(&axes, &take);
            steps.page_by_page();
            stripped += usize::from(steps.strip.is_some());
            let mut seen = HashSet::new();
            let mut cursor = Cursor::new(&steps, &whole, 0);
            for number in 0..steps.blocks() {
                let same = Cursor::new(&steps, &whole, number);
                assert_eq!(
                    (cursor.src, cursor.dst, &cursor.block),
                    (same.src, same.dst, &same.block)
                );
                for cell in cells(&cursor) {
                    assert!(seen.insert(cell), "{axes:?} {take:?}: {cell:?} twice");
                }
                let before = cursor.src;
                let new_source = cursor.advance();
                assert!(new_source || cursor.src == before);
            }
            assert_eq!(seen.len(), sizes.iter().product::<usize>(), "{axes:?}");
        }
        assert!(stripped > 10, "{stripped}");
    }

    /// How many pages have to be looked up on the way over all blocks, if the last 400 are known.
    fn looked_up(steps: &Steps, whole: &Axes) -> usize {
        let mut known = VecDeque::new();
        let mut count = 0;
        let mut cursor = Cursor::new(steps, whole, 0);
        for _ in 0..steps.blocks() {
            let mut pages: Vec<(bool, isize)> = cells(&cursor)
                .into_iter()
                .flat_map(|(src, dst)| [(false, src / 4096), (true, dst / 4096)])
                .collect();
            pages.sort_unstable();
            pages.dedup();
            for page in pages {
                match known.iter().position(|other| *other == page) {
                    Some(at) => known.remove(at),
                    None => {
                        count += 1;
                        (known.len() == 400).then(|| known.pop_front()).flatten()
                    }
                };
                known.push_back(page);
            }
            cursor.advance();
        }
        count
    }

    #[test]
    fn page_by_page_fewer_pages_are_looked_up_than_along_the_source() {
        // A matrix, and planes that are far apart in both.
        for (axes, take) in [
            (reversed(&[4096, 256]), vec![64, 64]),
            (reversed(&[256, 16, 256]), vec![64, 1, 64]),
        ] {
            let (mut steps, whole) = Steps::of(&axes, &take);
            steps.along_the_source();
            let along = looked_up(&steps, &whole);
            steps.page_by_page();
            let by_page = looked_up(&steps, &whole);
            assert!(by_page * 2 < along, "{by_page} of {along}");
        }
    }

    #[test]
    fn steps_that_are_within_a_page_or_beyond_it_are_left_in_order() {
        // Blocks that take a page of the source each, and rows that are no longer than a block.
        for (axes, take) in [
            (reversed(&[4096, 64]), vec![1024, 16]),
            (reversed(&[64, 4096]), vec![64, 64]),
        ] {
            let (mut steps, _) = Steps::of(&axes, &take);
            steps.along_the_source();
            let along = steps.clone();
            steps.page_by_page();
            assert_eq!(steps.steps, along.steps);
            assert_eq!(steps.strip, None);
        }
    }
}
