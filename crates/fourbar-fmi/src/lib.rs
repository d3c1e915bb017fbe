//! Functional mock-up units of mechanisms: co-simulation by FMI 3.0.
//!
//! One shared library serves every mechanism: it reads `resources/model.yaml` of the unit that it is packed in. [`description`] writes
//! the list of variables, [`Unit`] is the mechanism behind the functions of the standard, and `c_api` is the border to C.

mod c_api;
mod description;
mod unit;

pub use description::{description, identifier};
pub use unit::{Unit, Variable, variables};
