//! The quantities to differentiate, as written on the command line.

use fourbar::Diagnostic;
use fourbar_design::sensitivities::{Derivative, OfModes};

/// A quantity to be differentiated.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// A measure of the run.
    Measure(String),
    /// A column at the assembled start.
    Start(String),
    /// A column at the equilibrium.
    Rest(String),
    /// A property of a mode, counted from one.
    Mode(usize, String),
}

/// Parts of a text between commas outside parentheses.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut list) = (0, 0, Vec::new());
    for (k, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                list.push(&text[from..k]);
                from = k + 1;
            }
            _ => {}
        }
    }
    list.push(&text[from..]);
    list.into_iter().map(str::trim).filter(|p| !p.is_empty()).collect()
}

/// The name and the expression of a text `NAME=EXPRESSION`.
fn named(text: &str) -> Option<(&str, &str)> {
    let (name, expression) = text.split_once('=')?;
    let word = name.trim().chars().all(|c| c.is_alphanumeric() || c == '_');
    (word && !expression.starts_with('=')).then(|| (name.trim(), expression.trim()))
}

/// Parses the requested quantities.
pub fn asked(of: &[String]) -> Result<Vec<Asked>, Diagnostic> {
    let mut list = Vec::new();
    for text in of.iter().flat_map(|t| parts(t)) {
        list.push(if let Some(column) = text.strip_prefix("start.") {
            Asked::Start(column.into())
        } else if let Some(column) = text.strip_prefix("rest.") {
            Asked::Rest(column.into())
        } else if let Some(rest) = text.strip_prefix("modes.") {
            let refused = || {
                let d = Diagnostic::new("U412", format!("`{text}` is not a number of a mode"));
                d.help("write `modes.1.omega`, `modes.1.frequency`, `modes.1.damping`, `modes.1.re` or `modes.1.im`")
            };
            let (k, what) = rest.split_once('.').ok_or_else(refused)?;
            let k: usize = k.parse().ok().filter(|k| *k > 0).ok_or_else(refused)?;
            if !["omega", "frequency", "damping", "re", "im"].contains(&what) {
                return Err(refused());
            }
            Asked::Mode(k, what.into())
        } else if let Some((column, t)) = text.rsplit_once('@') {
            Asked::Measure(format!("at({}, {})", column.trim(), t.trim()))
        } else if let Some((name, expression)) = named(text) {
            let d = Diagnostic::new("U412", format!("`{name}=` is not accepted here: these quantities have no names"));
            return Err(d.name(name).help(format!("leave it out: `--of \"{expression}\"`")));
        } else {
            Asked::Measure(text.into())
        });
    }
    if list.is_empty() {
        return Err(Diagnostic::new("U412", "no measure is given").help("`--of \"max(abs(motor.effort))\"`"));
    }
    Ok(list)
}

/// Error of derivatives of eigenvalues relative to the largest, divided by the size of the parameter.
const CANCELLED: f64 = 1e-11;

/// The derivatives of a property of a mode by parameters of given sizes.
pub fn of_mode(s: &OfModes, k: usize, what: &str, sizes: &[f64]) -> Result<Derivative, Diagnostic> {
    let Some(mode) = s.list.get(k - 1) else {
        let message = format!("there is no mode {k}: the mechanism has {}", s.list.len());
        return Err(Diagnostic::new("U412", message).help("`fourbar modes FILE` lists them"));
    };
    let (root, omega) = (mode.s, mode.s.norm());
    let slope = |[re, im]: [f64; 2]| {
        let rate = (root.re * re + root.im * im) / omega;
        match what {
            "re" => re,
            "im" => im,
            "omega" => rate,
            "frequency" => im / std::f64::consts::TAU,
            _ => -re / omega + root.re * rate / (omega * omega),
        }
    };
    let (value, unit) = match what {
        "re" => (root.re, "1/s"),
        "im" => (root.im, "1/s"),
        "omega" => (omega, "rad/s"),
        "frequency" => (root.im / std::f64::consts::TAU, "Hz"),
        _ => (-root.re / omega, "1"),
    };
    let slopes: Vec<f64> = s.slopes[k - 1].iter().map(|d| slope([d.re, d.im])).collect();
    let top = s.list.iter().fold(0.0_f64, |m, x| m.max(x.omega));
    let size = if what == "damping" { top / omega } else { top };
    let rough = s.rough[k - 1].iter().map(|d| slope([d.re, d.im]));
    let error = |((r, s), p): ((f64, &f64), &f64)| (r - s).abs() / 3.0 + 1e-9 * s.abs() + CANCELLED * size / p;
    let errors = rough.zip(&slopes).zip(sizes).map(error).collect();
    Ok(Derivative { of: format!("modes.{k}.{what}"), value, unit: unit.into(), slopes, errors })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_told_apart() {
        let list = asked(&["tip.x@0.5, at(tip.x, 2),modes.2.damping".into(), "start.tip.x".into(), "rest.pin.angle".into()]).expect("read");
        let expected = [
            Asked::Measure("at(tip.x, 0.5)".into()),
            Asked::Measure("at(tip.x, 2)".into()),
            Asked::Mode(2, "damping".into()),
            Asked::Start("tip.x".into()),
            Asked::Rest("pin.angle".into()),
        ];
        assert_eq!(list, expected);
        assert!(asked(&["T4=first(t, x > 1)".into()]).is_err_and(|d| d.code.0 == "U412" && d.help.contains("`--of \"first(t, x > 1)\"`")));
        assert_eq!(asked(&["first(t, x >= 1)".into()]), Ok(vec![Asked::Measure("first(t, x >= 1)".into())]));
        for bad in ["modes.0.omega", "modes.1.colour", "modes.1", ""] {
            assert!(asked(&[bad.to_string()]).is_err_and(|d| d.code.0 == "U412"), "{bad}");
        }
    }
}
