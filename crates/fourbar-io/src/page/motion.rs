//! Rows of a result for the page: poses in 16 bits, columns thinned out while keeping their extremes.

use crate::pack;
use crate::results::Table;
use fourbar::Diagnostic;
use fourbar::model::Model;
use serde_json::{Map, Value, json};

/// Largest size of poses in bytes before base64, all results together.
const POSE_BYTES: usize = 3_000_000;
/// Largest size of columns in bytes without thinning.
const WHOLE_BYTES: usize = 3_000_000;
/// Largest size of thinned-out columns in bytes.
const COLUMN_BYTES: usize = 3_300_000;
/// Smallest number of samples that are kept.
const FEWEST: usize = 200;
/// Largest number of pose samples: more would not be visible.
const MOST_POSES: usize = 2000;
/// Largest number of samples of thinned-out columns.
const MOST: usize = 4000;
/// Largest rotation between kept poses, so that the page interpolates in the right direction.
const TURN: f64 = std::f64::consts::FRAC_PI_4;

/// Larger coordinates, in metres, are invalid: their squares would overflow.
const FURTHEST: f64 = 1e100;

/// Indices of the kept rows: every `step`-th and the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Distance of kept rows.
    pub step: usize,
    /// The rows.
    pub rows: Vec<usize>,
}

impl Kept {
    /// Keeps at most about `most` of `n` rows.
    pub fn at_most(n: usize, most: usize) -> Self {
        Self::every(n, (n.saturating_sub(1)).div_ceil(most.max(2) - 1).max(1))
    }

    fn every(n: usize, step: usize) -> Self {
        let mut rows: Vec<usize> = (0..n).step_by(step).collect();
        if rows.last().is_some_and(|&k| k + 1 < n) {
            rows.push(n - 1);
        }
        Self { step, rows }
    }

    /// The kept values.
    pub fn of(&self, values: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|&k| values[k]).collect()
    }

    /// Smallest and largest finite values around each kept row, up to half way to its neighbours.
    fn extremes(&self, values: &[f64]) -> [Vec<f64>; 2] {
        let (mut lo, mut hi) = (Vec::with_capacity(self.rows.len()), Vec::with_capacity(self.rows.len()));
        for (k, &row) in self.rows.iter().enumerate() {
            let from = if k == 0 { row } else { (self.rows[k - 1] + row).div_ceil(2) };
            let to = self.rows.get(k + 1).map_or(row, |next| (row + next) / 2);
            let around = values[from..=to].iter().filter(|x| x.is_finite());
            let (l, h) = around.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
            lo.push(if l <= h { l } else { f64::NAN });
            hi.push(if l <= h { h } else { f64::NAN });
        }
        [lo, hi]
    }
}

/// Position and quaternion columns of every moving body.
pub struct Poses<'a> {
    /// Per body: x, y, z, then the quaternion.
    pub columns: Vec<[&'a [f64]; 7]>,
}

impl<'a> Poses<'a> {
    /// Finds the columns, which a page requires.
    pub fn find(model: &Model, table: &'a Table, label: &str) -> Result<Self, Diagnostic> {
        let place: std::collections::HashMap<&str, usize> = table.names.iter().enumerate().map(|(k, n)| (n.as_str(), k)).collect();
        let get = |name: String| {
            place.get(name.as_str()).map(|&k| table.columns[k].as_slice()).ok_or_else(|| {
                Diagnostic::new("U013", format!("the result `{label}` has no column `{name}`"))
                    .help("run without `--columns`; results on one page belong to the same mechanism")
            })
        };
        let mut columns = Vec::new();
        for b in model.bodies.iter().skip(1) {
            let mut body: [&[f64]; 7] = [&[]; 7];
            for (slot, end) in body.iter_mut().zip(["r.x", "r.y", "r.z", "p.0", "p.1", "p.2", "p.3"]) {
                *slot = get(format!("{}.{end}", b.name))?;
            }
            columns.push(body);
        }
        Ok(Self { columns })
    }

    /// Number of rows before the first invalid pose, and its body. A pose is invalid if a number is not finite or too large, or if the
    /// quaternion is far from unit length; the page normalises small deviations.
    pub fn sound_rows(&self, rows: usize) -> (usize, Option<usize>) {
        let mut sound = (rows, None);
        for (body, c) in self.columns.iter().enumerate() {
            let broken = (0..sound.0).find(|&k| {
                let norm = self.p(body, k).iter().map(|x| x * x).sum::<f64>().sqrt();
                !(0.9..1.1).contains(&norm) || c[..3].iter().any(|x| x[k].is_nan() || x[k].abs() > FURTHEST)
            });
            if let Some(k) = broken {
                sound = (k, Some(body));
            }
        }
        sound
    }

    /// Position of a body at a row.
    pub fn r(&self, body: usize, row: usize) -> [f64; 3] {
        let c = &self.columns[body];
        [c[0][row], c[1][row], c[2][row]]
    }

    /// Quaternion of a body at a row.
    pub fn p(&self, body: usize, row: usize) -> [f64; 4] {
        let c = &self.columns[body];
        [c[3][row], c[4][row], c[5][row], c[6][row]]
    }

    /// The body with the largest rotation between neighbouring kept rows, and its angle.
    fn fastest(&self, kept: &Kept) -> (usize, f64) {
        let mut worst = (0, 0.0);
        for body in 0..self.columns.len() {
            for pair in kept.rows.windows(2) {
                // Summed over the rows in between, so that rotations beyond half a turn are found.
                let angle: f64 = (pair[0]..pair[1]).map(|k| turn(&self.p(body, k), &self.p(body, k + 1))).sum();
                if angle > worst.1 {
                    worst = (body, angle);
                }
            }
        }
        worst
    }
}

/// Angle between two orientations.
pub fn turn(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    // Twice the arc between the quaternions, from the chord: accurate for small rotations.
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let chord = a.iter().zip(b).map(|(a, b)| (a - sign * b).powi(2)).sum::<f64>().sqrt();
    4.0 * (0.5 * chord).min(1.0).asin()
}

/// A packed result, and a list of what was omitted.
pub struct Packed {
    /// The entries of the data object.
    pub value: Map<String, Value>,
    /// Sentences about omitted contents.
    pub left_out: Vec<String>,
}

/// Packs a result, one of `results`.
pub fn pack(model: &Model, table: &Table, poses: &Poses<'_>, results: usize) -> Packed {
    let (n, bodies) = (table.rows(), poses.columns.len().max(1));
    let t = table.column("t").unwrap_or(&[]);
    let mut left_out = Vec::new();

    let room = (POSE_BYTES / (14 * bodies * results)).max(FEWEST);
    let mut kept = Kept::at_most(n, room.min(MOST_POSES));
    let mut fastest = poses.fastest(&kept);
    if fastest.1 > TURN && kept.step > 1 {
        // Fast bodies need more samples than are visible; as many as fit are used.
        let step = ((kept.step as f64 * TURN / fastest.1).floor() as usize).max(1);
        kept = Kept::every(n, step.max(Kept::at_most(n, room).step));
        fastest = poses.fastest(&kept);
    }
    if fastest.1 > std::f64::consts::PI {
        let name = &model.bodies[fastest.0 + 1].name;
        left_out.push(format!(
            "`{name}` turns by {:.0} degrees between two poses of this page: it may seem to turn the other way",
            fastest.1.to_degrees()
        ));
    }
    let r: Vec<Value> =
        (0..poses.columns.len()).map(|b| pack::i16_interleaved(&kept.rows.iter().map(|&k| poses.r(b, k)).collect::<Vec<_>>())).collect();
    let p: Vec<Value> =
        (0..poses.columns.len()).map(|b| pack::quaternions(&kept.rows.iter().map(|&k| poses.p(b, k)).collect::<Vec<_>>())).collect();

    let (chosen, dropped) = choose(model, table, 2 * COLUMN_BYTES / (6 * FEWEST * results));
    let whole = 4 * chosen.len() * n * results < WHOLE_BYTES;
    let thin =
        if whole { Kept::every(n, 1) } else { Kept::at_most(n, (COLUMN_BYTES / (6 * chosen.len().max(1) * results)).clamp(FEWEST, MOST)) };
    let mut times = vec![pack::times(&kept.of(t))];
    let base = if thin == kept { 0 } else { 1 };
    if base == 1 {
        times.push(pack::times(&thin.of(t)));
    }
    let columns: Vec<Value> = chosen
        .iter()
        .map(|&k| {
            let fine = whole || table.names[k].starts_with("error.");
            column(&table.names[k], &table.units[k], base, &table.columns[k], &thin, fine, true)
        })
        .collect();
    if kept.step > 1 {
        left_out.push(format!("motion: every {} of {n} rows, in 16 bits", nth(kept.step)));
    }
    if thin.step > 1 {
        left_out.push(format!(
            "columns: every {} of {n} rows, with the extremes between them; the full data are in the result folder",
            nth(thin.step)
        ));
    }
    if dropped > 0 {
        left_out.push(format!("{dropped} columns are not on this page, because it would become too large; they are in the result folder"));
    }
    let mut value = Map::new();
    value.insert("times".into(), json!(times));
    value.insert("poses".into(), json!({"time": 0, "r": r, "p": p}));
    value.insert("columns".into(), json!(columns));
    Packed { value, left_out }
}

fn nth(n: usize) -> String {
    let ending = match (n % 100, n % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// Indices of the columns for the page, at most `most`, and the number of omitted ones. Time and poses are stored separately.
pub fn choose(model: &Model, table: &Table, most: usize) -> (Vec<usize>, usize) {
    let bodies: std::collections::HashSet<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
    let mut ranked: Vec<(usize, usize)> = Vec::new();
    for (k, name) in table.names.iter().enumerate() {
        let parts: Vec<&str> = name.split('.').collect();
        // The most informative columns first, accelerations last.
        let class = match parts.as_slice() {
            ["t"] => continue,
            [body, "r" | "p", _] if bodies.contains(body) => continue,
            ["energy" | "error", _] => 0,
            [_, "force", _] => 2,
            [_, "v", _] | [_, "speed"] | [_, _, "speed"] => 3,
            [_, "omega", _] => 4,
            [_, "torque", _] => 5,
            [_, "a", _] | [_, "acceleration"] | [_, _, "acceleration"] => 6,
            [_, "alpha", _] => 7,
            _ => 1,
        };
        ranked.push((class, k));
    }
    let all = ranked.len();
    ranked.sort_unstable();
    ranked.truncate(most);
    let mut chosen: Vec<usize> = ranked.into_iter().map(|(_, k)| k).collect();
    chosen.sort_unstable();
    let dropped = all - chosen.len();
    (chosen, dropped)
}

/// A column of the page; `fine` uses single precision, `band` adds the extremes where they are visible.
pub fn column(name: &str, unit: &str, time: usize, values: &[f64], kept: &Kept, fine: bool, band: bool) -> Value {
    let mut out = json!({"name": name, "unit": unit, "time": time});
    if let Some(&first) = values.first().filter(|x| x.is_finite() && values.iter().all(|y| y == *x)) {
        out["data"] = pack::constant(first, kept.rows.len());
        return out;
    }
    let pack = |v: &[f64]| if fine { pack::f32s(v) } else { pack::i16s(v) };
    let data = kept.of(values);
    out["data"] = pack(&data);
    if band && kept.step > 1 {
        let [lo, hi] = kept.extremes(values);
        let finite = |v: &[f64], f: fn(f64, f64) -> f64, z: f64| v.iter().copied().filter(|x| x.is_finite()).fold(z, f);
        let range = finite(&hi, f64::max, f64::NEG_INFINITY) - finite(&lo, f64::min, f64::INFINITY);
        // Deviations below half a percent of the range are not visible, except in logarithmic plots.
        let seen = if fine { 0.0 } else { range / 200.0 };
        if data.iter().zip(lo.iter().zip(&hi)).any(|(x, (l, h))| x - l > seen || h - x > seen) {
            (out["lo"], out["hi"]) = (pack(&lo), pack(&hi));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_both_ends_and_the_number() {
        for (n, most) in [(1, 200), (2, 200), (200, 200), (201, 200), (10_001, 2000), (10_000, 2000)] {
            let kept = Kept::at_most(n, most);
            assert!(kept.rows.len() <= most + 1, "{n}: {}", kept.rows.len());
            assert_eq!((kept.rows[0], kept.rows[kept.rows.len() - 1]), (0, n - 1));
        }
        assert_eq!(Kept::at_most(0, 200).rows.len(), 0);
    }

    #[test]
    fn a_spike_between_kept_rows_shows_in_the_band() {
        let mut values = vec![1.0; 1000];
        values[503] = 9.0;
        let kept = Kept::every(1000, 10);
        let [lo, hi] = kept.extremes(&values);
        assert!(kept.of(&values).iter().all(|x| *x == 1.0));
        assert_eq!((hi[50], lo[50]), (9.0, 1.0));
        assert!(column("c", "m", 0, &values, &kept, false, true).get("hi").is_some());
    }

    #[test]
    fn the_angle_between_orientations_does_not_mind_signs() {
        let half = |a: f64| [(0.5 * a).cos(), 0.0, 0.0, (0.5 * a).sin()];
        assert!((turn(&half(0.1), &half(0.4).map(|x| -x)) - 0.3).abs() < 1e-12);
        assert!((turn(&half(0.0), &half(3.0)) - 3.0).abs() < 1e-12);
        assert_eq!(turn(&half(1.0), &half(1.0)), 0.0);
    }
}
