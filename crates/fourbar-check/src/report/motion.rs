//! Text description of a motion: which bodies make full turns, which swing, which depend on others.

use super::Findings;
use super::words::spoken;
use crate::explain::sweep::{Range, Sweep};
use crate::text::joined;
use fourbar::analysis::assembly::modes::quantity;
use fourbar::model::{BodyId, Model};
use fourbar::study::count;

/// Sentences about the motion, with at most `most` parts each.
pub fn lines(model: &Model, f: &Findings, most: usize) -> Vec<String> {
    let e = &f.explanation;
    match e.sweeps.as_slice() {
        [] if f.motions.is_empty() && f.free.start.mobility() > 0 => {
            vec![format!("{} are too many to be listed", count(f.free.start.mobility(), "free motion"))]
        }
        [] if f.motions.is_empty() => Vec::new(),
        [] => vec![format!("free: {}", spoken(&f.motions))],
        [one] if e.coordinates.len() == 1 && f.free.generic.mobility() == 1 => vec![whole(model, one, most)],
        several => {
            let mut list: Vec<String> = several.iter().take(most).map(single).collect();
            if several.len() > most {
                list.push(format!("and {}", count(several.len() - most, "more free motion")));
            }
            let left = f.free.generic.mobility().saturating_sub(e.coordinates.len());
            if left > 0 {
                list.push(format!("and {left} that no joint coordinate describes: {}", spoken(&f.motions)));
            }
            list
        }
    }
}

/// `95 deg`, or a lower bound if the motion was not followed to its end.
fn extent(s: &Sweep, r: &Range) -> String {
    let least = if s.closed || s.lost { "" } else { "at least " };
    format!("{least}{}", quantity(r.what, r.to - r.from))
}

/// A single motion: bodies on the ground first, the others after them.
fn whole(model: &Model, s: &Sweep, most: usize) -> String {
    let mut summary: Vec<BodyId> = Vec::new();
    let mut parts: Vec<(usize, String)> = Vec::new();
    for j in model.joints.iter().filter(|j| j.bodies.contains(&BodyId::GROUND)) {
        let body = if j.bodies[0] == BodyId::GROUND { j.bodies[1] } else { j.bodies[0] };
        for r in s.ranges.iter().filter(|r| r.joint == j.name) {
            let name = model.body_name(body);
            let still = r.to - r.from < if r.what == "angle" { 1e-6 } else { 1e-6 * model.length };
            let (rank, text) = match r.what {
                _ if still => continue,
                "angle" if r.full_turn => (0, format!("`{name}` makes full turns about `{}`", j.name)),
                "angle" => (1, format!("`{name}` swings {} about `{}`", extent(s, r), j.name)),
                _ => (1, format!("`{name}` slides {} along `{}`", extent(s, r), j.name)),
            };
            // The driven joint comes first.
            let rank = if j.name == s.coordinate.joint { 0 } else { rank };
            parts.push((rank, text));
            summary.push(body);
        }
    }
    parts.sort_by_key(|p| p.0);
    let moving = |b: usize| {
        let first = &s.points[0].q[b];
        s.points.iter().any(|p| {
            let d = first.increment_to(&p.q[b]);
            d.v.norm() > 1e-6 * model.length || d.w.norm() > 1e-6
        })
    };
    let (follow, stay): (Vec<usize>, Vec<usize>) =
        (1..model.bodies.len()).filter(|b| !summary.contains(&BodyId(*b as u32))).partition(|&b| moving(b));
    let mut text: Vec<String> = parts.iter().take(most.max(5)).map(|(_, t)| t.clone()).collect();
    if parts.len() > most.max(5) {
        text.push(format!("{} more on the ground", count(parts.len() - most.max(5), "motion")));
    }
    let named = |list: &[usize], one: &str, many: &str| match list {
        [b] => format!("`{}` {one}", model.bodies[*b].name),
        list if list.len() <= 3 => {
            format!("{} {many}", joined(&list.iter().map(|b| format!("`{}`", model.bodies[*b].name)).collect::<Vec<_>>()))
        }
        list => format!("{} other bodies {many}", list.len()),
    };
    if !follow.is_empty() {
        text.push(named(&follow, "follows", "follow"));
    }
    if !stay.is_empty() {
        text.push(named(&stay, "stays", "stay"));
    }
    text.join("; ")
}

/// One of several motions.
fn single(s: &Sweep) -> String {
    let c = &s.coordinate;
    let own = s.ranges.iter().find(|r| r.joint == c.joint && r.what == c.what);
    let how = match own {
        Some(r) if r.full_turn => "makes full turns".into(),
        Some(r) => format!("has a range of {}", extent(s, r)),
        None => "moves".into(),
    };
    let held = if s.held.is_empty() { "" } else { ", the other coordinates held" };
    let drive = c.drive.as_ref().map(|d| format!(", driven by `{d}`")).unwrap_or_default();
    format!("{} of `{}` {how}{held}{drive}", c.what, c.joint)
}
