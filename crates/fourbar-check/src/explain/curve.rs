//! Following a motion pose by pose: a step along the free direction, then a projection back onto the constraints.
//!
//! The direction is the previous one projected onto the null space of the constraints, so that the curve passes straight through dead
//! points and crossings of branches. Lengths along it: the largest translation of a body, or rotation times L.

use fourbar::analysis::assembly::flipped_joint;
use fourbar::analysis::independent::distance;
use fourbar::analysis::rank::dense_jacobian;
use fourbar::constraint::{Constraint, ConstraintSet};
use fourbar::coordinate::Coordinate;
use fourbar::model::{BodyId, Model};
use fourbar::projector::Projector;
use fourbar::schur::unit_weights;
use fourbar::state::{Configuration, Pose, Twist};
use nalgebra::{DMatrix, DVector};

/// Largest step, as a share of the characteristic length.
const LONGEST: f64 = 0.1;
/// Smallest step, as a share of the largest.
const SHORTEST: f64 = 1e-3;
/// Smallest singular value above which the sparse factorisation gives the direction.
const SPARSE: f64 = 1e-4;
/// Squared singular values below this share of the largest belong to the null space.
const ZERO: f64 = 1e-12;

/// A pose of a motion.
#[derive(Clone, Debug)]
pub struct Point {
    /// Poses.
    pub q: Vec<Pose>,
    /// Counted angles.
    pub turns: Vec<f64>,
    /// Direction in which the curve continues.
    pub tangent: Vec<Twist>,
    /// Smallest singular value of the constraints that is not identically zero, relative to the largest.
    pub sigma: f64,
    /// Length along the curve from its start, signed.
    pub s: f64,
}

/// Reason for the end of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It returned to its start.
    Closed,
    /// It has the maximum number of points.
    Long,
    /// No further pose was found.
    Lost,
}

/// Follows one motion.
pub struct Curve<'m> {
    model: &'m Model,
    /// Rows that positions must satisfy.
    set: ConstraintSet,
    /// These rows and those of rolling elements, which directions must satisfy too.
    all: ConstraintSet,
    /// Generic rank of `all`.
    rank: usize,
    /// Projectors for corrections of poses, on `set`, and of directions, on `all`.
    on: Projector,
    along: Projector,
}

impl<'m> Curve<'m> {
    /// The motion that joints and `held` allow; `rank` is the generic rank of all these rows.
    pub fn new(model: &'m Model, held: Vec<Constraint>, rank: usize) -> Self {
        let mut list = model.constraints(false);
        list.extend(held);
        let set = ConstraintSet::new(list.clone(), |_| false);
        list.extend(model.velocity_constraints());
        let all = ConstraintSet::new(list, |_| false);
        let (on, along) = (Projector::new(&set, unit_weights(model)), Projector::new(&all, unit_weights(model)));
        Self { model, set, all, rank, on, along }
    }

    /// The largest step.
    pub fn step(&self) -> f64 {
        LONGEST * self.model.length
    }

    /// The first point, in the direction in which `y` grows fastest.
    pub fn start(&mut self, at: &Configuration, y: &Coordinate, bodies: [BodyId; 2]) -> Point {
        let mut wish = vec![Twist::zero(); at.q.len()];
        let [i, j] = bodies.map(BodyId::index);
        let row = y.row(&at.q[i], &at.q[j]).parts;
        let L2 = self.model.length * self.model.length;
        for (b, part) in [(i, row[0]), (j, row[1])] {
            // The gradient in the metric of translations and L times rotations.
            wish[b] = wish[b].plus(&Twist { v: part.F, w: part.T / L2 });
        }
        wish[0] = Twist::zero();
        let (tangent, sigma) = self.direction(&at.q, &wish);
        Point { q: at.q.clone(), turns: at.turns.clone(), tangent, sigma, s: 0.0 }
    }

    /// The free direction nearest to `wish`, of unit size, and the smallest nonzero singular value.
    fn direction(&mut self, q: &[Pose], wish: &[Twist]) -> (Vec<Twist>, f64) {
        let A = dense_jacobian(self.model, &self.all, q);
        // The smaller of the two products has the same singular values.
        let S = if A.nrows() < A.ncols() { &A * A.transpose() } else { A.tr_mul(&A) };
        let mut values: Vec<f64> = S.symmetric_eigenvalues().iter().copied().collect();
        values.sort_by(|a, b| b.total_cmp(a));
        let top = values.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let sigma = self.rank.checked_sub(1).and_then(|k| values.get(k)).map_or(1.0, |x| (x.max(0.0) / top).sqrt());
        let mut tangent = if sigma > SPARSE { self.projected(q, wish) } else { self.spanned(&A, wish) };
        let long = size(&tangent, self.model.length);
        if long > 0.0 {
            tangent.iter_mut().for_each(|t| *t = t.scaled(1.0 / long));
        }
        (tangent, sigma)
    }

    /// `wish` without the component that violates the constraints, by the sparse factorisation.
    fn projected(&mut self, q: &[Pose], wish: &[Twist]) -> Vec<Twist> {
        let mut v = wish.to_vec();
        self.along.factor(&self.all, q, 1e-12);
        // Repetition removes the effect of the shift in the factorisation.
        for _ in 0..3 {
            self.along.rates(&self.all, &v);
            self.along.normal_part(&self.all);
            for (v, d) in v.iter_mut().zip(&self.along.dq) {
                *v = v.plus(&d.scaled(-1.0));
            }
        }
        v
    }

    /// The component of `wish` in the null space, by eigenvectors: used near singular poses, where the null space is larger.
    fn spanned(&self, A: &DMatrix<f64>, wish: &[Twist]) -> Vec<Twist> {
        let L = self.model.length;
        let n = A.ncols();
        let eigen = A.tr_mul(A).symmetric_eigen();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        let top = order.last().map_or(0.0, |&k| eigen.eigenvalues[k]).max(f64::MIN_POSITIVE);
        let x = DVector::from_fn(n, |k, _| {
            let v = &wish[1 + k / 6];
            if k % 6 < 3 { v.v[k % 6] } else { L * v.w[k % 6 - 3] }
        });
        let mut y = DVector::zeros(n);
        for (place, &k) in order.iter().enumerate() {
            if place < n - self.rank || eigen.eigenvalues[k] < ZERO * top {
                let e = eigen.eigenvectors.column(k);
                y += e * e.dot(&x);
            }
        }
        let mut tangent = vec![Twist::zero(); wish.len()];
        for k in 0..n {
            let v = &mut tangent[1 + k / 6];
            if k % 6 < 3 {
                v.v[k % 6] = y[k];
            } else {
                v.w[k % 6 - 3] = y[k] / L;
            }
        }
        tangent
    }

    /// Projects a pose onto the constraints; returns the size of the change.
    fn correct(&mut self, q: &mut [Pose], turns: &[f64]) -> Option<f64> {
        let L = self.model.length;
        let extent = q.iter().fold(L, |s, q| s.max(q.r.amax()));
        let mut total = 0.0;
        for _ in 0..12 {
            self.set.residual(q, turns, 0.0, &mut self.on.x);
            let worst = self.on.size();
            if worst <= 1e-12 * extent {
                return Some(total);
            }
            if !worst.is_finite() || worst > extent {
                return None;
            }
            // The shift allows redundant rows and hardly slows the iteration.
            self.on.factor(&self.set, q, 1e-11);
            self.on.normal_part(&self.set);
            for (q, d) in q.iter_mut().zip(&self.on.dq) {
                *q = q.moved(&d.scaled(-1.0));
            }
            total += size(&self.on.dq, L);
        }
        None
    }

    /// The point at a distance `h` from another one.
    pub fn ahead(&mut self, from: &Point, h: f64) -> Option<Point> {
        let mut q: Vec<Pose> = from.q.iter().zip(&from.tangent).map(|(q, t)| q.moved(&t.scaled(h))).collect();
        let correction = self.correct(&mut q, &from.turns)?;
        // A correction much larger than curvature explains would lead to another branch.
        if correction > 0.35 * h.abs() || flipped_joint(self.model, &q).is_some() {
            return None;
        }
        let turns = self.model.angles.iter().zip(&from.turns).map(|(a, last)| {
            let [i, j] = a.bodies.map(|b| &q[b.index()]);
            a.value(i, j, *last)
        });
        let turns = turns.collect();
        let (tangent, sigma) = self.direction(&q, &from.tangent);
        let L = self.model.length;
        let turned = from.tangent.iter().zip(&tangent).fold(0.0_f64, |s, (a, b)| s.max((a.v - b.v).norm()).max(L * (a.w - b.w).norm()));
        (turned < 0.6).then_some(Point { q, turns, tangent, sigma, s: from.s + h })
    }

    /// The start as reached again from a nearby point: the same pose, with the turns accumulated on the way.
    fn closing(&self, near: &Point, first: &Point) -> Point {
        let rest: Vec<Twist> = near.q.iter().zip(&first.q).map(|(a, b)| a.increment_to(b)).collect();
        let h = inner(self.model, &rest, &near.tangent) / inner(self.model, &near.tangent, &near.tangent);
        let turns = self.model.angles.iter().zip(&near.turns).map(|(a, last)| {
            let [i, j] = a.bodies.map(|b| &first.q[b.index()]);
            a.value(i, j, *last)
        });
        Point { turns: turns.collect(), s: near.s + h, ..first.clone() }
    }

    /// Follows the motion from `first` on, forwards or backwards, for at most `most` points.
    pub fn follow(&mut self, first: &Point, forwards: bool, most: usize) -> (Vec<Point>, End) {
        let longest = if forwards { self.step() } else { -self.step() };
        let mut h = longest;
        let mut points = vec![first.clone()];
        while points.len() < most {
            let last = points[points.len() - 1].clone();
            match self.ahead(&last, h) {
                Some(p) => {
                    let gap = distance(self.model, &p.q, &first.q);
                    if points.len() > 4 && gap < 0.8 * h.abs() && inner(self.model, &p.tangent, &first.tangent) > 0.0 {
                        points.push(self.closing(&p, first));
                        return (points, End::Closed);
                    }
                    points.push(p);
                    h = if h.abs() * 1.5 > longest.abs() { longest } else { h * 1.5 };
                }
                None => h *= 0.4,
            }
            if h.abs() < SHORTEST * longest.abs() {
                return (points, End::Lost);
            }
        }
        (points, End::Long)
    }
}

/// Inner product of translations and L times rotations.
fn inner(model: &Model, a: &[Twist], b: &[Twist]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.v.dot(&b.v) + model.length.powi(2) * a.w.dot(&b.w)).sum()
}

/// Largest translation, or rotation times `L`.
pub fn size(d: &[Twist], L: f64) -> f64 {
    d.iter().fold(0.0, |s, d| f64::max(s, d.v.norm().max(L * d.w.norm())))
}
