//! Forces and their expressions.

use super::Builder;
use crate::diagnostic::{Diagnostic, nearest, number};
use crate::force::{Force, Law, StateLaw, Variable};
use crate::model::*;
use crate::spec::*;

impl Builder<'_> {
    pub(super) fn law(&mut self, model: &Model, path: &str, e: &StateExpr) -> Option<StateLaw> {
        let mut variables = Vec::new();
        for v in &e.variables {
            let coordinate = |b: &mut Self, name: &str, which: Option<JointCoordinate>| {
                let k = b.find_joint(path, name)?;
                let joint = &model.joints[k];
                let good = match which {
                    Some(w) => joint.coordinate(w).is_some(),
                    None => joint.coordinates().next().is_some(),
                };
                if !good {
                    b.error(
                        Diagnostic::new("M109", format!("joint `{name}` is {} and has no such coordinate", joint.kind.name()))
                            .at(path)
                            .name(name)
                            .help("revolute joints have `.angle`, prismatic ones `.distance`, both have `.speed`"),
                    );
                }
                good.then_some(k)
            };
            let point = |b: &mut Self, name: &str| {
                let found = b.points.get(name).copied();
                if found.is_none() {
                    let help = nearest(name, b.points.keys().copied())
                        .map_or("points are declared under `points:`".to_string(), |n| format!("did you mean `{n}`?"));
                    b.error(Diagnostic::new("M113", format!("there is no point `{name}`")).at(path).name(name).help(help));
                }
                found
            };
            variables.push(match v {
                StateVariable::Time => Variable::Time,
                StateVariable::Length => Variable::Length,
                StateVariable::Rate => Variable::Rate,
                StateVariable::JointAngle(n) => Variable::JointAngle(coordinate(self, n, Some(JointCoordinate::Angle))?),
                StateVariable::JointDistance(n) => Variable::JointDistance(coordinate(self, n, Some(JointCoordinate::Distance))?),
                StateVariable::JointSpeed(n) => Variable::JointSpeed(coordinate(self, n, None)?),
                StateVariable::PointPosition(n, k) => Variable::PointPosition(point(self, n)?, *k),
                StateVariable::PointVelocity(n, k) => Variable::PointVelocity(point(self, n)?, *k),
                StateVariable::Auxiliary(n) => Variable::Auxiliary(self.find_auxiliary(path, n)?),
            });
        }
        Some(StateLaw { expr: e.expr.clone(), variables })
    }

    pub(super) fn spring_law(&mut self, model: &Model, path: &str, law: &SpringLaw) -> Option<Law> {
        match law {
            SpringLaw::Linear { stiffness, rest, damping } => {
                if !self.finite(path, &[*stiffness, *rest, *damping]) {
                    return None;
                }
                for (key, x) in [("stiffness", *stiffness), ("damping", *damping)] {
                    if x < 0.0 {
                        self.error(
                            Diagnostic::new("M116", format!("{key} {x} is negative"))
                                .at(format!("{path}.{key}"))
                                .help("a negative value feeds energy in; write it as an expression if it is meant"),
                        );
                        return None;
                    }
                }
                Some(Law::Linear { stiffness: *stiffness, rest: *rest, damping: *damping })
            }
            SpringLaw::Expression(e) => self.law(model, path, e).map(Law::Expression),
        }
    }

    pub(super) fn laws(&mut self, model: &Model, path: &str, e: &[StateExpr; 3]) -> Option<[StateLaw; 3]> {
        let [a, b, c] = [0, 1, 2].map(|k| self.law(model, path, &e[k]));
        Some([a?, b?, c?])
    }

    pub(super) fn forces(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, f) in &spec.forces {
            let path = format!("forces.{name}");
            if let Some(force) = self.force(model, &path, f) {
                model.forces.push((name.clone(), force));
            }
        }
    }

    pub(super) fn force(&mut self, model: &Model, path: &str, f: &ForceSpec) -> Option<Force> {
        let between = |b: &mut Self, places: &[Place; 2]| {
            let key = format!("{path}.between");
            let [p, q] = [0, 1].map(|k| b.place(model, &key, &places[k]));
            let (p, q) = (p?, q?);
            if p.body == q.body {
                b.error(
                    Diagnostic::new("M107", format!("the two ends sit on the same body `{}`", places[0].body))
                        .at(key)
                        .help("connect two different bodies"),
                );
                return None;
            }
            Some([p, q])
        };
        match f {
            ForceSpec::Spring { between: places, law, .. } => {
                let between = between(self, places);
                let law = self.spring_law(model, path, law);
                Some(Force::Spring { between: between?, law: law? })
            }
            ForceSpec::Torsion { joint, law } => {
                let key = format!("{path}.joint");
                let joint = self.find_joint(&key, joint)?;
                if !model.joints[joint].kind.has_angle() {
                    self.error(
                        Diagnostic::new(
                            "M109",
                            format!("joint `{}` is {} and has no angle", model.joints[joint].name, model.joints[joint].kind.name()),
                        )
                        .at(key)
                        .help("a torsion spring acts on the angle of a revolute, cylindrical, screw or planar joint"),
                    );
                    return None;
                }
                Some(Force::Torsion { joint, law: self.spring_law(model, path, law)? })
            }
            ForceSpec::Force { on, force, frame } => {
                let on = self.place(model, &format!("{path}.on"), on);
                let force = self.laws(model, &format!("{path}.force"), force);
                Some(Force::Point { on: on?, force: force?, frame: *frame })
            }
            ForceSpec::Torque { body, torque, frame } => {
                let body = self.find_body(&format!("{path}.body"), body);
                let torque = self.laws(model, &format!("{path}.torque"), torque);
                Some(Force::Torque { body: body?, torque: torque?, frame: *frame })
            }
            ForceSpec::Actuator { joint, effort } => {
                let key = format!("{path}.joint");
                let joint = self.find_joint(&key, joint)?;
                if model.joints[joint].coordinates().next().is_none() {
                    self.error(
                        Diagnostic::new(
                            "M109",
                            format!(
                                "joint `{}` is {} and has no coordinate to act on",
                                model.joints[joint].name,
                                model.joints[joint].kind.name()
                            ),
                        )
                        .at(key)
                        .help("an actuator acts on an angle or a distance"),
                    );
                    return None;
                }
                Some(Force::Actuator { joint, effort: self.law(model, &format!("{path}.effort"), effort)? })
            }
            ForceSpec::Bushing { between: places, frame, stiffness, damping } => {
                let ends = between(self, places)?;
                let R_i = self.orientation(&format!("{path}.frame"), frame);
                let good = self.finite(&format!("{path}.stiffness"), stiffness) & self.finite(&format!("{path}.damping"), damping);
                let [bi, bj] = ends.map(|p| &model.bodies[p.body.index()]);
                let R_j = bj.A.transpose() * bi.A * R_i;
                good.then_some(Force::Bushing { between: ends, R_i, R_j, stiffness: *stiffness, damping: *damping })
            }
            ForceSpec::Friction { joint, coulomb, viscous, radius, speed } => {
                let key = format!("{path}.joint");
                let joint = self.find_joint(&key, joint)?;
                if !self.finite(path, &[*coulomb, *viscous, *radius, *speed]) {
                    return None;
                }
                if model.joints[joint].coordinates().next().is_none() {
                    self.error(
                        Diagnostic::new(
                            "M109",
                            format!(
                                "joint `{}` is {} and has no coordinate for friction",
                                model.joints[joint].name,
                                model.joints[joint].kind.name()
                            ),
                        )
                        .at(key)
                        .help("friction acts on joints with an angle or a distance"),
                    );
                    return None;
                }
                for (word, x, positive) in
                    [("coulomb", *coulomb, false), ("viscous", *viscous, false), ("radius", *radius, false), ("speed", *speed, true)]
                {
                    if x < 0.0 || (positive && x == 0.0) {
                        self.error(
                            Diagnostic::new("M116", format!("{word} of a friction element is {}", number(x)))
                                .at(format!("{path}.{word}"))
                                .help("friction coefficients are not negative, and the speed of regularisation is positive"),
                        );
                        return None;
                    }
                }
                Some(Force::Friction { joint, coulomb: *coulomb, viscous: *viscous, radius: *radius, speed: *speed })
            }
        }
    }
}
