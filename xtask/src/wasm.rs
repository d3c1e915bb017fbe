//! Builds the engine of live pages as WebAssembly and packs it into `viewer/dist`.
//!
//! If `rustup target add wasm32-unknown-unknown` works, nothing else is needed. Otherwise `WASM_RUSTC` can name a second compiler that
//! includes the sources of the standard library, such as the one of Debian's packages `rustc-web` and `rust-web-src`: the library is then
//! built as well, which needs an unstable flag of cargo and the linker of the first compiler.

use crate::browser::{run, scratch};
use crate::root;
use std::path::PathBuf;
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// Largest engine after packing, in bytes.
const LARGEST: u64 = 1_600_000;

/// Builds and packs.
pub fn build() -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let folder = scratch("wasm");
    let mut command = Command::new(cargo);
    command.args(["build", "--profile", "wasm", "--target", TARGET, "--package", "fourbar-wasm", "--target-dir"]).arg(&folder);
    command.current_dir(root());
    if let Some(rustc) = std::env::var_os("WASM_RUSTC") {
        command.args(["-Z", "build-std=std,panic_abort", "-Z", "build-std-features=optimize_for_size"]);
        command.env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker()?);
        // A panic ends the engine in any case: its message and location are omitted from the page.
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-Zunstable-options -Cpanic=immediate-abort");
    }
    run(&mut command)?;
    let built = folder.join(TARGET).join("wasm/fourbar_wasm.wasm");
    let packed = root().join("viewer/dist/engine.wasm.gz");
    let out = std::fs::File::create(&packed).map_err(|e| format!("{}: {e}", packed.display()))?;
    // Without name and time, so that the same engine gives the same file.
    run(Command::new("gzip").args(["-9", "--no-name", "--stdout"]).arg(&built).stdout(out))?;
    let bytes = std::fs::metadata(&packed).map_err(|e| format!("{}: {e}", packed.display()))?.len();
    println!("viewer/dist/engine.wasm.gz: {bytes} bytes");
    if bytes > LARGEST {
        return Err(format!("the engine has {bytes} bytes, more than {LARGEST}"));
    }
    Ok(())
}

/// The linker of the workspace's compiler.
fn linker() -> Result<PathBuf, String> {
    let ask = |what: &[&str]| {
        let out = Command::new("rustc").args(what).output().map_err(|e| format!("rustc: {e}"))?;
        Ok::<String, String>(String::from_utf8_lossy(&out.stdout).trim().to_string())
    };
    let (sysroot, version) = (ask(&["--print", "sysroot"])?, ask(&["-vV"])?);
    let host = version.lines().find_map(|l| l.strip_prefix("host: ")).ok_or("rustc does not name its host")?;
    Ok(PathBuf::from(sysroot).join("lib/rustlib").join(host).join("bin/rust-lld"))
}
