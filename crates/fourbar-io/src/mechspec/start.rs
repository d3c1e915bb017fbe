//! The start of a MechSpec: given positions and velocities of points and vectors become poses of bodies.
//!
//! The given values may be guesses. Each part is fitted to its known points and vectors, starting with the part that has most of them, and
//! then determines the positions of its other points; assembly closes the mechanism afterwards. Fixed positions and velocities become
//! conditions of the assembly.

use super::{GROUND, Parts, entry};
use crate::places::Span;
use crate::reader::{Path, Reader};
use crate::tree::{Content, Node};
use fourbar::Diagnostic;
use fourbar::expr::Dimension;
use fourbar::spec::{ModelSpec, Orientation, StateVariable};
use nalgebra::{DMatrix, DVector, Matrix3, Rotation3, Vector3};
use std::collections::BinaryHeap;

type V = Vector3<f64>;

/// Keys of the section.
const PROBLEM_DATA: [&str; 8] = ["t0", "tend", "positions", "fixedpositions", "velocities", "fixedvelocities", "tol", "output_step"];

/// Larger numbers are not used, since their squares may overflow.
const HUGE: f64 = 1e100;

/// Half of the data: positions or velocities.
#[derive(Clone, Copy, PartialEq)]
enum Half {
    Position,
    Velocity,
}

impl Reader<'_> {
    pub(super) fn problem_data(&mut self, parts: &mut Parts<'_>, node: &Node, spec: &mut ModelSpec) {
        let top = Path::top("ProblemData");
        if self.known_keys(node, &PROBLEM_DATA, "`ProblemData`", Some(&top)).is_none() {
            return;
        }
        let source = self.source;
        let mut number = |key: &str, unit: Dimension| entry(node, key, source).and_then(|n| self.number(n, Some(unit), &top.key(key)));
        let (t0, tend) = (number("t0", Dimension::TIME).unwrap_or(0.0), number("tend", Dimension::TIME));
        spec.study.tol = number("tol", Dimension::NONE);
        spec.study.output_step = number("output_step", Dimension::TIME);
        if let Some(tend) = tend {
            spec.study.t_end = tend - t0;
            if let Some(n) = entry(node, "tend", source).filter(|_| tend <= t0) {
                let d = Diagnostic::new("M114", format!("`tend` is {tend} s, not after `t0`, {t0} s")).help("times are in seconds");
                self.problem(d.at("ProblemData.tend"), n.span);
            }
        }
        for (key, half) in [("positions", Half::Position), ("velocities", Half::Velocity)] {
            if let Some(n) = entry(node, key, source) {
                self.given(parts, n, half, &top.key(key));
            }
        }
        for (key, half) in [("fixedpositions", Half::Position), ("fixedvelocities", Half::Velocity)] {
            if let Some(n) = entry(node, key, source) {
                self.held(parts, n, half, &top.key(key), spec);
            }
        }
    }

    /// The item, and the component if one is named: `A` or `Ax`.
    fn item_or_component(&mut self, parts: &Parts<'_>, name: &str, span: Span, path: &Path<'_>) -> Option<(usize, Option<usize>)> {
        if let Some(k) = parts.find(name) {
            return Some((k, None));
        }
        let component = name.split_at_checked(name.len().saturating_sub(1)).and_then(|(item, axis)| {
            let axis = ["x", "y", "z"][..parts.dimension].iter().position(|a| *a == axis)?;
            Some((parts.find(item)?, Some(axis)))
        });
        if component.is_none() {
            self.unknown_item(parts, name, "a point or vector, or a component of one such as `Ax`,", span, path);
        }
        component
    }

    fn given(&mut self, parts: &mut Parts<'_>, node: &Node, half: Half, path: &Path<'_>) {
        let Content::Map(entries) = &node.content else {
            if !super::is_nothing(node, self.source) {
                self.wrong_kind(node, "a group of points and vectors with their coordinates", path);
            }
            return;
        };
        for (key, value) in entries {
            if self.full() {
                return;
            }
            let name = key.get(self.source);
            let at = path.key(name);
            let Some((k, component)) = self.item_or_component(parts, name, key.span, &at) else { continue };
            let item = &parts.items[k];
            if item.on.iter().any(|(p, _)| *p == GROUND) {
                let d = Diagnostic::new("M062", format!("`{}` is fixed, and its {} cannot be set", item.name, words(half)));
                self.problem(d.help("remove it here, or from `Fixed`").at(at.to_string()), key.span);
                continue;
            }
            let unit = match (half, item.vector) {
                (Half::Position, false) => Some(Dimension::LENGTH),
                (Half::Velocity, false) => Some(Dimension::SPEED),
                _ => None,
            };
            let mut x = [None; 3];
            match component {
                Some(axis) => x[axis] = self.number(value, unit, &at),
                None => x = self.padded(value, parts.dimension, unit, &at).map_or(x, |x| x.map(Some)),
            }
            let target = match half {
                Half::Position => &mut parts.items[k].position,
                Half::Velocity => &mut parts.items[k].velocity,
            };
            for (t, x) in target.iter_mut().zip(x) {
                *t = x.or(*t);
            }
        }
    }

    fn held(&mut self, parts: &Parts<'_>, node: &Node, half: Half, path: &Path<'_>, spec: &mut ModelSpec) {
        for (name, span) in self.words(node, path).unwrap_or_default() {
            let at = path.key(name);
            let Some((k, component)) = self.item_or_component(parts, name, span, &at) else { continue };
            let item = &parts.items[k];
            if item.vector || item.on.iter().any(|(p, _)| *p == GROUND) {
                let why = if item.vector { "is a vector: only points can be held" } else { "is already fixed" };
                let d =
                    Diagnostic::new("M062", format!("`{}` {why}", item.name)).help("remove it here; hold points of the same part instead");
                self.problem(d.at(at.to_string()), span);
                continue;
            }
            let axes = component.map_or(0..parts.dimension, |c| c..c + 1);
            for axis in axes {
                let value = if half == Half::Position { item.position[axis] } else { item.velocity[axis] };
                let Some(value) = value else {
                    let word = if half == Half::Position { "positions" } else { "velocities" };
                    let d = Diagnostic::new("M064", format!("`{name}` is to be held, but `{word}` gives no value for it"));
                    let help = format!("give `{name}` a value under `{word}`");
                    self.problem(d.help(help).at(at.to_string()), span);
                    break;
                };
                let variable = match half {
                    Half::Position => StateVariable::PointPosition(item.name.to_string(), axis),
                    Half::Velocity => StateVariable::PointVelocity(item.name.to_string(), axis),
                };
                spec.start.push((variable, value));
            }
        }
    }

    /// Poses and velocities of all bodies from the given data.
    pub(super) fn pose(&mut self, parts: &Parts<'_>, spec: &mut ModelSpec) {
        let fixed = |k: usize| parts.local(k, GROUND).map(V::from);
        let given = |x: &[Option<f64>; 3]| x.iter().any(Option::is_some).then(|| V::from(x.map(|x| x.unwrap_or(0.0))));
        let mut known: Vec<Option<V>> = (0..parts.items.len()).map(|k| fixed(k).or_else(|| given(&parts.items[k].position))).collect();
        let mut count = vec![0usize; parts.parts.len()];
        let mut queue: BinaryHeap<(usize, std::cmp::Reverse<usize>)> = BinaryHeap::new();
        for (k, item) in parts.items.iter().enumerate().filter(|(k, _)| known[*k].is_some()) {
            // A part without a known point cannot be placed yet: points weigh far more.
            let weight = if parts.items[k].vector { 1 } else { 1000 };
            item.on.iter().for_each(|(p, _)| count[*p] += weight);
        }
        queue.extend((1..parts.parts.len()).map(|p| (count[p], std::cmp::Reverse(p))));
        let mut placed = vec![false; parts.parts.len()];
        let mut lost = Vec::new();
        let mut turns = vec![Matrix3::identity(); parts.parts.len()];
        while let Some((c, std::cmp::Reverse(p))) = queue.pop() {
            if placed[p] || c != count[p] {
                continue;
            }
            placed[p] = true;
            let part = &parts.parts[p];
            if c < 1000 {
                lost.push(part.key);
            }
            let (r, at) = fit(parts, p, &known);
            turns[p] = r;
            let body = &mut spec.bodies[p - 1].1;
            body.at = at.into();
            body.orientation = match parts.dimension {
                2 => Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle: r.m21.atan2(r.m11) },
                _ => Orientation::Matrix([0, 1, 2].map(|i| [r[(i, 0)], r[(i, 1)], r[(i, 2)]])),
            };
            self.motion(parts, p, &r, spec);
            for &k in part.items.iter().filter(|k| known[**k].is_none()).collect::<Vec<_>>() {
                let Some(x) = parts.local(k, p) else { continue };
                let item = &parts.items[k];
                known[k] = Some(r * V::from(x) + if item.vector { V::zeros() } else { at });
                for &(other, _) in item.on.iter().filter(|(o, _)| !placed[*o]) {
                    count[other] += if item.vector { 1 } else { 1000 };
                    queue.push((count[other], std::cmp::Reverse(other)));
                }
            }
        }
        // A particle on a rigid part is welded to it and moves with it.
        for (p, part) in parts.parts.iter().enumerate().filter(|(_, part)| part.particle) {
            let carrier =
                part.items.first().and_then(|k| parts.items[*k].on.iter().find(|(o, _)| *o != GROUND && !parts.parts[*o].particle));
            let Some((carrier, local)) = carrier else { continue };
            let carrying = spec.bodies[carrier - 1].1.clone();
            let r = turns[*carrier];
            let (at, arm) = (V::from(carrying.at), r * V::from(*local));
            let body = &mut spec.bodies[p - 1].1;
            let omega = V::from(carrying.omega);
            body.at = (at + arm).into();
            body.orientation = carrying.orientation;
            body.omega = carrying.omega;
            body.velocity = (V::from(carrying.velocity) + omega.cross(&(arm - r * V::from(carrying.com)))).into();
        }
        if !lost.is_empty() {
            let some: Vec<String> = lost.iter().take(5).map(|k| format!("`{k}`")).collect();
            let d = Diagnostic::new(
                "W060",
                format!("no point of {} has a known position: assembly starts from the origin", some.join(", ")),
            )
            .help("give `positions` of its points under `ProblemData`, at least approximately: they determine which of several assembly modes is found")
            .at("ProblemData.positions")
            .names(lost.iter().map(|k| k.to_string()));
            self.warn(d);
        }
    }

    /// The velocity of a body by least squares from the given rates, with minimum norm where they do not determine it.
    fn motion(&mut self, parts: &Parts<'_>, p: usize, r: &Matrix3<f64>, spec: &mut ModelSpec) {
        let mut rows: Vec<([f64; 6], f64)> = Vec::new();
        let mut moving = false;
        for &k in &parts.parts[p].items {
            let item = &parts.items[k];
            let is_fixed = parts.local(k, GROUND).is_some();
            let Some(local) = parts.local(k, p) else { continue };
            let s = r * V::from(local);
            for axis in 0..parts.dimension {
                let Some(rate) = item.velocity[axis].or(is_fixed.then_some(0.0)) else { continue };
                moving |= rate != 0.0;
                // Rate of a point: v + omega x s; of a vector: omega x s.
                let mut row = [0.0; 6];
                row[axis] = if item.vector { 0.0 } else { 1.0 };
                let cross = -s.cross_matrix();
                (0..3).for_each(|j| row[3 + j] = cross[(axis, j)]);
                rows.push((row, rate));
            }
        }
        if !moving {
            return;
        }
        let a = DMatrix::from_fn(rows.len(), 6, |i, j| rows[i].0[j]);
        let b = DVector::from_fn(rows.len(), |i, _| rows[i].1);
        let scale = a.amax();
        // Very large numbers are rejected by the engine, with the name; here they must only not stall the iteration.
        let usable = scale < HUGE && b.amax() < HUGE;
        let Some(x) = usable.then(|| a.try_svd(true, true, f64::EPSILON, 1000)).flatten().and_then(|s| s.solve(&b, 1e-12 * scale).ok())
        else {
            return;
        };
        let body = &mut spec.bodies[p - 1].1;
        let mut omega = V::new(x[3], x[4], x[5]);
        let mut velocity = V::new(x[0], x[1], x[2]) + omega.cross(&(r * V::from(body.com)));
        if parts.dimension == 2 {
            (omega.x, omega.y, velocity.z) = (0.0, 0.0, 0.0);
        }
        // Removes rounding errors of the fit.
        let rounded = |x: V| x.map(|c| if c.abs() < 1e-15 * x.amax() { 0.0 } else { c });
        (body.omega, body.velocity) = (rounded(omega).into(), rounded(velocity).into());
    }
}

fn words(half: Half) -> &'static str {
    if half == Half::Position { "position" } else { "velocity" }
}

/// The rotation and origin that best fit the known points and vectors of a part.
fn fit(parts: &Parts<'_>, p: usize, known: &[Option<V>]) -> (Matrix3<f64>, V) {
    let items = || parts.parts[p].items.iter().filter_map(|&k| Some((k, V::from(parts.local(k, p)?), known[k]?)));
    let points: Vec<(V, V)> = items().filter(|(k, ..)| !parts.items[*k].vector).map(|(_, l, w)| (l, w)).collect();
    let n = points.len().max(1) as f64;
    let c_l = points.iter().map(|x| x.0).sum::<V>() / n;
    let c_w = points.iter().map(|x| x.1).sum::<V>() / n;
    // Directions are weighted with the size of the part.
    let size = points.iter().map(|x| (x.0 - c_l).norm_squared()).sum::<f64>();
    let size = if size > 0.0 { size } else { 1.0 };
    let mut pairs: Vec<(V, V)> = points.iter().map(|(l, w)| (l - c_l, w - c_w)).collect();
    for (k, l, w) in items() {
        if parts.items[k].vector && w.norm() > 0.0 {
            pairs.push((l * size.sqrt(), w.normalize() * size.sqrt()));
        }
    }
    let r = if parts.dimension == 2 {
        let (sin, cos) = pairs.iter().fold((0.0, 0.0), |(s, c), (l, w)| (s + l.x * w.y - l.y * w.x, c + l.x * w.x + l.y * w.y));
        let norm = f64::hypot(sin, cos);
        let (sin, cos) = if norm > 1e-14 * size { (sin / norm, cos / norm) } else { (0.0, 1.0) };
        Matrix3::new(cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0)
    } else {
        rotation(&pairs, size)
    };
    (r, c_w - r * c_l)
}

/// The rotation that best maps the first of each pair onto the second; undetermined rotations are zero.
fn rotation(pairs: &[(V, V)], size: f64) -> Matrix3<f64> {
    let h: Matrix3<f64> = pairs.iter().map(|(l, w)| w * l.transpose()).sum();
    // Very large coordinates are rejected by the engine, with the name.
    let Some(svd) = h.try_svd(true, true, f64::EPSILON, 1000).filter(|_| h.amax() < HUGE) else { return Matrix3::identity() };
    let (Some(mut u), Some(v_t)) = (svd.u, svd.v_t) else { return Matrix3::identity() };
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| svd.singular_values[*b].total_cmp(&svd.singular_values[*a]));
    let [first, second, least] = order;
    if svd.singular_values[first] <= 1e-12 * size {
        return Matrix3::identity();
    }
    if svd.singular_values[second] <= 1e-12 * size {
        // A rod: the shortest rotation, half a turn about any perpendicular axis if they point in opposite directions.
        let (l, w) = (v_t.row(first).transpose(), u.column(first).into_owned());
        let across = some_across(&l);
        return Rotation3::rotation_between(&l, &w).map_or_else(
            || Rotation3::from_axis_angle(&nalgebra::Unit::new_normalize(across), std::f64::consts::PI).into_inner(),
            |r| r.into_inner(),
        );
    }
    if (u * v_t).determinant() < 0.0 {
        let flipped = -u.column(least);
        u.set_column(least, &flipped);
    }
    u * v_t
}

/// A direction perpendicular to another.
fn some_across(e: &V) -> V {
    let k = e.iamin();
    let mut axis = V::zeros();
    axis[k] = 1.0;
    e.cross(&axis)
}
