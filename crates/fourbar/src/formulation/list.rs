//! The available formulations: names, integrators and options.

use super::{dca, grcr, lie, natural};
use crate::absolute::chart::Ra;
use crate::absolute::reps::Reps;
use crate::absolute::rp::Rp;
use crate::diagnostic::{Diagnostic, nearest};
use crate::integrator::implicit;
use crate::model::Model;
use crate::motion::Motion;
use crate::settings::{FIRST_STEP, OptionInfo, Study, TAU};
use crate::state::Configuration;
use crate::structure::Structure;

/// Starts a formulation from a consistent state.
pub type Start = for<'m> fn(&Structure<'m>, &Study, &'static str, &Configuration) -> Result<Box<dyn Motion + 'm>, Diagnostic>;

/// A formulation and its integrators, the default first.
#[derive(Clone, Copy, Debug)]
pub struct FormulationInfo {
    /// Name on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Integrators, the default first.
    pub integrators: &'static [&'static str],
    /// Options of the formulation and its integrators.
    pub options: &'static [OptionInfo],
    /// Whether it applies to a mechanism, determined without assembly; otherwise the reason why not.
    pub applies: fn(&Model) -> Result<(), Diagnostic>,
    /// Starts the formulation with one of its integrators.
    pub start: Start,
}

impl FormulationInfo {
    /// Keys of the options that have an effect with one of its integrators.
    pub fn options_with(&self, integrator: &str) -> Vec<&'static str> {
        self.options.iter().filter(|o| o.only.is_empty() || o.only.contains(&integrator)).map(|o| o.key).collect()
    }
}

/// The formulation and integrator of a study.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Formulation.
    pub formulation: &'static FormulationInfo,
    /// Integrator.
    pub integrator: &'static str,
    /// Reason for the choice, if the study named no formulation.
    pub why: Option<String>,
}

/// For formulations that support everything a file can contain.
fn everything(_: &Model) -> Result<(), Diagnostic> {
    Ok(())
}

/// Options of the implicit formulations.
const OF_IMPLICIT: &[OptionInfo] = &[RHO, THETA, NORM, MATRIX, MOST_ITERATIONS, INDEX, TAU];
/// Options of `ra`.
const OF_RA: &[OptionInfo] = &[RHO, THETA, NORM, MATRIX, MOST_ITERATIONS, INDEX, FIRST_STEP.only(&["radau"]), SWEEPS, TAU];
/// Options of `reps`.
const OF_REPS: &[OptionInfo] = &[
    RHO,
    THETA,
    NORM,
    MATRIX,
    MOST_ITERATIONS,
    INDEX,
    OptionInfo::new("rechart", "0: no other reference frame near the singularity of Euler angles"),
    TAU,
];
const RHO: OptionInfo = OptionInfo::new("rho", "spectral radius, 0 to 0.95").only(&["gen-alpha"]);
const THETA: OptionInfo = OptionInfo::new("theta", "correction at which Newton ends, in characteristic lengths").only(IMPLICIT);
const NORM: OptionInfo = OptionInfo::new(
    "norm",
    "length, or acceleration: `theta` bounds the 2-norm of the corrections of accelerations and multipliers, in SI units",
)
.only(IMPLICIT);
const MATRIX: OptionInfo =
    OptionInfo::new("matrix", "auto, schur: masses and constraints alone, or exact: all derivatives, renewed in every Newton iteration")
        .only(IMPLICIT);
const MOST_ITERATIONS: OptionInfo = OptionInfo::new("iterations", "most Newton iterations").only(IMPLICIT);
const INDEX: OptionInfo = OptionInfo::new("index", "3, or 2 for the stabilised form of gen-alpha").only(IMPLICIT);
const SWEEPS: OptionInfo = OptionInfo::new("sweeps", "most sweeps over the contacts of a step").only(&["moreau"]);
/// Options of the formulations on Lie groups.
const OF_GROUPS: &[OptionInfo] = &[
    OptionInfo::new("constraints", "project, baumgarte or none"),
    OptionInfo::new("rate", "at which violations decay with baumgarte, 1/s"),
    FIRST_STEP,
    TAU,
];
/// Options of `so3xr3`, which has a state-space form.
const OF_SO3XR3: &[OptionInfo] = &[
    OptionInfo::new(
        "constraints",
        "project, baumgarte, none, or independent: state space, one coordinate and one velocity for every freedom",
    ),
    OptionInfo::new("rate", "at which violations decay with baumgarte, 1/s"),
    FIRST_STEP,
    TAU,
];
/// Options of `lie`: those of the formulations on Lie groups and the choice of groups.
const OF_LIE: &[OptionInfo] = &[
    OptionInfo::new("constraints", "project, baumgarte or none"),
    OptionInfo::new("rate", "at which violations decay with baumgarte, 1/s"),
    OptionInfo::new("spaces", "groups of bodies by name: link1:se3,link2:so3xr3; the others as chosen"),
    FIRST_STEP,
    TAU,
];
/// Integrators of the formulations on Lie groups.
const ON_GROUPS: &[&str] = &["dopri5", "dop853", "rk4", "rkf45", "heun", "euler", "cg3", "cg4", "cf3", "cf4", "radau", "tableau"];

/// The available formulations. A `static`: with a constant, every crate that names it would compile the implicit stack again.
pub static FORMULATIONS: &[FormulationInfo] = &[
    FormulationInfo {
        name: "ra",
        summary: "absolute coordinates, rotation matrices; index 3, implicit; radau for stiff forces and tight tolerances, moreau for rigid contacts",
        integrators: INTEGRATORS_OF_RA,
        options: OF_RA,
        applies: everything,
        start: implicit::start::<Ra>,
    },
    FormulationInfo {
        name: "rp",
        summary: "absolute coordinates, Euler parameters; index 3, implicit",
        integrators: IMPLICIT,
        options: OF_IMPLICIT,
        applies: everything,
        start: implicit::start::<Rp>,
    },
    FormulationInfo {
        name: "reps",
        summary: "absolute coordinates, ZXZ Euler angles; index 3, implicit",
        integrators: IMPLICIT,
        options: OF_REPS,
        applies: everything,
        start: implicit::start::<Reps>,
    },
    FormulationInfo {
        name: "so3xr3",
        summary: "absolute coordinates on SO(3) x R3; index 1, on the group",
        integrators: ON_GROUPS,
        options: OF_SO3XR3,
        applies: everything,
        start: lie::start_so3xr3,
    },
    FormulationInfo {
        name: "se3",
        summary: "absolute coordinates on SE(3); index 1, on the group",
        integrators: ON_GROUPS,
        options: OF_GROUPS,
        applies: everything,
        start: lie::start_se3,
    },
    FormulationInfo {
        name: "lie",
        summary: "SE(3) or SO(3) x R3 for each body, chosen from the joints; index 1, on the group",
        integrators: ON_GROUPS,
        options: OF_LIE,
        applies: everything,
        start: lie::start_lie,
    },
    FormulationInfo {
        name: "dca",
        summary: "divide and conquer, augmented Lagrangian, projections; explicit, parallel",
        integrators: dca::system::INTEGRATORS,
        options: dca::options::KEYS,
        applies: everything,
        start: dca::system::start,
    },
    FormulationInfo {
        name: "grcr",
        summary: "joint coordinates, loops by recursion; explicit; radau for stiff forces in few coordinates",
        integrators: &["dopri5", "dop853", "radau", "rk4", "tableau"],
        options: &[
            OptionInfo::new("loops", "recursive, or cut: one matrix for all loops"),
            OptionInfo::new("coupling", "auto, acs or gcl: treatment of coupled loops; rcr: the plain method, if possible"),
            OptionInfo::new("dependents", "joints whose coordinates are dependent at the start: J2,J3,J5; default: chosen"),
            OptionInfo::new("fictitious", "ground or parent: what the fictitious joints of gcl are attached to"),
            OptionInfo::new("closed", "positions, velocities or nothing: what is closed in every evaluation; the rest drifts"),
            FIRST_STEP,
            TAU,
        ],
        applies: everything,
        start: grcr::start,
    },
    FormulationInfo {
        name: "natural",
        summary: "natural coordinates: shared points and vectors, Lagrangian by differentiation; index 3, Taylor series",
        integrators: &["taylor"],
        options: &[
            OptionInfo::new("coordinates", "assigned, file (points and vectors of a MechSpec), unassigned or twelve per body"),
            OptionInfo::new("parallelograms", "equate or assign"),
            OptionInfo::new("order", "of the Taylor series, 4 to 60"),
        ],
        applies: natural::applies,
        start: natural::start,
    },
];

const IMPLICIT: &[&str] = &["gen-alpha", "bdf2", "backward-euler"];
const INTEGRATORS_OF_RA: &[&str] = &["gen-alpha", "radau", "bdf2", "backward-euler", "moreau"];

/// A formulation by its name.
pub fn formulation(name: &str) -> Result<&'static FormulationInfo, Diagnostic> {
    FORMULATIONS.iter().find(|f| f.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names: Vec<&str> = FORMULATIONS.iter().map(|f| f.name).collect();
        Diagnostic::new("U301", format!("there is no formulation `{name}`")).help(did_you_mean(name, &names))
    })
}

/// Refuses an integrator that belongs to no formulation.
pub(crate) fn named_integrator(name: &str) -> Result<(), Diagnostic> {
    let mut all: Vec<&str> = FORMULATIONS.iter().flat_map(|f| f.integrators.iter().copied()).collect();
    if all.iter().any(|i| i.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    all.sort_unstable();
    all.dedup();
    Err(Diagnostic::new("U302", format!("there is no integrator `{name}`")).help(did_you_mean(name, &all)))
}

/// The nearest of some names, or all of them.
pub(crate) fn did_you_mean(name: &str, all: &[&str]) -> String {
    nearest(name, all.iter().copied()).map_or_else(|| format!("there are {}", all.join(", ")), |n| format!("did you mean `{n}`?"))
}
