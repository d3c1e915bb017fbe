//! Explanation of a mechanism by numerical trials: redundant sets and their cures, ranges of the joints, singular poses, other assembly
//! modes, implausible data.
//!
//! All analyses are dense or often repeated and therefore limited in size; omissions are reported with their reason.

pub mod cure;
pub mod curve;
mod reach;
pub mod sanity;
pub mod stress;
pub mod sweep;

use cure::{Cure, Workshop};
use fourbar::analysis::assembly::modes::{self, Mode};
use fourbar::analysis::assembly::{self, Assembled};
use fourbar::analysis::independent::Swept;
use fourbar::analysis::rank::{self, Mobility};
use fourbar::analysis::redundancy::{Redundancy, RedundantSet, excess, minimal, redundancy};
use fourbar::analysis::uniqueness;
use fourbar::constraint::{Constraint, ConstraintSet};
use fourbar::diagnostic::Diagnostic;
use fourbar::model::Model;
use fourbar::random::Random;
use fourbar::state::{Configuration, Pose};
use fourbar::topology::Topology;
use serde::Serialize;
use stress::{Agreement, Explained};
use sweep::Sweep;

/// Maximum number of body coordinates for which motions are swept.
const SWEPT: usize = 132;
/// Total work of all sweeps, in cubes of the number of body coordinates.
const SWEEP_WORK: f64 = 2.5e8;
/// Maximum number of swept coordinates.
const SWEEPS: usize = 8;
/// Maximum number of rows for which exchanges are tried.
const CURED: usize = 160;
/// Maximum number of rows for which the members of redundant sets are explained.
const EXPLAINED: usize = 1500;
/// Number of poses at which permanence of redundancy is tested.
const POSES: usize = 8;

/// An omitted analysis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The analysis.
    pub what: &'static str,
    /// The reason.
    pub why: String,
}

/// The results for a mechanism.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Redundant sets of rows by name.
    pub redundancy: Redundancy,
    /// The same sets with explanations, and sets that contain drives.
    pub sets: Vec<Explained>,
    /// Exchanges that remove sets.
    pub cures: Vec<Cure>,
    /// Number of surplus rows for which no exchange was found.
    pub uncured: usize,
    /// Reaction components that are not unique: joint, then `force.x` and so on.
    pub not_unique: Vec<(String, Vec<String>)>,
    /// The coordinates that determine the pose.
    pub coordinates: Vec<Swept>,
    /// Motions that were swept.
    pub sweeps: Vec<Sweep>,
    /// Assembly modes, the drawn one first; empty if not searched for.
    pub modes: Vec<Mode>,
    /// Number of random starts in the search for modes.
    pub starts: usize,
    /// Warnings about implausible data.
    pub doubts: Vec<Diagnostic>,
    /// Omitted analyses.
    pub skipped: Vec<Skipped>,
}

/// Explains a mechanism. `free` and `driven` are its mobility without and with the drives, at the assembled pose or, if assembly failed, as
/// drawn.
pub fn explain(
    model: &Model,
    topology: &Topology,
    assembled: &Result<Assembled, Diagnostic>,
    free: &Mobility,
    driven: Option<&Mobility>,
) -> Explanation {
    let drawn = Configuration::start(model);
    let mut skipped = Vec::new();
    let closed = assembled.as_ref().ok().map(|a| &a.configuration);
    let at = closed.unwrap_or(&drawn);
    let rows = free.start.rows;
    let coordinates = modes::fixing(model, at, free);
    let sweeps = if closed.is_some() { sweeps(model, topology, at, free, &coordinates, &mut skipped) } else { Vec::new() };
    // Other poses are used for explanations and cures.
    let poses = if rows <= EXPLAINED.max(CURED) { sample(model, at, free, &sweeps) } else { Vec::new() };
    let poses: Vec<&[Pose]> = poses.iter().map(Vec::as_slice).collect();

    let redundancy = redundancy(model, topology, &at.q, free.start.redundant());
    let mut sets = Vec::new();
    let mut cures = Vec::new();
    let mut uncured = redundancy.total;
    if rows <= EXPLAINED {
        sets = explained(model, at, closed.is_none(), &redundancy.sets, &idle_drives(model, at, free, driven), &poses);
    } else if redundancy.total > 0 {
        skipped.push(Skipped { what: "directions of redundant sets", why: format!("{rows} constraint rows; at most {EXPLAINED}") });
    }
    if redundancy.total > 0 && closed.is_some() {
        if rows <= CURED {
            let mut tried: Vec<&[Pose]> = vec![&at.q];
            tried.extend(&poses);
            // A singular start would hide surplus rows at the other poses.
            if free.singular_start {
                tried.remove(0);
            }
            if !tried.is_empty() {
                let mut workshop = Workshop::new(model, &sets);
                cures = sets.iter().filter(|s| s.times_always > 0).filter_map(|s| workshop.cure(s, &tried)).collect();
                uncured = workshop.left(tried[0]);
            }
        } else {
            skipped.push(Skipped { what: "replacements of joints", why: format!("{rows} constraint rows; at most {CURED}") });
        }
    }
    let not_unique = if closed.is_some() && redundancy.total > 0 { uniqueness::not_unique(model, at) } else { Vec::new() };
    let (modes, starts) =
        if closed.is_some() { find_modes(model, topology, at, &coordinates, &sweeps, &mut skipped) } else { (Vec::new(), 0) };
    Explanation { redundancy, sets, cures, uncured, not_unique, coordinates, sweeps, modes, starts, doubts: sanity::sanity(model), skipped }
}

fn sweeps(
    model: &Model,
    topology: &Topology,
    at: &Configuration,
    free: &Mobility,
    list: &[Swept],
    skipped: &mut Vec<Skipped>,
) -> Vec<Sweep> {
    let n = free.start.columns;
    // Without loops and couplings no pose is singular and the joints are not limited.
    let tree = topology.loops.is_empty() && model.couplings.is_empty() && model.bare.is_empty() && model.rolling.is_empty();
    if tree || free.start.rows == 0 || free.start.mobility() == 0 || list.is_empty() {
        return Vec::new();
    }
    if n > SWEPT {
        skipped
            .push(Skipped { what: "sweeps for singular poses", why: format!("{} moving bodies; at most {}", model.moving(), SWEPT / 6) });
        return Vec::new();
    }
    if list.len() > SWEEPS {
        let why = format!("{} independent coordinates; the first {SWEEPS} are swept", list.len());
        skipped.push(Skipped { what: "some sweeps for singular poses", why });
    }
    let each = SWEEP_WORK / (n as f64).powi(3) / list.len().min(SWEEPS) as f64;
    let most = (each as usize).clamp(60, 400);
    (0..list.len().min(SWEEPS)).filter_map(|k| sweep::sweep(model, at, free, list, k, most)).collect()
}

/// Other poses of the motion: from the sweeps if there are any, otherwise nearby.
fn sample(model: &Model, at: &Configuration, free: &Mobility, sweeps: &[Sweep]) -> Vec<Vec<Pose>> {
    if free.start.mobility() == 0 {
        return Vec::new();
    }
    let mut poses: Vec<Vec<Pose>> = Vec::new();
    for s in sweeps {
        // Poses well away from singular ones, spread over the motion.
        let usual = s.points.iter().map(|p| p.sigma).fold(0.0, f64::max);
        let regular: Vec<&curve::Point> = s.points.iter().filter(|p| p.sigma > 0.05 * usual && p.s != 0.0).collect();
        let wanted = (POSES / sweeps.len()).max(1);
        poses.extend((0..wanted.min(regular.len())).map(|k| regular[(2 * k + 1) * regular.len() / (2 * wanted)].q.clone()));
    }
    if poses.is_empty() {
        let mut random = Random(0x7e57_ab1e_7e57_ab1e);
        poses.extend((0..3).filter_map(|_| rank::wander(model, at, &free.start.motions, &mut random, false)));
    }
    poses
}

/// Sets that a drive completes: it prescribes a motion already prescribed by joints and earlier drives.
fn idle_drives(model: &Model, at: &Configuration, free: &Mobility, driven: Option<&Mobility>) -> Vec<RedundantSet> {
    let Some(driven) = driven else { return Vec::new() };
    if driven.start.rank >= free.start.rank + model.drives.len() {
        return Vec::new();
    }
    let all = model.constraints(true);
    let first = all.len() - (0..model.drives.len()).filter(|&k| model.drive_constraint(k).is_some()).count();
    let mut sets = Vec::new();
    let mut used: Vec<usize> = (0..first).collect();
    for d in first..all.len() {
        let with = |members: &[usize]| members.iter().copied().chain([d]).collect::<Vec<_>>();
        let more = |members: &[usize]| excess(&all, &with(members), &at.q, model.length) > excess(&all, members, &at.q, model.length);
        if more(&used) {
            let names = with(&minimal(&used, more)).into_iter().map(|k| all[k].name.clone()).collect();
            sets.push(RedundantSet { names, times: 1, single_loop: false });
        } else {
            used.push(d);
        }
    }
    sets
}

fn explained(
    model: &Model,
    at: &Configuration,
    open: bool,
    sets: &[RedundantSet],
    idle: &[RedundantSet],
    poses: &[&[Pose]],
) -> Vec<Explained> {
    let all: Vec<Constraint> = model.constraints(true);
    // If assembly failed, the sets are explained at the pose of least squared gaps.
    let q = if open { assembly::pull(model, &all, &vec![false; at.q.len()], &at.q, at).q } else { at.q.clone() };
    let set = ConstraintSet::new(all.clone(), |_| false);
    let (mut Phi, mut nu) = (vec![0.0; set.rows()], vec![0.0; set.rows()]);
    set.residual(&q, &at.turns, 0.0, &mut Phi);
    set.nu(0.0, &mut nu);
    let mut list: Vec<Explained> = sets.iter().map(|s| stress::explain(model, &all, s, &q, poses, &Phi, &nu)).collect();
    for s in idle {
        // A drive adds one row to a set that may contain other rows.
        let mut e = stress::explain(model, &all, s, &q, poses, &Phi, &nu);
        e.times = 1;
        list.push(e);
    }
    // Contradictory sets come first.
    list.sort_by_key(|e| e.agreement == Agreement::Consistent);
    list
}

/// Other assembly modes, and the number of starts of the search.
fn find_modes(
    model: &Model,
    topology: &Topology,
    at: &Configuration,
    list: &[Swept],
    sweeps: &[Sweep],
    skipped: &mut Vec<Skipped>,
) -> (Vec<Mode>, usize) {
    let (mut found, starts) = modes::look_for(model, topology, at, list).unwrap_or_else(|why| {
        skipped.push(Skipped { what: "other assembly modes", why });
        (Vec::new(), 0)
    });
    if let ([s], [_]) = (sweeps, list) {
        let whole = s.closed && s.events.iter().all(|e| e.kind != sweep::Kind::Bifurcation);
        reach::reach(model, &mut found, at, list, &s.points, whole);
    }
    (found, starts)
}
