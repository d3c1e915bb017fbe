//! `fourbar run` and `fourbar kinematics`: simulates a mechanism, writes the results, prints a summary.

pub mod settings;
mod summary;

use crate::args::{AnalysisName, FormatName, RunArgs};
use crate::gather::Gather;
use crate::input::{Input, load, load_with};
use crate::observer::{Output, Planned, Watcher};
use crate::reply::{Reply, Stop, exit_code};
use crate::screen::Screen;
use crate::stop::{INTERRUPTED, listen};
use crate::telling::Preview;
use crate::view::{Live, Wanted, after_run, page_of};
use fourbar::Diagnostic;
use fourbar::study::{Analysis, Failed, Report, Study, run_from};
use fourbar::trajectory::{Column, Trajectory, WantedColumns, columns as all_columns};
use fourbar_io::disk::{Kind, may_replace};
pub use fourbar_io::results::PAGE;
use fourbar_io::results::{
    Checkpoint, Claim, Kept, TRAJECTORY, TRAJECTORY_PARQUET, Totals, columns, inspect, parquet, prefix, read_checkpoint, trajectory_of,
};
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
pub use summary::Pictures;

/// A run with its settings and the destination of its results.
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
    /// Warnings of the task.
    pub warnings: Vec<Diagnostic>,
    /// Pictures at the end of the summary.
    pub pictures: Pictures,
    /// The page to write.
    pub page: Option<Wanted>,
    /// Whether rows are also written as Parquet.
    pub parquet: bool,
    /// Whether existing files may be replaced.
    pub force: bool,
}

impl Task {
    /// The checkpoint, if it has a state to continue from.
    fn continued(&self) -> Option<&Checkpoint> {
        self.checkpoint.as_ref().filter(|c| c.state.is_some())
    }

    /// The request to write into a result folder.
    fn claim<'a>(&'a self, folder: &Path) -> Claim<'a> {
        Claim {
            file: &self.input.name,
            hash: &self.input.loaded.hash,
            text: self.input.loaded.places.source(),
            model: &self.input.model,
            data: &self.input.loaded.data,
            folder: self.input.folder.as_deref(),
            page: self.page.as_ref().is_some_and(|p| p.path == folder.join(PAGE)),
            force: self.force,
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Done {
    /// The report, if the run got that far.
    pub report: Option<Report>,
    /// Reason of an early end.
    pub error: Option<Diagnostic>,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
    /// The folder of the results, still locked.
    pub output: Option<Output>,
    /// Whether writing failed.
    pub unwritten: bool,
    /// Totals over the rows.
    pub totals: Totals,
    /// Data for the picture.
    pub preview: Preview,
    /// All rows, if a page is requested.
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

/// Runs kinematics, whatever the analysis in the file.
pub fn kinematics(args: &RunArgs, screen: &Screen) -> Result<Reply, Stop> {
    perform(task(args, Some(Analysis::Kinematics))?, screen)
}

fn task(args: &RunArgs, analysis: Option<Analysis>) -> Result<Task, Stop> {
    let Some(folder) = &args.resume else {
        let input = load(&args.model)?;
        let mut study = settings::study(&input.model, &args.study)?;
        if analysis == Some(Analysis::Kinematics) && args.study.analysis == Some(AnalysisName::Dynamics) {
            let message = "the verb `kinematics` does no dynamics";
            return Err(Diagnostic::new("U001", message).help("`fourbar run FILE --analysis dynamics` does").into());
        }
        study.analysis = analysis.or(study.analysis);
        let warnings = settings::threads(&args.study, &input.model, &study).into_iter().collect();
        let set = args.model.set.clone();
        // The command line takes precedence over the file.
        let patterns = if args.columns.is_empty() { input.loaded.spec.columns.clone() } else { args.columns.clone() };
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
            parquet: args.format == FormatName::Parquet,
            force: args.force,
        });
    };
    let checkpoint = read_checkpoint(folder)?;
    let input = load_with(&args.model.file, &checkpoint.set, args.model.large)?;
    if checkpoint.model != input.loaded.hash {
        let message = format!("the checkpoint in `{}` belongs to another mechanism file", folder.display());
        return Err(Diagnostic::new("U009", message).help("the file has changed since; run again without `--resume`").into());
    }
    if let Some((name, _)) = input.loaded.data.iter().find(|file| !checkpoint.data.contains(file)) {
        let message = format!("the table file `{name}` is not the one of the checkpoint in `{}`", folder.display());
        return Err(Diagnostic::new("U009", message).help("it has changed since; run again without `--resume`").into());
    }
    let mut study = settings::restored(&input.model, &checkpoint.study);
    study.t_end = args.study.t_end.unwrap_or(study.t_end);
    if checkpoint.state.is_some() && study.t_end < checkpoint.t {
        let message = format!("the run has reached t = {} s already; it cannot end at {} s", checkpoint.t, study.t_end);
        return Err(Diagnostic::new("U333", message).help("give a later `--t-end`, or leave it out").into());
    }
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
        parquet: args.format == FormatName::Parquet,
        force: args.force,
    })
}

/// The requested page: beside the results, or in the current folder.
fn page(args: &RunArgs, folder: Option<&Path>, name: &str) -> Option<Wanted> {
    let path = folder.map_or_else(|| page_of(name), |f| f.join(PAGE));
    args.view.then_some(Wanted { path, force: args.force, open: !args.no_open, live: Live::No })
}

/// Runs a task and reports it.
pub fn perform(task: Task, screen: &Screen) -> Result<Reply, Stop> {
    let mut done = compute(&task, screen)?;
    let fields = summary::fields(&task, &done);
    let kept = keep(&task, &mut done, &fields)?;
    let mut reply = Reply::new(summary::words(&task, &done, kept, screen), fields);
    reply.fields.shift_remove("fourbar");
    reply.fields.shift_remove("diagnostics");
    let warnings = task.input.loaded.warnings.iter().chain(&task.warnings).chain(done.report.iter().flat_map(|r| &r.warnings));
    let mut notes: Vec<Diagnostic> = warnings.chain(&done.error).cloned().collect();
    // A run without rows has nothing to show, and if an older result is kept its page is kept too.
    let shown = done.totals.rows > 0 && kept != Some(Kept::Beside) && !done.unwritten;
    if let Some(wanted) = task.page.as_ref().filter(|_| shown) {
        match after_run(&task, &mut done, wanted, screen) {
            Ok(written) => {
                reply.text += &format!("\n{}", written.text);
                reply.fields.insert("page".into(), written.path.into());
                notes.extend(written.warnings);
            }
            Err(d) => notes.push(d),
        }
    }
    if let (Some(Kept::Beside), Some(folder)) = (kept, &task.folder) {
        let rows = fourbar_io::disk::part(&folder.join(TRAJECTORY)).display().to_string();
        let message = format!(
            "the older result in `{}` is kept; the rows of this run, which did not reach its end, are in `{rows}`",
            folder.display()
        );
        notes.push(Diagnostic::new("W330", message).help(format!("`fourbar view {rows}` shows them")));
    }
    reply.notes = task.input.notes(&notes);
    reply.exit = if done.interrupted { Reply::INTERRUPTED } else { exit_code(reply.notes.list.iter()) };
    Ok(reply)
}

/// Moves the files of a run to their final names; `None` if nothing was written.
fn keep(task: &Task, done: &mut Done, fields: &serde_json::Value) -> Result<Option<Kept>, Stop> {
    let Some(mut output) = done.output.take() else { return Ok(None) };
    let complete = done.error.is_none() && !done.interrupted;
    if done.unwritten {
        // Rows on disk can be continued; without any, nothing is kept.
        if task.continued().is_none() && !output.writer.has_rows() {
            output.folder.abandon();
        }
        return Ok(None);
    }
    if let Some(r) = done.report.as_ref().filter(|_| task.input.model.has_events()) {
        output.folder.put_events(&r.events)?;
    }
    if task.parquet {
        let unit = |name: &str| done.columns.iter().find(|c| c.name == name).map_or_else(String::new, |c| c.unit.to_string());
        let facts = json!({"file": task.input.name, "model": task.input.loaded.hash, "complete": complete});
        output.folder.put_parquet(unit, facts)?;
    }
    // Only an interrupted run, or one that failed after storing a state, can be continued.
    let resumable = done.interrupted || (!complete && output.has_state);
    Ok(Some(output.folder.finish(fields, complete, resumable)?))
}

/// Runs a task. Nothing is written before the first row, when settings, mechanism and folder have been checked.
pub fn compute(task: &Task, screen: &Screen) -> Result<Done, Stop> {
    let model = &task.input.model;
    let all = all_columns(model);
    let chosen = columns::choose(&all, &task.patterns)?;
    let written: Vec<Column> = chosen.iter().map(|&k| all[k].clone()).collect();
    let planned = task.folder.as_ref().map(|folder| plan(task, folder, &all, chosen, &written)).transpose()?;
    if let (Some(page), None) = (&task.page, &task.folder) {
        may_replace(&page.path, Kind::Page, task.force)?;
    }
    let mut watcher =
        Watcher::new(&all, Preview::new(model, &all), planned, !screen.json && !screen.quiet && std::io::stderr().is_terminal());
    watcher.gather = task.page.as_ref().map(|_| Gather::new(&all));
    watcher.wanted = WantedColumns::of(&written);
    let from = task.continued();
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
    // A continued run with nothing left to do still has its results.
    if error.is_none() && !interrupted {
        watcher.open();
    }
    watcher.finish();
    let unwritten = watcher.problem.as_ref().is_some_and(|d| !d.code.0.starts_with('S'));
    error = error.or_else(|| watcher.problem.take());
    let interrupted = interrupted && error.is_none();
    let wall_time = watcher.elapsed() + from.map_or(0.0, |c| c.wall_time);
    let gathered = watcher.gather.take().map(Gather::finish);
    let output = watcher.output.take();
    Ok(Done {
        report,
        error,
        interrupted,
        output,
        unwritten,
        gathered,
        totals: watcher.totals,
        preview: watcher.preview,
        columns: written,
        wall_time,
    })
}

/// Checks whether the result folder may be written to, and where the rows continue.
fn plan<'a>(
    task: &'a Task,
    folder: &'a Path,
    all: &'a [Column],
    chosen: Vec<usize>,
    written: &[Column],
) -> Result<Planned<'a>, Diagnostic> {
    let claim = task.claim(folder);
    inspect(folder, &claim)?;
    if task.parquet {
        parquet::available()?;
        may_replace(&folder.join(TRAJECTORY_PARQUET), Kind::Parquet, task.force)?;
    }
    let names: Vec<String> = written.iter().map(|c| c.name.clone()).collect();
    let from = task.continued();
    let continued = from
        .map(|c| {
            let beside = fourbar_io::disk::part(&folder.join(TRAJECTORY));
            let rows = if beside.exists() { beside } else { trajectory_of(folder) };
            Ok((c.rows, prefix(&rows, &names, c.rows, c.t)?))
        })
        .transpose()?;
    let template = Checkpoint {
        version: env!("CARGO_PKG_VERSION").into(),
        file: task.input.name.clone(),
        model: task.input.loaded.hash.clone(),
        data: task.input.loaded.data.clone(),
        set: task.set.clone(),
        study: serde_json::to_value(&task.study).unwrap_or_default(),
        columns: names,
        rows: 0,
        t: 0.0,
        wall_time: from.map_or(0.0, |c| c.wall_time),
        totals: serde_json::Value::Null,
        state: None,
    };
    Ok(Planned { folder, claim, columns: all, chosen, template, continued })
}
