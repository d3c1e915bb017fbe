//! One mechanism in all lanes: shared structure, data of each lane, and the evaluation of a state.

pub mod loops;

use crate::passes::*;
use loops::{Closing, Loops};
use pulp::{Arch, NullaryFnOnce, Simd, WithSimd};

/// A body in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub parent: usize,
    pub joint: Joint,
    /// Its column; for a weld, that of the next node.
    pub column: usize,
    /// Whether a drive prescribes it.
    pub driven: bool,
    /// Body of the model.
    pub body: usize,
}

/// The structure shared by all lanes of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// Nodes, the ground first.
    pub nodes: Vec<Node>,
    pub columns: usize,
    /// Whether each column is a translation.
    pub slides: Vec<bool>,
    /// Drives and their columns.
    pub drives: Vec<(usize, usize)>,
    /// Column of each counted angle; `None` for joints that close a loop.
    pub counted: Vec<Option<usize>>,
    pub loops: Loops,
    /// Whether forces and drives do work.
    pub worked: bool,
    /// Whether there are forces besides gravity.
    pub loaded: bool,
}

/// Data of a lane.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// Reference point of twists, and gravity.
    pub centre: V,
    pub gravity: V,
    /// By node, without the ground.
    pub shapes: Vec<[f64; 22]>,
    /// By row of the loops; weights by term.
    pub rows: Vec<[f64; 10]>,
    pub weights: Vec<f64>,
    pub ell: f64,
}

/// Scaled residual that counts as closed, and the same if a dependent column is weak.
const CLOSED: f64 = 1e-13;
const EXACT: f64 = 1e-16;
/// Sine below which a dependent column is weak, and below which the lane is lost.
const WEAK: f64 = 0.1;
const LOST: f64 = 0.02;
/// Largest residual that counts as closed after all corrections.
const OPEN: f64 = 1e-9;
/// A correction that leaves more than this share of a residual may have left its branch.
const CERTAIN: f64 = 0.25;
/// Maximum number of corrections of positions.
const CORRECTIONS: usize = 25;
/// Largest angle that is reduced accurately.
const FAR: f64 = 1e6;

/// A mechanism in lanes with its workspace.
pub struct Kernel {
    pub form: Form,
    arch: Arch,
    pub shapes: Vec<Shape>,
    /// By node, the ground first.
    pub at: Vec<Moving>,
    gathered: Vec<Gathered>,
    left: Vec<Column>,
    /// Contributions of the unknown rates to the accelerations of the nodes.
    pub rates: Vec<Sixes>,
    /// Efforts of the drives, in order.
    pub efforts: Vec<Row>,
    /// Closed coordinates and speeds, and rates prescribed by drives.
    pub q: Vec<Row>,
    pub u: Vec<Row>,
    pub given: Vec<Row>,
    pub closing: Closing,
    /// Reference point of twists.
    pub centre: [Row; 3],
    pub gravity: [Row; 3],
}

impl Kernel {
    pub fn new(form: Form) -> Self {
        let n = form.nodes.len();
        let mut at = vec![[ZERO; 45]; n];
        for k in [0, 4, 8] {
            at[0][at::E + k] = [1.0; LANES];
        }
        Self {
            arch: Arch::new(),
            shapes: vec![[ZERO; 22]; n],
            at,
            gathered: vec![[ZERO; 27]; n],
            left: vec![[ZERO; 8]; n],
            rates: vec![[ZERO; 6]; n],
            efforts: vec![ZERO; form.drives.len()],
            q: vec![ZERO; form.columns],
            u: vec![ZERO; form.columns],
            given: vec![ZERO; form.columns],
            closing: Closing::new(&form),
            centre: [ZERO; 3],
            gravity: [ZERO; 3],
            form,
        }
    }

    /// Copies the data of a mechanism into a lane.
    pub fn enter(&mut self, lane: usize, x: &Numbers) {
        for (rows, numbers) in self.shapes.iter_mut().skip(1).zip(&x.shapes) {
            put(rows, 0, lane, numbers);
        }
        for k in 0..3 {
            self.centre[k][lane] = x.centre[k];
            self.gravity[k][lane] = x.gravity[k];
            // Gravity is an acceleration of the ground, so that no other term is needed.
            self.at[0][at::X + k][lane] = -x.centre[k];
            self.at[0][at::A + k][lane] = -x.gravity[k];
        }
        for (rows, numbers) in self.closing.data.iter_mut().zip(&x.rows) {
            put(rows, 0, lane, numbers);
        }
        for (w, x) in self.closing.weights.iter_mut().zip(&x.weights) {
            w[lane] = *x;
        }
        self.closing.ell[lane] = x.ell;
    }

    /// Closes positions and velocities, starting from predicted ones, with the drives at their values; lanes that cannot be closed are
    /// marked.
    pub fn close(&mut self, lost: &mut [bool; LANES]) {
        for q in &self.q {
            for i in 0..LANES {
                let near = q[i].abs() < FAR;
                lost[i] |= !near;
            }
        }
        if !self.form.loops.rows.is_empty() {
            let arch = self.arch;
            arch.dispatch(Close(self, lost));
        }
    }

    #[inline(always)]
    fn place<S: Simd>(&mut self, simd: S) {
        for k in 1..self.form.nodes.len() {
            let n = &self.form.nodes[k];
            let (before, here) = self.at.split_at_mut(k);
            let q = if n.joint == Joint::Weld { &ZERO } else { &self.q[n.column] };
            place(simd, n.joint, &self.shapes[k], &before[n.parent], q, &mut here[0]);
        }
    }

    #[inline(always)]
    fn close_loops<S: Simd>(&mut self, simd: S, lost: &mut [bool; LANES]) {
        self.place(simd);
        let m = self.form.loops.active;
        let mut residual = self.closing.residuals(&self.form.loops, &self.at);
        let mut open = [true; LANES];
        for round in 0..=CORRECTIONS {
            // Every correction has a new factorisation: the needs of one lane must not affect another.
            self.closing.factor(&self.form, &self.at);
            let smallest = self.closing.smallest;
            for i in 0..LANES {
                lost[i] |= !(smallest[i] > LOST) || !residual[i].is_finite();
                open[i] &= !lost[i] && !(residual[i] <= if smallest[i] < WEAK { EXACT } else { CLOSED });
            }
            if round == CORRECTIONS || !open.contains(&true) {
                break;
            }
            self.closing.corrections(m);
            for (d, &c) in self.form.loops.dependent.iter().enumerate() {
                let (q, x) = (&mut self.q[c], &self.closing.rhs[d]);
                for i in 0..LANES {
                    q[i] += if open[i] { x[i] } else { 0.0 };
                }
            }
            self.place(simd);
            let before = residual;
            residual = self.closing.residuals(&self.form.loops, &self.at);
            for i in 0..LANES {
                let slow = residual[i] > 0.3 * before[i];
                // Rounding ends the corrections; a large residual that hardly decreases may lead to another branch.
                open[i] &= !(slow && residual[i] < OPEN);
                lost[i] |= open[i] && residual[i] > CERTAIN * before[i] && residual[i] >= OPEN;
            }
        }
        for i in 0..LANES {
            lost[i] |= !(residual[i] < OPEN);
        }
        for k in 1..self.form.nodes.len() {
            let n = &self.form.nodes[k];
            let (before, here) = self.at.split_at_mut(k);
            let u = if n.joint == Joint::Weld { &ZERO } else { &self.u[n.column] };
            speed(&before[n.parent], u, &mut here[0]);
        }
        self.closing.velocities(&self.form.loops, &self.at);
        self.closing.corrections(m);
        for (d, &c) in self.form.loops.dependent.iter().enumerate() {
            let (u, x) = (&mut self.u[c], &self.closing.rhs[d]);
            for i in 0..LANES {
                u[i] += x[i];
            }
        }
    }

    /// Positions, velocities and inertial wrenches at the closed state.
    pub fn sweep(&mut self) {
        let arch = self.arch;
        arch.dispatch(Sweep(self));
    }

    #[inline(always)]
    fn sweep_nodes<S: Simd>(&mut self, simd: S) {
        for k in 1..self.form.nodes.len() {
            let n = &self.form.nodes[k];
            let (before, here) = self.at.split_at_mut(k);
            let c = n.column;
            let (q, u, rate) = if n.joint == Joint::Weld { (&ZERO, &ZERO, &ZERO) } else { (&self.q[c], &self.u[c], &self.given[c]) };
            outward(simd, n.joint, &self.shapes[k], &before[n.parent], [q, u, rate], &mut here[0]);
        }
    }

    /// Adds a wrench on a node of a lane: force at its centre and torque, in world axes.
    pub fn load(&mut self, k: usize, lane: usize, F: &V, torque: &V) {
        let node = &mut self.at[k];
        let moment = add(torque, &cross(&take(node, at::C, lane), F));
        for k in 0..3 {
            node[at::F + k][lane] += F[k];
            node[at::F + 3 + k][lane] += moment[k];
        }
    }

    /// Rates of the speeds at the swept state; those of driven columns are zero here.
    pub fn solve(&mut self, udot: &mut [Row]) {
        if self.form.loops.rows.is_empty() {
            let arch = self.arch;
            arch.dispatch(SolveTree(self, udot));
        } else {
            let arch = self.arch;
            arch.dispatch(SolveLoops(self, udot));
        }
    }

    #[inline(always)]
    fn solve_tree<S: Simd>(&mut self, simd: S, udot: &mut [Row]) {
        self.gathered.fill([ZERO; 27]);
        let nodes = &self.form.nodes;
        for k in (1..nodes.len()).rev() {
            let n = &nodes[k];
            let (before, here) = self.gathered.split_at_mut(k);
            let parent = &mut before[n.parent];
            if n.joint == Joint::Weld || n.driven {
                inward_held(simd, &self.shapes[k][15], &self.at[k], &mut here[0], parent);
            } else {
                inward(simd, &self.shapes[k][15], &self.at[k], &here[0], parent, &mut self.left[k]);
            }
        }
        for k in 1..nodes.len() {
            let n = &nodes[k];
            let (before, here) = self.rates.split_at_mut(k);
            if n.joint == Joint::Weld || n.driven {
                here[0] = before[n.parent];
                if n.driven {
                    udot[n.column] = ZERO;
                    let drive = self.form.drives.iter().position(|d| d.1 == n.column).unwrap_or(0);
                    effort(&self.at[k], &self.gathered[k], &here[0], &mut self.efforts[drive]);
                }
            } else {
                last(simd, &self.at[k], &self.left[k], &before[n.parent], &mut here[0], &mut udot[n.column]);
            }
        }
    }

    /// `out = sum w_j k_j h`, in all lanes.
    pub fn combine(&self, k: &[Vec<Row>], weights: &[(usize, f64)], h: &Row, out: &mut [Row]) {
        self.arch.dispatch(Combine { k, weights, h, out });
    }
}

// Functions dispatched by processor type must be inlined completely, which works for methods but not for closures.

struct Close<'a>(&'a mut Kernel, &'a mut [bool; LANES]);
impl WithSimd for Close<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.0.close_loops(simd, self.1);
    }
}

struct Sweep<'a>(&'a mut Kernel);
impl WithSimd for Sweep<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.0.sweep_nodes(simd);
    }
}

struct SolveTree<'a>(&'a mut Kernel, &'a mut [Row]);
impl WithSimd for SolveTree<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.0.solve_tree(simd, self.1);
    }
}

struct SolveLoops<'a>(&'a mut Kernel, &'a mut [Row]);
impl NullaryFnOnce for SolveLoops<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        self.0.solve_loops(self.1);
    }
}

struct Combine<'a> {
    k: &'a [Vec<Row>],
    weights: &'a [(usize, f64)],
    h: &'a Row,
    out: &'a mut [Row],
}
impl NullaryFnOnce for Combine<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        self.out.fill(ZERO);
        for &(j, w) in self.weights {
            let mut wh = ZERO;
            for i in 0..LANES {
                wh[i] = w * self.h[i];
            }
            for (o, x) in self.out.iter_mut().zip(&self.k[j]) {
                for i in 0..LANES {
                    o[i] += wh[i] * x[i];
                }
            }
        }
    }
}
