//! `fourbar view`: the page of results, or of mechanisms that are run first; also the page of `run --view` and `demo`.

mod export;

use crate::args::{ModelArgs, PlaygroundArgs, StudyArgs, ViewArgs};
use crate::catalogue::find;
use crate::input::{Input, load, load_with};
use crate::reply::{Reply, Stop, exit_code};
use crate::run::{Done, PAGE, Pictures, Task, compute, settings};
use crate::screen::Screen;
use fourbar::Diagnostic;
use fourbar::model::Model;
use fourbar::study::Study;
use fourbar_io::disk::unwritable;
use fourbar_io::disk::{Kind, PART, may_replace, read_text_bounded, write_kind};
use fourbar_io::page::{LiveFile, Note, RunSummary, Shown, Stored, has_engine, live_page, page, read_stored, sweep_page};
use fourbar_io::results::{CASES, CASES_PARQUET, CaseRow, PLAN, SCHEMA, SweepFolder, Table, trajectory_of};
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A page to write.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Path of the file.
    pub path: PathBuf,
    /// Whether it may replace other files than pages.
    pub force: bool,
    /// Whether to open it.
    pub open: bool,
    /// Contents for a live page.
    pub live: Live,
}

/// Additional contents of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Live {
    /// Nothing.
    #[default]
    No,
    /// The engine and the file, with changed parameters, and the study that is shown.
    File(Vec<(String, String)>, Box<Study>),
    /// The shipped models as well.
    Playground,
}

/// A result with its mechanism.
pub struct Source {
    /// The mechanism.
    pub input: Input,
    /// Name in a picture.
    pub label: String,
    /// Rows.
    pub table: Table,
    summary: RunSummary,
    /// Requested assembly mode.
    mode: Option<u16>,
    /// Reason of an early end.
    pub problems: Vec<Diagnostic>,
    /// Whether the run was interrupted before its end.
    pub interrupted: bool,
}

/// Runs the verb.
pub fn view(args: &ViewArgs, screen: &Screen) -> Result<Reply, Stop> {
    if let [one] = args.inputs.as_slice()
        && let Some(folder) = sweep_of(Path::new(one))
    {
        return sweep(&folder, args, screen);
    }
    let path = args.output.clone().unwrap_or_else(|| default_path(&args.inputs));
    match &args.export {
        Some(picture) => export::may_export(picture, args)?,
        None => may_replace(&path, Kind::Page, args.force)?,
    }
    let run_settings = args.study != StudyArgs::default() || !args.set.is_empty() || !args.mesh_path.is_empty();
    if run_settings && args.inputs.iter().all(|name| is_result(Path::new(name))) {
        return Err(Diagnostic::new(
            "U001",
            "settings of a run have no effect on results: they are already computed, and shown as they are",
        )
        .help("leave the settings out, or give the mechanism file instead of the result: it is run first")
        .into());
    }
    if args.live && (args.inputs.len() > 1 || args.inputs.iter().any(|name| is_result(Path::new(name)))) {
        return Err(Diagnostic::new("U001", "a live page shows one mechanism file")
            .help("give the mechanism file, or the name of a shipped model; results are compared without `--live`")
            .into());
    }
    let mut sources = Vec::new();
    for name in &args.inputs {
        let path = Path::new(name);
        let source = if is_result(path) { stored(path, args.large)? } else { computed(name, args, screen)? };
        sources.push(source);
    }
    if let (Some(picture), [source]) = (&args.export, sources.as_slice()) {
        return export::export(picture, args.force, source);
    }
    let shown: Vec<Shown<'_>> = sources.iter().map(|s| Shown { label: s.label.clone(), table: &s.table, summary: &s.summary }).collect();
    // The parser requires at least one input.
    let Some(first) = sources.first() else { return Err(Diagnostic::new("U013", "there is nothing to show").into()) };
    let live = if args.live { Live::File(args.set.clone(), settings::study(&first.input.model, &args.study)?.into()) } else { Live::No };
    let written = write(&first.input, &shown, &Wanted { path, force: args.force, open: !args.no_open, live }, screen)
        .map_err(|d| first.input.stop(&d))?;
    let t_end = first.table.column("t").and_then(|t| t.last().copied());
    let results: Vec<_> = sources.iter().map(|s| json!({"label": s.label, "rows": s.table.rows(), "mode": s.mode})).collect();
    let mut reply = Reply::new(
        written.text,
        json!({"page": written.path, "bytes": written.bytes, "opened": written.opened, "t_end": t_end, "results": results}),
    );
    let problems = sources.iter().flat_map(|s| &s.problems).chain(&written.warnings);
    reply.notes = first.input.notes(problems);
    reply.exit = if sources.iter().any(|s| s.interrupted) { Reply::INTERRUPTED } else { exit_code(reply.notes.list.iter()) };
    Ok(reply)
}

/// The folder of a sweep, if the path is one or is its file of rows.
fn sweep_of(path: &Path) -> Option<PathBuf> {
    let folder = if path.is_dir() { path.into() } else { path.parent().filter(|_| path.is_file())?.to_path_buf() };
    let rows = path.is_dir() || path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(CASES) || n == CASES_PARQUET);
    (rows && folder.join(PLAN).is_file()).then_some(folder)
}

/// The page of a sweep.
fn sweep(folder: &Path, args: &ViewArgs, screen: &Screen) -> Result<Reply, Stop> {
    if args.study != StudyArgs::default() || !args.set.is_empty() {
        let d = Diagnostic::new("U001", "settings of a run have no effect on a sweep: it is already computed, and shown as it is");
        return Err(d.help("leave the settings out").into());
    }
    if args.export.is_some() {
        let d = Diagnostic::new("U482", "a sweep has no motion that could be exported");
        return Err(d.help("export that of one case: `fourbar view FILE --set NAME=VALUE --export FILE.svg`").into());
    }
    let path = args.output.clone().unwrap_or_else(|| folder.join(PAGE));
    let read = SweepFolder::read(folder)?;
    let rows: Vec<&CaseRow> = read.rows().values().collect();
    if rows.is_empty() {
        return Err(Diagnostic::new("U013", format!("the sweep in `{}` has no rows", folder.display())).help("run it first").into());
    }
    let schema = read_text_bounded(&folder.join(SCHEMA), 64 << 20).ok().and_then(|t| serde_json::from_str(&t).ok()).unwrap_or_default();
    let plan = read.plan();
    let study = |model: &Model| settings::study(model, &serde_json::from_value(plan.settings.clone()).unwrap_or_default());
    let live = case_page((&plan.file, &plan.model), &plan.set, study, screen);
    let html = sweep_page("", plan, &schema, &rows, live.as_deref());
    let wanted = Wanted { path, force: args.force, open: !args.no_open, live: Live::No };
    let written = put(html.as_bytes(), &wanted, screen)?;
    let fields = json!({"page": written.path, "bytes": written.bytes, "opened": written.opened, "cases": rows.len()});
    Ok(Reply::new(written.text, fields))
}

/// A live page of the mechanism of a study (its file and hash), which shows the motion of a case; `None` if the mechanism has changed,
/// cannot be run, or needs files that a page does not have.
pub fn case_page(
    (file, hash): (&str, &str),
    set: &[(String, String)],
    study: impl FnOnce(&Model) -> Result<Study, Diagnostic>,
    screen: &Screen,
) -> Option<String> {
    if !has_engine() {
        return None;
    }
    let input = load_with(file, set, false).ok().filter(|i| i.loaded.hash == hash && i.loaded.data.is_empty())?;
    let study = study(&input.model).ok()?;
    let mut quiet = *screen;
    quiet.quiet = true;
    let source = ran(input, study.clone(), set, &quiet).ok()?;
    let shown = [Shown { label: source.label.clone(), table: &source.table, summary: &source.summary }];
    let file =
        LiveFile { name: file_name(&source.input.name), text: source.input.loaded.places.source(), set, study: &study, playground: false };
    live_page(&source.input.model, source.input.folder.as_deref(), &shown, &file).ok().map(|page| page.html)
}

/// Whether a path is a result: a folder with rows, or a file of rows.
pub fn is_result(path: &Path) -> bool {
    if path.is_dir() {
        return trajectory_of(path).is_file();
    }
    let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    name.trim_end_matches(&format!(".{PART}")).ends_with(".csv")
}

/// A result from its folder.
fn stored(path: &Path, large: bool) -> Result<Source, Stop> {
    let Stored { label, table, summary, model, set } = read_stored(path)?;
    let input = load_with(&model.to_string_lossy(), &set, large)?;
    Ok(Source { input, label, table, summary, mode: None, problems: Vec::new(), interrupted: false })
}

/// A mechanism that is run first.
fn computed(name: &str, args: &ViewArgs, screen: &Screen) -> Result<Source, Stop> {
    let model = ModelArgs { file: name.into(), set: args.set.clone(), large: args.large, mesh_path: args.mesh_path.clone() };
    run_first(&model, &args.study, screen)
}

/// A mechanism that is run for its rows.
pub fn run_first(model: &ModelArgs, study: &StudyArgs, screen: &Screen) -> Result<Source, Stop> {
    let input = load(model)?;
    let study = settings::study(&input.model, study)?;
    ran(input, study, &model.set, screen)
}

/// A mechanism that is run now.
fn ran(input: Input, study: Study, set: &[(String, String)], screen: &Screen) -> Result<Source, Stop> {
    let wanted = Some(Wanted { path: PathBuf::new(), force: false, open: false, live: Live::No });
    let task = Task {
        input,
        study,
        set: set.to_vec(),
        folder: None,
        patterns: Vec::new(),
        checkpoint: None,
        warnings: Vec::new(),
        pictures: Pictures::None,
        page: wanted,
        parquet: false,
        force: false,
    };
    let mut done = compute(&task, screen)?;
    let gathered = done.gathered.take().unwrap_or_default();
    let problems: Vec<Diagnostic> = done.error.iter().cloned().collect();
    if gathered.is_empty() {
        // Without rows there is nothing to show but the error.
        let d = problems.into_iter().next().unwrap_or_else(|| Diagnostic::new("U013", "the run gave no rows"));
        return Err(task.input.stop(&d));
    }
    let label = label(&task);
    let summary = summary(&task, &done);
    let (mode, interrupted) = (task.study.mode, done.interrupted);
    Ok(Source { table: Table::from(&gathered), summary, label, mode, input: task.input, problems, interrupted })
}

/// The report of a run, with the warnings of its file and the reason of an early end.
fn summary(task: &Task, done: &Done) -> RunSummary {
    let mut summary = done.report.as_ref().map(RunSummary::from).unwrap_or_default();
    let of_file = task.input.loaded.warnings.iter().chain(&task.warnings).map(Note::from);
    summary.notes.splice(0..0, of_file);
    summary.notes.extend(done.error.iter().map(Note::from));
    summary
}

/// Writes the page of a run that has just ended, and returns its path.
pub fn after_run(task: &Task, done: &mut Done, wanted: &Wanted, screen: &Screen) -> Result<Written, Diagnostic> {
    let gathered = done.gathered.take().unwrap_or_default();
    let table = match (&task.checkpoint, &task.folder) {
        // The first part of a continued run is in its folder only.
        (Some(_), Some(folder)) => fourbar_io::results::read_table(folder)?,
        _ => Table::from(&gathered),
    };
    let summary = summary(task, done);
    write(&task.input, &[Shown { label: label(task), table: &table, summary: &summary }], wanted, screen)
}

/// A page that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Path of the file.
    pub path: String,
    /// Size of the file.
    pub bytes: usize,
    /// Whether a browser was started to show it.
    pub opened: bool,
    /// A line for the user.
    pub text: String,
    /// Warnings of its creation.
    pub warnings: Vec<Diagnostic>,
}

/// Writes a page.
pub fn write(input: &Input, shown: &[Shown<'_>], wanted: &Wanted, screen: &Screen) -> Result<Written, Diagnostic> {
    let folder = input.folder.as_deref();
    let file =
        |set, study, playground| LiveFile { name: file_name(&input.name), text: input.loaded.places.source(), set, study, playground };
    let made = match &wanted.live {
        Live::No => page(&input.model, folder, shown)?,
        Live::File(set, study) => live_page(&input.model, folder, shown, &file(set, study, false))?,
        Live::Playground => live_page(&input.model, folder, shown, &file(&[], &Study::of(&input.model), true))?,
    };
    let written = put(made.html.as_bytes(), wanted, screen)?;
    Ok(Written { warnings: made.warnings, ..written })
}

/// Writes the text of a page, and opens it if requested.
fn put(html: &[u8], wanted: &Wanted, screen: &Screen) -> Result<Written, Diagnostic> {
    if let Some(folder) = wanted.path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e))?;
    }
    write_kind(&wanted.path, html, Kind::Page, wanted.force)?;
    let opened = wanted.open && !screen.json && !screen.quiet && std::io::stdout().is_terminal() && open(&wanted.path);
    let path = wanted.path.display().to_string();
    let megabytes = html.len() as f64 / 1e6;
    let text = format!(
        "{} ({megabytes:.1} MB) {}\n",
        screen.accent(&path),
        if opened { "opens in your browser" } else { "is the page: open it in a browser" }
    );
    Ok(Written { path, bytes: html.len(), opened, text, warnings: Vec::new() })
}

/// `fourbar playground`: a live page with all shipped models.
pub fn playground(args: &PlaygroundArgs, screen: &Screen) -> Result<Reply, Stop> {
    may_replace(&args.output, Kind::Page, args.force)?;
    let e = find(&args.name)?;
    let input = load_with(e.name, &[], false)?;
    let study = settings::study(&input.model, &StudyArgs::default())?;
    let source = ran(input, study, &[], screen)?;
    let shown = [Shown { label: source.label.clone(), table: &source.table, summary: &source.summary }];
    let wanted = Wanted { path: args.output.clone(), force: args.force, open: !args.no_open, live: Live::Playground };
    let written = write(&source.input, &shown, &wanted, screen).map_err(|d| source.input.stop(&d))?;
    let mut reply = Reply::new(written.text, json!({"page": written.path, "bytes": written.bytes, "opened": written.opened}));
    reply.notes = source.input.notes(source.problems.iter().chain(&written.warnings));
    reply.exit = exit_code(reply.notes.list.iter());
    Ok(reply)
}

/// The name of a file without its folder.
fn file_name(name: &str) -> &str {
    Path::new(name).file_name().and_then(|n| n.to_str()).filter(|n| !n.starts_with('<')).unwrap_or("mechanism.yaml")
}

/// Asks the system to show a file; a system without a browser is not an error.
fn open(path: &Path) -> bool {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut c = Command::new("cmd");
        c.args(["/C", "start", ""]);
        c
    } else {
        Command::new("xdg-open")
    };
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}

/// The mechanism of a run, with its assembly mode if one was requested.
fn label(task: &Task) -> String {
    let mode = task.study.mode.map_or(String::new(), |k| format!(", mode {k}"));
    stem(&task.input.name) + &mode
}

/// The name of a file without folder and ending.
pub fn stem(name: &str) -> String {
    let stem = Path::new(name).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    if stem.is_empty() || stem.starts_with('<') { "mechanism".into() } else { stem }
}

/// The default path: beside a result, or in the current folder under the name of the mechanism.
fn default_path(inputs: &[String]) -> PathBuf {
    match inputs {
        [one] if Path::new(one).is_dir() => Path::new(one).join(PAGE),
        // The page of rows stored beside an older result is also stored beside its page.
        [one] if is_result(Path::new(one)) && one.ends_with(PART) => Path::new(one).with_file_name("page-part.html"),
        [one] if is_result(Path::new(one)) => Path::new(one).with_file_name(PAGE),
        [one] => page_of(one),
        _ => PathBuf::from("comparison.html"),
    }
}

/// The page of a mechanism in the current folder.
pub fn page_of(name: &str) -> PathBuf {
    PathBuf::from(format!("{}.html", stem(name)))
}
