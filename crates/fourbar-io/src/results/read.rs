//! Reads trajectories, including the prefix of a killed run.

use super::cases::{PLAN, SCHEMA, SweepFolder};
use super::{MAX_JSON, SUMMARY, TRAJECTORY};
use crate::disk::{PART, open_regular, part, read_bounded};
use fourbar::Diagnostic;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Named columns of numbers, with units if a summary states them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Units of the columns, empty where unknown.
    pub units: Vec<String>,
    /// The columns.
    pub columns: Vec<Vec<f64>>,
}

impl Table {
    /// A column by name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.names.iter().position(|n| n == name).map(|k| self.columns[k].as_slice())
    }

    /// The unit of a column, empty where unknown.
    pub fn unit(&self, name: &str) -> &str {
        self.names.iter().position(|n| n == name).map_or("", |k| &self.units[k])
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// A table from text: a header line, then rows; an unfinished last line is ignored. Columns that begin with a word, such as `stable`,
    /// contain text and are omitted, as are columns without any number; an empty cell in a column of numbers becomes NaN.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::read(text.as_bytes())
    }

    /// The same from a buffered reader; lines and tables too large for the memory are rejected.
    pub fn read(reader: impl BufRead) -> Result<Self, String> {
        let mut lines = Lines::new(reader);
        let head = lines.next()?.unwrap_or_default();
        let head = std::str::from_utf8(head).map_err(|_| "its first line is not a text in UTF-8")?;
        let names: Vec<String> = head.split(',').map(|n| n.trim().to_string()).collect();
        if names.iter().any(|n| n.is_empty() || n.contains('\0')) {
            return Err("its first line is not a list of column names".into());
        }
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        let mut holds = vec![Holds::Nothing; names.len()];
        let mut k = 1;
        while let Some(line) = lines.next()? {
            k += 1;
            let line = std::str::from_utf8(line).map_err(|_| format!("line {k} is not a text in UTF-8"))?;
            let no_number = |cell: &str| format!("line {k}: `{}` is not a number", cell.chars().take(40).collect::<String>());
            let mut cells = line.split(',').map(str::trim);
            let (mut numbers, mut first) = (false, None);
            for (column, holds) in columns.iter_mut().zip(&mut holds) {
                let cell = cells.next().ok_or_else(|| format!("line {k} does not have {} numbers", names.len()))?;
                let x = cell.parse::<f64>().ok();
                *holds = match (*holds, x) {
                    (Holds::Nothing | Holds::Numbers, Some(_)) => Holds::Numbers,
                    (Holds::Nothing, None) if is_word(cell) => Holds::Texts,
                    (Holds::Nothing | Holds::Numbers, None) if !cell.is_empty() => return Err(no_number(cell)),
                    (known, _) => known,
                };
                numbers |= x.is_some();
                first.get_or_insert(cell);
                // An empty cell among numbers is a measure of a failed case.
                column.push(x.unwrap_or(f64::NAN));
            }
            if cells.next().is_some() {
                return Err(format!("line {k} does not have {} numbers", names.len()));
            }
            // A line without any number is no row of a table.
            if !numbers {
                return Err(no_number(first.unwrap_or_default()));
            }
            if (k as u64).saturating_mul(names.len() as u64) > MAX_NUMBERS {
                return Err(format!("it has more than {MAX_NUMBERS} numbers: run with a larger output step, or with `--columns`"));
            }
        }
        let kept = |column: &Vec<f64>, holds: &Holds| column.is_empty() || *holds == Holds::Numbers;
        let all = names.into_iter().zip(columns).zip(&holds);
        let (names, columns): (Vec<String>, Vec<Vec<f64>>) = all.filter(|((_, c), holds)| kept(c, holds)).map(|(x, _)| x).unzip();
        Ok(Self { units: vec![String::new(); names.len()], names, columns })
    }
}

/// Contents of the cells of a column so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// All empty.
    Nothing,
    /// Numbers.
    Numbers,
    /// Words.
    Texts,
}

/// Whether a cell of a table is a word or a code, such as `stable` or `S403`, other than a word for a number.
fn is_word(cell: &str) -> bool {
    let plain = cell.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    plain && cell.starts_with(|c: char| c.is_ascii_alphabetic()) && cell.parse::<f64>().is_err()
}

/// Largest number of values of a table: 4 GB of memory.
const MAX_NUMBERS: u64 = 500_000_000;
/// Longest line of a table.
const MAX_LINE: u64 = 64 << 20;

/// Whole lines of a text, one at a time, without their ends.
pub(super) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, line: Vec::new() }
    }

    /// The next whole line; `None` at the end. An unfinished last line is ignored.
    pub fn next(&mut self) -> Result<Option<&[u8]>, String> {
        self.line.clear();
        (&mut self.reader).take(MAX_LINE).read_until(b'\n', &mut self.line).map_err(|e| e.to_string())?;
        if self.line.last() == Some(&b'\n') {
            return Ok(Some(&self.line[..self.line.len() - 1]));
        }
        if self.line.len() as u64 >= MAX_LINE { Err(format!("a line has more than {} MB", MAX_LINE >> 20)) } else { Ok(None) }
    }
}

/// The file with the rows of a result: the trajectory of a folder, or the rows of an unfinished run in it; otherwise the file itself.
pub fn trajectory_of(result: &Path) -> PathBuf {
    if !result.is_dir() {
        return result.into();
    }
    let whole = result.join(TRAJECTORY);
    let rows = part(&whole);
    if !whole.exists() && rows.exists() { rows } else { whole }
}

/// Numbers of a sweep by columns: the case, the varied parameters and the measures, one row per case; NaN for measures of failed cases. The
/// units are those of the schema.
fn read_sweep(folder: &Path) -> Result<Table, Diagnostic> {
    let sweep = SweepFolder::read(folder)?;
    let plan = sweep.plan();
    let mut names = vec!["case".to_string()];
    names.extend(plan.axes.iter().map(|a| format!("set.{}", a.name)));
    names.extend(plan.measures.iter().map(|m| m.0.clone()));
    let schema: Option<serde_json::Value> =
        read_bounded(&folder.join(SCHEMA), MAX_JSON).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let described = schema.as_ref().and_then(|s| s["columns"].as_array());
    let unit = |name: &String| {
        let column = described.and_then(|c| c.iter().find(|c| c["name"] == name.as_str()));
        column.and_then(|c| c["unit"].as_str()).unwrap_or("").to_string()
    };
    let units = names.iter().map(unit).collect();
    let mut columns: Vec<Vec<f64>> = vec![Vec::with_capacity(sweep.rows().len()); names.len()];
    for row in sweep.rows().values() {
        let values = std::iter::once(row.case as f64).chain(row.values.iter().copied());
        let measures = row.measures.iter().copied().chain(std::iter::repeat(f64::NAN));
        for (column, x) in columns.iter_mut().zip(values.chain(measures)) {
            column.push(x);
        }
    }
    Ok(Table { names, units, columns })
}

/// The folder of a sweep if the path is one, or is a file in one other than a trajectory.
fn sweep_folder(result: &Path) -> Option<&Path> {
    let folder =
        if result.is_dir() { result } else { result.parent().filter(|_| result.file_name().is_some_and(|n| n == super::cases::CASES))? };
    (folder.join(PLAN).is_file() && !folder.join(TRAJECTORY).exists()).then_some(folder)
}

/// Reads the trajectory of a result, or the numbers of a sweep: a folder, or a CSV file.
pub fn read_table(result: &Path) -> Result<Table, Diagnostic> {
    if let Some(folder) = sweep_folder(result) {
        return read_sweep(folder);
    }
    let path = trajectory_of(result);
    let refused = |why: String| {
        Diagnostic::new("U007", format!("`{}` cannot be read as a result: {why}", path.display()))
            .help("give the folder that `fourbar run FILE --out DIR` wrote, or its trajectory.csv")
    };
    let file = open_regular(&path).map_err(refused)?;
    let mut table = Table::read(BufReader::with_capacity(1 << 20, file)).map_err(refused)?;
    let summary = path.with_file_name(SUMMARY);
    let summary = if path.extension().is_some_and(|e| e == PART) { part(&summary) } else { summary };
    let summary: Option<serde_json::Value> = read_bounded(&summary, MAX_JSON).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    for (name, unit) in table.names.iter().zip(&mut table.units) {
        if let Some(u) = summary.as_ref().and_then(|s| s["units"][name.as_str()].as_str()) {
            *unit = u.into();
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_line_is_left_out() {
        let table = Table::parse("t,x\n0,1\n1,2\n2,3.1").expect("readable");
        assert_eq!(table.rows(), 2);
        assert_eq!(table.column("x"), Some([1.0, 2.0].as_slice()));
    }

    #[test]
    fn what_is_no_table_is_refused_with_the_line() {
        assert!(Table::parse("t,x\n0,1\n1\n").is_err_and(|e| e.contains("line 3")));
        assert!(Table::parse("t,x\n0,1,2\n").is_err_and(|e| e.contains("line 2")));
        assert!(Table::parse("t,x\n0,1\n1,one\n").is_err_and(|e| e.contains("line 3") && e.contains("`one`")));
        assert!(Table::parse("t,x\n0,1x\n").is_err_and(|e| e.contains("`1x`")));
        // A column of texts is omitted; words for numbers are numbers, and a line of words alone is rejected.
        let table = Table::parse("load,stability,x\n0,stable,nan\n1,unstable,2\n").expect("readable");
        assert_eq!(
            (table.names, table.columns[0].as_slice(), table.columns[1][1]),
            (vec!["load".into(), "x".into()], &[0.0, 1.0][..], 2.0)
        );
        assert!(Table::parse("load,x\nzero,one\n").is_err_and(|e| e.contains("`zero`")));
        assert!(Table::parse("").is_err());
    }

    #[test]
    fn columns_without_a_number_are_left_out() {
        // The table of the samples of a tolerance analysis: a column of codes, which may be empty in all rows or at first.
        let good = Table::parse("sample,status,code,top\n0,ok,,0.5\n1,ok,,0.25\n").expect("readable");
        assert_eq!((good.names.join(" "), good.column("top")), ("sample top".into(), Some([0.5, 0.25].as_slice())));
        let failed = Table::parse("sample,status,code,top\n0,ok,,0.5\n1,failed,S210,\n2,ok,,0.25\n").expect("readable");
        assert_eq!((failed.names.join(" "), failed.rows()), ("sample top".into(), 3));
        assert!(failed.column("top").is_some_and(|x| x[0] == 0.5 && x[1].is_nan() && x[2] == 0.25));
        // A column whose first cells are empty is still a measure.
        let late = Table::parse("sample,code,top\n0,S210,\n1,,0.25\n").expect("readable");
        assert_eq!(late.names.join(" "), "sample top");
        assert!(Table::parse("t,x\n,\n").is_err_and(|e| e.contains("line 2")));
        assert!(Table::parse("t,x\n0,1\n,\n").is_err_and(|e| e.contains("line 3")));
        assert_eq!(Table::parse("t,x\n").expect("a table without rows").names.len(), 2);
    }
}
