//! The binary tree of sub-assemblies: nested dissection by bodies, built once, the same for the same mechanism.
//!
//! A node joins its two children at the bodies it owns and eliminates these; relations remain among its boundary, the bodies in rows from
//! outside. Two boundary bodies are the two handles of [Malczyk12, Eqs. (15)-(16)], one is the carrier of a reduced loop [Malczyk12, Eq.
//! (86)], none is the whole mechanism. The mechanism is cut through bodies, not through joints as in the paper: the fronts are narrower (18
//! instead of 24 wide in chains) and the results the same.
//!
//! Nodes are stored in post-order, so that the nodes, bodies and constraints of a subtree are contiguous ranges.

use super::graph::Graph;
use crate::constraint::{Constraint, ConstraintSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No node.
pub const NONE: usize = usize::MAX;

/// A sub-assembly.
#[derive(Clone, Debug)]
pub struct Node {
    /// The sub-assemblies it joins; [`NONE`] for a missing one.
    pub children: [usize; 2],
    /// First node of its subtree; itself the last.
    pub first: usize,
    /// Bodies it eliminates, as places in [`Tree::order`].
    pub own: std::ops::Range<usize>,
    /// Constraints it adds, as places in [`Tree::constraints`].
    pub constraints: std::ops::Range<usize>,
    /// Bodies that remain, as places in [`Tree::order`], ascending; all belong to nodes above.
    pub boundary: Vec<usize>,
    /// Number of levels from the leaves up to this one.
    pub levels: usize,
}

/// The tree.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Nodes in post-order; the last is the root.
    pub nodes: Vec<Node>,
    /// Bodies in the order in which they are eliminated.
    pub order: Vec<usize>,
    /// Place of each body in `order`; none for ground.
    pub place: Vec<usize>,
    /// Numbers of the constraints in the order of the nodes.
    pub constraints: Vec<usize>,
}

/// A node before numbering.
struct Branch {
    own: Vec<usize>,
    children: Vec<Branch>,
    bodies: usize,
    smallest: usize,
}

fn build(graph: &mut Graph, bodies: Vec<usize>) -> Branch {
    if let [one] = bodies[..] {
        return Branch { own: bodies, children: Vec::new(), bodies: 1, smallest: one };
    }
    let (own, pieces) = graph.separate(&bodies);
    let branches = pieces.into_iter().map(|p| build(graph, p)).collect();
    join(branches, own)
}

/// Joins branches two by two, the smallest first; the last node owns the given bodies.
fn join(branches: Vec<Branch>, own: Vec<usize>) -> Branch {
    let mut store: Vec<Option<Branch>> = branches.into_iter().map(Some).collect();
    let mut heap: BinaryHeap<Reverse<(usize, usize, usize)>> =
        store.iter().enumerate().flat_map(|(k, b)| b.as_ref().map(|b| Reverse((b.bodies, b.smallest, k)))).collect();
    let with = |own: Vec<usize>, children: Vec<Branch>| {
        let bodies = own.len() + children.iter().map(|c| c.bodies).sum::<usize>();
        let smallest = own.iter().copied().chain(children.iter().map(|c| c.smallest)).min().unwrap_or(0);
        Branch { own, children, bodies, smallest }
    };
    let limit = if own.is_empty() { 1 } else { 2 };
    while heap.len() > limit {
        let mut pair: Vec<Branch> = Vec::with_capacity(2);
        for _ in 0..2 {
            if let Some(Reverse((_, _, k))) = heap.pop() {
                pair.extend(store[k].take());
            }
        }
        pair.sort_by_key(|b| b.smallest);
        let joined = with(Vec::new(), pair);
        heap.push(Reverse((joined.bodies, joined.smallest, store.len())));
        store.push(Some(joined));
    }
    let mut left: Vec<Branch> = store.into_iter().flatten().collect();
    left.sort_by_key(|b| b.smallest);
    match (own.is_empty(), left.len()) {
        (true, 1) => left.remove(0),
        _ => with(own, left),
    }
}

impl Tree {
    /// The tree of `n` moving bodies under constraints.
    pub fn new(set: &ConstraintSet, n: usize) -> Self {
        let mut graph = Graph::new(set, n);
        let all: Vec<usize> = (0..n).collect();
        let pieces = graph.components(&all);
        let branches = pieces.into_iter().map(|p| build(&mut graph, p)).collect();
        let root = join(branches, Vec::new());
        let mut tree = Self { nodes: Vec::new(), order: Vec::with_capacity(n), place: vec![NONE; n + 1], constraints: Vec::new() };
        tree.number(&root);
        tree.place_constraints(set);
        tree
    }

    fn number(&mut self, b: &Branch) -> usize {
        let first = self.nodes.len();
        let mut children = [NONE; 2];
        for (k, c) in b.children.iter().enumerate() {
            children[k] = self.number(c);
        }
        let start = self.order.len();
        for &v in &b.own {
            self.place[v + 1] = self.order.len();
            self.order.push(v + 1);
        }
        let levels = 1 + children.iter().filter(|&&c| c != NONE).map(|&c| self.nodes[c].levels).max().unwrap_or(0);
        self.nodes.push(Node { children, first, own: start..self.order.len(), constraints: 0..0, boundary: Vec::new(), levels });
        self.nodes.len() - 1
    }

    /// Assigns every constraint to the deepest node that owns one of its bodies, and finds the boundaries.
    fn place_constraints(&mut self, set: &ConstraintSet) {
        let mut node_of = vec![0; self.order.len()];
        for (k, node) in self.nodes.iter().enumerate() {
            node.own.clone().for_each(|p| node_of[p] = k);
        }
        // All bodies of a row lie on one path to the root: the deepest node is the first in post-order. A row between fixed bodies is
        // assigned to the root.
        let home = |c: usize| set.blocks_of(c).iter().map(|b| node_of[self.place[b.body]]).min().unwrap_or(self.nodes.len() - 1);
        let mut keyed: Vec<(usize, usize)> = (0..set.list.len()).map(|c| (home(c), c)).collect();
        keyed.sort_unstable();
        let mut next = 0;
        for k in 0..self.nodes.len() {
            let start = next;
            let mut reach: Vec<usize> = Vec::new();
            while next < keyed.len() && keyed[next].0 == k {
                reach.extend(set.blocks_of(keyed[next].1).iter().map(|b| self.place[b.body]));
                next += 1;
            }
            for c in self.nodes[k].children.into_iter().filter(|&c| c != NONE) {
                reach.extend_from_slice(&self.nodes[c].boundary);
            }
            let own = self.nodes[k].own.clone();
            reach.retain(|p| !own.contains(p));
            reach.sort_unstable();
            reach.dedup();
            debug_assert!(reach.iter().all(|&p| p >= own.end), "a boundary body belongs to a node above");
            self.nodes[k].constraints = start..next;
            self.nodes[k].boundary = reach;
        }
        self.constraints = keyed.into_iter().map(|(_, c)| c).collect();
    }

    /// Number of levels from the root to the deepest leaf.
    pub fn levels(&self) -> usize {
        self.nodes.last().map_or(0, |n| n.levels)
    }

    /// Bodies of the widest front.
    pub fn widest(&self) -> usize {
        self.nodes.iter().map(|n| n.own.len() + n.boundary.len()).max().unwrap_or(0)
    }

    /// The remaining relations of a node, in the terms of the paper.
    pub fn boundary_case(&self, k: usize) -> &'static str {
        match (self.nodes[k].boundary.len(), k + 1 == self.nodes.len()) {
            (0, true) => "root",
            (0, false) => "no handle",
            (1, _) => "one handle",
            (2, _) => "two handles",
            _ => "more than two handles",
        }
    }

    /// The tree as indented text, a line per node: bodies eliminated, bodies that remain, constraints added.
    pub fn drawing(&self, list: &[Constraint], body: impl Fn(usize) -> String) -> String {
        let mut out = String::new();
        if !self.nodes.is_empty() {
            self.draw(self.nodes.len() - 1, 0, list, &body, &mut out);
        }
        out
    }

    fn draw(&self, k: usize, depth: usize, list: &[Constraint], body: &impl Fn(usize) -> String, out: &mut String) {
        let node = &self.nodes[k];
        let names = |places: &mut dyn Iterator<Item = usize>| places.map(|p| body(self.order[p])).collect::<Vec<_>>().join(", ");
        let own = names(&mut node.own.clone());
        let rest = names(&mut node.boundary.iter().copied());
        let rows: Vec<&str> = self.constraints[node.constraints.clone()].iter().map(|&c| list[c].name.as_str()).collect();
        let part = |what: &str, x: &str| if x.is_empty() { String::new() } else { format!("  {what} {x}") };
        let line = format!(
            "{} ({}){}{}",
            if own.is_empty() { "join".into() } else { own },
            self.boundary_case(k),
            part("| keeps", &rest),
            part("| rows of", &rows.join(", "))
        );
        out.push_str(&format!("{}{line}\n", "    ".repeat(depth)));
        for c in node.children.into_iter().filter(|&c| c != NONE) {
            self.draw(c, depth + 1, list, body, out);
        }
    }
}
