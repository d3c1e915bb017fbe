//! Natural coordinates: points and vectors shared by parts, their Lagrangian differentiated on a tape, and a Taylor-series
//! solver for the equations of index 3 \[Pryce20\].
//!
//! | Paper | Here |
//! |---|---|
//! | basic points and vectors, coordinates q | `parts`: items; `bring`: which of them become coordinates |
//! | "assign, don't equate" | `bring` |
//! | frame from three points or vectors, Eqs. (5)-(11) | `basis` |
//! | kinetic energy, Eq. (15) | `joints`, by pseudo-inertia |
//! | redundant constraints | [`rows`] |
//! | Lagrangian facility, DAE solver | crate `fourbar-dae` |
//!
//! Reactions are not multipliers of this form, since a shared point has none. They are computed from the motion with the rows of the
//! absolute formulation.

mod assign;
mod basis;
mod builder;
mod defect;
mod force;
mod joints;
mod layout;
mod part_order;
mod refusals;
mod row_exchange;
pub mod rows;
mod run;
mod system;
mod variants;
mod work;

pub use builder::Choice;
pub use refusals::applies;
pub use run::start;
pub use system::{System, choice, describe};
