//! How consistent states follow parameters: assembled starts, and every instant of a driven mechanism.

use super::alone;
use super::{Pair, Parameters};
use crate::manifold::Manifold;
use crate::operator::{Operator, Space, without_dry_friction};
use fourbar::analysis::assembly::assemble;
use fourbar::constraint::ConstraintSet;
use fourbar::evaluate::stacked;
use fourbar::state::{Configuration, Twist};
use fourbar::trajectory::{Column, Recorder, Trajectory, WantedColumns, columns};
use fourbar::{Error, Evaluation, Model};
use nalgebra::{DMatrix, DVector};

/// How a state follows one parameter: increments of poses and of velocities of all moving bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Tangent {
    /// Of poses.
    pub q: DVector<f64>,
    /// Of velocities.
    pub v: DVector<f64>,
}

/// Derivatives of an assembled start.
#[derive(Clone, Debug)]
pub struct OfStart {
    /// The start.
    pub state: Configuration,
    /// How it follows each parameter asked for.
    pub tangents: Vec<Tangent>,
    /// One row: all columns of a result at the start.
    pub columns: Trajectory,
    /// Their derivatives, by parameter.
    pub slopes: Vec<Trajectory>,
}

/// A mechanism with the pairs of its parameters, to be differentiated at states.
pub(super) struct Varied<'m> {
    pub op: Operator<'m>,
    positions: Vec<bool>,
    pairs: Vec<VariedPair<'m>>,
}

struct VariedPair<'m> {
    h: f64,
    less: Operator<'m>,
    more: Operator<'m>,
}

/// Residuals of all rows of positions, those of velocities being zero.
fn gaps(set: &ConstraintSet, positions: &[bool], at: &Configuration) -> DVector<f64> {
    let mut Phi = DVector::zeros(set.rows());
    set.residual(&at.q, &at.turns, at.t, Phi.as_mut_slice());
    Phi.iter_mut().zip(positions).filter(|(_, p)| !**p).for_each(|(x, _)| *x = 0.0);
    Phi
}

/// `G v - nu`.
fn rates(op: &Operator<'_>, at: &Configuration, v: &DVector<f64>) -> DVector<f64> {
    let mut nu = DVector::zeros(op.set().rows());
    op.set().nu(at.t, nu.as_mut_slice());
    op.jacobian(at) * v - nu
}

/// `M a + h - f + G^T lambda`.
fn imbalance(op: &Operator<'_>, at: &Configuration, a: &DVector<f64>, lambda: &DVector<f64>) -> DVector<f64> {
    let torque = |(b, v): (&fourbar::model::Body, &Twist)| Twist { v: Default::default(), w: v.w.cross(&(b.J_bar * v.w)) };
    let gyro = stacked(&op.model.bodies.iter().zip(&at.v).map(torque).collect::<Vec<_>>());
    op.mass() * a + gyro - op.applied(at) + op.jacobian(at).tr_mul(lambda)
}

/// `G a - gamma`.
fn bends(op: &Operator<'_>, at: &Configuration, a: &DVector<f64>) -> DVector<f64> {
    let mut gamma = DVector::zeros(op.set().rows());
    op.set().gamma(&at.q, &at.v, at.t, gamma.as_mut_slice());
    op.jacobian(at) * a - gamma
}

impl<'m> Varied<'m> {
    pub fn new(model: &'m Model, pairs: &'m [(f64, Model, Model)], state: &Configuration) -> Self {
        let op = Operator::new(model, state);
        let positions = op.positions();
        let pairs = pairs
            .iter()
            .map(|(h, less, more)| VariedPair { h: *h, less: Operator::new(less, state), more: Operator::new(more, state) })
            .collect();
        Self { op, positions, pairs }
    }

    pub fn choose(&mut self, t: f64) {
        self.op.choose(t);
        for p in &mut self.pairs {
            p.less.choose(t);
            p.more.choose(t);
        }
    }

    /// The central difference of something at fixed states.
    fn by(&self, k: usize, f: impl Fn(&Operator<'_>) -> DVector<f64>) -> DVector<f64> {
        let p = &self.pairs[k];
        (f(&p.more) - f(&p.less)) / (2.0 * p.h)
    }

    /// `Phi_p`.
    pub fn gaps_by(&self, k: usize, at: &Configuration) -> DVector<f64> {
        self.by(k, |op| gaps(op.set(), &self.positions, at))
    }

    /// `(G v - nu)_p`.
    fn rates_by(&self, k: usize, at: &Configuration) -> DVector<f64> {
        let v = stacked(&at.v);
        self.by(k, |op| rates(op, at, &v))
    }

    /// `(M a + h - f + G^T lambda)_p`.
    pub fn imbalance_by(&self, k: usize, at: &Configuration, a: &DVector<f64>, lambda: &DVector<f64>) -> DVector<f64> {
        self.by(k, |op| imbalance(op, at, a, lambda))
    }

    /// `(G a - gamma)_p`.
    pub fn bends_by(&self, k: usize, at: &Configuration, a: &DVector<f64>) -> DVector<f64> {
        self.by(k, |op| bends(op, at, a))
    }

    /// Jacobian of the rows of positions; those of velocities alone are zero.
    fn position_rows(&self, mut G: DMatrix<f64>) -> DMatrix<f64> {
        for (k, _) in self.positions.iter().enumerate().filter(|(_, p)| !**p) {
            G.row_mut(k).fill(0.0);
        }
        G
    }

    /// The tangent spaces of positions and of velocities.
    pub fn spaces(&self, at: &Configuration) -> [Space; 2] {
        let G = self.op.jacobian(at);
        let all = Space::new(self.op.model, &G);
        if self.positions.iter().all(|p| *p) {
            return [all.clone(), all];
        }
        [Space::new(self.op.model, &self.position_rows(G)), all]
    }

    /// `Phi_p`, and what of it no motion closes.
    pub fn open_by(&self, k: usize, at: &Configuration, space: &Space) -> [DVector<f64>; 2] {
        let by = self.gaps_by(k, at);
        let rest = &by - self.position_rows(self.op.jacobian(at)) * space.increment(&by);
        [by, rest]
    }

    /// A tangent with the smallest correction that keeps all joints closed and all velocities fitting.
    pub fn corrected(&self, k: usize, at: &Configuration, spaces: &[Space; 2], x: &Tangent, rates: &DMatrix<f64>) -> Tangent {
        let G = self.op.jacobian(at);
        let P = self.position_rows(G.clone());
        let q = &x.q - spaces[0].increment(&(P * &x.q + self.gaps_by(k, at)));
        let v = &x.v - spaces[1].increment(&(G * &x.v + rates * &q + self.rates_by(k, at)));
        Tangent { q, v }
    }
}

/// Mechanisms around one, without dry friction.
pub(super) fn pairs(parameters: &Parameters<'_>, model: &Model, which: &[usize]) -> Result<Vec<(f64, Model, Model)>, Error> {
    let own = |k: &usize| {
        let Pair { h, less, more } = parameters.pair(*k, model)?;
        Ok((h, without_dry_friction(&less).0, without_dry_friction(&more).0))
    };
    which.iter().map(own).collect()
}

/// Increments of poses and velocities between two states, per unit.
fn between(less: &Configuration, more: &Configuration, h: f64) -> Tangent {
    Tangent { q: Manifold::between(less, more) / (2.0 * h), v: (stacked(&more.v) - stacked(&less.v)) / (2.0 * h) }
}

/// How the assembled start follows parameters, in absolute increments. Free motions follow what assembly does with the mechanisms around;
/// the rest is solved for.
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
    alone::check(parameters, varied, state, &spaces[0], which)?;
    let size = 6 * varied.op.model.moving();
    let free = spaces.iter().any(|s| s.freedom() > 0);
    let mut list = Vec::new();
    for (i, &k) in which.iter().enumerate() {
        let guess = if free {
            // A larger change than that of rows: assembly ends at small gaps.
            let h = parameters.step(k, 1e-5);
            let [less, more] = [-h, h].map(|h| parameters.varied(k, h).and_then(|m| begin(&m)));
            between(&less?, &more?, h)
        } else {
            Tangent { q: DVector::zeros(size), v: DVector::zeros(size) }
        };
        list.push(varied.corrected(i, state, &spaces, &guess, &rates));
    }
    Ok(list)
}

/// A row of a result at a state, and its derivatives along tangents: by evaluations of the mechanisms around, at the states they are in.
pub(super) struct Row<'m> {
    pub model: &'m Model,
    pub pairs: &'m [(f64, Model, Model)],
    recorder: Recorder,
}

impl<'m> Row<'m> {
    pub fn new(model: &'m Model, pairs: &'m [(f64, Model, Model)]) -> Self {
        Self { model, pairs, recorder: Recorder::new(model, WantedColumns::ALL) }
    }

    pub fn columns(&self) -> Vec<Column> {
        columns(self.model)
    }

    /// The row itself.
    pub fn value(&mut self, at: &Configuration) -> Result<Vec<f64>, Error> {
        let now = Evaluation::new(self.model, at)?;
        let mut out = Vec::new();
        self.recorder.row(self.model, now.instant(), &mut out);
        Ok(out)
    }

    /// Its derivative by a parameter.
    pub fn slope(&self, k: usize, at: &Configuration, x: &Tangent) -> Result<Vec<f64>, Error> {
        let (h, less, more) = &self.pairs[k];
        let row = |model: &Model, h: f64| -> Result<Vec<f64>, Error> {
            let mut s = crate::manifold::stepped(at, &(&x.q * h));
            let dv = fourbar::evaluate::by_body(&(&x.v * h));
            s.v.iter_mut().zip(&dv).for_each(|(v, d)| *v = Twist { v: v.v + d.v, w: v.w + d.w });
            let now = Evaluation::new(model, &s)?;
            let mut out = Vec::new();
            // Signs of quaternions stay those of the row itself.
            self.recorder.clone().row(model, now.instant(), &mut out);
            Ok(out)
        };
        let (a, b) = (row(less, -h)?, row(more, *h)?);
        Ok(a.iter().zip(&b).map(|(a, b)| (b - a) / (2.0 * h)).collect())
    }
}

/// Derivatives of the assembled start.
pub fn of_start(parameters: &Parameters<'_>, which: &[usize]) -> Result<OfStart, Error> {
    let model = without_dry_friction(&parameters.model()?).0;
    crate::operator::fits(&model)?;
    let pairs = pairs(parameters, &model, which)?;
    let begin = |m: &Model| -> Result<Configuration, Error> { Ok(assemble(m)?.configuration) };
    let state = begin(&model)?;
    let mut varied = Varied::new(&model, &pairs, &state);
    let tangents = start_tangents(parameters, &mut varied, &state, which, &begin)?;
    let mut row = Row::new(&model, &pairs);
    let mut columns = Trajectory::new(row.columns());
    columns.push(&row.value(&state)?);
    let mut slopes = Vec::new();
    for (k, x) in tangents.iter().enumerate() {
        let mut s = Trajectory::new(row.columns());
        s.push(&row.slope(k, &state, x)?);
        slopes.push(s);
    }
    Ok(OfStart { state, tangents, columns, slopes })
}
