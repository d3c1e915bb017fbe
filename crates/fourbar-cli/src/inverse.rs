//! `fourbar inverse`: angles, speeds, efforts and powers of motors for a prescribed motion.

use crate::args::InverseArgs;
use crate::input::{Input, drawn};
use crate::reply::{Reply, Stop};
use crate::screen::{Facts, Screen, names, number, table};
use crate::view::{self, Wanted, page_of};
use fourbar::Diagnostic;
use fourbar::study::{Changes, Study};
use fourbar_design::inverse::{Inverse, Request, forward, inverse as inverse_of};
use fourbar_design::sizing::{Course, Sizing, sizing};
use fourbar_io::disk::{Kind, may_replace};
use fourbar_io::page::{RunSummary, Shown};
use fourbar_io::results::{Claim, CsvWriter, PAGE, ResultFolder, SUMMARY, TRAJECTORY, Table, inspect};
use serde_json::{Map, Value, json};

/// Runs the verb.
pub fn inverse(args: &InverseArgs, screen: &Screen) -> Result<Reply, Stop> {
    let input = drawn(&args.model)?;
    let path = args.out.as_ref().map_or_else(|| page_of(&input.name), |f| f.join(PAGE));
    let page = args.view.then_some(Wanted { path, force: args.force, open: !args.no_open, live: crate::view::Live::No });
    let claim = Claim {
        file: &input.name,
        hash: &input.loaded.hash,
        text: input.loaded.places.source(),
        model: &input.model,
        data: &input.loaded.data,
        folder: input.folder.as_deref(),
        page: page.is_some() && args.out.is_some(),
        force: args.force,
    };
    if let Some(folder) = &args.out {
        inspect(folder, &claim)?;
    } else if let Some(page) = &page {
        may_replace(&page.path, Kind::Page, args.force)?;
    }
    let request = request(&input, args)?;
    let found = inverse_of(&input.loaded.spec, &request).map_err(|e| input.stop(e.cause()))?;
    let sizes: Vec<Sizing> = (0..found.motors.len()).map(|k| size(&found, k, args.window)).collect();
    let mut warnings: Vec<Diagnostic> = input.loaded.warnings.iter().chain(&found.warnings).cloned().collect();
    warnings.extend(overloaded(&found, &sizes));
    let mut text = words(&input, &found, &sizes, screen);
    let mut fields = fields(&input, args, &found, &sizes, &request.study);
    if args.forward {
        let (_, off, t) = forward(&found, &request.study).map_err(|e| input.stop(e.cause()))?;
        let mut facts = Facts::new(12);
        facts.add("forward", &format!("driven by these efforts, linear between rows, it leaves the path by at most {} m", number(off)));
        text += &facts.text;
        fields["forward"] = json!({"largest_distance": off, "t": t});
        if off > 1e-2 * found.model.length {
            let message = format!("driven forward by the efforts, the mechanism is {} m off its path at t = {} s", number(off), number(t));
            let help = "without a controller small errors grow; a smaller `--output-step` makes them smaller";
            warnings.push(Diagnostic::new("W426", message).time(t).help(help));
        }
    }
    fields["diagnostics"] = json!(warnings);
    if let Some(folder) = &args.out {
        let mut result = ResultFolder::open(folder, &claim)?;
        let run = &found.run;
        let written = CsvWriter::create(&result.rows(), &run.columns, (0..run.columns.len()).collect()).and_then(|mut w| {
            (0..run.len()).try_for_each(|k| w.row(&run.row(k)))?;
            w.flush()
        });
        written.inspect_err(|_| result.abandon())?;
        result.finish(&fields, true, false)?;
        text += &format!(
            "\nwritten: {} ({} rows, {} columns), {SUMMARY}; `fourbar report {}` makes a page of the motors\n",
            folder.join(TRAJECTORY).display(),
            run.len(),
            run.columns.len(),
            folder.display()
        );
    }
    if let Some(wanted) = &page {
        let rows = Table::from(&found.run);
        let summary = RunSummary { analysis: "inverse".into(), ..RunSummary::default() };
        let shown = [Shown { label: view::stem(&input.name), table: &rows, summary: &summary }];
        let written = view::write(&input, &shown, wanted, screen).map_err(|d| input.stop(&d))?;
        text += &format!("\n{}", written.text);
        fields["page"] = written.path.into();
        warnings.extend(written.warnings);
    }
    let mut reply = Reply::new(text, fields);
    reply.fields.shift_remove("fourbar");
    reply.fields.shift_remove("diagnostics");
    reply.notes = input.notes(&warnings);
    Ok(reply)
}

fn request(input: &Input, args: &InverseArgs) -> Result<Request, Diagnostic> {
    let changes = Changes { t_end: args.t_end, output_step: args.output_step, mode: args.mode, ..Changes::default() };
    let study = Study::with(&input.model, &changes);
    let weight = |(name, text): &(String, String)| match text.trim().parse::<f64>() {
        Ok(x) => Ok((name.clone(), x)),
        Err(_) => Err(Diagnostic::new("U411", format!("the weight `{text}` of `{name}` is not a number")).name(name)),
    };
    let weights = args.weights.iter().map(weight).collect::<Result<_, _>>()?;
    Ok(Request { path: args.path.clone(), motors: args.motors.clone(), weights, study })
}

/// Sizing of one motor.
pub fn size(found: &Inverse, k: usize, window: Option<f64>) -> Sizing {
    let t = found.run.column("t").unwrap_or(&[]);
    let course = Course { t, speed: found.of(k, "speed"), effort: found.of(k, "effort") };
    sizing(&course, Some(&found.motors[k].spec), Some(found.of(k, "acceleration")), window)
}

/// Warnings for motors that are loaded beyond their limits.
fn overloaded(found: &Inverse, sizes: &[Sizing]) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    for (m, s) in found.motors.iter().zip(sizes) {
        if let Some(limit) = m.spec.limit.filter(|l| s.peak > l * (1.0 + 1e-9)) {
            let message = format!(
                "`{}` needs {} {} at t = {} s, beyond its limit of {}",
                m.name,
                number(s.peak),
                m.unit(),
                number(s.peak_time),
                number(limit)
            );
            list.push(
                Diagnostic::new("W422", message)
                    .name(&m.name)
                    .time(s.peak_time)
                    .help("take a larger motor, or travel the path more slowly"),
            );
        }
        if let Some(rated) = m.spec.rated.filter(|r| s.rms > *r) {
            let message =
                format!("`{}` needs {} {} in the root mean square, beyond its rated {}", m.name, number(s.rms), m.unit(), number(rated));
            list.push(Diagnostic::new("W422", message).name(&m.name).help("take a larger motor, or pause between the motions"));
        }
    }
    list
}

fn words(input: &Input, found: &Inverse, sizes: &[Sizing], screen: &Screen) -> String {
    let title = if input.model.title.is_empty() { &input.name } else { &input.model.title };
    let mut facts = Facts::new(12);
    facts.text = format!("{}\n\n", screen.bold(title));
    let others: Vec<&str> = input.loaded.spec.paths.iter().map(|p| p.0.as_str()).filter(|n| *n != found.path).collect();
    let what = match (found.path.is_empty(), others.as_slice()) {
        (true, _) => "the drives of the file".to_string(),
        (false, []) => format!("the path `{}`", found.path),
        (false, others) => format!("the path `{}`; there are also {}", found.path, names(others)),
    };
    facts.add("prescribed", &what);
    let list: Vec<&str> = found.motors.iter().map(|m| m.name.as_str()).collect();
    let motors = found.motors.len();
    let shared: Vec<&str> = found.motors.iter().zip(&found.unique).filter(|(_, u)| !**u).map(|(m, _)| m.name.as_str()).collect();
    let enough = match motors.cmp(&found.freedom) {
        std::cmp::Ordering::Greater => format!("{motors} for {} free motions: they share the load", found.freedom),
        std::cmp::Ordering::Equal => format!("as many as free motions, {motors}"),
        std::cmp::Ordering::Less => format!("{motors} for {} free motions, which suffices on this path", found.freedom),
    };
    facts.add("motors", &format!("{}; {enough}", names(&list)));
    if !shared.is_empty() {
        let how = "the smallest weighted squares are given; any preload of the motors against each other could be added";
        facts.add("not unique", &format!("efforts of {}: {how}", names(&shared)));
    }
    let t = found.run.column("t").and_then(|t| t.last().copied()).unwrap_or(0.0);
    facts.add("time", &format!("0 to {} s, {} rows", number(t), found.run.len()));
    facts.add("check", &format!("the efforts cause the accelerations of the path to {} of the largest", number(found.error)));
    let mut near =
        format!("effect of the motors on the free motions at least {} (t = {} s)", number(found.grip.share), number(found.grip.t));
    if let Some(r) = found.reach {
        near += &format!("; effect of the joints on the point at least {} (t = {} s)", number(r.share), number(r.t));
    }
    facts.add("singular", &format!("{near}; on a scale from 0, a singular position, to 1"));
    let net: f64 = sizes.iter().map(|s| s.energy_in - s.energy_back).sum();
    facts.add("net work", &format!("{} J", number(net)));
    let mut text = facts.text;
    let rows: Vec<Vec<String>> = found
        .motors
        .iter()
        .zip(sizes)
        .map(|(m, s)| {
            let cells = [s.peak, s.rms, s.peak_speed, s.peak_power, s.least_power, s.energy_in, s.energy_back].map(number);
            std::iter::once(format!("{} [{}]", m.name, m.unit())).chain(cells).collect()
        })
        .collect();
    let head = ["motor", "peak effort", "rms", "peak speed", "power [W]", "fed back [W]", "energy in [J]", "back [J]"];
    text += &format!("\n{}", table(&head, &rows, &[1, 2, 3, 4, 5, 6, 7]));
    let mut more = Facts::new(12);
    for (m, s) in found.motors.iter().zip(sizes) {
        if let Some(w) = s.window_rms {
            more.add(&m.name, &format!("rms over the worst window {} {}", number(w), m.unit()));
        }
        if let Some(r) = s.rotor.filter(|_| m.spec.inertia > 0.0) {
            let best = r.best_ratio.map_or(String::new(), |b| format!("; the gear ratio for the least torque is {}", number(b)));
            let text = format!(
                "rotor: torque at most {} N*m, rms {} N*m, speed at most {} rad/s, reflected inertia {} {}{best}",
                number(r.peak),
                number(r.rms),
                number(r.peak_speed),
                number(r.reflected),
                if m.angular { "kg*m^2" } else { "kg" }
            );
            more.add(&m.name, &text);
        }
    }
    if more.text.is_empty() { text } else { text + "\n" + &more.text }
}

fn fields(input: &Input, args: &InverseArgs, found: &Inverse, sizes: &[Sizing], study: &Study) -> Value {
    let units: Map<String, Value> = found.run.columns.iter().map(|c| (c.name.clone(), json!(c.unit))).collect();
    let motors: Vec<Value> = found
        .motors
        .iter()
        .zip(sizes)
        .zip(&found.unique)
        .map(|((m, s), unique)| {
            let columns = |what: &str| found.run.column(&format!("{}.{what}", m.name));
            json!({
                "name": m.name, "joint": m.spec.joint, "unit": m.unit(), "unique": unique, "motor": m.spec, "sizing": s,
                "position": columns(if m.angular { "angle" } else { "distance" }), "speed": columns("speed"),
                "effort": columns("effort"), "power": columns("power"),
            })
        })
        .collect();
    let set: Map<String, Value> = args.model.set.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
    let nearest = |n: &fourbar_design::inverse::Nearest| json!({"share": n.share, "t": n.t});
    json!({
        "fourbar": env!("CARGO_PKG_VERSION"), "file": input.name, "title": input.model.title, "hash": input.loaded.hash, "set": set,
        "complete": true, "analysis": "inverse", "path": found.path, "freedom": found.freedom, "t_end": study.t_end,
        "rows": found.run.len(), "t": found.run.column("t"), "motors": motors, "error": found.error,
        "grip": nearest(&found.grip), "reach": found.reach.as_ref().map(nearest), "units": units,
    })
}
