//! Equilibria on unilateral limits of joints, ropes and ratchets, which push and never pull. Active limits are closed, all others are open;
//! the active set is changed until no limit is violated and none would have to pull.
//!
//! A ratchet, whose rate may not change its sign, acts at rest as a limit of its coordinate at the current value.

use super::solve::Ending;
use super::{Kind, Problem, Rest};
use crate::operator::{fits, without_dry_friction};
use fourbar::analysis::assembly::{self, assemble_from};
use fourbar::constraint::Owner;
use fourbar::event::{Bounded, Held, Limit, Mode};
use fourbar::model::JointCoordinate;
use fourbar::state::Configuration;
use fourbar::{Diagnostic, Model, stop};
use serde::Serialize;
use std::borrow::Cow;

/// Tolerance for violation or contact of a limit, in characteristic lengths or radians.
const PASSED: f64 = 1e-9;
/// A limit whose effort is below this share of the largest load does not push.
const PUSHES: f64 = 1e-9;

/// A rigid limit that is active at an equilibrium.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leaning {
    /// Its index among the limits of the mechanism.
    #[serde(skip)]
    pub limit: usize,
    /// Its name, such as `pin.max`.
    pub name: String,
    /// Value of the bounded quantity, m or rad.
    pub value: f64,
    /// Force or torque that it exerts, N or N m.
    pub effort: f64,
    /// Unit of the effort.
    pub unit: &'static str,
}

/// A limit at rest.
struct Bound<'m> {
    limit: &'m Limit,
    /// For a ratchet, the value from which its coordinate can only move one way.
    from: f64,
}

/// The coordinate bounded by a limit.
fn coordinate(limit: &Limit) -> Option<JointCoordinate> {
    match limit.of {
        Bounded::Position(which) | Bounded::Rate(which) => Some(which),
        Bounded::Own | Bounded::Spot => None,
    }
}

fn value(model: &Model, limit: &Limit, state: &Configuration) -> f64 {
    let joint = &model.joints[limit.joint];
    let [a, b] = joint.bodies.map(|b| &state.q[b.index()]);
    let which = coordinate(limit).and_then(|c| joint.coordinate(c));
    which.map_or(limit.bound, |y| y.value(a, b, &state.turns))
}

impl Bound<'_> {
    /// Distance of a state from the limit, angles in radians and lengths over the characteristic length; not negative if the limit is
    /// satisfied.
    fn gap(&self, model: &Model, state: &Configuration) -> f64 {
        let gap = match self.limit.of {
            Bounded::Rate(_) => self.limit.side * (value(model, self.limit, state) - self.from),
            _ => self.limit.gap(model, &state.q, &state.v, &state.turns),
        };
        if coordinate(self.limit) == Some(JointCoordinate::Angle) { gap } else { gap / model.length }
    }
}

/// The limits that apply at rest, with ratchets at their values in the state `from`.
fn bounds<'m>(model: &'m Model, from: &Configuration) -> Vec<Option<Bound<'m>>> {
    let counts = |l: &Limit| match l.of {
        // A rate limit that allows zero and both signs does not bind a mechanism at rest.
        Bounded::Rate(_) => l.bound * l.side >= 0.0,
        Bounded::Spot => false,
        _ => true,
    };
    let bound = |limit: &'m Limit| Bound { limit, from: value(model, limit, from) };
    model.limits.iter().map(|l| counts(l).then(|| bound(l))).collect()
}

/// The mechanism with some limits closed, ratchets at the given values.
fn closed_at(model: &Model, closed: &[(usize, f64)]) -> Model {
    let mut mode = Mode::of(model);
    for (k, from) in closed {
        let l = &model.limits[*k];
        match l.of {
            Bounded::Own => mode.joints[l.joint] = true,
            Bounded::Spot => {}
            Bounded::Position(coordinate) | Bounded::Rate(coordinate) => {
                let value = if matches!(l.of, Bounded::Rate(_)) { *from } else { l.bound };
                mode.held.push(Held { joint: l.joint, coordinate, value, rate: 0.0, since: 0.0 });
            }
        }
    }
    let mut own = model.in_mode(&mode);
    // Conditions on the start do not apply here.
    own.hold.clear();
    own.start.clear();
    own
}

/// The mechanism with its active limits closed; unchanged if there are none.
pub fn leaning<'m>(model: &'m Model, leans: &[Leaning]) -> Cow<'m, Model> {
    if leans.is_empty() {
        return Cow::Borrowed(model);
    }
    Cow::Owned(closed_at(model, &leans.iter().map(|l| (l.limit, l.value)).collect::<Vec<_>>()))
}

/// Efforts of the closed limits at an equilibrium of the mechanism with these limits closed.
fn efforts(model: &Model, problem: &Problem<'_>, rest: &Rest, closed: &[usize]) -> Vec<f64> {
    let set = problem.op.set();
    // Held coordinates are drives appended after the others.
    let held = closed.iter().filter(|k| coordinate(&model.limits[**k]).is_some()).count();
    let mut drive = problem.model.drives.len() - held;
    let mut list = Vec::new();
    for &k in closed {
        let l = &model.limits[k];
        let owner = match coordinate(l) {
            Some(_) => {
                drive += 1;
                Owner::Drive(drive - 1)
            }
            None => Owner::Joint(l.joint),
        };
        let row = l.row(model, &rest.state.q);
        let size: f64 = row.iter().map(|(_, x)| x.F.norm_squared() + x.T.norm_squared()).sum();
        let mut push = 0.0;
        for (c, constraint) in set.list.iter().enumerate().filter(|(_, c)| c.owner == owner) {
            let first = set.row_start[c];
            let own = &rest.lambda.as_slice()[first..first + constraint.count()];
            for (slot, body) in constraint.bodies.iter().enumerate() {
                let force = set.generalized(c, slot, &rest.state.q, own);
                push -= row.iter().filter(|(b, _)| *b == body.index()).map(|(_, x)| x.F.dot(&force.F) + x.T.dot(&force.T)).sum::<f64>();
            }
        }
        list.push(push / size.max(f64::MIN_POSITIVE));
    }
    list
}

/// Index of the closed limit that would have to pull most, or that exerts nothing.
fn idle(model: &Model, closed: &[usize], efforts: &[f64], load: f64) -> Option<usize> {
    let force = |k: usize| {
        let turns = coordinate(&model.limits[closed[k]]) == Some(JointCoordinate::Angle);
        if turns { efforts[k] / model.length } else { efforts[k] }
    };
    (0..closed.len()).filter(|&k| force(k) <= PUSHES * load).min_by(|&a, &b| force(a).total_cmp(&force(b)))
}

fn told(model: &Model, bounds: &[Option<Bound<'_>>], closed: &[usize], efforts: &[f64]) -> Vec<Leaning> {
    let one = |(&limit, &effort): (&usize, &f64)| {
        let l = &model.limits[limit];
        let value = if matches!(l.of, Bounded::Rate(_)) { bounds[limit].as_ref().map_or(l.bound, |b| b.from) } else { l.bound };
        let unit = if coordinate(l) == Some(JointCoordinate::Angle) { "N m" } else { "N" };
        Leaning { limit, name: l.name.clone(), value, effort, unit }
    };
    closed.iter().zip(efforts).map(one).collect()
}

/// Limits that a stationary mechanism presses against: those that it touches and that push. All forces are included, also where the
/// position is not an equilibrium: a limit opens if the forces push the mechanism off it.
pub fn leans_at(model: &Model, state: &Configuration) -> Vec<Leaning> {
    // Mechanisms too large for dense matrices are not settled on limits either.
    if model.limits.is_empty() || fits(model).is_err() {
        return Vec::new();
    }
    let bounds = bounds(model, state);
    let touches = |b: &Option<Bound<'_>>| b.as_ref().is_some_and(|b| b.gap(model, state) <= 10.0 * PASSED);
    let mut closed: Vec<usize> = (0..bounds.len()).filter(|&k| touches(&bounds[k])).collect();
    while !closed.is_empty() {
        let own = with_closed(model, &bounds, &closed);
        let problem = Problem::new(&own, state);
        let rest = problem.rest(state);
        let pushed = efforts(model, &problem, &rest, &closed);
        match idle(model, &closed, &pushed, rest.load) {
            Some(k) => drop(closed.remove(k)),
            None => return told(model, &bounds, &closed, &pushed),
        }
    }
    Vec::new()
}

fn with_closed(model: &Model, bounds: &[Option<Bound<'_>>], closed: &[usize]) -> Model {
    let at = |k: &usize| (*k, bounds[*k].as_ref().map_or(0.0, |b| b.from));
    closed_at(&without_dry_friction(model).0, &closed.iter().map(at).collect::<Vec<_>>())
}

/// Limits that a state violates, with their gaps.
pub fn passed(model: &Model, from: &Configuration, state: &Configuration) -> Vec<(usize, f64)> {
    let gaps = bounds(model, from).into_iter().enumerate().filter_map(|(k, b)| Some((k, b?.gap(model, state))));
    gaps.filter(|(_, gap)| *gap < -PASSED).collect()
}

/// Where an equilibrium on limits is sought, and with which limits closed.
pub struct Leant {
    /// The mechanism with these limits closed, without dry friction.
    pub model: Model,
    /// A closed position from which the equilibrium is reached.
    pub from: Configuration,
    /// The limits.
    pub closed: Vec<Leaning>,
}

/// Searches for the active limits at an equilibrium.
pub fn lean(model: &Model, from: &Configuration, kind: Kind) -> Result<Leant, Diagnostic> {
    fits(model)?;
    let bounds = bounds(model, from);
    let gap = |k: usize, state: &Configuration| bounds[k].as_ref().map_or(f64::INFINITY, |b| b.gap(model, state));
    let mut closed: Vec<usize> = (0..bounds.len()).filter(|&k| gap(k, from) <= PASSED).collect();
    let mut at = from.clone();
    let refused = |closed: &[usize], why: &str| {
        let names: Vec<String> = closed.iter().map(|k| model.limits[*k].name.clone()).collect();
        let listed: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
        let message = format!("no equilibrium within the limits was found: with {} closed {why}", listed.join(", "));
        Diagnostic::new("S405", message).names(names).help("start closer to the equilibrium, or give the limit a stiffness")
    };
    for _ in 0..8 + 4 * bounds.len() {
        stop::check()?;
        let own = with_closed(model, &bounds, &closed);
        if !closed.is_empty() {
            at = assemble_from(&own, &at, assembly::Options::default())
                .map_err(|d| refused(&closed, &format!("the joints do not close: {}", d.message)))?
                .configuration;
            at.v.fill(fourbar::state::Twist::zero());
        }
        let open: Vec<usize> = (0..bounds.len()).filter(|k| !closed.contains(k)).collect();
        let beyond = |state: &Configuration| open.iter().any(|&k| gap(k, state) < -PASSED);
        let mut problem = Problem::new(&own, &at).within(Box::new(beyond));
        let (ending, _) = problem.solve(&at, kind);
        let fenced = problem.fenced;
        let (rest, rests) = match ending {
            Ending::Rest(rest, _) => (rest, true),
            Ending::Away(rest) | Ending::Blocked(rest) | Ending::Lost(rest) => (rest, false),
        };
        if fenced {
            // Stopped just before a limit: the nearest one is closed there.
            if let Some(first) = open.iter().copied().min_by(|&a, &b| gap(a, &rest.state).total_cmp(&gap(b, &rest.state))) {
                closed.push(first);
                closed.sort_unstable();
                at = rest.state.clone();
                continue;
            }
        }
        // Of the violated limits, the one that is met first.
        let met = |k: usize| {
            let (before, after) = (gap(k, &at), gap(k, &rest.state));
            (before / (before - after)).max(0.0)
        };
        let beyond = (0..bounds.len()).filter(|k| !closed.contains(k) && gap(*k, &rest.state) < -PASSED);
        if let Some(first) = beyond.min_by(|&a, &b| met(a).total_cmp(&met(b))) {
            closed.push(first);
            closed.sort_unstable();
            continue;
        }
        let pushed = efforts(model, &problem, &rest, &closed);
        match idle(model, &closed, &pushed, rest.load).filter(|_| rests) {
            Some(k) => {
                closed.remove(k);
                at = rest.state.clone();
            }
            None => {
                let closed = told(model, &bounds, &closed, &pushed);
                drop(problem);
                return Ok(Leant { model: own, from: at, closed });
            }
        }
    }
    Err(refused(&closed, "another one is passed, or one of them would have to pull"))
}
