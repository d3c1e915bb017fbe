//! Errors, reported with the user's names of equations and variables.

use std::fmt;

/// All errors of the crate. Equations, variables and events appear by name, never by number.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// Two variables, equations, outputs or events carry the same name.
    DuplicateName(String),
    /// A name that was not declared.
    UnknownName(String),
    /// There are no variables.
    Empty,
    /// The number of equations differs from the number of variables.
    NotSquare {
        /// Number of equations recorded.
        equations: usize,
        /// Number of variables declared.
        variables: usize,
    },
    /// After constant folding an equation contains no variable.
    ConstantEquation {
        /// The equation.
        equation: String,
        /// Its constant left-hand side.
        value: f64,
    },
    /// An expression contains a number that is not finite, such as a division by zero.
    NonFiniteConstant {
        /// Equation, output or event that contains it.
        place: String,
    },
    /// A variable occurs in no equation.
    UnusedVariable(String),
    /// A Lagrangian or Hamiltonian contains a `diff` of something other than a coordinate.
    DiffInEnergy {
        /// Context: Lagrangian, constraint, dissipation...
        place: String,
    },
    /// No highest-value transversal exists: these equations contain only these variables, one too few.
    StructurallySingular {
        /// Equations of the deficient set.
        equations: Vec<String>,
        /// The variables they share.
        variables: Vec<String>,
    },
    /// The system Jacobian is singular although the structure is regular.
    SingularJacobian {
        /// Time of the point.
        t: f64,
        /// Equations in the left null vector, largest share first.
        equations: Vec<String>,
        /// Variables in the right null vector, largest share first.
        variables: Vec<String>,
        /// Estimated reciprocal condition number after scaling.
        rcond: f64,
        /// Whether only hidden constraints are involved: a redundant constraint.
        redundant: bool,
        /// Whether a consistent point nearby is regular: a singular configuration, not an error in the equations.
        isolated: bool,
    },
    /// The values given to an integrator are far from consistent.
    NotConsistent {
        /// Time of the start.
        t: f64,
        /// Variable that projection would move most.
        variable: String,
        /// The derivative's order.
        order: usize,
        /// Size of the correction, in units of the variable's size.
        moved: f64,
    },
    /// A start cannot be made consistent.
    Inconsistent {
        /// Equations that remain unsatisfied, with the order of differentiation and the residual.
        resisting: Vec<(String, usize, f64)>,
        /// Attempts made before giving up.
        attempts: usize,
    },
    /// An expansion produced a value that is not finite.
    NonFinite {
        /// Time of the point.
        t: f64,
        /// Variable or equation where it appeared.
        place: String,
    },
    /// Newton's method did not converge for the leading derivatives.
    NoConvergence {
        /// Time of the point.
        t: f64,
        /// Equation with the largest residual.
        equation: String,
        /// That residual.
        residual: f64,
    },
    /// The step became too small to change the time.
    StepTooSmall {
        /// Time reached.
        t: f64,
        /// Step proposed.
        h: f64,
        /// Variable that limits it.
        variable: String,
    },
    /// More steps than allowed.
    TooManySteps {
        /// Time reached.
        t: f64,
        /// The limit.
        limit: usize,
    },
    /// A kink is crossed back immediately: the motion slides along the switching surface.
    Sliding {
        /// Time of the kink.
        t: f64,
        /// Name of the switching expression.
        kink: String,
    },
    /// An option outside its range.
    BadOption {
        /// Name of the option.
        option: &'static str,
        /// Its allowed range.
        allowed: &'static str,
    },
    /// A time outside the interval covered by the dense output.
    OutsideStep {
        /// Time requested.
        t: f64,
        /// Start of the interval.
        from: f64,
        /// End of the interval.
        to: f64,
    },
    /// A requested operation has no Taylor series.
    NoSeries(&'static str),
}

fn list(f: &mut fmt::Formatter<'_>, names: &[String]) -> fmt::Result {
    for (i, name) in names.iter().take(12).enumerate() {
        write!(f, "{}`{name}`", if i == 0 { "" } else { ", " })?;
    }
    match names.len() {
        0 => write!(f, "none"),
        n if n > 12 => write!(f, " and {} more", n - 12),
        _ => Ok(()),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::DuplicateName(name) => write!(f, "the name `{name}` is used twice"),
            Error::UnknownName(name) => write!(f, "there is no `{name}`"),
            Error::Empty => write!(f, "a problem needs at least one variable"),
            Error::NotSquare { equations, variables } => {
                write!(f, "{equations} equations for {variables} variables; the numbers must agree")
            }
            Error::ConstantEquation { equation, value } => {
                write!(f, "equation `{equation}` contains no variable; its left-hand side is {value:e}")
            }
            Error::NonFiniteConstant { place } => {
                write!(f, "`{place}` contains a constant that is not finite (a division by zero or a root of a negative number)")
            }
            Error::UnusedVariable(name) => write!(f, "variable `{name}` occurs in no equation"),
            Error::DiffInEnergy { place } => {
                write!(f, "{place} contains `diff` of an expression; use `rate`, which expands to coordinates and velocities")
            }
            Error::StructurallySingular { equations, variables } => {
                write!(f, "structurally singular: the {} equations ", equations.len())?;
                list(f, equations)?;
                write!(f, " contain only the {} variables ", variables.len())?;
                list(f, variables)
            }
            Error::SingularJacobian { t, equations, variables, rcond, redundant, isolated } => {
                write!(
                    f,
                    "system Jacobian singular at t = {t} (reciprocal condition {rcond:.1e}) although the structure is sound; equations "
                )?;
                list(f, equations)?;
                write!(f, "; variables ")?;
                list(f, variables)?;
                if *isolated {
                    return write!(f, "; points nearby are regular: this is a singular configuration, start or stop elsewhere");
                }
                if *redundant {
                    write!(f, "; these constraints depend on each other: remove one")
                } else {
                    write!(
                        f,
                        "; structural analysis fails here: rewrite the equations, for example with a new variable for a difference whose parts never occur alone"
                    )
                }
            }
            Error::NotConsistent { t, variable, order, moved } => {
                write!(
                    f,
                    "the start at t = {t} is not consistent: derivative {order} of `{variable}` would have to move by {moved:.1e} of its size; find a consistent one with `Problem::start`"
                )
            }
            Error::Inconsistent { resisting, attempts } => {
                write!(f, "no consistent start found in {attempts} attempts; these equations remain unsatisfied:")?;
                for (name, order, value) in resisting.iter().take(8) {
                    match order {
                        0 => write!(f, " `{name}` = {value:.3e}")?,
                        p => write!(f, " derivative {p} of `{name}` = {value:.3e}")?,
                    }
                }
                Ok(())
            }
            Error::NonFinite { t, place } => write!(f, "`{place}` is not finite at t = {t}"),
            Error::NoConvergence { t, equation, residual } => {
                write!(f, "Newton's method fails at t = {t}; largest residual {residual:.3e} in `{equation}`")
            }
            Error::StepTooSmall { t, h, variable } => {
                write!(f, "step {h:e} too small at t = {t}; limited by `{variable}`")
            }
            Error::TooManySteps { t, limit } => write!(f, "more than {limit} steps; reached t = {t}"),
            Error::Sliding { t, kink } => {
                write!(f, "the motion slides along kink `{kink}` from t = {t}: both sides lead back to it")
            }
            Error::BadOption { option, allowed } => write!(f, "option `{option}` must be {allowed}"),
            Error::OutsideStep { t, from, to } => {
                write!(f, "t = {t} lies outside the last step, {from} to {to}")
            }
            Error::NoSeries(what) => write!(f, "{what}: jumps have no Taylor series"),
        }
    }
}

impl std::error::Error for Error {}
