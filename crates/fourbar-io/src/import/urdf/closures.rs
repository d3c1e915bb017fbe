//! The side file of loop closures in collections of parallel robots: `robot.yaml` beside `robot.urdf`, with the keys `closed_loop` (pairs
//! of frames, named by joints or links), `type` (`6d` welds them, `3d` joins their origins) and `name_mot` (driven joints).

use super::Urdf;
use crate::file::Limits;
use crate::import::draft::{Joint, Kind, Pose};
use crate::import::reading::Spot;
use crate::places::Span;
use crate::tree::{Content, Node, Tree};
use fourbar::Diagnostic;
use fourbar::spec::PairKind;
use std::sync::Arc;

/// The contents of the file of closures.
#[derive(Debug, Default)]
struct Closures {
    loops: Vec<([String; 2], Span)>,
    kinds: Vec<String>,
    motors: Vec<(String, Span)>,
}

fn texts(node: &Node, source: &str) -> Vec<(String, Span)> {
    match &node.content {
        Content::List(items) => items.iter().flat_map(|n| texts(n, source)).collect(),
        Content::Scalar(t) => vec![(t.get(source).to_string(), node.span)],
        Content::Map(_) => Vec::new(),
    }
}

/// Reads the keys; `None` if the file has another purpose.
fn parse(source: &Arc<str>, most: usize) -> Option<Closures> {
    let tree = Tree::parse(source, most).ok()?;
    let Content::Map(entries) = &tree.root.content else { return None };
    let value = |key: &str| entries.iter().find(|(k, _)| k.get(source) == key).map(|(_, v)| v);
    let Content::List(pairs) = &value("closed_loop")?.content else { return None };
    let loops = pairs
        .iter()
        .filter_map(|p| match texts(p, source).as_slice() {
            [(a, span), (b, _)] => Some(([a.clone(), b.clone()], *span)),
            _ => None,
        })
        .collect();
    let words = |key: &str| value(key).map(|n| texts(n, source)).unwrap_or_default();
    Some(Closures { loops, kinds: words("type").into_iter().map(|(w, _)| w).collect(), motors: words("name_mot") })
}

impl Urdf<'_, '_, '_> {
    /// Closes loops as specified in the file of closures, if there is one.
    pub(super) fn side_file(&mut self) {
        let r = self.reading;
        let Some(path) = r.options.path else { return };
        let Some(stem) = path.file_stem().and_then(|s| s.to_str()) else { return };
        let named = ["yaml", "yml"].map(|e| format!("{stem}.{e}"));
        let there = |n: &&String| r.folder.as_ref().is_some_and(|f| f.join(n.as_str()).is_file());
        let Some(name) = named.iter().find(there) else { return };
        let Some((file, text)) = r.beside(name, Spot::START) else { return };
        let Some(closures) = parse(&text, Limits::USUAL.values) else { return };
        for (k, (ends, span)) in closures.loops.iter().enumerate() {
            let spot = Spot { file, span: *span };
            // The frame of a joint is that of its child link.
            let frame = |name: &String| {
                let found = self.joints.find(name).map(|j| self.draft.joints[j].links[1]).or_else(|| self.links.find(name));
                if found.is_none() {
                    let d = Diagnostic::new("M661", format!("there is no joint or link `{name}` at which the loop could close")).name(name);
                    r.problem(d.help("`closed_loop` names two joints or links each"), spot);
                }
                found
            };
            let (Some(a), Some(b)) = (frame(&ends[0]), frame(&ends[1])) else { continue };
            let kind = match closures.kinds.get(k).map(|w| w.to_ascii_lowercase()).as_deref() {
                Some("6d") | None => PairKind::Fixed,
                Some("3d") => PairKind::Spherical,
                Some(other) => {
                    let d = Diagnostic::new("M661", format!("`{other}` is not a kind of closure"));
                    r.problem(d.help("write `6d` for a weld, `3d` for a ball"), spot);
                    continue;
                }
            };
            let name = format!("loop{}", k + 1);
            self.draft.joints.push(Joint::new(name, Kind::Pair(kind), [a, b], [Pose::IDENTITY; 2], spot));
            self.origins.push(Pose::IDENTITY);
            self.efforts.push(0.0);
        }
        for (name, span) in &closures.motors {
            let spot = Spot { file, span: *span };
            match self.joints.find(name) {
                Some(k) => self.motor(&format!("{name}_effort"), k, 1.0, spot),
                None => {
                    let d = Diagnostic::new("M661", format!("there is no joint `{name}` to be driven")).name(name);
                    r.problem(d.help("`name_mot` lists joints of the robot"), spot);
                }
            }
        }
    }
}
