//! Rigid contact with dry friction as events: closed forms, references, agreement of formulations, laws of energy.

use fourbar::events::{Happened, Kind};
use fourbar::random::Random;
use fourbar::study::{self, Study};
use fourbar::{Diagnostic, Model, Simulation, Trajectory};
use fourbar_testing::common::parse;
use std::path::Path;
use std::sync::Arc;

const G: f64 = 9.81;

/// Formulations with their high-order integrators.
const HIGH: [(&str, &str); 5] = [("grcr", "dop853"), ("so3xr3", "dop853"), ("se3", "dop853"), ("lie", "dop853"), ("dca", "dop853")];
/// Implicit ones.
const IMPLICIT: [(&str, &str); 2] = [("ra", "radau"), ("grcr", "radau")];

struct Ran {
    trajectory: Trajectory,
    events: Vec<Happened>,
    warnings: Vec<Diagnostic>,
}

impl Ran {
    fn column(&self, name: &str) -> &[f64] {
        self.trajectory.column(name).unwrap_or_else(|| panic!("no column {name}"))
    }
    fn last(&self, name: &str) -> f64 {
        *self.column(name).last().expect("rows")
    }
    /// The value of a column at a time that is an output time and no event.
    fn at(&self, name: &str, t: f64) -> f64 {
        let k = self.column("t").iter().position(|x| (x - t).abs() < 1e-11).unwrap_or_else(|| panic!("no row at {t}"));
        self.column(name)[k]
    }
    fn kinds(&self) -> Vec<Kind> {
        self.events.iter().map(|e| e.kind).collect()
    }
}

fn study_of(model: &Model, (formulation, integrator): (&str, &str), tol: f64) -> Study {
    let named = |s: &str| Some(s.to_string());
    Study { formulation: named(formulation), integrator: named(integrator), step: None, tol: Some(tol), ..Study::of(model) }
}

fn try_run(model: &Model, study: &Study) -> Result<Ran, Diagnostic> {
    let mut trajectory = Trajectory::default();
    let report = study::run(model, study, &mut trajectory).map_err(|f| *f.diagnostic)?;
    Ok(Ran { trajectory, events: report.events, warnings: report.warnings })
}

fn run(model: &Model, method: (&str, &str), tol: f64) -> Ran {
    try_run(model, &study_of(model, method, tol)).unwrap_or_else(|d| panic!("{method:?}: {d}"))
}

fn close(a: f64, b: f64, tol: f64, what: &str) {
    assert!((a - b).abs() <= tol, "{what}: {a} instead of {b}, off by {:.2e}", a - b);
}

/// Energy plus losses at events minus work is constant; and no event creates energy.
fn balanced(ran: &Ran, tol: f64, what: &str) {
    let (total, work, lost) = (ran.column("energy.total"), ran.column("energy.work"), ran.column("energy.lost"));
    let size = ran.column("energy.kinetic").iter().fold(0.0_f64, |m, x| m.max(*x));
    for k in 0..total.len() {
        close(total[k] + lost[k] - work[k], total[0] + lost[0] - work[0], tol * size, what);
    }
    for e in &ran.events {
        assert!(e.lost >= -1e-9 * size, "{what}: {e:?} gives energy");
    }
}

/// Columns and rows of a file of the reference.
fn table(name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/events").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(',').map(String::from).collect::<Vec<_>>());
    (lines.next().expect("a head"), lines.collect())
}

fn number(s: &str) -> f64 {
    s.parse().expect("a number")
}

/// A sliding ball rolls after `2 v/(7 mu g)`, with five sevenths of its speed.
#[test]
fn a_sliding_ball_comes_to_roll() {
    let model = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0.1, 0], velocity: [1, 0, 0]}
contacts:
  floor: {between: [{body: ball, radius: 0.1}, {plane: {normal: [0, 1, 0]}}], friction: 0.2}
study: {t_end: 1.0, output_step: 0.05}
",
    );
    let rows = table("n11_sphere_slide.csv");
    let column = |name: &str| rows.0.iter().position(|c| c == name).expect("a column");
    let truth = number(&table("n11_sphere_slide.events.csv").1[0][0]);
    for (methods, tol) in [(&HIGH[..], 1e-11), (&IMPLICIT[..], 1e-9)] {
        for &method in methods {
            let what = format!("{method:?}");
            let ran = run(&model, method, tol);
            assert_eq!(ran.kinds(), [Kind::Stick], "{what}: {:?}", ran.events);
            close(ran.events[0].t, truth, 1e-9, &what);
            for row in &rows.1 {
                let t = number(&row[0]);
                if ran.column("t").iter().any(|x| (x - t).abs() < 1e-12) {
                    close(ran.at("ball.r.x", t), number(&row[column("ball.x")]), 1e-9, &what);
                    close(ran.at("ball.v.x", t), number(&row[column("ball.vx")]), 1e-9, &what);
                }
            }
            close(ran.last("ball.v.x"), 5.0 / 7.0, 1e-9, &what);
            close(ran.last("ball.omega.z"), -50.0 / 7.0, 1e-8, &what);
            close(ran.last("floor.normal"), G, 1e-8, &what);
            close(ran.last("floor.gap"), 0.0, 1e-12, &what);
            assert_eq!((ran.column("floor.state")[0], ran.last("floor.state")), (1.0, 2.0));
            // Friction on the second body, the ground, has the direction of the slip.
            close(ran.column("floor.tangential.x")[0], 0.2 * G, 1e-8, &what);
            close(ran.last("floor.tangential.x"), 0.0, 1e-8, &what);
            balanced(&ran, 1e-8, &what);
        }
    }
}

/// The same with fixed steps of second order.
#[test]
fn second_order_steps_end_on_events() {
    let model = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0.1, 0], velocity: [1, 0, 0]}
contacts:
  floor: {between: [{body: ball, radius: 0.1}, {plane: {normal: [0, 1, 0]}}], friction: 0.2}
study: {t_end: 0.4, output_step: 0.05}
",
    );
    for formulation in ["ra", "rp", "reps"] {
        let study = Study { step: Some(1e-3), tol: None, ..study_of(&model, (formulation, "gen-alpha"), 1e-6) };
        let ran = try_run(&model, &study).unwrap_or_else(|d| panic!("{formulation}: {d}"));
        assert_eq!(ran.kinds(), [Kind::Stick], "{formulation}: {:?}", ran.events);
        close(ran.events[0].t, 2.0 / (7.0 * 0.2 * G), 1e-6, formulation);
        close(ran.last("ball.v.x"), 5.0 / 7.0, 1e-6, formulation);
    }
}

/// A ball with side spin in space: a parabola, then a straight line; the spin about the normal is kept.
#[test]
fn a_billiard_ball_curves_and_rolls() {
    let model = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0, 0.1], velocity: [1, 0, 0], omega: [15, 5, 7]}
contacts:
  floor: {between: [{body: ball, radius: 0.1}, {plane: {normal: [0, 0, 1]}}], friction: 0.2}
study: {t_end: 1.0, output_step: 0.05}
",
    );
    let rows = table("n11_billiard_3d.csv");
    let truth = number(&table("n11_billiard_3d.events.csv").1[0][0]);
    for (methods, tol) in [(&HIGH[..], 1e-11), (&IMPLICIT[..], 1e-9)] {
        for &method in methods {
            let what = format!("{method:?}");
            let ran = run(&model, method, tol);
            assert_eq!(ran.kinds(), [Kind::Stick], "{what}: {:?}", ran.events);
            close(ran.events[0].t, truth, 1e-8, &what);
            let mut compared = 0;
            for row in &rows.1 {
                let t = number(&row[0]);
                if !ran.column("t").iter().any(|x| (x - t).abs() < 1e-12) {
                    continue;
                }
                for (c, value) in rows.0.iter().zip(row).skip(1).take(9) {
                    let (body, q) = c.split_once('.').expect("a body");
                    let own = match q.as_bytes() {
                        [b'v', k] => format!("{body}.v.{}", char::from(*k)),
                        [b'w', k] => format!("{body}.omega.{}", char::from(*k)),
                        _ => format!("{body}.r.{q}"),
                    };
                    // The spin is the largest number.
                    close(ran.at(&own, t), number(value), 1e3 * tol * 15.0, &format!("{what} {own} at {t}"));
                    compared += 1;
                }
            }
            assert!(compared > 50, "{compared}");
            balanced(&ran, 1e-8, &what);
        }
    }
}

/// A block on two corners slides a distance of `v^2/(2 mu g)` and stops; the front corner carries more.
#[test]
fn a_sliding_block_stops_and_stays() {
    let (mu, v, h, l) = (0.3, 1.0, 0.1, 0.2);
    let model = parse(&format!(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  block: {{mass: 2, inertia: [0.01, 0.01, 0.01], at: [0, {h}, 0], velocity: [{v}, 0, 0]}}
contacts:
  floor: {{between: [{{body: block, corners: [[-{l}, -{h}, 0], [{l}, -{h}, 0]]}}, {{plane: {{normal: [0, 1, 0]}}}}], friction: {mu}}}
study: {{t_end: 1.0, output_step: 0.05}}
"
    ));
    for (methods, tol) in [(&HIGH[..], 1e-11), (&IMPLICIT[..], 1e-9)] {
        for &method in methods {
            let what = format!("{method:?}");
            let ran = run(&model, method, tol);
            assert_eq!(ran.kinds(), [Kind::Stick], "{what}: {:?}", ran.events);
            close(ran.events[0].t, v / (mu * G), 1e-9, &what);
            close(ran.last("block.r.x"), v * v / (2.0 * mu * G), 1e-9, &what);
            close(ran.last("block.v.x"), 0.0, 1e-12, &what);
            close(ran.last("block.r.y"), h, 1e-12, &what);
            close(ran.column("floor.normal")[0], 2.0 * G, 1e-8, &what);
            close(ran.last("floor.normal"), 2.0 * G, 1e-8, &what);
            close(ran.last("energy.work"), -1.0, 1e-8, &what);
            balanced(&ran, 1e-8, &what);
        }
    }
}

/// A block on an incline stays at rest if `tan(alpha) < mu`, otherwise it slides with `g (sin - mu cos)`.
#[test]
fn a_block_on_an_incline_stays_or_slides() {
    let mut random = drawn(31);
    for _ in 0..6 {
        let mu = between(&mut random, 0.1, 0.9);
        for factor in [0.999, 1.001] {
            let alpha = f64::atan(mu * factor);
            let model = parse(&format!(
                "
fourbar: 1
gravity: [{}, {}, 0]
bodies:
  block: {{mass: 2, inertia: [0.01, 0.01, 0.01], at: [0, 0.05, 0]}}
contacts:
  ramp: {{between: [{{body: block, corners: [[-0.2, -0.05, 0], [0.2, -0.05, 0]]}}, {{plane: {{normal: [0, 1, 0]}}}}], friction: {mu}}}
study: {{t_end: 1.0, output_step: 0.5}}
",
                G * alpha.sin(),
                -G * alpha.cos()
            ));
            for &method in &HIGH {
                let what = format!("{method:?} {mu} {factor}");
                let ran = run(&model, method, 1e-10);
                assert!(ran.events.is_empty(), "{what}: {:?}", ran.events);
                let a = if factor < 1.0 { 0.0 } else { G * (alpha.sin() - mu * alpha.cos()) };
                close(ran.last("block.r.x"), 0.5 * a, 1e-9, &what);
                assert_eq!(ran.last("ramp.state"), if factor < 1.0 { 2.0 } else { 1.0 }, "{what}");
            }
        }
    }
}

/// A block under a growing pull breaks away at the static coefficient and slides with the other one; thrown up an incline it stops, and
/// slides back if the incline is steep.
#[test]
fn blocks_break_away_and_turn_round() {
    let pulled = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  block: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0.05, 0]}
contacts:
  floor: {between: [{body: block, corners: [[-0.2, -0.05, 0], [0.2, -0.05, 0]]}, {plane: {normal: [0, 1, 0]}}], friction: {coulomb: 0.4, static: 0.5}}
forces:
  pull: {type: force, on: {body: block}, force: ['2*t', 0, 0]}
study: {t_end: 4.0, output_step: 0.5}
",
    );
    let thrown = parse(&format!(
        "
fourbar: 1
gravity: [{}, {}, 0]
bodies:
  block: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0.05, 0], velocity: [2, 0, 0]}}
contacts:
  floor: {{between: [{{body: block, corners: [[-0.2, -0.05, 0], [0.2, -0.05, 0]]}}, {{plane: {{normal: [0, 1, 0]}}}}], friction: 0.4}}
study: {{t_end: 1.0, output_step: 0.5}}
",
        -G * f64::to_radians(30.0).sin(),
        -G * f64::to_radians(30.0).cos()
    ));
    for &method in &HIGH {
        let what = format!("{method:?}");
        let ran = run(&pulled, method, 1e-11);
        assert_eq!(ran.kinds(), [Kind::Slide], "{what}: {:?}", ran.events);
        let (t0, t) = (0.5 * G / 2.0, 4.0);
        close(ran.events[0].t, t0, 1e-9, &what);
        // x'' = 2 t - 0.4 g from there.
        let v = (t * t - t0 * t0) - 0.4 * G * (t - t0);
        close(ran.last("block.v.x"), v, 1e-8, &what);
        balanced(&ran, 1e-8, &what);
        let ran = run(&thrown, method, 1e-11);
        assert_eq!(ran.kinds(), [Kind::Reverse], "{what}: {:?}", ran.events);
        let (s, c) = (f64::to_radians(30.0).sin(), f64::to_radians(30.0).cos());
        let (up, down) = (G * (s + 0.4 * c), G * (s - 0.4 * c));
        let turn = 2.0 / up;
        close(ran.events[0].t, turn, 1e-9, &what);
        close(ran.last("block.v.x"), -down * (1.0 - turn), 1e-8, &what);
        balanced(&ran, 1e-8, &what);
    }
}

/// A block on a cart that may roll: both have the same speed after `v/(mu g (1 + m/M))`. The plane moves with a body.
#[test]
fn a_block_takes_its_cart_along() {
    let (mu, m, big, v) = (0.25, 1.0, 3.0, 2.0);
    let model = parse(&format!(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  cart: {{mass: {big}, inertia: [1, 1, 1], at: [0, 0, 0]}}
  block: {{mass: {m}, inertia: [0.01, 0.01, 0.01], at: [0, 0.25, 0], velocity: [{v}, 0, 0]}}
joints:
  rail: {{type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}}
contacts:
  deck: {{between: [{{body: block, corners: [[-0.2, -0.05, 0], [0.2, -0.05, 0]]}}, {{plane: {{body: cart, at: [0, 0.2, 0], normal: [0, 1, 0]}}}}], friction: {mu}}}
study: {{t_end: 1.0, output_step: 0.1}}
"
    ));
    let truth = v / (mu * G * (1.0 + m / big));
    for (methods, tol) in [(&HIGH[..], 1e-11), (&IMPLICIT[..], 1e-9)] {
        for &method in methods {
            let what = format!("{method:?}");
            let ran = run(&model, method, tol);
            assert_eq!(ran.kinds(), [Kind::Stick], "{what}: {:?}", ran.events);
            close(ran.events[0].t, truth, 1e-9, &what);
            for body in ["cart", "block"] {
                close(ran.last(&format!("{body}.v.x")), m * v / (m + big), 1e-9, &what);
            }
            balanced(&ran, 1e-8, &what);
        }
    }
}

/// A ball that hits the floor with spin: Poisson's law. If it slides during the whole impact, friction is `mu` times the impulse; otherwise
/// the slip ends.
#[allow(non_snake_case)]
#[test]
fn a_spinning_ball_bounces() {
    let (e, h) = (0.6, 1.0);
    for (mu, spin) in [(0.1, 60.0), (0.8, 10.0)] {
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  ball: {{mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, {}, 0], velocity: [1, 0, 0.5], omega: [0, 0, {spin}]}}
contacts:
  floor: {{between: [{{body: ball, radius: 0.1}}, {{plane: {{normal: [0, 1, 0]}}}}], restitution: {e}, friction: {mu}}}
study: {{t_end: 0.6, output_step: 0.1}}
",
            h + 0.1
        ));
        let down = (2.0 * G * h).sqrt();
        // Slip of the lowest point, and the friction impulse.
        let slip = nalgebra::Vector2::new(1.0 + 0.1 * spin, 0.5);
        let bound = mu * (1.0 + e) * down;
        let P = if 2.0 / 7.0 * slip.norm() <= mu * down { -slip * (2.0 / 7.0) } else { -slip.normalize() * bound };
        let sticks = 2.0 / 7.0 * slip.norm() <= mu * down;
        assert_eq!(sticks, mu > 0.5, "both cases are wanted");
        for (methods, tol) in [(&HIGH[..], 1e-11), (&IMPLICIT[..], 1e-9)] {
            for &method in methods {
                let what = format!("{method:?} {mu}");
                let ran = run(&model, method, tol);
                assert_eq!(ran.kinds(), [Kind::Impact], "{what}: {:?}", ran.events);
                let hit = &ran.events[0];
                close(hit.t, (2.0 * h / G).sqrt(), 1e-9, &what);
                close(hit.impulse, (1.0 + e) * down, 1e-8, &what);
                close(hit.speed[1], e * down, 1e-8, &what);
                close(ran.last("ball.v.x"), 1.0 + P.x, 1e-8, &what);
                close(ran.last("ball.v.z"), 0.5 + P.y, 1e-8, &what);
                close(ran.last("ball.omega.z"), spin + P.x * 0.1 / 0.004, 1e-6, &what);
                let before = 0.5 * (1.25 + down * down) + 0.002 * spin * spin;
                let w = [-P.y * 0.1 / 0.004, spin + P.x * 0.1 / 0.004];
                let after = 0.5 * ((1.0 + P.x).powi(2) + (0.5 + P.y).powi(2) + (e * down).powi(2)) + 0.002 * (w[0] * w[0] + w[1] * w[1]);
                close(hit.lost, before - after, 1e-7, &what);
                balanced(&ran, 1e-8, &what);
            }
        }
    }
}

/// A square plate that spins on its four corners stops after `J omega/(mu m g r)`: every corner slides perpendicular to its arm, and the
/// direction rotates with the plate. Four contacts in space are one more than needed, which is reported.
#[allow(non_snake_case)]
#[test]
fn a_spinning_plate_stops() {
    let (mu, J, omega, half) = (0.3, 0.05, 6.0, 0.1);
    let model = parse(&format!(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  plate: {{mass: 1, inertia: [0.03, 0.03, {J}], at: [0, 0, 0.02], omega: [0, 0, {omega}]}}
contacts:
  floor: {{between: [{{body: plate, corners: [[{half}, {half}, -0.02], [-{half}, {half}, -0.02], [-{half}, -{half}, -0.02], [{half}, -{half}, -0.02]]}}, {{plane: {{normal: [0, 0, 1]}}}}], friction: {mu}}}
study: {{t_end: 1.2, output_step: 0.1}}
"
    ));
    let r = half * f64::sqrt(2.0);
    let rate = mu * G * r / J;
    for method in [("grcr", "dop853"), ("lie", "dop853"), ("dca", "dop853")] {
        let what = format!("{method:?}");
        let ran = run(&model, method, 1e-10);
        assert_eq!(ran.kinds(), [Kind::Stick], "{what}: {:?}", ran.events);
        close(ran.events[0].t, omega / rate, 1e-8, &what);
        close(ran.at("plate.omega.z", 0.3), omega - 0.3 * rate, 1e-7, &what);
        close(ran.last("plate.omega.z"), 0.0, 1e-10, &what);
        close(ran.last("floor.normal"), G, 1e-7, &what);
        assert!(ran.warnings.iter().any(|w| w.code.0 == "W323"), "{what}: {:?}", ran.warnings);
        balanced(&ran, 1e-7, &what);
    }
}

/// The rod of Painleve: the number of possible accelerations, against the table of the closed form.
#[allow(non_snake_case)]
#[test]
fn a_rod_that_jams_is_told() {
    let (head, rows) = table("n15_painleve_rod.csv");
    let column = |row: &[String], name: &str| row[head.iter().position(|c| c == name).expect("a column")].clone();
    let mut met = [0; 3];
    for row in &rows {
        let [mu, angle, rate, slip, A, b, solutions] =
            ["mu", "angle", "rate", "slip", "A", "b", "solutions"].map(|name| number(&column(row, name)));
        let (s, c) = angle.sin_cos();
        // The end on the floor slides with `slip`; the centre is half a length away.
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  rod: {{mass: 1, inertia: [{j}, {j}, {j}], at: [{x}, {y}, 0], orientation: {{axis: [0, 0, 1], angle: {angle}}}, velocity: [{vx}, {vy}, 0], omega: [0, 0, {rate}]}}
contacts:
  floor: {{between: [{{body: rod, at: [-0.5, 0, 0]}}, {{plane: {{normal: [0, 1, 0]}}}}], friction: {mu}}}
study: {{t_end: 1e-3, output_step: 1e-3}}
",
            j = 1.0 / 12.0,
            x = 0.5 * c,
            y = 0.5 * s,
            vx = slip - rate * 0.5 * s,
            vy = rate * 0.5 * c,
        ));
        met[solutions as usize] += 1;
        for &method in &HIGH {
            let what = format!("{method:?} {row:?}");
            let ran = try_run(&model, &study_of(&model, method, 1e-10));
            match (solutions as usize, ran) {
                (0, Err(d)) => assert_eq!(d.code.0, "S323", "{what}"),
                (0, Ok(_)) => panic!("{what}: moves"),
                (_, Err(d)) => panic!("{what}: {d}"),
                (n, Ok(ran)) => {
                    assert_eq!(ran.warnings.iter().any(|w| w.code.0 == "W324"), n == 2, "{what}: {:?}", ran.warnings);
                    // The force on the floor that keeps it there, or none.
                    let normal = if b < 0.0 { -b / A } else { 0.0 };
                    close(ran.column("floor.normal")[0], normal, 1e-7 * normal.max(1.0), &what);
                }
            }
        }
    }
    assert_eq!(met, [1, 14, 1]);
}

/// A round cam under a flat follower that lifts off and lands in every turn: as a contact, and as a limited point-on-plane joint.
const CAM: &str = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  cam: {mass: 1, inertia: [0.001, 0.001, 0.001], at: [0.01, 0, 0]}
  follower: {mass: 0.5, inertia: [0.01, 0.01, 0.01], at: [0, 0.04, 0], velocity: [0, 0.8, 0]}
joints:
  shaft: {type: revolute, bodies: [ground, cam], at: [0, 0, 0], axis: [0, 0, 1]}
  guide: {type: prismatic, bodies: [ground, follower], at: [0, 0.04, 0], axis: [0, 1, 0]}
JOINT
drives: {motor: {joint: shaft, angle: 80*t}}
forces: {spring: {type: actuator, joint: guide, effort: '-(800*(guide.distance + 0.01) + 5)'}}
CONTACT
study: {analysis: dynamics, t_end: 0.4, output_step: 0.01}
";

/// As a contact and as a limit.
fn cams() -> [String; 2] {
    let contact = CAM
        .replace("JOINT", "")
        .replace("CONTACT", "contacts: {face: {between: [{body: cam, radius: 0.04}, {plane: {body: follower, normal: [0, -1, 0]}}]}}");
    let limit = CAM.replace("CONTACT", "").replace(
        "JOINT",
        "  face: {type: point-on-plane, bodies: [follower, cam], frames: {follower: {at: [0, -0.04, 0], axis: [0, -1, 0]}, cam: {at: [0, 0, 0], axis: [0, 0, 1]}}, limits: {min: 0}}",
    );
    [contact, limit]
}

#[test]
fn a_follower_lifts_off_its_cam_and_lands() {
    let [contact, limit] = cams();
    let (head, rows) = table("n07_cam_follower.csv");
    let place = |name: &str| head.iter().position(|c| c == name).expect("a column");
    let events = table("n07_cam_follower.events.csv").1;
    let high: Vec<_> = HIGH.iter().map(|m| (*m, 1e-11)).collect();
    let implicit: Vec<_> = IMPLICIT.iter().map(|m| (*m, 1e-9)).collect();
    let series = vec![(("natural", "taylor"), 1e-12)];
    for (what, text, methods) in [("contact", &contact, vec![&high, &implicit]), ("limit", &limit, vec![&high, &implicit, &series])] {
        let model = parse(text);
        for &(method, tol) in methods.into_iter().flatten() {
            let what = format!("{what} {method:?}");
            let ran = run(&model, method, tol);
            let (allowed, near) = (1e-9, 1e-7);
            assert_eq!(ran.events.len(), events.len(), "{what}: {:?}", ran.events);
            for (own, row) in ran.events.iter().zip(&events) {
                assert_eq!(own.kind.word(), row[2], "{what}");
                close(own.t, number(&row[0]), allowed, &what);
                if own.kind == Kind::Impact {
                    close(own.speed[0], number(&row[4]), near, &what);
                    // Its loss in the motion relative to the cam, whose drive keeps its speed.
                    close(0.5 * own.impulse * own.speed[0].abs(), number(&row[3]), near, &what);
                }
            }
            for row in rows.iter().filter(|r| ran.column("t").iter().any(|t| (t - number(&r[0])).abs() < 1e-12)) {
                let t = number(&row[0]);
                for (own, theirs) in [("follower.r.y", "follower.y"), ("follower.v.y", "follower.vy"), ("cam.r.y", "cam.y")] {
                    close(ran.at(own, t), number(&row[place(theirs)]), near, &format!("{what} {own} at {t}"));
                }
                let force = if text == &contact { "face.normal" } else { "face.limit.effort" };
                close(ran.at(force, t), number(&row[place("cam.normal")]), 1e3 * near, &format!("{what} {force} at {t}"));
            }
        }
    }
}

/// Just after lift-off the gap is of third order in time, like the error of a second-order method: there must be no new contact.
#[test]
fn a_follower_lifts_off_once_in_methods_of_second_order() {
    let events = table("n07_cam_follower.events.csv").1;
    let mut random = drawn(71);
    for (kind, text) in ["contact", "limit"].iter().zip(cams()) {
        let model = parse(&text);
        for formulation in ["ra", "rp", "reps"] {
            let step = 1e-4 * 6_f64.powf(between(&mut random, -1.0, 1.0));
            for (step, tol) in [(Some(step), None), (None, Some(1e-6))] {
                let what = format!("{kind} {formulation} {step:?} {tol:?}");
                let ran = try_run(&model, &Study { step, tol, ..study_of(&model, (formulation, "gen-alpha"), 1.0) })
                    .unwrap_or_else(|d| panic!("{what}: {d}"));
                assert_eq!(ran.events.len(), events.len(), "{what}: {:?}", ran.events);
                let allowed = 1e-6 * step.map_or(1.0, |h| (h / 1e-4).powi(2).max(1.0));
                for (own, row) in ran.events.iter().zip(&events) {
                    assert_eq!(own.kind.word(), row[2], "{what}");
                    close(own.t, number(&row[0]), allowed, &what);
                }
            }
        }
    }
}

/// The toy woodpecker on a pole in its published linear model: a sleeve that tilts and slides down, and a bird on a spring. Terms linear in
/// the two angles are represented by a slide coupled to a wheel, with masses that give the published matrix. Three places with friction 0.3
/// impact, slide, stick, break away and separate; the reference starts at 0.07 s, where all are open.
fn woodpecker(start: &[f64]) -> String {
    let (m, j, mass, inertia, c) = (0.0003, 5e-9, 0.0045, 7e-7, 0.0056);
    let [r0, r, h, l, lg, hs, ls] = [0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201];
    let &[tilt, nod, vy, w, ws] = start else { panic!("five numbers") };
    // Masses of the edge and the beak, and an arm of the bird for which all other masses are positive.
    let (edge, beak, arm): (f64, f64, f64) = (1e-4, 1e-4, 0.018);
    let bird = (mass * lg - beak * (lg - ls)) / arm;
    let upper = (mass * l - edge * r) / l;
    let (hinge, sleeve) = (upper - beak - bird, mass + m - edge - upper);
    let j = j + mass * l * l - edge * (h * h + r * r) - upper * l * l;
    let inertia = inertia + mass * lg * lg - beak * (hs * hs + (lg - ls) * (lg - ls)) - bird * arm * arm;
    assert!([bird, hinge, sleeve, j, inertia].iter().all(|x| *x > 0.0));
    let v = vy + l * w;
    let gaps = [l + lg - ls - r0 - hs * nod, r - r0 + h * tilt, r - r0 - h * tilt];
    format!(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  sleeve: {{mass: {}, inertia: [1e-9, 1e-9, 1e-9], velocity: [0, {vy}, 0]}}
  tilt: {{mass: {}, inertia: [{j}, {j}, {j}], velocity: [0, {vy}, 0], omega: [0, 0, {w}]}}
  edge: {{mass: {edge}, inertia: [1e-9, 1e-9, 1e-9], velocity: [{}, {}, 0]}}
  hinge: {{mass: {}, inertia: [1e-9, 1e-9, 1e-9], at: [0.05, 0, 0], velocity: [0, {v}, 0]}}
  nod: {{mass: {}, inertia: [{inertia}, {inertia}, {inertia}], at: [0.05, 0, 0], velocity: [0, {v}, 0], omega: [0, 0, {ws}]}}
  bird: {{mass: {bird}, inertia: [1e-9, 1e-9, 1e-9], at: [0.05, 0, 0], velocity: [0, {}, 0]}}
  beak: {{mass: {beak}, inertia: [1e-9, 1e-9, 1e-9], at: [0.05, 0, 0], velocity: [{}, {}, 0]}}
joints:
  drop: {{type: prismatic, bodies: [ground, sleeve], at: [0, 0, 0], axis: [0, 1, 0]}}
  M: {{type: revolute, bodies: [sleeve, tilt], at: [0, 0, 0], axis: [0, 0, 1]}}
  P: {{type: prismatic, bodies: [sleeve, edge], at: [0, 0, 0], axis: [{h}, {r}, 0]}}
  R: {{type: prismatic, bodies: [sleeve, hinge], at: [0.05, 0, 0], axis: [0, 1, 0]}}
  S: {{type: revolute, bodies: [hinge, nod], at: [0.05, 0, 0], axis: [0, 0, 1]}}
  C: {{type: prismatic, bodies: [hinge, bird], at: [0.05, 0, 0], axis: [0, 1, 0]}}
  Q: {{type: prismatic, bodies: [hinge, beak], at: [0.05, 0, 0], axis: [{hs}, {}, 0]}}
  MP: {{type: rack, joints: [M, P], radius: {}}}
  MR: {{type: rack, joints: [M, R], radius: {l}}}
  SC: {{type: rack, joints: [S, C], radius: {arm}}}
  SQ: {{type: rack, joints: [S, Q], radius: {}}}
forces:
  up: {{type: actuator, joint: M, effort: '{c}*(S.angle - M.angle + {})'}}
  down: {{type: actuator, joint: S, effort: '{c}*(M.angle - S.angle + {})'}}
contacts:
  contact1: {{between: [{{body: beak}}, {{plane: {{at: [{}, 0, 0], normal: [-1, 0, 0]}}}}], restitution: 0.5, friction: 0.3}}
  contact2: {{between: [{{body: edge}}, {{plane: {{at: [{}, 0, 0], normal: [1, 0, 0]}}}}], friction: 0.3}}
  contact3: {{between: [{{body: edge}}, {{plane: {{at: [{}, 0, 0], normal: [-1, 0, 0]}}}}], friction: 0.3}}
study: {{t_end: 0.53, output_step: 0.01}}
",
        0.5 * sleeve,
        0.5 * sleeve,
        h * w,
        vy + r * w,
        0.5 * hinge,
        0.5 * hinge,
        v + arm * ws,
        hs * ws,
        v + (lg - ls) * ws,
        lg - ls,
        f64::hypot(h, r),
        f64::hypot(hs, lg - ls),
        nod - tilt,
        tilt - nod,
        0.05 + gaps[0],
        -gaps[1],
        gaps[2],
    )
}

#[test]
fn a_woodpecker_pecks_its_way_down() {
    const FROM: f64 = 0.07;
    let rows: Vec<Vec<f64>> = table("n16_woodpecker.csv").1.iter().map(|r| r.iter().map(|x| number(x)).collect()).collect();
    let start = rows.iter().find(|r| (r[0] - FROM).abs() < 1e-12).expect("a row");
    let events: Vec<_> = table("n16_woodpecker.events.csv").1.into_iter().filter(|r| number(&r[0]) > FROM).collect();
    let model = parse(&woodpecker(&start[2..]));
    for (method, tol) in HIGH.map(|m| (m, 1e-11)).into_iter().chain(IMPLICIT.map(|m| (m, 1e-9))) {
        let what = format!("{method:?}");
        let ran = run(&model, method, tol);
        assert_eq!(ran.events.len(), 33, "{what}: {:?}", ran.events);
        let allowed = 1e-9;
        for (own, row) in ran.events.iter().zip(&events) {
            let kind = match row[2].as_str() {
                "stop" => "stick",
                "break" => "slide",
                other => other,
            };
            assert_eq!((own.name.as_str(), own.kind.word()), (row[1].as_str(), kind), "{what}: {own:?} {row:?}");
            close(own.t + FROM, number(&row[0]), allowed, &what);
            close(own.lost, number(&row[3]), 1e2 * allowed * 1e-4, &format!("{what} {own:?}"));
        }
        for row in rows.iter().filter(|r| r[0] > FROM + 1e-9) {
            let t = row[0] - FROM;
            for (k, column, first) in [(1, "drop.distance", start[1]), (2, "M.angle", start[2]), (3, "S.angle", start[3])] {
                close(ran.at(column, t), row[k] - first, 10.0 * allowed, &format!("{what} {column} at {t}"));
            }
        }
        balanced(&ran, 1e3 * tol, &what);
    }
}

/// An arm that drags on a belt while its hinge rises: it rises until friction jams it, where `tan` of its slope is one over the friction
/// coefficient. Every method reports this at its time, and no results follow.
#[test]
fn an_arm_that_comes_to_jam_while_it_slides_is_told() {
    let mut random = drawn(53);
    for _ in 0..3 {
        let (mu, rise) = (between(&mut random, 0.5, 0.7), between(&mut random, 0.1, 0.4));
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  car: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0.8, 0], velocity: [0, {rise}, 0]}}
  arm: {{mass: 1, inertia: [0.05, 0.05, 0.05], at: [0.3, 0.4, 0], velocity: [{vx}, {half}, 0], omega: [0, 0, {omega}]}}
  belt: {{mass: 50, inertia: [1, 1, 1], at: [0, -0.1, 0], velocity: [-2, 0, 0]}}
joints:
  down: {{type: prismatic, bodies: [ground, car], at: [0, 0.8, 0], axis: [0, 1, 0]}}
  pin: {{type: revolute, bodies: [car, arm], at: [0, 0.8, 0], axis: [0, 0, 1]}}
  rail: {{type: prismatic, bodies: [ground, belt], at: [0, 0, 0], axis: [1, 0, 0]}}
drives: {{lift: {{joint: down, distance: {rise}*t}}, go: {{joint: rail, distance: -2*t}}}}
contacts:
  shoe: {{between: [{{body: arm, at: [0.3, -0.4, 0]}}, {{plane: {{body: belt, at: [0, 0.1, 0], normal: [0, 1, 0]}}}}], friction: {mu}}}
study: {{analysis: dynamics, t_end: 2, output_step: 0.01}}
",
            half = 0.5 * rise,
            // The tip stays on the belt: the arm turns by -rise/0.6.
            omega = -rise / 0.6,
            vx = -0.4 * rise / 0.6,
        ));
        // At jamming, the height of the arm over its reach is one over the friction coefficient.
        let height = 1.0 / f64::hypot(1.0, mu);
        let truth = (height - 0.8) / rise;
        for method in HIGH.into_iter().chain([("lie", "dopri5"), ("grcr", "dopri5")]) {
            let what = format!("{method:?} {mu} {rise}");
            let d = try_run(&model, &study_of(&model, method, 1e-8)).err().unwrap_or_else(|| panic!("{what}: it moves on"));
            assert_eq!(d.code.0, "S323", "{what}: {d}");
            close(d.time.expect("a time"), truth, 1e-4, &what);
            assert_eq!(d.names, ["shoe"], "{what}");
        }
    }
}

/// A random generator with its first numbers discarded.
fn drawn(seed: u64) -> Random {
    let mut random = Random(seed);
    (0..20).for_each(|_| {
        random.number();
    });
    random
}

/// A number in a range.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * 0.5 * (1.0 + random.number())
}

fn bodies(random: &mut Random) -> (String, String) {
    let (mu, e) = (between(random, 0.0, 1.0), between(random, 0.0, 0.9));
    let (w, h) = (between(random, 0.1, 0.4), between(random, 0.05, 0.3));
    let m = between(random, 0.5, 3.0);
    let j = m * (w * w + h * h) / 3.0 * between(random, 0.5, 1.5);
    let angle = between(random, -1.5, 1.5);
    let v = [between(random, -2.0, 2.0), between(random, -2.0, 0.5)];
    let omega = between(random, -5.0, 5.0);
    let pose = format!(
        "at: [0, 0.8, 0], orientation: {{axis: [0, 0, 1], angle: {angle}}}, velocity: [{}, {}, 0], omega: [0, 0, {omega}]",
        v[0], v[1]
    );
    let body = format!("{{mass: {m}, inertia: [{j}, {j}, {j}], {pose}}}");
    let sides = match between(random, 0.0, 3.0) as usize {
        0 => format!("{{body: thing, radius: {h}}}"),
        1 => format!("{{body: thing, corners: [[-{w}, 0, 0], [{w}, 0, 0]], radius: 0.01}}"),
        _ => format!("{{body: thing, corners: [[-{w}, -{h}, 0], [{w}, -{h}, 0], [{w}, {h}, 0], [-{w}, {h}, 0]]}}"),
    };
    (body, format!("{{between: [{sides}, {{plane: {{normal: [0, 1, 0]}}}}], friction: {mu}, restitution: {e}}}"))
}

/// Bodies thrown on the floor at random: energy never grows, bodies never overlap, and formulations agree until impacts have amplified
/// differences.
#[test]
fn thrown_things_lose_energy_and_formulations_agree() {
    for seed in 0..12 {
        let mut random = drawn(700 + seed);
        let (body, contact) = bodies(&mut random);
        let text = format!(
            "fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n  thing: {body}\ncontacts:\n  floor: {contact}\nstudy: {{t_end: 1.0, output_step: 0.02}}\n"
        );
        let model = parse(&text);
        let mut all: Vec<(String, Ran)> = Vec::new();
        for method in [("lie", "dop853"), ("grcr", "dop853"), ("dca", "dop853")] {
            let what = format!("seed {seed} {method:?}\n{text}");
            let ran = match try_run(&model, &study_of(&model, method, 1e-10)) {
                Ok(ran) => ran,
                // Rigid bodies with high friction may jam; this is reported.
                Err(d) if d.code.0 == "S323" => continue,
                Err(d) => panic!("{what}: {d}"),
            };
            balanced(&ran, 1e-7, &what);
            let least = ran.column("floor.gap").iter().fold(f64::INFINITY, |m, x| m.min(*x));
            assert!(least > -1e-8, "{what}: overlap {least:.2e}");
            all.push((format!("{method:?}"), ran));
        }
        let Some((first, a)) = all.first() else { continue };
        for (name, b) in all.iter().skip(1) {
            // The first events in both runs; each one amplifies differences.
            for (n, (x, y)) in a.events.iter().zip(&b.events).take(4).enumerate() {
                assert_eq!((x.kind, &x.name), (y.kind, &y.name), "seed {seed}: {first} {name} {n}: {:?} {:?}", a.events, b.events);
                close(x.t, y.t, 1e-7, &format!("seed {seed}: {first} {name} event {n}"));
            }
        }
    }
}

/// A saved run with closed contacts continues to the bit.
#[test]
fn a_run_with_contacts_goes_on_from_what_was_kept() {
    let mut random = drawn(712);
    let (body, contact) = bodies(&mut random);
    let text = format!(
        "fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n  thing: {body}\ncontacts:\n  floor: {contact}\nstudy: {{t_end: 1.0, output_step: 0.02}}\n"
    );
    let model = Arc::new(parse(&text));
    for method in HIGH {
        let study = study_of(&model, method, 1e-8);
        let mut whole = Simulation::new(&model, &study).expect("starts");
        whole.advance(0.55).expect("moves");
        let kept = whole.save();
        whole.advance(1.0).expect("moves");
        let mut again = Simulation::new(&model, &study).expect("starts");
        again.restore(&kept).expect("fits");
        again.advance(1.0).expect("moves");
        assert_eq!(whole.instant(), again.instant(), "{method:?}");
    }
}

/// Contacts that events do not support are rejected by name: varying places, corners of polygons, natural coordinates.
#[test]
fn what_events_do_not_carry_is_refused() {
    let code = |contacts: &str, method: (&str, &str)| {
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  one: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 1, 0]}}
  two: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0.2, 0]}}
contacts: {contacts}
study: {{t_end: 0.1, output_step: 0.1}}
"
        ));
        try_run(&model, &study_of(&model, method, 1e-8)).map(|_| ()).map_err(|d| d.code.0)
    };
    let floor = "{floor: {between: [{bodies: [one, two], radius: 0.1}, {plane: {normal: [0, 1, 0]}}]}}";
    assert_eq!(code("{heap: {among: [one, two], radius: 0.1}}", ("lie", "dopri5")), Err("S320"));
    let square = "{polygon: [[-0.1, -0.1, 0], [0.1, -0.1, 0], [0.1, 0.1, 0], [-0.1, 0.1, 0]]";
    assert_eq!(
        code(&format!("{{stone: {{between: [{{body: one, radius: 0.1}}, {square}, body: two}}]}}}}"), ("lie", "dopri5")),
        Err("S320")
    );
    assert_eq!(code(floor, ("natural", "taylor")), Err("S320"));
    assert_eq!(code(floor, ("lie", "dopri5")), Ok(()));
    let overlap = "{floor: {between: [{body: two, radius: 0.3}, {plane: {normal: [0, 1, 0]}}]}}";
    assert_eq!(code(overlap, ("lie", "dopri5")), Err("S301"));
}
