//! Reactions that are ill-defined because of rounding of the state, and the warning about them.

use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::state::Twist;
use serde_json::{Value, json};

/// Relative error of poses and velocities after projection.
pub const DATA: f64 = 1e-14;
/// Reactions are reported if rounding of the state may change them by more than this fraction of the largest.
const POORLY_KNOWN: f64 = 1e-6;

/// The largest force on a body: reactions are differences of such forces, and a vanishing one has the same accuracy.
pub fn largest_force(model: &Model, a: &[Twist]) -> f64 {
    let g = model.gravity.norm();
    model.bodies.iter().zip(a).skip(1).fold(0.0, |m, (b, a)| f64::max(m, b.mass * a.v.norm().max(g)))
}

/// The largest error of reactions in a run.
#[derive(Clone, Debug, Default)]
pub struct Poorly(Option<Worst>);

#[derive(Clone, Debug)]
struct Worst {
    /// Relative to the largest reaction.
    error: f64,
    /// When.
    t: f64,
    /// Joints and drives loaded by the weakest mode of the constraints.
    names: Vec<String>,
}

impl Poorly {
    /// Records an output: the estimated error of its reactions, relative to the largest, and the affected elements.
    pub fn note(&mut self, error: f64, t: f64, names: impl FnOnce() -> Vec<String>) {
        if error > POORLY_KNOWN && self.0.as_ref().is_none_or(|w| error > w.error) {
            self.0 = Some(Worst { error, t, names: names() });
        }
    }

    /// The warning, if there is one.
    pub fn warning(&self) -> Option<Diagnostic> {
        let Worst { error, t, names: all } = self.0.as_ref()?;
        let mut names = all.iter().take(8).map(|j| format!("`{j}`")).collect::<Vec<_>>().join(", ");
        if all.len() > 8 {
            names.push_str(&format!(" and {} more", all.len() - 8));
        }
        let size = if *error < 1.0 { format!("to {error:.0e} of the largest only") } else { "not at all".into() };
        Some(
            Diagnostic::new("W281", format!("at t = {t:.5} s the reactions of {names} are known {size}: their constraints are nearly dependent there"))
                .names(all.clone())
                .time(*t)
                .help("rounding of the state is divided by the distance from dependence; the motion itself is not affected. Free one of the nearly dependent directions, for example by a spherical instead of a revolute joint"),
        )
    }

    /// Numbers and names, to continue a run.
    pub fn save(&self) -> Value {
        self.0.as_ref().map_or(Value::Null, |w| json!({"error": w.error, "t": w.t, "names": w.names}))
    }

    /// Restores the result of [`Poorly::save`].
    pub fn restore(&mut self, saved: &Value) {
        if let (Some(error), Some(t)) = (saved["error"].as_f64(), saved["t"].as_f64()) {
            let names = saved["names"].as_array().into_iter().flatten().filter_map(|n| n.as_str().map(String::from)).collect();
            self.0 = Some(Worst { error, t, names });
        }
    }
}
