//! Which part is brought in next: the one with most known items and joints to finished parts, the first of these in the file. Counts are
//! updated as items become known, so that all choices together take a time proportional to the mechanism.

use super::layout::Layout;
use crate::model::Model;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A part whose axes are known already lacks only its position: that counts as much as this number of vectors.
const FRAMED: usize = 4;

/// Known items of each part.
pub(super) struct Queue {
    /// Items that were counted.
    counted: Vec<bool>,
    /// Known points and joints to finished parts, by part.
    known: Vec<usize>,
    /// Known vectors by group, and whether its axes are known.
    vectors: Vec<usize>,
    framed: Vec<bool>,
    /// Parts at the other end of each part's joints.
    joined: Vec<Vec<usize>>,
    done: Vec<bool>,
    /// Scores and parts; outdated entries are skipped.
    heap: BinaryHeap<(usize, Reverse<usize>)>,
}

impl Queue {
    pub fn new(model: &Model, layout: &Layout) -> Self {
        let parts = layout.parts.len();
        let mut joined = vec![Vec::new(); parts];
        for j in model.joints.iter().filter(|j| !j.open) {
            let [a, b] = j.bodies.map(|b| layout.part_of[b.index()]);
            joined[a].push(b);
            joined[b].push(a);
        }
        // Coils are never brought in.
        let done = (0..parts).map(|p| layout.coil(p).is_some()).collect();
        Self {
            counted: vec![false; layout.items.len()],
            known: vec![0; parts],
            vectors: vec![0; layout.groups],
            framed: vec![false; layout.groups],
            joined,
            done,
            heap: (1..parts).map(|p| (0, Reverse(p))).collect(),
        }
    }

    fn score(&self, layout: &Layout, part: usize) -> usize {
        let g = layout.parts[part].group;
        self.known[part] + if self.framed[g] { FRAMED } else { self.vectors[g] }
    }

    fn refresh(&mut self, layout: &Layout, part: usize) {
        if !self.done[part] {
            self.heap.push((self.score(layout, part), Reverse(part)));
        }
    }

    /// Counts an item that has become known.
    pub fn count(&mut self, layout: &Layout, item: usize) {
        if std::mem::replace(&mut self.counted[item], true) {
            return;
        }
        let point = layout.items[item].point;
        for &(place, _) in &layout.items[item].on {
            if point {
                self.known[place] += 1;
                self.refresh(layout, place);
            } else {
                self.vectors[place] += 1;
                layout.parts_of[place].iter().for_each(|&p| self.refresh(layout, p));
            }
        }
    }

    /// Counts the joints of a part that is finished now.
    pub fn finish(&mut self, layout: &Layout, part: usize) {
        self.done[part] = true;
        for other in std::mem::take(&mut self.joined[part]) {
            self.known[other] += 1;
            self.refresh(layout, other);
        }
        let g = layout.parts[part].group;
        if !std::mem::replace(&mut self.framed[g], true) {
            layout.parts_of[g].iter().for_each(|&p| self.refresh(layout, p));
        }
    }

    /// The next part.
    pub fn next(&mut self, layout: &Layout) -> Option<usize> {
        while let Some((score, Reverse(part))) = self.heap.pop() {
            if !self.done[part] && score == self.score(layout, part) {
                return Some(part);
            }
        }
        None
    }
}
