//! Springs with mass: the body that stands for the middle of such a spring may spin about its axis, about which it has no inertia. In no formulation
//! does it spin, and it costs hardly any steps.

use fourbar::random::Random;
use fourbar::study::{self, Study};
use fourbar::{Simulation, Trajectory};
use fourbar_testing::common::{model, parse};
use std::sync::Arc;

#[test]
fn the_middle_of_a_spring_does_not_spin() {
    for seed in 0..12 {
        let mut r = Random(seed * 31 + 7);
        let mut number = |low: f64, high: f64| low + (high - low) * 0.5 * (1.0 + r.number());
        let [x, y, z] = [(); 3].map(|()| number(-0.6, 0.6));
        let [sx, sy, sz] = [(); 3].map(|()| number(-0.3, 0.3));
        let (stiffness, mass, swing) = (number(0.5, 8.0), number(0.02, 0.5), number(-3.0, 3.0));
        let text = |mass: &str| {
            format!(
                "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  a: {{mass: 1.5, inertia: [0.05, 0.06, 0.07], at: [0.3, 0, 0], omega: [0, {swing:?}, 0]}}
  b: {{mass: 0.8, inertia: [0.02, 0.03, 0.02], at: [0.6, 0.2, 0], omega: [0, {swing:?}, 0]}}
joints:
  A: {{type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
  B: {{type: spherical, bodies: [a, b], at: [0.6, 0, 0]}}
forces:
  s: {{type: spring, between: [{{body: ground, at: [{:?}, {:?}, {:?}]}}, {{body: b, at: [{sx:?}, {sy:?}, {sz:?}]}}], stiffness: {stiffness:?}, length: 0.5{mass}}}
study: {{t_end: 1.5, output_step: 0.05}}",
                1.2 + x,
                0.8 + y,
                0.6 + z
            )
        };
        let run = |mass: &str, formulation: &str, integrator: &str| {
            let model = parse(&text(mass));
            let study =
                Study { formulation: Some(formulation.into()), integrator: Some(integrator.into()), tol: Some(1e-7), ..Study::of(&model) };
            let mut rows = Trajectory::default();
            let report = study::run(&model, &study, &mut rows).unwrap_or_else(|f| panic!("{seed}, {formulation}: {}", f.diagnostic));
            (report.work.iter().find(|w| w.0 == "steps").map_or(f64::NAN, |w| w.1), rows)
        };
        let massive = format!(", mass: {mass:?}");
        let end = |rows: &Trajectory| ["b.r.x", "b.r.y", "b.r.z"].map(|c| rows.column(c).and_then(|c| c.last().copied()).expect("there"));
        let truth = end(&run(&massive, "grcr", "dop853").1);
        for (f, i) in [("lie", "dopri5"), ("se3", "dop853"), ("so3xr3", "dopri5"), ("dca", "dopri5"), ("ra", "radau")] {
            let (steps, rows) = run(&massive, f, i);
            let (plain, _) = run("", f, i);
            assert!(steps <= 2.0 * plain + 20.0, "{seed}, {f} {i}: {steps} steps, {plain} without mass");
            let off = end(&rows).iter().zip(truth).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(off < 2e-5, "{seed}, {f} {i}: {off:.1e}");
            // The spin about the line between the ends.
            for k in 0..rows.column("t").map_or(0, <[f64]>::len) {
                let of = |name: &str| ["x", "y", "z"].map(|c| rows.column(&format!("s-coil.{name}.{c}")).expect("there")[k]);
                let q = ["0", "1", "2", "3"].map(|c| rows.column(&format!("s-coil.p.{c}")).expect("there")[k]);
                let axis = [1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]), 2.0 * (q[1] * q[2] + q[0] * q[3]), 2.0 * (q[1] * q[3] - q[0] * q[2])];
                let spin: f64 = of("omega").iter().zip(axis).map(|(w, x)| w * x).sum();
                assert!(spin.abs() < 0.02, "{seed}, {f} {i}: row {k}: {spin:.1e} rad/s");
            }
        }
    }
}

/// Accelerations of bodies without inertia in some direction come from an iteration that starts from the last ones: these are part of a saved state.
#[test]
fn bodies_without_inertia_continue_to_the_bit() {
    for name in ["a01_simple_pendulum", "a04_bricard_thin"] {
        let model = Arc::new(model(name));
        for formulation in ["lie", "se3", "so3xr3"] {
            let study = Study { formulation: Some(formulation.into()), integrator: None, ..Study::of(&model) };
            let new = || Simulation::new(&model, &study).unwrap_or_else(|e| panic!("{name}: {e}"));
            let (mut one, mut other) = (new(), new());
            one.advance(0.8).unwrap_or_else(|e| panic!("{name}: {e}"));
            let saved = one.save();
            other.restore(&saved).unwrap_or_else(|e| panic!("{name}: {e}"));
            for t in [1.0, 1.3, 2.0] {
                for s in [&mut one, &mut other] {
                    s.advance(t).unwrap_or_else(|e| panic!("{name}: {e}"));
                }
                assert_eq!(one.state(), other.state(), "{name}, {formulation}: at {t} s");
            }
        }
    }
}
