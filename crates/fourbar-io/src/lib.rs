//! Mechanism files, results and pages of the Fourbar engine.
//!
//! ```
//! use fourbar_io::{ReadOptions, read_model};
//! let loaded = read_model(fourbar_io::starter(), &ReadOptions::default()).expect("the starter file is good");
//! assert_eq!(loaded.spec.bodies.len(), 3);
//! ```

pub mod disk;
pub mod examples;
mod file;
mod import;
mod inputs;
mod keys;
mod mechspec;
mod mesh;
mod pack;
pub mod page;
mod places;
pub mod plot;
mod reader;
mod render;
pub mod results;
mod schema;
mod solid;
mod starter;
pub mod studies;
pub mod terminal;
mod tree;
mod units;
mod variations;
mod writer;
mod zip;

pub use file::{
    Limits, Loaded, ReadOptions, did_you_mean, fingerprint, load, read_model, read_model_file, read_model_file_with, read_own_model,
};
pub use import::{IMPORTERS, Importer};
pub use inputs::read_inputs;
pub use keys::{Expect, Key, Table, keys};
pub use places::Places;
pub use render::{marked, render};
pub use schema::schema;
pub use starter::{STARTERS, Starter, starter};
pub use units::{UNITS, Unit, dimension_of};
pub use variations::{Variations, with_parameters};
pub use writer::{write_mechspec, write_mjcf, write_model, write_urdf};
pub use zip::{Entry, archive};

/// The example of the README is run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
