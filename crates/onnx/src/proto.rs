//! The messages of an ONNX file, as far as they are needed, written out by hand so that neither a compiler
//! of protocols nor a build script is. Parts that may hold themselves again (subgraphs, types of sequences) stay
//! unread bytes: nothing recurses, and they are written back as they came.
//!
//! Field numbers are those of `onnx.proto` in the ONNX project; names are its too.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use prost::Message;
use stridewise_core::{Error, Result};

use crate::budget;

/// A model: a graph, and which version of the operators it is written in.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// The version of the format.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// The program that wrote it.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// That program's version.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// The namespace of the model, a domain name backwards.
    #[prost(string, tag = "4")]
    pub domain: String,
    /// The version of the model itself.
    #[prost(int64, tag = "5")]
    pub model_version: i64,
    /// A text for people.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// The graph.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// The sets of operators its nodes are from.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Anything else about the model, by name.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// Operators that the model defines itself.
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<FunctionProto>,
}

/// A set of operators, in one version.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    /// Whose operators; empty for ONNX's own.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// The version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A text with a name.
#[derive(Clone, PartialEq, Message)]
pub struct StringStringEntryProto {
    /// The name.
    #[prost(string, tag = "1")]
    pub key: String,
    /// The text.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// An operator that a model defines itself; only its name is read.
#[derive(Clone, PartialEq, Message)]
pub struct FunctionProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Whose operator.
    #[prost(string, tag = "10")]
    pub domain: String,
}

/// Nodes, in an order in which they can run.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// The calls.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// The name of the graph.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Tensors that the graph brings along.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// A text for people.
    #[prost(string, tag = "10")]
    pub doc_string: String,
    /// What it is given.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// What it gives.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// What is known of the tensors between.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
    /// Sparse tensors that the graph brings along; not read.
    #[prost(bytes = "vec", repeated, tag = "15")]
    pub sparse_initializer: Vec<Vec<u8>>,
    /// Anything else about the graph, by name.
    #[prost(message, repeated, tag = "16")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// A call of an operator.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// The tensors it is given, by name; empty for an optional one left out.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// The names of what it gives.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// The name of the call, if it has one.
    #[prost(string, tag = "3")]
    pub name: String,
    /// The operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Its parameters.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// A text for people.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// Whose operator; empty for ONNX's own.
    #[prost(string, tag = "7")]
    pub domain: String,
    /// Which of several functions of that name.
    #[prost(string, tag = "8")]
    pub overload: String,
    /// Anything else about the call, by name.
    #[prost(message, repeated, tag = "9")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// A parameter of a call. `type` says which of the fields holds it.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// A floating-point number.
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// A whole number.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// A text.
    #[prost(bytes = "vec", optional, tag = "4")]
    pub s: Option<Vec<u8>>,
    /// A tensor.
    #[prost(message, optional, boxed, tag = "5")]
    pub t: Option<Box<TensorProto>>,
    /// A graph; not read.
    #[prost(bytes = "vec", optional, tag = "6")]
    pub g: Option<Vec<u8>>,
    /// Floating-point numbers.
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    /// Whole numbers.
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// Texts.
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    /// Tensors; not read.
    #[prost(bytes = "vec", repeated, tag = "10")]
    pub tensors: Vec<Vec<u8>>,
    /// Graphs; not read.
    #[prost(bytes = "vec", repeated, tag = "11")]
    pub graphs: Vec<Vec<u8>>,
    /// A text for people.
    #[prost(string, tag = "13")]
    pub doc_string: String,
    /// Which field holds it: one of [`attribute_type`].
    #[prost(int32, tag = "20")]
    pub r#type: i32,
    /// Inside a function: the function's parameter that stands here.
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
    /// A sparse tensor; not read.
    #[prost(bytes = "vec", optional, tag = "22")]
    pub sparse_tensor: Option<Vec<u8>>,
}

/// What an attribute can be.
pub mod attribute_type {
    /// Not said.
    pub const UNDEFINED: i32 = 0;
    /// `f`.
    pub const FLOAT: i32 = 1;
    /// `i`.
    pub const INT: i32 = 2;
    /// `s`.
    pub const STRING: i32 = 3;
    /// `t`.
    pub const TENSOR: i32 = 4;
    /// `g`.
    pub const GRAPH: i32 = 5;
    /// `floats`.
    pub const FLOATS: i32 = 6;
    /// `ints`.
    pub const INTS: i32 = 7;
    /// `strings`.
    pub const STRINGS: i32 = 8;
    /// `graphs`.
    pub const GRAPHS: i32 = 10;
}

/// A tensor with its data: in `raw_data`, or in the field for its type.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// The size of each axis.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// The element type, by ONNX's number.
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    /// Which part of a larger tensor this is; not read.
    #[prost(bytes = "vec", optional, tag = "3")]
    pub segment: Option<Vec<u8>>,
    /// float32, and the parts of complex64.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// int32 and everything smaller, 16-bit floats by their bits.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Texts.
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub string_data: Vec<Vec<u8>>,
    /// int64.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// The name of the tensor.
    #[prost(string, tag = "8")]
    pub name: String,
    /// The elements in row-major order, low bytes first.
    #[prost(bytes = "vec", optional, tag = "9")]
    pub raw_data: Option<Vec<u8>>,
    /// float64, and the parts of complex128.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// uint32 and uint64.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    /// A text for people.
    #[prost(string, tag = "12")]
    pub doc_string: String,
    /// Which file holds the elements, and where.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// 1 where the elements are in another file.
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

/// What is known of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
    /// A text for people.
    #[prost(string, tag = "3")]
    pub doc_string: String,
}

/// A type: a tensor, or something that holds tensors.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// Which.
    #[prost(oneof = "type_proto::Value", tags = "1, 4, 5, 7, 8, 9")]
    pub value: Option<type_proto::Value>,
    /// What it stands for, such as an image.
    #[prost(string, tag = "6")]
    pub denotation: String,
}

/// The kinds of types.
pub mod type_proto {
    /// A tensor, or something else that is not read.
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub enum Value {
        /// A tensor.
        #[prost(message, tag = "1")]
        Tensor(Tensor),
        /// A sequence.
        #[prost(bytes, tag = "4")]
        Sequence(Vec<u8>),
        /// A map.
        #[prost(bytes, tag = "5")]
        Map(Vec<u8>),
        /// Something of someone's own.
        #[prost(bytes, tag = "7")]
        Opaque(Vec<u8>),
        /// A sparse tensor.
        #[prost(bytes, tag = "8")]
        SparseTensor(Vec<u8>),
        /// Something that may be missing.
        #[prost(bytes, tag = "9")]
        Optional(Vec<u8>),
    }

    /// The type of a tensor.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Tensor {
        /// The element type, by ONNX's number.
        #[prost(int32, tag = "1")]
        pub elem_type: i32,
        /// The shape; absent where not even the rank is known.
        #[prost(message, optional, tag = "2")]
        pub shape: Option<super::TensorShapeProto>,
    }
}

/// A shape whose sizes may be unknown.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// The axes.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<tensor_shape_proto::Dimension>,
}

/// What shapes are made of.
pub mod tensor_shape_proto {
    /// One axis.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Dimension {
        /// Its size, if anything is known of it.
        #[prost(oneof = "dimension::Value", tags = "1, 2")]
        pub value: Option<dimension::Value>,
        /// What it stands for, such as a batch.
        #[prost(string, tag = "3")]
        pub denotation: String,
    }

    /// What sizes are.
    pub mod dimension {
        /// A size, or a name for one.
        #[derive(Clone, PartialEq, prost::Oneof)]
        pub enum Value {
            /// This size.
            #[prost(int64, tag = "1")]
            DimValue(i64),
            /// Any size, the same wherever this name stands.
            #[prost(string, tag = "2")]
            DimParam(String),
        }
    }
}

/// Reads a model from the bytes of a file.
pub fn decode_model(bytes: &[u8]) -> Result<ModelProto> {
    decode(bytes, &budget::MODEL, "an ONNX model")
}

/// Reads the model in a file, without a look at what it asks for.
pub fn open_model(path: impl AsRef<Path>) -> Result<ModelProto> {
    let path = path.as_ref();
    contents(path)
        .and_then(|bytes| decode_model(&bytes))
        .map_err(|error| error.note("file", path.display()))
}

/// Reads a tensor from the bytes of a file, such as test data are kept in.
pub fn decode_tensor(bytes: &[u8]) -> Result<TensorProto> {
    decode(bytes, &budget::TENSOR, "an ONNX tensor")
}

/// The bytes of a message, as a file holds them.
pub fn encode(message: &impl Message) -> Vec<u8> {
    message.encode_to_vec()
}

fn decode<M: Message + Default>(
    bytes: &[u8],
    schema: &'static budget::Kind,
    what: &str,
) -> Result<M> {
    budget::require(bytes, schema, what)?;
    M::decode(bytes).map_err(|error| Error::file(format!("this is not {what}: {error}")))
}

/// The bytes of a file, unless they are more than any message has.
fn contents(path: &Path) -> Result<Vec<u8>> {
    const MOST: u64 = i32::MAX as u64;
    let failed = |error| Error::file(format!("the file cannot be read: {error}"));
    let file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::new();
    if len <= MOST {
        // What is no regular file may say it is short and go on for ever.
        file.take(MOST + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    }
    match len.max(bytes.len() as u64) {
        len if len > MOST => Err(Error::file(format!(
            "the file has {len} bytes, but no ONNX model has 2 GiB or more"
        ))),
        _ => Ok(bytes),
    }
}
