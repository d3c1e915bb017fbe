//! A user-defined Runge-Kutta method as a Butcher tableau.

use crate::diagnostic::{Diagnostic, number};
use fourbar_math::runge_kutta::{Order, order};
use serde::{Deserialize, Serialize};

/// Largest number of stages, more than any method in use has.
const MOST: usize = 64;
/// Nodes may differ from their row sums by the rounding of written numbers.
const WRITTEN: f64 = 1e-9;
/// Its path in a file.
const PLACE: &str = "study.integrator.tableau";

/// The tableau of an explicit method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableauSpec {
    /// Rows of the matrix, from the first stage on or from the second; entries on and above the diagonal are zero or omitted.
    pub a: Vec<Vec<f64>>,
    /// Weights of the result.
    pub b: Vec<f64>,
    /// Nodes; omitted: the sums of the rows.
    pub c: Option<Vec<f64>>,
    /// Weights of a second result of another order, whose difference estimates the error.
    pub estimate: Option<Vec<f64>>,
}

/// The result of checking a tableau.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The matrix by rows, one for each stage, zeros included.
    pub a: Vec<Vec<f64>>,
    /// The order from the order conditions.
    pub order: Order,
    /// Order of the second result, where there is one.
    pub estimate: Option<usize>,
}

fn refused(key: &str, message: String) -> Diagnostic {
    let at = if key.is_empty() { PLACE.to_string() } else { format!("{PLACE}.{key}") };
    Diagnostic::new("M117", message).at(at)
}

impl TableauSpec {
    /// Checks sizes, that the method is explicit, and its order.
    pub fn check(&self) -> Result<Checked, Diagnostic> {
        let stages = self.b.len();
        if stages == 0 || stages > MOST {
            let d = refused("b", format!("the tableau has {stages} weights `b`; one is needed for each stage, 1 to {MOST}"));
            return Err(d.help("the classical method has `b: [1/6, 1/3, 1/3, 1/6]`"));
        }
        let a = self.matrix(stages)?;
        for (key, list) in [("c", &self.c), ("estimate", &self.estimate)] {
            if let Some(list) = list.as_ref().filter(|l| l.len() != stages) {
                let d = refused(key, format!("`{key}` has {} numbers, and there are {stages} stages", list.len()));
                return Err(d.help(format!("give {stages} of them, or omit `{key}`")));
            }
        }
        for (i, c) in self.c.iter().flatten().enumerate() {
            let sum: f64 = a[i].iter().sum();
            let off = (c - sum).abs();
            if off.is_nan() || off > WRITTEN * (1.0 + sum.abs()) {
                let d = refused("c", format!("node {} is {}, but its row of `a` adds up to {}", i + 1, number(*c), number(sum)));
                return Err(d.help("nodes are the sums of their rows; omit `c` to have them computed"));
            }
        }
        let found = order(&a, &self.b);
        if found.order == 0 {
            let sum: f64 = self.b.iter().sum();
            let d = refused("b", format!("the weights `b` add up to {}, not to 1: the method does not converge", number(sum)));
            return Err(d.help("write fractions exactly: `1/6`, not 0.17"));
        }
        let estimate = match &self.estimate {
            None => None,
            Some(second) => match order(&a, second).order {
                0 => {
                    let sum: f64 = second.iter().sum();
                    let d = refused("estimate", format!("the weights of `estimate` add up to {}, not to 1", number(sum)));
                    return Err(d.help("they belong to a second result, not to the difference"));
                }
                _ if *second == self.b => {
                    let d = refused("estimate", "`estimate` has the weights of `b`, so the estimate would always be zero".into());
                    return Err(d.help("give the weights of a result of another order, or omit it and give a fixed step"));
                }
                p => Some(p),
            },
        };
        Ok(Checked { a, order: found, estimate })
    }

    /// The matrix with a row of all stages for each stage.
    fn matrix(&self, stages: usize) -> Result<Vec<Vec<f64>>, Diagnostic> {
        let rows = self.a.len();
        let skipped = match stages.checked_sub(rows) {
            Some(k @ (0 | 1)) => k,
            _ => {
                let d = refused("a", format!("`a` has {rows} rows, and `b` has {stages} weights"));
                return Err(d.help(format!("`a` has a row for each stage, {stages}, or from the second stage on, {}", stages - 1)));
            }
        };
        let mut a = vec![vec![0.0; stages]; stages];
        for (k, row) in self.a.iter().enumerate() {
            let i = k + skipped;
            if row.len() > stages {
                let d = refused("a", format!("row {} of `a` has {} numbers, and there are {stages} stages", k + 1, row.len()));
                return Err(d.help("give a number for each earlier stage, or for every stage"));
            }
            if let Some(j) = (i..row.len()).find(|&j| row[j] != 0.0) {
                let d = refused("a", format!("stage {} depends on stage {}: the method is implicit", i + 1, j + 1));
                let help = "your own methods are explicit: entries on and above the diagonal are zero; `radau` is implicit";
                return Err(d.help(help));
            }
            a[i][..row.len()].copy_from_slice(row);
        }
        let all = a.iter().flatten().chain(&self.b).chain(self.c.iter().flatten()).chain(self.estimate.iter().flatten());
        match all.copied().find(|x| !x.is_finite()) {
            Some(x) => Err(refused("", format!("the tableau has a number that is {x}")).help("every entry must be a finite number")),
            None => Ok(a),
        }
    }
}
