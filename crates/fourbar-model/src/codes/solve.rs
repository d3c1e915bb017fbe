//! Pages of the diagnostic codes of solving.

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
        "A drive or a bare constraint has no finite value at t = 0, so the mechanism cannot be assembled. Check its expression: a division by zero, a logarithm of zero, a root of a negative number."
    ),
    page!(
        "S211",
        "The mechanism cannot be assembled",
        "No position was found, from the given start and from three perturbed ones, in which all joints close and all drives have their values at t = 0. The message names the joints that stay open, with the gap in metres or radians; the gap was concentrated on as few joints as possible, so the error is usually in the adjacent links. Check lengths, the drive values at t = 0 (zero is the drawn position), and `hold:`. If a closed pose exists far from the drawn one, draw the mechanism closer to it."
    ),
    page!(
        "S212",
        "No consistent velocities at the start",
        "The joints close, but no velocities satisfy all joints and drives: the mechanism starts at a dead point of a drive, or two drives contradict each other. Start slightly away from the dead point, or remove one drive."
    ),
    page!(
        "S220",
        "A dead point of the drives",
        "The mechanism cannot follow its drives beyond this time: a chain of links is stretched or folded, the axes of a joint would flip, or the only continuation lies on another branch. The message names the joints and drives whose constraints become dependent there. Limit the drive, drive another joint, or use dynamics (`study: {analysis: dynamics}` and `fourbar run`), where inertia determines how the motion continues."
    ),
    page!(
        "S221",
        "The mechanism is not fully driven",
        "Kinematics needs as many drives as the mechanism has degrees of freedom. The message names a set of joint coordinates that are still free; drive them, or use dynamics (`study: {analysis: dynamics}` and `fourbar run`)."
    ),
    page!(
        "S222",
        "Kinematics does not support rolling",
        "Rolling elements and knife edges constrain velocities, not positions: the position of a body depends on its path. Write `study: {analysis: dynamics}` and use `fourbar run`."
    ),
    page!(
        "S223",
        "Friction locks a driven mechanism",
        "Dry friction is proportional to the load of its joint, and part of that load is caused by the friction itself. If friction increases the load by more than the load increases friction, no finite effort of the drives moves the mechanism: it jams, like a self-locking screw. Reduce `coulomb` or its radius, or drive the mechanism at another joint."
    ),
    page!(
        "S224",
        "A drive has no finite value",
        "The function of time of a drive or bare constraint, or one of its first two derivatives, is infinite or undefined from this time on: a root or logarithm of a negative number, a division by zero. Extend the function, for instance with `if` or `max`, or end the run before that time."
    ),
    page!(
        "S230",
        "A step of the integrator fails",
        "Newton's iteration does not converge even with the exact matrix and a very small step. The message gives the time, the step, and the constraint with the largest residual. Typical causes: a force that jumps or grows without bound, a drive that is not smooth, a dead point reached at speed. View the motion just before this time with `fourbar view`."
    ),
    page!(
        "S231",
        "The step of an explicit method has become too small",
        "The error estimate requires ever smaller steps, or bodies turn by more than half a turn within a stage. Common causes are stiff forces (strong dampers, hard springs), discontinuous forces, and singular positions. An implicit formulation (`--formulation ra`) handles stiff forces; a larger tolerance may help in the other cases."
    ),
    page!(
        "S232",
        "The accelerations are not finite",
        "In a stage of an explicit method a force or the constraint matrix gives no finite accelerations, even with a very small step. Common causes are a force law with a pole, a step that is too large, and a singular position. Use a smaller step or tolerance, or `--formulation ra`, which passes singular positions."
    ),
    page!(
        "S233",
        "The constraints cannot be closed again after a step",
        "After each step an explicit formulation projects the state onto the constraints by the smallest correction. The correction was rejected because it is too large or does not converge, even with a very small step: the step is too coarse, or a singular position is near. Use a smaller step or tolerance, or `--formulation ra`, which passes singular positions; `--option constraints=none`, with dca `projection=none`, shows the motion without correction."
    ),
    page!(
        "S234",
        "Euler angles are singular at the start",
        "With `--formulation reps --option rechart=0` every body keeps its plain ZXZ Euler angles. They are singular if the z axis of the body is parallel to that of the world, as for a body that starts unrotated. Without the option the body gets another reference frame; or use `ra` or `rp`, which have no singularity."
    ),
    page!(
        "S235",
        "The forces are stiff",
        "Stability limited the steps of an explicit method for some time: a fast mode that is damped or at rest, such as that of a bushing, a hard spring or steep friction, requires small steps although accuracy would allow larger ones. If the method was chosen automatically, the run continues with `radau`, an implicit method of fifth order, from the current state."
    ),
    page!(
        "S240",
        "The checkpoint cannot be used",
        "It is incomplete, belongs to another mechanism, or to other options. Resume with the file and options of the first run, or start again."
    ),
    page!(
        "S241",
        "The mechanism comes apart",
        "A joint is open, or a drive deviates from its value, by more than a thousandth of the size of the mechanism: the computed motion is no longer valid, so the run ends and its result is incomplete. The message gives the time, the joint and the gap; rows before that time are valid. Usually a drive prescribes a position that the links cannot reach, or a singular position was passed with too large a step. Limit the drive, view the motion just before with `fourbar view`, and compare formulations with `fourbar verify`."
    ),
    page!(
        "S242",
        "Energy and work do not balance",
        "Energy minus the work of drives and of forces without a potential is constant. At the end of a run its change is compared with the energy of the motion: the largest kinetic energy, the range of the potential energy and the work. In adaptive runs it may reach a thousand tolerances times that energy, proportionally more with more than 500 steps, and at most a tenth of it; in runs with fixed steps it may reach a tenth, with a warning from a hundredth (W242). Beyond these limits the motion or its loads are wrong, and the run fails. Choose a smaller tolerance or step, or another formulation; check for discontinuous forces and for singular positions. If an option disables drift control (`constraints=none`, `constraints=baumgarte`, `projection=none`), it is a warning."
    ),
    page!(
        "S244",
        "A drive jumps",
        "The position that a drive or a bare constraint prescribes jumps at this time: the pieces of its function of time (`if`, `step`, `ramp`, `floor`, `sign`, `abs`, `mod`, `min`, `max`) do not match there, and a mass cannot change its position instantaneously. Make the pieces continuous, for example with `smoothstep(t, t0, t1)`, or end the run before that time. A jump of the speed is an impact, which events.csv lists with the energy lost; kinematics continues with a warning (W244). Time stepping of rigid contacts does not support such impacts and rejects them."
    ),
    page!(
        "S246",
        "A point has reached the end of its curve",
        "The point of a point-on-curve joint reached the end of an open curve. The curve is not defined beyond its first and last point, so the run ends. The results before are valid. End the run earlier, extend the curve, hold the point back by a force that depends on its distance, or close the curve."
    ),
    page!(
        "W241",
        "Joints come apart, as an option permits",
        "With `constraints=none`, `constraints=baumgarte` or, with dca, `projection=none` or `projection=stabilised`, nothing returns the bodies to the constraints after a step. A gap exceeds a thousandth of the size of the mechanism; without the option the run would have failed (S241). Use the result only to study drift, not the mechanism."
    ),
    page!(
        "W242",
        "Energy and work balance poorly",
        "With fixed steps, energy minus work changed by more than a hundredth of the energy of the motion: the step is large for this motion. Compare with a smaller one. In kinematics the motion follows from the drives alone and is not affected, only the column `energy.work` is inaccurate: the power changes too quickly to be integrated at these times. Choose a smaller `--output-step`, or `--step` for steps in between."
    ),
    page!(
        "W244",
        "The motion of a drive jumps",
        "In kinematics the speed that a drive prescribes jumps at this time, or, with time stepping of rigid contacts, its acceleration. The motion is correct on both sides. Accelerations, reactions and efforts omit the impact. `smoothstep(t, t0, t1)` avoids the jump."
    ),
    page!(
        "S253",
        "Rates of states that are not finite",
        "The expression of a state's rate, under `states:`, is infinite or undefined at the time in the message: a division by zero, a root of a negative number. The rows before are valid."
    ),
    page!(
        "S254",
        "An input could not be changed during the run",
        "During verification a formulation had passed the time at which an input changes, and could not return to it. The other formulations are compared nevertheless."
    ),
    page!(
        "S255",
        "A computation was stopped",
        "The computation was interrupted before it was complete, in Python by Ctrl-C. Its results are discarded unless the call documents otherwise. Start it again."
    ),
    page!(
        "S252",
        "A run was aborted during verification",
        "One of the formulations stopped without a result and without a reason, which is a bug. The other formulations are compared nevertheless. Please report it with the mechanism file."
    ),
    page!(
        "S270",
        "A loop cannot be closed",
        "In joint coordinates the loops are closed at every evaluation, starting from the values that the integrator predicts. The loop through the named joint did not close: the step reaches beyond a dead point of the links, or a drive prescribes a position that the links cannot reach. The step is then halved; the message appears if this did not help. Check the drives near this time, or run with `--formulation ra`, which treats loops differently."
    ),
    page!(
        "S271",
        "Plain recursive coordinate reduction breaks down",
        "With `--option coupling=rcr` the formulation `grcr` uses the last coordinates of every loop as dependent ones, as in [Critchley03, section 3]. This is impossible if one of them can move while all preceding ones are fixed, like the two slides on one line of the model `grcr_five_bar`; the message names it, and the time if it happens during the run. The option exists to demonstrate this: without it, or with `coupling=acs` or `gcl`, other coordinates are used."
    ),
    page!(
        "S251",
        "A formulation did not finish in time",
        "During verification each formulation has a limited time, `--patience`. Explicit formulations take very small steps if forces are stiff; the others are compared without them. Allow more time, use a larger tolerance, or select the formulations to compare with `--formulations`."
    ),
    page!(
        "W201",
        "The start had to be changed to close the mechanism",
        "In the drawn start joints are open; the nearest consistent position, in the mass metric, is used instead. `fourbar assemble` lists which bodies moved and by how much. If they moved more than expected, a length is probably wrong. If the bodies had to move far, closed poses are sought from several starts and the nearest is used; the notes of `assemble` and `run` report this. Conditions under `start:` do not cause this warning."
    ),
    page!(
        "W202",
        "The start velocities had to be changed",
        "The given velocities do not satisfy the joints and drives; the nearest consistent ones are used. Omit velocities that the drives determine."
    ),
    page!(
        "W220",
        "A singular position is passed",
        "At this time the constraints of the named joints become dependent, though they are independent elsewhere: other branches of motion start there, and reactions or drive efforts may grow without bound near it. In dynamics inertia carries the mechanism through; in kinematics the prediction from velocity and acceleration does."
    ),
    page!(
        "W230",
        "Friction on a load that is not unique",
        "Coulomb friction is proportional to a joint's load, but the mechanism is overconstrained and that load is not unique. The minimum-norm value is used. Remove the redundancy (make one hinge spherical and another cylindrical), or define friction that does not depend on the load."
    ),
    page!(
        "W231",
        "Reactions at a singular position",
        "At a singular position the state does not determine the reactions; the values of the integration step are written, which have the correct magnitude but depend on the step."
    ),
    page!(
        "W232",
        "Steps above the tolerance",
        "Near a singular position the multipliers jump at any step size and disturb the error estimate, so an adaptive run keeps its step size there; elsewhere a step is accepted after seven attempts. The requested accuracy is then not guaranteed. Compare the result with a run at another tolerance or with a fixed step."
    ),
    page!(
        "W235",
        "Stiff forces limit the steps of an explicit method",
        "The steps of the selected explicit method were limited by stability, and are smaller than accuracy requires. The result is correct, but takes longer than necessary: `--integrator radau`, with `--formulation ra` or `grcr`, takes larger steps."
    ),
    page!(
        "W281",
        "Reactions that are poorly determined",
        "At this time the constraints of the named joints are nearly dependent: a self-stress of the loop has almost no effect on the motion, so the equations of motion determine it only up to rounding of the state, divided by the square of the distance from dependence. The message gives this error relative to the largest reaction; the motion is not affected. Fully dependent directions are listed as not unique instead. If such a reaction is needed, release one of the nearly dependent directions, or evaluate it at another time."
    ),
    page!(
        "W282",
        "Masses of very different size",
        "The masses of bodies connected by joints differ by a factor of more than 1e9. Their equations are solved together, so rounding of the heavy body's acceleration is as large as the forces on the light one: its motion and its reactions may be accurate to a few digits only, and some formulations need very small steps or fail. Joint coordinates (`grcr`), divide and conquer (`dca`) and `natural` keep more digits than those that reduce the equations to the joints (`ra`, `rp`, `reps`, `lie`). Remove a negligible mass, or compare with `fourbar verify`."
    ),
];
