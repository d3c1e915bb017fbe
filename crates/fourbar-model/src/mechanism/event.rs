//! Limits of joints, and events with their actions.

use super::{Mechanism, Written, last};
use crate::spec::{ActionSpec, Direction, EventSpec, LimitSpec, StateExpr};

impl<L> Mechanism<L> {
    /// Bounds that a joint may reach but not pass.
    ///
    /// ```
    /// use fourbar_model::mechanism::{Body, GROUND, Mechanism};
    /// use fourbar_model::spec::LimitSpec;
    /// let model = Mechanism::new()
    ///     .gravity([0.0, 0.0, -9.81])
    ///     .body("ball", Body::new().mass(1.0).at([0.0, 0.0, 1.0]))
    ///     .prismatic("fall", GROUND, "ball").at([0.0, 0.0, 0.0]).axis([0.0, 0.0, 1.0])
    ///     .limits("fall", LimitSpec { min: Some(-1.0), restitution: Some(0.8), ..LimitSpec::default() })
    ///     .build()?;
    /// assert_eq!(model.limits[0].name, "fall.min");
    /// # Ok::<(), fourbar_model::Error>(())
    /// ```
    pub fn limits(self, joint: impl Into<String>, limits: LimitSpec) -> Mechanism {
        self.stated(|s| s.limits.push((joint.into(), limits)))
    }

    /// An action that is executed where an expression of time and state reaches zero.
    ///
    /// ```
    /// use fourbar_model::mechanism::{Body, GROUND, Mechanism};
    /// let model = Mechanism::new()
    ///     .body("stone", Body::new())
    ///     .revolute("sling", GROUND, "stone").at([0.0, 0.0, 1.0]).axis([0.0, 1.0, 0.0])
    ///     .event("let-go", "stone.vx - stone.vz").rising().remove("sling")
    ///     .build()?;
    /// assert_eq!(model.events[0].actions.len(), 1);
    /// # Ok::<(), fourbar_model::Error>(())
    /// ```
    pub fn event(mut self, name: impl Into<String>, when: impl Into<Written>) -> Mechanism<last::Event> {
        let name = name.into();
        self.state.begin("events", &name, "an event", &[]);
        let when = self.state.law("when", when.into(), &[]);
        let event = EventSpec { when, direction: Direction::Any, once: None, rearm: None, after: None, actions: Vec::new() };
        self.state.spec.events.push((name, event));
        self.next()
    }
}

impl Mechanism<last::Event> {
    fn changed(mut self, change: impl FnOnce(&mut EventSpec)) -> Self {
        if let Some((_, event)) = self.state.spec.events.last_mut() {
            change(event);
        }
        self
    }

    fn does(self, action: ActionSpec) -> Self {
        self.changed(|e| e.actions.push(action))
    }

    /// Only where the expression rises through zero.
    pub fn rising(self) -> Self {
        self.changed(|e| e.direction = Direction::Rising)
    }

    /// Only where it falls through zero.
    pub fn falling(self) -> Self {
        self.changed(|e| e.direction = Direction::Falling)
    }

    /// Whether it happens only once.
    pub fn once(self, once: bool) -> Self {
        self.changed(|e| e.once = Some(once))
    }

    /// How far the expression must return before the event can happen again.
    pub fn rearm(self, by: f64) -> Self {
        self.changed(|e| e.rearm = Some(by))
    }

    /// The event that must have happened before.
    pub fn after(self, event: impl Into<String>) -> Self {
        self.changed(|e| e.after = Some(event.into()))
    }

    /// A joint, drive or force acts again.
    pub fn enable(self, name: impl Into<String>) -> Self {
        self.does(ActionSpec::Enable(name.into()))
    }

    /// A joint, drive or force stops acting until it is enabled.
    pub fn disable(self, name: impl Into<String>) -> Self {
        self.does(ActionSpec::Disable(name.into()))
    }

    /// A joint, drive or force is removed permanently.
    pub fn remove(self, name: impl Into<String>) -> Self {
        self.does(ActionSpec::Remove(name.into()))
    }

    /// A joint is locked in its current position.
    pub fn lock(self, joint: impl Into<String>) -> Self {
        self.does(ActionSpec::Lock(joint.into()))
    }

    /// A locked joint is free again.
    pub fn release(self, joint: impl Into<String>) -> Self {
        self.does(ActionSpec::Release(joint.into()))
    }

    /// An input or a state takes a value.
    pub fn set(mut self, name: impl Into<String>, value: impl Into<Written>) -> Self {
        let value: StateExpr = self.state.law("set", value.into(), &[]);
        self.does(ActionSpec::Set(name.into(), value))
    }

    /// The run ends.
    pub fn stop(self) -> Self {
        self.does(ActionSpec::Stop)
    }
}
