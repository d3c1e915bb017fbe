//! Limits of joints, events and their actions.

use super::{Path, Reader};
use crate::keys::{ACTIONS, EVENT, LIMITS, STUDY_EVENTS};
use crate::tree::{Content, Node, Text};
use fourbar::expr::Dimension;
use fourbar::joint::JointKind;
use fourbar::spec::{ActionSpec, Direction, EventSettings, EventSpec, LimitOf, LimitSpec};

impl Reader<'_> {
    /// Limits of a joint of type `kind`, if its group has any.
    pub(super) fn limits(&mut self, kind: &str, node: &Node, path: &Path<'_>) -> Option<LimitSpec> {
        let Content::Map(entries) = &node.content else { return None };
        let (key, group) = entries.iter().find(|(k, _)| k.get(self.source) == "limits")?;
        let path = path.key("limits");
        let x = self.record(&LIMITS, key, group, &path, &[])?;
        if x.broken {
            return None;
        }
        let of = match x.text("of").as_deref() {
            Some("angle") => Some(LimitOf::Angle),
            Some("distance") => Some(LimitOf::Distance),
            _ => None,
        };
        // Numbers are read again with the dimension of the coordinate.
        let angle = JointKind::ALL.iter().any(|(name, angle, _)| *name == kind && *angle) && of != Some(LimitOf::Distance);
        let (value, speed) = if angle { (Dimension::NONE, Dimension::RATE) } else { (Dimension::LENGTH, Dimension::SPEED) };
        let mut number = |key: &str, d: Dimension| {
            let Content::Map(entries) = &group.content else { return None };
            let (_, node) = entries.iter().find(|(k, _)| k.get(self.source) == key)?;
            self.number(node, Some(d), &path.key(key))
        };
        Some(LimitSpec {
            of,
            min: number("min", value),
            max: number("max", value),
            speed_min: number("speed_min", speed),
            speed_max: number("speed_max", speed),
            speed: number("speed", speed),
            restitution: x.number("restitution"),
            stiffness: x.number("stiffness"),
            damping: x.number("damping"),
            exponent: x.number("exponent"),
        })
    }

    pub(super) fn event(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<EventSpec> {
        let x = self.record(&EVENT, key, node, path, &[])?;
        let Content::Map(entries) = &node.content else { return None };
        let (_, list) = entries.iter().find(|(k, _)| k.get(self.source) == "do")?;
        let at = path.key("do");
        let single = std::slice::from_ref(list);
        let items = match &list.content {
            Content::List(items) => items,
            _ => single,
        };
        let mut actions = Vec::new();
        let mut good = true;
        for (k, item) in items.iter().enumerate() {
            good &= self.action(item, &at.index(k), &mut actions);
        }
        if x.broken || !good {
            return None;
        }
        let direction = match x.text("direction").as_deref() {
            Some("rising") => Direction::Rising,
            Some("falling") => Direction::Falling,
            _ => Direction::Any,
        };
        Some(EventSpec {
            when: x.state("when")?,
            direction,
            once: x.flag("once"),
            rearm: x.number("rearm"),
            after: x.text("after"),
            actions,
        })
    }

    /// One action: a word with names, or `stop`.
    fn action(&mut self, node: &Node, path: &Path<'_>, out: &mut Vec<ActionSpec>) -> bool {
        if let Content::Scalar(text) = &node.content
            && text.get(self.source).trim() == "stop"
        {
            out.push(ActionSpec::Stop);
            return true;
        }
        let Content::Map(entries) = &node.content else {
            self.wrong_kind(node, "an action such as `{remove: sling}`", path);
            return false;
        };
        let mut good = true;
        for (key, value) in entries {
            let word = key.get(self.source);
            let at = path.key(word);
            let many = |r: &mut Self| match &value.content {
                Content::List(_) => r.names(value, None, &at),
                _ => r.text(value, &at).map(|name| vec![name]),
            };
            let named: fn(String) -> ActionSpec = match word {
                "enable" => ActionSpec::Enable,
                "disable" => ActionSpec::Disable,
                "lock" => ActionSpec::Lock,
                "release" => ActionSpec::Release,
                "remove" => ActionSpec::Remove,
                "set" => {
                    let Content::Map(values) = &value.content else {
                        self.wrong_kind(value, "inputs or states with their values: `{set: {torque: 0}}`", &at);
                        good = false;
                        continue;
                    };
                    for (name, value) in values {
                        let name = name.get(self.source);
                        match self.state(value, &[], None, &at.key(name)) {
                            Some(law) => out.push(ActionSpec::Set(name.to_string(), law)),
                            None => good = false,
                        }
                    }
                    continue;
                }
                "stop" => {
                    match self.flag(value, &at) {
                        Some(true) => out.push(ActionSpec::Stop),
                        Some(false) => {}
                        None => good = false,
                    }
                    continue;
                }
                _ => {
                    self.unknown_type("action", word, ACTIONS.into_iter(), key.span, &at);
                    good = false;
                    continue;
                }
            };
            match many(self) {
                Some(names) => out.extend(names.into_iter().map(named)),
                None => good = false,
            }
        }
        good
    }

    /// Settings of events in the study.
    pub(super) fn study_events(&mut self, node: &Node, path: &Path<'_>) -> EventSettings {
        let default = EventSettings::default();
        let Content::Map(entries) = &node.content else { return default };
        let Some((key, group)) = entries.iter().find(|(k, _)| k.get(self.source) == "events") else { return default };
        let Some(x) = self.record(&STUDY_EVENTS, key, group, &path.key("events"), &[]) else { return default };
        EventSettings {
            rest_time: x.number("rest_time").unwrap_or(default.rest_time),
            most_per_second: x.number("most_per_second").unwrap_or(default.most_per_second),
        }
    }
}
