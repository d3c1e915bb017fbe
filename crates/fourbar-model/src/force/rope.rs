//! A rope, cable or chain between two points, straight or over pulleys: it pulls, and never pushes.

use super::element::*;
use super::eval::{Plain, States, pull, spring_state};
use crate::build::Resolve;
use crate::coordinate::Follows;
use crate::diagnostic::{Diagnostic, number};
use crate::expr::Dimension;
use crate::model::{Model, PointOn};
use crate::spec::Place;
use fourbar_math::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// A rope as specified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RopeSpec {
    /// The two points.
    pub between: [Place; 2],
    /// Small pulleys or eyes that it runs over without friction, in order.
    pub via: Vec<Place>,
    /// Length beyond which it is taut, m.
    pub length: f64,
    /// Stiffness, N/m.
    pub stiffness: f64,
    /// Damping, N s/m.
    pub damping: f64,
}

/// A rope: `tension = stiffness (length - rest) + damping rate` where it is taut, but never negative; zero if it is slack.
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// All points that it runs over, the ends first and last.
    pub path: Vec<PointOn>,
    /// Length beyond which it is taut, m.
    pub length: f64,
    /// Stiffness, N/m.
    pub stiffness: f64,
    /// Damping, N s/m.
    pub damping: f64,
    /// Its state between two events; `None`: determined by its length.
    pub(crate) doing: Option<i64>,
}

impl Rope {
    /// The straight parts of it.
    fn parts(&self) -> impl Iterator<Item = [PointOn; 2]> {
        self.path.windows(2).map(|w| [w[0], w[1]])
    }

    /// Its length and the rate of it.
    fn state<S: Scalar>(&self, x: &impl States<S>) -> (S, S) {
        self.parts().map(|p| spring_state(&p, x)).fold((S::zero(), S::zero()), |sum, (length, rate, _)| (sum.0 + length, sum.1 + rate))
    }

    /// Tension, and its conservative part.
    fn tension<S: Scalar>(&self, length: S, rate: S) -> [S; 2] {
        let stretch = length - S::of(self.length);
        let elastic = stretch * S::of(self.stiffness);
        let whole = elastic + rate * S::of(self.damping);
        match self.doing {
            Some(doing::APART) => [S::zero(); 2],
            Some(doing::ACTS) => [whole, elastic],
            Some(_) => [S::zero(), elastic],
            None => [stretch.select(whole.select(whole, S::zero()), S::zero()), stretch.select(elastic, S::zero())],
        }
    }
}

impl Element for Rope {
    type Spec = RopeSpec;
    const WORDS: Words = Words {
        kind: "rope",
        title: "a rope",
        doc: "Pulls two points together if they are farther apart than its length: tension = stiffness*(length - rest) + damping*rate, never negative, zero where it is slack.",
        keys: &[
            BETWEEN,
            may("via", Holds::Path, "small pulleys or eyes over which it runs, in order; default: straight"),
            need("length", Holds::Number(Some(Dimension::LENGTH)), "length above which it is taut"),
            need("stiffness", Holds::Number(Some(Dimension::STIFFNESS)), "stiffness where it is taut"),
            may("damping", Holds::Number(Some(Dimension::DAMPING)), "damping where it is taut; default: none"),
        ],
        own: &[],
    };

    fn read(x: &mut dyn Given) -> Option<RopeSpec> {
        Some(RopeSpec {
            between: x.places("between")?,
            via: if x.has("via") { x.path("via")? } else { Vec::new() },
            length: x.number("length")?,
            stiffness: x.number("stiffness")?,
            damping: x.number("damping").unwrap_or(0.0),
        })
    }

    fn write(spec: &RopeSpec, out: &mut dyn Spelling) {
        out.places("between", &spec.between);
        out.path("via", &spec.via);
        out.number("length", spec.length);
        out.number("stiffness", spec.stiffness);
        out.unless_zero("damping", &[spec.damping]);
    }

    fn build(spec: &RopeSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let RopeSpec { length, stiffness, damping, .. } = *spec;
        let between = b.between(&spec.between);
        let via: Vec<_> = spec.via.iter().enumerate().map(|(k, p)| b.place(&format!("via[{k}]"), p)).collect();
        if !b.finite("", &[length, stiffness, damping]) {
            return None;
        }
        for (key, x) in [("length", length), ("stiffness", stiffness)] {
            if x <= 0.0 {
                let d = Diagnostic::new("M116", format!("the {key} of a rope must be positive; it is {}", number(x)));
                b.refuse(key, d.help("give the length above which it is taut, in metres, and its stiffness in N/m"));
                return None;
            }
        }
        b.not_negative("damping", damping)?;
        let [first, last] = between?;
        let path: Option<Vec<PointOn>> = std::iter::once(Some(first)).chain(via).chain([Some(last)]).collect();
        Some(Self { path: path?, length, stiffness, damping, doing: None })
    }

    fn touches(&self) -> Touches<'_> {
        Touches { places: self.path.iter().copied().collect(), ..Touches::default() }
    }

    fn sides(&self) -> usize {
        1
    }

    fn side(&self, _model: &Model, x: &Plain<'_>, _k: usize) -> Option<Side> {
        let (length, rate) = self.state(x);
        let (elastic, damped) = (self.stiffness * (length - self.length), self.damping * rate);
        let push = (elastic + damped) / (elastic.abs() + damped.abs() + f64::MIN_POSITIVE);
        Some(Side { gap: self.length - length, rate: -rate, push, follows: Follows::Surface, through: f64::INFINITY })
    }

    fn set_doing(&mut self, _side: usize, doing: i64) {
        self.doing = Some(doing);
    }

    fn wrench<S: Scalar>(&self, _model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        let (length, rate) = self.state(x);
        let tension = self.tension(length, rate)[0];
        for part in self.parts() {
            pull(&part, spring_state(&part, x).2, tension, x, add);
        }
    }

    fn potential<S: Scalar>(&self, _model: &Model, x: &impl States<S>) -> S {
        let stretch = self.state(x).0 - S::of(self.length);
        let stored = stretch * stretch * S::of(0.5 * self.stiffness);
        match self.doing {
            Some(doing::APART) => S::zero(),
            Some(_) => stored,
            None => stretch.select(stored, S::zero()),
        }
    }

    fn power<S: Scalar>(&self, _model: &Model, x: &impl States<S>) -> S {
        let (length, rate) = self.state(x);
        let [tension, elastic] = self.tension(length, rate);
        (elastic - tension) * rate
    }

    fn act<S: Scalar>(&self, model: &Model, name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
        let mut length = S::zero();
        for part in self.parts() {
            length += length_of(model, "rope", name, &part, x)?;
        }
        let rate = x.rate(length);
        let [tension, elastic] = self.tension(length, rate);
        // Treated as a force with a kink, not as a potential with one: only the power of its elastic part is subtracted again.
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
        let (length, rate) = self.state(x);
        let [tension, _] = self.tension(length, rate);
        smallvec![length, tension, rate, -tension * rate]
    }

    fn glyph(&self) -> Glyph {
        Glyph::Line { path: self.path.clone(), length: self.length }
    }
}
