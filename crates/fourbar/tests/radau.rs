//! Radau IIA in absolute and in joint coordinates: its order, its errors against references and against Taylor series, stiff forces,
//! redundant rows, states, rolling, runs in two parts; and the detection of stiff forces.

use fourbar::random::Random;
use fourbar::study::Study;
use fourbar::{Model, Trajectory};
use fourbar_testing::common::*;
use fourbar_testing::families;
use nalgebra::Vector3;

fn by(model: &Model, formulation: &str, integrator: &str) -> Study {
    Study { formulation: Some(formulation.into()), integrator: Some(integrator.into()), ..Study::of(model) }
}

/// Absolute and joint coordinates.
const BOTH: [&str; 2] = ["ra", "grcr"];

/// Kind of a column, and its test by name.
type Kind = (&'static str, fn(&str) -> bool);

fn is_position(c: &str) -> bool {
    c.contains(".r.")
}

/// Largest difference in the columns that `choose` takes, at all output times.
fn difference(a: &Trajectory, b: &Trajectory, choose: impl Fn(&str) -> bool) -> f64 {
    let columns = a.columns.iter().map(|c| c.name.as_str()).filter(|c| choose(c));
    let pairs = columns.map(|c| (a.find(c).expect("its own"), b.find(c).expect("the same model")));
    let (mut most, mut compared) = (0.0_f64, 0);
    for (j, k) in pairs {
        assert_eq!(a.values[j].len(), b.values[k].len());
        for (x, y) in a.values[j].iter().zip(&b.values[k]) {
            most = most.max((x - y).abs());
            compared += 1;
        }
    }
    assert!(compared > 0);
    most
}

/// Errors at some tolerances against a run of Taylor series, metres; output times lie inside steps.
fn errors(model: &Model, formulation: &str, t_end: f64, tolerances: &[f64]) -> Vec<f64> {
    let outputs = Study { t_end, output_step: t_end / 40.0, ..by(model, "natural", "taylor") };
    let (truth, _) = run(model, &Study { tol: Some(1e-12), ..outputs.clone() });
    let at = |tol: &f64| {
        let study = Study { formulation: Some(formulation.into()), integrator: Some("radau".into()), tol: Some(*tol), ..outputs.clone() };
        difference(&run(model, &study).0, &truth, is_position)
    };
    tolerances.iter().map(at).collect()
}

#[test]
fn fixed_steps_show_the_fifth_order_in_positions_velocities_and_reactions() {
    let spring = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/nc_rscr.yaml")).expect("shipped")
        + "\nforces:\n  pull: {type: spring, between: [{body: part2}, {body: ground, at: [0.3, 0.4, 0.5]}], stiffness: 40, length: 0.5, damping: 0.8}\n  motor_torque: {type: actuator, joint: J1, effort: 2*sin(5*t) - 0.05*J1.speed}\n";
    let (pendulum, rscr) = (model("ra_double_pendulum"), parse(&spring));
    let cases = [("double pendulum", &pendulum, 0.01, 1.0), ("loop", &rscr, 0.0125, 0.25)];
    for ((what, model, h, t_end), formulation) in cases.iter().flat_map(|c| BOTH.map(|f| (*c, f))) {
        let runs: Vec<Trajectory> = [1.0, 0.5, 0.25]
            .map(|k| run(model, &Study { step: Some(k * h), t_end, output_step: t_end / 10.0, ..by(model, formulation, "radau") }).0)
            .into();
        let kinds: [Kind; 3] =
            [("positions", is_position), ("velocities", |c| c.contains(".v.")), ("reactions", |c| c.contains(".force."))];
        for (kind, choose) in kinds {
            let [coarse, fine] = [0, 1].map(|k| difference(&runs[k], &runs[k + 1], choose));
            let order = (coarse / fine).log2();
            println!("{what}, {formulation}, {kind}: {order:.2}, {coarse:.1e} and {fine:.1e}");
            assert!(order > 4.5 && order < 6.5, "{what}, {formulation}, {kind}: order {order:.2}");
        }
    }
}

#[test]
fn errors_follow_the_tolerance() {
    // Stiff; redundant; redundant rows that change during rotation; unstable; states and inputs; a fast spin; a prescribed motor.
    let cases = [
        ("a05_flyball_governor", 2.0),
        ("a04_bricard", 2.0),
        ("watt_governor", 5.0),
        ("lie_two_floating_bodies", 1.0),
        ("pid_pendulum", 2.0),
        ("dc_motor_slider_crank", 0.5),
        ("lie_heavy_top", 1.0),
        ("double_wishbone", 1.0),
        ("a03_andrews_beta0_m0p0620", 0.03),
    ];
    let tolerances = [1e-4, 1e-6, 1e-8, 1e-10];
    for ((name, t_end), formulation) in cases.iter().flat_map(|c| BOTH.map(|f| (*c, f))) {
        let model = model(name);
        let errors = errors(&model, formulation, t_end, &tolerances);
        println!("{name}, {formulation}: {}", errors.iter().map(|e| format!("{e:.1e}")).collect::<Vec<_>>().join(" "));
        for (tol, e) in tolerances.iter().zip(&errors) {
            assert!(*e < 100.0 * tol * model.length, "{name}, {formulation} at {tol:e}: {e:.1e} m, length {}", model.length);
        }
        assert!(errors.windows(2).all(|w| w[1] < 0.2 * w[0]), "{name}, {formulation}: {errors:?}");
    }
}

#[test]
fn tolerances_are_kept_at_which_other_implicit_methods_give_up() {
    let pendulum = model("a01_simple_pendulum");
    let study = Study { tol: Some(1e-9), ..by(&pendulum, "ra", "radau") };
    let (t, report) = run(&pendulum, &study);
    let (truth, _) = run(&pendulum, &Study { tol: Some(1e-13), ..by(&pendulum, "natural", "taylor") });
    assert!(difference(&t, &truth, is_position) < 1e-7 && report.work.iter().any(|(n, x)| n == "steps" && *x < 3000.0));
    let bodies = model("lie_two_floating_bodies");
    let (_, report) = run(&bodies, &Study { tol: Some(1e-10), ..by(&bodies, "ra", "radau") });
    assert!(!report.stopped);
}

#[test]
fn the_stiff_governor_takes_far_fewer_evaluations_than_an_explicit_method() {
    let governor = model("a05_flyball_governor");
    let count = |study: &Study| {
        let work = run(&governor, study).1.work;
        work.iter().find(|(n, _)| n == "evaluations").map(|(_, x)| *x).expect("counted")
    };
    let with = |formulation, integrator| count(&Study { t_end: 5.0, tol: Some(1e-6), ..by(&governor, formulation, integrator) });
    let (absolute, explicit) = (with("ra", "radau"), with("lie", "dopri5"));
    let (joint, explicit_joint) = (with("grcr", "radau"), with("grcr", "dop853"));
    println!("{absolute} and {explicit}, {joint} and {explicit_joint}");
    assert!(absolute < 0.1 * explicit && joint < 0.1 * explicit_joint);
}

#[test]
fn singular_positions_of_the_ladder_are_passed_on_the_right_branch() {
    let ladder = model("a02_n_fourbar_N2");
    let absolute = errors(&ladder, "ra", 10.0, &[1e-4, 1e-6, 1e-8, 1e-9]);
    println!("{absolute:?}");
    // The motion is sensitive at the passages: a disturbance grows by a factor of some hundred.
    assert!(absolute[0] < 0.05 && absolute[1] < 5e-4 && absolute[2] < 5e-6 && absolute[3] < 1e-6, "{absolute:?}");
    let tolerances = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10];
    let joint = errors(&ladder, "grcr", 10.0, &tolerances);
    println!("{joint:?}");
    // Bars are one metre long.
    assert!(joint.iter().zip(tolerances).all(|(e, tol)| *e < 100.0 * tol), "{joint:?}");
}

#[test]
fn rolling_and_load_dependent_friction_agree_with_an_explicit_method() {
    let ball = "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies: {ball: {mass: 2, inertia: [0.03, 0.032, 0.034], at: [0, 0, 0.2], velocity: [0.4, 0, 0], omega: [0, 2, 1]}}\nconstraints: {roll: {type: rolling-sphere, on: {body: ball}, radius: 0.2}}\nforces: {push: {type: force, on: {body: ball, at: [0.05, 0, 0.05]}, force: ['2*sin(3*t)', '1', '0']}}\n";
    let rubbing = "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n  a: {mass: 2, inertia: [0.05, 0.06, 0.02], at: [0.3, 0, 0]}\n  b: {mass: 1, inertia: [0.02, 0.03, 0.01], at: [0.8, 0, 0]}\njoints:\n  O: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}\n  P: {type: revolute, bodies: [a, b], at: [0.6, 0, 0], axis: [0, 1, 0]}\nforces:\n  rub: {type: friction, joint: O, coulomb: 0.2, radius: 0.05, speed: 0.05}\n";
    for (what, text) in [("ball", ball), ("friction", rubbing)] {
        let model = parse(text);
        let outputs = Study { t_end: 1.0, output_step: 0.05, tol: Some(1e-9), ..by(&model, "lie", "dop853") };
        let (truth, _) = run(&model, &Study { tol: Some(1e-12), ..outputs.clone() });
        for formulation in BOTH {
            let study = Study { formulation: Some(formulation.into()), integrator: Some("radau".into()), ..outputs.clone() };
            let (t, _) = run(&model, &study);
            let d = difference(&t, &truth, |c| is_position(c) || c.contains(".v.") || c.contains("energy"));
            println!("{what}, {formulation}: {d:.1e}");
            assert!(d < 1e-6, "{what}, {formulation}: {d:.1e}");
        }
    }
}

#[test]
fn drawn_mechanisms_move_as_with_an_explicit_method() {
    let mut compared = 0;
    for seed in 5000..5060 {
        let Ok(model) = families::mechanism(seed).build() else { continue };
        let outputs = Study { t_end: 0.1, output_step: 0.01, tol: Some(1e-8), ..by(&model, "lie", "dop853") };
        let mut truth = Trajectory::default();
        if fourbar::study::run(&model, &Study { tol: Some(1e-11), ..outputs.clone() }, &mut truth).is_err() {
            continue;
        }
        for formulation in BOTH {
            let mut t = Trajectory::default();
            let study = Study { formulation: Some(formulation.into()), integrator: Some("radau".into()), ..outputs.clone() };
            if let Err(f) = fourbar::study::run(&model, &study, &mut t) {
                panic!("seed {seed}, {formulation}: {}", f.diagnostic);
            }
            let d = difference(&t, &truth, is_position) / model.length;
            assert!(d < 1e-5, "seed {seed}, {formulation}: {d:.1e} L");
        }
        compared += 1;
    }
    println!("{compared} compared");
    assert!(compared > 30);
}

/// Bodies on one shaft of random direction, rotating and sliding at constant speed: the first on a cylindrical joint, the others on hinges
/// about the same axis.
fn shaft(seed: u64) -> (Model, [f64; 2]) {
    let mut numbers = Random(seed);
    let mut random = move || numbers.number();
    let axis = Vector3::new(random(), random(), random() + 1.5).normalize();
    let point = Vector3::new(random(), random(), random());
    let (spin, slide) = ((5.0 + 20.0 * random().abs()) * random().signum(), 0.5 * random());
    let list = |x: Vector3<f64>| format!("[{}, {}, {}]", x.x, x.y, x.z);
    let (mut bodies, mut joints) = (String::new(), String::new());
    for k in 0..3 {
        let at = point + Vector3::new(random(), random(), random());
        let speed = axis * slide + axis.cross(&(at - point)) * spin;
        // Axes of the body are those of the world: the same moment of inertia about every axis keeps the bearing free of moments.
        bodies += &format!(
            "  b{k}: {{mass: {}, inertia: [0.02, 0.02, 0.02], at: {}, velocity: {}, omega: {}}}\n",
            1.0 + random().abs(),
            list(at),
            list(speed),
            list(axis * spin)
        );
        let (kind, base) = if k == 0 { ("cylindrical", "ground".into()) } else { ("revolute", format!("b{}", k - 1)) };
        joints += &format!("  j{k}: {{type: {kind}, bodies: [{base}, b{k}], at: {}, axis: {}}}\n", list(point), list(axis));
    }
    (parse(&format!("fourbar: 1\nbodies:\n{bodies}joints:\n{joints}study: {{t_end: 20, output_step: 0.37}}\n")), [spin, slide])
}

#[test]
fn steady_screw_motions_take_few_steps_and_are_exact() {
    for seed in 0..20 {
        let (model, [spin, slide]) = shaft(seed);
        let (t, report) = run(&model, &Study { tol: Some(1e-8), ..by(&model, "ra", "radau") });
        let steps = report.work.iter().find(|w| w.0 == "steps").map_or(f64::NAN, |w| w.1);
        let turns = (20.0 * spin / std::f64::consts::TAU).abs();
        println!("seed {seed}: {steps} steps in {turns:.0} turns");
        // In world axes the circles would take about a hundred steps per turn at this tolerance.
        assert!(steps < 60.0 + 15.0 * turns, "seed {seed}: {steps} steps in {turns:.0} turns");
        for (column, speed) in [("j0.angle", spin), ("j0.distance", slide)] {
            let (times, values) = (t.column("t").expect("there"), t.column(column).expect("there"));
            let off = values.iter().zip(times).fold(0.0_f64, |m, (x, t)| m.max((x - values[0] - speed * t).abs()));
            assert!(off < 1e-7, "seed {seed}: {column} is {off:.1e} off");
        }
    }
}

#[test]
fn the_work_of_drives_keeps_its_tolerance_where_the_motion_is_prescribed() {
    // Only the accuracy of the work limits steps here: the motion is prescribed by the drive.
    for seed in 0..12u64 {
        let mut numbers = Random(seed);
        let mut random = move || 0.5 + 0.5 * numbers.number();
        let (speed, shake, fast, pulse) = (1.0 + 4.0 * random(), 0.05 * random(), 10.0 + 30.0 * random(), 20.0 + 60.0 * random());
        let text = format!(
            "fourbar: 1\nbodies: {{block: {{mass: 1, inertia: [0.01, 0.01, 0.01]}}}}\njoints: {{guide: {{type: prismatic, bodies: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}}}}\ndrives: {{feed: {{joint: guide, distance: '{speed}*t + {shake}*sin({fast}*t)'}}}}\nforces:\n  rub: {{type: friction, joint: guide, coulomb: 0.3, speed: 0.001, preload: 20}}\n  pulse: {{type: force, on: {{body: block}}, force: ['50*sin({pulse}*t)^2', '0', '0']}}\nstudy: {{analysis: dynamics, t_end: 2, output_step: 0.05}}\n"
        );
        let model = parse(&text);
        for tol in [1e-4, 1e-6, 1e-8] {
            let (t, _) = run(&model, &Study { tol: Some(tol), ..by(&model, "ra", "radau") });
            let column = |name: &str| t.column(name).expect("there").to_vec();
            let (total, work) = (column("energy.total"), column("energy.work"));
            let most = column("energy.kinetic").iter().fold(0.0_f64, |m, x| m.max(*x));
            let off = total.iter().zip(&work).fold(0.0_f64, |m, (e, w)| m.max((e - w - (total[0] - work[0])).abs()));
            assert!(off <= 300.0 * tol * most, "seed {seed} at {tol:.0e}: energy minus work is {off:.1e} off, of {most:.1e} J");
        }
    }
}

#[test]
fn runs_in_two_parts_are_the_same_to_the_bit() {
    for (name, t_end) in [("a05_flyball_governor", 0.5), ("watt_governor", 1.0), ("dc_motor_slider_crank", 0.2), ("a04_bricard", 1.0)] {
        let model = model(name);
        for (tol, step) in [(Some(1e-6), None), (None, Some(t_end / 100.0))] {
            for formulation in BOTH {
                let study = Study { t_end, output_step: t_end / 23.0, tol, step, ..by(&model, formulation, "radau") };
                assert_resumes(&model, &study, 9, name);
            }
        }
    }
}

/// An engine block on four bushings of stiffness `k` with a damping ratio, shaken by a rotating force.
fn engine(k: f64, ratio: f64) -> Model {
    let damping = 2.0 * ratio * (k * 120.0 / 4.0).sqrt();
    let mut text = String::from(
        "fourbar: 1\ngravity: [0, 0, -9.81]\nstudy: {t_end: 2, output_step: 0.05}\nbodies: {block: {mass: 120, inertia: [3, 5, 4.5]}}\nforces:\n  shake: {type: force, on: {body: block, at: [0.1, 0, 0.1]}, force: ['0', '300*sin(80*t)', '300*cos(80*t)']}\n",
    );
    for (i, [x, y]) in [[0.3, 0.25], [0.3, -0.25], [-0.3, 0.25], [-0.3, -0.25]].iter().enumerate() {
        text += &format!(
            "  mount{i}: {{type: bushing, between: [{{body: ground, at: [{x}, {y}, -0.2]}}, {{body: block, at: [{x}, {y}, -0.2]}}], stiffness: [{k}, {k}, {k}, 0, 0, 0], damping: [{damping}, {damping}, {damping}, 0, 0, 0]}}\n"
        );
    }
    parse(&text)
}

#[test]
fn an_explicit_method_that_crawls_gives_way_and_says_so() {
    for ratio in [0.05, 0.2, 0.7, 1.5] {
        let stiff = engine(1e8, ratio);
        let own = Study { tol: Some(1e-6), ..Study::of(&stiff) };
        let (t, report) = run(&stiff, &own);
        assert_eq!(report.integrator, "radau", "{ratio}: {:?}", report.notes);
        assert!(report.notes.iter().any(|n| n.contains("stiff for dop853") && n.contains("with radau")), "{ratio}: {:?}", report.notes);
        assert!(report.warnings.is_empty(), "{ratio}: {:?}", report.warnings);
        // An explicit method given by name is kept, gives the same motion and warns.
        let (named, report) = run(&stiff, &Study { tol: Some(1e-6), ..by(&stiff, "lie", "dop853") });
        assert!(report.warnings.iter().any(|w| w.code.0 == "W235"), "{ratio}: {:?}", report.warnings);
        let d = difference(&t, &named, is_position);
        assert!(d < 1e-5 * stiff.length, "{ratio}: {d:.1e}");
    }
}

#[test]
fn shipped_mechanisms_that_are_not_stiff_keep_their_explicit_methods() {
    for name in ["double_wishbone", "watt_governor", "dc_motor_slider_crank", "ra_double_pendulum", "lie_heavy_top", "rope_swing"] {
        let model = model(name);
        for tol in [1e-3, 1e-6, 1e-9] {
            for formulation in ["lie", "grcr"] {
                for integrator in ["dopri5", "dop853"] {
                    let (_, report) = run(&model, &Study { tol: Some(tol), ..by(&model, formulation, integrator) });
                    let stiff = report.warnings.iter().find(|w| w.code.0 == "W235");
                    assert!(stiff.is_none(), "{name}, {formulation} with {integrator} at {tol:e}: {stiff:?}");
                }
            }
        }
    }
}

#[test]
fn a_dense_matrix_that_would_be_too_large_is_refused() {
    let mut text = String::from("fourbar: 1\nstudy: {t_end: 1}\nbodies:\n");
    (0..1100).for_each(|k| text += &format!("  b{k}: {{mass: 1, inertia: [1, 1, 1], at: [{k}.5, 0, 0]}}\n"));
    text += "joints:\n";
    for k in 0..1100 {
        let before = if k == 0 { "ground".into() } else { format!("b{}", k - 1) };
        text += &format!("  J{k}: {{type: revolute, bodies: [{before}, b{k}], at: [{k}, 0, 0], axis: [0, 1, 0]}}\n");
    }
    let chain = parse(&text);
    let failed = fourbar::study::run(&chain, &by(&chain, "grcr", "radau"), &mut Trajectory::default()).expect_err("too large");
    assert_eq!(failed.diagnostic.code.0, "U308", "{}", failed.diagnostic);
}
