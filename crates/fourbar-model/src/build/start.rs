//! Start conditions: coordinates of joints and points, or their rates, that assembly must satisfy.

use super::Builder;
use crate::coordinate::Coordinate;
use crate::diagnostic::{Diagnostic, nearest};
use crate::model::*;
use crate::spec::*;
use nalgebra::Vector3;

impl Builder<'_> {
    pub(super) fn starts(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (variable, value) in &spec.start {
            let name = variable.to_string();
            // Dots in the name are not separators of the path, so the message refers to the section.
            let path = "start";
            if !self.finite(path, &[*value]) {
                continue;
            }
            let found = match variable {
                StateVariable::JointAngle(j) => self.start_of_joint(model, j, &name, Some(JointCoordinate::Angle)).map(|x| (x, false)),
                StateVariable::JointDistance(j) => {
                    self.start_of_joint(model, j, &name, Some(JointCoordinate::Distance)).map(|x| (x, false))
                }
                StateVariable::JointSpeed(j) => self.start_of_joint(model, j, &name, None).map(|x| (x, true)),
                StateVariable::PointPosition(p, k) => self.start_of_point(model, p, *k).map(|x| (x, false)),
                StateVariable::PointVelocity(p, k) => self.start_of_point(model, p, *k).map(|x| (x, true)),
                StateVariable::Time | StateVariable::Length | StateVariable::Rate | StateVariable::Auxiliary(_) => {
                    let d = Diagnostic::new("M113", format!("`{name}` is not a coordinate of the start"));
                    self.error(d.at(path).name(name.clone()).help("name a coordinate such as `pin.angle`, `tip.x` or `tip.vx`"));
                    None
                }
            };
            if let Some(((bodies, coordinate, scale), rate)) = found {
                model.start.push(StartCondition { name, bodies, coordinate, scale, value: *value, rate });
            }
        }
        self.start_drives(model);
    }

    /// Drives by acceleration continue from the position and speed at the start; by default, from rest as drawn.
    fn start_drives(&self, model: &Model) {
        for (drive, integral) in model.held_drives().filter(|(_, i)| i.is_twice()) {
            let joint = &model.joints[drive.joint].name;
            let given = |wanted: StateVariable| self.spec.start.iter().find(|(v, _)| *v == wanted).map_or(0.0, |(_, x)| *x);
            let position = match drive.coordinate {
                JointCoordinate::Angle => StateVariable::JointAngle(joint.clone()),
                JointCoordinate::Distance => StateVariable::JointDistance(joint.clone()),
            };
            integral.place(0.0, given(position), given(StateVariable::JointSpeed(joint.clone())));
        }
    }

    fn start_of_joint(
        &mut self,
        model: &Model,
        joint: &str,
        name: &str,
        which: Option<JointCoordinate>,
    ) -> Option<([BodyId; 2], Coordinate, f64)> {
        let j = &model.joints[self.find_joint("start", joint)?];
        let which = which.unwrap_or(if j.kind.has_angle() { JointCoordinate::Angle } else { JointCoordinate::Distance });
        let Some(coordinate) = j.coordinate(which) else {
            let d = Diagnostic::new("M109", format!("`{name}`: a {} joint has no such coordinate", j.kind.name()));
            self.error(d.at("start").name(joint).help("revolute joints have `.angle`, prismatic ones `.distance`, both have `.speed`"));
            return None;
        };
        let scale = if which == JointCoordinate::Angle { model.length } else { 1.0 };
        Some((j.bodies, coordinate, scale))
    }

    fn start_of_point(&mut self, model: &Model, point: &str, axis: usize) -> Option<([BodyId; 2], Coordinate, f64)> {
        let Some((_, on)) = model.points.iter().find(|(n, _)| n == point) else {
            // The error of a rejected point was reported earlier.
            if !self.points.contains_key(point) {
                let help = nearest(point, self.points.keys().copied())
                    .map_or("points are declared under `points:`".to_string(), |n| format!("did you mean `{n}`?"));
                self.error(Diagnostic::new("M113", format!("there is no point `{point}`")).at("start").name(point).help(help));
            }
            return None;
        };
        if on.body == BodyId::GROUND {
            let d = Diagnostic::new("M107", format!("the point `{point}` is on the ground and cannot move"));
            self.error(d.at("start").name(point).help("name a point of a moving body"));
            return None;
        }
        let mut c = Vector3::zeros();
        c[axis.min(2)] = 1.0;
        Some(([BodyId::GROUND, on.body], Coordinate::Cd { ij: [0, 1], c, s_i: Vector3::zeros(), s_j: on.s }, 1.0))
    }
}
