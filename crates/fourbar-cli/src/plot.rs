//! `fourbar plot`: columns of a result on the terminal, as SVG or as PNG.

use crate::args::PlotArgs;
use crate::reply::{Reply, Stop};
use crate::run::columns::matches;
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use fourbar_io::plot::{Curve, TextPlot, png, svg, text_plot};
use fourbar_io::results::{Table, read_table, unwritable};
use serde_json::json;

/// Runs the verb.
pub fn plot(args: &PlotArgs) -> Result<Reply, Stop> {
    let table = read_table(&args.result)?;
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
    std::fs::write(path, picture).map_err(|e| unwritable(path, &e))?;
    let mut reply = Reply::new(format!("{} is written\n", path.display()), fields);
    reply.fields.insert("written".into(), json!(path.display().to_string()));
    Ok(reply)
}

/// The columns that the patterns mean, each once.
fn choose<'a>(table: &'a Table, patterns: &[String]) -> Result<Vec<&'a str>, Diagnostic> {
    let mut chosen: Vec<&str> = Vec::new();
    for pattern in patterns {
        let before = chosen.len();
        let mut hit = false;
        for name in table.names.iter().filter(|n| matches(pattern, n)) {
            hit = true;
            if !chosen.contains(&name.as_str()) {
                chosen.push(name);
            }
        }
        if !hit {
            return Err(unknown(table, pattern));
        }
        if chosen.len() - before > 50 {
            let message = format!("`{pattern}` means {} columns", chosen.len() - before);
            return Err(Diagnostic::new("U008", message).help("choose at most 50 at a time"));
        }
    }
    Ok(chosen)
}

fn unknown(table: &Table, name: &str) -> Diagnostic {
    let near = nearest(name, table.names.iter().map(String::as_str));
    let help = near.map_or_else(
        || {
            format!(
                "there are {} columns, such as {}",
                table.names.len(),
                table.names.iter().take(4).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
            )
        },
        |n| format!("did you mean `{n}`?"),
    );
    Diagnostic::new("U008", format!("the result has no column `{name}`")).help(help)
}
