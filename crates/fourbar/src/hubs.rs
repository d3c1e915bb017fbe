//! Bodies with very many constraints, as the trunk of a tree with thousands of branches.
//!
//! With such a body eliminated first all its constraints meet each other: a dense block as large as they are many. It is eliminated after
//! those of its constraints whose other bodies hang on it alone, which then never meet. To these constraints a body that is not yet
//! eliminated is one that stands still, and that makes none of them depend on others that did not before: rows say how bodies move against
//! each other, and what hangs on one body alone may be watched from there. A part that also hangs on the ground or on another such body is
//! held from two sides; its constraints wait for the body like all others.

use crate::constraint::{ConstraintSet, Owner};
use crate::topology::Groups;

/// A body is treated so from this many constraints on that hang on it alone.
const MANY: usize = 64;

/// The bodies, and which constraints go before them.
#[derive(Clone, Debug)]
pub(crate) struct Hubs {
    /// The bodies, ascending.
    pub bodies: Vec<usize>,
    /// By constraint, whether it belongs to a part that hangs on one of these bodies alone.
    pub first: Vec<bool>,
}

/// What a part of the mechanism hangs on.
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
            // One that has few such parts is a body like any other, and may join those of others.
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

    /// Where a body stands among the hubs.
    pub fn place(&self, body: usize) -> Option<usize> {
        self.bodies.binary_search(&body).ok()
    }
}

/// Marks the constraints of all parts that hang on one hub and nothing else.
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
        // Rows of the author may speak of places in the world.
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
