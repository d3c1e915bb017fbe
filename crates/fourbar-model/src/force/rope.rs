//! A rope, cable, belt or chain between two points: it pulls, and never pushes.

use super::element::*;
use super::eval::{Plain, States, pull, spring_state};
use crate::build::Resolve;
use crate::diagnostic::{Diagnostic, number};
use crate::expr::Dimension;
use crate::model::{Model, PointOn};
use crate::spec::Place;
use fourbar_math::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// A rope as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RopeSpec {
    /// The two points.
    pub between: [Place; 2],
    /// Length from which on it is taut, m.
    pub length: f64,
    /// Stiffness, N/m.
    pub stiffness: f64,
    /// Damping, N s/m.
    pub damping: f64,
}

/// A rope: `tension = stiffness (length - rest) + damping rate` where it is taut, but never negative; zero where it is slack.
#[derive(Clone, Debug)]
pub struct Rope {
    /// The points.
    pub between: [PointOn; 2],
    /// Length from which on it is taut, m.
    pub length: f64,
    /// Stiffness, N/m.
    pub stiffness: f64,
    /// Damping, N s/m.
    pub damping: f64,
}

impl Rope {
    /// Tension, and the part of it that is the gradient of the potential.
    fn tension<S: Scalar>(&self, length: S, rate: S) -> [S; 2] {
        let stretch = length - S::of(self.length);
        let elastic = stretch * S::of(self.stiffness);
        let whole = elastic + rate * S::of(self.damping);
        [stretch.select(whole.select(whole, S::zero()), S::zero()), stretch.select(elastic, S::zero())]
    }
}

impl Element for Rope {
    type Spec = RopeSpec;
    const WORDS: Words = Words {
        kind: "rope",
        title: "a rope",
        doc: "Pulls two points together where they are farther apart than its length: tension = stiffness*(length - rest) + damping*rate, never negative, and zero where it is slack.",
        keys: &[
            BETWEEN,
            need("length", Holds::Number(Some(Dimension::LENGTH)), "length from which on it is taut"),
            need("stiffness", Holds::Number(Some(Dimension::STIFFNESS)), "stiffness where it is taut"),
            may("damping", Holds::Number(Some(Dimension::DAMPING)), "damping where it is taut; left out: none"),
        ],
        own: &[],
    };

    fn read(x: &mut dyn Given) -> Option<RopeSpec> {
        Some(RopeSpec {
            between: x.places("between")?,
            length: x.number("length")?,
            stiffness: x.number("stiffness")?,
            damping: x.number("damping").unwrap_or(0.0),
        })
    }

    fn write(spec: &RopeSpec, out: &mut dyn Spelling) {
        out.places("between", &spec.between);
        out.number("length", spec.length);
        out.number("stiffness", spec.stiffness);
        out.unless_zero("damping", &[spec.damping]);
    }

    fn build(spec: &RopeSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let RopeSpec { length, stiffness, damping, .. } = *spec;
        let between = b.between(&spec.between);
        if !b.finite("", &[length, stiffness, damping]) {
            return None;
        }
        for (key, x) in [("length", length), ("stiffness", stiffness)] {
            if x <= 0.0 {
                let d = Diagnostic::new("M116", format!("a rope has a positive {key}, and this one has {}", number(x)));
                b.refuse(key, d.help("give the length from which on it is taut, in metres, and its stiffness in N/m"));
                return None;
            }
        }
        b.not_negative("damping", damping)?;
        Some(Self { between: between?, length, stiffness, damping })
    }

    fn touches(&self) -> Touches<'_> {
        Touches::between(&self.between)
    }

    fn wrench<S: Scalar>(&self, _model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        let (length, rate, e) = spring_state(&self.between, x);
        pull(&self.between, e, self.tension(length, rate)[0], x, add);
    }

    fn potential<S: Scalar>(&self, _model: &Model, x: &impl States<S>) -> S {
        let stretch = spring_state(&self.between, x).0 - S::of(self.length);
        stretch.select(stretch * stretch * S::of(0.5 * self.stiffness), S::zero())
    }

    fn power<S: Scalar>(&self, _model: &Model, x: &impl States<S>) -> S {
        let (length, rate, _) = spring_state(&self.between, x);
        let [tension, elastic] = self.tension(length, rate);
        (elastic - tension) * rate
    }

    fn act<S: Scalar>(&self, model: &Model, name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
        let length = length_of(model, "rope", name, &self.between, x)?;
        let rate = x.rate(length);
        let [tension, elastic] = self.tension(length, rate);
        // A force with a kink, not a potential with one: only the power of its elastic part is taken off again.
        x.works(rate, -tension);
        x.gives(elastic * rate);
        Ok(())
    }

    fn stiffness(&self) -> SmallVec<[(f64, f64); 3]> {
        smallvec![(self.stiffness, self.damping)]
    }

    fn quantities(&self, _model: &Model) -> Quantities {
        smallvec![("length", "m"), ("tension", "N"), ("rate", "m/s"), ("power", "W")]
    }

    fn values(&self, _model: &Model, x: &Plain<'_>) -> Values {
        let (length, rate, _) = spring_state(&self.between, x);
        let [tension, _] = self.tension(length, rate);
        smallvec![length, tension, rate, -tension * rate]
    }

    fn glyph(&self) -> Glyph {
        Glyph::Line { between: self.between, length: self.length }
    }
}
