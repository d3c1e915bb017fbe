//! Evaluations at a state: the identities of mechanics for shipped models and random mechanisms at random consistent states, and the
//! accelerations of every formulation.
#![allow(non_snake_case)]

use fourbar::analysis::assembly::{Options, assemble, assemble_from};
use fourbar::analysis::rank;
use fourbar::constraint::{ConstraintSet, Owner};
use fourbar::evaluate::{Evaluation, by_body, stacked};
use fourbar::force::{Actuator, Force, eval};
use fourbar::mechanism::{Body, GROUND, Mechanism};
use fourbar::motion::Instant;
use fourbar::random::Random;
use fourbar::state::{Configuration, Twist};
use fourbar::study::{Analysis, FORMULATIONS, Study};
use fourbar::{Model, Simulation};
use fourbar_testing::common::{model, shipped};
use fourbar_testing::{families, mechanism};
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// Mechanisms with more columns take minutes in dense algebra.
const LARGE: usize = 150;

/// Shipped models and random mechanisms, each with a name.
fn models() -> Vec<(String, Model)> {
    let shipped = shipped().into_iter().map(|name| (name.clone(), model(&name)));
    let random = (1..=24).map(|seed| (format!("random {seed}"), mechanism::mechanism(&mechanism::Recipe::of(seed), seed)));
    let families = (0..58).map(|seed| (format!("family {seed}"), families::mechanism(seed)));
    let random = random.chain(families).filter_map(|(name, spec)| Some((name, spec.build().ok()?)));
    shipped.chain(random).filter(|(_, m)| 6 * m.moving() <= LARGE).collect()
}

/// A consistent state: assembled, moved along its free motions unless it is driven, with consistent velocities.
fn state(model: &Model, random: &mut Random) -> Option<Configuration> {
    let mut at = assemble(model).ok()?.configuration;
    if model.drives.is_empty() && model.bare.is_empty() {
        let free = rank::mobility(model, &at, true).start;
        if let Some(q) = rank::wander(model, &at, &free.motions, random, false) {
            at.q = q;
        }
    }
    let N = Evaluation::new(model, &at).ok()?.free_motions().ok()?;
    let speeds = DVector::from_fn(N.ncols(), |_, _| random.number());
    at.v = by_body(&(stacked(&at.v) + N * speeds));
    // Start conditions of the file do not apply here.
    let mut anywhere = model.clone();
    anywhere.hold.clear();
    anywhere.start.clear();
    Some(assemble_from(&anywhere, &at, Options::default()).ok()?.configuration)
}

fn each(mut check: impl FnMut(&str, &Model, &Configuration, &Evaluation)) -> usize {
    let mut random = Random(0x0e7a_1ae5);
    let mut count = 0;
    for (name, model) in &models() {
        let Some(at) = state(model, &mut random) else { continue };
        let now = Evaluation::new(model, &at).unwrap_or_else(|e| panic!("{name}: {e}"));
        check(name, model, &at, &now);
        count += 1;
    }
    count
}

/// Difference of accelerations, relative to the largest; rotations are measured by radii of gyration, so that the undefined spin of a point
/// mass does not count.
fn difference(model: &Model, a: &[Twist], b: &[Twist]) -> f64 {
    let bodies = model.bodies.iter().skip(1);
    let size = |x: &Twist, b: &fourbar::model::Body| x.v.norm().max((x.w.dot(&(b.J_bar * x.w)) / b.mass).sqrt());
    let top = a[1..].iter().zip(bodies.clone()).map(|(a, b)| size(a, b)).fold(1e-3, f64::max);
    let apart = a[1..].iter().zip(&b[1..]).zip(bodies).map(|((a, b), body)| size(&a.plus(&b.scaled(-1.0)), body));
    let apart = apart.fold(0.0, |m: f64, x| if x.is_nan() { f64::INFINITY } else { m.max(x) });
    apart / top
}

#[test]
fn the_matrices_fit_together_everywhere() {
    let mut worst = [0.0_f64; 6];
    let count = each(|name, model, at, now| {
        let (M, J, N) = (now.mass_matrix().expect("small"), now.jacobian().expect("small"), now.free_motions().expect("small"));
        assert_eq!(M, M.transpose(), "{name}");
        assert!(M.symmetric_eigenvalues().min() >= -1e-12 * M.amax(), "{name}: a negative mass");
        let mut note = |k: usize, x: f64, limit: f64| {
            worst[k] = worst[k].max(x);
            assert!(x <= limit, "{name}: identity {k} is off by {x:.2e}");
        };
        if N.ncols() > 0 {
            note(0, (N.tr_mul(&N) - DMatrix::identity(N.ncols(), N.ncols())).amax(), 1e-13);
            if J.nrows() > 0 {
                note(1, (&J * &N).amax() / J.amax(), 1e-9);
            }
        }
        let generic = rank::rank(model, &ConstraintSet::new(model.all_constraints(), |_| false), &at.q);
        assert_eq!(N.ncols(), generic.mobility(), "{name}");
        // The equations of motion and the acceleration constraints.
        let a = stacked(now.accelerations());
        let lambda = DVector::from_column_slice(now.multipliers());
        let (left, right) = (&M * &a + now.bias(), now.applied() - J.tr_mul(&lambda));
        note(2, (&left - &right).amax() / left.amax().max(now.applied().amax()).max(lambda.amax()).max(1e-3), 1e-7);
        note(3, (&J * &a - now.acceleration_terms()).amax() / a.amax().max(1.0), 1e-8);
        // Without constraint forces, along the free motions and in coordinates by name.
        let reduced = now.reduced().expect("small");
        assert_eq!(reduced.mass, reduced.mass.transpose(), "{name}");
        note(4, difference(model, now.accelerations(), &reduced.accelerations()), 1e-6);
        let names = now.independent().expect("small");
        assert_eq!(names.len(), N.ncols(), "{name}: {names:?}");
        let named = now.reduced_in(&names).unwrap_or_else(|e| panic!("{name}: {e}"));
        note(5, difference(model, now.accelerations(), &named.accelerations()), 1e-6);
        let massless = |n: &str| model.bodies.iter().any(|b| b.J_bar.amax() == 0.0 && n.starts_with(&format!("{}.turn", b.name)));
        for (k, n) in names.iter().enumerate().filter(|(_, n)| !massless(n)) {
            let (a, b) = (named.rates()[k], now.joint_acceleration(n).expect("it is one"));
            assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{name} {n}: {a} {b}");
        }
    });
    println!("{count} mechanisms, worst {worst:?}");
    assert!(count > 100, "{count}");
}

#[test]
fn the_jacobian_is_the_difference_of_positions() {
    let count = each(|name, model, at, now| {
        let mut set = ConstraintSet::new(model.all_constraints(), |_| false);
        set.choose(at.t);
        let J = now.jacobian().expect("small");
        let h = 1e-5 * model.length;
        let residual = |q: &[fourbar::Pose]| {
            let mut x = DVector::zeros(set.rows());
            set.residual(q, &at.turns, at.t, x.as_mut_slice());
            x
        };
        let rolls: Vec<bool> = now.rows().iter().map(|r| matches!(r.owner, Owner::Rolling(_))).collect();
        for c in 0..now.columns() {
            let step = if c % 6 < 3 { h } else { h / model.length };
            let moved = |sign: f64| {
                let mut e = DVector::zeros(now.columns());
                e[c] = sign * step;
                let d = by_body(&e);
                residual(&at.q.iter().zip(&d).map(|(q, d)| q.moved(d)).collect::<Vec<_>>())
            };
            let numeric = (moved(1.0) - moved(-1.0)) / (2.0 * step);
            for r in (0..set.rows()).filter(|&r| !rolls[r]) {
                assert!((numeric[r] - J[(r, c)]).abs() < 1e-7 * J.amax(), "{name}, {}: {} {}", now.rows()[r], numeric[r], J[(r, c)]);
            }
        }
    });
    assert!(count > 100, "{count}");
}

#[test]
fn the_energy_changes_by_the_power() {
    let mut worst = 0.0_f64;
    let count = each(|name, model, at, now| {
        let (v, a) = (stacked(&at.v), stacked(now.accelerations()));
        let kinetic = v.dot(&(now.mass_matrix().expect("small") * &a));
        // Rate of potential energy along the motion, by central differences of two steps.
        let potential = |h: f64| {
            let d = by_body(&(&v * h));
            let q: Vec<_> = at.q.iter().zip(&d).map(|(q, d)| q.moved(d)).collect();
            eval::potential(model, &eval::Plain { t: at.t, q: &q, v: &at.v, turns: &at.turns, loads: &[], z: &at.z })
        };
        let h = 1e-3 * model.length / v.amax().max(model.length);
        let slope = |h: f64| (potential(h) - potential(-h)) / (2.0 * h);
        let rate = kinetic + (4.0 * slope(0.5 * h) - slope(h)) / 3.0;
        let parts = v.dot(&now.applied()).abs().max(kinetic.abs()).max(now.power().abs()).max(1e-2 * now.energy().kinetic).max(1e-6);
        let off = (rate - now.power()).abs() / parts;
        worst = worst.max(off);
        assert!(off < 1e-5, "{name}: {rate} {} ({off:.1e})", now.power());
    });
    println!("{count} mechanisms, worst {worst:.1e}");
    assert!(count > 100, "{count}");
}

#[test]
fn inverse_dynamics_returns_the_efforts_that_act() {
    let (mut driven, mut actuated, mut free) = (0, 0, 0);
    each(|name, model, _, now| {
        let drives: Vec<&str> = model.drives.iter().map(|d| d.name.as_str()).collect();
        let acting = |f: &Force| matches!(f, Force::Actuator { .. });
        let actuators: Vec<&str> = model.forces.iter().filter(|(_, f)| acting(f)).map(|(n, _)| n.as_str()).collect();
        let names = [drives.clone(), actuators.clone()].concat();
        let found = now.inverse_dynamics(now.accelerations(), &names).unwrap_or_else(|e| panic!("{name}: {e}"));
        let size = now.applied().amax().max(now.mass_matrix().expect("small").amax() * stacked(now.accelerations()).amax())
            * model.length.max(1.0);
        for (k, n) in drives.iter().enumerate() {
            let acts = now.snapshot().drive(n).expect("a drive").effort;
            if found.unique[k] {
                assert!((found.values[k] - acts).abs() < 1e-6 * size.max(acts.abs()), "{name} {n}: {} {acts}", found.values[k]);
                driven += 1;
            }
        }
        for (n, f) in &model.forces {
            let Force::Actuator(Actuator { effort, .. }) = f else { continue };
            let s = now.snapshot();
            let i = s.instant();
            let x = eval::Plain { t: i.t, q: &i.q, v: &i.v, turns: &i.turns, loads: &[], z: &i.z };
            let acts: f64 = eval::law_value(model, effort, &x, (0.0, 0.0));
            let k = found.names.iter().position(|m| m == n).expect("asked for");
            if found.unique[k] {
                assert!((found.values[k] - acts).abs() < 1e-6 * size.max(acts.abs()), "{name} {n}: {} {acts}", found.values[k]);
                actuated += 1;
            }
        }
        // The motion continues by itself: motors on the free coordinates have zero effort.
        let coordinates = now.independent().expect("small");
        if drives.is_empty() && !coordinates.is_empty() {
            let idle = now.inverse_dynamics(now.accelerations(), &coordinates).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(idle.unique.iter().all(|u| *u), "{name}");
            assert!(idle.values.iter().all(|x| x.abs() < 1e-6 * size), "{name}: {:?} of {size}", idle.values);
            free += 1;
        }
    });
    println!("{driven} drives, {actuated} actuators, {free} free mechanisms");
    assert!(driven > 20 && actuated > 3 && free > 30, "{driven} {actuated} {free}");
}

#[test]
fn accelerations_are_those_of_every_formulation() {
    let (mut compared, mut worst) = (0, 0.0_f64);
    each(|name, model, at, now| {
        for f in FORMULATIONS.iter().filter(|f| (f.applies)(model).is_ok()) {
            let study = Study { analysis: Some(Analysis::Dynamics), formulation: Some(f.name.into()), ..Study::of(model) };
            let integrator = f.integrators[0];
            let Ok(mut motion) = (f.start)(&fourbar::Structure::new(model, at), &study, integrator, at) else { continue };
            let mut instant = Instant::new(model, at);
            if motion.instant(at.t, &mut instant).is_err() {
                continue;
            }
            let off = difference(model, now.accelerations(), &instant.a);
            worst = worst.max(off);
            assert!(off < 1e-5, "{name} {}: {off:.1e}", f.name);
            compared += 1;
        }
    });
    println!("{compared} comparisons, worst {worst:.1e}");
    assert!(compared > 800, "{compared}");
}

/// A platform on two driven cranks that one motor could move: the shares of the efforts are not unique.
#[test]
fn shared_efforts_are_the_smallest_and_said_to_be_shared() {
    let bar = |x: f64| Body::new().mass(1.0).inertia([0.1, 0.1, 0.1]).at([x, 0.0, 0.5]);
    let Z = [0.0, 1.0, 0.0];
    let model = Mechanism::new()
        .gravity([0.0, 0.0, -9.81])
        .body("left", bar(0.0))
        .body("right", bar(2.0))
        .body("table", Body::new().mass(4.0).inertia([0.1, 0.5, 0.5]).at([1.0, 0.0, 1.0]))
        .revolute("O", GROUND, "left")
        .at([0.0, 0.0, 0.0])
        .axis(Z)
        .revolute("A", "left", "table")
        .at([0.0, 0.0, 1.0])
        .axis(Z)
        .revolute("B", "table", "right")
        .at([2.0, 0.0, 1.0])
        .axis(Z)
        .revolute("C", GROUND, "right")
        .at([2.0, 0.0, 0.0])
        .axis(Z)
        .build()
        .expect("a parallelogram");
    let now = Evaluation::new(&model, &Configuration::start(&model)).expect("it stands");
    let wanted = now.accelerations_with(&[("O.angle", 3.0)]).expect("one freedom");
    let one = now.inverse_dynamics(&wanted, &["O.angle"]).expect("one motor");
    let two = now.inverse_dynamics(&wanted, &["O.angle", "C.angle"]).expect("two motors");
    // Inertia of two cranks about their pins, and of the table on their ends.
    let needed = 3.0 * (2.0 * (0.1 + 0.25) + 4.0);
    assert!((one.values[0] - needed).abs() < 1e-9 && one.unique == [true], "{one:?}");
    assert!(two.values.iter().all(|x| (x - needed / 2.0).abs() < 1e-9) && two.unique == [false, false], "{two:?}");
    // A single motor on the pin of the table can move it as well, but without a motor it is impossible.
    let error = now.inverse_dynamics::<&str>(&wanted, &[]).expect_err("nothing moves it");
    assert_eq!(error.code().0, "U338");
    // Accelerations that violate the pins of the table are rejected by name.
    let mut torn = wanted.clone();
    torn[3].v.z += 1.0;
    let error = now.inverse_dynamics(&torn, &["O.angle"]).expect_err("torn");
    assert!(error.code().0 == "U338" && error.to_string().contains("open `"), "{error}");
    assert_eq!(now.reduced_in(&["O.angle", "C.angle"]).expect_err("one freedom").code().0, "U336");
    assert_eq!(now.reduced_in(&["O.angel"]).expect_err("no such name").code().0, "U314");
}

#[test]
fn a_simulation_is_evaluated_where_it_is() {
    let model = Arc::new(model("ra_double_pendulum"));
    let mut s = Simulation::new(&model, &Study { tol: Some(1e-9), ..Study::of(&model) }).expect("it moves");
    s.advance(0.3).expect("on the way");
    let now = s.evaluate().expect("there");
    let off = difference(&model, now.accelerations(), &s.snapshot().instant().a);
    assert!(off < 1e-9, "{off:.1e}");
    assert_eq!(now.snapshot().t(), s.t());
}
