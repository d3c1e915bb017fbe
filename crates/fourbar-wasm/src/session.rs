//! One mechanism in the page: its file, its current state, and its motion.

use crate::dynamics::Dynamics;
use crate::requests::{Hand, Request};
use crate::{done, words};
use fourbar::Diagnostic;
use fourbar::analysis::assembly::Assembled;
use fourbar::analysis::drag::{Drag, Grip};
use fourbar::evaluate::Evaluation;
use fourbar::inputs::Course;
use fourbar::model::Model;
use fourbar::motion::Instant;
use fourbar::spec::ModelSpec;
use fourbar::state::{Configuration, Pose, Twist};
use fourbar::study::{self, Study};
use fourbar::trajectory::{Recorder, Trajectory, WantedColumns, columns};
use fourbar_check::report::{Findings, examine, facts, headline, mode_lines};
use fourbar_design::equilibrium::start_settled;
use fourbar_io::page::{Note, RunSummary, Shown, data};
use fourbar_io::results::Table;
use fourbar_io::{Loaded, ReadOptions, read_own_model};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::HashMap;

/// Largest number of assembly modes that a page shows.
const MODES: usize = 6;

/// A mechanism and its state.
pub struct Session {
    text: String,
    loaded: Loaded,
    model: Model,
    /// The start, or the reason why it cannot be assembled.
    assembled: Result<Assembled, Diagnostic>,
    /// The current state.
    at: Configuration,
    /// The current instant.
    now: Instant,
    /// The mechanism of this instant, if it differs from that of the file: gravity may be off.
    moved: Option<Box<Model>>,
    drag: Drag,
    dynamics: Option<Dynamics>,
    findings: Option<Box<Findings>>,
    recorder: RefCell<Recorder>,
    /// The study of the file with the given settings, and with inputs that were set.
    study: Study,
    inputs: Vec<(String, f64)>,
}

impl Session {
    /// Reads, checks, builds and assembles; a mechanism that cannot be assembled is kept as drawn.
    pub fn load(text: String, set: Vec<(String, String)>, settings: &Map<String, Value>) -> Result<Self, Vec<Diagnostic>> {
        let loaded = read_own_model(&text, &ReadOptions { set: &set, ..ReadOptions::default() }).map_err(|e| e.into_diagnostics())?;
        let place = |list: Vec<Diagnostic>| list.iter().map(|d| loaded.places.locate(d)).collect::<Vec<_>>();
        let model = loaded.spec.build().map_err(|e| place(e.into_iter().collect()))?;
        let (model, _) = start_settled(model).map_err(|d| place(vec![d]))?;
        let study = with_settings(&Study::of(&model), settings).map_err(one)?;
        let assembled = study.assemble(&model);
        let at = assembled.as_ref().map_or_else(|_| Configuration::start(&model), |a| a.configuration.clone());
        let inputs = model.inputs.iter().zip(&at.z).map(|(i, x)| (i.name.clone(), *x)).collect();
        let mut session = Self {
            now: Instant::new(&model, &at),
            moved: None,
            drag: Drag::new(&model, at.t),
            recorder: RefCell::new(Recorder::new(&model, WantedColumns::ALL)),
            dynamics: None,
            findings: None,
            text,
            loaded,
            model,
            assembled,
            at,
            study,
            inputs,
        };
        session.evaluate();
        Ok(session)
    }

    /// The current instant as a row.
    pub fn row(&self, out: &mut Vec<f64>) {
        out.clear();
        self.recorder.borrow_mut().row(self.moved.as_deref().unwrap_or(&self.model), &self.now, out);
    }

    /// A reply with diagnostics about this file.
    pub fn refused(&self, list: &[Diagnostic]) -> Value {
        let placed: Vec<Diagnostic> = list.iter().map(|d| self.loaded.places.locate(d)).collect();
        words::refused_in(&placed, &self.text)
    }

    /// Description of the mechanism for the page.
    pub fn described(&self) -> Value {
        let mut notes: Vec<Diagnostic> = self.loaded.warnings.clone();
        match &self.assembled {
            Ok(a) => notes.extend(a.warning(&self.model)),
            Err(d) => notes.push(d.clone()),
        }
        let placed: Vec<Diagnostic> = notes.iter().map(|d| self.loaded.places.locate(d)).collect();
        let inputs: Vec<Value> = self
            .model
            .inputs
            .iter()
            .zip(&self.inputs)
            .map(|(i, (_, value))| {
                let bound = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
                json!({"name": i.name, "unit": i.unit, "value": value, "range": [bound(i.range[0]), bound(i.range[1])]})
            })
            .collect();
        json!({
            "ok": true,
            "title": self.model.title,
            "assembled": self.assembled.is_ok(),
            "columns": columns(&self.model).into_iter().map(|c| c.name).collect::<Vec<_>>(),
            "parameters": self.loaded.parameters,
            "written": self.written(),
            "unused": self.loaded.unused_parameters,
            "inputs": inputs,
            "states": self.model.states.iter().map(|s| s.name.clone()).collect::<Vec<_>>(),
            "drives": self.model.drives.iter().map(|d| d.name.clone()).collect::<Vec<_>>(),
            "gravity": self.model.gravity.norm() > 0.0,
            "diagnostics": words::diagnostics(&placed, &self.text),
        })
    }

    /// Parameters that are plain numbers, not computed from others, with the location of their values in the file.
    fn written(&self) -> Vec<Value> {
        let own = |name: &str| !self.loaded.computed_parameters.iter().any(|n| n == name);
        let names = self.loaded.parameters.iter().map(|(name, _)| name).filter(|name| own(name));
        let place = |name: &String| {
            let range = self.loaded.places.value(&format!("parameters.{name}"))?;
            let [start, end] = [range.start, range.end].map(|byte| words::units(&self.text, byte));
            Some(json!([name, start?, end?]))
        };
        names.filter_map(place).collect()
    }

    /// Answers all requests except `load`.
    pub fn answer(&mut self, request: Request) -> Result<Value, Vec<Diagnostic>> {
        match request {
            Request::Load { .. } => Ok(done()),
            Request::Drag { body, at, to } => self.drag(&body, at, to).map_err(one),
            Request::Reset {} => {
                self.dynamics = None;
                self.at = self.assembled.as_ref().map_or_else(|_| Configuration::start(&self.model), |a| a.configuration.clone());
                self.evaluate();
                Ok(done())
            }
            Request::Pose { t, origins, quaternions, values } => self.pose(t, &origins, &quaternions, &values).map_err(one),
            Request::Mode { number } => self.mode(number).map_err(one),
            Request::Start { gravity, motors } => self.start(gravity, motors),
            Request::Advance { by, hand } => self.advance(by, hand.as_ref()),
            Request::Set { input, value } => self.set(&input, value).map_err(one),
            Request::Run {} => self.run(),
            Request::Rows { most } => self.rows(most),
            Request::Still {} => self.still(),
            Request::Check {} => Ok(self.check()),
        }
    }

    fn body(&self, name: &str) -> Result<usize, Diagnostic> {
        let found = self.model.bodies.iter().skip(1).position(|b| b.name == name);
        found.map(|k| k + 1).ok_or_else(|| Diagnostic::new("U472", format!("there is no body `{name}` to drag")).help("take another"))
    }

    fn drag(&mut self, body: &str, at: [f64; 3], to: [f64; 3]) -> Result<Value, Diagnostic> {
        let b = self.body(body)?;
        if at.iter().chain(&to).any(|x| !x.is_finite()) {
            return Err(Diagnostic::new("U472", "a coordinate of the pointer is not a finite number"));
        }
        if self.assembled.is_err() {
            return Err(Diagnostic::new("U472", "a mechanism that is not assembled cannot be dragged").help("close its joints first"));
        }
        self.as_in_file()?;
        self.dynamics = None;
        let grip = Grip { body: b, s: Vector3::from(at) - self.model.bodies[b].com };
        let d = self.drag.to(&self.model, grip, &Vector3::from(to), &mut self.at);
        self.evaluate();
        let at_limit = (!d.limits.is_empty()).then(|| {
            let list: Vec<String> = d.limits.iter().map(|n| format!("`{n}`")).collect();
            let names: Vec<&str> = d.limits.iter().map(|n| n.rsplit_once('.').map_or(n.as_str(), |(joint, _)| joint)).collect();
            let verb = if list.len() == 1 { "is" } else { "are" };
            json!({"text": format!("`{body}` cannot move any further in this direction: {} {verb} reached", list.join(" and ")), "names": names})
        });
        let stopped = d.stopped.map(|moving| {
            let others: Vec<String> = moving.iter().map(|n| format!("`{n}`")).collect();
            let text = match others.as_slice() {
                [] => format!("`{body}` cannot move: the joints permit no motion here"),
                list => format!(
                    "`{body}` is at a dead point: it cannot move any further in this direction; only {} can still move here",
                    list.join(", ")
                ),
            };
            json!({"text": text, "names": moving})
        });
        Ok(json!({"ok": true, "left": d.left, "residual": d.residual, "stopped": at_limit.or(stopped)}))
    }

    /// Rejects requests for the mechanism of the file after an event has changed it.
    fn as_in_file(&self) -> Result<(), Diagnostic> {
        match self.dynamics.as_ref().and_then(Dynamics::changed_by) {
            None => Ok(()),
            Some(event) => Err(Diagnostic::new("U472", format!("event `{event}` has changed the mechanism, and this would undo it"))
                .name(event)
                .help("let it continue, or press Reset to start again with the mechanism of the file")),
        }
    }

    fn pose(&mut self, t: f64, origins: &[[f64; 3]], quaternions: &[[f64; 4]], values: &[(String, f64)]) -> Result<Value, Diagnostic> {
        let n = self.model.moving();
        let finite = origins.iter().flatten().chain(quaternions.iter().flatten()).all(|x| x.is_finite()) && t.is_finite();
        let long = |p: &[f64; 4]| p.iter().map(|x| x * x).sum::<f64>() > 0.25;
        if origins.len() != n || quaternions.len() != n || !finite || !quaternions.iter().all(long) {
            return Err(Diagnostic::new("U472", "the pose of the page does not match the mechanism").help("load the file again"));
        }
        let mut at = self.at.clone();
        at.t = t;
        for (b, (r, p)) in origins.iter().zip(quaternions).enumerate() {
            let A = UnitQuaternion::from_quaternion(Quaternion::new(p[0], p[1], p[2], p[3])).to_rotation_matrix().into_inner();
            at.q[b + 1] = Pose { r: Vector3::from(*r) + A * self.model.bodies[b + 1].com, A };
        }
        let values: HashMap<&str, f64> = values.iter().filter(|(_, x)| x.is_finite()).map(|(n, x)| (n.as_str(), *x)).collect();
        for j in &self.model.joints {
            if let (Some(turn), Some(angle)) = (j.memory, values.get(format!("{}.angle", j.name).as_str())) {
                at.turns[turn] = *angle;
            }
        }
        for (k, state) in self.model.states.iter().enumerate() {
            at.z[self.model.first_state() + k] = values.get(state.name.as_str()).copied().unwrap_or(state.start);
        }
        // The values of bare constraints may change with time.
        self.drag = Drag::new(&self.model, t);
        if !self.drag.close_near(&self.model, &mut at) {
            return Err(Diagnostic::new("U472", "the pose of the page cannot be closed").help("go to another time, or to the start"));
        }
        for (b, body) in self.model.bodies.iter().enumerate().skip(1) {
            let three = |what: &str| -> Option<Vector3<f64>> {
                let of = |axis: &str| values.get(format!("{}.{what}.{axis}", body.name).as_str()).copied();
                Some(Vector3::new(of("x")?, of("y")?, of("z")?))
            };
            if let (Some(v), Some(omega)) = (three("v"), three("omega")) {
                at.v[b] = Twist { v, w: at.q[b].A.tr_mul(&omega) };
            }
        }
        self.dynamics = None;
        self.at = at;
        self.evaluate();
        Ok(done())
    }

    /// Accelerations, reactions and efforts of the current state; if they are not finite, poses only.
    fn evaluate(&mut self) {
        self.moved = None;
        self.now = match Evaluation::new(&self.model, &self.at) {
            Ok(e) if self.assembled.is_ok() => e.instant().clone(),
            _ => Instant::new(&self.model, &self.at),
        };
    }

    fn mode(&mut self, number: usize) -> Result<Value, Diagnostic> {
        let modes = &self.findings().explanation.modes;
        let Some(mode) = modes.get(number) else {
            return Err(Diagnostic::new("U472", format!("there is no assembly mode {}", number + 1)).help("`check` lists them"));
        };
        let mut at = mode.configuration.clone();
        at.v.fill(Twist::zero());
        self.dynamics = None;
        self.at = at;
        self.evaluate();
        Ok(done())
    }

    fn findings(&mut self) -> &Findings {
        let (model, warnings) = (&self.model, &self.loaded.warnings);
        self.findings.get_or_insert_with(|| Box::new(examine(model, warnings)))
    }

    fn start(&mut self, gravity: bool, motors: bool) -> Result<Value, Vec<Diagnostic>> {
        if let Err(d) = &self.assembled {
            return Err(vec![d.clone()]);
        }
        self.as_in_file().map_err(one)?;
        let dynamics = Dynamics::new(self.spec(gravity, motors), &self.study, &self.model, &self.at, &self.inputs)?;
        self.moved = (!gravity).then(|| Box::new(Model { gravity: Vector3::zeros(), ..self.model.clone() }));
        self.now = dynamics.instant(&self.model);
        self.at = self.now.configuration();
        self.dynamics = Some(dynamics);
        Ok(done())
    }

    /// The mechanism for the simulation.
    fn spec(&self, gravity: bool, motors: bool) -> ModelSpec {
        let mut spec = self.loaded.spec.clone();
        spec.settle = false;
        if !gravity {
            spec.gravity = Some([0.0; 3]);
        }
        if !motors {
            spec.drives.clear();
        }
        spec
    }

    fn advance(&mut self, by: f64, hand: Option<&Hand>) -> Result<Value, Vec<Diagnostic>> {
        let Some(dynamics) = &mut self.dynamics else {
            return Err(vec![Diagnostic::new("U470", "nothing moves yet").help("start it first")]);
        };
        let moved = dynamics.advance(by, hand, &self.model);
        let (t, how, events) = (dynamics.t(), dynamics.how(), fourbar_io::page::happened(&self.model, &dynamics.happened()));
        // The state reached is shown even after an error.
        self.now = dynamics.instant(&self.model);
        self.at = self.now.configuration();
        match moved {
            Ok(()) => Ok(json!({"ok": true, "t": t, "how": how, "events": events})),
            Err(list) => {
                self.dynamics = None;
                Err(list)
            }
        }
    }

    fn set(&mut self, input: &str, value: f64) -> Result<Value, Diagnostic> {
        let Some(slot) = self.inputs.iter_mut().find(|(n, _)| n == input) else {
            return Err(Diagnostic::new("U472", format!("there is no input `{input}`")));
        };
        slot.1 = value;
        self.study.inputs.retain(|(n, _)| n != input);
        self.study.inputs.push((input.to_string(), Course::Value(value)));
        if let Some(k) = self.model.inputs.iter().position(|i| i.name == input) {
            self.at.z[k] = value;
        }
        match &mut self.dynamics {
            Some(d) => d.set(input, value)?,
            None => self.evaluate(),
        }
        Ok(done())
    }

    fn run(&mut self) -> Result<Value, Vec<Diagnostic>> {
        let mut rows = Trajectory::default();
        let (report, failure) = match study::run(&self.model, &self.study, &mut rows) {
            Ok(report) => (Some(Box::new(report)), None),
            Err(f) => (f.report, Some(*f.diagnostic)),
        };
        if rows.is_empty() {
            return Err(failure.into_iter().collect());
        }
        let mut summary = report.as_deref().map(RunSummary::from).unwrap_or_default();
        summary.notes.splice(0..0, self.loaded.warnings.iter().map(Note::from));
        summary.notes.extend(failure.iter().map(Note::from));
        self.page(&rows, &summary)
    }

    fn rows(&mut self, most: usize) -> Result<Value, Vec<Diagnostic>> {
        let mut rows = Trajectory::default();
        study::run(&self.model, &self.study, &mut rows).map_err(|f| vec![*f.diagnostic])?;
        let list: Vec<Vec<f64>> = (0..rows.len().min(most)).map(|k| rows.row(k)).collect();
        Ok(json!({"ok": true, "rows": list}))
    }

    fn still(&mut self) -> Result<Value, Vec<Diagnostic>> {
        let mut rows = Trajectory::new(columns(&self.model));
        let mut row = Vec::new();
        self.row(&mut row);
        rows.push(&row);
        let mut summary = RunSummary::default();
        summary.notes.extend(self.loaded.warnings.iter().chain(self.assembled.as_ref().err()).map(Note::from));
        self.page(&rows, &summary)
    }

    fn page(&self, rows: &Trajectory, summary: &RunSummary) -> Result<Value, Vec<Diagnostic>> {
        let table = Table::from(rows);
        let shown = Shown { label: "live".into(), table: &table, summary };
        let (page, _) = data(&self.model, None, &[shown]).map_err(one)?;
        Ok(json!({"ok": true, "page": page}))
    }

    fn check(&mut self) -> Value {
        self.findings();
        let (Some(f), model) = (&self.findings, &self.model) else { return done() };
        let list: Vec<Value> = facts(model, f, false).list.into_iter().map(|(label, text)| json!({"label": label, "text": text})).collect();
        let mut names = vec!["as drawn".to_string()];
        names.extend(mode_lines(model, f, MODES - 1));
        let modes: Vec<&String> =
            if f.explanation.modes.len() > 1 { names.iter().take(f.explanation.modes.len()).collect() } else { Vec::new() };
        let events: Vec<Value> = f
            .explanation
            .sweeps
            .iter()
            .flat_map(|s| {
                s.events
                    .iter()
                    .map(move |e| json!({"joint": s.coordinate.joint, "what": s.coordinate.what, "value": e.value, "names": e.names}))
            })
            .collect();
        json!({"ok": true, "headline": headline(model, f), "facts": list, "modes": modes, "events": events,
            "diagnostics": words::diagnostics(&f.warnings.iter().map(|d| self.loaded.places.locate(d)).collect::<Vec<_>>(), &self.text)})
    }
}

/// A study with some settings changed, by name.
fn with_settings(study: &Study, settings: &Map<String, Value>) -> Result<Study, Diagnostic> {
    let misfit = |what: &dyn std::fmt::Display| {
        Diagnostic::new("U471", format!("the page has settings of a study that cannot be read: {what}")).help("write the page again")
    };
    let mut all = serde_json::to_value(study).map_err(|e| misfit(&e))?;
    for (name, value) in settings {
        all[name] = value.clone();
    }
    serde_json::from_value(all).map_err(|e| misfit(&e))
}

fn one(d: Diagnostic) -> Vec<Diagnostic> {
    vec![d]
}
