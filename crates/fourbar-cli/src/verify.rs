//! `fourbar verify`: every formulation that applies, one table, one verdict.

use crate::args::VerifyArgs;
use crate::input::load;
use crate::reply::{Reply, Stop};
use crate::screen::{Screen, number, table, wrapped};
use fourbar_check::verify::{Row, Settings, Verification, Word, verify as compare};
use fourbar_io::read_inputs;
use serde_json::json;
use std::io::IsTerminal;
use std::time::Duration;

/// Runs the verb.
pub fn verify(args: &VerifyArgs, screen: &Screen) -> Result<Reply, Stop> {
    let input = load(&args.model)?;
    let mut settings = Settings::of(&input.model);
    if let Some(t_end) = args.t_end {
        settings.study.t_end = t_end;
        settings.study.output_step = settings.study.output_step.min(t_end / 20.0).max(t_end / 100.0);
    }
    settings.study.output_step = args.output_step.unwrap_or(settings.study.output_step);
    settings.tol = args.tol.unwrap_or(settings.tol);
    settings.study.mode = args.mode;
    settings.study.inputs = read_inputs(&input.model, &args.input)?;
    settings.formulations.clone_from(&args.formulations);
    settings.patience = Duration::from_secs_f64(args.patience);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    settings.threads = args.threads.map_or(cores, usize::from);
    let talk = !screen.json && !screen.quiet && std::io::stderr().is_terminal();
    let done = compare(&input.model, &settings, &|name| {
        if talk {
            screen.status(&format!("{name} done"));
        }
    });
    if talk {
        screen.status("");
    }
    let done = done.map_err(|d| input.stop(&d))?;
    let title = if input.model.title.is_empty() { &input.name } else { &input.model.title };
    let mode = args.mode.map_or(String::new(), |k| format!("assembly mode {k}, as `fourbar check` counts them\n\n"));
    let text = format!("{}\n\n{mode}{}", screen.bold(title), words(&done, !input.model.states.is_empty(), screen));
    let mut fields = json!(done);
    fields["file"] = json!(input.name);
    fields["hash"] = json!(input.loaded.hash);
    fields["mode"] = json!(args.mode);
    fields["agree"] = json!(done.verdict.agree);
    fields["word"] = json!(done.verdict.word);
    let mut reply = Reply::new(text, fields);
    reply.notes = input.notes(&input.loaded.warnings);
    let enough = match done.verdict.word {
        Word::Agreed => true,
        Word::Partly => args.allow_partial,
        Word::NotShown | Word::NotAgreed => false,
    };
    reply.exit = if enough { 0 } else { Reply::FAILED };
    Ok(reply)
}

fn words(v: &Verification, states: bool, screen: &Screen) -> String {
    let small = |x: f64| if x == 0.0 { "0".to_string() } else { format!("{x:.0e}") };
    let pick = |r: &Row, names: &[&str]| {
        names.iter().find_map(|n| r.work.iter().find(|(k, _)| k == n)).map_or(String::new(), |(_, n)| format!("{n:.0}"))
    };
    let ran = v.rows.iter().filter(|r| r.until.is_some());
    let rows: Vec<Vec<String>> = ran
        .map(|r| {
            let mut cells = vec![format!("{} {}", r.formulation, r.integrator)];
            cells.extend(r.difference.iter().take(if states { 5 } else { 4 }).map(|x| small(*x)));
            cells.push(small((r.expected[0] / v.scales[0]).max(r.expected[1])));
            cells.push(small(r.constraints[0]));
            cells.extend([small(r.energy), small(r.newton_euler)]);
            cells.push(pick(r, &["steps"]));
            cells.push(pick(r, &["newton_iterations", "evaluations"]));
            cells.push(number(r.seconds));
            cells
        })
        .collect();
    let mut header = vec!["", "position", "angle", "speed", "force", "expected", "gap", "energy", "laws", "steps", "evals", "time"];
    if states {
        header.insert(5, "states");
    }
    let own = if states { ", of states relative" } else { "" };
    let mut text = format!(
        "largest differences from the consensus (m, rad, m/s, N{own}), relative error expected, gaps of the joints\n(m), relative errors of energy and of Newton's and Euler's laws, work, time (s)\n\n",
    );
    text += &table(&header, &rows, &(1..header.len()).collect::<Vec<_>>());
    text.push('\n');
    text += &screen.bold(&v.verdict.word.to_string());
    text.push('\n');
    for w in &v.verdict.words {
        text += &format!("  {}\n", wrapped(w, 2, 2));
    }
    text
}
