//! Pages of the codes of measures, inverse dynamics and sensitivities.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U410",
        "A measure cannot be parsed",
        "A measure is one number computed from a run: an expression of reductions of its columns over time.\n\n    max(abs(motor.effort))       rms(motor.effort)        range(tip.x)/range(tip.y)\n    at(pin.angle, 0.5 s)         first(t, tip.x > 20 mm)  length(tip)\n\nReductions are `min`, `max`, `range`, `mean`, `rms`, `integral`, `last`, `at(column, time)`, `first(value, condition)` and `length(point)`. Their arguments are columns of the result; outside of them use numbers and parameters. A column alone has a value for every time and is not a measure; `fourbar plot RESULT` lists the columns.",
    ),
    page(
        "U411",
        "Invalid path or motor",
        "`fourbar inverse` needs a path that a point follows and motors that cause the motion, from the file or from the command line:\n\n    points: {T: {body: tool, at: [0, 0, 0]}}\n    paths:\n      circle: {point: T, x: '0.12*cos(2*pi*t)', z: '0.45 + 0.12*sin(2*pi*t)'}\n      move:   {point: T, through: [[0, 0, 0.4], [0.1, 0, 0.5], [0.2, 0, 0.4]], profile: minimum-jerk, duration: 1 s}\n    motors: {left: {joint: base_l, rated: 10 N*m}}\n\nThe message states which name is unknown or which number is invalid.",
    ),
    page(
        "U412",
        "A sensitivity of an unknown quantity",
        "`fourbar sensitivities FILE --of MEASURE --to NAMES` takes parameters that the file declares under `parameters:`, and differentiates measures of a run (`max(abs(motor.effort))`), values at a time (`tip.x@0.5`), at the start (`start.tip.x`) or in equilibrium (`rest.pin.angle`), or vibrations (`modes.1.omega`). The message names the unknown quantity.",
    ),
    page(
        "U413",
        "There is nothing to report",
        "`fourbar report RESULT` takes the folder of a run or of `fourbar inverse`, or its `trajectory.csv`. It reports motors and drives, joint reactions, springs and energies; the result needs at least the time and one of these columns. A run with `--columns` omits columns.",
    ),
    page(
        "S420",
        "The path is not reached",
        "The point cannot follow its path: at the time in the message the joints no longer close. The path leaves the workspace of the mechanism, or starts too far from the drawn position. Move the path, draw the mechanism nearer to its start, or inspect the position with `fourbar inverse FILE --t-end T` just before.",
    ),
    page(
        "S421",
        "The motors cannot cause the motion",
        "The path requires forces along a free motion that none of the motors drives. The message names the motion and the missing force. Add a motor on a joint that contributes to it, or choose a path that requires no force along it.",
    ),
    page(
        "S422",
        "The path does not determine the motion",
        "The mechanism has more degrees of freedom than the path prescribes, so that many motions move the point along it. The message names the free motions. Prescribe another coordinate of the point, fix a joint with `keep: [joint]`, or give the joint a drive.",
    ),
    page(
        "S430",
        "A parameter cannot change alone",
        "The mechanism is overconstrained: if one dimension changes its loops no longer close, as in a Bennett linkage with one longer link. The message gives the gap per unit of the parameter, and the ratio in which parameters may change together. For the derivative of such a combination make the other parameters depend on this one in the file, as in `L3: L1`.",
    ),
    page(
        "S431",
        "A measure has no value",
        "The measure is not defined for this run: a condition of `first` is never true, a time of `at` is outside the run, or a column is not finite. Extend the run, or choose another measure.",
    ),
    page(
        "S432",
        "A derivative does not exist or cannot be computed",
        "At a singular position, at a neutral equilibrium, or for a parameter that changes the number of bodies or rows, the motion does not depend smoothly on the parameter. The message gives the reason. Move the start away from the singular position, or choose another time.",
    ),
    page(
        "W420",
        "Accelerations of the path jump",
        "Where the acceleration of a path jumps, as at the corners of a trapezoidal profile or of an expression with `if`, efforts jump too, which no motor can follow. The message gives the time. Use `profile: minimum-jerk`, or `smoothstep` in expressions.",
    ),
    page(
        "W421",
        "The mechanism passes near a singular position",
        "Near a singular position of the first kind joints must be very fast, near one of the second kind the motor efforts become very large, because the motors hardly act along the required motion. The message gives the time of the smallest distance, and the joints. Move the path, or choose another assembly mode with `--mode`.",
    ),
    page(
        "W422",
        "A motor exceeds its rating",
        "An effort exceeds `rated` or `limit`. Efforts above `rated` are allowed for a short time; the message compares it with the root mean square. If motors share a load, `limit` bounds each of them, and the message states when no distribution satisfies all limits.",
    ),
    page(
        "W423",
        "A measure has a kink here",
        "As a function of the parameter the measure has a kink or a jump at the present value, so that its derivative differs on the two sides. This is so where the largest or smallest value is reached at several instants with derivatives that differ (the derivative given is that of the first instant), and where an event lies exactly at the end of the run or at a row that decides a measure (the derivative given is the mean of both sides). `fourbar sweep` over the parameter shows the kink.",
    ),
    page(
        "W424",
        "Derivatives of this run are differences",
        "The motion has events, dry friction, forces with conditions or states; in these cases the equations are not differentiated, and finite differences of whole runs are used. The error estimate comes from two sizes of the difference.",
    ),
    page(
        "W425",
        "A derivative is too large to be useful",
        "The motion is so sensitive that a change of the parameter by a thousandth changes the result completely: the derivative is correct, but does not describe changes of practical size. Evaluate it at an earlier time.",
    ),
    page(
        "W426",
        "The mechanism leaves the path in forward simulation",
        "As a check, the mechanism was simulated with the computed efforts. It left the path by more than rounding and interpolation explain; this is expected if the motion is unstable without a controller, since small errors grow. The message gives the time and the distance.",
    ),
    page(
        "W427",
        "A parameter is omitted",
        "Derivatives with respect to all parameters were requested, but this one has none: the loops would open if it changed alone, or the mechanism cannot be built for neighbouring values. The message states which. Select parameters with `--to`.",
    ),
    page(
        "W428",
        "A derivative and the differences disagree",
        "With `--check` the derivative is compared with finite differences of the whole computation. The two differ by more than their error estimates. Either the quantity has a kink or jumps at this value of the parameter (an extreme value that moves to another instant, an equilibrium that snaps through), or the motion is so sensitive that differences of runs are useless, or the derivative is wrong: do not use it before you have found the cause.",
    ),
];
