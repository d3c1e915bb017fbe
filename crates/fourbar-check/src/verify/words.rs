//! The verdict in sentences.

use super::verdict::{Verdict, Word};
use super::{Quantity, Row};
use fourbar::study::count;

/// Data of the sentences.
pub(super) struct Findings<'a> {
    pub verdict: &'a Verdict,
    pub rows: &'a [Row],
    pub scales: &'a [f64; 5],
    pub t_end: f64,
    /// Number of output times near singular positions.
    pub passed: usize,
    /// Reasons why the model does not determine the motion: friction on non-unique loads, a start where branches cross.
    pub undetermined: Vec<String>,
}

/// A time with a short decimal form: 1.11, not 1.1099999999999999.
pub(super) fn time(t: f64) -> String {
    format!("{t:.9e}").parse::<f64>().map_or_else(|_| t.to_string(), |t| t.to_string())
}

/// Sentence for a start where branches of motion cross within its gap.
pub(super) fn double_root(gap: f64) -> String {
    format!("the start is a double root of the constraints, closed to {gap:.0e} m, and branches of motion cross within that")
}

fn names<'a>(list: impl Iterator<Item = &'a str>) -> String {
    list.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// All sentences.
pub(super) fn all(x: &Findings) -> Vec<String> {
    let mut list = vec![headline(x)];
    list.extend(how_well(x));
    let v = x.verdict;
    if let Some(t) = v.horizon {
        let t = time(t);
        list.push(match v.growth {
            Some(g) if g > 1e3 => format!(
                "Neighbouring motions separate by a factor {g:.0e}; after t = {t} s a comparison of single trajectories is meaningless, so it ends there."
            ),
            _ => format!("After t = {t} s the expected errors are too large for a comparison, so it ends there."),
        });
    }
    outliers(v, &mut list);
    for message in &x.undetermined {
        if v.outliers.is_empty() {
            break;
        }
        let message = message.trim_end_matches('.');
        list.push(format!("The model does not determine the motion: {message}. Differences between formulations are then not errors."));
    }
    for u in &v.unsound {
        let (t, gap, energy) = (time(u.time), u.gap, u.energy);
        list.push(format!(
            "`{}` is not trusted from t = {t} s on: gap {gap:.0e} m, energy minus work off by {energy:.0e} of the energy in motion.",
            u.formulation
        ));
    }
    for r in x.rows {
        let Some(d) = &r.failure else { continue };
        let message = d.message.trim_end_matches('.');
        list.push(match r.until {
            Some(t) => format!("`{}` has a result until t = {} s only: {message}.", r.formulation, time(t)),
            None => format!("`{}` has no result: {message}.", r.formulation),
        });
    }
    if x.passed > 0 {
        list.push(format!(
            "Singular positions are passed; reactions have no definite value there and are not compared at {}.",
            count(x.passed, "output time")
        ));
    }
    list
}

/// The formulations that agree, and until when.
fn headline(x: &Findings) -> String {
    let v = x.verdict;
    let mut families: Vec<_> = v.witnesses.iter().map(|w| w.0).collect();
    families.sort();
    families.dedup();
    let who = families
        .iter()
        .map(|f| format!("{} ({})", f.name(), names(v.witnesses.iter().filter(|w| w.0 == *f).map(|w| w.1))))
        .collect::<Vec<_>>()
        .join(", ");
    let n = families.len();
    let without = if v.without_result.is_empty() {
        String::new()
    } else {
        format!("; without a result: {}", names(v.without_result.iter().copied()))
    };
    let families_ = |n: usize| if n == 1 { "1 family".to_string() } else { format!("{n} families") };
    match (v.word, v.until) {
        (Word::Agreed, _) => {
            format!("{} of formulations agree over the whole time, until t = {} s: {who}{without}.", families_(n), time(x.t_end))
        }
        (Word::Partly, Some(t)) => format!(
            "{} of formulations agree until t = {} s of {} s: {who}{without}. Beyond that fewer than two have a sound result.",
            families_(n),
            time(t),
            time(x.t_end)
        ),
        (Word::NotAgreed, _) => {
            let others = if n == 0 { "no family agrees".to_string() } else { format!("those that agree: {who}") };
            format!("{} with the consensus or the laws of mechanics; {others}{without}.", disagreeing(v, "disagrees", "disagree"))
        }
        _ if !v.outliers.is_empty() => {
            format!("{}, but the model does not determine the motion{without}.", disagreeing(v, "differs", "differ"))
        }
        _ if n == 0 => format!("No formulation has a sound result beyond the start; nothing is verified{without}."),
        _ if n == 1 => {
            format!("Only one family of formulations has a sound result, {who}, and it cannot be verified against itself{without}.")
        }
        _ => format!("Nothing but the start could be compared; nothing is verified{without}."),
    }
}

/// The formulations that disagree, with the verb in singular or plural.
fn disagreeing(v: &Verdict, one: &str, several: &str) -> String {
    let verb = if v.outliers.len() == 1 { one } else { several };
    format!("{} {verb}", names(v.outliers.iter().map(|o| o.formulation)))
}

/// The largest differences of the results, and the fastest formulation.
fn how_well(x: &Findings) -> Vec<String> {
    let v = x.verdict;
    let agreeing = |second: bool| {
        let ran = x.rows.iter().filter(move |r| r.until.is_some() && r.second_order == second);
        ran.filter(|r| !v.outliers.iter().any(|o| o.formulation == r.formulation)).collect::<Vec<_>>()
    };
    let worst = |g: &[&Row]| g.iter().fold(0.0_f64, |m, r| m.max(r.difference[0] / x.scales[0]).max(r.difference[1]));
    let expected = |g: &[&Row]| g.iter().fold(0.0_f64, |m, r| m.max(r.expected[0] / x.scales[0]).max(r.expected[1]));
    let mut list = Vec::new();
    let mut parts = Vec::new();
    for (second, order) in [(false, "high-order"), (true, "second-order")] {
        let g = agreeing(second);
        if !g.is_empty() {
            let (n, d, e) = (count(g.len(), &format!("{order} result")), worst(&g), expected(&g));
            parts.push(format!("{n} by {d:.0e} (own errors up to {e:.0e} are expected)"));
        }
    }
    if !parts.is_empty() && v.until.is_some() {
        list.push(format!("Largest differences from the consensus, relative to the size of the mechanism: {}.", parts.join(", ")));
    }
    let high = agreeing(false);
    let complete = high.iter().filter(|r| r.failure.is_none());
    if let Some(best) = complete.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).filter(|_| v.until.is_some()) {
        list.push(format!("`{}` is the fastest at this accuracy ({:.2} s).", best.formulation, best.seconds));
    }
    list
}

fn outliers(v: &Verdict, list: &mut Vec<String>) {
    for o in &v.outliers {
        let (who, place, by, allowed, t) = (o.formulation, &o.place, o.difference, o.allowed, time(o.time));
        if o.quantity == Quantity::Laws {
            list.push(format!(
                "`{who}` breaks Newton's and Euler's equations: {by:.1e} N are missing on `{place}` at t = {t} s, {allowed:.1e} would be allowed."
            ));
            continue;
        }
        let (what, unit) = (o.quantity.name(), o.quantity.unit());
        list.push(format!(
            "`{who}` disagrees: {what} of `{place}` differs by {by:.1e} {unit} from t = {t} s on, {allowed:.1e} would be allowed."
        ));
    }
}
