//! The control loops of the examples against independent solutions.

#[path = "../examples/pid_loop.rs"]
mod pid_loop;
#[path = "../examples/torque_fourbar.rs"]
mod torque_fourbar;

use fourbar::study::{FORMULATIONS, Study};

/// The pendulum under the same law, by classical Runge-Kutta steps of a hundredth of the period.
fn reference(target: f64, readings: usize) -> Vec<[f64; 2]> {
    use pid_loop::{ARM, INERTIA, PERIOD, Pid, WEIGHT};
    let (mut x, mut controller) = ([0.0_f64, 0.0], Pid::default());
    let mut log = Vec::new();
    for _ in 0..readings {
        let u = controller.torque(target - x[0], x[1]);
        log.push([x[0], u]);
        let f = |x: [f64; 2]| [x[1], (u - WEIGHT * ARM * x[0].sin()) / INERTIA];
        let h = PERIOD / 100.0;
        for _ in 0..100 {
            let at = |k: [f64; 2], s: f64| [x[0] + s * k[0], x[1] + s * k[1]];
            let k1 = f(x);
            let k2 = f(at(k1, 0.5 * h));
            let k3 = f(at(k2, 0.5 * h));
            let k4 = f(at(k3, h));
            x = [0, 1].map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        }
    }
    log
}

#[test]
fn a_pid_loop_holds_a_pendulum_as_its_equation_says() {
    let exact = reference(1.0, 1000);
    for f in FORMULATIONS {
        let implicit = ["ra", "rp", "reps"].contains(&f.name);
        let study = |study: Study| Study { formulation: Some(f.name.into()), tol: Some(if implicit { 1e-7 } else { 1e-9 }), ..study };
        let log = pid_loop::settle(1.0, 1000, study).unwrap_or_else(|d| panic!("{}: {d}", f.name));
        let error = log.iter().zip(&exact).fold(0.0_f64, |m, (a, b)| m.max((a[0] - b[0]).abs()));
        println!("{}: {error:.1e}", f.name);
        assert!(error < if implicit { 1e-4 } else { 1e-7 }, "{}: {error:.1e}", f.name);
    }
    // In the end the integral part balances the weight.
    let log = pid_loop::settle(1.0, 8000, |study| study).expect("it runs");
    let [angle, torque] = log[log.len() - 1];
    assert!((angle - 1.0).abs() < 1e-4 && (torque - pid_loop::WEIGHT * pid_loop::ARM * 1.0_f64.sin()).abs() < 1e-2, "{angle} {torque}");
}

#[test]
fn a_torque_loop_turns_a_four_bar_and_every_joule_is_counted() {
    for f in FORMULATIONS {
        let implicit = ["ra", "rp", "reps"].contains(&f.name);
        let study = |study: Study| Study { formulation: Some(f.name.into()), tol: Some(if implicit { 1e-7 } else { 1e-9 }), ..study };
        let log = torque_fourbar::turn(10.0, 700, study).unwrap_or_else(|d| panic!("{}: {d}", f.name));
        // The work of a constant torque is torque times angle.
        let work: f64 = log.windows(2).map(|w| w[0].torque * (w[1].angle - w[0].angle)).sum();
        let gained = log[log.len() - 1].energy - log[0].energy;
        println!("{}: work {work:.9}, gained {gained:.9}, angle {:.3}", f.name, log[log.len() - 1].angle);
        assert!((work - gained).abs() < if implicit { 1e-3 } else { 1e-6 } * (1.0 + work.abs()), "{}: {work} and {gained}", f.name);
        // The mean speed in the end is the target.
        let speeds = &log[400..];
        let mean = speeds.iter().map(|r| r.speed).sum::<f64>() / speeds.len() as f64;
        assert!((mean - 10.0).abs() < 1.5, "{}: {mean}", f.name);
    }
}
