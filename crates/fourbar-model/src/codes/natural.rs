//! Pages of the diagnostic codes of natural coordinates.

use super::Page;

pub(crate) const PAGES: &[Page] = &[
    Page {
        code: "S280",
        title: "Natural coordinates do not support velocity constraints",
        text: "Natural coordinates describe the mechanism by a Lagrangian with constraints C(t, q) on positions. Rolling without slipping and knife edges constrain only velocities and have no such form. Use formulation `ra`, which supports them.",
    },
    Page {
        code: "S281",
        title: "A spring or rope without length",
        text: "The two ends of a spring or rope coincide at the start, so its force has no direction and no Taylor series. Move one end a little, give a spring the rest length zero (then its potential is smooth), or use formulation `ra`, where such an element exerts no force.",
    },
    Page {
        code: "S282",
        title: "Friction that depends on a joint's load",
        text: "Two parts that share a point have no multiplier, hence no load on which friction could depend while the motion is computed; loads are computed afterwards. Use formulation `ra`, or define friction that does not depend on the load: viscous friction, or an actuator whose effort is an expression of the joint's speed.",
    },
    Page {
        code: "S283",
        title: "An expression with unpredictable jumps",
        text: "`floor`, `ceil` and `mod` of a variable quantity jump at places that are not known in advance, and their derivatives between the jumps give no information. The Taylor method stops at every jump that it can locate: write the expression with `step`, `ramp`, `if`, `min`, `max` or `abs`, or use formulation `ra`.",
    },
    Page {
        code: "S284",
        title: "The Taylor method cannot continue",
        text: "The series at the current point could not be computed, or the step became too small. The message names the equations or coordinates involved. Common causes: a singular position of the mechanism exactly at the start; a body without inertia that is free to turn; an expression at the edge of its domain (a root or logarithm of zero); a motion that stays on the edge of a jump in a force. With another tolerance the steps may pass a singular position; formulation `ra` handles bodies without inertia and jumps.",
    },
    Page {
        code: "S285",
        title: "A dependent constraint is no longer implied",
        text: "In a mechanism with redundant constraints some rows are omitted, because the others imply them. After a step such a row was violated, and no other selection of rows avoids this: the step is rejected. Either the mechanism started in a singular position, such as a chain pulled straight between its supports, which cannot move at all: start slightly away from it. Or it has reached a position where the rank of its constraints changes, and follows a branch that the selected rows permit but the whole mechanism does not: use formulation `ra`, which keeps all rows.",
    },
    Page {
        code: "S290",
        title: "Natural coordinates have nothing to compute",
        text: "Every body is fixed to the ground, directly or through others, so that no point or direction can move, and there is no equation to solve. Other formulations support such a mechanism with its constraints: `ra` computes its reactions, which are those of a static structure.",
    },
    Page {
        code: "S291",
        title: "A joint that natural coordinates do not support",
        text: "The formulation `natural` uses Taylor series of its equations, which must be infinitely differentiable. A point-on-curve joint follows a spline: its curvature is continuous, but its higher derivatives jump at the points of the curve. All other formulations support such a joint: `ra`, `rp`, `reps`, `so3xr3`, `se3`, `lie`, `dca`, `grcr`, and kinematics.",
    },
    Page {
        code: "W290",
        title: "Another formulation continues the run",
        text: "The study selects no formulation, and the one that `auto` chose failed at the start or at the given time. The rows until then are valid and kept; the next formulation starts from the state of the last row, projected onto the constraints to rounding, and continues the run. Counted turns and accumulated work are kept, so that the trajectory is continuous. The message names the formulation that failed and the reason; the usual cause is a singular position, and reactions near it should be checked. A formulation selected by name (`--formulation ra`) is never replaced: its run ends with its own message. If no formulation can continue, the run ends with the message of the first.",
    },
];
