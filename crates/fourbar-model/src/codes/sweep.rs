//! Pages of sweeps, tolerances, optimisation and synthesis.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

/// The pages.
pub(super) const PAGES: &[Page] = &[
    page(
        "U430",
        "The values of a varied parameter cannot be used",
        "A sweep, a tolerance or an optimisation names parameters of the file and gives each values or bounds.\n\n    fourbar sweep models/fourbar.yaml --vary crank_length=60..100mm:41 --vary rocker_length=150,160,170mm --measure top=\"max(P.y)\"\n\n`60..100 mm:41` are 41 values in equal steps, `1..100 kN/m:9:log` nine values in equal ratios, `60, 70, 90 mm` these three. A range without a number of values serves where cases are spread (`--lhs N`, `--sobol N`) and as bounds of an optimisation. The unit stands after the last number and must fit the parameter; without one the numbers are in SI units.",
    ),
    page(
        "U431",
        "A plan has too many cases, or none",
        "A grid takes every value with every other, so that its cases multiply: three parameters of 100 values are a million cases. Take fewer values, or spread cases over the ranges: `--sobol 1000` fills them evenly with a thousand.",
    ),
    page(
        "U432",
        "The folder does not hold this sweep",
        "A folder holds one sweep: `plan.json` says which mechanism (by the hash of its file), which values and which measures. A sweep with another plan, or of a file that was changed, does not go on there: its rows would not belong together. Choose another folder, or replace the old sweep with `--force`. To continue a sweep give its folder: `fourbar sweep FILE --resume DIR`.",
    ),
    page(
        "U433",
        "The rows of a sweep do not fit its plan",
        "A file with rows beside `plan.json` has other columns than the plan, lines that are no rows, or two different rows of one case. It was changed by hand or comes from another version of the program. Start the sweep again in another folder.",
    ),
    page(
        "U434",
        "Another program is writing to the same part of a sweep",
        "Two processes must not write to one file. Give each a shard of its own: `--shard 1/2` and `--shard 2/2`, and merge them at the end: `fourbar sweep --merge DIR`.",
    ),
    page(
        "U435",
        "Cases of a sweep are missing",
        "Shards are merged when all of them are complete. The message says how many cases have no row yet. Continue the shards that were interrupted: `fourbar sweep FILE --resume DIR --shard K/N`.",
    ),
    page(
        "U436",
        "A study lacks something it needs",
        "A sweep and a tolerance need measures, numbers that are taken from the columns of a run:\n\n    --measure peak=\"max(abs(motor.effort))\"\n\nor `study: {measures: {peak: max(abs(motor.effort))}}` in the file. Names of measures are words of letters, digits and `_`, each given once.",
    ),
    page(
        "U437",
        "A tolerance cannot be used",
        "`tolerances:` names parameters of the file with how far they may be off, and joints with their clearance:\n\n    tolerances:\n      crank_length: 0.1 mm              # three standard deviations of a normal distribution\n      rocker_length: {uniform: 0.2 mm}\n      coupler_length: {grade: IT9}      # of ISO 286, for lengths of up to 500 mm\n      B: {clearance: 20 um}             # of a revolute or spherical joint\n\nThe unit must fit the parameter, and the number must be positive.",
    ),
    page(
        "U438",
        "The goal of an optimisation cannot be used",
        "An optimisation has variables with bounds and one goal: `minimize` or `maximize` a measure, or `fit` measures whose squares are to have a small sum. Conditions under `keep` compare a measure with a number or with another measure: `min(transmission) > 40 deg`.\n\n    fourbar optimize FILE --vary crank_length=60..100mm --minimize \"max(abs(motor.effort))\" --keep \"range(P.y) > 90 mm\"",
    ),
    page(
        "U439",
        "A synthesis task cannot be used",
        "`fourbar synthesize` reads a file with the task: points that a coupler point is to pass (`path`), pairs of crank and rocker angles (`function`), or positions of a plane (`motion`). The page docs/optimize.md shows each of them.",
    ),
    page(
        "U440",
        "A Parquet file cannot be read or written",
        "Either this program was built without Parquet, or the file is not one that it can read. The Python package always has it; the command has it when it is built with `cargo build --release --features parquet`. The tables as CSV hold the same numbers.",
    ),
    page(
        "U441",
        "The executor of a sweep failed",
        "The cases of a sweep were computed elsewhere, by an executor of Python: a pool of processes, Dask, MPI. It lost its workers, its scheduler or the connection to them, and more attempts did not help. Cases that had come in are kept in the folder of the sweep, where it has one: start the sweep again with `resume=True`, and only those that are missing are computed.",
    ),
    page(
        "S440",
        "No case could be computed",
        "None of the cases of a sweep, of the samples of a tolerance or of the starts of an optimisation gave a result. The message has the most frequent reason. Where the mechanism cannot be assembled for any of the values, narrow the ranges around the values of the file, which can.",
    ),
    page(
        "S441",
        "The task of a synthesis has no solution",
        "No linkage meets the task: the equations have no real solution, or every solution found has a defect that the task does not allow. Ask for fewer points, allow more room, or move the given points a little.",
    ),
    page(
        "S449",
        "The program had an internal error",
        "A case ended in a fault of the program, which is not the fault of the mechanism. The other cases are good. Please report it with the mechanism and the values of the case.",
    ),
    page(
        "W440",
        "A bound is active",
        "The best value of a variable lies on its bound: the goal would improve further beyond it. Widen the bound if the design allows it.",
    ),
    page(
        "W441",
        "A linkage found by synthesis has a defect",
        "The linkage passes its points, but not in one continuous motion in their order: some lie on the other assembly mode (branch), on another closed curve (circuit), or come in another order.",
    ),
    page(
        "W442",
        "Linear and sampled tolerances differ",
        "The standard deviation or the mean of the samples is not what the derivatives at the nominal values promise: the measure bends within the tolerances. Trust the samples.",
    ),
    page(
        "W443",
        "Some cases failed",
        "Cases that cannot be assembled, or that fail on their way, are rows with status, code and names like any other; they have no measures. The message counts them and has the most frequent reason.",
    ),
    page(
        "W444",
        "A measure is not smooth in a parameter",
        "The differences of a measure to both sides of the nominal value give different slopes: the measure has a kink there, as an extreme that jumps from one instant to another. Its linear stack-up is not to be trusted; the samples are.",
    ),
];
