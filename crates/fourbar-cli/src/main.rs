//! The `fourbar` program; its implementation is in the library of this crate.

fn main() -> std::process::ExitCode {
    fourbar_cli::main()
}
