//! Mechanisms with events: runs are compared at times away from events, and the events of all formulations with each other.

use super::{Member, Ran, Verdict, Word, impatient};
use fourbar::analysis::assembly::Assembled;
use fourbar::diagnostic::Diagnostic;
use fourbar::event::{Action, Bounded, Limit};
use fourbar::events::{Advanced, Eventful, Happened, Kind};
use fourbar::inputs::Plan;
use fourbar::model::{JointCoordinate, Model};
use fourbar::motion::{Instant, Outcome};
use fourbar::state::Configuration;
use fourbar::study::Study;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

/// Output times within this share of the study from an event are compared in the state before it.
const NEAR: f64 = 1e-6;
/// Impacts slower than this share of the fastest motion depend on rounding: at a slightly different speed there would be no impact.
const GRAZING: f64 = 1e-3;

/// One run at the output times.
pub(super) fn sampled(patience: Duration, model: &Model, study: &Study, plan: &mut Plan, start: &Configuration) -> Result<Ran, Diagnostic> {
    let clock = Clock::now();
    let base = Arc::new(model.with_own_drives());
    let mut moving = Eventful::new(&base, study, &Assembled::already(start))?;
    moving.run_ahead(study.t_end);
    let mut sample = vec![moving.now().clone()];
    let mut stopped = None;
    'times: for t in study.output_times().skip(1) {
        let mut before = None;
        loop {
            match moving.follow(t, study.t_end, plan, &mut |_| clock.elapsed() < patience) {
                Ok(Advanced::There) => break,
                Ok(Advanced::Event(sides)) => {
                    let [left, _] = *sides;
                    if t - left.t < NEAR * study.t_end && before.is_none() {
                        before = Some(left);
                    }
                }
                Ok(Advanced::Ended) => break 'times,
                Ok(Advanced::Stopped) => {
                    stopped = Some(impatient(moving.now().t));
                    break 'times;
                }
                Err(d) => {
                    stopped = Some(d);
                    break 'times;
                }
            }
        }
        sample.push(before.unwrap_or_else(|| moving.now().clone()));
        if clock.elapsed() > patience && t < study.t_end {
            stopped = Some(impatient(t));
            break;
        }
    }
    if sample.len() < 2
        && let Some(d) = stopped
    {
        return Err(d);
    }
    let events = moving.happened().to_vec();
    let (report, _) = moving.finish(true, None);
    let steps = report.work.iter().filter_map(|(name, n)| WORK.iter().find(|w| *w == name).map(|w| (*w, *n))).collect();
    let outcome = Outcome { work: steps, singular: report.singular, warnings: report.warnings, ..Outcome::default() };
    Ok(Ran { sample, outcome, seconds: clock.elapsed().as_secs_f64(), stopped, events })
}

/// Work counts that are shown.
const WORK: [&str; 4] = ["steps", "evaluations", "rejected", "events"];

/// The study up to the last output time before an event ends it.
pub(super) fn until_the_end(model: &Model, study: &Study, assembled: &Assembled) -> Result<Study, Diagnostic> {
    if !model.events.iter().any(|e| e.actions.iter().any(|a| matches!(a, Action::Stop))) {
        return Ok(study.clone());
    }
    let base = Arc::new(model.with_own_drives());
    let mut moving = Eventful::new(&base, study, assembled)?;
    moving.run_ahead(study.t_end);
    moving.pass(study.t_end, &mut |_| true)?;
    if !moving.ended() {
        return Ok(study.clone());
    }
    let n = (moving.now().t / study.output_step * (1.0 - 1e-9)).floor().max(1.0);
    Ok(Study { t_end: (n * study.output_step).min(moving.now().t), ..study.clone() })
}

/// Events up to the end of the first series of impacts; later ones depend on how series are condensed.
fn comparable(events: &[Happened]) -> Vec<&Happened> {
    let mut list: Vec<&Happened> = Vec::new();
    for (k, h) in events.iter().enumerate() {
        // Impacts leading to a rest form one series.
        let to_rest = events[k..].iter().find(|o| o.name == h.name && o.kind != Kind::Impact);
        let series = h.kind == Kind::Impact && to_rest.is_some_and(|o| o.kind == Kind::Rest && o.t - h.t < 1e-3);
        if !series {
            list.push(h);
        }
    }
    list
}

/// Largest speed of a body, m/s, and largest angular velocity, rad/s.
fn fastest(sample: &[Instant]) -> [f64; 2] {
    let all = sample.iter().flat_map(|s| &s.v);
    all.fold([0.0, 0.0], |[v, w], twist| [twist.v.norm().max(v), twist.w.norm().max(w)])
}

/// Reports whether all formulations had the same events, and the differences of their times.
pub(super) fn compare(model: &Model, results: &[Result<Member, Diagnostic>], verdict: &mut Verdict) {
    if !model.has_events() {
        return;
    }
    let ran: Vec<&Member> = results.iter().flatten().filter(|r| r.stopped.is_none()).collect();
    let Some(best) = ran.iter().find(|r| !r.second_order).or(ran.first()) else { return };
    let own = comparable(&best.events);
    let fastest = fastest(&best.sample);
    let turns = |h: &Happened| {
        let angle = |l: &Limit| matches!(l.of, Bounded::Position(JointCoordinate::Angle) | Bounded::Rate(JointCoordinate::Angle));
        model.limits.iter().any(|l| l.name == h.name && angle(l))
    };
    let grazes = |h: &&Happened| {
        let speed = h.speed[0].abs().max(h.speed[1].abs());
        h.kind == Kind::Impact && speed < GRAZING * fastest[usize::from(turns(h))]
    };
    // A grazing impact in only some formulations counts as well.
    let grazing = ran.iter().flat_map(|r| r.events.iter().find(grazes)).min_by(|a, b| a.t.total_cmp(&b.t));
    let limit = grazing.map_or(f64::INFINITY, |h| h.t);
    let mut apart = [0.0_f64; 2];
    let mut other = None;
    for r in &ran {
        let list = comparable(&r.events);
        let n = own.iter().take_while(|h| h.t < limit).count();
        let same = list.len() >= n && own.iter().zip(&list).take(n).all(|(a, b)| (&a.name, a.kind) == (&b.name, b.kind));
        if !same || grazing.is_none() && list.len() != own.len() {
            other = other.or(Some(r.info.name));
            continue;
        }
        let d = own.iter().zip(&list).take(n).fold(0.0_f64, |m, (a, b)| m.max((a.t - b.t).abs()));
        let k = usize::from(r.second_order);
        apart[k] = apart[k].max(d);
    }
    if own.is_empty() && other.is_none() {
        return;
    }
    match other {
        Some(name) => {
            verdict.words.push(format!("`{name}` met other events than `{}`.", best.info.name));
            if grazing.is_none() && verdict.word == Word::Agreed {
                (verdict.word, verdict.agree) = (Word::NotAgreed, false);
            }
        }
        None => {
            let second = if apart[1] > 0.0 { format!(", {:.1e} s in methods of second order", apart[1]) } else { String::new() };
            let count = fourbar::study::count(own.len(), "event");
            verdict.words.push(format!(
                "All formulations met the same {count} in the same order, at times that differ by at most {:.1e} s{second}.",
                apart[0]
            ));
        }
    }
    if let Some(h) = grazing {
        verdict.words.push(format!(
            "The impact of `{}` at t = {:.6} s is grazing: whether it happens depends on rounding, and events after it are not compared.",
            h.name, h.t
        ));
    }
}
