//! Inputs and states.

use super::{Mechanism, State, Written};
use crate::spec::{InputSpec, StateExpr, StateSpec};

impl State {
    /// Whether a name is that of an input or state defined earlier.
    pub(super) fn carries(&self, name: &str) -> bool {
        self.spec.inputs.iter().any(|i| i.0 == name) || self.spec.states.iter().any(|s| s.0 == name)
    }
}

impl<L> Mechanism<L> {
    /// A number that is set externally between steps; later expressions read it by its name.
    ///
    /// ```
    /// use fourbar_model::mechanism::{Body, GROUND, Mechanism};
    /// use fourbar_model::spec::InputSpec;
    ///
    /// let model = Mechanism::new()
    ///     .body("arm", Body::new().mass(1.0).inertia([0.1, 0.1, 0.1]).at([0.5, 0.0, 0.0]))
    ///     .revolute("O", GROUND, "arm").at([0.0, 0.0, 0.0]).axis([0.0, 0.0, 1.0])
    ///     .input("torque", InputSpec { unit: "N*m".into(), range: [-2.0, 2.0], ..InputSpec::default() })
    ///     .actuator("motor", "O", "torque - 0.1*O.speed")
    ///     .build()?;
    /// assert_eq!(model.inputs[0].name, "torque");
    /// # Ok::<(), fourbar_model::Error>(())
    /// ```
    pub fn input(self, name: impl Into<String>, input: InputSpec) -> Mechanism {
        self.stated(|s| s.inputs.push((name.into(), input)))
    }

    /// A user-defined state that is integrated with the motion: its SI unit, its rate per second as an expression of time and state, and
    /// its initial value.
    pub fn own_state(mut self, name: impl Into<String>, unit: impl Into<String>, rate: impl Into<Written>, start: f64) -> Mechanism {
        let name = name.into();
        self.state.begin("states", &name, "a state", &[]);
        // Its rate may read the state itself.
        let known = StateSpec { unit: unit.into(), rate: StateExpr::constant(0.0), start };
        self.state.spec.states.push((name, known));
        let rate = self.state.law("rate", rate.into(), &[]);
        if let Some((_, state)) = self.state.spec.states.last_mut() {
            state.rate = rate;
        }
        self.next()
    }
}
