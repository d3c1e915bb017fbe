//! The derivatives of a mechanism at a state, used by equilibria, linear models and modes.
//!
//! ```text
//! K = d(G^T lambda - f)/dq      D = d(omega x J omega - f)/dv      d(G v)/dq, d(G a)/dq, d gamma/dq, d gamma/dv
//! ```
//! The first two are blocks of the engine's exact iteration matrices, the others are in [`rows`]; no finite differences are used.
//! Dry friction is omitted: it holds a set of positions and has no derivative at rest.

pub mod along;
pub mod rows;
pub mod space;

pub use along::{Along, Direction};
pub use rows::RowDerivatives;
pub use space::{Space, lengths};

use fourbar::absolute::equations::Equations;
use fourbar::absolute::linear::{At, Linear};
use fourbar::constraint::{ConstraintSet, Rows};
use fourbar::evaluate::{dense_rows, stacked};
use fourbar::force::Force;
use fourbar::force::eval::{self, Plain};
use fourbar::state::{Configuration, Twist, Wrench};
use fourbar::{Diagnostic, Model};
use nalgebra::{DMatrix, DVector};

/// Maximum number of coordinates for dense matrices: six for each moving body.
pub const MOST: usize = 2400;

/// Number of bodies of a force whose blocks the engine forms.
const BLOCKS: usize = 8;

/// A mechanism prepared for differentiation at any state.
pub struct Operator<'m> {
    /// The mechanism, without dry friction.
    pub model: &'m Model,
    equations: Equations<'m>,
    linear: Linear,
}

/// A model without dry friction, and the joints whose friction was omitted.
pub fn without_dry_friction(model: &Model) -> (Model, Vec<String>) {
    let mut own = model.clone();
    let mut names = Vec::new();
    for (name, f) in &mut own.forces {
        if let Force::Friction(f) = f
            && f.coulomb != 0.0
        {
            f.coulomb = 0.0;
            names.push(name.clone());
        }
    }
    (own, names)
}

/// Rejects mechanisms too large for dense matrices.
pub fn fits(model: &Model) -> Result<(), Diagnostic> {
    fourbar::analysis::contacts::refuse_rigid(model)?;
    let size = 6 * model.moving();
    if size <= MOST {
        return Ok(());
    }
    let message = format!("this analysis takes dense matrices, and those of this mechanism have {size} columns; the most are {MOST}");
    Err(Diagnostic::new("U400", message).help("analyse a part of the mechanism"))
}

impl<'m> Operator<'m> {
    /// The operator of a mechanism near a consistent state.
    pub fn new(model: &'m Model, state: &Configuration) -> Self {
        let equations = Equations::new(model, state);
        let linear = Linear::new(&equations);
        Self { model, equations, linear }
    }

    /// All constraints, drives and rolling included.
    pub fn set(&self) -> &ConstraintSet {
        &self.equations.set
    }

    /// Selects the rows that are active at a time, for elements with two equivalent sets of rows.
    pub fn choose(&mut self, t: f64) {
        self.equations.set.choose(t);
    }

    /// Whether each row constrains positions, not only velocities.
    pub fn positions(&self) -> Vec<bool> {
        let rows = self.set().list.iter().flat_map(|c| &c.rows);
        rows.flat_map(|r| std::iter::repeat_n(!matches!(r, Rows::Rolling(_)), r.count())).collect()
    }

    /// Jacobian of all rows.
    pub fn jacobian(&self, state: &Configuration) -> DMatrix<f64> {
        dense_rows(self.model, self.set(), &state.q)
    }

    /// Some rows of a matrix.
    pub fn only(G: &DMatrix<f64>, wanted: &[bool]) -> DMatrix<f64> {
        let list: Vec<usize> = (0..G.nrows()).filter(|&k| wanted[k]).collect();
        DMatrix::from_fn(list.len(), G.ncols(), |i, j| G[(list[i], j)])
    }

    /// Mass matrix of all moving bodies.
    pub fn mass(&self) -> DMatrix<f64> {
        let n = 6 * self.model.moving();
        let mut M = DMatrix::zeros(n, n);
        for (k, b) in self.model.bodies.iter().skip(1).enumerate() {
            (0..3).for_each(|i| M[(6 * k + i, 6 * k + i)] = b.mass);
            M.fixed_view_mut::<3, 3>(6 * k + 3, 6 * k + 3).copy_from(&b.J_bar);
        }
        M
    }

    /// Applied forces at a state.
    pub fn applied(&self, state: &Configuration) -> DVector<f64> {
        applied(self.model, state)
    }

    /// The largest load on a body, see [`load`].
    pub fn load(&self, state: &Configuration) -> f64 {
        load(self.model, state)
    }

    /// `K` and `D` at a state with multipliers.
    pub fn stiffness(&mut self, state: &Configuration, lambda: &DVector<f64>) -> (DMatrix<f64>, DMatrix<f64>) {
        let n = 6 * self.model.moving();
        let e = &mut self.equations;
        let loads = vec![0.0; self.model.joints.len()];
        let x = Plain { loads: &loads, ..plain(state) };
        let states = self.model.states.len();
        // Inputs and states are fixed here: their equations are added separately.
        e.states.k = 0.0;
        e.states.slopes(self.model, &x, &mut vec![0.0; states * states]);
        e.jacobian(&state.q);
        self.linear.form(e, &At { plain: x, lambda: lambda.as_slice() });
        let (mut K, mut D) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
        for &(b, l, place) in &self.linear.pairs {
            K.fixed_view_mut::<6, 6>(6 * (b - 1), 6 * (l - 1)).copy_from(&Linear::block(&self.linear.K, place));
            D.fixed_view_mut::<6, 6>(6 * (b - 1), 6 * (l - 1)).copy_from(&Linear::block(&self.linear.D, place));
        }
        self.far_reaching(state, &mut K, &mut D);
        (K, D)
    }

    /// Adds the blocks of forces that depend on many bodies for bodies beyond the first [`BLOCKS`], which the engine omits.
    fn far_reaching(&self, state: &Configuration, K: &mut DMatrix<f64>, D: &mut DMatrix<f64>) {
        for (_, force) in &self.model.forces {
            let list = force.bodies(self.model);
            for (&l, d) in list.iter().filter(|_| list.len() > BLOCKS).flat_map(|l| (0..12).map(move |d| (l, d))) {
                let mut unit = vec![Twist::zero(); self.model.bodies.len()];
                if d % 6 < 3 {
                    unit[l].v[d % 3] = 1.0
                } else {
                    unit[l].w[d % 3] = 1.0
                }
                let direction =
                    if d < 6 { Direction { q: &unit, ..Direction::default() } } else { Direction { v: &unit, ..Direction::default() } };
                let change = Along { state, direction }.force(self.model, force);
                let (matrix, column) = (if d < 6 { &mut *K } else { &mut *D }, 6 * (l - 1) + d % 6);
                for row in list[BLOCKS..].iter().flat_map(|b| 6 * (b - 1)..6 * b) {
                    matrix[(row, column)] -= change[row];
                }
            }
        }
    }

    /// Derivatives of the rows at a state with accelerations.
    pub fn row_derivatives(&self, state: &Configuration, a: &[Twist]) -> RowDerivatives {
        RowDerivatives::new(self.set(), state, a, self.model.length)
    }

    /// Derivatives of the applied forces with respect to auxiliary variables: one column each.
    pub fn forces_by_auxiliaries(&self, state: &Configuration) -> DMatrix<f64> {
        let count = self.model.auxiliaries();
        let mut F = DMatrix::zeros(6 * self.model.moving(), count);
        let mut z = vec![0.0; count];
        for k in 0..count {
            z.fill(0.0);
            z[k] = 1.0;
            F.set_column(k, &Along { state, direction: Direction { z: &z, ..Direction::default() } }.forces(self.model));
        }
        F
    }
}

/// Applied forces at a state.
pub fn applied(model: &Model, state: &Configuration) -> DVector<f64> {
    let mut f = vec![Wrench::zero(); model.bodies.len()];
    eval::applied(model, &plain(state), &mut f);
    stacked(&f)
}

/// Largest sum, over the bodies, of the magnitudes of all loads on a body: the scale of rounding errors of the applied forces. Torques are
/// divided by the characteristic length.
pub fn load(m: &Model, state: &Configuration) -> f64 {
    let mut sizes: Vec<f64> = m.bodies.iter().map(|b| b.mass * m.gravity.norm()).collect();
    let x = plain(state);
    for (_, f) in &m.forces {
        f.wrench(m, &x, &mut |b, F, T| sizes[b] += F.norm() + T.norm() / m.length);
    }
    sizes.iter().skip(1).fold(0.0_f64, |s, x| s.max(*x))
}

/// Whether the engine forms all blocks of the forces: none depends on more than eight bodies.
pub fn reaches_few(model: &Model) -> bool {
    model.forces.iter().all(|(_, f)| f.bodies(model).len() <= BLOCKS)
}

/// The state as read by forces, without joint loads for friction.
pub fn plain(state: &Configuration) -> Plain<'_> {
    Plain { t: state.t, q: &state.q, v: &state.v, turns: &state.turns, loads: &[], z: &state.z }
}
