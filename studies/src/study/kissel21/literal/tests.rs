//! Every formula compared with automatic differentiation at random states, and the three systems with each other and with the engine.

use super::gcon::{At, Kind, Moving};
use super::rotation::{Angles, M, Matrices, Parameters, Rotation, V};
use super::system::{Mechanism, Newton, System};
use super::{ALL, Case, Run, dynamics, kinematics, operations, sizes};
use fourbar::kinematics::Kinematics;
use fourbar::random::Random;
use fourbar_bench::shipped;
use fourbar_math::so3::tilde;
use fourbar_math::{Dual, Scalar, Taylor};
use nalgebra::SVector;

const SEED: u64 = 20_21;

/// Four kinds with random data.
fn kinds(random: &mut Random) -> [Kind; 4] {
    let mut v = || random.vector();
    [
        Kind::Dp1 { a_i: v(), a_j: v() },
        Kind::Dp2 { a_i: v(), s_i: v(), s_j: v() },
        Kind::D { s_i: v(), s_j: v() },
        Kind::Cd { c: v(), s_i: v(), s_j: v() },
    ]
}

/// A rotation whose coordinates move along a direction.
trait Varied<const X: usize>: Rotation<X> {
    fn along<S: Scalar>(x: &Self::Point<f64>, d: &SVector<S, X>) -> Self::Point<S>;
    fn random(random: &mut Random) -> Self::Point<f64>;
}

impl Varied<3> for Matrices {
    fn along<S: Scalar>(x: &M<f64>, d: &V<S>) -> M<S> {
        // Only derivatives up to second order are used.
        let t = tilde(d);
        x.map(S::of) * (M::identity() + t + t * t * S::of(0.5))
    }
    fn random(random: &mut Random) -> M<f64> {
        fourbar_math::so3::exp(&random.vector())
    }
}

impl Varied<4> for Parameters {
    fn along<S: Scalar>(x: &nalgebra::Vector4<f64>, d: &nalgebra::Vector4<S>) -> nalgebra::Vector4<S> {
        x.map(S::of) + d
    }
    fn random(random: &mut Random) -> nalgebra::Vector4<f64> {
        // Also off the unit sphere: the formulas are those of Eq. (22) as written.
        nalgebra::Vector4::from_fn(|_, _| random.number())
    }
}

impl Varied<3> for Angles {
    fn along<S: Scalar>(x: &V<f64>, d: &V<S>) -> V<S> {
        x.map(S::of) + d
    }
    fn random(random: &mut Random) -> V<f64> {
        random.vector()
    }
}

fn at<S: Scalar, R: Rotation<X>, const X: usize>(r: V<S>, x: &R::Point<S>) -> At<S, R, X> {
    At { r, frame: R::frame::<S>(x) }
}

/// A unit direction: three for each position, `X` for each rotation.
fn unit<S: Scalar, const X: usize>(k: usize, slope: S) -> [(V<S>, SVector<S, X>); 2] {
    let mut d = [(V::zeros(), SVector::zeros()); 2];
    let (side, c) = (k / (3 + X), k % (3 + X));
    if c < 3 {
        d[side].0[c] = slope
    } else {
        d[side].1[c - 3] = slope
    }
    d
}

fn close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() < 1e-11 * (1.0 + a.abs().max(b.abs())), "{what}: {a} {b}");
}

/// Rows, right-hand sides and derivatives of reactions of all four constraints.
fn constraints<R: Varied<X>, const X: usize>() {
    let mut random = Random(SEED);
    for _ in 0..20 {
        for kind in kinds(&mut random) {
            let what = format!("{} {kind:?}", R::NAME);
            let r = [random.vector(), random.vector()];
            let x = [R::random(&mut random), R::random(&mut random)];
            let here = [0, 1].map(|k| at::<f64, R, X>(r[k], &R::along::<f64>(&x[k], &SVector::zeros())));
            let row = kind.row([&here[0], &here[1]]);
            let lambda = random.number();
            let bend = [R::bend::<f64>(&here[0].frame), R::bend::<f64>(&here[1].frame)];
            let v = kind.variation([&here[0], &here[1]], [&bend[0], &bend[1]], lambda);
            for k in 0..2 * (3 + X) {
                let d = unit::<Dual, X>(k, Dual::variable(0.0));
                let there = [0, 1].map(|k| at::<Dual, R, X>(r[k].map(Dual::of) + d[k].0, &R::along::<Dual>(&x[k], &d[k].1)));
                let pair = [&there[0], &there[1]];
                let (side, c) = (k / (3 + X), k % (3 + X));
                let own = if c < 3 { row.r[side][c] } else { row.x[side][c - 3] };
                close(own, kind.value(pair).c[1], &what);
                // The derivative of the reaction on every part along this direction.
                let varied = kind.row(pair);
                for i in 0..2 {
                    for e in 0..3 {
                        let own = if c < 3 { if e == c { v.rr[i][side] } else { 0.0 } } else { v.rx[i][side][(e, c - 3)] };
                        close(own, lambda * varied.r[i][e].c[1], &what);
                    }
                    for e in 0..X {
                        let own = if c < 3 { v.xr[i][side][(e, c)] } else { v.xx[i][side][(e, c - 3)] };
                        close(own, lambda * varied.x[i][e].c[1], &what);
                    }
                }
            }
            // The second derivative along a motion without accelerations.
            let speed = [random.vector(), random.vector()];
            let rate: [SVector<f64, X>; 2] = std::array::from_fn(|_| SVector::from_fn(|_, _| random.number()));
            let t = Taylor::<3>::variable(0.0);
            let there = [0, 1].map(|k| {
                let place = r[k].map(Taylor::<3>::of) + speed[k].map(|v| t * v);
                at::<Taylor<3>, R, X>(place, &R::along::<Taylor<3>>(&x[k], &rate[k].map(|v| t * v)))
            });
            let m = [0, 1].map(|k| Moving::<f64, R, X> { v: speed[k], rate: rate[k], spin: R::spin::<f64>(&here[k].frame, &rate[k]) });
            let gamma = kind.gamma([&here[0], &here[1]], [&m[0], &m[1]]);
            close(gamma, -kind.value([&there[0], &there[1]]).derivative(2), &what);
        }
    }
}

#[test]
fn rows_right_hand_sides_and_reactions_are_derivatives() {
    constraints::<Matrices, 3>();
    constraints::<Parameters, 4>();
    constraints::<Angles, 3>();
}

/// The equations of rotation: their derivatives, and their equivalence to Euler's equations.
fn turning<R: Varied<X>, const X: usize>() {
    let mut random = Random(SEED + 1);
    for _ in 0..20 {
        let x = R::random(&mut random);
        let mut numbers = || SVector::<f64, X>::from_fn(|_, _| random.number());
        let (rate, acceleration) = (numbers(), numbers());
        let J = M::new(2.0, 0.1, 0.3, 0.1, 3.0, -0.2, 0.3, -0.2, 1.5);
        let J_dual = J.map(Dual::of);
        let own = R::turning::<f64>(&R::frame::<f64>(&R::along::<f64>(&x, &SVector::zeros())), &rate, &acceleration, &J);
        for k in 0..X {
            let e = SVector::<Dual, X>::from_fn(|i, _| if i == k { Dual::variable(0.0) } else { Dual::of(0.0) });
            let (x0, v0, a0) = (R::along::<Dual>(&x, &SVector::<Dual, X>::zeros()), rate.map(Dual::of), acceleration.map(Dual::of));
            let by_x = R::turning::<Dual>(&R::frame::<Dual>(&R::along::<Dual>(&x, &e)), &v0, &a0, &J_dual).residual;
            let by_rate = R::turning::<Dual>(&R::frame::<Dual>(&x0), &(v0 + e), &a0, &J_dual).residual;
            let by_acceleration = R::turning::<Dual>(&R::frame::<Dual>(&x0), &v0, &(a0 + e), &J_dual).residual;
            for i in 0..X {
                close(own.by_x[(i, k)], by_x[i].c[1], R::NAME);
                close(own.by_rate[(i, k)], by_rate[i].c[1], R::NAME);
                close(own.by_acceleration[(i, k)], by_acceleration[i].c[1], R::NAME);
            }
        }
    }
}

#[test]
fn the_equations_of_rotation_and_their_derivatives() {
    turning::<Matrices, 3>();
    turning::<Parameters, 4>();
    turning::<Angles, 3>();
    euler::<Matrices, 3>(|_, _, a| a);
    // Motions on the unit sphere: rates tangential to it, second derivatives that stay on it.
    euler::<Parameters, 4>(|p, rate, a| a - p * (p.dot(&a) + rate.norm_squared()));
    euler::<Angles, 3>(|_, _, a| a);
}

/// The equations of rotation are equivalent to Euler's: their residual is the power of the torque for each unit rate, and for Euler
/// parameters additionally a multiple of p, which is balanced by the multiplier of the norm.
fn euler<R: Varied<X>, const X: usize>(second: impl Fn(SVector<f64, X>, SVector<f64, X>, SVector<f64, X>) -> SVector<f64, X>) {
    let mut random = Random(SEED + 2);
    let J = M::from_diagonal(&V::new(2.0, 3.0, 1.5));
    for _ in 0..20 {
        let x = R::enter::<f64>(&fourbar_math::so3::exp(&random.vector()));
        let p = R::values::<f64>(&x);
        let mut numbers = || SVector::<f64, X>::from_fn(|_, _| random.number());
        let drawn = numbers();
        let rate = if R::NORM { drawn - p * p.dot(&drawn) } else { drawn };
        let acceleration = second(p, rate, numbers());
        let t = Taylor::<3>::variable(0.0);
        let moved = R::along::<Taylor<3>>(&x, &SVector::from_fn(|i, _| t * rate[i] + t * t * (0.5 * acceleration[i])));
        let A = R::matrix::<Taylor<3>>(&R::frame::<Taylor<3>>(&moved));
        let [A0, A1, A2] = [0, 1, 2].map(|k| A.map(|a| a.derivative(k)));
        let vee = |m: M<f64>| V::new(m[(2, 1)] - m[(1, 2)], m[(0, 2)] - m[(2, 0)], m[(1, 0)] - m[(0, 1)]) * 0.5;
        let (w, w_dot) = (vee(A0.transpose() * A1), vee(A0.transpose() * A2 + A1.transpose() * A1));
        let torque = J * w_dot + w.cross(&(J * w));
        let frame = R::frame::<f64>(&x);
        let own = R::turning::<f64>(&frame, &rate, &acceleration, &J).residual;
        // The derivatives of the matrix with respect to each coordinate, column by column.
        let slopes = [0, 1, 2].map(|k| R::slope::<f64>(&frame, &V::ith(k, 1.0)));
        let truth = SVector::<f64, X>::from_fn(|k, _| {
            let by = M::from_columns(&[0, 1, 2].map(|c| V::from(slopes[c].column(k))));
            torque.dot(&vee(A0.transpose() * by))
        });
        let left = own - truth;
        let left = if R::NORM { left - p * p.dot(&left) } else { left };
        assert!(left.amax() < 1e-11 * (1.0 + truth.amax()), "{}: {left}", R::NAME);
    }
}

/// The angles reproduce their matrix, also if the z axis is vertical, as on ground.
#[test]
fn angles_give_their_matrix_back() {
    let mut random = Random(SEED + 3);
    let about = |axis: V<f64>| fourbar_math::so3::exp(&axis);
    let half = std::f64::consts::PI;
    let mut list = vec![M::identity(), about(V::z() * 0.7), about(V::x() * half), about(V::z() * -2.1) * about(V::y() * half)];
    list.extend((0..20).map(|_| about(random.vector())));
    for A in list {
        let own = Angles::frame::<f64>(&Angles::enter::<f64>(&A));
        assert!((Angles::matrix::<f64>(&own) - A).amax() < 1e-12, "{A}");
    }
}

fn cases() -> Vec<Case> {
    super::super::cases().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn unknowns_are_as_many_as_in_the_paper() {
    for case in cases() {
        let (nb, nc) = (case.plain.bodies.len() - 1, case.plain.gcons.len());
        assert_eq!(ALL.map(|f| sizes(f, &case)), [[6 * nb, 6 * nb + nc], [7 * nb, 8 * nb + nc], [6 * nb, 6 * nb + nc]], "{}", case.name);
    }
    let counts: Vec<[usize; 4]> = cases().iter().map(Case::counts).collect();
    assert_eq!(counts, [[3, 3, 0, 0], [6, 4, 0, 0], [12, 6, 0, 0], [6, 7, 4, 1]]);
}

/// Positions, velocities and accelerations of the driven mechanisms with all three formulations, compared with the engine.
#[test]
fn kinematics_agree_with_the_engine() {
    fn run<R: Rotation<X>, const X: usize>(m: &Mechanism, truth: &Kinematics<'_>) {
        for newton in [Newton::Kept, Newton::Full, Newton::Predicted] {
            let mut s = System::<f64, R, X>::new(m);
            for k in 1..=70 {
                s.drive_to(0.01 * k as f64, newton, 1e-11).unwrap_or_else(|e| panic!("{newton:?} {e}"));
            }
            for b in 1..m.bodies.len() {
                let [v, a] = s.motion_of(b);
                let (q, own_v, own_a) = (&truth.state.q[b], &truth.state.v[b], &truth.a[b]);
                assert!((s.place(b) - q.r).amax() < 1e-10 && (v - own_v.v).amax() < 1e-9 && (a - own_a.v).amax() < 1e-8, "{} {b}", R::NAME);
            }
        }
    }
    for name in ["ra_single_pendulum_primitives", "ra_four_link_primitives", "ra_slider_crank_primitives"] {
        let model = shipped(name);
        let start = fourbar::analysis::assembly::assemble(&model).unwrap_or_else(|d| panic!("{d}")).configuration;
        let mut truth = Kinematics::new(&model, &start).unwrap_or_else(|d| panic!("{d}"));
        for k in 1..=70 {
            truth.step_to(0.01 * k as f64).unwrap_or_else(|d| panic!("{d}"));
        }
        let case = Case::new("", &model).unwrap_or_else(|e| panic!("{e}"));
        run::<Matrices, 3>(&case.plain, &truth);
        run::<Parameters, 4>(&case.plain, &truth);
        run::<Angles, 3>(&case.turned, &truth);
    }
}

/// The results of backward Euler with all three formulations converge to the independent reference of the double pendulum, and the
/// multipliers of the norms are part of the solution.
#[test]
fn dynamics_converge_with_order_one() {
    let reference = super::super::measure::reference("ra_double_pendulum", "rod2.z").unwrap_or_else(|e| panic!("{e}"));
    let truth = reference.iter().find(|(t, _)| (t - 0.48).abs() < 1e-9).unwrap_or_else(|| panic!("no row at 0.48 s")).1;
    fn end<R: Rotation<X>, const X: usize>(m: &Mechanism, h: f64) -> f64 {
        let mut s = System::<f64, R, X>::new(m);
        s.begin().unwrap_or_else(|e| panic!("{e}"));
        for _ in 0..(0.48 / h).round() as usize {
            s.step(h, 1e-3, Newton::Full).unwrap_or_else(|e| panic!("{e}"));
        }
        s.place(2).z
    }
    let case = &cases()[1];
    for f in ALL {
        let error = |h: f64| match f {
            super::Formulation::Ra => end::<Matrices, 3>(&case.plain, h),
            super::Formulation::Rp => end::<Parameters, 4>(&case.plain, h),
            super::Formulation::Re => end::<Angles, 3>(&case.turned, h),
        } - truth;
        let (coarse, fine) = (error(2e-3), error(1e-3));
        assert!(fine.abs() < 5e-3 && (coarse / fine - 2.0).abs() < 0.1, "{f:?}: {coarse:e} {fine:e}");
    }
}

/// A run gives the same results with every variant of Newton's method, and counts of operations are repeatable.
#[test]
fn counts_of_work_are_repeatable() {
    let case = &cases()[2];
    let run = Run { h: 1e-3, steps: 20, bound: 1e-10, newton: Newton::Kept };
    for f in ALL {
        let n = operations(f, case, &run, false).unwrap_or_else(|e| panic!("{e}"));
        assert!(n > 1e3 && n == operations(f, case, &run, false).unwrap_or_else(|e| panic!("{e}")));
        let more = operations(f, case, &Run { newton: Newton::Full, ..run }, false).unwrap_or_else(|e| panic!("{e}"));
        let iterations = |newton| kinematics(f, case, &Run { newton, ..run }).unwrap_or_else(|e| panic!("{e}")).iterations;
        assert!(iterations(Newton::Full) < iterations(Newton::Kept) && iterations(Newton::Predicted) <= iterations(Newton::Full));
        assert!(more > n, "{f:?}: {more} {n}");
        let d = dynamics(f, case, &Run { bound: 1e-3, newton: Newton::Full, ..run }).unwrap_or_else(|e| panic!("{e}"));
        assert!(d.iterations >= 1.0 && d.iterations < 6.0);
    }
}
