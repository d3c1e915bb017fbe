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
        "A sweep, a tolerance or an optimisation names parameters of the file and gives each values or bounds.\n\n    fourbar sweep models/fourbar.yaml --vary crank_length=60..100mm:41 --vary rocker_length=150,160,170mm --measure top=\"max(P.y)\"\n\n`60..100 mm:41` are 41 values in equal steps, `1..100 kN/m:9:log` nine values in equal ratios, `60, 70, 90 mm` these three. A range without a number of values is used for sampling (`--lhs N`, `--sobol N`) and as bounds of an optimisation. The unit follows the last number and must have the dimension of the parameter; without a unit the numbers are in SI units.",
    ),
    page(
        "U431",
        "A plan has too many cases, or none",
        "A grid contains all combinations of values: three parameters of 100 values are a million cases. Use fewer values, or sample the ranges: `--sobol 1000` fills them evenly with a thousand cases.",
    ),
    page(
        "U432",
        "The folder does not contain this sweep",
        "A folder contains one sweep: `plan.json` records the mechanism (by the hash of its file), the values and the measures. A sweep with another plan, or of a changed file, cannot be continued there: its rows would be inconsistent. Choose another folder, or replace the old sweep with `--force`. To continue a sweep give its folder: `fourbar sweep FILE --resume DIR`.",
    ),
    page(
        "U433",
        "The rows of a sweep do not match its plan",
        "A file with rows next to `plan.json` has other columns than the plan, invalid lines, or two different rows of one case. It was edited or comes from another version of the program. Start the sweep again in another folder.",
    ),
    page(
        "U434",
        "Another program is writing to the same part of a sweep",
        "Two processes must not write to one file. Give each a separate shard: `--shard 1/2` and `--shard 2/2`, and merge them at the end: `fourbar sweep --merge DIR`.",
    ),
    page(
        "U435",
        "Cases of a sweep are missing",
        "Shards can be merged when all of them are complete. The message gives the number of missing cases. Continue the shards that were interrupted: `fourbar sweep FILE --resume DIR --shard K/N`.",
    ),
    page(
        "U436",
        "A study lacks a required entry",
        "A sweep and a tolerance analysis need measures, numbers computed from the columns of a run:\n\n    --measure peak=\"max(abs(motor.effort))\"\n\nor `study: {measures: {peak: max(abs(motor.effort))}}` in the file. Names of measures are words of letters, digits and `_`, each given once.",
    ),
    page(
        "U437",
        "A tolerance cannot be used",
        "`tolerances:` lists parameters of the file with their tolerances, and joints with their clearances:\n\n    tolerances:\n      crank_length: 0.1 mm              # three standard deviations of a normal distribution\n      rocker_length: {uniform: 0.2 mm}\n      coupler_length: {grade: IT9}      # of ISO 286, for lengths of up to 500 mm\n      B: {clearance: 20 um}             # of a revolute or spherical joint\n\nThe unit must have the dimension of the parameter, and the number must be positive.",
    ),
    page(
        "U438",
        "The objective of an optimisation cannot be used",
        "An optimisation has variables with bounds and one objective: `minimize` or `maximize` a measure, or `fit` measures, whose sum of squares is minimised. Conditions under `keep` compare a measure with a number or with another measure: `min(transmission) > 40 deg`.\n\n    fourbar optimize FILE --vary crank_length=60..100mm --minimize \"max(abs(motor.effort))\" --keep \"range(P.y) > 90 mm\"",
    ),
    page(
        "U439",
        "A synthesis task cannot be used",
        "`fourbar synthesize` reads a file with the task: points through which a coupler point must pass (`path`), pairs of crank and rocker angles (`function`), or positions of a plane (`motion`). The page docs/optimize.md shows each of them.",
    ),
    page(
        "U440",
        "A Parquet file cannot be read or written",
        "Either this program was built without Parquet, or the file is not one that it can read. The Python package always supports it; the command supports it if it is built with `cargo build --release --features parquet`. The CSV tables contain the same numbers.",
    ),
    page(
        "U441",
        "The executor of a sweep failed",
        "The cases of a sweep were computed by a Python executor: a process pool, Dask, MPI. It lost its workers, its scheduler or the connection to them, and repeated attempts failed. Completed cases are kept in the folder of the sweep, if it has one: start the sweep again with `resume=True` to compute only the missing ones.",
    ),
    page(
        "S440",
        "No case could be computed",
        "None of the cases of a sweep, of the samples of a tolerance or of the starts of an optimisation gave a result. The message gives the most frequent reason. If the mechanism cannot be assembled for any of the values, narrow the ranges around the values of the file.",
    ),
    page(
        "S441",
        "The task of a synthesis has no solution",
        "No linkage solves the task: the equations have no real solution, or every solution found has a defect that the task does not allow. Use fewer points, relax the bounds, or move the given points slightly.",
    ),
    page(
        "S449",
        "The program had an internal error",
        "A case failed because of a bug in the program, not because of the mechanism. The other cases are valid. Please report it with the mechanism and the values of the case.",
    ),
    page(
        "W440",
        "A bound is active",
        "The optimal value of a variable lies on its bound: the objective would improve further beyond it. Widen the bound if the design allows it.",
    ),
    page(
        "W441",
        "A linkage found by synthesis has a defect",
        "The linkage passes its points, but not in one continuous motion in their order: some lie on the other assembly mode (branch), on another closed curve (circuit), or are passed in another order.",
    ),
    page(
        "W442",
        "Linear and sampled tolerances differ",
        "The standard deviation or the mean of the samples differs from that predicted by the derivatives at the nominal values: the measure is nonlinear within the tolerances. Use the samples.",
    ),
    page(
        "W443",
        "Some cases failed",
        "Cases that cannot be assembled, or whose run fails, are recorded as rows with status, code and names; they have no measures. The message gives their number and the most frequent reason.",
    ),
    page(
        "W444",
        "A measure is not smooth in a parameter",
        "The differences of a measure to both sides of the nominal value give different slopes: the measure has a kink there, such as an extreme value that moves from one instant to another. Its linear stack-up is not reliable; use the samples.",
    ),
];
