//! Orders of the methods and of their interpolants on a system with a known solution, step control, repeated steps.

use super::track::{Interpolates, Track};
use super::*;
use crate::motion::{Instant, Outcome};
use crate::settings::Study;

/// `y' = y cos t`, `y = exp(sin t)`, and a second component that integrates the first; optionally nudged after each step.
struct Known {
    nudge: f64,
    fail_beyond: f64,
}

impl System for Known {
    fn stored(&self) -> usize {
        2
    }
    fn size(&self) -> usize {
        2
    }
    fn start(&self, y: &mut [f64]) {
        y.copy_from_slice(&[1.0, 0.0]);
    }
    fn moved(&self, from: &[f64], d: &[f64], to: &mut [f64]) {
        for k in 0..2 {
            to[k] = from[k] + d[k];
        }
    }
    fn derivative(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Box<Diagnostic>> {
        if t > self.fail_beyond {
            return Err(Box::new(Diagnostic::new("S231", "beyond")));
        }
        f.copy_from_slice(&[y[0] * t.cos(), y[0] * t.cos()]);
        Ok(())
    }
    fn error(&self, _: &[f64], d: &[f64]) -> f64 {
        d[0].abs()
    }
    fn accept(&mut self, _: f64, y: &mut [f64]) -> Result<bool, Box<Diagnostic>> {
        y[0] += self.nudge;
        Ok(self.nudge != 0.0)
    }
    fn instant(&mut self, t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>> {
        (out.t, out.work) = (t, y[0]);
        Ok(())
    }
    fn report(&mut self, _: &mut Outcome) {}
}

fn explicit<S: System>(system: S, sizes: (f64, f64), study: &Study, name: &'static str, t: f64) -> Result<Explicit<S>, Diagnostic> {
    Explicit::on(Track::with_sizes(system, sizes, study, name, t)?, method::Method::listed(name)?)
}

const PLAIN: Known = Known { nudge: 0.0, fail_beyond: f64::INFINITY };

fn study(step: Option<f64>, tol: Option<f64>) -> Study {
    Study {
        analysis: None,
        formulation: None,
        integrator: None,
        t_end: 2.0,
        output_step: 2.0,
        step,
        tol,
        options: Vec::new(),
        inputs: Vec::new(),
        mode: None,
    }
}

fn instant() -> Instant {
    Instant {
        t: 0.0,
        q: Vec::new(),
        v: Vec::new(),
        a: Vec::new(),
        turns: Vec::new(),
        z: Vec::new(),
        reactions: Vec::new(),
        efforts: Vec::new(),
        constraints: Vec::new(),
        contacts: Vec::new(),
        work: 0.0,
        errors: [0.0; 3],
        loaded: true,
        switched: None,
    }
}

fn exact(t: f64) -> f64 {
    t.sin().exp()
}

#[test]
fn fixed_steps_converge_with_the_order_of_the_method() {
    for tableau in TABLEAUS {
        let error = |h: f64| {
            let mut run = explicit(PLAIN, (1.0, f64::INFINITY), &study(Some(h), None), tableau.name, 0.0).unwrap();
            run.advance(2.0, &mut |_| true).unwrap();
            let last = run.now().1;
            // The second component is a plain quadrature, which has the same order.
            ((last[0] - exact(2.0)).abs(), (last[1] - (exact(2.0) - 1.0)).abs())
        };
        let h = if tableau.order == 8 { 0.2 } else { 0.05 };
        let (coarse, fine) = (error(h), error(0.5 * h));
        for (c, f) in [(coarse.0, fine.0), (coarse.1, fine.1)] {
            let order = (c / f).log2();
            // A higher order by chance in this example is acceptable; a lower one is not.
            assert!(order > tableau.order as f64 - 0.3 && order < tableau.order as f64 + 1.3, "{}: {order}", tableau.name);
        }
    }
}

#[test]
fn interpolants_converge_with_their_order() {
    // Local order of the error inside one step: cubic 4, dopri5 5, dop853 8.
    for (name, order) in [("rk4", 4.0), ("heun", 3.0), ("rkf45", 4.0), ("dopri5", 5.0), ("dop853", 8.0)] {
        let error = |h: f64| {
            let mut s = study(Some(h), None);
            s.output_step = h;
            let mut run = explicit(PLAIN, (1.0, f64::INFINITY), &s, name, 0.0).unwrap();
            run.advance(h, &mut |_| true).unwrap();
            let mut out = instant();
            [0.15, 0.4, 0.7, 0.9].map(|x| {
                run.instant(x * h, &mut out).unwrap();
                (out.work - exact(x * h)).abs()
            })
        };
        let h = if name == "dop853" { 0.4 } else { 0.1 };
        let worst = |e: [f64; 4]| e.into_iter().fold(0.0, f64::max);
        let measured = (worst(error(h)) / worst(error(0.5 * h))).log2();
        assert!(measured > order - 0.4, "{name}: {measured}");
    }
}

#[test]
fn tolerances_are_kept_and_pay_off() {
    for name in ["heun", "rkf45", "dopri5", "dop853"] {
        let run = |tol: f64| {
            let mut run = explicit(PLAIN, (1.0, f64::INFINITY), &study(None, Some(tol)), name, 0.0).unwrap();
            run.advance(2.0, &mut |_| true).unwrap();
            ((run.now().1[0] - exact(2.0)).abs(), run.track().steps, run.track().evaluations)
        };
        let (loose, tight) = (run(1e-5), run(1e-8));
        // Local errors add up over a handful of steps and are amplified by at most e.
        assert!(loose.0 < 1e-3 && tight.0 < 1e-6, "{name}: {loose:?} {tight:?}");
        assert!(tight.0 < loose.0 && tight.1 > loose.1, "{name}: {loose:?} {tight:?}");
    }
}

#[test]
fn a_corrected_state_is_evaluated_anew_and_an_uncorrected_one_is_not() {
    let count = |nudge: f64| {
        let system = Known { nudge, ..PLAIN };
        let mut run = explicit(system, (1.0, f64::INFINITY), &study(Some(0.1), None), "dopri5", 0.0).unwrap();
        run.advance(2.0, &mut |_| true).unwrap();
        run.track().evaluations
    };
    assert_eq!(count(0.0), 20 * 6 + 1);
    assert_eq!(count(1e-9), 20 * 7);
}

#[test]
fn a_system_that_fails_ends_with_its_own_words_and_the_time() {
    let system = Known { fail_beyond: 1.0, ..PLAIN };
    let mut run = explicit(system, (1.0, f64::INFINITY), &study(None, Some(1e-6)), "dopri5", 0.0).unwrap();
    let d = run.advance(2.0, &mut |_| true).unwrap_err();
    assert_eq!(d.message, "beyond");
    assert!((d.time.unwrap() - 1.0).abs() < 1e-6);
}

#[test]
fn a_saved_run_goes_on_to_the_same_bits() {
    for name in ["dopri5", "dop853", "rkf45"] {
        let mut s = study(None, Some(1e-7));
        s.output_step = 0.3;
        let mut one = explicit(PLAIN, (1.0, f64::INFINITY), &s, name, 0.0).unwrap();
        let mut out = instant();
        one.advance(0.6, &mut |_| true).unwrap();
        one.instant(0.6, &mut out).unwrap();
        let text = Motion::save(&one).to_string();
        let mut two = explicit(PLAIN, (1.0, f64::INFINITY), &s, name, 0.0).unwrap();
        Motion::restore(&mut two, &serde_json::from_str(&text).unwrap()).unwrap();
        for run in [&mut one, &mut two] {
            run.advance(2.0, &mut |_| true).unwrap();
        }
        assert_eq!(one.now().1, two.now().1, "{name}");
        assert_eq!(one.track().steps, two.track().steps);
    }
}

#[test]
fn a_method_without_an_estimate_wants_a_step() {
    let refused = explicit(PLAIN, (1.0, f64::INFINITY), &study(None, None), "rk4", 0.0).err().unwrap();
    assert_eq!(refused.code.0, "U305");
}
