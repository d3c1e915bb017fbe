use super::*;
use fourbar::expr::{Dimension, Names, Symbol};
use fourbar::random::Random;

fn column(name: &str, unit: &'static str) -> Column {
    Column { name: name.into(), unit: unit.into() }
}

/// A wave and a point on a circle, over ten seconds.
fn run(rows: usize, amplitude: f64, phase: f64) -> Trajectory {
    let mut out = Trajectory::new(vec![
        column("t", "s"),
        column("motor.effort", "N*m"),
        column("tip.x", "m"),
        column("tip.y", "m"),
        column("tip.z", "m"),
        column("slider-a.distance", "m"),
    ]);
    for k in 0..rows {
        let t = 10.0 * k as f64 / (rows - 1) as f64;
        let a = t * 0.7 + phase;
        out.push(&[t, amplitude * a.sin(), amplitude * a.cos(), amplitude * a.sin(), 0.0, 0.1 * t]);
    }
    out
}

fn value(text: &str, r: &Trajectory) -> f64 {
    Measure::new(text, &r.columns).unwrap_or_else(|e| panic!("{e}")).of(r).unwrap_or_else(|e| panic!("{e}")).value
}

#[test]
fn closed_forms() {
    let r = run(2001, 2.0, 0.0);
    let near = |text: &str, exact: f64, error: f64| {
        let x = value(text, &r);
        assert!((x - exact).abs() < error, "{text}: {x} instead of {exact}");
    };
    near("max(motor.effort)", 2.0, 1e-5);
    near("min(motor.effort) + 2", 0.0, 1e-5);
    near("max(abs(motor.effort))", 2.0, 1e-5);
    near("range(motor.effort)", 4.0, 1e-5);
    near("mean(motor.effort)", 2.0 * (1.0 - 7.0_f64.cos()) / 7.0, 1e-5);
    near("integral(motor.effort)", 2.0 * (1.0 - 7.0_f64.cos()) / 0.7, 1e-4);
    near("rms(motor.effort)", (2.0 - 14.0_f64.sin() / 7.0).sqrt(), 1e-5);
    near("last(tip.x)", 2.0 * 7.0_f64.cos(), 1e-12);
    near("at(motor.effort, 3.3331)", 2.0 * (0.7 * 3.3331_f64).sin(), 1e-10);
    near("length(tip)", 14.0, 1e-4);
    near("first(t, motor.effort > 1)", (0.5_f64).asin() / 0.7, 1e-9);
    near("first(motor.effort, t >= 2.00037)", 2.0 * (0.7 * 2.00037_f64).sin(), 1e-9);
    near("first(t, tip.x < -1)", (-0.5_f64).acos() / 0.7, 1e-9);
    near("last(slider-a.distance) - 1", 0.0, 1e-12);
    near("max(max(motor.effort), -min(motor.effort), 5)", 5.0, 1e-12);
    near("max(max(tip.y, tip.x))", 2.0, 1e-5);
    near("sqrt(max(tip.x)*max(tip.y))", 2.0, 1e-5);
}

#[test]
fn units_follow() {
    let r = run(10, 1.0, 0.0);
    let unit = |text: &str| Measure::new(text, &r.columns).expect("a measure").unit();
    assert_eq!(unit("max(abs(motor.effort))"), "N*m");
    assert_eq!(unit("range(tip.x)/range(tip.y)"), "1");
    assert_eq!(unit("integral(tip.x)"), "m*s");
    assert_eq!(unit("first(t, tip.x < 0)"), "s");
    assert_eq!(unit("length(tip)"), "m");
}

#[test]
fn mistakes_are_named() {
    let r = run(10, 1.0, 0.0);
    for (text, says) in [
        ("motor.effort", "every time"),
        ("max(tip.vx)", "outputs: {speed: tip.vx}"),
        ("max(motor.efort)", "motor.effort"),
        ("mean(motor.effort, 2)", "takes 1 argument"),
        ("at(motor.effort)", "takes 2 arguments"),
        ("at(motor.effort, tip.x)", "not a time"),
        ("max(motor.effort) + max(tip.x)", "cannot be added"),
        ("3 + 4", "reads no column"),
        ("max(motor.effort", "understood"),
        ("length(motor)", "understood"),
        ("", "empty"),
    ] {
        let d = Measure::new(text, &r.columns).expect_err(text);
        assert_eq!(d.code.0, "U410");
        assert!(format!("{} {}", d.message, d.help).contains(says), "{text}: {d}");
    }
    for text in ["at(tip.x, 11)", "first(t, tip.x > 3)", "max(1/tip.z)", "sqrt(min(tip.x))"] {
        let d = Measure::new(text, &r.columns).expect("a measure").of(&r).expect_err(text);
        assert_eq!(d.code.0, "S431", "{text}");
    }
}

#[test]
fn parameters_and_units_come_from_the_caller() {
    struct Known;
    impl Names for Known {
        fn symbol(&mut self, name: &str) -> Option<Symbol> {
            (name == "limit").then_some(Symbol::Quantity(4.0, Dimension::TORQUE))
        }
        fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
            (name == "ms").then_some((1e-3, Dimension::TIME))
        }
    }
    let r = run(2001, 2.0, 0.0);
    let m = Measure::with("at(motor.effort, 1000 ms)/limit", &r.columns, &[], &mut Known).expect("a measure");
    assert!((m.of(&r).expect("a value").value - 0.7_f64.sin() / 2.0).abs() < 1e-9);
}

#[test]
fn ties_are_seen() {
    let r = run(4001, 1.0, 0.0);
    let m = Measure::new("max(abs(motor.effort))", &r.columns).expect("a measure");
    let e = &m.of(&r).expect("a value").extremes[0];
    // The two peaks of the absolute value are equally high.
    assert_eq!(e.ties.len(), 1);
    let m = Measure::new("max(motor.effort*(1 + slider-a.distance))", &r.columns).expect("a measure");
    assert!(m.of(&r).expect("a value").extremes[0].ties.is_empty());
}

/// Derivatives along a change of the run equal differences of measures of the changed runs.
#[test]
fn derivatives_are_those_of_differences() {
    let seed = 20;
    println!("seed {seed}");
    let mut random = Random(seed);
    let texts = [
        "max(abs(motor.effort))",
        "min(tip.x)*mean(tip.y)",
        "rms(motor.effort)^2",
        "range(tip.x + 0.3*slider-a.distance)",
        "integral(motor.effort*tip.x)",
        "at(tip.x, 4.217)",
        "first(t, motor.effort > 0.4)",
        "first(tip.x, motor.effort > 0.4)",
        "length(tip)",
        "last(tip.y)/max(tip.x)",
    ];
    for round in 0..20 {
        let rows = 300 + (100.0 * (1.0 + random.number())) as usize;
        let (a, p) = (1.5 + 0.5 * random.number(), 0.15 * random.number());
        let (da, dp) = (random.number(), random.number());
        let base = run(rows, a, p);
        let h = 1e-6;
        let [less, more] = [-h, h].map(|h| run(rows, a + h * da, p + h * dp));
        let mut slopes = base.clone();
        for (c, column) in slopes.values.iter_mut().enumerate() {
            for (k, x) in column.iter_mut().enumerate() {
                *x = (more.values[c][k] - less.values[c][k]) / (2.0 * h);
            }
        }
        for text in texts {
            let m = Measure::new(text, &base.columns).expect("a measure");
            let got = m.along(&base, &slopes).expect("a value").value;
            let by = (m.of(&more).expect("a value").value - m.of(&less).expect("a value").value) / (2.0 * h);
            assert!((got.c[0] - m.of(&base).expect("a value").value).abs() < 1e-12);
            assert!((got.c[1] - by).abs() < 1e-5 * (1.0 + by.abs()), "round {round}, {text}: {} instead of {by}", got.c[1]);
        }
    }
}

/// Units of length alone.
struct Metres;
impl Names for Metres {
    fn symbol(&mut self, _name: &str) -> Option<Symbol> {
        None
    }
    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        (name == "m").then_some((1.0, Dimension::LENGTH))
    }
}

fn between(random: &mut Random, a: f64, b: f64) -> f64 {
    0.5 * (a + b) + 0.5 * (b - a) * random.number()
}

/// A circle of given radius about a point, in a plane through it.
fn circle(name: &str, radius: f64, at: [f64; 3], tilt: f64, points: usize) -> CurveOn {
    use nalgebra::{Matrix3, Vector2, Vector3};
    let place = |k: usize| {
        let a = std::f64::consts::TAU * k as f64 / points as f64;
        Vector2::new(radius * a.cos(), radius * a.sin())
    };
    let curve = fourbar::curve::Curve::new((0..points).map(place).collect(), true).unwrap_or_else(|e| panic!("{e:?}"));
    let R = Matrix3::new(1.0, 0.0, 0.0, 0.0, tilt.cos(), -tilt.sin(), 0.0, tilt.sin(), tilt.cos());
    CurveOn { name: name.into(), curve: std::sync::Arc::new(curve), at: Vector3::from(at), R }
}

#[test]
fn distances_from_curves() {
    let mut random = Random(20_261_118);
    for case in 0..40 {
        let (amplitude, radius) = (between(&mut random, 0.5, 2.0), between(&mut random, 0.5, 2.0));
        let (at, tilt) = (
            [between(&mut random, -3.0, 3.0), between(&mut random, -3.0, 3.0), between(&mut random, -3.0, 3.0)],
            between(&mut random, -1.0, 1.0),
        );
        let r = run(201, amplitude, between(&mut random, 0.0, 6.0));
        let curves = [circle("other", 1.0, [0.0; 3], 0.0, 12), circle("ring", radius, at, tilt, 400)];
        let exact = |row: usize| {
            let p: Vec<f64> = (0..3).map(|k| r.values[2 + k][row] - at[k]).collect();
            let [u, v] = [p[0], tilt.cos() * p[1] + tilt.sin() * p[2]];
            (u.hypot(v) - radius).abs()
        };
        let all: Vec<f64> = (0..r.len()).map(exact).collect();
        let (largest, end) = (all.iter().copied().fold(0.0, f64::max), all[200]);
        for (text, exact) in [
            ("max(distance(tip, ring))", largest),
            ("last(2*distance( tip , ring ) + 1 m) - 1 m", 2.0 * end),
            ("max(-distance(tip,ring))", -all.iter().copied().fold(f64::INFINITY, f64::min)),
        ] {
            let m = Measure::with(text, &r.columns, &curves, &mut Metres).unwrap_or_else(|e| panic!("{e}"));
            let x = m.of(&r).unwrap_or_else(|e| panic!("{e}")).value;
            assert!((x - exact).abs() < 1e-7, "case {case}, {text}: {x} instead of {exact}");
            assert_eq!(m.unit(), "m", "{text}");
        }
        // Its derivative along a change of the run equals differences.
        let m = Measure::with("rms(distance(tip, ring))", &r.columns, &curves, &mut Metres).unwrap_or_else(|e| panic!("{e}"));
        let mut slopes = r.clone();
        slopes.values.iter_mut().skip(1).flatten().for_each(|x| *x = between(&mut random, -1.0, 1.0));
        let moved = |h: f64| {
            let mut other = r.clone();
            for (x, d) in other.values.iter_mut().zip(&slopes.values).skip(1) {
                x.iter_mut().zip(d).for_each(|(x, d)| *x += h * d);
            }
            m.of(&other).unwrap_or_else(|e| panic!("{e}")).value
        };
        let (by, along) = ((moved(1e-6) - moved(-1e-6)) / 2e-6, m.along(&r, &slopes).unwrap_or_else(|e| panic!("{e}")).value.c[1]);
        assert!((by - along).abs() < 1e-5, "case {case}: {along} instead of {by}");
    }
}

#[test]
fn distances_that_are_not_understood() {
    let r = run(11, 1.0, 0.0);
    let curves = [circle("ring", 1.0, [0.0; 3], 0.0, 12)];
    for (text, word) in [
        ("max(distance(tip, rng))", "did you mean `ring`?"),
        ("max(distance(tap, ring))", "`distance(tip, track)`"),
        ("max(distance(tip))", "max(distance(tip, track))"),
        ("distance(tip, ring) + max(tip.x)", "rms(distance(tip, ring))"),
    ] {
        let e = Measure::with(text, &r.columns, &curves, &mut Metres).expect_err(text);
        assert!(e.code.0 == "U410" && format!("{} {}", e.message, e.help).contains(word), "{text}: {e:?}");
    }
}
