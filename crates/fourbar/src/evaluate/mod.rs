//! Evaluations at a state, without a run: accelerations, multipliers and reactions, energies, the matrices of the equations of motion,
//! free motions, independent coordinates and inverse dynamics.
//!
//! Velocities and accelerations of all moving bodies form one vector with six numbers per body: velocity of the centre of mass in world
//! axes, then angular velocity in body axes. In these terms the equations of motion are
//!
//! ```text
//! M a + h = Q - J^T lambda,    J v = nu,    J a = gamma
//! ```
//!
//! with the mass matrix `M`, the gyroscopic torques `h`, applied forces `Q` (gravity and all force elements), and the Jacobian `J` of all
//! constraints, drives included. Matrices are dense, and functions that need the rank of `J` cost the cube of its size.
//!
//! ```
//! use fourbar::evaluate::Evaluation;
//! use fourbar::mechanism::{Body, GROUND, Mechanism};
//! use fourbar::state::Configuration;
//!
//! // A rod of 1 kg and 1 m, hinged at its end and held level.
//! let model = Mechanism::new()
//!     .gravity([0.0, 0.0, -9.81])
//!     .body("rod", Body::new().mass(1.0).inertia([1e-4, 1.0 / 12.0, 1.0 / 12.0]).at([0.5, 0.0, 0.0]))
//!     .revolute("pin", GROUND, "rod").at([0.0, 0.0, 0.0]).axis([0.0, 1.0, 0.0])
//!     .build()?;
//! let now = Evaluation::new(&model, &Configuration::start(&model))?;
//! // It falls with 3 g / 2 at its tip, and the pin carries a quarter of its weight.
//! let alpha = now.joint_acceleration("pin.angle")?;
//! assert!((alpha - 1.5 * 9.81).abs() < 1e-12);
//! assert!((now.reaction("pin")?.force.z - 9.81 / 4.0).abs() < 1e-12);
//! # Ok::<(), fourbar::Error>(())
//! ```

mod coordinates;
mod inverse;
mod matrices;
mod reduced;
mod sharing;

pub use coordinates::Coordinates;
pub use inverse::{Efforts, SharedEfforts};
pub use matrices::{Row, dense_rows};
pub use reduced::Reduced;
pub use sharing::Sharing;

use crate::absolute::equations::{COMPLIANCE, Equations};
use crate::analysis::assembly::fits;
use crate::analysis::contacts::refuse_rigid;
use crate::constraint::ConstraintSet;
use crate::diagnostic::{Diagnostic, number};
use crate::error::Error;
use crate::force::eval::{self, Plain};
use crate::force::load::NormalLoads;
use crate::model::Model;
use crate::motion::{Instant, Reaction};
use crate::snapshot::{Energy, Snapshot};
use crate::state::{Configuration, Twist, Wrench};
use crate::structure::Structure;
use crate::trajectory::energies;
use nalgebra::DVector;
use std::borrow::Cow;

/// A mechanism at a state, with its accelerations and reactions there.
///
/// The state should be consistent, with closed joints and compatible velocities, like every state of a [`crate::Simulation`]: elsewhere the
/// constraints are used as they are at the state, which gives their tangent there.
#[derive(Clone, Debug)]
pub struct Evaluation<'m> {
    model: &'m Model,
    /// State, accelerations, reactions and efforts.
    now: Instant,
    /// All constraints, drives included.
    set: ConstraintSet,
    /// Multipliers of its rows.
    lambda: Vec<f64>,
    /// Compliance by row: multipliers that are not unique are chosen so that they store the least energy in it.
    compliance: Vec<f64>,
    /// Loads of joints with dry friction.
    loads: NormalLoads,
}

impl<'m> Evaluation<'m> {
    /// Evaluates a mechanism at a state.
    pub fn new(model: &'m Model, state: &Configuration) -> Result<Self, Error> {
        fits(model, state)?;
        refuse_rigid(model)?;
        let mut e = Equations::new(model, state);
        if e.set.choose(state.t) {
            // The compliance belongs to the rows in force at this time.
            e.jacobian(&state.q);
            e.p.schur.G.copy_from_slice(&e.G);
            e.p.schur.form(&e.p.inverse, 1.0);
            e.p.schur.diagonal(&mut e.eps);
            e.eps.iter_mut().for_each(|x| *x *= COMPLIANCE);
        }
        let mut now = Instant::new(model, state);
        let mut lambda = vec![0.0; e.set.rows()];
        let Configuration { t, q, v, turns, .. } = state;
        e.accelerate((q, v, turns, *t), None, true, &mut now.a, &mut lambda);
        let finite = now.a.iter().map(|a| a.v.sum() + a.w.sum()).sum::<f64>() + lambda.iter().sum::<f64>();
        if !finite.is_finite() {
            let d = Diagnostic::new("S250", format!("at t = {} s the accelerations are not finite numbers", number(*t)));
            return Err(d.time(*t).help("a force or a drive has no finite value at this state").into());
        }
        now.errors = e.errors(q, v, &now.a, turns, *t);
        Structure::new(model, state).reactions(q).fill(model, &e.set, &lambda, &mut now);
        Ok(Self { model, now, lambda, compliance: e.eps, loads: e.loads, set: e.set })
    }

    /// The mechanism.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// All results together, in the form for recorders; the work is zero.
    pub fn instant(&self) -> &Instant {
        &self.now
    }

    /// All results by name: poses, velocities, accelerations, coordinates, reactions, efforts.
    pub fn snapshot(&self) -> Snapshot<'_> {
        Snapshot::new(self.model, Cow::Borrowed(&self.now))
    }

    /// Accelerations by body, ground first: linear in the world, m/s^2, angular in body axes, rad/s^2.
    ///
    /// ```
    /// use fourbar::evaluate::Evaluation;
    /// # use fourbar::mechanism::{Body, Mechanism};
    /// # use fourbar::state::Configuration;
    /// let model = Mechanism::new().gravity([0.0, 0.0, -9.81]).body("stone", Body::new()).build()?;
    /// let now = Evaluation::new(&model, &Configuration::start(&model))?;
    /// assert_eq!(now.accelerations()[1].v.z, -9.81);
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn accelerations(&self) -> &[Twist] {
        &self.now.a
    }

    /// Multipliers of the rows of [`Evaluation::jacobian`]: the constraints act on the bodies by `-J^T lambda`. Rows of rotations are
    /// scaled by the characteristic length, so that every multiplier is a force. With redundant constraints they are one of many choices;
    /// reactions are the smallest.
    pub fn multipliers(&self) -> &[f64] {
        &self.lambda
    }

    /// Reaction of a joint on its moving body at its joint-frame origin, world axes: N and N m.
    pub fn reaction(&self, joint: &str) -> Result<Reaction, Error> {
        let s = self.snapshot().joint(joint)?;
        Ok(Reaction { force: s.force, torque: s.torque })
    }

    /// Reactions of all joints by name.
    ///
    /// ```
    /// # use fourbar::evaluate::Evaluation;
    /// # use fourbar::mechanism::{Body, GROUND, Mechanism};
    /// # use fourbar::state::Configuration;
    /// let model = Mechanism::new()
    ///     .gravity([0.0, 0.0, -9.81])
    ///     .body("lamp", Body::new().mass(2.0))
    ///     .fixed("hook", GROUND, "lamp").at([0.0, 0.0, 0.0])
    ///     .build()?;
    /// let now = Evaluation::new(&model, &Configuration::start(&model))?;
    /// for (joint, reaction) in now.reactions() {
    ///     assert_eq!(joint, "hook");
    ///     assert!((reaction.force.z - 2.0 * 9.81).abs() < 1e-12);
    /// }
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn reactions(&self) -> impl Iterator<Item = (&'m str, Reaction)> + '_ {
        self.model.joints.iter().zip(&self.now.reactions).map(|(j, w)| (j.name.as_str(), *w))
    }

    /// Kinetic and potential energy, J; the work is zero.
    ///
    /// ```
    /// # use fourbar::evaluate::Evaluation;
    /// # use fourbar::mechanism::{Body, Mechanism};
    /// # use fourbar::state::Configuration;
    /// let stone = Body::new().mass(2.0).at([0.0, 0.0, 3.0]).velocity([1.0, 0.0, 0.0]);
    /// let model = Mechanism::new().gravity([0.0, 0.0, -10.0]).body("stone", stone).build()?;
    /// let energy = Evaluation::new(&model, &Configuration::start(&model))?.energy();
    /// assert_eq!((energy.kinetic, energy.potential), (1.0, 60.0));
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn energy(&self) -> Energy {
        let (kinetic, potential) = energies(self.model, &self.now);
        Energy { kinetic, potential, work: 0.0 }
    }

    /// Power of the drives, of time-dependent constraints, and of forces without a potential, W: the rate of the total energy.
    pub fn power(&self) -> f64 {
        let mut nu = vec![0.0; self.set.rows()];
        self.set.nu(self.now.t, &mut nu);
        let driven: f64 = self.lambda.iter().zip(&nu).map(|(l, n)| -l * n).sum();
        driven + eval::power(self.model, &self.plain(&self.loads))
    }

    /// The state for the force laws.
    fn plain<'a>(&'a self, loads: &'a NormalLoads) -> Plain<'a> {
        let s = &self.now;
        Plain { t: s.t, q: &s.q, v: &s.v, turns: &s.turns, loads: &loads.by_joint, z: &s.z }
    }

    /// Applied forces with given friction loads.
    fn applied_with(&self, loads: &NormalLoads) -> DVector<f64> {
        let mut f = vec![Wrench::zero(); self.model.bodies.len()];
        eval::applied(self.model, &self.plain(loads), &mut f);
        stacked(&f)
    }
}

/// Velocities, accelerations ([`Twist`]) or forces ([`crate::Wrench`]) of the moving bodies as one vector.
pub fn stacked<X: Copy + Into<[f64; 6]>>(list: &[X]) -> DVector<f64> {
    DVector::from_iterator(6 * (list.len() - 1), list.iter().skip(1).flat_map(|x| (*x).into()))
}

/// Velocities or accelerations by body, ground first, from one vector.
pub fn by_body(x: &DVector<f64>) -> Vec<Twist> {
    let body = |x: &[f64]| Twist { v: [x[0], x[1], x[2]].into(), w: [x[3], x[4], x[5]].into() };
    std::iter::once(Twist::zero()).chain(x.as_slice().chunks_exact(6).map(body)).collect()
}
