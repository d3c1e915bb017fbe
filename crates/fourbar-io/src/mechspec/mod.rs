//! MechSpec files [Pryce20, Figs. 3 and 5]: parts made of points and vectors, joined by sharing them.
//!
//! A capital letter with digits names a point, a small letter a vector; the name of a part is the list of its points and vectors. Parts
//! that share a point are pinned there (2D) or joined by a ball (3D), a shared point and vector make a hinge, a collinear point slides.
//! Reading gives the same [`ModelSpec`] as the other format, so that all functions apply.

mod forces;
mod joints;
mod parts;
mod start;

use crate::places::Span;
use crate::reader::problem::suggest;
use crate::reader::{Path, Reader};
use crate::tree::{Content, Node, Text, Tree, is_null, shorten};
use fourbar::Diagnostic;
use fourbar::expr::Dimension;
use fourbar::spec::{At, BasicSpec, ModelSpec, Place, V3};
use joints::Joined;
use std::collections::HashMap;

/// Index of the ground among the parts.
const GROUND: usize = 0;
/// Sections of the file.
const TOP: [&str; 6] = ["Title", "PhysicalParams", "Dimension", "PartData", "AppliedForces", "ProblemData"];

/// A point or a vector.
struct Item<'a> {
    name: &'a str,
    vector: bool,
    /// Parts it belongs to, with its coordinates there; vectors have unit length. On the ground: world coordinates.
    on: Vec<(usize, V3)>,
    /// Given initial positions and velocities, by component.
    position: [Option<f64>; 3],
    velocity: [Option<f64>; 3],
}

impl Item<'_> {
    fn is_moving_point(&self) -> bool {
        !self.vector && !self.on.is_empty() && self.on.iter().all(|(p, _)| *p != GROUND)
    }
}

/// A rigid part, a particle, or the ground.
struct Part<'a> {
    /// Key in the file.
    key: &'a str,
    /// Name of the body.
    label: String,
    /// Points and vectors, in the order of the name.
    items: Vec<usize>,
    particle: bool,
    span: Span,
}

/// The parts with their points and vectors.
struct Parts<'a> {
    /// 2 or 3.
    dimension: usize,
    items: Vec<Item<'a>>,
    by_name: HashMap<&'a str, usize>,
    /// Coordinates by item and part.
    locals: HashMap<(usize, usize), V3>,
    /// The parts, the ground first.
    parts: Vec<Part<'a>>,
    /// Index of a part by key and by name of the body.
    by_key: HashMap<String, usize>,
}

impl<'a> Parts<'a> {
    fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Coordinates of an item on a part.
    fn local(&self, item: usize, part: usize) -> Option<V3> {
        self.locals.get(&(item, part)).copied()
    }

    /// A part by its key or by the name of its body.
    fn part(&self, name: &str) -> Option<usize> {
        self.by_key.get(name).copied()
    }

    fn add(&mut self, part: Part<'a>) -> usize {
        let k = self.parts.len();
        for name in [part.label.clone(), part.key.to_string()] {
            // A particle is found by its label only: its key is the name of its point.
            if !(part.particle && name == part.key) {
                self.by_key.entry(name).or_insert(k);
            }
        }
        self.parts.push(part);
        k
    }
}

/// Whether a file is a MechSpec: it has one of its sections and no version of the other format.
pub(crate) fn is_mechspec(tree: &Tree) -> bool {
    let Content::Map(entries) = &tree.root.content else { return false };
    let has = |name: &str| entries.iter().any(|(k, _)| k.get(&tree.source) == name);
    !has("fourbar") && (has("PartData") || (has("Dimension") && (has("PhysicalParams") || has("ProblemData"))))
}

/// The points and vectors in a name: each a letter with the digits after it.
pub(crate) fn tokens(name: &str) -> Option<Vec<&str>> {
    let mut list = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        if !rest.as_bytes()[0].is_ascii_alphabetic() {
            return None;
        }
        let end = rest.bytes().skip(1).position(|b| !b.is_ascii_digit()).map_or(rest.len(), |k| k + 1);
        list.push(&rest[..end]);
        rest = &rest[end..];
    }
    Some(list)
}

/// Reads a MechSpec; `aliases` gets the file locations of the elements it creates.
pub(crate) fn read<'a>(
    r: &mut Reader<'a>,
    root: &'a Node,
    set: &[(String, String)],
    aliases: &mut Vec<(String, String)>,
) -> Option<ModelSpec> {
    let top = r.known_keys(root, &TOP, "the file", None)?;
    r.read_parameters(find(top, "PhysicalParams", r.source), set);
    let mut spec = ModelSpec::default();
    if let Some(node) = find(top, "Title", r.source) {
        spec.title = r.text(node, &Path::top("Title")).unwrap_or_default();
    }
    let dimension = match find(top, "Dimension", r.source) {
        Some(node) => {
            let path = Path::top("Dimension");
            let d = r.number(node, Some(Dimension::NONE), &path)?;
            if d != 2.0 && d != 3.0 {
                let problem = Diagnostic::new("M017", format!("`Dimension` is {d}; it must be 2 or 3"));
                r.problem(problem.help("planar mechanisms have 2, spatial ones 3").at("Dimension"), node.span);
                return None;
            }
            d as usize
        }
        None => {
            let d = Diagnostic::new("M013", "the file lacks `Dimension`")
                .help("write `Dimension: 2` for a planar mechanism, `3` for a spatial one");
            r.problem(d, top.first()?.0.span);
            return None;
        }
    };
    let Some(data) = find(top, "PartData", r.source) else {
        let d = Diagnostic::new("M013", "the file lacks `PartData`").help("give at least one part under `PartData: {Rigids: ...}`");
        r.problem(d, top.first()?.0.span);
        return None;
    };
    let (mut parts, more) = r.parts(dimension, data, &mut spec, aliases)?;
    r.points = parts.items.iter().filter(|i| i.is_moving_point()).map(|i| i.name).collect();
    let problem = find(top, "ProblemData", r.source);
    if let Some(node) = problem {
        r.problem_data(&mut parts, node, &mut spec);
    }
    r.pose(&parts, &mut spec);
    let joined: Joined = r.join(&parts, &more, &mut spec, aliases);
    r.springs(&parts, &more, &mut spec, aliases);
    spec.gravity = Some([0.0; 3]);
    let timed = match find(top, "AppliedForces", r.source) {
        Some(node) if !is_nothing(node, r.source) => r.applied(&parts, &joined, node, &mut spec, aliases),
        _ => false,
    };
    if timed && let Some(t0) = problem.and_then(|n| entry(n, "t0", r.source)) {
        let shifted = r.number(t0, Some(Dimension::TIME), &Path::top("ProblemData").key("t0")).unwrap_or(0.0);
        if shifted != 0.0 {
            let d = Diagnostic::new("M063", "`t0` must be 0 where forces or actuators depend on `t`: runs start at time zero");
            r.problem(d.help("shift the time in the expressions, and give `t0: 0`").at("ProblemData.t0"), t0.span);
        }
    }
    for item in parts.items.iter().filter(|i| i.is_moving_point()) {
        let home = item.on.iter().find(|(p, _)| !parts.parts[*p].particle).or_else(|| item.on.first());
        if let Some((part, at)) = home {
            let body = parts.parts[*part].label.clone();
            spec.points.push((item.name.to_string(), Place { body, at: At::Body(*at) }));
            spec.trace.push(item.name.to_string());
        }
    }
    for (k, part) in parts.parts.iter().enumerate().skip(1) {
        let basic = |item: &usize| {
            let at = parts.local(*item, k)?;
            Some(BasicSpec { name: parts.items[*item].name.to_string(), vector: parts.items[*item].vector, at })
        };
        spec.basis.push((part.label.clone(), part.items.iter().filter_map(basic).collect()));
    }
    r.warn_of_unused();
    Some(spec)
}

/// Whether a key has no value.
fn is_nothing(node: &Node, source: &str) -> bool {
    matches!(&node.content, Content::Scalar(text) if is_null(text, source))
}

fn find<'n>(entries: &'n [(Text, Node)], key: &str, source: &str) -> Option<&'n Node> {
    entries.iter().find(|(k, _)| k.get(source) == key).map(|(_, n)| n)
}

fn entry<'n>(node: &'n Node, key: &str, source: &str) -> Option<&'n Node> {
    match &node.content {
        Content::Map(entries) => find(entries, key, source),
        _ => None,
    }
}

impl<'a> Reader<'a> {
    /// The entries of a group; unknown keys are reported.
    fn known_keys<'n>(&mut self, node: &'n Node, known: &[&str], group: &str, path: Option<&Path<'_>>) -> Option<&'n [(Text, Node)]> {
        let Content::Map(entries) = &node.content else {
            let fallback = Path::top("");
            self.wrong_kind(node, "a group of keys", path.unwrap_or(&fallback));
            return None;
        };
        for (key, _) in entries {
            let word = key.get(self.source);
            if !known.contains(&word) {
                let help = suggest(word, known.iter().copied(), "known keys:");
                let at = path.map_or_else(|| word.to_string(), |p| p.key(word).to_string());
                let d = Diagnostic::new("M012", format!("unknown key `{}` in {group}", shorten(word))).help(help).at(at);
                self.problem(d, key.span);
            }
        }
        Some(entries)
    }

    /// One to three numbers; the rest are zero, by the padding convention.
    fn padded(&mut self, node: &Node, dimension: usize, unit: Option<Dimension>, path: &Path<'_>) -> Option<V3> {
        let Content::List(items) = &node.content else {
            self.wrong_kind(node, &format!("a list of at most {dimension} numbers"), path);
            return None;
        };
        if items.is_empty() || items.len() > dimension {
            self.wrong_count(node, items.len(), &format!("1 to {dimension} entries"), path);
            return None;
        }
        let mut x = [0.0; 3];
        for (k, item) in items.iter().enumerate() {
            x[k] = self.number(item, unit, &path.index(k))?;
        }
        Some(x)
    }

    /// Reports a name that is not a point or vector of the file.
    fn unknown_item(&mut self, parts: &Parts<'_>, word: &str, what: &str, span: Span, path: &Path<'_>) {
        let known: Vec<&str> = parts.items.iter().map(|i| i.name).collect();
        let help = suggest(word, known.iter().copied(), "the file has");
        let d = Diagnostic::new("M062", format!("`{}` is not {what} of this mechanism", shorten(word))).help(help).at(path.to_string());
        self.problem(d, span);
    }

    /// Names given as a list, a set `{A, B}` or a single word.
    fn words<'n>(&mut self, node: &'n Node, path: &Path<'_>) -> Option<Vec<(&'n str, Span)>>
    where
        'a: 'n,
    {
        let source: &'n str = self.source;
        match &node.content {
            Content::Scalar(text) if !is_null(text, source) => Some(vec![(text.get(source), text.span)]),
            Content::Scalar(_) => Some(Vec::new()),
            Content::List(items) => {
                let mut list = Vec::new();
                for (k, item) in items.iter().enumerate() {
                    list.push((self.scalar(item, "a name", &path.index(k))?.get(source), item.span));
                }
                Some(list)
            }
            Content::Map(entries) => {
                for (key, value) in entries {
                    if !is_nothing(value, source) {
                        self.wrong_kind(value, "a set of names such as `{A, B}`, without values", &path.key(key.get(source)));
                        return None;
                    }
                }
                Some(entries.iter().map(|(k, _)| (k.get(source), k.span)).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn part_names_are_made_of_points_and_vectors() {
        assert_eq!(tokens("DC1wv"), Some(vec!["D", "C1", "w", "v"]));
        assert_eq!(tokens("OA"), Some(vec!["O", "A"]));
        assert_eq!(tokens("P12u3"), Some(vec!["P12", "u3"]));
        assert_eq!((tokens("1A"), tokens("A-B"), tokens("Aé")), (None, None, None));
    }
}
