//! Integrations that are saved and resumed, and integrals in addition to a motion.

use fourbar_dae::{Error, Integrator, Mechanics, Options, Problem, Scalar};
use std::sync::Arc;

/// A pendulum whose damper works in one direction only: every swing has a kink.
fn damped<S: Scalar>(q: &[S], v: &[S], m: &mut Mechanics<S>) {
    m.lagrangian((v[0].sqr() + v[1].sqr()) * 0.5 + q[1] * 9.81);
    m.constraint("length", q[0].sqr() + q[1].sqr() - 100.0);
    let rate = q[1] * v[0] - q[0] * v[1];
    m.load(rate, rate.select(rate * -1e-4, S::of(0.0)));
}

#[test]
fn a_saved_integration_continues_to_the_bit() -> Result<(), Error> {
    let problem = Arc::new(Problem::lagrangian(&["x", "y"], |_, q, v, m| damped(q, v, m))?);
    let start = problem.start(0.0).hold("x", 0, 6.0).guess("y", 0, 7.0).solve()?;
    let fresh = || Integrator::new(&problem, &start, Options::new(1e-12));
    let mut whole = fresh()?;
    while whole.t() < 20.0 {
        let saved = whole.save();
        let mut other = fresh()?;
        other.restore(&saved)?;
        whole.step(20.0)?;
        other.step(20.0)?;
        assert_eq!(whole.t(), other.t());
        for j in 0..2 {
            for p in 0..3 {
                assert_eq!(whole.at(whole.t(), j, p)?, other.at(other.t(), j, p)?, "variable {j}, derivative {p} at {}", whole.t());
            }
        }
    }
    assert!(whole.work().kinks >= 4);
    // Dense output of the last step is restored.
    let mut other = fresh()?;
    other.restore(&whole.save())?;
    let (from, to) = whole.interval();
    let middle = 0.5 * (from + to);
    assert_eq!(whole.at(middle, 0, 0)?, other.at(middle, 0, 0)?);
    Ok(())
}

#[test]
fn what_was_not_saved_here_is_refused() -> Result<(), Error> {
    let problem = Arc::new(Problem::lagrangian(&["x", "y"], |_, q, v, m| damped(q, v, m))?);
    let start = problem.start(0.0).hold("x", 0, 6.0).guess("y", 0, 7.0).solve()?;
    let mut run = Integrator::new(&problem, &start, Options::new(1e-12))?;
    run.step(1.0)?;
    let saved = run.save();
    for bad in [&saved[..saved.len() - 1], &saved[1..], &[]] {
        assert!(matches!(run.restore(bad), Err(Error::BadOption { option: "saved", .. })));
    }
    Ok(())
}

/// A crank whose speed is prescribed: its angle is the integral of the speed, and no constraint force acts on the integral.
#[test]
fn a_prescribed_speed_drives_a_crank() -> Result<(), Error> {
    let speed = |t: f64| 2.0 + (3.0 * t).cos();
    let problem = Arc::new(Problem::lagrangian_with(&["x", "y"], &["angle"], |t, q, v, s, m| {
        m.lagrangian((v[0].sqr() + v[1].sqr()) * 0.5);
        m.constraint("length", q[0].sqr() + q[1].sqr() - 1.0);
        m.constraint("drive", q[1] * s[0].cos() - q[0] * s[0].sin());
        m.rate_of(0, (t * 3.0).cos() + 2.0);
    })?);
    let mut state = problem.zero_state(0.0);
    state.set(0, 0, 1.0);
    state.set(1, 1, speed(0.0));
    state.set(2, 1, speed(0.0));
    let mut run = Integrator::new(&problem, &state, Options::new(1e-13))?;
    run.run_to(5.0)?;
    let angle: f64 = 10.0 + (15.0f64).sin() / 3.0;
    // A hundred times the local tolerance over the span.
    assert!((run.at(5.0, 2, 0)? - angle).abs() < 1e-11);
    assert!((run.at(5.0, 0, 0)? - angle.cos()).abs() < 1e-11 && (run.at(5.0, 1, 0)? - angle.sin()).abs() < 1e-11);
    Ok(())
}
