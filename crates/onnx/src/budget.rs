//! How much memory the messages in a file would take, found by walking over the file before anything is made of
//! it. Two bytes of a file can ask for a message of several hundred, so a small hostile file could ask for
//! more than a machine has, and running out of memory cannot be caught.

use stridewise_core::{Error, Result};

use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    StringStringEntryProto, TensorProto, TensorShapeProto, TypeProto, ValueInfoProto,
    tensor_shape_proto::Dimension, type_proto,
};

/// Memory that messages may take beyond the file's own bytes: enough for a few million nodes.
const LIMIT: usize = 1 << 30;

/// A kind of message: what it takes by itself, and its fields that take more than their bytes.
pub(crate) struct Kind {
    size: usize,
    fields: &'static [(u64, Field)],
}

#[derive(Clone, Copy)]
enum Field {
    /// A message.
    Of(&'static Kind),
    /// A text or bytes, one of many.
    Text,
    /// Numbers of a variable length in the file, and so many bytes each in memory.
    Numbers(usize),
}

use Field::{Numbers, Of, Text};

/// The kind of a message with the fields that are lists or messages.
const fn kind<M>(fields: &'static [(u64, Field)]) -> Kind {
    Kind {
        size: size_of::<M>(),
        fields,
    }
}

pub(crate) static MODEL: Kind = kind::<ModelProto>(&[
    (7, Of(&GRAPH)),
    (8, Of(&OPERATOR_SET)),
    (14, Of(&ENTRY)),
    (25, Of(&FUNCTION)),
]);
static OPERATOR_SET: Kind = kind::<OperatorSetIdProto>(&[]);
static ENTRY: Kind = kind::<StringStringEntryProto>(&[]);
static FUNCTION: Kind = kind::<FunctionProto>(&[]);
static GRAPH: Kind = kind::<GraphProto>(&[
    (1, Of(&NODE)),
    (5, Of(&TENSOR)),
    (11, Of(&VALUE_INFO)),
    (12, Of(&VALUE_INFO)),
    (13, Of(&VALUE_INFO)),
    (15, Text),
    (16, Of(&ENTRY)),
]);
static NODE: Kind =
    kind::<NodeProto>(&[(1, Text), (2, Text), (5, Of(&ATTRIBUTE)), (9, Of(&ENTRY))]);
static ATTRIBUTE: Kind = kind::<AttributeProto>(&[
    (5, Of(&TENSOR)),
    (8, Numbers(8)),
    (9, Text),
    (10, Text),
    (11, Text),
]);
pub(crate) static TENSOR: Kind = kind::<TensorProto>(&[
    (1, Numbers(8)),
    (5, Numbers(4)),
    (6, Text),
    (7, Numbers(8)),
    (11, Numbers(8)),
    (13, Of(&ENTRY)),
]);
static VALUE_INFO: Kind = kind::<ValueInfoProto>(&[(2, Of(&TYPE))]);
static TYPE: Kind = kind::<TypeProto>(&[(1, Of(&TENSOR_TYPE))]);
static TENSOR_TYPE: Kind = kind::<type_proto::Tensor>(&[(2, Of(&SHAPE))]);
static SHAPE: Kind = kind::<TensorShapeProto>(&[(1, Of(&DIMENSION))]);
static DIMENSION: Kind = kind::<Dimension>(&[]);

/// Requires that the bytes are fields with lengths that end inside, and that what they ask for is bounded.
pub(crate) fn require(bytes: &[u8], kind: &'static Kind, what: &str) -> Result<()> {
    let mut spent = kind.size;
    Walk {
        rest: bytes,
        spent: &mut spent,
    }
    .message(kind)
    .map_err(|fault| match fault {
        Fault::Malformed => Error::file(format!(
            "this is not {what}: its bytes end inside a field, or are no fields at all"
        ))
        .note("bytes", bytes.len())
        .help("the file may be cut short, or of another format"),
        Fault::TooMuch => Error::file(format!(
            "the file asks for more than {LIMIT} bytes of memory beyond its own {}",
            bytes.len()
        ))
        .help("no sensible model has that many nodes; the file may be made to do harm"),
    })
}

enum Fault {
    Malformed,
    TooMuch,
}

/// A place in the bytes of a message, and what has been asked for so far.
struct Walk<'a> {
    rest: &'a [u8],
    spent: &'a mut usize,
}

impl<'a> Walk<'a> {
    fn message(&mut self, kind: &'static Kind) -> Result<(), Fault> {
        while !self.rest.is_empty() {
            let key = self.varint()?;
            let field = kind.fields.iter().find(|(number, _)| *number == key >> 3);
            let field = field.map(|(_, field)| *field);
            match (key & 7, field) {
                (0, Some(Numbers(width))) => {
                    self.varint()?;
                    self.spend(width)?;
                }
                (0, _) => drop(self.varint()?),
                (1, _) => drop(self.bytes(8)?),
                (5, _) => drop(self.bytes(4)?),
                (2, field) => {
                    let len = usize::try_from(self.varint()?).map_err(|_| Fault::Malformed)?;
                    let inside = self.bytes(len)?;
                    match field {
                        Some(Of(kind)) => {
                            self.spend(kind.size)?;
                            let spent = &mut *self.spent;
                            Walk {
                                rest: inside,
                                spent,
                            }
                            .message(kind)?;
                        }
                        Some(Text) => self.spend(size_of::<Vec<u8>>())?,
                        Some(Numbers(width)) => self.spend(len.saturating_mul(width))?,
                        None => {}
                    }
                }
                // Groups have never been part of ONNX.
                _ => return Err(Fault::Malformed),
            }
        }
        Ok(())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Fault> {
        *self.spent = self.spent.saturating_add(bytes);
        match *self.spent <= LIMIT {
            true => Ok(()),
            false => Err(Fault::TooMuch),
        }
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Fault::Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0;
        for place in 0..10 {
            let byte = self.bytes(1)?[0];
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Fault::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_empty_nodes_is_refused_before_they_are_made() {
        // Field 7 of a model holds nothing but field 1 of a graph, empty, over and over: a node each.
        let nodes = [0x0a, 0x00].repeat(LIMIT / size_of::<NodeProto>() + 1);
        let mut model = vec![0x3a];
        let mut len = nodes.len();
        while len >= 0x80 {
            model.push(len as u8 | 0x80);
            len >>= 7;
        }
        model.push(len as u8);
        model.extend(nodes);
        let error = require(&model, &MODEL, "a model").unwrap_err().to_string();
        assert!(error.contains("made to do harm"), "{error}");
    }

    #[test]
    fn a_length_past_the_end_is_refused() {
        for bytes in [
            &[0x3a, 0x05, 0x00][..],
            &[
                0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
            ],
            &[0x3a],
            &[0xff; 12],
            &[0x3b],
        ] {
            assert!(require(bytes, &MODEL, "a model").is_err(), "{bytes:?}");
        }
    }
}
