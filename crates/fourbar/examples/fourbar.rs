//! A driven four-bar linkage, built without a file: three bars, four hinges, a motor. Prints the swing of the rocker.

#![allow(non_snake_case)]

use fourbar::expr::{Expr, Symbol};
use fourbar::spec::{BodySpec, DriveQuantity, DriveSpec, Inertia, JointSpec, ModelSpec, Orientation, PairKind, Placement, StudySpec};
use fourbar::study::{self, Study};
use fourbar::{Diagnostic, Trajectory};

/// A slender bar between two points of the plane, its x axis along it.
fn bar(from: [f64; 2], to: [f64; 2]) -> BodySpec {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let (length, mass) = (dx.hypot(dy), dx.hypot(dy));
    let J = mass * length * length / 12.0;
    BodySpec {
        mass,
        inertia: Inertia::Principal([1e-3 * J, J, J]),
        at: [0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]), 0.0],
        orientation: Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle: dy.atan2(dx) },
        ..BodySpec::default()
    }
}

/// A hinge at a point of the plane.
fn hinge(base: &str, moving: &str, at: [f64; 2]) -> JointSpec {
    let placement = Placement::World { at: [at[0], at[1], 0.0], axis: [0.0, 0.0, 1.0], axis_moving: None };
    JointSpec::Pair { kind: PairKind::Revolute, bodies: [base.into(), moving.into()], placement }
}

fn main() -> Result<(), Vec<Diagnostic>> {
    let (o, a, b, c) = ([0.0, 0.0], [0.0, 1.0], [3.0, 2.0], [4.0, 0.0]);
    let turn = Expr::parse("2*pi*t", &mut |name| (name == "t").then_some(Symbol::Variable(0)))
        .map_err(|e| vec![Diagnostic::new("M099", e.to_string())])?;
    let spec = ModelSpec {
        bodies: vec![("crank".into(), bar(o, a)), ("coupler".into(), bar(a, b)), ("rocker".into(), bar(c, b))],
        joints: vec![
            ("O".into(), hinge("ground", "crank", o)),
            ("A".into(), hinge("crank", "coupler", a)),
            ("B".into(), hinge("coupler", "rocker", b)),
            ("C".into(), hinge("ground", "rocker", c)),
        ],
        drives: vec![("motor".into(), DriveSpec { joint: "O".into(), quantity: DriveQuantity::Angle, value: turn, inputs: vec![] })],
        study: StudySpec { t_end: 1.0, output_step: Some(0.05), ..StudySpec::default() },
        ..ModelSpec::default()
    };
    let model = spec.build()?;
    let mut trajectory = Trajectory::default();
    let report = study::run(&model, &Study::of(&model), &mut trajectory).map_err(|failed| vec![*failed.diagnostic])?;
    println!("{} of {} constraint rows are redundant; the mechanism moves all the same", report.redundant, report.rows);
    let (crank, rocker) = (trajectory.column("O.angle").unwrap_or_default(), trajectory.column("C.angle").unwrap_or_default());
    for (x, y) in crank.iter().zip(&rocker) {
        println!("crank {:6.1} deg   rocker {:7.2} deg", x.to_degrees(), y.to_degrees());
    }
    Ok(())
}
