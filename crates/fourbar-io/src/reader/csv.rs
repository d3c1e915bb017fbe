//! Reads two columns of numbers from a file, with line numbers.

use crate::tree::shorten;
use fourbar::diagnostic::nearest;

/// Largest file of a table, bytes.
pub(crate) const MAX_BYTES: u64 = 64 << 20;
/// Largest number of points of a table.
pub(crate) const MAX_POINTS: usize = 1_000_000;

/// A requested column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    /// Number, counted from 1.
    Number(usize),
    Heading(String),
}

/// A point and its line, counted from 1.
pub(crate) struct Row {
    pub point: [f64; 2],
    pub line: usize,
}

/// A problem of a file: location, reason and help.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub line: Option<usize>,
    pub why: String,
    pub help: String,
}

fn fault<T>(line: Option<usize>, why: impl Into<String>, help: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { line, why: why.into(), help: help.into() })
}

/// The character that separates the cells of a line.
fn separator(line: &str) -> Option<char> {
    [';', ',', '\t'].into_iter().find(|c| line.contains(*c))
}

fn cells(line: &str, separator: Option<char>) -> Vec<&str> {
    match separator {
        Some(c) => line.split(c).map(|cell| cell.trim().trim_matches('"').trim()).collect(),
        None => line.split_whitespace().collect(),
    }
}

/// Reads two columns. Empty lines and those that start with `#` are omitted; a first line that holds no numbers is the heading.
pub(crate) fn read(text: &str, columns: &[Column; 2]) -> Result<Vec<Row>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with('#')).peekable();
    let Some(&(first, head)) = lines.peek() else { return fault(None, "it holds no points", "give a line with x and y for each point") };
    let separator = separator(head);
    let heading = cells(head, separator);
    let numbers = |cells: &[&str]| cells.iter().any(|c| c.parse::<f64>().is_ok());
    let headed = !numbers(&heading);
    if headed {
        lines.next();
    }
    let mut places = [0; 2];
    for (place, column) in places.iter_mut().zip(columns) {
        *place = match column {
            Column::Number(n) if *n >= 1 && *n <= heading.len() => n - 1,
            Column::Number(n) => {
                let has = if heading.len() == 1 { "1 column".to_string() } else { format!("{} columns", heading.len()) };
                return fault(Some(first + 1), format!("it has {has}, and no column {n}"), "columns are counted from 1");
            }
            Column::Heading(name) if headed => match heading.iter().position(|h| h == name) {
                Some(k) => k,
                None => {
                    let help = match nearest(name, heading.iter().copied()) {
                        Some(near) => format!("did you mean `{}`?", shorten(near)),
                        None => format!(
                            "its headings are {}",
                            heading.iter().take(20).map(|h| format!("`{}`", shorten(h))).collect::<Vec<_>>().join(", ")
                        ),
                    };
                    return fault(Some(first + 1), format!("no column has the heading `{}`", shorten(name)), help);
                }
            },
            Column::Heading(name) => {
                let why = format!("its first line has no headings, so there is no column `{}`", shorten(name));
                return fault(Some(first + 1), why, "give the number of the column, counted from 1, or add a line with headings");
            }
        };
    }
    let mut rows = Vec::new();
    for (k, line) in lines {
        if rows.len() >= MAX_POINTS {
            return fault(Some(k + 1), format!("it has more than {MAX_POINTS} points"), "leave out every second point, or more");
        }
        let cells = cells(line, separator);
        let mut point = [0.0; 2];
        for (x, place) in point.iter_mut().zip(places) {
            let Some(cell) = cells.get(place) else {
                return fault(Some(k + 1), format!("the line has no column {}", place + 1), "every line has the same columns");
            };
            *x = match cell.parse::<f64>() {
                Ok(x) if x.is_finite() => x,
                Ok(_) => return fault(Some(k + 1), format!("`{}` is not a finite number", shorten(cell)), "leave the line out"),
                Err(_) => {
                    let comma = cell.contains(',');
                    let help = if comma {
                        "decimals are written with a point: `1.5`, not `1,5`"
                    } else {
                        "leave the line out, or start it with `#`"
                    };
                    return fault(Some(k + 1), format!("`{}` is not a number", shorten(cell)), help);
                }
            };
        }
        rows.push(Row { point, line: k + 1 });
    }
    Ok(rows)
}

/// The last decimal place of the larger values of a table, as a number such as 1e-4; zero if they have all digits of double precision.
fn last_place(y: &[f64]) -> f64 {
    let size = y.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
    let place = |y: f64| {
        // The shortest digits that read back to the same number: mantissa and exponent.
        let text = format!("{y:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = mantissa.split_once('.').map_or(0, |(_, d)| d.len() as i32);
        exponent.parse::<i32>().unwrap_or(0) - digits
    };
    let least = y.iter().filter(|y| 2.0 * y.abs() >= size && **y != 0.0).map(|y| place(*y)).min();
    least.map_or(0.0, |p| 10f64.powi(p))
}

/// With fewer points, rounding cannot be distinguished from the shape of the curve.
const ENOUGH: usize = 12;
/// Fourth differences of rounding errors are at most eight units in the last place; below twice that, rounding dominates them.
const FOURTH: f64 = 16.0;
/// Rounding is harmless if it changes second derivatives by less than this fraction of the largest.
const HARMLESS: f64 = 0.01;

/// Whether the values are rounded so coarsely, for points so close together, that second derivatives show the rounding rather than the
/// curve: then the rounding as a fraction of the largest second derivative.
pub(crate) fn rounded(points: &[[f64; 2]]) -> Option<f64> {
    if points.len() < ENOUGH {
        return None;
    }
    let y: Vec<f64> = points.iter().map(|p| p[1]).collect();
    let place = last_place(&y);
    let (mut fourth, mut second, mut seen) = (0.0_f64, 0.0_f64, 0);
    for w in points.windows(5) {
        let h: Vec<f64> = w.windows(2).map(|p| p[1][0] - p[0][0]).collect();
        let mean = (w[4][0] - w[0][0]) / 4.0;
        // Differences are meaningful at equal spacing only.
        if h.iter().any(|h| (h - mean).abs() > 0.01 * mean) {
            continue;
        }
        seen += 1;
        fourth = fourth.max((w[0][1] - 4.0 * w[1][1] + 6.0 * w[2][1] - 4.0 * w[3][1] + w[4][1]).abs());
        second = second.max((w[1][1] - 2.0 * w[2][1] + w[3][1]).abs());
    }
    // Points of a straight line or a parabola with few digits are exact, not rounded.
    let exact = fourth <= 1e-9 * place;
    let share = 2.0 * place / second;
    (seen * 2 >= points.len() && !exact && fourth <= FOURTH * place && share > HARMLESS).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST_TWO: [Column; 2] = [Column::Number(1), Column::Number(2)];

    fn points(text: &str, columns: &[Column; 2]) -> Vec<[f64; 2]> {
        read(text, columns).expect("reads").into_iter().map(|r| r.point).collect()
    }

    #[test]
    fn separators_headings_and_comments() {
        let expected = vec![[0.0, 1.0], [0.5, -2e-3]];
        for text in [
            "0,1\n0.5,-2e-3\n",
            "# made by hand\n\n0;1;9\r\n0.5; -2e-3 ;9\r\n",
            "0\t1\n0.5\t-2e-3",
            "  0   1\n 0.5  -2e-3  ",
            "\u{feff}\"x\",\"y\"\n0,1\n# half\n0.5,-2e-3",
        ] {
            assert_eq!(points(text, &FIRST_TWO), expected, "{text:?}");
        }
        let by_name = [Column::Heading("t".into()), Column::Heading("lift [mm]".into())];
        assert_eq!(points("lift [mm],other,t\n1,7,0\n-2e-3,7,0.5\n", &by_name), expected);
        let lines: Vec<usize> = read("x y\n\n0 1\n#\n0.5 2\n", &FIRST_TWO).expect("reads").iter().map(|r| r.line).collect();
        assert_eq!(lines, [3, 5]);
    }

    #[test]
    fn faults_name_their_line() {
        let line = |text: &str, columns: &[Column; 2]| read(text, columns).map(|_| ()).expect_err("refused").line;
        assert_eq!(line("", &FIRST_TWO), None);
        assert_eq!(line("0,1\n1,x\n", &FIRST_TWO), Some(2));
        assert_eq!(line("0,1\n1,nan\n", &FIRST_TWO), Some(2));
        assert_eq!(line("0,1\n1\n", &FIRST_TWO), Some(2));
        assert_eq!(line("0,1\n", &[Column::Number(1), Column::Number(3)]), Some(1));
        assert_eq!(line("0,1\n", &[Column::Number(0), Column::Number(1)]), Some(1));
        assert_eq!(line("a,b\n0,1\n", &[Column::Heading("a".into()), Column::Heading("c".into())]), Some(1));
        let comma = read("0;1\n1;2,5\n", &FIRST_TWO).map(|_| ()).expect_err("refused");
        assert!(comma.line == Some(2) && comma.help.contains("point"), "{comma:?}");
    }

    /// The rise 10 s^3 - 15 s^4 + 6 s^5 with four decimals: with 10 and 20 intervals the error of the spline is due to its spacing, with 40
    /// and 80 to the rounding.
    #[test]
    fn coarse_rounding_is_known_by_its_fourth_differences() {
        let rise = |n: usize, decimals: i32| -> Vec<[f64; 2]> {
            let unit = 10f64.powi(decimals);
            let y = |s: f64| s.powi(3) * (10.0 - 15.0 * s + 6.0 * s * s);
            (0..=n).map(|k| k as f64 / n as f64).map(|s| [s, (y(s) * unit).round() / unit]).collect()
        };
        assert!(rounded(&rise(10, 4)).is_none() && rounded(&rise(20, 4)).is_none());
        assert!(rounded(&rise(40, 4)).is_some_and(|s| (0.03..0.2).contains(&s)), "{:?}", rounded(&rise(40, 4)));
        assert!(rounded(&rise(80, 4)).is_some_and(|s| (0.1..0.6).contains(&s)), "{:?}", rounded(&rise(80, 4)));
        assert!(rounded(&rise(80, 9)).is_none() && rounded(&rise(400, 17)).is_none());
        // A straight line in whole numbers is exact.
        let line: Vec<[f64; 2]> = (0..40).map(|k| [f64::from(k), f64::from(2 * k)]).collect();
        assert!(rounded(&line).is_none());
    }
}
