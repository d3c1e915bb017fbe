//! The structure of a mechanism, independent of its pose: its rows, whether it has loops, its rank and non-unique reactions.
//!
//! A [`Structure`] is made once after assembly and shared by everything that moves or judges the mechanism. The rows are laid out once and
//! handed on without a copy; what takes long is found where it is requested first.

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
    /// Where it was assembled.
    pub start: Configuration,
    /// All constraints, drives and velocities included.
    pub rows: ConstraintSet,
    /// Whether constraints can depend on others at all: not in a forest of joints.
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

    /// What turns multipliers into reactions: the smallest where they are not unique, but those of the motion where friction has felt them.
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

    /// Constraints on positions alone.
    pub fn positions(&self) -> ConstraintSet {
        // Without rolling all constraints are.
        if self.model.velocity_constraints().next().is_none() {
            return self.rows.clone();
        }
        ConstraintSet::new(self.model.constraints(true), |_| false)
    }

    /// How many rows depend on others at the start.
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
    /// The analysis that is named; else kinematics where the drives leave no freedom.
    pub fn analysis_of(&self, structure: &Structure<'_>) -> Analysis {
        self.analysis.unwrap_or_else(|| if structure.is_prescribed() { Analysis::Kinematics } else { Analysis::Dynamics })
    }
}
