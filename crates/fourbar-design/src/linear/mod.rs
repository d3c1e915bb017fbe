//! Linear models: `x' = A x + B u`, `y = C x + D u` about an equilibrium or a steady motion, rolling and redundant constraints included.
//!
//! States are components along the free motions of positions, then of velocities, then the user-defined states. With `dq = N y`,
//! `dv = N_v w + P dq` and `P = -G^+ d(G v)/dq`, which keeps perturbed velocities admissible,
//! ```text
//! y' = R (dv - Omega dq)          w' = R_v (da + Sigma dv)
//! M da + G^T dlambda = -K dq - D dv + F dz,     G da = d(gamma - G a)/dq dq + d gamma/dv dv
//! ```
//! Drives that are inputs prescribe their coordinate: `u` is the acceleration, and coordinate and speed are two additional states, with
//! `dq = G^+ e f`, `dv = G^+ e f'` and `G da = e u` for the row `e` of the drive.
//!
//! `Omega` and `Sigma` are the rotations of the carriers of a steady motion, see [`steady`]. If bodies roll there are fewer velocities than
//! positions, and the number of states may be odd.

mod outputs;
pub mod steady;

use outputs::In;
pub use outputs::{Output, known_outputs};

use crate::equilibrium::{leaning, leans_at};
use crate::operator::{Along, Direction, Operator, Space, lengths, without_dry_friction};
use crate::pencil::{MASSLESS, small_motions};
use fourbar::constraint::Owner;
use fourbar::evaluate::{by_body, stacked};
use fourbar::state::{Configuration, Twist, Wrench};
use fourbar::{Diagnostic, Model};
use nalgebra::{DMatrix, DVector};
use steady::Steady;

/// A mechanism linearised about a state.
#[derive(Clone, Debug)]
pub struct Linearized {
    /// The state.
    pub state: Configuration,
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// `x' = A x + B u`.
    pub A: DMatrix<f64>,
    /// Columns for the inputs.
    pub B: DMatrix<f64>,
    /// `y = C x + D u`.
    pub C: DMatrix<f64>,
    /// Direct feedthrough from the inputs.
    pub D: DMatrix<f64>,
    /// Increments of poses for unit states.
    pub poses: DMatrix<f64>,
    /// Increments of velocities for unit states.
    pub velocities: DMatrix<f64>,
    /// Symmetry of the motion.
    pub steady: Steady,
    /// Degrees of freedom of positions and of velocities.
    pub freedom: [usize; 2],
    /// Number of free motions with neither inertia nor stiffness, omitted.
    pub idle: usize,
    /// Magnitudes of the terms summed in the entries of `A`.
    pub sizes: DMatrix<f64>,
    /// Set if the mechanism is at rest, undamped, and every force has a potential.
    pub conservative: Option<Conservative>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Inputs, outputs and options of a linear model.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Inputs by name, of the mechanism or drives; if omitted, all inputs of the mechanism.
    pub inputs: Option<Vec<String>>,
    /// Outputs by name; if omitted, those of the mechanism, or else its joint coordinates.
    pub outputs: Option<Vec<String>>,
    /// Whether to freeze the coefficients at the state although the motion is not steady.
    pub frozen: bool,
}

/// Magnitudes of the terms summed in the entries of a matrix of all coordinates, such as the stiffness: the block of two bodies has the
/// rounding error of the largest entries of the two, with rotations converted to lengths.
fn summed_up(model: &Model, K: &DMatrix<f64>) -> DMatrix<f64> {
    let l = lengths(model);
    let mut largest = vec![0.0_f64; K.nrows() / 6];
    for i in 0..K.nrows() {
        for j in 0..K.ncols() {
            let size = K[(i, j)].abs() / (l[i] * l[j]);
            largest[i / 6] = largest[i / 6].max(size);
            largest[j / 6] = largest[j / 6].max(size);
        }
    }
    DMatrix::from_fn(K.nrows(), K.ncols(), |i, j| l[i] * l[j] * (largest[i / 6] * largest[j / 6]).sqrt())
}

/// Mass and stiffness along the free motions of a mechanism at rest, undamped, whose forces have a potential.
#[derive(Clone, Debug)]
pub struct Conservative {
    /// Mass, symmetric.
    pub M: DMatrix<f64>,
    /// Stiffness, symmetric.
    pub K: DMatrix<f64>,
    /// Magnitudes of the terms summed in the entries of the stiffness.
    pub sizes: DMatrix<f64>,
}

/// Linearises a mechanism about a consistent state. At rest, active rigid limits stay closed.
pub fn linearize(model: &Model, state: &Configuration, request: &Request) -> Result<Linearized, fourbar::Error> {
    crate::operator::fits(model)?;
    let still = stacked(&state.v).amax() == 0.0;
    let leans = if still { leans_at(model, state) } else { Vec::new() };
    let (own, rubbing) = without_dry_friction(&leaning(model, &leans));
    let model = &own;
    let mut op = Operator::new(model, state);
    op.choose(state.t);
    let G = op.jacobian(state);
    let all = Space::new(model, &G);
    let M = op.mass();
    let (a, lambda) = motion(&op, state, &all, &M)?;
    // Without degrees of freedom the motion need not be steady.
    let any = request.frozen || all.freedom() == 0;
    let steady = match (any, steady::steady(&op, state, &a)) {
        (_, Ok(steady)) => steady,
        (true, Err(_)) => Steady::none(model),
        (false, Err(d)) => return Err(d.into()),
    };
    let mut warnings: Vec<Diagnostic> = crate::refusals::friction(&rubbing).into_iter().collect();
    warnings.extend(crate::refusals::in_time(model, state));
    let (K, Dv) = op.stiffness(state, &lambda);
    let rows = op.row_derivatives(state, &a);
    let positions = op.positions();
    let rolls = positions.contains(&false);
    let space = if rolls { Space::new(model, &Operator::only(&G, &positions)) } else { all.clone() };
    let bases = Bases::new(model, &space, &all, rolls || !still, &M, &K);
    let (N, Nv, R, Rv) = (&bases.N, &bases.Nv, &bases.R, &bases.Rv);
    let P = -all.increments(&rows.rates);
    let (first, own_states) = (model.first_state(), model.states.len());
    let (n, m) = (N.ncols(), Nv.ncols());
    let inputs = outputs::inputs(model, request)?;
    let driven: Vec<usize> = inputs.iter().filter_map(|i| if let In::Drive(k) = i { Some(*k) } else { None }).collect();
    let rows_of: Vec<DVector<f64>> = driven.iter().map(|k| drive_row(&op, state, &G, *k)).collect::<Result<_, _>>()?;
    let (before, at_drives) = (n + m, n + m + own_states);
    let size = at_drives + 2 * driven.len();
    // Increments of poses and velocities for unit states.
    let (mut Q, mut V) = (DMatrix::zeros(N.nrows(), size), DMatrix::zeros(N.nrows(), size));
    Q.columns_mut(0, n).copy_from(N);
    V.columns_mut(0, n).copy_from(&(&P * N));
    V.columns_mut(n, m).copy_from(Nv);
    for (k, e) in rows_of.iter().enumerate() {
        let own = if rolls {
            Operator::only(&DMatrix::from_columns(std::slice::from_ref(e)), &positions).column(0).into_owned()
        } else {
            e.clone()
        };
        let dq = space.increment(&own);
        V.set_column(at_drives + 2 * k, &(&P * &dq));
        Q.set_column(at_drives + 2 * k, &dq);
        V.set_column(at_drives + 2 * k + 1, &all.increment(e));
    }
    let F = op.forces_by_auxiliaries(state);
    let mut loads = -(&K * &Q) - &Dv * &V;
    if own_states > 0 {
        let mut part = loads.columns_mut(n + m, own_states);
        part += F.columns(first, own_states);
    }
    let asked = (&rows.gamma_q - &rows.accelerations) * &Q + &rows.gamma_v * &V;
    let accelerations = Accelerations::new(model, &all, &M, Nv);
    let a_x = accelerations.of(&loads, &asked);
    let (O, S) = steady.rotations(state);
    let rates = &V - &O * &Q;
    let mut A = DMatrix::zeros(size, size);
    A.rows_mut(0, n).copy_from(&(R * &rates));
    A.rows_mut(n, m).copy_from(&(Rv * (&a_x + &S * &V)));
    if own_states > 0 {
        A.rows_mut(n + m, own_states).copy_from(&auxiliary_rows(model, state, &Q, &V, n + m));
    }
    (0..driven.len()).for_each(|k| A[(at_drives + 2 * k, at_drives + 2 * k + 1)] = 1.0);
    let mut sizes = A.abs();
    let stiff = summed_up(model, &K);
    let summed = accelerations.sizes(&(&stiff * Q.abs() + summed_up(model, &Dv) * V.abs())) + Rv.abs() * all.increments(&asked).abs();
    sizes.rows_mut(n, m).zip_apply(&summed, |x, y| *x = x.max(y));
    if steady.moves() && steady::drift(N, R, &rates) > 1e-6 {
        let message = "the free motions of this position do not go with the symmetry of the motion";
        return Err(Diagnostic::new("S410", message).help("`--frozen` takes the coefficients as they are").into());
    }
    let mut B = DMatrix::zeros(size, inputs.len());
    let none = DMatrix::zeros(G.nrows(), 1);
    for (k, input) in inputs.iter().enumerate() {
        let &In::Input(input) = input else {
            let d = inputs[..k].iter().filter(|i| matches!(i, In::Drive(_))).count();
            let e = DMatrix::from_columns(std::slice::from_ref(&rows_of[d]));
            B.view_mut((n, k), (m, 1)).copy_from(&(Rv * accelerations.of(&DMatrix::zeros(N.nrows(), 1), &e)));
            B[(at_drives + 2 * d + 1, k)] = 1.0;
            continue;
        };
        let part = accelerations.of(&F.columns(input, 1).into_owned(), &none);
        B.view_mut((n, k), (m, 1)).copy_from(&(Rv * &part));
        let mut z = vec![0.0; model.auxiliaries()];
        z[input] = 1.0;
        let d = Along { state, direction: Direction { z: &z, ..Direction::default() } }.rates(model);
        B.view_mut((n + m, k), (own_states, 1)).copy_from(&d.rows(first, own_states));
    }
    let wanted = outputs::wanted(model, request)?;
    let (C, D) = outputs::matrices(model, state, &wanted, (&Q, &V), before, &inputs)?;
    let mut states = bases.names(model, state, N, "");
    states.extend(bases.names(model, state, Nv, "'"));
    states.extend(model.states.iter().map(|s| s.name.clone()));
    states.extend(driven.iter().flat_map(|k| ["", "'"].map(|mark| format!("{}{mark}", model.drives[*k].name))));
    let conservative = (still && !rolls && own_states == 0).then(|| {
        let reduced = |X: &DMatrix<f64>| N.tr_mul(&(X * N));
        (reduced(&M), reduced(&K), reduced(&Dv))
    });
    let stiff = N.abs().tr_mul(&(&stiff * N.abs()));
    let conservative = conservative.and_then(|(M, K, D)| {
        let anti = (&K - K.transpose()).amax();
        let damped = D.amax() > 1e-13 * (K.amax() * M.amax()).sqrt();
        (anti <= 1e-9 * K.amax() && !damped).then(|| Conservative { M, K: (&K + K.transpose()) * 0.5, sizes: stiff })
    });
    Ok(Linearized {
        state: state.clone(),
        states,
        inputs: inputs.iter().map(|i| i.name(model)).collect(),
        outputs: wanted.iter().map(|o| o.name.clone()).collect(),
        A,
        B,
        C,
        D,
        poses: Q,
        velocities: V,
        steady,
        freedom: [n, m],
        idle: bases.idle,
        sizes,
        conservative,
        warnings,
    })
}

/// Bases of the free motions without massless ones, and the matrices that extract components along them.
struct Bases {
    N: DMatrix<f64>,
    Nv: DMatrix<f64>,
    R: DMatrix<f64>,
    Rv: DMatrix<f64>,
    idle: usize,
}

impl Bases {
    fn new(model: &Model, space: &Space, all: &Space, moving: bool, M: &DMatrix<f64>, K: &DMatrix<f64>) -> Self {
        let mass = model.bodies.iter().map(|b| b.mass).fold(0.0, f64::max);
        let light = |N: &DMatrix<f64>| {
            let m = N.tr_mul(&(M * N));
            if m.is_empty() { 0 } else { m.symmetric_eigenvalues().iter().filter(|x| **x <= MASSLESS * mass).count() }
        };
        let none = light(&all.N);
        let (mut N, mut Nv, mut idle) = (space.N.clone(), all.N.clone(), 0);
        if none > 0 && !moving {
            // At rest, massless motions follow the others statically, or are idle.
            let H = N.tr_mul(&(K * &N));
            let (_, T, free) = small_motions(&((&H + H.transpose()) * 0.5), &N.tr_mul(&(M * &N)), mass);
            N = &N * T;
            Nv = N.clone();
            idle = free;
        } else if none > 0 {
            let heavy = |N: &DMatrix<f64>| {
                let e = N.tr_mul(&(M * N)).symmetric_eigen();
                let kept: Vec<usize> = (0..N.ncols()).filter(|&k| e.eigenvalues[k] > MASSLESS * mass).collect();
                N * DMatrix::from_fn(N.ncols(), kept.len(), |i, j| e.eigenvectors[(i, kept[j])])
            };
            (N, Nv, idle) = (heavy(&N), heavy(&Nv), none);
        }
        let weights = lengths(model).map(|x| x * x);
        // (N^T W N)^-1 N^T W extracts the components along any basis.
        let reader = |N: &DMatrix<f64>| {
            let mut T = N.transpose();
            T.column_iter_mut().zip(weights.iter()).for_each(|(mut c, w)| c *= *w);
            let square = &T * N;
            square.try_inverse().map(|i| i * &T).unwrap_or(T)
        };
        let (R, Rv) = (reader(&N), reader(&Nv));
        Self { N, Nv, R, Rv, idle }
    }

    /// A name for each component: that of the coordinate that moves most along it.
    fn names(&self, model: &Model, state: &Configuration, N: &DMatrix<f64>, mark: &str) -> Vec<String> {
        let name = |(k, x): (usize, nalgebra::DVectorView<'_, f64>)| {
            let x = x.into_owned();
            let parts = crate::words::parts(model, &state.q, &x, &DVector::zeros(x.len()));
            let most = parts.first().map_or_else(|| "motion".to_string(), |p| p.coordinate.clone());
            format!("{}{mark}: mostly {most}", k + 1)
        };
        N.column_iter().enumerate().map(|(k, x)| name((k, x.as_view()))).collect()
    }
}

/// Solves for accelerations with the constraints in null-space form; redundant rows are allowed.
pub(crate) struct Accelerations<'a> {
    all: &'a Space,
    M: &'a DMatrix<f64>,
    N: &'a DMatrix<f64>,
    inverse: DMatrix<f64>,
}

impl<'a> Accelerations<'a> {
    pub(crate) fn new(model: &Model, all: &'a Space, M: &'a DMatrix<f64>, N: &'a DMatrix<f64>) -> Self {
        let m = N.tr_mul(&(M * N));
        let m = (&m + m.transpose()) * 0.5;
        if m.is_empty() {
            return Self { all, M, N, inverse: m };
        }
        let mass = model.bodies.iter().map(|b| b.mass).fold(0.0, f64::max);
        let e = m.symmetric_eigen();
        // Massless motions, such as the spin of a point mass, have no acceleration.
        let inverse = e.eigenvalues.map(|x| if x > MASSLESS * mass { 1.0 / x } else { 0.0 });
        Self { all, M, N, inverse: &e.eigenvectors * DMatrix::from_diagonal(&inverse) * e.eigenvectors.transpose() }
    }

    /// Magnitudes of the terms of accelerations along the free motions, from those of forces.
    fn sizes(&self, forces: &DMatrix<f64>) -> DMatrix<f64> {
        self.inverse.abs() * self.N.abs().tr_mul(forces)
    }

    /// Accelerations for forces and right-hand sides of the acceleration constraints, one column each.
    pub(crate) fn of(&self, forces: &DMatrix<f64>, asked: &DMatrix<f64>) -> DMatrix<f64> {
        let particular = self.all.increments(asked);
        &particular + self.N * (&self.inverse * self.N.tr_mul(&(forces - self.M * &particular)))
    }
}

/// Accelerations by body and multipliers at a state.
pub(crate) fn motion(
    op: &Operator<'_>,
    state: &Configuration,
    all: &Space,
    M: &DMatrix<f64>,
) -> Result<(Vec<Twist>, DVector<f64>), Diagnostic> {
    let model = op.model;
    let torque = |(b, v): (&fourbar::model::Body, &Twist)| Wrench { F: Default::default(), T: v.w.cross(&(b.J_bar * v.w)) };
    let load = op.applied(state) - stacked(&model.bodies.iter().zip(&state.v).map(torque).collect::<Vec<_>>());
    let mut gamma = DVector::zeros(op.set().rows());
    op.set().gamma(&state.q, &state.v, state.t, gamma.as_mut_slice());
    let column = |x: &DVector<f64>| DMatrix::from_columns(std::slice::from_ref(x));
    let a: DVector<f64> = Accelerations::new(model, all, M, &all.N).of(&column(&load), &column(&gamma)).column(0).into_owned();
    if !a.iter().all(|x| x.is_finite()) {
        let d =
            Diagnostic::new("S250", format!("at t = {} s the accelerations are not finite numbers", fourbar::diagnostic::number(state.t)));
        return Err(d.time(state.t).help("a force or a drive has no finite value at this state"));
    }
    let lambda = all.multipliers(&(load - M * &a));
    Ok((by_body(&a), lambda))
}

/// The change of all rows per unit of a drive's coordinate.
fn drive_row(op: &Operator<'_>, state: &Configuration, G: &DMatrix<f64>, drive: usize) -> Result<DVector<f64>, Diagnostic> {
    let set = op.set();
    let d = &op.model.drives[drive];
    let j = &op.model.joints[d.joint];
    let place = set.list.iter().position(|c| c.owner == Owner::Drive(drive));
    let (Some(c), Some(y)) = (place, j.coordinate(d.coordinate)) else {
        return Err(Diagnostic::new("U401", format!("the drive `{}` has no separate row", d.name)).name(&d.name));
    };
    // Rows of rotations are scaled by the characteristic length.
    let [a, b] = j.bodies.map(|b| b.index());
    let own = y.row(&state.q[a], &state.q[b]).parts;
    let size = [a, b].iter().zip(&own).filter(|(k, _)| **k > 0).map(|(_, p)| p.F.norm_squared() + p.T.norm_squared()).sum::<f64>().sqrt();
    let mut e = DVector::zeros(set.rows());
    e[set.row_start[c]] = G.row(set.row_start[c]).norm() / size.max(f64::MIN_POSITIVE);
    Ok(e)
}

/// Derivatives of the rates of user-defined states with respect to all states.
fn auxiliary_rows(model: &Model, state: &Configuration, Q: &DMatrix<f64>, V: &DMatrix<f64>, before: usize) -> DMatrix<f64> {
    let (first, count) = (model.first_state(), model.states.len());
    let mut out = DMatrix::zeros(count, Q.ncols());
    let mut z = vec![0.0; model.auxiliaries()];
    for k in 0..Q.ncols() {
        let (q, v): (Vec<Twist>, Vec<Twist>) = (by_body(&Q.column(k).into_owned()), by_body(&V.column(k).into_owned()));
        z.fill(0.0);
        if (before..before + count).contains(&k) {
            z[first + k - before] = 1.0;
        }
        let d = Along { state, direction: Direction { q: &q, v: &v, z: &z } }.rates(model);
        out.set_column(k, &d.rows(first, count));
    }
    out
}
