//! Embeds every `models/*.yaml` of the workspace and the template of pages in the program.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let folder = shared(&root, "../../models", "models");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map(|entries| entries.filter_map(|e| e.ok().map(|e| e.path())).filter(|p| p.extension().is_some_and(|e| e == "yaml")).collect())
        .unwrap_or_default();
    files.sort();
    let mut code =
        String::from("/// Names and texts of the embedded models, sorted by name.\npub(super) static MODELS: &[(&str, &str)] = &[\n");
    for file in &files {
        let name = file.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        let full = file.canonicalize().unwrap_or_else(|_| file.clone());
        let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", full.display().to_string());
    }
    code.push_str("];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    if let Err(e) = std::fs::write(out.join("models.rs"), code) {
        println!("cargo::error=cannot write the list of models: {e}");
    }
    let engine = shared(&root, "../../viewer/dist/engine.wasm.gz", "viewer/engine.wasm.gz");
    println!("cargo::rerun-if-changed={}", engine.display());
    // Without a built engine there are no live pages; this is also the case while the engine itself is built.
    if std::fs::copy(&engine, out.join("engine.wasm.gz")).is_err() && std::fs::write(out.join("engine.wasm.gz"), []).is_err() {
        println!("cargo::error=the engine of live pages, {}, cannot be copied", engine.display());
    }
    let page = shared(&root, "../../viewer/dist/page.html", "viewer/page.html");
    println!("cargo::rerun-if-changed={}", page.display());
    if let Err(e) = std::fs::copy(&page, out.join("page.html")) {
        println!("cargo::error=the template of pages, {}, cannot be copied: {e}", page.display());
    }
}

/// A file of the workspace, or its copy in the published package.
fn shared(root: &Path, workspace: &str, package: &str) -> PathBuf {
    let there = root.join(workspace);
    if there.exists() { there } else { root.join(package) }
}
