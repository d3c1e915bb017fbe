//! Derivatives of measured columns at every row: the fast method compared with the evaluation of closed perturbed mechanisms, and with
//! differences of whole runs.

use super::common::{reads, with};
use fourbar::study::Study;
use fourbar_design::measure::Measure;
use fourbar_design::sensitivities::{Method, OfMeasures, Parameters, compared, of_measure, of_measures, of_run};
use fourbar_testing::four_bar::FourBar;

fn of(p: &Parameters<'_>, study: &Study, which: &[usize], texts: &[&str]) -> OfMeasures {
    of_measures(p, study, which, &reads(texts)).unwrap_or_else(|e| panic!("{e}"))
}

/// One measure at a time, so that each uses the method for its columns, compared with evaluations of closed mechanisms.
fn agree(p: &Parameters<'_>, study: &Study, texts: &[&str], methods: &[Method], what: &str) -> Method {
    let which: Vec<usize> = (0..p.names.len()).collect();
    let whole = of_run(p, study, &which).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(methods.contains(&whole.method), "{what}: {:?}", whole.method);
    for text in texts {
        let known =
            of_measure(&Measure::new(text, &whole.run.columns).expect("a measure"), &whole).unwrap_or_else(|e| panic!("{text}: {e}"));
        let found = of(p, study, &which, &[text]);
        assert_eq!(found.run.method, whole.method, "{what}");
        let d = &found.derivatives[0];
        assert!((d.value - known.value).abs() <= 1e-11 * known.value.abs().max(1e-3), "{what} {text}: {} {}", d.value, known.value);
        for (k, (a, b)) in d.slopes.iter().zip(&known.slopes).enumerate() {
            let size = if p.values[k] == 0.0 { 1.0 } else { p.values[k].abs() };
            let most = (b * size).abs().max(1e-2 * known.value.abs());
            // Perturbed mechanisms are closed to some 1e-14; that error over their distance is the error of the reference.
            assert!((a - b).abs() * size <= 1e-8 * most + 1e-10, "{what} {text} by {}: {a} instead of {b}", p.names[k]);
        }
    }
    whole.method
}

/// Measures of poses, velocities, accelerations, energies, springs, unique and non-unique reactions.
const TEXTS: [&str; 11] = [
    "mean(crank.r.x)",
    "mean(coupler.p.0)",
    "length(P)",
    "rms(B.speed)",
    "range(C.angle)",
    "mean(coupler.alpha.y)",
    "rms(O.acceleration)",
    "mean(abs(A.force.x))",
    "rms(C.force.z)",
    "mean(energy.total)*mean(coil.tension)",
    "mean(O.force.y)",
];

/// Spatially overconstrained mechanisms with loops, by series. Both methods agree up to the integration error, so the tolerance is tight.
#[test]
fn every_row_of_drawn_loops_by_series() {
    for seed in 1..=3 {
        with(&FourBar::drawn(seed).text(), |p| {
            let study = Study { tol: Some(1e-11), ..Study::of(&p.model().expect("a mechanism")) };
            agree(p, &study, &TEXTS, &[Method::Series], &format!("seed {seed}"));
        });
    }
}

/// By the tangent of the motion, with an additional rolling ball, which natural coordinates do not support.
#[test]
fn every_row_of_drawn_loops_by_the_tangent_of_the_motion() {
    let ball = "  ball: {mass: 0.2, inertia: [1e-4, 1e-4, 1e-4], at: [0.5, 0.5, 0.1], velocity: [0.2, 0, 0], omega: [0, 2, 0]}\njoints:\n";
    let floor = "\nconstraints: {floor: {type: rolling-sphere, place: {body: ball, at: [0, 0, 0]}, radius: 0.1}}\n";
    let text = FourBar::drawn(1).text().replacen("joints:\n", ball, 1) + floor;
    with(&text, |p| agree(p, &Study::of(&p.model().expect("a mechanism")), &TEXTS, &[Method::Tangent], "with a ball"));
}

/// The same by series, over a longer time.
#[test]
fn every_row_of_a_loop_by_series() {
    let text = FourBar { spring: Some([20.0, 0.05, 0.05]), ..FourBar::round() }.text();
    with(&text, |p| {
        let study = Study { t_end: 0.5, output_step: 0.02, ..Study::of(&p.model().expect("a mechanism")) };
        agree(p, &study, &TEXTS, &[Method::Series], "series")
    });
}

/// Compared with differences of whole runs, several measures at once.
#[test]
fn every_row_of_drawn_loops_against_differences() {
    for seed in 11..=12 {
        println!("seed {seed}");
        with(&FourBar::drawn(seed).text(), |p| {
            let study = Study { tol: Some(1e-11), ..Study::of(&p.model().expect("a mechanism")) };
            let which: Vec<usize> = (0..p.names.len()).collect();
            let texts = &TEXTS[..10];
            let found = of(p, &study, &which, texts).derivatives;
            let against = compared(p, &study, &which, &reads(texts), &found).unwrap_or_else(|e| panic!("{e}"));
            for (d, a) in found.iter().zip(&against) {
                let most = d.slopes.iter().zip(&p.values).fold(0.0_f64, |m, (s, x)| m.max((s * x).abs()));
                for (k, x) in p.values.iter().enumerate() {
                    let gap = (d.slopes[k] - a.by_runs[k]).abs() * x.abs();
                    assert!(gap <= 1e-5 * most, "seed {seed} {} by {}: {} instead of {}", d.of, p.names[k], d.slopes[k], a.by_runs[k]);
                    assert!(d.errors[k] * x.abs() <= 1e-6 * most, "seed {seed} {}: error {}", d.of, d.errors[k]);
                }
            }
        });
    }
}

/// A tree, with reactions; and a fully driven mechanism, with the effort of its motor.
#[test]
fn every_row_of_a_tree_and_of_a_driven_mechanism() {
    let tree = "
fourbar: 1
parameters: {l: 0.7, m: 1.2, k: 3, x: 0.1}
gravity: [0, 0, -9.81]
bodies:
  upper: {mass: m, inertia: [0.01, 'm*l^2/12', 'm*l^2/12'], at: [l/2, 0, 0]}
  lower: {mass: 0.8, inertia: [0.01, 0.05, 0.05], at: ['l + 0.3', 0, 0]}
joints:
  O: {type: revolute, bodies: [ground, upper], at: [0, 0, 0], axis: [0, 1, 0]}
  A: {type: revolute, bodies: [upper, lower], at: [l, 0, 0], axis: [0, 1, 0.2]}
forces: {twist: {type: torsion, joint: A, stiffness: k}}
points: {tip: {body: lower, at: [0.3, x, 0]}}
study: {t_end: 0.5, output_step: 0.02}
";
    let texts = ["mean(tip.x)", "rms(A.speed)", "mean(A.force.z)", "rms(O.torque.x)", "mean(lower.a.z)", "mean(twist.torque)"];
    with(tree, |p| agree(p, &Study::of(&p.model().expect("a mechanism")), &texts, &[Method::Jets], "tree"));
    let driven = FourBar::drawn(21).text().replace("start: {O.angle", "drives: {motor: {joint: O, angle: '1 + 2*pi*t'}}\nhold: {O.angle");
    let driven = driven.lines().filter(|l| !l.starts_with("hold")).collect::<Vec<_>>().join("\n");
    let texts = ["rms(motor.effort)", "mean(motor.power)", "mean(abs(A.force.x))", "length(P)", "rms(coupler.alpha.y)"];
    with(&driven, |p| agree(p, &Study::of(&p.model().expect("a mechanism")), &texts, &[Method::Kinematics], "driven"));
}
