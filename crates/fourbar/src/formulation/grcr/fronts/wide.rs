//! Wide trees without loops: independent limbs are processed in parallel, inward and outward.
//!
//! Nodes are numbered depth first, so that a limb is a range of nodes and of columns, and uses parts of the common lists that no other limb
//! uses. The limbs depend only on the tree, and their contributions are added in the order of a single thread: the results are bitwise the
//! same for any number of threads, and the same as those of the recursion without limbs.

use super::{Fronts, Run, eliminate_plain};
use crate::formulation::grcr::articulated::{self, Articulated, Column};
use crate::formulation::grcr::hinge::Body;
use crate::formulation::grcr::schedule::{Role, Schedule};
use crate::formulation::grcr::spatial::Six;
use crate::formulation::grcr::tree::Tree;
use std::ops::Range;

/// Smaller trees are finished before other threads have started.
const FEWEST: usize = 1024;
/// Reciprocal of the largest fraction of all nodes in one limb.
const PARTS: usize = 16;
/// Limbs with at most this many nodes together form one task.
const TASK: usize = 256;

/// A subtree that is processed separately.
#[derive(Clone, Debug)]
pub(super) struct Limb {
    pub nodes: Range<usize>,
    columns: Range<usize>,
    runs: Range<usize>,
    /// Acceleration of its parent node. Written outward.
    base: Six,
}

/// Items of the list of nodes near the ground, in the order of the nodes.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Run(usize),
    Limb(usize),
}

/// Nodes of the limbs of a tree; none where it is small or narrow.
pub(super) fn ranges(tree: &Tree) -> Vec<Range<usize>> {
    let n = tree.nodes.len();
    if n < FEWEST {
        return Vec::new();
    }
    let mut size = vec![1; n];
    let mut end: Vec<usize> = (1..=n).collect();
    for k in (1..n).rev() {
        let p = tree.nodes[k].parent;
        size[p] += size[k];
        end[p] = end[p].max(end[k]);
    }
    let most = n / PARTS;
    let (mut list, mut inside, mut k) = (Vec::new(), 0, 1);
    while k < n {
        if size[k] > most {
            k += 1;
            continue;
        }
        if end[k] - k != size[k] {
            return Vec::new();
        }
        list.push(k..end[k]);
        inside += size[k];
        k = end[k];
    }
    if list.len() < 2 || 2 * inside < n { Vec::new() } else { list }
}

/// Limbs and the steps between them, once the runs are known.
pub(super) fn lay_out(tree: &Tree, runs: &[Run], ranges: Vec<Range<usize>>) -> (Vec<Limb>, Vec<Step>) {
    let (mut limbs, mut steps, mut i) = (Vec::with_capacity(ranges.len()), Vec::new(), 0);
    let column = |k: usize| if k < tree.nodes.len() { tree.nodes[k].u } else { tree.speeds };
    for nodes in ranges {
        while runs[i].nodes.start < nodes.start {
            steps.push(Step::Run(i));
            i += 1;
        }
        let first = i;
        while i < runs.len() && runs[i].nodes.start < nodes.end {
            i += 1;
        }
        steps.push(Step::Limb(limbs.len()));
        limbs.push(Limb { columns: column(nodes.start)..column(nodes.end), nodes, runs: first..i, base: Six::default() });
    }
    steps.extend((i..runs.len()).map(Step::Run));
    (limbs, steps)
}

/// Two tasks, at the same time if threads are available.
fn both<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    #[cfg(feature = "parallel")]
    return rayon::join(a, b);
    #[cfg(not(feature = "parallel"))]
    return (a(), b());
}

/// Where a list of limbs is divided into two tasks; `None` if it is a single task.
fn middle(limbs: &[Limb]) -> Option<usize> {
    let all: usize = limbs.iter().map(|l| l.nodes.len()).sum();
    if limbs.len() < 2 || all <= TASK {
        return None;
    }
    let mut sum = 0;
    let at = limbs.iter().position(|l| {
        sum += l.nodes.len();
        2 * sum >= all
    });
    Some(at.unwrap_or(0).clamp(1, limbs.len() - 1))
}

/// Data read by all tasks.
struct Shared<'a> {
    tree: &'a Tree,
    roles: &'a [Role],
    runs: &'a [Run],
    collects: &'a [bool],
    bodies: &'a [Body],
}

/// Data written by an inward task: parts of lists that start at a node and a column.
struct Inward<'a> {
    node: usize,
    column: usize,
    collected: &'a mut [(Articulated, Six)],
    columns: &'a mut [Column],
}

/// Contribution of a node to the preceding one.
struct Carried {
    value: (Articulated, Six),
    to: usize,
}

impl Carried {
    const fn nothing(value: (Articulated, Six)) -> Self {
        Self { value, to: usize::MAX }
    }
}

impl Shared<'_> {
    /// One run inward; its contribution goes to the parent, or stays with its node if that is the root of a limb.
    fn inward(&self, i: usize, root: usize, w: &mut Inward<'_>, carried: &mut Carried) -> Option<usize> {
        let Run { nodes, hinges } = self.runs[i].clone();
        let (k, last) = (nodes.start, nodes.end - 1);
        let (mut I, mut f) = if carried.to == last { carried.value } else { Default::default() };
        if self.collects[last] {
            let (I_c, f_c) = std::mem::take(&mut w.collected[last - w.node]);
            I.add(&I_c);
            f += f_c;
        }
        let link = &self.tree.links[k];
        let first = link.u as usize;
        let weightless = if hinges {
            let columns = first..first + nodes.len();
            let out = &mut w.columns[columns.start - w.column..columns.end - w.column];
            articulated::inward(&mut I, &mut f, &self.bodies[nodes], &self.tree.S[columns], out).map(|c| first + c)
        } else {
            let out = &mut w.columns[first - w.column..first - w.column + link.speeds as usize];
            eliminate_plain(k, self.tree, self.roles, &self.bodies[k], &mut I, &mut f, out)
        };
        if link.shift {
            let d = self.tree.offset(k);
            I = I.shifted(&d);
            f = f.wrench_at(&-d);
        }
        if k == root {
            w.collected[k - w.node] = (I, f);
        } else {
            self.hand_on(k, I, f, w, carried);
        }
        weightless
    }

    fn hand_on(&self, k: usize, I: Articulated, f: Six, w: &mut Inward<'_>, carried: &mut Carried) {
        let parent = self.tree.links[k].parent as usize;
        if parent != 0 && parent + 1 == k {
            *carried = Carried { value: (I, f), to: parent };
        } else if parent != 0 {
            let (I_p, f_p) = &mut w.collected[parent - w.node];
            I_p.add(&I);
            *f_p += f;
        }
    }

    fn limbs_inward(&self, limbs: &[Limb], mut w: Inward<'_>) -> Option<usize> {
        let Some(at) = middle(limbs) else {
            let mut found = None;
            for limb in limbs {
                let mut carried = Carried::nothing(Default::default());
                for i in limb.runs.clone().rev() {
                    found = first_of(found, self.inward(i, limb.nodes.start, &mut w, &mut carried));
                }
            }
            return found;
        };
        let (node, column) = (limbs[at].nodes.start, limbs[at].columns.start);
        let (c1, c2) = w.collected.split_at_mut(node - w.node);
        let (d1, d2) = w.columns.split_at_mut(column - w.column);
        let left = Inward { node: w.node, column: w.column, collected: c1, columns: d1 };
        let right = Inward { node, column, collected: c2, columns: d2 };
        let (a, b) = both(|| self.limbs_inward(&limbs[..at], left), || self.limbs_inward(&limbs[at..], right));
        first_of(a, b)
    }
}

/// The lower of two optional columns.
fn first_of(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    [a, b].into_iter().flatten().min()
}

/// Data written by an outward task.
struct Outward<'a> {
    node: usize,
    column: usize,
    a_hat: &'a mut [Six],
    udot: &'a mut [f64],
    effort: &'a mut [f64],
}

/// One run outward, from the acceleration of its parent.
fn outward(tree: &Tree, roles: &[Role], run: &Run, done: &[Column], base: &Six, w: &mut Outward<'_>) {
    let k = run.nodes.start;
    let link = &tree.links[k];
    let mut x = tree.from_parent(k, base);
    let first = link.u as usize;
    if run.hinges {
        let columns = first..first + run.nodes.len();
        let here = columns.start - w.column..columns.end - w.column;
        let nodes = k - w.node..run.nodes.end - w.node;
        articulated::outward(x, &done[columns.clone()], &tree.S[columns], &mut w.udot[here], &mut w.a_hat[nodes]);
        return;
    }
    for c in first..first + link.speeds as usize {
        let column = &done[c];
        let rest = column.phi - column.U.dot(&x);
        if roles[c] == Role::Prescribed {
            w.effort[c - w.column] = -rest;
        } else {
            let rate = rest * column.inverse;
            w.udot[c - w.column] = rate;
            x += tree.S[c] * rate;
        }
    }
    w.a_hat[k - w.node] = x;
}

fn limbs_outward(tree: &Tree, roles: &[Role], runs: &[Run], done: &[Column], limbs: &[Limb], mut w: Outward<'_>) {
    let Some(at) = middle(limbs) else {
        for limb in limbs {
            for run in &runs[limb.runs.clone()] {
                let k = run.nodes.start;
                let base = if k == limb.nodes.start { limb.base } else { w.a_hat[tree.links[k].parent as usize - w.node] };
                outward(tree, roles, run, done, &base, &mut w);
            }
        }
        return;
    };
    let (node, column) = (limbs[at].nodes.start, limbs[at].columns.start);
    let (a1, a2) = w.a_hat.split_at_mut(node - w.node);
    let (u1, u2) = w.udot.split_at_mut(column - w.column);
    let (e1, e2) = w.effort.split_at_mut(column - w.column);
    let left = Outward { node: w.node, column: w.column, a_hat: a1, udot: u1, effort: e1 };
    let right = Outward { node, column, a_hat: a2, udot: u2, effort: e2 };
    both(|| limbs_outward(tree, roles, runs, done, &limbs[..at], left), || limbs_outward(tree, roles, runs, done, &limbs[at..], right));
}

impl Fronts {
    /// Inward over limbs and then over the nodes near the ground.
    pub(super) fn inward_wide(&mut self, tree: &Tree, schedule: &Schedule) {
        let Self { limbs, steps, runs, bodies, collected, columns, collects, .. } = self;
        let shared = Shared { tree, roles: &schedule.roles, runs, collects, bodies };
        let found = shared.limbs_inward(limbs, Inward { node: 0, column: 0, collected, columns });
        let mut w = Inward { node: 0, column: 0, collected, columns };
        let mut carried = Carried::nothing(Default::default());
        self.weightless = steps.iter().rev().fold(found, |found, step| match step {
            Step::Run(i) => first_of(found, shared.inward(*i, usize::MAX, &mut w, &mut carried)),
            Step::Limb(l) => {
                let k = limbs[*l].nodes.start;
                let (I, f) = std::mem::take(&mut w.collected[k]);
                shared.hand_on(k, I, f, &mut w, &mut carried);
                found
            }
        });
    }

    /// Outward over the nodes near the ground, and then over limbs.
    pub(super) fn outward_wide(&mut self, tree: &Tree, schedule: &Schedule, udot: &mut [f64]) {
        let Self { limbs, steps, runs, columns, a_hat, effort, .. } = self;
        for step in steps.iter() {
            match step {
                Step::Run(i) => {
                    let base = a_hat[tree.links[runs[*i].nodes.start].parent as usize];
                    let mut w = Outward { node: 0, column: 0, a_hat, udot, effort };
                    outward(tree, &schedule.roles, &runs[*i], columns, &base, &mut w);
                }
                Step::Limb(l) => limbs[*l].base = a_hat[tree.links[limbs[*l].nodes.start].parent as usize],
            }
        }
        limbs_outward(tree, &schedule.roles, runs, columns, limbs, Outward { node: 0, column: 0, a_hat, udot, effort });
    }

    /// Number of limbs that are processed separately.
    pub fn limbs(&self) -> usize {
        self.limbs.len()
    }

    /// Processes all nodes in sequence, regardless of the tree.
    pub fn one_by_one(&mut self) {
        self.limbs.clear();
        self.steps.clear();
    }
}
