//! Lagrangian and Hamiltonian equations from energies, by reverse differentiation on the tape.
//!
//! Lagrangian form [Pryce20, Eqs. (1)-(2)]: d/dt dL/dq' - dL/dq + sum lambda_i dC_i/dq + dD/dq' = Q, C_i = 0.
//! Momentum form: p = dL/dq' becomes a variable, so that its derivative is of first order. Hamiltonian form:
//! q' = dH/dp, p' = -dH/dq - sum lambda_i dC_i/dq + Q. All three describe the same motion.

use crate::Error;
use crate::problem::{Direction, Equations, Problem};
use crate::record::{Node, Tape, gradient, leaves, variables};
use fourbar_math::Scalar;
use num_traits::Zero;

/// Collects energies, constraints and forces. Generic in the scalar, like [`Equations`](crate::Equations).
#[derive(Debug, Clone)]
pub struct Mechanics<S> {
    energy: Option<S>,
    constraints: Vec<(String, S)>,
    generalized: Vec<(usize, S)>,
    loads: Vec<(S, S)>,
    dissipation: Vec<S>,
    rates: Vec<(usize, S)>,
    outputs: Vec<(String, S)>,
    events: Vec<(String, S, Direction, bool)>,
}

impl<S: Scalar> Default for Mechanics<S> {
    fn default() -> Self {
        Self {
            energy: None,
            constraints: Vec::new(),
            generalized: Vec::new(),
            loads: Vec::new(),
            dissipation: Vec::new(),
            rates: Vec::new(),
            outputs: Vec::new(),
            events: Vec::new(),
        }
    }
}

impl<S: Scalar> Mechanics<S> {
    /// An empty collection. Needed only to evaluate an energy function outside [`Problem::lagrangian`].
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds to the Lagrangian.
    pub fn lagrangian(&mut self, l: S) {
        self.energy = Some(self.energy.map_or(l, |e| e + l));
    }
    /// Adds to the Hamiltonian.
    pub fn hamiltonian(&mut self, h: S) {
        self.lagrangian(h);
    }
    /// Adds the constraint `c = 0`; its multiplier is called `lambda(name)`.
    pub fn constraint(&mut self, name: impl Into<String>, c: S) {
        self.constraints.push((name.into(), c));
    }
    /// Adds a generalised force on coordinate `j`.
    pub fn force(&mut self, j: usize, force: S) {
        self.generalized.push((j, force));
    }
    /// Adds a force by its virtual power: `force` acts along `velocity`, an expression in coordinates and velocities. In the Hamiltonian
    /// form there are no velocities; use [`force`](Self::force) there.
    pub fn load(&mut self, velocity: S, force: S) {
        self.loads.push((velocity, force));
    }
    /// Adds to Rayleigh's dissipation function.
    pub fn dissipation(&mut self, d: S) {
        self.dissipation.push(d);
    }
    /// Sets the rate of integral `k` (see [`Problem::lagrangian_with`]).
    pub fn rate_of(&mut self, k: usize, rate: S) {
        self.rates.push((k, rate));
    }
    /// Adds an expression to be evaluated along the solution.
    pub fn output(&mut self, name: impl Into<String>, expression: S) {
        self.outputs.push((name.into(), expression));
    }
    /// Adds an event.
    pub fn event(&mut self, name: impl Into<String>, expression: S, direction: Direction) {
        self.events.push((name.into(), expression, direction, false));
    }
    /// Adds an event at which integration stops.
    pub fn terminal(&mut self, name: impl Into<String>, expression: S, direction: Direction) {
        self.events.push((name.into(), expression, direction, true));
    }
    /// Value of the Lagrangian or Hamiltonian, if one was given.
    pub fn energy(&self) -> Option<S> {
        self.energy
    }
}

/// The form of the equations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Lagrangian,
    Momentum,
    Hamiltonian,
}

impl Problem {
    /// Equations of motion of the Lagrangian given by `f(t, q, q', mechanics)`. Variables are the coordinates `names`
    /// and one multiplier `lambda(name)` per constraint.
    ///
    /// ```
    /// use fourbar_dae::{Integrator, Mechanics, Options, Problem, Scalar};
    /// use std::sync::Arc;
    /// fn pendulum<S: Scalar>(_t: S, q: &[S], v: &[S], m: &mut Mechanics<S>) {
    ///     m.lagrangian((v[0].sqr() + v[1].sqr()) * 0.5 + q[1] * 9.81);
    ///     m.constraint("length", q[0].sqr() + q[1].sqr() - 100.0);
    /// }
    /// let problem = Arc::new(Problem::lagrangian(&["u", "v"], pendulum)?);
    /// let start = problem.start(0.0).hold("u", 0, 6.0).guess("v", 0, 7.0).solve()?;
    /// let mut run = Integrator::new(&problem, &start, Options::new(1e-12))?;
    /// run.run_to(1.0)?;
    /// assert!(run.value("lambda(length)", 0)?.is_finite());
    /// # Ok::<(), fourbar_dae::Error>(())
    /// ```
    pub fn lagrangian<N: AsRef<str>>(names: &[N], f: impl FnOnce(Node, &[Node], &[Node], &mut Mechanics<Node>)) -> Result<Self, Error> {
        Self::mechanical(names, Form::Lagrangian, f)
    }

    /// Equations of motion with additional integrals: variables `integrals` whose rates `f(t, q, q', integrals, mechanics)` sets with
    /// [`Mechanics::rate_of`], one for each. Constraints and forces may depend on them, and their rates on all variables; no constraint
    /// force acts on them. A drive with prescribed speed is an example.
    pub fn lagrangian_with<N: AsRef<str>>(
        names: &[N],
        integrals: &[N],
        f: impl FnOnce(Node, &[Node], &[Node], &[Node], &mut Mechanics<Node>),
    ) -> Result<Self, Error> {
        Self::mechanical_with(names, integrals, Form::Lagrangian, f)
    }

    /// The same in first-order form: the momenta `p(name)` are variables too. The mass matrix is never differentiated.
    pub fn momentum<N: AsRef<str>>(names: &[N], f: impl FnOnce(Node, &[Node], &[Node], &mut Mechanics<Node>)) -> Result<Self, Error> {
        Self::mechanical(names, Form::Momentum, f)
    }

    /// Hamilton's equations of the Hamiltonian given by `f(t, q, p, mechanics)`. Variables are the coordinates, the
    /// momenta `p(name)` and one multiplier per constraint.
    pub fn hamiltonian<N: AsRef<str>>(names: &[N], f: impl FnOnce(Node, &[Node], &[Node], &mut Mechanics<Node>)) -> Result<Self, Error> {
        Self::mechanical(names, Form::Hamiltonian, f)
    }

    fn mechanical<N: AsRef<str>>(
        names: &[N],
        form: Form,
        f: impl FnOnce(Node, &[Node], &[Node], &mut Mechanics<Node>),
    ) -> Result<Self, Error> {
        Self::mechanical_with(names, &[], form, |t, q, v, _, m| f(t, q, v, m))
    }

    fn mechanical_with<N: AsRef<str>>(
        names: &[N],
        integrals: &[N],
        form: Form,
        f: impl FnOnce(Node, &[Node], &[Node], &[Node], &mut Mechanics<Node>),
    ) -> Result<Self, Error> {
        let nq = names.len();
        let (tape, built) = Tape::record(|| {
            let own = if form == Form::Lagrangian { nq } else { 2 * nq };
            let (time, x) = leaves(own + integrals.len());
            let q = &x[..nq];
            let rates: Vec<Node> = match form {
                Form::Hamiltonian => x[nq..own].to_vec(),
                _ => q.iter().map(|q| q.diff(1)).collect(),
            };
            let mut m = Mechanics::default();
            f(time, q, &rates, &x[own..], &mut m);
            build(names, integrals, form, m, &x, &rates)
        });
        let (variables, equations) = built?;
        Self::finish(tape, variables, equations)
    }
}

/// The equations from the collected terms, with the names of all variables. `x` are the variables without the multipliers, `v` the
/// velocities or momenta.
fn build<N: AsRef<str>>(
    names: &[N],
    integrals: &[N],
    form: Form,
    m: Mechanics<Node>,
    x: &[Node],
    v: &[Node],
) -> Result<(Vec<String>, Equations<Node>), Error> {
    let nq = names.len();
    let name = |j: usize| names[j].as_ref();
    let first_integral = if form == Form::Lagrangian { nq } else { 2 * nq };
    let q = &x[..nq];
    let both: Vec<Node> = q.iter().chain(v).copied().collect();
    let one = Node::of(1.0);
    let gradient =
        |seeds: &[(Node, Node)], place: &str| gradient(seeds, &both).ok_or_else(|| Error::DiffInEnergy { place: place.to_string() });
    let energy = gradient(&[(m.energy.unwrap_or(Node::zero()), one)], "the energy function")?;
    // Constraint forces: one sweep over sum lambda_i C_i.
    let multipliers = variables(x.len()..x.len() + m.constraints.len());
    let seeds: Vec<(Node, Node)> = m.constraints.iter().map(|c| c.1).zip(multipliers).collect();
    let reaction = gradient(&seeds, "a constraint")?;
    let moving = |gradient: &[Node]| gradient[nq..].iter().any(|g| !g.is_zero());
    if moving(&reaction) {
        let mut name = "a constraint";
        for (c, &seed) in m.constraints.iter().zip(&seeds) {
            let own = gradient(&[seed], "a constraint")?;
            if moving(&own) {
                name = &c.0;
                break;
            }
        }
        return Err(Error::DiffInEnergy { place: format!("constraint `{name}` (velocities or momenta in it)") });
    }
    let seeds: Vec<(Node, Node)> = m.dissipation.iter().map(|&d| (d, one)).collect();
    let damping = gradient(&seeds, "the dissipation function")?;
    let load = gradient(&m.loads, "a load's velocity")?;
    // Right-hand side of the equation of motion: Q - damping - reaction.
    let mut right: Vec<Node> = (0..nq).map(|j| load[nq + j] - damping[nq + j] - reaction[j]).collect();
    for &(j, f) in &m.generalized {
        if j >= nq {
            return Err(Error::UnknownName(format!("coordinate number {j}")));
        }
        right[j] += f;
    }
    let mut equations = Equations::new();
    let mut variables: Vec<String> = (0..nq).map(|j| name(j).to_string()).collect();
    if form != Form::Lagrangian {
        variables.extend((0..nq).map(|j| format!("p({})", name(j))));
    }
    variables.extend(integrals.iter().map(|x| x.as_ref().to_string()));
    variables.extend(m.constraints.iter().map(|c| format!("lambda({})", c.0)));
    if form != Form::Lagrangian {
        // Definition of the momenta, or the equation of the velocities.
        for j in 0..nq {
            let left = if form == Form::Hamiltonian { q[j].diff(1) } else { x[nq + j] };
            equations.equation(format!("velocity({})", name(j)), left - energy[nq + j]);
        }
    }
    for j in 0..nq {
        let momentum = if form == Form::Lagrangian { energy[nq + j] } else { x[nq + j] };
        let rate = momentum.diff(1);
        // The Hamiltonian enters with the opposite sign.
        let inertial = if form == Form::Hamiltonian { rate + energy[j] } else { rate - energy[j] };
        equations.equation(format!("motion({})", name(j)), inertial - right[j]);
    }
    for &(k, rate) in &m.rates {
        let Some(name) = integrals.get(k) else { return Err(Error::UnknownName(format!("integral number {k}"))) };
        equations.equation(format!("rate({})", name.as_ref()), x[first_integral + k].diff(1) - rate);
    }
    equations.equations.extend(m.constraints);
    equations.outputs = m.outputs;
    equations.events = m.events;
    Ok((variables, equations))
}
