//! A second run with inputs of the same kind makes nothing but its results: a counting allocator watches.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use stridewise_core::dtype::DType;
use stridewise_core::engine::Engine;
use stridewise_core::error::Result;
use stridewise_core::operators::{Methods, concat};
use stridewise_core::params::Mode;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_graph::{Graph, Program, Symbolic};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is handed on to the system's allocator; counting touches a thread's own cell that needs
// no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn counted<T>(work: impl FnOnce() -> Result<T>) -> Result<usize> {
    let before = ALLOCATIONS.with(Cell::get);
    work()?;
    Ok(ALLOCATIONS.with(Cell::get) - before)
}

fn program(body: impl Fn(&Symbolic) -> Result<Symbolic>) -> Result<Program> {
    let graph = Graph::new();
    let x = graph.input("x", DType::F32, "[B, C]".parse()?)?;
    graph.finish(&[&body(&x)?])
}

#[test]
fn a_second_run_makes_nothing_but_its_results() -> Result<()> {
    let x = Cpu.full(DType::F32, 1.5.into(), &[40, 30])?;
    let copied = counted(|| Cpu.copy(&x))?;
    let views = program(|x| x.permute([1, 0])?.flip(0)?.unsqueeze(0))?;
    let one = program(|x| x.repeat([2, 3]))?;
    let four = program(|x| {
        let index = x.graph().integers(&[0, 2, 1])?;
        let wide = x.permute([1, 0])?.contiguous()?.repeat([2, 2])?;
        let picked = wide.take(&index, 0, Mode::Raise)?;
        concat(&[&picked, &picked], 0)?.cast(DType::F64)
    })?;
    for (name, program, results) in [("views", &views, 0), ("one", &one, 1), ("four", &four, 1)] {
        program.run(std::slice::from_ref(&x))?;
        program.run(std::slice::from_ref(&x))?;
        let allocated = counted(|| program.run(std::slice::from_ref(&x)))?;
        // The list of results, and what a copy of a tensor takes for each.
        assert!(
            allocated <= 1 + results * copied,
            "{name} allocates {allocated} times, a copy {copied}"
        );
    }
    let steps = four.steps(std::slice::from_ref(&x))?;
    assert!(steps.len() >= 4, "{steps:#?}");
    Ok(())
}

#[test]
fn results_of_earlier_runs_stay_what_they_were() -> Result<()> {
    let program = program(|x| x.permute([1, 0])?.contiguous()?.repeat([2, 2])?.flip(0))?;
    let input = |n: f32| Tensor::from_vec((0..12).map(|i| i as f32 + n).collect(), &[3, 4]);
    let mut kept = Vec::new();
    for n in 0..10 {
        let x = input(n as f32)?;
        kept.push((
            program.run(std::slice::from_ref(&x))?,
            program.run_at_once(&[x])?,
        ));
    }
    for (got, wanted) in kept {
        assert_eq!(got[0].to_vec::<f32>()?, wanted[0].to_vec::<f32>()?);
    }
    Ok(())
}
