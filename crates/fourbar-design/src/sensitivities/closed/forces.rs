//! Derivatives of forces with respect to the bodies that they depend on and to parameters, for the backward pass.

use super::super::given::{Changed, LOOKS, Look, Of, Varied};
use super::rows::Pull;
use fourbar::Model;
use fourbar::force::eval::{Given, Plain};
use fourbar::state::{Pose, Twist, Wrench};
use nalgebra::Vector3;

type V = Vector3<f64>;

/// A force on the body `on`: derivatives of force and torque with respect to the state of the body `by`.
struct Push {
    on: usize,
    by: usize,
    F: [[f64; LOOKS]; 3],
    T: [[f64; LOOKS]; 3],
}

/// Derivatives of all forces at one evaluation.
#[derive(Default)]
pub struct Pushes {
    list: Vec<Push>,
    /// Derivatives by parameters: parameter, body, and wrench.
    data: Vec<(usize, usize, Wrench)>,
}

impl Pushes {
    /// Evaluates the derivatives of the forces at a state.
    pub fn note(&mut self, model: &Model, bodies: &[Vec<usize>], changed: &[Changed], at: Plain<'_>) {
        self.list.clear();
        self.data.clear();
        let plain = Given { plain: at, load: Some(0.0), counted: None };
        for ((_, force), read) in model.forces.iter().zip(bodies) {
            for &by in read {
                let state = Varied { plain, of: Of::Body(by), w: at.q[by].A * at.v[by].w };
                force.wrench(model, &state, &mut |on, F: Vector3<Look>, T: Vector3<Look>| {
                    if on != 0 {
                        self.list.push(Push { on, by, F: std::array::from_fn(|i| F[i].d), T: std::array::from_fn(|i| T[i].d) });
                    }
                });
            }
        }
        for Changed { parameter, around, per, forces } in changed {
            for (_, weight, m) in around.each() {
                for &f in forces {
                    m.forces[f].1.wrench(m, &plain, &mut |b, F: V, T: V| {
                        if b != 0 {
                            self.data.push((*parameter, b, Wrench { F, T }.scaled(weight * per)));
                        }
                    });
                }
            }
        }
    }

    /// Adds the derivatives of the virtual work of the forces.
    pub fn back(&self, (q, v): (&[Pose], &[Twist]), x: &[Twist], pulls: &mut [Pull], by_parameter: &mut [f64]) {
        for p in &self.list {
            let on = &x[p.on];
            let by: [f64; LOOKS] = std::array::from_fn(|l| (0..3).map(|i| on.v[i] * p.F[i][l] + on.w[i] * p.T[i][l]).sum());
            let part = |k: usize| [by[3 * k], by[3 * k + 1], by[3 * k + 2]];
            pulls[p.by].add(&Pull::of_world(&[part(0), part(1), part(2), part(3)], &q[p.by], &v[p.by]), 1.0);
        }
        for (parameter, b, wrench) in &self.data {
            by_parameter[*parameter] += wrench.power(&x[*b]);
        }
    }
}
