//! Choice of dependent columns and of active rows by threshold pivoting from the outboard end, using only the rows.
//!
//! Every closing row is carried inward. A column with a sufficiently large sine to the open rows becomes dependent: a reflection combines
//! the rows so that only one of them contains the column, and that row is eliminated. Columns near the end of a loop come first, as in
//! recursive coordinate reduction, and weak ones are passed over, as in arbitrary coordinate selection [Critchley03, sections 3 and 4]. A
//! row that depends on others where they meet, or reaches the ground, is redundant; its combination over the closings is a self-stress.

use super::householder::{reflect, reflect_rows, reflection};
use super::loop_rows::{Closings, Kept};
use super::schedule::{Role, Schedule};
use super::spatial::Six;
use super::tree::Tree;
use nalgebra::DMatrix;

/// Thresholds on the sine between a column and the open rows, from good to barely sufficient.
const THRESHOLDS: [f64; 7] = [0.3, 0.1, 0.03, 0.01, 1e-3, 1e-5, RANK];
/// Further thresholds for a set that is to last.
const LASTING: [f64; 4] = [0.8, 0.65, 0.5, 0.4];
/// Below this a row counts as dependent in rank decisions.
const RANK: f64 = 1e-7;

/// A self-stress: values on the scaled rows of the closings it involves.
pub type Stress = Vec<(usize, Vec<f64>)>;

/// The outcome of a selection.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Role of each column.
    pub roles: Vec<Role>,
    /// Active combinations by closing.
    pub kept: Kept,
    /// Number of dependents: the rank of the closing rows.
    pub rank: usize,
    /// Smallest sine of a dependent.
    pub smallest: f64,
    /// Redundant rows.
    pub redundant: usize,
}

/// Operations of a pass on the rows of one node, for carrying multipliers outward again.
#[derive(Clone, Debug, Default)]
struct Tape {
    rows_in: usize,
    /// Rows found redundant, in rising order.
    removed: Vec<usize>,
    /// Reflections in order; each is followed by the elimination of the last row.
    reflections: Vec<(Vec<f64>, f64)>,
}

struct Pass {
    dependent: Vec<bool>,
    count: usize,
    smallest: f64,
    /// The dependent column with that sine.
    weakest: usize,
    /// A column that was passed over and one further inward that eliminated a row of the same front.
    skipped: Option<(usize, usize)>,
    /// Largest sine of a column that was passed over.
    passed: f64,
    /// Node and combination over its incoming rows.
    redundant: Vec<(usize, Vec<f64>)>,
    tapes: Vec<Tape>,
}

/// Size of a column as local twist `(v / ell, omega)` at its own joint.
pub fn column_size(tree: &Tree, column: usize, ell: f64) -> f64 {
    let k = tree.node_of[column] as usize;
    if tree.nodes[k].kind.is_hinge() {
        return 1.0;
    }
    let s = tree.S[column].motion_at(&tree.own_point(k));
    ((s.l / ell).norm_squared() + s.a.norm_squared()).sqrt()
}

/// Parts of a self-stress below this fraction of its largest part are rounding.
const NOISE: f64 = 1e-11;

/// Columns that a pass may choose.
enum Choice<'a> {
    Above(f64),
    These(&'a [Role]),
}

/// One inward pass over all rows. In `closings` all rows are active; `schedule` was laid out for them.
fn pass(tree: &Tree, closings: &Closings, schedule: &Schedule, fixed: &[bool], choice: &Choice<'_>) -> Pass {
    let n = tree.nodes.len();
    let mut out = Pass {
        dependent: vec![false; tree.speeds],
        count: 0,
        smallest: f64::INFINITY,
        weakest: usize::MAX,
        skipped: None,
        passed: 0.0,
        redundant: Vec::new(),
        tapes: vec![Tape::default(); n],
    };
    // Open rows by node, with the width of its front.
    let mut open: Vec<Vec<f64>> = vec![Vec::new(); n];
    // The first column that the rows of a front were carried past.
    let mut past: Vec<Option<usize>> = vec![None; n];
    for k in (1..n).rev() {
        let front = &schedule.fronts[k];
        let w = front.w();
        let mut G: Vec<f64> = Vec::new();
        for a in &front.arrivals {
            past[k] = past[k].or(past[a.from]);
            let from = std::mem::take(&mut open[a.from]);
            let width = 6 * a.map.len();
            let d = tree.offset(a.from);
            for row in from.chunks_exact(width.max(1)) {
                let at = G.len();
                G.resize(at + w, 0.0);
                for (v, target) in a.map.iter().enumerate() {
                    let Some(target) = target else { continue };
                    let mut x = Six::of(&row[6 * v..]);
                    if v == 0 && tree.nodes[a.from].shift {
                        x = x.wrench_at(&-d);
                    }
                    let o = &mut G[at + 6 * target..at + 6 * target + 6];
                    let sum = Six::of(o) + x;
                    sum.put(o);
                }
            }
        }
        for e in &front.entries {
            let c = &closings.list[e.closing];
            for r in 0..c.active {
                let at = G.len();
                G.resize(at + w, 0.0);
                for (b, v) in e.variables.iter().enumerate() {
                    G[at + 6 * v..at + 6 * v + 6].copy_from_slice(&closings.E[c.e_at + 6 * (c.active * b + r)..][..6]);
                }
            }
        }
        let mut rows = G.len() / w;
        let tape = &mut out.tapes[k];
        tape.rows_in = rows;
        // Rows can become dependent only where they meet others or where the accelerations of several variables become one.
        let joined = |map: &[Option<usize>]| map.len() > 1 && (map[0].is_none() || map[1..].contains(&map[0]));
        let met = !front.entries.is_empty() || front.arrivals.len() > 1 || front.arrivals.iter().any(|a| joined(&a.map));
        if rows > 0 && met {
            for (row, relation) in dependent_rows(tree, closings, &front.variables, &G, w) {
                tape.removed.push(row);
                out.redundant.push((k, relation));
            }
            for row in tape.removed.iter().rev() {
                G.drain(row * w..(row + 1) * w);
            }
            rows -= tape.removed.len();
        }
        let node = &tree.nodes[k];
        for c in (node.u..node.u + node.kind.speeds()).rev() {
            if rows == 0 || fixed[c] {
                continue;
            }
            let s = &tree.S[c];
            let mut e: Vec<f64> = G.chunks_exact(w).map(|g| s.dot_slice(g)).collect();
            let sine = e.iter().map(|x| x * x).sum::<f64>().sqrt() / column_size(tree, c, closings.ell).max(f64::MIN_POSITIVE);
            let take = match choice {
                Choice::Above(tau) => sine > *tau,
                Choice::These(roles) => roles[c] == Role::Dependent,
            };
            if take {
                out.dependent[c] = true;
                out.count += 1;
                if sine < out.smallest {
                    (out.smallest, out.weakest) = (sine, c);
                }
                out.skipped = out.skipped.or(past[k].map(|p| (p, c)));
                let (_, beta) = reflection(&mut e);
                reflect_rows(&e, beta, &mut G, w, w);
                rows -= 1;
                G.truncate(rows * w);
                tape.reflections.push((e, beta));
            } else {
                out.passed = out.passed.max(sine);
                past[k] = past[k].or(Some(c));
            }
        }
        if front.holder.is_some_and(|h| h != 0) {
            open[k] = G;
        } else {
            out.redundant.extend((0..rows).map(|r| {
                let mut unit = vec![0.0; rows];
                unit[r] = 1.0;
                (k, incoming(tape, &unit))
            }));
        }
    }
    out
}

/// Multipliers of the incoming rows from those of the outgoing ones.
fn incoming(tape: &Tape, outgoing: &[f64]) -> Vec<f64> {
    let mut x = outgoing.to_vec();
    for (v, beta) in tape.reflections.iter().rev() {
        x.push(0.0);
        reflect(v, *beta, &mut x);
    }
    for row in &tape.removed {
        x.insert(*row, 0.0);
    }
    x
}

/// Rows that depend on those after them, each with the vanishing combination of all rows. The newest rows are kept, so that a self-stress
/// extends no farther than the preceding loop.
fn dependent_rows(tree: &Tree, closings: &Closings, variables: &[usize], G: &[f64], w: usize) -> Vec<(usize, Vec<f64>)> {
    let rows = G.len() / w;
    let mut found = Vec::new();
    // Orthonormal vectors, each with its row, its length before normalisation, and its components along the preceding ones.
    let mut basis: Vec<(Vec<f64>, usize, f64, Vec<f64>)> = Vec::new();
    for (r, g) in G.chunks_exact(w).enumerate().rev() {
        // In local terms, so that distant bodies do not get larger weights.
        let mut x = vec![0.0; w];
        for (v, &node) in variables.iter().enumerate() {
            let mut local = Six::of(&g[6 * v..]).wrench_at(&tree.own_point(node));
            local.l *= closings.ell;
            local.put(&mut x[6 * v..]);
        }
        let before = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut parts = vec![0.0; basis.len()];
        for _ in 0..2 {
            for ((b, ..), part) in basis.iter().zip(&mut parts) {
                let k: f64 = b.iter().zip(&x).map(|(b, x)| b * x).sum();
                x.iter_mut().zip(b).for_each(|(x, b)| *x -= k * b);
                *part += k;
            }
        }
        let left = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if left > RANK * before.max(1e-3) {
            x.iter_mut().for_each(|x| *x /= left);
            basis.push((x, r, left, parts));
            continue;
        }
        let mut t = vec![0.0; rows];
        t[r] = 1.0;
        for k in (0..basis.len()).rev() {
            let (_, row, left, along) = &basis[k];
            let share = parts[k] / left;
            t[*row] = -share;
            parts.iter_mut().zip(along).for_each(|(p, a)| *p -= share * a);
        }
        found.push((r, t));
    }
    found.reverse();
    found
}

/// Distributes a combination over the incoming rows of a node to the closings from which they came.
fn stress(closings: &Closings, schedule: &Schedule, tapes: &[Tape], node: usize, combination: &[f64]) -> Stress {
    let mut list: Stress = Vec::new();
    let mut stack = vec![(node, combination.to_vec())];
    let top = combination.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    while let Some((k, x)) = stack.pop() {
        let front = &schedule.fronts[k];
        let mut at = 0;
        for a in &front.arrivals {
            let tape = &tapes[a.from];
            let rows = tape.rows_in - tape.removed.len() - tape.reflections.len();
            let part = &x[at..at + rows];
            at += rows;
            if part.iter().any(|y| y.abs() > 1e-12 * top) {
                stack.push((a.from, incoming(tape, part)));
            }
        }
        for e in &front.entries {
            let rows = closings.list[e.closing].active;
            let part = &x[at..at + rows];
            at += rows;
            if part.iter().any(|y| y.abs() > 1e-12 * top) {
                list.push((e.closing, part.to_vec()));
            }
        }
    }
    list
}

/// Chooses dependents and active rows at the pose of the tree. All rows of `closings` must be active.
pub fn select(tree: &Tree, closings: &Closings, schedule: &Schedule, fixed: &[bool]) -> Selection {
    let above = |tau: f64| pass(tree, closings, schedule, fixed, &Choice::Above(tau));
    let mut p = above(THRESHOLDS[0]);
    // If no row depends on the columns passed over, no other threshold finds a higher rank.
    if p.passed > RANK {
        let most = above(RANK);
        for tau in &THRESHOLDS[1..] {
            if p.count >= most.count {
                break;
            }
            p = above(*tau);
        }
    }
    selection(tree, closings, schedule, fixed, p)
}

/// Among the sets found with several thresholds, the one whose weakest dependent is best determined: it lasts longest during the motion.
pub fn select_lasting(tree: &Tree, closings: &Closings, schedule: &Schedule, fixed: &[bool]) -> Selection {
    let usual = select(tree, closings, schedule, fixed);
    let passes = LASTING.iter().map(|tau| pass(tree, closings, schedule, fixed, &Choice::Above(*tau)));
    let better = passes.filter(|p| p.count == usual.rank && p.smallest > usual.smallest);
    match better.max_by(|a, b| a.smallest.total_cmp(&b.smallest)) {
        Some(p) => selection(tree, closings, schedule, fixed, p),
        None => usual,
    }
}

/// Uses the given dependents; otherwise returns the undetermined column with its sine. All rows of `closings` must be active.
pub fn select_given(
    tree: &Tree,
    closings: &Closings,
    schedule: &Schedule,
    fixed: &[bool],
    roles: &[Role],
) -> Result<Selection, (usize, f64)> {
    let p = pass(tree, closings, schedule, fixed, &Choice::These(roles));
    // A sine of zero leaves no significant digits in the following columns.
    if p.weakest < tree.speeds && p.smallest.is_nan() || p.smallest < RANK {
        return Err((p.weakest, p.smallest));
    }
    Ok(selection(tree, closings, schedule, fixed, p))
}

/// The last coordinates of every loop, as in plain recursive coordinate reduction; otherwise the column that rows are carried past, and the
/// column further inward that would have to replace it.
pub fn select_last(tree: &Tree, closings: &Closings, schedule: &Schedule, fixed: &[bool]) -> Result<Selection, (usize, usize)> {
    let p = pass(tree, closings, schedule, fixed, &Choice::Above(RANK));
    match p.skipped {
        Some(pair) => Err(pair),
        None => Ok(selection(tree, closings, schedule, fixed, p)),
    }
}

/// The selection from the result of a pass.
fn selection(tree: &Tree, closings: &Closings, schedule: &Schedule, fixed: &[bool], p: Pass) -> Selection {
    let stresses: Vec<Stress> = p.redundant.iter().map(|(k, c)| stress(closings, schedule, &p.tapes, *k, c)).collect();
    let redundant = stresses.len();
    let kept = drop_redundant(closings, stresses);
    let roles = (0..tree.speeds)
        .map(|c| match (fixed[c], p.dependent[c]) {
            (true, _) => Role::Prescribed,
            (_, true) => Role::Dependent,
            _ => Role::Independent,
        })
        .collect();
    Selection { roles, kept, rank: p.count, smallest: p.smallest, redundant }
}

/// Self-stresses at the pose of the tree with known dependents. All rows of `closings` must be active.
pub fn self_stresses(tree: &Tree, closings: &Closings, schedule: &Schedule, roles: &[Role]) -> Vec<Stress> {
    let fixed: Vec<bool> = roles.iter().map(|r| *r == Role::Prescribed).collect();
    let p = pass(tree, closings, schedule, &fixed, &Choice::These(roles));
    p.redundant.iter().map(|(k, c)| stress(closings, schedule, &p.tapes, *k, c)).collect()
}

/// Drops one direction of every self-stress, in the closing with its largest part.
fn drop_redundant(closings: &Closings, mut stresses: Vec<Stress>) -> Kept {
    let mut dropped: Vec<Vec<Vec<f64>>> = vec![Vec::new(); closings.list.len()];
    let mut touching: Vec<Vec<usize>> = vec![Vec::new(); closings.list.len()];
    for (i, s) in stresses.iter().enumerate() {
        for (c, _) in s {
            touching[*c].push(i);
        }
    }
    let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let tops: Vec<f64> = stresses.iter().map(|s| s.iter().map(|(_, x)| size(x)).fold(0.0, f64::max)).collect();
    for i in 0..stresses.len() {
        let own = std::mem::take(&mut stresses[i]);
        let Some((c, part)) = own.iter().max_by(|a, b| size(&a.1).total_cmp(&size(&b.1))) else { continue };
        let norm = size(part);
        if norm == 0.0 {
            continue;
        }
        let direction: Vec<f64> = part.iter().map(|x| x / norm).collect();
        // Removes the dropped direction from the other self-stresses.
        for j in touching[*c].clone() {
            if j <= i {
                continue;
            }
            let Some((_, other)) = stresses[j].iter().find(|(k, _)| k == c) else { continue };
            let factor = other.iter().zip(&direction).map(|(a, b)| a * b).sum::<f64>() / norm;
            // Rounding errors must not spread a self-stress over the whole mechanism.
            if factor.abs() * norm <= NOISE * tops[j] {
                continue;
            }
            for (k, x) in &own {
                match stresses[j].iter_mut().find(|(l, _)| l == k) {
                    Some((_, y)) => y.iter_mut().zip(x).for_each(|(y, x)| *y -= factor * x),
                    None if factor.abs() * size(x) <= NOISE * tops[j] => {}
                    None => {
                        stresses[j].push((*k, x.iter().map(|x| -factor * x).collect()));
                        touching[*k].push(j);
                    }
                }
            }
        }
        dropped[*c].push(direction);
    }
    closings.list.iter().zip(dropped).map(|(c, d)| (!d.is_empty()).then(|| complement(c.rows, &d))).collect()
}

/// Orthonormal columns perpendicular to the given directions, unit vectors where possible.
fn complement(n: usize, directions: &[Vec<f64>]) -> DMatrix<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let clear = |x: &mut Vec<f64>, basis: &[Vec<f64>]| {
        for _ in 0..2 {
            for b in basis {
                let k: f64 = b.iter().zip(x.iter()).map(|(b, x)| b * x).sum();
                x.iter_mut().zip(b).for_each(|(x, b)| *x -= k * b);
            }
        }
        x.iter().map(|x| x * x).sum::<f64>().sqrt()
    };
    for d in directions {
        let mut x = d.clone();
        let left = clear(&mut x, &basis);
        if left > 1e-9 {
            basis.push(x.iter().map(|x| x / left).collect());
        }
    }
    let dropped = basis.len();
    while basis.len() < n {
        let (left, x) = (0..n)
            .map(|i| {
                let mut x = vec![0.0; n];
                x[i] = 1.0;
                (clear(&mut x, &basis), x)
            })
            .max_by(|a, b| (a.0 + 1e-12).total_cmp(&b.0))
            .unwrap_or((1.0, vec![0.0; n]));
        basis.push(x.iter().map(|x| x / left).collect());
    }
    // Entries of rounding size are errors of the projection.
    DMatrix::from_fn(n, n - dropped, |r, c| if basis[dropped + c][r].abs() < 1e-14 { 0.0 } else { basis[dropped + c][r] })
}
