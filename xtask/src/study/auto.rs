//! Whether `auto` picks well: for every shipped model the time that each formulation needs for the same accuracy, and how far
//! the choice of `auto` is from the quickest.

use super::precision::{Case, Line};
use super::report::{Report, digits};
use fourbar::Model;
use fourbar::choice::choose;
use fourbar::study::{FORMULATIONS, Study};
use fourbar_bench::shipped;

/// Accuracies compared at, relative to the size of the mechanism.
const ACCURACIES: [f64; 3] = [1e-4, 1e-6, 1e-8];
/// Runs longer than this are not refined, in seconds.
const LONG: f64 = 4.0;
/// A formulation that takes this many times the time of the best is not refined.
const SLOWER: f64 = 4.0;
/// A choice is good if it takes at most this many times what the quickest takes.
const GOOD: f64 = 1.3;
/// Chaotic or long studies are compared over this much of their time.
const LONGEST: f64 = 5.0;

/// All shipped models, or those named.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let mut names: Vec<String> = arguments.to_vec();
    if names.is_empty() {
        names = super::assembly::names()?;
    }
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    let mut count = [[0; 2]; ACCURACIES.len()];
    for name in &names {
        let model = shipped(name);
        let mut study = Study::of(&model);
        study.t_end = study.t_end.min(LONGEST);
        study.output_step = (study.t_end / 50.0).max(study.output_step.min(study.t_end));
        study.output_step = study.t_end / (study.t_end / study.output_step).round().max(1.0);
        let case = match Case::new(model, study) {
            Ok(case) if case.doubt < 0.1 * ACCURACIES[0] => case,
            Ok(case) => {
                skipped.push(format!("{name} (the truth is known to {} only)", digits(case.doubt)));
                continue;
            }
            Err(reason) => {
                skipped.push(format!("{name} ({reason})"));
                continue;
            }
        };
        for (k, &accuracy) in ACCURACIES.iter().enumerate().filter(|(_, a)| case.doubt < 0.1 * **a) {
            let lines = lines(&case, accuracy);
            let mut times: Vec<(f64, String)> =
                lines.iter().filter_map(|l| Some((l.time_for(accuracy)?, format!("{} {}", l.formulation, l.integrator)))).collect();
            times.sort_by(|a, b| a.0.total_cmp(&b.0));
            let Some(best) = times.first() else {
                skipped.push(format!("{name} (nothing reached {accuracy:.0e})"));
                continue;
            };
            let (chosen, why) = picked(&case.model, &case.study, accuracy);
            let ratio = times.iter().find(|(_, n)| *n == chosen).map_or(f64::INFINITY, |t| t.0 / best.0);
            count[k][0] += usize::from(ratio <= GOOD);
            count[k][1] += 1;
            let shown: Vec<String> =
                times.iter().take_while(|t| t.0 < SLOWER * best.0).map(|(t, n)| format!("{n} {:.2}", 1e3 * t)).collect();
            println!("{name} {accuracy:.0e} {chosen} {} | {}", digits(ratio), shown.join(", "));
            rows.push(vec![name.clone(), format!("{accuracy:.0e}"), chosen, why, digits(ratio), shown[..shown.len().min(4)].join(", ")]);
        }
    }
    let mut report = Report::new("auto", "How well `auto` picks")?;
    let told: Vec<String> =
        ACCURACIES.iter().zip(&count).map(|(a, [good, judged])| format!("{good} of {judged} at an error of {a:.0e}")).collect();
    report.text(&format!(
        "For each shipped model (at most {LONGEST} s of its study, as dynamics) every formulation is run over a range of tolerances; \
         times to reach an error, relative to the size of the mechanism, are interpolated, set-up and output included. The ratio is the \
         time of the choice over that of the quickest. Within {GOOD} are {}.",
        told.join(", ")
    ));
    report.table(&["model", "error", "choice", "reason", "ratio", "quickest [ms]"], &rows);
    if !skipped.is_empty() {
        report.text(&format!("Not judged: {}.", skipped.join("; ")));
    }
    report.write()
}

/// What `auto` takes for a tolerance, and why.
fn picked(model: &Model, study: &Study, tol: f64) -> (String, String) {
    let choice = choose(model, &Study { formulation: None, integrator: None, step: None, tol: Some(tol), ..study.clone() });
    (format!("{} {}", choice.formulation, choice.integrator), choice.why)
}

/// Every formulation with the integrators that may win. The quick ones come first, and a line ends where it takes several times
/// what the best needs.
fn lines(case: &Case, accuracy: f64) -> Vec<Line> {
    let mut list: Vec<Line> = Vec::new();
    let mut best = LONG / SLOWER;
    for info in FORMULATIONS.iter().rev() {
        for &i in info.integrators.iter().filter(|i| **i == info.integrators[0] || **i == "dop853") {
            let line = case.line(info, i, accuracy, SLOWER * best, false);
            best = line.time_for(accuracy).map_or(best, |t| best.min(t));
            list.push(line);
        }
    }
    list
}
