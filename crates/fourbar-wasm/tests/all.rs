//! Tests of the engine of live pages, in one program: linked once, run one process a test.

mod bits;
mod common;
mod live;
mod moving;
