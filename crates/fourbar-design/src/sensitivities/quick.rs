//! Derivatives of the columns that measures read, cheap enough for every row of a run.
//!
//! A column is a function of poses, velocities, accelerations, multipliers and the parameter itself. Its derivative with respect to the
//! state is formed from four states along the tangent, which need not satisfy the constraints: any smooth curve with the right tangent will
//! do. The derivative with respect to the parameter at a fixed state, where there is one, comes from perturbed mechanisms. Accelerations
//! and multipliers are differentiated only where they are read, with the factorisation of the row itself:
//! ```text
//! M a_p + G^T lambda_p = -r',    G a_p = -s'       ' along the tangent, a and lambda held
//! ```
//! Non-unique reactions are selected by a criterion that needs states satisfying the constraints; they are left to [`super::columns`].

use super::around::Around;
use super::cells::Cells;
use super::direct::{Direct, Moving, Neighbour, Residual, Shown, changed, moved, rows_of};
use super::state::Tangent;
use super::turned::{Turned, are_products};
use crate::operator::Space;
use fourbar::absolute::equations::Equations;
use fourbar::analysis::uniqueness::not_unique_in;
use fourbar::constraint::{ConstraintSet, Owner};
use fourbar::evaluate::dense_rows;
use fourbar::force::eval::Plain;
use fourbar::motion::{Instant, LeastLoads, Loads, Reaction};
use fourbar::random::Random;
use fourbar::state::{Configuration, Twist, Wrench};
use fourbar::trajectory::{Column, Recorder, Trajectory, WantedColumns, columns};
use fourbar::{Model, Structure};
use nalgebra::Vector3;

/// States along a tangent, in steps, with weights of the fourth-order derivative.
const ALONG: [(f64, f64); 4] = [(-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0)];
/// Step of a state, as a share of a length or an angle; and the largest one taken together with steps of the parameter.
const REACH: f64 = 1e-3;
const FAR: f64 = 4e-3;
/// Maximum number of iterations for accelerations: compliance and raised inertias take several.
const ROUNDS: usize = 12;
/// Relative change of a solution at which iteration stops.
const SOLVED: f64 = 1e-14;
/// Tolerances for gaps left by a tangent: as a share of the gaps caused by the parameter or of the length of the tangent, accepted as its
/// error; as a share of the gaps caused by the parameter, always rejected above; in characteristic lengths for a change by the whole
/// parameter, accepted as rounding.
const OPEN: f64 = 1e-6;
const SURELY: f64 = 1e-2;
const ROUNDING: f64 = 1e-9;

/// Fast derivatives of some columns of a run.
pub(super) struct Quick<'m> {
    model: &'m Model,
    /// Perturbed mechanisms, by parameter.
    around: Vec<Vec<Neighbour>>,
    list: Vec<Column>,
    read: Vec<usize>,
    /// The columns evaluated one by one, and the joints whose reactions they show, if all columns permit that; otherwise whole rows are
    /// evaluated.
    cells: Option<(Cells, Vec<usize>)>,
    /// Signs of quaternions along the run and at the current row.
    recorder: Recorder,
    /// Whether rows have been evaluated before.
    again: bool,
    /// By parameter: whether the columns depend on it at fixed states.
    seen: Vec<bool>,
    loaded: Option<Loaded<'m>>,
    /// Whether every row is tested for joints that a tangent would open.
    redundant: bool,
    direct: Vec<Direct>,
    /// Exact derivatives along tangents if all rows are products of vectors; otherwise they come from states along them.
    turned: Option<Turned>,
    /// The Jacobian at the row, valid if `known`.
    G: Vec<f64>,
    known: bool,
    set: ConstraintSet,
    plain: Loads,
    now: Instant,
    row: Vec<f64>,
}

/// Equations and workspace for accelerations and reactions.
struct Loaded<'m> {
    e: Equations<'m>,
    least: LeastLoads,
    /// Whether reactions are read.
    reactions: bool,
    /// Accelerations and multipliers of the rows evaluated before, and the index of the next.
    known: Vec<(Vec<Twist>, Vec<f64>)>,
    next: usize,
    residual: Residual,
    a: Vec<Twist>,
    lambda: Vec<f64>,
    r: Vec<Wrench>,
    s: Vec<f64>,
    /// Derivatives of accelerations and multipliers.
    da: Vec<Twist>,
    dl: Vec<f64>,
    b: Vec<f64>,
}

/// Sets quantities that are not computed to NaN: accelerations, reactions, or both.
fn blank(now: &mut Instant, accelerations: bool, reactions: bool) {
    let none = Vector3::repeat(f64::NAN);
    if !accelerations {
        now.a.fill(Twist { v: none, w: none });
    }
    if !reactions {
        now.reactions.fill(Reaction { force: none, torque: none });
        now.constraints.fill(Reaction { force: none, torque: none });
        now.efforts.fill(f64::NAN);
    }
    now.work = f64::NAN;
    now.errors = [f64::NAN; 3];
}

/// Whether a column shows a reaction or an effort that self-stresses change, at one of some states.
fn free(model: &Model, set: &ConstraintSet, states: &[&Configuration], read: &[&Column]) -> bool {
    let part = |c: &Column, element: &str| c.name.strip_prefix(element).and_then(|rest| rest.strip_prefix('.')).map(str::to_string);
    // Multipliers of drives, single rows and rolling, tested for uniqueness.
    let own = |c: &usize| !matches!(set.list[*c].owner, Owner::Joint(_)) && read.iter().any(|r| part(r, &set.list[*c].name).is_some());
    let rows: Vec<usize> = (0..set.list.len()).filter(own).flat_map(|c| set.row_start[c]..set.row_start[c + 1]).collect();
    states.iter().any(|s| {
        let list = not_unique_in(model, set, s);
        let joints = read.iter().any(|c| list.iter().any(|(j, parts)| part(c, j).is_some_and(|key| parts.contains(&key))));
        joints || {
            let space = (!rows.is_empty()).then(|| Space::new(model, &dense_rows(model, set, &s.q)));
            space.is_some_and(|space| rows.iter().any(|&r| !space.is_unique(r)))
        }
    })
}

impl<'m> Quick<'m> {
    /// Set up for the columns read from a run through some states; `None` if they need more than this method provides.
    pub fn new(model: &'m Model, around: &'m [Around], states: &[Configuration], wanted: &[bool]) -> Option<Self> {
        let list = columns(model);
        let read: Vec<usize> = (0..list.len()).filter(|&c| wanted[c]).collect();
        let own: Vec<&Column> = read.iter().map(|&c| &list[c]).collect();
        let (first, last) = (states.first()?, states.last()?);
        let mut set = rows_of(model);
        set.choose(first.t);
        let known = |accelerations: bool, reactions: bool| {
            let mut now = Instant::new(model, first);
            blank(&mut now, accelerations, reactions);
            let mut row = Vec::new();
            Recorder::new(model, WantedColumns::ALL).row(model, &now, &mut row);
            read.iter().all(|&c| row[c].is_finite())
        };
        let structure = Structure::new(model, first);
        let redundant = structure.redundant() > 0;
        let reactions = !known(true, false);
        if !known(true, true) || reactions && redundant && free(model, &set, &[first, &states[states.len() / 2], last], &own) {
            return None;
        }
        let accelerated = reactions || !known(false, false);
        let neighbours = |a: &Around| a.nearest().map(|(change, weight, m)| Neighbour::new(change, weight, m, model)).collect();
        let around: Vec<Vec<Neighbour>> = around.iter().map(neighbours).collect();
        let mut direct = Vec::new();
        if accelerated || redundant {
            let shown = Shown::new(model, &set, first, last.t);
            for list in &around {
                direct.push(Direct::new(model, &set, list, &shown)?);
            }
        }
        let (seen, cells) = seen(model, &around, first, &list, &read);
        let loaded = accelerated.then(|| {
            let e = Equations::new(model, first);
            let (n, m) = (model.bodies.len(), set.rows());
            Loaded {
                least: structure.reactions(&first.q),
                reactions,
                known: Vec::new(),
                next: 0,
                residual: Residual::new(model, &set),
                a: vec![Twist::zero(); n],
                lambda: vec![0.0; m],
                r: vec![Wrench::zero(); n],
                s: vec![0.0; m],
                da: vec![Twist::zero(); n],
                dl: vec![0.0; m],
                b: vec![0.0; m],
                e,
            }
        });
        Some(Self {
            model,
            around,
            recorder: Recorder::new(model, WantedColumns::of(own)),
            cells,
            again: false,
            list,
            read,
            seen,
            loaded,
            redundant,
            direct,
            turned: are_products(&set).then(Turned::default),
            G: vec![0.0; set.values],
            known: false,
            plain: Loads::new(model, &set),
            set,
            now: Instant::new(model, first),
            row: Vec::new(),
        })
    }

    /// The run; columns that are not read may be NaN.
    pub fn run(&mut self, states: &[Configuration]) -> Trajectory {
        let mut run = Trajectory::new(std::mem::take(&mut self.list));
        let signs = self.recorder.clone();
        let mut known = Vec::new();
        for state in states {
            self.at(state);
            run.push(&self.row);
            known.extend(self.loaded.as_ref().map(|l| (l.a.clone(), l.lambda.clone())));
        }
        self.recorder = signs;
        self.again = true;
        if let Some(l) = &mut self.loaded {
            l.known = known;
        }
        run
    }

    /// Moves to the state of a row, in order, and evaluates it.
    pub fn at(&mut self, state: &Configuration) {
        self.set.choose(state.t);
        self.known = false;
        self.around.iter_mut().flatten().for_each(|n| {
            n.set.choose(state.t);
        });
        self.direct.iter_mut().for_each(|d| d.choose(state.t));
        let now = &mut self.now;
        (now.t, now.work, now.errors) = (state.t, 0.0, [0.0; 3]);
        now.q.clone_from(&state.q);
        now.v.clone_from(&state.v);
        now.turns.clone_from(&state.turns);
        now.z.clone_from(&state.z);
        match &mut self.loaded {
            Some(l) => {
                l.e.set.choose(state.t);
                l.e.z.clone_from(&state.z);
                let Configuration { t, q, v, turns, .. } = state;
                match l.known.get(l.next) {
                    Some((a, lambda)) => {
                        // Evaluated before; only the factorisation is missing.
                        l.a.clone_from(a);
                        l.lambda.clone_from(lambda);
                        l.e.jacobian(q);
                        l.e.factor(1.0);
                        l.next += 1;
                        if let Some(turned) = &mut self.turned {
                            turned.at(&self.set, state, lambda);
                        }
                    }
                    None => {
                        l.a.fill(Twist::zero());
                        l.e.accelerate((q, v, turns, *t), None, true, &mut l.a, &mut l.lambda);
                        if l.reactions {
                            l.least.fill(self.model, &self.set, &l.lambda, now);
                        }
                    }
                }
                now.a.clone_from(&l.a);
                blank(now, true, l.reactions);
            }
            None => blank(now, false, false),
        }
        if !self.again || self.cells.is_none() {
            self.row.clear();
            self.recorder.row(self.model, now, &mut self.row);
        }
    }

    /// Whether the tangent for a parameter of a given size keeps all joints closed at the current state.
    pub fn closes(&mut self, k: usize, state: &Configuration, x: &Tangent, size: f64) -> bool {
        if !self.redundant {
            return true;
        }
        let rows = self.set.rows();
        let (mut by, mut gaps, mut Phi) = (vec![0.0; rows], vec![0.0; rows], vec![0.0; rows]);
        self.direct[k].add_gaps(&plain(state), &mut by);
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let whole = norm(&by);
        if whole == 0.0 {
            return true;
        }
        if let Some(turned) = &mut self.turned {
            if !std::mem::replace(&mut self.known, true) {
                self.set.jacobian(&state.q, &mut self.G);
            }
            turned.take(x);
            self.set.multiply(&self.G, turned.poses(), &mut gaps);
        } else if let Some(step) = self.step(state, x) {
            for (place, weight) in ALONG {
                moved(&state.q, x.q.as_slice(), place * step, &mut self.now.q);
                self.set.residual(&self.now.q, &state.turns, state.t, &mut Phi);
                gaps.iter_mut().zip(&Phi).for_each(|(g, p)| *g += weight / step * p);
            }
        }
        gaps.iter_mut().zip(&by).for_each(|(g, b)| *g += b);
        let (rest, long) = (norm(&gaps), x.q.dot(&x.q).sqrt() * self.model.length.max(1.0));
        rest * size <= ROUNDING * self.model.length || rest <= (OPEN * whole.max(long)).min(SURELY * whole)
    }

    /// Size of a step along a tangent; `None` for a zero tangent.
    fn step(&self, state: &Configuration, x: &Tangent) -> Option<f64> {
        let L = self.model.length;
        let mut size = 0.0_f64;
        for (b, (q, v)) in x.q.as_slice().chunks_exact(6).zip(x.v.as_slice().chunks_exact(6)).enumerate() {
            let now = &state.v[b + 1];
            let rate = 1.0 + now.v.norm() / L + now.w.norm();
            let largest = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            size = size.max(largest(&q[..3]) / L).max(largest(&q[3..]));
            size = size.max(largest(&v[..3]) / (L * rate)).max(largest(&v[3..]) / rate);
        }
        (size > 0.0).then(|| REACH / size)
    }

    /// The derivative of the current row with respect to a parameter along its tangent; NaN for columns that are not read.
    pub fn slope(&mut self, k: usize, state: &Configuration, x: &Tangent) -> Vec<f64> {
        let step = self.step(state, x);
        if let Some(l) = &mut self.loaded {
            l.follow(self.model, &self.set, (&mut self.direct[k], &mut self.turned), &mut self.now, state, x, step);
        }
        let mut sum = vec![f64::NAN; self.row.len()];
        self.read.iter().for_each(|&c| sum[c] = 0.0);
        let own = &self.around[k];
        // The state is moved together with a step of the parameter, unless that is too far.
        let far = own.last().zip(step).map_or(0.0, |(n, step)| 0.5 * n.change * REACH / step);
        if self.seen[k] && far <= FAR {
            for n in own {
                let Self { now, loaded, row, recorder, read, cells, .. } = self;
                place(now, loaded, state, x, n.change);
                show(loaded, cells, recorder, (&n.model, &n.set, &n.loads), now, row);
                read.iter().for_each(|&c| sum[c] += n.weight * row[c]);
            }
            return sum;
        }
        // Also if accelerations depend on the parameter although the state does not.
        let follows = step.or(self.loaded.is_some().then_some(REACH));
        for (at, weight) in ALONG {
            let Some(step) = follows else { break };
            let Self { now, loaded, row, recorder, read, cells, model, set, plain, .. } = self;
            place(now, loaded, state, x, at * step);
            show(loaded, cells, recorder, (model, set, plain), now, row);
            read.iter().for_each(|&c| sum[c] += weight / step * row[c]);
        }
        if self.seen[k] {
            for n in own {
                let Self { now, loaded, row, recorder, read, cells, .. } = self;
                place(now, loaded, state, x, 0.0);
                show(loaded, cells, recorder, (&n.model, &n.set, &n.loads), now, row);
                read.iter().for_each(|&c| sum[c] += n.weight * row[c]);
            }
        }
        sum
    }
}

/// The row of an instant with the current multipliers, in a mechanism or a perturbed one.
fn show(
    loaded: &Option<Loaded<'_>>,
    cells: &Option<(Cells, Vec<usize>)>,
    recorder: &mut Recorder,
    (model, set, loads): (&Model, &ConstraintSet, &Loads),
    now: &mut Instant,
    row: &mut Vec<f64>,
) {
    let lambda = loaded.as_ref().filter(|l| l.reactions).map(|l| &l.b);
    match cells {
        Some((cells, joints)) => {
            if let Some(lambda) = lambda {
                Cells::load(joints, model, set, loads, lambda, now);
            }
            cells.row(model, now, row);
        }
        None => {
            if let Some(lambda) = lambda {
                loads.fill(model, set, lambda, now);
            }
            row.clear();
            recorder.row(model, now, row);
        }
    }
}

/// Sets an instant along a tangent, with its accelerations; multipliers go to the workspace of `loaded`.
fn place(now: &mut Instant, loaded: &mut Option<Loaded<'_>>, state: &Configuration, x: &Tangent, by: f64) {
    moved(&state.q, x.q.as_slice(), by, &mut now.q);
    changed(&state.v, x.v.as_slice(), by, &mut now.v);
    let Some(l) = loaded else { return };
    for (b, a) in now.a.iter_mut().enumerate() {
        *a = Twist { v: l.a[b].v + l.da[b].v * by, w: l.a[b].w + l.da[b].w * by };
    }
    if l.reactions {
        l.b.iter_mut().enumerate().for_each(|(r, b)| *b = l.lambda[r] + l.dl[r] * by);
    }
}

/// The state as read by forces.
fn plain(state: &Configuration) -> Plain<'_> {
    crate::operator::plain(state)
}

impl Loaded<'_> {
    /// Derivatives of accelerations and multipliers with respect to a parameter, into `da` and `dl`.
    #[allow(clippy::too_many_arguments)]
    fn follow(
        &mut self,
        model: &Model,
        set: &ConstraintSet,
        (direct, turned): (&mut Direct, &mut Option<Turned>),
        now: &mut Instant,
        state: &Configuration,
        x: &Tangent,
        step: Option<f64>,
    ) {
        let Self { e, residual, a, lambda, r, s, da, dl, b, .. } = self;
        let moving = Moving { a, lambda };
        r.fill(Wrench::zero());
        s.fill(0.0);
        direct.add(model, &plain(state), moving, r, s);
        if let Some(turned) = turned {
            turned.take(x);
            turned.add(model, set, state, moving, r, s);
        } else if let Some(step) = step {
            for (place, weight) in ALONG {
                moved(&state.q, x.q.as_slice(), place * step, &mut now.q);
                changed(&state.v, x.v.as_slice(), place * step, &mut now.v);
                let at = Plain { q: &now.q, v: &now.v, ..plain(state) };
                residual.form(model, set, &at, moving);
                let weight = weight / step;
                for (r, own) in r.iter_mut().zip(&residual.r) {
                    r.F += own.F * weight;
                    r.T += own.T * weight;
                }
                s.iter_mut().zip(&residual.s).for_each(|(s, own)| *s += own * weight);
            }
        }
        solve(model, e, r, s, da, dl, b);
    }
}

/// Solves `M a + G^T l = -r`, `G a = -s` with the current factorisation. `b` is workspace.
pub(super) fn solve(model: &Model, e: &mut Equations<'_>, r: &[Wrench], s: &[f64], a: &mut [Twist], l: &mut [f64], b: &mut [f64]) {
    a.fill(Twist::zero());
    l.fill(0.0);
    let mut last = f64::INFINITY;
    for _ in 0..ROUNDS {
        for (k, r) in r.iter().enumerate() {
            let body = &model.bodies[k];
            e.r[k] = Wrench { F: r.F + a[k].v * body.mass, T: r.T + body.J_bar * a[k].w };
        }
        let (mut own, G) = (std::mem::take(&mut e.r), &e.G);
        e.set.add_transposed(G, l, 1.0, &mut own);
        own[0] = Wrench::zero();
        e.r = own;
        e.set.multiply(&e.G, a, b);
        e.p.x.iter_mut().zip(b.iter().zip(s)).for_each(|(x, (b, s))| *x = b + s);
        e.solve(1.0, 1.0);
        let (mut change, mut size) = (0.0_f64, 0.0_f64);
        for (a, d) in a.iter_mut().zip(&e.p.dq) {
            a.v += d.v;
            a.w += d.w;
            change = change.max(d.v.amax()).max(model.length * d.w.amax());
            size = size.max(a.v.amax()).max(model.length * a.w.amax());
        }
        a[0] = Twist::zero();
        l.iter_mut().zip(&e.p.x).for_each(|(l, x)| *l += x);
        // Stops if the next change, by linear convergence, is negligible.
        let next = if last.is_finite() { change * (change / last).min(1.0) } else { change };
        if next <= SOLVED * size || change >= 0.5 * last && change <= 1e-9 * size {
            break;
        }
        last = change;
    }
}

/// Whether columns depend on each parameter at fixed states, tested at random states, accelerations and reactions; and the columns one by
/// one, if they agree with whole rows there.
fn seen(
    model: &Model,
    around: &[Vec<Neighbour>],
    start: &Configuration,
    list: &[Column],
    read: &[usize],
) -> (Vec<bool>, Option<(Cells, Vec<usize>)>) {
    let set = rows_of(model);
    let loads = Loads::new(model, &set);
    let recorder = Recorder::new(model, WantedColumns::ALL);
    let mut out = vec![false; around.len()];
    let mut cells = Cells::new(model, list, read).map(|c| {
        let joints = c.loaded();
        (c, joints)
    });
    for seed in 0..3 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
        let mut now = Instant::new(model, start);
        for b in 1..now.q.len() {
            let mut three = |size: f64| Vector3::from_fn(|_, _| size * random.number());
            now.q[b] = now.q[b].moved(&Twist { v: three(0.1 * model.length), w: three(0.3) });
            now.v[b] = Twist { v: three(model.length), w: three(1.0) };
            now.a[b] = Twist { v: three(model.length), w: three(1.0) };
        }
        let lambda: Vec<f64> = (0..set.rows()).map(|_| random.number()).collect();
        let row_of = |m: &Model, set: &ConstraintSet, loads: &Loads| {
            let mut now = now.clone();
            loads.fill(m, set, &lambda, &mut now);
            let mut row = Vec::new();
            recorder.clone().row(m, &now, &mut row);
            row
        };
        let own = row_of(model, &set, &loads);
        cells = cells.filter(|(cells, joints)| {
            let (mut row, mut now) = (vec![f64::NAN; own.len()], now.clone());
            Cells::load(joints, model, &set, &loads, &lambda, &mut now);
            cells.row(model, &now, &mut row);
            read.iter().all(|&c| (row[c] - own[c]).abs() <= 1e-13 * own[c].abs().max(model.length))
        });
        for (out, a) in out.iter_mut().zip(around) {
            // Two mechanisms on one side: values on both sides of an extremum may be equal.
            for n in a.iter().skip(2) {
                let row = row_of(&n.model, &n.set, &n.loads);
                *out |= read.iter().any(|&c| row[c].to_bits() != own[c].to_bits());
            }
        }
    }
    (out, cells)
}
