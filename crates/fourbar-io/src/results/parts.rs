//! Rows of a sweep as Parquet, and parts of a sweep that were computed elsewhere.
//!
//! A part is a file with the rows of some cases, named by the first of them and the hash of the plan: repeated computations of the same
//! cases have the same name, and a sweep resumes with the cases that have no row.

use super::cases::{CaseRow, SweepFolder, SweepPlan};
use super::parquet::{self, Cells, Column};
use crate::disk::{read_bounded, unwritable, write_beside};
use fourbar::Diagnostic;
use fourbar_design::sweep::Status;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Number of letters of the hash in names of parts.
const LETTERS: usize = 16;
/// Largest part that is read.
const MOST: u64 = 1 << 30;

/// The name of the part that begins with a case.
fn part_name(plan: &SweepPlan, first: usize) -> String {
    let hash = plan.hash();
    format!("part-{first:09}-{}.parquet", hash.get(..LETTERS).unwrap_or(&hash))
}

/// Whether a file name is that of a part.
pub(super) fn is_part(name: &str) -> bool {
    name.starts_with("part-") && name.ends_with(".parquet")
}

/// The rows as columns, as in `cases.csv`.
pub fn case_columns<'a>(plan: &SweepPlan, rows: impl Iterator<Item = &'a CaseRow> + Clone) -> Vec<Column> {
    let numbers = |f: &dyn Fn(&CaseRow) -> f64| Cells::Numbers(rows.clone().map(f).collect());
    let texts = |f: &dyn Fn(&CaseRow) -> String| Cells::Texts(rows.clone().map(f).collect());
    let mut cells = vec![Cells::Integers(rows.clone().map(|r| r.case as i64).collect())];
    cells.extend((0..plan.axes.len()).map(|k| numbers(&|r| r.values[k])));
    cells.push(texts(&|r| r.status.word().into()));
    cells.push(texts(&|r| r.code.clone()));
    cells.push(numbers(&|r| r.time.unwrap_or(f64::NAN)));
    cells.push(texts(&|r| r.names.clone()));
    cells.push(texts(&|r| r.message.clone()));
    cells.extend((0..plan.measures.len()).map(|k| numbers(&|r| r.measures[k])));
    plan.header().into_iter().zip(cells).map(|(name, cells)| Column { name, cells }).collect()
}

/// Rows as a part: a Parquet file in memory.
pub fn part_of(plan: &SweepPlan, schema: &Value, rows: &[CaseRow]) -> Result<Vec<u8>, Diagnostic> {
    parquet::write(&case_columns(plan, rows.iter()), schema)
}

/// The rows of a part; a part of another plan is rejected. `what` names the part in messages.
pub fn rows_of_part(bytes: Vec<u8>, plan: &SweepPlan, what: &str) -> Result<Vec<CaseRow>, Diagnostic> {
    let spoilt = |why: &str| {
        Diagnostic::new("U433", format!("{what} does not belong to the plan of the sweep: {why}"))
            .help("it comes from another sweep or another version of the program: start again with `--force`, or in another folder")
    };
    let (columns, description) = parquet::read(bytes)?;
    if description["plan"].as_str() != Some(plan.hash().as_str()) {
        return Err(spoilt("its hash is another one"));
    }
    if !columns.iter().map(|c| &c.name).eq(plan.header().iter()) {
        return Err(spoilt("its columns are others"));
    }
    let mut integers = Vec::new();
    let (mut numbers, mut texts) = (Vec::new(), Vec::new());
    for c in columns {
        match c.cells {
            Cells::Integers(x) => integers = x,
            Cells::Numbers(x) => numbers.push(x),
            Cells::Texts(x) => texts.push(x),
        }
    }
    let (p, m) = (plan.axes.len(), plan.measures.len());
    let n = integers.len();
    let complete = numbers.len() == p + 1 + m && texts.len() == 4;
    if !complete || numbers.iter().any(|c| c.len() != n) || texts.iter().any(|c| c.len() != n) {
        return Err(spoilt("its columns have other types"));
    }
    let row = |k: usize| {
        let time = numbers[p][k];
        Some(CaseRow {
            case: usize::try_from(integers[k]).ok()?,
            values: numbers[..p].iter().map(|c| c[k]).collect(),
            status: Status::of(&texts[0][k])?,
            code: texts[1][k].clone(),
            time: (!time.is_nan()).then_some(time),
            names: texts[2][k].clone(),
            message: texts[3][k].clone(),
            measures: numbers[p + 1..].iter().map(|c| c[k]).collect(),
        })
    };
    (0..n).map(|k| row(k).ok_or_else(|| spoilt(&format!("row {} is not a case", k + 1)))).collect()
}

/// The rows of the file of a part.
pub(super) fn rows_of(path: &Path, plan: &SweepPlan) -> Result<Vec<CaseRow>, Diagnostic> {
    let what = format!("`{}`", path.display());
    let bytes = read_bounded(path, MOST).map_err(|e| Diagnostic::new("U433", format!("{what} cannot be read: {e}")))?;
    rows_of_part(bytes, plan, &what)
}

impl SweepFolder {
    /// Adds a part that was computed elsewhere, which is on disk when this returns. Returns the number of its rows.
    pub fn add_part(&mut self, bytes: Vec<u8>) -> Result<usize, Diagnostic> {
        let rows = rows_of_part(bytes.clone(), self.plan(), "what was computed elsewhere")?;
        let Some(first) = rows.iter().map(|r| r.case).min() else { return Ok(0) };
        self.claim()?;
        write_beside(&self.path.join(part_name(self.plan(), first)), &bytes)?;
        let n = rows.len();
        self.rows.extend(rows.into_iter().map(|r| (r.case, r)));
        Ok(n)
    }

    /// Removes parts whose rows are all in the finished table.
    pub(super) fn take_parts_away(&self, written: &BTreeMap<usize, CaseRow>) -> Result<(), Diagnostic> {
        for file in Self::files(&self.path) {
            let part = file.file_name().and_then(|n| n.to_str()).is_some_and(is_part);
            if part && rows_of(&file, self.plan())?.iter().all(|r| written.contains_key(&r.case)) {
                std::fs::remove_file(&file).map_err(|e| unwritable(&file, &e))?;
            }
        }
        Ok(())
    }
}
