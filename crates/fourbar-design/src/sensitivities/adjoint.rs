//! Derivatives of measures of a run with respect to many parameters at once: the adjoint of the motion of a tree is integrated from its end
//! to its start, step by step, with the gradient of each measure with respect to the state as covector.
//!
//! ```text
//! step      Y_j = y + h sum a_ji k_i,  k_j = f(Y_j),  y' = y + h sum b_i k_i
//! back      kbar_j = h b_j lambda + h sum a_ij Ybar_i,  Ybar_j = f_y^T kbar_j,  lambda += sum Ybar_j,  pbar += f_p^T kbar_j
//! ```
//! This is the exact derivative of the discrete steps, at a cost independent of the number of parameters. Every state or every few states
//! are stored, so that memory is bounded; those in between are recomputed.

use super::Parameters;
use super::given::{Pushes, Work};
use super::groups::{self, Follows, Setting};
use super::looks::{Looks, Rows};
use super::own::Measures;
use super::run::USELESS;
use super::trees::{Begin, Way};
use crate::measure::Measure;
use crate::tree::linear::{Covectors, Linear, OWN, Placed};
use crate::tree::{Kept, Moved, Rates, Tree, Values, places};
use fourbar::integrator::first_order::Tableau;
use fourbar::state::Configuration;
use fourbar::trajectory::{Trajectory, columns};
use fourbar::{Error, stop};
use std::ops::Range;

/// Maximum count of numbers in stored states: 200 MB.
pub(super) const MOST: usize = 25_000_000;

/// Derivatives of several measures.
pub(super) struct Found {
    /// The run: columns that follow from poses and velocities alone; others are NaN.
    pub run: Trajectory,
    /// The measures.
    pub measures: Vec<Measure>,
    /// The end of the run.
    pub end: Configuration,
    /// By measure, then by parameter.
    pub slopes: Vec<Vec<f64>>,
    /// Bytes of the stored states.
    pub kept: usize,
    /// The latest time at which the covector, in the backward pass, has grown too large for derivatives to be useful.
    pub useless: Option<f64>,
}

/// Covectors of one measure accumulated in the backward pass.
struct Carried {
    lambda: Vec<f64>,
    /// The largest entry added by outputs.
    given: f64,
    stages: Vec<Vec<f64>>,
    /// Derivatives with respect to coordinates, then speeds.
    by: Vec<f64>,
    gravity: [f64; 3],
    numbers: Vec<[f64; OWN]>,
    by_parameter: Vec<f64>,
}

/// Workspace of the backward pass.
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

/// The derivatives of measures of a run; `None` if perturbed mechanisms are different trees, the motion cannot be followed, or a measure
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
    // Number of steps taken up to each output time.
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
    let measures = measures(&run.columns, &parameters.values)?;
    let mut weights = Vec::new();
    for m in &measures {
        if m.reads().any(|c| run.values[c].iter().any(|x| !x.is_finite())) {
            return Ok(None);
        }
        weights.push(m.gradient(&run)?);
    }
    let (Some(kept), Some((end, _))) = (moved.kept.take(), states.last().cloned()) else { return Ok(None) };
    let looks = Looks::new(model, &states, weights);
    let listed = groups::OfTree::new(way, begin);
    let setting = Setting { model, start: way.start, t_end: study.t_end, counted: true };
    let Some((follow, changed)) = groups::follow(&listed, &setting, parameters, which, &looks)? else { return Ok(None) };
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
        // Outputs at the start of this step, or at the end of the last one.
        while row > 0 && ends[row - 1] == step {
            row -= 1;
            let y = if step == count { &moved.y } else { &segment[step % every] };
            back.look(&looks, row, y, &mut carried)?;
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
    /// Adds the gradient of the measures with respect to the state at an output time.
    fn look(&mut self, looks: &Looks<'_>, row: usize, y: &[f64], out: &mut [Carried]) -> Result<(), Error> {
        let n = self.tree.size;
        let (q, u) = y.split_at(n);
        self.values.kernel.sweep(q, u);
        let Self { tree, values, linear, placed, .. } = self;
        let linear = &mut linear[0];
        linear.place(&values.kernel);
        for (measure, out) in out.iter_mut().enumerate() {
            let mut read = false;
            looks.each(measure, row, |b, by| {
                let k = tree.of_body[b];
                linear.of_body(k, &values.kernel.axes(k), by, &mut placed[k], &mut out.numbers[k]);
                read = true;
            });
            if !read {
                continue;
            }
            let before = out.lambda.clone();
            let (by_q, by_u) = out.lambda.split_at_mut(n);
            linear.displace_back(placed, [by_q, by_u], &mut out.numbers);
            out.given = out.lambda.iter().zip(before).fold(out.given, |m, (a, b)| m.max((a - b).abs()));
            if out.lambda.iter().any(|x| !x.is_finite()) {
                return Err(looks.refusal(row));
            }
        }
        Ok(())
    }

    /// Evaluates all stages of a step from a state.
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

    /// The states at the starts of some steps, recomputed from a stored state.
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

    /// One step backwards, given the state at its start.
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
    /// The largest entry of the covector.
    fn size(&self) -> f64 {
        self.lambda.iter().fold(0.0, |m, x| x.abs().max(m))
    }

    /// The derivatives of this measure with respect to parameters, at the start.
    fn by_parameters(&self, measure: usize, tree: &Tree, follow: &[Follows]) -> Vec<f64> {
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let count = tree.numbers.len();
        let one = |(known, f): (&f64, &Follows)| {
            let mut slopes = vec![0.0; count];
            let mut start = 0.0;
            for &(i, x) in &f.slopes {
                match i.checked_sub(count) {
                    Some(i) => start += self.lambda[i] * x,
                    None => slopes[i] = x,
                }
            }
            let (gravity, changes) = tree.changes(&slopes);
            let numbers: f64 = changes.iter().map(|c| sum(&self.numbers[c.node], &c.by)).sum();
            known + f.seen[measure] + start + sum(&self.gravity, &gravity) + numbers
        };
        self.by_parameter.iter().zip(follow).map(one).collect()
    }
}

/// The state of a swept tree.
fn configuration(values: &Values<'_>, start: &Configuration, t: f64, q: &[f64], u: &[f64]) -> Configuration {
    let mut room = super::lanes::Room::new(values.tree);
    room.fill(values, t, q, u);
    let turns = values.tree.counted.iter().map(|c| q[*c]).collect();
    Configuration { t, q: room.poses, v: room.velocities, turns, z: start.z.clone() }
}
