//! Singular positions: where constraints that are independent elsewhere become dependent.

use crate::analysis::rank::{dense_jacobian, mobility};
use crate::constraint::ConstraintSet;
use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::schur::Schur;
use crate::state::{Configuration, Pose};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A singular position that was met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Singular {
    /// When.
    pub time: f64,
    /// Smallest relative pivot seen near it.
    pub pivot: f64,
    /// Joints and drives whose rows become dependent.
    pub joints: Vec<String>,
}

impl Singular {
    /// The list that was written as JSON.
    pub fn restored(list: &Value) -> Vec<Self> {
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        let names =
            |v: &Value| -> Vec<String> { v.as_array().into_iter().flatten().filter_map(|j| j.as_str().map(String::from)).collect() };
        let one = |s: &Value| Self { time: number(&s["time"]), pivot: number(&s["pivot"]), joints: names(&s["joints"]) };
        list.as_array().into_iter().flatten().map(one).collect()
    }
}

/// One warning for all singular positions of a run: when, and the joints of the first.
pub fn warning(list: &[Singular]) -> Option<Diagnostic> {
    let first = list.first()?;
    let mut names = first.joints.iter().take(8).map(|j| format!("`{j}`")).collect::<Vec<_>>().join(", ");
    if first.joints.len() > 8 {
        names.push_str(&format!(" and {} more", first.joints.len() - 8));
    }
    // Positions that cannot be told apart by their times are one.
    let mut different: Vec<String> = list.iter().map(|s| format!("{:.5}", s.time)).collect();
    different.dedup();
    let mut times = different[..different.len().min(6)].join(", ");
    times.push_str(" s");
    if different.len() > 6 {
        times.push_str(&format!(" and {} more", different.len() - 6));
    }
    let message = if different.len() == 1 {
        format!("at t = {times} the mechanism passes a singular position: the constraints of {names} depend on each other there")
    } else {
        format!(
            "the mechanism passes {} singular positions, at t = {times}: the constraints of {names} depend on each other there",
            different.len()
        )
    };
    Some(
        Diagnostic::new("W220", message)
            .names(first.joints.clone())
            .time(first.time)
            .help("reactions and drive efforts near it may be very large, and other branches of motion start there"),
    )
}

/// Names of the joints and drives whose rows depend on each other, by inverse iteration from the weakest row.
pub fn dependent_names(set: &ConstraintSet, schur: &mut Schur, permanent: &[bool], row: usize, x: &mut [f64]) -> Vec<String> {
    if x.is_empty() {
        return Vec::new();
    }
    x.fill(0.0);
    x[row] = 1.0;
    for _ in 0..3 {
        schur.solve(x);
        for (x, p) in x.iter_mut().zip(permanent) {
            if *p {
                *x = 0.0;
            }
        }
        let top = x.iter().fold(f64::MIN_POSITIVE, |s, x| s.max(x.abs()));
        x.iter_mut().for_each(|x| *x /= top);
    }
    set.touched(|r| x[r].abs())
}

/// The smallest pivot of a row that is not permanently redundant, and its row.
pub fn regular_pivot(pivots: &[f64], permanent: &[bool]) -> (f64, usize) {
    let mut best = (f64::INFINITY, 0);
    for (row, (&p, &permanent)) in pivots.iter().zip(permanent).enumerate() {
        if !permanent && p < best.0 {
            best = (p, row);
        }
    }
    best
}

/// Up to this many rows a suspicion is confirmed by singular values.
const CONFIRM: usize = 300;

/// The smallest singular value that counts at a generic pose, relative to the largest; `None` for large mechanisms.
pub fn smallest_singular_value(model: &Model, set: &ConstraintSet, q: &[Pose], generic_rank: usize) -> Option<f64> {
    if set.rows() > CONFIRM || generic_rank == 0 {
        return None;
    }
    let mut s: Vec<f64> = dense_jacobian(model, set, q).singular_values().iter().copied().collect();
    s.sort_by(|a, b| b.total_cmp(a));
    Some(s[generic_rank - 1] / s[0])
}

/// Watches a moving mechanism for singular positions: pivots give the suspicion at no cost, singular values confirm it.
///
/// Pivots alone are not enough: in a redundant loop another row can become the dependent one, and its pivot vanishes though
/// the rank stays.
#[derive(Clone, Debug)]
pub struct Detector {
    /// Pivots of the last steps.
    pub watch: Watch,
    /// Positions found.
    pub found: Vec<Singular>,
    generic_rank: usize,
    /// The smallest singular value where all is well, the largest seen; `None` for large mechanisms.
    pub usual: Option<f64>,
}

/// A singular value below this share of the start's, just after the suspected time, confirms.
const SHARE: f64 = 0.2;
/// A pivot below this share of the usual raises the suspicion of a singular position nearby.
const NEAR_PIVOT: f64 = 0.15;
/// And a singular value below this share of the usual confirms it. Wide on purpose: a step that is changed too close to a
/// singular position is worse than one that was a little too large a little earlier.
const NEAR_SHARE: f64 = 0.4;
/// At a position that was found as the foot of the pivots, a singular value below this share of the usual confirms.
const FOOT: f64 = 0.02;
/// At most this many singular positions are reported one by one.
const MOST: usize = 200;

impl Detector {
    /// A detector from a regular pose.
    pub fn new(model: &Model, set: &ConstraintSet, start: &Configuration) -> Self {
        let generic_rank = if set.rows() <= CONFIRM { mobility(model, start, true).generic.rank } else { 0 };
        // A start that is singular itself tells nothing; then a plain share of the largest value is taken.
        let usual = smallest_singular_value(model, set, &start.q, generic_rank).map(|s| if s < 1e-6 { 0.05 } else { s });
        Self { watch: Watch::default(), found: Vec::new(), generic_rank, usual }
    }

    /// For a checkpoint.
    pub(crate) fn save(&self) -> Value {
        let w = &self.watch;
        json!({ "last": w.last, "filled": w.filled, "usual_pivot": w.usual, "usual": self.usual, "found": self.found })
    }

    /// Takes back what [`Detector::save`] gave.
    pub(crate) fn restore(&mut self, v: &Value) {
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        self.watch = Watch {
            last: [0, 1, 2].map(|k| (number(&v["last"][k][0]), number(&v["last"][k][1]))),
            filled: v["filled"].as_u64().unwrap_or(0) as usize,
            usual: number(&v["usual_pivot"]),
        };
        self.usual = v["usual"].as_f64();
        self.found = Singular::restored(&v["found"]);
    }

    /// Whether a pose with a small pivot is singular indeed; large mechanisms are taken at the pivot's word.
    pub fn is_singular(&self, model: &Model, set: &ConstraintSet, q: &[Pose]) -> bool {
        match (smallest_singular_value(model, set, q, self.generic_rank), self.usual) {
            (Some(now), Some(usual)) => now < 1e-3 * usual,
            _ => true,
        }
    }

    /// Rank of the constraints, drives included, at a generic pose; of large mechanisms it is not known.
    pub fn generic_rank(&self) -> Option<usize> {
        (self.generic_rank > 0).then_some(self.generic_rank)
    }

    /// Whether the constraints, drives included, leave no freedom; of large mechanisms it is not known.
    pub fn is_prescribed(&self, model: &Model) -> bool {
        self.generic_rank() == Some(6 * model.moving())
    }

    /// Whether singular values say that a pose is a regular one, whatever its pivots; they say nothing of large mechanisms.
    pub fn is_regular(&self, model: &Model, set: &ConstraintSet, q: &[Pose]) -> bool {
        match (smallest_singular_value(model, set, q, self.generic_rank), self.usual) {
            (Some(now), Some(usual)) => now > NEAR_SHARE * usual,
            _ => false,
        }
    }

    /// Whether a pose is near a singular one: its pivot is far below the usual, and singular values agree.
    pub fn is_near(&self, model: &Model, set: &ConstraintSet, q: &[Pose], pivot: f64) -> bool {
        if pivot > NEAR_PIVOT * self.watch.usual * self.watch.usual {
            return false;
        }
        match (smallest_singular_value(model, set, q, self.generic_rank), self.usual) {
            (Some(now), Some(usual)) => now < NEAR_SHARE * usual,
            _ => true,
        }
    }

    /// Notes a singular position.
    pub fn note(&mut self, time: f64, pivot: f64, joints: Vec<String>) {
        if self.found.len() < MOST {
            self.found.push(Singular { time, pivot, joints });
        }
    }

    /// Takes note of a pose whose pivot is the smallest of its surroundings and next to nothing, unless singular values deny it.
    pub fn confirm(
        &mut self,
        model: &Model,
        set: &ConstraintSet,
        q: &[Pose],
        t: f64,
        pivot: f64,
        names: impl FnOnce() -> Vec<String>,
    ) -> bool {
        if let (Some(now), Some(usual)) = (smallest_singular_value(model, set, q, self.generic_rank), self.usual)
            && now > FOOT * usual
        {
            return false;
        }
        self.note(t, pivot, names());
        true
    }

    /// Takes note of a step; `names` tells which rows depend on each other.
    pub fn observe(&mut self, model: &Model, set: &ConstraintSet, q: &[Pose], t: f64, pivot: f64, names: impl FnOnce() -> Vec<String>) {
        let Some(time) = self.watch.observe(t, pivot) else { return };
        if self.found.len() >= MOST {
            return;
        }
        let now = smallest_singular_value(model, set, q, self.generic_rank);
        if let (Some(now), Some(usual)) = (now, self.usual) {
            self.usual = Some(usual.max(now));
            if now > SHARE * usual {
                return;
            }
        }
        self.found.push(Singular { time, pivot, joints: names() });
    }
}

/// Watches the smallest regular pivot and tells where it passes through zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watch {
    /// Times and square roots of the last pivots, oldest first, and how many there are.
    pub last: [(f64, f64); 3],
    /// How many of them are filled.
    pub filled: usize,
    /// Largest square root seen.
    pub usual: f64,
}

impl Watch {
    /// Takes note of a pivot; gives the time of a singular position between the last two steps.
    pub fn observe(&mut self, t: f64, pivot: f64) -> Option<f64> {
        if !pivot.is_finite() {
            return None;
        }
        let sigma = pivot.max(0.0).sqrt();
        self.usual = self.usual.max(sigma);
        self.last.rotate_left(1);
        self.last[2] = (t, sigma);
        self.filled = (self.filled + 1).min(3);
        let [(t1, s1), (t2, s2), (t3, s3)] = self.last;
        if self.filled < 3 || !(s2 <= s1 && s2 < s3 && s2 < 0.3 * self.usual) {
            return None;
        }
        // Near a simple zero the singular value is a straight V in time; a smooth minimum stays above it.
        let slope = (s1 + s3) / (t3 - t1);
        let t0 = t1 + (t3 - t1) * s1 / (s1 + s3);
        (s2 <= 1.3 * slope * (t2 - t0).abs() + 1e-3 * self.usual).then_some(t0)
    }
}
