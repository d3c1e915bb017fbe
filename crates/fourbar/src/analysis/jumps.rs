//! Jumps of drives: functions of time with discontinuities are found before a run. A jump of position is rejected; a jump of speed is an
//! impact, which time stepping cannot represent.

use crate::diagnostic::{Diagnostic, number};
use crate::model::{JointCoordinate, Model};
use crate::settings::{Analysis, count};
use crate::time::{Seam, TimeFunction};

/// Jumps smaller than these fractions of the largest value, speed and acceleration are rounding.
const ROUNDING: [f64; 3] = [1e-9, 1e-8, 1e-6];

/// A drive or a bare constraint that depends on time.
struct Moving<'m> {
    name: &'m str,
    value: &'m TimeFunction,
    /// Unit of its value, and its scale.
    unit: &'static str,
    large: f64,
    /// Whether its events are searched for.
    watched: bool,
}

/// Error for a position that jumps during the run.
pub(crate) fn of_position(name: &str, t: f64, [from, to]: [f64; 2], unit: &'static str) -> Diagnostic {
    let value = TimeFunction::Value(crate::expr::Expr::constant(0.0));
    let seam = Seam { t, sides: [[from, 0.0, 0.0], [to, 0.0, 0.0]] };
    refusal(&Moving { name, value: &value, unit, large: 1.0, watched: true }, &seam, 0)
}

/// Refuses drives whose value jumps between zero and `t_end`. Jumps of speed are events, and so are jumps of acceleration; kinematics
/// follows them, with a warning that no acceleration represents the impact. If events are not searched for, jumps of speed are rejected and
/// jumps of acceleration are reported.
pub fn check(model: &Model, analysis: Analysis, t_end: f64) -> Result<Vec<Diagnostic>, Diagnostic> {
    check_where(model, analysis, t_end, true)
}

/// The same; `watched`: whether events are searched for.
pub fn check_where(model: &Model, analysis: Analysis, t_end: f64, watched: bool) -> Result<Vec<Diagnostic>, Diagnostic> {
    let drives = model.drives.iter().map(|d| match d.coordinate {
        JointCoordinate::Angle => Moving { name: &d.name, value: &d.value, unit: "rad", large: 1.0, watched },
        JointCoordinate::Distance => Moving { name: &d.name, value: &d.value, unit: "m", large: model.length, watched },
    });
    let bare = model.bare.iter().map(|b| {
        let turns = b.kind == "dp1";
        let watched = watched && b.other.is_none();
        Moving {
            name: &b.name,
            value: &b.value,
            unit: if turns { "" } else { "m" },
            large: if turns { 1.0 } else { model.length },
            watched,
        }
    });
    let mut warnings = Vec::new();
    for m in drives.chain(bare) {
        let seams = m.value.seams(t_end);
        let Some(first) = seams.first() else { continue };
        // Scales of value, speed and acceleration over the run.
        let mut sizes = [m.large, m.large / t_end, m.large / (t_end * t_end)];
        for k in 0..=64 {
            for (size, x) in sizes.iter_mut().zip(m.value.at(t_end * f64::from(k) / 64.0)) {
                *size = size.max(if x.is_finite() { x.abs() } else { 0.0 });
            }
        }
        let jumps = |s: &Seam, order: usize| {
            let change = (s.sides[1][order] - s.sides[0][order]).abs();
            change > ROUNDING[order] * sizes[order].max(if order == 0 { first.sides[0][0].abs() } else { 0.0 })
        };
        let of = |order: usize| seams.iter().filter(move |s| jumps(s, order));
        if let Some(s) = of(0).next() {
            return Err(refusal(&m, s, 0));
        }
        match of(1).next() {
            Some(s) if analysis == Analysis::Kinematics => warnings.push(warning(&m, s, 1, of(1).count())),
            Some(s) if !m.watched => return Err(refusal(&m, s, 1)),
            None if !m.watched => warnings.extend(of(2).next().map(|s| warning(&m, s, 2, of(2).count()))),
            _ => {}
        }
    }
    Ok(warnings)
}

/// Describes a jump: quantity, time and values.
fn words(m: &Moving<'_>, s: &Seam, order: usize) -> String {
    let what = ["the value", "the speed", "the acceleration"][order];
    let per = ["", "/s", "/s^2"][order];
    let unit = if m.unit.is_empty() && !per.is_empty() { "1" } else { m.unit };
    let [from, to] = s.sides.map(|x| number(x[order]));
    format!("{what} that `{}` prescribes jumps at t = {:.6} s, from {from} to {to} {unit}{per}", m.name, s.t).trim_end().to_string()
}

fn refusal(m: &Moving<'_>, s: &Seam, order: usize) -> Diagnostic {
    let why = [
        "a mass cannot change its position instantly",
        "it would take an infinite force, and how the other parts respond to the impact is not defined",
    ][order.min(1)];
    Diagnostic::new("S244", format!("{}: {why}", words(m, s, order))).name(m.name).time(s.t).help(
        "let it pass smoothly, such as with `smoothstep(t, t0, t1)`, whose speed and acceleration do not jump; or let the run end before",
    )
}

fn warning(m: &Moving<'_>, s: &Seam, order: usize, times: usize) -> Diagnostic {
    let more = if times > 1 { format!(", and {} more", count(times - 1, "time")) } else { String::new() };
    let help = match order {
        1 => "positions and speeds follow it; accelerations, reactions and efforts do not include the impact",
        _ => "accelerations, reactions and efforts at that time may be of either side; `smoothstep(t, t0, t1)` passes without a jump",
    };
    Diagnostic::new("W244", format!("{}{more}", words(m, s, order))).name(m.name).time(s.t).help(help)
}
