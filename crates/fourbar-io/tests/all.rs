//! All tests of reading and writing files in one program: linked once, run with one process per test.

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
