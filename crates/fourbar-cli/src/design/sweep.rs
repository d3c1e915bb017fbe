//! `fourbar sweep`: many cases of one mechanism, one row each.

use super::Subject;
use super::progress::Progress;
use crate::args::{FormatName, StudyArgs, SweepArgs, Verb};
use crate::hand::parsed;
use crate::reply::{Reply, Stop};
use crate::screen::{Facts, Screen, number, table};
use fourbar::study::count;
use fourbar::{Diagnostic, Trajectory};
use fourbar_design::sweep::{Axis, LANES, Plan, Scheme, Status, Sweep, Values, execute, parts};
use fourbar_io::results::{CaseRow, Shard, SweepFolder, SweepPlan, Table, TrajectoryPlace, number as csv_number, parquet};
use fourbar_io::studies::{Spread, axis};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

/// Key of the plan's settings for runs in batches.
const BATCH: &str = "batch";
/// Number of rows that are printed.
const SHOWN: usize = 12;

/// A sweep that is ready to run: the mechanism, the plan, and the description of its columns.
#[derive(Debug)]
pub struct Cases {
    /// The mechanism and its measures.
    pub subject: Subject,
    /// Everything that determines the rows.
    pub described: SweepPlan,
    /// Maps case numbers to values.
    pub plan: Plan,
    /// Description of the columns.
    pub schema: Value,
    /// Cases of batches that were run alone: their number and the first of them, by reason.
    alone: Mutex<BTreeMap<String, (usize, usize)>>,
}

impl Cases {
    fn new(args: &SweepArgs, screen: &Screen) -> Result<Self, Stop> {
        // Ensured by the parser.
        let Some(file) = &args.file else { return Err(Diagnostic::new("U001", "there is no mechanism file").into()) };
        let (mut subject, described) = match &args.resume {
            Some(folder) => resumed(args, file, folder, screen)?,
            None => planned(args, file, screen)?,
        };
        subject.together = described.settings[BATCH] == json!(true);
        let plan = Plan::new(described.axes.clone(), described.scheme)?;
        let schema = described.schema(&subject.units, &axis_units(&subject, &described.axes), env!("CARGO_PKG_VERSION"));
        Ok(Self { subject, described, plan, schema, alone: Mutex::default() })
    }

    /// The sweep of a command line, whose first word is `sweep`, for a program that runs the cases itself; the flag ends running cases.
    pub fn of(words: &[String], stop: &'static AtomicBool) -> Result<Self, Refused> {
        let args = parsed(words).map_err(Refused::Usage)?;
        let Verb::Sweep(args) = &args.verb else { return Err(Refused::Usage("this is not a sweep".into())) };
        Self::new(args, &Screen::silent(stop)).map_err(|stop| Refused::Told(stop.0.list, stop.0.name))
    }

    /// Runs cases on some threads (zero: one per core) and calls `make` with the trajectory of each there; passes its row and the result to
    /// `done` in the order of completion, until `done` returns false.
    pub fn run<T: Send>(
        &self,
        numbers: &[usize],
        threads: usize,
        make: impl Fn(usize, Trajectory) -> T + Sync,
        mut done: impl FnMut(CaseRow, T) -> bool,
    ) {
        let names: Vec<&str> = self.described.axes.iter().map(|a| a.name.as_str()).collect();
        self.subject.with_sweep(&names, |cases| {
            if self.subject.together {
                self.run_together(cases, (numbers, threads), &make, &mut done);
                return;
            }
            let run = |k: usize| {
                let values = self.plan.case(k);
                let (outcome, rows) = cases.run(&values)?;
                Some((CaseRow::new(k, values, &outcome), make(k, rows)))
            };
            execute(numbers, threads, cases.stop, run, |_, (row, made)| done(row, made));
        });
    }

    /// The same in batches. The result of a case is bit-identical in any batch.
    fn run_together<T: Send>(
        &self,
        cases: &Sweep<'_>,
        (numbers, threads): (&[usize], usize),
        make: &(impl Fn(usize, Trajectory) -> T + Sync),
        done: &mut impl FnMut(CaseRow, T) -> bool,
    ) {
        let parts = parts(numbers, threads, LANES);
        let places: Vec<usize> = (0..parts.len()).collect();
        let run = |place: usize| {
            let list: Vec<Vec<f64>> = parts[place].iter().map(|k| self.plan.case(*k)).collect();
            let shared = cases.run_together(&list);
            let mut rows = Vec::with_capacity(list.len());
            for ((&k, values), shared) in parts[place].iter().zip(list).zip(shared) {
                if let Some(why) = shared.alone {
                    let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
                    let (count, first) = alone.entry(why).or_insert((0, k));
                    (*count, *first) = (*count + 1, k.min(*first));
                }
                if let Some((outcome, kept)) = shared.result {
                    rows.push((CaseRow::new(k, values, &outcome), make(k, kept)));
                }
            }
            Some(rows)
        };
        execute(&places, threads, cases.stop, run, |_, rows| rows.into_iter().all(|(row, made)| done(row, made)));
    }

    /// Number of cases that ran alone instead of in a batch, the most frequent reason, and the first case.
    pub fn alone(&self) -> Option<(usize, String, usize)> {
        let alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        let all = alone.values().map(|x| x.0).sum();
        let (why, (_, case)) = alone.iter().max_by_key(|(_, (count, first))| (*count, std::cmp::Reverse(*first)))?;
        Some((all, why.clone(), *case))
    }

    /// The rows of a case as a file, CSV or Parquet.
    pub fn trajectory(&self, case: usize, rows: &Trajectory, parquet: bool) -> Result<Vec<u8>, Diagnostic> {
        if parquet {
            let facts = json!({"file": self.described.file, "model": self.described.model, "plan": self.described.hash(), "case": case});
            return parquet::write_table(&Table::from(rows), facts);
        }
        let names: Vec<&str> = rows.columns.iter().map(|c| c.name.as_str()).collect();
        let mut out = format!("{}\n", names.join(",")).into_bytes();
        for k in 0..rows.len() {
            for (i, column) in rows.values.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                csv_number(column[k], &mut out);
            }
            out.push(b'\n');
        }
        Ok(out)
    }

    /// Writes the rows of a case into the folder of the sweep.
    fn keep(&self, case: usize, rows: &Trajectory, place: &TrajectoryPlace) -> Result<(), Diagnostic> {
        place.write(case, &self.trajectory(case, rows, place.parquet)?)
    }

    /// Runs all cases of a shard that are missing in a folder, each row on disk before the next one; `step` is called for each. Returns the
    /// number of computed cases.
    pub fn fill(&self, folder: &mut SweepFolder, threads: usize, mut step: impl FnMut(&CaseRow) -> bool) -> Result<usize, Diagnostic> {
        let missing = folder.missing(&self.plan);
        let (mut problem, mut computed) = (None, 0);
        let place = folder.trajectories();
        let keep = |case: usize, rows: Trajectory| match self.described.trajectories {
            Some(_) => self.keep(case, &rows, &place),
            None => Ok(()),
        };
        self.run(&missing, threads, keep, |row, kept| {
            let on = step(&row);
            let kept = kept.and_then(|()| folder.push(row)).map_err(|d| problem = Some(d)).is_ok();
            computed += 1;
            kept && on
        });
        problem.map_or(Ok(computed), Err)
    }
}

/// Reason why a sweep cannot run.
#[derive(Debug)]
pub enum Refused {
    /// The command line is invalid.
    Usage(String),
    /// Diagnostics, and the name of the file in them.
    Told(Vec<Diagnostic>, String),
}

/// Runs the verb.
pub(crate) fn sweep(args: &SweepArgs, screen: &Screen) -> Result<Reply, Stop> {
    if let Some(folder) = &args.merge {
        return merge(folder, screen);
    }
    let cases = Cases::new(args, screen)?;
    let Cases { subject, described, plan, schema, .. } = &cases;
    // A plan may set parameters and vary them, but on a command line both for the same parameter is a mistake.
    if let Some((name, _)) = args.set.iter().find(|(name, _)| described.axes.iter().any(|a| a.name == *name)) {
        return Err(Diagnostic::new("U430", format!("`{name}` is varied and set: every case has a value of its own for it"))
            .name(name)
            .help(format!("leave out `--set {name}=...`, or do not vary `{name}`"))
            .into());
    }
    let file = args.file.as_deref().unwrap_or_default();
    let shard = args.shard.map_or(Shard::WHOLE, |(number, of)| Shard { number, of });
    let out = args.resume.as_ref().or(args.out.as_ref());
    if out.is_none() && shard != Shard::WHOLE {
        return Err(Diagnostic::new("U432", "a shard needs a folder").help("add `--out DIR`, the same for all shards").into());
    }
    if out.is_none() && args.format == FormatName::Parquet {
        return Err(Diagnostic::new("U432", "`--format parquet` needs a folder: without one nothing is written")
            .help("add `--out DIR`")
            .into());
    }
    let how = [args.resume.is_some(), args.force, args.format == FormatName::Parquet];
    let mut folder = match out {
        Some(path) => Some(SweepFolder::open(path, described.clone(), schema, shard, how)?),
        None => None,
    };
    let missing: Vec<usize> = match &folder {
        Some(folder) => folder.missing(plan),
        None => plan.shard(shard.number, shard.of).collect(),
    };
    screen.listen();
    let mut progress = Progress::new(screen, missing.len());
    let (mut rows, mut failed): (BTreeMap<usize, CaseRow>, usize) = (BTreeMap::new(), 0);
    let threads = args.study.threads.map_or(0, usize::from);
    let mut step = |row: &CaseRow| {
        failed += usize::from(row.status != Status::Ok);
        progress.step(|| if failed > 0 { format!("{failed} failed") } else { String::new() });
        true
    };
    let filled = match &mut folder {
        Some(folder) => cases.fill(folder, threads, &mut step).map(|_| ()),
        None => {
            let drop = |_, _| ();
            cases.run(&missing, threads, drop, |row, ()| {
                let on = step(&row);
                rows.insert(row.case, row);
                on
            });
            Ok(())
        }
    };
    progress.finish();
    filled?;
    let interrupted = screen.interrupted();
    let mut written = None;
    if let Some(folder) = &mut folder {
        let complete = folder.missing(plan).is_empty();
        if complete && !interrupted {
            written = Some(folder.finish(plan)?);
        }
        rows.clone_from(folder.rows());
        rows.retain(|k, _| k % shard.of == shard.number - 1);
    }
    let told = Told {
        title: subject.title(),
        plan: described,
        rows: &rows,
        cases: plan.shard(shard.number, shard.of).count(),
        units: &subject.units,
        part: shard != Shard::WHOLE,
    };
    let mut reply = told.reply(screen);
    let unused = unused_counts(described);
    if !unused.is_empty() {
        let names = unused.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        reply.text += &format!("\nthe number of values given for {names} is ignored: cases are spread over the whole range\n");
        reply.fields.insert("unused_counts".into(), json!(unused));
    }
    reply.fields.insert("seconds".into(), json!(progress.seconds()));
    reply.fields.insert("computed".into(), json!(rows.len().min(missing.len())));
    if subject.together {
        let alone = cases.alone();
        let count = alone.as_ref().map_or(0, |a| a.0);
        reply.text += &match &alone {
            None => "\nall cases ran in batches\n".to_string(),
            Some((n, why, case)) => format!("\n{n} of {} cases ran individually, not in a batch; case {case}: {why}\n", missing.len()),
        };
        reply.fields.insert("alone".into(), json!({"cases": count, "why": alone.map(|a| a.1)}));
    }
    if let Some(path) = &written {
        reply.text += &format!("\nthe cases are in {}\n", path.display());
        reply.fields.insert("table".into(), json!(path));
    }
    if interrupted {
        let dir = out.map_or("DIR".into(), |d| d.display().to_string());
        let go_on = if out.is_some() {
            format!("`fourbar sweep {file} --resume {dir}` continues it")
        } else {
            "nothing was written: give `--out DIR` to keep what is done".into()
        };
        reply.text += &format!("\ninterrupted after {} of {}; {go_on}\n", count(rows.len(), "case"), told.cases);
    }
    let mut notes = subject.input.loaded.warnings.clone();
    notes.extend(told.warning());
    reply.notes = subject.input.notes(&notes);
    reply.exit = match (interrupted, crate::reply::exit_code(reply.notes.list.iter())) {
        (true, _) => Reply::INTERRUPTED,
        (false, code) => code,
    };
    Ok(reply)
}

/// The plan of the command line and the file.
fn planned(args: &SweepArgs, file: &str, screen: &Screen) -> Result<(Subject, SweepPlan), Stop> {
    let patterns = args.trajectories.as_deref();
    let measures = |input: &crate::input::Input| {
        if args.measure.is_empty() { input.loaded.studies.measures.clone() } else { args.measure.clone() }
    };
    let subject = Subject::new(screen, file, &args.set, args.large, &args.study, measures, patterns)?;
    let own = subject.input.loaded.studies.sweep.clone().unwrap_or_default();
    let vary = if args.vary.is_empty() { &own.vary } else { &args.vary };
    if subject.measures.is_empty() && args.trajectories.is_none() {
        return Err(Diagnostic::new("U436", "the sweep measures nothing")
            .help("add `--measure NAME=EXPRESSION`, such as `--measure peak=\"max(abs(motor.effort))\"`, or `study: {measures: ...}` to the file")
            .into());
    }
    let axes = vary
        .iter()
        .map(|(name, text)| {
            let (_, dimension) = subject.file.parameter(name)?;
            axis(name, text, dimension)
        })
        .collect::<Result<Vec<Axis>, Diagnostic>>()?;
    let seed = args.seed.unwrap_or(own.seed.max(1));
    let spread = match (args.lhs, args.sobol, own.spread) {
        (Some(n), ..) => Some(Spread::Lhs(n as usize)),
        (_, Some(n), _) => Some(Spread::Sobol(n as usize)),
        // Values on the command line form a grid, whatever the sampling in the file.
        (None, None, spread) => spread.filter(|_| args.vary.is_empty()),
    };
    let scheme = match spread {
        None => Scheme::Grid,
        Some(Spread::Lhs(cases)) => Scheme::Lhs { cases, seed },
        Some(Spread::Sobol(cases)) => Scheme::Sobol { cases, seed },
    };
    let mut settings = json!(StudyArgs { threads: None, ..args.study.clone() });
    if args.batch {
        settings[BATCH] = json!(true);
    }
    let plan = SweepPlan {
        file: subject.input.name.clone(),
        model: subject.input.loaded.hash.clone(),
        data: subject.input.loaded.data.clone(),
        set: args.set.clone(),
        settings,
        axes,
        scheme,
        measures: subject.measures.clone(),
        trajectories: args.trajectories.clone(),
    };
    Ok((subject, plan))
}

/// The plan of a folder.
fn resumed(args: &SweepArgs, file: &str, folder: &Path, screen: &Screen) -> Result<(Subject, SweepPlan), Stop> {
    let plan = SweepFolder::plan_of(folder)?;
    let settings: StudyArgs = serde_json::from_value(plan.settings.clone())
        .map_err(|_| Diagnostic::new("U432", format!("the plan of `{}` has no settings", folder.display())))?;
    let measures = plan.measures.clone();
    let subject = Subject::new(screen, file, &plan.set, args.large, &settings, move |_| measures, plan.trajectories.as_deref())?;
    if subject.input.loaded.hash != plan.model || subject.input.loaded.data != plan.data {
        let message = format!("the sweep in `{}` belongs to another mechanism file", folder.display());
        return Err(Diagnostic::new("U432", message)
            .help("the file or one of its tables has changed since: start again in another folder")
            .into());
    }
    Ok((subject, plan))
}

/// Ranges with a number of values, which is used by grids only.
fn unused_counts(plan: &SweepPlan) -> Vec<&str> {
    let counted = |a: &&Axis| matches!(a.values, Values::Range { count, .. } if count > 0);
    if plan.scheme == Scheme::Grid { Vec::new() } else { plan.axes.iter().filter(counted).map(|a| a.name.as_str()).collect() }
}

fn axis_units(subject: &Subject, axes: &[Axis]) -> Vec<String> {
    axes.iter()
        .map(|a| match subject.file.parameter(&a.name) {
            Ok((_, Some(d))) => d.unit(),
            _ => String::new(),
        })
        .collect()
}

fn merge(path: &Path, screen: &Screen) -> Result<Reply, Stop> {
    let mut folder = SweepFolder::read(path)?;
    let written = folder.merge()?;
    let plan = folder.plan();
    let schema: Value = std::fs::read(path.join("schema.json")).ok().and_then(|b| serde_json::from_slice(&b).ok()).unwrap_or_default();
    let unit = |name: &str| {
        let column = schema["columns"].as_array().into_iter().flatten().find(|c| c["name"] == name);
        column.and_then(|c| c["unit"].as_str()).unwrap_or_default().to_string()
    };
    let units: Vec<String> = plan.measures.iter().map(|m| unit(&m.0)).collect();
    let told = Told { title: &plan.file, plan, rows: folder.rows(), cases: folder.rows().len(), units: &units, part: false };
    let mut reply = told.reply(screen);
    reply.text += &format!("\nthe cases are in {}\n", written.display());
    reply.fields.insert("table".into(), json!(written));
    Ok(reply)
}

/// Data for the text of an answer.
struct Told<'a> {
    title: &'a str,
    plan: &'a SweepPlan,
    rows: &'a BTreeMap<usize, CaseRow>,
    /// Number of cases.
    cases: usize,
    units: &'a [String],
    /// Whether these are the cases of a shard: if all of them fail, others may still succeed.
    part: bool,
}

impl Told<'_> {
    fn ok(&self) -> impl Iterator<Item = &CaseRow> {
        self.rows.values().filter(|r| r.status == Status::Ok)
    }

    /// Parameter values of a row as text.
    fn at(&self, row: &CaseRow) -> String {
        let value = |(a, x): (&Axis, &f64)| {
            let unit = if a.unit.is_empty() { String::new() } else { format!(" {}", a.unit) };
            format!("{} {}{unit}", a.name, number(x / a.factor))
        };
        self.plan.axes.iter().zip(&row.values).map(value).collect::<Vec<_>>().join(", ")
    }

    fn reply(&self, screen: &Screen) -> Reply {
        let axes: Vec<String> = self.plan.axes.iter().map(|a| format!("`{}`", a.name)).collect();
        let how = match self.plan.scheme {
            Scheme::Grid => "a grid",
            Scheme::Lhs { .. } => "a Latin hypercube",
            Scheme::Sobol { .. } => "a Sobol sequence",
        };
        let mut facts = Facts::new(12);
        facts.add("sweep", &format!("{} over {}, {how}", count(self.cases, "case"), axes.join(", ")));
        let counts: Vec<String> = Status::ALL
            .iter()
            .map(|s| (s, self.rows.values().filter(|r| r.status == *s).count()))
            .filter(|(s, n)| *n > 0 || **s == Status::Ok)
            .map(|(s, n)| format!("{n} {}", s.word()))
            .collect();
        facts.add("done", &counts.join(", "));
        let mut measures = Map::new();
        for (m, (name, text)) in self.plan.measures.iter().enumerate() {
            let by = |a: &&CaseRow, b: &&CaseRow| a.measures[m].total_cmp(&b.measures[m]);
            let (Some(least), Some(most)) = (self.ok().min_by(by), self.ok().max_by(by)) else { continue };
            let unit = match self.units[m].as_str() {
                "" | "1" => String::new(),
                u => format!(" {u}"),
            };
            facts.add(name, &format!("least {}{unit} (case {}: {})", number(least.measures[m]), least.case, self.at(least)));
            facts.add("", &format!("most {}{unit} (case {}: {})", number(most.measures[m]), most.case, self.at(most)));
            measures.insert(
                name.clone(),
                json!({"text": text, "unit": self.units[m], "least": {"case": least.case, "value": least.measures[m]}, "most": {"case": most.case, "value": most.measures[m]}}),
            );
        }
        let mut head = vec!["case".to_string()];
        head.extend(self.plan.axes.iter().map(|a| if a.unit.is_empty() { a.name.clone() } else { format!("{} [{}]", a.name, a.unit) }));
        head.push("status".into());
        head.extend(self.plan.measures.iter().map(|m| m.0.clone()));
        let cells = |r: &CaseRow| {
            let mut row = vec![r.case.to_string()];
            row.extend(self.plan.axes.iter().zip(&r.values).map(|(a, x)| number(x / a.factor)));
            row.push(if r.code.is_empty() { r.status.word().into() } else { format!("{} {}", r.status.word(), r.code) });
            row.extend(r.measures.iter().map(|x| if x.is_finite() { number(*x) } else { String::new() }));
            row
        };
        let step = self.rows.len().div_ceil(SHOWN).max(1);
        let shown: Vec<Vec<String>> = self.rows.values().step_by(step).map(cells).collect();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let status = 1 + self.plan.axes.len();
        let right: Vec<usize> = (0..head.len()).filter(|k| *k != status).collect();
        let mut text = format!("{}\n\n{}\n{}", screen.bold(self.title), facts.text, table(&head, &shown, &right));
        if step > 1 {
            text += &format!("one row in {step} is shown\n");
        }
        let rows: Vec<Value> = if screen.json { self.rows.values().map(|r| self.fields(r)).collect() } else { Vec::new() };
        let by_status: Map<String, Value> =
            Status::ALL.iter().map(|s| (s.word().into(), json!(self.rows.values().filter(|r| r.status == *s).count()))).collect();
        Reply::new(
            text,
            json!({
                "file": self.plan.file, "title": self.title, "hash": self.plan.model, "plan": self.plan.hash(), "cases": self.cases,
                "scheme": self.plan.scheme, "status": by_status, "measures": measures, "rows": rows,
            }),
        )
    }

    fn fields(&self, r: &CaseRow) -> Value {
        let set: Map<String, Value> = self.plan.axes.iter().zip(&r.values).map(|(a, x)| (a.name.clone(), json!(x))).collect();
        let measures: Map<String, Value> = self.plan.measures.iter().zip(&r.measures).map(|(m, x)| (m.0.clone(), json!(x))).collect();
        let mut value = json!({"case": r.case, "set": set, "status": r.status.word(), "measures": measures});
        if r.status != Status::Ok {
            value["code"] = json!(r.code);
            value["message"] = json!(r.message);
            value["names"] = json!(r.names.split_whitespace().collect::<Vec<_>>());
            value["time"] = json!(r.time);
        }
        value
    }

    /// A warning about failed cases.
    fn warning(&self) -> Option<Diagnostic> {
        let failed: Vec<&CaseRow> = self.rows.values().filter(|r| r.status != Status::Ok).collect();
        let mut codes: BTreeMap<&str, (usize, &CaseRow)> = BTreeMap::new();
        for r in &failed {
            codes.entry(&r.code).or_insert((0, r)).0 += 1;
        }
        let (_, (n, example)) = codes.iter().max_by_key(|(_, (n, _))| *n)?;
        let message = format!(
            "{} of {} cases failed; {n} with {}, as case {} ({}): {}",
            failed.len(),
            self.rows.len(),
            example.code,
            example.case,
            self.at(example),
            example.message
        );
        let all = failed.len() == self.rows.len() && !self.part;
        Some(
            Diagnostic::new(if all { "S440" } else { "W443" }, message)
                .names(example.names.split_whitespace().map(String::from))
                .help(if all { "narrow the ranges around the values of the file" } else { "their rows contain status, code and names" }),
        )
    }
}
