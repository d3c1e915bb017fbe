//! Derivatives with respect to parameters: reference values, closed forms, and differences of whole computations on shipped models.
#![allow(non_snake_case)]

use fourbar::spec::{BodySpec, FrameSpec, Inertia, JointSpec, ModelSpec, Orientation, PairKind, Placement};
use fourbar::study::Study;
use fourbar::trajectory::Column;
use fourbar::{Error, Model};
use fourbar_design::equilibrium::Options;
use fourbar_design::measure::Measure;
use fourbar_design::sensitivities::alone::openings;
use fourbar_design::sensitivities::{
    Method, OfRun, Parameters, compared, of_many, of_measure, of_measures, of_modes, of_rest, of_rows, of_run, of_start, rest_near, ties,
};
use fourbar_io::{Loaded, ReadOptions, read_model};
use std::path::PathBuf;

fn text_of(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(format!("{name}.yaml"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn read(text: &str) -> Loaded {
    read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The mechanism of a file with some parameters changed; parameters computed from them are updated.
fn build(text: &str, known: &[(String, f64)], values: &[f64]) -> Result<Model, Error> {
    let changed = known.iter().zip(values).filter(|((_, was), x)| was != *x);
    let set: Vec<(String, String)> = changed.map(|((n, _), x)| (n.clone(), format!("{x:e}"))).collect();
    read_model(text, &ReadOptions { set: &set, ..ReadOptions::default() })?.spec.build()
}

/// Calls a function with the parameters of a file.
fn with<T>(text: &str, f: impl FnOnce(&Parameters<'_>, &dyn Fn(&str) -> usize) -> T) -> T {
    let loaded = read(text);
    let list = &loaded.parameters;
    let build = |values: &[f64]| build(text, list, values);
    let (names, values): (Vec<String>, Vec<f64>) = list.iter().cloned().unzip();
    let p = Parameters::new(names, values, &build).with_computed(&loaded.computed_parameters);
    f(&p, &|name| p.find(name).unwrap_or_else(|| panic!("{name}")))
}

#[track_caller]
fn near(x: f64, y: f64, tolerance: f64) {
    assert!((x - y).abs() <= tolerance * y.abs().max(1.0), "{x} instead of {y}");
}

/// The coupler point of a four-bar whose crank is held: closed form, 30 digits (reference values of the project).
#[test]
fn an_assembled_point_follows_the_lengths() {
    with(&text_of("fourbar_held"), |p, find| {
        let which = ["a", "b", "c", "g"].map(find);
        let s = of_start(p, &which).unwrap_or_else(|e| panic!("{e}"));
        let exact = [
            [0.9551706827967406, 0.6316564915424884],
            [0.6770826074797206, 0.11393289889802224],
            [-0.5880633973597008, 0.3043064327498173],
            [0.046077524738272646, -0.0238438359639455],
        ];
        for (slope, exact) in s.slopes.iter().zip(exact) {
            near(slope.column("P.x").expect("a column")[0], exact[0], 1e-10);
            near(slope.column("P.z").expect("a column")[0], exact[1], 1e-10);
        }
        near(s.columns.column("P.x").expect("a column")[0], 0.16555911387852681, 1e-10);
        near(s.columns.column("P.z").expect("a column")[0], 0.32213510093543124, 1e-10);
    });
}

/// A frequency of a four-bar with gravity and a spring (reference values of the project, one-angle reduction).
#[test]
fn a_frequency_follows_lengths_and_stiffness() {
    with(&text_of("fourbar_spring_up"), |p, find| {
        let which = ["a", "b", "c", "g", "k"].map(find);
        let s = of_modes(p, &which, &rest_near(&Options::default())).unwrap_or_else(|e| panic!("{e}"));
        let omega = s.list[0].s.norm();
        near(omega * omega, 235.23096210251995, 1e-9);
        for (d, exact) in
            s.slopes[0].iter().zip([-1408.8821131119548, 80.18621920325776, 802.1186646054143, -446.38579043434316, 2.092749803320393])
        {
            near(2.0 * omega * d.im, exact, 2e-6);
        }
    });
}

/// The equilibrium itself: compared with equilibria of perturbed mechanisms.
#[test]
fn a_rest_follows_lengths_and_stiffness() {
    let text = text_of("fourbar_spring_up");
    with(&text, |p, find| {
        let which = ["a", "b", "c", "g", "k"].map(find);
        let options = Options::default();
        let s = of_rest(p, &which, &options).unwrap_or_else(|e| panic!("{e}"));
        let about = rest_near(&options);
        for (i, &k) in which.iter().enumerate() {
            let h = p.step(k, 1e-4);
            let at = |h: f64| {
                let m = p.varied(k, h).expect("a mechanism");
                let c = about(&m, Some(&s.state)).expect("a rest");
                let j = m.joints.iter().find(|j| j.name == "O").expect("the joint");
                let [a, b] = j.bodies.map(|b| &c.q[b.index()]);
                j.coordinates().next().expect("an angle").1.value(a, b, &c.turns)
            };
            let by = (at(h) - at(-h)) / (2.0 * h);
            near(s.slopes[i].column("O.angle").expect("a column")[0], by, 1e-6);
        }
    });
}

/// The tip of a damped double pendulum after two seconds: variational equations to 1e-13 (reference values of the project).
#[test]
fn a_run_follows_its_parameters() {
    with(&text_of("double_pendulum_damped"), |p, find| {
        let which = ["l1", "l2", "m1", "m2", "g", "c"].map(find);
        let model = p.model().expect("a mechanism");
        let run = of_run(p, &Study { tol: Some(1e-12), ..Study::of(&model) }, &which).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(run.method, Method::Jets);
        let tip = Measure::new("last(tip.x)", &run.run.columns).expect("a measure");
        let d = of_measure(&tip, &run).expect("derivatives");
        near(d.value, 0.8194320637889556, 1e-8);
        let exact =
            [1.7385264631218422, 0.7495651278996895, 0.46280200274727945, -0.45890917767510736, -0.11659872674497565, -9.372824807110721];
        for ((x, error), exact) in d.slopes.iter().zip(&d.errors).zip(exact) {
            near(*x, exact, 1e-8);
            // The error estimate is not smaller than the error.
            assert!((x - exact).abs() <= error + 1e-9, "{x} instead of {exact}, said to be within {error}");
        }
    });
}

/// A pulse in a long rest affects the derivatives of a tree too: speeds and distances in closed form.
#[test]
fn a_pulse_between_two_rows_is_not_passed_over() {
    let text = "
fourbar: 1
parameters: {m: 2, push: 4, from: 41.3}
bodies: {block: {mass: m, inertia: [0.1, 0.1, 0.1]}}
joints: {slide: {type: prismatic, bodies: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}}
forces: {pulse: {type: actuator, joint: slide, effort: 'push*exp(-((t - from)/0.2)^2)'}}
study: {t_end: 100, output_step: 50}
";
    with(text, |p, find| {
        let which = ["m", "push", "from"].map(find);
        let model = p.model().expect("a mechanism");
        let run = of_run(p, &Study::of(&model), &which).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(run.method, Method::Jets);
        let speed = 4.0 / 2.0 * 0.2 * std::f64::consts::PI.sqrt();
        for (text, value, exact) in [
            ("last(slide.speed)", speed, [-speed / 2.0, speed / 4.0, 0.0]),
            ("last(slide.distance) - last(t)*last(slide.speed)", -speed * 41.3, [speed * 41.3 / 2.0, -speed * 41.3 / 4.0, -speed]),
        ] {
            let d = of_measure(&Measure::new(text, &run.run.columns).expect("a measure"), &run).expect("derivatives");
            near(d.value, value, 1e-9);
            d.slopes.iter().zip(exact).for_each(|(x, exact)| near(*x, exact, 1e-7));
        }
    });
}

/// Forces that vanish at the start, or all along the first half: random torques `s (t - from)^n` on a free wheel, whose angle and its
/// derivatives are powers of time.
#[test]
fn forces_that_begin_with_nothing_have_derivatives() {
    let seed = 90210;
    println!("seed {seed}");
    let mut random = fourbar::random::Random(seed);
    for case in 0..6 {
        let (s, n) = (1.5 + random.number(), 1 + case % 3);
        let from = if case < 3 { 0.0 } else { 0.6 + 0.1 * random.number() };
        let text = format!(
            "
fourbar: 1
parameters: {{s: {s}, J: 0.2}}
bodies: {{a: {{mass: 1, inertia: [J, J, J], at: [0, 0, 0]}}}}
joints: {{p: {{type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}}}
forces: {{f: {{type: actuator, joint: p, effort: 's*max(t - {from}, 0)^{n}'}}}}
study: {{t_end: 1, output_step: 0.1}}
"
        );
        let text = if from == 0.0 { text.replace("max(t - 0, 0)", "t") } else { text };
        with(&text, |p, find| {
            let which = ["s", "J"].map(find);
            let run = of_run(p, &Study::of(&p.model().expect("a mechanism")), &which).unwrap_or_else(|e| panic!("{e}"));
            let d = of_measure(&Measure::new("last(p.angle)", &run.run.columns).expect("a measure"), &run).expect("derivatives");
            let m = f64::from(n);
            let way = s * (1.0 - from).powf(m + 2.0) / (0.2 * (m + 1.0) * (m + 2.0));
            near(d.value, way, 1e-7);
            near(d.slopes[0], way / s, 1e-5);
            near(d.slopes[1], -way / 0.2, 1e-5);
        });
    }
}

/// If the exact derivative is zero the error estimate is not below rounding; otherwise it still holds.
#[test]
fn errors_of_derivatives_that_vanish_are_not_too_small() {
    let text = "
fourbar: 1
gravity: [0, 0, -9.81]
parameters: {m: 1.3, l: 0.7}
bodies: {a: {mass: m, inertia: 0, at: [0.6*l, 0, -0.8*l]}}
joints: {p: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
points: {tip: {body: a, at: [0, 0, 0]}}
study: {t_end: 1, output_step: 0.01}
";
    with(text, |p, find| {
        // The motion of a point mass does not depend on its mass.
        let run = of_run(p, &Study::of(&p.model().expect("a mechanism")), &[find("m")]).unwrap_or_else(|e| panic!("{e}"));
        for text in ["last(tip.x)", "last(tip.z)", "last(tip.y)", "rms(p.speed)"] {
            let d = of_measure(&Measure::new(text, &run.run.columns).expect("a measure"), &run).expect("derivatives");
            assert!(d.slopes[0].abs() <= d.errors[0] && d.errors[0] < 1e-8, "{text}: {:e} with an error of {:e}", d.slopes[0], d.errors[0]);
        }
    });
}

/// Only the rows that a measure reads are differentiated, with the same result.
#[test]
fn rows_that_a_measure_does_not_read_are_left_out() {
    with(&text_of("double_pendulum_damped"), |p, find| {
        let which = ["l1", "c"].map(find);
        let study = Study { t_end: 0.5, output_step: 0.02, ..Study::of(&p.model().expect("a mechanism")) };
        let whole = of_run(p, &study, &which).unwrap_or_else(|e| panic!("{e}"));
        for text in ["max(abs(tip.z))", "last(tip.x)", "at(tip.x, 0.33)", "range(lower.v.x)", "first(t, tip.z < -1.1)", "mean(tip.z)"] {
            let m = Measure::new(text, &whole.run.columns).unwrap_or_else(|e| panic!("{text}: {e}"));
            let needed = |run: &fourbar::Trajectory| -> Result<Vec<bool>, Error> { Ok(m.rows(run)?) };
            let some = of_rows(p, &study, &which, &needed).unwrap_or_else(|e| panic!("{e}"));
            let (a, b) = (of_measure(&m, &whole).expect("derivatives"), of_measure(&m, &some).expect("derivatives"));
            assert_eq!((a.value, &a.slopes), (b.value, &b.slopes), "{text}");
            let count = m.rows(&whole.run).expect("rows").iter().filter(|r| **r).count();
            assert_eq!(text.starts_with("mean"), count == whole.run.len(), "{text}: {count}");
        }
    });
}

/// A loop with redundant rows, falling from rest (reference value of the project, one-angle reduction).
#[test]
fn a_redundant_loop_follows_its_crank() {
    with(&text_of("fourbar_free"), |p, find| {
        let which = [find("a")];
        let study = Study { t_end: 0.3, output_step: 0.01, tol: Some(1e-11), ..Study::of(&p.model().expect("a mechanism")) };
        let run = of_run(p, &study, &which).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(run.method, Method::Series);
        let angle = Measure::new("last(O.angle)", &run.run.columns).expect("a measure");
        let d = of_measure(&angle, &run).expect("derivatives");
        near(d.value, -0.3801070587457518, 1e-8);
        near(d.slopes[0], 8.143682070884857, 1e-6);
    });
}

/// The pin of a crank is equally far to the right and to the left: the derivative with respect to the crank is the same at both instants,
/// but that with respect to the position of its hinge differs, which is reported.
#[test]
fn an_extreme_that_is_reached_twice_is_told() {
    let text = "
fourbar: 1
parameters: {r: 0.1, e: 0}
bodies: {crank: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], at: [e, 0, 0]}}
joints: {O: {type: revolute, bodies: [ground, crank], at: [e, 0, 0], axis: [0, 0, 1]}}
drives: {motor: {joint: O, angle: 2*pi*t}}
points: {P: {body: crank, at: [r, 0, 0]}}
study: {t_end: 0.9, output_step: 50 ms}
";
    with(text, |p, find| {
        let study = Study::of(&p.model().expect("a mechanism"));
        for (names, told) in [(vec!["r"], false), (vec!["r", "e"], true)] {
            let which: Vec<usize> = names.iter().map(|n| find(n)).collect();
            let run = of_run(p, &study, &which).unwrap_or_else(|e| panic!("{e}"));
            let m = Measure::new("max(abs(P.x))", &run.run.columns).expect("a measure");
            let d = of_measure(&m, &run).expect("derivatives");
            near(d.slopes[0], 1.0, 1e-9);
            let tied = ties(&m, &run);
            assert_eq!(tied.as_ref().map(|w| w.code.0), told.then_some("W423"), "{tied:?}");
            if told {
                assert!((d.slopes[1].abs() - 1.0).abs() < 1e-9, "{:?}", d.slopes);
                assert!(tied.is_some_and(|w| w.message.contains("0.5")), "both instants are named");
            }
        }
    });
}

/// A Bennett linkage with four independent lengths: none can change alone, all can in proportion.
#[test]
fn one_bar_of_a_bennett_linkage_cannot_change_alone() {
    let (alpha, q) = (70_f64.to_radians(), 1.0_f64);
    let beta = (0.8 * alpha.sin()).asin();
    let ratio = ((beta + alpha) / 2.0).sin() / ((beta - alpha) / 2.0).sin();
    let p2 = 2.0 * (ratio / (q / 2.0).tan()).atan();
    let (turns, twists) = ([q, p2, -q], [alpha, beta, alpha, beta]);
    let build = move |L: &[f64]| -> Result<Model, Error> {
        let mut spec = ModelSpec::default();
        let names = ["ground", "bar1", "bar2", "bar3"];
        // Frames after Denavit and Hartenberg: rotate about z, translate along x, twist about x. The ground is the last bar.
        let drawn = [L[0], L[1], L[2]];
        let (mut r, mut A) = (nalgebra::Vector3::zeros(), nalgebra::Matrix3::identity());
        for k in 0..3 {
            A *= nalgebra::Rotation3::from_axis_angle(&nalgebra::Vector3::z_axis(), turns[k]).into_inner();
            let body = BodySpec {
                mass: 1.0,
                inertia: Inertia::Principal([0.1, 0.1, 0.1]),
                at: r.into(),
                orientation: Orientation::Quaternion(fourbar_math::so3::quaternion(&A)),
                ..BodySpec::default()
            };
            spec.bodies.push((names[k + 1].into(), body));
            r += A * nalgebra::Vector3::new(drawn[k], 0.0, 0.0);
            A *= nalgebra::Rotation3::from_axis_angle(&nalgebra::Vector3::x_axis(), twists[k]).into_inner();
        }
        let start = |_: usize| FrameSpec { at: [0.0; 3], axis: [0.0, 0.0, 1.0], x: None };
        let end = |k: usize| FrameSpec { at: [L[k], 0.0, 0.0], axis: [0.0, -twists[k].sin(), twists[k].cos()], x: None };
        // The ground carries hinge 1 at its origin and hinge 4 one bar before it.
        let last = FrameSpec { at: [-L[3], 0.0, 0.0], axis: [0.0, twists[3].sin(), twists[3].cos()], x: None };
        for k in 0..4 {
            let (base, moving, bodies) = match k {
                0 => (start(0), start(0), ["ground", "bar1"]),
                3 => (last, end(2), ["ground", "bar3"]),
                _ => (end(k - 1), start(k), [names[k], names[k + 1]]),
            };
            let joint = JointSpec::Pair {
                kind: PairKind::Revolute,
                bodies: bodies.map(String::from),
                placement: Placement::Frames { base, moving },
            };
            spec.joints.push((format!("J{}", k + 1), joint));
        }
        spec.build()
    };
    let names = ["L1", "L2", "L3", "L4"].map(String::from).to_vec();
    let p = Parameters::new(names, vec![0.5, 0.4, 0.5, 0.4], &build);
    // Reference values of the project: rows in metres and in unit dot products, each length alone and two opposite ones together.
    let rates = openings(&p, &[0, 1, 2, 3]).unwrap_or_else(|e| panic!("{e}"));
    for (x, exact) in rates.iter().zip([0.47412432, 0.48301314, 0.47412432, 0.48301314]) {
        near(*x, exact, 1e-7);
    }
    let opposite = |s: &[f64]| build(&[0.5, s[0], 0.5, s[0]]);
    let two = Parameters::new(vec!["opposite".into()], vec![0.4], &opposite);
    near(openings(&two, &[0]).unwrap_or_else(|e| panic!("{e}"))[0], 0.4845143, 1e-7);
    for k in 0..4 {
        let d = of_start(&p, &[k]).expect_err("it would open").cause().clone();
        assert_eq!(d.code.0, "S430", "{d}");
        let expected = if k % 2 == 0 { "1 : 0.8 : 1 : 0.8" } else { "1 : 1.25 : 1.25 : 1" };
        assert!(d.help.contains("`L1`") && d.help.contains("`L4`"), "{}", d.help);
        if k == 0 {
            assert!(d.help.contains(expected), "{}", d.help);
        }
    }
    // In proportion it is possible, and every position grows with its distance.
    let whole = |s: &[f64]| build(&[s[0], 0.8 * s[0], s[0], 0.8 * s[0]]);
    let p = Parameters::new(vec!["size".into()], vec![0.5], &whole);
    assert!(openings(&p, &[0]).unwrap_or_else(|e| panic!("{e}"))[0] < 1e-8);
    let s = of_start(&p, &[0]).unwrap_or_else(|e| panic!("{e}"));
    let place = s.columns.column("bar2.r.x").expect("a column")[0];
    near(s.slopes[0].column("bar2.r.x").expect("a column")[0], place / 0.5, 1e-7);
}

/// Every shipped model with parameters: derivatives of a short run compared with central differences of runs. One part of the models in
/// each test, so that they run in parallel.
fn agree_with_differences_of_runs(part: usize) {
    let seed = 20 + part as u64;
    println!("seed {seed}");
    let mut random = fourbar::random::Random(seed);
    let (mut compared_models, mut by_runs, mut refused) = (0, 0, Vec::new());
    for (_, e) in fourbar_io::examples::examples().enumerate().filter(|(k, _)| k % PARTS == part) {
        let Ok(loaded) = read_model(e.text, &ReadOptions { set: &[], ..ReadOptions::default() }) else { continue };
        // Mechanisms with contacts use differences anyway, and short steps for those and for the stiffest models take long.
        if ["stiff_beam", "stiff_cable", "stiff_friction"].contains(&e.name) {
            continue;
        }
        if loaded.parameters.is_empty() || loaded.mechspec || loaded.spec.settle || !loaded.spec.contacts.is_empty() {
            continue;
        }
        with(e.text, |p, _| {
            let model = p.model().unwrap_or_else(|d| panic!("{}: {d}", e.name));
            let own = Study::of(&model);
            let t_end = own.t_end.min(0.05);
            let study =
                Study { t_end, output_step: t_end / 2.0, step: None, formulation: None, integrator: None, options: Vec::new(), ..own };
            // Two random parameters among those in use.
            let used: Vec<usize> = (0..p.names.len()).filter(|&k| !loaded.unused_parameters.contains(&p.names[k])).collect();
            let which: Vec<usize> =
                (0..2).map(|_| used[((random.number() * 0.5 + 0.5) * used.len() as f64) as usize % used.len()]).collect();
            let clock = std::time::Instant::now();
            let run = match of_run(p, &study, &which) {
                Ok(run) => run,
                Err(d) => {
                    refused.push(format!(
                        "{} by {}: {}",
                        e.name,
                        which.iter().map(|k| p.names[*k].as_str()).collect::<Vec<_>>().join(", "),
                        d.cause()
                    ));
                    assert!(["S430", "S432"].contains(&d.cause().code.0), "{}: {d}", e.name);
                    return;
                }
            };
            println!("{}: {:?}, {:.2} s", e.name, run.method, clock.elapsed().as_secs_f64());
            if run.method == Method::Differences {
                // These derivatives are differences themselves.
                by_runs += 1;
                return;
            }
            let joint = model.joints.iter().find_map(|j| j.coordinates().last().map(|(key, _)| format!("{}.{key}", j.name)));
            let column = joint.unwrap_or_else(|| format!("{}.r.x", model.bodies[1].name));
            let speed = format!("{}.v.z", model.bodies[model.bodies.len() - 1].name);
            let measures =
                [format!("last({column})"), format!("mean({speed})")].map(|m| Measure::new(&m, &run.run.columns).expect("a measure"));
            let found = measures.iter().map(|m| of_measure(m, &run).expect("a derivative")).collect::<Vec<_>>();
            let against = match compared(p, &study, &which, &|_, _| Ok(measures.to_vec()), &found) {
                Ok(a) => a,
                Err(d) => {
                    refused.push(format!("{} (runs around): {}", e.name, d.cause()));
                    return;
                }
            };
            for (d, a) in found.iter().zip(&against) {
                let size = d.value.abs().max(1e-3);
                for (i, &k) in which.iter().enumerate() {
                    let scale = if p.values[k] == 0.0 { 1.0 } else { p.values[k].abs() };
                    let gap = (d.slopes[i] - a.by_runs[i]).abs() * scale;
                    let most = (d.slopes[i] * scale).abs().max(size);
                    let told = d.errors[i] * scale;
                    assert!(told < 1e-2 * most, "{} {} by {}: said to be within {told}", e.name, d.of, p.names[k]);
                    assert!(gap < 1e-4 * most + told, "{} {} by {}: {} instead of {}", e.name, d.of, p.names[k], d.slopes[i], a.by_runs[i]);
                }
            }
            compared_models += 1;
        });
    }
    println!("{compared_models} models compared, {by_runs} by differences anyway; not: {refused:#?}");
    assert!(compared_models >= 25 / PARTS, "{compared_models}");
}

const PARTS: usize = 4;

#[test]
fn shipped_models_agree_with_differences_of_runs_first() {
    agree_with_differences_of_runs(0);
}

#[test]
fn shipped_models_agree_with_differences_of_runs_second() {
    agree_with_differences_of_runs(1);
}

#[test]
fn shipped_models_agree_with_differences_of_runs_third() {
    agree_with_differences_of_runs(2);
}

#[test]
fn shipped_models_agree_with_differences_of_runs_fourth() {
    agree_with_differences_of_runs(3);
}

/// A wave with many equal peaks: derivatives at the peaks that differ only by rounding count as equal, others are reported.
#[test]
fn peaks_whose_derivatives_differ_by_rounding_are_alike() {
    use fourbar::Trajectory;
    use fourbar::random::Random;
    use fourbar::trajectory::Column;
    let column = |name: &str, unit: &'static str| Column { name: name.into(), unit: unit.into() };
    let mut random = Random(20_261_123);
    for case in 0..40 {
        let size = (1.0 + random.number()) * 1e-3;
        let mut run = Trajectory::new(vec![column("t", "s"), column("x", "m")]);
        let [mut none, mut some, mut other] = [run.clone(), run.clone(), run.clone()];
        for k in 0..=400 {
            let t = 0.05 * f64::from(k);
            let x = (t * std::f64::consts::PI).sin();
            run.push(&[t, x]);
            none.push(&[0.0, 1e-13 / size * random.number()]);
            some.push(&[0.0, x + 1e-13 / size * random.number()]);
            other.push(&[0.0, x * (1.0 + 0.1 * t)]);
        }
        let m = Measure::new("max(x)", &run.columns).expect("a measure");
        for (slopes, told) in [(none, false), (some, false), (other, true)] {
            let of = OfRun {
                run: run.clone(),
                rough: vec![slopes.clone()],
                slopes: vec![slopes],
                beside: Vec::new(),
                method: Method::Tangent,
                sizes: vec![size],
                seconds: [0.0; 2],
                warnings: Vec::new(),
            };
            assert_eq!(ties(&m, &of).is_some(), told, "case {case}");
        }
    }
}

/// The direct dependence of a measure on a parameter that it names is part of its derivative: that of `x/l` is `(x' - x/l)/l`.
#[test]
fn a_measure_that_names_a_parameter_follows_it_by_itself() {
    let text = "
fourbar: 1
parameters: {l: 0.7, m: 1.2}
gravity: [0, 0, -9.81]
bodies: {rod: {mass: m, inertia: [0.01, 'm*l^2/12', 'm*l^2/12'], at: [l/2, 0, 0]}}
joints: {pin: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}
points: {tip: {body: rod, at: [l/2, 0, 0]}}
study: {t_end: 0.5, output_step: 0.05}
";
    let texts = ["last(tip.x)", "last(tip.x)/l", "last(tip.x) + 2 m"];
    with(text, |p, find| {
        let which = ["l", "m"].map(find);
        let study = Study::of(&p.model().expect("a mechanism"));
        let read = |columns: &[Column], values: &[f64]| -> Result<Vec<Measure>, Error> {
            let known: Vec<_> = p.names.iter().cloned().zip(values.iter().copied()).map(|(n, x)| (n, x, None)).collect();
            Ok(texts.iter().map(|t| fourbar_io::studies::measure(t, columns, &[], &known)).collect::<Result<Vec<_>, _>>()?)
        };
        let found = of_measures(p, &study, &which, &read).unwrap_or_else(|e| panic!("{e}")).derivatives;
        let back = of_many(p, &study, &which, &read).unwrap_or_else(|e| panic!("{e}")).expect("a tree").derivatives;
        for d in [&found, &back] {
            let (x, l) = (d[0].value, p.values[which[0]]);
            near(d[1].slopes[0], (d[0].slopes[0] - x / l) / l, 1e-8);
            near(d[1].slopes[1], d[0].slopes[1] / l, 1e-8);
            // A unit is not a parameter.
            assert_eq!(d[2].slopes, d[0].slopes);
        }
        let against = compared(p, &study, &which, &read, &found).unwrap_or_else(|e| panic!("{e}"));
        assert!(against.iter().all(|a| a.worst < 1e-5), "{against:?}");
    });
}
