//! A load path with known turning points.

mod common;

use common::{coordinate, model_with, near};
use fourbar_design::equilibrium::Options;
use fourbar_design::path::follow;

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
        near(z, sign * height, 1e-5);
    }
    let pieces: Vec<&str> = path.pieces().iter().map(|p| p.0.word()).collect();
    assert_eq!(pieces, ["stable", "unstable", "stable"]);
    // Every point is at rest on the closed form, and the last one at the end of the range.
    let free = f64::hypot(1.0, 0.4);
    for p in &path.points {
        let model = build(p.value).unwrap();
        let z = 0.4 + coordinate(&model, &p.rest.state, "guide", "distance");
        let length = f64::hypot(1.0, z);
        near(p.value, 2.0 * 1000.0 * (free - length) * z / length, 1e-9);
    }
    assert_eq!(path.points.last().map(|p| p.value), Some(40.0));
}
