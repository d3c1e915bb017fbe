use super::*;
use fourbar_math::Taylor;
use std::f64::consts::{PI, TAU};

/// Points of an ellipse, evenly in its angle.
fn ellipse(a: f64, b: f64, n: usize) -> Vec<P> {
    (0..n).map(|k| TAU * k as f64 / n as f64).map(|x| P::new(a * x.cos(), b * x.sin())).collect()
}

/// A lobe that is convex at one side and hollow at the other.
fn lobe() -> Curve {
    let points = (0..14).map(|k| TAU * k as f64 / 14.0).map(|x: f64| {
        let r = 0.05 + 0.012 * x.cos() + 0.006 * (2.0 * x).cos();
        P::new(r * x.cos(), r * x.sin())
    });
    Curve::new(points.collect(), true).unwrap()
}

fn wave() -> Curve {
    Curve::new((0..9).map(|k| 0.1 * f64::from(k)).map(|x| P::new(x, 0.07 * (7.0 * x).sin() + x * x)).collect(), false).unwrap()
}

/// Arc length by Simpson's rule with halving until nothing changes, independent of the method of the curve.
fn by_simpson(curve: &Curve, span: usize, x0: f64, x1: f64) -> f64 {
    fn rule(f: &dyn Fn(f64) -> f64, a: f64, b: f64, depth: usize) -> f64 {
        let m = 0.5 * (a + b);
        let simpson = |a: f64, b: f64| (b - a) / 6.0 * (f(a) + 4.0 * f(0.5 * (a + b)) + f(b));
        let (one, two) = (simpson(a, b), simpson(a, m) + simpson(m, b));
        if depth == 0 || (one - two).abs() < 1e-17 { two + (two - one) / 15.0 } else { rule(f, a, m, depth - 1) + rule(f, m, b, depth - 1) }
    }
    rule(&|x| curve.spans[span].at(x)[1].norm(), x0, x1, 14)
}

#[test]
fn the_spline_passes_its_points_and_has_two_continuous_derivatives() {
    for curve in [lobe(), wave()] {
        let n = curve.points.len();
        let spans = if curve.closed { n } else { n - 1 };
        for k in 0..spans {
            let (here, next) = (curve.spans[k], curve.spans[(k + 1) % n.max(1)]);
            assert!((here.at(0.0)[0] - curve.points[k]).norm() < 1e-15);
            assert!((here.at(here.end)[0] - curve.points[(k + 1) % n]).norm() < 1e-15);
            if curve.closed || k + 1 < spans {
                let (a, b) = (here.at(here.end), next.at(0.0));
                assert!((a[1] - b[1]).norm() < 1e-13 && (a[2] - b[2]).norm() < 1e-10, "{k}: {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn arc_length_is_exact_to_rounding_and_undone_by_its_inverse() {
    for curve in [lobe(), wave()] {
        let n = curve.points.len();
        let spans = if curve.closed { n } else { n - 1 };
        let mut total = 0.0;
        for k in 0..spans {
            let end = curve.spans[k].end;
            for part in [0.13, 0.5, 0.71] {
                let exact = total + by_simpson(&curve, k, 0.0, part * end);
                let p = curve.spans[k].at(part * end)[0];
                assert!((curve.near(&p).s - exact).abs() < 1e-12 * curve.length(), "{} {exact}", curve.near(&p).s);
            }
            total += by_simpson(&curve, k, 0.0, end);
        }
        assert!((curve.length() - total).abs() < 1e-12 * total, "{} {total}", curve.length());
        for k in 0..200 {
            let s = curve.length() * (f64::from(k) + 0.37) / 200.0;
            let (p, near) = curve.at(s);
            assert!((near.s - s).abs() < 1e-14 && (curve.near(&p).s - s).abs() < 1e-13, "{s}");
        }
    }
}

#[test]
fn a_circle_through_points_converges_with_the_fourth_power_of_their_distance() {
    let error = |n: usize| {
        let curve = Curve::new(ellipse(0.3, 0.3, n), true).unwrap();
        let worst = (0..997).map(|k| (curve.at(curve.length() * f64::from(k) / 997.0).0.norm() - 0.3).abs()).fold(0.0, f64::max);
        (worst, (curve.length() - 0.3 * TAU).abs())
    };
    let (a, b) = (error(16), error(32));
    assert!((14.0..18.0).contains(&(a.0 / b.0)), "{a:?} {b:?}");
    assert!((14.0..18.0).contains(&(a.1 / b.1)), "{a:?} {b:?}");
    // Radius 0.3 and 400 points: 0.3 (2 pi / 400)^4 / 384 would be 5e-11.
    assert!(error(400).0 < 1e-10);
}

#[test]
fn turning_once_round_is_a_whole_turn() {
    assert!((lobe().turn - TAU).abs() < 1e-12);
    let curve = lobe();
    let path = Path { curve: std::sync::Arc::new(curve), offset: -0.004 };
    // Outside a curve that runs to the left the path is longer by the follower's circumference.
    assert!((path.length() - path.curve.length() - TAU * 0.004).abs() < 1e-12);
    for k in 0..40 {
        let s = path.length() * f64::from(k) / 40.0;
        let (p, t) = path.at(s);
        let (length, gradient, _) = path.measure(Measure::Length, &p);
        // At the seam, lengths that differ by a whole round are the same.
        let apart = (length - s) / path.length();
        assert!((apart - apart.round()).abs() < 1e-12, "{length} {s}");
        assert!((gradient - t).norm() < 1e-10);
        assert!(path.measure(Measure::Offset, &p).0.abs() < 1e-14);
    }
}

#[test]
fn gradients_and_second_derivatives_are_those_of_the_measures() {
    for (curve, offset) in [(lobe(), -0.003), (lobe(), 0.0), (wave(), 0.002)] {
        let path = Path { curve: std::sync::Arc::new(curve), offset };
        let length = path.curve.length();
        for k in 0..60 {
            let (c, near) = path.curve.at(length * (f64::from(k) + 0.31) / 60.0);
            let p = c + near.n() * (offset + 0.0007 * (f64::from(k % 5) - 2.0));
            for what in [Measure::Offset, Measure::Length] {
                let (value, gradient, bend) = path.measure(what, &p);
                // Along a straight line in any direction: all derivatives by Taylor series.
                for v in [P::new(0.3, 0.8), P::new(-0.7, 0.2)] {
                    let moving = Vector2::from_fn(|i, _| Taylor::<3> { c: [p[i], v[i], 0.0] });
                    let series = path.measure_of(what, &moving).c;
                    let scale = 1.0 + bend.amax();
                    assert!((series[0] - value).abs() < 1e-13, "{what:?} {} {value}", series[0]);
                    assert!((series[1] - gradient.dot(&v)).abs() < 1e-10 * scale, "{what:?} {} {}", series[1], gradient.dot(&v));
                    assert!(
                        (2.0 * series[2] - v.dot(&(bend * v))).abs() < 1e-8 * scale,
                        "{what:?} {} {}",
                        2.0 * series[2],
                        v.dot(&(bend * v))
                    );
                    // And by differences that are independent of the formulas.
                    let h = 1e-6;
                    let at = |h: f64| path.measure(what, &(p + v * h)).0;
                    assert!(((at(h) - at(-h)) / (2.0 * h) - gradient.dot(&v)).abs() < 1e-6 * scale);
                }
            }
        }
    }
}

#[test]
fn the_nearest_point_is_nearest_of_all() {
    for curve in [lobe(), wave()] {
        let fine: Vec<P> = (0..4000).map(|k| curve.at(curve.length() * f64::from(k) / 4000.0).0).collect();
        for k in 0..300 {
            let p = P::new(0.9 * (1.7 * f64::from(k)).sin(), 0.9 * (2.3 * f64::from(k)).cos()) * if curve.closed { 0.1 } else { 1.0 };
            let near = curve.near(&p);
            let least = fine.iter().map(|q| (q - p).norm()).fold(f64::INFINITY, f64::min);
            assert!(near.d.abs() <= least + 1e-12, "{p}: {} {least}", near.d);
        }
    }
}

#[test]
fn an_open_curve_goes_straight_on() {
    let curve = wave();
    let (end, near) = curve.at(curve.length() + 0.2);
    assert!((near.s - curve.length() - 0.2).abs() < 1e-14 && near.kappa == 0.0);
    let seen = curve.near(&(end + near.n() * 0.01));
    assert!((seen.s - near.s).abs() < 1e-14 && (seen.d - 0.01).abs() < 1e-14);
}

#[test]
fn hostile_points_are_refused_for_what_they_are() {
    let p = |list: &[[f64; 2]]| list.iter().map(|p| P::new(p[0], p[1])).collect::<Vec<P>>();
    let new = |list: &[[f64; 2]], closed: bool| Curve::new(p(list), closed).err();
    assert_eq!(new(&[[0.0, 0.0], [1.0, 0.0]], false), Some(CurveError::TooFew { given: 2 }));
    assert_eq!(new(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 1.0]], false), Some(CurveError::Repeated(1)));
    assert_eq!(new(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], true), Some(CurveError::Repeated(3)));
    let eight: Vec<P> = (0..40).map(|k| TAU * f64::from(k) / 40.0).map(|x| P::new((2.0 * x).sin(), x.cos())).collect();
    assert!(matches!(Curve::new(eight, true), Err(CurveError::Crosses { .. })));
    // A path out and back.
    assert!(matches!(new(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], true), Some(CurveError::Cusp { .. } | CurveError::Crosses { .. })));
}

#[test]
fn undercut_is_found_at_the_tightest_place_and_where_a_follower_meets_another_part() {
    let curve = std::sync::Arc::new(Curve::new(ellipse(0.2, 0.1, 80), true).unwrap());
    // The sharpest bend of an ellipse has radius b^2 / a; inside it a larger ball does not fit.
    let fits = Path { curve: curve.clone(), offset: 0.049 };
    assert_eq!(fits.undercut(), None);
    let large = Path { curve: curve.clone(), offset: 0.0503 }.undercut().unwrap();
    assert!((large.radius.unwrap() - 0.05).abs() < 1e-3 && large.at.x.abs() > 0.19, "{large:?}");
    assert_eq!(Path { curve, offset: -0.5 }.undercut(), None);
    // A slot with parallel sides: the ball meets the other side before any bend is too tight.
    let slot = (0..=20).map(|k| PI * f64::from(k) / 20.0).map(|x| P::new(0.1 * x.sin(), -0.1 * x.cos()));
    let rest = [P::new(-0.2, 0.06), P::new(-0.4, 0.03), P::new(-0.4, -0.03), P::new(-0.2, -0.06)];
    let slot = std::sync::Arc::new(Curve::new(slot.chain(rest).collect(), true).unwrap());
    let met = Path { curve: slot, offset: 0.05 }.undercut().unwrap();
    assert!(met.at.x < 0.0, "{met:?}");
}
