//! One self-contained HTML page: motion, plots and diagnosis of one or more results of a mechanism.
//!
//! The page template is built in `viewer/` and embedded here; `viewer/DATA.md` describes the format of its data.

mod animation;
mod diagnosis;
mod difference;
mod gltf;
mod joint_states;
mod live;
mod model;
mod motion;
mod stored;
mod summary;
mod sweep;

pub use crate::results::MODEL;
pub use animation::{Frames, animated_gif, animated_svg, frames, still_png};
pub use gltf::{GltfFile, animated_gltf};
pub use joint_states::joint_states;
pub use live::{LiveFile, has_engine, live_page};
pub use stored::{Stored, read_stored};
pub use summary::{Note, RunSummary};
pub use sweep::{History, history_page, sweep_page};

use crate::results::Table;
use diagnosis::Run;
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use fourbar::event::Action;
use fourbar::events::{Happened, Kind};
use fourbar::model::Model;
use fourbar::topology::Topology;
use fourbar::trajectory::Trajectory;
use motion::Poses;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;

const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));
const TOKEN: &str = "/*FOURBAR_DATA*/";
const ENGINE_TOKEN: &str = "/*FOURBAR_ENGINE*/";
/// Largest number of results of one page.
pub const MOST_RESULTS: usize = 12;

/// A result to show.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// Name of the result.
    pub label: String,
    /// Its rows.
    pub table: &'a Table,
    /// Summary of the run.
    pub summary: &'a RunSummary,
}

/// A page and the warnings of its creation.
#[derive(Clone, Debug)]
pub struct Page {
    /// The text of the file.
    pub html: String,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

impl From<&Trajectory> for Table {
    fn from(t: &Trajectory) -> Self {
        Self {
            names: t.columns.iter().map(|c| c.name.clone()).collect(),
            units: t.columns.iter().map(|c| c.unit.to_string()).collect(),
            columns: t.values.clone(),
        }
    }
}

/// Creates the page of one or more results; the first is shown in full, the others are compared with it. Meshes are read from `folder`, the
/// folder of the model.
pub fn page(model: &Model, folder: Option<&Path>, results: &[Shown<'_>]) -> Result<Page, Diagnostic> {
    let (data, warnings) = data(model, folder, results)?;
    Ok(Page { html: filled(&data, ""), warnings })
}

/// The template with its data and engine.
fn filled(data: &Value, engine: &str) -> String {
    // `<` occurs in strings only; escaped, no text can end the script block.
    let data = data.to_string().replace('<', "\\u003c");
    let (head, rest) = TEMPLATE.split_once(TOKEN).unwrap_or((TEMPLATE, ""));
    let (middle, tail) = rest.split_once(ENGINE_TOKEN).unwrap_or((rest, ""));
    [head, &data, middle, engine, tail].concat()
}

/// The data of a page as `viewer/DATA.md` describes them.
pub fn data(model: &Model, folder: Option<&Path>, results: &[Shown<'_>]) -> Result<(Value, Vec<Diagnostic>), Diagnostic> {
    if results.is_empty() || results.len() > MOST_RESULTS {
        return Err(Diagnostic::new("U013", format!("{} results cannot be shown on one page", results.len()))
            .help(format!("give between 1 and {MOST_RESULTS}")));
    }
    for r in results {
        if r.table.rows() == 0 || r.table.column("t").is_none() {
            return Err(Diagnostic::new("U013", format!("the result `{}` has no rows, or no time", r.label))
                .help("the run may have ended before its first output"));
        }
    }
    let cut = results.iter().map(|r| finite(model, r)).collect::<Result<Vec<_>, _>>()?;
    let results: Vec<Shown<'_>> = results
        .iter()
        .zip(&cut)
        .map(|(r, cut)| cut.as_ref().map_or(r.clone(), |(table, summary)| Shown { label: r.label.clone(), table, summary }))
        .collect();
    let results = results.as_slice();
    let poses = results.iter().map(|r| Poses::find(model, r.table, &r.label)).collect::<Result<Vec<_>, _>>()?;
    let topology = Topology::new(model);
    let labels = labels(results);
    let mut left_out = Vec::new();
    let mut packed = Vec::new();
    for (k, r) in results.iter().enumerate() {
        let mut p = motion::pack(model, r.table, &poses[k], results.len());
        p.value.insert("label".into(), json!(labels[k]));
        p.value.insert("formulation".into(), json!(r.summary.formulation));
        p.value.insert("integrator".into(), json!(r.summary.integrator));
        if !r.summary.events.is_empty() {
            p.value.insert("events".into(), happened(model, until(&r.summary.events, r.table)));
        }
        if k > 0 {
            let bases = p.value["times"].as_array().map_or(0, Vec::len);
            match difference::difference(model, (results[0].table, &poses[0]), (r.table, &poses[k]), bases, results.len() - 1) {
                Some(d) => {
                    if let Some(times) = p.value["times"].as_array_mut() {
                        times.push(d.times);
                    }
                    p.value.insert("difference".into(), json!(d.columns));
                }
                None => p
                    .left_out
                    .push("it has no output times in common with the first result: differences have only the accuracy of this page".into()),
            }
        }
        left_out.push(p.left_out);
        packed.push(Value::Object(p.value));
    }
    let not_unique = results.iter().flat_map(|r| &r.summary.not_unique).map(|(joint, _)| joint.as_str()).collect();
    let mut drawing = model::Drawing::new(folder, not_unique);
    let drawn = drawing.model(model, &topology)?;
    drawing.warnings.extend(unknown_columns(model, results));
    let q = diagnosis::first_poses(model, |b| poses[0].r(b, 0), |b| poses[0].p(b, 0));
    let runs: Vec<Run<'_>> = results
        .iter()
        .enumerate()
        .map(|(k, r)| Run { label: &labels[k], summary: r.summary, table: r.table, left_out: &left_out[k] })
        .collect();
    let value = json!({
        "fourbar": 1,
        "generator": concat!("fourbar ", env!("CARGO_PKG_VERSION")),
        "model": drawn,
        "results": packed,
        "diagnosis": diagnosis::diagnosis(model, &topology, &q, &runs),
    });
    Ok((value, drawing.warnings))
}

/// Events up to the last row of a result.
fn until<'a>(events: &'a [Happened], table: &Table) -> &'a [Happened] {
    let end = table.column("t").and_then(|t| t.last().copied()).unwrap_or(f64::INFINITY);
    &events[..events.iter().take_while(|h| h.t <= end).count()]
}

/// Events in the form listed by pages.
pub fn happened(model: &Model, events: &[Happened]) -> Value {
    let list = events.iter().map(|h| {
        let mut line = json!({"t": h.t, "name": h.name, "kind": h.kind.word()});
        for (key, x) in [("impulse", h.impulse), ("lost", h.lost)] {
            if x != 0.0 && x.is_finite() {
                line[key] = json!(x);
            }
        }
        if h.speed != [0.0; 2] && h.speed.iter().all(|x| x.is_finite()) {
            line["speed"] = json!(h.speed);
        }
        let event = model.events.iter().find(|e| h.kind == Kind::Event && e.name == h.name);
        for (key, name) in event.iter().flat_map(|e| &e.actions).filter_map(|a| changed(model, a)) {
            match line[key].as_array_mut() {
                Some(list) => list.push(json!(name)),
                None => line[key] = json!([name]),
            }
        }
        line
    });
    list.collect()
}

/// Whether a joint is inactive at the start because an event activates it.
fn comes_later(model: &Model, joint: usize) -> bool {
    let puts_in = |a: &Action| matches!(a, Action::Joint(k, true) if *k == joint);
    model.joints[joint].open && model.events.iter().flat_map(|e| &e.actions).any(puts_in)
}

/// Names of joints, drives and forces that are inactive at a time.
fn absent<'a>(model: &'a Model, events: &[Happened], t: f64) -> HashSet<&'a str> {
    let mut out: HashSet<&str> =
        (0..model.joints.len()).filter(|k| comes_later(model, *k)).map(|k| model.joints[k].name.as_str()).collect();
    for h in events.iter().take_while(|h| h.t <= t).filter(|h| h.kind == Kind::Event) {
        let event = model.events.iter().find(|e| e.name == h.name);
        for (key, name) in event.iter().flat_map(|e| &e.actions).filter_map(|a| changed(model, a)) {
            match key {
                "off" => out.insert(name),
                "on" => out.remove(name),
                _ => false,
            };
        }
    }
    out
}

/// The structural change of an action, and the element it changes.
fn changed<'a>(model: &'a Model, action: &Action) -> Option<(&'static str, &'a str)> {
    let switch = |on: bool| if on { "on" } else { "off" };
    Some(match *action {
        Action::Joint(k, on) => (switch(on), &model.joints[k].name),
        Action::Drive(k, on) => (switch(on), &model.drives[k].name),
        Action::Force(k, on) => (switch(on), &model.forces[k].0),
        Action::Lock(k) => ("locked", &model.joints[k].name),
        Action::Release(k) => ("freed", &model.joints[k].name),
        Action::Set(..) | Action::Stop => return None,
    })
}

/// Names in the plots of the file that are not columns of any result. Poses and magnitudes are columns of pages too.
fn unknown_columns(model: &Model, results: &[Shown<'_>]) -> Vec<Diagnostic> {
    let names: Vec<&str> = results.iter().flat_map(|r| r.table.names.iter().map(String::as_str)).collect();
    let has = |name: &str| names.iter().any(|n| *n == name || n.strip_suffix(".x") == Some(name));
    let wanted = model.plots.iter().flat_map(|p| p.y.iter().chain(&p.x));
    wanted
        .filter(|name| !has(name))
        .map(|name| {
            let near = nearest(name, names.iter().copied());
            let help = near.map_or("`fourbar plot RESULT` lists the columns of a result".into(), |n| format!("did you mean `{n}`?"));
            Diagnostic::new("W470", format!("a plot of `view` names `{name}`, which is not a column of the result"))
                .at("view.plots")
                .name(name)
                .help(help)
        })
        .collect()
}

/// The result up to its first invalid pose, if it has one, with a warning.
fn finite(model: &Model, r: &Shown<'_>) -> Result<Option<(Table, RunSummary)>, Diagnostic> {
    let poses = Poses::find(model, r.table, &r.label)?;
    let (rows, Some(body)) = poses.sound_rows(r.table.rows()) else { return Ok(None) };
    let body = model.bodies.get(body + 1).map_or("a body", |b| b.name.as_str());
    let time = r.table.column("t").map_or(0.0, |t| t[rows]);
    let message = format!(
        "from t = {time:.6} s on the result has no pose of `{body}`: values that are not numbers, or a quaternion that is not of unit length; later rows are not shown"
    );
    if rows == 0 {
        let message = format!(
            "the result `{}` has no pose of `{body}` at its start: values that are not numbers, or a quaternion that is not of unit length",
            r.label
        );
        return Err(Diagnostic::new("U013", message)
            .name(body)
            .help("the run failed at its start, or its rows were changed: run it again"));
    }
    let mut table = r.table.clone();
    table.columns.iter_mut().for_each(|c| c.truncate(rows));
    let mut summary = r.summary.clone();
    summary.notes.push(Note::from(&Diagnostic::new("W081", message).name(body).time(time).help("try a smaller step or tolerance")));
    Ok(Some((table, summary)))
}

/// Labels, made unique.
fn labels(results: &[Shown<'_>]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for r in results {
        let mut label = r.label.clone();
        let mut k = 2;
        while out.contains(&label) {
            label = format!("{} ({k})", r.label);
            k += 1;
        }
        out.push(label);
    }
    out
}
