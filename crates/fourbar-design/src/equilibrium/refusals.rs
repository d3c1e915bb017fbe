//! What is said of an equilibrium that is not there, or not what was asked for.

use super::{Equilibrium, Problem, Rest, Stability};
use crate::words;
use fourbar::Diagnostic;
use fourbar::diagnostic::number;
use fourbar::evaluate::stacked;
use fourbar::state::Wrench;
use nalgebra::DVector;

/// The force that drives a mechanism along a motion most: its name and its share of what drives it.
fn driver(p: &Problem<'_>, rest: &Rest, motion: &DVector<f64>) -> String {
    let m = p.model;
    let x = crate::operator::plain(&rest.state);
    let weight: Vec<Wrench> = m.bodies.iter().map(|b| Wrench { F: m.gravity * b.mass, T: Default::default() }).collect();
    let mut powers = vec![("gravity".to_string(), motion.dot(&stacked(&weight)))];
    for (name, f) in &m.forces {
        let mut own = vec![Wrench::zero(); m.bodies.len()];
        f.wrench(m, &x, &mut |b, F, T| own[b] = own[b].plus(&Wrench { F, T }));
        powers.push((format!("`{name}`"), motion.dot(&stacked(&own))));
    }
    let most = powers.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    most.map_or("gravity".into(), |p| p.0)
}

/// The motion that the forces drive, all bodies.
fn driven(rest: &Rest) -> DVector<f64> {
    -(rest.test() * &rest.g)
}

/// Nothing holds the mechanism.
pub fn away(p: &Problem<'_>, rest: &Rest) -> Diagnostic {
    let motion = driven(rest);
    let by = driver(p, rest, &motion);
    let message =
        format!("there is no equilibrium: {by} drives {} away, and nothing holds it", words::motion(p.model, &rest.state.q, &motion));
    Diagnostic::new("S401", message).help("hold the mechanism against this motion by a joint, a spring or a drive; or leave out the force")
}

/// The load would need infinite reactions.
pub fn blocked(p: &Problem<'_>, rest: &Rest) -> Diagnostic {
    let motion = driven(rest);
    let by = driver(p, rest, &motion);
    let message = format!(
        "{by} loads the mechanism along {}, which the joints allow at first order and forbid at second: here the reactions would be infinite",
        words::motion(p.model, &rest.state.q, &motion)
    );
    Diagnostic::new("S402", message).help("this is a singular position, such as a taut chain or a dead point: draw the mechanism off it")
}

/// The search did not end.
pub fn lost(p: &Problem<'_>, rest: &Rest) -> Diagnostic {
    let motion = driven(rest);
    let by = driver(p, rest, &motion);
    let share = if rest.load > 0.0 { rest.g.norm() / rest.load } else { rest.g.norm() };
    let message = format!(
        "no equilibrium was found: at the best position {} of the load is left, and {by} drives {}",
        number(share),
        words::motion(p.model, &rest.state.q, &motion)
    );
    let help = "a force that jumps (`if`, a stop) has no equilibrium where it jumps; otherwise start closer to the rest, or look for all with `--all`";
    Diagnostic::new("S403", message).help(help)
}

/// A saddle instead of a rest.
pub fn unstable(found: &Equilibrium) -> Diagnostic {
    Diagnostic::new("W402", format!("the equilibrium is unstable: it is left along {}", found.verdict.softest))
        .help("`--all` looks for others; `--kind any` asks for this one on purpose")
}

/// What a rest itself asks to be said.
pub fn warnings(p: &mut Problem<'_>, rest: &Rest, found: &Equilibrium) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    if found.stability() == Stability::Neutral {
        let v = &found.verdict;
        let neutral = (0..v.omega2.len()).min_by(|&a, &b| v.omega2[a].abs().total_cmp(&v.omega2[b].abs())).unwrap_or(0);
        let shape = v.shapes.column_iter().nth(neutral).map(|x| x.into_owned());
        let words = shape.as_ref().map_or_else(|| v.softest.clone(), |x| words::motion(p.model, &rest.state.q, x));
        let how = match shape.and_then(|x| p.neutral_along(rest, &x)) {
            Some(true) => "it rests at every position along this motion",
            Some(false) => "the equilibrium is on the border between stable and unstable there",
            None => "nothing drives it back or away",
        };
        list.push(Diagnostic::new("W401", format!("the equilibrium is neutral along {words}: {how}")));
    }
    if found.verdict.circulatory {
        let message = "a force without potential takes part (a follower force, a controller): the eigenvalues of the motion decide whether the rest is stable, not the stiffness";
        list.push(Diagnostic::new("W405", message).help("`fourbar modes` lists them"));
    }
    if rest.space.redundant() > 0 && rest.space.freedom() > 0 && p.depends_on_stress(rest) {
        let message = "at this position the stiffness depends on self-stresses that statics does not determine: the position is singular";
        list.push(Diagnostic::new("W404", message).help("move the mechanism off its dead point, or remove the redundant joint"));
    }
    list
}

impl Problem<'_> {
    /// Whether a motion without stiffness leads to further positions of rest; `None` where it cannot be followed.
    fn neutral_along(&mut self, rest: &Rest, shape: &DVector<f64>) -> Option<bool> {
        let y = rest.space.components(shape);
        let step = &rest.space.N * (&y * (0.05 * self.model.length / y.norm().max(f64::MIN_POSITIVE)));
        let moved = self.manifold.moved(&rest.state, &rest.space, &step)?;
        let there = self.rest(&moved);
        Some(there.g.norm() <= 1e-7 * there.load)
    }

    /// Whether self-stresses change the stiffness along free motions: only at singular positions they do.
    fn depends_on_stress(&mut self, rest: &Rest) -> bool {
        let Rest { state, lambda, space, .. } = rest;
        let G = self.op.jacobian(state);
        let rows = G.nrows();
        if rows > 400 {
            return false;
        }
        let base = space.N.tr_mul(&(self.op.stiffness(state, lambda).0 * &space.N));
        // A stress of the size of the load in every set at once.
        let all = rest.rolling.as_ref().unwrap_or(space);
        let random = DVector::from_fn(rows, |k, _| (1.0 + k as f64).sin() * rest.load.max(1.0));
        let stress = &random - all.multipliers(&G.tr_mul(&random));
        let with = space.N.tr_mul(&(self.op.stiffness(state, &(lambda + &stress)).0 * &space.N));
        let size = stress.amax() / self.model.length;
        size > 0.0 && (with - base).amax() > 1e-6 * size
    }
}
