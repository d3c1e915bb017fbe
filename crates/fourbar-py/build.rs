//! Python provides the symbols that an extension module needs; the linkers of some systems need an option for this.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
