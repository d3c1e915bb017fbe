//! Tests of the speed of large mechanisms, in one program: linked once, run one process a test.

mod large;
mod recursion;
