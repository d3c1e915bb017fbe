//! Other ways to assemble the same parts: closed poses with the same driven and held coordinates, found from random starts.
//!
//! Joint coordinates are thrown at random along the spanning tree, which leaves only the loops open, and pulled closed. The result depends
//! on chance, so that the number of starts is reported; a mode that was found is certain.

use super::{Assembled, Bound, Options, assemble, assemble_from, pull, update_turns};
use crate::analysis::independent::{Swept, coordinates, distance, held_rows};
use crate::analysis::rank::{self, Mobility};
use crate::diagnostic::{Diagnostic, number};
use crate::inputs::Plan;
use crate::model::Model;
use crate::random::Random;
use crate::settings::Study;
use crate::state::{Configuration, Pose};
use crate::topology::Topology;
use fourbar_math::so3;
use serde::Serialize;
use std::f64::consts::PI;

/// Poses closer than this fraction of the characteristic length belong to the same mode.
const SAME: f64 = 1e-3;

/// Up to this many bodies other modes are searched for.
const BODIES: usize = 40;
/// Number of random starts: for one body, and at least.
const STARTS: (usize, usize) = (600, 24);
/// Up to this many rows and columns, coordinates that fix the pose are searched for.
const DENSE: usize = 1500;
/// Number of modes listed in the error for an invalid mode number.
const LISTED: usize = 8;

/// A joint coordinate that differs in a mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The joint.
    pub joint: String,
    /// `angle` or `distance`.
    pub what: &'static str,
    /// Its value as drawn.
    pub from: f64,
    /// Its value in the mode; angles within half a turn of the drawn value.
    pub to: f64,
}

/// A way to assemble the mechanism.
#[derive(Clone, Debug)]
pub struct Mode {
    /// The pose; velocities are zero.
    pub configuration: Configuration,
    /// Differences from the drawn mode, largest change first; empty for the drawn one.
    pub changes: Vec<Change>,
    /// The body that is farthest from its drawn pose: name, distance, angle.
    pub farthest: (String, f64, f64),
    /// Whether the drawn pose can move into it; `None` if this was not determined.
    pub reachable: Option<bool>,
    /// How often it was found.
    pub found: usize,
}

/// The modes with the coordinates of `list` as at `at`, which is the first of them.
pub fn modes(model: &Model, topology: &Topology, at: &Configuration, list: &[Swept], starts: usize) -> Vec<Mode> {
    // Held coordinates and start conditions are satisfied at `at`, and therefore in every mode.
    let Bound { held, mut rows, .. } = Bound::new(model, at, true);
    rows.extend(held_rows(model, list, at));
    let mut random = Random(0xa55e_3b1e_5eed_0001);
    let mut found =
        vec![Mode { configuration: at.clone(), changes: Vec::new(), farthest: (String::new(), 0.0, 0.0), reachable: Some(true), found: 0 }];
    for _ in 0..starts {
        if crate::stop::told() {
            break;
        }
        let thrown = throw(model, topology, at, &held, &mut random);
        let mut pulled = pull(model, &rows, &held, &thrown, at);
        if !pulled.closed {
            continue;
        }
        bring_back(model, topology, at, &held, &mut pulled.q);
        match found.iter_mut().find(|m| apart(model, &m.configuration.q, &pulled.q) < SAME * model.length) {
            Some(m) => m.found += 1,
            None => {
                let mut configuration = Configuration { t: at.t, q: pulled.q, v: at.v.clone(), turns: at.turns.clone(), z: at.z.clone() };
                configuration.v.iter_mut().for_each(|v| *v = Default::default());
                update_turns(model, &configuration.q, &mut configuration.turns);
                let farthest = farthest(model, &at.q, &configuration.q);
                found.push(Mode { changes: changes(model, at, &configuration), configuration, farthest, reachable: None, found: 1 });
            }
        }
    }
    found[1..].sort_by(|a, b| {
        // Modes at equal distance stay in the order in which they were found.
        let far = |m: &Mode| (1e6 * distance(model, &m.configuration.q, &at.q) / model.length).round();
        far(a).total_cmp(&far(b))
    });
    found
}

/// Moves every part of the mechanism without connection to the ground as a whole, so that its first body is in its drawn place: the
/// position of a floating part is not an assembly mode.
fn bring_back(model: &Model, topology: &Topology, at: &Configuration, held: &[bool], q: &mut [Pose]) {
    if !model.bare.is_empty() || !model.rolling.is_empty() {
        return;
    }
    for part in topology.components.iter().skip(1) {
        let Some(first) = part.first().map(|b| b.index()) else { continue };
        if part.iter().any(|b| b.index() == 0 || held[b.index()]) {
            continue;
        }
        let (from, to) = (q[first], at.q[first]);
        let R = to.A * from.A.transpose();
        for b in part.iter().map(|b| b.index()) {
            q[b] = Pose { r: to.r + R * (q[b].r - from.r), A: R * q[b].A };
        }
    }
}

/// Largest distance between the joints, named points and centres of mass of two poses. Rotation of a rod about its axis, as permitted by a
/// universal joint, is not another mode.
fn apart(model: &Model, a: &[Pose], b: &[Pose]) -> f64 {
    let joints = model.joints.iter().flat_map(|j| [(j.bodies[0], j.F.s), (j.bodies[1], j.M.s)]);
    let points = model.points.iter().map(|(_, p)| (p.body, p.s));
    let places =
        joints.chain(points).fold(0.0, |far: f64, (body, s)| far.max((a[body.index()].point(&s) - b[body.index()].point(&s)).norm()));
    a.iter().zip(b).fold(places, |far, (a, b)| far.max((a.r - b.r).norm()))
}

/// Random joint coordinates along the tree; held bodies do not move.
fn throw(model: &Model, topology: &Topology, at: &Configuration, held: &[bool], random: &mut Random) -> Vec<Pose> {
    let mut q = at.q.clone();
    for b in topology.components.iter().flatten().map(|b| b.index()) {
        let (Some(k), Some(parent)) = (topology.parent_joint[b], topology.parent[b]) else { continue };
        let j = &model.joints[k];
        let [i, m] = j.bodies.map(|b| b.index());
        // Relative pose of M in F as drawn, then moved along its freedoms.
        let R_f = at.q[i].A * j.F.R;
        let mut p = R_f.tr_mul(&(at.q[m].point(&j.M.s) - at.q[i].point(&j.F.s)));
        let mut R = R_f.tr_mul(&(at.q[m].A * j.M.R));
        for [slide, turn] in j.kind.freedoms(&p, &R) {
            p += slide * (random.number() * model.length);
            R = so3::exp(&(turn * (random.number() * PI))) * R;
        }
        if held[b] {
            continue;
        }
        if parent.index() == i {
            let F = q[i].A * j.F.R;
            let A = F * R * j.M.R.transpose();
            q[b] = Pose { r: q[i].point(&j.F.s) + F * p - A * j.M.s, A };
        } else {
            let A = q[m].A * j.M.R * R.transpose() * j.F.R.transpose();
            q[b] = Pose { r: q[m].point(&j.M.s) - A * (j.F.R * p) - A * j.F.s, A };
        }
    }
    q
}

/// The body with the largest distance between two poses: its name, distance, angle.
pub fn farthest(model: &Model, a: &[Pose], b: &[Pose]) -> (String, f64, f64) {
    let moves = a.iter().zip(b).zip(&model.bodies).map(|((a, b), body)| {
        let d = a.increment_to(b);
        (body.name.clone(), d.v.norm(), d.w.norm())
    });
    moves.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default()
}

fn changes(model: &Model, at: &Configuration, mode: &Configuration) -> Vec<Change> {
    let mut list = Vec::new();
    for j in &model.joints {
        let value = |c: &Configuration, y: &crate::coordinate::Coordinate| {
            let [i, m] = j.bodies.map(|b| &c.q[b.index()]);
            y.value(i, m, &c.turns)
        };
        for (what, y) in j.coordinates() {
            let (from, mut to) = (value(at, &y), value(mode, &y));
            if what == "angle" {
                // Half a turn is always positive, whatever the rounding.
                to -= 2.0 * PI * ((to - from - 1e-6) / (2.0 * PI)).round();
            }
            let scale = if what == "angle" { model.length } else { 1.0 };
            if scale * (to - from).abs() > SAME * model.length {
                list.push((scale * (to - from).abs(), Change { joint: j.name.clone(), what, from, to }));
            }
        }
    }
    // Equal changes stay in the order of the file.
    let size = |x: f64| (1e6 * x / model.length).round();
    list.sort_by(|a, b| size(b.0).total_cmp(&size(a.0)));
    list.into_iter().map(|(_, c)| c).collect()
}

/// How the modes after the drawn one differ from it, `most` of them, each with its number.
pub fn lines(model: &Model, found: &[Mode], most: usize) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for (k, m) in found.iter().enumerate().skip(1).take(most) {
        // As many changes as distinguish it from the previous ones.
        let how = (2..=m.changes.len().max(2)).map(|n| described(m, n)).find(|t| !told.contains(t));
        let how = how.unwrap_or_else(|| {
            // Modes with the same description differ in another body.
            let same = told.iter().rposition(|t| *t == described(m, 2)).map_or(0, |k| k + 1);
            let apart = farthest(model, &found[same].configuration.q, &m.configuration.q);
            format!("as {}, but {}", same + 1, away(&apart))
        });
        lines.push(format!("{}: {how}", k + 1));
        told.push(how);
    }
    lines
}

/// The `n` largest changes of a mode.
fn described(m: &Mode, n: usize) -> String {
    if m.changes.is_empty() {
        return away(&m.farthest);
    }
    let one = |c: &Change| format!("`{}` at {} instead of {}", c.joint, quantity(c.what, c.to), quantity(c.what, c.from));
    m.changes.iter().take(n).map(one).collect::<Vec<_>>().join(", ")
}

/// Description of the body that is farthest away.
fn away((body, distance, angle): &(String, f64, f64)) -> String {
    format!("`{body}` {} m away and turned by {}", number(*distance), quantity("angle", *angle))
}

/// A joint coordinate in degrees or metres. Zeros with errors from rounding or assembly are shown as zero.
pub fn quantity(what: &str, x: f64) -> String {
    match what {
        "angle" => format!("{} deg", degrees(x)),
        _ if x.abs() < 1e-9 => "0 m".into(),
        _ => format!("{} m", number(x)),
    }
}

/// Degrees to a hundredth.
fn degrees(x: f64) -> String {
    let text = format!("{:.2}", x.to_degrees());
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// The coordinates that fix the pose; none in mechanisms too large for a dense search.
pub fn fixing(model: &Model, at: &Configuration, free: &Mobility) -> Vec<Swept> {
    if free.start.rows.max(free.start.columns) <= DENSE { coordinates(model, at, free) } else { Vec::new() }
}

/// Searches for the modes of a mechanism and returns the number of random starts; without loops there is no search and no mode is listed.
/// An error states why there was no search.
pub fn look_for(model: &Model, topology: &Topology, at: &Configuration, list: &[Swept]) -> Result<(Vec<Mode>, usize), String> {
    // Without loops the coordinates determine the pose.
    if topology.loops.is_empty() && model.bare.is_empty() {
        return Ok((Vec::new(), 0));
    }
    if model.moving() > BODIES {
        return Err(format!("{} moving bodies; at most {BODIES}", model.moving()));
    }
    let starts = (STARTS.0 / model.moving().max(1)).clamp(STARTS.1, 120);
    Ok((modes(model, topology, at, list, starts), starts))
}

/// The consistent start in an assembly mode, numbered as listed by [`look_for`]; `None` and 1 are the drawn one. Displacements are measured
/// from the poses in the file. Velocities in the file belong to the drawn mode: in other modes velocities are determined by drives and
/// joints only.
pub fn assemble_in(model: &Model, mode: Option<u16>) -> Result<Assembled, Diagnostic> {
    let drawn = assemble(model)?;
    let Some(k) = mode.filter(|k| *k != 1) else { return Ok(drawn) };
    let at = &drawn.configuration;
    let free = rank::mobility(model, at, false);
    let looked = look_for(model, &Topology::new(model), at, &fixing(model, at, &free));
    let found = looked.as_ref().map_or(&[][..], |(found, _)| found);
    let Some(mode) = usize::from(k).checked_sub(1).and_then(|k| found.get(k)) else {
        let why = match (&looked, found.len()) {
            (Err(why), _) => format!("modes other than the drawn one were not searched for ({why})"),
            (_, 0) => "the mechanism has no loops, so the drawn one is the only one".into(),
            (_, 1) => "none but the drawn one was found".into(),
            (_, n) => format!("{n} were found: 1: as drawn; {}", lines(model, found, LISTED).join("; ")),
        };
        let more = if found.len() > LISTED + 1 { format!("; and {} more", found.len() - LISTED - 1) } else { String::new() };
        return Err(Diagnostic::new("U014", format!("there is no assembly mode {k}: {why}{more}"))
            .help("`fourbar check` describes the assembly modes, `fourbar check --assembly-modes page.html` draws them"));
    };
    let mut a = assemble_from(model, &mode.configuration, Options::default())?;
    let bodies = model.bodies.iter().zip(&a.configuration.q).skip(1);
    for (m, (body, q)) in a.moved.iter_mut().zip(bodies) {
        let d = Pose { r: body.r, A: body.A }.increment_to(q);
        (m.distance, m.angle) = (d.v.norm(), d.w.norm());
    }
    Ok(a)
}

impl Study {
    /// The consistent start of the study: the drawn one, or that of another assembly mode.
    pub fn assemble(&self, model: &Model) -> Result<Assembled, Diagnostic> {
        if model.settle {
            let d = Diagnostic::new("U403", "the mechanism starts from its equilibrium, which has not been computed").at("start");
            return Err(d.help("compute it first: `start_settled` of the crate fourbar-design returns the mechanism in equilibrium"));
        }
        let mut assembled = assemble_in(model, self.mode)?;
        Plan::new(model, &self.inputs)?.begin(&mut assembled.configuration.z);
        Ok(assembled)
    }
}
