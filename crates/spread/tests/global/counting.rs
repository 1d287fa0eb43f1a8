//! A world that counts what is asked of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stridewise_core::error::{Error, Result};
use stridewise_cpu::{Rows, RowsMut};
use stridewise_spread::{Call, Line, Wire, World};

/// A rank's end of another world, with a count of the collectives it took part in.
pub(crate) struct Counting {
    behind: World,
    collectives: AtomicUsize,
}

impl Counting {
    pub(crate) fn over(behind: World) -> Arc<Counting> {
        Arc::new(Counting {
            behind,
            collectives: AtomicUsize::new(0),
        })
    }

    pub(crate) fn world(self: &Arc<Counting>) -> World {
        World::new(self.clone())
    }

    /// How many collectives there were so far, whatever they moved.
    pub(crate) fn collectives(&self) -> usize {
        self.collectives.load(Ordering::Relaxed)
    }
}

impl Wire for Counting {
    fn rank(&self) -> usize {
        self.behind.rank()
    }

    fn size(&self) -> usize {
        self.behind.size()
    }

    fn name(&self) -> &'static str {
        self.behind.wire().name()
    }

    fn collective(&self, line: Line, call: &Call<'_>, send: &[u8], recv: &mut [u8]) -> Result<()> {
        self.collectives.fetch_add(1, Ordering::Relaxed);
        self.behind.wire().collective(line, call, send, recv)
    }

    fn exchange(
        &self,
        line: Line,
        call: &Call<'_>,
        send: &[Rows<'_>],
        recv: &mut [RowsMut<'_>],
    ) -> Result<()> {
        self.collectives.fetch_add(1, Ordering::Relaxed);
        self.behind.wire().exchange(line, call, send, recv)
    }

    fn tell(&self, line: Line, operator: &str, message: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.collectives.fetch_add(1, Ordering::Relaxed);
        self.behind.wire().tell(line, operator, message)
    }

    fn received(&self) -> u64 {
        self.behind.wire().received()
    }

    fn fail(&self, why: &Error) {
        self.behind.wire().fail(why);
    }
}
