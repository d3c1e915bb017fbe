//! `fourbar assemble`: the consistent start nearest to the given one, and what moved.

use crate::args::AssembleArgs;
use crate::input::{Input, load};
use crate::reply::{Reply, Stop};
use crate::screen::{Screen, number, table, wrapped};
use fourbar::analysis::assembly;
use fourbar::analysis::assembly::{Assembled, Gap};
use fourbar::study::count;
use fourbar_io::disk::{Kind, may_replace, write_kind};
use serde_json::{Value, json};

/// Number of bodies that are listed; further ones are only counted.
const SHOWN: usize = 40;

/// Runs the verb.
pub fn assemble(args: &AssembleArgs, screen: &Screen) -> Result<Reply, Stop> {
    if let Some(path) = &args.output {
        may_replace(path, Kind::Poses, args.force)?;
    }
    let input = load(&args.model)?;
    let a = assembly::modes::assemble_in(&input.model, args.mode).map_err(|d| input.stop(&d))?;
    let mut text = words(&input, &a, args.mode, screen);
    if let Some(path) = &args.output {
        write_kind(path, format!("{:#}\n", pose(&input, &a)).as_bytes(), Kind::Poses, args.force)?;
        text += &format!("\nwritten to {}\n", path.display());
    }
    let mut fields = json!({
        "file": input.name, "title": input.model.title, "hash": input.loaded.hash,
        "consistent": !a.start_was_inconsistent(&input.model), "iterations": a.iterations,
        "residual_before": a.residual_before, "residual_after": a.residual_after, "velocity_residual_before": a.velocity_residual_before,
        "open": a.open, "asked": a.asked, "distance": a.distance, "branch": a.branch, "moved": a.moved, "mode": args.mode,
    });
    fields["start"] = pose(&input, &a);
    let mut reply = Reply::new(text, fields);
    reply.notes = input.notes(&input.loaded.warnings);
    Ok(reply)
}

fn words(input: &Input, a: &Assembled, mode: Option<u16>, screen: &Screen) -> String {
    let model = &input.model;
    let title = if model.title.is_empty() { &input.name } else { &model.title };
    let mut text = format!("{}\n\n", screen.bold(title));
    if let Some(k) = mode {
        text += &format!("assembly mode {k}, as `fourbar check` counts them; distances are measured from the poses of the file\n");
    } else if !a.start_was_inconsistent(model) && a.asked.is_empty() {
        text += &format!("the start is consistent: largest gap {} m, nothing to do\n", number(a.residual_before));
        return text;
    }
    if mode.is_some() {
        // An assembly mode is already closed.
    } else if a.open.is_empty() {
        text += "positions are consistent\n";
        if !a.asked.is_empty() {
            let asked: Vec<String> = a.asked.iter().map(Gap::to_string).collect();
            text += &format!("{}\n", wrapped(&format!("moved as `start:` requires: {}", asked.join(", ")), 0, 0));
        }
    } else {
        text += &format!(
            "closed in {}; largest gap {} m before, {} m after\n\n",
            count(a.iterations, "iteration"),
            number(a.residual_before),
            number(a.residual_after)
        );
        let rows: Vec<Vec<String>> = a.open.iter().take(SHOWN).map(|g| vec![g.name.clone(), number(g.distance), number(g.angle)]).collect();
        text += &table(&["open before", "gap [m]", "angle [rad]"], &rows, &[1, 2]);
    }
    if let Some(note) = a.note() {
        text += &format!("\n{}\n", wrapped(&note, 0, 0));
    }
    if a.velocity_residual_before > 1e-6 * model.length {
        text += &format!("\nvelocities did not fit the joints and drives: worst {} m/s before\n", number(a.velocity_residual_before));
    }
    // Changes at the level of rounding errors are ignored.
    let small = 1e-9 * model.length;
    let mut moved: Vec<_> =
        a.moved.iter().filter(|m| m.distance > small || m.angle > 1e-9 || m.velocity > small || m.omega > 1e-9).collect();
    moved.sort_by(|x, y| (y.distance + model.length * y.angle).total_cmp(&(x.distance + model.length * x.angle)));
    let still = a.moved.len() - moved.len();
    let clear = |x: f64, least: f64| number(if x > least { x } else { 0.0 });
    let rows: Vec<Vec<String>> = moved
        .iter()
        .take(SHOWN)
        .map(|m| vec![m.body.clone(), clear(m.distance, small), clear(m.angle, 1e-9), clear(m.velocity, small), clear(m.omega, 1e-9)])
        .collect();
    if !rows.is_empty() {
        text.push('\n');
        text += &table(&["moved", "by [m]", "by [rad]", "velocity by [m/s]", "omega by [rad/s]"], &rows, &[1, 2, 3, 4]);
    }
    let mut rest = Vec::new();
    if moved.len() > SHOWN {
        rest.push(format!("{} more moved less", moved.len() - SHOWN));
    }
    if still > 0 {
        rest.push(format!("{still} of {} bodies stayed where they were", a.moved.len()));
    }
    if !rest.is_empty() {
        text += &format!("{}\n", wrapped(&rest.join("; "), 0, 0));
    }
    text
}

/// The consistent start: centre of mass, quaternion and velocities of every body, named as in the results.
fn pose(input: &Input, a: &Assembled) -> Value {
    let c = &a.configuration;
    let bodies = input.model.bodies.iter().enumerate().skip(1).map(|(b, body)| {
        let (q, v) = (&c.q[b], &c.v[b]);
        let omega = q.A * v.w;
        let p = fourbar_math::so3::quaternion(&q.A);
        let value = json!({"r": q.r.as_slice(), "p": p, "v": v.v.as_slice(), "omega": omega.as_slice()});
        (body.name.clone(), value)
    });
    Value::Object(bodies.collect())
}
