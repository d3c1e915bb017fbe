//! Tests of the design analyses, in one program: linked once, run one process a test.

mod agreement;
mod closed;
mod columns;
mod common;
mod equilibrium;
mod inverse;
mod large;
mod measures;
mod modes;
mod moving_events;
mod operator;
mod optimize;
mod path;
mod references;
mod rests;
mod sensitivities;
mod tree;
