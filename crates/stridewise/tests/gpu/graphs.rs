//! Graphs on the GPU: one submission for a whole run, and the bits of the CPU.

use stridewise::prelude::*;
use stridewise::{Device, Gpu, Graph, Program, Tape, To, Value};

/// Twenty operators, each of which moves data or makes some, and a constant.
fn twenty() -> Program {
    let graph = Graph::new();
    let x = graph
        .input("x", DType::F32, "[B, 6]".parse().unwrap())
        .unwrap();
    let at = graph
        .input("at", DType::I64, "[N]".parse().unwrap())
        .unwrap();
    let constant = graph.constant(&tensor([[0.5f32, -1.5, 3.25]]).unwrap());
    let mut y = x.unflatten(1, [2, 3]).unwrap(); // 1
    y = y.permute([1, 0, 2]).unwrap(); // 2
    y = y.contiguous().unwrap(); // 3
    y = y.repeat([1, 2, 1]).unwrap(); // 4
    y = y.flip(1).unwrap(); // 5
    y = y.take(&at, 0, Mode::Wrap).unwrap(); // 6
    y = y.cast(DType::F64).unwrap(); // 7
    let total = y.sum(0, true, None).unwrap(); // 8
    y = concat(&[&y, &total], 0).unwrap(); // 9
    y = y.cast(DType::F32).unwrap(); // 10
    y = y.transpose(..).unwrap(); // 11
    y = y.contiguous().unwrap(); // 12
    y = y.flatten(1, 2).unwrap(); // 13
    y = y.repeat_interleave(2, Some(1)).unwrap(); // 14
    y = y.swapaxes(0, 1).unwrap(); // 15
    y = y.index_select(0, &at).unwrap(); // 16
    let wide = constant.tile([2, 1]).unwrap(); // 17
    y = concat(&[&y, &wide], 0).unwrap(); // 18
    let z = y.sum(1, false, None).unwrap(); // 19
    let pairs = stack(&[&y, &y.flip(0).unwrap()], 0).unwrap(); // 20, 21
    graph.finish(&[&pairs, &z]).unwrap()
}

fn inputs() -> [Tensor; 2] {
    let numbers = (0..24).map(|i| (i * i % 17) as f32 / 3.0 - 1.0e-40);
    let x = Tensor::from_vec(numbers.collect::<Vec<f32>>(), &[4, 6]).unwrap();
    [x, tensor([1i64, 0, 1, 1, 0]).unwrap()]
}

#[test]
fn a_graph_of_twenty_operators_is_one_submission_and_has_the_bits_of_the_cpu() {
    let program = twenty();
    assert!(program.recorded().len() >= 20);
    let inputs = inputs();
    let wanted = program.run(&inputs).unwrap();
    // A device of its own, since others count too.
    let gpu = Gpu::another().unwrap();
    let placed = program.place(&gpu, |x| gpu.upload(x)).unwrap();
    let there = inputs.each_ref().map(|x| gpu.upload(x).unwrap());
    let before = gpu.counts();
    let found = placed.run(&there).unwrap();
    let made = gpu.counts().since(before);
    assert_eq!((made.submissions, made.bytes_down), (0, 0), "{made}");
    let first = found[0].download().unwrap();
    let read = gpu.counts().since(before);
    assert_eq!(read.submissions, 1, "{read}");
    assert_eq!(read.bytes_down as usize, first.nbytes(), "{read}");
    let second = found[1].download().unwrap();
    for (found, wanted) in [first, second].iter().zip(&wanted) {
        assert_eq!(found.shape(), wanted.shape());
        assert_eq!(found.to_bytes().unwrap(), wanted.to_bytes().unwrap());
    }
    // The constants are there, so that another run brings nothing that depends on data.
    let before = gpu.counts();
    placed.run(&there).unwrap();
    let again = gpu.counts().since(before);
    assert_eq!(again.bytes_up, made.bytes_up, "{again}");
}

#[test]
fn the_graph_of_gradients_runs_there_too() {
    let program = twenty().gradient(Some(&["x"])).unwrap();
    let [x, at] = inputs();
    let outputs = twenty().run(&[x.clone(), at.clone()]).unwrap();
    let mut inputs = vec![x, at];
    inputs.extend(outputs.iter().map(|y| y.flip(..).unwrap()));
    let wanted = program.run(&inputs).unwrap();
    let gpu = Device::gpu().unwrap();
    let there: Vec<_> = inputs.iter().map(|x| x.to(&gpu).unwrap()).collect();
    let found = program
        .run_on(gpu.engine(), |x| x.to(&gpu), &there)
        .unwrap();
    let found = found[0].to(&Device::cpu()).unwrap();
    assert_eq!(found.to_bytes().unwrap(), wanted[0].to_bytes().unwrap());
}

/// The gradient of the sum of the second result by the first input, where `bring` puts tensors on the engine.
fn noted<E>(engine: &E, bring: impl Fn(&Tensor) -> stridewise::Result<E::Value>) -> E::Value
where
    E: Engine<Size = usize, Value: Value<Engine = E>> + Clone,
{
    let tape = Tape::over(engine.clone());
    let constant = |x: &Tensor| Ok(tape.constant(bring(x)?));
    let placed = twenty().place(&tape, constant).unwrap();
    let [x, at] = inputs();
    let x = tape.watch(&bring(&x).unwrap()).unwrap();
    let z = placed
        .run(&[x.clone(), constant(&at).unwrap()])
        .unwrap()
        .remove(1);
    let z = z.sum(.., false, None).unwrap();
    tape.gradient(&z, &[&x], None).unwrap().remove(0)
}

#[test]
fn a_run_can_be_noted_there() {
    let gpu = Device::gpu().unwrap();
    let wanted = noted(&Cpu, |x| Ok(x.clone()));
    let found = noted(gpu.engine(), |x| x.to(&gpu))
        .to(&Device::cpu())
        .unwrap();
    assert!(wanted.to_vec::<f32>().unwrap().iter().any(|d| *d > 0.0));
    assert_eq!(found.to_bytes().unwrap(), wanted.to_bytes().unwrap());
}
