//! The motion as one animated SVG picture, for a README, a slide or a web page: without script, a few tens of kilobytes.

use super::{FRAMES, Film, Footing, INK, Part, TRACE, footings, strokes, thinned};
use crate::disk::MARK;
use crate::page::Shown;
use crate::plot::escaped;
use fourbar::Diagnostic;
use fourbar::model::Model;
use std::fmt::Write;

/// An animated picture of a result.
pub fn animated_svg(model: &Model, shown: &Shown<'_>) -> Result<String, Diagnostic> {
    let film = Film::new(model, shown, FRAMES)?;
    let [width, height] = film.size;
    let keys: Vec<String> = film.shares.iter().map(|x| if film.span > 0.0 { format!("{x:.4}") } else { "0".into() }).collect();
    let keys = keys.join(";");
    let duration = film.duration;
    let mut s = String::new();
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        s,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}">"##
    );
    let _ = writeln!(s, "<desc>{MARK}</desc>\n<title>{}</title>", escaped(&model.title));
    let _ = writeln!(s, r##"<rect width="{width:.0}" height="{height:.0}" rx="6" fill="#fff"/>"##);
    for f in footings(model, &film.camera, &film.frames) {
        footing(&mut s, &f);
    }
    for path in &film.paths {
        let d = line(&thinned(path));
        let _ = writeln!(s, r##"<path d="{d}" fill="none" stroke="{TRACE}" stroke-width="1.5" opacity="0.45"/>"##);
    }
    let moving = |s: &mut String, d: &[String], attributes: &str| {
        let first = d.first().map_or("", String::as_str);
        let still = d.iter().all(|x| x == first) || film.span <= 0.0;
        let _ = match still {
            true => writeln!(s, r##"<path d="{first}" {attributes}/>"##),
            false => writeln!(
                s,
                r##"<path d="{first}" {attributes}><animate attributeName="d" dur="{duration}s" repeatCount="indefinite" keyTimes="{keys}" values="{}"/></path>"##,
                d.join(";")
            ),
        };
    };
    // Parts that are active at times only are in a group that is visible at these times.
    let seen = |s: &mut String, there: &[bool], inside: &dyn Fn(&mut String)| {
        if there.iter().all(|x| *x) {
            return inside(s);
        }
        let word = |x: &bool| if *x { "visible" } else { "hidden" };
        let values: Vec<&str> = there.iter().map(word).collect();
        let _ = writeln!(
            s,
            r##"<g visibility="{}"><animate attributeName="visibility" calcMode="discrete" dur="{duration}s" repeatCount="indefinite" keyTimes="{keys}" values="{}"/>"##,
            values[0],
            values.join(";")
        );
        inside(s);
        s.push_str("</g>\n");
    };
    for part in &film.parts {
        let d: Vec<String> = film.frames.iter().map(|f| path(part, &strokes(part, &film.camera, f))).collect();
        let pen = film.pen(part);
        let fill = if part.filled { part.colour.as_str() } else { "none" };
        let look = format!(
            r##"fill="{fill}" fill-opacity="0.25" stroke="{}" stroke-width="{pen:.1}" stroke-opacity="0.8" stroke-linecap="round" stroke-linejoin="round""##,
            part.colour
        );
        let there: Vec<bool> = film.frames.iter().map(|f| part.is_in(f)).collect();
        seen(&mut s, &there, &|s| moving(s, &d, &look));
    }
    let joints: Vec<Vec<([f64; 2], bool)>> = film.frames.iter().map(|f| film.joints(f)).collect();
    for k in 0..model.joints.len() {
        let (d, there): (Vec<String>, Vec<bool>) = joints.iter().map(|j| (dot(j[k].0), j[k].1)).unzip();
        seen(&mut s, &there, &|s| {
            moving(s, &d, &format!(r##"stroke="{INK}" stroke-width="7" stroke-linecap="round""##));
            moving(s, &d, r##"stroke="#fff" stroke-width="4" stroke-linecap="round""##);
        });
    }
    for p in &film.traces {
        let d: Vec<String> = film.frames.iter().map(|f| dot(film.camera.pixel(&f.place(p)))).collect();
        moving(&mut s, &d, &format!(r##"stroke="{TRACE}" stroke-width="7" stroke-linecap="round""##));
    }
    s.push_str("</svg>\n");
    Ok(s)
}

/// A hatched support, or a rail.
fn footing(s: &mut String, f: &Footing) {
    let _ = match f {
        Footing::Rail([a, b]) => writeln!(
            s,
            r##"<path d="M{:.1} {:.1}L{:.1} {:.1}" stroke="#bbb" stroke-width="5" stroke-linecap="butt"/>"##,
            a[0], a[1], b[0], b[1]
        ),
        Footing::Foot([x, y]) => {
            let mut d = format!("M{x:.1} {y:.1}l-7 13h14zM{:.1} {:.1}h22", x - 11.0, y + 13.0);
            for k in 0..4 {
                let _ = write!(d, "M{:.1} {:.1}l-4 5", x - 8.0 + 6.0 * f64::from(k), y + 13.0);
            }
            writeln!(s, r##"<path d="{d}" fill="#e8e8e8" stroke="#888" stroke-width="1.2"/>"##)
        }
    };
}

fn path(part: &Part, strokes: &[Vec<[f64; 2]>]) -> String {
    let end = if part.closed { "Z" } else { "" };
    strokes.iter().map(|points| line(points) + end).collect()
}

/// Straight lines through points.
fn line(points: &[[f64; 2]]) -> String {
    let mut d = String::new();
    for (k, [x, y]) in points.iter().enumerate() {
        let _ = write!(d, "{}{x:.1} {y:.1}", if k == 0 { 'M' } else { 'L' });
    }
    d
}

/// A stroke of zero length, which a round cap makes a dot.
fn dot([x, y]: [f64; 2]) -> String {
    format!("M{x:.1} {y:.1}L{x:.1} {y:.1}")
}
