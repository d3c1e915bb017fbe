//! The state of a lane as read by forces and as recorded.

use crate::kernel::Kernel;
use crate::passes::{add, at, cross, six, take};
use crate::prepare::Case;
use fourbar::diagnostic::Diagnostic;
use fourbar::force::eval::{self, Plain};
use fourbar::formulation::grcr::errors;
use fourbar::formulation::grcr::reaction;
use fourbar::state::{Pose, Twist};
use fourbar::study::Observer;
use nalgebra::{Matrix3, Vector3};

impl Case<'_> {
    /// Copies poses and velocities of all bodies of a swept lane into the instant.
    fn look(&mut self, kernel: &Kernel, lane: usize) {
        for (k, n) in kernel.form.nodes.iter().enumerate().skip(1) {
            let node = &kernel.at[k];
            let (c, V) = (take::<3, 45>(node, at::C, lane), six(node, at::V, lane));
            let A = Matrix3::from_row_slice(&take::<9, 45>(node, at::E, lane)) * self.own[k].transpose();
            let r = Vector3::from_fn(|i, _| c[i] + kernel.centre[i][lane]);
            let w = Vector3::from(V.1);
            self.now.q[n.body] = Pose { r, A };
            self.now.v[n.body] = Twist { v: Vector3::from(add(&V.0, &cross(&V.1, &c))), w: A.tr_mul(&w) };
        }
    }

    fn plain(&self, t: f64) -> Plain<'_> {
        Plain { t, q: &self.now.q, v: &self.now.v, turns: &self.turns, loads: &self.no_loads, z: &self.now.z }
    }

    /// Applies the forces of the model to the nodes of a swept lane.
    pub fn apply(&mut self, kernel: &mut Kernel, lane: usize, t: f64) {
        self.look(kernel, lane);
        let x = self.plain(t);
        for (_, force) in &self.model.forces {
            force.wrench(self.model, &x, &mut |b, F: Vector3<f64>, T: Vector3<f64>| {
                if b != 0 {
                    let k = self.mechanism.tree.of_body[b];
                    kernel.load(k, lane, &F.into(), &(self.now.q[b].A * T).into());
                }
            });
        }
    }

    /// Power of drives and of forces without a potential at the evaluated state.
    pub fn power(&self, kernel: &Kernel, lane: usize, t: f64) -> f64 {
        let drives = kernel.form.drives.iter().zip(&kernel.efforts);
        let power: f64 = drives.map(|((_, column), e)| e[lane] * kernel.u[*column][lane]).sum();
        if kernel.form.loaded { power + eval::power(self.model, &self.plain(t)) } else { power }
    }

    /// Updates counted angles from the state of a swept lane.
    pub fn count_turns(&mut self, kernel: &Kernel, lane: usize) {
        let mut looked = false;
        for (memory, column) in kernel.form.counted.iter().enumerate() {
            self.turns[memory] = match column {
                Some(c) => kernel.q[*c][lane],
                None => {
                    if !std::mem::replace(&mut looked, true) {
                        self.look(kernel, lane);
                    }
                    let a = &self.model.angles[memory];
                    let [i, j] = a.bodies.map(|b| &self.now.q[b.index()]);
                    a.value(i, j, self.turns[memory])
                }
            };
        }
    }

    /// Passes the row of an evaluated lane to its observer; `false` if the row is invalid.
    pub fn record(
        &mut self,
        kernel: &Kernel,
        lane: usize,
        t: f64,
        work: f64,
        observer: &mut dyn Observer,
        (row, warnings): (&mut Vec<f64>, &mut Vec<Diagnostic>),
    ) -> bool {
        self.look(kernel, lane);
        for (k, n) in kernel.form.nodes.iter().enumerate().skip(1) {
            let (c, V, a, x) = (
                take::<3, 45>(&kernel.at[k], at::C, lane),
                six(&kernel.at[k], at::V, lane),
                six(&kernel.at[k], at::A, lane),
                six(&kernel.rates[k], 0, lane),
            );
            let (l, alpha) = (add(&a.0, &x.0), add(&a.1, &x.1));
            let v = add(&V.0, &cross(&V.1, &c));
            let of_centre = add(&add(&l, &cross(&alpha, &c)), &cross(&V.1, &v));
            let gravity = Vector3::from_fn(|i, _| kernel.gravity[i][lane]);
            let w = self.now.q[n.body].A.tr_mul(&Vector3::from(alpha));
            self.now.a[n.body] = Twist { v: Vector3::from(of_centre) + gravity, w };
        }
        for (memory, column) in kernel.form.counted.iter().enumerate() {
            let a = &self.model.angles[memory];
            let [i, j] = a.bodies.map(|b| &self.now.q[b.index()]);
            self.now.turns[memory] = column.map_or_else(|| a.value(i, j, self.turns[memory]), |c| kernel.q[c][lane]);
        }
        (self.now.t, self.now.work) = (t, work);
        if self.wanted.loads {
            for ((drive, _), e) in kernel.form.drives.iter().zip(&kernel.efforts) {
                self.now.efforts[*drive] = e[lane];
            }
        }
        if self.wanted.reactions {
            self.react(kernel, lane, t);
        }
        if self.wanted.errors {
            errors(&mut self.judge.set, &mut self.G, &mut self.rows, &mut self.now);
        }
        let good = self.judge.look(&self.now, f64::NAN, None).is_ok() && self.watch.look(self.model, &self.now, warnings).is_ok();
        row.clear();
        self.recorder.row(self.model, &self.now, row);
        let good = good && row.iter().all(|x| x.is_finite());
        if good {
            observer.row(row);
        }
        good
    }

    /// Reactions of the joints, computed for each mechanism separately.
    fn react(&mut self, kernel: &Kernel, lane: usize, t: f64) {
        let m = &mut self.mechanism;
        let q: Vec<f64> = kernel.q.iter().map(|x| x[lane]).collect();
        let u: Vec<f64> = kernel.u.iter().map(|x| x[lane]).collect();
        m.turns.copy_from_slice(&self.turns);
        m.take(t, &q, &u);
        m.accelerate(t);
        m.globals();
        reaction::fill(m, &self.loads, &mut self.now);
    }
}
