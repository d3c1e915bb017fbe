//! ASMT.

use super::*;

/// A planar slider-crank: crank of length 1, rod of length 2, slider on x, driven at one turn per second.
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
    // The slider moves along z of its markers, so their axes are rotated: z along the world's x.
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

/// Rotates the first marker of a part by half a turn about x.
fn turned_over(text: &str, part: &str) -> String {
    let at = text.find(&format!("\t{part}\n")).expect("the part");
    let marker = at + text[at..].find("Marker\n\t\t\t\t\t\t\tName").or_else(|| text[at..].find("\t\t\tMarker\n")).expect("a marker");
    let from = marker + text[marker..].find("RotationMatrix").expect("a matrix");
    let rest = text[from..].replacen("0 1 0", "0 -1 0", 1).replacen("0 0 1", "0 0 -1", 1);
    format!("{}{rest}", &text[..from])
}

#[test]
fn axes_may_point_opposite_ways() {
    let (plain, over) = (slider(), turned_over(&slider(), "rod"));
    assert_ne!(plain, over);
    let [a, b] = [plain, over].map(|t| motion(&model(&read(&t)), 0.2));
    for column in ["slider.r.x", "rod.r.y", "main.angle", "motor.effort"] {
        assert!((last(&a, column) - last(&b, column)).abs() < 1e-9, "{column}");
    }
}

#[test]
fn limits_are_found_by_their_markers_and_may_be_formulas() {
    let limit = |kind: &str, i: &str, j: &str, x: &str, sign: &str| {
        format!(
            "\t\t\t{kind}\n\t\t\t\tName\n\t\t\t\t\tL\n\t\t\t\tMarkerI\n\t\t\t\t\t/S/{i}\n\t\t\t\tMarkerJ\n\t\t\t\t\t/S/{j}\n\t\t\t\tMotionJoint\n\t\t\t\t\t\n\t\t\t\tLimit\n\t\t\t\t\t{x}\n\t\t\t\tType\n\t\t\t\t\t{sign}\n"
        )
    };
    let limits = limit("RotationLimit", "crank/m1", "rod/m0", "30.0*pi/180.0", "=<")
        + &limit("TranslationLimit", "rail", "slider/rail", "4.0d", "=<")
        + &limit("TranslationLimit", "rail", "slider/rail", "0.5", "=>")
        + &limit("RotationLimit", "m0", "slider/rail", "0.5", "=>");
    let text = slider().replace("\t\tGeneralConstraintSets\n", &format!("\t\tLimits\n{limits}\t\tGeneralConstraintSets\n"));
    let loaded = read(&text);
    let of = |name: &str| loaded.spec.limits.iter().find(|(n, _)| n == name).map(|(_, l)| (l.min, l.max)).expect("limits");
    assert_eq!(of("pin"), (None, Some(30f64.to_radians())));
    assert_eq!(of("guide"), (Some(0.5), Some(4.0)));
    assert_eq!(loaded.spec.limits.iter().find(|(n, _)| n == "guide").map(|(_, l)| l.of), Some(Some(fourbar::spec::LimitOf::Distance)));
    // A part without joints is listed.
    assert!(loaded.warnings.iter().any(|w| w.code.0 == "W452" && w.names.contains(&"L".to_string())), "{:?}", codes(&loaded));
}

#[test]
fn names_may_be_empty_and_couplings_may_stand_first() {
    let text = slider().replace("\t\t\t\t\twrist\n", "\t\t\t\t\t\n");
    assert_ne!(text, slider());
    assert_eq!(model(&read(&text)).joints.len(), 4);
    // A rack and pinion before the joints that it couples, with either of them as MarkerI.
    for (i, j) in [("rail", "crank/m0"), ("crank/m0", "rail")] {
        let rack = format!(
            "\t\t\tRackPinionJoint\n\t\t\t\tName\n\t\t\t\t\track\n\t\t\t\tMarkerI\n\t\t\t\t\t/S/{}\n\t\t\t\tMarkerJ\n\t\t\t\t\t/S/{}\n\t\t\t\tpitchRadius\n\t\t\t\t\t0.25\n",
            i.replace("rail", "slider/rail"),
            j.replace("rail", "slider/rail")
        );
        let text = slider().replace("\t\tJoints\n", &format!("\t\tJoints\n{rack}")).replace("CylindricalJoint", "TranslationalJoint");
        // A crank and its slider cannot also be a rack and a pinion: only the reading is tested.
        let loaded = read_model(&text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let gear = loaded.spec.joints.iter().find(|(n, _)| n == "rack").map(|(_, j)| j.clone());
        assert!(matches!(gear, Some(fourbar::spec::JointSpec::Gear { ratio, .. }) if (ratio.abs() - 0.25).abs() < 1e-15), "{gear:?}");
    }
}
