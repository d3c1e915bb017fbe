//! Friction in a joint: dry, in proportion to the force across its axis, and viscous.

use super::element::*;
use super::eval::{Plain, States, acted_on, coordinate_of, joint_effort};
use crate::build::Resolve;
use crate::diagnostic::{Diagnostic, number};
use crate::expr::Dimension;
use crate::model::{JointCoordinate, Model};
use fourbar_math::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

/// Speed of regularisation where a file gives none, rad/s or m/s.
const SPEED: f64 = 1e-3;

/// Friction as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrictionSpec {
    /// The joint, by name.
    pub joint: String,
    /// Coulomb coefficient.
    pub coulomb: f64,
    /// Viscous coefficient on the joint speed.
    pub viscous: f64,
    /// Radius at which the normal force acts, for joints that turn.
    pub radius: f64,
    /// Speed below which Coulomb friction is smoothed.
    pub speed: f64,
}

/// Friction in a joint.
#[derive(Clone, Debug)]
pub struct Friction {
    /// The joint.
    pub joint: usize,
    /// Coulomb coefficient.
    pub coulomb: f64,
    /// Viscous coefficient.
    pub viscous: f64,
    /// Radius at which the normal force acts.
    pub radius: f64,
    /// Speed of regularisation.
    pub speed: f64,
}

impl Friction {
    /// Effort on the moving body, and the rate that it resists.
    fn effort<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> (S, S) {
        let which = acted_on(&model.joints[self.joint]);
        let lever = if which == JointCoordinate::Angle { self.radius } else { 1.0 };
        let (_, rate) = coordinate_of(model, self.joint, Some(which), x);
        let smooth = (rate * S::of(lever / self.speed)).tanh();
        (-(smooth * x.load(self.joint) * S::of(self.coulomb * lever)) - rate * S::of(self.viscous), rate)
    }
}

impl Element for Friction {
    type Spec = FrictionSpec;
    const WORDS: Words = Words {
        kind: "friction",
        title: "a friction",
        doc: "Friction in a joint.",
        keys: &[
            JOINT,
            may("coulomb", Holds::Number(Some(Dimension::NONE)), "coefficient of dry friction; left out: none"),
            may("viscous", Holds::Number(None), "effort per joint speed; left out: none"),
            may("radius", Holds::Number(Some(Dimension::LENGTH)), "where the normal force rubs, for joints that turn; left out: 0"),
            may("speed", Holds::Number(None), "joint speed below which dry friction is smoothed; left out: 1e-3"),
        ],
        own: &[],
    };

    fn read(x: &mut dyn Given) -> Option<FrictionSpec> {
        if !x.has("coulomb") && !x.has("viscous") {
            x.needs("`coulomb` or `viscous`", "say how strong it is");
            return None;
        }
        Some(FrictionSpec {
            joint: x.text("joint")?,
            coulomb: x.number("coulomb").unwrap_or(0.0),
            viscous: x.number("viscous").unwrap_or(0.0),
            radius: x.number("radius").unwrap_or(0.0),
            speed: x.number("speed").unwrap_or(SPEED),
        })
    }

    fn write(spec: &FrictionSpec, out: &mut dyn Spelling) {
        out.word("joint", &spec.joint);
        out.number("coulomb", spec.coulomb);
        out.unless_zero("viscous", &[spec.viscous]);
        out.unless_zero("radius", &[spec.radius]);
        out.number("speed", spec.speed);
    }

    fn build(spec: &FrictionSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let FrictionSpec { coulomb, viscous, radius, speed, .. } = *spec;
        let joint = b.known_joint(&spec.joint)?;
        if !b.finite("", &[coulomb, viscous, radius, speed]) {
            return None;
        }
        let help = "friction acts on joints with an angle or a distance";
        let joint = b.fitting(joint, "no coordinate for friction", help, |j| j.coordinates().next().is_some())?;
        for (word, x, positive) in
            [("coulomb", coulomb, false), ("viscous", viscous, false), ("radius", radius, false), ("speed", speed, true)]
        {
            if x < 0.0 || (positive && x == 0.0) {
                let d = Diagnostic::new("M116", format!("{word} of a friction element is {}", number(x)));
                b.refuse(word, d.help("friction coefficients are not negative, and the speed of regularisation is positive"));
                return None;
            }
        }
        Some(Self { joint, coulomb, viscous, radius, speed })
    }

    fn touches(&self) -> Touches<'_> {
        Touches { load: self.coulomb > 0.0, ..Touches::joint(self.joint) }
    }

    fn wrench<S: Scalar>(&self, model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        let (e, _) = self.effort(model, x);
        let j = &model.joints[self.joint];
        joint_effort(j, acted_on(j), e, x, add);
    }

    fn act<S: Scalar>(&self, model: &Model, _name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
        // Formulations that act by energies have no loads: dry friction is refused there, the viscous part is left.
        let rate = x.speed(self.joint, acted_on(&model.joints[self.joint]));
        x.works(rate, rate * S::of(-self.viscous));
        Ok(())
    }

    fn sticking_rate(&self, gravity: f64) -> f64 {
        if self.coulomb > 0.0 { self.coulomb * gravity / self.speed } else { 0.0 }
    }

    fn quantities(&self, model: &Model) -> Quantities {
        smallvec![("effort", effort_unit(model, self.joint)), ("power", "W")]
    }

    fn values(&self, model: &Model, x: &Plain<'_>) -> Values {
        let (e, rate) = self.effort(model, x);
        smallvec![e, e * rate]
    }

    fn glyph(&self) -> Glyph {
        Glyph::Joint(self.joint)
    }
}
