//! Arguments of `inverse`, `report` and `sensitivities`.

use super::{ModelArgs, pair, seconds};
use clap::{Args as ClapArgs, ValueHint};
use std::path::PathBuf;

/// Arguments of `inverse`.
#[derive(Debug, ClapArgs)]
pub struct InverseArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// The path, a name under `paths:`; default: the first one, or the drives if the file has no paths.
    #[arg(long, value_name = "NAME")]
    pub path: Option<String>,
    /// Motors: names under `motors:`, or joints, drives and actuators to be used as motors; default: all of the file.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub motors: Vec<String>,
    /// Weight of a motor if several share a load: the sum of the squares of weight times effort is minimised.
    #[arg(long, value_name = "NAME=NUMBER", value_delimiter = ',', value_parser = pair)]
    pub weights: Vec<(String, String)>,
    /// Also compute the largest root mean square of each effort over a window of this length, seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub window: Option<f64>,
    /// End of the motion, seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub t_end: Option<f64>,
    /// Time between outputs, seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub output_step: Option<f64>,
    /// Number of the assembly mode to start in, such as elbow up or down; 1 is the drawn one.
    #[arg(long, visible_alias = "assembly-mode", value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    pub mode: Option<u16>,
    /// Simulate the mechanism with the computed efforts and report its deviation from the path.
    #[arg(long)]
    pub forward: bool,
    /// Write trajectory.csv and summary.json into this folder.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Write the page of the motion, in the result folder or the current folder, and open it.
    #[arg(long)]
    pub view: bool,
    /// Do not open the page.
    #[arg(long, requires = "view")]
    pub no_open: bool,
    /// Replace the result of another mechanism, or files that were not written by a run.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `report`.
#[derive(Debug, ClapArgs)]
pub struct ReportArgs {
    /// Folder of a run or of `fourbar inverse`, or the trajectory in it.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub result: PathBuf,
    /// Also compute the largest root mean square of each effort over a window of this length, seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub window: Option<f64>,
    /// The page; default: report.html next to the result.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Print only the text and write no page.
    #[arg(long, conflicts_with = "output")]
    pub text: bool,
    /// Replace the file even if it is not a page of this program.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `sensitivities`.
#[derive(Debug, ClapArgs)]
pub struct SensitivitiesArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Quantities to differentiate, separated by commas: measures of the run such as `max(abs(motor.effort))`, values at a time such as
    /// `tip.x@0.5`, `start.tip.x` of the assembled start, `rest.pin.angle` of the equilibrium, `modes.1.omega` of vibrations.
    #[arg(long, value_name = "MEASURE", required = true)]
    pub of: Vec<String>,
    /// Parameters, names under `parameters:`; default: all that can be changed independently.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub to: Vec<String>,
    /// Compare with central differences of the whole computation.
    #[arg(long)]
    pub check: bool,
    /// End of the run, seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub t_end: Option<f64>,
    /// Time between outputs, seconds.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub output_step: Option<f64>,
    /// Tolerance of the run; default: 1e-9.
    #[arg(long, value_name = "NUMBER")]
    pub tol: Option<f64>,
    /// Write the ranking: a picture (.svg) or a table (.csv).
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
}
