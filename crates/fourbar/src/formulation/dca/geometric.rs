//! Redundancy that depends on the geometry.

use crate::analysis::rank::rank;
use crate::constraint::ConstraintSet;
use crate::model::Model;
use crate::random::Random;
use crate::state::{Configuration, Twist};
use crate::topology::Topology;

/// Up to this many rows, redundancy that depends on the geometry is searched for.
pub const ROWS: usize = 300;

/// Whether rows are redundant only on the constraints: their rank is higher at a pose nearby. Drives are omitted: they may remove all
/// freedoms, and then the rank is higher nowhere. In planar mechanisms drift stays in the plane, and so does the examined pose. `None` if
/// the mechanism is too large for the check.
pub fn geometric(model: &Model, start: &Configuration) -> Option<bool> {
    let mut list = model.constraints(false);
    list.extend(model.velocity_constraints());
    let set = &ConstraintSet::new(list, |_| false);
    if set.rows() > ROWS {
        return None;
    }
    let here = rank(model, set, &start.q);
    if here.redundant() == 0 {
        return Some(false);
    }
    let mut random = Random(0x5eed_0dca);
    let mut beside = start.q.clone();
    let normal = Topology::new(model).planar;
    for q in &mut beside[1..] {
        let mut d = Twist { v: random.vector() * (1e-3 * model.length), w: random.vector() * 1e-3 };
        if let Some(n) = normal {
            d.v -= n * n.dot(&d.v);
            let axis = q.A.tr_mul(&n);
            d.w = axis * axis.dot(&d.w);
        }
        *q = q.moved(&d);
    }
    Some(rank(model, set, &beside).rank > here.rank)
}
