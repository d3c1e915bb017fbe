//! Pages of the codes that solving can give.

use super::Page;

macro_rules! page {
    ($code:literal, $title:literal, $text:literal) => {
        Page { code: $code, title: $title, text: $text }
    };
}

pub(crate) const PAGES: &[Page] = &[
    page!(
        "S210",
        "The constraints are not finite at the start",
        "A drive or a bare constraint has no finite value at t = 0, so there is nothing to assemble towards. Look at its expression: a division by zero, a logarithm of zero, a root of a negative number."
    ),
    page!(
        "S211",
        "The mechanism cannot be assembled",
        "No position was found, from the given start and from three disturbed ones, in which all joints close and all drives have their values at t = 0. The message names the joints that stay open, with the gap in metres or radians; the gap was concentrated on as few joints as possible, so the fault is usually in the links next to them. Check lengths, the drive values at t = 0 (zero means as drawn), and `hold:`. If another pose exists far from the drawn one, draw the mechanism closer to it."
    ),
    page!(
        "S212",
        "No velocities fit the start",
        "The joints close, but no velocities satisfy all joints and drives at once: the mechanism starts at a dead point of a drive, or two drives contradict each other. Start a little beside the dead point, or free one drive."
    ),
    page!(
        "S220",
        "A dead point of the drives",
        "The mechanism cannot follow its drives beyond this time: a chain of links is stretched or folded, the axes of a joint would flip, or the only continuation lies on another branch. The message names the joints and drives whose constraints become dependent there. Limit the drive, drive another joint, or let dynamics move it (`study: {analysis: dynamics}` and `fourbar run`), where inertia decides how the mechanism goes on."
    ),
    page!(
        "S221",
        "The drives leave motions free",
        "Kinematics needs as many drives as the mechanism has freedoms. The message names a set of joint coordinates that are still free; drive them, or let dynamics move it (`study: {analysis: dynamics}` and `fourbar run`)."
    ),
    page!(
        "S222",
        "Kinematics cannot follow rolling",
        "Rolling elements and knife edges constrain velocities, not positions: where a body ends up depends on the way it took. State `study: {analysis: dynamics}` and use `fourbar run`."
    ),
    page!(
        "S223",
        "Friction locks a driven mechanism",
        "Dry friction is proportional to the load of its joint, and a part of that load is made by the friction itself. Where the friction returns more than it takes, no finite effort of the drives moves the mechanism: it jams, like a self-locking screw. Make `coulomb` or its radius smaller, or drive the mechanism at another joint."
    ),
    page!(
        "S224",
        "A drive has no finite value",
        "The function of time of a drive or bare constraint, or one of its first two derivatives, is infinite or undefined from this time on: a root or logarithm of a negative number, a division by zero. Write the function so that it goes on, for instance with `if` or `max`, or let the run end before."
    ),
    page!(
        "S230",
        "A step of the integrator fails",
        "Newton's iteration does not converge even with the exact matrix and a very small step. The message gives the time, the step, and the constraint with the largest residual. Typical causes: a force that jumps or grows without bound, a drive that is not smooth, a dead point met at speed. Look at the motion just before this time with `fourbar view`."
    ),
    page!(
        "S231",
        "The step of an explicit method has become too small",
        "The error estimate asks for smaller and smaller steps, or bodies turn by more than half a turn within a stage. Stiff forces (strong dampers, hard springs), forces that jump, and singular positions do this. An implicit formulation (`--formulation ra`) passes stiff forces; a larger tolerance may pass the rest."
    ),
    page!(
        "S232",
        "The accelerations are not finite",
        "A stage of an explicit method met a force or a constraint matrix that gives no finite accelerations, even with a very small step. A force law with a pole, bodies flung away by a step that is too large, or a singular position do this. Take a smaller step or tolerance, or `--formulation ra`, which passes singular positions."
    ),
    page!(
        "S233",
        "The constraints cannot be closed again after a step",
        "After each step an explicit formulation returns to the constraints by the smallest correction. It was refused because it is too large or does not converge, even with a very small step: the step is too coarse, or a singular position is near. Take a smaller step or tolerance, or `--formulation ra`, which passes singular positions; `--option constraints=none`, with dca `projection=none`, shows the motion without correction."
    ),
    page!(
        "S234",
        "Euler angles are singular at the start",
        "With `--formulation reps --option rechart=0` every body keeps its plain ZXZ Euler angles. They are singular where the z axis of the body is along that of the world: a body that starts unrotated is there already. Leave the option out, and the body gets another reference frame; or use `ra` or `rp`, which have no singularity."
    ),
    page!(
        "S235",
        "Forces have turned out to be stiff",
        "The steps of an explicit method were held back by stability for a while: a fast motion that is damped or has come to rest, such as that of a bushing, a hard spring or steep friction, limits them, and accuracy would allow larger ones. Where the program chose the method it goes on with `radau`, an implicit method of fifth order, from the state that was reached."
    ),
    page!(
        "S240",
        "The checkpoint cannot be used",
        "It is incomplete, belongs to another mechanism, or to other options. Resume with the file and options of the first run, or start again."
    ),
    page!(
        "S241",
        "The mechanism comes apart",
        "A joint is open, or a drive is off its value, by more than a thousandth of the size of the mechanism: what was computed from there on is no motion of this mechanism, so the run ends and its result counts as incomplete. The message gives the time, the joint and the gap; rows before that time are good. Usually a drive asks for a position that the links cannot reach, or a singular position was passed at too large a step. Limit the drive, look at the motion just before with `fourbar view`, and compare formulations with `fourbar verify`."
    ),
    page!(
        "S242",
        "Energy and work do not balance",
        "Energy minus the work of drives and of forces without a potential is the same at all times. At the end of a run its change is compared with the energy that the motion carried: the largest kinetic energy, the range of the potential energy and the work. Adaptive runs may be off by a thousand tolerances of that, more in proportion where they take more than 500 steps, at most a tenth of it; runs with fixed steps may be off by a tenth, and are warned of from a hundredth (W242). Beyond, the motion or its loads are wrong, and the run fails. Choose a smaller tolerance or step, or another formulation; look for forces that jump and for singular positions. Where control was switched off by an option (`constraints=none`, `constraints=baumgarte`, `projection=none`), it is a warning."
    ),
    page!(
        "S244",
        "A drive jumps",
        "The position that a drive or a bare constraint prescribes jumps at this time: the pieces of its function of time (`if`, `step`, `ramp`, `floor`, `sign`, `abs`, `mod`, `min`, `max`) do not fit together there, and no mass changes its position in no time. Let the pieces meet, such as with `smoothstep(t, t0, t1)`, or end the run before. A speed that jumps is an impact, which events.csv lists with the energy it takes; kinematics follows it with a warning (W244). Time stepping of rigid contacts takes no such impact and refuses it."
    ),
    page!(
        "S246",
        "A point has run off its curve",
        "A point-on-curve joint on an open curve came to the end of it. Beyond its first and last point the curve is not drawn, so what would follow is no result. What was given before is good. End the run before, give the curve more points at that end, hold the point back by a force that depends on its distance, or close the curve."
    ),
    page!(
        "W241",
        "Joints come apart, as an option permits",
        "With `constraints=none`, `constraints=baumgarte` or, with dca, `projection=none` or `projection=stabilised`, nothing returns the bodies to the constraints after a step. A gap has grown beyond a thousandth of the size of the mechanism; without the option the run would have failed (S241). Read the result as a study of drift, not of the mechanism."
    ),
    page!(
        "W242",
        "Energy and work balance poorly",
        "With fixed steps, energy minus work changed by more than a hundredth of the energy that the motion carried: the step is large for this motion. Compare with a smaller one. In kinematics the motion follows from the drives alone and is not affected, only the column `energy.work` is wrong: the power changes too quickly to be summed at these times. Choose a smaller `--output-step`, or `--step` for steps in between."
    ),
    page!(
        "W244",
        "The motion of a drive jumps",
        "In kinematics the speed that a drive prescribes jumps at this time, or, with time stepping of rigid contacts, its acceleration. The motion is right on both sides. Accelerations, reactions and efforts leave the blow out. `smoothstep(t, t0, t1)` passes without a jump."
    ),
    page!(
        "S253",
        "Rates of states that are not finite",
        "The expression of a state's rate, under `states:`, is infinite or undefined at the time that the message says: a division by zero, a root of something negative. The rows before are good."
    ),
    page!(
        "S254",
        "Inputs that cannot be changed on the way",
        "During verification a formulation had gone beyond the time at which an input changes, and could not come back to it. The other formulations are compared all the same."
    ),
    page!(
        "S255",
        "A computation was stopped",
        "Whoever had started the computation ended it before it was complete: in Python by Ctrl-C. Nothing of it is kept, unless the call says so. Start it again."
    ),
    page!(
        "S252",
        "A run broke off during verification",
        "One of the formulations stopped without a result and without a reason, which is a fault of the program. The other formulations are compared all the same. Please report it with the mechanism file."
    ),
    page!(
        "S270",
        "A loop cannot be closed",
        "In joint coordinates the loops are closed again at every evaluation, from the values that the integrator predicts. The loop through the named joint did not close from there: the step reaches beyond a dead point of the links, or a drive asks for a position that the links cannot reach. The step is halved on this; the message appears where that did not help. Look at the drives near this time, or run with `--formulation ra`, which carries loops in another way."
    ),
    page!(
        "S271",
        "Plain recursive coordinate reduction breaks down",
        "With `--option coupling=rcr` the formulation `grcr` takes the last coordinates of every loop as its dependent ones, as the method of [Critchley03, section 3] does. That is not possible where one of them can move while all before it stand still, as the two slides on one line of the model `grcr_five_bar`; the message names it, and the time where it happens on the way. The option is there to show this: without it, or with `coupling=acs` or `gcl`, other coordinates are taken."
    ),
    page!(
        "S251",
        "A formulation did not finish in time",
        "During verification each formulation has a limited time, `--patience`. Explicit formulations take very small steps where forces are stiff; the others are compared without them. Give more time, a larger tolerance, or name the formulations to compare with `--formulations`."
    ),
    page!(
        "W201",
        "The start had to be changed to close the mechanism",
        "The drawn start leaves joints open; the nearest consistent position, in the metric of the masses, is used instead. `fourbar assemble` lists what moved and by how much. If it moved more than you expect, a length is wrong. Where the bodies had to move far, closed poses are looked for from several starts and the nearest is taken; the notes of `assemble` and `run` say which. Conditions under `start:` are no reason for this warning."
    ),
    page!(
        "W202",
        "The start velocities had to be changed",
        "The given velocities do not fit the joints and drives; the nearest that do are used. Leave velocities out where the drives decide them."
    ),
    page!(
        "W220",
        "A singular position is passed",
        "At this time the constraints of the named joints become dependent, though they are independent elsewhere: other branches of motion start there, and reactions or drive efforts may grow without bound near it. Dynamics is carried through by inertia; kinematics by the prediction from velocity and acceleration."
    ),
    page!(
        "W230",
        "Friction on a load that is not unique",
        "Coulomb friction is proportional to a joint's load, but the mechanism is over-constrained and that load has no definite value. The minimum-norm value is used. Remove the redundancy (make one hinge spherical and another cylindrical), or state the friction without load."
    ),
    page!(
        "W231",
        "Reactions at a singular position",
        "At a singular position the reactions are not well defined by the state; the values of the step itself are written, which are of the right size but depend on the step."
    ),
    page!(
        "W232",
        "Steps above the tolerance",
        "Near a singular position the error estimate sees the multipliers jump at any step size, so an adaptive run holds its step there; elsewhere a step is taken after seven tries. The accuracy asked for is then not guaranteed. Compare the result with a run at another tolerance or with a fixed step."
    ),
    page!(
        "W235",
        "An explicit method is held back by stiff forces",
        "The explicit method that was named took its steps as large as it is stable with, and smaller than accuracy asks for. The result is right, but takes longer than it needs to: `--integrator radau`, with `--formulation ra` or `grcr`, takes larger steps."
    ),
    page!(
        "W281",
        "Reactions that are poorly known",
        "At this time the constraints of the named joints are nearly dependent: a load that runs around the loop hardly moves anything, so the equations of motion determine it only up to rounding of the state, divided by the square of the distance from dependence. The message says how large that is, relative to the largest reaction; the motion is not affected. Directions that are fully dependent are listed as not unique instead. Free one of the nearly dependent directions where such a reaction matters, or look at it at another time."
    ),
    page!(
        "W282",
        "Masses of very different size",
        "Bodies that joints connect differ in mass by more than 1e9. Their equations are solved together, so rounding of the heavy body's acceleration is as large as the forces on the light one: its own motion and its reactions may be known to a few digits only, and some formulations need very small steps or stop. Joint coordinates (`grcr`), divide and conquer (`dca`) and `natural` keep more digits than those that reduce the equations to the joints (`ra`, `rp`, `reps`, `lie`). Leave a mass out that does not matter, or compare with `fourbar verify`."
    ),
];
