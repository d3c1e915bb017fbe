//! The graph of bodies that share a constraint row, and separators of its parts.
//!
//! Ground is not a vertex, since it would connect everything. Rows over more than two bodies (gears) connect these to a clique. Every tie
//! is decided by the smaller body number, so that separators depend only on the mechanism.

use crate::constraint::ConstraintSet;
use fourbar_math::elementary;

/// Largest fraction of the bodies on one side after a single body is removed.
const BALANCED: f64 = 0.6;
/// The same after a level of a breadth-first search is removed.
const ACCEPTABLE: f64 = 0.7;
/// Number of levels that are tried; trying all would cost O(n^2).
const CANDIDATES: usize = 6;

/// Bodies as vertices `0..n` (body number minus one), neighbours in ascending order.
pub struct Graph {
    start: Vec<usize>,
    neighbours: Vec<usize>,
    /// Part of each vertex during a search; parts are numbered upwards.
    part: Vec<usize>,
    parts: usize,
    /// Distance from the root of the last search, valid for its visited vertices.
    level: Vec<usize>,
    parent: Vec<usize>,
    size: Vec<usize>,
    /// Largest piece below a vertex of a spanning tree.
    heaviest: Vec<usize>,
    seen: Vec<usize>,
    searches: usize,
}

impl Graph {
    /// The graph of a set of constraints over `n` moving bodies.
    pub fn new(set: &ConstraintSet, n: usize) -> Self {
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for c in 0..set.list.len() {
            let blocks = set.blocks_of(c);
            for a in blocks {
                edges.extend(blocks.iter().filter(|b| b.body != a.body).map(|b| (a.body - 1, b.body - 1)));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut start = vec![0; n + 1];
        for (a, _) in &edges {
            start[a + 1] += 1;
        }
        for k in 0..n {
            start[k + 1] += start[k];
        }
        let neighbours = edges.into_iter().map(|(_, b)| b).collect();
        let zeros = || vec![0; n];
        Self {
            start,
            neighbours,
            part: zeros(),
            parts: 0,
            level: zeros(),
            parent: zeros(),
            size: zeros(),
            heaviest: zeros(),
            seen: zeros(),
            searches: 0,
        }
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.part.len()
    }

    /// Whether there are no moving bodies.
    pub fn is_empty(&self) -> bool {
        self.part.is_empty()
    }

    /// Marks the given vertices as a new part.
    fn mark(&mut self, bodies: &[usize]) -> usize {
        self.parts += 1;
        bodies.iter().for_each(|&b| self.part[b] = self.parts);
        self.parts
    }

    /// Vertices of the part that can be reached from `root`, in breadth-first order; sets level and parent.
    fn search(&mut self, root: usize, part: usize, found: &mut Vec<usize>) {
        self.searches += 1;
        found.clear();
        found.push(root);
        self.seen[root] = self.searches;
        (self.level[root], self.parent[root]) = (0, root);
        let mut next = 0;
        while next < found.len() {
            let a = found[next];
            next += 1;
            for k in self.start[a]..self.start[a + 1] {
                let b = self.neighbours[k];
                if self.part[b] == part && self.seen[b] != self.searches {
                    self.seen[b] = self.searches;
                    (self.level[b], self.parent[b]) = (self.level[a] + 1, a);
                    found.push(b);
                }
            }
        }
    }

    /// Connected pieces of some vertices, ordered by their smallest one; each sorted.
    pub fn components(&mut self, bodies: &[usize]) -> Vec<Vec<usize>> {
        let part = self.mark(bodies);
        let mut pieces = Vec::new();
        let mut found = Vec::new();
        for &root in bodies {
            if self.part[root] == part {
                self.search(root, part, &mut found);
                found.iter().for_each(|&b| self.part[b] = 0);
                let mut piece = found.clone();
                piece.sort_unstable();
                pieces.push(piece);
            }
        }
        pieces
    }

    /// Bodies whose removal divides a connected set (sorted) into parts of about equal size, and these parts.
    pub fn separate(&mut self, bodies: &[usize]) -> (Vec<usize>, Vec<Vec<usize>>) {
        let centre = self.centroid(bodies);
        let rest = without(bodies, &[centre]);
        let pieces = self.components(&rest);
        if larger_side(&pieces) as f64 <= BALANCED * bodies.len() as f64 {
            return (vec![centre], pieces);
        }
        match self.best_level(bodies) {
            Some(level) => {
                let pieces = self.components(&without(bodies, &level));
                (level, pieces)
            }
            None => (vec![centre], pieces),
        }
    }

    /// The body whose removal minimises the largest piece of a breadth-first spanning tree.
    fn centroid(&mut self, bodies: &[usize]) -> usize {
        let part = self.mark(bodies);
        let mut found = Vec::with_capacity(bodies.len());
        self.search(bodies[0], part, &mut found);
        for &b in &found {
            (self.size[b], self.heaviest[b]) = (1, 0);
        }
        for &b in found.iter().rev() {
            let p = self.parent[b];
            if p != b {
                self.size[p] += self.size[b];
                self.heaviest[p] = self.heaviest[p].max(self.size[b]);
            }
        }
        let n = found.len();
        found.iter().copied().min_by_key(|&b| (self.heaviest[b].max(n - self.size[b]), b)).unwrap_or(bodies[0])
    }

    /// The best level of a breadth-first search from a peripheral body; `None` if no level divides well.
    fn best_level(&mut self, bodies: &[usize]) -> Option<Vec<usize>> {
        let part = self.mark(bodies);
        let mut found = Vec::with_capacity(bodies.len());
        let mut root = bodies[0];
        // Two searches, each from a farthest body, lead to the periphery.
        for _ in 0..2 {
            self.search(root, part, &mut found);
            let far = self.level[*found.last()?];
            root = found.iter().copied().filter(|&b| self.level[b] == far).min()?;
        }
        self.search(root, part, &mut found);
        let levels = self.level[*found.last()?] + 1;
        let n = bodies.len();
        // found[first[l]..first[l + 1]] is level l.
        let mut first = vec![0; levels + 1];
        found.iter().for_each(|&b| first[self.level[b] + 1] += 1);
        for l in 0..levels {
            first[l + 1] += first[l];
        }
        let mut candidates: Vec<usize> = (0..levels).filter(|&l| 4 * first[l] >= n && 4 * (n - first[l + 1]) >= n).collect();
        candidates.sort_by_key(|&l| (first[l + 1] - first[l], l));
        let mut best: Option<(f64, usize, Vec<usize>)> = None;
        for &l in candidates.iter().take(CANDIDATES) {
            // Bodies without a neighbour in the next level may stay in the lower part.
            let above = |b: usize| {
                self.neighbours[self.start[b]..self.start[b + 1]].iter().any(|&c| self.part[c] == part && self.level[c] == l + 1)
            };
            let mut cut: Vec<usize> = found[first[l]..first[l + 1]].iter().copied().filter(|&b| above(b)).collect();
            let over = n - first[l + 1];
            let big = over.max(n - over - cut.len());
            let share = big as f64 / n as f64;
            if share > ACCEPTABLE || cut.is_empty() {
                continue;
            }
            let score = elementary::powf(cut.len() as f64, 1.5) * (1.0 + 2.0 * (share - 0.5).max(0.0));
            if best.as_ref().is_none_or(|b| score < b.0 || (score == b.0 && big < b.1)) {
                cut.sort_unstable();
                best = Some((score, big, cut));
            }
        }
        best.map(|b| b.2)
    }
}

/// A sorted list without some of its entries, which are sorted too.
fn without(all: &[usize], cut: &[usize]) -> Vec<usize> {
    all.iter().copied().filter(|b| cut.binary_search(b).is_err()).collect()
}

/// The larger side when pieces, the largest first, are always added to the lighter side.
fn larger_side(pieces: &[Vec<usize>]) -> usize {
    let mut sizes: Vec<usize> = pieces.iter().map(Vec::len).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let mut sides = [0, 0];
    for s in sizes {
        let k = usize::from(sides[1] < sides[0]);
        sides[k] += s;
    }
    sides[0].max(sides[1])
}
