//! Which rows of redundant constraints give way where they contradict the others, as they do a little off the constraints.

use crate::absolute::equations::{COMPLIANCE, Equations};
use crate::analysis::rank::DENSE;
use crate::singular::regular_pivot;

/// Rows that yield do so by this share of the diagonal at least; others by [`COMPLIANCE`].
const FIRMEST: f64 = 1e-4;
/// And by this share of how firmly the weakest of the others holds, at most.
const SOFTER: f64 = 0.25;
/// A dependent row whose pivot is larger than this many compliances depends on others by large numbers: it has but a small part in its
/// self-stress, and those that stay would hold a direction badly without it.
const SMALL_PART: f64 = 30.0;
/// Another row of the self-stress yields instead where its part is larger by this factor.
const LARGER: f64 = 3.0;

/// Rows of redundant constraints in the stages.
pub struct Yielding {
    /// The compliance of all rows alike, which gives reactions of minimum norm.
    pub even: Vec<f64>,
    /// Which rows yield.
    pub rows: Vec<bool>,
    /// Those, and the ones that hold in their place, whose pivots show their dependence and not how firmly they hold.
    dependent: Vec<bool>,
    /// Whether the motion can do without them.
    spare: bool,
    /// How firmly the others hold, by the end of the last step.
    pub weakest: f64,
    /// The share of the diagonal by which rows yield in the present step.
    pub share: f64,
}

impl Yielding {
    /// Chooses the rows at the pose of the Jacobian in `e`; `rank` is that of the constraints at a generic pose, where it is known. Overwrites
    /// the factor.
    pub fn new(e: &mut Equations<'_>, rank: Option<usize>) -> Self {
        let (even, factorisations) = (e.eps.clone(), e.factorisations);
        let rows = rows(e, &even);
        let dependent = rows.iter().zip(&e.permanent).map(|(y, p)| *y || *p).collect();
        // A start that is singular takes rows for redundant that the motion needs.
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

    /// Takes note of the factor of a stage.
    pub fn look(&mut self, e: &Equations<'_>) {
        self.weakest = regular_pivot(e.p.schur.pivots(), &self.dependent).0;
    }

    /// Chooses the compliance of the stages. Off the constraints by `d`, a row of compliance `c` that contradicts the others pulls along
    /// the motion with `d^2 / c`, an error that the same mechanism without this row does not have; where the others come near a singular
    /// position it has to hold in their place. So its compliance follows the weakest of them, and stays far enough below that what it takes
    /// from them is given back in a few terms, always equally many: a number of terms that depends on the pose is a jump of the accelerations.
    pub fn choose(&mut self) {
        self.share = if self.spare { (SOFTER * self.weakest).clamp(FIRMEST, 1.0) } else { FIRMEST };
    }

    /// Writes the compliance of the stages.
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
    // A factorisation for each of them: large mechanisms keep the rows that the pivots show.
    let asked = even.len() <= DENSE;
    let small: Vec<usize> = (0..even.len()).filter(|&r| asked && yields[r] && e.p.schur.pivots()[r] > SMALL_PART * COMPLIANCE).collect();
    let set = |eps: &mut [f64], yields: &[bool]| {
        for ((e, even), yields) in eps.iter_mut().zip(even).zip(yields) {
            *e = if *yields { FIRMEST / COMPLIANCE * even } else { *even };
        }
    };
    for r in small {
        // The self-stress that has this row and none of the others that yield: what is left of the row after two filters.
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
