//! The tour's chapter on many ranks: calls planned on a mesh, with what each rank has and receives.

use stridewise::Mesh;
use stridewise::spread::{Moved, sbp};
use stridewise_core::dtype::DType;
use stridewise_core::size::tuple;
use stridewise_dry::Dry;

use crate::failure::Failure;
use crate::program::Program;
use crate::ranks::plan::{Part, Row, plan};
use crate::ranks::{Given, amount, is_collective, way};
use crate::tour::Walk;

/// A tensor of an example: its name, its type, its shape and how it lies.
type Held = (DType, &'static [usize], &'static str);

/// Splits that survive, and one that does not.
pub(crate) fn parts(walk: &mut Walk) -> Result<(), Failure> {
    walk.say("As long as the rows of each rank stay together and in order, a split survives:")?;
    let x: &[Held] = &[(DType::F32, &[8, 6], "S(0)")];
    given(walk, &[4], x)?;
    calls(walk, &[4], x, &["expand(5, -1, -1)", "flatten()", "sum(1)"])?;
    walk.line("")?;
    walk.say(
        "Six rows of eight do not begin where eight rows of six do: ranks exchange what lies between the cut points, \
         and nothing else. Parts may differ by one row, or be empty.",
    )?;
    walk.line("")?;
    calls(walk, &[4], x, &["reshape(6, 8)", "[3:]"])
}

/// A table of which each rank has some rows.
pub(crate) fn table(walk: &mut Walk) -> Result<(), Failure> {
    walk.say(
        "Of a table that is split by rows, each rank looks up what it has and reads nothing elsewhere. All of them \
         together have the result, as a partial sum. Where a later step needs it added up, that is done then.",
    )?;
    let table: &[Held] = &[
        (DType::F32, &[1000, 64], "S(0)"),
        (DType::I64, &[2, 5], "B"),
    ];
    given(walk, &[4], table)?;
    calls(
        walk,
        &[4],
        table,
        &["take($2, axis=0)", "take($2, axis=0).cast(f16)"],
    )
}

/// The same on a mesh that nobody has.
pub(crate) fn mesh(walk: &mut Walk) -> Result<(), Failure> {
    walk.say(
        "A plan needs no ranks, so meshes can be as large as one likes. Here the first mesh axis splits rows, and the \
         second one columns:",
    )?;
    let x: &[Held] = &[(DType::F32, &[4096, 1024], "S(0),S(1)")];
    given(walk, &[64, 8], x)?;
    calls(walk, &[64, 8], x, &["transpose()", "sum(0)", "flatten()"])?;
    walk.line("")?;
    walk.say(
        "`stridewise plan` with --mesh tells this of any program, and `stridewise run` with --ranks runs it on threads.",
    )
}

/// Says what lies where.
fn given(walk: &mut Walk, sizes: &[usize], inputs: &[Held]) -> Result<(), Failure> {
    walk.line("")?;
    let mesh = Mesh::new(sizes)?;
    for (at, row) in planned("", sizes, inputs)?.iter().enumerate() {
        let name = match at {
            0 => "x".to_string(),
            n => format!("${}", n + 1),
        };
        for x in &row.tensors {
            let (dtype, shape) = (x.dtype, tuple(&x.shape));
            walk.line(&format!(
                "    {name} is {dtype} {shape} on {mesh} ranks {}",
                lies(x)
            ))?;
        }
    }
    Ok(())
}

fn lies(x: &Part) -> String {
    let (held, largest) = (sbp::text(&x.sbp), tuple(&x.largest));
    match x.largest == x.smallest {
        true => format!("as {held}, each {largest}"),
        false => format!("as {held}, from {largest} to {}", tuple(&x.smallest)),
    }
}

/// Programs, what they give and what is sent for it.
fn calls(
    walk: &mut Walk,
    sizes: &[usize],
    inputs: &[Held],
    programs: &[&str],
) -> Result<(), Failure> {
    for program in programs {
        let rows = planned(program, sizes, inputs)?;
        let call = walk.paint.cyan(&Walk::written(program, false));
        walk.line(&format!("    {call}"))?;
        for x in rows.iter().last().map_or(&[][..], |row| &row.tensors) {
            walk.line(&format!("      {} {}", tuple(&x.shape), lies(x)))?;
        }
        let changes = rows.iter().flat_map(|row| &row.changes);
        let sent: Vec<&Moved> = changes.filter(|change| is_collective(change)).collect();
        if sent.is_empty() {
            let nothing = walk.paint.green("nothing is sent");
            walk.line(&format!("      {nothing}"))?;
        }
        for moved in sent {
            let (what, axis) = (moved.what.name(), moved.mesh_axis);
            let text = format!("{what} {} on mesh axis {axis}", way(moved));
            let text = format!("{text}: {} to a rank", amount(moved.bytes));
            let text = walk.paint.yellow(&text);
            walk.line(&format!("      {text}"))?;
        }
    }
    Ok(())
}

/// The plan of a program.
fn planned(program: &str, sizes: &[usize], inputs: &[Held]) -> Result<Vec<Row>, Failure> {
    let program = Program::parse(program).map_err(Failure::within(program))?;
    let layouts = inputs.iter().map(|(_, _, held)| sbp::parse(held));
    let given = Given {
        mesh: Mesh::new(sizes)?,
        sbp: layouts.collect::<Result<_, _>>()?,
    };
    let dry = Dry::new();
    let sketches = inputs
        .iter()
        .map(|(dtype, shape, _)| dry.tensor(*dtype, shape));
    let sketches: Vec<_> = sketches.collect::<Result<_, _>>()?;
    Ok(plan(&program, &given, &sketches, false, None)?.rows)
}
