use super::*;
use crate::curve::Curve;
use crate::force::eval::Plain;
use crate::state::{Pose, Twist};
use fourbar_math::{Dual, so3};
use nalgebra::{Matrix3, Vector2};
use std::sync::Arc;

/// Reproducible pseudo-random numbers between -1 and 1.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }
}

fn ellipse(a: f64, b: f64) -> Arc<Curve> {
    let points = (0..48).map(|k| f64::from(k) * std::f64::consts::TAU / 48.0).map(|x| Vector2::new(a * x.cos(), b * x.sin()));
    Arc::new(Curve::new(points.collect(), true).unwrap())
}

fn square() -> Box<Polygon> {
    let points = [[-0.3, -0.2], [0.3, -0.2], [0.35, 0.2], [-0.3, 0.25]].map(|p| Vector2::new(p[0], p[1])).to_vec();
    Box::new(Polygon { s: Vector3::new(0.01, -0.02, 0.0), R: Matrix3::identity(), points })
}

fn outline(a: f64, b: f64) -> Box<Outline> {
    // Points go round to the left, so that outside is on the right.
    Box::new(Outline::new(ellipse(a, b), Vector3::new(0.02, -0.01, 0.0), Matrix3::identity(), -1.0, f64::INFINITY))
}

/// All pairs, and whether they are planar.
fn pairs() -> Vec<(&'static str, First, Second, bool)> {
    let s = Vector3::new(0.05, -0.03, 0.04);
    let flat = Vector3::new(0.05, -0.03, 0.0);
    let ball = |s: Vector3<f64>, radius: f64| First::Ball { s, radius };
    let n = Vector3::new(0.3, 0.9, 0.2).normalize();
    let plane = || Second::Plane { s: Vector3::new(-0.02, 0.01, 0.03), n };
    let flat_plane = || Second::Plane { s: Vector3::new(-0.02, 0.01, 0.0), n: Vector3::new(0.6, 0.8, 0.0) };
    vec![
        ("ball on plane", ball(s, 0.1), plane(), false),
        ("point on plane", ball(s, 0.0), plane(), false),
        ("ball on ball", ball(s, 0.1), Second::Ball { s: -s, radius: 0.2, hollow: false }, false),
        ("ball in ball", ball(s, 0.1), Second::Ball { s: -s, radius: 3.0, hollow: true }, false),
        ("rim on plane", First::Rim { s, e: Vector3::new(0.1, 0.2, 0.9).normalize(), radius: 0.3 }, plane(), false),
        ("ball on curve", ball(flat, 0.05), Second::Curve(outline(0.5, 0.3)), true),
        ("point on polygon", ball(flat, 0.0), Second::Polygon(square()), true),
        ("ball on polygon", ball(flat, 0.07), Second::Polygon(square()), true),
        ("curve on plane", First::Curve(outline(0.5, 0.3)), flat_plane(), true),
        ("curve on curve", First::Curve(outline(0.4, 0.3)), Second::Curve(outline(0.5, 0.35)), true),
    ]
}

fn moved(q: &Pose, v: &Twist, t: f64) -> PoseOf<f64> {
    PoseOf { r: q.r + v.v * t, A: q.A * so3::exp(&(v.w * t)) }
}

/// The pose with its rate as derivative.
fn dual(q: &Pose, v: &Twist) -> PoseOf<Dual> {
    let rate = q.A * so3::tilde(&v.w);
    let with = |x: f64, d: f64| Dual { c: [x, d] };
    PoseOf { r: Vector3::from_fn(|i, _| with(q.r[i], v.v[i])), A: Matrix3::from_fn(|i, j| with(q.A[(i, j)], rate[(i, j)])) }
}

#[test]
fn gaps_and_normals_of_all_pairs_have_the_derivatives_they_say() {
    for (name, first, second, planar) in pairs() {
        let spot = Spot { bodies: [0, 1], first, second, swapped: false };
        let mut draw = Draw(7);
        for case in 0..60 {
            let mut body = |far: f64| {
                let (mut r, mut turn, mut v, mut w) = (draw.vector() * far, draw.vector() * 1.5, draw.vector(), draw.vector() * 2.0);
                if planar {
                    (r.z, v.z) = (0.0, 0.0);
                    (turn, w) = (Vector3::new(0.0, 0.0, turn.z * 2.0), Vector3::new(0.0, 0.0, w.z));
                }
                (Pose { r, A: so3::exp(&turn) }, Twist { v, w })
            };
            let ((mut qa, va), (qb, vb)) = (body(1.0), body(0.1));
            // Outside the shape of the second body.
            if planar {
                let away = Vector3::new(qa.r.x, qa.r.y, 0.0);
                qa.r += away.try_normalize(1e-9).unwrap_or_else(Vector3::x) * 0.9;
            }
            let still = |q: &Pose| PoseOf { r: q.r, A: q.A };
            let touch = spot.touch(&still(&qa), &still(&qb));
            assert!((touch.n.norm() - 1.0).abs() < 1e-12, "{name} {case}: normal {}", touch.n);
            let (q, v) = ([qa, qb], [va, vb]);
            let plain = Plain { t: 0.0, q: &q, v: &v, turns: &[], loads: &[], z: &[] };
            let moving = Moving::at(&spot, &plain);
            assert!(moving.slip.dot(&touch.n).abs() < 1e-12, "{name} {case}");
            // Differences of the gap along the motion.
            let h = 1e-5;
            let [before, after] = [-h, h].map(|t| spot.touch(&moved(&qa, &va, t), &moved(&qb, &vb, t)));
            let rate = (after.gap - before.gap) / (2.0 * h);
            let bend = (after.gap + before.gap - 2.0 * touch.gap) / (h * h);
            // A polygon has corners: nothing is compared where the nearest part changes within the difference.
            if bend.abs() > 1e3 {
                continue;
            }
            assert!((rate - moving.rate).abs() < 2e-7 * (1.0 + bend.abs()), "{name} {case}: rate {} against {rate}", moving.rate);
            let exact = spot.touch(&dual(&qa, &va), &dual(&qb, &vb));
            assert!((exact.gap.c[1] - moving.rate).abs() < 1e-10, "{name} {case}: {} {}", exact.gap.c[1], moving.rate);
            for k in 0..3 {
                let difference = (after.n[k] - before.n[k]) / (2.0 * h);
                assert!((exact.n[k].c[1] - difference).abs() < 1e-5, "{name} {case}: normal {} {difference}", exact.n[k].c[1]);
                let difference = (after.p[k] - before.p[k]) / (2.0 * h);
                assert!((exact.p[k].c[1] - difference).abs() < 1e-5, "{name} {case}: point {} {difference}", exact.p[k].c[1]);
            }
        }
    }
}

/// Distances by a search over samples of the two shapes.
#[test]
fn gaps_of_curves_and_polygons_are_the_distances_of_their_samples() {
    let place = |o: &Outline, q: &PoseOf<f64>, s: f64| {
        let p = o.curve.at(s).0;
        q.r + q.A * (o.s + o.R * Vector3::new(p.x, p.y, 0.0))
    };
    let (a, b) = (outline(0.4, 0.3), outline(0.5, 0.35));
    let mut draw = Draw(3);
    for case in 0..10 {
        let pose = |x: f64, y: f64, turn: f64| PoseOf { r: Vector3::new(x, y, 0.0), A: so3::exp(&Vector3::new(0.0, 0.0, turn)) };
        let (qa, qb) = (pose(1.1 + 0.2 * draw.next(), 0.5 * draw.next(), 3.0 * draw.next()), pose(0.0, 0.0, draw.next()));
        let spot = Spot { bodies: [0, 1], first: First::Curve(a.clone()), second: Second::Curve(b.clone()), swapped: false };
        let touch = spot.touch(&qa, &qb);
        let samples =
            |o: &Outline, q: &PoseOf<f64>| (0..1500).map(|k| place(o, q, o.curve.length() * f64::from(k) / 1500.0)).collect::<Vec<_>>();
        let (pa, pb) = (samples(&a, &qa), samples(&b, &qb));
        let least =
            pa.iter().map(|p| pb.iter().map(|q| (p - q).norm_squared()).fold(f64::INFINITY, f64::min)).fold(f64::INFINITY, f64::min).sqrt();
        assert!((touch.gap - least).abs() < 1e-4, "case {case}: {} {least}", touch.gap);
        // A polygon, from outside and inside.
        let polygon = square();
        let y = Vector2::new(0.6 * draw.next(), 0.5 * draw.next());
        let count = polygon.points.len();
        let mut nearest = f64::INFINITY;
        let mut inside = true;
        for k in 0..count {
            let (p, q) = (polygon.points[k], polygon.points[(k + 1) % count]);
            inside &= (q - p).perp(&(y - p)) >= 0.0;
            for j in 0..=2000 {
                nearest = nearest.min((p + (q - p) * (f64::from(j) / 2000.0) - y).norm());
            }
        }
        let signed = if inside { -nearest } else { nearest };
        assert!((polygon.distance(&y).0 - signed).abs() < 1e-4, "case {case}: {} {signed}", polygon.distance(&y).0);
    }
}

#[test]
fn both_surfaces_pass_half_a_gap_from_the_point() {
    let mut draw = Draw(11);
    for _ in 0..20 {
        let spot = Spot {
            bodies: [0, 1],
            first: First::Ball { s: draw.vector(), radius: 0.2 },
            second: Second::Ball { s: draw.vector(), radius: 0.3, hollow: false },
            swapped: false,
        };
        let mut pose = || PoseOf { r: draw.vector() * 2.0, A: so3::exp(&draw.vector()) };
        let (qa, qb) = (pose(), pose());
        let touch = spot.touch(&qa, &qb);
        let (First::Ball { s, radius }, Second::Ball { s: o, radius: R, .. }) = (&spot.first, &spot.second) else { unreachable!() };
        let [c, d] = [qa.r + qa.A * s, qb.r + qb.A * o];
        assert!(((touch.p + touch.n * (0.5 * touch.gap) - c).norm() - radius).abs() < 1e-12);
        assert!(((touch.p - touch.n * (0.5 * touch.gap) - d).norm() - R).abs() < 1e-12);
    }
}

/// Restitutions of the published approximations and of the exact condition, obtained in an impact without other forces.
#[test]
fn the_exact_law_reaches_the_restitution_that_is_asked_for() {
    for (e, hunt, flores, c) in [
        (0.05, 0.501, 0.033, 20.000000),
        (0.2, 0.547, 0.156, 4.919167),
        (0.5, 0.663, 0.470, 1.432751),
        (0.8, 0.833, 0.789, 0.373146),
        (0.95, 0.952, 0.947, 0.078927),
    ] {
        assert!((damping_factor(LawName::Exact, e) - c).abs() < 1e-6, "{e}: {}", damping_factor(LawName::Exact, e));
        for (law, reached) in [(LawName::Exact, e), (LawName::HuntCrossley, hunt), (LawName::Flores, flores)] {
            let digits = if law == LawName::Exact { 1e-6 } else { 6e-4 };
            let found = rebound(law, e);
            assert!((found - reached).abs() < digits, "{law:?} {e}: {found}");
        }
    }
}

/// Speed after an impact of 1 kg at 1 m/s, by a Runge-Kutta method.
fn rebound(law: LawName, e: f64) -> f64 {
    let law = Compliant { K: 1e5, n: 1.5, chi: damping_factor(law, e), friction: Friction::NONE };
    let (mut gap, mut v) = (0.0_f64, -1.0_f64);
    let h = 2e-7;
    let a = |gap: f64, v: f64| law.normal(gap, v)[0];
    for _ in 0..400_000 {
        let k1 = (v, a(gap, v));
        let k2 = (v + 0.5 * h * k1.1, a(gap + 0.5 * h * k1.0, v + 0.5 * h * k1.1));
        let k3 = (v + 0.5 * h * k2.1, a(gap + 0.5 * h * k2.0, v + 0.5 * h * k2.1));
        let k4 = (v + h * k3.1, a(gap + h * k3.0, v + h * k3.1));
        gap += h / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
        v += h / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
        if gap > 0.0 {
            break;
        }
    }
    v
}

#[test]
fn friction_is_that_of_coulomb_away_from_rest_and_turns_with_the_slip() {
    let law = Compliant { K: 1.0, n: 1.0, chi: 0.0, friction: Friction { mu: 0.4, fixed: 0.6, speed: 1e-3 } };
    let slip = Vector3::new(3.0, -4.0, 0.0);
    let F = law.tangential(10.0, &slip);
    assert!((F + slip * (0.4 * 10.0 / 5.0)).norm() < 1e-9);
    // Ten times the smoothing speed is still near friction at rest over e.
    let F = law.tangential(10.0, &Vector3::new(5e-3, 0.0, 0.0));
    let expected = (0.4 + 0.2 * (-0.25_f64).exp()) * 10.0;
    assert!((F.x + expected).abs() < 1e-2 * expected);
    let still =
        law.tangential(Dual { c: [10.0, 0.0] }, &Vector3::new(Dual { c: [0.0, 1.0] }, Dual { c: [0.0, 0.0] }, Dual { c: [0.0, 0.0] }));
    assert!(still.iter().all(|x| x.c.iter().all(|c| c.is_finite())));
}

#[test]
fn neighbours_among_balls_are_those_of_all_pairs() {
    let mut draw = Draw(5);
    for n in [2, 10, 150] {
        let balls: Vec<Ball> = (0..n).map(|k| Ball { body: k + 1, s: Vector3::zeros(), radius: 0.05 + 0.04 * draw.next() }).collect();
        let centres: Vec<Vector3<f64>> = (0..n).map(|_| draw.vector() * 0.4).collect();
        let joined = vec![[1, 2]];
        let among = Among::new(balls.clone(), joined);
        for reach in [0.0, 0.03] {
            let mut found = Vec::new();
            among.pairs(reach, &centres, &mut |i, j| found.push([i, j]));
            found.sort_unstable();
            let mut expected = Vec::new();
            for i in 0..n {
                for j in i + 1..n {
                    let gap = (centres[i] - centres[j]).norm() - balls[i].radius - balls[j].radius;
                    if gap <= reach && [i, j] != [0, 1] {
                        expected.push([i, j]);
                    }
                }
            }
            assert_eq!(found, expected);
        }
    }
}
