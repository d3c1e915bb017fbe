//! Memory of the current thread: the allocated bytes, and their maximum since the start of a case.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Peak;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn change(by: isize) {
    NOW.with(|n| {
        n.set(n.get() + by);
        MOST.with(|m| m.set(m.get().max(n.get())));
    });
}

// Counts the bytes of the current thread; every call is passed to the system allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Peak {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        change(-(layout.size() as isize));
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        change(size as isize - layout.size() as isize);
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Peak = Peak;

/// Starts counting.
pub fn start() {
    NOW.with(|n| n.set(0));
    MOST.with(|m| m.set(0));
}

/// Largest number of bytes since the start.
pub fn peak() -> usize {
    MOST.with(|m| m.get()).max(0) as usize
}

#[test]
fn the_peak_is_seen() {
    start();
    drop(vec![0u8; 1 << 20]);
    assert!((1 << 20..1 << 21).contains(&peak()), "{}", peak());
}
