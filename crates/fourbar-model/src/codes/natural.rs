//! Pages of the codes that natural coordinates can give.

use super::Page;

pub(crate) const PAGES: &[Page] = &[
    Page {
        code: "S280",
        title: "A velocity constraint has no place in natural coordinates",
        text: "Natural coordinates describe the mechanism by a Lagrangian with constraints C(t, q) on positions. Rolling without slipping and knife edges constrain velocities only and have no such form. Use formulation `ra`, which carries them.",
    },
    Page {
        code: "S281",
        title: "A spring or rope without length",
        text: "The two ends of a spring or rope coincide at the start, so its force has no direction and no Taylor series. Move one end a little, give a spring the rest length zero (then its potential is smooth), or use formulation `ra`, where such an element pulls nowhere.",
    },
    Page {
        code: "S282",
        title: "Friction that depends on a joint's load",
        text: "Where two parts share a point there is no multiplier, hence no load on which friction could depend while the motion is computed; loads are found afterwards. Use formulation `ra`, or state the friction without load: viscous friction, or an actuator whose effort is an expression of the joint's speed.",
    },
    Page {
        code: "S283",
        title: "An expression that jumps without end",
        text: "`floor`, `ceil` and `mod` of something that moves jump at places that are not known beforehand, and between them their derivatives say nothing. The Taylor method stops at every jump that it can see: write the expression with `step`, `ramp`, `if`, `min`, `max` or `abs`, or use formulation `ra`.",
    },
    Page {
        code: "S284",
        title: "The Taylor method cannot go on",
        text: "The series at the present point could not be computed, or the step became too small. The message names the equations or coordinates that take part. Usual causes: a singular position of the mechanism exactly at the start; a body without inertia that is free to turn; an expression at the edge of its domain (a root or logarithm of zero); a motion that stays on the edge of a jump in a force. Another tolerance may step over a singular position; formulation `ra` copes with bodies without inertia and with jumps.",
    },
    Page {
        code: "S285",
        title: "A dependent constraint is no longer implied",
        text: "In a mechanism with redundant constraints some rows are left out, because the others imply them. After a step such a row was found violated, and no other choice of rows cures it: the step is not taken. Either the mechanism started at a position where constraints depend on each other that are independent elsewhere, such as a chain pulled straight between its supports, which cannot move at all: start a little beside it. Or it has come to a position where the rank of its constraints changes, and follows a branch that the rows in use allow but the whole mechanism does not: use formulation `ra`, which keeps all rows.",
    },
    Page {
        code: "S290",
        title: "Natural coordinates have nothing to compute",
        text: "Every body is fixed to the ground, directly or through others, so that no point or direction is left that could move, and there is no equation to solve. Other formulations carry such a mechanism with its constraints: `ra` gives its reactions, which are those of a structure at rest.",
    },
    Page {
        code: "S291",
        title: "A joint that natural coordinates do not support",
        text: "The formulation `natural` moves by Taylor series of its equations, which must be smooth without end. A point-on-curve joint follows a spline: its curvature is continuous, but its higher derivatives jump at the points of the curve. All other formulations carry such a joint: `ra`, `rp`, `reps`, `so3xr3`, `se3`, `lie`, `dca`, `grcr`, and kinematics.",
    },
    Page {
        code: "W290",
        title: "Another formulation goes on",
        text: "The study names no formulation, and the one that `auto` chose could not go on: at the start, or at the time given. The rows until then are good and stay; the next formulation starts from the state of the last row, brought back to the constraints to rounding, and the run goes on with it. Angles keep their count and work its sum, so that the trajectory is one. The message names who could not go on and why; a singular position is the usual cause, and reactions near it deserve a second look. A formulation that is named (`--formulation ra`) is never changed: its run ends with its own message. If no formulation gets any further, the run ends with the message of the first.",
    },
];
