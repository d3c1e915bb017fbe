//! Axes that turn with the mechanism: a stiff spring keeps its direction in them while a step lasts.
//!
//! All bodies that constraints or forces connect share one turn, the mean of their own by mass.

use super::stages::Point;
use crate::absolute::equations::Equations;
use crate::constraint::Rows;
use crate::state::{Pose, Twist, Wrench};
use crate::topology::Groups;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};

/// Groups of bodies with common axes.
pub(super) struct Axes {
    /// Group by body, and rows that are triples in world axes with their group.
    pub group: Vec<usize>,
    pub triples: Vec<(usize, usize)>,
    /// Mass, spin where the matrix was made, and turn since then, by group.
    mass: Vec<f64>,
    spin: Vec<Vector3<f64>>,
    means: Vec<Vector3<f64>>,
    pub turn: Vec<Matrix3<f64>>,
}

impl Axes {
    pub fn new(e: &Equations<'_>) -> Self {
        let model = e.model;
        let n = model.bodies.len();
        let mut parts = Groups::new(n);
        let constrained = e.set.list.iter().map(|c| c.bodies.iter().map(|b| b.index()).collect::<Vec<_>>());
        for bodies in constrained.chain(model.forces.iter().map(|(_, f)| f.bodies(model))) {
            let mut moving = bodies.into_iter().filter(|b| *b != 0);
            if let Some(first) = moving.next() {
                moving.for_each(|b| {
                    parts.join(first, b);
                });
            }
        }
        let group: Vec<usize> = (0..n).map(|b| parts.find(b)).collect();
        let mut triples = Vec::new();
        for (c, constraint) in e.set.list.iter().enumerate() {
            let mut row = e.set.row_start[c];
            let body = constraint.bodies.iter().map(|b| b.index()).find(|b| *b != 0);
            for r in &constraint.rows {
                if let (Rows::Point { .. } | Rows::Direction { .. }, Some(b)) = (r, body) {
                    triples.push((row, group[b]));
                }
                row += r.count();
            }
        }
        let mut mass = vec![0.0; n];
        (1..n).for_each(|b| mass[group[b]] += model.bodies[b].mass);
        let zero = vec![Vector3::zeros(); n];
        Self { group, triples, mass, spin: zero.clone(), means: zero, turn: vec![Matrix3::identity(); n] }
    }

    /// Spins of the groups where the matrix is made.
    pub fn set_spins(&mut self, e: &Equations<'_>, at: &Point) {
        self.spin.fill(Vector3::zeros());
        for b in 1..at.q.len() {
            let g = self.group[b];
            self.spin[g] += at.q[b].A * at.v[b].w * (e.model.bodies[b].mass / self.mass[g]);
        }
    }

    /// Spin of the axes of a body's translations.
    pub fn spin_of(&self, b: usize) -> Vector3<f64> {
        self.spin[self.group[b]]
    }

    /// The same, and the spin of its own axes.
    pub fn spins(&self, b: usize, made_at: &Point) -> (Vector3<f64>, Vector3<f64>) {
        (self.spin_of(b), made_at.v[b].w)
    }

    /// Turns of all groups at the poses `q` from those where the matrix was made.
    pub fn turn(&mut self, e: &Equations<'_>, made_at: &[Pose], q: &[Pose]) {
        self.means.fill(Vector3::zeros());
        for b in 1..q.len() {
            let g = self.group[b];
            self.means[g] += so3::log(&(q[b].A * made_at[b].A.transpose())) * (e.model.bodies[b].mass / self.mass[g]);
        }
        for (turn, mean) in self.turn.iter_mut().zip(&self.means) {
            *turn = so3::exp(mean);
        }
    }

    /// How far bodies have turned since the matrix was made, where they were examined last.
    pub fn turned(&self) -> f64 {
        self.means.iter().fold(0.0, |m, x| m.max(x.norm()))
    }

    /// Writes residuals in the turned axes; `psi` are the increments at which they were evaluated.
    pub fn bring(&self, psi: &[Twist], (r_psi, r_v, r_c): (&mut [Twist], &mut [Wrench], &mut [f64])) {
        for b in 1..r_psi.len() {
            let R = &self.turn[self.group[b]];
            r_psi[b] = Twist { v: R.tr_mul(&r_psi[b].v), w: so3::tangent(&psi[b].w) * r_psi[b].w };
            r_v[b].F = R.tr_mul(&r_v[b].F);
        }
        for &(row, g) in &self.triples {
            let x = self.turn[g].tr_mul(&Vector3::from_column_slice(&r_c[row..row + 3]));
            r_c[row..row + 3].copy_from_slice(x.as_slice());
        }
    }
}
