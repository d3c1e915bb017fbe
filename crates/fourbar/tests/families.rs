//! The generator of random mechanisms by family: its mechanisms build and assemble, the same seed gives the same mechanism, and every
//! variant occurs.

use fourbar::analysis::assembly::assemble;
use fourbar::spec::{ForceSpec, JointSpec, ModelSpec, Placement};
use fourbar_testing::families::{family_of, mechanism};
use std::collections::BTreeMap;

#[test]
fn the_same_seed_gives_the_same_mechanism_and_nearly_all_of_them_assemble() {
    const SEEDS: u64 = 300;
    let mut failed = BTreeMap::<&str, Vec<String>>::new();
    for seed in 0..SEEDS {
        let spec = mechanism(seed);
        assert_eq!(spec, mechanism(seed), "seed {seed}");
        let name = family_of(seed).name;
        let model = spec.build().unwrap_or_else(|e| panic!("{name}, seed {seed}: {e:?}"));
        if let Err(e) = assemble(&model) {
            failed.entry(name).or_default().push(format!("{seed}: {e}"));
        }
    }
    let n: usize = failed.values().map(Vec::len).sum();
    assert!(n as u64 * 20 <= SEEDS, "{n} of {SEEDS} do not assemble: {failed:#?}");
}

#[test]
fn everything_that_can_be_drawn_is_drawn() {
    let specs: Vec<ModelSpec> = (0..300).map(mechanism).collect();
    let some = |what: &str, found: &dyn Fn(&ModelSpec) -> bool| {
        let n = specs.iter().filter(|s| found(s)).count();
        assert!(n >= 5, "only {n} of 300 have {what}");
    };
    some("friction", &|s| s.forces.iter().any(|(_, f)| matches!(f, ForceSpec::Friction(_))));
    some("a bushing", &|s| s.forces.iter().any(|(_, f)| matches!(f, ForceSpec::Bushing(_))));
    some("a spring", &|s| s.forces.iter().any(|(_, f)| matches!(f, ForceSpec::Spring(_))));
    some("an actuator", &|s| s.forces.iter().any(|(_, f)| matches!(f, ForceSpec::Actuator(_))));
    some("a drive", &|s| !s.drives.is_empty());
    some("a coupling", &|s| s.joints.iter().any(|(_, j)| matches!(j, JointSpec::Gear { .. } | JointSpec::Rack { .. })));
    some("rough bodies", &|s| s.joints.iter().any(|(_, j)| matches!(j, JointSpec::Pair { placement: Placement::Frames { .. }, .. })));
    let ratio = |s: &ModelSpec| {
        let masses = s.bodies.iter().map(|(_, b)| b.mass);
        masses.clone().fold(0.0, f64::max) / masses.fold(f64::INFINITY, f64::min)
    };
    some("masses over three decades", &|s| ratio(s) > 1e3);
    // The last multiple of the output step before the end is rounded above it, or misses it.
    let awkward = |s: &ModelSpec| {
        let (end, step) = (s.study.t_end, s.study.output_step.unwrap_or(1.0));
        (end / step).round() * step != end
    };
    some("an end that is no exact multiple of the output step", &awkward);
}
