//! The front recursion for accelerations, one inward and one outward pass with two kinds of pivot.
//!
//! The front of a node is the stationary value of everything outboard of it, `1/2 x'Hx - f'x + lambda'(G x - g) - 1/2 lambda' C lambda`, as
//! a function of the accelerations `x` of the node and its carriers and of the multipliers of the open rows. An independent column is
//! eliminated by its inertia, a dependent one together with one row. Without rows this is the articulated-body recursion of [Critchley03,
//! Eqs. (7)-(22)]; the dependent pivot gives the reduced inertias of Eqs. (53)-(64), the blocks of carriers are the lists of Eqs.
//! (103)-(111), and rows that contain independent columns have the matrix `C` in place of the scalars of Eqs. (65)-(102).

mod wide;

use super::articulated::{self, Articulated, Column, NO_INERTIA};
use super::block::{put_inertia, shift, subtract_pair, subtract_square, trace_angular};
use super::hinge::Body;
use super::householder::{reflect, reflect_rows, reflection};
use super::loop_rows::Closings;
use super::schedule::{Front, Role, Schedule};
use super::spatial::Six;
use super::tree::Tree;
use std::ops::Range;

/// A row contains a column if its coefficient is above this fraction of the column.
const FEELS: f64 = 1e-9;

/// A column in the recursion.
#[derive(Clone, Copy, Debug, Default)]
struct Pivot {
    /// Start in the store: `U` (w), `e` or reflection (rows), and for dependents `G1` (w), `c1` (rows - 1).
    at: usize,
    /// Rows before it.
    rows: usize,
    dependent: bool,
    /// Whether open rows contain the column.
    felt: bool,
    D: f64,
    /// Inverse of `D`, or of `D c11 + sigma^2` for dependents.
    inverse: f64,
    phi: f64,
    sigma: f64,
    beta: f64,
    g1: f64,
    c11: f64,
}

/// Storage of a node's front.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    H: usize,
    f: usize,
    G: usize,
    g: usize,
    C: usize,
}

/// Consecutive nodes for one kernel.
#[derive(Clone, Debug)]
struct Run {
    nodes: Range<usize>,
    /// Plain fronts of free hinges, each attached to the preceding one, with arrivals only at the last one; else a single node.
    hinges: bool,
}

/// The fronts of all nodes with their workspace; sizes are fixed by the schedule.
#[derive(Clone, Debug)]
pub struct Fronts {
    places: Vec<Place>,
    pivots: Vec<Pivot>,
    /// Fronts, one after the other. Written inward.
    data: Vec<f64>,
    /// Results of the pivots for the outward pass. Written inward.
    store: Vec<f64>,
    /// Multipliers by node, in the places of `g`. Written outward.
    lambda: Vec<f64>,
    /// Whether a front has a nonzero `C`.
    curved: Vec<bool>,
    /// Whether a front is plain: its own acceleration, no rows.
    plain: Vec<bool>,
    /// Sums over the children of plain fronts, passed on inward. Written inward.
    collected: Vec<(Articulated, Six)>,
    /// Plain nodes with children other than the next node.
    collects: Vec<bool>,
    /// Ranges of nodes for one kernel.
    runs: Vec<Run>,
    /// Subtrees of a wide tree without loops, and the nodes between them.
    limbs: Vec<wide::Limb>,
    steps: Vec<wide::Step>,
    /// Columns of plain fronts. Written inward.
    columns: Vec<Column>,
    /// The bodies; filled by the caller.
    pub bodies: Vec<Body>,
    /// Accelerations beyond `a_t`, by node. Written outward.
    pub a_hat: Vec<Six>,
    /// Efforts of prescribed columns, by column. Written outward.
    pub effort: Vec<f64>,
    /// A column without inertia or constraint row, at the last inward pass.
    pub weightless: Option<usize>,
    x: Vec<f64>,
    row: Vec<f64>,
}

impl Fronts {
    /// Empty fronts.
    pub fn empty() -> Self {
        Self {
            places: Vec::new(),
            pivots: Vec::new(),
            data: Vec::new(),
            store: Vec::new(),
            lambda: Vec::new(),
            curved: Vec::new(),
            plain: Vec::new(),
            collected: Vec::new(),
            collects: Vec::new(),
            runs: Vec::new(),
            limbs: Vec::new(),
            steps: Vec::new(),
            columns: Vec::new(),
            bodies: Vec::new(),
            a_hat: Vec::new(),
            effort: Vec::new(),
            weightless: None,
            x: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Storage for a schedule.
    pub fn new(tree: &Tree, schedule: &Schedule) -> Self {
        let n = tree.nodes.len();
        let mut places = vec![Place::default(); n];
        let mut pivots = vec![Pivot::default(); tree.speeds];
        let (mut data, mut store, mut values, mut widest, mut longest) = (0, 0, 0, 6, 1);
        for (k, f) in schedule.fronts.iter().enumerate().rev() {
            if k > 0 && f.is_plain() {
                continue;
            }
            let (w, r) = (f.w(), f.rows_in);
            places[k] = Place { H: data, f: data + w * w, G: data + w * w + w, g: values, C: data + w * w + w + r * w + r };
            data += w * w + w + r * w + r + r * r;
            values += r;
            widest = widest.max(w);
            longest = longest.max(r);
            let node = &tree.nodes[k];
            let mut left = r;
            for c in (node.u..node.u + node.kind.speeds()).rev() {
                let dependent = schedule.roles[c] == Role::Dependent && left > 0;
                pivots[c] = Pivot { at: store, rows: left, dependent, ..Pivot::default() };
                store += w + left;
                if dependent {
                    store += w + left - 1;
                    left -= 1;
                }
            }
        }
        let plain: Vec<bool> = schedule.fronts.iter().enumerate().map(|(k, f)| k > 0 && f.is_plain()).collect();
        let mut collects = vec![false; n];
        for (k, node) in tree.nodes.iter().enumerate().skip(1) {
            collects[node.parent] |= plain[k] && node.parent + 1 != k;
        }
        let ranges = if schedule.loops { Vec::new() } else { wide::ranges(tree) };
        let mut begins = vec![false; n];
        ranges.iter().for_each(|r| begins[r.start] = true);
        let mut runs: Vec<Run> = Vec::new();
        for (k, node) in tree.nodes.iter().enumerate().skip(1) {
            let hinges = plain[k] && node.kind.is_hinge() && schedule.roles[node.u] == Role::Independent;
            let alone = |k: usize| !collects[k] && schedule.fronts[k].arrivals.iter().all(|a| plain[a.from]);
            match runs.last_mut() {
                Some(run) if run.hinges && hinges && node.parent + 1 == k && !node.shift && !begins[k] && alone(k - 1) => {
                    run.nodes.end += 1
                }
                _ => runs.push(Run { nodes: k..k + 1, hinges }),
            }
        }
        let (limbs, steps) = wide::lay_out(tree, &runs, ranges);
        Self {
            runs,
            limbs,
            steps,
            places,
            pivots,
            data: vec![0.0; data],
            store: vec![0.0; store],
            lambda: vec![0.0; values],
            curved: vec![false; n],
            collects,
            plain,
            collected: vec![Default::default(); n],
            columns: vec![Column::default(); tree.speeds],
            bodies: vec![Body::default(); n],
            a_hat: vec![Six::default(); n],
            effort: vec![0.0; tree.speeds],
            weightless: None,
            x: vec![0.0; widest],
            row: vec![0.0; widest + longest],
        }
    }

    /// Inward: eliminates all columns, outermost first. Right-hand sides are in `closings.g`.
    pub fn inward(&mut self, tree: &Tree, closings: &Closings, schedule: &Schedule) {
        self.weightless = None;
        if !self.limbs.is_empty() {
            return self.inward_wide(tree, schedule);
        }
        // The contribution of a node to the preceding one is kept in local variables; those of other children are summed in memory.
        let mut carried = (Articulated::default(), Six::default());
        let mut carried_to = usize::MAX;
        for i in (0..self.runs.len()).rev() {
            let Run { nodes, hinges } = self.runs[i].clone();
            let (k, last) = (nodes.start, nodes.end - 1);
            if !self.plain[k] {
                self.assemble(k, closings, schedule);
                self.eliminate(k, tree, schedule);
                continue;
            }
            let (mut I, mut f) = if carried_to == last { carried } else { Default::default() };
            if self.collects[last] {
                let (I_c, f_c) = std::mem::take(&mut self.collected[last]);
                I.add(&I_c);
                f += f_c;
            }
            if schedule.loops {
                self.gather(last, schedule, &mut I, &mut f);
            }
            let link = &tree.links[k];
            if hinges {
                let columns = link.u as usize..link.u as usize + nodes.len();
                let found =
                    articulated::inward(&mut I, &mut f, &self.bodies[nodes], &tree.S[columns.clone()], &mut self.columns[columns.clone()]);
                self.weightless = found.map(|c| columns.start + c).or(self.weightless);
            } else {
                let columns = link.u as usize..(link.u + link.speeds) as usize;
                let found = eliminate_plain(k, tree, &schedule.roles, &self.bodies[k], &mut I, &mut f, &mut self.columns[columns]);
                self.weightless = found.or(self.weightless);
            }
            if link.shift {
                let d = tree.offset(k);
                I = I.shifted(&d);
                f = f.wrench_at(&-d);
            }
            let parent = link.parent as usize;
            if parent + 1 == k && parent != 0 && self.plain[parent] {
                carried = (I, f);
                carried_to = parent;
            } else if parent != 0 {
                let target = if self.plain[parent] { parent } else { k };
                let (I_p, f_p) = &mut self.collected[target];
                if target == k {
                    (*I_p, *f_p) = (I, f);
                } else {
                    I_p.add(&I);
                    *f_p += f;
                }
            }
        }
    }

    /// Adds the fronts with rows or carriers that end at a plain node.
    fn gather(&self, k: usize, schedule: &Schedule, I: &mut Articulated, f: &mut Six) {
        for a in &schedule.fronts[k].arrivals {
            if !self.plain[a.from] {
                // All variables of that front have become this node's acceleration or the ground's.
                let (p, w) = (self.places[a.from], schedule.fronts[a.from].w());
                self.fold(I, f, p, w, &a.map);
            }
        }
    }

    /// Adds a front whose variables have all become one.
    fn fold(&self, I: &mut Articulated, f: &mut Six, p: Place, w: usize, map: &[Option<usize>]) {
        let kept = || map.iter().enumerate().filter(|(_, m)| m.is_some()).map(|(i, _)| i);
        for i in kept() {
            *f += Six::of(&self.data[p.f + 6 * i..]);
        }
        let mut sum = [0.0; 36];
        for i in kept() {
            for j in kept() {
                for y in 0..6 {
                    let row = &self.data[p.H + (6 * i + y) * w + 6 * j..][..6];
                    sum[6 * y..6 * y + 6].iter_mut().zip(row).for_each(|(s, x)| *s += x);
                }
            }
        }
        I.add_from(&sum, 6);
    }

    fn assemble(&mut self, k: usize, closings: &Closings, schedule: &Schedule) {
        match schedule.fronts[k].w() {
            6 => self.assemble_in(k, closings, schedule, 6),
            12 => self.assemble_in(k, closings, schedule, 12),
            w => self.assemble_in(k, closings, schedule, w),
        }
    }

    #[inline(always)]
    fn assemble_in(&mut self, k: usize, closings: &Closings, schedule: &Schedule, w: usize) {
        let front = &schedule.fronts[k];
        let r = front.rows_in;
        let place = self.places[k];
        let (before, here) = self.data.split_at_mut(place.H);
        let (H, rest) = here.split_at_mut(w * w);
        let (f, rest) = rest.split_at_mut(w);
        let (G, rest) = rest.split_at_mut(r * w);
        let (g, rest) = rest.split_at_mut(r);
        let C = &mut rest[..r * r];
        H.fill(0.0);
        f.fill(0.0);
        put_inertia(&self.bodies[k].I, H, w);
        self.bodies[k].f.put(f);
        G.fill(0.0);
        C.fill(0.0);
        self.curved[k] = false;
        for a in &front.arrivals {
            let from = &schedule.fronts[a.from];
            if self.plain[a.from] {
                let (I, x) = std::mem::take(&mut self.collected[a.from]);
                if let Some(Some(t)) = a.map.first() {
                    I.add_to(H, w, 6 * t);
                    (Six::of(&f[6 * t..]) + x).put(&mut f[6 * t..]);
                }
                continue;
            }
            let p = self.places[a.from];
            let (wc, rc) = (from.w(), from.rows_in);
            for (i, ti) in a.map.iter().enumerate() {
                let Some(ti) = ti else { continue };
                for (j, tj) in a.map.iter().enumerate() {
                    let Some(tj) = tj else { continue };
                    for y in 0..6 {
                        let source = &before[p.H + (6 * i + y) * wc + 6 * j..][..6];
                        let target = &mut H[(6 * ti + y) * w + 6 * tj..][..6];
                        target.iter_mut().zip(source).for_each(|(t, s)| *t += s);
                    }
                }
                let source = &before[p.f + 6 * i..][..6];
                f[6 * ti..6 * ti + 6].iter_mut().zip(source).for_each(|(t, s)| *t += s);
                for y in 0..from.rows_out {
                    let source = &before[p.G + y * wc + 6 * i..][..6];
                    let target = &mut G[(a.row + y) * w + 6 * ti..][..6];
                    target.iter_mut().zip(source).for_each(|(t, s)| *t += s);
                }
            }
            let values = p.G + rc * wc;
            g[a.row..a.row + from.rows_out].copy_from_slice(&before[values..values + from.rows_out]);
            if self.curved[a.from] {
                self.curved[k] = true;
                for y in 0..from.rows_out {
                    let source = &before[p.C + y * rc..][..from.rows_out];
                    C[(a.row + y) * r + a.row..][..from.rows_out].copy_from_slice(source);
                }
            }
        }
        for e in &front.entries {
            let c = &closings.list[e.closing];
            for (b, v) in e.variables.iter().enumerate() {
                for y in 0..c.active {
                    G[(e.row + y) * w + 6 * v..][..6].copy_from_slice(&closings.E[c.e_at + 6 * (c.active * b + y)..][..6]);
                }
            }
            g[e.row..e.row + c.active].copy_from_slice(&closings.g[c.at..c.at + c.active]);
        }
    }

    fn eliminate(&mut self, k: usize, tree: &Tree, schedule: &Schedule) {
        // Loops of fixed length for the usual widths.
        match schedule.fronts[k].w() {
            6 => self.eliminate_in(k, tree, schedule, 6),
            12 => self.eliminate_in(k, tree, schedule, 12),
            w => self.eliminate_in(k, tree, schedule, w),
        }
    }

    #[inline(always)]
    fn eliminate_in(&mut self, k: usize, tree: &Tree, schedule: &Schedule, w: usize) {
        let stride = schedule.fronts[k].rows_in;
        let place = self.places[k];
        let here = &mut self.data[place.H..];
        let (H, rest) = here.split_at_mut(w * w);
        let (f, rest) = rest.split_at_mut(w);
        let (G, rest) = rest.split_at_mut(stride * w);
        let (g, rest) = rest.split_at_mut(stride);
        let C = &mut rest[..stride * stride];
        let node = &tree.nodes[k];
        let mut r = stride;
        for c in (node.u..node.u + node.kind.speeds()).rev() {
            let s = &tree.S[c];
            let p = &mut self.pivots[c];
            let (U, rest) = self.store[p.at..].split_at_mut(w);
            for (U, row) in U.iter_mut().zip(H.chunks_exact(w)) {
                *U = s.dot_slice(row);
            }
            let e = &mut rest[..r];
            let mut largest = 0.0_f64;
            for (e, g) in e.iter_mut().zip(G.chunks_exact(w)) {
                *e = s.dot_slice(g);
                largest = largest.max(e.abs());
            }
            p.D = s.dot_slice(U);
            p.phi = s.dot_slice(f);
            if schedule.roles[c] == Role::Prescribed {
                p.felt = largest > 0.0;
                continue;
            }
            if !p.dependent {
                let size = s.l.norm_squared() * (H[0] + H[w + 1] + H[2 * w + 2]).abs() + s.a.norm_squared() * trace_angular(H, w);
                if p.D <= NO_INERTIA * size {
                    self.weightless = Some(c);
                    p.inverse = 0.0;
                    p.felt = false;
                    continue;
                }
                p.inverse = 1.0 / p.D;
                p.felt = largest > FEELS * (s.l.norm_squared() + s.a.norm_squared()).sqrt();
                subtract_square(H, U, p.inverse, w);
                let share = p.phi * p.inverse;
                f.iter_mut().zip(U.iter()).for_each(|(f, u)| *f -= share * u);
                if p.felt {
                    self.curved[k] = true;
                    for y in 0..r {
                        let share = e[y] * p.inverse;
                        G[y * w..(y + 1) * w].iter_mut().zip(U.iter()).for_each(|(g, u)| *g -= share * u);
                        g[y] -= share * p.phi;
                        for x in 0..r {
                            C[y * stride + x] += share * e[x];
                        }
                    }
                }
                continue;
            }
            // Dependent: combine the rows, then eliminate the column and the last row together.
            let (e, rest) = rest.split_at_mut(r);
            let (G1, rest) = rest.split_at_mut(w);
            let c1 = &mut rest[..r - 1];
            let (sigma, beta) = reflection(e);
            reflect_rows(e, beta, G, w, w);
            reflect(e, beta, &mut g[..r]);
            let curved = self.curved[k];
            if curved {
                reflect_rows(e, beta, C, stride, r);
                for y in 0..r {
                    reflect(e, beta, &mut C[y * stride..y * stride + r]);
                }
            }
            let last = r - 1;
            G1.copy_from_slice(&G[last * w..r * w]);
            (p.sigma, p.beta, p.g1) = (sigma, beta, g[last]);
            p.c11 = if curved { C[last * stride + last] } else { 0.0 };
            p.inverse = 1.0 / (p.D * p.c11 + sigma * sigma);
            let (D, i, c11, phi, g1) = (p.D, p.inverse, p.c11, p.phi, p.g1);
            subtract_pair(H, U, G1, c11 * i, sigma * i, D * i, w);
            let (ku, kg) = ((c11 * phi + sigma * g1) * i, (sigma * phi - D * g1) * i);
            for y in 0..w {
                f[y] -= ku * U[y] + kg * G1[y];
            }
            if curved {
                for y in 0..last {
                    c1[y] = C[y * stride + last];
                }
                for y in 0..last {
                    let k = c1[y] * i;
                    for x in 0..w {
                        G[y * w + x] += k * (sigma * U[x] - D * G1[x]);
                    }
                    g[y] += k * (sigma * phi - D * g1);
                    for x in 0..last {
                        C[y * stride + x] -= k * D * c1[x];
                    }
                }
            } else {
                c1.fill(0.0);
            }
            r = last;
        }
        if node.shift {
            shift(&tree.offset(k), H, f, G, w, r, &mut self.row);
        }
    }

    /// Outward: rates of the columns to `udot`, accelerations to `a_hat`, multipliers.
    pub fn outward(&mut self, tree: &Tree, schedule: &Schedule, udot: &mut [f64]) {
        if !self.limbs.is_empty() {
            return self.outward_wide(tree, schedule, udot);
        }
        for i in 0..self.runs.len() {
            let Run { nodes, hinges } = self.runs[i].clone();
            let k = nodes.start;
            let link = &tree.links[k];
            let mut x = tree.from_parent(k, &self.a_hat[link.parent as usize]);
            if hinges {
                let columns = link.u as usize..link.u as usize + nodes.len();
                let (done, S) = (&self.columns[columns.clone()], &tree.S[columns.clone()]);
                articulated::outward(x, done, S, &mut udot[columns], &mut self.a_hat[nodes]);
                continue;
            }
            if self.plain[k] {
                for c in link.u as usize..(link.u + link.speeds) as usize {
                    let column = &self.columns[c];
                    let rest = column.phi - column.U.dot(&x);
                    if schedule.roles[c] == Role::Prescribed {
                        self.effort[c] = -rest;
                    } else {
                        udot[c] = rest * column.inverse;
                        x += tree.S[c] * udot[c];
                    }
                }
                self.a_hat[k] = x;
                continue;
            }
            let node = &tree.nodes[k];
            let front = &schedule.fronts[k];
            let place = self.places[k];
            for (v, &n) in front.variables.iter().enumerate().skip(1) {
                self.a_hat[n].put(&mut self.x[6 * v..]);
            }
            let w = front.w();
            let mut r = front.rows_out;
            if let Some(h) = front.holder
                && r > 0
            {
                let at = self.places[h].g + arrival_row(&schedule.fronts[h], k);
                self.lambda.copy_within(at..at + r, place.g);
            }
            for c in node.u..node.u + node.kind.speeds() {
                x.put(&mut self.x);
                let p = &self.pivots[c];
                let U = &self.store[p.at..p.at + w];
                let ux: f64 = U.iter().zip(&self.x).map(|(u, x)| u * x).sum();
                let lambda = &mut self.lambda[place.g..place.g + front.rows_in];
                if p.dependent {
                    let v = &self.store[p.at + w..p.at + w + p.rows];
                    let G1 = &self.store[p.at + w + p.rows..p.at + 2 * w + p.rows];
                    let c1 = &self.store[p.at + 2 * w + p.rows..p.at + 2 * w + 2 * p.rows - 1];
                    let gx: f64 = G1.iter().zip(&self.x).map(|(g, x)| g * x).sum();
                    let cl: f64 = c1.iter().zip(lambda.iter()).map(|(c, l)| c * l).sum();
                    let (ra, rl) = (p.phi - ux, p.g1 - gx + cl);
                    udot[c] = (p.c11 * ra + p.sigma * rl) * p.inverse;
                    lambda[r] = (p.sigma * ra - p.D * rl) * p.inverse;
                    r += 1;
                    reflect(v, p.beta, &mut lambda[..r]);
                    x += tree.S[c] * udot[c];
                } else {
                    let mut rest = p.phi - ux;
                    if p.felt {
                        let e = &self.store[p.at + w..p.at + w + p.rows];
                        rest -= e.iter().zip(lambda.iter()).map(|(e, l)| e * l).sum::<f64>();
                    }
                    if schedule.roles[c] == Role::Prescribed {
                        self.effort[c] = -rest;
                    } else {
                        udot[c] = rest * p.inverse;
                        x += tree.S[c] * udot[c];
                    }
                }
            }
            self.a_hat[k] = x;
        }
    }

    /// `U` and the inverse of `D` of a column of a plain front.
    pub fn column(&self, column: usize) -> (&Six, f64) {
        (&self.columns[column].U, self.columns[column].inverse)
    }

    /// Multipliers of the active rows.
    pub fn multipliers(&self, closings: &Closings, schedule: &Schedule, out: &mut [f64]) {
        for (k, f) in schedule.fronts.iter().enumerate() {
            for e in &f.entries {
                let c = &closings.list[e.closing];
                let at = self.places[k].g + e.row;
                out[c.at..c.at + c.active].copy_from_slice(&self.lambda[at..at + c.active]);
            }
        }
    }
}

/// Eliminates the columns of a plain node of any kind into `out`; returns one without inertia.
fn eliminate_plain(
    k: usize,
    tree: &Tree,
    roles: &[Role],
    body: &Body,
    I: &mut Articulated,
    f: &mut Six,
    out: &mut [Column],
) -> Option<usize> {
    I.add_rigid(&body.I);
    *f += body.f;
    let first = tree.links[k].u as usize;
    let mut weightless = None;
    for (c, out) in out.iter_mut().enumerate().rev() {
        let c = first + c;
        let s = &tree.S[c];
        let U = I.apply(s);
        let (D, phi) = (s.dot(&U), s.dot(f));
        *out = Column { U, inverse: 0.0, phi };
        if roles[c] == Role::Prescribed {
            continue;
        }
        let (linear, angular) = I.traces();
        if D <= NO_INERTIA * (s.l.norm_squared() * linear + s.a.norm_squared() * angular) {
            weightless = Some(c);
            continue;
        }
        out.inverse = 1.0 / D;
        I.subtract_square(&U, out.inverse);
        *f -= U * (phi * out.inverse);
    }
    weightless
}

fn arrival_row(front: &Front, from: usize) -> usize {
    front.arrivals.iter().find(|a| a.from == from).map_or(0, |a| a.row)
}
