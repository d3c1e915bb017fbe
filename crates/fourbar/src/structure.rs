//! The structure of a mechanism, independent of its pose: its rows, whether it has loops, its rank and non-unique reactions.
//!
//! A [`Structure`] is created once after assembly and shared by the computation of the motion and its checks. The rows are laid out once
//! and shared without a copy; expensive properties are computed when first requested.

use crate::analysis::rank::{self, Mobility};
use crate::analysis::uniqueness::{self, friction_is_shared};
use crate::constraint::ConstraintSet;
use crate::model::Model;
use crate::motion::LeastLoads;
use crate::settings::{Analysis, Study};
use crate::state::{Configuration, Pose};
use crate::topology::is_forest;
use std::cell::OnceCell;

/// The structure of an assembled mechanism.
pub struct Structure<'m> {
    /// The mechanism.
    pub model: &'m Model,
    /// The assembled configuration.
    pub start: Configuration,
    /// All constraints, drives and velocities included.
    pub rows: ConstraintSet,
    /// Whether constraints can depend on others at all: not if the joints form a forest.
    pub looped: bool,
    driven: OnceCell<Mobility>,
    redundant: OnceCell<usize>,
    not_unique: OnceCell<Vec<(String, Vec<String>)>>,
    shared_friction: OnceCell<bool>,
}

impl<'m> Structure<'m> {
    /// The structure of a mechanism assembled at `start`.
    pub fn new(model: &'m Model, start: &Configuration) -> Self {
        let rows = ConstraintSet::new(model.all_constraints(), |_| false);
        let looped = !is_forest(model);
        Self {
            model,
            start: start.clone(),
            rows,
            looped,
            driven: OnceCell::new(),
            redundant: OnceCell::new(),
            not_unique: OnceCell::new(),
            shared_friction: OnceCell::new(),
        }
    }

    /// Free motions that the constraints leave, drives included.
    pub fn driven(&self) -> &Mobility {
        self.driven.get_or_init(|| rank::mobility_of(self.model, &self.rows, &self.start, true))
    }

    /// Whether drives prescribe the whole motion.
    pub fn is_prescribed(&self) -> bool {
        !self.model.drives.is_empty() && self.driven().generic.mobility() == 0
    }

    /// Conversion of multipliers into reactions: the smallest if they are not unique, but those of the motion if friction depends on them.
    pub fn reactions(&self, q: &[Pose]) -> LeastLoads {
        let shared = || {
            let rubs = self.model.forces.iter().any(|(_, f)| f.touches().is_loaded());
            self.looped && rubs && friction_is_shared(self.model, &self.start)
        };
        if *self.shared_friction.get_or_init(shared) {
            LeastLoads::as_given(self.model, &self.rows)
        } else {
            LeastLoads::new(self.model, &self.rows, q)
        }
    }

    /// Constraints on positions only.
    pub fn positions(&self) -> ConstraintSet {
        // Without rolling this includes all constraints.
        if self.model.velocity_constraints().next().is_none() {
            return self.rows.clone();
        }
        ConstraintSet::new(self.model.constraints(true), |_| false)
    }

    /// Number of rows that depend on others at the start.
    pub fn redundant(&self) -> usize {
        *self.redundant.get_or_init(|| match self.driven.get() {
            Some(known) => known.start.redundant(),
            None => rank::redundant_rows(self.model, &self.rows, &self.start.q),
        })
    }

    /// Joints whose reactions are not unique at the start, with the components.
    pub fn not_unique(&self) -> &[(String, Vec<String>)] {
        self.not_unique.get_or_init(|| uniqueness::not_unique_in(self.model, &self.rows, &self.start))
    }
}

impl Study {
    /// The specified analysis; by default kinematics if the drives leave no freedom.
    pub fn analysis_of(&self, structure: &Structure<'_>) -> Analysis {
        self.analysis.unwrap_or_else(|| if structure.is_prescribed() { Analysis::Kinematics } else { Analysis::Dynamics })
    }
}
