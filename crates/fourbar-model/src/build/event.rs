//! Limits of joints and events with their actions.

use super::Builder;
use crate::diagnostic::{Diagnostic, nearest, number};
use crate::event::{Action, Bounded, Event, Limit};
use crate::force::{Force, Stop};
use crate::model::*;
use crate::spec::*;

impl Builder<'_> {
    pub(super) fn limits(&mut self, model: &mut Model) {
        let spec = self.spec;
        for (name, limit) in &spec.limits {
            let path = format!("joints.{name}.limits");
            if let Some(joint) = self.find_joint(&path, name) {
                self.limit(model, &path, joint, limit);
            }
        }
    }

    fn limit(&mut self, model: &mut Model, path: &str, joint: usize, l: &LimitSpec) {
        let (j, name) = (&model.joints[joint], model.joints[joint].name.clone());
        let refuse = |b: &mut Self, message: String, help: &str| b.error(Diagnostic::new("M132", message).at(path).name(&name).help(help));
        let numbers = [l.min, l.max, l.speed_min, l.speed_max, l.restitution, l.stiffness, l.damping, l.exponent, l.speed];
        if !self.finite(path, &numbers.into_iter().flatten().collect::<Vec<_>>()) {
            return;
        }
        let own = matches!(j.kind.name(), "distance" | "point-on-plane");
        let of = match l.of {
            _ if own => None,
            Some(LimitOf::Angle) => Some(JointCoordinate::Angle),
            Some(LimitOf::Distance) => Some(JointCoordinate::Distance),
            None if j.kind.has_angle() => Some(JointCoordinate::Angle),
            None => Some(JointCoordinate::Distance),
        };
        if of.is_some_and(|of| j.coordinate(of).is_none()) {
            let message = format!("joint `{name}` is {} and has no coordinate to limit", j.kind.name());
            return refuse(
                self,
                message,
                "joints with an angle or a distance can have limits, as can `distance` and `point-on-plane` joints",
            );
        }
        if l.min.is_none() && l.max.is_none() && l.speed_min.is_none() && l.speed_max.is_none() {
            return refuse(self, format!("the limits of `{name}` are empty"), "give `min`, `max`, `speed_min` or `speed_max`");
        }
        for [low, high] in [[l.min, l.max], [l.speed_min, l.speed_max]] {
            if let (Some(low), Some(high)) = (low, high)
                && low >= high
            {
                let message = format!("the limits of `{name}` leave nothing between {} and {}", number(low), number(high));
                return refuse(self, message, "give the smaller value first");
            }
        }
        let e = l.restitution.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&e) {
            return refuse(
                self,
                format!("restitution {} of `{name}` is not between 0 and 1", number(e)),
                "0 stops the joint, 1 reverses its full speed",
            );
        }
        let drawn = match &j.kind {
            crate::joint::JointKind::Distance(d) => d.length,
            _ => 0.0,
        };
        if let Some(stiffness) = l.stiffness {
            self.springy(model, path, joint, (of, own), l, stiffness);
            return;
        }
        for (key, x) in [("damping", l.damping), ("exponent", l.exponent), ("speed", l.speed)] {
            if x.is_some() {
                let message = format!("`{key}` of the limits of `{name}` belongs to a springy limit");
                return refuse(self, message, "give `stiffness` too, or leave it out: rigid limits have `restitution`");
            }
        }
        if own {
            let distance = j.kind.name() == "distance";
            let (bound, side) = match (l.min, l.max) {
                (None, Some(x)) => (x, -1.0),
                (Some(x), None) => (x, 1.0),
                _ => {
                    return refuse(
                        self,
                        format!("joint `{name}` accepts only one limit"),
                        "`max` of a distance is a rope, `min` keeps points apart; a point over a plane has `min: 0`",
                    );
                }
            };
            if distance && bound <= 0.0 || !distance && bound != 0.0 {
                let help = if distance { "give the length" } else { "the plane goes through `at`: write `min: 0` or `max: 0`" };
                return refuse(self, format!("the limit {} of joint `{name}` cannot be met", number(bound)), help);
            }
            // The row of the joint enforces the limit.
            let j = &mut model.joints[joint];
            if let crate::joint::JointKind::Distance(d) = &mut j.kind {
                if self.spec.joints.iter().any(|(n, s)| *n == name && matches!(s, JointSpec::Distance { length: Some(_), .. }))
                    && drawn != bound
                {
                    return refuse(self, format!("joint `{name}` has a length and a limit"), "omit `length`: the limit defines it");
                }
                d.length = bound;
            }
            j.open = true;
            let name = format!("{name}.{}", if side < 0.0 { "max" } else { "min" });
            model.limits.push(Limit { name, joint, of: Bounded::Own, bound, side, restitution: e, spot: None });
            return;
        }
        let Some(of) = of else { return };
        let bounds = [
            ("min", l.min, 1.0, Bounded::Position(of)),
            ("max", l.max, -1.0, Bounded::Position(of)),
            ("speed_min", l.speed_min, 1.0, Bounded::Rate(of)),
            ("speed_max", l.speed_max, -1.0, Bounded::Rate(of)),
        ];
        for (key, bound, side, of) in bounds {
            if let Some(bound) = bound {
                model.limits.push(Limit { name: format!("{name}.{key}"), joint, of, bound, side, restitution: e, spot: None });
            }
        }
    }

    /// A limit with a spring beyond it.
    fn springy(
        &mut self,
        model: &mut Model,
        path: &str,
        joint: usize,
        (of, own): (Option<JointCoordinate>, bool),
        l: &LimitSpec,
        stiffness: f64,
    ) {
        let name = model.joints[joint].name.clone();
        let refuse = |b: &mut Self, message: String, help: &str| b.error(Diagnostic::new("M132", message).at(path).name(&name).help(help));
        let Some(coordinate) = of.filter(|_| !own && l.speed_min.is_none() && l.speed_max.is_none()) else {
            let help = "springy limits bound an angle or a distance; a springy rope is `type: rope` under `forces`";
            return refuse(self, format!("the limits of `{name}` cannot be springy"), help);
        };
        let exponent = l.exponent.unwrap_or(1.5);
        if stiffness <= 0.0 || exponent < 1.0 || l.damping.is_some_and(|d| d < 0.0) || l.speed.is_some_and(|v| v <= 0.0) {
            return refuse(
                self,
                format!("the springy limits of `{name}` have an invalid number"),
                "`stiffness` and `speed` must be positive, `damping` not negative, `exponent` at least 1",
            );
        }
        let damping = match (l.damping, l.restitution, l.speed) {
            (Some(d), None, _) => d,
            (None, None, _) => 0.0,
            (None, Some(e), Some(speed)) => stiffness * Stop::hysteresis(e) / speed,
            (None, Some(_), None) => {
                let help = "give the impact `speed` at which it applies, or `damping`";
                return refuse(self, format!("the restitution of the springy limits of `{name}` needs a speed"), help);
            }
            (Some(_), Some(_), _) => {
                return refuse(self, format!("the limits of `{name}` have both `damping` and `restitution`"), "keep one of them");
            }
        };
        let bounds = [l.min.unwrap_or(f64::NEG_INFINITY), l.max.unwrap_or(f64::INFINITY)];
        model.forces.push((
            format!("{name}.limit"),
            Force::Stop(Stop { joint, coordinate, bounds, stiffness, damping, exponent, doing: [None; 2] }),
        ));
    }

    pub(super) fn events(&mut self, model: &mut Model) {
        let spec = self.spec;
        self.removed_for_good();
        for (name, event) in &spec.events {
            let path = format!("events.{name}");
            let at = |key: &str| format!("{path}.{key}");
            if event.when.variables.iter().any(|v| matches!(v, StateVariable::Length | StateVariable::Rate)) {
                let d = Diagnostic::new("M133", format!("event `{name}` has no length or rate"));
                self.error(
                    d.at(at("when")).name(name).help("name a joint, a point or a body: `pin.angle`, `pin.speed`, `tip.x`, `ball.vy`"),
                );
                continue;
            }
            let when = self.law(model, &at("when"), &event.when);
            let after = event.after.as_ref().map(|after| {
                let found = spec.events.iter().position(|(n, _)| n == after);
                if found.is_none() {
                    let help = nearest(after, spec.events.iter().map(|(n, _)| n.as_str()))
                        .map_or("events are declared under `events:`".to_string(), |n| format!("did you mean `{n}`?"));
                    self.error(Diagnostic::new("M133", format!("there is no event `{after}`")).at(at("after")).name(after).help(help));
                }
                found
            });
            let rearm = event.rearm.unwrap_or(0.0);
            if !(rearm.is_finite() && rearm >= 0.0) {
                let d = Diagnostic::new("M133", format!("`rearm` of event `{name}` is {}", number(rearm)));
                self.error(
                    d.at(at("rearm")).name(name).help("it is the distance by which the expression must return, and must not be negative"),
                );
            }
            let mut actions = Vec::new();
            for (k, action) in event.actions.iter().enumerate() {
                let path = format!("{path}.do.{k}");
                if !self.action(model, &path, name, action, &mut actions) {
                    continue;
                }
            }
            let changes = event.actions.iter().any(|a| !matches!(a, ActionSpec::Set(..)));
            let once = event.once.unwrap_or(changes);
            if let (Some(when), Some(after)) = (when, after.map_or(Some(None), |a| a.map(Some))) {
                model.events.push(Event { name: name.clone(), when, direction: event.direction, once, rearm, after, actions });
            }
        }
    }

    /// Rejects actions that enable an element that another action removes.
    fn removed_for_good(&mut self) {
        let spec = self.spec;
        let actions = || spec.events.iter().flat_map(|(name, e)| e.actions.iter().enumerate().map(move |(k, a)| (name, k, a)));
        for (event, k, action) in actions() {
            let ActionSpec::Enable(name) = action else { continue };
            let removes = |a: &ActionSpec| matches!(a, ActionSpec::Remove(n) if n == name);
            if let Some((by, ..)) = actions().find(|(_, _, a)| removes(a)) {
                let d = Diagnostic::new("M134", format!("event `{event}` enables `{name}`, which event `{by}` removes permanently"));
                self.error(
                    d.at(format!("events.{event}.do.{k}"))
                        .names([event.clone(), name.clone()])
                        .help("use `disable` for elements that are enabled again"),
                );
            }
        }
    }

    /// Adds an action; `false` if it was rejected.
    fn action(&mut self, model: &Model, path: &str, event: &str, action: &ActionSpec, out: &mut Vec<Action>) -> bool {
        let joint_of = |name: &str| model.joints.iter().position(|j| j.name == name);
        match action {
            ActionSpec::Stop => out.push(Action::Stop),
            ActionSpec::Lock(name) | ActionSpec::Release(name) => {
                let Some(k) = self.find_joint(path, name) else { return false };
                if model.joints[k].coordinates().next().is_none() {
                    let d =
                        Diagnostic::new("M134", format!("joint `{name}` is {} and has no coordinate to hold", model.joints[k].kind.name()));
                    self.error(
                        d.at(path).names([event.to_string(), name.clone()]).help("joints with an angle or a distance can be locked"),
                    );
                    return false;
                }
                out.push(if matches!(action, ActionSpec::Lock(_)) { Action::Lock(k) } else { Action::Release(k) });
            }
            ActionSpec::Set(name, value) => {
                let Some(k) = self.find_auxiliary(path, name) else { return false };
                let inputs = model.inputs.len();
                let by_speed =
                    |d: &&Drive| matches!(&d.value, crate::time::TimeFunction::Integral(i) if !i.is_twice() && i.inputs().contains(&k));
                if k < inputs
                    && let Some(drive) = model.drives.iter().find(by_speed)
                {
                    let d = Diagnostic::new(
                        "M134",
                        format!("event `{event}` sets input `{name}`, which gives drive `{}` its speed", drive.name),
                    );
                    self.error(
                        d.at(path)
                            .names([event.to_string(), name.clone()])
                            .help("a speed that jumps is an impact: drive by `acceleration:`"),
                    );
                    return false;
                }
                let Some(law) = self.law(model, path, value) else { return false };
                out.push(Action::Set(k, law));
            }
            ActionSpec::Enable(name) | ActionSpec::Disable(name) | ActionSpec::Remove(name) => {
                let on = matches!(action, ActionSpec::Enable(_));
                if let Some(k) = joint_of(name) {
                    if model.joints[k].open {
                        let d = Diagnostic::new("M134", format!("joint `{name}` has limits and acts only where it touches them"));
                        self.error(
                            d.at(path).names([event.to_string(), name.clone()]).help("a joint with one-sided limits cannot be switched"),
                        );
                        return false;
                    }
                    out.push(Action::Joint(k, on));
                } else if let Some(k) = model.drives.iter().position(|d| d.name == *name) {
                    out.push(Action::Drive(k, on));
                } else if let Some(k) = model.forces.iter().position(|(n, _)| n == name) {
                    if model.coils.iter().any(|c| c.spring == k) {
                        let d = Diagnostic::new("M134", format!("spring `{name}` has a mass and cannot be switched"));
                        self.error(d.at(path).names([event.to_string(), name.clone()]).help("omit its mass"));
                        return false;
                    }
                    out.push(Action::Force(k, on));
                } else {
                    let known = model.joints.iter().map(|j| j.name.as_str()).chain(model.drives.iter().map(|d| d.name.as_str()));
                    let known = known.chain(model.forces.iter().map(|(n, _)| n.as_str()));
                    let help =
                        nearest(name, known).map_or("name a joint, a drive or a force".to_string(), |n| format!("did you mean `{n}`?"));
                    let d = Diagnostic::new("M134", format!("there is no joint, drive or force `{name}` that an event could switch"));
                    self.error(d.at(path).names([event.to_string(), name.clone()]).help(help));
                    return false;
                }
            }
        }
        true
    }
}
