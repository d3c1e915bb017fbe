//! A method in use: one of the tableaus, or a user-defined one.

use super::tableau::{self, TABLEAUS, Tableau};
use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::settings::count;
use crate::tableau::TableauSpec;

/// Weights by stage.
pub(super) type Weights = Vec<(usize, f64)>;

/// How the local error is estimated.
#[derive(Clone, Debug)]
pub(super) enum Estimate {
    None,
    One { order: usize, e: Weights },
    Two { order: usize, e: Weights, coarse: Weights },
}

/// An explicit method; see [`Tableau`] for the meaning of its parts.
#[derive(Clone, Debug)]
pub(super) struct Method {
    pub name: &'static str,
    pub order: usize,
    pub a: Vec<Weights>,
    pub same_last: bool,
    pub error: Estimate,
    pub caution: f64,
    pub stable: Option<f64>,
    pub extra: Vec<Weights>,
    pub dense: Vec<Weights>,
    pub product: Vec<Vec<Weights>>,
    /// Remark on a user-defined method.
    pub note: Option<String>,
}

fn lists(rows: &[tableau::Weights]) -> Vec<Weights> {
    rows.iter().map(|w| w.to_vec()).collect()
}

impl From<&Tableau> for Method {
    fn from(t: &Tableau) -> Self {
        let error = match t.error {
            tableau::Estimate::None => Estimate::None,
            tableau::Estimate::One { order, e } => Estimate::One { order, e: e.to_vec() },
            tableau::Estimate::Two { order, e, coarse } => Estimate::Two { order, e: e.to_vec(), coarse: coarse.to_vec() },
        };
        Self {
            name: t.name,
            order: t.order,
            a: lists(t.a),
            same_last: t.same_last,
            error,
            caution: t.caution,
            stable: t.stable,
            extra: lists(t.extra),
            dense: lists(t.dense),
            product: t.product.iter().map(|row| lists(row)).collect(),
            note: None,
        }
    }
}

/// Weights that are not zero.
fn sparse(row: &[f64]) -> Weights {
    row.iter().copied().enumerate().filter(|(_, w)| *w != 0.0).collect()
}

impl Method {
    /// The method of a name; `tableau` is the tableau in the mechanism's file.
    pub fn named(name: &str, model: &Model) -> Result<Self, Diagnostic> {
        if name == "tableau" {
            return match &model.study.tableau {
                Some(own) => Self::own(own),
                None => Err(Diagnostic::new("U309", "the integrator is `tableau`, but the file gives none")
                    .help("write `study: {integrator: {tableau: {a: ..., b: ...}}}`; `fourbar explain M117` shows an example")),
            };
        }
        Self::listed(name)
    }

    /// A method of the list.
    pub fn listed(name: &str) -> Result<Self, Diagnostic> {
        Tableau::named(name).map(Self::from).ok_or_else(|| {
            let names = TABLEAUS.iter().map(|t| t.name).collect::<Vec<_>>().join(", ");
            Diagnostic::new("U302", format!("there is no explicit method `{name}`")).help(format!("there are {names}"))
        })
    }

    /// A user-defined method.
    pub fn own(spec: &TableauSpec) -> Result<Self, Diagnostic> {
        let found = spec.check()?;
        let stages = spec.b.len();
        // If the last stage is at the result, the next step begins with it.
        let same_last = stages > 1 && found.a[stages - 1] == spec.b;
        let mut a: Vec<Weights> = found.a[1..].iter().map(|row| sparse(row)).collect();
        if !same_last {
            a.push(sparse(&spec.b));
        }
        let error = match (&spec.estimate, found.estimate) {
            (Some(second), Some(order)) => {
                let e: Vec<f64> = spec.b.iter().zip(second).map(|(b, s)| b - s).collect();
                Estimate::One { order: order.min(found.order.order), e: sparse(&e) }
            }
            _ => Estimate::None,
        };
        let told = &found.order;
        let mut note = format!(
            "the tableau of the file: {}, order {} ({} to {:.0e})",
            count(stages, "stage"),
            told.order,
            if told.conditions == 1 { "its condition holds".into() } else { format!("its {} conditions hold", told.conditions) },
            told.error
        );
        match told.next {
            Some(error) => note.push_str(&format!("; of order {} one fails by {error:.1e}", told.order + 1)),
            None => note.push_str("; higher orders are not tested"),
        }
        if let Some(order) = found.estimate {
            note.push_str(&format!("; its estimate has order {order}"));
        }
        Ok(Self {
            name: "tableau",
            order: told.order,
            a,
            same_last,
            error,
            caution: 1.0,
            stable: None,
            extra: Vec::new(),
            dense: Vec::new(),
            product: Vec::new(),
            note: Some(note),
        })
    }
}
