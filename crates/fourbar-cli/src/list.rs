//! `fourbar list`: the words of the program, printed from the code itself.

use crate::reply::Reply;
use crate::screen::{Facts, Screen, wrapped};
use fourbar::joint::JointKind;
use fourbar::study::FORMULATIONS;
use fourbar_io::{Table, keys};
use serde_json::{Value, json};

/// Width of the names on the left.
const MARGIN: usize = 16;

/// Runs the verb.
pub fn list(screen: &Screen) -> Reply {
    let mut text = format!("{}\n", screen.bold("Formulations, with their integrators (the first is the default)"));
    let mut facts = Facts::new(MARGIN);
    for f in FORMULATIONS {
        facts.add(f.name, f.summary);
        facts.add("", &format!("with {}", f.integrators.join(", ")));
    }
    facts.add("auto", "chooses formulation and integrator from the mechanism, and says why; what a run takes if nothing is said");
    text += &facts.text;
    text += &format!("\n{}\n", screen.bold("Options of the formulations (`--option KEY=VALUE`)"));
    text += &options();
    text += &format!("\n{}\n", screen.bold("Joint coordinates that drives, gears and forces can use"));
    let with = |has: fn(&(&str, bool, bool)) -> bool| JointKind::ALL.iter().filter(|k| has(k)).map(|k| k.0).collect::<Vec<_>>().join(", ");
    text += &format!("angle     {}\ndistance  {}\n", with(|k| k.1), with(|k| k.2));
    let all = keys();
    let mut last = None;
    for t in &all {
        let section = heading(t);
        if last != Some(section) {
            text += &format!("\n{}\n", screen.bold(section));
            last = Some(section);
        }
        let name = t.kind.unwrap_or("");
        let margin = if t.kind.is_some() { 16 } else { 0 };
        let mut words: Vec<String> = t.keys.iter().filter(|k| k.required).map(|k| k.name.to_string()).collect();
        words.extend(t.keys.iter().filter(|k| !k.required).map(|k| format!("[{}]", k.name)));
        if t.kind.is_some() {
            text += &format!("{name:<margin$}{}\n", wrapped(&words.join(" "), margin, margin));
        } else {
            text += &format!("{}\n", wrapped(&words.join(" "), 0, 0));
        }
    }
    text += "\nKeys in brackets may be left out. `fourbar schema` has the details of every key.\n";
    Reply::new(text, fields(&all))
}

/// Options, those of several formulations once.
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
