//! Closed loops in lanes: the rows of closing joints, the dependent columns determined by them, and the equations of motion in independent
//! columns.
//!
//! All closures form one dense matrix: mechanisms that are varied by the thousand have few loops. The matrix of the dependent columns is
//! factorised by reflections, which need no row exchanges, so that no lane affects another.

use super::{Form, Kernel};
use crate::passes::*;

/// The equation of a closure row, in terms of directions or points on two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// `a_i . a_j - constant`.
    Directions,
    /// `a_i . (p_j - p_i) - constant`.
    Along,
}

/// Data of a row: direction on i; point on i; direction or point on j; constant. All in the frames of the nodes.
pub type RowData = [Row; 10];

/// A row used in an active combination.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopRow {
    pub says: Says,
    /// Nodes of the two bodies.
    pub nodes: [usize; 2],
}

/// A column that moves the two bodies of a row relative to each other: its node, and whether it moves the second of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Mover {
    pub node: usize,
    pub column: usize,
    pub second: bool,
}

/// The structure of the loops, the same in all lanes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loops {
    pub rows: Vec<LoopRow>,
    /// Columns that affect each row.
    pub movers: Vec<Vec<Mover>>,
    /// Terms of the active rows: active row, row.
    pub terms: Vec<(usize, usize)>,
    pub active: usize,
    /// Columns by their role in the closure.
    pub dependent: Vec<usize>,
    pub independent: Vec<usize>,
    pub prescribed: Vec<usize>,
}

/// Loops in motion.
#[derive(Clone, Debug)]
pub struct Closing {
    pub data: Vec<RowData>,
    /// Factors of the terms.
    pub weights: Vec<Row>,
    /// Wrench of each row, dual to the motion of its second body relative to the first.
    wrenches: Vec<Sixes>,
    /// Residual, or second derivative, of each row.
    values: Vec<Row>,
    /// Jacobian of the active rows with respect to all columns.
    jacobian: Vec<Row>,
    /// Reflections on and below the diagonal of the dependent part, by columns; its upper triangle; right-hand sides.
    factor: Vec<Row>,
    diagonal: Vec<Row>,
    beta: Vec<Row>,
    pub rhs: Vec<Row>,
    /// Length scale of translations.
    pub ell: Row,
    /// Smallest sine of a dependent column.
    pub smallest: Row,
    /// Derivatives of dependents with respect to independents, by independents; and rates of the dependents without them.
    follow: Vec<Row>,
    own: Vec<Row>,
    composite: Vec<Composite>,
    mass: Vec<Row>,
    effort: Vec<Row>,
    reduced: Vec<Row>,
    lambda: Vec<Row>,
}

impl Closing {
    pub fn new(form: &Form) -> Self {
        let (l, n) = (&form.loops, form.columns);
        let (m, k) = (l.active, l.independent.len());
        Self {
            data: vec![[ZERO; 10]; l.rows.len()],
            weights: vec![ZERO; l.terms.len()],
            wrenches: vec![[ZERO; 6]; l.rows.len()],
            values: vec![ZERO; l.rows.len()],
            jacobian: vec![ZERO; m * n],
            factor: vec![ZERO; m * m],
            diagonal: vec![ZERO; m],
            beta: vec![ZERO; m],
            rhs: vec![ZERO; m],
            ell: [1.0; LANES],
            smallest: [f64::INFINITY; LANES],
            follow: vec![ZERO; m * k],
            own: vec![ZERO; m],
            composite: vec![[ZERO; 16]; form.nodes.len()],
            mass: vec![ZERO; n * n],
            effort: vec![ZERO; n],
            reduced: vec![ZERO; k * (k + 1)],
            lambda: vec![ZERO; m],
        }
    }

    /// Active right-hand sides from the negative values of the rows; returns the largest in each lane.
    #[inline(always)]
    fn fold(&mut self, loops: &Loops) -> Row {
        self.rhs.fill(ZERO);
        for (&(k, r), w) in loops.terms.iter().zip(&self.weights) {
            let (out, x) = (&mut self.rhs[k], &self.values[r]);
            for i in 0..LANES {
                out[i] -= w[i] * x[i];
            }
        }
        let mut worst = ZERO;
        for x in &self.rhs {
            for i in 0..LANES {
                // NaN must count.
                worst[i] = if x[i].abs() <= worst[i] { worst[i] } else { x[i].abs() };
            }
        }
        worst
    }

    /// Residuals of the rows, from the frames of the nodes.
    #[inline(always)]
    pub fn residuals(&mut self, loops: &Loops, nodes: &[Moving]) -> Row {
        for ((row, data), value) in loops.rows.iter().zip(&self.data).zip(&mut self.values) {
            let [ni, nj] = row.nodes.map(|k| &nodes[k]);
            for i in 0..LANES {
                let (Ei, Ej): ([f64; 9], [f64; 9]) = (take(ni, at::E, i), take(nj, at::E, i));
                let a = times(&Ei, &take(data, 0, i));
                let b = times(&Ej, &take(data, 6, i));
                let x = match row.says {
                    Says::Directions => dot(&a, &b),
                    Says::Along => {
                        let p_i = add(&take(ni, at::X, i), &times(&Ei, &take(data, 3, i)));
                        let p_j = add(&take(nj, at::X, i), &b);
                        dot(&a, &sub(&p_j, &p_i))
                    }
                };
                value[i] = x - data[9][i];
            }
        }
        self.fold(loops)
    }

    /// Jacobian of the active rows, from the frames of the nodes, and its factorisation.
    #[inline(always)]
    pub fn factor(&mut self, form: &Form, nodes: &[Moving]) {
        let loops = &form.loops;
        for ((row, data), wrench) in loops.rows.iter().zip(&self.data).zip(&mut self.wrenches) {
            let [ni, nj] = row.nodes.map(|k| &nodes[k]);
            for i in 0..LANES {
                let (Ei, Ej): ([f64; 9], [f64; 9]) = (take(ni, at::E, i), take(nj, at::E, i));
                let (a, b) = (times(&Ei, &take(data, 0, i)), times(&Ej, &take(data, 6, i)));
                let (f, t) = match row.says {
                    Says::Directions => ([0.0; 3], cross(&b, &a)),
                    Says::Along => (a, cross(&add(&take(nj, at::X, i), &b), &a)),
                };
                put(wrench, 0, i, &f);
                put(wrench, 3, i, &t);
            }
        }
        let n = form.columns;
        self.jacobian.fill(ZERO);
        for (&(k, r), w) in loops.terms.iter().zip(&self.weights) {
            for mover in &loops.movers[r] {
                let mut x = ZERO;
                along(&nodes[mover.node], &self.wrenches[r], 0, &mut x);
                let out = &mut self.jacobian[k * n + mover.column];
                let sign = if mover.second { 1.0 } else { -1.0 };
                for i in 0..LANES {
                    out[i] += sign * w[i] * x[i];
                }
            }
        }
        self.reflect(form);
    }

    /// Factorises the dependent columns.
    #[inline(always)]
    fn reflect(&mut self, form: &Form) {
        let (m, n) = (form.loops.active, form.columns);
        for (c, &column) in form.loops.dependent.iter().enumerate() {
            for r in 0..m {
                self.factor[c * m + r] = self.jacobian[r * n + column];
            }
        }
        self.smallest = [f64::INFINITY; LANES];
        for c in 0..m {
            let (done, rest) = self.factor.split_at_mut((c + 1) * m);
            let v = &mut done[c * m..];
            let mut square = ZERO;
            for x in &v[c..] {
                for i in 0..LANES {
                    square[i] += x[i] * x[i];
                }
            }
            let (mut sigma, mut beta) = (ZERO, ZERO);
            let slides = form.slides[form.loops.dependent[c]];
            for i in 0..LANES {
                // The sign that avoids cancellation.
                let norm = square[i].sqrt();
                let s = if v[c][i] >= 0.0 { -norm } else { norm };
                v[c][i] -= s;
                sigma[i] = s;
                let half = square[i] - s * (v[c][i] + s);
                beta[i] = if half > 0.0 { 1.0 / half } else { 0.0 };
                let sine = if slides { norm * self.ell[i] } else { norm };
                self.smallest[i] = if self.smallest[i] <= sine { self.smallest[i] } else { sine };
            }
            for other in rest.chunks_exact_mut(m) {
                reflected(&v[c..], &beta, &mut other[c..]);
            }
            (self.diagonal[c], self.beta[c]) = (sigma, beta);
        }
    }

    /// Solves for the dependents, in place of the right-hand side.
    #[inline(always)]
    fn solve(factor: &[Row], diagonal: &[Row], beta: &[Row], m: usize, x: &mut [Row]) {
        for c in 0..m {
            reflected(&factor[c * m + c..(c + 1) * m], &beta[c], &mut x[c..]);
        }
        for c in (0..m).rev() {
            let (before, here) = x.split_at_mut(c);
            for i in 0..LANES {
                here[0][i] /= diagonal[c][i];
            }
            for (r, out) in before.iter_mut().enumerate() {
                let a = &factor[c * m + r];
                for i in 0..LANES {
                    out[i] -= a[i] * here[0][i];
                }
            }
        }
    }

    /// Changes of the dependents that remove the right-hand side.
    #[inline(always)]
    pub fn corrections(&mut self, m: usize) {
        Self::solve(&self.factor, &self.diagonal, &self.beta, m, &mut self.rhs);
    }

    /// Velocities of the rows, as right-hand sides.
    #[inline(always)]
    pub fn velocities(&mut self, loops: &Loops, nodes: &[Moving]) {
        for ((row, wrench), value) in loops.rows.iter().zip(&self.wrenches).zip(&mut self.values) {
            let [ni, nj] = row.nodes.map(|k| &nodes[k]);
            for i in 0..LANES {
                let (vi, vj) = (six(ni, at::V, i), six(nj, at::V, i));
                value[i] = dot_six(&(sub(&vj.0, &vi.0), sub(&vj.1, &vi.1)), &six(wrench, 0, i));
            }
        }
        self.fold(loops);
    }

    /// Second derivatives of the rows with unknown rates zero, as right-hand sides.
    #[inline(always)]
    fn accelerations(&mut self, loops: &Loops, nodes: &[Moving]) {
        for ((row, data), value) in loops.rows.iter().zip(&self.data).zip(&mut self.values) {
            let [ni, nj] = row.nodes.map(|k| &nodes[k]);
            for i in 0..LANES {
                let (Ei, Ej): ([f64; 9], [f64; 9]) = (take(ni, at::E, i), take(nj, at::E, i));
                let (Vi, Vj, Ai, Aj) = (six(ni, at::V, i), six(nj, at::V, i), six(ni, at::A, i), six(nj, at::A, i));
                // First and second derivatives of a direction fixed to a body.
                let rate = |w: &V, a: &V| cross(w, a);
                let second = |w: &V, alpha: &V, a: &V| add(&cross(alpha, a), &cross(w, &cross(w, a)));
                let a = times(&Ei, &take(data, 0, i));
                let b = times(&Ej, &take(data, 6, i));
                let (a1, a2) = (rate(&Vi.1, &a), second(&Vi.1, &Ai.1, &a));
                value[i] = match row.says {
                    Says::Directions => {
                        let (b1, b2) = (rate(&Vj.1, &b), second(&Vj.1, &Aj.1, &b));
                        dot(&a2, &b) + 2.0 * dot(&a1, &b1) + dot(&a, &b2)
                    }
                    Says::Along => {
                        let p_i = add(&take(ni, at::X, i), &times(&Ei, &take(data, 3, i)));
                        let p_j = add(&take(nj, at::X, i), &b);
                        let (v_i, v_j) = (add(&Vi.0, &cross(&Vi.1, &p_i)), add(&Vj.0, &cross(&Vj.1, &p_j)));
                        let acc_i = add(&add(&Ai.0, &cross(&Ai.1, &p_i)), &cross(&Vi.1, &v_i));
                        let acc_j = add(&add(&Aj.0, &cross(&Aj.1, &p_j)), &cross(&Vj.1, &v_j));
                        dot(&a2, &sub(&p_j, &p_i)) + 2.0 * dot(&a1, &sub(&v_j, &v_i)) + dot(&a, &sub(&acc_j, &acc_i))
                    }
                };
            }
        }
        self.fold(loops);
    }
}

/// Applies a reflection.
#[inline(always)]
fn reflected(v: &[Row], beta: &Row, x: &mut [Row]) {
    let mut sum = ZERO;
    for (v, x) in v.iter().zip(x.iter()) {
        for i in 0..LANES {
            sum[i] += v[i] * x[i];
        }
    }
    for i in 0..LANES {
        sum[i] *= beta[i];
    }
    for (v, x) in v.iter().zip(x.iter_mut()) {
        for i in 0..LANES {
            x[i] -= v[i] * sum[i];
        }
    }
}

impl Kernel {
    /// Rates of the speeds and efforts of the drives at a closed state, from the equations of motion in independent columns. The nodes must
    /// be swept and loaded.
    #[inline(always)]
    pub fn solve_loops(&mut self, udot: &mut [Row]) {
        let Self { form, at: nodes, shapes, closing: x, rates, .. } = self;
        let loops = &form.loops;
        let (n, m, free) = (form.columns, loops.active, loops.independent.len());
        x.accelerations(loops, nodes);
        x.own.copy_from_slice(&x.rhs);
        Closing::solve(&x.factor, &x.diagonal, &x.beta, m, &mut x.own);
        x.composite.fill([ZERO; 16]);
        for k in (1..form.nodes.len()).rev() {
            let (before, here) = x.composite.split_at_mut(k);
            compose(&shapes[k][15], &nodes[k], &mut here[0], &mut before[form.nodes[k].parent]);
        }
        x.mass.fill(ZERO);
        for k in 1..form.nodes.len() {
            let node = &form.nodes[k];
            if node.joint == Joint::Weld {
                continue;
            }
            let c = node.column;
            along(&nodes[k], &x.composite[k], 10, &mut x.effort[c]);
            let mut p = [ZERO; 6];
            momentum(&nodes[k], &x.composite[k], &mut p);
            let mut up = k;
            while up != 0 {
                if form.nodes[up].joint != Joint::Weld {
                    let mut e = ZERO;
                    along(&nodes[up], &p, 0, &mut e);
                    let d = form.nodes[up].column;
                    x.mass[c * n + d] = e;
                    x.mass[d * n + c] = e;
                }
                up = form.nodes[up].parent;
            }
        }
        // Rates of the dependents: T = -J_D^-1 J_I.
        for (f, &column) in loops.independent.iter().enumerate() {
            let out = &mut x.follow[f * m..(f + 1) * m];
            for r in 0..m {
                let e = &x.jacobian[r * n + column];
                for i in 0..LANES {
                    out[r][i] = -e[i];
                }
            }
            Closing::solve(&x.factor, &x.diagonal, &x.beta, m, out);
        }
        // Efforts for the rates of the dependents alone.
        for c in 0..n {
            for (d, &column) in loops.dependent.iter().enumerate() {
                let (e, own) = (&x.mass[c * n + column], &x.own[d]);
                let out = &mut x.effort[c];
                for i in 0..LANES {
                    out[i] -= e[i] * own[i];
                }
            }
        }
        let wide = free + 1;
        for (f, &cf) in loops.independent.iter().enumerate() {
            // Row of the reduced mass matrix: M_f. + T_f^T M_D.
            for (g, &cg) in loops.independent.iter().enumerate().take(f + 1) {
                let mut sum = x.mass[cf * n + cg];
                for (d, &cd) in loops.dependent.iter().enumerate() {
                    let (tf, tg) = (&x.follow[f * m + d], &x.follow[g * m + d]);
                    let (mdg, mfd) = (&x.mass[cd * n + cg], &x.mass[cf * n + cd]);
                    for i in 0..LANES {
                        sum[i] += tf[i] * mdg[i] + tg[i] * mfd[i];
                    }
                    for (e, &ce) in loops.dependent.iter().enumerate() {
                        let (te, mde) = (&x.follow[g * m + e], &x.mass[cd * n + ce]);
                        for i in 0..LANES {
                            sum[i] += tf[i] * mde[i] * te[i];
                        }
                    }
                }
                x.reduced[f * wide + g] = sum;
            }
            let mut p = x.effort[cf];
            for (d, &cd) in loops.dependent.iter().enumerate() {
                let (t, e) = (&x.follow[f * m + d], &x.effort[cd]);
                for i in 0..LANES {
                    p[i] += t[i] * e[i];
                }
            }
            x.reduced[f * wide + free] = p;
        }
        cholesky(&mut x.reduced, free);
        for (f, &cf) in loops.independent.iter().enumerate() {
            udot[cf] = x.reduced[f * wide + free];
        }
        for (d, &cd) in loops.dependent.iter().enumerate() {
            let mut rate = x.own[d];
            for f in 0..free {
                let (t, a) = (&x.follow[f * m + d], &x.reduced[f * wide + free]);
                for i in 0..LANES {
                    rate[i] += t[i] * a[i];
                }
            }
            udot[cd] = rate;
        }
        for c in &loops.prescribed {
            udot[*c] = ZERO;
        }
        // Constraint efforts of the loops on the dependents, and through them on the drives.
        if !loops.prescribed.is_empty() {
            let lacks = |c: usize, efforts: &[Row], mass: &[Row], own: &[Row]| {
                let mut sum = efforts[c];
                for i in 0..LANES {
                    sum[i] = -sum[i];
                }
                for &cf in &loops.independent {
                    let (e, a) = (&mass[c * n + cf], &udot[cf]);
                    for i in 0..LANES {
                        sum[i] += e[i] * a[i];
                    }
                }
                for (d, &cd) in loops.dependent.iter().enumerate() {
                    let e = &mass[c * n + cd];
                    for i in 0..LANES {
                        sum[i] += e[i] * (udot[cd][i] - own[d][i]);
                    }
                }
                sum
            };
            for (d, &cd) in loops.dependent.iter().enumerate() {
                x.lambda[d] = lacks(cd, &x.effort, &x.mass, &x.own);
            }
            // J_D^T lambda: the triangle by forward substitution, then the reflections in reverse order.
            for c in 0..m {
                let (before, here) = x.lambda.split_at_mut(c);
                for (r, l) in before.iter().enumerate() {
                    let e = &x.factor[c * m + r];
                    for i in 0..LANES {
                        here[0][i] -= e[i] * l[i];
                    }
                }
                for i in 0..LANES {
                    here[0][i] /= x.diagonal[c][i];
                }
            }
            for c in (0..m).rev() {
                reflected(&x.factor[c * m + c..(c + 1) * m], &x.beta[c], &mut x.lambda[c..]);
            }
            for (out, &c) in self.efforts.iter_mut().zip(&loops.prescribed) {
                let mut e = lacks(c, &x.effort, &x.mass, &x.own);
                for r in 0..m {
                    let (j, l) = (&x.jacobian[r * n + c], &x.lambda[r]);
                    for i in 0..LANES {
                        e[i] -= j[i] * l[i];
                    }
                }
                *out = e;
            }
        }
        for k in 1..form.nodes.len() {
            let node = &form.nodes[k];
            let (before, here) = rates.split_at_mut(k);
            let rate = if node.joint == Joint::Weld { &ZERO } else { &udot[node.column] };
            carry(&nodes[k], &before[node.parent], rate, &mut here[0]);
        }
    }
}

/// Solves a symmetric system; the lower half and the right-hand side are stored in rows of length `n + 1`. The solution replaces the
/// right-hand side.
#[inline(always)]
fn cholesky(a: &mut [Row], n: usize) {
    let w = n + 1;
    for c in 0..n {
        for k in 0..c {
            for r in c..n {
                let (x, y) = (a[r * w + k], a[c * w + k]);
                let out = &mut a[r * w + c];
                for i in 0..LANES {
                    out[i] -= x[i] * y[i];
                }
            }
            let (x, y) = (a[c * w + k], a[k * w + n]);
            let out = &mut a[c * w + n];
            for i in 0..LANES {
                out[i] -= x[i] * y[i];
            }
        }
        let mut root = ZERO;
        for i in 0..LANES {
            root[i] = 1.0 / a[c * w + c][i].sqrt();
        }
        for r in c..n {
            let out = &mut a[r * w + c];
            for i in 0..LANES {
                out[i] *= root[i];
            }
        }
        let out = &mut a[c * w + n];
        for i in 0..LANES {
            out[i] *= root[i];
        }
    }
    for c in (0..n).rev() {
        for k in c + 1..n {
            let (x, y) = (a[k * w + c], a[k * w + n]);
            let out = &mut a[c * w + n];
            for i in 0..LANES {
                out[i] -= x[i] * y[i];
            }
        }
        let d = a[c * w + c];
        let out = &mut a[c * w + n];
        for i in 0..LANES {
            out[i] /= d[i];
        }
    }
}
