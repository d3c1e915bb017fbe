//! `fourbar plot`: columns of a result on the terminal, as SVG or as PNG.

use crate::args::PlotArgs;
use crate::reply::{Reply, Stop};
use crate::screen::Facts;
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use fourbar_io::disk::{Kind, may_replace, write_kind};
use fourbar_io::plot::{Curve, TextPlot, png, svg, text_plot};
use fourbar_io::results::columns::matches;
use fourbar_io::results::{Table, read_table};
use serde_json::json;

/// Most columns of one plot.
const MOST: usize = 50;

/// Runs the verb.
pub fn plot(args: &PlotArgs) -> Result<Reply, Stop> {
    if let Some(path) = &args.output {
        if args.columns.is_empty() {
            let d = Diagnostic::new("U334", format!("`{}` needs columns to be drawn", path.display()));
            return Err(d.help("name some after the result; `fourbar plot RESULT` alone lists them").into());
        }
        may_replace(path, Kind::Picture, args.force)?;
    }
    let table = read_table(&args.result)?;
    if args.columns.is_empty() {
        return Ok(columns(args, &table));
    }
    let chosen = choose(&table, &args.columns)?;
    let x = table.column(&args.x).ok_or_else(|| unknown(&table, &args.x))?;
    let x_label = (args.x.as_str(), table.unit(&args.x));
    let curves: Vec<Curve<'_>> =
        chosen.iter().filter_map(|&name| Some(Curve { name, unit: table.unit(name), x, y: table.column(name)? })).collect();
    let fields = json!({"result": args.result.display().to_string(), "x": args.x, "columns": chosen, "rows": table.rows()});
    let nothing = || Diagnostic::new("U007", "there is nothing finite to plot").help("the run may have ended before its first row");
    let Some(path) = &args.output else {
        let mut text = String::new();
        for c in &curves {
            let plot = TextPlot { x: x_label, y: (c.name, c.unit), width: 72, height: 14, equal: false };
            text += &text_plot(&plot, c.x, c.y);
            text.push('\n');
        }
        return if text.trim().is_empty() { Err(nothing().into()) } else { Ok(Reply::new(text, fields)) };
    };
    let title = args.result.display().to_string();
    let ending = path.extension().map(|e| e.to_ascii_lowercase().to_string_lossy().into_owned());
    let picture = match ending.as_deref() {
        None | Some("svg") => svg(&title, x_label, &curves).map(String::into_bytes),
        Some("png") => png(&title, x_label, &curves),
        Some(_) => {
            let message = format!("`{}`: plots are written as SVG or PNG", path.display());
            return Err(Diagnostic::new("U011", message).help("give a name that ends in .svg or .png").into());
        }
    };
    let picture = picture.ok_or_else(nothing)?;
    write_kind(path, &picture, Kind::Picture, args.force)?;
    let mut reply = Reply::new(format!("{} is written\n", path.display()), fields);
    reply.fields.insert("written".into(), json!(path.display().to_string()));
    Ok(reply)
}

/// The columns there are: those that differ in their last word stand together.
fn columns(args: &PlotArgs, table: &Table) -> Reply {
    let mut groups: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for (name, unit) in table.names.iter().zip(&table.units) {
        let (stem, last) = name.rsplit_once('.').unwrap_or((name, ""));
        match groups.last_mut() {
            Some(g) if g.0 == stem && g.1 == unit => g.2.push(last),
            _ => groups.push((stem, unit, vec![last])),
        }
    }
    let mut facts = Facts::new(28);
    for (stem, unit, last) in groups {
        let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
        let text: Vec<String> = last.iter().filter(|l| !l.is_empty()).map(|l| format!(".{l}")).collect();
        facts.add(&format!("{stem}{unit}"), &text.join(" "));
    }
    let text = format!(
        "{} columns, {} rows\n\n{}",
        table.names.len(),
        table.rows(),
        facts.text.lines().map(|l| format!("{}\n", l.trim_end())).collect::<String>()
    );
    Reply::new(text, json!({"result": args.result.display().to_string(), "columns": table.names, "rows": table.rows()}))
}

/// The columns that the patterns mean, each once.
fn choose<'a>(table: &'a Table, patterns: &[String]) -> Result<Vec<&'a str>, Diagnostic> {
    let mut chosen: Vec<&str> = Vec::new();
    for pattern in patterns {
        let fitting: Vec<&str> = table.names.iter().map(String::as_str).filter(|n| matches(pattern, n)).collect();
        if fitting.is_empty() {
            return Err(unknown(table, pattern));
        }
        if fitting.len() > MOST {
            let message = format!("`{pattern}` means {} columns", fitting.len());
            return Err(Diagnostic::new("U008", message).help(format!("choose at most {MOST} at a time")));
        }
        for name in fitting {
            if !chosen.contains(&name) {
                chosen.push(name);
            }
        }
    }
    if chosen.len() > MOST {
        let message = format!("{} columns are too many for one picture", chosen.len());
        return Err(Diagnostic::new("U008", message).help(format!("choose at most {MOST} at a time")));
    }
    Ok(chosen)
}

fn unknown(table: &Table, name: &str) -> Diagnostic {
    // The name of a body or joint alone is the commonest slip.
    let within: Vec<&str> = table.names.iter().map(String::as_str).filter(|n| n.contains(name)).collect();
    let near = nearest(name, table.names.iter().map(String::as_str));
    let help = match (near, within.as_slice()) {
        (Some(n), []) => format!("did you mean `{n}`?"),
        (_, []) => "`fourbar plot RESULT` alone lists the columns".into(),
        (_, list) => {
            let some: Vec<String> = list.iter().take(6).map(|n| format!("`{n}`")).collect();
            let more = if list.len() > 6 { format!(" and {} more", list.len() - 6) } else { String::new() };
            format!("there are {}{more}", some.join(", "))
        }
    };
    Diagnostic::new("U008", format!("the result has no column `{name}`")).help(help)
}
