//! How reliably assembly closes rough starts of the shipped models, and how near the resulting poses of parallel robots are.

use crate::root;
use fourbar::analysis::assembly::{Options, assemble, assemble_from, flipped_joint};
use fourbar::constraint::ConstraintSet;
use fourbar::random::Random;
use fourbar::{Configuration, Model};
use fourbar_bench::shipped;
use fourbar_testing::robot::{self, FAMILIES};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

/// A model that has used this many seconds gets no further starts; the table shows how many it had.
const PATIENCE: f64 = 60.0;

/// Numbers of starts per model, and of robots.
fn wanted(arguments: &[String]) -> Result<(usize, u64), String> {
    let mut wanted = (1000, 200);
    for pair in arguments.chunks(2) {
        match pair {
            [key, n] if key == "--starts" => {
                wanted.0 = n.parse().ok().filter(|n| *n > 0).ok_or_else(|| format!("`{n}` is not a number of starts"))?;
            }
            [key, n] if key == "--robots" => wanted.1 = n.parse().map_err(|_| format!("`{n}` is not a number of robots"))?,
            _ => return Err("usage: cargo xtask study assembly [--starts N] [--robots N]".into()),
        }
    }
    Ok(wanted)
}

/// Results for the robots of one family.
#[derive(Clone, Default)]
struct Robots {
    closed: usize,
    refused: usize,
    looked: usize,
    nearer: usize,
    others: usize,
    /// Largest distance of the resulting pose, relative to the best of the random starts.
    worst: f64,
    seconds: [f64; 2],
}

/// The resulting poses of random parallel robots, compared with the best of many random starts.
fn robots(number: u64) -> Result<String, String> {
    let mut families = vec![Robots::default(); FAMILIES.len()];
    let mut wrong = Vec::new();
    for seed in 1..=number {
        let f = &mut families[seed as usize % FAMILIES.len()];
        match robot::compare(seed, Options::default())? {
            Some(c) => {
                f.closed += 1;
                f.looked += usize::from(c.starts > 0);
                f.nearer += usize::from(c.taken < 0.95 * c.plain);
                f.others += usize::from(c.other);
                f.worst = f.worst.max((c.taken + 1e-9) / (c.best + 1e-9));
                f.seconds = [f.seconds[0] + c.seconds[0], f.seconds[1] + c.seconds[1]];
                if c.taken > 1.05 * c.best + 1e-9 {
                    wrong.push(format!("seed {seed}: {:.4} L taken, {:.4} L found at random", c.taken, c.best));
                }
            }
            None => f.refused += 1,
        }
    }
    let mut text = format!(
        "\n## The nearest of several poses\n\n\
         {number} parallel robots (seeds 1 to {number}), drawn off by 1 to 30 % of their size; the pose taken against the best of {} random starts about the drawing, each \
         assembled by the plain walk. {} of them were more than 5 % further than that.\n\n\
         | family | closed | cannot close | looked from other starts | nearer by 5 % than the plain walk | another pose close by | largest ratio to the best random start | \
         ms of the walk | ms of the search |\n|---|---|---|---|---|---|---|---|---|\n",
        robot::STARTS,
        wrong.len()
    );
    for (name, f) in FAMILIES.iter().zip(&families) {
        let mean = f.seconds.map(|s| 1e3 * s / f.closed.max(1) as f64);
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {:.3} | {:.2} | {:.2} |",
            f.closed, f.refused, f.looked, f.nearer, f.others, f.worst, mean[0], mean[1]
        );
    }
    for w in &wrong {
        let _ = writeln!(text, "\n{w}");
    }
    println!("{text}");
    Ok(text)
}

/// Results for the starts of one model.
#[derive(Default)]
struct Tally {
    starts: usize,
    closed: usize,
    iterations: Vec<usize>,
    /// Failures by message without its numbers, and one message in full.
    reasons: BTreeMap<String, (usize, String)>,
    seconds: f64,
}

/// Names of the shipped models.
pub fn names() -> Result<Vec<String>, String> {
    let mut names: Vec<String> = std::fs::read_dir(root().join("models"))
        .map_err(|e| format!("models: {e}"))?
        .filter_map(|e| Some(e.ok()?.file_name().to_str()?.strip_suffix(".yaml")?.to_string()))
        .collect();
    names.sort();
    Ok(names)
}

/// Rough starts of every shipped model.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (wanted, number) = wanted(arguments)?;
    let names = names()?;
    let mut rows = String::new();
    let mut reasons = String::new();
    let mut totals = [0; 3];
    for name in &names {
        let model = shipped(name);
        let tally = tally(&model, wanted).map_err(|why| format!("{name}: {why}"))?;
        let refused = tally.starts - tally.closed;
        let (mean, worst) = (
            tally.iterations.iter().sum::<usize>() as f64 / tally.iterations.len().max(1) as f64,
            tally.iterations.iter().max().copied().unwrap_or(0),
        );
        let row = format!(
            "| {name} | {} | {} | {} | {refused} | {mean:.1} | {worst} | {:.2} |",
            model.moving(),
            tally.starts,
            tally.closed,
            1e3 * tally.seconds / tally.starts as f64
        );
        println!("{row}");
        let _ = writeln!(rows, "{row}");
        for (reason, (times, example)) in &tally.reasons {
            let _ = writeln!(reasons, "| {name} | {times} | {reason} | {example} |");
        }
        for (t, x) in totals.iter_mut().zip([tally.starts, tally.closed, refused]) {
            *t += x;
        }
    }
    let [starts, closed, refused] = totals;
    if reasons.is_empty() {
        reasons.push_str("| none | 0 | | |\n");
    }
    let text = format!(
        "# Assembly from rough starts\n\n\
         Every body of every shipped model is moved from its assembled place by up to 20 % of the characteristic length along each axis \
         and turned by up to 30 degrees about each axis, at random with a fixed seed; then the mechanism is assembled with its drives \
         at t = 0, by the walk from this start alone. `cargo xtask study assembly --starts {wanted}` wrote this page; \
         a model gets no further starts after {PATIENCE:.0} s.\n\n\
         Of {starts} starts {closed} closed and {refused} were refused with a reason. Each closed one was checked again: largest residual below \
         1e-9 times (1 m + characteristic length), no joint with opposed axes; a start that failed this check would have ended the study.\n\n\
         Iterations are those of Levenberg-Marquardt in both phases, restarts included; the walk to the nearest closed pose that \
         follows is in the time alone. Times are wall times of one run on a shared machine.\n\n\
         | model | moving bodies | starts | closed | refused | iterations, mean | worst | ms per start |\n\
         |---|---|---|---|---|---|---|---|\n{rows}\n\
         ## Refusals\n\n\
         | model | times | reason | for instance |\n|---|---|---|---|\n{reasons}"
    );
    let text = text + &robots(number)?;
    let path = root().join("docs/studies/assembly.md");
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("{starts} starts, {closed} closed, {refused} refused; docs/studies/assembly.md is written");
    Ok(())
}

fn tally(model: &Model, wanted: usize) -> Result<Tally, String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let held = vec![false; model.bodies.len()];
    let mut random = Random(0x0bad_cafe_1234_5678);
    let mut t = Tally::default();
    let clock = Instant::now();
    for k in 0..wanted {
        let mut rough = start.clone();
        random.disturb(&mut rough.q, &held, 0.2 * model.length, 30f64.to_radians());
        match assemble_from(model, &rough, Options { starts: 0, ..Options::default() }) {
            Ok(a) => {
                check(model, &a.configuration).map_err(|why| format!("start {k}: {why}"))?;
                t.closed += 1;
                t.iterations.push(a.iterations);
            }
            Err(d) => {
                let what = d.message.split(['`', '(']).next().unwrap_or_default().trim();
                let entry = t.reasons.entry(format!("{}: {what}", d.code.0)).or_insert((0, d.message.clone()));
                entry.0 += 1;
            }
        }
        t.starts = k + 1;
        if clock.elapsed().as_secs_f64() > PATIENCE {
            break;
        }
    }
    t.seconds = clock.elapsed().as_secs_f64();
    Ok(t)
}

/// Checks that a configuration that assembly reports as closed is closed.
#[allow(non_snake_case)]
fn check(model: &Model, c: &Configuration) -> Result<(), String> {
    let set = ConstraintSet::new(model.constraints(true), |_| false);
    let mut Phi = vec![0.0; set.rows()];
    set.residual(&c.q, &c.turns, 0.0, &mut Phi);
    let worst = Phi.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    // Assembly guarantees 1e-9 of the extent; one metre covers models whose links are short relative to their extent.
    if worst.is_nan() || worst > 1e-9 * (1.0 + model.length) {
        return Err(format!("called closed with a residual of {worst:.2e}"));
    }
    match flipped_joint(model, &c.q) {
        Some(k) => Err(format!("called closed with the axes of `{}` opposed", model.joints[k].name)),
        None => Ok(()),
    }
}
