//! The cases of a sweep: values of parameters, on a grid or spread over a box.

use super::draw::Draw;
use super::sobol::Sobol;
use fourbar::Diagnostic;
use serde::{Deserialize, Serialize};

/// Maximum number of cases of a plan.
pub const MOST_CASES: usize = 100_000_000;
/// Maximum number of cases of a Latin hypercube, whose permutations are stored.
const MOST_DRAWN: usize = 10_000_000;

/// Values of a parameter in its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// Listed values.
    List(Vec<f64>),
    /// `count` values from the first to the last, both included; in equal ratios if `log`.
    Range {
        /// First value.
        from: f64,
        /// Last value.
        to: f64,
        /// Number of values; zero: any value between, for plans that spread their cases.
        count: usize,
        /// Equal ratios instead of equal differences.
        log: bool,
    },
}

/// A parameter that is varied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name in the file.
    pub name: String,
    /// Its values.
    pub values: Values,
    /// The unit as it was written, empty: SI.
    pub unit: String,
    /// Factor of the unit to SI.
    pub factor: f64,
}

/// Layout of the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Scheme {
    /// All combinations; the last axis varies fastest.
    Grid,
    /// Latin hypercube: each axis is cut into as many strips as cases, one case in each.
    Lhs {
        /// Number of cases.
        cases: usize,
        /// Seed.
        seed: u64,
    },
    /// Points of a scrambled Sobol sequence.
    Sobol {
        /// Number of points.
        cases: usize,
        /// Seed.
        seed: u64,
    },
}

/// A plan: a function from case number to values.
#[derive(Clone, Debug)]
pub struct Plan {
    axes: Vec<Axis>,
    scheme: Scheme,
    cases: usize,
    spread: Spread,
}

#[derive(Clone, Debug)]
enum Spread {
    Grid,
    Lhs(Draw, Vec<Vec<u32>>),
    Sobol(Sobol),
}

impl Axis {
    /// Number of discrete values; zero if any value in a range is possible.
    fn count(&self) -> usize {
        match &self.values {
            Values::List(list) => list.len(),
            Values::Range { count, .. } => *count,
        }
    }

    /// Value number `k` in SI.
    fn value(&self, k: usize) -> f64 {
        match &self.values {
            Values::List(list) => list[k] * self.factor,
            Values::Range { count, .. } if *count > 1 => self.between(k as f64 / (*count - 1) as f64),
            Values::Range { from, .. } => from * self.factor,
        }
    }

    /// The value at a fraction of the range, in SI.
    fn between(&self, share: f64) -> f64 {
        let x = match &self.values {
            Values::List(list) => list[((share * list.len() as f64) as usize).min(list.len() - 1)],
            // The ends are exact to the bit.
            Values::Range { from, .. } if share == 0.0 => *from,
            Values::Range { to, .. } if share == 1.0 => *to,
            Values::Range { from, to, log: true, .. } => from * (to / from).powf(share),
            Values::Range { from, to, .. } => from + (to - from) * share,
        };
        x * self.factor
    }

    fn check(&self) -> Result<(), Diagnostic> {
        let wrong = |why: String| Err(Diagnostic::new("U430", format!("the values of `{}` {why}", self.name)).name(&self.name).help(HOW));
        if !self.factor.is_finite() {
            return wrong("have a unit without a finite size".into());
        }
        match &self.values {
            Values::List(list) if list.is_empty() => wrong("are none".into()),
            Values::List(list) if list.iter().any(|x| !x.is_finite()) => wrong("are not all finite numbers".into()),
            Values::Range { from, to, .. } if !(from.is_finite() && to.is_finite()) => wrong("are not finite numbers".into()),
            Values::Range { from, to, .. } if from == to => wrong("begin where they end".into()),
            Values::Range { count: 1, .. } => wrong("are a range of one value".into()),
            Values::Range { from, to, log: true, .. } if from * to <= 0.0 => wrong("go in equal ratios through zero".into()),
            _ => Ok(()),
        }
    }
}

/// Help on how values are written.
const HOW: &str =
    "write `NAME=60..100 mm:41` for 41 values in equal steps, `NAME=1..100 kN/m:9:log` for equal ratios, or `NAME=60,70,90 mm`";

impl Plan {
    /// A checked plan with these axes.
    pub fn new(axes: Vec<Axis>, scheme: Scheme) -> Result<Self, Diagnostic> {
        if axes.is_empty() {
            return Err(Diagnostic::new("U430", "no parameter is varied").help(HOW));
        }
        for (k, a) in axes.iter().enumerate() {
            a.check()?;
            if axes[..k].iter().any(|b| b.name == a.name) {
                return Err(Diagnostic::new("U430", format!("`{}` is varied twice", a.name)).name(&a.name).help("keep one of them"));
            }
        }
        let many = |cases: f64, most: usize| {
            Diagnostic::new("U431", format!("the plan has {cases:.3e} cases; at most {most} are run"))
                .help("take fewer values, or spread cases with `--sobol N`")
        };
        let (cases, spread) = match scheme {
            Scheme::Grid => {
                if let Some(a) = axes.iter().find(|a| a.count() == 0) {
                    return Err(Diagnostic::new("U430", format!("the number of values of `{}` is not given", a.name))
                        .name(&a.name)
                        .help(HOW));
                }
                let cases: f64 = axes.iter().map(|a| a.count() as f64).product();
                if cases > MOST_CASES as f64 {
                    return Err(many(cases, MOST_CASES));
                }
                (cases as usize, Spread::Grid)
            }
            Scheme::Lhs { cases, seed } => {
                if cases > MOST_DRAWN {
                    return Err(many(cases as f64, MOST_DRAWN));
                }
                let draw = Draw::new(seed);
                let orders = (0..axes.len()).map(|a| draw.order(cases, (1 << 40) + a as u64)).collect();
                (cases, Spread::Lhs(draw, orders))
            }
            Scheme::Sobol { cases, seed } => {
                if cases > MOST_CASES {
                    return Err(many(cases as f64, MOST_CASES));
                }
                (cases, Spread::Sobol(Sobol::new(axes.len(), seed)))
            }
        };
        if cases == 0 {
            return Err(Diagnostic::new("U431", "the plan has no case").help("give at least one"));
        }
        Ok(Self { axes, scheme, cases, spread })
    }

    /// The varied parameters.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The layout of the cases.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Number of cases.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.cases
    }

    /// The values of a case in SI, one for each axis. It depends on the plan and the number alone.
    pub fn case(&self, number: usize) -> Vec<f64> {
        match &self.spread {
            Spread::Grid => {
                let mut rest = number;
                let mut values = vec![0.0; self.axes.len()];
                for (a, x) in self.axes.iter().zip(&mut values).rev() {
                    *x = a.value(rest % a.count());
                    rest /= a.count();
                }
                values
            }
            Spread::Lhs(draw, orders) => {
                let at = |(k, a): (usize, &Axis)| {
                    let share = (f64::from(orders[k][number]) + draw.unit(number as u64, k as u64)) / self.cases as f64;
                    a.between(share)
                };
                self.axes.iter().enumerate().map(at).collect()
            }
            Spread::Sobol(sobol) => self.axes.iter().enumerate().map(|(k, a)| a.between(sobol.coordinate(number as u64, k))).collect(),
        }
    }

    /// The case numbers of shard `shard`, counted from 1: every `of`-th one.
    pub fn shard(&self, shard: usize, of: usize) -> impl Iterator<Item = usize> + use<> {
        (shard.saturating_sub(1)..self.cases).step_by(of.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, values: Values) -> Axis {
        Axis { name: name.into(), values, unit: "mm".into(), factor: 1e-3 }
    }

    #[test]
    fn a_grid_takes_every_value_with_every_other() {
        let a = axis("a", Values::Range { from: 60.0, to: 100.0, count: 41, log: false });
        let b = axis("b", Values::List(vec![1.0, 5.0, 2.0]));
        let plan = Plan::new(vec![a, b], Scheme::Grid).expect("a plan");
        assert_eq!(plan.len(), 123);
        assert_eq!(plan.case(0), [60.0 * 1e-3, 1e-3]);
        assert_eq!(plan.case(4), [61.0 * 1e-3, 5.0 * 1e-3]);
        assert_eq!(plan.case(122), [100.0 * 1e-3, 2.0 * 1e-3]);
        let mut all: Vec<usize> = (1..=5).flat_map(|k| plan.shard(k, 5)).collect();
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..123));
    }

    #[test]
    fn equal_ratios_meet_their_ends() {
        let k = axis("k", Values::Range { from: 1.0, to: 1000.0, count: 4, log: true });
        let plan = Plan::new(vec![k], Scheme::Grid).expect("a plan");
        let values: Vec<f64> = (0..4).map(|c| plan.case(c)[0] * 1e3).collect();
        for (x, y) in values.iter().zip([1.0, 10.0, 100.0, 1000.0]) {
            assert!((x / y - 1.0).abs() < 1e-14, "{values:?}");
        }
    }

    #[test]
    fn a_latin_hypercube_has_one_case_in_every_strip() {
        let n = 57;
        let axes = ["a", "b", "c"].map(|x| axis(x, Values::Range { from: 0.0, to: n as f64, count: 0, log: false }));
        let plan = Plan::new(axes.to_vec(), Scheme::Lhs { cases: n, seed: 5 }).expect("a plan");
        for a in 0..3 {
            let mut strips: Vec<usize> = (0..n).map(|k| (plan.case(k)[a] * 1e3) as usize).collect();
            strips.sort_unstable();
            assert!(strips.into_iter().eq(0..n));
        }
    }

    #[test]
    fn plans_that_make_no_sense_are_refused() {
        let range = |from, to, count, log| axis("a", Values::Range { from, to, count, log });
        let refused = |axes: Vec<Axis>, scheme| Plan::new(axes, scheme).err().map(|d| d.code.0);
        assert_eq!(refused(vec![], Scheme::Grid), Some("U430"));
        assert_eq!(refused(vec![range(1.0, 1.0, 3, false)], Scheme::Grid), Some("U430"));
        assert_eq!(refused(vec![range(-1.0, 1.0, 3, true)], Scheme::Grid), Some("U430"));
        assert_eq!(refused(vec![range(0.0, 1.0, 0, false)], Scheme::Grid), Some("U430"));
        assert_eq!(refused(vec![range(0.0, f64::NAN, 3, false)], Scheme::Grid), Some("U430"));
        assert_eq!(refused(vec![range(0.0, 1.0, 3, false), range(0.0, 1.0, 3, false)], Scheme::Grid), Some("U430"));
        let wide = ["a", "b", "c"].map(|n| axis(n, Values::Range { from: 0.0, to: 1.0, count: 10_000, log: false }));
        assert_eq!(refused(wide.to_vec(), Scheme::Grid), Some("U431"));
        assert_eq!(refused(vec![range(0.0, 1.0, 0, false)], Scheme::Sobol { cases: 0, seed: 1 }), Some("U431"));
    }
}
