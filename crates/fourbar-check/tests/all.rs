//! Tests of the words of `check` and `verify`, in one program: linked once, run one process a test.

mod explain;
mod inertia;
mod verify;
