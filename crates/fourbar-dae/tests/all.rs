//! Tests of the Taylor-series solver, in one program: linked once, run one process a test.

mod accuracy;
mod closed_form;
mod coefficients;
mod events;
mod forms_agree;
mod problems;
mod reference;
mod saved;
mod start;
mod structure;
mod tangents;
