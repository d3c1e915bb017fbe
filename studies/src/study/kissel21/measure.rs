//! Runs of one formulation: cost, final state, and distribution of the time.

use crate::root;
use fourbar::absolute::chart::{Chart, Ra, Rate};
use fourbar::absolute::reps::Reps;
use fourbar::absolute::rp::Rp;
use fourbar::analysis::assembly::assemble;
use fourbar::integrator::Method;
use fourbar::integrator::index3::Stepper;
use fourbar::kinematics::Kinematics;
use fourbar::{Model, Twist};
use fourbar_bench::{cpu_clock, shortest};
use nalgebra::Vector3;
use std::hint::black_box;

/// One of the three formulations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chart3 {
    Ra,
    Rp,
    Reps,
}

impl Chart3 {
    /// Name in figures.
    pub fn name(self) -> &'static str {
        match self {
            Chart3::Ra => "rA",
            Chart3::Rp => "rp",
            Chart3::Reps => "reps",
        }
    }
}

/// Calls a function that is generic in the chart.
macro_rules! with_chart {
    ($chart:expr, $function:ident ( $($argument:expr),* )) => {
        match $chart {
            Chart3::Ra => $function::<Ra>($($argument),*),
            Chart3::Rp => $function::<Rp>($($argument),*),
            Chart3::Reps => $function::<Reps>($($argument),*),
        }
    };
}

/// Settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub h: f64,
    pub steps: usize,
    /// Newton's method ends when corrections are smaller than this, metres.
    pub correction: f64,
    /// Newton's method of kinematics without prediction and with a new matrix for every correction.
    pub plain: bool,
}

/// Number of steps timed together: enough for the resolution of the clock, few enough that other load seldom empties the caches.
const CHUNK: usize = 250;

/// Cost of a run.
#[derive(Clone, Debug)]
pub struct Cost {
    /// Processor seconds of every [`CHUNK`] of steps.
    pub chunks: Vec<f64>,
    pub steps: usize,
    /// Iterations per step.
    pub iterations: f64,
}

impl Cost {
    /// Keeps the shorter time of every chunk.
    pub fn shorten(&mut self, other: &Cost) {
        for (a, b) in self.chunks.iter_mut().zip(&other.chunks) {
            *a = a.min(*b);
        }
    }

    /// Microseconds per step.
    pub fn microseconds(&self) -> f64 {
        1e6 * self.chunks.iter().sum::<f64>() / self.steps as f64
    }
}

/// Times steps in chunks.
pub fn timed(steps: usize, mut step: impl FnMut(usize) -> Result<(), String>) -> Result<Vec<f64>, String> {
    let mut chunks = Vec::with_capacity(steps / CHUNK + 1);
    for first in (1..=steps).step_by(CHUNK) {
        let clock = cpu_clock();
        for k in first..(first + CHUNK).min(steps + 1) {
            step(k)?;
        }
        chunks.push(cpu_clock() - clock);
    }
    Ok(chunks)
}

/// Kinematics of a driven mechanism.
pub fn kinematics(chart: Chart3, model: &Model, run: &Run) -> Result<Cost, String> {
    with_chart!(chart, kinematics_in(model, run))
}

fn kinematics_in<C: Chart>(model: &Model, run: &Run) -> Result<Cost, String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let mut k = Kinematics::<C>::in_chart(model, &start).map_err(|d| d.to_string())?;
    (k.correction, k.plain) = (Some(run.correction), run.plain);
    let chunks = timed(run.steps, |i| k.step_to(run.h * i as f64).map_err(|d| d.to_string()))?;
    Ok(Cost { chunks, steps: run.steps, iterations: k.work.iterations as f64 / run.steps as f64 })
}

/// Performs steps; if Newton's method fails, the error states the time.
fn step<C: Chart>(s: &mut Stepper<'_, C>, h: f64, steps: usize) -> Result<(), String> {
    for _ in 0..steps {
        s.attempt(h).and_then(|()| s.accept(h)).map_err(|t| format!("{} at t = {}, h = {h}: {t:?}", C::NAME, s.memory.t))?;
    }
    Ok(())
}

/// Dynamics with a fixed step.
pub fn dynamics(chart: Chart3, model: &Model, method: Method, run: &Run) -> Result<Cost, String> {
    with_chart!(chart, dynamics_in(model, method, run))
}

fn dynamics_in<C: Chart>(model: &Model, method: Method, run: &Run) -> Result<Cost, String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let mut s = Stepper::<C>::in_chart(model, &start, method);
    s.correction = run.correction;
    s.start(run.h);
    let chunks = timed(run.steps, |_| step(&mut s, run.h, 1))?;
    Ok(Cost { chunks, steps: run.steps, iterations: s.work.iterations as f64 / run.steps as f64 })
}

/// Velocity and acceleration of a body after `t` seconds of backward Euler, as computed by the method.
pub fn end(chart: Chart3, model: &Model, h: f64, t: f64, body: usize, axis: usize) -> Result<(f64, f64), String> {
    with_chart!(chart, end_in(model, h, t, body, axis))
}

fn end_in<C: Chart>(model: &Model, h: f64, t: f64, body: usize, axis: usize) -> Result<(f64, f64), String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let mut s = Stepper::<C>::in_chart(model, &start, Method::BackwardEuler);
    s.correction = 1e-11;
    s.start(h);
    step(&mut s, h, (t / h).round() as usize)?;
    Ok((s.memory.velocities()[body].v[axis], s.memory.accelerations()[body].v[axis]))
}

/// The same by kinematics, as a reference.
pub fn truth(model: &Model, t: f64, body: usize, axis: usize) -> Result<(f64, f64), String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let mut k = Kinematics::new(model, &start).map_err(|d| d.to_string())?;
    for i in 1..=300 {
        k.step_to(t * i as f64 / 300.0).map_err(|d| d.to_string())?;
    }
    Ok((k.state.v[body].v[axis], k.a[body].v[axis]))
}

/// A column of a reference file over time.
pub fn reference(name: &str, column: &str) -> Result<Vec<(f64, f64)>, String> {
    let path = root().join("crates/fourbar/tests/data").join(format!("{name}.csv"));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut lines = text.lines().filter(|l| !l.starts_with('#'));
    let k = lines.next().and_then(|l| l.split(',').position(|c| c == column)).ok_or(format!("{name} has no column {column}"))?;
    let number = |l: &str, k: usize| l.split(',').nth(k).and_then(|x| x.parse::<f64>().ok()).ok_or(format!("{name}: not a number"));
    lines.map(|l| Ok((number(l, 0)?, number(l, k)?))).collect()
}

/// Errors of a coordinate of a body relative to a reference, at its times.
pub fn distance(
    chart: Chart3,
    model: &Model,
    h: f64,
    reference: &[(f64, f64)],
    body: usize,
    axis: usize,
) -> Result<Vec<(f64, f64)>, String> {
    with_chart!(chart, distance_in(model, h, reference, body, axis))
}

fn distance_in<C: Chart>(model: &Model, h: f64, reference: &[(f64, f64)], body: usize, axis: usize) -> Result<Vec<(f64, f64)>, String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let mut s = Stepper::<C>::in_chart(model, &start, Method::BackwardEuler);
    s.correction = 1e-11;
    s.start(h);
    let mut done = 0;
    reference
        .iter()
        .map(|&(t, z)| {
            let n = (t / h).round() as usize;
            step(&mut s, h, n - done)?;
            done = n;
            Ok((t, (s.memory.q[body].r[axis] - z).abs()))
        })
        .collect()
}

/// Microseconds of the parts of an iteration of dynamics, and of the part specific to each chart.
pub struct Phases {
    pub name: String,
    /// Rows, their Jacobian, and the equations of motion; once per iteration, the same in every chart.
    pub equations: f64,
    /// Forming and factoring the matrix; once per step, the same in every chart.
    pub factor: f64,
    /// A solve; once per iteration, the same in every chart.
    pub solve: f64,
    /// The operations of the chart in an iteration: increments, rotation, twist and its derivative for all bodies.
    pub maps: [f64; 3],
    /// A whole step in each chart.
    pub step: [f64; 3],
    /// Iterations per step in each chart.
    pub iterations: [f64; 3],
}

/// Distribution of the time of a step.
pub fn phases(name: &str, model: &Model) -> Result<Phases, String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let mut s = Stepper::new(model, &start, Method::BackwardEuler);
    s.start(1e-3);
    step(&mut s, 1e-3, 100)?;
    let m = s.memory.clone();
    let e = &mut s.equations;
    let mut per_call = |f: &mut dyn FnMut(&mut fourbar::absolute::equations::Equations<'_>)| per_call(&mut || f(e));
    let equations = per_call(&mut |e| {
        e.jacobian(black_box(&m.q));
        e.constraints(&m.q, &m.turns, m.t);
        e.motion(&m.q, &m.v, &m.v_dot, &m.lambda, &m.turns, m.t);
    });
    let factor = per_call(&mut |e| e.factor(black_box(1.0)));
    let solve = per_call(&mut |e| e.solve(black_box(1e-6), 1.0));
    let run = Run { h: 1e-3, steps: 2000, correction: 1e-9, plain: false };
    let (step, iterations) = super::best(|c| dynamics(c, model, Method::BackwardEuler, &run))?;
    let maps = [maps_in::<Ra>(model)?, maps_in::<Rp>(model)?, maps_in::<Reps>(model)?];
    Ok(Phases { name: name.to_string(), equations, factor, solve, maps, step, iterations })
}

/// Shortest time of a call, microseconds.
fn per_call(f: &mut dyn FnMut()) -> f64 {
    let repeats = 100;
    let t = shortest(2000, || {
        for _ in 0..repeats {
            f();
        }
    });
    1e6 * t / repeats as f64
}

fn maps_in<C: Chart>(model: &Model) -> Result<f64, String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let mut s = Stepper::<C>::in_chart(model, &start, Method::BackwardEuler);
    s.start(1e-3);
    step(&mut s, 1e-3, 100)?;
    let m = &s.memory;
    let (mut x, mut q, mut v) = (m.x.clone(), m.q.clone(), m.velocities().to_vec());
    let dq = Twist { v: Vector3::zeros(), w: Vector3::new(1e-9, 2e-9, -1e-9) };
    Ok(per_call(&mut || {
        for b in 1..x.len() {
            let psi = C::increment(&m.x[b], &m.psi[b], black_box(&dq)).plus(&m.psi[b]);
            q[b].A = C::place(&m.x[b], &m.q[b].A, &psi, &mut x[b]);
            C::own(&mut x[b]);
            if !C::DIRECT {
                v[b] = C::twist(&x[b], &m.v[b]).plus(&C::twist_dot(&x[b], &m.v[b], &m.v_dot[b]));
            }
        }
        black_box((&q, &v));
    }))
}
