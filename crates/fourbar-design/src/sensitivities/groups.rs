//! Many parameters: which numbers of a tree each of them changes, and mechanisms around in which several that change others are varied at
//! once.

use super::Parameters;
use super::around::{Around, PLACES, SHARES};
use super::given::Changed;
use super::trees::{Begin, Slopes, Way, changed_forces, slopes};
use crate::operator::without_dry_friction;
use crate::tree::Tree;
use fourbar::Error;
use fourbar::Model;
use fourbar::state::Configuration;
use std::sync::Arc;

/// Gaps of a start as it is drawn, in lengths and their rates, up to which it is closed.
const CLOSED: f64 = 1e-13;

/// What one parameter does.
pub(super) struct Follows {
    pub slopes: Slopes,
    /// Derivatives of the measures at the same states.
    pub seen: Vec<f64>,
}

/// What a mechanism around looks like to the measures: whether their columns differ at the same states, and their derivatives.
pub(super) trait Sight {
    fn differs(&self, model: &Model) -> bool;
    /// For mechanisms around with a step of one.
    fn derivatives(&self, around: &Around) -> Vec<f64>;
    /// Number of measures.
    fn count(&self) -> usize;
}

/// Places that a parameter changes: numbers of the tree, then of its start; then forces, then what is seen.
type Touched = Vec<usize>;

/// The start of a mechanism around: as it is drawn where that is closed, which is quick to see.
fn start_of(way: &Way<'_>, model: &Model, drawn: bool, begin: &Begin<'_>) -> Option<Tree> {
    if drawn
        && let start = Configuration::start(model)
        && let Some(tree) = Tree::new(model, &start)
        && tree.gap(&start) <= CLOSED * way.model.length
    {
        return Some(tree);
    }
    Tree::new(model, &begin(model).ok()?)
}

/// How a tree follows parameters, and those that change forces.
type Followed = (Vec<Follows>, Vec<Changed>);

/// How a tree follows parameters; `None` where mechanisms around are other trees.
pub(super) fn follow(
    way: &Way<'_>,
    parameters: &Parameters<'_>,
    which: &[usize],
    begin: &Begin<'_>,
    sight: &dyn Sight,
) -> Result<Option<Followed>, Error> {
    let (tree, model) = (&way.tree, way.model);
    let (numbers, start) = (tree.numbers.len(), tree.start.len());
    let forces = numbers + start;
    let seen = forces + model.forces.len();
    // Nothing is asked of the start but what is drawn, and that is closed.
    let drawn = model.start.is_empty() && model.hold.is_empty() && tree.gap(&Configuration::start(model)) <= CLOSED * model.length;
    let touched = |m: &Model| -> Option<Touched> {
        let other = start_of(way, m, drawn, begin).filter(|o| tree.fits(o))?;
        let pairs = tree.numbers.iter().chain(&tree.start).zip(other.numbers.iter().chain(&other.start));
        let mut list: Touched = pairs.enumerate().filter(|(_, (a, b))| a.to_bits() != b.to_bits()).map(|(i, _)| i).collect();
        list.extend(changed_forces(model, &[m], way.start, way.study.t_end).into_iter().map(|f| forces + f));
        list.extend(sight.differs(m).then_some(seen));
        Some(list)
    };
    // Groups of parameters that change different things. What is computed from a parameter changes nothing that the parameter leaves alone, so
    // that the two are never in one group.
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
    let none = || Follows { slopes: Slopes { numbers: vec![0.0; numbers], start: vec![0.0; start] }, seen: vec![0.0; sight.count()] };
    let mut found: Vec<Follows> = which.iter().map(|_| none()).collect();
    let mut changed = Vec::new();
    for (members, _) in &groups {
        let steps: Vec<(usize, f64)> = members.iter().map(|&i| (which[i], parameters.step(which[i], SHARES[0]))).collect();
        let Some(around) = parameters.around_several(&steps, model) else {
            alone.extend(members);
            continue;
        };
        let of = |m: &Model| start_of(way, m, drawn, begin);
        let Some(all) = slopes(tree, &around, &of) else {
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
                    x if x < numbers => own.slopes.numbers[x] = all.numbers[x] / h,
                    x if x < forces => own.slopes.start[x - numbers] = all.start[x - numbers] / h,
                    x if x < seen => pushed.push(x - forces),
                    _ => own.seen = sights.iter().map(|s| s / h).collect(),
                }
            }
            if !pushed.is_empty() {
                changed.push(Changed { parameter: i, around: around.clone(), per: 1.0 / h, forces: pushed });
            }
        }
    }
    // What cannot be varied that far, or not together with others.
    for i in alone {
        let around = parameters.around(which[i], model)?;
        let Some(s) = slopes(tree, &around, &|m: &Model| start_of(way, m, drawn, begin)) else { return Ok(None) };
        let own = &mut found[i];
        own.slopes = s;
        let list: Vec<&Model> = around.models.iter().collect();
        let forces = changed_forces(model, &list, way.start, way.study.t_end);
        // Its step is in its weights already.
        own.seen = if list.iter().any(|m| sight.differs(m)) { sight.derivatives(&around) } else { vec![0.0; sight.count()] };
        if !forces.is_empty() {
            changed.push(Changed { parameter: i, around: Arc::new(around), per: 1.0, forces });
        }
    }
    Ok(Some((found, changed)))
}
