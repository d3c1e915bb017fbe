//! The command line: verbs and options.

mod design;
mod tasks;

pub use design::{FormatName, MethodName, OptimizeArgs, SweepArgs, SynthesizeArgs, ToleranceArgs};
pub use tasks::{InverseArgs, ReportArgs, SensitivitiesArgs};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use fourbar_io::STARTERS;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const AFTER: &str = "\
FILE is a mechanism file (of this program, or MechSpec, MJCF, URDF, SDF, ASMT), the name of a shipped model
(`fourbar examples` lists them), or `-` for standard input.

Start here:
  fourbar demo                      run the four-bar linkage and view its motion
  fourbar new my.yaml               write a commented file to start from
  fourbar check my.yaml             analyse its mobility, redundancy and dead points

Exit codes: 0 success, 1 the analysis failed, 2 invalid usage or file, 130 interrupted.";

/// Multibody dynamics for mechanisms: rigid bodies, joints, closed loops, redundant constraints.
#[derive(Debug, Parser)]
#[command(name = "fourbar", version, after_help = AFTER, max_term_width = 100, disable_help_subcommand = false)]
pub struct Args {
    /// Print one JSON object on standard output, diagnostics included.
    #[arg(long, global = true)]
    pub json: bool,
    /// Print errors only.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Analyse a mechanism: mobility, redundant constraints and replacement joints, singular poses, assembly modes.
    Check(CheckArgs),
    /// Find the consistent start nearest to the given one and report what moved.
    Assemble(AssembleArgs),
    /// Compute an equilibrium, its stability, and the loads of joints and springs; or follow it over a parameter.
    #[command(visible_alias = "static")]
    Equilibrium(EquilibriumArgs),
    /// Compute vibrations about an equilibrium or a steady motion: frequencies, damping, mode shapes; or eigenvalues over a parameter.
    Modes(ModesArgs),
    /// Compute the linear model A, B, C, D about an equilibrium or a steady motion, from inputs of the file to outputs.
    Linearize(LinearizeArgs),
    /// Run a mechanism for many values of its parameters, on all cores, and compute measures: one row per case.
    Sweep(SweepArgs),
    /// Analyse the effect of tolerances and clearances on measures: linear stack-up, samples, yield, contributions.
    Tolerance(ToleranceArgs),
    /// Find parameter values within bounds that minimise, maximise or fit measures.
    Optimize(OptimizeArgs),
    /// Synthesise a planar four-bar for a path, a function or three positions.
    Synthesize(SynthesizeArgs),
    /// Compute motor angles, speeds, efforts and powers that move a point along its path, and the required motor size.
    Inverse(InverseArgs),
    /// Rank parameters by their effect on a measure, a position, an equilibrium or a vibration.
    Sensitivities(SensitivitiesArgs),
    /// Compute positions, velocities and accelerations of a fully driven mechanism over time.
    Kinematics(RunArgs),
    /// Run the study of the file: dynamics, or kinematics if the mechanism is fully driven.
    Run(RunArgs),
    /// Run every applicable formulation and report whether they agree.
    Verify(VerifyArgs),
    /// Run a shipped model and view its motion; a good first command.
    Demo(DemoArgs),
    /// Write and open one self-contained HTML page: motion in 3D, plots, diagnosis.
    View(ViewArgs),
    /// Write and open one page with all shipped models, an editor and a sheet to draw linkages on.
    Playground(PlaygroundArgs),
    /// Plot columns of results or mechanisms, or paths of points: in the terminal, or as SVG or PNG.
    Plot(PlotArgs),
    /// Summarise a result on one page for choosing motors, bearings and springs: peaks, root mean squares, powers, effort over speed.
    Report(ReportArgs),
    /// Convert a mechanism file from any supported format to that of this program, MechSpec, MJCF or URDF.
    Convert(ConvertArgs),
    /// Write a functional mock-up unit (FMI 3.0, co-simulation) for other simulation programs: inputs, parameters and results by name.
    Fmu(FmuArgs),
    /// List joints, forces and other keywords of the file, formulations, integrators and units; or one of these lists.
    List(ListArgs),
    /// List the shipped models, or write one to a file.
    Examples(ExamplesArgs),
    /// Write a commented file to start from.
    New(NewArgs),
    /// Print the page of a diagnostic code.
    Explain(ExplainArgs),
    /// Print the JSON Schema of mechanism files, for editors.
    Schema,
    /// Print completions for a shell.
    Completions(CompletionsArgs),
}

impl Verb {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Check(_) => "check",
            Self::Assemble(_) => "assemble",
            Self::Equilibrium(_) => "equilibrium",
            Self::Modes(_) => "modes",
            Self::Linearize(_) => "linearize",
            Self::Sweep(_) => "sweep",
            Self::Tolerance(_) => "tolerance",
            Self::Optimize(_) => "optimize",
            Self::Synthesize(_) => "synthesize",
            Self::Inverse(_) => "inverse",
            Self::Sensitivities(_) => "sensitivities",
            Self::Kinematics(_) => "kinematics",
            Self::Run(_) => "run",
            Self::Verify(_) => "verify",
            Self::Demo(_) => "demo",
            Self::View(_) => "view",
            Self::Playground(_) => "playground",
            Self::Plot(_) => "plot",
            Self::Report(_) => "report",
            Self::Convert(_) => "convert",
            Self::Fmu(_) => "fmu",
            Self::List(_) => "list",
            Self::Examples(_) => "examples",
            Self::New(_) => "new",
            Self::Explain(_) => "explain",
            Self::Schema => "schema",
            Self::Completions(_) => "completions",
        }
    }
}

/// A model with its parameters.
#[derive(Debug, ClapArgs)]
pub struct ModelArgs {
    /// Mechanism file (also MechSpec, MJCF, URDF, SDF, ASMT), name of a shipped model, or `-` for standard input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: String,
    /// Set a parameter to another value, an expression such as `40 mm` or `2*pi`.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
    /// Read a large file: up to 200 MB and 40 million values instead of 16 MB and 3 million.
    #[arg(long)]
    pub large: bool,
    /// Additional folder with meshes of a robot file; may be given several times.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub mesh_path: Vec<PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, ClapArgs)]
pub struct CheckArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Print everything: elements, loops, ranges of the joints, every set and pose, formulations.
    #[arg(long)]
    pub all: bool,
    /// Write the assembly modes: a page that overlays them (.html), or their poses (.json).
    #[arg(long = "assembly-modes", alias = "modes", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub modes: Option<PathBuf>,
    /// Describe how this formulation represents the mechanism: `natural`, `grcr` or `dca`.
    #[arg(long, value_name = "NAME")]
    pub formulation: Option<String>,
    /// Option of that formulation, such as `parallelograms=assign`.
    #[arg(long, value_name = "KEY=VALUE", requires = "formulation", value_parser = pair)]
    pub option: Vec<(String, String)>,
    /// Replace the file of `--assembly-modes` regardless of its contents.
    #[arg(long, requires = "modes")]
    pub force: bool,
}

/// Arguments of `assemble`.
#[derive(Debug, ClapArgs)]
pub struct AssembleArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Number of the assembly mode, as listed by `fourbar check`; 1 is the drawn one.
    #[arg(long, visible_alias = "assembly-mode", value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    pub mode: Option<u16>,
    /// Write the consistent poses and velocities as JSON.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Replace the file regardless of its contents.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// Arguments of `equilibrium`.
#[derive(Debug, ClapArgs)]
pub struct EquilibriumArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Search for all equilibria, from random starts and along the motion of a single degree of freedom.
    #[arg(long, conflicts_with = "along")]
    pub all: bool,
    /// Random starts of `--all`.
    #[arg(long, value_name = "N", requires = "all", default_value = "48", value_parser = clap::value_parser!(u16).range(1..=10000))]
    pub starts: u16,
    /// Kind of equilibrium: `stable`, or `any` for the nearest one, stable or not.
    #[arg(long, value_enum, value_name = "KIND", default_value = "stable")]
    pub kind: RestKind,
    /// Time at which drives and forces are evaluated, seconds; default: 0.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub at: Option<f64>,
    /// Set the value of an input.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub input: Vec<(String, String)>,
    /// Follow the equilibrium while a parameter varies from A to B, also through turning points: `load=0..3 kN`.
    #[arg(long, value_name = "NAME=A..B", value_parser = pair)]
    pub along: Option<(String, String)>,
    /// Follow the path that crosses the first one at its K-th crossing, counted from one; `-K` selects the other side.
    #[arg(long, value_name = "K", requires = "along", allow_hyphen_values = true, value_parser = clap::value_parser!(i32).range(-1000..=1000))]
    pub branch: Option<i32>,
    /// Write the mechanism in its equilibrium position (.yaml), or with `--along` the path (.csv).
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "all")]
    pub output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// Kind of equilibrium to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RestKind {
    /// A stable equilibrium.
    Stable,
    /// The nearest equilibrium, stable or not.
    Any,
}

/// Operating point of a linearisation.
#[derive(Debug, ClapArgs)]
pub struct AboutArgs {
    /// `equilibrium` finds the equilibrium, `start` uses the start of the file, a time runs to it. Default: the start if it is at rest or in steady motion, otherwise the equilibrium.
    #[arg(long, value_name = "equilibrium|start|TIME")]
    pub about: Option<String>,
    /// Treat the coefficients of this instant as constant, even if the motion is not steady.
    #[arg(long)]
    pub frozen: bool,
    /// Set the value of an input.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub input: Vec<(String, String)>,
}

/// Arguments of `modes`.
#[derive(Debug, ClapArgs)]
pub struct ModesArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Operating point.
    #[command(flatten)]
    pub about: AboutArgs,
    /// Number of modes to show, the lowest first.
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u16).range(1..))]
    pub count: u16,
    /// Eigenvalues while a parameter varies from A to B, and where stability changes: `v=0..10`.
    #[arg(long, value_name = "NAME=A..B", value_parser = pair)]
    pub against: Option<(String, String)>,
    /// Floquet exponents of a periodic motion with this period, seconds.
    #[arg(long, value_name = "PERIOD", value_parser = seconds, conflicts_with_all = ["against", "frozen"])]
    pub floquet: Option<f64>,
    /// Number of parameter values.
    #[arg(long, value_name = "N", default_value = "21", requires = "against", value_parser = clap::value_parser!(u16).range(2..=2000))]
    pub points: u16,
    /// Write a page that animates the modes (.html), or with `--against` the eigenvalues (.csv).
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// Arguments of `linearize`.
#[derive(Debug, ClapArgs)]
pub struct LinearizeArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Operating point.
    #[command(flatten)]
    pub about: AboutArgs,
    /// Inputs of the linear model: names under `inputs:`, or drives, whose acceleration is then the input; default: all of `inputs:`.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub inputs: Vec<String>,
    /// Outputs, such as `pin.angle`, `tip.vx`, names under `outputs:`, or any column of a result such as `pin.force.x`; default: those
    /// of the file, or all joint coordinates if it has none.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub outputs: Vec<String>,
    /// Write the matrices into this folder.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Format of the files: linear.json, A.csv to D.csv, linear.npz, which NumPy reads, or linear.mat, which MATLAB, Octave and SciPy read.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "json", requires = "out")]
    pub format: MatrixFormat,
    /// Replace files that exist.
    #[arg(long, requires = "out")]
    pub force: bool,
}

/// Formats of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MatrixFormat {
    /// One JSON object.
    Json,
    /// A file for each matrix.
    Csv,
    /// One archive of NumPy.
    Npz,
    /// One file of MATLAB, which Octave and SciPy read too.
    Mat,
}

/// Arguments of runs.
#[derive(Debug, ClapArgs)]
pub struct RunArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Settings that override those of the file.
    #[command(flatten)]
    pub study: StudyArgs,
    /// Write trajectory.csv and summary.json into this folder.
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Also write the rows in this format: `trajectory.parquet`.
    #[arg(long, value_enum, value_name = "NAME", default_value = "csv")]
    pub format: FormatName,
    /// Write only columns that match, such as `crank.*`, `*.angle` or `energy.total`; the time is always included.
    #[arg(long, value_name = "PATTERN", num_args = 1.., value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Continue the stopped run of this folder with its settings.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "columns", "set", "analysis", "formulation", "integrator", "step", "tol", "output_step", "option", "input", "mode"], value_hint = ValueHint::DirPath)]
    pub resume: Option<PathBuf>,
    /// Write the page of the run, in the result folder or the current folder, and open it.
    #[arg(long)]
    pub view: bool,
    /// Do not open the page.
    #[arg(long, requires = "view")]
    pub no_open: bool,
    /// Replace the result of another mechanism, or files that were not written by a run.
    #[arg(long)]
    pub force: bool,
}

/// Settings of a run that override those of the file.
#[derive(Clone, Debug, Default, PartialEq, ClapArgs, Serialize, Deserialize)]
pub struct StudyArgs {
    /// Analysis; default: that of the file, or kinematics if the mechanism is fully driven.
    #[arg(long, value_enum, value_name = "NAME")]
    pub analysis: Option<AnalysisName>,
    /// Formulation; `fourbar list` prints them.
    #[arg(long, value_name = "NAME")]
    pub formulation: Option<String>,
    /// Integrator of the formulation.
    #[arg(long, value_name = "NAME")]
    pub integrator: Option<String>,
    /// Fixed step, seconds (or `2 ms`).
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_negative_numbers = true)]
    pub step: Option<f64>,
    /// Tolerance of adaptive runs.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub tol: Option<f64>,
    /// End of the run, seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_negative_numbers = true)]
    pub t_end: Option<f64>,
    /// Time between outputs, seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_negative_numbers = true)]
    pub output_step: Option<f64>,
    /// Option of the formulation or integrator, such as `rho=0.8`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub option: Vec<(String, String)>,
    /// Set an input to a value, or to a table of times and values from a file: `torque=0.5`, `torque=torque.csv` (piecewise constant)
    /// or `torque=torque.csv:linear`.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub input: Vec<(String, String)>,
    /// Number of the assembly mode to start in, as listed by `fourbar check`; 1 is the drawn one.
    #[arg(long, visible_alias = "assembly-mode", value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    pub mode: Option<u16>,
    /// Number of threads of `dca` in a single run, or number of cases computed in parallel; default: the number of cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// The analyses of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnalysisName {
    /// Motion determined by forces and inertia.
    Dynamics,
    /// Motion prescribed by drives.
    Kinematics,
}

/// Arguments of `verify`.
#[derive(Debug, ClapArgs)]
pub struct VerifyArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// End of the comparison, seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_negative_numbers = true)]
    pub t_end: Option<f64>,
    /// Time between comparisons, seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_negative_numbers = true)]
    pub output_step: Option<f64>,
    /// Tolerance of the adaptive formulations.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub tol: Option<f64>,
    /// Set an input to a value or a table, as for `run`.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub input: Vec<(String, String)>,
    /// Only these formulations.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub formulations: Vec<String>,
    /// Number of the assembly mode to start in, as listed by `fourbar check`; 1 is the drawn one.
    #[arg(long, visible_alias = "assembly-mode", value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    pub mode: Option<u16>,
    /// Approximate time limit for each formulation, seconds.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds, allow_negative_numbers = true)]
    pub patience: f64,
    /// Number of threads; default: the number of cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Return exit code 0 also if agreement is shown for only a part of the time (PARTLY).
    #[arg(long)]
    pub allow_partial: bool,
}

/// Arguments of `demo`.
#[derive(Debug, ClapArgs)]
pub struct DemoArgs {
    /// Name of a shipped model.
    #[arg(default_value = "fourbar")]
    pub name: String,
    /// Folder of the results; default: `out/NAME`.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Do not open the page.
    #[arg(long)]
    pub no_open: bool,
    /// Replace the result of another mechanism, or files that were not written by a run.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `view`.
#[derive(Debug, ClapArgs)]
pub struct ViewArgs {
    /// Result folders, or mechanism files (or names of shipped models), which are run first. Several results of one mechanism are
    /// overlaid.
    #[arg(required = true, value_name = "FILE-or-RESULT", value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<String>,
    /// The page; default: in the result folder, or in the current folder under the name of the mechanism.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Write the motion to a file instead of a page, by its extension: .svg and .gif are animated, .png is a still picture with later poses behind
    /// the first, .mp4 a video (needs ffmpeg), .glb and .gltf an animated scene, .csv positions, velocities and efforts of the joints.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "output")]
    pub export: Option<PathBuf>,
    /// Include the engine in the page, to drag parts, move sliders and edit the file.
    #[arg(long)]
    pub live: bool,
    /// Do not open the page.
    #[arg(long)]
    pub no_open: bool,
    /// Replace the file even if it is not a page of this program.
    #[arg(long)]
    pub force: bool,
    /// Read large files: up to 200 MB and 40 million values instead of 16 MB and 3 million.
    #[arg(long)]
    pub large: bool,
    /// Additional folder with meshes of a robot file; may be given several times.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub mesh_path: Vec<PathBuf>,
    /// Set a parameter to another value before mechanisms are run.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
    /// Settings for mechanisms that are run.
    #[command(flatten)]
    pub study: StudyArgs,
}

/// Arguments of `playground`.
#[derive(Debug, ClapArgs)]
pub struct PlaygroundArgs {
    /// The shipped model that is shown first.
    #[arg(default_value = "fourbar")]
    pub name: String,
    /// The page.
    #[arg(long, short, value_name = "FILE", default_value = "playground.html", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Do not open the page.
    #[arg(long)]
    pub no_open: bool,
    /// Replace the file even if it is not a page of this program.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `plot`.
#[derive(Debug, ClapArgs)]
pub struct PlotArgs {
    /// A result folder, a sweep, a CSV file, or a mechanism (a file or the name of a shipped model), which is run first; several to compare;
    /// then columns: `crank.r.x`, `tracer` for all columns of an element, `'*.effort'` for all with this ending. Without columns, the available columns are listed.
    #[arg(required = true, value_name = "RESULT... COLUMN", value_hint = ValueHint::AnyPath)]
    pub words: Vec<String>,
    /// Column of the abscissa; default: `t`, or the first parameter of a sweep.
    #[arg(long, short, value_name = "COLUMN")]
    pub x: Option<String>,
    /// Path of a point or body, in the plane of its largest extent, with equal scales.
    #[arg(long, value_name = "NAME", conflicts_with = "x")]
    pub path: Vec<String>,
    /// Set a parameter to another value before mechanisms are run.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
    /// Additional folder with meshes of a robot file; may be given several times.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub mesh_path: Vec<PathBuf>,
    /// Write a picture instead, with extension .svg or .png.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Replace the file even if it is not a plot of this program.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// Arguments of `convert`.
#[derive(Debug, ClapArgs)]
pub struct ConvertArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The file to write, or `-` for standard output.
    #[arg(value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Format to write; default: by the extension (.urdf, .xml for MJCF), otherwise that of this program, or MechSpec for a
    /// file in the format of this program.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Option<FileFormat>,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `fmu`.
#[derive(Debug, ClapArgs)]
pub struct FmuArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Settings that override those of the file; `--input NAME=VALUE` is the initial value of an input.
    #[command(flatten)]
    pub study: StudyArgs,
    /// The unit to write; default: the name of the mechanism with the extension .fmu, in the current folder.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Only these columns of the results become outputs, such as `crank.*`, `*.angle` or `energy.total`.
    #[arg(long, value_name = "PATTERN", num_args = 1.., value_delimiter = ',')]
    pub columns: Vec<String>,
    /// The shared library of the crate fourbar-fmi, once for each platform; default: the one next to the command.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub library: Vec<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
}

/// Formats of mechanism files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    /// The format of this program.
    Fourbar,
    /// Points, vectors and rigid parts.
    Mechspec,
    /// The format of MuJoCo.
    Mjcf,
    /// The robot description of ROS.
    Urdf,
}

/// Arguments of `list`.
#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// One of the lists; default: joints, forces and other keywords of the file, then formulations.
    #[arg(value_enum, value_name = "LIST")]
    pub what: Option<ListName>,
}

/// The lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListName {
    /// Joints and couplings.
    Joints,
    /// Forces.
    Forces,
    /// Bare constraints.
    Constraints,
    /// All keys of the file.
    Keys,
    /// Functions of expressions.
    Functions,
    /// Units.
    Units,
    /// Formulations with integrators and options.
    Formulations,
}

/// Arguments of `examples`.
#[derive(Debug, ClapArgs)]
pub struct ExamplesArgs {
    /// Name of a model to print or write.
    pub name: Option<String>,
    /// Write the model to this file.
    #[arg(long, short, value_name = "FILE", requires = "name", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// Arguments of `new`.
#[derive(Debug, ClapArgs)]
pub struct NewArgs {
    /// The file to write.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Kind of template.
    #[arg(long, value_name = "KIND", default_value = STARTERS[0].kind, value_parser = kinds())]
    pub kind: String,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
}

/// The kinds of files to start from.
fn kinds() -> clap::builder::PossibleValuesParser {
    STARTERS.iter().map(|s| clap::builder::PossibleValue::new(s.kind).help(s.what)).collect::<Vec<_>>().into()
}

/// Arguments of `explain`.
#[derive(Debug, ClapArgs)]
pub struct ExplainArgs {
    /// The code, such as M012; default: all codes with their titles.
    pub code: Option<String>,
}

/// Arguments of `completions`.
#[derive(Debug, ClapArgs)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: Shell,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => Ok((name.trim().into(), value.trim().into())),
        _ => Err("write it as NAME=VALUE".into()),
    }
}

/// Seconds, plain or with a unit of time.
pub fn seconds(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let x: f64 = number.trim().parse().map_err(|_| "write a number of seconds, such as 2.5 or `10 ms`".to_string())?;
    let factor = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "min" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("`{other}` is not a unit of time: s, ms, us, min or h")),
    };
    // Up to some 30,000 years, which every clock can count.
    if (f64::MIN_POSITIVE..1e12).contains(&(x * factor)) { Ok(x * factor) } else { Err("it must be positive and finite".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("2.5"), Ok(2.5));
        assert_eq!(seconds("10 ms"), Ok(0.01));
        assert_eq!(seconds("1e-3"), Ok(1e-3));
        assert_eq!(seconds("2min"), Ok(120.0));
        for bad in ["5 kg", "-1", "0", "nan", "inf", "1e300", "", "abc"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
        assert_eq!(seconds("abc"), Err("write a number of seconds, such as 2.5 or `10 ms`".into()));
    }
}
