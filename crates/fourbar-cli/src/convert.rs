//! `fourbar convert`: a mechanism in another format.

use crate::args::{ConvertArgs, FileFormat};
use crate::catalogue::write_new;
use crate::input::load;
use crate::reply::{Reply, Stop};
use fourbar::Diagnostic;
use fourbar_io::studies::Studies;
use fourbar_io::{write_mechspec, write_mjcf, write_model, write_urdf};
use serde_json::json;
use std::borrow::Cow;

/// Runs the verb.
pub fn convert(args: &ConvertArgs) -> Result<Reply, Stop> {
    let input = load(&args.model)?;
    let ours = !input.loaded.mechspec && input.loaded.imported.is_none();
    let to = args.to.unwrap_or_else(|| match args.output.extension().and_then(|e| e.to_str()) {
        Some("urdf") => FileFormat::Urdf,
        Some("xml" | "mjcf") => FileFormat::Mjcf,
        _ if ours => FileFormat::Mechspec,
        _ => FileFormat::Fourbar,
    });
    let spec = &input.loaded.spec;
    let owned = |(text, notes): (String, Vec<Diagnostic>)| (Cow::Owned(text), notes);
    let written = match to {
        // An imported file is already stored in this format.
        FileFormat::Fourbar if input.loaded.imported.is_some() => Ok((Cow::Borrowed(input.loaded.places.source()), Vec::new())),
        FileFormat::Fourbar => Ok((Cow::Owned(write_model(spec)), Vec::new())),
        FileFormat::Mechspec => write_mechspec(spec).map(owned),
        FileFormat::Mjcf => write_mjcf(spec, &input.model).map(owned),
        FileFormat::Urdf => write_urdf(spec, &input.model).map(owned),
    };
    let (text, mut notes) = written.map_err(|list| Stop(Box::new(input.notes(&list))))?;
    if !input.loaded.parameters.is_empty() {
        notes.push(
            Diagnostic::new("W061", "parameters are written as their numeric values")
                .help("keep the original file to change them; `--set NAME=VALUE` changes them before they are written"),
        );
    }
    if !input.loaded.functions.is_empty() {
        notes.push(
            Diagnostic::new("W061", "functions are written out wherever they are used").help("keep the original file to change them"),
        );
    }
    if input.loaded.studies != Studies::default() {
        let message = "measures, sweeps, optimisations and tolerances of the file are not written";
        notes.push(Diagnostic::new("W459", message).at("study").help("keep the original file for them"));
    }
    let word = match to {
        FileFormat::Fourbar => "fourbar",
        FileFormat::Mechspec => "mechspec",
        FileFormat::Mjcf => "mjcf",
        FileFormat::Urdf => "urdf",
    };
    let mut reply = if args.output.as_os_str() == "-" {
        Reply::new(text.to_string(), json!({"file": input.name, "format": word, "text": text}))
    } else {
        write_new(&args.output, &text, args.force)?;
        let path = args.output.display().to_string();
        let said = format!("{} is in {path}, in the format {word}\nnext: fourbar check {path}\n", input.name);
        Reply::new(said, json!({"file": input.name, "format": word, "written": path}))
    };
    reply.notes = input.notes(input.loaded.warnings.iter().chain(&notes));
    Ok(reply)
}
