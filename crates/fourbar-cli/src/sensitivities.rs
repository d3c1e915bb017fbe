//! `fourbar sensitivities`: parameters ranked by their effect.

mod asked;
mod chart;

use crate::args::SensitivitiesArgs;
use crate::input::{Input, load};
use crate::reply::{Reply, Stop};
use crate::screen::{Facts, Screen, number, table};
use asked::{Asked, asked};
use fourbar::diagnostic::nearest;
use fourbar::study::{Changes, Study};
use fourbar::trajectory::Column;
use fourbar::{Diagnostic, Error, Model};
use fourbar_design::equilibrium::{Options, start_settled};
use fourbar_design::measure::Measure;
use fourbar_design::sensitivities::{
    Against, Derivative, OfMany, OfMeasures, Parameters, are_many, compared, compared_at, of_many, of_measures, of_modes, of_rest,
    of_start, rest_near,
};
use fourbar_io::Variations;
use fourbar_io::disk::{Kind, may_replace, write_kind};
use fourbar_io::studies::{self, names_parameters};
use serde_json::{Value, json};

/// One answer: derivatives with their parameters.
pub struct Answer {
    /// The derivatives.
    pub d: Derivative,
    /// Parameters and their values.
    pub parameters: Vec<(String, f64)>,
    /// Method by which they were computed.
    pub how: String,
    /// Derivatives by central differences, if requested.
    pub by_runs: Option<Vec<f64>>,
    /// Seconds of the run alone and with its derivatives, if there was a run.
    pub seconds: Option<[f64; 2]>,
}

impl Answer {
    /// Change of the value for one per cent of a parameter (for 0.01 if the parameter is zero).
    fn effect(&self, k: usize) -> f64 {
        let p = self.parameters[k].1;
        0.01 * self.d.slopes[k] * if p == 0.0 { 1.0 } else { p }
    }

    /// Parameters, the most influential first.
    pub fn ranked(&self) -> Vec<(usize, f64)> {
        let mut list: Vec<(usize, f64)> = (0..self.parameters.len()).map(|k| (k, self.effect(k))).collect();
        list.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        list
    }
}

/// Parameter values for building the file; parameters computed from them follow.
fn changed<'a>(file: &'a Variations, values: &[f64]) -> Vec<(&'a str, f64)> {
    let all = file.parameters().iter().zip(values);
    all.filter(|((_, was, _), x)| was != *x).map(|((name, ..), x)| (name.as_str(), *x)).collect()
}

fn builder(file: &Variations, settle: bool) -> impl Fn(&[f64]) -> Result<Model, Error> + '_ {
    move |values: &[f64]| {
        let model = file.model(&changed(file, values))?;
        if settle && model.settle { Ok(start_settled(model)?.0) } else { Ok(model) }
    }
}

/// Runs the verb.
pub fn sensitivities(args: &SensitivitiesArgs, screen: &Screen) -> Result<Reply, Stop> {
    if let Some(path) = &args.output {
        may_replace(path, if path.extension().is_some_and(|e| e == "svg") { Kind::Picture } else { Kind::Other }, args.force)?;
    }
    let input = load(&args.model)?;
    if args.model.file == "-" {
        let d = Diagnostic::new("U412", "a mechanism from standard input is read once and cannot be varied");
        return Err(input.stop(&d.help("save it to a file")));
    }
    let all = asked(&args.of)?;
    let computed = &input.loaded.computed_parameters;
    let (which, explicit) = parameters(&input, args, computed).map_err(|d| input.stop(&d))?;
    let changes = Changes { t_end: args.t_end, output_step: args.output_step, tol: args.tol, ..Changes::default() };
    let study = Study::with(&input.model, &changes);
    let mut warnings: Vec<Diagnostic> = input.loaded.warnings.clone();
    let answers = answers(args, &input, &all, which, explicit, computed, &study, &mut warnings).map_err(|e| input.stop(e.cause()))?;
    let mut text = format!("{}\n", screen.bold(if input.model.title.is_empty() { &input.name } else { &input.model.title }));
    answers.iter().for_each(|a| text += &words(a, screen));
    let mut fields = json!({
        "file": input.name, "title": input.model.title, "hash": input.loaded.hash,
        "outputs": answers.iter().map(object).collect::<Vec<_>>(),
    });
    if let Some(path) = &args.output {
        let picture = path.extension().is_some_and(|e| e == "svg");
        let (bytes, kind) = if picture { (chart::svg(&answers), Kind::Picture) } else { (chart::csv(&answers), Kind::Other) };
        write_kind(path, bytes.as_bytes(), kind, args.force)?;
        text += &format!("\n{} is written\n", path.display());
        fields["written"] = json!(path.display().to_string());
    }
    let mut reply = Reply::new(text, fields);
    reply.notes = input.notes(&warnings);
    Ok(reply)
}

/// The requested parameters, and whether they were named explicitly.
fn parameters(input: &Input, args: &SensitivitiesArgs, computed: &[String]) -> Result<(Vec<String>, bool), Diagnostic> {
    let known = &input.loaded.parameters;
    if known.is_empty() {
        let d = Diagnostic::new("U412", "the file has no parameters");
        return Err(d.help("give numbers names under `parameters:` and use them in place of the numbers"));
    }
    let mut to: Vec<String> = Vec::new();
    for name in args.to.iter().map(|n| n.trim()) {
        if !to.iter().any(|t| t == name) {
            to.push(name.to_string());
        }
    }
    for name in &to {
        if !known.iter().any(|p| p.0 == *name) {
            let help = nearest(name, known.iter().map(|p| p.0.as_str()))
                .map_or_else(|| "parameters are declared under `parameters:`".into(), |n| format!("did you mean `{n}`?"));
            return Err(Diagnostic::new("U412", format!("there is no parameter `{name}`")).name(name).help(help));
        }
    }
    if to.is_empty() {
        // Unused parameters have no effect, and computed ones follow others.
        let read = |name: &String| {
            let one = [(name.clone(), 0.0, None)];
            !input.loaded.unused_parameters.contains(name) || args.of.iter().any(|text| names_parameters(text, &[], &one))
        };
        let used = known.iter().filter(|p| read(&p.0) && !computed.contains(&p.0));
        return Ok((used.map(|p| p.0.clone()).collect(), false));
    }
    Ok((to, true))
}

/// All requested derivatives. Parameters that were not named and cannot be varied are omitted with a warning.
fn answers(
    args: &SensitivitiesArgs,
    input: &Input,
    all: &[Asked],
    mut which: Vec<String>,
    explicit: bool,
    computed: &[String],
    study: &Study,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<Answer>, Error> {
    loop {
        let mut said = Vec::new();
        match attempt(args, input, all, &which, computed, study, &mut said) {
            Err(e) if !explicit && matches!(e.cause().code.0, "S430" | "S432") => {
                let cause = e.cause().clone();
                let Some(k) = cause.names.first().and_then(|n| which.iter().position(|w| w == n)) else { return Err(e) };
                let left = which.remove(k);
                if which.is_empty() {
                    return Err(e);
                }
                let message = format!("`{left}` is left out: {}", cause.message);
                warnings.push(Diagnostic::new("W427", message).name(&left).help(cause.help));
            }
            Err(e) => return Err(e),
            Ok(list) => {
                warnings.extend(said);
                return Ok(list);
            }
        }
    }
}

fn attempt(
    args: &SensitivitiesArgs,
    input: &Input,
    all: &[Asked],
    which: &[String],
    computed: &[String],
    study: &Study,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<Answer>, Error> {
    // All parameters of the file are passed, so that partners can be found; values stay as read.
    let file = Variations::new(&input.loaded, input.path.as_deref(), &args.model.set, args.model.large)?;
    let known = file.parameters();
    let (names, values): (Vec<String>, Vec<f64>) = known.iter().map(|(n, x, _)| (n.clone(), *x)).unzip();
    let (settled, drawn) = (builder(&file, true), builder(&file, false));
    let places: Vec<usize> = which.iter().filter_map(|n| names.iter().position(|k| k == n)).collect();
    let here: Vec<(String, f64)> = places.iter().map(|&k| (names[k].clone(), values[k])).collect();
    let measure = |text: &str, columns: &[Column]| studies::measure(text, columns, &input.model.curves, known);
    let moving = Parameters::new(names.clone(), values.clone(), &settled).with_computed(computed);
    let resting = Parameters::new(names, values, &drawn).with_computed(computed);
    let options = Options::default();
    let texts: Vec<&String> = all.iter().filter_map(|a| if let Asked::Measure(text) = a { Some(text) } else { None }).collect();
    let named = texts.iter().any(|t| names_parameters(t, &input.model.curves, known));
    let read = |columns: &[Column], values: &[f64]| -> Result<Vec<Measure>, Error> {
        let changed = changed(&file, values);
        if changed.is_empty() || !named {
            return Ok(texts.iter().map(|t| measure(t, columns)).collect::<Result<Vec<_>, Diagnostic>>()?);
        }
        let (model, parameters) = file.build(&changed)?;
        Ok(texts.iter().map(|t| studies::measure(t, columns, &model.curves, &parameters)).collect::<Result<Vec<_>, Diagnostic>>()?)
    };
    // For many parameters the adjoint method is used if possible.
    let many: Option<OfMany> = if are_many(places.len(), texts.len()) { of_many(&moving, study, &places, &read)? } else { None };
    let run: Option<OfMeasures> = (!texts.is_empty() && many.is_none()).then(|| of_measures(&moving, study, &places, &read)).transpose()?;
    let mut found = many.iter().flat_map(|m| &m.derivatives).chain(run.iter().flat_map(|r| &r.derivatives));
    warnings.extend(run.iter().flat_map(|r| r.run.warnings.iter().cloned()));
    warnings.extend(many.iter().flat_map(|m| m.warnings.iter().cloned()));
    let mut list = Vec::new();
    let sizes: Vec<f64> = here.iter().map(|(_, p)| if *p == 0.0 { 1.0 } else { p.abs() }).collect();
    let one_row = |of: &str, column: &str, columns: &fourbar::Trajectory, slopes: &[fourbar::Trajectory]| -> Result<Derivative, Error> {
        let m = measure(&format!("last({column})"), &columns.columns)?;
        let value = m.of(columns)?.value;
        let slopes = slopes.iter().map(|s| Ok(m.along(columns, s)?.value.c[1])).collect::<Result<Vec<f64>, Diagnostic>>()?;
        Ok(Derivative { of: of.into(), ..Derivative::solved(&m, columns, value, slopes, &sizes)? })
    };
    for a in all {
        let (d, how) = match a {
            Asked::Measure(_) => {
                let how = match (&many, &run) {
                    (Some(many), _) => {
                        let mega = number((many.kept as f64 / 1e6).ceil());
                        format!("{} (they are many); {mega} MB of states were kept", many.method.words())
                    }
                    (None, Some(run)) => run.run.method.words().to_string(),
                    (None, None) => continue,
                };
                let Some(d) = found.next() else { continue };
                (d.clone(), how)
            }
            Asked::Start(column) => {
                let s = of_start(&moving, &places)?;
                (one_row(&format!("start.{column}"), column, &s.columns, &s.slopes)?, "solved for at the assembled start".into())
            }
            Asked::Rest(column) => {
                let s = of_rest(&resting, &places, &options)?;
                (one_row(&format!("rest.{column}"), column, &s.columns, &s.slopes)?, "solved for at the equilibrium".into())
            }
            Asked::Mode(k, what) => {
                let s = of_modes(&resting, &places, &rest_near(&options))?;
                (
                    asked::of_mode(&s, *k, what, &sizes)?,
                    "exact linear models of six neighbouring mechanisms, at their own equilibria".into(),
                )
            }
        };
        let both = many.as_ref().map(|m| m.seconds).or(run.as_ref().map(|r| r.run.seconds));
        let seconds = both.filter(|_| matches!(a, Asked::Measure(_)));
        list.push(Answer { d, parameters: here.clone(), how, by_runs: None, seconds });
    }
    if args.check {
        let (places_of, derivatives): (Vec<usize>, Vec<Derivative>) =
            list.iter().enumerate().filter(|(k, _)| matches!(all[*k], Asked::Measure(_))).map(|(k, a)| (k, a.d.clone())).unzip();
        let mut checked: Vec<Option<Against>> = vec![None; list.len()];
        if !derivatives.is_empty() {
            let against = compared(&moving, study, &places, &read, &derivatives)?;
            places_of.iter().zip(against).for_each(|(k, c)| checked[*k] = Some(c));
        }
        // Quantities at a state are solved again at neighbouring parameter values.
        let none: [usize; 0] = [];
        for (k, a) in all.iter().enumerate() {
            let own = &list[k].d;
            let value = |column: &str, columns: &fourbar::Trajectory| one_row("", column, columns, &[]).map(|d| d.value);
            checked[k] = match a {
                Asked::Measure(_) => continue,
                Asked::Start(c) => Some(compared_at(&moving, &places, own, &|p| value(c, &of_start(p, &none)?.columns))?),
                Asked::Rest(c) => Some(compared_at(&resting, &places, own, &|p| value(c, &of_rest(p, &none, &options)?.columns))?),
                Asked::Mode(i, what) => Some(compared_at(&resting, &places, own, &|p| {
                    Ok(asked::of_mode(&of_modes(p, &none, &rest_near(&options))?, *i, what, &[])?.value)
                })?),
            };
        }
        for (a, against) in list.iter_mut().zip(checked) {
            let Some(against) = against else { continue };
            warnings.extend(against.disagree(&a.d).into_iter().map(|k| disagrees(a, &against, k)));
            a.by_runs = Some(against.by_runs);
        }
    }
    Ok(list)
}

/// A warning that a derivative differs from the differences.
fn disagrees(a: &Answer, against: &Against, k: usize) -> Diagnostic {
    let name = &a.parameters[k].0;
    let message = format!(
        "the derivative of `{}` by `{name}` is {}, and differences give {} with an error of about {:.0e}",
        a.d.of,
        number(a.d.slopes[k]),
        number(against.by_runs[k]),
        against.errors[k]
    );
    let help = "it has a kink or jumps there, or the motion is too sensitive for differences, or the derivative is wrong: check neighbouring values";
    Diagnostic::new("W428", message).name(name).help(help)
}

fn words(a: &Answer, screen: &Screen) -> String {
    let d = &a.d;
    let unit = if d.unit.is_empty() || d.unit == "1" { String::new() } else { format!(" {}", d.unit) };
    let mut text = format!("\n{} = {}{unit}\n", screen.bold(&d.of), number(d.value));
    let ranked = a.ranked();
    let mut facts = Facts::new(8);
    if let Some(&(k, effect)) = ranked.first() {
        let share = |x: f64| if d.value != 0.0 { format!(" ({} %)", number(100.0 * x / d.value.abs())) } else { String::new() };
        let name = &a.parameters[k].0;
        let first = if effect == 0.0 {
            "none of these parameters matters to first order".to_string()
        } else {
            format!("`{name}` matters most: 1 % more changes it by {}{unit}{}", number(effect), share(effect))
        };
        let idle: Vec<String> =
            ranked.iter().filter(|(_, e)| e.abs() < 1e-6 * effect.abs()).map(|(k, _)| format!("`{}`", a.parameters[*k].0)).collect();
        let rest = if idle.is_empty() || effect == 0.0 {
            String::new()
        } else {
            format!("; {} hardly matter{}", idle.join(", "), if idle.len() == 1 { "s" } else { "" })
        };
        facts.add("", &(first + &rest));
    }
    facts.add("found by", &a.how);
    if let Some([plain, whole]) = a.seconds {
        facts.add("cost", &format!("{} s, the run alone {} s", number(whole), number(plain)));
    }
    text += &facts.text;
    let top = ranked.first().map_or(1.0, |r| r.1.abs()).max(f64::MIN_POSITIVE);
    let mut head = vec!["parameter", "value", "derivative", "error", "per 1 %"];
    if a.by_runs.is_some() {
        head.push("by differences");
    }
    head.push("");
    let rows: Vec<Vec<String>> = ranked
        .iter()
        .map(|&(k, effect)| {
            let mut row = vec![
                a.parameters[k].0.clone(),
                number(a.parameters[k].1),
                number(d.slopes[k]),
                format!("{:.0e}", d.errors[k]),
                number(effect),
            ];
            row.extend(a.by_runs.iter().map(|b| number(b[k])));
            row.push(chart::bar(effect / top));
            row
        })
        .collect();
    text + &table(&head, &rows, &[1, 2, 3, 4, 5][..head.len() - 2])
}

fn object(a: &Answer) -> Value {
    let rows: Vec<Value> = a
        .ranked()
        .iter()
        .map(|&(k, effect)| {
            json!({
                "parameter": a.parameters[k].0, "value": a.parameters[k].1, "derivative": a.d.slopes[k], "error": a.d.errors[k],
                "per_cent": effect, "by_differences": a.by_runs.as_ref().map(|b| b[k]),
            })
        })
        .collect();
    json!({"of": a.d.of, "value": a.d.value, "unit": a.d.unit, "method": a.how, "seconds": a.seconds, "parameters": rows})
}
