//! The motion of the joints as a table in the style of ROS: position, velocity and effort of every joint.

use crate::results::{Table, number};
use fourbar::Diagnostic;
use fourbar::force::Force;
use fourbar::model::{JointCoordinate, Model};

/// One joint coordinate: its name, and its source columns.
struct Axis<'t> {
    name: String,
    position: &'t [f64],
    velocity: &'t [f64],
    /// Drives and actuators along it, to be summed.
    efforts: Vec<&'t [f64]>,
}

/// CSV with the columns `time` and, for each joint with a coordinate, `NAME.position`, `NAME.velocity` and `NAME.effort`, in SI units.
/// A joint that turns and slides has two: `NAME.angle` and `NAME.distance`. Efforts are those of drives and actuators.
pub fn joint_states(model: &Model, table: &Table, label: &str) -> Result<Vec<u8>, Diagnostic> {
    let find = |name: &str| {
        table.column(name).ok_or_else(|| {
            Diagnostic::new("U013", format!("the result `{label}` has no column `{name}`"))
                .help("run without `--columns`, or with the columns of all joints, drives and forces")
        })
    };
    let times = find("t")?;
    let mut axes: Vec<Axis<'_>> = Vec::new();
    for (k, j) in model.joints.iter().enumerate() {
        let keys: Vec<&str> = j.coordinates().map(|(key, _)| key).collect();
        for key in &keys {
            let coordinate = if *key == "angle" { JointCoordinate::Angle } else { JointCoordinate::Distance };
            let alone = keys.len() == 1;
            let velocity = if alone { format!("{}.speed", j.name) } else { format!("{}.{key}.speed", j.name) };
            let mut efforts = Vec::new();
            for d in model.drives.iter().filter(|d| d.joint == k && d.coordinate == coordinate) {
                efforts.push(find(&format!("{}.effort", d.name))?);
            }
            for (name, force) in &model.forces {
                if matches!(force, Force::Actuator(a) if a.joint == k && (alone || *key == "angle")) {
                    efforts.push(find(&format!("{name}.effort"))?);
                }
            }
            let name = if alone { j.name.clone() } else { format!("{}.{key}", j.name) };
            axes.push(Axis { name, position: find(&format!("{}.{key}", j.name))?, velocity: find(&velocity)?, efforts });
        }
    }
    let mut out = b"time".to_vec();
    for a in &axes {
        for what in ["position", "velocity", "effort"] {
            out.extend(format!(",{}.{what}", a.name).into_bytes());
        }
    }
    out.push(b'\n');
    for (row, t) in times.iter().enumerate() {
        number(*t, &mut out);
        for a in &axes {
            let effort: f64 = a.efforts.iter().map(|e| e[row]).sum();
            for x in [a.position[row], a.velocity[row], effort] {
                out.push(b',');
                number(x, &mut out);
            }
        }
        out.push(b'\n');
    }
    Ok(out)
}
