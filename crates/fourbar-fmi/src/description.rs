//! The description of a unit: `modelDescription.xml` of the standard.

use crate::IDENTIFIER;
use crate::unit::{Causality, Unit, Variable};
use fourbar_io::dimension_of;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Categories of messages, by the names that the standard gives them.
pub(crate) const CATEGORIES: [(&str, &str); 4] = [
    ("logEvents", "Events that happened in a step"),
    ("logStatusWarning", "Additional information"),
    ("logStatusDiscard", "Calls that had no effect"),
    ("logStatusError", "Errors, after which the instance must be reset"),
];

/// A text escaped for an attribute.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c if c < ' ' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Power of the radian in a unit such as `rad/s` or `N*m/rad`.
fn radians(unit: &str) -> i32 {
    let mut power = 0;
    let mut below = false;
    for part in unit.split_inclusive(['*', '/']) {
        let word = part.trim_end_matches(['*', '/']);
        let (name, n) = word.split_once('^').map_or((word, 1), |(name, n)| (name, n.parse().unwrap_or(1)));
        if name == "rad" {
            power += if below { -n } else { n };
        }
        // All units after a slash up to the next operator are in the denominator.
        below = part.ends_with('/');
    }
    power
}

fn known_unit(v: &Variable) -> bool {
    v.unit != "1" && dimension_of(&v.unit).is_some()
}

fn units(unit: &Unit) -> String {
    let all: BTreeSet<&str> = unit.variables.iter().filter(|v| known_unit(v)).map(|v| v.unit.as_str()).collect();
    let mut out = String::new();
    for name in all {
        let Some(d) = dimension_of(name) else { continue };
        let powers = [
            ("kg", i32::from(d.mass)),
            ("m", i32::from(d.length)),
            ("s", i32::from(d.time)),
            ("A", i32::from(d.current)),
            ("rad", radians(name)),
        ];
        let powers: String = powers.iter().filter(|(_, p)| *p != 0).map(|(n, p)| format!(" {n}=\"{p}\"")).collect();
        // Writing to a `String` cannot fail, here and below.
        let _ = writeln!(out, "    <Unit name=\"{}\"><BaseUnit{powers}/></Unit>", quoted(name));
    }
    if out.is_empty() { out } else { format!("  <UnitDefinitions>\n{out}  </UnitDefinitions>\n") }
}

fn variable(reference: usize, v: &Variable, out: &mut String) {
    let (causality, variability) = match v.causality {
        Causality::Independent => ("independent", "continuous"),
        Causality::Parameter(_) | Causality::Fixed(_) => ("parameter", "fixed"),
        Causality::Input(_) => ("input", "continuous"),
        Causality::Output(_) => ("output", "continuous"),
    };
    let _ = write!(
        out,
        "    <Float64 name=\"{}\" valueReference=\"{reference}\" causality=\"{causality}\" variability=\"{variability}\"",
        quoted(&v.name)
    );
    if known_unit(v) {
        let _ = write!(out, " unit=\"{}\"", quoted(&v.unit));
    }
    for (key, x) in ["min", "max"].iter().zip(v.range).filter(|(_, x)| x.is_finite()) {
        let _ = write!(out, " {key}=\"{x:?}\"");
    }
    if let Some(x) = v.start {
        let _ = write!(out, " start=\"{x:?}\"");
    }
    *out += "/>\n";
}

/// The XML of a unit.
pub fn description(unit: &Unit) -> String {
    let source = &unit.source;
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"{}\" instantiationToken=\"{}\" generationTool=\"Fourbar {}\" variableNamingConvention=\"flat\">",
        quoted(&source.title),
        quoted(&source.token),
        env!("CARGO_PKG_VERSION"),
    );
    let _ = writeln!(
        out,
        "  <CoSimulation modelIdentifier=\"{IDENTIFIER}\" canHandleVariableCommunicationStepSize=\"true\" canGetAndSetFMUState=\"true\" \
         canSerializeFMUState=\"true\" hasEventMode=\"true\"/>"
    );
    out += &units(unit);
    out += "  <LogCategories>\n";
    for (name, what) in CATEGORIES {
        let _ = writeln!(out, "    <Category name=\"{name}\" description=\"{what}\"/>");
    }
    out += "  </LogCategories>\n";
    let tolerance = source.study.tol.map_or(String::new(), |x| format!(" tolerance=\"{x:?}\""));
    let _ = writeln!(
        out,
        "  <DefaultExperiment startTime=\"0\" stopTime=\"{:?}\"{tolerance} stepSize=\"{:?}\"/>",
        source.study.t_end, source.study.output_step
    );
    out += "  <ModelVariables>\n";
    for (k, v) in unit.variables.iter().enumerate() {
        variable(k, v, &mut out);
    }
    out += "  </ModelVariables>\n  <ModelStructure>\n";
    let outputs: Vec<usize> =
        unit.variables.iter().enumerate().filter(|(_, v)| matches!(v.causality, Causality::Output(_))).map(|(k, _)| k).collect();
    // Between steps no output depends directly on an input: changed inputs apply to the next step.
    for k in &outputs {
        let _ = writeln!(out, "    <Output valueReference=\"{k}\" dependencies=\"\"/>");
    }
    for k in &outputs {
        let _ = writeln!(out, "    <InitialUnknown valueReference=\"{k}\"/>");
    }
    out += "  </ModelStructure>\n</fmiModelDescription>\n";
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radians_are_counted() {
        for (unit, power) in [("rad", 1), ("rad/s^2", 1), ("N*m*s/rad", -1), ("m/s", 0), ("N*m", 0), ("rad^2", 2), ("1/rad*m", -1)] {
            assert_eq!(radians(unit), power, "{unit}");
        }
    }

    #[test]
    fn signs_of_xml_are_written_as_entities() {
        assert_eq!(quoted("a<b & \"c\"\n"), "a&lt;b &amp; &quot;c&quot; ");
    }
}
