//! A study of kinematics: from output time to output time, with the work of the drives and the singular positions on the way.

use super::Kinematics;
use crate::analysis::assembly::Assembled;
use crate::analysis::dynamics::friction_warning;
use crate::analysis::singular::{self, Detector};
use crate::analysis::{rank, unique};
use crate::diagnostic::Diagnostic;
use crate::force::Force;
use crate::formulation::chart::{Chart, Ra};
use crate::formulation::reps::Reps;
use crate::formulation::rp::Rp;
use crate::integrator::asked_every;
use crate::judge::Judge;
use crate::model::Model;
use crate::motion::Instant;
use crate::study::{Analysis, Chosen, Failed, Observer, Report, Study, count};
use crate::trajectory::{Recorder, columns};

/// Runs kinematics from an assembled start, in the chart of the formulation where it is one.
pub fn run(model: &Model, study: &Study, chosen: &Chosen, assembled: &Assembled, observer: &mut dyn Observer) -> Result<Report, Failed> {
    match chosen.formulation.name {
        Rp::NAME => run_in::<Rp>(model, study, assembled, None, observer),
        Reps::NAME => run_in::<Reps>(model, study, assembled, None, observer),
        // A choice was made for dynamics and says nothing here.
        name => run_in::<Ra>(model, study, assembled, (name != Ra::NAME && chosen.why.is_none()).then_some(name), observer),
    }
}

fn run_in<C: Chart>(
    model: &Model,
    study: &Study,
    assembled: &Assembled,
    other: Option<&str>,
    observer: &mut dyn Observer,
) -> Result<Report, Failed> {
    if let Some(r) = model.rolling.first() {
        return Err(Diagnostic::new("S222", format!("`{}` constrains velocities only, which kinematics cannot carry", r.name))
            .name(r.name.clone())
            .help("let dynamics move it: `study: {analysis: dynamics}` and `fourbar run`")
            .into());
    }
    let start = &assembled.configuration;
    let free = rank::mobility(model, start, true);
    let mut warnings: Vec<Diagnostic> = assembled.warning(model).into_iter().collect();
    warnings.extend(study.idle_options("kinematics", &[]));
    warnings.extend(other.map(|f| {
        Diagnostic::new("W302", format!("formulation `{f}` means nothing to kinematics"))
            .help("`--analysis dynamics` lets it move the mechanism; kinematics goes in the coordinates of ra, rp or reps")
    }));
    if free.generic.mobility() > 0 {
        let motions = rank::describe(model, &start.q, &free.generic.motions);
        let words: Vec<String> = motions.iter().map(|m| format!("`{}` ({})", m.name, m.what)).collect();
        return Err(Diagnostic::new(
            "S221",
            // The motions of a large mechanism are not listed where there are many.
            format!(
                "the drives leave {} free{}{}",
                count(free.generic.mobility(), "motion"),
                if words.is_empty() { "" } else { ": " },
                words.join(", ")
            ),
        )
        .names(motions.into_iter().map(|m| m.name))
        .help("drive these too, or let dynamics move it (`analysis: dynamics`)")
        .into());
    }
    let mut k = Kinematics::<C>::in_chart(model, start)?;
    let not_unique = unique::not_unique(model, start);
    warnings.extend(friction_warning(model, &not_unique));
    let mut recorder = Recorder::new(model);
    let mut judge = Judge::new(model, study, Analysis::Kinematics);
    let names = columns(model);
    observer.begin(&names);
    let mut row = Vec::new();
    let per_output = study.steps_per_output().unwrap_or(1.0) as usize;
    let mut failure = None;
    let mut now = Instant::new(model, start);
    now.loaded = observer.wants_loads();
    if !k.reactions() {
        return Err(locked(model, start.t).into());
    }
    let (mut work, mut last) = (0.0, (k.state.t, k.power()));
    let mut detector = Detector::new(model, &k.set, start);
    let mut stopped = false;
    let every = asked_every(k.set.rows());
    'run: for t in study.output_times() {
        if t > 0.0 {
            let t_n = k.state.t;
            for s in 1..=per_output {
                let target = if s == per_output { t } else { t_n + (t - t_n) * s as f64 / per_output as f64 };
                while k.state.t < target {
                    if let Err(d) = k.step_towards(target) {
                        failure = Some(d);
                        break 'run;
                    }
                    k.watch(&mut detector);
                    // The work of the drives by the trapezoidal rule over the inner steps.
                    if !k.reactions() {
                        failure = Some(locked(model, k.state.t));
                        break 'run;
                    }
                    let (now, h) = (k.power(), k.state.t - last.0);
                    work += 0.5 * h * (last.1 + now);
                    last = (k.state.t, now);
                    if k.work.steps.is_multiple_of(every) && !observer.go_on(k.state.t, study.t_end) {
                        stopped = true;
                        break 'run;
                    }
                }
            }
        }
        row.clear();
        k.instant(work, &mut now);
        recorder.row(model, &now, &mut row);
        if let Err(d) = judge.look(&now, None, &names, &row) {
            failure = Some(d);
            break;
        }
        observer.row(&row);
        if !observer.go_on(t, study.t_end) {
            stopped = true;
            break;
        }
    }
    let singular = detector.found;
    warnings.extend(singular::warning(&singular));
    let w = k.work;
    if failure.is_none() && !stopped {
        failure = judge.verdict(w.steps as f64, &mut warnings).err();
    }
    let report = Report {
        analysis: Analysis::Kinematics,
        formulation: C::NAME,
        integrator: "newton",
        t: k.state.t,
        stopped,
        work: vec![
            ("steps", w.steps as f64),
            ("newton_iterations", w.iterations as f64),
            ("mean_newton_iterations", w.iterations as f64 / w.steps.max(1) as f64),
            ("factorisations", w.factorisations as f64),
            ("halved_steps", w.halvings as f64),
        ],
        rows: k.set.rows(),
        redundant: k.set.rows() - free.generic.rank,
        not_unique,
        singular,
        notes: assembled.note().into_iter().collect(),
        warnings,
        length: model.length,
    };
    match failure {
        Some(d) => Err(Failed { diagnostic: Box::new(d), report: Some(Box::new(report)) }),
        None => Ok(report),
    }
}

/// Dry friction that finds no finite load.
fn locked(model: &Model, t: f64) -> Diagnostic {
    let dry = |f: &Force| matches!(f, Force::Friction { coulomb, .. } if *coulomb > 0.0);
    let names: Vec<String> = model.forces.iter().filter(|(_, f)| dry(f)).map(|(name, _)| name.clone()).collect();
    let listed = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    Diagnostic::new("S223", format!("at t = {t:.6} s friction locks the mechanism: {listed} and the loads it acts on drive each other up"))
        .names(names)
        .time(t)
        .help("make `coulomb` or its radius smaller, or drive the mechanism where it does not wedge")
}
