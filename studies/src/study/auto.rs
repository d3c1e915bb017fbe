//! Whether `auto` chooses well: for shipped models and for random mechanisms, the time that each formulation needs for the same error, and
//! how far the choice of `auto` is from the fastest.
//!
//! Equal error: every formulation runs with a range of tolerances, its largest error is measured against a far more accurate motion, and
//! the time for a given error is interpolated between them. So a formulation is neither penalised for errors well below its tolerance nor
//! favoured for errors above it. Times are processor times of the thread, the shortest of several runs, including set-up and output; the
//! time for the decision of `auto` is included.

use super::precision::{Case, Line};
use super::report::{Report, digits};
use fourbar::Model;
use fourbar::study::{FORMULATIONS, Study};
use fourbar_bench::{shipped, shortest_cpu};
use fourbar_io::write_model;
use fourbar_testing::families;
use std::fmt::Write as _;

/// Errors of the comparison, relative to the size of the mechanism; `auto` chooses for the same tolerances.
const ERRORS: [f64; 3] = [1e-4, 1e-6, 1e-8];
/// Index of the decisive error: that of the default tolerance.
const USUAL: usize = 1;
/// Longer runs are not refined, in seconds.
const LONG: f64 = 2.0;
/// A formulation slower than the best by this factor is not refined.
const SLOWER: f64 = 3.0;
/// Shorter runs are never omitted, in seconds: a first time may be many times that of later runs.
const SHORT: f64 = 0.02;
/// Largest number of rounds of repeated timing, and the time that the fastest formulation may take in all rounds, seconds.
const ROUNDS: usize = 8;
const ROUNDS_TIME: f64 = 0.04;
/// A choice is good if it takes at most this many times as long as the fastest.
const GOOD: f64 = 1.5;
/// Time limit for each reference run, its tolerance, and the required distance between two of them.
const PATIENCE: f64 = 1.5;
const TRUTH: f64 = 3e-12;
const CERTAIN: f64 = 3e-10;
/// Chaotic or long studies of shipped models are compared over this duration.
const LONGEST: f64 = 5.0;
/// First seed of the random mechanisms; rules were fitted to others.
const DRAWN_SEED: u64 = 1_700_000;
/// Factors of the duration and of the number of outputs of random mechanisms, used in turn.
const DRAWN_TIMES: [(f64, f64); 3] = [(1.0, 10.0), (3.0, 50.0), (10.0, 200.0)];

/// A mechanism of the comparison.
struct Subject {
    name: String,
    kind: String,
    model: Model,
    study: Study,
}

/// The measurements of a mechanism.
struct Measured {
    subject: Subject,
    lines: Vec<Line>,
    doubt: f64,
}

/// The assessment of a choice at one error.
struct Verdict {
    chosen: String,
    why: String,
    ratio: f64,
    quickest: String,
}

/// All shipped models, or those named, as `docs/studies/auto`; with `--drawn N`, N random mechanisms from `--seed` on, as
/// `docs/studies/auto_drawn`. `--points FILE` writes all measurements; `--files FOLDER` writes the random mechanisms and measures nothing.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (mut names, mut drawn, mut seed, mut points) = (Vec::new(), None, DRAWN_SEED, None);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let mut number = || rest.next().and_then(|n| n.parse().ok()).ok_or(format!("`{word}` takes a number"));
        match word.as_str() {
            "--drawn" => drawn = Some(number()?),
            "--seed" => seed = number()?,
            "--points" => points = rest.next(),
            "--files" => return files(seed, drawn.unwrap_or(1), rest.next().ok_or("`--files` takes a folder")?),
            _ => names.push(word.clone()),
        }
    }
    let mut told = String::from("name,kind,traits,formulation,integrator,tol,error,seconds,setup,steps,evaluations,doubt\n");
    let (page, title, intro) = match drawn {
        Some(_) => ("auto_drawn", "How well `auto` picks for drawn mechanisms", DRAWN_INTRO),
        None => ("auto", "How well `auto` picks", SHIPPED_INTRO),
    };
    if names.is_empty() {
        names = super::assembly::names()?;
    }
    let mut subjects: Box<dyn Iterator<Item = Subject>> = match drawn {
        Some(count) => Box::new((seed..seed + 2 * count).filter_map(random)),
        None => Box::new(names.into_iter().map(of_shipped)),
    };
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    let mut ratios: [Vec<f64>; ERRORS.len()] = Default::default();
    while drawn.is_none_or(|count| (ratios[USUAL].len() as u64) < count)
        && let Some(subject) = subjects.next()
    {
        let measured = match measure(subject) {
            Ok(m) => m,
            Err(reason) => {
                println!("{reason}");
                skipped.push(reason);
                continue;
            }
        };
        told += &measured.points();
        for (k, &error) in ERRORS.iter().enumerate().filter(|(_, e)| measured.doubt < 0.1 * **e) {
            let Some(v) = measured.judge(error) else {
                skipped.push(format!("{} (nothing reached {error:.0e})", measured.subject.name));
                continue;
            };
            ratios[k].push(v.ratio);
            let Subject { name, kind, .. } = &measured.subject;
            println!("{name} {kind} {error:.0e} {} {} | {}", v.chosen, digits(v.ratio), v.quickest);
            rows.push(vec![name.clone(), kind.clone(), format!("{error:.0e}"), v.chosen, v.why, digits(v.ratio), v.quickest]);
        }
    }
    if let Some(file) = points {
        std::fs::write(file, told).map_err(|e| format!("{file}: {e}"))?;
    }
    let command = if drawn.is_some() { "cargo xtask study auto --drawn 100" } else { "cargo xtask study auto" };
    let mut report = Report::new(page, title)?.made_by(command);
    report.text(intro);
    report.text(
        "Every formulation is run over a range of tolerances, and its largest error at output times (of a position relative to the size \
         of the mechanism, of an orientation in radians) is taken against a motion known at least ten times better. The time for an \
         error is interpolated between these runs: processor time of the thread, shortest of several runs, set-up and output included. \
         The ratio is the time of the choice, that of choosing included, over the time of the quickest, both at that error; \
         the choice is made for a tolerance of that size. An infinite ratio: the choice does not reach the error at any tolerance.",
    );
    let summary: Vec<Vec<String>> = ERRORS.iter().zip(&mut ratios).map(|(e, list)| summary(*e, list)).collect();
    report.table(&["error", "judged", "within 1.3", "within 1.5", "within 2", "median ratio", "largest"], &summary);
    report.heading("Each of them");
    report.table(&["name", "kind", "error", "choice", "reason", "ratio", "quickest [ms]"], &rows);
    if !skipped.is_empty() {
        report.text(&format!("Not judged: {}.", skipped.join("; ")));
    }
    let good = ratios[USUAL].iter().filter(|r| **r <= GOOD).count();
    println!("within {GOOD} at {:.0e}: {good} of {}", ERRORS[USUAL], ratios[USUAL].len());
    report.write()
}

const SHIPPED_INTRO: &str = "The shipped models, each for at most 5 s of its study, as dynamics. `cargo xtask study auto --drawn 100` asks \
                             the same of mechanisms drawn at random.";
const DRAWN_INTRO: &str = "Made with `--drawn 100`. Mechanisms are drawn at random by seed, family after family; rules were fitted to other \
                           seeds. In turn they move for one, three and ten times what they were drawn for (a few swings) and are written \
                           10, 50 and 200 times.";

/// Error, number of assessed choices, fractions of good ones, median and largest ratio.
fn summary(error: f64, list: &mut [f64]) -> Vec<String> {
    list.sort_by(f64::total_cmp);
    let within = |most: f64| list.iter().filter(|r| **r <= most).count().to_string();
    let at = |k: usize| list.get(k).map_or(String::new(), |r| digits(*r));
    let [median, largest] = [at(list.len() / 2), at(list.len().saturating_sub(1))];
    vec![format!("{error:.0e}"), list.len().to_string(), within(1.3), within(GOOD), within(2.0), median, largest]
}

fn of_shipped(name: String) -> Subject {
    let model = shipped(&name);
    let mut study = Study::of(&model);
    study.t_end = study.t_end.min(LONGEST);
    study.output_step = (study.t_end / 50.0).max(study.output_step.min(study.t_end));
    study.output_step = study.t_end / (study.t_end / study.output_step).round().max(1.0);
    let kind = format!("{} s, {} rows", digits(study.t_end), study.output_times().count());
    Subject { name, kind, model, study }
}

/// A random mechanism; some of them cannot be built.
fn random(seed: u64) -> Option<Subject> {
    let model = families::mechanism(seed).build().ok()?;
    let family = families::family_of(seed).name;
    let (times, rows) = DRAWN_TIMES[(seed % DRAWN_TIMES.len() as u64) as usize];
    let own = Study::of(&model);
    let t_end = times * own.t_end;
    let study = Study { t_end, output_step: t_end / rows, ..own };
    Some(Subject { name: format!("{family} {seed}"), kind: format!("{} s, {rows} rows", digits(t_end)), model, study })
}

/// Writes the random mechanisms of some seeds, with their studies.
fn files(seed: u64, count: u64, folder: &str) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{folder}: {e}"))?;
    for seed in seed..seed + count {
        let Some(subject) = random(seed) else { continue };
        let mut spec = families::mechanism(seed);
        (spec.study.t_end, spec.study.output_step) = (subject.study.t_end, Some(subject.study.output_step));
        let path = format!("{folder}/{}.yaml", subject.name.replace(' ', "_"));
        std::fs::write(&path, write_model(&spec)).map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(())
}

/// Measures all formulations, if the reference is accurate enough for the usual error.
fn measure(subject: Subject) -> Result<Measured, String> {
    let Subject { name, kind, model, mut study } = subject;
    (study.formulation, study.integrator, study.step) = (None, None, None);
    let mut case = Case::within(PATIENCE, &[TRUTH], CERTAIN, model, study).map_err(|reason| format!("{name} ({reason})"))?;
    if case.doubt > 0.1 * ERRORS[USUAL] {
        return Err(format!("{name} (the truth is known to {} only)", digits(case.doubt)));
    }
    case.once = true;
    let mut lines = lines(&case);
    let best = lines.iter().filter_map(|l| l.time_for(ERRORS[ERRORS.len() - 1])).fold(LONG, f64::min);
    let rounds = ((ROUNDS_TIME / best) as usize).clamp(1, ROUNDS);
    case.time_again(rounds, (SLOWER * best).max(SHORT), &mut lines);
    let Case { model, study, doubt, .. } = case;
    Ok(Measured { subject: Subject { name, kind, model, study }, lines, doubt })
}

/// Every formulation with the integrators that may be the fastest. Fast ones come first, and a line ends when it takes several times as
/// long as the best.
fn lines(case: &Case) -> Vec<Line> {
    let mut list: Vec<Line> = Vec::new();
    let enough = ERRORS[ERRORS.len() - 1];
    let mut best = LONG / SLOWER;
    for info in FORMULATIONS.iter().rev() {
        for &i in info.integrators.iter().filter(|i| **i == info.integrators[0] || **i == "dop853") {
            let line = case.line(info, i, enough, (SLOWER * best).max(SHORT), false);
            best = line.time_for(enough).map_or(best, |t| best.min(t));
            list.push(line);
        }
    }
    list
}

impl Measured {
    /// Assesses the choice; `None` if no formulation reaches the error.
    fn judge(&self, error: f64) -> Option<Verdict> {
        let time = |l: &Line| Some((l.time_for(error)?, format!("{} {}", l.formulation, l.integrator)));
        let mut times: Vec<(f64, String)> = self.lines.iter().filter_map(time).collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best = times.first()?.0;
        let study = Study { tol: Some(error), ..self.subject.study.clone() };
        let choice = study.chosen(&self.subject.model).ok()?;
        let deciding = shortest_cpu(3, || drop(study.chosen(&self.subject.model)));
        let chosen = format!("{} {}", choice.formulation.name, choice.integrator);
        let ratio = times.iter().find(|(_, n)| *n == chosen).map_or(f64::INFINITY, |t| (t.0 + deciding) / best);
        let shown: Vec<String> = times.iter().take(4).map(|(t, n)| format!("{n} {:.2}", 1e3 * t)).collect();
        Some(Verdict { chosen, why: choice.why.unwrap_or_default(), ratio, quickest: shown.join(", ") })
    }

    /// All measurements as lines of a table.
    fn points(&self) -> String {
        let mut text = String::new();
        let traits = traits(&self.subject.model, &self.subject.study);
        for line in &self.lines {
            for p in &line.points {
                let (name, kind) = (&self.subject.name, self.subject.kind.replace(',', ""));
                let _ = write!(text, "{name},{kind},{traits},{},{},{:e}", line.formulation, line.integrator, p.tol);
                let [steps, evaluations] = p.counts;
                let _ = writeln!(text, ",{:e},{:e},{:e},{steps},{evaluations},{:e}", p.error, p.seconds, p.setup, self.doubt);
            }
        }
        text
    }
}

/// The structure of a mechanism and the length of its study as text.
fn traits(model: &Model, study: &Study) -> String {
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    let graph = fourbar::topology::Topology::new(model);
    let names = model.joints.iter().map(|j| j.kind.name().to_string());
    let forces = model.forces.iter().map(|(_, f)| format!("{f:?}").split([' ', '(']).next().unwrap_or_default().to_string());
    names.chain(forces).for_each(|n| *counts.entry(n).or_default() += 1);
    let mut looped = vec![false; model.bodies.len()];
    graph.loops.iter().flat_map(|l| &l.joints).for_each(|&j| model.joints[j].bodies.iter().for_each(|b| looped[b.index()] = true));
    let numbers = [
        ("bodies", model.moving()),
        ("loops", graph.loops.len()),
        ("looped", looped.iter().skip(1).filter(|l| **l).count()),
        ("planar", usize::from(graph.planar.is_some())),
        ("components", graph.components.len()),
        ("couplings", model.couplings.len()),
        ("bare", model.bare.len()),
        ("rolls", model.rolling.len()),
        ("drives", model.drives.len()),
        ("rows", study.output_times().count()),
    ];
    let mut list: Vec<String> = numbers.iter().map(|(n, x)| format!("{n}={x}")).collect();
    list.extend(counts.iter().map(|(n, x)| format!("{n}={x}")));
    list.push(format!("t_end={}", study.t_end));
    list.push(format!("pace={:e}", fourbar::auto::pace(model) * study.t_end));
    list.join(" ")
}
