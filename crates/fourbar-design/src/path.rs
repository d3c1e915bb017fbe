//! Load paths: equilibria as functions of a parameter, with turning points, by arc-length continuation.
//!
//! Unknowns are the position and the parameter. A step goes along the tangent of the path and is corrected in a plane across it, so that
//! points where the parameter turns back, and a mechanism driven by its load would snap through, are passed like any other.

use crate::equilibrium::limits::passed;
use crate::equilibrium::{Equilibrium, Kind, Leaning, Options, Problem, Rest, Stability, leaning, leans_at, settle, settle_from};
use crate::manifold::{Manifold, stepped};
use crate::operator::{fits, without_dry_friction};
use fourbar::diagnostic::number;
use fourbar::state::Configuration;
use fourbar::{Diagnostic, Error, Model};
use fourbar_math::dense;
use nalgebra::{DMatrix, DVector};

/// Maximum number of points of a path.
const POINTS: usize = 3000;
/// First, smallest and largest step in characteristic lengths and shares of the range.
const STEPS: [f64; 3] = [0.02, 1e-7, 0.05];
/// Maximum number of corrections of a step.
const CORRECTIONS: usize = 25;
/// A step whose end deviates from its tangent by this share of its length is repeated with a smaller one: it may have reached another part
/// of the path.
const ASIDE: f64 = 0.3;
/// Residual of a point as a share of the load.
const AT_REST: f64 = 1e-12;
/// An antisymmetric part of the stiffness above this share indicates a force without potential.
const CIRCULATORY: f64 = 1e-8;

/// Builds the mechanism for a value of the parameter.
pub type Builder<'a> = &'a dyn Fn(f64) -> Result<Model, Error>;

/// A point of a path.
#[derive(Clone, Debug)]
pub struct Point {
    /// Value of the parameter, SI.
    pub value: f64,
    /// The equilibrium at that value.
    pub rest: Equilibrium,
}

/// An equilibrium followed over a parameter.
#[derive(Clone, Debug, Default)]
pub struct LoadPath {
    /// Points in the order of the path.
    pub points: Vec<Point>,
    /// Points at which the parameter turns back.
    pub turning: Vec<Point>,
    /// Pairs of values between which the equilibrium changes stability without a turning point: another path crosses.
    pub crossings: Vec<[f64; 2]>,
    /// Reason for an end before the end of the range.
    pub ended: Option<Diagnostic>,
}

/// A position with a value of the parameter.
struct Node {
    value: f64,
    rest: Rest,
    H: DMatrix<f64>,
}

/// A direction of the path: motion of all bodies, and change of the parameter.
#[derive(Clone)]
struct Tangent {
    dq: DVector<f64>,
    ds: f64,
}

struct Follower<'a> {
    build: Builder<'a>,
    /// Active limits of the first equilibrium, which stay closed.
    leans: Vec<Leaning>,
    length: f64,
    range: f64,
}

impl Follower<'_> {
    /// The mechanism for a value, without dry friction, with the active limits of the first equilibrium closed.
    fn model(&self, value: f64) -> Option<Model> {
        Some(without_dry_friction(&leaning(&(self.build)(value).ok()?, &self.leans)).0)
    }

    /// The reason why a node is not an equilibrium of the mechanism with its limits: one is violated, or a closed one would have to pull.
    fn left(&self, x: &Node) -> Option<Diagnostic> {
        let model = (self.build)(x.value).ok().filter(|m| !m.limits.is_empty())?;
        let state = &x.rest.state;
        let met = passed(&model, state, state).first().map(|(k, _)| (model.limits[*k].name.clone(), "meets the limit"));
        let here = leans_at(&model, state);
        let opened = self.leans.iter().find(|l| here.iter().all(|h| h.limit != l.limit)).map(|l| (l.name.clone(), "comes off the limit"));
        let (name, how) = met.or(opened)?;
        let message = format!("the equilibrium {how} `{name}` at {} and is not followed beyond", number(x.value));
        Some(Diagnostic::new("S404", message).name(&name).help("begin another path there: `--along` from this value on"))
    }

    /// Closes the joints of the mechanism for a value, from a nearby position.
    fn node(&self, value: f64, near: &Configuration) -> Option<Node> {
        let model = self.model(value)?;
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
        let H = rest.space.reduced(&K);
        Some(Node { value, rest, H })
    }

    /// Derivative of the residual with respect to the parameter, along the free motions of a node.
    fn by_value(&self, x: &Node) -> Option<DVector<f64>> {
        let d = 1e-6 * self.range;
        let [a, b] = [-d, d].map(|d| self.node(x.value + d, &x.rest.state));
        Some(x.rest.space.N.tr_mul(&(a?.rest.tangential - b?.rest.tangential)) / (2.0 * d))
    }

    /// The bordered matrix of positions and parameter in units of lengths and of the range, with the tangent as last row.
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

    /// The tangent of the path at a node, oriented along the previous one.
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

    /// A step along the tangent with corrections across it.
    fn step(&self, x: &Node, t: &Tangent, h: f64) -> Option<Node> {
        let start = stepped(&x.rest.state, &(&t.dq * h));
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
            let from = stepped(&now.rest.state, &(&now.rest.space.N * d.rows(0, n) * self.length));
            let next = self.node(now.value + d[n] * self.range, &from)?;
            // Corrections at the level of rounding end the iteration.
            let stuck = d.norm() < 1e-13 && next.rest.g.norm() <= 1e-9 * next.rest.load;
            now = next;
            if stuck {
                return Some(now);
            }
        }
        (now.rest.g.norm() <= 1e-9 * now.rest.load).then_some(now)
    }

    /// Deviation of the end of a step from its tangent, as a share of the step; a large one indicates another part of the path.
    fn missed(&self, x: &Node, t: &Tangent, h: f64, next: &Node) -> f64 {
        let way = Manifold::between(&x.rest.state, &next.rest.state) - &t.dq * h;
        let aside = x.rest.space.components(&way).norm() / self.length;
        aside.hypot((next.value - x.value - t.ds * h) / self.range) / h
    }

    /// The turning point of the parameter within a step from a node.
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
        let model = self.model(x.value)?;
        let mut p = Problem::new(&model, &x.rest.state);
        let rest = p.rest(&x.rest.state);
        Some(Point { value: x.value, rest: p.judged(&rest, 0, "along the path") })
    }
}

/// A turning point. One motion there has zero stiffness up to rounding: the equilibrium is neutral, unless another motion is unstable.
fn turned(mut p: Point) -> Point {
    let v = &mut p.rest.verdict;
    if !v.circulatory && v.roots.is_empty() {
        let soft = v.omega2.iter().enumerate().min_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map(|(k, _)| k);
        let others = v.omega2.iter().enumerate().filter(|(k, _)| Some(*k) != soft);
        v.stability = if others.into_iter().any(|(_, w)| *w < 0.0) { Stability::Unstable } else { Stability::Neutral };
    }
    p
}

/// Whether the stiffness has become singular between two nodes, so that another path crosses. If forces have a potential, the motions with
/// negative stiffness are counted. Otherwise the symmetric part of the stiffness may become indefinite while the whole is regular, so that
/// the sign of the determinant decides.
fn crosses(a: &Node, b: &Node) -> bool {
    if a.H.is_empty() || b.H.is_empty() {
        return false;
    }
    let circulatory = |x: &Node| (&x.H - x.H.transpose()).amax() > CIRCULATORY * x.H.amax();
    if circulatory(a) || circulatory(b) {
        return reversed(&a.H) != reversed(&b.H);
    }
    let falling = |x: &Node| ((&x.H + x.H.transpose()) * 0.5).symmetric_eigenvalues().iter().filter(|w| **w < 0.0).count();
    falling(a) != falling(b)
}

/// Whether a matrix has a negative determinant.
fn reversed(H: &DMatrix<f64>) -> bool {
    let lu = H.clone().lu();
    let negative = lu.u().diagonal().iter().filter(|x| **x < 0.0).count() % 2 == 1;
    negative != (lu.p().determinant::<f64>() < 0.0)
}

/// Diagnostic for a path that ends before its range.
fn lost(value: f64) -> Diagnostic {
    Diagnostic::new("S404", format!("the equilibrium cannot be followed beyond {}", number(value))).help("the part up to there is reported")
}

/// A crossing with another path: the last node before it, the tangent there, and the step that passes it.
struct Crossing {
    before: Node,
    tangent: Tangent,
    h: f64,
}

impl Follower<'_> {
    /// Follows a path from a node until the parameter leaves a range; with `home` it may go one range beyond its beginning. Returns the
    /// crossings.
    fn walk(&self, mut x: Node, mut t: Tangent, [from, to]: [f64; 2], home: bool, path: &mut LoadPath) -> Vec<Crossing> {
        let sense = (to - from).signum();
        let mut crossings = Vec::new();
        let mut h = STEPS[0];
        while path.points.len() < POINTS {
            let beyond = |value: f64| (value - to) * sense > 0.0;
            let stepped = self.step(&x, &t, h).and_then(|next| {
                let tangent = self.tangent(&next, &t)?;
                // If the path bends too much in one step, smaller steps are taken.
                let turn = tangent.dq.dot(&t.dq) / (tangent.dq.norm() * t.dq.norm()).max(f64::MIN_POSITIVE);
                let bend = (tangent.ds - t.ds).abs() / self.range;
                if self.missed(&x, &t, h, &next) > ASIDE {
                    return None;
                }
                let straight = turn > 0.9 || tangent.dq.norm() < 1e-9 * self.length || t.dq.norm() < 1e-9 * self.length;
                (bend < 0.3 && straight).then_some((next, tangent))
            });
            let Some((next, tangent)) = stepped else {
                h *= 0.3;
                if h < STEPS[1] {
                    path.ended = Some(lost(x.value));
                    break;
                }
                continue;
            };
            if let Some(why) = self.left(&next) {
                path.ended = Some(why);
                break;
            }
            if tangent.ds * t.ds < 0.0 {
                path.turning.extend(self.turning(&x, &t, h, tangent.ds).and_then(|node| self.point(&node)).map(turned));
            } else if crosses(&x, &next) {
                path.crossings.push([x.value, next.value]);
                let before = Node { value: x.value, rest: x.rest.clone(), H: x.H.clone() };
                crossings.push(Crossing { before, tangent: t.clone(), h });
            }
            if beyond(next.value) || (!home && (next.value - from) * sense < 0.0) {
                // The last point lies at the end of the range.
                let end = if beyond(next.value) { to } else { from };
                let share = ((end - x.value) / (next.value - x.value)).clamp(0.0, 1.0);
                let guess = self.step(&x, &t, share * h).unwrap_or(next);
                let rest = (self.build)(end).ok().and_then(|m| settle_from(&m, &guess.rest.state, Kind::Any).ok());
                path.points.extend(rest.map(|rest| Point { value: end, rest }));
                break;
            }
            (x, t) = (next, tangent);
            path.points.extend(self.point(&x));
            if (x.value - from) * sense < -self.range {
                let why = "the path left the range at its beginning and was followed for another range beyond it";
                path.ended = Some(lost(x.value).help(why));
                break;
            }
            h = (1.4 * h).min(STEPS[2]);
        }
        crossings
    }

    /// The node at a crossing, by bisection.
    fn crossed(&self, c: &Crossing) -> Option<Node> {
        let (mut low, mut high) = (0.0, c.h);
        let mut found = None;
        for _ in 0..48 {
            let middle = 0.5 * (low + high);
            let node = self.step(&c.before, &c.tangent, middle)?;
            if crosses(&c.before, &node) {
                high = middle
            } else {
                low = middle
            }
            found = Some(node);
        }
        found
    }

    /// A node on the crossing path, to one side of the node at the crossing, and the direction of continuation.
    fn beside(&self, at: &Node, sign: f64) -> Option<(Node, Tangent)> {
        let svd = dense::svd(at.H.clone(), false, true)?;
        let softest = svd.singular_values.imin();
        let mut w = &at.rest.space.N * svd.v_t?.row(softest).transpose();
        w *= self.length / w.norm().max(f64::MIN_POSITIVE);
        // The positive sense must not depend on the sign of an eigenvector: the largest component increases.
        let most = w.iter().fold(0.0_f64, |m, x| if x.abs() > m.abs() { *x } else { m });
        w *= sign * most.signum();
        let across = Tangent { dq: w, ds: 0.0 };
        let node = self.step(at, &across, STEPS[0])?;
        let t = self.tangent(&node, &across)?;
        Some((node, t))
    }
}

/// Follows the equilibrium at the first value of a range until the parameter reaches the last one.
pub fn follow(build: Builder<'_>, ends: [f64; 2], options: &Options) -> Result<LoadPath, Error> {
    followed(build, ends, options).map(|(_, path, _)| path)
}

fn followed<'b>(build: Builder<'b>, [from, to]: [f64; 2], options: &Options) -> Result<(Follower<'b>, LoadPath, Vec<Crossing>), Error> {
    let model = build(from)?;
    fits(&model)?;
    let first = settle(&model, options)?;
    let f = Follower { build, leans: first.leans, length: model.length, range: (to - from).abs() };
    let mut path = LoadPath::default();
    let Some(x) = f.node(from, &first.state) else { return Err(lost(from).into()) };
    path.points.extend(f.point(&x));
    let straight = Tangent { dq: DVector::zeros(6 * model.moving()), ds: (to - from).signum() };
    let Some(t) = f.tangent(&x, &straight) else { return Err(lost(from).into()) };
    let crossings = f.walk(x, t, [from, to], true, &mut path);
    Ok((f, path, crossings))
}

/// Follows the path that crosses the first one at crossing `number_of`, counted from one; negative numbers follow it to the other side.
pub fn branch(build: Builder<'_>, ends: [f64; 2], options: &Options, number_of: i32) -> Result<LoadPath, Error> {
    let (f, main, crossings) = followed(build, ends, options)?;
    let refused = |why: String| Diagnostic::new("S404", why).help("`--along` without `--branch` shows where other paths cross");
    let wanted = (number_of.unsigned_abs() as usize).checked_sub(1);
    let Some(c) = wanted.and_then(|k| crossings.get(k)) else {
        let count = fourbar::study::count(main.crossings.len(), "other path");
        return Err(refused(format!("there is no branch {number_of}: {count} crossed in this range")).into());
    };
    let none = || refused("the path that crosses there was not found: it may leave at an angle that the first step misses".into());
    let at = f.crossed(c).ok_or_else(none)?;
    let (x, t) = f.beside(&at, f64::from(number_of.signum())).ok_or_else(none)?;
    let mut path = LoadPath::default();
    path.points.extend(f.point(&at));
    path.points.extend(f.point(&x));
    f.walk(x, t, ends, false, &mut path);
    Ok(path)
}

impl LoadPath {
    /// Pieces of the path with the same stability: first and last point of each.
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
