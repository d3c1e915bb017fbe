//! Measures of runs with events and of columns in other units.

use fourbar::Trajectory;
use fourbar::expr::{Dimension, Names, Symbol};
use fourbar::random::Random;
use fourbar::trajectory::Column;
use fourbar_design::measure::Measure;

fn column(name: &str, unit: &'static str) -> Column {
    Column { name: name.into(), unit: unit.into() }
}

fn value(text: &str, r: &Trajectory) -> f64 {
    Measure::new(text, &r.columns).unwrap_or_else(|e| panic!("{e}")).of(r).unwrap_or_else(|e| panic!("{e}")).value
}

fn between(random: &mut Random, a: f64, b: f64) -> f64 {
    0.5 * (a + b) + 0.5 * (b - a) * random.number()
}

/// Piecewise cubics that jump at events, with two or three rows at the time of an event: values and crossings are those of the pieces.
#[test]
fn events_have_several_rows_with_one_time() {
    let mut random = Random(20_261_119);
    for case in 0..200 {
        let mut r = Trajectory::new(vec![column("t", "s"), column("y", "m")]);
        let (mut t, mut pieces) = (0.0, Vec::new());
        for _ in 0..3 {
            let c: [f64; 4] = std::array::from_fn(|_| random.number());
            // Four rows determine a cubic.
            let rows = 4 + (4.0 * (1.0 + random.number())) as usize;
            let start = t;
            for k in 0..rows {
                t += if k == 0 { 0.0 } else { between(&mut random, 0.01, 0.1) };
                let s: f64 = t - start;
                r.push(&[t, c[0] + s * (c[1] + s * (c[2] + s * c[3]))]);
            }
            if random.number() > 0.0 {
                let again = r.values[1][r.len() - 1] + 3.0;
                r.push(&[t, again]);
            }
            pieces.push((start, t, c));
        }
        let exact = |piece: &(f64, f64, [f64; 4]), t: f64| {
            let (s, c) = (t - piece.0, piece.2);
            c[0] + s * (c[1] + s * (c[2] + s * c[3]))
        };
        for (k, piece) in pieces.iter().enumerate() {
            let t = between(&mut random, piece.0 + 1e-6, piece.1 - 1e-6);
            let got = value(&format!("at(y, {t:?})"), &r);
            assert!((got - exact(piece, t)).abs() < 1e-9, "case {case}, piece {k}: {got} at {t} instead of {}", exact(piece, t));
            if k > 0 {
                let got = value(&format!("at(y, {:?})", piece.0), &r);
                assert!((got - piece.2[0]).abs() < 1e-12, "case {case}: at the event it is {got}, after it {}", piece.2[0]);
            }
        }
        // The integral, and thus the mean, is that of the rows of each piece; a jump takes no time.
        let [times, y] = [&r.values[0], &r.values[1]];
        let area: f64 = (1..r.len()).map(|k| 0.5 * (y[k] + y[k - 1]) * (times[k] - times[k - 1])).sum();
        assert!((value("mean(y)", &r) * t - area).abs() < 1e-12);
        // A level crossed for the first time: in a jump, the time is that of the event; otherwise the piece has the level there.
        let level = between(&mut random, -1.0, 1.0);
        if let Some(row) = (1..r.len()).find(|&k| y[k] > level).filter(|_| y[0] <= level) {
            let got = value(&format!("first(t, y > {level:?})"), &r);
            if times[row] == times[row - 1] {
                assert_eq!(got, times[row], "case {case}");
            } else {
                let off = pieces.iter().map(|p| (exact(p, got) - level).abs()).fold(f64::INFINITY, f64::min);
                assert!(got >= times[row - 1] && got <= times[row] && off < 1e-9, "case {case}: {got}, {off}");
            }
        }
    }
}

/// A column in a user-defined unit is read in SI, like the same quantity in SI.
#[test]
fn columns_in_other_units_are_read_in_si() {
    struct Known;
    impl Names for Known {
        fn symbol(&mut self, _name: &str) -> Option<Symbol> {
            None
        }
        fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
            [
                ("m", 1.0, Dimension::LENGTH),
                ("mm", 1e-3, Dimension::LENGTH),
                ("min", 60.0, Dimension::TIME),
                ("rad", 1.0, Dimension::NONE),
                ("deg", 1.0_f64.to_radians(), Dimension::NONE),
                ("kJ", 1e3, Dimension::TORQUE),
            ]
            .into_iter()
            .find(|u| u.0 == name)
            .map(|u| (u.1, u.2))
        }
    }
    let mut r = Trajectory::new(vec![
        column("t", "s"),
        column("x", "m"),
        column("s", "mm"),
        column("a", "deg"),
        column("n", "1/min"),
        column("v", "mm/min"),
        column("own", "bananas"),
        column("e", "kJ"),
        column("energy.total", "J"),
    ]);
    for k in 0..=100 {
        let t = 0.01 * f64::from(k);
        let x = 0.7 * t + 0.2 * t * t;
        r.push(&[t, x, 1e3 * x, x.to_degrees(), 60.0 * x, 6e4 * x, 5.0 * x, 1e-3 * x, x]);
    }
    let of = |text: &str| {
        let m = Measure::with(text, &r.columns, &[], &mut Known).unwrap_or_else(|e| panic!("{e}"));
        (m.of(&r).unwrap_or_else(|e| panic!("{e}")).value, m.unit())
    };
    for (other, plain) in [
        ("first(t, s > 500 mm)", "first(t, x > 500 mm)"),
        ("max(s)", "max(x)"),
        ("mean(s + x)", "2*mean(x)"),
        ("rms(a)", "rms(x/1 m)"),
        ("last(v)/last(n)", "last(x)/last(x)"),
        ("max(own)/5", "max(x/1 m)"),
    ] {
        let ((a, _), (b, _)) = (of(other), of(plain));
        assert!((a - b).abs() < 1e-12, "{other} is {a}, {plain} is {b}");
    }
    let units = ["max(s)", "integral(v)", "max(a)", "max(n)", "max(own)", "max(energy.total)", "max(e + energy.total)"].map(|m| of(m).1);
    let own = [Dimension::LENGTH, Dimension::LENGTH, Dimension::NONE, Dimension::RATE].map(Dimension::unit);
    assert_eq!(units[..2], own[..2]);
    assert_eq!((units[2].as_str(), units[3].as_str(), units[4].as_str()), ("1", own[3].as_str(), ""));
    assert_eq!(units[5..], ["J".to_string(), "J".into()], "{units:?}");
    assert!(Measure::with("max(s + t)", &r.columns, &[], &mut Known).is_err());
}

#[test]
fn a_reduction_inside_another_is_named() {
    let columns = ["t", "tip.x", "tip.y", "tip.z"].map(|n| column(n, if n == "t" { "s" } else { "m" }));
    for text in ["rms(tip.x - mean(tip.x))", "first(t, tip.x > 0.5*max(tip.x))", "max(distance(tip, ring)/max(tip.x))"] {
        let d = Measure::new(text, &columns).expect_err(text);
        assert!(d.message.contains("reductions cannot be nested"), "{d}");
    }
}
