//! How an equilibrium moves while a parameter changes: load paths with their turning points, by steps along the arc of the path.
//!
//! Unknowns are the position and the parameter. A step goes along the tangent of the path and returns across it, so that points where the
//! parameter turns back, and a mechanism driven by its load would snap through, are passed like any other.

use crate::equilibrium::{Equilibrium, Kind, Options, Problem, Rest, Stability, settle, settle_from};
use crate::operator::{fits, without_dry_friction};
use fourbar::diagnostic::number;
use fourbar::state::Configuration;
use fourbar::{Diagnostic, Error, Model};
use nalgebra::{DMatrix, DVector};

/// Points of a path, at most.
const POINTS: usize = 3000;
/// First, smallest and largest step in characteristic lengths and shares of the range.
const STEPS: [f64; 3] = [0.02, 1e-7, 0.05];
/// Corrections of a step, at most.
const CORRECTIONS: usize = 25;
/// Residual of a point as a share of the load.
const AT_REST: f64 = 1e-12;

/// Builds the mechanism for a value of the parameter.
pub type Builder<'a> = &'a dyn Fn(f64) -> Result<Model, Error>;

/// A point of a path.
#[derive(Clone, Debug)]
pub struct Point {
    /// Value of the parameter, SI.
    pub value: f64,
    /// The rest there.
    pub rest: Equilibrium,
}

/// An equilibrium followed over a parameter.
#[derive(Clone, Debug)]
pub struct LoadPath {
    /// Points in the order of the path.
    pub points: Vec<Point>,
    /// Where the parameter turns back.
    pub turning: Vec<Point>,
    /// Pairs of values between which the equilibrium becomes stable or unstable without a turn: another path crosses.
    pub crossings: Vec<[f64; 2]>,
    /// Why it ended before the end of the range.
    pub ended: Option<Diagnostic>,
}

/// A position with a value of the parameter.
struct Node {
    value: f64,
    rest: Rest,
    H: DMatrix<f64>,
}

/// A direction of the path: of all bodies, and of the parameter.
struct Tangent {
    dq: DVector<f64>,
    ds: f64,
}

struct Follower<'a> {
    build: Builder<'a>,
    length: f64,
    range: f64,
}

impl Follower<'_> {
    /// Closes the joints of the mechanism for a value, from a position near by.
    fn node(&self, value: f64, near: &Configuration) -> Option<Node> {
        let (model, _) = without_dry_friction(&(self.build)(value).ok()?);
        if model.bodies.len() != near.q.len() {
            return None;
        }
        let mut p = Problem::new(&model, near);
        let mut c = near.clone();
        let space = p.manifold.space(&c);
        if !p.manifold.close(&mut c, &space) {
            return None;
        }
        let rest = p.rest(&c);
        let K = p.stiffness(&rest);
        let H = rest.space.N.tr_mul(&(K * &rest.space.N));
        Some(Node { value, rest, H })
    }

    /// How the residual follows the parameter, along the free motions of a node.
    fn by_value(&self, x: &Node) -> Option<DVector<f64>> {
        let d = 1e-6 * self.range;
        let [a, b] = [-d, d].map(|d| self.node(x.value + d, &x.rest.state));
        Some(x.rest.space.N.tr_mul(&(a?.rest.tangential - b?.rest.tangential)) / (2.0 * d))
    }

    /// The matrix of positions and parameter in units of lengths and of the range, with a last row for the tangent.
    fn bordered(&self, x: &Node, by: &DVector<f64>, y: &DVector<f64>, s: f64) -> DMatrix<f64> {
        let n = x.H.nrows();
        let mut A = DMatrix::zeros(n + 1, n + 1);
        A.view_mut((0, 0), (n, n)).copy_from(&(&x.H * self.length));
        A.view_mut((0, n), (n, 1)).copy_from(&(by * self.range));
        for k in 0..n {
            A[(n, k)] = y[k] / self.length;
        }
        A[(n, n)] = s / self.range;
        A
    }

    /// The tangent of the path at a node, continuing a direction.
    fn tangent(&self, x: &Node, last: &Tangent) -> Option<Tangent> {
        let by = self.by_value(x)?;
        let y = x.rest.space.components(&last.dq);
        let A = self.bordered(x, &by, &y, last.ds);
        let n = x.H.nrows();
        let mut b = DVector::zeros(n + 1);
        b[n] = 1.0;
        let t = A.lu().solve(&b)?;
        let t = &t / t.norm();
        t.iter().all(|x| x.is_finite()).then(|| Tangent { dq: &x.rest.space.N * t.rows(0, n) * self.length, ds: t[n] * self.range })
    }

    /// A step along the tangent and back across it.
    fn step(&self, x: &Node, t: &Tangent, h: f64) -> Option<Node> {
        let start = crate::manifold::stepped(&x.rest.state, &(&t.dq * h));
        let mut now = self.node(x.value + h * t.ds, &start)?;
        for _ in 0..CORRECTIONS {
            if now.rest.g.norm() <= AT_REST * now.rest.load {
                return Some(now);
            }
            let by = self.by_value(&now)?;
            let y = now.rest.space.components(&t.dq);
            let n = now.H.nrows();
            let A = self.bordered(&now, &by, &y, t.ds);
            let mut b = DVector::zeros(n + 1);
            b.rows_mut(0, n).copy_from(&-&now.rest.g);
            let d = A.lu().solve(&b)?;
            if d.norm() > 0.5 || !d.norm().is_finite() {
                return None;
            }
            let from = crate::manifold::stepped(&now.rest.state, &(&now.rest.space.N * d.rows(0, n) * self.length));
            let next = self.node(now.value + d[n] * self.range, &from)?;
            // Corrections at the level of rounding end it.
            let stuck = d.norm() < 1e-13 && next.rest.g.norm() <= 1e-9 * next.rest.load;
            now = next;
            if stuck {
                return Some(now);
            }
        }
        (now.rest.g.norm() <= 1e-9 * now.rest.load).then_some(now)
    }

    /// The point where the parameter turns back, within a step from a node.
    fn turning(&self, x: &Node, t: &Tangent, h: f64, end: f64) -> Option<Node> {
        let (mut low, mut high) = ((0.0, t.ds), (h, end));
        let mut side = 0;
        let mut found = None;
        for _ in 0..60 {
            let at = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
            let node = self.step(x, t, at)?;
            let ds = self.tangent(&node, t)?.ds;
            found = Some(node);
            if ds.abs() <= 1e-9 * self.range || (high.0 - low.0).abs() <= 1e-12 * h {
                break;
            }
            if ds * low.1 > 0.0 {
                low = (at, ds);
                if side == -1 {
                    high.1 *= 0.5;
                }
                side = -1;
            } else {
                high = (at, ds);
                if side == 1 {
                    low.1 *= 0.5;
                }
                side = 1;
            }
        }
        found
    }

    fn point(&self, x: &Node) -> Option<Point> {
        let (model, _) = without_dry_friction(&(self.build)(x.value).ok()?);
        let mut p = Problem::new(&model, &x.rest.state);
        let rest = p.rest(&x.rest.state);
        Some(Point { value: x.value, rest: p.judged(&rest, 0, "along the path") })
    }
}

/// Motions with negative stiffness.
fn falling(x: &Node) -> usize {
    if x.H.is_empty() { 0 } else { ((&x.H + x.H.transpose()) * 0.5).symmetric_eigenvalues().iter().filter(|w| **w < 0.0).count() }
}

/// Follows the equilibrium of the first value of a range until the parameter reaches the last one.
pub fn follow(build: Builder<'_>, [from, to]: [f64; 2], options: &Options) -> Result<LoadPath, Error> {
    let model = build(from)?;
    fits(&model)?;
    let first = settle(&model, options)?;
    let f = Follower { build, length: model.length, range: (to - from).abs() };
    let sense = (to - from).signum();
    let lost = |value: f64| {
        Diagnostic::new("S404", format!("the equilibrium cannot be followed beyond {}", number(value)))
            .help("the part up to there is reported")
    };
    let mut path = LoadPath { points: Vec::new(), turning: Vec::new(), crossings: Vec::new(), ended: None };
    let Some(mut x) = f.node(from, &first.state) else { return Err(lost(from).into()) };
    path.points.extend(f.point(&x));
    let n = 6 * model.moving();
    let Some(mut t) = f.tangent(&x, &Tangent { dq: DVector::zeros(n), ds: sense }) else { return Err(lost(from).into()) };
    let mut h = STEPS[0];
    while path.points.len() < POINTS {
        let beyond = |value: f64| (value - to) * sense > 0.0;
        let stepped = f.step(&x, &t, h).and_then(|next| {
            let tangent = f.tangent(&next, &t)?;
            // A path that bends too much in one step is followed in smaller ones.
            let turn = tangent.dq.dot(&t.dq) / (tangent.dq.norm() * t.dq.norm()).max(f64::MIN_POSITIVE);
            let bend = (tangent.ds - t.ds).abs() / f.range;
            (bend < 0.3 && (turn > 0.9 || tangent.dq.norm() < 1e-9 * f.length || t.dq.norm() < 1e-9 * f.length)).then_some((next, tangent))
        });
        let Some((next, tangent)) = stepped else {
            h *= 0.3;
            if h < STEPS[1] {
                path.ended = Some(lost(x.value));
                break;
            }
            continue;
        };
        if tangent.ds * t.ds < 0.0 {
            path.turning.extend(f.turning(&x, &t, h, tangent.ds).and_then(|node| f.point(&node)));
        } else if falling(&next) != falling(&x) {
            path.crossings.push([x.value, next.value]);
        }
        if beyond(next.value) {
            // The last point lies at the end of the range.
            let share = ((to - x.value) / (next.value - x.value)).clamp(0.0, 1.0);
            let guess = f.step(&x, &t, share * h).unwrap_or(next);
            let end = build(to).ok().and_then(|m| settle_from(&m, &guess.rest.state, Kind::Any).ok());
            path.points.extend(end.map(|rest| Point { value: to, rest }));
            return Ok(path);
        }
        (x, t) = (next, tangent);
        path.points.extend(f.point(&x));
        if (x.value - from) * sense < -f.range {
            path.ended = Some(lost(x.value).help("the path left the range at its beginning and was followed for another range beyond it"));
            break;
        }
        h = (1.4 * h).min(STEPS[2]);
    }
    Ok(path)
}

impl LoadPath {
    /// Pieces of the path between which it changes from stable to unstable or back: first and last point of each.
    pub fn pieces(&self) -> Vec<(Stability, usize, usize)> {
        let mut list: Vec<(Stability, usize, usize)> = Vec::new();
        for (k, p) in self.points.iter().enumerate() {
            match list.last_mut() {
                Some(last) if last.0 == p.rest.stability() => last.2 = k,
                _ => list.push((p.rest.stability(), k, k)),
            }
        }
        list
    }
}
