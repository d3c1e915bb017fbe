//! Search for closed poses nearer than the one reached from the drawn pose, from several starts.
//!
//! A loop can often be closed in several ways near the drawn pose, and the first one reached is used. If the path to it was long, other
//! starts are tried: the drawn pose closed slowly, the opposite side of the drawing, and random poses about it. Bodies that are not
//! connected by constraints are treated separately, and only those with a long path are moved. The same input gives bitwise the same
//! result.

use super::modes::{farthest, quantity};
use super::{Problem, Walk, flipped_among};
use crate::constraint::ConstraintSet;
use crate::diagnostic::number;
use crate::model::Model;
use crate::random::Random;
use crate::state::{Pose, Twist};
use crate::topology::Groups;
use serde::Serialize;

/// A path longer than this fraction of the characteristic length is long,
const LONG: f64 = 0.01;
/// and so is one longer than this multiple of the gaps it closed, unless it is shorter than [`SHORT`].
const GAPS: f64 = 3.0;
/// Fraction of the characteristic length below which no path is long.
const SHORT: f64 = 1e-4;
/// Maximum of bodies of a group times starts, beyond the minimum number of starts.
const WORK: usize = 400;
/// Minimum number of starts.
const FEWEST: usize = 2;
/// Number of starts after which the search ends if all of them led to the same pose.
const AGREED: usize = 10;
/// Up to this many bodies a start moves the whole group; in larger groups only bodies that had moved.
const WHOLE: usize = 24;
/// Poses closer than this fraction of the characteristic length are the same.
const SAME: f64 = 1e-3;

/// Displacements below this fraction of the characteristic length, and rotations below this angle, count as zero.
const ROUNDING: f64 = 1e-6;

/// Result of the search.
#[derive(Clone, Debug, Serialize)]
pub struct Branch {
    /// Number of starts, including the drawn pose.
    pub starts: usize,
    /// Distance from the drawn pose to the first closed pose reached from it, metres.
    pub first: f64,
    /// The next nearest closed pose, if it is not much farther.
    pub other: Option<Other>,
}

/// A closed pose that was not chosen.
#[derive(Clone, Debug, Serialize)]
pub struct Other {
    /// Its distance from the drawn pose, metres.
    pub distance: f64,
    /// The body that is farthest from its place in the chosen pose.
    pub body: String,
    /// Its distance, metres; zero if it only rotates.
    pub by: f64,
    /// Its rotation, radians.
    pub turned: f64,
}

impl Branch {
    /// Description; `distance` is that of the chosen pose.
    pub fn words(&self, distance: f64) -> String {
        let first = if self.first > distance * (1.0 + 1e-3) {
            format!(" (the walk from there led to one {} m away)", number(self.first))
        } else {
            String::new()
        };
        let other = self.other.as_ref().map_or(String::new(), |o| {
            let turned = quantity("angle", o.turned);
            let off = if o.by > 0.0 { format!("{} m and {turned}", number(o.by)) } else { turned };
            format!("; the next nearest is {} m away, with `{}` {off} from where it is taken", number(o.distance), o.body)
        });
        format!(
            "of the closed poses found from {} starts the nearest to the drawn one is taken, {} m away{first}{other}",
            self.starts,
            number(distance)
        )
    }
}

/// Groups of bodies connected by constraints, without ground and held bodies.
struct Parts {
    /// Group of each body; `usize::MAX` for those in none.
    of: Vec<usize>,
    /// Bodies of each group, and their mass.
    bodies: Vec<Vec<usize>>,
    mass: Vec<f64>,
}

impl Parts {
    fn new(set: &ConstraintSet, model: &Model, held: &[bool]) -> Self {
        let n = model.bodies.len();
        let free = |b: usize| b > 0 && !held[b];
        let mut groups = Groups::new(n);
        for c in &set.list {
            let mut members = c.bodies.iter().map(|b| b.index()).filter(|b| free(*b));
            if let Some(first) = members.next() {
                members.for_each(|b| {
                    groups.join(first, b);
                });
            }
        }
        let (mut of, mut number) = (vec![usize::MAX; n], vec![usize::MAX; n]);
        let (mut bodies, mut mass) = (Vec::new(), Vec::new());
        for b in (1..n).filter(|b| free(*b)) {
            let root = groups.find(b);
            if number[root] == usize::MAX {
                number[root] = bodies.len();
                bodies.push(Vec::new());
                mass.push(0.0);
            }
            of[b] = number[root];
            bodies[of[b]].push(b);
            mass[of[b]] += model.bodies[b].mass;
        }
        Self { of, bodies, mass }
    }

    /// Distance of every group between two poses, in the metric of the masses.
    fn distances(&self, walk: &Walk<'_>, a: &[Pose], b: &[Pose]) -> Vec<f64> {
        let mut sum = vec![0.0; self.bodies.len()];
        for (sum, members) in sum.iter_mut().zip(&self.bodies) {
            *sum = members.iter().map(|&k| walk.metric.square(k, &a[k], &b[k])).sum::<f64>();
        }
        sum.iter().zip(&self.mass).map(|(s, m)| (s / m.max(f64::MIN_POSITIVE)).sqrt()).collect()
    }

    /// Largest residual of every group; infinite if axes are opposed.
    fn residuals(&self, p: &Problem, model: &Model, q: &[Pose]) -> Vec<f64> {
        let mut worst = vec![0.0_f64; self.bodies.len()];
        for (c, constraint) in p.set.list.iter().enumerate() {
            let Some(part) = constraint.bodies.iter().map(|b| self.of[b.index()]).find(|p| *p != usize::MAX) else { continue };
            let size = p.Phi[p.set.row_start[c]..p.set.row_start[c + 1]].iter().fold(0.0_f64, |s, x| s.max(x.abs()));
            worst[part] = if size.is_nan() { f64::INFINITY } else { worst[part].max(size) };
        }
        for k in flipped_among(model, q) {
            for b in model.joints[k].bodies {
                if let Some(w) = worst.get_mut(self.of[b.index()]) {
                    *w = f64::INFINITY;
                }
            }
        }
        worst
    }
}

/// A closed pose of one group: its distance from the drawn one, and the poses of its bodies.
struct Found {
    distance: f64,
    q: Vec<Pose>,
}

impl Found {
    fn new(distance: f64, bodies: &[usize], q: &[Pose]) -> Self {
        Self { distance, q: bodies.iter().map(|b| q[*b]).collect() }
    }
}

/// Searches for nearer poses from at most `most` starts and chooses the nearest for each group. `q` is the pose reached from the drawn
/// pose; `before` are the residuals at the drawn pose. `None` if the path was short.
pub(super) fn look(walk: &mut Walk<'_>, q: &mut [Pose], held: &[bool], before: &[f64], most: usize) -> Option<Branch> {
    if most == 0 {
        return None;
    }
    let (model, start) = (walk.model, walk.start);
    let L = model.length;
    let parts = Parts::new(&walk.p.set, model, held);
    walk.p.Phi.copy_from_slice(before);
    let gaps = parts.residuals(&walk.p, model, &start.q);
    let first = parts.distances(walk, &start.q, q);
    let long: Vec<bool> = first.iter().zip(&gaps).map(|(d, gap)| *d > LONG * L || (*d > GAPS * gap && *d > SHORT * L)).collect();
    let largest = (0..long.len()).filter(|k| long[*k]).map(|k| parts.bodies[k].len()).max()?;
    let starts = (WORK / largest).clamp(FEWEST, most.max(FEWEST));
    // Bodies that a start moves, each group by its own distance.
    let moved: Vec<f64> = (0..q.len()).map(|b| walk.metric.square(b, &start.q[b], &q[b]).sqrt()).collect();
    let mut top = vec![0.0_f64; long.len()];
    for (b, part) in parts.of.iter().enumerate().filter(|(_, p)| **p != usize::MAX) {
        top[*part] = top[*part].max(moved[b]);
    }
    let stirred = |b: usize| {
        let part = parts.of[b];
        part != usize::MAX && long[part] && (parts.bodies[part].len() <= WHOLE || moved[b] > 0.01 * top[part])
    };
    let mut found: Vec<Vec<Found>> = first.iter().zip(&parts.bodies).map(|(&d, bodies)| vec![Found::new(d, bodies, q)]).collect();
    let mut random = Random(0x1b87_3593_cc9e_2d51);
    let mut made = 0;
    for k in 0..starts {
        let mut from = start.q.clone();
        match k {
            0 => walk.draw_closed(&mut from),
            1 => {
                for b in (1..from.len()).filter(|b| stirred(*b)) {
                    from[b] = start.q[b].moved(&start.q[b].increment_to(&q[b]).scaled(-1.0));
                }
            }
            _ => {
                for b in 1..from.len() {
                    let (v, w) = (random.vector(), random.vector());
                    if stirred(b) {
                        // From half to twice the distance of the nearest pose so far; a rod rotates so that its ends move by the same
                        // distance.
                        let nearest = found[parts.of[b]].iter().map(|f| f.distance).fold(f64::INFINITY, f64::min);
                        let size = (nearest * (0.5 + 0.5 * (k % 4) as f64)).min(0.5 * L);
                        from[b] = start.q[b].moved(&Twist { v: v * size, w: w * (3.0 * size / L) });
                    }
                }
            }
        }
        made += 1;
        let q = walk.from(from);
        let residuals = parts.residuals(&walk.p, model, &q);
        for (part, distance) in parts.distances(walk, &start.q, &q).into_iter().enumerate() {
            if !long[part] || residuals[part] > walk.closed || !distance.is_finite() {
                continue;
            }
            let bodies = &parts.bodies[part];
            let apart = |other: &[Pose]| {
                let square = bodies.iter().zip(other).map(|(&b, other)| walk.metric.square(b, &q[b], other)).sum::<f64>();
                (square / parts.mass[part]).sqrt()
            };
            match found[part].iter_mut().find(|f| apart(&f.q) < SAME * L) {
                // The same pose, possibly more accurate; the first is kept if it is as good.
                Some(f) if distance < f.distance * (1.0 - 1e-6) => *f = Found::new(distance, bodies, &q),
                Some(_) => {}
                None => found[part].push(Found::new(distance, bodies, &q)),
            }
        }
        if made >= AGREED && found.iter().all(|f| f.len() == 1) {
            break;
        }
    }
    // The nearest pose of each group, and the next nearest of the group where it is closest to the nearest.
    let mut next: Option<(f64, usize, &Found)> = None;
    for (part, list) in found.iter().enumerate().filter(|(part, _)| long[*part]) {
        let mut order: Vec<&Found> = list.iter().collect();
        order.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        // The first closed pose is kept unchanged if it is the nearest.
        if order[0].distance < first[part] {
            for (&b, pose) in parts.bodies[part].iter().zip(&order[0].q) {
                q[b] = *pose;
            }
        }
        let mine = order[0].distance;
        if let Some(f) = order.get(1).filter(|f| f.distance < 1.5 * mine || f.distance < mine + 0.05 * L) {
            let behind = f.distance / mine;
            if next.as_ref().is_none_or(|(least, ..)| behind < *least) {
                next = Some((behind, part, f));
            }
        }
    }
    let total = walk.metric.total;
    let whole = |squares: f64| (squares / total).sqrt();
    let distance = walk.metric.distance(&start.q, q);
    let other = next.and_then(|(behind, part, f)| {
        let mut there = q.to_vec();
        for (&b, pose) in parts.bodies[part].iter().zip(&f.q) {
            there[b] = *pose;
        }
        let (mut body, mut by, mut turned) = farthest(model, q, &there);
        if by < ROUNDING * L {
            // No body changes its place: the body with the largest rotation is named, if any.
            let turns = q.iter().zip(&there).zip(&model.bodies).map(|((a, b), body)| (a.increment_to(b).w.norm(), &body.name));
            let (most, name) = turns.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(w, _)| *w > ROUNDING)?;
            (body, by, turned) = (name.clone(), 0.0, most);
        }
        let more = f.distance * f.distance * (1.0 - 1.0 / (behind * behind)) * parts.mass[part];
        Some(Other { distance: whole(distance * distance * total + more), body, by, turned })
    });
    let first = whole(first.iter().zip(&parts.mass).map(|(d, m)| d * d * m).sum::<f64>());
    Some(Branch { starts: made + 1, first, other })
}
