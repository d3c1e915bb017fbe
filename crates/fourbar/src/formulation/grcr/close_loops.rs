//! Closure of positions and velocities from the rows alone: the independent columns are fixed, and the dependent ones follow loop by loop,
//! O(m).
//!
//! Inward the rows are gathered column by column as in [`super::dependents`], with the dependents fixed; outward each dependent column is
//! `(g1 - G1 x) / sigma`. The same factor serves several right-hand sides.

use super::dependents::column_size;
use super::householder::{reflect, reflect_rows, reflection};
use super::loop_rows::Closings;
use super::schedule::{Role, Schedule};
use super::spatial::Six;
use super::tree::Tree;
use fourbar_math::elementary;

/// A dependent column in the recursion.
#[derive(Clone, Copy, Debug)]
struct Pivot {
    column: usize,
    /// Rows before it.
    rows: usize,
    /// Start of its reflection (rows), then its row (width), in the store.
    at: usize,
    sigma: f64,
    beta: f64,
    /// Value of its row for the current right-hand side.
    g1: f64,
    sine: f64,
}

/// Per node: storage of the open rows and values, range of pivots.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    rows: usize,
    values: usize,
    pivots: (usize, usize),
}

/// The factored rows.
#[derive(Clone, Debug)]
pub struct Closure {
    /// Nodes that have rows or dependents, outermost first.
    order: Vec<usize>,
    places: Vec<Place>,
    pivots: Vec<Pivot>,
    /// Open rows by node, rows_in x width. Written by `factor`.
    G: Vec<f64>,
    /// Right-hand sides by node, rows_in. Written by `solve`.
    g: Vec<f64>,
    /// Reflections and rows of the pivots. Written by `factor`.
    store: Vec<f64>,
    /// Motions of nodes in `solve`; zero for nodes that depend on no dependent column.
    x: Vec<Six>,
    /// Nodes that dependent columns move and whose motion is needed by others, innermost first.
    outward: Vec<usize>,
    /// Smallest sine of a dependent at the last factor, and its column.
    pub smallest: (f64, usize),
}

impl Closure {
    /// An empty closure.
    pub fn empty() -> Self {
        Self {
            order: Vec::new(),
            places: Vec::new(),
            pivots: Vec::new(),
            G: Vec::new(),
            g: Vec::new(),
            store: Vec::new(),
            x: Vec::new(),
            outward: Vec::new(),
            smallest: (f64::INFINITY, 0),
        }
    }

    /// Storage for a schedule.
    pub fn new(tree: &Tree, schedule: &Schedule) -> Self {
        let n = tree.nodes.len();
        let mut c = Self { places: vec![Place::default(); n], x: vec![Six::default(); n], ..Self::empty() };
        let (mut rows, mut values, mut store) = (0, 0, 0);
        for (k, f) in schedule.fronts.iter().enumerate().skip(1).rev() {
            let node = &tree.nodes[k];
            let place = Place { rows, values, pivots: (c.pivots.len(), c.pivots.len()) };
            c.places[k] = place;
            if f.rows_in == 0 {
                continue;
            }
            c.order.push(k);
            rows += f.rows_in * f.w();
            values += f.rows_in;
            let mut left = f.rows_in;
            for column in (node.u..node.u + node.kind.speeds()).rev() {
                if schedule.roles[column] == Role::Dependent && left > 0 {
                    c.pivots.push(Pivot { column, rows: left, at: store, sigma: 1.0, beta: 0.0, g1: 0.0, sine: 1.0 });
                    store += left + f.w();
                    left -= 1;
                }
            }
            c.places[k].pivots.1 = c.pivots.len();
        }
        let has_pivots = |k: usize| c.places[k].pivots.0 < c.places[k].pivots.1;
        let mut wanted = vec![false; n];
        for k in (1..n).rev() {
            if has_pivots(k) {
                schedule.fronts[k].variables.iter().for_each(|v| wanted[*v] = true);
            }
            wanted[tree.nodes[k].parent] |= wanted[k];
        }
        let mut moved = vec![false; n];
        for k in 1..n {
            moved[k] = has_pivots(k) || moved[tree.nodes[k].parent];
        }
        c.outward = (1..n).filter(|k| wanted[*k] && moved[*k]).collect();
        c.G.resize(rows, 0.0);
        c.g.resize(values, 0.0);
        c.store.resize(store, 0.0);
        c
    }

    /// Factors the rows in `closings` at the pose of the tree.
    pub fn factor(&mut self, tree: &Tree, closings: &Closings, schedule: &Schedule) {
        self.smallest = (f64::INFINITY, 0);
        for i in 0..self.order.len() {
            let k = self.order[i];
            // Loops of fixed length for the usual widths.
            match schedule.fronts[k].w() {
                6 => self.factor_node(k, tree, closings, schedule, 6),
                12 => self.factor_node(k, tree, closings, schedule, 12),
                w => self.factor_node(k, tree, closings, schedule, w),
            }
        }
    }

    #[inline(always)]
    fn factor_node(&mut self, k: usize, tree: &Tree, closings: &Closings, schedule: &Schedule, w: usize) {
        let front = &schedule.fronts[k];
        let place = self.places[k];
        // Fronts that arrive are stored before this one.
        let (before, here) = self.G.split_at_mut(place.rows);
        let G = &mut here[..front.rows_in * w];
        G.fill(0.0);
        for a in &front.arrivals {
            let from = &schedule.fronts[a.from];
            if from.rows_out == 0 {
                continue;
            }
            let width = from.w();
            let at = self.places[a.from].rows;
            let d = -tree.offset(a.from);
            for r in 0..from.rows_out {
                let row = &before[at + r * width..at + (r + 1) * width];
                let out = &mut G[(a.row + r) * w..(a.row + r + 1) * w];
                for (v, target) in a.map.iter().enumerate() {
                    let Some(target) = target else { continue };
                    let out = &mut out[6 * target..6 * target + 6];
                    if v == 0 && tree.nodes[a.from].shift {
                        (Six::of(out) + Six::of(&row[..6]).wrench_at(&d)).put(out);
                    } else {
                        out.iter_mut().zip(&row[6 * v..]).for_each(|(o, x)| *o += x);
                    }
                }
            }
        }
        for e in &front.entries {
            let c = &closings.list[e.closing];
            for (b, v) in e.variables.iter().enumerate() {
                for r in 0..c.active {
                    G[(e.row + r) * w + 6 * v..][..6].copy_from_slice(&closings.E[c.e_at + 6 * (c.active * b + r)..][..6]);
                }
            }
        }
        for p in &mut self.pivots[place.pivots.0..place.pivots.1] {
            let s = &tree.S[p.column];
            let (v, row) = self.store[p.at..p.at + p.rows + w].split_at_mut(p.rows);
            v.iter_mut().zip(G.chunks_exact(w)).for_each(|(e, g)| *e = s.dot_slice(g));
            let (sigma, beta) = reflection(v);
            reflect_rows(v, beta, G, w, w);
            row.copy_from_slice(&G[(p.rows - 1) * w..p.rows * w]);
            (p.sigma, p.beta) = (sigma, beta);
            let sine = sigma.abs() / column_size(tree, p.column, closings.ell).max(f64::MIN_POSITIVE);
            p.sine = sine;
            if sine < self.smallest.0 {
                self.smallest = (sine, p.column);
            }
        }
    }

    /// Appends the sines of the dependents at the last factor to `out`; returns the logarithm of their product.
    pub fn sines(&self, out: &mut Vec<f64>) -> f64 {
        out.extend(self.pivots.iter().map(|p| p.sine));
        self.pivots.iter().map(|p| elementary::ln(p.sine.max(f64::MIN_POSITIVE))).sum()
    }

    /// Values of the dependent columns for the right-hand side in `closings.g`, passed to `put(column, value)`; others are zero.
    pub fn solve(&mut self, tree: &Tree, closings: &Closings, schedule: &Schedule, mut put: impl FnMut(usize, f64)) {
        for &k in &self.order {
            let front = &schedule.fronts[k];
            let place = self.places[k];
            let (before, here) = self.g.split_at_mut(place.values);
            let g = &mut here[..front.rows_in];
            for a in &front.arrivals {
                let rows = schedule.fronts[a.from].rows_out;
                let at = self.places[a.from].values;
                g[a.row..a.row + rows].copy_from_slice(&before[at..at + rows]);
            }
            for e in &front.entries {
                let c = &closings.list[e.closing];
                g[e.row..e.row + c.active].copy_from_slice(&closings.g[c.at..c.at + c.active]);
            }
            for p in &mut self.pivots[place.pivots.0..place.pivots.1] {
                reflect(&self.store[p.at..p.at + p.rows], p.beta, &mut g[..p.rows]);
                p.g1 = g[p.rows - 1];
            }
        }
        for &k in &self.outward {
            let mut x = tree.from_parent(k, &self.x[tree.links[k].parent as usize]);
            let place = self.places[k];
            // The inward pass treated the last column first.
            for p in self.pivots[place.pivots.0..place.pivots.1].iter().rev() {
                let front = &schedule.fronts[k];
                let row = &self.store[p.at + p.rows..];
                let mut rest = p.g1 - x.dot_slice(row);
                for (v, &node) in front.variables.iter().enumerate().skip(1) {
                    rest -= self.x[node].dot_slice(&row[6 * v..]);
                }
                let value = rest / p.sigma;
                x += tree.S[p.column] * value;
                put(p.column, value);
            }
            self.x[k] = x;
        }
    }
}
