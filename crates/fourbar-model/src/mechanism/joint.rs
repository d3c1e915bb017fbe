//! Joints, gears and racks.

use super::last::{Angle, Axial, Distance, Gear, Nothing, Pointed, Universal};
use super::{Mechanism, State};
use crate::spec::*;

/// Axis of joints that have none.
const Z: V3 = [0.0, 0.0, 1.0];

impl State {
    /// The placement of the last joint.
    fn placement(&mut self) -> Option<&mut Placement> {
        match self.spec.joints.last_mut() {
            Some((_, JointSpec::Pair { placement, .. })) => Some(placement),
            _ => None,
        }
    }

    fn place(&mut self, change: impl FnOnce(&mut V3, &mut V3, &mut Option<V3>)) {
        if let Some(Placement::World { at, axis, axis_moving }) = self.placement() {
            change(at, axis, axis_moving);
        }
    }

    fn frames(&mut self, base: FrameSpec, moving: FrameSpec) {
        ["at", "axis", "axes"].iter().for_each(|key| self.given(key));
        if let Some(placement) = self.placement() {
            *placement = Placement::Frames { base, moving };
        }
    }
}

impl<L> Mechanism<L> {
    fn pair<M>(
        mut self,
        name: impl Into<String>,
        kind: PairKind,
        title: &'static str,
        bodies: [String; 2],
        lacks: &[&'static str],
    ) -> Mechanism<M> {
        let name = name.into();
        self.state.begin("joints", &name, title, lacks);
        let placement = Placement::World { at: [0.0; 3], axis: Z, axis_moving: None };
        self.state.spec.joints.push((name, JointSpec::Pair { kind, bodies, placement }));
        self.next()
    }

    /// A joint of any kind.
    pub fn joint(self, name: impl Into<String>, joint: JointSpec) -> Mechanism {
        self.stated(|s| s.joints.push((name.into(), joint)))
    }

    /// A planar curve that [`Mechanism::point_on_curve`] refers to.
    pub fn curve(self, name: impl Into<String>, curve: CurveSpec) -> Mechanism {
        self.stated(|s| s.curves.push((name.into(), curve)))
    }

    /// A point of the moving body, in its own frame or as drawn, follows a curve that lies in the frame of the base.
    ///
    /// ```
    /// use fourbar_model::mechanism::{Body, GROUND, Mechanism};
    /// use fourbar_model::spec::{At, CurvePoints, CurveSpec};
    ///
    /// let points = (0..12).map(|k| f64::from(k) * std::f64::consts::TAU / 12.0).map(|a| [0.3 * a.cos(), 0.3 * a.sin()]).collect();
    /// let ring = CurvePoints::Plane { points, at: [0.0; 3], normal: [0.0, 0.0, 1.0], x: None };
    /// let model = Mechanism::new()
    ///     .body("bead", Body::new().mass(0.1).inertia([1e-4; 3]).at([0.3, 0.0, 0.0]))
    ///     .curve("ring", CurveSpec { points: ring, closed: true })
    ///     .point_on_curve("slip", GROUND, "bead", "ring", At::Body([0.0; 3]))
    ///     .build()?;
    /// assert_eq!(model.joints.len(), 1);
    /// # Ok::<(), fourbar_model::Error>(())
    /// ```
    pub fn point_on_curve(
        self,
        name: impl Into<String>,
        base: impl Into<String>,
        moving: impl Into<String>,
        curve: impl Into<String>,
        at: At,
    ) -> Mechanism {
        let bodies = [base.into(), moving.into()];
        self.joint(name, JointSpec::Curve { bodies, curve: curve.into(), at, radius: 0.0, side: None })
    }

    /// A hinge between a base and a moving body.
    pub fn revolute(self, name: impl Into<String>, base: impl Into<String>, moving: impl Into<String>) -> Mechanism<Axial> {
        self.pair(name, PairKind::Revolute, "a revolute joint", [base.into(), moving.into()], &["at", "axis"])
    }

    /// A slide without rotation.
    pub fn prismatic(self, name: impl Into<String>, base: impl Into<String>, moving: impl Into<String>) -> Mechanism<Axial> {
        self.pair(name, PairKind::Prismatic, "a prismatic joint", [base.into(), moving.into()], &["at", "axis"])
    }

    /// Slides along its axis and turns about it.
    pub fn cylindrical(self, name: impl Into<String>, base: impl Into<String>, moving: impl Into<String>) -> Mechanism<Axial> {
        self.pair(name, PairKind::Cylindrical, "a cylindrical joint", [base.into(), moving.into()], &["at", "axis"])
    }

    /// Slides along its axis by `lead` metres a turn.
    pub fn screw(self, name: impl Into<String>, base: impl Into<String>, moving: impl Into<String>, lead: f64) -> Mechanism<Axial> {
        self.pair(name, PairKind::Screw { lead }, "a screw joint", [base.into(), moving.into()], &["at", "axis"])
    }

    /// Moves in a plane and turns about its normal, the axis.
    pub fn planar(self, name: impl Into<String>, base: impl Into<String>, moving: impl Into<String>) -> Mechanism<Axial> {
        self.pair(name, PairKind::Planar, "a planar joint", [base.into(), moving.into()], &["at", "axis"])
    }

    /// A point of the moving body stays on a line of the base.
    pub fn point_on_line(self, name: impl Into<String>, base: impl Into<String>, moving: impl Into<String>) -> Mechanism<Axial> {
        self.pair(name, PairKind::PointOnLine, "a point-on-line joint", [base.into(), moving.into()], &["at", "axis"])
    }

    /// A point of the moving body stays in a plane of the base; the axis is its normal.
    pub fn point_on_plane(self, name: impl Into<String>, base: impl Into<String>, moving: impl Into<String>) -> Mechanism<Axial> {
        self.pair(name, PairKind::PointOnPlane, "a point-on-plane joint", [base.into(), moving.into()], &["at", "axis"])
    }

    /// A ball.
    pub fn spherical(self, name: impl Into<String>, base: impl Into<String>, moving: impl Into<String>) -> Mechanism<Pointed> {
        self.pair(name, PairKind::Spherical, "a spherical joint", [base.into(), moving.into()], &["at"])
    }

    /// No motion at all.
    pub fn fixed(self, name: impl Into<String>, base: impl Into<String>, moving: impl Into<String>) -> Mechanism<Pointed> {
        self.pair(name, PairKind::Fixed, "a fixed joint", [base.into(), moving.into()], &["at"])
    }

    /// A cross.
    pub fn universal(self, name: impl Into<String>, base: impl Into<String>, moving: impl Into<String>) -> Mechanism<Universal> {
        self.pair(name, PairKind::Universal, "a universal joint", [base.into(), moving.into()], &["at", "axes"])
    }

    /// Keeps two points at their distance as drawn, or at [`Mechanism::length`].
    pub fn distance_joint(self, name: impl Into<String>, from: Place, to: Place) -> Mechanism<Distance> {
        self.joint(name, JointSpec::Distance { from, to, length: None }).next()
    }

    /// Keeps the angle between a direction on the base and one on the moving body as drawn, or at [`Mechanism::angle`].
    pub fn angle_joint(
        self,
        name: impl Into<String>,
        base: impl Into<String>,
        moving: impl Into<String>,
        axes: [At; 2],
    ) -> Mechanism<Angle> {
        self.joint(name, JointSpec::Angle { bodies: [base.into(), moving.into()], axes, angle: None }).next()
    }

    /// Coordinate of the second joint = ratio x coordinate of the first + as drawn.
    pub fn gear(self, name: impl Into<String>, first: impl Into<String>, second: impl Into<String>, ratio: f64) -> Mechanism<Gear> {
        self.joint(name, JointSpec::Gear { joints: [first.into(), second.into()], ratio, carrier: None }).next()
    }

    /// Distance of the prismatic joint = pitch radius x angle of the revolute + as drawn.
    pub fn rack(self, name: impl Into<String>, revolute: impl Into<String>, prismatic: impl Into<String>, radius: f64) -> Mechanism {
        self.joint(name, JointSpec::Rack { joints: [revolute.into(), prismatic.into()], radius })
    }
}

impl Mechanism<Axial> {
    /// A point of the axis in the world as drawn, m.
    pub fn at(mut self, point: V3) -> Self {
        self.state.given("at");
        self.state.place(|at, _, _| *at = point);
        self
    }

    /// Direction of the axis in the world as drawn; its length does not matter.
    pub fn axis(mut self, direction: V3) -> Self {
        self.state.given("axis");
        self.state.place(|_, axis, _| *axis = direction);
        self
    }

    /// Frames in each body instead, for starts that are only an estimate.
    pub fn frames(mut self, base: FrameSpec, moving: FrameSpec) -> Mechanism<Nothing> {
        self.state.frames(base, moving);
        self.next()
    }
}

impl Mechanism<Pointed> {
    /// The point in the world as drawn, m.
    pub fn at(mut self, point: V3) -> Mechanism<Nothing> {
        self.state.given("at");
        self.state.place(|at, _, _| *at = point);
        self.next()
    }

    /// Frames in each body instead, for starts that are only an estimate.
    pub fn frames(mut self, base: FrameSpec, moving: FrameSpec) -> Mechanism<Nothing> {
        self.state.frames(base, moving);
        self.next()
    }
}

impl Mechanism<Universal> {
    /// Centre of the cross in the world as drawn, m.
    pub fn at(mut self, point: V3) -> Self {
        self.state.given("at");
        self.state.place(|at, _, _| *at = point);
        self
    }

    /// The axis fixed in the base and the one fixed in the moving body, in the world as drawn.
    pub fn axes(mut self, in_base: V3, in_moving: V3) -> Self {
        self.state.given("axes");
        self.state.place(|_, axis, axis_moving| (*axis, *axis_moving) = (in_base, Some(in_moving)));
        self
    }

    /// Frames in each body instead, for starts that are only an estimate.
    pub fn frames(mut self, base: FrameSpec, moving: FrameSpec) -> Mechanism<Nothing> {
        self.state.frames(base, moving);
        self.next()
    }
}

impl Mechanism<Distance> {
    /// The distance, m.
    pub fn length(mut self, metres: f64) -> Mechanism<Nothing> {
        if let Some((_, JointSpec::Distance { length, .. })) = self.state.spec.joints.last_mut() {
            *length = Some(metres);
        }
        self.next()
    }
}

impl Mechanism<Angle> {
    /// The angle, rad.
    pub fn angle(mut self, radians: f64) -> Mechanism<Nothing> {
        if let Some((_, JointSpec::Angle { angle, .. })) = self.state.spec.joints.last_mut() {
            *angle = Some(radians);
        }
        self.next()
    }
}

impl Mechanism<Gear> {
    /// Body that carries the axes of both wheels, if it is not the base of both joints.
    pub fn carrier(mut self, body: impl Into<String>) -> Mechanism<Nothing> {
        if let Some((_, JointSpec::Gear { carrier, .. })) = self.state.spec.joints.last_mut() {
            *carrier = Some(body.into());
        }
        self.next()
    }
}

impl FrameSpec {
    /// A joint frame in body coordinates: origin and axis; the angle is zero as drawn.
    pub fn new(at: V3, axis: V3) -> Self {
        Self { at, axis, x: None }
    }

    /// As above, with the direction from which the angle is measured.
    pub fn with_x(self, x: V3) -> Self {
        Self { x: Some(x), ..self }
    }
}
