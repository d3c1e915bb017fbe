//! Keys of data: functions by points, and user-defined result columns.

use super::{Expect, Table, may, need};

/// A function given by points.
pub const TABLE: Table = Table {
    section: "tables",
    kind: None,
    title: "a table",
    doc: "A function given by points, from a `file` or as `points`: the cubic spline through them, with continuous first and second derivatives.",
    keys: &[
        may(
            "file",
            Expect::File,
            "CSV file in the folder of the model: one line per point, cells separated by commas, semicolons, tabs or spaces",
        ),
        may("x", Expect::Column, "column of x, by number from 1 or by its heading; default: 1"),
        may("y", Expect::Column, "column of y; default: 2"),
        may("points", Expect::Pairs, "instead of `file`: [[x, y], ...], with increasing x"),
        may("x_unit", Expect::Unit, "unit of the numbers x; with it the argument of a call is checked; default: SI, of any dimension"),
        may("y_unit", Expect::Unit, "unit of the numbers y; with it the value of a call has that dimension; default: SI, of any dimension"),
        may(
            "ends",
            Expect::Choice(&["natural", "flat", "periodic"]),
            "at the first and the last point: zero second derivative, zero slope, or periodic; default: natural",
        ),
        may("slopes", Expect::TwoNumbers, "instead of `ends`: the slopes at the first and the last point, in SI units"),
        may(
            "outside",
            Expect::Choice(&["linear", "hold", "error"]),
            "beyond the points: continue along the tangent, hold the last value, or stop the run; default: linear, or hold with flat ends, with a warning",
        ),
    ],
};

/// A user-defined result column.
pub const OUTPUT: Table = Table {
    section: "outputs",
    kind: None,
    title: "an output",
    doc: "A user-defined result column. The expression alone may replace the group.",
    keys: &[
        need("value", Expect::StateFunction(None), "the column as an expression of time, joints and points"),
        may("unit", Expect::Unit, "unit of the column; default: SI"),
    ],
};
