//! A pendulum, built without a file: one body, one hinge, gravity.

use fourbar::mechanism::{Body, GROUND, Mechanism};
use fourbar::spec::StudySpec;
use fourbar::study::{self, Study};
use fourbar::{Error, Trajectory};

fn main() -> Result<(), Error> {
    let model = Mechanism::new()
        .title("A pendulum")
        .gravity([0.0, 0.0, -9.81])
        .body("rod", Body::new().mass(1.0).inertia([1e-4, 1.0 / 12.0, 1.0 / 12.0]).at([0.5, 0.0, 0.0]))
        .revolute("pin", GROUND, "rod")
        .at([0.0, 0.0, 0.0])
        .axis([0.0, 1.0, 0.0])
        .study(StudySpec { t_end: 2.0, output_step: Some(0.1), tol: Some(1e-8), ..StudySpec::default() })
        .build()?;
    let mut trajectory = Trajectory::default();
    study::run(&model, &Study::of(&model), &mut trajectory)?;
    let (t, angle) = (trajectory.column("t").unwrap_or_default(), trajectory.column("pin.angle").unwrap_or_default());
    for (t, angle) in t.iter().zip(angle) {
        println!("{t:5.2} s  {:8.3} deg", angle.to_degrees());
    }
    Ok(())
}
