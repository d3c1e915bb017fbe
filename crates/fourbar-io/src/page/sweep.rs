//! One self-contained page of a sweep: parallel coordinates, scatter, heat map. Nothing is loaded from outside; its policy allows only the
//! script and the style that it carries.

use crate::pack::base64;
use crate::results::{CaseRow, SweepPlan};
use fourbar_design::sweep::Status;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const SCRIPT: &str = include_str!("sweep/page.js");
const STYLE: &str = include_str!("sweep/page.css");

/// The page of the rows of a plan. `schema` has the units of the columns, `title` is what the mechanism is called.
pub fn sweep_page(title: &str, plan: &SweepPlan, schema: &Value, rows: &[&CaseRow]) -> String {
    let unit = |name: &str| {
        let columns = schema["columns"].as_array().map(Vec::as_slice).unwrap_or_default();
        columns.iter().find(|c| c["name"] == name).and_then(|c| c["unit"].as_str()).unwrap_or_default().to_string()
    };
    let number = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (k, a) in plan.axes.iter().enumerate() {
        // In the unit in which they were given.
        let shown = if a.unit.is_empty() { unit(&format!("set.{}", a.name)) } else { a.unit.clone() };
        columns.push(json!({"name": a.name, "unit": shown, "role": "set"}));
        let written = |x: f64| number(rounded(x / a.factor));
        values.push(rows.iter().map(|r| written(r.values[k])).collect::<Vec<_>>());
    }
    for (k, (name, _)) in plan.measures.iter().enumerate() {
        columns.push(json!({"name": name, "unit": unit(name), "role": "measure"}));
        values.push(rows.iter().map(|r| number(r.measures[k])).collect());
    }
    let failed = |r: &CaseRow| if r.status == Status::Ok { Value::Null } else { json!(r.message) };
    let units: Vec<(&str, &str)> = plan.axes.iter().map(|a| (a.name.as_str(), a.unit.as_str())).collect();
    let data = json!({
        "fourbar": 1,
        "kind": "sweep",
        "title": if title.is_empty() { &plan.file } else { title },
        "file": plan.file,
        "set": plan.set.iter().map(|(n, v)| format!(" --set {n}={}", word(v))).collect::<String>(),
        "units": units,
        "columns": columns,
        "cases": rows.iter().map(|r| r.case).collect::<Vec<_>>(),
        "values": values,
        "status": rows.iter().map(|r| r.status.word()).collect::<Vec<_>>(),
        "codes": rows.iter().map(|r| r.code.as_str()).collect::<Vec<_>>(),
        "failures": rows.iter().map(|r| failed(r)).collect::<Vec<_>>(),
    });
    // Only strings can hold this sign; written so, no text can end the block.
    let data = data.to_string().replace('<', "\\u003c");
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        base64(&Sha256::digest(SCRIPT.as_bytes())),
        base64(&Sha256::digest(STYLE.as_bytes()))
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>Fourbar: sweep</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<noscript>This page shows the cases of a sweep and needs JavaScript, which it carries inside; nothing is loaded from outside.</noscript>\n\
         <div id=\"app\"></div>\n<script type=\"application/json\" id=\"fourbar-data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// A number without the digits that a change of unit leaves behind.
fn rounded(x: f64) -> f64 {
    format!("{x:.12e}").parse().unwrap_or(x)
}

/// A word for a shell.
fn word(text: &str) -> String {
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "._-+*/".contains(c)) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_closing_tag_ends_the_page_early() {
        assert!(!SCRIPT.to_lowercase().contains("</script") && !STYLE.to_lowercase().contains("</style"));
    }
}
