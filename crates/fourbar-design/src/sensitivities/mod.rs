//! Sensitivities: derivatives of assembled positions, motions, equilibria, vibrations and measures with respect to the parameters of a
//! mechanism.
//!
//! A mechanism with parameters is a function that builds it ([`Parameters`]). Everything is differentiated at fixed states: the rows and
//! forces of mechanisms built for other values of a parameter are compared *at the same poses, velocities, accelerations and multipliers*,
//! which is smooth: six values give some thirteen digits (`around.rs`). The derivatives of poses and velocities are then solved for with
//! exact derivatives of rows and forces ([`crate::operator`]).
//! ```text
//! assembly     G q_p = -Phi_p                      velocities   G v_p = -d(G v)/dq q_p - (G v - nu)_p
//! motion       M a_p + G^T lambda_p = -K q_p - D v_p - (M a + h - f + G^T lambda)_p,   G a_p = ...
//! rest         N^T K q_p = -N^T (G^T lambda - f)_p
//! ```
//! `G q_p = -Phi_p` may have no solution: an overconstrained mechanism opens if one of its lengths changes alone. That is tested first and
//! reported with the parameters that may change together ([`alone`]).
//!
//! ```
//! use fourbar::mechanism::{Body, GROUND, Mechanism};
//! use fourbar::study::Study;
//! use fourbar_design::measure::Measure;
//! use fourbar_design::sensitivities::{Parameters, of_measure, of_run};
//!
//! // A pendulum that starts level: how long until it hangs straight down, and how does that depend on its length?
//! let pendulum = |p: &[f64]| {
//!     Mechanism::new()
//!         .gravity([0.0, 0.0, -9.81])
//!         .body("bob", Body::new().mass(1.0).inertia([1e-9; 3]).at([p[0], 0.0, 0.0]))
//!         .revolute("pin", GROUND, "bob").at([0.0; 3]).axis([0.0, 1.0, 0.0])
//!         .build()
//! };
//! let parameters = Parameters::new(vec!["length".into()], vec![1.0], &pendulum);
//! let study = Study { t_end: 0.8, output_step: 0.01, ..Study::of(&pendulum(&[1.0])?) };
//! let run = of_run(&parameters, &study, &[0])?;
//! let quarter = Measure::new("first(t, pin.angle > pi/2)", &run.run.columns)?;
//! let d = of_measure(&quarter, &run)?;
//! // The time grows with the root of the length.
//! assert!((d.slopes[0] - 0.5 * d.value).abs() < 1e-6);
//! # Ok::<(), fourbar::Error>(())
//! ```

mod adjoint;
pub mod alone;
mod around;
mod by_runs;
mod carried;
mod cells;
mod closed;
mod columns;
mod compare;
mod direct;
mod followed;
mod given;
mod groups;
mod lanes;
mod looks;
mod loops;
mod many;
mod measured;
mod own;
mod quick;
mod rest;
mod rows;
mod run;
mod state;
mod trees;
mod turned;

pub use by_runs::Beside;
pub use compare::{Against, compared, compared_at};
pub use many::{OfMany, are_many, of_many};
pub use measured::{of_measure, ties};
pub use own::Measures;
pub use rest::{OfModes, OfRest, of_modes, of_rest, rest_near};
pub use run::{Method, Needed, OfMeasures, OfRun, of_measures, of_rows, of_run};
pub use state::{OfStart, Tangent, of_start};

use fourbar::{Error, Model};
use serde::Serialize;

/// A mechanism as a function of its parameters.
pub struct Parameters<'a> {
    /// Names.
    pub names: Vec<String>,
    /// Values, SI units.
    pub values: Vec<f64>,
    /// Whether each is computed from others unless its value is changed.
    computed: Vec<bool>,
    build: &'a dyn Fn(&[f64]) -> Result<Model, Error>,
}

/// The derivatives of one number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Derivative {
    /// The differentiated quantity.
    pub of: String,
    /// Its value.
    pub value: f64,
    /// Its unit; empty if unknown.
    pub unit: String,
    /// Derivatives with respect to the selected parameters.
    pub slopes: Vec<f64>,
    /// Estimates of the errors of the derivatives.
    pub errors: Vec<f64>,
}

impl<'a> Parameters<'a> {
    /// A mechanism given by the function that builds it.
    pub fn new(names: Vec<String>, values: Vec<f64>, build: &'a dyn Fn(&[f64]) -> Result<Model, Error>) -> Self {
        Self { computed: vec![false; values.len()], names, values, build }
    }

    /// Marks parameters that the function computes from others unless their values are changed; they are never varied together with others.
    pub fn with_computed(mut self, names: &[String]) -> Self {
        self.computed = self.names.iter().map(|n| names.contains(n)).collect();
        self
    }

    /// Index of a parameter.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// The mechanism itself.
    pub fn model(&self) -> Result<Model, Error> {
        (self.build)(&self.values)
    }

    /// The mechanism with one parameter changed.
    pub fn varied(&self, k: usize, change: f64) -> Result<Model, Error> {
        let mut values = self.values.clone();
        values[k] += change;
        (self.build)(&values)
    }

    /// The same mechanism with one parameter changed, as a mechanism with parameters.
    pub fn beside(&self, k: usize, change: f64) -> Self {
        let mut values = self.values.clone();
        values[k] += change;
        Self { names: self.names.clone(), values, computed: self.computed.clone(), build: self.build }
    }

    /// A small change of a parameter: `share` of its value, or of one if it is zero.
    pub fn step(&self, k: usize, share: f64) -> f64 {
        let size = self.values[k].abs();
        share * if size > 0.0 { size } else { 1.0 }
    }
}
