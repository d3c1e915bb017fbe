//! Times of the engine compared with those of others at equal error. Exudyn, Pinocchio and MuJoCo run alongside if Python finds them, and
//! are then decisive; figures measured earlier are also printed, marked as such, and are decisive only if an engine is not found.
//!
//! The step size of each run is chosen so that its error is just below that of the other engine; the CPU times of solving are compared,
//! including the set-up of the solver but not of the model.

use crate::root;
use fourbar::analysis::assembly::assemble;
use fourbar::force::eval::{self, Plain};
use fourbar::integrator::Method;
use fourbar::integrator::index3::{Memory, Stepper};
use fourbar::spec::*;
use fourbar::study::{Analysis, Study};
use fourbar::{Configuration, Model, Trajectory};
use fourbar_bench::{acceleration, chain, ladder, shipped};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Instant;

const GRAVITY: f64 = 9.81;
/// Number of runs, of which the shortest counts, as in the scripts.
const RUNS: usize = 3;
/// Source of the figures marked as earlier.
const EARLIER: &str = "Exudyn 1.13.6, Pinocchio 4.1.0, MuJoCo 4.0.0, Simbody 3.7; 2-core AMD EPYC machine, shortest of several runs";
/// Scripts by the beginning of the case.
const SCRIPTS: [(&str, &str); 2] = [("pinocchio", "xtask/peers/joint_bench.py"), ("mujoco", "xtask/peers/joint_bench.py")];

/// One figure of another engine for comparison.
struct Against {
    /// Case of the script, or empty if there is none.
    case: &'static str,
    /// Description.
    what: &'static str,
    /// Measured earlier: seconds, or microseconds per step.
    earlier: f64,
    /// Largest permitted ratio of our time to it.
    share: f64,
}

/// Our measurement.
struct Ours {
    what: String,
    /// Seconds for the run, or microseconds per step.
    time: f64,
    unit: &'static str,
    /// Step and error, in words.
    note: String,
}

/// A function that makes our measurement, with the figures for comparison.
type Case = (Box<dyn Fn() -> Result<Ours, String>>, Vec<Against>);

/// Runs the comparison. Each case of the other engine is measured immediately before ours, because the load of a machine changes.
pub fn run() -> Result<(), String> {
    for module in ["exudyn", "pinocchio", "mujoco"] {
        if python(&["-c", &format!("import {module}")]).is_err() {
            println!("python3 does not find {module}; its figures are those measured earlier: {EARLIER}\n");
        }
    }
    let mut peers: Vec<Value> = Vec::new();
    let mut missed = 0;
    for (measure, list) in cases() {
        for a in &list {
            if !a.case.is_empty() && !peers.iter().any(|p| p["case"] == a.case) {
                let script = SCRIPTS.iter().find(|s| a.case.starts_with(s.0)).map_or("xtask/peers/exudyn_bench.py", |s| s.1);
                let answer = python(&[script, a.case]).unwrap_or_default();
                peers.extend(answer.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok()));
            }
        }
        let ours = measure()?;
        println!("{}: {:.4} {}, {}", ours.what, ours.time, ours.unit, ours.note);
        for a in &list {
            let now = peers.iter().find(|p| p["case"] == a.case && p["ok"] == true);
            let mut figures = vec![(a.earlier, "earlier figure".to_string())];
            figures.extend(
                now.map(|p| (peer_time(p, ours.unit), format!("version {} now{}", p["version"].as_str().unwrap_or(""), peer_error(p)))),
            );
            // The latest figure is decisive.
            let decides = figures.len() - 1;
            for (k, (theirs, mark)) in figures.into_iter().enumerate() {
                let ratio = ours.time / theirs;
                let verdict = match (k == decides, ratio <= a.share) {
                    (true, true) => "kept",
                    (true, false) => "MISSED",
                    (false, _) => "for comparison",
                };
                missed += usize::from(verdict == "MISSED");
                println!("    {:<30} {theirs:>11.4} {}, {mark}: ratio {ratio:.5}, limit {}: {verdict}", a.what, ours.unit, a.share);
            }
        }
    }
    if missed == 0 { Ok(()) } else { Err(format!("{missed} limits missed")) }
}

fn peer_time(p: &Value, unit: &str) -> f64 {
    let cpu = p["cpu"].as_f64().unwrap_or(f64::NAN);
    if unit == "s" { cpu } else { 1e6 * cpu / p["steps"].as_f64().unwrap_or(f64::NAN) }
}

/// The error of a run of the other engine, as text.
fn peer_error(p: &Value) -> String {
    let value: Vec<f64> = p["value"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let error = match (p["case"].as_str().unwrap_or_default(), value.as_slice()) {
        ("ladder2_spatial" | "ladder2_planar", [x, y]) => distance([*x, *y], ladder_tip(2)),
        ("ladder40_planar", [x, y]) => distance([*x, *y], ladder_tip(40)),
        ("bricard", [drift]) => *drift,
        ("slider_crank", [x]) => (x - slider_place(5.0)).abs(),
        (case, [norm]) if case.contains("_chain") => return format!(" (norm of accelerations {norm:.9e})"),
        _ => return String::new(),
    };
    format!(" (error {error:.1e})")
}

/// The output of a Python script, or an error if it fails.
fn python(arguments: &[&str]) -> Result<String, String> {
    let o = Command::new("python3").args(arguments).current_dir(root()).stderr(Stdio::null()).output().map_err(|e| e.to_string())?;
    if o.status.success() { Ok(String::from_utf8_lossy(&o.stdout).into_owned()) } else { Err("python3 failed".into()) }
}

fn cases() -> Vec<Case> {
    let mut list: Vec<Case> = Vec::new();
    let mut add = |measure: Box<dyn Fn() -> Result<Ours, String>>, against: Vec<Against>| list.push((measure, against));
    let one = |case, what, earlier, share| vec![Against { case, what, earlier, share }];
    // Some run twice: at the rounded error of the stated limit, and at the error of the other engine.
    for error in [5e-5, 4.7e-5] {
        add(
            Box::new(move || at_error("ladder of 2 four-bars, 3D, redundant, 10 s", &ladder(2), 10.0, error, &|m| tip_error(m, 2))),
            vec![
                Against { case: "ladder2_spatial", what: "Exudyn 3D, redundant", earlier: 1.31, share: 0.05 },
                Against { case: "ladder2_planar", what: "Exudyn planar", earlier: 0.333, share: 0.2 },
            ],
        );
    }
    for error in [5e-5, 3.7e-5] {
        add(
            Box::new(move || at_error("ladder of 40 four-bars, 3D, redundant, 10 s", &ladder(40), 10.0, error, &|m| tip_error(m, 40))),
            one("ladder40_planar", "Exudyn planar, sparse", 5.64, 0.2),
        );
    }
    add(
        Box::new(|| per_step("closed chain of 1000, 3D, redundant", &vee(1000), 1e-3, 50)),
        one("chain1000_planar", "Exudyn planar, sparse", 4477.0, 0.4),
    );
    add(
        Box::new(|| per_step("closed chain of 100, 3D, redundant", &vee(100), 1e-3, 200)),
        one("chain100_spatial", "Exudyn 3D, redundant", 153_000.0, 0.003),
    );
    for drift in [1e-5, 6.5e-6] {
        add(Box::new(move || bricard(drift)), one("bricard", "Exudyn 3D, redundant", 0.809, 0.05));
    }
    add(
        Box::new(|| {
            let place = slider_place(5.0);
            at_error("spatial slider-crank, 5 s", &slider_crank(), 5.0, 1e-6, &|m| (m.q[3].r[0] - place).abs())
        }),
        one("slider_crank", "Exudyn 3D", 2.25, 0.1),
    );
    add(
        Box::new(|| {
            let mut free = shipped("ra_slider_crank");
            free.drives.clear();
            per_step("slider-crank of [Kissel21] without motor", &free, 1e-3, 2000)
        }),
        one("", "5 us per step", 5.0, 1.0),
    );
    // Joint coordinates: one acceleration of an open chain, of a closed one, and the ladder.
    for (n, pinocchio, mujoco) in [(8, 2.7, 2.8), (32, 9.4, 8.2), (128, 37.2, 103.0), (512, 144.0, 4009.0)] {
        let names = match n {
            8 => ["pinocchio_chain8", "mujoco_chain8"],
            32 => ["pinocchio_chain32", "mujoco_chain32"],
            128 => ["pinocchio_chain128", "mujoco_chain128"],
            _ => ["pinocchio_chain512", "mujoco_chain512"],
        };
        add(
            Box::new(move || per_acceleration(format!("open chain of {n} hinges, grcr"), &chain(n, false), 100_000 / n)),
            vec![
                Against { case: names[0], what: "Pinocchio, ABA", earlier: pinocchio, share: 0.4 },
                Against { case: names[1], what: "MuJoCo, mj_forward", earlier: mujoco, share: 0.4 },
            ],
        );
    }
    add(Box::new(|| per_acceleration("open chain of 2048 hinges, grcr".into(), &chain(2048, false), 50)), one("", "Simbody", 1875.0, 0.12));
    add(
        Box::new(|| per_acceleration("closed chain of 1000, 3D, redundant, grcr, closure included".into(), &vee(1000), 50)),
        one("", "Simbody, planar rows", 1234.0, 0.25),
    );
    add(Box::new(ladder_by_joints), one("pinocchio_ladder2", "Pinocchio, constraintDynamics", 3.2, 1.0));
    // The codes of the paper are in Python, and published only in the form with Euler parameters.
    let papers = |what, earlier| Against { case: "", what, earlier, share: 1.0 / 400.0 };
    add(
        Box::new(|| per_step("pendulum of [Kissel21], driven", &shipped("ra_single_pendulum"), 1e-3, 3000)),
        vec![papers("Python code, driven, bdf1", 6300.0), papers("Python code, not driven, bdf2", 950.0)],
    );
    add(
        Box::new(|| per_step("double pendulum of [Kissel21]", &shipped("ra_double_pendulum"), 1e-3, 3000)),
        vec![papers("Python code, bdf1", 11_000.0), papers("Python code, bdf2", 2150.0)],
    );
    list
}

/// CPU seconds of this thread; wall time if the system does not provide them.
struct Clock {
    wall: Instant,
    cpu: Option<u64>,
}

impl Clock {
    fn cpu() -> Option<u64> {
        // The kernel updates the count when the thread is rescheduled.
        std::thread::yield_now();
        std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
    }
    fn start() -> Self {
        Self { cpu: Self::cpu(), wall: Instant::now() }
    }
    fn seconds(&self) -> f64 {
        let wall = self.wall.elapsed().as_secs_f64();
        match (self.cpu, Self::cpu()) {
            (Some(a), Some(b)) if b > a => 1e-9 * (b - a) as f64,
            _ => wall,
        }
    }
}

/// `n` steps of generalised-alpha; `look` is called with every state.
fn solve(model: &Model, start: &Configuration, h: f64, n: usize, mut look: impl FnMut(&Memory)) -> Result<(), String> {
    let mut s = Stepper::new(model, start, Method::GenAlpha { rho: 0.8 });
    s.start(h);
    for _ in 0..n {
        s.attempt(h).and_then(|()| s.accept(h)).map_err(|t| format!("{}: {t:?} at t = {}", model.title, s.memory.t))?;
        look(&s.memory);
    }
    Ok(())
}

fn assembled(model: &Model) -> Result<Configuration, String> {
    Ok(assemble(model).map_err(|d| d.to_string())?.configuration)
}

fn shortest(model: &Model, start: &Configuration, h: f64, n: usize) -> Result<f64, String> {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let clock = Clock::start();
        solve(model, start, h, n, |_| {})?;
        best = best.min(clock.seconds());
    }
    Ok(best)
}

/// Time of a run whose error is just below `wanted`; `error` evaluates it from the final state.
fn at_error(what: &str, model: &Model, t_end: f64, wanted: f64, error: &dyn Fn(&Memory) -> f64) -> Result<Ours, String> {
    let start = assembled(model)?;
    search(what, model, &start, t_end, wanted, &|h, n| {
        let mut at_end = f64::NAN;
        let mut k = 0;
        solve(model, &start, h, n, |m| {
            k += 1;
            if k == n {
                at_end = error(m);
            }
        })?;
        Ok(at_end)
    })
}

fn search(
    what: &str,
    model: &Model,
    start: &Configuration,
    t_end: f64,
    wanted: f64,
    error: &dyn Fn(f64, usize) -> Result<f64, String>,
) -> Result<Ours, String> {
    let mut n = (t_end / 1e-3) as usize;
    let mut best: Option<(usize, f64)> = None;
    // Second order: the error gives the number of steps for the required error.
    for _ in 0..6 {
        let e = error(t_end / n as f64, n)?;
        if e <= wanted && best.is_none_or(|(b, _)| n < b) {
            best = Some((n, e));
        }
        let next = (1.01 * n as f64 * (e / wanted).sqrt()).ceil() as usize;
        if best.is_some_and(|(b, _)| next >= b) || !e.is_finite() {
            break;
        }
        n = next.max(10);
    }
    let (n, e) = best.ok_or(format!("{what}: the error does not fall to {wanted:.1e}"))?;
    let h = t_end / n as f64;
    let time = shortest(model, start, h, n)?;
    Ok(Ours {
        what: what.into(),
        time,
        unit: "s",
        note: format!("{n} steps of {h:.2e} s, {:.2} us each, error {e:.1e}", 1e6 * time / n as f64),
    })
}

fn per_step(what: &str, model: &Model, h: f64, n: usize) -> Result<Ours, String> {
    let start = assembled(model)?;
    let time = 1e6 * shortest(model, &start, h, n)? / n as f64;
    Ok(Ours { what: what.into(), time, unit: "us per step", note: format!("{n} steps of {h:.0e} s, start-up included") })
}

fn per_acceleration(what: String, model: &Model, calls: usize) -> Result<Ours, String> {
    let (time, _, norm) = acceleration(model, calls, 9);
    Ok(Ours { what, time, unit: "us", note: format!("states change from call to call, norm of accelerations {norm:.9e}") })
}

/// The ladder of two four-bars by grcr and rk4 with steps of 0.01 s: the whole run, divided by its 4000 evaluations.
fn ladder_by_joints() -> Result<Ours, String> {
    let model = ladder(2);
    let study = Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some("grcr".into()),
        integrator: Some("rk4".into()),
        step: Some(0.01),
        t_end: 10.0,
        output_step: 10.0,
        ..Study::of(&model)
    };
    let (mut best, mut error) = (f64::INFINITY, f64::NAN);
    for _ in 0..9 {
        let mut t = Trajectory::default();
        let clock = Clock::start();
        fourbar::study::run(&model, &study, &mut t).map_err(|f| f.diagnostic.to_string())?;
        best = best.min(clock.seconds());
        let end = |name: &str| t.column(name).and_then(|x| x.last().copied()).unwrap_or(f64::NAN);
        error = distance([2.0 * end("crank0.r.x"), 2.0 * end("crank0.r.y")], ladder_tip(2));
    }
    let note = format!("rk4, h = 0.01 s, whole run {:.2} ms, error {error:.1e}", 1e3 * best);
    Ok(Ours { what: "ladder of 2 four-bars, grcr, per evaluation".into(), time: 1e6 * best / 4000.0, unit: "us", note })
}

fn energy(model: &Model, m: &Memory) -> f64 {
    let kinetic: f64 = model.bodies.iter().zip(&m.v).map(|(b, v)| 0.5 * (b.mass * v.v.norm_squared() + v.w.dot(&(b.J_bar * v.w)))).sum();
    kinetic + eval::potential(model, &Plain { t: m.t, q: &m.q, v: &m.v, turns: &m.turns, loads: &[], z: &m.carried.z })
}

fn bricard(wanted: f64) -> Result<Ours, String> {
    let model = shipped("a04_bricard");
    let start = assembled(&model)?;
    let at_start = eval::potential(&model, &Plain { t: 0.0, q: &start.q, v: &start.v, turns: &start.turns, loads: &[], z: &start.z });
    search("Bricard's linkage, 3D, redundant, 10 s", &model, &start, 10.0, wanted, &|h, n| {
        let mut drift = 0.0_f64;
        solve(&model, &start, h, n, |m| drift = drift.max((energy(&model, m) - at_start).abs()))?;
        Ok(drift)
    })
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn tip_error(m: &Memory, n: usize) -> f64 {
    // The first crank turns about the origin; its centre of mass is half way to the tip.
    distance([2.0 * m.q[1].r[0], 2.0 * m.q[1].r[1]], ladder_tip(n))
}

/// One degree of freedom `y'' = f(y, y')` by the classical Runge-Kutta method.
fn one_freedom(mut y: [f64; 2], t_end: f64, n: usize, f: impl Fn([f64; 2]) -> f64) -> [f64; 2] {
    let h = t_end / n as f64;
    let rate = |y: [f64; 2]| [y[1], f(y)];
    let plus = |y: [f64; 2], k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
    for _ in 0..n {
        let k1 = rate(y);
        let k2 = rate(plus(y, k1, 0.5 * h));
        let k3 = rate(plus(y, k2, 0.5 * h));
        let k4 = rate(plus(y, k3, h));
        y = [0, 1].map(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    y
}

/// Tip of the first crank of a ladder at 10 s: as a parallelogram it has one degree of freedom, and all cranks have the same angle.
fn ladder_tip(n: usize) -> [f64; 2] {
    let n = n as f64;
    let c = GRAVITY * ((n + 1.0) / 2.0 + n) / ((n + 1.0) / 3.0 + n);
    let [angle, _] = one_freedom([std::f64::consts::FRAC_PI_2, -1.0], 10.0, 40_000, |[a, _]| -c * a.cos());
    [angle.cos(), angle.sin()]
}

/// A chain of one-metre links hanging like a V between two supports, 60 degrees steep, with hinges in 3D: three redundant rows.
fn vee(n: usize) -> Model {
    let name = |k: usize| if k == 0 || k > n { "ground".to_string() } else { format!("link{k}") };
    let mut spec = ModelSpec { title: format!("V of {n} links"), gravity: Some([0.0, -GRAVITY, 0.0]), ..ModelSpec::default() };
    let (mut x, mut y) = (0.0, 0.0);
    for k in 1..=n + 1 {
        let placement = Placement::World { at: [x, y, 0.0], axis: [0.0, 0.0, 1.0], axis_moving: None };
        spec.joints.push((format!("J{k}"), JointSpec::Pair { kind: PairKind::Revolute, bodies: [name(k - 1), name(k)], placement }));
        if k > n {
            break;
        }
        let angle = if k <= n / 2 { -std::f64::consts::FRAC_PI_3 } else { std::f64::consts::FRAC_PI_3 };
        let (s, c) = angle.sin_cos();
        let body = BodySpec {
            mass: 1.0,
            inertia: Inertia::Principal([1e-3, 1.0 / 12.0, 1.0 / 12.0]),
            at: [x + 0.5 * c, y + 0.5 * s, 0.0],
            orientation: Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle },
            ..BodySpec::default()
        };
        spec.bodies.push((name(k), body));
        (x, y) = (x + c, y + s);
    }
    built(spec)
}

fn built(spec: ModelSpec) -> Model {
    spec.build().unwrap_or_else(|e| panic!("{}", e[0]))
}

/// Data of the spatial slider-crank: pivot, crank length, masses, inertias, start.
const PIVOT: V3 = [0.0, 0.1, 0.12];
const CRANK: f64 = 0.08;
const SLIDER: V3 = [0.2, 0.0, 0.0];
const MASSES: V3 = [0.12, 0.5, 2.0];
const CRANK_INERTIA: V3 = [1e-4, 1e-4, 1e-5];
const SPIN: f64 = 6.0;

fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn mix(a: V3, x: f64, b: V3, y: f64) -> V3 {
    [0, 1, 2].map(|k| x * a[k] + y * b[k])
}

/// Crank pin and slider at a crank angle, and their velocities per radian per second.
struct Place {
    pin: V3,
    slider: V3,
    pin_rate: V3,
    slider_rate: V3,
    rod_rate: V3,
}

fn rod_length() -> f64 {
    let rod = mix(SLIDER, 1.0, [PIVOT[0], PIVOT[1], PIVOT[2] + CRANK], -1.0);
    dot(rod, rod).sqrt()
}

fn place(angle: f64) -> Place {
    let arm = [0.0, -CRANK * angle.sin(), CRANK * angle.cos()];
    let pin = mix(PIVOT, 1.0, arm, 1.0);
    let square = rod_length().powi(2);
    let slider = [(square - pin[1] * pin[1] - pin[2] * pin[2]).sqrt(), 0.0, 0.0];
    let pin_rate = cross([1.0, 0.0, 0.0], arm);
    let rod = mix(slider, 1.0, pin, -1.0);
    let slider_rate = [dot(rod, pin_rate) / rod[0], 0.0, 0.0];
    let rod_rate = cross(rod, mix(slider_rate, 1.0 / square, pin_rate, -1.0 / square));
    Place { pin, slider, pin_rate, slider_rate, rod_rate }
}

fn slider_crank() -> Model {
    let p = place(0.0);
    let across = MASSES[1] * rod_length().powi(2) / 12.0;
    let mut spec = ModelSpec { title: "spatial slider-crank".into(), gravity: Some([0.0, 0.0, -GRAVITY]), ..ModelSpec::default() };
    let axes = Orientation::Axes { x: mix(p.slider, 1.0, p.pin, -1.0), y: [0.0, 1.0, 0.0] };
    let half = |a, b, k: f64| mix(a, 0.5 * k, b, 0.5 * k);
    let mut body = |name: &str, mass, inertia, at, velocity, omega, orientation| {
        let body = BodySpec { mass, inertia: Inertia::Principal(inertia), at, velocity, omega, orientation, ..BodySpec::default() };
        spec.bodies.push((name.into(), body));
    };
    body(
        "crank",
        MASSES[0],
        CRANK_INERTIA,
        half(PIVOT, p.pin, 1.0),
        mix(p.pin_rate, 0.5 * SPIN, [0.0; 3], 0.0),
        [SPIN, 0.0, 0.0],
        Orientation::World,
    );
    let rod = (half(p.pin, p.slider, 1.0), half(p.pin_rate, p.slider_rate, SPIN), p.rod_rate.map(|x| SPIN * x));
    body("rod", MASSES[1], [1e-5, across, across], rod.0, rod.1, rod.2, axes);
    body("slider", MASSES[2], [1e-4; 3], p.slider, p.slider_rate.map(|x| SPIN * x), [0.0; 3], Orientation::World);
    let mut joint = |name: &str, kind, bodies: [&str; 2], at| {
        let placement = Placement::World { at, axis: [1.0, 0.0, 0.0], axis_moving: None };
        spec.joints.push((name.into(), JointSpec::Pair { kind, bodies: bodies.map(String::from), placement }));
    };
    joint("A", PairKind::Revolute, ["ground", "crank"], PIVOT);
    joint("B", PairKind::Spherical, ["crank", "rod"], p.pin);
    joint("C", PairKind::Spherical, ["rod", "slider"], p.slider);
    joint("D", PairKind::Prismatic, ["ground", "slider"], p.slider);
    built(spec)
}

/// Position of the slider from the equation of motion in the crank angle: the rod does not spin about its own axis.
fn slider_place(t: f64) -> f64 {
    let across = MASSES[1] * rod_length().powi(2) / 12.0;
    let inertia = |angle: f64| {
        let p = place(angle);
        let middle = mix(p.pin_rate, 0.5, p.slider_rate, 0.5);
        CRANK_INERTIA[0]
            + MASSES[0] * dot(p.pin_rate, p.pin_rate) / 4.0
            + MASSES[1] * dot(middle, middle)
            + across * dot(p.rod_rate, p.rod_rate)
            + MASSES[2] * dot(p.slider_rate, p.slider_rate)
    };
    let potential = |angle: f64| {
        let p = place(angle);
        GRAVITY * (MASSES[0] * (PIVOT[2] + p.pin[2]) + MASSES[1] * (p.pin[2] + p.slider[2])) / 2.0
    };
    let slope = |f: &dyn Fn(f64) -> f64, x: f64| {
        let e = 1e-3;
        (f(x - 2.0 * e) - 8.0 * f(x - e) + 8.0 * f(x + e) - f(x + 2.0 * e)) / (12.0 * e)
    };
    let [angle, _] = one_freedom([0.0, SPIN], t, 50_000, |[a, w]| (-0.5 * slope(&inertia, a) * w * w - slope(&potential, a)) / inertia(a));
    place(angle).slider[0]
}
