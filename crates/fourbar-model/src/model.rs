//! The mechanism, checked and immutable: bodies, joints, couplings, drives, forces, points.
//!
//! Built from a [`crate::ModelSpec`]. Points on bodies are kept relative to the centre of mass, in body axes.

use crate::auxiliary::{Auxiliary, Input};
use crate::constraint::{Constraint, Owner, Rows};
use crate::contact::{Friction as ContactFriction, Spots};
use crate::coordinate::Coordinate;
use crate::curve::Curve;
use crate::event::{Event, Limit};
use crate::expr::Expr;
use crate::force::{Force, StateLaw};
use crate::joint::{Alignment, Frame, JointKind, Pair};
use crate::rolling::Rolling;
use crate::spec::{PlotSpec, Shape, StudySpec};
use crate::state::Pose;
use crate::time::{Integral, TimeFunction};
use nalgebra::{Matrix3, Vector3};
use smallvec::smallvec;
use std::sync::Arc;

/// A body by its index in [`Model::bodies`]; ground is number zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

impl BodyId {
    /// The world.
    pub const GROUND: BodyId = BodyId(0);
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A rigid body and its initial state.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name.
    pub name: String,
    /// Mass.
    pub mass: f64,
    /// Inertia about the centre of mass, body axes.
    pub J_bar: Matrix3<f64>,
    /// Centre of mass in the author's body frame.
    pub com: Vector3<f64>,
    /// Centre of mass in the world at the start.
    pub r: Vector3<f64>,
    /// Rotation, body to world, at the start.
    pub A: Matrix3<f64>,
    /// Velocity of the centre of mass at the start, world.
    pub v: Vector3<f64>,
    /// Angular velocity at the start, world.
    pub omega: Vector3<f64>,
    /// Shapes to draw, in the author's body frame.
    pub shapes: Vec<Shape>,
}

/// A joint between two bodies.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: JointKind,
    /// Base and moving body.
    pub bodies: [BodyId; 2],
    /// Frame on the base.
    pub F: Frame,
    /// Frame on the moving body.
    pub M: Frame,
    /// Index under which its counted angle, or its length on a closed curve, is stored, if it has one.
    pub memory: Option<usize>,
    /// Whether the joint is inactive: it has no rows, and its coordinates are only read.
    pub open: bool,
}

/// A coordinate of a joint that drives, gears, forces and outputs can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum JointCoordinate {
    /// Angle about the axis.
    Angle,
    /// Distance along the axis.
    Distance,
}

/// Two joint coordinates in a fixed proportion: `second = ratio first`, both zero as drawn.
#[derive(Clone, Debug)]
pub struct Coupling {
    /// Name.
    pub name: String,
    /// `gear` or `rack`.
    pub kind: &'static str,
    /// The joints.
    pub joints: [usize; 2],
    /// Ratio, or pitch radius of a rack.
    pub ratio: f64,
    /// Bodies and coordinates of the two sides; slots 0, 1 and 2, 3.
    pub sides: [(JointCoordinate, [BodyId; 2], Coordinate); 2],
}

/// A bare constraint.
#[derive(Clone, Debug)]
pub struct Bare {
    /// Name.
    pub name: String,
    /// `dp1`, `dp2`, `d` or `cd`.
    pub kind: &'static str,
    /// Bodies by slot.
    pub bodies: [BodyId; 2],
    /// Factor that makes the row a length.
    pub scale: f64,
    /// The coordinate.
    pub coordinate: Coordinate,
    /// Its value in time.
    pub value: TimeFunction,
    /// An equivalent coordinate with its value: the one with the smaller value is used, because a dot product of directions does not
    /// determine a small change of their angle where it equals one.
    pub other: Option<(Coordinate, TimeFunction)>,
}

impl Bare {
    /// Whether the other coordinate is the better one at time `t`.
    pub fn prefers_other(&self, t: f64) -> bool {
        self.other.as_ref().is_some_and(|(_, value)| value.at(t)[0].abs() < self.value.at(t)[0].abs())
    }

    /// The row, written with the other coordinate if requested.
    pub fn row(&self, other: bool) -> Rows {
        match &self.other {
            Some((coordinate, value)) if other => Rows::driven(self.scale, coordinate.clone(), value.clone()),
            _ => Rows::driven(self.scale, self.coordinate.clone(), self.value.clone()),
        }
    }
}

/// A body that rolls on, or cuts into, a plane of the world; or a contact of two bodies that is closed between two events.
#[derive(Clone, Debug)]
pub struct RollingElement {
    /// Name.
    pub name: String,
    /// Its type in files.
    pub kind: &'static str,
    /// The bodies by slot: the rolling body is slot 1, the body under it slot 0.
    pub bodies: [BodyId; 2],
    /// Velocity rows.
    pub rolling: Rolling,
    /// The row that keeps it on the plane, if any: coordinate and its value.
    pub contact: Option<(Coordinate, f64)>,
}

/// A prescribed joint coordinate.
#[derive(Clone, Debug)]
pub struct Drive {
    /// Name.
    pub name: String,
    /// The joint.
    pub joint: usize,
    /// Which of its coordinates.
    pub coordinate: JointCoordinate,
    /// Its value in time.
    pub value: TimeFunction,
}

/// A point fixed on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointOn {
    /// The body.
    pub body: BodyId,
    /// Relative to its centre of mass, body axes.
    pub s: Vector3<f64>,
}

/// The middle of a spring with its own mass: a body without inertia whose line runs through the ends of the spring, at equal
/// distances from both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coil {
    /// The spring, by its index among the forces.
    pub spring: usize,
    /// The body that represents its middle.
    pub body: BodyId,
    /// The ends of the spring.
    pub ends: [PointOn; 2],
    /// Direction from first to second end, axes of the body.
    pub axis: Vector3<f64>,
    /// Whether the body may spin about that axis, which moves nothing; in a plane it cannot.
    pub spins: bool,
}

/// Joints or bodies that must not move in assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The coordinates of a joint.
    Joint(usize),
    /// A body.
    Body(BodyId),
}

/// Passes over the gears in the search for start angles; this limits the length of gear chains that are listed in reverse order.
const GEARS: usize = 64;

/// A condition that assembly must satisfy at the start: a coordinate, or its rate, with its value.
#[derive(Clone, Debug)]
pub struct StartCondition {
    /// Its text, for messages.
    pub name: String,
    /// Bodies by slot.
    pub bodies: [BodyId; 2],
    /// The coordinate.
    pub coordinate: Coordinate,
    /// Factor that makes the row a length.
    pub scale: f64,
    /// Its value, or that of its rate.
    pub value: f64,
    /// Whether the condition applies to the rate.
    pub rate: bool,
}

/// An angle, or a length on a closed curve, whose rounds are counted, and the two bodies between which it is measured.
#[derive(Clone, Debug)]
pub struct CountedAngle {
    /// Base and moving body.
    pub bodies: [BodyId; 2],
    /// The counted coordinate, slots 0 and 1; it has a period.
    pub angle: Coordinate,
}

impl CountedAngle {
    /// Its value on the round nearest to `last`.
    #[inline]
    pub fn value(&self, qi: &Pose, qj: &Pose, last: f64) -> f64 {
        match &self.angle {
            Coordinate::Angle(a) => a.value(qi, qj, last),
            Coordinate::Curve(c) => c.value(qi, qj, last),
            other => other.value(qi, qj, &[]),
        }
    }
    /// The period in radians or metres.
    pub fn period(&self) -> f64 {
        self.angle.period().unwrap_or(f64::INFINITY)
    }
}

/// A planar curve and where it lies on the bodies that use it.
#[derive(Clone, Debug)]
pub struct CurveOn {
    /// Name.
    pub name: String,
    /// The curve in coordinates of its plane.
    pub curve: Arc<Curve>,
    /// Origin of the plane in the author's body frame, and its axes as columns.
    pub at: Vector3<f64>,
    /// Axes x, y and the normal of the plane as columns, body axes.
    pub R: Matrix3<f64>,
}

/// A rigid contact: bodies that may touch and do not overlap.
#[derive(Clone, Debug)]
pub struct RigidContact {
    /// Name.
    pub name: String,
    /// Where they may touch.
    pub spots: Spots,
    /// Ratio of the separation speed to the approach speed.
    pub restitution: f64,
    /// Friction; its smoothing speed is not used here.
    pub friction: ContactFriction,
}

/// A mechanism.
#[derive(Clone, Debug)]
pub struct Model {
    /// Free text.
    pub title: String,
    /// Acceleration of gravity.
    pub gravity: Vector3<f64>,
    /// Whether the author stated it.
    pub gravity_given: bool,
    /// Bodies; the first is ground.
    pub bodies: Vec<Body>,
    /// Joints.
    pub joints: Vec<Joint>,
    /// Gears and racks.
    pub couplings: Vec<Coupling>,
    /// Bare constraints.
    pub bare: Vec<Bare>,
    /// Rolling elements and knife edges.
    pub rolling: Vec<RollingElement>,
    /// Drives.
    pub drives: Vec<Drive>,
    /// Forces by name, compliant contacts among them, last.
    pub forces: Vec<(String, Force)>,
    /// Rigid contacts.
    pub contacts: Vec<RigidContact>,
    /// Springs with mass.
    pub coils: Vec<Coil>,
    /// Named points.
    pub points: Vec<(String, PointOn)>,
    /// Numbers set from outside between steps.
    pub inputs: Vec<Input>,
    /// User-defined states that are integrated with the motion.
    pub states: Vec<Auxiliary>,
    /// Joints or bodies that must not move in assembly.
    pub hold: Vec<Hold>,
    /// Conditions that assembly must satisfy at the start.
    pub start: Vec<StartCondition>,
    /// Whether the motion starts at a rest position; the caller finds it before the run.
    pub settle: bool,
    /// Points to trace in pictures.
    pub trace: Vec<String>,
    /// The first plots of pages; none: the page chooses.
    pub plots: Vec<PlotSpec>,
    /// The body that the camera of a page follows.
    pub follow: Option<String>,
    /// The author's study.
    pub study: StudySpec,
    /// Counted coordinates: angles, and lengths on closed curves.
    pub angles: Vec<CountedAngle>,
    /// Planar curves.
    pub curves: Vec<CurveOn>,
    /// Characteristic length: scales rotations against translations in norms, rows and minimum-norm reactions.
    pub length: f64,
    /// User-defined result columns.
    pub outputs: Vec<Output>,
    /// Events that change the mechanism during the run.
    pub events: Vec<Event>,
    /// Rigid limits.
    pub limits: Vec<Limit>,
    /// Points and vectors that define the bodies, body by body in the order of the file.
    pub basis: Vec<Basic>,
}

/// A point or a vector that defines a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Basic {
    /// Name.
    pub name: String,
    /// Whether it is a vector.
    pub vector: bool,
    /// Body.
    pub body: BodyId,
    /// Position relative to the centre of mass, or unit vector, in body axes.
    pub s: Vector3<f64>,
}

/// A user-defined result column.
#[derive(Clone, Debug)]
pub struct Output {
    /// Name of the column.
    pub name: String,
    /// Its value, SI.
    pub law: StateLaw,
    /// Unit of the column; empty if not specified.
    pub unit: String,
    /// The unit in SI units: the column is the value divided by it.
    pub size: f64,
}

impl Joint {
    /// Its frames with the characteristic length of the mechanism.
    pub fn pair(&self, L: f64) -> Pair {
        Pair { F: self.F, M: self.M, L, memory: self.memory.unwrap_or(usize::MAX) }
    }

    /// One of its coordinates, if it has it; slots 0 (base) and 1 (moving).
    pub fn coordinate(&self, which: JointCoordinate) -> Option<Coordinate> {
        let pair = self.pair(1.0);
        match which {
            JointCoordinate::Angle => self.kind.has_angle().then(|| pair.turn()),
            JointCoordinate::Distance => self.kind.has_distance().then(|| self.kind.distance(&pair)),
        }
    }

    /// Its coordinates with their names in results.
    pub fn coordinates(&self) -> impl Iterator<Item = (&'static str, Coordinate)> {
        let angle = self.coordinate(JointCoordinate::Angle).map(|y| ("angle", y));
        let distance = self.coordinate(JointCoordinate::Distance).map(|y| ("distance", y));
        angle.into_iter().chain(distance)
    }
}

impl Model {
    /// Indices of the joints that act.
    pub fn acting_joints(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.joints.len()).filter(|&k| !self.joints[k].open)
    }

    /// Number of loads on which dry friction may depend: those of all joints, followed by those of all rolling elements.
    pub fn loads(&self) -> usize {
        self.joints.len() + self.rolling.len()
    }

    /// Index of a rolling element among the loads.
    pub fn load_of_rolling(&self, k: usize) -> usize {
        self.joints.len() + k
    }

    /// Number of bodies that can move.
    pub fn moving(&self) -> usize {
        self.bodies.len() - 1
    }

    /// Whether anything but potentials can do work: forces, drives, and bare constraints, which may move with time.
    pub fn has_work(&self) -> bool {
        !(self.forces.is_empty() && self.drives.is_empty() && self.bare.is_empty())
    }

    /// A copy with independent drives: changed inputs of one do not affect the other.
    pub fn with_own_drives(&self) -> Self {
        let mut model = self.clone();
        for d in &mut model.drives {
            if let TimeFunction::Integral(i) = &d.value {
                d.value = TimeFunction::Integral(i.own());
            }
        }
        model
    }

    /// The integrals of drives by speed or acceleration that read inputs or continue from their current value.
    pub fn held_drives(&self) -> impl Iterator<Item = (&Drive, &Integral)> {
        self.drives.iter().filter_map(|d| match &d.value {
            TimeFunction::Integral(i) if i.is_twice() || !i.inputs().is_empty() => Some((d, i)),
            _ => None,
        })
    }

    /// Name of a body.
    pub fn body_name(&self, id: BodyId) -> &str {
        &self.bodies[id.index()].name
    }

    /// The constraint of a joint.
    pub fn joint_constraint(&self, k: usize) -> Constraint {
        let j = &self.joints[k];
        let rows = j.kind.rows(&j.pair(self.length)).into();
        Constraint { name: j.name.clone(), owner: Owner::Joint(k), bodies: smallvec![j.bodies[0], j.bodies[1]], rows, spare: None }
    }

    /// The constraint of a drive.
    pub fn drive_constraint(&self, k: usize) -> Option<Constraint> {
        let d = &self.drives[k];
        let j = &self.joints[d.joint];
        let y = j.coordinate(d.coordinate)?;
        let scale = if d.coordinate == JointCoordinate::Angle { self.length } else { 1.0 };
        let rows = smallvec![Rows::driven(scale, y, d.value.clone())];
        Some(Constraint { name: d.name.clone(), owner: Owner::Drive(k), bodies: smallvec![j.bodies[0], j.bodies[1]], rows, spare: None })
    }

    fn coupling_constraint(&self, k: usize) -> Constraint {
        let c = &self.couplings[k];
        let [(first, b1, y1), (second, b2, y2)] = &c.sides;
        // Rotational rows are in metres: a pure gear row is multiplied by the characteristic length.
        let scale = if *first == JointCoordinate::Angle && *second == JointCoordinate::Angle { self.length } else { 1.0 };
        let rows = smallvec![Rows::sum(&[(scale, y2.clone()), (-scale * c.ratio, y1.clone())], 0.0)];
        Constraint { name: c.name.clone(), owner: Owner::Coupling(k), bodies: smallvec![b1[0], b1[1], b2[0], b2[1]], rows, spare: None }
    }

    fn bare_constraint(&self, k: usize) -> Constraint {
        let b = &self.bare[k];
        let other = b.prefers_other(0.0);
        Constraint {
            name: b.name.clone(),
            owner: Owner::Bare(k),
            bodies: smallvec![b.bodies[0], b.bodies[1]],
            rows: smallvec![b.row(other)],
            spare: b.other.is_some().then(|| Box::new(b.row(!other))),
        }
    }

    /// Velocity constraints without a position level.
    pub fn velocity_constraints(&self) -> impl Iterator<Item = Constraint> + '_ {
        self.rolling.iter().enumerate().filter(|(_, r)| r.rolling.count() > 0).map(|(k, r)| Constraint {
            name: r.name.clone(),
            owner: Owner::Rolling(k),
            bodies: smallvec![r.bodies[0], r.bodies[1]],
            rows: smallvec![Rows::Rolling(r.rolling.clone())],
            spare: None,
        })
    }

    /// All constraints of dynamics: positions, drives, and velocities.
    pub fn all_constraints(&self) -> Vec<Constraint> {
        let mut list = self.constraints(true);
        list.extend(self.velocity_constraints());
        list
    }

    /// Constraints on positions: joints, couplings, bare primitives, contacts of rolling bodies, and drives if requested.
    pub fn constraints(&self, drives: bool) -> Vec<Constraint> {
        let contacts = self.rolling.iter().enumerate().filter_map(|(k, r)| {
            let (y, value) = r.contact.clone()?;
            Some(Constraint {
                name: r.name.clone(),
                owner: Owner::Rolling(k),
                bodies: smallvec![r.bodies[0], r.bodies[1]],
                rows: smallvec![Rows::one(1.0, y, value)],
                spare: None,
            })
        });
        let joints = (0..self.joints.len()).filter(|&k| !self.joints[k].open).map(|k| self.joint_constraint(k));
        let couplings = (0..self.couplings.len()).map(|k| self.coupling_constraint(k));
        let bare = (0..self.bare.len()).map(|k| self.bare_constraint(k));
        let driven = (0..if drives { self.drives.len() } else { 0 }).filter_map(|k| self.drive_constraint(k));
        joints.chain(couplings).chain(bare).chain(contacts).chain(driven).collect()
    }

    /// Initial counted angles of assembly: those prescribed by drives and start conditions, those that follow from them through gears and
    /// threads, and the angles of nuts as drawn, as far as they exceed half a turn, because poses alone do not determine them. Zero for all
    /// others.
    pub fn start_turns(&self) -> Vec<f64> {
        use JointCoordinate::{Angle, Distance};
        let mut turns = vec![0.0; self.angles.len()];
        let mut put = |y: &Coordinate, value: f64| match y {
            Coordinate::Angle(a) if value.abs() > std::f64::consts::PI && value.is_finite() => turns[a.memory] = value,
            _ => {}
        };
        // Values of joint coordinates that are known, by joint and whether it is an angle.
        let mut known = std::collections::HashMap::new();
        for d in &self.drives {
            let value = d.value.at(0.0)[0];
            if let Some(y) = self.joints[d.joint].coordinate(d.coordinate) {
                put(&y, value);
            }
            known.insert((d.joint, d.coordinate == Angle), value);
        }
        for s in self.start.iter().filter(|s| !s.rate) {
            put(&s.coordinate, s.value);
            let of = |which| self.joints.iter().position(|j| j.bodies == s.bodies && j.coordinate(which).as_ref() == Some(&s.coordinate));
            if let Some((joint, which)) = [Angle, Distance].into_iter().find_map(|which| Some((of(which)?, which))) {
                known.insert((joint, which == Angle), s.value);
            }
        }
        let threads: Vec<(usize, f64)> = self.joints.iter().enumerate().filter_map(|(k, j)| Some((k, j.kind.shared().thread?))).collect();
        // Along chains of gears and threads.
        for _ in 0..GEARS {
            let before = known.len();
            for c in &self.couplings {
                let keys = [0, 1].map(|k| (c.joints[k], c.sides[k].0 == Angle));
                let (place, value) = match keys.map(|k| known.get(&k)) {
                    [Some(x), None] => (1, c.ratio * x),
                    [None, Some(x)] if c.ratio != 0.0 => (0, x / c.ratio),
                    _ => continue,
                };
                put(&c.sides[place].2, value);
                known.insert(keys[place], value);
            }
            for &(k, per_radian) in &threads {
                let (key, value) = match [true, false].map(|angle| known.get(&(k, angle))) {
                    [Some(x), None] => ((k, false), per_radian * x),
                    [None, Some(x)] if per_radian != 0.0 => ((k, true), x / per_radian),
                    _ => continue,
                };
                if let Some(y) = self.joints[k].coordinate(Angle).filter(|_| key.1) {
                    put(&y, value);
                }
                known.insert(key, value);
            }
            if known.len() == before {
                break;
            }
        }
        let pose = |b: BodyId| Pose { r: self.bodies[b.index()].r, A: self.bodies[b.index()].A };
        for &(k, per_radian) in threads.iter().filter(|(k, per_radian)| *per_radian != 0.0 && !known.contains_key(&(*k, true))) {
            let j = &self.joints[k];
            if let (Some(y), Some(along)) = (j.coordinate(Angle), j.coordinate(Distance)) {
                put(&y, along.value(&pose(j.bodies[0]), &pose(j.bodies[1]), &[]) / per_radian);
            }
        }
        turns
    }

    /// Rows of the start conditions that assembly must satisfy: on positions, or on rates.
    pub fn start_constraints(&self, rates: bool) -> impl Iterator<Item = Constraint> + '_ {
        self.start.iter().enumerate().filter(move |(_, s)| s.rate == rates).map(|(k, s)| {
            // The speed of a row is the derivative of its right-hand side.
            let row = match s.rate {
                true => Rows::driven(s.scale, s.coordinate.clone(), TimeFunction::Integral(Integral::new(Expr::constant(s.value)))),
                false => Rows::one(s.scale, s.coordinate.clone(), s.scale * s.value),
            };
            Constraint {
                name: s.name.clone(),
                owner: Owner::Start(k),
                bodies: smallvec![s.bodies[0], s.bodies[1]],
                rows: smallvec![row],
                spare: None,
            }
        })
    }

    /// Rows that keep joint axes from flipping during assembly.
    pub fn alignment_constraints(&self) -> Vec<Constraint> {
        let mut list = Vec::new();
        for (k, j) in self.joints.iter().enumerate().filter(|(_, j)| !j.open) {
            let axes: &[usize] = match j.kind.alignment() {
                Alignment::None => continue,
                Alignment::Axis => &[2],
                Alignment::Full => &[2, 0],
            };
            let rows = axes.iter().map(|&a| Rows::Direction { ij: [0, 1], a_i: j.F.axis(a), a_j: j.M.axis(a), L: self.length }).collect();
            list.push(Constraint {
                name: j.name.clone(),
                owner: Owner::Align(k),
                bodies: smallvec![j.bodies[0], j.bodies[1]],
                rows,
                spare: None,
            });
        }
        list
    }
}
