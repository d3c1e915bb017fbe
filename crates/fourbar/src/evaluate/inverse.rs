//! Inverse dynamics: the efforts that cause given accelerations.

use super::coordinates::Reading;
use super::matrices::{dense_rows, least_squares, null_space, particular};
use super::sharing::{Sharing, share};
use super::{Evaluation, stacked};
use crate::constraint::{ConstraintSet, Owner};
use crate::diagnostic::{Diagnostic, number};
use crate::error::Error;
use crate::force::{Actuator, Force, load};
use crate::model::JointCoordinate;
use crate::state::{Twist, Wrench};
use nalgebra::{DMatrix, DVector, Vector3};

/// Maximum number of rounds between efforts and friction loads.
const FRICTION_ROUNDS: usize = 40;
/// Force components that the efforts cannot produce, relative to the largest force, count as rounding below this.
const LEFT_OVER: f64 = 1e-7;
/// Singular values below this fraction of the largest count as zero.
const DEPENDENT: f64 = 1e-8;

/// Efforts that cause given accelerations.
#[derive(Clone, Debug, PartialEq)]
pub struct Efforts {
    /// Names of the drives, actuators and coordinates, as requested.
    pub names: Vec<String>,
    /// Torque, N m, or force, N, on the moving body of each.
    pub values: Vec<f64>,
    /// Which of them are unique. The others, shared between more motors than necessary, have least norm; torques are weighted relative to
    /// forces by the characteristic length.
    pub unique: Vec<bool>,
}

/// Efforts with information on their quality.
#[derive(Clone, Debug)]
pub struct SharedEfforts {
    /// The efforts; if none cause the accelerations, those that come nearest.
    pub efforts: Efforts,
    /// Largest force that the efforts cannot produce, along a free motion of unit length, N or N m.
    pub missing: f64,
    /// The largest acting force.
    pub size: f64,
    /// Whether the efforts are within their limits.
    pub within: bool,
    /// Conditioning of the motors for the free motions: the smallest singular value over the largest, among as many as there are motors.
    /// Efforts grow without bound as it approaches zero.
    pub grip: f64,
    /// Velocities of all bodies, ground first, in the free motion of the missing force.
    pub motion: Vec<Twist>,
}

impl SharedEfforts {
    /// Whether the efforts cause the accelerations.
    pub fn cause(&self) -> bool {
        self.missing <= LEFT_OVER * self.size
    }
}

impl Efforts {
    /// The effort with a given name.
    pub fn of(&self, name: &str) -> Option<f64> {
        self.names.iter().position(|n| n == name).map(|k| self.values[k])
    }
}

/// Element on which an effort acts.
struct Motor {
    reading: Reading,
    /// The drive whose row it replaces, or the actuator whose effort it replaces.
    drive: Option<usize>,
    actuator: Option<usize>,
}

impl Evaluation<'_> {
    /// Efforts that cause given accelerations of all bodies (ground first; [`Evaluation::accelerations_with`] computes them from those of
    /// coordinates). The efforts are those of drives, of actuators, or of fictitious motors on coordinates such as `pin.angle`, by name;
    /// all other forces act as usual. Drives that are not named hold their coordinates.
    ///
    /// ```
    /// # use fourbar::evaluate::Evaluation;
    /// # use fourbar::mechanism::{Body, GROUND, Mechanism};
    /// # use fourbar::state::Configuration;
    /// let model = Mechanism::new()
    ///     .gravity([0.0, 0.0, -9.81])
    ///     .body("rod", Body::new().mass(1.0).inertia([1e-4, 1.0 / 12.0, 1.0 / 12.0]).at([0.5, 0.0, 0.0]))
    ///     .revolute("pin", GROUND, "rod").at([0.0, 0.0, 0.0]).axis([0.0, 1.0, 0.0])
    ///     .build()?;
    /// let now = Evaluation::new(&model, &Configuration::start(&model))?;
    /// // To lift the rod with 2 rad/s^2 against its weight; about y upwards is negative.
    /// let lift = now.accelerations_with(&[("pin.angle", -2.0)])?;
    /// let efforts = now.inverse_dynamics(&lift, &["pin.angle"])?;
    /// assert!((efforts.values[0] - (-2.0 / 3.0 - 9.81 / 2.0)).abs() < 1e-12);
    /// assert!(efforts.unique[0]);
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn inverse_dynamics<N: AsRef<str>>(&self, accelerations: &[Twist], motors: &[N]) -> Result<Efforts, Error> {
        let found = self.shared_efforts(accelerations, motors, &Sharing::default())?;
        self.check_left(found.missing, found.size, &found.efforts.names)?;
        Ok(found.efforts)
    }

    /// The same with weights and limits for motors that share a load. If the motors cannot cause the accelerations the result reports this
    /// instead of an error.
    pub fn shared_efforts<N: AsRef<str>>(
        &self,
        accelerations: &[Twist],
        motors: &[N],
        sharing: &Sharing<'_>,
    ) -> Result<SharedEfforts, Error> {
        self.fits_dense()?;
        if accelerations.len() != self.model.bodies.len() {
            let message = format!("{} accelerations are given, but there are {} bodies", accelerations.len(), self.model.bodies.len());
            return Err(Diagnostic::new("U338", message).help("give one for each body, ground first").into());
        }
        let chosen: Vec<Motor> = motors.iter().map(|n| self.motor(n.as_ref())).collect::<Result<_, _>>()?;
        let names: Vec<String> = motors.iter().map(|n| n.as_ref().to_string()).collect();
        let set = self.without(&chosen);
        let J = dense_rows(self.model, &set, &self.now.q);
        let a = stacked(accelerations);
        self.check_accelerations(&set, &J, &a)?;
        let N = null_space(self.model, &J);
        // Columns: efforts in units of force, so that the smallest ones do not depend on the unit of length.
        let own = |k: usize, m: &Motor| match sharing.weights.get(k) {
            Some(w) => 1.0 / w,
            None if m.reading.angular => self.model.length,
            None => 1.0,
        };
        let scale: Vec<f64> = chosen.iter().enumerate().map(|(k, m)| own(k, m)).collect();
        let limits: Vec<f64> = sharing.limits.iter().zip(&scale).map(|(l, s)| l / s).collect();
        let mut C = DMatrix::zeros(chosen.len(), self.columns());
        for (k, m) in chosen.iter().enumerate() {
            m.reading.add_to(scale[k], &mut C, k);
        }
        let (of_accelerations, bias) = (self.mass_times(&a), self.bias());
        // The two may cancel: the remainder is compared with each of them.
        let moved = of_accelerations.amax().max(bias.amax());
        let inertia = of_accelerations + bias;
        let A = N.tr_mul(&C.transpose());
        // If friction depends on loads that are not unique, these are chosen as for the accelerations of the evaluation.
        let weights = self.weights_without(&chosen);
        let weighed = DMatrix::from_fn(J.ncols(), J.nrows(), |i, k| J[(k, i)] / weights[k]);
        let mut loads = self.loads.clone();
        loads.by_joint.fill(0.0);
        let mut last = f64::INFINITY;
        let (mut x, mut fits, mut null, mut left, mut size);
        let mut round = 0;
        loop {
            let wanted = &inertia - self.applied_without(&chosen, &loads);
            let b = N.tr_mul(&wanted);
            (x, fits, null) = share(&A, &b, &limits, DEPENDENT);
            left = &A * &x - &b;
            size = moved.max(self.applied_with(&loads).amax()).max(x.amax());
            if loads.is_empty() || round == FRICTION_ROUNDS - 1 {
                break;
            }
            // Friction depends on the reactions of this motion: J^T lambda = C^T x - wanted.
            let rest = C.tr_mul(&x) - &wanted;
            let lambda = least_squares(&weighed, &rest, DEPENDENT).component_div(&weights);
            let change = loads.update(&set, &self.now.q, lambda.as_slice());
            if round > 0 && load::rest(change, last, round) {
                break;
            }
            last = change;
            round += 1;
        }
        let grip = if A.is_empty() {
            1.0
        } else {
            let values = A.singular_values();
            values.min() / values.max().max(f64::MIN_POSITIVE)
        };
        let motion = super::by_body(&(&N * &left));
        let unique = (0..chosen.len()).map(|k| null.row(k).amax() < 1e-6).collect();
        let efforts = Efforts { names, values: x.iter().zip(&scale).map(|(x, s)| x * s).collect(), unique };
        Ok(SharedEfforts { efforts, missing: left.amax(), size, within: fits, grip, motion })
    }

    /// Accelerations of all bodies, ground first, for given second derivatives of some coordinates; all others follow. Drives of other
    /// coordinates keep their accelerations.
    pub fn accelerations_with<N: AsRef<str>>(&self, given: &[(N, f64)]) -> Result<Vec<Twist>, Error> {
        let names: Vec<&str> = given.iter().map(|(n, _)| n.as_ref()).collect();
        let c = self.coordinates(&names)?;
        let driven: Vec<Motor> = names.iter().map(|n| self.motor(n)).collect::<Result<_, _>>()?;
        let set = self.without(&driven);
        let J = dense_rows(self.model, &set, &self.now.q);
        let basis = c.motions(&null_space(self.model, &J))?;
        let mut gamma = DVector::zeros(set.rows());
        set.gamma(&self.now.q, &self.now.v, self.now.t, gamma.as_mut_slice());
        let start = particular(self.model, &J, &gamma);
        let wanted = DVector::from_iterator(given.len(), given.iter().map(|(_, y)| *y));
        let missing = wanted - &c.bias - &c.rows * &start;
        Ok(super::by_body(&(start + basis * missing)))
    }

    /// A drive, an actuator or a coordinate by name.
    fn motor(&self, name: &str) -> Result<Motor, Error> {
        let of = |joint: usize, which: JointCoordinate| {
            let key = if which == JointCoordinate::Angle { "angle" } else { "distance" };
            self.reading(&format!("{}.{key}", self.model.joints[joint].name))
        };
        if let Some(k) = self.model.drives.iter().position(|d| d.name == name) {
            let d = &self.model.drives[k];
            return Ok(Motor { reading: of(d.joint, d.coordinate)?, drive: Some(k), actuator: None });
        }
        if let Some(k) = self.model.forces.iter().position(|(n, _)| n == name)
            && let Force::Actuator(Actuator { joint, .. }) = &self.model.forces[k].1
        {
            let angle = self.model.joints[*joint].kind.has_angle();
            let which = if angle { JointCoordinate::Angle } else { JointCoordinate::Distance };
            return Ok(Motor { reading: of(*joint, which)?, drive: None, actuator: Some(k) });
        }
        let driven = |d: &crate::model::Drive| {
            let key = if d.coordinate == JointCoordinate::Angle { "angle" } else { "distance" };
            name == format!("{}.{key}", self.model.joints[d.joint].name)
        };
        Ok(Motor { reading: self.reading(name)?, drive: self.model.drives.iter().position(driven), actuator: None })
    }

    /// All constraints except those of the drives among the given motors.
    fn without(&self, motors: &[Motor]) -> ConstraintSet {
        ConstraintSet::new(self.set.list.iter().filter(|c| !released(motors, c.owner)).cloned().collect(), |_| false)
    }

    /// Square roots of the compliances of these rows.
    fn weights_without(&self, motors: &[Motor]) -> DVector<f64> {
        let held = self.set.list.iter().enumerate().filter(|(_, c)| !released(motors, c.owner));
        let rows = held.flat_map(|(c, _)| self.set.row_start[c]..self.set.row_start[c + 1]);
        let weights: Vec<f64> = rows.map(|r| self.compliance[r].max(f64::MIN_POSITIVE).sqrt()).collect();
        DVector::from_vec(weights)
    }

    /// Applied forces except those of the actuators among the given motors.
    fn applied_without(&self, motors: &[Motor], loads: &load::NormalLoads) -> DVector<f64> {
        let mut f = vec![Wrench::zero(); self.model.bodies.len()];
        for m in motors.iter().filter_map(|m| m.actuator) {
            self.model.forces[m].1.wrench(self.model, &self.plain(loads), &mut |b, F, T| {
                f[b].F += F;
                f[b].T += T;
            });
        }
        self.applied_with(loads) - stacked(&f)
    }

    /// Checks that the joints and holding drives permit the accelerations.
    fn check_accelerations(&self, set: &ConstraintSet, J: &DMatrix<f64>, a: &DVector<f64>) -> Result<(), Error> {
        let mut gamma = DVector::zeros(set.rows());
        set.gamma(&self.now.q, &self.now.v, self.now.t, gamma.as_mut_slice());
        let Ja = J * a;
        // Centripetal accelerations are included in the scale: they cancel in the rows of a steady motion.
        let L = self.model.length;
        let size = self.now.v.iter().map(|v| v.v.norm_squared() / L + L * v.w.norm_squared()).fold(gamma.amax(), f64::max);
        // So are the accelerations of free bodies: in a rigid mechanism nothing else remains.
        let applied = self.applied();
        let bodies = applied.as_slice().chunks_exact(6).zip(&self.model.bodies[1..]);
        let size = bodies.map(|(f, b)| Vector3::new(f[0], f[1], f[2]).norm() / b.mass).fold(size, f64::max);
        let size = super::by_body(a).iter().map(|a| a.v.norm() + L * a.w.norm()).fold(size, f64::max);
        let worst = (0..gamma.len()).max_by(|&i, &k| (Ja[i] - gamma[i]).abs().total_cmp(&(Ja[k] - gamma[k]).abs()));
        let Some(row) = worst.filter(|&k| (Ja[k] - gamma[k]).abs().partial_cmp(&(LEFT_OVER * size)).is_none_or(|o| o.is_gt())) else {
            return Ok(());
        };
        let name = &set.list[set.constraint_of_row(row)].name;
        let message = format!("the accelerations open `{name}` by {} m/s^2", number((Ja[row] - gamma[row]).abs()));
        let d = Diagnostic::new("U338", message)
            .name(name)
            .help("`accelerations_with` computes consistent accelerations from those of coordinates");
        Err(d.into())
    }

    /// Checks that the efforts cause the accelerations.
    fn check_left(&self, left: f64, size: f64, names: &[String]) -> Result<(), Error> {
        if left <= LEFT_OVER * size {
            return Ok(());
        }
        let message = format!("these efforts cannot cause the accelerations: forces of {} are left over", number(left));
        Err(Diagnostic::new("U338", message).names(names.to_vec()).help("name a motor for every free motion that is to be moved").into())
    }
}

/// Whether a constraint is the drive replaced by one of the motors.
fn released(motors: &[Motor], owner: Owner) -> bool {
    matches!(owner, Owner::Drive(k) if motors.iter().any(|m| m.drive == Some(k)))
}
