//! Batches: lanes compared with the same mechanisms run separately, lanes with different neighbours, lanes that drop out.

use fourbar::random::Random;
use fourbar::study::{self, Analysis, Study};
use fourbar::{Model, Trajectory};
use fourbar_batch::{Ended, LANES};
use fourbar_io::{ReadOptions, Variations, read_model};
use fourbar_testing::common::{model, parse};

/// A seed of the day where one is given; it is printed where a test fails.
fn seed(own: u64) -> u64 {
    let given = std::env::var("FOURBAR_SEED").ok().and_then(|s| s.parse().ok());
    let seed = given.unwrap_or(own);
    println!("seed {seed}");
    seed
}

fn source(seed: u64) -> Random {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        r.number();
    }
    r
}

fn grcr(model: &Model, integrator: &str, step: Option<f64>, tol: Option<f64>, t_end: f64) -> Study {
    Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some("grcr".into()),
        integrator: Some(integrator.into()),
        step,
        tol,
        t_end,
        output_step: t_end / 20.0,
        ..Study::of(model)
    }
}

fn together(models: &[Model], of: impl Fn(&Model) -> Study) -> (Vec<Ended>, Vec<Trajectory>) {
    let studies: Vec<Study> = models.iter().map(of).collect();
    let cases: Vec<(&Model, &Study)> = models.iter().zip(&studies).collect();
    let mut runs = vec![Trajectory::default(); models.len()];
    let ended = fourbar_batch::run(&cases, &mut runs);
    (ended, runs)
}

fn alone(model: &Model, study: &Study) -> Trajectory {
    let mut run = Trajectory::default();
    study::run(model, study, &mut run).unwrap_or_else(|f| panic!("{}", f.diagnostic));
    run
}

/// The largest difference of a column relative to its size over both runs, and its name. Residuals are all rounding.
fn apart(a: &Trajectory, b: &Trajectory) -> (f64, String) {
    apart_in(a, b, |_| true)
}

fn apart_in(a: &Trajectory, b: &Trajectory, unit: impl Fn(&str) -> bool) -> (f64, String) {
    assert_eq!(a.columns, b.columns);
    assert_eq!(a.len(), b.len());
    let mut worst = (0.0, String::new());
    // Vectors are compared as wholes: components across the plane of a symmetric mechanism are rounding errors.
    let group = |name: &str| name.rsplit_once('.').map_or(name, |x| x.0).to_string();
    for (k, c) in a.columns.iter().enumerate().filter(|(_, c)| !c.name.starts_with("error.") && unit(&c.unit)) {
        let own = group(&c.name);
        let like = a.columns.iter().zip(&a.values).filter(|(o, _)| o.unit == c.unit && group(&o.name) == own);
        let size = like.flat_map(|(_, v)| v).fold(1e-3_f64, |m, x| m.max(x.abs()));
        for (x, y) in a.values[k].iter().zip(&b.values[k]) {
            let d = (x - y).abs() / size;
            if d.is_nan() || d > worst.0 {
                worst = (d, c.name.clone());
            }
        }
    }
    worst
}

/// A tree of five bodies with hinges, a slide and a weld, springs and dampers; all numbers vary randomly about usual ones.
fn tree(r: &mut Random) -> Model {
    let mut x = |value: f64| value * (1.0 + 0.2 * r.number());
    parse(&format!(
        "
fourbar: 1
gravity: [0.3, 0, -9.81]
bodies:
  arm: {{mass: {}, inertia: [0.1, {}, 0.2], at: [0.5, 0, 0], omega: [0, {}, 0]}}
  leg: {{mass: {}, inertia: [0.07, 0.1, {}], at: [1.5, {}, 0]}}
  box: {{mass: {}, inertia: [0.01, 0.02, 0.03], at: [1.0, 0.2, {}]}}
  tip: {{mass: 0.3, inertia: [0.01, 0.02, 0.02], at: [2, 0.1, 0.1]}}
  fan: {{mass: {}, inertia: [0.03, 0.02, 0.02], at: [0.3, -0.2, 0.1]}}
joints:
  shoulder: {{type: revolute, bodies: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0.1]}}
  elbow: {{type: revolute, bodies: [leg, arm], at: [1, 0, 0], axis: [0.2, 0, 1]}}
  rail: {{type: prismatic, bodies: [arm, box], at: [1, 0.2, 0], axis: [1, 0.3, 0.2]}}
  seam: {{type: fixed, bodies: [leg, tip], at: [2, 0, 0]}}
  shaft: {{type: revolute, bodies: [arm, fan], at: [0.3, 0, 0.1], axis: [1, 0, 0]}}
forces:
  coil: {{type: spring, between: [{{body: ground, world: [2, 0, 1]}}, {{body: tip, world: [2, 0.1, 0.1]}}], length: 0.8, stiffness: {}, damping: 0.4}}
  twist: {{type: torsion, joint: elbow, stiffness: {}, damping: 0.05}}
  hold: {{type: spring, between: [{{body: arm, world: [0, 0, 0]}}, {{body: box, world: [1, 0.2, 0]}}], length: 1, stiffness: {}, damping: 2}}
",
        x(2.0),
        x(0.2),
        x(1.0),
        x(1.0),
        x(0.1),
        x(0.1),
        x(0.5),
        x(0.1),
        x(0.4),
        x(20.0),
        x(3.0),
        x(60.0)
    ))
}

fn drawn(n: usize, r: &mut Random, make: impl Fn(&mut Random) -> Model) -> Vec<Model> {
    (0..n).map(|_| make(r)).collect()
}

fn well(ended: &[Ended]) {
    assert!(ended.iter().all(|e| matches!(e, Ended::Well { .. })), "{ended:?}");
}

#[test]
fn trees_with_fixed_steps_are_those_alone_to_rounding() {
    let mut r = source(seed(1));
    let models = drawn(11, &mut r, tree);
    for integrator in ["rk4", "dopri5"] {
        let study = |m: &Model| grcr(m, integrator, Some(2e-3), None, 1.0);
        let (ended, runs) = together(&models, study);
        well(&ended);
        for (m, run) in models.iter().zip(&runs) {
            let (d, name) = apart(&alone(m, &study(m)), run);
            assert!(d < 1e-10, "{integrator}: {name} by {d:e}");
        }
    }
}

#[test]
fn trees_with_chosen_steps_are_those_alone_within_the_tolerance() {
    let mut r = source(seed(2));
    let models = drawn(9, &mut r, tree);
    for (integrator, tol) in [("dopri5", 1e-8), ("dop853", 1e-10)] {
        let study = |m: &Model| grcr(m, integrator, None, Some(tol), 1.0);
        let (ended, runs) = together(&models, study);
        well(&ended);
        for (m, run) in models.iter().zip(&runs) {
            let (d, name) = apart(&alone(m, &study(m)), run);
            assert!(d < 1e3 * tol, "{integrator}: {name} by {d:e}");
        }
    }
}

#[test]
fn a_lane_has_the_same_bits_among_any_others() {
    let mut r = source(seed(3));
    let models = drawn(2 * LANES + 3, &mut r, tree);
    for (integrator, step, tol) in [("rk4", Some(1e-2), None), ("dopri5", None, Some(1e-6)), ("dop853", None, Some(1e-8))] {
        // The runs have different ends, so that lanes are freed and filled at different times.
        let study = |m: &Model| grcr(m, integrator, step, tol, (1.0 + m.bodies[1].mass.fract()).min(1.6));
        let (ended, all) = together(&models, study);
        well(&ended);
        for k in [0, 1, LANES, 2 * LANES + 2] {
            let (_, one) = together(&models[k..=k], study);
            assert!(one[0] == all[k], "{integrator}: case {k}");
        }
        let (_, some) = together(&models[3..8], study);
        assert!(some == all[3..8], "{integrator}");
    }
}

fn fourbar_file() -> Variations {
    let text = fourbar_io::examples::example("fourbar").map(|e| e.text).unwrap_or_default();
    let loaded = read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    Variations::new(&loaded, None, &[], false).unwrap_or_else(|e| panic!("{e}"))
}

/// Four-bars with a fully rotating crank.
fn fourbars(n: usize, r: &mut Random) -> Vec<Model> {
    let file = fourbar_file();
    let mut draw = || {
        let mut x = |value: f64| value * (1.0 + 0.1 * r.number());
        file.model(&[
            ("crank_length", x(0.07)),
            ("coupler_length", x(0.2)),
            ("rocker_length", x(0.16)),
            ("turn", x(6.0)),
            ("plate_mass", x(0.4)),
            ("start", x(1.0)),
        ])
    };
    (0..n).map(|_| draw().unwrap_or_else(|e| panic!("{e}"))).collect()
}

#[test]
fn kinematics_of_loops_is_that_alone_to_rounding() {
    let mut r = source(seed(4));
    let models = fourbars(LANES + 2, &mut r);
    let (ended, runs) = together(&models, Study::of);
    well(&ended);
    for (m, run) in models.iter().zip(&runs) {
        let (d, name) = apart(&alone(m, &Study::of(m)), run);
        assert!(d < 1e-9, "{name} by {d:e}");
    }
    let (_, some) = together(&models[5..7], Study::of);
    assert!(some == runs[5..7], "bits depend on the other lanes");
}

#[test]
fn driven_and_free_loops_move_as_alone() {
    let mut r = source(seed(5));
    let driven = fourbars(5, &mut r);
    let study = |m: &Model| grcr(m, "rk4", Some(2e-3), None, 1.0);
    let (ended, runs) = together(&driven, study);
    well(&ended);
    for (m, run) in driven.iter().zip(&runs) {
        let (d, name) = apart(&alone(m, &study(m)), run);
        assert!(d < 1e-9, "{name} by {d:e}");
    }
    // The same linkages without their motor swing under gravity.
    let free: Vec<Model> = driven
        .into_iter()
        .map(|mut m| {
            m.drives.clear();
            m
        })
        .collect();
    for (integrator, step, tol, limit) in [("rk4", Some(1e-3), None, 1e-8), ("dop853", None, Some(1e-10), 1e-6)] {
        let study = |m: &Model| grcr(m, integrator, step, tol, 0.4);
        let (ended, runs) = together(&free, study);
        let mut moved = 0;
        for ((m, run), ended) in free.iter().zip(&runs).zip(&ended) {
            if matches!(ended, Ended::Well { .. }) {
                moved += 1;
                let (d, name) = apart(&alone(m, &study(m)), run);
                assert!(d < limit, "{integrator}: {name} by {d:e}");
            }
        }
        assert!(moved >= 3, "{integrator}: {ended:?}");
    }
}

#[test]
fn shipped_mechanisms_that_a_batch_takes_move_as_alone() {
    let mut taken = 0;
    for name in fourbar_testing::common::shipped() {
        let m = model(&name);
        let of = Study::of(&m);
        // With very stiff dampers the last digits of positions affect the rates.
        if name == "a05_flyball_governor" {
            continue;
        }
        let study = if of.analysis == Some(Analysis::Dynamics) || m.drives.is_empty() {
            grcr(&m, "dop853", None, Some(1e-11), of.t_end.min(0.3))
        } else {
            Study { t_end: of.t_end.min(1.0), output_step: of.t_end.min(1.0) / 50.0, options: Vec::new(), ..of }
        };
        let (ended, runs) = together(std::slice::from_ref(&m), |_| study.clone());
        if !matches!(ended[0], Ended::Well { .. }) {
            println!("{name}: {:?}", ended[0]);
            continue;
        }
        taken += 1;
        // With adaptive steps, accelerations and loads agree less closely.
        let moved = |unit: &str| ["m", "rad", "m/s", "rad/s"].contains(&unit);
        let (d, column) = apart_in(&alone(&m, &study), &runs[0], moved);
        assert!(d < 1e-6, "{name}: {column} by {d:e}");
    }
    assert!(taken >= 12, "only {taken}");
}

#[test]
fn lanes_that_cannot_go_on_fall_out_and_leave_the_others_alone() {
    let file = fourbar_file();
    // The crank of the third cannot rotate fully, the fifth cannot be closed.
    let at = |crank: f64, rocker: f64| file.model(&[("crank_length", crank), ("rocker_length", rocker)]).ok();
    let models: Vec<Model> = [(0.08, 0.16), (0.07, 0.17), (0.13, 0.12), (0.06, 0.15)].iter().filter_map(|x| at(x.0, x.1)).collect();
    assert_eq!(models.len(), 4);
    let (ended, runs) = together(&models, Study::of);
    assert!(matches!(ended[2], Ended::Alone(_)), "{ended:?}");
    for k in [0, 1, 3] {
        assert!(matches!(ended[k], Ended::Well { .. }), "{ended:?}");
        let (_, one) = together(&models[k..=k], Study::of);
        assert!(one[0] == runs[k]);
    }
}

#[test]
fn what_no_batch_takes_is_told() {
    let told = |name: &str| {
        let m = model(name);
        match &together(std::slice::from_ref(&m), Study::of).0[0] {
            Ended::Alone(why) => why.clone(),
            other => panic!("{name}: {other:?}"),
        }
    };
    assert!(told("planetary_gear").contains("gears"));
    assert!(told("bicycle").contains("rolling"));
    assert!(told("event_catapult").contains("events"));
    assert!(told("nc_free_top").contains("joint coordinates") || told("nc_free_top").contains("hinge"));
}

#[test]
fn a_batch_stops_when_it_is_told_to() {
    struct Few(usize);
    impl study::Observer for Few {
        fn begin(&mut self, _: &[fourbar::trajectory::Column]) {}
        fn row(&mut self, _: &[f64]) {
            self.0 += 1;
        }
        fn go_on(&mut self, _: f64, _: f64) -> bool {
            self.0 < 5
        }
    }
    let mut r = source(seed(6));
    let models = drawn(3, &mut r, tree);
    let studies: Vec<Study> = models.iter().map(|m| grcr(m, "rk4", Some(1e-2), None, 1.0)).collect();
    let cases: Vec<(&Model, &Study)> = models.iter().zip(&studies).collect();
    let mut few = [Few(0), Few(0), Few(0)];
    let ended = fourbar_batch::run(&cases, &mut few);
    assert!(ended.iter().all(|e| *e == Ended::Stopped));
    assert!(few.iter().all(|f| f.0 == 5));
}

/// A smooth pulse on a mechanism at rest is resolved in a batch as in a separate run: the speed after it is that of its impulse.
#[test]
fn pulses_that_find_everything_at_rest_are_met() {
    let mut r = source(seed(20_261_118));
    let mut draw = |low: f64, high: f64| low + (high - low) * 0.5 * (1.0 + r.number());
    let mut speeds = Vec::new();
    let mut models = Vec::new();
    for _ in 0..2 * LANES + 1 {
        let a = draw(0.05, 60.0);
        let b = a + draw(0.01, 0.1);
        let c = b + draw(0.0, 0.1);
        let d = c + draw(0.01, 0.1);
        models.push(parse(&format!(
            "
fourbar: 1
bodies: {{mass: {{mass: 2, inertia: [0.1, 0.1, 0.1]}}}}
joints: {{slide: {{type: prismatic, bodies: [ground, mass], at: [0, 0, 0], axis: [1, 0, 0]}}}}
forces: {{push: {{type: actuator, joint: slide, effort: '4*smoothstep(t, {a:?}, {b:?})*smoothstep(-t, -{d:?}, -{c:?})'}}}}
"
        )));
        speeds.push(2.0 * (0.5 * (b - a) + (c - b) + 0.5 * (d - c)));
    }
    for method in ["dopri5", "dop853"] {
        let (ended, runs) = together(&models, |m| grcr(m, method, None, Some(1e-9), 100.0));
        for ((how, run), speed) in ended.iter().zip(&runs).zip(&speeds) {
            assert!(matches!(how, Ended::Well { .. }), "{method}: not in a batch");
            let off = (run.column("slide.speed").expect("there").last().expect("rows") - speed).abs();
            assert!(off < 1e-6 * speed, "{method}: off by {off:.1e} of {speed}");
        }
    }
}
