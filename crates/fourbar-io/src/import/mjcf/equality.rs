//! Equalities, which close loops and couple joints.

use super::super::draft::*;
use super::super::reading::from_quaternion;
use super::super::xml::{Attribute, Element};
use super::{Mjcf, Site};
use fourbar::Diagnostic;
use fourbar::diagnostic::number;
use fourbar::spec::{DriveQuantity, PairKind};
use nalgebra::Vector3;
use std::collections::HashMap;

/// Points to be joined within this distance differ only by the rounded digits of the file, m.
const DIGITS: f64 = 1e-6;

impl<'x> Mjcf<'_, '_, 'x> {
    pub(super) fn equalities(&mut self, e: Element<'x>) {
        let mut moved: HashMap<usize, f64> = HashMap::new();
        for (n, c) in e.children().enumerate() {
            c.saw();
            let class = self.defaults.class_of(self.reading, c, 0);
            let tags = ["equality"];
            let name = c.word("name").map_or_else(|| format!("{}{}", c.tag(), n + 1), String::from);
            let active = self.defaults.attribute(c, class, &tags, "active").is_none_or(|a| a.value != "false");
            if !active || self.off.equalities {
                let d = Diagnostic::new("W457", format!("the equality `{name}` is switched off and omitted")).name(&name);
                self.reading.note(d, c.spot());
                c.done();
                continue;
            }
            match c.tag() {
                "connect" => self.connect(c, name),
                "weld" => self.weld(c, name),
                "joint" => {
                    if let Some((joint, change)) = self.couple(c, name) {
                        *moved.entry(joint).or_default() += change;
                    }
                }
                other => {
                    let d = Diagnostic::new("W457", format!("the equality `{name}` of {other}s is omitted")).name(&name);
                    self.reading.note(d.help("the mechanism moves as if it were absent"), c.spot());
                    c.done();
                }
            }
        }
        // Places on bodies refer to the pose of the file, so bodies are moved after all of them are read.
        let steps = moved.iter().filter_map(|(k, change)| Some((*k, self.draft.joints[*k].step(*change)?))).collect();
        self.draft.displace(0..self.tree, &steps);
    }

    fn named_body(&self, a: Option<Attribute<'x>>) -> Option<usize> {
        let Some(a) = a else { return Some(0) };
        let found = self.bodies.find(a.value);
        if found.is_none() {
            self.reading.unknown("body", a.value, self.bodies.words(), a.spot);
        }
        found
    }

    pub(super) fn named_joint(&self, a: Attribute<'x>) -> Option<usize> {
        let found = self.joints.find(a.value);
        if found.is_none() {
            self.reading.unknown("joint", a.value, self.joints.words(), a.spot);
        }
        found
    }

    pub(super) fn named_site(&self, a: Attribute<'x>) -> Option<Site> {
        let found = self.sites.get(a.value).copied();
        if found.is_none() {
            self.reading.unknown("site", a.value, self.sites.keys().copied(), a.spot);
        }
        found
    }

    /// The two sites of an equality, if it is given by sites.
    fn sites(&self, e: Element<'x>) -> Option<Option<[Site; 2]>> {
        match (e.get("site1"), e.get("site2")) {
            (None, None) => Some(None),
            (Some(a), Some(b)) => Some(Some([self.named_site(a)?, self.named_site(b)?])),
            _ => {
                let d = Diagnostic::new("M654", format!("`{}` names one site and not the other", e.tag()));
                self.reading.problem(d.help("give `site1` and `site2`"), e.spot());
                None
            }
        }
    }

    fn connect(&mut self, e: Element<'x>, name: String) {
        let Some(sites) = self.sites(e) else { return };
        let kind = Kind::Pair(PairKind::Spherical);
        if let Some([a, b]) = sites {
            let [pa, pb] = [a, b].map(|s| self.draft.links[s.link].pose);
            let (at, mut there) = (pa.point(&a.pose.p), b.pose.p);
            let gap = (pb.point(&there) - at).norm();
            if gap > 0.0 && gap <= DIGITS {
                there = pb.inverse().point(&at);
                if gap > 1e-12 {
                    let message = format!("the sites of `{name}` are {} m apart as drawn; the second is placed at the first", number(gap));
                    self.reading.note(Diagnostic::new("W457", message).name(&name).help("the file rounds its numbers"), e.spot());
                }
            }
            self.close(Joint::new(name, kind, [a.link, b.link], [Pose::at(a.pose.p), Pose::at(there)], e.spot()));
            return;
        }
        let Some(first) = self.reading.need(e, "body1") else { return };
        let (Some(a), Some(b)) = (self.named_body(Some(first)), self.named_body(e.get("body2"))) else { return };
        let anchor = self.reading.vector(self.reading.need(e, "anchor"), Vector3::zeros());
        let [pa, pb] = [a, b].map(|k| self.draft.links[k].pose);
        let there = pb.inverse().point(&pa.point(&anchor));
        self.close(Joint::new(name, kind, [a, b], [Pose::at(anchor), Pose::at(there)], e.spot()));
    }

    fn weld(&mut self, e: Element<'x>, name: String) {
        let Some(sites) = self.sites(e) else { return };
        let kind = Kind::Pair(PairKind::Fixed);
        if let Some([a, b]) = sites {
            self.close(Joint::new(name, kind, [a.link, b.link], [a.pose, b.pose], e.spot()));
            return;
        }
        let Some(first) = self.reading.need(e, "body1") else { return };
        let (Some(a), Some(b)) = (self.named_body(Some(first)), self.named_body(e.get("body2"))) else { return };
        let [pa, pb] = [a, b].map(|k| self.draft.links[k].pose);
        let given = e.get("relpose").and_then(|x| self.reading.numbers(x, 7, 7));
        let relative = given.and_then(|x| Some(Pose { p: Vector3::new(x[0], x[1], x[2]), R: from_quaternion(&x[3..])? }));
        // The anchor has no effect if the equality holds exactly.
        e.get("anchor");
        let relative = relative.unwrap_or_else(|| pa.inverse().then(&pb));
        self.close(Joint::new(name, kind, [a, b], [relative, Pose::IDENTITY], e.spot()));
    }

    fn close(&mut self, joint: Joint) {
        self.draft.joints.push(joint);
        self.reference.push(0.0);
    }

    /// Couples two joints, or fixes one; returns a joint whose drawn coordinate violates the equality, and the error.
    fn couple(&mut self, e: Element<'x>, name: String) -> Option<(usize, f64)> {
        let r = self.reading;
        let follower = self.named_joint(r.need(e, "joint1")?)?;
        let leader = match e.get("joint2") {
            Some(a) => Some(self.named_joint(a)?),
            None => None,
        };
        let mut c = e.get("polycoef").and_then(|a| r.numbers(a, 1, 5)).unwrap_or_else(|| vec![0.0, 1.0]);
        c.resize(5, 0.0);
        for j in [Some(follower), leader].into_iter().flatten() {
            if self.draft.joints[j].turns().is_none() {
                let name = &self.draft.joints[j].name;
                let d = Diagnostic::new("M655", format!("joint `{name}` has no coordinate to couple")).name(name);
                r.problem(d.help("hinges and slides can be coupled"), e.spot());
                return None;
            }
        }
        if leader.is_some() && c[2..].iter().any(|x| *x != 0.0) {
            let d = Diagnostic::new("W457", format!("the coupling `{name}` is a polynomial of higher degree, and is omitted")).name(&name);
            r.note(d.help("the joints move independently of each other"), e.spot());
            return None;
        }
        match leader {
            Some(leader) if c[1] != 0.0 => {
                self.draft.couplings.push(Coupling { name, joints: [leader, follower], ratio: c[1], spot: e.spot() });
            }
            _ => {
                let turns = self.draft.joints[follower].turns() == Some(true);
                let quantity = if turns { DriveQuantity::Angle } else { DriveQuantity::Distance };
                let value = self.reference[follower] + c[0];
                let formula = format!("{value:?}");
                self.draft.drives.push(Drive { name, joint: follower, quantity, formula, spot: e.spot() });
            }
        }
        (c[0] != 0.0).then_some((follower, c[0]))
    }
}
