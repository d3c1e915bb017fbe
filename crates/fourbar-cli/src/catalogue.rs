//! `fourbar examples` and `fourbar new`: files to start from.

use crate::args::{ExamplesArgs, NewArgs};
use crate::reply::{Reply, Stop};
use crate::screen::{Screen, table};
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use fourbar_io::disk::{Kind, write_kind};
use fourbar_io::examples::{Example, example, examples as shipped};
use fourbar_io::starter;
use serde_json::json;
use std::path::Path;

/// The shipped model of a name, or what else there is.
pub fn find(name: &str) -> Result<Example, Diagnostic> {
    example(name).ok_or_else(|| {
        let help = nearest(name, shipped().map(|e| e.name))
            .map_or("`fourbar examples` lists them".to_string(), |n| format!("did you mean `{n}`?"));
        Diagnostic::new("U002", format!("there is no shipped model `{name}`")).help(help)
    })
}

/// Lists the models, prints one, or writes one.
pub fn examples(args: &ExamplesArgs, screen: &Screen) -> Result<Reply, Stop> {
    let Some(name) = &args.name else {
        let rows: Vec<Vec<String>> = shipped().map(|e| vec![e.name.into(), e.title().chars().take(64).collect()]).collect();
        let mut text = table(&["name", "title"], &rows, &[]);
        text += "\nrun one:   fourbar run NAME\nread it:   fourbar examples NAME\ncopy it:   fourbar examples NAME -o my.yaml\n";
        let list: Vec<_> = shipped().map(|e| json!({"name": e.name, "title": e.title(), "about": e.about()})).collect();
        return Ok(Reply::new(text, json!({"examples": list})));
    };
    let e = find(name)?;
    let fields = json!({"name": e.name, "title": e.title(), "about": e.about(), "text": e.text});
    let Some(path) = &args.output else { return Ok(Reply::new(e.text.into(), fields)) };
    write_new(path, e.text, args.force)?;
    let text = format!("{} is in {}\nnext: {}\n", e.title(), path.display(), screen.accent(&format!("fourbar run {}", path.display())));
    let mut reply = Reply::new(text, fields);
    reply.fields.insert("written".into(), json!(path.display().to_string()));
    Ok(reply)
}

/// Writes the starter file.
pub fn new(args: &NewArgs) -> Result<Reply, Stop> {
    write_new(&args.file, starter(), args.force)?;
    let path = args.file.display().to_string();
    let text = format!("a four-bar linkage to start from is in {path}\nnext: fourbar check {path}\n      fourbar run {path}\n");
    Ok(Reply::new(text, json!({"written": path})))
}

/// Writes a file that must not exist yet, unless that is wanted.
pub fn write_new(path: &Path, text: &str, force: bool) -> Result<(), Diagnostic> {
    write_kind(path, text.as_bytes(), Kind::Other, force)
}
