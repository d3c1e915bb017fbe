//! Lists of bodies and geometric constraints in JSON, the model files of the programs behind \[Kissel21\]: bodies by number with position,
//! Euler parameters (or rotation matrix) and their rates, constraints DP1, DP2, D and CD with their functions of time.
//!
//! There are two dialects of these files, which use different words for the same things; both are read.

use super::draft::{Body, Draft, Gcon, GconKind, Link, Pose};
use super::reading::{Reading, Spot};
use crate::file::Limits;
use crate::tree::{Content, Node, Tree};
use fourbar::Diagnostic;
use fourbar::expr::Expr;
use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3, Vector4};
use std::sync::Arc;

/// Euler parameters whose norm differs from one by more than this are noted.
const UNIT: f64 = 0.02;
/// Tolerance for the given derivatives of a function.
const AGREE: f64 = 1e-6;

/// Whether a text has this format: bodies are a list, which they never are in the format of this program.
pub(super) fn recognises(text: &str) -> bool {
    let text = text.trim_start();
    if !text.starts_with('{') {
        return false;
    }
    let list = |key: &str| {
        let after = text.split_once(key)?.1.trim_start().strip_prefix(':')?;
        after.trim_start().starts_with('[').then_some(())
    };
    list("\"bodies\"").is_some() && list("\"constraints\"").is_some()
}

struct Reader<'r, 'a> {
    reading: &'r Reading<'a>,
    source: Arc<str>,
    draft: Draft,
    /// Number in the file of every link; the ground may have one.
    ids: Vec<(String, usize)>,
}

/// Reads a text.
pub(super) fn read(reading: &Reading<'_>, source: &Arc<str>) -> Option<Draft> {
    let tree = match Tree::parse(source, Limits::of(reading.options.large).values) {
        Ok(tree) => tree,
        Err(problems) => {
            for (d, span) in problems {
                reading.problem(d, span.map_or(Spot::START, |span| Spot { file: 0, span }));
            }
            return None;
        }
    };
    let mut r = Reader { reading, source: source.clone(), draft: Draft::new("mechanism"), ids: vec![("ground".into(), 0)] };
    let Content::Map(entries) = &tree.root.content else { return None };
    let section = |name: &str| entries.iter().find(|(k, _)| k.get(source) == name).map(|(_, v)| v);
    if let Some(name) = section("name").and_then(|n| r.text(n)) {
        r.draft.title = name;
    }
    let d =
        Diagnostic::new("W451", "gravity is 9.81 m/s^2 along -z, as in the programs that read such files; the file does not specify it");
    reading.note(d, Spot { file: 0, span: tree.root.span });
    r.draft.gravity = Some([0.0, 0.0, -9.81]);
    for (key, node) in entries {
        let word = key.get(source);
        if !["name", "bodies", "constraints"].contains(&word) {
            let d = Diagnostic::new("W450", format!("`{word}` is not converted")).name(word);
            reading.note(d, Spot { file: 0, span: node.span });
        }
    }
    for body in list(section("bodies")) {
        r.body(body);
    }
    for constraint in list(section("constraints")) {
        r.constraint(constraint);
    }
    Some(r.draft)
}

/// The items of a list.
fn list(node: Option<&Node>) -> &[Node] {
    match node.map(|n| &n.content) {
        Some(Content::List(items)) => items,
        _ => &[],
    }
}

fn rotation(q: UnitQuaternion<f64>) -> Matrix3<f64> {
    *q.to_rotation_matrix().matrix()
}

fn spot(node: &Node) -> Spot {
    Spot { file: 0, span: node.span }
}

impl Reader<'_, '_> {
    fn wrong(&self, message: String, help: &str, node: &Node) {
        self.reading.problem(Diagnostic::new("M669", message).help(help), spot(node));
    }

    fn text(&self, node: &Node) -> Option<String> {
        match &node.content {
            Content::Scalar(t) => Some(t.get(&self.source).to_string()),
            _ => None,
        }
    }

    /// The value of the first of several synonyms that is present.
    fn of<'n>(&self, node: &'n Node, words: &[&str]) -> Option<&'n Node> {
        words.iter().find_map(|w| node.section(w, &self.source)).map(|(_, v)| v)
    }

    /// Lists keys of a group that are not read.
    fn left_over(&self, node: &Node, known: &[&str], what: &str) {
        let Content::Map(entries) = &node.content else { return };
        for (key, value) in entries.iter() {
            let word = key.get(&self.source);
            if !known.contains(&word) {
                let d = Diagnostic::new("W450", format!("`{word}` of `{what}` is not converted")).name(what);
                self.reading.note(d, spot(value));
            }
        }
    }

    fn number(&self, node: &Node) -> Option<f64> {
        self.text(node)?.trim().parse::<f64>().ok().filter(|x| x.is_finite())
    }

    fn numbers<const N: usize>(&self, node: &Node) -> Option<[f64; N]> {
        let items = list(Some(node));
        let values: Vec<f64> = items.iter().filter_map(|n| self.number(n)).collect();
        (items.len() == N).then(|| values.try_into().ok()).flatten()
    }

    /// A vector by any of its names; zero if it may be omitted.
    fn vector(&self, node: &Node, words: &[&str], what: &str, needed: bool) -> Vector3<f64> {
        match self.of(node, words) {
            Some(v) => match self.numbers::<3>(v) {
                Some(x) => x.into(),
                None => {
                    self.wrong(format!("`{}` of `{what}` is not a list of three numbers", words[0]), "write for instance [0, 0, 1]", v);
                    Vector3::zeros()
                }
            },
            None if needed => {
                self.wrong(
                    format!("`{what}` has no `{}`", words[0]),
                    "every constraint names its vectors in the axes of their bodies",
                    node,
                );
                Vector3::zeros()
            }
            None => Vector3::zeros(),
        }
    }

    fn matrix(&self, node: &Node) -> Option<Matrix3<f64>> {
        let rows: Vec<[f64; 3]> = list(Some(node)).iter().filter_map(|n| self.numbers::<3>(n)).collect();
        let [a, b, c]: [[f64; 3]; 3] = rows.try_into().ok()?;
        Some(Matrix3::from_rows(&[a, b, c].map(|r| Vector3::from(r).transpose())))
    }

    fn body(&mut self, node: &Node) {
        let name = self.of(node, &["name"]).and_then(|n| self.text(n)).unwrap_or_default();
        let id = self.of(node, &["id"]).and_then(|n| self.text(n));
        if name.eq_ignore_ascii_case("ground") {
            self.ids.extend(id.map(|id| (id, 0)));
            return;
        }
        let what = if name.is_empty() { format!("body_{}", self.draft.links.len()) } else { name };
        let Some(id) = id else {
            self.wrong(format!("`{what}` has no `id`"), "constraints name bodies by their number", node);
            return;
        };
        if self.ids.iter().any(|(k, _)| *k == id) {
            self.wrong(format!("two bodies have the id {id}"), "give every body a different number", node);
            return;
        }
        let p = self.vector(node, &["r"], &what, false);
        let (R, w) = self.rotation(node, &what);
        let mass = self.of(node, &["m", "mass"]).and_then(|n| self.number(n)).filter(|m| *m >= 0.0).unwrap_or(0.0);
        let J = match self.of(node, &["J", "inertia"]) {
            Some(n) => match self.numbers::<3>(n).map(|d| Matrix3::from_diagonal(&d.into())).or_else(|| self.matrix(n)) {
                Some(J) => J,
                None => {
                    self.wrong(format!("the inertia of `{what}` is neither three numbers nor a matrix"), "write for instance [1, 1, 2]", n);
                    Matrix3::zeros()
                }
            },
            None => Matrix3::zeros(),
        };
        let known = ["name", "id", "r", "r_dot", "dr", "p", "p_dot", "dp", "A", "omega", "m", "mass", "J", "inertia", "r_ddot", "p_ddot"];
        self.left_over(node, &known, &what);
        let velocity = [self.vector(node, &["r_dot", "dr"], &what, false), w];
        let body = Body { mass, com: Vector3::zeros(), J };
        self.ids.push((id, self.draft.links.len()));
        self.draft.links.push(Link { name: what, pose: Pose { p, R }, body, shapes: Vec::new(), velocity, spot: spot(node) });
    }

    /// The rotation matrix of a body, and its angular velocity in the world.
    fn rotation(&self, node: &Node, what: &str) -> (Matrix3<f64>, Vector3<f64>) {
        if let Some(a) = self.of(node, &["A"]) {
            let Some(A) = self.matrix(a) else {
                self.wrong(format!("`A` of `{what}` is not a matrix of three rows"), "write [[1, 0, 0], [0, 1, 0], [0, 0, 1]]", a);
                return (Matrix3::identity(), Vector3::zeros());
            };
            if (A.transpose() * A - Matrix3::identity()).amax() > UNIT || A.determinant() < 0.0 {
                self.wrong(format!("`A` of `{what}` is not a rotation"), "its columns are the axes of the body in the world", a);
            }
            let A = rotation(UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(A)));
            // Angular velocities in the file are in body axes.
            return (A, A * self.vector(node, &["omega"], what, false));
        }
        let Some(given) = self.of(node, &["p"]) else { return (Matrix3::identity(), Vector3::zeros()) };
        let p = self.numbers::<4>(given).map(Vector4::from).filter(|p| p.norm() > 1e-9);
        let Some(p) = p else {
            self.wrong(
                format!("`p` of `{what}` is not a list of four Euler parameters"),
                "the first is the cosine of half the angle",
                given,
            );
            return (Matrix3::identity(), Vector3::zeros());
        };
        if (p.norm() - 1.0).abs() > UNIT {
            let d =
                Diagnostic::new("W457", format!("the Euler parameters of `{what}` have the length {:.3} and are scaled to one", p.norm()));
            self.reading.note(d.name(what), spot(given));
        }
        let length = p.norm();
        let p = p / length;
        let A = rotation(UnitQuaternion::from_quaternion(Quaternion::new(p[0], p[1], p[2], p[3])));
        let rate = self.of(node, &["p_dot", "dp"]).and_then(|n| self.numbers::<4>(n)).map_or(Vector4::zeros(), Vector4::from) / length;
        let (e, e_dot) = (Vector3::new(p[1], p[2], p[3]), Vector3::new(rate[1], rate[2], rate[3]));
        // omega = 2 E p_dot, in the world.
        (A, (e_dot * p[0] - e * rate[0] + e.cross(&e_dot)) * 2.0)
    }

    fn link(&self, node: &Node, word: &str, what: &str) -> Option<usize> {
        let Some(given) = self.of(node, &[word]) else {
            self.wrong(format!("`{what}` has no `{word}`"), "a constraint is between two bodies", node);
            return None;
        };
        let id = self.text(given).unwrap_or_default();
        let found = self.ids.iter().find(|(k, _)| *k == id).map(|(_, k)| *k);
        if found.is_none() {
            self.wrong(format!("there is no body `{id}`, which `{what}` names"), "bodies are named by their `id`", given);
        }
        found
    }

    /// A function of time, with Python's notation for powers and constants.
    fn function(&self, node: Option<&Node>) -> Option<String> {
        let text = self.text(node?)?;
        Some(text.replace("**", "^").replace("np.", "").replace("math.", ""))
    }

    fn constraint(&mut self, node: &Node) {
        let name =
            self.of(node, &["name"]).and_then(|n| self.text(n)).unwrap_or_else(|| format!("constraint_{}", self.draft.gcons.len() + 1));
        let Some(kind) = self.of(node, &["type"]) else {
            self.wrong(format!("`{name}` has no `type`"), "it is one of DP1, DP2, D and CD", node);
            return;
        };
        let (Some(i), Some(j)) = (self.link(node, "body_i", &name), self.link(node, "body_j", &name)) else { return };
        let a_i = || self.vector(node, &["a_bar_i", "ai"], &name, true).into();
        let a_j = || self.vector(node, &["a_bar_j", "aj"], &name, true).into();
        let s_i = || self.vector(node, &["s_bar_p_i", "s_bar_i", "si"], &name, true).into();
        let s_j = || self.vector(node, &["s_bar_q_j", "s_bar_j", "sj"], &name, true).into();
        let word = self.text(kind).unwrap_or_default();
        let (what, used): (GconKind, &[&str]) = match word.to_ascii_uppercase().as_str() {
            "DP1" => (GconKind::Dp1 { a_i: a_i(), a_j: a_j() }, &["a_bar_i", "ai", "a_bar_j", "aj"]),
            "DP2" => (
                GconKind::Dp2 { a_i: a_i(), s_i: s_i(), s_j: s_j() },
                &["a_bar_i", "ai", "s_bar_p_i", "s_bar_i", "si", "s_bar_q_j", "s_bar_j", "sj"],
            ),
            "D" => (GconKind::D { s_i: s_i(), s_j: s_j() }, &["s_bar_p_i", "s_bar_i", "si", "s_bar_q_j", "s_bar_j", "sj"]),
            "CD" => (
                GconKind::Cd { c: self.vector(node, &["c"], &name, true).into(), s_i: s_i(), s_j: s_j() },
                &["c", "s_bar_p_i", "s_bar_i", "si", "s_bar_q_j", "s_bar_j", "sj"],
            ),
            _ => {
                self.wrong(format!("`{name}` has the type `{word}`"), "it is one of DP1, DP2, D and CD", kind);
                return;
            }
        };
        let f = self.of(node, &["f"]);
        let formula = self.function(f).unwrap_or_else(|| "0".into());
        let value = match Expr::time(&formula) {
            Ok(value) => value,
            Err(e) => {
                self.wrong(
                    format!("the function of `{name}` is not understood: {} in `{formula}`", e.kind),
                    "write a formula of t",
                    f.unwrap_or(node),
                );
                return;
            }
        };
        // The given derivatives are not needed; a difference from the derivatives of the function is reported.
        for (order, words) in [(1, ["f_dot", "df"]), (2, ["f_ddot", "ddf"])] {
            let given = self.of(node, &words);
            let Some(own) = self.function(given).and_then(|f| Expr::time(&f).ok()) else { continue };
            let differs = [0.0, 0.3, 0.7, 1.9].iter().any(|&t| {
                let (a, b) = (own.time_derivatives(t)[0], value.time_derivatives(t)[order]);
                (a - b).abs() > AGREE * (1.0 + b.abs())
            });
            if differs {
                let d = Diagnostic::new("W457", format!("`{}` of `{name}` is not the derivative of `f`, which is used instead", words[0]));
                self.reading.note(d.name(&name), given.map_or(Spot::START, spot));
            }
        }
        let mut known = vec!["name", "id", "type", "body_i", "body_j", "f", "f_dot", "f_ddot", "df", "ddf"];
        known.extend(used);
        self.left_over(node, &known, &name);
        self.draft.gcons.push(Gcon { name, kind: what, links: [i, j], value, spot: spot(node) });
    }
}
