//! ASMT, the text in which FreeCAD's assembly workbench hands an assembly to its solver: lines indented by tabs, a name on one line
//! and its values on the lines below it.

mod joints;

use super::draft::*;
use super::reading::{Reading, Spot};
use crate::places::Span;
use fourbar::Diagnostic;
use fourbar::expr::Expr;
use nalgebra::{Matrix3, Vector3};
use std::collections::HashMap;

/// Deepest indentation.
const MAX_DEPTH: usize = 60;

/// A line with the lines indented below it.
#[derive(Debug)]
struct Item {
    text: String,
    spot: Spot,
    inside: Vec<Item>,
}

impl Item {
    fn child(&self, name: &str) -> Option<&Item> {
        self.inside.iter().find(|i| i.text == name)
    }

    /// The first line below the child with this name.
    fn value(&self, name: &str) -> Option<&Item> {
        self.child(name)?.inside.first()
    }
}

/// A point with axes on a part or on the ground.
#[derive(Clone, Copy)]
struct Marker {
    link: usize,
    pose: Pose,
}

struct Asmt<'r, 'a> {
    reading: &'r Reading<'a>,
    draft: Draft,
    /// Markers by path.
    markers: HashMap<String, Marker>,
    joints: HashMap<String, usize>,
    /// Joints by the paths of their markers.
    between: HashMap<[String; 2], usize>,
}

/// Whether a text is an assembly: its first line names the program, the second the kind of file.
pub(super) fn recognises(text: &str) -> bool {
    let mut lines = text.lines();
    let (first, second) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    second.trim() == "Assembly" && (first.starts_with("OndselSolver") || first.starts_with("freeCAD"))
}

/// Reads a text.
pub(super) fn read(reading: &Reading<'_>, text: &str) -> Option<Draft> {
    let items = match tree(text) {
        Ok(items) => items,
        Err((d, span)) => {
            reading.problem(d, Spot { file: 0, span });
            return None;
        }
    };
    let assembly = items.iter().find(|i| i.text == "Assembly")?;
    let name = assembly.value("Name").map_or("assembly", |n| n.text.as_str()).to_string();
    let mut a = Asmt { reading, draft: Draft::new(&name), markers: HashMap::new(), joints: HashMap::new(), between: HashMap::new() };
    let d = Diagnostic::new("W451", "lengths are assumed in metres, masses in kilograms: the file does not specify units");
    reading.note(d.help("scale the converted file where they are millimetres"), assembly.spot);
    let pose = a.pose(assembly);
    a.draft.links[0].pose = Pose::IDENTITY;
    a.all_markers(assembly, 0, &format!("/{name}"), &pose);
    for part in assembly.child("Parts").iter().flat_map(|p| &p.inside) {
        a.part(part, &name, &pose);
    }
    if let Some(g) = assembly.child("ConstantGravity").and_then(|g| a.three(g)) {
        a.draft.gravity = Some(g.into());
    }
    if let Some(sets) = assembly.child("ConstraintSets") {
        // Gears and racks couple other joints, which may follow later in the file.
        let joints = || sets.child("Joints").into_iter().flat_map(|j| &j.inside);
        for coupling in [false, true] {
            for j in joints().filter(|j| matches!(j.text.as_str(), "GearJoint" | "RackPinionJoint") == coupling) {
                a.joint(j, &name);
            }
        }
        for m in sets.child("Motions").iter().flat_map(|m| &m.inside) {
            a.motion(m);
        }
        for l in sets.child("Limits").iter().flat_map(|l| &l.inside) {
            a.limit(l);
        }
        for g in sets.child("GeneralConstraintSets").iter().flat_map(|l| &l.inside) {
            let help = "without it the assembly would be a different one";
            reading.problem(Diagnostic::new("M660", format!("`{}` is not read", g.text)).help(help), g.spot);
        }
    }
    for f in assembly.child("ForceTorques").iter().flat_map(|f| &f.inside) {
        a.force(f);
    }
    if let Some(s) = assembly.child("SimulationParameters") {
        let x = |key: &str| s.value(key).and_then(|v| v.text.trim().parse::<f64>().ok()).filter(|x| x.is_finite() && *x > 0.0);
        if let (Some(end), Some(step)) = (x("tend"), x("hout")) {
            a.draft.times = Some([end, step.min(end)]);
        }
    }
    a.left_over(assembly);
    Some(a.draft)
}

/// The lines as a tree. After the first two lines a line without indentation ends it, as results follow.
fn tree(text: &str) -> Result<Vec<Item>, (Diagnostic, Span)> {
    let mut top: Vec<Item> = Vec::new();
    // Items that are still open, outermost first.
    let mut open: Vec<Item> = Vec::new();
    let mut at = 0;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        let line = line.trim_end();
        if line.trim().is_empty() {
            continue;
        }
        let depth = line.len() - line.trim_start_matches('\t').len();
        if n > 1 && depth == 0 {
            break;
        }
        let span = Span::new(start + depth, start + line.len());
        if depth > MAX_DEPTH || depth > open.len() {
            let d = Diagnostic::new("M660", "the line is indented too far");
            return Err((d.help("every level is one tab"), span));
        }
        while open.len() > depth {
            close(&mut open, &mut top);
        }
        open.push(Item { text: line.trim().to_string(), spot: Spot { file: 0, span }, inside: Vec::new() });
    }
    while !open.is_empty() {
        close(&mut open, &mut top);
    }
    Ok(top)
}

fn close(open: &mut Vec<Item>, top: &mut Vec<Item>) {
    let Some(done) = open.pop() else { return };
    match open.last_mut() {
        Some(above) => above.inside.push(done),
        None => top.push(done),
    }
}

impl Asmt<'_, '_> {
    fn wrong(&self, message: String, spot: Spot) {
        self.reading.problem(Diagnostic::new("M660", message).help("every level is one tab, numbers are separated by tabs"), spot);
    }

    fn numbers(&self, item: &Item, count: usize) -> Option<Vec<f64>> {
        let list: Option<Vec<f64>> = item.text.split_whitespace().map(|w| w.parse().ok().filter(|x: &f64| x.is_finite())).collect();
        let good = list.filter(|l| l.len() == count);
        if good.is_none() {
            self.wrong(format!("`{}` should be {count} finite numbers", crate::tree::shorten(&item.text)), item.spot);
        }
        good
    }

    /// Three numbers on the line below a name.
    fn three(&self, item: &Item) -> Option<Vector3<f64>> {
        let x = self.numbers(item.inside.first()?, 3)?;
        Some(Vector3::new(x[0], x[1], x[2]))
    }

    /// A number, or a formula of numbers such as `30.0*pi/180.0`.
    fn number(&self, item: &Item, name: &str) -> Option<f64> {
        match item.value(name) {
            Some(v) => match Expr::time(&joints::expression(&v.text)).ok().and_then(|e| e.constant_value()).filter(|x| x.is_finite()) {
                Some(x) => Some(x),
                None => self.numbers(v, 1).map(|x| x[0]),
            },
            None => {
                self.wrong(format!("`{}` lacks `{name}`", item.text), item.spot);
                None
            }
        }
    }

    /// Position and orientation of an item.
    fn pose(&self, item: &Item) -> Pose {
        let p = item.child("Position3D").and_then(|i| self.three(i)).unwrap_or_else(Vector3::zeros);
        let mut R = Matrix3::identity();
        if let Some(m) = item.child("RotationMatrix") {
            for (k, row) in m.inside.iter().take(3).enumerate() {
                if let Some(x) = self.numbers(row, 3) {
                    R.set_row(k, &nalgebra::RowVector3::new(x[0], x[1], x[2]));
                }
            }
            if (R.transpose() * R - Matrix3::identity()).amax() > 1e-4 || R.determinant() < 0.0 {
                self.wrong("the matrix is not a rotation".into(), m.spot);
                R = Matrix3::identity();
            }
            // Printed digits leave the matrix not quite orthogonal.
            for _ in 0..3 {
                R = R * 1.5 - R * R.transpose() * R * 0.5;
            }
        }
        Pose { p, R }
    }

    /// The markers of a part or of the assembly itself.
    fn all_markers(&mut self, item: &Item, link: usize, path: &str, base: &Pose) {
        for point in item.child("RefPoints").iter().flat_map(|r| &r.inside) {
            let at = base.then(&self.pose(point));
            for m in point.child("Markers").iter().flat_map(|m| &m.inside) {
                let Some(name) = m.value("Name") else {
                    self.wrong("a marker has no name".into(), m.spot);
                    continue;
                };
                let marker = Marker { link, pose: at.then(&self.pose(m)) };
                self.markers.insert(format!("{path}/{}", name.text), marker);
            }
        }
    }

    fn part(&mut self, part: &Item, assembly: &str, base: &Pose) {
        let Some(name) = part.value("Name") else { return self.wrong("a part has no name".into(), part.spot) };
        let k = self.draft.links.len();
        let mut body = Body::NONE;
        if let Some(m) = part.child("PrincipalMassMarker") {
            let pose = self.pose(m);
            let mass = self.number(m, "Mass").unwrap_or(0.0);
            let J = m.child("MomentOfInertias").and_then(|i| self.three(i)).unwrap_or_else(Vector3::zeros);
            body = Body { mass, com: Vector3::zeros(), J: Matrix3::from_diagonal(&J) }.moved(&pose);
        }
        let vector = |key: &str| part.child(key).and_then(|i| self.three(i)).unwrap_or_else(Vector3::zeros);
        let velocity = [vector("Velocity3D"), vector("Omega3D")].map(|v| base.R * v);
        let pose = base.then(&self.pose(part));
        if self.draft.links.iter().any(|l| l.name == name.text) {
            let d = Diagnostic::new("M656", format!("two parts are named `{}`", name.text)).name(&name.text);
            self.reading.problem(d.help("rename one of them"), name.spot);
        }
        self.draft.links.push(Link { name: name.text.clone(), pose, body, shapes: Vec::new(), velocity, spot: part.spot });
        self.all_markers(part, k, &format!("/{assembly}/{}", name.text), &Pose::IDENTITY);
    }

    /// Lists the parts that are not converted.
    fn left_over(&self, assembly: &Item) {
        let count = |name: &str| {
            assembly.child("Parts").map_or(0, |p| p.inside.iter().filter(|i| i.child(name).is_some_and(|c| !c.inside.is_empty())).count())
        };
        for (key, what) in [("FeatureOrder", "shapes"), ("RefCurves", "curves"), ("RefSurfaces", "surfaces")] {
            let n = count(key);
            if n > 0 {
                let d = Diagnostic::new("W450", format!("{what} (`{key}`) of {n} parts are not converted")).name(key);
                self.reading.note(d, assembly.spot);
            }
        }
    }
}
