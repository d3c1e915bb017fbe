//! fourbar
fn main() {}
