//! A program run on ranks that are threads, and the result gathered.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use stridewise::spread::Moved;
use stridewise::{Cpu, Spread, Tensor, World};
use stridewise_core::error::Error;

use crate::failure::Failure;
use crate::program::{Flow, Mistake, Program, start, step};
use crate::progress::Progress;
use crate::ranks::plan::misplaced;
use crate::ranks::{Given, amount, counted, is_collective, received, together, words};
use crate::terminal::{Paint, count};

/// More threads than this help nobody.
const MOST: usize = 1024;

/// What all ranks have done together.
pub(crate) struct Ran {
    /// The result, all of it; none where the program is empty and there was no input.
    pub(crate) flow: Option<Flow<Tensor>>,
    /// What `enforce_shape` found, in order.
    pub(crate) dims: Vec<String>,
    /// What each rank noted of the changes of layout.
    pub(crate) moved: Vec<Vec<Moved>>,
    /// The same of the last one, which gives rank 0 the whole result.
    pub(crate) gathered: Vec<Vec<Moved>>,
}

/// One rank's part of it.
struct OnRank {
    flow: Option<Flow<Tensor>>,
    dims: Vec<String>,
    moved: Vec<Moved>,
    gathered: Vec<Moved>,
}

/// Why a rank stopped: where that is known, in the words of the program or of the options.
type Why = (usize, Failure);

/// Runs a program on threads.
pub(crate) fn run(
    program: &Program,
    given: &Given,
    inputs: &[Tensor],
    progress: &Progress,
) -> Result<Ran, Failure> {
    let ranks = given.mesh.ranks();
    if ranks > MOST {
        return Err(Failure::Usage(format!(
            "a run has a thread for each of {ranks} ranks, and at most {MOST}\n  help: `stridewise plan` takes a mesh of any size"
        )));
    }
    let causes: Mutex<Vec<Why>> = Mutex::default();
    let ran = World::threads(ranks).run(|world| {
        let rank = world.rank();
        on_rank(program, given, inputs, progress, world).map_err(|(failure, error)| {
            // What the world tells is that another rank has failed; that one knows why. An option that is wrong is
            // wrong for all.
            if !matches!(error, Error::World(_)) || matches!(failure, Failure::Usage(_)) {
                let mut causes = causes.lock().unwrap_or_else(PoisonError::into_inner);
                causes.push((rank, failure));
            }
            error
        })
    });
    let ran = ran.map_err(|error| {
        let causes = causes.into_inner().unwrap_or_else(PoisonError::into_inner);
        cause(causes, ranks).unwrap_or_else(|| Failure::from(error))
    })?;
    let mut all = Ran {
        flow: None,
        dims: Vec::new(),
        moved: Vec::new(),
        gathered: Vec::new(),
    };
    for (rank, one) in ran.into_iter().enumerate() {
        all.moved.push(one.moved);
        all.gathered.push(one.gathered);
        if rank == 0 {
            (all.flow, all.dims) = (one.flow, one.dims);
        }
    }
    Ok(all)
}

/// The failure of the lowest rank, which is named unless all of them failed.
fn cause(mut causes: Vec<Why>, ranks: usize) -> Option<Failure> {
    causes.sort_by_key(|(rank, _)| *rank);
    let alone = causes.len() < ranks;
    let (rank, failure) = causes.into_iter().next()?;
    Some(match failure {
        Failure::Program(mut mistake, source) if alone => {
            mistake.details.notes.push(format!("rank: {rank}"));
            Failure::Program(mistake, source)
        }
        failure => failure,
    })
}

fn on_rank(
    program: &Program,
    given: &Given,
    inputs: &[Tensor],
    progress: &Progress,
    world: World,
) -> Result<OnRank, (Failure, Error)> {
    let first = world.rank() == 0;
    let wrong = |mistake: Mistake| {
        let error = mistake.details.error.clone();
        let error = error.unwrap_or_else(|| Error::argument(mistake.message.clone()));
        (Failure::within(&program.source)(mistake), error)
    };
    let other = |error: Error| (Failure::from(error.clone()), error);
    let spread = Spread::new(Cpu, world, given.mesh.clone()).map_err(other)?;
    let mut held = Vec::new();
    for (at, (x, sbp)) in inputs.iter().zip(&given.sbp).enumerate() {
        let placed = spread
            .part_of(x.shape(), x.dtype(), sbp)
            .and_then(|_| spread.from_whole(x.clone(), sbp));
        held.push(placed.map_err(|error| (misplaced(at + 1, &error), error))?);
    }
    // Each keeps its part of what all of them have.
    spread.take_moved();
    let mut dims = Vec::new();
    let mut flow = start(program, &held).map_err(wrong)?;
    for one in &program.steps {
        if first {
            progress.begin(&program.text(one));
        }
        let done = step(&spread, one, flow.as_ref(), &held).map_err(wrong)?;
        dims.extend(done.dims.map(|dims| dims.to_string()));
        flow = Some(done.flow);
        if first {
            progress.advance();
        }
    }
    let moved = spread.take_moved();
    if first {
        progress.begin("gathering the result");
    }
    let whole = |x: &stridewise::Global<Cpu>| x.gather().map_err(other);
    let flow = match flow {
        None => None,
        Some(Flow::One(x)) => Some(Flow::One(whole(&x)?)),
        Some(Flow::Many(xs)) => Some(Flow::Many(xs.iter().map(whole).collect::<Result<_, _>>()?)),
    };
    Ok(OnRank {
        flow: flow.filter(|_| first),
        dims,
        moved,
        gathered: spread.take_moved(),
    })
}

/// So many changes are listed.
const LISTED: usize = 24;

impl Ran {
    /// Tells what moved.
    pub(crate) fn summary(
        &self,
        given: &Given,
        paint: Paint,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let most = |all: &[Vec<Moved>]| {
            let most = all.iter().map(|moved| received(moved)).max();
            amount(most.unwrap_or(0))
        };
        let changes = self
            .moved
            .iter()
            .fold(Vec::new(), |all, moved| together(all, moved));
        let collectives: Vec<&Moved> = changes.iter().filter(|m| is_collective(m)).collect();
        for moved in collectives.iter().take(LISTED) {
            let (operator, figure) = (moved.operator, amount(moved.bytes));
            let line = format!("{operator}: {}: {figure}", words(moved));
            writeln!(out, "{}", paint.dim(&line))?;
        }
        if collectives.len() > LISTED {
            let more = format!("… and {} more", collectives.len() - LISTED);
            writeln!(out, "{}", paint.dim(&more))?;
        }
        let mesh = match given.mesh.rank() {
            1 => count(given.mesh.ranks(), "rank"),
            _ => format!("{} ranks as {}", given.mesh.ranks(), given.mesh),
        };
        let line = format!(
            "{mesh}: {}, at most {} received by one; {} more to gather the result",
            counted(collectives.len()),
            most(&self.moved),
            most(&self.gathered)
        );
        writeln!(out, "{}", paint.dim(&line))?;
        Ok(())
    }
}
