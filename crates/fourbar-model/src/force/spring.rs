//! Spring and damper along the line of two points.

use super::element::*;
use super::eval::{Plain, States, pull, spring_state};
use super::{Law, StateLaw};
use crate::build::Resolve;
use crate::diagnostic::Diagnostic;
use crate::expr::Dimension;
use crate::model::{Model, PointOn};
use crate::spec::{Place, SpringLaw};
use fourbar_math::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// A spring as specified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpringSpec {
    /// The two points.
    pub between: [Place; 2],
    /// Tension law.
    pub law: SpringLaw,
    /// Its own mass, kg, spread evenly along its length; zero for most springs.
    pub mass: f64,
}

/// A spring; positive tension pulls its points together. Its mass is represented by bodies and joints: see [`crate::model::Coil`].
#[derive(Clone, Debug, PartialEq)]
pub struct Spring {
    /// The points.
    pub between: [PointOn; 2],
    /// Tension.
    pub law: Law,
}

impl Element for Spring {
    type Spec = SpringSpec;
    const WORDS: Words = Words {
        kind: "spring",
        title: "a spring",
        doc: "Spring and damper along the line of two points: tension = stiffness*(length - rest) + damping*rate, or an expression.",
        keys: &[
            BETWEEN,
            may("stiffness", Holds::Number(Some(Dimension::STIFFNESS)), "stiffness"),
            may("length", Holds::Number(Some(Dimension::LENGTH)), "free length; needed with `stiffness`"),
            may("damping", Holds::Number(Some(Dimension::DAMPING)), "damping; default: none"),
            may("mass", Holds::Number(Some(Dimension::MASS)), "its mass, distributed evenly along its length; default: none"),
            may("tension", Holds::Expression(Some(Dimension::FORCE)), "instead: the tension, of `length`, `rate`, time and state"),
        ],
        own: &["length", "rate"],
    };

    fn read(x: &mut dyn Given) -> Option<SpringSpec> {
        let between = x.places("between")?;
        Some(SpringSpec { between, law: law_given(x, "tension", "length", None)?, mass: x.number("mass").unwrap_or(0.0) })
    }

    fn write(spec: &SpringSpec, out: &mut dyn Spelling) {
        out.places("between", &spec.between);
        spell_law(out, &spec.law, "tension", "length");
        out.unless_zero("mass", &[spec.mass]);
    }

    fn build(spec: &SpringSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let between = b.between(&spec.between);
        let law = b.spring_law(&spec.law);
        Some(Self { between: between?, law: law? })
    }

    fn touches(&self) -> Touches<'_> {
        Touches::between(&self.between).law(&self.law)
    }

    fn laws_mut(&mut self) -> SmallVec<[&mut StateLaw; 3]> {
        match &mut self.law {
            Law::Expression(law) => smallvec![law],
            Law::Linear { .. } => smallvec![],
        }
    }

    fn own_coordinate(&self, _model: &Model, x: &Plain<'_>) -> (f64, f64) {
        let (length, rate, _) = spring_state(&self.between, x);
        (length, rate)
    }

    fn wrench<S: Scalar>(&self, model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        let (length, rate, e) = spring_state(&self.between, x);
        let tension = self.law.value(model, x, (length, rate));
        pull(&self.between, e, tension, x, add);
    }

    fn potential<S: Scalar>(&self, _model: &Model, x: &impl States<S>) -> S {
        let Law::Linear { stiffness, rest, .. } = self.law else { return S::zero() };
        let (length, ..) = spring_state(&self.between, x);
        S::of(0.5 * stiffness) * (length - S::of(rest)).powi(2)
    }

    fn power<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> S {
        let Law::Linear { damping, .. } = self.law else { return power_of_wrench(self, model, x) };
        let (_, rate, _) = spring_state(&self.between, x);
        -(rate * rate * S::of(damping))
    }

    fn act<S: Scalar>(&self, model: &Model, name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
        if let Law::Linear { stiffness, rest: 0.0, damping: 0.0 } = self.law {
            // Without a rest length it has a smooth potential even at zero length.
            let d = x.apart(&self.between);
            x.stores(d.dot(&d) * S::of(0.5 * stiffness));
            return Ok(());
        }
        let length = length_of(model, "spring", name, &self.between, x)?;
        resists(model, &self.law, length, x);
        Ok(())
    }

    fn stiffness(&self) -> SmallVec<[(f64, f64); 3]> {
        match self.law {
            Law::Linear { stiffness, damping, .. } => smallvec![(stiffness, damping)],
            Law::Expression(_) => smallvec![],
        }
    }

    fn quantities(&self, _model: &Model) -> Quantities {
        smallvec![("length", "m"), ("tension", "N"), ("rate", "m/s"), ("power", "W")]
    }

    fn values(&self, model: &Model, x: &Plain<'_>) -> Values {
        let (length, rate, _) = spring_state(&self.between, x);
        let tension = self.law.value(model, x, (length, rate));
        smallvec![length, tension, rate, -tension * rate]
    }

    fn glyph(&self) -> Glyph {
        Glyph::Coil(self.between)
    }
}
