//! A comparison must detect errors: results are falsified on purpose, one quantity at a time.

use super::*;
use fourbar::analysis::assembly::assemble;
use fourbar::spec::{BodySpec, Inertia, JointSpec, ModelSpec, PairKind, Placement};

/// Two rods, hinged about axes that are not parallel.
fn model() -> Model {
    let rod = |x: f64| BodySpec { inertia: Inertia::Principal([0.01, 0.09, 0.09]), at: [x, 0.0, 0.0], ..BodySpec::default() };
    let hinge = |bodies: [&str; 2], x: f64, axis| JointSpec::Pair {
        kind: PairKind::Revolute,
        bodies: bodies.map(String::from),
        placement: Placement::World { at: [x, 0.0, 0.0], axis, axis_moving: None },
    };
    let mut spec = ModelSpec { gravity: Some([0.0, 0.0, -9.81]), ..ModelSpec::default() };
    spec.bodies = vec![("upper".into(), rod(0.5)), ("lower".into(), rod(1.5))];
    spec.joints = vec![
        ("pin".into(), hinge(["ground", "upper"], 0.0, [0.0, 1.0, 0.0])),
        ("knee".into(), hinge(["upper", "lower"], 1.0, [0.0, 1.0, 0.3])),
    ];
    spec.study.t_end = 1.0;
    spec.build().unwrap_or_else(|d| panic!("{}", d[0].message))
}

/// The verdict after `spoil` has modified the sample of one formulation.
fn after(spoil: impl Fn(&mut Vec<Instant>)) -> Verification {
    judged(|r| {
        if r.info.name == "so3xr3" {
            spoil(&mut r.sample);
        }
    })
}

/// The verdict after `spoil` has modified every result.
fn judged(spoil: impl Fn(&mut Member)) -> Verification {
    let model = model();
    let settings = Settings { tol: 1e-9, ..Settings::of(&model) };
    let assembled = assemble(&model).unwrap();
    let chosen: Vec<_> = ["ra", "se3", "so3xr3", "lie"].iter().map(|n| FORMULATIONS.iter().find(|f| f.name == *n).unwrap()).collect();
    let unique = sample::unique(&model, &[]);
    let results: Vec<_> = chosen
        .iter()
        .map(|info| {
            let mut r = one(&model, &settings, info, &assembled, &unique)?;
            spoil(&mut r);
            Ok(r)
        })
        .collect();
    verdict::compare(&model, &settings, &assembled.configuration, &chosen, &results, None, &unique)
}

#[test]
fn honest_results_agree() {
    let v = after(|_| {});
    assert!(v.verdict.agree, "{:?}", v.verdict.words);
    for r in &v.rows {
        assert!(r.newton_euler < 1e-6 && r.energy < 1e-6, "{}: laws {:.1e}, energy {:.1e}", r.formulation, r.newton_euler, r.energy);
    }
}

#[test]
fn a_falsified_quantity_is_found_with_time_and_place() {
    type Spoil = fn(&mut Instant);
    let cases: [(Quantity, &str, Spoil); 4] = [
        (Quantity::Position, "lower", |s| s.q[2].r.x += 1e-5),
        (Quantity::Angle, "upper", |s| s.q[1].A *= fourbar_math::so3::exp(&nalgebra::Vector3::new(0.0, 1e-5, 0.0))),
        (Quantity::Velocity, "lower", |s| s.v[2].v.y += 1e-4),
        (Quantity::Reaction, "knee", |s| s.reactions[1].force.z += 0.01),
    ];
    for (quantity, place, spoil) in cases {
        let v = after(|sample| sample.iter_mut().skip(40).for_each(spoil));
        assert!(!v.verdict.agree);
        let o = &v.verdict.outliers[0];
        assert_eq!((v.verdict.outliers.len(), o.formulation, o.quantity, o.place.as_str()), (1, "so3xr3", quantity, place));
        assert!((o.time - 0.4).abs() < 1e-9, "{o:?}");
        assert!(v.verdict.words.iter().any(|w| w.contains("so3xr3") && w.contains(place)), "{:?}", v.verdict.words);
    }
}

#[test]
fn results_that_break_the_laws_of_mechanics_are_found_even_where_all_agree() {
    // Accelerations are not compared, so only Newton's equations can detect the change.
    let v = after(|sample| sample.iter_mut().for_each(|s| s.a[2].v.z += 1e-3));
    assert_eq!(v.verdict.outliers[0].formulation, "so3xr3");
    assert_eq!((v.verdict.outliers[0].quantity, v.verdict.outliers[0].place.as_str()), (Quantity::Laws, "lower"));
}

#[test]
fn what_is_not_a_number_disagrees() {
    let v = after(|sample| sample[50].q[1].r.x = f64::NAN);
    assert_eq!(v.verdict.outliers[0].formulation, "so3xr3");
}

#[test]
fn nothing_is_verified_where_nothing_but_the_start_can_be_compared() {
    let v = judged(|r| r.expected.iter_mut().skip(1).for_each(|e| *e = [1.0; QUANTITIES.len()]));
    assert_eq!((v.verdict.horizon, v.verdict.agree, v.verdict.word), (Some(0.0), false, Word::NotShown));
    assert!(v.verdict.words.iter().any(|w| w.contains("nothing is verified")), "{:?}", v.verdict.words);
}

#[test]
fn a_chaotic_motion_has_a_horizon() {
    let mut model = model();
    model.study.t_end = 60.0;
    let mut settings = Settings { tol: 1e-8, ..Settings::of(&model) };
    settings.formulations = vec!["se3".into(), "grcr".into()];
    let v = verify(&model, &settings, &|_| {}).unwrap();
    // Which of the two comes first depends on how chaotic the motion is; comparison until the end would be meaningless.
    let horizon = v.verdict.horizon.expect("sixty seconds of a chaotic pendulum cannot be compared");
    assert!(horizon > 1.0 && horizon < 60.0, "{horizon}");
    // A result with a very large expected error is no witness, possibly from a little before the common horizon.
    assert_eq!(v.verdict.word, Word::Partly, "{:?}", v.verdict.words);
    assert!(v.verdict.until.is_some_and(|t| t > 1.0 && t <= horizon), "{:?} {horizon}", v.verdict.until);
}

#[test]
fn every_formulation_belongs_to_a_family() {
    for f in FORMULATIONS {
        assert!(Family::of(f.name).is_some(), "{}", f.name);
    }
}

#[test]
fn one_family_is_no_agreement() {
    let model = model();
    for formulations in [["ra", "rp"], ["se3", "lie"]] {
        let mut settings = Settings { tol: 1e-8, ..Settings::of(&model) };
        settings.formulations = formulations.map(String::from).to_vec();
        let v = verify(&model, &settings, &|_| {}).unwrap();
        assert_eq!((v.verdict.word, v.verdict.agree, v.verdict.until), (Word::NotShown, false, None), "{:?}", v.verdict.words);
        assert!(v.verdict.words[0].contains("Only one family"), "{:?}", v.verdict.words);
    }
}

/// Results truncated at a time, as if all but one family had failed there.
#[test]
fn agreement_reaches_as_far_as_two_families() {
    let v = judged(|r| {
        if r.info.name != "ra" {
            r.sample.truncate(41);
            r.expected.truncate(41);
            r.stopped = Some(Diagnostic::new("S251", "it was cut off"));
        }
    });
    assert_eq!((v.verdict.word, v.verdict.agree), (Word::Partly, false), "{:?}", v.verdict.words);
    assert!((v.verdict.until.unwrap() - 0.4).abs() < 1e-9);
    assert!(v.verdict.words[0].contains("until t = 0.4 s of 1 s"), "{:?}", v.verdict.words);
    assert!(v.verdict.words.iter().any(|w| w.contains("`se3` has a result until t = 0.4 s only")), "{:?}", v.verdict.words);
}

#[test]
fn open_joints_and_lost_energy_are_no_witness() {
    type Spoil = fn(&mut Instant);
    let cases: [Spoil; 3] = [|s| s.errors[0] = 1e-3, |s| s.work += 1.0, |s| s.errors[0] = f64::NAN];
    for spoil in cases {
        // All but one family, so that no other family can agree.
        let v = judged(|r| {
            if r.info.name != "ra" {
                r.sample.iter_mut().skip(40).for_each(spoil);
            }
        });
        assert_eq!((v.verdict.word, v.verdict.unsound.len()), (Word::Partly, 3), "{:?}", v.verdict.words);
        assert!((v.verdict.until.unwrap() - 0.39).abs() < 1e-9, "{:?}", v.verdict.until);
        assert!(v.verdict.words.iter().any(|w| w.contains("`se3` is not trusted from t = 0.4 s on")), "{:?}", v.verdict.words);
    }
}

#[test]
fn times_are_written_as_people_write_them() {
    assert_eq!([1.109_999_999_999_999_9, 0.25, 3.0, 0.1 + 0.2].map(words::time), ["1.11", "0.25", "3", "0.3"]);
}

#[test]
fn large_mechanisms_are_compared_at_fewer_of_the_times_asked_for() {
    let study = Study { t_end: 1.0, output_step: 0.01, ..Study::of(&model()) };
    for (bodies, most, least) in [(10, 100, 100), (2000, 100, 100), (2001, 50, 50), (10_000, 20, 15), (1_000_000, 10, 10)] {
        let thin = thinned(&study, bodies);
        let steps = thin.output_times().count() - 1;
        assert!(steps <= most && steps >= least, "{bodies} bodies: {steps} steps");
        // No time is compared that was not requested.
        let asked: Vec<f64> = study.output_times().collect();
        assert!(thin.output_times().all(|t| asked.iter().any(|a| (a - t).abs() < 1e-12)), "{bodies} bodies");
    }
}
