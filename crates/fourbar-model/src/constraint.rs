//! Constraint rows as data, and the set of all constraints of a mechanism evaluated at once.
//!
//! A constraint belongs to a named element (joint, coupling, bare constraint, drive) and acts on a list of bodies: usually two, up to four
//! for gears. Its Jacobian is stored as one block (rows by six) per movable body, in the order of the element, so the pattern never
//! changes.

use crate::coordinate::Coordinate;
use crate::model::BodyId;
use crate::rolling::Rolling;
use crate::state::{Pose, Twist, Wrench};
use crate::time::TimeFunction;
use fourbar_math::so3::tilde;
use nalgebra::{Matrix6, Vector3};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// One row, or three that belong together.
#[derive(Clone, Debug)]
pub enum Rows {
    /// Two points coincide: three CD rows in world axes.
    Point {
        /// Slots of the bodies.
        ij: [usize; 2],
        /// Point on i, relative to the centre of mass.
        s_i: Vector3<f64>,
        /// Point on j.
        s_j: Vector3<f64>,
    },
    /// Two directions coincide: `L (a_j - a_i)` in world axes. Redundant, but it excludes the flipped solution.
    Direction {
        /// Slots of the bodies.
        ij: [usize; 2],
        /// Direction on i.
        a_i: Vector3<f64>,
        /// Direction on j.
        a_j: Vector3<f64>,
        /// Factor that makes the row a length.
        L: f64,
    },
    /// Velocity constraints without a position level: rolling, knife edge.
    Rolling(Rolling),
    /// `sum c_k y_k - constant - factor f(t)`.
    Sum {
        /// Coefficients and coordinates.
        terms: SmallVec<[(f64, Coordinate); 1]>,
        /// Constant part.
        constant: f64,
        /// Time-dependent part; boxed, because few rows have one and all rows are traversed often.
        driven: Option<Box<(f64, TimeFunction)>>,
    },
}

impl Rows {
    /// A single coordinate: `c y - constant`.
    pub fn one(c: f64, y: Coordinate, constant: f64) -> Self {
        Self::sum(&[(c, y)], constant)
    }
    /// A sum of coordinates.
    pub fn sum(terms: &[(f64, Coordinate)], constant: f64) -> Self {
        Rows::Sum { terms: terms.iter().cloned().collect(), constant, driven: None }
    }
    /// The value prescribed at time `t`, before scaling; zero if there is none.
    fn prescribed(&self, t: f64) -> f64 {
        match self {
            Rows::Sum { driven: Some(d), .. } => d.1.at(t)[0],
            _ => 0.0,
        }
    }
    /// `c (y - f(t))`.
    pub fn driven(c: f64, y: Coordinate, f: TimeFunction) -> Self {
        Rows::Sum { terms: [(c, y)].into_iter().collect(), constant: 0.0, driven: Some(Box::new((c, f))) }
    }
    /// Number of scalar rows.
    pub fn count(&self) -> usize {
        match self {
            Rows::Point { .. } | Rows::Direction { .. } => 3,
            Rows::Sum { .. } => 1,
            Rows::Rolling(r) => r.count(),
        }
    }
    /// Whether its residual is an angle times the characteristic length.
    pub fn is_rotation(&self) -> bool {
        match self {
            Rows::Point { .. } | Rows::Rolling(_) => false,
            Rows::Direction { .. } => true,
            Rows::Sum { terms, .. } => terms.iter().all(|(_, y)| y.is_rotation()),
        }
    }
}

/// The element to which a constraint belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A joint, by its index in the model.
    Joint(usize),
    /// A gear or rack.
    Coupling(usize),
    /// A bare constraint.
    Bare(usize),
    /// A drive.
    Drive(usize),
    /// A rolling element or knife edge.
    Rolling(usize),
    /// Used in assembly only: keeps the axes of a joint from flipping.
    Align(usize),
    /// Used in assembly only: keeps a joint coordinate as drawn.
    Hold(usize),
    /// Used in assembly only: a start condition.
    Start(usize),
}

/// The rows of one element.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Name of the element.
    pub name: String,
    /// The element.
    pub owner: Owner,
    /// Bodies by slot.
    pub bodies: SmallVec<[BodyId; 2]>,
    /// Its rows.
    pub rows: SmallVec<[Rows; 3]>,
    /// An equivalent row that may replace its only row; see [`ConstraintSet::choose`].
    pub spare: Option<Box<Rows>>,
}

impl Constraint {
    /// Number of scalar rows.
    pub fn count(&self) -> usize {
        self.rows.iter().map(Rows::count).sum()
    }
}

/// The Jacobian block of a constraint for one of its bodies.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The body.
    pub body: usize,
    /// First value in the Jacobian array; rows x 6, row-major.
    pub start: usize,
}

/// Constraints with the layout of their residual and Jacobian.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The constraints.
    pub list: Vec<Constraint>,
    /// First row of each constraint, and the total.
    pub row_start: Vec<usize>,
    /// Blocks of all constraints.
    pub blocks: Vec<Block>,
    /// First block of each constraint, and the total.
    pub block_start: Vec<usize>,
    /// Length of the Jacobian array.
    pub values: usize,
    /// Start in the Jacobian array for each constraint's slots; `None` for ground.
    slots: Vec<SmallVec<[Option<usize>; 2]>>,
    /// Constraints that have a spare row.
    switches: Vec<usize>,
    /// Constraints with time-dependent rows, ascending.
    driven: Vec<usize>,
}

/// All constraints of an analysis: laid out once, then shared by everything that evaluates them. Only the choice between a row and its
/// spare is individual; a set with spare rows is therefore copied when it is cloned, so that no copy is made inside a step.
#[derive(Debug)]
pub struct ConstraintSet {
    layout: Arc<Layout>,
}

impl Clone for ConstraintSet {
    fn clone(&self) -> Self {
        let own = || Arc::new(Layout::clone(&self.layout));
        Self { layout: if self.layout.switches.is_empty() { self.layout.clone() } else { own() } }
    }
}

impl std::ops::Deref for ConstraintSet {
    type Target = Layout;
    #[inline]
    fn deref(&self) -> &Layout {
        &self.layout
    }
}

impl ConstraintSet {
    /// Lays out a list of constraints. Bodies marked as held get no columns.
    pub fn new(list: Vec<Constraint>, held: impl Fn(BodyId) -> bool) -> Self {
        let (mut row_start, mut block_start, mut blocks, mut slots) = (vec![0], vec![0], Vec::new(), Vec::new());
        let (mut rows, mut values) = (0, 0);
        for c in &list {
            let m = c.count();
            rows += m;
            row_start.push(rows);
            let mut own: SmallVec<[Option<usize>; 2]> = SmallVec::new();
            for (slot, &b) in c.bodies.iter().enumerate() {
                if b == BodyId::GROUND || held(b) {
                    own.push(None);
                } else if let Some(same) = c.bodies[..slot].iter().position(|&o| o == b) {
                    // A gear may act on one body on both sides: the two parts share one block.
                    own.push(own[same]);
                } else {
                    own.push(Some(values));
                    blocks.push(Block { body: b.index(), start: values });
                    values += 6 * m;
                }
            }
            slots.push(own);
            block_start.push(blocks.len());
        }
        let switches = list.iter().enumerate().filter(|(_, c)| c.spare.is_some()).map(|(k, _)| k).collect();
        let moves = |c: &Constraint| c.rows.iter().chain(c.spare.as_deref()).any(|r| matches!(r, Rows::Sum { driven: Some(_), .. }));
        let driven = list.iter().enumerate().filter(|(_, c)| moves(c)).map(|(k, _)| k).collect();
        Self { layout: Arc::new(Layout { list, row_start, blocks, block_start, values, slots, switches, driven }) }
    }

    /// Where a constraint has two alternative rows, chooses the one with the smaller value at time `t`, before anything is evaluated there.
    /// The choice depends on time alone. The meaning of the multiplier of such a row changes, but not its effect on the bodies. True if a
    /// row was changed.
    #[inline]
    pub fn choose(&mut self, t: f64) -> bool {
        !self.layout.switches.is_empty() && Arc::make_mut(&mut self.layout).choose(t)
    }
}

impl Layout {
    fn choose(&mut self, t: f64) -> bool {
        let mut changed = false;
        for &c in &self.switches {
            let Constraint { rows, spare: Some(spare), .. } = &mut self.list[c] else { continue };
            if spare.prescribed(t).abs() < rows[0].prescribed(t).abs() {
                std::mem::swap(&mut rows[0], &mut **spare);
                changed = true;
            }
        }
        changed
    }

    /// The first constraint whose prescribed value, speed or acceleration is not finite at a time.
    pub fn undefined(&self, t: f64) -> Option<&Constraint> {
        let driven = |rows: &Rows| match rows {
            Rows::Sum { driven: Some(d), .. } => d.1.at(t).iter().all(|x| x.is_finite()),
            _ => true,
        };
        self.driven.iter().map(|&c| &self.list[c]).find(|c| !c.rows.iter().all(driven))
    }

    /// Number of scalar rows.
    pub fn rows(&self) -> usize {
        self.row_start[self.list.len()]
    }

    /// First Jacobian value of constraint `c`.
    pub fn value_start(&self, c: usize) -> usize {
        self.blocks.get(self.block_start[c]).map_or(self.values, |b| b.start)
    }

    /// Blocks of constraint `c`.
    pub fn blocks_of(&self, c: usize) -> &[Block] {
        &self.blocks[self.block_start[c]..self.block_start[c + 1]]
    }

    /// The constraint to which a row belongs.
    pub fn constraint_of_row(&self, row: usize) -> usize {
        self.row_start.partition_point(|&s| s <= row) - 1
    }

    /// Names of the elements with a row whose size is at least a twentieth of the largest, each once.
    pub fn touched(&self, size: impl Fn(usize) -> f64) -> Vec<String> {
        let top = (0..self.rows()).map(&size).fold(0.0, f64::max);
        let mut names: Vec<String> = Vec::new();
        for (c, constraint) in self.list.iter().enumerate() {
            let touched = (self.row_start[c]..self.row_start[c + 1]).any(|r| size(r) > 0.05 * top);
            if touched && !names.contains(&constraint.name) {
                names.push(constraint.name.clone());
            }
        }
        names
    }

    /// Sum of the magnitudes of the terms in row `k` of constraint `c`, `|gamma| + |Phi_q| |a|`; `G` contains the blocks of the constraint.
    pub fn acceleration_size(&self, c: usize, k: usize, G: &[f64], gamma: f64, a: &[Twist]) -> f64 {
        let m = self.row_start[c + 1] - self.row_start[c];
        self.blocks_of(c).iter().enumerate().fold(gamma.abs(), |size, (i, b)| {
            let (g, a) = (&G[6 * (m * i + k)..6 * (m * i + k) + 6], &a[b.body]);
            size + Vector3::new(g[0], g[1], g[2]).dot(&a.v).abs() + Vector3::new(g[3], g[4], g[5]).dot(&a.w).abs()
        })
    }

    /// Residual `Phi(q, t)`.
    pub fn residual(&self, q: &[Pose], turns: &[f64], t: f64, Phi: &mut [f64]) {
        self.residual_in(0..self.list.len(), q, turns, t, Phi);
    }

    /// The same for a range of constraints; `Phi` begins with their first row.
    pub fn residual_in(&self, range: Range<usize>, q: &[Pose], turns: &[f64], t: f64, Phi: &mut [f64]) {
        let mut row = 0;
        for c in &self.list[range] {
            let pose = |slot: usize| &q[c.bodies[slot].index()];
            for rows in &c.rows {
                match rows {
                    Rows::Point { ij, s_i, s_j } => {
                        let d = pose(ij[1]).point(s_j) - pose(ij[0]).point(s_i);
                        Phi[row..row + 3].copy_from_slice(d.as_slice());
                    }
                    Rows::Direction { ij, a_i, a_j, L } => {
                        let d = (pose(ij[1]).A * a_j - pose(ij[0]).A * a_i) * *L;
                        Phi[row..row + 3].copy_from_slice(d.as_slice());
                    }
                    Rows::Rolling(r) => Phi[row..row + r.count()].fill(0.0),
                    Rows::Sum { terms, constant, driven } => {
                        let mut x = -constant;
                        for (k, y) in terms {
                            let [i, j] = y.slots();
                            x += k * y.value(pose(i), pose(j), turns);
                        }
                        if let Some(d) = driven {
                            x -= d.0 * d.1.at(t)[0];
                        }
                        Phi[row] = x;
                    }
                }
                row += rows.count();
            }
        }
    }

    /// Jacobian `Phi_q` in terms of `(r_dot, omega_bar)`.
    pub fn jacobian(&self, q: &[Pose], G: &mut [f64]) {
        self.jacobian_in(0..self.list.len(), 0, q, G);
    }

    /// The same for a range of constraints; `G` begins with value number `base` of the whole array.
    pub fn jacobian_in(&self, range: Range<usize>, base: usize, q: &[Pose], G: &mut [f64]) {
        for (c, slots) in self.list[range.clone()].iter().zip(&self.slots[range]) {
            let pose = |slot: usize| &q[c.bodies[slot].index()];
            let mut row = 0;
            for rows in &c.rows {
                match rows {
                    Rows::Point { ij, s_i, s_j } => {
                        for (slot, s, sign) in [(ij[0], s_i, -1.0), (ij[1], s_j, 1.0)] {
                            if let Some(start) = slots[slot].map(|s| s - base) {
                                // Row k of -A tilde(s) is s x (row k of A).
                                let (A, s) = (&pose(slot).A, s * sign);
                                let g = &mut G[start + 6 * row..start + 6 * row + 18];
                                for k in 0..3 {
                                    let r = &mut g[6 * k..6 * k + 6];
                                    r[..3].fill(0.0);
                                    r[k] = sign;
                                    r[3] = s.y * A[(k, 2)] - s.z * A[(k, 1)];
                                    r[4] = s.z * A[(k, 0)] - s.x * A[(k, 2)];
                                    r[5] = s.x * A[(k, 1)] - s.y * A[(k, 0)];
                                }
                            }
                        }
                    }
                    Rows::Direction { ij, a_i, a_j, L } => {
                        for (slot, a, sign) in [(ij[0], a_i, -1.0), (ij[1], a_j, 1.0)] {
                            if let Some(start) = slots[slot].map(|s| s - base) {
                                let P = pose(slot).A * tilde(a) * (sign * L);
                                for k in 0..3 {
                                    let r = &mut G[start + 6 * (row + k)..start + 6 * (row + k) + 6];
                                    r[..3].fill(0.0);
                                    for l in 0..3 {
                                        r[3 + l] = -P[(k, l)];
                                    }
                                }
                            }
                        }
                    }
                    Rows::Rolling(r) => {
                        for (k, parts) in r.rows([pose(0), pose(1)]).iter().enumerate() {
                            for (slot, b) in parts.iter().enumerate() {
                                if let Some(start) = slots[slot].map(|s| s - base) {
                                    let g = &mut G[start + 6 * (row + k)..start + 6 * (row + k) + 6];
                                    g[..3].copy_from_slice(b.F.as_slice());
                                    g[3..].copy_from_slice(b.T.as_slice());
                                }
                            }
                        }
                    }
                    Rows::Sum { terms, .. } => {
                        if let [(k, y)] = terms.as_slice() {
                            let [i, j] = y.slots();
                            let parts = y.row(pose(i), pose(j)).parts;
                            for (slot, part) in [(i, parts[0]), (j, parts[1])] {
                                if let Some(start) = slots[slot].map(|s| s - base) {
                                    let g = &mut G[start + 6 * row..start + 6 * row + 6];
                                    for l in 0..3 {
                                        g[l] = k * part.F[l];
                                        g[3 + l] = k * part.T[l];
                                    }
                                }
                            }
                        } else {
                            for start in slots.iter().flatten().map(|s| s - base) {
                                G[start + 6 * row..start + 6 * row + 6].fill(0.0);
                            }
                            for (k, y) in terms {
                                let [i, j] = y.slots();
                                let parts = y.row(pose(i), pose(j)).parts;
                                for (slot, part) in [(i, parts[0]), (j, parts[1])] {
                                    if let Some(start) = slots[slot].map(|s| s - base) {
                                        let g = &mut G[start + 6 * row..start + 6 * row + 6];
                                        for l in 0..3 {
                                            g[l] += k * part.F[l];
                                            g[3 + l] += k * part.T[l];
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                row += rows.count();
            }
        }
    }

    /// Right-hand side of the velocity constraints, `Phi_q v = nu`.
    pub fn nu(&self, t: f64, nu: &mut [f64]) {
        self.nu_in(0..self.list.len(), t, nu);
    }

    /// The same for a range of constraints; `nu` begins with their first row.
    pub fn nu_in(&self, range: Range<usize>, t: f64, nu: &mut [f64]) {
        let first = self.row_start[range.start];
        nu[..self.row_start[range.end] - first].fill(0.0);
        let begin = self.driven.partition_point(|&c| c < range.start);
        for &c in self.driven[begin..].iter().take_while(|&&c| c < range.end) {
            let mut row = self.row_start[c] - first;
            for rows in &self.list[c].rows {
                if let Rows::Sum { driven: Some(d), .. } = rows {
                    nu[row] = d.0 * d.1.at(t)[1];
                }
                row += rows.count();
            }
        }
    }

    /// Right-hand side of the acceleration constraints, `Phi_q a = gamma`.
    pub fn gamma(&self, q: &[Pose], v: &[Twist], t: f64, gamma: &mut [f64]) {
        self.gamma_in(0..self.list.len(), q, v, t, gamma);
    }

    /// The same for a range of constraints; `gamma` begins with their first row.
    pub fn gamma_in(&self, range: Range<usize>, q: &[Pose], v: &[Twist], t: f64, gamma: &mut [f64]) {
        let mut row = 0;
        for c in &self.list[range] {
            let at = |slot: usize| (&q[c.bodies[slot].index()], &v[c.bodies[slot].index()]);
            let twice = |slot: usize, s: &Vector3<f64>| {
                let (q, v) = at(slot);
                q.A * v.w.cross(&v.w.cross(s))
            };
            for rows in &c.rows {
                match rows {
                    Rows::Point { ij, s_i, s_j } => {
                        let b = twice(ij[0], s_i) - twice(ij[1], s_j);
                        gamma[row..row + 3].copy_from_slice(b.as_slice());
                    }
                    Rows::Direction { ij, a_i, a_j, L } => {
                        let b = (twice(ij[0], a_i) - twice(ij[1], a_j)) * *L;
                        gamma[row..row + 3].copy_from_slice(b.as_slice());
                    }
                    Rows::Rolling(r) => {
                        let ((qi, vi), (qj, vj)) = (at(0), at(1));
                        for (g, b) in gamma[row..].iter_mut().zip(r.bias([qi, qj], [vi, vj])) {
                            *g = -b;
                        }
                    }
                    Rows::Sum { terms, driven, .. } => {
                        let mut x = 0.0;
                        for (k, y) in terms {
                            let [i, j] = y.slots();
                            let ((qi, vi), (qj, vj)) = (at(i), at(j));
                            x -= k * y.bias(qi, qj, vi, vj);
                        }
                        if let Some(d) = driven {
                            x += d.0 * d.1.at(t)[2];
                        }
                        gamma[row] = x;
                    }
                }
                row += rows.count();
            }
        }
    }

    /// Calls `add(body, body, K)` with every block of `K = d(Phi_q^T lambda)/dq`.
    pub fn variation(&self, q: &[Pose], lambda: &[f64], mut add: impl FnMut(usize, usize, &Matrix6<f64>)) {
        let mut row = 0;
        for c in &self.list {
            let pose = |slot: usize| &q[c.bodies[slot].index()];
            for rows in &c.rows {
                let n = rows.count();
                match rows {
                    Rows::Point { ij, s_i, s_j } => {
                        let force = Vector3::from_column_slice(&lambda[row..row + 3]);
                        for (slot, s, sign) in [(ij[0], s_i, -1.0), (ij[1], s_j, 1.0)] {
                            let mut K = Matrix6::zeros();
                            K.fixed_view_mut::<3, 3>(3, 3).copy_from(&(tilde(s) * tilde(&pose(slot).A.tr_mul(&force)) * sign));
                            add(c.bodies[slot].index(), c.bodies[slot].index(), &K);
                        }
                    }
                    Rows::Direction { ij, a_i, a_j, L } => {
                        let force = Vector3::from_column_slice(&lambda[row..row + 3]) * *L;
                        for (slot, s, sign) in [(ij[0], a_i, -1.0), (ij[1], a_j, 1.0)] {
                            let mut K = Matrix6::zeros();
                            K.fixed_view_mut::<3, 3>(3, 3).copy_from(&(tilde(s) * tilde(&pose(slot).A.tr_mul(&force)) * sign));
                            add(c.bodies[slot].index(), c.bodies[slot].index(), &K);
                        }
                    }
                    Rows::Rolling(r) => {
                        let still = Twist::zero();
                        let (K, _) = r.variation([pose(0), pose(1)], [&still; 2], &lambda[row..row + n]);
                        let bodies = [c.bodies[0].index(), c.bodies[1].index()];
                        for a in 0..2 {
                            for b in 0..2 {
                                add(bodies[a], bodies[b], &K[a][b]);
                            }
                        }
                    }
                    Rows::Sum { terms, .. } => {
                        for (k, y) in terms {
                            let [i, j] = y.slots();
                            let mut K = [[Matrix6::zeros(); 2]; 2];
                            y.variation(pose(i), pose(j), k * lambda[row], &mut K);
                            let bodies = [c.bodies[i].index(), c.bodies[j].index()];
                            for a in 0..2 {
                                for b in 0..2 {
                                    add(bodies[a], bodies[b], &K[a][b]);
                                }
                            }
                        }
                    }
                }
                row += n;
            }
        }
    }

    /// Generalized force `Phi_q^T lambda` of constraint `c` on the body in `slot`, ground included.
    pub fn generalized(&self, c: usize, slot: usize, q: &[Pose], lambda: &[f64]) -> Wrench {
        self.generalized_at(c, slot, |k| &q[self.list[c].bodies[k].index()], lambda)
    }

    /// As above, with the poses of the constraint's bodies given by slot.
    pub fn generalized_at<'p>(&self, c: usize, slot: usize, pose: impl Fn(usize) -> &'p Pose, lambda: &[f64]) -> Wrench {
        let constraint = &self.list[c];
        let (mut out, mut row) = (Wrench::zero(), 0);
        for rows in &constraint.rows {
            match rows {
                Rows::Point { ij, s_i, s_j } => {
                    let force = Vector3::from_column_slice(&lambda[row..row + 3]);
                    for (k, s, sign) in [(ij[0], s_i, -1.0), (ij[1], s_j, 1.0)] {
                        if k == slot {
                            out.F += force * sign;
                            out.T += s.cross(&pose(k).A.tr_mul(&force)) * sign;
                        }
                    }
                }
                Rows::Direction { ij, a_i, a_j, L } => {
                    let force = Vector3::from_column_slice(&lambda[row..row + 3]) * *L;
                    for (k, a, sign) in [(ij[0], a_i, -1.0), (ij[1], a_j, 1.0)] {
                        if k == slot {
                            out.T += a.cross(&pose(k).A.tr_mul(&force)) * sign;
                        }
                    }
                }
                Rows::Rolling(r) => {
                    for (k, b) in r.rows([pose(0), pose(1)]).iter().enumerate() {
                        out = out.plus(&b[slot].scaled(lambda[row + k]));
                    }
                }
                Rows::Sum { terms, .. } => {
                    for (k, y) in terms {
                        let [i, j] = y.slots();
                        let parts = y.row(pose(i), pose(j)).parts;
                        for (s, part) in [(i, parts[0]), (j, parts[1])] {
                            if s == slot {
                                out = out.plus(&part.scaled(k * lambda[row]));
                            }
                        }
                    }
                }
            }
            row += rows.count();
        }
        out
    }

    /// Rows that constrain velocities only: constraint, first row, and the element.
    pub fn rolling(&self) -> impl Iterator<Item = (usize, usize, &Rolling)> {
        self.list.iter().enumerate().flat_map(|(c, constraint)| {
            let mut row = self.row_start[c];
            constraint.rows.iter().filter_map(move |r| {
                let first = row;
                row += r.count();
                if let Rows::Rolling(rolling) = r { Some((c, first, rolling)) } else { None }
            })
        })
    }

    /// Writes `factor B v` of the velocity-only rows to their places in `out`; other rows are unchanged.
    pub fn slip(&self, q: &[Pose], v: &[Twist], factor: f64, out: &mut [f64]) {
        for (c, row, r) in self.rolling() {
            let [i, j] = [0, 1].map(|slot| self.list[c].bodies[slot].index());
            for (k, line) in r.rows([&q[i], &q[j]]).iter().enumerate() {
                out[row + k] = factor * (line[0].power(&v[i]) + line[1].power(&v[j]));
            }
        }
    }

    /// `y = Phi_q v`.
    pub fn multiply(&self, G: &[f64], v: &[Twist], y: &mut [f64]) {
        for c in 0..self.list.len() {
            let (first, last) = (self.row_start[c], self.row_start[c + 1]);
            let out = &mut y[first..last];
            out.fill(0.0);
            for b in self.blocks_of(c) {
                let x = &v[b.body];
                for (o, g) in out.iter_mut().zip(G[b.start..].chunks_exact(6)) {
                    *o += g[0] * x.v[0] + g[1] * x.v[1] + g[2] * x.v[2] + g[3] * x.w[0] + g[4] * x.w[1] + g[5] * x.w[2];
                }
            }
        }
    }

    /// `out += factor Phi_q^T x`.
    pub fn add_transposed(&self, G: &[f64], x: &[f64], factor: f64, out: &mut [Wrench]) {
        for c in 0..self.list.len() {
            let x = &x[self.row_start[c]..self.row_start[c + 1]];
            for b in self.blocks_of(c) {
                let o = &mut out[b.body];
                for (k, g) in x.iter().zip(G[b.start..].chunks_exact(6)) {
                    let k = k * factor;
                    o.F[0] += k * g[0];
                    o.F[1] += k * g[1];
                    o.F[2] += k * g[2];
                    o.T[0] += k * g[3];
                    o.T[1] += k * g[4];
                    o.T[2] += k * g[5];
                }
            }
        }
    }
}
