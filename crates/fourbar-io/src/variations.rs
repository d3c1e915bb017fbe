//! Variations of one file: after it was read once, mechanisms with other parameter values are built without parsing its text again.

use crate::file::{Loaded, ReadOptions};
use crate::places::Places;
use crate::reader::{Fixed, Form, understand};
use fourbar::diagnostic::nearest;
use fourbar::expr::Dimension;
use fourbar::{Diagnostic, Error, Model};
use fourbar_design::sweep::Parameters;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file from which mechanisms with other parameter values are built. It may be shared between threads.
///
/// ```
/// use fourbar_io::{ReadOptions, Variations, read_model};
/// let text = fourbar_io::examples::example("fourbar").expect("shipped").text;
/// let loaded = read_model(text, &ReadOptions::default())?;
/// let file = Variations::new(&loaded, None, &[], false)?;
/// let short = file.model(&[("crank_length", 0.06)])?;
/// assert!((short.bodies[1].mass - 0.8 * 0.06).abs() < 1e-15);
/// # Ok::<(), fourbar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Variations {
    form: Form,
    path: Option<PathBuf>,
    set: Vec<(String, String)>,
    /// All parameters with their values in the file.
    parameters: Vec<Fixed>,
    places: Places,
}

impl Variations {
    /// From a loaded file, with its `path` if it has one; the parameters `set` as text are set before all others.
    pub fn new(loaded: &Loaded, path: Option<&Path>, set: &[(String, String)], large: bool) -> Result<Self, Error> {
        let form = Form::whole(&Arc::from(loaded.places.source()), large)?;
        let mut file =
            Self { form, path: path.map(PathBuf::from), set: set.to_vec(), parameters: Vec::new(), places: loaded.places.clone() };
        file.parameters = file.read(&[])?.1;
        Ok(file)
    }

    fn read(&self, fixed: &[Fixed]) -> Result<(Loaded, Vec<Fixed>), Error> {
        let options = ReadOptions { path: self.path.as_deref(), set: &self.set, large: true, ..ReadOptions::default() };
        let bodies = if self.form.mechspec { None } else { self.form.tree.root.section("bodies", &self.form.tree.source) };
        understand(&self.form, bodies.map(Cow::Borrowed), &options, fixed, String::new())
    }

    /// Names, SI values and dimensions of the parameters in the file.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Value of a parameter in SI, and its dimension if it has a unit.
    pub fn parameter(&self, name: &str) -> Result<(f64, Option<Dimension>), Diagnostic> {
        let found = self.parameters.iter().find(|p| p.0 == name);
        found.map(|p| (p.1, p.2)).ok_or_else(|| {
            let help = match nearest(name, self.parameters.iter().map(|p| p.0.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "parameters are declared under `parameters:`".into(),
            };
            Diagnostic::new("U430", format!("the file has no parameter `{name}`")).name(name).help(help)
        })
    }

    /// The mechanism with these parameter values, in SI; dependent parameters are recomputed.
    pub fn model(&self, values: &[(&str, f64)]) -> Result<Model, Error> {
        self.build(values).map(|(model, _)| model)
    }

    /// The same, together with the resulting values of all parameters.
    pub fn build(&self, values: &[(&str, f64)]) -> Result<(Model, Parameters), Error> {
        let mut fixed = Vec::with_capacity(values.len());
        for (name, x) in values {
            let (_, dimension) = self.parameter(name)?;
            fixed.push((name.to_string(), *x, dimension));
        }
        let (loaded, parameters) = self.read(&fixed)?;
        let model = loaded.spec.build().map_err(|errors| {
            let list = errors.iter().map(|d| self.places.locate(d)).collect();
            Error::of(list).unwrap_or(errors)
        })?;
        Ok((model, parameters))
    }
}

/// The text of a mechanism file with other values of some parameters; everything else, including comments, stays.
pub fn with_parameters(loaded: &Loaded, values: &[(String, String)]) -> Result<String, Diagnostic> {
    let section = if loaded.mechspec { "PhysicalParams" } else { "parameters" };
    let source = loaded.places.source();
    let mut edits = Vec::new();
    for (name, text) in values {
        let place = loaded.places.find(&format!("{section}.{name}")).filter(|_| loaded.parameters.iter().any(|p| p.0 == *name));
        let Some((.., span)) = place else {
            return Err(Diagnostic::new("U430", format!("the file has no parameter `{name}`")).name(name));
        };
        edits.push((span, text));
    }
    edits.sort_by_key(|(span, _)| span.start);
    let (mut out, mut at) = (String::with_capacity(source.len() + 64), 0);
    for (span, text) in edits {
        out += source.get(at..span.start).unwrap_or_default();
        out += text;
        at = span.end;
    }
    Ok(out + source.get(at..).unwrap_or_default())
}
