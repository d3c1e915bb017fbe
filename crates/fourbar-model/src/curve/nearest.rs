//! The nearest point of a curve, through a binary tree of boxes over its pieces.

use super::{Curve, Foot, P, Piece};

impl Curve {
    /// Computes the boxes of all pieces and of the nodes above them.
    pub(super) fn grow_boxes(&mut self) {
        let n = self.pieces.len();
        // Leaf k is node n + k; node k holds nodes 2k and 2k + 1. Node 0 is not used.
        let empty = [P::repeat(f64::INFINITY), P::repeat(f64::NEG_INFINITY)];
        self.boxes = vec![empty; 2 * n];
        for (k, p) in self.pieces.iter().enumerate() {
            let hull = self.spans[p.span].hull(p.x[0], p.x[1]);
            self.boxes[n + k] = hull.iter().fold(empty, |b, p| [b[0].inf(p), b[1].sup(p)]);
        }
        for k in (1..n).rev() {
            let (a, b) = (self.boxes[2 * k], self.boxes[2 * k + 1]);
            self.boxes[k] = [a[0].inf(&b[0]), a[1].sup(&b[1])];
        }
    }

    /// The nearest point of the curve between its ends.
    pub fn nearest_point(&self, p: &P) -> P {
        let mut best = (f64::INFINITY, Foot { piece: 0, span: 0, x: 0.0 });
        self.descend(1, p, &mut best);
        self.spans[best.1.span].at(best.1.x)[0]
    }

    /// The nearest point of the curve, its straight continuations included.
    pub(super) fn foot(&self, p: &P) -> Foot {
        let mut best = (f64::INFINITY, Foot { piece: 0, span: 0, x: 0.0 });
        self.descend(1, p, &mut best);
        if !self.closed {
            let spans = self.spans.len();
            for (span, piece, sign) in [(spans - 2, 0, -1.0), (spans - 1, self.pieces.len() - 1, 1.0)] {
                let [from, along, ..] = self.spans[span].a;
                let x = along.dot(&(p - from));
                if x * sign > 0.0 {
                    let away = (from + along * x - p).norm_squared();
                    if away < best.0 {
                        best = (away, Foot { piece, span, x });
                    }
                }
            }
        }
        best.1
    }

    fn descend(&self, node: usize, p: &P, best: &mut (f64, Foot)) {
        let n = self.pieces.len();
        if node >= n {
            return self.look(node - n, p, best);
        }
        let children = [2 * node, 2 * node + 1].map(|k| (self.away(k, p), k));
        let [near, far] = if children[1].0 < children[0].0 { [children[1], children[0]] } else { children };
        for (away, k) in [near, far] {
            if away < best.0 {
                self.descend(k, p, best);
            }
        }
    }

    /// Squared distance of a point from a box.
    fn away(&self, node: usize, p: &P) -> f64 {
        let [lo, hi] = &self.boxes[node];
        (lo - p).sup(&(p - hi)).sup(&P::zeros()).norm_squared()
    }

    /// The nearest point of a piece.
    fn look(&self, piece: usize, p: &P, best: &mut (f64, Foot)) {
        let Piece { span, x: [mut lo, mut hi], .. } = self.pieces[piece];
        let slope = |x: f64| {
            let [c, c1, c2] = self.spans[span].at(x);
            let r = c - p;
            (r.dot(&c1), c1.norm_squared() + r.dot(&c2))
        };
        let mut take = |x: f64| {
            let away = (self.spans[span].at(x)[0] - p).norm_squared();
            if away < best.0 {
                *best = (away, Foot { piece, span, x });
            }
        };
        let ends = [slope(lo).0, slope(hi).0];
        if ends[0] >= 0.0 {
            take(lo);
        }
        if ends[1] <= 0.0 {
            take(hi);
        }
        if ends[0] < 0.0 && ends[1] > 0.0 {
            let width = hi - lo;
            let mut x = 0.5 * (lo + hi);
            for _ in 0..60 {
                let (f, df) = slope(x);
                if f == 0.0 {
                    break;
                }
                if f < 0.0 {
                    lo = x
                } else {
                    hi = x
                }
                let next = x - f / df;
                let next = if df > 0.0 && next > lo && next < hi { next } else { 0.5 * (lo + hi) };
                let step = (next - x).abs();
                x = next;
                if step <= 1e-16 * width {
                    break;
                }
            }
            take(x);
        }
    }

    /// Calls `pair` with every two pieces whose boxes intersect, until it returns false.
    pub(super) fn meeting(&self, a: usize, b: usize, pair: &mut impl FnMut(usize, usize) -> bool) -> bool {
        let n = self.pieces.len();
        let [p, q] = [self.boxes[a], self.boxes[b]];
        if p[0].x > q[1].x || q[0].x > p[1].x || p[0].y > q[1].y || q[0].y > p[1].y {
            return true;
        }
        match (a >= n, b >= n) {
            (true, true) => a >= b || pair(a - n, b - n),
            (false, _) if a == b => {
                self.meeting(2 * a, 2 * a, pair) && self.meeting(2 * a + 1, 2 * a + 1, pair) && self.meeting(2 * a, 2 * a + 1, pair)
            }
            (false, _) => self.meeting(2 * a, b, pair) && self.meeting(2 * a + 1, b, pair),
            (true, false) => self.meeting(a, 2 * b, pair) && self.meeting(a, 2 * b + 1, pair),
        }
    }
}
