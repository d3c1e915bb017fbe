//! Settings of `run`, `sweep`, `tolerance`, `optimize` and `synthesize`.

use super::{Expect, LENGTH, PLAIN, STUDY_EVENTS, TIME, Table, may, need};

/// Settings of `run` and of the design studies.
pub const STUDY: Table = Table {
    section: "study",
    kind: None,
    title: "the study",
    doc: "Settings of `run`, and measures, sweeps and optimisations of the same mechanism.",
    keys: &[
        may("analysis", Expect::Choice(&["dynamics", "kinematics"]), "default: dynamics, or kinematics if the mechanism is fully driven"),
        may("formulation", Expect::Name("formulation"), "`fourbar list` prints them; `auto` chooses"),
        may("integrator", Expect::Integrator, "`fourbar list` prints them; or a user-defined method, `{tableau: {a: ..., b: ...}}`"),
        may("t_end", Expect::Number(TIME), "end of the run; default: 1 s"),
        may("output_step", Expect::Number(TIME), "time between outputs"),
        may("step", Expect::Number(TIME), "fixed step"),
        may("tol", Expect::Number(PLAIN), "tolerance of adaptive runs"),
        may("options", Expect::Options, "options of formulation and integrator"),
        may("events", Expect::Group(&STUDY_EVENTS), "how events are handled"),
        may(
            "measures",
            Expect::Options,
            "named numbers computed from the result columns, such as `max(abs(motor.effort))`; for `sweep` and `tolerance`",
        ),
        may("sweep", Expect::Group(&SWEEP), "settings of `sweep`"),
        may("optimize", Expect::Group(&OPTIMIZE), "settings of `optimize`"),
    ],
};

/// A user-defined integration method.
pub const INTEGRATOR: Table = Table {
    section: "study.integrator",
    kind: None,
    title: "the integrator",
    doc: "A user-defined method instead of a named one.",
    keys: &[need("tableau", Expect::Group(&TABLEAU), "an explicit Runge-Kutta method")],
};

/// An explicit Runge-Kutta method as a Butcher tableau.
pub const TABLEAU: Table = Table {
    section: "study.integrator.tableau",
    kind: None,
    title: "the tableau",
    doc: "A user-defined explicit Runge-Kutta method; its order is determined from the order conditions and reported after the run.",
    keys: &[
        need("a", Expect::NumberRows, "the matrix by rows, from the first or the second stage on; no entries on or above the diagonal"),
        need("b", Expect::NumberList, "weights of the result, one for each stage"),
        may("c", Expect::NumberList, "nodes; default: the sums of the rows"),
        may("estimate", Expect::NumberList, "weights of a second result that estimates the error; without it: fixed steps only"),
    ],
};

/// Settings of `sweep`.
pub const SWEEP: Table = Table {
    section: "sweep",
    kind: None,
    title: "the sweep",
    doc: "The cases of `sweep`: a grid of all parameter values, or cases sampled from ranges.",
    keys: &[
        need(
            "vary",
            Expect::Options,
            "values of parameters by name: `60..100 mm:41`, `1..100:9:log`, or `60, 70, 90 mm`; a range without a count if cases are sampled",
        ),
        may("lhs", Expect::Number(PLAIN), "number of cases sampled by a Latin hypercube"),
        may("sobol", Expect::Number(PLAIN), "number of cases sampled by a Sobol sequence"),
        may("seed", Expect::Number(PLAIN), "seed of sampled cases; default: 1"),
    ],
};

/// Settings of `optimize`.
pub const OPTIMIZE: Table = Table {
    section: "optimize",
    kind: None,
    title: "the optimisation",
    doc: "The problem of `optimize`: find parameter values within bounds that minimise or maximise a measure, or bring several measures to zero.",
    keys: &[
        need("vary", Expect::Options, "bounds of parameters by name: `30..45 mm`"),
        may("minimize", Expect::Text, "the measure to minimise"),
        may("maximize", Expect::Text, "the measure to maximise"),
        may("fit", Expect::Options, "measures by name, whose sum of squares is minimised, each in its own unit"),
        may("keep", Expect::Options, "conditions by name that must hold, such as `min(rocker.angle) > 40 deg`"),
    ],
};

/// A tolerance of a parameter, or the clearance of a joint.
pub const TOLERANCE: Table = Table {
    section: "tolerances",
    kind: None,
    title: "a tolerance",
    doc: "The tolerance of a parameter, or the clearance of a joint. A number alone may replace the group: `plus_minus`.",
    keys: &[
        may("plus_minus", Expect::Number(None), "normal distribution with three standard deviations equal to this value"),
        may("sigma", Expect::Number(None), "normal distribution with this standard deviation"),
        may("uniform", Expect::Number(None), "all values within this distance above or below are equally likely"),
        may(
            "grade",
            Expect::Text,
            "grade of ISO 286, `IT5` to `IT16`, for a length of up to 500 mm: its zone, centred on the value, is three standard deviations to each side",
        ),
        may("clearance", Expect::Number(LENGTH), "clearance of a revolute or spherical joint by name: largest eccentricity of its pin"),
    ],
};
