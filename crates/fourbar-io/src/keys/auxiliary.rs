//! Inputs and states.

use super::{Expect, Table, may, need};

/// An input.
pub const INPUT: Table = Table {
    section: "inputs",
    kind: None,
    title: "an input",
    doc: "A number that is set externally between steps; forces, rates of states and drives by speed or acceleration may read it.",
    keys: &[
        may("unit", Expect::Text, "SI unit of its values, such as `N*m`; default: a plain number"),
        may("default", Expect::Number(None), "value if none is given; default: 0"),
        may("range", Expect::Range, "smallest and largest value; default: any"),
    ],
};

/// A state.
pub const STATE: Table = Table {
    section: "states",
    kind: None,
    title: "a state",
    doc: "A user-defined variable that is integrated with the motion, such as the internal state of a controller or a motor.",
    keys: &[
        may("unit", Expect::Text, "SI unit of its values, such as `A`; default: a plain number"),
        need("rate", Expect::StateFunction(None), "its rate, per second"),
        may("start", Expect::Number(None), "its value at the start; default: 0"),
    ],
};
