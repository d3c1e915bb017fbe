//! Derivatives of measures of a run by many parameters at once: the motion of a tree is gone back from its end to its start, step by step,
//! with a covector that says what the state matters to each measure.
//!
//! ```text
//! step      Y_j = y + h sum a_ji k_i,  k_j = f(Y_j),  y' = y + h sum b_i k_i
//! back      kbar_j = h b_j lambda + h sum a_ij Ybar_i,  Ybar_j = f_y^T kbar_j,  lambda += sum Ybar_j,  pbar += f_p^T kbar_j
//! ```
//! That is the exact derivative of the steps that were taken, whatever the number of parameters. States are kept on the way, every one or
//! every few of them, so that memory is bounded; those in between are computed again.

use super::Parameters;
use super::around::{Around, PLACES};
use super::given::{Pushes, Work};
use super::groups::{self, Follows, Sight};
use super::run::USELESS;
use super::trees::{Begin, Way};
use crate::measure::Measure;
use crate::tree::linear::{Covectors, Linear, OWN, Placed};
use crate::tree::{Kept, Moved, Rates, Tree, Values, places};
use fourbar::integrator::first_order::Tableau;
use fourbar::motion::{Instant, Reaction};
use fourbar::state::{Configuration, Twist};
use fourbar::trajectory::{Recorder, Trajectory, WantedColumns, columns};
use fourbar::{Diagnostic, Error, Model, stop};
use fourbar_math::so3;
use nalgebra::Vector3;
use std::ops::Range;

/// Numbers of states that are kept at most: 200 MB.
const MOST: usize = 25_000_000;

/// Derivatives of several measures.
pub(super) struct Found {
    /// The run: columns that follow from poses and velocities alone; others are not numbers.
    pub run: Trajectory,
    /// The measures.
    pub measures: Vec<Measure>,
    /// The end of the run.
    pub end: Configuration,
    /// By measure, then by parameter.
    pub slopes: Vec<Vec<f64>>,
    /// Bytes of the states that were kept.
    pub kept: usize,
    /// Where, on the way back, what a state matters has grown beyond all use: the latest such time.
    pub useless: Option<f64>,
}

/// What one measure has gathered on the way back.
struct Carried {
    lambda: Vec<f64>,
    /// The largest entry that outputs have given it.
    given: f64,
    stages: Vec<Vec<f64>>,
    /// Of coordinates, then of speeds.
    by: Vec<f64>,
    gravity: [f64; 3],
    numbers: Vec<[f64; OWN]>,
    by_parameter: Vec<f64>,
}

/// Room of the way back.
struct Back<'a> {
    tree: &'a Tree,
    tableau: &'static Tableau,
    nodes: Vec<f64>,
    values: Values<'a>,
    y: Vec<f64>,
    stages: Vec<Vec<f64>>,
    linear: Vec<Linear>,
    pushes: Vec<Pushes>,
    work: Work<'a>,
    covectors: Covectors,
    placed: Vec<Placed>,
}

/// Measures of a run, once its columns are known.
pub type Measures<'a> = dyn Fn(&Trajectory) -> Result<Vec<Measure>, Error> + 'a;

/// The derivatives of measures of a run; `None` where the mechanisms around are other trees, the motion cannot be followed, or a measure
/// reads more than poses and velocities.
pub(super) fn of_measures(
    way: &Way<'_>,
    parameters: &Parameters<'_>,
    which: &[usize],
    begin: &Begin<'_>,
    measures: &Measures<'_>,
) -> Result<Option<Found>, Error> {
    let Way { tree, model, study, tableau, .. } = way;
    let mut moved = Moved::new(tree, Values::new(tree, model), &tree.start, tableau, way.start.t, model.length);
    moved.kept = Some(Kept::new(2 * tree.size, MOST));
    let mut rows = Rows::new(model, way.start);
    let mut run = Trajectory::new(columns(model));
    let mut states = Vec::new();
    // Steps that were taken at each output time.
    let mut ends = Vec::new();
    for t in study.output_times() {
        if !way.advance(&mut moved, t) {
            return Ok(None);
        }
        let (q, u) = moved.y.split_at(tree.size);
        moved.rates.kernel.sweep(q, u);
        let state = configuration(&moved.rates, way.start, t, q, u);
        run.push(&rows.row(model, &state));
        states.push((state, rows.clone()));
        ends.push(moved.kept.as_ref().map_or(0, |k| k.steps.len()));
    }
    let measures = measures(&run)?;
    let mut weights = Vec::new();
    for m in &measures {
        if m.reads().any(|c| run.values[c].iter().any(|x| !x.is_finite())) {
            return Ok(None);
        }
        weights.push(m.gradient(&run)?);
    }
    let (Some(kept), Some((end, _))) = (moved.kept.take(), states.last().cloned()) else { return Ok(None) };
    let looks = Looks::new(model, &states, weights);
    let Some((follow, changed)) = groups::follow(way, parameters, which, begin, &looks)? else { return Ok(None) };
    let s = tableau.a.len();
    let mut back = Back {
        tree,
        tableau,
        nodes: places(tableau),
        values: Values::new(tree, model),
        y: vec![0.0; 2 * tree.size],
        stages: vec![vec![0.0; 2 * tree.size]; s],
        linear: vec![Linear::new(&tree.nodes); s],
        pushes: (0..s).map(|_| Pushes::default()).collect(),
        work: Work::new(tree, model, changed),
        covectors: Covectors::new(tree.nodes.len()),
        placed: vec![Placed::default(); tree.nodes.len()],
    };
    let zero = |_: &Measure| Carried {
        lambda: vec![0.0; 2 * tree.size],
        given: 0.0,
        stages: vec![vec![0.0; 2 * tree.size]; s],
        by: vec![0.0; 2 * tree.size],
        gravity: [0.0; 3],
        numbers: vec![[0.0; OWN]; tree.nodes.len()],
        by_parameter: vec![0.0; which.len()],
    };
    let mut carried: Vec<Carried> = measures.iter().map(zero).collect();
    let (count, every) = (kept.steps.len(), kept.every);
    let mut segment: Vec<Vec<f64>> = Vec::new();
    let (mut row, mut step) = (ends.len(), count);
    let mut useless = None;
    loop {
        // Outputs where this step begins, or where the last one ends.
        while row > 0 && ends[row - 1] == step {
            row -= 1;
            let y = if step == count { &moved.y } else { &segment[step % every] };
            looks.add(row, y, &mut back, &mut carried)?;
        }
        if step == 0 {
            break;
        }
        step -= 1;
        stop::check()?;
        if step % every == every - 1 || step == count - 1 {
            back.segment(&kept, step - step % every..step + 1, &mut segment);
        }
        let (t, h) = kept.steps[step];
        back.step(t, h, &segment[step % every], &mut carried);
        if useless.is_none() && carried.iter().any(|c| c.size() > USELESS * c.given) {
            useless = Some(t);
        }
    }
    let slopes = carried.iter().enumerate().map(|(m, c)| c.by_parameters(m, tree, &follow)).collect();
    Ok(Some(Found { run, measures, end, slopes, kept: 8 * (kept.numbers() + segment.len() * 2 * tree.size), useless }))
}

impl Back<'_> {
    /// All stages of a step from a state.
    fn stages(&mut self, t: f64, h: f64, y: &[f64], differentiated: bool) {
        let (n, Tableau { a, .. }) = (self.tree.size, *self.tableau);
        for j in 0..a.len() {
            self.y.copy_from_slice(y);
            if j > 0 {
                for &(i, w) in a[j - 1] {
                    self.y.iter_mut().zip(&self.stages[i]).for_each(|(y, k)| *y += k * (w * h));
                }
            }
            let (q, u) = self.y.split_at(n);
            let (dq, du) = self.stages[j].split_at_mut(n);
            dq.copy_from_slice(u);
            let at = t + self.nodes[j] * h;
            self.values.rates(at, q, u, du);
            if differentiated {
                self.linear[j].form(&self.values.kernel, u);
                self.pushes[j].note(&self.values, at, q, u, &mut self.work);
            }
        }
    }

    /// The states at the begins of some steps, from the one that was kept.
    fn segment(&mut self, kept: &Kept, steps: Range<usize>, out: &mut Vec<Vec<f64>>) {
        let count = steps.len();
        out.resize_with(count.max(out.len()), || vec![0.0; self.y.len()]);
        out[0].copy_from_slice(kept.state(steps.start / kept.every));
        for i in 1..count {
            let (t, h) = kept.steps[steps.start + i - 1];
            let mut y = std::mem::take(&mut out[i]);
            self.stages(t, h, &out[i - 1], false);
            y.copy_from_slice(&out[i - 1]);
            if let Some(result) = self.tableau.a.last() {
                for &(j, w) in *result {
                    y.iter_mut().zip(&self.stages[j]).for_each(|(y, k)| *y += k * (w * h));
                }
            }
            out[i] = y;
        }
    }

    /// One step back, from the state that it began with.
    fn step(&mut self, t: f64, h: f64, y: &[f64], carried: &mut [Carried]) {
        self.stages(t, h, y, true);
        let Self { tree, tableau, linear, pushes, covectors, placed, .. } = self;
        let (n, a) = (tree.size, tableau.a);
        for c in carried {
            for (stage, k) in c.stages.iter_mut().enumerate() {
                let weight = a.last().into_iter().flat_map(|w| w.iter()).filter(|(i, _)| *i == stage).map(|(_, w)| w).sum::<f64>();
                k.iter_mut().zip(&c.lambda).for_each(|(k, l)| *k = h * weight * l);
            }
            for j in (0..a.len()).rev() {
                c.by.fill(0.0);
                let (by_q, by_u) = c.by.split_at_mut(n);
                let (of_q, of_u) = c.stages[j].split_at(n);
                by_u.copy_from_slice(of_q);
                linear[j].adjoint(of_u, covectors, [&mut *by_q, &mut *by_u], &mut c.gravity, &mut c.numbers);
                pushes[j].back(&linear[j], covectors, placed, [by_q, by_u], &mut c.numbers, &mut c.by_parameter);
                c.lambda.iter_mut().zip(&c.by).for_each(|(l, b)| *l += b);
                if j > 0 {
                    for &(i, w) in a[j - 1] {
                        c.stages[i].iter_mut().zip(&c.by).for_each(|(k, b)| *k += h * w * b);
                    }
                }
            }
        }
    }
}

impl Carried {
    /// The largest entry of what the state matters.
    fn size(&self) -> f64 {
        self.lambda.iter().fold(0.0, |m, x| x.abs().max(m))
    }

    /// The derivatives by parameters, at the start, of the measure that this is.
    fn by_parameters(&self, measure: usize, tree: &Tree, follow: &[Follows]) -> Vec<f64> {
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let one = |(known, f): (&f64, &Follows)| {
            let (gravity, changes) = tree.changes(&f.slopes.numbers);
            let numbers: f64 = changes.iter().map(|c| sum(&self.numbers[c.node], &c.by)).sum();
            known + f.seen[measure] + sum(&self.lambda, &f.slopes.start) + sum(&self.gravity, &gravity) + numbers
        };
        self.by_parameter.iter().zip(follow).map(one).collect()
    }
}

/// The state of a tree that is placed.
fn configuration(values: &Values<'_>, start: &Configuration, t: f64, q: &[f64], u: &[f64]) -> Configuration {
    let mut room = super::lanes::Room::new(values.tree);
    room.fill(values, t, q, u);
    let turns = values.tree.counted.iter().map(|c| q[*c]).collect();
    Configuration { t, q: room.poses, v: room.velocities, turns, z: start.z.clone() }
}

/// Rows of a result of which only poses and velocities are known.
#[derive(Clone)]
struct Rows(Recorder);

impl Rows {
    fn new(model: &Model, start: &Configuration) -> Self {
        let mut recorder = Recorder::new(model, WantedColumns::ALL);
        recorder.row(model, &Instant::new(model, start), &mut Vec::new());
        Self(recorder)
    }

    /// What follows from poses and velocities; the rest are not numbers.
    fn row(&mut self, model: &Model, at: &Configuration) -> Vec<f64> {
        let none = Vector3::repeat(f64::NAN);
        let mut now = Instant::new(model, at);
        now.a.fill(Twist { v: none, w: none });
        now.reactions.fill(Reaction { force: none, torque: none });
        now.efforts.fill(f64::NAN);
        now.work = f64::NAN;
        now.errors = [f64::NAN; 3];
        let mut out = Vec::new();
        self.0.row(model, &now, &mut out);
        out
    }
}

/// Step of looks around a state, as a share of a length or an angle.
const SHARE: f64 = 2e-3;

/// What the columns that measures read matter to them, and what they depend on.
struct Looks<'a> {
    model: &'a Model,
    /// States at the output times, with the signs of quaternions there.
    states: &'a [(Configuration, Rows)],
    /// By measure: row, column, weight.
    weights: Vec<Vec<(usize, usize, f64)>>,
    /// Columns that are read and bodies they depend on, by measure.
    read: Vec<Vec<usize>>,
    bodies: Vec<Vec<usize>>,
    /// States at which dependence shows, with their rows.
    shown: Vec<(Configuration, Vec<f64>)>,
}

impl<'a> Looks<'a> {
    fn new(model: &'a Model, states: &'a [(Configuration, Rows)], weights: Vec<Vec<(usize, usize, f64)>>) -> Self {
        let columns = |list: &Vec<(usize, usize, f64)>| {
            let mut c: Vec<usize> = list.iter().map(|x| x.1).collect();
            c.sort_unstable();
            c.dedup();
            c
        };
        let read: Vec<Vec<usize>> = weights.iter().map(columns).collect();
        let some = [states.first(), states.get(states.len() / 2), states.last()];
        let mut shown = Vec::new();
        for (k, (s, rows)) in some.into_iter().flatten().enumerate() {
            for state in [s.clone(), stirred(model, s, k as u64)] {
                let row = rows.clone().row(model, &state);
                shown.push((state, row));
            }
        }
        let mut looks = Self { model, states, weights, bodies: vec![Vec::new(); read.len()], read, shown };
        for b in 1..model.bodies.len() {
            let moved = |s: &Configuration| {
                let (mut other, stir) = (s.clone(), stirred(model, s, 7));
                (other.q[b], other.v[b]) = (stir.q[b], stir.v[b]);
                other
            };
            let seen = looks.changed(model, &moved);
            looks.bodies.iter_mut().zip(&seen).filter(|(_, s)| **s).for_each(|(list, _)| list.push(b));
        }
        looks
    }

    /// Whether the columns of each measure are others for a mechanism and states like those that are shown.
    fn changed(&self, model: &Model, state: &dyn Fn(&Configuration) -> Configuration) -> Vec<bool> {
        let mut seen = vec![false; self.read.len()];
        let Some((_, rows)) = self.states.first() else { return seen };
        for (s, own) in &self.shown {
            let row = rows.clone().row(model, &state(s));
            // The sign of a quaternion says nothing.
            let differs = |c: &usize| row[*c].abs().to_bits() != own[*c].abs().to_bits();
            seen.iter_mut().zip(&self.read).for_each(|(x, read)| *x |= read.iter().any(differs));
        }
        seen
    }

    /// What of a row a measure reads.
    fn of_row(&self, measure: usize, row: usize) -> &[(usize, usize, f64)] {
        let list = &self.weights[measure];
        let first = list.partition_point(|x| x.0 < row);
        &list[first..first + list[first..].partition_point(|x| x.0 == row)]
    }

    /// The sum that a measure reads of a row, at a state near that of the row.
    fn sum(&self, own: &[(usize, usize, f64)], row: usize, model: &Model, at: &Configuration) -> f64 {
        let values = self.states[row].1.clone().row(model, at);
        own.iter().map(|(_, c, weight)| weight * values[*c]).sum()
    }

    /// Adds what the state at an output time matters to the measures.
    fn add(&self, row: usize, y: &[f64], back: &mut Back<'_>, out: &mut [Carried]) -> Result<(), Error> {
        let n = back.tree.size;
        let (q, u) = y.split_at(n);
        back.values.kernel.sweep(q, u);
        let state = &self.states[row].0;
        let linear = &mut back.linear[0];
        linear.place(&back.values.kernel);
        for (measure, out) in out.iter_mut().enumerate() {
            let own = self.of_row(measure, row);
            if own.is_empty() {
                continue;
            }
            for &b in &self.bodies[measure] {
                let by = self.by_body(b, state, &mut |s| self.sum(own, row, self.model, s));
                let k = back.tree.of_body[b];
                linear.of_body(k, &back.values.kernel.axes(k), by, &mut back.placed[k], &mut out.numbers[k]);
            }
            let before = out.lambda.clone();
            let (by_q, by_u) = out.lambda.split_at_mut(n);
            linear.displace_back(&mut back.placed, [by_q, by_u], &mut out.numbers);
            out.given = out.lambda.iter().zip(before).fold(out.given, |m, (a, b)| m.max((a - b).abs()));
            if out.lambda.iter().any(|x| !x.is_finite()) {
                let d = Diagnostic::new("S432", "what a measure reads has no derivative at an output time");
                return Err(d.time(state.t).help("take another measure, or other output times").into());
            }
        }
        Ok(())
    }

    /// Derivatives by shift, turn, velocity and angular velocity of a body, all in the world.
    fn by_body(&self, b: usize, state: &Configuration, sum: &mut dyn FnMut(&Configuration) -> f64) -> [[f64; 3]; 4] {
        let L = self.model.length;
        let mut by = [[0.0; 3]; 4];
        let (pose, v) = (state.q[b], state.v[b]);
        let w = pose.A * v.w;
        let rate = 1.0 + v.v.norm() / L + w.norm();
        let sizes = [SHARE * L, SHARE, SHARE * L * rate, SHARE * rate];
        for (kind, size) in sizes.into_iter().enumerate() {
            for i in 0..3 {
                for (place, weight) in PLACES {
                    let mut e = Vector3::zeros();
                    e[i] = place * size;
                    let mut s = state.clone();
                    match kind {
                        0 => s.q[b].r += e,
                        1 => {
                            s.q[b].A = so3::exp(&e) * pose.A;
                            s.v[b].w = s.q[b].A.tr_mul(&w);
                        }
                        2 => s.v[b].v += e,
                        _ => s.v[b].w = pose.A.tr_mul(&(w + e)),
                    }
                    by[kind][i] += weight / size * sum(&s);
                }
            }
        }
        by
    }
}

impl Sight for Looks<'_> {
    fn differs(&self, model: &Model) -> bool {
        self.changed(model, &|s| s.clone()).contains(&true)
    }

    fn derivatives(&self, around: &Around) -> Vec<f64> {
        let one = |measure: usize| {
            let mut sum = 0.0;
            for (row, (state, _)) in self.states.iter().enumerate() {
                let own = self.of_row(measure, row);
                if !own.is_empty() {
                    sum += around.each().map(|(_, weight, m)| weight * self.sum(own, row, m, state)).sum::<f64>();
                }
            }
            sum
        };
        (0..self.count()).map(one).collect()
    }

    fn count(&self) -> usize {
        self.read.len()
    }
}

/// A state that nothing in particular holds at, near another.
fn stirred(model: &Model, at: &Configuration, seed: u64) -> Configuration {
    let mut random = fourbar::random::Random(0x9e37_79b9_7f4a_7c15 ^ seed);
    let mut state = at.clone();
    for b in 1..state.q.len() {
        let mut three = |size: f64| Vector3::from_fn(|_, _| size * random.number());
        let d = Twist { v: three(0.1 * model.length), w: three(0.3) };
        state.q[b] = state.q[b].moved(&d);
        state.v[b] = Twist { v: three(model.length), w: three(1.0) };
    }
    state
}
