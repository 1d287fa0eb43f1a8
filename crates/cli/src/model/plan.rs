//! `stridewise plan` on a model: its nodes are recorded by a graph, one after another.

use std::collections::HashMap;
use std::path::Path;

use stridewise::{Graph, Tensor};
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::dtype::DType;
use stridewise_onnx::{DeclaredSize, Model, Node};

use crate::failure::Failure;
use crate::how::How;
use crate::inputs::Shapes;
use crate::model::{failed, given};
use crate::plan::symbolic::{Plan, Row, known};
use crate::terminal::count;

/// The plan of a model, for the shapes it declares; those that are given take their place, in order.
pub(crate) fn plan(path: &Path, shapes: &Shapes) -> Result<Plan, Failure> {
    let model = Model::open(path)?;
    let graph = Graph::new();
    let mut given = shapes.outlines(&graph)?.into_iter();
    let mut sizes = Sizes::default();
    let (mut rows, mut inputs) = (Vec::new(), Vec::new());
    let needed = || model.inputs().iter().filter(|input| !input.has_default);
    if given.len() > needed().count() {
        let message = format!(
            "{} cannot be given to {}",
            count(given.len(), "shape"),
            count(needed().count(), "input")
        );
        return Err(given::wrong(&model, message));
    }
    for (at, input) in needed().enumerate() {
        let declared = || sizes.outline(&graph, input.shape.as_deref());
        let shape = given.next().unwrap_or_else(declared);
        let x = graph
            .input(&format!("input{at}"), input.dtype, shape)
            .map_err(failed)?;
        rows.push(Row::named(&input.name, &x, How::Input));
        inputs.push((input.name.as_str(), x));
    }
    let constant = |dtype: DType, shape: &[usize], bytes: &[u8]| {
        Tensor::from_bytes(dtype, shape, bytes).map(|tensor| graph.constant(&tensor))
    };
    let placed = model.place(&graph, constant).map_err(failed)?;
    graph.at(Some("the inputs".to_string()), None);
    let mut running = placed.start(inputs).map_err(failed)?;
    for node in model.nodes() {
        let name = Some(node.name.to_string()).filter(|name| !name.is_empty());
        graph.at(Some(source(&node)), name);
        let made = running.step().map_err(failed)?;
        rows.push(Row {
            number: Some(node.number),
            text: call(&node),
            tensors: made.iter().map(known).collect(),
            how: How::View,
            dims: None,
        });
    }
    let outputs = running.outputs().map_err(failed)?;
    let program = graph.finish(&[]).map_err(failed)?;
    // What each node does to data is known once its operators have been recorded.
    let mut kinds: HashMap<&str, Vec<_>> = HashMap::new();
    for (kind, source) in program.recorded() {
        kinds
            .entry(source.unwrap_or_default())
            .or_default()
            .push(kind);
    }
    let steps = rows.iter_mut().filter(|row| row.how != How::Input);
    for (row, node) in steps.zip(model.nodes()) {
        let kinds = kinds.get(source(&node).as_str());
        row.how = How::together(kinds.into_iter().flatten().copied());
    }
    rows.extend(
        outputs
            .iter()
            .map(|(name, x)| Row::named(name, x, How::Output)),
    );
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(Plan {
        of: ("model", file.into_owned()),
        rows,
        guards: program.guards().to_vec(),
        note: None,
    })
}

/// Where guards say they come from.
fn source(node: &Node<'_>) -> String {
    format!("node {}", node.number)
}

/// `y = Reshape(x, shape)`.
fn call(node: &Node<'_>) -> String {
    let (inputs, operator) = (node.inputs.join(", "), node.operator);
    match node.output {
        "" => format!("{operator}({inputs})"),
        output => format!("{output} = {operator}({inputs})"),
    }
}

/// The names of sizes as symbols of a graph.
#[derive(Default)]
struct Sizes<'m>(HashMap<&'m str, Dim>);

impl<'m> Sizes<'m> {
    fn outline(&mut self, graph: &Graph, shape: Option<&'m [DeclaredSize]>) -> Outline {
        let Some(sizes) = shape else {
            return graph.unknown_shape();
        };
        let dim = |size: &'m DeclaredSize| match size {
            DeclaredSize::Is(n) => Dim::from(*n),
            DeclaredSize::Any => graph.unknown(),
            DeclaredSize::Named(name) => {
                let of_name = || match name.starts_with(char::is_alphabetic) {
                    true => Dim::symbol(name),
                    // A graph tells what symbols are by how their names begin.
                    false => graph.unknown(),
                };
                self.0.entry(name).or_insert_with(of_name).clone()
            }
        };
        let dims: Vec<Dim> = sizes.iter().map(dim).collect();
        Outline::from(dims.as_slice())
    }
}
