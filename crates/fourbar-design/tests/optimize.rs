//! Parts of optimisation that need mechanisms, and known derivatives.

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::state::Configuration;
use fourbar_design::optimize::Branch;
use fourbar_design::optimize::least_squares::{Bounds, Options, least_squares, with_slopes};
use nalgebra::DMatrix;

/// A four-bar with its crank held, drawn open or crossed.
fn four_bar(crossed: bool, rocker: f64) -> (Model, Configuration) {
    let (a, b, g, angle) = (0.15_f64, 0.35_f64, 0.4_f64, 1.1_f64);
    let (ax, az) = (a * angle.cos(), a * angle.sin());
    let (dx, dz) = (g - ax, -az);
    let d = dx.hypot(dz);
    let (along, side) = ((d * d + b * b - rocker * rocker) / (2.0 * d), if crossed { -1.0 } else { 1.0 });
    let off = side * (b * b - along * along).sqrt();
    let (bx, bz) = (ax + (along * dx - off * dz) / d, az + (along * dz + off * dx) / d);
    let rod = |from: [f64; 2], to: [f64; 2]| {
        fourbar::mechanism::Body::new().mass(1.0).inertia([1e-3; 3]).at([0.5 * (from[0] + to[0]), 0.0, 0.5 * (from[1] + to[1])])
    };
    let y = [0.0, 1.0, 0.0];
    let model = fourbar::mechanism::Mechanism::new()
        .body("crank", rod([0.0, 0.0], [ax, az]))
        .body("coupler", rod([ax, az], [bx, bz]))
        .body("rocker", rod([g, 0.0], [bx, bz]))
        .revolute("O", fourbar::mechanism::GROUND, "crank")
        .at([0.0; 3])
        .axis(y)
        .revolute("A", "crank", "coupler")
        .at([ax, 0.0, az])
        .axis(y)
        .revolute("B", "coupler", "rocker")
        .at([bx, 0.0, bz])
        .axis(y)
        .revolute("C", fourbar::mechanism::GROUND, "rocker")
        .at([g, 0.0, 0.0])
        .axis(y)
        .drive("motor", "O")
        .angle("2*t")
        .build()
        .unwrap_or_else(|e| panic!("{e}"));
    let start = assemble(&model).unwrap_or_else(|e| panic!("{e}")).configuration;
    (model, start)
}

#[test]
fn the_two_assembly_modes_of_a_four_bar_are_told_apart() {
    let (model, start) = four_bar(false, 0.3);
    let own = Branch::of(&model, &start).expect("drives prescribe everything");
    for rocker in [0.28, 0.3, 0.33] {
        let (m, s) = four_bar(false, rocker);
        assert!(own.left(&m, &s).is_none(), "{rocker}");
        let (m, s) = four_bar(true, rocker);
        assert!(own.left(&m, &s).is_some(), "{rocker}");
    }
}

#[test]
fn known_slopes_lead_to_the_same_place_with_fewer_evaluations() {
    let mut f = |x: &[f64]| Some(vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]);
    let wide = Bounds { lower: vec![-5.0; 2], upper: vec![5.0; 2], scale: vec![10.0, 0.5] };
    let by_differences = least_squares(&[-1.2, 1.0], &wide, &Options::default(), &mut f).expect("found");
    let mut slopes = |x: &[f64]| Some(DMatrix::from_row_slice(2, 2, &[-20.0 * x[0], 10.0, -1.0, 0.0]));
    let m = with_slopes(&[-1.2, 1.0], &wide, &Options::default(), &mut f, &mut slopes).expect("found");
    assert!((m.x[0] - 1.0).abs() < 1e-9 && m.cost < 1e-20, "{m:?}");
    assert!(m.evaluations < by_differences.evaluations / 2, "{} {}", m.evaluations, by_differences.evaluations);
}
