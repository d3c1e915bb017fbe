//! Equilibria of a mechanism with constraints, redundant or not, and any forces.
//!
//! An equilibrium has `f(q, 0, t) = G^T lambda` with all joints closed and all drives at their values at time `t`; the rates of
//! user-defined states are zero. Dry friction is omitted: it would hold a set of positions, not one.
//!
//! ```
//! use fourbar_design::equilibrium::{Options, settle};
//! // A suspension, drawn where its spring and the road do not balance.
//! let model = fourbar_io::load("double_wishbone")?;
//! let found = settle(&model, &Options::default())?;
//! assert_eq!(found.stability().word(), "stable");
//! assert!(found.residual < 1e-12);
//! # Ok::<(), fourbar::Error>(())
//! ```

pub mod large;
pub mod limits;
mod refusals;
mod search;
mod solve;
pub mod verdict;

pub use limits::{Leaning, leaning, leans_at};
pub use search::{Found, search};
pub use verdict::{Stability, Verdict};

use crate::manifold::Manifold;
use crate::operator::{Operator, Space, fits, plain, without_dry_friction};
use fourbar::analysis::assembly::{self, assemble_from};
use fourbar::analysis::contacts::refuse_rigid;
use fourbar::evaluate::{Evaluation, by_body};
use fourbar::force::eval;
use fourbar::state::{Configuration, Twist};
use fourbar::{Diagnostic, Model};
use large::Large;
use nalgebra::{DMatrix, DVector};
use refusals::Ended;
use solve::Ending;
use std::borrow::Cow;
use std::cell::Cell;

/// The kind of equilibrium to search for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// One in which the mechanism comes to rest by itself.
    #[default]
    Stable,
    /// The nearest one, stable or not.
    Any,
}

/// Options of the search for an equilibrium.
#[derive(Clone, Debug)]
pub struct Options {
    /// Kind of equilibrium.
    pub kind: Kind,
    /// Time at which drives and forces are evaluated, s.
    pub t: f64,
    /// Values of inputs by name; omitted inputs have their defaults.
    pub inputs: Vec<(String, f64)>,
    /// Random starts of a search for all equilibria.
    pub starts: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { kind: Kind::Stable, t: 0.0, inputs: Vec::new(), starts: 48 }
    }
}

/// An equilibrium.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// Poses; velocities are zero, or the smallest that satisfy the drives.
    pub state: Configuration,
    /// Stability and small motions.
    pub verdict: Verdict,
    /// Potential energy of gravity, linear springs and bushings, J.
    pub energy: f64,
    /// Residual force along the free motions, as a share of the largest load.
    pub residual: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Method by which it was found.
    pub method: &'static str,
    /// Degrees of freedom of velocities.
    pub freedom: usize,
    /// Independent rows of all constraints.
    pub rank: usize,
    /// Rows that depend on others.
    pub redundant: usize,
    /// Active rigid limits.
    pub leans: Vec<Leaning>,
    /// Whether other positions along its softest motion are in neutral equilibrium as well; tested only in a search for all equilibria.
    pub everywhere: bool,
    /// Number of equivalent equilibria that a search found at other positions.
    pub alike: usize,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

impl Equilibrium {
    /// Stable, unstable or neutral.
    pub fn stability(&self) -> Stability {
        self.verdict.stability
    }

    /// The mechanism at rest, with its active limits closed.
    pub fn acting<'m>(&self, model: &'m Model) -> Cow<'m, Model> {
        leaning(model, &self.leans)
    }

    /// Reactions, efforts and all other quantities by name, at rest, for the mechanism with active limits closed ([`Equilibrium::acting`]).
    pub fn evaluate<'m>(&self, model: &'m Model) -> Result<Evaluation<'m>, fourbar::Error> {
        let mut still = self.state.clone();
        still.v.fill(Twist::zero());
        Evaluation::new(model, &still)
    }
}

/// A closed position with the forces there.
#[derive(Clone, Debug)]
pub struct Rest {
    /// The position; velocities are zero.
    pub state: Configuration,
    /// Free motions of the position constraints.
    pub space: Space,
    /// Free motions of all constraints, if bodies roll.
    pub rolling: Option<Space>,
    /// Multipliers of all rows.
    pub lambda: DVector<f64>,
    /// Applied forces less the constraint forces.
    pub tangential: DVector<f64>,
    /// `-N^T f`.
    pub g: DVector<f64>,
    /// Rates of states.
    pub rates: DVector<f64>,
    /// Largest load, N.
    pub load: f64,
}

impl Rest {
    /// The motions along which forces must vanish.
    pub fn test(&self) -> &DMatrix<f64> {
        &self.rolling.as_ref().unwrap_or(&self.space).N
    }

    /// Forces along the motions, then the rates of states.
    fn residual(&self) -> DVector<f64> {
        DVector::from_iterator(self.g.len() + self.rates.len(), self.g.iter().map(|x| -x).chain(self.rates.iter().copied()))
    }
}

/// A mechanism whose equilibrium is sought.
pub struct Problem<'m> {
    /// The mechanism, without dry friction.
    pub model: &'m Model,
    /// Its derivatives.
    pub op: Operator<'m>,
    /// Its positions.
    pub manifold: Manifold<'m>,
    /// Which rows constrain positions.
    positions: Vec<bool>,
    /// Largest load so far: where springs are slack at equilibrium, the loads on the way set the scale of rounding errors.
    largest: Cell<f64>,
    /// Positions at which descent stops.
    fence: Option<Fence<'m>>,
    /// Whether the last descent stopped at the fence.
    fenced: bool,
}

/// Returns whether a position lies beyond the fence.
pub type Fence<'m> = Box<dyn Fn(&Configuration) -> bool + 'm>;

impl<'m> Problem<'m> {
    /// Starts at a closed position.
    pub fn new(model: &'m Model, at: &Configuration) -> Self {
        let mut op = Operator::new(model, at);
        op.choose(at.t);
        Self {
            model,
            positions: op.positions(),
            op,
            manifold: Manifold::new(model, at),
            largest: Cell::new(0.0),
            fence: None,
            fenced: false,
        }
    }

    /// The same problem with a fence, before which descent stops.
    pub fn within(mut self, fence: Fence<'m>) -> Self {
        self.fence = Some(fence);
        self
    }

    /// The forces at a closed position.
    pub fn rest(&self, at: &Configuration) -> Rest {
        let mut state = at.clone();
        state.v.fill(Twist::zero());
        let G = self.op.jacobian(&state);
        let rolls = self.positions.contains(&false);
        let space = Space::new(self.model, &if rolls { Operator::only(&G, &self.positions) } else { G.clone() });
        let rolling = rolls.then(|| Space::new(self.model, &G));
        let f = self.op.applied(&state);
        let all = rolling.as_ref().unwrap_or(&space);
        let lambda = all.multipliers(&f);
        let tangential = &f - G.tr_mul(&lambda);
        let g = -all.N.tr_mul(&f);
        let mut rates = vec![0.0; self.model.auxiliaries()];
        self.model.auxiliary_rates(&plain(&state), &mut rates);
        let rates = DVector::from_column_slice(&rates[self.model.first_state()..]);
        let load = self.op.load(&state).max(self.largest.get());
        self.largest.set(load);
        Rest { state, lambda, tangential, g, rates, load, space, rolling }
    }

    /// Stiffness of all coordinates with the multipliers of a position.
    pub fn stiffness(&mut self, rest: &Rest) -> DMatrix<f64> {
        self.op.stiffness(&rest.state, &rest.lambda).0
    }

    /// Searches for an equilibrium from a position, trying one method after another.
    pub fn solve(&mut self, start: &Configuration, kind: Kind) -> (Ending, &'static str) {
        // With controllers or rolling bodies, descent is not applicable.
        let plain = self.model.states.is_empty() && !self.positions.contains(&false);
        if kind == Kind::Any || !plain {
            let newton = self.newton(start);
            if !matches!(newton, Ending::Lost(_)) || !plain {
                return (newton, "Newton's method on the residual");
            }
        }
        let down = self.descend(start);
        if self.fenced {
            return (down, "downhill");
        }
        let Ending::Lost(reached) = &down else { return (down, "downhill") };
        let relaxed = self.relax(&reached.state);
        if matches!(relaxed, Ending::Rest(..)) {
            return (relaxed, "motion under strong damping");
        }
        let newton = self.newton(&reached.state);
        if matches!(newton, Ending::Rest(..)) { (newton, "Newton's method on the residual") } else { (down, "downhill") }
    }

    /// Describes where a search ended without an equilibrium.
    fn ended<'a>(&'a self, rest: &'a Rest) -> Ended<'a> {
        let left = rest.g.norm();
        let share = if rest.load > 0.0 { left / rest.load } else { left };
        Ended { model: self.model, state: &rest.state, motion: -(rest.test() * &rest.g), share }
    }

    /// Evaluates an equilibrium: stability, energy, residual and warnings.
    pub fn judged(&mut self, rest: &Rest, iterations: usize, method: &'static str) -> Equilibrium {
        let K = self.stiffness(rest);
        let mut verdict = verdict::verdict(&self.op, rest, &K);
        if verdict.circulatory || !self.model.states.is_empty() || rest.rolling.is_some() {
            verdict::by_roots(self.model, &rest.state, &mut verdict);
        }
        let energy = eval::potential(self.model, &plain(&rest.state));
        let all = rest.rolling.as_ref().unwrap_or(&rest.space);
        // Where all springs are slack, the load of a displacement by a thousandth of the size of the mechanism is the scale.
        let stiff = rest.space.reduced(&K).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let load = rest.load.max(1e-3 * stiff * self.model.length);
        let left = rest.g.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let residual = if load > 0.0 { left / load } else { left };
        let mut found = Equilibrium {
            state: rest.state.clone(),
            verdict,
            energy,
            residual,
            iterations,
            method,
            freedom: all.freedom(),
            rank: all.rank,
            redundant: all.redundant(),
            leans: Vec::new(),
            everywhere: false,
            alike: 0,
            warnings: Vec::new(),
        };
        self.driven(&mut found.state);
        found.warnings = refusals::warnings(self, rest, &found);
        found
    }

    /// Sets the smallest velocities that satisfy the drives.
    fn driven(&self, state: &mut Configuration) {
        let mut nu = DVector::zeros(self.op.set().rows());
        self.op.set().nu(state.t, nu.as_mut_slice());
        if nu.amax() > 0.0 {
            let v = Space::new(self.model, &self.op.jacobian(state)).increment(&nu);
            state.v = by_body(&v);
        }
    }
}

/// The position from which a search starts: assembled at the requested time and inputs.
pub fn start(model: &Model, options: &Options) -> Result<Configuration, Diagnostic> {
    let mut at = Configuration::start(model);
    for (name, value) in &options.inputs {
        let Some(k) = model.inputs.iter().position(|i| i.name == *name) else {
            let d = Diagnostic::new("U322", format!("there is no input `{name}`")).name(name);
            return Err(d.help("inputs are declared under `inputs:`"));
        };
        at.z[k] = *value;
    }
    let mut at = assemble_from(model, &at, assembly::Options::default())?.configuration;
    if options.t != 0.0 {
        // Drives move from their start to the requested time; conditions on the start do not apply there.
        let mut free = model.clone();
        free.hold.clear();
        free.start.clear();
        at.t = options.t;
        at = assemble_from(&free, &at, assembly::Options::default())?.configuration;
    }
    at.v.fill(Twist::zero());
    Ok(at)
}

/// Whether a closed position is an equilibrium, stable or not.
pub fn rests(model: &Model, at: &Configuration) -> bool {
    let (own, _) = without_dry_friction(&leaning(model, &leans_at(model, at)));
    if large::applies(&own) {
        return Large::new(&own, at).rests(at);
    }
    let mut problem = Problem::new(&own, at);
    let rest = problem.rest(at);
    let still = rest.rates.iter().all(|x| x.abs() <= solve::ROUNDING);
    still && (rest.g.norm() <= solve::ROUNDING * rest.load || problem.way(&rest).is_some_and(|y| y <= solve::ROUNDING * own.length))
}

/// A search for an equilibrium, with matrices that suit the size of the mechanism.
enum Search<'m> {
    Dense(Box<Problem<'m>>),
    Large(Box<Large<'m>>),
}

impl<'m> Search<'m> {
    /// Starts at a closed position of a mechanism without dry friction; rejects mechanisms too large for the matrices required.
    fn new(model: &'m Model, at: &Configuration, matrices: Matrices) -> Result<Self, Diagnostic> {
        let large = match matrices {
            Matrices::Fitting => large::applies(model),
            Matrices::Large => large::can(model),
            Matrices::Dense => false,
        };
        if large {
            refuse_rigid(model)?;
            return Ok(Self::Large(Box::new(Large::new(model, at))));
        }
        fits(model)?;
        Ok(Self::Dense(Box::new(Problem::new(model, at))))
    }

    /// Searches for an equilibrium from a position; `None` if the one found is already known.
    fn settle(
        &mut self,
        from: &Configuration,
        kind: Kind,
        known: impl Fn(&Configuration) -> bool,
    ) -> Result<Option<Equilibrium>, Diagnostic> {
        match self {
            Self::Dense(p) => {
                let (ending, method) = p.solve(from, kind);
                match ending {
                    Ending::Rest(rest, _) if known(&rest.state) => Ok(None),
                    Ending::Rest(rest, count) => Ok(Some(p.judged(&rest, count, method))),
                    Ending::Away(rest) => Err(p.ended(&rest).away()),
                    Ending::Blocked(rest) => Err(p.ended(&rest).blocked()),
                    Ending::Lost(rest) => Err(p.ended(&rest).lost()),
                }
            }
            Self::Large(p) => {
                let (ending, method) = p.solve(from, kind);
                match ending {
                    Ending::Rest(rest, _) if known(&rest.state) => Ok(None),
                    Ending::Rest(rest, count) => p.judged(&rest, count, method).map(Some),
                    Ending::Away(rest) => Err(p.ended(&rest).away()),
                    Ending::Blocked(rest) => Err(p.ended(&rest).blocked()),
                    Ending::Lost(rest) => Err(p.ended(&rest).lost()),
                }
            }
        }
    }
}

/// The matrices that an analysis uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matrices {
    /// Those that suit the size of the mechanism.
    #[default]
    Fitting,
    /// Dense ones.
    Dense,
    /// Blocks, as for large mechanisms, where possible.
    Large,
}

/// Finds an equilibrium from the drawn position.
pub fn settle(model: &Model, options: &Options) -> Result<Equilibrium, Diagnostic> {
    settle_from(model, &start(model, options)?, options.kind)
}

/// Finds an equilibrium from a closed position.
pub fn settle_from(model: &Model, from: &Configuration, kind: Kind) -> Result<Equilibrium, Diagnostic> {
    settle_by(model, from, kind, Matrices::Fitting)
}

/// Finds an equilibrium with the given matrices; allows comparison where both kinds are possible.
pub fn settle_by(model: &Model, from: &Configuration, kind: Kind, matrices: Matrices) -> Result<Equilibrium, Diagnostic> {
    let (free, rubbing) = without_dry_friction(model);
    let leant = if model.limits.is_empty() {
        limits::Leant { model: free, from: from.clone(), closed: Vec::new() }
    } else {
        limits::lean(&free, from, kind)?
    };
    let (own, from) = (&leant.model, &leant.from);
    let Some(mut found) = Search::new(own, from, matrices)?.settle(from, kind, |_| false)? else {
        return Err(Diagnostic::new("S403", "no equilibrium was found"));
    };
    found.leans = leant.closed;
    found.warnings.extend(crate::refusals::in_time(own, &found.state));
    found.warnings.extend(crate::refusals::friction(&rubbing));
    if kind == Kind::Stable && found.stability() == Stability::Unstable {
        found.warnings.push(refusals::unstable(&found));
    }
    Ok(found)
}

/// The same mechanism drawn at a state: its poses and velocities as the start, without conditions on the start.
pub fn settled(model: &Model, state: &Configuration) -> Model {
    let mut own = model.clone();
    for (b, (q, v)) in own.bodies.iter_mut().zip(state.q.iter().zip(&state.v)).skip(1) {
        (b.r, b.A, b.v, b.omega) = (q.r, q.A, v.v, q.A * v.w);
    }
    for (s, z) in own.states.iter_mut().zip(&state.z[model.first_state()..]) {
        s.start = *z;
    }
    own.hold.clear();
    own.start.clear();
    own
}

/// A mechanism whose file says `start: {from: equilibrium}`, redrawn at its equilibrium, and the latter; others are returned unchanged.
pub fn start_settled(model: Model) -> Result<(Model, Option<Equilibrium>), Diagnostic> {
    if !model.settle {
        return Ok((model, None));
    }
    let found = settle(&model, &Options::default())?;
    let mut own = settled(&model, &found.state);
    own.settle = false;
    Ok((own, Some(found)))
}
