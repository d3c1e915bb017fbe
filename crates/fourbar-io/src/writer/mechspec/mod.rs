//! A mechanism as a MechSpec file [Pryce20, Figs. 3 and 5].
//!
//! Joints become shared points and vectors: only what these can express is written, everything else is rejected by name. Poses and
//! velocities are those of the points and vectors. Elements beyond the paper (forces, actuators, damping) use our additions.

mod forces;
mod items;

use super::yaml::{Group, items as list_of, list, quoted};
use crate::file::{ReadOptions, read_model};
use fourbar::expr::number;
use fourbar::model::{BodyId, Model};
use fourbar::spec::*;
use fourbar::topology::Topology;
use fourbar::{Diagnostic, Error};
use items::{Frame, Items};
use nalgebra::Vector3;

type V = Vector3<f64>;

/// State while the file is written.
struct Writer<'a> {
    spec: &'a ModelSpec,
    /// The mechanism without the mass of springs, which would appear as bodies.
    model: Model,
    /// Whether it is written in the plane.
    plane: bool,
    items: Items,
    /// Bodies that are written as particles.
    particle: Vec<bool>,
    collinear: Vec<String>,
    springs: Vec<(String, String)>,
    applied: Vec<(String, String)>,
    actuators: Vec<(String, String)>,
    rayleigh_lengths: Vec<(String, String)>,
    rayleigh_angles: Vec<(String, String)>,
    refused: Vec<Diagnostic>,
    notes: Vec<Diagnostic>,
}

/// The text of a MechSpec file with notes on omissions, or an error with the elements that it cannot express.
pub fn write_mechspec(spec: &ModelSpec) -> Result<(String, Vec<Diagnostic>), Error> {
    // In the model the mass of a spring becomes bodies; here it stays with the spring.
    let mut light = spec.clone();
    for (_, f) in &mut light.forces {
        if let ForceSpec::Spring(SpringSpec { mass, .. }) = f {
            *mass = 0.0;
        }
    }
    let model = light.build()?;
    let mut w = Writer {
        plane: is_plane(spec, &model),
        spec,
        model,
        items: Items::default(),
        particle: Vec::new(),
        collinear: Vec::new(),
        springs: Vec::new(),
        applied: Vec::new(),
        actuators: Vec::new(),
        rayleigh_lengths: Vec::new(),
        rayleigh_angles: Vec::new(),
        refused: Vec::new(),
        notes: Vec::new(),
    };
    w.lone_particles();
    w.joints();
    w.places();
    let frames = w.frames();
    w.drives(&frames);
    w.forces(&frames);
    w.no_auxiliaries();
    for (name, _) in &spec.tables {
        w.refuse("tables", name, "a table", "keep it in the format of this program");
    }
    for (name, _) in &spec.outputs {
        w.note(format!("MechSpec has no outputs: `{name}` is omitted"), "keep the original file");
    }
    for name in spec.paths.iter().map(|p| &p.0).chain(spec.motors.iter().map(|m| &m.0)) {
        w.note(format!("MechSpec has no paths and no motors: `{name}` is omitted"), "keep the original file");
    }
    let text = w.text(&frames);
    if let Some(refused) = Error::of(w.refused) {
        return Err(refused);
    }
    // Verifies that the reader accepts the written file.
    match read_model(&text, &ReadOptions::default()) {
        Ok(_) => Ok((text, w.notes)),
        Err(problem) => {
            let message = format!("the mechanism cannot be expressed in MechSpec: {}", problem.cause().message);
            Err(Diagnostic::new("M065", message).help("keep it in the format of this program").into())
        }
    }
}

/// Whether the mechanism moves in one plane normal to z.
fn is_plane(spec: &ModelSpec, model: &Model) -> bool {
    let Some(n) = Topology::new(model).planar else { return false };
    let flat = |x: f64| x.abs() < 1e-9 * model.length;
    let level = model.bodies.get(1).map_or(0.0, |b| b.r.z);
    let bodies = model
        .bodies
        .iter()
        .skip(1)
        .all(|b| flat(b.r.z - level) && (b.A.m33 - 1.0).abs() < 1e-12 && b.v.z == 0.0 && b.omega.xy().norm() == 0.0);
    let joints = model.joints.iter().all(|j| {
        let p = &model.bodies[j.bodies[1].index()];
        flat((p.r + p.A * j.M.s).z - level)
    });
    let points = model.points.iter().all(|(_, p)| flat((model.bodies[p.body.index()].r + model.bodies[p.body.index()].A * p.s).z - level));
    let zero = |e: &StateExpr| e.expr == fourbar::expr::Expr::constant(0.0);
    let forces = spec.forces.iter().zip(&model.forces).all(|((_, s), (_, f))| match (s, f) {
        (ForceSpec::Force(PointForceSpec { force, .. }), _) => zero(&force[2]),
        (ForceSpec::Torque(TorqueSpec { torque, .. }), _) => zero(&torque[0]) && zero(&torque[1]),
        (_, fourbar::force::Force::Spring(fourbar::force::Spring { between, .. })) => {
            between.iter().all(|p| flat((model.bodies[p.body.index()].r + model.bodies[p.body.index()].A * p.s).z - level))
        }
        _ => true,
    });
    n.x == 0.0 && n.y == 0.0 && level == 0.0 && bodies && joints && points && forces && model.gravity.z == 0.0
}

impl Writer<'_> {
    fn refuse(&mut self, section: &str, name: &str, what: &str, help: &str) {
        let d = Diagnostic::new("M065", format!("MechSpec cannot express `{name}`, {what}")).at(format!("{section}.{name}")).name(name);
        self.refused.push(d.help(help));
    }

    fn note(&mut self, message: String, help: &str) {
        self.notes.push(Diagnostic::new("W061", message).help(help));
    }

    fn dimension(&self) -> usize {
        if self.plane { 2 } else { 3 }
    }

    /// Coordinates without trailing zeros.
    fn padded(&self, x: &V) -> String {
        let mut end = self.dimension();
        while end > 1 && x[end - 1] == 0.0 {
            end -= 1;
        }
        list(&x.as_slice()[..end])
    }

    fn full(&self, x: &V) -> String {
        list(&x.as_slice()[..self.dimension()])
    }

    fn world(&self, body: usize, s: &V) -> V {
        let b = &self.model.bodies[body];
        b.r + b.A * s
    }

    /// Points that are only reported, or used by springs, forces and conditions.
    fn places(&mut self) {
        let named: Vec<_> = self.model.points.iter().map(|(n, p)| (n.clone(), p.body.index(), p.s)).collect();
        for (name, body, s) in named {
            let at = self.world(body, &s);
            let k = self.items.point(&[(body, s)], at);
            self.items.call(k, &name);
        }
        self.points_of_elements();
        let renamed: Vec<String> = self
            .spec
            .points
            .iter()
            .map(|p| p.0.clone())
            .filter(|n| self.items.named(n).is_some_and(|k| self.items.name(k) != *n))
            .collect();
        if !renamed.is_empty() {
            let some: Vec<String> = renamed.iter().take(5).map(|n| format!("`{n}`")).collect();
            let help = "a point of a MechSpec is a capital letter with digits";
            self.note(format!("points {} get other names", some.join(", ")), help);
        }
    }

    fn text(&mut self, frames: &[Option<Frame>]) -> String {
        let mut text = String::new();
        if !self.spec.title.is_empty() {
            text += &format!("Title: {}\n", quoted(&self.spec.title));
        }
        text += &format!("Dimension: {}\nPartData:\n", self.dimension());
        let fixed: Vec<usize> = (0..self.items.len()).filter(|k| self.items.local(*k, 0).is_some()).collect();
        if !fixed.is_empty() {
            text += "  Fixed:\n";
            for k in &fixed {
                text += &format!("    {}: {}\n", self.items.name(*k), self.padded(&clean(self.items.world(*k))));
            }
        }
        let (mut rigids, mut particles) = (String::new(), String::new());
        for (b, frame) in frames.iter().enumerate().skip(1) {
            let body = &self.model.bodies[b];
            let Some(frame) = frame else { continue };
            if frame.particle {
                particles += &format!("    {}: {}\n", frame.key, number(body.mass));
                continue;
            }
            let geom = list_of(frame.items[1..].iter().map(|k| self.padded(&frame.coordinates(&self.items, b, *k))));
            let com = self.padded(&clean(frame.q.transpose() * -frame.origin));
            let j = frame.q.transpose() * body.J_bar * frame.q;
            let small = 1e-13 * j.amax();
            let inertia = if j.amax() == 0.0 {
                "0".to_string()
            } else if self.plane {
                number(j.m33)
            } else if j.m12.abs().max(j.m13.abs()).max(j.m23.abs()) <= small {
                list(&[j.m11, j.m22, j.m33])
            } else {
                list(&[j.m11, j.m22, j.m33, j.m12, j.m13, j.m23])
            };
            let mut g = Group::default();
            if body.name != frame.key {
                g.put("Name", &body.name);
            }
            g.put("Geom", geom).put("Dyna", list_of([com, number(body.mass), inertia]));
            rigids += &format!("    {}: {}\n", frame.key, g.line());
        }
        for (key, lines) in [("Rigids", rigids), ("Particles", particles)] {
            if !lines.is_empty() {
                text += &format!("  {key}:\n{lines}");
            }
        }
        text += &section("  Springs", "    ", &self.springs);
        if !self.collinear.is_empty() {
            text += &format!("  Collinears: {{{}}}\n", self.collinear.join(", "));
        }
        text += "AppliedForces:\n";
        let g = self.model.gravity;
        text += &format!("  Gravity: {}\n", self.full(&g));
        text += &section("  Forces", "    ", &self.applied);
        text += &section("  Actuators", "    ", &self.actuators);
        if !(self.rayleigh_lengths.is_empty() && self.rayleigh_angles.is_empty()) {
            text += "  Rayleigh:\n";
            text += &section("    Lengths", "      ", &self.rayleigh_lengths);
            text += &section("    Angles", "      ", &self.rayleigh_angles);
        }
        text + &self.problem_data(frames)
    }

    fn problem_data(&mut self, frames: &[Option<Frame>]) -> String {
        let study = &self.spec.study;
        let mut text = format!("ProblemData:\n  t0: 0\n  tend: {}\n", number(study.t_end));
        for (key, x) in [("tol", study.tol), ("output_step", study.output_step)] {
            if let Some(x) = x {
                text += &format!("  {key}: {}\n", number(x));
            }
        }
        let lost = [
            study.analysis.is_some(),
            study.formulation.is_some(),
            study.integrator.is_some(),
            study.step.is_some(),
            !study.options.is_empty(),
        ];
        if lost.contains(&true) {
            self.note(
                "analysis, formulation, integrator, step and options of the study are omitted".into(),
                "give them on the command line",
            );
        }
        if self.spec.bodies.iter().any(|b| !b.1.shapes.is_empty()) {
            self.note("shapes are omitted".into(), "pictures are made from the joints");
        }
        let (held, values) = self.conditions(frames);
        let (mut positions, mut velocities) = (String::new(), String::new());
        let moving = self.model.bodies.iter().any(|b| b.v.norm() + b.omega.norm() > 0.0) || !held[1].is_empty();
        for k in (0..self.items.len()).filter(|k| self.items.local(*k, 0).is_none()) {
            let Some((body, s)) = self.items.home(k) else { continue };
            let b = &self.model.bodies[body];
            let mut x = self.items.world(k);
            let arm = b.A * s;
            let mut v = if self.items.is_vector(k) { b.omega.cross(&arm) } else { b.v + b.omega.cross(&arm) };
            for (_, axis, rate, value) in values.iter().filter(|(item, ..)| *item == k) {
                if *rate { v[*axis] = *value } else { x[*axis] = *value }
            }
            positions += &format!("    {}: {}\n", self.items.name(k), self.full(&clean(x)));
            velocities += &format!("    {}: {}\n", self.items.name(k), self.full(&clean(v)));
        }
        let sets = ["fixedpositions", "fixedvelocities"];
        for (half, (key, lines)) in [("positions", positions), ("velocities", velocities)].into_iter().enumerate() {
            if lines.is_empty() || (half == 1 && !moving) {
                continue;
            }
            text += &format!("  {key}:\n{lines}");
            if !held[half].is_empty() {
                text += &format!("  {}: {{{}}}\n", sets[half], held[half].join(", "));
            }
        }
        text
    }

    /// Conditions of the assembly: names for the two sets, and the prescribed values.
    #[allow(clippy::type_complexity)]
    fn conditions(&mut self, frames: &[Option<Frame>]) -> ([Vec<String>; 2], Vec<(usize, usize, bool, f64)>) {
        let mut held: [Vec<String>; 2] = Default::default();
        let mut values = Vec::new();
        let spec = self.spec;
        for (variable, value) in &spec.start {
            let (point, axis, rate) = match variable {
                StateVariable::PointPosition(p, k) => (p, *k, false),
                StateVariable::PointVelocity(p, k) => (p, *k, true),
                _ => {
                    self.refuse("start", &variable.to_string(), "a condition on a joint", "give it for a point: `tip.x`, `tip.vx`");
                    continue;
                }
            };
            if let Some(k) = self.items.named(point).filter(|_| axis < self.dimension()) {
                held[usize::from(rate)].push(format!("{}{}", self.items.name(k), ["x", "y", "z"][axis.min(2)]));
                values.push((k, axis, rate, *value));
            }
        }
        for half in &mut held {
            whole(half, self.dimension());
        }
        for hold in &spec.hold {
            let Some(b) = self.model.bodies.iter().position(|b| b.name == *hold) else {
                self.note(format!("the condition that assembly holds joint `{hold}` is omitted"), "points can be held: `fixedpositions`");
                continue;
            };
            for &k in frames[b].iter().flat_map(|f| &f.items) {
                if !self.items.is_vector(k) && self.items.local(k, 0).is_none() {
                    let name = self.items.name(k);
                    if !held[0].contains(&name) {
                        held.iter_mut().for_each(|h| h.push(name.clone()));
                    }
                }
            }
        }
        (held, values)
    }
}

fn section(key: &str, indent: &str, entries: &[(String, String)]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let lines: String = entries.iter().map(|(k, v)| format!("{indent}{k}: {v}\n")).collect();
    format!("{key}:\n{lines}")
}

/// Replaces all components of a point together by the point.
fn whole(names: &mut Vec<String>, dimension: usize) {
    let stem = |n: &str| n[..n.len().saturating_sub(1)].to_string();
    let mut k = 0;
    while k < names.len() {
        let of = stem(&names[k]);
        let parts: Vec<usize> = (0..names.len()).filter(|i| stem(&names[*i]) == of).collect();
        if parts.len() == dimension {
            for i in parts.into_iter().rev() {
                names.remove(i);
            }
            names.insert(k.min(names.len()), of);
        }
        k += 1;
    }
}

/// Removes rounding errors in the last digits.
fn clean(x: V) -> V {
    let small = 1e-15 * (1.0 + x.amax());
    x.map(|x| if x.abs() < small { 0.0 } else { x })
}

/// The name of a body in MechSpec.
fn part_name(frames: &[Option<Frame>], body: BodyId) -> String {
    frames.get(body.index()).and_then(|f| f.as_ref()).map_or("ground".into(), |f| f.key.clone())
}
