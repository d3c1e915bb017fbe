//! Bare constraints, rolling elements and knife edges.

use super::last::{Dp1, Nothing, Rolling};
use super::{Mechanism, Written};
use crate::spec::*;

/// The default plane of rolling elements.
const FLOOR: PlaneSpec = PlaneSpec { at: [0.0; 3], normal: [0.0, 0.0, 1.0] };

impl<L> Mechanism<L> {
    /// A constraint of any kind.
    pub fn constraint(self, name: impl Into<String>, constraint: ConstraintSpec) -> Mechanism {
        self.stated(|s| s.constraints.push((name.into(), constraint)))
    }

    fn bare<M>(mut self, name: impl Into<String>, value: Written, of: impl FnOnce(crate::expr::Expr) -> ConstraintSpec) -> Mechanism<M> {
        let name = name.into();
        self.state.begin("constraints", &name, "a constraint", &[]);
        let value = self.state.time("value", value);
        self.state.spec.constraints.push((name, of(value)));
        self.next()
    }

    /// Dot product of two directions = value(t).
    pub fn dp1(self, name: impl Into<String>, axes: [Place; 2], value: impl Into<Written>) -> Mechanism<Dp1> {
        self.bare(name, value.into(), |value| ConstraintSpec::Dp1 { axes, value, other: None })
    }

    /// Direction on the body of `from`, dotted with the vector from `from` to `to`, = value(t), m.
    pub fn dp2(self, name: impl Into<String>, axis: At, from: Place, to: Place, value: impl Into<Written>) -> Mechanism {
        self.bare(name, value.into(), |value| ConstraintSpec::Dp2 { axis, from, to, value })
    }

    /// Squared distance of two points = value(t), m^2.
    pub fn d(self, name: impl Into<String>, from: Place, to: Place, value: impl Into<Written>) -> Mechanism {
        self.bare(name, value.into(), |value| ConstraintSpec::D { from, to, value })
    }

    /// World direction dotted with the vector from `from` to `to` = value(t), m.
    pub fn cd(self, name: impl Into<String>, axis: V3, from: Place, to: Place, value: impl Into<Written>) -> Mechanism {
        self.bare(name, value.into(), |value| ConstraintSpec::Cd { axis, from, to, value })
    }

    /// A blade at a point of a body that does not move sideways; `across` is its sideways direction on the body.
    pub fn knife_edge(self, name: impl Into<String>, on: Place, across: At) -> Mechanism {
        self.constraint(name, ConstraintSpec::KnifeEdge { on, across })
    }

    /// A ball that rolls on the floor `z = 0`, or on [`Mechanism::plane`].
    pub fn rolling_sphere(self, name: impl Into<String>, on: Place, radius: f64) -> Mechanism<Rolling> {
        self.constraint(name, ConstraintSpec::RollingSphere { on, radius, plane: FLOOR }).next()
    }

    /// A thin disk that rolls on the floor `z = 0`, or on [`Mechanism::plane`]; `axis` is its axis on its body.
    pub fn rolling_disk(self, name: impl Into<String>, on: Place, axis: At, radius: f64) -> Mechanism<Rolling> {
        self.constraint(name, ConstraintSpec::RollingDisk { on, axis, radius, plane: FLOOR, contact: true }).next()
    }

    /// A rolling disk whose carrier fixes its height.
    pub fn wheel(self, name: impl Into<String>, on: Place, axis: At, radius: f64) -> Mechanism<Rolling> {
        self.constraint(name, ConstraintSpec::RollingDisk { on, axis, radius, plane: FLOOR, contact: false }).next()
    }
}

impl Mechanism<Dp1> {
    /// Another direction on the first body with its value(t), used while its value is nearer zero.
    pub fn other(mut self, axis: At, value: impl Into<Written>) -> Mechanism<Nothing> {
        let value = self.state.time("other_value", value.into());
        if let Some((_, ConstraintSpec::Dp1 { other, .. })) = self.state.spec.constraints.last_mut() {
            *other = Some((axis, value));
        }
        self.next()
    }
}

impl Mechanism<Rolling> {
    /// A point and the normal of the plane of the world to roll on, the normal towards the rolling body.
    pub fn plane(mut self, at: V3, normal: V3) -> Mechanism<Nothing> {
        if let Some((_, ConstraintSpec::RollingSphere { plane, .. } | ConstraintSpec::RollingDisk { plane, .. })) =
            self.state.spec.constraints.last_mut()
        {
            *plane = PlaneSpec { at, normal };
        }
        self.next()
    }
}
