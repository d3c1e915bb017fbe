//! `fourbar synthesize`: a planar four-bar for a path, a function or three positions.

use crate::args::SynthesizeArgs;
use crate::reply::{Reply, Stop};
use crate::screen::{Facts, Screen, number, table};
use fourbar::Diagnostic;
use fourbar::expr::Dimension;
use fourbar_design::synthesis::{Complex, Found, FourBar, Given, Task, Timing, function, motion, path};
use fourbar_io::disk::{Kind, read_text_bounded, write_kind};
use fourbar_io::studies::quantity_of;
use serde_json::{Value, json};
use std::f64::consts::TAU;
use std::path::Path;

/// Number of linkages that are printed.
const SHOWN: usize = 6;

/// Runs the verb.
pub fn synthesize(args: &SynthesizeArgs, screen: &Screen) -> Result<Reply, Stop> {
    screen.listen();
    let mut reply = if let Some(text) = &args.path {
        for_path(args, text, screen)?
    } else if let Some(text) = &args.function {
        for_function(args, text, screen)?
    } else if let Some(text) = &args.motion {
        for_motion(args, text, screen)?
    } else {
        return Err(Diagnostic::new("U439", "no task is given").help("give `--path`, `--function` or `--motion`").into());
    };
    let model = reply.fields.shift_remove("model").and_then(|v| v.as_str().map(String::from));
    if let (true, Some(text)) = (screen.is_silent(), &model) {
        reply.fields.insert("model".into(), json!(text));
    }
    if let (Some(file), Some(text)) = (&args.output, model) {
        write_kind(file, text.as_bytes(), Kind::Other, args.force)?;
        reply.text += &format!("\nthe best one is in {}: `fourbar view {}` shows it\n", file.display(), file.display());
        reply.fields.insert("output".into(), json!(file));
    }
    Ok(reply)
}

const LENGTH: Dimension = Dimension::LENGTH;
const ANGLE: Dimension = Dimension::NONE;

/// Rows of numbers: the lines of a file, or `x,y; x,y; ...`. Numbers may have units of the dimension of their column.
fn rows(text: &str, widths: &[usize], columns: &[Dimension], what: &str) -> Result<Vec<Vec<f64>>, Diagnostic> {
    let refused = |why: String| {
        Diagnostic::new("U439", format!("the {what} cannot be read: {why}"))
            .help("write them as `0.5,1.1; 0.4,1.1; ...`, or give a file with one line each")
    };
    let is_file = Path::new(text).is_file();
    let source = if is_file { read_text_bounded(Path::new(text), 16 << 20).map_err(refused)? } else { text.to_string() };
    let lines = source.split(if is_file { '\n' } else { ';' }).map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let mut list: Vec<Vec<f64>> = Vec::new();
    for (k, line) in lines.enumerate() {
        let words = || line.split([',', '\t']).map(str::trim);
        let cells: Option<Vec<f64>> = words().map(|c| quantity_of(c, None).ok()).collect();
        if cells.is_some() {
            for (word, dimension) in words().zip(columns) {
                quantity_of(word, Some(*dimension)).map_err(|why| refused(format!("`{word}` {why}")))?;
            }
        }
        match cells {
            Some(row) if widths.contains(&row.len()) && list.first().is_none_or(|f| f.len() == row.len()) => list.push(row),
            // A first line of words is a heading.
            None if k == 0 && is_file => {}
            _ => {
                return Err(refused(format!(
                    "`{line}` does not have {} numbers",
                    widths.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ")
                )));
            }
        }
    }
    Ok(list)
}

fn link(l: &FourBar) -> Value {
    json!({
        "ground": l.base(), "crank": l.crank, "coupler": l.coupler, "rocker": l.rocker, "point": [l.point.re, l.point.im],
        "pins": [[l.ground[0].re, l.ground[0].im], [l.ground[1].re, l.ground[1].im]], "mode": l.mode, "crank_turns": l.crank_turns(),
        "transmission": l.transmission(),
    })
}

fn for_path(args: &SynthesizeArgs, text: &str, screen: &Screen) -> Result<Reply, Stop> {
    let given = rows(text, &[2, 3], &[LENGTH, LENGTH, ANGLE], "points of the path")?;
    let points: Vec<Complex> = given.iter().map(|r| Complex::new(r[0], r[1])).collect();
    let n = points.len();
    let timing = match (args.timing.as_str(), given.first().map(Vec::len)) {
        ("free", _) => Timing::Free,
        ("equal", _) => Timing::Steps((0..n).map(|k| TAU * k as f64 / n as f64).collect()),
        ("given", Some(3)) => {
            let angles: Vec<f64> = given.iter().map(|r| r[2]).collect();
            if args.tilt.is_some() { Timing::Angles(angles) } else { Timing::Steps(angles.iter().map(|a| a - angles[0]).collect()) }
        }
        ("given", _) => {
            return Err(Diagnostic::new("U439", "the points have no crank angles")
                .help("give them as a third number: `0.5,1.1,30deg; ...`")
                .into());
        }
        (step, _) => match quantity_of(step, Some(ANGLE)) {
            Ok(x) if x > 0.0 => Timing::Steps((0..n).map(|k| x * k as f64).collect()),
            _ => {
                return Err(Diagnostic::new("U439", format!("`{step}` is not a valid timing"))
                    .help("write `free`, `equal`, `given`, or the crank angle from point to point, as `20deg`")
                    .into());
            }
        },
    };
    let place = args.place.as_ref().map(|text| rows(text, &[2], &[LENGTH; 2], "place")).transpose()?;
    let place = place.as_ref().and_then(|p| p.first()).map(|p| Complex::new(p[0], p[1]));
    let tilt = args
        .tilt
        .as_ref()
        .map(|t| {
            quantity_of(t, Some(ANGLE))
                .map_err(|why| Diagnostic::new("U439", format!("the tilt `{t}` {why}")).help("write for instance `15deg`"))
        })
        .transpose()?;
    let task = Task {
        points,
        timing,
        place,
        tilt,
        sense: None,
        starts: usize::from(args.starts),
        seed: args.seed,
        threads: args.threads.map_or(0, usize::from),
    };
    let found = path(&task, screen.stop)?;
    let best = &found[0];
    let mut facts = Facts::new(12);
    facts.add("path", &format!("{n} points; the linkages are crank-rockers that pass through them in order on one branch"));
    facts.add("best", &format!("sum of squares {}, farthest point {} m off", number(best.error), number(best.worst)));
    let alike = found.iter().filter(|f| (f.error - best.error).abs() < 1e-6 * best.error).count();
    if alike > 1 {
        facts.add("", &format!("{alike} linkages are equally good, as cognates are: they draw the same curve"));
    }
    facts.add("starts", &format!("{} of {} ended at the best", best.hits, best.starts));
    let row = |f: &Found| {
        let l = &f.linkage;
        let mut cells = vec![format!("{:.7e}", f.error)];
        cells.extend([l.base(), l.crank, l.coupler, l.rocker, l.point.re, l.point.im].map(number));
        cells.extend([format!("{:+}", l.mode), format!("{:.1}", l.transmission().to_degrees()), f.hits.to_string()]);
        cells
    };
    let head = ["sum of squares", "ground", "crank", "coupler", "rocker", "point along", "across", "mode", "transmission [deg]", "hits"];
    let list: Vec<Vec<String>> = found.iter().take(SHOWN).map(row).collect();
    let mut text =
        format!("{}\n\n{}\n{}", screen.bold("Path generation"), facts.text, table(&head, &list, &(0..head.len()).collect::<Vec<_>>()));
    if let Some(cognates) = best.linkage.cognates() {
        let rows: Vec<Vec<String>> =
            cognates.iter().map(|c| [c.base(), c.crank, c.coupler, c.rocker, c.point.re, c.point.im].map(number).to_vec()).collect();
        text += &format!(
            "\nits cognates, which draw the same curve\n{}",
            table(&["ground", "crank", "coupler", "rocker", "point along", "across"], &rows, &[0, 1, 2, 3, 4, 5])
        );
    }
    let fields = |f: &Found| json!({"error": f.error, "worst": f.worst, "linkage": link(&f.linkage), "angles": f.angles, "hits": f.hits, "starts": f.starts});
    let cognates: Vec<Value> = best.linkage.cognates().map(|c| c.iter().map(link).collect()).unwrap_or_default();
    let model = best.linkage.file("Four-bar for a path", &best.angles);
    Ok(Reply::new(
        text,
        json!({"task": "path", "found": found.iter().map(fields).collect::<Vec<_>>(), "cognates": cognates, "model": model}),
    ))
}

fn for_function(args: &SynthesizeArgs, text: &str, screen: &Screen) -> Result<Reply, Stop> {
    let pairs: Vec<[f64; 2]> = rows(text, &[2], &[ANGLE; 2], "pairs of angles")?.into_iter().map(|r| [r[0], r[1]]).collect();
    let fit = function(&pairs, args.ground)?;
    let l = &fit.linkage;
    let mut facts = Facts::new(12);
    facts.add(
        "function",
        &format!(
            "{} pairs of crank and rocker angles; {}",
            pairs.len(),
            if pairs.len() == 3 { "exact" } else { "least squares of Freudenstein's equation" }
        ),
    );
    facts.add(
        "lengths",
        &format!("ground {}, crank {}, coupler {}, rocker {} m", number(l.base()), number(l.crank), number(l.coupler), number(l.rocker)),
    );
    let worst = fit.misses.iter().fold(0.0_f64, |s, m| s.max(m.abs()));
    facts.add("misses", &format!("the rocker is off by up to {} rad", number(worst)));
    let mut reply = Reply::new(
        format!("{}\n\n{}", screen.bold("Function generation"), facts.text),
        json!({"task": "function", "K": fit.K, "linkage": link(l), "misses": fit.misses, "one_branch": fit.one_branch, "model": l.file("Four-bar for a function", &fit.angles)}),
    );
    if !fit.one_branch {
        reply
            .notes
            .list
            .push(defect("the pairs lie on both assembly modes: the linkage cannot pass from one to the next without being taken apart"));
    } else if l.way(&fit.angles).is_none() {
        reply
            .notes
            .list
            .push(defect("the crank cannot turn from one of the pairs to the next: it would have to be taken apart between them"));
    }
    Ok(reply)
}

fn for_motion(args: &SynthesizeArgs, text: &str, screen: &Screen) -> Result<Reply, Stop> {
    let positions: Vec<(Complex, f64)> =
        rows(text, &[3], &[LENGTH, LENGTH, ANGLE], "positions")?.into_iter().map(|r| (Complex::new(r[0], r[1]), r[2])).collect();
    let Ok(positions) = <[(Complex, f64); 3]>::try_from(positions) else {
        return Err(Diagnostic::new("U439", "three positions are needed")
            .help("give x, y and angle of each: `0,0,0; 0.4,0.3,30deg; 0.9,0.2,75deg`")
            .into());
    };
    let (given, pins) = match (&args.moving, &args.fixed) {
        (Some(text), None) => (Given::Moving, text),
        (None, Some(text)) => (Given::Fixed, text),
        _ => {
            return Err(Diagnostic::new("U439", "two pins are needed")
                .help("give `--moving x,y;x,y` in the moving plane, or `--fixed x,y;x,y` in the world")
                .into());
        }
    };
    let pins: Vec<Complex> = rows(pins, &[2], &[LENGTH; 2], "pins")?.into_iter().map(|r| Complex::new(r[0], r[1])).collect();
    let Ok(pins) = <[Complex; 2]>::try_from(pins) else { return Err(Diagnostic::new("U439", "two pins are needed").into()) };
    let (l, angles, one_branch) = motion(&positions, given, &pins)?;
    let mut facts = Facts::new(12);
    facts.add("motion", "three positions, met exactly");
    facts.add(
        "lengths",
        &format!("ground {}, crank {}, coupler {}, rocker {} m", number(l.base()), number(l.crank), number(l.coupler), number(l.rocker)),
    );
    let pin = |p: Complex| format!("({}, {})", number(p.re), number(p.im));
    facts.add("fixed pins", &format!("{} and {}", pin(l.ground[0]), pin(l.ground[1])));
    facts.add("crank", &format!("at {} degrees", angles.map(|a| number(a.to_degrees())).join(", ")));
    let mut reply = Reply::new(
        format!("{}\n\n{}", screen.bold("Motion generation"), facts.text),
        json!({"task": "motion", "linkage": link(&l), "angles": angles, "one_branch": one_branch, "model": l.file("Four-bar for three positions", &angles)}),
    );
    if !one_branch {
        reply.notes.list.push(defect(
            "the positions lie on both assembly modes: the linkage cannot pass from one to the next without being taken apart",
        ));
    } else if l.way(&angles).is_none() {
        reply.notes.list.push(defect("the crank cannot turn from one position to the next: the linkage would have to be taken apart"));
    }
    Ok(reply)
}

fn defect(what: &str) -> Diagnostic {
    Diagnostic::new("W441", what).help("choose other pins, or move the given points")
}
