//! The interface of WebAssembly: the page allocates memory, writes its request there, calls, and reads reply and row in place.
//!
//! Only addresses of buffers of this module are returned; no pointer is read here, so that the only unsafe feature is that functions keep
//! their names.
#![allow(
    unsafe_code,
    reason = "`no_mangle` is an unsafe attribute: names of exports must not meet those of other libraries, and `fourbar_` is ours"
)]

use crate::Live;
use std::cell::RefCell;

#[derive(Default)]
struct Border {
    live: Live,
    request: Vec<u8>,
    reply: Vec<u8>,
}

thread_local! {
    static BORDER: RefCell<Border> = RefCell::default();
}

fn with<T>(f: impl FnOnce(&mut Border) -> T) -> T {
    BORDER.with(|b| f(&mut b.borrow_mut()))
}

/// Allocates memory for a request of `length` bytes; returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn fourbar_request(length: usize) -> *mut u8 {
    with(|b| {
        b.request.clear();
        b.request.resize(length, 0);
        b.request.as_mut_ptr()
    })
}

/// Answers the request; returns the length of the reply in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fourbar_answer() -> usize {
    with(|b| {
        let request = std::mem::take(&mut b.request);
        b.reply = b.live.answer(&String::from_utf8_lossy(&request)).into_bytes();
        b.reply.len()
    })
}

/// Address of the reply.
#[unsafe(no_mangle)]
pub extern "C" fn fourbar_reply() -> *const u8 {
    with(|b| b.reply.as_ptr())
}

/// Address of the row of the current instant, in 64-bit numbers.
#[unsafe(no_mangle)]
pub extern "C" fn fourbar_row() -> *const f64 {
    with(|b| b.live.row().as_ptr())
}

/// Number of values in the row.
#[unsafe(no_mangle)]
pub extern "C" fn fourbar_row_length() -> usize {
    with(|b| b.live.row().len())
}
