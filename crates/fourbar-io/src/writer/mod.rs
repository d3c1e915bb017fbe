//! Mechanisms as files: the format of this program, MechSpec, and the formats of robots.

mod contact;
mod fourbar;
mod mechspec;
mod robot;
mod yaml;

pub use fourbar::write_model;
pub use mechspec::write_mechspec;
pub use robot::{write_mjcf, write_urdf};
