//! `fourbar verify`: compares all applicable formulations in one table with a verdict.

use crate::args::VerifyArgs;
use crate::input::load;
use crate::reply::{Reply, Stop};
use crate::screen::Screen;
use fourbar_check::verify::{Settings, Word, verify as compare};
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
    let word = screen.bold(&done.verdict.word.to_string());
    let table = done.table(!input.model.states.is_empty());
    let text = format!("{}\n\n{mode}{table}\n{word}\n{}", screen.bold(title), done.verdict.text());
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
