//! What holds one motion in several places: friction that sticks, limits, locks and contacts share its load, each within its bounds.
//!
//! How efforts of held rows that depend on each other are shared out is not unique, and the equations of motion give some way of sharing. The
//! mechanism stays at rest where any way is within all bounds. That is asked of motions instead of efforts: a part holds as long as in none of the
//! motions that it holds the load does more work than friction can take. Of these motions only the elementary ones matter, in which as many
//! of its rows rest as can: there are few of them, and they stay the same while the part is held, for none of its rows moves.

use super::decide::along_joint;
use super::jump::{Jump, complementary};
use super::{Eventful, HeldBy};
use crate::event::{Bounded, Doing, Limit, Mode};
use crate::motion::{Instant, load_across};
use crate::state::{Configuration, Twist, Wrench};
use fourbar_math::dense;
use nalgebra::{DMatrix, DVector, Matrix2, Vector3};
use serde::{Deserialize, Serialize};

/// Rows depend on each other where what is left of one is below this share of it.
const DEPENDENT: f64 = 1e-9;
/// Most elementary motions of a part; one with more is left to the way in which the equations of motion share.
const MOTIONS: usize = 400;
/// Sweeps over bounds at most, and what they may be missed by as a share of the largest.
const SWEEPS: usize = 1000;
const MET: f64 = 1e-10;
/// An effort within this share of its bound is within it.
const AT_BOUND: f64 = 1e-12;
/// Changes of efforts below this share of the largest effort are rounding.
const ROUNDING: f64 = 1e-12;
/// The largest share of changed efforts that the other constraints may leave unbalanced.
const ANSWERED: f64 = 1e-7;

/// Something that holds a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Holder {
    /// A lock, by its place among what is held: any effort.
    Lock(usize),
    /// A limit: pushes only.
    Limit(usize),
    /// Friction in a joint, by its place among those that stick: up to its bound.
    Friction(usize),
    /// Friction of a spot that sticks, with its direction in axes of the second body: up to its bound.
    Spot(usize, [f64; 3]),
}

/// Holders whose rows depend on each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    holders: Vec<Holder>,
    /// Square root of what a unit effort does to the rate of its own row.
    sizes: Vec<f64>,
    /// Rates of the rows in each elementary motion.
    motions: Vec<Vec<f64>>,
    /// Efforts, each times the size of its row, that balance each other: an orthonormal basis.
    balanced: Vec<Vec<f64>>,
}

/// What gives way where a part cannot hold its load any more.
#[derive(Clone, Debug, Default)]
pub struct Loosened {
    /// Friction in joints, with the direction in which they will slide.
    pub frictions: Vec<(usize, f64)>,
    /// Limits that are left.
    pub limits: Vec<usize>,
    /// Spots, with the direction in which the first body will slide, world.
    pub spots: Vec<(usize, Vector3<f64>)>,
}

/// What a holder carries at an instant, and how much it can carry: from, to.
#[derive(Clone, Copy, Debug)]
struct Carried {
    effort: f64,
    least: f64,
    most: f64,
}

impl Part {
    /// Whether friction of joints is among the holders; the first of them.
    fn first_friction(&self) -> Option<usize> {
        self.holders.iter().find_map(|h| if let Holder::Friction(k) = h { Some(*k) } else { None })
    }

    /// Whether it belongs to a mechanism with so much that is held, so many limits and so much friction that can stick.
    pub fn fits(&self, held: usize, limits: usize, frictions: usize) -> bool {
        let there = |h: &Holder| match *h {
            Holder::Lock(k) => k < held,
            Holder::Limit(k) | Holder::Spot(k, _) => k < limits,
            Holder::Friction(k) => k < frictions,
        };
        let n = self.holders.len();
        self.sizes.len() == n && self.motions.iter().chain(&self.balanced).all(|l| l.len() == n) && self.holders.iter().all(there)
    }

    /// Parts of some holders whose rows have the matrix `G`; holders that alone hold a motion are none. Friction of a joint that cannot move is
    /// a part without motions: it holds whatever its bound.
    fn all_of(holders: &[Holder], G: &DMatrix<f64>) -> Vec<Self> {
        let (moving, still): (Vec<usize>, Vec<usize>) = (0..holders.len()).partition(|&k| G[(k, k)] > 0.0);
        let idle = |k: &usize| Self { holders: vec![holders[*k]], sizes: vec![1.0], motions: Vec::new(), balanced: vec![vec![1.0]] };
        let mut list: Vec<Self> = still.iter().filter(|k| matches!(holders[**k], Holder::Friction(_))).map(idle).collect();
        let n = moving.len();
        if n < 2 {
            return list;
        }
        let size = |k: usize| G[(moving[k], moving[k])].sqrt();
        let scaled = DMatrix::from_fn(n, n, |i, j| G[(moving[i], moving[j])] / (size(i) * size(j)));
        let e = scaled.clone().symmetric_eigen();
        let null: Vec<usize> = (0..n).filter(|&k| e.eigenvalues[k] < DEPENDENT).collect();
        let N = e.eigenvectors.select_columns(&null);
        let P = &N * N.transpose();
        // Holders that any balance of efforts joins.
        let mut part_of: Vec<usize> = (0..n).collect();
        for i in 0..n {
            for j in 0..i {
                if P[(i, j)].abs() > DEPENDENT && part_of[i] != part_of[j] {
                    let (a, b) = (part_of[i].min(part_of[j]), part_of[i].max(part_of[j]));
                    part_of.iter_mut().filter(|p| **p == b).for_each(|p| *p = a);
                }
            }
        }
        for first in 0..n {
            let own: Vec<usize> = (0..n).filter(|k| part_of[*k] == first).collect();
            if own.len() > 1 {
                let block = scaled.select_rows(&own).select_columns(&own);
                let part = own.iter().map(|k| holders[moving[*k]]).collect();
                list.extend(Self::of(part, own.iter().map(|k| size(*k)).collect(), &block));
            }
        }
        list
    }

    /// A part of holders whose rows, each divided by its size, have the matrix `G`.
    fn of(holders: Vec<Holder>, sizes: Vec<f64>, G: &DMatrix<f64>) -> Option<Self> {
        let n = holders.len();
        let e = G.clone().symmetric_eigen();
        let (null, range): (Vec<usize>, Vec<usize>) = (0..n).partition(|&k| e.eigenvalues[k] < DEPENDENT);
        let [balanced, R] = [null, range].map(|list| e.eigenvectors.select_columns(&list));
        let r = R.ncols();
        let mut motions: Vec<Vec<f64>> = Vec::new();
        let mut rest: Vec<usize> = (0..r.saturating_sub(1)).collect();
        for count in 0.. {
            if count > MOTIONS {
                return None;
            }
            // The motion in which these rows rest, where there is one.
            let still = R.select_rows(&rest);
            let e = (still.transpose() * &still).symmetric_eigen();
            let slow: Vec<usize> = (0..r).filter(|&k| e.eigenvalues[k] < DEPENDENT).collect();
            if let [k] = slow.as_slice() {
                let w = &R * e.eigenvectors.column(*k);
                let most = w.amax();
                let w: Vec<f64> = w.iter().map(|x| if x.abs() > 1e-7 * most { x / most } else { 0.0 }).collect();
                let same = |v: &Vec<f64>| {
                    let off = |side: f64| v.iter().zip(&w).all(|(a, b)| (a - side * b).abs() < 1e-7);
                    off(1.0) || off(-1.0)
                };
                if !motions.iter().any(same) {
                    motions.push(w);
                }
            }
            if !next_choice(&mut rest, n) {
                break;
            }
        }
        // In efforts of the first friction.
        let unit = holders.iter().position(|h| matches!(h, Holder::Friction(_))).map_or(1.0, |k| sizes[k]);
        for w in &mut motions {
            w.iter_mut().zip(&sizes).for_each(|(w, size)| *w *= size / unit);
        }
        let balanced = balanced.column_iter().map(|c| c.iter().copied().collect()).collect();
        Some(Self { holders, sizes, motions, balanced })
    }

    /// What is left of what the part can hold, and the place of the motion that it holds least, with its side.
    fn slack(&self, carried: &[Carried]) -> (f64, Option<(usize, f64)>) {
        let mut least = (f64::INFINITY, None);
        for (k, w) in self.motions.iter().enumerate() {
            for side in [1.0, -1.0] {
                // Against the motion every holder carries the most that it can.
                let left: f64 = w
                    .iter()
                    .zip(carried)
                    .filter(|(w, _)| **w != 0.0)
                    .map(|(w, c)| {
                        let w = side * w;
                        w * (c.effort - if w > 0.0 { c.least } else { c.most })
                    })
                    .sum();
                if left < least.0 {
                    least = (left, Some((k, side)));
                }
            }
        }
        least
    }

    /// Columns of balanced efforts.
    fn balance(&self) -> DMatrix<f64> {
        DMatrix::from_fn(self.holders.len(), self.balanced.len(), |i, j| self.balanced[j][i])
    }

    /// The efforts that are nearest to those of the equations of motion and within all bounds. Limits carry what friction leaves.
    fn within(&self, carried: &[Carried]) -> Vec<f64> {
        let pushes = |c: &Carried| c.least == 0.0 && c.most == f64::INFINITY;
        let efforts: Vec<f64> = match carried.iter().any(pushes) {
            true => self.with_least(carried, &|c| if pushes(c) { 1.0 } else { 0.0 }),
            false => carried.iter().map(|c| c.effort).collect(),
        };
        let carried: Vec<Carried> = carried.iter().zip(&efforts).map(|(c, effort)| Carried { effort: *effort, ..*c }).collect();
        let over = |c: &Carried| c.effort > c.most * (1.0 + AT_BOUND) || c.effort < c.least * (1.0 + AT_BOUND);
        if !carried.iter().any(over) {
            return efforts;
        }
        // The least change, as a problem of complementarity over all finite bounds.
        let N = self.balance();
        let mut bounds: Vec<(usize, f64, f64)> = Vec::new();
        for (i, c) in carried.iter().enumerate() {
            bounds.extend([(i, 1.0, c.effort - c.least), (i, -1.0, c.most - c.effort)].into_iter().filter(|b| b.2.is_finite()));
        }
        let A = DMatrix::from_fn(bounds.len(), N.ncols(), |i, j| bounds[i].1 * N[(bounds[i].0, j)]);
        let room = DVector::from_iterator(bounds.len(), bounds.iter().map(|(i, _, room)| room * self.sizes[*i]));
        let G = &A * A.transpose();
        let mut x = complementary(&G, &room).unwrap_or_else(|_| DVector::zeros(bounds.len()));
        // Many bounds on few ways of balancing depend on each other: where the active set did not settle, sweeps over the bounds do.
        let top = room.amax();
        let misses = |x: &DVector<f64>| (&G * x + &room).iter().any(|r| *r < -MET * top);
        for _ in 0..SWEEPS {
            if !misses(&x) {
                break;
            }
            for i in (0..bounds.len()).filter(|i| G[(*i, *i)] > 0.0) {
                x[i] = (x[i] - (G.row(i).transpose().dot(&x) + room[i]) / G[(i, i)]).max(0.0);
            }
        }
        let change = N * (A.transpose() * x);
        (0..carried.len()).map(|i| efforts[i] + change[i] / self.sizes[i]).collect()
    }

    /// Efforts with as little friction as the load asks for: what limits and locks carry beside it, whatever their sign.
    fn with_least_friction(&self, carried: &[Carried]) -> Vec<f64> {
        let top = carried.iter().filter(|c| c.most.is_finite()).fold(0.0_f64, |m, c| m.max(c.most));
        let weight = |bound: f64| if top > 0.0 { top / bound.max(1e-6 * top) } else { 1.0 };
        self.with_least(carried, &|c| if c.most.is_finite() { weight(c.most) } else { 0.0 })
    }

    /// Efforts of which the sum of squares, each times a weight, is as small as the load allows.
    fn with_least(&self, carried: &[Carried], weight: &dyn Fn(&Carried) -> f64) -> Vec<f64> {
        let N = self.balance();
        let weight = |i: usize| weight(&carried[i]) / self.sizes[i];
        let most = (0..carried.len()).fold(f64::MIN_POSITIVE, |m, i| m.max(weight(i)));
        let rows = DMatrix::from_fn(carried.len(), N.ncols(), |i, j| weight(i) / most * N[(i, j)]);
        let wanted = DVector::from_fn(carried.len(), |i, _| -weight(i) / most * carried[i].effort * self.sizes[i]);
        let solved = dense::svd(rows, true, true).and_then(|svd| svd.solve(&wanted, DEPENDENT).ok());
        let change = solved.map_or_else(|| DVector::zeros(carried.len()), |z| N * z);
        (0..carried.len()).map(|i| carried[i].effort + change[i] / self.sizes[i]).collect()
    }
}

/// Rate along a row.
fn rate_along(row: &[(usize, Wrench); 2], v: &[Twist]) -> f64 {
    row.iter().map(|(b, x)| x.power(&v[*b])).sum()
}

/// The next choice of some of `n` in order; `false` after the last.
fn next_choice(list: &mut [usize], n: usize) -> bool {
    let r = list.len();
    for k in (0..r).rev() {
        if list[k] < n - r + k {
            list[k] += 1;
            for j in k + 1..r {
                list[j] = list[j - 1] + 1;
            }
            return true;
        }
    }
    false
}

impl Eventful {
    /// The parts of the mode in force, at a state; none where friction holds nothing together with anything else.
    pub(super) fn shared(&self, state: &Configuration) -> Vec<Part> {
        let base = &*self.base;
        let stuck: Vec<usize> = self.touched.iter().copied().filter(|&k| matches!(self.doing[k], Doing::Sticks(_))).collect();
        if !self.held_by.iter().any(|h| matches!(h, HeldBy::Friction(_))) {
            return Vec::new();
        }
        let mut mode = self.mode.clone();
        mode.held.clear();
        for l in base.limits.iter().filter(|l| l.of == Bounded::Own) {
            mode.joints[l.joint] = false;
        }
        // Spots that stick in one direction only, because other constraints hold the others, can share its load.
        let mut glides = mode.clone();
        glide(&mut glides);
        let mut spots = Vec::new();
        if !stuck.is_empty() {
            let model = base.in_mode(&glides);
            let mut jump = Jump::new(&model, state);
            let list = self.actives(&mut jump, state, &stuck);
            for (a, &k) in list.iter().zip(&stuck) {
                let row = |x: f64, y: f64| [0, 1].map(|side| (a.bodies[side], a.rows[side][1].scaled(x).plus(&a.rows[side][2].scaled(y))));
                let directions = [row(1.0, 0.0), row(0.0, 1.0)];
                let responses = [0, 1].map(|d| jump.response(&directions[d]));
                let G = Matrix2::from_fn(|i, j| rate_along(&directions[i], &responses[j]));
                let e = (0.5 * (G + G.transpose())).symmetric_eigen();
                let (most, least) = if e.eigenvalues[0] > e.eigenvalues[1] { (0, 1) } else { (1, 0) };
                let free: f64 = directions.iter().flatten().map(|(b, x)| jump.free(*b, x)).sum();
                let Some(second) = self.limits[k].spot.as_ref().map(|s| s.spot.bodies[1]) else { continue };
                if e.eigenvalues[most] <= 1e-11 * free {
                    continue;
                }
                if e.eigenvalues[least] > DEPENDENT * e.eigenvalues[most] {
                    spots.clear();
                    break;
                }
                let [x, y] = [e.eigenvectors[(0, most)], e.eigenvectors[(1, most)]];
                let d: Vector3<f64> = a.frame.column(1) * x + a.frame.column(2) * y;
                spots.push((Holder::Spot(k, state.q[second].A.tr_mul(&d).into()), row(x, y)));
            }
        }
        let model = base.in_mode(if spots.is_empty() { &mode } else { &glides });
        let mut list: Vec<(Holder, [(usize, Wrench); 2])> = Vec::new();
        for (place, (by, held)) in self.held_by.iter().zip(&self.mode.held).enumerate() {
            let along = || along_joint(held.joint, held.coordinate, 1.0).row(base, &state.q);
            match by {
                HeldBy::Lock(..) => list.push((Holder::Lock(place), along())),
                HeldBy::Friction(k) => list.push((Holder::Friction(*k), along())),
                HeldBy::Limit(_) => {}
            }
        }
        let closed = |(k, l): &(usize, &Limit)| self.closed[*k] && l.of != Bounded::Spot;
        list.extend(self.limits.iter().enumerate().filter(closed).map(|(k, l)| (Holder::Limit(k), l.row(base, &state.q))));
        list.extend(spots);
        let mut jump = Jump::new(&model, state);
        let responses: Vec<Vec<Twist>> = list.iter().map(|(_, r)| jump.response(r)).collect();
        let n = list.len();
        let mut G = DMatrix::from_fn(n, n, |i, j| rate_along(&list[i].1, &responses[j]));
        for i in 0..n {
            // What is left of a row that the constraints hold is rounding.
            let free: f64 = list[i].1.iter().map(|(b, x)| jump.free(*b, x)).sum();
            if G[(i, i)] < 1e-11 * free {
                G.row_mut(i).fill(0.0);
                G.column_mut(i).fill(0.0);
            }
        }
        let holders: Vec<Holder> = list.iter().map(|x| x.0).collect();
        Part::all_of(&holders, &G).into_iter().filter(|p| p.first_friction().is_some()).collect()
    }

    /// What the holders of a part carry at an instant of the mode in force, as the equations of motion share it, and their bounds.
    fn carried(&self, part: &Part, s: &Instant) -> Vec<Carried> {
        let one = |h: &Holder| match *h {
            Holder::Lock(place) => Carried { effort: s.efforts[self.kept.len() + place], least: f64::NEG_INFINITY, most: f64::INFINITY },
            Holder::Limit(k) => Carried { effort: self.limit_effort(k, s), least: 0.0, most: f64::INFINITY },
            Holder::Friction(k) => {
                let bound = self.bound_of(k, s);
                Carried { effort: self.held_effort(HeldBy::Friction(k), s), least: -bound, most: bound }
            }
            Holder::Spot(k, _) => {
                let (normal, along) = self.spot_force(k, s);
                let bound = self.limits[k].friction()[1] * normal.max(0.0);
                Carried { effort: along.dot(&self.spot_direction(h, s)), least: -bound, most: bound }
            }
        };
        part.holders.iter().map(one).collect()
    }

    /// Up to what friction that can stick holds at an instant, N or N m.
    pub(super) fn bound_of(&self, friction: usize, s: &Instant) -> f64 {
        let base = &*self.base;
        let Some(f) = base.forces[self.frictions[friction].0].1.sticks() else { return f64::NAN };
        f.bound(base, load_across(base, f.joint, &s.q, &s.reactions[f.joint]))
    }

    /// The part that a holder belongs to.
    fn part_of(&self, is: impl Fn(&Holder) -> bool) -> Option<&Part> {
        self.parts.iter().find(|p| p.holders.iter().any(&is))
    }

    /// Whether friction stands for the part that it belongs to, or for itself.
    pub(super) fn stands_for_its_part(&self, friction: usize) -> bool {
        self.part_of(|h| *h == Holder::Friction(friction)).is_none_or(|p| p.first_friction() == Some(friction))
    }

    /// Whether a spot that sticks is watched with friction in joints.
    pub(super) fn spot_is_shared(&self, limit: usize) -> bool {
        self.part_of(|h| matches!(h, Holder::Spot(k, _) if *k == limit)).is_some()
    }

    /// What is left of what friction that sticks holds, with all that holds the same motion.
    pub(super) fn left_of(&self, friction: usize, s: &Instant) -> f64 {
        match self.part_of(|h| *h == Holder::Friction(friction)) {
            Some(part) => part.slack(&self.carried(part, s)).0,
            None => self.bound_of(friction, s) - self.held_effort(HeldBy::Friction(friction), s).abs(),
        }
    }

    /// What gives way where that has come down to zero.
    pub(super) fn loosened(&self, friction: usize, s: &Instant) -> Loosened {
        let mut out = Loosened::default();
        let Some(part) = self.part_of(|h| *h == Holder::Friction(friction)) else {
            out.frictions.push((friction, -self.held_effort(HeldBy::Friction(friction), s).signum()));
            return out;
        };
        let Some((motion, side)) = part.slack(&self.carried(part, s)).1 else { return out };
        for (h, w) in part.holders.iter().zip(&part.motions[motion]).filter(|(_, w)| **w != 0.0) {
            let way = side * w.signum();
            match *h {
                Holder::Friction(k) => out.frictions.push((k, way)),
                Holder::Limit(k) => out.limits.push(k),
                Holder::Spot(k, _) => out.spots.push((k, self.spot_direction(h, s) * way)),
                Holder::Lock(_) => {}
            }
        }
        out
    }

    /// Force of a closed limit along its gap with as little friction beside it as the load asks for.
    pub(super) fn limit_push(&self, limit: usize, s: &Instant) -> f64 {
        let own = |h: &Holder| *h == Holder::Limit(limit);
        let Some(part) = self.part_of(own) else { return self.limit_effort(limit, s) };
        let efforts = part.with_least_friction(&self.carried(part, s));
        part.holders.iter().zip(efforts).find(|(h, _)| own(h)).map_or(0.0, |(_, e)| e)
    }

    /// Distributes the efforts of holders that share a load so that each is within its bounds, and changes the reactions that depend on the
    /// distribution with them: the sum of all loads on every body stays as it is.
    pub(super) fn share_out(&self, s: &mut Instant) {
        for part in &self.parts {
            let carried = self.carried(part, s);
            let efforts = part.within(&carried);
            let size = carried.iter().fold(0.0_f64, |m, c| m.max(c.effort.abs()));
            let changes: Vec<f64> = efforts.iter().zip(&carried).map(|(e, c)| e - c.effort).collect();
            if changes.iter().any(|c| c.abs() > ROUNDING * size) {
                self.change_efforts(part, &changes, s);
            }
        }
    }

    /// Adds changes to the efforts of the holders of a part, and to the other loads what balances them. The instant stays as it is where the other
    /// constraints cannot balance the changes.
    fn change_efforts(&self, part: &Part, changes: &[f64], s: &mut Instant) {
        let base = &*self.base;
        let at = s.configuration();
        // The mode without what may hold a part.
        let mut mode = self.mode.clone();
        mode.held.clear();
        for l in base.limits.iter().filter(|l| l.of == Bounded::Own) {
            mode.joints[l.joint] = false;
        }
        if self.parts.iter().flat_map(|p| &p.holders).any(|h| matches!(h, Holder::Spot(..))) {
            glide(&mut mode);
        }
        let model = base.in_mode(&mode);
        let changed = |(h, change): (&Holder, &f64)| self.row_of(h, s).map(|(b, x)| (b, x.scaled(*change)));
        let rows: Vec<_> = part.holders.iter().zip(changes).map(changed).collect();
        let mut jump = Jump::new(&model, &at);
        let (lambda, left) = jump.answer(&rows);
        if left.is_nan() || left > ANSWERED {
            return;
        }
        let others = jump.loads(&lambda, &at);
        for (sum, x) in s.reactions.iter_mut().zip(&others.reactions).chain(s.constraints.iter_mut().zip(&others.constraints)) {
            sum.force += x.force;
            sum.torque += x.torque;
        }
        for (drive, effort) in base.drives_of(&mode).iter().zip(&others.efforts) {
            if let Some(place) = self.kept.iter().position(|k| k == drive) {
                s.efforts[place] += effort;
            }
        }
        for (h, change) in part.holders.iter().zip(changes) {
            self.add_to(h, *change, s);
        }
    }

    /// Adds to the effort of a holder at an instant of the mode in force.
    fn add_to(&self, holder: &Holder, change: f64, s: &mut Instant) {
        let base = &*self.base;
        let (by, sign) = match *holder {
            Holder::Friction(k) => (HeldBy::Friction(k), 1.0),
            Holder::Limit(k) => (HeldBy::Limit(k), self.limits[k].side),
            Holder::Lock(place) => (self.held_by[place], 1.0),
            Holder::Spot(k, _) => {
                if let Some(place) = self.touched.iter().position(|x| *x == k) {
                    let force = self.spot_direction(holder, s) * change;
                    s.constraints[base.bare.len() + base.rolling.len() + place].force += force;
                }
                return;
            }
        };
        if let Holder::Limit(k) = *holder
            && self.limits[k].of == Bounded::Own
        {
            // The limit pushes through the reaction of its joint.
            let l = &self.limits[k];
            let joint = &base.joints[l.joint];
            let moving = joint.bodies[1].index();
            if let Some((_, x)) = l.row(base, &s.q).iter().find(|(b, _)| *b == moving) {
                let A = s.q[moving].A;
                let w = &mut s.reactions[l.joint];
                w.force += x.F * change;
                w.torque += (A * x.T - (A * joint.M.s).cross(&x.F)) * change;
            }
        } else if let Some(place) = self.held_by.iter().position(|x| *x == by) {
            s.efforts[self.kept.len() + place] += sign * change;
        }
    }

    /// The wrenches on two bodies of a unit effort of a holder.
    fn row_of(&self, holder: &Holder, s: &Instant) -> [(usize, Wrench); 2] {
        let base = &*self.base;
        let held = |place: usize| {
            let h = &self.mode.held[place];
            along_joint(h.joint, h.coordinate, 1.0).row(base, &s.q)
        };
        match *holder {
            Holder::Lock(place) => held(place),
            Holder::Limit(k) => self.limits[k].row(base, &s.q),
            Holder::Friction(k) => match self.held_by.iter().position(|x| *x == HeldBy::Friction(k)) {
                Some(place) => held(place),
                None => [(0, Wrench::zero()); 2],
            },
            Holder::Spot(k, _) => {
                let Some(spot) = &self.limits[k].spot else { return [(0, Wrench::zero()); 2] };
                let (d, p) = (self.spot_direction(holder, s), spot.moving(&s.q, &s.v).touch.p);
                let [first, second] = spot.spot.bodies;
                let on = |b: usize, F: Vector3<f64>| (b, Wrench { F, T: s.q[b].A.tr_mul(&(p - s.q[b].r).cross(&F)) });
                [on(first, d), on(second, -d)]
            }
        }
    }

    /// The direction of the friction of a spot that shares a load, world.
    fn spot_direction(&self, holder: &Holder, s: &Instant) -> Vector3<f64> {
        let Holder::Spot(k, d) = *holder else { return Vector3::zeros() };
        let second = self.limits[k].spot.as_ref().map_or(0, |x| x.spot.bodies[1]);
        s.q[second].A * Vector3::from(d)
    }
}

/// Spots that stick become spots without tangential constraints.
fn glide(mode: &mut Mode) {
    for t in mode.touching.iter_mut().flatten().filter(|t| matches!(t.doing, Doing::Sticks(_))) {
        t.doing = Doing::Glides;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn matrix(rows: &DMatrix<f64>) -> DMatrix<f64> {
        rows * rows.transpose()
    }

    /// Three frictions on one motion hold as much as all of them together, whatever way the load was shared in.
    #[test]
    fn one_motion_is_held_by_all() {
        let rates = DMatrix::from_vec(3, 1, vec![1.0, -2.0, 0.5]);
        let holders = [0, 1, 2].map(Holder::Friction);
        let parts = Part::all_of(&holders, &matrix(&rates));
        assert!(parts.len() == 1 && parts[0].motions.len() == 1, "{parts:?}");
        let bounds = [0.9, 0.2, 0.4];
        let most = 0.9 + 2.0 * 0.2 + 0.5 * 0.4;
        for share in [0.0, 0.5, 0.999, 1.001, 2.0] {
            for side in [1.0, -1.0] {
                // All of the load at the last of them.
                let load = [0.0, 0.0, side * share * most / 0.5];
                let carried: Vec<Carried> = load.iter().zip(bounds).map(|(e, b)| Carried { effort: *e, least: -b, most: b }).collect();
                let (left, motion) = parts[0].slack(&carried);
                let unit = rates[0] / (parts[0].motions[0][0]).abs();
                assert!((left * unit - (1.0 - share) * most).abs() < 1e-9, "{left}");
                assert!(motion.is_some());
                if share < 1.0 {
                    let efforts = parts[0].within(&carried);
                    let power: f64 = efforts.iter().zip(rates.iter()).map(|(e, w)| e * w).sum();
                    assert!((power - side * share * most).abs() < 1e-9, "{efforts:?}");
                    assert!(efforts.iter().zip(bounds).all(|(e, b)| e.abs() <= b + 1e-9), "{efforts:?}");
                }
            }
        }
    }

    /// Drawn parts: what is held is what some way of sharing is within all bounds, found by looking at many of them.
    #[test]
    fn drawn_parts_hold_what_some_way_of_sharing_holds() {
        let mut r = Random(11);
        let (mut held, mut loose) = (0, 0);
        for _ in 0..300 {
            let freedoms = 1 + (r.number().abs() * 1.999) as usize;
            let n = freedoms + 1;
            let rates = DMatrix::from_fn(n, freedoms, |_, _| r.number());
            let holders: Vec<Holder> =
                (0..n).map(|k| if k == 0 && r.number() > 0.3 { Holder::Limit(0) } else { Holder::Friction(k) }).collect();
            let parts = Part::all_of(&holders, &matrix(&rates));
            let Some(part) = parts.iter().find(|p| p.holders.len() == n) else { continue };
            let carried: Vec<Carried> = holders
                .iter()
                .map(|h| match h {
                    Holder::Limit(_) => Carried { effort: 2.0 * r.number(), least: 0.0, most: f64::INFINITY },
                    _ => {
                        let bound = r.number().abs();
                        Carried { effort: 2.0 * r.number(), least: -bound, most: bound }
                    }
                })
                .collect();
            // One way of balancing only: what all of them leave of it is an interval.
            let N = part.balance();
            assert_eq!(N.ncols(), 1);
            let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
            for (i, c) in carried.iter().enumerate() {
                let x = N[(i, 0)] / part.sizes[i];
                if x.abs() < 1e-12 {
                    continue;
                }
                let ends = [(c.least - c.effort) / x, (c.most - c.effort) / x];
                low = low.max(ends[0].min(ends[1]));
                high = high.min(ends[0].max(ends[1]));
            }
            let (left, _) = part.slack(&carried);
            if (high - low).abs() < 1e-6 {
                continue;
            }
            assert_eq!(left > 0.0, low < high, "{part:?} {carried:?}: {left}, {low} to {high}");
            if left > 0.0 {
                held += 1;
                let efforts = part.within(&carried);
                for (e, c) in efforts.iter().zip(&carried) {
                    assert!(*e >= c.least - 1e-9 && *e <= c.most + 1e-9, "{part:?} {carried:?}: {efforts:?}");
                }
            } else {
                loose += 1;
            }
        }
        assert!(held > 50 && loose > 50, "{held} {loose}");
    }
}
