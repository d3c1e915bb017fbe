//! The three systems of Kissel21 as written in the paper, dense and with all their unknowns, to repeat the measurements of the paper: rA
//! compared with rp and r-epsilon as forms of the equations. The engine's own charts share one set of equations instead.
//!
//! All three have the same structure, as in the two programs of the paper; each constraint and each reaction is differentiated with respect
//! to the coordinates of the formulation.

mod counted;
mod gcon;
mod lu;
mod rotation;
mod system;
#[cfg(test)]
mod tests;

use super::measure::{Cost, timed};
use counted::{Counted, counted};
use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar_math::Scalar;
use gcon::Gcon;
use nalgebra::{Matrix3, Vector3};
use rotation::{Angles, Matrices, Parameters, Rotation};
use system::System;
pub use system::{Mechanism, Newton, counts};

/// A formulation of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formulation {
    Ra,
    Rp,
    Re,
}

/// All formulations, in the order of the tables.
pub const ALL: [Formulation; 3] = [Formulation::Ra, Formulation::Rp, Formulation::Re];

/// A mechanism with the axes of its bodies for Euler angles.
pub struct Case {
    pub name: &'static str,
    plain: Mechanism,
    turned: Mechanism,
    /// Number of bodies with other axes for Euler angles.
    pub exchanged: usize,
}

/// Search for singularities of Euler angles: duration, s, number of samples, and a value of sin theta far from a singularity.
const SPAN: f64 = 5.0;
const SAMPLES: usize = 500;
const FAR_FROM_SINGULAR: f64 = 0.5;

/// Candidate axes of a body in its original ones: the original axes, two permutations, and z axes in all directions.
fn axes() -> Vec<Matrix3<f64>> {
    let mut list = vec![
        Matrix3::identity(),
        Matrix3::new(0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0),
        Matrix3::new(0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0),
    ];
    let around = 100;
    for k in 0..around {
        // Half a sphere is sufficient; successive directions differ by the golden angle.
        let (z, turn) = ((k as f64 + 0.5) / around as f64, 2.399963229728653 * k as f64);
        let across = (1.0 - z * z).sqrt();
        let z = Vector3::new(across * turn.cos(), across * turn.sin(), z);
        let x = z.cross(&if z.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() }).normalize();
        list.push(Matrix3::from_columns(&[x, z.cross(&x), z]));
    }
    list
}

/// Settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub h: f64,
    pub steps: usize,
    /// Bound of the corrections: of coordinates in kinematics, of accelerations and multipliers in dynamics.
    pub bound: f64,
    pub newton: Newton,
}

/// Calls a function that is generic in the rotation.
macro_rules! with_rotation {
    ($f:expr, $case:expr, $function:ident::<$scalar:ty>($($argument:expr),*)) => {
        match $f {
            Formulation::Ra => $function::<$scalar, Matrices, 3>(&$case.plain, $($argument),*),
            Formulation::Rp => $function::<$scalar, Parameters, 4>(&$case.plain, $($argument),*),
            Formulation::Re => $function::<$scalar, Angles, 3>(&$case.turned, $($argument),*),
        }
    };
}

impl Mechanism {
    /// A model in bare primitives.
    pub fn of(model: &Model) -> Result<Self, String> {
        if model.all_constraints().len() != model.bare.len() {
            return Err(format!("{} is not in bare primitives", model.title));
        }
        let start = assemble(model).map_err(|d| d.to_string())?.configuration;
        Ok(Self {
            bodies: model.bodies.iter().map(|b| (b.mass, b.J_bar)).collect(),
            gravity: model.gravity,
            gcons: Gcon::all(model)?,
            start: start.q.iter().zip(&start.v).map(|(q, v)| (q.r, q.A, v.v, v.w)).collect(),
        })
    }

    /// The same with other body-fixed axes, given by the columns of `R` in the original ones.
    fn turned(&self, R: &[Matrix3<f64>]) -> Self {
        let mut new = self.clone();
        for (b, R) in R.iter().enumerate() {
            new.bodies[b].1 = R.transpose() * new.bodies[b].1 * R;
            new.start[b].1 *= R;
            new.start[b].3 = R.transpose() * new.start[b].3;
        }
        for g in &mut new.gcons {
            let [i, j] = g.bodies;
            g.kinds.iter_mut().for_each(|k| k.0 = k.0.turned(&R[i], &R[j]));
        }
        new
    }
}

impl Case {
    /// A model in bare primitives. Euler angles are singular where the z axis of a body is vertical: bodies that come near it in the first
    /// `SPAN` seconds have other axes, for r-epsilon only.
    pub fn new(name: &'static str, model: &Model) -> Result<Self, String> {
        let plain = Mechanism::of(model)?;
        let n = plain.bodies.len();
        let choices = axes();
        // The smallest sine of theta of every body for each choice of axes.
        let mut least = vec![vec![1.0_f64; choices.len()]; n];
        let driven = plain.gcons.len() == 6 * (n - 1);
        let mut s = System::<f64, Matrices, 3>::new(&plain);
        if !driven {
            s.begin()?;
        }
        for k in 0..=SAMPLES {
            if k > 0 && driven {
                s.drive_to(SPAN / SAMPLES as f64 * k as f64, Newton::Full, 1e-9)?;
            } else if k > 0 {
                for _ in 0..5 {
                    s.step(0.2 * SPAN / SAMPLES as f64, 1e-3, Newton::Full)?;
                }
            }
            for (b, least) in least.iter_mut().enumerate().skip(1) {
                let A = s.matrix(b);
                for (l, R) in least.iter_mut().zip(&choices) {
                    let z = A * R.column(2);
                    *l = l.min(z.x.hypot(z.y));
                }
            }
        }
        // The original axes if suitable, then permuted axes, then the best of all.
        let choice = |l: &Vec<f64>| {
            let good = l[..3].iter().position(|x| *x > FAR_FROM_SINGULAR);
            good.unwrap_or_else(|| (0..l.len()).fold(0, |best, k| if l[k] > l[best] { k } else { best }))
        };
        let chosen: Vec<usize> = least.iter().enumerate().map(|(b, l)| if b == 0 { 0 } else { choice(l) }).collect();
        let R: Vec<Matrix3<f64>> = chosen.iter().map(|&k| choices[k]).collect();
        Ok(Self { name, turned: plain.turned(&R), plain, exchanged: chosen.iter().filter(|k| **k != 0).count() })
    }

    /// Numbers of constraints: CD, DP1, DP2, D.
    pub fn counts(&self) -> [usize; 4] {
        counts(&self.plain)
    }
}

/// Unknowns of kinematics and dynamics.
pub fn sizes(f: Formulation, case: &Case) -> [usize; 2] {
    fn of<S: Scalar, R: Rotation<X>, const X: usize>(m: &Mechanism) -> [usize; 2] {
        System::<S, R, X>::new(m).sizes()
    }
    with_rotation!(f, case, of::<f64>())
}

/// Kinematics of a driven mechanism.
pub fn kinematics(f: Formulation, case: &Case, run: &Run) -> Result<Cost, String> {
    with_rotation!(f, case, driven::<f64>(run))
}

/// Dynamics by backward Euler.
pub fn dynamics(f: Formulation, case: &Case, run: &Run) -> Result<Cost, String> {
    with_rotation!(f, case, moved::<f64>(run))
}

/// Arithmetic operations per step: of kinematics, or of dynamics.
pub fn operations(f: Formulation, case: &Case, run: &Run, dynamic: bool) -> Result<f64, String> {
    counted();
    if dynamic {
        with_rotation!(f, case, moved::<Counted>(run))?;
    } else {
        with_rotation!(f, case, driven::<Counted>(run))?;
    }
    Ok(counted() as f64 / run.steps as f64)
}

fn driven<S: Scalar, R: Rotation<X>, const X: usize>(m: &Mechanism, run: &Run) -> Result<Cost, String> {
    let mut s = System::<S, R, X>::new(m);
    // Initial velocities, which the guess of Eq. (11) needs, are in the model.
    let chunks = timed(run.steps, |k| s.drive_to(run.h * k as f64, run.newton, run.bound))?;
    Ok(Cost { chunks, steps: run.steps, iterations: s.iterations as f64 / run.steps as f64 })
}

fn moved<S: Scalar, R: Rotation<X>, const X: usize>(m: &Mechanism, run: &Run) -> Result<Cost, String> {
    let mut s = System::<S, R, X>::new(m);
    s.begin()?;
    let chunks = timed(run.steps, |_| s.step(run.h, run.bound, run.newton))?;
    Ok(Cost { chunks, steps: run.steps, iterations: s.iterations as f64 / run.steps as f64 })
}
