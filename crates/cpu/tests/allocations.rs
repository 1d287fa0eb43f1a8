//! No view touches the heap at rank 8 or below: a counting allocator watches every operator that the table
//! calls a view, through the typed methods.
//!
//! `unstack` is left out: it returns a vector of tensors.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use stridewise_core::operators::{Methods, TABLE};
use stridewise_core::params::{Item, NewAxis, Pattern, Place, Symbol};
use stridewise_core::table::Kind;
use stridewise_core::{Result, index, pattern};
use stridewise_cpu::Tensor;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.with(|n| n.set(n.get() + 1));
}

// SAFETY: everything is handed on to the system's allocator; counting touches a thread's own cell that needs
// no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(start, layout, size) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What a call allocates, its result and the drop of it included.
fn allocations<T>(call: impl FnOnce() -> Result<T>) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    let result = black_box(call());
    let fine = result.is_ok();
    drop(result);
    let after = ALLOCATIONS.with(Cell::get);
    assert!(fine, "the call fails");
    after - before
}

fn f32(shape: &[usize]) -> Tensor {
    let count = shape.iter().product();
    Tensor::from_vec(vec![0f32; count], shape).expect("a tensor")
}

type Counts = Vec<(&'static str, &'static str, usize)>;

fn padding_and_expanding() -> Counts {
    let scalar = f32(&[]);
    let row = f32(&[3]);
    let x = f32(&[2, 1, 3, 1, 2, 1, 2]);
    let wide = f32(&[4, 2, 1, 3, 1, 2, 1, 2]);
    let sizes = [4, 2, 5, 3, 5, 2, 5, 2];
    let usizes = sizes.map(|n: isize| n as usize);
    vec![
        ("atleast_1d", "rank 0", allocations(|| scalar.atleast_1d())),
        ("atleast_2d", "a row", allocations(|| row.atleast_2d())),
        ("atleast_3d", "a row", allocations(|| row.atleast_3d())),
        ("atleast_3d", "as is", allocations(|| x.atleast_3d())),
        (
            "atleast_nd",
            "to rank 8",
            allocations(|| row.atleast_nd(8usize, Place::Back)),
        ),
        ("expand", "to rank 8", allocations(|| x.expand(sizes))),
        ("expand", "by a slice", allocations(|| x.expand(&sizes[..]))),
        ("expand", "by sizes", allocations(|| x.expand(&usizes[..]))),
        (
            "expand",
            "keeping axes",
            allocations(|| x.expand([4, -1, 5, -1, 5, -1, 5, -1])),
        ),
        ("expand_as", "to rank 8", allocations(|| x.expand_as(&wide))),
        (
            "broadcast_to",
            "to rank 8",
            allocations(|| x.broadcast_to(sizes)),
        ),
    ]
}

fn reshaping() -> Counts {
    let x = f32(&[2, 1, 3, 1, 2, 1, 2, 4]);
    let flat = f32(&[3, 256]);
    let gapped = x.slice(index![0..1]).expect("a slice");
    vec![
        (
            "unflatten",
            "into 7",
            allocations(|| flat.unflatten(1, [2, -1, 2, 2, 2, 2, 2])),
        ),
        (
            "view",
            "split",
            allocations(|| flat.view([3, 2, 2, 2, 2, 2, 2, -1])),
        ),
        ("view", "merge", allocations(|| x.view(-1))),
        (
            "view",
            "merge and split",
            allocations(|| x.view([8, 3, 2, 2])),
        ),
        ("view", "gapped", allocations(|| gapped.view([1, 3, 2, 8]))),
        ("squeeze", "all", allocations(|| x.squeeze(..))),
        ("squeeze", "some", allocations(|| x.squeeze([1, -3]))),
        (
            "unsqueeze",
            "to rank 8",
            allocations(|| flat.unsqueeze([0, 1, 2, 5, 6, 7])),
        ),
    ]
}

fn reordering() -> Counts {
    let x = f32(&[2, 1, 3, 1, 2, 1, 2, 4]);
    let y = f32(&[3, 4, 5]);
    let back = Item::from(..).step(-2);
    vec![
        (
            "permute",
            "rank 8",
            allocations(|| x.permute([7, 6, 5, 4, 3, 2, 1, 0])),
        ),
        ("transpose", "reversed", allocations(|| x.transpose(..))),
        (
            "transpose",
            "by axes",
            allocations(|| y.transpose([2, 0, 1])),
        ),
        ("swapaxes", "rank 8", allocations(|| x.swapaxes(0, -1))),
        ("moveaxis", "one", allocations(|| x.moveaxis(0, -1))),
        (
            "moveaxis",
            "several",
            allocations(|| x.moveaxis([0, 1, 2], [-1, -2, -3])),
        ),
        ("flip", "all", allocations(|| x.flip(..))),
        ("flip", "one", allocations(|| x.flip(-1))),
        ("slice", "one index", allocations(|| x.slice(index![1]))),
        (
            "slice",
            "everything",
            allocations(|| y.slice(index![NewAxis, 1, 1..3, back, NewAxis])),
        ),
        (
            "slice",
            "an ellipsis",
            allocations(|| x.slice(index![Item::Rest, -1, NewAxis])),
        ),
        (
            "slice",
            "rank 8",
            allocations(|| x.slice(index![.., .., 1.., .., .., .., .., back])),
        ),
    ]
}

fn checking() -> Counts {
    let x = f32(&[2, 1, 3, 1, 2, 1, 2, 4]);
    let symbols = ["a", "b", "c", "d"].map(Symbol::new);
    let [a, b, c, d] = &symbols;
    let named: Pattern<usize> = pattern![a, b, c, _, a, .., d];
    let plain: Pattern<usize> = pattern![2, .., _, 4];
    vec![
        (
            "enforce_shape",
            "four symbols",
            allocations(|| x.enforce_shape(&named)),
        ),
        ("enforce_shape", "four symbols, made in the call", {
            allocations(|| x.enforce_shape(pattern![a, b, c, _, a, .., d]))
        }),
        (
            "enforce_shape",
            "numbers",
            allocations(|| x.enforce_shape(&plain)),
        ),
        ("enforce_shape", "numbers, made in the call", {
            allocations(|| x.enforce_shape(pattern![2, .., _, 4]))
        }),
    ]
}

#[test]
fn no_view_of_rank_8_or_below_touches_the_heap() {
    let counts = [
        padding_and_expanding(),
        reshaping(),
        reordering(),
        checking(),
    ]
    .concat();
    let allocating: Vec<String> = counts
        .iter()
        .filter(|(.., count)| *count > 0)
        .map(|(operator, how, count)| format!("{operator} ({how}): {count} allocations"))
        .collect();
    assert!(allocating.is_empty(), "{}", allocating.join("\n"));
    for entry in TABLE.iter().filter(|entry| entry.kind == Kind::View) {
        let watched = counts.iter().any(|(operator, ..)| *operator == entry.name);
        assert!(
            watched || entry.name == "unstack",
            "{} is not watched",
            entry.name
        );
    }
}

#[test]
fn the_allocator_counts() {
    assert!(allocations(|| Ok(vec![1u8; 100])) > 0);
    let x = f32(&[2, 3]);
    assert!(allocations(|| x.unstack(0)) > 0);
    assert!(
        allocations(|| x.expand([1, 1, 1, 1, 1, 1, 1, 2, 3])) > 0,
        "rank 9 is on the heap"
    );
}
