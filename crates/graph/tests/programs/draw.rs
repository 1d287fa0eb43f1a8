//! Drawing a program: call after call, each on values that are there, and run at once as it is drawn, so that the
//! next call knows what it is given. Some calls fail; those after them use what did not.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;
use stridewise_core::operators::{Dim, TABLE};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_suite::Choices;
use stridewise_suite::random::Fill;

use crate::common::tensor;
use crate::inputs::{Content, Given, Other, filled};
use crate::program::{Item, Program, Run, Step};

/// More elements are not worth looking at.
pub(crate) const MOST: usize = 600;

/// What a program is drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Flavour {
    /// All dtypes, any bits.
    Any,
    /// Small whole numbers as `float64`, so that sums are exact, and indices.
    Exact,
}

/// A program while it is drawn.
pub(crate) struct Draw<'c> {
    pub(crate) c: Choices<'c>,
    contents: Choices<'c>,
    flavour: Flavour,
    program: Program,
    run: Run<Cpu>,
}

/// Draws a program.
pub(crate) fn program(stream: &[u32], contents: &[u32], flavour: Flavour) -> Program {
    let mut draw = Draw {
        c: Choices::new(stream),
        contents: Choices::new(contents),
        flavour,
        program: Program::default(),
        run: Run::new(),
    };
    let shape = draw.shape();
    draw.elements(&shape);
    let (calls, mut failed) = (draw.c.pick(&[1, 2, 3, 4, 5, 6, 8, 10, 12]), 0);
    // Now and then a call comes to more than is worth looking at, so there are more tries than calls.
    for _ in 0..2 * calls {
        if draw.program.steps.len() >= calls || failed > 2 {
            break;
        }
        match draw.call() {
            Some(true) | None => {}
            Some(false) => failed += 1,
        }
    }
    draw.outputs();
    draw.program
}

impl Draw<'_> {
    /// A small shape.
    pub(crate) fn shape(&mut self) -> Vec<usize> {
        let rank = self.c.pick(&[2, 1, 3, 0, 2, 4, 3]);
        let size = |_| match self.c.once_in(16) {
            true => 0,
            false => self.c.pick(&[2, 3, 1, 2, 1, 4]),
        };
        (0..rank).map(size).collect()
    }

    fn dtype(&mut self) -> DType {
        match self.flavour {
            Flavour::Exact => DType::F64,
            Flavour::Any => match self.c.below(4) {
                0 => DType::F64,
                1 => DType::F32,
                2 => DType::I64,
                _ => self.c.dtype(),
            },
        }
    }

    /// An element type to turn a tensor into.
    pub(crate) fn other_dtype(&mut self) -> DType {
        match self.flavour {
            Flavour::Exact => self
                .c
                .pick(&[DType::F64, DType::F32, DType::F64, DType::C128]),
            Flavour::Any => self.c.dtype(),
        }
    }

    /// Another input.
    pub(crate) fn input(&mut self, dtype: DType, shape: &[usize], content: Content) -> usize {
        let given = Given {
            dtype,
            shape: shape.to_vec(),
            content,
        };
        let made = filled(&given, shape, &Other(None), &mut self.contents);
        let id = self.program.values;
        self.program.inputs.push((id, given));
        self.program.values += 1;
        self.run.values.resize_with(id, || None);
        self.run.values.push(Some(tensor(&made)));
        id
    }

    /// Another input with anything in it.
    pub(crate) fn elements(&mut self, shape: &[usize]) -> usize {
        let dtype = self.dtype();
        self.elements_of(dtype, shape)
    }

    pub(crate) fn elements_of(&mut self, dtype: DType, shape: &[usize]) -> usize {
        let fill = match self.flavour {
            Flavour::Any => self.c.pick(&[Fill::Small, Fill::Bits]),
            Flavour::Exact => Fill::Small,
        };
        self.input(dtype, shape, Content::Elements(fill))
    }

    /// An index into an axis of that size.
    pub(crate) fn index(&mut self, shape: &[usize], reach: usize) -> usize {
        if self.flavour == Flavour::Any && self.c.once_in(30) {
            return self.elements(shape);
        }
        let dtype = match self.c.below(3) {
            0 => DType::I64,
            1 => DType::I32,
            _ => self.c.integer(),
        };
        self.input(dtype, shape, Content::Index(reach))
    }

    /// The number that the next value will have.
    pub(crate) fn next_value(&self) -> usize {
        self.program.values
    }

    /// The tensor of a value that was made.
    pub(crate) fn tensor(&self, id: usize) -> Tensor {
        match self.run.values.get(id) {
            Some(Some(x)) => x.clone(),
            _ => panic!("value {id} was never made"),
        }
    }

    /// Those that were made and that are such.
    pub(crate) fn such(&self, is: impl Fn(&Tensor) -> bool) -> Vec<usize> {
        let all = self.run.values.iter().enumerate();
        all.filter(|(_, x)| x.as_ref().is_some_and(&is))
            .map(|(id, _)| id)
            .collect()
    }

    /// Something to call an operator on: often what was made last, so that there are chains.
    fn receiver(&mut self) -> usize {
        if self.program.inputs.len() < 3 && self.c.once_in(8) {
            let shape = self.shape();
            return self.elements(&shape);
        }
        let all = self.such(|_| true);
        match self.c.below(2) {
            0 => all[all.len() - 1],
            _ => self.c.pick(&all),
        }
    }

    /// A size that is this number: read from a tensor, found by an `enforce_shape`, or the number itself.
    pub(crate) fn size(&mut self, n: usize) -> Item {
        let mut known = Vec::new();
        for (step, dims) in self.run.dims.iter().enumerate() {
            let Some(dims) = dims else { continue };
            let pieces = 0..dims.len();
            known.extend(
                pieces
                    .filter(|&piece| dims.size(piece) == Some(n))
                    .map(|piece| Item::Size { step, piece }),
            );
        }
        let is = |x: &Tensor| x.rank() == 0 && x.dtype() == DType::I64 && x.item() == Ok(n as i64);
        known.extend(self.such(is).into_iter().map(Item::Value));
        match self.c.below(3) {
            0 => number(n as i128),
            _ if known.is_empty() => number(n as i128),
            _ => self.c.pick(&known),
        }
    }

    /// Sizes, some of them by name, or all of them in a tensor.
    pub(crate) fn sizes(&mut self, sizes: &[i128]) -> Item {
        let list = |x: &Tensor| {
            let listed = x.rank() == 1 && [DType::I64, DType::I32].contains(&x.dtype());
            listed
                && x.to_vec::<i64>()
                    .is_ok_and(|x| x.iter().map(|&n| n as i128).eq(sizes.iter().copied()))
        };
        let same = self.such(list);
        if !same.is_empty() && self.c.once_in(2) {
            return Item::Value(self.c.pick(&same));
        }
        if self.program.inputs.len() < 5 {
            match self.c.below(24) {
                22 => {
                    let dtype = self.c.pick(&[DType::I64, DType::I32]);
                    let content = Content::Sizes(sizes.to_vec());
                    return Item::Value(self.input(dtype, &[sizes.len()], content));
                }
                23 if !sizes.is_empty() => {
                    let mut items: Vec<Item> = sizes.iter().map(|&n| number(n)).collect();
                    let at = self.c.below(items.len());
                    let content = Content::Sizes(vec![sizes[at]]);
                    items[at] = Item::Value(self.input(DType::I64, &[], content));
                    return Item::List(items);
                }
                _ => {}
            }
        }
        // The axes under an ellipsis, all together, where they stand in the list.
        let mut runs = Vec::new();
        for (step, dims) in self.run.dims.iter().enumerate() {
            let Some(dims) = dims else { continue };
            let axes: Vec<i128> = dims.axes().iter().map(|&n| n as i128).collect();
            let rest = dims.iter().any(|dim| matches!(dim, Dim::Rest(..)));
            let starts = (0..=sizes.len()).filter(|&at| sizes[at..].starts_with(&axes));
            runs.extend(
                starts
                    .filter(|_| rest)
                    .map(|at| (step, at, at + axes.len())),
            );
        }
        let (step, start, stop) = match self.c.once_in(2) && !runs.is_empty() {
            true => self.c.pick(&runs),
            false => (0, sizes.len(), sizes.len()),
        };
        let mut items: Vec<Item> = Vec::new();
        let mut some = |sizes: &[i128], items: &mut Vec<Item>| {
            for &n in sizes {
                items.push(match usize::try_from(n) {
                    Ok(n) => self.size(n),
                    Err(_) => number(n),
                });
            }
        };
        some(&sizes[..start], &mut items);
        if start < stop || start < sizes.len() {
            items.push(Item::Axes { step });
        }
        some(&sizes[stop..], &mut items);
        Item::List(items)
    }

    /// Steps whose ellipsis stands for some sizes, with all that their patterns found.
    pub(crate) fn patterns(&self) -> Vec<(usize, Vec<usize>)> {
        let steps = self.run.dims.iter().enumerate();
        steps
            .filter_map(|(step, dims)| {
                let dims = dims.as_ref()?;
                let sizes = (0..dims.len()).map(|at| dims.size(at).unwrap_or(0));
                Some((step, sizes.collect()))
            })
            .collect()
    }

    /// Where the ellipsis of a step's pattern stands.
    pub(crate) fn ellipsis(&self, step: usize) -> Option<usize> {
        let dims = self.run.dims[step].as_ref()?;
        dims.iter().position(|dim| matches!(dim, Dim::Rest(..)))
    }

    /// Draws a call and makes it; says whether it was good.
    fn call(&mut self) -> Option<bool> {
        let often = [
            "enforce_shape",
            "enforce_shape",
            "shape_of",
            "reshape",
            "reshape",
            "slice",
        ];
        let operator = match self.c.below(4) {
            0 => self.c.pick(&often),
            _ => TABLE[self.c.below(TABLE.len())].name,
        };
        let x = self.receiver();
        let (positional, named) = self.arguments(operator, x);
        self.step(operator, positional, named)
    }

    /// Makes a call, unless it comes to too much.
    pub(crate) fn step(
        &mut self,
        operator: &'static str,
        positional: Vec<Item>,
        named: Vec<(&'static str, Item)>,
    ) -> Option<bool> {
        let first = self.program.values;
        let mut step = Step {
            operator,
            positional,
            named,
            makes: first..first + 64,
        };
        if too_much(&self.run, &step) {
            return None;
        }
        let outcome = self.run.step(&Cpu, &step)?;
        let made = self.run.values.get(first..).unwrap_or_default();
        let count = made.iter().flatten().count();
        let large = made.iter().flatten().any(|x| x.count() > MOST);
        // A call that failed makes what it would have made: some operator gives one value.
        let count = if outcome.is_err() { 1 } else { count };
        self.run.values.truncate(first + count);
        self.run.values.resize_with(first + count, || None);
        if large {
            self.run.values.truncate(first);
            self.run.dims.pop();
            return None;
        }
        step.makes = first..first + count;
        self.program.values = first + count;
        self.program.steps.push(step);
        Some(outcome.is_ok())
    }

    /// Chooses what the program gives: the last value, and others now and then.
    fn outputs(&mut self) {
        let all = self.such(|_| true);
        let mut outputs = vec![all[all.len() - 1]];
        for id in all {
            if self.c.once_in(3) {
                outputs.push(id);
            }
        }
        self.program.outputs = outputs;
    }
}

/// A number as it stands.
pub(crate) fn number(n: i128) -> Item {
    Item::Plain(Arg::Int(n))
}

/// Whether a call would make a tensor that is not worth making.
pub(crate) fn too_much(run: &Run<Cpu>, step: &Step) -> bool {
    let x = match step.positional.first() {
        Some(Item::Value(id)) => run.values.get(*id).and_then(Option::as_ref),
        _ => None,
    };
    let mut count = x.map_or(1, |x| x.count().max(1)) as u128;
    let grows = ["sizes", "reps", "shape", "repeats"];
    for (name, item) in &step.named {
        let mut args = Vec::new();
        if !grows.contains(name) || run.add(item, &mut args).is_none() {
            continue;
        }
        let mut numbers: Vec<u128> = Vec::new();
        for arg in args {
            flat(&arg, &mut numbers);
        }
        // Past all memory there is an error, and nothing is made.
        if numbers.iter().any(|&n| n > 1 << 40) {
            return false;
        }
        let joined = numbers.iter().map(|&n| n.max(1));
        count = count.saturating_mul(joined.fold(1, u128::saturating_mul));
    }
    count > 1 << 16
}

fn flat(arg: &Arg<Tensor, usize>, numbers: &mut Vec<u128>) {
    match arg {
        Arg::Int(n) => numbers.extend(u128::try_from(*n)),
        Arg::Extent(stridewise_core::params::Extent::Is(n)) => numbers.push(*n as u128),
        Arg::Tensor(x) => {
            let sizes = x.to_vec::<i64>().unwrap_or_default();
            numbers.extend(sizes.into_iter().filter_map(|n| u128::try_from(n).ok()));
        }
        Arg::List(items) => items.iter().for_each(|item| flat(item, numbers)),
        _ => {}
    }
}
