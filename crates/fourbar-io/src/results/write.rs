//! Writers of the trajectory and of small JSON files.

use super::read::Lines;
use crate::disk::{open_regular, unwritable, write_beside};
use fourbar::Diagnostic;
use fourbar::trajectory::Column;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Name of the trajectory in a result folder.
pub const TRAJECTORY: &str = "trajectory.csv";
/// Name of the summary in a result folder.
pub const SUMMARY: &str = "summary.json";
/// Name of the list of events.
pub const EVENTS: &str = "events.csv";
/// Size in bytes of the buffer of lines.
const BUFFER: usize = 1 << 16;

/// Appends a number in the shortest form that reads back as the same bits: without exponent from 1e-4 to below 1e15, otherwise with one.
pub fn number(x: f64, out: &mut Vec<u8>) {
    let size = x.abs();
    if x == 0.0 {
        out.push(b'0');
        return;
    }
    if !x.is_finite() {
        // Writing to a `Vec` cannot fail.
        let _ = write!(out, "{x}");
        return;
    }
    let mut digits = zmij::Buffer::new();
    let text = digits.format_finite(x);
    let exponent = text.find('e');
    match ((1e-4..1e15).contains(&size), exponent) {
        (true, None) => out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes()),
        (false, Some(e)) => {
            out.extend_from_slice(text[..e].strip_suffix(".0").unwrap_or(&text[..e]).as_bytes());
            out.push(b'e');
            out.extend_from_slice(text[e + 1..].trim_start_matches('+').as_bytes());
        }
        // Near the bounds the digits come in the other form.
        (true, Some(_)) => {
            let _ = write!(out, "{x}");
        }
        (false, None) => {
            let _ = write!(out, "{x:e}");
        }
    }
}

/// Writes rows of numbers, whole lines at a time.
#[derive(Debug)]
pub struct CsvWriter {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
    flushed: Instant,
    /// Indices of the written columns in the given rows.
    chosen: Vec<usize>,
    rows: usize,
    /// Bytes of whole lines written to the system.
    length: u64,
    /// Bytes of the header.
    head: u64,
}

impl CsvWriter {
    /// Starts a file with its header; `chosen` are the indices of the written columns.
    pub fn create(path: &Path, columns: &[Column], chosen: Vec<usize>) -> Result<Self, Diagnostic> {
        let file = File::create(path).map_err(|e| unwritable(path, &e))?;
        let mut w = Self {
            file,
            path: path.into(),
            buffer: Vec::with_capacity(2 * BUFFER),
            flushed: Instant::now(),
            chosen,
            rows: 0,
            length: 0,
            head: 0,
        };
        let names: Vec<&str> = w.chosen.iter().map(|&k| columns[k].name.as_str()).collect();
        w.buffer.extend_from_slice(names.join(",").as_bytes());
        w.buffer.push(b'\n');
        w.flush()?;
        w.head = w.length;
        Ok(w)
    }

    /// Continues a file after its first `length` bytes, which contain `rows` rows; the rest is cut off.
    pub fn resume(path: &Path, chosen: Vec<usize>, rows: usize, length: u64) -> Result<Self, Diagnostic> {
        let failed = |e: std::io::Error| unwritable(path, &e);
        let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        file.set_len(length).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { file, path: path.into(), buffer: Vec::with_capacity(2 * BUFFER), flushed: Instant::now(), chosen, rows, length, head: 0 })
    }

    /// Rows written so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether any row has been written to the system.
    pub fn has_rows(&self) -> bool {
        self.length > self.head
    }

    /// Writes one row.
    pub fn row(&mut self, row: &[f64]) -> Result<(), Diagnostic> {
        for (i, &k) in self.chosen.iter().enumerate() {
            if i > 0 {
                self.buffer.push(b',');
            }
            number(row[k], &mut self.buffer);
        }
        self.buffer.push(b'\n');
        self.rows += 1;
        if self.buffer.len() >= BUFFER { self.flush() } else { self.flush_if_due() }
    }

    /// Writes the buffered lines if the last write was at least a second ago.
    pub fn flush_if_due(&mut self) -> Result<(), Diagnostic> {
        if self.flushed.elapsed() >= Duration::from_secs(1) { self.flush() } else { Ok(()) }
    }

    /// Writes all buffered lines to the system.
    pub fn flush(&mut self) -> Result<(), Diagnostic> {
        self.file.write_all(&self.buffer).map_err(|e| {
            // A partly written line could not be read back.
            let _ = self.file.set_len(self.length);
            unwritable(&self.path, &e)
        })?;
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        self.flushed = Instant::now();
        Ok(())
    }
}

/// The length in bytes of the first `rows` rows of a trajectory, including the header. The columns and the time of the last of these rows
/// must match, otherwise the trajectory cannot be continued.
pub fn prefix(path: &Path, columns: &[String], rows: usize, t: f64) -> Result<u64, Diagnostic> {
    let changed = |why: String| {
        Diagnostic::new("U009", format!("`{}` does not match its checkpoint: {why}", path.display()))
            .help("the folder was changed; run again without `--resume`")
    };
    let file = open_regular(path).map_err(changed)?;
    let mut lines = Lines::new(BufReader::with_capacity(1 << 20, file));
    let mut length = 0;
    for k in 0..=rows {
        let Some(line) = lines.next().map_err(changed)? else {
            return Err(changed(format!("it has only {k} of the {} lines that are counted", rows + 1)));
        };
        length += line.len() as u64 + 1;
        let first = |line: &[u8]| std::str::from_utf8(line).ok().and_then(|l| l.split(',').next()?.parse::<f64>().ok());
        if k == 0 && line != columns.join(",").as_bytes() {
            return Err(changed("its columns are others".into()));
        } else if k == rows && first(line) != Some(t) {
            return Err(changed(format!("its row {rows} is not at t = {t} s")));
        }
    }
    Ok(length)
}

/// Writes a JSON file under a temporary name, then renames it.
pub fn write_json(path: &Path, value: &serde_json::Value) -> Result<(), Diagnostic> {
    write_beside(path, format!("{value:#}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(x: f64) -> String {
        let mut out = Vec::new();
        number(x, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn numbers_read_back_as_the_same_bits() {
        for x in [0.1, -1.0 / 3.0, 1e-300, 6.02e23, f64::MIN_POSITIVE, 5e-324, 1e15, 123_456.789, f64::MAX] {
            assert_eq!(text(x).parse::<f64>().map(f64::to_bits), Ok(x.to_bits()), "{}", text(x));
        }
        // As short as the text of the standard library, at every size; of two shortest texts equally near, either is correct.
        let mut random = fourbar::random::Random(0x0dd5_eed5_0dd5_eed5);
        for k in 0..200_000 {
            let size = 10f64.powi(k % 40 - 20);
            let x = match k % 3 {
                0 => random.number() * size,
                1 => (random.number() * 1e3).round() * size,
                _ => f64::from_bits(random.number().to_bits() ^ (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            };
            if x == 0.0 || !x.is_finite() {
                continue;
            }
            let plain = (1e-4..1e15).contains(&x.abs());
            let usual = if plain { format!("{x}") } else { format!("{x:e}") };
            assert_eq!((text(x).parse().map(f64::to_bits), text(x).len()), (Ok(x.to_bits()), usual.len()), "{} {usual}", text(x));
        }
        assert_eq!((text(0.0).as_str(), text(-0.0).as_str(), text(f64::NAN).as_str()), ("0", "0", "NaN"));
    }
}
