//! `fourbar plot`: columns of results or of mechanisms that are run first, and paths of points; on the terminal, as SVG or as PNG.

use crate::args::{ModelArgs, PlotArgs, StudyArgs};
use crate::reply::{Notes, Reply, Stop, exit_code};
use crate::screen::{Facts, Screen};
use crate::view::{is_result, run_first, stem};
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use fourbar_io::disk::{Kind, may_replace, write_kind};
use fourbar_io::plot::{Curve, Scale, TextPlot, png_scaled, svg_marked, text_plot};
use fourbar_io::results::columns::fits;
use fourbar_io::results::{Table, read_table};
use serde_json::json;
use std::path::Path;

/// Largest number of columns in one plot.
const MOST: usize = 50;

/// Rows with the name of their source.
struct Shown {
    label: String,
    table: Table,
}

/// A plot: named curves, abscissa and axes.
struct Drawing<'a> {
    curves: Vec<(String, Curve<'a>)>,
    x: (String, &'a str),
    y: (String, &'a str),
    scale: Scale,
}

/// Runs the verb.
pub fn plot(args: &PlotArgs, screen: &Screen) -> Result<Reply, Stop> {
    let (sources, columns) = divided(&args.words);
    if let Some(path) = &args.output {
        if columns.is_empty() && args.path.is_empty() {
            let d = Diagnostic::new("U334", format!("`{}` needs columns to be drawn", path.display()));
            return Err(d.help("name some after the result; `fourbar plot RESULT` alone lists them").into());
        }
        may_replace(path, Kind::Picture, args.force)?;
    }
    let mut shown = Vec::new();
    let mut notes = Notes::default();
    for name in sources {
        if looks_like_model(name) {
            let model = ModelArgs { file: name.clone(), set: args.set.clone(), large: false, mesh_path: args.mesh_path.clone() };
            let source = run_first(&model, &StudyArgs::default(), screen)?;
            notes = source.input.notes(&source.problems);
            shown.push(Shown { label: source.label, table: source.table });
        } else {
            shown.push(Shown { label: label(name), table: read_table(Path::new(name))? });
        }
    }
    distinguish(&mut shown, sources);
    let mut reply =
        if columns.is_empty() && args.path.is_empty() { list(sources, &shown[0].table) } else { draw(args, sources, columns, &shown)? };
    reply.exit = exit_code(notes.list.iter());
    reply.notes = notes;
    Ok(reply)
}

/// Results and mechanisms come first, then columns. After the first word, anything that is not an existing path is a column.
fn divided(words: &[String]) -> (&[String], &[String]) {
    let sources = 1 + words.iter().skip(1).take_while(|w| Path::new(w.as_str()).exists()).count();
    words.split_at(sources.min(words.len()))
}

/// Whether a word refers to a mechanism rather than a result.
fn looks_like_model(word: &str) -> bool {
    const ENDINGS: [&str; 7] = ["yaml", "yml", "json", "urdf", "xml", "sdf", "asmt"];
    let path = Path::new(word);
    let ending = path.extension().map(|e| e.to_ascii_lowercase());
    let model = ending.is_some_and(|e| ENDINGS.iter().any(|known| e == *known));
    model || (!path.exists() && !is_result(path) && fourbar_io::examples::example(word).is_some())
}

/// The name of a result in a picture: its folder.
fn label(name: &str) -> String {
    let path = Path::new(name);
    match path.parent().and_then(Path::file_name) {
        Some(folder) if path.is_file() => folder.to_string_lossy().into_owned(),
        _ if path.is_dir() => path.file_name().map_or_else(|| name.to_string(), |n| n.to_string_lossy().into_owned()),
        _ => stem(name),
    }
}

/// Replaces equal labels by the sources as given.
fn distinguish(shown: &mut [Shown], sources: &[String]) {
    let labels: Vec<String> = shown.iter().map(|s| s.label.clone()).collect();
    for (s, written) in shown.iter_mut().zip(sources) {
        if labels.iter().filter(|l| **l == s.label).count() > 1 {
            s.label.clone_from(written);
        }
    }
}

fn draw(args: &PlotArgs, sources: &[String], columns: &[String], shown: &[Shown]) -> Result<Reply, Stop> {
    let drawing = match args.path.is_empty() {
        true => histories(args, columns, shown)?,
        false if !columns.is_empty() => {
            let d = Diagnostic::new("U480", format!("`--path` draws a path alone, not together with `{}`", columns[0]));
            return Err(d.help("draw columns and paths in separate plots").into());
        }
        false => paths(&args.path, shown)?,
    };
    if drawing.curves.len() > MOST {
        let message = format!("{} columns are too many for one picture", drawing.curves.len());
        return Err(Diagnostic::new("U008", message).help(format!("choose at most {MOST} at a time")).into());
    }
    let names: Vec<&str> = drawing.curves.iter().map(|(name, _)| name.as_str()).collect();
    let rows = shown[0].table.rows();
    let mut fields = json!({"result": sources[0], "x": drawing.x.0, "columns": names, "rows": rows});
    if sources.len() > 1 {
        fields["results"] = json!(sources);
    }
    let x = (drawing.x.0.as_str(), drawing.x.1);
    let nothing = || Diagnostic::new("U007", "there is nothing finite to plot").help("the run may have ended before its first row");
    let Some(path) = &args.output else {
        let mut text = String::new();
        for (name, c) in &drawing.curves {
            let y = if drawing.scale.equal { (drawing.y.0.as_str(), drawing.y.1) } else { (name.as_str(), c.unit) };
            if drawing.scale.equal {
                text += &format!("path of `{name}`\n");
            }
            let (width, height) = if drawing.scale.equal { (60, 20) } else { (72, 14) };
            let plot = TextPlot { x, y, width, height, equal: drawing.scale.equal };
            text += &text_plot(&plot, c.x, c.y);
            text.push('\n');
        }
        return if text.trim().is_empty() { Err(nothing().into()) } else { Ok(Reply::new(text, fields)) };
    };
    let title = shown.iter().map(|s| s.label.as_str()).collect::<Vec<_>>().join(", ");
    let curves: Vec<Curve<'_>> = drawing.curves.iter().map(|(name, c)| Curve { name, ..*c }).collect();
    let y = (drawing.y.0.as_str(), drawing.y.1);
    let ending = path.extension().map(|e| e.to_ascii_lowercase().to_string_lossy().into_owned());
    let picture = match ending.as_deref() {
        None | Some("svg") => svg_marked(&title, x, y, drawing.scale, &curves).map(String::into_bytes),
        Some("png") => png_scaled(&title, x, y, drawing.scale, &curves),
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

/// Columns over a common abscissa; with several results each column name is preceded by the result.
fn histories<'a>(args: &'a PlotArgs, columns: &[String], shown: &'a [Shown]) -> Result<Drawing<'a>, Diagnostic> {
    let mut curves = Vec::new();
    let x_name = args.x.clone().unwrap_or_else(|| abscissa(&shown[0].table));
    for s in shown {
        let x = s.table.column(&x_name).ok_or_else(|| unknown(s, &x_name))?;
        for name in choose(s, columns)? {
            let Some(y) = s.table.column(name) else { continue };
            let written = if shown.len() == 1 { name.to_string() } else { format!("{}: {name}", s.label) };
            curves.push((written, Curve { name, unit: s.table.unit(name), x, y }));
        }
    }
    let unit = shown[0].table.unit(&x_name);
    let x = (x_name, unit);
    Ok(Drawing { curves, x, y: (String::new(), ""), scale: Scale::default() })
}

/// The default abscissa: time, or the first parameter of a sweep.
fn abscissa(table: &Table) -> String {
    let varied = || table.names.iter().find(|n| n.starts_with("set.")).cloned();
    if table.column("t").is_some() { "t".into() } else { varied().unwrap_or_else(|| "t".into()) }
}

/// Paths of points and bodies, projected to the coordinate plane of their largest extent.
fn paths<'a>(names: &[String], shown: &'a [Shown]) -> Result<Drawing<'a>, Diagnostic> {
    const AXES: [&str; 3] = ["x", "y", "z"];
    let mut found: Vec<(String, [&[f64]; 3])> = Vec::new();
    for s in shown {
        for name in names {
            let axes = |stem: &str| {
                let [x, y, z] = AXES.map(|a| s.table.column(&format!("{stem}.{a}")));
                Some([x?, y?, z?])
            };
            // A point, or the centre of mass of a body.
            let Some(path) = axes(name).or_else(|| axes(&format!("{name}.r"))) else {
                let d = Diagnostic::new("U481", format!("`{}` has no path of `{name}`", s.label)).name(name);
                let ends: Vec<&str> = s.table.names.iter().filter_map(|n| n.strip_suffix(".x")).filter(|n| !n.contains('.')).collect();
                let help = match ends.is_empty() {
                    true => "points are declared under `points:`; the name of a body means its centre of mass".to_string(),
                    false => format!("it has the points {}", ends.iter().take(8).map(|e| format!("`{e}`")).collect::<Vec<_>>().join(", ")),
                };
                return Err(d.help(help));
            };
            let written = if shown.len() == 1 { name.clone() } else { format!("{}: {name}", s.label) };
            found.push((written, path));
        }
    }
    let extent = |axis: usize| {
        let values = found.iter().flat_map(|(_, p)| p[axis].iter()).filter(|x| x.is_finite());
        let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(*x), hi.max(*x)));
        if lo <= hi { hi - lo } else { 0.0 }
    };
    let least = (0..3).rev().min_by(|a, b| extent(*a).total_cmp(&extent(*b))).unwrap_or(2);
    let [u, v] = [[1, 2], [0, 2], [0, 1]][least];
    let curves = found.into_iter().map(|(name, p)| (name, Curve { name: "", unit: "", x: p[u], y: p[v] })).collect();
    Ok(Drawing { curves, x: (AXES[u].into(), "m"), y: (AXES[v].into(), "m"), scale: Scale { equal: true, ..Scale::default() } })
}

/// The available columns: those that differ only in the last word are listed together.
fn list(sources: &[String], table: &Table) -> Reply {
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
    Reply::new(text, json!({"result": sources[0], "columns": table.names, "rows": table.rows()}))
}

/// The columns that match the patterns, each once.
fn choose<'a>(shown: &'a Shown, patterns: &[String]) -> Result<Vec<&'a str>, Diagnostic> {
    let mut chosen: Vec<&str> = Vec::new();
    for pattern in patterns {
        let fitting: Vec<&str> = shown.table.names.iter().map(String::as_str).filter(|n| fits(pattern, n)).collect();
        if fitting.is_empty() {
            return Err(unknown(shown, pattern));
        }
        if fitting.len() > MOST {
            let message = format!("`{pattern}` matches {} columns", fitting.len());
            return Err(Diagnostic::new("U008", message).help(format!("choose at most {MOST} at a time")));
        }
        for name in fitting {
            if !chosen.contains(&name) {
                chosen.push(name);
            }
        }
    }
    Ok(chosen)
}

fn unknown(shown: &Shown, name: &str) -> Diagnostic {
    let columns = || shown.table.names.iter().map(String::as_str);
    let within: Vec<&str> = columns().filter(|n| n.contains(name)).collect();
    let near = nearest(name, columns());
    let help = match (near, within.as_slice()) {
        (Some(n), []) => format!("did you mean `{n}`?"),
        (_, []) => "`fourbar plot RESULT` alone lists the columns".into(),
        (_, list) => {
            let some: Vec<String> = list.iter().take(6).map(|n| format!("`{n}`")).collect();
            let more = if list.len() > 6 { format!(" and {} more", list.len() - 6) } else { String::new() };
            format!("there are {}{more}", some.join(", "))
        }
    };
    Diagnostic::new("U008", format!("`{}` has no column `{name}`", shown.label)).help(help)
}
