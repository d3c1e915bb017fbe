//! `fourbar linearize`: the matrices of a linear model.

mod mat;
mod npz;

use crate::about::about;
use crate::args::{LinearizeArgs, MatrixFormat};
use crate::input::load;
use crate::reply::{Reply, Stop};
use crate::screen::{Facts, Screen, names, number, table};
use fourbar::Diagnostic;
use fourbar_design::linear::{Linearized, Request, linearize as linear_model};
use fourbar_io::disk::{Kind, may_replace, unwritable, write_kind};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Largest number of printed rows and columns of a matrix.
const PRINTED: usize = 8;

/// The matrices with their names, by rows.
type Matrices = [(&'static str, Vec<Vec<f64>>, usize); 4];

/// Runs the verb.
pub fn linearize(args: &LinearizeArgs, screen: &Screen) -> Result<Reply, Stop> {
    let files = files(args);
    for file in &files {
        may_replace(file, Kind::Other, args.force)?;
    }
    let input = load(&args.model)?;
    let at = about(&input, &args.about).map_err(|d| input.stop(&d))?;
    let some = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
    let request = Request { inputs: some(&args.inputs), outputs: some(&args.outputs), frozen: args.about.frozen };
    let l = linear_model(&input.model, &at.state, &request).map_err(|e| input.stop(e.cause()))?;
    let matrices = matrices(&l);
    let mut text = format!("{}\n\n", screen.bold(if input.model.title.is_empty() { &input.name } else { &input.model.title }));
    let mut facts = Facts::new(12);
    facts.add("about", &at.words);
    let [n, m] = l.freedom;
    facts.add("states", &format!("{}: {n} of positions, {m} of velocities, {} of the file", l.states.len(), l.states.len() - n - m));
    let none = |list: &[String], what: &str| if list.is_empty() { format!("none{what}") } else { names(list) };
    facts.add("inputs", &none(&l.inputs, "; declare them under `inputs:`"));
    facts.add("outputs", &none(&l.outputs, ""));
    text += &facts.text;
    for (name, rows, columns) in &matrices {
        text += &printed(name, rows, *columns);
    }
    let mut fields = json!({
        "file": input.name, "title": input.model.title, "hash": input.loaded.hash, "about": at.words, "t": l.state.t, "linear": object(&l, &matrices),
    });
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e))?;
        match args.format {
            MatrixFormat::Json => write_kind(&files[0], format!("{:#}\n", object(&l, &matrices)).as_bytes(), Kind::Other, args.force)?,
            MatrixFormat::Npz => write_kind(&files[0], &npz::archive(&matrices), Kind::Other, args.force)?,
            MatrixFormat::Mat => write_kind(&files[0], &mat::file(&matrices), Kind::Other, args.force)?,
            MatrixFormat::Csv => {
                for (file, (_, rows, _)) in files.iter().zip(&matrices) {
                    let lines: Vec<String> =
                        rows.iter().map(|r| r.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(",") + "\n").collect();
                    write_kind(file, lines.concat().as_bytes(), Kind::Other, args.force)?;
                }
            }
        }
        let written: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        text += &format!("\nwritten to {}\n", written.join(", "));
        fields["written"] = json!(written);
    }
    let mut warnings: Vec<Diagnostic> = input.loaded.warnings.iter().chain(&at.warnings).cloned().collect();
    for w in &l.warnings {
        if !warnings.contains(w) {
            warnings.push(w.clone());
        }
    }
    let mut reply = Reply::new(text, fields);
    reply.notes = input.notes(&warnings);
    Ok(reply)
}

fn files(args: &LinearizeArgs) -> Vec<PathBuf> {
    let Some(folder) = &args.out else { return Vec::new() };
    match args.format {
        MatrixFormat::Json => vec![folder.join("linear.json")],
        MatrixFormat::Npz => vec![folder.join("linear.npz")],
        MatrixFormat::Mat => vec![folder.join("linear.mat")],
        MatrixFormat::Csv => ["A", "B", "C", "D"].map(|n| folder.join(format!("{n}.csv"))).to_vec(),
    }
}

fn matrices(l: &Linearized) -> Matrices {
    [("A", &l.A), ("B", &l.B), ("C", &l.C), ("D", &l.D)]
        .map(|(name, m)| (name, m.row_iter().map(|r| r.iter().copied().collect()).collect(), m.ncols()))
}

fn object(l: &Linearized, matrices: &Matrices) -> Value {
    let mut out = json!({"states": l.states, "inputs": l.inputs, "outputs": l.outputs});
    for (name, rows, _) in matrices {
        out[*name] = json!(rows);
    }
    out
}

fn printed(name: &str, rows: &[Vec<f64>], columns: usize) -> String {
    if rows.is_empty() || columns == 0 {
        return String::new();
    }
    if rows.len() > PRINTED || columns > PRINTED {
        return format!("\n{name}: {} by {columns}; `--json` and `--out` contain it\n", rows.len());
    }
    let mut head = vec![name.to_string()];
    head.extend((1..=columns).map(|k| k.to_string()));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let top = rows.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    let clear = |x: &f64| number(if x.abs() < 1e-13 * top { 0.0 } else { *x });
    let cells: Vec<Vec<String>> =
        rows.iter().enumerate().map(|(k, r)| std::iter::once((k + 1).to_string()).chain(r.iter().map(clear)).collect()).collect();
    format!("\n{}", table(&head, &cells, &(0..head.len()).collect::<Vec<_>>()))
}
