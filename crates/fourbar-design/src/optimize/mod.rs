//! Values of parameters, between bounds, that make a measure small, or several measures zero, while conditions hold.
//!
//! Several measures whose squares are to have a small sum are fitted by Levenberg-Marquardt with bounds, from the values of the file and from
//! points of a Sobol sequence ([`least_squares`]). One measure that is to become small may have kinks, as a maximum over time has where it
//! jumps from one instant to another: an evolution strategy searches for it ([`cma`]), and from its best sample sequential quadratic programming
//! goes on as far as it leads. Conditions are margins that must not be negative; the
//! first method takes them by an augmented Lagrangian, the second by the order of its samples. Cases that cannot be assembled, or fail, are
//! walls: the search does not go there, and does not take them for large values.

mod branch;
pub mod cma;
pub mod least_squares;
mod polish;

pub use branch::Branch;

use crate::sweep::{Sobol, execute};
use least_squares::{Bounds, with_slopes};
use nalgebra::DMatrix;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Which method searches for the best values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Levenberg-Marquardt from several starts.
    LeastSquares,
    /// Evolution strategy.
    Cma,
}

/// What a case gives: what is fitted or made small, and margins that must not be negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Goals {
    /// Measures that are fitted to zero, or the one that is made small.
    pub values: Vec<f64>,
    /// Margins of the conditions.
    pub margins: Vec<f64>,
}

/// Computes a case; `None` where it fails.
pub type Evaluate<'a> = dyn Fn(&[f64]) -> Option<Goals> + Sync + 'a;

/// The derivatives of a case by the variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Slopes {
    /// What the case gives.
    pub goals: Goals,
    /// Derivatives of each value.
    pub values: Vec<Vec<f64>>,
    /// Derivatives of each margin.
    pub margins: Vec<Vec<f64>>,
}

/// Computes the derivatives of a case; `None` where they are to be taken from differences.
pub type Differentiate<'a> = dyn Fn(&[f64]) -> Option<Slopes> + Sync + 'a;

/// A problem.
pub struct Problem<'a> {
    /// Bounds, SI.
    pub lower: Vec<f64>,
    /// Bounds, SI.
    pub upper: Vec<f64>,
    /// Where to begin, SI.
    pub start: Vec<f64>,
    /// Computes a case.
    pub evaluate: &'a Evaluate<'a>,
    /// Computes its derivatives, for least squares; omitted: differences.
    pub slopes: Option<&'a Differentiate<'a>>,
    /// How it is solved.
    pub method: Method,
    /// Starts of the first method, restarts of the second.
    pub starts: usize,
    /// Most evaluations of a start.
    pub evaluations: usize,
    /// Distance of differences, as a share of the range of a variable.
    pub difference: f64,
    /// Seed.
    pub seed: u64,
    /// Threads; zero: one for every core.
    pub threads: usize,
    /// Set from outside to end the search; the best so far is kept.
    pub stop: &'a AtomicBool,
}

/// A point of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The start it belongs to.
    pub start: usize,
    /// Values of the variables, SI.
    pub x: Vec<f64>,
    /// Sum of squares, or the measure.
    pub goal: f64,
    /// Largest violation of a condition; zero where all hold.
    pub violation: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The best point.
    pub best: Point,
    /// What the case at the best point gives.
    pub goals: Goals,
    /// The same at the start, where it could be computed.
    pub from: Option<Goals>,
    /// Ends of all starts, the best first.
    pub ends: Vec<Point>,
    /// Starts from which nothing could be computed.
    pub failed_starts: usize,
    /// Cases computed, and how many of them failed.
    pub evaluations: usize,
    /// Failed cases.
    pub failures: usize,
    /// Improvements in their order, by start.
    pub history: Vec<Point>,
    /// Variables on their lower (-1) or upper (+1) bound.
    pub active: Vec<i8>,
}

/// Violations below this share of the size of a margin count as none.
const KEPT: f64 = 1e-7;
/// Rounds of the augmented Lagrangian.
const ROUNDS: usize = 8;
/// Share of the evaluations of the second method that are left for its last digits.
const LAST: f64 = 0.2;

impl Problem<'_> {
    fn scale(&self) -> Vec<f64> {
        self.lower.iter().zip(&self.upper).map(|(a, b)| b - a).collect()
    }

    fn objective(&self, goals: &Goals) -> f64 {
        match self.method {
            Method::LeastSquares => goals.values.iter().map(|v| v * v).sum(),
            Method::Cma => goals.values.iter().sum(),
        }
    }

    fn violation(goals: &Goals) -> f64 {
        goals.margins.iter().map(|m| (-m).max(0.0)).fold(0.0, f64::max)
    }

    /// A point of the search by its goals.
    fn point(&self, start: usize, x: &[f64], goals: &Goals) -> Point {
        Point { start, x: x.to_vec(), goal: self.objective(goals), violation: Self::violation(goals) }
    }
}

/// Whether a point is better: conditions that hold go before goals.
fn better(a: &Point, b: &Point, size: f64) -> bool {
    let broken = |p: &Point| if p.violation <= KEPT * size { 0.0 } else { p.violation };
    (broken(a), a.goal) < (broken(b), b.goal)
}

/// Solves a problem; `None` where no case could be computed.
pub fn optimize(problem: &Problem<'_>) -> Option<Solution> {
    let (evaluations, failures) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let counted = |x: &[f64]| {
        evaluations.fetch_add(1, Ordering::Relaxed);
        let goals = (problem.evaluate)(x).filter(|g| g.values.iter().chain(&g.margins).all(|v| v.is_finite()));
        if goals.is_none() {
            failures.fetch_add(1, Ordering::Relaxed);
        }
        goals
    };
    let from = counted(&problem.start);
    // Margins are weighed against their sizes at the start.
    let size = from.as_ref().map_or(1.0, |g| g.margins.iter().fold(0.0_f64, |s, m| s.max(m.abs()))).max(1e-12);
    let (mut ends, mut history, mut failed_starts) = (Vec::new(), Vec::new(), 0);
    match problem.method {
        Method::LeastSquares => {
            let sobol = Sobol::new(problem.start.len(), problem.seed);
            let numbers: Vec<usize> = (0..problem.starts.max(1)).collect();
            let run = |k: usize| {
                let start: Vec<f64> = match k {
                    0 => problem.start.clone(),
                    _ => (0..problem.start.len())
                        .map(|d| problem.lower[d] + (problem.upper[d] - problem.lower[d]) * sobol.coordinate(k as u64 - 1, d))
                        .collect(),
                };
                Some(fit(problem, k, &start, size, &counted))
            };
            let mut all = Vec::new();
            execute(&numbers, problem.threads, problem.stop, run, |k, r| {
                all.push((k, r));
                true
            });
            all.sort_by_key(|(k, _)| *k);
            for (_, r) in all {
                match r {
                    Some((end, steps)) => {
                        ends.push(end);
                        history.extend(steps);
                    }
                    None => failed_starts += 1,
                }
            }
        }
        Method::Cma => {
            for k in 0..problem.starts.max(1) {
                if problem.stop.load(Ordering::Relaxed) && !ends.is_empty() {
                    break;
                }
                match evolve(problem, k, size, &counted) {
                    Some((end, steps)) => {
                        ends.push(end);
                        history.extend(steps);
                    }
                    None => failed_starts += 1,
                }
            }
        }
    }
    // The start itself may be the best.
    if let Some(g) = &from {
        let p = problem.point(0, &problem.start, g);
        if ends.is_empty() || ends.iter().all(|e| better(&p, e, size)) {
            ends.push(p);
        }
    }
    ends.sort_by(|a, b| {
        if better(a, b, size) {
            std::cmp::Ordering::Less
        } else if better(b, a, size) {
            std::cmp::Ordering::Greater
        } else {
            std::cmp::Ordering::Equal
        }
    });
    let best = ends.first()?.clone();
    let goals = (problem.evaluate)(&best.x)?;
    let near = |a: f64, b: f64, d: usize| (a - b).abs() <= 1e-6 * (problem.upper[d] - problem.lower[d]);
    let active = (0..best.x.len())
        .map(|d| i8::from(near(best.x[d], problem.upper[d], d)) - i8::from(near(best.x[d], problem.lower[d], d)))
        .collect();
    Some(Solution {
        best,
        goals,
        from,
        ends,
        failed_starts,
        evaluations: evaluations.load(Ordering::Relaxed),
        failures: failures.load(Ordering::Relaxed),
        history,
        active,
    })
}

type Counted<'a> = dyn Fn(&[f64]) -> Option<Goals> + Sync + 'a;

/// One start of the first method.
fn fit(problem: &Problem<'_>, number: usize, start: &[f64], size: f64, evaluate: &Counted<'_>) -> Option<(Point, Vec<Point>)> {
    let space = Bounds { lower: problem.lower.clone(), upper: problem.upper.clone(), scale: problem.scale() };
    let mut x = start.to_vec();
    let first = evaluate(&x)?;
    let mut history = vec![problem.point(number, &x, &first)];
    let conditions = first.margins.len();
    // The weight of a condition that is broken by its own size is that of the goal.
    let mut weight = (problem.objective(&first).max(1e-12) / (size * size)).max(1e-12);
    let mut multipliers = vec![0.0; conditions];
    let rounds = if conditions == 0 { 1 } else { ROUNDS };
    let mut left = problem.evaluations;
    for _ in 0..rounds {
        let mut best: Option<f64> = None;
        let found = {
            let mut residuals = |x: &[f64]| {
                if problem.stop.load(Ordering::Relaxed) {
                    return None;
                }
                let g = evaluate(x)?;
                let p = problem.point(number, x, &g);
                let punished = |(m, l): (&f64, &f64)| weight.sqrt() * (l / weight - m).max(0.0);
                let mut r = g.values.clone();
                r.extend(g.margins.iter().zip(&multipliers).map(punished));
                let cost: f64 = r.iter().map(|v| v * v).sum();
                if best.is_none_or(|b| cost < b) {
                    best = Some(cost);
                    history.push(p);
                }
                Some(r)
            };
            let options =
                least_squares::Options { evaluations: left, fall: 1e-12, step: 1e-9, difference: problem.difference, central: false };
            let mut slopes = |x: &[f64]| {
                let own = (problem.slopes?)(x)?;
                let active = |(m, l): (&f64, &f64)| l / weight - m > 0.0;
                let punished = own.goals.margins.iter().zip(&multipliers).map(active);
                let margins = own.margins.iter().zip(punished);
                let margins = margins.map(|(d, on)| d.iter().map(|d| if on { -weight.sqrt() * d } else { 0.0 }).collect::<Vec<f64>>());
                let rows: Vec<Vec<f64>> = own.values.iter().cloned().chain(margins).collect();
                Some(DMatrix::from_fn(rows.len(), x.len(), |i, k| rows[i][k]))
            };
            with_slopes(&x, &space, &options, &mut residuals, &mut slopes)
        };
        let Some(found) = found else { break };
        x.clone_from(&found.x);
        left = left.saturating_sub(found.evaluations);
        let goals = evaluate(&x)?;
        for (l, m) in multipliers.iter_mut().zip(&goals.margins) {
            *l = (*l - weight * m).max(0.0);
        }
        if Problem::violation(&goals) <= 0.1 * KEPT * size && conditions > 0 && multipliers.iter().all(|l| *l == 0.0) {
            break;
        }
        weight *= 4.0;
        if left == 0 {
            break;
        }
    }
    let end = problem.point(number, &x, &evaluate(&x)?);
    Some((end, improvements(history, size)))
}

/// One run of the second method.
fn evolve(problem: &Problem<'_>, number: usize, size: f64, evaluate: &Counted<'_>) -> Option<(Point, Vec<Point>)> {
    let range = problem.scale();
    let real = |u: &[f64]| -> Vec<f64> { u.iter().zip(&problem.lower).zip(&range).map(|((u, a), r)| a + u * r).collect() };
    let unit: Vec<f64> = problem.start.iter().zip(&problem.lower).zip(&range).map(|((x, a), r)| ((x - a) / r).clamp(0.0, 1.0)).collect();
    let start: Vec<f64> = if number == 0 {
        unit
    } else {
        let sobol = Sobol::new(unit.len(), problem.seed);
        (0..unit.len()).map(|d| sobol.coordinate(number as u64, d)).collect()
    };
    let mut history: Vec<Point> = Vec::new();
    let mut cases = |samples: &[Vec<f64>]| {
        let numbers: Vec<usize> = (0..samples.len()).collect();
        let mut results: Vec<Option<Goals>> = vec![None; samples.len()];
        let mut done = 0;
        execute(
            &numbers,
            problem.threads,
            problem.stop,
            |k| Some(evaluate(&real(&samples[k]))),
            |k, g| {
                results[k] = g;
                done += 1;
                true
            },
        );
        // An interrupted generation is not judged.
        if done < samples.len() {
            return None;
        }
        history.extend(samples.iter().zip(&results).filter_map(|(u, g)| Some(problem.point(number, &real(u), g.as_ref()?))));
        Some(results)
    };
    let mut worst: Option<f64> = None;
    let mut generation = |samples: &[Vec<f64>]| {
        let results = cases(samples)?;
        for g in results.iter().flatten().filter(|g| Problem::violation(g) <= KEPT * size) {
            let goal = problem.objective(g);
            worst = Some(worst.map_or(goal, |w: f64| w.max(goal)));
        }
        let above = worst.unwrap_or(0.0);
        let rank = |g: &Goals| {
            let v = Problem::violation(g);
            if v <= KEPT * size { problem.objective(g) } else { above + (1.0 + above.abs()) * (v / size) }
        };
        Some(results.iter().map(|g| g.as_ref().map(rank)).collect())
    };
    let n = start.len() as f64;
    let population = 4 + (3.0 * n.ln()) as usize;
    let options = cma::Options {
        generations: (((1.0 - LAST) * problem.evaluations as f64) as usize / population).max(2),
        population,
        seed: problem.seed.wrapping_add(number as u64),
        ..cma::Options::default()
    };
    let arrived = cma::minimize(&start, &options, &mut generation).and_then(|best| {
        let u: Vec<f64> = best.u.iter().map(|x| x.clamp(0.0, 1.0)).collect();
        let left = problem.evaluations.saturating_sub(population * best.generations);
        polish::polish(problem, &u, size, left, &mut cases)
    });
    let optimum = arrived.and_then(|a| {
        let x = real(&a.u);
        Some((history.iter().rev().find(|p| p.x == x)?.clone(), a.weight))
    });
    let mut history = improvements(history, size);
    // Points that break a condition by what counts as nothing may seem better than the optimum, by no more than that wins.
    if let (Some((p, weight)), Some(last)) = (optimum, history.last())
        && p.violation <= KEPT * size
        && p != *last
        && p.goal <= last.goal + 2.0 * weight * (last.violation / size).min(KEPT)
    {
        history.push(p);
    }
    history.last().cloned().map(|end| (end, history))
}

/// Points that are better than all before them.
fn improvements(points: Vec<Point>, size: f64) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for p in points {
        if kept.last().is_none_or(|last| better(&p, last, size)) {
            kept.push(p);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(method: Method, evaluate: &Evaluate<'_>, threads: usize, starts: usize) -> Option<Solution> {
        optimize(&Problem {
            lower: vec![-3.0, -3.0],
            upper: vec![3.0, 3.0],
            start: vec![-1.2, 1.0],
            evaluate,
            slopes: None,
            method,
            starts,
            evaluations: 1500,
            difference: 1e-6,
            seed: 1,
            threads,
            stop: &AtomicBool::new(false),
        })
    }

    #[test]
    fn a_condition_is_met_where_it_is_active() {
        // The nearest point to (2, 1) with x + y <= 1 is (1, 0); at a distance of sqrt 2.
        let evaluate = |x: &[f64]| Some(Goals { values: vec![x[0] - 2.0, x[1] - 1.0], margins: vec![1.0 - x[0] - x[1]] });
        let s = solve(Method::LeastSquares, &evaluate, 1, 3).expect("found");
        assert!((s.best.x[0] - 1.0).abs() < 1e-5 && s.best.x[1].abs() < 1e-5 && s.best.violation < 1e-6, "{s:?}");
        let evaluate = |x: &[f64]| Some(Goals { values: vec![(x[0] - 2.0).hypot(x[1] - 1.0)], margins: vec![1.0 - x[0] - x[1]] });
        let s = solve(Method::Cma, &evaluate, 1, 2).expect("found");
        assert!((s.best.goal - 2f64.sqrt()).abs() < 1e-9 && s.best.violation < 1e-6 && s.evaluations <= 3001, "{s:?}");
    }

    /// The least quadratic form on a curved edge, at drawn places, against Lagrange's condition; samples alone come to 5e-3.
    #[test]
    fn a_search_by_samples_ends_at_the_edge_of_its_conditions() {
        for seed in 1..6 {
            let mut random = fourbar::random::Random(seed);
            let mut between = |a: f64, b: f64| a + (b - a) * (0.5 + 0.5 * random.number());
            let (a, b, c, r) = (between(1.5, 2.5), between(0.5, 2.0), between(0.3, 3.0), between(0.7, 1.4));
            // The weighted distance from (a, b), kept in a circle of radius r about the origin, and below a line that is not active.
            let evaluate = |x: &[f64]| {
                let goal = (x[0] - a).powi(2) + c * (x[1] - b).powi(2);
                Some(Goals { values: vec![goal], margins: vec![r * r - x[0] * x[0] - x[1] * x[1], 4.0 - x[0] - x[1]] })
            };
            let s = solve(Method::Cma, &evaluate, 1, 1).expect("found");
            let x = &s.best.x;
            let (gx, gy) = (2.0 * (x[0] - a), 2.0 * c * (x[1] - b));
            let across = (gx * x[1] - gy * x[0]) / gx.hypot(gy) / r;
            assert!((x[0].hypot(x[1]) - r).abs() < 1e-6 && across.abs() < 1e-6, "seed {seed}: {across:e}, {s:?}");
        }
    }

    #[test]
    fn bounds_that_are_active_are_named_and_threads_change_nothing() {
        let evaluate = |x: &[f64]| Some(Goals { values: vec![x[0] - 5.0, x[1] - 0.5], margins: vec![] });
        let one = solve(Method::LeastSquares, &evaluate, 1, 6).expect("found");
        assert_eq!((one.best.x[0], &one.active), (3.0, &vec![1, 0]));
        assert!((one.best.goal - 4.0).abs() < 1e-9);
        assert_eq!(Some(one), solve(Method::LeastSquares, &evaluate, 4, 6));
        let two = solve(Method::Cma, &|x: &[f64]| Some(Goals { values: vec![x[0].abs() + (x[1] - 1.0).abs()], margins: vec![] }), 1, 1);
        assert_eq!(
            two,
            solve(Method::Cma, &|x: &[f64]| Some(Goals { values: vec![x[0].abs() + (x[1] - 1.0).abs()], margins: vec![] }), 3, 1)
        );
        assert!(two.expect("found").best.goal < 1e-5);
    }

    #[test]
    fn the_best_of_several_valleys_is_found_past_cases_that_fail() {
        // Two valleys, at x = -2 (deep 0.1) and x = 2 (deep 0); between them nothing can be computed.
        let evaluate = |x: &[f64]| {
            (x[0].abs() > 1.1).then(|| {
                let (at, deep) = if x[0] < 0.0 { (-2.0, 0.1) } else { (2.0, 0.0) };
                Goals { values: vec![x[0] - at, x[1], deep], margins: vec![] }
            })
        };
        let s = solve(Method::LeastSquares, &evaluate, 2, 12).expect("found");
        assert!((s.best.x[0] - 2.0).abs() < 1e-6 && s.best.goal < 1e-10 && s.failures > 0 && s.failed_starts > 0, "{s:?}");
        assert!(solve(Method::LeastSquares, &|_: &[f64]| None, 1, 3).is_none());
        assert!(solve(Method::Cma, &|_: &[f64]| None, 1, 1).is_none());
    }
}
