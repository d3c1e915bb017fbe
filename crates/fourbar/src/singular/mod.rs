//! Singular positions: where otherwise independent constraints become dependent.

#[doc(hidden)]
pub mod massless;
#[doc(hidden)]
pub mod passages;

pub use crate::motion::Singular;

use crate::analysis::rank::dense_jacobian;
use crate::constraint::ConstraintSet;
use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::motion::numbers;
use crate::state::{Configuration, Pose};
use crate::structure::Structure;
use fourbar_math::elementary;
use serde_json::{Value, json};

/// One warning for all singular positions of a run: their times, and the joints of the first.
pub fn warning(list: &[Singular]) -> Option<Diagnostic> {
    let first = list.first()?;
    let mut names = first.joints.iter().take(8).map(|j| format!("`{j}`")).collect::<Vec<_>>().join(", ");
    if first.joints.len() > 8 {
        names.push_str(&format!(" and {} more", first.joints.len() - 8));
    }
    // Positions with indistinguishable times count as one.
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

/// Appends for every row that is not permanently redundant its part independent of the preceding rows, relative to the row, and returns the
/// logarithm of the product over all rows.
pub fn own_parts(pivots: &[f64], permanent: &[bool], out: &mut Vec<f64>) -> f64 {
    out.extend(pivots.iter().zip(permanent).filter(|(_, permanent)| !**permanent).map(|(p, _)| p.max(0.0).sqrt()));
    half_log(pivots)
}

/// Half the logarithm of the product of pivots.
pub fn half_log(pivots: &[f64]) -> f64 {
    0.5 * pivots.iter().map(|p| elementary::ln(p.max(f64::MIN_POSITIVE))).sum::<f64>()
}

/// Up to this many rows a suspicion is confirmed by singular values.
const CONFIRM: usize = 300;

/// The smallest nonzero singular value at a generic pose, relative to the largest; `None` for large mechanisms.
pub fn smallest_singular_value(model: &Model, set: &ConstraintSet, q: &[Pose], generic_rank: usize) -> Option<f64> {
    if set.rows() > CONFIRM || generic_rank == 0 {
        return None;
    }
    let mut s: Vec<f64> = dense_jacobian(model, set, q).singular_values().iter().copied().collect();
    s.sort_by(|a, b| b.total_cmp(a));
    Some(s[generic_rank - 1] / s[0])
}

/// Detects poses near singular positions, relative to the usual values of the mechanism. The massless distance gives the suspicion,
/// singular values confirm it.
#[derive(Clone, Debug)]
pub struct Detector {
    generic_rank: usize,
    /// The smallest singular value at a regular pose; `None` for large mechanisms.
    pub usual: Option<f64>,
    /// Relative distance at the last evaluation of singular values, and the result.
    asked: (f64, bool),
}

/// A distance or a singular value below this fraction of the usual value counts as near. Deliberately large: changing a step too close to a
/// singular position is worse than reducing it a little too early.
const NEAR_SHARE: f64 = 0.4;
/// Singular values are evaluated again when the relative distance has changed by this factor.
const ASKED_AGAIN: f64 = 2.0;

impl Detector {
    /// A detector from a regular pose.
    pub fn new(structure: &Structure<'_>, start: &Configuration) -> Self {
        let Structure { model, rows: set, .. } = structure;
        let generic_rank = if set.rows() <= CONFIRM { structure.driven().generic.rank } else { 0 };
        // A singular start gives no information; a fixed fraction of the largest value is then used.
        let usual = smallest_singular_value(model, set, &start.q, generic_rank).map(|s| if s < 1e-6 { 0.05 } else { s });
        Self { generic_rank, usual, asked: (1.0, false) }
    }

    /// For a checkpoint.
    pub(crate) fn save(&self) -> Value {
        json!({ "usual": self.usual, "asked": [self.asked.0, f64::from(self.asked.1)] })
    }

    /// Restores the result of [`Detector::save`].
    pub(crate) fn restore(&mut self, v: &Value) {
        if let [share, near] = numbers(&v["asked"])[..] {
            self.asked = (share, near != 0.0);
        }
        self.usual = v["usual"].as_f64();
    }

    /// Whether a pose with a small pivot is really singular; for large mechanisms the pivot is decisive.
    pub fn is_singular(&self, model: &Model, set: &ConstraintSet, q: &[Pose]) -> bool {
        match (smallest_singular_value(model, set, q, self.generic_rank), self.usual) {
            (Some(now), Some(usual)) => now < 1e-3 * usual,
            _ => true,
        }
    }

    /// Rank of the constraints, drives included, at a generic pose; unknown for large mechanisms.
    pub fn generic_rank(&self) -> Option<usize> {
        (self.generic_rank > 0).then_some(self.generic_rank)
    }

    /// Whether the constraints, drives included, leave no freedom; unknown for large mechanisms.
    pub fn is_prescribed(&self, model: &Model) -> bool {
        self.generic_rank() == Some(6 * model.moving())
    }

    /// Whether singular values confirm that a pose is regular, regardless of its pivots; they are not available for large mechanisms.
    pub fn is_regular(&self, model: &Model, set: &ConstraintSet, q: &[Pose]) -> bool {
        match (smallest_singular_value(model, set, q, self.generic_rank), self.usual) {
            (Some(now), Some(usual)) => now > NEAR_SHARE * usual,
            _ => false,
        }
    }

    /// Whether a pose is near a singular one: its relative distance is `share`, and singular values confirm it.
    pub fn is_near(&mut self, model: &Model, set: &ConstraintSet, q: &[Pose], share: f64) -> bool {
        if share > NEAR_SHARE {
            self.asked = (1.0, false);
            return false;
        }
        let (asked, near) = self.asked;
        if share * ASKED_AGAIN > asked && share < ASKED_AGAIN * asked {
            return near;
        }
        let near = match (smallest_singular_value(model, set, q, self.generic_rank), self.usual) {
            (Some(now), Some(usual)) => now < NEAR_SHARE * usual,
            _ => true,
        };
        self.asked = (share, near);
        near
    }
}
