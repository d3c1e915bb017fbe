//! Derivatives of measures of a run of a mechanism with loops with respect to many parameters at once: adjoint equations along the motion
//! in absolute coordinates, from its end to its start.
//!
//! Accelerations solve `M a + G^T lambda = f - h`, `G a = gamma`. The matrix is symmetric, so that the same factorisation serves for the
//! covector of the accelerations:
//! ```text
//! M x + G^T y = abar,  G x = 0        qbar = -(r^T x + s^T y)_q,  vbar = -(...)_v,  pbar = -(...)_p
//! r = M a + h - f + G^T lambda        s = G a - gamma
//! ```
//! The projection after a step, `q' = q - M^-1 G^T mu`, `Phi(q') = 0`, removes the part of the covector normal to the constraints.
//! Corrections are as small as the error of a step, and their derivatives are neglected.

mod forces;
mod motion;
mod rows;
mod start;

use super::Parameters;
use super::adjoint::{Found, MOST};
use super::given::Changed;
use super::groups::{self, Follows, Listed, Setting};
use super::looks::{Looks, Rows};
use super::own::Measures;
use super::run::USELESS;
use super::trees::Begin;
use crate::measure::Measure;
use crate::tree::Kept;
use forces::Pushes;
use fourbar::absolute::equations::Equations;
use fourbar::constraint::ConstraintSet;
use fourbar::force::eval::Plain;
use fourbar::integrator::control::next_end;
use fourbar::integrator::first_order::{Estimate, Tableau};
use fourbar::state::{Configuration, Twist, Wrench};
use fourbar::study::Study;
use fourbar::trajectory::{Trajectory, columns};
use fourbar::{Error, Model, Structure, stop};
use motion::{Increment, Mover, State, pulled_back_by, turn_back};
use nalgebra::{Matrix3, Vector3};
use rows::{Moving, Pull, Weights};
use std::ops::Range;

/// Default tolerance of a run.
const TOLERANCE: f64 = 1e-9;
/// Length of the data of a body in the list: mass, inertia, position, axes, velocity and angular velocity as drawn.
const BODY: usize = 28;
/// Offsets of the inertia and of the drawn pose and velocity.
const INERTIA: usize = 1;
const DRAWN: usize = 10;

/// A mechanism with loops and the method of its motion.
pub(super) struct Way<'a> {
    model: &'a Model,
    set: ConstraintSet,
    start: &'a Configuration,
    study: &'a Study,
    tableau: &'static Tableau,
    /// Step ends required in addition to output times.
    ends: Vec<f64>,
}

/// The data in the equations and the drawn start of a mechanism: gravity, then the data of bodies, then those of rows.
struct OfLoops<'a> {
    model: &'a Model,
    form: Vec<(u8, f64)>,
    own: Vec<f64>,
}

fn list(model: &Model, set: &ConstraintSet) -> Vec<f64> {
    let mut out: Vec<f64> = model.gravity.iter().copied().collect();
    let drawn = Configuration::start(model);
    for (b, body) in model.bodies.iter().enumerate().skip(1) {
        let (q, v) = (&drawn.q[b], &drawn.v[b]);
        out.push(body.mass);
        let all = body.J_bar.iter().chain(q.r.iter()).chain(q.A.iter()).chain(v.v.iter()).chain(v.w.iter());
        out.extend(all.copied());
    }
    out.extend(rows::numbers(set));
    out
}

/// All constraints of a mechanism, scaled with a given characteristic length.
fn constraints(model: &Model, length: f64) -> ConstraintSet {
    if model.length == length {
        return ConstraintSet::new(model.all_constraints(), |_| false);
    }
    let mut own = model.clone();
    own.length = length;
    ConstraintSet::new(own.all_constraints(), |_| false)
}

impl Listed for OfLoops<'_> {
    fn own(&self) -> &[f64] {
        &self.own
    }

    fn of(&self, model: &Model) -> Option<Vec<f64>> {
        let set = constraints(model, self.model.length);
        (rows::form(&set) == self.form).then(|| list(model, &set)).filter(|l| l.len() == self.own.len())
    }
}

impl<'a> Way<'a> {
    /// A mechanism from a start; `None` if its constraints are not made of points and directions, or the method is not supported.
    pub fn new(model: &'a Model, start: &'a Configuration, study: &'a Study) -> Option<Self> {
        let tableau = match (study.step, study.integrator.as_deref()) {
            (Some(_), Some(name)) => Tableau::named(name)?,
            (None, None) => Tableau::named("dop853")?,
            (None, Some(name)) => Tableau::named(name).filter(|t| !matches!(t.error, Estimate::None))?,
            (Some(_), None) => return None,
        };
        let set = constraints(model, model.length);
        let plain = model.drives.is_empty()
            && model.auxiliaries() == 0
            && tableau.product.is_empty()
            && rows::are_polynomial(&set)
            && !model.forces.iter().any(|(_, f)| f.touches().load);
        plain.then(|| Self { model, set, start, study, tableau, ends: model.time_marks(study.t_end) })
    }

    /// Integrates to an output time; `false` on failure.
    fn advance(&self, mover: &mut Mover<'_>, t: f64, kept: &mut dyn FnMut(f64, f64, &State)) -> bool {
        let ok = match self.study.step {
            _ if t <= mover.t => true,
            Some(h) => {
                let steps = ((t - mover.t) / h - 1e-9).ceil().max(1.0);
                mover.fixed(t, steps as usize, kept)
            }
            None => loop {
                let end = next_end(&self.ends, mover.t, t);
                if !mover.to(end, self.study.tol.unwrap_or(TOLERANCE) * self.model.length, kept) {
                    break false;
                }
                if end >= t {
                    break true;
                }
            },
        };
        ok && !stop::told()
    }
}

/// Covectors of one measure accumulated in the backward pass.
struct Carried {
    lambda: Vec<Pull>,
    /// The largest entry added by outputs.
    given: f64,
    /// Covectors of the rates of stages.
    stages: Vec<Vec<Increment>>,
    numbers: Vec<f64>,
    by_parameter: Vec<f64>,
}

impl Carried {
    fn new(bodies: usize, stages: usize, numbers: usize, parameters: usize) -> Self {
        Self {
            lambda: vec![Pull::default(); bodies],
            given: 0.0,
            stages: vec![vec![Increment::default(); bodies]; stages],
            numbers: vec![0.0; numbers],
            by_parameter: vec![0.0; parameters],
        }
    }

    fn size(&self) -> f64 {
        self.lambda.iter().skip(1).fold(0.0, |m, p| p.size().max(m))
    }
}

/// Workspace of the backward pass.
struct Back<'m> {
    mover: Mover<'m>,
    /// Bodies that forces depend on, and parameters that change forces.
    read: Vec<Vec<usize>>,
    changed: Vec<Changed>,
    pushes: Vec<Pushes>,
    /// Offset of the data of rows in the list.
    rows_from: usize,
    /// Rotation increments of the bodies in a step.
    turns: Vec<Vector3<f64>>,
    /// A virtual motion.
    x: Vec<Twist>,
    room: Room,
}

/// The derivatives of measures of a run; `None` if perturbed mechanisms have a different form, the motion cannot be followed, or a measure
/// reads more than poses and velocities.
pub(super) fn of_measures(
    way: &Way<'_>,
    parameters: &Parameters<'_>,
    which: &[usize],
    begin: &Begin<'_>,
    measures: &Measures<'_>,
) -> Result<Option<Found>, Error> {
    let Way { model, set, start, study, tableau, .. } = way;
    let mut mover = Mover::new(model, set, start, tableau);
    if mover.is_floored() {
        return Ok(None);
    }
    let size = mover.y.stored();
    let mut kept = Kept::new(size, MOST);
    let mut rows_of = Rows::new(model, start);
    let mut run = Trajectory::new(columns(model));
    let mut states = Vec::new();
    // Number of steps taken up to each output time.
    let mut ends = Vec::new();
    for t in study.output_times() {
        if !way.advance(&mut mover, t, &mut |t, h, y| kept.step(t, h, y.numbers())) {
            return Ok(None);
        }
        let state = mover.y.configuration(t, start);
        run.push(&rows_of.row(model, &state));
        states.push((state, rows_of.clone()));
        ends.push(kept.steps.len());
    }
    let measures = measures(&run.columns, &parameters.values)?;
    let mut weights = Vec::new();
    for m in &measures {
        if m.reads().any(|c| run.values[c].iter().any(|x| !x.is_finite())) {
            return Ok(None);
        }
        weights.push(m.gradient(&run)?);
    }
    let Some((end, _)) = states.last().cloned() else { return Ok(None) };
    let looks = Looks::new(model, &states, weights);
    let listed = OfLoops { model, form: rows::form(set), own: list(model, set) };
    let setting = Setting { model, start, t_end: study.t_end, counted: false };
    let Some((follow, changed)) = groups::follow(&listed, &setting, parameters, which, &looks)? else { return Ok(None) };
    let some = [0, states.len() / 3, 2 * states.len() / 3, states.len() - 1].map(|k| &states[k].0);
    let redundant = Structure::new(model, start).redundant();
    if redundant > 0 && !start::stay_closed(&mut mover.closing, redundant, &some, &follow, &parameters.values_of(which)) {
        return Ok(None);
    }
    let n = model.bodies.len();
    let count = kept.steps.len();
    let every = kept.every;
    let mut carried: Vec<Carried> =
        measures.iter().map(|_: &Measure| Carried::new(n, tableau.a.len(), listed.own.len(), which.len())).collect();
    let mut after = mover.y.clone();
    let mut back = Back {
        read: model.forces.iter().map(|(_, f)| f.bodies(model)).collect(),
        changed,
        pushes: tableau.a.iter().map(|_| Pushes::default()).collect(),
        rows_from: 3 + BODY * (model.bodies.len() - 1),
        turns: Vec::with_capacity(n),
        x: vec![Twist::zero(); n],
        room: (vec![0.0; set.rows()], vec![Wrench::zero(); n], vec![Pull::default(); n]),
        mover,
    };
    let mut segment: Vec<State> = Vec::new();
    let (mut row, mut step) = (ends.len(), count);
    let mut useless = None;
    loop {
        // Outputs at the end of the last step.
        while row > 0 && ends[row - 1] == step {
            row -= 1;
            for (measure, c) in carried.iter_mut().enumerate() {
                looks.each(measure, row, |b, by| {
                    let pull = Pull::of_world(&by, &after.q[b], &after.v[b]);
                    c.given = c.given.max(pull.size());
                    c.lambda[b].add(&pull, 1.0);
                });
                if !c.lambda.iter().all(Pull::is_finite) {
                    return Err(looks.refusal(row));
                }
            }
        }
        if step == 0 {
            break;
        }
        step -= 1;
        stop::check()?;
        if step % every == every - 1 || step == count - 1 {
            back.segment(&kept, step - step % every..step + 1, &after, &mut segment);
        }
        let (t, h) = kept.steps[step];
        let before = &segment[step % every];
        back.step(t, h, before, &after, &mut carried);
        after.copy(before);
        if useless.is_none() && carried.iter().any(|c| c.size() > USELESS * c.given) {
            useless = Some(t);
        }
    }
    if !start::gone_back(way, parameters, which, begin, &mut carried)? {
        return Ok(None);
    }
    let slopes = carried.iter().enumerate().map(|(m, c)| by_parameters(c, m, &follow)).collect();
    Ok(Some(Found { run, measures, end, slopes, kept: 8 * (kept.numbers() + segment.len() * size), useless }))
}

/// The derivatives with respect to parameters, at the start.
fn by_parameters(c: &Carried, measure: usize, follow: &[Follows]) -> Vec<f64> {
    let one = |(known, f): (&f64, &Follows)| known + f.seen[measure] + f.slopes.iter().map(|&(i, x)| c.numbers[i] * x).sum::<f64>();
    c.by_parameter.iter().zip(follow).map(one).collect()
}

/// Multipliers of the part of a covector normal to the constraints, into `y`: `S y = G M^-1 c`, with the current factorisation.
fn seen_by_rows(e: &mut Equations<'_>, c: &[Wrench], polish: bool, y: &mut [f64]) {
    let Equations { set, G, p, .. } = e;
    for (d, (w, inverse)) in p.dq.iter_mut().zip(c.iter().zip(&p.inverse)) {
        *d = inverse.apply(w);
    }
    set.multiply(G, &p.dq, &mut p.x);
    e.solve_firmly(polish, y);
}

impl Back<'_> {
    /// The states at the starts of some steps, recomputed from a stored state.
    fn segment(&mut self, kept: &Kept, steps: Range<usize>, like: &State, out: &mut Vec<State>) {
        let count = steps.len();
        out.resize_with(count.max(out.len()), || like.clone());
        out[0].read(kept.state(steps.start / kept.every));
        for i in 1..count {
            let (t, h) = kept.steps[steps.start + i - 1];
            let (done, rest) = out.split_at_mut(i);
            self.mover.evaluate(t, h, &done[i - 1], 0..self.mover.tableau.a.len());
            self.mover.end(t, h, &done[i - 1], &mut rest[0]);
        }
    }

    /// One step backwards, given the states at its start and its end.
    fn step(&mut self, t: f64, h: f64, before: &State, after: &State, carried: &mut [Carried]) {
        let rows = self.mover.tableau.a.len();
        self.mover.evaluate(t, h, before, 0..rows);
        let Self { mover, read, changed, pushes, .. } = self;
        for (stage, pushes) in mover.stages.iter().zip(pushes).take(rows) {
            let at = Plain { t: stage.t, q: &stage.q, v: &stage.v, turns: &before.turns, loads: &[], z: &[] };
            pushes.note(mover.model, read, changed, at);
        }
        let e = &mut self.mover.closing;
        e.jacobian(&after.q);
        e.factor(1.0);
        let first = self.rows_from;
        for c in carried.iter_mut() {
            velocities_back(e, after, &mut c.lambda, &mut c.numbers[first..], &mut self.room);
            poses_back(e, after, &mut c.lambda, &mut c.numbers[first..], &mut self.room);
        }
        self.turns.clear();
        self.turns.extend(self.mover.increment(h).iter().map(|d| d.turn));
        for c in carried.iter_mut() {
            self.stages_back(h, c);
        }
    }

    /// Backward pass through all stages of a step.
    fn stages_back(&mut self, h: f64, c: &mut Carried) {
        let first = self.rows_from;
        let Self { mover, pushes, turns, x, room: (y, wrench, pulls), .. } = self;
        let (a, model) = (mover.tableau.a, mover.model);
        let n = model.bodies.len();
        // The end of the step before projection.
        pulls[0] = Pull::default();
        for b in 1..n {
            let (turn, begun) = turn_back(&turns[b], &c.lambda[b].turn);
            pulls[b] = Pull { turn, ..c.lambda[b] };
            c.lambda[b].turn = begun;
        }
        for (stage, k) in c.stages.iter_mut().enumerate() {
            let weight = a.last().into_iter().flat_map(|w| w.iter()).filter(|(i, _)| *i == stage).map(|(_, w)| w).sum::<f64>();
            k.fill(Increment::default());
            k.iter_mut().zip(pulls.iter()).for_each(|(k, p)| k.add(p, h * weight));
        }
        for j in (0..a.len()).rev() {
            let s = &mut mover.stages[j];
            wrench.iter_mut().zip(&c.stages[j]).for_each(|(w, k)| *w = Wrench { F: k.v, T: k.w });
            wrench[0] = Wrench::zero();
            // The transposed solution of the accelerations.
            seen_by_rows(&mut s.e, wrench, false, y);
            s.e.set.add_transposed(&s.e.G, y, -1.0, wrench);
            wrench[0] = Wrench::zero();
            for (x, (w, inverse)) in x.iter_mut().zip(wrench.iter().zip(&s.e.p.inverse)) {
                *x = inverse.apply(w);
            }
            pulls.fill(Pull::default());
            let at = Moving { q: &s.q, v: &s.v, a: &s.a, x };
            let weights = Weights { along: &s.lambda, second: y, ..Weights::default() };
            rows::back(&s.e.set, &at, weights, -1.0, pulls, &mut c.numbers[first..]);
            pushes[j].back((&s.q, &s.v), x, pulls, &mut c.by_parameter);
            for b in 1..n {
                let (body, w, own, kbar) = (&model.bodies[b], &s.v[b].w, &x[b], &c.stages[j][b]);
                let pull = &mut pulls[b];
                pull.w -= (body.J_bar * w).cross(&own.w) + body.J_bar * own.w.cross(w);
                let place = 3 + BODY * (b - 1);
                let numbers = &mut c.numbers[place..place + BODY];
                numbers[0] -= own.v.dot(&(s.a[b].v - model.gravity));
                let J: Matrix3<f64> = own.w * s.a[b].w.transpose() + own.w.cross(w) * w.transpose();
                numbers[INERTIA..INERTIA + 9].iter_mut().zip(J.iter()).for_each(|(n, j)| *n -= j);
                (0..3).for_each(|i| c.numbers[i] += body.mass * own.v[i]);
                // Rates of positions and rotations.
                let (by_turn, by_w) = pulled_back_by(&s.d[b].turn, w, &kbar.turn);
                pull.v += kbar.r;
                pull.w += by_w;
                let (turn, begun) = turn_back(&s.d[b].turn, &pull.turn);
                c.lambda[b].add(&Pull { turn: begun, ..*pull }, 1.0);
                pull.turn = turn + by_turn;
            }
            if j > 0 {
                for &(i, w) in a[j - 1] {
                    c.stages[i].iter_mut().zip(pulls.iter()).skip(1).for_each(|(k, p)| k.add(p, h * w));
                }
            }
        }
    }
}

/// Workspace for multipliers, wrenches and covectors.
type Room = (Vec<f64>, Vec<Wrench>, Vec<Pull>);

const STILL: [Twist; 0] = [];

/// Converts covectors of a state with projected velocities to those before the projection, with the factorisation at its pose.
fn velocities_back(e: &mut Equations<'_>, at: &State, lambda: &mut [Pull], numbers: &mut [f64], (y, wrench, pulls): &mut Room) {
    wrench.iter_mut().zip(lambda.iter()).for_each(|(w, l)| *w = Wrench { F: l.v, T: l.w });
    wrench[0] = Wrench::zero();
    seen_by_rows(e, wrench, true, y);
    e.set.add_transposed(&e.G, y, -1.0, wrench);
    pulls.fill(Pull::default());
    let moving = Moving { q: &at.q, v: &at.v, a: &STILL, x: &at.v };
    rows::back(&e.set, &moving, Weights { along: y, ..Weights::default() }, -1.0, pulls, numbers);
    for (l, (p, w)) in lambda.iter_mut().zip(pulls.iter().zip(wrench.iter())).skip(1) {
        l.r += p.r;
        l.turn += p.turn;
        (l.v, l.w) = (w.F, w.T);
    }
}

/// The same for the projection of poses.
fn poses_back(e: &mut Equations<'_>, at: &State, lambda: &mut [Pull], numbers: &mut [f64], (y, wrench, pulls): &mut Room) {
    wrench.iter_mut().zip(lambda.iter()).for_each(|(w, l)| *w = Wrench { F: l.r, T: l.turn });
    wrench[0] = Wrench::zero();
    seen_by_rows(e, wrench, true, y);
    pulls.fill(Pull::default());
    let moving = Moving { q: &at.q, v: &at.v, a: &STILL, x: &STILL };
    rows::back(&e.set, &moving, Weights { value: y, ..Weights::default() }, -1.0, pulls, numbers);
    lambda.iter_mut().zip(pulls.iter()).skip(1).for_each(|(l, p)| {
        l.r += p.r;
        l.turn += p.turn;
    });
}
