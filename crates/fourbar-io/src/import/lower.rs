//! From a [`Draft`] to a [`ModelSpec`]: welded links are merged to one body, massless links get a small mass, names become unique, joints
//! and efforts are converted.

mod drawn;
mod forces;
mod rotors;

use super::draft::*;
use super::reading::{Reading, Spot};
use crate::places::Spots;
use drawn::coordinate;
use fourbar::Diagnostic;
use fourbar::analysis::assembly::assemble;
use fourbar::diagnostic::number;
use fourbar::event::Bounded;
use fourbar::expr::Expr;
use fourbar::model::JointCoordinate;
use fourbar::spec::*;
use fourbar::state::Configuration;
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use std::collections::{HashMap, HashSet};

/// Mass of a massless link as a fraction of the total mass.
const LITTLE: f64 = 1e-6;
/// Smallest inertia per unit mass of an extended body, m^2: below it the radius of gyration is less than a ten-millionth of a metre.
const POINT: f64 = 1e-14;
/// Tolerance of a start beyond a limit, relative to the characteristic length, or in rad.
const INSIDE: f64 = 1e-7;
/// Limits of at least this size mean "none", rad or m: formats that require a number have a large one.
const ENDLESS: f64 = 1e5;
/// Largest number of passes over the couplings.
const ROUNDS: usize = 20;
/// Largest number of names in a note.
const LISTED: usize = 8;

/// A mechanism and the locations of its elements.
pub(crate) struct Lowered {
    pub spec: ModelSpec,
    pub places: Spots,
}

/// Converts a draft to a specification.
pub(crate) fn lower(mut draft: Draft, reading: &Reading<'_>) -> Lowered {
    let mut merged = merge(&mut draft);
    let shifts = count_from_couplings(&mut draft, reading);
    rotors::carry(&mut draft, &mut merged, reading);
    let mut l = Lowering {
        reading,
        taken: ["t", "ground", "energy", "error", "length", "rate", "angle", "pi", "e"].map(String::from).into(),
        next: HashMap::new(),
        renamed: Vec::new(),
        bodies: Vec::new(),
        joints: Vec::new(),
        inputs: Vec::new(),
        states: Vec::new(),
        places: Spots::default(),
        shifts,
        drawn: drawn::stands(&draft),
        size: draft.links.iter().map(|l| l.pose.p.norm()).fold(0.0, f64::max).max(0.1),
        spec: ModelSpec { title: draft.title.clone(), gravity: draft.gravity, ..ModelSpec::default() },
    };
    l.links(&mut draft, &merged);
    l.joints(&draft);
    l.constraints(&draft);
    l.points(&draft, &merged);
    // The parts of bodies take as much memory as the bodies, and forces are not yet converted.
    drop((merged, std::mem::take(&mut draft.links), std::mem::take(&mut draft.points)));
    l.outside(&draft);
    l.forces(&mut draft);
    if let Some([end, step]) = draft.times {
        l.spec.study.t_end = end;
        l.spec.study.output_step = Some(step);
    }
    if !l.drawn {
        l.limits_inside(draft);
    }
    l.say_renamed();
    Lowered { spec: l.spec, places: l.places.sorted() }
}

/// For every link, the link it was merged into and its pose there.
struct Merged(Vec<(usize, Pose)>);

/// Merges welded links into one body, that of the base, with all their elements.
fn merge(draft: &mut Draft) -> Merged {
    let n = draft.links.len();
    let mut over: Vec<usize> = (0..n).collect();
    fn root(over: &mut [usize], mut k: usize) -> usize {
        while over[k] != k {
            over[k] = over[over[k]];
            k = over[k];
        }
        k
    }
    for j in draft.joints.iter().filter(|j| j.kind == Kind::Welded) {
        let [a, b] = j.links.map(|k| root(&mut over, k));
        // Links welded to the ground become part of the ground.
        let (keep, gone) = if b == 0 { (b, a) } else { (a, b) };
        over[gone] = keep;
    }
    let list: Vec<(usize, Pose)> = (0..n)
        .map(|k| {
            let to = root(&mut over, k);
            let pose = if to == k { Pose::IDENTITY } else { draft.links[to].pose.inverse().then(&draft.links[k].pose) };
            (to, pose)
        })
        .collect();
    for k in 1..n {
        let (to, pose) = &list[k];
        if *to == k {
            continue;
        }
        let (body, shapes) = (draft.links[k].body, std::mem::take(&mut draft.links[k].shapes));
        if *to != 0 {
            draft.links[*to].body = draft.links[*to].body.with(&body.moved(pose));
        }
        draft.links[*to].shapes.extend(shapes.iter().map(|s| moved(s, pose)));
    }
    draft.joints.iter_mut().for_each(|j| {
        for k in 0..2 {
            let (to, pose) = &list[j.links[k]];
            j.links[k] = *to;
            if *pose != Pose::IDENTITY {
                j.frames[k] = pose.then(&j.frames[k]);
            }
        }
    });
    for p in &mut draft.points {
        let (to, pose) = &list[p.link];
        p.at = pose.point(&p.at);
        p.link = *to;
    }
    for e in &mut draft.efforts {
        match &mut e.acts {
            Acts::Joint(..) => {}
            Acts::Link(link, at, force, torque) => {
                let (to, pose) = &list[*link];
                *at = pose.point(&Vector3::from(*at)).into();
                *force = turned(pose, force);
                *torque = turned(pose, torque);
                *link = *to;
            }
            Acts::Spring(links, at, _) => {
                for k in 0..2 {
                    let (to, pose) = &list[links[k]];
                    at[k] = pose.point(&Vector3::from(at[k])).into();
                    links[k] = *to;
                }
            }
        }
    }
    Merged(list)
}

/// Gears have no offset between coordinates. If the source has one, the coordinate of the second joint, its limits and springs are shifted
/// by it; the shift is applied again wherever the source uses the coordinate.
fn count_from_couplings(draft: &mut Draft, reading: &Reading<'_>) -> HashMap<usize, f64> {
    let mut shifts: HashMap<usize, f64> = HashMap::new();
    // The second joint may be the first of another coupling.
    for _ in 0..ROUNDS {
        let mut changed = false;
        for k in 0..draft.couplings.len() {
            let c = &draft.couplings[k];
            let [a, b] = c.joints;
            let [Some(first), Some(second)] = [a, b].map(|j| coordinate(draft, &draft.joints[j])) else { continue };
            let offset = second - c.ratio * first;
            if offset.abs() <= 1e-12 {
                continue;
            }
            changed = true;
            let j = &mut draft.joints[b];
            j.frames[0] = j.step(offset).map_or(j.frames[0], |step| j.frames[0].then(&step));
            j.limits = j.limits.map(|l| l.map(|x| x - offset));
            j.passive.rest -= offset;
            *shifts.entry(b).or_default() += offset;
        }
        if !changed {
            break;
        }
    }
    for d in &mut draft.drives {
        if let Some(shift) = shifts.get(&d.joint)
            && matches!(d.quantity, DriveQuantity::Angle | DriveQuantity::Distance)
        {
            d.formula = format!("({})-({shift:?})", d.formula);
        }
    }
    let mut list: Vec<_> = shifts.iter().collect();
    list.sort_by_key(|(k, _)| **k);
    for (k, shift) in list {
        let j = &draft.joints[*k];
        let unit = if j.turns() == Some(false) { "m" } else { "rad" };
        let message =
            format!("the coordinate of `{}` is measured from {} {unit} of the file, where its coupling is zero", j.name, number(*shift));
        reading.note(Diagnostic::new("W457", message).name(&j.name), j.spot);
    }
    shifts
}

/// Components of a vector of formulas in the frame at `pose`.
fn turned(pose: &Pose, v: &[String; 3]) -> [String; 3] {
    if pose.R == Matrix3::identity() {
        return v.clone();
    }
    [0, 1, 2].map(|i| {
        let terms: Vec<String> =
            (0..3).filter(|k| v[*k] != "0" && pose.R[(i, *k)] != 0.0).map(|k| format!("({:?})*({})", pose.R[(i, k)], v[k])).collect();
        if terms.is_empty() { "0".into() } else { terms.join("+") }
    })
}

/// A shape in the frame in which it is at `pose`.
pub(crate) fn moved(shape: &Shape, pose: &Pose) -> Shape {
    let point = |x: &V3| -> V3 { pose.point(&Vector3::from(*x)).into() };
    match shape {
        Shape::Box { size, at } if pose.R == Matrix3::identity() => Shape::Box { size: *size, at: point(at) },
        Shape::Box { size, at } => {
            // A rotated box becomes a thick plate.
            let corner = |x: f64, y: f64| point(&[at[0] + x * size[0] / 2.0, at[1] + y * size[1] / 2.0, at[2]]);
            let points = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            Shape::Plate { points, thickness: size[2] }
        }
        Shape::Cylinder { from, to, radius } => Shape::Cylinder { from: point(from), to: point(to), radius: *radius },
        Shape::Rod { from, to, radius } => Shape::Rod { from: point(from), to: point(to), radius: *radius },
        Shape::Sphere { at, radius } => Shape::Sphere { at: point(at), radius: *radius },
        Shape::Plate { points, thickness } => Shape::Plate { points: points.iter().map(point).collect(), thickness: *thickness },
        Shape::Mesh { file, scale, at, orientation: o } => {
            let inner = Pose { p: Vector3::from(*at), R: o.matrix().unwrap_or_else(Matrix3::identity) };
            let pose = pose.then(&inner);
            Shape::Mesh { file: file.clone(), scale: *scale, at: pose.p.into(), orientation: orientation(&pose.R) }
        }
    }
}

/// A rotation in the form of the file.
pub(crate) fn orientation(R: &Matrix3<f64>) -> Orientation {
    if (R - Matrix3::identity()).amax() == 0.0 {
        return Orientation::World;
    }
    let q = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(*R));
    let side = if q.w < 0.0 { -1.0 } else { 1.0 };
    // Minus zero becomes zero.
    Orientation::Quaternion([q.w, q.i, q.j, q.k].map(|x| side * x + 0.0))
}

struct Lowering<'r, 'a> {
    reading: &'r Reading<'a>,
    taken: HashSet<String>,
    /// The next number for names that are already taken.
    next: HashMap<String, usize>,
    /// Old and new names.
    renamed: Vec<(String, String)>,
    /// Names by index in the draft; empty if a link was merged into another.
    bodies: Vec<String>,
    joints: Vec<String>,
    inputs: Vec<String>,
    states: Vec<String>,
    places: Spots,
    /// Nonzero offsets of the coordinates of the source from those of the specification, by joint.
    shifts: HashMap<usize, f64>,
    /// Whether the mechanism starts as drawn.
    drawn: bool,
    /// Largest distance of a link from the origin, m.
    size: f64,
    spec: ModelSpec,
}

impl Lowering<'_, '_> {
    /// A unique and valid name.
    fn name(&mut self, section: &str, wanted: &str, suffix: &str, spot: Spot) -> String {
        let mut name: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect();
        name.truncate(80);
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, '_');
        }
        if self.taken.contains(&name) {
            name = format!("{name}_{suffix}");
        }
        if self.taken.contains(&name) {
            let next = self.next.entry(name.clone()).or_insert(2);
            name = loop {
                let free = format!("{name}_{next}");
                *next += 1;
                if !self.taken.contains(&free) {
                    break free;
                }
            };
        }
        self.taken.insert(name.clone());
        self.places.add(section, &name, spot.file, spot.span);
        if name != wanted && !wanted.is_empty() {
            self.renamed.push((wanted.into(), name.clone()));
        }
        name
    }

    fn say_renamed(&self) {
        let list: Vec<String> = self.renamed.iter().take(LISTED).map(|(a, b)| format!("`{a}` is now `{b}`")).collect();
        let more = self.renamed.len().saturating_sub(LISTED);
        if list.is_empty() {
            return;
        }
        let message = match more {
            0 => list.join(", "),
            _ => format!("{} and {more} more", list.join(", ")),
        };
        let d = Diagnostic::new("W454", format!("names have changed: {message}"))
            .names(self.renamed.iter().map(|(_, new)| new.clone()))
            .help("bodies, joints and all other elements share one set of names, made of letters, digits, `_` and `-`");
        self.reading.note(d, Spot::START);
    }

    fn links(&mut self, draft: &mut Draft, merged: &Merged) {
        let total: f64 = draft.links.iter().enumerate().filter(|(k, _)| merged.0[*k].0 == *k).map(|(_, l)| l.body.mass).sum();
        self.bodies.push("ground".into());
        if !draft.links[0].shapes.is_empty() {
            let d = Diagnostic::new("W450", "shapes of the ground are not drawn");
            self.reading.note(d, Spot::START);
        }
        for k in 1..draft.links.len() {
            if merged.0[k].0 != k {
                self.bodies.push(String::new());
                continue;
            }
            let link = &mut draft.links[k];
            let name = self.name("bodies", &link.name, "body", link.spot);
            if link.body.mass <= 0.0 {
                let mass = if total > 0.0 { LITTLE * total } else { 1.0 };
                let arm = 0.05 * self.size;
                let turning = if link.body.J.trace() > 0.0 { link.body.J } else { Matrix3::identity() * (mass * arm * arm) };
                let d = Diagnostic::new("W453", format!("`{name}` has no mass and gets {} kg", number(mass)))
                    .name(&name)
                    .help("a moving body needs a mass: give the link one, or weld it to another link");
                self.reading.note(d, link.spot);
                link.body = Body { mass, com: link.body.com, J: turning };
            }
            if link.body.J.amax() > 0.0 && link.body.J.amax() <= POINT * link.body.mass {
                let message =
                    format!("the inertia of `{name}`, at most {} kg m^2, is rounding noise and is set to zero", number(link.body.J.amax()));
                self.reading.note(Diagnostic::new("W451", message).name(&name).help("the link is a point mass"), link.spot);
                link.body.J = Matrix3::zeros();
            }
            let J = &link.body.J;
            let [xy, xz, yz] = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| 0.5 * (J[(i, j)] + J[(j, i)]));
            let inertia = if J.amax() == 0.0 {
                Inertia::Point
            } else if xy == 0.0 && xz == 0.0 && yz == 0.0 {
                Inertia::Principal([J[(0, 0)], J[(1, 1)], J[(2, 2)]])
            } else {
                Inertia::Tensor([J[(0, 0)], J[(1, 1)], J[(2, 2)], xy, xz, yz])
            };
            let [v, w] = link.velocity;
            let mut shapes = std::mem::take(&mut link.shapes);
            shapes.shrink_to_fit();
            let body = BodySpec {
                mass: link.body.mass,
                inertia,
                at: link.pose.p.into(),
                orientation: orientation(&link.pose.R),
                com: link.body.com.into(),
                velocity: (v + w.cross(&(link.pose.R * link.body.com))).into(),
                omega: w.into(),
                shapes,
            };
            self.bodies.push(name.clone());
            self.spec.bodies.push((name, body));
        }
    }

    fn joints(&mut self, draft: &Draft) {
        for (k, j) in draft.joints.iter().enumerate() {
            let skipped = matches!(j.kind, Kind::Welded | Kind::Free) || j.links[0] == j.links[1];
            if skipped {
                if j.kind != Kind::Welded && j.kind != Kind::Free {
                    let d = Diagnostic::new("W457", format!("`{}` connects parts that are welded into one body, so it is omitted", j.name))
                        .name(&j.name);
                    self.reading.note(d, j.spot);
                }
                self.joints.push(String::new());
                continue;
            }
            let name = self.name("joints", if j.name.is_empty() { "joint" } else { &j.name }, "joint", j.spot);
            self.joints.push(name.clone());
            let spec = self.joint(draft, j);
            self.spec.joints.push((name.clone(), spec));
            self.limits(draft, k, &name);
        }
        for c in &draft.couplings {
            let [a, b] = c.joints.map(|k| self.joints[k].clone());
            if a.is_empty() || b.is_empty() {
                continue;
            }
            let name = self.name("joints", &c.name, "coupling", c.spot);
            self.spec.joints.push((name, JointSpec::Gear { joints: [a, b], ratio: c.ratio, carrier: None }));
        }
        for d in &draft.drives {
            let joint = self.joints[d.joint].clone();
            if joint.is_empty() {
                continue;
            }
            match Expr::time(&d.formula) {
                Ok(value) => {
                    let name = self.name("drives", &d.name, "drive", d.spot);
                    self.spec.drives.push((name, DriveSpec { joint, quantity: d.quantity, value, inputs: Vec::new() }));
                }
                Err(e) => {
                    let d2 = Diagnostic::new("W450", format!("the motion `{}` is not converted: {} in `{}`", d.name, e.kind, d.formula));
                    self.reading.note(d2.name(&d.name), d.spot);
                }
            }
        }
    }

    /// Geometric constraints between bodies.
    fn constraints(&mut self, draft: &Draft) {
        for g in &draft.gcons {
            let name = self.name("constraints", &g.name, "constraint", g.spot);
            let on = |k: usize, at: V3| Place { body: self.bodies[g.links[k]].clone(), at: At::Body(at) };
            let value = g.value.clone();
            let spec = match g.kind {
                GconKind::Dp1 { a_i, a_j } => ConstraintSpec::Dp1 { axes: [on(0, a_i), on(1, a_j)], value, other: None },
                GconKind::Dp2 { a_i, s_i, s_j } => ConstraintSpec::Dp2 { axis: At::Body(a_i), from: on(0, s_i), to: on(1, s_j), value },
                GconKind::D { s_i, s_j } => ConstraintSpec::D { from: on(0, s_i), to: on(1, s_j), value },
                GconKind::Cd { c, s_i, s_j } => ConstraintSpec::Cd { axis: c, from: on(0, s_i), to: on(1, s_j), value },
            };
            self.spec.constraints.push((name, spec));
        }
    }

    fn joint(&self, draft: &Draft, j: &Joint) -> JointSpec {
        let bodies = j.links.map(|k| self.bodies[k].clone());
        let column = |R: &Matrix3<f64>, k: usize| -> V3 { Vector3::from(R.column(k)).map(|x| x + 0.0).into() };
        let place = |k: usize| Place { body: bodies[k].clone(), at: At::Body(j.frames[k].p.into()) };
        let kind = match j.kind {
            Kind::Pair(kind) => kind,
            Kind::Universal => PairKind::Universal,
            Kind::Distance(length) => return JointSpec::Distance { from: place(0), to: place(1), length },
            Kind::Angle(angle) => {
                let axes = [0, 1].map(|k| At::Body(column(&j.frames[k].R, 2)));
                return JointSpec::Angle { bodies, axes, angle };
            }
            Kind::Welded | Kind::Free => PairKind::Fixed,
        };
        let (f, m) = draft.drawn(j);
        let size = 1.0f64.max(f.p.amax());
        let closed = (f.p - m.p).amax() <= 1e-13 * size;
        let pointed = matches!(kind, PairKind::Spherical);
        let same = closed && (pointed || (f.R - m.R).amax() <= 1e-13);
        let placement = if kind == PairKind::Universal && closed {
            Placement::World { at: f.p.into(), axis: column(&f.R, 2), axis_moving: Some(column(&m.R, 2)) }
        } else if same && !matches!(kind, PairKind::Universal) {
            let axis = if pointed || kind == PairKind::Fixed { [0.0, 0.0, 1.0] } else { column(&f.R, 2) };
            Placement::World { at: f.p.into(), axis, axis_moving: None }
        } else {
            let frame = |k: usize| {
                let p = &j.frames[k];
                FrameSpec { at: p.p.into(), axis: column(&p.R, 2), x: Some(column(&p.R, 0)) }
            };
            Placement::Frames { base: frame(0), moving: frame(1) }
        };
        JointSpec::Pair { kind, bodies, placement }
    }

    /// Limits of a joint: rigid, without rebound. Limits without a single coordinate or without a range are listed instead.
    fn limits(&mut self, draft: &Draft, joint: usize, name: &str) {
        let j = &draft.joints[joint];
        let Some([low, high]) = j.limits else { return };
        let [min, max] = [low, high].map(|x| (x.abs() < ENDLESS).then_some(x));
        if min.is_none() && max.is_none() {
            return;
        }
        let slides = j.limits_slide || j.turns() == Some(false);
        let why = match j.turns() {
            None => "a joint of this kind has no single coordinate",
            Some(_) if low >= high => "they leave no range",
            Some(_) => {
                let start = if slides { drawn::distance(draft, j) } else { drawn::angle(draft, j) };
                let inside = INSIDE * if slides { self.size } else { 1.0 };
                if self.drawn && !(low - inside..=high + inside).contains(&start) {
                    return self.beyond(name, [low, high], slides, start, j.spot);
                }
                let of = match j.kind {
                    _ if j.limits_slide => Some(LimitOf::Distance),
                    Kind::Pair(PairKind::Cylindrical | PairKind::Screw { .. }) => Some(LimitOf::Angle),
                    _ => None,
                };
                self.spec.limits.push((name.into(), LimitSpec { of, min, max, ..LimitSpec::default() }));
                return;
            }
        };
        self.unlimited(name, [low, high], slides, why, j.spot);
    }

    /// Lists limits that the start violates.
    fn beyond(&self, name: &str, limits: [f64; 2], slides: bool, start: f64, spot: Spot) {
        self.unlimited(name, limits, slides, &format!("the start, {}, is outside them", number(start)), spot);
    }

    /// Lists limits that are not converted, with the reason.
    fn unlimited(&self, name: &str, [low, high]: [f64; 2], slides: bool, why: &str, spot: Spot) {
        let unit = if slides { "m" } else { "rad" };
        let message = format!("the limits of `{name}`, {} to {} {unit}, are not converted: {why}", number(low), number(high));
        self.reading.note(Diagnostic::new("W452", message).name(name), spot);
    }

    /// Removes and lists limits that are violated after assembly of a mechanism that is not closed as drawn: no run could start.
    fn limits_inside(&mut self, draft: Draft) {
        if self.spec.limits.is_empty() {
            return;
        }
        let limited: HashSet<&str> = self.spec.limits.iter().map(|(name, _)| name.as_str()).collect();
        let joints = self.joints.iter().zip(&draft.joints).filter(|(name, _)| limited.contains(name.as_str()));
        let slide = |j: &Joint| j.limits_slide || j.turns() == Some(false);
        let known: HashMap<String, (Spot, bool)> = joints.map(|(name, j)| (name.clone(), (j.spot, slide(j)))).collect();
        drop(draft);
        // A mechanism that cannot be built or assembled is reported later by the caller.
        let Ok(model) = self.spec.build() else { return };
        let start = assemble(&model).map_or_else(|_| Configuration::start(&model), |a| a.configuration);
        let mut beyond: HashMap<String, f64> = HashMap::new();
        for l in &model.limits {
            let slides = l.of == Bounded::Position(JointCoordinate::Distance);
            let gap = l.gap(&model, &start.q, &start.v, &start.turns);
            if gap < -INSIDE * if slides { model.length } else { 1.0 } {
                beyond.insert(model.joints[l.joint].name.clone(), l.bound + l.side * gap);
            }
        }
        for (name, l) in std::mem::take(&mut self.spec.limits) {
            let Some(at) = beyond.get(&name) else {
                self.spec.limits.push((name, l));
                continue;
            };
            let (spot, slides) = known.get(&name).copied().unwrap_or((Spot::START, false));
            let range = [l.min.unwrap_or(f64::NEG_INFINITY), l.max.unwrap_or(f64::INFINITY)];
            self.beyond(&name, range, slides, *at, spot);
        }
    }

    fn points(&mut self, draft: &Draft, merged: &Merged) {
        for p in &draft.points {
            let name = self.name("points", &p.name, "point", p.spot);
            self.spec.points.push((name, Place { body: self.bodies[p.link].clone(), at: At::Body(p.at.into()) }));
        }
        // A merged link becomes a point of the body it is part of.
        for (k, (to, pose)) in merged.0.iter().enumerate().skip(1) {
            let link = &draft.links[k];
            if *to != k && !link.name.is_empty() {
                let name = self.name("points", &link.name, "point", link.spot);
                self.spec.points.push((name, Place { body: self.bodies[*to].clone(), at: At::Body(pose.p.into()) }));
            }
        }
    }

    fn outside(&mut self, draft: &Draft) {
        for i in &draft.inputs {
            let name = self.name("inputs", &i.name, "input", i.spot);
            let range = i.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            let default = i.default.clamp(range[0], range[1]);
            self.spec.inputs.push((name.clone(), InputSpec { unit: i.unit.into(), default, range }));
            self.inputs.push(name);
        }
        for s in &draft.states {
            let name = self.name("states", &s.name, "state", s.spot);
            self.states.push(name);
        }
        for (k, s) in draft.states.iter().enumerate() {
            let rate = self.formula(draft, &s.rate, s.spot);
            self.spec.states.push((self.states[k].clone(), StateSpec { unit: s.unit.into(), rate, start: 0.0 }));
        }
    }
}
