//! Many parameters: finds which data of a mechanism each of them changes, and varies several that change different data at once.

use super::Parameters;
use super::around::{Around, PLACES, SHARES};
use super::given::Changed;
use super::trees::{Begin, Way, changed_forces};
use crate::operator::without_dry_friction;
use crate::tree::Tree;
use fourbar::Error;
use fourbar::Model;
use fourbar::state::Configuration;
use std::sync::Arc;

/// Gaps of a drawn start, in lengths and their rates, below which it counts as closed.
const CLOSED: f64 = 1e-13;

/// Effects of one parameter.
pub(super) struct Follows {
    /// Non-zero derivatives of the data of the mechanism.
    pub slopes: Vec<(usize, f64)>,
    /// Derivatives of the measures at fixed states.
    pub seen: Vec<f64>,
}

/// Effect of a perturbed mechanism on the measures: whether their columns differ at the same states, and their derivatives.
pub(super) trait Sight {
    fn differs(&self, model: &Model) -> bool;
    /// For perturbed mechanisms with unit steps.
    fn derivatives(&self, around: &Around) -> Vec<f64>;
    /// Number of measures.
    fn count(&self) -> usize;
}

/// A mechanism as the list of numbers in its equations and its start.
pub(super) trait Listed {
    fn own(&self) -> &[f64];
    /// The list for a perturbed mechanism; `None` if it has a different form.
    fn of(&self, model: &Model) -> Option<Vec<f64>>;
}

/// A tree, with its start.
pub(super) struct OfTree<'a> {
    way: &'a Way<'a>,
    begin: &'a Begin<'a>,
    /// Whether the start is as drawn, without further conditions, and closed.
    drawn: bool,
    own: Vec<f64>,
}

impl<'a> OfTree<'a> {
    pub fn new(way: &'a Way<'a>, begin: &'a Begin<'a>) -> Self {
        let (tree, model) = (&way.tree, way.model);
        let drawn = model.start.is_empty() && model.hold.is_empty() && tree.gap(&Configuration::start(model)) <= CLOSED * model.length;
        Self { way, begin, drawn, own: tree.numbers.iter().chain(&tree.start).copied().collect() }
    }

    /// The tree of a perturbed mechanism at its start: as drawn if that is closed, which is cheap to test.
    fn tree(&self, model: &Model) -> Option<Tree> {
        if self.drawn
            && let start = Configuration::start(model)
            && let Some(tree) = Tree::new(model, &start)
            && tree.gap(&start) <= CLOSED * self.way.model.length
        {
            return Some(tree);
        }
        Tree::new(model, &(self.begin)(model).ok()?)
    }
}

impl Listed for OfTree<'_> {
    fn own(&self) -> &[f64] {
        &self.own
    }

    fn of(&self, model: &Model) -> Option<Vec<f64>> {
        let tree = self.tree(model).filter(|o| self.way.tree.fits(o))?;
        Some(tree.numbers.iter().chain(&tree.start).copied().collect())
    }
}

/// The mechanism, the start and end of its run, and whether counted angles are coordinates of its state.
pub(super) struct Setting<'a> {
    pub model: &'a Model,
    pub start: &'a Configuration,
    pub t_end: f64,
    pub counted: bool,
}

impl Setting<'_> {
    fn changed_forces(&self, around: &[&Model]) -> Vec<usize> {
        changed_forces(self.model, around, self.start, self.t_end, self.counted)
    }
}

/// Derivatives of all data of a mechanism; `None` if perturbed mechanisms have a different form.
fn slopes(listed: &dyn Listed, around: &Around) -> Option<Vec<f64>> {
    let own = listed.own();
    let mut out = vec![0.0; own.len()];
    for (_, weight, m) in around.each() {
        let other = listed.of(m)?;
        // Differences to the unchanged value: identical values give exactly zero.
        out.iter_mut().zip(other.iter().zip(own)).for_each(|(s, (x, o))| *s += weight * (x - o));
    }
    Some(out)
}

/// Indices that a parameter changes: data of the mechanism, then forces, then one for the measured columns.
type Touched = Vec<usize>;

/// Effects of all parameters, and those that change forces.
type Followed = (Vec<Follows>, Vec<Changed>);

/// Derivatives of a mechanism with respect to parameters; `None` if perturbed mechanisms have a different form.
pub(super) fn follow(
    listed: &dyn Listed,
    setting: &Setting<'_>,
    parameters: &Parameters<'_>,
    which: &[usize],
    sight: &dyn Sight,
) -> Result<Option<Followed>, Error> {
    let (own, model) = (listed.own(), setting.model);
    let forces = own.len();
    let seen = forces + model.forces.len();
    let touched = |m: &Model| -> Option<Touched> {
        let other = listed.of(m)?;
        let pairs = own.iter().zip(&other);
        let mut list: Touched = pairs.enumerate().filter(|(_, (a, b))| a.to_bits() != b.to_bits()).map(|(i, _)| i).collect();
        list.extend(setting.changed_forces(&[m]).into_iter().map(|f| forces + f));
        list.extend(sight.differs(m).then_some(seen));
        Some(list)
    };
    // Groups of parameters that change different data. A computed parameter changes only data that its source parameters change too, so
    // that they are never in one group.
    let mut groups: Vec<(Vec<usize>, Vec<bool>)> = Vec::new();
    let mut alone = Vec::new();
    let mut places = Vec::new();
    for (i, &k) in which.iter().enumerate() {
        let far = PLACES[5].0 * parameters.step(k, SHARES[0]);
        let other = parameters.varied(k, far).ok().map(|m| without_dry_friction(&m).0).filter(|m| parameters.same_shape(m, model));
        let Some(list) = other.and_then(|m| touched(&m)) else {
            alone.push(i);
            places.push(Vec::new());
            continue;
        };
        let free = |taken: &Vec<bool>| list.iter().all(|&x| !taken[x]);
        let group = match groups.iter().position(|(_, taken)| free(taken)) {
            Some(g) => g,
            None => {
                groups.push((Vec::new(), vec![false; seen + 1]));
                groups.len() - 1
            }
        };
        groups[group].0.push(i);
        list.iter().for_each(|&x| groups[group].1[x] = true);
        places.push(list);
    }
    let none = || Follows { slopes: Vec::new(), seen: vec![0.0; sight.count()] };
    let mut found: Vec<Follows> = which.iter().map(|_| none()).collect();
    let mut changed = Vec::new();
    for (members, _) in &groups {
        let steps: Vec<(usize, f64)> = members.iter().map(|&i| (which[i], parameters.step(which[i], SHARES[0]))).collect();
        let Some(around) = parameters.around_several(&steps, model) else {
            alone.extend(members);
            continue;
        };
        let Some(all) = slopes(listed, &around) else {
            alone.extend(members);
            continue;
        };
        let sights = if members.iter().any(|&i| places[i].contains(&seen)) { sight.derivatives(&around) } else { Vec::new() };
        let around = Arc::new(around);
        for (&i, (_, h)) in members.iter().zip(&steps) {
            let own = &mut found[i];
            let mut pushed = Vec::new();
            for &x in &places[i] {
                match x {
                    x if x < forces => own.slopes.push((x, all[x] / h)),
                    x if x < seen => pushed.push(x - forces),
                    _ => own.seen = sights.iter().map(|s| s / h).collect(),
                }
            }
            if !pushed.is_empty() {
                changed.push(Changed { parameter: i, around: around.clone(), per: 1.0 / h, forces: pushed });
            }
        }
    }
    // Parameters that cannot be varied that far, or not together with others.
    for i in alone {
        let around = parameters.around(which[i], model)?;
        let Some(all) = slopes(listed, &around) else { return Ok(None) };
        let own = &mut found[i];
        own.slopes = all.into_iter().enumerate().filter(|(_, x)| *x != 0.0).collect();
        let list: Vec<&Model> = around.models.iter().collect();
        let forces = setting.changed_forces(&list);
        // The step is already in the weights.
        own.seen = if list.iter().any(|m| sight.differs(m)) { sight.derivatives(&around) } else { vec![0.0; sight.count()] };
        if !forces.is_empty() {
            changed.push(Changed { parameter: i, around: Arc::new(around), per: 1.0, forces });
        }
    }
    Ok(Some((found, changed)))
}
