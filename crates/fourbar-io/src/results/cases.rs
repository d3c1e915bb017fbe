//! The folder of a sweep: `plan.json`, one row per case in `cases.csv`, names and units of its columns in `schema.json`.
//!
//! While a sweep runs, each finished case is appended to `cases.csv.part` as one whole line; when all cases are done, the rows are written
//! in the order of their numbers. A killed sweep resumes with the cases that have no row yet, and its result has the same bytes. Shards of
//! a sweep have separate files (`shard-2-of-8.csv`), which are merged into `cases.csv`. Cases computed elsewhere are added as parts:
//! Parquet files named by their first case and the hash of the plan.

use super::parts::{self, is_part};
use super::{parquet, write::number, write::write_json};
use crate::disk::{part, read_text_bounded, unwritable, write_beside};
use crate::file::text_hash;
use fourbar::Diagnostic;
use fourbar_design::sweep::{Axis, Outcome, Plan, Scheme, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Name of the plan in the folder of a sweep.
pub const PLAN: &str = "plan.json";
/// Name of the rows.
pub const CASES: &str = "cases.csv";
/// Name of the rows as Parquet.
pub const CASES_PARQUET: &str = "cases.parquet";
/// Name of the description of the columns.
pub const SCHEMA: &str = "schema.json";
/// Name of the folder of trajectories.
pub const TRAJECTORIES: &str = "trajectories";
/// Largest file of rows that is read.
const MOST: u64 = 4 << 30;

/// Everything that determines the rows of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPlan {
    /// Displayed name of the mechanism file.
    pub file: String,
    /// SHA-256 of its text.
    pub model: String,
    /// Files of tables with their hashes.
    pub data: Vec<(String, String)>,
    /// Parameters that are set for all cases.
    pub set: Vec<(String, String)>,
    /// Settings of the run, as the command line has them.
    pub settings: Value,
    /// The varied parameters.
    pub axes: Vec<Axis>,
    /// How their values are combined.
    pub scheme: Scheme,
    /// Name and text of each measure.
    pub measures: Vec<(String, String)>,
    /// Patterns of the trajectory columns that are kept; `None`: no trajectories.
    pub trajectories: Option<Vec<String>>,
}

impl SweepPlan {
    /// SHA-256 of the plan without the name of the file.
    pub fn hash(&self) -> String {
        let mut value = json!(self);
        value["file"] = Value::Null;
        text_hash(&value.to_string())
    }

    /// Names of the columns.
    pub fn header(&self) -> Vec<String> {
        let mut names = vec!["case".to_string()];
        names.extend(self.axes.iter().map(|a| format!("set.{}", a.name)));
        names.extend(["status", "code", "time", "names", "message"].map(String::from));
        names.extend(self.measures.iter().map(|m| m.0.clone()));
        names
    }

    /// Description of the columns: names, units, types and words.
    pub fn schema(&self, units: &[String], axis_units: &[String], version: &str) -> Value {
        let column =
            |name: String, kind: &str, unit: &str, about: String| json!({"name": name, "type": kind, "unit": unit, "about": about});
        let mut columns = vec![column("case".into(), "integer", "", "number of the case, from 0".into())];
        for (a, unit) in self.axes.iter().zip(axis_units) {
            columns.push(column(format!("set.{}", a.name), "number", unit, format!("value of the parameter `{}`", a.name)));
        }
        for (name, kind, unit, about) in [
            ("status", "text", "", "ok, not-built, not-assembled or failed"),
            ("code", "text", "", "code of the diagnostic of a case that failed"),
            ("time", "number", "s", "time of the failure, where it has one"),
            ("names", "text", "", "joints, bodies and other elements that the failure names"),
            ("message", "text", "", "what went wrong"),
        ] {
            columns.push(column(name.into(), kind, unit, about.into()));
        }
        for ((name, text), unit) in self.measures.iter().zip(units) {
            columns.push(column(name.clone(), "number", unit, text.clone()));
        }
        json!({"fourbar": version, "file": self.file, "model": self.model, "plan": self.hash(), "columns": columns})
    }
}

/// A row of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseRow {
    /// Number of the case.
    pub case: usize,
    /// Values of the varied parameters, SI.
    pub values: Vec<f64>,
    /// Status at the end.
    pub status: Status,
    /// Code of the failure.
    pub code: String,
    /// Time of the failure.
    pub time: Option<f64>,
    /// Names in the diagnostic of the failure.
    pub names: String,
    /// Message of the failure.
    pub message: String,
    /// The measures; NaN if there are none.
    pub measures: Vec<f64>,
}

impl CaseRow {
    /// The row of a case.
    pub fn new(case: usize, values: Vec<f64>, outcome: &Outcome) -> Self {
        let d = outcome.problem.as_ref();
        let one_line = |text: &str| text.replace(['\n', '\r'], " ");
        Self {
            case,
            values,
            status: outcome.status,
            code: d.map_or(String::new(), |d| d.code.0.into()),
            time: d.and_then(|d| d.time),
            names: d.map_or(String::new(), |d| one_line(&d.names.join(" "))),
            message: d.map_or(String::new(), |d| one_line(&d.message)),
            measures: outcome.measures.clone(),
        }
    }

    /// The row as a line of the table, with its line end.
    pub fn line(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // Writing to a `Vec` cannot fail.
        let _ = write!(out, "{}", self.case);
        let cell = |x: f64, out: &mut Vec<u8>| {
            out.push(b',');
            if x.is_finite() {
                number(x, out);
            }
        };
        self.values.iter().for_each(|x| cell(*x, &mut out));
        let _ = write!(out, ",{},{}", self.status.word(), self.code);
        cell(self.time.unwrap_or(f64::NAN), &mut out);
        let _ = write!(out, ",{},{}", quoted(&self.names), quoted(&self.message));
        self.measures.iter().for_each(|x| cell(*x, &mut out));
        out.push(b'\n');
        out
    }

    /// Reads a line of a table with the given numbers of parameters and measures.
    pub fn parse(line: &str, parameters: usize, measures: usize) -> Option<Self> {
        let cells = split(line)?;
        if cells.len() != 6 + parameters + measures {
            return None;
        }
        let numbers = |cells: &[String]| -> Option<Vec<f64>> {
            cells.iter().map(|c| if c.is_empty() { Some(f64::NAN) } else { c.parse().ok() }).collect()
        };
        let rest = &cells[1 + parameters..];
        Some(Self {
            case: cells[0].parse().ok()?,
            values: numbers(&cells[1..1 + parameters])?,
            status: Status::of(&rest[0])?,
            code: rest[1].clone(),
            time: if rest[2].is_empty() { None } else { Some(rest[2].parse().ok()?) },
            names: rest[3].clone(),
            message: rest[4].clone(),
            measures: numbers(&rest[5..])?,
        })
    }
}

/// A cell of a CSV table, quoted if necessary.
fn quoted(text: &str) -> String {
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

/// The cells of a line; `None` if a quote is not closed.
fn split(line: &str) -> Option<Vec<String>> {
    let (mut cells, mut cell, mut quotes) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quotes && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quotes = !quotes,
            ',' if !quotes => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(c),
        }
    }
    cells.push(cell);
    (!quotes).then_some(cells)
}

/// The rows of a file without an incomplete last line, and the length in bytes of the valid part.
fn rows_of(path: &Path, plan: &SweepPlan) -> Result<(Vec<CaseRow>, u64), Diagnostic> {
    let spoilt = |why: String| {
        Diagnostic::new("U433", format!("`{}` does not belong to the plan in its folder: {why}", path.display()))
            .help("the folder was edited; start the sweep again with `--force`, or in another folder")
    };
    let text = read_text_bounded(path, MOST).map_err(spoilt)?;
    let mut lines = text.split_inclusive('\n').filter(|l| l.ends_with('\n'));
    let Some(head) = lines.next() else { return Ok((Vec::new(), 0)) };
    let header = plan.header();
    if split(head.trim_end_matches('\n')).as_ref() != Some(&header) {
        return Err(spoilt("its columns are others".into()));
    }
    let mut length = head.len() as u64;
    let mut rows = Vec::new();
    for (k, line) in lines.enumerate() {
        let row = CaseRow::parse(line.trim_end_matches('\n'), plan.axes.len(), plan.measures.len());
        rows.push(row.ok_or_else(|| spoilt(format!("line {} is not one of its rows", k + 2)))?);
        length += line.len() as u64;
    }
    Ok((rows, length))
}

fn table(plan: &SweepPlan, rows: &BTreeMap<usize, CaseRow>) -> Vec<u8> {
    let mut out = head(plan);
    rows.values().for_each(|row| out.extend(row.line()));
    out
}

fn head(plan: &SweepPlan) -> Vec<u8> {
    let names: Vec<String> = plan.header().iter().map(|n| quoted(n)).collect();
    format!("{}\n", names.join(",")).into_bytes()
}

/// A part of a sweep: shard `number` of `of`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the shard.
    pub number: usize,
    /// Number of shards.
    pub of: usize,
}

impl Shard {
    /// The whole sweep.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    fn file(self) -> String {
        if self.of == 1 { CASES.into() } else { format!("shard-{}-of-{}.csv", self.number, self.of) }
    }
}

/// Location of the trajectories of a sweep: a dataset with one part per case.
#[derive(Clone, Debug)]
pub struct TrajectoryPlace {
    folder: PathBuf,
    /// Whether the parts are Parquet files.
    pub parquet: bool,
}

impl TrajectoryPlace {
    /// The file of a case.
    pub fn of(&self, case: usize) -> PathBuf {
        let name = if self.parquet { "trajectory.parquet" } else { "trajectory.csv" };
        self.folder.join(format!("case={case}")).join(name)
    }

    /// Writes the file of a case.
    pub fn write(&self, case: usize, bytes: &[u8]) -> Result<(), Diagnostic> {
        let path = self.of(case);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e))?;
        }
        write_beside(&path, bytes)
    }
}

/// The folder of a sweep.
#[derive(Debug)]
pub struct SweepFolder {
    pub(super) path: PathBuf,
    plan: SweepPlan,
    shard: Shard,
    journal: Option<File>,
    pub(super) rows: BTreeMap<usize, CaseRow>,
    /// Description of the columns.
    schema: Value,
    /// Whether tables are also written as Parquet.
    parquet: bool,
}

impl SweepFolder {
    /// The plan of a folder.
    pub fn plan_of(path: &Path) -> Result<SweepPlan, Diagnostic> {
        Self::plan_with_format(path).map(|(plan, _)| plan)
    }

    /// The same, and whether tables are also written as Parquet.
    fn plan_with_format(path: &Path) -> Result<(SweepPlan, bool), Diagnostic> {
        let refused = |why: String| {
            Diagnostic::new("U432", format!("`{}` contains no sweep: {why}", path.display()))
                .help("give the folder that `fourbar sweep FILE --out DIR` wrote")
        };
        let text = read_text_bounded(&path.join(PLAN), 64 << 20).map_err(|e| refused(format!("`{PLAN}` cannot be read: {e}")))?;
        let value: Value = serde_json::from_str(&text).map_err(|_| refused(format!("`{PLAN}` is not complete")))?;
        let plan: SweepPlan = serde_json::from_value(value.clone()).map_err(|e| refused(format!("`{PLAN}` is not a plan: {e}")))?;
        if value["hash"] != json!(plan.hash()) {
            return Err(refused(format!("`{PLAN}` was edited")));
        }
        Ok((plan, value["parquet"] == true))
    }

    /// Opens a folder for a plan, either new or with the same plan. Existing rows are kept with `resume`; otherwise a folder with rows of
    /// this shard is rejected unless `force`, which removes them. With `parquet` tables are also written as Parquet.
    pub fn open(
        path: &Path,
        plan: SweepPlan,
        schema: &Value,
        shard: Shard,
        [resume, force, parquet]: [bool; 3],
    ) -> Result<Self, Diagnostic> {
        if parquet {
            // Rejected before anything is computed.
            parquet::available()?;
        }
        std::fs::create_dir_all(path).map_err(|e| unwritable(path, &e))?;
        let there = path.join(PLAN).exists();
        let mut parquet = parquet;
        if there && force && !resume {
            Self::clear(path)?;
        } else if there {
            let (old, stored) = Self::plan_with_format(path)?;
            parquet |= stored;
            if old.hash() != plan.hash() {
                let message = format!("`{}` contains a sweep of another mechanism or plan", path.display());
                return Err(Diagnostic::new("U432", message).help("choose another folder, or add `--force` to replace it"));
            }
        }
        let own = path.join(shard.file());
        if there && !force && !resume && (own.exists() || part(&own).exists()) {
            let message = format!("`{}` already contains rows of this sweep", path.display());
            return Err(Diagnostic::new("U432", message)
                .help(format!("`fourbar sweep FILE --resume {}` continues it, `--force` starts over", path.display())));
        }
        let mut value = json!(plan);
        value["hash"] = json!(plan.hash());
        value["parquet"] = json!(parquet);
        if !path.join(PLAN).exists() {
            write_json(&path.join(SCHEMA), schema)?;
            write_json(&path.join(PLAN), &value)?;
        }
        let mut folder = Self { path: path.into(), plan, shard, journal: None, rows: BTreeMap::new(), schema: schema.clone(), parquet };
        folder.gather()?;
        Ok(folder)
    }

    /// Reads an existing folder, for inspection or merging.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let (plan, parquet) = Self::plan_with_format(path)?;
        let described = read_text_bounded(&path.join(SCHEMA), 64 << 20).ok();
        let schema = described.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let mut folder = Self { path: path.into(), plan, shard: Shard::WHOLE, journal: None, rows: BTreeMap::new(), schema, parquet };
        folder.gather()?;
        Ok(folder)
    }

    /// Removes the files of an older sweep.
    fn clear(path: &Path) -> Result<(), Diagnostic> {
        for file in Self::files(path) {
            std::fs::remove_file(&file).map_err(|e| unwritable(&file, &e))?;
        }
        for name in [PLAN, SCHEMA, CASES_PARQUET] {
            let file = path.join(name);
            if file.exists() {
                std::fs::remove_file(&file).map_err(|e| unwritable(&file, &e))?;
            }
        }
        Ok(())
    }

    /// The files with rows, finished or not.
    pub(super) fn files(path: &Path) -> Vec<PathBuf> {
        let ours = |name: &str| {
            let name = name.strip_suffix(".part").unwrap_or(name);
            name == CASES || is_part(name) || (name.starts_with("shard-") && name.ends_with(".csv"))
        };
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> =
            entries.map(|e| e.path()).filter(|p| p.file_name().and_then(|n| n.to_str()).is_some_and(ours)).collect();
        files.sort();
        files
    }

    /// Reads all existing rows. Differing rows of one case cannot belong to the same plan.
    fn gather(&mut self) -> Result<(), Diagnostic> {
        for file in Self::files(&self.path) {
            let rows = if file.extension().is_some_and(|e| e == "parquet") {
                parts::rows_of(&file, &self.plan)?
            } else {
                rows_of(&file, &self.plan)?.0
            };
            for row in rows {
                if let Some(other) = self.rows.get(&row.case)
                    && other.line() != row.line()
                {
                    let message = format!("`{}` has two different rows of case {}", self.path.display(), row.case);
                    return Err(Diagnostic::new("U433", message)
                        .help("the rows come from different versions of the program: start again with `--force`"));
                }
                self.rows.insert(row.case, row);
            }
        }
        Ok(())
    }

    /// The plan.
    pub fn plan(&self) -> &SweepPlan {
        &self.plan
    }

    /// The rows so far, by case.
    pub fn rows(&self) -> &BTreeMap<usize, CaseRow> {
        &self.rows
    }

    /// Location and form of the trajectories.
    pub fn trajectories(&self) -> TrajectoryPlace {
        TrajectoryPlace { folder: self.path.join(TRAJECTORIES), parquet: self.parquet }
    }

    /// Claims the folder, or this shard of it, for this process.
    pub(super) fn claim(&mut self) -> Result<PathBuf, Diagnostic> {
        let path = part(&self.path.join(self.shard.file()));
        if self.journal.is_none() {
            self.journal = Some(self.begin(&path)?);
        }
        Ok(path)
    }

    /// Releases the folder, so that others can write to it.
    pub fn release(&mut self) {
        self.journal = None;
    }

    /// Adds a row, which is on disk when this returns.
    pub fn push(&mut self, row: CaseRow) -> Result<(), Diagnostic> {
        let path = self.claim()?;
        let failed = |e: std::io::Error| unwritable(&path, &e);
        if let Some(journal) = &mut self.journal {
            journal.write_all(&row.line()).map_err(failed)?;
        }
        self.rows.insert(row.case, row);
        Ok(())
    }

    /// Opens the journal for appending after its last whole line.
    fn begin(&self, path: &Path) -> Result<File, Diagnostic> {
        let failed = |e: std::io::Error| unwritable(path, &e);
        let mut file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path).map_err(failed)?;
        if file.try_lock().is_err() {
            let message = format!("another program is writing to `{}`", path.display());
            return Err(Diagnostic::new("U434", message).help("wait for its end, or give every process a separate shard: `--shard K/N`"));
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        let whole = text.iter().rposition(|b| *b == b'\n').map_or(0, |k| k + 1);
        file.set_len(whole as u64).map_err(failed)?;
        file.seek(SeekFrom::Start(whole as u64)).map_err(failed)?;
        if whole == 0 {
            file.write_all(&head(&self.plan)).map_err(failed)?;
        }
        Ok(file)
    }

    /// Case numbers of this shard that have no row yet.
    pub fn missing(&self, plan: &Plan) -> Vec<usize> {
        plan.shard(self.shard.number, self.shard.of).filter(|k| !self.rows.contains_key(k)).collect()
    }

    /// Writes the finished table of this shard, sorted by case, and removes the unfinished one. Returns its path.
    pub fn finish(&mut self, plan: &Plan) -> Result<PathBuf, Diagnostic> {
        let path = self.path.join(self.shard.file());
        let own: BTreeMap<usize, CaseRow> =
            plan.shard(self.shard.number, self.shard.of).filter_map(|k| Some((k, self.rows.get(&k)?.clone()))).collect();
        if self.parquet && self.shard == Shard::WHOLE {
            let columns = parts::case_columns(&self.plan, own.values());
            write_beside(&self.path.join(CASES_PARQUET), &parquet::write(&columns, &self.schema)?)?;
        }
        write_beside(&path, &table(&self.plan, &own))?;
        self.journal = None;
        self.take_parts_away(&own)?;
        let unfinished = part(&path);
        if unfinished.exists() {
            std::fs::remove_file(&unfinished).map_err(|e| unwritable(&unfinished, &e))?;
        }
        Ok(path)
    }

    /// Writes the table of all cases from those of the shards; an error if cases are missing.
    pub fn merge(&mut self) -> Result<PathBuf, Diagnostic> {
        let plan = Plan::new(self.plan.axes.clone(), self.plan.scheme)?;
        let missing = self.missing(&plan);
        if let Some(first) = missing.first() {
            let message =
                format!("{} of {} cases are missing in `{}`, the first is case {first}", missing.len(), plan.len(), self.path.display());
            return Err(Diagnostic::new("U435", message)
                .help("run the shards that are missing, or continue them: `fourbar sweep FILE --resume DIR --shard K/N`"));
        }
        self.finish(&plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_back_as_they_were() {
        let d = Diagnostic::new("S211", "open are `A`, \"B\"\nand `C`").names(["A".into(), "B".into()]).time(0.1 + 0.2);
        let failed = Outcome::failure(d, Status::NotAssembled, 2);
        let good = Outcome { status: Status::Ok, measures: vec![1.0 / 3.0, -2e-17], problem: None };
        for outcome in [failed, good] {
            let row = CaseRow::new(17, vec![0.1, 1e300, -0.0], &outcome);
            let line = row.line();
            let text = String::from_utf8(line.clone()).expect("text");
            let back = CaseRow::parse(text.trim_end(), 3, 2).expect("a row");
            assert_eq!(back.line(), line, "{text}");
            assert_eq!((back.case, back.status, &back.message), (17, row.status, &row.message));
        }
        for bad in ["", "1,2", "x,1,2,3,ok,,,,,1,2", "1,1,2,3,fine,,,,,1,2", "1,1,2,3,ok,,,\",,1,2"] {
            assert!(CaseRow::parse(bad, 3, 2).is_none(), "{bad}");
        }
    }
}
