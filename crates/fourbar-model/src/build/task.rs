//! Checks of paths and motors, which belong to analyses and not to the mechanism itself.

use super::Builder;
use crate::diagnostic::{Diagnostic, nearest};
use crate::model::Model;

impl Builder<'_> {
    pub(super) fn tasks(&mut self, model: &Model) {
        let spec = self.spec;
        for (name, path) in &spec.paths {
            let at = format!("paths.{name}");
            if !self.points.contains_key(path.point.as_str()) {
                let d = Diagnostic::new("U411", format!("the path `{name}` names `{}`, which is not a point", path.point));
                let known = spec.points.iter().map(|p| p.0.as_str());
                let help =
                    nearest(&path.point, known).map_or_else(|| "name a point of `points:`".into(), |n| format!("did you mean `{n}`?"));
                self.error(d.at(format!("{at}.point")).name(name).help(help));
            }
            if let Err(why) = path.functions() {
                let d = Diagnostic::new("U411", format!("the path `{name}` is not valid: {why}"));
                self.error(d.at(&at).name(name).help("give `x`, `y` or `z` as functions of `t`, or points `through` which it passes"));
            }
            for joint in &path.keep {
                self.find_joint(&format!("{at}.keep"), joint);
            }
        }
        for (name, motor) in &spec.motors {
            let at = format!("motors.{name}");
            let Some(joint) = self.find_joint(&format!("{at}.joint"), &motor.joint) else { continue };
            let j = &model.joints[joint];
            if !(j.kind.has_angle() || j.kind.has_distance()) {
                let message = format!("the motor `{name}` is on `{}`, a {} joint, which has no coordinate to drive", j.name, j.kind.name());
                self.error(
                    Diagnostic::new("U411", message).at(&at).name(name).help("put it on a revolute, prismatic or cylindrical joint"),
                );
            }
            let numbers = [
                motor.inertia,
                motor.ratio,
                motor.efficiency,
                motor.rated.unwrap_or(1.0),
                motor.limit.unwrap_or(1.0),
                motor.weight.unwrap_or(1.0),
            ];
            if !self.finite(&at, &numbers) {
                continue;
            }
            let positive =
                motor.rated.is_none_or(|x| x > 0.0) && motor.limit.is_none_or(|x| x > 0.0) && motor.weight.is_none_or(|x| x > 0.0);
            if !(positive && motor.inertia >= 0.0 && motor.ratio != 0.0 && motor.efficiency > 0.0 && motor.efficiency <= 1.0) {
                let message = format!("the motor `{name}` has a number out of its range");
                let help = "`rated`, `limit` and `weight` must be positive, `inertia` not negative, `ratio` not zero, `efficiency` above 0 and at most 1";
                self.error(Diagnostic::new("U411", message).at(&at).name(name).help(help));
            }
        }
    }
}
