//! Tables of limits, events and how studies handle them.

use super::{Expect, PLAIN, TIME, Table, may, need};

/// Bounds of a joint.
pub const LIMITS: Table = Table {
    section: "limits",
    kind: None,
    title: "limits of a joint",
    doc: "Bounds that a joint may reach but not exceed: rigid, or with `stiffness` a spring beyond them. On a distance joint `max` makes a rope, on a point-on-plane joint `min: 0` lets the point lift off.",
    keys: &[
        may("min", Expect::Number(None), "smallest value of the coordinate"),
        may("max", Expect::Number(None), "largest value"),
        may("speed_min", Expect::Number(None), "smallest speed: 0 makes a one-way joint"),
        may("speed_max", Expect::Number(None), "largest speed"),
        may("of", Expect::Choice(&["angle", "distance"]), "which coordinate, if the joint has two; default: the angle"),
        may("restitution", Expect::Number(PLAIN), "ratio of the speeds after and before an impact, 0 to 1; default: 0"),
        may("stiffness", Expect::Number(None), "effort per depth^exponent beyond the limit; default: rigid"),
        may("damping", Expect::Number(None), "with `stiffness`: effort per depth^exponent and speed; default: none, or from `restitution`"),
        may("exponent", Expect::Number(PLAIN), "with `stiffness`: exponent of the depth; default: 1.5"),
        may("speed", Expect::Number(None), "with `stiffness` and `restitution`: impact speed at which the restitution applies"),
    ],
};

/// An event.
pub const EVENT: Table = Table {
    section: "events",
    kind: None,
    title: "an event",
    doc: "An action that is executed where an expression of time and state reaches zero.",
    keys: &[
        need("when", Expect::StateFunction(None), "the expression, of time, joints, points, bodies, inputs and states"),
        may("direction", Expect::Choice(&["any", "rising", "falling"]), "which zero crossings count; default: any"),
        may("once", Expect::Flag, "whether it happens only once; default: yes, unless its only actions are `set`"),
        may("rearm", Expect::Number(None), "distance by which the expression must return before it can happen again; default: 0"),
        may("after", Expect::Name("event"), "the event that must have happened before"),
        need("do", Expect::Actions, "the actions, in order: `{remove: sling}`, `{lock: jaw}`, `{set: {torque: 0}}`, `{stop: true}`"),
    ],
};

/// How a study handles events.
pub const STUDY_EVENTS: Table = Table {
    section: "study.events",
    kind: None,
    title: "the events of the study",
    doc: "How events are handled.",
    keys: &[
        may("rest_time", Expect::Number(TIME), "a series of impacts ends when flights become shorter than this; default: 1 us"),
        may("most_per_second", Expect::Number(PLAIN), "a run with more events per second ends; default: 10000"),
    ],
};

/// Words of actions.
pub(crate) const ACTIONS: [&str; 7] = ["enable", "disable", "lock", "release", "remove", "set", "stop"];
