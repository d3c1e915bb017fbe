//! The linear model compared with the engine: free vibration at small amplitude equals that of `run`; results do not depend on the position
//! of a mechanism or on units; random options fail only with a diagnostic.
#![allow(non_snake_case)]

use crate::common;

use fourbar::analysis::assembly::assemble;
use fourbar::analysis::rank;
use fourbar::constraint::ConstraintSet;
use fourbar::evaluate::{by_body, stacked};
use fourbar::random::Random;
use fourbar::simulation::Simulation;
use fourbar::state::{Configuration, Twist};
use fourbar::study::Study;
use fourbar::{Model, ModelSpec};
use fourbar_design::equilibrium::{Kind, Options, Stability, search, settle, settled, start_settled};
use fourbar_design::linear::{Request, linearize};
use fourbar_design::manifold::{Manifold, stepped};
use fourbar_design::modes::modes;
use fourbar_design::redraw::redrawn;
use fourbar_testing::common::{model, parse, shipped};
use fourbar_testing::families;
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// `exp(A t) x` by a Taylor series in small steps.
fn carried(A: &DMatrix<f64>, x: &DVector<f64>, t: f64) -> DVector<f64> {
    let steps = (A.amax() * t * A.nrows() as f64).ceil().max(1.0) as usize * 4;
    let h = t / steps as f64;
    let mut x = x.clone();
    for _ in 0..steps {
        let (mut term, mut sum) = (x.clone(), x.clone());
        for k in 1..14 {
            term = A * &term * (h / k as f64);
            sum += &term;
        }
        x = sum;
    }
    x
}

/// Largest difference of body positions after a time between the linear model and the engine, as a share of the largest deviation.
fn difference(model: &Model, state: &Configuration, t: f64, size: f64) -> f64 {
    let l =
        linearize(model, state, &Request { inputs: Some(vec![]), outputs: Some(vec![]), frozen: false }).unwrap_or_else(|e| panic!("{e}"));
    let mut x = DVector::from_fn(l.A.nrows(), |k, _| if k < l.freedom[0] { (1.0 + k as f64).cos() } else { 0.0 });
    x *= size * model.length / (&l.poses * &x).amax();
    let own = settled(model, state);
    let manifold = Manifold::new(&own, state);
    let space = manifold.space(state);
    let moved = manifold.moved(state, &space, &(&l.poses * &x)).expect("it closes");
    let (own, moved) = (Arc::new(own), Configuration { v: by_body(&(stacked(&state.v) + &l.velocities * &x)), ..moved });
    let mut study = Study::of(&own);
    study.tol = Some(1e-11);
    (study.formulation, study.integrator, study.step) = (Some("se3".into()), None, None);
    let mut s = Simulation::new(&own, &study).unwrap_or_else(|d| panic!("{d}"));
    s.assemble_state(&moved).unwrap_or_else(|d| panic!("{d}"));
    s.advance(t).unwrap_or_else(|d| panic!("{d}"));
    let then = &l.poses * carried(&l.A, &x, t);
    let real = Manifold::between(state, &s.state());
    (real - &then).amax() / then.amax().max((&l.poses * &x).amax())
}

#[test]
fn small_vibrations_of_shipped_models_are_those_of_runs() {
    let names = [
        "a01_simple_pendulum",
        "a04_bricard",
        "andrews",
        "dca_five_bar",
        "double_wishbone",
        "fourbar_3d",
        "ra_double_pendulum",
        "dca_double_loop",
        "a03_andrews_beta0_m0p0620",
        "a04_bricard_thin",
    ];
    for name in names {
        let mut m = model(name);
        // Forces that oscillate in time are not part of the linear model.
        if name == "double_wishbone" {
            m = common_model("double_wishbone", &[("wave", "0")]);
        }
        let e = settle(&m, &Options::default()).unwrap_or_else(|d| panic!("{name}: {d}"));
        let mut state = e.state.clone();
        state.v.iter_mut().for_each(|v| *v = Default::default());
        let period = std::f64::consts::TAU / e.verdict.omega2[0].sqrt();
        let d = difference(&m, &state, 0.6 * period, 1e-5);
        assert!(d < 2e-4, "{name}: {d:.1e}");
    }
}

fn common_model(name: &str, set: &[(&str, &str)]) -> Model {
    let path = format!("{}/../../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let set: Vec<(String, String)> = set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    fourbar_io::read_model_file(std::path::Path::new(&path), &set).expect("a model").spec.build().expect("it builds")
}

#[test]
fn the_bicycle_pushed_a_little_rolls_as_its_linear_model_says() {
    let m = model("bicycle");
    let state = assemble(&m).expect("it closes").configuration;
    let l = linearize(&m, &state, &Request::default()).expect("linear");
    // An initial velocity of the steering only.
    let mut s = Simulation::new(&Arc::new(m.clone()), &Study::of(&m)).expect("a simulation");
    let push = 1e-5;
    let names: Vec<&String> = l.outputs.iter().collect();
    let steer = names.iter().position(|n| *n == "steer.angle").expect("the steering");
    let [n, w] = l.freedom;
    let speeds = l.C.row(steer).columns(0, n) * l.A.view((0, n), (n, w));
    let mut x = DVector::zeros(l.A.nrows());
    let along = speeds.transpose() * (push / speeds.norm_squared());
    x.rows_mut(n, w).copy_from(&along);
    let pushed = Configuration { v: by_body(&(stacked(&state.v) + &l.velocities * &x)), ..state.clone() };
    s.assemble_state(&pushed).expect("consistent");
    s.advance(1.0).expect("it rides");
    let real = s.snapshot().joint("steer").expect("the joint").angle;
    let linear = (l.C.row(steer) * carried(&l.A, &x, 1.0))[0];
    assert!((real / linear - 1.0).abs() < 1e-3, "{real:e} {linear:e}");
}

/// The same mechanism rotated and translated in the world, together with gravity.
fn moved(spec: &ModelSpec, model: &Model, state: &Configuration) -> Model {
    let R = fourbar_math::so3::exp(&nalgebra::Vector3::new(0.3, -0.7, 0.5));
    let mut out = redrawn(spec, model, state).expect("it can be drawn elsewhere").build().expect("it builds");
    let shift = nalgebra::Vector3::new(3.0, -2.0, 1.0);
    for b in out.bodies.iter_mut().skip(1) {
        b.r = R * b.r + shift;
        b.A = R * b.A;
        b.v = R * b.v;
        b.omega = R * b.omega;
    }
    // Elements fixed to the ground rotate with it.
    for j in &mut out.joints {
        for (b, f) in j.bodies.iter().zip([&mut j.F, &mut j.M]) {
            if b.index() == 0 {
                f.s = R * f.s + shift;
                f.R = R * f.R;
            }
        }
    }
    out.gravity = R * out.gravity;
    for (_, f) in &mut out.forces {
        if let fourbar::force::Force::Spring(s) = f {
            for p in s.between.iter_mut().filter(|p| p.body.index() == 0) {
                p.s = R * p.s + shift;
            }
        }
    }
    // Coordinates of joints are derived from the frames.
    for k in 0..out.joints.len() {
        if let Some(memory) = out.joints[k].memory
            && let Some((_, y)) = out.joints[k].coordinates().find(|(_, y)| y.period().is_some())
        {
            out.angles[memory].angle = y;
        }
    }
    out
}

#[test]
fn frequencies_do_not_depend_on_where_a_mechanism_stands() {
    for name in ["chain10", "fourbar_spring_up", "pendulum_torsion", "damped_rods4"] {
        let path = format!("{}/tests/models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let loaded = fourbar_io::read_model_file(std::path::Path::new(&path), &[]).expect("a model");
        let here = loaded.spec.build().expect("it builds");
        let start = assemble(&here).expect("it closes").configuration;
        let there = moved(&loaded.spec, &here, &start);
        let [a, b] = [&here, &there].map(|m| settle(m, &Options::default()).unwrap_or_else(|d| panic!("{name}: {d}")).verdict.omega2);
        assert_eq!(a.len(), b.len());
        for (x, y) in a.iter().zip(&b) {
            assert!((x / y - 1.0).abs() < 1e-8, "{name}: {x} {y}");
        }
    }
}

#[test]
fn frequencies_do_not_depend_on_the_unit_of_length() {
    for name in ["chain10", "two_hinge_door", "laguerre5"] {
        let here = common::model(name);
        let omega2 = settle(&here, &Options::default()).unwrap_or_else(|d| panic!("{name}: {d}")).verdict.omega2;
        for k in [1e-3, 1e3] {
            let mut there = here.clone();
            for b in &mut there.bodies {
                (b.r, b.com, b.J_bar) = (b.r * k, b.com * k, b.J_bar * (k * k));
            }
            for j in &mut there.joints {
                (j.F.s, j.M.s) = (j.F.s * k, j.M.s * k);
            }
            (there.gravity, there.length) = (there.gravity * k, there.length * k);
            let other = settle(&there, &Options::default()).unwrap_or_else(|d| panic!("{name}: {d}")).verdict.omega2;
            assert_eq!(omega2.len(), other.len());
            for (x, y) in omega2.iter().zip(&other) {
                assert!((x / y - 1.0).abs() < 1e-8, "{name}: {x} {y}");
            }
        }
    }
}

#[test]
fn a_redrawn_file_is_the_same_mechanism() {
    for name in shipped() {
        let path = format!("{}/../../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let Ok(loaded) = fourbar_io::read_model_file(std::path::Path::new(&path), &[]) else { continue };
        let m = loaded.spec.build().expect("it builds");
        let Ok(start) = assemble(&m).map(|a| a.configuration) else { continue };
        let spec = match redrawn(&loaded.spec, &m, &start) {
            Ok(spec) => spec,
            Err(d) => {
                assert_eq!(d.code.0, "U404", "{name}: {d}");
                continue;
            }
        };
        // Write to the text of a file and parse it again.
        let again = parse(&fourbar_io::write_model(&spec));
        let state = assemble(&again).unwrap_or_else(|d| panic!("{name}: {d}")).configuration;
        let off = Manifold::between(&start, &state).amax();
        assert!(off < 1e-9 * m.length.max(1.0), "{name}: moved by {off:.1e}");
        let now = |m: &Model, c: &Configuration| stacked(fourbar::Evaluation::new(m, c).expect("accelerations").accelerations());
        let (a, b) = (now(&m, &start), now(&again, &state));
        assert!((&a - &b).amax() <= 1e-6 * a.amax().max(1.0), "{name}: {:.1e} of {:.1e}", (&a - &b).amax(), a.amax());
    }
}

#[test]
fn random_mechanisms_settle_or_say_why_not() {
    let seed = std::env::var("FOURBAR_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1u64);
    println!("FOURBAR_SEED={seed}");
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut settled_ones, mut refused) = (0, 0);
    for k in 0..60 {
        let which = seed + k;
        let Ok(m) = families::mechanism(which).build() else { continue };
        let kind = if random.number() > 0.0 { Kind::Any } else { Kind::Stable };
        let t = if random.number() > 0.5 { random.number().abs() } else { 0.0 };
        let options = Options { kind, t, starts: 2, ..Options::default() };
        let found =
            if random.number() > 0.7 { search(&m, &options).map(|f| f.list.into_iter().next()) } else { settle(&m, &options).map(Some) };
        match found {
            Ok(Some(e)) => {
                settled_ones += 1;
                assert!(e.residual < 1e-8, "seed {which}: {:.1e} by {} after {}", e.residual, e.method, e.iterations);
                // Near singular positions reactions are unbounded, so that forces are no scale.
                let set = ConstraintSet::new(m.all_constraints(), |_| false);
                let regular = rank::rank(&m, &set, &e.state.q).smallest.is_none_or(|s| s > 1e-5);
                // The engine finds zero accelerations too, unless drives or friction cause motion.
                let friction = m.forces.iter().any(|(_, f)| matches!(f, fourbar::force::Force::Friction(_)));
                if regular && m.drives.is_empty() && !friction && e.stability() != Stability::Held {
                    let now = e.evaluate(&m).expect("an evaluation");
                    // Each method of solution has different difficulties with ill-conditioned rows or with massless motions.
                    let most = |list: &[Twist]| list.iter().fold(0.0_f64, |s, a| s.max(a.v.norm()));
                    let a = most(now.accelerations()).min(most(&now.reduced().expect("equations").accelerations()));
                    assert!(
                        a < 1e-4 * m.gravity.norm().max(1.0),
                        "seed {which}: accelerates by {a:.1e}, {} {}",
                        e.method,
                        e.stability().word()
                    );
                }
                let frozen = random.number() > 0.0;
                if let Ok(l) = linearize(&m, &e.state, &Request { frozen, ..Request::default() }) {
                    modes(&m, l).unwrap_or_else(|d| panic!("seed {which}: {d}"));
                }
            }
            Ok(None) => {}
            Err(d) => {
                refused += 1;
                assert!(d.code.0.starts_with('S') || d.code.0.starts_with('U'), "seed {which}: {d}");
            }
        }
    }
    println!("{settled_ones} settled, {refused} refused");
    assert!(settled_ones > 20, "{settled_ones} settled, {refused} refused");
}

#[test]
fn a_start_from_equilibrium_is_refused_unsettled_and_taken_settled() {
    let m = parse(
        "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies: {rod: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}}\njoints: {pin: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}\nstart: {from: equilibrium}\nstudy: {t_end: 1}\n",
    );
    assert!(m.settle);
    let d = Simulation::new(&Arc::new(m.clone()), &Study::of(&m)).expect_err("not settled");
    assert_eq!(d.code.0, "U403");
    let (own, rest) = start_settled(m).expect("it rests");
    assert_eq!(rest.map(|r| r.stability()), Some(Stability::Stable));
    let mut s = Simulation::new(&Arc::new(own.clone()), &Study::of(&own)).expect("settled");
    s.advance(1.0).expect("it hangs");
    assert!((s.snapshot().body("rod").expect("the rod").position.z + 0.5).abs() < 1e-8);
    assert_eq!(stepped(&s.state(), &DVector::zeros(6)).q[1], s.state().q[1]);
}
