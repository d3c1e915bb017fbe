//! All tests of the engine of live pages in one program: linked once, run with one process per test.

mod bits;
mod common;
mod live;
mod moving;
