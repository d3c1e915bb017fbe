//! Python itself brings the symbols that an extension module needs, which linkers of some systems have to be told.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
