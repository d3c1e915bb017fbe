//! `fourbar modes`: vibrations about an equilibrium or a steady motion, as text.

mod locus;

use crate::about::about;
use crate::args::ModesArgs;
use crate::input::{Input, load};
use crate::poses::moving_table;
use crate::reply::{Reply, Stop};
use crate::screen::{Facts, Screen, number, table};
use crate::view::{self, Live, Wanted};
use fourbar::Diagnostic;
use fourbar::study::count;
use fourbar_design::linear::{Request, linearize};
use fourbar_design::manifold::stepped;
use fourbar_design::modes::{Mode, Modes, floquet, lowest, modes as modes_of};
use fourbar_design::operator::fits;
use fourbar_io::disk::{Kind, may_replace};
use fourbar_io::page::{RunSummary, Shown};
use fourbar_io::results::Table;
use serde_json::{Value, json};
use std::f64::consts::TAU;
use std::path::Path;

/// Largest number of modes on a page.
const SHOWN: usize = 6;
/// Rows and duration (s) of an animated mode, its number of periods, and its amplitude in characteristic lengths.
const ROWS: usize = 121;
const SECONDS: f64 = 4.0;
const PERIODS: f64 = 2.0;
const SWING: f64 = 0.15;

/// Runs the verb.
pub fn modes(args: &ModesArgs, screen: &Screen) -> Result<Reply, Stop> {
    if let Some(path) = &args.output {
        may_replace(path, if args.against.is_some() { Kind::Other } else { Kind::Page }, args.force)?;
    }
    let input = load(&args.model)?;
    if let Some(against) = &args.against {
        return locus::locus(args, &input, against, screen);
    }
    let at = about(&input, &args.about).map_err(|d| input.stop(&d))?;
    let found = if let Some(period) = args.floquet {
        floquet(&input.model, &at.state, period).map_err(|e| input.stop(e.cause()))?
    } else if fits(&input.model).is_ok() {
        let request = Request { inputs: Some(Vec::new()), outputs: Some(Vec::new()), frozen: args.about.frozen };
        let linear = linearize(&input.model, &at.state, &request).map_err(|e| input.stop(e.cause()))?;
        modes_of(&input.model, linear).map_err(|d| input.stop(&d))?
    } else {
        lowest(&input.model, &at.state, args.count.into()).map_err(|e| input.stop(e.cause()))?
    };
    let about = match args.floquet {
        Some(period) => format!(
            "{} and on for a period of {} s; imaginary parts are known up to multiples of {} 1/s",
            at.words,
            number(period),
            number(TAU / period)
        ),
        None => at.words.clone(),
    };
    let mut text = words(&input, &found, &about, args.count.into(), screen);
    let mut warnings: Vec<Diagnostic> = input.loaded.warnings.iter().chain(&at.warnings).cloned().collect();
    for w in &found.warnings {
        if !warnings.contains(w) {
            warnings.push(w.clone());
        }
    }
    let mut fields = fields(&input, &found, &about, args.count.into());
    if let Some(period) = args.floquet {
        fields["period"] = json!(period);
    }
    if let Some(path) = &args.output {
        let w = page(&input, &found, path, args.force, screen).map_err(|d| input.stop(&d))?;
        text += &format!("\n{}", w.text);
        fields["page"] = w.path.into();
        warnings.extend(w.warnings);
    }
    let mut reply = Reply::new(text, fields);
    reply.notes = input.notes(&warnings);
    Ok(reply)
}

/// The name of a mechanism in headings.
fn title(input: &Input) -> &str {
    if input.model.title.is_empty() { &input.name } else { &input.model.title }
}

fn words(input: &Input, found: &Modes, about: &str, most: usize, screen: &Screen) -> String {
    let mut text = format!("{}\n\n", screen.bold(title(input)));
    let mut facts = Facts::new(12);
    facts.add("about", about);
    match found.freedom {
        Some([n, m]) if n != m => facts.add("states", &format!("{} ({n} of positions, {m} of velocities: something rolls)", found.states)),
        Some(_) => facts.add("states", &found.states.to_string()),
        None => facts.add("states", "too many for dense matrices: the modes nearest to zero frequency are given"),
    }
    if found.steady.moves() {
        let turning = found.steady.turning.norm();
        let spins: Vec<String> = input
            .model
            .bodies
            .iter()
            .zip(&found.steady.spin)
            .filter(|(_, s)| s.norm() > 0.0)
            .map(|(b, s)| format!("`{}` spins at {} rad/s", b.name, number(s.norm())))
            .collect();
        let whole = if turning > 0.0 { format!("the whole mechanism turns at {} rad/s; ", number(turning)) } else { String::new() };
        facts.add("steady", format!("{whole}{}", spins.join(", ")).trim_end_matches("; "));
    }
    if found.rigid > 0 {
        let list: Vec<String> = found.rigid_motions.iter().map(|m| format!("`{m}`")).collect();
        let what = if list.is_empty() { "rates that stay constant".to_string() } else { list.join(", ") };
        facts.add("rigid", &format!("{}: no force restores {what}", count(found.rigid, "zero eigenvalue")));
    }
    if found.idle > 0 {
        facts.add("idle", &format!("{} without inertia and stiffness left out", count(found.idle, "free motion")));
    }
    let verdict = match found.growing() {
        Some(m) => format!("unstable: {} grows, doubling every {} s", m.words, number(std::f64::consts::LN_2 / m.s.re)),
        None if found.list.is_empty() => "nothing vibrates".into(),
        None if found.list.iter().all(|m| m.damping > 1e-9) => "stable: every vibration fades".into(),
        None => "stable: nothing grows".into(),
    };
    facts.add("verdict", &verdict);
    text += &facts.text;
    let rows: Vec<Vec<String>> = found.list.iter().take(most).enumerate().map(|(k, m)| row(k, m)).collect();
    if !rows.is_empty() {
        text += &format!("\n{}", table(&["mode", "frequency [Hz]", "damping", "real [1/s]", "imaginary [1/s]"], &rows, &[0, 1, 2, 3, 4]));
        let mut shapes = Facts::new(3);
        for (k, m) in found.list.iter().take(most).enumerate() {
            let bodies: Vec<String> = m.energy.iter().take(3).map(|(b, e)| format!("{:.0} % `{b}`", 100.0 * e)).collect();
            let energy = if bodies.is_empty() { "spread over all bodies".into() } else { bodies.join(", ") };
            shapes.add(&format!("{:>4}", k + 1), &format!("{}; energy {energy}", m.words));
        }
        text += &format!("\n{}", shapes.text);
    }
    if found.list.len() > most {
        text += &format!("and {} more; `--count {}` shows all\n", found.list.len() - most, found.list.len());
    }
    text
}

fn row(k: usize, m: &Mode) -> Vec<String> {
    let frequency = if m.s.im > 0.0 { number(m.frequency) } else { String::new() };
    let damping = if m.s.im > 0.0 { number(if m.damping.abs() < 1e-12 { 0.0 } else { m.damping }) } else { String::new() };
    let real = if m.s.re.abs() < 1e-12 * m.omega { 0.0 } else { m.s.re };
    vec![(k + 1).to_string(), frequency, damping, number(real), number(m.s.im)]
}

fn fields(input: &Input, found: &Modes, about: &str, most: usize) -> Value {
    let spin: serde_json::Map<String, Value> = input
        .model
        .bodies
        .iter()
        .zip(&found.steady.spin)
        .filter(|(_, s)| s.norm() > 0.0)
        .map(|(b, s)| (b.name.clone(), json!(s.as_slice())))
        .collect();
    json!({
        "file": input.name, "title": input.model.title, "hash": input.loaded.hash, "about": about, "t": found.state.t,
        "states": found.states, "freedom": found.freedom, "idle": found.idle, "rigid": found.rigid, "rigid_motions": found.rigid_motions,
        "turning": found.steady.turning.as_slice(), "spin": spin, "stable": found.growing().is_none(),
        "count": found.list.len(), "modes": found.list.iter().take(most).collect::<Vec<_>>(),
    })
}

/// A page with the first modes animated.
fn page(input: &Input, found: &Modes, path: &Path, force: bool, screen: &Screen) -> Result<view::Written, Diagnostic> {
    if found.list.is_empty() {
        return Err(Diagnostic::new("U013", "nothing vibrates, so there is nothing to show").help("view the mechanism itself"));
    }
    let label = |m: &Mode| if m.s.im > 0.0 { format!("{} Hz", number(m.frequency)) } else { format!("{} 1/s", number(m.s.re)) };
    let tables: Vec<(String, Table, RunSummary)> = found
        .list
        .iter()
        .take(SHOWN)
        .enumerate()
        .map(|(k, m)| (format!("mode {}: {}", k + 1, label(m)), moving(input, found, m), RunSummary::default()))
        .collect();
    let shown: Vec<Shown<'_>> = tables.iter().map(|(label, table, summary)| Shown { label: label.clone(), table, summary }).collect();
    view::write(input, &shown, &Wanted { path: path.into(), force, open: false, live: Live::No }, screen)
}

/// The motion of a mode, scaled to be visible.
fn moving(input: &Input, found: &Modes, m: &Mode) -> Table {
    let length = input.model.length;
    let size = m.motion.iter().enumerate().fold(0.0_f64, |s, (k, x)| s.max(x.norm() * if k % 6 < 3 { 1.0 } else { length }));
    let scale = SWING * length / size.max(f64::MIN_POSITIVE);
    let instants = (0..ROWS).map(|k| {
        let share = k as f64 / (ROWS - 1) as f64;
        let turn = phase(TAU * PERIODS * share);
        let dq = m.motion.map(|x| scale * (x.re * turn.0 - x.im * turn.1));
        (SECONDS * share, stepped(&found.state, &dq).q)
    });
    moving_table(&input.model, instants)
}

/// Cosine and sine of the phase.
fn phase(x: f64) -> (f64, f64) {
    (x.cos(), x.sin())
}
