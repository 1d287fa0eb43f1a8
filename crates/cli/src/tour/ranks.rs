//! The tour's chapter on many ranks: calls planned on a mesh, with what each rank has and receives.

use stridewise::Mesh;
use stridewise::spread::sbp;
use stridewise_core::dtype::DType;
use stridewise_core::size::tuple;
use stridewise_dry::Dry;

use crate::failure::Failure;
use crate::program::Program;
use crate::ranks::plan::{Part, plan};
use crate::ranks::{Given, is_collective, way};
use crate::terminal::bytes;
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
    for (at, (row, _)) in planned("", sizes, inputs)?.into_iter().enumerate() {
        let name = match at {
            0 => "x".to_string(),
            n => format!("${}", n + 1),
        };
        for x in &row {
            let (shape, mesh) = (tuple(&x.shape), Mesh::new(sizes)?);
            let dtype = x.dtype;
            walk.line(&format!(
                "    {name} is {dtype} {shape} on {mesh} ranks {}",
                lies(x)
            ))?;
        }
    }
    Ok(())
}

fn lies(x: &Part) -> String {
    let held = sbp::text(&x.sbp);
    let all = tuple(&x.largest);
    match x.largest == x.smallest {
        true => format!("as {held}, each {all}"),
        false => format!("as {held}, from {all} to {}", tuple(&x.smallest)),
    }
}

fn calls(
    walk: &mut Walk,
    sizes: &[usize],
    inputs: &[Held],
    programs: &[&str],
) -> Result<(), Failure> {
    for program in programs {
        let rows = planned(program, sizes, inputs)?;
        let call = match program.starts_with('[') {
            true => format!("x{program}"),
            false => format!("x.{program}"),
        };
        let call = walk.paint.cyan(&call);
        walk.line(&format!("    {call}"))?;
        let Some((last, _)) = rows.last() else {
            continue;
        };
        for x in last {
            walk.line(&format!("      {} {}", tuple(&x.shape), lies(x)))?;
        }
        let changes: Vec<&String> = rows.iter().flat_map(|(_, changes)| changes).collect();
        if changes.is_empty() {
            let nothing = walk.paint.green("nothing is sent");
            walk.line(&format!("      {nothing}"))?;
        }
        for change in changes {
            let change = walk.paint.yellow(change);
            walk.line(&format!("      {change}"))?;
        }
    }
    Ok(())
}

/// What inputs and steps give, and the collectives for it in words.
fn planned(
    program: &str,
    sizes: &[usize],
    inputs: &[Held],
) -> Result<Vec<(Vec<Part>, Vec<String>)>, Failure> {
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
    let plan = plan(&program, &given, &sketches, false, None)?;
    let row = |row: crate::ranks::plan::Row| {
        let changes = row.changes.iter().filter(|change| is_collective(change));
        let words = changes.map(|change| {
            let figure = bytes(usize::try_from(change.bytes).unwrap_or(usize::MAX));
            let what = change.what.name();
            format!(
                "{what} {} on mesh axis {}: {figure} to a rank",
                way(change),
                change.mesh_axis
            )
        });
        (row.tensors.clone(), words.collect())
    };
    Ok(plan.rows.into_iter().map(row).collect())
}
