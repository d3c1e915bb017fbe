//! `fourbar equilibrium`: equilibria, their stability and loads.

mod path;

use crate::about::input_values;
use crate::args::{EquilibriumArgs, RestKind};
use crate::input::{Input, drawn};
use crate::range::Range;
use crate::reply::{Reply, Stop};
use crate::screen::{Facts, Screen, number, table, wrapped};
use fourbar::analysis::uniqueness;
use fourbar::study::count;
use fourbar::{Diagnostic, Evaluation, Model};
use fourbar_design::equilibrium::{Equilibrium, Found, Kind, Options, Stability, search, settle};
use fourbar_design::redraw::redrawn;
use fourbar_io::disk::{self, may_replace, write_kind};
use fourbar_io::write_model;
use serde_json::{Map, Value, json};
use std::f64::consts::TAU;

/// Number of rows of a table that are shown; further ones are only counted.
const SHOWN: usize = 40;

/// Runs the verb.
pub fn equilibrium(args: &EquilibriumArgs, screen: &Screen) -> Result<Reply, Stop> {
    if let Some(path) = &args.output {
        may_replace(path, disk::Kind::Other, args.force)?;
    }
    let input = drawn(&args.model)?;
    let options = options(&input, args).map_err(|d| input.stop(&d))?;
    if let Some(along) = &args.along {
        let range = Range::new(along)?;
        return path::path(args, &input, &range, &options, screen);
    }
    let found = match args.all {
        true => search(&input.model, &options).map_err(|d| input.stop(&d))?,
        false => {
            let one = settle(&input.model, &options).map_err(|d| input.stop(&d))?;
            Found { list: vec![one], starts: 0, hits: 1, complete: false, warnings: Vec::new() }
        }
    };
    let mut text = format!("{}\n\n", screen.bold(title(&input)));
    let mut list = Vec::new();
    if args.all {
        text += &summary(&found);
    }
    for (k, e) in found.list.iter().enumerate() {
        let acting = e.acting(&input.model);
        let now = e.evaluate(&acting).map_err(|d| input.stop(d.cause()))?;
        if args.all {
            text += &format!("\n{}\n", screen.bold(&format!("equilibrium {}", k + 1)));
        }
        text += &words(&input.model, e, &now);
        list.push(fields(&input.model, e, &now));
    }
    let mut warnings: Vec<Diagnostic> = input.loaded.warnings.clone();
    warnings.extend(found.warnings.iter().cloned());
    for w in found.list.iter().flat_map(|e| &e.warnings).filter(|_| !args.all) {
        warnings.push(w.clone());
    }
    if let (Some(path), [e]) = (&args.output, found.list.as_slice()) {
        let spec = redrawn(&input.loaded.spec, &input.model, &e.state).map_err(|d| input.stop(&d))?;
        write_kind(path, write_model(&spec).as_bytes(), disk::Kind::Other, args.force)?;
        text += &format!("\nthe mechanism at rest is written to {}\n", path.display());
    }
    let mut reply = Reply::new(
        text,
        json!({
            "file": input.name, "title": input.model.title, "hash": input.loaded.hash, "t": options.t,
            "equilibria": list, "starts": found.starts, "hits": found.hits, "complete": found.complete,
        }),
    );
    reply.notes = input.notes(&warnings);
    Ok(reply)
}

fn title(input: &Input) -> &str {
    if input.model.title.is_empty() { &input.name } else { &input.model.title }
}

fn options(input: &Input, args: &EquilibriumArgs) -> Result<Options, Diagnostic> {
    let inputs = input_values(&input.model, &args.input)?;
    let kind = if args.kind == RestKind::Any { Kind::Any } else { Kind::Stable };
    Ok(Options { kind, t: args.at.unwrap_or(0.0), inputs, starts: args.starts.into() })
}

fn summary(found: &Found) -> String {
    let stable = found.list.iter().filter(|e| e.stability() == Stability::Stable).count();
    let mut text = format!("{}, {stable} of them stable; ", count(found.list.len(), "equilibrium").replace("equilibriums", "equilibria"));
    text += &format!("{} of {} starts ended at one\n", found.hits, found.starts + 1);
    let complete = if found.complete {
        "the motion of the only freedom was followed to its ends: on this assembly mode there are no others"
    } else {
        "the result depends on the starts: there may be other equilibria"
    };
    text + &format!("{}\n", wrapped(complete, 0, 0))
}

/// An equilibrium as text.
fn words(model: &Model, e: &Equilibrium, now: &Evaluation<'_>) -> String {
    let mut facts = Facts::new(12);
    let v = &e.verdict;
    let hertz = |w2: f64| number(w2.abs().sqrt() / TAU);
    facts.add(
        "at rest",
        &match e.stability() {
            Stability::Held if e.leans.is_empty() => "held: the joints and drives leave no free motion".to_string(),
            Stability::Held => "held: joints, drives and closed limits leave no free motion".to_string(),
            Stability::Stable => {
                format!("stable: the softest motion is {}, {} Hz", v.softest, hertz(v.omega2.first().copied().unwrap_or(0.0)))
            }
            Stability::Neutral if e.everywhere => format!("neutral: it rests at every position along {}", v.softest),
            Stability::Neutral => format!("neutral: no load acts on {} either way", v.softest),
            Stability::Unstable => {
                let rate = v.omega2.first().map_or(0.0, |w| w.abs().sqrt());
                format!("unstable: it moves away along {}, doubling every {} s", v.softest, number(std::f64::consts::LN_2 / rate))
            }
        },
    );
    if e.alike > 0 {
        facts.add("alike", &format!("{} found by the search, with the same energy", count(e.alike, "other position")));
    }
    for l in &e.leans {
        facts.add("leans on", &format!("`{}`, pressed with {} {}", l.name, number(l.effort), l.unit));
    }
    let way = match e.method {
        "downhill" => format!("{} downhill", count(e.iterations, "step")),
        other => format!("{} of {other}", count(e.iterations, "step")),
    };
    facts.add("residual", &format!("{} of the largest load, after {way}", number(e.residual)));
    let free = count(e.freedom, "free motion");
    let rows = if e.redundant == 0 {
        "no redundant rows".into()
    } else {
        format!("{}; where reactions are not unique the smallest are given", count(e.redundant, "redundant row"))
    };
    facts.add("freedom", &format!("{free}; {rows}"));
    facts.add("energy", &format!("{} J of gravity, linear springs and bushings", number(e.energy)));
    let mut text = facts.text;
    let snapshot = now.snapshot();
    let load = model.joints.iter().filter_map(|j| Some(snapshot.joint(&j.name).ok()?.force.norm())).fold(0.0_f64, f64::max);
    // Values within rounding errors become zero.
    let clear = |x: f64| number(if x > 1e-12 * load { x } else { 0.0 });
    let mut rows = Vec::new();
    for j in &model.joints {
        let Ok(s) = snapshot.joint(&j.name) else { continue };
        let has = |what: &str| j.coordinates().any(|(k, _)| k == what);
        let angle = if has("angle") { number(s.angle) } else { String::new() };
        let distance = if has("distance") { number(s.distance) } else { String::new() };
        rows.push(vec![j.name.clone(), angle, distance, clear(s.force.norm()), clear(s.torque.norm())]);
    }
    text += &part(&["joint", "angle [rad]", "distance [m]", "force [N]", "torque [N m]"], rows);
    let mut rows = Vec::new();
    for (name, _) in &model.forces {
        let Ok(f) = snapshot.force(name) else { continue };
        let values: Vec<String> =
            f.iter().filter(|(k, x)| *k != "power" && *k != "rate" && *x != 0.0).map(|(k, x)| format!("{k} {}", number(x))).collect();
        rows.push(vec![name.clone(), values.join(", ")]);
    }
    text += &part(&["force", "values [SI]"], rows);
    let drives = model.drives.iter().filter_map(|d| Some(vec![d.name.clone(), number(snapshot.drive(&d.name).ok()?.effort)]));
    text + &part(&["drive", "effort [N m or N]"], drives.collect())
}

fn part(head: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let right: Vec<usize> = if head.len() == 2 && head[0] == "force" { vec![] } else { (1..head.len()).collect() };
    let shown: Vec<Vec<String>> = rows.iter().take(SHOWN).cloned().collect();
    let rest = if rows.len() > SHOWN { format!("and {} more; `--json` has all\n", rows.len() - SHOWN) } else { String::new() };
    format!("\n{}{rest}", table(head, &shown, &right))
}

/// An equilibrium as JSON fields.
fn fields(model: &Model, e: &Equilibrium, now: &Evaluation<'_>) -> Value {
    let snapshot = now.snapshot();
    let (mut coordinates, mut reactions) = (Map::new(), Map::new());
    for j in &model.joints {
        let Ok(s) = snapshot.joint(&j.name) else { continue };
        for (what, _) in j.coordinates() {
            coordinates.insert(format!("{}.{what}", j.name), json!(if what == "angle" { s.angle } else { s.distance }));
        }
        reactions.insert(j.name.clone(), json!({"force": s.force.as_slice(), "torque": s.torque.as_slice()}));
    }
    let bodies = model.bodies.iter().zip(&e.state.q).skip(1);
    let bodies = bodies.map(|(b, q)| (b.name.clone(), json!({"r": q.r.as_slice(), "p": fourbar_math::so3::quaternion(&q.A)})));
    let forces = model.forces.iter().filter_map(|(name, _)| {
        let f = snapshot.force(name).ok()?;
        Some((name.clone(), Value::Object(f.iter().map(|(k, x)| (k.to_string(), json!(x))).collect())))
    });
    let efforts = model.drives.iter().filter_map(|d| Some((d.name.clone(), json!(snapshot.drive(&d.name).ok()?.effort))));
    let states = model.states.iter().zip(&e.state.z[model.first_state()..]).map(|(s, z)| (s.name.clone(), json!(z)));
    let not_unique: Map<String, Value> = uniqueness::not_unique(model, &e.state).into_iter().map(|(j, c)| (j, json!(c))).collect();
    json!({
        "stability": e.stability().word(), "stable": e.stability() == Stability::Stable, "omega2": e.verdict.omega2,
        "softest": e.verdict.softest, "energy": e.energy, "residual": e.residual, "iterations": e.iterations, "method": e.method,
        "roots": e.verdict.roots, "freedom": e.freedom, "rank": e.rank, "redundant": e.redundant, "idle": e.verdict.idle, "circulatory": e.verdict.circulatory,
        "coordinates": coordinates, "bodies": Map::from_iter(bodies), "reactions": reactions, "reactions_not_unique": not_unique,
        "forces": Map::from_iter(forces), "efforts": Map::from_iter(efforts), "states": Map::from_iter(states),
        "everywhere": e.everywhere, "alike": e.alike, "limits": e.leans, "warnings": e.warnings,
    })
}
