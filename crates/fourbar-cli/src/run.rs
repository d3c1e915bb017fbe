//! `fourbar run` and `fourbar kinematics`: moves a mechanism, writes what happened, says what it was.

pub mod columns;
pub mod settings;
mod summary;

use crate::args::{AnalysisName, RunArgs};
use crate::gather::Gather;
use crate::input::{Input, load, load_with};
use crate::observer::{INTERRUPTED, Output, Totals, Watcher};
use crate::reply::{Reply, Stop, exit_code};
use crate::screen::{Screen, print_error};
use crate::telling::Preview;
use crate::view::{Wanted, after_run, page_of};
use fourbar::Diagnostic;
use fourbar::study::{Analysis, Failed, Report, Study, run_from};
use fourbar::trajectory::{Column, Trajectory, columns as all_columns};
use fourbar_io::page::keep_model;
use fourbar_io::results::{CHECKPOINT, Checkpoint, CsvWriter, SUMMARY, TRAJECTORY, read_checkpoint, unwritable, write_json};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
pub use summary::Pictures;

/// Name of the page in a result folder.
pub const PAGE: &str = "page.html";

/// What to run and where the results go.
#[derive(Debug)]
pub struct Task {
    /// The mechanism.
    pub input: Input,
    /// Settings.
    pub study: Study,
    /// Parameters changed on the command line.
    pub set: Vec<(String, String)>,
    /// Folder of the results.
    pub folder: Option<PathBuf>,
    /// Patterns of the columns to write.
    pub patterns: Vec<String>,
    /// The state to continue from.
    pub checkpoint: Option<Checkpoint>,
    /// Warnings that belong to the task.
    pub warnings: Vec<Diagnostic>,
    /// Which pictures end the summary.
    pub pictures: Pictures,
    /// The page to write.
    pub page: Option<Wanted>,
}

/// What came out.
#[derive(Debug)]
pub struct Done {
    /// The report, where the run got that far.
    pub report: Option<Report>,
    /// Why it ended early.
    pub error: Option<Diagnostic>,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
    /// What the rows were like.
    pub totals: Totals,
    /// For the picture.
    pub preview: Preview,
    /// All rows, where a page is wanted.
    pub gathered: Option<Trajectory>,
    /// Columns written, or that could be written.
    pub columns: Vec<Column>,
    /// Computing time, seconds.
    pub wall_time: f64,
}

/// Runs the file's own study.
pub fn run(args: &RunArgs, screen: &Screen) -> Result<Reply, Stop> {
    perform(task(args, None)?, screen)
}

/// Runs kinematics, whatever the file says.
pub fn kinematics(args: &RunArgs, screen: &Screen) -> Result<Reply, Stop> {
    perform(task(args, Some(Analysis::Kinematics))?, screen)
}

fn task(args: &RunArgs, analysis: Option<Analysis>) -> Result<Task, Stop> {
    let Some(folder) = &args.resume else {
        let input = load(&args.model)?;
        let mut study = settings::study(&input.model, &args.study);
        if analysis == Some(Analysis::Kinematics) && args.study.analysis == Some(AnalysisName::Dynamics) {
            let message = "the verb `kinematics` does no dynamics";
            return Err(Diagnostic::new("U001", message).help("`fourbar run FILE --analysis dynamics` does").into());
        }
        study.analysis = analysis.or(study.analysis);
        let warnings = settings::threads(&args.study, &input.model, &study).into_iter().collect();
        let (set, patterns) = (args.model.set.clone(), args.columns.clone());
        let page = page(args, args.out.as_deref(), &input.name);
        return Ok(Task {
            input,
            study,
            set,
            folder: args.out.clone(),
            patterns,
            checkpoint: None,
            warnings,
            pictures: Pictures::One,
            page,
        });
    };
    let checkpoint = read_checkpoint(folder)?;
    let input = load_with(&args.model.file, &checkpoint.set)?;
    if checkpoint.model != input.loaded.hash {
        let message = format!("the checkpoint in `{}` belongs to another mechanism file", folder.display());
        return Err(Diagnostic::new("U009", message).help("the file was changed since; run again without `--resume`").into());
    }
    let mut study = settings::restored(&input.model, &checkpoint.study);
    study.t_end = args.study.t_end.unwrap_or(study.t_end);
    let warnings = settings::threads(&args.study, &input.model, &study).into_iter().collect();
    let patterns = checkpoint.columns.clone();
    let set = checkpoint.set.clone();
    let page = page(args, Some(folder), &input.name);
    Ok(Task {
        input,
        study,
        set,
        folder: Some(folder.clone()),
        patterns,
        checkpoint: Some(checkpoint),
        warnings,
        pictures: Pictures::None,
        page,
    })
}

/// The page that is asked for: beside the results, or here.
fn page(args: &RunArgs, folder: Option<&Path>, name: &str) -> Option<Wanted> {
    let path = folder.map_or_else(|| page_of(name), |f| f.join(PAGE));
    args.view.then_some(Wanted { path, open: !args.no_open })
}

/// Runs a task and tells about it.
pub fn perform(task: Task, screen: &Screen) -> Result<Reply, Stop> {
    let mut done = compute(&task, screen)?;
    let fields = summary::fields(&task, &done);
    if let Some(folder) = &task.folder {
        write_json(&folder.join(SUMMARY), &fields)?;
        // A finished run has nothing to continue.
        if done.error.is_none() && !done.interrupted {
            let _ = std::fs::remove_file(folder.join(CHECKPOINT));
        }
    }
    let mut reply = Reply::new(summary::words(&task, &done, screen), fields);
    reply.fields.shift_remove("fourbar");
    reply.fields.shift_remove("diagnostics");
    let warnings = task.input.loaded.warnings.iter().chain(&task.warnings).chain(done.report.iter().flat_map(|r| &r.warnings));
    let mut notes: Vec<Diagnostic> = warnings.chain(&done.error).cloned().collect();
    // A run without rows has nothing to show.
    if let Some(wanted) = task.page.as_ref().filter(|_| done.totals.rows > 0) {
        match after_run(&task, &mut done, wanted, screen) {
            Ok(written) => {
                reply.text += &format!("\n{}", written.text);
                reply.fields.insert("page".into(), written.path.into());
                notes.extend(written.warnings);
            }
            Err(d) => notes.push(d),
        }
    }
    reply.notes = task.input.notes(&notes);
    reply.exit = if done.interrupted { Reply::INTERRUPTED } else { exit_code(reply.notes.list.iter().map(|d| &d.diagnostic)) };
    Ok(reply)
}

/// Runs a task.
pub fn compute(task: &Task, screen: &Screen) -> Result<Done, Stop> {
    let model = &task.input.model;
    let all = all_columns(model);
    let chosen = columns::choose(&all, &task.patterns)?;
    let written: Vec<Column> = chosen.iter().map(|&k| all[k].clone()).collect();
    let output = task.folder.as_ref().map(|folder| output(task, folder, &all, chosen, &written)).transpose()?;
    let mut watcher =
        Watcher::new(&all, Preview::new(model, &all), output, !screen.json && !screen.quiet && std::io::stderr().is_terminal());
    watcher.gather = task.page.as_ref().map(|_| Gather::new(&all));
    let from = task.checkpoint.as_ref().filter(|c| c.state.is_some());
    if let Some(c) = from {
        watcher.skip = Some(c.t);
        watcher.totals = serde_json::from_value(c.totals.clone()).unwrap_or_default();
    }
    listen();
    let outcome = run_from(model, &task.study, from.and_then(|c| c.state.as_deref()), &mut watcher);
    let stopped = INTERRUPTED.load(Ordering::Relaxed);
    let (report, mut error) = match outcome {
        Ok(report) => (Some(report), None),
        Err(Failed { diagnostic, report }) => (report.map(|r| *r), Some(*diagnostic)),
    };
    let interrupted = stopped && error.is_none() && report.as_ref().is_some_and(|r| r.stopped);
    // Where the analysis offers no states, the folder still says how the run is to be repeated.
    if interrupted && task.folder.as_ref().is_some_and(|f| !f.join(CHECKPOINT).exists()) {
        watcher.keep(None);
    }
    watcher.finish();
    error = error.or_else(|| watcher.problem.take());
    let wall_time = watcher.elapsed() + from.map_or(0.0, |c| c.wall_time);
    let gathered = watcher.gather.take().map(Gather::finish);
    Ok(Done { report, error, interrupted, gathered, totals: watcher.totals, preview: watcher.preview, columns: written, wall_time })
}

/// Opens the result folder: a fresh trajectory, or the old one cut to its checkpoint.
fn output(task: &Task, folder: &Path, all: &[Column], chosen: Vec<usize>, written: &[Column]) -> Result<Output, Diagnostic> {
    std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e))?;
    let path = folder.join(TRAJECTORY);
    let from = task.checkpoint.as_ref().filter(|c| c.state.is_some());
    let writer = match from {
        Some(c) => CsvWriter::resume(&path, chosen, c.rows)?,
        None => {
            // Nothing of an older run may look like a part of this one.
            for old in [SUMMARY, CHECKPOINT] {
                let _ = std::fs::remove_file(folder.join(old));
            }
            keep_model(folder, task.input.loaded.places.source(), &task.input.model, task.input.folder.as_deref())?;
            CsvWriter::create(&path, all, chosen)?
        }
    };
    let template = Checkpoint {
        version: env!("CARGO_PKG_VERSION").into(),
        model: task.input.loaded.hash.clone(),
        set: task.set.clone(),
        study: serde_json::to_value(&task.study).unwrap_or_default(),
        columns: written.iter().map(|c| c.name.clone()).collect(),
        rows: 0,
        t: 0.0,
        wall_time: from.map_or(0.0, |c| c.wall_time),
        totals: serde_json::Value::Null,
        state: None,
    };
    Ok(Output { folder: folder.into(), writer, template })
}

/// Time that a step may take to end after Ctrl-C.
const GRACE: Duration = Duration::from_secs(10);

/// The first Ctrl-C ends the run cleanly, the second one at once; so does a step that does not end.
fn listen() {
    let heard = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Reply::INTERRUPTED));
        }
        print_error("\ninterrupted: finishing the current output step (again to stop at once)\n");
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            std::process::exit(i32::from(Reply::INTERRUPTED));
        });
    });
    // Without a handler Ctrl-C ends the program the usual way; rows are on disk within a second either way.
    let _ = heard;
}
