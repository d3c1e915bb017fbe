//! Spring and damper on a joint's angle.

use super::element::*;
use super::eval::{Plain, States, coordinate_of, joint_effort};
use super::{Law, StateLaw};
use crate::build::Resolve;
use crate::diagnostic::Diagnostic;
use crate::expr::Dimension;
use crate::model::{JointCoordinate, Model};
use crate::spec::SpringLaw;
use fourbar_math::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// A torsion spring as specified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TorsionSpec {
    /// The joint, by name.
    pub joint: String,
    /// Torque law: resisting torque as a function of angle and rate.
    pub law: SpringLaw,
}

/// A torsion spring; positive torque resists.
#[derive(Clone, Debug, PartialEq)]
pub struct Torsion {
    /// The joint.
    pub joint: usize,
    /// Resisting torque.
    pub law: Law,
}

impl Torsion {
    fn state<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> (S, S) {
        coordinate_of(model, self.joint, Some(JointCoordinate::Angle), x)
    }
}

impl Element for Torsion {
    type Spec = TorsionSpec;
    const WORDS: Words = Words {
        kind: "torsion",
        title: "a torsion spring",
        doc: "Spring and damper on a joint's angle: resisting torque = stiffness*(angle - rest) + damping*rate, or an expression.",
        keys: &[
            JOINT,
            may("stiffness", Holds::Number(Some(Dimension::TORQUE)), "torque per radian"),
            may("angle", Holds::Number(Some(Dimension::NONE)), "angle without torque; default: 0, as drawn"),
            may("damping", Holds::Number(Some(Dimension::ROTARY_DAMPING)), "damping; default: none"),
            may("torque", Holds::Expression(Some(Dimension::TORQUE)), "instead: the resisting torque, of `angle`, `rate`, time and state"),
        ],
        own: &["angle", "rate"],
    };

    fn read(x: &mut dyn Given) -> Option<TorsionSpec> {
        Some(TorsionSpec { joint: x.text("joint")?, law: law_given(x, "torque", "angle", Some(0.0))? })
    }

    fn write(spec: &TorsionSpec, out: &mut dyn Spelling) {
        out.word("joint", &spec.joint);
        spell_law(out, &spec.law, "torque", "angle");
    }

    fn build(spec: &TorsionSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let help = "a torsion spring acts on the angle of a revolute, cylindrical, screw or planar joint";
        let joint = b.joint(&spec.joint, "no angle", help, |j| j.kind.has_angle())?;
        Some(Self { joint, law: b.spring_law(&spec.law)? })
    }

    fn touches(&self) -> Touches<'_> {
        Touches { angle: true, ..Touches::joint(self.joint) }.law(&self.law)
    }

    fn laws_mut(&mut self) -> SmallVec<[&mut StateLaw; 3]> {
        match &mut self.law {
            Law::Expression(law) => smallvec![law],
            Law::Linear { .. } => smallvec![],
        }
    }

    fn own_coordinate(&self, model: &Model, x: &Plain<'_>) -> (f64, f64) {
        self.state(model, x)
    }

    fn wrench<S: Scalar>(&self, model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        let torque = self.law.value(model, x, self.state(model, x));
        joint_effort(&model.joints[self.joint], JointCoordinate::Angle, -torque, x, add);
    }

    fn potential<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> S {
        let Law::Linear { stiffness, rest, .. } = self.law else { return S::zero() };
        S::of(0.5 * stiffness) * (self.state(model, x).0 - S::of(rest)).powi(2)
    }

    fn power<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> S {
        let Law::Linear { damping, .. } = self.law else { return power_of_wrench(self, model, x) };
        let (_, rate) = self.state(model, x);
        -(rate * rate * S::of(damping))
    }

    fn act<S: Scalar>(&self, model: &Model, _name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
        let (angle, _) = self.state(model, &*x);
        resists(model, &self.law, angle, x);
        Ok(())
    }

    fn quantities(&self, _model: &Model) -> Quantities {
        smallvec![("angle", "rad"), ("torque", "N*m"), ("rate", "rad/s"), ("power", "W")]
    }

    fn values(&self, model: &Model, x: &Plain<'_>) -> Values {
        let (angle, rate) = self.state(model, x);
        let torque = self.law.value(model, x, (angle, rate));
        smallvec![angle, torque, rate, -torque * rate]
    }

    fn glyph(&self) -> Glyph {
        Glyph::Joint(self.joint)
    }
}
