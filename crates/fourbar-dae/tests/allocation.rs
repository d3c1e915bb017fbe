//! A step allocates nothing: dense and sparse, with projection, Newton stages, events and outputs.
#![allow(unsafe_code)]

mod problems;

use fourbar_dae::{Direction, Integrator, Options, Problem, Scalar, diff};
use problems::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

/// Counts allocations of the current thread and passes them on to the system. The only unsafe code of the crate's
/// tests: an allocator cannot be written without it.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded unchanged to the system allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|c| c.set(c.get() + 1));
        // SAFETY: same layout, same contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from the same allocator.
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(run: &mut Integrator, steps: usize, end: f64) -> usize {
    let before = COUNT.with(Cell::get);
    for _ in 0..steps {
        run.step(end).expect("a step");
    }
    COUNT.with(Cell::get) - before
}

#[test]
fn the_counter_counts() {
    let before = COUNT.with(Cell::get);
    std::hint::black_box(vec![1u8; 100]);
    assert_eq!(COUNT.with(Cell::get) - before, 1);
}

#[test]
fn steps_of_a_mechanism_allocate_nothing() {
    let (problem, start) = andrews_problem(true);
    let mut run = Integrator::new(&problem, &start, andrews_options(1e-10)).unwrap();
    run.step(0.03).unwrap();
    assert_eq!(allocations(&mut run, 30, 0.03), 0);
    assert!(run.work().steps > 30);
}

#[test]
fn steps_of_a_large_sparse_problem_allocate_nothing() {
    let problem = Arc::new(chain(100).unwrap());
    let mut run = Integrator::new(&problem, &chain_start(&problem, 100), Options::new(1e-8)).unwrap();
    run.step(1.0).unwrap();
    assert_eq!(allocations(&mut run, 30, 1.0), 0);
}

#[test]
fn steps_with_newton_events_and_kinks_allocate_nothing() {
    let problem = Problem::record(&["x", "y"], |t, x, e| {
        e.equation("motion", diff(x[0], 2) + x[0] + x[1] * 0.1);
        e.equation("root", x[1].powi(3) + x[1] - x[0].abs());
        e.event("zero", x[0] - t.cos() * 0.5, Direction::Any);
        e.output("square", x[0].sqr());
    })
    .map(Arc::new)
    .unwrap();
    assert!(!problem.structure().is_quasilinear());
    let start = problem.start(0.0).hold("x", 0, 1.0).hold("x", 1, 0.0).solve().unwrap();
    let mut run = Integrator::new(&problem, &start, Options::new(1e-10)).unwrap();
    run.step(100.0).unwrap();
    assert_eq!(allocations(&mut run, 60, 100.0), 0);
    assert!(run.work().kinks > 2, "{:?}", run.work());
}
