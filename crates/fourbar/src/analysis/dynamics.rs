//! Dynamics: drives a formulation from output time to output time, hands its instants over as rows, and keeps what is needed
//! to continue a run.

use crate::analysis::assembly::Assembled;
use crate::analysis::kinematics::undefined_drive;
use crate::analysis::leg::{Change, Fallen, Leg, another_may_pass, no_other, restore_good, save_good};
use crate::analysis::{rank, singular, unique};
use crate::constraint::ConstraintSet;
use crate::diagnostic::Diagnostic;
use crate::force::Force;
use crate::judge::Judge;
use crate::model::Model;
use crate::motion::{Instant, Motion, Told, bad_checkpoint, numbers};
use crate::schur::lightest_and_heaviest;
use crate::study::{Analysis, Chosen, Failed, FormulationInfo, Observer, Report, Study};
use crate::trajectory::{Recorder, columns};
use serde_json::{Value, json};

/// Runs dynamics from an assembled start, or from a checkpoint. The first of the candidates moves the mechanism; where it cannot go on, the
/// next ones in turn do, from the last good state, until none of them gets any further.
pub fn run(
    model: &Model,
    study: &Study,
    candidates: &[Chosen],
    assembled: &Assembled,
    checkpoint: Option<&str>,
    observer: &mut dyn Observer,
) -> Result<Report, Failed> {
    let start = &assembled.configuration;
    let mut told = Told { warnings: assembled.warning(model).into_iter().collect(), ..Told::default() };
    told.notes.extend(assembled.note());
    let not_unique = unique::not_unique(model, start);
    told.warnings.extend(friction_warning(model, &not_unique));
    told.warnings.extend(mass_warning(model));
    let mut recorder = Recorder::new(model);
    let mut now = Instant::new(model, start);
    let mut judge = Judge::new(model, study, Analysis::Dynamics);
    let names = columns(model);
    observer.begin(&names);
    now.loaded = observer.wants_loads();
    let mut good = now.clone();
    let saved = checkpoint.map(|text| Saved::read(model, text)).transpose()?;
    let mut leg = Leg::first(start);
    if let Some(Saved(v)) = &saved {
        leg = Leg::restored(model, start, &v["leg"]).ok_or_else(|| bad_checkpoint("its sizes do not fit"))?;
        restore_good(model, &v["good"], &mut good).ok_or_else(|| bad_checkpoint("its sizes do not fit"))?;
        judge.restore(&v["judge"]);
    }
    // Output times written so far.
    let mut rows = 0;
    // Candidates that got no further from the last good state.
    let mut failed: Vec<Fallen<'_>> = Vec::new();
    let mut row = Vec::new();
    let mut turn = 0;
    let (chosen, stopped, t, failure) = loop {
        let chosen = &candidates[turn % candidates.len()];
        if failed.is_empty() {
            let FormulationInfo { name, options, .. } = chosen.formulation;
            told.notes.extend(chosen.why.iter().map(|why| format!("{name} with {} was chosen: {why}", chosen.integrator)));
            told.warnings.extend(study.idle_options(&format!("`{name}`"), options));
        }
        let mut t = leg.start.t;
        let ended = (chosen.formulation.start)(model, study, chosen.integrator, &leg.start).and_then(|mut motion| {
            if let Some(saved) = saved.as_ref().filter(|_| turn == 0) {
                rows = saved.restore(model, chosen, motion.as_mut(), &mut recorder)? + 1;
                now.t = motion.t();
            }
            let outputs = study.output_times().enumerate().skip(rows);
            let mut refused = None;
            let ended = drive(motion.as_mut(), outputs, &mut now, &mut |event| match event {
                Event::Asked(t) => observer.go_on(t, study.t_end),
                Event::At(index, now, motion) => {
                    now.work += leg.work;
                    row.clear();
                    recorder.row(model, now, &mut row);
                    if let Err(d) = judge.look(now, motion.own_state(), &names, &row) {
                        refused = Some(d);
                        return false;
                    }
                    observer.row(&row);
                    good.clone_from(now);
                    rows = index + 1;
                    if !failed.is_empty() {
                        leg.changes.push(Change::new(leg.start.t, chosen, &failed));
                        failed.clear();
                    }
                    if index == 0 {
                        return true;
                    }
                    observer.checkpoint(&|| save(model, chosen, index, motion, &recorder, (&leg, now, &judge)));
                    observer.go_on(now.t, study.t_end)
                }
            });
            t = motion.t();
            motion.tell(&mut told);
            refused.map_or(ended, Err)
        });
        let d = match ended {
            Ok(on) => break (chosen, !on, now.t, None),
            Err(d) => d,
        };
        if let Some(undefined) = undefined_soon(&judge.set, t, study.output_step) {
            break (chosen, false, t, Some(undefined));
        }
        let on = another_may_pass(&d);
        failed.push(Fallen { chosen, t, work: std::mem::take(&mut told.work), diagnostic: d });
        // From the state of the last row; before the first row, from the start.
        if on && failed.len() < candidates.len() && (rows == 0 || leg.next(model, &good).is_ok()) {
            turn += 1;
            continue;
        }
        told.notes.extend(no_other(&failed));
        let first = failed.swap_remove(0);
        told.work = first.work;
        break (first.chosen, false, first.t, Some(first.diagnostic));
    };
    told.warnings.extend(leg.changes.iter().map(Change::warning));
    told.warnings.extend(singular::warning(&told.singular));
    let mut failure = failure;
    if failure.is_none() && !stopped {
        let steps = told.work.iter().find(|(name, _)| *name == "steps").map_or(0.0, |(_, n)| *n);
        failure = judge.verdict(steps, &mut told.warnings).err();
    }
    let set = &judge.set;
    let report = Report {
        analysis: Analysis::Dynamics,
        formulation: chosen.formulation.name,
        integrator: chosen.integrator,
        t,
        stopped,
        work: told.work,
        rows: set.rows(),
        redundant: rank::redundant_rows(model, set, &start.q),
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
    At(usize, &'a mut Instant, &'a dyn Motion),
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

/// Masses that differ by more than this share cost digits: squared distances from dependence are weighed by it.
const MASS_RATIO: f64 = 1e9;

/// A light body beside a much heavier one.
fn mass_warning(model: &Model) -> Option<Diagnostic> {
    let ratio = |[light, heavy]: [usize; 2]| model.bodies[heavy].mass / model.bodies[light].mass;
    let [light, heavy] =
        lightest_and_heaviest(model).into_iter().skip(1).filter(|e| e[0] != 0).max_by(|a, b| ratio(*a).total_cmp(&ratio(*b)))?;
    let names = [light, heavy].map(|b| model.bodies[b].name.clone());
    (ratio([light, heavy]) > MASS_RATIO).then(|| {
        Diagnostic::new("W282", format!("`{}` is {:.0e} times as heavy as `{}`, with which joints connect it: rounding of the heavy one's motion is of the size of the light one's forces", names[1], ratio([light, heavy]), names[0]))
            .names(names)
            .help("compare with `fourbar verify`; `grcr`, `dca` and `natural` keep more digits there than the others. Leave out the mass that does not matter: a `distance` joint is a rod without a body")
    })
}

/// Load-dependent friction on a reaction that is not unique has no definite value.
pub(crate) fn friction_warning(model: &Model, not_unique: &[(String, Vec<String>)]) -> Vec<Diagnostic> {
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
fn save(
    model: &Model,
    chosen: &Chosen,
    index: usize,
    motion: &dyn Motion,
    recorder: &Recorder,
    (leg, good, judge): (&Leg, &Instant, &Judge),
) -> String {
    json!({
        "fourbar-checkpoint": 1,
        "model": fingerprint(model),
        "formulation": chosen.formulation.name,
        "integrator": chosen.integrator,
        "why": chosen.why,
        "index": index,
        "p": recorder.memory().iter().flatten().copied().collect::<Vec<f64>>(),
        "motion": motion.save(),
        "leg": leg.save(),
        "good": save_good(good),
        "judge": judge.save(),
    })
    .to_string()
}

/// What was in force when a run was saved: formulation, integrator, and why.
pub(crate) fn saved_choice(text: &str) -> Option<[String; 3]> {
    let v: Value = serde_json::from_str(text).ok()?;
    let word = |key: &str| v[key].as_str().map(String::from);
    Some([word("formulation")?, word("integrator")?, word("why")?])
}

/// A checkpoint of this mechanism.
struct Saved(Value);

impl Saved {
    fn read(model: &Model, text: &str) -> Result<Self, Diagnostic> {
        let v: Value = serde_json::from_str(text).map_err(|_| bad_checkpoint("it is not complete"))?;
        if v["model"].as_str() != Some(fingerprint(model).as_str()) {
            return Err(bad_checkpoint("it belongs to another mechanism"));
        }
        Ok(Self(v))
    }

    /// Restores the saved run; gives the index of the last output written.
    fn restore(&self, model: &Model, chosen: &Chosen, motion: &mut dyn Motion, recorder: &mut Recorder) -> Result<usize, Diagnostic> {
        let v = &self.0;
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
}

/// Tells models apart in checkpoints: names, masses and lengths.
fn fingerprint(model: &Model) -> String {
    let bodies: Vec<String> = model.bodies.iter().map(|b| format!("{}:{:e}", b.name, b.mass)).collect();
    let joints: Vec<String> = model.joints.iter().map(|j| format!("{}:{}", j.name, j.kind.name())).collect();
    format!("{} | {} | {:e}", bodies.join(" "), joints.join(" "), model.length)
}
