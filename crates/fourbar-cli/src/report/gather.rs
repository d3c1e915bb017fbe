//! The numbers of a report, from the columns of a result and its mechanism.

use crate::input::Input;
use crate::screen::number;
use fourbar::force::Force;
use fourbar::model::JointCoordinate;
use fourbar::spec::MotorSpec;
use fourbar_design::sizing::{Course, Sizing, integral, peak, rms, sizing};
use fourbar_io::results::Table;
use serde::Serialize;

/// A motor, drive or actuator.
#[derive(Clone, Debug, Serialize)]
pub struct Motor {
    /// Name.
    pub name: String,
    /// Name of the joint.
    pub joint: String,
    /// Unit of the efforts.
    pub unit: &'static str,
    /// Sizing data.
    pub sizing: Sizing,
    /// The specification in the file.
    pub motor: Option<MotorSpec>,
    /// Column of the speed.
    #[serde(skip)]
    pub speed: String,
}

/// Loads of a joint.
#[derive(Clone, Debug, Serialize)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: String,
    /// Largest force, N.
    pub peak_force: f64,
    /// Time of the largest force, s.
    pub t: f64,
    /// Root mean square of the force.
    pub rms_force: f64,
    /// Equivalent force for roller bearings: the cube root of the mean cube of the force.
    pub cubic_mean_force: f64,
    /// Largest torque, N m.
    pub peak_torque: f64,
    /// Whether the reactions are unique: with redundant constraints they are not, and the smallest ones are given.
    pub unique: bool,
}

/// Loads of a spring.
#[derive(Clone, Debug, Serialize)]
pub struct Spring {
    /// Name.
    pub name: String,
    /// Unit of the loads.
    pub unit: &'static str,
    /// Smallest and largest length or angle.
    pub range: [f64; 2],
    /// Smallest and largest tension or torque.
    pub load: [f64; 2],
    /// Largest magnitude of its rate.
    pub peak_rate: f64,
    /// Energy removed by it, J.
    pub energy_out: f64,
}

/// Energies of the mechanism.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Energy {
    /// Smallest total energy.
    pub least: f64,
    /// Largest total energy.
    pub largest: f64,
    /// Work done on the mechanism from outside.
    pub work: f64,
}

/// All contents of a report.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// Motors, drives and actuators.
    pub motors: Vec<Motor>,
    /// Joints.
    pub joints: Vec<Joint>,
    /// Springs, dampers, ropes.
    pub springs: Vec<Spring>,
    /// Energies.
    pub energy: Option<Energy>,
}

/// Heading of the table of motors.
pub const MOTOR_HEAD: [&str; 9] =
    ["motor", "peak effort", "at [s]", "rms", "peak speed", "power [W]", "fed back [W]", "energy in [J]", "back [J]"];
/// Heading of the table of joints.
pub const JOINT_HEAD: [&str; 7] = ["joint", "peak force [N]", "at [s]", "rms [N]", "cubic mean [N]", "peak torque [N*m]", "unique"];
/// Heading of the table of springs.
pub const SPRING_HEAD: [&str; 7] = ["spring", "from", "to", "least load", "largest load", "peak rate", "taken out [J]"];

impl Motor {
    /// A row of the table.
    pub fn cells(&self) -> Vec<String> {
        let s = &self.sizing;
        let numbers = [s.peak, s.peak_time, s.rms, s.peak_speed, s.peak_power, s.least_power, s.energy_in, s.energy_back];
        std::iter::once(format!("{} [{}]", self.name, self.unit)).chain(numbers.map(number)).collect()
    }

    /// Description of the rotor and the limits.
    pub fn rotor_words(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(w) = self.sizing.window_rms {
            parts.push(format!("rms over the worst window {} {}", number(w), self.unit));
        }
        if let (Some(r), Some(m)) = (self.sizing.rotor, &self.motor) {
            if let Some(x) = r.use_of_rated {
                parts.push(format!("uses {:.0} % of its rated effort in the root mean square", 100.0 * x));
            }
            if let Some(x) = r.use_of_limit {
                parts.push(format!("{:.0} % of its limit at the peak", 100.0 * x));
            }
            if m.inertia > 0.0 {
                let unit = if self.unit == "N" { "kg" } else { "kg*m^2" };
                parts.push(format!(
                    "rotor: torque at most {} N*m, rms {} N*m, speed at most {} rad/s, reflected inertia {} {unit}",
                    number(r.peak),
                    number(r.rms),
                    number(r.peak_speed),
                    number(r.reflected)
                ));
                parts.extend(
                    r.best_ratio.map(|b| format!("the gear ratio for the least torque is {}, it has {}", number(b), number(m.ratio))),
                );
            }
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

impl Joint {
    /// A row of the table.
    pub fn cells(&self) -> Vec<String> {
        let numbers = [self.peak_force, self.t, self.rms_force, self.cubic_mean_force, self.peak_torque];
        let unique = if self.unique { "yes" } else { "no" };
        std::iter::once(self.name.clone()).chain(numbers.map(number)).chain([unique.to_string()]).collect()
    }
}

impl Spring {
    /// A row of the table.
    pub fn cells(&self) -> Vec<String> {
        let numbers = [self.range[0], self.range[1], self.load[0], self.load[1], self.peak_rate, self.energy_out];
        std::iter::once(format!("{} [{}]", self.name, self.unit)).chain(numbers.map(number)).collect()
    }
}

fn extent(y: &[f64]) -> [f64; 2] {
    [y.iter().copied().fold(f64::INFINITY, f64::min), y.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
}

/// Magnitude of a vector given by three columns.
fn sizes(rows: &Table, name: &str) -> Option<Vec<f64>> {
    let [x, y, z] = ["x", "y", "z"].map(|a| rows.column(&format!("{name}.{a}")));
    let (x, y, z) = (x?, y?, z?);
    Some((0..x.len()).map(|k| (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt()).collect())
}

/// Collects the numbers of a report.
pub fn gather(input: &Input, rows: &Table, window: Option<f64>) -> Gathered {
    let Some(t) = rows.column("t") else { return Gathered::default() };
    let model = &input.model;
    let spec = &input.loaded.spec;
    // Motors of `inverse`, then drives and actuators of a run.
    let mut named: Vec<(String, String, Option<MotorSpec>, String)> = Vec::new();
    for (name, m) in &spec.motors {
        named.push((name.clone(), m.joint.clone(), Some(m.clone()), format!("{name}.speed")));
    }
    let motor_of = |joint: &str| spec.motors.iter().find(|(_, m)| m.joint == joint).map(|(_, m)| m.clone());
    for d in &model.drives {
        let joint = model.joints[d.joint].name.clone();
        let motor = motor_of(&joint);
        named.push((d.name.clone(), joint.clone(), motor, format!("{joint}.speed")));
    }
    for (name, f) in &model.forces {
        if let Force::Actuator(a) = f {
            let joint = model.joints[a.joint].name.clone();
            named.push((name.clone(), joint.clone(), motor_of(&joint), format!("{joint}.speed")));
        }
    }
    // Joints used as motors without a declaration.
    for name in rows.names.iter().filter_map(|n| n.strip_suffix("_motor.effort")) {
        named.push((format!("{name}_motor"), name.to_string(), None, format!("{name}_motor.speed")));
    }
    let mut out = Gathered::default();
    for (name, joint, motor, speed) in named {
        let Some(effort) = rows.column(&format!("{name}.effort")) else { continue };
        let Some(v) = rows.column(&speed) else { continue };
        let turns = model.joints.iter().find(|j| j.name == joint).is_some_and(|j| j.coordinate(JointCoordinate::Angle).is_some());
        let acceleration = rows.column(&speed.replace(".speed", ".acceleration"));
        let s = sizing(&Course { t, speed: v, effort }, motor.as_ref(), acceleration, window);
        out.motors.push(Motor { name, joint, unit: if turns { "N*m" } else { "N" }, sizing: s, motor, speed });
    }
    let not_unique = not_unique(input);
    for j in &model.joints {
        let Some(force) = sizes(rows, &format!("{}.force", j.name)) else { continue };
        let torque = sizes(rows, &format!("{}.torque", j.name)).unwrap_or_default();
        let top = peak(&force);
        let whole = (t[t.len() - 1] - t[0]).max(f64::MIN_POSITIVE);
        let cubic = if t.len() > 1 { (integral(t, |k| force[k].powi(3)) / whole).cbrt() } else { force[top] };
        out.joints.push(Joint {
            name: j.name.clone(),
            kind: j.kind.name().to_string(),
            peak_force: force[top],
            t: t[top],
            rms_force: rms(t, &force),
            cubic_mean_force: cubic,
            peak_torque: torque.iter().copied().fold(0.0, f64::max),
            unique: !not_unique.contains(&j.name),
        });
    }
    for (name, _) in &model.forces {
        let column = |what: &str| rows.column(&format!("{name}.{what}"));
        let (Some(at), Some(load), Some(rate)) =
            (column("length").or(column("angle")), column("tension").or(column("torque")), column("rate"))
        else {
            continue;
        };
        let power = column("power");
        out.springs.push(Spring {
            name: name.clone(),
            unit: if column("length").is_some() { "m, N" } else { "rad, N*m" },
            range: extent(at),
            load: extent(load),
            peak_rate: rate[peak(rate)].abs(),
            energy_out: power.map_or(0.0, |p| -integral(t, |k| p[k].min(0.0))),
        });
    }
    out.energy = rows.column("energy.total").zip(rows.column("energy.work")).map(|(e, w)| {
        let [least, largest] = extent(e);
        Energy { least, largest, work: w.last().copied().unwrap_or(0.0) }
    });
    out
}

/// Joints whose reactions are not unique at the start.
fn not_unique(input: &Input) -> Vec<String> {
    let Ok(start) = fourbar::analysis::assembly::assemble(&input.model) else { return Vec::new() };
    fourbar::analysis::uniqueness::not_unique(&input.model, &start.configuration).into_iter().map(|(j, _)| j).collect()
}
