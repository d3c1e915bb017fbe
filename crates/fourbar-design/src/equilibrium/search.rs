//! Search for several equilibria: from random positions by descent and Newton's method, and along the whole motion of a single degree of
//! freedom.

use super::solve::Ending;
use super::{Equilibrium, Kind, Matrices, Options, Problem, Search, Stability, limits, settle_from, start};
use crate::manifold::Manifold;
use crate::operator::{fits, without_dry_friction};
use fourbar::analysis::assembly::{Bound, pull, update_turns};
use fourbar::random::Random;
use fourbar::state::{Configuration, Pose};
use fourbar::{Diagnostic, Model, stop};

/// Positions closer than this share of the characteristic length are the same.
const SAME: f64 = 1e-5;
/// Maximum number of steps along the motion of one degree of freedom, and their length in characteristic lengths.
const STEPS: usize = 4000;
const STEP: f64 = 0.04;
/// Maximum number of motions followed from equilibria of other assembly modes.
const MODES: usize = 8;
/// Distance along its softest motion at which a neutral equilibrium is tested, in characteristic lengths; and the share of it that must
/// remain.
const ASIDE: f64 = 0.05;
const STAYS: f64 = 0.5;
/// Tolerance for flat equilibria, whose positions have few correct digits: the third or fifth root of a residual of 1e-13.
const FLAT: f64 = 1e-2;
/// Energies closer than this share are equal.
const LEVEL: f64 = 1e-9;

/// All equilibria that were found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The equilibria, stable ones first, lowest energy first.
    pub list: Vec<Equilibrium>,
    /// Number of random starts.
    pub starts: usize,
    /// Number of starts that led to an equilibrium.
    pub hits: usize,
    /// Whether the whole motion of a single degree of freedom was followed, so that none is missing in this assembly mode.
    pub complete: bool,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Largest distance between joints, points and centres of mass of two positions.
fn apart(model: &Model, a: &[Pose], b: &[Pose]) -> f64 {
    let joints = model.joints.iter().flat_map(|j| [(j.bodies[0], j.F.s), (j.bodies[1], j.M.s)]);
    let points = model.points.iter().map(|(_, p)| (p.body, p.s));
    let far = joints.chain(points).fold(0.0, |s: f64, (body, p)| s.max((a[body.index()].point(&p) - b[body.index()].point(&p)).norm()));
    let bodies = a.iter().zip(b).enumerate().skip(1);
    bodies.fold(far, |s, (k, (a, b))| {
        // The spin of a body without inertia about its own axes does not make another position.
        let inertia = model.bodies[k].J_bar.norm() > 0.0;
        s.max((a.r - b.r).norm()).max(if inertia { model.length * a.increment_to(b).w.norm() } else { 0.0 })
    })
}

/// Looks for all equilibria.
pub fn search(model: &Model, options: &Options) -> Result<Found, Diagnostic> {
    let drawn = start(model, options)?;
    let (own, rubbing) = without_dry_friction(model);
    let mut way = Search::new(&own, &drawn, Matrices::Fitting)?;
    // The motion of a single degree of freedom is followed with dense matrices where they fit.
    if let Search::Large(p) = &way
        && p.freedom(&drawn) == 1
        && fits(&own).is_ok()
    {
        way = Search::new(&own, &drawn, Matrices::Dense)?;
    }
    let mut found = Found { list: Vec::new(), starts: options.starts, hits: 0, complete: false, warnings: Vec::new() };
    let mut first_failure = None;
    let mut free = own.clone();
    free.hold.clear();
    free.start.clear();
    let Bound { held, rows, .. } = Bound::new(&free, &drawn, true);
    let mut random = Random(0x0e90_1b1b_5eed_0007);
    let limited = !own.limits.is_empty();
    if !limited
        && let Search::Dense(problem) = &mut way
        && problem.rest(&drawn).space.freedom() == 1
        && own.states.is_empty()
    {
        found.complete = problem.follow(&drawn, &mut found.list);
    }
    let mut modes = 0;
    for k in 0..=options.starts {
        stop::check()?;
        let from = if k == 0 {
            drawn.clone()
        } else {
            let mut q = drawn.q.clone();
            random.disturb(&mut q, &held, own.length, std::f64::consts::PI);
            let pulled = pull(&free, &rows, &held, &q, &Configuration { q: q.clone(), ..drawn.clone() });
            if !pulled.closed {
                continue;
            }
            let mut c = Configuration { q: pulled.q, ..drawn.clone() };
            update_turns(&own, &c.q, &mut c.turns);
            c
        };
        let kind = if k % 2 == 0 { Kind::Stable } else { Kind::Any };
        if limited {
            // A start that violates a limit is skipped.
            if !limits::passed(&own, &drawn, &from).is_empty() {
                continue;
            }
            match settle_from(&own, &from, kind) {
                Ok(e) => {
                    found.hits += 1;
                    if !found.list.iter().any(|other| apart(&own, &other.state.q, &e.state.q) < SAME * own.length) {
                        found.list.push(e);
                    }
                }
                Err(d) => drop(first_failure.get_or_insert(d)),
            }
            continue;
        }
        let known = |at: &Configuration| found.list.iter().any(|e| apart(&own, &e.state.q, &at.q) < SAME * own.length);
        match way.settle(&from, kind, known) {
            Ok(new) => {
                found.hits += 1;
                let Some(new) = new else { continue };
                let from = (new.stability() != Stability::Neutral && found.complete && modes < MODES).then(|| new.state.clone());
                found.list.push(new);
                // An equilibrium not on the motion already followed belongs to another assembly mode, which is followed too.
                if let (Some(from), Search::Dense(problem)) = (from, &mut way) {
                    modes += 1;
                    problem.follow(&from, &mut found.list);
                }
            }
            Err(d) => drop(first_failure.get_or_insert(d)),
        }
    }
    if found.list.is_empty() {
        return Err(first_failure.unwrap_or_else(|| Diagnostic::new("S403", "no equilibrium was found")));
    }
    if let Search::Dense(problem) = &mut way {
        problem.gather(&mut found.list);
    }
    let rank = |e: &Equilibrium| e.stability() as u8;
    found.list.sort_by(|a, b| (rank(a) == 1).cmp(&(rank(b) == 1)).then(a.energy.total_cmp(&b.energy)));
    found.warnings.extend(crate::refusals::friction(&rubbing));
    Ok(found)
}

impl Problem<'_> {
    /// Merges neutral equilibria that are the same: positions of a motion along which all are equilibria, and those of a flat equilibrium,
    /// which have few correct digits. The one with the smallest residual is kept.
    fn gather(&mut self, list: &mut Vec<Equilibrium>) {
        let (mut neutral, mut kept): (Vec<_>, Vec<_>) = list.drain(..).partition(|e| e.stability() == Stability::Neutral);
        neutral.sort_by(|a, b| a.residual.total_cmp(&b.residual));
        let first = kept.len();
        for mut e in neutral {
            let size = self.largest.get() * self.model.length;
            let alike = kept[first..].iter_mut().find(|other: &&mut Equilibrium| {
                let level = LEVEL * (size + e.energy.abs().max(other.energy.abs()));
                let near = other.everywhere || apart(self.model, &e.state.q, &other.state.q) < FLAT * self.model.length;
                near && (e.energy - other.energy).abs() <= level && e.leans.iter().map(|l| l.limit).eq(other.leans.iter().map(|l| l.limit))
            });
            if let Some(other) = alike {
                other.alike += 1;
                continue;
            }
            e.everywhere = self.stays(&e);
            kept.push(e);
        }
        *list = kept;
    }

    /// Whether a neutral equilibrium, displaced along its softest motion, is an equilibrium there as well.
    fn stays(&mut self, e: &Equilibrium) -> bool {
        let Some(softest) = e.verdict.shapes.column_iter().next() else { return false };
        let rest = self.rest(&e.state);
        let step = softest * (ASIDE * self.model.length / softest.norm().max(f64::MIN_POSITIVE));
        let Some(moved) = self.manifold.moved(&rest.state, &rest.space, &step) else { return false };
        let Ending::Rest(there, _) = self.newton(&moved) else { return false };
        let way = |to: &Configuration| apart(self.model, &rest.state.q, &to.q);
        way(&there.state) > STAYS * way(&moved)
    }

    /// Follows the motion of a single degree of freedom both ways; every change of sign of the force along it is an equilibrium. Returns
    /// true if the motion was followed to its ends, or back to its start.
    fn follow(&mut self, from: &Configuration, list: &mut Vec<Equilibrium>) -> bool {
        let L = self.model.length;
        let mut complete = true;
        for sense in [1.0, -1.0] {
            let mut rest = self.rest(from);
            let mut way = rest.space.N.column(0) * sense;
            let mut force = -rest.g[0] * sense;
            let mut closed = false;
            let (mut ended, mut travelled) = (false, 0.0);
            for _ in 0..STEPS {
                if stop::told() {
                    break;
                }
                let step = &way * (STEP * L);
                let Some(next) = self.manifold.moved(&rest.state, &rest.space, &step) else {
                    ended = true;
                    break;
                };
                let moved = Manifold::between(&rest.state, &next);
                let next = self.rest(&next);
                if next.space.freedom() != 1 || rest.space.components(&moved)[0].abs() < 0.3 * STEP * L {
                    ended = true;
                    break;
                }
                let along = next.space.components(&moved)[0].signum();
                let pushed = -next.g[0] * along;
                if pushed * force <= 0.0
                    && let Ending::Rest(rest, count) = self.newton(if pushed.abs() < force.abs() { &next.state } else { &rest.state })
                    && !list.iter().any(|e| apart(self.model, &e.state.q, &rest.state.q) < SAME * L)
                {
                    let e = self.judged(&rest, count, "along the motion");
                    list.push(e);
                }
                way = next.space.N.column(0) * along;
                force = pushed;
                rest = next;
                travelled += STEP * L;
                if travelled > 0.5 * L && apart(self.model, &rest.state.q, &from.q) < 0.75 * STEP * L {
                    closed = true;
                    break;
                }
                if rest.state.q.iter().any(|q| q.r.norm() > 50.0 * L) {
                    break;
                }
            }
            complete &= closed || ended;
            if closed {
                return true;
            }
        }
        complete
    }
}
