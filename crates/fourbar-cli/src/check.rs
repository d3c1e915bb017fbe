//! `fourbar check`: what a mechanism is, in words.

use crate::args::ModelArgs;
use crate::input::{Input, load};
use crate::reply::{Reply, Stop, exit_code};
use crate::screen::{Facts, Screen, names, number};
use fourbar::Diagnostic;
use fourbar::analysis::assembly::{self, Assembled};
use fourbar::analysis::rank::{self, FreeMotion, Mobility, TOLERANCE};
use fourbar::analysis::redundancy::{Redundancy, around, redundancy};
use fourbar::model::Model;
use fourbar::state::Configuration;
use fourbar::study::{FORMULATIONS, Study, count};
use fourbar::topology::Topology;
use serde_json::{Value, json};

/// Loops and sets that are listed before the rest is only counted.
const SHOWN: usize = 10;

/// Everything that `check` finds out.
struct Findings {
    topology: Topology,
    assembled: Result<Assembled, Diagnostic>,
    /// Without the drives, then with them; the second only where there are drives.
    free: Mobility,
    driven: Option<Mobility>,
    redundancy: Redundancy,
    motions: Vec<FreeMotion>,
    still_free: Vec<FreeMotion>,
    warnings: Vec<Diagnostic>,
}

/// Runs the verb.
pub fn check(args: &ModelArgs, screen: &Screen) -> Result<Reply, Stop> {
    let input = load(args)?;
    let findings = examine(&input);
    let mut reply = Reply::new(words(&input, &findings, screen), fields(&input, &findings));
    let list = findings.warnings.iter().chain(findings.assembled.as_ref().err());
    reply.notes = input.notes(list);
    reply.exit = exit_code(reply.notes.list.iter().map(|d| &d.diagnostic));
    Ok(reply)
}

fn examine(input: &Input) -> Findings {
    let model = &input.model;
    let topology = Topology::new(model);
    let assembled = assembly::assemble(model);
    // A mechanism that cannot close is still described, at the pose it is drawn in.
    let drawn = Configuration::start(model);
    let start = assembled.as_ref().map_or(&drawn, |a| &a.configuration);
    let free = rank::mobility(model, start, false);
    let driven = (!model.drives.is_empty()).then(|| rank::mobility(model, start, true));
    let redundancy = redundancy(model, &topology, &start.q, free.start.redundant());
    let motions = rank::describe(model, &start.q, &free.start.motions);
    let still_free = driven.as_ref().map_or(Vec::new(), |d| rank::describe(model, &start.q, &d.start.motions));
    let mut warnings = input.loaded.warnings.clone();
    warnings.extend(assembled.as_ref().ok().and_then(|a| a.warning(model)));
    Findings { topology, assembled, free, driven, redundancy, motions, still_free, warnings }
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

/// Bodies of components without the ground.
fn floating(model: &Model, topology: &Topology) -> Vec<Vec<String>> {
    topology.components.iter().skip(1).map(|c| c.iter().map(|b| model.body_name(*b).to_string()).collect()).collect()
}

fn words(input: &Input, f: &Findings, screen: &Screen) -> String {
    let model = &input.model;
    let mut facts = Facts::new(13);
    let title = if model.title.is_empty() { &input.name } else { &model.title };
    facts.text = format!("{}\n\n", screen.bold(title));
    facts.add("file", &input.name);
    facts.add("elements", &elements(model));
    structure(&mut facts, model, f);
    mobility(&mut facts, model, f);
    redundant(&mut facts, f);
    start(&mut facts, model, f);
    if !model.gravity_given {
        facts.add("gravity", "none: the file does not state it");
    }
    if !input.loaded.unused_parameters.is_empty() {
        facts.add("parameters", &format!("not used: {}", names(&input.loaded.unused_parameters)));
    }
    applies(&mut facts, model, f);
    facts.text
}

fn elements(model: &Model) -> String {
    let mut parts = vec![if model.moving() == 1 { "1 body".to_string() } else { format!("{} bodies", model.moving()) }, kinds(model)];
    let more = [
        (model.couplings.len(), "coupling"),
        (model.bare.len(), "bare constraint"),
        (model.rolling.len(), "rolling element"),
        (model.drives.len(), "drive"),
        (model.forces.len(), "force"),
        (model.points.len(), "point"),
    ];
    parts.extend(more.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(n, what)));
    parts.join(", ")
}

/// `4 joints (3 revolute, 1 prismatic)`.
fn kinds(model: &Model) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for j in &model.joints {
        match kinds.iter_mut().find(|(k, _)| *k == j.kind.name()) {
            Some((_, n)) => *n += 1,
            None => kinds.push((j.kind.name(), 1)),
        }
    }
    let list = kinds.iter().map(|(k, n)| format!("{n} {k}")).collect::<Vec<_>>().join(", ");
    if list.is_empty() { "no joints".into() } else { format!("{} ({list})", count(model.joints.len(), "joint")) }
}

fn structure(facts: &mut Facts, model: &Model, f: &Findings) {
    let t = &f.topology;
    let plane = match &t.planar {
        Some(n) => format!("planar: all joints keep the plane with normal ({}, {}, {})", number(n.x), number(n.y), number(n.z)),
        None => "spatial".into(),
    };
    facts.add("motion", &plane);
    facts.add(
        "structure",
        &format!(
            "tree of depth {}, {}",
            depth(t),
            if t.loops.is_empty() { "no loops".into() } else { format!("closed by {}", count(t.loops.len(), "loop")) }
        ),
    );
    for l in t.loops.iter().take(SHOWN) {
        let joints: Vec<&str> = around(l).into_iter().map(|k| model.joints[k].name.as_str()).collect();
        facts.add("", &format!("loop of {}", names(&joints)));
    }
    if t.loops.len() > SHOWN {
        facts.add("", &format!("and {}", count(t.loops.len() - SHOWN, "more loop")));
    }
    for group in floating(model, t).iter().take(SHOWN) {
        facts.add("", &format!("not joined to the ground: {}", names(group)));
    }
}

fn mobility(facts: &mut Facts, model: &Model, f: &Findings) {
    let m = &f.free;
    let how = match m.start.smallest {
        Some(s) if m.start.rank > 0 => {
            format!("singular values below {TOLERANCE:.0e} of the largest count as zero, the smallest kept is {}", number(s))
        }
        Some(_) => "there are no constraints".into(),
        None => "found by projecting random velocities".into(),
    };
    facts.add("mobility", &format!("{} by count: {} freedoms, {} constraint rows", m.by_count, m.start.columns, m.start.rows));
    facts.add("", &format!("{} by rank: the rows have rank {} ({how})", m.start.mobility(), m.start.rank));
    if m.singular_start {
        facts.add("", &format!("the start is a singular pose: nearby the mobility is {}, rank {}", m.generic.mobility(), m.generic.rank));
    }
    if !f.motions.is_empty() {
        facts.add("free motions", &spoken(&f.motions));
    }
    if let Some(d) = &f.driven {
        let left = d.generic.mobility();
        let mut text = if left == 0 {
            "prescribe the whole motion".to_string()
        } else {
            format!("leave {} free: {}", count(left, "motion"), spoken(&f.still_free))
        };
        let idle = idle_drives(model, f);
        if idle > 0 {
            text += &format!("; {} of them prescribe what joints or other drives already prescribe at the start", idle);
        }
        facts.add("drives", &text);
    }
}

fn spoken(motions: &[FreeMotion]) -> String {
    // The six freedoms of a body without joints are one sentence.
    let mut parts: Vec<(String, usize)> = Vec::new();
    for m in motions {
        let text = match m.what {
            "angle" | "distance" => format!("{} of `{}`", m.what, m.name),
            what => format!("`{}` {what}", m.name),
        };
        match parts.iter_mut().find(|(t, _)| *t == text) {
            Some((_, n)) => *n += 1,
            None => parts.push((text, 1)),
        }
    }
    let more = parts.len().saturating_sub(SHOWN);
    let mut text =
        parts.into_iter().take(SHOWN).map(|(t, n)| if n > 1 { format!("{t} ({n} ways)") } else { t }).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += &format!(" and {more} more");
    }
    text
}

fn redundant(facts: &mut Facts, f: &Findings) {
    let r = &f.redundancy;
    if r.total == 0 {
        facts.add("redundancy", "none: every constraint row is needed");
        return;
    }
    facts.add("redundancy", &format!("{} too many; the motion is well defined, some reactions are not", count(r.total, "constraint row")));
    for s in r.sets.iter().take(SHOWN) {
        let what = if s.single_loop { "joints" } else { "together" };
        let owner = if s.single_loop { "hold their loop" } else { "hold each other" };
        facts.add("", &format!("{what} {} {owner} {} too often", names(&s.names), times(s.times)));
    }
    if r.sets.len() > SHOWN {
        facts.add("", &format!("and {}", count(r.sets.len() - SHOWN, "more set")));
    }
    if r.unexplained > 0 {
        facts.add("", &format!("{} depend on each other across several loops", count(r.unexplained, "row")));
    }
}

fn times(n: usize) -> String {
    if n == 1 { "once".into() } else { format!("{n} times") }
}

fn start(facts: &mut Facts, model: &Model, f: &Findings) {
    let text = match &f.assembled {
        Ok(a) if a.residual_before > 1e-6 * model.length => {
            let open: Vec<&str> = a.open.iter().map(|g| g.name.as_str()).collect();
            format!(
                "not consistent: {} {} open; assembly closes {} (`fourbar assemble` says how)",
                names(&open),
                if open.len() == 1 { "is" } else { "are" },
                if open.len() == 1 { "it" } else { "them" }
            )
        }
        Ok(a) if a.velocity_residual_before > 1e-6 * model.length => {
            format!("positions are consistent; velocities are not (worst {} m/s) and are projected", number(a.velocity_residual_before))
        }
        Ok(a) => format!("consistent: largest gap {} m", number(a.residual_before)),
        Err(_) => "the mechanism cannot be assembled".into(),
    };
    facts.add("start", &text);
}

fn applies(facts: &mut Facts, model: &Model, f: &Findings) {
    if f.assembled.is_err() {
        return;
    }
    let kinematics = match &f.driven {
        Some(d) if d.generic.mobility() == 0 => "kinematics, dynamics",
        _ => "dynamics",
    };
    facts.add("analyses", kinematics);
    for form in FORMULATIONS {
        facts.add(
            if form.name == FORMULATIONS[0].name { "formulations" } else { "" },
            &format!("{}: applies ({})", form.name, form.summary),
        );
    }
    let s = Study::of(model);
    let what = model.study.analysis.as_deref().map_or("chosen by the drives".to_string(), String::from);
    facts.add("study", &format!("{what}, to {} s, output every {} s", number(s.t_end), number(s.output_step)));
}

fn fields(input: &Input, f: &Findings) -> Value {
    let model = &input.model;
    let t = &f.topology;
    let motion = |m: &FreeMotion| json!({"name": m.name, "what": m.what});
    let rank = |m: &Mobility| {
        json!({
            "by_count": m.by_count, "by_rank": m.start.mobility(), "generic": m.generic.mobility(), "singular_start": m.singular_start,
            "freedoms": m.start.columns, "rows": m.start.rows, "rank": m.start.rank, "tolerance": TOLERANCE, "smallest_singular_value": m.start.smallest,
        })
    };
    let loops: Vec<Vec<&str>> = t.loops.iter().map(|l| around(l).into_iter().map(|k| model.joints[k].name.as_str()).collect()).collect();
    let start = match &f.assembled {
        Ok(a) => json!({
            "assembles": true, "consistent": !a.start_was_inconsistent(model), "residual": a.residual_before,
            "velocity_residual": a.velocity_residual_before, "open": a.open,
        }),
        Err(_) => json!({"assembles": false, "consistent": false}),
    };
    let kinematics = f.driven.as_ref().is_some_and(|d| d.generic.mobility() == 0);
    json!({
        "file": input.name, "title": model.title, "hash": input.loaded.hash,
        "bodies": model.moving(), "joints": model.joints.len(), "couplings": model.couplings.len(), "constraints": model.bare.len(), "rolling": model.rolling.len(),
        "drives": model.drives.len(), "forces": model.forces.len(), "points": model.points.len(),
        "gravity": model.gravity_given.then(|| [model.gravity.x, model.gravity.y, model.gravity.z]),
        "characteristic_length": model.length,
        "planar": t.planar.is_some(), "plane_normal": t.planar.map(|n| [n.x, n.y, n.z]),
        "tree_depth": depth(t), "components": t.components.len(), "loops": loops, "not_joined_to_ground": floating(model, t),
        "mobility": rank(&f.free),
        "mobility_with_drives": f.driven.as_ref().map(rank),
        "free_motions": f.motions.iter().map(motion).collect::<Vec<_>>(),
        "free_motions_with_drives": f.still_free.iter().map(motion).collect::<Vec<_>>(),
        "idle_drives": idle_drives(model, f),
        "redundancy": f.redundancy,
        "start": start,
        "unused_parameters": input.loaded.unused_parameters,
        "analyses": {"kinematics": kinematics, "dynamics": true},
        "formulations": FORMULATIONS.iter().map(|f| json!({"name": f.name, "applies": true, "integrators": f.integrators})).collect::<Vec<_>>(),
    })
}
