//! Translates advice of the engine to this package: options of the command become keywords, Rust calls become Python calls.

use fourbar::Diagnostic;

/// Options without a value.
const FLAGS: [&str; 8] = ["force", "resume", "batch", "check", "forward", "frozen", "large", "all"];
/// Options with `name=value`, and the corresponding mappings.
const PAIRS: [(&str, &str); 9] = [
    ("option", "options"),
    ("input", "inputs"),
    ("vary", "vary"),
    ("measure", "measures"),
    ("tolerance", "tolerances"),
    ("fit", "fit"),
    ("weights", "weights"),
    ("set", "replace"),
    ("param", "replace"),
];
/// Commands, in any message.
const COMMANDS: [(&str, &str); 4] = [
    ("fourbar examples", "fourbar.examples()"),
    ("fourbar list", "fourbar.formulations()"),
    ("--measure", "measures"),
    ("--option", "options"),
];
/// Rust calls of a simulation, translated in advice about simulations only: elsewhere these may be names of elements.
const CALLS: [(&str, &str); 8] = [
    ("set_state", "sim.state = ..."),
    ("assemble_state", "sim.assemble(state)"),
    ("state", "sim.state"),
    ("set_input", "sim.inputs[name] = ..."),
    ("restore", "sim.restore(saved)"),
    ("save", "sim.save()"),
    ("advance", "sim.advance(t)"),
    ("input", "sim.inputs"),
];
/// Diagnostic codes of simulations.
const SIMULATIONS: [&str; 7] = ["U310", "U311", "U312", "U313", "U315", "U322", "U324"];
/// Lists of names, by the kind of element in a message.
const LISTS: [(&str, &str); 8] = [
    ("body", "bodies"),
    ("joint", "joints"),
    ("drive", "drives"),
    ("force", "forces"),
    ("constraint", "constraints"),
    ("point", "points"),
    ("state", "states"),
    ("output", "outputs"),
];

/// A diagnostic in the terms of this package.
pub fn translated(d: &Diagnostic) -> Diagnostic {
    let mut own = d.clone();
    let calls: &[_] = if SIMULATIONS.contains(&d.code.0) && !d.help.starts_with("did you mean") { &CALLS } else { &[] };
    own.message = words(&d.message, &[]);
    own.help = words(&listed(&d.help), calls);
    own
}

/// The attribute that lists all elements of a kind.
fn listed(text: &str) -> String {
    let Some((before, kind)) = text.split_once("`model()` lists every ") else { return text.to_string() };
    match LISTS.iter().find(|(k, _)| *k == kind) {
        Some((_, list)) => format!("{before}`Model.{list}` lists them"),
        None => text.to_string(),
    }
}

/// Replaces the texts between backticks.
fn words(text: &str, calls: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    for (k, part) in text.split('`').enumerate() {
        if k > 0 {
            out.push('`');
        }
        match k % 2 {
            1 => out.push_str(&quoted(part, calls).unwrap_or_else(|| part.to_string())),
            _ => out.push_str(part),
        }
    }
    out
}

/// A text between backticks, if it is a call or part of a command line.
fn quoted(text: &str, calls: &[(&str, &str)]) -> Option<String> {
    if let Some((_, call)) = COMMANDS.iter().chain(calls).find(|(word, _)| *word == text) {
        return Some((*call).to_string());
    }
    if let Some(folder) = text.strip_prefix("fourbar sweep FILE --resume ") {
        return Some(format!("sweep(..., out={folder:?}, resume=True)"));
    }
    if !text.starts_with("--") {
        return None;
    }
    let mut keywords = Vec::new();
    for option in text.split("--").filter(|x| !x.trim().is_empty()) {
        let (name, value) = option.trim().split_once(' ').map_or((option.trim(), None), |(n, v)| (n, Some(v.trim())));
        let keyword = name.replace('-', "_");
        let known = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        keywords.push(match value {
            _ if !known => return None,
            None if FLAGS.contains(&name) => format!("{keyword}=True"),
            None => keyword,
            Some(value) => match (PAIRS.iter().find(|(n, _)| *n == name), value.split_once('=')) {
                (Some((_, "replace")), Some((key, value))) => format!("replace({key}={value})"),
                (Some((_, mapping)), Some((key, value))) => format!("{mapping}={{\"{key}\": {}}}", literal(value)),
                _ if name == "columns" && value.contains(',') => {
                    format!("columns=[{}]", value.split(',').map(literal).collect::<Vec<_>>().join(", "))
                }
                // A placeholder is not a string.
                _ if value.chars().all(|c| c.is_ascii_uppercase()) => format!("{keyword}={value}"),
                _ => format!("{keyword}={}", literal(value)),
            },
        });
    }
    Some(keywords.join(", "))
}

/// A value in Python syntax.
fn literal(value: &str) -> String {
    let bare = value.trim_matches(['"', '\'']);
    match bare.parse::<f64>() {
        Ok(_) => bare.to_string(),
        Err(_) => format!("\"{bare}\""),
    }
}
