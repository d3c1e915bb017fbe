//! Mechanisms that change during the run against independent references: event times, states, energy lost.

use fourbar::events::{Happened, Kind};
use fourbar::study::{self, Study};
use fourbar::{Model, Trajectory};
use fourbar_io::{ReadOptions, read_model};
use std::path::Path;

fn model_of(text: &str) -> Model {
    let read = read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
    read.spec.build().unwrap_or_else(|e| panic!("{e}"))
}

/// Columns and rows of a file of the reference.
fn table(name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/events").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(',').map(String::from).collect::<Vec<_>>());
    (lines.next().expect("a head"), lines.collect())
}

struct Ran {
    trajectory: Trajectory,
    events: Vec<Happened>,
}

fn run(model: &Model, formulation: &str, integrator: Option<&str>, tol: f64, step: Option<f64>, t_end: f64) -> Ran {
    try_run(model, formulation, integrator, tol, step, t_end).unwrap_or_else(|d| panic!("{formulation}: {d}"))
}

fn try_run(
    model: &Model,
    formulation: &str,
    integrator: Option<&str>,
    tol: f64,
    step: Option<f64>,
    t_end: f64,
) -> Result<Ran, fourbar::Diagnostic> {
    let mut s = Study::of(model);
    (s.formulation, s.integrator) = (Some(formulation.into()), integrator.map(String::from));
    (s.t_end, s.step) = (t_end, step);
    s.tol = step.is_none().then_some(tol);
    let mut trajectory = Trajectory::default();
    let report = study::run(model, &s, &mut trajectory).map_err(|f| *f.diagnostic)?;
    Ok(Ran { trajectory, events: report.events })
}

/// Formulations with their high-order integrators.
const HIGH: [(&str, &str); 6] =
    [("grcr", "dop853"), ("so3xr3", "dop853"), ("se3", "dop853"), ("lie", "dop853"), ("dca", "dop853"), ("natural", "taylor")];

/// Largest difference of positions, velocities and rates from the rows of a reference that are away from its events.
fn states_apart(name: &str, ran: &Ran, events: &[f64]) -> f64 {
    let (head, rows) = table(&format!("{name}.csv"));
    let t = ran.trajectory.column("t").expect("time");
    let mut worst = 0.0_f64;
    let mut compared = 0;
    for row in &rows {
        let at: f64 = row[0].parse().expect("a number");
        if events.iter().any(|e| (e - at).abs() < 1e-6) {
            continue;
        }
        let Some(k) = t.iter().position(|x| (x - at).abs() < 1e-12) else { continue };
        for (c, value) in head.iter().zip(row).skip(1) {
            let (body, quantity) = c.rsplit_once('.').expect("a body");
            let column = match quantity {
                "x" | "y" => format!("{body}.r.{quantity}"),
                "vx" | "vy" => format!("{body}.v.{}", &quantity[1..]),
                _ => format!("{body}.omega.z"),
            };
            let own = ran.trajectory.column(&column).unwrap_or_else(|| panic!("{column}"))[k];
            worst = worst.max((own - value.parse::<f64>().expect("a number")).abs());
            compared += 1;
        }
    }
    assert!(compared >= 10, "{name}: only {compared} values compared");
    worst
}

/// Kinds and times of the reference: impacts with flights of at least a microsecond, and `rest`.
fn reference_events(name: &str) -> Vec<(f64, String)> {
    table(&format!("{name}.events.csv")).1.iter().map(|r| (r[0].parse().expect("a time"), r[2].clone())).collect()
}

fn kind_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Slide => "breakaway",
        other => other.word(),
    }
}

/// Compares times and kinds: impacts as long as both have them, then the end of the series; returns the largest difference.
fn times_apart(what: &str, own: &[Happened], reference: &[(f64, String)]) -> f64 {
    let folded = |list: Vec<(f64, String)>| {
        // Impacts after flights of a microsecond form one series.
        let rest = list.iter().position(|e| e.1 == "rest");
        (list, rest)
    };
    let (own, own_rest) = folded(own.iter().map(|h| (h.t, kind_of(h.kind).to_string())).collect());
    let (reference, rest) = folded(reference.to_vec());
    let mut worst = 0.0_f64;
    let n = own_rest.unwrap_or(own.len()).min(rest.unwrap_or(reference.len()));
    for (a, b) in own.iter().zip(&reference).take(n) {
        assert_eq!(a.1, b.1, "{what}: {own:?} {reference:?}");
        worst = worst.max((a.0 - b.0).abs());
    }
    match (own_rest, rest) {
        (Some(a), Some(b)) => worst = worst.max((own[a].0 - reference[b].0).abs()),
        (None, None) => assert_eq!(own.len(), reference.len(), "{what}: {own:?} {reference:?}"),
        _ => panic!("{what}: only one comes to rest: {own:?} {reference:?}"),
    }
    worst
}

/// Energy plus losses minus work is constant.
fn energy_is_kept(what: &str, ran: &Ran, share: f64) {
    let column = |name: &str| ran.trajectory.column(name).unwrap_or_else(|| panic!("{name}"));
    let (total, work, lost) = (column("energy.total"), column("energy.work"), column("energy.lost"));
    let size = column("energy.kinetic").iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(1e-3);
    for k in 0..total.len() {
        let off = total[k] + lost[k] - work[k] - total[0];
        assert!(off.abs() < share * size, "{what}: energy is off by {off:.2e} of {size:.2e} at {}", column("t")[k]);
    }
    // No event creates energy.
    assert!(lost.windows(2).all(|w| w[1] >= w[0] - share * size), "{what}: energy was created");
}

fn check(name: &str, text: &str, t_end: f64, only: &[&str]) {
    let model = model_of(text);
    let reference = reference_events(name);
    let times: Vec<f64> = reference.iter().map(|e| e.0).collect();
    for (formulation, integrator) in HIGH.iter().filter(|f| only.is_empty() || only.contains(&f.0)) {
        let what = format!("{name} with {formulation}");
        let ran = run(&model, formulation, Some(integrator), 1e-12, None, t_end);
        let d = times_apart(&what, &ran.events, &reference);
        let states = states_apart(name, &ran, &times);
        println!("{what}: {} events, times {d:.1e} s, states {states:.1e}", ran.events.len());
        let list = || {
            ran.events.iter().map(|h| format!("{:.12} {} {:.3e} {:.3e}", h.t, h.kind.word(), h.speed[0], h.speed[1])).collect::<Vec<_>>()
        };
        assert!(d < 1e-9, "{what}: times differ by {d:.2e} s: {:#?}", list());
        assert!(states < 1e-8, "{what}: states differ by {states:.2e}");
        energy_is_kept(&what, &ran, 1e-8);
    }
}

const WITHOUT_LOADS: &[&str] = &["grcr", "so3xr3", "se3", "lie", "dca"];

const BALL: &str = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies: {ball: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 1.1, 0]}}
joints: {fall: {type: prismatic, bodies: [ground, ball], at: [0, 1.1, 0], axis: [0, 1, 0], limits: {min: -1 m, restitution: 0.8}}}
study: {t_end: 4.5, output_step: 0.05}
";

#[test]
fn a_ball_bounces_until_it_rests() {
    check("n01_bouncing_ball", BALL, 4.5, &[]);
    // The series of impacts ends at t1 (1 + e)/(1 - e).
    let model = model_of(BALL);
    let ran = run(&model, "grcr", Some("dop853"), 1e-12, None, 4.5);
    let rest = ran.events.last().expect("events");
    let exact = (2.0_f64 / 9.81).sqrt() * 1.8 / 0.2;
    assert!(rest.kind == Kind::Rest && (rest.t - exact).abs() < 1e-9, "{rest:?} {exact}");
    // At rest the floor carries the weight.
    let effort = ran.trajectory.column("fall.limit.effort").expect("a column");
    assert!((effort[effort.len() - 1] - 9.81).abs() < 1e-9);
}

fn incline(mu: f64) -> String {
    let (c, s) = (30_f64.to_radians().cos(), 30_f64.to_radians().sin());
    format!(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies: {{block: {{mass: 1, inertia: [0.01, 0.01, 0.01], orientation: {{axis: [0, 0, 1], angle: 30 deg}}, velocity: [{}, {}, 0]}}}}
joints: {{slide: {{type: prismatic, bodies: [ground, block], at: [0, 0, 0], axis: [{c}, {s}, 0]}}}}
forces: {{rub: {{type: friction, joint: slide, coulomb: {mu}, stick: true}}}}
study: {{t_end: 1, output_step: 0.005}}
",
        2.0 * c,
        2.0 * s
    )
}

#[test]
fn a_block_on_a_slope_stays_or_slides_back() {
    check("n02_incline_stick", &incline(0.7), 1.0, WITHOUT_LOADS);
    check("n02_incline_back", &incline(0.4), 1.0, WITHOUT_LOADS);
}

const BREAKAWAY: &str = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies: {block: {mass: 1, inertia: [0.01, 0.01, 0.01]}}
joints: {slide: {type: prismatic, bodies: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}}
forces:
  rub: {type: friction, joint: slide, coulomb: 0.4, static: 0.5, stick: true}
  pull: {type: force, body: block, force: ['2*t', 0, 0]}
study: {t_end: 4, output_step: 0.02}
";

#[test]
fn a_block_that_is_pulled_breaks_away() {
    check("n02_breakaway", BREAKAWAY, 4.0, WITHOUT_LOADS);
}

fn pendulum(stop: f64, e: f64) -> String {
    format!(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies: {{rod: {{mass: 1, inertia: [{0}, {0}, {0}], at: [{1}, {2}, 0], orientation: {{axis: [0, 0, 1], angle: 1}}}}}}
joints: {{pin: {{type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1], limits: {{min: {3}, restitution: {e}}}}}}}
study: {{t_end: 3, output_step: 0.01}}
",
        1.0 / 12.0,
        0.5 * 1_f64.sin(),
        -0.5 * 1_f64.cos(),
        stop - 1.0
    )
}

#[test]
fn a_pendulum_hits_its_stop() {
    let end = |name: &str| table(&format!("{name}.csv")).1.last().expect("rows")[0].parse::<f64>().expect("a time");
    check("n03_pendulum_stop_bottom", &pendulum(0.0, 0.6), end("n03_pendulum_stop_bottom"), &[]);
    check("n03_pendulum_stop_zeno", &pendulum(20_f64.to_radians(), 0.5), end("n03_pendulum_stop_zeno"), &[]);
}

fn knee(e: f64) -> String {
    let (a, b) = (-30_f64.to_radians(), 15_f64.to_radians());
    let j = 1.0 / 12.0;
    format!(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  rod1: {{mass: 1, inertia: [{j}, {j}, {j}], at: [{}, {}, 0], orientation: {{axis: [0, 0, 1], angle: {a}}}}}
  rod2: {{mass: 1, inertia: [{j}, {j}, {j}], at: [{}, {}, 0], orientation: {{axis: [0, 0, 1], angle: {b}}}}}
joints:
  hip: {{type: revolute, bodies: [ground, rod1], at: [0, 0, 0], axis: [0, 0, 1]}}
  knee: {{type: revolute, bodies: [rod1, rod2], at: [{}, {}, 0], axis: [0, 0, 1], limits: {{min: -45 deg, restitution: {e}}}}}
study: {{t_end: 2, output_step: 0.01}}
",
        0.5 * a.cos(),
        0.5 * a.sin(),
        a.cos() + 0.5 * b.cos(),
        a.sin() + 0.5 * b.sin(),
        a.cos(),
        a.sin()
    )
}

fn last_time(name: &str) -> f64 {
    table(&format!("{name}.csv")).1.last().expect("rows")[0].parse().expect("a time")
}

#[test]
fn a_knee_does_not_bend_backwards() {
    for (name, e) in [("n04_double_pendulum_knee_e0", 0.0), ("n04_double_pendulum_knee_e5", 0.5)] {
        check(name, &knee(e), last_time(name), &[]);
    }
}

const TREBUCHET: &str = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  beam: {mass: 20, inertia: [41.66666666666666, 41.66666666666666, 41.66666666666666], at: [-1.071214264281428, 1.95, 0], orientation: {axis: [0, 0, 1], angle: 3.916990150200546}}
  weight: {mass: 400, inertia: [10, 10, 10], at: [0.7141428428542852, 3.1, 0], orientation: {axis: [0, 0, 1], angle: -1.570796326794897}}
  ball: {mass: 5, inertia: [1, 1, 1], at: [0.6377096705140888, 0, 0]}
joints:
  axle: {type: revolute, bodies: [ground, beam], at: [0, 3, 0], axis: [0, 0, 1]}
  hinge: {type: revolute, bodies: [beam, weight], frames: {beam: {at: [-2.5, 0, 0], axis: [0, 0, 1]}, weight: {at: [-0.6, 0, 0], axis: [0, 0, 1]}}}
  sling: {type: distance, from: {body: beam, at: [2.5, 0, 0]}, to: {body: ball}, length: 3.5}
  trough: {type: point-on-plane, bodies: [ground, ball], at: [0.6377096705140888, 0, 0], axis: [0, 1, 0], limits: {min: 0}}
events:
  let-go: {when: ball.vx - ball.vy, direction: rising, do: [{remove: sling}]}
  landed: {when: ball.y, direction: falling, after: let-go, do: [{stop: true}]}
study: {t_end: 8, output_step: 0.01}
";

#[test]
fn a_trebuchet_throws() {
    let model = model_of(TREBUCHET);
    let (_, rows) = table("n06_trebuchet.events.csv");
    let reference: Vec<f64> = rows.iter().map(|r| r[0].parse().expect("a time")).collect();
    for (formulation, integrator) in HIGH {
        let ran = run(&model, formulation, Some(integrator), 1e-12, None, 8.0);
        let names: Vec<&str> = ran.events.iter().map(|h| h.name.as_str()).collect();
        assert_eq!(names[..3], ["trough.min", "let-go", "landed"], "{formulation}");
        let d = ran.events.iter().zip(&reference).map(|(h, t)| (h.t - t).abs()).fold(0.0, f64::max);
        let x = ran.trajectory.column("ball.r.x").expect("a column");
        println!("{formulation}: times {d:.1e}, range {:.9}", x[x.len() - 1]);
        assert!(d < 1e-9, "{formulation}: {d:.2e} s");
        assert!((x[x.len() - 1] - 188.0358140626702).abs() < 1e-6, "{formulation}: {}", x[x.len() - 1]);
        assert!(states_apart("n06_trebuchet", &ran, &reference) < 1e-6);
        energy_is_kept(formulation, &ran, 1e-8);
    }
}

fn fourbar(redundant: bool) -> String {
    let third = if redundant { "revolute" } else { "cylindrical" };
    format!(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  crank: {{mass: 0.3, inertia: [0.0005625, 0.0005625, 0.0005625], at: [0.03750000000000001, 0.06495190528383289, 0], orientation: {{axis: [0, 0, 1], angle: 1.047197551196598}}}}
  coupler: {{mass: 0.7, inertia: [0.007145833333333331, 0.007145833333333331, 0.007145833333333331], at: [0.2281071736484336, 0.2146575324764315, 0], orientation: {{axis: [0, 0, 1], angle: 0.5055708814543444}}}}
  rocker: {{mass: 0.6, inertia: [0.0045, 0.0045, 0.0045], at: [0.3906071736484337, 0.1497056271925986, 0], orientation: {{axis: [0, 0, 1], angle: 1.633456164175602}}}}
joints:
  A: {{type: revolute, bodies: [ground, crank], frames: {{ground: {{at: [0, 0, 0], axis: [0, 0, 1]}}, crank: {{at: [-0.075, 0, 0], axis: [0, 0, 1]}}}}}}
  B: {{type: revolute, bodies: [crank, coupler], frames: {{crank: {{at: [0.075, 0, 0], axis: [0, 0, 1]}}, coupler: {{at: [-0.175, 0, 0], axis: [0, 0, 1]}}}}}}
  C: {{type: {third}, bodies: [rocker, coupler], frames: {{rocker: {{at: [0.15, 0, 0], axis: [0, 0, 1]}}, coupler: {{at: [0.175, 0, 0], axis: [0, 0, 1]}}}}}}
  D: {{type: revolute, bodies: [ground, rocker], frames: {{ground: {{at: [0.4, 0, 0], axis: [0, 0, 1], x: [1, 0, 0]}}, rocker: {{at: [-0.15, 0, 0], axis: [0, 0, 1], x: [1, 0, 0]}}}}, limits: {{max: 100 deg, restitution: 0.5}}}}
study: {{t_end: 1, output_step: 0.01}}
"
    )
}

#[test]
fn a_four_bar_hits_its_end_stop() {
    let name = "n09_fourbar_end_stop";
    check(name, &fourbar(true), last_time(name), &[]);
}

const ONE_WAY: &str = "
fourbar: 1
bodies:
  driver: {mass: 1, inertia: [0.01, 0.01, 0.01]}
  rotor: {mass: 1, inertia: [0.02, 0.02, 0.02], omega: [0, 0, 3.141592653589793]}
joints:
  shaft: {type: revolute, bodies: [ground, driver], at: [0, 0, 0], axis: [0, 0, 1]}
  hub: {type: revolute, bodies: [ground, rotor], at: [0, 0, 0], axis: [0, 0, 1]}
  clutch: {type: revolute, bodies: [driver, rotor], at: [0, 0, 0], axis: [0, 0, 1], limits: {speed_min: 0}}
drives: {motor: {joint: shaft, angle: '0.5*sin(2*pi*t)'}}
forces: {drag: {type: actuator, joint: hub, effort: -0.05}}
study: {analysis: dynamics, t_end: 3.2, output_step: 0.01}
";

#[test]
fn a_one_way_clutch_overruns() {
    let name = "n10_one_way_clutch";
    check(name, ONE_WAY, last_time(name).max(3.1), WITHOUT_LOADS);
}

const OSCILLATOR: &str = "
fourbar: 1
bodies: {mass: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.25, 0, 0]}}
joints: {slide: {type: prismatic, bodies: [ground, mass], frames: {ground: {at: [0, 0, 0], axis: [1, 0, 0]}, mass: {at: [0, 0, 0], axis: [1, 0, 0]}}}}
forces:
  spring: {type: actuator, joint: slide, effort: -100*slide.distance}
  rub: {type: friction, joint: slide, preload: 3 N, stick: true}
study: {t_end: 2, output_step: 0.01}
";

#[test]
fn an_oscillator_with_dry_friction_sticks_off_its_middle() {
    check("n12_coulomb_oscillator", OSCILLATOR, 2.0, &[]);
}

const ENGAGE: &str = "
fourbar: 1
bodies:
  rotor1: {mass: 1, inertia: [0.5, 0.5, 0.5], omega: [0, 0, 20]}
  rotor2: {mass: 1, inertia: [0.2, 0.2, 0.2], omega: [0, 0, -5]}
joints:
  p1: {type: revolute, bodies: [ground, rotor1], at: [0, 0, 0], axis: [0, 0, 1]}
  p2: {type: revolute, bodies: [ground, rotor2], at: [0, 0, 0], axis: [0, 0, 1]}
  clutch: {type: revolute, bodies: [rotor1, rotor2], at: [0, 0, 0], axis: [0, 0, 1]}
inputs: {brake: {unit: N*m}}
forces: {shoe: {type: actuator, joint: p2, effort: brake}}
events:
  engage: {when: t - 1, do: [{lock: clutch}]}
  disengage: {when: t - 2, do: [{release: clutch}, {set: {brake: -1.4}}]}
study: {t_end: 3, output_step: 0.01}
";

#[test]
fn a_clutch_engages_and_lets_go() {
    let model = model_of(ENGAGE);
    for (formulation, integrator) in HIGH {
        let ran = run(&model, formulation, Some(integrator), 1e-12, None, 3.0);
        assert_eq!(ran.events.len(), 2, "{formulation}: {:?}", ran.events);
        assert!((ran.events[0].t - 1.0).abs() < 1e-12 && (ran.events[1].t - 2.0).abs() < 1e-12, "{formulation}");
        assert!((ran.events[0].lost - 44.642857142857146).abs() < 1e-8, "{formulation}: {}", ran.events[0].lost);
        assert!(states_apart("n14_clutch_engage_release", &ran, &[1.0, 2.0]) < 1e-8, "{formulation}");
        energy_is_kept(formulation, &ran, 1e-8);
    }
}

/// Pseudo-random numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.next()
    }

    fn seeded(seed: u64) -> Self {
        let mut r = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| {
            r.next();
        });
        r
    }

    /// A rod that begins at a given point, as text of a file, and the vector to its end.
    fn rod(&mut self, k: usize, [x, y]: [f64; 2]) -> (String, [f64; 2]) {
        let (length, angle, mass) = (self.between(0.3, 1.0), self.between(-2.5, 0.5), self.between(0.3, 2.0));
        let j = mass * length * length / 12.0;
        let (dx, dy) = (length * angle.cos(), length * angle.sin());
        let at = format!("[{}, {}, 0]", x + 0.5 * dx, y + 0.5 * dy);
        let turned = format!("{{axis: [0, 0, 1], angle: {angle}}}");
        (format!("  rod{k}: {{mass: {mass}, inertia: [{j}, {j}, {j}], at: {at}, orientation: {turned}}}\n"), [dx, dy])
    }
}

/// A chain of rods, with limits on some of its hinges.
fn random_chain(seed: u64) -> String {
    let mut r = Random::seeded(seed);
    let n = 1 + (r.next() * 3.0) as usize;
    let (mut bodies, mut joints) = (String::new(), String::new());
    let (mut x, mut y, mut base) = (0.0, 0.0, "ground".to_string());
    for k in 0..n {
        let (rod, [dx, dy]) = r.rod(k, [x, y]);
        bodies += &rod;
        let limits = if k == 0 || r.next() < 0.7 {
            let (min, max, e) = (-r.between(0.05, 0.8), r.between(0.05, 0.8), r.between(0.0, 0.9));
            format!(", limits: {{min: {min}, max: {max}, restitution: {e}}}")
        } else {
            String::new()
        };
        joints += &format!("  pin{k}: {{type: revolute, bodies: [{base}, rod{k}], at: [{x}, {y}, 0], axis: [0, 0, 1]{limits}}}\n");
        (x, y, base) = (x + dx, y + dy, format!("rod{k}"));
    }
    format!("fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n{bodies}joints:\n{joints}study: {{t_end: 0.8, output_step: 0.1}}\n")
}

/// Formulations agree on random chains with random limits until a grazing impact.
#[test]
fn random_chains_with_random_limits_agree() {
    let mut impacts = 0;
    for seed in 1..=100 {
        let model = model_of(&random_chain(seed));
        let runs: Vec<_> = HIGH
            .iter()
            .map(|(f, i)| try_run(&model, f, Some(i), 1e-11, None, 0.8).unwrap_or_else(|d| panic!("seed {seed}, {f}: {d}")))
            .collect();
        let first = &runs[0].events;
        let fastest = first.iter().fold(0.0_f64, |m, h| m.max(h.speed[0].abs()));
        let grazing = first.iter().position(|h| h.kind == Kind::Impact && h.speed[0].abs() < 1e-3 * fastest);
        let rest = first.iter().position(|h| h.kind == Kind::Rest);
        let n = first.len().min(grazing.unwrap_or(usize::MAX)).min(rest.unwrap_or(usize::MAX));
        for ran in &runs {
            energy_is_kept(&format!("seed {seed}"), ran, 1e-7);
            assert!(ran.events.len() >= n, "seed {seed}: {} and {n} events\n{}", ran.events.len(), random_chain(seed));
            for (a, b) in first.iter().zip(&ran.events).take(n) {
                assert!(a.name == b.name && a.kind == b.kind && (a.t - b.t).abs() < 1e-6, "seed {seed}: {a:?} {b:?}");
            }
        }
        impacts += n;
    }
    assert!(impacts > 50, "{impacts}");
}

/// A rope is slack, becomes taut with a jerk, and carries; the stone then swings like a pendulum.
#[test]
fn a_rope_becomes_taut() {
    let text = "
fourbar: 1
gravity: [0, -9.81, 0]
bodies: {stone: {mass: 2, inertia: [0.01, 0.01, 0.01], at: [0.6, 0, 0]}}
joints: {rope: {type: distance, from: {body: ground}, to: {body: stone}, limits: {max: 1 m}}}
study: {t_end: 1, output_step: 0.01}
";
    let model = model_of(text);
    for (formulation, integrator) in HIGH {
        let ran = run(&model, formulation, Some(integrator), 1e-12, None, 1.0);
        // Free fall until x^2 + y^2 = 1.
        let t = (2.0 * 0.8 / 9.81_f64).sqrt();
        let first = &ran.events[0];
        assert!(first.kind == Kind::Impact && (first.t - t).abs() < 1e-9, "{formulation}: {first:?} {t}");
        // The speed along the rope is lost, that across it is kept.
        let along = 9.81 * t * 0.8;
        assert!((first.lost - along * along).abs() < 1e-8 && (first.impulse - 2.0 * along).abs() < 1e-8, "{formulation}: {first:?}");
        energy_is_kept(formulation, &ran, 1e-8);
        let [x, y] = ["stone.r.x", "stone.r.y"].map(|c| ran.trajectory.column(c).expect("a column"));
        assert!(x.iter().zip(y).all(|(x, y)| x.hypot(*y) < 1.0 + 1e-9), "{formulation}");
    }
}

/// References with their mechanisms and the step with which second-order methods locate the events to a microsecond.
fn references() -> Vec<(&'static str, String, f64)> {
    vec![
        ("n01_bouncing_ball", BALL.into(), 1e-3),
        ("n02_incline_stick", incline(0.7), 1e-3),
        ("n02_incline_back", incline(0.4), 1e-3),
        ("n02_breakaway", BREAKAWAY.into(), 1e-3),
        ("n03_pendulum_stop_bottom", pendulum(0.0, 0.6), 2e-4),
        ("n03_pendulum_stop_zeno", pendulum(20_f64.to_radians(), 0.5), 2e-4),
        ("n04_double_pendulum_knee_e0", knee(0.0), 5e-5),
        ("n04_double_pendulum_knee_e5", knee(0.5), 5e-5),
        ("n09_fourbar_end_stop", fourbar(true), 5e-5),
        ("n10_one_way_clutch", ONE_WAY.into(), 5e-4),
        ("n12_coulomb_oscillator", OSCILLATOR.into(), 1e-4),
    ]
}

/// Second-order methods locate events with the error of their steps: to a microsecond if the steps are small enough for the motion.
#[test]
fn methods_of_second_order_find_events_with_their_own_error() {
    for (name, text, step) in references() {
        let (model, reference) = (model_of(&text), reference_events(name));
        let times: Vec<f64> = reference.iter().map(|e| e.0).collect();
        let what = format!("{name} with ra");
        let ran = run(&model, "ra", Some("gen-alpha"), 1.0, Some(step), last_time(name).max(reference[reference.len() - 1].0 + 0.01));
        let d = times_apart(&what, &ran.events, &reference);
        println!("{what}: {} events, times {d:.1e} s, states {:.1e}", ran.events.len(), states_apart(name, &ran, &times));
        assert!(d < 1e-6, "{what}: times differ by {d:.2e} s");
    }
    let (model, reference) = (model_of(&pendulum(0.0, 0.6)), reference_events("n03_pendulum_stop_bottom"));
    for formulation in ["ra", "rp", "reps"] {
        let error = |h: f64| {
            let ran = run(&model, formulation, Some("gen-alpha"), 1.0, Some(h), 1.0);
            ran.events.iter().zip(&reference).map(|(a, b)| (a.t - b.0).abs()).fold(0.0, f64::max)
        };
        let (coarse, fine) = (error(1e-3), error(5e-4));
        assert!(fine < 0.4 * coarse, "{formulation}: {coarse:.2e} {fine:.2e}");
    }
}

/// High-order implicit methods reproduce the events of the references like explicit ones.
#[test]
fn implicit_methods_meet_the_references() {
    for (name, text, _) in references() {
        let (model, reference) = (model_of(&text), reference_events(name));
        let times: Vec<f64> = reference.iter().map(|e| e.0).collect();
        for formulation in ["ra", "grcr"] {
            let what = format!("{name} with {formulation} and radau");
            let ran = run(&model, formulation, Some("radau"), 1e-11, None, last_time(name).max(reference[reference.len() - 1].0 + 0.01));
            let d = times_apart(&what, &ran.events, &reference);
            let states = states_apart(name, &ran, &times);
            println!("{what}: times {d:.1e} s, states {states:.1e}");
            assert!(d < 1e-9, "{what}: times differ by {d:.2e} s");
            assert!(states < 1e-8, "{what}: states differ by {states:.2e}");
            energy_is_kept(&what, &ran, 1e-7);
        }
    }
}

/// An interactive simulation passes its events, can be saved, and continues unchanged.
#[test]
fn a_simulation_passes_events_and_is_restored() {
    let model = std::sync::Arc::new(model_of(BALL));
    let mut s = Study::of(&model);
    (s.formulation, s.tol) = (Some("grcr".into()), Some(1e-10));
    let mut ball = fourbar::Simulation::new(&model, &s).expect("starts");
    ball.advance(1.0).expect("moves");
    assert_eq!(ball.events().len(), 1);
    let saved = ball.save();
    ball.advance(2.0).expect("moves");
    let there = ball.state();
    let mut again = fourbar::Simulation::new(&model, &s).expect("starts");
    again.restore(&saved).expect("restores");
    again.advance(2.0).expect("moves");
    assert!((again.state().q[1].r - there.q[1].r).norm() < 1e-8 && again.events().len() == ball.events().len());
    // Steps end at events.
    let mut steps = fourbar::Simulation::new(&model, &s).expect("starts");
    while steps.events().is_empty() {
        steps.step().expect("steps");
    }
    assert!((steps.t() - (2.0_f64 / 9.81).sqrt()).abs() < 1e-9);
}

/// Drives through a rigid limit, starts beyond one, and relays without a dead band are rejected by name.
#[test]
fn what_cannot_be_is_refused() {
    let refused = |text: &str| {
        let model = model_of(text);
        let mut trajectory = Trajectory::default();
        study::run(&model, &Study::of(&model), &mut trajectory).expect_err("refused").diagnostic.code.0
    };
    let driven = "
fourbar: 1
bodies: {arm: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}, tip: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1, 0, 0]}}
joints:
  pin: {type: revolute, bodies: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1], limits: {max: 0.5}}
  free: {type: revolute, bodies: [arm, tip], at: [1, 0, 0], axis: [0, 0, 1]}
drives: {motor: {joint: pin, angle: t}}
study: {t_end: 1, output_step: 0.1}
";
    assert_eq!(refused(driven), "S303");
    assert_eq!(refused(&BALL.replace("min: -1 m", "min: 0.5 m")), "S301");
    let relay = "
fourbar: 1
bodies: {mass: {mass: 1, inertia: [0.1, 0.1, 0.1], velocity: [1, 0, 0]}}
joints: {slide: {type: prismatic, bodies: [ground, mass], at: [0, 0, 0], axis: [1, 0, 0]}}
inputs: {push: {unit: N, default: -1}}
forces: {motor: {type: actuator, joint: slide, effort: push}}
events:
  low: {when: slide.speed, direction: falling, do: [{set: {push: 1}}]}
  high: {when: 'slide.speed - 1e-10', direction: rising, do: [{set: {push: -1}}]}
study: {t_end: 3, output_step: 0.1}
";
    assert_eq!(refused(relay), "S302");
}

/// A springy limit has the restitution that was specified.
#[test]
fn a_springy_limit_has_the_restitution_that_is_asked_for() {
    for (e, exponent) in [(0.2, 1.5), (0.5, 1.5), (0.8, 1.0), (0.95, 2.0)] {
        let text = format!(
            "
fourbar: 1
bodies: {{ball: {{mass: 0.5, inertia: [0.01, 0.01, 0.01], velocity: [-2, 0, 0]}}}}
joints: {{slide: {{type: prismatic, bodies: [ground, ball], at: [0, 0, 0], axis: [1, 0, 0], limits: {{min: -0.1, stiffness: 1e5, restitution: {e}, speed: 2 m/s, exponent: {exponent}}}}}}}
study: {{t_end: 0.3, output_step: 0.01}}
"
        );
        let model = model_of(&text);
        assert!(!model.has_events());
        for formulation in ["grcr", "so3xr3", "dca"] {
            let ran = run(&model, formulation, Some("dop853"), 1e-8, None, 0.3);
            let v = ran.trajectory.column("slide.speed").expect("a column");
            assert!((v[v.len() - 1] - 2.0 * e).abs() < 1e-4, "{formulation}, {e}: {}", v[v.len() - 1]);
        }
    }
}

/// An event stops a driven mechanism in kinematics.
#[test]
fn kinematics_stops_at_an_event() {
    let text = "
fourbar: 1
bodies: {crank: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}}
joints: {O: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}}
drives: {motor: {joint: O, angle: 'sin(t)'}}
events: {there: {when: O.angle - 0.5, direction: rising, do: stop}}
study: {t_end: 3, output_step: 0.1}
";
    let model = model_of(text);
    let mut trajectory = Trajectory::default();
    let report = study::run(&model, &Study::of(&model), &mut trajectory).unwrap_or_else(|f| panic!("{}", f.diagnostic));
    assert!((report.t - 0.5_f64.asin()).abs() < 1e-9 && report.events.len() == 1, "{report:?}");
}

/// A mechanism without events runs as a smooth one.
#[test]
fn smooth_mechanisms_have_no_events() {
    let model = model_of(&BALL.replace(", limits: {min: -1 m, restitution: 0.8}", ""));
    assert!(!model.has_events());
    let ran = run(&model, "grcr", None, 1e-9, None, 1.0);
    assert!(ran.events.is_empty() && ran.trajectory.column("energy.lost").is_none());
}

/// Elements that are switched off do not act, and their stored energy is lost.
#[test]
fn forces_and_drives_are_switched() {
    let text = "
fourbar: 1
bodies: {mass: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.2, 0, 0]}}
joints: {slide: {type: prismatic, bodies: [ground, mass], at: [0, 0, 0], axis: [1, 0, 0]}}
forces: {spring: {type: spring, between: [{body: ground, at: [-1, 0, 0]}, {body: mass}], stiffness: 100, length: 1}}
events: {cut: {when: t - 0.05, do: [{disable: spring}]}, tied: {when: t - 0.1, do: [{enable: spring}]}}
study: {t_end: 0.2, output_step: 0.01}
";
    let model = model_of(text);
    for (formulation, integrator) in HIGH {
        let ran = run(&model, formulation, Some(integrator), 1e-11, None, 0.2);
        let [t, v] = ["t", "slide.speed"].map(|c| ran.trajectory.column(c).expect("a column"));
        // A free oscillation from 0.2 m, then no force.
        let cut = -2.0 * (10.0 * 0.05_f64).sin();
        for (t, v) in t.iter().zip(v).filter(|(t, _)| **t > 0.05 + 1e-9 && **t < 0.1 - 1e-9) {
            assert!((v - cut).abs() < 1e-8, "{formulation}: {v} {cut} at {t}");
        }
        assert!(v[v.len() - 1] < cut, "{formulation}");
        assert!((ran.events[0].lost - 50.0 * (0.2 * (0.5_f64).cos()).powi(2)).abs() < 1e-8, "{formulation}: {:?}", ran.events[0]);
    }
}

/// The shipped models with events: two formulations find the same events at the same times, and energy is conserved.
#[test]
fn shipped_models_meet_their_events() {
    let names = fourbar_testing::common::eventful();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let model = fourbar_testing::common::model(&name);
        let t_end = Study::of(&model).t_end;
        let [a, b] = [("grcr", "dop853"), ("so3xr3", "dop853")].map(|(f, i)| run(&model, f, Some(i), 1e-10, None, t_end));
        energy_is_kept(&name, &a, 1e-6);
        energy_is_kept(&name, &b, 1e-6);
        let until = |r: &Ran| r.events.iter().position(|h| h.kind == Kind::Rest).unwrap_or(r.events.len());
        let n = until(&a).min(until(&b));
        assert!(n >= 2, "{name}: {:?}", a.events);
        for (x, y) in a.events.iter().zip(&b.events).take(n) {
            assert!(x.name == y.name && x.kind == y.kind && (x.t - y.t).abs() < 1e-6, "{name}: {x:?} and {y:?}");
        }
    }
}

/// Limits that are never approached cost almost nothing: nearly the same steps, evaluations and factorisations, and the same rows to
/// rounding.
#[test]
fn limits_that_are_never_near_change_nothing() {
    let free = fourbar(true).replace(", limits: {max: 100 deg, restitution: 0.5}", "");
    let limited = |limits: &str| fourbar(true).replace(", limits: {max: 100 deg, restitution: 0.5}", limits);
    let methods = [
        ("grcr", "dop853", None),
        ("so3xr3", "dop853", None),
        ("se3", "dopri5", None),
        ("dca", "dop853", None),
        ("natural", "taylor", None),
        ("ra", "radau", None),
        ("grcr", "radau", None),
        ("ra", "gen-alpha", Some(1e-3)),
        ("rp", "gen-alpha", Some(1e-3)),
    ];
    let plain = model_of(&free);
    // Only limits without springs: with springs every step is checked inside.
    for limits in [", limits: {min: -30, max: 30}", ", limits: {max: 25, restitution: 0.5}"] {
        let model = model_of(&limited(limits));
        for (formulation, integrator, step) in methods {
            let ran = |m: &Model| {
                let mut s = Study::of(m);
                (s.formulation, s.integrator) = (Some(formulation.into()), Some(integrator.into()));
                (s.step, s.tol) = (step, step.is_none().then_some(1e-8));
                let mut rows = Trajectory::default();
                let report = study::run(m, &s, &mut rows).unwrap_or_else(|f| panic!("{formulation} {integrator}: {}", f.diagnostic));
                (rows, report.work)
            };
            let ((a, work), (b, more)) = (ran(&plain), ran(&model));
            let what = format!("{formulation} {integrator}{limits}");
            for (name, n) in &work {
                let own = more.iter().find(|w| w.0 == *name).map_or(0.0, |w| w.1);
                // The first instant is computed once more when the mode is entered.
                assert!(own <= n + 30.0 && own <= 1.03 * n + 30.0, "{what}: {own} {name} instead of {n}");
            }
            for column in ["t", "crank.r.x", "coupler.v.y", "rocker.omega.z", "energy.work"] {
                let [x, y] = [&a, &b].map(|t| t.column(column).unwrap_or_else(|| panic!("{column}")));
                assert_eq!(x.len(), y.len(), "{what}");
                let off = x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                // Series make their first step with the first instant, before the bound on the steps is known.
                let least = if formulation == "natural" { 1e-7 } else { 1e-11 };
                assert!(off < least, "{what} {column}: {off:.1e}");
            }
        }
    }
}

/// The residuals of limit conditions after impacts, and the largest overlap of limits, are reported.
#[test]
fn residuals_of_limits_are_told() {
    for (text, t_end) in [(pendulum(0.0, 0.6), 1.0), (knee(0.5), 2.0), (fourbar(true), 1.0)] {
        let model = model_of(&text);
        let mut s = Study::of(&model);
        (s.formulation, s.tol, s.t_end) = (Some("lie".into()), Some(1e-10), t_end);
        let report = study::run(&model, &s, &mut Trajectory::default()).unwrap_or_else(|f| panic!("{}", f.diagnostic));
        let told = |name: &str| report.work.iter().find(|w| w.0 == name).unwrap_or_else(|| panic!("{name}")).1;
        assert!(told("largest_contact_residual") < 1e-10, "{:?}", report.work);
        assert!(told("largest_overlap") < 1e-9, "{:?}", report.work);
    }
}

/// A random mechanism: a chain that swings, slides or is driven in circles, with near and distant limits, a rope, or ground to fall on.
fn random_limits(seed: u64) -> (String, &'static str, &'static str, f64) {
    let mut r = Random::seeded(seed);
    let n = 1 + (r.next() * 3.0) as usize;
    let wheel = r.next() < 0.3;
    let (mut bodies, mut joints) = (String::new(), String::new());
    let (mut x, mut y, mut base) = (0.0, 0.0, "ground".to_string());
    for k in 0..n {
        let (rod, [dx, dy]) = r.rod(k, [x, y]);
        bodies += &rod;
        let slides = k > 0 && r.next() < 0.3;
        // From very near to far away.
        let mut bound = || 0.02 * 150_f64.powf(r.next()) * if slides { 0.3 } else { 1.0 };
        let (min, max) = (-bound(), bound());
        let springy =
            if r.next() < 0.2 { ", stiffness: 1e4, exponent: 2".into() } else { format!(", restitution: {}", r.between(0.0, 0.9)) };
        let limits = if r.next() < 0.7 { format!(", limits: {{min: {min}, max: {max}{springy}}}") } else { String::new() };
        let (kind, axis) = if slides { ("prismatic", format!("[{dx}, {dy}, 0]")) } else { ("revolute", "[0, 0, 1]".into()) };
        joints += &format!("  pin{k}: {{type: {kind}, bodies: [{base}, rod{k}], at: [{x}, {y}, 0], axis: {axis}{limits}}}\n");
        (x, y, base) = (x + dx, y + dy, format!("rod{k}"));
    }
    let mut more = String::new();
    if wheel {
        // A fast crank shakes the last rod through a spring.
        bodies += "  crank: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}\n";
        joints += "  shaft: {type: revolute, bodies: [ground, crank], at: [0.4, 0, 0], axis: [0, 0, 1]}\n";
        let spring = format!(
            "{{type: spring, between: [{{body: {base}}}, {{body: crank, at: [0.2, 0, 0]}}], stiffness: {}, length: 0.5}}",
            r.between(5.0, 60.0)
        );
        more += &format!("drives: {{motor: {{joint: shaft, angle: {}*t}}}}\nforces: {{shake: {spring}}}\n", r.between(3.0, 25.0));
    }
    if r.next() < 0.3 {
        let far = ((0.5 * x).hypot(0.5 * y) + r.between(0.5, 1.5)).max(x.hypot(y) + 0.2);
        joints += &format!("  rope: {{type: distance, from: {{body: ground}}, to: {{body: {base}}}, limits: {{max: {far}}}}}\n");
    }
    let methods = [
        ("grcr", "dop853"),
        ("grcr", "dopri5"),
        ("lie", "dop853"),
        ("se3", "dopri5"),
        ("dca", "dop853"),
        ("natural", "taylor"),
        ("ra", "radau"),
        ("ra", "gen-alpha"),
    ];
    let (formulation, integrator) = methods[(r.next() * methods.len() as f64) as usize % methods.len()];
    let tol = 10_f64.powf(r.between(-9.0, -3.0));
    let text = format!(
        "fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n{bodies}joints:\n{joints}{more}study: {{analysis: dynamics, t_end: 1.5, output_step: 0.25}}\n"
    );
    (text, formulation, integrator, tol)
}

/// Checking only the ends of quiet steps misses no contact: an event that never happens forces a check inside every step, and the contacts
/// are the same. `FOURBAR_STUDY=n` draws `n` mechanisms.
#[test]
fn no_touch_is_missed_in_quiet_steps() {
    let study = std::env::var("FOURBAR_STUDY").ok().and_then(|n| n.parse::<u64>().ok()).unwrap_or(40);
    let (mut met, mut touched) = (0, 0);
    for seed in 1..=study {
        let (text, formulation, integrator, tol) = random_limits(seed);
        let what = format!("seed {seed} {formulation} {integrator} {tol:.1e}");
        let looked = format!("{text}events: {{never: {{when: 't - 100', do: [{{stop: true}}]}}}}\n");
        let runs = [&text, &looked].map(|text| try_run(&model_of(text), formulation, Some(integrator), tol, None, 1.5));
        let [quiet, looked] = match runs {
            [Ok(a), Ok(b)] => [a, b],
            // An error in one run must occur in the other.
            [Err(a), Err(b)] => {
                assert_eq!(a.code.0, b.code.0, "{what}: {a} {b}");
                continue;
            }
            [a, b] => panic!("{what}: only one ends: {:?} {:?}\n{text}", a.err(), b.err()),
        };
        // Steps differ only by rounding until the first contact, and by little for a while after it.
        let first = quiet.events.len().max(looked.events.len()).min(3);
        for k in 0..first {
            let (Some(a), Some(b)) = (quiet.events.get(k), looked.events.get(k)) else {
                panic!("{what}: {:?} and {:?}\n{text}", quiet.events, looked.events)
            };
            let near = 1e-9 * 100_f64.powi(k as i32);
            assert!(a.name == b.name && a.kind == b.kind && (a.t - b.t).abs() < near, "{what}: {a:?} {b:?}\n{text}");
        }
        met += first;
        touched += usize::from(first > 0);
    }
    println!("{touched} of {study} touch, {met} events compared");
    assert!(touched as u64 > study / 4, "{touched} of {study}");
}
