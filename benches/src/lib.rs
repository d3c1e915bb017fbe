//! Mechanisms of any size for benchmarks and studies, and functions for timing.

pub mod schedule;

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::grcr::Mechanism;
use fourbar::spec::*;
use std::time::Instant;

fn bar(at: V3, omega: V3, velocity: V3) -> BodySpec {
    BodySpec { mass: 1.0, inertia: Inertia::Principal([1e-3, 1.0 / 12.0, 1.0 / 12.0]), at, velocity, omega, ..BodySpec::default() }
}

fn hinge(bodies: [&str; 2], at: V3) -> JointSpec {
    let placement = Placement::World { at, axis: [0.0, 0.0, 1.0], axis_moving: None };
    JointSpec::Pair { kind: PairKind::Revolute, bodies: bodies.map(String::from), placement }
}

fn upright(mut body: BodySpec) -> BodySpec {
    body.orientation = Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle: std::f64::consts::FRAC_PI_2 };
    body
}

fn build(spec: ModelSpec) -> Model {
    spec.build().unwrap_or_else(|e| panic!("{}", e[0]))
}

/// The N-four-bar ladder of benchmark A02: 2 n + 1 links, 3 n + 1 hinges, three redundant rows per cell.
pub fn ladder(n: usize) -> Model {
    build(ladder_spec(n))
}

/// Its specification, for writing to a file.
pub fn ladder_spec(n: usize) -> ModelSpec {
    let mut spec = ModelSpec { title: format!("ladder of {n} four-bars"), gravity: Some([0.0, -9.81, 0.0]), ..ModelSpec::default() };
    for k in 0..=n {
        let x = k as f64;
        spec.bodies.push((format!("crank{k}"), upright(bar([x, 0.5, 0.0], [0.0, 0.0, -1.0], [0.5, 0.0, 0.0]))));
        spec.joints.push((format!("A{k}"), hinge(["ground", &format!("crank{k}")], [x, 0.0, 0.0])));
    }
    for k in 1..=n {
        let x = k as f64;
        spec.bodies.push((format!("coupler{k}"), bar([x - 0.5, 1.0, 0.0], [0.0; 3], [1.0, 0.0, 0.0])));
        spec.joints.push((format!("B{k}"), hinge([&format!("crank{}", k - 1), &format!("coupler{k}")], [x - 1.0, 1.0, 0.0])));
        spec.joints.push((format!("C{k}"), hinge([&format!("crank{k}"), &format!("coupler{k}")], [x, 1.0, 0.0])));
    }
    spec
}

/// A hanging chain of `n` rods; successive hinge axes are at right angles, so that it moves in space.
pub fn chain(n: usize, closed: bool) -> Model {
    build(chain_spec(n, closed))
}

/// Its specification, for writing to a file.
pub fn chain_spec(n: usize, closed: bool) -> ModelSpec {
    let mut spec = ModelSpec { title: format!("chain of {n} rods"), gravity: Some([0.0, 0.0, -9.81]), ..ModelSpec::default() };
    let name = |k: usize| if k == 0 { "ground".to_string() } else { format!("link{k}") };
    for k in 1..=n {
        let x = k as f64;
        spec.bodies
            .push((name(k), BodySpec { inertia: Inertia::Principal([0.01, 0.09, 0.09]), ..bar([x - 0.5, 0.0, 0.0], [0.0; 3], [0.0; 3]) }));
        let axis = if k % 2 == 0 { [0.0, 0.0, 1.0] } else { [0.0, 1.0, 0.0] };
        let placement = Placement::World { at: [x - 1.0, 0.0, 0.0], axis, axis_moving: None };
        spec.joints.push((format!("J{k}"), JointSpec::Pair { kind: PairKind::Revolute, bodies: [name(k - 1), name(k)], placement }));
    }
    if closed {
        let placement = Placement::World { at: [n as f64, 0.0, 0.0], axis: [0.0, 1.0, 0.0], axis_moving: None };
        spec.joints.push(("close".into(), JointSpec::Pair { kind: PairKind::Spherical, bodies: ["ground".into(), name(n)], placement }));
    }
    spec
}

/// A closed planar ring of `n` links hanging between two supports, modelled in 3D with hinges: three redundant rows.
pub fn ring(n: usize) -> Model {
    build(ring_spec(n))
}

/// Its specification, for writing to a file.
pub fn ring_spec(n: usize) -> ModelSpec {
    let mut spec = ModelSpec { title: format!("ring of {n} links"), gravity: Some([0.0, -9.81, 0.0]), ..ModelSpec::default() };
    let name = |k: usize| if k == 0 || k > n { "ground".to_string() } else { format!("link{k}") };
    // A half circle hanging below the supports.
    let angle = |k: usize| std::f64::consts::PI * (1.0 + k as f64 / n as f64);
    let radius = 0.5 / (std::f64::consts::PI / (2.0 * n as f64)).sin();
    let point = |k: usize| [radius * angle(k).cos(), radius * angle(k).sin(), 0.0];
    for k in 1..=n {
        let (a, b) = (point(k - 1), point(k));
        let mut body = bar([0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.0], [0.0; 3], [0.0; 3]);
        body.orientation = Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle: (b[1] - a[1]).atan2(b[0] - a[0]) };
        spec.bodies.push((name(k), body));
        spec.joints.push((format!("J{k}"), hinge([&name(k - 1), &name(k)], a)));
    }
    spec.joints.push((format!("J{}", n + 1), hinge(["ground", &name(n)], point(n))));
    spec
}

/// A lattice of `rows` by `columns` four-bars: links along both directions, hinged at the corners. Loops share links in both
/// directions; all cells shear as one.
pub fn lattice(rows: usize, columns: usize) -> Model {
    build(lattice_spec(rows, columns))
}

/// Its specification, for writing to a file.
pub fn lattice_spec(rows: usize, columns: usize) -> ModelSpec {
    let mut spec =
        ModelSpec { title: format!("lattice of {rows} x {columns} four-bars"), gravity: Some([0.0, -9.81, 0.0]), ..ModelSpec::default() };
    // Columns are inclined, so that the start is not singular.
    let (c, s) = (0.3_f64.sin(), 0.3_f64.cos());
    let corner = |i: usize, j: usize| [j as f64 + c * i as f64, s * i as f64, 0.0];
    let across = |i: usize, j: usize| if i == 0 { "ground".to_string() } else { format!("across{i}_{j}") };
    let up = |i: usize, j: usize| format!("up{i}_{j}");
    let angle = s.atan2(c);
    for i in 0..=rows {
        for j in 0..=columns {
            let p = corner(i, j);
            if i > 0 && j < columns {
                spec.bodies.push((across(i, j), bar([p[0] + 0.5, p[1], 0.0], [0.0; 3], [0.0; 3])));
            }
            if i < rows {
                let mut link = bar([p[0] + 0.5 * c, p[1] + 0.5 * s, 0.0], [0.0; 3], [0.0; 3]);
                link.orientation = Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle };
                spec.bodies.push((up(i, j), link));
            }
        }
    }
    for i in 0..=rows {
        for j in 0..=columns {
            // All links that meet at a corner, in order.
            let mut here = Vec::new();
            if i == 0 {
                here.push("ground".to_string());
            } else {
                if j > 0 {
                    here.push(across(i, j - 1));
                }
                if j < columns {
                    here.push(across(i, j));
                }
                here.push(up(i - 1, j));
            }
            if i < rows {
                here.push(up(i, j));
            }
            for (k, pair) in here.windows(2).enumerate() {
                spec.joints.push((format!("C{i}_{j}_{k}"), hinge([&pair[0], &pair[1]], corner(i, j))));
            }
        }
    }
    spec
}

/// A trunk hinged to the ground with `branches` chains of `length` links each.
pub fn branches(branches: usize, length: usize) -> Model {
    build(branches_spec(branches, length))
}

/// Its specification, for writing to a file.
pub fn branches_spec(branches: usize, length: usize) -> ModelSpec {
    let mut spec = ModelSpec { title: format!("{branches} branches"), gravity: Some([0.0, 0.0, -9.81]), ..ModelSpec::default() };
    spec.bodies.push(("trunk".into(), BodySpec { inertia: Inertia::Principal([10.0; 3]), mass: 10.0, ..BodySpec::default() }));
    spec.joints.push(("root".into(), hinge(["ground", "trunk"], [0.0; 3])));
    for b in 0..branches {
        let angle = 2.0 * std::f64::consts::PI * b as f64 / branches as f64;
        let (x, y) = (angle.cos(), angle.sin());
        for k in 0..length {
            let (near, middle) = (1.0 + k as f64, 1.5 + k as f64);
            let mut link = bar([middle * x, middle * y, 0.0], [0.0; 3], [0.0; 3]);
            link.orientation = Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle };
            spec.bodies.push((format!("link{b}_{k}"), link));
            let before = if k == 0 { "trunk".into() } else { format!("link{b}_{}", k - 1) };
            let placement = Placement::World { at: [near * x, near * y, 0.0], axis: [-y, x, 0.0], axis_moving: None };
            let joint = JointSpec::Pair { kind: PairKind::Revolute, bodies: [before, format!("link{b}_{k}")], placement };
            spec.joints.push((format!("J{b}_{k}"), joint));
        }
    }
    spec
}

/// A five-bar loop that folds flat: outer links of 0.3 m, inner ones of 0.1 m, a base of 0.4 m. Released from above, it falls through the
/// position in which all links lie on the base, where its constraints are rank-deficient.
pub fn folding_five_bar() -> Model {
    let mut spec = ModelSpec { title: "folding five-bar loop".into(), gravity: Some([0.0, -9.81, 0.0]), ..ModelSpec::default() };
    let theta = 0.6_f64;
    let knee = [0.3 * theta.cos(), 0.3 * theta.sin()];
    let middle = [0.2, knee[1] - (0.01 - (0.2 - knee[0]).powi(2)).sqrt()];
    let corners = [[0.0, 0.0], knee, middle, [0.4 - knee[0], knee[1]], [0.4, 0.0]];
    for k in 0..4 {
        let (a, b) = (corners[k], corners[k + 1]);
        let mut link = bar([0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.0], [0.0; 3], [0.0; 3]);
        link.inertia = Inertia::Principal([1e-3, 1e-2, 1e-2]);
        link.orientation = Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle: (b[1] - a[1]).atan2(b[0] - a[0]) };
        spec.bodies.push((format!("body{}", k + 1), link));
    }
    for k in 0..5 {
        let name = |k: usize| if k == 0 || k == 5 { "ground".to_string() } else { format!("body{k}") };
        spec.joints.push((format!("J{}", k + 1), hinge([&name(k), &name(k + 1)], [corners[k][0], corners[k][1], 0.0])));
    }
    build(spec)
}

/// Microseconds per acceleration by recursive coordinate reduction at states that change from call to call, with loop closure in every
/// call; operations of the inward pass, and the norm of the accelerations of all states.
pub fn acceleration(model: &Model, calls: usize, runs: usize) -> (f64, f64, f64) {
    let start = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut m = Mechanism::new(model, &start);
    let (q0, u0) = (m.q.clone(), m.u.clone());
    let small = if m.closings.is_empty() { 0.3 } else { 1e-5 / q0.len() as f64 };
    let mut states: Vec<(Vec<f64>, Vec<f64>)> = (0..8)
        .map(|k| {
            let wave = |i: usize, a: f64, b: f64| (a + i as f64 + b * k as f64).sin();
            let q = q0.iter().enumerate().map(|(i, q)| q + small * wave(i, 1.0, 0.37)).collect();
            let u = u0.iter().enumerate().map(|(i, u)| u + 0.5 * wave(i, 2.0, 0.53)).collect();
            (q, u)
        })
        .collect();
    let mut norm = 0.0;
    for (q, u) in &mut states {
        m.close(0.0, q, u).unwrap_or_else(|d| panic!("{d}"));
        if !m.closings.is_empty() {
            // Closed states, perturbed by the size of an integrator's prediction error.
            q.iter_mut().zip(&m.q).for_each(|(q, c)| *q = c + 1e-9);
            u.copy_from_slice(&m.u);
        }
        m.accelerate(0.0);
        norm += m.udot.iter().map(|x| x * x).sum::<f64>();
    }
    let t = shortest(runs, || {
        for k in 0..calls {
            let (q, u) = &states[k % 8];
            m.close(0.0, q, u).unwrap_or_else(|d| panic!("{d}"));
            m.accelerate(0.0);
            std::hint::black_box(&m.udot);
        }
    });
    (1e6 * t / calls as f64, m.schedule.cost(&m.tree), norm.sqrt())
}

/// A shipped model.
pub fn shipped(name: &str) -> Model {
    let text = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../models").join(format!("{name}.yaml")))
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    written(&text)
}

/// A model from a text.
pub fn written(text: &str) -> Model {
    let loaded = fourbar_io::read_model(text, &fourbar_io::ReadOptions::default()).unwrap_or_else(|_| panic!("does not read:\n{text}"));
    build(loaded.spec)
}

/// Smallest time of several runs, seconds: on shared machines noise only adds.
pub fn shortest(runs: usize, mut f: impl FnMut()) -> f64 {
    (0..runs)
        .map(|_| {
            let t = Instant::now();
            f();
            t.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Processor time of this thread, seconds, if the system provides it, otherwise wall time. To be used on shared machines.
pub fn cpu_clock() -> f64 {
    static BEGIN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    // The kernel updates the count when the thread is rescheduled.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let told = text.split_whitespace().next().and_then(|x| x.parse::<f64>().ok());
    told.map_or_else(|| BEGIN.elapsed().as_secs_f64(), |nanoseconds| 1e-9 * nanoseconds)
}

/// Smallest processor time of several runs on this thread, seconds.
pub fn shortest_cpu(runs: usize, mut f: impl FnMut()) -> f64 {
    (0..runs)
        .map(|_| {
            let start = cpu_clock();
            f();
            cpu_clock() - start
        })
        .fold(f64::INFINITY, f64::min)
}

/// Peak of one core in multiply-adds per second, by independent chains in registers.
pub fn peak() -> f64 {
    let n = 2_000_000;
    let mut x = [1.000_000_1_f64; 16];
    let t = shortest(5, || {
        for _ in 0..n {
            for x in &mut x {
                *x = *x * 0.999_999_9 + 1e-7;
            }
        }
        std::hint::black_box(&x);
    });
    16.0 * n as f64 / t
}
