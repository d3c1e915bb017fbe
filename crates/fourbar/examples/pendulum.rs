//! A pendulum, built without a file: one body, one hinge, gravity.

use fourbar::spec::{BodySpec, Inertia, JointSpec, ModelSpec, PairKind, Placement, StudySpec};
use fourbar::study::{self, Study};
use fourbar::{Diagnostic, Trajectory};

fn main() -> Result<(), Vec<Diagnostic>> {
    let rod =
        BodySpec { mass: 1.0, inertia: Inertia::Principal([1e-4, 1.0 / 12.0, 1.0 / 12.0]), at: [0.5, 0.0, 0.0], ..BodySpec::default() };
    let placement = Placement::World { at: [0.0; 3], axis: [0.0, 1.0, 0.0], axis_moving: None };
    let pin = JointSpec::Pair { kind: PairKind::Revolute, bodies: ["ground".into(), "rod".into()], placement };
    let spec = ModelSpec {
        title: "A pendulum".into(),
        gravity: Some([0.0, 0.0, -9.81]),
        bodies: vec![("rod".into(), rod)],
        joints: vec![("pin".into(), pin)],
        study: StudySpec { t_end: 2.0, output_step: Some(0.1), tol: Some(1e-8), ..StudySpec::default() },
        ..ModelSpec::default()
    };
    let model = spec.build()?;
    let mut trajectory = Trajectory::default();
    study::run(&model, &Study::of(&model), &mut trajectory).map_err(|failed| vec![*failed.diagnostic])?;
    let (t, angle) = (trajectory.column("t").unwrap_or_default(), trajectory.column("pin.angle").unwrap_or_default());
    for (t, angle) in t.iter().zip(&angle) {
        println!("{t:5.2} s  {:8.3} deg", angle.to_degrees());
    }
    Ok(())
}
