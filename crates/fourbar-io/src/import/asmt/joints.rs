//! Joints, motions, limits and forces of an assembly.

use super::{Asmt, Item, Marker};
use crate::import::draft::*;
use fourbar::Diagnostic;
use fourbar::spec::{DriveQuantity, PairKind};
use nalgebra::{Matrix3, Vector3};

/// Supported joint types.
const READ: [&str; 17] = [
    "FixedJoint",
    "RevoluteJoint",
    "CylindricalJoint",
    "TranslationalJoint",
    "SphericalJoint",
    "UniversalJoint",
    "ScrewJoint",
    "ParallelAxesJoint",
    "PerpendicularJoint",
    "AngleJoint",
    "PointInLineJoint",
    "PlanarJoint",
    "PointInPlaneJoint",
    "SphSphJoint",
    "RevRevJoint",
    "GearJoint",
    "RackPinionJoint",
];

impl Asmt<'_, '_> {
    fn marker(&self, item: &Item, key: &str) -> Option<Marker> {
        let Some(path) = item.value(key) else {
            self.wrong(format!("`{}` lacks `{key}`", item.text), item.spot);
            return None;
        };
        let found = self.markers.get(&path.text).copied();
        if found.is_none() {
            self.reading.unknown("marker", &path.text, self.markers.keys().map(String::as_str), path.spot);
        }
        found
    }

    fn push(&mut self, path: String, item: &Item, joint: Joint) {
        self.joints.insert(path, self.draft.joints.len());
        let paths = ["MarkerI", "MarkerJ"].map(|key| item.value(key).map_or_else(String::new, |p| p.text.clone()));
        self.between.insert(paths, self.draft.joints.len());
        self.draft.joints.push(joint);
    }

    pub(super) fn joint(&mut self, item: &Item, assembly: &str) {
        // Some files leave the name empty; the type is used then.
        let name = item.value("Name").map_or_else(|| item.text.clone(), |n| n.text.clone());
        if !READ.contains(&item.text.as_str()) {
            let d = Diagnostic::new("M660", format!("`{name}` is a `{}`, which is not read", item.text)).name(&name);
            return self.reading.problem(d.help("without it the assembly would be a different one"), item.spot);
        }
        let (Some(i), Some(j)) = (self.marker(item, "MarkerI"), self.marker(item, "MarkerJ")) else { return };
        let path = format!("/{assembly}/{name}");
        let mut base = i.pose;
        let mut shift = |offset: f64| base.p += base.R * Vector3::new(0.0, 0.0, offset);
        let along = |key: &str| item.value(key).and_then(|v| self.numbers(v, 1)).map_or(0.0, |x| x[0]);
        let kind = match item.text.as_str() {
            "FixedJoint" => Kind::Welded,
            "RevoluteJoint" => Kind::Pair(PairKind::Revolute),
            "CylindricalJoint" => Kind::Pair(PairKind::Cylindrical),
            "TranslationalJoint" => Kind::Pair(PairKind::Prismatic),
            "SphericalJoint" => Kind::Pair(PairKind::Spherical),
            "UniversalJoint" => Kind::Universal,
            "ScrewJoint" => Kind::Pair(PairKind::Screw { lead: along("pitch") }),
            "ParallelAxesJoint" => Kind::Angle(Some(0.0)),
            "PerpendicularJoint" => Kind::Angle(Some(std::f64::consts::FRAC_PI_2)),
            "AngleJoint" => Kind::Angle(Some(along("theIzJz"))),
            "PointInLineJoint" => Kind::Pair(PairKind::PointOnLine),
            "PlanarJoint" => {
                shift(along("offset"));
                Kind::Pair(PairKind::Planar)
            }
            "PointInPlaneJoint" => {
                shift(along("offset"));
                Kind::Pair(PairKind::PointOnPlane)
            }
            "SphSphJoint" => Kind::Distance(Some(along("distanceIJ"))),
            // A massless rod between two parallel hinges.
            "RevRevJoint" => {
                let length = along("distanceIJ");
                let links = [i.link, j.link];
                for (what, kind) in [("axes", Kind::Angle(Some(0.0))), ("level", Kind::Pair(PairKind::PointOnPlane))] {
                    let moving = self.facing(&kind, &i, &j);
                    self.draft.joints.push(Joint::new(format!("{name}_{what}"), kind, links, [i.pose, moving], item.spot));
                }
                Kind::Distance(Some(length))
            }
            "GearJoint" => return self.gear(item, name, [i, j]),
            _ => return self.rack(item, name, [i, j]),
        };
        let moving = self.facing(&kind, &i, &j);
        self.push(path, item, Joint::new(name, kind, [i.link, j.link], [base, moving], item.spot));
    }

    /// The marker of the moving part, oriented as the joint requires. In the source, axes that must be parallel may point in opposite
    /// directions as drawn: then the marker is turned about its x axis, from which angles are counted.
    fn facing(&self, kind: &Kind, i: &Marker, j: &Marker) -> Pose {
        let R = self.draft.links[i.link].pose.then(&i.pose).R.tr_mul(&self.draft.links[j.link].pose.then(&j.pose).R);
        let over = |d: [f64; 3]| Matrix3::from_diagonal(&Vector3::from(d));
        let turns: &[[f64; 3]] = match kind {
            Kind::Pair(PairKind::Revolute | PairKind::Cylindrical | PairKind::Screw { .. } | PairKind::Planar) => &[[1.0, -1.0, -1.0]],
            Kind::Angle(Some(0.0)) => &[[1.0, -1.0, -1.0]],
            // No rotation is possible here, so each axis may point either way.
            Kind::Pair(PairKind::Prismatic) => &[[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]],
            _ => &[],
        };
        let measure = |turn: &Matrix3<f64>| {
            let R = R * turn;
            if matches!(kind, Kind::Pair(PairKind::Prismatic)) { R.trace() } else { R[(2, 2)] }
        };
        let mut best = Matrix3::identity();
        for turn in turns.iter().map(|d| over(*d)) {
            if measure(&turn) > measure(&best) {
                best = turn;
            }
        }
        Pose { p: j.pose.p, R: j.pose.R * best }
    }

    /// The joint by which a link turns (or slides) against another body: its number, and 1 if the link is the moving one, otherwise -1.
    fn holding(&self, link: usize, turns: bool) -> Option<(usize, f64)> {
        let fits = |j: &Joint| {
            matches!(j.kind, Kind::Pair(PairKind::Revolute | PairKind::Cylindrical | PairKind::Prismatic)) && j.turns() == Some(turns)
        };
        self.draft.joints.iter().enumerate().filter(|(_, j)| fits(j)).find_map(|(k, j)| match j.links {
            [_, b] if b == link => Some((k, 1.0)),
            [a, _] if a == link => Some((k, -1.0)),
            _ => None,
        })
    }

    /// Direction of the axis of a joint in the world.
    fn axis(&self, joint: usize) -> Vector3<f64> {
        let j = &self.draft.joints[joint];
        let f = self.draft.links[j.links[0]].pose.then(&j.frames[0]);
        f.R.column(2).into()
    }

    /// Two wheels in external contact rotate in opposite directions.
    fn gear(&mut self, item: &Item, name: String, [i, j]: [Marker; 2]) {
        let (Some(ri), Some(rj)) = (self.number(item, "radiusI"), self.number(item, "radiusJ")) else { return };
        let (Some((a, sa)), Some((b, sb))) = (self.holding(i.link, true), self.holding(j.link, true)) else {
            return self.wrong(format!("`{name}` couples parts that no earlier joint allows to turn"), item.spot);
        };
        let same = if self.axis(a).dot(&self.axis(b)) < 0.0 { -1.0 } else { 1.0 };
        self.draft.couplings.push(Coupling { name, joints: [a, b], ratio: -ri / rj * sa * sb * same, spot: item.spot });
    }

    /// A rack and a pinion. MarkerI, on either of the two, has its x axis along the teeth and its z axis along that of the pinion.
    fn rack(&mut self, item: &Item, name: String, [i, j]: [Marker; 2]) {
        let Some(radius) = self.number(item, "pitchRadius") else { return };
        let roles = |rack: &Marker, pinion: &Marker| Some((self.holding(rack.link, false)?, self.holding(pinion.link, true)?));
        let Some(((slide, ss), (turn, st))) = roles(&i, &j).or_else(|| roles(&j, &i)) else {
            return self.wrong(format!("`{name}` needs a rack that slides and a pinion that turns"), item.spot);
        };
        let drawn = self.draft.links[i.link].pose.then(&i.pose).R;
        let [x, z] = [0, 2].map(|k| Vector3::from(drawn.column(k)));
        let side = |v: f64| if v < 0.0 { -1.0 } else { 1.0 };
        let ratio = radius * ss * st * side(self.axis(slide).dot(&x)) * side(self.axis(turn).dot(&z));
        self.draft.couplings.push(Coupling { name, joints: [turn, slide], ratio, spot: item.spot });
    }

    pub(super) fn motion(&mut self, item: &Item) {
        let name = item.value("Name").map_or_else(|| "motion".to_string(), |n| n.text.clone());
        let (quantity, key) = match item.text.as_str() {
            "RotationalMotion" => (DriveQuantity::Angle, "RotationZ"),
            "TranslationalMotion" => (DriveQuantity::Distance, "TranslationZ"),
            other => {
                let d = Diagnostic::new("W450", format!("the motion `{name}`, a `{other}`, is not converted")).name(&name);
                return self.reading.note(d.help("add a drive to the converted file"), item.spot);
            }
        };
        let Some(path) = item.value("MotionJoint") else { return self.wrong(format!("`{name}` lacks `MotionJoint`"), item.spot) };
        let Some(&joint) = self.joints.get(&path.text) else {
            return self.reading.unknown("joint", &path.text, self.joints.keys().map(String::as_str), path.spot);
        };
        let Some(formula) = item.value(key) else { return self.wrong(format!("`{name}` lacks `{key}`"), item.spot) };
        let formula = expression(&formula.text);
        self.draft.drives.push(Drive { name, joint, quantity, formula, spot: item.spot });
    }

    pub(super) fn limit(&mut self, item: &Item) {
        let name = item.value("Name").map_or_else(|| item.text.clone(), |n| n.text.clone());
        let markers = ["MarkerI", "MarkerJ"].map(|key| item.value(key).map_or_else(String::new, |p| p.text.clone()));
        let named = item.value("MotionJoint").and_then(|p| self.joints.get(&p.text));
        let left_out = |why: &str| {
            let d = Diagnostic::new("W452", format!("the limit `{name}` is not converted: {why}")).name(&name);
            self.reading.note(d, item.spot);
        };
        let Some(&joint) = named.or_else(|| self.between.get(&markers)) else {
            return left_out("no joint of the assembly joins its markers");
        };
        let Some(x) = self.number(item, "Limit") else { return };
        let slides = item.text == "TranslationLimit";
        let j = &self.draft.joints[joint];
        let fits = match j.kind {
            Kind::Pair(PairKind::Cylindrical | PairKind::Screw { .. }) => j.limits.is_none() || j.limits_slide == slides,
            _ => j.turns() == Some(!slides),
        };
        if !fits {
            return left_out("its joint has no such coordinate, or its other coordinate is already limited");
        }
        let j = &mut self.draft.joints[joint];
        j.limits_slide = slides && j.turns() == Some(true);
        let limits = j.limits.get_or_insert([f64::NEG_INFINITY, f64::INFINITY]);
        match item.value("Type").map(|t| t.text.as_str()) {
            Some("=<") => limits[1] = x,
            _ => limits[0] = x,
        }
    }

    pub(super) fn force(&mut self, item: &Item) {
        let name = item.value("Name").map_or_else(|| "force".to_string(), |n| n.text.clone());
        let (Some(i), Some(j)) = (self.marker(item, "MarkerI"), self.marker(item, "MarkerJ")) else { return };
        let twist = item.value("twist").is_none_or(|t| t.text.trim() == "0");
        match (item.text.as_str(), item.value("tension"), twist) {
            ("InLineForceTorque", Some(tension), true) => {
                let formula = expression(&tension.text).replace("vrIJ(self)", "rate").replace("rIJ(self)", "length");
                let acts = Acts::Spring([i.link, j.link], [i.pose.p.into(), j.pose.p.into()], formula);
                self.draft.efforts.push(Effort { name, acts, spot: item.spot });
            }
            (other, ..) => {
                let d = Diagnostic::new("W450", format!("the force `{name}`, a `{other}`, is not converted")).name(&name);
                self.reading.note(d.help("add it to the converted file"), item.spot);
            }
        }
    }
}

/// A formula in the syntax of this program: numbers without the suffix of double precision, `t` for the time.
pub(super) fn expression(text: &str) -> String {
    let mut out = String::new();
    let mut digit = false;
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphabetic() || (c.is_ascii_digit() && !word.is_empty()) {
            // `2.0d` is a number; `1e-9` keeps its exponent.
            if digit && c == 'd' && word.is_empty() {
                digit = false;
                continue;
            }
            word.push(c);
            continue;
        }
        out += if word == "time" { "t" } else { &word };
        word.clear();
        digit = c.is_ascii_digit() || c == '.';
        out.push(c);
    }
    out.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::expression;

    #[test]
    fn formulas_lose_the_mark_of_double_precision() {
        assert_eq!(expression("2.0d*pi*time - 1.0e-9"), "2.0*pi*t - 1.0e-9");
        assert_eq!(expression("(0.0d + 10.0d*(rIJ(self) + (-0.5d)))"), "(0.0 + 10.0*(rIJ(self) + (-0.5)))");
    }
}
