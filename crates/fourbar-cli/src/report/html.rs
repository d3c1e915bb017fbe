//! The page of a report: tables and pictures in one self-contained file.

use super::gather::{Gathered, JOINT_HEAD, Joint, MOTOR_HEAD, Motor, SPRING_HEAD, Spring};
use fourbar_io::disk::MARK;
use fourbar_io::plot::{Curve, Scale, svg_scaled};
use fourbar_io::results::Table;

/// Largest number of drawn motors, and of joints.
const DRAWN: usize = 12;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.45 system-ui,sans-serif;max-width:66rem;margin:2rem auto;padding:0 1rem;color:#1d2733;background:#fff}\
h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2rem 0 .6rem}p{margin:.3rem 0;color:#5a6675}\
.wide{overflow-x:auto}\
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
th{font-weight:600;text-align:right;border-bottom:2px solid #c9d2dc;padding:.25rem .5rem}\
td{text-align:right;border-bottom:1px solid #e4e9ee;padding:.25rem .5rem}\
th:first-child,td:first-child{text-align:left}\
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem;margin-top:1rem}\
.pictures svg{width:100%;height:auto;border:1px solid #e4e9ee;border-radius:6px;background:#fff}\
@media(prefers-color-scheme:dark){body{background:#151b22;color:#dde5ee}p{color:#9fb0c0}th{border-color:#3a4653}td{border-color:#27313b}\
.pictures svg{filter:invert(.9) hue-rotate(180deg)}}\
@media print{body{margin:0;max-width:none}}";

fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            '&' => "&amp;".into(),
            '"' => "&quot;".into(),
            c if c.is_control() => " ".into(),
            c => c.to_string(),
        })
        .collect()
}

fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
        let inner: String = cells.map(|c| format!("<{tag}>{}</{tag}>", escaped(c))).collect();
        format!("<tr>{inner}</tr>\n")
    };
    let body: String = rows.iter().map(|r| line("td", &mut r.iter().map(String::as_str))).collect();
    format!(
        "<div class=\"wide\"><table>\n<thead>{}</thead>\n<tbody>\n{body}</tbody></table></div>\n",
        line("th", &mut head.iter().copied())
    )
}

/// A picture of some curves; empty if no value is finite.
fn picture(title: &str, x: (&str, &str), y: (&str, &str), curves: &[Curve<'_>]) -> String {
    svg_scaled(title, x, y, Scale { compact: true, ..Scale::default() }, curves).unwrap_or_default()
}

fn of_motor(m: &Motor, rows: &Table) -> String {
    let column = |name: &str| rows.column(name).unwrap_or(&[]);
    let (t, speed, effort) = (column("t"), column(&m.speed), column(&format!("{}.effort", m.name)));
    let power: Vec<f64> = speed.iter().zip(effort).map(|(v, u)| v * u).collect();
    let rate = if m.unit == "N" { "m/s" } else { "rad/s" };
    let mut limits: Vec<(String, Vec<f64>)> = Vec::new();
    for (word, value) in [("rated", m.motor.as_ref().and_then(|s| s.rated)), ("limit", m.motor.as_ref().and_then(|s| s.limit))] {
        if let Some(x) = value {
            limits.push((word.into(), vec![x; t.len()]));
        }
    }
    let mut over_time = vec![Curve { name: "effort", unit: m.unit, x: t, y: effort }];
    over_time.extend(limits.iter().map(|(name, y)| Curve { name, unit: m.unit, x: t, y }));
    let first = picture(&format!("{}: effort", m.name), ("t", "s"), ("effort", m.unit), &over_time);
    let cloud = [Curve { name: "effort over speed", unit: m.unit, x: speed, y: effort }];
    let second = picture(&format!("{}: effort over speed", m.name), ("speed", rate), ("effort", m.unit), &cloud);
    let third = picture(&format!("{}: power", m.name), ("t", "s"), ("power", "W"), &[Curve { name: "power", unit: "W", x: t, y: &power }]);
    let words = m.rotor_words().map_or(String::new(), |w| format!("<p>{}: {}</p>\n", escaped(&m.name), escaped(&w)));
    format!("{words}<div class=\"pictures\">\n{first}{second}{third}</div>\n")
}

/// The forces of the joints with the largest loads.
fn of_joints(joints: &[Joint], rows: &Table) -> String {
    let mut list: Vec<&Joint> = joints.iter().collect();
    list.sort_by(|a, b| b.peak_force.total_cmp(&a.peak_force));
    let t = rows.column("t").unwrap_or(&[]);
    let data: Vec<(&str, Vec<f64>)> = list
        .iter()
        .take(6)
        .map(|j| {
            let part = |a: &str| rows.column(&format!("{}.force.{a}", j.name)).unwrap_or(&[]);
            let (x, y, z) = (part("x"), part("y"), part("z"));
            (j.name.as_str(), (0..x.len()).map(|k| (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt()).collect())
        })
        .collect();
    let curves: Vec<Curve<'_>> = data.iter().map(|(name, y)| Curve { name, unit: "N", x: t, y }).collect();
    let polar: Vec<String> = list
        .iter()
        .take(3)
        .filter_map(|j| {
            let part = |a: &str| rows.column(&format!("{}.force.{a}", j.name));
            let mut axes = [("x", part("x")?), ("y", part("y")?), ("z", part("z")?)];
            let width = |y: &[f64]| y.iter().copied().fold(f64::NEG_INFINITY, f64::max) - y.iter().copied().fold(f64::INFINITY, f64::min);
            axes.sort_by(|a, b| width(b.1).total_cmp(&width(a.1)));
            let curve = [Curve { name: &j.name, unit: "N", x: axes[0].1, y: axes[1].1 }];
            Some(picture(&format!("{}: direction of its force", j.name), (axes[0].0, "N"), (axes[1].0, "N"), &curve))
        })
        .collect();
    format!(
        "<div class=\"pictures\">\n{}{}</div>\n",
        picture("Forces of the joints with the largest loads", ("t", "s"), ("force", "N"), &curves),
        polar.concat()
    )
}

/// The page.
pub fn page(title: &str, result: &str, found: &Gathered, rows: &Table) -> String {
    let mut body = format!("<h1>{}</h1>\n<p>Report of {}</p>\n", escaped(title), escaped(result));
    if !found.motors.is_empty() {
        body += "<h2>Motors and drives</h2>\n";
        body += &table(&MOTOR_HEAD, &found.motors.iter().map(Motor::cells).collect::<Vec<_>>());
        found.motors.iter().take(DRAWN).for_each(|m| body += &of_motor(m, rows));
    }
    if !found.joints.is_empty() {
        body += "<h2>Bearing loads</h2>\n<p>Reactions of the joints on their moving bodies. Where redundant constraints share a load the smallest reactions are given.</p>\n";
        body += &table(&JOINT_HEAD, &found.joints.iter().map(Joint::cells).collect::<Vec<_>>());
        body += &of_joints(&found.joints, rows);
    }
    if !found.springs.is_empty() {
        body += "<h2>Springs, dampers and ropes</h2>\n";
        body += &table(&SPRING_HEAD, &found.springs.iter().map(Spring::cells).collect::<Vec<_>>());
        let t = rows.column("t").unwrap_or(&[]);
        let pictures: String = found
            .springs
            .iter()
            .take(DRAWN)
            .filter_map(|s| {
                let (key, unit) = if rows.column(&format!("{}.tension", s.name)).is_some() { ("tension", "N") } else { ("torque", "N*m") };
                let y = rows.column(&format!("{}.{key}", s.name))?;
                Some(picture(&format!("{}: {key}", s.name), ("t", "s"), (key, unit), &[Curve { name: &s.name, unit, x: t, y }]))
            })
            .collect();
        body += &format!("<div class=\"pictures\">\n{pictures}</div>\n");
    }
    if let Some(e) = &found.energy {
        let n = fourbar::diagnostic::number;
        body += &format!(
            "<h2>Energy</h2>\n<p>Between {} and {} J; work done on the mechanism {} J.</p>\n",
            n(e.least),
            n(e.largest),
            n(e.work)
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"generator\" content=\"{MARK}\">\n<meta name=\"viewport\" content=\"width=device-width\"><title>{}</title>\n<style>{STYLE}</style></head>\n<body>\n{body}</body></html>\n",
        escaped(title)
    )
}
