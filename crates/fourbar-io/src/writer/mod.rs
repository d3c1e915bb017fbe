//! Mechanisms as files: the format of this program, and MechSpec.

mod contact;
mod fourbar;
mod mechspec;
mod yaml;

pub use fourbar::write_model;
pub use mechspec::write_mechspec;
