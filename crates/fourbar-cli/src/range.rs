//! Ranges of a parameter on the command line: `load=0..3 kN`.

use crate::input::{Input, load_as_drawn};
use crate::reply::Stop;
use fourbar::diagnostic::nearest;
use fourbar::{Diagnostic, Error, Model};
use fourbar_io::studies::number_and_unit;

/// A varied parameter of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// Name.
    pub name: String,
    /// First and last value, in the unit.
    pub ends: [f64; 2],
    /// Unit as given; empty: SI.
    pub unit: String,
}

impl Range {
    /// Reads a range, such as `0..3 kN`.
    pub fn new((name, text): &(String, String)) -> Result<Self, Diagnostic> {
        let refused = || {
            Diagnostic::new("U402", format!("`{name}={text}` is not a range of a parameter"))
                .name(name)
                .help("write two different numbers with two dots between them and a unit after them, as in `load=0..3 kN`")
        };
        let (a, b) = text.split_once("..").ok_or_else(refused)?;
        let ((a, first), (b, unit)) = (number_and_unit(a).ok_or_else(refused)?, number_and_unit(b).ok_or_else(refused)?);
        if a == b || !(first.is_empty() || first == unit) {
            return Err(refused());
        }
        Ok(Self { name: name.clone(), ends: [a, b], unit })
    }

    /// A value in the notation of the file.
    pub fn text(&self, x: f64) -> String {
        if self.unit.is_empty() { format!("{x:e}") } else { format!("{x:e} {}", self.unit) }
    }

    /// Rejects parameters that the file does not have, and standard input, which cannot be read twice.
    pub fn check(&self, input: &Input, file: &str) -> Result<(), Stop> {
        if file == "-" {
            let d = Diagnostic::new("U402", "a mechanism from standard input is read once and cannot be varied");
            return Err(input.stop(&d.help("save it to a file")));
        }
        let known = &input.loaded.parameters;
        if known.iter().any(|p| p.0 == self.name) {
            return Ok(());
        }
        let help = match nearest(&self.name, known.iter().map(|p| p.0.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "parameters are declared under `parameters:`".into(),
        };
        Err(input.stop(&Diagnostic::new("U402", format!("there is no parameter `{}`", self.name)).name(&self.name).help(help)))
    }

    /// The mechanism for a value.
    pub fn model(&self, file: &str, set: &[(String, String)], large: bool, x: f64) -> Result<Model, Error> {
        let mut set: Vec<(String, String)> = set.iter().filter(|(n, _)| *n != self.name).cloned().collect();
        set.push((self.name.clone(), self.text(x)));
        load_as_drawn(file, &set, large).map(|i| i.model).map_err(|stop| {
            let nothing = || Error::from(Diagnostic::new("U402", "the mechanism cannot be built for this value"));
            Error::of(stop.0.list).unwrap_or_else(nothing)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_units() {
        let range = |text: &str| Range::new(&("load".into(), text.into()));
        let r = range("0..3 kN").expect("a range");
        assert_eq!((r.ends, r.unit.as_str(), r.text(1.5).as_str()), ([0.0, 3.0], "kN", "1.5e0 kN"));
        assert_eq!(range("-2 mm..1e-3 mm").expect("a range").ends, [-2.0, 1e-3]);
        for bad in ["3", "1..1", "a..b", "0 N..3 kN", "..", "1..", "nan..1"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }
}
