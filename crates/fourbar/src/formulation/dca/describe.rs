//! Text description of the binary tree of a mechanism, with the boundary cases of its nodes.

use super::layout::{Layout, TASK};
use super::tree::{NONE, Tree};
use crate::constraint::ConstraintSet;
use crate::model::Model;
use fourbar_math::elementary;

/// Maximum number of tree lines listed; deeper nodes are only counted.
const LISTED: usize = 200;

/// Connection of a connected part of the mechanism to ground: the three cases at the root of [Malczyk12, section 2.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootCase {
    /// Nothing: both end multipliers are zero.
    Floating,
    /// One body: an open tree.
    Hung,
    /// Several bodies: loops close through ground.
    Held,
}

impl RootCase {
    /// The case of a part with `n` bodies tied to ground.
    fn of(n: usize) -> Self {
        match n {
            0 => Self::Floating,
            1 => Self::Hung,
            _ => Self::Held,
        }
    }

    /// Description, with the number of the case in the paper.
    fn words(self) -> &'static str {
        match self {
            Self::Floating => "case 1, floats freely: no multiplier at either end",
            Self::Hung => "case 2, attached to ground by one body: multipliers at one end",
            Self::Held => "case 3, held by ground at several bodies: multipliers at both ends",
        }
    }
}

/// Connected parts: the bodies of each, and those of them that constraint rows tie to ground. Both ascending.
fn parts(set: &ConstraintSet, tree: &Tree) -> Vec<(Vec<usize>, Vec<usize>)> {
    let n = tree.order.len();
    let mut leader: Vec<usize> = (0..=n).collect();
    fn find(leader: &mut [usize], mut b: usize) -> usize {
        while leader[b] != b {
            leader[b] = leader[leader[b]];
            b = leader[b];
        }
        b
    }
    let mut tied = vec![false; n + 1];
    for (c, constraint) in set.list.iter().enumerate() {
        let blocks = set.blocks_of(c);
        let ground = constraint.bodies.iter().any(|b| b.index() == 0);
        for b in blocks {
            tied[b.body] |= ground;
            let (x, y) = (find(&mut leader, blocks[0].body), find(&mut leader, b.body));
            leader[x.max(y)] = x.min(y);
        }
    }
    let mut parts: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    let mut place = vec![NONE; n + 1];
    for b in 1..=n {
        let first = find(&mut leader, b);
        if first == b {
            place[b] = parts.len();
            parts.push((Vec::new(), Vec::new()));
        }
        let part = &mut parts[place[first]];
        part.0.push(b);
        if tied[b] {
            part.1.push(b);
        }
    }
    parts
}

/// The case of every connected part, by its first body.
pub fn root_cases(model: &Model) -> Vec<(usize, RootCase)> {
    let set = ConstraintSet::new(model.all_constraints(), |_| false);
    let tree = Tree::new(&set, model.moving());
    parts(&set, &tree).iter().map(|(bodies, tied)| (bodies[0], RootCase::of(tied.len()))).collect()
}

/// Description of a mechanism for divide and conquer.
pub fn describe(model: &Model) -> Vec<String> {
    if model.moving() == 0 {
        return vec!["nothing moves: there is no tree".into()];
    }
    let all = ConstraintSet::new(model.all_constraints(), |_| false);
    let tree = Tree::new(&all, model.moving());
    let set = ConstraintSet::new(tree.constraints.iter().map(|&c| all.list[c].clone()).collect(), |_| false);
    let layout = Layout::new::<6>(&tree, &set, TASK);
    let [work, path] = layout.critical_path::<6>(&set);
    let n = model.moving();
    let name = |b: usize| model.bodies[b].name.as_str();
    let mut lines = vec![
        format!(
            "{n} {}, {} levels (log2 of the bodies: {:.1}), widest front {} coordinates",
            if n == 1 { "body" } else { "bodies" },
            tree.levels(),
            elementary::log2(n as f64),
            6 * tree.widest()
        ),
        format!(
            "one acceleration of {} rounds: {work:.0} multiply-adds, {path:.0} of them one after the other on as many processors as can be used",
            Layout::ROUNDS
        ),
    ];
    if layout.fronts.iter().any(|f| f.large) {
        lines.push("the widest fronts are divided among threads themselves".into());
    }
    lines.push("boundary case at the root:".into());
    let parts = parts(&all, &tree);
    let count = parts.len();
    for (bodies, tied) in parts.into_iter().take(LISTED) {
        let part = match (count, &bodies[..]) {
            (1, _) => "the whole".to_string(),
            (_, [one]) => name(*one).to_string(),
            (_, list) => format!("the {} bodies from {} to {}", list.len(), name(list[0]), name(list[list.len() - 1])),
        };
        let ends: Vec<&str> = tied.iter().take(6).map(|&b| name(b)).collect();
        let more = if tied.len() > ends.len() { format!(" and {} more", tied.len() - ends.len()) } else { String::new() };
        let ends = if ends.is_empty() { String::new() } else { format!(" ({}{more})", ends.join(", ")) };
        lines.push(format!("  {part}: {}{ends}", RootCase::of(tied.len()).words()));
    }
    lines.push("tree, children under their parent; each node with what it eliminates, the handles it keeps and the rows it adds:".into());
    let drawing = tree.drawing(&all.list, |b| name(b).to_string());
    let drawn: Vec<&str> = drawing.lines().collect();
    if drawn.len() <= LISTED {
        lines.extend(drawn.iter().map(|l| format!("  {l}")));
    } else {
        // The upper levels, as many as fit; a level is indented by four blanks.
        let depth = |l: &str| (l.len() - l.trim_start().len()) / 4;
        let fits = |d: usize| drawn.iter().filter(|l| depth(l) <= d).count() <= LISTED;
        let deepest = (0..tree.levels()).take_while(|&d| fits(d)).last().unwrap_or(0);
        let shown: Vec<&&str> = drawn.iter().filter(|l| depth(l) <= deepest).take(LISTED).collect();
        lines.extend(shown.iter().map(|l| format!("  {l}")));
        lines.push(format!("  and {} nodes further down", drawn.len() - shown.len()));
    }
    lines
}
