//! Mobility of large mechanisms: rows can only depend on each other within a closed part of the graph of bodies, so every
//! such block is judged alone, and what hangs on it as a tree costs nothing.
//!
//! Why blocks suffice: a self-stress leaves every body of a block but one in balance by itself; action and reaction within
//! the block sum to zero, so that the last one, through which the rest hangs on it, is in balance as well.

use crate::analysis::rank::{self, Mobility, Rank, TOLERANCE};
use crate::analysis::redundancy::Part;
use crate::constraint::{Constraint, ConstraintSet};
use crate::model::Model;
use crate::random::Random;
use crate::schur::{Schur, unit_weights};
use crate::state::{Configuration, Pose, Velocity};
use std::collections::BTreeMap;

/// Up to this many rows and columns a mechanism or a block is judged by singular values.
const DENSE: usize = 300;
/// Free motions up to which they are found one by one.
const MOTIONS: usize = 40;
/// Free motions of one block up to which they are counted.
const COUNTED: usize = 400;

/// Mobility with or without the drives. Motions are listed where there are few, and the start is compared with nearby
/// poses only then. `None` where a block is too large to be judged.
pub fn mobility(model: &Model, start: &Configuration, drives: bool) -> Option<Mobility> {
    let mut list = model.constraints(drives);
    list.extend(model.velocity_constraints());
    let rows: usize = list.iter().map(Constraint::count).sum();
    let columns = 6 * model.moving();
    if rows.max(columns) <= DENSE {
        return Some(rank::mobility(model, start, drives));
    }
    let redundant = blocks(model.bodies.len(), &list).iter().map(|b| excess(model, &list, b, &start.q)).sum::<Option<usize>>()?;
    let rank = rows - redundant;
    if columns - rank <= MOTIONS {
        return Some(rank::mobility(model, start, drives));
    }
    let found = Rank { rows, columns, rank, smallest: None, motions: Vec::new() };
    Some(Mobility { by_count: columns as i64 - rows as i64, start: found.clone(), generic: found, singular_start: false })
}

/// Mobility by count alone.
pub fn by_count(model: &Model, drives: bool) -> Mobility {
    let rows: usize =
        model.constraints(drives).iter().chain(&model.velocity_constraints().collect::<Vec<_>>()).map(Constraint::count).sum();
    let columns = 6 * model.moving();
    let found = Rank { rows, columns, rank: rows.min(columns), smallest: None, motions: Vec::new() };
    Mobility { by_count: columns as i64 - rows as i64, start: found.clone(), generic: found, singular_start: false }
}

/// Rows of a block minus their rank.
fn excess(model: &Model, list: &[Constraint], block: &[usize], q: &[Pose]) -> Option<usize> {
    let rows: usize = block.iter().map(|&k| list[k].count()).sum();
    let mut bodies: Vec<usize> = block.iter().flat_map(|&k| list[k].bodies.iter().map(|b| b.index())).collect();
    bodies.sort_unstable();
    bodies.dedup();
    if rows.max(6 * bodies.len()) <= DENSE {
        let part = Part::new(list, block, q, model.length);
        return Some(rows - fourbar_math::dense::rank(&part.A, TOLERANCE).rank);
    }
    // The block moves as a whole with its first body, which is held: the ground where it belongs to the block.
    let first = bodies.remove(0);
    let set = ConstraintSet::new(block.iter().map(|&k| list[k].clone()).collect(), |b| b.index() == first);
    let free = probed(model, &set, &bodies, q)?;
    Some((rows + free).saturating_sub(6 * bodies.len()))
}

/// Free motions of some bodies under a set of constraints, counted by projecting random velocities.
fn probed(model: &Model, set: &ConstraintSet, bodies: &[usize], q: &[Pose]) -> Option<usize> {
    let n = model.bodies.len();
    let L = model.length;
    let inverse = unit_weights(model);
    let mut schur = Schur::new(set, n);
    set.jacobian(q, &mut schur.G);
    schur.factor(&inverse, 1.0, 1e-12);
    let mut random = Random(0x1a26_e5ee_d123_4567);
    let mut basis: Vec<Vec<Velocity>> = Vec::new();
    let mut x = vec![0.0; set.rows()];
    let (mut v, mut d) = (vec![Velocity::zero(); n], vec![Velocity::zero(); n]);
    let mut misses = 0;
    while misses < 2 {
        for &b in bodies {
            v[b] = Velocity { v: random.vector(), w: random.vector() / L };
        }
        let size = |v: &[Velocity]| bodies.iter().map(|&b| v[b].v.norm_squared() + L * L * v[b].w.norm_squared()).sum::<f64>().sqrt();
        let before = size(&v);
        for _ in 0..3 {
            set.multiply(&schur.G, &v, &mut x);
            schur.solve(&mut x);
            d.fill(Velocity::zero());
            set.add_transposed(&schur.G, &x, -1.0, &mut d);
            for &b in bodies {
                v[b] = v[b].plus(&inverse[b].apply(&d[b]));
            }
        }
        for _ in 0..2 {
            for e in &basis {
                let k: f64 = bodies.iter().zip(e).map(|(&b, e)| v[b].v.dot(&e.v) + L * L * v[b].w.dot(&e.w)).sum();
                for (&b, e) in bodies.iter().zip(e) {
                    v[b] = v[b].plus(&e.scaled(-k));
                }
            }
        }
        let left = size(&v);
        if left > 1e-6 * before {
            if basis.len() == COUNTED {
                return None;
            }
            basis.push(bodies.iter().map(|&b| v[b].scaled(1.0 / left)).collect());
        } else {
            misses += 1;
        }
    }
    Some(basis.len())
}

/// Constraints by closed part of the graph whose vertices are the bodies: those on a common circuit belong together, and
/// couplings keep the parts of all their bodies together. Parts of a single constraint are left out: it depends on nothing.
pub fn blocks(bodies: usize, list: &[Constraint]) -> Vec<Vec<usize>> {
    // Edges: a constraint of more than two bodies is a star around the first.
    let mut edges: Vec<(usize, usize, usize)> = Vec::new();
    for (k, c) in list.iter().enumerate() {
        let first = c.bodies[0].index();
        edges.extend(c.bodies.iter().skip(1).filter(|b| b.index() != first).map(|b| (first, b.index(), k)));
    }
    let mut incident: Vec<Vec<usize>> = vec![Vec::new(); bodies];
    for (e, &(a, b, _)) in edges.iter().enumerate() {
        incident[a].push(e);
        incident[b].push(e);
    }
    // Depth first, without recursion: `low` is the earliest body that a subtree reaches by one edge back.
    let (mut entered, mut low) = (vec![usize::MAX; bodies], vec![usize::MAX; bodies]);
    let mut part = vec![usize::MAX; edges.len()];
    let (mut clock, mut parts) = (0, 0);
    let mut pile: Vec<usize> = Vec::new();
    for root in 0..bodies {
        if entered[root] != usize::MAX {
            continue;
        }
        (entered[root], low[root]) = (clock, clock);
        clock += 1;
        let mut path: Vec<(usize, usize, usize)> = vec![(root, usize::MAX, 0)];
        while let Some(&mut (body, from, ref mut next)) = path.last_mut() {
            if let Some(&e) = incident[body].get(*next) {
                *next += 1;
                let (a, b, _) = edges[e];
                let other = if a == body { b } else { a };
                if e == from {
                    continue;
                }
                if entered[other] == usize::MAX {
                    (entered[other], low[other]) = (clock, clock);
                    clock += 1;
                    pile.push(e);
                    path.push((other, e, 0));
                } else if entered[other] < entered[body] {
                    pile.push(e);
                    low[body] = low[body].min(entered[other]);
                }
            } else {
                path.pop();
                let Some(&(parent, ..)) = path.last() else { continue };
                low[parent] = low[parent].min(low[body]);
                if low[body] >= entered[parent] {
                    // Everything since the edge to `body` is one part.
                    while let Some(e) = pile.pop() {
                        part[e] = parts;
                        if e == from {
                            break;
                        }
                    }
                    parts += 1;
                }
            }
        }
    }
    // A coupling joins the parts of its edges.
    let mut same: Vec<usize> = (0..parts).collect();
    fn top(same: &mut [usize], mut k: usize) -> usize {
        while same[k] != k {
            same[k] = same[same[k]];
            k = same[k];
        }
        k
    }
    let mut first_part = vec![usize::MAX; list.len()];
    for (e, &(_, _, k)) in edges.iter().enumerate() {
        let now = top(&mut same, part[e]);
        if first_part[k] == usize::MAX {
            first_part[k] = now;
        } else {
            let before = top(&mut same, first_part[k]);
            same[now] = before;
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (k, &p) in first_part.iter().enumerate().filter(|(_, p)| **p != usize::MAX) {
        groups.entry(top(&mut same, p)).or_default().push(k);
    }
    groups.into_values().filter(|g| g.len() > 1).collect()
}
