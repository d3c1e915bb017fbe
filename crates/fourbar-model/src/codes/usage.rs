//! Pages of the codes that the command line can give.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U001",
        "The command line is not understood",
        "A verb or an option is misspelled, misses its value, or does not go with another one. `fourbar help` lists the verbs, `fourbar help VERB` the options of one.",
    ),
    page(
        "U002",
        "There is no shipped model of this name",
        "`fourbar examples` lists the models that the program carries with it. Their names are those of the files in the `models` folder, without the ending.",
    ),
    page(
        "U003",
        "A file or folder cannot be written",
        "The folder does not exist, is not yours to write to, or the disk is full. Files are written beside their place and moved there when they are whole, so an older file stays as it was. The rows of a run that could be written remain in trajectory.csv.part, which ends with a whole line.",
    ),
    page(
        "U004",
        "The file exists already",
        "`new`, `convert` and `examples -o` do not overwrite your work. Choose another name, or add `--force`.",
    ),
    page(
        "U005",
        "No column matches a pattern",
        "`--columns` takes names of columns in which `*` stands for anything. The name of an element alone means all its columns:\n\n  fourbar run my.yaml --out results --columns crank '*.angle' energy.total\n\nA run without `--columns` writes all; the first line of its trajectory.csv lists them.",
    ),
    page(
        "U006",
        "There is no diagnostic of this code",
        "Codes have a letter and three digits: M for the mechanism and its file, S for solving, U for usage, W for warnings. `fourbar explain` without a code lists all.",
    ),
    page(
        "U007",
        "A result cannot be read",
        "`plot` reads a folder that `--out` wrote, or a CSV file whose first line names the columns and whose other lines are numbers. The unfinished last line of a killed run is left out; anything else that is no number is refused with its line.",
    ),
    page(
        "U008",
        "The result has no such column",
        "Columns are called `body.quantity.axis`, such as `crank.r.x`, `crank.omega.z`, `pin.angle`, `motor.effort`, `energy.total`. The first line of trajectory.csv lists them all; `*` stands for anything, at most 50 columns at a time.",
    ),
    page(
        "U009",
        "There is nothing to resume",
        "A run with `--out` that is stopped leaves checkpoint.json in its folder, and `--resume` continues from there with the same settings. It must be the same mechanism file to the letter, and the trajectory must still hold the rows that the checkpoint counts. The end of the run may be moved with `--t-end`.\n\n  fourbar run my.yaml --out results\n  (Ctrl-C)\n  fourbar run my.yaml --resume results",
    ),
    page(
        "U010",
        "Standard input cannot be read as a mechanism file",
        "The file name `-` means standard input. It must be text in UTF-8 of at most 16 MB.",
    ),
    page("U011", "This kind of picture cannot be written", "Plots are written as SVG or PNG. Give a file name that ends in .svg or .png."),
    page(
        "S250",
        "A result is not a finite number",
        "The run gave a number that is infinite or undefined, and was stopped there. The rows written before are good. It is a fault of the analysis, not of your file: a smaller step or another integrator may pass the spot.",
    ),
    page(
        "U301",
        "There is no formulation of this name",
        "`fourbar list` prints the formulations there are and the integrators they go with. `auto` chooses, and says why.",
    ),
    page(
        "U302",
        "The formulation does not go with this integrator",
        "Implicit formulations of index 3 need implicit integrators, others explicit ones. `fourbar list` prints which go together; leave `--integrator` out to take the default of the formulation.",
    ),
    page(
        "U303",
        "A setting of the run is out of range",
        "End of the run, output step, fixed step and tolerance must be positive numbers, the tolerance at least 1e-15, and the run may have at most 1e8 output rows and 1e12 fixed steps. Times are in seconds where no unit is given.",
    ),
    page(
        "U304",
        "An option of the formulation or integrator is out of range",
        "Options of formulations and integrators are given as `--option key=value` or under `options` in the study of the file. `fourbar list` prints those of every formulation; the message says which values are possible.",
    ),
    page(
        "U305",
        "A method without error estimate needs a step",
        "Euler, the classical Runge-Kutta method, cg3, cg4, cf3, cf4 and a tableau of your own without `estimate` have no error estimate, so they cannot choose their steps. Give one with `--step` or `study: {step: ...}`, or take an adaptive method: dopri5, dop853, rkf45, heun.",
    ),
    page(
        "U306",
        "There is no option of this name",
        "Options are given as `--option key=value` or under `options` in the study of the file. No formulation has this one; the message names the nearest. The pages of the formulations list theirs. An option of another formulation than the one that runs is not refused, but noted in the summary.",
    ),
    page(
        "U307",
        "The integrator cannot keep this tolerance",
        "The error of a whole run is to be about its tolerance, or as much larger as a disturbance of the motion grows. Methods of second order, gen-alpha and bdf2, need so many steps for that that they are offered down to a tolerance of 1e-7 only, backward-euler down to 1e-4. For tighter ones take radau, of fifth order, which goes with the formulation `ra`:\n\n  fourbar run my.yaml --formulation ra --integrator radau --tol 1e-10\n\nor one of the explicit formulations. `ra` without an integrator takes radau at such tolerances by itself. Fixed steps are not concerned.",
    ),
    page(
        "U308",
        "The mechanism is too large for radau with a dense matrix",
        "`grcr`, `se3`, `so3xr3` and `lie` with radau solve one dense matrix with a row for every coordinate and every speed, whose work grows with the third power of their number. `--formulation ra --integrator radau` has a sparse matrix, whose work grows in proportion to the number of bodies.",
    ),
    page(
        "U309",
        "No tableau in the file",
        "The integrator `tableau` is the Runge-Kutta method that the file gives: `study: {integrator: {tableau: {a: ..., b: ...}}}`. This file gives none. `fourbar explain M117` shows how it is written.",
    ),
    page(
        "U310",
        "A simulation is asked to go back in time",
        "`advance` moves a mechanism to a later time, or leaves it where it is. To go back, keep a state with `save` or `state` and return to it with `restore` or `set_state`; times inside the last step can be looked at with `snapshot_at`.",
    ),
    page(
        "U311",
        "A time is not inside the last step",
        "Between the ends of its last step a simulation knows the motion without computing it again, so `snapshot_at` gives any instant there. Other times have to be reached with `advance`, or lie too far back.",
    ),
    page(
        "U312",
        "A state does not fit the mechanism",
        "A state holds a pose and a velocity for every body, ground included, and the counted angles of the joints, as `state` gives them for the same mechanism. This one has other sizes, or a value that is not a finite number.",
    ),
    page(
        "U313",
        "A state is not consistent",
        "At the time of the state some joint or drive would be open, or the velocities do not fit. `set_state` takes only states that fit, so that nothing is changed unnoticed; `assemble_state` takes the nearest state that does.",
    ),
    page(
        "U314",
        "There is no element of this name",
        "A snapshot, an input or an evaluation was asked for something that the mechanism does not have; the message names the nearest.",
    ),
    page(
        "U315",
        "The motion has ended",
        "An event with `stop: true` has ended the motion; the present stays where it happened, and there is nothing to move on to. A simulation in Python says it with `ended` and `ended_by` before it is moved further:\n\n  while sim.t < 4 and not sim.ended:\n      sim.step(0.05)\n\n`restore` goes back to what was saved before, `sim.state = state` goes on from another state.",
    ),
    page(
        "U320",
        "An input out of its range",
        "An input takes finite values inside the `range` that the mechanism file states under `inputs:`. The value stays what it was.",
    ),
    page(
        "U321",
        "A table of an input that cannot be used",
        "The table of an input has two columns, time in seconds and value in SI units, separated by a comma; a heading in the first line and lines that start with # do not count. Times grow from line to line, all numbers are finite, and straight lines (`:linear`) need two points at least:\n\n  t, torque\n  0, 0.5\n  0.2, -0.5\n\n  fourbar run my.yaml --input torque=torque.csv:linear",
    ),
    page("U322", "There is no such input", "Inputs are declared under `inputs:` of the mechanism file; the message names the nearest one."),
    page(
        "U323",
        "An input that may not change while the mechanism moves",
        "A drive by `speed:` reads this input. Another value would change the speed of the drive instantly, which is an impact. Give it a value before the start, or drive by `acceleration:`, whose inputs may change at any time.",
    ),
    page(
        "U324",
        "A table over time where changes are made by hand",
        "A `Simulation` has no plan of what is to come: inputs are changed with `set_input` between steps. Tables go with runs of a study.",
    ),
    page(
        "U325",
        "The value of an input is not understood",
        "`--input` takes a number or a quantity, or a file that ends in .csv:\n\n  fourbar run my.yaml --input torque=0.5\n  fourbar run my.yaml --input 'torque=500 N*mm'\n  fourbar run my.yaml --input torque=torque.csv",
    ),
    page(
        "U336",
        "Coordinates that do not describe the free motions",
        "Equations of motion in independent coordinates need as many coordinates as the mechanism has free motions at that state, drives included, and none of them may follow from the others. `independent` of an evaluation proposes a set.",
    ),
    page(
        "U337",
        "Too large for dense matrices",
        "Mass matrix, Jacobian, free motions and inverse dynamics of an evaluation are dense. Larger mechanisms can be simulated, and their accelerations, reactions and energies evaluated, at any size.",
    ),
    page(
        "U338",
        "Efforts that cannot cause the accelerations",
        "Inverse dynamics was given accelerations that the joints do not allow, or motors that cannot cause them: a free motion that no motor drives moves freely. Make the accelerations from those of coordinates, and name a motor for every motion that is prescribed.",
    ),
    page(
        "W301",
        "More threads are asked for than are used",
        "Only `dca` works with several threads, on mechanisms of at least 512 bodies; smaller ones would not gain. The result does not depend on the number of threads.",
    ),
    page(
        "W302",
        "An option or formulation is given that this run does not use",
        "An option belongs to a formulation: `rho` to the implicit ones, `order` to `natural`. Where another formulation moves the mechanism, because `auto` took it, the option has no effect. Kinematics has no options, and of the formulations it knows `ra`, `rp` and `reps`, whose coordinates it can use; `--analysis dynamics` lets any of them move a mechanism whose drives prescribe everything.",
    ),
];
