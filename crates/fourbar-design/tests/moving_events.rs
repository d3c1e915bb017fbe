//! Derivatives of runs in which the times of events, or of pieces of drives, depend on a parameter: closed forms.

use crate::common;

use common::{near, reads, with};
use fourbar::study::Study;
use fourbar_design::sensitivities::{Derivative, Method, compared, of_measures};

/// Derivatives of measures with respect to some parameters, and the method used.
fn found(text: &str, to: &[&str], measures: &[&str]) -> (Vec<Derivative>, Method, Vec<String>) {
    with(text, |p| {
        let which: Vec<usize> = to.iter().map(|n| p.find(n).expect("a parameter")).collect();
        let study = Study::of(&p.model().expect("a mechanism"));
        let read = reads(measures);
        let found = of_measures(p, &study, &which, &read).unwrap_or_else(|e| panic!("{e}"));
        // The comparison printed by `--check` is computed in the same way.
        let against = compared(p, &study, &which, &read, &found.derivatives).unwrap_or_else(|e| panic!("{e}"));
        assert!(against.iter().zip(&found.derivatives).all(|(a, d)| a.disagree(d).is_empty()), "{against:?}");
        let codes = found.run.warnings.iter().map(|w| w.code.0.to_string()).collect();
        (found.derivatives, found.run.method, codes)
    })
}

/// A dropped ball bounces once: the time of the impact depends on the height, and with it integrals over the jump of the speed.
#[test]
fn measures_follow_an_impact_that_moves() {
    let seed = 20_261_118;
    println!("seed {seed}");
    let mut random = fourbar::random::Random(seed);
    for case in 0..6 {
        let (h, e, g) = (1.0 + 0.4 * random.number(), 0.6 + 0.3 * random.number(), 9.81);
        let impact = |h: f64| f64::sqrt(2.0 * h / g);
        // Between the first impact and the second one.
        let end = impact(h) * (1.0 + e * (1.0 + 0.8 * random.number()));
        let text = format!(
            "
fourbar: 1
parameters: {{h: {h}, e: {e}}}
gravity: [0, 0, -{g}]
bodies: {{b: {{mass: 2, inertia: [0.1, 0.1, 0.1], at: [0, 0, h]}}}}
joints:
  s: {{type: prismatic, bodies: [ground, b], frames: {{ground: {{at: [0, 0, 0], axis: [0, 0, 1]}}, b: {{at: [0, 0, 0], axis: [0, 0, 1]}}}}, limits: {{min: 0, restitution: e}}}}
study: {{t_end: {end}, output_step: {}}}
",
            end / 97.0
        );
        let texts =
            ["integral(s.speed)", "first(t, s.speed > 0)", "max(t*s.speed)", "integral(abs(s.speed))", "last(s.distance)", "max(s.speed)"];
        let (d, method, codes) = found(&text, &["h", "e"], &texts);
        assert_eq!((method, codes), (Method::Differences, vec!["W424".to_string()]), "case {case}");
        let height = |h: f64, e: f64| {
            let (t, v) = (end - impact(h), e * g * impact(h));
            v * t - 0.5 * g * t * t
        };
        let top = |h: f64, e: f64| e * e * h;
        let turned = |h: f64, e: f64| impact(h) * (1.0 + e) < end;
        type Of<'a> = Box<dyn Fn(f64, f64) -> f64 + 'a>;
        let truth: [Of; 6] = [
            Box::new(|h, e| height(h, e) - h),
            Box::new(|h, _| impact(h)),
            // After the impact `t (v - g (t - t1))` is largest immediately or where `v + g t1 = 2 g t`.
            Box::new(|h, e| {
                let t = (0.5 * impact(h) * (1.0 + e)).max(impact(h));
                t * (e * g * impact(h) - g * (t - impact(h)))
            }),
            Box::new(|h, e| h + if turned(h, e) { 2.0 * top(h, e) - height(h, e) } else { height(h, e) }),
            Box::new(height),
            Box::new(|h, e| e * g * impact(h)),
        ];
        for (d, truth) in d.iter().zip(truth) {
            let step = 1e-5;
            let exact =
                [(truth(h + step, e) - truth(h - step, e)) / (2.0 * step), (truth(h, e + step) - truth(h, e - step)) / (2.0 * step)];
            for (k, exact) in exact.into_iter().enumerate() {
                // Integrals by trapezoids over a kink between rows have errors of the square of the output step.
                let allowed = if d.of.contains("abs") { 2e-2 } else { 2e-5 };
                assert!(
                    (d.slopes[k] - exact).abs() < allowed * (1.0 + exact.abs()),
                    "case {case} {}: {} instead of {exact}",
                    d.of,
                    d.slopes[k]
                );
            }
        }
    }
}

/// A crank and a cart moved by a drive from a certain time: accelerations jump there, and the start of the drive depends on a parameter.
#[test]
fn drives_of_pieces_are_followed_by_runs() {
    let cart = "
fourbar: 1
parameters: {T: 0.305 s, A: 0.5, V: 2}
bodies:
  cart: {mass: 3, inertia: [0.1, 0.1, 0.1]}
joints:
  s: {type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}
drives: {d: {joint: s, distance: 'A*max(0, t - T)^2 + V*t'}}
study: {t_end: 1, output_step: 10 ms}
";
    let (d, method, _) = found(cart, &["T", "A", "V"], &["integral(d.effort)", "last(s.distance)", "mean(s.acceleration)"]);
    assert_eq!(method, Method::Differences);
    // The effort is 3*2*A from T on.
    let left = 1.0 - 0.305;
    for (d, exact) in d.iter().zip([[-3.0, 6.0 * left, 0.0], [-left, left * left, 1.0], [-1.0, 2.0 * left, 0.0]]) {
        d.slopes.iter().zip(exact).for_each(|(x, y)| near(*x, y, 1e-7));
    }
    // With a free pendulum on the cart the motion needs dynamics; the start of the drive at `T` must not be missed there either.
    let swinging = cart.replace("joints:", "  b: {mass: 1, inertia: [0.02, 0.02, 0.001], at: [0, 0, -0.2]}\njoints:\n  j: {type: revolute, bodies: [cart, b], at: [0, 0, 0], axis: [0, -1, 0]}");
    let swinging = swinging.replace("bodies:\n", "gravity: [0, 0, -9.81]\nbodies:\n");
    let (d, method, _) = found(&swinging, &["T"], &["last(j.speed)", "integral(j.acceleration)", "mean(j.acceleration)"]);
    assert_eq!(method, Method::Differences);
    // The speed at the end is the integral of the acceleration.
    near(d[1].slopes[0], d[0].slopes[0], 1e-3);
    near(d[2].slopes[0], d[0].slopes[0], 1e-3);
    // A drive without pieces within the run is differentiated as usual, regardless of what it does later.
    let later = cart.replace("max(0, t - T)^2", "if(t > 5, t - 5, t^3)");
    let (_, method, _) = found(&later, &["A"], &["last(s.distance)"]);
    assert_eq!(method, Method::Kinematics);
}

/// If an impact lies at the end of the run, the speed there jumps as a function of the height: there is no derivative, which is reported.
#[test]
fn an_event_at_the_end_of_the_run_is_reported() {
    let end = f64::sqrt(2.0 / 9.81);
    let text = format!(
        "
fourbar: 1
parameters: {{h: 1}}
gravity: [0, 0, -9.81]
bodies: {{b: {{mass: 2, inertia: [0.1, 0.1, 0.1], at: [0, 0, h]}}}}
joints:
  s: {{type: prismatic, bodies: [ground, b], frames: {{ground: {{at: [0, 0, 0], axis: [0, 0, 1]}}, b: {{at: [0, 0, 0], axis: [0, 0, 1]}}}}, limits: {{min: 0, restitution: 0.5}}}}
study: {{t_end: {}, output_step: 10 ms}}
",
        end * (1.0 + 1e-6)
    );
    with(&text, |p| {
        let study = Study::of(&p.model().expect("a mechanism"));
        let found = of_measures(p, &study, &[0], &reads(&["last(s.speed)", "mean(s.distance)"])).unwrap_or_else(|e| panic!("{e}"));
        let told: Vec<&str> = found.run.warnings.iter().filter(|w| w.code.0 == "W423").map(|w| w.message.as_str()).collect();
        assert!(told.len() == 1 && told[0].contains("last(s.speed)") && told[0].contains("`h`"), "{told:?}");
        near(found.derivatives[1].slopes[0], 1.0, 1e-2);
    });
}
