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

/// Default regularisation speed, rad/s or m/s.
const SPEED: f64 = 1e-3;

/// Friction as specified.
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
    /// Sliding speed below which Coulomb friction is smoothed.
    pub speed: f64,
    /// Whether the joint sticks while the force on it is small, instead of following a smoothed law.
    #[serde(default)]
    pub stick: bool,
    /// Static coefficient; omitted: the sliding one.
    #[serde(default)]
    pub static_coefficient: Option<f64>,
    /// Dry friction without any load, N or N m.
    #[serde(default)]
    pub preload: f64,
    /// Speed over which friction falls from the static to the sliding coefficient (Stribeck speed); omitted: it falls immediately.
    #[serde(default)]
    pub stribeck: Option<f64>,
}

impl Default for FrictionSpec {
    /// Zero friction on a joint without a name.
    fn default() -> Self {
        Self {
            joint: String::new(),
            coulomb: 0.0,
            viscous: 0.0,
            radius: 0.0,
            speed: SPEED,
            stick: false,
            static_coefficient: None,
            preload: 0.0,
            stribeck: None,
        }
    }
}

/// Friction in a joint.
#[derive(Clone, Debug, PartialEq)]
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
    /// Whether it sticks.
    pub stick: bool,
    /// Static coefficient.
    pub static_coefficient: f64,
    /// Dry friction without load, N or N m.
    pub preload: f64,
    /// Speed over which friction falls from the static coefficient (Stribeck speed); zero: immediately.
    pub stribeck: f64,
    /// Direction in which a joint with sticking friction slides; zero if the smooth law applies.
    pub slides: f64,
    /// Whether its dry part is handled by a time-stepping method.
    pub stepped: bool,
}

impl Friction {
    /// Effort on the moving body, and the rate that it resists.
    fn effort<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> (S, S) {
        let which = acted_on(&model.joints[self.joint]);
        let lever = if which == JointCoordinate::Angle { self.radius } else { 1.0 };
        let (_, rate) = coordinate_of(model, self.joint, Some(which), x);
        if self.stepped {
            return (-(rate * S::of(self.viscous)), rate);
        }
        let load = if self.coulomb > 0.0 { x.load(self.joint) } else { S::zero() };
        (-(self.sign(rate, lever) * self.dry(lever, load, rate)) - rate * S::of(self.viscous), rate)
    }

    /// Dry friction of a sliding joint, N or N m.
    fn dry<S: Scalar>(&self, lever: f64, load: S, rate: S) -> S {
        let mut dry = S::of(self.preload);
        if self.coulomb > 0.0 {
            let mut coefficient = S::of(self.coulomb * lever);
            if self.stribeck > 0.0 {
                let share = (-(rate * S::of(lever / self.stribeck)).powi(2)).exp();
                coefficient += share * S::of((self.static_coefficient - self.coulomb) * lever);
            }
            dry += coefficient * load;
        }
        dry
    }

    /// Direction of sliding, smoothed if sticking is off.
    fn sign<S: Scalar>(&self, rate: S, lever: f64) -> S {
        let lever = if lever > 0.0 { lever } else { 1.0 };
        if self.slides != 0.0 { S::of(self.slides) } else { (rate * S::of(lever / self.speed)).tanh() }
    }

    /// The joint coordinate on which it acts.
    pub fn coordinate(&self, model: &Model) -> JointCoordinate {
        acted_on(&model.joints[self.joint])
    }

    /// Lever of its load.
    fn lever(&self, model: &Model) -> f64 {
        if self.coordinate(model) == JointCoordinate::Angle { self.radius } else { 1.0 }
    }

    /// Largest effort at which it holds its joint under a load, N or N m.
    pub fn bound(&self, model: &Model, load: f64) -> f64 {
        self.preload + self.static_coefficient * self.lever(model) * load
    }

    /// The dry friction when the joint slides at a rate; viscous friction is not included.
    pub fn sliding_bound(&self, model: &Model, load: f64, rate: f64) -> f64 {
        self.dry(self.lever(model), load, rate)
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
            may("coulomb", Holds::Number(Some(Dimension::NONE)), "coefficient of dry friction; default: none"),
            may("viscous", Holds::Number(None), "effort per joint speed; default: none"),
            may("radius", Holds::Number(Some(Dimension::LENGTH)), "radius at which friction acts, for joints that turn; default: 0"),
            may(
                "speed",
                Holds::Number(None),
                "sliding speed (at the `radius`, if one is given, in m/s) below which dry friction is smoothed; default: 1e-3",
            ),
            may("stick", Holds::Flag, "whether the joint sticks while the effort on it is small; default: no, the law is smoothed"),
            may("static", Holds::Number(Some(Dimension::NONE)), "with `stick`: static coefficient; default: `coulomb`"),
            may("preload", Holds::Number(None), "dry friction that acts without load; default: none"),
            may(
                "stribeck",
                Holds::Number(None),
                "with `static`: sliding speed (at the `radius`, if one is given, in m/s) over which friction falls from the static coefficient; default: at once",
            ),
        ],
        own: &[],
    };

    fn read(x: &mut dyn Given) -> Option<FrictionSpec> {
        if !x.has("coulomb") && !x.has("viscous") && !x.has("preload") {
            x.needs("`coulomb`, `viscous` or `preload`", "give its strength");
            return None;
        }
        Some(FrictionSpec {
            joint: x.text("joint")?,
            coulomb: x.number("coulomb").unwrap_or(0.0),
            viscous: x.number("viscous").unwrap_or(0.0),
            radius: x.number("radius").unwrap_or(0.0),
            speed: x.number("speed").unwrap_or(SPEED),
            stick: x.flag("stick").unwrap_or(false),
            static_coefficient: x.number("static"),
            preload: x.number("preload").unwrap_or(0.0),
            stribeck: x.number("stribeck"),
        })
    }

    fn write(spec: &FrictionSpec, out: &mut dyn Spelling) {
        out.word("joint", &spec.joint);
        out.number("coulomb", spec.coulomb);
        out.unless_zero("viscous", &[spec.viscous]);
        out.unless_zero("radius", &[spec.radius]);
        out.number("speed", spec.speed);
        if spec.stick {
            out.word("stick", "true");
        }
        if let Some(x) = spec.static_coefficient {
            out.number("static", x);
        }
        out.unless_zero("preload", &[spec.preload]);
        if let Some(x) = spec.stribeck {
            out.number("stribeck", x);
        }
    }

    fn build(spec: &FrictionSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let FrictionSpec { coulomb, viscous, radius, speed, stick, preload, .. } = *spec;
        let static_coefficient = spec.static_coefficient.unwrap_or(coulomb);
        let stribeck = spec.stribeck.unwrap_or(0.0);
        let joint = b.known_joint(&spec.joint)?;
        if !b.finite("", &[coulomb, viscous, radius, speed, static_coefficient, preload, stribeck]) {
            return None;
        }
        let help = "friction acts on joints with an angle or a distance";
        let joint = b.fitting(joint, "no coordinate for friction", help, |j| j.coordinates().next().is_some())?;
        for (word, x, positive) in [
            ("coulomb", coulomb, false),
            ("viscous", viscous, false),
            ("radius", radius, false),
            ("speed", speed, true),
            ("preload", preload, false),
            ("stribeck", stribeck, false),
        ] {
            if x < 0.0 || (positive && x == 0.0) {
                let d = Diagnostic::new("M116", format!("{word} of a friction element is {}", number(x)));
                b.refuse(word, d.help("friction coefficients must not be negative, and the speed of regularisation must be positive"));
                return None;
            }
        }
        if static_coefficient < coulomb {
            let d = Diagnostic::new(
                "M131",
                format!("the static coefficient {} is less than the sliding coefficient {}", number(static_coefficient), number(coulomb)),
            );
            b.refuse("static", d.help("static friction is at least sliding friction: give a larger `static`, or omit it"));
            return None;
        }
        if !stick && (spec.static_coefficient.is_some() || spec.stribeck.is_some()) {
            let d = Diagnostic::new("M131", "`static` and `stribeck` have no effect on a smoothed law");
            b.refuse("static", d.help("add `stick: true`"));
            return None;
        }
        Some(Self { joint, coulomb, viscous, radius, speed, stick, static_coefficient, preload, stribeck, slides: 0.0, stepped: false })
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
        // Formulations based on energies have no loads: they reject dry friction, so only the viscous part remains.
        let which = acted_on(&model.joints[self.joint]);
        let rate = x.speed(self.joint, which);
        let mut effort = rate * S::of(-self.viscous);
        if self.preload > 0.0 {
            let lever = if which == JointCoordinate::Angle { self.radius } else { 1.0 };
            effort -= self.sign(rate, lever) * S::of(self.preload);
        }
        x.works(rate, effort);
        Ok(())
    }

    fn sticking_rate(&self, gravity: f64) -> f64 {
        if self.coulomb > 0.0 && !self.stick { self.coulomb * gravity / self.speed } else { 0.0 }
    }

    fn saturates(&self) -> bool {
        self.slides == 0.0 && (self.preload > 0.0 || self.coulomb > 0.0)
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
