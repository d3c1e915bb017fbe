//! `fourbar examples` and `fourbar new`: files to start from.

use crate::args::{ExamplesArgs, NewArgs};
use crate::reply::{Reply, Stop};
use crate::screen::{Screen, wrapped};
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use fourbar_io::STARTERS;
use fourbar_io::disk::{Kind, write_kind};
use fourbar_io::examples::{Example, example, examples as shipped, grouped};
use serde_json::json;
use std::path::Path;

/// The shipped model with a name, or an error with suggestions.
pub fn find(name: &str) -> Result<Example, Diagnostic> {
    example(name).ok_or_else(|| {
        let help = nearest(name, shipped().flat_map(|e| [e.listed(), e.name]))
            .map_or("`fourbar examples` lists them".to_string(), |n| format!("did you mean `{n}`?"));
        Diagnostic::new("U002", format!("there is no shipped model `{name}`")).help(help)
    })
}

/// Lists the models, prints one, or writes one.
pub fn examples(args: &ExamplesArgs, screen: &Screen) -> Result<Reply, Stop> {
    let Some(name) = &args.name else {
        let groups = grouped();
        let width = shipped().map(|e| e.listed().len()).max().unwrap_or(0) + 2;
        let mut text = String::new();
        for (heading, list) in &groups {
            text += &format!("{}\n", screen.bold(heading));
            for e in list {
                text += &format!("  {:width$}{}\n", e.listed(), wrapped(e.purpose(), width + 2, width + 2));
            }
            text.push('\n');
        }
        text += "see one:   fourbar view NAME\nrun one:   fourbar run NAME\nread it:   fourbar examples NAME\ncopy it:   fourbar examples NAME -o my.yaml\n";
        let entry = |group: &str, e: &Example| json!({"name": e.listed(), "file": e.name, "group": group, "title": e.title(), "purpose": e.purpose(), "about": e.about()});
        let list: Vec<_> = groups.iter().flat_map(|(group, list)| list.iter().map(move |e| entry(group, e))).collect();
        return Ok(Reply::new(text, json!({"examples": list})));
    };
    let e = find(name)?;
    let fields = json!({"name": e.listed(), "file": e.name, "title": e.title(), "about": e.about(), "text": e.text});
    let Some(path) = &args.output else { return Ok(Reply::new(e.text.into(), fields)) };
    write_new(path, e.text, args.force)?;
    let text = format!("{} is in {}\nnext: {}\n", e.title(), path.display(), screen.accent(&format!("fourbar run {}", path.display())));
    let mut reply = Reply::new(text, fields);
    reply.fields.insert("written".into(), json!(path.display().to_string()));
    Ok(reply)
}

/// Writes the starter file.
pub fn new(args: &NewArgs) -> Result<Reply, Stop> {
    // The parser accepts only kinds of this list.
    let starter = STARTERS.iter().find(|s| s.kind == args.kind).unwrap_or(&STARTERS[0]);
    write_new(&args.file, starter.text, args.force)?;
    let path = args.file.display().to_string();
    let others: Vec<&str> = STARTERS.iter().map(|s| s.kind).filter(|k| *k != starter.kind).collect();
    let text = format!(
        "{} to start from is in {path}\nnext: fourbar check {path}     what is it, and can it move?\n      fourbar view {path}      see it move\n\
         other kinds: --kind {}\n",
        starter.what,
        others.join(", ")
    );
    Ok(Reply::new(text, json!({"written": path, "kind": starter.kind})))
}

/// Writes a file that must not exist yet, unless forced.
pub fn write_new(path: &Path, text: &str, force: bool) -> Result<(), Diagnostic> {
    write_kind(path, text.as_bytes(), Kind::Other, force)
}
