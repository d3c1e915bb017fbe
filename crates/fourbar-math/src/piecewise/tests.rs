//! Splines against closed forms, and random ones: interpolation, continuous derivatives, derivatives against differences.

use super::*;
use crate::Taylor;

/// A small generator with the same numbers on every machine.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn derivatives(f: &Piecewise, x: f64) -> [f64; 4] {
    let y = f.eval(Taylor::<4>::variable(x));
    [0, 1, 2, 3].map(|k| y.derivative(k))
}

#[test]
fn cubics_come_back_whole_where_the_ends_fit() {
    let cubic = |x: f64| 2.0 - x + 0.5 * x * x + 0.25 * x * x * x;
    let slope = |x: f64| -1.0 + x + 0.75 * x * x;
    let x = [-1.0, -0.3, 0.2, 1.5, 2.0];
    let f = Piecewise::spline(&x, &x.map(cubic), Ends::Slopes(slope(-1.0), slope(2.0)), Beyond::Linear).expect("rising");
    for k in 0..=60 {
        let x = -1.0 + 0.05 * f64::from(k);
        let [y, d, dd, ddd] = derivatives(&f, x);
        assert!((y - cubic(x)).abs() < 1e-13 && (d - slope(x)).abs() < 1e-13, "{x}");
        // The last point belongs to the straight line beyond it.
        assert!(k == 60 || (dd - (1.0 + 1.5 * x)).abs() < 1e-12 && (ddd - 1.5).abs() < 1e-11, "{x}: {dd} {ddd}");
        assert!((f.slope(x) - d).abs() < 1e-13);
    }
    // Beyond the ends it continues along the tangent.
    assert!((f.eval(4.0) - (cubic(2.0) + 2.0 * slope(2.0))).abs() < 1e-12);
    assert!((f.eval(-3.0) - (cubic(-1.0) - 2.0 * slope(-1.0))).abs() < 1e-12);
    assert_eq!([f.part(-2.0), f.part(0.0), f.part(2.5)], [Some(0), Some(1), Some(2)]);
}

/// The natural spline through (0, 0), (1, 1), (2, 0) is known: y = 3x/2 - x^3/2 up to the middle.
#[test]
fn the_natural_spline_of_three_points_is_the_known_one() {
    let f = Piecewise::spline(&[0.0, 1.0, 2.0], &[0.0, 1.0, 0.0], Ends::Natural, Beyond::Hold).expect("rising");
    for x in [0.0_f64, 0.25, 0.5, 1.0] {
        let expected = 1.5 * x - 0.5 * x.powi(3);
        assert!((f.eval(x) - expected).abs() < 1e-15 && (f.eval(2.0 - x) - expected).abs() < 1e-15, "{x}");
    }
    assert_eq!([f.eval(-5.0), f.eval(9.0)], [0.0, 0.0]);
}

/// Values converge with the fourth power of the spacing, second derivatives with the second.
#[test]
fn a_periodic_spline_of_a_sine_converges_as_it_must() {
    let tau = 2.0 * std::f64::consts::PI;
    let errors = [20, 40, 80].map(|n: usize| {
        let x: Vec<f64> = (0..=n).map(|k| tau * k as f64 / n as f64).collect();
        let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let f = Piecewise::spline(&x, &y, Ends::Periodic, Beyond::Linear).expect("closed");
        let mut worst = [0.0_f64; 3];
        for k in 0..1000 {
            let x = -9.0 + 0.0231 * f64::from(k);
            let [y, d, dd, _] = derivatives(&f, x);
            for (w, e) in worst.iter_mut().zip([y - x.sin(), d - x.cos(), dd + x.sin()]) {
                *w = w.max(e.abs());
            }
        }
        worst
    });
    for (order, least) in [(0, 15.0), (1, 7.5), (2, 3.8)] {
        let ratios = [errors[0][order] / errors[1][order], errors[1][order] / errors[2][order]];
        assert!(ratios.iter().all(|r| *r > least), "order {order}: {errors:?}");
    }
    // With h = tau/80: h^4/384 = 1e-7 for values, h^2/12 = 5e-4 for second derivatives.
    assert!(errors[2][0] < 1.1e-7 && errors[2][2] < 5.5e-4, "{errors:?}");
}

#[test]
fn drawn_splines_meet_their_points_without_jumps() {
    let mut draw = Draw(17);
    for round in 0..300 {
        let n = 4 + (draw.next() * 20.0) as usize;
        let mut x = vec![draw.next() * 4.0 - 2.0];
        while x.len() < n {
            x.push(x[x.len() - 1] + 0.02 + draw.next());
        }
        let mut y: Vec<f64> = (0..n).map(|_| draw.next() * 2.0 - 1.0).collect();
        let ends = match round % 3 {
            0 => Ends::Natural,
            1 => Ends::Slopes(draw.next() - 0.5, draw.next() - 0.5),
            _ => Ends::Periodic,
        };
        if ends == Ends::Periodic {
            y[n - 1] = y[0];
        }
        let f = Piecewise::spline(&x, &y, ends, Beyond::Linear).expect("good points");
        for k in 0..n {
            let shift = f.period().map_or(0.0, |p| p * f64::from(round % 7 - 3));
            assert!((f.eval(x[k] + shift) - y[k]).abs() < 1e-11, "{round}: point {k}");
            // Just before and just after; at slopes that were requested the second derivative may jump into the straight line.
            let inner = k > 0 && k < n - 1 || !matches!(ends, Ends::Slopes(..));
            let [a, b] = [x[k] + shift - 1e-9, x[k] + shift + 1e-9].map(|x| derivatives(&f, x));
            let size = f.pieces().iter().fold(1.0_f64, |m, p| m.max(p[3].abs()).max(p[2].abs()));
            assert!((a[1] - b[1]).abs() < 1e-8 * size, "{round}: slope at point {k}");
            assert!(!inner || (a[2] - b[2]).abs() < 1e-7 * size, "{round}: second derivative at point {k}: {} {}", a[2], b[2]);
        }
        let [first, last] = f.range();
        match ends {
            Ends::Natural => assert!([first, last].iter().all(|x| derivatives(&f, *x)[2].abs() < 1e-9)),
            Ends::Slopes(a, b) => assert!((f.slope(first) - a).abs() < 1e-10 && (f.slope(last) - b).abs() < 1e-9),
            Ends::Periodic => {}
        }
        // Exact derivatives against central differences inside a piece.
        let x0 = 0.37 * x[1] + 0.63 * x[2];
        let h = 1e-4 * (x[2] - x[1]);
        let difference = (f.eval(x0 + h) - f.eval(x0 - h)) / (2.0 * h);
        let size = f.pieces().iter().fold(1.0_f64, |m, p| m.max(p[3].abs()));
        assert!((difference - derivatives(&f, x0)[1]).abs() < 1e-6 * size, "{round}");
    }
}

#[test]
fn points_that_make_no_spline_are_refused_by_number() {
    let try_it = |x: &[f64], y: &[f64], ends| Piecewise::spline(x, y, ends, Beyond::Hold).expect_err("refused");
    assert_eq!(try_it(&[0.0, 1.0], &[0.0, 1.0], Ends::Natural), SplineError::TooFew(3));
    assert_eq!(try_it(&[0.0, 1.0, 2.0], &[0.0, 1.0, 0.0], Ends::Periodic), SplineError::TooFew(4));
    assert_eq!(try_it(&[0.0, 1.0, 1.0], &[0.0; 3], Ends::Natural), SplineError::NotRising(2));
    assert_eq!(try_it(&[0.0, 2.0, 1.0], &[0.0; 3], Ends::Natural), SplineError::NotRising(2));
    assert_eq!(try_it(&[0.0, f64::NAN, 1.0], &[0.0; 3], Ends::Natural), SplineError::NotFinite(1));
    assert_eq!(try_it(&[0.0, 1.0, 2.0], &[0.0, 1.0, f64::INFINITY], Ends::Natural), SplineError::NotFinite(2));
    assert_eq!(try_it(&[0.0, 1.0, 2.0, 3.0], &[0.0, 1.0, 0.0, 0.1], Ends::Periodic), SplineError::NotClosed);
    assert!(matches!(try_it(&[0.0, 1e-300, 1.0], &[-1e200, 1e200, 0.0], Ends::Natural), SplineError::NotFinite(_)));
}

#[test]
fn seams_are_found_in_both_directions() {
    let f = Piecewise::spline(&[0.0, 1.0, 3.0, 4.0], &[0.0, 1.0, 2.0, 0.0], Ends::Natural, Beyond::Linear).expect("good points");
    assert_eq!([-5.0, 0.0, 2.0, 3.0].map(|x| f.next_seam(x, true)), [Some(0.0), Some(1.0), Some(3.0), Some(4.0)]);
    assert_eq!([5.0, 4.0, 3.5, 1.0].map(|x| f.next_seam(x, false)), [Some(4.0), Some(3.0), Some(3.0), Some(0.0)]);
    assert_eq!([f.next_seam(4.0, true), f.next_seam(0.0, false)], [None, None]);
    let f = Piecewise::spline(&[0.0, 1.0, 3.0, 4.0], &[0.0, 1.0, 2.0, 0.0], Ends::Periodic, Beyond::Linear).expect("closed");
    assert_eq!([3.5, 4.0, -0.5, 9.5].map(|x| f.next_seam(x, true)), [Some(4.0), Some(5.0), Some(0.0), Some(11.0)]);
    assert_eq!([4.5, 4.0, 0.0, -4.0].map(|x| f.next_seam(x, false)), [Some(4.0), Some(3.0), Some(-1.0), Some(-5.0)]);
}

#[test]
fn a_cubic_table_reproduces_a_parabola_beyond_its_points() {
    let x = [0.0, 1.0, 2.5, 4.0];
    let f = Piecewise::cubic(&x, &x.map(|x| x * x - 3.0 * x)).expect("rising");
    for s in [-0.5, 0.3, 1.7, 3.9, 4.5] {
        assert!((f.eval(s) - (s * s - 3.0 * s)).abs() < 1e-13);
    }
    assert_eq!(f.limits(0), [None, Some(1.0)]);
}

#[test]
fn pieces_of_a_periodic_function_are_counted_in_both_directions() {
    // Two arcs of x (1 - x), one up and one down.
    let f = Piecewise::from_pieces(&[0.5, 1.5, 2.5], &[[0.0, 1.0, -1.0, 0.0], [0.0, -1.0, 1.0, 0.0]], Some(2.0)).expect("fits");
    for turns in [-3.0, 0.0, 1.0, 40.0] {
        for (x, y) in [(0.75, 0.1875), (1.0, 0.25), (1.5, 0.0), (2.0, -0.25)] {
            assert_eq!(f.eval(x + 2.0 * turns), y);
        }
    }
    assert_eq!([f.piece(-0.25), f.piece(0.5), f.piece(2.5)], [-1, 0, 2]);
    assert_eq!(f.limits(-1), [Some(-0.5), Some(0.5)]);
    assert_eq!(f.piece(f64::MAX), i64::MAX);
    assert!(Piecewise::from_pieces(&[0.0, 1.0], &[[f64::NAN; 4]], None).is_none());
    assert!(Piecewise::from_pieces(&[0.0, 1.0], &[], None).is_none());
}

#[test]
fn lines_through_points_that_do_not_rise_are_refused() {
    assert_eq!(Piecewise::linear(&[0.0, 0.0], &[1.0, 2.0]), Err(SplineError::NotRising(1)));
    assert_eq!(Piecewise::linear(&[0.0], &[1.0]), Err(SplineError::TooFew(2)));
}
