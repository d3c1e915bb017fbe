//! Time stepping of Moreau and Jean on the velocity level, in absolute coordinates: many rigid contacts, friction and impacts in fixed
//! steps.
//!
//! In the first half of a step every body translates and rotates freely, from `(q, v)` to the middle; there forces, constraints and
//! contacts change the velocities at once; in the second half it translates and rotates freely again:
//!
//! ```text
//! M (v+ - v) = h f + G^T P + W^T L,   G (v+ + v)/2 = nu
//! 0 <= L_N  _|_  u_N+ + e u_N >= 0,   L_T in the disk of friction, opposed to u_T+
//! ```
//!
//! for contacts whose gap in the middle is closed. Impacts of a step are simultaneous, with Newton's restitution. Constraints hold in the
//! mean of the step, so that they do no work; positions and velocities are projected onto them at its end. Free rotation uses the midpoint
//! rule, which conserves energy; momentum and angular momentum of balls are conserved to rounding. Contacts in a step never add energy: if
//! friction that reverses inside a step, or a solve that ended early, would add energy, all impulses are reduced until they do not.
//!
//! Joint limits and sticking friction in joints are part of the same problem if there are contacts: limits as contacts without friction,
//! friction as an impulse along its coordinate up to its bound, from the loads of the last step. These loads exclude impulses of impacts,
//! which do not increase friction.
//!
//! The method is of first order: impacts fall anywhere in a step, and bodies overlap by up to a step at their speed of approach.

pub(crate) mod active;
mod joints;
pub(crate) mod solve;

use super::control::asked_every;
use super::lists::{flat, list, poses, unflat, unflat_poses};
use super::{positive, tau};
use crate::absolute::equations::Equations;
use crate::analysis::assembly::update_turns;
use crate::contact::{First, Second, Spot, Spots};
use crate::coordinate::PoseOf;
use crate::diagnostic::{Diagnostic, number};
use crate::event::Bounded;
use crate::force::eval::{self, Plain};
use crate::judge;
use crate::model::{JointCoordinate, Model};
use crate::motion::{ContactLoad, Instant, LeastLoads, Motion, Outcome, bad_checkpoint};
use crate::settings::{Study, count};
use crate::state::{Configuration, Pose, Twist, Wrench};
use crate::structure::Structure;
use active::{Active, Finder, Kept, Key};
use fourbar_math::elementary;
use joints::{Of, of};
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};
use solve::{Solved, solve};
use std::collections::HashMap;

/// Largest step by default, s, and number of steps per run.
const STEP: f64 = 1e-3;
const STEPS: f64 = 1000.0;
/// Maximum number of sweeps over the contacts of a step.
const SWEEPS: f64 = 300.0;
/// Residual of the contact conditions at which sweeps end, in speeds of the mechanism: for a few contacts, and for many, where the last
/// digits would take most of the time.
const SOLVED: f64 = 1e-10;
const SOLVED_OF_MANY: f64 = 1e-6;
const MANY: usize = 48;
/// Residual above which a step is reported in a warning.
const ROUGH: f64 = 1e-3;
/// Slips below this, in speeds of the mechanism, count as sticking.
const STUCK: f64 = 1e-3;
/// An approach is an impact if it is faster than this multiple of the change of velocity by forces in a step.
const IMPACT: f64 = 2.0;
/// Overlaps beyond this fraction of the size of the touching parts are reported in a warning.
const OVERLAP: f64 = 0.05;
/// Number of projections of positions onto the constraints.
const ROUNDS: usize = 3;

/// The state at an end of a step.
#[derive(Clone, Debug)]
struct Point {
    t: f64,
    q: Vec<Pose>,
    v: Vec<Twist>,
    turns: Vec<f64>,
    z: Vec<f64>,
}

/// Integration by time stepping.
pub struct Moreau<'m> {
    model: &'m Model,
    equations: Equations<'m>,
    loads: LeastLoads,
    finder: Finder,
    /// Fixed step, s, and the most sweeps.
    h: f64,
    most: usize,
    /// Time up to which steps may pass the requested times.
    ahead: f64,
    now: Point,
    before: Point,
    /// Mean accelerations and multipliers of the last step.
    a: Vec<Twist>,
    lambda: Vec<f64>,
    /// Multipliers of the last step without those of impacts.
    carried: Vec<f64>,
    /// Closed contacts of the last step, and its length.
    active: Vec<Active>,
    last: f64,
    kept: HashMap<Key, Kept>,
    /// Velocities in the middle of the step, before and after its impulses.
    turned: Vec<Twist>,
    v: Vec<Twist>,
    middle: Vec<Pose>,
    f: Vec<Wrench>,
    rates: Vec<f64>,
    /// Largest speed so far, m/s, as the scale of residuals.
    speed: f64,
    work: f64,
    book: Book,
}

/// Statistics for the report.
#[derive(Clone, Debug, Default)]
struct Book {
    steps: usize,
    sweeps: usize,
    contacts: usize,
    most_contacts: usize,
    /// Largest residual of the contact conditions, m/s, and number of steps with a large one.
    residual: f64,
    rough: usize,
    /// Largest overlap, m, its fraction of the size of the touching parts, its contact and its time.
    overlap: f64,
    share: f64,
    deepest: Option<(usize, f64)>,
    /// Energy dissipated by contacts, J, and number of steps with reduced impulses.
    lost: f64,
    limited: usize,
}

/// The motion with time stepping.
pub fn start<'m>(structure: &Structure<'m>, study: &Study, start: &Configuration) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    Ok(Box::new(Moreau::new(structure, study, start)?))
}

impl<'m> Moreau<'m> {
    /// From a consistent start.
    pub fn new(structure: &Structure<'m>, study: &Study, start: &Configuration) -> Result<Self, Diagnostic> {
        let model = structure.model;
        let h = study.fixed_step().unwrap_or_else(|| {
            let wanted = STEP.min(study.t_end / STEPS);
            study.output_step / (study.output_step / wanted - 1e-9).ceil().max(1.0)
        });
        let most = positive(&study.options, "sweeps")?.unwrap_or(SWEEPS).clamp(1.0, 1e6) as usize;
        tau(study)?;
        let n = model.bodies.len();
        let now = Point { t: start.t, q: start.q.clone(), v: start.v.clone(), turns: start.turns.clone(), z: start.z.clone() };
        let equations = Equations::of(model, structure.rows.clone(), start);
        let rows = equations.set.rows();
        Ok(Self {
            model,
            loads: LeastLoads::new(model, &equations.set, &start.q),
            finder: Finder::new(model),
            h,
            most,
            ahead: study.t_end,
            before: now.clone(),
            a: vec![Twist::zero(); n],
            lambda: vec![0.0; rows],
            carried: vec![0.0; rows],
            active: Vec::new(),
            last: 0.0,
            kept: HashMap::new(),
            turned: now.v.clone(),
            v: now.v.clone(),
            middle: now.q.clone(),
            f: vec![Wrench::zero(); n],
            rates: vec![0.0; now.z.len()],
            speed: 0.0,
            now,
            equations,
            work: 0.0,
            book: Book::default(),
        })
    }

    /// One step. Friction that takes its bounds from the loads of the last step has none before the first step, which is therefore computed
    /// twice.
    fn step(&mut self, h: f64) -> Result<(), Diagnostic> {
        if self.last == 0.0 && joints::frictions(self.model).any(|(_, f)| f.coulomb > 0.0) {
            let (start, work, book) = (self.now.clone(), self.work, self.book.clone());
            self.make(h)?;
            (self.now, self.work, self.book) = (start, work, book);
            self.kept.clear();
        }
        self.make(h)
    }

    fn make(&mut self, h: f64) -> Result<(), Diagnostic> {
        let Self { model, equations: e, now, .. } = self;
        let model: &'m Model = model;
        self.before.clone_from(now);
        let (t, middle_t) = (now.t, now.t + 0.5 * h);
        let bound = e.set.rows() > 0;
        // The middle of the step, after free motion of each body.
        for b in 1..now.v.len() {
            let v = &now.v[b];
            self.turned[b] = Twist { v: v.v, w: turned(&model.bodies[b].J_bar, &v.w, 0.5 * h) };
            self.middle[b] = now.q[b].moved(&v.plus(&self.turned[b]).scaled(0.25 * h));
        }
        e.set.choose(middle_t);
        if !self.rates.is_empty() {
            let plain = Plain { t, q: &now.q, v: &now.v, turns: &now.turns, loads: &e.loads.by_joint, z: &now.z };
            model.auxiliary_rates(&plain, &mut self.rates);
            e.z.iter_mut().zip(now.z.iter().zip(&self.rates)).for_each(|(m, (z, r))| *m = z + 0.5 * h * r);
            let plain = Plain { t: middle_t, q: &self.middle, v: &self.turned, turns: &now.turns, loads: &e.loads.by_joint, z: &e.z };
            model.auxiliary_rates(&plain, &mut self.rates);
            now.z.iter_mut().zip(&self.rates).for_each(|(z, r)| *z += h * r);
        }
        let plain = Plain { t: middle_t, q: &self.middle, v: &self.turned, turns: &now.turns, loads: &e.loads.by_joint, z: &e.z };
        eval::applied(model, &plain, &mut self.f);
        for b in 0..now.v.len() {
            self.v[b] = self.turned[b].plus(&e.p.inverse[b].apply(&self.f[b]).scaled(h));
        }
        self.v[0] = Twist::zero();
        // Constraints in the mean: G v+ = 2 nu - G v.
        let mut wanted = vec![0.0; e.set.rows()];
        if bound {
            e.jacobian(&self.middle);
            e.factor(1.0);
            e.set.nu(middle_t, &mut wanted);
            e.p.rates(&e.set, &self.turned);
            wanted.iter_mut().zip(&e.p.x).for_each(|(w, x)| *w = 2.0 * *w - x);
        }
        let unheld = self.v.clone();
        if bound {
            hold(e, &wanted, &mut self.v, None);
        }
        let held = self.v.clone();
        // Contacts, limits and friction.
        self.finder.find(model, &self.middle, &mut self.active);
        let mut turns = now.turns.clone();
        update_turns(model, &self.middle, &mut turns);
        let plain = Plain { t: middle_t, q: &self.middle, v: &self.turned, turns: &turns, loads: &e.loads.by_joint, z: &e.z };
        joints::find(model, &plain, self.finder.slack, &mut self.active);
        self.finder.prepare(model, e, &self.turned, &self.kept, &mut self.active);
        let plain = Plain { t: middle_t, q: &self.middle, v: &self.turned, turns: &turns, loads: &e.loads.by_joint, z: &e.z };
        self.active.iter_mut().for_each(|a| joints::prepare(model, &plain, h, &self.kept, a));
        let fastest = self.v.iter().zip(&model.bodies).map(|(v, b)| v.v.norm() + spread(b.mass, &b.J_bar) * v.w.norm());
        self.speed = fastest.fold(self.speed, f64::max);
        let scale = self.speed.max(h * model.gravity.norm()).max(1e-12 * model.length);
        let enough = if self.active.len() <= MANY { SOLVED } else { SOLVED_OF_MANY };
        let solved = solve(&mut self.active, &mut self.v, enough * scale, self.most);
        self.limit(h, [&unheld, &held], &wanted, solved, scale);
        let e = &mut self.equations;
        // The end of the step, after free motion again.
        let now = &mut self.now;
        for b in 1..now.q.len() {
            let v = &self.v[b];
            let end = Twist { v: v.v, w: turned(&model.bodies[b].J_bar, &v.w, 0.5 * h) };
            now.q[b] = self.middle[b].moved(&v.plus(&end).scaled(0.25 * h));
            self.a[b] = end.plus(&now.v[b].scaled(-1.0)).scaled(1.0 / h);
            now.v[b] = end;
        }
        now.t = t + h;
        // Work of forces without a potential and of drives, at the middle with mean velocities.
        if model.has_work() {
            let mean: Vec<Twist> = self.turned.iter().zip(&self.v).map(|(a, b)| a.plus(b).scaled(0.5)).collect();
            // The work of friction uses the same loads as its forces.
            let forces = e.power_of_forces(&self.middle, &mean, &self.before.turns, middle_t);
            let [drives, _] = e.powers(&self.middle, &mean, &self.lambda, &self.before.turns, middle_t);
            self.work += h * (drives + forces);
        }
        if bound {
            // The next step uses the loads of this one.
            e.loads.update(&e.set, &self.middle, &self.carried);
            bring(e, now);
        }
        update_turns(model, &now.q, &mut now.turns);
        self.last = h;
        self.book.steps += 1;
        let sum: f64 = now.q.iter().zip(&now.v).map(|(q, v)| q.r.sum() + q.A.sum() + v.v.sum() + v.w.sum()).sum();
        if !sum.is_finite() {
            return Err(Diagnostic::new("S322", format!("at t = {:.6} s a step gave numbers that are not finite", now.t))
                .time(now.t)
                .help("choose a smaller step with `--step`"));
        }
        if bound {
            e.set.choose(now.t);
            e.constraints(&now.q, &now.turns, now.t);
            if let Some((_, d)) = judge::open(model, &e.set, &e.Phi, now.t) {
                return Err(d);
            }
        }
        Ok(())
    }

    /// Records the impulses of a step, and reduces them if they would add energy. `unheld` are velocities without constraints and impulses,
    /// `held` those without impulses only.
    fn limit(&mut self, h: f64, [unheld, held]: [&[Twist]; 2], wanted: &[f64], solved: Solved, scale: f64) {
        let e = &mut self.equations;
        // Work of contacts: impulses times mean relative velocities.
        let mean = |a: &Active, v: &[Twist]| (a.before + a.velocity(v)) * 0.5;
        let work: f64 = self.active.iter().map(|a| a.P.dot(&mean(a, &self.v))).sum();
        let mut factor = 1.0;
        let mut without = self.v.clone();
        if work > 0.0 {
            // With all impulses times x the work is x (b + x c), c > 0.
            without.copy_from_slice(&self.v);
            self.active.iter().for_each(|a| a.add(&-a.P, &mut without));
            let b: f64 = self.active.iter().map(|a| a.P.dot(&mean(a, &without))).sum();
            let c = work - b;
            factor = if b < 0.0 && c > 0.0 { (-b / c).clamp(0.0, 1.0) } else { 0.0 };
            // Rounding relative to the energy of the step is ignored.
            let energy: f64 = self.active.iter().map(|a| a.P.x.abs() * scale).sum();
            if work <= 1e-14 * energy {
                factor = 1.0;
            } else {
                self.book.limited += 1;
            }
        }
        if factor < 1.0 {
            self.active.iter_mut().for_each(|a| a.P *= factor);
        }
        // Velocities again from the impulses, with the multipliers of the constraints; impacts are added last.
        self.v.copy_from_slice(unheld);
        let bound = e.set.rows() > 0;
        let fast = |a: &Active| -a.before.x > IMPACT * (a.velocity(held) - a.before).x.abs();
        let impact = |a: &Active| a.within.is_none() && a.before.x < 0.0 && fast(a);
        push(e, self.active.iter().filter(|a| !impact(a)), &mut self.v);
        let impacts = self.active.iter().any(impact);
        if impacts {
            if bound {
                without.copy_from_slice(&self.v);
                hold(e, wanted, &mut without, Some(&mut self.carried));
            }
            push(e, self.active.iter().filter(|a| impact(a)), &mut self.v);
        }
        if bound {
            hold(e, wanted, &mut self.v, Some(&mut self.lambda));
            if !impacts {
                self.carried.copy_from_slice(&self.lambda);
            }
            self.lambda.iter_mut().chain(&mut self.carried).for_each(|l| *l /= h);
        }
        let lost: f64 = self.active.iter().map(|a| a.P.dot(&mean(a, &self.v))).sum();
        self.work += lost;
        let book = &mut self.book;
        book.lost -= lost;
        book.sweeps += solved.sweeps;
        let contacts = self.active.iter().filter(|a| matches!(of(self.model, &a.key), Of::Contact(_))).count();
        book.contacts += contacts;
        book.most_contacts = book.most_contacts.max(contacts);
        book.residual = book.residual.max(solved.residual);
        book.rough += usize::from(solved.residual > ROUGH * scale);
        self.kept.clear();
        for a in &self.active {
            if let Of::Friction(_) = of(self.model, &a.key) {
                self.kept.insert(a.key, Kept { normal: a.P.x, along: Vector3::zeros(), stuck: joints::holds(a) });
                continue;
            }
            let size = size_of(self.model, a);
            if -a.gap / size > book.share {
                book.share = -a.gap / size;
                book.deepest = Some((a.key.0 as usize, self.now.t + 0.5 * h));
            }
            book.overlap = book.overlap.max(-a.gap);
            let along = a.frame.column(1) * a.P.y + a.frame.column(2) * a.P.z;
            let stuck = sticks(self.model, a, &self.v, scale);
            self.kept.insert(a.key, Kept { normal: a.P.x, along, stuck });
        }
    }

    /// Loads of the contacts in the last step, and their gaps at some poses.
    fn contact_loads(&self, q: &[Pose], out: &mut [ContactLoad]) {
        let pose = |b: usize| PoseOf { r: q[b].r, A: q[b].A };
        for (c, o) in self.model.contacts.iter().zip(out.iter_mut()) {
            *o = ContactLoad { gap: c.spots.least_gap(c.spots.reach(), &pose), ..ContactLoad::default() };
        }
        let mut most = vec![0.0; out.len()];
        for a in self.active.iter().filter(|_| self.last > 0.0) {
            let Of::Contact(k) = of(self.model, &a.key) else { continue };
            let o = &mut out[k];
            let along = (a.frame.column(1) * a.P.y + a.frame.column(2) * a.P.z) / self.last;
            o.normal += a.P.x / self.last;
            o.tangential += if a.swapped { along } else { -along };
            if a.P.x > most[k] {
                let u = a.velocity(&self.v);
                most[k] = a.P.x;
                (o.slip, o.state) = (elementary::hypot(u.y, u.z), if sticks(self.model, a, &self.v, self.speed) { 2.0 } else { 1.0 });
            }
        }
    }
}

/// Whether a contact sticks: friction holds it without slip. The distribution of a load among several contacts gives no information.
fn sticks(model: &Model, a: &Active, v: &[Twist], scale: f64) -> bool {
    let u = a.velocity(v);
    let Of::Contact(k) = of(model, &a.key) else { return false };
    model.contacts[k].friction.fixed > 0.0 && a.P.x > 0.0 && elementary::hypot(u.y, u.z) <= STUCK * scale
}

/// Size of the touching parts: the smallest radius, or the characteristic length if there is none.
fn size_of(model: &Model, a: &Active) -> f64 {
    let size = |spot: &Spot| {
        let first = match &spot.first {
            First::Ball { radius, .. } | First::Rim { radius, .. } => *radius,
            First::Curve(_) => 0.0,
        };
        let second = if let Second::Ball { radius, .. } = &spot.second { *radius } else { 0.0 };
        [first, second].into_iter().filter(|r| *r > 0.0).fold(f64::INFINITY, f64::min)
    };
    let (_, i, j) = a.key;
    let contact = match of(model, &a.key) {
        Of::Contact(k) => k,
        Of::Limit(k) if matches!(model.limits[k].of, Bounded::Position(JointCoordinate::Angle)) => return 1.0,
        _ => return model.length,
    };
    let size = match &model.contacts[contact].spots {
        Spots::Listed(list) => size(&list[i as usize]),
        Spots::Among(among) => size(&among.spot(i as usize, j as usize)),
    };
    if size.is_finite() { size } else { model.length }
}

/// Radius of gyration, m.
fn spread(mass: f64, J: &Matrix3<f64>) -> f64 {
    if mass > 0.0 { (J.trace() / (2.0 * mass)).max(0.0).sqrt() } else { 0.0 }
}

/// Angular velocity after free rotation for a time, body axes: the midpoint rule, which conserves energy.
fn turned(J: &Matrix3<f64>, w: &Vector3<f64>, h: f64) -> Vector3<f64> {
    if (J * w).cross(w).norm() <= 1e-15 * (J * w).norm() * w.norm() {
        return *w;
    }
    let mut end = *w;
    for _ in 0..20 {
        let mean = (end + w) * 0.5;
        let residual = J * (end - w) + mean.cross(&(J * mean)) * h;
        let slope = J + (fourbar_math::so3::tilde(&mean) * J - fourbar_math::so3::tilde(&(J * mean))) * (0.5 * h);
        let Some(step) = slope.lu().solve(&residual) else { return *w };
        end -= step;
        if step.norm() <= 1e-15 * end.norm() {
            break;
        }
    }
    if end.iter().all(|x| x.is_finite()) { end } else { *w }
}

/// Adds the effect of the impulses of some contacts on the velocities of free bodies.
fn push<'a>(e: &Equations<'_>, list: impl Iterator<Item = &'a Active>, v: &mut [Twist]) {
    for a in list {
        for side in (0..2).filter(|s| a.bodies[*s] != 0) {
            let push = (0..3).fold(Wrench::zero(), |sum, k| sum.plus(&a.rows[side][k].scaled(a.P[k])));
            let b = a.bodies[side];
            v[b] = v[b].plus(&e.p.inverse[b].apply(&push));
        }
    }
}

/// Velocities that satisfy the rows, nearest in the metric of the masses; accumulates the multipliers.
fn hold(e: &mut Equations<'_>, wanted: &[f64], v: &mut [Twist], mut lambda: Option<&mut Vec<f64>>) {
    if let Some(l) = &mut lambda {
        l.fill(0.0);
    }
    // The second round removes the error from the compliance of the rows.
    for _ in 0..2 {
        e.p.rates(&e.set, v);
        e.p.x.iter_mut().zip(wanted).for_each(|(x, w)| *x -= w);
        e.p.normal_part(&e.set);
        for (v, d) in v.iter_mut().zip(&e.p.dq).skip(1) {
            *v = v.plus(&d.scaled(-1.0));
        }
        if let Some(l) = &mut lambda {
            l.iter_mut().zip(&e.p.x).for_each(|(l, x)| *l += x);
        }
    }
}

/// Projects positions and velocities onto the constraints.
fn bring(e: &mut Equations<'_>, now: &mut Point) {
    e.set.choose(now.t);
    for _ in 0..ROUNDS {
        e.jacobian(&now.q);
        e.constraints(&now.q, &now.turns, now.t);
        e.factor(1.0);
        if e.Phi.iter().all(|x| x.abs() < 1e-12 * e.model.length) {
            break;
        }
        e.p.x.copy_from_slice(&e.Phi);
        e.normal_part();
        for (q, d) in now.q.iter_mut().zip(&e.p.dq).skip(1) {
            *q = q.moved(&d.scaled(-1.0));
        }
    }
    e.project_velocity(now.t, &mut now.v);
    now.v[0] = Twist::zero();
}

impl Motion for Moreau<'_> {
    fn t(&self) -> f64 {
        self.now.t
    }

    fn run_ahead(&mut self, until: f64) {
        self.ahead = until;
    }

    fn advance(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        while self.now.t < t {
            // Steps end at the requested times. If only rounding remains up to such a time, the step leads on to the limit for steps ahead.
            let end = if t - self.now.t <= 1e-9 * self.h { self.ahead.max(t) } else { t };
            let left = end - self.now.t;
            if left <= 1e-9 * self.h {
                self.now.t = end;
                break;
            }
            let n = (left / self.h - 1e-6).ceil().max(1.0);
            self.step(left / n)?;
            crate::stop::check()?;
            if n == 1.0 || (end - self.now.t).abs() <= 1e-9 * self.h {
                self.now.t = end;
            }
            let asked = asked_every(6 * self.now.q.len());
            if self.book.steps.is_multiple_of(asked) && !go_on(self.now.t.min(t)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn instant(&mut self, t: f64, o: &mut Instant) -> Result<(), Diagnostic> {
        o.t = t;
        o.q.copy_from_slice(&self.now.q);
        o.v.copy_from_slice(&self.now.v);
        o.a.copy_from_slice(&self.a);
        o.z.copy_from_slice(&self.now.z);
        o.turns.copy_from_slice(&self.now.turns);
        let back = self.now.t - t;
        if back > 1e-12 * self.now.t.abs().max(self.last) && self.last > 0.0 {
            // Inside the last step the velocities jump: those of its end are used.
            let x = back / self.last;
            for b in 1..o.q.len() {
                let d = self.now.q[b].increment_to(&self.before.q[b]);
                o.q[b] = self.now.q[b].moved(&d.scaled(x));
            }
            o.z.iter_mut().zip(&self.before.z).for_each(|(z, y)| *z += x * (y - *z));
            update_turns(self.model, &o.q, &mut o.turns);
        }
        let e = &mut self.equations;
        e.set.choose(t);
        if e.set.rows() > 0 {
            e.jacobian(&o.q);
            let [position, velocity, _] = e.errors(&o.q, &o.v, &o.a, &o.turns, t);
            // Mean accelerations of a step do not satisfy the constraints on accelerations.
            o.errors = [position, velocity, 0.0];
            self.loads.fill(self.model, &e.set, &self.lambda, o);
        } else {
            o.errors = [0.0; 3];
        }
        o.work = self.work;
        if !self.model.limits.is_empty() || joints::frictions(self.model).next().is_some() {
            o.switched = Some(Box::new(joints::loads(self.model, &self.active, self.last)));
        }
        let mut loads = std::mem::take(&mut o.contacts);
        self.contact_loads(&o.q, &mut loads);
        o.contacts = loads;
        Ok(())
    }

    fn set_auxiliaries(&mut self, t: f64, z: &[f64]) -> Result<bool, Diagnostic> {
        if t != self.now.t {
            return Ok(false);
        }
        self.now.z.copy_from_slice(z);
        self.equations.z.copy_from_slice(z);
        Ok(true)
    }

    fn report(&mut self, outcome: &mut Outcome) {
        let b = &self.book;
        outcome.work.extend([
            ("steps", b.steps as f64),
            ("step", self.h),
            ("sweeps", b.sweeps as f64),
            ("mean_sweeps", b.sweeps as f64 / b.steps.max(1) as f64),
            ("mean_contacts", b.contacts as f64 / b.steps.max(1) as f64),
            ("most_contacts", b.most_contacts as f64),
            ("largest_contact_residual", b.residual),
            ("largest_overlap", b.overlap),
            ("energy_lost_in_contacts", b.lost),
            ("steps_with_limited_impulses", b.limited as f64),
        ]);
        if let (Some((k, t)), true) = (b.deepest, b.share > OVERLAP) {
            let (share, most) = (100.0 * b.share, number(b.overlap));
            let (name, message) = match of(self.model, &(k as u32, 0, 0)) {
                Of::Limit(k) => {
                    let name = &self.model.limits[k].name;
                    (name, format!("limit `{name}` is passed by up to {most} m or rad, at t = {t:.6} s"))
                }
                Of::Contact(k) | Of::Friction(k) => {
                    let name = &self.model.contacts[k].name;
                    let depth = format!("by up to {share:.0} % of their size, {most} m at most in the run");
                    (name, format!("bodies of contact `{name}` overlap {depth}, at t = {t:.6} s"))
                }
            };
            outcome.warnings.push(
                Diagnostic::new("W321", message)
                    .name(name.clone())
                    .time(t)
                    .help("choose a smaller step with `--step`; the overlap is proportional to it"),
            );
        }
        if b.rough > 0 {
            let many = count(b.rough, "step");
            let message = format!(
                "in {many} of {} the impulses of contacts were not solved to the tolerance; the largest residual is {} m/s",
                b.steps,
                number(b.residual)
            );
            outcome
                .warnings
                .push(Diagnostic::new("W322", message).help("choose a smaller step, or more sweeps with `--option sweeps=1000`"));
        }
    }

    fn save(&self) -> Value {
        let kept: Vec<(Key, [f64; 5])> = {
            let mut list: Vec<_> =
                self.kept.iter().map(|(k, x)| (*k, [x.normal, x.along.x, x.along.y, x.along.z, f64::from(u8::from(x.stuck))])).collect();
            list.sort_by_key(|x| x.0);
            list
        };
        let b = &self.book;
        json!({
            "now": save_point(&self.now), "before": save_point(&self.before), "a": flat(&self.a), "lambda": self.lambda, "last": self.last,
            "loads": self.equations.loads.by_joint,
            "kept": kept, "speed": self.speed, "work": self.work,
            "counts": [b.steps, b.sweeps, b.contacts, b.most_contacts, b.rough, b.limited],
            "sizes": [b.residual, b.overlap, b.share, b.lost],
            "deepest": b.deepest,
        })
    }

    fn restore(&mut self, v: &Value) -> Result<(), Diagnostic> {
        let misfit = || bad_checkpoint("its sizes do not match");
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        restore_point(&v["now"], &mut self.now).ok_or_else(misfit)?;
        restore_point(&v["before"], &mut self.before).ok_or_else(misfit)?;
        unflat(&v["a"], &mut self.a).ok_or_else(misfit)?;
        list(&v["lambda"], &mut self.lambda).ok_or_else(misfit)?;
        (self.last, self.speed, self.work) = (number(&v["last"]), number(&v["speed"]), number(&v["work"]));
        if !(self.last + self.speed + self.work + self.now.t).is_finite() {
            return Err(bad_checkpoint("its times or steps are missing"));
        }
        let kept: Vec<(Key, [f64; 5])> = serde_json::from_value(v["kept"].clone()).map_err(|_| misfit())?;
        self.kept =
            kept.into_iter().map(|(k, x)| (k, Kept { normal: x[0], along: Vector3::new(x[1], x[2], x[3]), stuck: x[4] != 0.0 })).collect();
        let whole = |k: usize| v["counts"][k].as_u64().unwrap_or(0) as usize;
        let size = |k: usize| v["sizes"][k].as_f64().unwrap_or(0.0);
        let deepest = serde_json::from_value(v["deepest"].clone()).ok().flatten();
        self.book = Book {
            steps: whole(0),
            sweeps: whole(1),
            contacts: whole(2),
            most_contacts: whole(3),
            rough: whole(4),
            limited: whole(5),
            residual: size(0),
            overlap: size(1),
            share: size(2),
            lost: size(3),
            deepest,
        };
        // Loads of joints with friction, as left by the last step.
        let e = &mut self.equations;
        e.z.copy_from_slice(&self.now.z);
        list(&v["loads"], &mut e.loads.by_joint).ok_or_else(misfit)?;
        Ok(())
    }
}

fn save_point(x: &Point) -> Value {
    json!({"t": x.t, "q": poses(&x.q), "v": flat(&x.v), "turns": x.turns, "z": x.z})
}

fn restore_point(v: &Value, out: &mut Point) -> Option<()> {
    unflat_poses(&v["q"], &mut out.q)?;
    unflat(&v["v"], &mut out.v)?;
    list(&v["turns"], &mut out.turns)?;
    list(&v["z"], &mut out.z)?;
    out.t = v["t"].as_f64()?;
    Some(())
}
