//! Stability of an equilibrium: frequencies of small motions about it, and the criterion for neutral equilibria.

use super::Rest;
use crate::linear::{Request, linearize};
use crate::modes::modes;
use crate::operator::{Along, Direction, Operator, lengths};
use crate::pencil::small_motions;
use crate::words;
use fourbar::Model;
use fourbar::evaluate::by_body;
use fourbar::state::{Configuration, Twist};
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

/// Squared frequencies below this share of the contributions of the individual forces are zero.
const NEUTRAL: f64 = 1e-6;
/// So are those below this share of the largest.
const ROUNDING: f64 = 1e-12;
/// Rounding error of the stiffness along a motion, in units of the last place of its terms.
const DIGITS: f64 = 256.0;
/// An antisymmetric part of the stiffness above this share indicates a force without potential.
const ANTISYMMETRIC: f64 = 1e-8;

/// Behaviour of a mechanism after a small displacement from equilibrium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stability {
    /// It stays nearby.
    Stable,
    /// It moves away.
    Unstable,
    /// It stays where it is displaced to, to second order.
    Neutral,
    /// It cannot move at all.
    Held,
}

impl Stability {
    /// As a word.
    pub fn word(self) -> &'static str {
        match self {
            Stability::Stable => "stable",
            Stability::Unstable => "unstable",
            Stability::Neutral => "neutral",
            Stability::Held => "held",
        }
    }
}

/// Small motions about an equilibrium.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Stable, unstable or neutral.
    pub stability: Stability,
    /// Squares of the circular frequencies, lowest first, (rad/s)^2.
    pub omega2: Vec<f64>,
    /// Magnitude of each of them if the forces did not cancel each other.
    pub sizes: Vec<f64>,
    /// Motions of all bodies, one column for each frequency.
    pub shapes: DMatrix<f64>,
    /// The softest motion in words.
    pub softest: String,
    /// Free motions without inertia and stiffness, such as the spin of a point mass.
    pub idle: usize,
    /// Whether a force without potential takes part, so that frequencies alone do not decide.
    pub circulatory: bool,
    /// Eigenvalues of the motion, real and imaginary part, if they decide stability: with rolling, states, or forces without potential.
    pub roots: Vec<[f64; 2]>,
}

impl Verdict {
    /// The verdict for a mechanism that cannot move.
    pub fn held(coordinates: usize) -> Self {
        Self {
            stability: Stability::Held,
            omega2: Vec::new(),
            sizes: Vec::new(),
            shapes: DMatrix::zeros(coordinates, 0),
            softest: String::new(),
            idle: 0,
            circulatory: false,
            roots: Vec::new(),
        }
    }
}

/// Frequencies of the small motions at an equilibrium with the stiffness `K` of all coordinates.
pub fn verdict(op: &Operator<'_>, rest: &Rest, K: &DMatrix<f64>) -> Verdict {
    let N = &rest.space.N;
    let n = N.ncols();
    if n == 0 {
        return Verdict::held(N.nrows());
    }
    let sizes = |shapes: &DMatrix<f64>| -> Vec<f64> {
        let list = shapes.column_iter().map(|x| x.into_owned());
        list.map(|x| contributions(op.model, &rest.state, &x, &(K * &x))).collect()
    };
    let H = rest.space.reduced(K);
    let anti = (&H - H.transpose()).amax() / 2.0;
    let size = sizes(N).into_iter().fold(0.0_f64, f64::max);
    let circulatory = circulates(anti, size.max(H.amax()));
    let H = (&H + H.transpose()) * 0.5;
    let M = N.tr_mul(&(op.mass() * N));
    let (values, Y, idle) = small_motions(&H, &M, op.model.bodies.iter().map(|b| b.mass).fold(0.0, f64::max));
    let shapes = N * Y;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let omega2: Vec<f64> = order.iter().map(|&k| values[k]).collect();
    let shapes = DMatrix::from_fn(N.nrows(), order.len(), |i, j| shapes[(i, order[j])]);
    let sizes = sizes(&shapes);
    let left: Vec<f64> = shapes.column_iter().map(|x| rounding(op, rest, K, &x.into_owned())).collect();
    let stability = judged(&omega2, &sizes, &left, 0.0);
    let softest = shapes.column_iter().next().map(|x| words::motion(op.model, &rest.state.q, &x.into_owned())).unwrap_or_default();
    Verdict { stability, omega2, sizes, shapes, softest, idle, circulatory, roots: Vec::new() }
}

/// Replaces the verdict by that of the eigenvalues of the motion, where stiffness does not decide.
pub fn by_roots(model: &Model, state: &Configuration, v: &mut Verdict) {
    let still = Configuration { v: vec![Twist::zero(); state.v.len()], ..state.clone() };
    let request = Request { inputs: Some(Vec::new()), outputs: Some(Vec::new()), frozen: true };
    let Some(m) = linearize(model, &still, &request).ok().and_then(|l| modes(model, l).ok()) else { return };
    v.roots = m.list.iter().map(|m| [m.s.re, m.s.im]).collect();
    if let Some(grows) = m.growing() {
        v.stability = Stability::Unstable;
        v.softest = grows.words.clone();
        v.omega2 = vec![-grows.s.re * grows.s.re];
    } else {
        v.stability = if m.rigid > 0 { Stability::Neutral } else { Stability::Stable };
        v.omega2 = m.list.iter().map(|m| m.omega * m.omega).collect();
        v.softest = match m.rigid_motions.first().filter(|_| m.rigid > 0) {
            Some(first) => format!("`{first}`"),
            None => m.list.first().map(|m| m.words.clone()).unwrap_or_default(),
        };
    }
    v.sizes = v.omega2.clone();
    v.shapes = DMatrix::zeros(v.shapes.nrows(), 0);
}

/// Stability from squared frequencies and their magnitudes without cancellation. `errors` are their uncertainties, one each or one for all;
/// `top` is the largest of those that are not listed.
pub fn judged(omega2: &[f64], sizes: &[f64], errors: &[f64], top: f64) -> Stability {
    let top = omega2.iter().chain(sizes).fold(top, |m, x| m.max(x.abs()));
    let zero = |k: usize| omega2[k].abs() <= NEUTRAL * sizes[k] + ROUNDING * top + errors.get(k).or(errors.last()).copied().unwrap_or(0.0);
    if (0..omega2.len()).any(|k| omega2[k] < 0.0 && !zero(k)) {
        Stability::Unstable
    } else if (0..omega2.len()).any(zero) {
        Stability::Neutral
    } else {
        Stability::Stable
    }
}

/// Whether the antisymmetric part of the stiffness, relative to the contributions of the forces, indicates a force without potential.
pub fn circulates(anti: f64, size: f64) -> bool {
    anti > ANTISYMMETRIC * size
}

/// Error of the stiffness along a motion from rounding and from the residual of the equilibrium.
fn rounding(op: &Operator<'_>, rest: &Rest, K: &DMatrix<f64>, x: &DVector<f64>) -> f64 {
    let (size, way) = (x.abs(), x.component_mul(&lengths(op.model)));
    let residual = rest.g.amax() / op.model.length * way.norm_squared();
    DIGITS * f64::EPSILON * size.dot(&(K.abs() * &size)) + residual
}

/// Sum of the magnitudes of the contributions to the stiffness along a motion: gravity with the reactions, and each force. `Kx` is the
/// stiffness times the motion.
pub fn contributions(model: &Model, state: &Configuration, x: &DVector<f64>, Kx: &DVector<f64>) -> f64 {
    let q = by_body(x);
    let along = Along { state, direction: Direction { q: &q, ..Direction::default() } };
    let own: Vec<f64> = model.forces.iter().map(|(_, f)| -along.work(model, f, &q)).collect();
    let rows = x.dot(Kx) - own.iter().sum::<f64>();
    rows.abs() + own.iter().map(|x| x.abs()).sum::<f64>()
}
