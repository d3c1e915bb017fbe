//! `fourbar tolerance`: effects of tolerances and clearances on measures.

use super::optimize::slopes::Exact;
use super::progress::Progress;
use super::{Subject, margin, once};
use crate::args::ToleranceArgs;
use crate::reply::{Reply, Stop, exit_code};
use crate::screen::{Facts, Screen, number, table};
use fourbar::expr::Dimension;
use fourbar::study::count;
use fourbar::topology::Topology;
use fourbar::{Diagnostic, Error, Model};
use fourbar_design::sweep::{Outcome, Parameters, Status, execute};
use fourbar_design::tolerance::{Clearance, Distribution, Linear, Plan, Summary, Toleranced, Yield, grade, linear, off_centre, summary};
use fourbar_io::disk::{Kind, write_kind};
use fourbar_io::results::number as csv_number;
use fourbar_io::studies::{ToleranceSpec, quantity_of};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Smallest reported difference between linear and sampled deviations, and of means relative to the deviation.
const APART: f64 = 0.1;
/// Relative difference of one-sided slopes that counts as a kink.
const KINK: f64 = 0.5;

/// Runs the verb.
pub fn tolerance(args: &ToleranceArgs, screen: &Screen) -> Result<Reply, Stop> {
    let conditions = args.keep.iter().map(|text| margin(text)).collect::<Result<Vec<_>, _>>()?;
    let own = std::cell::Cell::new(0);
    let measures = |input: &crate::input::Input| {
        let mut list = if args.measure.is_empty() { input.loaded.studies.measures.clone() } else { args.measure.clone() };
        own.set(list.len());
        list.extend(conditions.iter().enumerate().map(|(k, text)| (format!("margin_{}", k + 1), text.clone())));
        list
    };
    let subject = Subject::new(screen, &args.model.file, &args.model.set, args.model.large, &args.study, measures, None)?;
    let own = own.get();
    if subject.measures.is_empty() {
        return Err(Diagnostic::new("U436", "nothing is measured")
            .help("add `--measure NAME=EXPRESSION`, such as `--measure top=\"max(P.y)\"`, or `study: {measures: ...}` to the file")
            .into());
    }
    let plan = planned(args, &subject)?;
    screen.listen();
    let numbers: Vec<usize> = (0..plan.len()).collect();
    let mut outcomes: BTreeMap<usize, Outcome> = BTreeMap::new();
    let mut progress = Progress::new(screen, numbers.len());
    let names: Vec<&str> = plan.parameters.iter().map(|p| p.name.as_str()).collect();
    let joints: Vec<&str> = plan.clearances.iter().map(|(c, _)| c.joint.as_str()).collect();
    // The parameters are followed by the joint whose pin is shifted, its axis and the distance.
    let build = |values: &[f64]| -> Result<(Model, Parameters), Error> {
        let (mut model, parameters) = subject.build(&names, &values[..names.len()])?;
        if let [joint, axis, distance] = values[names.len()..]
            && let Some(name) = joints.get(joint as usize)
        {
            off_centre(&mut model, name, axis as usize, distance);
        }
        Ok((model, parameters))
    };
    subject.with_build(&build, |cases| {
        let run = |k: usize| {
            let case = plan.case(k);
            let mut values = case.values;
            if let Some((joint, axis, distance)) = case.offset {
                let place = joints.iter().position(|j| *j == joint).unwrap_or(usize::MAX);
                values.extend([place as f64, axis as f64, distance]);
            }
            cases.run(&values).map(|(outcome, _)| outcome)
        };
        execute(&numbers, args.study.threads.map_or(0, usize::from), screen.stop, run, |k, outcome| {
            outcomes.insert(k, outcome);
            progress.step(String::new);
            true
        });
    });
    progress.finish();
    let interrupted = screen.interrupted();
    let nominal = outcomes.get(&0);
    if let Some(Outcome { problem: Some(d), .. }) = nominal {
        return Err(subject.input.stop(d));
    }
    let Some(nominal) = nominal else {
        return Ok(Reply::interrupted());
    };
    let searched = subject.measures.len();
    let exact = Exact { subject: &subject, names: &names, goals: searched, searched, sign: 1.0 };
    let place: Vec<f64> = plan.parameters.iter().map(|p| p.nominal).collect();
    let exact = if place.is_empty() || interrupted { None } else { exact.at(&place).map(|s| s.values) };
    let told = Told::new(args, &subject, &plan, &outcomes, (own, exact), nominal.clone());
    let mut reply = told.reply(screen);
    if let Some(path) = &args.output {
        write_kind(path, &told.csv(), Kind::Other, args.force)?;
        reply.text += &format!("\nthe samples are in {}\n", path.display());
        reply.fields.insert("table".into(), json!(path));
    }
    if interrupted {
        reply.text += &format!("\ninterrupted after {} of {} samples: the numbers are those of these\n", told.samples.len(), plan.samples);
    }
    let mut notes = subject.input.loaded.warnings.clone();
    notes.extend(told.warnings());
    reply.notes = subject.input.notes(&notes);
    reply.exit = if interrupted { Reply::INTERRUPTED } else { exit_code(reply.notes.list.iter()) };
    Ok(reply)
}

/// Tolerances of the command line, or otherwise of the file.
fn planned(args: &ToleranceArgs, subject: &Subject) -> Result<Plan, Stop> {
    let given = if args.tolerance.is_empty() {
        subject.input.loaded.studies.tolerances.clone()
    } else {
        args.tolerance
            .iter()
            .map(|(name, text)| Ok((name.clone(), written(name, text, subject)?)))
            .collect::<Result<Vec<_>, Diagnostic>>()?
    };
    once("U437", given.iter().map(|g| g.0.as_str()), "is given a tolerance")?;
    let (mut parameters, mut clearances) = (Vec::new(), Vec::new());
    for (name, spec) in given {
        if let ToleranceSpec::Clearance(radius) = spec {
            clearances.push(Clearance { joint: name, radius });
            continue;
        }
        let (nominal, _) = subject.file.parameter(&name).map_err(|d| Diagnostic { code: fourbar::diagnostic::Code("U437"), ..d })?;
        let distribution = match &spec {
            ToleranceSpec::PlusMinus(t) => Distribution::Normal(t / 3.0),
            ToleranceSpec::Sigma(s) => Distribution::Normal(*s),
            ToleranceSpec::Uniform(t) => Distribution::Uniform(*t),
            ToleranceSpec::Grade(g) => {
                let width = grade::width(g, nominal).ok_or_else(|| {
                    Diagnostic::new("U437", format!("`{g}` is not a grade for a length of {} m", number(nominal)))
                        .name(&name)
                        .help("grades are `IT5` to `IT16`, for lengths of up to 500 mm")
                })?;
                Distribution::Normal(width / 6.0)
            }
            ToleranceSpec::Clearance(_) => continue,
        };
        parameters.push(Toleranced { name, nominal, distribution });
    }
    Ok(Plan::new(parameters, clearances, args.samples as usize, args.seed, &subject.input.model)?)
}

/// A number with as many digits as its spread justifies: to a hundredth of the spread.
fn resolved(x: f64, sigma: f64) -> String {
    let digits = (x.abs() / sigma).log10() + 2.0;
    if !(sigma > 0.0 && digits.is_finite() && (2.0..=15.0).contains(&digits)) {
        return number(x);
    }
    let places = (2.0 - sigma.log10()).ceil();
    if x.abs() >= 1e-3 && (0.0..=15.0).contains(&places) {
        format!("{x:.*}", places as usize)
    } else {
        format!("{x:.*e}", digits.ceil() as usize)
    }
}

/// A tolerance of the command line: `0.1mm`, `sigma:0.03mm`, `uniform:0.2mm`, `IT7` or `clearance:20um`.
fn written(name: &str, text: &str, subject: &Subject) -> Result<ToleranceSpec, Diagnostic> {
    // A tolerance has the dimension of its parameter.
    let own = subject.file.parameter(name).ok().and_then(|p| p.1);
    let number_of = |text: &str, dimension: Option<Dimension>| {
        quantity_of(text, dimension).map_err(|why| {
            Diagnostic::new("U437", format!("the tolerance `{text}` of `{name}` {why}"))
                .name(name)
                .help("write `0.1mm`, `sigma:0.03mm`, `uniform:0.2mm`, `IT7`, or `clearance:20um` for a joint")
        })
    };
    let number = |text: &str| number_of(text, own);
    Ok(match text.split_once(':') {
        Some(("sigma", x)) => ToleranceSpec::Sigma(number(x)?),
        Some(("uniform", x)) => ToleranceSpec::Uniform(number(x)?),
        Some(("clearance", x)) => ToleranceSpec::Clearance(number_of(x, Some(Dimension::LENGTH))?),
        _ if text.to_ascii_uppercase().starts_with("IT") => ToleranceSpec::Grade(text.to_ascii_uppercase()),
        _ => ToleranceSpec::PlusMinus(number(text)?),
    })
}

/// The contents of the answer.
struct Told<'a> {
    args: &'a ToleranceArgs,
    subject: &'a Subject,
    plan: &'a Plan,
    nominal: Outcome,
    /// Computed samples by number.
    samples: BTreeMap<usize, &'a Outcome>,
    /// Number of measures that are not margins.
    own: usize,
    linear: Vec<Option<Linear>>,
    /// Whether slopes are derivatives of the run rather than differences.
    exact: bool,
    sampled: Vec<Option<Summary>>,
    good: Yield,
    assembled: Yield,
}

impl<'a> Told<'a> {
    fn new(
        args: &'a ToleranceArgs,
        subject: &'a Subject,
        plan: &'a Plan,
        outcomes: &'a BTreeMap<usize, Outcome>,
        (own, exact): (usize, Option<Vec<Vec<f64>>>),
        nominal: Outcome,
    ) -> Self {
        let samples: BTreeMap<usize, &Outcome> = outcomes.range(plan.first_sample()..).map(|(k, o)| (k - plan.first_sample(), o)).collect();
        let m = subject.measures.len();
        let value = |k: usize, m: usize| outcomes.get(&k).filter(|o| o.status == Status::Ok).map(|o| o.measures[m]);
        let linear = (0..m).map(|m| linear(plan, &|k| value(k, m), exact.as_ref().map(|e| e[m].as_slice()))).collect();
        let of = |m: usize| -> Vec<f64> { samples.values().filter(|o| o.status == Status::Ok).map(|o| o.measures[m]).collect() };
        let sampled = (0..m).map(|m| summary(&of(m))).collect();
        let ok = samples.values().filter(|o| o.status == Status::Ok);
        let assembled = Yield::new(ok.clone().count(), samples.len());
        let good = Yield::new(ok.filter(|o| o.measures[own..].iter().all(|m| *m >= 0.0)).count(), samples.len());
        Self { args, subject, plan, nominal, samples, own, linear, exact: exact.is_some(), sampled, good, assembled }
    }

    /// Failed samples by cause, the most frequent first: number, description, names.
    fn failures(&self) -> Vec<(usize, String, Vec<String>)> {
        let topology = Topology::new(&self.subject.input.model);
        let joints = &self.subject.input.model.joints;
        // For each cause: number of samples, largest gap, first message, names.
        let mut groups: BTreeMap<String, (usize, f64, String, Vec<String>)> = BTreeMap::new();
        for o in self.samples.values() {
            let Some(d) = &o.problem else { continue };
            // The loop of the first named joint is more informative than the joint, where the gap merely appears.
            let of_loop = topology.loops.iter().find(|l| l.joints.iter().any(|&j| d.names.first() == Some(&joints[j].name)));
            let (key, names) = match (o.status, of_loop) {
                (Status::NotAssembled, Some(l)) => {
                    let names: Vec<String> = l.joints.iter().map(|&j| joints[j].name.clone()).collect();
                    let words = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join("-");
                    (format!("cannot be assembled: loop {words}"), names)
                }
                _ => (format!("{} ({})", o.status.word(), d.code), d.names.clone()),
            };
            let entry = groups.entry(key).or_insert((0, 0.0, d.message.clone(), names));
            entry.0 += 1;
            entry.1 = entry.1.max(d.gap.unwrap_or(0.0));
        }
        let words = |key: String, gap: f64, message: &str| match gap {
            gap if gap > 0.0 && key.contains("loop") => format!("{key} stays open by up to {} mm", number(1e3 * gap)),
            _ => format!("{key}, as in: {message}"),
        };
        let mut list: Vec<_> = groups.into_iter().map(|(key, (n, gap, message, names))| (n, words(key, gap, &message), names)).collect();
        list.sort_by_key(|(n, ..)| std::cmp::Reverse(*n));
        list
    }

    fn unit(&self, m: usize) -> String {
        match self.subject.units[m].as_str() {
            "" | "1" => String::new(),
            u => format!(" [{u}]"),
        }
    }

    fn reply(&self, screen: &Screen) -> Reply {
        let mut facts = Facts::new(12);
        let clearances =
            if self.plan.clearances.is_empty() { String::new() } else { format!(", {}", count(self.plan.clearances.len(), "clearance")) };
        facts.add(
            "tolerances",
            &format!(
                "{}{clearances}; {} (seed {})",
                count(self.plan.parameters.len(), "parameter"),
                count(self.samples.len(), "sample"),
                self.args.seed
            ),
        );
        if !self.plan.parameters.is_empty() {
            facts.add("slopes", if self.exact { "derivatives of the run" } else { "differences of runs a twelfth of the tolerance apart" });
        }
        let percent = |y: &Yield| {
            let share = y.good as f64 / y.count.max(1) as f64;
            format!(
                "{} of {} ({:.2} %; with 95 % confidence {:.2} to {:.2} %)",
                y.good,
                y.count,
                100.0 * share,
                100.0 * y.interval[0],
                100.0 * y.interval[1]
            )
        };
        if !self.samples.is_empty() {
            facts.add("assembled", &percent(&self.assembled));
            for (n, words, _) in self.failures().into_iter().take(4) {
                facts.add("", &format!("{n} of {} {words}", self.samples.len()));
            }
            if self.subject.measures.len() > self.own {
                facts.add(
                    "yield",
                    &format!(
                        "{} meet {}",
                        percent(&self.good),
                        self.args.keep.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")
                    ),
                );
            }
        }
        let clear = !self.plan.clearances.is_empty();
        let mut head = vec!["measure", "nominal", "sigma, linear", "sigma, samples", "mean shift", "0.135 %", "99.865 %", "worst case +-"];
        if clear {
            head.push("clearance +-");
        }
        let mut rows = Vec::new();
        for m in 0..self.own {
            let l = self.linear[m].as_ref();
            let s = self.sampled[m].as_ref();
            let show = |x: Option<f64>| x.map_or_else(|| "-".to_string(), number);
            let mut row = vec![
                format!("{}{}", self.subject.measures[m].0, self.unit(m)),
                number(self.nominal.measures[m]),
                show(l.map(|l| l.sigma)),
                s.map_or("-".into(), |s| format!("{} +- {}", number(s.sigma), number(s.sigma_error))),
                show(s.map(|s| s.mean - self.nominal.measures[m])),
                s.map_or("-".into(), |s| resolved(s.quantiles[0], s.sigma)),
                s.map_or("-".into(), |s| resolved(s.quantiles[2], s.sigma)),
                show(l.map(|l| l.worst)),
            ];
            if clear {
                row.push(show(l.map(|l| l.clearance)));
            }
            rows.push(row);
        }
        let right: Vec<usize> = (1..head.len()).collect();
        let mut text = format!("{}\n\n{}\n{}", screen.bold(self.subject.title()), facts.text, table(&head, &rows, &right));
        text += &self.contributions();
        Reply::new(text, self.fields())
    }

    /// Contributions to the spread.
    fn contributions(&self) -> String {
        let mut head = vec!["parameter".to_string(), "+-".into()];
        head.extend((0..self.own).map(|m| format!("share of {}", self.subject.measures[m].0)));
        let mut order: Vec<usize> = (0..self.plan.parameters.len()).collect();
        let share = |k: usize| (0..self.own).filter_map(|m| Some(self.linear[m].as_ref()?.shares[k])).fold(0.0, f64::max);
        order.sort_by(|&a, &b| share(b).total_cmp(&share(a)));
        let mut rows: Vec<Vec<String>> = order
            .iter()
            .map(|&k| {
                let p = &self.plan.parameters[k];
                let mut row = vec![p.name.clone(), number(p.distribution.reach())];
                row.extend((0..self.own).map(|m| self.linear[m].as_ref().map_or("-".into(), |l| format!("{:.1} %", 100.0 * l.shares[k]))));
                row
            })
            .collect();
        for (k, (c, _)) in self.plan.clearances.iter().enumerate() {
            let mut row = vec![format!("clearance of {}", c.joint), number(c.radius)];
            row.extend((0..self.own).map(|m| self.linear[m].as_ref().map_or("-".into(), |l| format!("+- {}", number(l.clearances[k])))));
            rows.push(row);
        }
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let right: Vec<usize> = (1..head.len()).collect();
        format!("\n{}", table(&head, &rows, &right))
    }

    fn fields(&self) -> Value {
        let mut measures = Map::new();
        for m in 0..self.own {
            let by_name = |values: &[f64]| -> Map<String, Value> {
                self.plan.parameters.iter().zip(values).map(|(p, x)| (p.name.clone(), json!(x))).collect()
            };
            let linear = self.linear[m].as_ref().map(|l| {
                let clearances: Map<String, Value> =
                    self.plan.clearances.iter().zip(&l.clearances).map(|((c, _), x)| (c.joint.clone(), json!(x))).collect();
                json!({"sigma": l.sigma, "worst_case": l.worst, "slopes": by_name(&l.slopes), "shares": by_name(&l.shares), "clearance": l.clearance, "clearances": clearances})
            });
            let samples = self.sampled[m].as_ref().map(|s| {
                json!({"count": s.count, "mean": s.mean, "mean_error": s.mean_error, "sigma": s.sigma, "sigma_error": s.sigma_error, "least": s.ends[0], "most": s.ends[1],
                    "quantiles": {"0.00135": s.quantiles[0], "0.5": s.quantiles[1], "0.99865": s.quantiles[2]}})
            });
            let (name, text) = &self.subject.measures[m];
            measures.insert(
                name.clone(),
                json!({"text": text, "unit": self.subject.units[m], "nominal": self.nominal.measures[m], "linear": linear, "samples": samples}),
            );
        }
        let share =
            |y: &Yield| json!({"good": y.good, "count": y.count, "share": y.good as f64 / y.count.max(1) as f64, "interval": y.interval});
        let failures: Vec<Value> =
            self.failures().into_iter().map(|(n, words, names)| json!({"count": n, "words": words, "names": names})).collect();
        json!({
            "file": self.subject.input.name, "title": self.subject.title(), "hash": self.subject.input.loaded.hash, "seed": self.args.seed,
            "samples": self.samples.len(), "assembled": share(&self.assembled), "yield": share(&self.good), "conditions": self.args.keep,
            "failures": failures, "slopes": if self.exact { "derivatives" } else { "differences" }, "measures": measures,
        })
    }

    /// The samples as a table.
    fn csv(&self) -> Vec<u8> {
        let mut names = vec!["sample".to_string()];
        names.extend(self.plan.parameters.iter().map(|p| format!("set.{}", p.name)));
        names.extend(["status".into(), "code".into()]);
        names.extend(self.subject.measures.iter().map(|m| m.0.clone()));
        let mut out = format!("{}\n", names.join(",")).into_bytes();
        for (k, o) in &self.samples {
            out.extend(k.to_string().into_bytes());
            let mut cell = |x: f64| {
                out.push(b',');
                if x.is_finite() {
                    csv_number(x, &mut out);
                }
            };
            self.plan.case(k + self.plan.first_sample()).values.iter().for_each(|x| cell(*x));
            out.extend(format!(",{},{}", o.status.word(), o.problem.as_ref().map_or("", |d| d.code.0)).into_bytes());
            for x in &o.measures {
                out.push(b',');
                if x.is_finite() {
                    csv_number(*x, &mut out);
                }
            }
            out.push(b'\n');
        }
        out
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        let mut list = Vec::new();
        if !self.samples.is_empty() && self.assembled.good == 0 {
            let why = self.failures().into_iter().next().map_or(String::new(), |(_, words, _)| words);
            list.push(Diagnostic::new("S440", format!("none of {} samples could be computed: {why}", self.samples.len())));
        }
        for m in 0..self.own {
            let name = &self.subject.measures[m].0;
            let (Some(l), s) = (&self.linear[m], &self.sampled[m]) else { continue };
            if let Some((k, bend)) = l.kink.filter(|(k, bend)| *bend > KINK && l.shares[*k] > 0.05) {
                let message = format!(
                    "`{name}` has a kink at the nominal value of `{}`: its slopes on the two sides differ by {:.0} %",
                    self.plan.parameters[k].name,
                    100.0 * bend.min(2.0)
                );
                list.push(
                    Diagnostic::new("W444", message).name(&self.plan.parameters[k].name).help("trust the samples, not the linear stack-up"),
                );
            } else if let Some(s) = s
                && l.sigma > 0.0
            {
                let (apart, moved) = ((s.sigma - l.sigma).abs(), (s.mean - self.nominal.measures[m]).abs());
                let differ = apart > (APART * l.sigma).max(3.0 * s.sigma_error);
                let shifted = moved > (APART * l.sigma).max(3.0 * s.mean_error);
                if differ || shifted {
                    let message = format!(
                        "`{name}`: sigma is {} by the slopes and {} by the samples, whose mean lies {} off the nominal value",
                        number(l.sigma),
                        number(s.sigma),
                        number(moved)
                    );
                    list.push(Diagnostic::new("W442", message).help("trust the samples: the measure is not linear within the tolerances"));
                }
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number is printed to within a hundredth of the spread.
    #[test]
    fn digits_follow_the_spread() {
        let mut random = fourbar::random::Random(20_261_122);
        for _ in 0..2000 {
            let x = random.number() * 10f64.powf(4.0 * random.number());
            let sigma = x.abs() * 10f64.powf(-4.0 + 3.0 * random.number());
            let shown = resolved(x, sigma);
            let back: f64 = shown.parse().unwrap_or_else(|_| panic!("{shown}"));
            assert!((back - x).abs() <= 0.01 * sigma + 1e-4 * sigma, "{x} +- {sigma} is shown as {shown}");
        }
        assert_eq!(resolved(0.123456789, 1e-6), "0.12345679");
    }
}
