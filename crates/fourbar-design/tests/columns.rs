//! Derivatives of what measures read at every row: the quick way against the evaluation of closed mechanisms around, and against differences
//! of whole runs.

use fourbar::random::Random;
use fourbar::study::Study;
use fourbar::{Error, Model, Trajectory};
use fourbar_design::measure::Measure;
use fourbar_design::sensitivities::{Derivative, Method, OfRun, Parameters, compared, of_measure, of_measures, of_run};
use fourbar_io::{ReadOptions, Variations, read_model};

/// Does something with a file whose mechanism follows its parameters.
fn with<T>(text: &str, f: impl FnOnce(&Parameters<'_>) -> T) -> T {
    let loaded = read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let file = Variations::new(&loaded, None, &[], false).unwrap_or_else(|e| panic!("{e}"));
    let (names, values): (Vec<String>, Vec<f64>) = loaded.parameters.iter().cloned().unzip();
    let build =
        |p: &[f64]| -> Result<Model, Error> { file.model(&names.iter().map(String::as_str).zip(p.iter().copied()).collect::<Vec<_>>()) };
    f(&Parameters::new(names.clone(), values, &build).with_computed(&loaded.computed_parameters))
}

fn of(p: &Parameters<'_>, study: &Study, which: &[usize], texts: &[&str]) -> (OfRun, Vec<Derivative>) {
    let read = |run: &Trajectory| -> Result<Vec<Measure>, Error> {
        Ok(texts.iter().map(|t| Measure::new(t, &run.columns)).collect::<Result<Vec<_>, _>>()?)
    };
    let run = of_measures(p, study, which, &read).unwrap_or_else(|e| panic!("{e}"));
    let found = read(&run.run).expect("measures").iter().map(|m| of_measure(m, &run).unwrap_or_else(|e| panic!("{e}"))).collect();
    (run, found)
}

/// One measure after the other, so that each takes the way of its own columns, against evaluations of mechanisms that are closed.
fn agree(p: &Parameters<'_>, study: &Study, texts: &[&str], methods: &[Method], what: &str) -> Method {
    let which: Vec<usize> = (0..p.names.len()).collect();
    let whole = of_run(p, study, &which).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(methods.contains(&whole.method), "{what}: {:?}", whole.method);
    for text in texts {
        let known =
            of_measure(&Measure::new(text, &whole.run.columns).expect("a measure"), &whole).unwrap_or_else(|e| panic!("{text}: {e}"));
        let (run, found) = of(p, study, &which, &[text]);
        assert_eq!(run.method, whole.method, "{what}");
        let d = &found[0];
        assert!((d.value - known.value).abs() <= 1e-11 * known.value.abs().max(1e-3), "{what} {text}: {} {}", d.value, known.value);
        for (k, (a, b)) in d.slopes.iter().zip(&known.slopes).enumerate() {
            let size = if p.values[k] == 0.0 { 1.0 } else { p.values[k].abs() };
            let most = (b * size).abs().max(1e-2 * known.value.abs());
            // Mechanisms around are closed to some 1e-14, and that divided by their distance is what the others are known to.
            assert!((a - b).abs() * size <= 1e-8 * most + 1e-10, "{what} {text} by {}: {a} instead of {b}", p.names[k]);
        }
    }
    whole.method
}

/// A four-bar of hinges in space with a spring, a damper and a coupler point, drawn by chance.
fn drawn(seed: u64) -> String {
    let mut random = Random(seed);
    let mut between = |a: f64, b: f64| a + (b - a) * (0.5 + 0.5 * random.number());
    let (a, b, c, d) = (between(0.1, 0.16), between(0.32, 0.4), between(0.26, 0.32), between(0.36, 0.42));
    let (m1, m2, m3, k, n, e) =
        (between(0.2, 0.5), between(0.4, 0.9), between(0.3, 0.8), between(5.0, 40.0), between(0.01, 0.1), between(0.02, 0.1));
    // The pose as drawn: crank at an angle, coupler and rocker by their circles.
    let angle = between(0.6, 1.4);
    let (ax, az) = (a * angle.cos(), a * angle.sin());
    let (dx, dz) = (d - ax, -az);
    let r = dx.hypot(dz);
    let along = (b * b - c * c + r * r) / (2.0 * r);
    let across = (b * b - along * along).max(0.0).sqrt();
    let (bx, bz) = (ax + (along * dx - across * dz) / r, az + (along * dz + across * dx) / r);
    let (p2, p3) = ((bz - az).atan2(bx - ax), bz.atan2(bx - d));
    format!(
        "
fourbar: 1
parameters: {{a: {a}, b: {b}, c: {c}, d: {d}, m1: {m1}, m2: {m2}, m3: {m3}, k: {k}, n: {n}, e: {e}, w: 9.81}}
gravity: [0, 0, -w]
bodies:
  crank: {{mass: m1, inertia: [1e-5, 'm1*a^2/12', 'm1*a^2/12'], at: [{:.3}, 0, {:.3}], orientation: {{axis: [0, -1, 0], angle: {angle}}}}}
  coupler: {{mass: m2, inertia: [1e-5, 'm2*b^2/12', 'm2*b^2/12'], at: [{:.3}, 0, {:.3}], orientation: {{axis: [0, -1, 0], angle: {p2}}}}}
  rocker: {{mass: m3, inertia: [1e-5, 'm3*c^2/12', 'm3*c^2/12'], at: [{:.3}, 0, {:.3}], orientation: {{axis: [0, -1, 0], angle: {p3}}}}}
joints:
  O: {{type: revolute, bodies: [ground, crank], frames: {{ground: {{at: [0, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}, crank: {{at: [-a/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}}}}}
  A: {{type: revolute, bodies: [crank, coupler], frames: {{crank: {{at: [a/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}, coupler: {{at: [-b/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}}}}}
  B: {{type: revolute, bodies: [coupler, rocker], frames: {{coupler: {{at: [b/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}, rocker: {{at: [c/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}}}}}
  C: {{type: revolute, bodies: [ground, rocker], frames: {{ground: {{at: [d, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}, rocker: {{at: [-c/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}}}}}
forces:
  coil: {{type: spring, between: [{{body: ground, at: [0, 0, 0.5]}}, {{body: coupler, at: [0, 0, e]}}], stiffness: k, length: 0.2, damping: n}}
points: {{P: {{body: coupler, at: [0.1, 0, e]}}}}
start: {{O.angle: {angle}}}
study: {{t_end: 0.1, output_step: 0.01}}
",
        0.5 * ax,
        0.5 * az,
        0.5 * (ax + bx),
        0.5 * (az + bz),
        0.5 * (d + bx),
        0.5 * bz
    )
}

/// What reads poses, velocities, accelerations, energies, springs, reactions that are unique and such that are not.
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

/// Mechanisms with loops that are overconstrained in space, by the tangent of the motion or by series.
#[test]
fn every_row_of_drawn_loops_by_every_way() {
    for seed in 1..=3 {
        println!("seed {seed}");
        with(&drawn(seed), |p| {
            let study = Study::of(&p.model().expect("a mechanism"));
            agree(p, &study, &TEXTS, &[Method::Series, Method::Tangent], &format!("seed {seed}"));
        });
    }
}

/// The same along series, over a longer time.
#[test]
fn every_row_of_a_loop_by_series() {
    let text = "
fourbar: 1
parameters: {a: 0.15, b: 0.35, c: 0.3, d: 0.4, m1: 0.3, m2: 0.7, m3: 0.6, w: 9.81, k: 20, n: 0.05, e: 0.05}
gravity: [0, 0, -w]
bodies:
  crank: {mass: m1, inertia: [1e-6, 'm1*a^2/12', 'm1*a^2/12'], at: [0.034, 0, 0.0668], orientation: {axis: [0, -1, 0], angle: 1.1}}
  coupler: {mass: m2, inertia: [1e-6, 'm2*b^2/12', 'm2*b^2/12'], at: [0.2223, 0, 0.2164], orientation: {axis: [0, -1, 0], angle: 0.4922}}
  rocker: {mass: m3, inertia: [1e-6, 'm3*c^2/12', 'm3*c^2/12'], at: [0.3882, 0, 0.1495], orientation: {axis: [0, -1, 0], angle: 1.6492}}
joints:
  O: {type: revolute, bodies: [ground, crank], frames: {ground: {at: [0, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}, crank: {at: [-a/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}}
  A: {type: revolute, bodies: [crank, coupler], frames: {crank: {at: [a/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}, coupler: {at: [-b/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}}
  B: {type: revolute, bodies: [coupler, rocker], frames: {coupler: {at: [b/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}, rocker: {at: [c/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}}
  C: {type: revolute, bodies: [ground, rocker], frames: {ground: {at: [d, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}, rocker: {at: [-c/2, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}}
forces:
  coil: {type: spring, between: [{body: ground, at: [0, 0, 0.5]}, {body: coupler, at: [0, 0, e]}], stiffness: k, length: 0.2, damping: n}
points: {P: {body: coupler, at: [0.1, 0, e]}}
start: {O.angle: 1.1}
study: {t_end: 0.5, output_step: 0.02}
";
    with(text, |p| agree(p, &Study::of(&p.model().expect("a mechanism")), &TEXTS, &[Method::Series], "series"));
}

/// Against differences of whole runs, several measures at once.
#[test]
fn every_row_of_drawn_loops_against_differences() {
    for seed in 11..=12 {
        println!("seed {seed}");
        with(&drawn(seed), |p| {
            let study = Study { tol: Some(1e-11), ..Study::of(&p.model().expect("a mechanism")) };
            let which: Vec<usize> = (0..p.names.len()).collect();
            let texts = &TEXTS[..10];
            let (run, found) = of(p, &study, &which, texts);
            let measures: Vec<Measure> = texts.iter().map(|t| Measure::new(t, &run.run.columns).expect("a measure")).collect();
            let against = compared(p, &study, &which, &measures, &found).unwrap_or_else(|e| panic!("{e}"));
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

/// A tree, with reactions; and a mechanism whose drive prescribes everything, with the effort of its motor.
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
    let driven = drawn(21).replace("start: {O.angle", "drives: {motor: {joint: O, angle: '1 + 2*pi*t'}}\nhold: {O.angle");
    let driven = driven.lines().filter(|l| !l.starts_with("hold")).collect::<Vec<_>>().join("\n");
    let texts = ["rms(motor.effort)", "mean(motor.power)", "mean(abs(A.force.x))", "length(P)", "rms(coupler.alpha.y)"];
    with(&driven, |p| agree(p, &Study::of(&p.model().expect("a mechanism")), &texts, &[Method::Kinematics], "driven"));
}
