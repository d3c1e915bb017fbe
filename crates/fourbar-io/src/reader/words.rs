//! Words of other programs, and their equivalents here.

/// Types of joints and forces by other names.
pub(super) const TYPES: &[(&str, &str)] = &[
    ("hinge", "revolute"),
    ("pin", "revolute"),
    ("pivot", "revolute"),
    ("slider", "prismatic"),
    ("slide", "prismatic"),
    ("translational", "prismatic"),
    ("ball", "spherical"),
    ("socket", "spherical"),
    ("weld", "fixed"),
    ("rigid", "fixed"),
    ("hooke", "universal"),
    ("cardan", "universal"),
    ("helical", "screw"),
    ("link", "distance"),
    ("damper", "spring"),
    ("motor", "actuator"),
    ("cable", "rope"),
    ("tendon", "rope"),
    ("cube", "box"),
    ("cuboid", "box"),
    ("block", "box"),
    ("ball", "sphere"),
    ("bar", "rod"),
    ("link", "rod"),
    ("stl", "mesh"),
];

/// Keys by the names of other programs. Only keys that the group has are proposed.
const KEYS: &[(&str, &[&str])] = &[
    ("bodies", &["links", "parts", "elements", "members", "rigid_bodies"]),
    ("joints", &["connections", "pins", "hinges"]),
    ("drives", &["motions", "drivers"]),
    ("parameters", &["params", "variables", "constants", "define", "definitions"]),
    ("start", &["initial", "initial_conditions", "initial_state", "ic"]),
    ("study", &["simulation", "settings", "analysis", "solver", "run"]),
    ("points", &["markers", "sensors", "tracers", "frames"]),
    ("outputs", &["measurements", "signals"]),
    ("view", &["plots", "plot", "animation"]),
    ("title", &["name", "description"]),
    ("t_end", &["duration", "end_time", "stop_time", "t_final", "tend", "time"]),
    ("output_step", &["dt", "timestep", "time_step", "output_dt", "interval", "sampling"]),
    ("tol", &["tolerance", "rtol", "accuracy"]),
    ("stiffness", &["k", "spring_constant", "rate"]),
    ("damping", &["c", "d", "damper"]),
    ("length", &["l0", "free_length", "rest_length", "natural_length"]),
    ("joint", &["at_joint", "on_joint"]),
    ("axis", &["direction", "dir"]),
    ("at", &["position", "pos", "location", "origin", "xyz"]),
    ("com", &["cog", "cg", "center", "centre", "center_of_mass", "centre_of_mass"]),
    ("speed", &["velocity", "rate"]),
    ("density", &["rho", "material"]),
    ("radius", &["r", "diameter"]),
    ("inertia", &["moi", "moments", "inertia_tensor"]),
    ("world", &["global"]),
];

/// Help for an unknown key of a group; `section` is that of the group, and `known` are its keys.
pub(super) fn instead(key: &str, section: &str, known: &[&str]) -> Option<String> {
    let lower = key.to_ascii_lowercase();
    let word = lower.as_str();
    let has = |k: &str| known.contains(&k);
    let pair = ["parent", "child", "base", "body1", "body2", "body_1", "body_2", "body_a", "body_b", "from", "to", "a", "b"];
    let help = match (section, word) {
        ("joints", _) if pair.contains(&word) && has("bodies") => "a joint names its two bodies in one list: `bodies: [base, moving]`".into(),
        ("joints", "min" | "max" | "lower" | "upper" | "limit" | "range") if has("limits") => {
            "limits are one group: `limits: {min: -90 deg, max: 90 deg}`".into()
        }
        ("joints", "damping" | "stiffness" | "spring" | "damper") => {
            "a spring or damper of a joint is a force: `forces: {NAME: {type: torsion, joint: JOINT, stiffness: 2 N*m, damping: 0.1 N*m*s}}` (`spring` between two places of a slide)"
                .into()
        }
        ("joints", "friction" | "mu" | "coulomb" | "viscous") => {
            "friction of a joint is a force: `forces: {NAME: {type: friction, joint: JOINT, viscous: 0.1 N*m*s}}`".into()
        }
        ("joints" | "motors", "angle" | "distance" | "speed") => {
            format!("a motion is prescribed by a drive: `drives: {{NAME: {{joint: JOINT, {word}: ...}}}}`")
        }
        ("drives" | "motors", "torque" | "force" | "effort" | "moment") => {
            "a drive prescribes a motion; a motor that gives a torque or force is `forces: {NAME: {type: actuator, joint: JOINT, effort: ...}}`".into()
        }
        ("drives", "body" | "bodies" | "on") => "a drive moves a joint: `joint: NAME`".into(),
        ("forces", _) if pair.contains(&word) && has("between") => {
            "the two places stand in one list: `between: [{body: ground, at: [0, 0, 0]}, {body: NAME, at: [x, y, z]}]`".into()
        }
        ("forces", "at" | "point" | "position" | "world") if has("on") => "the place names its body: `on: {body: NAME, at: [x, y, z]}`".into(),
        ("study", "fps" | "frames" | "steps" | "rows" | "samples") => {
            "give the time between two rows: `output_step: 10 ms`".into()
        }
        (_, "material") if has("density") => "there are no materials: give the density, for example `density: 7850` (kg/m^3) for steel".into(),
        (_, "diameter" | "d") if has("radius") => "give half of it as `radius`".into(),
        (_, "length") if has("from") && has("to") => "its ends give its length: `from: [0, 0, 0], to: [0.1, 0, 0]`".into(),
        (_, "frame") if has("world") => "write `at:` for coordinates in the body frame, `world:` for the place as drawn".into(),
        ("", "springs" | "dampers" | "actuators" | "motor" | "loads" | "torques") => {
            "springs, dampers, actuators and loads are `forces:`; motions of joints are `drives:`".into()
        }
        _ => {
            let (ours, _) = KEYS.iter().find(|(ours, others)| has(ours) && others.contains(&word))?;
            format!("it is called `{ours}` here")
        }
    };
    Some(help)
}

/// Help for a name in an expression that other programs use: constants, the time, powers of units, materials.
pub(super) fn name(name: &str) -> Option<String> {
    let last = name.rsplit('.').next().unwrap_or(name);
    match last {
        "time" => return Some("the time is called `t`".into()),
        "PI" | "Pi" | "\u{3c0}" | "pi" => return Some("it is called `pi` here".into()),
        _ => {}
    }
    let digits = last.trim_start_matches(|c: char| !c.is_ascii_digit());
    let unit = &last[..last.len() - digits.len()];
    if matches!(digits, "2" | "3" | "4") && crate::units::unit(unit).is_some() {
        return Some(format!("powers of units are written with `^`: `{unit}^{digits}`"));
    }
    let densities = [
        ("steel", 7850),
        ("aluminium", 2700),
        ("aluminum", 2700),
        ("brass", 8500),
        ("titanium", 4500),
        ("wood", 600),
        ("abs", 1050),
        ("pla", 1240),
    ];
    let (_, density) = densities.iter().find(|(material, _)| last.eq_ignore_ascii_case(material))?;
    Some(format!("there are no materials: give the density in kg/m^3, about {density}"))
}
