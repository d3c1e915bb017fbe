//! Families of formulations: two that use the same equations in different coordinates do not count as two witnesses.

use serde::Serialize;

/// Formulations that share their equations of motion and their method of solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Absolute coordinates with multipliers, stepped implicitly: `ra`, `rp`, `reps`.
    ImplicitAbsolute,
    /// Absolute coordinates with accelerations from the equations of index 1, stepped explicitly: `se3`, `so3xr3`, `lie`.
    ExplicitAbsolute,
    /// Joint coordinates and recursive reduction: `grcr`.
    Recursive,
    /// Divide and conquer: `dca`.
    DivideAndConquer,
    /// Natural coordinates and Taylor series: `natural`.
    Natural,
}

impl Family {
    /// The family of a formulation by its name; `None` for names not listed here (a test ensures that there are none).
    pub fn of(formulation: &str) -> Option<Self> {
        Some(match formulation {
            "ra" | "rp" | "reps" => Self::ImplicitAbsolute,
            "se3" | "so3xr3" | "lie" => Self::ExplicitAbsolute,
            "grcr" => Self::Recursive,
            "dca" => Self::DivideAndConquer,
            "natural" => Self::Natural,
            _ => return None,
        })
    }
    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::ImplicitAbsolute => "implicit absolute",
            Self::ExplicitAbsolute => "explicit absolute",
            Self::Recursive => "recursive",
            Self::DivideAndConquer => "divide and conquer",
            Self::Natural => "natural",
        }
    }
}
