//! Gradients of global tensors, by tensors that lie in any way and from seeds that do, against those of one machine.

use stridewise_core::dtype::{DType, Family};
use stridewise_core::engine::Engine;
use stridewise_core::error::Result;
use stridewise_core::operators::Methods;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_spread::sbp::{parse, text};
use stridewise_spread::{Global, Mesh, Sbp, Spread, World};
use stridewise_suite::reference::Reference;
use stridewise_suite::{Argument, Call, Input};
use stridewise_tape::{Tape, Var};

use crate::calls::{calls, numbers};
use crate::held::{layouts, mixed, part, tensor};
use crate::jobs::{MESHES, operators};
use crate::perform::{difference, perform, read};

/// Operators whose results have no gradient: whole numbers, or made from nothing.
const WITHOUT: [&str; 5] = ["shape_of", "zeros", "ones", "full", "arange"];

/// Calls of an operator on each mesh.
const SAMPLE: usize = 24;

/// The same call with `float64` operands, or `complex128` ones now and then. Indices and sizes stay.
fn retyped(mut call: Call, salt: usize) -> Call {
    let dtype = if salt % 5 == 4 {
        DType::C128
    } else {
        DType::F64
    };
    let operand = |input: &Input| numbers(dtype, &input.shape, salt);
    let first = if call.operator == "index" {
        1
    } else {
        call.positional.len()
    };
    let retype = |arg: &mut Argument| *arg = arg.with_tensors(&mut |input| operand(input));
    call.positional[..first].iter_mut().for_each(retype);
    let named = call.named.iter_mut();
    let named = named.filter(|(name, _)| ["source", "other"].contains(name));
    named.for_each(|(_, arg)| retype(arg));
    // The dtype of a sum or a cast stays one that has gradients.
    call.named
        .retain(|(name, _)| *name != "dtype" || call.operator == "cast");
    call
}

fn has_gradient(dtype: DType) -> bool {
    matches!(dtype.family(), Family::Float | Family::Complex)
}

/// A call with what one machine gives: seeds for its outputs, and the gradients by its inputs.
struct Asked {
    call: Call,
    wholes: Vec<Reference>,
    /// For each output that has a gradient, its place, a seed, and the gradients of all inputs that have one.
    answers: Vec<(usize, Reference, Vec<Reference>)>,
}

/// The inputs of a call that have gradients, and its outputs.
type Recorded<E> = (Vec<Var<E>>, Vec<Var<E>>);

/// Makes a call with every tensor watched that can be. The inputs that are, and the outputs.
fn recorded<E: Engine<Size = usize> + Clone>(
    tape: &Tape<E>,
    call: &Call,
    inputs: &[E::Value],
) -> Result<Recorded<E>>
where
    E::Value: stridewise_core::engine::Value<Engine = E>,
{
    let mut watched = Vec::new();
    let mut given = Vec::new();
    for x in inputs {
        given.push(match has_gradient(tape.inner().dtype(x)) {
            true => {
                let x = tape.watch(x)?;
                watched.push(x.clone());
                x
            }
            false => tape.constant(x.clone()),
        });
    }
    Ok((watched, perform(tape, call, &given)?.tensors))
}

fn asked(call: Call, salt: usize) -> Option<Asked> {
    let wholes: Vec<Reference> = call
        .inputs()
        .iter()
        .map(|input| input.reference())
        .collect();
    let inputs: Vec<Tensor> = wholes.iter().map(tensor).collect();
    let tape = Tape::over(Cpu);
    let (watched, outputs) = recorded(&tape, &call, &inputs).ok()?;
    let by: Vec<&Var<Cpu>> = watched.iter().collect();
    let mut answers = Vec::new();
    for (at, y) in outputs.iter().enumerate() {
        let value = y.value();
        if !has_gradient(value.dtype()) || by.is_empty() {
            continue;
        }
        // A 16-bit float would round.
        if value.dtype().width() < 4 {
            continue;
        }
        let seed = numbers(value.dtype(), value.shape(), salt + at + 3).reference();
        let found = tape
            .gradient(y, &by, Some(&tensor(&seed)))
            .expect("gradients");
        answers.push((at, seed, found.iter().map(read).collect()));
    }
    (!answers.is_empty()).then_some(Asked {
        call,
        wholes,
        answers,
    })
}

fn global(spread: &Spread<Cpu>, whole: &Reference, sbp: &[Sbp]) -> Result<Global<Cpu>> {
    let local = tensor(&part(whole, spread.mesh().sizes(), sbp, spread.rank()));
    spread.assemble(local, &whole.shape, sbp)
}

/// A layout, drawn by a seed.
fn drawn(whole: &Reference, mesh: &[usize], seed: u64) -> Vec<Sbp> {
    let all = layouts(whole.shape.len(), whole.dtype, mesh.len());
    all[(mixed(seed) % all.len() as u64) as usize].clone()
}

fn check(world: World, mesh: &[usize], asked: &[Asked]) -> Result<Vec<String>> {
    let spread = Spread::new(Cpu, world, Mesh::new(mesh)?)?;
    let mut wrong = Vec::new();
    for (at, asked) in asked.iter().enumerate() {
        let seed = mixed(at as u64 * 101);
        let held: Vec<Vec<Sbp>> = (0..asked.wholes.len())
            .map(|input| drawn(&asked.wholes[input], mesh, seed + input as u64))
            .collect();
        let inputs = asked.wholes.iter().zip(&held);
        let inputs = inputs.map(|(whole, sbp)| global(&spread, whole, sbp));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let tape = Tape::over(spread.clone());
        let told = || {
            let held: Vec<String> = held.iter().map(|sbp| format!("({})", text(sbp))).collect();
            format!(
                "{} of {} on {mesh:?}, rank {}",
                asked.call,
                held.join(" "),
                spread.rank()
            )
        };
        let (watched, outputs) =
            recorded(&tape, &asked.call, &inputs).map_err(|error| error.note("call", told()))?;
        let by: Vec<&Var<Spread<Cpu>>> = watched.iter().collect();
        for (place, from, wanted) in &asked.answers {
            let sbp = drawn(from, mesh, seed + 50 + *place as u64);
            let from = global(&spread, from, &sbp)?;
            let found = tape
                .gradient(&outputs[*place], &by, Some(&from))
                .map_err(|error| error.note("call", told()))?;
            for (seen, wanted) in found.iter().zip(wanted) {
                let differs = difference(&read(&seen.gather()?), wanted, false);
                wrong.extend(
                    differs.map(|why| format!("{}, seed {}: {seen:?}\n{why}", told(), text(&sbp))),
                );
            }
        }
    }
    Ok(wrong)
}

#[test]
fn gradients_of_every_operator_are_those_of_one_machine() {
    let mut wrong = Vec::new();
    for mesh in MESHES {
        for operator in operators() {
            let all = calls(operator).expect("calls");
            let turns = (0..SAMPLE).map(|turn| turn + 1000 * mesh.len() + 100 * mesh[0]);
            let picked = turns.map(|turn| (mixed(turn as u64) % all.len() as u64) as usize);
            let asked: Vec<Asked> = picked
                .filter_map(|at| asked(retyped(all[at].clone(), at), at))
                .collect();
            assert_eq!(
                asked.len() < 4,
                WITHOUT.contains(&operator),
                "{operator}: {} calls have a gradient",
                asked.len()
            );
            let ranks = mesh.iter().product();
            let told = World::threads(ranks).run(|world| check(world, mesh, &asked));
            match told {
                Ok(told) => wrong.extend(told.into_iter().flatten().take(3)),
                Err(error) => wrong.push(format!("{operator} on {mesh:?}: {error}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

fn parsed(text: &str) -> Vec<Sbp> {
    parse(text).expect(text).to_vec()
}

/// A look-up in a table, added up: what an embedding and its loss do.
#[test]
fn an_embedding_has_the_gradient_of_one_machine_however_table_and_words_lie() {
    let table = numbers(DType::F32, &[6, 3], 1).reference();
    let words = Input::i64(&[2, 5], &[0, 5, 5, 1, 2, 3, 5, 0, 0, 4]).reference();
    let lost = {
        let tape = Tape::over(Cpu);
        let x = tape.watch(&tensor(&table)).expect("a table");
        let index = tape.constant(tensor(&words));
        let y = x
            .take(&index, Some(0), stridewise_core::params::Mode::Raise)
            .expect("rows");
        let loss = y.sum(.., false, None).expect("a loss");
        read(&tape.gradient(&loss, &[&x], None).expect("a gradient")[0])
    };
    for mesh in [&[2][..], &[3], &[2, 2]] {
        let told = World::threads(mesh.iter().product()).run(|world| {
            let spread = Spread::new(Cpu, world, Mesh::new(mesh)?)?;
            for table_held in layouts(2, DType::F32, mesh.len()) {
                for words_held in layouts(2, DType::I64, mesh.len()) {
                    let tape = Tape::over(spread.clone());
                    let x = tape.watch(&global(&spread, &table, &table_held)?)?;
                    let index = tape.constant(global(&spread, &words, &words_held)?);
                    let y = x.take(&index, Some(0), stridewise_core::params::Mode::Raise)?;
                    let loss = y.sum(.., false, None)?;
                    let found = tape.gradient(&loss, &[&x], None)?;
                    let seen = read(&found[0].gather()?);
                    assert_eq!(
                        difference(&seen, &lost, false),
                        None,
                        "{table_held:?} {words_held:?}"
                    );
                }
            }
            Ok(())
        });
        told.unwrap_or_else(|error| panic!("{error}"));
    }
}

/// What gradients of split tensors cost: nothing, where the adjoint of a free step is free.
#[test]
fn gradients_stay_where_they_are_made() {
    let told = World::threads(2).run(|world| {
        let spread = Spread::new(Cpu, world, Mesh::new(&[2])?)?;
        let tape = Tape::over(spread.clone());
        let mut seen = Vec::new();
        let mut note =
            |name: &str, y: &Var<Spread<Cpu>>, x: &Var<Spread<Cpu>>, seed: &str| -> Result<()> {
                let shape = y.value().shape().to_vec();
                let seed = global(&spread, &Input::f32(&shape).reference(), &parsed(seed))?;
                let before = spread.world().wire().received();
                let found = tape.gradient(y, &[x], Some(&seed))?;
                let bytes = spread.world().wire().received() - before;
                seen.push(format!("{name}: {} {bytes}", text(found[0].sbp())));
                Ok(())
            };
        let watch = |shape: &[usize], sbp: &str| {
            tape.watch(&global(
                &spread,
                &Input::f32(shape).reference(),
                &parsed(sbp),
            )?)
        };
        let x = watch(&[1, 4], "B")?;
        note("a bias, from a split batch", &x.expand([6, 4])?, &x, "S(0)")?;
        note("a bias, from split columns", &x.expand([6, 4])?, &x, "S(1)")?;
        let x = watch(&[6, 4], "S(0)")?;
        note("a permuted part", &x.transpose(..)?, &x, "S(1)")?;
        note("a summed part", &x.sum([0], false, None)?, &x, "B")?;
        note("a reshaped part", &x.reshape([24])?, &x, "S(0)")?;
        let words = Input::i64(&[4], &[0, 5, 5, 1]).reference();
        let table = watch(&[6, 3], "B")?;
        let index = tape.constant(global(&spread, &words, &parsed("S(0)"))?);
        let rows = table.take(&index, Some(0), stridewise_core::params::Mode::Raise)?;
        note("a table, from split words", &rows, &table, "S(0)")?;
        let table = watch(&[6, 3], "S(0)")?;
        let index = tape.constant(global(&spread, &words, &parsed("B"))?);
        let rows = table.take(&index, Some(0), stridewise_core::params::Mode::Raise)?;
        note("a split table", &rows, &table, "B")?;
        Ok(seen)
    });
    let told = told.unwrap_or_else(|error| panic!("{error}"));
    for seen in told {
        let wanted = [
            "a bias, from a split batch: P 0",
            "a bias, from split columns: S(1) 0",
            "a permuted part: S(0) 0",
            "a summed part: B 0",
            "a reshaped part: S(0) 0",
            "a table, from split words: P 0",
            "a split table: S(0) 0",
        ];
        assert_eq!(seen, wanted);
    }
}
