//! Passes over the tree: up with assembly and factorisation (the assembly of [Malczyk12, section 2]), up with a new right-hand side, down
//! to the solution (the disassembly). Large subtrees run as tasks; the order of additions does not depend on the number of threads, so that
//! results agree to the last bit.
//!
//! Per front: its matrix is the sum of the remaining blocks of its children, the masses of its own bodies and `alpha J^T J` of its rows,
//!
//! ```text
//! K_ee = L L^T    W = L^-1 K_eb    K_C = K_bb - W^T W          up, once per position
//! y = L^-1 f_e    f_C = f_b - W^T y                            up, per right-hand side
//! x_e = L^-T (y - W x_b)                                       down
//! ```
//!
//! which equals [Malczyk12, Eqs. (20)-(32)] by Woodbury's identity, but inverts no block that becomes singular without inertia.

use super::kernel::{FrontMut, backward, eliminate, forward};
use super::layout::Layout;
use super::leaf;
use super::tree::NONE;
use crate::constraint::ConstraintSet;
use crate::state::{Pose, Twist, Wrench};
use nalgebra::Vector3;

/// Subtrees of up to this many bodies are passed down and up at once: their numbers fit into the nearer caches.
const TILE: usize = 128;

/// Right-hand side of rows and bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Unchanged: residuals of the last pass down.
    Keep,
    /// Accelerations: `r2 = gamma`, forces on the bodies.
    Acceleration,
    /// Velocities: `r2 = nu - Phi_q v`.
    Velocity,
    /// Positions: `r2 = -Phi`.
    Position,
}

/// One pass up.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Evaluate the Jacobian again.
    pub jacobian: bool,
    /// Assemble and factor.
    pub factor: bool,
    /// Residuals.
    pub load: Load,
    /// Start from `x = 0`, `lambda = 0`.
    pub reset: bool,
    /// Omit masses and multipliers from the right-hand side: only `Phi_q^T D r2`.
    pub rows_only: bool,
}

/// Data that all fronts read and none writes during a pass.
pub struct Shared<'a> {
    /// Characteristic length, to scale rotations.
    pub length: f64,
    /// Acceleration of gravity.
    pub gravity: Vector3<f64>,
    /// Masses in the order of the tree.
    pub inertia: &'a [leaf::Inertia],
    /// Constraints in the order of the tree.
    pub set: &'a ConstraintSet,
    /// Places.
    pub layout: &'a Layout,
    /// Bodies in the order of the tree.
    pub order: &'a [usize],
    /// Penalty per row.
    pub alpha: &'a [f64],
    /// Penalty of the normalisation of Euler parameters, per body in the order of the tree; for seven coordinates.
    pub alpha_norm: &'a [f64],
    /// Poses.
    pub q: &'a [Pose],
    /// Velocities.
    pub v: &'a [Twist],
    /// Forces of elements, by body; empty if there are only weights.
    pub forces: &'a [Wrench],
    /// Counted angles.
    pub turns: &'a [f64],
    /// Time.
    pub t: f64,
    /// Baumgarte terms of the rows, `[2 Omega mu, Omega^2]`; zero if positions are projected.
    pub stabilise: [f64; 2],
    /// Whether tasks may run at the same time.
    pub parallel: bool,
}

/// The numbers of a contiguous range of fronts.
pub struct Work<'a> {
    /// First front.
    pub lo: usize,
    /// One past the last front.
    pub end: usize,
    /// Panels of the fronts.
    pub panel: &'a mut [f64],
    /// Right-hand sides of the fronts.
    pub f: &'a mut [f64],
    /// Accumulated diagonals of the fronts' bodies.
    pub scale: &'a mut [[f64; 2]],
    /// Jacobian.
    pub G: &'a mut [f64],
    /// Residuals of the rows.
    pub r2: &'a mut [f64],
    /// Multipliers.
    pub lambda: &'a mut [f64],
    /// Right-hand sides of the bodies.
    pub Q: &'a mut [f64],
    /// Solution.
    pub x: &'a mut [f64],
    /// Residual and multiplier of each body's normalisation; for seven coordinates.
    pub norm: &'a mut [[f64; 2]],
    /// First place of the stack in use.
    pub stack_at: usize,
    /// Remaining blocks of fronts, for their parents.
    pub stack: &'a mut [f64],
}

/// Largest increment and solution, rotations times the characteristic length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Of the increment.
    pub change: f64,
    /// Of the solution.
    pub size: f64,
    /// NaN if any number is NaN; maxima would hide it.
    pub check: f64,
}

impl Size {
    fn max(self, o: Self) -> Self {
        Self { change: self.change.max(o.change), size: self.size.max(o.size), check: self.check + o.check }
    }

    /// The same, with the change set to NaN if any number is NaN.
    pub fn checked(self) -> Self {
        if self.check.is_nan() { Self { change: f64::NAN, ..self } } else { self }
    }
}

impl<'a> Work<'a> {
    /// The part of the fronts before `m`, and the rest; the stack stays with the first.
    fn split<'b, const B: usize>(&'b mut self, layout: &Layout, m: usize) -> (Work<'b>, Work<'b>) {
        let (a, z, o) = (&layout.at[self.lo], &layout.at[m], &layout.at[self.end]);
        // Panels and Jacobian are stored in the opposite order.
        let (panel2, panel) = self.panel.split_at_mut(z.panel - o.panel);
        let (G2, G) = self.G.split_at_mut(z.value - o.value);
        let (f, f2) = self.f.split_at_mut(z.f - a.f);
        let (scale, scale2) = self.scale.split_at_mut(z.scale - a.scale);
        let (r2, r22) = self.r2.split_at_mut(z.row - a.row);
        let (lambda, lambda2) = self.lambda.split_at_mut(z.row - a.row);
        let (Q, Q2) = self.Q.split_at_mut(B * (z.body - a.body));
        let (x, x2) = self.x.split_at_mut(B * (z.body - a.body));
        let (norm, norm2) = self.norm.split_at_mut((z.body - a.body).min(self.norm.len()));
        let stack_at = self.stack_at;
        (
            Work { lo: self.lo, end: m, panel, f, scale, G, r2, lambda, Q, x, norm, stack_at, stack: &mut *self.stack },
            Work {
                lo: m,
                end: self.end,
                panel: panel2,
                f: f2,
                scale: scale2,
                G: G2,
                r2: r22,
                lambda: lambda2,
                Q: Q2,
                x: x2,
                norm: norm2,
                stack_at: 0,
                stack: &mut [],
            },
        )
    }
}

/// Two tasks, at the same time if that is allowed.
pub(super) fn both<A: Send, C: Send>(parallel: bool, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> C + Send) -> (A, C) {
    #[cfg(feature = "parallel")]
    if parallel {
        return rayon::join(a, b);
    }
    let _ = parallel;
    (a(), b())
}

impl Shared<'_> {
    /// A pass up over the subtree of front `k`, whose numbers are in `w`.
    pub fn up<const B: usize>(&self, k: usize, w: &mut Work<'_>, job: &Job) {
        let front = &self.layout.fronts[k];
        if !(front.divided && self.parallel) {
            for i in front.first..=k {
                self.rise::<B>(i, w, job);
            }
            return;
        }
        let [l, r] = front.children;
        if front.divides {
            let (mut below, _) = w.split::<B>(self.layout, k);
            let (mut left, mut right) = below.split::<B>(self.layout, l + 1);
            let at = self.layout.fronts[r].stack;
            if job.factor {
                let (a, b) = std::mem::take(&mut left.stack).split_at_mut(at - left.stack_at);
                (left.stack, right.stack, right.stack_at) = (a, b, at);
            }
            both(true, || self.up::<B>(l, &mut left, job), || self.up::<B>(r, &mut right, job));
        } else {
            for c in [l, r].into_iter().filter(|&c| c != NONE) {
                let lo = self.layout.fronts[c].first;
                self.up::<B>(c, &mut w.part::<B>(self.layout, lo, c), job);
            }
        }
        self.rise::<B>(k, w, job);
    }

    /// A pass down; `above` is the solved right-hand side of the parent.
    pub fn down<const B: usize>(&self, k: usize, w: &mut Work<'_>, above: &[f64], rows_only: bool) -> Size {
        let front = &self.layout.fronts[k];
        let mut size = Size::default();
        if !(front.divided && self.parallel) {
            for i in (front.first..=k).rev() {
                size = size.max(self.sink::<B>(i, w, if i == k { Some(above) } else { None }, rows_only));
            }
            return size;
        }
        size = size.max(self.sink::<B>(k, w, Some(above), rows_only));
        let [l, r] = front.children;
        let (mut below, own) = w.split::<B>(self.layout, k);
        let mine: &[f64] = own.f;
        if front.divides {
            let (mut left, mut right) = below.split::<B>(self.layout, l + 1);
            let (a, b) = both(true, || self.down::<B>(l, &mut left, mine, rows_only), || self.down::<B>(r, &mut right, mine, rows_only));
            return size.max(a).max(b);
        }
        for c in [l, r].into_iter().filter(|&c| c != NONE) {
            let mut part = below.part::<B>(self.layout, self.layout.fronts[c].first, c);
            size = size.max(self.down::<B>(c, &mut part, mine, rows_only));
        }
        size
    }

    /// A pass down and the next pass up in one, subtree by subtree, while their numbers are in the cache.
    pub fn down_and_up<const B: usize>(&self, k: usize, w: &mut Work<'_>, above: &[f64], job: &Job) -> Size {
        let front = &self.layout.fronts[k];
        if front.bodies <= TILE {
            let mut size = Size::default();
            for i in (front.first..=k).rev() {
                size = size.max(self.sink::<B>(i, w, if i == k { Some(above) } else { None }, false));
            }
            for i in front.first..=k {
                self.rise::<B>(i, w, job);
            }
            return size;
        }
        let mut size = self.sink::<B>(k, w, Some(above), false);
        let [l, r] = front.children;
        let (mut below, own) = w.split::<B>(self.layout, k);
        let mine: &[f64] = own.f;
        if r != NONE {
            let (mut left, mut right) = below.split::<B>(self.layout, l + 1);
            // The right one first: so the whole pass runs through memory in one direction, as the pass down does within a tile.
            let parallel = self.parallel && front.divides;
            let (b, a) =
                both(parallel, || self.down_and_up::<B>(r, &mut right, mine, job), || self.down_and_up::<B>(l, &mut left, mine, job));
            size = size.max(a).max(b);
        } else if l != NONE {
            size = size.max(self.down_and_up::<B>(l, &mut below, mine, job));
        }
        self.rise::<B>(k, w, job);
        size
    }

    /// One front of a pass up.
    #[inline]
    pub(super) fn rise<const B: usize>(&self, k: usize, w: &mut Work<'_>, job: &Job) {
        let (layout, base, at, end) = (self.layout, self.layout.at[w.lo], self.layout.at[k], self.layout.at[k + 1]);
        let front = &layout.fronts[k];
        let rows = at.row - base.row..end.row - base.row;
        let far = &layout.at[w.end];
        let values = end.value - far.value..at.value - far.value;
        let bodies = at.body - base.body..end.body - base.body;
        if job.jacobian {
            leaf::jacobian::<B>(self.set, front.constraints, self.q, &mut w.G[values.clone()]);
        }
        let G = &w.G[values];
        let (r2, lambda) = (&mut w.r2[rows.clone()], &mut w.lambda[rows]);
        if job.reset {
            lambda.fill(0.0);
            w.x[B * bodies.start..B * bodies.end].fill(0.0);
        }
        self.load::<B>(k, G, r2, job.load);
        let norm = if B == 7 { &mut w.norm[bodies.clone()] } else { &mut [] };
        leaf::load::<B>(self, at.body, &mut w.Q[B * bodies.start..B * bodies.end], norm, job);
        let panel = end.panel - far.panel..at.panel - far.panel;
        if job.factor {
            let scales = at.scale - base.scale;
            self.assemble::<B>(k, &mut w.panel[panel.clone()], G, w.scale, scales, base.scale, w.stack, w.stack_at);
        }
        // Right-hand side: contributions of the children, the own bodies and the rows.
        let (below, rest) = w.f.split_at_mut(at.f - base.f);
        let f = &mut rest[..end.f - at.f];
        f.fill(0.0);
        for c in front.children.into_iter().filter(|&c| c != NONE) {
            let child = &layout.fronts[c];
            let (source, _) = below[layout.at[c].f + B * child.e - base.f..layout.at[c + 1].f - base.f].as_chunks::<B>();
            let (bodies, _) = f.as_chunks_mut::<B>();
            for (&s, x) in layout.slots[child.slots..child.slots + child.b].iter().zip(source) {
                let target = &mut bodies[s as usize];
                for r in 0..B {
                    target[r] += x[r];
                }
            }
        }
        if !job.rows_only {
            let own = B * bodies.start..B * bodies.end;
            leaf::residual::<B>(self, at.body, &w.Q[own.clone()], &w.x[own], norm, &mut f[..B * front.e]);
        }
        let alpha = &self.alpha[at.row..end.row];
        let (bodies, _) = f.as_chunks_mut::<B>();
        let (G, _) = G.as_chunks::<B>();
        let (mut row, mut value, mut block) = (0, 0, front.blocks);
        for &[m, blocks] in &layout.elements[front.constraints[0]..front.constraints[1]] {
            let (m, rows) = (m as usize, row..row + m as usize);
            // At most six rows per element.
            let mut y = [0.0; 6];
            for (((y, a), r), l) in y.iter_mut().zip(&alpha[rows.clone()]).zip(&r2[rows.clone()]).zip(&lambda[rows]) {
                *y = a * r - if job.rows_only { 0.0 } else { *l };
            }
            for _ in 0..blocks {
                let target = &mut bodies[layout.block_slots[block] as usize];
                for (g, y) in G[value..value + m].iter().zip(&y) {
                    for r in 0..B {
                        target[r] += y * g[r];
                    }
                }
                block += 1;
                value += m;
            }
            row += m;
        }
        forward::<B>(front.e, front.b, &w.panel[panel], f);
    }

    /// Residuals of a front's rows.
    #[inline]
    fn load<const B: usize>(&self, k: usize, G: &[f64], r2: &mut [f64], load: Load) {
        let [first, last] = self.layout.fronts[k].constraints;
        if first == last {
            return;
        }
        match load {
            Load::Keep => {}
            Load::Acceleration => {
                self.set.gamma_in(first..last, self.q, self.v, self.t, r2);
                if self.stabilise != [0.0; 2] {
                    self.add_stabilisation::<B>(first..last, G, r2);
                }
            }
            Load::Velocity => {
                self.set.nu_in(first..last, self.t, r2);
                self.subtract_rate::<B>(first..last, G, 1.0, r2);
            }
            Load::Position => {
                self.set.residual_in(first..last, self.q, self.turns, self.t, r2);
                r2.iter_mut().for_each(|x| *x = -*x);
            }
        }
    }

    /// `r2 -= factor Phi_q v`.
    fn subtract_rate<const B: usize>(&self, range: std::ops::Range<usize>, G: &[f64], factor: f64, r2: &mut [f64]) {
        let (mut row, mut value) = (0, 0);
        for c in range {
            let m = self.set.row_start[c + 1] - self.set.row_start[c];
            for b in self.set.blocks_of(c) {
                let u = leaf::from_velocity::<B>(&self.q[b.body], &self.v[b.body]);
                for (r, g) in r2[row..row + m].iter_mut().zip(G[value..].chunks_exact(B)) {
                    *r -= factor * g.iter().zip(&u).map(|(g, u)| g * u).sum::<f64>();
                }
                value += B * m;
            }
            row += m;
        }
    }

    /// `gamma - 2 Omega mu (Phi_q v - nu) - Omega^2 Phi` [Malczyk12, section 2]: this drives the rows back to zero.
    fn add_stabilisation<const B: usize>(&self, range: std::ops::Range<usize>, G: &[f64], r2: &mut [f64]) {
        let [rate, value] = self.stabilise;
        self.subtract_rate::<B>(range.clone(), G, rate, r2);
        let mut row = 0;
        for c in range {
            let m = self.set.row_start[c + 1] - self.set.row_start[c];
            // A fixed buffer is sufficient for the few rows of an element.
            let mut buffer = [0.0; 16];
            let part = &mut buffer[..m.min(16)];
            self.set.residual_in(c..c + 1, self.q, self.turns, self.t, part);
            r2[row..row + m].iter_mut().zip(part.iter()).for_each(|(r, p)| *r -= value * p);
            self.set.nu_in(c..c + 1, self.t, part);
            r2[row..row + m].iter_mut().zip(part.iter()).for_each(|(r, p)| *r += rate * p);
            row += m;
        }
    }

    /// The matrix of a front, factored.
    #[inline]
    fn assemble<const B: usize>(
        &self,
        k: usize,
        panel: &mut [f64],
        G: &[f64],
        scale: &mut [[f64; 2]],
        scales: usize,
        scale_base: usize,
        stack: &mut [f64],
        stack_at: usize,
    ) {
        let layout = self.layout;
        let front = &layout.fronts[k];
        let (e, b) = (front.e, front.b);
        let (below, rest) = scale.split_at_mut(scales);
        let scale = &mut rest[..e + b];
        scale.fill([0.0; 2]);
        panel.fill(0.0);
        let (C, children) = stack[front.stack - stack_at..].split_at_mut(layout.left::<B>(k));
        C.fill(0.0);
        let mut target = FrontMut { e, b, panel, C };
        leaf::mass::<B>(self, layout.at[k].body, e, &mut target, scale);
        let (G, _) = G.as_chunks::<B>();
        let (mut row, mut value, mut block) = (layout.at[k].row, 0, front.blocks);
        for &[m, blocks] in &layout.elements[front.constraints[0]..front.constraints[1]] {
            let (m, blocks) = (m as usize, blocks as usize);
            let alpha = &self.alpha[row..row + m];
            for i in 0..blocks {
                let s = layout.block_slots[block + i] as usize;
                let J_i = &G[value + i * m..value + (i + 1) * m];
                for (g, a) in J_i.iter().zip(alpha) {
                    scale[s][0] += a * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
                    scale[s][1] += a * g[3..].iter().map(|x| x * x).sum::<f64>();
                }
                for j in 0..=i {
                    let z = layout.block_slots[block + j] as usize;
                    let J_j = &G[value + j * m..value + (j + 1) * m];
                    if s >= z {
                        target.add_product::<B>(s, z, alpha, J_i, J_j);
                    } else {
                        target.add_product::<B>(z, s, alpha, J_j, J_i);
                    }
                }
            }
            block += blocks;
            value += blocks * m;
            row += m;
        }
        for c in front.children.into_iter().filter(|&c| c != NONE) {
            let child = &layout.fronts[c];
            let slots = &layout.slots[child.slots..child.slots + child.b];
            let from = child.stack - front.stack - layout.left::<B>(k);
            target.add_child::<B>(slots, &children[from..from + layout.left::<B>(c)]);
            let first = layout.at[c].scale + child.e - scale_base;
            for (s, x) in slots.iter().zip(&below[first..first + child.b]) {
                scale[*s as usize][0] += x[0];
                scale[*s as usize][1] += x[1];
            }
        }
        let FrontMut { panel, C, .. } = target;
        eliminate::<B>(e, b, panel, C, scale, self.parallel && front.large);
    }

    /// One front of a pass down. The parent's solution is `above`, or is stored further on in the same range.
    #[inline]
    pub(super) fn sink<const B: usize>(&self, k: usize, w: &mut Work<'_>, above: Option<&[f64]>, rows_only: bool) -> Size {
        let (layout, base, at, end) = (self.layout, self.layout.at[w.lo], self.layout.at[k], self.layout.at[k + 1]);
        let front = &layout.fronts[k];
        let (head, tail) = w.f.split_at_mut(end.f - base.f);
        let f = &mut head[at.f - base.f..];
        if front.parent != NONE {
            let p = &layout.at[front.parent];
            let above = above.unwrap_or_else(|| &tail[p.f - end.f..]);
            for (i, &s) in layout.slots[front.slots..front.slots + front.b].iter().enumerate() {
                let to = B * (front.e + i);
                f[to..to + B].copy_from_slice(&above[B * s as usize..B * s as usize + B]);
            }
        }
        let far = &layout.at[w.end];
        backward::<B>(front.e, front.b, &w.panel[end.panel - far.panel..at.panel - far.panel], f);
        let bodies = at.body - base.body..end.body - base.body;
        let mut size = Size::default();
        let (increments, _) = f.as_chunks::<B>();
        let (solution, _) = w.x[B * bodies.start..B * bodies.end].as_chunks_mut::<B>();
        for (x, d) in solution.iter_mut().zip(increments) {
            let (mut change, mut whole, mut check) = ([0.0_f64; 2], [0.0_f64; 2], 0.0);
            for r in 0..B {
                x[r] += d[r];
                let turn = usize::from(r >= 3);
                change[turn] = change[turn].max(d[r].abs());
                whole[turn] = whole[turn].max(x[r].abs());
                check += d[r];
            }
            let L = self.length;
            size = size.max(Size { change: change[0].max(L * change[1]), size: whole[0].max(L * whole[1]), check });
        }
        if B == 7 {
            leaf::normalise::<B>(self, at.body, &f[..B * front.e], &mut w.norm[bodies]);
        }
        let rows = at.row - base.row..end.row - base.row;
        let (r2, lambda, alpha) = (&mut w.r2[rows.clone()], &mut w.lambda[rows], &self.alpha[at.row..end.row]);
        let (G, _) = w.G[end.value - far.value..at.value - far.value].as_chunks::<B>();
        let (mut row, mut value, mut block) = (0, 0, front.blocks);
        for &[m, blocks] in &layout.elements[front.constraints[0]..front.constraints[1]] {
            let m = m as usize;
            for _ in 0..blocks {
                let d = &increments[layout.block_slots[block] as usize];
                for (r, g) in r2[row..row + m].iter_mut().zip(&G[value..value + m]) {
                    // Two independent chains of additions.
                    let (mut even, mut odd) = (0.0, 0.0);
                    for k in 0..B / 2 {
                        even += g[2 * k] * d[2 * k];
                        odd += g[2 * k + 1] * d[2 * k + 1];
                    }
                    if B % 2 == 1 {
                        even += g[B - 1] * d[B - 1];
                    }
                    *r -= even + odd;
                }
                block += 1;
                value += m;
            }
            row += m;
        }
        if !rows_only {
            for ((l, r), a) in lambda.iter_mut().zip(r2.iter()).zip(alpha) {
                *l -= a * r;
            }
        }
        size
    }
}

impl Work<'_> {
    /// The part of the fronts `lo..=hi`, with the whole stack.
    fn part<'b, const B: usize>(&'b mut self, layout: &Layout, lo: usize, hi: usize) -> Work<'b> {
        let (o, a, z) = (&layout.at[self.lo], &layout.at[lo], &layout.at[hi + 1]);
        let far = &layout.at[self.end];
        let bodies = a.body - o.body..z.body - o.body;
        let norm = if self.norm.is_empty() { 0..0 } else { bodies.clone() };
        Work {
            lo,
            end: hi + 1,
            panel: &mut self.panel[z.panel - far.panel..a.panel - far.panel],
            f: &mut self.f[a.f - o.f..z.f - o.f],
            scale: &mut self.scale[a.scale - o.scale..z.scale - o.scale],
            G: &mut self.G[z.value - far.value..a.value - far.value],
            r2: &mut self.r2[a.row - o.row..z.row - o.row],
            lambda: &mut self.lambda[a.row - o.row..z.row - o.row],
            Q: &mut self.Q[B * bodies.start..B * bodies.end],
            x: &mut self.x[B * bodies.start..B * bodies.end],
            norm: &mut self.norm[norm],
            stack_at: self.stack_at,
            stack: &mut *self.stack,
        }
    }
}
