//! Diagnostics for an equilibrium that does not exist or is not of the requested kind.

use super::{Equilibrium, Problem, Rest, Stability, Verdict};
use crate::words;
use fourbar::diagnostic::number;
use fourbar::evaluate::by_body;
use fourbar::state::{Configuration, Wrench};
use fourbar::{Diagnostic, Model};
use nalgebra::DVector;

/// The end of a search without an equilibrium.
pub struct Ended<'a> {
    /// The mechanism.
    pub model: &'a Model,
    /// The position.
    pub state: &'a Configuration,
    /// The motion driven by the forces, all bodies.
    pub motion: DVector<f64>,
    /// Residual force as a share of the largest load.
    pub share: f64,
}

impl Ended<'_> {
    /// Name of the force that drives the mechanism most.
    fn driver(&self) -> String {
        let (m, motion) = (self.model, by_body(&self.motion));
        let x = crate::operator::plain(self.state);
        let weight: f64 = m.bodies.iter().zip(&motion).map(|(b, d)| b.mass * m.gravity.dot(&d.v)).sum();
        let mut powers = vec![("gravity".to_string(), weight)];
        for (name, f) in &m.forces {
            let mut sum = 0.0;
            f.wrench(m, &x, &mut |b, F, T| sum += Wrench { F, T }.power(&motion[b]));
            powers.push((format!("`{name}`"), sum));
        }
        let most = powers.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.map_or("gravity".into(), |p| p.0)
    }

    fn words(&self) -> String {
        words::motion(self.model, &self.state.q, &self.motion)
    }

    /// Nothing holds the mechanism: it moves away without end.
    pub fn away(&self) -> Diagnostic {
        let message = format!("there is no equilibrium: {} drives {} away, and nothing holds it", self.driver(), self.words());
        Diagnostic::new("S401", message).help("constrain this motion by a joint, a spring or a drive; or remove the force")
    }

    /// The load would need infinite reactions.
    pub fn blocked(&self) -> Diagnostic {
        let message = format!(
            "{} loads the mechanism along {}, which the joints allow at first order and forbid at second: here the reactions would be infinite",
            self.driver(),
            self.words()
        );
        Diagnostic::new("S402", message)
            .help("this is a singular position, such as a taut chain or a dead point: draw the mechanism off it")
    }

    /// The search did not converge.
    pub fn lost(&self) -> Diagnostic {
        let message = format!(
            "no equilibrium was found: at the best position {} of the load is left, and {} drives {}",
            number(self.share),
            self.driver(),
            self.words()
        );
        let help = "a force that jumps (`if`, a stop) has no equilibrium where it jumps; otherwise start closer to the equilibrium, or search for all with `--all`";
        Diagnostic::new("S403", message).help(help)
    }
}

/// The equilibrium found is unstable.
pub fn unstable(found: &Equilibrium) -> Diagnostic {
    Diagnostic::new("W402", format!("the equilibrium is unstable: it is left along {}", found.verdict.softest))
        .help("`--all` searches for others; `--kind any` accepts this one without a warning")
}

/// Warnings for a verdict; `along` states whether a motion without stiffness leads to further equilibria.
pub fn of_verdict(model: &Model, state: &Configuration, v: &Verdict, along: impl FnOnce(&DVector<f64>) -> Option<bool>) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    if v.stability == Stability::Neutral {
        let neutral = (0..v.omega2.len()).min_by(|&a, &b| v.omega2[a].abs().total_cmp(&v.omega2[b].abs())).unwrap_or(0);
        let shape = v.shapes.column_iter().nth(neutral).map(|x| x.into_owned());
        let words = shape.as_ref().map_or_else(|| v.softest.clone(), |x| words::motion(model, &state.q, x));
        let how = match shape.and_then(|x| along(&x)) {
            Some(true) => "every position along this motion is an equilibrium",
            Some(false) => "the equilibrium is on the border between stable and unstable there",
            None => "nothing drives it back or away",
        };
        list.push(Diagnostic::new("W401", format!("the equilibrium is neutral along {words}: {how}")));
    }
    if v.circulatory {
        let message = "there is a force without potential (a follower force, a controller): stability is determined by the eigenvalues of the motion, not by the stiffness";
        list.push(Diagnostic::new("W405", message).help("`fourbar modes` lists them"));
    }
    list
}

/// Warnings for an equilibrium.
pub fn warnings(p: &mut Problem<'_>, rest: &Rest, found: &Equilibrium) -> Vec<Diagnostic> {
    let mut list = of_verdict(p.model, &rest.state, &found.verdict, |x| p.neutral_along(rest, x));
    if rest.space.redundant() > 0 && rest.space.freedom() > 0 && p.depends_on_stress(rest) {
        let message = "at this position the stiffness depends on self-stresses that statics does not determine: the position is singular";
        list.push(Diagnostic::new("W404", message).help("move the mechanism off its dead point, or remove the redundant joint"));
    }
    list
}

impl Problem<'_> {
    /// Whether a motion without stiffness leads to further equilibria; `None` if it cannot be followed.
    fn neutral_along(&mut self, rest: &Rest, shape: &DVector<f64>) -> Option<bool> {
        let y = rest.space.components(shape);
        let step = &rest.space.N * (&y * (0.05 * self.model.length / y.norm().max(f64::MIN_POSITIVE)));
        let moved = self.manifold.moved(&rest.state, &rest.space, &step)?;
        let there = self.rest(&moved);
        Some(there.g.norm() <= 1e-7 * there.load)
    }

    /// Whether self-stresses change the stiffness along free motions, which happens only at singular positions.
    fn depends_on_stress(&mut self, rest: &Rest) -> bool {
        let Rest { state, lambda, space, .. } = rest;
        let G = self.op.jacobian(state);
        let rows = G.nrows();
        if rows > 400 {
            return false;
        }
        let base = space.N.tr_mul(&(self.op.stiffness(state, lambda).0 * &space.N));
        // A stress of the size of the load in all self-stress states at once.
        let all = rest.rolling.as_ref().unwrap_or(space);
        let random = DVector::from_fn(rows, |k, _| (1.0 + k as f64).sin() * rest.load.max(1.0));
        let stress = &random - all.multipliers(&G.tr_mul(&random));
        let with = space.N.tr_mul(&(self.op.stiffness(state, &(lambda + &stress)).0 * &space.N));
        let size = stress.amax() / self.model.length;
        size > 0.0 && (with - base).amax() > 1e-6 * size
    }
}
