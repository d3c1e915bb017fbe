//! Pages of the codes that the analyses of designers can give: equilibria, linear models, modes.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "S401",
        "There is no equilibrium",
        "Nothing holds the mechanism against its forces: following them it moves on without end. The message names the force that drives it and the motion along which it goes. Hold that motion by a joint, a spring or a drive, or leave the force out.\n\n    bodies: {plate: {mass: 2, ...}}     # no joint, no spring: it falls",
    ),
    page(
        "S402",
        "The load would need infinite reactions",
        "The position is singular: the joints allow a motion at first order and forbid it at second, as a taut chain or a mechanism at its dead point does. A load along this motion is not balanced by any finite reactions there. Draw the mechanism off the singular position; a chain that sags a little carries the load with large, but finite reactions.",
    ),
    page(
        "S403",
        "No equilibrium was found",
        "The search ended at a position where a part of the forces is left; the message says which share of the largest load, and what drives the mechanism on. Forces that jump (an expression with `if`, a hard stop) have no equilibrium where they jump: smooth them. Otherwise start closer to the rest, or look from many starts with `fourbar equilibrium FILE --all`.",
    ),
    page(
        "S404",
        "A load path cannot be followed further",
        "While the parameter of `--along` changed, the equilibrium could not be followed beyond the value in the message: the joints no longer close, the file is refused for that value of the parameter, or the equilibrium ends. The part up to there is reported.",
    ),
    page(
        "S405",
        "No rest within the limits of the joints was found",
        "A rigid limit (`limits:` of a joint without a stiffness, a rope or a ratchet) pushes, and never pulls. The rest is looked for with the limits that the mechanism leans on closed and all others open; here no such set was found: each rest passes a limit, or is held by one that would have to pull. The message names the limits. Start closer to the rest, or on the other side of the limit; or give the limit a stiffness, which makes it a force.",
    ),
    page(
        "S410",
        "The mechanism is neither at rest nor in a steady motion",
        "Vibrations are small motions about a rest, or about a motion that always looks the same: the whole turns about an axis and travels, bodies of revolution spin. The message names the body that accelerates otherwise and by how much. `--about equilibrium` settles the mechanism first; for a steady motion give the velocities that belong to it. `--frozen` takes the coefficients of this instant as constant, which says little where they change.",
    ),
    page(
        "S411",
        "The eigenvalues could not be found",
        "The matrix of the linear model holds numbers that are not finite, or the iteration for its eigenvalues did not end. Look for a force whose derivative is infinite at this state: a root at zero, a spring of zero length with a free length.",
    ),
    page(
        "S412",
        "The motion does not repeat itself",
        "`fourbar modes --floquet PERIOD` looks at a motion that begins again after its period, up to a turn and a shift of the whole mechanism. The message names the body that is elsewhere, or moves otherwise, after that time. Give the period with more digits (`2*pi/W` of a drive, for example), or run to a state of the periodic motion first with `--about TIME`. Mechanisms with states of their own are not taken.",
    ),
    page(
        "U400",
        "The mechanism is too large for this analysis",
        "Linear models, and equilibria of mechanisms with states, rolling bodies or forces on many bodies at once, are computed with dense matrices, which grow with the square of the number of bodies and take time with its cube; up to 400 moving bodies are allowed. Analyse a part of the mechanism, or replace parts that do not move against each other by one body.",
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
        "A mechanism that starts from its equilibrium has not been settled",
        "The file says `start: {from: equilibrium}`. The command settles such a mechanism when it reads it; a program that uses the library calls `start_settled` of the crate fourbar-design first and moves the mechanism it gives.",
    ),
    page(
        "U404",
        "The settled mechanism cannot be written as a file",
        "`fourbar equilibrium FILE -o settled.yaml` writes the mechanism with the poses of its rest. Bushings and gears with a carrier have their zero where they are drawn, and joints whose angle is beyond half a turn would lose the count of their turns: moved to the rest they would be other mechanisms. Use `start: {from: equilibrium}` in the file instead.",
    ),
    page(
        "W401",
        "The equilibrium is neutral",
        "Along one motion the forces have no stiffness: the single contributions cancel to a millionth. Either the mechanism rests at every position along it, as a balanced arm does, or the equilibrium is about to change from stable to unstable. The message says which.",
    ),
    page(
        "W402",
        "The equilibrium is unstable",
        "The mechanism is in balance but leaves this position at the slightest push, along the motion in the message. `fourbar equilibrium FILE --all` looks for others.",
    ),
    page(
        "W403",
        "Dry friction is left out",
        "Dry friction holds a mechanism in a whole range of positions around an equilibrium, and its force has no derivative at rest. Equilibria, vibrations and linear models are those without it; viscous friction counts.",
    ),
    page(
        "W404",
        "The stiffness depends on self-stress",
        "The position is singular and the mechanism has redundant joints: stresses that statics does not determine, from how it was put together, change its stiffness there. The frequencies given are those with the smallest reactions.",
    ),
    page(
        "W405",
        "A force without potential takes part",
        "The stiffness is not symmetric: a force that follows its body, or a controller, feeds or takes energy along closed ways. The squares of frequencies do not decide about stability then, and the eigenvalues of the motion are taken instead; `fourbar modes` lists them.",
    ),
    page(
        "W411",
        "An eigenvalue is badly conditioned",
        "Two eigenvalues are about to become one, or a motion is close to a rigid one: a small change of the mechanism changes this eigenvalue much more. The number in the message is by how much an error of the matrix is magnified.",
    ),
    page(
        "W412",
        "Forces change with time",
        "An expression of a force contains the time. Equilibria and linear models are those of the forces as they are at the time that was asked for (`--at`).",
    ),
    page(
        "W413",
        "No roots at a value of the parameter",
        "While the parameter of `--against` changed, the mechanism could not be linearised at this value; the message says why. The other values are reported.",
    ),
];
