//! Splits that must survive, and the bytes that ranks may receive for them. Whoever gathers everything first gives
//! the right numbers, and fails here.

use stridewise_core::call::Arg;
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Engine};
use stridewise_core::error::Result;
use stridewise_core::params::{Mode, Scalar};
use stridewise_cpu::Cpu;
use stridewise_spread::sbp::{parse, text};
use stridewise_spread::{Global, Mesh, Sbp, Spread, World};
use stridewise_suite::call::range;
use stridewise_suite::reference::Reference;
use stridewise_suite::{Call, Input};

use crate::calls::ints;
use crate::counting::Counting;
use crate::held::{part, tensor};
use crate::perform::perform;

/// A call on a mesh, how its inputs and its results lie, and the bytes that each rank receives.
struct Survivor {
    call: Call,
    mesh: &'static [usize],
    held: &'static [&'static str],
    gives: &'static str,
    bytes: Vec<u64>,
}

/// Something that moves nothing.
fn free(
    mesh: &'static [usize],
    call: Call,
    held: &'static [&'static str],
    gives: &'static str,
) -> Survivor {
    let bytes = vec![0; mesh.iter().product()];
    Survivor {
        call,
        mesh,
        held,
        gives,
        bytes,
    }
}

/// Something for which ranks receive so many bytes each.
fn for_bytes(
    bytes: &[u64],
    mesh: &'static [usize],
    call: Call,
    held: &'static [&'static str],
    gives: &'static str,
) -> Survivor {
    Survivor {
        bytes: bytes.to_vec(),
        ..free(mesh, call, held, gives)
    }
}

fn of(name: &'static str, shape: &[usize]) -> Call {
    Call::of(name).arg(Input::f32(shape))
}

fn take(shape: &[usize], index: &[i64], axis: i128) -> Call {
    let index = Input::i64(&[index.len()], index);
    of("take", shape).with("index", index).with("axis", axis)
}

fn index_add(shape: &[usize], index: &[i64], source: &[usize], axis: i128) -> Call {
    let call = of("index_add", shape).with("axis", axis);
    let call = call.with("index", Input::i64(&[index.len()], index));
    call.with("source", Input::f32(source))
}

fn concat(shapes: &[&[usize]], axis: i128) -> Call {
    let inputs: Vec<Input> = shapes.iter().map(|shape| Input::f32(shape)).collect();
    Call::of("concat").arg(inputs).with("axis", axis)
}

fn survivors() -> Vec<Survivor> {
    let all = || range(None, None, None);
    let from = |start| range(Some(start), None, None);
    let back = || range(None, None, Some(-1));
    let dtype = |call: Call, dtype: DType| call.with("dtype", dtype);
    vec![
        // Views that know nothing of the split axis.
        free(
            &[2],
            of("expand", &[1, 3]).with("sizes", ints(&[4, 3])),
            &["S(1)"],
            "S(1)",
        ),
        free(
            &[3],
            of("expand", &[4, 1]).with("sizes", ints(&[2, 4, 5])),
            &["S(0)"],
            "S(1)",
        ),
        free(
            &[2],
            of("expand", &[1, 3]).with("sizes", ints(&[4, 3])),
            &["P"],
            "P",
        ),
        free(
            &[2],
            of("broadcast_to", &[3]).with("shape", ints(&[2, 3])),
            &["S(0)"],
            "S(1)",
        ),
        free(
            &[4],
            of("permute", &[2, 3, 5]).with("axes", ints(&[2, 0, 1])),
            &["S(0)"],
            "S(1)",
        ),
        free(&[4], of("transpose", &[5, 6]), &["S(1)"], "S(0)"),
        free(
            &[3],
            of("swapaxes", &[5, 6]).with("a", 0).with("b", 1),
            &["S(1)"],
            "S(0)",
        ),
        free(
            &[3],
            of("moveaxis", &[5, 6, 2])
                .with("source", 0)
                .with("destination", 2),
            &["S(0)"],
            "S(2)",
        ),
        free(
            &[2],
            of("unsqueeze", &[5, 3]).with("axis", 0),
            &["S(0)"],
            "S(1)",
        ),
        free(&[2], of("squeeze", &[1, 5, 1]), &["S(1)"], "S(0)"),
        free(&[2], of("atleast_3d", &[5]), &["S(0)"], "S(1)"),
        free(&[2], of("flip", &[5, 3]).with("axis", 1), &["S(0)"], "S(0)"),
        free(
            &[4],
            of("slice", &[6, 5]).with("items", vec![all(), from(2)]),
            &["S(0)"],
            "S(0)",
        ),
        free(
            &[4],
            of("slice", &[6, 5]).with("items", vec![all(), Arg::Int(2)]),
            &["S(0)"],
            "S(0)",
        ),
        free(
            &[4],
            of("slice", &[6, 5]).with("items", vec![Arg::Int(2)]),
            &["S(1)"],
            "S(0)",
        ),
        free(
            &[4],
            of("slice", &[6, 5]).with("items", vec![Arg::None, Arg::Rest]),
            &["S(0)"],
            "S(1)",
        ),
        free(
            &[3],
            of("enforce_shape", &[5, 2]).with("pattern", vec![Arg::None, Arg::Int(2)]),
            &["S(0)"],
            "S(0)",
        ),
        free(&[3], of("contiguous", &[5, 2]), &["S(0)"], "S(0)"),
        free(
            &[3],
            dtype(of("cast", &[5, 2]), DType::I8),
            &["S(1)"],
            "S(1)",
        ),
        free(
            &[2],
            of("unstack", &[2, 5]).with("axis", 0),
            &["S(1)"],
            "S(0)",
        ),
        // Rows read as one axis, or an axis as rows, where the cut points coincide.
        free(
            &[2],
            of("reshape", &[4, 6]).with("shape", ints(&[24])),
            &["S(0)"],
            "S(0)",
        ),
        free(
            &[2],
            of("reshape", &[24]).with("shape", ints(&[4, 6])),
            &["S(0)"],
            "S(0)",
        ),
        free(
            &[2],
            of("reshape", &[4, 6]).with("shape", ints(&[2, 2, 6])),
            &["S(0)"],
            "S(0)",
        ),
        free(
            &[3],
            of("reshape", &[2, 6, 5]).with("shape", ints(&[2, 3, 10])),
            &["S(1)"],
            "S(1)",
        ),
        free(
            &[3],
            of("reshape", &[5, 6, 2]).with("shape", ints(&[5, 12])),
            &["S(0)"],
            "S(0)",
        ),
        free(
            &[3],
            of("unflatten", &[6, 5])
                .with("axis", 0)
                .with("shape", ints(&[3, 2])),
            &["S(0)"],
            "S(0)",
        ),
        free(
            &[2],
            of("unflatten", &[6, 5])
                .with("axis", 0)
                .with("shape", ints(&[1, 6])),
            &["S(0)"],
            "S(1)",
        ),
        free(&[2], of("flatten", &[4, 3]), &["S(0)"], "S(0)"),
        free(&[2], of("flatten", &[1, 4, 3]), &["S(1)"], "S(0)"),
        free(
            &[2],
            of("view", &[4, 3]).with("shape", ints(&[12])),
            &["P"],
            "P",
        ),
        // Where they do not, only the rows between them move.
        for_bytes(
            &[0, 8, 16, 8],
            &[4],
            of("reshape", &[6, 5]).with("shape", ints(&[30])),
            &["S(0)"],
            "S(0)",
        ),
        for_bytes(
            &[20, 0],
            &[2],
            of("unflatten", &[6, 5])
                .with("axis", 0)
                .with("shape", ints(&[3, 2])),
            &["S(0)"],
            "S(0)",
        ),
        for_bytes(
            &[20, 0],
            &[2],
            of("slice", &[6, 5]).with("items", vec![from(1)]),
            &["S(0)"],
            "S(0)",
        ),
        for_bytes(
            &[12, 12],
            &[2],
            of("slice", &[6]).with("items", vec![back()]),
            &["S(0)"],
            "S(0)",
        ),
        // All rows of the other, or half the columns of all rows: the latter is less.
        for_bytes(
            &[36, 24],
            &[2],
            of("flip", &[6, 5]).with("axis", 0),
            &["S(0)"],
            "S(1)",
        ),
        free(
            &[2],
            of("slice", &[6, 5]).with("items", vec![range(None, None, Some(3))]),
            &["S(0)"],
            "S(0)",
        ),
        for_bytes(
            &[8, 8],
            &[2],
            concat(&[&[4, 2], &[2, 2]], 0),
            &["S(0)", "S(0)"],
            "S(0)",
        ),
        // Sums of parts are summands.
        free(&[3], of("sum", &[5, 2]).with("axis", 0), &["S(0)"], "P"),
        free(&[3], of("sum", &[5, 2]).with("axis", 1), &["S(0)"], "S(0)"),
        free(&[3], of("sum", &[5, 2]).with("axis", 0), &["S(1)"], "S(0)"),
        free(
            &[3],
            of("sum", &[5, 2]).with("axis", 0).with("keepdims", true),
            &["S(1)"],
            "S(1)",
        ),
        free(&[3], of("sum", &[5, 2]), &["P"], "P"),
        free(&[2, 2], of("sum", &[5, 2]), &["S(0), S(1)"], "P, P"),
        // Reading at an index.
        free(&[2], take(&[5, 3], &[4, 0, 2], 0), &["B", "S(0)"], "S(0)"),
        free(&[2], take(&[5, 3], &[4, 0, 2], 0), &["S(0)", "B"], "P"),
        free(&[2], take(&[5, 3], &[4, 0, 2], 0), &["S(1)", "B"], "S(1)"),
        free(&[2], take(&[5, 3], &[4, 0, 2], 0), &["P", "B"], "P"),
        free(
            &[2],
            of("take", &[5, 3]).with("index", Input::i64(&[2], &[14, 0])),
            &["S(0)", "B"],
            "P",
        ),
        free(
            &[2, 2],
            take(&[5, 3], &[4, 0, 2], 0),
            &["S(1), B", "B, S(0)"],
            "S(1), S(0)",
        ),
        free(
            &[2, 2],
            take(&[5, 3], &[4, 0, 2], 0),
            &["S(0), S(0)", "B, B"],
            "P, P",
        ),
        // The index of 24 bytes goes to all, not the source of 60.
        for_bytes(
            &[8, 16],
            &[2],
            take(&[5, 3], &[4, 0, 2], 0),
            &["S(0)", "S(0)"],
            "P",
        ),
        free(
            &[2],
            of("take_along_axis", &[3, 2])
                .with("index", Input::i64(&[3, 1], &[1, 0, 1]))
                .with("axis", 1),
            &["S(0)", "S(0)"],
            "S(0)",
        ),
        free(
            &[2],
            of("take_along_axis", &[3, 2])
                .with("index", Input::i64(&[1, 2], &[1, 2]))
                .with("axis", 0),
            &["S(0)", "B"],
            "P",
        ),
        // Adding at an index.
        free(
            &[2],
            index_add(&[5, 3], &[4, 0], &[2, 3], 0),
            &["S(1)", "B", "S(1)"],
            "S(1)",
        ),
        free(
            &[2],
            index_add(&[5, 3], &[4, 0], &[2, 3], 0),
            &["S(0)", "B", "B"],
            "S(0)",
        ),
        free(
            &[2],
            index_add(&[5, 3], &[4, 0], &[2, 3], 0),
            &["P", "S(0)", "S(0)"],
            "P",
        ),
        free(
            &[2],
            index_add(&[5, 3], &[4, 0], &[2, 3], 0),
            &["P", "B", "P"],
            "P",
        ),
        // Tensors side by side.
        free(
            &[2],
            concat(&[&[5, 2], &[5, 3]], 1),
            &["S(0)", "S(0)"],
            "S(0)",
        ),
        free(&[2], concat(&[&[5, 2], &[5, 3]], 1), &["P", "P"], "P"),
        free(&[2], concat(&[&[5, 2], &[5, 3]], 1), &["B", "S(0)"], "S(0)"),
        free(
            &[2],
            Call::of("stack").arg(vec![Input::f32(&[5]), Input::f32(&[5])]),
            &["S(0)", "S(0)"],
            "S(1)",
        ),
        // Copies.
        free(
            &[2],
            of("repeat", &[5, 3]).with("sizes", ints(&[1, 2])),
            &["S(0)"],
            "S(0)",
        ),
        free(
            &[2],
            of("repeat", &[5, 3]).with("sizes", ints(&[2, 1, 1])),
            &["S(0)"],
            "S(1)",
        ),
        free(&[2], of("tile", &[5, 3]).with("reps", 2), &["S(0)"], "S(0)"),
        free(
            &[2],
            of("repeat_interleave", &[5, 3])
                .with("repeats", 2)
                .with("axis", 1),
            &["S(0)"],
            "S(0)",
        ),
        // Each mesh axis has its own.
        free(
            &[2, 3],
            of("permute", &[5, 6]).with("axes", ints(&[1, 0])),
            &["S(0), S(1)"],
            "S(1), S(0)",
        ),
        free(
            &[2, 3],
            of("reshape", &[2, 3, 4]).with("shape", ints(&[6, 4])),
            &["S(0), S(1)"],
            "S(0), S(0)",
        ),
        free(
            &[2, 2],
            of("slice", &[7, 3]).with("items", vec![all(), from(1)]),
            &["S(0), S(0)"],
            "S(0), S(0)",
        ),
        free(
            &[2, 2],
            of("flatten", &[4, 3]),
            &["S(0), S(0)"],
            "S(0), S(0)",
        ),
    ]
}

fn parsed(text: &str) -> Vec<Sbp> {
    parse(text).expect(text).to_vec()
}

#[test]
fn splits_survive_for_the_bytes_that_they_must_cost() {
    let mut wrong = Vec::new();
    for Survivor {
        call,
        mesh,
        held,
        gives,
        bytes,
    } in survivors()
    {
        let wholes: Vec<Reference> = call
            .inputs()
            .iter()
            .map(|input| input.reference())
            .collect();
        let told = World::threads(bytes.len()).run(|world| {
            let counting = Counting::over(world);
            let spread = Spread::new(Cpu, counting.world(), Mesh::new(mesh)?)?;
            let inputs = wholes.iter().zip(held).map(|(whole, held)| {
                let sbp = parsed(held);
                let local = tensor(&part(whole, mesh, &sbp, spread.rank()));
                spread.assemble(local, &whole.shape, &sbp)
            });
            let made = perform(&spread, &call, &inputs.collect::<Result<Vec<_>>>()?)?;
            let held: Vec<String> = made.tensors.iter().map(|x| text(x.sbp())).collect();
            Ok((
                held,
                counting.world().wire().received(),
                counting.collectives(),
            ))
        });
        let given = format!("{call} of {} on {mesh:?}", held.join(" and "));
        let told = match told {
            Ok(told) => told,
            Err(error) => {
                wrong.push(format!("{given}: {error}"));
                continue;
            }
        };
        let seen: Vec<u64> = told.iter().map(|(_, bytes, _)| *bytes).collect();
        let collectives: usize = told.iter().map(|(_, _, count)| count).sum();
        let as_wanted = told
            .iter()
            .all(|(held, ..)| held.iter().all(|held| held == gives));
        // Nothing moved, and nobody waited for anybody.
        let quiet = bytes.iter().any(|bytes| *bytes > 0) || collectives == 0;
        if !(as_wanted && seen == bytes && quiet) {
            wrong.push(format!(
                "{given}\n  wanted {gives} for {bytes:?} bytes, got {} for {seen:?} in {collectives} collectives",
                told[0].0.join(" and ")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A global tensor of 0, 1, 2, ….
fn global(spread: &Spread<Cpu>, shape: &[usize], sbp: &str) -> Result<Global<Cpu>> {
    let (whole, sbp) = (Input::f32(shape).reference(), parsed(sbp));
    let local = tensor(&part(&whole, spread.mesh().sizes(), &sbp, spread.rank()));
    spread.assemble(local, shape, &sbp)
}

#[test]
fn primitives_move_nothing_where_summands_can_stay_summands() {
    type Run = fn(&Spread<Cpu>) -> Result<Global<Cpu>>;
    let tried: [(&str, &str, Run); 5] = [
        ("a summand and a whole", "P", |spread| {
            spread.add(
                &global(spread, &[5, 3], "P")?,
                &global(spread, &[5, 3], "B")?,
            )
        }),
        ("a part and a whole", "S(0)", |spread| {
            spread.add(
                &global(spread, &[5, 3], "S(0)")?,
                &global(spread, &[5, 3], "B")?,
            )
        }),
        // The gradient of a look-up whose indices are split: every rank adds what it has.
        ("split updates of zeros", "P", |spread| {
            let zeros = spread.full(DType::F32, Scalar::Int(0), &[5, 3])?;
            let index = {
                let whole = Input::i64(&[4], &[0, 4, 4, 1]).reference();
                let sbp = [Sbp::Split(0)];
                spread.assemble(tensor(&part(&whole, &[2], &sbp, spread.rank())), &[4], &sbp)?
            };
            let updates = global(spread, &[4, 3], "S(0)")?;
            spread.scatter_add(&zeros, &index, &updates, &Along::Run(0..1), Mode::Raise)
        }),
        // The gradient of a look-up in a split table.
        ("updates of split zeros", "S(1)", |spread| {
            let zeros = spread.full(DType::F32, Scalar::Int(0), &[5, 3])?;
            let index = {
                let whole = Input::i64(&[4], &[0, 4, 4, 1]).reference();
                spread.assemble(tensor(&whole), &[4], &[Sbp::Broadcast])?
            };
            let updates = global(spread, &[4, 3], "S(1)")?;
            spread.scatter_add(&zeros, &index, &updates, &Along::Run(0..1), Mode::Raise)
        }),
        // What is one value everywhere lies as the other one does.
        ("zeros and a part", "S(1)", |spread| {
            let zeros = spread.full(DType::F32, Scalar::Int(0), &[5, 3])?;
            spread.add(&zeros, &global(spread, &[5, 3], "S(1)")?)
        }),
    ];
    for (name, gives, run) in tried {
        let told = World::threads(2).run(|world| {
            let counting = Counting::over(world);
            let spread = Spread::new(Cpu, counting.world(), Mesh::new(&[2])?)?;
            let made = run(&spread)?;
            Ok((text(made.sbp()), counting.collectives()))
        });
        let told = told.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(told, vec![(gives.to_string(), 0); 2], "{name}");
    }
}
