//! Distance of constraints from dependence, regardless of the masses: the measure of singular positions.

use crate::constraint::ConstraintSet;
use crate::model::Model;
use crate::projector::Projector;
use crate::schur::unit_weights;
use crate::singular::half_log;
use crate::singular::passages::{Measure, Passages};
use crate::state::{Pose, Twist};
use crate::structure::Structure;

/// Shift of `G G^T`, whose rows are about one: it gives permanently dependent rows a constant pivot, far below any other. A pose that
/// violates the constraints by its square root, as an interpolated one may do, changes this pivot by no more than a factor of two.
const SHIFT: f64 = 1e-10;
/// Rows with smaller relative pivots in a regular position are permanently dependent.
const REDUNDANT: f64 = 1e-9;

/// The constraints of a mechanism, drives included, with translations and characteristic lengths times rotations of all bodies weighted
/// equally. Their determinant depends neither on the order of dependent rows nor on which of several redundant rows is the last.
pub struct Massless<'m> {
    model: &'m Model,
    set: ConstraintSet,
    /// The factored data; created when first needed.
    rows: Option<Rows>,
}

struct Rows {
    set: ConstraintSet,
    p: Projector,
    /// Pivots far from the singular position.
    far: Vec<f64>,
    permanent: Vec<bool>,
    at: Vec<Pose>,
}

impl Rows {
    fn new(model: &Model, set: ConstraintSet) -> Self {
        let n = set.rows();
        Self {
            p: Projector::new(&set, unit_weights(model)),
            far: vec![0.0; n],
            permanent: vec![false; n],
            at: vec![Pose::identity(); model.bodies.len()],
            set,
        }
    }

    fn factor(&mut self, t: f64, q: &[Pose]) {
        self.set.choose(t);
        self.p.factor(&self.set, q, SHIFT);
    }
}

impl<'m> Massless<'m> {
    /// The measure of a mechanism.
    pub fn new(structure: &Structure<'m>) -> Self {
        Self { model: structure.model, set: structure.rows.clone(), rows: None }
    }

    fn rows(&mut self) -> &mut Rows {
        self.rows.get_or_insert_with(|| Rows::new(self.model, self.set.clone()))
    }

    /// Searches for singular positions with the rows of this measure, if a search is due.
    pub fn look(&mut self, passages: &mut Passages, t: f64, q: &[Pose], v: &[Twist]) {
        if passages.due(t, passages.speed(v)) {
            passages.look(t, q, v, self, |measure, parts| {
                let log = measure.log_distance(t, q);
                parts.extend(measure.rows().p.schur.pivots().iter().map(|p| p.max(0.0).sqrt()));
                log
            });
        }
    }
}

impl Measure for Massless<'_> {
    fn log_distance(&mut self, t: f64, q: &[Pose]) -> f64 {
        let rows = self.rows();
        rows.factor(t, q);
        rows.at.copy_from_slice(q);
        half_log(rows.p.schur.pivots())
    }

    /// By inverse iteration from the row with the largest decrease of its pivot.
    fn dependent(&mut self, t: f64, far: &[Pose]) -> Vec<String> {
        let rows = self.rows();
        let near = std::mem::take(&mut rows.at);
        rows.factor(t, far);
        rows.far.copy_from_slice(rows.p.schur.pivots());
        rows.factor(t, &near);
        rows.at = near;
        let Rows { set, p, far, permanent, .. } = rows;
        permanent.iter_mut().zip(far.iter()).for_each(|(p, far)| *p = *far < REDUNDANT);
        let share = |r: &usize| if permanent[*r] { f64::INFINITY } else { p.schur.pivots()[*r] / far[*r] };
        let Some(weakest) = (0..far.len()).min_by(|a, b| share(a).total_cmp(&share(b))) else { return Vec::new() };
        p.dependent_names(set, permanent, weakest)
    }
}
