//! Walking a history back: every node once, after all that was made from it, so that its gradient is complete.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use stridewise_core::engine::{Engine, Value, describe};
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Scalar;
use stridewise_core::size::{Size, Truth};

use crate::adjoint::adjoint;
use crate::node::{Node, Step};
use crate::{History, Tape, Var};

/// A watched tensor and the gradient by it.
pub type ByWatched<E> = (History<E>, Var<E>);

impl<E: Engine + Clone> Tape<E> {
    /// The gradients of `y` by each of `xs`: zeros for one that `y` does not depend on. `seed` is the gradient of
    /// whatever `y` goes into, with its shape and dtype; without one `y` must be a single number.
    pub fn gradient(
        &self,
        y: &Var<E>,
        xs: &[&Var<E>],
        seed: Option<&E::Value>,
    ) -> Result<Vec<E::Value>> {
        let seed = first(&self.inner, &self.inner, y, seed.cloned())?;
        let found = walk(
            &self.inner,
            vec![(y, seed)],
            &Wanted::of(xs),
            E::Value::clone,
        )?;
        self.answers(&self.inner, xs, &found)
    }

    /// The same with a history of their own, so that they can be differentiated in turn, by `seed` as well.
    pub fn tracked_gradient(
        &self,
        y: &Var<E>,
        xs: &[&Var<E>],
        seed: Option<&Var<E>>,
    ) -> Result<Vec<Var<E>>> {
        self.tracked_gradients(&[(y, seed)], xs)
    }

    /// The same of several tensors at once, each with its seed: the gradients of all, added up.
    ///
    /// ```
    /// use stridewise_core::operators::Methods;
    /// use stridewise_cpu::Tensor;
    /// use stridewise_tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.watch(&Tensor::from_vec(vec![1.0, 2.0], &[2])?)?;
    /// let (sum, turned) = (x.sum(.., false, None)?, x.flip(..)?);
    /// let seed = tape.constant(Tensor::from_vec(vec![10.0, 20.0], &[2])?);
    /// let dx = tape.tracked_gradients(&[(&sum, None), (&turned, Some(&seed))], &[&x])?;
    /// assert_eq!(dx[0].value().to_vec::<f64>()?, [21.0, 11.0]);
    /// # Ok::<(), stridewise_core::Error>(())
    /// ```
    pub fn tracked_gradients(
        &self,
        ys: &[(&Var<E>, Option<&Var<E>>)],
        xs: &[&Var<E>],
    ) -> Result<Vec<Var<E>>> {
        let seeds = ys
            .iter()
            .map(|(y, seed)| Ok((*y, first(&self.inner, self, y, seed.cloned())?)));
        let seeds = seeds.collect::<Result<Vec<_>>>()?;
        let found = walk(self, seeds, &Wanted::of(xs), |x| self.constant(x.clone()))?;
        self.answers(self, xs, &found)
    }

    /// The gradients of `y` by every watched tensor it depends on, with a history where `seed` has one.
    pub fn gradients_by_watched(
        &self,
        y: &Var<E>,
        seed: Option<&Var<E>>,
    ) -> Result<Vec<ByWatched<E>>> {
        let seed = first(&self.inner, self, y, seed.cloned())?;
        let lift = |x: &E::Value| self.constant(x.clone());
        let found = walk(self, vec![(y, seed)], &Wanted::Watched, lift)?;
        let found = found.into_values().map(|(node, g)| (History(node), g));
        Ok(found.collect())
    }

    /// The gradient of each, in order, on `engine`; zeros where none was found.
    fn answers<G: Engine<Size = E::Size>>(
        &self,
        engine: &G,
        xs: &[&Var<E>],
        found: &Found<E, G::Value>,
    ) -> Result<Vec<G::Value>> {
        let answer = |x: &&Var<E>| match x.node.as_ref().and_then(|node| found.get(&node.number)) {
            Some((_, g)) => Ok(g.clone()),
            None => {
                let shape = self.inner.shape(&x.value)?;
                engine.full(self.inner.dtype(&x.value), Scalar::Int(0), &shape)
            }
        };
        xs.iter().map(answer).collect()
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

/// Which gradients a walk is for.
enum Wanted {
    /// Those by the nodes of these numbers.
    Of(HashSet<u64>),
    /// Those by every watched tensor.
    Watched,
}

impl Wanted {
    fn of<E: Engine>(xs: &[&Var<E>]) -> Wanted {
        let nodes = xs.iter().filter_map(|x| x.node.as_ref());
        Wanted::Of(nodes.map(|node| node.number).collect())
    }

    /// The lowest number a wanted node can have; none where nothing is wanted.
    fn lowest(&self) -> Option<u64> {
        match self {
            Wanted::Of(numbers) => numbers.iter().min().copied(),
            Wanted::Watched => Some(0),
        }
    }

    fn has<E: Engine>(&self, node: &Node<E>) -> bool {
        match self {
            Wanted::Of(numbers) => numbers.contains(&node.number),
            Wanted::Watched => matches!(*node.step(), Step::Watched),
        }
    }
}

/// The gradients a walk has found, by the number of their node.
type Found<E, V> = BTreeMap<u64, (Arc<Node<E>>, V)>;

/// Goes back from tensors and their seeds to what is wanted, with gradients that live on `engine`.
fn walk<E: Engine, G: Engine<Size = E::Size>>(
    engine: &G,
    seeds: Vec<(&Var<E>, G::Value)>,
    wanted: &Wanted,
    lift: impl Fn(&E::Value) -> G::Value,
) -> Result<Found<E, G::Value>> {
    let mut found = BTreeMap::new();
    let Some(lowest) = wanted.lowest() else {
        return Ok(found);
    };
    // By number: whatever was made from a node has a higher one, so its part is in when its turn comes.
    let mut open: Found<E, G::Value> = BTreeMap::new();
    let add = |open: &mut Found<E, G::Value>, node: Arc<Node<E>>, part| -> Result<()> {
        let sum = match open.remove(&node.number) {
            Some((_, other)) => engine.add(&other, &part)?,
            None => part,
        };
        open.insert(node.number, (node, sum));
        Ok(())
    };
    for (y, seed) in seeds {
        if let Some(node) = &y.node {
            add(&mut open, node.clone(), seed)?;
        }
    }
    while let Some((number, (node, g))) = open.pop_last() {
        if number < lowest {
            break;
        }
        // Nothing that is wanted lies below the lowest, so no history beyond it is asked for.
        if number > lowest || matches!(wanted, Wanted::Watched) {
            for (parent, part) in adjoint(engine, &node, &g, &lift)? {
                add(&mut open, parent, part)?;
            }
        }
        if wanted.has(&node) {
            found.insert(number, (node, g));
        }
    }
    Ok(found)
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
