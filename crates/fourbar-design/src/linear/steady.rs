//! Steady motions: the mechanism rotates about a world axis and translates; bodies of revolution spin in carriers that rotate with it.
//!
//! In the axes of the carriers such a motion has constant coefficients; in body axes they rotate with the spin, and eigenvalues of the
//! frozen equations are wrong. Whether a body may spin in its carrier is tested by rotating it about candidate axes: its inertia, the rows
//! of its constraints and the forces, as seen from the carrier, must not change.

use crate::operator::Operator;
use fourbar::diagnostic::number;
use fourbar::evaluate::stacked;
use fourbar::rolling::RollingKind;
use fourbar::state::{Configuration, Twist};
use fourbar::{Diagnostic, Model};
use fourbar_math::so3;
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

/// Changes below this share are rounding.
const SAME: f64 = 1e-9;
/// Tolerance for accelerations to agree with the symmetry of a steady motion, as a share.
const STEADY: f64 = 1e-7;
/// Test angle by which bodies are rotated, rad.
const TURN: f64 = 0.7;

/// The symmetry of a steady motion.
#[derive(Clone, Debug)]
pub struct Steady {
    /// Angular velocity of the whole mechanism, world axes, rad/s.
    pub turning: Vector3<f64>,
    /// Spin of each body relative to its carrier, body axes, rad/s; ground first.
    pub spin: Vec<Vector3<f64>>,
}

impl Steady {
    /// A mechanism at rest, or one with frozen axes.
    pub fn none(model: &Model) -> Self {
        Self { turning: Vector3::zeros(), spin: vec![Vector3::zeros(); model.bodies.len()] }
    }

    /// Whether anything spins or rotates.
    pub fn moves(&self) -> bool {
        self.turning.norm() > 0.0 || self.spin.iter().any(|s| s.norm() > 0.0)
    }

    /// `Omega` and `Sigma`: in the axes of the carriers positions change by `dv - Omega dq` and velocities by `da + Sigma dv`.
    pub fn rotations(&self, state: &Configuration) -> (DMatrix<f64>, DMatrix<f64>) {
        let n = 6 * (state.q.len() - 1);
        let (mut O, mut S) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
        let W = so3::tilde(&self.turning);
        for b in 1..state.q.len() {
            let at = 6 * (b - 1);
            O.fixed_view_mut::<3, 3>(at, at).copy_from(&W);
            S.fixed_view_mut::<3, 3>(at, at).copy_from(&-W);
            O.fixed_view_mut::<3, 3>(at + 3, at + 3).copy_from(&so3::tilde(&(state.v[b].w - self.spin[b])));
            S.fixed_view_mut::<3, 3>(at + 3, at + 3).copy_from(&so3::tilde(&self.spin[b]));
        }
        (O, S)
    }
}

/// Possible axes of symmetry of a body, body axes.
fn candidates(model: &Model, b: usize, w: &Vector3<f64>) -> Vec<Vector3<f64>> {
    let J = &model.bodies[b].J_bar;
    let e = J.symmetric_eigen();
    let top = e.eigenvalues.amax();
    let equal = |i: usize, j: usize| (e.eigenvalues[i] - e.eigenvalues[j]).abs() <= SAME * top;
    let mut list = Vec::new();
    for k in 0..3 {
        if equal((k + 1) % 3, (k + 2) % 3) {
            list.push(e.eigenvectors.column(k).into_owned());
        }
    }
    if list.len() == 3 {
        // Any axis is possible: take those of the joints and of rolling elements, and that of the motion.
        list.clear();
        for j in &model.joints {
            for (body, frame) in j.bodies.iter().zip([&j.F, &j.M]) {
                if body.index() == b {
                    list.push(frame.axis(2));
                }
            }
        }
        for r in model.rolling.iter().filter(|r| r.bodies[1].index() == b) {
            if let RollingKind::Disk { axis, .. } = &r.rolling.kind {
                list.push(*axis);
            }
        }
        list.extend(Some(*w).filter(|w| w.norm() > 0.0));
    }
    list.into_iter().filter(|a| a.norm() > 0.0).map(|a| a.normalize()).collect()
}

/// Whether rotating a body about an axis leaves its joints and forces unchanged.
fn round(op: &Operator<'_>, state: &Configuration, b: usize, axis: &Vector3<f64>) -> bool {
    let R = so3::exp(&(axis * TURN));
    let J = &op.model.bodies[b].J_bar;
    if (R * J * R.transpose() - J).amax() > SAME * J.amax() {
        return false;
    }
    let mut turned = state.clone();
    turned.q[b].A *= R;
    turned.v[b].w = R.tr_mul(&state.v[b].w);
    fourbar::analysis::assembly::update_turns(op.model, &turned.q, &mut turned.turns);
    let (G, mut H) = (op.jacobian(state), op.jacobian(&turned));
    let at = 6 * (b - 1) + 3;
    let own = H.columns(at, 3) * R.transpose();
    H.columns_mut(at, 3).copy_from(&own);
    if (&G - &H).amax() > 1e-8 * G.amax() {
        return false;
    }
    let (f, mut h) = (op.applied(state), op.applied(&turned));
    let own = R * h.fixed_rows::<3>(at);
    h.rows_mut(at, 3).copy_from(&own);
    (&f - &h).amax() <= 1e-8 * op.load(state).max(f64::MIN_POSITIVE)
}

/// The symmetry of a motion with accelerations `a`, or the reason why it has none.
pub fn steady(op: &Operator<'_>, state: &Configuration, a: &[Twist]) -> Result<Steady, Diagnostic> {
    let model = op.model;
    let L = model.length;
    let mut none = Steady::none(model);
    let speed = stacked(&state.v).amax();
    if speed == 0.0 {
        return at_rest(model, state, a).map(|()| none);
    }
    // Axes of the bodies that may spin.
    let axes: Vec<Option<Vector3<f64>>> = (0..model.bodies.len())
        .map(|b| if b == 0 { None } else { candidates(model, b, &state.v[b].w).into_iter().find(|e| round(op, state, b, e)) })
        .collect();
    let spinning: Vec<usize> = (1..axes.len()).filter(|&b| axes[b].is_some()).collect();
    // First without rotation of the whole mechanism: it is preferred if both describe the motion.
    for turning in [false, true] {
        let unknowns = spinning.len() + if turning { 3 } else { 0 };
        let rows = 9 * model.moving();
        let (mut A, mut rhs) = (DMatrix::zeros(rows, unknowns), DVector::zeros(rows));
        for b in 1..model.bodies.len() {
            let at = 9 * (b - 1);
            let (q, v) = (&state.q[b], &state.v[b]);
            let mut set = |row: usize, column: usize, M: &Matrix3<f64>, x: &Vector3<f64>| {
                let y = M * x;
                (0..3).for_each(|k| A[(at + row + k, column)] += y[k]);
            };
            if let Some(k) = spinning.iter().position(|s| *s == b) {
                let e = axes[b].unwrap_or_default();
                set(0, k, &q.A, &e);
                set(6, k, &-so3::tilde(&e), &v.w);
            }
            if turning {
                for k in 0..3 {
                    let mut unit = Vector3::zeros();
                    unit[k] = 1.0;
                    set(0, spinning.len() + k, &Matrix3::identity(), &unit);
                    set(3, spinning.len() + k, &(-so3::tilde(&v.v) / L), &unit);
                }
            }
            let turn = q.A * v.w;
            for k in 0..3 {
                rhs[at + k] = turn[k];
                rhs[at + 3 + k] = a[b].v[k] / L;
                rhs[at + 6 + k] = a[b].w[k];
            }
        }
        let x = match unknowns {
            0 => DVector::zeros(0),
            _ => {
                fourbar_math::dense::svd(A.clone(), true, true).and_then(|s| s.solve(&rhs, 1e-12).ok()).unwrap_or(DVector::zeros(unknowns))
            }
        };
        let left = &rhs - &A * &x;
        let rate = (0..model.bodies.len()).fold(speed / L, |s, b| s.max(state.v[b].w.norm()));
        // Accelerations are compared with the square of the rates, velocities with the rates.
        let share = |k: usize| left[k].abs() / if k % 9 < 3 { rate } else { rate * rate.max(1.0) };
        let worst = (0..rows).map(share).fold(0.0, f64::max);
        if worst <= STEADY {
            for (k, &b) in spinning.iter().enumerate() {
                none.spin[b] = axes[b].unwrap_or_default() * x[k];
            }
            if turning {
                none.turning = Vector3::new(x[spinning.len()], x[spinning.len() + 1], x[spinning.len() + 2]);
            }
            return Ok(none);
        }
        if turning {
            let k = (0..rows).max_by(|&a, &b| share(a).total_cmp(&share(b))).unwrap_or(0);
            return Err(unsteady(model, state, a, k));
        }
    }
    Ok(none)
}

/// Rejects a position that is not an equilibrium.
pub fn at_rest(model: &Model, state: &Configuration, a: &[Twist]) -> Result<(), Diagnostic> {
    let g = model.gravity.norm().max(1.0);
    let size = |b: usize| a[b].v.norm().max(model.length * a[b].w.norm());
    let worst = (1..a.len()).max_by(|&x, &y| size(x).total_cmp(&size(y))).unwrap_or(0);
    if worst == 0 || size(worst) <= 1e-6 * g {
        return Ok(());
    }
    let message = format!(
        "the mechanism is not at rest at t = {} s: `{}` accelerates by {} m/s^2",
        number(state.t),
        model.bodies[worst].name,
        number(size(worst))
    );
    Err(Diagnostic::new("S410", message)
        .name(&model.bodies[worst].name)
        .time(state.t)
        .help("`--about equilibrium` finds the equilibrium first; `--frozen` uses the current position"))
}

fn unsteady(model: &Model, state: &Configuration, a: &[Twist], k: usize) -> Diagnostic {
    let b = k / 9 + 1;
    let name = &model.bodies[b].name;
    let what = match k % 9 {
        0..=2 => format!("`{name}` spins about its own axis and is not a body of revolution about it"),
        3..=5 => format!("`{name}` accelerates by {} m/s^2", number(a[b].v.norm())),
        _ => format!("the angular velocity of `{name}` changes by {} rad/s^2", number(a[b].w.norm())),
    };
    Diagnostic::new("S410", format!("the motion at t = {} s is not steady: {what}", number(state.t)))
        .name(name)
        .time(state.t)
        .help("start in a steady motion, or use `--about equilibrium`; `--frozen` treats the coefficients as constant, which other programs do silently")
}

/// The part of positions and velocities that does not fit the symmetry, as a share: `(1 - N R)(dv - Omega dq)` for all states.
pub fn drift(N: &DMatrix<f64>, reader: &DMatrix<f64>, rates: &DMatrix<f64>) -> f64 {
    if rates.ncols() == 0 {
        return 0.0;
    }
    let left = rates - N * (reader * rates);
    left.amax() / rates.amax().max(f64::MIN_POSITIVE)
}
