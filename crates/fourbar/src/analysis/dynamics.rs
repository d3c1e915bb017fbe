//! Dynamics: drives a formulation from output time to output time, hands its instants over as rows, and keeps what is needed
//! to continue a run.

use crate::analysis::assembly::Assembled;
use crate::analysis::kinematics::undefined_drive;
use crate::analysis::{rank, singular, unique};
use crate::constraint::ConstraintSet;
use crate::diagnostic::Diagnostic;
use crate::force::Force;
use crate::model::Model;
use crate::motion::{Instant, Motion, Told, bad_checkpoint, numbers};
use crate::study::{Analysis, Chosen, Failed, Observer, Report, Study};
use crate::trajectory::{Recorder, columns};
use serde_json::{Value, json};

/// Runs dynamics from an assembled start, or from a checkpoint.
pub fn run(
    model: &Model,
    study: &Study,
    chosen: &Chosen,
    assembled: &Assembled,
    checkpoint: Option<&str>,
    observer: &mut dyn Observer,
) -> Result<Report, Failed> {
    let (formulation, integrator) = (chosen.formulation, chosen.integrator);
    let start = &assembled.configuration;
    let mut told = Told { warnings: assembled.warning(model).into_iter().collect(), ..Told::default() };
    told.notes.extend(chosen.why.iter().map(|why| format!("{} with {integrator} was chosen: {why}", formulation.name)));
    told.warnings.extend(study.idle_options(&format!("`{}`", formulation.name), formulation.options));
    let not_unique = unique::not_unique(model, start);
    told.warnings.extend(friction_warning(model, &not_unique));
    let mut motion = (formulation.start)(model, study, integrator, start)?;
    let mut recorder = Recorder::new(model);
    let mut now = Instant::new(model, start);
    observer.begin(&columns(model));
    let mut outputs = study.output_times().enumerate().peekable();
    if let Some(text) = checkpoint {
        let index = restore(model, chosen, text, motion.as_mut(), &mut recorder)?;
        now.t = motion.t();
        while outputs.peek().is_some_and(|(k, _)| *k <= index) {
            outputs.next();
        }
    }
    let mut row = Vec::new();
    let ended = drive(motion.as_mut(), outputs, &mut now, &mut |event| match event {
        Event::Asked(t) => observer.go_on(t, study.t_end),
        Event::At(index, now, motion) => {
            row.clear();
            recorder.row(model, now, &mut row);
            observer.row(&row);
            if index == 0 {
                return true;
            }
            observer.checkpoint(&|| save(model, chosen, index, motion, &recorder));
            observer.go_on(now.t, study.t_end)
        }
    });
    let (stopped, failure) = match ended {
        Ok(on) => (!on, None),
        Err(d) => (false, Some(d)),
    };
    motion.tell(&mut told);
    told.warnings.extend(singular::warning(&told.singular));
    let set = ConstraintSet::new(model.all_constraints(), |_| false);
    let failure = failure.map(|d| undefined_soon(&set, motion.t(), study.output_step).unwrap_or(d));
    let report = Report {
        analysis: Analysis::Dynamics,
        formulation: formulation.name,
        integrator,
        t: if failure.is_some() { motion.t() } else { now.t },
        stopped,
        work: told.work,
        rows: set.rows(),
        redundant: set.rows() - rank::rank(model, &set, &start.q).rank,
        not_unique,
        singular: told.singular,
        notes: told.notes,
        warnings: told.warnings,
        length: model.length,
    };
    match failure {
        Some(d) => Err(Failed { diagnostic: Box::new(d), report: Some(Box::new(report)) }),
        None => Ok(report),
    }
}

/// Whether a run ended because something prescribed is not finite from there on.
fn undefined_soon(set: &ConstraintSet, t: f64, output_step: f64) -> Option<Diagnostic> {
    [0.0, 1e-6, 1e-3, 1.0].iter().find_map(|share| {
        let t = t + share * output_step;
        set.undefined(t).map(|c| undefined_drive(&c.name, t))
    })
}

/// What happens on the way.
pub enum Event<'a> {
    /// Between output times: may it go on?
    Asked(f64),
    /// An output time: its number, the instant, and the motion itself.
    At(usize, &'a Instant, &'a dyn Motion),
}

/// Moves from output time to output time; `false` where `event` said stop.
pub fn drive(
    motion: &mut dyn Motion,
    outputs: impl Iterator<Item = (usize, f64)>,
    now: &mut Instant,
    event: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<bool, Diagnostic> {
    for (index, t) in outputs {
        if index > 0 && !motion.advance(t, &mut |t| event(Event::Asked(t)))? {
            return Ok(false);
        }
        motion.instant(t, now)?;
        if !event(Event::At(index, now, motion)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Load-dependent friction on a reaction that is not unique has no definite value.
pub(super) fn friction_warning(model: &Model, not_unique: &[(String, Vec<String>)]) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    for (name, f) in &model.forces {
        if let Force::Friction { joint, coulomb, .. } = f {
            let joint = &model.joints[*joint].name;
            let forces = not_unique.iter().find(|(j, c)| j == joint && c.iter().any(|c| c.starts_with("force")));
            if *coulomb > 0.0 && forces.is_some() {
                list.push(
                    Diagnostic::new("W230", format!("friction `{name}` depends on the load of joint `{joint}`, which is not unique: the mechanism is over-constrained there"))
                        .names([name.clone(), joint.clone()])
                        .help("the minimum-norm load is used; remove the redundancy (make a hinge spherical or cylindrical) or state the friction without load"),
                );
            }
        }
    }
    list
}

/// Everything needed to continue, as JSON; numbers survive to the bit.
fn save(model: &Model, chosen: &Chosen, index: usize, motion: &dyn Motion, recorder: &Recorder) -> String {
    json!({
        "fourbar-checkpoint": 1,
        "model": fingerprint(model),
        "formulation": chosen.formulation.name,
        "integrator": chosen.integrator,
        "why": chosen.why,
        "index": index,
        "p": recorder.memory().iter().flatten().copied().collect::<Vec<f64>>(),
        "motion": motion.save(),
    })
    .to_string()
}

/// What was chosen for the first part of a saved run: formulation, integrator, and why.
pub(crate) fn saved_choice(text: &str) -> Option<[String; 3]> {
    let v: Value = serde_json::from_str(text).ok()?;
    let word = |key: &str| v[key].as_str().map(String::from);
    Some([word("formulation")?, word("integrator")?, word("why")?])
}

/// Restores a saved run; gives the index of the last output written.
fn restore(model: &Model, chosen: &Chosen, text: &str, motion: &mut dyn Motion, recorder: &mut Recorder) -> Result<usize, Diagnostic> {
    let v: Value = serde_json::from_str(text).map_err(|_| bad_checkpoint("it is not complete"))?;
    if v["model"].as_str() != Some(fingerprint(model).as_str()) {
        return Err(bad_checkpoint("it belongs to another mechanism"));
    }
    // States of other formulations may have the same size and mean something else.
    if v["formulation"] != chosen.formulation.name || v["integrator"] != chosen.integrator {
        return Err(bad_checkpoint("it belongs to another formulation or integrator"));
    }
    let last: Vec<[f64; 4]> = numbers(&v["p"]).chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
    if last.len() != model.bodies.len() {
        return Err(bad_checkpoint("its sizes do not fit"));
    }
    motion.restore(&v["motion"])?;
    recorder.restore(&last);
    Ok(v["index"].as_u64().unwrap_or(0) as usize)
}

/// Tells models apart in checkpoints: names, masses and lengths.
fn fingerprint(model: &Model) -> String {
    let bodies: Vec<String> = model.bodies.iter().map(|b| format!("{}:{:e}", b.name, b.mass)).collect();
    let joints: Vec<String> = model.joints.iter().map(|j| format!("{}:{}", j.name, j.kind.name())).collect();
    format!("{} | {} | {:e}", bodies.join(" "), joints.join(" "), model.length)
}
