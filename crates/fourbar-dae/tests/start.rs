//! Consistent initial values: held ones are unchanged, free ones move least, inconsistent ones are reported by name.

use crate::problems;

use fourbar_dae::{Error, Integrator, Options, Problem, Scalar};
use problems::*;
use std::sync::Arc;

fn pendulum_problem() -> Arc<Problem> {
    Arc::new(Problem::record(&["u", "v", "lambda"], pendulum).unwrap())
}

#[test]
fn held_values_stay_and_the_others_follow() {
    let p = pendulum_problem();
    let s = p.start(0.0).hold("u", 0, 6.0).guess("v", 0, 5.0).hold("v", 1, 3.0).solve().unwrap();
    let value = |n, k| s.value(&p, n, k).unwrap();
    assert_eq!((value("u", 0), value("v", 1)), (6.0, 3.0));
    assert!((value("v", 0) - 8.0).abs() < 1e-14);
    assert!((value("u", 1) + 4.0).abs() < 1e-13);
    // The leading derivatives and the multiplier are computed too.
    assert!((value("lambda", 0) - (9.81 * 8.0 + 25.0) / 100.0).abs() < 1e-13);
}

#[test]
fn the_nearest_point_is_found() {
    let p = pendulum_problem();
    // From (9, 12) the nearest point of the circle is (6, 8); the nearest tangent velocity to (1, 7) is (4, -3) a.
    let s = p.start(0.0).guess("u", 0, 9.0).guess("v", 0, 12.0).guess("u", 1, 1.0).guess("v", 1, 7.0).solve().unwrap();
    let value = |n, k| s.value(&p, n, k).unwrap();
    assert!((value("u", 0) - 6.0).abs() < 1e-9 && (value("v", 0) - 8.0).abs() < 1e-9);
    let a = (4.0 - 21.0) / 25.0;
    assert!((value("u", 1) - 4.0 * a).abs() < 1e-9 && (value("v", 1) + 3.0 * a).abs() < 1e-9);
    // Far away and lopsided: the direction of the guess is kept.
    let s = p.start(0.0).guess("u", 0, -3e3).guess("v", 0, 4e3).solve().unwrap();
    assert!((s.value(&p, "u", 0).unwrap() + 6.0).abs() < 1e-6);
}

#[test]
fn held_velocities_may_move_positions() {
    let p = pendulum_problem();
    // Velocity (1, 1) is possible only where u = -v.
    let s = p.start(0.0).guess("u", 0, 6.0).guess("v", 0, 8.0).hold("u", 1, 1.0).hold("v", 1, 1.0).solve().unwrap();
    let (u, v) = (s.value(&p, "u", 0).unwrap(), s.value(&p, "v", 0).unwrap());
    assert!((u + v).abs() < 1e-9 && (u * u + v * v - 100.0).abs() < 1e-9, "{u} {v}");
}

#[test]
fn what_cannot_be_satisfied_is_named() {
    let p = pendulum_problem();
    let error = p.start(0.0).hold("u", 0, 11.0).guess("v", 0, 1.0).solve().unwrap_err();
    let Error::Inconsistent { resisting, .. } = &error else { panic!("{error}") };
    assert_eq!(resisting[0].0, "length");
    assert!((resisting[0].2 - 21.0).abs() < 1e-3, "best is v = 0: {resisting:?}");
    assert!(error.to_string().contains("`length`"));
    let error = p.start(0.0).hold("w", 0, 1.0).solve().unwrap_err();
    assert_eq!(error, Error::UnknownName("w".into()));
}

struct Random(u64);
impl Random {
    /// Uniform between -1 and 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[test]
fn andrews_mechanism_is_assembled_from_far_guesses() {
    let (p, exact) = andrews_points_problem(false);
    let mut random = Random(5);
    // Disturbance in units of the mechanism's size, 0.05 m; successes of 60.
    let mut successes = Vec::new();
    for part in [0.1, 0.5, 2.0] {
        let mut n = 0;
        for _ in 0..60 {
            let mut start = p.start(0.0);
            for (j, name) in p.variables()[..8].iter().enumerate() {
                start = start.guess(name, 0, exact.get(j, 0).unwrap() + 0.05 * part * random.next());
            }
            if let Ok(s) = start.solve() {
                let (x, y) = (s.get(0, 0).unwrap(), s.get(1, 0).unwrap());
                assert!((x.hypot(y) - 0.007).abs() < 1e-12);
                n += 1;
            }
        }
        successes.push(n);
    }
    println!("successes of 60: {successes:?}");
    // Guesses of random points within twice the size need not be assemblable by any local method; most are.
    assert!(successes[0] == 60 && successes[1] >= 58 && successes[2] >= 54, "{successes:?}");
}

#[test]
fn a_chain_of_thousands_is_made_consistent() {
    let n = 1000;
    let p = Arc::new(chain(n).unwrap());
    let mut guess = chain_start(&p, n);
    let mut random = Random(9);
    for j in 0..2 * n {
        guess.set(j, 0, guess.get(j, 0).unwrap() + 0.05 * random.next());
        guess.set(j, 1, random.next());
    }
    let s = p.start(0.0).from_state(&guess).solve().unwrap();
    for i in 1..n {
        let at = |j: usize, k: usize| s.get(j, k).unwrap();
        let (dx, dy) = (at(2 * i, 0) - at(2 * i - 2, 0), at(2 * i + 1, 0) - at(2 * i - 1, 0));
        let (vx, vy) = (at(2 * i, 1) - at(2 * i - 2, 1), at(2 * i + 1, 1) - at(2 * i - 1, 1));
        assert!((dx.hypot(dy) - 1.0).abs() < 1e-10);
        assert!((dx * vx + dy * vy).abs() < 1e-10);
    }
}

#[test]
fn kinks_are_on_the_right_side_of_a_start() {
    let p = Problem::record(&["x", "y"], |_, x, e| {
        e.equation("clock", x[0].diff(1) - 1.0);
        e.equation("roof", x[1] - x[0].abs());
    })
    .map(Arc::new)
    .unwrap();
    for (x, y) in [(2.0, 2.0), (-3.0, 3.0)] {
        let s = p.start(0.0).hold("x", 0, x).solve().unwrap();
        assert_eq!(s.value(&p, "y", 0).unwrap(), y);
    }
}

#[test]
fn an_inconsistent_state_is_not_accepted_in_silence() {
    let p = pendulum_problem();
    let mut state = p.zero_state(0.0);
    for (j, k, x) in [(0, 0, 6.0), (1, 0, 7.0)] {
        state.set(j, k, x);
    }
    let error = Integrator::new(&p, &state, Options::default()).unwrap().run_to(1.0).unwrap_err();
    assert!(matches!(&error, Error::NotConsistent { order: 0, .. }), "{error}");
    assert!(error.to_string().contains("`v`") || error.to_string().contains("`u`"), "{error}");
    // A velocity off the tangent is inconsistent too; rounding of a printed value is not.
    state.set(1, 0, 8.0);
    state.set(0, 1, 5.0);
    let error = Integrator::new(&p, &state, Options::default()).unwrap().run_to(1.0).unwrap_err();
    assert!(matches!(&error, Error::NotConsistent { order: 1, .. }), "{error}");
    state.set(0, 1, 0.0);
    state.set(1, 0, 8.0001);
    let mut run = Integrator::new(&p, &state, Options::default()).unwrap();
    run.step(1.0).unwrap();
    assert!(run.correction() > 1e-7 && run.correction() < 1e-4, "{}", run.correction());
}
