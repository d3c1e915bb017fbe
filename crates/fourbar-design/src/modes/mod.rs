//! Vibrations about an equilibrium or a steady motion: frequencies, damping, and descriptions of mode shapes.
//!
//! ```
//! use fourbar_design::linear::{Request, linearize};
//! use fourbar_design::modes::modes;
//! use fourbar::analysis::assembly::assemble;
//! // The benchmark bicycle at 5 m/s: its weave is damped, and so is its capsize.
//! let model = fourbar_io::load("bicycle")?;
//! let state = assemble(&model)?.configuration;
//! let found = modes(&model, linearize(&model, &state, &Request::default())?)?;
//! assert!(found.list.iter().all(|m| m.s.re < 0.0));
//! assert_eq!(found.rigid, 6);
//! # Ok::<(), fourbar::Error>(())
//! ```

pub mod eigen;
mod floquet;
pub(crate) mod sparse;

pub use floquet::floquet;

use crate::equilibrium::{leaning, leans_at};
use crate::linear::steady::Steady;
use crate::linear::{Conservative, Linearized};
use crate::operator::{MOST, without_dry_friction};
use crate::pencil::small_motions;
use crate::words::{self, Part};
use fourbar::evaluate::{Evaluation, stacked};
use fourbar::state::{Configuration, Pose, Twist};
use fourbar::{Diagnostic, Error, Model};
use nalgebra::{Complex, DMatrix, DVector};
use serde::Serialize;

/// Conditions above this cause a warning.
const DOUBTFUL: f64 = 1e5;
/// Squared frequencies are zero below this share of their terms; and of the largest.
const ZERO: f64 = 1e-12;
const ROUNDING: f64 = 1e-15;
/// Energies of bodies below this share are not named.
const NAMED: f64 = 0.01;

type C = Complex<f64>;

/// A vibration, or a motion that grows or decays without oscillation.
#[derive(Clone, Debug, Serialize)]
pub struct Mode {
    /// Eigenvalue, 1/s; for a conjugate pair the one with positive imaginary part.
    #[serde(serialize_with = "pair")]
    pub s: C,
    /// Natural circular frequency `|s|`, rad/s.
    pub omega: f64,
    /// Frequency of the vibration, Hz; zero without oscillation.
    pub frequency: f64,
    /// Damping ratio `-Re s / |s|`.
    pub damping: f64,
    /// Factor by which errors are magnified in the eigenvalue.
    pub condition: f64,
    /// Coordinates that take part, largest first.
    pub shape: Vec<Part>,
    /// The shape in words.
    pub words: String,
    /// Shares of the kinetic energy by body, largest first.
    pub energy: Vec<(String, f64)>,
    /// Increments of the poses of all bodies, scaled so that the largest coordinate is real.
    #[serde(skip)]
    pub motion: DVector<C>,
}

fn pair<S: serde::Serializer>(s: &C, out: S) -> Result<S::Ok, S::Error> {
    [s.re, s.im].serialize(out)
}

/// The modes of a mechanism.
#[derive(Clone, Debug)]
pub struct Modes {
    /// Modes, the lowest frequency first; one of each conjugate pair.
    pub list: Vec<Mode>,
    /// Number of zero eigenvalues: motions without restoring forces.
    pub rigid: usize,
    /// Coordinates that describe them.
    pub rigid_motions: Vec<String>,
    /// Number of all eigenvalues.
    pub states: usize,
    /// The state about which the modes are computed.
    pub state: Configuration,
    /// Symmetry of the motion.
    pub steady: Steady,
    /// Degrees of freedom of positions and of velocities, if counted.
    pub freedom: Option<[usize; 2]>,
    /// Number of free motions with neither inertia nor stiffness, omitted.
    pub idle: usize,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

impl Modes {
    /// The mode that grows fastest, if any: real parts must exceed rounding errors.
    pub fn growing(&self) -> Option<&Mode> {
        let top = self.list.iter().fold(0.0_f64, |m, x| m.max(x.omega));
        let grows = self.list.iter().filter(|m| m.s.re > 1e-9 * top.min(1e3 * m.omega.max(1e-6 * top)));
        grows.max_by(|a, b| a.s.re.total_cmp(&b.s.re))
    }
}

/// The modes of a linear model of a mechanism.
pub fn modes(model: &Model, linear: Linearized) -> Result<Modes, Diagnostic> {
    let (found, zeros, still) = match &linear.conservative {
        Some(c) => conservative(model, &linear, c),
        None => {
            let failed = || {
                Diagnostic::new("S411", "the eigenvalues of the linear model could not be found")
                    .help("check for forces whose derivatives are not finite here")
            };
            let roots = eigen::roots(&linear.A, &linear.sizes).ok_or_else(failed)?;
            let list = roots.list.into_iter().map(|r| (r.s, r.condition, r.vector)).collect();
            (list, roots.zeros, roots.still)
        }
    };
    let mut list: Vec<Mode> = Vec::new();
    for (s, condition, x) in found.into_iter().filter(|(s, _, _)| s.im >= 0.0) {
        list.push(mode(model, &linear, s, condition, &x));
    }
    list.sort_by(|a, b| a.omega.total_cmp(&b.omega).then(a.s.re.total_cmp(&b.s.re)));
    let mut warnings = linear.warnings.clone();
    for m in list.iter().filter(|m| m.condition > DOUBTFUL) {
        let message = format!("the eigenvalue {:.6} {:+.6}i of {} magnifies errors {:.0e} times", m.s.re, m.s.im, m.words, m.condition);
        warnings.push(Diagnostic::new("W411", message));
    }
    let motions: Vec<DVector<f64>> = still.column_iter().map(|x| &linear.poses * x).collect();
    let top = motions.iter().map(|m| m.amax()).fold(0.0, f64::max);
    let motions: Vec<DVector<f64>> = motions.into_iter().filter(|m| m.amax() > 1e-9 * top).collect();
    let rigid_motions = words::describe(model, &linear.state.q, &motions);
    let states = linear.A.nrows();
    let Linearized { state, steady, freedom, idle, .. } = linear;
    Ok(Modes { list, rigid: zeros, rigid_motions, states, state, steady, freedom: Some(freedom), idle, warnings })
}

/// The lowest modes of a mechanism too large for dense matrices: at rest, undamped, without rolling bodies.
pub fn lowest(model: &Model, state: &Configuration, count: usize) -> Result<Modes, Error> {
    let (own, rubbing) = without_dry_friction(&leaning(model, &leans_at(model, state)));
    let refused = |why: &str| {
        let message = format!(
            "for mechanisms with more than {} moving bodies only undamped modes about an equilibrium are computed: {why}",
            MOST / 6
        );
        Diagnostic::new("U400", message).help("analyse a part of the mechanism")
    };
    let still = Configuration { v: vec![Twist::zero(); state.v.len()], ..state.clone() };
    if stacked(&state.v).amax() > 0.0 {
        return Err(refused("this one moves").into());
    }
    if !own.rolling.is_empty() || !own.states.is_empty() {
        return Err(refused("this one has rolling bodies or states").into());
    }
    let now = Evaluation::new(&own, &still)?;
    crate::linear::steady::at_rest(&own, &still, now.accelerations())?;
    let found = sparse::lowest(&own, &still, now.multipliers(), count).map_err(|why| match why {
        sparse::Refused::Unsymmetric => refused("this one is damped"),
        sparse::Refused::Singular => Diagnostic::new("S411", "the stiffness of the mechanism could not be factored at this position"),
    })?;
    let mut list = Vec::new();
    for f in &found {
        let s = if f.omega2 >= 0.0 { C::new(0.0, f.omega2.sqrt()) } else { C::new((-f.omega2).sqrt(), 0.0) };
        let motion = f.shape.map(|x| C::new(x, 0.0));
        list.push(finished(&own, &still.q, s, 1.0, motion.clone(), &motion));
    }
    let warnings = crate::refusals::friction(&rubbing).into_iter().collect();
    let none = Steady::none(&own);
    Ok(Modes { list, rigid: 0, rigid_motions: Vec::new(), states: 0, state: still, steady: none, freedom: None, idle: 0, warnings })
}

/// Eigenvalues, state vectors, and zero modes of a mechanism at rest whose forces have a potential.
#[allow(clippy::type_complexity)]
fn conservative(
    model: &Model,
    linear: &Linearized,
    Conservative { M, K, sizes }: &Conservative,
) -> (Vec<(C, f64, DVector<C>)>, usize, DMatrix<f64>) {
    let mass = model.bodies.iter().map(|b| b.mass).fold(0.0, f64::max);
    let (omega2, Y, _) = small_motions(K, M, mass);
    let (n, top) = (M.nrows(), omega2.iter().fold(0.0_f64, |m, x| m.max(x.abs())));
    let mut list = Vec::new();
    let mut still = Vec::new();
    for (k, &w2) in omega2.iter().enumerate() {
        let y = Y.column(k);
        // Compared with the terms of the stiffness along this motion, and with the rounding error of the largest.
        let size = y.abs().dot(&(sizes * y.abs()));
        if w2.abs() <= ZERO * size + ROUNDING * top || top == 0.0 {
            still.push(DVector::from_fn(linear.A.nrows(), |i, _| if i < n { y[i] } else { 0.0 }));
            continue;
        }
        let roots = if w2 > 0.0 {
            [C::new(0.0, w2.sqrt()), C::new(0.0, -w2.sqrt())]
        } else {
            [C::new((-w2).sqrt(), 0.0), C::new(-(-w2).sqrt(), 0.0)]
        };
        for s in roots {
            let x = DVector::from_fn(linear.A.nrows(), |i, _| if i < n { C::new(y[i], 0.0) } else { s * y[i - n] });
            list.push((s, 1.0, x));
        }
    }
    let zeros = 2 * still.len();
    let still = if still.is_empty() { DMatrix::zeros(linear.A.nrows(), 0) } else { DMatrix::from_columns(&still) };
    (list, zeros, still)
}

fn mode(model: &Model, linear: &Linearized, s: C, condition: f64, x: &DVector<C>) -> Mode {
    let complex = |M: &DMatrix<f64>| M.map(|a| C::new(a, 0.0)) * x;
    finished(model, &linear.state.q, s, condition, complex(&linear.poses), &complex(&linear.velocities))
}

/// A mode with its words and energies.
fn finished(model: &Model, q: &[Pose], s: C, condition: f64, motion: DVector<C>, velocity: &DVector<C>) -> Mode {
    let (re, im) = (motion.map(|x| x.re), motion.map(|x| x.im));
    let shape = words::parts(model, q, &re, &im);
    let words = words::sentence(&shape);
    let mut energy: Vec<(String, f64)> = model
        .bodies
        .iter()
        .enumerate()
        .skip(1)
        .map(|(b, body)| {
            let v = velocity.rows(6 * (b - 1), 6);
            let linear: f64 = (0..3).map(|k| v[k].norm_sqr()).sum::<f64>() * body.mass;
            let part = |f: &dyn Fn(&C) -> f64| nalgebra::Vector3::new(f(&v[3]), f(&v[4]), f(&v[5]));
            let (a, b) = (part(&|x| x.re), part(&|x| x.im));
            (body.name.clone(), linear + a.dot(&(body.J_bar * a)) + b.dot(&(body.J_bar * b)))
        })
        .collect();
    let sum: f64 = energy.iter().map(|e| e.1).sum();
    energy.iter_mut().for_each(|e| e.1 /= sum.max(f64::MIN_POSITIVE));
    energy.retain(|e| e.1 >= NAMED);
    energy.sort_by(|a, b| b.1.total_cmp(&a.1));
    let omega = s.norm();
    Mode {
        s,
        omega,
        frequency: s.im / std::f64::consts::TAU,
        damping: if omega > 0.0 { -s.re / omega } else { 0.0 },
        condition,
        shape,
        words,
        energy,
        motion,
    }
}
