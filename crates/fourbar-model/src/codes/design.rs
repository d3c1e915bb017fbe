//! Pages of the diagnostic codes of the analyses of designers: equilibria, linear models, modes.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "S401",
        "There is no equilibrium",
        "Nothing balances the forces on the mechanism, so that it would move indefinitely. The message names the force and the motion. Constrain that motion by a joint, a spring or a drive, or remove the force.\n\n    bodies: {plate: {mass: 2, ...}}     # no joint, no spring: it falls",
    ),
    page(
        "S402",
        "The load would need infinite reactions",
        "The position is singular: the joints permit a motion at first order and prevent it at second order, like a taut chain or a mechanism at its dead point. No finite reactions balance a load along this motion. Draw the mechanism away from the singular position; a slightly sagging chain carries the load with large but finite reactions.",
    ),
    page(
        "S403",
        "No equilibrium was found",
        "The search ended at a position where the forces do not balance; the message gives the residual as a fraction of the largest load, and the force that remains. Discontinuous forces (an expression with `if`, a hard stop) may have no equilibrium at the jump: smooth them. Otherwise start closer to the equilibrium, or search from many starts with `fourbar equilibrium FILE --all`.",
    ),
    page(
        "S404",
        "A load path cannot be followed further",
        "While the parameter of `--along` changed, the equilibrium could not be followed beyond the value in the message: the joints no longer close, the file is invalid for that value of the parameter, or the equilibrium ceases to exist. The path up to that value is reported.",
    ),
    page(
        "S405",
        "No equilibrium within the limits of the joints was found",
        "A rigid limit (`limits:` of a joint without a stiffness, a rope or a ratchet) acts in one direction only. The search needs a set of closed limits, all others being open. No consistent set was found: each equilibrium violates a limit, or needs one that would have to pull. The message names the limits. Start closer to the equilibrium, or on the other side of the limit; or give the limit a stiffness, which makes it a force.",
    ),
    page(
        "S410",
        "The mechanism is neither at rest nor in a steady motion",
        "Vibrations are small motions about an equilibrium or a steady motion, in which the mechanism as a whole rotates about an axis and translates, and bodies of revolution spin. The message names the body whose acceleration does not fit, and its magnitude. `--about equilibrium` finds the equilibrium first; for a steady motion give consistent velocities. `--frozen` treats the coefficients of this instant as constant, which is of little use if they change.",
    ),
    page(
        "S411",
        "The eigenvalues could not be found",
        "The matrix of the linear model contains values that are not finite, or the eigenvalue iteration did not converge. Check for a force whose derivative is infinite at this state: a root at zero, or a spring of zero current length and nonzero free length.",
    ),
    page(
        "S412",
        "The motion does not repeat itself",
        "`fourbar modes --floquet PERIOD` analyses a periodic motion, up to a rotation and a translation of the whole mechanism. The message names the body whose pose or velocity differs after that time. Give the period with more digits (`2*pi/W` of a drive, for example), or first run to a state of the periodic motion with `--about TIME`. Mechanisms with `states:` are not supported.",
    ),
    page(
        "U400",
        "The mechanism is too large for this analysis",
        "Linear models, and equilibria of mechanisms with states, rolling bodies or forces on many bodies at once, are computed with dense matrices, whose size grows with the square of the number of bodies and whose cost grows with its cube; up to 400 moving bodies are allowed. Analyse a part of the mechanism, or merge parts that do not move relative to each other into one body.",
    ),
    page(
        "U401",
        "There is no such output or input",
        "`fourbar linearize` takes inputs from `inputs:` of the file, and as outputs the names under `outputs:`, coordinates of joints (`pin.angle`, `pin.distance`, `pin.speed`), of points (`tip.x`, `tip.vx`) and states. The message names the nearest known one.",
    ),
    page(
        "U402",
        "A range of a parameter is not understood",
        "`--along NAME=A..B` and `--against NAME=A..B` take a parameter of the file and the two ends of its range, numbers or quantities such as `0..3 kN`. The parameter must be declared under `parameters:` and the ends must differ.",
    ),
    page(
        "U403",
        "The equilibrium of a mechanism that starts from it was not computed",
        "The file contains `start: {from: equilibrium}`. The command computes the equilibrium of such a mechanism when it reads it; a program that uses the library first calls `start_settled` of the crate fourbar-design and uses the mechanism that it returns.",
    ),
    page(
        "U404",
        "The mechanism cannot be written in its equilibrium position",
        "`fourbar equilibrium FILE -o settled.yaml` writes the mechanism with its equilibrium poses. Bushings and gears with a carrier have their zero in the drawn position, and joints whose angle is beyond half a turn would lose the count of their turns: written in another position they would be different mechanisms. Use `start: {from: equilibrium}` in the file instead.",
    ),
    page(
        "W401",
        "The equilibrium is neutral",
        "Along one motion the stiffness is zero: the individual contributions cancel to a millionth. Either every position along it is an equilibrium, as for a balanced arm, or the equilibrium is at the boundary between stable and unstable. The message states which.",
    ),
    page(
        "W402",
        "The equilibrium is unstable",
        "The forces balance, but any small perturbation grows along the motion in the message. `fourbar equilibrium FILE --all` searches for other equilibria.",
    ),
    page(
        "W403",
        "Dry friction is left out",
        "Dry friction holds a mechanism in a whole range of positions around an equilibrium, and its force has no derivative at rest. Equilibria, vibrations and linear models are computed without it; viscous friction is included.",
    ),
    page(
        "W404",
        "The stiffness depends on self-stress",
        "The position is singular and the mechanism has redundant joints: assembly stresses, which statics does not determine, change its stiffness there. The frequencies are those for the reactions of minimum norm.",
    ),
    page(
        "W405",
        "A force without potential is present",
        "The stiffness is not symmetric: a follower force or a controller supplies or dissipates energy along closed paths. The squares of frequencies then do not determine stability, and the eigenvalues of the motion are used instead; `fourbar modes` lists them.",
    ),
    page(
        "W411",
        "An eigenvalue is ill-conditioned",
        "Two eigenvalues nearly coincide, or a motion is close to a rigid one: a small change of the mechanism causes a much larger change of this eigenvalue. The number in the message is the factor by which an error of the matrix is amplified.",
    ),
    page(
        "W412",
        "Forces change with time",
        "An expression of a force contains the time. Equilibria and linear models use the forces at the time given by `--at`.",
    ),
    page(
        "W413",
        "No eigenvalues at a value of the parameter",
        "The mechanism could not be linearised at this value of the parameter of `--against`; the message gives the reason. The other values are reported.",
    ),
];
