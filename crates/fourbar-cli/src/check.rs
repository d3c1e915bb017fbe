//! `fourbar check`: what a mechanism is, in words.

mod fields;
mod modes;
mod motion;
mod words;

use crate::args::CheckArgs;
use crate::input::{Input, load};
use crate::reply::{Reply, Stop, exit_code};
use crate::screen::Screen;
use fourbar::Diagnostic;
use fourbar::analysis::assembly::{self, Assembled};
use fourbar::analysis::rank::{self, FreeMotion, Mobility};
use fourbar::formulation::{grcr, natural};
use fourbar::model::Model;
use fourbar::state::Configuration;
use fourbar::topology::{Groups, Topology};
use fourbar_check::explain::{Explanation, explain};

/// Everything that `check` finds out.
pub struct Findings {
    topology: Topology,
    assembled: Result<Assembled, Diagnostic>,
    /// Without the drives, then with them; the second only where there are drives.
    free: Mobility,
    driven: Option<Mobility>,
    motions: Vec<FreeMotion>,
    still_free: Vec<FreeMotion>,
    explanation: Explanation,
    warnings: Vec<Diagnostic>,
}

/// Runs the verb.
pub fn check(args: &CheckArgs, screen: &Screen) -> Result<Reply, Stop> {
    let input = load(&args.model)?;
    let mut findings = examine(&input);
    let written = args.modes.as_deref().map(|path| modes::write(&input, &findings, path, args.force, screen)).transpose()?;
    let mut text = words::words(&input, &findings, args.all, screen);
    // Fields of a large mechanism are many, and only a program reads them.
    let mut fields = if screen.json { fields::fields(&input, &findings) } else { serde_json::Value::Null };
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

/// What a formulation makes of the mechanism, in its own words.
fn described(model: &Model, f: &Findings, name: &str, options: &[(String, String)]) -> Result<Vec<String>, Diagnostic> {
    let start = &f.assembled.as_ref().map_err(Clone::clone)?.configuration;
    match name {
        "natural" => natural::describe(model, start, natural::choice(options)?),
        "grcr" => Ok(grcr::describe(model, start, &grcr::Options::of(options)?)),
        _ => Err(Diagnostic::new("U301", format!("formulation `{name}` has nothing to describe")).help("`natural` and `grcr` have")),
    }
}

/// Looks at a mechanism from all sides.
fn examine(input: &Input) -> Findings {
    let model = &input.model;
    let topology = Topology::new(model);
    let assembled = assembly::assemble(model);
    // A mechanism that cannot close is still described, at the pose it is drawn in.
    let drawn = Configuration::start(model);
    let start = assembled.as_ref().map_or(&drawn, |a| &a.configuration);
    let free = rank::mobility(model, start, false);
    let driven = (!model.drives.is_empty()).then(|| rank::mobility(model, start, true));
    let motions = rank::describe(model, &start.q, &free.start.motions);
    let still_free = driven.as_ref().map_or(Vec::new(), |d| rank::describe(model, &start.q, &d.start.motions));
    let explanation = explain(model, &topology, &assembled, &free, driven.as_ref());
    let mut warnings = input.loaded.warnings.clone();
    warnings.extend(assembled.as_ref().ok().and_then(|a| a.warning(model)));
    warnings.extend(explanation.doubts.iter().cloned());
    Findings { topology, assembled, free, driven, motions, still_free, explanation, warnings }
}

/// Drives that prescribe what other drives or joints already prescribe.
fn idle_drives(model: &Model, f: &Findings) -> usize {
    f.driven.as_ref().map_or(0, |d| (f.free.start.rank + model.drives.len()).saturating_sub(d.start.rank))
}

fn depth(topology: &Topology) -> usize {
    // Parents come before their children in the components.
    let mut depth = vec![0; topology.parent.len()];
    for b in topology.components.iter().flatten() {
        if let Some(p) = topology.parent[b.index()] {
            depth[b.index()] = depth[p.index()] + 1;
        }
    }
    depth.into_iter().max().unwrap_or(0)
}

/// Groups of bodies that neither joints nor other constraints hold to the ground.
fn floating(model: &Model, topology: &Topology) -> Vec<Vec<String>> {
    // Bare constraints, couplings and contacts join what the joints leave apart.
    let mut joined = Groups::new(model.bodies.len());
    for component in &topology.components {
        component.windows(2).for_each(|pair| {
            joined.join(pair[0].index(), pair[1].index());
        });
    }
    for c in model.constraints(false).into_iter().chain(model.velocity_constraints()) {
        c.bodies.windows(2).for_each(|pair| {
            joined.join(pair[0].index(), pair[1].index());
        });
    }
    let mut groups: Vec<Vec<String>> = vec![Vec::new(); model.bodies.len()];
    for (b, body) in model.bodies.iter().enumerate() {
        groups[joined.find(b)].push(body.name.clone());
    }
    groups.into_iter().skip(1).filter(|g| !g.is_empty()).collect()
}

/// Bare constraints whose value changes in time.
fn in_time(model: &Model) -> Vec<&str> {
    // A constant has no derivatives at any time; two odd times do not meet zeros of both.
    let changes = |f: &fourbar::time::TimeFunction| [0.1234567, 0.7654321].iter().any(|t| f.at(*t)[1..].iter().any(|x| *x != 0.0));
    model.bare.iter().filter(|b| changes(&b.value)).map(|b| b.name.as_str()).collect()
}
