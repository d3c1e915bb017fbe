//! ASMT.

use super::*;

/// A slider-crank in the plane: crank of length 1, rod of length 2, slider on x, driven at one turn a second.
pub fn slider() -> String {
    let marker = |name: &str, x: f64| {
        format!(
            "RefPoint\n\tPosition3D\n\t\t0 0 0\n\tRotationMatrix\n\t\t1 0 0\n\t\t0 1 0\n\t\t0 0 1\n\tMarkers\n\t\tMarker\n\t\t\tName\n\t\t\t\t{name}\n\t\t\tPosition3D\n\t\t\t\t{x} 0 0\n\t\t\tRotationMatrix\n\t\t\t\t1 0 0\n\t\t\t\t0 1 0\n\t\t\t\t0 0 1\n"
        )
    };
    let deeper = |n: usize, text: &str| text.lines().map(|l| format!("{}{l}\n", "\t".repeat(n))).collect::<String>();
    let frame =
        |x: f64| format!("Position3D\n\t{x} 0 0\nRotationMatrix\n\t1 0 0\n\t0 1 0\n\t0 0 1\nVelocity3D\n\t0 0 0\nOmega3D\n\t0 0 0\n");
    let part = |name: &str, x: f64, length: f64| {
        let mass = format!(
            "PrincipalMassMarker\n\tName\n\t\tMassMarker\n\tPosition3D\n\t\t{} 0 0\n\tRotationMatrix\n\t\t1 0 0\n\t\t0 1 0\n\t\t0 0 1\n\tMass\n\t\t1.5\n\tMomentOfInertias\n\t\t0.1 0.2 0.2\n",
            0.5 * length
        );
        let points = deeper(1, &(marker("m0", 0.0) + &marker("m1", length)));
        format!("Part\n{}", deeper(1, &format!("Name\n\t{name}\n{}FeatureOrder\n{mass}RefPoints\n{points}", frame(x))))
    };
    let joint =
        |kind: &str, name: &str, i: &str, j: &str| format!("{kind}\n\tName\n\t\t{name}\n\tMarkerI\n\t\t/S/{i}\n\tMarkerJ\n\t\t/S/{j}\n");
    // The slider moves along z of its markers, so the axes are turned: z to the world's x.
    let along = "RefPoint\n\tPosition3D\n\t\t0 0 0\n\tRotationMatrix\n\t\t0 0 1\n\t\t0 1 0\n\t\t-1 0 0\n\tMarkers\n\t\tMarker\n\t\t\tName\n\t\t\t\trail\n\t\t\tPosition3D\n\t\t\t\t0 0 0\n\t\t\tRotationMatrix\n\t\t\t\t1 0 0\n\t\t\t\t0 1 0\n\t\t\t\t0 0 1\n";
    let slider = part("slider", 3.0, 0.0).replace("RefPoints\n", &format!("RefPoints\n{}", deeper(2, along)));
    let joints = joint("RevoluteJoint", "main", "m0", "crank/m0")
        + &joint("RevoluteJoint", "pin", "crank/m1", "rod/m0")
        + &joint("RevoluteJoint", "wrist", "rod/m1", "slider/m0")
        + &joint("CylindricalJoint", "guide", "rail", "slider/rail");
    let motion = "RotationalMotion\n\tName\n\t\tmotor\n\tMotionJoint\n\t\t/S/main\n\tRotationZ\n\t\t2.0d*pi*time\n";
    let inside = format!(
        "Notes\n\tnone\nName\n\tS\n{}RefPoints\n{}{}Parts\n{}{}{}ConstraintSets\n\tJoints\n{}\tMotions\n{}\tGeneralConstraintSets\nForceTorques\nConstantGravity\n\t0 -9.81 0\nSimulationParameters\n\ttend\n\t\t0.25\n\thout\n\t\t0.05\n",
        frame(0.0),
        deeper(1, &marker("m0", 0.0)),
        deeper(1, along),
        deeper(1, &part("crank", 0.0, 1.0)),
        deeper(1, &part("rod", 1.0, 2.0)),
        deeper(1, &slider),
        deeper(2, &joints),
        deeper(2, motion),
    );
    format!("OndselSolver\nAssembly\n{}", deeper(1, &inside))
}

#[test]
fn a_slider_crank_moves_as_its_triangle_says() {
    let loaded = read(&slider());
    assert_eq!(loaded.imported, Some("asmt"));
    let m = model(&loaded);
    assert_eq!((m.bodies.len(), m.joints.len(), m.drives.len()), (4, 4, 1));
    near(body(&m, "rod").r, [2.0, 0.0, 0.0]);
    let t = motion(&m, 0.2);
    let angle = 2.0 * std::f64::consts::PI * 0.2;
    let x = angle.cos() + (4.0 - angle.sin().powi(2)).sqrt();
    assert!((last(&t, "slider.r.x") - x).abs() < 1e-8, "{} {x}", last(&t, "slider.r.x"));
    assert!((last(&t, "guide.distance") - x).abs() < 1e-8);
    assert_eq!(loaded.spec.study.t_end, 0.25);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let text = slider();
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let e = read_model(&text.replace(from, to), &ReadOptions::default()).expect_err("refused");
        assert!(e.cause().line() > 0, "{e}");
        e.code().0
    };
    assert_eq!(refused("CylindricalJoint", "CurveCurveContact"), "M660");
    assert_eq!(refused("/S/rod/m1", "/S/rod/m7"), "M655");
    assert_eq!(refused("1.5", "NaN"), "M660");
    assert_eq!(refused("\t\t\tMass\n", "\t\t\t\t\t\t\tMass\n"), "M660");
}
