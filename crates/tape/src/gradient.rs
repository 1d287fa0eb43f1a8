//! Walking a history back: every node once, after all that was made from it, so that its gradient is complete.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use stridewise_core::engine::{Engine, Value, describe};
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Scalar;
use stridewise_core::size::{Size, Truth};

use crate::adjoint::adjoint;
use crate::node::Node;
use crate::{Tape, Var};

impl<E: Engine + Clone> Tape<E> {
    /// The gradients of `y` by each of `xs`: zeros for one that `y` does not depend on. `seed` is the gradient of
    /// whatever `y` goes into, with its shape and dtype; without one `y` must be a single number.
    pub fn gradient(
        &self,
        y: &Var<E>,
        xs: &[&Var<E>],
        seed: Option<&E::Value>,
    ) -> Result<Vec<E::Value>> {
        walk(
            &self.inner,
            &self.inner,
            y,
            xs,
            seed.cloned(),
            E::Value::clone,
        )
    }

    /// The same with a history of their own, so that they can be differentiated in turn, by `seed` as well.
    pub fn tracked_gradient(
        &self,
        y: &Var<E>,
        xs: &[&Var<E>],
        seed: Option<&Var<E>>,
    ) -> Result<Vec<Var<E>>> {
        walk(&self.inner, self, y, xs, seed.cloned(), |index| {
            self.constant(index.clone())
        })
    }
}

/// What [`vjp`] gives beside the result: gradients of the inputs from one of the output.
pub struct Pullback<E: Engine> {
    tape: Tape<E>,
    output: Var<E>,
    inputs: Vec<Var<E>>,
}

impl<E: Engine + Clone> Pullback<E> {
    /// The gradients of the inputs; as often as wanted.
    pub fn pull(&self, seed: &E::Value) -> Result<Vec<E::Value>> {
        let inputs: Vec<&Var<E>> = self.inputs.iter().collect();
        self.tape.gradient(&self.output, &inputs, Some(seed))
    }
}

/// The value of a function, and the way back from a gradient of it to gradients of its inputs.
///
/// ```
/// use stridewise_core::operators::Methods;
/// use stridewise_cpu::Tensor;
///
/// let x = Tensor::from_vec(vec![1.0, 2.0], &[2])?;
/// let (y, back) = stridewise_tape::vjp(|x| x[0].repeat([3]), &[&x])?;
/// assert_eq!(y.shape(), [6]);
/// let seed = Tensor::from_vec(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[6])?;
/// assert_eq!(back.pull(&seed)?[0].to_vec::<f64>()?, [9.0, 12.0]);
/// # Ok::<(), stridewise_core::Error>(())
/// ```
pub fn vjp<E: Engine<Value = V> + Clone, V: Value<Engine = E>>(
    f: impl FnOnce(&[Var<E>]) -> Result<Var<E>>,
    inputs: &[&V],
) -> Result<(V, Pullback<E>)> {
    let Some(first) = inputs.first() else {
        return Err(Error::argument("no tensors were given").at_argument("inputs"));
    };
    let tape = Tape::over(first.engine());
    let inputs = inputs
        .iter()
        .map(|x| tape.watch(*x))
        .collect::<Result<Vec<_>>>()?;
    let output = f(&inputs)?;
    let value = output.value().clone();
    Ok((
        value,
        Pullback {
            tape,
            output,
            inputs,
        },
    ))
}

/// Goes back from `y` to `xs` with gradients that live on `engine`.
fn walk<E: Engine, G: Engine<Size = E::Size>>(
    below: &E,
    engine: &G,
    y: &Var<E>,
    xs: &[&Var<E>],
    seed: Option<G::Value>,
    lift: impl Fn(&E::Value) -> G::Value,
) -> Result<Vec<G::Value>> {
    let seed = first(below, engine, y, seed)?;
    let wanted: HashMap<u64, usize> = xs
        .iter()
        .enumerate()
        .filter_map(|(at, x)| Some((x.node.as_ref()?.number, at)))
        .collect();
    let mut found: HashMap<u64, G::Value> = HashMap::new();
    // By number: whatever was made from a node has a higher one, so its part is in when its turn comes.
    let mut open: BTreeMap<u64, (&Arc<Node<E>>, G::Value)> = BTreeMap::new();
    let lowest = wanted.keys().min().copied();
    if let (Some(node), Some(_)) = (&y.node, lowest) {
        open.insert(node.number, (node, seed));
    }
    while let Some((number, (node, g))) = open.pop_last() {
        if lowest.is_some_and(|lowest| number < lowest) {
            break;
        }
        for (parent, part) in adjoint(engine, node, &g, &lift)? {
            let sum = match open.remove(&parent.number) {
                Some((_, other)) => engine.add(&other, &part)?,
                None => part,
            };
            open.insert(parent.number, (parent, sum));
        }
        if wanted.contains_key(&number) {
            found.insert(number, g);
        }
    }
    let answer = |x: &&Var<E>| match x.node.as_ref().and_then(|node| found.get(&node.number)) {
        Some(g) => Ok(g.clone()),
        None => {
            let shape = below.shape(&x.value)?;
            engine.full(below.dtype(&x.value), Scalar::Int(0), &shape)
        }
    };
    xs.iter().map(answer).collect()
}

/// The gradient to begin with: the one that was given, or 1 for a single number.
fn first<E: Engine, G: Engine<Size = E::Size>>(
    below: &E,
    engine: &G,
    y: &Var<E>,
    seed: Option<G::Value>,
) -> Result<G::Value> {
    let (shape, dtype) = (below.shape(&y.value)?, below.dtype(&y.value));
    let blame = |error: Error| {
        error
            .at_argument("seed")
            .note("the tensor is", describe(below, &y.value))
    };
    let Some(seed) = seed else {
        return match below.count(&y.value)?.is(1) {
            Truth::No => Err(blame(
                Error::argument("a gradient without a seed is for a single number")
                    .help("give a seed of the tensor's shape and dtype, or sum the tensor first"),
            )),
            _ => engine.full(dtype, Scalar::Int(1), &shape),
        };
    };
    let given = engine.shape(&seed)?;
    let fits = given.len() == shape.len()
        && given
            .iter()
            .zip(&shape)
            .all(|(a, b)| a.same(b) != Truth::No);
    if !fits {
        let text = describe(engine, &seed);
        return Err(blame(Error::shape(format!(
            "the seed is {text}, which is not the tensor's shape"
        ))));
    }
    if engine.dtype(&seed) != dtype {
        let text = format!(
            "the seed is {}, but the tensor is {dtype}",
            engine.dtype(&seed)
        );
        return Err(blame(Error::dtype(text).sizes(dtype, engine.dtype(&seed))));
    }
    Ok(seed)
}
