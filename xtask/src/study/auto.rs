//! Whether `auto` picks well: for every shipped model the time that each formulation needs for the same accuracy, and how far
//! the choice of `auto` is from the quickest.

use super::precision::{Case, all};
use super::report::{Report, digits};
use fourbar::choice::{Choice, choose};
use fourbar::study::Study;
use fourbar_bench::shipped;

/// Accuracy compared at, relative to the size of the mechanism.
const ACCURACY: f64 = 1e-6;
/// Chaotic or long studies are compared over this much of their time.
const LONGEST: f64 = 5.0;

/// All shipped models, or those named.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let mut names: Vec<String> = arguments.to_vec();
    if names.is_empty() {
        names = super::assembly::names()?;
    }
    let mut rows = Vec::new();
    let (mut good, mut judged, mut skipped) = (0, 0, Vec::new());
    for name in &names {
        let model = shipped(name);
        let mut study = Study::of(&model);
        study.t_end = study.t_end.min(LONGEST);
        study.output_step = (study.t_end / 50.0).max(study.output_step.min(study.t_end));
        study.output_step = study.t_end / (study.t_end / study.output_step).round().max(1.0);
        let Choice { formulation: chosen, integrator, why } =
            choose(&model, &Study { formulation: None, integrator: None, step: None, tol: Some(ACCURACY), ..study.clone() });
        let case = match Case::new(model, study) {
            Ok(case) if case.doubt < 0.1 * ACCURACY => case,
            Ok(case) => {
                skipped.push(format!("{name} (the truth is known to {} only)", digits(case.doubt)));
                continue;
            }
            Err(reason) => {
                skipped.push(format!("{name} ({reason})"));
                continue;
            }
        };
        let lines = all(&case, ACCURACY, &["dop853", "dopri5"]);
        let mut times: Vec<(f64, String)> =
            lines.iter().filter_map(|l| Some((l.time_for(ACCURACY)?, format!("{} {}", l.formulation, l.integrator)))).collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let picked = lines.iter().find(|l| l.formulation == chosen && l.integrator == integrator).and_then(|l| l.time_for(ACCURACY));
        let Some(best) = times.first() else {
            skipped.push(format!("{name} (nothing reached {ACCURACY:.0e})"));
            continue;
        };
        judged += 1;
        let ratio = picked.map_or(f64::INFINITY, |t| t / best.0);
        good += usize::from(ratio <= 1.3);
        let next: Vec<String> = times.iter().take(4).map(|(t, n)| format!("{n} {:.2} ms", 1e3 * t)).collect();
        rows.push(vec![name.clone(), format!("{chosen} {integrator}"), why, digits(ratio), next.join(", ")]);
        println!("{}", rows.last().map_or(String::new(), |r| r.join(" | ")));
    }
    let mut report = Report::new("auto", "How well `auto` picks")?;
    report.text(&format!(
        "For each shipped model (at most {LONGEST} s of its study) every formulation is run over a range of tolerances or steps; times to \
         reach an error of {ACCURACY:.0e} of the size of the mechanism are interpolated. The ratio is the time of the choice over that of the \
         quickest: {good} of {judged} are within 1.3."
    ));
    report.table(&["model", "choice", "reason", "ratio", "quickest"], &rows);
    if !skipped.is_empty() {
        report.text(&format!("Not judged: {}.", skipped.join("; ")));
    }
    report.write()
}
