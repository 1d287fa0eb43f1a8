//! Ranks as threads of one process. They read straight from each other's buffers: nothing is copied on the way.
//!
//! ```
//! use stridewise_core::dtype::DType;
//! use stridewise_spread::{Call, Collective, Line, World};
//!
//! let gathered = World::threads(3).run(|world| {
//!     let call = Call {
//!         operator: "example",
//!         what: Collective::AllGather { counts: &[1, 1, 1] },
//!         dtype: DType::U8,
//!     };
//!     let mut all = [0; 3];
//!     world.collective(Line::all(3), &call, &[10 + world.rank() as u8], &mut all)?;
//!     Ok(all)
//! });
//! assert_eq!(gathered.unwrap(), [[10, 11, 12]; 3]);
//! ```

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use stridewise_core::error::{Error, Result};

use super::agree;
use super::{Wire, World};

mod end;
mod group;
mod lend;
mod meeting;

use end::End;
use group::{Cause, Group};

/// No process has more threads than this on the machines of our day; where there are fewer, starting them tells.
const MOST: usize = 1 << 16;

/// A world of threads that is yet to be made. See [`World::threads`].
#[derive(Clone, Debug)]
pub struct Threads {
    size: usize,
    timeout: Option<Duration>,
}

impl World {
    /// A world of this many ranks, each a thread of this process.
    pub fn threads(size: usize) -> Threads {
        Threads {
            size,
            timeout: None,
        }
    }

    /// A world of one rank.
    pub fn alone() -> World {
        // Nobody is ever waited for.
        let group = Group::new(1, Duration::ZERO);
        World::new(Arc::new(End::new(Arc::new(group), 0)))
    }
}

impl Threads {
    /// How long ranks wait for each other, instead of [`agree::timeout`].
    pub fn timeout(mut self, timeout: Duration) -> Threads {
        self.timeout = Some(timeout);
        self
    }

    /// Starts a thread for each rank, gives it its end of the world and waits for all of them. What they return comes
    /// in the order of ranks.
    ///
    /// The error is the first cause: that of the rank that failed first, with a note of which rank it was, and not
    /// what others were told because of it. A rank that panics is an error too. Ranks that fail alike, as when all are
    /// given the same wrong argument, are told as one.
    pub fn run<T, F>(&self, rank: F) -> Result<Vec<T>>
    where
        T: Send,
        F: Fn(World) -> Result<T> + Sync,
    {
        let (group, ends) = self.make()?;
        let outcomes: Vec<Result<T>> = thread::scope(|scope| {
            let started: Vec<_> = ends
                .iter()
                .map(|end| {
                    let name = format!("rank {}", end.rank());
                    let body = || run_rank(end, &rank);
                    let started = thread::Builder::new().name(name).spawn_scoped(scope, body);
                    started.map_err(|error| {
                        let error = Error::world(format!("there is no thread for it: {error}"));
                        end.fail(&error);
                        error
                    })
                })
                .collect();
            let lost = |_| Err(Error::world("a thread was lost"));
            started
                .into_iter()
                .map(|thread| thread?.join().unwrap_or_else(lost))
                .collect()
        });
        let mut errors = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
        let Some(first) = errors.next() else {
            return outcomes.into_iter().collect();
        };
        let alike = errors.filter(|&error| error == first).count() + 1;
        Err(match group.cause() {
            Some(cause) if alike < self.size => cause.at_its_rank(),
            _ => first.clone(),
        })
    }

    /// The ends of all ranks, in order, for threads that somebody else starts. A rank is there until it is failed,
    /// leaves, or the last clone of its end is dropped; whoever then waits for it learns at once.
    pub fn ends(&self) -> Result<Vec<World>> {
        let (_, ends) = self.make()?;
        Ok(ends.into_iter().map(|end| World::new(end)).collect())
    }

    fn make(&self) -> Result<(Arc<Group>, Vec<Arc<End>>)> {
        if self.size == 0 {
            return Err(Error::argument("a world has at least one rank").at_argument("size"));
        }
        if self.size > MOST {
            let message = format!("a process has no threads for {} ranks", self.size);
            return Err(Error::argument(message).at_argument("size"));
        }
        let timeout = match self.timeout {
            Some(timeout) => timeout,
            None => agree::timeout()?,
        };
        let group = Arc::new(Group::new(self.size, timeout));
        let end = |rank| Arc::new(End::new(Arc::clone(&group), rank));
        let ends = (0..self.size).map(end).collect();
        Ok((group, ends))
    }
}

/// What a rank returns; before that, the others know that it is done or why it failed.
fn run_rank<T>(end: &Arc<End>, rank: impl Fn(World) -> Result<T>) -> Result<T> {
    let world = World::new(Arc::clone(end) as Arc<dyn Wire>);
    // Nothing of the closure's is looked at after a panic, but for the world, which is made for it.
    match catch_unwind(AssertUnwindSafe(|| rank(world))) {
        Ok(Ok(result)) => {
            end.leave();
            Ok(result)
        }
        Ok(Err(error)) => {
            end.fail(&error);
            Err(error)
        }
        Err(payload) => {
            let cause = Cause::Panicked(end.rank(), text_of(payload.as_ref()));
            let error = cause.at_its_rank();
            end.group().fail(cause);
            Err(error)
        }
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "with something that is no text".to_string())
}
