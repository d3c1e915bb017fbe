//! Tests of expressions: values, derivatives against differences, errors with their positions, malicious texts.

use super::*;
use ExprErrorKind as E;

/// A few units, names `L` (0.5 m), `m` (2, unknown), `zero`, `link-1.angle` (variable 1) and `t`.
struct Sample;
impl Names for Sample {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        Some(match name {
            "t" => Symbol::Variable(0),
            "link-1.angle" => Symbol::Variable(1),
            "L" => Symbol::Quantity(0.5, Dimension::LENGTH),
            "m" => Symbol::Value(2.0),
            "zero" => Symbol::Value(0.0),
            _ => return None,
        })
    }
    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        Some(match name {
            "mm" => (1e-3, Dimension::LENGTH),
            "m" => (1.0, Dimension::LENGTH),
            "s" => (1.0, Dimension::TIME),
            "kg" => (1.0, Dimension::MASS),
            "kN" => (1e3, Dimension::FORCE),
            "deg" | "°" => (std::f64::consts::PI / 180.0, Dimension::NONE),
            _ => return None,
        })
    }
}

fn value(text: &str) -> f64 {
    let (expr, _) = Expr::parse_quantity(text, &mut Sample).unwrap_or_else(|e| panic!("{text}: {e}"));
    expr.eval(&[0.7, 0.25])
}

fn error(text: &str) -> ExprError {
    Expr::parse_quantity(text, &mut Sample).expect_err(text)
}

#[test]
fn precedence_is_the_usual_one() {
    for (text, expected) in [
        ("1 + 2*3", 7.0),
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("2**3", 8.0),
        ("-2**2 + 1", -3.0),
        ("(1 + 2)*3", 9.0),
        ("8/4/2", 1.0),
        ("8 - 4 - 2", 2.0),
        ("2*-3", -6.0),
        ("--3", 3.0),
        ("+3", 3.0),
        ("1e-3", 1e-3),
        (".5 + 5.", 5.5),
        ("1 < 2", 1.0),
        ("1 + 1 == 2", 1.0),
        ("1 != 1", 0.0),
        ("if(1 >= 2, 10, 20)", 20.0),
        ("if(zero == 0, 1, 1/zero)", 1.0),
        ("max(1, 5, 3)", 5.0),
        ("min(4, 2, 3, 9)", 2.0),
        ("mod(-1, 3)", 2.0),
        ("sign(-2) + sign(0)", -1.0),
        ("step(1, 1)", 1.0),
        ("ramp(0.25, 0, 1)", 0.25),
        ("smoothstep(0.5, 0, 1)", 0.5),
        ("hypot(3, 4)", 5.0),
        ("pow(2, 0.5)^2", 2.0),
        ("log10(1000)", 3.0),
        ("log(e)", 1.0),
        ("atan2(1, 1)*4", std::f64::consts::PI),
        ("2*t", 1.4),
        ("link-1.angle", 0.25),
        ("t-1", -0.3),
        ("m*L^2/12", 2.0 * 0.25 / 12.0),
        ("40 mm", 0.04),
        ("2*40 mm + L", 0.58),
        ("90 deg", std::f64::consts::FRAC_PI_2),
        ("90° * t", std::f64::consts::FRAC_PI_2 * 0.7),
        ("2 kN/m", 2000.0),
        ("3 m/s^2*t", 2.1),
        ("1 m^-1*t", 0.7),
        // With spaces the operator belongs to the expression: here `m` is the name, which is 2.
        ("3 kN * m", 6000.0),
        ("3 kN / m", 1500.0),
        ("3 kN*m", 3000.0),
    ] {
        let got = value(text);
        assert!((got - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{text} = {got}, not {expected}");
    }
}

#[test]
fn dimensions_are_followed() {
    let kind = |text: &str| Expr::parse_quantity(text, &mut Sample).unwrap_or_else(|e| panic!("{text}: {e}")).1;
    assert_eq!(kind("2*40 mm"), Kind::Quantity(Dimension::LENGTH));
    assert_eq!(kind("L^2*3 kg"), Kind::Quantity(Dimension::INERTIA));
    assert_eq!(kind("sqrt(L^2)"), Kind::Quantity(Dimension::LENGTH));
    assert_eq!(kind("m*L^2"), Kind::Unknown);
    assert_eq!(kind("1/(2 s)"), Kind::Quantity(Dimension::RATE));
    assert_eq!(kind("0.1 + 5 mm"), Kind::Quantity(Dimension::LENGTH));
    assert_eq!(kind("sin(30 deg)"), Kind::Number);
    assert_eq!(error("L + 3 kg").kind, E::Mismatch(Dimension::LENGTH, Dimension::MASS));
    assert_eq!(error("sin(L)").kind, E::NotPlain("sin", Dimension::LENGTH));
    assert_eq!(error("if(1, L, 3 kg)").kind, E::Mismatch(Dimension::LENGTH, Dimension::MASS));
}

#[test]
fn errors_tell_what_and_where() {
    for (text, kind, range) in [
        ("", E::Empty, 0..0),
        ("1 + ", E::Syntax { expected: "a number, a name or a parenthesis", found: String::new() }, 4..4),
        ("2*(1 + 3", E::Syntax { expected: "a closing parenthesis", found: String::new() }, 8..8),
        ("1 2", E::Syntax { expected: "an operator or the end", found: "2".into() }, 2..3),
        ("1 + $", E::Syntax { expected: "a number, a name or an operator", found: "$".into() }, 4..5),
        ("2*q", E::UnknownName("q".into()), 2..3),
        ("2*sine(t)", E::UnknownFunction("sine".into()), 2..6),
        ("atan2(1)", E::Arguments { function: "atan2".into(), needed: (2, 2), given: 1 }, 0..8),
        ("3 + 1/(m - 2)", E::DivisionByZero, 4..13),
        ("t/0", E::DivisionByZero, 0..3),
        ("zero^-2", E::DivisionByZero, 0..7),
        ("1 + sqrt(-1)", E::NotFinite, 4..12),
        ("1e999", E::NotFinite, 0..5),
        ("-.inf", E::NotFinite, 1..5),
        ("nan", E::NotFinite, 0..3),
        ("10^300*10^300", E::NotFinite, 0..13),
        ("40 furlong", E::UnknownUnit("furlong".into()), 3..10),
        ("if(t < 1, 1/0, 2)", E::DivisionByZero, 10..13),
    ] {
        assert_eq!(error(text), ExprError { kind, range }, "{text}");
    }
}

#[test]
fn hostile_texts_end_with_an_error() {
    let n = 200_000;
    assert_eq!(error(&"(".repeat(n)).kind, E::TooDeep);
    assert_eq!(error(&("(".repeat(n) + "1" + &")".repeat(n))).kind, E::TooDeep);
    assert_eq!(error(&("-".repeat(n) + "1")).kind, E::TooDeep);
    assert_eq!(error(&("2^".repeat(n) + "1")).kind, E::TooDeep);
    assert_eq!(error(&("sin(".repeat(n) + "t")).kind, E::TooDeep);
    assert_eq!(error(&("1+".repeat(n) + "1")).kind, E::TooLong);
    assert_eq!(error(&("t-".repeat(n) + "t")).kind, E::TooLong);
    // The number of values on the stack is limited as well.
    assert_eq!(error(&("t+(".repeat(100) + "t" + &")".repeat(100))).kind, E::TooDeep);
}

#[test]
fn derivatives_agree_with_differences() {
    for text in [
        "(pi/4)*cos(2*t)",
        "t^3 - 2*t^2 + 1",
        "sin(t)*exp(-t)/(1 + t^2)",
        "sqrt(1 + t^2)",
        "atan2(sin(3*t), 2 + cos(3*t))",
        "if(t < 0.5, t^2, 2*t)",
        "smoothstep(t, 0, 2)",
        "tanh(4*t) + asin(t/3) - acos(t/4) + atan(t)",
        "ln(1 + t) + log10(2 + t) + 2^t",
        "max(t, 0.1)*min(t^2, 5)",
        "hypot(t, 1) + sinh(t) - cosh(t)",
        "abs(t - 3)^1.5",
    ] {
        let f = Expr::time(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let h = 1e-4;
        for t in [0.2, 0.7, 1.3] {
            let [y, dy, ddy] = f.time_derivatives(t);
            let at = |t: f64| f.eval(&[t]);
            assert!((y - at(t)).abs() <= 1e-14 * (1.0 + y.abs()), "{text}");
            // Central differences: truncation h^2 = 1e-8, rounding u/h^2 = 1e-8, both times factors of order ten.
            assert!((dy - (at(t + h) - at(t - h)) / (2.0 * h)).abs() < 1e-5, "{text} first derivative at {t}");
            assert!((ddy - (at(t + h) - 2.0 * at(t) + at(t - h)) / (h * h)).abs() < 1e-5, "{text} second derivative at {t}");
        }
    }
}

#[test]
fn constants_and_variables_are_told_apart() {
    assert_eq!(Expr::constant(3.0).constant_value(), Some(3.0));
    let f = Expr::time("2*pi*t").unwrap();
    assert!(f.uses(0) && !f.uses(1) && !f.is_constant() && f.constant_value().is_none());
    assert!(Expr::time("0*1 + sin(2)").unwrap().is_constant());
    assert!(f.eval::<f64>(&[]).is_nan());
    assert!(Expr::time("2*q").is_err());
}

#[test]
fn random_programs_equal_the_same_arithmetic_in_rust() {
    // Texts with every pair fully parenthesised are compared with the values computed while they are written.
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = move |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % n
    };
    let t = 0.37;
    for _ in 0..500 {
        let (mut text, mut expected) = ("t".to_string(), t);
        for _ in 0..random(12) {
            let c = 1.0 + random(90) as f64 / 7.0;
            (text, expected) = match random(6) {
                0 => (format!("({text} + {c})"), expected + c),
                1 => (format!("({c} - {text})"), c - expected),
                2 => (format!("({text}*{c})"), expected * c),
                3 => (format!("({text}/{c})"), expected / c),
                4 => (format!("sin({text})"), fourbar_math::elementary::sin(expected)),
                _ => (format!("(-{text})"), -expected),
            };
        }
        let got = Expr::time(&text).unwrap_or_else(|e| panic!("{text}: {e}")).eval(&[t]);
        assert_eq!(got, expected, "{text}");
    }
}

#[test]
fn random_texts_never_panic() {
    let pieces = [
        "(", ")", "1", "t", "+", "-", "*", "/", "^", ",", "if(", "sin(", "0", ".", "e", "<=", "==", "mm", " ", "é", "1e", "min(", "**", "L",
    ];
    let mut seed = 7u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text += pieces[(seed >> 33) as usize % pieces.len()];
        }
        if let Ok((expr, _)) = Expr::parse_quantity(&text, &mut Sample) {
            let _ = expr.eval(&[0.5, 0.5]);
        }
    }
}

/// `lift`, a cubic that its spline reproduces, read at lengths and giving angles; `cam-2`, a sine that repeats; functions of time.
struct WithData;
impl Names for WithData {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        match name {
            "ph" => Some(Symbol::Function(Expr::time("2*t^2").expect("reads"), Kind::Unknown)),
            "two" => Some(Symbol::Function(Expr::constant(2.0), Kind::Number)),
            "risen" => Some(Symbol::Function(self.parse("lift(t)"), Kind::Unknown)),
            "huge" => {
                let mut text = "t".to_string();
                text += &" + t".repeat(2000);
                Some(Symbol::Function(Expr::time(&text).expect("reads"), Kind::Unknown))
            }
            _ => Sample.symbol(name),
        }
    }
    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        Sample.unit(name)
    }
    fn table(&mut self, name: &str) -> Option<Table> {
        use fourbar_math::piecewise::{Beyond, Ends, Piecewise};
        let made = |f: fn(f64) -> f64, x: &[f64], ends| {
            let y: Vec<f64> = x.iter().map(|x| f(*x)).collect();
            std::sync::Arc::new(Piecewise::spline(x, &y, ends, Beyond::Hold).expect("good points"))
        };
        let (function, x, y) = match name {
            "lift" => {
                let f = made(|x| x * x * x - x, &[-1.0, -0.2, 0.5, 2.0], Ends::Slopes(2.0, 11.0));
                (f, Some(Dimension::LENGTH), Some(Dimension::NONE))
            }
            "cam-2" => {
                let points: Vec<f64> = (0..=64).map(|k| std::f64::consts::TAU * f64::from(k) / 64.0).collect();
                (made(f64::sin, &points, Ends::Periodic), None, None)
            }
            _ => return None,
        };
        Some(Table { name: name.into(), function, x, y, outside: None })
    }
}

impl WithData {
    fn parse(&mut self, text: &str) -> Expr {
        Expr::parse_quantity(text, self).unwrap_or_else(|e| panic!("{text}: {e}")).0
    }
}

#[test]
fn tables_are_called_by_name_with_exact_derivatives() {
    let f = WithData.parse("2*lift(t^2) + 1");
    for t in [-0.9_f64, 0.1, 0.6, 1.2] {
        let [y, d, dd] = f.time_derivatives(t);
        assert!((y - (2.0 * (t.powi(6) - t * t) + 1.0)).abs() < 1e-13, "{t}");
        assert!(
            (d - 2.0 * (6.0 * t.powi(5) - 2.0 * t)).abs() < 1e-12 && (dd - 2.0 * (30.0 * t.powi(4) - 2.0)).abs() < 1e-11,
            "{t}: {d} {dd}"
        );
    }
    // A hyphen belongs to the name of a table if such a table exists.
    assert!((WithData.parse("cam-2(t)").eval(&[0.7]) - 0.7_f64.sin()).abs() < 1e-6);
    assert_eq!(WithData.parse("m-lift(0.5)").constant_value(), Some(2.0 + 0.375));
    // Constant calls are numbers, and the table is no longer needed.
    let folded = WithData.parse("lift(0.5)*t");
    assert!(folded.tables().is_empty() && folded == WithData.parse("-0.375*t"));
    assert_eq!(f.to_text(|_| "t".into()), "2*lift(t^2) + 1");
    let calls = WithData.parse("lift(2*t) + sin(cam-2(lift(t) + 1))").table_calls();
    let words: Vec<String> = calls.iter().map(|(t, a)| format!("{} at {}", t.name, a.to_text(|_| "t".into()))).collect();
    assert_eq!(words, ["lift at 2*t", "lift at t", "cam-2 at lift(t) + 1"]);
}

#[test]
fn tables_check_their_argument_and_give_their_dimension() {
    let kind = |text: &str| Expr::parse_quantity(text, &mut WithData).map(|(_, kind)| kind);
    assert_eq!(kind("lift(t)"), Ok(Kind::Quantity(Dimension::NONE)));
    assert_eq!(kind("cam-2(t)"), Ok(Kind::Unknown));
    assert!(kind("lift(40 mm*t)").is_ok());
    let wrong = kind("lift(2 s + t)").expect_err("a time");
    assert_eq!((wrong.kind, wrong.range), (E::WrongArgument("lift".into(), Dimension::LENGTH, Dimension::TIME), 5..12));
    let mismatch = kind("lift(t) + 1 mm").expect_err("angle and length");
    assert_eq!(mismatch.kind, E::Mismatch(Dimension::NONE, Dimension::LENGTH));
    assert_eq!(kind("lift(t, 2)").expect_err("two").kind, E::Arguments { function: "lift".into(), needed: (1, 1), given: 2 });
    assert!(matches!(kind("lift()").expect_err("none").kind, E::Arguments { .. }));
    assert_eq!(kind("lift").expect_err("no call").kind, E::UnknownName("lift".into()));
    assert!(matches!(kind("lift(t").expect_err("open").kind, E::Syntax { .. }));
}

#[test]
fn functions_are_written_out_where_they_are_named() {
    assert_eq!(WithData.parse("sin(ph) + ph"), WithData.parse("sin(2*t^2) + 2*t^2"));
    assert_eq!(WithData.parse("two*3").constant_value(), Some(6.0));
    assert_eq!(WithData.parse("t^two"), WithData.parse("t^2"));
    assert_eq!(WithData.parse("risen*risen"), WithData.parse("lift(t)*lift(t)"));
    assert_eq!(WithData.parse("if(1 > 2, risen, ph)"), WithData.parse("2*t^2"));
    // Programs cannot grow without bound, however short the text.
    let text = format!("huge{}", " + huge".repeat(40));
    assert_eq!(Expr::parse_quantity(&text, &mut WithData).expect_err("too many").kind, E::TooMany);
}

#[test]
fn renumbered_variables_read_other_places() {
    let f = Expr::time("t^2 + 1").expect("reads").renumbered(|_| 2);
    assert_eq!(f.eval(&[9.0, 9.0, 3.0]), 10.0);
}

/// The third derivative of the smoother step is continuous, that of the smooth step is not.
#[test]
fn smoother_steps_join_without_a_jump_of_the_third_derivative() {
    let third = |text: &str, t: f64| Expr::time(text).expect("reads").eval(&[fourbar_math::Taylor::<4>::variable(t)]).derivative(3);
    for edge in [1.0, 3.0] {
        let jump = |f: &str| (third(f, edge - 1e-9) - third(f, edge + 1e-9)).abs();
        assert!(jump("smootherstep(t, 1, 3)") < 1e-6 && jump("smoothstep(t, 1, 3)") > 7.0);
    }
    let [y, d, dd] = Expr::time("smootherstep(t, 1, 3)").expect("reads").time_derivatives(2.0);
    assert!((y - 0.5).abs() < 1e-15 && (d - 35.0 / 32.0).abs() < 1e-14 && dd.abs() < 1e-13);
}

/// Times at which smooth steps begin and end are found if they are numbers, and only then.
#[test]
fn ends_of_smooth_steps_are_found() {
    for (text, ends) in [
        ("smoothstep(t, 0.2, 0.25)*(1 - smootherstep(t, 0.3, 0.35))", vec![0.2, 0.25, 0.3, 0.35]),
        ("3*smoothstep(2*(t - L)/m, -(1), sqrt(4))", vec![-0.5, 2.5]),
        ("smoothstep(-t, -3, -1)", vec![3.0, 1.0]),
        ("smoothstep(smoothstep(t, 1, 2), 0, 1)", vec![1.0, 2.0]),
        ("smoothstep(t^2, 0, 1) + smoothstep(t, 0, link-1.angle) + smoothstep(link-1.angle, 0, 1) + smoothstep(1, 0, 2) + t", vec![]),
    ] {
        let (expr, _) = Expr::parse_quantity(text, &mut Sample).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(expr.smooth_ends(0), ends, "{text}");
    }
}

/// On its pieces the restricted expression equals the original, guards are positive there, and beyond a guard the next piece applies.
#[test]
fn expressions_are_their_pieces() {
    let texts = [
        "if(x < 0.3, sin(x), 2 - y)",
        "abs(x - y)*sign(y - 0.2) + floor(3*x)",
        "min(x, y, 0.5) + max(x*y, 0.1)^2 - ceil(2*y)",
        "mod(x, 0.3) + step(y, 0.4)*ramp(x, 0.2, 0.7)",
        "if((x > 0.2)*(y <= 0.7), sqrt(abs(x - 0.2)), if(y > x, exp(y), -x))",
        "smoothstep(x, 0.1, 0.8) + if(x, y, 1)",
    ];
    let mut resolve = |n: &str| match n {
        "x" => Some(Symbol::Variable(0)),
        "y" => Some(Symbol::Variable(1)),
        _ => None,
    };
    let mut seed = 11_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / (1_u64 << 31) as f64 * 2.0 - 0.5
    };
    for (k, text) in texts.iter().enumerate() {
        let f = Expr::parse(text, &mut resolve).expect("reads");
        assert_eq!(f.switches(), k != 5, "{text}");
        let mut passed = 0;
        for _ in 0..2000 {
            let (a, b) = ([random(), random()], [random(), random()]);
            let pieces = f.pieces(&a, None);
            let kept = f.in_pieces(&pieces);
            // Beyond its piece the base of a root is kept at zero.
            assert!(k == 5 || text.contains("sqrt") || !kept.switches(), "{text}: {kept:?}");
            assert_eq!(kept.eval::<f64>(&a).to_bits(), f.eval::<f64>(&a).to_bits(), "{text} at {a:?}");
            let mut guards = Guards::new();
            f.guards(&pieces, &a, &mut guards);
            assert!(guards.iter().all(|g| *g >= 0.0), "{text} at {a:?}: {guards:?}");
            // The first guard that reaches zero on the line to the other point.
            let at = |s: f64| [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
            let first = (1..=400).map(|k| f64::from(k) / 400.0).find(|s| {
                f.guards(&pieces, &at(*s), &mut guards);
                guards.iter().any(|g| *g < 0.0)
            });
            let Some(mut high) = first else {
                assert_eq!(kept.eval::<f64>(&b).to_bits(), f.eval::<f64>(&b).to_bits(), "{text} from {a:?} to {b:?}");
                continue;
            };
            let mut low = high - 1.0 / 400.0;
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                f.guards(&pieces, &at(middle), &mut guards);
                if guards.iter().any(|g| *g < 0.0) { high = middle } else { low = middle }
            }
            f.guards(&pieces, &at(high), &mut guards);
            let guard = guards.iter().position(|g| *g < 0.0).expect("one is below zero");
            let next = f.pieces(&at(high), Some((pieces.as_slice(), guard)));
            assert_ne!(next, pieces, "{text}");
            // Slightly beyond it the pieces are those valid at the point, unless another seam is there.
            let beyond = at(high + 1e-9);
            f.guards(&next, &beyond, &mut guards);
            if guards.iter().all(|g| *g > 0.0) {
                let (own, whole) = (f.in_pieces(&next).eval::<f64>(&beyond), f.eval::<f64>(&beyond));
                assert!((own - whole).abs() <= 1e-12 * whole.abs().max(1.0), "{text} at {beyond:?}: {own} {whole}");
                passed += 1;
            }
        }
        assert!(k == 5 || passed > 500, "{text}: {passed}");
    }
}
