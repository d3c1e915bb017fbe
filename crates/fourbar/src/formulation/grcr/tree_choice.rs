//! The cheapest of several spanning trees, by the static count of operations.
//!
//! The cost of a tree is known only once its dependents are chosen, and that takes far longer than growing the tree where loops carry many
//! base bodies along. The widths of the fronts alone give a lower bound of the cost, so that a tree that cannot be the cheapest is
//! abandoned early.

use super::graph::{Graph, Growth};
use super::loop_rows::Closings;
use super::mechanism::{Mechanism, SMALL};
use super::schedule::{Role, Schedule};
use super::tree::Tree;
use super::{Coupling, Fictitious, Options};
use crate::constraint::Owner;
use crate::model::Model;
use crate::state::Configuration;

/// Cost of closing a loop at a joint that is preferred in the tree, in operations.
const UNWANTED: f64 = 2000.0;
/// Initial limit of the count for all trees, in operations per body, and the factor by which it grows while no count is complete.
const FIRST: f64 = 1000.0;
const FURTHER: f64 = 8.0;

/// A candidate for the tree.
struct Candidate {
    tree: Tree,
    closings: Closings,
    /// Cost of joints that it omits.
    unwanted: f64,
}

impl Candidate {
    fn new(model: &Model, start: &Configuration, graph: &Graph, growth: &Growth) -> Self {
        let tree = Tree::new(model, growth, start);
        let closings = Closings::new(model, &tree);
        let unwanted = closings.list.iter().filter(|c| matches!(c.owner, Owner::Joint(k) if graph.wanted[k])).count();
        Self { tree, closings, unwanted: UNWANTED * unwanted as f64 }
    }

    /// Lower bound of its cost; some value above `limit` if the cost exceeds `limit`.
    fn least(&self, limit: f64) -> f64 {
        let mut roles = vec![Role::Independent; self.tree.speeds];
        for p in &self.tree.prescribed {
            roles[p.column] = Role::Prescribed;
        }
        self.unwanted + Schedule::within(&self.tree, &self.closings, roles, limit - self.unwanted).1
    }

    /// Bodies at the end of their loops, for fictitious joints.
    fn floating(&self) -> Vec<bool> {
        let mut floating = vec![false; self.tree.of_body.len()];
        let joints = self.closings.list.iter().filter(|c| matches!(c.owner, Owner::Joint(_)));
        for (node, _) in joints.filter_map(|c| c.nodes.first()) {
            floating[self.tree.nodes[*node].body] = true;
        }
        floating
    }
}

/// The trees that the options allow.
fn candidates(model: &Model, start: &Configuration, options: &Options) -> Vec<Candidate> {
    let graph = Graph::new(model);
    let mut list = Vec::new();
    let named: Vec<bool> = model.joints.iter().map(|j| options.names(&j.name)).collect();
    let mut growths = graph.candidates();
    if named.contains(&true) {
        growths.push(graph.cutting(&named));
    }
    for growth in growths {
        let real = Candidate::new(model, start, &graph, &growth);
        let fictitious = match options.coupling {
            Coupling::Acs | Coupling::Rcr => None,
            Coupling::Auto if named.contains(&true) => None,
            Coupling::Auto if model.bodies.len() > SMALL => None,
            Coupling::Auto | Coupling::Gcl => growth.with_free(&real.floating(), options.fictitious == Fictitious::Ground),
        };
        if options.coupling != Coupling::Gcl || fictitious.is_none() {
            list.push(real);
        }
        list.extend(fictitious.map(|growth| Candidate::new(model, start, &graph, &growth)));
    }
    // Joints that the tree omits are always dependent, and must therefore be among the named ones.
    let cuts_named = |c: &Candidate| c.closings.list.iter().all(|x| !matches!(x.owner, Owner::Joint(k) if !named[k]));
    if named.contains(&true) && list.iter().any(cuts_named) {
        list.retain(cuts_named);
    }
    list
}

/// The mechanism with the cheapest tree that the options allow; the first one in case of a tie.
pub fn cheapest<'m>(model: &'m Model, start: &Configuration, options: &Options) -> Mechanism<'m> {
    let list = candidates(model, start, options);
    let mut limit = FIRST * model.bodies.len() as f64;
    let mut order: Vec<(f64, usize, Candidate)> = list.into_iter().enumerate().map(|(i, c)| (c.least(limit), i, c)).collect();
    while order.iter().all(|x| x.0 > limit) && limit.is_finite() {
        limit *= FURTHER;
        order.iter_mut().for_each(|x| x.0 = x.2.least(limit));
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut best: Option<(f64, usize, Mechanism<'m>)> = None;
    for (_, i, candidate) in order {
        if best.as_ref().is_some_and(|b| candidate.least(b.0) > b.0) {
            continue;
        }
        let unwanted = candidate.unwanted;
        let m = Mechanism::with(model, start, candidate.tree, candidate.closings);
        let cost = m.schedule.cost(&m.tree) + unwanted;
        if best.as_ref().is_none_or(|b| (cost, i) < (b.0, b.1)) {
            best = Some((cost, i, m));
        }
    }
    match best {
        Some((_, _, m)) => m,
        None => {
            // Without bodies the tree consists of the ground alone.
            let tree = Tree::new(model, &Growth { steps: Vec::new() }, start);
            let closings = Closings::new(model, &tree);
            Mechanism::with(model, start, tree, closings)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{BodySpec, JointSpec, ModelSpec, PairKind, Placement};

    /// Two rails of hinged links with rungs between them: some of its trees carry all links of a rail along.
    fn nested(n: usize) -> Model {
        let mut spec = ModelSpec::default();
        let name = |side: &str, k: usize| if k == 0 { "ground".to_string() } else { format!("{side}{k}") };
        let hinge = |a: String, b: String, x: f64, y: f64| JointSpec::Pair {
            kind: PairKind::Revolute,
            bodies: [a, b],
            placement: Placement::World { at: [x, y, 0.0], axis: [0.0, 0.0, 1.0], axis_moving: None },
        };
        for k in 1..=n {
            let y = -(k as f64);
            for (side, x) in [("left", 0.0), ("right", 1.0)] {
                spec.bodies.push((name(side, k), BodySpec { mass: 1.0, at: [x, y + 0.5, 0.0], ..BodySpec::default() }));
                spec.joints.push((format!("{side}_pin{k}"), hinge(name(side, k - 1), name(side, k), x, y + 1.0)));
            }
            spec.bodies.push((name("rung", k), BodySpec { mass: 1.0, at: [0.5, y, 0.0], ..BodySpec::default() }));
            spec.joints.push((format!("from{k}"), hinge(name("left", k), name("rung", k), 0.0, y)));
            spec.joints.push((format!("to{k}"), hinge(name("right", k), name("rung", k), 1.0, y)));
        }
        spec.build().unwrap()
    }

    #[test]
    fn no_tree_is_given_up_that_would_have_been_cheaper() {
        let model = nested(6);
        let start = Configuration::start(&model);
        for coupling in [Coupling::Acs, Coupling::Auto, Coupling::Gcl] {
            let options = Options { coupling, ..Options::default() };
            let mut lowest = f64::INFINITY;
            let (mut narrowest, mut widest) = (usize::MAX, 0);
            for c in candidates(&model, &start, &options) {
                let (least, unwanted) = (c.least(f64::INFINITY), c.unwanted);
                assert!(c.least(0.5 * least) > 0.5 * least);
                let m = Mechanism::with(&model, &start, c.tree, c.closings);
                let cost = m.schedule.cost(&m.tree) + unwanted;
                assert!(least <= cost, "{least} {cost}");
                lowest = lowest.min(cost);
                narrowest = narrowest.min(m.schedule.carriers());
                widest = widest.max(m.schedule.carriers());
            }
            let m = cheapest(&model, &start, &options);
            assert_eq!(m.schedule.cost(&m.tree), lowest);
            assert!(widest > narrowest);
        }
    }
}
