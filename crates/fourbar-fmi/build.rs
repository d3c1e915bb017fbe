//! Units contain the library without debug symbols, which makes it a tenth as large.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|f| f == "unix") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,-S");
    }
}
