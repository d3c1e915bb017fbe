//! A load path with known turning points.

use crate::common;

use common::{coordinate, model_with, near};
use fourbar_design::equilibrium::Options;
use fourbar_design::path::{branch, follow};

#[test]
fn a_shallow_truss_snaps_through_at_its_limit_load() {
    let build = |x: f64| Ok(model_with("von_mises", &[("load", &format!("{x:e}"))]));
    let path = follow(&build, [0.0, 40.0], &Options::default()).expect("a path");
    assert!(path.ended.is_none(), "{:?}", path.ended);
    assert_eq!(path.turning.len(), 2);
    // L^3 = L0 b^2 at the limit.
    let (load, height) = (22.843766344633917, 0.22520562714679285);
    for (p, sign) in path.turning.iter().zip([1.0, -1.0]) {
        near(p.value, sign * load, 1e-10);
        let z = 0.4 + coordinate(&build(p.value).unwrap(), &p.rest.state, "guide", "distance");
        near(z, sign * height, 1e-8);
        // Neutral between stable and unstable, in spite of rounding of its stiffness.
        assert_eq!(p.rest.stability().word(), "neutral");
    }
    let pieces: Vec<&str> = path.pieces().iter().map(|p| p.0.word()).collect();
    assert_eq!(pieces, ["stable", "unstable", "stable"]);
    // Every point satisfies the closed form, and the last one is at the end of the range.
    let free = f64::hypot(1.0, 0.4);
    for p in &path.points {
        let model = build(p.value).unwrap();
        let z = 0.4 + coordinate(&model, &p.rest.state, "guide", "distance");
        let length = f64::hypot(1.0, z);
        near(p.value, 2.0 * 1000.0 * (free - length) * z / length, 1e-9);
    }
    assert_eq!(path.points.last().map(|p| p.value), Some(40.0));
}

/// The same truss with random ranges: if the load goes far beyond the limit, a step must not reach the path on the other side of both
/// turning points.
#[test]
fn turning_points_are_found_whatever_the_range() {
    let seed = 4711;
    println!("seed {seed}");
    let mut random = fourbar::random::Random(seed);
    let build = |x: f64| Ok(model_with("von_mises", &[("load", &format!("{x:e}"))]));
    let limit = 22.843766344633917;
    for _ in 0..12 {
        // From just above the limit to two hundred times it.
        let end = limit * 1.01 * 200.0_f64.powf(0.5 + 0.5 * random.number());
        let path = follow(&build, [0.0, end], &Options::default()).expect("a path");
        assert!(path.ended.is_none(), "{end}: {:?}", path.ended);
        let found: Vec<f64> = path.turning.iter().map(|p| p.value).collect();
        assert_eq!(found.len(), 2, "{end}: {found:?}");
        near(found[0], limit, 1e-9);
        near(found[1], -limit, 1e-9);
    }
}

/// A column of two rods under a follower load (Ziegler): it has no other equilibrium at any load; at 2.086 k/l flutter begins, which is not
/// a crossing of paths.
#[test]
fn a_follower_load_has_no_second_path() {
    let build = |load: f64| Ok(model_with("ziegler", &[("P", &format!("{load:e}"))]));
    let path = follow(&build, [0.0, 3.0], &Options::default()).expect("a path");
    assert!(path.ended.is_none() && path.crossings.is_empty() && path.turning.is_empty(), "{:?} {:?}", path.ended, path.crossings);
    for p in path.points.iter().filter(|p| (p.value - 3.5 + 2.0_f64.sqrt()).abs() > 0.01) {
        let stable = p.value < 3.5 - 2.0_f64.sqrt();
        assert_eq!(p.rest.stability().word() != "unstable", stable, "{}", p.value);
    }
}

/// An upright rod with a spring that becomes too soft: at k = m g l/2 it buckles to either side.
#[test]
fn a_standing_rod_buckles_to_both_sides() {
    let build = |k: f64| Ok(model_with("inverted_pendulum", &[("k", &format!("{k:e}"))]));
    let main = follow(&build, [6.0, 3.0], &Options::default()).expect("a path");
    assert_eq!(main.crossings.len(), 1, "{:?}", main.crossings);
    let [a, b] = main.crossings[0];
    assert!(a > 4.905 && b < 4.905, "{a} {b}");
    let mut ends = Vec::new();
    for side in [1, -1] {
        let path = branch(&build, [6.0, 3.0], &Options::default(), side).unwrap_or_else(|e| panic!("{e}"));
        near(path.points[0].value, 4.905, 1e-6);
        for p in &path.points[1..] {
            let angle = coordinate(&build(p.value).unwrap(), &p.rest.state, "pin", "angle");
            assert!(angle.abs() > 1e-3, "{} at {}", angle, p.value);
            near(p.value * angle, 4.905 * angle.sin(), 1e-9);
        }
        let last = path.points.last().expect("points");
        assert_eq!(last.value, 3.0);
        ends.push(coordinate(&build(3.0).unwrap(), &last.rest.state, "pin", "angle"));
    }
    near(ends[0].abs(), 1.6319442625492877, 1e-9);
    near(ends[0] + ends[1], 0.0, 1e-9);
    let d = branch(&build, [6.0, 3.0], &Options::default(), 2).expect_err("only one").cause().clone();
    assert_eq!(d.code.0, "S404", "{d}");
}
