//! `fourbar check`: analysis of a mechanism as text.

mod modes;

use crate::args::CheckArgs;
use crate::input::load;
use crate::reply::{Reply, Stop, exit_code};
use crate::screen::Screen;
use fourbar::Diagnostic;
use fourbar::formulation::{dca, grcr, natural};
use fourbar::model::Model;
use fourbar_check::report::{Findings, examine, fields, words};

/// Runs the verb.
pub fn check(args: &CheckArgs, screen: &Screen) -> Result<Reply, Stop> {
    let input = load(&args.model)?;
    let mut findings = examine(&input.model, &input.loaded.warnings);
    let written = args.modes.as_deref().map(|path| modes::write(&input, &findings, path, args.force, screen)).transpose()?;
    let title = if input.model.title.is_empty() { &input.name } else { &input.model.title };
    let mut text = format!("{}\n\n{}", screen.bold(title), words(&input.model, &findings, args.all));
    if !args.all {
        text += "\n`--all` prints every finding; `--json` prints an object for programs\n";
    }
    // The fields of a large mechanism are many, and are used with `--json` only.
    let mut fields = if screen.json { fields(&input.model, &findings) } else { serde_json::Value::Null };
    if screen.json {
        fields["file"] = input.name.clone().into();
        fields["hash"] = input.loaded.hash.clone().into();
        fields["unused_parameters"] = input.loaded.unused_parameters.clone().into();
    }
    if let Some(w) = written {
        text += &format!("\n{}", w.text);
        fields["modes_written"] = w.path.into();
        findings.warnings.extend(w.warnings);
    }
    if let Some(name) = &args.formulation {
        let lines = described(&input.model, &findings, name, &args.option).map_err(|d| input.stop(&d))?;
        text += &format!("\n{name}\n{}", lines.iter().map(|l| format!("  {l}\n")).collect::<String>());
        fields["described"] = serde_json::json!({"formulation": name, "lines": lines});
    }
    let mut reply = Reply::new(text, fields);
    let list = findings.warnings.iter().chain(findings.assembled.as_ref().err());
    reply.notes = input.notes(list);
    reply.exit = exit_code(reply.notes.list.iter());
    Ok(reply)
}

/// Description of the mechanism by a formulation.
fn described(model: &Model, f: &Findings, name: &str, options: &[(String, String)]) -> Result<Vec<String>, Diagnostic> {
    let start = &f.assembled.as_ref().map_err(Clone::clone)?.configuration;
    match name {
        "natural" => natural::describe(model, start, natural::choice(options)?),
        "grcr" => grcr::describe(model, start, &grcr::Options::of(options)?),
        "dca" => Ok(dca::describe(model)),
        _ => Err(Diagnostic::new("U301", format!("formulation `{name}` has nothing to describe")).help("`natural`, `grcr` and `dca` have")),
    }
}
