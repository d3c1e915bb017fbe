//! Whether tolerances are met: errors of whole runs relative to the tolerance, for every formulation with every adaptive integrator, over
//! the shipped models.

use super::report::{Report, digits};
use fourbar_testing::common::{model, shipped, stiff};
use fourbar_testing::tolerance::{Case, Measured, methods};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const TOLERANCES: [f64; 8] = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11];
/// Errors may be this many times the product of tolerance and growth.
const ALLOWED: f64 = 100.0;
/// Smallest uncertainty of the reference.
const ROUNDING: f64 = 1e-12;
/// Time limit for the reference.
const PATIENCE_OF_TRUTH: Duration = Duration::from_secs(25);

/// Outcome of a run.
enum Outcome {
    Measured(Measured),
    Slow,
    Failed(String),
}

/// The runs of a model.
struct Row {
    name: String,
    case: Result<(f64, f64, &'static str), String>,
    /// Runs by method, then by tolerance.
    runs: Vec<Vec<(f64, Outcome)>>,
}

/// Runs the study.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (mut names, mut patience) = (Vec::new(), 2.0);
    let mut given = arguments.iter();
    while let Some(a) = given.next() {
        match a.as_str() {
            "--patience" => patience = given.next().and_then(|x| x.parse().ok()).ok_or("--patience takes seconds")?,
            name => names.push(name.to_string()),
        }
    }
    let all = names.is_empty();
    if all {
        names = shipped();
        names.extend(stiff());
    }
    let patience = Duration::from_secs_f64(patience);
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let row = measure(name, patience);
                    print(&row);
                    if let Ok(mut rows) = rows.lock() {
                        rows.push(row);
                    }
                }
            });
        }
    });
    let mut rows = rows.into_inner().map_err(|e| e.to_string())?;
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    if all { write(&rows, patience) } else { Ok(()) }
}

fn measure(name: &str, patience: Duration) -> Row {
    let case = match Case::new(model(name), None, PATIENCE_OF_TRUTH) {
        Ok(case) => case,
        Err(why) => return Row { name: name.into(), case: Err(why), runs: Vec::new() },
    };
    let mut runs = Vec::new();
    for (info, integrator, least) in methods() {
        let mut of_method = Vec::new();
        if (info.applies)(&case.model).is_ok() {
            for &tol in TOLERANCES.iter().filter(|t| **t >= least) {
                let outcome = match case.measure(info, integrator, tol, patience) {
                    Ok(m) => Outcome::Measured(m),
                    Err(d) if d.code.0 == "S251" => Outcome::Slow,
                    Err(d) => Outcome::Failed(d.to_string()),
                };
                let slow = matches!(outcome, Outcome::Slow);
                of_method.push((tol, outcome));
                // Tighter tolerances would take even longer.
                if slow {
                    break;
                }
            }
        }
        runs.push(of_method);
    }
    Row { name: name.into(), case: Ok((case.growth, case.doubt.max(ROUNDING), case.by)), runs }
}

/// The ratio of a run, or `None` if its error is as small as the uncertainty of the reference.
fn ratio(m: &Measured, doubt: f64) -> Option<f64> {
    (m.error > 10.0 * doubt).then_some(m.ratio)
}

fn print(row: &Row) {
    let (growth, doubt, by) = match &row.case {
        Ok(case) => *case,
        Err(why) => return println!("{}: {why}", row.name),
    };
    let mut text = format!("{}: growth {}, truth by {by} to {}\n", row.name, digits(growth), digits(doubt));
    for ((info, integrator, _), runs) in methods().zip(&row.runs) {
        text += &format!("  {:<8}{integrator:<15}", info.name);
        for (tol, outcome) in runs {
            text += &match outcome {
                Outcome::Measured(m) => format!(" {tol:.0e}: {:.1e} ({}, {} steps)", m.error, digits(m.ratio), m.steps),
                Outcome::Slow => format!(" {tol:.0e}: slow"),
                Outcome::Failed(why) => format!(" {tol:.0e}: {why}"),
            };
        }
        text.push('\n');
    }
    print!("{text}");
}

fn write(rows: &[Row], patience: Duration) -> Result<(), String> {
    let mut page = Report::single("tolerance", "Errors of whole runs against their tolerance")?;
    page.text(
        "Every shipped model over its own time, with every formulation and integrator that keeps a tolerance. The error of a run is its largest \
         distance from the truth at 40 output times, of positions over the characteristic length and of angles in radians. The truth is `natural` at \
         1e-12, else `grcr` or `lie` with dop853. Growth is what a disturbance of the start has become at most, as `verify` measures it; the ratio is the \
         error over tolerance and growth, and is to be at most 100. Errors below ten times what the truth is known to are left out. gen-alpha and bdf2 \
         are offered down to 1e-7, backward-euler down to 1e-4.",
    );
    page.heading("Worst ratio of each method at each tolerance");
    let tolerances: Vec<String> = TOLERANCES.iter().map(|t| format!("{t:.0e}")).collect();
    let header: Vec<String> = ["formulation", "integrator"].map(String::from).into_iter().chain(tolerances).collect();
    let (mut table, mut exceptions) = (Vec::new(), Vec::new());
    for (k, (info, integrator, least)) in methods().enumerate() {
        let mut cells = vec![info.name.to_string(), integrator.to_string()];
        for tol in TOLERANCES {
            if tol < least {
                cells.push("-".into());
                continue;
            }
            let (mut worst, mut slow, mut failed) = (0.0_f64, 0, 0);
            for row in rows {
                let (Ok((growth, doubt, _)), Some(runs)) = (&row.case, row.runs.get(k)) else { continue };
                match runs.iter().find(|r| r.0 == tol).map(|r| &r.1) {
                    Some(Outcome::Measured(m)) => {
                        let x = ratio(m, *doubt).unwrap_or(0.0);
                        worst = worst.max(x);
                        if x > ALLOWED {
                            exceptions.push(
                                [&row.name, info.name, integrator, &format!("{tol:.0e}"), &digits(*growth), &digits(m.error), &digits(x)]
                                    .map(String::from),
                            );
                        }
                    }
                    Some(Outcome::Failed(why)) => {
                        failed += 1;
                        exceptions
                            .push([&row.name, info.name, integrator, &format!("{tol:.0e}"), &digits(*growth), "-", why].map(String::from));
                    }
                    Some(Outcome::Slow) => slow += 1,
                    // A run after one that was too slow.
                    None if runs.is_empty() => {}
                    None => slow += 1,
                }
            }
            let mut cell = digits(worst);
            if failed > 0 {
                cell += &format!(", {failed} failed");
            }
            if slow > 0 {
                cell += &format!(", {slow} slow");
            }
            cells.push(cell);
        }
        table.push(cells);
    }
    page.table(&header, &table);
    page.text(&format!(
        "*slow*: so many models took longer than {} s on the machine of this study, and were not asked for tighter tolerances. Where these are many, as for backward-euler, the ratio speaks for the other models alone.",
        patience.as_secs_f64()
    ));
    page.heading("Beyond a hundred times tolerance and growth, or failed");
    if exceptions.is_empty() {
        page.text("None.");
    } else {
        let rows: Vec<Vec<String>> = exceptions.into_iter().map(Vec::from).collect();
        page.table(&["model", "formulation", "integrator", "tolerance", "growth", "error", "ratio, or why it failed"], &rows);
    }
    page.heading("Models");
    let models: Vec<Vec<String>> = rows
        .iter()
        .map(|row| match &row.case {
            Ok((growth, doubt, by)) => vec![row.name.clone(), digits(*growth), by.to_string(), digits(*doubt)],
            Err(why) => vec![row.name.clone(), "-".into(), why.clone(), "-".into()],
        })
        .collect();
    page.table(&["model", "growth", "truth by", "known to"], &models);
    page.write()
}
