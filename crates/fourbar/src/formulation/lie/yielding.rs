//! Compliant rows: redundant constraint rows that yield where they contradict the others, as they do slightly off the constraints.

use crate::absolute::equations::{COMPLIANCE, Equations};
use crate::analysis::rank::DENSE;
use crate::singular::regular_pivot;

/// The smallest compliance of rows that yield, as a fraction of the diagonal; the others have [`COMPLIANCE`].
const FIRMEST: f64 = 1e-4;
/// The compliance is at most this fraction of the smallest pivot of the other rows.
const SOFTER: f64 = 0.25;
/// A dependent row whose pivot is larger than this many compliances depends on others with large coefficients: it has only a small part in
/// its self-stress, and without it the remaining rows would constrain a direction poorly.
const SMALL_PART: f64 = 30.0;
/// Another row of the self-stress yields instead if its part is larger by this factor.
const LARGER: f64 = 3.0;

/// Compliance of redundant constraint rows in the stages.
pub struct Yielding {
    /// The uniform compliance of all rows, which gives reactions of minimum norm.
    pub even: Vec<f64>,
    /// Which rows yield.
    pub rows: Vec<bool>,
    /// These rows, and the ones kept stiff in their place, whose pivots reflect their dependence and not their stiffness.
    dependent: Vec<bool>,
    /// Whether the motion is determined without them.
    spare: bool,
    /// The smallest pivot of the others at the end of the last step.
    pub weakest: f64,
    /// The compliance of yielding rows in the present step, as a fraction of the diagonal.
    pub share: f64,
}

impl Yielding {
    /// Chooses the rows at the pose of the Jacobian in `e`; `rank` is the rank of the constraints at a generic pose, if known. Overwrites
    /// the factor.
    pub fn new(e: &mut Equations<'_>, rank: Option<usize>) -> Self {
        let (even, factorisations) = (e.eps.clone(), e.factorisations);
        let rows = rows(e, &even);
        let dependent = rows.iter().zip(&e.permanent).map(|(y, p)| *y || *p).collect();
        // At a singular start, rows that the motion needs appear to be redundant.
        let holding = rows.iter().filter(|yields| !**yields).count();
        let spare = rank.is_some_and(|r| holding >= r);
        let mut made = Self { even, rows, dependent, spare, weakest: 1.0, share: if spare { 1.0 } else { FIRMEST } };
        if made.rows.contains(&true) {
            made.write(&mut e.eps);
            e.factor(1.0);
            e.factorisations = factorisations;
            made.look(e);
            made.choose();
            made.write(&mut e.eps);
        }
        made
    }

    /// Reads the smallest pivot from the factor of a stage.
    pub fn look(&mut self, e: &Equations<'_>) {
        self.weakest = regular_pivot(e.p.schur.pivots(), &self.dependent).0;
    }

    /// Chooses the compliance of the stages. At a distance `d` off the constraints, a row of compliance `c` that contradicts the others
    /// introduces a force `d^2 / c` along the motion, an error that does not occur without this row; where the others come near a singular
    /// position the row has to replace them. Its compliance therefore follows the smallest pivot of the others, and stays far enough below
    /// it that a few terms, always equally many, compensate for its effect on them: a number of terms that depends on the pose would make
    /// the accelerations discontinuous.
    pub fn choose(&mut self) {
        self.share = if self.spare { (SOFTER * self.weakest).clamp(FIRMEST, 1.0) } else { FIRMEST };
    }

    /// Sets the compliance of the stages.
    pub fn write(&self, eps: &mut [f64]) {
        let share = self.share / COMPLIANCE;
        for ((e, even), yields) in eps.iter_mut().zip(&self.even).zip(&self.rows) {
            *e = if *yields { share * even } else { *even };
        }
    }
}

/// The rows that yield. Overwrites compliance and factor.
fn rows(e: &mut Equations<'_>, even: &[f64]) -> Vec<bool> {
    let mut yields = e.permanent.clone();
    // One factorisation for each of them: large mechanisms keep the rows with small pivots.
    let asked = even.len() <= DENSE;
    let small: Vec<usize> = (0..even.len()).filter(|&r| asked && yields[r] && e.p.schur.pivots()[r] > SMALL_PART * COMPLIANCE).collect();
    let set = |eps: &mut [f64], yields: &[bool]| {
        for ((e, even), yields) in eps.iter_mut().zip(even).zip(yields) {
            *e = if *yields { FIRMEST / COMPLIANCE * even } else { *even };
        }
    };
    for r in small {
        // The self-stress that contains this row and no other yielding row: the result of applying two filters to the row.
        yields[r] = false;
        set(&mut e.eps, &yields);
        e.factor(1.0);
        e.p.x.fill(0.0);
        e.p.x[r] = 1.0;
        for _ in 0..2 {
            e.p.x.iter_mut().zip(&e.eps).for_each(|(x, e)| *x *= e);
            e.p.schur.solve(&mut e.p.x);
        }
        let part = |k: &usize| e.p.x[*k].abs() * even[*k].sqrt();
        let most = (0..even.len()).filter(|&k| !yields[k]).max_by(|a, b| part(a).total_cmp(&part(b)));
        yields[most.filter(|k| part(k) > LARGER * part(&r)).unwrap_or(r)] = true;
    }
    yields
}
