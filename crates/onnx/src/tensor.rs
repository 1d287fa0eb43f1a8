//! Tensors as files hold them, and as dtype, shape and bytes: the one place that knows ONNX's numbers for element
//! types and which field holds which.

use stridewise_core::size::{Size, tuple};
use stridewise_core::{DType, Error, Result};

use crate::proto::TensorProto;

/// A tensor with its elements in row-major order, low bytes first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Data {
    /// The element type.
    pub dtype: DType,
    /// The size of each axis.
    pub shape: Vec<usize>,
    /// The elements.
    pub bytes: Vec<u8>,
}

/// ONNX's number for each element type.
const NUMBERS: [(DType, i32); 15] = [
    (DType::F32, 1),
    (DType::U8, 2),
    (DType::I8, 3),
    (DType::U16, 4),
    (DType::I16, 5),
    (DType::I32, 6),
    (DType::I64, 7),
    (DType::Bool, 9),
    (DType::F16, 10),
    (DType::F64, 11),
    (DType::U32, 12),
    (DType::U64, 13),
    (DType::C64, 14),
    (DType::C128, 15),
    (DType::BF16, 16),
];

/// The names of the types there is no [`DType`] for.
const OTHERS: [(i32, &str); 14] = [
    (0, "UNDEFINED"),
    (8, "STRING"),
    (17, "FLOAT8E4M3FN"),
    (18, "FLOAT8E4M3FNUZ"),
    (19, "FLOAT8E5M2"),
    (20, "FLOAT8E5M2FNUZ"),
    (21, "UINT4"),
    (22, "INT4"),
    (23, "FLOAT4E2M1"),
    (24, "FLOAT8E8M0"),
    (25, "UINT2"),
    (26, "INT2"),
    (27, "FLOAT6E2M3"),
    (28, "FLOAT6E3M2"),
];

/// ONNX's number for an element type.
pub fn number_of(dtype: DType) -> i32 {
    let found = NUMBERS.iter().find(|(known, _)| *known == dtype);
    found.map_or(0, |(_, number)| *number)
}

/// The element type of ONNX's number.
pub fn dtype_of(number: i32) -> Result<DType> {
    if let Some((dtype, _)) = NUMBERS.iter().find(|(_, known)| *known == number) {
        return Ok(*dtype);
    }
    let other = OTHERS.iter().find(|(known, _)| *known == number);
    let name = other.map_or("unknown", |(_, name)| name);
    let supported: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    Err(
        Error::dtype(format!("element type {number} ({name}) is not supported"))
            .help(format!("supported are {}", supported.join(", "))),
    )
}

impl Data {
    /// The tensor that a message holds.
    pub fn from_proto(proto: &TensorProto) -> Result<Data> {
        read(proto).map_err(|error| error.note("tensor", quoted(&proto.name)))
    }

    /// The message, with the elements in `raw_data`.
    pub fn to_proto(&self, name: impl Into<String>) -> TensorProto {
        TensorProto {
            // A shape is at most isize, so no size is lost.
            dims: self.shape.iter().map(|&size| size as i64).collect(),
            data_type: number_of(self.dtype),
            name: name.into(),
            raw_data: Some(self.bytes.clone()),
            ..TensorProto::default()
        }
    }

    /// Whole numbers as an `int64` tensor of rank 1.
    pub fn integers(numbers: &[i64]) -> Data {
        Data {
            dtype: DType::I64,
            shape: vec![numbers.len()],
            bytes: numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
        }
    }

    /// The elements as whole numbers, where they are `int32` or `int64`.
    pub fn to_integers(&self) -> Option<Vec<i64>> {
        match self.dtype {
            DType::I32 => {
                let cells = self.bytes.as_chunks::<4>().0.iter();
                Some(cells.map(|cell| i32::from_le_bytes(*cell).into()).collect())
            }
            DType::I64 => {
                let cells = self.bytes.as_chunks::<8>().0.iter();
                Some(cells.map(|cell| i64::from_le_bytes(*cell)).collect())
            }
            _ => None,
        }
    }
}

/// A name in quotes, or that there is none.
pub(crate) fn quoted(name: &str) -> String {
    match name {
        "" => "without a name".to_string(),
        _ => format!("`{name}`"),
    }
}

fn read(proto: &TensorProto) -> Result<Data> {
    let dtype = dtype_of(proto.data_type)?;
    let shape = shape_of(proto)?;
    if proto.data_location != 0 || !proto.external_data.is_empty() {
        let place = proto.external_data.iter().find(|e| e.key == "location");
        let place = place.map_or("another file", |entry| &entry.value);
        return Err(
            Error::file(format!("the elements are in {place}, outside the model"))
                .help("save the model with its data inside, below 2 GiB that is possible"),
        );
    }
    if proto.segment.is_some() {
        return Err(Error::file(
            "this is a segment of a tensor, which is not supported",
        ));
    }
    let count = usize::product(&shape)
        .filter(|count| count.times(&dtype.width()).is_some())
        .ok_or_else(|| {
            Error::overflow("the shape is more than any machine can address")
                .note("shape", tuple(&shape))
        })?;
    let bytes = match &proto.raw_data {
        Some(raw) if !raw.is_empty() || typed_is_empty(proto) => {
            if !typed_is_empty(proto) {
                return Err(Error::file("there are elements in two fields"));
            }
            require_count(raw.len(), count * dtype.width(), "byte", dtype, &shape)?;
            raw.clone()
        }
        _ => typed(proto, dtype, count, &shape)?,
    };
    // A bool that is neither 0 nor 1 would be a different truth to each that reads it.
    if dtype == DType::Bool
        && let Some(at) = bytes.iter().position(|byte| *byte > 1)
    {
        let message = format!(
            "element {at} of bool is {}, but only 0 and 1 are",
            bytes[at]
        );
        return Err(Error::file(message));
    }
    Ok(Data {
        dtype,
        shape,
        bytes,
    })
}

fn shape_of(proto: &TensorProto) -> Result<Vec<usize>> {
    let size = |&size: &i64| {
        usize::try_from(size).map_err(|_| {
            Error::file(format!("a size is {size}, but sizes cannot be negative"))
                .note("shape", tuple(&proto.dims))
        })
    };
    proto.dims.iter().map(size).collect()
}

fn typed_is_empty(proto: &TensorProto) -> bool {
    proto.float_data.is_empty()
        && proto.int32_data.is_empty()
        && proto.int64_data.is_empty()
        && proto.double_data.is_empty()
        && proto.uint64_data.is_empty()
        && proto.string_data.is_empty()
}

/// The elements from the field for their type.
fn typed(proto: &TensorProto, dtype: DType, count: usize, shape: &[usize]) -> Result<Vec<u8>> {
    let require =
        |given: usize, wanted: usize| require_count(given, wanted, "number", dtype, shape);
    match dtype {
        DType::F32 | DType::C64 => {
            let parts = if dtype == DType::C64 {
                2 * count
            } else {
                count
            };
            require(proto.float_data.len(), parts)?;
            Ok(proto
                .float_data
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect())
        }
        DType::F64 | DType::C128 => {
            let parts = if dtype == DType::C128 {
                2 * count
            } else {
                count
            };
            require(proto.double_data.len(), parts)?;
            Ok(proto
                .double_data
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect())
        }
        DType::I64 => {
            require(proto.int64_data.len(), count)?;
            Ok(proto
                .int64_data
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect())
        }
        DType::U32 | DType::U64 => {
            require(proto.uint64_data.len(), count)?;
            let past = u64::MAX >> (64 - 8 * dtype.width());
            if let Some(x) = proto.uint64_data.iter().find(|x| **x > past) {
                return Err(does_not_fit(x, dtype));
            }
            let width = dtype.width();
            let cells = proto.uint64_data.iter().map(|x| x.to_le_bytes());
            Ok(cells
                .flat_map(|cell| cell.into_iter().take(width))
                .collect())
        }
        _ => {
            require(proto.int32_data.len(), count)?;
            let (low, high) = range_in_int32(dtype);
            if let Some(x) = proto.int32_data.iter().find(|x| !(low..=high).contains(*x)) {
                return Err(does_not_fit(x, dtype));
            }
            let width = dtype.width();
            let cells = proto.int32_data.iter().map(|x| x.to_le_bytes());
            Ok(cells
                .flat_map(|cell| cell.into_iter().take(width))
                .collect())
        }
    }
}

/// Which numbers of `int32_data` an element type has. 16-bit floats stand there by their bits.
fn range_in_int32(dtype: DType) -> (i32, i32) {
    match dtype {
        DType::Bool => (0, 1),
        DType::U8 => (0, 0xff),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::U16 | DType::F16 | DType::BF16 => (0, 0xffff),
        _ => (i32::MIN, i32::MAX),
    }
}

fn does_not_fit(number: impl ToString, dtype: DType) -> Error {
    let number = number.to_string();
    Error::file(format!("an element is {number}, which is not a {dtype}")).sizes(dtype, number)
}

fn require_count(
    given: usize,
    wanted: usize,
    noun: &str,
    dtype: DType,
    shape: &[usize],
) -> Result<()> {
    if given == wanted {
        return Ok(());
    }
    let message = format!(
        "there are {given} {noun}s, but {dtype} of shape {} needs {wanted}",
        tuple(shape)
    );
    Err(Error::file(message).sizes(wanted, given))
}
