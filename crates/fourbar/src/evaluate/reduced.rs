//! The equations of motion without constraint forces, in as many unknowns as there are free motions.

use super::matrices::{null_space, particular};
use super::{Evaluation, by_body};
use crate::error::Error;
use crate::state::Twist;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Eigenvalues of a mass matrix below this fraction of the largest belong to motions without inertia.
const MASSLESS: f64 = 1e-13;

/// `mass u' + bias = force`, with the accelerations `a = basis u' + offset` of all bodies.
///
/// `u` are the rates of independent coordinates, or the components along an orthonormal basis of the free motions.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// Names of the coordinates; empty for a basis of free motions.
    pub names: Vec<String>,
    /// Free motions, one column per coordinate.
    pub basis: DMatrix<f64>,
    /// Accelerations of all bodies required by the constraints when `u'` is zero.
    pub offset: DVector<f64>,
    /// Mass matrix `B^T M B`.
    pub mass: DMatrix<f64>,
    /// Bias forces `B^T (h + M offset)`: centrifugal, Coriolis and gyroscopic terms, and those of prescribed accelerations.
    pub bias: DVector<f64>,
    /// Applied forces `B^T Q`.
    pub force: DVector<f64>,
    /// Square roots of the inertias of the coordinates if all bodies had the characteristic length as radius of gyration.
    usual: DVector<f64>,
}

impl Reduced {
    /// `u'`: second derivatives of the coordinates; zero along motions without inertia, such as the spin of a point mass.
    pub fn rates(&self) -> DVector<f64> {
        let b = &self.force - &self.bias;
        if b.is_empty() {
            return b;
        }
        // Scaled so that the definition of massless does not depend on units or on light bodies.
        let d = self.usual.map(|x| if x > 0.0 { 1.0 / x } else { 1.0 });
        let scaled = DMatrix::from_fn(d.len(), d.len(), |i, j| self.mass[(i, j)] * d[i] * d[j]);
        let e = SymmetricEigen::new(scaled);
        let top = e.eigenvalues.amax();
        let y = e.eigenvectors.tr_mul(&b.component_mul(&d));
        let y = y.zip_map(&e.eigenvalues, |y, l| if l > MASSLESS * top { y / l } else { 0.0 });
        (e.eigenvectors * y).component_mul(&d)
    }

    /// Accelerations by body, ground first.
    pub fn accelerations(&self) -> Vec<Twist> {
        by_body(&(&self.basis * self.rates() + &self.offset))
    }
}

impl Evaluation<'_> {
    /// The equations of motion along an orthonormal basis of the free motions, [`Evaluation::free_motions`]: mass matrix `N^T M N`.
    pub fn reduced(&self) -> Result<Reduced, Error> {
        let free = self.free_motions()?;
        // The least accelerations that satisfy J a = gamma, in lengths; their components along free motions have no effect.
        let offset = particular(self.model, &self.jacobian()?, &self.acceleration_terms());
        Ok(self.reduced_to(Vec::new(), free, offset))
    }

    /// The equations of motion in independent coordinates by name: their mass matrix, bias forces and generalized forces.
    ///
    /// ```
    /// # use fourbar::evaluate::Evaluation;
    /// # use fourbar::mechanism::{Body, GROUND, Mechanism};
    /// # use fourbar::state::Configuration;
    /// // A rod of mass m and length l on a pin: m l^2 / 3 about it, and half its weight times its length.
    /// let (m, l) = (3.0, 2.0);
    /// let model = Mechanism::new()
    ///     .gravity([0.0, 0.0, -9.81])
    ///     .body("rod", Body::new().mass(m).inertia([1e-4, m * l * l / 12.0, m * l * l / 12.0]).at([l / 2.0, 0.0, 0.0]))
    ///     .revolute("pin", GROUND, "rod").at([0.0, 0.0, 0.0]).axis([0.0, 1.0, 0.0])
    ///     .build()?;
    /// let now = Evaluation::new(&model, &Configuration::start(&model))?;
    /// let equation = now.reduced_in(&["pin.angle"])?;
    /// assert!((equation.mass[(0, 0)] - m * l * l / 3.0).abs() < 1e-12);
    /// assert!((equation.force[0] - m * 9.81 * l / 2.0).abs() < 1e-12);
    /// assert!((equation.rates()[0] - now.joint_acceleration("pin.angle")?).abs() < 1e-12);
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn reduced_in<N: AsRef<str>>(&self, names: &[N]) -> Result<Reduced, Error> {
        let c = self.coordinates(names)?;
        let J = self.jacobian()?;
        let basis = c.motions(&null_space(self.model, &J))?;
        // J offset = gamma with constant rates of the coordinates: C offset + bias = 0.
        let offset = particular(self.model, &J, &self.acceleration_terms());
        let still = &c.rows * &offset + &c.bias;
        let offset = &offset - &basis * still;
        Ok(self.reduced_to(c.names, basis, offset))
    }

    /// Inertia of a motion if all bodies had the characteristic length as radius of gyration.
    fn usual_inertia(&self, motion: &DVector<f64>) -> f64 {
        let L2 = self.model.length * self.model.length;
        let bodies = by_body(motion);
        bodies.iter().zip(&self.model.bodies).map(|(x, b)| b.mass * (x.v.norm_squared() + L2 * x.w.norm_squared())).sum()
    }

    fn reduced_to(&self, names: Vec<String>, basis: DMatrix<f64>, offset: DVector<f64>) -> Reduced {
        let columns: Vec<DVector<f64>> = basis.column_iter().map(|b| self.mass_times(&b.into_owned())).collect();
        let mass = match columns.is_empty() {
            true => DMatrix::zeros(0, 0),
            false => basis.tr_mul(&DMatrix::from_columns(&columns)),
        };
        // Made exactly symmetric.
        let mass = (&mass + mass.transpose()) * 0.5;
        let bias = basis.tr_mul(&(self.bias() + self.mass_times(&offset)));
        let force = basis.tr_mul(&self.applied());
        let usual = basis.column_iter().map(|b| self.usual_inertia(&b.into_owned()).sqrt());
        let usual = DVector::from_iterator(basis.ncols(), usual);
        Reduced { names, basis, offset, mass, bias, force, usual }
    }
}
