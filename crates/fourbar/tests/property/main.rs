//! Laws that hold for every mechanism and every formulation, on random mechanisms.
//!
//! The limits follow from the error of the formulation, estimated from two accuracies, so nothing is tuned to a mechanism. A mechanism that
//! violates a law is reduced as far as possible and saved as a model file. `FOURBAR_PROPERTIES` is the number of mechanisms, `FOURBAR_SEED`
//! the first seed; `cargo xtask study properties` sets both.
#![allow(non_snake_case)]

mod laws;
mod run;
mod shrink;
mod twin;

use fourbar::spec::ModelSpec;
use fourbar::study::{FORMULATIONS, FormulationInfo};
use fourbar_io::{ReadOptions, read_model, write_model};
use fourbar_testing::mechanism::{Recipe, mechanism};
use laws::{LAWS, Law};
use run::{Base, Trouble};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// Mechanisms of a short run.
const FEW: u64 = 10;
/// Number of failures that are reduced; more of them usually have the same cause.
const SHRUNK: usize = 12;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// The reason if a formulation violates a law on a mechanism. `None` also if it rejects the mechanism.
fn broken(spec: &ModelSpec, info: &'static FormulationInfo, law: &Law) -> Option<String> {
    match Base::new(spec, info) {
        Ok(Some(base)) => (law.judge)(&base).err(),
        Err(Trouble::Broke(why)) if law.name == laws::RUNS.name => Some(why),
        _ => None,
    }
}

/// Whether two formulations disagree about a mechanism that both of them run.
fn disagree(spec: &ModelSpec, a: &'static FormulationInfo, b: &'static FormulationInfo) -> bool {
    match (Base::new(spec, a), Base::new(spec, b)) {
        (Ok(Some(a)), Ok(Some(b))) => laws::agree(&a, &b).is_err(),
        _ => false,
    }
}

/// Mechanisms that once violated a law.
fn found() -> Vec<(String, ModelSpec)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/property/found");
    let mut list = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "yaml") {
            let text = std::fs::read_to_string(&path).expect("readable");
            let loaded = read_model(&text, &ReadOptions::default()).expect("a model file");
            list.push((path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default(), loaded.spec));
        }
    }
    list
}

#[test]
fn every_law_holds_for_every_formulation() {
    let first = number("FOURBAR_SEED", 1);
    let count = number("FOURBAR_PROPERTIES", FEW);
    let mut cases = found();
    cases.extend((first..first + count).map(|seed| (format!("seed{seed}"), mechanism(&Recipe::of(seed), seed))));
    let mut judged: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut refused: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut failures = Vec::new();
    // The other formulation of failures that a pair shares.
    let mut against: Vec<(usize, &'static FormulationInfo)> = Vec::new();
    for (name, spec) in &cases {
        let (clock, before) = (Instant::now(), failures.len());
        let mut sample = Vec::new();
        for info in FORMULATIONS {
            match Base::new(spec, info) {
                Ok(Some(base)) => {
                    for law in LAWS {
                        match (law.judge)(&base) {
                            Ok(true) => *judged.entry((law.name, info.name)).or_default() += 1,
                            Ok(false) => {}
                            Err(why) => failures.push((name.clone(), spec.clone(), info, law, why)),
                        }
                    }
                    sample.push(base);
                }
                Ok(None) => {}
                Err(Trouble::Slow(why)) => {
                    let path = save(&format!("slow-{}-{name}", info.name), spec);
                    println!("{name}: {} given up, {why}; {}", info.name, path.display());
                }
                Err(Trouble::Refused(why)) => *refused.entry((info.name, why)).or_default() += 1,
                Err(Trouble::Broke(why)) => failures.push((name.clone(), spec.clone(), info, &laws::RUNS, why)),
            }
        }
        let times: Vec<String> = sample.iter().map(|b: &Base| format!("{} {:.2}", b.info.name, b.seconds)).collect();
        // All pairs.
        for (k, a) in sample.iter().enumerate() {
            for b in &sample[..k] {
                *judged.entry(("agreement", a.info.name)).or_default() += 1;
                if let Err(why) = laws::agree(a, b) {
                    failures.push((name.clone(), spec.clone(), a.info, &laws::AGREEMENT, format!("{why} from {}", b.info.name)));
                    against.push((failures.len() - 1, b.info));
                }
            }
        }
        println!(
            "{name}: {} broken, {:.1} s; seconds of a run: {}",
            failures.len() - before,
            clock.elapsed().as_secs_f64(),
            times.join(", ")
        );
    }
    println!();
    for ((law, formulation), n) in &judged {
        println!("{law:<16} {formulation:<8} {n}");
    }
    for ((formulation, why), n) in &refused {
        println!("not run: {formulation} {n} times: {why}");
    }
    let mut told = String::new();
    for (k, (name, spec, info, law, why)) in failures.iter().enumerate() {
        told += &format!("\n{}: {} breaks `{}`: {why}\n", name, info.name, law.name);
        if k < SHRUNK {
            let other = against.iter().find(|(f, _)| *f == k).map(|(_, b)| *b);
            let small = match other {
                Some(b) => shrink::shrink(spec, |s| disagree(s, info, b)),
                None => shrink::shrink(spec, |s| broken(s, info, law).is_some()),
            };
            let pair = other.map_or(String::new(), |b| format!("-{}", b.name));
            let path = save(&format!("{}-{}{pair}-{name}", law.name.replace(' ', "-"), info.name), &small);
            told += &format!(
                "  {} bodies, {} joints, {} forces are left: {}\n",
                small.bodies.len(),
                small.joints.len(),
                small.forces.len(),
                path.display()
            );
        }
    }
    assert!(failures.is_empty(), "{} of {} laws on {} mechanisms:{told}", failures.len(), judged.values().sum::<usize>(), cases.len());
    // A law that was never checked proves nothing; a few seeds may miss some by chance.
    if count >= FEW {
        for info in FORMULATIONS {
            for law in LAWS {
                assert!(judged.contains_key(&(law.name, info.name)), "`{}` was never judged for {}", law.name, info.name);
            }
        }
    }
}

fn save(name: &str, spec: &ModelSpec) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("properties");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("{name}.yaml"));
    std::fs::write(&path, write_model(spec)).expect("writable");
    path
}

#[test]
fn a_saved_mechanism_is_the_same_one() {
    for seed in 1..=20 {
        let spec = mechanism(&Recipe::of(seed), seed);
        let loaded = read_model(&write_model(&spec), &ReadOptions::default()).unwrap_or_else(|e| panic!("{seed}: {e:?}"));
        let (a, b) = (spec.build().expect("builds"), loaded.spec.build().expect("builds"));
        for (x, y) in a.bodies.iter().zip(&b.bodies) {
            assert!((x.r - y.r).norm() < 1e-14 && (x.A - y.A).norm() < 1e-14 && (x.J_bar - y.J_bar).norm() < 1e-14, "{seed}");
        }
        assert_eq!((a.joints.len(), a.forces.len()), (b.joints.len(), b.forces.len()), "{seed}");
    }
}

#[test]
fn shrinking_keeps_what_matters_and_little_else() {
    // The "law" is violated if there is a body named b3 with a mass of its own.
    let spec = mechanism(&Recipe { bodies: 5, loops: 2, planar: false, floating: false, conservative: false, rough: false }, 7);
    let small = shrink::shrink(&spec, |s| s.bodies.iter().any(|(n, _)| n == "b3"));
    assert!(small.bodies.iter().any(|(n, _)| n == "b3"));
    assert!(small.forces.is_empty() && small.bodies.len() <= 3, "{small:?}");
    assert!(small.build().is_ok());
}
