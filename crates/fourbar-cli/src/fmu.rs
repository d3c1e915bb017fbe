//! `fourbar fmu`: a mechanism as a functional mock-up unit.

use crate::args::FmuArgs;
use crate::input::load;
use crate::reply::{Reply, Stop};
use crate::run::settings;
use crate::view::stem;
use fourbar::Diagnostic;
use fourbar_fmi::{Causality, Instance, LIBRARY, Source, package, platform};
use fourbar_io::disk::{Kind, may_replace, read_bounded, write_kind};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest library, in bytes.
const MOST: u64 = 512 << 20;

/// Runs the verb.
pub fn fmu(args: &FmuArgs) -> Result<Reply, Stop> {
    let input = load(&args.model)?;
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.fmu", stem(&input.name))));
    may_replace(&path, Kind::Other, args.force)?;
    let study = settings::study(&input.model, &args.study).map_err(|d| input.stop(&d))?;
    let libraries = libraries(&args.library)?;
    let columns = if args.columns.is_empty() { input.loaded.spec.columns.clone() } else { args.columns.clone() };
    let title = if input.model.title.is_empty() { stem(&input.name) } else { input.model.title.clone() };
    let file = Path::new(&input.name).file_name().and_then(|n| n.to_str()).filter(|n| !n.starts_with('<')).unwrap_or("model.yaml");
    let source = Source::new(title, file.to_string(), args.model.set.clone(), study, columns, args.model.large);
    let (unit, bytes) = package(source, &input.loaded, input.folder.as_deref(), &libraries).map_err(|d| input.stop(&d))?;
    let unit = Arc::new(unit);
    // If initialisation fails here it would fail in any other program.
    let mut first = Instance::new(Arc::clone(&unit));
    let begun = first.enter_initialization(None, 0.0).and_then(|()| first.exit_initialization(false));
    begun.map_err(|r| input.stop(r.diagnostic()))?;
    write_kind(&path, &bytes, Kind::Other, args.force)?;
    let count = |f: fn(&Causality) -> bool| unit.variables.iter().filter(|v| f(&v.causality)).count();
    let inputs = count(|c| matches!(c, Causality::Input(_)));
    let parameters = count(|c| matches!(c, Causality::Parameter(_) | Causality::Fixed(_)));
    let outputs = count(|c| matches!(c, Causality::Output(_)));
    let platforms: Vec<&str> = libraries.iter().filter_map(|l| Some(platform(l)?.tuple)).collect();
    let shown = path.display().to_string();
    let (input_word, parameter_word, output_word) = (plural(inputs, "input"), plural(parameters, "parameter"), plural(outputs, "output"));
    let text = format!(
        "{shown} is an FMU for FMI 3.0 co-simulation: {input_word}, {parameter_word}, {output_word}\nit runs on {}\n",
        platforms.join(", ")
    );
    let fields = json!({"written": shown, "bytes": bytes.len(), "inputs": inputs, "parameters": parameters, "outputs": outputs, "platforms": platforms});
    let mut reply = Reply::new(text, fields);
    reply.notes = input.notes(&input.loaded.warnings);
    Ok(reply)
}

fn plural(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// The given libraries, or the one beside the command.
fn libraries(named: &[PathBuf]) -> Result<Vec<Vec<u8>>, Diagnostic> {
    let own;
    let paths = if named.is_empty() {
        own = [beside()?];
        &own
    } else {
        named
    };
    let mut list: Vec<Vec<u8>> = Vec::new();
    for path in paths {
        let bytes = read_bounded(path, MOST).map_err(|why| {
            let d = Diagnostic::new("U500", format!("the library `{}` cannot be read: {why}", path.display()));
            d.help("build it with `cargo build --release -p fourbar-fmi` and name it by `--library`")
        })?;
        let refuse = |why: &str| {
            let d = Diagnostic::new("U501", format!("`{}` {why}", path.display()));
            Err(d.help("give the library of `cargo build --release -p fourbar-fmi`, once for each platform"))
        };
        match platform(&bytes) {
            None => return refuse("is not a shared library for Linux, Windows or macOS"),
            // Every library of this program contains the names of its functions.
            Some(_) if !bytes.windows(15).any(|w| w == b"fmi3GetFMUState") => {
                return refuse("is a shared library, but not one of FMI 3.0");
            }
            Some(p) if list.iter().any(|l| platform(l) == Some(p)) => return refuse("is a second library for the same platform"),
            Some(_) => list.push(bytes),
        }
    }
    Ok(list)
}

/// The library beside the command, either installed or built by cargo.
fn beside() -> Result<PathBuf, Diagnostic> {
    let command = std::env::current_exe().ok();
    let folder = command.as_deref().and_then(Path::parent);
    let places = folder.into_iter().flat_map(|f| [f.join(LIBRARY), f.join("deps").join(LIBRARY), f.join("../lib").join(LIBRARY)]);
    places.into_iter().find(|p| p.is_file()).ok_or_else(|| {
        let d = Diagnostic::new("U500", format!("the library `{LIBRARY}`, which units contain, is not next to the command"));
        d.help("build it with `cargo build --release -p fourbar-fmi`, and put it next to the command or give it with `--library`")
    })
}
