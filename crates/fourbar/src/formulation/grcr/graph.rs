//! Spanning trees of the joint graph.
//!
//! Any spanning tree is correct; they differ in cost, because the base body of every loop is carried along the loop. Depth-first growth
//! closes loops on ancestors; visiting first the neighbour with the shortest path back to visited bodies keeps them short. A few trees are
//! grown here, and the one with the lowest static count is used.

use super::joint::Kind;
use crate::model::Model;
use std::collections::VecDeque;

/// Search radius for the path back, in joints.
const RADIUS: usize = 16;

/// A tree as a list in the order of growth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Body, its parent body, and the joint between them; `None` for a free body without a joint.
    pub steps: Vec<(usize, usize, Option<usize>)>,
}

impl Growth {
    /// The same tree with some bodies on separate free joints, attached to the ground or to their previous parents; `None` if there is no
    /// change.
    pub fn with_free(&self, free: &[bool], on_ground: bool) -> Option<Self> {
        if !self.steps.iter().any(|(b, _, joint)| joint.is_some() && free[*b]) {
            return None;
        }
        let steps = self
            .steps
            .iter()
            .map(|&(b, on, joint)| if free[b] { (b, if on_ground { 0 } else { on }, None) } else { (b, on, joint) })
            .collect();
        Some(Self { steps })
    }
}

/// An edge from one of its bodies: the other body and the joint.
type Edge = (usize, usize);

/// The joint graph.
pub struct Graph {
    edges: Vec<Vec<Edge>>,
    /// Joints that are preferred in the tree: driven, geared, with a torque or friction, or fixed.
    pub wanted: Vec<bool>,
    joints: Vec<Option<[usize; 2]>>,
}

impl Graph {
    /// The graph of a model's joints that can appear in a tree.
    pub fn new(model: &Model) -> Self {
        let mut edges = vec![Vec::new(); model.bodies.len()];
        let mut wanted = vec![false; model.joints.len()];
        let mut joints = vec![None; model.joints.len()];
        for (k, j) in model.joints.iter().enumerate().filter(|(_, j)| !j.open) {
            let Some(kind) = Kind::of(&j.kind) else { continue };
            let [a, b] = j.bodies.map(|b| b.index());
            edges[a].push((b, k));
            edges[b].push((a, k));
            joints[k] = Some([a, b]);
            wanted[k] = kind.speeds() == 0;
        }
        for d in &model.drives {
            wanted[d.joint] = true;
        }
        for c in &model.couplings {
            wanted[c.joints[0]] = true;
            wanted[c.joints[1]] = true;
        }
        for (_, f) in &model.forces {
            f.touches().joint.into_iter().for_each(|joint| wanted[joint] = true);
        }
        Self { edges, wanted, joints }
    }

    /// Whether the joints have no loop, so that there is only one tree.
    pub fn is_forest(&self) -> bool {
        let mut set = Sets::new(self.edges.len());
        self.joints.iter().flatten().all(|[a, b]| set.join(*a, *b))
    }

    /// Trees to be compared.
    pub fn candidates(&self) -> Vec<Growth> {
        if self.is_forest() {
            return vec![self.depth_first(false, |_| true)];
        }
        let kept = self.keeping(|k| self.wanted[k]);
        let mut list = vec![
            self.depth_first(true, |_| true),
            self.depth_first(false, |_| true),
            self.depth_first(false, |k| kept[k]),
            self.breadth_first(),
        ];
        list.dedup();
        list
    }

    /// A tree that omits as few joints as possible other than those that may be omitted.
    pub fn cutting(&self, may: &[bool]) -> Growth {
        let kept = self.keeping(|k| !may[k]);
        self.depth_first(false, |k| kept[k])
    }

    /// Joints of a tree that omits as few of the given joints as possible.
    fn keeping(&self, first: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut set = Sets::new(self.edges.len());
        let mut kept = vec![false; self.joints.len()];
        for pass in [true, false] {
            for (k, ends) in self.joints.iter().enumerate() {
                if let Some([a, b]) = ends
                    && first(k) == pass
                    && set.join(*a, *b)
                {
                    kept[k] = true;
                }
            }
        }
        kept
    }

    fn depth_first(&self, short: bool, allowed: impl Fn(usize) -> bool) -> Growth {
        let n = self.edges.len();
        let mut visited = vec![false; n];
        let mut next = vec![0; n];
        let mut search = Search { seen: vec![0; n], round: 0, queue: VecDeque::new() };
        let mut steps = Vec::with_capacity(n.saturating_sub(1));
        for root in 0..n {
            if visited[root] {
                continue;
            }
            visited[root] = true;
            if root != 0 {
                steps.push((root, 0, None));
            }
            let mut path = vec![root];
            while let Some(&b) = path.last() {
                let fresh = |visited: &[bool], (other, k): Edge| !visited[other] && allowed(k);
                // File order if there is no choice; else the shortest path back.
                while next[b] < self.edges[b].len() && !fresh(&visited, self.edges[b][next[b]]) {
                    next[b] += 1;
                }
                let Some(&first) = self.edges[b].get(next[b]) else {
                    path.pop();
                    continue;
                };
                let open = self.edges[b][next[b]..].iter().filter(|e| fresh(&visited, **e)).count();
                let chosen = if short && open > 1 {
                    let rank = |e: &Edge| (self.way_back(e.0, e.1, &visited, &mut search), !self.wanted[e.1]);
                    self.edges[b][next[b]..]
                        .iter()
                        .filter(|e| fresh(&visited, **e))
                        .copied()
                        .collect::<Vec<_>>()
                        .into_iter()
                        .min_by_key(rank)
                } else {
                    Some(first)
                };
                let (other, k) = chosen.unwrap_or(first);
                visited[other] = true;
                steps.push((other, b, Some(k)));
                path.push(other);
            }
        }
        Growth { steps }
    }

    /// Joints between `from` and the visited bodies without the joint `except`, at most [`RADIUS`] + 1.
    fn way_back(&self, from: usize, except: usize, visited: &[bool], s: &mut Search) -> usize {
        s.round += 1;
        s.queue.clear();
        s.queue.push_back((from, 0));
        s.seen[from] = s.round;
        while let Some((b, depth)) = s.queue.pop_front() {
            if depth > RADIUS {
                break;
            }
            for &(other, k) in &self.edges[b] {
                if k == except {
                    continue;
                }
                if visited[other] {
                    return depth + 1;
                }
                if s.seen[other] != s.round {
                    s.seen[other] = s.round;
                    s.queue.push_back((other, depth + 1));
                }
            }
        }
        RADIUS + 2
    }

    fn breadth_first(&self) -> Growth {
        let n = self.edges.len();
        let mut visited = vec![false; n];
        let mut steps = Vec::new();
        for root in 0..n {
            if visited[root] {
                continue;
            }
            visited[root] = true;
            if root != 0 {
                steps.push((root, 0, None));
            }
            let mut queue = VecDeque::from([root]);
            while let Some(b) = queue.pop_front() {
                for &(other, k) in &self.edges[b] {
                    if !visited[other] {
                        visited[other] = true;
                        steps.push((other, b, Some(k)));
                        queue.push_back(other);
                    }
                }
            }
        }
        Growth { steps }
    }
}

struct Search {
    seen: Vec<u32>,
    round: u32,
    queue: VecDeque<(usize, usize)>,
}

/// Disjoint sets.
struct Sets {
    up: Vec<usize>,
}

impl Sets {
    fn new(n: usize) -> Self {
        Self { up: (0..n).collect() }
    }
    fn top(&mut self, mut x: usize) -> usize {
        while self.up[x] != x {
            self.up[x] = self.up[self.up[x]];
            x = self.up[x];
        }
        x
    }
    /// Joins two sets; false if they were joined already.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.top(a), self.top(b));
        self.up[a] = b;
        a != b
    }
}
