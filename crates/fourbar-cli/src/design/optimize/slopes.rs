//! Slopes of goals and conditions by sensitivities, checked against differences before use.

use super::super::Subject;
use crate::screen::number;
use fourbar::trajectory::Column;
use fourbar::{Error, Model};
use fourbar_design::equilibrium::start_settled;
use fourbar_design::measure::Measure;
use fourbar_design::optimize::{Goals, Slopes};
use fourbar_design::sensitivities::{Method, Parameters, of_measures};
use fourbar_io::studies::{measure, names_parameters};
use std::time::Instant;

/// Largest accepted difference between slopes and difference quotients, relative to the largest slope.
const AGREE: f64 = 1e-3;
/// Largest accepted computing time, relative to that of differences.
const WORTH: f64 = 3.0;

/// Derivatives of the measures of a case.
pub struct Exact<'a> {
    pub subject: &'a Subject,
    /// Varied parameters.
    pub names: &'a [&'a str],
    /// Measures that are goals; the others are margins.
    pub goals: usize,
    /// Number of goals and margins; later measures are not differentiated.
    pub searched: usize,
    /// Minus one if the goal is maximised.
    pub sign: f64,
}

impl Exact<'_> {
    /// The derivatives at some values; `None` if the run cannot be differentiated.
    pub fn at(&self, x: &[f64]) -> Option<Slopes> {
        let build = |v: &[f64]| -> Result<_, Error> { Ok(start_settled(self.subject.build(self.names, v)?.0)?.0) };
        let names: Vec<String> = self.names.iter().map(|n| (*n).to_string()).collect();
        let parameters = Parameters::new(names, x.to_vec(), &build);
        let (model, known) = self.subject.build(self.names, x).ok()?;
        let study = self.subject.settings(&parameters.model().ok()?).ok()?;
        let which: Vec<usize> = (0..x.len()).collect();
        let texts = || self.subject.measures.iter().take(self.searched).map(|(_, text)| text);
        let named = texts().any(|text| names_parameters(text, &model.curves, &known));
        let read = |columns: &[Column], v: &[f64]| -> Result<Vec<Measure>, Error> {
            let of =
                |model: &Model, known: &[_]| texts().map(|text| measure(text, columns, &model.curves, known)).collect::<Result<_, _>>();
            if v == x || !named {
                return Ok(of(&model, &known)?);
            }
            let (model, known) = self.subject.build(self.names, v)?;
            Ok(of(&model, &known)?)
        };
        let found = of_measures(&parameters, &study, &which, &read).ok().filter(|m| m.run.method != Method::Differences)?.derivatives;
        let (values, margins) = found.split_at(self.goals);
        let signed = |list: &[f64]| list.iter().map(|d| self.sign * d).collect::<Vec<f64>>();
        Some(Slopes {
            goals: Goals {
                values: values.iter().map(|d| self.sign * d.value).collect(),
                margins: margins.iter().map(|d| d.value).collect(),
            },
            values: values.iter().map(|d| signed(&d.slopes)).collect(),
            margins: margins.iter().map(|d| d.slopes.clone()).collect(),
        })
    }

    /// Whether they are used, with the reason: they must agree with differences at the start and not take much longer.
    pub fn check(
        &self,
        start: &[f64],
        [lower, upper]: [&[f64]; 2],
        difference: f64,
        plain: &dyn Fn(&[f64]) -> Option<Goals>,
    ) -> (bool, Option<String>) {
        let clock = Instant::now();
        let Some(exact) = self.at(start) else {
            return (false, Some("by differences: runs of this mechanism are not differentiated".into()));
        };
        let whole = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let all = |g: &Goals| g.values.iter().chain(&g.margins).copied().collect::<Vec<f64>>();
        let rows: Vec<&Vec<f64>> = exact.values.iter().chain(&exact.margins).collect();
        let mut worst = 0.0_f64;
        for k in 0..start.len() {
            let range = upper[k] - lower[k];
            let at = |sign: f64| {
                let mut x = start.to_vec();
                x[k] += sign * difference.max(1e-6) * range;
                plain(&x).map(|g| all(&g))
            };
            let (Some(a), Some(b)) = (at(1.0), at(-1.0)) else {
                return (false, Some("by differences: there is no case on both sides of the start to compare others with".into()));
            };
            for (i, row) in rows.iter().enumerate() {
                let by = (a[i] - b[i]) / (2.0 * difference.max(1e-6) * range);
                let size = row.iter().zip(lower.iter().zip(upper)).fold(1e-300_f64, |m, (d, (l, u))| m.max((d * (u - l)).abs()));
                worst = worst.max(((by - row[k]) * range).abs() / size);
            }
        }
        // One-sided differences take half as many runs.
        let differences = 0.5 * clock.elapsed().as_secs_f64();
        if worst > AGREE {
            return (
                false,
                Some(format!("by differences: sensitivities differ from them by {} of the largest at the start", number(worst))),
            );
        }
        if whole > WORTH * differences {
            let words = "by differences: sensitivities agree with them to";
            return (
                false,
                Some(format!("{words} {} of the largest, but take {} times as long", number(worst), number(whole / differences))),
            );
        }
        (true, Some(format!("by sensitivities, which agree with differences to {} of the largest at the start", number(worst))))
    }
}
