//! Text descriptions of motions: which joints move, by how much, and in which phase.

use fourbar::Model;
use fourbar::coordinate::Coordinate;
use fourbar::evaluate::by_body;
use fourbar::state::{Pose, Twist};
use fourbar_math::dense;
use nalgebra::{Complex, DMatrix, DVector, Vector3};
use serde::Serialize;

/// Parts of a motion below this share of the largest are not named.
const NAMED: f64 = 0.05;
/// Maximum number of parts in a sentence.
const MOST: usize = 4;

/// Participation of one coordinate in a motion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The coordinate: `JOINT.angle`, `JOINT.distance`, or `BODY.r.x` and `BODY.turn.x` of a body without such a joint.
    pub coordinate: String,
    /// Amplitude relative to the largest part; angles are converted to lengths by the characteristic length.
    pub amplitude: f64,
    /// Phase relative to the largest part, rad.
    pub phase: f64,
}

/// Rates of all coordinates that describe a motion: name, rate, and the factor that converts it to a length.
fn rates(model: &Model, q: &[Pose], m: &[Twist]) -> Vec<(String, f64, f64)> {
    let mut list = Vec::new();
    let mut described = vec![false; model.bodies.len()];
    for j in &model.joints {
        let [a, b] = j.bodies.map(|b| b.index());
        for (what, y) in j.coordinates() {
            let row = y.row(&q[a], &q[b]).parts;
            let scale = if matches!(y, Coordinate::Angle(_)) { model.length } else { 1.0 };
            list.push((format!("{}.{what}", j.name), row[0].power(&m[a]) + row[1].power(&m[b]), scale));
            described[a] = true;
            described[b] = true;
        }
    }
    floating(model).into_iter().for_each(|b| described[b] = false);
    for (b, body) in model.bodies.iter().enumerate().skip(1).filter(|(b, _)| !described[*b]) {
        let turn: Vector3<f64> = q[b].A * m[b].w;
        for (k, axis) in ["x", "y", "z"].iter().enumerate() {
            list.push((format!("{}.r.{axis}", body.name), m[b].v[k], 1.0));
            list.push((format!("{}.turn.{axis}", body.name), turn[k], model.length));
        }
    }
    list
}

/// The heaviest body of each group without a joint to the ground: its position is not described by any joint.
fn floating(model: &Model) -> Vec<usize> {
    let mut group: Vec<usize> = (0..model.bodies.len()).collect();
    fn root(group: &[usize], mut b: usize) -> usize {
        while group[b] != b {
            b = group[b];
        }
        b
    }
    for j in &model.joints {
        let [a, b] = j.bodies.map(|b| root(&group, b.index()));
        group[a.max(b)] = a.min(b);
    }
    let mut heaviest: Vec<Option<usize>> = vec![None; model.bodies.len()];
    for b in 1..model.bodies.len() {
        let r = root(&group, b);
        if r != 0 && heaviest[r].is_none_or(|h| model.bodies[b].mass > model.bodies[h].mass) {
            heaviest[r] = Some(b);
        }
    }
    heaviest.into_iter().flatten().collect()
}

/// Coordinates that describe some motions, one for each.
pub fn describe(model: &Model, q: &[Pose], motions: &[DVector<f64>]) -> Vec<String> {
    let Some(first) = motions.first() else { return Vec::new() };
    let names: Vec<String> = rates(model, q, &by_body(first)).into_iter().map(|r| r.0).collect();
    let rows: Vec<Vec<f64>> =
        motions.iter().map(|m| rates(model, q, &by_body(m)).into_iter().map(|(_, x, scale)| x * scale).collect()).collect();
    let A = DMatrix::from_fn(motions.len(), names.len(), |i, j| rows[i][j]);
    let mut chosen = dense::independent_columns(&A, 1e-7);
    chosen.sort_unstable();
    chosen.into_iter().map(|k| names[k].clone()).collect()
}

/// The parts of a motion with real and imaginary components, largest first; negligible ones are omitted.
pub fn parts(model: &Model, q: &[Pose], re: &DVector<f64>, im: &DVector<f64>) -> Vec<Part> {
    let (re, im) = (rates(model, q, &by_body(re)), rates(model, q, &by_body(im)));
    let mut list: Vec<(String, Complex<f64>)> =
        re.into_iter().zip(im).map(|((name, x, scale), (_, y, _))| (name, Complex::new(x * scale, y * scale))).collect();
    // Equal parts stay in the order of the file.
    list.sort_by(|a, b| (1e9 * b.1.norm()).round().total_cmp(&(1e9 * a.1.norm()).round()));
    let Some(first) = list.first().map(|x| x.1).filter(|x| x.norm() > 0.0) else { return Vec::new() };
    let parts = list.into_iter().map(|(coordinate, x)| {
        let share = x / first;
        Part {
            coordinate,
            amplitude: share.norm(),
            phase: if share.im.abs() < 1e-9 * share.norm() && share.re > 0.0 { 0.0 } else { share.arg() },
        }
    });
    parts.filter(|p| p.amplitude >= NAMED).collect()
}

/// A sentence listing the parts: "`rocker.angle` against `coupler.angle`".
pub fn sentence(parts: &[Part]) -> String {
    let Some(first) = parts.first() else { return "nothing that a joint or body shows".into() };
    let mut text = format!("`{}`", first.coordinate);
    for p in parts.iter().skip(1).take(MOST - 1) {
        let how = match p.phase.abs() {
            x if x < 0.35 => "with",
            x if x > std::f64::consts::PI - 0.35 => "against",
            _ if p.phase > 0.0 => "after",
            _ => "before",
        };
        // Shares near one are not printed.
        let share = if p.amplitude > 0.95 { String::new() } else { format!("{:.2} of ", p.amplitude) };
        text += &format!(" {how} {share}`{}`", p.coordinate);
    }
    if parts.len() > MOST {
        text += &format!(", and {} more", parts.len() - MOST);
    }
    text
}

/// A real motion in words.
pub fn motion(model: &Model, q: &[Pose], dq: &DVector<f64>) -> String {
    sentence(&parts(model, q, dq, &DVector::zeros(dq.len())))
}
