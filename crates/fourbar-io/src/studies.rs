//! Settings of sweeps, tolerances and optimisations as written in a file or on a command line, and their parsing.

use crate::units::{quantity, unit};
use fourbar::Diagnostic;
use fourbar::expr::{Dimension, Names, Symbol};
use fourbar::model::CurveOn;
use fourbar::trajectory::Column;
use fourbar_design::measure::Measure;
use fourbar_design::sweep::{Axis, Values};
use std::collections::HashMap;

/// The studies of a file besides its run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Studies {
    /// Measures by name.
    pub measures: Vec<(String, String)>,
    /// Settings of `sweep`.
    pub sweep: Option<SweepSpec>,
    /// Settings of `optimize`.
    pub optimize: Option<OptimizeSpec>,
    /// Tolerances of parameters and clearances of joints.
    pub tolerances: Vec<(String, ToleranceSpec)>,
}

/// Settings of `sweep`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepSpec {
    /// Values of parameters, as texts.
    pub vary: Vec<(String, String)>,
    /// How cases are sampled; `None`: on a grid.
    pub spread: Option<Spread>,
    /// Seed of the sampling.
    pub seed: u64,
}

/// How cases are sampled, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Latin hypercube.
    Lhs(usize),
    /// Sobol sequence.
    Sobol(usize),
}

/// Settings of `optimize`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptimizeSpec {
    /// Bounds of parameters, as texts.
    pub vary: Vec<(String, String)>,
    /// The measure to minimise.
    pub minimize: Option<String>,
    /// The measure to maximise.
    pub maximize: Option<String>,
    /// Measures whose sum of squares is minimised.
    pub fit: Vec<(String, String)>,
    /// Conditions that must hold.
    pub keep: Vec<(String, String)>,
}

/// A tolerance, numbers in SI.
#[derive(Clone, Debug, PartialEq)]
pub enum ToleranceSpec {
    /// Normal distribution: three standard deviations.
    PlusMinus(f64),
    /// Normal distribution: one standard deviation.
    Sigma(f64),
    /// Uniform distribution: half the width.
    Uniform(f64),
    /// Tolerance grade of ISO 286.
    Grade(String),
    /// Clearance of a joint.
    Clearance(f64),
}

/// Largest number of values of an axis.
const MOST: usize = 100_000_000;

/// Reads the values of an axis: `60..100 mm:41`, `1..100 kN/m:9:log`, `0.1..0.2` (any value between) or `60, 70, 90 mm`. The dimension, if
/// known, is that of the parameter.
pub fn axis(name: &str, text: &str, dimension: Option<Dimension>) -> Result<Axis, Diagnostic> {
    let refused = |why: &str| {
        Diagnostic::new("U430", format!("the values `{text}` of `{name}` {why}"))
            .name(name)
            .help("write `60..100 mm:41` for 41 values in equal steps, `1..100 kN/m:9:log` for equal ratios, or `60, 70, 90 mm`")
    };
    let unit_of = |written: &str| -> Result<f64, Diagnostic> {
        if written.is_empty() {
            return Ok(1.0);
        }
        let (factor, found) = quantity(&format!("1 {written}")).ok_or_else(|| refused(&format!("have the unknown unit `{written}`")))?;
        match (found, dimension) {
            (Some(a), Some(b)) if a != b => Err(refused(&format!("are {}, but the parameter is {}", a.a(), b.a()))),
            _ => Ok(factor),
        }
    };
    let Some((from, rest)) = text.split_once("..") else {
        let (mut values, mut written) = (Vec::new(), String::new());
        let words: Vec<&str> = text.split(',').collect();
        for (k, word) in words.iter().enumerate() {
            let (x, u) = number_and_unit(word).ok_or_else(|| refused("are not numbers"))?;
            values.push(x);
            if k + 1 == words.len() {
                written = u;
            } else if !u.is_empty() && Some(u) != number_and_unit(words[words.len() - 1]).map(|l| l.1) {
                return Err(refused("have several units: give one, after the last number"));
            }
        }
        let factor = unit_of(&written)?;
        return Ok(Axis { name: name.into(), values: Values::List(values), unit: written, factor });
    };
    let mut parts = rest.split(':').map(str::trim);
    let to = parts.next().unwrap_or_default();
    let ((from, first), (to, written)) =
        (number_and_unit(from).ok_or_else(|| refused("are not numbers"))?, number_and_unit(to).ok_or_else(|| refused("are not numbers"))?);
    if !first.is_empty() && first != written {
        return Err(refused("have two units: give one, after the last number"));
    }
    let (mut count, mut log) = (0, false);
    for part in parts {
        match part {
            "log" => log = true,
            n => {
                let many: u64 = n.parse().map_err(|_| refused("do not give their number"))?;
                count = usize::try_from(many).ok().filter(|n| (2..=MOST).contains(n)).ok_or_else(|| {
                    let values = if many == 1 { "value" } else { "values" };
                    Diagnostic::new("U430", format!("`{text}` asks for {many} {values}; a range takes 2 to 100,000,000"))
                        .name(name)
                        .help("write `60..100 mm:41` for 41 values in equal steps; `60 mm` is one value")
                })?;
            }
        }
    }
    let factor = unit_of(&written)?;
    Ok(Axis { name: name.into(), values: Values::Range { from, to, count, log }, unit: written, factor })
}

/// A number with or without a unit, in SI; otherwise the reason: no number, or not of the requested dimension.
pub fn quantity_of(text: &str, dimension: Option<Dimension>) -> Result<f64, String> {
    match (quantity(text).filter(|(x, _)| x.is_finite()), dimension) {
        (None, _) => Err("is not a number".into()),
        (Some((_, Some(a))), Some(b)) if a != b => Err(format!("is {}, not {}", a.a(), b.a())),
        (Some((x, _)), _) => Ok(x),
    }
}

/// A number at the start of a text, and the rest of the text.
pub fn number_and_unit(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let mut split = text.len();
    while split > 0 && text[..split].trim_end().parse::<f64>().is_err() {
        split = text[..split].char_indices().next_back().map_or(0, |(k, _)| k);
    }
    let x: f64 = text[..split].trim_end().parse().ok()?;
    x.is_finite().then(|| (x, text[split..].trim().to_string()))
}

/// Parameters and units that a measure may use.
struct Known<'a>(HashMap<&'a str, (f64, Option<Dimension>)>);

impl Names for Known<'_> {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        Some(match self.0.get(name)? {
            (x, Some(d)) => Symbol::Quantity(*x, *d),
            (x, None) => Symbol::Value(*x),
        })
    }
    fn unit(&mut self, name: &str) -> Option<(f64, Dimension)> {
        unit(name)
    }
}

/// Reads a measure of columns, curves, parameters (name, SI value, dimension) and units.
pub fn measure(
    text: &str,
    columns: &[Column],
    curves: &[CurveOn],
    parameters: &[(String, f64, Option<Dimension>)],
) -> Result<Measure, Diagnostic> {
    let mut known = Known(parameters.iter().map(|(n, x, d)| (n.as_str(), (*x, *d))).collect());
    Measure::with(text, columns, curves, &mut known)
}

/// Whether a measure may change with parameters while the run stays the same: its text names a parameter or a curve.
pub fn names_parameters(text: &str, curves: &[CurveOn], parameters: &[(String, f64, Option<Dimension>)]) -> bool {
    let words = || text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == '-'));
    let known = |word: &str| parameters.iter().any(|p| p.0 == word) || curves.iter().any(|c| c.name == word);
    // A hyphen is part of a name or a minus sign.
    words().any(|w| known(w) || w.split('-').any(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_their_unit() {
        let length = Some(Dimension::LENGTH);
        let a = axis("crank", "60..100mm:41", length).expect("read");
        assert_eq!((a.values, a.unit.as_str(), a.factor), (Values::Range { from: 60.0, to: 100.0, count: 41, log: false }, "mm", 1e-3));
        let a = axis("k", "1e3 .. 1e5 N/m : 9 : log", None).expect("read");
        assert_eq!((a.values, a.unit.as_str()), (Values::Range { from: 1e3, to: 1e5, count: 9, log: true }, "N/m"));
        let a = axis("crank", "60, 70 mm, 90 mm", length).expect("read");
        assert_eq!((a.values, a.factor), (Values::List(vec![60.0, 70.0, 90.0]), 1e-3));
        let a = axis("crank", "-0.5..0.25", length).expect("read");
        assert_eq!((a.values, a.factor), (Values::Range { from: -0.5, to: 0.25, count: 0, log: false }, 1.0));
        assert!(
            axis("crank", "40..60mm:1", length)
                .is_err_and(|d| d.message == "`40..60mm:1` asks for 1 value; a range takes 2 to 100,000,000")
        );
        for bad in
            ["", "a..b", "1..", "..", "1..2:1", "1..2:x", "1 cm, 2 mm", "1 cm..2 mm", "1..2 kg:3", "60 furlong", "nan..1", "1..2:3:lin"]
        {
            assert_eq!(axis("crank", bad, length).map_err(|d| d.code.0), Err("U430"), "{bad}");
        }
    }
}
