//! Formulations rp and reps: their maps against series of the rotation, their equations of motion against those of the paper evaluated with
//! dual numbers, their trajectories against rA, their order, and the passage of the singularity of Euler angles.
#![allow(non_snake_case)]

use fourbar::absolute::chart::{Chart, Ra, Rate};
use fourbar::absolute::reps::{Angles, Reps};
use fourbar::absolute::rp::{G, G_tr, Rp};
use fourbar::analysis::assembly::{Options, assemble, assemble_from};
use fourbar::constraint::Rows;
use fourbar::coordinate::PoseOf;
use fourbar::force::eval::{Plain, applied};
use fourbar::integrator::Method;
use fourbar::integrator::index3::{Memory, Stepper, index1};
use fourbar::random::Random;
use fourbar::study::Study;
use fourbar::{Model, Trajectory, Twist, Wrench};
use fourbar_math::so3::tilde;
use fourbar_math::{Dual, Scalar, Taylor};
use fourbar_testing::common::*;
use nalgebra::{Matrix3, Vector3, Vector4};

/// Coordinates of a chart as numbers, and the rotation they represent, for any scalar; not normalised, as in the paper.
trait Written: Chart {
    fn coordinates(x: &Self::Point) -> Vec<f64>;
    fn rotation<S: Scalar>(x: &Self::Point, c: &[S]) -> Matrix3<S>;
}

impl Written for Rp {
    fn coordinates(x: &Vector4<f64>) -> Vec<f64> {
        x.iter().copied().collect()
    }
    fn rotation<S: Scalar>(_x: &Vector4<f64>, c: &[S]) -> Matrix3<S> {
        // [Kissel21, Eq. (22)]: A = (2 e0^2 - 1) I + 2 (e e^T + e0 tilde(e)).
        let e = Vector3::new(c[1], c[2], c[3]);
        let two = S::of(2.0);
        Matrix3::identity() * (two * c[0] * c[0] - S::one()) + (e * e.transpose() + tilde(&e) * c[0]) * two
    }
}

impl Written for Reps {
    fn coordinates(x: &Angles) -> Vec<f64> {
        x.eps.iter().copied().collect()
    }
    fn rotation<S: Scalar>(x: &Angles, c: &[S]) -> Matrix3<S> {
        let about = |angle: S, z: bool| {
            let ((s, c), o, i) = (angle.sin_cos(), S::zero(), S::one());
            if z { Matrix3::new(c, -s, o, s, c, o, o, o, i) } else { Matrix3::new(i, o, o, o, c, -s, o, s, c) }
        };
        about(c[0], true) * about(c[1], false) * about(c[2], true) * x.R.map(S::of)
    }
}

fn angular<R: Rate>(r: &R) -> Vec<f64> {
    let mut out = Vec::new();
    r.write(&mut out);
    out.split_off(3)
}

/// Velocity and its derivative of a rotation given as a series in time: `tilde(omega_bar) = A^T A_dot`.
fn twists_of(A: &Matrix3<Taylor<3>>) -> [Vector3<f64>; 2] {
    let (A0, A1, A2) = (A.map(|x| x.c[0]), A.map(|x| x.c[1]), A.map(|x| 2.0 * x.c[2]));
    let vee = |W: Matrix3<f64>| Vector3::new(W[(2, 1)] - W[(1, 2)], W[(0, 2)] - W[(2, 0)], W[(1, 0)] - W[(0, 1)]) * 0.5;
    [vee(A0.tr_mul(&A1)), vee(A0.tr_mul(&A2) + A1.tr_mul(&A1))]
}

fn maps_hold<C: Written>() {
    let mut random = Random(7);
    for _ in 0..50 {
        let A = fourbar_math::so3::exp(&(random.vector() * 3.0));
        let x = C::enter(&A, &random.vector());
        // Rates that satisfy the constraint of the chart: those of a twist.
        let (w, w_dot) = (random.vector() * 3.0, random.vector() * 5.0);
        let v = C::rate(&x, &Twist { v: Vector3::zeros(), w });
        let a = C::second(&x, &v, &Twist { v: Vector3::zeros(), w: w_dot });
        let (c, c1, c2) = (C::coordinates(&x), angular(&v), angular(&a));
        let series: Vec<Taylor<3>> = (0..c.len()).map(|k| Taylor { c: [c[k], c1[k], 0.5 * c2[k]] }).collect();
        let A_t = C::rotation(&x, &series);
        assert!((A_t.map(|x| x.c[0]) - A).amax() < 1e-14);
        let [w_t, w_dot_t] = twists_of(&A_t);
        // Rounding of a few products, magnified by 1 / sin(theta) of at most two.
        assert!((w_t - w).amax() < 1e-13 && (w_dot_t - w_dot).amax() < 1e-12, "{}: {w_dot_t} {w_dot}", C::NAME);
        assert!((C::twist(&x, &v).w - w).amax() < 1e-13 && (C::twist_dot(&x, &v, &a).w - w_dot).amax() < 1e-12);
    }
}

#[test]
fn velocity_maps_are_those_of_the_rotation_itself() {
    maps_hold::<Rp>();
    maps_hold::<Reps>();
    // The matrix of the paper: G p = 0, G G^T = N, and its transpose is correct.
    let (p, q) = (Vector4::new(0.3, -1.2, 0.7, 0.4), Vector4::new(-0.1, 0.5, 0.9, -0.6));
    let u = Vector3::new(0.2, -0.7, 0.4);
    assert!(G(&p, &p).amax() < 1e-15 && (G(&p, &G_tr(&p, &u)) - u * p.norm_squared()).amax() < 1e-15);
    assert!((G(&p, &q).dot(&u) - q.dot(&G_tr(&p, &u))).abs() < 1e-15);
}

#[test]
fn off_the_unit_sphere_the_map_is_that_of_the_normalised_rotation() {
    let mut random = Random(3);
    for _ in 0..20 {
        let mut four = |k: f64| Vector4::from_fn(|_, _| random.number() * k);
        let (p, p1, p2) = (four(1.0) + Vector4::new(1.0, 0.0, 0.0, 0.0), four(2.0), four(3.0));
        let series: [Taylor<3>; 4] = std::array::from_fn(|k| Taylor { c: [p[k], p1[k], 0.5 * p2[k]] });
        let [w, w_dot] = twists_of(&fourbar_math::so3::from_quaternion(&series));
        let rate = |w| fourbar::absolute::chart::Wide { v: Vector3::zeros(), w };
        let scale = 1.0 + w_dot.amax();
        assert!((Rp::twist(&p, &rate(p1)).w - w).amax() < 1e-12 * scale);
        assert!((Rp::twist_dot(&p, &rate(p1), &rate(p2)).w - w_dot).amax() < 1e-12 * scale);
    }
}

#[test]
fn a_jet_carried_to_another_chart_is_the_same_motion() {
    let mut random = Random(11);
    for _ in 0..30 {
        let A = fourbar_math::so3::exp(&(random.vector() * 3.0));
        let from = Reps::enter(&A, &random.vector());
        let to = Reps::escape(&A, &random.vector());
        let mut vector = |k: f64| Twist { v: Vector3::zeros(), w: random.vector() * k };
        let jet = [vector(0.02), vector(1.0), vector(2.0), vector(3.0)];
        let new = Reps::carry(&from, &to, &jet);
        let series = |x: &Angles, j: &[Twist; 4]| {
            let c: [Taylor<4>; 3] =
                std::array::from_fn(|k| Taylor { c: [x.eps[k] + j[0].w[k], j[1].w[k], j[2].w[k] / 2.0, j[3].w[k] / 6.0] });
            Reps::rotation(x, &c)
        };
        let (a, b) = (series(&from, &jet), series(&to, &new));
        for (a, b) in a.iter().zip(b.iter()) {
            // The third derivative is a sum of some thirty products.
            assert!((0..4).all(|k| (a.c[k] - b.c[k]).abs() < 1e-11), "{a:?} {b:?}");
        }
    }
}

/// Constraints with any scalar, angles by their principal values.
fn residual<S: Scalar>(model: &Model, q: &[PoseOf<S>], f: impl Fn([f64; 3]) -> S, t: f64) -> Vec<S> {
    let lift = |a: &Vector3<f64>| a.map(S::of);
    let mut out = Vec::new();
    for c in model.constraints(true) {
        let pose = |slot: usize| &q[c.bodies[slot].index()];
        for rows in &c.rows {
            match rows {
                Rows::Point { ij, s_i, s_j } => {
                    let (i, j) = (pose(ij[0]), pose(ij[1]));
                    out.extend((j.r + j.A * lift(s_j) - i.r - i.A * lift(s_i)).iter());
                }
                Rows::Sum { terms, constant, driven } => {
                    let mut x = S::of(-constant);
                    for (k, y) in terms {
                        let [i, j] = y.slots();
                        x += S::of(*k) * y.value_of(pose(i), pose(j));
                    }
                    if let Some((k, g)) = driven.as_deref() {
                        x -= S::of(*k) * f(g.at(t));
                    }
                    out.push(x);
                }
                Rows::Direction { .. } | Rows::Rolling(_) => panic!("not a row of dynamics"),
            }
        }
    }
    out
}

/// Checks accelerations and multipliers against the equations of the paper in the coordinates of the chart: `Phi_x` by dual numbers, `Phi`
/// twice differentiated in time by a series, and the body equations as printed (with errata 16 and 17).
fn paper_equations_hold<C: Written>(
    name: &str,
    model: &Model,
    m: &Memory<C>,
    body_equation: impl Fn(usize, &Vector3<f64>) -> (Vec<f64>, Vec<f64>),
) {
    let n = C::coordinates(&m.x[1]).len();
    let constant = |b: usize| PoseOf { r: m.q[b].r.map(Dual::of), A: m.q[b].A.map(Dual::of) };
    let mut force = vec![Wrench::zero(); m.q.len()];
    applied(model, &Plain { t: m.t, q: &m.q, v: m.velocities(), turns: &m.turns, loads: &[], z: &m.carried.z }, &mut force);
    let scale = m.lambda.iter().chain(force.iter().flat_map(|f| f.F.iter())).fold(1.0_f64, |s, x| s.max(x.abs()));
    let mut q: Vec<PoseOf<Dual>> = (0..m.q.len()).map(constant).collect();
    for b in 1..m.q.len() {
        let c = C::coordinates(&m.x[b]);
        let (mass, right) = body_equation(b, &force[b].T);
        // Phi_r^T lambda and Phi_x^T lambda, a column at a time.
        for k in 0..3 + n {
            q[b] = if k < 3 {
                PoseOf { r: Vector3::from_fn(|i, _| Taylor::with_slope(m.q[b].r[i], f64::from(i == k))), A: m.q[b].A.map(Dual::of) }
            } else {
                let c: Vec<Dual> = (0..n).map(|i| Taylor::with_slope(c[i], f64::from(i == k - 3))).collect();
                PoseOf { r: m.q[b].r.map(Dual::of), A: C::rotation(&m.x[b], &c) }
            };
            let Phi = residual(model, &q, |f| Dual::of(f[0]), m.t);
            let reaction: f64 = Phi.iter().zip(&m.lambda).map(|(p, l)| p.c[1] * l).sum();
            let rest = if k < 3 {
                model.bodies[b].mass * m.v_dot[b].linear()[k] + reaction - force[b].F[k]
            } else {
                mass[k - 3] + reaction - right[k - 3]
            };
            // The residual of the equations of Euler parameters is the multiplier of the norm constraint times p.
            if C::OWN && k >= 3 {
                continue;
            }
            assert!(rest.abs() < 1e-9 * scale, "{name}, {}: body {b}, equation {k}: {rest:.2e} of {scale:.2e}", C::NAME);
        }
        if C::OWN {
            let left: Vec<f64> = (0..n)
                .map(|k| {
                    let c: Vec<Dual> = (0..n).map(|i| Taylor::with_slope(c[i], f64::from(i == k))).collect();
                    q[b] = PoseOf { r: m.q[b].r.map(Dual::of), A: C::rotation(&m.x[b], &c) };
                    let Phi = residual(model, &q, |f| Dual::of(f[0]), m.t);
                    mass[k] + Phi.iter().zip(&m.lambda).map(|(p, l)| p.c[1] * l).sum::<f64>() - right[k]
                })
                .collect();
            // The paper's lambda_p balances the component along p, and no other component remains.
            let lambda_p = -left.iter().zip(&c).map(|(l, p)| l * p).sum::<f64>();
            for k in 0..n {
                assert!((left[k] + lambda_p * c[k]).abs() < 1e-9 * scale, "{name}: body {b}, equation of p{k}: {left:?}");
            }
        }
        q[b] = constant(b);
    }
    // The constraints stay closed to second order along the motion.
    let moving: Vec<PoseOf<Taylor<3>>> = (0..m.q.len())
        .map(|b| {
            if b == 0 {
                return PoseOf { r: m.q[0].r.map(Taylor::of), A: m.q[0].A.map(Taylor::of) };
            }
            let (c, c1, c2) = (C::coordinates(&m.x[b]), angular(&m.v[b]), angular(&m.v_dot[b]));
            let x: Vec<Taylor<3>> = (0..n).map(|k| Taylor { c: [c[k], c1[k], 0.5 * c2[k]] }).collect();
            let (v, a) = (m.v[b].linear(), m.v_dot[b].linear());
            PoseOf { r: Vector3::from_fn(|k, _| Taylor { c: [m.q[b].r[k], v[k], 0.5 * a[k]] }), A: C::rotation(&m.x[b], &x) }
        })
        .collect();
    let size = m.accelerations().iter().fold(1.0_f64, |s, a| s.max(a.v.amax()).max(model.length * a.w.amax()));
    for p in residual(model, &moving, |f| Taylor { c: [f[0], f[1], 0.5 * f[2]] }, m.t) {
        assert!((2.0 * p.c[2]).abs() < 1e-9 * size, "{name}, {}: acceleration constraint off by {:.2e}", C::NAME, 2.0 * p.c[2]);
    }
}

#[test]
fn at_random_states_accelerations_and_multipliers_satisfy_the_paper_s_equations_and_equal_those_of_rA() {
    let mut checked = 0;
    for name in shipped() {
        let model = model(&name);
        // Rolling rows have no position level, and load-dependent friction makes the force depend on the multipliers.
        let friction = model.forces.iter().any(|(_, f)| matches!(f, fourbar::force::Force::Friction(_)));
        if !model.rolling.is_empty() || friction {
            continue;
        }
        let mut start = assemble(&model).expect("assembles").configuration;
        let mut random = Random(23);
        random.disturb(&mut start.q, &vec![false; model.bodies.len()], 0.05 * model.length, 0.2);
        for v in start.v.iter_mut().skip(1) {
            *v = v.plus(&Twist { v: random.vector(), w: random.vector() });
        }
        // Some mechanisms have no pose near a disturbed one.
        let Ok(a) = assemble_from(&model, &start, Options::default()) else { continue };
        let start = a.configuration;
        let method = Method::GenAlpha { rho: 0.8 };
        let mut ra = Stepper::<Ra>::in_chart(&model, &start, method);
        // Velocities projected well below the tolerance of this test.
        ra.equations.jacobian(&start.q);
        ra.equations.factor(1.0);
        let mut start = start;
        ra.equations.project_velocity(0.0, &mut start.v);
        let mut ra = Stepper::<Ra>::in_chart(&model, &start, method);
        index1(&mut ra.equations, &mut ra.memory);
        let mut rp = Stepper::<Rp>::in_chart(&model, &start, method);
        index1(&mut rp.equations, &mut rp.memory);
        let mut reps = Stepper::<Reps>::in_chart(&model, &start, method);
        index1(&mut reps.equations, &mut reps.memory);
        let lambda = ra.memory.lambda.iter().fold(1.0_f64, |s, l| s.max(l.abs()));
        let size = ra.memory.v_dot.iter().fold(1.0_f64, |s, a| s.max(a.v.amax()).max(model.length * a.w.amax()));
        for (what, a, l) in
            [("rp", rp.memory.accelerations(), &rp.memory.lambda), ("reps", reps.memory.accelerations(), &reps.memory.lambda)]
        {
            for (x, y) in l.iter().zip(&ra.memory.lambda) {
                assert!((x - y).abs() < 1e-9 * lambda, "{name}, {what}: multiplier {x} against {y}");
            }
            for (x, y) in a.iter().zip(&ra.memory.v_dot).skip(1) {
                let d = (x.v - y.v).amax().max(model.length * (x.w - y.w).amax());
                assert!(d < 1e-9 * size, "{name}, {what}: acceleration {d:.2e}");
            }
        }
        let m = &rp.memory;
        paper_equations_hold::<Rp>(&name, &model, m, |b, torque| {
            // 4 G^T J G p_ddot = 2 G^T n + 8 G'^T J G' p with G' = G(p_dot).
            let (p, p1, p2, J) = (&m.x[b], &m.v[b].w, &m.v_dot[b].w, &model.bodies[b].J_bar);
            let left = G_tr(p, &(J * G(p, p2))) * 4.0;
            let right = G_tr(p, torque) * 2.0 + G_tr(p1, &(J * G(p1, p))) * 8.0;
            (left.iter().copied().collect(), right.iter().copied().collect())
        });
        let m = &reps.memory;
        paper_equations_hold::<Reps>(&name, &model, m, |b, torque| {
            // B^T (J (B eps_ddot + B_dot eps_dot) + omega x J omega) = B^T n, columns of B by unit rates.
            let (J, w, w_dot) = (&model.bodies[b].J_bar, m.velocities()[b].w, m.accelerations()[b].w);
            let left = J * w_dot + w.cross(&(J * w));
            let column = |k: usize| {
                let mut e = Twist::zero();
                e.w[k] = 1.0;
                Reps::twist(&m.x[b], &e).w
            };
            ((0..3).map(|k| column(k).dot(&left)).collect(), (0..3).map(|k| column(k).dot(torque)).collect())
        });
        checked += 1;
    }
    assert!(checked > 30, "only {checked} models were checked");
}

fn study(model: &Model, formulation: &str, integrator: &str, h: f64, t_end: f64, outputs: usize) -> Study {
    Study {
        formulation: Some(formulation.into()),
        integrator: Some(integrator.into()),
        analysis: Some(fourbar::study::Analysis::Dynamics),
        step: Some(h),
        t_end,
        output_step: t_end / outputs as f64,
        ..Study::of(model)
    }
}

fn is_state(c: &str) -> bool {
    [".r.", ".p.", ".v.", ".omega."].iter().any(|k| c.contains(k))
}

/// Largest difference of two runs relative to the largest value of its kind of column.
fn difference(a: &Trajectory, b: &Trajectory, from: f64, choose: impl Fn(&str) -> bool) -> f64 {
    let columns: Vec<usize> = (0..a.columns.len()).filter(|&k| choose(&a.columns[k].name)).collect();
    assert!(!columns.is_empty());
    (0..a.len())
        .filter(|&i| a.row(i)[0] >= from)
        .flat_map(|i| columns.iter().map(move |&k| (i, k)))
        .map(|(i, k)| (a.row(i)[k] - b.row(i)[k]).abs())
        .fold(0.0, f64::max)
}

#[test]
fn every_shipped_model_moves_as_with_rA_within_the_error_of_the_method() {
    for name in shipped() {
        let model = model(&name);
        let t_end = 0.1 * Study::of(&model).t_end.min(2.0);
        let h = t_end / 50.0;
        let at = |formulation: &str, h: f64| run(&model, &study(&model, formulation, "gen-alpha", h, t_end, 5)).0;
        let (coarse, fine) = (at("ra", h), at("ra", 0.5 * h));
        // The error of rA is 4/3 of what halving the step changes; others have constants of their own, of the same size.
        let error = difference(&coarse, &fine, 0.0, is_state);
        let size = fine.values.iter().flatten().fold(1.0_f64, |s, x| s.max(x.abs()));
        for formulation in ["rp", "reps"] {
            let other = at(formulation, h);
            let d = difference(&other, &coarse, 0.0, is_state);
            // Wheels at constant speed have no error in rA; then the error of the other formulation counts.
            let own = if error < 1e-12 * size { difference(&other, &at(formulation, 0.5 * h), 0.0, is_state) } else { 0.0 };
            let error = error.max(own);
            assert!(d < 10.0 * error + 1e-9 * size, "{name}, {formulation}: {d:.2e} from rA, whose error is {error:.2e}");
        }
    }
}

fn loop_with_forces() -> Model {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/nc_rscr.yaml")).expect("shipped");
    let forces = "forces:\n  pull: {type: spring, between: [{body: part2}, {body: ground, at: [0.3, 0.4, 0.5]}], stiffness: 40, length: 0.5, damping: 0.8}\n  motor_torque: {type: actuator, joint: J1, effort: 2*sin(5*t) - 0.05*J1.speed}\n";
    parse(&format!("{text}\n{forces}"))
}

#[test]
fn both_charts_show_the_order_of_every_integrator() {
    let is_reaction = |c: &str| c.contains(".force.") || c.contains(".torque.");
    let cases = [("double pendulum", model("ra_double_pendulum"), 2e-3, 1.0), ("loop with forces", loop_with_forces(), 1e-3, 0.5)];
    for (what, model, h, t_end) in cases {
        for (integrator, expected) in [("gen-alpha", 2.0), ("bdf2", 2.0), ("backward-euler", 1.0)] {
            for formulation in ["rp", "reps"] {
                // First order shows its asymptote only at smaller steps.
                let h = if expected == 1.0 { 0.1 * h } else { h };
                let t = [1.0, 0.5, 0.25].map(|k| run(&model, &study(&model, formulation, integrator, k * h, t_end, 10)).0);
                let order = |from: f64, choose: &dyn Fn(&str) -> bool| {
                    (difference(&t[0], &t[1], from, choose) / difference(&t[1], &t[2], from, choose)).log2()
                };
                for (quantity, observed) in [("states", order(0.0, &is_state)), ("reactions", order(0.2 * t_end, &is_reaction))] {
                    assert!((observed - expected).abs() <= 0.1, "{what}, {formulation}, {integrator}, {quantity}: order {observed:.3}");
                }
            }
        }
    }
}

/// Error of the multipliers of the method after `n` steps of size `h`, against index 1 at the same state.
fn own_multiplier_error<C: Chart>(model: &Model, h: f64, n: usize) -> (f64, usize) {
    let start = assemble(model).expect("assembles").configuration;
    let mut s = Stepper::<C>::in_chart(model, &start, Method::GenAlpha { rho: 0.8 });
    s.start(h);
    for _ in 0..n {
        s.attempt(h).and_then(|()| s.accept(h)).expect("steps");
    }
    let m = &s.memory;
    let (t, q, mut v, turns) = (m.t, m.q.clone(), m.velocities().to_vec(), m.turns.clone());
    s.equations.jacobian(&q);
    s.equations.factor(1.0);
    s.equations.project_velocity(t, &mut v);
    let (mut a, mut lambda) = (m.accelerations().to_vec(), m.lambda.clone());
    s.equations.index1(&q, &v, &turns, t, &mut a, &mut lambda);
    (lambda.iter().zip(&s.memory.lambda).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max), s.work.recharts)
}

#[test]
fn the_method_s_own_multipliers_are_second_order_from_the_first_step() {
    fn check<C: Chart>() {
        let model = model("lie_closed_3bar");
        let errors = [1e-3, 5e-4, 2.5e-4].map(|h| own_multiplier_error::<C>(&model, h, 1).0);
        let order = (errors[1] / errors[2]).log2();
        assert!((order - 2.0).abs() < 0.2, "{}: {errors:?}: order {order:.2}", C::NAME);
    }
    check::<Rp>();
    check::<Reps>();
}

/// A symmetric body in free flight, whose regular precession brings any of its axes near the world's z axis.
const PRECESSING: &str = "
fourbar: 1
gravity: [0, 0, 0]
bodies: {top: {mass: 1, inertia: [1, 1, 2], at: [0, 0, 0], omega: [1, 1, 1.2]}}
";

#[test]
fn a_long_tumble_passes_the_singularity_of_euler_angles_many_times_with_the_order_kept() {
    let model = parse(PRECESSING);
    // Closed form: the body rates turn about the axis of symmetry, which itself turns about the angular momentum.
    let exact = |t: f64| {
        let momentum = Vector3::new(1.0, 1.0, 2.4);
        fourbar_math::so3::exp(&(momentum * t)) * fourbar_math::so3::exp(&(Vector3::z() * (-1.2 * t)))
    };
    for (integrator, expected, h, t_end) in
        [("gen-alpha", 2.0, 4e-3, 100.0), ("bdf2", 2.0, 4e-3, 100.0), ("backward-euler", 1.0, 1e-3, 20.0)]
    {
        let errors = [1.0, 0.5, 0.25].map(|k| {
            // The Newton residuals accumulate in the velocities over 1e5 steps, so iterate to rounding.
            let options = vec![("theta".to_string(), "1e-15".to_string())];
            let (t, report) = run(&model, &Study { options, ..study(&model, "reps", integrator, k * h, t_end, 50) });
            let recharts = report.work.iter().find(|(n, _)| *n == "changes_of_chart").expect("counted").1;
            // About one change in four seconds.
            assert!(recharts >= 0.2 * t_end, "{integrator}: only {recharts} changes of chart");
            let first = t.find("top.p.0").expect("column");
            (0..t.len()).fold(0.0_f64, |worst, i| {
                let row = t.row(i);
                let A = fourbar_math::so3::from_quaternion(&[row[first], row[first + 1], row[first + 2], row[first + 3]]);
                worst.max((A - exact(row[0])).amax())
            })
        });
        let order = (errors[1] / errors[2]).log2();
        assert!((order - expected).abs() < 0.1, "{integrator}: order {order:.3} through changes of chart, errors {errors:?}");
    }
}

#[test]
fn multipliers_stay_second_order_across_a_change_of_chart() {
    let model = model("lie_closed_3bar");
    let start = assemble(&model).expect("assembles").configuration;
    // Errors in the four steps after the first change of chart, at three step sizes.
    let after = [1e-3, 5e-4, 2.5e-4].map(|h| {
        let mut s = Stepper::<Reps>::in_chart(&model, &start, Method::GenAlpha { rho: 0.8 });
        s.start(h);
        let mut n = 0;
        while s.work.recharts == 0 {
            s.attempt(h).and_then(|()| s.accept(h)).expect("steps");
            n += 1;
            assert!(n < 2000, "no change of chart");
        }
        [1, 2, 3, 4].map(|k| own_multiplier_error::<Reps>(&model, h, n + k).0)
    });
    for k in 0..4 {
        let order = (after[1][k] / after[2][k]).log2();
        assert!((order - 2.0).abs() < 0.1, "step {} after the change: order {order:.2}, {after:?}", k + 1);
    }
}

#[test]
fn without_a_change_of_chart_the_singularity_is_reported() {
    let model = model("nc_free_top");
    let option = vec![("rechart".to_string(), "0".to_string())];
    // This body starts unrotated.
    let kept = Study { options: option.clone(), ..study(&model, "reps", "gen-alpha", 1e-2, 10.0, 10) };
    let f = fourbar::study::run(&model, &kept, &mut Trajectory::default()).expect_err("singular at the start");
    assert_eq!(f.diagnostic.code.0, "S234");
    assert!(f.diagnostic.message.contains("`top`"), "{}", f.diagnostic);
    // A pendulum that swings its body axis through the vertical.
    let text = "
fourbar: 1
gravity: [0, 0, 0]
bodies: {bar: {mass: 1, inertia: [0.1, 0.2, 0.3], at: [0, 0, 0], orientation: {axis: [1, 0, 0], angle: 1}, omega: [-2, 0, 0]}}
joints: {pin: {type: revolute, bodies: [ground, bar], at: [0, 0, 0], axis: [1, 0, 0]}}
";
    let model = parse(text);
    let mut kept = study(&model, "reps", "gen-alpha", 1e-2, 1.0, 10);
    let free = run(&model, &kept);
    assert!(free.1.notes.iter().any(|n| n.contains("another reference frame, 1 time")), "{:?}", free.1.notes);
    let angle = 1.0 - 2.0 * 1.0_f64;
    let p = free.0.find("bar.p.1").expect("column");
    assert!((free.0.row(free.0.len() - 1)[p] - (0.5 * angle).sin()).abs() < 1e-12, "a steady rotation is exact");
    kept.options = option;
    let f = fourbar::study::run(&model, &kept, &mut Trajectory::default()).expect_err("theta meets zero at 0.5 s");
    assert_eq!(f.diagnostic.code.0, "S230");
    assert!(f.diagnostic.message.contains("Euler angles of `bar`"), "{}", f.diagnostic);
}

#[test]
fn euler_parameters_keep_unit_length_to_rounding() {
    for integrator in ["gen-alpha", "bdf2", "backward-euler"] {
        let model = model("nc_free_top");
        let (_, report) = run(&model, &study(&model, "rp", integrator, 5e-3, 20.0, 10));
        let norm = report.work.iter().find(|(n, _)| *n == "largest_norm_error").expect("told").1;
        assert!(norm < 1e-15, "{integrator}: {norm:.1e}");
    }
}

#[test]
fn adaptive_runs_and_the_stabilised_form_work_in_every_chart() {
    let r = reference("ra_double_pendulum");
    let model = model("ra_double_pendulum");
    let position = |c: &str| c.ends_with(".x") || c.ends_with(".y") || c.ends_with(".z");
    let error = |formulation: &str, options: &[(&str, &str)]| {
        let options = options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let study = Study { options, step: None, tol: Some(1e-7), t_end: 2.0, ..study(&model, formulation, "gen-alpha", 1.0, 2.0, 200) };
        worst(&run(&model, &study).0, &r, 2.0, position).0
    };
    let ra = error("ra", &[]);
    for formulation in ["rp", "reps"] {
        for options in [&[][..], &[("index", "2")][..]] {
            let e = error(formulation, options);
            // The same tolerance, so the same error up to the constants of the method in these coordinates.
            assert!(e < 5.0 * ra, "{formulation} {options:?}: {e:.2e} against {ra:.2e} of rA");
        }
    }
}

#[test]
fn stiff_mechanisms_use_the_exact_matrix_of_the_chart() {
    let model = model("a05_flyball_governor");
    for formulation in ["rp", "reps"] {
        let (t, report) = run(&model, &study(&model, formulation, "gen-alpha", 1e-3, 0.5, 5));
        let exact = report.work.iter().find(|(n, _)| *n == "steps_with_exact_matrix").expect("counted").1;
        let ra = run(&model, &study(&model, "ra", "gen-alpha", 1e-3, 0.5, 5)).0;
        let fine = run(&model, &study(&model, "ra", "gen-alpha", 5e-4, 0.5, 5)).0;
        let d = difference(&t, &ra, 0.0, is_state);
        assert!(exact > 0.0, "{formulation}: no step used the exact matrix");
        assert!(d < 10.0 * difference(&ra, &fine, 0.0, is_state), "{formulation}: {d:.2e}");
    }
}

#[test]
fn kinematics_in_every_chart_follows_the_references() {
    for (name, tolerance) in [("ra_single_pendulum", 1e-10), ("ra_slider_crank", 1e-9), ("ra_four_link", 1e-9)] {
        let (model, r) = (model(name), reference(name));
        for formulation in ["rp", "reps"] {
            let study = Study { formulation: Some(formulation.into()), ..Study::of(&model) };
            let (t, report) = run(&model, &study);
            assert_eq!(report.formulation, formulation);
            let (error, compared) = worst(&t, &r, 3.0, |_| true);
            assert!(
                compared > 100 && error < tolerance * r.rows.iter().flatten().fold(1.0, |s: f64, x| s.max(x.abs())),
                "{name}, {formulation}: {error:.2e}"
            );
        }
    }
}

#[test]
fn resuming_continues_the_same_run_in_every_chart() {
    let model = model("nc_free_top");
    for formulation in ["rp", "reps"] {
        for (integrator, step) in [("gen-alpha", Some(5e-3)), ("bdf2", Some(5e-3)), ("gen-alpha", None)] {
            let study = Study { step, tol: Some(1e-5), ..study(&model, formulation, integrator, 1.0, 4.0, 20) };
            assert_resumes(&model, &study, 9, &format!("{formulation} {integrator} {step:?}"));
        }
    }
}

#[test]
fn mechanisms_of_bare_primitives_have_the_counts_of_table_7_and_move_as_their_joints_do() {
    for (name, counts) in [("ra_single_pendulum", [3, 3, 0, 0]), ("ra_four_link", [12, 6, 0, 0]), ("ra_slider_crank", [6, 7, 4, 1])] {
        let (joints, bare) = (model(name), model(&format!("{name}_primitives")));
        let found = ["cd", "dp1", "dp2", "d"].map(|k| bare.bare.iter().filter(|b| b.kind == k).count());
        assert_eq!(found, counts, "{name}");
        assert!(bare.joints.is_empty() && bare.drives.is_empty());
        let r = reference(name);
        for formulation in ["ra", "rp", "reps"] {
            // With a given step, work is summed over the same steps in both runs.
            let with = |m: &Model| {
                let of_file = Study::of(m);
                Study { formulation: Some(formulation.into()), step: Some(of_file.output_step), ..of_file }
            };
            let (t, _) = run(&bare, &with(&bare));
            let scale = r.rows.iter().flatten().fold(1.0, |s: f64, x| s.max(x.abs()));
            let (error, compared) = worst(&t, &r, 3.0, |c| !c.starts_with("tau"));
            assert!(compared > 100 && error < 1e-9 * scale, "{name}, {formulation}: kinematics {error:.2e}");
            // The power of the drive is torque times speed, whatever the present meaning of its multiplier.
            let (j, _) = run(&joints, &with(&joints));
            let work = |t: &Trajectory| {
                let k = t.find("energy.work").expect("column");
                (0..t.len()).map(|i| t.row(i)[k]).collect::<Vec<f64>>()
            };
            let (a, b) = (work(&t), work(&j));
            let size = b.iter().fold(1e-3, |s: f64, x| s.max(x.abs()));
            assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-9 * size), "{name}, {formulation}: work of the drive");
            // Dynamics passes the changes of the reference direction too; its rows are projected, so the motion is exact.
            let (t, _) = run(&bare, &study(&bare, formulation, "gen-alpha", 5e-3, 3.0, 300));
            let (error, compared) = worst(&t, &r, 3.0, |c| !c.starts_with("tau") && !c.contains(".al") && !c.contains(".a"));
            assert!(compared > 100 && error < 1e-8 * scale, "{name}, {formulation}: dynamics {error:.2e}");
        }
    }
}

#[test]
fn half_of_another_reference_direction_is_refused() {
    let text = "
fourbar: 1
bodies: {bar: {mass: 1, inertia: [1, 1, 1]}}
constraints: {c: {type: dp1, axes: [{body: ground, at: [0, 0, 1]}, {body: bar, at: [0, 1, 0]}], value: sin(t), other_axis: [0, 1, 0]}}
";
    let e = fourbar_io::read_model(text, &fourbar_io::ReadOptions::default()).expect_err("refused");
    assert!(e.iter().any(|d| d.message.contains("has `other_axis` but no `other_value`")));
}
