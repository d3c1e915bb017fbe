//! The law of compliant contact: `F = K d^n (1 + chi d')`, never negative, with `d` the overlap; and smooth dry friction.

use super::spec::LawName;
use crate::force::doing;
use fourbar_math::Scalar;
use fourbar_math::elementary;
use nalgebra::Vector3;

/// Speed, in multiples of the smoothing speed, over which static friction decays to sliding friction.
const DECAY: f64 = 10.0;
/// Smaller overlaps count as zero: non-integer powers have no derivative at zero.
const NOTHING: f64 = 1e-60;

/// Normal force and friction of a compliant contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compliant {
    /// Stiffness, N/m^n.
    pub K: f64,
    /// Exponent of the overlap.
    pub n: f64,
    /// Damping, s/m.
    pub chi: f64,
    /// Friction.
    pub friction: Friction,
}

/// Dry friction of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// Coefficient while sliding.
    pub mu: f64,
    /// Coefficient at rest.
    pub fixed: f64,
    /// Speed below which the force is smoothed, m/s.
    pub speed: f64,
}

impl Compliant {
    /// Normal force from the gap and its rate, and the conservative part of it, N.
    pub fn normal<S: Scalar>(&self, gap: S, rate: S) -> [S; 2] {
        let overlap = -gap;
        let elastic = overlap.select(self.power(overlap) * S::of(self.K), S::zero());
        let whole = elastic * (S::one() - rate * S::of(self.chi));
        [whole.select(whole, S::zero()), elastic]
    }

    /// As above while bodies are in the state [`crate::force::doing`], regardless of the gap.
    pub fn normal_doing<S: Scalar>(&self, gap: S, rate: S, doing: i64) -> [S; 2] {
        let elastic = self.power(-gap) * S::of(self.K);
        match doing {
            doing::APART => [S::zero(); 2],
            doing::ACTS => [elastic * (S::one() - rate * S::of(self.chi)), elastic],
            _ => [S::zero(), elastic],
        }
    }

    /// Potential energy at a gap, J.
    pub fn potential<S: Scalar>(&self, gap: S) -> S {
        (-gap).select(self.stored(gap), S::zero())
    }

    /// The same formula for overlapping bodies, regardless of the sign of the gap.
    pub fn stored<S: Scalar>(&self, gap: S) -> S {
        let overlap = -gap;
        self.power(overlap) * overlap * S::of(self.K / (self.n + 1.0))
    }

    /// `overlap^n`; the value for negative overlaps has no effect.
    fn power<S: Scalar>(&self, overlap: S) -> S {
        if self.n.fract() == 0.0 {
            return overlap.powi(self.n as i32);
        }
        let positive = overlap.max(S::of(NOTHING));
        if self.n == 1.5 { positive * positive.sqrt() } else { positive.powf(self.n) }
    }

    /// Force of friction on the first body, from normal force and slip, N.
    pub fn tangential<S: Scalar>(&self, normal: S, slip: &Vector3<S>) -> Vector3<S> {
        slip * (-(self.friction.coefficient(slip) * normal))
    }

    /// Stiffness at the overlap that a mass reaches with a speed, N/m, and damping there, N s/m.
    pub fn slope(&self, mass: f64, speed: f64) -> (f64, f64) {
        let deepest = elementary::powf((self.n + 1.0) * 0.5 * mass * speed * speed / self.K, 1.0 / (self.n + 1.0));
        (self.n * self.K * elementary::powf(deepest, self.n - 1.0), self.K * elementary::powf(deepest, self.n) * self.chi)
    }
}

impl Friction {
    /// None.
    pub const NONE: Self = Self { mu: 0.0, fixed: 0.0, speed: 1e-3 };

    /// Coefficient over speed of slip: `mu(v) / (v^4 + v_s^4)^(1/4)`, analytic for all speeds, within `(v_s/v)^4/4` of Coulomb's law.
    fn coefficient<S: Scalar>(&self, slip: &Vector3<S>) -> S {
        let square = slip.dot(slip);
        let s2 = self.speed * self.speed;
        let smooth = (square * square + S::of(s2 * s2)).sqrt().sqrt();
        let mut mu = S::of(self.mu);
        if self.fixed != self.mu {
            mu += (square * S::of(-1.0 / (DECAY * DECAY * s2))).exp() * S::of(self.fixed - self.mu);
        }
        mu / smooth
    }
}

/// The damping `chi` times the approach speed that yields the restitution `e`, for two bodies without other forces.
///
/// The exact law solves `ln(1 + c) - ln(1 - c e) = c (1 + e)` for `0 < c < 1/e`, which holds for every exponent; the others are the published
/// approximations, which are inaccurate for small restitution.
pub fn damping_factor(law: LawName, e: f64) -> f64 {
    match law {
        LawName::HuntCrossley => 1.5 * (1.0 - e),
        LawName::Flores => 1.6 * (1.0 - e) / e,
        LawName::Exact if e >= 1.0 => 0.0,
        LawName::Exact => {
            // With c = (1 - x)/e the logarithm is that of x, which may be tiny: solved for y = -ln x, where it is nearly linear.
            let f = |y: f64| {
                let c = -elementary::exp_m1(-y) / e;
                (elementary::ln_1p(c) + y) - c * (1.0 + e)
            };
            // f is negative near zero and positive far out, once.
            let (mut low, mut high) = (0.0, 1.0);
            while f(high) <= 0.0 && high < 1e6 {
                (low, high) = (high, 2.0 * high);
            }
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if f(middle) <= 0.0 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            -elementary::exp_m1(-0.5 * (low + high)) / e
        }
    }
}
