//! Single columns of a row, evaluated without the rest: sufficient for most measures.

use fourbar::Model;
use fourbar::constraint::ConstraintSet;
use fourbar::model::JointCoordinate;
use fourbar::motion::{Instant, Loads, Reaction};
use fourbar::trajectory::{Column, rates};

/// The quantity in a column.
#[derive(Clone, Copy)]
enum Cell {
    Time,
    /// Of a body: position, velocity, angular velocity, acceleration, angular acceleration; component.
    Place(usize, usize),
    Velocity(usize, usize),
    Turning(usize, usize),
    Acceleration(usize, usize),
    Spinning(usize, usize),
    /// Of a joint: a coordinate, its rate or second rate.
    Coordinate(usize, JointCoordinate),
    Rate(usize, JointCoordinate, usize),
    Force(usize, usize),
    Torque(usize, usize),
    /// Of a point.
    Point(usize, usize),
}

/// Some columns, each evaluated separately.
pub(super) struct Cells(Vec<(usize, Cell)>);

/// Coordinate of a joint by its name in columns.
fn coordinate(key: &str) -> JointCoordinate {
    if key == "angle" { JointCoordinate::Angle } else { JointCoordinate::Distance }
}

impl Cells {
    /// The columns that are read; `None` if one of them is of another kind.
    pub fn new(model: &Model, list: &[Column], read: &[usize]) -> Option<Self> {
        read.iter().map(|&c| Some((c, cell(model, &list[c].name)?))).collect::<Option<Vec<_>>>().map(Self)
    }

    /// The joints whose reactions are read.
    pub fn loaded(&self) -> Vec<usize> {
        let mut joints: Vec<usize> =
            self.0.iter().filter_map(|(_, c)| if let Cell::Force(j, _) | Cell::Torque(j, _) = c { Some(*j) } else { None }).collect();
        joints.sort_unstable();
        joints.dedup();
        joints
    }

    /// Computes the reactions that are read.
    pub fn load(joints: &[usize], model: &Model, set: &ConstraintSet, loads: &Loads, lambda: &[f64], now: &mut Instant) {
        for &j in joints {
            let found: Reaction = loads.reaction(model, set, j, &now.q, lambda);
            now.reactions[j] = found;
        }
    }

    /// Writes the values of the columns into a row.
    pub fn row(&self, model: &Model, s: &Instant, row: &mut [f64]) {
        for (c, cell) in &self.0 {
            row[*c] = match *cell {
                Cell::Time => s.t,
                Cell::Place(b, i) => s.q[b].r[i],
                Cell::Velocity(b, i) => s.v[b].v[i],
                Cell::Turning(b, i) => s.q[b].A.row(i).transpose().dot(&s.v[b].w),
                Cell::Acceleration(b, i) => s.a[b].v[i],
                Cell::Spinning(b, i) => s.q[b].A.row(i).transpose().dot(&s.a[b].w),
                Cell::Coordinate(j, which) => {
                    let joint = &model.joints[j];
                    let [qi, qj] = joint.bodies.map(|b| &s.q[b.index()]);
                    joint.coordinate(which).map_or(f64::NAN, |y| y.value(qi, qj, &s.turns))
                }
                Cell::Rate(j, which, order) => {
                    let joint = &model.joints[j];
                    joint.coordinate(which).map_or(f64::NAN, |y| rates(joint, &y, s)[order])
                }
                Cell::Force(j, i) => s.reactions[j].force[i],
                Cell::Torque(j, i) => s.reactions[j].torque[i],
                Cell::Point(p, i) => {
                    let point = &model.points[p].1;
                    s.q[point.body.index()].point(&point.s)[i]
                }
            };
        }
    }
}

/// The quantity in a column, by its name.
fn cell(model: &Model, name: &str) -> Option<Cell> {
    if name == "t" {
        return Some(Cell::Time);
    }
    let (rest, last) = name.rsplit_once('.')?;
    let axis = ["x", "y", "z"].iter().position(|a| *a == last);
    let joint_of = |name: &str| model.joints.iter().position(|j| j.name == name);
    if let Some(i) = axis {
        if let Some(p) = model.points.iter().position(|(n, _)| n == rest) {
            return Some(Cell::Point(p, i));
        }
        let (element, key) = rest.rsplit_once('.')?;
        if let Some(b) = model.bodies.iter().skip(1).position(|b| b.name == element).map(|b| b + 1) {
            return Some(match key {
                "r" => Cell::Place(b, i),
                "v" => Cell::Velocity(b, i),
                "omega" => Cell::Turning(b, i),
                "a" => Cell::Acceleration(b, i),
                "alpha" => Cell::Spinning(b, i),
                _ => return None,
            });
        }
        let j = joint_of(element)?;
        return match key {
            "force" => Some(Cell::Force(j, i)),
            "torque" => Some(Cell::Torque(j, i)),
            _ => None,
        };
    }
    if let Some(j) = joint_of(rest) {
        let keys: Vec<&str> = model.joints[j].coordinates().map(|(key, _)| key).collect();
        return match (keys.as_slice(), last) {
            (_, key) if keys.contains(&key) => Some(Cell::Coordinate(j, coordinate(key))),
            ([key], "speed") => Some(Cell::Rate(j, coordinate(key), 0)),
            ([key], "acceleration") => Some(Cell::Rate(j, coordinate(key), 1)),
            _ => None,
        };
    }
    let (joint, key) = rest.rsplit_once('.')?;
    let j = joint_of(joint)?;
    let order = ["speed", "acceleration"].iter().position(|w| *w == last)?;
    model.joints[j].coordinates().any(|(k, _)| k == key).then(|| Cell::Rate(j, coordinate(key), order))
}
