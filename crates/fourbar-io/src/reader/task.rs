//! Paths and motors.

use super::{Path, Reader};
use crate::keys::{MOTOR, PATH};
use crate::tree::{Node, Text};
use fourbar::Diagnostic;
use fourbar::spec::{MotorSpec, PathSpec, Profile, ThroughSpec};

impl Reader<'_> {
    pub(super) fn path(&mut self, key: &Text, node: &Node, path: &Path<'_>, t_end: f64) -> Option<PathSpec> {
        let x = self.record(&PATH, key, node, path, &[])?;
        if x.broken {
            return None;
        }
        let through = x.points("through").map(|points| {
            let word = x.text("profile").unwrap_or_default();
            let profile = Profile::ALL.iter().find(|(name, _)| *name == word).map_or(Profile::default(), |(_, p)| *p);
            let start = x.number("start").unwrap_or(0.0);
            let duration = x.number("duration").unwrap_or(t_end - start);
            ThroughSpec { points, closed: x.flag("closed").unwrap_or(false), profile, start, duration }
        });
        let coordinates = ["x", "y", "z"].map(|axis| x.function(axis));
        let axis = ["x", "y", "z"].into_iter().find(|axis| x.has(axis));
        if let (true, Some(axis)) = (through.is_some(), axis) {
            let message = format!("path `{}` has both `through` and `{axis}`", x.name);
            self.conflict(message, "give functions of `t`, or points, not both", x.span_of(axis), path);
            return None;
        }
        let of_points = ["closed", "profile", "start", "duration"].into_iter().find(|k| x.has(k));
        if let (None, Some(word)) = (&through, of_points) {
            let d = Diagnostic::new("M014", format!("path `{}` has `{word}`, but no points `through` which it goes", x.name));
            self.problem(d.help("functions of `t` already define the timing").at(path.to_string()), x.span_of(word));
            return None;
        }
        Some(PathSpec { point: x.text("point")?, coordinates, through, keep: x.names("keep").unwrap_or_default() })
    }

    pub(super) fn motor(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<MotorSpec> {
        let x = self.record(&MOTOR, key, node, path, &[])?;
        if x.broken {
            return None;
        }
        Some(MotorSpec {
            rated: x.number("rated"),
            limit: x.number("limit"),
            inertia: x.number("inertia").unwrap_or(0.0),
            ratio: x.number("ratio").unwrap_or(1.0),
            efficiency: x.number("efficiency").unwrap_or(1.0),
            weight: x.number("weight"),
            ..MotorSpec::new(x.text("joint")?)
        })
    }
}
