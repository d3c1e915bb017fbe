//! The file that `fourbar new` writes.

/// A commented four-bar linkage that reads without errors.
pub fn starter() -> &'static str {
    include_str!("starter.yaml")
}
