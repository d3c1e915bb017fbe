//! `fourbar optimize`: parameter values that minimise or maximise a measure, or bring several measures to zero.

pub(super) mod slopes;

use super::progress::Progress;
use super::{Subject, compared, margin, once};
use crate::args::{MethodName, OptimizeArgs};
use crate::reply::{Reply, Stop, exit_code};
use crate::screen::{Facts, Screen, number, table};
use crate::view::case_page;
use fourbar::Diagnostic;
use fourbar::study::count;
use fourbar_design::equilibrium::start_settled;
use fourbar_design::optimize::{Branch, Goals, Method, Point, Problem, Solution, optimize as solve};
use fourbar_design::sweep::{Axis, Outcome, Status, Values};
use fourbar_io::disk::{Kind, may_replace, write_kind};
use fourbar_io::page::{History, history_page};
use fourbar_io::results::number as csv_number;
use fourbar_io::studies::{OptimizeSpec, axis};
use fourbar_io::with_parameters;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Functions that may give a goal kinks, such as extremes over time.
const KINKED: [&str; 6] = ["min(", "max(", "range(", "abs(", "first(", "if("];

/// The optimisation problem: measures to fit or the one to minimise, with its sign, and conditions.
struct Sought {
    spec: OptimizeSpec,
    /// Name and text of measures: goals, then margins of the conditions, then the magnitudes of their sides.
    measures: Vec<(String, String)>,
    goals: usize,
    /// Number of goals and margins.
    searched: usize,
    sign: f64,
}

/// Runs the verb.
pub fn optimize(args: &OptimizeArgs, screen: &Screen) -> Result<Reply, Stop> {
    if let Some(path) = &args.output {
        may_replace(path, Kind::Other, args.force)?;
    }
    let slot = std::cell::RefCell::new(None);
    let measures = |input: &crate::input::Input| {
        let sought = sought(args, input.loaded.studies.optimize.clone().unwrap_or_default());
        let list = sought.as_ref().map(|s| s.measures.clone()).unwrap_or_default();
        slot.replace(Some(sought));
        list
    };
    let subject = Subject::new(screen, &args.model.file, &args.model.set, args.model.large, &args.study, measures, None)?;
    let Some(sought) = slot.into_inner().transpose()? else { return Err(Diagnostic::new("U438", "there is no objective").into()) };
    once("U430", sought.spec.vary.iter().map(|v| v.0.as_str()), "is varied")?;
    let axes = sought
        .spec
        .vary
        .iter()
        .map(|(name, text)| {
            let (_, dimension) = subject.file.parameter(name)?;
            axis(name, text, dimension)
        })
        .collect::<Result<Vec<Axis>, Diagnostic>>()?;
    let [lower, upper, own_values] = bounds(&subject, &axes)?;
    let start: Vec<f64> = own_values.iter().zip(lower.iter().zip(&upper)).map(|(x, (a, b))| x.clamp(*a, *b)).collect();
    let (method, why) = method(args, &sought)?;
    screen.listen();
    let progress = Mutex::new(Progress::new(screen, 0));
    let reasons: Mutex<BTreeMap<String, (usize, String)>> = Mutex::new(BTreeMap::new());
    let names: Vec<&str> = axes.iter().map(|a| a.name.as_str()).collect();
    let exact = slopes::Exact { subject: &subject, names: &names, goals: sought.goals, searched: sought.searched, sign: sought.sign };
    let assembled = |x: &[f64]| {
        let model = start_settled(subject.build(&names, x).ok()?.0).ok()?.0;
        let start = subject.settings(&model).ok()?.assemble(&model).ok()?.configuration;
        Some((model, start))
    };
    let own = assembled(&start).and_then(|(m, s)| Branch::of(&m, &s));
    let differentiate = |x: &[f64]| exact.at(x);
    let (use_exact, said) = match method {
        Method::LeastSquares => subject.with_sweep(&names, |cases| {
            let plain = |x: &[f64]| cases.run(x).and_then(|(outcome, _)| goals(&outcome, &sought));
            exact.check(&start, [&lower, &upper], args.difference, &plain)
        }),
        Method::Cma => (false, None),
    };
    let solution = subject.with_sweep(&names, |cases| {
        let evaluate = |x: &[f64]| -> Option<Goals> {
            if let Some(d) = own.as_ref().and_then(|b| assembled(x).and_then(|(m, s)| b.left(&m, &s))) {
                if let Ok(mut reasons) = reasons.lock() {
                    reasons.entry(d.code.0.to_string()).or_insert_with(|| (0, d.message.clone())).0 += 1;
                }
                return None;
            }
            let (outcome, _) = cases.run(x)?;
            if let Ok(mut p) = progress.lock() {
                p.step(String::new);
            }
            if let (Some(d), Ok(mut reasons)) = (&outcome.problem, reasons.lock()) {
                reasons.entry(d.code.0.to_string()).or_insert_with(|| (0, d.message.clone())).0 += 1;
            }
            goals(&outcome, &sought)
        };
        solve(&Problem {
            lower: lower.clone(),
            upper: upper.clone(),
            start: start.clone(),
            evaluate: &evaluate,
            slopes: use_exact.then_some(&differentiate as _),
            method,
            starts: usize::from(args.starts.unwrap_or(if method == Method::Cma { 1 } else { 8 })),
            evaluations: args.evaluations as usize,
            difference: args.difference,
            seed: args.seed,
            threads: args.study.threads.map_or(0, usize::from),
            stop: screen.stop,
        })
    });
    if let Ok(mut p) = progress.lock() {
        p.finish();
    }
    let interrupted = screen.interrupted();
    let reasons = reasons.into_inner().unwrap_or_default();
    let Some(solution) = solution else {
        let Some((_, why)) = reasons.values().max_by_key(|(n, _)| *n).filter(|_| !interrupted) else { return Ok(Reply::interrupted()) };
        return Err(subject.input.stop(
            &Diagnostic::new("S440", format!("no case could be computed: {why}"))
                .help("narrow the bounds around the values of the file, which can be assembled"),
        ));
    };
    // Two more runs: the magnitudes of the sides of conditions, and the goals of the file if its values are outside the bounds.
    let (sizes, before) = subject.with_sweep(&names, |cases| {
        let best = cases.run(&solution.best.x).map(|(outcome, _)| outcome).filter(|o| o.status == Status::Ok);
        let own = if start == own_values { solution.from.clone() } else { cases.run(&own_values).and_then(|(o, _)| goals(&o, &sought)) };
        (best.map_or(Vec::new(), |o| o.measures[sought.searched..].to_vec()), own)
    });
    let told = Told {
        sizes,
        before,
        outside: axes.iter().zip(start.iter().zip(&own_values)).filter(|(_, (a, b))| a != b).map(|(a, _)| a.name.as_str()).collect(),
        subject: &subject,
        set: &args.model.set,
        sought: &sought,
        axes: &axes,
        solution: &solution,
        method,
        why: &why,
        slopes: said,
    };
    let mut reply = told.reply(screen);
    if let Some(path) = &args.output {
        let text = told.file()?;
        write_kind(path, text.as_bytes(), Kind::Other, args.force)?;
        reply.text += &format!("\nthe mechanism with these values is in {}\n", path.display());
        reply.fields.insert("output".into(), json!(path));
    }
    if screen.is_silent() {
        reply.fields.insert("model".into(), json!(told.file()?));
    }
    if let Some(path) = &args.history {
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html")) {
            write_kind(path, told.history_page(screen).as_bytes(), Kind::Page, args.force)?;
        } else {
            write_kind(path, &told.history(), Kind::Other, args.force)?;
        }
        reply.text += &format!("the history of the search is in {}\n", path.display());
        reply.fields.insert("history".into(), json!(path));
    }
    let mut notes = subject.input.loaded.warnings.clone();
    notes.extend(told.warnings());
    reply.fields.insert(
        "failed".into(),
        reasons.iter().map(|(code, (n, m))| (code.clone(), json!({"count": n, "message": m}))).collect::<Map<_, _>>().into(),
    );
    reply.notes = subject.input.notes(&notes);
    reply.exit = if interrupted { Reply::INTERRUPTED } else { exit_code(reply.notes.list.iter()) };
    Ok(reply)
}

/// The problem given on the command line and in the file, checked.
fn sought(args: &OptimizeArgs, own: OptimizeSpec) -> Result<Sought, Diagnostic> {
    let from_line = args.minimize.is_some() || args.maximize.is_some() || !args.fit.is_empty();
    let mut spec = if from_line {
        OptimizeSpec { minimize: args.minimize.clone(), maximize: args.maximize.clone(), fit: args.fit.clone(), ..own.clone() }
    } else {
        own
    };
    if !args.vary.is_empty() {
        spec.vary.clone_from(&args.vary);
    }
    if !args.keep.is_empty() {
        spec.keep = args.keep.iter().enumerate().map(|(k, text)| (format!("keep_{}", k + 1), text.clone())).collect();
    }
    let refused = |why: &str| {
        Err(Diagnostic::new("U438", why)
            .help("give one of `--minimize`, `--maximize` and `--fit NAME=EXPRESSION`, or `study: {optimize: ...}` in the file"))
    };
    if spec.vary.is_empty() {
        return refused("no parameter is varied: give `--vary NAME=LEAST..MOST`");
    }
    let kinds = [spec.minimize.is_some(), spec.maximize.is_some(), !spec.fit.is_empty()];
    let mut measures = match kinds {
        [true, false, false] => vec![("goal".to_string(), spec.minimize.clone().unwrap_or_default())],
        [false, true, false] => vec![("goal".to_string(), spec.maximize.clone().unwrap_or_default())],
        [false, false, true] => spec.fit.clone(),
        [false, false, false] => return refused("the optimisation has no goal"),
        _ => return refused("the optimisation has more than one goal"),
    };
    let goals = measures.len();
    for (name, text) in &spec.keep {
        measures.push((format!("margin_{name}"), margin(text)?));
    }
    let searched = measures.len();
    for (name, text) in &spec.keep {
        measures.push((format!("compared_{name}"), compared(text)?));
    }
    let sign = if kinds[1] { -1.0 } else { 1.0 };
    Ok(Sought { spec, measures, goals, searched, sign })
}

/// Lower bounds, upper bounds and values in the file.
fn bounds(subject: &Subject, axes: &[Axis]) -> Result<[Vec<f64>; 3], Diagnostic> {
    let (mut lower, mut upper, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for a in axes {
        let Values::Range { from, to, count, .. } = a.values else {
            return Err(Diagnostic::new("U430", format!("`{}` has no bounds", a.name)).name(&a.name).help("write `NAME=30..45 mm`"));
        };
        if count > 0 {
            let message = format!("`{}` is given {count} values, and an optimisation takes any between two bounds", a.name);
            return Err(Diagnostic::new("U430", message).name(&a.name).help("leave the number of values out: `NAME=30..45 mm`"));
        }
        let (x, y) = (from * a.factor, to * a.factor);
        if x.partial_cmp(&y) != Some(std::cmp::Ordering::Less) {
            return Err(Diagnostic::new("U430", format!("the lower bound of `{}` is not below the upper one", a.name)).name(&a.name));
        }
        lower.push(x);
        upper.push(y);
        own.push(subject.file.parameter(&a.name)?.0);
    }
    Ok([lower, upper, own])
}

/// The method, and the reason for it.
fn method(args: &OptimizeArgs, sought: &Sought) -> Result<(Method, String), Diagnostic> {
    let fitted = !sought.spec.fit.is_empty();
    Ok(match args.method {
        MethodName::LeastSquares if !fitted => {
            let goal = if sought.sign < 0.0 { "maximize" } else { "minimize" };
            let d = Diagnostic::new(
                "U438",
                format!("`--method least-squares` minimises sums of squares, but `{goal}` is a single signed number"),
            );
            return Err(d.help("omit `--method`, or give residuals: `--fit NAME=EXPRESSION`"));
        }
        MethodName::LeastSquares => (Method::LeastSquares, "least squares, as requested".into()),
        MethodName::Cma => (Method::Cma, "evolution strategy (CMA-ES), as requested".into()),
        MethodName::Auto if fitted => (
            Method::LeastSquares,
            "least squares (Levenberg-Marquardt with bounds) from several starts: the goal is a sum of squares".into(),
        ),
        MethodName::Auto => {
            let goal = sought.measures.first().map(|m| m.1.as_str()).unwrap_or_default();
            let kink = KINKED.iter().find(|k| goal.contains(**k)).map(|k| k.trim_end_matches('('));
            let why = kink.map_or("the goal is one number".to_string(), |k| format!("the goal is one number and `{k}` may have kinks"));
            (Method::Cma, format!("evolution strategy (CMA-ES): {why}"))
        }
    })
}

/// Goals and margins of a case.
fn goals(outcome: &Outcome, sought: &Sought) -> Option<Goals> {
    (outcome.status == Status::Ok).then(|| Goals {
        values: outcome.measures[..sought.goals].iter().map(|v| sought.sign * v).collect(),
        margins: outcome.measures[sought.goals..sought.searched].to_vec(),
    })
}

/// The contents of the answer.
struct Told<'a> {
    subject: &'a Subject,
    set: &'a [(String, String)],
    sought: &'a Sought,
    axes: &'a [Axis],
    solution: &'a Solution,
    method: Method,
    why: &'a str,
    /// Source of the slopes.
    slopes: Option<String>,
    /// Magnitudes of the sides of the conditions, at the best values.
    sizes: Vec<f64>,
    /// Goals with the values in the file, if they can be computed.
    before: Option<Goals>,
    /// Parameters whose value in the file is outside the bounds.
    outside: Vec<&'a str>,
}

/// Violation of a condition, relative to the magnitude of its sides, up to which it counts as met.
const MET: f64 = 1e-6;

impl Told<'_> {
    /// A value in the notation of a file.
    fn written(a: &Axis, x: f64) -> String {
        let shown = format!("{:.12e}", x / a.factor).parse::<f64>().unwrap_or(x / a.factor);
        if a.unit.is_empty() { format!("{shown:?}") } else { format!("{shown:?} {}", a.unit) }
    }

    /// The mechanism file with the best values; everything else is unchanged.
    fn file(&self) -> Result<String, Diagnostic> {
        let values: Vec<(String, String)> =
            self.axes.iter().zip(&self.solution.best.x).map(|(a, x)| (a.name.clone(), Self::written(a, *x))).collect();
        // Values set for all cases are part of the result too, unless they were varied.
        let set = self.set.iter().filter(|(n, _)| self.axes.iter().all(|a| a.name != *n)).cloned().collect();
        with_parameters(&self.subject.input.loaded, &[values, set].concat())
    }

    fn shown(&self, goal: f64) -> f64 {
        self.sought.sign * goal
    }

    fn reply(&self, screen: &Screen) -> Reply {
        let s = self.solution;
        let mut facts = Facts::new(12);
        facts.add("method", self.why);
        if let Some(words) = &self.slopes {
            facts.add("slopes", words);
        }
        let what = match (self.method, self.sought.sign < 0.0) {
            _ if !self.sought.spec.fit.is_empty() => "sum of squares".to_string(),
            (_, true) => format!("largest `{}`", self.sought.measures[0].1),
            (_, false) => format!("smallest `{}`", self.sought.measures[0].1),
        };
        let unit = if self.sought.spec.fit.is_empty() && !matches!(self.subject.units[0].as_str(), "" | "1") {
            format!(" {}", self.subject.units[0])
        } else {
            String::new()
        };
        let before = self.before.as_ref().map(|g| match self.method {
            Method::LeastSquares => g.values.iter().map(|v| v * v).sum::<f64>(),
            Method::Cma => g.values.iter().sum(),
        });
        let from = before.map_or("the measures cannot be evaluated with the values of the file".into(), |b| {
            format!("{} with the values of the file", number(self.shown(b)))
        });
        let outside: Vec<String> = self.outside.iter().map(|n| format!("`{n}`")).collect();
        let from = match outside.len() {
            0 => from,
            1 => format!("{from} ({} lies outside the bounds)", outside[0]),
            _ => format!("{from} ({} lie outside the bounds)", outside.join(", ")),
        };
        facts.add("goal", &format!("{what}: {}{unit}; {from}", number(self.shown(s.best.goal))));
        if !s.goals.margins.is_empty() {
            let worst = s.best.violation;
            let words = match (worst > 0.0, self.broken()) {
                (_, true) => format!("violated by up to {}", number(worst)),
                (true, false) => format!("all satisfied, to {}", number(worst)),
                (false, false) => "all hold".into(),
            };
            facts.add("conditions", &format!("{}: {words}", count(s.goals.margins.len(), "condition")));
        }
        facts.add(
            "work",
            &format!(
                "{}, {} of which failed; {}",
                count(s.evaluations, "case"),
                s.failures,
                count(s.ends.len() + s.failed_starts, "start")
            ),
        );
        if self.method == Method::LeastSquares && s.ends.len() > 1 {
            let near = s.ends.iter().filter(|e| (e.goal - s.best.goal).abs() <= 1e-6 * s.best.goal.abs() + 1e-14).count();
            facts.add("", &format!("{near} of {} starts ended at the best value", s.ends.len()));
        }
        let rows: Vec<Vec<String>> = self
            .axes
            .iter()
            .enumerate()
            .map(|(k, a)| {
                let before = self.subject.file.parameter(&a.name).map_or(f64::NAN, |p| p.0);
                let bound = match s.active[k] {
                    1 => "on its upper bound",
                    -1 => "on its lower bound",
                    _ => "",
                };
                vec![a.name.clone(), number(before / a.factor), number(s.best.x[k] / a.factor), a.unit.clone(), bound.into()]
            })
            .collect();
        let mut text = format!(
            "{}\n\n{}\n{}",
            screen.bold(self.subject.title()),
            facts.text,
            table(&["parameter", "file", "best", "unit", ""], &rows, &[1, 2])
        );
        let measures: Vec<Vec<String>> = self
            .sought
            .spec
            .fit
            .iter()
            .zip(&s.goals.values)
            .map(|((name, _), v)| vec![name.clone(), number(*v)])
            .chain(
                self.sought
                    .spec
                    .keep
                    .iter()
                    .zip(&s.goals.margins)
                    .map(|((_, text), m)| vec![text.clone(), format!("margin {}", number(*m))]),
            )
            .collect();
        if !measures.is_empty() {
            text += &format!("\n{}", table(&["measure or condition", "at the best values"], &measures, &[1]));
        }
        let set: Map<String, Value> = self.axes.iter().zip(&s.best.x).map(|(a, x)| (a.name.clone(), json!(x))).collect();
        let written: Map<String, Value> =
            self.axes.iter().zip(&s.best.x).map(|(a, x)| (a.name.clone(), json!(Self::written(a, *x)))).collect();
        let values: Map<String, Value> = self
            .sought
            .measures
            .iter()
            .zip(s.goals.values.iter().map(|v| self.sought.sign * v).chain(s.goals.margins.iter().copied()))
            .map(|((n, _), v)| (n.clone(), json!(v)))
            .collect();
        let ends: Vec<Value> =
            s.ends.iter().map(|e| json!({"start": e.start, "goal": self.shown(e.goal), "violation": e.violation, "x": e.x})).collect();
        let fields = json!({
            "file": self.subject.input.name, "title": self.subject.title(), "hash": self.subject.input.loaded.hash,
            "method": if self.method == Method::Cma { "cma" } else { "least-squares" }, "why": self.why, "slopes": self.slopes,
            "set": set, "written": written, "goal": self.shown(s.best.goal), "goal_before": before.map(|b| self.shown(b)), "violation": s.best.violation,
            "measures": values, "active": s.active, "evaluations": s.evaluations, "failures": s.failures, "failed_starts": s.failed_starts, "ends": ends,
        });
        Reply::new(text, fields)
    }

    /// Improvements as a table.
    fn history(&self) -> Vec<u8> {
        let mut names = vec!["start".to_string(), "goal".into(), "violation".into()];
        names.extend(self.axes.iter().map(|a| format!("set.{}", a.name)));
        let mut out = format!("{}\n", names.join(",")).into_bytes();
        for p in &self.solution.history {
            let Point { start, x, goal, violation } = p;
            out.extend(start.to_string().into_bytes());
            for v in [self.shown(*goal), *violation].iter().chain(x) {
                out.push(b',');
                csv_number(*v, &mut out);
            }
            out.push(b'\n');
        }
        out
    }

    /// The same as a page.
    fn history_page(&self, screen: &Screen) -> String {
        let input = &self.subject.input;
        let steps = self.solution.history.iter().map(|p| (p.start, self.shown(p.goal), p.violation, p.x.as_slice())).collect();
        let history = History { title: self.subject.title(), file: &input.name, set: self.set, axes: self.axes, steps };
        history_page(
            &history,
            case_page((&input.name, &input.loaded.hash), self.set, |model| self.subject.settings(model), screen).as_deref(),
        )
    }

    /// Whether a condition is violated by more than the accuracy of its sides.
    fn broken(&self) -> bool {
        let size = |k: usize| self.sizes.get(k).copied().unwrap_or(0.0);
        self.solution.goals.margins.iter().enumerate().any(|(k, m)| *m < -MET * size(k))
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        let mut list = Vec::new();
        for (a, side) in self.axes.iter().zip(&self.solution.active).filter(|(_, s)| **s != 0) {
            let bound = if *side > 0 { "upper" } else { "lower" };
            list.push(
                Diagnostic::new("W440", format!("the best `{}` lies on its {bound} bound", a.name))
                    .name(&a.name)
                    .help("widen the bound if the design allows it"),
            );
        }
        if self.broken() {
            let message = format!(
                "no values were found that meet all conditions: the best ones violate one by {}",
                number(self.solution.best.violation)
            );
            list.push(
                Diagnostic::new("S440", message).help("widen the bounds, ease a condition, or give more `--starts` or `--evaluations`"),
            );
        }
        list
    }
}
