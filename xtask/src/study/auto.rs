//! Whether `auto` picks well: for every shipped model the time that each formulation needs for the same accuracy, and how far
//! the choice of `auto` is from the quickest.

use super::precision::{Case, Line};
use super::report::{Report, digits};
use fourbar::Model;
use fourbar::choice::choose;
use fourbar::random_families;
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

/// Drawn mechanisms are compared at this accuracy, and a choice among them is good within this factor.
const DRAWN_ACCURACY: f64 = 1e-6;
const DRAWN_GOOD: f64 = 1.5;
/// Drawn mechanisms move for at most so long, and are written so often.
const DRAWN_END: f64 = 2.0;
const DRAWN_ROWS: f64 = 20.0;
/// First seed of the drawn mechanisms; tests use others.
const DRAWN_SEED: u64 = 910_000;

/// A mechanism judged at one accuracy.
struct Verdict {
    chosen: String,
    why: String,
    ratio: f64,
    shown: Vec<String>,
}

/// All shipped models, or those named; with `--drawn N`, N mechanisms drawn at random.
pub fn run(arguments: &[String]) -> Result<(), String> {
    if let [flag, count] = arguments
        && flag == "--drawn"
    {
        return drawn(count.parse().map_err(|_| format!("`{count}` is no number"))?);
    }
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
        let case = match known(model, study, ACCURACIES[0]) {
            Ok(case) => case,
            Err(reason) => {
                skipped.push(format!("{name} ({reason})"));
                continue;
            }
        };
        for (k, &accuracy) in ACCURACIES.iter().enumerate().filter(|(_, a)| case.doubt < 0.1 * **a) {
            let Some(v) = judge(&case, accuracy) else {
                skipped.push(format!("{name} (nothing reached {accuracy:.0e})"));
                continue;
            };
            count[k][0] += usize::from(v.ratio <= GOOD);
            count[k][1] += 1;
            println!("{name} {accuracy:.0e} {} {} | {}", v.chosen, digits(v.ratio), v.shown.join(", "));
            let shown = v.shown[..v.shown.len().min(4)].join(", ");
            rows.push(vec![name.clone(), format!("{accuracy:.0e}"), v.chosen, v.why, digits(v.ratio), shown]);
        }
    }
    let mut report = Report::new("auto", "How well `auto` picks")?;
    let told: Vec<String> =
        ACCURACIES.iter().zip(&count).map(|(a, [good, judged])| format!("{good} of {judged} at an error of {a:.0e}")).collect();
    report.text(&format!(
        "For each shipped model (at most {LONGEST} s of its study, as dynamics) every formulation is run over a range of tolerances; \
         times to reach an error, relative to the size of the mechanism, are interpolated, set-up and output included. The ratio is the \
         time of the choice over that of the quickest. Within {GOOD} are {}. `cargo xtask study auto --drawn N` asks \
         the same of drawn mechanisms.",
        told.join(", ")
    ));
    report.table(&["model", "error", "choice", "reason", "ratio", "quickest [ms]"], &rows);
    if !skipped.is_empty() {
        report.text(&format!("Not judged: {}.", skipped.join("; ")));
    }
    report.write()
}

/// The same on mechanisms drawn at random.
fn drawn(count: u64) -> Result<(), String> {
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    let (mut good, mut judged) = (0, 0);
    for seed in DRAWN_SEED.. {
        if judged == count || seed == DRAWN_SEED + 3 * count {
            break;
        }
        let Ok(model) = random_families::mechanism(seed).build() else { continue };
        let own = Study::of(&model);
        let t_end = own.t_end.min(DRAWN_END);
        let study = Study { t_end, output_step: t_end / DRAWN_ROWS, ..own };
        let verdict = match known(model, study, DRAWN_ACCURACY).map(|case| judge(&case, DRAWN_ACCURACY)) {
            Ok(Some(v)) => v,
            Ok(None) => {
                skipped.push(format!("{seed} (nothing reached {DRAWN_ACCURACY:.0e})"));
                continue;
            }
            Err(reason) => {
                skipped.push(format!("{seed} ({reason})"));
                continue;
            }
        };
        let Verdict { chosen, why, ratio, shown } = verdict;
        judged += 1;
        good += u64::from(ratio <= DRAWN_GOOD);
        let kind = format!("{}, {t_end} s", random_families::family_of(seed).name);
        println!("{seed} {kind} | {chosen} {} | {}", digits(ratio), shown.join(", "));
        rows.push(vec![seed.to_string(), kind, chosen, why, digits(ratio), shown[..shown.len().min(3)].join(", ")]);
    }
    let mut report = Report::new("auto_drawn", "How well `auto` picks for drawn mechanisms")?;
    report.text(&format!(
        "Made with `--drawn {count}`. Mechanisms are drawn at random by seed, family by family, moved for at most {DRAWN_END} s and written {DRAWN_ROWS} times; \
         times to reach an error of {DRAWN_ACCURACY:.0e} of their size are compared as for the shipped models. Within {DRAWN_GOOD} times of the \
         quickest are {good} of {judged}."
    ));
    report.table(&["seed", "kind", "choice", "reason", "ratio", "quickest [ms]"], &rows);
    if !skipped.is_empty() {
        report.text(&format!("Not judged: {}.", skipped.join("; ")));
    }
    report.write()
}

/// A case whose truth is known well enough for an accuracy.
fn known(model: Model, study: Study, accuracy: f64) -> Result<Case, String> {
    let case = Case::new(model, study)?;
    if case.doubt < 0.1 * accuracy { Ok(case) } else { Err(format!("the truth is known to {} only", digits(case.doubt))) }
}

/// Judges the choice; `None` where no formulation reaches the accuracy.
fn judge(case: &Case, accuracy: f64) -> Option<Verdict> {
    let lines = lines(case, accuracy);
    let time = |l: &Line| Some((l.time_for(accuracy)?, format!("{} {}", l.formulation, l.integrator)));
    let mut times: Vec<(f64, String)> = lines.iter().filter_map(time).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let best = times.first()?.0;
    let (chosen, why) = picked(&case.model, &case.study, accuracy);
    let ratio = times.iter().find(|(_, n)| *n == chosen).map_or(f64::INFINITY, |t| t.0 / best);
    let shown = times.iter().take_while(|t| t.0 < SLOWER * best).map(|(t, n)| format!("{n} {:.2}", 1e3 * t)).collect();
    Some(Verdict { chosen, why, ratio, shown })
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
