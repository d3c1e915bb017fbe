//! The summary of a run, either just ended or read from its folder.

use fourbar::Diagnostic;
use fourbar::events::Happened;
use fourbar::singular::Singular;
use fourbar::study::{Analysis, Report};
use serde_json::Value;

/// A warning or error of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    /// Its code.
    pub code: String,
    /// Message and help.
    pub text: String,
    /// Elements involved.
    pub names: Vec<String>,
    /// Time of the event.
    pub time: Option<f64>,
}

/// The report of a run as texts and numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// `kinematics` or `dynamics`, empty where unknown.
    pub analysis: String,
    /// Formulation.
    pub formulation: String,
    /// Integrator.
    pub integrator: String,
    /// Work counts by name.
    pub work: Vec<(String, f64)>,
    /// Number of rows of constraints and drives, and of redundant rows among them, if known.
    pub rows: Option<[usize; 2]>,
    /// Reaction components that are not unique, by joint.
    pub not_unique: Vec<(String, Vec<String>)>,
    /// Singular positions encountered.
    pub singular: Vec<Singular>,
    /// Events, including those of limits and sticking friction.
    pub events: Vec<Happened>,
    /// Warnings and errors.
    pub notes: Vec<Note>,
    /// Descriptions of the assembly modes.
    pub modes: Vec<String>,
}

impl From<&Diagnostic> for Note {
    fn from(d: &Diagnostic) -> Self {
        Self { code: d.code.to_string(), text: sentence(&d.message, &d.help), names: d.names.clone(), time: d.time }
    }
}

fn sentence(message: &str, help: &str) -> String {
    if help.is_empty() { message.into() } else { format!("{message}; {help}") }
}

impl From<&Report> for RunSummary {
    fn from(r: &Report) -> Self {
        Self {
            analysis: if r.analysis == Analysis::Kinematics { "kinematics".into() } else { "dynamics".into() },
            formulation: r.formulation.into(),
            integrator: r.integrator.into(),
            work: r.work.iter().map(|(k, v)| ((*k).to_string(), *v)).collect(),
            rows: Some([r.rows, r.redundant]),
            not_unique: r.not_unique.clone(),
            singular: r.singular.clone(),
            events: r.events.clone(),
            notes: r.warnings.iter().map(Note::from).collect(),
            modes: Vec::new(),
        }
    }
}

impl RunSummary {
    /// From the contents of a `summary.json`; missing entries stay empty.
    pub fn from_summary(s: &Value) -> Self {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
        let texts = |v: &Value| v.as_array().map_or(Vec::new(), |a| a.iter().filter_map(|x| x.as_str().map(String::from)).collect());
        let list = |key: &str| s[key].as_array().map_or(&[][..], Vec::as_slice);
        Self {
            analysis: text(&s["analysis"]),
            formulation: text(&s["formulation"]),
            integrator: text(&s["integrator"]),
            work: s["work"].as_object().map_or(Vec::new(), |w| w.iter().filter_map(|(k, v)| Some((k.clone(), v.as_f64()?))).collect()),
            rows: s["constraint_rows"]
                .as_u64()
                .zip(s["redundant_rows"].as_u64())
                .map(|(all, redundant)| [all as usize, redundant as usize]),
            not_unique: list("reactions_not_unique").iter().map(|r| (text(&r["joint"]), texts(&r["components"]))).collect(),
            singular: list("singular")
                .iter()
                .filter_map(|x| {
                    Some(Singular { time: x["time"].as_f64()?, pivot: x["pivot"].as_f64().unwrap_or(0.0), joints: texts(&x["joints"]) })
                })
                .collect(),
            events: list("events").iter().filter_map(|e| serde_json::from_value(e.clone()).ok()).collect(),
            notes: list("diagnostics")
                .iter()
                .map(|d| Note {
                    code: text(&d["code"]),
                    text: sentence(&text(&d["message"]), &text(&d["help"])),
                    names: texts(&d["names"]),
                    time: d["time"].as_f64(),
                })
                .collect(),
            modes: Vec::new(),
        }
    }
}
