//! `fourbar demo`: runs and draws a shipped model, for newcomers.

use crate::args::{DemoArgs, StudyArgs};
use crate::catalogue::find;
use crate::input::load_with;
use crate::reply::{Reply, Stop};
use crate::run::{PAGE, Pictures, Task, perform, settings};
use crate::screen::{Screen, wrapped};
use crate::view::{Live, Wanted};
use fourbar_io::page::has_engine;
use std::path::PathBuf;

/// Runs the verb.
pub fn demo(args: &DemoArgs, screen: &Screen) -> Result<Reply, Stop> {
    let e = find(&args.name)?;
    let input = load_with(e.name, &[], false)?;
    let study = settings::study(&input.model, &StudyArgs::default())?;
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("out").join(e.name));
    let shown = folder.display().to_string();
    let column = input.model.joints.iter().rev().find_map(|j| j.coordinates().next().map(|(key, _)| format!("{}.{key}", j.name)));
    let column = column.unwrap_or_else(|| "energy.total".into());
    let live = if has_engine() { Live::File(Vec::new(), study.clone().into()) } else { Live::No };
    let page = Some(Wanted { path: folder.join(PAGE), force: args.force, open: !args.no_open, live });
    let task = Task {
        input,
        study,
        set: Vec::new(),
        folder: Some(folder),
        patterns: Vec::new(),
        checkpoint: None,
        warnings: Vec::new(),
        pictures: Pictures::Both,
        page,
        parquet: false,
        force: args.force,
    };
    let mut reply = perform(task, screen)?;
    if reply.exit == 0 {
        reply.text += "\nWhat to try next:\n";
        let next = [
            (format!("fourbar check {}", e.name), "what is it, and can it move?"),
            (format!("fourbar plot {shown} {column} -o plot.svg"), "a picture of a column"),
            (format!("fourbar examples {} -o my.yaml", e.name), "the file, to change and run"),
            ("fourbar examples".to_string(), "the other shipped models"),
        ];
        let width = next.iter().map(|(c, _)| c.len()).max().unwrap_or(0);
        for (command, why) in next {
            reply.text +=
                &format!("  {}{:pad$}  {}\n", screen.accent(&command), "", wrapped(why, width + 4, width + 4), pad = width - command.len());
        }
    }
    Ok(reply)
}
