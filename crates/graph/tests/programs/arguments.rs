//! The arguments of each operator, for a value that it is called on. Most are good; now and then an axis, a size or
//! an index is out of place.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;

use crate::draw::{Draw, number};
use crate::program::Item;

type Named = Vec<(&'static str, Item)>;

fn ints(numbers: &[i128]) -> Item {
    Item::List(numbers.iter().map(|&n| number(n)).collect())
}

fn word(word: &str) -> Item {
    Item::Plain(Arg::Text(word.to_string()))
}

impl Draw<'_> {
    /// Yes, seldom: something is to be wrong.
    fn off(&mut self) -> bool {
        self.c.once_in(40)
    }

    /// An axis of that rank, from either end.
    fn axis(&mut self, rank: usize) -> i128 {
        let rank = rank as i128;
        if rank == 0 || self.off() {
            return self.c.pick(&[0, rank, -rank - 1, isize::MAX as i128]);
        }
        let axis = self.c.between(0, rank - 1);
        if self.c.once_in(3) { axis - rank } else { axis }
    }

    /// That axis from the front.
    fn front(axis: i128, rank: usize) -> usize {
        axis.rem_euclid(rank.max(1) as i128) as usize
    }

    /// Several axes of that rank, each once.
    fn axes(&mut self, rank: usize, count: usize) -> Vec<i128> {
        let mut left: Vec<i128> = (0..rank as i128).collect();
        let mut all = Vec::new();
        for _ in 0..count {
            if left.is_empty() || self.off() {
                all.push(self.axis(rank));
                continue;
            }
            let axis = left.remove(self.c.below(left.len()));
            let behind = self.c.once_in(3);
            all.push(if behind { axis - rank as i128 } else { axis });
        }
        all
    }

    /// Sizes whose product is `n`.
    fn factors(&mut self, n: usize) -> Vec<i128> {
        let mut parts = vec![n];
        for _ in 0..self.c.below(3) {
            let at = self.c.below(parts.len());
            let whole = parts[at];
            let divisors: Vec<usize> = match whole {
                0 => vec![0, 2],
                _ => (1..=whole).filter(|d| whole % d == 0).collect(),
            };
            let divisor = self.c.pick(&divisors);
            let rest = whole.checked_div(divisor).unwrap_or(3);
            parts.splice(at..=at, [divisor, rest]);
        }
        let mut parts: Vec<i128> = parts.into_iter().map(|n| n as i128).collect();
        let at = self.c.below(parts.len());
        match self.c.below(8) {
            0..=3 => parts[at] = -1,
            7 if self.c.once_in(6) => parts[at] += 1,
            6 if self.c.once_in(8) => parts.push(-1),
            _ => {}
        }
        parts
    }

    /// What an operator is given beside the value it is called on.
    pub(crate) fn arguments(&mut self, operator: &'static str, x: usize) -> (Vec<Item>, Named) {
        let one = vec![Item::Value(x)];
        let shape = self.tensor(x).shape().to_vec();
        let rank = shape.len();
        let named = match operator {
            "atleast_1d" | "atleast_2d" | "atleast_3d" => {
                let mut all = one;
                if self.c.once_in(4) {
                    let others = self.such(|_| true);
                    all.push(Item::Value(self.c.pick(&others)));
                }
                return (all, Vec::new());
            }
            "contiguous" | "shape_of" => Vec::new(),
            "atleast_nd" => {
                let n = if self.off() { -1 } else { self.c.between(0, 5) };
                let place = self.c.pick(&["numpy", "front", "back"]);
                vec![("n", number(n)), ("place", word(place))]
            }
            "expand" => vec![("sizes", self.stretched(&shape, true))],
            "broadcast_to" => vec![("shape", self.stretched(&shape, false))],
            "expand_as" => vec![("other", Item::Value(self.wider(&shape)))],
            "repeat" => vec![("sizes", self.counts(rank))],
            "tile" => {
                let rank = self.c.below(rank + 2);
                vec![("reps", self.counts(rank))]
            }
            "repeat_interleave" => self.interleaved(&shape),
            "unflatten" => {
                let axis = self.axis(rank);
                let size = shape.get(Self::front(axis, rank)).copied();
                let parts = self.factors(size.unwrap_or(1));
                vec![("axis", number(axis)), ("shape", self.sizes(&parts))]
            }
            "flatten" => {
                let (mut a, mut b) = (self.axis(rank), self.axis(rank));
                if Self::front(a, rank) > Self::front(b, rank) && !self.off() {
                    (a, b) = (b, a);
                }
                match self.c.below(3) {
                    0 => Vec::new(),
                    _ => vec![("start", number(a)), ("stop", number(b))],
                }
            }
            "reshape" | "view" => vec![("shape", self.reshaped(&shape))],
            "squeeze" => {
                let ones = (0..rank).filter(|&axis| shape[axis] == 1 || self.off());
                let ones: Vec<i128> = ones.map(|axis| axis as i128).collect();
                match self.c.below(3) {
                    0 => vec![("axis", ints(&ones))],
                    1 if !ones.is_empty() => vec![("axis", number(ones[0] - rank as i128))],
                    _ => Vec::new(),
                }
            }
            "unsqueeze" => {
                let count = self.c.below(3);
                vec![("axis", ints(&self.axes(rank + count, count)))]
            }
            "permute" | "transpose" => {
                let count = if self.off() { rank + 1 } else { rank };
                match operator == "transpose" && self.c.once_in(2) {
                    true => Vec::new(),
                    false => vec![("axes", ints(&self.axes(rank, count)))],
                }
            }
            "swapaxes" => {
                let (a, b) = (self.axis(rank), self.axis(rank));
                vec![("a", number(a)), ("b", number(b))]
            }
            "moveaxis" => {
                let count = self.c.below(rank + 1);
                let (from, to) = (self.axes(rank, count), self.axes(rank, count));
                vec![("source", ints(&from)), ("destination", ints(&to))]
            }
            "flip" => {
                let count = self.c.below(rank + 1);
                vec![("axis", ints(&self.axes(rank, count)))]
            }
            "slice" => vec![("items", self.sliced(&shape))],
            "take" => self.taken(&shape),
            "index_select" => {
                let axis = self.axis(rank);
                let len = self.c.below(4);
                let index = self.list_into(&shape, axis, len);
                vec![("axis", number(axis)), ("index", Item::Value(index))]
            }
            "take_along_axis" => self.taken_along(&shape),
            "index_add" => {
                let axis = self.axis(rank);
                let len = self.c.below(4);
                let index = self.list_into(&shape, axis, len);
                let mut source = shape.clone();
                if let Some(size) = source.get_mut(Self::front(axis, rank)) {
                    *size = self.tensor(index).shape().first().copied().unwrap_or(1);
                }
                let dtype = self.tensor(x).dtype();
                let source = self.like(dtype, &source);
                vec![
                    ("axis", number(axis)),
                    ("index", Item::Value(index)),
                    ("source", Item::Value(source)),
                ]
            }
            "enforce_shape" => vec![("pattern", self.pattern(&shape))],
            "unstack" => {
                let axis = self.axis(rank);
                return (self.known_along(x, axis), vec![("axis", number(axis))]);
            }
            "cast" => {
                let dtype = self.other_dtype();
                vec![("dtype", Item::Plain(Arg::DType(dtype)))]
            }
            "sum" => {
                let count = self.c.below(rank + 1);
                let mut named = match self.c.below(3) {
                    0 => Vec::new(),
                    _ => vec![("axis", ints(&self.axes(rank, count)))],
                };
                if self.c.once_in(3) {
                    named.push(("keepdims", Item::Plain(Arg::Bool(true))));
                }
                if self.c.once_in(6) {
                    let dtype = self.other_dtype();
                    named.push(("dtype", Item::Plain(Arg::DType(dtype))));
                }
                named
            }
            "concat" | "stack" => {
                let axis = self.axis(rank + usize::from(operator == "stack"));
                let joined = self.joined(x, (operator == "concat").then_some(axis));
                return (vec![joined], vec![("axis", number(axis))]);
            }
            "zeros" | "ones" | "full" => {
                let wanted = match self.c.below(2) {
                    0 => self.shape(),
                    _ => shape,
                };
                let mut wanted: Vec<i128> = wanted.into_iter().map(|n| n as i128).collect();
                if self.off() {
                    // Twice the most there is: no memory could be had, so nothing is left to chance.
                    let most = [isize::MAX as i128, 2];
                    wanted.extend(self.c.pick(&[[-1, 1], [-2, 2], most]));
                }
                let mut named = vec![("shape", self.sizes(&wanted))];
                if operator == "full" {
                    named.push(("value", number(self.c.between(0, 3))));
                }
                let dtype = self.other_dtype();
                named.push(("dtype", Item::Plain(Arg::DType(dtype))));
                return (Vec::new(), named);
            }
            "arange" => {
                let stop = self.c.between(-2, 8);
                let step = if self.off() {
                    0
                } else {
                    self.c.pick(&[1, 2, -1])
                };
                let named = vec![
                    ("start", number(self.c.between(-2, 2))),
                    ("stop", number(stop)),
                    ("step", number(step)),
                ];
                return (Vec::new(), named);
            }
            other => panic!("programs do not know how to call `{other}`"),
        };
        (one, named)
    }

    fn stretched(&mut self, shape: &[usize], keeps: bool) -> Item {
        let mut sizes: Vec<i128> = Vec::new();
        for &size in shape {
            sizes.push(match self.c.below(4) {
                0 if size == 1 => self.c.between(0, 3),
                1 if keeps => -1,
                _ if self.off() => size as i128 + 1,
                _ => size as i128,
            });
        }
        for _ in 0..self.c.pick(&[0, 0, 1, 2]) {
            let size = if self.off() { -1 } else { self.c.between(0, 3) };
            sizes.insert(0, size);
        }
        if self.off() {
            sizes.pop();
        }
        self.sizes(&sizes)
    }

    /// A value whose shape this one can take.
    fn wider(&mut self, shape: &[usize]) -> usize {
        let (rank, shape) = (shape.len(), shape.to_vec());
        let fits = |other: &[usize]| {
            other.len() >= rank
                && (other[other.len() - rank..].iter().zip(&shape)).all(|(a, b)| a == b || *b == 1)
        };
        let some = self.such(|x| fits(x.shape()));
        if self.c.below(3) > 0 && !some.is_empty() {
            return self.c.pick(&some);
        }
        if self.off() {
            let all = self.such(|_| true);
            return self.c.pick(&all);
        }
        let mut wide = shape.clone();
        for size in &mut wide {
            if *size == 1 && self.c.once_in(2) {
                *size = self.c.below(4);
            }
        }
        if self.c.once_in(2) {
            wide.insert(0, self.c.below(3));
        }
        self.elements(&wide)
    }

    fn counts(&mut self, rank: usize) -> Item {
        let extra = self.c.pick(&[0, 0, 1]);
        let mut counts: Vec<i128> = (0..rank + extra)
            .map(|_| self.c.pick(&[1, 2, 1, 3, 0]))
            .collect();
        if self.off() && !counts.is_empty() {
            let at = self.c.below(counts.len());
            counts[at] = -1;
        }
        if self.off() {
            counts.pop();
        }
        self.sizes(&counts)
    }

    fn interleaved(&mut self, shape: &[usize]) -> Named {
        let axis = (self.c.below(4) > 0).then(|| self.axis(shape.len()));
        let size = match axis {
            None => shape.iter().product(),
            Some(axis) => (shape.get(Self::front(axis, shape.len())).copied()).unwrap_or(1),
        };
        let len = match self.c.below(3) {
            _ if size > 20 || self.off() => 1,
            0 => size,
            _ => 1,
        };
        let counts: Vec<i128> = (0..len).map(|_| self.c.between(0, 3)).collect();
        let counts = self.sizes(&counts);
        match axis {
            Some(axis) => vec![("repeats", counts), ("axis", number(axis))],
            None => vec![("repeats", counts)],
        }
    }

    fn reshaped(&mut self, shape: &[usize]) -> Item {
        let count: usize = shape.iter().product();
        // Back to what a pattern once found, or to its two-dimensional form.
        let fitting: Vec<(usize, Vec<usize>)> = (self.patterns().into_iter())
            .filter(|(_, sizes)| sizes.iter().product::<usize>() == count)
            .collect();
        if !fitting.is_empty() && self.c.below(3) > 0 {
            let (step, sizes) = self.c.pick(&fitting);
            let ellipsis = self.ellipsis(step);
            let spread = self.c.below(2) == 0;
            let piece = |piece: usize| match spread && ellipsis == Some(piece) {
                true => Item::Axes { step },
                false => Item::Size { step, piece },
            };
            let mut items: Vec<Item> = (0..sizes.len()).map(piece).collect();
            if self.c.once_in(4) && !items.is_empty() {
                let at = self.c.below(items.len());
                items[at] = number(-1);
            }
            return Item::List(items);
        }
        let mut sizes = match self.c.below(3) {
            0 => self.factors(count),
            _ => {
                let mut sizes: Vec<i128> = Vec::new();
                for &size in shape {
                    match (self.c.below(3), sizes.last_mut()) {
                        (0, Some(last)) => *last *= size as i128,
                        _ => sizes.push(size as i128),
                    }
                }
                sizes
            }
        };
        if self.c.once_in(4) {
            sizes.insert(self.c.below(sizes.len() + 1), 1);
        }
        if self.off() {
            sizes.push(2);
        }
        self.sizes(&sizes)
    }

    fn sliced(&mut self, shape: &[usize]) -> Item {
        let mut items = Vec::new();
        for &size in &shape[..self.c.below(shape.len() + 1)] {
            let n = size as isize;
            let mut end = || match self.c.below(3) {
                0 => None,
                _ => Some(self.c.between(-(n as i128) - 1, n as i128 + 1) as isize),
            };
            let (start, stop) = (end(), end());
            items.push(match self.c.below(4) {
                0 if n > 0 => Arg::Int(self.c.between(-(n as i128), n as i128 - 1)),
                _ if self.off() => Arg::Int(n as i128),
                1 => Arg::Range(None, None, None),
                _ => Arg::Range(
                    start,
                    stop,
                    self.c.pick(&[None, Some(1), Some(2), Some(-1), Some(-2)]),
                ),
            });
        }
        if self.c.once_in(4) {
            items.insert(self.c.below(items.len() + 1), Arg::None);
        }
        if self.c.once_in(3) {
            items.insert(self.c.below(items.len() + 1), Arg::Rest);
        }
        Item::List(items.into_iter().map(Item::Plain).collect())
    }

    /// A 1-D index along an axis: a new input, or a value that could be one.
    fn list_into(&mut self, shape: &[usize], axis: i128, len: usize) -> usize {
        let reach = shape.get(Self::front(axis, shape.len())).copied();
        let some = self.such(|x| x.rank() == 1 && x.dtype().is_integer());
        if !some.is_empty() && self.c.once_in(3) {
            return self.c.pick(&some);
        }
        self.index(&[len], reach.unwrap_or(1))
    }

    fn taken(&mut self, shape: &[usize]) -> Named {
        let axis = (self.c.below(3) > 0).then(|| self.axis(shape.len()));
        let reach = match axis {
            None => shape.iter().product(),
            Some(axis) => (shape.get(Self::front(axis, shape.len())).copied()).unwrap_or(1),
        };
        let some = self.such(|x| x.dtype().is_integer());
        let index = match !some.is_empty() && self.c.once_in(3) {
            true => self.c.pick(&some),
            false => {
                let rank = self.c.pick(&[1, 0, 2]);
                let places: Vec<usize> = (0..rank).map(|_| self.c.pick(&[2, 1, 3, 0])).collect();
                self.index(&places, reach)
            }
        };
        let mut named = vec![("index", Item::Value(index))];
        if let Some(axis) = axis {
            named.push(("axis", number(axis)));
        }
        let mode = self.c.pick(&["", "raise", "wrap", "clip", "fill"]);
        if !mode.is_empty() {
            named.push(("mode", word(mode)));
        }
        if mode == "fill" && self.c.once_in(2) {
            named.push(("fill_value", number(1)));
        }
        named
    }

    fn taken_along(&mut self, shape: &[usize]) -> Named {
        let axis = self.axis(shape.len());
        let front = Self::front(axis, shape.len());
        let mut places = shape.to_vec();
        let reach = match places.get_mut(front) {
            Some(size) => std::mem::replace(size, self.c.below(4)),
            None => 1,
        };
        for (at, size) in places.iter_mut().enumerate() {
            if at != front && self.c.once_in(4) {
                *size = 1;
            }
        }
        if self.off() {
            places.push(1);
        }
        let index = self.index(&places, reach);
        vec![("index", Item::Value(index)), ("axis", number(axis))]
    }

    /// A value of that dtype and shape.
    fn like(&mut self, dtype: DType, shape: &[usize]) -> usize {
        let some = self.such(|x| x.dtype() == dtype && x.shape() == shape);
        match !some.is_empty() && self.c.below(3) > 0 {
            true => self.c.pick(&some),
            false if self.off() => self.elements(shape),
            false => self.elements_of(dtype, shape),
        }
    }

    /// Values to be joined with that one, along an axis or a new one.
    fn joined(&mut self, x: usize, along: Option<i128>) -> Item {
        let first = self.tensor(x);
        let (dtype, shape) = (first.dtype(), first.shape().to_vec());
        let front = along.map(|axis| Self::front(axis, shape.len()));
        let mut all = vec![x];
        for _ in 0..self.c.below(3) {
            let mut shape = shape.clone();
            let some = self.such(|x| {
                let alike = |at: usize| Some(at) == front || x.shape()[at] == shape[at];
                x.dtype() == dtype && x.rank() == shape.len() && (0..shape.len()).all(alike)
            });
            all.push(match self.c.below(3) {
                0 => {
                    if let Some(size) = front.and_then(|at| shape.get_mut(at)) {
                        *size = self.c.below(4);
                    }
                    if self.off() {
                        shape.push(1);
                    }
                    self.like(dtype, &shape)
                }
                _ if self.off() => {
                    let all = self.such(|_| true);
                    self.c.pick(&all)
                }
                _ => self.c.pick(&some),
            });
        }
        Item::List(all.into_iter().map(Item::Value).collect())
    }

    fn pattern(&mut self, shape: &[usize]) -> Item {
        let mut pieces: Vec<Item> = Vec::new();
        for &size in shape {
            // One name for each size, so that symbols agree.
            let names = ["zero", "one", "two", "three", "four", "five"];
            pieces.push(match self.c.below(6) {
                _ if self.off() => number(size as i128 + 1),
                0 if size < names.len() => word(names[size]),
                1 => self.size(size),
                2 => number(size as i128),
                _ => Item::Plain(Arg::None),
            });
        }
        if self.c.below(2) == 0 {
            let start = self.c.below(shape.len() + 1);
            let end = start + self.c.below(shape.len() - start + 1);
            pieces.splice(start..end, [Item::Plain(Arg::Rest)]);
        }
        match self.c.below(60) {
            57 => pieces.push(Item::Plain(Arg::None)),
            58 => pieces.push(Item::Plain(Arg::Rest)),
            59 => drop(pieces.pop()),
            _ => {}
        }
        Item::List(pieces)
    }

    /// The value, nearly always after a check that tells a graph its size along the axis: how many tensors
    /// `unstack` gives must be known when it is called.
    fn known_along(&mut self, x: usize, axis: i128) -> Vec<Item> {
        let shape = self.tensor(x).shape().to_vec();
        let front = Self::front(axis, shape.len());
        if self.c.once_in(4) || front >= shape.len() {
            return vec![Item::Value(x)];
        }
        let any = Item::Plain(Arg::None);
        let mut pieces = vec![any; shape.len()];
        pieces[front] = number(shape[front] as i128);
        let made = self.next_value();
        let pattern = vec![("pattern", Item::List(pieces))];
        match self.step("enforce_shape", vec![Item::Value(x)], pattern) {
            Some(true) => vec![Item::Value(made)],
            _ => vec![Item::Value(x)],
        }
    }
}
