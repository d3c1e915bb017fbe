//! Derivatives of the motion of a tree, up to eight side by side: exact, along the steps of the motion itself.

use super::around::Around;
use super::lanes::Tangents;
use super::state::Tangent;
use crate::tree::linear::Changes;
use crate::tree::{Jet, Moved, Rates, Tree};
use fourbar::force::eval::{Given, Plain};
use fourbar::integrator::control::next_end;
use fourbar::integrator::first_order::Tableau;
use fourbar::state::{Configuration, Pose, Twist, Wrench};
use fourbar::study::Study;
use fourbar::{Error, Model, stop};
use fourbar_math::Scalar;
use nalgebra::{DVector, Vector3};

/// Error of a step, in characteristic lengths.
const TOLERANCE: f64 = 1e-13;

/// A state of a run with its derivatives with respect to the parameters.
pub(super) struct Sample {
    pub state: Configuration,
    pub tangents: Vec<Tangent>,
}

/// Forces that differ in perturbed mechanisms: in their own data, which may matter only at some times and places, or through the elements
/// they act on, tested at random states and times of a run. If counted angles are coordinates of the state, forces that read them do not
/// depend on the frames of their joints.
pub(super) fn changed_forces(model: &Model, around: &[&Model], start: &Configuration, t_end: f64, counted: bool) -> Vec<usize> {
    if model.forces.is_empty() {
        return Vec::new();
    }
    let differs = |k: usize| around.iter().any(|m| m.forces[k].1 != model.forces[k].1);
    let mut changed: Vec<bool> = (0..model.forces.len()).map(differs).collect();
    for seed in 1..5 {
        let mut random = fourbar::random::Random(0x9e37_79b9_7f4a_7c15 ^ seed);
        let mut state = start.clone();
        for b in 1..state.q.len() {
            let mut three = |size: f64| Vector3::from_fn(|_, _| size * random.number());
            let d = Twist { v: three(0.2 * model.length), w: three(0.5) };
            state.q[b] = state.q[b].moved(&d);
            state.v[b] = Twist { v: three(model.length), w: three(1.0) };
        }
        let held: Vec<(f64, f64)> = state.turns.iter().map(|_| (0.7 * random.number(), random.number())).collect();
        // The first at the start, the others later in the run.
        let t = if seed == 1 { start.t } else { start.t + (t_end - start.t) * (0.5 + 0.5 * random.number()) };
        let plain = Plain { t, q: &state.q, v: &state.v, turns: &state.turns, loads: &[], z: &[] };
        let x = Given { plain, load: Some(0.0), counted: counted.then_some(&held[..]) };
        let wrench = |m: &Model, k: usize| {
            let mut list: Vec<(usize, Wrench)> = Vec::new();
            m.forces[k].1.wrench(m, &x, &mut |b, F, T| list.push((b, Wrench { F, T })));
            list
        };
        for (k, c) in changed.iter_mut().enumerate() {
            let own = wrench(model, k);
            *c |= around.iter().any(|m| wrench(m, k) != own);
        }
    }
    (0..changed.len()).filter(|&k| changed[k]).collect()
}

/// The method of a run: fixed steps if the study requests them, otherwise automatic steps.
fn method(study: &Study) -> Option<(&'static Tableau, Option<f64>)> {
    match (study.step, study.integrator.as_deref()) {
        (Some(h), Some(name)) => Tableau::named(name).map(|t| (t, Some(h))),
        (None, None | Some("dop853")) => Tableau::named("dop853").map(|t| (t, None)),
        _ => None,
    }
}

/// Derivatives of the data and the start of a tree with respect to a parameter; `None` if perturbed mechanisms are different trees.
pub(super) fn slopes(tree: &Tree, around: &Around, of: &dyn Fn(&Model) -> Option<Tree>) -> Option<Slopes> {
    let mut out = Slopes { numbers: vec![0.0; tree.numbers.len()], start: vec![0.0; tree.start.len()] };
    for (_, weight, m) in around.each() {
        let other = of(m)?;
        if !tree.fits(&other) {
            return None;
        }
        // Differences to the unchanged value: identical values give exactly zero.
        let add = |sum: &mut [f64], x: &[f64], own: &[f64]| sum.iter_mut().zip(x).zip(own).for_each(|((s, x), o)| *s += weight * (x - o));
        add(&mut out.numbers, &other.numbers, &tree.numbers);
        add(&mut out.start, &other.start, &tree.start);
    }
    Some(out)
}

/// Derivatives of the data and the start of a tree with respect to a parameter.
pub(super) struct Slopes {
    pub numbers: Vec<f64>,
    pub start: Vec<f64>,
}

/// Computes the start of a mechanism.
pub(super) type Begin<'a> = dyn Fn(&Model) -> Result<Configuration, Error> + 'a;

/// A tree and the method of its motion.
pub(super) struct Way<'a> {
    pub tree: Tree,
    pub model: &'a Model,
    pub start: &'a Configuration,
    pub study: &'a Study,
    pub tableau: &'static Tableau,
    step: Option<f64>,
    /// Step ends required in addition to output times.
    ends: Vec<f64>,
}

/// The motion at the output times with its derivatives; `None` if the mechanism is not a tree, or the motion cannot be followed.
pub(super) fn samples(model: &Model, around: &[Around], start: &Configuration, study: &Study, begin: &Begin<'_>) -> Option<Vec<Sample>> {
    let way = Way::new(model, start, study)?;
    let follow = around.iter().map(|a| slopes(&way.tree, a, &|m| Tree::new(m, &begin(m).ok()?))).collect::<Option<Vec<Slopes>>>()?;
    let forces: Vec<Vec<usize>> =
        around.iter().map(|a| changed_forces(model, &a.models.iter().collect::<Vec<_>>(), start, study.t_end, true)).collect();
    let all = Several { way: &way, around, slopes: &follow, forces: &forces };
    let mut list: Vec<Sample> = Vec::new();
    let mut from = 0;
    while from < around.len() {
        let (part, size) = match around.len() - from {
            1 => (all.chunk::<1>(from)?, 1),
            2 => (all.chunk::<2>(from)?, 2),
            3 | 4 => (all.chunk::<4>(from)?, 4),
            _ => (all.chunk::<8>(from)?, 8),
        };
        if list.is_empty() {
            list = part;
        } else {
            list.iter_mut().zip(part).for_each(|(a, b)| a.tangents.extend(b.tangents));
        }
        from += size;
    }
    Some(list)
}

impl<'a> Way<'a> {
    /// A mechanism from a start; `None` if it is not a tree, or the method is not supported.
    pub fn new(model: &'a Model, start: &'a Configuration, study: &'a Study) -> Option<Self> {
        let (tableau, step) = method(study)?;
        Some(Self { tree: Tree::new(model, start)?, model, start, study, tableau, step, ends: model.time_marks(study.t_end) })
    }

    /// Integrates to an output time; `false` on failure.
    pub fn advance<T: Scalar, R: Rates<T>>(&self, moved: &mut Moved<T, R>, t: f64) -> bool {
        let ok = match self.step {
            Some(h) if t > moved.t => {
                let steps = ((t - moved.t) / h - 1e-9).ceil().max(1.0);
                moved.fixed((t - moved.t) / steps, steps as usize);
                true
            }
            _ => loop {
                let end = next_end(&self.ends, moved.t, t);
                if !moved.to(end, TOLERANCE * self.model.length) {
                    break false;
                }
                if end >= t {
                    break true;
                }
            },
        };
        ok && !stop::told() && moved.y.iter().all(|x| x.value().is_finite())
    }
}

/// A tree with parameters.
struct Several<'a> {
    way: &'a Way<'a>,
    around: &'a [Around],
    slopes: &'a [Slopes],
    forces: &'a [Vec<usize>],
}

impl Several<'_> {
    /// The whole motion with derivatives with respect to up to `N` parameters, starting at index `from`.
    fn chunk<const N: usize>(&self, from: usize) -> Option<Vec<Sample>> {
        let Way { tree, model, start, study, tableau, .. } = self.way;
        let count = N.min(self.around.len() - from);
        let changes = Changes::new(tree.nodes.len(), (0..count).map(|k| tree.changes(&self.slopes[from + k].numbers)));
        let slope = |i: usize, lane: usize| if lane < count { self.slopes[from + lane].start[i] } else { 0.0 };
        let jet = |(i, x): (usize, &f64)| Jet { x: *x, d: std::array::from_fn(|lane| slope(i, lane)) };
        let first: Vec<Jet<N>> = tree.start.iter().enumerate().map(jet).collect();
        let data = (0..count).filter(|j| !self.forces[from + j].is_empty());
        let data = data.map(|j| (j, &self.around[from + j], &self.forces[from + j][..])).collect();
        let rates = Tangents::new(tree, model, changes, data);
        let mut moved = Moved::new(tree, rates, &first, tableau, start.t, model.length);
        let mut list = Vec::new();
        for t in study.output_times() {
            if !self.way.advance(&mut moved, t) {
                return None;
            }
            list.push(self.sample(&mut moved, t, count));
        }
        Some(list)
    }

    fn sample<const N: usize>(&self, moved: &mut Moved<Jet<N>, Tangents<'_, N>>, t: f64, count: usize) -> Sample {
        let (tree, start) = (&self.way.tree, self.way.start);
        let (q, u) = moved.y.split_at(tree.size);
        moved.rates.place(q, u);
        let n = start.q.len();
        let mut state = Configuration { t, ..start.clone() };
        let none = || DVector::zeros(6 * (n - 1));
        let mut tangents: Vec<Tangent> = (0..count).map(|_| Tangent { q: none(), v: none() }).collect();
        for b in 1..n {
            let (q, v) = moved.rates.state(b);
            let A = q.A.map(|x| x.x);
            state.q[b] = Pose { r: q.r.map(|x| x.x), A };
            state.v[b] = Twist { v: v.v.map(|x| x.x), w: v.w.map(|x| x.x) };
            for (j, x) in tangents.iter_mut().enumerate() {
                // A' = A tilde(theta).
                let W = A.tr_mul(&q.A.map(|x| x.d[j]));
                let turn = Vector3::new(W.m32 - W.m23, W.m13 - W.m31, W.m21 - W.m12) * 0.5;
                let at = 6 * (b - 1);
                x.q.fixed_rows_mut::<3>(at).copy_from(&q.r.map(|x| x.d[j]));
                x.q.fixed_rows_mut::<3>(at + 3).copy_from(&turn);
                x.v.fixed_rows_mut::<3>(at).copy_from(&v.v.map(|x| x.d[j]));
                x.v.fixed_rows_mut::<3>(at + 3).copy_from(&v.w.map(|x| x.d[j]));
            }
        }
        for (turn, c) in state.turns.iter_mut().zip(&tree.counted) {
            *turn = moved.y[*c].x;
        }
        Sample { state, tangents }
    }
}
