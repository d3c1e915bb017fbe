//! The checks for fuzzers that choose bytes, with bolero: bytes as text, and as choices of the generators.
//!
//! In the tests only the inputs stored in `__fuzz__` run, so that results are repeatable; `cargo xtask fuzz` sets
//! `BOLERO_RANDOM_ITERATIONS` for as many random inputs. A failing input is shrunk and printed. If the command is installed, `cargo bolero
//! test -p fourbar-io --sanitizer NONE harness::texts` runs a coverage-guided fuzzer.

use super::{Worker, corpus, disturbed_expression, expression, fail, generate, mutate, read};
use crate::random::Random;
use std::panic::AssertUnwindSafe;

/// Largest number of bytes of an input.
const LONGEST: usize = 4096;

/// Bytes as a file.
#[test]
fn texts() {
    let worker = AssertUnwindSafe(Worker::new(read));
    bolero::check!(name = "texts").with_iterations(0).with_max_len(LONGEST).for_each(move |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let worker = &worker;
        worker.one(&text).unwrap_or_else(|problem| fail("texts", &text, &problem));
    });
}

/// Bytes as an expression.
#[test]
fn expressions() {
    let worker = AssertUnwindSafe(Worker::new(expression));
    bolero::check!(name = "expressions").with_iterations(0).with_max_len(LONGEST).for_each(move |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let worker = &worker;
        worker.one(&text).unwrap_or_else(|problem| fail("expressions", &text, &problem));
    });
}

/// Bytes as choices of the generators and of the mutations; the first chooses between them.
#[test]
fn choices() {
    let workers = AssertUnwindSafe((Worker::new(read), Worker::new(expression)));
    let all = corpus();
    let small: Vec<String> = all.iter().filter(|t| t.len() < 4_000).cloned().collect();
    bolero::check!(name = "choices").with_iterations(0).with_max_len(LONGEST).for_each(move |bytes: &[u8]| {
        let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
        let r = &mut Random::fed(rest);
        let (files, expressions) = &*workers;
        let (text, worker) = match first % 5 {
            0 => (mutate::text(r, &all), files),
            1 => (generate::model(r), files),
            2 => (generate::mechspec(r), files),
            3 => (mutate::numbers(r, &small), files),
            _ => (disturbed_expression(r), expressions),
        };
        worker.one(&text).unwrap_or_else(|problem| fail("choices", &text, &problem));
    });
}
