//! `fourbar explain`, `schema` and `completions`: information about the program.

use crate::args::{Args, CompletionsArgs, ExplainArgs};
use crate::reply::{Reply, Stop};
use crate::screen::{Screen, wrapped};
use clap::CommandFactory;
use fourbar::Diagnostic;
use fourbar::codes::{page, pages};
use fourbar::diagnostic::nearest;
use serde_json::json;

/// Prints the page of a code, or all titles.
pub fn explain(args: &ExplainArgs, screen: &Screen) -> Result<Reply, Stop> {
    let Some(code) = &args.code else {
        let text: String = pages().map(|p| format!("{}  {}\n", p.code, wrapped(p.title, 6, 6))).collect();
        let list: Vec<_> = pages().map(|p| json!({"code": p.code, "title": p.title})).collect();
        return Ok(Reply::new(text, json!({"codes": list})));
    };
    // A code may be copied with brackets or quotes.
    let wanted = code.trim_matches(['[', ']', '`']);
    let Some(p) = page(wanted) else {
        // Only codes with the same letter, which are of the same kind, are suggested.
        let alike = pages()
            .map(|p| p.code)
            .filter(|c| wanted.len() == c.len() && c.get(..1).is_some_and(|k| k.eq_ignore_ascii_case(wanted.get(..1).unwrap_or(""))));
        let help = nearest(wanted, alike).map_or(String::new(), |n| format!("did you mean `{n}`? ")) + "`fourbar explain` lists all codes";
        return Err(Diagnostic::new("U006", format!("there is no code `{wanted}`")).help(help).into());
    };
    let body = p.text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n");
    let text = format!("{}\n\n{}\n", screen.bold(&format!("{}: {}", p.code, p.title)), body.trim_end());
    Ok(Reply::new(text, json!({"code": p.code, "title": p.title, "text": p.text})))
}

/// Wraps prose; indented lines are examples and stay as they are.
fn paragraph(text: &str) -> String {
    if text.lines().any(|l| l.starts_with("  ")) { text.trim_end().into() } else { wrapped(text, 0, 0) }
}

/// Prints the JSON Schema, which is one JSON object with or without `--json`.
pub fn schema() -> Reply {
    let schema = fourbar_io::schema();
    Reply::new(format!("{schema:#}\n"), json!({"schema": schema}))
}

/// Prints completions.
pub fn completions(args: &CompletionsArgs) -> Reply {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "fourbar", &mut script);
    let text = String::from_utf8_lossy(&script).into_owned();
    let fields = json!({"shell": args.shell.to_string(), "script": text});
    Reply::new(text, fields)
}
