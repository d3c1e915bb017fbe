//! Every joint and primitive: rows, right-hand sides and variations against automatic differentiation at random states, rows times
//! freedoms, counts, and the invariances of a joint.
#![allow(non_snake_case)]

use crate::common;

use common::*;
use fourbar::constraint::{Constraint, ConstraintSet, Owner, Rows};
use fourbar::coordinate::{Angle, Coordinate, OnCurve, PoseOf};
use fourbar::curve::{Curve, Measure, Path};
use fourbar::joint::*;
use fourbar::model::BodyId;
use fourbar::state::{Pose, Twist, Wrench};
use fourbar_math::so3::{self, tilde};
use fourbar_math::{Scalar, Taylor};
use nalgebra::{Matrix3, Vector2, Vector3};

const L: f64 = 0.7;

fn kinds() -> Vec<JointKind> {
    vec![
        JointKind::Revolute(Revolute),
        JointKind::Prismatic(Prismatic),
        JointKind::Cylindrical(Cylindrical),
        JointKind::Screw(Screw { lead: 0.4 }),
        JointKind::Spherical(Spherical),
        JointKind::Universal(Universal),
        JointKind::Planar(Planar),
        JointKind::Fixed(Fixed),
        JointKind::Distance(Distance { length: 0.9 }),
        JointKind::PointOnLine(PointOnLine),
        JointKind::PointOnPlane(PointOnPlane),
        JointKind::Angle(ConstantAngle { angle: 1.1 }),
        JointKind::Angle(ConstantAngle { angle: 0.0 }),
        JointKind::PointOnCurve(PointOnCurve { path: egg(-0.3) }),
    ]
}

/// An offset path of a closed curve that is much larger than the distances of random poses.
fn egg(offset: f64) -> Path {
    let points =
        (0..20).map(|k| std::f64::consts::TAU * f64::from(k) / 20.0).map(|a| Vector2::new(7.0 * a.cos(), (6.0 + a.cos()) * a.sin()));
    Path { curve: std::sync::Arc::new(Curve::new(points.collect(), true).unwrap()), offset }
}

/// The pose along the curve `r + v t`, `A exp(w t)` with constant `v`, `w`: zero acceleration.
fn along(q: &Pose, v: &Twist) -> PoseOf<Taylor<3>> {
    let W = tilde(&v.w);
    let (A1, A2) = (q.A * W, q.A * W * W * 0.5);
    PoseOf {
        r: Vector3::from_fn(|k, _| Taylor { c: [q.r[k], v.v[k], 0.0] }),
        A: Matrix3::from_fn(|i, j| Taylor { c: [q.A[(i, j)], A1[(i, j)], A2[(i, j)]] }),
    }
}

fn frame_of<S: Scalar>(q: &PoseOf<S>, f: &Frame) -> FrameOf<S> {
    let axes = q.A * f.R.map(S::of);
    FrameOf { p: q.r + q.A * f.s.map(S::of), axes: [0, 1, 2].map(|k| axes.column(k).into()) }
}

fn set_of(rows: Vec<Rows>, bodies: &[u32]) -> ConstraintSet {
    let c = Constraint {
        name: "joint".into(),
        owner: Owner::Joint(0),
        bodies: bodies.iter().map(|&b| BodyId(b)).collect(),
        spare: None,
        rows: rows.into(),
    };
    ConstraintSet::new(vec![c], |_| false)
}

struct Case {
    q: Vec<Pose>,
    v: Vec<Twist>,
    F: Frame,
    M: Frame,
}

fn case(random: &mut Random) -> Case {
    let frame = |r: &mut Random| Frame { s: r.vector(), R: r.rotation() };
    Case { q: (0..5).map(|_| random.pose()).collect(), v: (0..5).map(|_| random.velocity()).collect(), F: frame(random), M: frame(random) }
}

/// Residual, first and second derivative of a joint along the curve, from its generic residual; rotations times L.
fn by_series(kind: &JointKind, c: &Case, rows: &[Rows]) -> Vec<[f64; 3]> {
    let (qi, qj) = (along(&c.q[1], &c.v[1]), along(&c.q[2], &c.v[2]));
    let mut out = Vec::new();
    kind.residual(&frame_of(&qi, &c.F), &frame_of(&qj, &c.M), &mut out);
    let scales = rows.iter().flat_map(|r| std::iter::repeat_n(if r.is_rotation() { L } else { 1.0 }, r.count()));
    out.iter().zip(scales).map(|(x, s)| [s * x.c[0], s * x.c[1], 2.0 * s * x.c[2]]).collect()
}

#[test]
fn rows_and_right_hand_sides_are_derivatives_of_the_residual() {
    let mut random = Random(11);
    for kind in kinds() {
        for _ in 0..20 {
            let c = case(&mut random);
            let pair = Pair { F: c.F, M: c.M, L, memory: 0 };
            let rows = kind.rows(&pair);
            let set = set_of(rows.clone(), &[1, 2]);
            let exact = by_series(&kind, &c, &rows);
            assert_eq!(exact.len(), set.rows(), "{}", kind.name());
            let m = set.rows();
            let (mut Phi, mut rate, mut gamma, mut G) = (vec![0.0; m], vec![0.0; m], vec![0.0; m], vec![0.0; set.values]);
            set.residual(&c.q, &[0.0], 0.0, &mut Phi);
            set.jacobian(&c.q, &mut G);
            set.multiply(&G, &c.v, &mut rate);
            set.gamma(&c.q, &c.v, 0.0, &mut gamma);
            for k in 0..m {
                let [x, dx, ddx] = exact[k];
                close(Phi[k], x, 1e-12, kind.name());
                close(rate[k], dx, 1e-10, kind.name());
                // The right-hand side is minus the second derivative at zero acceleration.
                close(gamma[k], -ddx, 1e-10, kind.name());
            }
        }
    }
}

/// A pose with one coordinate of one body varied, for derivatives.
fn varied(q: &Pose, k: Option<usize>) -> PoseOf<fourbar_math::Dual> {
    let mut d = [0.0; 6];
    if let Some(k) = k {
        d[k] = 1.0;
    }
    let dA = q.A * tilde(&Vector3::new(d[3], d[4], d[5]));
    PoseOf {
        r: Vector3::from_fn(|i, _| Taylor::with_slope(q.r[i], d[i])),
        A: Matrix3::from_fn(|i, j| Taylor::with_slope(q.A[(i, j)], dA[(i, j)])),
    }
}

fn primitives(random: &mut Random) -> Vec<(&'static str, Coordinate)> {
    let ij = [0, 1];
    vec![
        ("dp1", Coordinate::Dp1 { ij, a_i: random.vector(), a_j: random.vector() }),
        ("dp2", Coordinate::Dp2 { ij, a_i: random.vector(), s_i: random.vector(), s_j: random.vector() }),
        ("d", Coordinate::D { ij, s_i: random.vector(), s_j: random.vector() }),
        ("cd", Coordinate::Cd { ij, c: random.vector(), s_i: random.vector(), s_j: random.vector() }),
        (
            "touch",
            Coordinate::Touch { ij, n: random.vector().normalize(), s_j: random.vector(), e_j: random.vector().normalize(), radius: 0.6 },
        ),
        ("angle", Coordinate::Angle(Angle { ij, F: random.rotation(), M: random.rotation(), memory: 0 })),
        ("distance from a curve", on_curve(random, Measure::Offset)),
        ("length of a curve", on_curve(random, Measure::Length)),
    ]
}

fn on_curve(random: &mut Random, what: Measure) -> Coordinate {
    let R = random.rotation();
    let a_i = [R.column(0).into(), R.column(1).into()];
    Coordinate::Curve(OnCurve { ij: [0, 1], a_i, s_i: random.vector(), s_j: random.vector(), path: egg(0.4), what, memory: 0 })
}

#[test]
fn every_primitive_has_the_row_that_dual_numbers_give() {
    let mut random = Random(5);
    for _ in 0..50 {
        let (qi, qj) = (random.pose(), random.pose());
        for (name, y) in primitives(&mut random) {
            let row = y.row(&qi, &qj).parts;
            for k in 0..6 {
                let part = |f: &Wrench| if k < 3 { f.F[k] } else { f.T[k - 3] };
                close(part(&row[0]), y.value_of(&varied(&qi, Some(k)), &varied(&qj, None)).c[1], 1e-10, name);
                close(part(&row[1]), y.value_of(&varied(&qi, None), &varied(&qj, Some(k))).c[1], 1e-10, name);
            }
        }
    }
}

#[test]
fn every_primitive_has_the_bias_that_taylor_numbers_give() {
    let mut random = Random(8);
    for _ in 0..50 {
        let (qi, qj, vi, vj) = (random.pose(), random.pose(), random.velocity(), random.velocity());
        for (name, y) in primitives(&mut random) {
            let x = y.value_of(&along(&qi, &vi), &along(&qj, &vj));
            close(y.bias(&qi, &qj, &vi, &vj), 2.0 * x.c[2], 1e-9, name);
        }
    }
}

#[test]
fn rolling_rows_are_the_velocity_of_the_contact_point() {
    use fourbar::rolling::{Rolling, RollingKind};
    let mut random = Random(9);
    for _ in 0..20 {
        let (q, v) = (random.pose(), random.velocity());
        let ground = Pose::identity();
        let R = random.rotation();
        let (n, t) = (R.column(2).into_owned(), [R.column(0).into_owned(), R.column(1).into_owned()]);
        let s = random.vector();
        let (omega, centre) = (q.A * v.w, v.of_point(&q, &s));
        let axis = random.vector().normalize();
        let u = {
            let e = q.A * axis;
            (n - e * n.dot(&e)).normalize()
        };
        let radius = 0.4;
        for (kind, rho) in [(RollingKind::Sphere { radius }, -n * radius), (RollingKind::Disk { axis, radius }, -u * radius)] {
            let rolling = Rolling { s, n, t, kind };
            let slip = centre + omega.cross(&rho);
            for (row, t) in rolling.rows([&ground, &q]).iter().zip(&t) {
                close(row[1].power(&v), slip.dot(t), 1e-12, "slip");
            }
            // Rates along the motion without acceleration, by central differences.
            let h = 1e-6;
            let at = |h: f64| rolling.rows([&ground, &q.moved(&v.scaled(h))]).iter().map(|r| r[1].power(&v)).collect::<Vec<f64>>();
            for ((p, m), b) in at(h).iter().zip(at(-h)).zip(rolling.bias([&ground, &q], [&Twist::zero(), &v])) {
                close(b, (p - m) / (2.0 * h), 1e-8, "rate of slip");
            }
        }
        let across = random.vector();
        let blade = Rolling { s, n, t, kind: RollingKind::KnifeEdge { across } };
        close(blade.rows([&ground, &q])[0][1].power(&v), (q.A * across).dot(&centre), 1e-12, "blade");
    }
}

#[test]
fn the_variation_of_reactions_is_the_derivative_of_the_rows() {
    let mut random = Random(6);
    for _ in 0..10 {
        let q = [random.pose(), random.pose()];
        for (name, y) in primitives(&mut random) {
            let mut K = [[nalgebra::Matrix6::zeros(); 2]; 2];
            let lambda = 1.7;
            y.variation(&q[0], &q[1], lambda, &mut K);
            let row = |q: &[Pose; 2]| y.row(&q[0], &q[1]).parts;
            for l in 0..2 {
                for k in 0..6 {
                    // Central differences: truncation h^2 and rounding u/h leave about 1e-9.
                    let h = 1e-5;
                    let mut d = Twist::zero();
                    if k < 3 {
                        d.v[k] = h
                    } else {
                        d.w[k - 3] = h
                    }
                    let (mut plus, mut minus) = (q, q);
                    plus[l] = q[l].moved(&d);
                    minus[l] = q[l].moved(&d.scaled(-1.0));
                    let (p, m) = (row(&plus), row(&minus));
                    for b in 0..2 {
                        for r in 0..6 {
                            let at = |f: &Wrench| if r < 3 { f.F[r] } else { f.T[r - 3] };
                            close(K[b][l][(r, k)], lambda * (at(&p[b]) - at(&m[b])) / (2.0 * h), 2e-8, name);
                        }
                    }
                }
            }
            // Rotations do not commute: K - K^T is the cross-product matrix of the generalized torque, exactly.
            for b in 0..2 {
                let torque = row(&q)[b].T * lambda;
                let skew = (K[b][b] - K[b][b].transpose()).fixed_view::<3, 3>(3, 3).into_owned() - tilde(&torque);
                assert!(skew.amax() < 1e-12, "{name}");
            }
        }
    }
}

/// A relative pose of M in F that satisfies the joint.
fn consistent(kind: &JointKind, random: &mut Random) -> (Vector3<f64>, Matrix3<f64>) {
    let (x, a) = (random.number(), random.number());
    let turn = so3::exp(&(Vector3::z() * a));
    match kind {
        JointKind::Revolute(_) => (Vector3::zeros(), turn),
        JointKind::Prismatic(_) => (Vector3::z() * x, Matrix3::identity()),
        JointKind::Cylindrical(_) => (Vector3::z() * x, turn),
        JointKind::Screw(s) => (Vector3::z() * (s.lead * a / (2.0 * std::f64::consts::PI)), turn),
        JointKind::Spherical(_) => (Vector3::zeros(), random.rotation()),
        JointKind::Universal(_) => {
            (Vector3::zeros(), turn * so3::exp(&(Vector3::x() * std::f64::consts::FRAC_PI_2)) * so3::exp(&(Vector3::z() * x)))
        }
        JointKind::Planar(_) => (Vector3::new(x, random.number(), 0.0), turn),
        JointKind::Fixed(_) => (Vector3::zeros(), Matrix3::identity()),
        JointKind::Distance(d) => (random.vector().normalize() * d.length, random.rotation()),
        JointKind::PointOnLine(_) => (Vector3::z() * x, random.rotation()),
        JointKind::PointOnPlane(_) => (Vector3::new(x, a, 0.0), random.rotation()),
        JointKind::PointOnCurve(c) => (c.path.at(x * c.path.length()).0.push(0.0), random.rotation()),
        JointKind::Angle(j) if j.angle == 0.0 => (random.vector(), turn),
        JointKind::Angle(j) => (random.vector(), turn * so3::exp(&(Vector3::x() * j.angle)) * so3::exp(&(Vector3::z() * x))),
    }
}

#[test]
fn rows_times_freedoms_vanish_and_together_they_make_six() {
    let mut random = Random(21);
    for kind in kinds() {
        for _ in 0..10 {
            let mut c = case(&mut random);
            let (p, R) = consistent(&kind, &mut random);
            // Place body j so that frame M is at (p, R) in frame F.
            let F_world = (c.q[1].point(&c.F.s), c.q[1].A * c.F.R);
            let (M_p, M_A) = (F_world.0 + F_world.1 * p, F_world.1 * R);
            c.q[2].A = M_A * c.M.R.transpose();
            c.q[2].r = M_p - c.q[2].A * c.M.s;
            let rows = kind.rows(&Pair { F: c.F, M: c.M, L, memory: 0 });
            let set = set_of(rows, &[1, 2]);
            let freedoms = kind.freedoms(&p, &R);
            assert_eq!(set.rows() + freedoms.len(), 6, "{}", kind.name());
            let (mut Phi, mut G, mut out) = (vec![0.0; set.rows()], vec![0.0; set.values], vec![0.0; set.rows()]);
            set.residual(&c.q, &[0.0], 0.0, &mut Phi);
            assert!(Phi.iter().all(|x| x.abs() < 1e-12), "{}: {Phi:?}", kind.name());
            set.jacobian(&c.q, &mut G);
            for [v, w] in freedoms {
                // Velocity of body j that moves M relative to a fixed F along this freedom.
                let (v, w) = (F_world.1 * v, F_world.1 * w);
                let mut velocity = vec![Twist::zero(); 5];
                let arm = M_p - c.q[2].r;
                velocity[2] = Twist { v: v - w.cross(&arm), w: c.q[2].A.transpose() * w };
                set.multiply(&G, &velocity, &mut out);
                assert!(out.iter().all(|x| x.abs() < 1e-12), "{}: {out:?}", kind.name());
            }
        }
    }
}

#[test]
fn a_rigid_motion_of_everything_changes_no_residual_and_no_angular_row() {
    let mut random = Random(31);
    for kind in kinds() {
        let c = case(&mut random);
        let set = set_of(kind.rows(&Pair { F: c.F, M: c.M, L, memory: 0 }), &[1, 2]);
        let (T, x) = (random.rotation(), random.vector());
        let moved: Vec<Pose> = c.q.iter().map(|q| Pose { r: T * q.r + x, A: T * q.A }).collect();
        let norms = |q: &[Pose]| {
            let mut Phi = vec![0.0; set.rows()];
            set.residual(q, &[0.0], 0.0, &mut Phi);
            let points: f64 = Phi[..3.min(Phi.len())].iter().map(|x| x * x).sum();
            (points, Phi)
        };
        let (a, b) = (norms(&c.q), norms(&moved));
        // Triples in world axes rotate with the motion; their length and all other rows are invariant.
        close(a.0, b.0, 1e-12, kind.name());
        for k in 3..a.1.len() {
            close(a.1[k], b.1[k], 1e-12, kind.name());
        }
    }
}

#[test]
fn swapping_the_two_bodies_spans_the_same_constraints() {
    let mut random = Random(41);
    for kind in kinds() {
        let mut c = case(&mut random);
        let (p, R) = consistent(&kind, &mut random);
        let F_world = (c.q[1].point(&c.F.s), c.q[1].A * c.F.R);
        c.q[2].A = F_world.1 * R * c.M.R.transpose();
        c.q[2].r = F_world.0 + F_world.1 * p - c.q[2].A * c.M.s;
        // Points on lines and planes of the base are not symmetric in the bodies.
        if matches!(kind, JointKind::PointOnLine(_) | JointKind::PointOnPlane(_) | JointKind::PointOnCurve(_)) {
            continue;
        }
        let a = set_of(kind.rows(&Pair { F: c.F, M: c.M, L, memory: 0 }), &[1, 2]);
        let b = set_of(kind.rows(&Pair { F: c.M, M: c.F, L, memory: 0 }), &[2, 1]);
        let dense = |set: &ConstraintSet| {
            let mut G = vec![0.0; set.values];
            set.jacobian(&c.q, &mut G);
            let mut A = nalgebra::DMatrix::zeros(set.rows(), 12);
            for block in set.blocks_of(0) {
                for r in 0..set.rows() {
                    for l in 0..6 {
                        A[(r, 6 * (block.body - 1) + l)] = G[block.start + 6 * r + l];
                    }
                }
            }
            A
        };
        let (A, B) = (dense(&a), dense(&b));
        let both = nalgebra::DMatrix::from_fn(2 * A.nrows(), 12, |i, j| if i < A.nrows() { A[(i, j)] } else { B[(i - A.nrows(), j)] });
        assert_eq!(fourbar_math::dense::rank(&both, 1e-10).rank, A.nrows(), "{}", kind.name());
    }
}

#[test]
fn moving_a_hinge_along_its_own_axis_spans_the_same_constraints() {
    let mut random = Random(51);
    for kind in [JointKind::Revolute(Revolute), JointKind::Cylindrical(Cylindrical)] {
        let mut c = case(&mut random);
        let F_world = (c.q[1].point(&c.F.s), c.q[1].A * c.F.R);
        c.q[2].A = F_world.1 * so3::exp(&Vector3::new(0.0, 0.0, 0.6)) * c.M.R.transpose();
        c.q[2].r = F_world.0 - c.q[2].A * c.M.s;
        let shifted = |f: &Frame| Frame { s: f.s + f.axis(2) * 0.8, R: f.R };
        let sets = [(c.F, c.M), (shifted(&c.F), shifted(&c.M))].map(|(F, M)| set_of(kind.rows(&Pair { F, M, L, memory: 0 }), &[1, 2]));
        let mut rows = Vec::new();
        for set in &sets {
            let mut G = vec![0.0; set.values];
            set.jacobian(&c.q, &mut G);
            for r in 0..set.rows() {
                let row: Vec<f64> = set.blocks_of(0).iter().flat_map(|b| G[b.start + 6 * r..b.start + 6 * r + 6].to_vec()).collect();
                rows.push(row);
            }
        }
        let A = nalgebra::DMatrix::from_fn(rows.len(), 12, |i, j| rows[i][j]);
        assert_eq!(fourbar_math::dense::rank(&A, 1e-10).rank, sets[0].rows(), "{}", kind.name());
    }
}

#[test]
fn a_gear_over_four_bodies_has_the_row_that_its_angles_give() {
    let mut random = Random(61);
    for _ in 0..20 {
        let q: Vec<Pose> = (0..5).map(|_| random.pose()).collect();
        let v: Vec<Twist> = (0..5).map(|_| random.velocity()).collect();
        let angle = |random: &mut Random, slot: usize| {
            Coordinate::Angle(Angle { ij: [slot, slot + 1], F: random.rotation(), M: random.rotation(), memory: slot / 2 })
        };
        let (a, b) = (angle(&mut random, 0), angle(&mut random, 2));
        let ratio = -2.5;
        let set = set_of(vec![Rows::sum(&[(L, b.clone()), (-L * ratio, a.clone())], 0.1)], &[1, 2, 3, 4]);
        let (mut rate, mut gamma, mut G) = ([0.0], [0.0], vec![0.0; set.values]);
        set.jacobian(&q, &mut G);
        set.multiply(&G, &v, &mut rate);
        set.gamma(&q, &v, 0.0, &mut gamma);
        let value = |y: &Coordinate, i: usize| y.value_of(&along(&q[i], &v[i]), &along(&q[i + 1], &v[i + 1]));
        let x = (value(&b, 3) - value(&a, 1) * Taylor::of(ratio)) * Taylor::of(L);
        close(rate[0], x.c[1], 1e-10, "gear rate");
        close(gamma[0], -2.0 * x.c[2], 1e-10, "gear gamma");
    }
}

#[test]
fn a_body_on_both_sides_of_a_gear_gets_the_sum_of_both_parts() {
    let mut random = Random(71);
    let q: Vec<Pose> = (0..5).map(|_| random.pose()).collect();
    let v: Vec<Twist> = (0..5).map(|_| random.velocity()).collect();
    let a = Coordinate::Angle(Angle { ij: [0, 1], F: random.rotation(), M: random.rotation(), memory: 0 });
    let b = Coordinate::Angle(Angle { ij: [2, 3], F: random.rotation(), M: random.rotation(), memory: 1 });
    let set = set_of(vec![Rows::sum(&[(1.0, b.clone()), (3.0, a.clone())], 0.0)], &[1, 2, 1, 3]);
    assert_eq!(set.blocks_of(0).len(), 3);
    let (mut rate, mut G) = ([0.0], vec![0.0; set.values]);
    set.jacobian(&q, &mut G);
    set.multiply(&G, &v, &mut rate);
    let x =
        b.value_of(&along(&q[1], &v[1]), &along(&q[3], &v[3])) + a.value_of(&along(&q[1], &v[1]), &along(&q[2], &v[2])) * Taylor::of(3.0);
    close(rate[0], x.c[1], 1e-12, "shared body");
}

#[test]
fn an_angle_keeps_its_rank_through_the_whole_turn_and_counts_turns() {
    let F = Frame { s: Vector3::zeros(), R: Matrix3::identity() };
    let angle = Angle { ij: [0, 1], F: F.R, M: F.R, memory: 0 };
    let base = Pose::identity();
    let mut last = 0.0;
    for k in 0..200 {
        let a = 0.1 * k as f64;
        let turned = Pose { r: Vector3::zeros(), A: so3::exp(&(Vector3::z() * a)) };
        last = angle.value(&base, &turned, last);
        close(last, a, 1e-12, "turns");
        let row = Coordinate::Angle(angle).row(&base, &turned).parts[1];
        close(row.T.norm(), 1.0, 1e-12, "rank");
    }
}
