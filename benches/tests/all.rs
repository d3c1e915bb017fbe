//! All tests of large mechanisms in one program: linked once, run with one process per test.

mod large;
mod recursion;
