//! The `fourbar` program; everything it does is in the library beside it.

fn main() -> std::process::ExitCode {
    fourbar_cli::main()
}
