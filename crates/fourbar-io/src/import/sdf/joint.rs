//! Joints of SDF, including those that close loops.

use super::Sdf;
use crate::import::draft::*;
use crate::import::xml::Element;
use fourbar::Diagnostic;
use fourbar::spec::PairKind;
use nalgebra::Vector3;

/// Limits of at least this size mean "none".
const ENDLESS: f64 = 1e15;

impl<'t> Sdf<'_, '_, 't> {
    pub(super) fn joint(&mut self, e: Element<'t>) {
        let r = self.reading;
        let (Some(name), Some(kind)) = (r.need(e, "name"), r.need(e, "type")) else { return };
        let end = |tag: &str| {
            let found = e.text_of(tag).filter(|a| !a.value.is_empty());
            if found.is_none() {
                let d = Diagnostic::new("M654", format!("joint `{}` has no `{tag}`", name.value)).name(name.value);
                r.problem(d.help(format!("add `<{tag}>` with the name of a link")), e.spot());
            }
            found
        };
        let (Some(parent), Some(child)) = (end("parent"), end("child")) else { return };
        let (Some(a), Some(b)) = (self.link_of(parent), self.link_of(child)) else { return };
        // Older versions have further poses of the joint in its sensors; this one is that of the joint frame.
        let Some(frame) = self.world(name.value, e.spot()) else { return };
        let axis_of = |tag: &str| {
            let Some(x) = e.child(tag) else { return Some(frame.R * Vector3::z()) };
            let text = x.text_of("xyz");
            let axis = r.direction(text, Vector3::z());
            let within = x.child("xyz").and_then(|xyz| xyz.word("expressed_in")).filter(|w| !w.is_empty());
            let old = x.text_of("use_parent_model_frame").is_some_and(|v| matches!(v.value, "true" | "1"));
            let R = match within {
                Some("__model__") => self.model.R,
                Some(other) => self.world(other, x.spot())?.R,
                None if old => self.model.R,
                None => frame.R,
            };
            Some(R * axis)
        };
        let what = match kind.value {
            "revolute" | "continuous" => Kind::Pair(PairKind::Revolute),
            "prismatic" => Kind::Pair(PairKind::Prismatic),
            "ball" => Kind::Pair(PairKind::Spherical),
            "fixed" => Kind::Welded,
            "universal" | "revolute2" => Kind::Universal,
            "screw" => {
                let pitch = e.text_of("screw_thread_pitch").and_then(|x| r.numbers(x, 1, 1)).map(|x| x[0]);
                // The older key counts turns per length, with the opposite sign.
                let old = e.text_of("thread_pitch").and_then(|x| r.numbers(x, 1, 1)).filter(|x| x[0] != 0.0);
                let lead = pitch.or(old.map(|x| -2.0 * std::f64::consts::PI / x[0])).unwrap_or(1.0);
                Kind::Pair(PairKind::Screw { lead })
            }
            other => {
                let known = ["revolute", "continuous", "prismatic", "ball", "fixed", "universal", "screw"];
                return r.unknown("type of joint", other, known.into_iter(), kind.spot);
            }
        };
        let [pa, pb] = [a, b].map(|k| self.draft.links[k].pose);
        let Some(axis) = axis_of("axis") else { return };
        let drawn = Pose::with_axis(frame.p, &axis);
        let mut frames = [pa.inverse().then(&drawn), pb.inverse().then(&drawn)];
        if what == Kind::Universal {
            let Some(second) = axis_of("axis2") else { return };
            frames[1] = pb.inverse().then(&Pose::with_axis(frame.p, &second));
        }
        let k = self.draft.joints.len();
        let full = format!("{}{}", self.prefix, name.value);
        self.joints.add(r, "joints", full.clone(), k, name.spot);
        let mut joint = Joint::new(full.clone(), what, [a, b], frames, e.spot());
        let mut effort = None;
        if let Some(x) = e.child("axis") {
            if let Some(l) = x.child("limit") {
                let [low, high] = ["lower", "upper"].map(|key| l.text_of(key));
                let limits = [r.number(low, -1e16), r.number(high, 1e16)];
                let axes = joint.turns().is_some() || joint.kind == Kind::Universal;
                if axes && kind.value != "continuous" && limits.iter().any(|x| x.abs() < ENDLESS) {
                    joint.limits = Some(limits);
                }
                effort = l.text_of("effort").and_then(|x| r.numbers(x, 1, 1)).map(|x| x[0]);
            }
            if let Some(d) = x.child("dynamics") {
                joint.passive.damping = r.number(d.text_of("damping"), 0.0);
                joint.passive.dry = r.number(d.text_of("friction"), 0.0);
                joint.passive.stiffness = r.number(d.text_of("spring_stiffness"), 0.0);
                joint.passive.rest = r.number(d.text_of("spring_reference"), 0.0);
            }
        }
        self.draft.joints.push(joint);
        // A joint is driven if it has a bounded effort.
        if let (Some(turns), Some(largest)) = (self.draft.joints[k].turns(), effort)
            && largest > 0.0
            && largest < ENDLESS
        {
            let i = self.draft.inputs.len();
            let unit = if turns { "N*m" } else { "N" };
            let name = format!("{full}_effort");
            self.draft.inputs.push(Input { name: name.clone(), unit, default: 0.0, range: Some([-largest, largest]), spot: e.spot() });
            self.draft.efforts.push(Effort { name, acts: Acts::Joint(k, format!("i{i}")), spot: e.spot() });
        }
    }

    /// A constraint of Drake's extension between two frames, which closes a loop.
    pub(super) fn constraint(&mut self, e: Element<'t>, weld: bool) {
        let names: Vec<_> = e.children().take(3).inspect(|c| c.saw()).map(Element::as_value).collect();
        let [a, b] = *names.as_slice() else {
            let d = Diagnostic::new("M654", format!("`{}` does not name two frames", e.tag()));
            return self.reading.problem(d.help("it holds the names of two frames"), e.spot());
        };
        let (Some(i), Some(j)) = (self.link_of(a), self.link_of(b)) else { return };
        let (Some(wa), Some(wb)) = (self.world(a.value, e.spot()), self.world(b.value, e.spot())) else { return };
        let frames = [(i, wa), (j, wb)].map(|(k, w)| self.draft.links[k].pose.inverse().then(&w));
        let kind = Kind::Pair(if weld { PairKind::Fixed } else { PairKind::Spherical });
        self.draft.joints.push(Joint::new(format!("{}_{}", a.value, b.value), kind, [i, j], frames, e.spot()));
    }
}
