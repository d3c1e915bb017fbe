//! Reads the settings of sweeps, tolerances and optimisations from a file.

use super::{Path, Reader};
use crate::keys::{OPTIMIZE, SWEEP, TOLERANCE};
use crate::studies::{OptimizeSpec, Spread, SweepSpec, ToleranceSpec};
use crate::tree::{Content, Node, Text};
use fourbar::Diagnostic;

impl Reader<'_> {
    /// Reads the settings under `study:` for verbs other than `run`, and the tolerances. Numbers and names are checked by these verbs,
    /// where the columns are known.
    pub(crate) fn read_studies(&mut self, study: Option<&(Text, Node)>, tolerances: Option<&(Text, Node)>) {
        if let Some((_, node)) = study
            && let Content::Map(entries) = &node.content
        {
            let path = Path::top("study");
            for (key, inner) in entries {
                match key.get(self.source) {
                    "sweep" => self.studies.sweep = self.sweep(key, inner, &path.key("sweep")),
                    "optimize" => self.studies.optimize = self.optimize(key, inner, &path.key("optimize")),
                    _ => {}
                }
            }
        }
        let mut list = Vec::new();
        self.elements(tolerances, |r, key, node, path| r.tolerance(key, node, path), &mut list);
        self.studies.tolerances = list;
    }

    fn sweep(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<SweepSpec> {
        let x = self.record(&SWEEP, key, node, path, &[])?;
        let mut count = |name: &str| {
            let n = x.number(name)?;
            if n >= 1.0 && n.fract() == 0.0 && n <= 1e9 {
                return Some(n as usize);
            }
            let d = Diagnostic::new("M017", format!("`{name}` must be a whole number from 1 on")).at(path.key(name).to_string());
            self.problem(d, x.span_of(name));
            None
        };
        let (lhs, sobol) = (count("lhs"), count("sobol"));
        let seed = x.number("seed").map_or(1, |s| s.abs() as u64);
        let spread = match (lhs, sobol) {
            (Some(_), Some(_)) => {
                self.conflict("the sweep has both `lhs` and `sobol`".into(), "keep one of them", x.span_of("sobol"), path);
                return None;
            }
            (Some(n), None) => Some(Spread::Lhs(n)),
            (None, Some(n)) => Some(Spread::Sobol(n)),
            (None, None) => None,
        };
        Some(SweepSpec { vary: x.options("vary")?, spread, seed })
    }

    fn optimize(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<OptimizeSpec> {
        let x = self.record(&OPTIMIZE, key, node, path, &[])?;
        Some(OptimizeSpec {
            vary: x.options("vary")?,
            minimize: x.text("minimize"),
            maximize: x.text("maximize"),
            fit: x.options("fit").unwrap_or_default(),
            keep: x.options("keep").unwrap_or_default(),
        })
    }

    fn tolerance(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<ToleranceSpec> {
        // A tolerance has the dimension of its parameter.
        let dimension = self.parameters.dimension(key.get(self.source));
        if let Content::Scalar(_) = &node.content {
            return self.number(node, dimension, path).map(ToleranceSpec::PlusMinus);
        }
        let x = self.record(&TOLERANCE, key, node, path, &[])?;
        if x.broken {
            return None;
        }
        let given: Vec<&str> = TOLERANCE.keys.iter().map(|k| k.name).filter(|k| x.has(k)).collect();
        let [one] = given[..] else {
            let d = Diagnostic::new("M017", format!("tolerance `{}` needs one of its keys, not {}", x.name, given.len()));
            let help = "give one of `plus_minus`, `sigma`, `uniform`, `grade` and `clearance`";
            self.problem(d.help(help).at(path.to_string()), x.span);
            return None;
        };
        if let Content::Map(entries) = &node.content
            && let Some((_, inner)) = entries.iter().find(|(k, _)| k.get(self.source) == one)
            && matches!(one, "plus_minus" | "sigma" | "uniform")
        {
            self.number(inner, dimension, &path.key(one))?;
        }
        Some(match one {
            "plus_minus" => ToleranceSpec::PlusMinus(x.number(one)?),
            "sigma" => ToleranceSpec::Sigma(x.number(one)?),
            "uniform" => ToleranceSpec::Uniform(x.number(one)?),
            "grade" => ToleranceSpec::Grade(x.text(one)?),
            _ => ToleranceSpec::Clearance(x.number(one)?),
        })
    }
}
