//! Derivatives along a motion: compared with motions with other numbers, for every function and for equations of index 3.

use fourbar_dae::{Equations, Integrator, Options, Problem, Scalar, State, Tangents, diff};
use std::sync::Arc;

/// Weights of the central difference of the sixth order, for steps of 1, 2 and 3.
const WEIGHTS: [f64; 3] = [45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0];

/// The derivative at zero.
fn slope(h: f64, f: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let mut sum: Vec<f64> = Vec::new();
    for (k, w) in WEIGHTS.iter().enumerate() {
        let at = (k + 1) as f64 * h;
        let (more, less) = (f(at), f(-at));
        sum.resize(more.len(), 0.0);
        sum.iter_mut().zip(more.iter().zip(less)).for_each(|(s, (a, b))| *s += w * (a - b) / h);
    }
    sum
}

/// A problem and its start as a function of parameters.
type Family<'a> = dyn Fn(&[f64]) -> (Problem, State) + 'a;

/// Values and rates at the end.
fn end(problem: Problem, state: &State, t: f64) -> Vec<f64> {
    let mut run = Integrator::new(&Arc::new(problem), state, Options::new(1e-15)).expect("a start");
    run.run_to(t).expect("an end");
    let s = run.state();
    (0..run.problem().variables().len()).flat_map(|j| [s.get(j, 0), s.get(j, 1)]).flatten().collect()
}

/// The largest difference between the derivatives with respect to all parameters and differences of whole motions.
fn compared<const N: usize>(family: &Family<'_>, p: &[f64], t: f64) -> f64 {
    let moved = |k: usize, h: f64| {
        let mut p = p.to_vec();
        p[k] += h;
        family(&p)
    };
    let (problem, state) = family(p);
    assert!((0..p.len()).all(|k| problem.is_like(&moved(k, 1e-3).0)));
    let changes: Vec<Vec<f64>> = (0..p.len()).map(|k| slope(1e-3, |h| moved(k, h).0.constants())).collect();
    let prepared = Arc::new(problem.with_constants(&problem.constants()));
    let mut run = Integrator::new(&prepared, &state, Options::new(1e-14)).expect("a start");
    let mut tangents = Tangents::<N>::new(&run, &changes).expect("smooth equations");
    let count = prepared.variables().len();
    for k in 0..p.len() {
        let starts = slope(1e-3, |h| {
            let s = moved(k, h).1;
            (0..count).flat_map(|j| [s.get(j, 0).unwrap_or(0.0), s.get(j, 1).unwrap_or(0.0)]).collect()
        });
        for j in 0..count {
            tangents.set(&run, j, false, k, starts[2 * j]);
            tangents.set(&run, j, true, k, starts[2 * j + 1]);
        }
    }
    while run.t() < t {
        run.step(t).expect("a step");
        tangents.follow(&run);
    }
    let mut worst = 0.0f64;
    for k in 0..p.len() {
        let by_motions = slope(1e-3, |h| {
            let (problem, state) = moved(k, h);
            end(problem, &state, t)
        });
        let mut next = by_motions.iter();
        for j in 0..count {
            let found = tangents.at(&run, j, t);
            let stored = run.state().stored(j).min(2);
            for (value, exact) in found.iter().zip(next.by_ref().take(stored)) {
                worst = worst.max((value[k] - exact).abs() / (1.0 + exact.abs()));
            }
        }
    }
    worst
}

/// Every function of one variable and both of two, in an ordinary differential equation.
#[test]
fn every_function_is_differentiated() {
    type Function = fn(fourbar_dae::Node, fourbar_dae::Node) -> fourbar_dae::Node;
    let all: [(&str, Function); 14] = [
        ("product", |x, y| x * y),
        ("square", |x, y| x * x - y),
        ("quotient", |x, y| x / (y * y + 1.5)),
        ("root", |x, y| (x * x + y * 0.3 + 2.0).sqrt()),
        ("power", |x, y| (x * x + y * y + 0.7).powf(-1.5)),
        ("exponential", |x, y| (x * 0.3 - y).exp()),
        ("logarithm", |x, y| (x * x + y + 3.0).ln()),
        ("sine", |x, y| (x + y * 2.0).sin()),
        ("cosine", |x, y| (x * y).cos() * (x * y).sin()),
        ("hyperbolic", |x, y| (x * 0.4).sinh() - (y * 0.4).cosh()),
        ("tangent", |x, y| (x - y).tanh() * (x - y)),
        ("angle", |x, y| (x * 2.0 - y).atan()),
        ("direction", |x, y| (y + 2.0).atan2(x + 1.0)),
        ("quotient of itself", |x, y| y / (x + 3.0) - (x + 3.0) / (y * y + 2.0)),
    ];
    for (name, f) in all {
        let family = |p: &[f64]| {
            let problem = Problem::record(&["x", "y"], |t, x, eq: &mut Equations<_>| {
                eq.equation("first", diff(x[0], 1) - x[1] * p[0] + x[0] * p[1] - t.sin() * p[0]);
                eq.equation("second", diff(x[1], 1) + x[0] * p[2] + f(x[0] * p[1], x[1] - p[0]) * p[2]);
            });
            let problem = problem.unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut state = problem.zero_state(0.0);
            assert!(state.set(0, 0, 0.4) && state.set(1, 0, p[0] - 0.5));
            (problem, state)
        };
        let worst = compared::<4>(&family, &[0.83, 0.37, 0.61], 0.7);
        assert!(worst < 1e-11, "{name}: {worst:e}");
    }
}

/// A double pendulum in coordinates of its masses: index 3, with lengths, masses, gravity and a consistent start as functions of
/// parameters.
#[test]
fn constraints_are_differentiated_with_the_motion() {
    let family = |p: &[f64]| {
        let &[l1, l2, m1, m2, g] = p else { panic!("five parameters") };
        let problem = Problem::lagrangian(&["x1", "y1", "x2", "y2"], |_, q, v, m| {
            m.lagrangian((v[0].sqr() + v[1].sqr()) * (0.5 * m1) + (v[2].sqr() + v[3].sqr()) * (0.5 * m2));
            m.lagrangian(q[1] * (g * m1) + q[3] * (g * m2));
            m.constraint("first", q[0].sqr() + q[1].sqr() - l1 * l1);
            let (dx, dy) = (q[2] - q[0], q[3] - q[1]);
            m.constraint("second", dx.sqr() + dy.sqr() - l2 * l2);
        });
        let problem = problem.unwrap_or_else(|e| panic!("{e}"));
        let mut state = problem.zero_state(0.0);
        let (x, y) = (l1 * 0.8, l1 * 0.6);
        let set = [x, y, x + l2, y].into_iter().enumerate().all(|(j, x)| state.set(j, 0, x));
        assert!(set);
        (problem, state)
    };
    let worst = compared::<8>(&family, &[1.1, 0.7, 1.3, 0.6, 9.81], 1.5);
    assert!(worst < 1e-9, "{worst:e}");
}

/// Branches are not differentiated.
#[test]
fn branches_are_refused() {
    let problem = Problem::record(&["x"], |_, x, eq: &mut Equations<_>| {
        eq.equation("rate", diff(x[0], 1) + x[0].abs() * 0.5);
    });
    let problem = Arc::new(problem.expect("a problem"));
    let run = Integrator::new(&problem, &problem.zero_state(0.0), Options::default()).expect("a start");
    assert!(Tangents::<1>::new(&run, &[problem.constants()]).is_none());
}

/// Numbers that are zero, or recorded and not used, leave the order of the others unchanged.
#[test]
fn equations_are_alike_wherever_their_constants_were_recorded() {
    let recorded = |early: bool| {
        let problem = Problem::record(&["x", "y"], |t, x, eq: &mut Equations<_>| {
            let half = fourbar_dae::Node::of(0.5);
            if early {
                let _unused = half / (x[0] + t);
            }
            let first = x[1].sqr() + 3.0;
            eq.equation("first", diff(x[0], 1) - half / first.sqrt());
            eq.equation("second", diff(x[1], 1) + fourbar_dae::Node::of(0.7) / first + half / (x[0].sqr() + 1.0));
        });
        problem.expect("equations")
    };
    let [early, late] = [true, false].map(recorded);
    assert!(early.is_like(&late));
    assert_eq!(early.constants(), late.constants());
}
