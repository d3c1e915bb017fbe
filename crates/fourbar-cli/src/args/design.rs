//! Options of the verbs that run many cases, and of synthesis.

use super::{ModelArgs, StudyArgs, pair};
use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Arguments of `sweep`.
#[derive(Debug, ClapArgs)]
pub struct SweepArgs {
    /// Mechanism file, name of a shipped model, or `-` for standard input.
    #[arg(required_unless_present = "merge", value_hint = ValueHint::FilePath)]
    pub file: Option<String>,
    /// Set a parameter to another value in all cases.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
    /// Read a large file.
    #[arg(long)]
    pub large: bool,
    /// Values of a parameter: `crank=60..100mm:41`, `k=1..100:9:log` or `crank=60,70,90mm`; several make a grid.
    #[arg(long, value_name = "NAME=VALUES", value_parser = pair)]
    pub vary: Vec<(String, String)>,
    /// Sample the ranges with N cases of a Latin hypercube.
    #[arg(long, value_name = "N", conflicts_with = "sobol", value_parser = clap::value_parser!(u32).range(1..))]
    pub lhs: Option<u32>,
    /// Sample the ranges with N cases of a Sobol sequence.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sobol: Option<u32>,
    /// Seed of sampled cases; default: that of the file, or 1.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A number computed from the columns of each run: `peak=max(abs(motor.effort))`; default: `measures` of the file.
    #[arg(long, value_name = "NAME=EXPRESSION", value_parser = pair)]
    pub measure: Vec<(String, String)>,
    /// Folder of the results: `cases.csv`, `schema.json`, `plan.json`.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Also keep these columns of the trajectory of every case (`*` matches any characters), in `DIR/trajectories`.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "out")]
    pub trajectories: Option<Vec<String>>,
    /// Continue the sweep of this folder with its plan.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = [
        "vary", "lhs", "sobol", "seed", "measure", "set", "analysis", "formulation", "integrator", "step", "tol", "t_end", "output_step",
        "option", "input", "mode",
    ])]
    pub resume: Option<PathBuf>,
    /// Also write the tables in this format: `cases.parquet`, and trajectories as a partitioned dataset.
    #[arg(long, value_enum, value_name = "NAME", default_value = "csv")]
    pub format: FormatName,
    /// Run only every N-th case, beginning with the K-th, into a separate file; for clusters.
    #[arg(long, value_name = "K/N", value_parser = shard)]
    pub shard: Option<(usize, usize)>,
    /// Merge the shards of this folder into its `cases.csv`.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["file", "vary", "out", "resume", "shard"])]
    pub merge: Option<PathBuf>,
    /// Replace the sweep in the folder.
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Advance several cases at once in the vector registers of each core, in joint coordinates or with kinematics.
    #[arg(long, conflicts_with_all = ["resume", "merge"])]
    pub batch: bool,
    /// Settings of the runs; `--threads` is the number of cases computed in parallel.
    #[command(flatten)]
    pub study: StudyArgs,
}

/// Forms of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// Values separated by commas.
    Csv,
    /// Parquet.
    Parquet,
}

/// Arguments of `tolerance`.
#[derive(Debug, ClapArgs)]
pub struct ToleranceArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// A tolerance: `crank=0.1mm` (three standard deviations), `crank=sigma:0.03mm`, `crank=uniform:0.1mm`, `crank=IT7`, or the clearance of
    /// a joint, `B=clearance:20um`; default: `tolerances` of the file.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub tolerance: Vec<(String, String)>,
    /// A number computed from the columns of each run: `top=max(P.y)`; default: `measures` of the file.
    #[arg(long, value_name = "NAME=EXPRESSION", value_parser = pair)]
    pub measure: Vec<(String, String)>,
    /// A condition that acceptable samples satisfy: `max(P.y) < 101 mm`.
    #[arg(long, value_name = "CONDITION")]
    pub keep: Vec<String>,
    /// Number of samples.
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(0..=100_000_000))]
    pub samples: u32,
    /// Seed of the samples.
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// Write the samples (.csv).
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Settings of the runs; `--threads` is the number of samples computed in parallel.
    #[command(flatten)]
    pub study: StudyArgs,
}

/// Arguments of `optimize`.
#[derive(Debug, ClapArgs)]
pub struct OptimizeArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Bounds of a parameter: `crank=60..100mm`.
    #[arg(long, value_name = "NAME=LEAST..MOST", value_parser = pair)]
    pub vary: Vec<(String, String)>,
    /// The measure to minimise.
    #[arg(long, value_name = "EXPRESSION", conflicts_with_all = ["maximize", "fit"])]
    pub minimize: Option<String>,
    /// The measure to maximise.
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "fit")]
    pub maximize: Option<String>,
    /// A measure with target zero; the sum of squares of all of them is minimised.
    #[arg(long, value_name = "NAME=EXPRESSION", value_parser = pair)]
    pub fit: Vec<(String, String)>,
    /// A condition that must hold: `min(P.y) > 40 mm`.
    #[arg(long, value_name = "CONDITION")]
    pub keep: Vec<String>,
    /// Optimisation method; `auto` chooses one and reports the reason.
    #[arg(long, value_enum, value_name = "NAME", default_value = "auto")]
    pub method: MethodName,
    /// Number of starts; default: 8 for least squares, 1 for the evolution strategy.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10000))]
    pub starts: Option<u16>,
    /// Maximum number of cases per start.
    #[arg(long, value_name = "N", default_value = "600", value_parser = clap::value_parser!(u32).range(4..=100_000_000))]
    pub evaluations: u32,
    /// Step of finite differences, as a fraction of the range of a parameter.
    #[arg(long, value_name = "SHARE", default_value = "1e-5", value_parser = share)]
    pub difference: f64,
    /// Seed of the starts and of the evolution strategy.
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// Write the mechanism with the optimal values.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Write the successive improvements (.csv, or .html for a page).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub history: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
    /// Settings of the runs; `--threads` is the number of cases computed in parallel.
    #[command(flatten)]
    pub study: StudyArgs,
}

/// Optimisation methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// Least squares for `fit`, the evolution strategy for one measure.
    Auto,
    /// Levenberg-Marquardt with bounds, from several starts.
    LeastSquares,
    /// The evolution strategy CMA-ES.
    Cma,
}

/// Arguments of `synthesize`.
#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("task").required(true).args(["path", "function", "motion"]))]
pub struct SynthesizeArgs {
    /// Points through which a coupler point passes: `x,y; x,y; ...` in metres or with units, or a file with one point per line; a third number is the crank
    /// angle.
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true)]
    pub path: Option<String>,
    /// Crank angles at the points: `free`, `equal` (over one turn), `given` (the third number), or the angle from point to point, such as `20deg`.
    #[arg(long, value_name = "TIMING", default_value = "free", requires = "path")]
    pub timing: String,
    /// Position of the fixed pin of the crank; default: free.
    #[arg(long, value_name = "X,Y", requires = "path", allow_hyphen_values = true)]
    pub place: Option<String>,
    /// Angle of the line of the fixed pins; default: free.
    #[arg(long, value_name = "ANGLE", requires = "path", allow_hyphen_values = true)]
    pub tilt: Option<String>,
    /// Pairs of crank and rocker angles: `40deg,70deg; 45deg,76deg; ...`.
    #[arg(long, value_name = "PAIRS", allow_hyphen_values = true)]
    pub function: Option<String>,
    /// Distance of the fixed pins, metres.
    #[arg(long, value_name = "LENGTH", default_value = "1", requires = "function")]
    pub ground: f64,
    /// Three positions of the coupler: `x,y,angle; x,y,angle; x,y,angle`.
    #[arg(long, value_name = "POSITIONS", allow_hyphen_values = true)]
    pub motion: Option<String>,
    /// The two moving pins in the moving plane: `x,y; x,y`.
    #[arg(long, value_name = "PINS", requires = "motion", allow_hyphen_values = true)]
    pub moving: Option<String>,
    /// The two fixed pins in the world: `x,y; x,y`.
    #[arg(long, value_name = "PINS", requires = "motion", conflicts_with = "moving", allow_hyphen_values = true)]
    pub fixed: Option<String>,
    /// Number of starts of the search for a path, for each assembly mode and direction of rotation.
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u16).range(1..))]
    pub starts: u16,
    /// Seed of the starts.
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// Number of threads; default: the number of cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Write the best linkage as a mechanism file.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
}

fn share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|x| (1e-12..=0.1).contains(x)).ok_or_else(|| "write a number from 1e-12 to 0.1".into())
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(k, n)| Some((k.trim().parse().ok()?, n.trim().parse().ok()?)));
    match parts {
        Some((k, n)) if k >= 1 && k <= n && n <= 1_000_000 => Ok((k, n)),
        _ => Err("write it as K/N, such as `2/8`: K from 1 to N".into()),
    }
}
