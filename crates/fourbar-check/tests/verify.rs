//! Verification of cases that were once judged wrongly, and of random mechanisms of every family.
//!
//! `FOURBAR_VERIFY` is the number of random mechanisms, `FOURBAR_SEED` the first seed; `cargo xtask study verify` sets both and uses all
//! formulations instead of one of each family. A mechanism without agreement is saved as a model file.

use fourbar_check::verify::{Settings, Verification, Word, verify};
use fourbar_io::write_model;
use fourbar_testing::common::parse;
use fourbar_testing::families::{family_of, mechanism};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Number of random mechanisms in a short run: one of each family.
const FEW: u64 = 29;
/// One formulation of each family.
const ONE_OF_EACH: [&str; 5] = ["ra", "se3", "dca", "grcr", "natural"];

fn found(name: &str, change: impl Fn(&mut Settings)) -> Verification {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fourbar/tests/data/found").join(format!("{name}.yaml"));
    let model = parse(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    let mut settings = Settings { patience: Duration::from_secs(2), ..Settings::of(&model) };
    change(&mut settings);
    verify(&model, &settings, &|_| {}).unwrap_or_else(|d| panic!("{name}: {d}"))
}

fn all(_: &mut Settings) {}

#[test]
fn a_dead_point_that_stops_most_formulations_is_no_agreement() {
    let v = found("dead_point_min", all);
    assert!(matches!(v.verdict.word, Word::Partly | Word::NotShown | Word::NotAgreed), "{:?}", v.verdict.words);
    // The crank stops at about 0.2547 s.
    assert!(v.verdict.until.is_none_or(|t| t < 0.26), "{:?}", v.verdict.until);
    assert!(v.rows.iter().all(|r| r.failure.is_some() || v.verdict.unsound.iter().any(|u| u.formulation == r.formulation)));
}

#[test]
fn one_family_over_a_part_of_the_time_is_no_agreement() {
    let v = found("trebuchet2", |s| {
        s.patience = Duration::from_millis(300);
        s.formulations = ["ra", "reps"].map(String::from).to_vec();
    });
    assert_ne!(v.verdict.word, Word::Agreed, "{:?}", v.verdict.words);
    assert!(v.verdict.words.iter().all(|w| !w.contains("99999")), "{:?}", v.verdict.words);
}

#[test]
fn loops_that_do_not_move_agree() {
    for name in ["verify_false_alarm_rigid_rusr", "verify_false_alarm_rigid_upur"] {
        let v = found(name, all);
        assert_eq!(v.verdict.word, Word::Agreed, "{name}: {:?}", v.verdict.words);
        assert!(v.verdict.unsound.is_empty(), "{name}: {:?}", v.verdict.unsound);
    }
}

#[test]
fn rolling_wheels_agree_and_keep_the_laws() {
    let model = fourbar_testing::common::model("bicycle");
    let v = verify(&model, &Settings::of(&model), &|_| ()).unwrap_or_else(|d| panic!("{d}"));
    assert_eq!(v.verdict.word, Word::Agreed, "{:?}", v.verdict.words);
}

#[test]
fn a_wrong_reaction_is_blamed_on_the_one_that_has_it() {
    // A loop so ill-conditioned that reactions of some formulations had errors of 4e-4 N in 700.
    let v = found("verify_ra_reaction_ruur", all);
    let blamed: Vec<&str> = v.verdict.outliers.iter().map(|o| o.formulation).collect();
    assert!(blamed.is_empty() || blamed == ["dca"], "{:?}", v.verdict.words);
}

/// Pivots in the mass metric are small where a light body is between heavy ones; its rows were treated as redundant, and the explicit
/// absolute formulations had errors of 4e-4 m at any tolerance.
#[test]
fn a_light_body_in_a_loop_is_no_redundancy() {
    let v = found("light_body_in_a_loop", |s| s.formulations = ["se3", "so3xr3", "lie", "dca", "natural"].map(String::from).to_vec());
    assert_eq!((v.verdict.word, v.verdict.witnesses.len()), (Word::Agreed, 5), "{:?}", v.verdict.words);
}

/// The gear teeth of planets can carry a self-stress that no bearing reacts to.
#[test]
fn a_self_stress_of_gears_alone_leaves_the_reactions_as_they_are() {
    let v = found("planets_redundant_oblique", all);
    assert_eq!((v.verdict.word, v.verdict.witnesses.len()), (Word::Agreed, 9), "{:?}", v.verdict.words);
}

/// Equal parallel legs close at a double root, which assembly finds only to half the digits.
#[test]
fn a_start_at_a_double_root_is_no_contradiction() {
    let model = mechanism(222).build().unwrap_or_else(|e| panic!("{e:?}"));
    let settings = Settings { tol: 1e-9, patience: Duration::from_millis(400), ..Settings::of(&model) };
    let v = verify(&model, &settings, &|_| {}).unwrap_or_else(|d| panic!("{d}"));
    assert_eq!(v.verdict.word, Word::NotShown, "{:?}", v.verdict.words);
}

#[test]
fn friction_on_loads_that_are_not_unique_leaves_the_motion_open() {
    let v = found("friction_redundant_verify_words", |s| s.formulations = ["ra", "lie", "dca", "grcr"].map(String::from).to_vec());
    assert_eq!(v.verdict.word, Word::NotShown, "{:?}", v.verdict.words);
    assert!(v.verdict.words.iter().any(|w| w.contains("does not determine the motion")), "{:?}", v.verdict.words);
    for w in &v.verdict.words {
        assert!(w.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || c == '`'), "no subject: {w}");
    }
    // Each formulation has a different distribution of the loads, but reports the reactions that its friction used.
    assert!(!v.verdict.words.iter().any(|w| w.contains("Newton's and Euler's")), "{:?}", v.verdict.words);
}

/// An arm that swings from rest at -0.5 rad to a stop, where it keeps 60 % of its speed.
fn arm_with_stop(stop: f64) -> Verification {
    let model = parse(&format!(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {{arm: {{mass: 1, inertia: [1e-2, 1e-2, 1e-3], at: [{x:?}, 0, {z:?}], orientation: {{axis: [0, 1, 0], angle: 0.5}}}}}}
joints: {{pin: {{type: revolute, bodies: [ground, arm], at: [0, 0, 0], axis: [0, -1, 0], limits: {{max: {limit:?}, restitution: 0.6}}}}}}
study: {{analysis: dynamics, t_end: 1.2, output_step: 0.02, tol: 1e-9}}",
        x = -0.5 * 0.5_f64.sin(),
        z = -0.5 * 0.5_f64.cos(),
        limit = 0.5 + stop,
    ));
    let settings = Settings { patience: Duration::from_secs(3), ..Settings::of(&model) };
    verify(&model, &settings, &|_| {}).unwrap_or_else(|d| panic!("{stop}: {d}"))
}

#[test]
fn events_are_met_in_the_same_order_at_the_same_times() {
    let mut random = fourbar::random::Random(1203);
    for _ in 0..4 {
        let stop = 0.15 + 0.25 * random.number().abs();
        let v = arm_with_stop(stop);
        assert_eq!(v.verdict.word, Word::Agreed, "{stop}: {:?}", v.verdict.words);
        let words = v.verdict.words.iter().find(|w| w.contains("in the same order")).unwrap_or_else(|| panic!("{:?}", v.verdict.words));
        let apart: f64 = words.split("at most ").nth(1).and_then(|w| w.split(' ').next()?.parse().ok()).expect("a time");
        assert!(apart < 1e-8, "{stop}: {words}");
        assert!(!v.verdict.words.iter().any(|w| w.contains("grazing")), "{:?}", v.verdict.words);
    }
}

/// A stop a little before the end of the swing is hit or not, depending on rounding.
#[test]
fn a_grazing_impact_is_reported_as_such() {
    let v = arm_with_stop(0.5 - 1e-7);
    assert!(v.verdict.words.iter().any(|w| w.contains("`pin.max`") && w.contains("is grazing")), "{:?}", v.verdict.words);
    assert_ne!(v.verdict.word, Word::NotAgreed, "{:?}", v.verdict.words);
}

#[test]
fn the_error_expected_of_a_tight_run_is_not_too_small() {
    use fourbar_testing::mechanism::{Recipe, mechanism};
    for seed in [21, 5, 8] {
        let model = mechanism(&Recipe::of(seed), seed).build().unwrap_or_else(|e| panic!("{e:?}"));
        let settings = Settings { tol: 1e-8, patience: Duration::from_secs(3), ..Settings::of(&model) };
        let v = verify(&model, &settings, &|_| {}).unwrap_or_else(|d| panic!("{d}"));
        assert_eq!(v.verdict.word, Word::Agreed, "seed {seed}: {:?}", v.verdict.words);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

#[test]
fn formulations_agree_on_random_mechanisms_of_every_family() {
    let study = number("FOURBAR_VERIFY");
    let first = number("FOURBAR_SEED").unwrap_or(0);
    let mut table = BTreeMap::<&str, BTreeMap<String, usize>>::new();
    let mut wrong = Vec::new();
    for seed in first..first + study.unwrap_or(FEW) {
        let spec = mechanism(seed);
        let name = family_of(seed).name;
        let model = spec.build().unwrap_or_else(|e| panic!("{name} {seed}: {e:?}"));
        let mut settings = Settings { tol: 1e-9, patience: Duration::from_millis(400), ..Settings::of(&model) };
        if study.is_none() {
            settings.formulations = ONE_OF_EACH.map(String::from).to_vec();
        }
        let (word, why) = match verify(&model, &settings, &|_| {}) {
            Ok(v) => (v.verdict.word.to_string(), v.verdict.words),
            Err(d) => (format!("no start ({})", d.code.0), vec![d.message]),
        };
        *table.entry(name).or_default().entry(word.clone()).or_default() += 1;
        if study.is_some() && word != Word::Agreed.to_string() {
            println!("{name} {seed}: {word}\n    {}", why.join("\n    "));
        }
        if word == Word::NotAgreed.to_string() {
            let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("not-agreed-{name}-{seed}.yaml"));
            std::fs::write(&path, write_model(&spec)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            wrong.push(format!("{name} {seed} ({}): {}", path.display(), why.join(" ")));
        }
    }
    for (name, words) in &table {
        println!("{name:20} {words:?}");
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), study.unwrap_or(FEW), wrong.join("\n"));
}
