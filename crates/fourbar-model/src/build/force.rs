//! Forces and their expressions.

use super::Builder;
use crate::diagnostic::{Diagnostic, nearest};
use crate::force::{Law, StateLaw, Variable};
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
                StateVariable::PointPosition(n, k) => match self.bodies.get(n.as_str()) {
                    Some(b) => Variable::BodyPosition(b.index(), *k),
                    None => Variable::PointPosition(point(self, n)?, *k),
                },
                StateVariable::PointVelocity(n, k) => match self.bodies.get(n.as_str()) {
                    Some(b) => Variable::BodyVelocity(b.index(), *k),
                    None => Variable::PointVelocity(point(self, n)?, *k),
                },
                StateVariable::Auxiliary(n) => Variable::Auxiliary(self.find_auxiliary(path, n)?),
            });
        }
        Some(StateLaw { expr: e.expr.clone(), variables })
    }

    pub(super) fn forces(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, f) in &spec.forces {
            let path = format!("forces.{name}");
            if let Some(force) = f.build(&mut Resolve { builder: self, model, path: &path }) {
                model.forces.push((name.clone(), force));
            }
        }
    }
}

/// Services for building an element: names are resolved to indices in the model, numbers are checked, errors are recorded.
pub(crate) struct Resolve<'b, 'a> {
    builder: &'b mut Builder<'a>,
    /// Bodies, joints and points of the mechanism.
    pub model: &'b Model,
    /// Path of the element.
    path: &'b str,
}

impl Resolve<'_, '_> {
    fn at(&self, key: &str) -> String {
        if key.is_empty() { self.path.to_string() } else { format!("{}.{key}", self.path) }
    }

    /// Records an error of a key.
    pub fn refuse(&mut self, key: &str, d: Diagnostic) {
        let at = self.at(key);
        self.builder.error(d.at(at));
    }

    /// Reports numbers that are not finite or absurdly large.
    pub fn finite(&mut self, key: &str, x: &[f64]) -> bool {
        let at = self.at(key);
        self.builder.finite(&at, x)
    }

    /// A number of a key that must not be negative.
    pub fn not_negative(&mut self, key: &str, x: f64) -> Option<f64> {
        if x < 0.0 {
            let d = Diagnostic::new("M116", format!("{key} {x} is negative"));
            self.refuse(key, d.help("a negative value feeds energy in; write it as an expression if it is intended"));
            return None;
        }
        Some(x)
    }

    /// A body by name, behind the key `body`.
    pub fn body(&mut self, name: &str) -> Option<BodyId> {
        let at = self.at("body");
        self.builder.find_body(&at, name)
    }

    /// A joint by name, behind the key `joint`.
    pub fn known_joint(&mut self, name: &str) -> Option<usize> {
        let at = self.at("joint");
        self.builder.find_joint(&at, name)
    }

    /// The joint itself, rejected if it lacks the required coordinate.
    pub fn fitting(&mut self, joint: usize, has: &str, help: &str, good: impl Fn(&Joint) -> bool) -> Option<usize> {
        let j = &self.model.joints[joint];
        if !good(j) {
            self.refuse("joint", Diagnostic::new("M109", format!("joint `{}` is {} and has {has}", j.name, j.kind.name())).help(help));
            return None;
        }
        Some(joint)
    }

    /// A joint by name that has the required coordinate.
    pub fn joint(&mut self, name: &str, has: &str, help: &str, good: impl Fn(&Joint) -> bool) -> Option<usize> {
        let joint = self.known_joint(name)?;
        self.fitting(joint, has, help, good)
    }

    /// A place on a body.
    pub fn place(&mut self, key: &str, place: &Place) -> Option<PointOn> {
        let at = self.at(key);
        self.builder.place(self.model, &at, place)
    }

    /// Two places on different bodies, behind the key `between`.
    pub fn between(&mut self, places: &[Place; 2]) -> Option<[PointOn; 2]> {
        let [p, q] = [0, 1].map(|k| self.place("between", &places[k]));
        let (p, q) = (p?, q?);
        if p.body == q.body {
            let d = Diagnostic::new("M107", format!("the two ends sit on the same body `{}`", places[0].body));
            self.refuse("between", d.help("connect two different bodies"));
            return None;
        }
        Some([p, q])
    }

    /// An orientation.
    pub fn orientation(&mut self, key: &str, o: &Orientation) -> nalgebra::Matrix3<f64> {
        let at = self.at(key);
        self.builder.orientation(&at, o)
    }

    /// An expression.
    pub fn law(&mut self, key: &str, e: &StateExpr) -> Option<StateLaw> {
        let at = self.at(key);
        self.builder.law(self.model, &at, e)
    }

    /// Three expressions.
    pub fn laws(&mut self, key: &str, e: &[StateExpr; 3]) -> Option<[StateLaw; 3]> {
        let [a, b, c] = [0, 1, 2].map(|k| self.law(key, &e[k]));
        Some([a?, b?, c?])
    }

    /// The law of a spring.
    pub fn spring_law(&mut self, law: &SpringLaw) -> Option<Law> {
        match law {
            SpringLaw::Linear { stiffness, rest, damping } => {
                if !self.finite("", &[*stiffness, *rest, *damping]) {
                    return None;
                }
                self.not_negative("stiffness", *stiffness)?;
                self.not_negative("damping", *damping)?;
                Some(Law::Linear { stiffness: *stiffness, rest: *rest, damping: *damping })
            }
            SpringLaw::Expression(e) => self.law("", e).map(Law::Expression),
        }
    }
}
