//! Time stepping with rigid contacts against closed forms and laws: accurate to its order, and energy never grows.

use fourbar::random::Random;
use fourbar::study::{Analysis, FORMULATIONS, Report, Study};
use fourbar::{Model, Trajectory};
use fourbar_testing::common::*;

const G: f64 = 9.81;

fn stepped(model: &Model, h: f64) -> Study {
    let named = |s: &str| Some(s.to_string());
    Study {
        analysis: Some(Analysis::Dynamics),
        formulation: named("ra"),
        integrator: named("moreau"),
        step: Some(h),
        tol: None,
        ..Study::of(model)
    }
}

fn column(t: &Trajectory, name: &str) -> Vec<f64> {
    t.column(name).unwrap_or_else(|| panic!("no column {name}")).to_vec()
}

fn last(t: &Trajectory, name: &str) -> f64 {
    *column(t, name).last().expect("rows")
}

fn count(report: &Report, name: &str) -> f64 {
    report.work.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no count {name}")).1
}

/// Kinetic and potential energy together never rise from row to row.
fn never_grows(t: &Trajectory, what: &str) {
    grows_by_at_most(t, 1e-9, what);
}

/// Energy grows by at most a fraction of the kinetic energy: joint errors are corrected at the end of every step.
fn grows_by_at_most(t: &Trajectory, share: f64, what: &str) {
    let total = column(t, "energy.total");
    let carried = column(t, "energy.kinetic").iter().fold(0.0_f64, |m, x| m.max(*x));
    for (k, pair) in total.windows(2).enumerate() {
        assert!(pair[1] <= pair[0] + share * carried, "{what}: row {k}: {} after {}", pair[1], pair[0]);
    }
}

/// A number between 0 and 1.
fn unit(random: &mut Random) -> f64 {
    0.5 * (random.number() + 1.0)
}

const BALL: &str = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 1.1, 0]}
contacts:
  floor: {between: [{body: ball, radius: 0.1}, {plane: {normal: [0, 1, 0]}}], restitution: 0.8}
study: {t_end: 5, output_step: 10 ms}
";

/// Height of a ball dropped from 1 m with restitution 0.8, by its impacts.
fn bouncing(t: f64) -> f64 {
    let (e, mut at, mut v) = (0.8, (2.0 / G).sqrt(), (2.0 * G).sqrt());
    if t < at {
        return 1.0 - 0.5 * G * t * t;
    }
    for _ in 0..200 {
        v *= e;
        let flight = 2.0 * v / G;
        if t < at + flight {
            return v * (t - at) - 0.5 * G * (t - at) * (t - at);
        }
        at += flight;
    }
    0.0
}

#[test]
fn a_ball_bounces_to_rest_with_first_order() {
    let model = parse(BALL);
    let mean = |h: f64| {
        let (t, report) = run(&model, &stepped(&model, h));
        never_grows(&t, "ball");
        let (times, y) = (column(&t, "t"), column(&t, "ball.r.y"));
        // The series of impacts ends at 4.0637 s.
        assert!(last(&t, "ball.v.y").abs() < 1e-9 && (last(&t, "floor.normal") - G).abs() < 1e-6);
        assert!(count(&report, "largest_overlap") <= h * (2.0 * G).sqrt() * 1.01, "{:?}", report.work);
        assert!(count(&report, "largest_contact_residual") < 1e-8);
        times.iter().zip(&y).map(|(t, y)| (y - 0.1 - bouncing(*t)).abs()).sum::<f64>() / times.len() as f64
    };
    let errors = [4e-3, 1e-3, 2.5e-4].map(mean);
    println!("{errors:?}");
    assert!(errors[2] < 2e-3 && errors[2] < 0.35 * errors[0], "{errors:?}");
}

/// Sphere with side spin: slides on a parabola, then rolls straight; this needs the friction disk, not a pyramid.
#[test]
fn a_billiard_ball_slides_and_rolls_on_its_closed_form() {
    let model = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0, 0.1], velocity: [1, 0, 0], omega: [15, 5, 7]}
contacts:
  table: {between: [{body: ball, radius: 0.1}, {plane: {normal: [0, 0, 1]}}], friction: 0.2}
study: {t_end: 1.2, output_step: 10 ms}
",
    );
    // Slip of the lowest point: v + w x (0, 0, -R).
    let slip = [1.0 - 5.0 * 0.1, 15.0 * 0.1];
    let size = f64::hypot(slip[0], slip[1]);
    let (a, rolls) = ([0, 1].map(|k| -0.2 * G * slip[k] / size), 2.0 * size / (7.0 * 0.2 * G));
    assert!((rolls - 0.230252).abs() < 1e-6);
    let v0 = [1.0, 0.0];
    let exact = [0, 1].map(|k| v0[k] * 1.2 + a[k] * rolls * (1.2 - 0.5 * rolls));
    let error = |h: f64| {
        let (t, _) = run(&model, &stepped(&model, h));
        never_grows(&t, "billiard");
        let state = column(&t, "table.state");
        assert_eq!((state[10], state[60]), (1.0, 2.0));
        assert!(last(&t, "table.slip") < 1e-9);
        f64::hypot(last(&t, "ball.r.x") - exact[0], last(&t, "ball.r.y") - exact[1])
    };
    let errors = [4e-3, 1e-3].map(error);
    println!("{errors:?}");
    assert!(errors[0] < 2e-4 && errors[1] < 2e-5, "{errors:?}");
}

/// Thrown up an incline of 30 degrees with 2 m/s: sticks where friction holds, slides back where it does not.
#[test]
fn a_block_on_an_incline_sticks_or_slides_back() {
    for mu in [0.7, 0.4] {
        let (s, c) = (0.5, 0.75_f64.sqrt());
        let model = parse(&format!(
            "
fourbar: 1
gravity: [{}, {}, 0]
bodies:
  block: {{mass: 1, inertia: [0.01, 0.01, 0.01], velocity: [2, 0, 0]}}
contacts:
  slope: {{between: [{{body: block, corners: [[-0.1, 0, -0.1], [0.1, 0, -0.1], [0.1, 0, 0.1], [-0.1, 0, 0.1]]}}, {{plane: {{normal: [0, 1, 0]}}}}], friction: {mu}}}
study: {{t_end: 1, output_step: 10 ms}}
",
            -G * s,
            -G * c
        ));
        let (up, stops) = (G * (s + mu * c), 2.0 / (G * (s + mu * c)));
        let top = 0.5 * 2.0 * stops;
        let (t, _) = run(&model, &stepped(&model, 1e-3));
        never_grows(&t, "block");
        let x = last(&t, "block.r.x");
        let exact = if mu > s / c { top } else { top - 0.5 * G * (s - mu * c) * (1.0 - stops).powi(2) };
        assert!((x - exact).abs() < 2e-3, "{mu}: {x} {exact} {up}");
        assert!((last(&t, "slope.normal") - G * c).abs() < 1e-6);
        assert_eq!(last(&t, "slope.state"), if mu > s / c { 2.0 } else { 1.0 });
        if mu > s / c {
            assert!(last(&t, "block.v.x").abs() < 1e-8);
            assert!((last(&t, "slope.tangential.x") + G * s).abs() < 1e-6, "{}", last(&t, "slope.tangential.x"));
        }
    }
}

/// A growing pull: at rest until it reaches the static friction, then accelerated by the excess.
#[test]
fn a_block_breaks_away_where_the_pull_is_that_of_friction() {
    let model = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  block: {mass: 2, inertia: [0.01, 0.01, 0.01], at: [0, 0.05, 0]}
joints:
  flat: {type: planar, bodies: [ground, block], at: [0, 0, 0], axis: [0, 0, 1]}
forces:
  pull: {type: force, on: {body: block, at: [0, -0.05, 0]}, force: ['8*t', 0, 0]}
contacts:
  floor: {between: [{body: block, corners: [[-0.1, -0.05, 0], [0.1, -0.05, 0]]}, {plane: {normal: [0, 1, 0]}}], friction: 0.3}
study: {t_end: 1.5, output_step: 10 ms}
",
    );
    let away = 0.3 * 2.0 * G / 8.0;
    let exact = |t: f64| if t < away { 0.0 } else { 8.0 / (6.0 * 2.0) * (t - away).powi(3) };
    let error = |h: f64| {
        let (t, _) = run(&model, &stepped(&model, h));
        let (times, x, state) = (column(&t, "t"), column(&t, "block.r.x"), column(&t, "floor.state"));
        for ((t, x), state) in times.iter().zip(&x).zip(&state) {
            if *t < away - 2.0 * h {
                assert!(x.abs() < 1e-9 && (*t == 0.0 || *state == 2.0), "rests: {t} {x} {state}");
            } else if *t > away + 2.0 * h {
                assert_eq!(*state, 1.0, "slides at {t}");
            }
        }
        times.iter().zip(&x).map(|(t, x)| (x - exact(*t)).abs()).fold(0.0, f64::max)
    };
    let [coarse, fine] = [1e-3, 2.5e-4].map(error);
    assert!(fine < 2e-4 && fine < 0.35 * coarse, "{coarse:.2e} {fine:.2e}");
}

/// The amplitude decreases by 2 F/k per half swing, and the mass sticks away from the middle.
#[test]
fn an_oscillator_with_dry_friction_sticks_off_the_middle() {
    let model = parse(&format!(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  mass: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.25, 0, 0]}}
forces:
  spring: {{type: spring, between: [{{body: ground, at: [-1, 0, 0]}}, {{body: mass}}], length: 1, stiffness: 100}}
contacts:
  rub: {{between: [{{body: mass, corners: [[-0.1, 0, -0.1], [0.1, 0, -0.1], [0.1, 0, 0.1], [-0.1, 0, 0.1]]}}, {{plane: {{normal: [0, 1, 0]}}}}], friction: {}}}
study: {{t_end: 2, output_step: 10 ms}}
",
        3.0 / G
    ));
    let (t, _) = run(&model, &stepped(&model, 1e-3));
    // 0.25, -0.19, 0.13, -0.07, 0.01 m, each after pi/10 s.
    let x = column(&t, "mass.r.x");
    for (swing, extreme) in [(0.0, 0.25), (1.0, -0.19), (2.0, 0.13), (3.0, -0.07), (4.0, 0.01)] {
        let near = (swing * std::f64::consts::PI / 10.0 / 0.01_f64).round() as usize;
        assert!((x[near] - extreme).abs() < 2e-3, "{swing}: {} {extreme}", x[near]);
    }
    assert!((last(&t, "mass.r.x") - 0.01).abs() < 1e-3 && last(&t, "mass.v.x").abs() < 1e-8);
}

/// A rod on a hinge hits a wall at the bottom of its swing: a fraction e^2 of the energy remains after each impact. In space, with
/// redundant joints.
#[test]
fn a_pendulum_between_redundant_hinges_hits_a_wall() {
    for second in ["", "  pin2: {type: revolute, bodies: [ground, rod], at: [0, 0, 0.3], axis: [0, 0, 1]}\n"] {
        let (s, c) = (1f64.sin(), 1f64.cos());
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  rod: {{mass: 1, inertia: [0.0834, 0.0001, 0.0833333], at: [{}, {}, 0], orientation: {{axis: [0, 0, 1], angle: 1}}}}
joints:
  pin: {{type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1]}}
{second}contacts:
  wall: {{between: [{{body: rod, at: [0, -0.5, 0]}}, {{plane: {{normal: [1, 0, 0]}}}}], restitution: 0.6}}
study: {{t_end: 3, output_step: 5 ms}}
",
            0.5 * s,
            -0.5 * c
        ));
        let (t, report) = run(&model, &stepped(&model, 5e-4));
        grows_by_at_most(&t, 1e-4, "pendulum");
        assert_eq!(report.redundant > 0, !second.is_empty());
        let angle: Vec<f64> = column(&t, "rod.r.x").iter().zip(column(&t, "rod.r.y")).map(|(x, y)| x.atan2(-y)).collect();
        let mut tops = Vec::new();
        for k in 1..angle.len() - 1 {
            if angle[k] > angle[k - 1] && angle[k] >= angle[k + 1] {
                tops.push(angle[k]);
            }
        }
        let mut height = 1.0 - c;
        for top in tops.iter().take(3) {
            height *= 0.36;
            assert!((1.0 - top.cos() - height).abs() < 0.02 * height, "{top} {height}");
        }
        assert!(tops.len() >= 3);
        assert!(column(&t, "error.position").iter().all(|e| *e < 1e-9));
    }
}

/// Random balls without gravity and walls: momentum and angular momentum are conserved to rounding, energy decreases.
#[test]
fn impacts_of_many_balls_keep_momentum() {
    for seed in [1, 2, 3] {
        let mut random = Random(seed * 0x0123_4567_89AB_CDEF);
        let n = 12 + (10.0 * unit(&mut random)) as usize;
        let (e, mu) = (unit(&mut random), unit(&mut random));
        let mut text = String::from("fourbar: 1\nbodies:\n");
        for k in 0..n {
            let x = |r: &mut Random, a: f64| a * (2.0 * unit(r) - 1.0);
            let at = [k % 3, k / 3 % 3, k / 9].map(|i| i as f64 * 0.3 - 0.3);
            let v = at.map(|p| -2.0 * p + x(&mut random, 0.5));
            let w = [0, 1, 2].map(|_| x(&mut random, 10.0));
            let m = 0.5 + unit(&mut random);
            text +=
                &format!("  ball{k}: {{mass: {m}, inertia: [{0}, {0}, {0}], at: {at:?}, velocity: {v:?}, omega: {w:?}}}\n", 0.4 * m * 0.01);
        }
        text += &format!(
            "contacts:\n  hits: {{among: [ball*], radius: 0.1, restitution: {e}, friction: {mu}}}\nstudy: {{t_end: 1, output_step: 20 ms}}\n"
        );
        let model = parse(&text);
        let (t, report) = run(&model, &stepped(&model, 1e-3));
        let what = format!("seed {seed}: {n} balls, e {e:.2}, mu {mu:.2}");
        never_grows(&t, &what);
        assert!(count(&report, "most_contacts") > 1.0, "{what}");
        let momentum = |k: usize| {
            let (mut p, mut l) = (nalgebra::Vector3::zeros(), nalgebra::Vector3::zeros());
            for b in model.bodies.iter().skip(1) {
                let three =
                    |what: &str| nalgebra::Vector3::from_fn(|i, _| column(&t, &format!("{}.{what}.{}", b.name, ["x", "y", "z"][i]))[k]);
                let (r, v, w) = (three("r"), three("v"), three("omega"));
                p += v * b.mass;
                l += r.cross(&v) * b.mass + w * (0.4 * b.mass * 0.01);
            }
            (p, l)
        };
        let ((p0, l0), (p1, l1)) = (momentum(0), momentum(t.len() - 1));
        assert!((p1 - p0).norm() < 1e-10 && (l1 - l0).norm() < 1e-9, "{what}: {} {}", (p1 - p0).norm(), (l1 - l0).norm());
    }
}

/// Random balls fall into a box: none is lost, none passes through another, energy never grows.
#[test]
fn a_heap_of_balls_stays_in_its_box() {
    for seed in [5, 6] {
        let mut random = Random(seed * 0x0123_4567_89AB_CDEF);
        let n = 30 + (30.0 * unit(&mut random)) as usize;
        let (e, mu) = (0.8 * unit(&mut random), unit(&mut random));
        let radius = 0.02;
        let mut text = String::from("fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n");
        for k in 0..n {
            let jitter = 0.004 * (unit(&mut random) - 0.5);
            let at = [(k % 4) as f64 * 0.05 - 0.075 + jitter, (k / 4 % 4) as f64 * 0.05 - 0.075 - jitter, 0.03 + 0.045 * (k / 16) as f64];
            let m = 0.05 + 0.2 * unit(&mut random);
            text += &format!("  ball{k}: {{mass: {m}, inertia: [{0}, {0}, {0}], at: {at:?}}}\n", 0.4 * m * radius * radius);
        }
        text += &format!(
            "contacts:\n  heap: {{among: ['ball*'], radius: {radius}, restitution: {e}, friction: {mu}}}\n  tray: {{between: [{{body: 'ball*', radius: {radius}}}, {{body: ground, box: [0.2, 0.2, 2], at: [0, 0, 1], inside: true}}], restitution: {e}, friction: {mu}}}\nstudy: {{t_end: 0.8, output_step: 20 ms}}\n"
        );
        let model = parse(&text);
        let (t, report) = run(&model, &stepped(&model, 5e-4));
        let what = format!("seed {seed}: {n} balls, e {e:.2}, mu {mu:.2}: {:?}", report.work);
        never_grows(&t, &what);
        for b in model.bodies.iter().skip(1) {
            for (axis, low, high) in [("x", -0.1, 0.1), ("y", -0.1, 0.1), ("z", 0.0, 2.0)] {
                let x = last(&t, &format!("{}.r.{axis}", b.name));
                assert!(x > low + 0.9 * radius && x < high - 0.9 * radius, "{what}: {} {axis} {x}", b.name);
            }
        }
        assert!(count(&report, "largest_overlap") < 0.1 * radius, "{what}");
        // At the end the floor carries the whole weight, nearly at rest.
        let kinetic = last(&t, "energy.kinetic");
        let weight: f64 = model.bodies.iter().map(|b| b.mass).sum::<f64>() * G;
        assert!(kinetic < 0.02 * weight * 0.1, "{what}: {kinetic}");
    }
}

/// Joints transmit impacts through a chain that falls into a box.
#[test]
fn a_chain_falls_into_a_tray() {
    let n = 100;
    let mut text = String::from("fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n");
    for k in 0..n {
        text += &format!(
            "  link{k}: {{mass: 0.1, inertia: [2e-5, 2e-5, 2e-5], at: [{}, {}, {}]}}\n",
            0.01 * (k as f64 * 1.3).sin(),
            0.0,
            0.1 + 0.05 * k as f64
        );
    }
    text += "joints:\n";
    for k in 1..n {
        let middle = |i: usize| 0.01 * (i as f64 * 1.3).sin();
        text += &format!(
            "  j{k}: {{type: spherical, bodies: [link{}, link{k}], at: [{}, 0, {}]}}\n",
            k - 1,
            0.5 * (middle(k - 1) + middle(k)),
            0.075 + 0.05 * k as f64
        );
    }
    text += "contacts:\n  self: {among: ['link*'], radius: 0.02, friction: 0.3}\n  tray: {between: [{body: 'link*', radius: 0.02}, {body: ground, box: [0.3, 0.3, 6], at: [0, 0, 3], inside: true}], friction: 0.4, restitution: 0.1}\nstudy: {t_end: 0.6, output_step: 20 ms}\n";
    let model = parse(&text);
    let (t, report) = run(&model, &stepped(&model, 5e-4));
    println!("{:?}", report.work);
    assert!(column(&t, "error.position").iter().all(|e| *e < 1e-6));
    let total = column(&t, "energy.total");
    grows_by_at_most(&t, 1e-4, "a chain");
    assert!(total.last().expect("rows") < &(0.999 * total[0]), "{total:?}");
    for k in 0..n {
        assert!(last(&t, &format!("link{k}.r.z")) > 0.015);
    }
}

#[test]
fn a_stopped_run_goes_on_to_the_bit() {
    let model = parse(BALL);
    assert_resumes(&model, &Study { t_end: 1.0, ..stepped(&model, 1e-3) }, 30, "ball");
}

#[test]
fn rigid_contacts_choose_their_method_and_a_step() {
    let model = parse(BALL);
    // A single place is treated by events; balls among each other and given step sizes use time stepping.
    let (_, report) = run(&model, &Study { t_end: 0.5, ..Study::of(&model) });
    assert_ne!(report.integrator, "moreau");
    let (_, report) = run(&model, &Study { t_end: 0.1, step: Some(5e-4), ..Study::of(&model) });
    assert_eq!((report.formulation, report.integrator), ("ra", "moreau"));
    let heap = fourbar_testing::common::model("contact_ball_heap");
    let (_, report) = run(&heap, &Study { t_end: 0.02, output_step: 0.01, ..Study::of(&heap) });
    assert_eq!((report.formulation, report.integrator), ("ra", "moreau"));
    assert!(count(&report, "step") <= 1e-3);
}

/// Time stepping runs every shipped model with contacts, including compliant ones, close to the results of other methods.
#[test]
fn shipped_contacts_are_stepped_through() {
    let mut random = Random(0x5eed);
    for name in contacts() {
        let model = model(&name);
        for f in FORMULATIONS.iter().filter(|f| integrators_of(f).contains(&"moreau")) {
            let t_end = 0.03 + 0.03 * unit(&mut random);
            let study = Study {
                formulation: Some(f.name.into()),
                integrator: Some("moreau".into()),
                t_end,
                output_step: 0.2 * t_end,
                // Compliant contacts are integrated explicitly and are stiff; the heap has its step size in the file.
                step: (name != "contact_ball_heap").then_some(1e-5),
                tol: None,
                ..Study::of(&model)
            };
            let (own, report) = run(&model, &study);
            assert_eq!((report.formulation, report.integrator, own.column("t").map(<[f64]>::len)), (f.name, "moreau", Some(6)), "{name}");
            let (other, _) = run(&model, &Study { formulation: None, integrator: None, ..study });
            let mut off = 0.0_f64;
            for b in model.bodies.iter().skip(1) {
                for axis in ["x", "y", "z"] {
                    let c = format!("{}.r.{axis}", b.name);
                    off = off.max((last(&own, &c) - last(&other, &c)).abs());
                }
            }
            println!("{name} {} until {t_end:.4}: {off:.1e} m of {:.1e}", f.name, model.length);
            assert!(off < 2e-3 * model.length, "{name} {} until {t_end}: {off:.1e} m", f.name);
        }
    }
}

/// Limits of joints are treated as events between the steps.
#[test]
fn a_limit_is_met_between_steps() {
    let mut random = Random(0xf00d);
    for _ in 0..4 {
        let (stop, h) = (0.2 + 0.6 * unit(&mut random), 1e-3);
        let model = parse(&format!(
            "
fourbar: 1
bodies: {{cart: {{mass: 2, inertia: [1, 1, 1], velocity: [1, 0, 0]}}}}
joints: {{rail: {{type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0], limits: {{max: {stop}, restitution: 0.5}}}}}}
study: {{analysis: dynamics, t_end: 1, output_step: 0.1}}
"
        ));
        for step in [Some(h), None] {
            let (t, report) = run(&model, &Study { step, ..stepped(&model, h) });
            assert_eq!(report.events.len(), 1, "{stop} {step:?}: {:?}", report.events);
            assert!((report.events[0].t - stop).abs() < 1e-9, "{stop} {step:?}: {:?}", report.events);
            // It comes back with half its speed.
            assert!((last(&t, "cart.r.x") - (stop - 0.5 * (1.0 - stop))).abs() < 1e-9, "{stop} {step:?}");
        }
    }
}

/// Limits and friction in joints are part of the same step as rigid contacts.
#[test]
fn limits_and_friction_are_stepped_through_beside_contacts() {
    let mut random = Random(0xd00d);
    for round in 0..6 {
        let (mass, bound, e, h) = (1.0 + unit(&mut random), 1.0 + unit(&mut random), 0.5 * unit(&mut random), 5e-4);
        // Below the bound it stays at rest, above it it moves until it hits its stop.
        let push = if round % 2 == 0 { 0.95 * bound } else { bound + 1.0 };
        let a = (push - bound) / mass;
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  cart: {{mass: {mass:?}, inertia: [1, 1, 1], at: [0, 2, 0]}}
  ball: {{mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0.3, 0], velocity: [1, 0, 0]}}
joints: {{rail: {{type: prismatic, bodies: [ground, cart], at: [0, 2, 0], axis: [1, 0, 0], limits: {{max: 0.2, restitution: {e:?}}}}}}}
forces:
  rub: {{type: friction, joint: rail, stick: true, preload: {bound:?}}}
  push: {{type: actuator, joint: rail, effort: {push:?}}}
contacts: {{floor: {{between: [{{body: ball, radius: 0.1}}, {{plane: {{normal: [0, 1, 0]}}}}], friction: 0.3, restitution: 0.4}}}}
study: {{analysis: dynamics, t_end: 4, output_step: 0.1}}
"
        ));
        let (t, report) = run(&model, &stepped(&model, h));
        let (x, effort) = (column(&t, "rail.distance"), column(&t, "rub.effort"));
        if a < 0.0 {
            assert!(x.iter().all(|x| x.abs() < 1e-9), "{round}: {x:?}");
            assert!((effort.last().expect("rows") + push).abs() < 1e-6, "{round}: {effort:?}");
            continue;
        }
        let hit = (0.4 / a).sqrt();
        for (t, x) in column(&t, "t").iter().zip(&x).filter(|(t, _)| **t < hit - h) {
            assert!((x - 0.5 * a * t * t).abs() < 4.0 * h, "{round} at {t}: {x}");
        }
        // It comes to rest at the stop, which carries the push minus the friction.
        assert!((last(&t, "rail.distance") - 0.2).abs() < 2.0 * h * a * hit && last(&t, "rail.speed").abs() < 1e-9, "{round}");
        assert!((last(&t, "rail.limit.effort") + push - bound).abs() < 1e-6, "{round}: {}", last(&t, "rail.limit.effort"));
        assert!(count(&report, "largest_overlap") < 2.0 * h * (2.0 * G * 0.2_f64).sqrt().max(a * hit), "{round}");
    }
}

/// The friction bound in a guide includes the load of a ball that rests on the slide, in the first step too.
#[test]
fn friction_on_loads_holds_from_the_first_step_on() {
    for (share, moves) in [(0.95, false), (1.05, true)] {
        let push = share * 0.4 * 3.0 * G;
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  cart: {{mass: 2, inertia: [1, 1, 1]}}
  ball: {{mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0.1, 0]}}
joints: {{rail: {{type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0], limits: {{speed_min: 0}}}}}}
forces:
  rub: {{type: friction, joint: rail, stick: true, coulomb: 0.4}}
  push: {{type: actuator, joint: rail, effort: 'if(t < 0.5, {push:?}, -{push:?})'}}
contacts: {{top: {{between: [{{body: ball, radius: 0.1}}, {{plane: {{body: cart, normal: [0, 1, 0]}}}}]}}}}
study: {{analysis: dynamics, t_end: 1, output_step: 0.1}}
"
        ));
        let (t, _) = run(&model, &stepped(&model, 1e-3));
        let x = column(&t, "rail.distance");
        // The ball slides without friction: only the cart moves, and in one direction only: pushed back it stays.
        let a = 0.05 * 0.4 * 3.0 * G / 2.0;
        let stops = if moves { 0.5 * a * 0.25 } else { 0.0 };
        assert!((x[5] - stops).abs() < 4e-3 * f64::from(u8::from(moves)) + 2e-5, "{x:?}");
        assert!(x.windows(2).all(|x| x[1] >= x[0] - 1e-9), "{x:?}");
    }
}

/// A slide with friction on its load hits an inclined wall: the impact, which presses it against its rail, does not load friction
/// afterwards. A stopped run continues to the bit.
#[test]
fn impacts_load_no_friction() {
    let (mu, e, way, h) = (0.2, 0.7, 0.1_f64, 1e-4);
    let (c, s) = (30.0_f64.to_radians().cos(), 30.0_f64.to_radians().sin());
    for kind in ["stick: true, ", "speed: 1e-6, "] {
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -{G}, 0]
bodies: {{b: {{mass: 1.4, inertia: [0.01, 0.01, 0.01], velocity: [1, 0, 0]}}}}
joints: {{rail: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}}}
forces: {{rub: {{type: friction, joint: rail, {kind}coulomb: {mu}}}}}
contacts: {{wall: {{between: [{{body: b, at: [0, 0, 0], radius: 0}}, {{plane: {{at: [{way}, 0, 0], normal: [{:?}, {s:?}, 0]}}}}], restitution: {e}}}}}
study: {{t_end: 0.2, output_step: 10 ms}}",
            -c
        ));
        let before = (1.0 - 2.0 * mu * G * way).sqrt();
        let met = (1.0 - before) / (mu * G);
        let wanted = -(e * before - mu * G * (0.2 - met));
        let (rows, _) = run(&model, &stepped(&model, h));
        let found = last(&rows, "rail.speed");
        assert!((found - wanted).abs() < 20.0 * h, "{kind}: {found} instead of {wanted}");
        // Energy minus the work of friction and the wall.
        let off = last(&rows, "energy.total") - last(&rows, "energy.work") - column(&rows, "energy.total")[0];
        assert!(off.abs() < 1e-3, "{kind}: {off}");
        assert_resumes(&model, &stepped(&model, 1e-3), 8, kind);
    }
}
