//! One self-contained page of a study of many cases: parallel coordinates, scatter, heat map, and the selected case in motion. Nothing is
//! loaded from outside; its policy allows only the script and the style that it contains.

use crate::pack::base64;
use crate::results::{CaseRow, SweepPlan};
use fourbar_design::sweep::{Axis, Status};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const SCRIPT: &str = include_str!("sweep/page.js");
const STYLE: &str = include_str!("sweep/page.css");

/// The page of the rows of a plan. `schema` contains the units of the columns, `title` is the name of the mechanism; a live page of the
/// mechanism shows the selected case in motion.
pub fn sweep_page(title: &str, plan: &SweepPlan, schema: &Value, rows: &[&CaseRow], live: Option<&str>) -> String {
    let unit = |name: &str| {
        let columns = schema["columns"].as_array().map(Vec::as_slice).unwrap_or_default();
        columns.iter().find(|c| c["name"] == name).and_then(|c| c["unit"].as_str()).unwrap_or_default().to_string()
    };
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (k, a) in plan.axes.iter().enumerate() {
        // In the unit of the input.
        let shown = if a.unit.is_empty() { unit(&format!("set.{}", a.name)) } else { a.unit.clone() };
        columns.push(json!({"name": a.name, "unit": shown, "role": "set"}));
        values.push(rows.iter().map(|r| number(rounded(r.values[k] / a.factor))).collect::<Vec<_>>());
    }
    for (k, (name, _)) in plan.measures.iter().enumerate() {
        columns.push(json!({"name": name, "unit": unit(name), "role": "measure"}));
        values.push(rows.iter().map(|r| number(r.measures[k])).collect());
    }
    let failed = |r: &CaseRow| if r.status == Status::Ok { Value::Null } else { json!(r.message) };
    let data = json!({
        "fourbar": 1,
        "kind": "sweep",
        "title": if title.is_empty() { &plan.file } else { title },
        "file": plan.file,
        "set": plan.set,
        "columns": columns,
        "cases": rows.iter().map(|r| r.case).collect::<Vec<_>>(),
        "values": values,
        "status": rows.iter().map(|r| r.status.word()).collect::<Vec<_>>(),
        "codes": rows.iter().map(|r| r.code.as_str()).collect::<Vec<_>>(),
        "failures": rows.iter().map(|r| failed(r)).collect::<Vec<_>>(),
    });
    filled(&data, live)
}

/// The history of a search: the varied parameters, and a row for each improvement.
pub struct History<'a> {
    /// Title of the mechanism.
    pub title: &'a str,
    /// Name of its file.
    pub file: &'a str,
    /// Parameters with the same value in all steps.
    pub set: &'a [(String, String)],
    /// The varied parameters.
    pub axes: &'a [Axis],
    /// Number of the start, goal, violation of conditions, and the values, in the order of the search.
    pub steps: Vec<(usize, f64, f64, &'a [f64])>,
}

/// The page of a search: the goal by step, all columns beside each other, and the selected step in motion.
pub fn history_page(history: &History<'_>, live: Option<&str>) -> String {
    let steps = &history.steps;
    let column = |name: &str, unit: &str, role: &str| json!({"name": name, "unit": unit, "role": role});
    let mut columns = vec![column("step", "", "step"), column("start", "", "step")];
    let mut values: Vec<Vec<Value>> = vec![(1..=steps.len()).map(|k| json!(k)).collect(), steps.iter().map(|s| json!(s.0)).collect()];
    for (k, a) in history.axes.iter().enumerate() {
        columns.push(column(&a.name, &a.unit, "set"));
        values.push(steps.iter().map(|s| s.3.get(k).map_or(Value::Null, |x| number(rounded(x / a.factor)))).collect());
    }
    columns.push(column("goal", "", "measure"));
    values.push(steps.iter().map(|s| number(s.1)).collect());
    if steps.iter().any(|s| s.2 > 0.0) {
        columns.push(column("broken by", "", "measure"));
        values.push(steps.iter().map(|s| number(s.2)).collect());
    }
    let every = |x: &str| steps.iter().map(|_| json!(x)).collect::<Vec<_>>();
    let data = json!({
        "fourbar": 1,
        "kind": "history",
        "title": history.title,
        "file": history.file,
        "set": history.set,
        "columns": columns,
        "cases": (1..=steps.len()).collect::<Vec<_>>(),
        "values": values,
        "status": every("ok"),
        "codes": every(""),
        "failures": steps.iter().map(|_| Value::Null).collect::<Vec<_>>(),
    });
    filled(&data, live)
}

fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

/// The page with its data. A live page is stored as text and shown in a frame, to which the policy of this page also applies, so its
/// permissions are added here.
fn filled(data: &Value, live: Option<&str>) -> String {
    // `<` occurs in strings only; escaped, no text can end the script block.
    let block = |v: &Value| v.to_string().replace('<', "\\u003c");
    let allowed = |what: &str| {
        let policy = live.and_then(|page| page.split_once(what)).map(|(_, rest)| rest);
        policy.and_then(|rest| rest.split_once(';')).map_or(String::new(), |(list, _)| format!(" {list}"))
    };
    let policy = format!(
        "default-src 'none'; worker-src{}; script-src 'sha256-{}'{}; style-src 'sha256-{}'{}; img-src blob: data:; media-src blob:; base-uri 'none'; form-action 'none'",
        if live.is_some() { allowed("worker-src ") } else { " 'none'".into() },
        base64(&Sha256::digest(SCRIPT.as_bytes())),
        allowed("script-src "),
        base64(&Sha256::digest(STYLE.as_bytes())),
        allowed("style-src "),
    );
    let (data, live) = (block(data), live.map_or("null".into(), |page| block(&json!(page))));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>Fourbar: sweep</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<noscript>This page shows the cases of a study and needs JavaScript, which it contains; nothing is loaded from the network.</noscript>\n\
         <div id=\"app\"></div>\n<script type=\"application/json\" id=\"fourbar-data\">{data}</script>\n\
         <script type=\"application/json\" id=\"fourbar-live\">{live}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// A number without the rounding errors of a change of unit.
fn rounded(x: f64) -> f64 {
    format!("{x:.12e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_closing_tag_ends_the_page_early() {
        assert!(!SCRIPT.to_lowercase().contains("</script") && !STYLE.to_lowercase().contains("</style"));
    }
}
