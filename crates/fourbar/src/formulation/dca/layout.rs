//! Storage layout of the numbers of every node: offsets into flat arrays, the places of bodies in fronts, and the division into tasks.
//!
//! All arrays follow the post-order of the tree or the opposite order, so that a subtree's part of each is one slice, and two subtrees can
//! be processed at the same time without locks. The remaining blocks of fronts are passed to their parents on a stack whose size is fixed
//! here; only where two tasks divide do they have separate storage.

use super::kernel;
use super::tree::{NONE, Tree};
use crate::constraint::ConstraintSet;

/// Two children become two tasks if the smaller one has at least this many bodies.
pub const TASK: usize = 128;

/// A node of the tree with the places of its numbers.
#[derive(Clone, Debug)]
pub struct Front {
    /// The fronts it joins; [`NONE`] for a missing one.
    pub children: [usize; 2],
    /// First front of its subtree.
    pub first: usize,
    /// Number of bodies it eliminates.
    pub e: usize,
    /// Number of bodies that remain.
    pub b: usize,
    /// First constraint, and one past its last.
    pub constraints: [usize; 2],
    /// First place of its blocks in [`Layout::block_slots`].
    pub blocks: usize,
    /// First of its places in the parent's front in [`Layout::slots`].
    pub slots: usize,
    /// The front above; [`NONE`] for the root.
    pub parent: usize,
    /// Position of its remaining block on the stack.
    pub stack: usize,
    /// Bodies of its subtree.
    pub bodies: usize,
    /// Whether its children are two tasks.
    pub divides: bool,
    /// Whether some front of its subtree divides.
    pub divided: bool,
    /// Whether its elimination is itself divided.
    pub large: bool,
    /// Number of levels from the leaves up to this one.
    pub levels: usize,
}

/// Starts of one front's parts in the flat arrays; the next front's starts are its ends. Panels and Jacobian, the bulk of the numbers, are
/// stored in the opposite order: the next front's entry is the start, its own entry the end. Every pass down reads them first, from the
/// last front to the first, and memory access is fastest in ascending order.
#[derive(Clone, Copy, Debug, Default)]
pub struct At {
    /// Columns to eliminate; its end.
    pub panel: usize,
    /// Right-hand side.
    pub f: usize,
    /// Bodies of the front, for the accumulated diagonals.
    pub scale: usize,
    /// Rows.
    pub row: usize,
    /// Jacobian; its end.
    pub value: usize,
    /// Own bodies.
    pub body: usize,
}

/// Places of all numbers for `B` coordinates per body.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Fronts in post-order.
    pub fronts: Vec<Front>,
    /// Starts per front, and the ends of the last.
    pub at: Vec<At>,
    /// Places of remaining bodies in the parents' fronts.
    pub slots: Vec<u32>,
    /// Place of every Jacobian block's body in the front of its constraint.
    pub block_slots: Vec<u32>,
    /// Rows and blocks of every constraint.
    pub elements: Vec<[u8; 2]>,
    /// Size of the stack.
    pub stack: usize,
    /// Whether any front divides into tasks, or its elimination is divided.
    pub divides: bool,
}

impl Layout {
    /// Lays out a tree; `set` holds the constraints in the tree's order.
    pub fn new<const B: usize>(tree: &Tree, set: &ConstraintSet, task: usize) -> Self {
        let mut fronts: Vec<Front> = Vec::with_capacity(tree.nodes.len());
        let mut at = vec![At::default()];
        let (mut slots, mut block_slots) = (Vec::new(), Vec::new());
        let mut bodies: Vec<usize> = Vec::with_capacity(tree.nodes.len());
        // Place of a body in a front: own bodies first, then the remaining ones, both ascending.
        let place = |k: usize, p: usize| {
            let n = &tree.nodes[k];
            if n.own.contains(&p) { p - n.own.start } else { n.own.len() + n.boundary.partition_point(|&x| x < p) }
        };
        for (k, n) in tree.nodes.iter().enumerate() {
            let (e, b) = (n.own.len(), n.boundary.len());
            let [l, r] = n.children;
            let count = [l, r].map(|c| if c == NONE { 0 } else { bodies[c] });
            bodies.push(e + count[0] + count[1]);
            let divides = count[0].min(count[1]) >= task;
            let divided = divides || n.children.iter().any(|&c| c != NONE && fronts[c].divided);
            for c in n.constraints.clone() {
                block_slots.extend(set.blocks_of(c).iter().map(|x| place(k, tree.place[x.body]) as u32));
            }
            let constraints = [n.constraints.start, n.constraints.end];
            fronts.push(Front {
                children: n.children,
                first: n.first,
                e,
                b,
                constraints,
                blocks: set.block_start[n.constraints.start],
                slots: 0,
                parent: NONE,
                stack: 0,
                bodies: bodies[k],
                divides,
                divided,
                large: kernel::divides::<B>(e, b),
                levels: n.levels,
            });
            let last = at[k];
            let rows = |c: usize| set.row_start[c];
            let values: usize = n.constraints.clone().map(|c| set.blocks_of(c).len() * (rows(c + 1) - rows(c)) * B).sum();
            at.push(At {
                panel: last.panel + B * e * B * (e + b),
                f: last.f + B * (e + b),
                scale: last.scale + e + b,
                row: rows(n.constraints.end),
                value: last.value + values,
                body: last.body + e,
            });
        }
        // Up to here these two are counted from the first front.
        let [panels, values] = at.last().map_or([0; 2], |a| [a.panel, a.value]);
        at.iter_mut().for_each(|a| (a.panel, a.value) = (panels - a.panel, values - a.value));
        for (k, n) in tree.nodes.iter().enumerate() {
            for c in n.children.into_iter().filter(|&c| c != NONE) {
                fronts[c].slots = slots.len();
                fronts[c].parent = k;
                slots.extend(tree.nodes[c].boundary.iter().map(|&p| place(k, p) as u32));
            }
        }
        let divides = fronts.iter().any(|f| f.divides || f.large);
        let elements =
            (0..set.list.len()).map(|c| [(set.row_start[c + 1] - set.row_start[c]) as u8, set.blocks_of(c).len() as u8]).collect();
        let mut layout = Self { fronts, at, slots, block_slots, elements, stack: 0, divides };
        layout.place_on_stack::<B>();
        layout
    }

    /// Size of the remaining block of a front on the stack.
    pub fn left<const B: usize>(&self, k: usize) -> usize {
        (B * self.fronts[k].b).pow(2)
    }

    fn place_on_stack<const B: usize>(&mut self) {
        // Space that each subtree needs: its result, then that of its children, one after the other unless they divide.
        let mut need = vec![0; self.fronts.len()];
        for k in 0..self.fronts.len() {
            let [l, r] = self.fronts[k].children;
            let own = self.left::<B>(k);
            need[k] = own
                + match (l, r) {
                    (NONE, _) => 0,
                    (l, NONE) => need[l],
                    (l, r) if self.fronts[k].divides => need[l] + need[r],
                    (l, r) => need[l].max(self.left::<B>(l) + need[r]),
                };
        }
        for k in (0..self.fronts.len()).rev() {
            let [l, r] = self.fronts[k].children;
            let below = self.fronts[k].stack + self.left::<B>(k);
            if l != NONE {
                self.fronts[l].stack = below;
                if r != NONE {
                    self.fronts[r].stack = below + if self.fronts[k].divides { need[l] } else { self.left::<B>(l) };
                }
            }
        }
        self.stack = need.last().copied().unwrap_or(0);
    }

    /// Multiply-adds of one factorisation with the penalty terms, the part of them that remains sequential if the elimination of the front
    /// is divided, and multiply-adds of one solve.
    pub fn flops<const B: usize>(&self, set: &ConstraintSet, k: usize) -> [f64; 3] {
        let f = &self.fronts[k];
        let (e, n) = (B * f.e, B * (f.e + f.b));
        let [factor, path] = kernel::flops::<B>(f.e, f.b);
        let penalty: usize = (f.constraints[0]..f.constraints[1])
            .map(|c| {
                let (m, b) = (set.row_start[c + 1] - set.row_start[c], set.blocks_of(c).len());
                m * B * B * b * (b + 1) / 2
            })
            .sum();
        let solve: usize = (0..e).map(|j| 2 * (n - j)).sum();
        [(factor + penalty) as f64, (if f.large { path } else { factor } + penalty) as f64, solve as f64]
    }

    /// Passes down and up of a typical acceleration solve, for operation counts.
    pub const ROUNDS: usize = 4;

    /// Multiply-adds of one acceleration with its factorisation: of all fronts, and along the heaviest path from a leaf to the root with an
    /// unlimited number of processors.
    pub fn critical_path<const B: usize>(&self, set: &ConstraintSet) -> [f64; 2] {
        let mut path = vec![0.0_f64; self.fronts.len()];
        let mut all = 0.0;
        for (k, front) in self.fronts.iter().enumerate() {
            let [factor, last, solve] = self.flops::<B>(set, k);
            let rounds = Self::ROUNDS as f64 * solve;
            all += factor + rounds;
            let below = front.children.iter().filter(|&&c| c != NONE).map(|&c| path[c]).fold(0.0, f64::max);
            path[k] = last + rounds + below;
        }
        [all, path.last().copied().unwrap_or(0.0)]
    }
}
