//! Taylor coefficients of all rows: storage and the recurrences, one coefficient per row and stage.
//!
//! Coefficients are those of tau = (t - t_n)/scale. A row used in products is stored forwards and reversed, so that a convolution is a dot
//! product of two ascending arrays; a reversed row is padded with zeros, so that the dot product may extend to a multiple of four. Rows
//! with a differential recurrence are also stored with weight m.

use crate::plan::{NONE, Plan};
use crate::program::{PairKind, Program, Row, Span};
use fourbar_math::elementary;
use fourbar_math::recurrence;

/// Source of a coefficient in the current stage.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Read {
    /// The argument's coefficient of this stage.
    Current(u32),
    /// An earlier one, from storage.
    Stored(u32),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Const(f64),
    Time,
    Param(u32),
    /// Linear terms in coefficients of this stage, linear terms in stored ones, and products.
    Quad {
        c0: f64,
        current: Span,
        stored: Span,
        prod: Span,
    },
    Div {
        a: u32,
        b: u32,
        b_rev: u32,
    },
    Sqrt {
        a: u32,
    },
    Pow {
        a: u32,
        a_wgt: u32,
        c: f64,
    },
    Exp {
        a: u32,
        a_wgt: u32,
    },
    Log {
        a: u32,
        a_rev: u32,
    },
    Pair {
        a: u32,
        a_wgt: u32,
        kind: PairKind,
        partner: Target,
    },
    Atan {
        a: u32,
        b: u32,
        b_rev: u32,
    },
    Atan2 {
        y: Slots,
        x: Slots,
        q: u32,
        q_rev: u32,
    },
    Diff {
        a: Read,
        p: u32,
    },
    Switch {
        kink: u32,
        a: Read,
        b: Read,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots {
    pub fwd: u32,
    rev: u32,
    wgt: u32,
}

/// A row with its storage slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub row: u32,
    pub fwd: u32,
    pub rev: u32,
    wgt: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Instruction {
    pub need: i32,
    pub to: Target,
    pub kind: Kind,
}

/// Storage and compiled instructions.
#[derive(Debug, Clone)]
pub(crate) struct Taylor {
    /// Largest number of coefficients, and distance between rows.
    pub size: usize,
    stride: usize,
    forward: Vec<f64>,
    reversed: Vec<f64>,
    weighted: Vec<f64>,
    /// Coefficient of every row in the current stage.
    pub current: Vec<f64>,
    pub staged: Vec<Instruction>,
    after: Vec<Instruction>,
    /// Coefficient and row; coefficient and slot.
    pub current_terms: Vec<(f64, u32)>,
    pub stored_terms: Vec<(f64, u32)>,
    pub prod: Vec<(f64, u32, u32)>,
    pub targets: Vec<Target>,
    pub params: Vec<f64>,
    /// Side of every kink: true if its switching expression is not negative.
    pub side: Vec<bool>,
    pub t: f64,
    pub scale: f64,
}

/// Dot product of `n` entries from `a0` and `b0`; both arrays continue to the next multiple of four.
#[inline(always)]
fn dot(a: &[f64], a0: usize, b: &[f64], b0: usize, n: usize) -> f64 {
    let len = (n + 3) & !3;
    let (x, _) = a[a0..a0 + len].as_chunks::<4>();
    let (y, _) = b[b0..b0 + len].as_chunks::<4>();
    let mut sum = [0.0f64; 4];
    for (x, y) in x.iter().zip(y) {
        for l in 0..4 {
            // A fused product if the target supports it, which saves one rounding; never a library call.
            sum[l] = if cfg!(target_feature = "fma") { x[l].mul_add(y[l], sum[l]) } else { sum[l] + x[l] * y[l] };
        }
    }
    (sum[0] + sum[2]) + (sum[1] + sum[3])
}

impl Taylor {
    pub fn new(program: &Program, plan: &Plan, size: usize, n_params: usize, n_kinks: usize) -> Self {
        let stride = (size + 4).next_multiple_of(4);
        let target = |v: usize| Target { row: v as u32, fwd: plan.forward[v], rev: plan.reversed[v], wgt: plan.weighted[v] };
        let mut t = Self {
            size,
            stride,
            forward: vec![0.0; plan.stored[0] * stride],
            reversed: vec![0.0; plan.stored[1] * stride],
            weighted: vec![0.0; plan.stored[2] * stride],
            current: vec![0.0; program.rows.len()],
            staged: Vec::new(),
            after: Vec::new(),
            current_terms: Vec::new(),
            stored_terms: Vec::new(),
            prod: Vec::new(),
            targets: (0..program.rows.len()).map(target).collect(),
            params: vec![0.0; n_params],
            side: vec![true; n_kinks],
            t: 0.0,
            scale: 1.0,
        };
        t.staged = plan.staged.iter().filter_map(|&v| t.instruction(program, plan, v as usize, true)).collect();
        t.after = plan.after.iter().filter_map(|&v| t.instruction(program, plan, v as usize, false)).collect();
        t
    }

    fn instruction(&mut self, program: &Program, plan: &Plan, v: usize, in_stage: bool) -> Option<Instruction> {
        let f = |a: u32| plan.forward[a as usize];
        let slots = |a: u32| Slots { fwd: plan.forward[a as usize], rev: plan.reversed[a as usize], wgt: plan.weighted[a as usize] };
        let read = |a: u32, p: u32| {
            if in_stage && plan.need[a as usize] == plan.need[v] + p as i32 { Read::Current(a) } else { Read::Stored(f(a)) }
        };
        let kind = match program.rows[v] {
            Row::Var(_) | Row::Partner => return None,
            Row::Const(c) => Kind::Const(c),
            Row::Time => Kind::Time,
            Row::Param(k) => Kind::Param(k),
            Row::Quad { c0, lin, prod } => {
                let first = |s: &Self| [s.current_terms.len() as u32, s.stored_terms.len() as u32, s.prod.len() as u32];
                let [c1, s1, p1] = first(self);
                for &(c, a) in program.lin(lin) {
                    match read(a, 0) {
                        Read::Current(row) => self.current_terms.push((c, row)),
                        Read::Stored(slot) => self.stored_terms.push((c, slot)),
                    }
                }
                for &(c, a, b) in program.prod(prod) {
                    let (a, b) = if slots(b).rev != NONE { (a, b) } else { (b, a) };
                    self.prod.push((c, f(a), slots(b).rev));
                }
                let [c2, s2, p2] = first(self);
                Kind::Quad { c0, current: (c1, c2), stored: (s1, s2), prod: (p1, p2) }
            }
            Row::Div(a, b) => Kind::Div { a: f(a), b: f(b), b_rev: slots(b).rev },
            Row::Sqrt(a) => Kind::Sqrt { a: f(a) },
            Row::Pow(a, c) => Kind::Pow { a: f(a), a_wgt: slots(a).wgt, c },
            Row::Exp(a) => Kind::Exp { a: f(a), a_wgt: slots(a).wgt },
            Row::Log(a) => Kind::Log { a: f(a), a_rev: slots(a).rev },
            Row::Pair(a, kind) => Kind::Pair { a: f(a), a_wgt: slots(a).wgt, kind, partner: self.targets[v + 1] },
            Row::Atan(a, b) => Kind::Atan { a: f(a), b: f(b), b_rev: slots(b).rev },
            Row::Atan2(y, x, q) => Kind::Atan2 { y: slots(y), x: slots(x), q: f(q), q_rev: slots(q).rev },
            Row::Diff(a, p) => Kind::Diff { a: read(a, p), p },
            Row::Switch(kink, a, b) => Kind::Switch { kink, a: read(a, 0), b: read(b, 0) },
        };
        Some(Instruction { need: plan.need[v], to: self.targets[v], kind })
    }

    /// Clears all storage: old values that are not finite would spoil padded sums.
    pub fn clear(&mut self) {
        self.forward.fill(0.0);
        self.reversed.fill(0.0);
        self.weighted.fill(0.0);
        self.current.fill(0.0);
    }

    /// Sets coefficient `m` of a row.
    #[inline]
    pub fn put(&mut self, to: Target, m: usize, value: f64) {
        self.current[to.row as usize] = value;
        if to.fwd != NONE {
            self.forward[to.fwd as usize * self.stride + m] = value;
            if to.rev != NONE {
                self.reversed[to.rev as usize * self.stride + self.size - 1 - m] = value;
            }
            if to.wgt != NONE {
                self.weighted[to.wgt as usize * self.stride + m] = m as f64 * value;
            }
        }
    }

    /// Adds to coefficient `m` of a row.
    #[inline]
    pub fn add(&mut self, to: Target, m: usize, change: f64) {
        if to.fwd != NONE {
            self.put(to, m, self.forward[to.fwd as usize * self.stride + m] + change);
        }
    }

    /// Stored coefficient `m` of the row in slot `fwd`.
    #[inline]
    pub fn stored(&self, fwd: u32, m: usize) -> f64 {
        self.forward[fwd as usize * self.stride + m]
    }

    /// The stored coefficients of a row.
    pub fn coefficients(&self, row: usize) -> &[f64] {
        let at = self.targets[row].fwd as usize * self.stride;
        &self.forward[at..at + self.size]
    }

    /// Coefficients 0 to `m` of the row in slot `fwd`.
    #[inline]
    pub fn up_to(&self, fwd: u32, m: usize) -> &[f64] {
        let at = fwd as usize * self.stride;
        &self.forward[at..=at + m]
    }

    #[inline]
    fn read(&self, from: Read, m: usize) -> f64 {
        match from {
            Read::Current(v) => self.current[v as usize],
            Read::Stored(f) => self.stored(f, m),
        }
    }

    /// Sum of a_i b_(m-i) over i = 0..=m.
    #[inline]
    pub fn product(&self, a: u32, b_rev: u32, m: usize) -> f64 {
        let (a, b) = (a as usize * self.stride, b_rev as usize * self.stride + self.size - 1 - m);
        dot(&self.forward, a, &self.reversed, b, m + 1)
    }

    /// Sum of i a_i b_(m-i) over i = 1..=m.
    #[inline]
    fn weighted_product(&self, a_wgt: u32, b_rev: u32, m: usize) -> f64 {
        let (a, b) = (a_wgt as usize * self.stride + 1, b_rev as usize * self.stride + self.size - m);
        dot(&self.weighted, a, &self.reversed, b, m)
    }

    /// Computes coefficient `stage + need` of every row of the equations.
    pub fn stage(&mut self, stage: i32) {
        // Moved out during the loop: the instructions are read while the storage is written.
        let staged = std::mem::take(&mut self.staged);
        for i in &staged {
            let m = stage + i.need;
            if m >= 0 {
                self.execute(i, m as usize);
            }
        }
        self.staged = staged;
    }

    /// Computes all coefficients of the rows used only by outputs and events; `last` is the last stage.
    pub fn outputs(&mut self, last: usize) {
        let after = std::mem::take(&mut self.after);
        for i in &after {
            for m in 0..=last as i32 + i.need {
                self.execute(i, m as usize);
            }
        }
        self.after = after;
    }

    #[inline(always)]
    fn execute(&mut self, i: &Instruction, m: usize) {
        let to = i.to;
        let value = match i.kind {
            Kind::Quad { c0, current, stored, prod } => {
                let mut sum = if m == 0 { c0 } else { 0.0 };
                for &(c, row) in &self.current_terms[current.0 as usize..current.1 as usize] {
                    sum += c * self.current[row as usize];
                }
                for &(c, slot) in &self.stored_terms[stored.0 as usize..stored.1 as usize] {
                    sum += c * self.stored(slot, m);
                }
                for &(c, a, b) in &self.prod[prod.0 as usize..prod.1 as usize] {
                    sum += c * self.product(a, b, m);
                }
                sum
            }
            Kind::Diff { a, p } => {
                let mut factor = 1.0;
                for l in 1..=p as usize {
                    factor *= (m + l) as f64 / self.scale;
                }
                factor * self.read(a, m + p as usize)
            }
            Kind::Switch { kink, a, b } => self.read(if self.side[kink as usize] { a } else { b }, m),
            Kind::Const(c) => {
                if m == 0 {
                    c
                } else {
                    0.0
                }
            }
            Kind::Param(k) => {
                if m == 0 {
                    self.params[k as usize]
                } else {
                    0.0
                }
            }
            Kind::Time => match m {
                0 => self.t,
                1 => self.scale,
                _ => 0.0,
            },
            _ if m == 0 => return self.first(i),
            _ => return self.recurrence(i, m),
        };
        self.put(to, m, value);
    }

    /// Zeroth coefficients of functions.
    #[inline(never)]
    fn first(&mut self, i: &Instruction) {
        let x = |t: &Self, a: u32| t.stored(a, 0);
        let value = match i.kind {
            Kind::Div { a, b, .. } => x(self, a) / x(self, b),
            Kind::Sqrt { a } => x(self, a).sqrt(),
            Kind::Pow { a, c, .. } => elementary::powf(x(self, a), c),
            Kind::Exp { a, .. } => elementary::exp(x(self, a)),
            Kind::Log { a, .. } => elementary::ln(x(self, a)),
            Kind::Atan { a, .. } => elementary::atan(x(self, a)),
            Kind::Atan2 { y, x: right, .. } => elementary::atan2(x(self, y.fwd), x(self, right.fwd)),
            Kind::Pair { a, kind, partner, .. } => {
                let z = x(self, a);
                let (value, other) = match kind {
                    PairKind::SinCos => elementary::sin_cos(z),
                    PairKind::SinhCosh => (elementary::sinh(z), elementary::cosh(z)),
                    PairKind::Tanh => (elementary::tanh(z), elementary::cosh(z).powi(-2)),
                };
                self.put(partner, 0, other);
                value
            }
            _ => return,
        };
        self.put(i.to, 0, value);
    }

    /// Coefficient m > 0 of functions, from their differential equations.
    #[inline(never)]
    fn recurrence(&mut self, i: &Instruction, m: usize) {
        let to = i.to;
        // The unknown coefficient itself must not enter the sums.
        if !matches!(i.kind, Kind::Pair { .. } | Kind::Exp { .. } | Kind::Pow { .. }) {
            self.put(to, m, 0.0);
        }
        let value = match i.kind {
            Kind::Div { a, b, b_rev } => (self.stored(a, m) - self.product(to.fwd, b_rev, m)) / self.stored(b, 0),
            Kind::Sqrt { a } => {
                let own = to.fwd as usize * self.stride + 1;
                let back = to.rev as usize * self.stride + self.size - m;
                let cross = dot(&self.forward, own, &self.reversed, back, m - 1);
                recurrence::sqrt(self.stored(a, m) - cross, self.stored(to.fwd, 0))
            }
            Kind::Pow { a, a_wgt, c } => {
                let own = a as usize * self.stride + 1;
                let back = to.rev as usize * self.stride + self.size - m;
                let plain = dot(&self.forward, own, &self.reversed, back, m);
                recurrence::pow(c, self.weighted_product(a_wgt, to.rev, m), plain, self.stored(a, 0), m)
            }
            Kind::Exp { a_wgt, .. } => recurrence::along(self.weighted_product(a_wgt, to.rev, m), m),
            Kind::Log { a, a_rev } => recurrence::against(self.stored(a, m), self.weighted_product(to.wgt, a_rev, m), self.stored(a, 0), m),
            Kind::Pair { a_wgt, kind, partner, .. } => {
                let along_partner = self.weighted_product(a_wgt, partner.rev, m);
                match kind {
                    PairKind::SinCos => {
                        let (sine, cosine) = recurrence::sin_cos(self.weighted_product(a_wgt, to.rev, m), along_partner, m);
                        self.put(partner, m, cosine);
                        sine
                    }
                    PairKind::SinhCosh => {
                        let other = recurrence::along(self.weighted_product(a_wgt, to.rev, m), m);
                        self.put(partner, m, other);
                        recurrence::along(along_partner, m)
                    }
                    PairKind::Tanh => {
                        let value = recurrence::along(along_partner, m);
                        self.put(to, m, value);
                        let square = self.product(to.fwd, to.rev, m);
                        self.put(partner, m, -square);
                        value
                    }
                }
            }
            Kind::Atan { a, b, b_rev } => {
                recurrence::against(self.stored(a, m), self.weighted_product(to.wgt, b_rev, m), self.stored(b, 0), m)
            }
            Kind::Atan2 { y, x, q, q_rev } => {
                let turn = self.weighted_product(y.wgt, x.rev, m) - self.weighted_product(x.wgt, y.rev, m);
                recurrence::atan2(turn, self.weighted_product(to.wgt, q_rev, m), self.stored(q, 0), m)
            }
            _ => return,
        };
        self.put(to, m, value);
    }
}
