//! Mass matrix, Jacobian, bias and applied forces, free motions.

use super::{Evaluation, stacked};
use crate::analysis::rank::TOLERANCE;
use crate::constraint::{ConstraintSet, Owner};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::model::Model;
use crate::state::{Pose, Twist, Wrench};
use fourbar_math::dense;
use nalgebra::{DMatrix, DVector};

/// Maximum number of columns or rows of a dense matrix; one of this size takes 200 MB and minutes.
const MOST: usize = 5000;

/// The element of a row of the Jacobian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name of the joint, coupling, constraint or drive.
    pub element: String,
    /// Number of the row in the element, from zero.
    pub number: usize,
    /// The kind of element and its place in the model.
    pub owner: Owner,
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.element, self.number)
    }
}

impl Evaluation<'_> {
    /// Number of velocity components of the whole mechanism: six per moving body.
    pub fn columns(&self) -> usize {
        6 * self.model.moving()
    }

    /// Refuses dense matrices that exceed the memory.
    pub(super) fn fits_dense(&self) -> Result<(), Error> {
        let size = self.columns().max(self.set.rows());
        if size <= MOST {
            return Ok(());
        }
        let message = format!("the matrices of this mechanism have {size} rows or columns; dense ones have at most {MOST}");
        Err(Diagnostic::new("U337", message).help("accelerations, reactions and energies can be evaluated at any size").into())
    }

    /// Mass matrix of all moving bodies: masses, and inertias about the centres of mass in body axes.
    ///
    /// ```
    /// # use fourbar::evaluate::Evaluation;
    /// # use fourbar::mechanism::{Body, Mechanism};
    /// # use fourbar::state::Configuration;
    /// let model = Mechanism::new().body("top", Body::new().mass(2.0).inertia([0.1, 0.2, 0.25])).build()?;
    /// let M = Evaluation::new(&model, &Configuration::start(&model))?.mass_matrix()?;
    /// assert_eq!(M.diagonal().as_slice(), [2.0, 2.0, 2.0, 0.1, 0.2, 0.25]);
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn mass_matrix(&self) -> Result<DMatrix<f64>, Error> {
        self.fits_dense()?;
        let mut M = DMatrix::zeros(self.columns(), self.columns());
        for (k, b) in self.model.bodies.iter().skip(1).enumerate() {
            for i in 0..3 {
                M[(6 * k + i, 6 * k + i)] = b.mass;
            }
            M.fixed_view_mut::<3, 3>(6 * k + 3, 6 * k + 3).copy_from(&b.J_bar);
        }
        Ok(M)
    }

    /// Mass matrix times a vector.
    pub(super) fn mass_times(&self, a: &DVector<f64>) -> DVector<f64> {
        let bodies = super::by_body(a).into_iter().zip(&self.model.bodies);
        stacked(&bodies.map(|(a, b)| Wrench { F: a.v * b.mass, T: b.J_bar * a.w }).collect::<Vec<_>>())
    }

    /// Jacobian of all constraints, including drives and rolling. Rows of rotations are scaled by the characteristic length.
    ///
    /// ```
    /// # use fourbar::evaluate::{Evaluation, stacked};
    /// # use fourbar::state::Configuration;
    /// let model = fourbar_io::load("fourbar")?;
    /// let state = fourbar::analysis::assembly::assemble(&model)?.configuration;
    /// let now = Evaluation::new(&model, &state)?;
    /// let (J, rows) = (now.jacobian()?, now.rows());
    /// assert_eq!((J.shape(), rows.len()), ((21, 18), 21));
    /// assert_eq!((rows[0].to_string().as_str(), rows[20].to_string().as_str()), ("O.0", "motor.0"));
    /// // The velocities of a consistent state meet the velocity constraints: J v = nu.
    /// assert!((J * stacked(&state.v) - now.velocity_terms()).amax() < 1e-12);
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn jacobian(&self) -> Result<DMatrix<f64>, Error> {
        self.fits_dense()?;
        Ok(dense_rows(self.model, &self.set, &self.now.q))
    }

    /// The elements of the rows of [`Evaluation::jacobian`], in their order.
    pub fn rows(&self) -> Vec<Row> {
        let rows = self.set.list.iter().flat_map(|c| (0..c.count()).map(move |number| (c, number)));
        rows.map(|(c, number)| Row { element: c.name.clone(), number, owner: c.owner }).collect()
    }

    /// Right-hand side `nu` of the velocity constraints `J v = nu`.
    pub fn velocity_terms(&self) -> DVector<f64> {
        let mut nu = DVector::zeros(self.set.rows());
        self.set.nu(self.now.t, nu.as_mut_slice());
        nu
    }

    /// Right-hand side `gamma` of the acceleration constraints `J a = gamma`.
    pub fn acceleration_terms(&self) -> DVector<f64> {
        let mut gamma = DVector::zeros(self.set.rows());
        self.set.gamma(&self.now.q, &self.now.v, self.now.t, gamma.as_mut_slice());
        gamma
    }

    /// Bias forces `h`, the inertia forces without acceleration: the gyroscopic torques `omega x J omega` in body axes.
    ///
    /// ```
    /// # use fourbar::evaluate::{Evaluation, stacked};
    /// let model = fourbar_io::load("lie_heavy_top")?;
    /// let state = fourbar::analysis::assembly::assemble(&model)?.configuration;
    /// let now = Evaluation::new(&model, &state)?;
    /// // M a + h = Q - J^T lambda
    /// let left = now.mass_matrix()? * stacked(now.accelerations()) + now.bias();
    /// let right = now.applied() - now.jacobian()?.transpose() * nalgebra::DVector::from_column_slice(now.multipliers());
    /// assert!((&left - right).amax() < 1e-9 * left.amax());
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn bias(&self) -> DVector<f64> {
        let torque = |(b, v): (&crate::model::Body, &Twist)| Wrench { F: Default::default(), T: v.w.cross(&(b.J_bar * v.w)) };
        stacked(&self.model.bodies.iter().zip(&self.now.v).map(torque).collect::<Vec<_>>())
    }

    /// Applied forces `Q`: gravity and all force elements, at the centres of mass, torques in body axes. Dry friction uses the loads at the
    /// accelerations of this evaluation.
    pub fn applied(&self) -> DVector<f64> {
        self.applied_with(&self.loads)
    }

    /// An orthonormal basis `N` of the motions that all constraints leave free, one per column: `J N = 0`, `N^T N = 1`. Redundant
    /// constraints need no special treatment. The rank is decided with rotations multiplied by the characteristic length.
    ///
    /// ```
    /// # use fourbar::evaluate::Evaluation;
    /// // Bricard's linkage has one free motion, though a count of its freedoms finds none.
    /// let model = fourbar_io::load("a04_bricard")?;
    /// let state = fourbar::analysis::assembly::assemble(&model)?.configuration;
    /// let N = Evaluation::new(&model, &state)?.free_motions()?;
    /// assert_eq!(N.ncols(), 1);
    /// assert!((N.norm() - 1.0).abs() < 1e-14);
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn free_motions(&self) -> Result<DMatrix<f64>, Error> {
        let J = self.jacobian()?;
        Ok(null_space(self.model, &J))
    }
}

/// The unscaled Jacobian of a set of constraints, six columns per moving body.
pub fn dense_rows(model: &Model, set: &ConstraintSet, q: &[Pose]) -> DMatrix<f64> {
    let mut G = vec![0.0; set.values];
    set.jacobian(q, &mut G);
    let mut J = DMatrix::zeros(set.rows(), 6 * model.moving());
    for c in 0..set.list.len() {
        let first = set.row_start[c];
        for b in set.blocks_of(c) {
            for (k, row) in G[b.start..].chunks_exact(6).take(set.row_start[c + 1] - first).enumerate() {
                for l in 0..6 {
                    J[(first + k, 6 * (b.body - 1) + l)] = row[l];
                }
            }
        }
    }
    J
}

/// A Jacobian with rows of unit length and rotations measured as `L omega`, used in all rank decisions.
struct Scaled {
    A: DMatrix<f64>,
    /// Divisors of the rows.
    rows: DVector<f64>,
    /// Factors of the columns.
    columns: DVector<f64>,
}

impl Scaled {
    fn new(model: &Model, J: &DMatrix<f64>) -> Self {
        let columns = DVector::from_fn(J.ncols(), |c, _| if c % 6 < 3 { 1.0 } else { 1.0 / model.length });
        let mut A = DMatrix::from_fn(J.nrows(), J.ncols(), |i, j| J[(i, j)] * columns[j]);
        let mut rows = DVector::from_element(J.nrows(), 1.0);
        for (mut row, n) in A.row_iter_mut().zip(rows.iter_mut()) {
            let norm = row.norm();
            if norm > 0.0 {
                *n = norm;
                row /= norm;
            }
        }
        Self { A, rows, columns }
    }
}

/// An orthonormal basis of the null space of a Jacobian.
pub(super) fn null_space(model: &Model, J: &DMatrix<f64>) -> DMatrix<f64> {
    let Scaled { A, columns, .. } = Scaled::new(model, J);
    let null = dense::rank(&A, TOLERANCE).null;
    let N = DMatrix::from_fn(null.nrows(), null.ncols(), |i, j| null[(i, j)] * columns[i]);
    if N.ncols() == 0 { N } else { N.qr().q() }
}

/// The least-norm solution of `J x = b` in lengths; the least-squares solution if there is none. Directions that do not count in the rank
/// are not used.
pub(super) fn particular(model: &Model, J: &DMatrix<f64>, b: &DVector<f64>) -> DVector<f64> {
    let Scaled { A, rows, columns } = Scaled::new(model, J);
    least_squares(&A, &b.component_div(&rows), TOLERANCE).component_mul(&columns)
}

/// The least-norm vector among those that come nearest to `A x = b`; singular values below a fraction of the largest count as zero.
pub(super) fn least_squares(A: &DMatrix<f64>, b: &DVector<f64>, tolerance: f64) -> DVector<f64> {
    let none = || DVector::zeros(A.ncols());
    if A.nrows() == 0 || A.ncols() == 0 {
        return none();
    }
    let Some(svd) = dense::svd(A.clone(), true, true) else { return none() };
    let zero = tolerance * svd.singular_values.amax();
    let mut x = svd.solve(b, zero).unwrap_or_else(|_| none());
    // One round of refinement removes rounding errors.
    if let Ok(d) = svd.solve(&(b - A * &x), zero) {
        x += d;
    }
    x
}
