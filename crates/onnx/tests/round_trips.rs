//! What is written is read again: tensors of every dtype in either kind of field, and models with every node.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use stridewise_core::DType;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_dry::Dry;
use stridewise_onnx::proto::{self, ModelProto, TensorProto};
use stridewise_onnx::tensor::{dtype_of, number_of};
use stridewise_onnx::{Data, DeclaredSize, Model, Writer};

/// A tensor of any dtype and of up to three axes.
fn any_data() -> impl Strategy<Value = Data> {
    let dtypes = proptest::sample::select(DType::ALL.to_vec());
    let shapes = proptest::collection::vec(0usize..4, 0..4);
    (dtypes, shapes).prop_flat_map(|(dtype, shape)| {
        let len = shape.iter().product::<usize>() * dtype.width();
        let byte = match dtype {
            DType::Bool => 0..=1u8,
            _ => 0..=255,
        };
        proptest::collection::vec(byte, len).prop_map(move |bytes| Data {
            dtype,
            shape: shape.clone(),
            bytes,
        })
    })
}

/// The message with the elements in the field for their type, as ONNX's documentation has it.
fn typed(data: &Data) -> TensorProto {
    let mut proto = TensorProto {
        raw_data: None,
        ..data.to_proto("typed")
    };
    let bytes = &data.bytes;
    for cell in bytes.chunks_exact(data.dtype.width()) {
        let bits = |n: usize| {
            let mut wide = [0u8; 8];
            wide[..n].copy_from_slice(&cell[..n]);
            u64::from_le_bytes(wide)
        };
        match data.dtype {
            DType::Bool | DType::U8 => proto.int32_data.push(cell[0].into()),
            DType::I8 => proto.int32_data.push((cell[0] as i8).into()),
            DType::U16 | DType::F16 | DType::BF16 => proto.int32_data.push(bits(2) as i32),
            DType::I16 => proto.int32_data.push((bits(2) as i16).into()),
            DType::I32 => proto.int32_data.push(bits(4) as i32),
            DType::I64 => proto.int64_data.push(bits(8) as i64),
            DType::U32 => proto.uint64_data.push(bits(4)),
            DType::U64 => proto.uint64_data.push(bits(8)),
            DType::F32 | DType::C64 => {
                let parts = cell.chunks_exact(4).map(|p| p.try_into().unwrap());
                proto.float_data.extend(parts.map(f32::from_le_bytes));
            }
            DType::F64 | DType::C128 => {
                let parts = cell.chunks_exact(8).map(|p| p.try_into().unwrap());
                proto.double_data.extend(parts.map(f64::from_le_bytes));
            }
        }
    }
    proto
}

proptest! {
    #[test]
    fn a_tensor_is_read_as_it_was_written_from_either_field(data in any_data()) {
        for proto in [data.to_proto("raw"), typed(&data)] {
            let read = proto::decode_tensor(&proto::encode(&proto)).unwrap();
            prop_assert_eq!(Data::from_proto(&read).unwrap(), data.clone());
        }
    }

    #[test]
    fn bytes_of_any_kind_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Model::from_bytes(&bytes);
        if let Ok(tensor) = proto::decode_tensor(&bytes) {
            let _ = Data::from_proto(&tensor);
        }
    }

    #[test]
    fn a_model_with_bytes_changed_is_run_or_refused(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
        short in any::<bool>(),
    ) {
        let mut bytes = everything().to_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if short {
            bytes.truncate(cut.index(bytes.len()));
        }
        // Without data, since a changed size may well ask for all the memory there is.
        if let Ok(model) = Model::from_bytes(&bytes) {
            let dry = Dry::new();
            let x = dry.tensor(DType::F32, &[2, 3]).unwrap();
            let inputs = model.inputs().iter().map(|input| (input.name.clone(), x.clone()));
            let constant = |dtype, shape: &[usize], _: &[u8]| dry.tensor(dtype, shape);
            let _ = model.run(&dry, constant, inputs);
        }
    }
}

#[test]
fn every_dtype_has_a_number_of_its_own() {
    for dtype in DType::ALL {
        assert_eq!(dtype_of(number_of(dtype)).unwrap(), dtype);
    }
    assert_eq!(number_of(DType::F32), 1);
    assert_eq!(number_of(DType::BF16), 16);
}

/// A graph with a node of every operator that is read.
fn everything() -> Writer {
    let mut graph = Writer::new("everything");
    let n = || DeclaredSize::from("n");
    let x = graph.input("x", DType::F32, [n(), 3.into()]).unwrap();
    graph.on_behalf_of("sizes");
    let shape = graph.shape(&x);
    let first = graph.shape_between(&x, 0, 1);
    let rest = graph.integers(&[-1]);
    let shape_again = graph.concat(&[&first, &rest], 0);
    graph.on_behalf_of("");
    let same = graph.reshape(&x, &shape_again);
    let wide = graph.integers(&[0, 3, 1]);
    let same = graph.reshape_copying(&same, &wide);
    let last = graph.integers(&[2]);
    let same = graph.squeeze(&same, Some(&last));
    let tall = graph.unsqueeze(&same, &last);
    let fours = graph.integers(&[4]);
    let wide = graph.expand(&tall, &fours);
    let total = graph.reduce_sum(&wide, &last, false);
    let twice = graph.integers(&[1, 2]);
    let tiled = graph.tile(&total, &twice);
    let turned = graph.transpose(&tiled, &[1, 0]);
    let (from, to, step) = (
        graph.integers(&[-1]),
        graph.integers(&[i64::MIN]),
        graph.integers(&[-2]),
    );
    let axis = graph.integers(&[0]);
    let cut = graph.slice(&turned, &from, &to, Some(&axis), Some(&step));
    let index = graph.integers(&[0, -1]);
    let picked = graph.gather(&cut, &index, 0);
    let along = graph.constant(Data {
        shape: vec![1, 2],
        ..Data::integers(&[1, 0])
    });
    let y = graph.gather_elements(&picked, &along, 0);
    let y = graph.cast(&y, DType::I32);
    let y = graph.identity(&y);
    let y_sizes = [DeclaredSize::from(1), 2.into()];
    graph.output("y", &y, DType::I32, y_sizes).unwrap();
    graph
        .output("shape", &shape, DType::I64, [2.into()])
        .unwrap();
    graph
}

#[test]
fn a_model_of_every_operator_is_written_read_and_run() {
    let graph = everything();
    let bytes = graph.to_bytes();
    let model = Model::from_bytes(&bytes).unwrap();
    assert_eq!(model.outputs().collect::<Vec<_>>(), ["y", "shape"]);
    let x = Tensor::from_vec(vec![1f32, 2., 3., 4., 5., 6.], &[2, 3]).unwrap();
    // Each element four times over, two copies side by side, turned, and every second row from the back:
    // rows 3, 2, 1 of the columns, of which the first and last are kept and crossed.
    let placed = model.place(&Cpu, Tensor::from_bytes).unwrap();
    for _ in 0..2 {
        let outputs = placed.run([("x", x.clone())]).unwrap();
        assert_eq!(outputs[0].1.to_vec::<i32>().unwrap(), [8, 24]);
        assert_eq!(outputs[0].1.shape(), [1, 2]);
        assert_eq!(outputs[1].1.to_vec::<i64>().unwrap(), [2, 3]);
    }
    let again: ModelProto = proto::decode_model(&bytes).unwrap();
    assert_eq!(proto::encode(&again), bytes);
}

#[test]
fn the_same_numbers_are_written_once() {
    let mut graph = Writer::new("numbers");
    let (a, b) = (graph.integers(&[1, 2]), graph.integers(&[1, 2]));
    assert_eq!(a, b);
    assert_ne!(graph.integer(1), graph.integers(&[1]));
    assert_eq!(graph.to_proto().graph.unwrap().initializer.len(), 3);
}
