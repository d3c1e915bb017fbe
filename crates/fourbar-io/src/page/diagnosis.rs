//! The diagnosis panel: text descriptions of the mechanism and of the run.

use super::summary::RunSummary;
use crate::results::{Table, work_words};
use fourbar::analysis::rank;
use fourbar::analysis::redundancy::{around, redundancy};
use fourbar::model::Model;
use fourbar::state::{Configuration, Pose, Twist};
use fourbar::study::count;
use fourbar::topology::Topology;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::{Value, json};

/// Number of entries that are listed; further ones are only counted.
const SHOWN: usize = 12;
/// Largest number of bodies for which the rank is computed here; beyond it, the number of redundant rows reported by the run is used.
const EXAMINED: usize = 150;

/// A section of the panel.
#[derive(Default)]
pub struct Section {
    title: &'static str,
    lines: Vec<Value>,
}

impl Section {
    fn new(title: &'static str) -> Self {
        Self { title, lines: Vec::new() }
    }

    fn add(&mut self, level: &str, text: impl Into<String>) {
        self.lines.push(json!({"text": text.into(), "level": level}));
    }

    fn with_names(&mut self, level: &str, text: impl Into<String>, names: &[String]) {
        self.lines.push(json!({"text": text.into(), "level": level, "names": names.iter().take(SHOWN).collect::<Vec<_>>()}));
    }

    fn more(&mut self, all: usize, what: &str) {
        if all > SHOWN {
            self.add("info", format!("and {}", count(all - SHOWN, &format!("more {what}"))));
        }
    }

    fn value(self) -> Option<Value> {
        (!self.lines.is_empty()).then(|| json!({"title": self.title, "lines": self.lines}))
    }
}

/// A result as input of the panel.
pub struct Run<'a> {
    /// Name of the result.
    pub label: &'a str,
    /// Summary of the run.
    pub summary: &'a RunSummary,
    /// Its rows.
    pub table: &'a Table,
    /// Contents of the result that the page omits.
    pub left_out: &'a [String],
}

/// All sections. `q` are the initial poses, ground first.
pub fn diagnosis(model: &Model, topology: &Topology, q: &[Pose], runs: &[Run<'_>]) -> Vec<Value> {
    let start = Configuration {
        t: 0.0,
        q: q.to_vec(),
        v: vec![Twist::zero(); q.len()],
        turns: vec![0.0; model.angles.len()],
        z: model.start_auxiliaries(),
    };
    let mut first = mechanism(model, topology);
    let mut sections = if model.moving() <= EXAMINED {
        let free = rank::mobility(model, &start, false);
        mobility(&mut first, model, &start, &free);
        vec![first, redundant(model, topology, q, free.start.redundant())]
    } else {
        counted(&mut first, model, runs);
        vec![first]
    };
    let mut modes = Section::new("Other ways to assemble it");
    runs.iter().flat_map(|r| &r.summary.modes).for_each(|line| modes.add("info", line.replace('`', "")));
    sections.insert(0, modes);
    for (kind, list) in [("unique", runs), ("singular", runs), ("work", runs), ("warnings", runs), ("page", runs)] {
        sections.push(summary(kind, model, list));
    }
    sections.into_iter().filter_map(Section::value).collect()
}

/// Poses of all bodies at the first row.
pub fn first_poses(model: &Model, r: impl Fn(usize) -> [f64; 3], p: impl Fn(usize) -> [f64; 4]) -> Vec<Pose> {
    let moving = (1..model.bodies.len()).map(|b| {
        let [w, x, y, z] = p(b - 1);
        Pose {
            r: Vector3::from(r(b - 1)),
            A: UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)).to_rotation_matrix().into_inner(),
        }
    });
    std::iter::once(Pose::identity()).chain(moving).collect()
}

fn mechanism(model: &Model, topology: &Topology) -> Section {
    let mut s = Section::new("Mechanism");
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    let names = model.joints.iter().map(|j| j.kind.name()).chain(model.couplings.iter().map(|c| c.kind));
    for name in names {
        match kinds.iter_mut().find(|(k, _)| *k == name) {
            Some((_, n)) => *n += 1,
            None => kinds.push((name, 1)),
        }
    }
    let list = kinds.iter().map(|(k, n)| format!("{n} {k}")).collect::<Vec<_>>().join(", ");
    let joints = model.joints.len() + model.couplings.len();
    let bodies = if model.moving() == 1 { "1 body".to_string() } else { format!("{} bodies", model.moving()) };
    let joints = if joints == 0 { "no joints".to_string() } else { format!("{} ({list})", count(joints, "joint")) };
    s.add("info", format!("{bodies}, {joints}"));
    let others: Vec<String> = [
        (model.drives.len(), "drive"),
        (model.forces.len(), "force"),
        (model.bare.len(), "bare constraint"),
        (model.points.len(), "point"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| count(n, what))
    .collect();
    if !others.is_empty() {
        s.add("info", others.join(", "));
    }
    s.add(
        "info",
        match (topology.planar, super::model::plane(model, topology)) {
            (Some(_), _) => "The motion is planar: all joints keep one plane.",
            (None, Some(_)) => "The motion is planar: joints that keep one plane connect all bodies.",
            (None, None) => "The motion is spatial.",
        },
    );
    if topology.loops.is_empty() {
        s.add("info", "No closed loop.");
    } else {
        s.add("info", format!("{}:", count(topology.loops.len(), "independent closed loop")));
        for l in topology.loops.iter().take(SHOWN) {
            let names: Vec<String> = around(l).into_iter().map(|k| model.joints[k].name.clone()).collect();
            s.with_names("info", format!("loop of {}", spoken(&names)), &names);
        }
        s.more(topology.loops.len(), "loop");
    }
    for group in topology.components.iter().skip(1).take(SHOWN) {
        let names: Vec<String> = group.iter().map(|b| model.body_name(*b).to_string()).collect();
        s.with_names("info", format!("not joined to the ground: {}", spoken(&names)), &names);
    }
    s
}

fn mobility(s: &mut Section, model: &Model, start: &Configuration, m: &rank::Mobility) {
    s.add("info", format!("Mobility by count: {} ({} freedoms, {} constraint rows).", m.by_count, m.start.columns, m.start.rows));
    let level = if m.by_count == m.start.mobility() as i64 { "good" } else { "info" };
    s.add(level, format!("Mobility by rank: {} (rank {}).", m.start.mobility(), m.start.rank));
    if m.singular_start {
        s.add("warn", format!("The start is a singular position: nearby the mobility is {}.", m.generic.mobility()));
    }
    if !model.drives.is_empty() {
        let left = rank::mobility(model, start, true).generic.mobility();
        s.add(
            "info",
            if left == 0 {
                "The drives prescribe the whole motion.".into()
            } else {
                format!("The drives leave {} free.", count(left, "motion"))
            },
        );
    }
}

/// Mobility of a large mechanism, including drives, from the counts of the run.
fn counted(s: &mut Section, model: &Model, runs: &[Run<'_>]) {
    let Some([rows, redundant]) = runs.iter().find_map(|r| r.summary.rows) else { return };
    let freedoms = 6 * model.moving();
    let drives = if model.drives.is_empty() { "" } else { ", drives included" };
    s.add("info", format!("Mobility by count: {} ({freedoms} freedoms, {rows} constraint rows{drives}).", freedoms as i64 - rows as i64));
    let rank = rows.saturating_sub(redundant);
    s.add("info", format!("Mobility by rank: {} (rank {rank}, {}).", freedoms.saturating_sub(rank), count(redundant, "redundant row")));
}

fn redundant(model: &Model, topology: &Topology, q: &[Pose], total: usize) -> Section {
    let mut s = Section::new("Redundant constraints");
    if total == 0 {
        s.add("good", "None: every constraint row is needed.");
        return s;
    }
    let r = redundancy(model, topology, q, total);
    s.add("info", format!("{}; the motion is well defined, some reactions are not.", count(total, "redundant constraint row")));
    for set in r.sets.iter().take(SHOWN) {
        let place = if set.single_loop { "in the loop of" } else { "among" };
        s.with_names("info", format!("{} {place} {}", count(set.times, "redundant constraint"), spoken(&set.names)), &set.names);
    }
    s.more(r.sets.len(), "set");
    if r.unexplained > 0 {
        s.add("info", format!("{} depend on each other across several loops.", count(r.unexplained, "row")));
    }
    s
}

/// A section for all results; if there are several, each line names its result.
fn summary(kind: &str, model: &Model, runs: &[Run<'_>]) -> Section {
    let mut s = Section::new(match kind {
        "unique" => "Reactions that are not unique",
        "singular" => "Singular positions met",
        "work" => "Work of the integrator",
        "warnings" => "Warnings",
        _ => "Omitted from this page",
    });
    for run in runs {
        let who = if runs.len() > 1 { format!("{}: ", run.label) } else { String::new() };
        match kind {
            "unique" => not_unique(&mut s, &who, run.summary),
            "singular" => singular(&mut s, &who, run.summary),
            "work" => work(&mut s, &who, run),
            "warnings" => {
                for n in &run.summary.notes {
                    let mut line = json!({"text": format!("{who}{} [{}]", n.text, n.code), "level": "warn", "names": n.names.iter().take(SHOWN).collect::<Vec<_>>()});
                    if let Some(t) = n.time {
                        line["time"] = json!(t);
                    }
                    s.lines.push(line);
                }
            }
            _ => run.left_out.iter().for_each(|line| s.add("info", format!("{who}{line}"))),
        }
    }
    if kind == "warnings" && !model.gravity_given {
        s.add("info", "There is no gravity: the file does not state it.");
    }
    if s.lines.is_empty() && matches!(kind, "singular" | "unique") && runs.iter().any(|r| !r.summary.formulation.is_empty()) {
        s.add("good", if kind == "unique" { "None: all reactions are unique." } else { "None." });
    }
    s
}

fn not_unique(s: &mut Section, who: &str, summary: &RunSummary) {
    if summary.not_unique.is_empty() {
        return;
    }
    s.add("info", format!("{who}These depend on how the parts are made; the smallest possible ones are shown."));
    for (joint, parts) in summary.not_unique.iter().take(SHOWN) {
        s.with_names("info", format!("{who}{joint}: {}", parts.join(", ")), std::slice::from_ref(joint));
    }
    s.more(summary.not_unique.len(), "joint");
}

fn singular(s: &mut Section, who: &str, summary: &RunSummary) {
    for x in summary.singular.iter().take(4 * SHOWN) {
        let text = format!("{who}t = {:.5} s: {} depend on each other", x.time, spoken(&x.joints));
        s.lines.push(json!({"text": text, "level": "warn", "time": x.time, "names": x.joints.iter().take(SHOWN).collect::<Vec<_>>()}));
    }
    if summary.singular.len() > 4 * SHOWN {
        s.add("info", format!("and {}", count(summary.singular.len() - 4 * SHOWN, "more position")));
    }
}

fn work(s: &mut Section, who: &str, run: &Run<'_>) {
    let summary = run.summary;
    if !summary.formulation.is_empty() {
        let how = if summary.analysis == "kinematics" {
            "kinematics: position by Newton, then velocity and acceleration".into()
        } else {
            format!("dynamics: {} with {}", summary.formulation, summary.integrator)
        };
        s.add("info", format!("{who}{how}"));
    }
    let work = work_words(summary.work.iter().map(|(name, n)| (name.as_str(), *n)));
    if !work.is_empty() {
        s.add("info", format!("{who}{work}"));
    }
    let largest = |name: &str| run.table.column(name).and_then(|c| c.iter().copied().filter(|x| x.is_finite()).reduce(f64::max));
    if let (Some(p), Some(v), Some(a)) = (largest("error.position"), largest("error.velocity"), largest("error.acceleration")) {
        s.add("info", format!("{who}constraint errors at most {p:.1e} m, {v:.1e} m/s, {a:.1e} m/s^2"));
    }
    if let Some(e) = run.table.column("energy.total").filter(|e| e.len() > 1) {
        s.add("info", format!("{who}total energy {} J at the start, {} J at the end", short(e[0]), short(e[e.len() - 1])));
    }
}

/// A number with six significant digits.
fn short(x: f64) -> String {
    if x != 0.0 && !(1e-3..1e6).contains(&x.abs()) {
        return format!("{x:.4e}");
    }
    let text = format!("{x:.6}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

fn spoken(names: &[String]) -> String {
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}
