//! `fourbar equilibrium --along`: an equilibrium followed over a parameter.

use super::title;
use crate::args::EquilibriumArgs;
use crate::input::Input;
use crate::range::Range;
use crate::reply::{Reply, Stop};
use crate::screen::{Screen, number, table};
use fourbar::Model;
use fourbar::state::Configuration;
use fourbar::study::count;
use fourbar_design::equilibrium::Options;
use fourbar_design::path::{LoadPath, Point, branch, follow};
use fourbar_io::disk::{self, write_kind};
use serde_json::{Value, json};

/// Largest number of printed points of a path, and of coordinates.
const POINTS: usize = 16;
const COORDINATES: usize = 4;

/// Follows the equilibrium.
pub fn path(args: &EquilibriumArgs, input: &Input, range: &Range, options: &Options, screen: &Screen) -> Result<Reply, Stop> {
    range.check(input, &args.model.file)?;
    let build = |x: f64| range.model(&args.model.file, &args.model.set, args.model.large, x);
    let found = match args.branch {
        Some(k) => branch(&build, range.ends, options, k),
        None => follow(&build, range.ends, options),
    };
    let path = found.map_err(|e| input.stop(e.cause()))?;
    let names = coordinate_names(&input.model);
    // The joints are placed by the file with the parameter value of each point.
    let values = |p: &Point| build(p.value).map_or_else(|_| vec![f64::NAN; names.len()], |m| values(&m, &p.rest.state));
    let at_points: Vec<Vec<f64>> = path.points.iter().map(values).collect();
    let at_turning: Vec<Vec<f64>> = path.turning.iter().map(values).collect();
    let unit = if range.unit.is_empty() { String::new() } else { format!(" [{}]", range.unit) };
    let mut text = format!("{}\n\n", screen.bold(title(input)));
    text += &format!(
        "the equilibrium over `{}`{unit}: {}, {}\n",
        range.name,
        count(path.points.len(), "point"),
        count(path.turning.len(), "turning point")
    );
    for (p, values) in path.turning.iter().zip(&at_turning) {
        let at: Vec<String> = names.iter().zip(values).take(COORDINATES).map(|(n, x)| format!("`{n}` {}", number(*x))).collect();
        text += &format!("turns back at {} = {}{}: {}\n", range.name, number(p.value), spaced(&range.unit), at.join(", "));
    }
    for (k, [a, b]) in path.crossings.iter().enumerate() {
        let hint = if args.branch.is_none() { format!("; `--branch {}` follows it", k + 1) } else { String::new() };
        text += &format!("another path crosses between {} and {}{}{hint}\n", number(*a), number(*b), spaced(&range.unit));
    }
    let mut head = vec![format!("{}{unit}", range.name), "rest".into()];
    head.extend(names.iter().take(COORDINATES).cloned());
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let right: Vec<usize> = (0..head.len()).filter(|&k| k != 1).collect();
    let step = path.points.len().div_ceil(POINTS).max(1);
    let shown = path.points.iter().enumerate().filter(|(k, _)| k % step == 0 || *k + 1 == path.points.len());
    let rows: Vec<Vec<String>> = shown
        .map(|(k, p)| {
            let mut row = vec![number(p.value), p.rest.stability().word().to_string()];
            row.extend(at_points[k].iter().take(COORDINATES).map(|x| number(*x)));
            row
        })
        .collect();
    text += &format!("\n{}", table(&head, &rows, &right));
    if let Some(file) = &args.output {
        write_kind(file, csv(range, &path, &names, &at_points).as_bytes(), disk::Kind::Other, args.force)?;
        text += &format!("\nthe path is written to {}\n", file.display());
    }
    let point = |(p, values): (&Point, &Vec<f64>)| -> Value {
        let coordinates: serde_json::Map<String, Value> = names.iter().cloned().zip(values.iter().map(|x| json!(x))).collect();
        json!({"value": p.value, "stability": p.rest.stability().word(), "omega2": p.rest.verdict.omega2.first(), "energy": p.rest.energy, "coordinates": coordinates})
    };
    let mut reply = Reply::new(
        text,
        json!({
            "file": input.name, "title": input.model.title, "hash": input.loaded.hash, "parameter": range.name, "unit": range.unit,
            "points": path.points.iter().zip(&at_points).map(point).collect::<Vec<_>>(), "turning_points": path.turning.iter().zip(&at_turning).map(point).collect::<Vec<_>>(),
            "crossings": path.crossings, "branch": args.branch, "complete": path.ended.is_none(),
        }),
    );
    reply.notes = input.notes(input.loaded.warnings.iter().chain(&path.ended));
    reply.exit = crate::reply::exit_code(reply.notes.list.iter());
    Ok(reply)
}

fn spaced(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

fn coordinate_names(model: &Model) -> Vec<String> {
    model.joints.iter().flat_map(|j| j.coordinates().map(|(what, _)| format!("{}.{what}", j.name)).collect::<Vec<_>>()).collect()
}

fn values(model: &Model, state: &Configuration) -> Vec<f64> {
    let of = |j: &fourbar::model::Joint| {
        let [a, b] = j.bodies.map(|b| &state.q[b.index()]);
        j.coordinates().map(|(_, y)| y.value(a, b, &state.turns)).collect::<Vec<_>>()
    };
    model.joints.iter().flat_map(of).collect()
}

fn csv(range: &Range, path: &LoadPath, names: &[String], values: &[Vec<f64>]) -> String {
    let mut text = format!("{},stability,{}\n", range.name, names.join(","));
    for (p, values) in path.points.iter().zip(values) {
        let values: Vec<String> = values.iter().map(|x| format!("{x:?}")).collect();
        text += &format!("{:?},{},{}\n", p.value, p.rest.stability().word(), values.join(","));
    }
    text
}
