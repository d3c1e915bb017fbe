//! Checks the results of a run while it is computed: open joints, energy errors and non-finite values are rejected.
//!
//! Every row of dynamics and kinematics is checked by a [`Judge`] before it is returned. Gaps are checked row by row; the balance of energy
//! and work is checked at the end, relative to the energy of the whole motion.
//!
//! Every exact motion of the mechanism conserves energy minus work, a disturbed one as well: a chaotic motion forgets its start, but not
//! its energy. The deviation is therefore the plain sum of the contributions of single steps, which grows with their number and not with
//! the distance of neighbouring motions.

use crate::analysis::assembly::gaps;
use crate::constraint::ConstraintSet;
use crate::diagnostic::{Diagnostic, number};
use crate::force::eval;
use crate::model::{JointCoordinate, Model};
use crate::motion::{Instant, Reaction};
use crate::settings::{Analysis, Study};
use crate::settings::{tau, usual_tolerance};
use crate::state::{Configuration, Pose, Twist};
use crate::structure::Structure;
use crate::trajectory::energies;
use serde::{Deserialize, Serialize};

/// Largest gap, in characteristic lengths.
const OPEN: f64 = 1e-3;
/// Permitted change of energy minus work, in tolerances of the energy of the motion.
const DRIFT: f64 = 1e3;
/// In this many steps each may contribute two tolerances; for more steps the limit is increased.
const STEPS: f64 = 500.0;
/// Fraction of the energy of the motion above which a run fails regardless of its tolerance, and above which a run with fixed steps gets a
/// warning.
const FAILS: f64 = 0.1;
const WARNS: f64 = 0.01;
/// Fraction of weight times length below which energies are not checked: such motions are practically at rest.
const STILL: f64 = 1e-6;

/// Data kept from row to row, also in checkpoints.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Book {
    /// Energy at the first row.
    first: Option<f64>,
    /// Possible work of forces over the characteristic length there, J.
    #[serde(default)]
    push: f64,
    /// Largest kinetic energy, least and largest potential energy, largest amount of work.
    kinetic: f64,
    potential: Option<[f64; 2]>,
    work: f64,
    /// Times and sizes of changes of energy minus work, in increasing order of size.
    drifts: Vec<[f64; 2]>,
    /// The last rows of the same step, with their power and work.
    #[serde(default)]
    rows: Vec<Row>,
    /// Accumulated difference between the integral of power over such rows and their work, and the change of the integral with twice the
    /// spacing.
    #[serde(default)]
    unexplained: f64,
    #[serde(default)]
    coarse: f64,
    /// Times and sizes of remaining differences, in increasing order of size.
    #[serde(default)]
    contradictions: Vec<[f64; 2]>,
    /// Time, size and joint of the largest gap that is only reported in a warning.
    open: Option<(f64, f64, String)>,
    /// Deviation of energy minus work at the first row, and now: events divide a run into pieces, and energy may be lost at each of them.
    #[serde(default)]
    before: f64,
    #[serde(default)]
    off: f64,
}

/// Power and work of forces in a row.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Row {
    t: f64,
    power: f64,
    work: f64,
    /// End of the step that contains the row.
    step: f64,
}

/// Estimated error of the integral over powers of rows, in multiples of its change with twice the spacing.
const COARSER: f64 = 4.0;

impl Book {
    /// Compares the powers of rows inside one step with the work computed between them: forces that a step passed over appear in its rows.
    fn compare(&mut self, row: Row) {
        if self.rows.last().is_some_and(|last| last.step != row.step) {
            self.rows.clear();
        }
        self.rows.push(row);
        let [a, b, c] = self.rows[..] else { return };
        let area = |a: &Row, b: &Row| 0.5 * (b.t - a.t) * (a.power + b.power);
        let sum = area(&a, &b) + area(&b, &c);
        self.unexplained += sum - (c.work - a.work);
        self.coarse += (sum - area(&a, &c)).abs();
        let left = self.unexplained.abs() - COARSER * self.coarse;
        if left > self.contradictions.last().map_or(0.0, |last| 1.1 * last[1]) {
            self.contradictions.push([c.t, left]);
        }
        self.rows.drain(..2);
    }
}

/// Error for a point beyond the end of an open curve, where the curve continues only as a straight line.
fn off_its_curve(model: &Model, now: &Instant) -> Option<Diagnostic> {
    model.joints.iter().filter(|j| !j.open).find_map(|j| {
        let [first, last] = j.kind.range()?;
        let [i, m] = j.bodies.map(|b| &now.q[b.index()]);
        let s = j.coordinate(JointCoordinate::Distance)?.value(i, m, &[]);
        let rounding = 1e-9 * (last - first);
        (s < first - rounding || s > last + rounding).then(|| {
            let end = if s < first { "first" } else { "last" };
            Diagnostic::new("S246", format!("at t = {:.6} s the point of `{}` has run beyond the {end} point of its curve", now.t, j.name))
                .time(now.t)
                .name(j.name.clone())
                .help("end the run before, give the curve more points at that end, or close it")
        })
    })
}

/// Advice for an energy balance that fails in kinematics.
const COARSE: &str = "positions, speeds and efforts are not affected; the power changes too quickly for `energy.work` to be summed at these times: \
                      choose a smaller `--output-step`, or `--step` for steps in between";

/// The checks of one run.
pub struct Judge<'m> {
    model: &'m Model,
    /// All constraints, drives included.
    pub set: ConstraintSet,
    Phi: Vec<f64>,
    /// Tolerance of an adaptive run.
    tol: Option<f64>,
    analysis: Analysis,
    /// The option that disabled the control of drift.
    off: Option<String>,
    /// Total mass, kg; its weight times the characteristic length, J; characteristic length over characteristic time, m/s; energy that
    /// counts as small in errors of work, J.
    mass: f64,
    weight: f64,
    speed: f64,
    little: f64,
    /// Whether all work is due to forces, which can be checked by the rows.
    shown: bool,
    book: Book,
}

/// Energy that counts as small in errors of work: a thousandth of the energy of all masses when they move a characteristic length in the
/// time `tau`.
pub fn little_energy(model: &Model, tau: f64) -> f64 {
    let mass: f64 = model.bodies.iter().skip(1).map(|b| b.mass).sum();
    1e-3 * mass * (model.length / tau).powi(2)
}

impl<'m> Judge<'m> {
    /// A judge for a run of a study.
    pub fn new(structure: &Structure<'m>, study: &Study, analysis: Analysis) -> Self {
        let (model, set) = (structure.model, structure.rows.clone());
        let mass: f64 = model.bodies.iter().skip(1).map(|b| b.mass).sum();
        let tau = tau(study).unwrap_or(study.t_end);
        // Time stepping uses fixed steps, even if none were requested.
        let stepped = !model.contacts.is_empty() || study.integrator.as_deref().is_some_and(|i| i.eq_ignore_ascii_case("moreau"));
        let adaptive = study.step.is_none() && !stepped && analysis == Analysis::Dynamics;
        let others = model.drives.is_empty() && model.bare.is_empty() && model.contacts.is_empty();
        let shown = others && model.has_work() && !model.forces.iter().any(|(_, f)| f.touches().load || f.sticks().is_some());
        Self {
            model,
            shown: shown && analysis == Analysis::Dynamics,
            Phi: vec![0.0; set.rows()],
            set,
            tol: adaptive.then(|| study.tol.unwrap_or_else(|| usual_tolerance(study))),
            analysis,
            off: switched_off(study),
            mass,
            weight: mass * model.gravity.norm() * model.length,
            speed: model.length / tau,
            little: little_energy(model, tau),
            book: Book::default(),
        }
    }

    /// Checks an instant inside the step that ends at `step`. `own` is the state from which the instant was computed, before correction for
    /// output.
    pub fn look(&mut self, now: &Instant, step: f64, own: Option<(f64, &[Pose], &[f64])>) -> Result<(), Diagnostic> {
        if let Some(what) = not_finite(self.model, now) {
            return Err(Diagnostic::new("S250", format!("at t = {:.6} s {what} is not a finite number", now.t))
                .time(now.t)
                .help("what was given before is good; try a smaller step or tolerance, and please report the mechanism"));
        }
        if let Some((t, q, turns)) = own {
            self.gap(t, q, turns)?;
        }
        self.gap(now.t, &now.q, &now.turns)?;
        if let Some(d) = off_its_curve(self.model, now) {
            return Err(d);
        }
        self.energy(now);
        if self.shown && now.switched.is_none() {
            let power = eval::power(self.model, &now.plain(&[]));
            self.book.compare(Row { t: now.t, power, work: now.work, step });
        }
        Ok(())
    }

    /// Fails if a joint is open, with its name; only records it if drift control was disabled.
    fn gap(&mut self, t: f64, q: &[Pose], turns: &[f64]) -> Result<(), Diagnostic> {
        self.set.choose(t);
        self.set.residual(q, turns, t, &mut self.Phi);
        let Some((worst, d)) = open(self.model, &self.set, &self.Phi, t) else { return Ok(()) };
        if self.off.is_none() {
            return Err(d);
        }
        if self.book.open.as_ref().is_none_or(|o| o.1 < worst) {
            self.book.open = Some((t, worst, d.names.first().cloned().unwrap_or_default()));
        }
        Ok(())
    }

    /// Records the energies of an instant.
    fn energy(&mut self, now: &Instant) {
        let (kinetic, potential) = energies(self.model, now);
        if self.book.first.is_none() {
            let loads = vec![0.0; self.model.loads()];
            let (x, L) = (now.plain(&loads), self.model.length);
            let mut push = 0.0;
            for (_, f) in &self.model.forces {
                f.wrench(self.model, &x, &mut |_, F, T| push += L * F.norm() + T.norm());
            }
            self.book.push = self.book.push.max(push);
        }
        let b = &mut self.book;
        b.kinetic = b.kinetic.max(kinetic);
        let [low, high] = b.potential.unwrap_or([potential; 2]);
        b.potential = Some([low.min(potential), high.max(potential)]);
        b.work = b.work.max(now.work.abs());
        let first = *b.first.get_or_insert(kinetic + potential - now.work - b.before);
        b.off = kinetic + potential - now.work - first;
        let drift = b.off.abs();
        // The length of this list grows with the logarithm of the drift.
        if drift > b.drifts.last().map_or(0.0, |last| 1.1 * last[1]) {
            b.drifts.push([now.t, drift]);
        }
    }

    /// The verdict on the energy balance after the given number of steps, and warnings.
    pub fn verdict(&self, steps: f64, warnings: &mut Vec<Diagnostic>) -> Result<(), Diagnostic> {
        let b = &self.book;
        if let (Some((t, gap, name)), Some(off)) = (&b.open, &self.off) {
            warnings.push(
                Diagnostic::new(
                    "W241",
                    format!("with `{off}` joints come apart: the largest gap is {} m, at `{name}` at t = {t:.6} s", number(*gap)),
                )
                .name(name.clone())
                .time(*t)
                .help("nothing keeps the constraints with this option; leave it out for a result to rely on"),
            );
        }
        let [low, high] = b.potential.unwrap_or_default();
        let carried = b.kinetic + (high - low) + b.work;
        let rounding = 1e-13 * (100.0 + steps) * (b.kinetic + low.abs().max(high.abs()) + b.work) + STILL * (self.weight + b.push);
        // The energy of an error within the tolerance: a wrong speed of all masses, a wrong height, and the work that counts as small for
        // steps.
        let small =
            self.tol.map_or(0.0, |tol| 10.0 * tol * ((2.0 * b.kinetic * self.mass).sqrt() * self.speed + self.weight + self.little));
        let share = self.tol.map_or(FAILS, |tol| (DRIFT * tol * (steps / STEPS).max(1.0)).min(FAILS));
        let above = |share: f64| b.drifts.iter().find(|d| d[1] > share * carried + rounding + small);
        let unexplained = b.contradictions.iter().find(|d| d[1] > share * carried + rounding + small);
        if let Some([t, size]) = unexplained.filter(|_| self.off.is_none()) {
            let message = format!(
                "at t = {t:.6} s rows and work contradict each other: the power of forces in the rows comes to {} J more or less than `energy.work`, of {} J that the motion carries",
                number(*size),
                number(carried)
            );
            return Err(Diagnostic::new("S242", message)
                .time(*t)
                .help("steps passed over a force that acts for a moment only: choose a smaller tolerance or step, and compare with another formulation"));
        }
        let largest = b.drifts.last().map_or(0.0, |d| d[1]);
        let words = |t: f64| {
            format!(
                "energy and work do not balance: from t = {t:.6} s the error of energy minus work exceeds its limit; at the end it is {} J of the {} J of the motion",
                number(largest),
                number(carried)
            )
        };
        if let Some([t, _]) = above(share) {
            let d = |code, help: &str| Diagnostic::new(code, words(*t)).time(*t).help(help);
            if self.analysis == Analysis::Kinematics {
                warnings.push(d("W242", COARSE));
            } else if let Some(off) = &self.off {
                warnings.push(d("W242", &format!("nothing keeps the constraints with `{off}`; leave it out for a result to rely on")));
            } else if self.tol.is_some() {
                return Err(d(
                    "S242",
                    "compare with another formulation (`fourbar verify`), or choose a smaller tolerance; forces that jump and singular positions do this",
                ));
            } else {
                return Err(d("S242", "the fixed step is too large for this motion: choose a smaller one, or leave it out"));
            }
        } else if self.tol.is_none()
            && let Some([t, _]) = above(WARNS)
        {
            let help = match self.analysis {
                Analysis::Kinematics => COARSE,
                Analysis::Dynamics => "the fixed step is large for this motion: compare with a smaller one",
            };
            warnings.push(Diagnostic::new("W242", words(*t)).time(*t).help(help));
        }
        Ok(())
    }

    /// Discards all records: energy and work are balanced from here on.
    pub fn begin_anew(&mut self) {
        self.book = Book::default();
    }

    /// Continues with the records of another judge, after an event at which energy may have jumped.
    pub fn go_on_from(&mut self, saved: &serde_json::Value) {
        let book = Book::deserialize(saved).unwrap_or_default();
        self.book = Book { first: None, before: book.off, rows: Vec::new(), ..book };
    }

    /// Whether positions and velocities of a state satisfy the constraints, to a fraction of the characteristic length.
    pub fn consistent(&mut self, at: &Configuration, share: f64) -> Result<(), Diagnostic> {
        let refuse = |what: String, name: Option<String>| {
            Diagnostic::new("U313", format!("the state at t = {} s is not consistent: {what}", number(at.t)))
                .names(name)
                .time(at.t)
                .help("take the nearest state that is with `assemble_state`, or one that `state` gave")
        };
        let L = self.model.length;
        self.set.choose(at.t);
        self.set.residual(&at.q, &at.turns, at.t, &mut self.Phi);
        if let Some(gap) = gaps(self.model, &self.set, &self.Phi, share * L).into_iter().next() {
            return Err(refuse(format!("{gap} is open"), Some(gap.name)));
        }
        let mut G = vec![0.0; self.set.values];
        self.set.jacobian(&at.q, &mut G);
        let mut nu = vec![0.0; self.set.rows()];
        self.set.nu(at.t, &mut nu);
        self.set.multiply(&G, &at.v, &mut self.Phi);
        let off = self.Phi.iter().zip(&nu).map(|(x, n)| (x - n).abs());
        let fast = at.v.iter().fold(nu.iter().fold(L, |s, n| s.max(n.abs())), |s, v| s.max(v.v.norm()).max(L * v.w.norm()));
        let Some((row, worst)) = off.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, worst)| *worst > share * fast) else {
            return Ok(());
        };
        let c = (0..self.set.list.len()).find(|c| row < self.set.row_start[c + 1]).unwrap_or(0);
        let name = self.set.list[c].name.clone();
        Err(refuse(format!("the velocities violate `{name}` by {} m/s", number(worst)), Some(name)))
    }

    /// The records, for a checkpoint.
    pub fn save(&self) -> serde_json::Value {
        serde_json::to_value(&self.book).unwrap_or_default()
    }

    /// Restores the records; without them the checks start again.
    pub fn restore(&mut self, saved: &serde_json::Value) {
        self.book = Book::deserialize(saved).unwrap_or_default();
    }
}

/// Description of the first non-finite number in an instant.
fn not_finite(model: &Model, now: &Instant) -> Option<String> {
    let sum = |v: &Twist| v.v.sum() + v.w.sum();
    let body = |b: usize| now.q[b].r.sum() + now.q[b].A.sum() + sum(&now.v[b]) + sum(&now.a[b]);
    let bodies = (1..now.q.len()).find(|b| !body(*b).is_finite()).map(|b| format!("the motion of `{}`", model.bodies[b].name));
    let joint = |w: &Reaction| w.force.sum() + w.torque.sum();
    let joints = || now.reactions.iter().position(|w| !joint(w).is_finite()).map(|k| format!("the reaction of `{}`", model.joints[k].name));
    let drives = || now.efforts.iter().position(|e| !e.is_finite()).map(|k| format!("the effort of `{}`", model.drives[k].name));
    let first = model.first_state();
    let states = || now.z.iter().skip(first).position(|z| !z.is_finite()).map(|k| format!("the state `{}`", model.states[k].name));
    let names = || model.bare.iter().map(|b| &b.name).chain(model.rolling.iter().map(|r| &r.name));
    let others = || now.constraints.iter().zip(names()).find(|(w, _)| !joint(w).is_finite()).map(|(_, n)| format!("the reaction of `{n}`"));
    bodies
        .or_else(joints)
        .or_else(drives)
        .or_else(others)
        .or_else(states)
        .or_else(|| (!now.work.is_finite()).then(|| "the work".to_string()))
}

/// Whether residuals of constraints are gaps that no motion of the mechanism has: returns the largest, and the diagnostic with time and
/// joint.
pub fn open(model: &Model, set: &ConstraintSet, Phi: &[f64], t: f64) -> Option<(f64, Diagnostic)> {
    let worst = Phi.iter().fold(0.0_f64, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) });
    if worst <= OPEN * model.length {
        return None;
    }
    let gap = gaps(model, set, Phi, 0.0).into_iter().next();
    let size = gap.as_ref().map_or_else(|| format!("of {} m", number(worst)), |g| format!("at {g}"));
    let d = Diagnostic::new("S241", format!("the mechanism comes apart at t = {t:.6} s: there is a gap {size}"))
        .names(gap.map(|g| g.name))
        .time(t)
        .help("the motion before is valid; a drive demands more than the links allow, or a singular position was passed: inspect it with `fourbar view`, limit the drive, or try another formulation or a smaller tolerance");
    Some((worst, d))
}

/// The option by which a study disables the control of drift, as written.
fn switched_off(study: &Study) -> Option<String> {
    let weak = |k: &str, v: &str| match k {
        "constraints" => !v.eq_ignore_ascii_case("project"),
        "projection" => !v.eq_ignore_ascii_case("step"),
        _ => false,
    };
    study.options.iter().find(|(k, v)| weak(k, v)).map(|(k, v)| format!("{k}={v}"))
}
