//! Finds and loads a mechanism: a file, a shipped model by name, or standard input.

use crate::args::ModelArgs;
use crate::given::given;
use crate::reply::{Notes, Stop};
use fourbar::{Diagnostic, Model};
use fourbar_design::equilibrium::start_settled;
use fourbar_io::examples::example;
use fourbar_io::{Limits, Loaded, ReadOptions, did_you_mean, read_model, read_model_file_with};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A mechanism and its source.
#[derive(Clone, Debug)]
pub struct Input {
    /// Name of the file in messages.
    pub name: String,
    /// The file as read.
    pub loaded: Loaded,
    /// The mechanism.
    pub model: Model,
    /// The folder of the file, if it is a file.
    pub folder: Option<PathBuf>,
    /// The path, if it is a file.
    pub path: Option<PathBuf>,
}

impl Input {
    /// Diagnostics with their locations in the file.
    pub fn notes<'a>(&self, list: impl IntoIterator<Item = &'a Diagnostic>) -> Notes {
        let places = &self.loaded.places;
        Notes { list: list.into_iter().map(|d| places.locate(d)).collect(), name: self.name.clone() }
    }

    /// Ends the verb with a diagnostic about this mechanism.
    pub fn stop(&self, d: &Diagnostic) -> Stop {
        Stop(Box::new(self.notes([d])))
    }
}

/// Reads, checks and builds a mechanism; if the file requires it, the start is an equilibrium.
pub fn load(args: &ModelArgs) -> Result<Input, Stop> {
    settled(drawn(args)?)
}

/// Reads, checks and builds a mechanism in its drawn position.
pub fn drawn(args: &ModelArgs) -> Result<Input, Stop> {
    if let Some(missing) = args.mesh_path.iter().find(|p| !p.is_dir()) {
        let d = Diagnostic::new("U450", format!("there is no folder `{}`", missing.display()));
        return Err(d.help("`--mesh-path` names a folder with meshes").into());
    }
    read(&args.file, &ReadOptions { set: &args.set, large: args.large, mesh_path: &args.mesh_path, ..ReadOptions::default() })
}

/// The same, with other parameters.
pub fn load_with(file: &str, set: &[(String, String)], large: bool) -> Result<Input, Stop> {
    settled(load_as_drawn(file, set, large)?)
}

/// Moves the start to an equilibrium if the file requires it.
fn settled(mut input: Input) -> Result<Input, Stop> {
    if input.model.settle {
        let (model, rest) = start_settled(input.model.clone()).map_err(|d| input.stop(&d))?;
        // Time-dependent forces have their values at the start, as the file requires: no warning.
        input.loaded.warnings.extend(rest.into_iter().flat_map(|r| r.warnings).filter(|w| w.code.0 != "W412"));
        input.model = model;
    }
    Ok(input)
}

/// The same as [`drawn`], with other parameters.
pub fn load_as_drawn(file: &str, set: &[(String, String)], large: bool) -> Result<Input, Stop> {
    read(file, &ReadOptions { set, large, ..ReadOptions::default() })
}

fn read(file: &str, options: &ReadOptions<'_>) -> Result<Input, Stop> {
    let stop = |list: Vec<Diagnostic>, name: &str| Stop(Box::new(Notes { list, name: name.into() }));
    let path = Path::new(file);
    let (mut folder, mut own) = (None, None);
    let (name, read) = if let Some(given) = given(file) {
        folder = given.path.as_deref().and_then(Path::parent).map(PathBuf::from);
        own.clone_from(&given.path);
        let read = read_model(&given.text, &ReadOptions { path: given.path.as_deref(), ..*options });
        (given.name, read)
    } else if file == "-" {
        let text = standard_input(Limits::of(options.large))?;
        ("<stdin>".to_string(), read_model(&text, options))
    } else if let Some(e) = example(file).filter(|_| !path.is_file()) {
        (format!("{}.yaml", e.name), read_model(e.text, options))
    } else {
        folder = path.parent().map(PathBuf::from);
        own = Some(path.into());
        (file.to_string(), read_model_file_with(path, options).map_err(|e| did_you_mean(e, path)))
    };
    let mut loaded = read.map_err(|e| stop(e.into_diagnostics(), &name))?;
    for (parameter, _) in options.set.iter().filter(|(n, _)| loaded.unused_parameters.contains(n)) {
        let d = Diagnostic::new("W481", format!("`--set {parameter}=...` changes nothing: no expression of the file uses the parameter"));
        loaded.warnings.push(d.help("check the spelling where it should be used").name(parameter));
    }
    match loaded.spec.build() {
        Ok(model) => Ok(Input { name, loaded, model, folder, path: own }),
        Err(errors) => {
            let mut list: Vec<Diagnostic> = loaded.warnings.iter().chain(&errors).map(|d| loaded.places.locate(d)).collect();
            if loaded.imported.is_some() {
                for d in list.iter_mut().filter(|d| d.code.0 == "M118") {
                    d.message = "nothing in the file moves: all links are welded to the ground, or there are none".into();
                    d.help = "give a link a joint that moves, or free it".into();
                }
            }
            Err(stop(list, &name))
        }
    }
}

fn standard_input(limits: Limits) -> Result<String, Diagnostic> {
    let refused = |why: String| {
        Diagnostic::new("U010", format!("standard input cannot be read: {why}")).help("pipe a mechanism file into it, or give a file name")
    };
    let mut bytes = Vec::new();
    std::io::stdin().take(limits.bytes + 1).read_to_end(&mut bytes).map_err(|e| refused(e.to_string()))?;
    if bytes.len() as u64 > limits.bytes {
        return Err(refused(format!("it has more than {} MB", limits.bytes >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8 text".into()))
}
