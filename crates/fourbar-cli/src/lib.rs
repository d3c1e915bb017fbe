//! The `fourbar` command: arguments in, text or one JSON object and an exit code out. A library, so that tests can call it; `main.rs`
//! is the program.

mod about;
mod args;
mod assemble;
mod catalogue;
mod check;
mod convert;
mod demo;
pub mod design;
mod equilibrium;
mod fmu;
mod gather;
mod given;
pub mod hand;
mod input;
mod inverse;
mod linearize;
mod list;
mod modes;
mod observer;
mod page;
mod plot;
mod poses;
mod range;
mod reply;
mod report;
mod run;
mod screen;
mod sensitivities;
mod stop;
mod telling;
mod verify;
mod view;

use args::{Args, Verb};
use clap::Parser;
use clap::error::ErrorKind;
use fourbar::Diagnostic;
use reply::{Reply, Stop};
use screen::Screen;
use std::process::ExitCode;

/// The whole command: reads the arguments, prints the answer, and returns the exit code.
pub fn main() -> ExitCode {
    limits_are_errors();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(e) => return refuse(&e),
    };
    let screen = Screen::new(args.json, args.quiet);
    let reply = reply(&args, &screen);
    ExitCode::from(reply.show(args.verb.name(), &screen))
}

/// A file beyond the size limit of the system is reported as an error instead of ending the program. Threads inherit this setting, child
/// processes do not.
fn limits_are_errors() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        let mut set = SigSet::empty();
        set.add(Signal::SIGXFSZ);
        // If this fails, the signal ends the program as usual.
        let _ = set.thread_block();
    }
}

/// The exit code of a command line, whose first word is the name of the program. Only intermediate messages of verbs are printed: tests run
/// every verb with it, without a process for each.
pub fn exit_code_of(words: &[&str]) -> u8 {
    match Args::try_parse_from(words) {
        Ok(args) => reply(&args, &Screen::new(args.json, true)).exit,
        Err(e) if e.use_stderr() => Reply::BAD_USAGE,
        Err(_) => 0,
    }
}

/// Interrupts the current run like Ctrl-C, or clears the interrupt for the next run.
pub fn interrupt(wanted: bool) {
    stop::INTERRUPTED.store(wanted, std::sync::atomic::Ordering::Relaxed);
}

fn reply(args: &Args, screen: &Screen) -> Reply {
    let outcome = match &args.verb {
        Verb::Check(a) => check::check(a, screen),
        Verb::Assemble(a) => assemble::assemble(a, screen),
        Verb::Equilibrium(a) => equilibrium::equilibrium(a, screen),
        Verb::Modes(a) => modes::modes(a, screen),
        Verb::Linearize(a) => linearize::linearize(a, screen),
        Verb::Sweep(a) => design::sweep::sweep(a, screen),
        Verb::Tolerance(a) => design::tolerance::tolerance(a, screen),
        Verb::Optimize(a) => design::optimize::optimize(a, screen),
        Verb::Synthesize(a) => design::synthesize::synthesize(a, screen),
        Verb::Inverse(a) => inverse::inverse(a, screen),
        Verb::Sensitivities(a) => sensitivities::sensitivities(a, screen),
        Verb::Kinematics(a) => run::kinematics(a, screen),
        Verb::Run(a) => run::run(a, screen),
        Verb::Verify(a) => verify::verify(a, screen),
        Verb::Demo(a) => demo::demo(a, screen),
        Verb::View(a) => view::view(a, screen),
        Verb::Playground(a) => view::playground(a, screen),
        Verb::Plot(a) => plot::plot(a, screen),
        Verb::Report(a) => report::report(a, screen),
        Verb::Convert(a) => convert::convert(a),
        Verb::Fmu(a) => fmu::fmu(a),
        Verb::List(a) => Ok(list::list(a, screen)),
        Verb::Examples(a) => catalogue::examples(a, screen),
        Verb::New(a) => catalogue::new(a),
        Verb::Explain(a) => page::explain(a, screen),
        Verb::Schema => Ok(page::schema()),
        Verb::Completions(a) => Ok(page::completions(a)),
    };
    outcome.unwrap_or_else(Stop::into_reply)
}

/// Help and version are answers; all other errors of the parser are invalid usage, as JSON if requested.
fn refuse(e: &clap::Error) -> ExitCode {
    if !e.use_stderr() && !matches!(e.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) {
        // An error of a closed pipe is ignored.
        let _ = e.print();
        return ExitCode::SUCCESS;
    }
    if std::env::args().any(|a| a == "--json") {
        let text = e.to_string();
        let message = text.lines().next().unwrap_or("bad usage").trim_start_matches("error: ").to_string();
        let d = Diagnostic::new("U001", message).help("`fourbar help` lists the verbs, `fourbar help VERB` the options");
        return ExitCode::from(Stop::plain(d).into_reply().show("usage", &Screen::new(true, false)));
    }
    screen::print_error(&e.render().to_string());
    ExitCode::from(Reply::BAD_USAGE)
}
