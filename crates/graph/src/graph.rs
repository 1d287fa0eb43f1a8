//! A graph while it is built: its values, its nodes, and what it has to check.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stridewise_core::dim::{Dim, Outline};
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Condition, Value};
use stridewise_core::error::{Error, Result};
use stridewise_core::params::Symbol;
use stridewise_cpu::Tensor;

use crate::elements::Elements;
use crate::node::{Body, Call, Check, Guard, Id, Info, Input, Lowered, Node, Primitive, Read};
use crate::program::Program;
use crate::symbols::{anonymous, is_name};

/// The engine that records. Clones are the same graph.
#[derive(Clone, Default)]
pub struct Graph(Arc<Mutex<Builder>>);

/// A tensor of a graph: what is known of it before there are any elements.
#[derive(Clone)]
pub struct Symbolic {
    graph: Graph,
    pub(crate) id: Id,
    pub(crate) dtype: DType,
    pub(crate) shape: Arc<Outline>,
}

#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) values: Vec<Info>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) guards: Vec<Guard>,
    pub(crate) reads: Vec<Read>,
    /// What the operator that is being lowered has come to, so far.
    pub(crate) inside: Option<Inside>,
    symbols: Vec<Symbol>,
    fresh: usize,
    name: Option<String>,
    source: Option<String>,
}

#[derive(Default)]
pub(crate) struct Inside {
    pub(crate) steps: Vec<(Primitive, Id)>,
    pub(crate) checks: Vec<Check>,
}

impl Graph {
    /// A graph with nothing in it.
    pub fn new() -> Graph {
        Graph::default()
    }

    /// Declares an input. Its symbols stand for the same sizes everywhere in the graph.
    pub fn input(&self, name: &str, dtype: DType, shape: Outline) -> Result<Symbolic> {
        let mut builder = self.lock();
        if !is_name(name) {
            return Err(Error::argument(format!("`{name}` is no name for an input"))
                .help("use letters, digits and underscores"));
        }
        if builder.inputs.iter().any(|input| input.name == name) {
            return Err(Error::argument(format!("there are two inputs `{name}`"))
                .help("give each input a name of its own"));
        }
        let dims = shape.front().iter().chain(shape.back());
        let leaves = dims
            .flat_map(Dim::symbols)
            .map(|leaf| leaf.symbol().clone());
        let declared: Vec<Symbol> = leaves.chain(shape.rest().cloned()).collect();
        for symbol in declared {
            builder.declare(symbol);
        }
        let id = builder.push(dtype, shape.clone(), None);
        builder.inputs.push(Input {
            name: name.to_string(),
            id,
        });
        drop(builder);
        Ok(self.symbolic(id, dtype, shape))
    }

    /// A size about which nothing is known, to declare inputs with.
    pub fn unknown(&self) -> Dim {
        Dim::symbol(&self.lock().fresh())
    }

    /// A shape about which nothing is known, to declare inputs with.
    pub fn unknown_shape(&self) -> Outline {
        Outline::unknown(self.lock().fresh())
    }

    /// A tensor that is the same in every run.
    pub fn constant(&self, tensor: &Tensor) -> Symbolic {
        let elements = Elements::of(tensor);
        let primitive = Primitive::Constant(tensor.clone());
        self.emit(primitive, tensor.dtype(), tensor.shape().into(), elements)
    }

    /// Says which call of the user's program the next operators come from, and its name for them.
    pub fn at(&self, source: Option<String>, name: Option<String>) {
        let mut builder = self.lock();
        (builder.source, builder.name) = (source, name);
    }

    /// The graph that gives these values.
    pub fn finish(&self, outputs: &[&Symbolic]) -> Result<Program> {
        if let Some(other) = outputs.iter().find(|x| !x.graph.is(self)) {
            return Err(Error::argument(format!(
                "an output of shape {} belongs to another graph",
                other.shape
            )));
        }
        Ok(Program::new(
            &self.lock(),
            outputs.iter().map(|x| x.id).collect(),
        ))
    }

    pub(crate) fn is(&self, other: &Graph) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Builder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn symbolic(&self, id: Id, dtype: DType, shape: Outline) -> Symbolic {
        Symbolic {
            graph: self.clone(),
            id,
            dtype,
            shape: Arc::new(shape),
        }
    }

    /// Records a primitive: as a step of the operator that is being lowered, or by itself.
    pub(crate) fn emit(
        &self,
        primitive: Primitive,
        dtype: DType,
        shape: Outline,
        elements: Option<Elements>,
    ) -> Symbolic {
        let mut builder = self.lock();
        let id = builder.push(dtype, shape.clone(), elements);
        match &mut builder.inside {
            Some(inside) => inside.steps.push((primitive, id)),
            None => builder.node(Body::Primitive(primitive), vec![id]),
        }
        drop(builder);
        self.symbolic(id, dtype, shape)
    }
}

impl Builder {
    pub(crate) fn push(&mut self, dtype: DType, shape: Outline, elements: Option<Elements>) -> Id {
        self.values.push(Info {
            dtype,
            shape,
            elements,
        });
        self.values.len() - 1
    }

    pub(crate) fn node(&mut self, body: Body, outputs: Vec<Id>) {
        self.nodes.push(Node {
            body,
            outputs,
            name: self.name.clone(),
            source: self.source.clone(),
        });
    }

    /// Records an operator, and what it asks of a run.
    pub(crate) fn call(
        &mut self,
        operator: &'static str,
        call: Call,
        outputs: Vec<Id>,
        checks: Vec<Check>,
    ) {
        for check in checks {
            self.guard(operator, check);
        }
        self.node(Body::Call(call), outputs);
    }

    /// Records a check that no operator of the table asks for.
    pub(crate) fn require(&mut self, condition: Condition<Dim>, error: Error) {
        let operator = match error.report().operator() {
            "" => "require",
            operator => operator,
        };
        self.guard(operator, Check::Sizes(condition.clone()));
        let error = Box::new(error);
        self.node(Body::Require { condition, error }, Vec::new());
    }

    /// Notes what the next node asks of a run, once.
    fn guard(&mut self, operator: &'static str, check: Check) {
        // What is asked later is asked by each operator for itself.
        let known = !matches!(check, Check::Later(_))
            && self.guards.iter().any(|guard| guard.check == check);
        if !known {
            self.guards.push(Guard {
                check,
                node: self.nodes.len(),
                operator,
                name: self.name.clone(),
                source: self.source.clone(),
            });
        }
    }

    /// The symbols of the inputs.
    pub(crate) fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Whether a symbol is one of the inputs'.
    pub(crate) fn declares(&self, symbol: &Symbol) -> bool {
        self.symbols.contains(symbol)
    }

    fn declare(&mut self, symbol: Symbol) {
        match anonymous(&symbol) {
            // A graph that was read from text has used these numbers before.
            Some(number) => self.fresh = self.fresh.max(number + 1),
            None if self.symbols.contains(&symbol) => {}
            None => self.symbols.push(symbol),
        }
    }

    /// A symbol that nobody has used.
    pub(crate) fn fresh(&mut self) -> Symbol {
        self.fresh += 1;
        Symbol::new(&format!("_{}", self.fresh - 1))
    }
}

impl Lowered {
    pub(crate) fn new(inside: Inside, results: Vec<Id>) -> (Lowered, Vec<Check>) {
        let lowered = Lowered {
            steps: inside.steps,
            results,
        };
        (lowered, inside.checks)
    }
}

impl Symbolic {
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// What is known of the shape.
    pub fn shape(&self) -> &Outline {
        &self.shape
    }

    /// The graph it belongs to.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }
}

impl Value for Symbolic {
    type Engine = Graph;

    fn engine(&self) -> Graph {
        self.graph.clone()
    }
}

impl fmt::Debug for Symbolic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}: {}{}", self.id, self.dtype, self.shape)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let builder = self.lock();
        write!(f, "Graph({} nodes)", builder.nodes.len())
    }
}
