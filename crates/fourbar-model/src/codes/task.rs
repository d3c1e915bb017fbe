//! Pages of the codes of measures, inverse dynamics and sensitivities.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U410",
        "A measure is not understood",
        "A measure is one number of a run: an expression of reductions of its columns over time.\n\n    max(abs(motor.effort))       rms(motor.effort)        range(tip.x)/range(tip.y)\n    at(pin.angle, 0.5 s)         first(t, tip.x > 20 mm)  length(tip)\n\nReductions are `min`, `max`, `range`, `mean`, `rms`, `integral`, `last`, `at(column, time)`, `first(value, condition)` and `length(point)`. Inside them stand columns of the result, outside stand numbers and parameters. A column alone has a value for every time and is no measure; `fourbar plot RESULT` lists the columns.",
    ),
    page(
        "U411",
        "A path or a motor is not understood",
        "`fourbar inverse` needs a path that a point follows and motors that are to cause the motion, from the file or from the command line:\n\n    points: {T: {body: tool, at: [0, 0, 0]}}\n    paths:\n      circle: {point: T, x: '0.12*cos(2*pi*t)', z: '0.45 + 0.12*sin(2*pi*t)'}\n      move:   {point: T, through: [[0, 0, 0.4], [0.1, 0, 0.5], [0.2, 0, 0.4]], profile: minimum-jerk, duration: 1 s}\n    motors: {left: {joint: base_l, rated: 10 N*m}}\n\nThe message says which name is unknown or which number means nothing.",
    ),
    page(
        "U412",
        "A sensitivity is asked of something that is not there",
        "`fourbar sensitivities FILE --of MEASURE --to NAMES` takes parameters that the file declares under `parameters:`, and asks of measures of a run (`max(abs(motor.effort))`), of values at a time (`tip.x@0.5`), of the start (`start.tip.x`), of the rest (`rest.pin.angle`) or of vibrations (`modes.1.omega`). The message names what is unknown.",
    ),
    page(
        "U413",
        "There is nothing to report",
        "`fourbar report RESULT` takes the folder of a run or of `fourbar inverse`, or its `trajectory.csv`. It reports motors and drives, joint reactions, springs and energies; the result needs at least the time and one of these columns. A run with `--columns` leaves columns out.",
    ),
    page(
        "S420",
        "The path is not reached",
        "The point cannot follow its path: at the time in the message the joints no longer close. The path leaves the reach of the mechanism, or starts too far from where the mechanism is drawn. Shift the path, draw the mechanism nearer to its start, or look at the position with `fourbar inverse FILE --t-end T` just before.",
    ),
    page(
        "S421",
        "The motors cannot cause the motion",
        "The path asks for forces along a free motion that none of the motors drives. The message names the motion and says how large the missing force is. Put a motor on a joint that takes part in it, or take a path along which nothing has to push there.",
    ),
    page(
        "S422",
        "The path leaves a motion open",
        "The mechanism has more freedom than the path takes, so that many motions lead the point along it. The message names what is left free. Prescribe another coordinate of the point, keep a joint where it is with `keep: [joint]`, or give the joint a drive.",
    ),
    page(
        "S430",
        "A parameter cannot change alone",
        "The mechanism is overconstrained: with one dimension changed its loops no longer close, as a Bennett linkage with one longer link. The message says by how much the loop would open for each unit of the parameter, and in which ratio parameters may change together. Ask for the derivative of such a combination by making the others follow in the file, as in `L3: L1`.",
    ),
    page(
        "S431",
        "A measure has no value",
        "The run does not have the number that is asked for: a condition of `first` never holds, a time of `at` is outside the run, or a column is not finite. Run longer, or ask for something else.",
    ),
    page(
        "S432",
        "A derivative does not exist or cannot be found",
        "At a singular position, at a rest that is neither stable nor unstable, or for a parameter that changes how many bodies or rows there are, small changes of the parameter do not make small changes of the motion. The message says what was found. Move the start off the singular position, or ask at another time.",
    ),
    page(
        "W420",
        "Accelerations of the path jump",
        "Where the acceleration of a path jumps, as at the corners of a trapezoidal profile or of an expression with `if`, efforts jump too, which no motor does. The message names the time. Take `profile: minimum-jerk`, or `smoothstep` in expressions.",
    ),
    page(
        "W421",
        "The mechanism passes near a singular position",
        "Near a singular position of the first kind joints must be very fast, near one of the second kind motors must push very hard, because they hardly act along the motion that is asked for. The message gives the time at which it is nearest, and the joints. Shift the path, or choose another assembly mode with `--mode`.",
    ),
    page(
        "W422",
        "A motor is asked for more than it gives",
        "An effort is beyond what `rated` or `limit` says. Efforts beyond `rated` are fine for a short time; the message compares the root mean square with it. Where motors share a load, `limit` bounds each of them, and the message says when no sharing keeps all limits.",
    ),
    page(
        "W423",
        "An extreme is reached several times",
        "The largest or smallest value of a measure is reached at several instants, with derivatives that differ. A maximum then has a kink as a function of the parameter: going one way one of the instants decides, going the other way another. The derivative that is given belongs to the first instant.",
    ),
    page(
        "W424",
        "Derivatives of this run are differences",
        "The motion has events, dry friction, forces with conditions or numbers of its own that are integrated; there the equations are not differentiated and the runs themselves are compared, with parameters a little larger and a little smaller. The error that is given comes from two sizes of the change.",
    ),
    page(
        "W425",
        "A derivative has grown beyond use",
        "The motion is so sensitive that a change of the parameter by a thousandth changes the result altogether: the derivative is right, and says nothing about changes of any practical size. Ask for it at an earlier time.",
    ),
    page(
        "W426",
        "Driven forward, the mechanism leaves the path",
        "With the efforts that were found the mechanism was moved forward in time, as a check. It left the path by more than rounding and interpolation explain; where the motion is unstable without a controller that is to be expected, since small errors grow. The message says when and how far.",
    ),
    page(
        "W427",
        "A parameter is left out",
        "Derivatives were asked for by all parameters, and this one has none: the mechanism would open if it changed alone, or cannot be built for values beside its own. The message says which. Name the parameters that you want with `--to`.",
    ),
    page(
        "W428",
        "A derivative and the differences disagree",
        "With `--check` the whole computation is done again for values of each parameter a little larger and a little smaller, and what that gives is compared with the derivative. The two differ by more than the errors of both explain. Either the quantity has a kink or jumps at this value of the parameter (an extreme that goes over to another instant, a rest that snaps to another one), or the motion is so sensitive that differences of runs are of no use, or the derivative is wrong: do not use it before you know which.",
    ),
];
