//! Derivatives of the motion of a tree by numbers that carry eight of them: exact, along the steps of the motion itself.

use super::around::Around;
use super::state::Tangent;
use crate::tree::kernel::Kernel;
use crate::tree::{Force, Jet, Moved, Seen, Tree};
use fourbar::coordinate::PoseOf;
use fourbar::evaluate::stacked;
use fourbar::force::eval::{Plain, States, VelocityOf};
use fourbar::integrator::first_order::Tableau;
use fourbar::state::{Configuration, Pose, Twist};
use fourbar::study::Study;
use fourbar::{Error, Model};
use fourbar_math::Scalar;
use nalgebra::{DVector, Matrix3, Vector3};

/// Error of a step, in characteristic lengths.
const TOLERANCE: f64 = 1e-13;

/// A state on the way with how it follows the parameters.
pub(super) struct Sample {
    pub state: Configuration,
    pub tangents: Vec<Tangent>,
}

/// Forces of a mechanism and of those around it whose forces have other data.
struct Loads<'a, const N: usize> {
    model: &'a Model,
    /// Slots of derivatives and the mechanisms around.
    around: Vec<(usize, &'a Around)>,
    poses: Vec<Pose>,
    velocities: Vec<Twist>,
    counted: Vec<(f64, f64)>,
    /// Forces and torques on bodies, in world axes. Written by `load`.
    list: Vec<(usize, [Jet<N>; 3], [Jet<N>; 3])>,
}

/// A plain state whose counted angles are coordinates, as they are where numbers carry derivatives: forces that read them do not see where
/// the frames of a joint are drawn.
struct Held<'a> {
    plain: Plain<'a>,
    counted: &'a [(f64, f64)],
}

impl States<f64> for Held<'_> {
    fn time(&self) -> f64 {
        self.plain.t
    }
    fn pose(&self, b: usize) -> PoseOf<f64> {
        self.plain.pose(b)
    }
    fn velocity(&self, b: usize) -> VelocityOf<f64> {
        self.plain.velocity(b)
    }
    fn turn(&self, memory: usize) -> f64 {
        self.counted[memory].0
    }
    fn load(&self, _joint: usize) -> f64 {
        0.0
    }
    fn auxiliary(&self, _k: usize) -> f64 {
        0.0
    }
    fn counted(&self, memory: usize) -> Option<(f64, f64)> {
        Some(self.counted[memory])
    }
}

fn matrix<const N: usize>(A: &[Jet<N>; 9]) -> Matrix3<f64> {
    Matrix3::from_row_slice(&A.map(|x| x.x))
}

impl<const N: usize> Force<Jet<N>> for Loads<'_, N> {
    fn load(&mut self, t: f64, q: &[Jet<N>], u: &[Jet<N>], tree: &Tree, kernel: &mut Kernel<Jet<N>>) {
        if self.model.forces.is_empty() {
            return;
        }
        let Self { model, around, poses, velocities, counted, list } = self;
        list.clear();
        let seen = Seen { t, tree, kernel, q, u };
        seen.wrenches(model, &mut |b, F, torque| list.push((b, F.into(), torque.into())));
        if !around.is_empty() {
            for b in 1..poses.len() {
                let k = tree.of_body[b];
                let c = kernel.at[k].c.map(|x| x.x);
                poses[b] = Pose { r: Vector3::from(c), A: matrix(&kernel.axes(k)) };
                let v = States::<Jet<N>>::velocity(&seen, b);
                velocities[b] = Twist { v: v.v.map(|x| x.x), w: v.w.map(|x| x.x) };
            }
            counted.iter_mut().zip(&tree.counted).for_each(|(a, c)| *a = (q[*c].x, u[*c].x));
            let held = Held { plain: Plain { t, q: poses, v: velocities, turns: &[], loads: &[], z: &[] }, counted };
            for (slot, own) in around.iter() {
                for (_, weight, m) in own.each() {
                    for (_, force) in &m.forces {
                        force.wrench(m, &held, &mut |b, F: Vector3<f64>, torque: Vector3<f64>| {
                            if b != 0 {
                                let world = held.plain.q[b].A * torque;
                                let slope = |x: f64| {
                                    let mut d = [0.0; N];
                                    d[*slot] = weight * x;
                                    Jet { x: 0.0, d }
                                };
                                list.push((b, [slope(F.x), slope(F.y), slope(F.z)], [slope(world.x), slope(world.y), slope(world.z)]));
                            }
                        });
                    }
                }
            }
        }
        for (b, F, torque) in list.iter() {
            kernel.load(tree.of_body[*b], F, torque);
        }
    }
}

/// Whether the forces of a mechanism around have other data: seen at states that nothing in particular holds at.
fn changes_forces(model: &Model, around: &Around, start: &Configuration) -> bool {
    if model.forces.is_empty() {
        return false;
    }
    (1..4).any(|seed| {
        let mut random = fourbar::random::Random(0x9e37_79b9_7f4a_7c15 ^ seed);
        let mut state = start.clone();
        for b in 1..state.q.len() {
            let mut three = |size: f64| Vector3::from_fn(|_, _| size * random.number());
            let d = Twist { v: three(0.2 * model.length), w: three(0.5) };
            state.q[b] = state.q[b].moved(&d);
            state.v[b] = Twist { v: three(model.length), w: three(1.0) };
        }
        let counted: Vec<(f64, f64)> = state.turns.iter().map(|_| (0.7 * random.number(), random.number())).collect();
        let wrench = |m: &Model| {
            let x = Held { plain: Plain { t: start.t, q: &state.q, v: &state.v, turns: &[], loads: &[], z: &[] }, counted: &counted };
            let mut sum = vec![Twist::zero(); state.q.len()];
            for (_, f) in &m.forces {
                f.wrench(m, &x, &mut |b, F, T| sum[b] = Twist { v: sum[b].v + F, w: sum[b].w + T });
            }
            stacked(&sum)
        };
        let own = wrench(model);
        around.models.iter().any(|m| wrench(m) != own)
    })
}

/// How a run is made: by fixed steps of a method where the study asks for them, else by steps of its own.
fn method(study: &Study) -> Option<(&'static Tableau, Option<f64>)> {
    match (study.step, study.integrator.as_deref()) {
        (Some(h), Some(name)) => Tableau::named(name).map(|t| (t, Some(h))),
        (None, None | Some("dop853")) => Tableau::named("dop853").map(|t| (t, None)),
        _ => None,
    }
}

/// The motion at the output times with its derivatives; `None` where the mechanism is no tree, or the motion cannot be followed that way.
pub(super) fn samples(
    model: &Model,
    around: &[Around],
    start: &Configuration,
    study: &Study,
    begin: &dyn Fn(&Model) -> Result<Configuration, Error>,
) -> Option<Vec<Sample>> {
    let (tableau, step) = method(study)?;
    let tree = Tree::new(model, start)?;
    let mut slopes: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for own in around {
        let (mut numbers, mut first) = (vec![0.0; tree.numbers.len()], vec![0.0; tree.start.len()]);
        for (_, weight, m) in own.each() {
            let other = Tree::new(m, &begin(m).ok()?)?;
            if !tree.fits(&other) {
                return None;
            }
            numbers.iter_mut().zip(&other.numbers).for_each(|(s, x)| *s += weight * x);
            first.iter_mut().zip(&other.start).for_each(|(s, x)| *s += weight * x);
        }
        slopes.push((numbers, first));
    }
    let forces: Vec<bool> = around.iter().map(|a| changes_forces(model, a, start)).collect();
    let way = Way { tree: &tree, model, around, slopes: &slopes, forces: &forces, start, study, tableau, step };
    let mut all: Vec<Sample> = Vec::new();
    let mut from = 0;
    while from < around.len() {
        let left = around.len() - from;
        let (part, size) = match left {
            1 => (way.chunk::<1>(from)?, 1),
            2 => (way.chunk::<2>(from)?, 2),
            3 | 4 => (way.chunk::<4>(from)?, 4),
            _ => (way.chunk::<8>(from)?, 8),
        };
        if all.is_empty() {
            all = part;
        } else {
            all.iter_mut().zip(part).for_each(|(a, b)| a.tangents.extend(b.tangents));
        }
        from += size;
    }
    Some(all)
}

struct Way<'a> {
    tree: &'a Tree,
    model: &'a Model,
    around: &'a [Around],
    slopes: &'a [(Vec<f64>, Vec<f64>)],
    forces: &'a [bool],
    start: &'a Configuration,
    study: &'a Study,
    tableau: &'static Tableau,
    step: Option<f64>,
}

impl Way<'_> {
    /// The whole motion with derivatives by `N` parameters from one on, or as many as are left.
    fn chunk<const N: usize>(&self, from: usize) -> Option<Vec<Sample>> {
        let count = N.min(self.around.len() - from);
        let jets = |values: &[f64], slope: &dyn Fn(usize) -> Vec<f64>| -> Vec<Jet<N>> {
            let columns: Vec<Vec<f64>> = (from..from + count).map(slope).collect();
            let jet = |(i, x): (usize, &f64)| Jet { x: *x, d: std::array::from_fn(|j| columns.get(j).map_or(0.0, |c| c[i])) };
            values.iter().enumerate().map(jet).collect()
        };
        let numbers = jets(&self.tree.numbers, &|k| self.slopes[k].0.clone());
        let start = jets(&self.tree.start, &|k| self.slopes[k].1.clone());
        let loads = Loads {
            model: self.model,
            around: (0..count).filter(|j| self.forces[from + j]).map(|j| (j, &self.around[from + j])).collect(),
            poses: self.start.q.clone(),
            velocities: self.start.v.clone(),
            counted: vec![(0.0, 0.0); self.tree.counted.len()],
            list: Vec::new(),
        };
        let L = self.model.length;
        let mut moved = Moved::new(self.tree, &numbers, &start, Box::new(loads), self.tableau, self.start.t, L);
        let mut list = Vec::new();
        for t in self.study.output_times() {
            let ok = match self.step {
                Some(h) if t > moved.t => {
                    let steps = ((t - moved.t) / h - 1e-9).ceil().max(1.0);
                    moved.fixed((t - moved.t) / steps, steps as usize);
                    true
                }
                _ => moved.to(t, TOLERANCE * L),
            };
            if !ok || !moved.y.iter().all(|x| x.x.is_finite()) {
                return None;
            }
            list.push(self.sample(&mut moved, t, count));
        }
        Some(list)
    }

    fn sample<const N: usize>(&self, moved: &mut Moved<'_, Jet<N>>, t: f64, count: usize) -> Sample {
        moved.place();
        let seen = moved.seen();
        let n = self.start.q.len();
        let mut state = Configuration { t, ..self.start.clone() };
        let none = || DVector::zeros(6 * (n - 1));
        let mut tangents: Vec<Tangent> = (0..count).map(|_| Tangent { q: none(), v: none() }).collect();
        for b in 1..n {
            let (q, v) = (seen.pose(b), seen.velocity(b));
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
        for (turn, c) in state.turns.iter_mut().zip(&self.tree.counted) {
            *turn = seen.q[*c].value();
        }
        Sample { state, tangents }
    }
}
