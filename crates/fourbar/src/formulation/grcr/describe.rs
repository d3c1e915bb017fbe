//! Text description of the tree, its closings and dependents.

use super::Options;
use super::dependents::Selection;
use super::mechanism::Mechanism;
use super::schedule::Role;
use crate::constraint::Owner;
use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::settings::count;
use crate::state::Configuration;

/// Maximum number of lines listed; the rest is only counted.
const LISTED: usize = 24;

/// One line: sizes and cost.
pub fn summary(m: &Mechanism<'_>) -> String {
    let Selection { rank, redundant, .. } = m.selection;
    let mut s =
        format!("tree of {} with {}", count(m.tree.nodes.len() - 1, "body").replace("bodys", "bodies"), count(m.tree.speeds, "speed"));
    if !m.closings.is_empty() {
        s += &format!(
            ", {}, {} of them dependent, {}, at most {} carried, {:.0} operations inward",
            count(m.closings.list.len(), "closing"),
            rank,
            count(redundant, "redundant row"),
            count(m.schedule.carriers(), "base body").replace("bodys", "bodies"),
            m.schedule.cost(&m.tree)
        );
    }
    s
}

/// Tree, closings, dependents, carried base bodies and cost of a mechanism at an assembled configuration.
pub fn describe(model: &Model, start: &Configuration, options: &Options) -> Result<Vec<String>, Diagnostic> {
    let m = Mechanism::asked(model, start, options)?;
    let mut lines = vec![summary(&m)];
    let name = |node: usize| model.bodies[m.tree.nodes[node].body].name.as_str();
    let mut tree: Vec<String> = (1..m.tree.nodes.len())
        .map(|k| {
            let n = &m.tree.nodes[k];
            let joint = n.joint.map_or("free".to_string(), |j| format!("{} ({})", model.joints[j].name, model.joints[j].kind.name()));
            format!("  {} on {} by {joint}", name(k), name(n.parent))
        })
        .collect();
    shorten(&mut tree, "body");
    lines.push("tree:".into());
    lines.append(&mut tree);
    if m.closings.is_empty() {
        return Ok(lines);
    }
    let mut closings: Vec<String> = m
        .closings
        .list
        .iter()
        .zip(&m.closings.set.list)
        .map(|(c, constraint)| {
            let what = match c.owner {
                Owner::Joint(j) => model.joints[j].kind.name(),
                Owner::Coupling(k) => model.couplings[k].kind,
                Owner::Bare(k) => model.bare[k].kind,
                Owner::Drive(_) => "drive",
                Owner::Rolling(k) => model.rolling[k].kind,
                Owner::Align(_) | Owner::Hold(_) | Owner::Start(_) => "",
            };
            let bodies: Vec<&str> = constraint.bodies.iter().map(|b| model.body_name(*b)).collect();
            format!("  {} ({what}) between {}: {} of {} active", constraint.name, bodies.join(", "), c.active, count(c.rows, "row"))
        })
        .collect();
    shorten(&mut closings, "closing");
    lines.push("closed by:".into());
    lines.append(&mut closings);
    let mut dependent: Vec<String> =
        (0..m.tree.speeds).filter(|c| m.selection.roles[*c] == Role::Dependent).map(|c| format!("  {}", m.column_name(c))).collect();
    shorten(&mut dependent, "coordinate");
    lines.push(format!("dependent coordinates (smallest sine {:.2}):", m.selection.smallest.min(1.0)));
    lines.append(&mut dependent);
    Ok(lines)
}

fn shorten(lines: &mut Vec<String>, what: &str) {
    if lines.len() > LISTED {
        let more = lines.len() - LISTED;
        lines.truncate(LISTED);
        lines.push(format!("  and {}", format!("{} more", count(more, what)).replace("bodys", "bodies")));
    }
}
