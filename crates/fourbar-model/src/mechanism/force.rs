//! Forces.

use super::last::{Bushing, Components, Friction, Nothing, Rope, Spring, Torsion};
use super::{Mechanism, State, Written};
use crate::spec::*;

/// Default joint speed below which dry friction is smoothed.
const FRICTION_SPEED: f64 = 1e-3;
/// Keys of which a spring needs one.
const STRENGTH: &str = "stiffness, damping or a law";
/// Keys of which friction needs one.
const ROUGHNESS: &str = "coulomb or viscous";

impl State {
    /// Changes the law of the last spring, made linear.
    fn linear(&mut self, change: impl FnOnce(&mut f64, &mut f64, &mut f64)) {
        if let Some((_, ForceSpec::Spring(SpringSpec { law, .. }) | ForceSpec::Torsion(TorsionSpec { law, .. }))) =
            self.spec.forces.last_mut()
        {
            if !matches!(law, SpringLaw::Linear { .. }) {
                *law = SpringLaw::Linear { stiffness: 0.0, rest: 0.0, damping: 0.0 };
            }
            if let SpringLaw::Linear { stiffness, rest, damping } = law {
                change(stiffness, rest, damping);
            }
        }
    }

    fn expression(&mut self, key: &str, value: Written, own: &[&str]) {
        self.lacks.clear();
        let e = self.law(key, value, own);
        if let Some((_, ForceSpec::Spring(SpringSpec { law, .. }) | ForceSpec::Torsion(TorsionSpec { law, .. }))) =
            self.spec.forces.last_mut()
        {
            *law = SpringLaw::Expression(e);
        }
    }
}

impl<L> Mechanism<L> {
    fn element<M>(
        mut self,
        name: impl Into<String>,
        title: &'static str,
        lacks: &[&'static str],
        force: impl FnOnce(&mut State) -> ForceSpec,
    ) -> Mechanism<M> {
        let name = name.into();
        self.state.begin("forces", &name, title, lacks);
        let force = force(&mut self.state);
        self.state.spec.forces.push((name, force));
        self.next()
    }

    /// A force element of any kind.
    pub fn force_element(self, name: impl Into<String>, force: ForceSpec) -> Mechanism {
        self.stated(|s| s.forces.push((name.into(), force)))
    }

    /// Spring and damper along the line of two points.
    pub fn spring(self, name: impl Into<String>, from: Place, to: Place) -> Mechanism<Spring> {
        let law = SpringLaw::Linear { stiffness: 0.0, rest: 0.0, damping: 0.0 };
        self.element(name, "a spring", &[STRENGTH], |_| SpringSpec { between: [from, to], law, mass: 0.0 }.into())
    }

    /// A rope between two places: it pulls when stretched beyond its length, and never pushes.
    pub fn rope(self, name: impl Into<String>, from: Place, to: Place) -> Mechanism<Rope> {
        self.element(name, "a rope", &["length", "stiffness"], |_| {
            RopeSpec { between: [from, to], via: Vec::new(), length: 0.0, stiffness: 0.0, damping: 0.0 }.into()
        })
    }

    /// Spring and damper on a joint's angle.
    pub fn torsion(self, name: impl Into<String>, joint: impl Into<String>) -> Mechanism<Torsion> {
        let law = SpringLaw::Linear { stiffness: 0.0, rest: 0.0, damping: 0.0 };
        self.element(name, "a torsion spring", &[STRENGTH], |_| TorsionSpec { joint: joint.into(), law }.into())
    }

    /// A force at a point, components in world axes, N.
    pub fn force<W: Into<Written>>(self, name: impl Into<String>, on: Place, components: [W; 3]) -> Mechanism<Components> {
        let components = components.map(Into::into);
        self.element(name, "a force", &[], |s| {
            let force = components.map(|c| s.law("force", c, &[]));
            PointForceSpec { on, force, frame: ForceFrame::World }.into()
        })
    }

    /// A torque on a body, components in world axes, N m.
    pub fn torque<W: Into<Written>>(self, name: impl Into<String>, body: impl Into<String>, components: [W; 3]) -> Mechanism<Components> {
        let components = components.map(Into::into);
        self.element(name, "a torque", &[], |s| {
            let torque = components.map(|c| s.law("torque", c, &[]));
            TorqueSpec { body: body.into(), torque, frame: ForceFrame::World }.into()
        })
    }

    /// Force or torque along a joint coordinate, on the moving body with its reaction on the base, N or N m.
    pub fn actuator(self, name: impl Into<String>, joint: impl Into<String>, effort: impl Into<Written>) -> Mechanism {
        let effort = effort.into();
        self.element(name, "an actuator", &[], |s| ActuatorSpec { joint: joint.into(), effort: s.law("effort", effort, &[]) }.into())
    }

    /// Elastic connection in six directions; its axes are located at the first place.
    pub fn bushing(self, name: impl Into<String>, from: Place, to: Place) -> Mechanism<Bushing> {
        self.element(name, "a bushing", &["stiffness"], |_| {
            BushingSpec { between: [from, to], frame: Orientation::World, stiffness: [0.0; 6], damping: [0.0; 6] }.into()
        })
    }

    /// A springy stop of a joint.
    pub fn springy_stop(self, name: impl Into<String>, stop: StopSpec) -> Mechanism {
        self.element(name, "a springy stop", &[], |_| stop.into())
    }

    /// Friction of a joint.
    pub fn friction(self, name: impl Into<String>, joint: impl Into<String>) -> Mechanism<Friction> {
        let joint = joint.into();
        let force = FrictionSpec { joint, speed: FRICTION_SPEED, ..FrictionSpec::default() };
        self.element(name, "a friction element", &[ROUGHNESS], |_| force.into())
    }
}

impl Mechanism<Spring> {
    /// Stiffness, N/m; needs the [`Mechanism::length`] at which it is relaxed.
    pub fn stiffness(mut self, k: f64) -> Self {
        // A damper alone needs no rest length.
        self.state.given(STRENGTH);
        self.state.lacks.push("length");
        self.state.linear(|stiffness, _, _| *stiffness = k);
        self
    }

    /// Length at which it is relaxed, m.
    pub fn length(mut self, metres: f64) -> Self {
        self.state.given("length");
        self.state.linear(|_, rest, _| *rest = metres);
        self
    }

    /// Damping, N s/m.
    pub fn damping(mut self, c: f64) -> Self {
        self.state.given(STRENGTH);
        self.state.linear(|_, _, damping| *damping = c);
        self
    }

    /// Tension as an expression of `length` and `rate`, time and state, N; instead of stiffness and damping.
    pub fn tension(mut self, law: impl Into<Written>) -> Self {
        self.state.expression("tension", law.into(), &["length", "rate"]);
        self
    }

    /// Its own mass, spread evenly along its length, kg.
    pub fn mass(mut self, kilograms: f64) -> Self {
        if let Some((_, ForceSpec::Spring(SpringSpec { mass, .. }))) = self.state.spec.forces.last_mut() {
            *mass = kilograms;
        }
        self
    }
}

impl Mechanism<Rope> {
    fn changed(mut self, change: impl FnOnce(&mut RopeSpec)) -> Self {
        if let Some((_, ForceSpec::Rope(rope))) = self.state.spec.forces.last_mut() {
            change(rope);
        }
        self
    }

    /// Length beyond which it is taut, m.
    pub fn length(mut self, metres: f64) -> Self {
        self.state.given("length");
        self.changed(|r| r.length = metres)
    }

    /// Stiffness, N/m.
    pub fn stiffness(mut self, k: f64) -> Self {
        self.state.given("stiffness");
        self.changed(|r| r.stiffness = k)
    }

    /// A small pulley or an eye that it runs over next.
    pub fn via(self, place: Place) -> Self {
        self.changed(|r| r.via.push(place))
    }

    /// Damping while it is taut, N s/m.
    pub fn damping(self, c: f64) -> Self {
        self.changed(|r| r.damping = c)
    }
}

impl Mechanism<Torsion> {
    /// Stiffness, N m/rad.
    pub fn stiffness(mut self, k: f64) -> Self {
        self.state.given(STRENGTH);
        self.state.linear(|stiffness, _, _| *stiffness = k);
        self
    }

    /// Angle at which it is relaxed, rad; zero by default.
    pub fn angle(mut self, radians: f64) -> Self {
        self.state.linear(|_, rest, _| *rest = radians);
        self
    }

    /// Damping, N m s/rad.
    pub fn damping(mut self, c: f64) -> Self {
        self.state.given(STRENGTH);
        self.state.linear(|_, _, damping| *damping = c);
        self
    }

    /// Resisting torque as an expression of `angle` and `rate`, time and state, N m; instead of stiffness and damping.
    pub fn torque_law(mut self, law: impl Into<Written>) -> Mechanism<Nothing> {
        self.state.expression("torque", law.into(), &["angle", "rate"]);
        self.next()
    }
}

impl Mechanism<Components> {
    /// Components in the axes of the body it acts on.
    pub fn in_body(mut self) -> Mechanism<Nothing> {
        if let Some((_, ForceSpec::Force(PointForceSpec { frame, .. }) | ForceSpec::Torque(TorqueSpec { frame, .. }))) =
            self.state.spec.forces.last_mut()
        {
            *frame = ForceFrame::Body;
        }
        self.next()
    }
}

impl Mechanism<Bushing> {
    fn changed(mut self, change: impl FnOnce(&mut Orientation, &mut [f64; 6], &mut [f64; 6])) -> Self {
        if let Some((_, ForceSpec::Bushing(BushingSpec { frame, stiffness, damping, .. }))) = self.state.spec.forces.last_mut() {
            change(frame, stiffness, damping);
        }
        self
    }

    /// Orientation of its axes in the first body.
    pub fn frame(self, orientation: Orientation) -> Self {
        self.changed(|frame, _, _| *frame = orientation)
    }

    /// Stiffness along the three axes, N/m, and about them, N m/rad.
    pub fn stiffness(mut self, k: [f64; 6]) -> Self {
        self.state.given("stiffness");
        self.changed(|_, stiffness, _| *stiffness = k)
    }

    /// Damping along the three axes, N s/m, and about them, N m s/rad.
    pub fn damping(self, c: [f64; 6]) -> Self {
        self.changed(|_, _, damping| *damping = c)
    }
}

impl Mechanism<Friction> {
    fn changed(mut self, change: impl FnOnce(&mut f64, &mut f64, &mut f64, &mut f64)) -> Self {
        if let Some((_, ForceSpec::Friction(FrictionSpec { coulomb, viscous, radius, speed, .. }))) = self.state.spec.forces.last_mut() {
            change(coulomb, viscous, radius, speed);
        }
        self
    }

    /// Coulomb coefficient on the load of the joint.
    pub fn coulomb(mut self, mu: f64) -> Self {
        self.state.given(ROUGHNESS);
        self.changed(|coulomb, _, _, _| *coulomb = mu)
    }

    /// Viscous coefficient on the joint speed, N s/m or N m s/rad.
    pub fn viscous(mut self, c: f64) -> Self {
        self.state.given(ROUGHNESS);
        self.changed(|_, viscous, _, _| *viscous = c)
    }

    /// The joint sticks while the effort on it is small, up to a static coefficient that is at least the sliding one.
    pub fn stick(mut self, static_coefficient: Option<f64>) -> Self {
        if let Some((_, ForceSpec::Friction(f))) = self.state.spec.forces.last_mut() {
            (f.stick, f.static_coefficient) = (true, static_coefficient);
        }
        self
    }

    /// Dry friction without any load, N or N m.
    pub fn preload(mut self, effort: f64) -> Self {
        self.state.given(ROUGHNESS);
        if let Some((_, ForceSpec::Friction(f))) = self.state.spec.forces.last_mut() {
            f.preload = effort;
        }
        self
    }

    /// Radius at which the normal force acts, for joints that turn, m.
    pub fn radius(self, metres: f64) -> Self {
        self.changed(|_, _, radius, _| *radius = metres)
    }

    /// Speed below which Coulomb friction is smoothed, m/s.
    pub fn speed(self, metres_per_second: f64) -> Self {
        self.changed(|_, _, _, speed| *speed = metres_per_second)
    }
}
