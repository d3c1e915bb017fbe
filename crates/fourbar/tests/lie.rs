//! The formulations on Lie groups: order of every method on both groups, references, agreement with rA, constraints with and without
//! stabilisation, conserved quantities, and no allocation in a step.

#![allow(non_snake_case)]

use fourbar::absolute::equations::Equations;
use fourbar::analysis::assembly::{Options, assemble, assemble_from};
use fourbar::analysis::uniqueness;
use fourbar::formulation::lie::{Drift, Lie, Space, tailored};
use fourbar::integrator::first_order::System;
use fourbar::motion::{Instant, LeastLoads};
use fourbar::random::Random;
use fourbar::state::Twist;
use fourbar::study::Study;
use fourbar::{Configuration, Model, Trajectory};
use fourbar_testing::common;
use fourbar_testing::common::*;
use nalgebra::{DMatrix, DVector, Vector3};

const FORMULATIONS: [&str; 3] = ["so3xr3", "se3", "lie"];

fn constraints(how: &str) -> Vec<(String, String)> {
    vec![("constraints".into(), how.into())]
}

fn fixed(m: &Model, formulation: &str, integrator: &str, h: f64, t_end: f64, how: &str) -> (Trajectory, Vec<String>) {
    let study = Study {
        formulation: Some(formulation.into()),
        integrator: Some(integrator.into()),
        step: Some(h),
        t_end,
        output_step: t_end / 10.0,
        options: constraints(how),
        ..Study::of(m)
    };
    let (trajectory, report) = run(m, &study);
    (trajectory, report.notes)
}

fn adaptive(m: &Model, formulation: &str, integrator: &str, tol: f64, t_end: f64) -> Trajectory {
    let study = Study {
        formulation: Some(formulation.into()),
        integrator: Some(integrator.into()),
        step: None,
        tol: Some(tol),
        t_end,
        options: Vec::new(),
        ..Study::of(m)
    };
    run(m, &study).0
}

fn is_position(c: &str) -> bool {
    c.contains(".r.") || c.contains(".p.")
}

/// Largest difference of the last rows over some columns.
fn apart(a: &Trajectory, b: &Trajectory, choose: impl Fn(&str) -> bool) -> f64 {
    let (x, y) = (a.row(a.len() - 1), b.row(b.len() - 1));
    (0..x.len()).filter(|&k| choose(&a.columns[k].name)).map(|k| (x[k] - y[k]).abs()).fold(0.0, f64::max)
}

fn most(t: &Trajectory, column: &str) -> f64 {
    t.column(column).expect(column).iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn energy_drift(t: &Trajectory) -> f64 {
    let e = t.column("energy.total").expect("energy");
    e.iter().fold(0.0, |m, x| m.max((x - e[0]).abs()))
}

/// Every method has its nominal order on both groups and on their mixture, with and without projection.
#[test]
fn every_method_has_its_order_on_the_group() {
    // A closed chain in which both boxes turn about fixed points: SE(3) and SO(3) x R3 differ in every step. Steps are in the range where
    // the leading term dominates: above rounding, below a tenth of the fastest rotation.
    let m = model("lie_spherical_double_pendulum");
    let t_end = 0.1;
    for formulation in FORMULATIONS {
        for how in ["none", "project"] {
            let exact = fixed(&m, formulation, "dop853", 1e-4, t_end, how).0;
            for (integrator, h, order) in [
                ("euler", 5e-5, 1.0),
                ("heun", 5e-4, 2.0),
                ("rk4", 1e-3, 4.0),
                ("rkf45", 1e-3, 5.0),
                ("dopri5", 1e-3, 5.0),
                ("dop853", 5e-3, 8.0),
                ("cg3", 5e-4, 3.0),
                ("cg4", 5e-4, 4.0),
                ("cf3", 5e-4, 3.0),
                ("cf4", 1e-3, 4.0),
                ("radau", 2e-3, 5.0),
            ] {
                let [coarse, fine] = [h, 0.5 * h].map(|h| fixed(&m, formulation, integrator, h, t_end, how).0);
                // Rotations and positions separately: without constraint forces on the rotations both groups give the same rotations.
                for part in [".r.", ".p.", ".v."] {
                    let [coarse, fine] = [&coarse, &fine].map(|t| apart(t, &exact, |c| c.contains(part)));
                    let measured = (coarse / fine).log2();
                    println!("{formulation} {how} {integrator} {part}: {coarse:.2e} {fine:.2e} order {measured:.2}");
                    // Half an order is allowed for the next term of the error.
                    assert!(
                        measured > order - 0.5,
                        "{formulation} {how} {integrator} {part}: {coarse:.2e} -> {fine:.2e}, order {measured:.2}"
                    );
                }
            }
        }
    }
}

/// Groups by name: with one group for all bodies as in the pure formulations, to the bit; mixtures give the same motion; unknown bodies and
/// groups are rejected.
#[test]
fn groups_of_bodies_are_taken_by_name() {
    let m = model("lie_spherical_double_pendulum");
    let with = |spaces: &str| {
        let mut study = Study {
            formulation: Some("lie".into()),
            integrator: Some("cf4".into()),
            step: Some(1e-3),
            t_end: 0.1,
            output_step: 0.01,
            ..Study::of(&m)
        };
        study.options = vec![("constraints".into(), "none".into()), ("spaces".into(), spaces.into())];
        study
    };
    for (spaces, pure) in [("link1:se3,link2:se3", "se3"), ("link1:so3xr3, link2:so3xr3", "so3xr3")] {
        let (named, report) = run(&m, &with(spaces));
        let pure = fixed(&m, pure, "cf4", 1e-3, 0.1, "none").0;
        assert_eq!(named.row(named.len() - 1), pure.row(pure.len() - 1), "{spaces}");
        assert!(report.notes.iter().any(|n| n.contains("as requested")), "{:?}", report.notes);
    }
    // The joint on the ground stays closed if its body is on SE(3) and drifts otherwise.
    let drift = |spaces: &str| {
        let t = run(&m, &with(spaces)).0;
        let at = |c: &str| t.column(c).expect(c);
        let far = (0..t.len()).map(|k| (at("link1.r.x")[k].powi(2) + at("link1.r.y")[k].powi(2) + at("link1.r.z")[k].powi(2)).sqrt());
        let far: Vec<f64> = far.collect();
        far.iter().fold(0.0_f64, |m, x| m.max((x - far[0]).abs()))
    };
    let (screw, hybrid) = (drift("link1:se3,link2:so3xr3"), drift("link1:so3xr3,link2:se3"));
    assert!(screw < 1e-13 && hybrid > 1e-10, "{screw:.1e} {hybrid:.1e}");
    for (bad, says) in [
        ("link3:se3", "`link3`"),
        ("link1:se4", "`se4`"),
        ("link1", "names no group"),
        ("link1:se3,link1:se3", "twice"),
        ("", "names no body"),
    ] {
        let failed = fourbar::study::run(&m, &with(bad), &mut Trajectory::default()).expect_err(bad);
        let d = failed.diagnostic;
        assert!(d.code.0 == "U304" && d.message.contains(says), "{bad}: {}", d.message);
    }
}

/// Name and span of the comparison; chaotic models over the span in which it is meaningful.
const REFERENCES: &[(&str, f64)] = &[
    ("ra_double_pendulum", 5.0),
    ("ra_double_pendulum_exact_inertia", 5.0),
    ("a01_simple_pendulum", 10.0),
    ("a02_n_fourbar_N2", 10.0),
    ("a03_andrews_beta0_m0p0620", 0.05),
    ("andrews", 0.05),
    ("a04_bricard", 10.0),
    ("a04_bricard_thin", 10.0),
    ("dca_five_bar", 10.0),
    ("dca_double_loop", 10.0),
    ("grcr_five_bar", 2.0),
    ("lie_heavy_top", 1.0),
    ("lie_spherical_double_pendulum", 0.8),
    ("lie_two_floating_bodies", 5.0),
    ("lie_closed_3bar", 2.0),
    ("nc_free_top", 10.0),
    ("nc_rscr", 3.0),
    ("nc_closed_chain_robot", 0.6),
];

#[test]
fn references_are_reached() {
    let mut lines = Vec::new();
    let mut bad = false;
    for &(name, until) in REFERENCES {
        let m = model(name);
        let r = reference(name);
        for formulation in FORMULATIONS {
            let t = adaptive(&m, formulation, "dop853", 1e-10, until);
            let (e, count) =
                worst(&t, &r, until, |c| matches!(c.rsplit_once('.').map(|x| x.1), Some("x" | "y" | "z" | "e0" | "e1" | "e2" | "e3")));
            // A relative tolerance of 1e-10 per step leaves room for the growth of errors along these motions.
            bad |= count < 40 || e.is_nan() || e > 1e-6;
            println!("{name} {formulation}: {e:.2e} over {count} values");
            lines.push(format!("{name} {formulation}: {e:.2e} over {count} values"));
        }
    }
    assert!(!bad, "{}", lines.join("\n"));
}

/// A consistent state away from the drawn one: the mechanism moves for a while with random, projected velocities. (Poses that are disturbed
/// and closed again are unsuitable: an overconstrained loop depends on a pose out of its plane only to second order, so its rows would be
/// redundant to 1e-7 instead of to rounding.)
fn random_state(m: &Model, random: &mut Random) -> Option<Configuration> {
    let mut rough = assemble(m).ok()?.configuration;
    for v in &mut rough.v[1..] {
        *v = Twist { v: random.vector() * m.length, w: random.vector() };
    }
    let mut at = assemble_from(m, &rough, Options::default()).ok()?.configuration;
    let span = 0.05 * (1.0 + random.number());
    let study = Study {
        formulation: Some("so3xr3".into()),
        integrator: None,
        step: None,
        tol: None,
        t_end: span,
        output_step: span,
        options: Vec::new(),
        ..Study::of(m)
    };
    let (formulation, integrator) = study.method(m).ok()?;
    let mut motion = (formulation.start)(&fourbar::Structure::new(m, &at), &study, integrator, &at).ok()?;
    motion.advance(span, &mut |_| true).ok()?;
    let mut now = Instant::new(m, &at);
    motion.instant(span, &mut now).ok()?;
    (at.q, at.v, at.turns) = (now.q, now.v, now.turns);
    Some(at)
}

fn spaces(m: &Model, at: &Configuration) -> [Space; 3] {
    let n = m.bodies.len();
    let all = |screw: bool| Space { screw: (0..n).map(|b| b > 0 && screw).collect() };
    [all(true), all(false), tailored(m, &at.q).0]
}

fn instant(m: &Model, at: &Configuration, space: Space, drift: Drift) -> Instant {
    let mut lie = Lie::new(&fourbar::Structure::new(m, at), at, space, drift);
    let mut y = vec![0.0; lie.stored()];
    lie.start(&mut y);
    let mut out = Instant::new(m, at);
    lie.instant(0.0, &y, &mut out).unwrap_or_else(|d| panic!("{d}"));
    out
}

/// At random states of every shipped model all representations give the accelerations and reactions of rA.
#[test]
fn accelerations_and_reactions_agree_with_ra_at_random_states() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut compared = 0;
    for name in shipped() {
        // Without drives, so that the states are free; the largest model only once.
        let mut m = model(&name);
        m.drives.clear();
        for _ in 0..if m.bodies.len() > 40 { 1 } else { 3 } {
            let Some(at) = random_state(&m, &mut random) else { continue };
            let mut e = Equations::new(&m, &at);
            let (mut a, mut lambda) = (vec![Twist::zero(); m.bodies.len()], vec![0.0; e.set.rows()]);
            e.jacobian(&at.q);
            e.factor(1.0);
            if e.regular_pivot.0 < 1e-4 {
                // Near a singular position rounding is amplified beyond any fixed tolerance.
                continue;
            }
            e.index1(&at.q, &at.v, &at.turns, 0.0, &mut a, &mut lambda);
            let mut ra = Instant::new(&m, &at);
            LeastLoads::new(&m, &e.set, &at.q).fill(&m, &e.set, &lambda, &mut ra);
            let theirs = ra.reactions;
            // Accelerations may be small because large forces cancel; then gravity is the reference.
            let size = a.iter().fold(m.gravity.norm().max(1e-3), |s: f64, a| s.max(a.v.amax()).max(m.length * a.w.amax()));
            let force = theirs.iter().fold(1e-3, |s: f64, w| s.max(w.force.amax()).max(w.torque.amax() / m.length));
            let loose: Vec<String> = uniqueness::not_unique(&m, &at).into_iter().map(|(j, _)| j).collect();
            for space in spaces(&m, &at) {
                let ours = instant(&m, &at, space, Drift::None);
                let d = ours.a.iter().zip(&a).fold(0.0, |s: f64, (x, y)| s.max((x.v - y.v).amax()).max(m.length * (x.w - y.w).amax()));
                assert!(d <= 1e-9 * size, "{name}: accelerations differ by {:.1e}", d / size);
                for (k, (x, y)) in ours.reactions.iter().zip(&theirs).enumerate() {
                    let d = (x.force - y.force).amax().max((x.torque - y.torque).amax() / m.length) / force;
                    // A reaction that is not unique has an error of rounding (1e-16) over the compliance (1e-9), times the ratio of the row
                    // sizes.
                    let limit = if loose.contains(&m.joints[k].name) { 1e-6 } else { 1e-9 };
                    assert!(d <= limit, "{name}: reaction of `{}` differs by {d:.1e}", m.joints[k].name);
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

/// The same accelerations from the dense equations, solved without any of our linear algebra.
#[test]
fn accelerations_solve_the_dense_equations() {
    let mut random = Random(0x7654_3210_fedc_ba91);
    for name in ["lie_closed_3bar", "a04_bricard", "nc_rscr", "dca_double_loop", "lie_two_floating_bodies"] {
        let m = model(name);
        let at = random_state(&m, &mut random).expect("closes");
        let mut e = Equations::new(&m, &at);
        e.jacobian(&at.q);
        let (n, rows) = (6 * m.moving(), e.set.rows());
        let mut gamma = vec![0.0; rows];
        e.set.gamma(&at.q, &at.v, 0.0, &mut gamma);
        let (mut M, mut G, mut f) = (DMatrix::zeros(n, n), DMatrix::zeros(rows, n), DVector::zeros(n));
        for (b, body) in m.bodies.iter().enumerate().skip(1) {
            let (k, w) = (6 * (b - 1), &at.v[b].w);
            let gyro: Vector3<f64> = -w.cross(&(body.J_bar * w));
            for i in 0..3 {
                M[(k + i, k + i)] = body.mass;
                f[k + i] = body.mass * m.gravity[i];
                f[k + 3 + i] = gyro[i];
                for j in 0..3 {
                    M[(k + 3 + i, k + 3 + j)] = body.J_bar[(i, j)];
                }
            }
        }
        for c in 0..e.set.list.len() {
            for block in e.set.blocks_of(c) {
                for (r, row) in e.G[block.start..].chunks_exact(6).take(e.set.row_start[c + 1] - e.set.row_start[c]).enumerate() {
                    for l in 0..6 {
                        G[(e.set.row_start[c] + r, 6 * (block.body - 1) + l)] = row[l];
                    }
                }
            }
        }
        // a = a_f - M^-1 G^T S^+ (G a_f - gamma) with the pseudo-inverse of S.
        let inverse = M.clone().try_inverse().expect("masses");
        let free = &inverse * &f;
        let S = (&G * &inverse * G.transpose()).svd(true, true);
        let top = S.singular_values.max();
        let lambda = S.solve(&(&G * &free - DVector::from_vec(gamma)), 1e-10 * top).expect("solves");
        let a = &free - &inverse * G.transpose() * lambda;
        let size = a.amax();
        for space in spaces(&m, &at) {
            let ours = instant(&m, &at, space, Drift::None);
            for b in 1..m.bodies.len() {
                for i in 0..3 {
                    let d = (ours.a[b].v[i] - a[6 * (b - 1) + i]).abs().max((ours.a[b].w[i] - a[6 * (b - 1) + 3 + i]).abs());
                    assert!(d < 1e-9 * size, "{name}: {:.1e}", d / size);
                }
            }
        }
    }
}

/// Trajectories of every shipped model from both sides: explicit of high order, and rA refined and extrapolated.
#[test]
fn trajectories_agree_with_ra_on_every_shipped_model() {
    let mut lines = Vec::new();
    let mut bad = false;
    for name in shipped() {
        let m = model(&name);
        // At most ten output steps of the study; stiff and large models even shorter.
        let t_end = match name.as_str() {
            "a05_flyball_governor" => 0.05,
            "a02_n_fourbar_N40" => 0.05,
            _ => (10.0 * Study::of(&m).output_step).min(0.2),
        };
        let base = Study { analysis: Some(fourbar::study::Analysis::Dynamics), t_end, output_step: t_end / 5.0, ..Study::of(&m) };
        let ra = |h: f64| run(&m, &Study { formulation: Some("ra".into()), integrator: None, step: Some(h), ..base.clone() }).0;
        let h = t_end / 200.0;
        let (coarse, fine) = (ra(h), ra(0.5 * h));
        let refined = extrapolate(&coarse, &fine);
        let lie = run(&m, &Study { formulation: Some("lie".into()), integrator: None, step: None, tol: Some(1e-9), ..base.clone() }).0;
        let (e, e_coarse) = (apart(&lie, &refined, is_position) / m.length.max(1.0), apart(&lie, &coarse, is_position) / m.length.max(1.0));
        lines.push(format!("{name}: {e:.2e}, coarse {e_coarse:.2e}"));
        // Extrapolation of a second-order method with 400 steps in the span leaves h^3 to h^4 of its coarse error.
        bad |= e.is_nan() || e > 1e-6;
    }
    assert!(!bad, "{}", lines.join("\n"));
}

/// [Mueller13, section 5.1]: the energy of the paper, and no drift of the pivot on SE(3).
#[test]
fn the_heavy_top_keeps_its_pivot_on_se3() {
    let m = model("lie_heavy_top");
    for integrator in ["heun", "rk4", "rkf45", "dopri5"] {
        let (t, _) = fixed(&m, "se3", integrator, 1e-3, 1.0, "none");
        let e0 = t.column("energy.kinetic").expect("energy")[0];
        assert!((e0 - 13972.4).abs() < 0.1, "{e0}");
        assert!(most(&t, "error.position") < 1e-12, "{integrator}: {:.1e}", most(&t, "error.position"));
        let (t, _) = fixed(&m, "so3xr3", integrator, 1e-3, 1.0, "none");
        assert!(most(&t, "error.position") > 1e-10, "{integrator}: {:.1e}", most(&t, "error.position"));
        let (t, notes) = fixed(&m, "lie", integrator, 1e-3, 1.0, "none");
        assert!(most(&t, "error.position") < 1e-12 && notes[0].contains("SE(3) for `top` (turning about a fixed point)"), "{notes:?}");
    }
    // Ten seconds of the classical method.
    let (t, _) = fixed(&m, "se3", "rk4", 1e-3, 10.0, "none");
    assert!(most(&t, "error.position") < 2e-12, "{:.1e}", most(&t, "error.position"));
}

/// Without stabilisation, constraints drift; Baumgarte keeps the drift small, projection removes it.
#[test]
fn constraints_are_kept_as_asked() {
    for name in ["lie_spherical_double_pendulum", "lie_closed_3bar", "nc_rscr"] {
        let m = model(name);
        for formulation in FORMULATIONS {
            let error = |how: &str| most(&fixed(&m, formulation, "rk4", 1e-3, 1.0, how).0, "error.position");
            let (none, baumgarte, project) = (error("none"), error("baumgarte"), error("project"));
            assert!(none > 1e-10 && baumgarte < none && project < 1e-12, "{name} {formulation}: {none:.1e} {baumgarte:.1e} {project:.1e}");
        }
    }
    let m = model("lie_heavy_top");
    let refused = |key: &str, value: &str| {
        let options = vec![("constraints".into(), "baumgarte".into()), (key.into(), value.into())];
        let study = Study { formulation: Some("se3".into()), options, ..Study::of(&m) };
        fourbar::study::run(&m, &study, &mut Trajectory::default()).expect_err("refused").diagnostic.code.0
    };
    assert_eq!((refused("constraints", "glue"), refused("rate", "-1")), ("U304", "U304"));
}

/// The choice of group and its explanation, from the joints alone.
#[test]
fn the_group_of_each_body_is_chosen_from_its_joints() {
    let choice = |m: &Model| {
        let at = assemble(m).expect("assembles").configuration;
        let (space, words) = tailored(m, &at.q);
        (space.screw[1..].to_vec(), words)
    };
    assert_eq!(choice(&model("lie_heavy_top")).0, [true]);
    assert_eq!(choice(&model("lie_spherical_double_pendulum")).0, [true, false]);
    assert_eq!(choice(&model("lie_two_floating_bodies")).0, [false, false]);
    assert_eq!(choice(&model("lie_closed_3bar")).0, [true, true]);
    // A top fixed at its centre of mass rotates without moving it: nothing to gain.
    assert_eq!(choice(&model("nc_free_top")).0, [false]);
    let mixed = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  arm: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}
  wheel: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 2, 0]}
  cart: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 1]}
  bob: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0.5]}
  nut: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [3, 0.2, 0]}
  far: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1.5, 0, 0.3]}
  eye: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.2, 0.1, 0]}
joints:
  hinge: {type: revolute, bodies: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1]}
  axle: {type: revolute, bodies: [ground, wheel], at: [0, 2, 0], axis: [0, 0, 1]}
  rail: {type: prismatic, bodies: [ground, cart], at: [0, 0, 1], axis: [1, 0, 0]}
  swing: {type: revolute, bodies: [cart, bob], at: [0, 0, 1], axis: [0, 1, 0]}
  thread: {type: screw, bodies: [ground, nut], at: [3, 0, 0], axis: [0, 0, 1], lead: 0.01}
  elbow: {type: revolute, bodies: [arm, far], at: [1, 0, 0], axis: [0, 1, 0]}
  gimbal: {type: revolute, bodies: [arm, eye], at: [0, 0, 0], axis: [1, 0, 0]}
",
    );
    // Rotation about an axis, about its centre, sliding, swinging in a plane, a screw off the axis, two separate axes, two axes that
    // intersect on the ground.
    let (screw, words) = choice(&mixed);
    assert_eq!(screw, [true, false, false, false, true, false, true], "{words}");
    assert_eq!(
        words,
        "state space: SE(3) for `arm` (turning about a fixed axis); SE(3) for `nut` (screwing along a fixed axis); SE(3) for `eye` (turning about a fixed point); SO(3) x R3 for `wheel`, `cart`, `bob`, `far`"
    );
}

/// Without projection the mixture drifts at most twice as much as the better pure choice.
#[test]
fn the_chosen_groups_drift_like_the_better_pure_choice() {
    for name in ["lie_heavy_top", "lie_spherical_double_pendulum", "lie_two_floating_bodies", "lie_closed_3bar", "nc_rscr"] {
        let m = model(name);
        let drift = |formulation: &str| most(&fixed(&m, formulation, "rk4", 1e-3, 1.0, "none").0, "error.position");
        let [so3xr3, se3, lie] = FORMULATIONS.map(drift);
        // Below 1e-12 all of it is rounding.
        assert!(lie <= 2.0 * so3xr3.min(se3) || lie < 1e-12, "{name}: {so3xr3:.2e} {se3:.2e} {lie:.2e}");
    }
}

/// The free top over a thousand seconds: two hundred somersaults, energy and angular momentum to the accuracy of the method.
#[test]
fn the_free_top_keeps_energy_and_momentum_for_a_thousand_seconds() {
    let m = model("nc_free_top");
    let J = m.bodies[1].J_bar;
    for formulation in FORMULATIONS {
        let study = Study {
            formulation: Some(formulation.into()),
            integrator: Some("dop853".into()),
            tol: Some(1e-12),
            t_end: 1000.0,
            output_step: 10.0,
            ..Study::of(&m)
        };
        let (t, _) = run(&m, &study);
        let column = |name: &str| t.column(name).expect("column");
        let (p, w): (Vec<_>, Vec<_>) = (
            (0..4).map(|k| column(&format!("top.p.{k}"))).collect(),
            ["x", "y", "z"].iter().map(|a| column(&format!("top.omega.{a}"))).collect(),
        );
        let momentum = |i: usize| {
            let A = fourbar_math::so3::from_quaternion(&[p[0][i], p[1][i], p[2][i], p[3][i]]);
            A * J * A.transpose() * Vector3::new(w[0][i], w[1][i], w[2][i])
        };
        let first = momentum(0);
        let turned = (0..t.len()).map(|i| (momentum(i) - first).norm()).fold(0.0, f64::max) / first.norm();
        let e = column("energy.kinetic");
        let drift = energy_drift(&t) / e[0];
        println!("{formulation}: energy {drift:.1e}, momentum {turned:.1e}");
        // 1e-12 per step and some 10^4 steps.
        assert!(drift < 1e-8 && turned < 1e-8, "{formulation}: energy {drift:.1e}, momentum {turned:.1e}");
    }
}

/// A run that is stopped and continued is the same run, to the bit.
#[test]
fn a_continued_run_is_the_same_run() {
    for name in ["a04_bricard", "andrews", "lie_closed_3bar"] {
        let m = model(name);
        for (integrator, fixed) in [("dopri5", false), ("dop853", false), ("rk4", true)] {
            let own = Study::of(&m);
            let t_end = 20.0 * own.output_step;
            let step = fixed.then_some(0.1 * own.output_step);
            let study = Study { formulation: Some("lie".into()), integrator: Some(integrator.into()), step, t_end, tol: Some(1e-8), ..own };
            assert_resumes(&m, &study, 11, &format!("{name} {integrator}"));
        }
    }
    // Singular positions in both parts.
    let m = model("a02_n_fourbar_N2");
    let study = Study { formulation: Some("lie".into()), integrator: None, step: None, t_end: 2.0, output_step: 0.1, ..Study::of(&m) };
    assert_resumes(&m, &study, 12, "ladder");
}

/// Rolling, friction that depends on the load, point masses and time-driven joints move as in rA.
#[test]
fn elements_of_every_kind_move_as_in_ra() {
    let cases = [
        (
            "rolling ball",
            "
fourbar: 1
gravity: [2, 1, -9.81]
bodies: {ball: {mass: 3, inertia: [0.048, 0.048, 0.048], at: [0, 0, 0.2], velocity: [0.2, 0, 0], omega: [0, 1, 0.5]}}
constraints: {roll: {type: rolling-sphere, on: {body: ball}, radius: 0.2}}
study: {analysis: dynamics, t_end: 1, output_step: 0.1}
",
        ),
        (
            "friction by load",
            "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {block: {mass: 2, inertia: [0.1, 0.1, 0.1], velocity: [1, 0, 0]}}
joints: {guide: {type: prismatic, bodies: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}}
forces: {rub: {type: friction, joint: guide, coulomb: 0.1, viscous: 0.2, radius: 0, speed: 0.5}}
study: {analysis: dynamics, t_end: 1, output_step: 0.1}
",
        ),
        (
            "point masses on rods",
            "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  near: {mass: 1, inertia: 0, at: [1, 0, 0], velocity: [0, 0.5, 0]}
  far: {mass: 2, inertia: 0, at: [1.5, 0.5, 0]}
joints:
  one: {type: distance, bodies: [ground, near], from: [0, 0, 0], to: [1, 0, 0]}
  two: {type: distance, bodies: [near, far], from: [1, 0, 0], to: [1.5, 0.5, 0]}
study: {analysis: dynamics, t_end: 1, output_step: 0.1}
",
        ),
        (
            "driven arm with a spring on it",
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  arm: {mass: 1, inertia: [0.01, 0.1, 0.1], at: [0.5, 0, 0], omega: [0, 0, 2]}
  tip: {mass: 0.5, inertia: [0.01, 0.02, 0.02], at: [1.3, 0, 0], omega: [0, 0, 2]}
joints:
  shoulder: {type: revolute, bodies: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1]}
  elbow: {type: universal, bodies: [arm, tip], at: [1, 0, 0], axes: [[0, 0, 1], [0, 1, 0]]}
drives: {motor: {joint: shoulder, angle: 2*t + 0.3*t^2}}
forces: {pull: {type: spring, between: [{body: tip}, {body: ground, at: [0, 1, 0.5]}], stiffness: 30, length: 0.4, damping: 0.5}}
study: {analysis: dynamics, t_end: 1, output_step: 0.1}
",
        ),
    ];
    for (what, text) in cases {
        let m = parse(text);
        let ra = |h: f64| run(&m, &Study { formulation: Some("ra".into()), step: Some(h), ..Study::of(&m) }).0;
        let coarse = ra(5e-4);
        let refined = extrapolate(&coarse, &ra(2.5e-4));
        for formulation in FORMULATIONS {
            let study = Study { formulation: Some(formulation.into()), tol: Some(1e-9), ..Study::of(&m) };
            let (t, _) = run(&m, &study);
            // The spin of a point mass about its rods is meaningless.
            let motion = |c: &str| c.contains(".r.") || c.contains(".v.");
            let work = |c: &str| c == "energy.work" || c.ends_with(".effort");
            for (e, from) in
                [(apart(&t, &refined, motion), apart(&t, &coarse, motion)), (apart(&t, &refined, work), apart(&t, &coarse, work))]
            {
                // Extrapolation removes the leading term of rA's error and leaves about one in two hundred.
                assert!(e < 2e-6 + 5e-3 * from, "{what} {formulation}: {e:.2e}, coarse {from:.2e}");
            }
            assert!(most(&t, "error.position") < 1e-11 && most(&t, "error.velocity") < 1e-10, "{what} {formulation}");
            // Energy changes by the work of drives, dampers and friction.
            let (total, work) = (t.column("energy.total").expect("energy"), t.column("energy.work").expect("work"));
            let balance = (0..t.len()).fold(0.0, |s: f64, k| s.max((total[k] - total[0] - work[k]).abs()));
            assert!(balance < 1e-6, "{what} {formulation}: energy and work differ by {balance:.1e}");
        }
    }
}

/// Large and redundant, through singular positions: the ladder of forty four-bars stays on its branch and reports singular positions.
/// Stiff: the governor with dampers of 1e-4 s.
#[test]
fn the_ladder_and_the_governor_reach_their_references() {
    let name = "a02_n_fourbar_N40";
    let m = model(name);
    let study = Study { formulation: Some("lie".into()), tol: Some(1e-8), t_end: 5.0, output_step: 0.025, ..Study::of(&m) };
    let (t, report) = run(&m, &study);
    let (e, count) = worst(&t, &reference(name), 5.0, |c| c.starts_with("B0."));
    assert!(count >= 20 && e < 1e-6 && !report.singular.is_empty(), "tip {e:.2e} over {count}, {} singular", report.singular.len());
    let name = "a05_flyball_governor";
    let m = model(name);
    let t = adaptive(&m, "lie", "dopri5", 1e-7, 1.0);
    let (e, count) = worst(&t, &reference(name), 1.0, |c| c == "s");
    assert!(count >= 5 && e < 1e-7, "slider {e:.2e} over {count}");
}

/// Corrections with both redundant and nearly dependent rows: the compliance of redundant rows in the stages must not delay them.
#[test]
fn nearly_dependent_loops_are_corrected_in_a_few_steps() {
    let m = common::parse(include_str!("data/nearly_dependent_loops.yaml"));
    for formulation in ["so3xr3", "se3", "lie"] {
        let study = Study { formulation: Some(formulation.into()), tol: Some(1e-9), ..Study::of(&m) };
        let (_, report) = run(&m, &study);
        let steps = report.work.iter().find(|(n, _)| *n == "steps").expect("counted").1;
        // Thousands if every correction is rejected and the step halved.
        assert!(steps < 200.0, "{formulation}: {steps} steps");
    }
}
