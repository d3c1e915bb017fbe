//! Pages of the diagnostic codes of the command line.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U001",
        "Invalid command line",
        "A command or an option is misspelled, lacks its value, or conflicts with another one. `fourbar help` lists the commands, `fourbar help COMMAND` the options of one.",
    ),
    page(
        "U002",
        "There is no shipped model of this name",
        "`fourbar examples` lists the models that are shipped with the program. Their names are those of the files in the `models` folder, without the extension.",
    ),
    page(
        "U003",
        "A file or folder cannot be written",
        "The folder does not exist, is not writable, or the disk is full. Files are written under a temporary name and renamed when they are complete, so an older file is unchanged. The rows of a run that could be written remain in trajectory.csv.part, which ends with a complete line.",
    ),
    page(
        "U004",
        "The file exists already",
        "`new`, `convert` and `examples -o` do not overwrite your work. Choose another name, or add `--force`.",
    ),
    page(
        "U005",
        "No column matches a pattern",
        "`--columns` takes column names, in which `*` matches any characters. The name of an element selects all its columns:\n\n  fourbar run my.yaml --out results --columns crank '*.angle' energy.total\n\nA run without `--columns` writes all; the first line of its trajectory.csv lists them.",
    ),
    page(
        "U006",
        "There is no diagnostic of this code",
        "Codes have a letter and three digits: M for the mechanism and its file, S for solving, U for usage, W for warnings. `fourbar explain` without a code lists all.",
    ),
    page(
        "U007",
        "A result cannot be read",
        "`plot` reads a folder that `--out` wrote, or a CSV file whose first line names the columns and whose other lines are numbers. The incomplete last line of a killed run is ignored; any other value that is not a number is rejected with its line.",
    ),
    page(
        "U008",
        "The result has no such column",
        "Columns are called `body.quantity.axis`, such as `crank.r.x`, `crank.omega.z`, `pin.angle`, `motor.effort`, `energy.total`. The first line of trajectory.csv lists them all; `*` matches any characters, at most 50 columns at a time.",
    ),
    page(
        "U009",
        "There is nothing to resume",
        "A run with `--out` that is stopped leaves checkpoint.json in its folder, and `--resume` continues from there with the same settings. The mechanism file must be unchanged, and the trajectory must still contain the rows that the checkpoint counts. The end of the run may be changed with `--t-end`.\n\n  fourbar run my.yaml --out results\n  (Ctrl-C)\n  fourbar run my.yaml --resume results",
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
        "The run produced a number that is infinite or undefined, and was stopped there. The rows written before are valid. The analysis failed, not your file: a smaller step or another integrator may help.",
    ),
    page(
        "U301",
        "There is no formulation of this name",
        "`fourbar list` prints the available formulations and their integrators. `auto` chooses one and reports the reason.",
    ),
    page(
        "U302",
        "The formulation does not support this integrator",
        "Implicit formulations of index 3 need implicit integrators, others explicit ones. `fourbar list` prints the combinations; omit `--integrator` to use the default of the formulation.",
    ),
    page(
        "U303",
        "A setting of the run is out of range",
        "End of the run, output step, fixed step and tolerance must be positive numbers, the tolerance at least 1e-15, and the run may have at most 1e8 output rows and 1e12 fixed steps. Times without a unit are in seconds.",
    ),
    page(
        "U304",
        "An option of the formulation or integrator is out of range",
        "Options of formulations and integrators are given as `--option key=value` or under `options` in the study of the file. `fourbar list` prints those of every formulation; the message says which values are possible.",
    ),
    page(
        "U305",
        "A method without error estimate needs a step",
        "Euler, the classical Runge-Kutta method, cg3, cg4, cf3, cf4 and a user-defined tableau without `estimate` have no error estimate, so they cannot adapt their steps. Give a step with `--step` or `study: {step: ...}`, or use an adaptive method: dopri5, dop853, rkf45, heun.",
    ),
    page(
        "U306",
        "There is no option of this name",
        "Options are given as `--option key=value` or under `options` in the study of the file. No formulation has this option; the message names the nearest one. The pages of the formulations list their options. An option of a formulation other than the active one is accepted, but noted in the summary.",
    ),
    page(
        "U307",
        "The integrator does not support this tolerance",
        "The error of a whole run should be about its tolerance, times the growth of perturbations of the motion. The second-order methods gen-alpha and bdf2 would need too many steps and are limited to tolerances of at least 1e-7, backward-euler to 1e-4. For smaller tolerances use radau, of fifth order, with the formulation `ra`:\n\n  fourbar run my.yaml --formulation ra --integrator radau --tol 1e-10\n\nor one of the explicit formulations. `ra` without an integrator uses radau at such tolerances automatically. Fixed steps are not affected.",
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
        "A simulation cannot go back in time",
        "`advance` accepts only the current or a later time. To go back, store a state with `save` or `state` and return to it with `restore` or `set_state`; `snapshot_at` evaluates times inside the last step.",
    ),
    page(
        "U311",
        "A time is not inside the last step",
        "Within its last step a simulation can evaluate the motion at any time with `snapshot_at`. Later times must be reached with `advance`; earlier ones are not available.",
    ),
    page(
        "U312",
        "A state does not match the mechanism",
        "A state contains a pose and a velocity for every body, ground included, and the counted angles of the joints, as `state` gives them for the same mechanism. This one has other sizes, or a value that is not a finite number.",
    ),
    page(
        "U313",
        "A state is not consistent",
        "At the time of the state a joint or drive is not closed, or the velocities are inconsistent. `set_state` accepts only consistent states, so that nothing is changed silently; `assemble_state` uses the nearest consistent state.",
    ),
    page(
        "U314",
        "There is no element of this name",
        "A snapshot, an input or an evaluation refers to an element that the mechanism does not have; the message names the nearest one.",
    ),
    page(
        "U315",
        "The motion has ended",
        "An event with `stop: true` has ended the motion; the simulation stays at that time and cannot be advanced. In Python check `ended` and `ended_by` before advancing:\n\n  while sim.t < 4 and not sim.ended:\n      sim.step(0.05)\n\n`restore` returns to a saved state, `sim.state = state` continues from another state.",
    ),
    page(
        "U320",
        "An input out of its range",
        "An input takes finite values inside the `range` given under `inputs:` of the mechanism file. The previous value is kept.",
    ),
    page(
        "U321",
        "A table of an input that cannot be used",
        "The table of an input has two columns, time in seconds and value in SI units, separated by a comma; a heading in the first line and lines that start with # are ignored. Times increase from line to line, all numbers are finite, and linear interpolation (`:linear`) needs at least two points:\n\n  t, torque\n  0, 0.5\n  0.2, -0.5\n\n  fourbar run my.yaml --input torque=torque.csv:linear",
    ),
    page("U322", "There is no such input", "Inputs are declared under `inputs:` of the mechanism file; the message names the nearest one."),
    page(
        "U323",
        "An input that may not change while the mechanism moves",
        "A drive by `speed:` reads this input. Another value would change the speed of the drive instantly, which is an impact. Give it a value before the start, or drive by `acceleration:`, whose inputs may change at any time.",
    ),
    page(
        "U324",
        "A `Simulation` does not support input tables",
        "In a `Simulation` inputs are changed with `set_input` between steps. Tables over time can be used in runs of a study.",
    ),
    page(
        "U325",
        "Invalid value of an input",
        "`--input` takes a number or a quantity, or a file that ends in .csv:\n\n  fourbar run my.yaml --input torque=0.5\n  fourbar run my.yaml --input 'torque=500 N*mm'\n  fourbar run my.yaml --input torque=torque.csv",
    ),
    page(
        "U336",
        "Coordinates that do not describe the free motions",
        "Equations of motion in independent coordinates need as many coordinates as the mechanism has free motions at that state, drives included, and none of them may depend on the others. `independent` of an evaluation proposes a set.",
    ),
    page(
        "U337",
        "Too large for dense matrices",
        "Mass matrix, Jacobian, free motions and inverse dynamics of an evaluation are dense. Larger mechanisms can be simulated, and their accelerations, reactions and energies evaluated, at any size.",
    ),
    page(
        "U338",
        "Efforts that cannot cause the accelerations",
        "Inverse dynamics was given accelerations that the joints do not allow, or motors that cannot cause them: a free motion without a motor cannot be prescribed. Derive the accelerations from those of coordinates, and name a motor for every prescribed motion.",
    ),
    page(
        "W301",
        "More threads are requested than are used",
        "Only `dca` uses several threads, on mechanisms of at least 512 bodies; smaller ones would not be faster. The result does not depend on the number of threads.",
    ),
    page(
        "W302",
        "An option or formulation that this run does not use",
        "An option belongs to a formulation: `rho` to the implicit ones, `order` to `natural`. If `auto` selects another formulation, the option has no effect. Kinematics has no options and supports only the coordinates of the formulations `ra`, `rp` and `reps`; with `--analysis dynamics` any formulation can simulate a fully driven mechanism.",
    ),
];
