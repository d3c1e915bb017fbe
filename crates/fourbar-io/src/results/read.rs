//! Reads trajectories back, the prefix of a killed run included.

use super::{SUMMARY, TRAJECTORY};
use fourbar::Diagnostic;
use std::path::{Path, PathBuf};

/// Named columns of numbers, with units where a summary tells them.
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

    /// A table from text: a header line, then rows; an unfinished last line does not count.
    pub fn parse(text: &str) -> Result<Self, String> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.lines();
        let names: Vec<String> = lines.next().unwrap_or("").split(',').map(|n| n.trim().to_string()).collect();
        if names.iter().any(String::is_empty) {
            return Err("its first line is not a list of column names".into());
        }
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        for (k, line) in lines.enumerate() {
            let mut count = 0;
            for (column, word) in columns.iter_mut().zip(line.split(',')) {
                let x = word
                    .trim()
                    .parse()
                    .map_err(|_| format!("line {}: `{}` is not a number", k + 2, word.chars().take(40).collect::<String>()))?;
                column.push(x);
                count += 1;
            }
            if count != names.len() || line.split(',').nth(names.len()).is_some() {
                return Err(format!("line {} has not {} numbers", k + 2, names.len()));
            }
        }
        Ok(Self { units: vec![String::new(); names.len()], names, columns })
    }
}

/// Reads the trajectory of a result: a folder, or a CSV file.
pub fn read_table(result: &Path) -> Result<Table, Diagnostic> {
    let path: PathBuf = if result.is_dir() { result.join(TRAJECTORY) } else { result.into() };
    let refused = |why: String| {
        Diagnostic::new("U007", format!("`{}` cannot be read as a result: {why}", path.display()))
            .help("give the folder that `--out` wrote, or its trajectory.csv")
    };
    let text = std::fs::read_to_string(&path).map_err(|e| refused(e.to_string()))?;
    let mut table = Table::parse(&text).map_err(refused)?;
    let summary = path.parent().map(|folder| folder.join(SUMMARY)).and_then(|p| std::fs::read_to_string(p).ok());
    let summary: Option<serde_json::Value> = summary.and_then(|text| serde_json::from_str(&text).ok());
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
        assert!(Table::parse("t,x\n0,one\n").is_err_and(|e| e.contains("`one`")));
        assert!(Table::parse("").is_err());
    }
}
