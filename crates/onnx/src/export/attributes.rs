//! Attributes as messages.

use crate::proto::{AttributeProto, attribute_type};
use crate::tensor::Data;

/// A whole number.
pub fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        i: Some(value),
        ..empty(name, attribute_type::INT)
    }
}

/// A list of whole numbers.
pub fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        ints: values.to_vec(),
        ..empty(name, attribute_type::INTS)
    }
}

/// A floating-point number.
pub fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        f: Some(value),
        ..empty(name, attribute_type::FLOAT)
    }
}

/// A text.
pub fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        s: Some(value.as_bytes().to_vec()),
        ..empty(name, attribute_type::STRING)
    }
}

/// A tensor.
pub fn tensor(name: &str, value: &Data) -> AttributeProto {
    AttributeProto {
        t: Some(Box::new(value.to_proto(""))),
        ..empty(name, attribute_type::TENSOR)
    }
}

fn empty(name: &str, kind: i32) -> AttributeProto {
    AttributeProto {
        name: name.to_string(),
        r#type: kind,
        ..AttributeProto::default()
    }
}
