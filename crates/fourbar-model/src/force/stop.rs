//! A springy stop: acts on a joint coordinate only beyond a bound.

use super::element::*;
use super::eval::{Plain, States, coordinate_of, joint_effort};
use crate::build::Resolve;
use crate::coordinate::Follows;
use crate::diagnostic::Diagnostic;
use crate::model::{JointCoordinate, Model};
use fourbar_math::Scalar;
use fourbar_math::elementary;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

/// A springy stop as specified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopSpec {
    /// The joint, by name.
    pub joint: String,
    /// Least value of its coordinate, m or rad.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Effort per depth to the power of the exponent.
    pub stiffness: f64,
    /// Effort per depth to the power of the exponent and per speed.
    pub damping: f64,
    /// Exponent of the depth, at least 1.
    pub exponent: f64,
}

/// A springy stop: `(stiffness + damping depth') depth^exponent`, never pulling.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// The joint.
    pub joint: usize,
    /// Its coordinate.
    pub coordinate: JointCoordinate,
    /// Smallest and largest value; infinite if not given.
    pub bounds: [f64; 2],
    /// Effort per depth^exponent.
    pub stiffness: f64,
    /// Effort per depth^exponent and speed.
    pub damping: f64,
    /// Exponent of the depth.
    pub exponent: f64,
    /// Its state at its bounds between two events; `None`: determined by its coordinate.
    pub doing: [Option<i64>; 2],
}

impl Stop {
    /// `c` of `damping = stiffness c / speed` that gives an impact at that speed the restitution `e`: `ln(1 + c) - ln(1 - c e) = c (1 + e)`
    /// with `0 < c < 1/e`.
    pub fn hysteresis(e: f64) -> f64 {
        if e >= 1.0 {
            return 0.0;
        }
        // Lower bound of the restitution: at zero the damping would be infinite.
        let e = e.max(0.01);
        let f = |c: f64| elementary::ln(1.0 + c) - elementary::ln(1.0 - c * e) - c * (1.0 + e);
        // Negative before the root, positive up to the pole.
        let (mut low, mut high) = (1e-9, (1.0 - 1e-15) / e);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if f(middle) < 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// Effort on the moving body, and the rate of the coordinate.
    fn effort<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> (S, S) {
        let (y, rate) = coordinate_of(model, self.joint, Some(self.coordinate), x);
        (self.effort_at(y, rate), rate)
    }

    /// The values of `of` at the existing bounds, from their number and depth.
    fn at_bounds<S: Scalar>(&self, y: S, of: impl Fn(usize, S) -> S) -> [S; 2] {
        std::array::from_fn(|k| {
            let bound = self.bounds[k];
            if !bound.is_finite() {
                return S::zero();
            }
            of(k, if k == 0 { S::of(bound) - y } else { y - S::of(bound) })
        })
    }

    /// Effort on the moving body.
    fn effort_at<S: Scalar>(&self, y: S, rate: S) -> S {
        let [low, high] = self.at_bounds(y, |k, depth| {
            let ddepth = if k == 0 { -rate } else { rate };
            let factor = S::of(self.stiffness) + ddepth * S::of(self.damping);
            let acts = match self.doing[k] {
                Some(d) => d == doing::ACTS,
                None => depth.value() > 0.0 && factor.value() > 0.0,
            };
            if acts { factor * self.power(depth, self.exponent) } else { S::zero() }
        });
        low - high
    }

    /// The conservative part of the effort, whether or not the damping cancels it.
    fn elastic_at<S: Scalar>(&self, y: S) -> S {
        let [low, high] = self.at_bounds(y, |k, depth| {
            if self.holds_energy(k, depth) { S::of(self.stiffness) * self.power(depth, self.exponent) } else { S::zero() }
        });
        low - high
    }

    /// Whether energy is stored at a bound, that is, whether it touches. A bound that no longer pushes may already be separated.
    fn holds_energy<S: Scalar>(&self, k: usize, depth: S) -> bool {
        match self.doing[k] {
            Some(doing::APART) => false,
            Some(doing::ACTS) => true,
            _ => depth.value() > 0.0,
        }
    }

    /// A power of the depth; integer powers continue below zero, others are zero there.
    fn power<S: Scalar>(&self, depth: S, n: f64) -> S {
        if n.fract() == 0.0 {
            depth.powi(n as i32)
        } else if depth.value() > 0.0 {
            depth.powf(n)
        } else {
            S::zero()
        }
    }

    /// Energy stored in it, J.
    fn stored<S: Scalar>(&self, y: S) -> S {
        let n = self.exponent + 1.0;
        let energy = |k: usize, depth: S| {
            if self.holds_energy(k, depth) { self.power(depth, n) * S::of(self.stiffness / n) } else { S::zero() }
        };
        let [low, high] = self.at_bounds(y, energy);
        low + high
    }

    /// Power of its damping, W.
    fn damped<S: Scalar>(&self, y: S, rate: S) -> S {
        (self.effort_at(y, rate) - self.elastic_at(y)) * rate
    }

    fn gap(&self, y: f64) -> f64 {
        (y - self.bounds[0]).min(self.bounds[1] - y)
    }
}

impl Element for Stop {
    type Spec = StopSpec;
    const WORDS: Words = Words {
        kind: "stop",
        title: "a springy stop",
        doc: "Acts on a joint that is beyond `min` or `max`: effort = (stiffness + damping*speed)*depth^exponent, never pulling.",
        keys: &[
            JOINT,
            may("min", Holds::Number(None), "smallest value of the joint's coordinate"),
            may("max", Holds::Number(None), "largest value"),
            need("stiffness", Holds::Number(None), "effort per depth^exponent"),
            may("damping", Holds::Number(None), "effort per depth^exponent and speed; default: none"),
            may("exponent", Holds::Number(Some(crate::expr::Dimension::NONE)), "of the depth; default: 1.5"),
        ],
        own: &[],
    };

    fn read(x: &mut dyn Given) -> Option<StopSpec> {
        if !x.has("min") && !x.has("max") {
            x.needs("`min` or `max`", "give the value at which it begins to act");
            return None;
        }
        Some(StopSpec {
            joint: x.text("joint")?,
            min: x.number("min"),
            max: x.number("max"),
            stiffness: x.number("stiffness")?,
            damping: x.number("damping").unwrap_or(0.0),
            exponent: x.number("exponent").unwrap_or(1.5),
        })
    }

    fn write(spec: &StopSpec, out: &mut dyn Spelling) {
        out.word("joint", &spec.joint);
        for (key, x) in [("min", spec.min), ("max", spec.max)] {
            if let Some(x) = x {
                out.number(key, x);
            }
        }
        out.number("stiffness", spec.stiffness);
        out.unless_zero("damping", &[spec.damping]);
        out.number("exponent", spec.exponent);
    }

    fn build(spec: &StopSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let help = "a stop acts on an angle or a distance";
        let joint = b.joint(&spec.joint, "no coordinate to stop", help, |j| j.coordinates().next().is_some())?;
        let bounds = [spec.min.unwrap_or(f64::NEG_INFINITY), spec.max.unwrap_or(f64::INFINITY)];
        let given: Vec<f64> = [spec.min, spec.max].into_iter().flatten().chain([spec.stiffness, spec.damping, spec.exponent]).collect();
        if !b.finite("", &given) {
            return None;
        }
        b.not_negative("stiffness", spec.stiffness)?;
        b.not_negative("damping", spec.damping)?;
        if spec.exponent < 1.0 || bounds[0] >= bounds[1] {
            let d = Diagnostic::new("M116", "a springy stop has an exponent below 1, or nothing between its bounds");
            b.refuse("", d.help("`exponent` is at least 1, and `min` is less than `max`"));
            return None;
        }
        let coordinate = super::eval::acted_on(&b.model.joints[joint]);
        let StopSpec { stiffness, damping, exponent, .. } = *spec;
        Some(Self { joint, coordinate, bounds, stiffness, damping, exponent, doing: [None; 2] })
    }

    fn touches(&self) -> Touches<'_> {
        Touches { angle: self.coordinate == JointCoordinate::Angle, ..Touches::joint(self.joint) }
    }

    fn sides(&self) -> usize {
        2
    }

    fn side(&self, model: &Model, x: &Plain<'_>, k: usize) -> Option<Side> {
        let (y, rate) = coordinate_of(model, self.joint, Some(self.coordinate), x);
        let bound = *self.bounds.get(k)?;
        let sign = if k == 0 { 1.0 } else { -1.0 };
        let push = self.stiffness - self.damping * sign * rate;
        let size = self.stiffness + self.damping * rate.abs() + f64::MIN_POSITIVE;
        let follows = if self.coordinate == JointCoordinate::Angle { Follows::Turn } else { Follows::Way };
        bound.is_finite().then(|| Side { gap: sign * (y - bound), rate: sign * rate, push: push / size, follows, through: f64::INFINITY })
    }

    fn set_doing(&mut self, side: usize, doing: i64) {
        self.doing[side] = Some(doing);
    }

    fn wrench<S: Scalar>(&self, model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        let (e, _) = self.effort(model, x);
        joint_effort(&model.joints[self.joint], self.coordinate, e, x, add);
    }

    fn potential<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> S {
        self.stored(coordinate_of(model, self.joint, Some(self.coordinate), x).0)
    }

    fn power<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> S {
        let (y, rate) = coordinate_of(model, self.joint, Some(self.coordinate), x);
        self.damped(y, rate)
    }

    fn act<S: Scalar>(&self, model: &Model, name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
        // The start of contact is known only from event to event.
        if self.exponent.fract() != 0.0 || self.doing == [None; 2] {
            let why = "grows with a non-integer power of the depth, which has no Taylor series where it begins to act";
            return Err(Diagnostic::new("S300", format!("the springy limit `{name}` {why}"))
                .name(name)
                .help("give it an integer `exponent`, use formulation `ra` or `grcr`, or leave the choice to `auto`"));
        }
        let (y, _) = coordinate_of(model, self.joint, Some(self.coordinate), &*x);
        let rate = x.speed(self.joint, self.coordinate);
        // The power without potential is that of the damping alone.
        let effort = self.effort_at(y, rate);
        x.works(rate, effort);
        x.gives(-(self.elastic_at(y) * rate));
        Ok(())
    }

    fn quantities(&self, model: &Model) -> Quantities {
        let (y, e) = if self.coordinate == JointCoordinate::Angle { ("rad", "N*m") } else { ("m", "N") };
        let _ = model;
        smallvec![("gap", y), ("effort", e), ("power", "W")]
    }

    fn values(&self, model: &Model, x: &Plain<'_>) -> Values {
        let (y, _) = coordinate_of(model, self.joint, Some(self.coordinate), x);
        let (e, rate) = self.effort(model, x);
        smallvec![self.gap(y), e, e * rate]
    }

    fn glyph(&self) -> Glyph {
        Glyph::Joint(self.joint)
    }
}
