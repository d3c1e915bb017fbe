//! Events and kinks: their location and their effect.

use fourbar_dae::{Direction, Error, Integrator, Options, Piecewise, Problem, Scalar, Stop, diff};
use std::f64::consts::PI;
use std::sync::Arc;

#[test]
fn all_crossings_of_a_step_are_found_and_ordered() {
    // A slow decay whose steps are long, and a fast function of time as event.
    let problem = Problem::record(&["x"], |t, x, e| {
        e.equation("decay", diff(x[0], 1) + x[0] * 0.1);
        e.event("sine", (t * 5.0).sin(), Direction::Any);
        e.event("up", (t * 5.0).sin(), Direction::Rising);
        e.event("down", (t * 5.0).sin(), Direction::Falling);
    })
    .map(Arc::new)
    .unwrap();
    let start = problem.start(0.0).hold("x", 0, 1.0).solve().unwrap();
    let mut run = Integrator::new(&problem, &start, Options::new(1e-12).order(40)).unwrap();
    let mut found: Vec<(usize, f64, i8)> = Vec::new();
    run.run(10.0, |r| found.extend(r.events().iter().map(|e| (e.event, e.t, e.direction)))).unwrap();
    assert!(found.windows(2).all(|w| w[0].1 <= w[1].1 + 1e-12));
    let times = |n: usize| -> Vec<f64> { found.iter().filter(|e| e.0 == n).map(|e| e.1).collect() };
    // Zeros at multiples of pi/5, except the one at the start.
    let expected: Vec<f64> = (1..16).map(|k| k as f64 * PI / 5.0).filter(|t| *t <= 10.0).collect();
    let all = times(0);
    assert_eq!(all.len(), expected.len(), "{all:?}");
    for (a, b) in all.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
    assert_eq!((times(1).len(), times(2).len()), (expected.len() / 2, expected.len().div_ceil(2)));
}

#[test]
fn pendulum_crossings_are_located_to_rounding() {
    let problem = Problem::lagrangian(&["x", "y"], |_, q, v, m| {
        m.lagrangian((v[0].sqr() + v[1].sqr()) * 0.5 + q[1] * 9.81);
        m.constraint("length", q[0].sqr() + q[1].sqr() - 1.0);
        m.event("bottom", q[0], Direction::Any);
    })
    .map(Arc::new)
    .unwrap();
    let start = problem.start(0.0).hold("x", 0, 0.5).guess("y", 0, 1.0).solve().unwrap();
    let mut run = Integrator::new(&problem, &start, Options::new(1e-14)).unwrap();
    let mut times = Vec::new();
    run.run(10.0, |r| times.extend(r.events().iter().map(|e| e.t))).unwrap();
    // Quarter period by the arithmetic-geometric mean: K(sin 15 deg) sqrt(l/g).
    let (mut a, mut b) = (1.0f64, (PI / 12.0).cos());
    for _ in 0..8 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let quarter = PI / (2.0 * a) / 9.81f64.sqrt();
    assert_eq!(times.len(), (10.0 / quarter).floor() as usize / 2 + (10.0 / quarter).floor() as usize % 2);
    for (n, t) in times.iter().enumerate() {
        let exact = (2 * n + 1) as f64 * quarter;
        assert!((t - exact).abs() < 1e-12, "{t} {exact}");
    }
}

#[test]
fn terminal_events_stop_and_integration_goes_on_from_there() {
    let problem = Problem::record(&["height"], |_, x, e| {
        e.equation("fall", diff(x[0], 2) + 9.81);
        e.terminal("ground", x[0], Direction::Falling);
    })
    .map(Arc::new)
    .unwrap();
    let mut state = problem.start(0.0).hold("height", 0, 1.0).hold("height", 1, 0.0).solve().unwrap();
    let (mut t, restitution) = (0.0, 0.5f64);
    let mut exact = (2.0f64 / 9.81).sqrt();
    let mut flight = 2.0 * exact * restitution;
    for bounce in 0..6 {
        let mut run = Integrator::new(&problem, &state, Options::new(1e-13)).unwrap();
        let Stop::Event(event) = run.run_to(t + 10.0).unwrap() else { panic!("no ground") };
        assert!((event.t - exact).abs() < 1e-13, "bounce {bounce}: {} {exact}", event.t);
        assert_eq!((run.t(), event.direction), (event.t, -1));
        state = run.state();
        let speed = state.get(0, 1).unwrap();
        state.set(0, 0, 0.0);
        state.set(0, 1, -restitution * speed);
        t = event.t;
        exact += flight;
        flight *= restitution;
    }
}

#[test]
fn absolute_values_restart_at_their_kink() {
    // x'' = -sign(x): parabolas, period 4 sqrt(2 x0).
    let problem = Problem::record(&["x"], |_, x, e| {
        let sign = x[0].select(S1(1.0).node(), S1(-1.0).node());
        e.equation("motion", diff(x[0], 2) + sign);
        e.output("energy", diff(x[0], 1).sqr() * 0.5 + x[0].abs());
    })
    .map(Arc::new)
    .unwrap();
    let start = problem.start(0.0).hold("x", 0, 0.5).hold("x", 1, 0.0).solve().unwrap();
    let mut run = Integrator::new(&problem, &start, Options::new(1e-12)).unwrap();
    let mut worst = 0.0f64;
    run.run(12.0, |r| worst = worst.max((r.value("energy", 0).unwrap() - 0.5).abs())).unwrap();
    // Three periods of 4.
    assert!((run.value("x", 0).unwrap() - 0.5).abs() < 1e-12, "{}", run.value("x", 0).unwrap());
    assert!(worst < 1e-12);
    assert_eq!(run.work().kinks, 6);
}

/// A constant of any scalar type.
struct S1(f64);
impl S1 {
    fn node<S: Scalar>(self) -> S {
        S::of(self.0)
    }
}

#[test]
fn a_table_is_followed_piece_by_piece() {
    // x' = 1, y' = table(x): the integral of a piecewise linear function.
    let (knots, values) = ([0.0, 1.0, 2.0, 3.5, 5.0], [0.0, 1.0, -1.0, 2.0, 0.0]);
    let table = Piecewise::linear(&knots, &values).unwrap();
    let problem = Problem::record(&["x", "y"], |_, x, e| {
        e.equation("clock", diff(x[0], 1) - 1.0);
        e.equation("integral", diff(x[1], 1) - x[0].piecewise(&table));
    })
    .map(Arc::new)
    .unwrap();
    let start = problem.start(0.0).hold("x", 0, 0.0).hold("y", 0, 0.0).solve().unwrap();
    let mut run = Integrator::new(&problem, &start, Options::new(1e-12)).unwrap();
    run.run_to(5.0).unwrap();
    let exact: f64 = (0..4).map(|k| 0.5 * (values[k] + values[k + 1]) * (knots[k + 1] - knots[k])).sum();
    assert!((run.value("y", 0).unwrap() - exact).abs() < 1e-13);
    assert_eq!(run.work().kinks, 3);
    run.run_to(0.0).unwrap();
    assert!(run.value("y", 0).unwrap().abs() < 1e-13, "back through the same pieces");
    // Reversal of direction at a breakpoint.
    for turn in [2.0, 3.5, 1.0] {
        run.run_to(turn).unwrap();
        run.run_to(0.0).unwrap();
        assert!(run.value("y", 0).unwrap().abs() < 1e-13, "turned at {turn}: {}", run.value("y", 0).unwrap());
    }
}

#[test]
fn minimum_and_maximum_choose_the_right_side() {
    // x' = min(t, 2 - t) on [0, 2], then max(., -1).
    let problem = Problem::record(&["x"], |t, x, e| {
        e.equation("motion", diff(x[0], 1) - t.min(-t + 2.0).max(t * 0.0 - 1.0));
    })
    .map(Arc::new)
    .unwrap();
    let start = problem.start(0.0).hold("x", 0, 0.0).solve().unwrap();
    let mut run = Integrator::new(&problem, &start, Options::new(1e-12)).unwrap();
    run.run_to(5.0).unwrap();
    // Integral: 1/2 + 1/2 - 1/2 (from 2 to 3) - 2 (from 3 to 5).
    assert!((run.value("x", 0).unwrap() + 1.5).abs() < 1e-13, "{}", run.value("x", 0).unwrap());
    assert_eq!(run.work().kinks, 2);
}

#[test]
fn sliding_is_reported_not_chattered_through() {
    let problem = Problem::record(&["x"], |_, x, e| {
        e.equation("friction", diff(x[0], 1) + x[0].select(S1(1.0).node(), S1(-1.0).node()));
    })
    .map(Arc::new)
    .unwrap();
    let start = problem.start(0.0).hold("x", 0, 1.0).solve().unwrap();
    let error = Integrator::new(&problem, &start, Options::default()).unwrap().run_to(3.0).unwrap_err();
    let Error::Sliding { t, kink } = &error else { panic!("{error}") };
    assert!((t - 1.0).abs() < 1e-12 && kink == "switch in friction", "{error}");
}

#[test]
fn an_integration_goes_on_beyond_its_terminal_events() {
    let problem = Problem::record(&["x"], |_, x, e| {
        e.equation("oscillator", diff(x[0], 2) + x[0]);
        e.terminal("zero", x[0], Direction::Any);
    })
    .map(Arc::new)
    .unwrap();
    // Starts on the event: that zero does not count.
    let start = problem.start(0.0).hold("x", 0, 0.0).hold("x", 1, 1.0).solve().unwrap();
    let mut run = Integrator::new(&problem, &start, Options::new(1e-13)).unwrap();
    for n in 1..8 {
        let Stop::Event(event) = run.run_to(1e3).unwrap() else { panic!("no event") };
        assert!((event.t - n as f64 * PI).abs() < 1e-11, "{n}: {}", event.t);
    }
}

#[test]
fn a_branch_may_be_undefined_while_it_is_not_taken() {
    // Both roots are imaginary in part of the other side.
    let problem = Problem::record(&["x", "area"], |_, x, e| {
        e.equation("clock", diff(x[0], 1) + 1.0);
        e.equation("area", diff(x[1], 1) - x[0].select((x[0] + 0.5).sqrt(), (-x[0] + 0.5).sqrt()));
    })
    .map(Arc::new)
    .unwrap();
    let start = problem.start(0.0).hold("x", 0, 2.0).hold("area", 0, 0.0).solve().unwrap();
    let mut run = Integrator::new(&problem, &start, Options::new(1e-13)).unwrap();
    run.run_to(4.0).unwrap();
    let exact = 2.0 * (2.0 / 3.0) * (2.5f64.powf(1.5) - 0.5f64.powf(1.5));
    assert!((run.value("area", 0).unwrap() - exact).abs() < 1e-12);
    assert_eq!(run.work().kinks, 1);
}

#[test]
fn one_sided_springs_and_tables_work_inside_a_lagrangian() {
    // A mass thrown onto a spring that acts in compression only, below a table of weights that depends on height.
    let table = Piecewise::cubic(&[-5.0, 0.0, 1.0, 2.0, 6.0], &[-45.0, 0.0, 9.0, 20.0, 60.0]).unwrap();
    let problem = Problem::lagrangian(&["height"], |_, q, v, m| {
        let kinetic = v[0].sqr() * 0.5;
        let potential = (-q[0]).max(q[0] * 0.0).sqr() * 500.0 + q[0].piecewise(&table);
        m.lagrangian(kinetic - potential);
        m.output("energy", kinetic + potential);
    })
    .map(Arc::new)
    .unwrap();
    let start = problem.start(0.0).hold("height", 0, 1.5).hold("height", 1, 0.0).solve().unwrap();
    let mut run = Integrator::new(&problem, &start, Options::new(1e-13)).unwrap();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut deepest = f64::INFINITY;
    run.run(10.0, |r| {
        let energy = r.value("energy", 0).unwrap();
        (low, high) = (low.min(energy), high.max(energy));
        deepest = deepest.min(r.value("height", 0).unwrap());
    })
    .unwrap();
    assert!(deepest < -0.05 && run.work().kinks > 20, "{deepest} {:?}", run.work());
    assert!(high - low < 1e-10, "{low} {high}");
}

/// A mass at rest on a breakpoint of its spring: the direction of motion selects the piece, not the rounding of its speed.
#[test]
fn a_start_at_rest_on_a_breakpoint_takes_the_piece_ahead() {
    // The second derivative of x is the table: a push, and x^3 more above zero.
    for (push, place) in [(2.0, 0.0), (-2.0, 0.0), (2.0, 1e-17), (2.0, -1e-17), (-2.0, 1e-17)] {
        // The outer pieces are never reached.
        let pieces = [[-9.0, 0.0, 0.0, 0.0], [push, 0.0, 0.0, 0.0], [push, 0.0, 0.0, 1.0], [9.0, 0.0, 0.0, 0.0]];
        let table = Piecewise::from_pieces(&[-2.0, -1.0, 0.0, 1.0, 2.0], &pieces, None).unwrap();
        let problem = Problem::record(&["x"], |_, x, e| e.equation("acceleration", diff(x[0], 2) - x[0].piecewise(&table)));
        let problem = problem.map(Arc::new).unwrap();
        let start = problem.start(0.0).hold("x", 0, place).hold("x", 1, 0.0).solve().unwrap();
        let mut run = Integrator::new(&problem, &start, Options::new(1e-12)).unwrap();
        run.run_to(0.5).unwrap();
        let t: f64 = 0.5;
        let x = run.value("x", 0).unwrap();
        // Below zero the push is constant; above, x'' = 2 + x^3 = 2 + t^6 + ..., so x = t^2 + t^8/56 and terms of t^14.
        let expected = if push < 0.0 { -t * t } else { t * t + t.powi(8) / 56.0 + 3.0 * t.powi(14) / (56.0 * 14.0 * 13.0) };
        assert!((x - expected).abs() < 1e-8, "push {push} from {place}: {x} {expected}");
    }
}
