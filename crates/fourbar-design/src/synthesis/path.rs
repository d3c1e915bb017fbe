//! Path generation: a crank-rocker whose coupler point passes given points, at given crank angles or at free ones.
//!
//! With the crank of unit length, the crank pin `A(th)` and the direction of the coupler `u(th)`, the coupler point is
//! `P = z0 + w1 A + w2 u`: position, rotation and size of the linkage and the coupler point enter linearly and follow from a linear
//! least-squares problem. The remaining unknowns are the ratios of the links and the phase of the crank. The ratios are parametrised so
//! that every value is a crank-rocker: coupler `b = 1 + e^x`, rocker `c = 1 + e^y`, ground between `|b - c| + 1` and `b + c - 1`. Crank
//! angles increase from point to point, so that the points are passed in order, on one branch, without penalty terms.

use super::{Complex, FourBar};
use crate::optimize::least_squares::{Bounds, Options, least_squares};
use crate::sweep::{Sobol, execute};
use fourbar::Diagnostic;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::{PI, TAU};
use std::sync::atomic::AtomicBool;

/// Crank angles at which the points are passed.
#[derive(Clone, Debug, PartialEq)]
pub enum Timing {
    /// At these crank angles, measured from the line of the fixed pins, radians.
    Angles(Vec<f64>),
    /// At these angles after the first point, radians.
    Steps(Vec<f64>),
    /// In order within one turn.
    Free,
}

/// The requested synthesis.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The points, metres.
    pub points: Vec<Complex>,
    /// Crank angles at the points.
    pub timing: Timing,
    /// Position of the fixed pin of the crank; `None`: free.
    pub place: Option<Complex>,
    /// Angle of the line of the fixed pins to the x axis; `None`: free.
    pub tilt: Option<f64>,
    /// Sense of rotation: +1 anticlockwise, -1 clockwise, `None` either. Given angles determine it.
    pub sense: Option<f64>,
    /// Number of starts for each case.
    pub starts: usize,
    /// Seed of the starts.
    pub seed: u64,
    /// Number of threads; zero: one for every core.
    pub threads: usize,
}

/// A linkage that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The linkage.
    pub linkage: FourBar,
    /// Sum of the squares of the distances from the points, square metres.
    pub error: f64,
    /// Largest distance from a point.
    pub worst: f64,
    /// Crank angles at the points, measured from the x axis of the world.
    pub angles: Vec<f64>,
    /// Number of starts that converged to it.
    pub hits: usize,
    /// Number of starts for its case.
    pub starts: usize,
}

/// Linear unknowns of a linkage shape, and residuals of the points.
struct Fit {
    residuals: Vec<f64>,
    place: Complex,
    /// Rotation and size.
    w1: Complex,
    /// The coupler point, rotated with the linkage.
    w2: Complex,
}

/// One case: an assembly mode and a sense of rotation.
struct Case<'a> {
    task: &'a Task,
    mode: f64,
    sense: f64,
}

impl Case<'_> {
    /// Number of outer unknowns: two or three ratios, a phase, and the gaps for free timing.
    fn unknowns(&self) -> usize {
        match &self.task.timing {
            Timing::Angles(_) => 3,
            Timing::Steps(_) => 4,
            Timing::Free => 4 + self.task.points.len(),
        }
    }

    fn bounds(&self) -> Bounds {
        let n = self.unknowns();
        let (mut lower, mut upper) = (vec![-7.0, -7.0, 1e-7], vec![7.0, 7.0, 1.0 - 1e-7]);
        if n > 3 {
            lower.push(-10.0 * TAU);
            upper.push(10.0 * TAU);
        }
        lower.resize(n, -5.0);
        upper.resize(n, 5.0);
        Bounds { lower, upper, scale: vec![1.0; n] }
    }

    /// Crank angles measured from the line of the fixed pins.
    fn angles(&self, x: &[f64]) -> Vec<f64> {
        match &self.task.timing {
            Timing::Angles(a) => a.clone(),
            Timing::Steps(s) => s.iter().map(|a| x[3] + self.sense * a).collect(),
            Timing::Free => {
                // Gaps between points, including that from the last one back to the first, sum to one turn.
                let gaps: Vec<f64> = x[4..].iter().map(|g| g.exp()).collect();
                let whole: f64 = gaps.iter().sum();
                let mut at = x[3];
                gaps.iter()
                    .map(|g| {
                        let now = at;
                        at += self.sense * TAU * g / whole;
                        now
                    })
                    .collect()
            }
        }
    }

    /// Lengths of coupler, rocker and ground for a unit crank.
    fn ratios(x: &[f64]) -> [f64; 3] {
        let (b, c) = (1.0 + x[0].exp(), 1.0 + x[1].exp());
        let least = (b - c).abs() + 1.0;
        [b, c, least + x[2] * (b + c - 1.0 - least)]
    }

    /// The best position, rotation, size and coupler point for a shape.
    fn fit(&self, x: &[f64]) -> Option<Fit> {
        let [b, c, g] = Self::ratios(x);
        let tilt = self.task.tilt.map(Complex::at);
        let points = &self.task.points;
        let base = self.task.place.unwrap_or_default();
        // Columns: position (2, if free), rotation and size (2, or the size alone), coupler point (2).
        let placed = if self.task.place.is_some() { 0 } else { 2 };
        let sized = if tilt.is_some() { 1 } else { 2 };
        let mut M = DMatrix::zeros(2 * points.len(), placed + sized + 2);
        let mut rhs = DVector::zeros(2 * points.len());
        for (k, (p, th)) in points.iter().zip(self.angles(x)).enumerate() {
            let A = Complex::at(th);
            let d = Complex::new(g, 0.0) - A;
            let (d2, length) = (d.square(), d.abs());
            let along = (b * b - c * c + d2) / (2.0 * length);
            // For a crank-rocker the square is positive up to rounding.
            let across = (b * b - along * along).max(0.0).sqrt();
            let u = (Complex::new(along, self.mode * across) * d).scaled(1.0 / (length * b));
            let turn = tilt.unwrap_or(Complex::new(1.0, 0.0));
            let (A, u) = (A * turn, u * turn);
            let mut put = |column: usize, z: Complex| {
                M[(2 * k, column)] = z.re;
                M[(2 * k + 1, column)] = z.im;
            };
            let i = Complex::new(0.0, 1.0);
            if placed > 0 {
                put(0, Complex::new(1.0, 0.0));
                put(1, i);
            }
            put(placed, A);
            if sized > 1 {
                put(placed + 1, i * A);
            }
            put(placed + sized, u);
            put(placed + sized + 1, i * u);
            (rhs[2 * k], rhs[2 * k + 1]) = (p.re - base.re, p.im - base.im);
        }
        let mut y = solve(&M, &rhs)?;
        if tilt.is_some() && y[placed] < 0.0 {
            // A negative size is a crank in the opposite direction: the best admissible size is zero.
            let without = M.clone().remove_column(placed);
            let z = solve(&without, &rhs)?;
            y = DVector::from_iterator(M.ncols(), (0..M.ncols()).map(|k| if k == placed { 0.0 } else { z[k - usize::from(k > placed)] }));
        }
        let left = &M * &y - &rhs;
        let turn = tilt.unwrap_or(Complex::new(1.0, 0.0));
        Some(Fit {
            residuals: left.iter().copied().collect(),
            place: if placed > 0 { Complex::new(y[0], y[1]) } else { base },
            w1: turn * Complex::new(y[placed], if sized > 1 { y[placed + 1] } else { 0.0 }),
            w2: turn * Complex::new(y[placed + sized], y[placed + sized + 1]),
        })
    }

    fn found(&self, x: &[f64]) -> Option<Found> {
        let fit = self.fit(x)?;
        let [b, c, g] = Self::ratios(x);
        let size = fit.w1.abs();
        if !(size > 0.0 && size.is_finite()) {
            return None;
        }
        let linkage = FourBar {
            ground: [fit.place, fit.place + fit.w1.scaled(g)],
            crank: size,
            coupler: b * size,
            rocker: c * size,
            point: fit.w2.over(fit.w1).scaled(size),
            mode: self.mode,
        };
        let angles: Vec<f64> = self.angles(x).iter().map(|a| a + fit.w1.arg()).collect();
        let off = |(p, a): (&Complex, &f64)| linkage.position(*a).map_or(f64::INFINITY, |q| (q.P - *p).abs());
        let distances: Vec<f64> = self.task.points.iter().zip(&angles).map(off).collect();
        let error: f64 = distances.iter().map(|d| d * d).sum();
        let worst = distances.iter().copied().fold(0.0, f64::max);
        error.is_finite().then_some(Found { linkage, error, worst, angles, hits: 1, starts: self.task.starts })
    }
}

fn solve(M: &DMatrix<f64>, rhs: &DVector<f64>) -> Option<DVector<f64>> {
    let qr = M.clone().qr();
    let mut y = qr.q().tr_mul(rhs);
    // Nearly dependent columns give extremely large linkages: reject them.
    let R = qr.r();
    let most = R.diagonal().amax();
    if !(R.diagonal().iter().all(|d| d.abs() > 1e-11 * most) && most.is_finite()) {
        return None;
    }
    R.solve_upper_triangular_mut(&mut y).then_some(y)
}

fn refused(why: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::new("U439", why).help(help)
}

/// Searches for distinct crank-rockers, best first.
pub fn path(task: &Task, stop: &AtomicBool) -> Result<Vec<Found>, Diagnostic> {
    let n = task.points.len();
    let linear = if task.place.is_some() { 0 } else { 2 } + if task.tilt.is_some() { 1 } else { 2 } + 2;
    if n < 3 || 2 * n <= linear {
        return Err(refused(
            format!("a path of {n} {} does not determine a linkage", if n == 1 { "point" } else { "points" }),
            "give at least three points, or more if the position of the linkage is free",
        ));
    }
    if task.points.iter().any(|p| !(p.re.is_finite() && p.im.is_finite())) {
        return Err(refused("a point of the path is not a pair of finite numbers", "give x and y of every point"));
    }
    let given = match &task.timing {
        Timing::Angles(a) | Timing::Steps(a) => Some(a),
        Timing::Free => None,
    };
    if let Some(a) = given
        && (a.len() != n || a.iter().any(|x| !x.is_finite()))
    {
        return Err(refused(format!("there are {} crank angles for {n} points", a.len()), "give one angle for every point"));
    }
    if let Timing::Steps(s) = &task.timing
        && (s.windows(2).any(|w| w[1] <= w[0]) || s[n - 1] - s[0] >= TAU + 1e-9)
    {
        return Err(refused(
            "the crank angles do not grow from point to point within one turn",
            "give the angles turned since the first point",
        ));
    }
    let senses: &[f64] = match (&task.timing, task.sense) {
        (Timing::Angles(_), _) => &[1.0],
        (_, Some(s)) if s < 0.0 => &[-1.0],
        (_, Some(_)) => &[1.0],
        (_, None) => &[1.0, -1.0],
    };
    let cases: Vec<Case<'_>> = senses.iter().flat_map(|&sense| [1.0, -1.0].map(|mode| Case { task, mode, sense })).collect();
    let sobol = Sobol::new(cases[0].unknowns(), task.seed);
    let numbers: Vec<usize> = (0..cases.len() * task.starts).collect();
    let mut found: Vec<(usize, Option<Found>)> = Vec::new();
    let run = |k: usize| {
        let (case, start) = (&cases[k / task.starts], (k % task.starts) as u64);
        let u = |d: usize| sobol.coordinate(start, d);
        let mut x = vec![5.0 * u(0) - 2.5, 5.0 * u(1) - 2.5, 0.02 + 0.96 * u(2)];
        if case.unknowns() > 3 {
            x.push(TAU * u(3) - PI);
        }
        x.extend((4..case.unknowns()).map(|d| 2.0 * u(d) - 1.0));
        let options = Options { evaluations: 4000, ..Options::default() };
        let m = least_squares(&x, &case.bounds(), &options, &mut |x| case.fit(x).map(|f| f.residuals));
        Some(m.and_then(|m| case.found(&m.x)))
    };
    execute(&numbers, task.threads, stop, run, |k, f| {
        found.push((k, f));
        true
    });
    found.sort_by_key(|(k, _)| *k);
    let mut list: Vec<Found> = Vec::new();
    let mut all: Vec<Found> = found.into_iter().filter_map(|(_, f)| f).collect();
    // The sort is stable: of equal ones the first start counts, regardless of the threads.
    all.sort_by(|a, b| a.error.total_cmp(&b.error));
    let size = task.points.iter().map(|p| (*p - task.points[0]).abs()).fold(1e-300, f64::max);
    let same = |a: &Found, b: &Found| {
        let lengths = |l: &FourBar| [l.base(), l.crank, l.coupler, l.rocker];
        let near = |x: f64, y: f64| (x - y).abs() <= 1e-4 * (x.abs() + y.abs());
        (a.error - b.error).abs() <= 1e-6 * a.error + 1e-16 * size * size
            && lengths(&a.linkage).iter().zip(lengths(&b.linkage)).all(|(x, y)| near(*x, y))
            && a.linkage.mode == b.linkage.mode
    };
    for f in all {
        match list.iter().position(|g| same(g, &f)) {
            Some(k) => list[k].hits += 1,
            None if list.len() < 50 => list.push(f),
            None => {}
        }
    }
    if list.is_empty() {
        return Err(Diagnostic::new("S441", "no crank-rocker was found").help("try more `--starts`, or give fewer points"));
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(list: &[[f64; 2]]) -> Vec<Complex> {
        list.iter().map(|[x, y]| Complex::new(*x, *y)).collect()
    }

    fn task(list: &[[f64; 2]], timing: Timing) -> Task {
        Task { points: points(list), timing, place: None, tilt: None, sense: Some(1.0), starts: 60, seed: 1, threads: 1 }
    }

    /// A benchmark of the literature on path generation: 18 points at equal steps of the crank.
    const EIGHTEEN: [[f64; 2]; 18] = [
        [0.5, 1.1],
        [0.4, 1.1],
        [0.3, 1.1],
        [0.2, 1.0],
        [0.1, 0.9],
        [0.05, 0.75],
        [0.02, 0.6],
        [0.0, 0.5],
        [0.0, 0.4],
        [0.03, 0.3],
        [0.1, 0.25],
        [0.15, 0.2],
        [0.2, 0.3],
        [0.3, 0.4],
        [0.4, 0.5],
        [0.5, 0.7],
        [0.6, 0.9],
        [0.6, 1.0],
    ];

    #[test]
    fn eighteen_points_at_equal_steps() {
        let steps = (0..18).map(|k| k as f64 * PI / 9.0).collect();
        let found = path(&task(&EIGHTEEN, Timing::Steps(steps)), &AtomicBool::new(false)).expect("found");
        // Optimum of a published multistart search in ten unknowns by other methods: 0.0090288846310.
        assert!((found[0].error - 0.009_028_884_631).abs() < 1e-11, "{}", found[0].error);
        let l = found.iter().find(|f| f.linkage.mode > 0.0).map(|f| &f.linkage).expect("in both modes");
        for (x, y) in [(l.base(), 1.053943), (l.crank, 0.423875), (l.coupler, 0.914250), (l.rocker, 0.598917)] {
            assert!((x - y).abs() < 2e-5, "{l:?}");
        }
        // The same optimum in the other mode is its cognate.
        let other = found.iter().find(|f| f.linkage.mode < 0.0).expect("in both modes");
        let [cognate, _] = l.cognates().expect("there are two");
        assert!((cognate.crank - other.linkage.crank).abs() < 2e-5 && (other.error - found[0].error).abs() < 1e-9, "{other:?}");
    }

    #[test]
    fn five_points_at_given_angles_with_the_frame_at_the_origin() {
        let five = [[3.0, 3.0], [2.759, 3.363], [2.372, 3.663], [1.89, 3.862], [1.355, 3.943]];
        let angles = (2..7).map(|k| k as f64 * PI / 12.0).collect();
        let t = Task { place: Some(Complex::default()), tilt: Some(0.0), ..task(&five, Timing::Angles(angles)) };
        let found = path(&t, &AtomicBool::new(false)).expect("found");
        let best = found.iter().find(|f| f.linkage.mode > 0.0 && f.linkage.base() < 50.0).expect("in both modes");
        assert!((best.error - 7.415_751e-7).abs() < 1e-11, "{best:?}");
        for (x, y) in [(best.linkage.base(), 3.669728), (best.linkage.crank, 1.997812), (best.linkage.rocker, 2.704886)] {
            assert!((x - y).abs() < 1e-3, "{best:?}");
        }
    }

    #[test]
    fn a_linkage_is_found_from_points_of_its_own_curve() {
        let truth = FourBar {
            ground: [Complex::new(0.1, -0.2), Complex::new(0.28, -0.15)],
            crank: 0.07,
            coupler: 0.19,
            rocker: 0.17,
            point: Complex::new(0.05, 0.11),
            mode: -1.0,
        };
        let at: Vec<f64> = (0..9).map(|k| 0.3 + 0.6 * k as f64).collect();
        let list: Vec<Complex> = at.iter().map(|a| truth.position(*a).expect("turns").P).collect();
        let mut t = task(&[], Timing::Steps(at.iter().map(|a| a - at[0]).collect()));
        t.points.clone_from(&list);
        let found = path(&t, &AtomicBool::new(false)).expect("found");
        assert!(found[0].worst < 1e-8, "{:?}", found[0]);
        // Without the angles there is a linkage through these points too.
        let free = Task { timing: Timing::Free, points: list[..5].to_vec(), starts: 30, ..t };
        let found = path(&free, &AtomicBool::new(false)).expect("found");
        assert!(found[0].worst < 1e-6, "{:?}", found[0]);
        // Results do not depend on the number of threads.
        let again = path(&Task { threads: 3, ..free }, &AtomicBool::new(false)).expect("found");
        assert_eq!(found, again);
    }

    #[test]
    fn tasks_that_make_no_sense_are_refused() {
        let code = |t: Task| path(&t, &AtomicBool::new(false)).err().map(|d| d.code.0);
        assert_eq!(code(task(&EIGHTEEN[..2], Timing::Free)), Some("U439"));
        assert_eq!(code(task(&EIGHTEEN[..5], Timing::Steps(vec![0.0; 5]))), Some("U439"));
        assert_eq!(code(task(&EIGHTEEN[..5], Timing::Angles(vec![0.0; 4]))), Some("U439"));
        assert_eq!(code(task(&[[f64::NAN, 0.0]; 8], Timing::Free)), Some("U439"));
    }
}
