//! Tests of the files in and out, in one program: linked once, run one process a test.

mod builder;
mod contact;
mod data;
mod files;
mod hostile;
mod import;
mod mechspec;
mod mechspec_studies;
mod messages;
mod page;
mod tableau;
mod tables;
mod writer;
