//! `fourbar fmu`: a mechanism as a functional mock-up unit.

use crate::args::FmuArgs;
use crate::input::load;
use crate::reply::{Reply, Stop};
use fourbar::Diagnostic;
use fourbar_fmi::{description, identifier, variables};
use fourbar_io::disk::{Kind, write_kind};
use fourbar_io::{ReadOptions, read_model, write_model, zip};
use serde_json::json;
use std::path::PathBuf;

/// Name of the library on this system, and of its folder inside a unit.
fn library_name() -> (String, String) {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let file = format!("{}{}{}", std::env::consts::DLL_PREFIX, identifier(), std::env::consts::DLL_SUFFIX);
    (file, format!("{}-{system}", std::env::consts::ARCH))
}

/// The library that is asked for, or the one beside this program.
fn library(args: &FmuArgs, file: &str) -> Result<PathBuf, Diagnostic> {
    let missing = |what: String| Diagnostic::new("U451", what).help("build it with `cargo build -p fourbar-fmi`, or give `--library FILE`");
    if let Some(path) = &args.library {
        return if path.is_file() { Ok(path.clone()) } else { Err(missing(format!("there is no library `{}`", path.display()))) };
    }
    let beside = std::env::current_exe().ok().and_then(|p| p.parent().map(PathBuf::from)).unwrap_or_default();
    let places = [beside.join(file), beside.join("deps").join(file), beside.join("../lib").join(file)];
    places.into_iter().find(|p| p.is_file()).ok_or_else(|| missing(format!("there is no `{file}` beside the program")))
}

/// Runs the verb.
pub fn fmu(args: &FmuArgs) -> Result<Reply, Stop> {
    let input = load(&args.model)?;
    let (file, platform) = library_name();
    let path = library(args, &file)?;
    let bytes = std::fs::read(&path).map_err(|e| {
        Diagnostic::new("U451", format!("`{}` cannot be read: {e}", path.display())).help("build it with `cargo build -p fourbar-fmi`")
    })?;
    let loaded = &input.loaded;
    // The text as it is keeps its parameters; one that needs other files, or is set otherwise, is written out.
    let alone = loaded.imported.is_none() && loaded.data.is_empty() && args.model.set.is_empty();
    let text = if alone { loaded.places.source().to_string() } else { write_model(&loaded.spec) };
    let again = read_model(&text, &ReadOptions { large: true, ..ReadOptions::default() }).map_err(|e| Stop(Box::new(input.notes(&e))))?;
    let model = again.spec.build().map_err(|e| Stop(Box::new(input.notes(&e))))?;
    let title = PathBuf::from(&input.name).file_stem().map_or("mechanism".to_string(), |s| s.to_string_lossy().into_owned());
    let ending = std::env::consts::DLL_SUFFIX;
    let files = [
        ("modelDescription.xml".to_string(), description(&again, &model, &title).into_bytes()),
        ("resources/model.yaml".to_string(), text.into_bytes()),
        (format!("binaries/{platform}/{}{ending}", identifier()), bytes),
    ];
    let unit = zip(&files).ok_or_else(|| Diagnostic::new("U003", "the unit would be larger than 4 GB"))?;
    write_kind(&args.output, &unit, Kind::Other, args.force)?;
    let count = variables(&again, &model).len();
    let written = args.output.display().to_string();
    let text = format!("{} is in {written}, a unit for co-simulation by FMI 3.0 on {platform} with {count} variables\n", input.name);
    let mut reply = Reply::new(text, json!({"file": input.name, "written": written, "variables": count, "platform": platform}));
    reply.notes = input.notes(&loaded.warnings);
    Ok(reply)
}
