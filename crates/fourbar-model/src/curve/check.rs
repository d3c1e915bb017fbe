//! Checks of a curve, and of its follower.

use super::{Curve, P, Path};

/// Smallest speed of the spline by its parameter, which is usually one: below it the curve has a cusp.
pub(super) const SLOWEST: f64 = 1e-3;

/// The reason for which points do not form a curve.
#[derive(Clone, Debug, PartialEq)]
pub enum CurveError {
    /// Fewer points than a curve needs.
    TooFew {
        /// How many there are.
        given: usize,
    },
    /// Two consecutive points coincide; the number of the first, from zero.
    Repeated(usize),
    /// The curve has a cusp after a point, numbered from zero, near a position.
    Cusp {
        /// The point before.
        point: usize,
        /// Where.
        at: P,
    },
    /// It crosses itself at a position, after two of its points, numbered from zero.
    Crosses {
        /// The points before.
        points: [usize; 2],
        /// Where.
        at: P,
    },
}

/// A place where a follower does not fit a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Undercut {
    /// Arc length of the place.
    pub s: f64,
    /// The place on the curve.
    pub at: P,
    /// Radius of curvature there if it is smaller than that of the follower; `None` if the follower meets another part of the curve.
    pub radius: Option<f64>,
}

/// Rejects too few points and neighbours that coincide.
pub(super) fn points(points: &[P], closed: bool) -> Result<(), CurveError> {
    if points.len() < 3 {
        return Err(CurveError::TooFew { given: points.len() });
    }
    let size = points.iter().fold(0.0_f64, |m, p| m.max((p - points[0]).norm()));
    let n = points.len();
    let pairs = if closed { n } else { n - 1 };
    match (0..pairs).find(|&k| (points[(k + 1) % n] - points[k]).norm() <= 1e-9 * size) {
        Some(k) => Err(CurveError::Repeated(k)),
        None => Ok(()),
    }
}

impl Curve {
    /// Rejects a curve that crosses itself: the nearest point would not identify the branch.
    pub(super) fn crossing(&self) -> Result<(), CurveError> {
        let n = self.pieces.len();
        let mut found = None;
        if n > 1 {
            self.meeting(1, 1, &mut |a, b| {
                let beside = b - a == 1 || (self.closed && a == 0 && b == n - 1);
                if !beside {
                    found = self.crossed(a, b).map(|at| CurveError::Crosses { points: [self.pieces[a].span, self.pieces[b].span], at });
                }
                found.is_none()
            });
        }
        found.map_or(Ok(()), Err)
    }

    /// Where the chords of two pieces cross.
    fn crossed(&self, a: usize, b: usize) -> Option<P> {
        let ends = |k: usize| {
            let p = &self.pieces[k];
            p.x.map(|x| self.spans[p.span].at(x)[0])
        };
        let ([a0, a1], [b0, b1]) = (ends(a), ends(b));
        let (u, v, w) = (a1 - a0, b1 - b0, b0 - a0);
        let det = u.perp(&v);
        let (x, y) = (w.perp(&v) / det, w.perp(&u) / det);
        let inside = |x: f64| (0.0..=1.0).contains(&x);
        (det != 0.0 && inside(x) && inside(y)).then(|| a0 + u * x)
    }
}

impl Path {
    /// The first place at which the follower does not fit: the curvature exceeds that of the follower, or the follower touches another part
    /// of the curve.
    pub fn undercut(&self) -> Option<Undercut> {
        if self.offset == 0.0 {
            return None;
        }
        let curve = &*self.curve;
        let mut tightest: Option<(f64, Undercut)> = None;
        let mut meets = None;
        for (k, piece) in curve.pieces.iter().enumerate() {
            for j in 0..=4 {
                let x = piece.x[0] + (piece.x[1] - piece.x[0]) * 0.25 * f64::from(j);
                let c = curve.spans[piece.span].at(x)[0];
                let near = curve.see(&super::Foot { piece: k, span: piece.span, x }, &c);
                let bend = near.kappa * self.offset;
                if bend >= 1.0 && tightest.as_ref().is_none_or(|(b, _)| bend > *b) {
                    tightest = Some((bend, Undercut { s: near.s, at: c, radius: Some(1.0 / near.kappa.abs()) }));
                }
                let centre = c + near.n() * self.offset;
                let nearest = curve.near(&centre);
                if meets.is_none() && nearest.d.abs() < self.offset.abs() * (1.0 - 1e-6) {
                    meets = Some(Undercut { s: near.s, at: c, radius: None });
                }
            }
        }
        tightest.map(|(_, u)| u).or(meets)
    }
}
