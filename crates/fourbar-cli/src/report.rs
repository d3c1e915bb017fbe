//! `fourbar report`: one page of a result for choosing motors, bearings and springs.

mod gather;
mod html;

use crate::args::ReportArgs;
use crate::input::load_as_drawn;
use crate::reply::{Reply, Stop};
use crate::screen::{Facts, Screen, number, table};
use fourbar::Diagnostic;
use fourbar_io::disk::{Kind, may_replace, unwritable, write_kind};
use fourbar_io::page::{Stored, read_stored};
use gather::Gathered;
use serde_json::json;
use std::path::Path;

/// Number of rows of a table on the screen.
const SHOWN: usize = 30;

/// Runs the verb.
pub fn report(args: &ReportArgs, screen: &Screen) -> Result<Reply, Stop> {
    let folder = if args.result.is_dir() { args.result.clone() } else { args.result.parent().unwrap_or(Path::new("")).to_path_buf() };
    let path = (!args.text).then(|| args.output.clone().unwrap_or_else(|| folder.join("report.html")));
    if let Some(path) = &path {
        may_replace(path, Kind::Picture, args.force)?;
    }
    let Stored { label, table: rows, model, set, .. } = read_stored(&args.result)?;
    let input = load_as_drawn(&model.to_string_lossy(), &set, true)?;
    let found = gather::gather(&input, &rows, args.window);
    if found.motors.is_empty() && found.joints.is_empty() && found.springs.is_empty() {
        let message = format!("`{}` has no columns of motors, joints or springs", args.result.display());
        return Err(Diagnostic::new("U413", message)
            .help("run again without `--columns`, or with `--columns '*.effort,*.speed,*.force.*'`")
            .into());
    }
    let title = if input.model.title.is_empty() { label } else { input.model.title.clone() };
    let mut text = words(&title, &found, screen);
    let mut fields = json!({
        "result": args.result.display().to_string(), "title": title, "hash": input.loaded.hash, "rows": rows.rows(),
        "motors": found.motors, "joints": found.joints, "springs": found.springs, "energy": found.energy,
    });
    if let Some(path) = &path {
        let page = html::page(&title, &args.result.display().to_string(), &found, &rows);
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e))?;
        }
        write_kind(path, page.as_bytes(), Kind::Picture, args.force)?;
        text += &format!("\n{} is the page: open it in a browser\n", screen.accent(&path.display().to_string()));
        fields["page"] = json!(path.display().to_string());
    }
    Ok(Reply::new(text, fields))
}

fn words(title: &str, found: &Gathered, screen: &Screen) -> String {
    let mut text = format!("{}\n", screen.bold(title));
    let mut section = |name: &str, head: &[&str], rows: Vec<Vec<String>>| {
        if rows.is_empty() {
            return;
        }
        let right: Vec<usize> = (1..head.len()).collect();
        let more = rows.len().saturating_sub(SHOWN);
        text += &format!("\n{}\n{}", screen.bold(name), table(head, &rows[..rows.len() - more], &right));
        if more > 0 {
            text += &format!("and {more} more; `--json` and the page have all\n");
        }
    };
    section("motors and drives", &gather::MOTOR_HEAD, found.motors.iter().map(gather::Motor::cells).collect());
    section("bearing loads", &gather::JOINT_HEAD, found.joints.iter().map(gather::Joint::cells).collect());
    section("springs", &gather::SPRING_HEAD, found.springs.iter().map(gather::Spring::cells).collect());
    let mut facts = Facts::new(12);
    for m in &found.motors {
        if let Some(line) = m.rotor_words() {
            facts.add(&m.name, &line);
        }
    }
    if let Some(e) = &found.energy {
        facts.add(
            "energy",
            &format!("between {} and {} J, work done on the mechanism {} J", number(e.least), number(e.largest), number(e.work)),
        );
    }
    if facts.text.is_empty() { text } else { text + "\n" + &facts.text }
}
