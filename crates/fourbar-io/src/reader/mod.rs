//! Builds a [`ModelSpec`] from the tree of a file, collecting as many problems as possible at once.
//!
//! Reading is driven by the tables of [`crate::keys`]: [`record`] turns a group of keys into values, the functions beside the tables turn
//! values into elements. Checks that need the whole mechanism (unknown bodies, masses) are left to the engine.

mod auxiliary;
mod chain;
pub(crate) mod contact;
mod csv;
pub(crate) mod curve;
mod data;
pub(crate) mod element;
mod event;
pub(crate) mod expression;
mod functions;
pub(crate) mod geometry;
mod parameters;
pub(crate) mod problem;
mod record;
mod sections;
mod studies;
mod task;
mod value;
mod words;

pub(crate) use problem::Path;
pub(crate) use record::{Record, Value};

use crate::file::{Limits, Loaded, ReadOptions};
use crate::places::{Places, Span, placed};
use crate::studies::Studies;
use crate::tree::{Located, Node, Text, Tree, empty};
use fourbar::expr::{Dimension, Table};
use fourbar::spec::{ModelSpec, V3};
use fourbar::{Diagnostic, Error};
use functions::Functions;
use parameters::Parameters;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path as FilePath;
use std::sync::Arc;

/// Largest number of problems, and of warnings, reported for a file; more would only hide the first ones.
const MAX_PROBLEMS: usize = 50;

/// State while a file is read.
pub(crate) struct Reader<'a> {
    pub source: &'a str,
    /// The folder of the file, if it has one.
    folder: Option<&'a FilePath>,
    parameters: Parameters,
    /// Name of the section of parameters.
    parameters_at: &'static str,
    /// Whether `Ax` may be written for the coordinate `A.x` of a point.
    short_coordinates: bool,
    /// Names of joints and points, which expressions may use.
    pub joints: HashSet<&'a str>,
    pub points: HashSet<&'a str>,
    /// Names of bodies, for expressions that read their positions.
    pub bodies: HashSet<String>,
    /// Tables and functions that expressions may use.
    pub tables: HashMap<String, Option<Table>>,
    functions: Functions,
    /// Data files used by the model, with their hashes.
    data: Vec<(String, String)>,
    /// Names of inputs and states.
    pub inputs: HashSet<&'a str>,
    pub states: HashSet<&'a str>,
    /// Centres of mass of the bodies read so far, in their frames.
    centres: HashMap<String, V3>,
    /// Parameters with a value given from outside, in SI.
    fixed: &'a [Fixed],
    /// Settings of sweeps, tolerances and optimisations.
    studies: Studies,
    pub problems: Vec<Located>,
    warnings: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    /// The folder of the file. In WebAssembly there is no file system, and the engine of live pages is smaller without the readers.
    fn folder(&self) -> Option<&'a FilePath> {
        if cfg!(target_family = "wasm") { None } else { self.folder }
    }

    /// Whether the limit of problems has been reached.
    pub fn full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Keeps a warning, unless the limit is reached.
    pub fn warn(&mut self, warning: Diagnostic) {
        if self.warnings.len() < MAX_PROBLEMS {
            self.warnings.push(warning);
        }
    }

    pub fn problem(&mut self, diagnostic: Diagnostic, span: Span) {
        if !self.full() {
            self.problems.push((diagnostic, Some(span)));
        }
    }
}

/// A parameter with a value given from outside: name, value in SI, dimension if it has one.
pub(crate) type Fixed = (String, f64, Option<Dimension>);

/// The parsed tree of a file: it can be interpreted repeatedly, with different parameters.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub tree: Tree,
    pub mechspec: bool,
    most: usize,
}

impl Form {
    /// A file whose elements are all in the tree.
    pub fn whole(source: &Arc<str>, large: bool) -> Result<Self, Error> {
        let most = Limits::of(large).values;
        let tree = Tree::parse(source, most).map_err(|problems| refused(problems, source))?;
        Ok(Self { mechspec: crate::mechspec::is_mechspec(&tree), tree, most })
    }
}

/// Reads a checked text.
pub(crate) fn read(source: Arc<str>, options: &ReadOptions<'_>, hash: String) -> Result<Loaded, Error> {
    let most = Limits::of(options.large).values;
    let mut tree = Tree::sketch(&source, most).map_err(|problems| refused(problems, &source))?;
    let mechspec = crate::mechspec::is_mechspec(&tree);
    if mechspec {
        tree = Tree::parse(&source, most).map_err(|problems| refused(problems, &source))?;
    }
    // The largest section is freed as soon as it is read.
    let bodies = if mechspec { None } else { tree.root.take_section("bodies", &source) };
    let form = Form { tree, mechspec, most };
    understand(&form, bodies.map(Cow::Owned), options, &[], hash).map(|(loaded, _)| loaded)
}

/// Interprets the tree of a file, with some parameters given as numbers; also returns the dimensions of all parameters.
pub(crate) fn understand<'a>(
    form: &'a Form,
    bodies: Option<Cow<'_, (Text, Node)>>,
    options: &ReadOptions<'a>,
    fixed: &'a [Fixed],
    hash: String,
) -> Result<(Loaded, Vec<Fixed>), Error> {
    let Form { tree, mechspec, most } = form;
    let source = &tree.source;
    let mut reader = Reader {
        source,
        folder: options.path.map(|p| p.parent().unwrap_or(FilePath::new(""))),
        parameters: Parameters::default(),
        parameters_at: if *mechspec { "PhysicalParams" } else { "parameters" },
        short_coordinates: *mechspec,
        joints: HashSet::new(),
        points: HashSet::new(),
        bodies: HashSet::new(),
        tables: HashMap::new(),
        functions: Functions::default(),
        data: Vec::new(),
        inputs: HashSet::new(),
        states: HashSet::new(),
        centres: HashMap::new(),
        fixed,
        studies: Studies::default(),
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    let mut aliases = Vec::new();
    let spec: Option<ModelSpec> = match mechspec {
        true => crate::mechspec::read(&mut reader, &tree.root, options.set, &mut aliases),
        false => reader.file(&tree.root, bodies, options.set),
    };
    let Reader { mut problems, warnings, parameters, functions, mut data, studies, .. } = reader;
    data.sort();
    data.dedup();
    match spec {
        Some(spec) if problems.is_empty() => {
            let loaded = Loaded {
                spec,
                warnings,
                parameters: parameters.values(),
                unused_parameters: parameters.unused(),
                computed_parameters: parameters.computed(),
                hash,
                places: Places::new(source.clone(), *most, aliases),
                mechspec: *mechspec,
                imported: None,
                functions: functions.names().map(String::from).collect(),
                data,
                studies,
            };
            Ok((loaded, parameters.with_dimensions()))
        }
        _ => {
            if problems.len() >= MAX_PROBLEMS {
                problems.push((
                    Diagnostic::new("M099", format!("reading stopped after {MAX_PROBLEMS} problems")).help("fix these first"),
                    None,
                ));
            }
            Err(refused(problems, source))
        }
    }
}

/// The error of a file that could not be read. The list of problems is never empty: without problems there is a mechanism.
fn refused(problems: Vec<Located>, source: &str) -> Error {
    Error::of(located(problems, source)).unwrap_or_else(|| empty().into())
}

/// Problems with line and column, in the order of the file.
fn located(mut problems: Vec<Located>, source: &str) -> Vec<Diagnostic> {
    // Problems without a location come first if they stem from the command line, as they may be the cause of the others.
    problems.sort_by_key(|(d, span)| match span {
        Some(span) => span.start() + 1,
        None if d.code.0 == "M099" => usize::MAX,
        None => 0,
    });
    problems
        .into_iter()
        .map(|(diagnostic, span)| match span {
            Some(span) => placed(diagnostic, source, span),
            None => diagnostic,
        })
        .collect()
}
