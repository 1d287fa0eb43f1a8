//! The parameters of a node. An operator asks for those it knows, by name and type; what nobody asked for is an
//! error, since it would change what the node means.

use stridewise_core::{DType, Error, Result};

use crate::proto::{AttributeProto, attribute_type};
use crate::tensor::{Data, dtype_of};

pub(super) struct Attributes<'a> {
    all: &'a [AttributeProto],
    asked: Vec<&'static str>,
    opset: i64,
}

impl<'a> Attributes<'a> {
    /// The attributes of a node, none of which is a graph.
    pub(super) fn new(all: &'a [AttributeProto], opset: i64) -> Result<Attributes<'a>> {
        for (at, attribute) in all.iter().enumerate() {
            let name = &attribute.name;
            if holds_graph(attribute) {
                return Err(Error::file(format!(
                    "attribute `{name}` is a subgraph, which is not supported"
                )));
            }
            if !attribute.ref_attr_name.is_empty() {
                return Err(Error::file(format!(
                    "attribute `{name}` refers to `{}`, but only functions have parameters",
                    attribute.ref_attr_name
                )));
            }
            if all[..at].iter().any(|other| other.name == *name) {
                return Err(Error::file(format!("attribute `{name}` is given twice")));
            }
        }
        Ok(Attributes {
            all,
            asked: Vec::new(),
            opset,
        })
    }

    /// Whether the model's operators are at least of this version.
    pub(super) fn since(&self, opset: i64) -> bool {
        self.opset >= opset
    }

    pub(super) fn int(&mut self, name: &'static str) -> Result<Option<i64>> {
        self.one(name, attribute_type::INT, "a whole number", |a| a.i)
    }

    /// A whole number that is an axis or a place among axes.
    pub(super) fn place(&mut self, name: &'static str) -> Result<Option<isize>> {
        Ok(self.int(name)?.map(saturated))
    }

    pub(super) fn flag(&mut self, name: &'static str, default: bool) -> Result<bool> {
        Ok(self.int(name)?.map_or(default, |n| n != 0))
    }

    pub(super) fn ints(&mut self, name: &'static str) -> Result<Option<&'a [i64]>> {
        self.one(name, attribute_type::INTS, "a list of whole numbers", |a| {
            Some(a.ints.as_slice())
        })
    }

    pub(super) fn float(&mut self, name: &'static str) -> Result<Option<f32>> {
        self.one(name, attribute_type::FLOAT, "a number", |a| a.f)
    }

    pub(super) fn floats(&mut self, name: &'static str) -> Result<Option<&'a [f32]>> {
        self.one(name, attribute_type::FLOATS, "a list of numbers", |a| {
            Some(a.floats.as_slice())
        })
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<&'a [u8]>> {
        self.one(name, attribute_type::STRING, "a text", |a| a.s.as_deref())
    }

    pub(super) fn tensor(&mut self, name: &'static str) -> Result<Option<Data>> {
        let found = self.one(name, attribute_type::TENSOR, "a tensor", |a| a.t.as_deref())?;
        found.map(Data::from_proto).transpose()
    }

    pub(super) fn dtype(&mut self, name: &'static str) -> Result<Option<DType>> {
        let number = self.int(name)?;
        number
            .map(|number| {
                dtype_of(i32::try_from(number).unwrap_or(-1)).map_err(|e| e.at_argument(name))
            })
            .transpose()
    }

    /// An attribute that must be there.
    pub(super) fn needed<T>(name: &'static str, found: Option<T>) -> Result<T> {
        found.ok_or_else(|| Error::file(format!("attribute `{name}` is missing")).at_argument(name))
    }

    /// That there is nothing else.
    pub(super) fn finish(self) -> Result<()> {
        let unknown = |a: &&AttributeProto| !self.asked.contains(&a.name.as_str());
        let Some(attribute) = self.all.iter().find(unknown) else {
            return Ok(());
        };
        let known = match self.asked.as_slice() {
            [] => "none".to_string(),
            names => names.join(", "),
        };
        Err(Error::file(format!(
            "attribute `{}` is not one of this operator in opset {}",
            attribute.name, self.opset
        ))
        .note("its attributes", known))
    }

    fn one<T>(
        &mut self,
        name: &'static str,
        kind: i32,
        noun: &str,
        read: impl Fn(&'a AttributeProto) -> Option<T>,
    ) -> Result<Option<T>> {
        self.asked.push(name);
        let Some(attribute) = self.all.iter().find(|a| a.name == name) else {
            return Ok(None);
        };
        // Files of the first versions do not say the type.
        let fits = [kind, attribute_type::UNDEFINED].contains(&attribute.r#type);
        match read(attribute) {
            Some(value) if fits => Ok(Some(value)),
            _ => Err(Error::file(format!("attribute `{name}` is not {noun}")).at_argument(name)),
        }
    }
}

/// Whether an attribute is a graph or a list of graphs.
pub(super) fn holds_graph(attribute: &AttributeProto) -> bool {
    attribute.g.is_some()
        || !attribute.graphs.is_empty()
        || [attribute_type::GRAPH, attribute_type::GRAPHS].contains(&attribute.r#type)
}

/// The nearest number a machine counts with; past that, places are outside anyway.
pub(super) fn saturated(n: i64) -> isize {
    isize::try_from(n).unwrap_or(if n < 0 { isize::MIN } else { isize::MAX })
}
