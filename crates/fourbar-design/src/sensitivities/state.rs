//! Derivatives of consistent states with respect to parameters: assembled starts, and every instant of a driven mechanism.

use super::around::{Around, PLACES, around};
use super::columns::Row;
use super::{Parameters, alone};
use crate::manifold::Manifold;
use crate::operator::{Operator, Space, without_dry_friction};
use crate::tangent::Columns;
use fourbar::analysis::assembly::assemble;
use fourbar::evaluate::stacked;
use fourbar::state::{Configuration, Twist, Wrench};
use fourbar::trajectory::Trajectory;
use fourbar::{Error, Model};
use nalgebra::{DMatrix, DVector};

/// Relative disagreement of two differences of assembled starts above which a smaller step is tried.
const APART: f64 = 1e-4;

/// Derivative of a state with respect to one parameter: increments of poses and of velocities of all moving bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Tangent {
    /// Of poses.
    pub q: DVector<f64>,
    /// Of velocities.
    pub v: DVector<f64>,
}

impl Tangent {
    /// A zero tangent.
    pub(super) fn none(model: &Model) -> Self {
        let none = DVector::zeros(6 * model.moving());
        Self { q: none.clone(), v: none }
    }
}

/// Derivatives of an assembled start.
#[derive(Clone, Debug)]
pub struct OfStart {
    /// The start.
    pub state: Configuration,
    /// Its derivative with respect to each selected parameter.
    pub tangents: Vec<Tangent>,
    /// One row: all result columns at the start.
    pub columns: Trajectory,
    /// Their derivatives, by parameter.
    pub slopes: Vec<Trajectory>,
}

/// The tangent spaces of a state: of the position rows, and of all rows.
pub(super) struct Spaces {
    pub positions: Space,
    pub all: Space,
    /// Jacobians of both.
    pub P: DMatrix<f64>,
    pub G: DMatrix<f64>,
}

/// A mechanism with its perturbed mechanisms, for derivatives at given states.
pub(super) struct Varied<'m> {
    pub op: Operator<'m>,
    positions: Vec<bool>,
    around: Vec<Vec<(f64, Operator<'m>)>>,
}

fn gyroscopic(op: &Operator<'_>, at: &Configuration) -> DVector<f64> {
    let torque = |(b, v): (&fourbar::model::Body, &Twist)| Wrench { F: Default::default(), T: v.w.cross(&(b.J_bar * v.w)) };
    stacked(&op.model.bodies.iter().zip(&at.v).map(torque).collect::<Vec<_>>())
}

/// The derivative of a quantity at fixed states, from perturbed mechanisms.
fn by(around: &[(f64, Operator<'_>)], f: impl Fn(&Operator<'_>) -> DVector<f64>) -> DVector<f64> {
    let mut sum: Option<DVector<f64>> = None;
    for (weight, op) in around {
        let part = f(op) * *weight;
        sum = Some(match sum {
            Some(sum) => sum + part,
            None => part,
        });
    }
    sum.unwrap_or_default()
}

fn motion_by(around: &[(f64, Operator<'_>)], at: &Configuration, a: &DVector<f64>, lambda: &DVector<f64>) -> [DVector<f64>; 2] {
    let n = a.len();
    let both = by(around, |op| {
        let G = op.jacobian(at);
        let force = op.mass() * a + gyroscopic(op, at) - op.applied(at) + G.tr_mul(lambda);
        let mut gamma = DVector::zeros(op.set().rows());
        op.set().gamma(&at.q, &at.v, at.t, gamma.as_mut_slice());
        let bend = G * a - gamma;
        DVector::from_iterator(n + bend.len(), force.iter().chain(bend.iter()).copied())
    });
    [both.rows(0, n).into_owned(), both.rows(n, both.len() - n).into_owned()]
}

impl<'m> Varied<'m> {
    pub fn new(model: &'m Model, around: &'m [Around], state: &Configuration) -> Self {
        let op = Operator::new(model, state);
        let positions = op.positions();
        let around = around.iter().map(|a| a.each().map(|(_, weight, m)| (weight, Operator::new(m, state))).collect()).collect();
        Self { op, positions, around }
    }

    pub fn choose(&mut self, t: f64) {
        self.op.choose(t);
        self.around.iter_mut().flatten().for_each(|(_, op)| op.choose(t));
    }

    /// The derivative of a quantity with respect to a parameter at fixed states.
    fn by(&self, k: usize, f: impl Fn(&Operator<'_>) -> DVector<f64>) -> DVector<f64> {
        by(&self.around[k], f)
    }

    /// Selects the entries of position rows.
    fn of_positions(&self, x: DVector<f64>) -> DVector<f64> {
        let list: Vec<f64> = x.iter().zip(&self.positions).filter(|(_, p)| **p).map(|(x, _)| *x).collect();
        DVector::from_vec(list)
    }

    /// Whether each row is a position row.
    pub fn positions(&self) -> &[bool] {
        &self.positions
    }

    /// `Phi_p` of the position rows.
    pub fn gaps_by(&self, k: usize, at: &Configuration) -> DVector<f64> {
        let all = self.by(k, |op| {
            let mut Phi = DVector::zeros(op.set().rows());
            op.set().residual(&at.q, &at.turns, at.t, Phi.as_mut_slice());
            Phi
        });
        self.of_positions(all)
    }

    /// `(G v - nu)_p`.
    fn rates_by(&self, k: usize, at: &Configuration) -> DVector<f64> {
        let v = stacked(&at.v);
        self.by(k, |op| {
            let mut nu = DVector::zeros(op.set().rows());
            op.set().nu(at.t, nu.as_mut_slice());
            op.jacobian(at) * &v - nu
        })
    }

    /// `(M a + h - f + G^T lambda)_p`, then `(G a - gamma)_p`.
    pub fn motion_by(&self, k: usize, at: &Configuration, a: &DVector<f64>, lambda: &DVector<f64>) -> [DVector<f64>; 2] {
        motion_by(&self.around[k], at, a, lambda)
    }

    /// The operator, and the right-hand sides of the tangent equations of a motion for each parameter.
    pub fn by_parameters(
        &mut self,
        at: &Configuration,
        count: usize,
    ) -> (&mut Operator<'m>, impl Fn(&DVector<f64>, &DVector<f64>) -> Columns) {
        let (around, rows, n) = (&self.around, self.positions.len(), 6 * self.op.model.moving());
        let by = move |a: &DVector<f64>, lambda: &DVector<f64>| {
            let (mut forces, mut asked) = (DMatrix::zeros(n, count), DMatrix::zeros(rows, count));
            for (k, own) in around.iter().take(count).enumerate() {
                let [force, bend] = motion_by(own, at, a, lambda);
                forces.set_column(k, &-force);
                asked.set_column(k, &-bend);
            }
            (forces, asked)
        };
        (&mut self.op, by)
    }

    /// The tangent spaces of positions and of velocities.
    pub fn spaces(&self, at: &Configuration) -> Spaces {
        let G = self.op.jacobian(at);
        let all = Space::new(self.op.model, &G);
        if self.positions.iter().all(|p| *p) {
            return Spaces { positions: all.clone(), all, P: G.clone(), G };
        }
        let P = Operator::only(&G, &self.positions);
        Spaces { positions: Space::new(self.op.model, &P), all, P, G }
    }

    /// A state with its joints closed to rounding: redundant rows are dependent only there.
    pub fn closed(&self, at: &Configuration) -> Configuration {
        let manifold = Manifold::new(self.op.model, at);
        let mut s = at.clone();
        let space = manifold.space(at);
        if !manifold.close(&mut s, &space) {
            return at.clone();
        }
        s
    }

    /// A tangent with the smallest correction that keeps all joints closed and all velocities consistent.
    pub fn corrected(&self, k: usize, at: &Configuration, spaces: &Spaces, x: &Tangent, rates: &DMatrix<f64>) -> Tangent {
        let q = &x.q - spaces.positions.increment(&(&spaces.P * &x.q + self.gaps_by(k, at)));
        let v = &x.v - spaces.all.increment(&(&spaces.G * &x.v + rates * &q + self.rates_by(k, at)));
        Tangent { q, v }
    }
}

/// Derivatives of the assembled start, in absolute increments. Free motions follow from assembling perturbed mechanisms; the rest is solved
/// for.
pub(super) fn start_tangents(
    parameters: &Parameters<'_>,
    varied: &mut Varied<'_>,
    state: &Configuration,
    which: &[usize],
    begin: &dyn Fn(&Model) -> Result<Configuration, Error>,
) -> Result<Vec<Tangent>, Error> {
    varied.choose(state.t);
    let spaces = varied.spaces(state);
    let rates = varied.op.row_derivatives(state, &vec![Twist::zero(); state.q.len()]).rates;
    alone::check(parameters, varied, state, which)?;
    let free = spaces.positions.freedom() + spaces.all.freedom() > 0;
    let mut list = Vec::new();
    for (i, &k) in which.iter().enumerate() {
        let guess = if free { assembled(parameters, k, state, begin)? } else { Tangent::none(varied.op.model) };
        list.push(varied.corrected(i, state, &spaces, &guess, &rates));
    }
    Ok(list)
}

/// Differences of assembled starts, with the largest step for which they are smooth.
fn assembled(
    parameters: &Parameters<'_>,
    k: usize,
    state: &Configuration,
    begin: &dyn Fn(&Model) -> Result<Configuration, Error>,
) -> Result<Tangent, Error> {
    let by = |share: f64| -> Result<(Tangent, f64), Error> {
        let h = parameters.step(k, share);
        let mut sum: Option<Tangent> = None;
        let mut inner: Option<DVector<f64>> = None;
        for (at, weight) in PLACES {
            let own = begin(&parameters.varied(k, at * h)?)?;
            let (dq, dv) = (Manifold::between(state, &own), stacked(&own.v) - stacked(&state.v));
            if at.abs() == 1.0 {
                let part = &dq * (0.5 * at / h);
                inner = Some(inner.map_or_else(|| part.clone(), |s| s + &part));
            }
            let part = Tangent { q: dq * (weight / h), v: dv * (weight / h) };
            sum = Some(sum.map_or_else(|| part.clone(), |s| Tangent { q: s.q + &part.q, v: s.v + &part.v }));
        }
        let none = || DVector::zeros(6 * (state.q.len() - 1));
        let x = sum.unwrap_or_else(|| Tangent { q: none(), v: none() });
        let gap = (&x.q - inner.unwrap_or_else(none)).amax();
        Ok((x, gap))
    };
    let mut last = None;
    // Assembly leaves small gaps, which would dominate differences with very small steps.
    for share in [1e-3, 1e-4, 1e-5] {
        match by(share) {
            // A motion below a millionth for a change of the whole parameter counts as zero.
            Ok((x, gap)) if gap <= APART * x.q.amax().max(1e-6 / parameters.values_of(&[k])[0]) => return Ok(x),
            Ok((x, _)) => last = Some(Ok(x)),
            Err(e) => last = Some(Err(e)),
        }
    }
    last.unwrap_or_else(|| Ok(Tangent { q: DVector::zeros(6 * (state.q.len() - 1)), v: DVector::zeros(6 * (state.q.len() - 1)) }))
}

/// One row and its derivatives along tangents.
pub(super) fn at_state(
    row: &mut Row<'_>,
    varied: &Varied<'_>,
    state: &Configuration,
    tangents: &[Tangent],
) -> Result<(Trajectory, Vec<Trajectory>), Error> {
    let spaces = varied.spaces(state);
    let mut columns = row.empty();
    columns.push(&row.value(state)?);
    let mut slopes = Vec::new();
    for (k, x) in tangents.iter().enumerate() {
        let mut s = row.empty();
        s.push(&row.slope(k, state, &spaces, x)?);
        slopes.push(s);
    }
    Ok((columns, slopes))
}

/// Derivatives of the assembled start.
pub fn of_start(parameters: &Parameters<'_>, which: &[usize]) -> Result<OfStart, Error> {
    let model = without_dry_friction(&parameters.model()?).0;
    crate::operator::fits(&model)?;
    let around = around(parameters, &model, which)?;
    let begin = |m: &Model| -> Result<Configuration, Error> { Ok(assemble(m)?.configuration) };
    let state = begin(&model)?;
    let mut varied = Varied::new(&model, &around, &state);
    let tangents = start_tangents(parameters, &mut varied, &state, which, &begin)?;
    let mut row = Row::new(&model, parameters, which, &around);
    let (columns, slopes) = at_state(&mut row, &varied, &state, &tangents)?;
    Ok(OfStart { state, tangents, columns, slopes })
}
