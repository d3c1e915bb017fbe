//! Messages for a mechanism that cannot continue because of a dead point.

use crate::diagnostic::Diagnostic;
use crate::singular::massless::Massless;
use crate::singular::passages::Measure;
use crate::state::Pose;
use crate::structure::Structure;
use fourbar_math::elementary;

/// Failures that may result from a singular position: steps that become too small or do not converge, joints that open.
const CAUSED: [&str; 5] = ["S230", "S231", "S232", "S233", "S241"];
/// The same in natural coordinates.
const SERIES: &str = "S284";
/// If the distance from singular positions has fallen to this fraction of its initial value, the mechanism is at one.
const AT: f64 = 0.05;

/// Adds to a failure that the mechanism is at a singular position, with its location and the joints and drives whose constraints become
/// dependent there. `near` are poses at or just before the failure, `far` is the pose at the start of the motion.
pub fn explain(structure: &Structure<'_>, d: Diagnostic, near: &[(f64, Vec<Pose>)], far: (f64, &[Pose])) -> Diagnostic {
    if !(CAUSED.contains(&d.code.0) || d.code.0 == SERIES) || structure.rows.rows() == 0 {
        return d;
    }
    let mut measure = Massless::new(structure);
    let usual = measure.log_distance(far.0, far.1);
    let nearest = near.iter().map(|(t, q)| (measure.log_distance(*t, q), *t, q)).min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((log, t, q)) = nearest.filter(|n| n.0 - usual < elementary::ln(AT)) else { return d };
    if !log.is_finite() {
        return d;
    }
    measure.log_distance(t, q);
    let names = measure.dependent(t, far.1);
    if names.is_empty() {
        return d;
    }
    let driven = structure.model.drives.iter().any(|drive| names.contains(&drive.name));
    let listed = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let (what, help) = if driven {
        (
            "a dead point",
            "a link is stretched or folded there, and the drive cannot push the mechanism on: limit the drive, or drive another joint",
        )
    } else {
        ("a singular position", "the motion may branch there: a start, a speed or a tolerance that is a little different may pass it")
    };
    let mut d = d;
    d.message += &format!("; it is at {what} of {listed}");
    for name in names {
        if !d.names.contains(&name) {
            d.names.push(name);
        }
    }
    d.help(help)
}
