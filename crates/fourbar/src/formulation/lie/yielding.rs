//! Which rows of redundant constraints give way where they contradict the others, as they do a little off the constraints.

use crate::analysis::rank::DENSE;
use crate::formulation::ra::{COMPLIANCE, Equations};

/// Rows that are redundant at the start yield by this much more than others in the stages: at a pose slightly off the
/// constraints they contradict the others, and with the same compliance the multipliers would fight that out.
const YIELDING: f64 = 1e5;
/// A dependent row whose pivot is larger than this many compliances depends on others by large numbers: it has but a small part in its
/// self-stress, and those that stay would hold a direction badly without it.
const SMALL_PART: f64 = 30.0;
/// Another row of the self-stress yields instead where its part is larger by this factor.
const LARGER: f64 = 3.0;

/// Raises the compliance of the rows that yield, and tells which they are. Overwrites the factor.
pub fn raise(e: &mut Equations<'_>) -> Vec<bool> {
    let (even, factorisations) = (e.eps.clone(), e.factorisations);
    let mut yields = e.permanent.clone();
    // A factorisation for each of them: large mechanisms keep the rows that the pivots show.
    let asked = even.len() <= DENSE;
    let small: Vec<usize> = (0..even.len()).filter(|&r| asked && yields[r] && e.schur.pivots()[r] > SMALL_PART * COMPLIANCE).collect();
    let set = |eps: &mut [f64], yields: &[bool]| {
        for ((e, even), yields) in eps.iter_mut().zip(&even).zip(yields) {
            *e = if *yields { YIELDING * even } else { *even };
        }
    };
    for r in small {
        // The self-stress that has this row and none of the others that yield: what is left of the row after two filters.
        yields[r] = false;
        set(&mut e.eps, &yields);
        e.factor(1.0);
        e.x.fill(0.0);
        e.x[r] = 1.0;
        for _ in 0..2 {
            e.x.iter_mut().zip(&e.eps).for_each(|(x, e)| *x *= e);
            e.schur.solve(&mut e.x);
        }
        let part = |k: &usize| e.x[*k].abs() * even[*k].sqrt();
        let most = (0..even.len()).filter(|&k| !yields[k]).max_by(|a, b| part(a).total_cmp(&part(b)));
        yields[most.filter(|k| part(k) > LARGER * part(&r)).unwrap_or(r)] = true;
    }
    set(&mut e.eps, &yields);
    e.factorisations = factorisations;
    yields
}
