//! Mobility: the number of motions that the constraints leave, by count and by numerical rank, and a description of them.
//!
//! Small mechanisms are analysed by singular values, large ones by eliminating body after body, at a cost little above their size. No
//! matrix is dense in the size of a large mechanism.

use crate::analysis::assembly::{self, Options};
use crate::analysis::eliminate::eliminate;
use crate::constraint::ConstraintSet;
use crate::model::{BodyId, JointCoordinate, Model};
use crate::random::Random;
use crate::state::{Configuration, Pose, Twist};
use crate::topology::is_forest;
use fourbar_math::dense;
use nalgebra::{DMatrix, DVector};

/// Singular values below this fraction of the largest count as zero.
pub const TOLERANCE: f64 = 1e-8;
/// Up to this many columns or rows the rank is determined by singular values.
pub const DENSE: usize = 300;
/// Maximum number of free motions of a larger mechanism for which these are computed individually.
pub const MOTIONS: usize = 40;

/// Rank of the constraints at one pose.
#[derive(Clone, Debug)]
pub struct Rank {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns: six per moving body.
    pub columns: usize,
    /// Numerical rank.
    pub rank: usize,
    /// Smallest singular value that counts, relative to the largest; `None` for large mechanisms.
    pub smallest: Option<f64>,
    /// Basis of the free motions, one velocity per body each; rotations in radians per second. Empty for large mechanisms with
    /// more than [`MOTIONS`] of them.
    pub motions: Vec<Vec<Twist>>,
}

impl Rank {
    /// Free motions.
    pub fn mobility(&self) -> usize {
        self.columns - self.rank
    }
    /// Dependent rows.
    pub fn redundant(&self) -> usize {
        self.rows - self.rank
    }
    /// Free motions without effect: rotations of point masses. Zero if the motions are not known individually.
    pub fn idle(&self, model: &Model) -> usize {
        let point = |b: usize| model.bodies[b].mass > 0.0 && model.bodies[b].J_bar.amax() == 0.0;
        if self.motions.is_empty() || !(1..model.bodies.len()).any(point) {
            return 0;
        }
        // Positions of all bodies, and rotations of those that are not points.
        let moved = DMatrix::from_fn(6 * model.moving(), self.motions.len(), |i, m| {
            let (b, x) = (1 + i / 6, &self.motions[m][1 + i / 6]);
            let way = match i % 6 {
                k @ 0..3 => x.v[k],
                _ if point(b) => 0.0,
                k => model.length * x.w[k - 3],
            };
            // Motions have unit length: values below this are rounding.
            if way.abs() < TOLERANCE { 0.0 } else { way }
        });
        self.motions.len() - dense::rank_alone(&moved, TOLERANCE)
    }
}

/// The Jacobian as a dense matrix: rows of unit length, rotations measured as `L omega`.
pub fn dense_jacobian(model: &Model, set: &ConstraintSet, q: &[Pose]) -> DMatrix<f64> {
    let mut G = vec![0.0; set.values];
    set.jacobian(q, &mut G);
    let mut A = DMatrix::zeros(set.rows(), 6 * model.moving());
    for c in 0..set.list.len() {
        for b in set.blocks_of(c) {
            for (k, row) in G[b.start..].chunks_exact(6).take(set.row_start[c + 1] - set.row_start[c]).enumerate() {
                for l in 0..6 {
                    A[(set.row_start[c] + k, 6 * (b.body - 1) + l)] = if l < 3 { row[l] } else { row[l] / model.length };
                }
            }
        }
    }
    for mut row in A.row_iter_mut() {
        let n = row.norm();
        if n > 0.0 {
            row /= n;
        }
    }
    A
}

/// Rank of a set of constraints at a pose.
pub fn rank(model: &Model, set: &ConstraintSet, q: &[Pose]) -> Rank {
    let (rows, columns) = (set.rows(), 6 * model.moving());
    if rows.max(columns) <= DENSE {
        let r = dense::rank(&dense_jacobian(model, set, q), TOLERANCE);
        let motions = r.null.column_iter().map(|c| from_vector(model, &c.into_owned())).collect();
        return Rank { rows, columns, rank: r.rank, smallest: Some(r.smallest), motions };
    }
    let found = eliminate(model, set, q, MOTIONS);
    Rank { rows, columns, rank: found.rank, smallest: None, motions: found.motions.unwrap_or_default() }
}

/// Number of rows of all constraints, velocities included, that depend on others at a pose.
pub fn redundant_rows(model: &Model, set: &ConstraintSet, q: &[Pose]) -> usize {
    if is_forest(model) {
        return 0;
    }
    if set.rows().max(6 * model.moving()) <= DENSE {
        return rank(model, set, q).redundant();
    }
    set.rows() - eliminate(model, set, q, 0).rank
}

fn from_vector(model: &Model, x: &DVector<f64>) -> Vec<Twist> {
    let mut v = vec![Twist::zero(); model.bodies.len()];
    for b in 1..v.len() {
        for k in 0..3 {
            v[b].v[k] = x[6 * (b - 1) + k];
            v[b].w[k] = x[6 * (b - 1) + 3 + k] / model.length;
        }
    }
    v
}

/// Mobility of a mechanism: at its start, and generically.
#[derive(Clone, Debug)]
pub struct Mobility {
    /// Freedoms minus rows, which may be misleading.
    pub by_count: i64,
    /// At the start.
    pub start: Rank,
    /// At nearby assembled poses, where the rank is largest.
    pub generic: Rank,
    /// Whether the start is a singular pose: its rank is lower than nearby.
    pub singular_start: bool,
}

/// Mobility with or without the drives, from an assembled configuration. A large mechanism is compared with nearby poses only if it has few
/// free motions.
pub fn mobility(model: &Model, start: &Configuration, drives: bool) -> Mobility {
    let mut list = model.constraints(drives);
    list.extend(model.velocity_constraints());
    mobility_of(model, &ConstraintSet::new(list, |_| false), start, drives)
}

/// The same for a given layout of constraints.
pub fn mobility_of(model: &Model, set: &ConstraintSet, start: &Configuration, drives: bool) -> Mobility {
    let here = rank(model, set, &start.q);
    let mut generic = here.clone();
    let mut random = Random(0x0bad_5eed_0bad_5eed);
    // Small steps along free motions, closed again, in case the start is singular. Without loops no pose is singular.
    if !here.motions.is_empty() && here.rows > 0 && !is_forest(model) {
        // For a large mechanism one nearby pose is sufficient: a random motion does not lead to a singular pose by chance.
        let nearby = if here.smallest.is_some() { 2 } else { 1 };
        for _ in 0..nearby {
            if let Some(q) = wander(model, start, &here.motions, &mut random, drives) {
                let there = rank(model, set, &q);
                if there.rank > generic.rank {
                    generic = there;
                }
            }
        }
    }
    Mobility { by_count: here.columns as i64 - here.rows as i64, singular_start: generic.rank > here.rank, start: here, generic }
}

/// A nearby assembled pose reached by a random free motion of about a hundredth of the characteristic length.
pub fn wander(model: &Model, start: &Configuration, motions: &[Vec<Twist>], random: &mut Random, drives: bool) -> Option<Vec<Pose>> {
    let mut moved = start.clone();
    let mut d = vec![Twist::zero(); model.bodies.len()];
    for m in motions.iter().take(64) {
        let k = random.number();
        d.iter_mut().zip(m).for_each(|(d, m)| *d = d.plus(&m.scaled(k)));
    }
    let size = d.iter().fold(0.0_f64, |s, d| s.max(d.v.norm()).max(model.length * d.w.norm()));
    if size == 0.0 {
        return None;
    }
    for (q, d) in moved.q.iter_mut().zip(&d) {
        *q = q.moved(&d.scaled(1e-2 * model.length / size));
    }
    let mut free = model.clone();
    free.hold.clear();
    // Driven coordinates may change: only the joints must stay closed.
    if drives {
        free.drives.clear();
    }
    moved.v.fill(Twist::zero());
    assembly::assemble_from(&free, &moved, Options { drives: false, restarts: 0, starts: 0 }).ok().map(|a| a.configuration.q)
}

/// Description of a free motion: the joint coordinate or body that describes it best.
#[derive(Clone, Debug)]
pub struct FreeMotion {
    /// Name of the joint or body.
    pub name: String,
    /// `angle`, `distance`, or `moves freely`.
    pub what: &'static str,
}

/// An independent set of coordinates that describes the free motions.
pub fn describe(model: &Model, q: &[Pose], motions: &[Vec<Twist>]) -> Vec<FreeMotion> {
    let mut labels = Vec::new();
    let mut rates: Vec<Vec<f64>> = Vec::new();
    for (k, j) in model.joints.iter().enumerate().filter(|(_, j)| !j.open) {
        let [a, b] = j.bodies.map(BodyId::index);
        // A coordinate driven by a gear is described by the driving one.
        let follows = if model.couplings.iter().any(|c| c.joints[1] == k) { 0.2 } else { 1.0 };
        for which in [JointCoordinate::Angle, JointCoordinate::Distance] {
            if let Some(y) = j.coordinate(which) {
                let row = y.row(&q[a], &q[b]).parts;
                // Coordinates relative to ground are preferred.
                let grounded = if a == 0 || b == 0 { 4.0 } else { 1.0 };
                let scale = follows * grounded * if which == JointCoordinate::Angle { model.length } else { 1.0 };
                rates.push(motions.iter().map(|m| scale * (row[0].power(&m[a]) + row[1].power(&m[b]))).collect());
                labels.push(FreeMotion { name: j.name.clone(), what: if which == JointCoordinate::Angle { "angle" } else { "distance" } });
            }
        }
    }
    let joints = rates.len();
    for b in 1..model.bodies.len() {
        for k in 0..6 {
            // Bodies are named only if joint coordinates do not describe the motion.
            rates.push(motions.iter().map(|m| 1e-3 * if k < 3 { m[b].v[k] } else { model.length * m[b].w[k - 3] }).collect());
            let what = if k < 3 { "moves" } else { "turns" };
            labels.push(FreeMotion { name: model.bodies[b].name.clone(), what });
        }
    }
    if motions.is_empty() {
        return Vec::new();
    }
    let A = DMatrix::from_fn(motions.len(), rates.len(), |i, j| rates[j][i]);
    let mut chosen = dense::independent_columns(&A, 1e-7);
    // Joint coordinates first, in the order of the file.
    chosen.sort_by_key(|&c| (c >= joints, c));
    chosen.into_iter().map(|c| labels[c].clone()).collect()
}
