//! Bodies with very many constraints, such as the trunk of a tree with thousands of branches.
//!
//! If such a body is eliminated first all its constraints become coupled: a dense block of the size of their number. It is therefore
//! eliminated after those of its constraints whose other bodies are connected only to it, which then never become coupled. For these
//! constraints a body that is not yet eliminated counts as fixed, and this does not make any of them dependent that were independent
//! before: rows concern relative motion, and a part connected to a single body may be described relative to it. A part that is also
//! connected to the ground or to another such body is held from two sides; its constraints are eliminated after the body like all others.

use crate::constraint::{ConstraintSet, Owner};
use crate::topology::Groups;

/// Minimum number of constraints connected only to a body for which it is treated in this way.
const MANY: usize = 64;

/// The hubs, and the constraints eliminated before them.
#[derive(Clone, Debug)]
pub(crate) struct Hubs {
    /// The bodies, ascending.
    pub bodies: Vec<usize>,
    /// By constraint, whether it belongs to a part that is connected to a single hub only.
    pub first: Vec<bool>,
}

/// Connection of a part of the mechanism.
#[derive(Clone, Copy, PartialEq)]
enum Hold {
    Nothing,
    Hub(usize),
    Several,
}

impl Hubs {
    /// The hubs of a set of constraints on `bodies` bodies.
    pub fn new(set: &ConstraintSet, bodies: usize) -> Self {
        let mut count = vec![0; bodies];
        set.blocks.iter().for_each(|b| count[b.body] += 1);
        let mut is_hub: Vec<bool> = count.iter().map(|n| *n >= MANY).collect();
        let mut first = vec![false; set.list.len()];
        while is_hub.iter().any(|h| *h) {
            hang_on_one(set, &is_hub, &mut first);
            count.fill(0);
            for c in (0..set.list.len()).filter(|&c| first[c]) {
                set.blocks_of(c).iter().for_each(|b| count[b.body] += 1);
            }
            // A body with few such parts is an ordinary body, and may belong to parts of other hubs.
            let few = |b: &usize| is_hub[*b] && count[*b] < MANY;
            let dropped: Vec<usize> = (0..bodies).filter(few).collect();
            if dropped.is_empty() {
                break;
            }
            dropped.into_iter().for_each(|b| is_hub[b] = false);
            first.fill(false);
        }
        Self { bodies: (0..bodies).filter(|&b| is_hub[b]).collect(), first }
    }

    /// Place of a body among the hubs.
    pub fn place(&self, body: usize) -> Option<usize> {
        self.bodies.binary_search(&body).ok()
    }
}

/// Marks the constraints of all parts that are connected only to a single hub.
fn hang_on_one(set: &ConstraintSet, is_hub: &[bool], first: &mut [bool]) {
    let mut parts = Groups::new(is_hub.len());
    let ordinary = |c: usize| set.blocks_of(c).iter().map(|b| b.body).filter(|b| !is_hub[*b]);
    for c in 0..set.list.len() {
        let mut members = ordinary(c);
        if let Some(one) = members.next() {
            members.for_each(|b| {
                parts.join(one, b);
            });
        }
    }
    let mut holds = vec![Hold::Nothing; is_hub.len()];
    for (c, constraint) in set.list.iter().enumerate() {
        let Some(part) = ordinary(c).next().map(|b| parts.find(b)) else { continue };
        let blocks = set.blocks_of(c);
        // User-defined rows may refer to points in the world.
        let fixed = blocks.len() < constraint.bodies.len() || matches!(constraint.owner, Owner::Bare(_) | Owner::Start(_));
        if fixed {
            holds[part] = Hold::Several;
        }
        for hub in blocks.iter().map(|b| b.body).filter(|b| is_hub[*b]) {
            holds[part] =
                if matches!(holds[part], Hold::Nothing) || holds[part] == Hold::Hub(hub) { Hold::Hub(hub) } else { Hold::Several };
        }
    }
    for (c, first) in first.iter_mut().enumerate() {
        let part = ordinary(c).next().map(|b| parts.find(b));
        *first = part.is_some_and(|p| matches!(holds[p], Hold::Hub(_))) && set.blocks_of(c).iter().any(|b| is_hub[b.body]);
    }
}
