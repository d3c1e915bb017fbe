//! Units carry the library as it is: without the symbols that only a debugger reads it is a tenth as large.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|f| f == "unix") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,-S");
    }
}
