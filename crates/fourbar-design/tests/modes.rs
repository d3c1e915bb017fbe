//! Modes with known values: closed forms, and the tables of the benchmark bicycle [Meijaard07].
#![allow(non_snake_case)]

use crate::common;

use common::{model, model_with, near, of_text};
use fourbar::analysis::assembly::assemble;
use fourbar::{Diagnostic, Model};
use fourbar_design::linear::{Linearized, Request, linearize};
use fourbar_design::modes::{Modes, floquet, modes};
use nalgebra::{Complex, DMatrix};

type C = Complex<f64>;

fn linear(model: &Model) -> Linearized {
    let state = assemble(model).expect("it closes").configuration;
    linearize(model, &state, &Request::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn found(model: &Model) -> Modes {
    modes(model, linear(model)).unwrap_or_else(|e| panic!("{e}"))
}

/// Distance to the nearest eigenvalue, of either sign of the imaginary part.
fn missed(m: &Modes, s: C) -> f64 {
    m.list.iter().fold(f64::INFINITY, |d, x| d.min((x.s - s).norm()).min((x.s.conj() - s).norm()))
}

#[test]
fn the_bicycle_has_its_published_eigenvalues() {
    let table = include_str!("data/bicycle.csv");
    let mut worst: f64 = 0.0;
    for line in table.lines().skip(1) {
        let x: Vec<f64> = line.split(',').map(|x| x.parse().expect("a number")).collect();
        let m = found(&model_with("bicycle", &[("v", &format!("{}", x[0]))]));
        assert_eq!(m.rigid + 4, m.states, "v = {}", x[0]);
        // Rear and front contact in the plane, the heading, the roll of the wheels; the speed itself.
        assert_eq!(m.states, 10);
        for k in 0..4 {
            let s = C::new(x[1 + 2 * k], x[2 + 2 * k]);
            let error = missed(&m, s) / s.norm().max(1.0);
            // Near the capsize speed the eigenvalue is a small difference.
            let allowed = if x[0] == 6.0 { 1e-9 } else { 1e-11 };
            assert!(error < allowed, "v = {}: {s} is off by {error:.1e}", x[0]);
            if x[0] != 6.0 {
                worst = worst.max(error);
            }
        }
    }
    println!("worst {worst:.1e}");
}

/// Sliders in a row, one with a spring and a damper, the others free; and two with circulatory coupling, whose four roots have the same
/// modulus.
#[test]
fn free_bodies_do_not_change_the_roots_of_others() {
    let seed = 20_261_118;
    println!("seed {seed}");
    let mut random = fourbar::random::Random(seed);
    for case in 0..30 {
        let n = 2 + case % 6;
        let own = case / 6 % n;
        let (m, k, c) = (2.0 + random.number(), 10f64.powf(2.0 + 2.0 * random.number()), 10f64.powf(random.number()));
        let mut text = "fourbar: 1\nbodies:\n".to_string();
        (0..n).for_each(|i| text += &format!("  b{i}: {{mass: {m}, inertia: [1, 1, 1], at: [{}, 0, 0]}}\n", i + 1));
        text += "joints:\n";
        (0..n).for_each(|i| {
            text += &format!("  j{i}: {{type: prismatic, bodies: [ground, b{i}], at: [{}, 0, 0], axis: [1, 0, 0]}}\n", i + 1)
        });
        text += &format!(
            "forces:\n  f: {{type: spring, between: [{{body: ground}}, {{body: b{own}}}], stiffness: {k}, damping: {c}, length: {}}}\n",
            own + 1
        );
        let found_here = found(&of_text(&text));
        let root = C::new(0.25 * (c / m).powi(2) - k / m, 0.0).sqrt();
        for s in [C::new(-0.5 * c / m, 0.0) + root, C::new(-0.5 * c / m, 0.0) - root] {
            assert!(missed(&found_here, s) < 1e-9 * s.norm(), "case {case}: {s} is missing in\n{text}");
        }
        assert_eq!(found_here.rigid, 2 * (n - 1), "case {case}");
        let pushed = format!(
            "{text}  u: {{type: actuator, joint: j0, effort: '{k}*j1.distance'}}\n  v: {{type: actuator, joint: j1, effort: '-{k}*j0.distance'}}\n"
        );
        if own > 1 {
            let size = (k / m).sqrt();
            let s = C::from_polar(size, std::f64::consts::FRAC_PI_4);
            assert!(missed(&found(&of_text(&pushed)), s) < 1e-9 * size, "case {case}: {s} is missing");
        }
    }
}

#[test]
fn the_bicycle_says_what_moves() {
    let m = found(&model("bicycle"));
    let weave = m.list.iter().find(|x| x.s.im > 1.0).expect("the weave");
    near(weave.s.re, -0.77534188219585, 1e-11);
    near(weave.s.im, 4.46486771378823, 1e-11);
    assert!(weave.words.contains("steer.angle"), "{}", weave.words);
    assert!(m.rigid_motions.iter().any(|w| w.contains("hub_r")), "{:?}", m.rigid_motions);
}

#[test]
fn masses_on_a_hanging_chain_swing_as_laguerres_polynomials_say() {
    let m = found(&model("laguerre5"));
    let omega = [2.9357149818712323, 6.798402755999611, 10.844497347181733, 15.221891708706378, 20.331113781783284];
    assert_eq!(m.list.len(), 5);
    for (x, y) in m.list.iter().zip(omega) {
        near(x.omega, y, 1e-11);
    }
}

#[test]
fn shorter_and_longer_chains_too() {
    for (n, omega) in [
        (1, &[5.718391382198319][..]),
        (2, &[4.376667283493205, 10.566209513803908]),
        (
            8,
            &[
                2.359691500255235,
                5.436087573001352,
                8.57965808156843,
                11.811904823880289,
                15.178969222521875,
                18.7564248601091,
                22.687445681913836,
                27.342721294638523,
            ],
        ),
    ] {
        let mut text = String::from("fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n");
        (1..=n).for_each(|k| text += &format!("  r{k}: {{mass: 0.7, inertia: 0, at: [0, 0, {}]}}\n", -0.3 * f64::from(k)));
        text += "joints:\n";
        for k in 1..=n {
            let base = if k == 1 { "ground".to_string() } else { format!("r{}", k - 1) };
            let at = -0.3 * f64::from(k - 1);
            text += &format!("  h{k}: {{type: revolute, bodies: [{base}, r{k}], at: [0, 0, {at}], axis: [0, 1, 0]}}\n");
        }
        let m = found(&fourbar_testing::common::parse(&text));
        assert_eq!(m.list.len(), omega.len());
        for (x, y) in m.list.iter().zip(omega) {
            near(x.omega, *y, 1e-9);
        }
    }
}

#[test]
fn damped_rods() {
    let m = found(&model("damped_rods4"));
    let known = [
        [-0.00293747365577509, 2.6678357843642746],
        [-0.15865839401482096, 6.439884189048745],
        [-1.0997638544757542, 11.275643244017674],
        [-2.460289762389732, 18.34905116679807],
    ];
    assert_eq!(m.list.len(), 4);
    for [re, im] in known {
        assert!(missed(&m, C::new(re, im)) < 1e-11);
    }
    near(m.list[0].damping, 0.00293747365577509 / m.list[0].omega, 1e-10);
}

#[test]
fn a_top_nutates_in_its_carrier() {
    let slow = found(&model("top"));
    assert!(missed(&slow, C::new(0.0, 10.91291665781007)) < 1e-9, "{:?}", slow.list.iter().map(|m| m.s).collect::<Vec<_>>());
    let plus = "(C*n + sqrt((C*n)^2 - 4*A*cos(tilt)*m*g*l))/(2*A*cos(tilt))";
    let fast = found(&model_with("top", &[("W", plus)]));
    assert!(missed(&fast, C::new(0.0, 13.96590936617081)) < 1e-9);
    // The centre moves around at the angular velocities of the closed form.
    for (m, W) in [(model("top"), 2.5330394460985524), (model_with("top", &[("W", plus)]), 15.641385271586199)] {
        let state = assemble(&m).expect("it closes").configuration;
        let speed = state.v[1].v.norm() / (0.2 * 0.6_f64.sin());
        assert!((speed - W).abs() < 1e-12 * W, "{speed} instead of {W}");
    }
    // Sleeping top: upright, with a spin above and below the stability limit.
    for (n, known) in [
        ("80", [C::new(0.0, 10.093683509993301), C::new(0.0, 3.2396498233400326)]),
        ("60", [C::new(-2.7748873851023226, 5.0), C::new(2.7748873851023226, 5.0)]),
        ("69", [C::new(0.0, 6.352079728939619), C::new(0.0, 5.147920271060383)]),
    ] {
        let m = found(&model_with("top", &[("tilt", "0"), ("n", n), ("W", "0")]));
        for s in known {
            assert!(missed(&m, s) < 1e-8, "n = {n}: {s} in {:?}", m.list.iter().map(|m| m.s).collect::<Vec<_>>());
        }
        assert_eq!(m.growing().is_some(), n == "60");
    }
}

#[test]
fn a_disk_rolls_upright_above_its_critical_speed() {
    let m = found(&model("rolling_disk"));
    assert!(missed(&m, C::new(0.0, 6.354525946126902)) < 1e-10);
    let m = found(&model_with("rolling_disk", &[("v", "0.5")]));
    assert!(missed(&m, C::new(3.983716857408418, 0.0)) < 1e-10);
    // Stable above sqrt(g r/3), unstable below.
    let critical = 1.1436782764396638;
    for (factor, grows) in [(1.0 - 1e-8, true), (1.0 + 1e-8, false)] {
        let m = found(&model_with("rolling_disk", &[("v", &format!("{:e}", critical * factor))]));
        let real = m.list.iter().fold(0.0_f64, |r, x| r.max(x.s.re));
        assert_eq!(real > 1e-6, grows, "{factor}: {real:e}");
    }
}

#[test]
fn a_rotor_whirls_forwards_and_backwards() {
    for (W, known) in [
        ("0", [288.6751345948129, 200.0, 200.0]),
        ("300", [631.8813079129867, 131.88130791298667, 200.0]),
        ("600", [1077.3502691896258, 77.35026918962575, 200.0]),
    ] {
        let m = found(&model_with("rotor", &[("W", W)]));
        for w in known {
            assert!(missed(&m, C::new(0.0, w)) < 1e-9 * w, "W = {W}: {w} in {:?}", m.list.iter().map(|m| m.s).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_pendulum_on_a_driven_shaft() {
    let m = found(&model("governor"));
    assert_eq!(m.states, 2);
    // Drawn in steady rotation: cos(angle) = g/(W^2 l).
    let ball = m.state.q[2].r;
    near(ball.x.atan2(-ball.z), 0.9944072120586994, 1e-12);
    assert!(missed(&m, C::new(0.0, 5.030616264435204)) < 1e-9, "{:?}", m.list.iter().map(|m| m.s).collect::<Vec<_>>());
}

#[test]
fn a_hung_plate_swings_by_tension_alone() {
    let m = found(&model("hung_plate"));
    let omega = [3.3015148038438356, 3.3015148038438356, 4.6690470119715, 20.0, 28.284271247461902, 28.284271247461902];
    assert_eq!(m.list.len(), 6);
    for (x, y) in m.list.iter().zip(omega) {
        near(x.omega, y, 1e-11);
    }
}

#[test]
fn the_transfer_function_of_a_cart_with_a_pole() {
    let model = model("cart_pole");
    let l = linear(&model);
    assert_eq!(
        (l.inputs.as_slice(), l.outputs.as_slice()),
        (&["u".to_string()][..], &["rail.distance".to_string(), "pin.angle".to_string()][..])
    );
    let n = l.A.nrows();
    let s = C::new(0.0, 1.0);
    let to = |M: &DMatrix<f64>| M.map(|x| C::new(x, 0.0));
    let X = (DMatrix::identity(n, n) * s - to(&l.A)).lu().solve(&to(&l.B)).expect("regular");
    let G = to(&l.C) * X + to(&l.D);
    assert!((G[(0, 0)] - C::new(-0.8374343832020997, 0.0)).norm() < 1e-11, "{}", G[(0, 0)]);
    assert!((G[(1, 0)] - C::new(0.08202099737532809, 0.0)).norm() < 1e-11, "{}", G[(1, 0)]);
    let m = modes(&model, l).expect("modes");
    assert!(missed(&m, C::new(5.2942016800053455, 0.0)) < 1e-10);
    assert_eq!(m.rigid, 2);
}

#[test]
fn what_is_neither_at_rest_nor_steady_is_refused() {
    let model = fourbar_testing::common::model("fourbar_3d");
    let state = assemble(&model).expect("it closes").configuration;
    let refused = |e: fourbar::Error| -> Diagnostic { e.cause().clone() };
    let d = refused(linearize(&model, &state, &Request::default()).expect_err("not steady"));
    assert_eq!(d.code.0, "S410");
    linearize(&model, &state, &Request { frozen: true, ..Request::default() }).expect("frozen");
}

/// A steady motion is periodic too: over one spin in body axes the top has the same exponents as in its carrier.
#[test]
fn a_top_over_one_spin_has_the_exponents_of_its_carrier() {
    let top = model("top");
    let state = assemble(&top).expect("it closes").configuration;
    let (tilt, n, W) = (0.6_f64, 90.0, 2.5330394460985524);
    let period = std::f64::consts::TAU / (n - W * tilt.cos());
    let m = floquet(&top, &state, period).unwrap_or_else(|e| panic!("{e}"));
    assert!(missed(&m, C::new(0.0, 10.91291665781007)) < 1e-6, "{:?}", m.list.iter().map(|m| m.s).collect::<Vec<_>>());
    assert_eq!(m.rigid, 4);
    let d = floquet(&top, &state, 1.1 * period).expect_err("another state").cause().clone();
    assert_eq!(d.code.0, "S412", "{d}");
}

/// A pendulum with a shaken pivot: Hill's equation, integrated here separately.
#[test]
fn a_shaken_pendulum_has_the_exponents_of_hills_equation() {
    for (e, w) in [(0.02, 40.0), (0.05, 7.0)] {
        let text = format!(
            "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n  pivot: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, {e}]}}\n  rod: {{mass: 2, inertia: [0.05, 0.05, 0.02], at: [0, 0, {}]}}\njoints:\n  rail: {{type: prismatic, bodies: [ground, pivot], at: [0, 0, 0], axis: [0, 0, 1]}}\n  pin: {{type: revolute, bodies: [pivot, rod], at: [0, 0, {e}], axis: [0, 1, 0]}}\ndrives:\n  shaker: {{joint: rail, distance: '{e}*(cos({w}*t) - 1)'}}\nstudy: {{t_end: 1}}\n",
            e - 0.4
        );
        let m = fourbar_testing::common::parse(&text);
        let state = assemble(&m).expect("it closes").configuration;
        let period = std::f64::consts::TAU / w;
        let found = floquet(&m, &state, period).unwrap_or_else(|e| panic!("{e}"));
        // (J + m l^2) x'' + m l (g + z'') x = 0 by classical Runge-Kutta steps.
        let (J, mass, l) = (0.05, 2.0, 0.4);
        let f = |t: f64, x: [f64; 2]| [x[1], -mass * l * (9.81 - e * w * w * (w * t).cos()) / (J + mass * l * l) * x[0]];
        let steps = 20_000;
        let h = period / f64::from(steps);
        let carried = |mut x: [f64; 2]| {
            for k in 0..steps {
                let t = h * f64::from(k);
                let add = |x: [f64; 2], d: [f64; 2], h: f64| [x[0] + h * d[0], x[1] + h * d[1]];
                let a = f(t, x);
                let b = f(t + 0.5 * h, add(x, a, 0.5 * h));
                let c = f(t + 0.5 * h, add(x, b, 0.5 * h));
                let d = f(t + h, add(x, c, h));
                x = [0, 1].map(|i| x[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
            }
            x
        };
        let (a, b) = (carried([1.0, 0.0]), carried([0.0, 1.0]));
        // The determinant is one: mu + 1/mu is the trace.
        let half = C::new(0.5 * (a[0] + b[1]), 0.0);
        let mu = half + (half * half - 1.0).sqrt();
        let s = mu.ln() / period;
        let best = missed(&found, s).min(missed(&found, -s));
        assert!(best < 1e-6 * s.norm(), "e = {e}, w = {w}: {s} in {:?}", found.list.iter().map(|m| m.s).collect::<Vec<_>>());
    }
}

/// A pendulum beside a light slider on a stiff, strongly damped spring, both in closed form: magnitudes that differ by eleven orders make
/// neither of them free. Random damping from zero to far beyond critical.
#[test]
fn soft_motions_beside_stiff_ones_are_no_free_ones() {
    let seed = 2718;
    println!("seed {seed}");
    let mut random = fourbar::random::Random(seed);
    for case in 0..20 {
        let c = if case == 0 { 0.0 } else { 10.0_f64.powf(2.0 + 4.0 * random.number()) };
        let k = 10.0_f64.powf(5.0 + random.number());
        let text = format!(
            "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  a: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, -0.5]}}
  b: {{mass: 1e-6, inertia: 0, at: [1, 0, 0]}}
joints:
  p: {{type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
  g: {{type: prismatic, bodies: [ground, b], at: [1, 0, 0], axis: [1, 0, 0]}}
forces:
  s: {{type: spring, between: [{{body: ground}}, {{body: b}}], stiffness: {k}, length: 1, damping: {c}}}
"
        );
        let m = found(&common::of_text(&text));
        assert_eq!((m.rigid, m.states), (0, 4), "k = {k}, c = {c}");
        assert!(missed(&m, C::new(0.0, (9.81_f64 * 0.5 / 0.35).sqrt())) < 1e-6, "k = {k}, c = {c}");
        // s^2 m + c s + k = 0: for real roots the slow one is -2 k/(c + root).
        let root = C::new(c * c - 4e-6 * k, 0.0).sqrt();
        let slow = C::new(-2.0 * k, 0.0) / (root + c);
        assert!(missed(&m, slow) < 1e-5 * slow.norm(), "k = {k}, c = {c}: {slow}");
    }
}
