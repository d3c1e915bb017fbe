//! Derivatives of equilibria and of vibrations.

use super::Parameters;
use super::around::{PLACES, ROUGH, around};
use super::columns::Row;
use super::state::{Tangent, Varied, at_state};
use crate::equilibrium::{Kind, Options, settle, settle_from};
use crate::linear::{Request, linearize};
use crate::modes::{Mode, modes};
use crate::operator::without_dry_friction;
use fourbar::analysis::assembly::{self, assemble_from};
use fourbar::state::{Configuration, Twist};
use fourbar::trajectory::Trajectory;
use fourbar::{Diagnostic, Error, Model};
use nalgebra::{Complex, DMatrix, DVector};

/// Step of parameters for eigenvalues, as a share of them.
const STEP: f64 = 1e-3;

/// Derivatives of an equilibrium.
#[derive(Clone, Debug)]
pub struct OfRest {
    /// The equilibrium.
    pub state: Configuration,
    /// Its derivative with respect to each parameter.
    pub tangents: Vec<Tangent>,
    /// One row: all result columns at equilibrium.
    pub columns: Trajectory,
    /// Their derivatives, by parameter.
    pub slopes: Vec<Trajectory>,
}

/// Derivatives of an equilibrium with respect to parameters.
pub fn of_rest(parameters: &Parameters<'_>, which: &[usize], options: &Options) -> Result<OfRest, Error> {
    let model = without_dry_friction(&parameters.model()?).0;
    crate::operator::fits(&model)?;
    let found = settle(&model, options)?;
    let state = found.state.clone();
    let mut around = around(parameters, &model, which)?;
    // Active limits stay closed in every perturbed mechanism.
    for m in around.iter_mut().flat_map(|a| &mut a.models).filter(|_| !found.leans.is_empty()) {
        *m = found.acting(m).into_owned();
    }
    let model = found.acting(&model);
    let model = &*model;
    let mut varied = Varied::new(model, &around, &state);
    varied.choose(state.t);
    let spaces = varied.spaces(&state);
    super::alone::check(parameters, &varied, &state, which)?;
    let n = 6 * model.moving();
    let none = DVector::zeros(n);
    let lambda = spaces.all.multipliers(&varied.op.applied(&state));
    let (K, _) = varied.op.stiffness(&state, &lambda);
    let N = &spaces.positions.N;
    let H = N.tr_mul(&(&K * N));
    let factor = (!H.is_empty()).then(|| H.clone().lu());
    if let Some(f) = &factor {
        let d = f.u().diagonal();
        if d.iter().fold(f64::INFINITY, |m, x| m.min(x.abs())) <= 1e-10 * d.amax() {
            let d = Diagnostic::new("S432", "the rest does not follow its parameters: it is neither stable nor unstable along a motion");
            return Err(d.help("hold the motion that nothing drives back").into());
        }
    }
    let rates = DMatrix::zeros(spaces.all.rows, n);
    let mut tangents = Vec::new();
    for k in 0..which.len() {
        let zero = Tangent::none(model);
        // The part that closes the joints, then the motion along free directions that restores the balance of forces.
        let mut x = varied.corrected(k, &state, &spaces, &zero, &rates);
        x.v.fill(0.0);
        if let Some(f) = &factor {
            let load = N.tr_mul(&(&varied.motion_by(k, &state, &none, &lambda)[0] + &K * &x.q));
            x.q -= N * f.solve(&load).unwrap_or_else(|| DVector::zeros(N.ncols()));
        }
        tangents.push(x);
    }
    let mut row = Row::new(model, parameters, which, &around);
    let (columns, slopes) = at_state(&mut row, &varied, &state, &tangents)?;
    Ok(OfRest { state, tangents, columns, slopes })
}

/// Derivatives of the vibrations about an equilibrium or a steady motion.
#[derive(Clone, Debug)]
pub struct OfModes {
    /// The modes.
    pub list: Vec<Mode>,
    /// Derivatives of their eigenvalues, by mode and parameter.
    pub slopes: Vec<Vec<Complex<f64>>>,
    /// The same by a formula of lower order.
    pub rough: Vec<Vec<Complex<f64>>>,
}

/// Returns the state about which vibrations are analysed, near the state of the unchanged mechanism if that is given.
pub type About<'a> = dyn Fn(&Model, Option<&Configuration>) -> Result<Configuration, Error> + 'a;

/// Derivatives of eigenvalues with respect to parameters. `about` returns the state of a mechanism; for mechanisms with changed parameters
/// it receives the state of the unchanged one.
pub fn of_modes(parameters: &Parameters<'_>, which: &[usize], about: &About<'_>) -> Result<OfModes, Error> {
    let roots = |model: &Model, state: &Configuration| -> Result<Vec<Mode>, Error> {
        let request = Request { inputs: Some(Vec::new()), outputs: Some(Vec::new()), frozen: true };
        Ok(modes(model, linearize(model, state, &request)?)?.list)
    };
    let model = parameters.model()?;
    let state = about(&model, None)?;
    let list = roots(&model, &state)?;
    let mut tables = [vec![Vec::new(); list.len()], vec![Vec::new(); list.len()]];
    for &k in which {
        let h = parameters.step(k, STEP);
        let mut around = Vec::new();
        for (at, _) in PLACES {
            let m = parameters.varied(k, at * h)?;
            around.push(roots(&m, &about(&m, Some(&state))?)?);
        }
        for (i, mode) in list.iter().enumerate() {
            let mut sums = [Complex::new(0.0, 0.0); 2];
            for (((_, fine), rough), other) in PLACES.iter().zip(ROUGH).zip(&around) {
                let s = nearest(other, mode)?;
                sums[0] += s * *fine;
                sums[1] += s * rough;
            }
            tables.iter_mut().zip(sums).for_each(|(t, s)| t[i].push(s / h));
        }
    }
    let [slopes, rough] = tables;
    Ok(OfModes { list, slopes, rough })
}

/// The eigenvalue nearest to that of a mode.
fn nearest(list: &[Mode], mode: &Mode) -> Result<Complex<f64>, Diagnostic> {
    let found = list.iter().min_by(|a, b| (a.s - mode.s).norm().total_cmp(&(b.s - mode.s).norm()));
    found.map(|m| m.s).ok_or_else(|| Diagnostic::new("S432", "the mechanism has other modes for other values of a parameter"))
}

/// Returns the equilibrium of a mechanism, near a state if one is given.
pub fn rest_near(options: &Options) -> impl Fn(&Model, Option<&Configuration>) -> Result<Configuration, Error> + '_ {
    move |model, near| match near {
        None => Ok(settle(model, options)?.state),
        Some(state) => {
            // Conditions on the start do not apply here.
            let mut free = model.clone();
            free.hold.clear();
            free.start.clear();
            let mut closed = assemble_from(&free, state, assembly::Options::default())?.configuration;
            closed.v.fill(Twist::zero());
            Ok(settle_from(model, &closed, Kind::Any)?.state)
        }
    }
}
