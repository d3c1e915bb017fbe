//! What the tests of this crate share.

use fourbar_io::examples::example;

/// The file of a shipped model.
pub fn text(name: &str) -> &'static str {
    example(name).unwrap_or_else(|| panic!("there is no model {name}")).text
}
