//! Force or torque along a joint coordinate.

use super::StateLaw;
use super::element::*;
use super::eval::{Plain, States, acted_on, coordinate_of, joint_effort, law_value};
use crate::build::Resolve;
use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::spec::StateExpr;
use fourbar_math::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// An actuator as specified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActuatorSpec {
    /// The joint, by name.
    pub joint: String,
    /// Its effort.
    pub effort: StateExpr,
}

/// An actuator: on the moving body, reaction on the base.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// The joint.
    pub joint: usize,
    /// Effort on the moving body.
    pub effort: StateLaw,
}

impl Actuator {
    fn effort<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> S {
        law_value(model, &self.effort, x, (S::zero(), S::zero()))
    }
}

impl Element for Actuator {
    type Spec = ActuatorSpec;
    const WORDS: Words = Words {
        kind: "actuator",
        title: "an actuator",
        doc: "Force or torque along a joint's coordinate, on the moving body; the base takes the reaction.",
        keys: &[JOINT, need("effort", Holds::Expression(None), "force or torque")],
        own: &[],
    };

    fn read(x: &mut dyn Given) -> Option<ActuatorSpec> {
        Some(ActuatorSpec { joint: x.text("joint")?, effort: x.expression("effort")? })
    }

    fn write(spec: &ActuatorSpec, out: &mut dyn Spelling) {
        out.word("joint", &spec.joint);
        out.expression("effort", &spec.effort, "length");
    }

    fn build(spec: &ActuatorSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let help = "an actuator acts on an angle or a distance";
        let joint = b.joint(&spec.joint, "no coordinate to act on", help, |j| j.coordinates().next().is_some())?;
        Some(Self { joint, effort: b.law("effort", &spec.effort)? })
    }

    fn touches(&self) -> Touches<'_> {
        Touches { laws: smallvec![&self.effort], ..Touches::joint(self.joint) }
    }

    fn laws_mut(&mut self) -> SmallVec<[&mut StateLaw; 3]> {
        smallvec![&mut self.effort]
    }

    fn wrench<S: Scalar>(&self, model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        let e = self.effort(model, x);
        let j = &model.joints[self.joint];
        joint_effort(j, acted_on(j), e, x, add);
    }

    fn act<S: Scalar>(&self, model: &Model, _name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
        let e = self.effort(model, &*x);
        let rate = x.speed(self.joint, acted_on(&model.joints[self.joint]));
        x.works(rate, e);
        Ok(())
    }

    fn quantities(&self, model: &Model) -> Quantities {
        smallvec![("effort", effort_unit(model, self.joint)), ("power", "W")]
    }

    fn values(&self, model: &Model, x: &Plain<'_>) -> Values {
        let e = self.effort(model, x);
        let (_, rate) = coordinate_of(model, self.joint, Some(acted_on(&model.joints[self.joint])), x);
        smallvec![e, e * rate]
    }

    fn glyph(&self) -> Glyph {
        Glyph::Joint(self.joint)
    }
}
