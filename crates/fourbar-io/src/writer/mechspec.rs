//! placeholder
use fourbar::Diagnostic;
use fourbar::spec::ModelSpec;
/// placeholder
pub fn write_mechspec(_: &ModelSpec) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    Err(Vec::new())
}
