//! Joints from shared points and vectors [Pryce20, section 2.2, "Kinematic constraints"].
//!
//! A shared point is a pin in the plane and a ball in space; with a shared vector it is a hinge, with two a weld. Two shared points are
//! rejected, as in the paper: their distance would be constrained twice. A point on a line of another part slides.

use super::parts::More;
use super::{GROUND, Parts};
use crate::places::Span;
use crate::reader::Reader;
use fourbar::Diagnostic;
use fourbar::spec::{At, ForceSpec, FrameSpec, JointSpec, ModelSpec, PairKind, Place, Placement, SpringLaw, SpringSpec, V3};
use nalgebra::Vector3;
use std::collections::HashMap;

const X: V3 = [1.0, 0.0, 0.0];
const Z: V3 = [0.0, 0.0, 1.0];
/// Largest number of parts at a point for which all pairs are checked; beyond it each part is checked against the first only.
const CROWD: usize = 64;

/// A joint that was created: its name, its parts, and whether it is a hinge or a slide.
pub(super) struct Made {
    pub name: String,
    pub parts: [usize; 2],
    pub hinge: bool,
    pub slide: bool,
}

/// Joints by the point or collinear triple that they come from.
pub(super) type Joined = HashMap<String, Vec<Made>>;

/// Union-find over parts.
struct Groups(Vec<usize>);

impl Groups {
    fn new(n: usize) -> Self {
        Self((0..n).collect())
    }
    fn root(&mut self, mut k: usize) -> usize {
        while self.0[k] != k {
            self.0[k] = self.0[self.0[k]];
            k = self.0[k];
        }
        k
    }
    /// Joins two groups; false if they were already one group.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
        a != b
    }
}

/// State while the joints are collected.
struct Joiner<'p, 'a, 's> {
    parts: &'p Parts<'a>,
    spec: &'s mut ModelSpec,
    aliases: &'s mut Vec<(String, String)>,
    joined: Joined,
    /// Groups of parts that joints keep in parallel planes, for plane mechanisms.
    level: Groups,
    /// Pairs of parts whose shared vectors a joint keeps parallel.
    parallel: Vec<[usize; 2]>,
}

impl Joiner<'_, '_, '_> {
    fn label(&self, part: usize) -> String {
        self.parts.parts[part].label.clone()
    }

    /// Path reported for problems of a joint: its moving part.
    fn place_of(&self, part: usize) -> String {
        let p = &self.parts.parts[part];
        format!("PartData.{}.{}", if p.particle { "Particles" } else { "Rigids" }, p.key)
    }

    fn add(&mut self, source: &str, base: usize, moving: usize, joint: JointSpec, hinge: bool, slide: bool) {
        let list = self.joined.entry(source.to_string()).or_default();
        let name = if list.is_empty() { format!("J_{source}") } else { format!("J_{source}_{}", list.len() + 1) };
        list.push(Made { name: name.clone(), parts: [base, moving], hinge, slide });
        self.aliases.push((format!("joints.{name}"), self.place_of(if moving == GROUND { base } else { moving })));
        self.spec.joints.push((name, joint));
    }

    fn pair(&self, kind: PairKind, base: usize, moving: usize, frames: [FrameSpec; 2]) -> JointSpec {
        let [f, m] = frames;
        JointSpec::Pair { kind, bodies: [self.label(base), self.label(moving)], placement: Placement::Frames { base: f, moving: m } }
    }

    /// Vectors that both parts share, up to two independent ones.
    fn shared_vectors(&self, a: usize, b: usize) -> Vec<[V3; 2]> {
        let p = self.parts;
        // The part with fewer items is searched, as the ground of a large mechanism may have many.
        let few = if p.parts[a].items.len() <= p.parts[b].items.len() { a } else { b };
        let mut found: Vec<[V3; 2]> = Vec::new();
        for &k in p.parts[few].items.iter().filter(|k| p.items[**k].vector) {
            if let (Some(x), Some(y)) = (p.local(k, a), p.local(k, b))
                && found.iter().all(|[u, _]| Vector3::from(*u).cross(&Vector3::from(x)).norm() > 1e-9)
            {
                found.push([x, y]);
                if found.len() == 2 {
                    break;
                }
            }
        }
        found
    }

    /// The joint of two parts at a shared point.
    fn at_point(&mut self, point: usize, a: usize, b: usize) {
        let p = self.parts;
        let (Some(s), Some(t)) = (p.local(point, a), p.local(point, b)) else { return };
        let frame = |at: V3, axis: V3, x: Option<V3>| FrameSpec { at, axis, x };
        let source = p.items[point].name;
        if p.parts[a].particle || p.parts[b].particle {
            let joint = self.pair(PairKind::Fixed, a, b, [frame(s, Z, None), frame(t, Z, None)]);
            self.level.join(a, b);
            return self.add(source, a, b, joint, false, false);
        }
        let vectors = self.shared_vectors(a, b);
        let (kind, frames) = match (p.dimension, vectors.as_slice()) {
            // In the plane the angle is measured from the x axis of one part to that of the other.
            (2, []) => (PairKind::Revolute, [frame(s, Z, Some(X)), frame(t, Z, Some(X))]),
            (2, [[u, v], ..]) => (PairKind::Fixed, [frame(s, Z, Some(*u)), frame(t, Z, Some(*v))]),
            (_, []) => (PairKind::Spherical, [frame(s, Z, None), frame(t, Z, None)]),
            (_, [[u, v]]) => (PairKind::Revolute, [frame(s, *u, None), frame(t, *v, None)]),
            (_, [[u, v], [x, y], ..]) => (PairKind::Fixed, [frame(s, *u, Some(*x)), frame(t, *v, Some(*y))]),
        };
        if p.dimension == 2 {
            self.level.join(a, b);
        }
        if kind != PairKind::Spherical {
            self.parallel.push([a, b]);
        }
        let joint = self.pair(kind, a, b, frames);
        self.add(source, a, b, joint, kind == PairKind::Revolute, false);
    }

    /// The joint of a point that stays on a line of another part.
    fn on_line(&mut self, name: &str, [p, line, q]: [usize; 3]) -> Result<(), &'static str> {
        let parts = self.parts;
        let items = &parts.items;
        // The direction of the line on a part that has both the line and the given point.
        let along = |part: usize, from: usize| -> Option<V3> {
            parts.local(from, part)?;
            let x = parts.local(line, part)?;
            if items[line].vector {
                return Some(x);
            }
            let d = Vector3::from(x) - Vector3::from(parts.local(from, part)?);
            (d.norm() > 0.0).then(|| d.normalize().into())
        };
        let direct = [(p, q), (q, p)].into_iter().find_map(|(from, to)| {
            let base = items[from]
                .on
                .iter()
                .map(|(part, _)| *part)
                .find(|part| along(*part, from).is_some() && parts.local(to, *part).is_none())?;
            let others = || items[to].on.iter().map(|(part, _)| *part).filter(|part| *part != base);
            let moving = others().find(|part| items[line].vector && parts.local(line, *part).is_some()).or_else(|| others().next())?;
            Some((from, to, base, moving))
        });
        let Some((from, to, base, moving)) = direct else {
            return Err("no part has one of the points together with the line while another part has the other point");
        };
        if from == q && !items[line].vector {
            return Err("the second point of the line must be on the part of the first");
        }
        let (Some(s), Some(t), Some(u)) = (parts.local(from, base), parts.local(to, moving), along(base, from)) else {
            return Err("a point is missing");
        };
        let shared = if items[line].vector { parts.local(line, moving) } else { None };
        let frame = |at: V3, axis: V3, x: Option<V3>| FrameSpec { at, axis, x };
        let other = self.shared_vectors(base, moving);
        let across = |u: V3| [-u[1], u[0], 0.0];
        let (kind, frames) = match (parts.dimension, shared) {
            (2, Some(v)) => (PairKind::Prismatic, [frame(s, u, Some(Z)), frame(t, v, Some(Z))]),
            (2, None) => (PairKind::PointOnPlane, [frame(s, across(u), None), frame(t, across(u), None)]),
            (_, Some(v)) => match other.as_slice() {
                [[a, b], [c, d]] => {
                    // The vector other than the axis fixes the rotation.
                    let turn = if Vector3::from(*a).cross(&Vector3::from(u)).norm() > 1e-9 { [*a, *b] } else { [*c, *d] };
                    (PairKind::Prismatic, [frame(s, u, Some(turn[0])), frame(t, v, Some(turn[1]))])
                }
                _ => (PairKind::Cylindrical, [frame(s, u, None), frame(t, v, None)]),
            },
            (_, None) => (PairKind::PointOnLine, [frame(s, u, None), frame(t, Z, None)]),
        };
        if kind == PairKind::Prismatic {
            self.level.join(base, moving);
        }
        if shared.is_some() {
            self.parallel.push([base, moving]);
        }
        let joint = self.pair(kind, base, moving, frames);
        self.add(name, base, moving, joint, false, kind != PairKind::PointOnPlane && from == p);
        Ok(())
    }

    /// Aligns vectors that are shared by parts but not kept parallel by a joint.
    fn align(&mut self) {
        let parts = self.parts;
        for (k, item) in parts.items.iter().enumerate().filter(|(_, i)| i.vector && i.on.len() > 1) {
            let place: HashMap<usize, usize> = item.on.iter().enumerate().map(|(n, (part, _))| (*part, n)).collect();
            let mut groups = Groups::new(item.on.len());
            // Only joints between parts that share this vector count.
            for (n, (part, _)) in item.on.iter().enumerate() {
                for &[a, b] in self.parallel_of(*part) {
                    let other = if a == *part { b } else { a };
                    if let Some(&m) = place.get(&other) {
                        groups.join(n, m);
                    }
                }
            }
            let (first, u) = item.on[0];
            for (n, &(part, v)) in item.on.iter().enumerate().skip(1) {
                if groups.join(0, n) {
                    let bodies = [self.label(first), self.label(part)];
                    // In the plane one constraint row is enough: the vector of one part is normal to the rotated vector of the other.
                    let (v, angle) = if parts.dimension == 2 { ([-v[1], v[0], 0.0], std::f64::consts::FRAC_PI_2) } else { (v, 0.0) };
                    let joint = JointSpec::Angle { bodies, axes: [At::Body(u), At::Body(v)], angle: Some(angle) };
                    self.add(parts.items[k].name, first, part, joint, false, false);
                }
            }
        }
    }

    fn parallel_of(&self, part: usize) -> &[[usize; 2]] {
        let start = self.parallel.partition_point(|[a, _]| *a < part);
        let end = self.parallel.partition_point(|[a, _]| *a <= part);
        &self.parallel[start..end]
    }
}

impl Reader<'_> {
    pub(super) fn join<'a>(
        &mut self,
        parts: &Parts<'a>,
        more: &More<'a>,
        spec: &mut ModelSpec,
        aliases: &mut Vec<(String, String)>,
    ) -> Joined {
        let level = Groups::new(parts.parts.len());
        let mut j = Joiner { parts, spec, aliases, joined: Joined::new(), level, parallel: Vec::new() };
        let mut met: HashMap<[usize; 2], usize> = HashMap::new();
        for (point, item) in parts.items.iter().enumerate().filter(|(_, i)| !i.vector && i.on.len() > 1) {
            // Rigid parts come before particles, so that particles are welded to a part.
            let mut members: Vec<usize> = item.on.iter().map(|(p, _)| *p).collect();
            members.sort_by_key(|p| (parts.parts[*p].particle, *p));
            let looked_at = if members.len() <= CROWD { members.len() } else { 1 };
            for (n, &a) in members[..looked_at].iter().enumerate() {
                for &b in &members[n + 1..] {
                    if let Some(other) = met.insert([a.min(b), a.max(b)], point) {
                        self.two_shared(parts, [a, b], [other, point]);
                    }
                }
            }
            // Each further part is joined to the part with which it shares most vectors.
            let mut inside = vec![members[0]];
            let mut outside = members[1..].to_vec();
            while !outside.is_empty() {
                let (k, base) = if members.len() <= CROWD {
                    let score = |a: usize, b: usize| if parts.parts[b].particle { 0 } else { j.shared_vectors(a, b).len() };
                    let mut best = (0, inside[0], 0);
                    for (k, &b) in outside.iter().enumerate() {
                        for &a in &inside {
                            let s = score(a, b);
                            if s > best.2 {
                                best = (k, a, s);
                            }
                        }
                    }
                    (best.0, best.1)
                } else {
                    (outside.len() - 1, inside[0])
                };
                let moving = outside.remove(k);
                j.at_point(point, base, moving);
                inside.push(moving);
            }
        }
        for (name, triple, span) in &more.collinear {
            if let Err(why) = j.on_line(name, *triple) {
                self.no_slide(name, why, *span);
            }
        }
        let reversed: Vec<[usize; 2]> = j.parallel.iter().map(|[a, b]| [*b, *a]).collect();
        j.parallel.extend(reversed);
        j.parallel.sort_unstable();
        j.align();
        if parts.dimension == 2 {
            for part in 1..parts.parts.len() {
                if j.level.join(GROUND, part) {
                    let frame = |at| FrameSpec { at, axis: Z, x: Some(X) };
                    let joint = j.pair(PairKind::Planar, GROUND, part, [frame([0.0; 3]), frame([0.0; 3])]);
                    let source = format!("plane_{}", parts.parts[part].key);
                    j.add(&source, GROUND, part, joint, false, false);
                }
            }
        }
        j.joined
    }

    fn two_shared(&mut self, parts: &Parts<'_>, [a, b]: [usize; 2], points: [usize; 2]) {
        let [p, q] = points.map(|k| parts.items[k].name);
        let of = |k: usize| if k == GROUND { "the fixed points".to_string() } else { format!("`{}`", parts.parts[k].key) };
        let help = if parts.dimension == 2 {
            "two parts pinned at two points are one part: merge them, or share one point and a vector".to_string()
        } else {
            format!("for a hinge share one point, and a vector along the hinge, instead of `{p}` and `{q}`")
        };
        let d = Diagnostic::new("M061", format!("{} and {} share two points, `{p}` and `{q}`", of(a), of(b)))
            .help(help)
            .at(format!("PartData.Rigids.{}", parts.parts[b.max(a)].key))
            .names([p.to_string(), q.to_string()]);
        self.problem(d, parts.parts[a.max(b)].span);
    }

    fn no_slide(&mut self, name: &str, why: &str, span: Span) {
        let d = Diagnostic::new("M063", format!("`{name}` cannot slide: {why}"))
            .help("write `C1vC` with `C1` and `v` on one part and `C` on another: `C` stays on the line through `C1` along `v`");
        self.problem(d.at(format!("PartData.Collinears.{name}")), span);
    }

    /// The springs, once every point belongs to a part.
    pub(super) fn springs<'a>(&mut self, parts: &Parts<'a>, more: &More<'a>, spec: &mut ModelSpec, aliases: &mut Vec<(String, String)>) {
        for s in &more.springs {
            let name = if parts.part(s.key).is_some() { format!("spring_{}", s.key) } else { s.key.to_string() };
            aliases.push((format!("forces.{name}"), format!("PartData.Springs.{}", s.key)));
            let between = s.ends.map(|k| place_of(parts, k));
            let law = SpringLaw::Linear { stiffness: s.stiffness, rest: s.rest, damping: 0.0 };
            spec.forces.push((name, ForceSpec::Spring(SpringSpec { between, law, mass: s.mass })));
        }
    }
}

/// A point as a place: on the ground if it is fixed, otherwise on the first rigid part that has it.
pub(super) fn place_of(parts: &Parts<'_>, point: usize) -> Place {
    let on = &parts.items[point].on;
    let best = on.iter().min_by_key(|(p, _)| (*p != GROUND, parts.parts[*p].particle, *p));
    match best {
        Some((part, x)) => Place { body: parts.parts[*part].label.clone(), at: At::Body(*x) },
        None => Place { body: "ground".into(), at: At::Body([0.0; 3]) },
    }
}
