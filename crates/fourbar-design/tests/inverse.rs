//! Inverse dynamics compared with virtual work, with other formulations, and with the motion caused by the efforts.

use fourbar::spec::ModelSpec;
use fourbar::study::Study;
use fourbar::{Diagnostic, Error};
use fourbar_design::inverse::{Inverse, Request, forward, inverse};
use fourbar_design::sizing::{Course, sizing};
use fourbar_io::{ReadOptions, read_model};

const TASK: &str = "
functions: {ph: '2*pi*smoothstep(t, 0, 1.2)'}
paths: {circle: {point: T, x: '0.12*cos(ph)', z: '0.45 + 0.12*sin(ph)'}}
motors: {left: {joint: base_l}, right: {joint: base_r}}
";

fn spec(text: &str) -> ModelSpec {
    read_model(text, &ReadOptions { set: &[], ..ReadOptions::default() }).unwrap_or_else(|e| panic!("{e}")).spec
}

fn robot(task: &str) -> ModelSpec {
    spec(&format!("{}{task}", include_str!("models/fivebar.yaml")))
}

fn request(spec: &ModelSpec, step: f64) -> Request {
    let model = spec.build().unwrap_or_else(|e| panic!("{e}"));
    Request { path: None, motors: Vec::new(), weights: Vec::new(), study: Study { output_step: step, ..Study::of(&model) } }
}

fn found(spec: &ModelSpec, step: f64, motors: &[&str]) -> Result<Inverse, Error> {
    let mut r = request(spec, step);
    r.motors = motors.iter().map(|m| m.to_string()).collect();
    inverse(spec, &r)
}

fn row(f: &Inverse, t: f64) -> usize {
    f.run.column("t").and_then(|c| c.iter().position(|x| (x - t).abs() < 1e-9)).expect("an output time")
}

fn refused(r: Result<Inverse, Error>) -> Diagnostic {
    r.expect_err("refused").cause().clone()
}

/// Virtual work in the coordinates of the tool, with 40 digits (reference values of the project).
#[test]
fn the_tool_on_a_circle_needs_the_efforts_of_virtual_work() {
    let f = found(&robot(TASK), 0.05, &[]).unwrap_or_else(|e| panic!("{e}"));
    let table = [
        (
            0.2,
            [2.0277627860775476, 0.4845393725016645],
            [-0.3067257576343817, 1.093952369081345],
            [-4.033105479630703, 7.413373409986468],
            9.346934738598451,
        ),
        (
            0.45,
            [2.206131019660718, 1.0261307022855208],
            [2.7808255361061818, 2.131308332173373],
            [-0.4733334113969618, 0.7394565296194424],
            0.259752225353,
        ),
        (
            0.6,
            [2.732441605639769, 1.084175680091975],
            [3.0567066162315064, -1.616142826891392],
            [-8.9606270525661, -1.0665712551572641],
            -25.66627651377086,
        ),
        (
            0.9,
            [2.224478333649787, 0.28756343697547426],
            [-1.925401558795093, 0.14865877375091224],
            [-2.661161532667557, 7.256587745517239],
            6.202559999068143,
        ),
    ];
    for (t, angles, speeds, torques, total) in table {
        let k = row(&f, t);
        for m in 0..2 {
            for (what, exact) in [("angle", angles[m]), ("speed", speeds[m]), ("effort", torques[m])] {
                let x = f.of(m, what)[k];
                assert!((x - exact).abs() < 1e-9 * (1.0 + exact.abs()), "{what} of {m} at {t}: {x} instead of {exact}");
            }
        }
        let power: f64 = (0..2).map(|m| f.of(m, "power")[k]).sum();
        assert!((power - total).abs() < 1e-8, "{power} instead of {total} W at {t}");
    }
    assert_eq!((f.unique.as_slice(), f.freedom), ([true, true].as_slice(), 2));
    assert!(f.error < 1e-9, "{}", f.error);
}

/// Sizing over the cycle (reference values of the project); the net work of a closed path from rest to rest is zero.
#[test]
fn a_cycle_has_its_sizes() {
    let f = found(&robot(TASK), 0.005, &[]).unwrap_or_else(|e| panic!("{e}"));
    let t = f.run.column("t").expect("times");
    let size = |m: usize| sizing(&Course { t, speed: f.of(m, "speed"), effort: f.of(m, "effort") }, None, None, None);
    let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-6 * (1.0 + y.abs()), "{x} instead of {y}");
    let exact = [
        [12.736744366619408, 5.626334028918701, 3.8331172972455367, 37.950589835794865, -27.491422049815053, 5.521162954820373],
        [10.970302722229226, 6.2248208231148086, 4.20896004378728, 15.45311453792054, -42.43334671258748, 4.120520915839736],
    ];
    let mut work = 0.0;
    for (m, e) in exact.iter().enumerate() {
        let s = size(m);
        [s.peak, s.rms, s.peak_speed, s.peak_power, s.least_power, s.energy_in].iter().zip(e).for_each(|(x, y)| near(*x, *y));
        work += s.energy_in - s.energy_back;
    }
    assert!(work.abs() < 1e-6, "{work}");
}

#[test]
fn three_motors_share_by_least_squares_weights_and_limits() {
    let s = robot(TASK);
    let f = found(&s, 0.05, &["left", "right", "middle"]).unwrap_or_else(|e| panic!("{e}"));
    let k = row(&f, 0.45);
    for (m, exact) in [-0.14431029061810974, 0.4008398831673705, -0.4280332687794812].iter().enumerate() {
        assert!((f.of(m, "effort")[k] - exact).abs() < 1e-8, "{}", f.of(m, "effort")[k]);
    }
    assert_eq!(f.unique, [false, false, false]);
    assert!(f.error < 1e-9, "{}", f.error);
    // A third motor that must not be used leaves the efforts of the other two unchanged.
    let mut r = request(&s, 0.05);
    r.motors = ["left", "right", "middle"].map(String::from).to_vec();
    r.weights = vec![("middle_motor".into(), 1e6)];
    let f = inverse(&s, &r).unwrap_or_else(|e| panic!("{e}"));
    assert!((f.of(0, "effort")[row(&f, 0.6)] + 8.9606270525661).abs() < 1e-6);
    // A limit is kept if a third motor can compensate.
    let s = robot(&TASK.replace("left: {joint: base_l}", "left: {joint: base_l, limit: 6}, third: {joint: middle}"));
    let f = found(&s, 0.05, &[]).unwrap_or_else(|e| panic!("{e}"));
    let most = f.of(0, "effort").iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    assert!(most <= 6.0 + 1e-8 && most > 5.9, "{most}");
    assert!(f.error < 1e-9 && f.warnings.is_empty(), "{} {:?}", f.error, f.warnings);
}

#[test]
fn what_cannot_be_is_said() {
    let s = robot(TASK);
    let d = refused(found(&s, 0.05, &["left"]));
    assert!(d.code.0 == "S421" && d.message.contains("base_r"), "{d}");
    let d = refused(found(&robot(&TASK.replace(", z: '0.45 + 0.12*sin(ph)'", "")), 0.05, &[]));
    assert!(d.code.0 == "S422", "{d}");
    let d = refused(found(&robot(&TASK.replace("0.12*cos(ph)", "0.12 + 2*t")), 0.05, &[]));
    assert!(d.code.0 == "S420" && d.time.is_some_and(|t| t > 0.1), "{d}");
    let d = refused(found(&robot(&TASK.replace("0.12*cos(ph)", "5")), 0.05, &[]));
    assert_eq!(d.code.0, "S420", "{d}");
    let d = refused(found(&s, 0.05, &["wrist"]));
    assert_eq!(d.code.0, "U411", "{d}");
    let d = refused(found(&s, 0.05, &["lefd"]));
    assert!(d.code.0 == "U411" && d.help.contains("left"), "{d}");
}

/// A held joint removes a degree of freedom.
#[test]
fn a_kept_joint_takes_a_freedom() {
    let s = robot(&TASK.replace(", z: '0.45 + 0.12*sin(ph)'}", ", keep: [base_r]}").replace("0.12*cos(ph)", "0.12 - 0.05*sin(ph)"));
    let f = found(&s, 0.05, &[]).unwrap_or_else(|e| panic!("{e}"));
    let right = f.of(1, "angle");
    assert!(right.iter().all(|x| (x - right[0]).abs() < 1e-10));
    assert!(f.error < 1e-9);
}

#[test]
fn jumps_of_the_acceleration_are_said() {
    let through = "paths: {pick: {point: T, through: [[0.12, 0, 0.45], [0, 0, 0.55], [-0.12, 0, 0.45]], profile: PROFILE, duration: 1.2}}\nmotors: {left: {joint: base_l}, right: {joint: base_r}}\n";
    for (profile, jumps) in [("minimum-jerk", false), ("cycloid", false), ("trapezoid", true)] {
        let f = found(&robot(&format!("\n{}", through.replace("PROFILE", profile))), 0.02, &[]).unwrap_or_else(|e| panic!("{e}"));
        let said = f.warnings.iter().any(|w| w.code.0 == "W420");
        assert_eq!(said, jumps, "{profile}: {:?}", f.warnings);
        // At half the duration it passes the middle point.
        let k = row(&f, 0.6);
        assert!((f.run.column("T.z").expect("a column")[k] - 0.55).abs() < 1e-9);
        assert!(f.error < 1e-8);
    }
}

/// Driven by the computed efforts, the mechanism follows its path up to the error of linear interpolation between rows.
#[test]
fn the_efforts_lead_along_the_path() {
    let s = robot(TASK);
    let mut last = f64::INFINITY;
    for step in [0.01, 0.005] {
        let mut r = request(&s, step);
        r.study.t_end = 0.4;
        r.study.tol = Some(1e-9);
        let f = inverse(&s, &r).unwrap_or_else(|e| panic!("{e}"));
        let (_, off, _) = forward(&f, &r.study).unwrap_or_else(|e| panic!("{e}"));
        assert!(off < 2e-4, "step {step}: {off}");
        assert!(off < 0.4 * last, "the error falls with the square of the step: {off} after {last}");
        last = off;
    }
}

/// Without a path the drives prescribe the motion, and their efforts are those of kinematics.
#[test]
fn drives_as_motors_have_the_efforts_of_kinematics() {
    let model = fourbar_io::load("fourbar").unwrap_or_else(|e| panic!("{e}"));
    let text = fourbar_io::examples::example("fourbar").expect("shipped").text;
    let s = spec(text);
    let study = Study { output_step: 0.05, ..Study::of(&model) };
    let f = inverse(&s, &Request { path: None, motors: Vec::new(), weights: Vec::new(), study: study.clone() })
        .unwrap_or_else(|e| panic!("{e}"));
    let mut run = fourbar::Trajectory::default();
    fourbar::study::run(&model, &study, &mut run).unwrap_or_else(|e| panic!("{e}"));
    let exact = run.column("motor.effort").expect("a column");
    let size = exact.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (x, y) in f.of(0, "effort").iter().zip(exact) {
        assert!((x - y).abs() < 1e-8 * size, "{x} instead of {y}");
    }
    // Reactions of the joints also equal those of the driven mechanism.
    for name in ["B.force.x", "B.force.y", "C.force.x"] {
        let (Some(x), Some(y)) = (f.run.column(name), run.column(name)) else { continue };
        x.iter().zip(y).for_each(|(x, y)| assert!((x - y).abs() < 1e-7 * (1.0 + y.abs()), "{name}: {x} instead of {y}"));
    }
}
