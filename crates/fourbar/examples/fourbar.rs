//! A driven four-bar linkage, built without a file: three bars, four hinges, a motor. Prints the swing of the rocker.

use fourbar::mechanism::{Body, GROUND, Mechanism};
use fourbar::spec::StudySpec;
use fourbar::study::{self, Study};
use fourbar::{Error, Trajectory};

const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// A slender bar between two points of the plane, its x axis along it.
fn bar(from: [f64; 3], to: [f64; 3]) -> Body {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let (length, mass) = (dx.hypot(dy), dx.hypot(dy));
    let inertia = mass * length * length / 12.0;
    Body::new()
        .mass(mass)
        .inertia([1e-3 * inertia, inertia, inertia])
        .at([0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]), 0.0])
        .turned(Z, dy.atan2(dx))
}

fn main() -> Result<(), Error> {
    let [o, a, b, c] = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [3.0, 2.0, 0.0], [4.0, 0.0, 0.0]];
    let model = Mechanism::new()
        .body("crank", bar(o, a))
        .body("coupler", bar(a, b))
        .body("rocker", bar(c, b))
        .revolute("O", GROUND, "crank")
        .at(o)
        .axis(Z)
        .revolute("A", "crank", "coupler")
        .at(a)
        .axis(Z)
        .revolute("B", "coupler", "rocker")
        .at(b)
        .axis(Z)
        .revolute("C", GROUND, "rocker")
        .at(c)
        .axis(Z)
        .drive("motor", "O")
        .angle("2*pi*t")
        .study(StudySpec { t_end: 1.0, output_step: Some(0.05), ..StudySpec::default() })
        .build()?;
    let mut trajectory = Trajectory::default();
    let report = study::run(&model, &Study::of(&model), &mut trajectory)?;
    println!("{} of {} constraint rows are redundant; the mechanism moves all the same", report.redundant, report.rows);
    let (crank, rocker) = (trajectory.column("O.angle").unwrap_or_default(), trajectory.column("C.angle").unwrap_or_default());
    for (x, y) in crank.iter().zip(rocker) {
        println!("crank {:6.1} deg   rocker {:7.2} deg", x.to_degrees(), y.to_degrees());
    }
    Ok(())
}
