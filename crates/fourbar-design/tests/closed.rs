//! Adjoint derivatives of mechanisms with loops: compared with forward derivatives, with differences of runs, and with the same steps of
//! perturbed mechanisms.

use super::common::{reads, with};
use fourbar::random::Random;
use fourbar::study::Study;
use fourbar_design::sensitivities::{Derivative, Method, OfMany, Parameters, compared, of_many, of_measures};
use fourbar_testing::four_bar::FourBar;

fn back(p: &Parameters<'_>, study: &Study, texts: &[&str]) -> OfMany {
    let which: Vec<usize> = (0..p.values.len()).collect();
    let many = of_many(p, study, &which, &reads(texts)).unwrap_or_else(|e| panic!("{e}")).expect("gone back");
    assert_eq!(many.method, Method::ClosedAdjoint);
    many
}

fn largest(d: &Derivative, p: &Parameters<'_>) -> f64 {
    d.slopes.iter().zip(&p.values).fold(1e-3 * d.value.abs(), |m, (s, x)| m.max((s * x).abs()))
}

fn agree(p: &Parameters<'_>, back: &[Derivative], there: &[Derivative], share: f64, what: &str) {
    for (a, b) in back.iter().zip(there) {
        let most = largest(b, p);
        for (k, (x, y)) in a.slopes.iter().zip(&b.slopes).enumerate() {
            let gap = (x - y).abs() * p.values[k].abs();
            assert!(gap <= share * most, "{what} {} by {}: {x} back, {y} there, {:.1e} of the largest", b.of, p.names[k], gap / most);
        }
    }
}

const TEXTS: [&str; 5] = ["last(crank.r.x)", "mean(coupler.r.z)", "length(P)", "rms(B.speed)", "mean(energy.kinetic)"];

/// Spatial four-bars, overconstrained, drawn closed: the adjoint compared with forward derivatives and differences of runs.
#[test]
fn drawn_four_bars_gone_back_have_the_derivatives_of_the_way_there() {
    for seed in 1..=4 {
        println!("seed {seed}");
        with(&FourBar::drawn(seed).text(), |p| {
            let plain = Study { tol: Some(1e-11), ..Study::of(&p.model().expect("a mechanism")) };
            let which: Vec<usize> = (0..p.values.len()).collect();
            let there = of_measures(p, &plain, &which, &reads(&TEXTS)).unwrap_or_else(|e| panic!("{e}")).derivatives;
            let lie = |integrator: &str, step: Option<f64>| Study {
                formulation: Some("lie".into()),
                integrator: Some(integrator.into()),
                step,
                ..plain.clone()
            };
            agree(p, &back(p, &plain, &TEXTS).derivatives, &there, 1e-8, &format!("seed {seed}"));
            agree(p, &back(p, &lie("dopri5", None), &TEXTS).derivatives, &there, 1e-8, &format!("seed {seed} dopri5"));
            agree(p, &back(p, &lie("rk4", Some(5e-4)), &TEXTS).derivatives, &there, 1e-6, &format!("seed {seed} rk4"));
            let found = back(p, &plain, &TEXTS).derivatives;
            for a in compared(p, &plain, &which, &reads(&TEXTS), &found).unwrap_or_else(|e| panic!("{e}")) {
                assert!(a.worst < 1e-5, "seed {seed}: {}", a.worst);
            }
        });
    }
}

/// A random spatial loop with all kinds of rows, drawn closed: a crank, a rod on a universal and a ball joint, a slide, an arm held by a
/// rod of fixed length, a spring and a torsion spring; positions, masses, inertias and stiffnesses are parameters.
fn spatial(seed: u64) -> String {
    let mut random = Random(seed);
    let mut near = |x: f64| x * (1.0 + 0.15 * random.number());
    let names = ["ax", "ay", "az", "bx", "by", "bz", "cx", "cy", "cz", "m1", "m2", "m3", "j1", "j2", "k", "n", "c", "g", "tilt", "l"];
    let values = [0.3, 0.1, 0.25, 0.9, 0.2, 0.1, 0.95, 0.5, 0.3, 0.7, 0.9, 1.2, 0.01, 0.02, 30.0, 0.3, 2.0, 9.81, 0.3, 0.4];
    let list: Vec<String> = names.iter().zip(values).map(|(n, x)| format!("{n}: {}", near(x))).collect();
    format!(
        "
fourbar: 1
parameters: {{{}}}
gravity: [0, 1, -g]
bodies:
  crank: {{mass: m1, inertia: [j1, 0.012, 0.014], at: [ax/2, ay/2, az/2]}}
  rod: {{mass: m2, inertia: [0.015, j2, 0.018], at: ['(ax + bx)/2', '(ay + by)/2', '(az + bz)/2'], orientation: {{axis: [1, 1, 0], angle: tilt}}}}
  slide: {{mass: m3, inertia: [0.02, 0.022, 0.03], at: [bx, by, bz]}}
  arm: {{mass: 0.5, inertia: [0.01, 0.012, 0.009], at: ['(bx + cx)/2', '(by + cy)/2', '(bz + cz)/2']}}
joints:
  O: {{type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [tilt, 1, 0]}}
  A: {{type: universal, bodies: [crank, rod], at: [ax, ay, az], axes: [[1, 0, 0.2], [0, 1, 0.1]]}}
  B: {{type: spherical, bodies: [rod, slide], at: [bx, by, bz]}}
  S: {{type: prismatic, bodies: [ground, slide], at: [bx, by, bz], axis: [1, 0.2, tilt]}}
  E: {{type: revolute, bodies: [slide, arm], at: [bx, by, bz], axis: [1, 0, 0]}}
  R: {{type: distance, bodies: [ground, arm], from: [1, 0.9, 0.2], to: [cx, cy, cz]}}
forces:
  coil: {{type: spring, between: [{{body: ground, at: [0.5, -0.5, l]}}, {{body: rod, at: [0.1, 0, 0.05]}}], stiffness: k, length: 0.3, damping: n}}
  twist: {{type: torsion, joint: O, stiffness: c}}
points: {{P: {{body: arm, at: [0.1, 0.05, 0]}}}}
study: {{t_end: 0.4, output_step: 0.02}}
",
        list.join(", ")
    )
}

/// A spatial loop that is drawn closed, so that the adjoint includes its start.
#[test]
fn drawn_loops_in_space_gone_back_have_the_derivatives_of_the_way_there() {
    let texts = ["last(slide.r.x)", "mean(rod.v.z)", "length(P)", "rms(O.speed)", "mean(energy.total)", "last(E.angle)"];
    for seed in 1..=2 {
        println!("seed {seed}");
        with(&spatial(seed), |p| {
            let plain = Study { tol: Some(1e-11), ..Study::of(&p.model().expect("a mechanism")) };
            let which: Vec<usize> = (0..p.values.len()).collect();
            let found = back(p, &plain, &texts);
            let there = of_measures(p, &plain, &which, &reads(&texts)).unwrap_or_else(|e| panic!("{e}"));
            println!("{:?}", there.run.method);
            agree(p, &found.derivatives, &there.derivatives, 1e-6, &format!("seed {seed}"));
            for a in compared(p, &plain, &which, &reads(&texts), &found.derivatives).unwrap_or_else(|e| panic!("{e}")) {
                assert!(a.worst < 1e-5, "seed {seed}: {}", a.worst);
            }
        });
    }
}

/// Drawn velocities: a parallelogram that rotates from the start, its coupler moving with it.
#[test]
fn drawn_speeds_are_gone_back() {
    let text = "
fourbar: 1
parameters: {l: 0.3, d: 0.5, s: 2, m1: 0.4, m2: 0.8, m3: 0.5, g: 9.81}
gravity: [0, 0, -g]
bodies:
  crank: {mass: m1, inertia: [0.01, 0.012, 0.014], at: [0, 0, l/2], velocity: ['s*l/2', 0, 0], omega: [0, s, 0]}
  coupler: {mass: m2, inertia: [0.02, 0.01, 0.03], at: [d/2, 0, l], velocity: ['s*l', 0, 0]}
  rocker: {mass: m3, inertia: [0.01, 0.02, 0.01], at: [d, 0, l/2], velocity: ['s*l/2', 0, 0], omega: [0, s, 0]}
joints:
  O: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}
  A: {type: revolute, bodies: [crank, coupler], at: [0, 0, l], axis: [0, 1, 0]}
  B: {type: spherical, bodies: [coupler, rocker], at: [d, 0, l]}
  C: {type: revolute, bodies: [ground, rocker], at: [d, 0, 0], axis: [0, 1, 0]}
study: {t_end: 0.4, output_step: 0.02}
";
    let texts = ["last(coupler.r.x)", "mean(coupler.v.z)", "rms(O.speed)"];
    with(text, |p| {
        let plain = Study { tol: Some(1e-11), ..Study::of(&p.model().expect("a mechanism")) };
        let which: Vec<usize> = (0..p.values.len()).collect();
        let found = back(p, &plain, &texts).derivatives;
        let against = compared(p, &plain, &which, &reads(&texts), &found).unwrap_or_else(|e| panic!("{e}"));
        for (d, a) in found.iter().zip(against) {
            assert!(a.worst < 1e-5, "{}: {:?} instead of {:?}", d.of, d.slopes, a.by_runs);
        }
    });
}
