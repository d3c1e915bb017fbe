//! `fourbar list`: the keywords of the program, generated from the code.

use crate::args::{ListArgs, ListName};
use crate::reply::Reply;
use crate::screen::{Facts, Screen, wrapped};
use fourbar::expr::FUNCTIONS;
use fourbar::joint::JointKind;
use fourbar::study::FORMULATIONS;
use fourbar_io::{Table, UNITS, keys};
use serde_json::{Value, json};

/// Width of the column of names.
const MARGIN: usize = 16;

/// Runs the verb.
pub fn list(args: &ListArgs, screen: &Screen) -> Reply {
    let all = keys();
    let text = match args.what {
        Some(ListName::Joints) => joints(&all, screen),
        Some(ListName::Forces) => section(&all, "forces", screen),
        Some(ListName::Constraints) => section(&all, "constraints", screen),
        Some(ListName::Keys) => rest(&all, &[], screen),
        Some(ListName::Functions) => functions(screen),
        Some(ListName::Units) => units(screen),
        Some(ListName::Formulations) => formulations(screen),
        None => [
            joints(&all, screen),
            section(&all, "forces", screen),
            section(&all, "constraints", screen),
            rest(&all, &["joints", "forces", "constraints"], screen),
            functions(screen),
            units(screen),
            formulations(screen),
        ]
        .join("\n"),
    };
    let bracketed = matches!(args.what, None | Some(ListName::Joints | ListName::Forces | ListName::Constraints | ListName::Keys));
    let note = if bracketed { "\nKeys in brackets are optional. `fourbar schema` has the details of every key.\n" } else { "" };
    Reply::new(text + note, fields(&all))
}

/// The types of a section, each with its keys and description.
fn section(all: &[&Table], name: &str, screen: &Screen) -> String {
    let mut text = String::new();
    for t in all.iter().filter(|t| t.section == name) {
        if text.is_empty() {
            text = format!("{}\n", screen.bold(heading(t)));
        }
        text += &format!("{:<MARGIN$}{}\n", t.kind.unwrap_or(""), wrapped(&words(t), MARGIN, MARGIN));
        text += &format!("{:<MARGIN$}{}\n", "", wrapped(t.doc, MARGIN, MARGIN));
    }
    text
}

fn joints(all: &[&Table], screen: &Screen) -> String {
    let with = |has: fn(&(&str, bool, bool)) -> bool| JointKind::ALL.iter().filter(|k| has(k)).map(|k| k.0).collect::<Vec<_>>().join(", ");
    let mut facts = Facts::new(MARGIN);
    facts.add("NAME.angle", &with(|k| k.1));
    facts.add("NAME.distance", &with(|k| k.2));
    format!(
        "{}\n{}\n{}",
        section(all, "joints", screen),
        screen.bold("Joint coordinates that drives, gears, forces and outputs can use; `NAME.speed` is their rate"),
        facts.text
    )
}

/// The other groups of a file.
fn rest(all: &[&Table], without: &[&str], screen: &Screen) -> String {
    let mut text = String::new();
    let mut last = None;
    for t in all.iter().filter(|t| !without.contains(&t.section)) {
        let section = heading(t);
        if last != Some(section) {
            let gap = if last.is_some() { "\n" } else { "" };
            text += &format!("{gap}{}\n", screen.bold(section));
            last = Some(section);
        }
        match t.kind {
            Some(name) => text += &format!("{name:<MARGIN$}{}\n", wrapped(&words(t), MARGIN, MARGIN)),
            None => text += &format!("{}\n", wrapped(&words(t), 0, 0)),
        }
    }
    text
}

/// The keys of a table, optional ones in brackets.
fn words(t: &Table) -> String {
    let needed = t.keys.iter().filter(|k| k.required).map(|k| k.name.to_string());
    needed.chain(t.keys.iter().filter(|k| !k.required).map(|k| format!("[{}]", k.name))).collect::<Vec<_>>().join(" ")
}

fn functions(screen: &Screen) -> String {
    let mut facts = Facts::new(MARGIN);
    for f in FUNCTIONS {
        facts.add(f.name, f.doc);
    }
    format!("{}\n{}", screen.bold("Functions of expressions; `pi` is a number, `t` the time, and + - * / ^ < > work as usual"), facts.text)
}

fn units(screen: &Screen) -> String {
    let names: Vec<&str> = UNITS.iter().map(|u| u.name).collect();
    let text = wrapped(&names.join(" "), 0, 0);
    format!("{}\n{text}\n", screen.bold("Units, alone or in compounds without spaces such as `2 kN/m` and `3 kg*m^2`"))
}

fn formulations(screen: &Screen) -> String {
    let mut facts = Facts::new(MARGIN);
    for f in FORMULATIONS {
        facts.add(f.name, f.summary);
        facts.add("", &format!("with {}", f.integrators.join(", ")));
    }
    facts.add("auto", "chooses formulation and integrator from the mechanism and reports the reason; the default of a run");
    format!(
        "{}\n{}\n{}\n{}",
        screen.bold("Formulations, with their integrators (the first is the default)"),
        facts.text,
        screen.bold("Options of the formulations (`--option KEY=VALUE`)"),
        options()
    )
}

/// Options; those shared by several formulations are listed once.
fn options() -> String {
    let mut facts = Facts::new(MARGIN);
    for (k, first) in FORMULATIONS.iter().enumerate() {
        if FORMULATIONS[..k].iter().any(|f| f.options == first.options) {
            continue;
        }
        let names: Vec<&str> = FORMULATIONS.iter().filter(|f| f.options == first.options).map(|f| f.name).collect();
        facts.text += &format!("{}\n", names.join(", "));
        for o in first.options {
            let all = o.only.is_empty() || first.integrators.iter().all(|i| o.only.contains(i));
            let of = if all { String::new() } else { format!(" ({})", o.only.join(", ")) };
            facts.add(&format!("  {}", o.key), &format!("{}{of}", o.about));
        }
    }
    facts.text
}

fn heading(t: &Table) -> &'static str {
    match t.section {
        "" => "The file",
        "bodies" => "A body",
        "curves" => "A curve",
        "plane" => "Its plane",
        "joints" => "Joints",
        "constraints" => "Bare constraints",
        "drives" => "A drive",
        "forces" => "Forces",
        "contacts" => "A contact",
        "side" => "A side of a contact",
        "contact plane" => "The plane of a side",
        "contact friction" => "Friction of a contact",
        "tables" => "A table",
        "outputs" => "An output",
        "study" => "The study",
        "results" => "The results",
        "inputs" => "An input",
        "states" => "A state",
        "solid" => "Solids",
        "shape" => "Shapes",
        "orientation" => "An orientation",
        "place" => "A place on a body",
        "frames" => "A joint frame",
        "view" => "The view",
        other => other,
    }
}

fn fields(all: &[&Table]) -> Value {
    let formulations: Vec<Value> =
        FORMULATIONS.iter().map(|f| json!({"name": f.name, "summary": f.summary, "integrators": f.integrators, "options": f.options.iter().map(|o| json!({"key": o.key, "about": o.about, "integrators": if o.only.is_empty() { f.integrators } else { o.only }})).collect::<Vec<_>>()})).collect();
    let joints: Vec<Value> =
        JointKind::ALL.iter().map(|(name, angle, distance)| json!({"name": name, "angle": angle, "distance": distance})).collect();
    let tables: Vec<Value> = all
        .iter()
        .map(|t| {
            let keys: Vec<Value> = t
                .keys
                .iter()
                .map(|k| json!({"name": k.name, "required": k.required, "expects": k.expect.words(), "about": k.doc}))
                .collect();
            json!({"section": t.section, "type": t.kind, "about": t.doc, "keys": keys})
        })
        .collect();
    json!({"formulations": formulations, "joint_coordinates": joints, "file": tables})
}
