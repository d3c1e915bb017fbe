//! The prescribed motion and its motors: the mechanism with the path as rows, and the mechanism with motors as actuators.

use super::Request;
use fourbar::analysis::assembly::assemble;
use fourbar::diagnostic::nearest;
use fourbar::expr::{Expr, Symbol};
use fourbar::force::ActuatorSpec;
use fourbar::model::JointCoordinate;
use fourbar::spec::{
    At, ConstraintSpec, DriveQuantity, DriveSpec, ForceSpec, InputSpec, ModelSpec, MotorSpec, PathSpec, Place, StateExpr, StateVariable,
};
use fourbar::{Diagnostic, Error, Model};

/// A motor in the analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// Its name.
    pub name: String,
    /// Its specification.
    pub spec: MotorSpec,
    /// Index of its joint in the model.
    pub joint: usize,
    /// Whether it is rotary; otherwise linear.
    pub angular: bool,
}

impl Motor {
    /// Its weight in load sharing, if the file gives one.
    pub fn weight(&self) -> Option<f64> {
        self.spec.weight.or(self.spec.rated.map(|r| 1.0 / r))
    }

    /// Unit of its efforts.
    pub fn unit(&self) -> &'static str {
        if self.angular { "N*m" } else { "N" }
    }
}

/// The two mechanisms of an analysis.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Name of the path; empty if drives prescribe the motion.
    pub path: String,
    /// The point that follows the path.
    pub point: String,
    /// World coordinates over time.
    pub functions: [Option<Expr>; 3],
    /// Names of the constraints and drives that prescribe the motion.
    pub rows: Vec<String>,
    /// The mechanism with the motion prescribed and without motors.
    pub path_model: Model,
    /// The mechanism with its motors, whose efforts are its last inputs.
    pub model: Model,
    /// The motors.
    pub motors: Vec<Motor>,
}

fn unknown(what: &str, name: &str, known: &[&str], help: &str) -> Diagnostic {
    let help = nearest(name, known.iter().copied()).map_or_else(|| help.to_string(), |n| format!("did you mean `{n}`?"));
    Diagnostic::new("U411", format!("there is no {what} `{name}`")).name(name).help(help)
}

/// The requested path, or the first one, with its name.
fn path<'s>(spec: &'s ModelSpec, wanted: Option<&str>) -> Result<Option<(&'s str, &'s PathSpec)>, Diagnostic> {
    let names: Vec<&str> = spec.paths.iter().map(|p| p.0.as_str()).collect();
    match (wanted, spec.paths.as_slice()) {
        (Some(name), list) => {
            let found = list.iter().find(|p| p.0 == name);
            found.map(|(n, p)| Some((n.as_str(), p))).ok_or_else(|| unknown("path", name, &names, "paths are declared under `paths:`"))
        }
        (None, []) => Ok(None),
        // The first of several paths.
        (None, [(name, one), ..]) => Ok(Some((name, one))),
    }
}

/// A motor by its name, or one assumed at a joint, a drive or an actuator.
fn motor(spec: &ModelSpec, name: &str) -> Result<(String, MotorSpec), Diagnostic> {
    if let Some((n, m)) = spec.motors.iter().find(|m| m.0 == name) {
        return Ok((n.clone(), m.clone()));
    }
    if let Some((n, d)) = spec.drives.iter().find(|d| d.0 == name) {
        return Ok((n.clone(), MotorSpec::new(&d.joint)));
    }
    if let Some((n, ForceSpec::Actuator(a))) = spec.forces.iter().find(|f| f.0 == name) {
        return Ok((n.clone(), MotorSpec::new(&a.joint)));
    }
    if spec.joints.iter().any(|j| j.0 == name) {
        return Ok((format!("{name}_motor"), MotorSpec::new(name)));
    }
    let known: Vec<&str> = spec.motors.iter().map(|m| m.0.as_str()).chain(spec.joints.iter().map(|j| j.0.as_str())).collect();
    Err(unknown("motor or joint", name, &known, "motors are declared under `motors:`; joints can be named too"))
}

/// The requested motors: by default all of the file, or its drives if there is no path.
fn motors(spec: &ModelSpec, request: &Request, drives: bool) -> Result<Vec<(String, MotorSpec)>, Diagnostic> {
    let mut list: Vec<(String, MotorSpec)> = if !request.motors.is_empty() {
        request.motors.iter().map(|n| motor(spec, n)).collect::<Result<_, _>>()?
    } else if !spec.motors.is_empty() {
        spec.motors.clone()
    } else if drives {
        spec.drives.iter().map(|(n, d)| (n.clone(), MotorSpec::new(&d.joint))).collect()
    } else {
        Vec::new()
    };
    if list.is_empty() {
        let d = Diagnostic::new("U411", "no motors are given");
        return Err(d.help("declare them under `motors:`, or name joints with `--motors base_l,base_r`"));
    }
    for (k, (name, m)) in list.iter().enumerate() {
        if let Some((other, _)) = list[..k].iter().find(|o| o.1.joint == m.joint) {
            let message = format!("the motors `{other}` and `{name}` are on the same joint `{}`", m.joint);
            return Err(Diagnostic::new("U411", message).names([other.clone(), name.clone()]).help("take one of them"));
        }
    }
    for (name, w) in &request.weights {
        let Some((_, m)) = list.iter_mut().find(|(n, m)| n == name || m.joint == *name) else {
            return Err(unknown("motor", name, &list.iter().map(|m| m.0.as_str()).collect::<Vec<_>>(), "weights belong to motors in use"));
        };
        if !(*w > 0.0 && w.is_finite()) {
            return Err(Diagnostic::new("U411", format!("the weight of `{name}` is not positive")).name(name));
        }
        m.weight = Some(*w);
    }
    // Weights are relative: if some are given, the others are one.
    if list.iter().any(|(_, m)| m.weight.is_some() || m.rated.is_some()) {
        list.iter_mut().filter(|(_, m)| m.weight.is_none() && m.rated.is_none()).for_each(|(_, m)| m.weight = Some(1.0));
    }
    Ok(list)
}

/// The specification without the parts for other analyses and for the start of a run.
fn bare(spec: &ModelSpec) -> ModelSpec {
    let mut out = spec.clone();
    out.paths.clear();
    out.motors.clear();
    out.start.clear();
    out.settle = false;
    out
}

/// Builds the two mechanisms.
pub fn chosen(spec: &ModelSpec, request: &Request) -> Result<Chosen, Error> {
    let path = path(spec, request.path.as_deref())?;
    if path.is_none() && spec.drives.is_empty() {
        let d = Diagnostic::new("U411", "nothing prescribes a motion: the file has no paths and no drives");
        return Err(d.help("declare a path under `paths:`: `{point: T, x: '0.1*cos(t)', z: '0.1*sin(t)'}`").into());
    }
    let list = motors(spec, request, path.is_none())?;
    // A drive on a joint with a motor represents that motor, even if another motor is to cause the motion.
    let on_motor = |joint: &str| list.iter().chain(&spec.motors).any(|(_, m)| m.joint == joint);
    let mut prescribed = bare(spec);
    let mut rows = Vec::new();
    let (mut name, mut point, mut functions) = (String::new(), String::new(), [None, None, None]);
    if let Some((n, p)) = path {
        (name, point) = (n.to_string(), p.point.clone());
        functions = p.functions().map_err(|why| Diagnostic::new("U411", format!("the path `{n}` leads nowhere: {why}")).name(n))?;
        prescribed.drives.retain(|(_, d)| !on_motor(&d.joint));
        let place = spec.points.iter().find(|x| x.0 == p.point).map(|x| x.1.clone()).ok_or_else(|| {
            unknown("point", &p.point, &spec.points.iter().map(|x| x.0.as_str()).collect::<Vec<_>>(), "points are declared under `points:`")
        })?;
        for (i, value) in functions.iter().enumerate() {
            let Some(value) = value else { continue };
            let mut axis = [0.0; 3];
            axis[i] = 1.0;
            let row = format!("{n}-{}", ["x", "y", "z"][i]);
            let from = Place { body: "ground".into(), at: At::Body([0.0; 3]) };
            prescribed.constraints.push((row.clone(), ConstraintSpec::Cd { axis, from, to: place.clone(), value: value.clone() }));
            rows.push(row);
        }
        keep(spec, n, p, &mut prescribed, &mut rows)?;
    } else {
        rows.extend(spec.drives.iter().map(|d| d.0.clone()));
    }
    // With a path, the drives of the file hold the coordinates without a motor.
    let mut actuated = bare(spec);
    let as_path = path.is_some();
    actuated.drives.retain(|(_, d)| as_path && !on_motor(&d.joint));
    for (n, m) in &list {
        let input = format!("{n}_effort");
        let angular = turns(spec, &m.joint)?;
        let unit = if angular { "N*m" } else { "N" };
        actuated.forces.retain(|f| f.0 != *n);
        actuated.inputs.push((input.clone(), InputSpec { unit: unit.into(), default: 0.0, range: [f64::NEG_INFINITY, f64::INFINITY] }));
        let expr = Expr::parse("u", &mut |_| Some(Symbol::Variable(0))).map_err(|e| Diagnostic::new("U411", e.to_string()))?;
        let effort = StateExpr { expr, variables: vec![StateVariable::Auxiliary(input)] };
        actuated.forces.push((n.clone(), ForceSpec::Actuator(ActuatorSpec { joint: m.joint.clone(), effort })));
    }
    let actuators: Vec<&String> = list.iter().map(|m| &m.0).collect();
    prescribed.forces.retain(|f| !(actuators.contains(&&f.0) && matches!(f.1, ForceSpec::Actuator(_))));
    let (path_model, model) = (prescribed.build()?, actuated.build()?);
    let motors = list
        .into_iter()
        .map(|(name, spec)| {
            let joint = model.joints.iter().position(|j| j.name == spec.joint);
            let joint = joint.ok_or_else(|| Diagnostic::new("U411", format!("`{}` is a coupling and cannot have a motor", spec.joint)))?;
            let angular = model.joints[joint].kind.has_angle();
            Ok(Motor { name, spec, joint, angular })
        })
        .collect::<Result<_, Diagnostic>>()?;
    Ok(Chosen { path: name, point, functions, rows, path_model, model, motors })
}

/// Whether a joint has an angle; rejects joints without any coordinate.
fn turns(spec: &ModelSpec, joint: &str) -> Result<bool, Diagnostic> {
    let model = bare(spec).build().map_err(|e| e.cause().clone())?;
    let Some(j) = model.joints.iter().find(|j| j.name == joint) else {
        return Err(Diagnostic::new("U411", format!("`{joint}` cannot have a motor")).name(joint).help("name a joint between two bodies"));
    };
    if j.coordinates().next().is_none() {
        let message = format!("`{joint}` is a {} joint, which has no coordinate that a motor could drive", j.kind.name());
        return Err(Diagnostic::new("U411", message).name(joint).help("put the motor on a revolute or prismatic joint"));
    }
    Ok(j.kind.has_angle())
}

/// Adds fixed drives for the joints that a path holds.
fn keep(spec: &ModelSpec, path: &str, p: &PathSpec, out: &mut ModelSpec, rows: &mut Vec<String>) -> Result<(), Error> {
    if p.keep.is_empty() {
        return Ok(());
    }
    let model = bare(spec).build()?;
    let at = assemble(&model)?.configuration;
    for joint in &p.keep {
        let Some(j) = model.joints.iter().find(|j| j.name == *joint) else { continue };
        let Some((key, y)) = j.coordinates().next() else {
            let message = format!("the path `{path}` keeps `{joint}`, which has no coordinate");
            return Err(Diagnostic::new("U411", message).name(joint).help("keep revolute or prismatic joints").into());
        };
        let [a, b] = j.bodies.map(|b| &at.q[b.index()]);
        let value = Expr::constant(y.value(a, b, &at.turns));
        let coordinate = if key == "angle" { JointCoordinate::Angle } else { JointCoordinate::Distance };
        let quantity = if coordinate == JointCoordinate::Angle { DriveQuantity::Angle } else { DriveQuantity::Distance };
        let row = format!("{path}-keeps-{joint}");
        out.drives.push((row.clone(), DriveSpec { joint: joint.clone(), quantity, value, inputs: Vec::new() }));
        rows.push(row);
    }
    Ok(())
}
